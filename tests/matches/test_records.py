"""Records are games as text. They can be replayed to the same bytes, and other text is refused."""

import errno
import hashlib
import json
import os
import re
import threading
from pathlib import Path

import numpy as np
import pytest

from armarl.games.armada.chart.loading import STANDARD
from armarl.games.make_game import make_game
from armarl.matches.match import play_match
from armarl.matches.playing import play_games
from armarl.matches.recording import Recorder, append_records, prepare_records
from armarl.matches.records import RecordError, position_record, read_records
from armarl.roster.make_player import make_player
from variants import VARIANTS, every_variant

TWO = make_game("armadora", advanced=True)


def recorded(game, player="random", games=1, seed=5):
    """Return records of games, and their final states."""
    states = []

    class Keeping(Recorder):
        def ended(self, final):
            states.append(final.copy())
            super().ended(final)

    seeds = np.arange(seed, seed + games)
    recorder = Keeping(game, [[player] * game.players] * games, seeds)
    play_games(game, [make_player(player, game)] * game.players, seeds, seeds, recorder)
    return "".join(recorder.texts()), states[0]


@pytest.fixture(scope="module")
def text():
    return recorded(TWO)[0]


def read(tmp_path, text):
    path = tmp_path / "games.txt"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return list(read_records(path))


@every_variant
def test_a_record_replays_to_the_same_bytes(variant, tmp_path):
    game = variant.make()
    text, final = recorded(game, games=2)
    found = read(tmp_path, text)
    assert "".join(map(str, found)) == text
    for record, state in zip(found, final, strict=True):
        assert record.game.variant == game.variant
        assert record.states[-1].tobytes() == state.tobytes()
        assert len(record.states) == len(record.actions) + 1 == len(record.seats) + 1
        returns = game.returns(record.states[-1:].copy(), np.zeros(1, int))[0]
        assert record.returns == pytest.approx(returns)
    assert "seed" not in text


def test_a_record_has_the_documented_lines(text):
    lines = text.splitlines()
    assert lines[0] == "armarl-record 1"
    assert lines[2:4] == ["player 0 random", "player 1 random"]
    hexes = "[0-9a-f]{12}"
    assert re.fullmatch(
        rf"deal \| [0-9a-f]{{16}} \| gold .* characters \w+ \w+ \| {hexes}", lines[4]
    )
    for line in lines[5:-2]:
        seat, action = re.fullmatch(rf"(\d) (.+) \| {hexes}", line).groups()
        assert seat in "01"
        TWO.actions.id(action)
    assert re.fullmatch(r"end -?1 -?1|end 0 0", lines[-2])
    assert lines[-1] == f"sum {hashlib.sha256(chr(10).join(lines[:-1]).encode()).hexdigest()}"


def test_a_record_contains_the_dice(tmp_path):
    text, _ = recorded(next(v for v in VARIANTS if v.game == "armada").make(), "greedy")
    assert re.search(r"\| [0-9a-f]{16} \| (combat|gold|tribes) -?\d.* \| [0-9a-f]{12}\n", text)
    wrong = re.sub(r"\| (combat|gold|tribes) -?\d", r"| \1 9", text, count=1)
    with pytest.raises(RecordError, match=r"line \d+: chance gives '.*' in the replay, but '.* 9"):
        read(tmp_path, wrong)


def test_a_change_of_any_line_is_found(text, tmp_path):
    """The error names the line at which a changed character is noticed."""
    lines, rng = text.splitlines(), np.random.default_rng(0)
    for number, line in enumerate(lines):
        at = int(rng.integers(len(line)))
        other = "0" if line[at] != "0" else "1"
        changed = [*lines[:number], line[:at] + other + line[at + 1 :], *lines[number + 1 :]]
        with pytest.raises(RecordError, match=r"games.txt, line (\d+): ") as refused:
            read(tmp_path, "\n".join(changed) + "\n")
        told = int(re.search(r"line (\d+)", str(refused.value)).group(1))
        names = 2 <= number < 4  # only the checksum protects the names
        assert told == number + 1 or (names and told == len(lines))


def test_a_record_that_was_cut_off_is_refused(text, tmp_path):
    lines = text.splitlines(keepends=True)
    for left in range(1, len(lines)):
        with pytest.raises(RecordError, match=rf"line {left + 1}: the record is incomplete"):
            read(tmp_path, "".join(lines[:left]))
    with pytest.raises(RecordError, match=rf"line {len(lines)}: the line is incomplete"):
        read(tmp_path, text[:-1])
    whole = read(tmp_path, text + text)
    assert len(whole) == 2
    with pytest.raises(RecordError, match="the record is incomplete"):
        read(tmp_path, text + "".join(lines[:9]))


