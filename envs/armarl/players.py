"""Players: whoever chooses actions for seats, in environments, matches and at the table.

A player is a pure function of what a seat may know and of one random number per decision. It gets
*concealed* states (see `Game.concealed`), so it cannot look at what its seat may not see, and it
keeps no memory and no random generator, so that a game repeats from its seed, alone or in a batch.

A player is named by a specification (see `specs`), and `make_player` makes it. `register_player`
adds names to those that there are.
"""

from __future__ import annotations

import difflib
import importlib
import inspect
import re
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple, Protocol, get_args, get_type_hints, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from armarl import guards, loops
from armarl.catalogue import game_entry
from armarl.game import Game, IllegalActionError, States
from armarl.specs import Part, Spec, Value


@runtime_checkable
class Player(Protocol):
    """The interface of every player: scripted, learnt, searching or human.

    A player who was made for one variant has it in an attribute `game`; in another he is refused.
    """

    name: str

    def choose(
        self, states: States, seats: NDArray[np.int64], draws: NDArray[np.float64]
    ) -> NDArray[np.int64]:
        """Choose a legal action in each state.

        Args:
            states: (batch,) records, `states[i]` concealed for `seats[i]`, which is to move there.
            seats: (batch,) seat numbers.
            draws: (batch,) random numbers in [0, 1), the only source of chance a player may use.

        Returns:
            (batch,) action ids.
        """
        ...


class Thoughts(NamedTuple):
    """What a player thought of a batch of states; None stands for what he does not consider.

    Attributes:
        probabilities: (batch, actions) float64, of each action to be chosen; they sum to 1.
        values: (batch, actions) float64, the return he expects of each action; NaN: no opinion.
        visits: (batch, actions) int64, how often a search tried each action.
        value: (batch,) float64, the return that he expects for the seat.
    """

    probabilities: NDArray[np.float64] | None = None
    values: NDArray[np.float64] | None = None
    visits: NDArray[np.int64] | None = None
    value: NDArray[np.float64] | None = None


@runtime_checkable
class Thinker(Player, Protocol):
    """A player who tells what he thinks, to those who show it."""

    def think(
        self, states: States, seats: NDArray[np.int64], draws: NDArray[np.float64]
    ) -> Thoughts:
        """What he thinks of states in which `choose` would be asked, with the same arguments."""
        ...


def choose_legally(
    player: Player,
    game: Game,
    states: States,
    seats: NDArray[np.int64],
    draws: NDArray[np.float64],
) -> NDArray[np.int64]:
    """What `player.choose` says of concealed `states`, after checking it.

    He gets copies, and what he returns is copied and checked by what was legal before he was asked:
    nothing that he writes into changes the game, or what he is allowed.

    Raises:
        IllegalActionError: the rules forbid one of the actions, or there is no such action.
        ValueError: it is not one action for each state, or he plays another variant.
        TypeError: the actions are no integers.
    """
    check_variant(player, game)
    masks = game.legal_masks(states)
    shown = game.taken(states, np.arange(states.size))
    chosen = np.array(player.choose(shown, seats.copy(), draws.copy()))
    if chosen.shape != states.shape:
        raise ValueError(
            f"the player {player.name!r} chose actions of shape {chosen.shape} "
            f"in states of shape {states.shape}"
        )
    if chosen.dtype.kind not in "iu":
        raise TypeError(f"the player {player.name!r} chose {chosen.dtype}s: actions are integers")
    inside = (chosen >= 0) & (chosen < len(game.actions))
    legal = inside & (masks[np.arange(states.size), np.where(inside, chosen, 0)] == 1)
    for i in np.flatnonzero(~legal)[:1]:
        reason = game.explain(states[i], int(chosen[i]))
        raise IllegalActionError(f"the player {player.name!r} of seat {seats[i]}: {reason}")
    return chosen.astype(np.int64)


