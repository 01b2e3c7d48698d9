"""The table of learners, with the properties that are known without importing torch.

To add a learner to this package, add an entry to LEARNERS. A configuration names a learner of your
own as `module:Class`. The properties of such a learner are unknown until it is imported.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Literal, NamedTuple

from armarl.common.messages import brief

LearnerName = Literal["td", "critic", "ppo", "maskable_ppo"]


class LearnerKind(NamedTuple):
    """The properties of a learner that the configuration, the run and saved policies need.

    Attributes:
        made_by: the learner's class, as `module:Class`. It is called with the configuration, the
            game and the pool of opponents.
        section: section of the configuration with the learner's own settings. Several learners
            may share a section. None: the learner may read any section.
        plays: kind of weights that the learner trains: network (a policy network), judge (a value
            network that compares the positions after each action), or critic (a value network that
            improves a scripted player). None: any kind.
        reads: settings that this learner reads but some other learners do not.
        ours: whether the learner reads the settings marked OURS in `sections`. The games of such a
            learner may be split into shards.
    """

    made_by: str
    section: str | None
    plays: str | None
    reads: frozenset[str] = frozenset()
    ours: bool = True


LEARNERS: Mapping[LearnerName, LearnerKind] = {
    "ppo": LearnerKind(
        made_by="armarl_training.learners.ppo.ppo_learner:PPO",
        section="ppo",
        plays="network",
        reads=frozenset(
            {
                "network.channels",
                "network.advisers",
                "network.critic_widths",
                "early_reward",
                "device",
            }
        ),
    ),
    "td": LearnerKind(
        made_by="armarl_training.learners.td.td_learner:TD",
        section="td",
        plays="judge",
        reads=frozenset({"network.critic_widths"}),
    ),
    "critic": LearnerKind(
        made_by="armarl_training.learners.critic.critic_learner:CriticLearner",
        section="critic",
        plays="critic",
        reads=frozenset({"network.advisers"}),
    ),
    "maskable_ppo": LearnerKind(
        made_by="armarl_training.learners.maskable:MaskablePPOLearner",
        section="ppo",
        plays="network",
        ours=False,
    ),
}


_FROM_OUTSIDE = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*:[^\W\d]\w*")
_ALL_READ = frozenset[str]().union(*(kind.reads for kind in LEARNERS.values()))


def is_from_outside(name: str) -> bool:
    """Return whether a name has the form `module:Class`, which names user code to import."""
    return _FROM_OUTSIDE.fullmatch(name) is not None


def kind_of(name: str) -> LearnerKind:
    """Return the properties of a learner. A learner of your own may read every setting.

    Raises:
        ValueError: there is no learner of this name.
    """
    for known, kind in LEARNERS.items():
        if known == name:
            return kind
    if not is_from_outside(name):
        raise ValueError(f"must be {either(LEARNERS)}, or module:Class, got {brief(repr(name))}")
    return LearnerKind(made_by=name, section=None, plays=None, reads=_ALL_READ)


def is_read_by_some(setting: str) -> bool:
    """Return whether only some learners read a setting or section, see `LearnerKind.reads`."""
    return setting in _ALL_READ


def readers(setting: str) -> str:
    """Return the names of the learners that read a setting, as text: `ppo or td`."""
    return either(name for name, kind in LEARNERS.items() if setting in kind.reads)


def either(names: Iterable[str]) -> str:
    """Join names into text: `ppo, td or critic`."""
    *others, last = names
    return f"{', '.join(others)} or {last}" if others else last
