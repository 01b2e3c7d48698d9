"""Fuzzers of policies and records. Files are damaged, or forged with correct checksums."""

from __future__ import annotations

import hashlib
import json
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import save

from armarl import play_match
from armarl.arena.policy_card import read_card
from armarl.arena.policy_card_text import card_text
from armarl.core.game import Game
from armarl.games.make_game import make_game
from armarl.matches.records import RecordError, read_records
from armarl.networks.judge import PARTS as JUDGE_PARTS
from armarl.networks.judge import layout_of
from armarl.networks.policy_network import PARTS
from armarl.policies.network_players import NetworkPlayer
from armarl.policies.safetensors_file import PolicyError, write_tensors
from armarl.policies.saved_policy import (
    load_policy,
    policy_game,
    read_policy_metadata,
    save_policy,
)
from doors import folder, refused
from doors.games import VARIANTS, damaged, pool

SMALL = (0, 1, 3, 4)  # the variants with short records and small networks


# --- JSON ----------------------------------------------------------------------------------------

ODD: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 7, 2**63, 10**4000, 0.5, 1e308, float("nan"), float("inf")),
    *("", "x", "/etc/passwd", "a\0b", "\x1b[2J", "é", "x" * 5000, [], {}, [[]], {"": 0}),
    *(["greedy"], {"chart": "/dev/zero"}, [0] * 300, "armadora", "random"),
)


def spoil_json(value: Any, rng: np.random.Generator) -> Any:
    """Return a copy of a JSON value with something changed, removed or added."""
    if isinstance(value, dict) and value and rng.integers(8):
        key = list(value)[rng.integers(len(value))]
        kind = rng.integers(8)
        if kind == 0:
            return {k: v for k, v in value.items() if k != key}
        if kind == 1:
            return {**value, str(odd(rng))[:50]: odd(rng)}
        return {**value, key: spoil_json(value[key], rng)}
    if isinstance(value, list) and value and rng.integers(8):
        at = int(rng.integers(len(value)))
        return [*value[:at], spoil_json(value[at], rng), *value[at + 1 :]]
    if isinstance(value, int) and rng.integers(2):
        return value + int(rng.integers(-2, 3))
    return odd(rng)


def odd(rng: np.random.Generator) -> Any:
    return ODD[rng.integers(len(ODD))]


def json_text(value: Any, rng: np.random.Generator) -> str:
    """Return a value as JSON, or rarely a text that is hard to parse."""
    text = json.dumps(value) if not _has_long_number(value) else "9" * 5000
    kind = rng.integers(40)
    if kind == 0:
        return "[" * 100_000
    if kind == 1:
        return '{"a":' * 50_000
    if kind == 2:
        return damaged(text.encode(), rng).decode("utf-8", "replace")
    if kind == 3:
        return text.replace("0", "9" * 5000, 1)
    return text


def _has_long_number(value: Any) -> bool:
    try:
        json.dumps(value)
    except ValueError:  # Python writes no more than 4,300 digits
        return True
    return False


# --- policies ------------------------------------------------------------------------------------


@cache
def policy(
    variant: int, judge: bool = False
) -> tuple[Game, dict[str, NDArray[Any]], dict[str, Any], bytes]:
    """Return a game, with the weights, the metadata and the file of a small policy or judge."""
    name, options = VARIANTS[variant]
    game, rng = make_game(name, **options), np.random.default_rng(variant)
    tensors = {}
    for part, sizes in (_judge_widths(game) if judge else _widths(game)).items():
        for k in range(len(sizes) - 1):
            shape = sizes[k + 1], sizes[k]
            tensors[f"{part}.{k}.weight"] = rng.normal(0, 1, shape).astype(np.float32)
            tensors[f"{part}.{k}.bias"] = rng.normal(0, 1, shape[0]).astype(np.float32)
    path = folder() / "good.safetensors"
    activation = "relu" if judge else "tanh"
    save_policy(path, game, tensors, activation, strength=[], training={"minutes": 1.5})
    return game, tensors, load_policy(path).metadata, path.read_bytes()


def _widths(game: Game) -> dict[str, list[int]]:
    """Return the widths of the layers of each part."""
    return {
        "trunk": [game.observation.size, 3],
        "policy": [3, 2, len(game.actions)],
        "value": [3, 1],
    }