def check_variant(player: Player, game: Game) -> None:
    """Raise ValueError if a player was made for another variant than `game`."""
    own = getattr(player, "game", game)
    if own is not game and isinstance(own, Game) and own.variant != game.variant:
        raise ValueError(
            f"the player {player.name!r} was made for {_variant_name(own)}; "
            f"this is {_variant_name(game)}"
        )


def _variant_name(game: Game) -> str:
    options = "".join(f", {name}={value}" for name, value in game.options.items())
    return f"{game.name} with {game.players} players{options}"


# --- the plain ones -------------------------------------------------------------------------------


class RandomPlayer:
    """Plays uniformly at random among the legal actions."""

    def __init__(self, game: Game) -> None:
        self.name = "random"
        self.game = game

    def choose(
        self, states: States, seats: NDArray[np.int64], draws: NDArray[np.float64]
    ) -> NDArray[np.int64]:
        guards.check_question(self.game, states, seats, draws)
        actions = np.empty(states.size, np.int64)
        masks = self.game.scratch_masks(states.size)
        scratch = np.empty((len(masks), 1), states.dtype)
        batch = loops.Choices(states, draws, masks, scratch, actions)
        self.game.run(loops.choose_randomly, states.size, batch)
        return actions

    def think(
        self, states: States, seats: NDArray[np.int64], draws: NDArray[np.float64]
    ) -> Thoughts:
        """The same probability for every legal action."""
        masks = self.game.legal_masks(states)
        return Thoughts(masks / masks.sum(axis=1, keepdims=True))


class PatientPlayer:
    """Plays at random, but gives nothing up: the game's last resorts only where nothing else is.

    Which actions those are, a pass for instance, the game says (`LAST_RESORTS` in its `rivals`).
    """

    def __init__(self, game: Game) -> None:
        self.name = "random:patient"
        self.game = game
        texts = rivals(game, "random:patient").LAST_RESORTS
        self._last_resorts = [game.actions.id(text) for text in texts]

    def choose(
        self, states: States, seats: NDArray[np.int64], draws: NDArray[np.float64]
    ) -> NDArray[np.int64]:
        masks = self.game.legal_masks(states)
        others = masks.copy()
        others[:, self._last_resorts] = 0
        return pick_at(np.where(others.any(axis=1, keepdims=True), others, masks), draws)


class GreedyPlayer:
    """Plays the action that looks best one step ahead, by the game's own scripted judgement.

    Args:
        style: one of `GREEDY_STYLES` in the game's module `styles`, the first by default; the one
            that is called `HELD_OUT_STYLE` there is for evaluation, never to be trained against.

    Raises:
        ValueError: the game has no such style.
    """

    def __init__(self, game: Game, style: str | None = None) -> None:
        self.name = "greedy" if style is None else f"greedy:style={style}"
        self.game = game
        self._style = 0 if style is None else _style_number(game, style)

    def choose(
        self, states: States, seats: NDArray[np.int64], draws: NDArray[np.float64]
    ) -> NDArray[np.int64]:
        guards.check_question(self.game, states, seats, draws)
        actions = np.empty(states.size, np.int64)
        masks = self.game.scratch_masks(states.size)
        scratch = np.empty((len(masks), 1), states.dtype)
        below_next = np.nextafter(self._style + 1.0, 0.0)  # to which the sum might be rounded
        draws = np.minimum(self._style + draws, below_next)
        batch = loops.Choices(states, draws, masks, scratch, actions)
        self.game.run(loops.choose_greedily, states.size, batch)
        return actions


def _style_number(game: Game, style: str) -> int:
    """The place of a style among those of the game's greedy player.

    Raises:
        ValueError: there is none of this name.
    """
    part = game_entry(game.name).part("styles")
    styles: tuple[str, ...] = part.GREEDY_STYLES if part else ()
    if style not in styles:
        known = ", ".join(styles) or "only one"
        raise ValueError(f"greedy has no style {style!r} in {game.name}: there is {known}")
    return styles.index(style)


