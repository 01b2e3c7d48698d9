"""Tables of people and players, without HTTP: files, refusals, and undo."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from armarl.core.game import Game
from armarl.games.armada.state import ORDER
from armarl.games.make_game import make_game
from armarl.matches.journal import Journal
from armarl.matches.records import RecordError, read_records
from armarl.players.simple_players import RandomPlayer
from armarl.roster.make_player import make_player
from armarl.web.refusals import RefusedError
from armarl.web.table import Table
from armarl.web.window import EVERYTHING, ONLOOKER, places_of
from variants import Variant, every_rich_game, every_variant

ADVANCED = make_game("armadora", players=2, advanced=True)
CARDS = make_game("armada", cards=True, max_turns=40)


class Failing(RandomPlayer):
    """A player whose error contains a secret."""

    def choose(self, states: Any, seats: Any, draws: Any) -> Any:
        raise RuntimeError("my hand is 1 2 3")


def begin(folder: Path, game: Game, players: list[str | None], deal: int = 5) -> Table:
    def make(spec: str, game: Game) -> Any:
        return Failing(game) if spec == "failing" else make_player(spec, game)

    names = [spec or f"person {seat}" for seat, spec in enumerate(players)]
    keys = [[seat for seat, spec in enumerate(players) if spec is None], []]
    return Table.begin(folder, "table", game, players, names, keys, deal, make)


def resumed(folder: Path, table: Table) -> Table:
    return Table.resume(folder, table.name, table._make_player)


def act(table: Table, text: str) -> None:
    assert table.to_move is not None
    table.act(table.to_move, table.version, text)


def play_on(table: Table, rng: np.random.Generator, most: int = 10**6) -> Iterator[int]:
    """Let all seats act at random, and yield after each action."""
    for _ in range(most):
        seat = table.to_move
        if seat is None:
            return
        if table.player_to_move is not None:
            assert table.let_player_move(), table.trouble
        else:
            legal = table.game.legal_masks(table._journal.states[-1])[0]
            action = table.game.actions.text(int(rng.choice(np.flatnonzero(legal))))
            table.act(seat, table.version, action)
        yield seat


def drawn(view: Any) -> str:
    return "".join(svg for _, svg in view["parts"])


@every_variant
def test_a_whole_game_can_be_played_at_a_table(variant: Variant, tmp_path: Path) -> None:
    """The page offers the legal actions. The record of a finished game is like any other record."""
    game = variant.make()
    table = begin(tmp_path, game, [None] * (game.players - 1) + ["random"])
    rng = np.random.default_rng(0)
    for number, _ in enumerate(play_on(table, rng)):
        if number % 61 == 0 and (seat := table.to_move) is not None:
            view = table.view(seat)
            texts = [action[0] for action in view.get("actions", [])]
            legal = game.legal_masks(table._journal.states[-1])[0]
            if table.player_to_move is None:
                assert texts == game.actions.legal_texts(legal)
                assert view["question"]
            known = {place for places in places_of(game) for place in places}
            assert all(f'id="{place}"' in drawn(view) for place in known)
    (record,) = read_records(tmp_path / "table.txt")
    assert record.ending == ("cut" if table._journal.ending == "cut" else "end")
    assert list(record.actions) == table._journal.actions
    assert table.view(EVERYTHING)["over"]
    assert resumed(tmp_path, table).view(0) == table.view(0)


@every_rich_game
def test_a_table_continues_from_any_byte_of_its_file(variant: Variant, tmp_path: Path) -> None:
    """Whenever a process dies, the file contains all decisions of the game up to some decision."""
    game, rng = variant.make(), np.random.default_rng(1)
    table = begin(tmp_path, game, [None] * game.players)
    list(play_on(table, rng, 40))
    content, actions = (tmp_path / "table.txt").read_bytes(), table._journal.actions
    begun = content.index(b"\n", content.index(b"deal | ")) + 1
    for length in sorted({begun, len(content), *rng.integers(begun, len(content), 12).tolist()}):
        (tmp_path / "table.txt").write_bytes(content[:length])
        again = resumed(tmp_path, table)
        lines = content[begun:length].count(b"\n")
        assert again._journal.actions == actions[:lines]
        if not again.is_over:
            list(play_on(again, rng, 3))
            assert resumed(tmp_path, again)._journal.actions == again._journal.actions


def test_every_decision_is_on_disk_before_it_is_answered(tmp_path: Path) -> None:
    table = begin(tmp_path, ADVANCED, [None, None])
    for text in ("W1 a1", "W1 a2", "P a1-b1"):
        act(table, text)
        assert f" {text} | " in (tmp_path / "table.txt").read_text()


def test_no_decision_is_made_on_a_full_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = begin(tmp_path, ADVANCED, [None, None])
    act(table, "W1 a1")
    before, view = (tmp_path / "table.txt").read_bytes(), table.view(1)

    def full(*_: Any, **_how: Any) -> None:
        raise OSError("no space left")

    with monkeypatch.context() as patched:
        patched.setattr("armarl.matches.journal.append_whole", full)
        with pytest.raises(OSError, match="no space"):
            act(table, "W1 a2")
    assert table.view(1) == view
    act(table, "W1 a2")
    assert (tmp_path / "table.txt").read_bytes().startswith(before)
    assert resumed(tmp_path, table).view(0) == table.view(0)


def test_a_request_that_is_sent_twice_acts_once(tmp_path: Path) -> None:
    table = begin(tmp_path, ADVANCED, [None, None])
    version = table.version
    table.act(0, version, "P a1-b1")
    with pytest.raises(RefusedError, match="has changed since"):
        table.act(0, version, "P c1-d1")
    assert table.view(0)["last"] == 1


def test_wrong_actions_and_audiences_are_refused(tmp_path: Path) -> None:
    table = begin(tmp_path, ADVANCED, [None, None])
    for seat, text, said in (
        (1, "W1 a1", "person 0 is to move"),
        (0, "W1 d1", "ARM-11"),
        (0, "stop", "ARM-13"),
        (0, "W9 a1", "not one of 1, 2"),
        (0, "", "unknown action"),
    ):
        with pytest.raises(RefusedError, match=said):
            table.act(seat, table.version, text)
    for audience, number in ((EVERYTHING, None), (2, None), (0, 1), (0, -1), (-3, None)):
        with pytest.raises(RefusedError):
            table.view(audience, number)


def test_a_reason_says_why_a_place_cannot_be_used(tmp_path: Path) -> None:
    table = begin(tmp_path, ADVANCED, [None, None])
    (why,) = table.why(0, ["line-a1-b1"])[:1] or [""]
    assert why == "" or "orc" in why  # a palisade is legal there, but perhaps no use of the Orc
    act(table, "W1 a1")
    assert any("ARM-11" in reason for reason in table.why(1, ["place-a1"]))


def test_a_guide_may_lack_instructions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Regression: the page of the game failed with an AttributeError."""
    table = begin(tmp_path, ADVANCED, [None, None])
    key = next(iter(table.about.keys))
    assert table.setup(key)["how"]
    monkeypatch.delattr("armarl.games.armadora.guide.HOW_TO_PLAY")
    assert not table.setup(key)["how"]


