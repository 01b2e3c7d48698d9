"""The learners that there are, and what is known of each before it is made; needs no torch.

Another learner of ours is one more line here. One from outside is named as `module:Class` in a
configuration, and nothing is known of it before it is imported.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Literal, NamedTuple

from armarl.common.messages import brief

LearnerName = Literal["td", "critic", "ppo", "maskable_ppo"]


class LearnerKind(NamedTuple):
    """What the configuration, the run and saved policies know of a learner.

    Attributes:
        made_by: `module:Class`, called with the configuration, the game and the pool.
        section: of the configuration, with its own settings; some may share one. None: any.
        plays: the kind of weights that it trains, a name in `WEIGHT_KINDS`; None: any.
        reads: which it reads of the settings that only some learners read.
        ours: whether it reads those that are marked so; its games may be in shards.
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
    """Whether a learner's name is `module:Class`, which has to be imported."""
    return _FROM_OUTSIDE.fullmatch(name) is not None


def kind_of(name: str) -> LearnerKind:
    """What is known of a learner; one from outside may read every setting.

    Raises:
        ValueError: there is none of the name.
    """
    for known, kind in LEARNERS.items():
        if known == name:
            return kind
    if not is_from_outside(name):
        raise ValueError(f"must be {either(LEARNERS)}, or module:Class, not {brief(repr(name))}")
    return LearnerKind(made_by=name, section=None, plays=None, reads=_ALL_READ)


def is_read_by_some(setting: str) -> bool:
    """Whether only some learners read a setting, or section; see `LearnerKind.reads`."""
    return setting in _ALL_READ


def readers(setting: str) -> str:
    """In words, the learners that read a setting that only some read."""
    return either(name for name, kind in LEARNERS.items() if setting in kind.reads)


def either(names: Iterable[str]) -> str:
    """Some names in words: `ppo, td or critic`."""
    *others, last = names
    return f"{', '.join(others)} or {last}" if others else last
