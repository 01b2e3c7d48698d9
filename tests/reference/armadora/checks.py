"""Checks of the compiled Armadora against the reference, on whole games.

`check_game` plays one game with the compiled rules (the kernels) and the reference. The tests use
it for a few games, `scripts/checks/verify_games.py` uses it for many. Every failure is an
AssertionError with the variant, the seed and the actions, so that the game can be repeated.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from armarl.compiler.types import State, States
from armarl.core import batch_loops
from armarl.core.batch_loops import HAS_ENDED, play_one
from armarl.core.game import Game
from armarl.games.make_game import make_game
from reference.armadora.game import (
    MINES,
    MINI_PILES,
    PILES,
    SITES,
    SQUARES,
    Armadora,
    kind_of,
    squares_of,
    warriors_of,
)
from reference.armadora.observed import observed_blocks
from reference.refusals import check_acceptance, check_refusals

VARIANTS = [
    {"players": players, "advanced": advanced, "peek": peek}
    for players, advanced, peek in product((2, 3, 4), (False, True), (True, False))
] + [{"players": 2, "advanced": False, "peek": peek, "board": "mini"} for peek in (True, False)]
# A function that chooses one of the legal actions, which are given as notations sorted by id.
Choose = Callable[[list[str]], str]


def variant_name(variant: dict[str, Any]) -> str:
    """Return the name of a variant, such as `3p-advanced-nopeek`."""
    rules = "advanced" if variant["advanced"] else "base"
    peek = "peek" if variant["peek"] else "nopeek"
    board = [variant["board"]] if "board" in variant else []
    return "-".join([f"{variant['players']}p", rules, peek, *board])


def board_of(game: Game) -> str:
    """Return the value of the option `board`, which is missing if it has its default."""
    return str(game.options.get("board", "whole"))


def warriors_at_start(game: Game) -> dict[int, int]:
    """Return the Warriors of a player of this variant at the start, by value."""
    return warriors_of(game.players, board_of(game))


def mirror(game: Game, state: State) -> Armadora:
    """Return the reference with the gold and the characters of a newly dealt state."""
    view = game.describe(state)
    return Armadora(
        players=game.players,
        advanced=game.options["advanced"],
        peek=game.options["peek"],
        gold=view["gold"],
        characters=view["characters"],
        board=board_of(game),
    )


# --- ways to play --------------------------------------------------------------------------------


def random_choice(rng: random.Random) -> Choose:
    """Return a function that draws a kind of action by random weights, then an action of this kind.

    The weights differ between games. Some games are therefore long and fill the board, some are
    short, and in some the powers are used last.
    """
    weight: dict[str, float] = {kind: 10 ** rng.uniform(-3, 1) for kind in "PWR"}
    weight |= {kind: 10 ** rng.uniform(-3, 1) for kind in ("orc", "goblin", "elf", "mage")}
    weight |= {"stop": rng.choice((0.001, 1.0)), "pass": rng.choice((0.0, 0.0, 0.01, 0.3))}

    def choose(texts: list[str]) -> str:
        kinds: dict[str, list[str]] = {}
        for text in texts:
            kinds.setdefault(kind_of(text), []).append(text)
        weights = [weight[kind] for kind in kinds]
        if sum(weights) == 0:
            return rng.choice(texts)
        return rng.choice(kinds[rng.choices(list(kinds), weights)[0]])

    return choose


# --- one game ------------------------------------------------------------------------------------


def check_game(
    game: Game, seed: int, choose: Choose, rng: random.Random, sample: float
) -> Counter[str]:
    """Play a game in both implementations and check everything.

    Args:
        game: the variant.
        seed: the seed of the deal.
        choose: a function that picks the action. If it raises a ValueError or IndexError, the game
            ends immediately.
        rng: the random numbers of the checks.
        sample: the fraction of the states for which the slow checks run (`describe` and the
            observation, every refusal, a permutation by hand). The other checks run for all states.

    Returns:
        Counts of the special cases that occurred.

    Raises:
        AssertionError: the implementations disagree, or the kernels break a guarantee.
    """
    played: list[str] = []
    try:
        return _check_game(game, seed, choose, rng, sample, played)
    except AssertionError as error:
        where = f"armadora {dict(game.options)}, {game.players} players, seed {seed}"
        raise AssertionError(f"{error}\nin {where} after\n{'; '.join(played)}") from error


def _check_game(
    game: Game, seed: int, choose: Choose, rng: random.Random, sample: float, played: list[str]
) -> Counter[str]:
    occurred: Counter[str] = Counter(games=1)
    states = game.new_states(seed)
    reference = mirror(game, states[0])
    history = np.full(game.max_actions + 1, game.blank)
    mask, rewards = np.empty(len(game.actions), np.int8), np.empty(game.players)
    while True:
        assert len(played) <= game.max_actions, "the game is longer than max_actions"
        history[len(played)] = states[0]
        texts = game.actions.legal_texts(game.legal_masks(states)[0])
        assert set(texts) == reference.legal(), (
            f"legal in only one of the two: {sorted(set(texts) ^ reference.legal())}"
        )
        over = reference.stage == "over"
        if rng.random() < sample:
            for seat in range(game.players):
                check_view(game, states[0], reference, seat)
            check_refusals(game, states)
            check_acceptance(game, states)
            check_permuted(game, states[0], reference, rng)
            occurred["states checked whole"] += 1
        if over or rng.random() < sample:
            check_view(game, states[0], reference, None)
        if over:
            break
        try:
            text = choose(texts)
        except (ValueError, IndexError):
            break
        before = (reference.to_move, reference.stage)
        reference.play(text)
        _count(occurred, reference, text, *before)
        played.append(text)
        code = game.compiled(play_one)(
            states, 0, game.actions.id(text), mask, rewards, 0, game.fixed_records
        )
        expected = HAS_ENDED if reference.stage == "over" else reference.to_move
        assert code == expected, f"play returned {code}, not {expected}"
    history = history[: len(played) + 1]
    occurred["states"] += len(history)
    check_conserved(game, history, played)
    check_secrets(game, history, rng)
    check_repeats(game, seed, played, history, rng)
    if reference.stage == "over":
        check_result(game, states, reference, rewards)
        _count_end(occurred, reference)
    return occurred


def _count(occurred: Counter[str], after: Armadora, text: str, player: int, stage: str) -> None:
    """Count the special cases of the rules that an action has reached."""
    kind = kind_of(text)
    occurred[kind] += 1
    if kind == "P" and stage != "second palisade" and after.stage == "turn":
        supply = "supply empty" if after.palisades_left == 0 else "no line open"
        occurred[f"ARM-13: no second palisade, {supply}"] += 1
    if kind in ("orc", "goblin", "elf", "mage") and after.stage == "turn":
        occurred[f"ARM-22: turn ends after {kind}"] += 1
    if kind != "pass" and after.legal() == {"pass"}:
        occurred["ARM-14: must pass"] += 1


def _count_end(occurred: Counter[str], reference: Armadora) -> None:
    for squares in reference.territories():
        totals = reference.totals(squares)
        tied = totals.count(max(totals))
        if max(totals) == 0:
            occurred["ARM-18: nobody has points"] += 1
        elif tied > 1:
            occurred[f"ARM-17: {tied} tied"] += 1
            player = reference._reinforced_by(squares)
            if player is not None:
                among = totals[reference.side(player)] == max(totals)
                occurred[f"ARM-29: tie {'broken' if among else 'of others'}"] += 1
    for warrior in reference.warriors.values():
        if warrior.arrows > warrior.value:
            occurred["ARM-30: more arrows than value"] += 1
        if warrior.arrows and warrior.reinforcement is not None:
            occurred["ARM-30: arrows and reinforcement"] += 1
    gold = [sum(wins) for wins in reference.piles()]
    if gold.count(max(gold)) > 1:
        winners = len(reference.winners())
        occurred[f"ARM-19: {gold.count(max(gold))} tied in gold, {winners} win"] += 1


# --- the checks ----------------------------------------------------------------------------------


def check_view(game: Game, state: State, reference: Armadora, seat: int | None) -> None:
    """Check `describe`, and with a seat the observation, against the reference."""
    view = game.describe(state, seat)
    expected = {
        "game": "armadora",
        "version": game.version,
        "options": dict(game.options),
        **reference.describe(seat),
    }
    assert _sorted(view) == _sorted(expected), (
        f"describe({seat}) differs in {_differences(_sorted(view), _sorted(expected))}"
    )
    if seat is not None:
        check_observation(game, state, view | reference.known(seat), seat)


def check_observation(game: Game, state: State, view: dict[str, Any], seat: int) -> None:
    """Check the observation against the seat's `describe`, and the mask against its `legal`."""
    observations, masks = game.views(np.full(1, state), np.array([seat]))
    blocks = game.observation.decode(observations[0])
    expected = observed_blocks(view, seat)
    assert blocks.keys() == expected.keys()
    for name, block in blocks.items():
        assert np.array_equal(block, expected[name]), f"seat {seat} observes a wrong {name!r}"
    for block in game.observation.blocks:
        exact = np.asarray(expected[block.name]) / np.asarray(block.scale)
        close = np.allclose(game.observation.views(observations[0])[block.name], exact, atol=1e-6)
        assert close, f"{block.name!r} is not quantity / scale"
    assert game.actions.legal_texts(masks[0]) == (view["legal"] or [])


