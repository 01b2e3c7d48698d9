"""Test whether a player keeps no memory from one game to the next."""

from __future__ import annotations

import sys
from pathlib import Path

from armarl.players.player_specs import Part, Spec, as_spec
from armarl.players.protocol import Player, everybody
from armarl.players.registry import BUILT_AROUND, BUILT_IN, PlayerLike, is_built_in
from armarl.policies.paths import policy_path

_OTHERS = {"human", "onnx"}  # a person remembers; ONNX Runtime, not ArmaRL, runs an ONNX file
_OURS = (  # modules whose player classes keep no memory
    "armarl.players.simple_players",
    "armarl.players.wrappers",
    "armarl.policies.network_players",
    "armarl.search.critics",
    "armarl.search.improve",
    "armarl.search.judged",
    "armarl.search.lookahead",
    "armarl.search.player",
    "armarl_training.networks.torch_players",
)
_MOST_AROUND = 50  # maximum number of wrappers around a player


def keeps_no_memory(player: PlayerLike) -> bool:
    """Return whether a player belongs to this package and keeps no memory between games.

    The choices of these players depend only on the arguments of `choose`. A match may therefore let
    them play several games with the same deal at the same time, because they cannot notice that the
    deals are equal. Random, scripted and searching players and saved policies keep no memory. This
    file lists their classes, so no other player can add itself. The result is False for registered
    players and for user classes.

    Example:
        >>> from armarl import make_game
        >>> from armarl.players.simple_players import RandomPlayer
        >>> class Mine(RandomPlayer):
        ...     pass
        >>> game = make_game("armadora")
        >>> keeps_no_memory("armadora-2p+search:20"), keeps_no_memory(RandomPlayer(game))
        (True, True)
        >>> keeps_no_memory("human"), keeps_no_memory(Mine(game))
        (False, False)
    """
    if not isinstance(player, str | Path | Spec):
        return _is_made_of_ours(player)
    spec = as_spec(player)
    return (
        _is_ours(spec.base)
        and len(spec.around) <= _MOST_AROUND
        and all(_is_wrapper_of_ours(part) for part in spec.around)
    )


def _is_ours(part: Part) -> bool:
    if part.name in BUILT_IN:
        return part.name not in _OTHERS and is_built_in(part.name)
    return policy_path(part.name) is not None  # the name of a registered player has no file


def _is_wrapper_of_ours(part: Part) -> bool:
    return part.name in BUILT_AROUND and is_built_in(part.name, around=True)


def _is_made_of_ours(player: Player) -> bool:
    """Return whether a player and all players that it wraps have classes from the modules `_OURS`.

    Subclasses from other modules do not count. With more than `_MOST_AROUND` players in all, the
    result is False.
    """
    asked = list(everybody(player))
    return len(asked) <= _MOST_AROUND and all(
        kind.__module__ in _OURS
        and getattr(sys.modules.get(kind.__module__), kind.__name__, None) is kind
        for kind in map(type, asked)
    )
