"""PettingZoo AEC environments for every game, raw or with PettingZoo's usual checks."""

from __future__ import annotations

import json
import secrets
import zlib
from threading import get_ident
from typing import Any

import numpy as np
from gymnasium import spaces
from gymnasium.error import ResetNeeded
from numpy.typing import NDArray
from pettingzoo.utils.env import AECEnv, AECIterable, AECIterator
from pettingzoo.utils.env_logger import EnvLogger

from armarl.common.messages import brief
from armarl.common.numbers import action_number, whole_number
from armarl.compiler.types import States
from armarl.core.batch_loops import ILLEGAL_REWARD, WAS_ILLEGAL
from armarl.core.errors import IllegalActionError
from armarl.core.game import Game
from armarl.core.pictures.sheet import WIDTH
from armarl.environments.action_masks import Endings, mask_place
from armarl.environments.base import (
    RENDER_FPS,
    GameFace,
    deal_number,
    face_game,
    modes_of,
    reset_options,
    short_box,
    until_reset,
)
from armarl.environments.one_thread import IN_USE, alone

_PLAIN = 2**31
_FLOAT32, _INT8, _INT64 = np.dtype(np.float32), np.dtype(np.int8), np.int64


class _OfAgents(dict[str, Any]):
    """A dictionary with an entry per agent. Its KeyError lists the known agents."""

    def of(self, agent: Any) -> Any:
        """Return the entry of an agent.

        Raises:
            KeyError: there is no such agent.
            TypeError: `agent` is not a name.
        """
        try:
            return self[agent]
        except TypeError:  # not hashable, for example a list
            shown = brief(repr(agent), 60)
            raise TypeError(f"an agent must be one of {', '.join(self)}, not {shown}") from None

    def __missing__(self, agent: object) -> Any:
        raise KeyError(f"unknown agent {agent!r}; choose from {', '.join(self)}")


