"""The PettingZoo face: every game as an AEC environment, raw or with PettingZoo's usual checks."""

from __future__ import annotations

import json
import secrets
import zlib
from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray
from pettingzoo.utils.env import AECEnv, AECIterable, AECIterator
from pettingzoo.utils.env_logger import EnvLogger

from armarl.common.numbers import action_number
from armarl.compiler.types import States
from armarl.core.batch_loops import ILLEGAL_REWARD, WAS_ILLEGAL
from armarl.core.game import Game, IllegalActionError
from armarl.core.verbs import CUT_SHORT, ENDED
from armarl.environments.action_masks import Endings, mask_place
from armarl.environments.base import GameFace, deal_number, face_game, short_box, until_reset

RENDER_MODES = ("human", "ansi")
_FLOAT32, _INT8 = np.dtype(np.float32), np.dtype(np.int8)


class _OfAgents(dict[str, Any]):
    """Something for every agent; a KeyError says which agents there are."""

    def __missing__(self, agent: object) -> Any:
        raise KeyError(f"there is no agent {agent!r}; there are {', '.join(self)}")


class RawAECEnv(GameFace, AECEnv):  # type: ignore[misc]
    """One game for agents `player_0`, `player_1`, ... in the order of the seats.

    An agent observes `{"observation": float32 of shape (size,), "action_mask": int8 of shape
    (actions,)}`, in new arrays each time; the mask is all 0 while another agent is to move and
    after the end. With `mask="info"` it observes the array alone, and the mask is in its info. An
    agent that has several actions in one turn stays selected. All agents stay until the end, which
    comes to all at once and brings the only rewards.

    Attributes:
        state_space: of `state()`.
    """

    agents: list[str] = until_reset()
    agent_selection: str = until_reset()
    rewards: dict[str, float] = until_reset()
    terminations: dict[str, bool] = until_reset()
    truncations: dict[str, bool] = until_reset()
    infos: dict[str, dict[str, Any]] = until_reset()
    _cumulative_rewards: dict[str, float] = until_reset()

    def __init__(
        self,
        game: Game,
        reward: str = "win",
        render_mode: str | None = None,
        mask: str = "observation",
        observation_key: str = "observation",
        mask_key: str = "action_mask",
    ) -> None:
        """An environment without a game in play yet.

        Args:
            game: the variant to play.
            reward: one of `game.rewards`: what the agents get at the end.
            render_mode: None; "ansi": `render()` returns the board as text; "human": it prints
                it, and `reset` and `step` do so by themselves.
            mask: where masks are, "observation" or "info".
            observation_key, mask_key: what observation and mask are called there.

        Raises:
            TypeError: no such render mode.
            ValueError: no such reward or place of masks.
        """
        super().__init__(game, render_mode, RENDER_MODES)
        self._place = mask_place(mask, observation_key, mask_key)
        self._mask_in_info = self._place.in_info
        self._observation_key, self._mask_key = observation_key, mask_key
        self._does_more = self._mask_in_info or render_mode == "human"
        self._reward_kind = game.reward_kind(reward)
        self._returns = np.zeros(game.players)
        self._observation_shape, self._mask_shape = (game.observation.size,), (len(game.actions),)
        self._scratch_mask = np.zeros(self._mask_shape, np.int8)
        self.metadata = {
            "name": f"{game.name}_v0",
            "render_modes": list(RENDER_MODES),  # PettingZoo's wrappers add to it
            "is_parallelizable": False,
        }
        self.possible_agents = [f"player_{seat}" for seat in range(game.players)]
        self._seats = _OfAgents(zip(self.possible_agents, range(game.players), strict=True))
        observation_space: spaces.Space[Any] = self._place.space(game)
        self._action_space = spaces.Discrete(len(game.actions))
        low, high = (np.tile(bound, game.players) for bound in game.observation.bounds())
        self.state_space = short_box(low, high)
        self.observation_spaces = _OfAgents.fromkeys(self.possible_agents, observation_space)
        self.action_spaces = _OfAgents.fromkeys(self.possible_agents, self._action_space)

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        """The space of what an agent observes, one object for all agents."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Space[Any]:
        """The space of an agent's actions, one object for all agents."""
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Deal a new game.

        Args:
            seed: an int64 from which the whole game's chance follows. Without one the game goes
                on with its random generator; the first game of all then takes a seed from the
                operating system.
            options: ignored.
        """
        number = secrets.randbits(63) if seed is None else deal_number(seed)
        self.game.warm_up()
        first = "_states" not in self.__dict__
        if first:
            self._states = np.full(1, self.game.blank)
        reseed = first or seed is not None
        self._open(self.game.deal_one(self._states, 0, number, reseed))

    def _open(self, seat: int) -> None:
        """Begin a game, or go on with one, in which `seat` is to move."""
        self.agents = self.possible_agents[:]
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos = {agent: {} for agent in self.agents}
        self.agent_selection = self.possible_agents[seat]
        self._skip_agent_selection = None
        if self._does_more:
            self._do_more()

    def step(self, action: Any) -> None:
        """Play an action of the selected agent; None, once the game has ended.

        Raises:
            IllegalActionError: the rules forbid the action; nothing has changed.
            TypeError: the action is no integer.
            ValueError: the game has ended, and the action is not None.
            AttributeError: `reset` has not been called.
        """
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        number = action_number(action)
        seat = self._play(number)
        if seat == WAS_ILLEGAL:
            raise IllegalActionError(self.game.explain(self._states[0], number))
        # Rewards are 0 until the end, so that nothing needs clearing or adding up before it.
        self._cumulative_rewards[agent] = 0.0
        if seat >= 0:
            self.agent_selection = self.possible_agents[seat]
            if self._does_more:
                self._do_more()
        else:
            self._end_with_returns(-seat)

    def _do_more(self) -> None:
        """What few environments do after a step: masks in the infos, a picture for a person."""
        if self._mask_in_info:
            for agent, seat in self._seats.items():
                self.infos[agent] = {self._mask_key: self._view(seat)[1]}
        if self.render_mode == "human":
            self.render()

    def _end_with_returns(self, ending: int) -> None:
        """End the game as its rules did, ENDED or CUT_SHORT."""
        self._end(dict(zip(self.agents, self._returns.tolist(), strict=True)), ending)

    def _end(self, rewards: dict[str, float], *endings: int) -> None:
        """End the game for all agents, who then leave it in the order of their seats."""
        self.rewards = rewards
        if ENDED in endings:
            self.terminations = dict.fromkeys(self.agents, True)
        if CUT_SHORT in endings:
            self.truncations = dict.fromkeys(self.agents, True)
        self._accumulate_rewards()
        self._deads_step_first()
        if self._does_more:
            self._do_more()

    def observe(self, agent: str) -> Any:
        """What an agent observes, at any time, in new arrays."""
        observation, mask = self._view(self._seats[agent])
        if self._mask_in_info:
            return observation
        return {self._observation_key: observation, self._mask_key: mask}

    def state(self) -> NDArray[np.float32]:
        """What all agents observe, one after the other: float32 of shape (players * size,).

        It is what the table knows together, for a critic of all seats: hidden Warriors and hands,
        but no dice or cards to come. The whole game is in `describe()` and `state_bytes()`.
        """
        return np.concatenate([self._view(seat)[0] for seat in self._seats.values()])

    def concealed_state(self, agent: str | None = None) -> States:
        """The game as an agent may know it, a copy in an array of one: what a player chooses by.

        `player.choose(env.concealed_state(), np.array([seat]), np.array([draw]))` gives the actions
        of a player for the agent to move, `draw` being a random number in [0, 1).

        Args:
            agent: who may know it; None: the agent to move.

        Raises:
            ValueError: there is no such agent.
            AttributeError: `reset` has not been called.
        """
        agent = self.agent_selection if agent is None else agent
        if agent not in self._seats:
            known = ", ".join(self.possible_agents)
            raise ValueError(f"no agent {agent!r}: there is {known}")
        return self.game.concealed(self._states, np.array([self._seats[agent]]))

    def _play(self, action: int) -> int:
        """Play an action; returns what `play_one` does, whose returns are in `_returns`."""
        return self.game.play_one(
            self._states,
            0,
            action,
            self._scratch_mask,
            self._returns,
            self._reward_kind,
        )

    def _view(self, seat: int) -> tuple[NDArray[np.float32], NDArray[np.int8]]:
        """Observation and mask of a seat, in new arrays."""
        observation = np.empty(self._observation_shape, _FLOAT32)
        mask = np.empty(self._mask_shape, _INT8)
        self.game.view_one(self._states, 0, seat, observation, mask)
        return observation, mask

    def render(self) -> str | None:
        """The whole board as text, hidden values too: for an onlooker, not for an agent.

        In the mode "human" it is printed. What one agent may see is `game.draw(state, seat)` or
        `describe(seat)`.
        """
        picture = self._draw(None)
        if self.render_mode != "human":
            return picture
        print(picture)
        return None

    def close(self) -> None:
        """Nothing is held open."""

    def state_bytes(self) -> bytes:
        """The game in play with its random generator, to be taken up again by `load_state`.

        A line of JSON says of which variant; the record and its CRC-32 follow.
        """
        record = self._states.tobytes()
        return self._heading() + record + zlib.crc32(record).to_bytes(4, "big")

    def load_state(self, data: bytes) -> None:
        """Go on with the game that `state_bytes` saved.

        Raises:
            TypeError: these are no bytes.
            ValueError: another game, version or variant, damaged, or no state of the game.
        """
        if not isinstance(data, bytes | bytearray):
            raise TypeError(f"a saved game is bytes, not {type(data).__name__}")
        heading = self._heading()
        if not data.startswith(heading):
            saved = data.partition(b"\n")[0][:200]
            raise ValueError(
                f"no saved game of this environment: it begins with {saved!r} and should with "
                f"{heading[:-1]!r}"
            )
        record, check = data[len(heading) : -4], data[-4:]
        size = self.game.blank.dtype.itemsize
        if len(record) != size or zlib.crc32(record).to_bytes(4, "big") != check:
            raise ValueError(
                f"damaged saved game, or one of another version of ArmaRL: expected "
                f"{len(heading) + size + 4} bytes with their checksum, got {len(data)} bytes"
            )
        states = np.frombuffer(record, self.game.blank.dtype).copy()
        self.game.check_states(states)
        self._states = states
        statuses, seats = self.game.statuses(self._states)
        self._open(int(seats[0]))
        if statuses[0]:
            reward = self.game.rewards[self._reward_kind]
            self._returns[:] = self.game.returns(self._states, np.zeros(1, np.int64), reward)[0]
            self._end_with_returns(int(statuses[0]))

    def _heading(self) -> bytes:
        variant = {key: self.game.variant[key] for key in ("game", "version", "players", "options")}
        return json.dumps(variant, sort_keys=True).encode() + b"\n"


class CheckedAECEnv(RawAECEnv):
    """The game with PettingZoo's usual wrappers built in, and without their cost.

    It behaves as `OrderEnforcingWrapper(AssertOutOfBoundsWrapper(TerminateIllegalWrapper(raw,
    illegal_reward=-1)))` does: calls out of order and actions outside the space are assertion
    errors; an illegal action is a warning and ends the game, with -1 for the agent that played it,
    0 for the others, and every agent terminated and truncated. A second warning says why. What is
    observed from then on is the position in which the action was tried.
    """

    _has_reset = False
    _has_updated = False  # since `agent_iter` last gave an agent

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.endings = Endings()

    def _open(self, seat: int) -> None:
        self._has_reset = self._has_updated = True
        super()._open(seat)

    def step(self, action: Any) -> None:
        """Play an action of the selected agent; None, once the game has ended."""
        if not self._has_reset:
            EnvLogger.error_step_before_reset()
        self._has_updated = True
        if not self.agents:
            EnvLogger.warn_step_after_terminated_truncated()
            return
        assert self._takes(action), self._untaken(action)
        try:
            super().step(action)
        except IllegalActionError as error:
            self._lose(str(error))

    def _takes(self, action: Any) -> bool:
        """Whether an action is in the space or, of an agent whose game has ended, None."""
        if type(action) in (int, np.int64):  # as `contains`, in a tenth of its time
            return bool(0 <= action < self._scratch_mask.size)
        if action is None:
            agent = self.agent_selection
            return bool(self.terminations[agent] or self.truncations[agent])
        try:
            return bool(0 <= action_number(action) < self._scratch_mask.size)
        except TypeError:
            return False

    def _untaken(self, action: Any) -> str:
        """Why an action is refused, in PettingZoo's words and in ours."""
        try:
            reason = f"{action_number(action)} is not in 0 to {self._scratch_mask.size - 1}"
        except TypeError as error:
            reason = str(error)
        return f"action is not in action space: {reason}"

    def _end_with_returns(self, ending: int) -> None:
        self.endings.note(ended=1, illegal=0)
        super()._end_with_returns(ending)

    def _lose(self, reason: str) -> None:
        """End the game at an illegal action of the selected agent."""
        EnvLogger.warn_on_illegal_move()
        EnvLogger.get_logger().warning(reason)
        self.endings.note(ended=1, illegal=1)
        agent = self.agent_selection
        self._cumulative_rewards[agent] = 0.0
        self._end({**dict.fromkeys(self.agents, 0.0), agent: ILLEGAL_REWARD}, ENDED, CUT_SHORT)

    def observe(self, agent: str) -> Any:
        """What an agent observes, at any time, in new arrays."""
        if not self._has_reset:
            EnvLogger.error_observe_before_reset()
        return super().observe(agent)

    def render(self) -> str | None:
        """The whole board as text, hidden values too: for an onlooker, not for an agent."""
        if not self._has_reset:
            EnvLogger.error_render_before_reset()
        return super().render()

    def state(self) -> NDArray[np.float32]:
        """What all agents observe, one after the other: float32 of shape (players * size,)."""
        if not self._has_reset:
            EnvLogger.error_state_before_reset()
        return super().state()

    def agent_iter(self, max_iter: int = 2**63) -> AECIterable:
        """The selected agent, again and again, until all have left or `max_iter` times."""
        if not self._has_reset:
            EnvLogger.error_agent_iter_before_reset()
        return _CheckedIterable(self, max_iter)


