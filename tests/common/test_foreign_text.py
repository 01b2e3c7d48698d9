"""Text that others have written: in JSON, in tables, in pictures and at the terminal."""

from __future__ import annotations

import csv
import io
import xml.dom.minidom

import pytest

from armarl.common import json_text
from armarl.common.csv_table import csv_text
from armarl.common.json_text import read_json, same_json
from armarl.common.messages import tell
from armarl_training.common.svg_plots import picture, text

HOSTILE = "a\x1b[2J\x07\x9b\r\u202e\ufffe\x00b"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ('{"a": 1, "a": 1}', "'a' appears twice"),
        ('[{"b": {"a": 1, "c": 2, "a": 3}}]', "'a' appears twice"),
        ('{"a": NaN}', "NaN is not a JSON number"),
        ("[-Infinity]", "-Infinity is not a JSON number"),
        ("1e999", "1e999 is too large"),
        ("9" * 5000, "Exceeds the limit"),
        ("{", "Expecting property name"),
    ],
)
def test_text_that_is_not_plain_json_is_refused(given: str, said: str) -> None:
    with pytest.raises(ValueError, match=said) as refused:
        read_json(given)
    assert len(str(refused.value)) < 300


def test_plain_json_is_read_as_usual() -> None:
    assert read_json('{"a": [1, 2.5, null, true, "NaN"], "b": {"a": {}}}') == {
        "a": [1, 2.5, None, True, "NaN"],
        "b": {"a": {}},
    }


def test_values_are_equal_if_they_are_written_alike() -> None:
    assert same_json({"a": 0, "b": (1,)}, {"b": [1], "a": 0})
    for one, other in ((0, False), (0, 0.0), (1, True), (None, "null"), ("1", 1)):
        assert not same_json({"a": one}, {"a": other})


@pytest.mark.parametrize("name", ["=1+1", "+x", "-x", "@sum", " =1", "\uff1dx", "-1+1", "=-1"])
def test_a_table_contains_no_formula(name: str) -> None:
    rows = list(csv.reader(io.StringIO(csv_text([name, "x"], [[name, 1], [2, name]]))))
    assert rows == [[f"'{name}", "x"], [f"'{name}", "1"], ["2", f"'{name}"]]


def test_numbers_in_a_table_stay_numbers() -> None:
    numbers = [-1, -2.5, "-3", "-1e-3", None, True]
    assert csv_text(["x"], [[number] for number in numbers]) == 'x\n-1\n-2.5\n-3\n-1e-3\n""\nTrue\n'


def test_a_picture_is_valid_xml_with_any_text() -> None:
    """Regression: a control character, such as one in a stranger's table, made it invalid."""
    drawn = picture(9, 9, [text(1, 1, f"{HOSTILE}<&\"'\ud800")])
    document = xml.dom.minidom.parseString(drawn)
    assert document.getElementsByTagName("text")[0].firstChild.data.startswith("a?[2J??")


def test_printed_text_cannot_control_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    tell(f"{HOSTILE}\nc", end="\r")
    assert capsys.readouterr().out == "a?[2J??????b\nc\r"


@pytest.mark.parametrize("unseen", ["\ufeff", "\u200b", "\u202e", "\0", " \u2066 "])
def test_a_formula_behind_invisible_characters_is_disarmed(unseen):
    assert csv_text(["a"], [[f"{unseen}=1+1"]]).splitlines()[1].strip('"') == f"'{unseen}=1+1"


@pytest.mark.parametrize(
    ("name", "cell"),
    [
        ("x;=1+1", "x;'=1+1"),
        ("x;;  @sum", "x;;'  @sum"),
        ("\t=1", "\t'=1"),
        ("x\r\n-x", "x\r\n'-x"),
        ("=1;=2", "'=1;'=2"),
        ("a;b\tc;-", "a;b\tc;'-"),
        ("[64, -1]", "[64, -1]"),
        (";;", ";;"),
    ],
)
def test_no_part_of_a_cell_is_a_formula(name: str, cell: str) -> None:
    """Regression: some spreadsheets split at semicolons or tabs, and computed the later parts."""
    assert list(csv.reader(io.StringIO(csv_text(["x"], [[name]]), newline="")))[1] == [cell]


@pytest.mark.parametrize("many", ["[],", '{"a":1},', "1,"])
def test_json_with_too_many_values_is_not_parsed(many: str, monkeypatch) -> None:
    """Regression: 16 MB of empty lists became 400 MB before they were counted."""
    monkeypatch.setattr(json_text.json, "loads", None)
    with pytest.raises(ValueError, match="more than 131,072 values"):
        read_json(f"[{many * (3 << 19)}1]")


def test_commas_in_texts_do_not_count_as_values() -> None:
    text = "a chart, [with] {lines}," * 30_000
    assert read_json(json_text.json.dumps([text])) == [text]
