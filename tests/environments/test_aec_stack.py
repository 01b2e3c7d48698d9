"""`env()` behaves exactly as PettingZoo's standard wrappers around our raw environment."""

import numpy as np
import pytest
from pettingzoo.utils.wrappers import (
    AssertOutOfBoundsWrapper,
    OrderEnforcingWrapper,
    TerminateIllegalWrapper,
)

from aec_play import everything, is_over, random_action, some_illegal_action
from armarl.environments.aec import RawAECEnv
from variants import every_game, every_rich_game, every_variant


def standard_stack(variant):
    env = TerminateIllegalWrapper(variant.aec("raw_env"), illegal_reward=-1)
    return OrderEnforcingWrapper(AssertOutOfBoundsWrapper(env))


def _own_reason(text):
    """Return the part of an error message that we add to PettingZoo's text."""
    return text.partition("action is not in action space")[2]


class Pair:
    """Our `env()` and PettingZoo's wrappers around `raw_env()`. Both get the same calls."""

    def __init__(self, variant, caplog):
        self.ours, self.stack = variant.aec(), standard_stack(variant)
        self.caplog = caplog

    def outcome(self, env, act):
        """Return the result or error of a call, and its warnings without the reasons we add."""
        self.caplog.clear()
        try:
            result = act(env)
        except (AssertionError, AttributeError, ValueError, NotImplementedError) as error:
            result = type(error), str(error).removesuffix(_own_reason(str(error)))
        return result, [text for text in self.caplog.messages if " is illegal: " not in text]

    def both(self, act):
        """Make the same call to both, check that the outcomes are equal, and return the outcome."""
        ours, stack = self.outcome(self.ours, act), self.outcome(self.stack, act)
        assert ours == stack
        return ours

    def compare(self):
        assert everything(self.ours) == everything(self.stack)
        assert self.ours.last(observe=False) == self.stack.last(observe=False)


OUTSIDE = (-1, 10**6, 1.5, "pass", None, np.array([3]), np.float32(2), 2**40)
AS_INTEGERS = (int, np.int32, np.int64, np.uint16, np.array)


def random_act(pair, rng):
    """Make a random call as a user might: usually a legal action, sometimes anything else."""
    kind = rng.random()
    if not pair.ours.agents:
        return lambda env: env.step(None)
    agent = pair.ours.agent_selection
    if is_over(pair.ours):
        action = None if kind < 0.7 else 0
        return lambda env: env.step(action)
    mask = pair.ours.observe(agent)["action_mask"]
    if kind < 0.9:
        action = rng.choice(AS_INTEGERS)(rng.choice(np.flatnonzero(mask)))
    elif kind < 0.91:
        action = rng.choice(AS_INTEGERS)(rng.choice(np.flatnonzero(mask == 0)))
    elif kind < 0.95:
        action = OUTSIDE[rng.integers(len(OUTSIDE))]
    else:
        calls = (
            lambda env: env.render(),
            lambda env: env.state().tobytes(),
            lambda env: next(iter(env.agent_iter())),
            lambda env: str(env),
            lambda env: env.last()[1:],
            lambda env: env.max_num_agents,
        )
        return calls[rng.integers(len(calls))]
    return lambda env: env.step(action)


@every_variant
@pytest.mark.filterwarnings("ignore:.*render")
def test_random_calls_have_equal_outcomes(variant, caplog):
    pair, rng = Pair(variant, caplog), np.random.default_rng(11)
    for game in range(6):
        pair.both(lambda env: env.reset(seed=game if game % 3 else None))  # noqa: B023
        if game == 0:  # without a seed, each environment took a separate seed from the system
            pair.both(lambda env: env.reset(seed=99))
        after_end = 0
        while after_end < 3:
            pair.both(random_act(pair, rng))
            pair.compare() if pair.ours.agents else None
            after_end += not pair.ours.agents
            assert pair.ours.agents == pair.stack.agents
        pair.both(lambda env: env.step(0))
        pair.both(lambda env: list(env.agent_iter()))


@every_game
def test_calls_before_reset_have_equal_outcomes(variant, caplog):
    pair = Pair(variant, caplog)
    for call in ("render", "state", "agent_iter"):
        (error, _message), _ = pair.both(lambda env: getattr(env, call)())  # noqa: B023
        assert error is AssertionError
    assert pair.both(lambda env: env.step(0))[0][0] is AssertionError
    assert pair.both(lambda env: env.observe("player_0"))[0][0] is AssertionError
    for name in ("agents", "agent_selection", "rewards", "terminations", "truncations", "infos"):
        (error, _message), _ = pair.both(lambda env: getattr(env, name))  # noqa: B023
        assert error is AttributeError
    assert pair.both(lambda env: env.last())[0][0] is AttributeError
    pair.both(lambda env: env.possible_agents)
    with pytest.raises(AttributeError, match="agents cannot be accessed before reset"):
        _ = pair.ours.num_agents


@every_rich_game
@pytest.mark.filterwarnings("ignore:.*seems to ignore the action mask")
def test_every_first_action_has_equal_outcomes(variant, caplog):
    pair = Pair(variant, caplog)
    number = len(pair.ours.game.actions)
    for action in range(0, number, max(7, number // 100)):
        pair.both(lambda env: env.reset(seed=1))
        pair.both(lambda env: env.step(action))  # noqa: B023
        pair.compare()


@every_game
def test_agent_iter_has_equal_outcomes(variant, caplog):
    pair, rng = Pair(variant, caplog), np.random.default_rng(0)
    pair.both(lambda env: env.reset(seed=2))
    walks = {env: iter(env.agent_iter(20)) for env in (pair.ours, pair.stack)}
    agent, _ = pair.both(lambda env: next(walks[env]))
    assert agent == "player_0"
    error, _ = pair.both(lambda env: next(walks[env]))  # without a step in between
    assert error[0] is AssertionError
    action = random_action(pair.ours, rng)
    pair.both(lambda env: env.step(action))
    assert pair.both(lambda env: next(walks[env]))[0] == pair.ours.agent_selection
    pair.both(lambda env: env.reset(seed=3))
    assert pair.both(lambda env: list(env.agent_iter(0)))[0] == []


@every_variant
def test_pettingzoo_s_wrappers_can_wrap_our_environment(variant):
    """The wrappers set attributes on the unwrapped environment, which must accept them."""
    env = standard_stack(variant)
    env.reset(seed=0)
    env.step(some_illegal_action(env))
    assert isinstance(env.unwrapped, RawAECEnv)
    assert env.rewards["player_0"] == -1.0
    assert all(env.truncations.values())