class _CheckedIterable(AECIterable):  # type: ignore[misc]
    def __iter__(self) -> _CheckedIterator:
        return _CheckedIterator(self.env, self.max_iter)


class _CheckedIterator(AECIterator):  # type: ignore[misc]
    """As PettingZoo's order-enforcing one, which insists on a wrapped environment."""

    def __next__(self) -> str:
        agent: str = super().__next__()
        assert self.env._has_updated, "need to call step() or reset() in a loop over `agent_iter`"
        self.env._has_updated = False
        return agent


def make_aec(
    kind: type[RawAECEnv],
    name: str,
    reward: str = "win",
    render_mode: str | None = None,
    mask: str = "observation",
    observation_key: str = "observation",
    mask_key: str = "action_mask",
    **options: Any,
) -> RawAECEnv:
    """An environment of a game by its name, with the game's options as keywords.

    Raises:
        TypeError: an unknown option or render mode.
        ValueError: a value out of range.
    """
    own = "reward, render_mode, mask, observation_key, mask_key"
    game = face_game(name, options, own)
    return kind(game, reward, render_mode, mask, observation_key, mask_key)


def checked_env(name: str, **options: Any) -> RawAECEnv:
    """A game by its name with PettingZoo's usual checks: an illegal action loses the game."""
    return make_aec(CheckedAECEnv, name, **options)