def _judge_widths(game: Game) -> dict[str, list[int]]:
    layout = layout_of(game)
    return {
        "near": [layout.features, 5],
        "far": [layout.rest, 5],
        "prizes": [5, 4, layout.sides],
        "whole": [layout.whole, 3, 1],
        "direct": [layout.sides - 1, 1],
    }


def kinds() -> list[tuple[int, bool]]:
    """Return pairs (variant, judge), each variant with a policy, some with a judge too."""
    return [(v, judge) for v in SMALL for judge in (False, True) if not judge or pool(v)[0].survey]


def prepare_policies() -> None:
    for variant, judge in kinds():
        game, _, _, whole = policy(variant, judge)
        path = folder() / "policy.safetensors"
        path.write_bytes(whole)
        _decide(load_policy(path, game), pool(variant)[1], np.random.default_rng(0))


def policies(rng: np.random.Generator) -> str:
    """Damage or forge a policy file. If the policy is accepted, let it make decisions."""
    variant, judge = kinds()[rng.integers(len(kinds()))]
    game, tensors, metadata, whole = policy(variant, judge)
    forged = bool(rng.integers(2))
    content = _forged(tensors, metadata, rng) if forged else damaged(whole, rng)
    path = folder() / "policy.safetensors"
    path.write_bytes(content)
    player = None
    for load in (load_policy, policy_game, lambda path: load_policy(path, game)):
        try:
            found = load(path)
        except PolicyError as error:
            refused(error)
        else:
            player = found if isinstance(found, NetworkPlayer) else player
    if player is None:
        return "refused"
    if not forged:
        assert player.metadata == metadata, "damaged metadata were accepted"
        assert all((player.tensors[name] == tensors[name]).all() for name in tensors)
    if player.game.variant == game.variant:
        _decide(player, pool(variant)[1], rng)
    return "accepted"


def _decide(player: NetworkPlayer, known: Any, rng: np.random.Generator) -> None:
    """Check that the player's choices are legal, and that its probabilities are finite."""
    game = player.game
    states = known[rng.integers(known.size, size=3)].copy()
    states = game.taken(states, np.flatnonzero(game.statuses(states)[0] == 0))
    seats = game.statuses(states)[1]
    masks, rows = game.legal_masks(states), np.arange(states.size)
    for player.sample in (False, True):
        with np.errstate(all="ignore"):
            chosen = player.choose(states, seats, rng.random(states.size))
        assert masks[rows, chosen].all(), "an illegal choice"
    spread = player.probabilities(states, seats)
    assert np.isfinite(spread).all()
    assert not spread[masks == 0].any()


def _forged(
    tensors: dict[str, NDArray[Any]], metadata: dict[str, Any], rng: np.random.Generator
) -> bytes:
    """Return a policy file with other weights or metadata, and a correct checksum."""
    tensors = dict(tensors)
    for _ in range(rng.integers(3)):
        _spoil_tensors(tensors, rng)
    for _ in range(rng.integers(3)):
        metadata = spoil_json(metadata, rng)
    return sealed(tensors, json_text(metadata, rng), rng)


def sealed(tensors: dict[str, NDArray[Any]], text: str, rng: np.random.Generator) -> bytes:
    """Return the file of tensors and metadata, with a correct checksum."""
    digest = hashlib.sha256(text.encode())
    for name in sorted(tensors):
        digest.update(f"{name} {tensors[name].dtype} {tensors[name].shape}".encode())
        digest.update(tensors[name].tobytes())
    header = {"armarl": text, "sha256": digest.hexdigest()}
    if rng.integers(20) == 0:
        del header[("armarl", "sha256")[rng.integers(2)]]
    return bytes(save({k: np.asarray(v, order="C") for k, v in tensors.items()}, header))