@pytest.mark.parametrize("what", ["drop", "swap", "double"])
def test_lines_in_a_wrong_order_are_refused(text, tmp_path, what):
    lines = text.splitlines()
    changed = {
        "drop": [*lines[:9], *lines[10:]],
        "swap": [*lines[:9], lines[10], lines[9], *lines[11:]],
        "double": [*lines[:10], *lines[9:]],
    }[what]
    with pytest.raises(RecordError, match=r"line 1[0-1]: "):
        read(tmp_path, "\n".join(changed) + "\n")


@pytest.mark.parametrize(
    ("line", "written", "message"),
    [
        (0, "armarl-record 2", "its first line must be `armarl-record 1`"),
        (0, "armarl-record 12 of 2031", "its first line must be `armarl-record 1`"),
        (0, "", "its first line must be `armarl-record 1`"),
        (1, "variant {}", "the variant cannot be made"),
        (1, 'variant {"options": []}', "made: it must be an object with a"),
        (1, "variant [1]", "made: it must be an object with a"),
        (1, "variant [[[[", "the variant cannot be made"),
        (1, "variant " + "[" * 15000, "the variant cannot be made"),
        (1, 'variant {"game": "go", "players": 2, "options": {}}', "unknown game 'go'"),
        (1, 'variant {"game": "armadora", "players": 2, "options": {}}', "made with version None"),
        (2, "player 1 random", "the line must begin with `player 0`"),
        (4, "deal", "the line must begin with `deal`"),
        (4, "deal | 12 | - | 34", "the generator state must have 16 hexadecimal"),
        (4, "deal | " + "g" * 16 + " | - | 34", "the generator state must"),
        (5, "1 pass | 0", "seat 0 is to move, not 1"),
        (5, "0 dance | 0", "unknown action 'dance'"),
        (5, "0 stop | 0", "`stop` is illegal"),
        (5, "0 pass", "after the action there must be one column"),
        (5, f"0 pass | {'0' * 16} | - | 0", "chance plays no part in `pass`"),
        (5, "0 pass | 000000000000", "the state of the replay differs from the recorded"),
        (5, "end 1 -1", "the replay does not end the game in this way"),
        (5, "x" * 30_000, "longer than any line"),
    ],
)
def test_invalid_records_are_refused(text, tmp_path, line, written, message):
    lines = text.splitlines()
    lines[line] = written
    with pytest.raises(RecordError, match=rf"games.txt, line \d+: .*{re.escape(message)}"):
        read(tmp_path, "\n".join(lines) + "\n")


def test_a_record_cannot_open_a_file(tmp_path):
    """Otherwise, an option that names a path could make it read a chart."""
    text, _ = recorded(make_game("armada", max_turns=1))
    variant = text.splitlines()[1].replace('"chart": null', '"chart": "/dev/zero"')
    assert "/dev/zero" in variant
    lines = [text.splitlines()[0], variant, *text.splitlines()[2:]]
    with pytest.raises(RecordError, match="line 2: the variant cannot be made"):
        read(tmp_path, "\n".join(lines) + "\n")


@pytest.mark.parametrize(
    "data", [b"\xff\xfe\n", b"\x00" * 100, b"nothing\n", b"x", b"\n", b"x" * 10**5]
)
def test_a_file_without_records_is_refused(tmp_path, data):
    """Regression: most errors said that a line was cut off, or too long for a record."""
    with pytest.raises(RecordError, match="line 1: this is not a file with records"):
        read(tmp_path, data)


def test_a_record_that_is_not_utf_8_text_is_refused(text, tmp_path):
    with pytest.raises(RecordError, match="line 3: the line is not UTF-8 text"):
        read(tmp_path, text.encode().replace(b"player 0 random", b"player 0 \xff"))


def resummed(lines):
    """Return a record of these lines with a correct checksum."""
    whole = "\n".join(lines)
    return f"{whole}\nsum {hashlib.sha256(whole.encode()).hexdigest()}\n"