class RawAECEnv(GameFace, AECEnv):  # type: ignore[misc]
    """A game as an AEC environment. The agents are `player_0`, `player_1`, ... in seat order.

    An agent observes `{"observation": float32 of shape (size,), "action_mask": int8 of shape
    (actions,)}`, in new arrays each time. The mask is all 0 while it is another agent's turn and
    after the game has ended. With `mask="info"` the observation is the bare array, and the mask
    is in the agent's info. An agent that has several actions in one turn stays selected. The game
    ends for all agents in the same step. Until then, no agent leaves and all rewards are 0. An end
    by the rules terminates all agents, an end by `max_cycles` truncates them.

    Only one thread at a time may use an environment. A call during another thread's call raises
    RuntimeError. Before `reset`, methods that need a game raise AttributeError.

    Attributes:
        game: the variant that is played.
        state_space: the space of `state()`.

    Example:
        >>> from armarl import armadora_v0
        >>> env = armadora_v0.raw_env(players=2)
        >>> env.reset(seed=1)
        >>> view = env.observe(env.agent_selection)
        >>> env.agent_selection, view["observation"].shape, view["action_mask"].shape
        ('player_0', (576,), (229,))
        >>> env.step(env.action_id("W1 a1"))
        >>> env.agent_selection
        'player_1'
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
        render_width: int = WIDTH,
        max_cycles: int | None = None,
    ) -> None:
        """Create an environment. Call `reset` before playing.

        Args:
            game: the variant to play.
            reward: the reward that agents get at the end, one of `game.rewards`.
            render_mode: None, or "ansi" to return the board as text, "rgb_array" to return pixels,
                uint8 (height, width, 3), or "human" to show it in a window. With "human", `reset`
                and `step` also render. A game without a drawing has no "rgb_array", and its "human"
                prints text.
            mask: the place of the action masks, "observation" or "info".
            observation_key, mask_key: the keys of the observation and the mask in that place.
            render_width: the width of frames in pixels, 16 to 4096.
            max_cycles: the number of actions, summed over the agents, after which all agents of an
                unfinished game are truncated with reward 0; None for no limit. `load_state` starts
                the count again.

        Raises:
            TypeError: `game` is not a `Game`, the render mode is unknown, a number is not an
                integer, or a key is not a string.
            ValueError: the reward or the place of the masks is unknown, a number is out of range,
                or `mask_key` has another meaning already.
        """
        super().__init__(game, render_mode, render_width)
        if max_cycles is not None:
            max_cycles = whole_number("max_cycles", max_cycles, 1, 2**31)
        self._limit, self._cycles = max_cycles, 0
        self._place = mask_place(mask, observation_key, mask_key)
        self._mask_in_info = self._place.in_info
        self._observation_key, self._mask_key = observation_key, mask_key
        self._does_more = self._mask_in_info or render_mode == "human"
        self._reward_kind = game.reward_kind(reward)
        self._returns = np.zeros(game.players)
        self._observation_size, self._mask_size = game.observation.size, len(game.actions)
        self._scratch_mask = np.zeros(self._mask_size, np.int8)
        self.metadata = {
            "name": f"{game.name}_v0",
            "render_modes": list(modes_of(game)),  # a list, because PettingZoo's wrappers add modes
            "render_fps": RENDER_FPS,
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
        """Return the observation space of an agent. All agents share one object.

        Raises:
            KeyError: there is no such agent.
        """
        self._seats.of(agent)  # raises if there is no such agent
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Space[Any]:
        """Return the action space of an agent. All agents share one object.

        Raises:
            KeyError: there is no such agent.
        """
        self._seats.of(agent)  # raises if there is no such agent
        return self.action_spaces[agent]

    @alone
    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Deal a new game.

        Args:
            seed: an integer of -2**63 or more that determines all chance events of the game.
                Without a seed, the game's random number generator continues. If the first game has
                no seed, the operating system provides one.
            options: ignored.

        Raises:
            TypeError: the seed is not an integer, or the options are not a dictionary.
            ValueError: the seed is below -2**63.
        """
        reset_options(options)
        number = secrets.randbits(63) if seed is None else deal_number(seed)
        self.game.warm_up()
        first = "_states" not in self.__dict__
        if first:
            self._states = np.full(1, self.game.blank)
        reseed = first or seed is not None
        self._open(self.game._deal_one(self._states, 0, number, reseed, self.game._fixed_argument))

    def _open(self, seat: int) -> None:
        """Begin or continue a game in which `seat` is to move."""
        self._before = self._last = None
        self._cycles = 0
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
        """Play an action of the selected agent. Once the game has ended, the action must be None.

        Raises:
            IllegalActionError: the rules forbid the action, or it does not exist. The game is
                unchanged.
            TypeError: the action is not an integer.
            ValueError: the game has ended, and the action is not None.
            AttributeError: `reset` has not been called.
            gymnasium.error.ResetNeeded: the game has ended, and all agents have left it.
            RuntimeError: another thread is using the environment.
        """
        # The code of `alone` is repeated here and in `observe`, because calling a decorated
        # function would take a tenth of the time of a step.
        at_work, this = self._at_work, get_ident()
        if at_work.setdefault("thread", this) != this:
            raise RuntimeError(IN_USE)
        try:
            agent = self.agent_selection
            try:
                over = self.terminations[agent] or self.truncations[agent]
            except KeyError:
                raise ResetNeeded(
                    "the game has ended and all agents have left: call reset()"
                ) from None
            if over:
                self._was_dead_step(action)
                return
            kind = type(action)
            if kind is _INT64:  # the usual case, an action from a NumPy array: no function call
                number = int(action)
            elif kind is int and 0 <= action < _PLAIN:
                number = action
            else:
                number = action_number(action)
            before = self._states.copy() if self._draws else None
            game, mask = self.game, self._scratch_mask
            fixed = game._fixed_argument
            seat = game._play_one(
                self._states, 0, number, mask, self._returns, self._reward_kind, fixed
            )
            if seat == WAS_ILLEGAL:
                self._refuse(self.game.explain(self._states[0], number))
                return
            if before is not None:  # a picture marks the changes of the last action
                self._before, self._last = before, (self._seats[agent], number)
            # Until the game ends, all rewards are 0, so none have to be cleared or accumulated.
            self._cumulative_rewards[agent] = 0.0
            self._cycles += 1
            if seat < 0:
                self._end_with_returns()
            elif self._cycles == self._limit:
                self._end(dict.fromkeys(self.agents, 0.0), terminated=False, truncated=True)
            else:
                self.agent_selection = self.possible_agents[seat]
                if self._does_more:
                    self._do_more()
        finally:
            at_work.clear()

    def _refuse(self, reason: str) -> None:
        """Handle an illegal action, which was not played."""
        raise IllegalActionError(reason)

    def _do_more(self) -> None:
        """Update the parts that only some environments have: masks in the infos, and the window."""
        if self._mask_in_info:
            for agent, seat in self._seats.items():
                self.infos[agent] = {self._mask_key: self._view(seat)[1]}
        if self.render_mode == "human":
            self.render()

    def _end_with_returns(self) -> None:
        """End the game with the returns that its rules give."""
        returns = dict(zip(self.agents, self._returns.tolist(), strict=True))
        self._end(returns, terminated=True, truncated=False)

    def _end(self, rewards: dict[str, float], *, terminated: bool, truncated: bool) -> None:
        """End the game for all agents. They then leave it in seat order."""
        self.rewards = rewards
        self.terminations = dict.fromkeys(self.agents, terminated)
        self.truncations = dict.fromkeys(self.agents, truncated)
        self._accumulate_rewards()
        self._deads_step_first()
        if self._does_more:
            self._do_more()

    def observe(self, agent: str) -> Any:
        """Return an agent's observation, in new arrays, at any time after `reset`.

        Raises:
            KeyError: there is no such agent.
            AttributeError: `reset` has not been called.
        """
        observation = np.empty(self._observation_size, _FLOAT32)
        mask = np.empty(self._mask_size, _INT8)
        at_work, this = self._at_work, get_ident()
        if at_work.setdefault("thread", this) != this:
            raise RuntimeError(IN_USE)
        game = self.game
        try:
            game._view_one(
                self._states, 0, self._seats[agent], observation, mask, game._fixed_argument
            )
        except TypeError:
            self._seats.of(agent)  # raises a clearer error if `agent` is not hashable
            raise
        finally:
            at_work.clear()
        if self._mask_in_info:
            return observation
        return {self._observation_key: observation, self._mask_key: mask}

    @alone
    def state(self) -> NDArray[np.float32]:
        """Return the observations of all agents in one array, float32 (players * size,).

        Use this array for a centralised critic. It contains everything that at least one player
        knows, such as hidden Warriors and hands, but no future dice or cards. `describe()` and
        `state_bytes()` contain the whole game.

        Raises:
            AttributeError: `reset` has not been called.
        """
        return np.concatenate([self._view(seat)[0] for seat in self._seats.values()])

    @alone
    def concealed_state(self, agent: str | None = None) -> States:
        """Return a copy of the state without the information that an agent may not know.

        Pass the copy, an array of one state, to a player. `player.choose(env.concealed_state(),
        np.array([seat]), np.array([draw]))` returns the player's action for the agent to move, as
        an array of one. `draw` is a random number in [0, 1).

        Args:
            agent: the agent whose knowledge the copy contains. None is the agent to move.

        Raises:
            ValueError: the agent is unknown.
            AttributeError: `reset` has not been called.
        """
        agent = self.agent_selection if agent is None else agent
        if not isinstance(agent, str) or agent not in self._seats:
            known = ", ".join(self.possible_agents)
            raise ValueError(f"unknown agent {brief(repr(agent), 60)}; choose from {known}")
        return self.game.concealed(self._states, np.array([self._seats[agent]]))

    def _view(self, seat: int) -> tuple[NDArray[np.float32], NDArray[np.int8]]:
        """Return the observation and the mask of a seat, in new arrays."""
        observation = np.empty(self._observation_size, _FLOAT32)
        mask = np.empty(self._mask_size, _INT8)
        self.game._view_one(self._states, 0, seat, observation, mask, self.game._fixed_argument)
        return observation, mask

    @alone
    def render(self) -> str | NDArray[np.uint8] | None:
        """Render the whole board, with hidden values, according to the render mode.

        The board is for spectators, not for agents: `picture(seat)` and `describe(seat)` show only
        what one agent may see.

        Returns:
            Text for "ansi", and pixels for "rgb_array", uint8 (height, width, 3). None for "human",
            and, with a warning, without a render mode.

        Raises:
            AttributeError: `reset` has not been called.
            ImportError: the render mode needs the extra `render`.
            RuntimeError: the render mode is "human", and there is no screen.
        """
        return self._render(None)  # type: ignore[no-any-return]

    def _repr_svg_(self) -> str | None:
        return self._notebook(None)

    def close(self) -> None:
        """Close the window of render mode "human". There is nothing else to close."""
        self._close_window()

    @alone
    def state_bytes(self) -> bytes:
        """Return the game and its random number generator as bytes. `load_state` restores them.

        The bytes are a line of JSON that names the variant, then the state record and its CRC-32.

        Raises:
            AttributeError: `reset` has not been called.
        """
        record = self._states.tobytes()
        return self._heading() + record + zlib.crc32(record).to_bytes(4, "big")

    @alone
    def load_state(self, data: bytes) -> None:
        """Restore a game that `state_bytes` saved. No earlier `reset` is needed.

        Args:
            data: the bytes.

        Raises:
            TypeError: `data` is not bytes.
            ValueError: the data is from another game, version or variant, is damaged, or is not a
                valid state of the game.
        """
        if not isinstance(data, bytes | bytearray):
            raise TypeError(f"a saved game must be bytes, got {type(data).__name__}")
        heading = self._heading()
        if not data.startswith(heading):
            saved = data.partition(b"\n")[0][:200]
            raise ValueError(
                f"not a saved game of this environment: it begins with {saved!r} and should "
                f"begin with {heading[:-1]!r}"
            )
        record, check = data[len(heading) : -4], data[-4:]
        size = self.game.blank.dtype.itemsize
        if len(record) != size or zlib.crc32(record).to_bytes(4, "big") != check:
            raise ValueError(
                f"damaged saved game, or saved by another version of ArmaRL: expected "
                f"{len(heading) + size + 4} bytes with a matching checksum, got {len(data)} bytes"
            )
        states = np.frombuffer(record, self.game.blank.dtype).copy()
        self.game.check_states(states)
        self._states = states
        statuses, seats = self.game.statuses(self._states)
        self._open(int(seats[0]))
        if statuses[0]:
            reward = self.game.rewards[self._reward_kind]
            self._returns[:] = self.game.returns(self._states, np.zeros(1, np.int64), reward)[0]
            self._end_with_returns()

    def _heading(self) -> bytes:
        variant = {key: self.game.variant[key] for key in ("game", "version", "players", "options")}
        return json.dumps(variant, sort_keys=True).encode() + b"\n"