def test_a_reason_says_that_nothing_is_done_on_a_mine(tmp_path: Path) -> None:
    table = begin(tmp_path, ADVANCED, [None, None])
    mine = "d1 is a gold mine: no Warrior is placed on gold (ARM-11)"
    assert table.why(0, ["place-d1"]) == [mine]
    assert "place-d1" in table.setup(next(iter(table.about.keys)))["places"]
    assert table.why(0, ["nowhere"]) == table.why(0, []) == []
    table = begin(tmp_path, make_game("armadora", board="mini"), [None, None])
    assert table.why(0, ["place-h2"]) == ["h2 is outside the mini board (ARM-35)"]
    assert table.why(0, ["place-d1"]) == [mine]


def test_a_reason_says_why_no_action_leads_between_two_places(tmp_path: Path) -> None:
    table = begin(tmp_path, CARDS, [None, None])
    assert table.why(0, ["place-s1", "place-s48"]) == ["No action leads from s1 to s48."]
    assert table.why(0, ["place-s1", "nowhere"]) == []


def test_few_reasons_are_given_and_only_for_possible_actions(tmp_path: Path) -> None:
    table = begin(tmp_path, CARDS, [None, None])
    rng = np.random.default_rng(0)
    while table._journal.states[-1]["stage"] != ORDER:
        assert list(play_on(table, rng, 1))
    for place in places_of(CARDS):
        why = table.why(table.to_move or 0, place[:1])
        assert len(why) <= 2
        assert "no question is open" not in " ".join(why)


