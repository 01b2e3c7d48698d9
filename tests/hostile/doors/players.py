"""Fuzzer of players: their specifications, and the arguments of their methods."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from armarl.core.game import Game
from armarl.players.player_specs import Spec
from armarl.players.protocol import Player, choose_legally
from armarl.policies.weight_kinds import weight_kind
from armarl.roster.make_player import make_player
from armarl.search import PolicySearchPlayer
from doors import refused
from doors.files import policy
from doors.games import REFUSALS, pool, prepare_states, spoilt

NETWORK, JUDGE, SEARCH = "a network", "a judge", "a network that searches"
PLAIN = ("random", "greedy", "flat:4", "grave:4", "ismcts:4", "rollout:4")
PLAIN += ("random:patient", "greedy:noise=0.5", "greedy:first_random=3")
PLAIN += (NETWORK, JUDGE, SEARCH)
NAMES = (
    "random",
    "greedy",
    "flat",
    "grave",
    "ismcts",
    "rollout",
    "nobody",
    "armadora-2p",
    "os:system",
    "",
)
KEYS = ("noise", "first_random", "style", "patient", "exploration", "urgency", "bias", "depth")
KEYS += ("reference", "rows", "candidates", "turns", "longest", "doubt", "sample", "eta", "entropy")
KEYS += ("scripted", "temperature", "margin_share", "observers", "led", "evaluated", "reward", "x")
VALUES = ("0", "1", "2", "-1", "0.5", "1e-300", "1e300", "true", "nan", "win", "gold", "multiple")
VALUES += ("999999999999999999", "99999999999999999999999", "-999999999999999999999")
VALUES += ('"', "=", "::", "\x00", "\x1b[2J", "é", "raider", "hoarder", "1e999", "")
SMALL = (0, 1, 3)  # the variants with quick searches


def prepare_players() -> None:
    prepare_states()  # damaged arrays can contain states of any variant
    for variant in SMALL:
        for name in PLAIN:
            if player := _player(name, variant):
                _ask(player, variant, np.random.default_rng(0))


@cache
def _player(name: str, variant: int) -> Player | None:
    """Return a player by its name or with a small network, or None if the game has no survey."""
    game = pool(variant)[0]
    if name not in (NETWORK, JUDGE, SEARCH):
        return make_player(name, game)
    if name == JUDGE and game.survey is None:
        return None
    tensors = policy(variant, name == JUDGE)[1]
    player = weight_kind(tensors).player(game, tensors, "tanh", sample=True)
    return PolicySearchPlayer(game, player, 4) if name == SEARCH else player


def players(rng: np.random.Generator) -> str:
    """Check that an accepted player plays legally, and that bad arguments are refused."""
    variant = SMALL[rng.integers(len(SMALL))]
    if rng.integers(2):
        player = _player(PLAIN[rng.integers(len(PLAIN))], variant)
        return _ask_badly(player, variant, rng) if player else "refused"
    text = _text(rng)
    try:
        spec = Spec.parse(text)
        assert Spec.parse(str(spec)) == spec
        player = make_player(text, pool(variant)[0], code=False)
    except ValueError as error:
        return refused(error, 5000)
    _ask(player, variant, rng)
    return "accepted"


def _text(rng: np.random.Generator) -> str:
    """Return the specification of a player with random arguments."""
    arguments = [
        f"{KEYS[rng.integers(len(KEYS))]}={VALUES[rng.integers(len(VALUES))]}"
        for _ in range(rng.integers(4))
    ]
    name = NAMES[rng.integers(len(NAMES))]
    if name in ("flat", "grave", "ismcts", "rollout", "search") or rng.integers(8) == 0:
        arguments.insert(0, str(rng.integers(1, 5)))
    text = name + (":" if arguments else "") + ",".join(arguments)
    if rng.integers(8) == 0:
        text += ("+search:2", "+", "+nobody", "+search:2,eta=1e300", '"')[rng.integers(5)]
    if rng.integers(8) == 0 and text:
        at = int(rng.integers(len(text)))
        text = text[:at] + "+:,= \"'\n"[rng.integers(8)] + text[at:]
    return text


def _questions(variant: int, rng: np.random.Generator) -> tuple[Game, list[Any]]:
    game, known = pool(variant)
    states = known[rng.integers(known.size, size=3)].copy()
    states = game.taken(states, np.flatnonzero(game.statuses(states)[0] == 0))
    return game, list(
        game.questions(
            states, np.arange(states.size), rng.integers(2**63, size=states.size, dtype=np.uint64)
        )
    )


def _ask(player: Player, variant: int, rng: np.random.Generator) -> None:
    game, questions = _questions(variant, rng)
    choose_legally(player, game, *questions)


def _ask_badly(player: Player, variant: int, rng: np.random.Generator) -> str:
    _, questions = _questions(variant, rng)
    for i in range(3):
        if rng.integers(2):
            questions[i] = spoilt(questions[i], rng)
    try:
        chosen = player.choose(*questions)
    except REFUSALS as error:
        return refused(error)
    states = questions[0]
    masks = pool(variant)[0].legal_masks(states)
    legal = masks[np.arange(states.size), chosen] == 1
    assert legal[masks.any(axis=1)].all(), "an illegal choice"
    return "accepted"