def test_a_later_record_of_another_version_is_refused(text, tmp_path):
    """Regression: any line that began like our first line was accepted as the first line."""
    lines = text.splitlines()[:-1]
    later = resummed([f"{lines[0]}2 of the year 2031", *lines[1:]])
    with pytest.raises(RecordError, match="the line must be `armarl-record 1` and nothing more"):
        read(tmp_path, text + later)


def test_a_finished_game_cannot_be_recorded_as_stopped(text, tmp_path):
    """Regression: the record was accepted, with returns of 0."""
    *lines, _end, _sum = text.splitlines()
    with pytest.raises(RecordError, match="does not end the game in this way: 'stopped'"):
        read(tmp_path, resummed([*lines, "stopped"]))


def test_an_empty_file_has_no_records(tmp_path):
    assert read(tmp_path, "") == []
    with pytest.raises(FileNotFoundError, match=r"^there is no file .*none$"):
        list(read_records(tmp_path / "none"))


def test_a_start_before_the_file_is_refused(tmp_path):
    """Regression: the operating system's error said nothing of the argument."""
    (tmp_path / "records").write_text("")
    with pytest.raises(ValueError, match=r"start must be from 0 to .*, not -1"):
        list(read_records(tmp_path / "records", -1))


def test_a_stopped_game_can_be_recorded(tmp_path):
    recorder = Recorder(TWO, [["one", "two  words\n"]], np.array([3]))
    states = TWO.new_states(3)
    recorder.dealt(states)
    recorder.ended(states)
    (record,) = read(tmp_path, recorder.texts()[0])
    assert (record.ending, record.returns) == ("stopped", (0, 0))
    assert record.players == ("one", "two words")


def test_a_match_writes_records_of_its_games(tmp_path):
    path = tmp_path / "match.txt"
    result = play_match(TWO, ["greedy", "random"], games=6, seed=2, records=path)
    records = list(read_records(path))
    assert len(records) == result.games
    assert {record.players for record in records} == {("greedy", "random"), ("random", "greedy")}
    wins = sum(record.returns[record.players.index("greedy")] == 1 for record in records)
    assert wins == result.standings[0].wins


def test_a_full_disk_keeps_the_earlier_records(text, tmp_path, monkeypatch):
    """Regression: half a line remained, so records added after it could not be read."""
    path = tmp_path / "games.txt"
    append_records(path, [text])
    opened = open

    class Full:
        def __init__(self, file):
            self._file = file

        def __enter__(self):
            return self

        def __exit__(self, *_error):
            self._file.close()

        def __getattr__(self, name):
            return getattr(self._file, name)

        def write(self, content):
            if len(content) <= 100:
                raise OSError(errno.ENOSPC, "no space left")
            return self._file.write(content[:100])

    monkeypatch.setattr(
        "armarl.common.files.open", lambda *how, **more: Full(opened(*how, **more)), raising=False
    )
    with pytest.raises(OSError, match="no space left"):
        append_records(path, [text])
    monkeypatch.undo()
    assert path.read_text("utf-8") == text


def test_an_incomplete_record_at_the_end_is_removed_before_new_ones(text, tmp_path):
    path, lines = tmp_path / "games.txt", text.splitlines(keepends=True)
    for rest in ("", "arm", lines[0], "".join(lines[:9]), "".join(lines[:9])[:-5], text[:-10]):
        for before in ("", text):
            path.write_text(before + rest, "utf-8")
            prepare_records(path)
            append_records(path, [text])
            assert path.read_text("utf-8") == before + text
    path.write_text(text[:-1], "utf-8")
    prepare_records(path)
    append_records(path, [text])
    assert len(list(read_records(path))) == 2


@pytest.mark.parametrize("held", ["notes of mine", "armarl-record 12\n", "sum 12\n"])
def test_records_are_only_added_to_records(held, tmp_path):
    path = tmp_path / "notes.txt"
    path.write_text(held, "utf-8")
    with pytest.raises(ValueError, match="does not end with a record"):
        play_match(TWO, ["random", "random"], games=2, records=path)
    assert path.read_text("utf-8") == held
    for other in (tmp_path, tmp_path / "no" / "where.txt"):
        with pytest.raises(ValueError, match="folder"):
            prepare_records(other)