# --- undo -----------------------------------------------------------------------------------------


def test_an_action_that_reveals_nothing_can_be_taken_back(tmp_path: Path) -> None:
    table = begin(tmp_path, ADVANCED, [None, None])
    content = (tmp_path / "table.txt").read_bytes()
    first = table.view(0)
    act(table, "P a1-b1")
    second = table.version
    act(table, "P c1-d1")
    assert not table.view(1)["undo"]
    table.undo(0, table.version)
    assert table.view(0)["question"].startswith("Place a second palisade")
    assert table.version != second  # requests for the earlier position are refused
    table.undo(0, table.version)
    assert (tmp_path / "table.txt").read_bytes() == content
    again = {"version": "", "board": ""}
    assert table.view(0) | again == first | again
    assert resumed(tmp_path, table).version == table.version
    act(table, "W1 a1")
    act(table, "W1 a2")
    with pytest.raises(RefusedError, match="taken back"):
        table.undo(0, table.version)  # another seat has acted


def test_an_action_that_reveals_something_cannot_be_taken_back(tmp_path: Path) -> None:
    """ARM-23: a Mage has looked at a value. ADA-21: dice were rolled."""
    game = make_game("armadora", players=3, advanced=True)
    deal = next(
        seed
        for seed in range(40)
        if game.describe(game.new_states(seed)[0])["characters"][1] == "mage"
    )
    table = begin(tmp_path, game, [None] * 3, deal)
    act(table, "W3 a1")
    act(table, "mage a1")
    assert not table.view(1)["undo"]
    assert "it has value 3" in " ".join(table.view(1)["news"][-1]["words"])
    for audience in (ONLOOKER, 2):
        assert "value" not in json.dumps(table.view(audience)["news"])

    table = begin(tmp_path, CARDS, [None, None])
    rng, found = np.random.default_rng(3), set()
    for _ in play_on(table, rng, 1500):
        journal = table._journal
        chance = not np.array_equal(journal.states[-2]["rng"], journal.states[-1]["rng"])
        undo = table._may_undo(journal.seats[-1])
        found.add((CARDS.actions.text(journal.actions[-1]).split()[0], undo))
        assert not (chance and undo)
    assert found >= {("count", True), ("move", True), ("explore", False)}


def test_every_kind_of_place_can_be_found(tmp_path: Path) -> None:
    table = begin(tmp_path, ADVANCED, [None, None])
    act(table, "W3 c4")
    assert table.answer(0, "where c4") == "c4: Warrior 3 of person 0, face down"
    assert table.answer(1, "where c4") == "c4: Warrior ? of person 0, face down"
    assert "there is no place" in table.answer(1, "where z9")
    assert "W1 b4" in table.answer(1, "moves b4").split(", ")
    assert "P a4-b4" not in table.answer(1, "moves b4")
    assert "c4" in table.answer(1, "last")
    assert "`W1 c4` is illegal" in table.answer(1, "W1 c4")
    assert "ARM-11" in table.answer(1, "help")
    assert table.answer(1, "?") == table.answer(1, "help")
    assert table.answer(1, "board").count("\n") > 5


def test_a_seat_has_one_name_everywhere(tmp_path: Path) -> None:
    table = begin(tmp_path, make_game("armadora", players=3, advanced=True), [None] * 3)
    table._journal.names = ("Ann", "<b>Bo</b>", "Cy")
    act(table, "W3 a1")
    act(table, "W4 a2")
    act(table, "W1 a3")
    act(table, "W2 b1")
    said = [drawn(table.view(1)), *table.why(1, ["place-b3"]), *table.why(1, ["place-a2"])]
    said += [table.answer(1, text) for text in ("board", "last", "where a2", "W4 b3", "W1 a1")]
    assert not any("player 1" in text for text in said)
    assert "a2: Warrior 4 of &lt;b&gt;Bo&lt;/b&gt;, face down" in said[0]
    assert table.answer(1, "where a2") == "a2: Warrior 4 of <b>Bo</b>, face down"
    assert "<b>Bo</b> has no Warrior of value 4 left (ARM-7)" in table.answer(1, "W4 b3")