def _sorted(view: dict[str, Any]) -> dict[str, Any]:
    """Return the view, with sorted lists where the order has no meaning."""
    ordered = dict(view)
    for name in ("palisades", "legal"):
        if ordered[name] is not None:
            ordered[name] = sorted(ordered[name])
    return ordered | {"seen": [sorted(squares) for squares in ordered["seen"]]}


def _differences(one: dict[str, Any], other: dict[str, Any]) -> str:
    names = [name for name in {**one, **other} if one.get(name) != other.get(name)]
    return "; ".join(f"{name}: {one.get(name)} not {other.get(name)}" for name in names)


def check_permuted(game: Game, state: State, reference: Armadora, rng: random.Random) -> None:
    """Check that a shuffle of the hidden information changes nothing that a seat can see."""
    for seat in range(game.players):
        other = np.full(1, state)
        other["rng"] = rng.getrandbits(64)
        for player in range(game.players):
            _permute(other[0], reference, player, seat, rng)
        # After the end, `describe` shows everything, but observations do not (ARM-36).
        if reference.stage == "over":
            _assert_same_views(game, np.full(1, state), other, np.array([seat]))
            continue
        _assert_same_to(game, np.full(1, state), other, np.array([seat]))
        assert game.describe(other[0], seat) == game.describe(state, seat)
        assert game.draw(other[0], seat) == game.draw(state, seat)