class HumanPlayer:
    """A person at a terminal, who sees the board as text and types actions in notation."""

    def __init__(self, game: Game) -> None:
        self.name = "human"
        self.game = game

    def choose(
        self, states: States, seats: NDArray[np.int64], draws: NDArray[np.float64]
    ) -> NDArray[np.int64]:
        return np.array([self._ask(states[i : i + 1], int(seats[i])) for i in range(states.size)])

    def _ask(self, states: States, seat: int) -> int:
        game = self.game
        print(f"\n{game.draw(states[0], seat)}")
        mask = game.legal_masks(states)[0]
        while True:
            text = input(f"player {seat}, your action (? lists them): ").strip()
            if text == "?":
                print("  ".join(game.actions.legal_texts(mask)))
                continue
            try:
                action = game.actions.id(text)
            except ValueError as error:
                print(error)
                continue
            if mask[action]:
                return action
            print(game.explain(states[0], action))


# --- players within players -----------------------------------------------------------------------


class NoisyPlayer:
    """Plays at random in a part of the decisions, and leaves the others to another player."""

    def __init__(self, game: Game, player: Player, noise: float) -> None:
        """A player whose every decision is random with the probability `noise`, in [0, 1]."""
        if not 0 <= noise <= 1:
            raise ValueError(f"noise is a probability, in 0 to 1, not {noise}")
        self.name = f"{player.name} with noise {noise}"
        self.game, self.player, self.noise = game, player, noise

    def choose(
        self, states: States, seats: NDArray[np.int64], draws: NDArray[np.float64]
    ) -> NDArray[np.int64]:
        fate, draws = split_draws(draws)
        return _partly_random(self.player, self.game, states, seats, draws, fate < self.noise)


class OpeningPlayer:
    """Begins at random, and leaves the rest of the game to another player.

    How far a seat has come, the game tells from its public state (`progress` in its `rivals`).
    """

    def __init__(self, game: Game, player: Player, first_random: int) -> None:
        """A player who plays at random while his seat's progress is below `first_random`."""
        if first_random < 0:
            raise ValueError(f"first_random must be 0 or more, not {first_random}")
        self.name = f"{player.name} after {first_random} random"
        self.game, self.player, self.first_random = game, player, first_random
        self._progress = rivals(game, "first_random").progress

    def choose(
        self, states: States, seats: NDArray[np.int64], draws: NDArray[np.float64]
    ) -> NDArray[np.int64]:
        opening = self._progress(states, seats) < self.first_random
        return _partly_random(self.player, self.game, states, seats, draws, opening)


def _partly_random(
    player: Player,
    game: Game,
    states: States,
    seats: NDArray[np.int64],
    draws: NDArray[np.float64],
    random: NDArray[np.bool_],
) -> NDArray[np.int64]:
    """A random action where `random` says so, and the player's elsewhere."""
    actions = np.empty(states.size, np.int64)
    for chooser, where in ((RandomPlayer(game), random), (player, ~random)):
        if where.any():
            games = np.flatnonzero(where)
            seen = game.taken(states, games)
            actions[games] = chooser.choose(seen, seats[games], draws[games])
    return actions


_MIX = (np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))  # SplitMix64's


