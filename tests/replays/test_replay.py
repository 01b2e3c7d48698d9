"""Pages of recorded games: their contents, and hidden information that they must not contain."""

from __future__ import annotations

import base64
import hashlib
import re
from dataclasses import replace

import numpy as np
import pytest

import check_fog
from armarl import Replay, Thoughts, make_game, make_player, position_record, read_records
from armarl.core.pictures.film import changes
from armarl.replays.thinking import think_over
from armarl.replays.thoughts import Fall, expectations, falls
from recorded import as_file, data_of, recorded, words_of
from variants import BASIC, VARIANTS, every_game

ARMADORA = recorded(make_game("armadora", players=3, advanced=True))
ARMADA = recorded(make_game("armada", players=2, cards=True), most=120)


def frames_of(data, view=0, game=0):
    """Rebuild the pictures of a view as the page's script does."""
    shown = data["games"][game]["views"][view]
    film, frame = data["films"][shown["film"]], []
    for moment in shown["moments"]:
        pairs = moment["changes"]
        for part, piece in zip(pairs[::2], pairs[1::2], strict=True):
            frame += [0] * (part + 1 - len(frame))
            frame[part] = piece
        yield ["".join(film["strings"][s] for s in film["pieces"][piece]) for piece in frame]


@pytest.mark.parametrize("record", [ARMADORA, ARMADA], ids=["armadora", "armada"])
def test_a_page_shows_the_pictures_of_the_game(record):
    """The script's pictures are equal to those of `Game.picture`, for every audience."""
    data = data_of(Replay([record]).html())
    names = data["games"][0]["players"]
    actions = [None, *zip(record.seats, record.actions, strict=True)]
    for view, seat in enumerate([None, *range(record.game.players)]):
        for k, parts in enumerate(frames_of(data, view)):
            if k % 7 in (0, 1):
                picture = record.game.picture(
                    record.states[k],
                    seat,
                    before=record.states[k - 1] if k else None,
                    last=actions[k],
                    names=names,
                )
                assert parts == [part.svg for part in picture.parts]
                title = data["games"][0]["views"][view]["moments"][k]["title"]
                assert data["texts"][title] == picture.title
        assert k == len(record.actions)


@pytest.mark.parametrize("record", [ARMADORA, ARMADA], ids=["armadora", "armada"])
def test_all_that_pieces_refer_to_is_defined(record):
    data = data_of(Replay([record]).html())
    for film in data["films"]:
        defined = set(re.findall(r' id="([^"]+)"', "".join(film["definitions"])))
        used = re.findall(
            r'(?:href="|url\()#([\w-]+)', "".join(film["strings"] + film["definitions"])
        )
        assert set(used) <= defined
        colours = set(re.findall(r"var\(--([\w-]+)\)", "".join(film["strings"])))
        for theme in ("light", "dark"):
            assert all(f"--{colour}:" in film["colours"][theme] for colour in colours)


def test_changes_turn_one_frame_into_another():
    for before, after in [((), (1, 2)), ((1, 2), (1, 3)), ((1, 2, 3), (1,)), ((1,), (1,))]:
        frame = list(before)
        pairs = changes(before, after)
        for part, piece in zip(pairs[::2], pairs[1::2], strict=True):
            frame += [0] * (part + 1 - len(frame))
            frame[part] = piece
        assert frame == list(after) + [0] * (len(frame) - len(after))
    assert changes((1, 2), (1, 2)) == []


@every_game
def test_games_of_every_kind_have_pages(variant):
    record = recorded(variant.make(), "random", most=20)
    data = data_of(Replay([record, record]).html())
    assert len(data["games"]) == 2
    assert len(data["films"]) == 1
    assert len(data["games"][0]["views"]) == 1 + record.game.players
    assert len(data["games"][1]["views"][0]["moments"]) == len(record.actions) + 1


def test_a_whole_game_of_armada_is_small():
    record = recorded(make_game("armada", players=2))
    assert record.ending == "end"
    assert len(record.actions) > 100
    assert len(Replay([record]).html()) < 1_500_000


# --- hidden information --------------------------------------------------------------------------


@pytest.mark.parametrize("variant", VARIANTS, ids=str)
def test_two_deals_that_a_seat_cannot_tell_apart_give_the_same_page(variant):
    """`python scripts/checks/check_fog.py` compares 200 games of each variant."""
    compared, other = check_fog.check(variant.make(), 1, seed=5)
    assert compared >= variant.make().players
    assert other