def _spoil_tensors(tensors: dict[str, NDArray[Any]], rng: np.random.Generator) -> None:
    if not tensors:
        return
    name = sorted(tensors)[rng.integers(len(tensors))]
    changed = spoilt_tensor(tensors[name], rng)
    kind = rng.integers(8)
    if kind == 0:
        del tensors[name]
    elif kind == 1:
        part = (*PARTS, *JUDGE_PARTS, "critic", "")[rng.integers(len(PARTS) + len(JUDGE_PARTS) + 2)]
        which = ("weight", "bias", "")[rng.integers(3)]
        tensors[f"{part}.{rng.integers(-1, 40)}.{which}"] = changed
    elif kind == 2:
        other = sorted(tensors)[rng.integers(len(tensors))]
        tensors[name], tensors[other] = tensors[other], tensors[name]
    elif kind == 3:
        for k in range(40):
            tensors[f"trunk.{k}.weight"] = np.eye(3, dtype=np.float32)
            tensors[f"trunk.{k}.bias"] = np.zeros(3, np.float32)
    elif kind == 4:
        _make_wide(tensors, (0, 1, 2, 9, 300, 70_000)[rng.integers(6)], rng)
    else:
        tensors[name] = changed


def _make_wide(tensors: dict[str, NDArray[Any]], width: int, rng: np.random.Generator) -> None:
    """Give a layer another number of units, and resize all tensors that depend on it."""
    biases = [tensor.size for name, tensor in tensors.items() if name.endswith(".bias")]
    if not biases:
        return
    units = biases[rng.integers(len(biases))]
    for name, tensor in tensors.items():
        shape = tuple(width if size == units else size for size in tensor.shape)
        if np.prod(shape) < 1 << 24:
            tensors[name] = np.resize(tensor, shape).astype(tensor.dtype)


def spoilt_tensor(tensor: NDArray[Any], rng: np.random.Generator) -> NDArray[Any]:
    """Return a copy of a tensor with another type, shape or value."""
    kind = int(rng.integers(8))
    if kind == 0:
        types = ("f2", "f8", "i1", "u1", "i8", "u8", "?", "i4", "c8")
        with np.errstate(all="ignore"):
            return tensor.astype(types[rng.integers(len(types))])
    if kind == 1:
        return tensor[: rng.integers(len(tensor) + 1)] if tensor.ndim else tensor
    if kind == 2:
        return np.concatenate([tensor, tensor]) if tensor.ndim else tensor.reshape(1)
    if kind == 3:
        return tensor.reshape(1, *tensor.shape)
    if kind == 4:
        return tensor.reshape(-1)
    if kind == 5:
        return np.empty(((0,), (0, 0), ())[rng.integers(3)], tensor.dtype)
    changed = tensor.copy()
    if changed.size:
        flat = changed.reshape(-1)
        some = rng.integers(flat.size, size=rng.integers(1, 4))
        if changed.dtype.kind == "f":
            values = (np.nan, np.inf, -np.inf, 3e38, -3e38, 1e-45, 0.0, -1.0)
            flat[some if rng.integers(4) else ...] = values[rng.integers(len(values))]
        elif changed.dtype.kind in "iu":
            limits = np.iinfo(changed.dtype)
            flat[some] = (limits.min, limits.max, 0, 1)[rng.integers(4)]
    return changed


# --- metadata ------------------------------------------------------------------------------------


prepare_metadata = prepare_policies


def metadata(rng: np.random.Generator) -> str:
    """Write metadata of any depth and size.

    Accepted metadata can be written again, and stay small.
    """
    variant, judge = kinds()[rng.integers(len(kinds()))]
    _, tensors, known, _ = policy(variant, judge)
    given = {**known, str(odd(rng))[:20]: _grown(rng), "format": known["format"]}
    path = folder() / "grown.safetensors"
    try:
        write_tensors(path, tensors, given)
        is_written = True
    except PolicyError as error:
        refused(error)
        is_written = False
    path.write_bytes(sealed(tensors, json.dumps(given), np.random.default_rng(0)))
    try:
        found = read_policy_metadata(path)
    except PolicyError as error:
        assert not is_written, "what was written cannot be read"
        return refused(error)
    assert is_written, "what can be read cannot be written"
    assert len(json.dumps(found, indent=2)) < 32 << 20, "the metadata grow"
    card_text(read_card(path))
    return "accepted"


