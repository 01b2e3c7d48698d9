"""The command `armarl rules`: games in two minutes, single rules, and unknown subjects."""

from __future__ import annotations

import builtins
import pickle
import re

import pytest

from armarl import GameEntry, IllegalActionError, armadora_v0
from armarl.cli.__main__ import main
from armarl.cli.rules import numbered_rules
from armarl.games import catalogue
from armarl.games.catalogue import game_entry


def said(text: str) -> str:
    """Return the words of an output, without its line breaks."""
    return " ".join(text.split())


@pytest.mark.parametrize(
    ("game", "words"),
    [("armadora", "The highest total takes all the gold there"), ("Armada", "You have ten coups")],
)
def test_a_game_is_explained_in_two_minutes(
    game: str, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["rules", game]) == 0
    shown = said(capsys.readouterr().out)
    assert words in shown
    assert ".svg" not in shown
    assert len(shown.split()) < 600  # two minutes if it is read aloud


@pytest.mark.parametrize("number", ["ARM-12", "arm-12", "ARM12"])
def test_one_rule_can_be_printed(number: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rules", number]) == 0
    shown = said(capsys.readouterr().out)
    assert shown.startswith("ARM-12 A palisade may go on any free line")
    assert "ARM-13" not in shown


def test_a_rule_is_printed_with_its_table(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rules", "ADA-32", "ADA-1"]) == 0
    shown = said(capsys.readouterr().out)
    assert "mutiny" in shown
    assert shown.endswith("52 territories in all.")


@pytest.mark.parametrize(("game", "numbers"), [("armadora", 36), ("armada", 37)])
def test_every_rule_can_be_printed(
    game: str, numbers: int, capsys: pytest.CaptureFixture[str]
) -> None:
    assert len(numbered_rules(game_entry(game).page("rules.md"))) == numbers
    assert main(["rules", game, "--all"]) == 0
    shown = capsys.readouterr().out
    assert len(set(re.findall(r"^ • (?:ARM|ADA)-\d+", shown, re.MULTILINE))) == numbers


def test_a_call_without_a_subject_lists_the_subjects(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rules"]) == 0
    shown = said(capsys.readouterr().out)
    assert "armarl rules armadora" in shown
    assert "up to ARM-36" in shown


def test_the_page_is_printed_even_without_rich(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    found = builtins.__import__

    def without(name: str, *rest: object) -> object:
        if name.startswith("rich"):
            raise ImportError(name)
        return found(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    assert main(["rules", "ARM-5"]) == 0
    assert capsys.readouterr().out.startswith("**ARM-5** The supply is 35 palisades")


@pytest.mark.parametrize(
    ("subject", "words"),
    [
        ("armadara", "neither a game nor the number of a rule (did you mean armadora?)"),
        ("AMR-12", "(did you mean ARM-12?); choose from armadora, armada"),
        ("ADA-99", "there is no rule ADA-99; choose from ADA-1 to ADA-37"),
    ],
)
def test_an_unknown_subject_is_refused(
    subject: str, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["rules", subject]) == 1
    assert words in capsys.readouterr().err


def test_a_game_without_pages_has_no_rules_to_print(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    entry = GameEntry("bare", "armarl.common", "Bare", "no pages", (2,))
    monkeypatch.setitem(catalogue._entries, "bare", entry)
    assert main(["rules", "bare"]) == 1
    assert "the package of bare has no rules page" in capsys.readouterr().err
    assert main(["rules"]) == 0
    assert "bare" not in capsys.readouterr().out


def test_an_illegal_action_names_the_command_for_its_rule() -> None:
    env = armadora_v0.raw_env()
    env.reset(seed=0)
    env.step(env.action_id("W1 a1"))
    with pytest.raises(IllegalActionError, match="ARM-11") as caught:
        env.step(env.action_id("W2 a1"))
    notes = ["`armarl rules ARM-11` prints what the rules say"]
    assert caught.value.__notes__ == notes
    assert pickle.loads(pickle.dumps(caught.value)).__notes__ == notes
    assert not hasattr(IllegalActionError("no number"), "__notes__")