def test_the_fog_check_finds_a_leak(monkeypatch):
    """A title with the random number generator's state would reveal the next deal."""
    game = make_game("armadora")
    seen, drawn = type(game)._seen, type(game)._drawn
    secret = []

    def remember(self, state, seat, public):
        secret[:] = [int(state["rng"])]
        return seen(self, state, seat, public)

    def leak(self, scene):
        return replace(drawn(self, scene), title=str(secret))

    monkeypatch.setattr(type(game), "_seen", remember)
    monkeypatch.setattr(type(game), "_drawn", leak)
    with pytest.raises(AssertionError, match="armadora"):
        check_fog.check(game, 1, seed=5)


def test_a_page_for_a_seat_contains_no_hidden_value():
    game = make_game("armadora", players=2)
    record = recorded(game, "random", most=30)
    assert record.ending == "stopped"
    page = Replay([record], seat=1).html()
    hidden = {
        game.actions.text(action)
        for seat, action in zip(record.seats, record.actions, strict=True)
        if seat == 0 and game.actions.text(action).startswith("W")
    }
    assert hidden
    for text in hidden:
        assert text not in page
        assert f"W? {text.split()[1]}" in page
    data = data_of(page)
    assert [view["seat"] for view in data["games"][0]["views"]] == [1]
    whole = Replay([record]).html()
    assert all(text in whole for text in hidden)


# --- sentences -----------------------------------------------------------------------------------


def test_armadora_is_described_in_sentences():
    told = words_of(data_of(Replay([ARMADORA]).html()))
    assert any(re.search(r"lays a Warrior of value \d face down on [a-h]\d", one) for one in told)
    assert any(re.search(r"places a palisade on .*, \d+ left\.", one) for one in told)
    assert any("The palisade divides the land" in one for one in told)
    assert "passes for the rest of the game" in told[-1]
    assert "All Warriors are turned face up." in told[-1]
    assert re.search(r"The territory of \d+ squares around \w\d with \d+ gold", told[-1])
    result = ARMADORA.game.describe(ARMADORA.states[-1])["result"]
    assert all(str(gold) in told[-1] for gold in result["gold"])


def test_armada_is_described_in_sentences():
    told = " ".join(words_of(data_of(Replay([ARMADA]).html())))
    for words in (
        r"puts a ship on",
        r"puts \d+ bands on",
        r"moves \d+ bands? from \w+ to \w+",
        r"explores \w+ and finds (no|\d+) gold and (no|\d+) tribes?",
        r"Dice: gold \d, tribes \d",
        r"attacks \d+ .* from",
        r"Dice: (no|\d) (hit|loss)",
        r"'s turn begins",
    ):
        assert re.search(words, told), words


def test_every_text_is_a_sentence():
    for record in (ARMADORA, ARMADA):
        data = data_of(Replay([record]).html())
        for view in data["games"][0]["views"]:
            for moment in view["moments"][1:]:
                assert moment["told"]
                for number in moment["told"]:
                    assert re.fullmatch(r"\S.*[.]", data["texts"][number]), data["texts"][number]


# --- thoughts ------------------------------------------------------------------------------------


def test_thoughts_are_shown_only_to_their_own_seat():
    game = make_game("armadora")
    record = recorded(game, most=12)
    player = make_player("random", game)
    done: list[tuple[int, int]] = []
    thoughts = think_over(record, player, lambda *numbers: done.append(numbers))
    assert done == [(12, 12)]
    assert all(one is not None and one.probabilities.shape == (1, 229) for one in thoughts)
    for seat, shown in ((None, {0, 1}), (0, {0}), (1, {1})):
        moments = data_of(Replay([record], seat, [{"one": thoughts}]).html())["games"][0]["views"][
            0
        ]["moments"]
        seen = {
            record.seats[k - 1] for k, moment in enumerate(moments) if k and "thoughts" in moment
        }
        assert seen == shown
    (first,) = next(moment["thoughts"] for moment in moments if "thoughts" in moment)
    assert first["value"] is None or -1 <= first["value"] <= 1
    _, probability, visits, value = first["rows"][0]
    assert 0 < probability <= 1
    assert visits is value is None


def test_the_played_action_has_a_row_with_its_numbers():
    game = make_game("armadora", board="mini")
    record = recorded(game, most=1)
    size = len(game.actions)
    visits = np.zeros((1, size), np.int64)
    visits[0, [3, 5]] = 7, 9
    values = np.full((1, size), np.nan)
    values[0, [3, 5]] = -0.25, 0.5
    thoughts = Thoughts(None, values, visits, np.array([0.125]))
    shown = data_of(Replay([record], None, [{"one": [thoughts]}]).html())["games"][0]["views"][0]
    assert shown["moments"][1]["thoughts"][0] == {
        "value": 0.125,
        "rows": [
            [game.actions.text(5), None, 9, 0.5],
            [game.actions.text(3), None, 7, -0.25],
            [game.actions.text(record.actions[0]), None, 0, None],
        ],
    }


