"""Tournament folders and records from untrusted sources are refused with a clear error."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from armarl import play_match
from armarl.arena.lineups import lineups
from armarl.arena.play_tournament import play_tournament
from armarl.arena.report import write_report
from armarl.arena.summary import summarise
from armarl.arena.tournament_folder import ArenaError, read_tournament
from armarl.common.files import lock_folder
from armarl.games.make_game import make_game
from armarl.matches.records import RecordError, read_records

GAME = make_game("armadora", board="mini")
PLAYERS = ["random", "greedy"]
posix = pytest.mark.skipif(os.name != "posix", reason="links and pipes are POSIX")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    play_tournament(GAME, PLAYERS, 4, folder=tmp_path / "arena")
    return tmp_path / "arena"


@pytest.mark.parametrize(
    "changes",
    [
        *({"deal": 10**12}, {"deal": -1}, {"deal": 1.5}, {"deal": True}),
        *({"lineup": 77}, {"lineup": "0"}, {"actions": "x"}, {"actions": 10**9}, {"cut": 7}),
        *({"table": [0, 10**9]}, {"table": [-1, 0]}, {"table": ["x", None]}, {"table": [0]}),
        *({"table": [False, True]}, {"table": [[0], 1]}, {"x": 1}),
        *({"shares": [float("nan"), 1]}, {"shares": ["a", "b"]}, {"shares": [9, 9]}),
        *({"shares": []}, {"shares": [1]}, {"shares": [True, 0]}, {"shares": [0, 0]}),
        *({"shares": [10**400, 0]}, {"shares": [0.3, 0.7]}, {"actions": 0}),
        {"cut": True, "shares": [1.0, 0.0]},
    ],
    ids=lambda changes: str(changes)[:40],
)
def test_invalid_results_are_refused(folder: Path, changes: dict[str, Any]) -> None:
    """Regression: such results gave wrong tables, NumPy errors, or an allocation of 29 TiB."""
    path = folder / "games.jsonl"
    first, *others = path.read_text("utf-8").splitlines()
    spoilt = json.dumps({**json.loads(first), **changes})
    path.write_text("\n".join([spoilt, *others, ""]), "utf-8")
    with pytest.raises(ArenaError, match="line 1: this is not a game's result"):
        read_tournament(folder)
    with pytest.raises(ArenaError, match="line 1: this is not a game's result"):
        play_tournament(GAME, PLAYERS, 4, folder=folder)


@pytest.mark.parametrize(
    "line", ["[" * 100_000, "9" * 5000, "null", "[]", "{}"], ids=lambda s: s[:4]
)
def test_lines_that_are_not_results_are_refused(folder: Path, line: str) -> None:
    (folder / "games.jsonl").write_text(f"{line}\n", "utf-8")
    with pytest.raises(ArenaError, match="line 1: this is not a game's result"):
        read_tournament(folder)


@pytest.mark.parametrize(
    "changes",
    [
        *({"players": "ab"}, {"players": [1, 2]}, {"players": []}, {"players": ["x"] * 5000}),
        {"players": ["greedy", "greedy"]},
        *({"players": ["\x1b[2J", "x"]}, {"kind": "x"}, {"kind": 7}, {"mixed": "x"}, {"every": 1}),
        *({"seed": "x"}, {"seed": -1}, {"seed": True}, {"variant": {}}, {"variant": []}),
        {"variant": {"game": "armada", "players": 2, "options": {"chart": "/etc/passwd"}}},
        {"variant": {"game": "armadora", "players": 2, "options": {"board": "mini"}}},
    ],
    ids=lambda changes: str(changes)[:60],
)
def test_invalid_settings_are_refused(folder: Path, changes: dict[str, Any]) -> None:
    path = folder / "settings.json"
    path.write_text(json.dumps({**json.loads(path.read_text("utf-8")), **changes}), "utf-8")
    with pytest.raises(ArenaError, match="is damaged"):
        read_tournament(folder)


def test_deeply_nested_settings_are_refused(folder: Path) -> None:
    (folder / "settings.json").write_text("[" * 100_000, "utf-8")
    for use in (read_tournament, lambda at: play_tournament(GAME, PLAYERS, 4, folder=at)):
        with pytest.raises(ArenaError, match="is damaged"):
            use(folder)


@pytest.mark.parametrize("name", ["settings.json", "games.jsonl"])
@pytest.mark.parametrize(
    "more", ['"seed": 0, "seed": 0, ', '"cut": false, "cut": false, ', '"x": NaN, ']
)
def test_json_that_two_parsers_would_read_differently_is_refused(
    folder: Path, name: str, more: str
) -> None:
    """Regression: if a key appeared twice, its last value was used, and NaN was a number."""
    path = folder / name
    path.write_text(path.read_text("utf-8").replace("{", "{" + more, 1), "utf-8")
    with pytest.raises(ArenaError, match=r"is damaged|is not a game's result"):
        read_tournament(folder)


@pytest.mark.parametrize("version", ["false", "0.0"])
def test_a_version_that_only_compares_equal_is_refused(folder: Path, version: str) -> None:
    path = folder / "settings.json"
    text = path.read_text("utf-8")
    assert '"version": 0,' in text
    path.write_text(text.replace('"version": 0,', f'"version": {version},'), "utf-8")
    with pytest.raises(ArenaError, match="another version"):
        read_tournament(folder)


def test_names_like_formulas_are_not_run_by_spreadsheets(tmp_path: Path) -> None:
    """Regression: a spreadsheet computed the names."""
    played = play_tournament(GAME, [Named("=1+1"), Named("@x")], 4, folder=tmp_path)
    assert played.players == ("=1+1", "@x")
    lines = summarise(played).csv().splitlines()
    assert [line.split(",")[0] for line in lines[1:]] in (["'=1+1", "'@x"], ["'@x", "'=1+1"])


@pytest.mark.parametrize("digests", [None, 5, [], "x", {"random": 1}, {"nobody": []}], ids=str)
def test_invalid_digests_are_refused(folder: Path, digests: Any) -> None:
    path = folder / "settings.json"
    path.write_text(
        json.dumps({**json.loads(path.read_text("utf-8")), "digests": digests}), "utf-8"
    )
    with pytest.raises(ArenaError, match=r"is damaged|contains games of another"):
        play_tournament(GAME, PLAYERS, 4, folder=folder)


@posix
@pytest.mark.parametrize("name", ["games.jsonl", "settings.json", "records"])
def test_links_are_not_followed(folder: Path, name: str, tmp_path: Path) -> None:
    """Regression: a linked file lost its last line, and results were appended to it."""
    target = tmp_path / "elsewhere"
    (folder / name).rename(target)
    if target.is_file():
        target.write_bytes(target.read_bytes() + b"{")
    (folder / name).symlink_to(target)
    before = target.read_bytes() if target.is_file() else sorted(target.iterdir())
    with pytest.raises(ArenaError, match="is a link"):
        play_tournament(GAME, PLAYERS, 8, folder=folder)
    assert (target.read_bytes() if target.is_file() else sorted(target.iterdir())) == before


@posix
def test_a_report_replaces_a_link(folder: Path, tmp_path: Path) -> None:
    """Regression: the report was written to the target of the link."""
    for name in ("report.html", "summary.json", "ratings.csv"):
        (tmp_path / name).write_text("mine", "utf-8")
        (folder / name).symlink_to(tmp_path / name)
    write_report(summarise(read_tournament(folder)), folder)
    for name in ("report.html", "summary.json", "ratings.csv"):
        assert (tmp_path / name).read_text("utf-8") == "mine"
        assert not (folder / name).is_symlink()


@posix
@pytest.mark.parametrize("name", ["games.jsonl", "settings.json", "lock"])
def test_a_pipe_in_place_of_a_file_does_not_block(folder: Path, name: str) -> None:
    (folder / name).unlink()
    os.mkfifo(folder / name)
    with pytest.raises(ArenaError, match=name.replace(".", r"\.")):
        play_tournament(GAME, PLAYERS, 4, folder=folder)


@posix
def test_a_pipe_in_place_of_records_does_not_block(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", tmp_path):
        with pytest.raises(RecordError, match="is not a regular file"):
            list(read_records(path))


def test_two_processes_cannot_play_in_one_folder(folder: Path) -> None:
    """Otherwise the lines of the two processes would mix."""
    with (
        lock_folder(folder, ArenaError),
        pytest.raises(ArenaError, match=f"in use by process {os.getpid()}"),
    ):
        play_tournament(GAME, PLAYERS, 8, folder=folder)
    assert len(play_tournament(GAME, PLAYERS, 8, folder=folder).games) == 16


SOMEBODY_S = (".bashrc.bak.2024", "lib/.libfoo.so.1", ".games.jsonl.77", "lib/.notes.txt.20240101")


def test_files_of_others_are_not_removed(tmp_path: Path) -> None:
    """Regression: files named like our temporary files were removed, even in refused folders."""
    half = tmp_path / ".settings.json.123.half-written-by-armarl"
    (tmp_path / "lib").mkdir()
    for name in SOMEBODY_S:
        (tmp_path / name).write_text("mine", "utf-8")
    half.write_text("ours", "utf-8")
    (tmp_path / "settings.json").write_text('{"a": 1}', "utf-8")
    with pytest.raises(ArenaError, match="contains a tournament with a different setting"):
        play_tournament(GAME, PLAYERS, 4, folder=tmp_path)
    assert half.exists()
    (tmp_path / "settings.json").unlink()
    play_tournament(GAME, PLAYERS, 4, folder=tmp_path)
    assert not half.exists()
    assert [(tmp_path / name).read_text("utf-8") for name in SOMEBODY_S] == ["mine"] * 4


@pytest.mark.parametrize("name", ["report.html", "ratings.csv", "games.jsonl", "records/1.txt"])
def test_files_of_others_are_not_overwritten(tmp_path: Path, name: str) -> None:
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_text("mine", "utf-8")
    with pytest.raises(ArenaError, match=f"has a {name.split('/')[0]}, but no tournament"):
        play_tournament(GAME, PLAYERS, 4, folder=tmp_path)
    assert (tmp_path / name).read_text("utf-8") == "mine"


@pytest.mark.parametrize("wrong", [{"mixed": "no"}, {"every": 1}, {"every": np.True_}], ids=str)
def test_only_true_and_false_are_accepted_as_switches(
    tmp_path: Path, wrong: dict[str, Any]
) -> None:
    """Regression: the games were played, and then the folder was refused as damaged."""
    with pytest.raises(TypeError, match=r"(mixed|every) must be True or False, not "):
        play_tournament(GAME, PLAYERS, 4, folder=tmp_path / "arena", **wrong)
    assert not (tmp_path / "arena").exists()


def test_an_empty_folder_name_is_refused() -> None:
    """Regression: an empty name meant the current folder."""
    with pytest.raises(ValueError, match="a folder needs a name"):
        play_tournament(GAME, PLAYERS, 4, folder="")


@pytest.mark.parametrize("changes", [{"seed": 0.0}, {"mixed": 0}], ids=str)
def test_numbers_of_other_types_count_as_different_settings(
    folder: Path, changes: dict[str, Any]
) -> None:
    path = folder / "settings.json"
    path.write_text(json.dumps({**json.loads(path.read_text("utf-8")), **changes}), "utf-8")
    with pytest.raises(ArenaError, match="with a different setting"):
        play_tournament(GAME, PLAYERS, 4, folder=folder)


def test_games_of_unfinished_deals_are_played_only_once(folder: Path) -> None:
    """Regression: these games were written twice, and the progress ended too early."""
    told = []
    found = play_tournament(GAME, PLAYERS, 20, folder=folder, progress=lambda *at: told.append(at))
    assert told[-1] == (40, 40)
    assert len((folder / "games.jsonl").read_text("utf-8").splitlines()) == 40
    assert found == play_tournament(GAME, PLAYERS, 20)


def test_the_order_of_settings_does_not_matter(folder: Path) -> None:
    path = folder / "settings.json"
    path.write_text(json.dumps(json.loads(path.read_text("utf-8")), sort_keys=True), "utf-8")
    assert len(play_tournament(GAME, PLAYERS, 8, folder=folder).games) == 16


def test_a_ladder_with_too_many_players_is_refused(folder: Path) -> None:
    """Regression: the ladder allocated 18 GiB."""
    path = folder / "settings.json"
    names = [str(number) for number in range(50_000)]
    found = {**json.loads(path.read_text("utf-8")), "players": names, "kind": "ladder"}
    path.write_text(json.dumps(found), "utf-8")
    with pytest.raises(ArenaError, match="at most 100 players"):
        read_tournament(folder)


def forge_tournament(folder: Path, players: int, kind: str, cells: list[tuple[int, int]]) -> Path:
    """Forge a tournament of `players` players, with a game for each pair of lineup and deal."""
    path = folder / "settings.json"
    names = [str(number) for number in range(players)]
    found = {**json.loads(path.read_text("utf-8")), "players": names, "kind": kind, "digests": {}}
    path.write_text(json.dumps(found), "utf-8")
    result = {"shares": [1, 0], "actions": 1, "cut": False}
    tables = lineups(players, GAME, kind)
    lines = [
        json.dumps({"lineup": lineup, "deal": deal, "table": tables[lineup], **result})
        for lineup, deal in cells
    ]
    (folder / "games.jsonl").write_text("\n".join([*lines, ""]), "utf-8")
    return folder


def test_games_of_unrelated_deals_and_lineups_are_refused(folder: Path) -> None:
    """Regression: a few megabytes of games with unrelated deals and lineups allocated 24 GiB."""
    strewn = forge_tournament(folder, 60, "round-robin", [(i, i) for i in range(1_500)])
    with pytest.raises(ValueError, match="these 1,500 games do not form a tournament"):
        summarise(read_tournament(strewn))


def test_a_game_with_two_different_results_is_refused(folder: Path) -> None:
    """Regression: the later line was used.

    Equal lines are accepted, because old versions wrote some.
    """
    path, found = folder / "games.jsonl", read_tournament(folder)
    text = path.read_text("utf-8")
    first = text.splitlines()[0]
    path.write_text(f"{text}{first}\n", "utf-8")
    assert read_tournament(folder) == found
    other = json.dumps(json.loads(first) | {"shares": [0.5, 0.5]})
    path.write_text(f"{text}{other}\n", "utf-8")
    with pytest.raises(ArenaError, match="line 9: an earlier line has another result"):
        read_tournament(folder)


class Named:
    """A player with a given name."""

    def __init__(self, name: str) -> None:
        self.name = name

    def choose(self, states: Any, seats: Any, draws: Any) -> Any:
        return GAME.legal_masks(states).argmax(axis=1).astype(np.int64)


def test_players_get_different_names() -> None:
    """Regression: two players got the name `x #2`, but names identify the stored weights."""
    found = play_tournament(GAME, [Named("x #2"), Named("x"), Named("x")], 2)
    assert found.players == ("x #2", "x", "x #3")


def test_a_very_long_name_is_shortened_in_a_record(tmp_path: Path) -> None:
    """Regression: the record could be written but not read."""
    play_match(GAME, [Named("x" * 20_000), "random"], 2, 1, records=tmp_path / "games.txt")
    assert {record.players[0][:9] for record in read_records(tmp_path / "games.txt")} == {
        "x" * 9,
        "random",
    }


def test_reading_a_tournament_changes_no_file(folder: Path) -> None:
    """Regression: reading removed the incomplete line that another process was writing."""
    path = folder / "games.jsonl"
    whole = path.read_bytes() + b'{"lineup": 0'
    path.write_bytes(whole)
    read_tournament(folder)
    assert path.read_bytes() == whole


class Painter:
    """A player whose name would clear a terminal."""

    name = "a\x1b[2J\nb"

    def choose(self, states: Any, seats: Any, draws: Any) -> Any:
        return GAME.legal_masks(states).argmax(axis=1).astype(np.int64)


def test_names_cannot_control_the_terminal(tmp_path: Path) -> None:
    """`armarl replay` prints the names in records and tables."""
    path = tmp_path / "games.txt"
    play_match(GAME, [Painter(), "random"], 2, 1, records=path)
    assert {name for record in read_records(path) for name in record.players} == {
        "a?[2J b",
        "random",
    }
    found = play_tournament(GAME, [Painter(), "random"], 2, folder=tmp_path / "arena")
    assert read_tournament(tmp_path / "arena") == found
    forged = path.read_bytes().replace(b"a?[2J", b"a\x1b[2J")
    path.write_bytes(forged)
    with pytest.raises(RecordError, match="unprintable characters"):
        list(read_records(path))
