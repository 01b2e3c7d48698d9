"""The commands that write replays: `replay`, `watch`, `play`, `evaluate` and `arena`."""

from __future__ import annotations

import io
import json

import pytest

from armarl.cli.__main__ import main
from armarl.games.make_game import make_game
from recorded import as_file, data_of, recorded

MINI = ("--game", "armadora", "-o", "board=mini")


@pytest.fixture
def games(tmp_path):
    """Return a file with three games."""
    record = recorded(make_game("armadora", board="mini"), "random")
    path = as_file(record, tmp_path)
    path.write_text(str(record) * 3, encoding="utf-8")
    return path


def pages(path):
    return data_of(path.read_text(encoding="utf-8"))["games"]


def test_games_of_a_file_become_a_page(games, tmp_path, capsys):
    page = tmp_path / "page.html"
    assert main(["replay", str(games), "--html", str(page)]) == 0
    assert len(pages(page)) == 3
    assert capsys.readouterr().out == f"written: {page}\n"
    assert main(["replay", str(games), "--html", str(page), "--games", "2-3"]) == 0
    assert len(pages(page)) == 2
    assert main(["replay", str(games), "--html", str(page), "--seat", "1"]) == 0
    assert [view["seat"] for view in pages(page)[0]["views"]] == [1]
    assert main(["replay", str(games), "--html", str(page), "--think", "random"]) == 0
    assert all("thoughts" in moment for moment in pages(page)[0]["views"][0]["moments"][1:])


def test_a_position_made_by_hand_becomes_a_page(tmp_path, capsys):
    file, page = tmp_path / "position.json", tmp_path / "page.html"
    game = make_game("armadora", board="mini")
    file.write_text(json.dumps(game.describe(game.new_states(1)[0])), encoding="utf-8")
    assert main(["replay", str(file), "--html", str(page), "--think", "random"]) == 0
    assert len(pages(page)[0]["views"][0]["moments"][0]["thoughts"]) == 1
    assert main(["replay", str(file), "--draw"]) == 0
    assert "stopped after 0 actions" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("{}", "is not a description of a position: it lacks 'players'"),
        ('{"players": 2}', "is not a description of a position: it lacks 'game'"),
        ('{"players": 2, "game": "go"}', "is not a description of a position: unknown game 'go'"),
        (
            '{"players": 2, "game": "armadora", "x": 1}',
            "is not a description of a position: a description of",
        ),
        (
            '{"players": 2, "game": "armadora", "options": []}',
            "is not a description of a position: ",
        ),
        ('{"players": 2', "is not a description of a position: "),
    ],
)
def test_a_position_that_cannot_be_read_is_refused(tmp_path, capsys, text, says):
    file = tmp_path / "position.json"
    file.write_text(text, encoding="utf-8")
    assert main(["replay", str(file), "--html", str(tmp_path / "page.html")]) != 0
    assert says in capsys.readouterr().err
    assert not (tmp_path / "page.html").exists()


def test_some_games_can_be_printed(games, capsys):
    assert main(["replay", str(games), "--games", "3"]) == 0
    assert capsys.readouterr().out.startswith("game 3: armadora\n")


@pytest.mark.parametrize(
    ("more", "says"),
    [
        (("--games", "0"), "--games must be a number or a range, 3 or 1-20, not 0"),
        (("--games", "3-2"), "not 3-2"),
        (("--games", "x"), "not x"),
        (("--games", "7-9"), "none in the range of --games"),
        (("--seat", "2"), "the seat of game 1 must be from 0 to 1, not 2"),
        (("--think", "nobody"), "nobody"),
    ],
)
def test_wrong_options_are_refused(games, tmp_path, capsys, more, says):
    page = tmp_path / "page.html"
    assert main(["replay", str(games), "--html", str(page), *more]) == 1
    assert says in capsys.readouterr().err
    assert not page.exists()


def test_games_to_print_outside_the_file_are_refused(games, capsys):
    """Regression: the command printed `no games in` the file, and its status was 0."""
    assert main(["replay", str(games), "--games", "4"]) == 1
    said = capsys.readouterr()
    assert (said.out, "none in the range of --games" in said.err) == ("", True)


EVALUATE = ("evaluate", "random", "greedy", *MINI, "--games", "2", "--workers", "1")