def test_wrong_numbers_of_thoughts_and_seats_are_refused():
    record = recorded(make_game("armadora"), most=3)
    with pytest.raises(ValueError, match="one entry for each of the 1 games, not 0"):
        Replay([record], thoughts=[])
    with pytest.raises(ValueError, match="needs thoughts on each of its 3 decisions, not on 2"):
        Replay([record], thoughts=[{"one": [None, None]}])
    with pytest.raises(ValueError, match="needs at least one game"):
        Replay([])
    for wrong in ([[None, None, None]], [{"one": None}]):  # regression: bare AttributeErrors
        with pytest.raises(TypeError, match="must be a dictionary with a list for each player"):
            Replay([record], thoughts=wrong)
    with pytest.raises(TypeError, match="thoughts must be a list with one dictionary per game"):
        Replay([record], thoughts={"one": [None, None, None]})
    with pytest.raises(ValueError, match="the seat of game 1 must be from 0 to 1, not 2"):
        Replay([record], seat=2)
    with pytest.raises(ValueError, match="was made for armada"):
        think_over(record, make_player("random", make_game("armada")))
    plain = replace(record, game=replace(record.game, _picture=None))
    with pytest.raises(ValueError, match="armadora has no drawing"):
        Replay([plain])


def test_arguments_that_are_not_records_or_players_are_refused():
    record = recorded(make_game("armadora"), most=3)
    for wrong, said in (("r2.txt", "'r2.txt'"), (record, "one Record"), (3, "3"), (None, "None")):
        with pytest.raises(TypeError, match=rf"must be a sequence of .* \[record\] .*, not {said}"):
            Replay(wrong)
    for call in (lambda: Replay(["r2.txt"]), lambda: think_over("r2.txt", "random")):
        with pytest.raises(TypeError, match=r"a record must be a Record, .*, not 'r2.txt'"):
            call()
    for wrong in (3, None, ["greedy"], lambda *_: 0):
        with pytest.raises(TypeError, match="a player must be a specification, a path or a Player"):
            think_over(record, wrong)
    with pytest.raises(ValueError, match="unknown player 'gredy' \\(did you mean greedy"):
        think_over(record, "gredy")


def test_a_player_can_think_by_its_name():
    game = make_game("armadora")
    record = recorded(game, most=2)
    found = think_over(record, "armadora-2p")
    assert len(found) == 2
    for thoughts, same in zip(
        found, think_over(record, make_player("armadora-2p", game)), strict=True
    ):
        assert np.array_equal(thoughts.probabilities, same.probabilities)
        assert thoughts.value == same.value


# --- strangers -----------------------------------------------------------------------------------

HOSTILE = '</script><img src=x onerror="alert(1)"><!--&amp;'


def test_names_of_strangers_are_shown_as_text():
    record = recorded(make_game("armadora"), most=4, names=[HOSTILE, "b" * 15_000])
    page = Replay([record], title=HOSTILE).html()
    assert page.count("<script") == page.count("</script>") == 2
    assert "<img" not in page
    assert "<!--" not in page
    assert len(page) < 400_000
    assert data_of(page)["games"][0]["players"][0].startswith("</script><img")


def test_a_page_loads_nothing_and_runs_only_its_own_script():
    page = Replay([ARMADORA]).html()
    policy = re.search(r'Content-Security-Policy" content="([^"]+)"', page)[1]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    script = page.rsplit("<script>", 1)[1].split("</script>")[0]
    style = page.split("<style>")[1].split("</style>")[0]
    for text in (script, style):
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"'sha256-{digest}'" in policy
    assert not re.search(r"""(?:src|href)=["'](?!#|data:,)""", page)
    assert "http" not in page.replace("http-equiv", "").replace("http://www.w3.org/2000/svg", "")
    tags = re.findall(r"<[a-z][^>]*>", re.sub(r"<script.*?</script>", "", page, flags=re.DOTALL))
    assert not [tag for tag in tags if re.search(r"\son\w+=|\sstyle=", tag)]


def test_a_page_is_written_completely_or_not_at_all(tmp_path, monkeypatch):
    replay = Replay([recorded(make_game("armadora"), most=3)])
    path = tmp_path / "page.html"
    replay.write(path)
    assert path.read_text(encoding="utf-8") == replay.html()
    with pytest.raises(ValueError, match="there is no folder"):
        replay.write(tmp_path / "none" / "page.html")
    with pytest.raises(ValueError, match="is a folder"):
        replay.write(tmp_path)
    path.write_bytes(b"\xef\xbb\xbf\n<!DOCTYPE HTML><title>old</title>")
    replay.write(path)
    assert path.read_text(encoding="utf-8") == replay.html()
    for content in (b"armarl-record 1\n", b"not <!doctype html>", b" "):
        path.write_bytes(content)
        with pytest.raises(ValueError, match=r"page\.html exists and does not begin like HTML"):
            replay.write(path)
        assert path.read_bytes() == content
    path.write_bytes(b"")
    replay.write(path)
    assert path.read_text(encoding="utf-8") == replay.html()
    monkeypatch.setattr("armarl.common.files.os.access", lambda *arguments: False)
    with pytest.raises(PermissionError, match="is not writable"):
        replay.write(path)
    assert [p.name for p in tmp_path.iterdir()] == ["page.html"]