def _permute(state: State, reference: Armadora, player: int, seat: int, rng: random.Random) -> None:
    """Shuffle the Warriors of a player that `seat` does not know, on the board and in the hand."""
    hidden = [
        square
        for square, warrior in reference.warriors.items()
        if warrior.player == player and not reference.shown(seat, square)
    ]
    pool = [reference.warriors[square].value for square in hidden]
    if player != seat:  # a seat always knows its own hand
        hand = reference.hands[player]
        pool += [value for value, number in hand.items() for _ in range(number)]
    rng.shuffle(pool)
    for square in hidden:
        state["value"][SQUARES.index(square)] = pool.pop()
    if player != seat:
        state["hand"][player] = [
            pool.count(value) for value in warriors_of(reference.players, reference.board)
        ]


def _assert_same_to(game: Game, states: States, others: States, seats: NDArray[np.int64]) -> None:
    """Check that observation, mask and concealed record of `seats[i]` are equal in both."""
    _assert_same_views(game, states, others, seats)
    concealed = game.concealed(states, seats).tobytes() == game.concealed(others, seats).tobytes()
    assert concealed, "hidden information remains in a concealed state"


def _assert_same_views(
    game: Game, states: States, others: States, seats: NDArray[np.int64]
) -> None:
    for one, other, what in zip(
        game.views(states, seats), game.views(others, seats), ("observation", "mask"), strict=True
    ):
        differs = np.flatnonzero((one != other).any(axis=1))
        assert not differs.size, f"a secret leaks into the {what} of seat {seats[differs[0]]}"
        assert one.tobytes() == other.tobytes()


def check_secrets(game: Game, history: States, rng: random.Random) -> None:
    """Check that new deals of the hidden information are valid, and look the same to the seat."""
    states = np.repeat(history, game.players)
    seats = np.tile(np.arange(game.players), history.size)
    seeds = np.array([rng.getrandbits(63) for _ in range(states.size)])
    dealt = game.determinised(states, seats, seeds)
    _assert_same_to(game, states, dealt, seats)
    concealed = game.concealed(states, seats)
    _assert_same_to(game, states, concealed, seats)
    again = game.determinised(concealed, seats, seeds).tobytes()
    assert again == dealt.tobytes(), "a new deal depends on the hidden information"
    check_warriors(game, dealt)
    low, high = game.observation.bounds()
    observations, masks = game.views(states, seats)
    assert ((observations >= low) & (observations <= high)).all(), "observation out of bounds"
    assert set(np.unique(masks)) <= {0, 1}