def split_draws(draws: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Two random numbers in [0, 1) out of each, by hashing: a player gets but one per decision."""
    words = (draws * 2.0**53).astype(np.uint64)
    return _hashed(words, np.uint64(1)), _hashed(words, np.uint64(2))


def _hashed(words: NDArray[np.uint64], stream: np.uint64) -> NDArray[np.float64]:
    x = (words << np.uint64(2)) ^ stream
    for shift, factor in ((30, _MIX[0]), (27, _MIX[1])):
        x = (x ^ (x >> np.uint64(shift))) * factor
    return ((x ^ (x >> np.uint64(31))) >> np.uint64(11)).astype(np.float64) * 2.0**-53


def pick_at(masks: NDArray[np.int8], draws: NDArray[np.float64]) -> NDArray[np.int64]:
    """In each row the legal action at `draws[i]`, a number in [0, 1), of their list."""
    ranks = masks.cumsum(axis=1, dtype=np.int64)
    wanted = (draws * ranks[:, -1]).astype(np.int64)
    return np.asarray((ranks > wanted[:, None]).argmax(axis=1), np.int64)


def rivals(game: Game, what: str) -> ModuleType:
    """What a game says of players against which others are measured.

    Raises:
        ValueError: it says nothing, and `what` needs it.
    """
    rivals = game_entry(game.name).part("rivals")
    if rivals is None:
        raise ValueError(f"{game.name} has no module `rivals`, which {what} needs")
    return rivals


# --- players by name ------------------------------------------------------------------------------

Factory = Callable[..., Player]
PlayerLike = str | Path | Spec | Player


def _random(game: Game, patient: bool = False) -> Player:
    return PatientPlayer(game) if patient else RandomPlayer(game)


# Those given as text are imported when they are first called for.
BUILT_IN: Mapping[str, Factory | str] = {
    "random": _random,
    "greedy": GreedyPlayer,
    "human": HumanPlayer,
    "grave": "armarl.search:SearchPlayer",
    "ismcts": "armarl.search:IsmctsPlayer",
    "flat": "armarl.search:FlatPlayer",
}
BUILT_AROUND: Mapping[str, Factory | str] = {"search": "armarl.search:PolicySearchPlayer"}
_players: dict[str, Factory | str] = dict(BUILT_IN)
_around: dict[str, Factory | str] = dict(BUILT_AROUND)
# What every player takes besides his own arguments, outermost last.
_PICKLES = (".zip", ".pt", ".pth", ".pkl")  # torch's and SB3's
_HABITS: Mapping[str, Factory] = {"noise": NoisyPlayer, "first_random": OpeningPlayer}


def register_player(name: str, factory: Factory, *, around: bool = False) -> None:
    """Give a player a name, by which he can be called for wherever players are named.

    Args:
        name: small letters, digits and hyphens.
        factory: called with the game and the arguments of the specification, it returns a `Player`:
            `factory(game, 1000, seconds=2)` for `name:1000,seconds=2`. Its annotations (bool, int,
            float, str) are what is checked. For a match with several worker processes it is a
            function or a class that can be imported.
        around: the name is put around another player, as in `greedy+name:200`; the factory is
            called with the game, that player, and the arguments.

    Raises:
        ValueError: the name is no name, or is taken.
    """
    if not re.fullmatch(r"[a-z][a-z0-9-]*", name):
        raise ValueError(f"a player's name is of small letters, digits and hyphens, not {name!r}")
    registry = _around if around else _players
    if registry.get(name, factory) is not factory:
        raise ValueError(f"there is a player {name!r} already")
    registry[name] = factory


def registered() -> list[tuple[str, Factory, bool]]:
    """What `register_player` was called with: for worker processes, which must call it too."""
    return [
        (name, factory, around)
        for registry, built_in, around in (
            (_players, BUILT_IN, False),
            (_around, BUILT_AROUND, True),
        )
        for name, factory in registry.items()
        if name not in built_in and not isinstance(factory, str)
    ]


def _named(registry: Mapping[str, Factory | str], name: str) -> Factory | None:
    """The factory of this name, if there is one."""
    found = registry.get(name)
    if isinstance(found, str):
        module, _, attribute = found.partition(":")
        factory: Factory = getattr(importlib.import_module(module), attribute)
        return factory
    return found


def make_player(player: PlayerLike, game: Game, *, code: bool = True) -> Player:
    """A player of `game` from his specification, or from the path of a saved policy.

    A specification names, in this order: a registered player (`random`, `greedy`, `human`, ...), a
    shipped policy (`armadora-2p`), the path of a saved policy or of the folder of a run, or a class
    of one's own as `module:Class`, which is imported and called like a registered factory. A
    `Player` is returned as he is.

    Args:
        code: whether `module:Class` may import; False for what comes out of a file.

    Raises:
        TypeError: neither a specification, a path nor a player.
        ValueError: no such player or argument, or a player of another variant.
        PolicyError: the file is no policy for this game, version or variant.
    """
    if isinstance(player, Player):
        check_variant(player, game)
        return player
    if not isinstance(player, str | Path | Spec):
        raise TypeError(f"a player is a specification, a path or a Player, not {player!r}")
    spec = as_spec(player)
    made = _make_base(spec.base, game, code)
    for part in spec.around:
        made = _make_around(part, made, game)
    made.name = label(spec)
    check_variant(made, game)
    return made


def as_spec(player: str | Path | Spec) -> Spec:
    """A specification as such; a path is that of a policy, whatever it is made of.

    Raises:
        ValueError: it breaks the grammar.
    """
    if isinstance(player, Spec):
        return player
    if isinstance(player, Path) or Path(player).suffix == ".safetensors":
        return Spec(Part(str(player)))
    return Spec.parse(player)


def label(spec: Spec) -> str:
    """The specification without the folders of a path: what a player is called in tables."""
    path = Path(spec.base.name)
    if path.suffix == ".safetensors" or len(path.parts) > 1:
        named = path.parent if path.name == "policy.safetensors" and path.parent.name else path
        stem = named.name.removesuffix(".safetensors")
        return str(Spec(Part(stem, spec.base.arguments, spec.base.settings), spec.around))
    return str(spec)


def policy_path(spec: Spec) -> Path | None:
    """Where the saved policy lies that a specification names; None if it names no policy."""
    name = spec.base.name
    if name in _players:
        return None
    if name in shipped_policies():
        return shipped_policies()[name]
    path = Path(name)
    if path.is_dir():
        path /= "policy.safetensors"
    return path if path.exists() else None


@cache
def shipped_policies() -> dict[str, Path]:
    """The policies that come with ArmaRL, by name."""
    folder = Path(__file__).parent / "shipped"
    return {path.stem: path for path in sorted(folder.glob("*.safetensors"))}


def _make_base(part: Part, game: Game, code: bool) -> Player:
    """The player of a specification's first part, with his habits."""
    _refuse_pickles(part.name)
    habits = {name: value for name, value in part.settings if name in _HABITS}
    factory = _named(_players, part.name)
    if factory is None and (path := policy_path(Spec(part))):
        factory = _policy_factory(path)
    if factory is None:
        factory, part = _imported(part, code)
    own = Part(part.name, part.arguments, tuple(s for s in part.settings if s[0] not in habits))
    player = _call(factory, own, list(_HABITS), game)
    for name, value in habits.items():
        player = _call(_HABITS[name], Part(name, (value,)), [], game, player)
    return player


def _refuse_pickles(name: str) -> None:
    """Raise ValueError for what SB3 and torch save, which is unpickled, and say what to do."""
    if Path(name).suffix in _PICKLES:
        policy = Path(name).with_suffix(".safetensors").name
        raise ValueError(
            f"{name} is no policy of ours: loading such a file can run whatever is written in it. "
            "What you trust of Stable-Baselines3 becomes one by "
            f"armarl_training.sb3.save_policy({policy!r}, MaskablePPO.load({name!r}), game); "
            f"then name {policy}"
        )


def _make_around(part: Part, player: Player, game: Game) -> Player:
    factory = _named(_around, part.name)
    if factory is None:
        known = ", ".join(f"+{name}" for name in _around) or "nothing, as yet"
        raise ValueError(f"no +{part.name}: what can be put around a player is {known}")
    return _call(factory, part, [], game, player)


def _policy_factory(path: Path) -> Factory:
    def policy(game: Game, sample: bool = False, temperature: float | None = None) -> Player:
        from armarl.policies import load_policy

        if temperature is None:
            return load_policy(path, game, sample=sample)
        if not 0 < temperature <= 1e6:
            raise ValueError(f"temperature must be above 0, not {temperature}")
        return load_policy(path, game, sample=True, temperature=temperature)

    return policy


def _imported(part: Part, code: bool) -> tuple[Factory, Part]:
    """The class or function that `module:Class` names, and the part with the arguments left."""
    name, arguments = part.name, part.arguments
    written = arguments and isinstance(arguments[0], str) and arguments[0].isidentifier()
    if not written or not all(word.isidentifier() for word in name.split(".")):
        raise ValueError(_unknown(name))
    if not code:
        raise ValueError(
            f"{part}: a player of one's own, module:Class, cannot be named here; "
            "pass him as an object, or register him (armarl.register_player)"
        )
    try:
        factory = getattr(importlib.import_module(name), str(arguments[0]))
    except ModuleNotFoundError as error:
        raise ValueError(f"{_unknown(name)} ({error})") from error
    except AttributeError as error:
        raise ValueError(f"no player {str(part)!r}: {error}") from error
    return factory, Part(f"{name}:{arguments[0]}", arguments[1:], part.settings)


def _unknown(name: str) -> str:
    """What there is, in place of what there is not."""
    known = [*_players, *shipped_policies()]
    near = difflib.get_close_matches(name, known, 1)
    meant = f" (did you mean {near[0]}?)" if near else ""
    return (
        f"no player {name!r}{meant}: there is {', '.join(known)}; or the path of a saved policy or "
        "of a run's folder; or a class of your own as module:Class"
    )


def _call(factory: Factory, part: Part, besides: list[str], *given: Any) -> Player:
    """Call a factory with the arguments of a part, by name.

    Raises:
        ValueError: it does not take them; the message says what it takes.
    """
    parameters = list(inspect.signature(factory).parameters.values())[len(given) :]
    hints = get_type_hints(factory.__init__ if inspect.isclass(factory) else factory)
    names = [parameter.name for parameter in parameters]
    flags = [name for name in names if bool in (get_args(hints.get(name)) or (hints.get(name),))]
    values = dict(part.settings)
    unnamed = [name for name in names if name not in flags]
    for argument in part.arguments:
        if not (argument in flags or unnamed):
            raise ValueError(_takes(part, names + besides, repr(argument)))
        key = str(argument) if argument in flags else unnamed.pop(0)
        if key in values:
            raise ValueError(f"{part}: {key} is given twice")
        values[key] = True if argument in flags else argument
    for key, value in values.items():
        if key not in names:
            raise ValueError(_takes(part, names + besides, repr(key)))
        if not _fits(value, hints.get(key)):
            raise ValueError(f"{part}: {key} takes {_kinds(hints[key])}, not {value!r}")
    missing = [p.name for p in parameters if p.default is p.empty and p.name not in values]
    if missing:
        raise ValueError(f"{part.name} needs {missing[0]}: {part.name}:{missing[0]}=...")
    return factory(*given, **values)


def _takes(part: Part, names: list[str], given: str) -> str:
    return f"{part}: {part.name} takes {', '.join(names) or 'no arguments'}, not {given}"


def _fits(value: Value, hint: Any) -> bool:
    kinds = get_args(hint) or (hint,)
    if hint is None or not {bool, int, float, str}.intersection(kinds):
        return True
    return type(value) in kinds or (type(value) is int and float in kinds)


def _kinds(hint: Any) -> str:
    words = {bool: "true or false", int: "a whole number", float: "a number", str: "text"}
    return " or ".join(words[kind] for kind in get_args(hint) or (hint,) if kind in words)