@pytest.mark.parametrize(
    "arguments",
    [
        ("replay", "games.txt", "--html", "games.txt"),
        ("replay", "games.txt", "--html", "mine.safetensors"),
        ("watch", "random", *MINI, "--record", "games.txt", "--html", "games.txt"),
        ("play", "random", *MINI, "--html", "mine.safetensors"),
        (*EVALUATE, "--records", "games.txt", "--html", "games.txt"),
        (*EVALUATE, "--html", "mine.safetensors"),
        ("arena", "random", "greedy", *MINI, "--folder", "arena", "--html", "mine.safetensors"),
    ],
    ids=" ".join,
)
def test_a_page_replaces_only_a_page(games, tmp_path, capsys, monkeypatch, arguments):
    """Regression: a page silently replaced the records or a policy."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.safetensors").write_bytes(b"weights")
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert main(arguments) == 1
    said = capsys.readouterr()
    assert "exists and does not begin like HTML, so nothing replaces it" in said.err
    assert said.out == ""
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


@pytest.mark.parametrize(
    ("arguments", "names"),
    [
        (("watch", "random", *MINI, "--record", "new", "--html", "new"), "--html and --record"),
        ((*EVALUATE, "--records", "new", "--html", "new"), "--html and --records"),
        ((*EVALUATE, "--json", "new", "--html", "new"), "--json and --html"),
    ],
)
def test_a_page_needs_a_file_of_its_own(tmp_path, capsys, monkeypatch, arguments, names):
    monkeypatch.chdir(tmp_path)
    assert main(arguments) == 1
    said = capsys.readouterr()
    assert (said.out, f"{names} name the same file, new" in said.err) == ("", True)
    assert list(tmp_path.iterdir()) == []


def test_options_of_a_page_need_a_page(games, capsys):
    for more in (("--seat", "0"), ("--think", "random")):
        assert main(["replay", str(games), *more]) == 1
        assert (
            f"{more[0]} needs a page: name the page's file with --html" in capsys.readouterr().err
        )


def test_games_are_replayed_in_one_way_at_a_time(games, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    before = list(tmp_path.iterdir())
    for more in (("--web", "--html", "new"), ("--draw", "--html", "new"), ("--draw", "--web")):
        assert main(["replay", str(games), *more]) == 1
        assert "choose one of --draw" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == before


def test_a_file_without_records_leaves_the_page_unchanged(tmp_path, capsys):
    page, wrong = tmp_path / "page.html", tmp_path / "wrong.txt"
    page.write_text("<!DOCTYPE html>old", encoding="utf-8")
    wrong.write_text("x" * 2_000_000, encoding="utf-8")
    assert main(["replay", str(wrong), "--html", str(page)]) == 1
    assert "this is not a file with records" in capsys.readouterr().err
    assert page.read_text(encoding="utf-8") == "<!DOCTYPE html>old"
    assert main(["replay", str(wrong), "--html", str(tmp_path / "no" / "page.html")]) == 1
    assert "there is no folder" in capsys.readouterr().err


def test_too_many_games_for_a_page_are_refused(tmp_path, capsys):
    record = recorded(make_game("armadora", board="mini"), "random", most=1)
    path = as_file(record, tmp_path)
    path.write_text(str(record) * 101, encoding="utf-8")
    page = tmp_path / "page.html"
    assert main(["replay", str(path), "--html", str(page)]) == 1
    assert "at most 100 games: choose some, such as --games 1-20" in capsys.readouterr().err


def test_a_page_of_watched_games_contains_thoughts(tmp_path, capsys):
    page = tmp_path / "page.html"
    assert main(["watch", "random", "greedy", *MINI, "--seed", "1", "--html", str(page)]) == 0
    assert "thinks" not in capsys.readouterr().out
    (game,) = pages(page)
    moments = game["views"][0]["moments"][1:]
    thought = [
        seat for seat, moment in zip(game["seats"], moments, strict=True) if "thoughts" in moment
    ]
    assert thought
    assert set(thought) == {0}  # `greedy` has no thoughts


def test_a_person_who_stops_gets_a_page(tmp_path, monkeypatch):
    page = tmp_path / "page.html"
    monkeypatch.setattr("sys.stdin", io.StringIO("W1 a1\n"))
    assert main(["play", "random", *MINI, "--seed", "1", "--html", str(page)]) == 130
    (game,) = pages(page)
    assert game["stopped"]
    assert len(game["seats"]) >= 1


def test_a_match_has_a_page_of_its_own_games(tmp_path, capsys):
    page, records = tmp_path / "page.html", tmp_path / "records.txt"
    play = ["evaluate", "random", "greedy", *MINI, "--games", "12", "--workers", "1"]
    assert main([*play, "--records", str(records)]) == 0
    assert main([*play, "--html", str(page)]) == 0
    assert len(pages(page)) == 10
    alone = pages(page)
    assert main([*play, "--records", str(records), "--html", str(page)]) == 0
    assert pages(page) == alone  # without the games that were in the file before
    assert records.read_text(encoding="utf-8").count("armarl-record 1") == 24
    assert "written" in capsys.readouterr().out


def test_a_tournament_has_a_page(tmp_path, capsys):
    page, folder = tmp_path / "page.html", tmp_path / "arena"
    play = ["arena", "random", "greedy", *MINI, "--deals", "4", "--workers", "1"]
    assert main([*play, "--html", str(page)]) == 1
    assert "--html needs game records in a folder" in capsys.readouterr().err
    assert main([*play, "--folder", str(folder), "--html", str(page)]) == 0
    assert len(pages(page)) == 8