def _bits(words: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Convert sets of squares, of shape (...,), to bools of shape (..., 40)."""
    return (words[..., None] >> np.arange(len(SQUARES)) & 1).astype(bool)


def check_warriors(game: Game, states: States) -> None:
    """Check in every state that each player's hand and board have the Warriors of ARM-7."""
    held = _bits(states["warriors"])
    for player in range(game.players):
        squares, hand = held[:, player], states["hand"][:, player]
        for value, number in warriors_at_start(game).items():
            placed = (squares & (states["value"] == value)).sum(axis=1)
            assert (placed + hand[:, value - 1] == number).all(), "Warriors are not conserved"
        assert (
            squares.sum(axis=1) + hand.sum(axis=1) == sum(warriors_at_start(game).values())
        ).all()
        assert (states["hand_size"][:, player] == hand.sum(axis=1)).all(), "hand_size is wrong"
    assert (held.sum(axis=1) <= 1).all(), "two Warriors on one square"
    inside = squares_of(board_of(game))
    sites = np.array([square in SITES and square in inside for square in SQUARES])
    assert (_bits(states["free"]) == sites & ~held.any(axis=1)).all(), "free squares are wrong"
    assert ((states["value"] > 0) == held.any(axis=1)).all()
    assert not held[:, game.players :].any()


def check_conserved(game: Game, history: States, played: list[str]) -> None:
    """Check that gold, Warriors, palisades, powers and tokens are conserved in every state."""
    check_warriors(game, history)
    mini = board_of(game) == "mini"
    piles = sorted(MINI_PILES + [0] * (len(MINES) - len(MINI_PILES))) if mini else PILES
    assert (np.sort(history["gold"], axis=1) == piles).all(), "gold is not conserved"
    assert (history["gold"] == history["gold"][0]).all(), "gold moves"
    palisades = (_bits(history["east"]) | _bits(history["south"])).sum(axis=1)
    both = (_bits(history["east"]) & _bits(history["south"])).sum(axis=1)
    supply = 8 if mini else 35  # seven of the mini board's eight palisades are there at the start
    assert (palisades + both + history["palisades_left"] == supply).all(), "palisades not conserved"
    kinds = np.array([kind_of(text) for text in played])
    orcs = np.concatenate([[0], np.cumsum(kinds == "orc")])
    used = orcs + history["arrows"].sum(axis=1)
    used = used + _bits(history["read"]).sum(axis=(1, 2)) + _bits(history["face_up"]).sum(axis=1)
    assert (used + history["powers"].sum(axis=1) == history["powers"][0].sum()).all()
    for player in range(game.players):
        lying = history["reinforced"] == player + 1
        left = history["reinforcements"][:, player]
        assert (lying.sum(axis=1) + left == int(game.options["advanced"])).all()
        assert not (lying & ~_bits(history["warriors"])[:, player]).any()


def check_repeats(
    game: Game, seed: int, played: list[str], history: States, rng: random.Random
) -> None:
    """Check that seed and actions give the same bytes again, even from a copy of a random state."""
    actions = np.array([game.actions.id(text) for text in played], np.int64)
    middle = rng.randint(0, len(played))
    for first, states in (
        (0, game.new_states(seed)),
        (middle, np.frombuffer(history[middle].tobytes(), history.dtype).copy()),
    ):
        for step in range(first, len(played)):
            assert states.tobytes() == history[step].tobytes(), "a game does not repeat"
            game.apply(states, np.array([0]), actions[step : step + 1])
        assert states.tobytes() == history[-1].tobytes(), "a game does not repeat"


def check_result(
    game: Game, states: States, reference: Armadora, rewards: NDArray[np.float64]
) -> None:
    """Check the status and the returns of a finished game."""
    assert game.statuses(states)[0][0] == 1
    assert np.allclose(rewards, reference.returns("win"))
    for kind, name in enumerate(game.rewards):
        out = np.empty((1, game.players))
        game.run(
            batch_loops.read_returns, 1, batch_loops.Outcomes(states, np.array([0]), kind, out)
        )
        assert np.allclose(out[0], reference.returns(name)), f"wrong returns {name!r}: {out[0]}"
        assert abs(out.sum()) < 1e-12, "the returns do not add up to 0"
        assert np.abs(out).max() <= 1


def check_random_games(variant: dict[str, Any], seeds: range, sample: float) -> Counter[str]:
    """Check one random game of a variant for each seed. Return the counts of special cases."""
    game = make_game("armadora", **variant)
    occurred: Counter[str] = Counter()
    for seed in seeds:
        rng = random.Random(f"{variant_name(variant)} {seed}")
        occurred += check_game(game, seed, random_choice(rng), rng, sample)
    return occurred