def test_a_notebook_shows_the_page_in_a_frame():
    from html import unescape

    replay = Replay([recorded(make_game("armadora"), most=3)])
    shown = replay._repr_html_()
    assert shown.startswith("<iframe ")
    assert unescape(re.search(r'srcdoc="([^"]*)"', shown)[1]) == replay.html()


def test_a_record_can_be_read_from_text_and_from_a_later_place(tmp_path):
    from armarl.matches.records import read_record

    record = recorded(make_game(BASIC[0].game), most=4)
    assert str(read_record(str(record))) == str(record)
    path = as_file(record, tmp_path)
    start = path.stat().st_size
    other = recorded(make_game("armadora"), most=7)
    path.write_text(str(record) + str(other), encoding="utf-8")
    assert [str(one) for one in read_records(path, start)] == [str(other)]


def test_expected_returns_and_their_falls_are_shown():
    game = make_game("armadora", board="mini")
    record = recorded(game, "random")
    assert record.ending == "end"
    values = [0.1, 0.5, -0.4, 0.4, -0.5][: len(record.actions)]
    thoughts = [Thoughts(value=np.array([value])) for value in values]
    thoughts += [None] * (len(record.actions) - len(thoughts))
    lines = expectations(record, thoughts)
    last = len(record.actions)
    for seat, line in enumerate(lines):
        told = [(k, v) for k, v in enumerate(values) if record.seats[k] == seat]
        assert line == [*told, (last, record.returns[seat])]
    found = falls(lines)
    assert Fall(1, 0.1, -0.4) in found
    amounts = [fall.before - fall.after for fall in found]
    assert amounts == sorted(amounts, reverse=True)
    view = data_of(Replay([record], 0, [{"one": thoughts}]).html())["games"][0]["views"][0]
    (thinker,) = view["thinkers"]
    assert thinker["lines"][0] == [list(point) for point in lines[0]]
    assert thinker["lines"][1] == []
    assert all(record.seats[move - 1] == 0 for move, _, _ in thinker["falls"])


POSITION = {"palisades": ["c3-c4"], "warriors": {"c4": {"player": 0, "value": 5}}, "to_move": 1}


def test_players_can_think_about_a_position_made_by_hand():
    game = make_game("armadora")
    record = position_record(game, game.state_from(POSITION))
    players = {name: make_player(name, game) for name in ("armadora-2p", "greedy")}
    thoughts = {name: think_over(record, player) for name, player in players.items()}
    data = data_of(Replay([record], None, [thoughts]).html())["games"][0]
    assert (data["seats"], data["stopped"]) == ([1], True)
    whole, first, second = data["views"]
    assert len(whole["moments"]) == 1
    assert whole["moments"][0]["thoughts"] == second["moments"][0]["thoughts"]
    assert len(whole["moments"][0]["thoughts"][0]["rows"]) == 5
    assert "thoughts" not in first["moments"][0]  # these thoughts are those of the other seat
    (line,) = [line for line in whole["thinkers"][0]["lines"] if line]
    assert line == [[0, whole["moments"][0]["thoughts"][0]["value"]]]


def test_a_finished_position_has_no_thoughts():
    game = make_game("armadora")
    state = game.new_states(0)[0]
    rng = np.random.default_rng(0)
    states = np.full(1, state)
    while not game.statuses(states)[0][0]:
        legal = np.flatnonzero(game.legal_masks(states)[0])
        game.apply(states, np.array([0]), rng.choice(legal, 1))
    record = position_record(game, states[0], ["Ann", "Bo"])
    assert (record.ending, sum(record.returns)) == ("end", 0)
    assert think_over(record, make_player("random", game)) == []
    Replay([record]).html()


def test_an_invalid_position_record_is_refused():
    game = make_game("armadora")
    state = game.new_states(0)[0]
    with pytest.raises(ValueError, match="players must list 2 names, one per seat, not 1"):
        position_record(game, state, ["Ann"])
    with pytest.raises(TypeError):
        position_record(game, 5)
    with pytest.raises(TypeError):
        position_record(make_game("armada"), state)