def _grown(rng: np.random.Generator) -> Any:
    """Return a deep, wide or long JSON value, or a mixture; rarely one of megabytes."""
    value: Any = odd(rng)
    value = 0 if _has_long_number(value) or value != value or value in (1e308, np.inf) else value
    size, most = len(json.dumps(value)), 3 << 20 if rng.integers(50) == 0 else 1 << 14
    depth = 0
    for _ in range(rng.integers(1, 5)):
        kind, much = int(rng.integers(5)), int(2 ** rng.integers(0, 12))
        if kind == 0:
            deeper = min(much, 400, 900 - depth)  # Python writes at most about a thousand levels
            for _ in range(deeper):
                value = [value] if rng.integers(2) else {"a": value}
            size, depth = size + 4 * deeper, depth + deeper
        elif kind == 1 and (size + 8) * much < most:
            value, size = [value] * much, (size + 2) * much
        elif kind == 2 and (size + 8) * much < most:
            value, size = {f"{i}": value for i in range(much)}, (size + 8) * much
        elif kind == 3 and much * 300 < most:
            text = "x" * (much * int(rng.integers(1, 300)))
            value, size = [value, text], size + len(text)
        elif kind == 4:
            value, size = {"k" * much: value}, size + much
    return value


# --- records -------------------------------------------------------------------------------------


@cache
def record(variant: int) -> list[str]:
    """Return the record lines of some games of a variant."""
    name, options = VARIANTS[variant]
    game = make_game(name, **{**options, **({"max_turns": 1} if name == "armada" else {})})
    path = folder() / "good.txt"
    play_match(game, ["random", "random"], games=4, seed=3, records=path)
    text = path.read_text(encoding="utf-8")
    path.unlink()
    return text.splitlines()


def prepare_records() -> None:
    for variant in SMALL:
        record(variant)


def records(rng: np.random.Generator) -> str:
    """Change lines, words or bytes of a record. An accepted record contains only legal actions."""
    lines = _one_of(record(SMALL[rng.integers(len(SMALL))]), rng)
    for _ in range(rng.integers(1, 4)):
        _spoil_lines(lines, rng)
    if rng.integers(4):
        _sum_up(lines)
    content = ("\n".join(lines) + "\n").encode("utf-8", "surrogateescape")
    if rng.integers(4) == 0:
        content = damaged(content, rng)
    path = folder() / "games.txt"
    path.write_bytes(content)
    try:
        found = list(read_records(path))
    except RecordError as error:
        return refused(error)
    for one in found:
        one.game.check_states(one.states)
        masks = one.game.legal_masks(one.states[:-1].copy())
        assert masks[np.arange(len(one.actions)), one.actions].all()
        assert content.decode() == "".join(map(str, found)), "not the record in the file"
    return "accepted"


def _one_of(lines: list[str], rng: np.random.Generator) -> list[str]:
    starts = [i for i, line in enumerate(lines) if line.startswith("armarl-record")]
    number = int(rng.integers(len(starts)))
    return lines[starts[number] : [*starts, len(lines)][number + 1]]


def _sum_up(lines: list[str]) -> None:
    """Write the correct checksum in the last line."""
    if lines and lines[-1].startswith("sum "):
        text = "\n".join(lines[:-1]).encode("utf-8", "surrogateescape")
        lines[-1] = f"sum {hashlib.sha256(text).hexdigest()}"


def _spoil_lines(lines: list[str], rng: np.random.Generator) -> None:
    if not lines:
        return
    at, other = rng.integers(len(lines), size=2).tolist()
    kind, words = int(rng.integers(9)), lines[at].split(" ")
    if kind == 0:
        del lines[at]
    elif kind == 1:
        lines.insert(at, lines[other])
    elif kind == 2:
        lines[at], lines[other] = lines[other], lines[at]
    elif kind == 3:
        theirs = lines[other].split(" ")
        words[rng.integers(len(words))] = theirs[rng.integers(len(theirs))]
        lines[at] = " ".join(words)
    elif kind == 4:
        words[rng.integers(len(words))] = str(odd(rng))[:100] if rng.integers(2) else "f" * 16
        lines[at] = " ".join(words)
    elif kind == 5:
        lines[at] = damaged(lines[at].encode("utf-8", "surrogateescape"), rng).decode(
            "utf-8", "surrogateescape"
        )
    elif kind == 6:
        lines[at] += "x" * int(rng.integers(30_000))
    elif kind == 7 and len(lines) > 2:
        lines[2] = "player 0 " + str(odd(rng))[:100]
    elif len(lines) > 1 and lines[1].startswith("variant {"):
        try:
            variant = json.loads(lines[1].removeprefix("variant "))
        except (ValueError, RecursionError):  # the line was damaged before
            return
        lines[1] = f"variant {json_text(spoil_json(variant, rng), rng)}"
