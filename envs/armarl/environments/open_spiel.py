"""OpenSpiel versions of the games, for OpenSpiel's algorithms. Needs the package `open-spiel`.

    import pyspiel
    from armarl.environments.open_spiel import Resampler, register

    game = register("armadora", players=3)  # or, from then on, pyspiel.load_game("armarl_armadora")

By default, chance is sampled. The initial state is a chance node with one outcome, the deal. Later
dice and cards come from the game's own random number generator, which is part of the state.
Algorithms that enumerate chance outcomes (exact best responses, CFR over the whole tree) need
explicit chance, `chance="explicit"`. Explicit chance works only for games whose deals can be
enumerated (`armadora` with `board="mini"`).

A search that looks ahead from the state itself would see hidden information and foresee future dice
and cards. For ISMCTS, a `Resampler` samples all of these again. OpenSpiel's own serialisation
refuses sampled games that are written in Python: use `state.serialize()` and
`game.deserialize_state(text)`. OpenSpiel's compiled bots, `pyspiel.MCTSBot` and
`pyspiel.ISMCTSBot`, end the process if the game is written in Python: use the bots of
`open_spiel.python.algorithms`.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from hashlib import blake2b
from typing import Any

import numpy as np
import pyspiel
from numpy.typing import NDArray

from armarl.common.messages import brief
from armarl.common.numbers import MOST_SEED, is_whole, whole_number
from armarl.compiler.types import States
from armarl.core.game import Game
from armarl.environments.one_thread import AtWork, alone
from armarl.games.catalogue import game_entry
from armarl.games.make_game import make_game

_SUFFIXES = {"sampled": "", "explicit": "_explicit"}
SEED = "seed"  # the parameter that every game has in addition to its options
_IT = np.zeros(1, np.int64)  # the index of the only game, as an array
_MOST_SEEDS = 2**62
_MOST_PARAMETER = 2**31 - 1  # OpenSpiel's integers have 32 bits
_DIGEST = 16  # bytes in a digest


def register(name: str, *, chance: str = "sampled", **options: Any) -> Any:
    """Register a game with OpenSpiel as `armarl_NAME` and load it. Options become parameters.

    Args:
        name: name of a game: "armadora", "armada", or one registered by another package.
        chance: "sampled" or "explicit". With "explicit", every deal is an outcome of the chance
            node, and the game is registered as `armarl_NAME_explicit`.
        options: the game's options, and `seed`: the seed that deals new states, 0 to 2**31 - 1
            (default 0).

    Returns:
        The OpenSpiel game (`pyspiel.Game`).

    Raises:
        ValueError, TypeError, OSError: as in `armarl.make_game`; or `chance` or `seed` is not
            valid, or the deals cannot be enumerated.

    Example:
        >>> from armarl.environments.open_spiel import register
        >>> game = register("armadora", players=3)
        >>> game.num_players()
        3
        >>> state = game.new_initial_state()
        >>> state.is_chance_node(), state.chance_outcomes()
        (True, [(0, 1.0)])
    """
    if chance not in _SUFFIXES:
        raise ValueError(f"chance must be 'sampled' or 'explicit', not {chance!r}")
    entry = game_entry(name)
    short_name = f"armarl_{name}{_SUFFIXES[chance]}"
    if short_name not in pyspiel.registered_names():
        kind = _game_type(name, short_name, chance)
        # `maker` is a class, not a function, because OpenSpiel releases it after Python's shutdown.
        maker = type(f"{entry.title}Game", (OpenSpielGame,), {"name": name, "kind": kind})
        pyspiel.register_game(kind, maker)
    seed = whole_number(SEED, options.pop(SEED, 0), 0, _MOST_PARAMETER)
    game = make_game(name, **options)  # raises clearer errors than OpenSpiel
    if chance == "explicit":
        game.deals()  # raises an error if the deals cannot be enumerated
    # OpenSpiel refuses NumPy numbers.
    plain = {key: int(value) if is_whole(value) else value for key, value in options.items()}
    return pyspiel.load_game(short_name, {**plain, SEED: seed})


class Resampler:
    """A callable that resamples all information hidden from a player, and future chance events.

    Pass it to `ismcts.ISMCTSBot.set_resampler`. The same seed gives the same sequence of deals.

    Example:
        >>> from armarl.environments.open_spiel import Resampler, register
        >>> state = register("armadora", players=2).new_initial_state()
        >>> state.apply_action(0)
        >>> other = Resampler(seed=0)(state, 0)
        >>> other.observation_string(0) == state.observation_string(0)
        True
    """

    def __init__(self, seed: int) -> None:
        """Create a resampler.

        Args:
            seed: seed of the deals, 0 to 2**63 - 1.

        Raises:
            TypeError: the seed is not an integer.
            ValueError: the seed is out of range.
        """
        self._seeds = _Seeds(seed)

    def __call__(self, state: OpenSpielState, player: int) -> OpenSpielState:
        """Return a new state that `player` cannot distinguish from `state`.

        Raises:
            ValueError: the player does not exist, or nothing has been dealt yet.
        """
        return state.resampled(player, self._seeds.next())


def _game_type(name: str, short_name: str, chance: str) -> Any:
    modes, players = pyspiel.GameType.ChanceMode, game_entry(name).players
    explicit = chance == "explicit"
    return pyspiel.GameType(
        short_name=short_name,
        long_name=f"{game_entry(name).title} of ArmaRL",
        dynamics=pyspiel.GameType.Dynamics.SEQUENTIAL,
        chance_mode=modes.EXPLICIT_STOCHASTIC if explicit else modes.SAMPLED_STOCHASTIC,
        information=pyspiel.GameType.Information.IMPERFECT_INFORMATION,
        utility=pyspiel.GameType.Utility.ZERO_SUM,
        reward_model=pyspiel.GameType.RewardModel.TERMINAL,
        max_num_players=max(players),
        min_num_players=min(players),
        provides_information_state_string=True,
        provides_information_state_tensor=False,
        provides_observation_string=True,
        provides_observation_tensor=True,
        parameter_specification={**_parameters(name), SEED: 0},
    )


def _parameters(name: str) -> dict[str, Any]:
    """Return the options whose types OpenSpiel supports (bool, int, str), with their defaults."""
    signature = inspect.signature(game_entry(name).load().make)
    defaults = {key: parameter.default for key, parameter in signature.parameters.items()}
    return {key: value for key, value in defaults.items() if isinstance(value, bool | int | str)}


class OpenSpielGame(pyspiel.Game):  # type: ignore[misc]
    """A variant of a game with OpenSpiel's interface.

    Attributes:
        name: the game's name in ArmaRL, the same for all variants.
        kind: the game type that OpenSpiel registers, the same for all variants.
        game: the variant.
        deals: all possible deals if chance is explicit, otherwise None.
        deal_seeds: the sequence of seeds for sampled deals.
    """

    name: str
    kind: Any

    def __init__(self, params: Mapping[str, Any] | None = None) -> None:
        options = {**_parameters(self.name), **(params or {})}
        seed = options.pop(SEED, 0)
        self.game = make_game(self.name, **options)
        self.deal_seeds = _Seeds(seed)
        explicit = self.kind.chance_mode == pyspiel.GameType.ChanceMode.EXPLICIT_STOCHASTIC
        self.deals: States | None = self.game.deals() if explicit else None
        info = pyspiel.GameInfo(
            num_distinct_actions=len(self.game.actions),
            max_chance_outcomes=1 if self.deals is None else self.deals.size,
            num_players=self.game.players,
            min_utility=-1.0,
            max_utility=1.0,
            utility_sum=0.0,
            max_game_length=self.game.max_actions,
        )
        super().__init__(self.kind, info, dict(params or {}))

    def new_initial_state(self) -> OpenSpielState:
        """Return a state before the deal. A sampled deal uses the next seed of `deal_seeds`."""
        return OpenSpielState(self)

    def deserialize_state(self, text: str) -> OpenSpielState:
        """Restore a state from the text of `OpenSpielState.serialize`.

        Raises:
            TypeError: `text` is not a string.
            ValueError: `text` does not describe a state of this variant.
        """
        if not isinstance(text, str):
            raise TypeError(f"a serialised state must be text, not {brief(repr(text), 60)}")
        try:
            record, known, history = text.split("\n")
            data, told = bytes.fromhex(record), [bytes.fromhex(part) for part in known.split()]
            moves = [tuple(map(int, move.split(":"))) for move in history.split()]
            movers, actions = [mover for mover, _ in moves], [action for _, action in moves]
        except ValueError as error:
            raise self._wrong(
                "the text must have three lines of hexadecimal digits and numbers"
            ) from error
        dealt = bool(data)
        if [len(part) for part in told] != dealt * self.game.players * [_DIGEST]:
            raise self._wrong(
                f"line 2 of the text must contain a digest of {_DIGEST} bytes per seat (nothing "
                "before the deal)"
            )
        most = [1 if self.deals is None else self.deals.size, len(self.game.actions)]
        lawful = all(0 <= action < most[min(i, 1)] for i, action in enumerate(actions))
        seated = all((mover >= 0) == (i > 0) for i, mover in enumerate(movers))
        if bool(actions) != dealt or not lawful or not seated:
            raise self._wrong(
                "line 3 of the text must contain the deal as -1:number and the actions as "
                "seat:number (nothing before the deal)"
            )
        if not all(-1 <= mover < self.game.players for mover in movers):
            raise self._wrong(
                f"the seats in line 3 of the text must be 0 to {self.game.players - 1}"
            )
        state = OpenSpielState(self)
        for state._replays, action in moves:  # fills OpenSpiel's own history
            state.apply_action(action)
        state._replays = None
        if dealt:
            size = self.game.blank.dtype.itemsize
            if len(data) != size:
                raise self._wrong(f"line 1 of the text must have {size} bytes, not {len(data)}")
            states = np.frombuffer(data, np.uint8).copy().view(self.game.blank.dtype)
            self.game.check_states(states)
            state.states, state.known = states, told
        return state

    def _wrong(self, reason: str) -> ValueError:
        return ValueError(f"this is not a state of {self.game.name}: {reason}")

    def make_py_observer(self, iig_obs_type: Any = None, params: Any = None) -> OpenSpielObserver:
        """Return the observer that fills `observation_tensor`."""
        if params:
            raise ValueError(f"observations take no parameters, got {params}")
        return OpenSpielObserver(self.game)


class _Seeds:
    """A sequence of seeds for deals. A game, its states and their copies share one sequence."""

    def __init__(self, seed: int) -> None:
        self._numbers = np.random.default_rng(whole_number(SEED, seed, 0, MOST_SEED))

    def next(self) -> int:
        return int(self._numbers.integers(_MOST_SEEDS))

    def __deepcopy__(self, memo: dict[int, Any]) -> _Seeds:
        return self


class OpenSpielState(pyspiel.State):  # type: ignore[misc]
    """A game in play: its state record, and for each seat a digest of everything shown to it.

    Only one thread at a time may use a state. A call during another thread's call raises
    RuntimeError.

    Attributes:
        states: the state record, an array of one; None before the deal.
        known: for each seat, a digest of everything that was shown to it, in order. The digest is
            the seat's information state.
    """

    def __init__(self, game: OpenSpielGame) -> None:
        super().__init__(game)
        # The OpenSpiel game is not an attribute, because attributes are copied with the state.
        self._game, self._deals, self._seeds = game.game, game.deals, game.deal_seeds
        self._at_work = AtWork()
        self._replays: int | None = None  # the player to move while a history is replayed
        self.states: States | None = None
        self.known = [b""] * game.game.players

    # --- OpenSpiel's interface -------------------------------------------------------------------

    @alone
    def current_player(self) -> int:
        if self._replays is not None:
            return self._replays
        if self.states is None:
            return int(pyspiel.PlayerId.CHANCE)
        statuses, seats = self._game.statuses(self.states)
        return int(pyspiel.PlayerId.TERMINAL) if statuses[0] else int(seats[0])

    def chance_outcomes(self) -> list[tuple[int, float]]:
        deals = 1 if self._deals is None else self._deals.size
        return [(deal, 1 / deals) for deal in range(deals)]

    @alone
    def _legal_actions(self, player: int) -> list[int]:
        assert self.states is not None
        return [int(action) for action in np.flatnonzero(self._game.legal_masks(self.states)[0])]

    @alone
    def apply_action(self, action: int) -> None:
        """Play an action or, at the chance node, deal.

        Raises:
            IllegalActionError: the rules forbid the action; the state is unchanged.
            ValueError: there is no such outcome of the chance node; the state is unchanged.
        """
        super().apply_action(action)

    @alone
    def _apply_action(self, action: int) -> None:
        if self._replays is not None:
            return
        mover, before = self.current_player(), (self.states, list(self.known))
        try:
            self.states = self._after(action)
            for seat in range(self._game.players):
                self._show(seat, action if seat == mover else -1)
        except BaseException:  # undo a half-played action
            self.states, self.known = before
            raise

    def _after(self, action: int) -> States:
        """Return the state record after an action or a deal, in new memory."""
        if self.states is not None:
            states = self.states.copy()
            self._game.apply(states, _IT, np.array([action]))
            return states
        deals = len(self.chance_outcomes())
        if not 0 <= action < deals:
            raise ValueError(
                f"the chance node has no outcome {action}: outcomes run from 0 to {deals - 1}"
            )
        if self._deals is None:
            return self._game.new_states(self._seeds.next())
        return self._deals[action : action + 1].copy()

    @alone
    def information_state_string(self, player: int | None = None) -> str:
        """Return a digest of a player's observations so far and of the player's actions.

        Args:
            player: the player; by default the player to move.

        Raises:
            ValueError: the player does not exist, or `player` is None and there is no player to
                move.
        """
        return self.known[self._seat(player)].hex()

    @alone
    def observation_string(self, player: int | None = None) -> str:
        """Return a digest of a player's current view.

        Args:
            player: the player; by default the player to move.

        Raises:
            ValueError: as in `information_state_string`, or nothing has been dealt yet.
        """
        return self._seen(self._seat(player)).hex()

    @alone
    def is_terminal(self) -> bool:
        return self.current_player() == int(pyspiel.PlayerId.TERMINAL)

    @alone
    def returns(self) -> list[float]:
        if self.states is None or not self.is_terminal():
            return [0.0] * self._game.players
        return [float(x) for x in self._game.returns(self.states, _IT)[0]]

    def resample_from_infostate(self, player: int, sampler: Any) -> OpenSpielState:
        """Return `resampled` with a random seed. OpenSpiel calls this method.

        Args:
            player: the player whose view stays the same.
            sampler: a function that returns a random number in [0, 1).

        Raises:
            ValueError: the number is not in [0, 1), or `resampled` raises an error.
        """
        drawn = float(sampler())
        if not 0 <= drawn < 1:  # refuses NaN too
            raise ValueError(f"the sampler must return a number in [0, 1), not {drawn}")
        return self.resampled(player, int(drawn * _MOST_SEEDS))

    @alone
    def serialize(self) -> str:
        """Return the whole state as three lines of text. `deserialize_state` restores it."""
        record = "" if self.states is None else self.states.tobytes().hex()
        known = " ".join(part.hex() for part in self.known)
        moves = (f"{move.player}:{move.action}" for move in self.full_history())
        return "\n".join([record, known, " ".join(moves)])

    def _action_to_string(self, player: int, action: int) -> str:
        return f"deal {action}" if player < 0 else self._game.actions.text(action)

    @alone
    def __str__(self) -> str:
        return "before the deal" if self.states is None else self._game.draw(self.states[0])

    # --- additions to OpenSpiel's interface ------------------------------------------------------

    @alone
    def resampled(self, player: int, seed: int) -> OpenSpielState:
        """Return a state that `player` cannot distinguish from this one.

        The new deal does not determine the earlier views of the other players. Their information
        states are therefore digests of their current views only.

        Args:
            player: the player whose view stays the same.
            seed: seed of the new deal, 0 to 2**63 - 1.

        Raises:
            ValueError: the player does not exist, nothing has been dealt yet, or the seed is out
                of range.
        """
        seats = np.array([self._seat(player)])
        seeds = np.array([whole_number(SEED, seed, 0, MOST_SEED)])
        other: OpenSpielState = self.clone()
        other.states = self._game.determinised(self._dealt(), seats, seeds)
        for seat in range(self._game.players):
            if seat != player:
                other.known[seat] = b""
                other._show(seat, -1)
        return other

    @alone
    def seen_by(self, player: int) -> NDArray[np.float32] | None:
        """Return a player's flat observation, or None before the deal.

        Raises:
            ValueError: the player does not exist.
        """
        seats = np.array([self._seat(player)])
        return None if self.states is None else self._game.views(self.states, seats)[0][0]

    def _show(self, seat: int, action: int) -> None:
        told = self.known[seat] + action.to_bytes(4, "big", signed=True) + self._seen(seat)
        self.known[seat] = blake2b(told, digest_size=_DIGEST).digest()

    def _seen(self, seat: int) -> bytes:
        seen = self._game.concealed(self._dealt(), np.array([seat])).tobytes()
        return blake2b(seen, digest_size=_DIGEST).digest()

    def _seat(self, player: int | None) -> int:
        """Return a player's seat; by default the seat of the player to move.

        Raises:
            ValueError: there is no such player.
        """
        if player is None and (player := self.current_player()) < 0:
            raise ValueError("there is no player to move: name the player whose view you want")
        return whole_number("the player", player, 0, self._game.players - 1)

    def _dealt(self) -> States:
        if self.states is None:
            raise ValueError("nothing has been dealt yet: apply the chance node's action first")
        return self.states


class OpenSpielObserver:
    """The flat observation as an OpenSpiel tensor, with its blocks by name."""

    def __init__(self, game: Game) -> None:
        self._game = game
        self.tensor: NDArray[np.float32] = np.zeros(game.observation.size, np.float32)
        self.dict: dict[str, NDArray[np.float32]] = dict(game.observation.views(self.tensor))

    def set_from(self, state: OpenSpielState, player: int) -> None:
        """Write a player's observation into `tensor`. Before the deal, write zeros."""
        seen = state.seen_by(player)
        self.tensor[:] = 0 if seen is None else seen

    def string_from(self, state: OpenSpielState, player: int) -> str:
        """Return a digest of the player's view."""
        return state.observation_string(player)