class CheckedAECEnv(RawAECEnv):
    """`RawAECEnv` with PettingZoo's usual checks built in, without the cost of wrappers.

    It behaves like `OrderEnforcingWrapper(AssertOutOfBoundsWrapper(TerminateIllegalWrapper(raw,
    illegal_reward=-1)))`. Before `reset`, `step`, `observe`, `render`, `state` and `agent_iter`
    raise AssertionError, and so does an action outside the action space. (Other methods and
    attributes that need a game, such as `last` and `agent_selection`, raise AttributeError.)

    An illegal action causes a warning and ends the game: the agent that chose it gets -1, the
    others get 0, and every agent is terminated and truncated. A second warning gives the reason.
    The illegal action does not change the position that agents observe.

    Example:
        >>> from armarl import armadora_v0
        >>> env = armadora_v0.env(players=2)
        >>> env.reset(seed=1)
        >>> for agent in env.agent_iter():
        ...     observation, reward, termination, truncation, info = env.last()
        ...     over = termination or truncation
        ...     env.step(None if over else int(observation["action_mask"].argmax()))
        >>> env.agents
        []
    """

    _has_reset = False
    _has_updated = False  # True if `step` or `reset` was called since `agent_iter` gave an agent

    def __init__(self, *arguments: Any, **options: Any) -> None:
        """Create an environment. The arguments and errors are those of `RawAECEnv`."""
        super().__init__(*arguments, **options)
        self.endings = Endings()

    def _open(self, seat: int) -> None:
        self._has_reset = self._has_updated = True
        super()._open(seat)

    def step(self, action: Any) -> None:
        """Play an action of the selected agent. Once the game has ended, the action must be None.

        If all agents have left, the call only causes a warning.

        Raises:
            AssertionError: `reset` has not been called, or the action is not in the action space.
            ValueError: the game has ended, and the action is not None.
            RuntimeError: another thread is using the environment.
        """
        if not self._has_reset:
            EnvLogger.error_step_before_reset()
        self._has_updated = True
        if not self.agents:
            EnvLogger.warn_step_after_terminated_truncated()
            return
        assert self._takes(action), self._untaken(action)
        super().step(action)

    def _takes(self, action: Any) -> bool:
        """Return whether the action is in the action space, or None for an agent that is done."""
        if type(action) in (int, np.int64):  # ten times as fast as `Discrete.contains`
            return bool(0 <= action < self._mask_size)
        if action is None:
            agent = self.agent_selection
            return bool(self.terminations.get(agent) or self.truncations.get(agent))
        try:
            return bool(0 <= action_number(action) < self._mask_size)
        except TypeError:
            return False

    def _untaken(self, action: Any) -> str:
        """Return the error text for a refused action: PettingZoo's message and the reason."""
        try:
            reason = f"{action_number(action)} is not in 0 to {self._mask_size - 1}"
        except TypeError as error:
            reason = str(error)
        return f"action is not in action space: {reason}"

    def _end(self, rewards: dict[str, float], *, terminated: bool, truncated: bool) -> None:
        # Only `_refuse` both terminates and truncates.
        self.endings.note(ended=1, illegal=int(terminated and truncated))
        super()._end(rewards, terminated=terminated, truncated=truncated)

    def _refuse(self, reason: str) -> None:
        """End the game after an illegal action of the selected agent."""
        EnvLogger.warn_on_illegal_move()
        EnvLogger.get_logger().warning(reason)
        agent = self.agent_selection
        self._cumulative_rewards[agent] = 0.0
        rewards = {**dict.fromkeys(self.agents, 0.0), agent: ILLEGAL_REWARD}
        self._end(rewards, terminated=True, truncated=True)  # as TerminateIllegalWrapper does

    def observe(self, agent: str) -> Any:
        """Return an agent's observation, in new arrays, at any time after `reset`.

        Raises:
            AssertionError: `reset` has not been called.
            KeyError: there is no such agent.
        """
        if not self._has_reset:
            EnvLogger.error_observe_before_reset()
        return super().observe(agent)

    def render(self) -> str | NDArray[np.uint8] | None:
        """Render the whole board as `RawAECEnv.render` does.

        Raises:
            AssertionError: `reset` has not been called.
            ImportError, RuntimeError: as in `RawAECEnv.render`.
        """
        if not self._has_reset:
            EnvLogger.error_render_before_reset()
        return super().render()

    def state(self) -> NDArray[np.float32]:
        """Return the observations of all agents in one array, float32 (players * size,).

        Raises:
            AssertionError: `reset` has not been called.
        """
        if not self._has_reset:
            EnvLogger.error_state_before_reset()
        return super().state()

    def agent_iter(self, max_iter: int = 2**63) -> AECIterable:
        """Iterate over the selected agents, until all have left or after `max_iter` steps.

        Raises:
            AssertionError: `reset` has not been called, or the body of the loop called neither
                `step` nor `reset`.
        """
        if not self._has_reset:
            EnvLogger.error_agent_iter_before_reset()
        return _CheckedIterable(self, max_iter)


class _CheckedIterable(AECIterable):  # type: ignore[misc]
    def __iter__(self) -> _CheckedIterator:
        return _CheckedIterator(self.env, self.max_iter)


class _CheckedIterator(AECIterator):  # type: ignore[misc]
    """An iterator like PettingZoo's order-enforcing one, but for environments without wrappers."""

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
    render_width: int = WIDTH,
    max_cycles: int | None = None,
    **options: Any,
) -> RawAECEnv:
    """Make an environment from a game's name, with the game's options as keywords.

    Raises:
        TypeError: an option or the render mode is unknown.
        ValueError: a value is out of range.
    """
    own = "reward, render_mode, mask, observation_key, mask_key, render_width, max_cycles"
    game = face_game(name, options, own)
    keys = observation_key, mask_key
    return kind(game, reward, render_mode, mask, *keys, render_width, max_cycles)


def checked_env(name: str, **options: Any) -> RawAECEnv:
    """Make an environment with PettingZoo's usual checks: an illegal action loses the game."""
    return make_aec(CheckedAECEnv, name, **options)