def test_a_record_can_have_a_user_s_dice(tmp_path):
    dice = {"combat": [3, 0, 1, -1, -3, -3], "gold": [12] * 6, "tribes": [0, 1, 6, 12, 0, 3]}
    game = make_game("armada", dice=dice, cards=True, max_turns=8)
    text, final = recorded(game, "greedy")
    assert " | gold 12 tribes " in text
    (record,) = read(tmp_path, text)
    assert record.game is game
    assert record.states[-1].tobytes() == final[0].tobytes()
    assert str(record) == text
    standard = text.replace(f', "dice": {json.dumps(dice)}', "", 1)
    assert standard != text
    with pytest.raises(RecordError, match="line 2: the record was made with observation"):
        read(tmp_path, standard)
    with pytest.raises(RecordError, match="line 2: the variant cannot be made: the combat die"):
        read(tmp_path, text.replace("[3, 0, 1, -1, -3, -3]", "[3]", 1))
    with pytest.raises(RecordError, match="must contain the dice itself in the option dice"):
        read(tmp_path, text.replace(json.dumps(dice), '"/dev/zero"', 1))


FOREIGN = f"notes of mine\nsum {64 * '0'}\nand what follows\n"


@pytest.mark.parametrize(
    "held",
    [
        FOREIGN,
        f"armarl-record 1\n{FOREIGN}",
        "{text}my notes\n",
        "{text}my notes",
        "{text}armarl-record 1\nmy notes\n",
        "{text}armarl-record 1\nmy notes",
        "{half}my notes",
        "{half}my notes\n",
        "{half}0 not an action | 123456789abc\n",
        "mine\n{text}arm",
        "armarl-recorder\n",
    ],
)
def test_text_of_others_is_not_removed(text, held, tmp_path):
    """Regression: text after a line similar to a record's first or last line was removed."""
    half = "".join(text.splitlines(keepends=True)[:9])
    path = tmp_path / "notes.txt"
    path.write_text(held.replace("{text}", text).replace("{half}", text + half), "utf-8")
    before = path.read_bytes()
    with pytest.raises(ValueError, match="does not end with a record"):
        prepare_records(path)
    assert path.read_bytes() == before


def test_errors_are_short_even_for_long_lines(text, tmp_path):
    """Regression: the error quoted a seat of 5,000 digits."""
    lines = text.splitlines(keepends=True)
    for at, line in enumerate(lines):
        for spoilt in (
            "9" * 5000 + line,
            line[:-1] + "9" * 5000 + "\n",
            line[:2] + "x" * 5000 + "\n",
        ):
            with pytest.raises(RecordError) as refused:
                read(tmp_path, "".join([*lines[:at], spoilt, *lines[at + 1 :]]))
            assert len(str(refused.value)) < 800 + len(str(tmp_path))


@pytest.mark.parametrize(
    "spoilt",
    ['"version": false', '"version": 0.0', '"version": 0, "version": 0', '"version": NaN'],
)
def test_a_version_that_only_compares_equal_is_refused(text, spoilt, tmp_path):
    """Regression: `false` was accepted, and so was a key that appeared twice."""
    assert '"version": 0' in text
    lines = text.splitlines()[:-1]
    with pytest.raises(RecordError, match="line 2: "):
        read(tmp_path, resummed([line.replace('"version": 0', spoilt) for line in lines]))


def test_a_record_can_have_a_user_s_chart(tmp_path):
    """Regression: a record with a chart, which is a very long line, could not be read again."""
    chart = STANDARD.read_text("utf-8").replace("Fern", "Farn") + "# \u00e9\U0001f40b\n" * 50_000
    text, _ = recorded(make_game("armada", chart=chart))
    assert max(map(len, text.splitlines())) > 10**6
    (record,) = read(tmp_path, text)
    assert str(record) == text


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes")
def test_a_pipe_that_replaces_a_record_does_not_block(tmp_path, monkeypatch):
    path, is_file = tmp_path / "games.txt", Path.is_file
    path.touch()

    def exchanged(self):
        found = is_file(self)
        if self == path and found:
            path.unlink()
            os.mkfifo(path)
        return found

    def read():
        with pytest.raises(RecordError, match="not a regular file"):
            list(read_records(path))
        read_it.set()

    monkeypatch.setattr(Path, "is_file", exchanged)
    read_it = threading.Event()
    reader = threading.Thread(target=read, daemon=True)
    reader.start()
    reader.join(60)
    assert read_it.is_set()


def test_a_position_record_needs_a_game():
    with pytest.raises(TypeError, match=r"game must be a Game, as make_game returns .* 'armadora'"):
        position_record("armadora", TWO.new_states(np.zeros(1, np.int64))[0])