def test_only_the_owner_is_told_the_value_of_a_warrior(tmp_path: Path) -> None:
    """ARM-33: without `peek`, not even the owner is told."""
    for peek in (True, False):
        game = make_game("armadora", players=2, peek=peek)
        table = begin(tmp_path, game, [None, None])
        act(table, "W3 c3")
        (own,) = table.view(0)["news"]
        assert (own["text"], "of value 3" in own["words"][0]) == (
            ("W3 c3", True) if peek else ("W? c3", False)
        )
        for audience in (1, ONLOOKER):
            (told,) = table.view(audience)["news"]
            assert (told["text"], "value" in told["words"][0]) == ("W? c3", False)


# --- players --------------------------------------------------------------------------------------


def test_a_player_that_fails_reveals_no_secret(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = begin(tmp_path, ADVANCED, [None, "failing"])
    act(table, "W1 a1")
    assert not table.let_player_move()
    assert table.player_to_move is None
    assert "failing failed (RuntimeError)" in table.view(0)["trouble"]
    assert "hand is" not in json.dumps(table.view(0))
    assert "my hand is 1 2 3" in capsys.readouterr().out
    table.retry(table.version)
    assert table.player_to_move == 1
    table = begin(tmp_path, ADVANCED, [None, None])
    with pytest.raises(RefusedError, match=r"failed \(RuntimeError\)") as refused:
        table.opinion(0, "failing")
    assert "hand is" not in str(refused.value)


def test_a_choice_for_a_position_taken_back_is_dropped(tmp_path: Path) -> None:
    class Slow(RandomPlayer):
        def choose(self, states: Any, seats: Any, draws: Any) -> Any:
            table.undo(0, table.version)
            return super().choose(states, seats, draws)

    table = begin(tmp_path, ADVANCED, [None, "random"])
    table._make_player = lambda spec, game: Slow(game)
    act(table, "W1 a1")
    assert not table.let_player_move()
    assert table.view(0)["last"] == 0
    assert table.trouble is None


def test_a_hint_is_the_choice_of_a_player(tmp_path: Path) -> None:
    table = begin(tmp_path, make_game("armadora"), [None, "random"])
    hint = table.opinion(0, "armadora-2p")
    assert hint["action"] in [action[0] for action in table.view(0)["actions"]]
    assert -1 <= hint["value"] <= 1
    (first, *_) = table.opinion(0, "random")["likely"]
    assert first[1] == pytest.approx(1 / len(table.view(0)["actions"]), abs=1e-4)
    assert hint == table.opinion(0, "armadora-2p")


def test_a_resignation_ends_the_game(tmp_path: Path) -> None:
    table = begin(tmp_path, ADVANCED, [None, None])
    act(table, "W1 a1")
    table.resign(0, table.version)
    assert table.view(1)["over"] == "person 0 has resigned."
    assert next(read_records(tmp_path / "table.txt")).ending == "stopped"
    with pytest.raises(RefusedError, match="over"):
        table.act(1, table.version, "W1 a2")


def test_an_invalid_journal_is_refused(tmp_path: Path) -> None:
    (tmp_path / "table.txt").write_text("something else\n")
    with pytest.raises(RecordError):
        Journal.resume(tmp_path / "table.txt")


def test_a_page_gets_the_changes_of_its_board(tmp_path: Path) -> None:
    """The changes turn any board that an audience has had into the current board.

    Boards that the audience has not had are ignored.
    """
    table, rng = begin(tmp_path, ADVANCED, [None, None]), np.random.default_rng(2)
    had: dict[str, dict[int, str]] = {"": {}}
    for _ in play_on(table, rng, 12):
        for number in (len(table._journal.actions), len(table._journal.actions) - 1):
            whole = table.view(0, number)
            assert (whole["base"], "sheet" in whole) == (None, True)
            for have, parts in list(had.items())[-4:]:
                part = table.view(0, number, have)
                assert part["base"] in (None, have)
                known = dict(parts) if part["base"] else {}
                known |= dict(part["parts"])
                assert {k: svg for k, svg in known.items() if svg} == dict(whole["parts"])
                if have:
                    assert len(part["parts"]) < len(whole["parts"]) / 2
            had[whole["board"]] = dict(whole["parts"])
    other = table.view(1)
    assert table.view(0, have=other["board"])["base"] is None
    assert table.view(ONLOOKER, have=other["board"])["base"] is None
