"""Tournaments: pairings, stored results, and reports."""

import itertools
import json
import os
import re
import signal
import subprocess
import sys
import time
import xml.dom.minidom
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import tiny
from armarl.arena import ratings
from armarl.arena import summary as summary_module
from armarl.arena.lineups import lineups, members, tables
from armarl.arena.panel import panel, play_panel
from armarl.arena.play_tournament import play_tournament
from armarl.arena.recorded import recorded_tournaments
from armarl.arena.report import html, write_report
from armarl.arena.summary import _cycles, stronger, summarise
from armarl.arena.tournament_folder import ArenaError, read_tournament
from armarl.cli.__main__ import main
from armarl.games.make_game import make_game
from armarl.matches.records import read_records
from armarl.players.simple_players import RandomPlayer
from armarl.policies.saved_policy import load_policy, save_policy
from armarl.roster.make_player import make_player
from paths import HELPERS
from processes import started, wait_for
from recorded import recorded

TWO, THREE, TEAMS = (make_game("armadora", players=players) for players in (2, 3, 4))
FOUR = make_game("armada", players=4, max_turns=6)


class Named(RandomPlayer):
    """A user's player with a given name."""

    def __init__(self, name, game):
        super().__init__(game)
        self.name = name


# --- lineups -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("game", "entrants", "kind", "mixed", "expected"),
    [
        (TWO, 3, "round-robin", False, [(0, 1), (0, 2), (1, 2)]),
        (TWO, 4, "ladder", False, [(0, 1), (1, 2), (2, 3)]),
        (TWO, 4, "field", False, [(0, 1), (0, 2), (0, 3)]),
        (THREE, 3, "round-robin", False, [(0, 1, 2)]),
        (THREE, 2, "round-robin", False, [(0, 0, 1), (0, 1, 1)]),
        (THREE, 4, "field", False, [(0, 1, 2), (0, 1, 3), (0, 2, 3)]),
        (THREE, 4, "ladder", False, [(0, 1, 2), (1, 2, 3)]),
        (TEAMS, 3, "round-robin", False, [(0, 1), (0, 2), (1, 2)]),
        (TEAMS, 4, "round-robin", True, [(0, 1, 2, 3)]),
        (FOUR, 4, "round-robin", False, [(0, 1, 2, 3)]),
    ],
)
def test_lineups_contain_the_expected_tables(game, entrants, kind, mixed, expected):
    assert lineups(entrants, game, kind, mixed) == expected


@pytest.mark.parametrize(
    ("lineup", "game", "mixed", "every", "count"),
    [
        ((0, 1), TWO, False, False, 2),
        ((0, 1, 2), THREE, False, False, 6),
        ((0, 0, 1), THREE, False, False, 3),
        ((0, 1), TEAMS, False, False, 2),
        ((0, 1, 2, 3), FOUR, False, False, 4),
        ((0, 1, 2, 3), FOUR, False, True, 24),
        ((0, 1, 1, 1), FOUR, False, False, 4),
        ((0, 1, 2, 3), TEAMS, True, True, 24),
    ],
)
def test_tables_are_fair(lineup, game, mixed, every, count):
    """Every player sits equally often in every seat."""
    found = tables(lineup, game, mixed, every)
    assert len(found) == len(set(found)) == count
    for who, times in Counter(lineup).items():
        for seat in range(game.players):
            share = sum(table[seat] == who for table in found) / count
            assert share == pytest.approx(times / len(lineup))
    if not mixed:  # partners are the same player
        for table in found:
            assert len(set(zip(game.sides, table, strict=True))) == len(set(game.sides))


def test_four_players_follow_each_other_equally_often():
    found = tables((0, 1, 2, 3), FOUR)
    pairs = Counter(pair for table in found for pair in itertools.pairwise(table))
    assert set(pairs.values()) == {1}
    assert len(pairs) == 12


def test_members_of_mixed_teams_are_halves():
    found = members([(0, 1, 2, 1)], TEAMS, 3)
    assert found.tolist() == [[[0.5, 0, 0.5], [0, 1, 0]]]


@pytest.mark.parametrize(
    ("entrants", "kind", "message"),
    [
        (1, "round-robin", "at least 2 players, not 1"),
        (3, "cup", "unknown kind of tournament 'cup'"),
        (86, "round-robin", "86 players make 102,340 lineups, but at most 100,000"),
        (101, "ladder", "a tournament takes at most 100 players, not 101"),
    ],
)
def test_invalid_tournaments_are_refused(entrants, kind, message):
    with pytest.raises(ValueError, match=message):
        lineups(entrants, THREE, kind)


def test_the_limit_of_players_depends_on_the_kind_of_tournament():
    """Regression: the limit counted lineups as if all players met all others."""
    found = lineups(86, THREE, "field")
    assert found == [(0, one, other) for one in range(1, 86) for other in range(one + 1, 86)]


# --- tournaments ---------------------------------------------------------------------------------

NAMES = ["random", "random:patient", "greedy"]


@pytest.fixture(scope="module")
def played(tmp_path_factory):
    """Return a tournament that was played in a folder, and the folder."""
    folder = tmp_path_factory.mktemp("arena")
    return play_tournament(TWO, NAMES, 20, seed=4, folder=folder), folder


def test_a_tournament_has_the_same_results_however_it_is_played(played, tmp_path):
    tournament, _ = played
    assert len(tournament.games) == 20 * 3 * 2
    assert play_tournament(TWO, NAMES, 20, seed=4).games == tournament.games
    assert play_tournament(TWO, NAMES, 20, seed=5).games != tournament.games
    short = play_tournament(TWO, NAMES, 16, seed=4, folder=tmp_path)
    assert set(short.games) < set(tournament.games)
    assert play_tournament(TWO, NAMES, 20, seed=4, folder=tmp_path).games == tournament.games


def test_a_tournament_continues_after_a_kill(played, tmp_path):
    """A kill can leave half a line at the end, without records of later games."""
    tournament, folder = played
    for name in ("settings.json", "games.jsonl"):
        (tmp_path / name).write_bytes((folder / name).read_bytes())
    lines = (tmp_path / "games.jsonl").read_bytes()
    (tmp_path / "games.jsonl").write_bytes(lines[: len(lines) // 2])
    calls = []
    again = play_tournament(
        TWO, NAMES, 20, seed=4, folder=tmp_path, progress=lambda *done: calls.append(done)
    )
    assert again.games == tournament.games
    assert 40 < calls[0][0] <= calls[-1][0] == 120
    assert read_tournament(tmp_path) == again


KILLED = """
import os, signal
from pathlib import Path
from armarl import make_game
from armarl.arena.play_tournament import play_tournament

def stop(done, total):
    os.killpg(0, signal.SIGKILL)  # its workers, too

if __name__ == "__main__":
    game = make_game("armadora", players=2)
    play_tournament(game, {names}, 20, seed=4, folder=Path({folder!r}), workers=2, progress=stop)
"""


@pytest.mark.skipif(not hasattr(os, "killpg"), reason="there are no process groups")
def test_workers_end_together_with_the_process_that_waits_for_them(tmp_path):
    program = f"""
import os, signal, sys
from armarl.workers.spread import spread
sys.path += [{str(Path(__file__).parent)!r}, {str(HELPERS)!r}]
from test_arena import stay
if __name__ == "__main__":
    list(spread(stay, [{str(tmp_path)!r}] * 4, 2))
"""
    script = tmp_path / "killed.py"
    script.write_text(program, encoding="utf-8")
    with started([sys.executable, script], stderr=subprocess.PIPE) as process:
        wait_for(lambda: len(list(tmp_path.glob("*.pid"))) >= 2, process, 60)
    workers = [int(path.stem) for path in tmp_path.glob("*.pid")]
    patience = time.monotonic() + 20
    while any(map(alive, workers)):
        assert time.monotonic() < patience, "a worker outlived the process that it works for"
        time.sleep(0.05)


def stay(folder):
    """Report this process, and never end, as the job of a worker."""
    (Path(folder) / f"{os.getpid()}.pid").touch()
    time.sleep(600)


def alive(process):
    """Return whether the process exists and is not a zombie."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    told = Path(f"/proc/{process}/stat")
    return not told.exists() or told.read_text(encoding="utf-8").rsplit(")")[-1].split()[0] != "Z"


def test_a_tournament_killed_with_its_workers_continues(played, tmp_path):
    script, folder = tmp_path / "killed.py", tmp_path / "arena"
    script.write_text(KILLED.format(names=NAMES, folder=str(folder)), "utf-8")
    done = subprocess.run([sys.executable, script], start_new_session=True, timeout=240)
    assert done.returncode == -signal.SIGKILL
    begun = len(read_tournament(folder).games)
    assert 0 < begun < len(played[0].games)
    again = play_tournament(TWO, NAMES, 20, seed=4, folder=folder, workers=2)
    assert again.games == played[0].games


def test_more_deals_do_not_replay_earlier_ones(tmp_path):
    """Regression: the last deal of a job was played again.

    Its records were rewritten, and so were its results in memory. The results may differ, because
    networks compute the deal in another batch.
    """
    options = {"seed": 4, "folder": tmp_path}
    play_tournament(TWO, ["random", "greedy"], 3, **options)
    path = tmp_path / "games.jsonl"
    path.write_text(re.sub('"actions": [0-9]+', '"actions": 7', path.read_text()))
    more = play_tournament(TWO, ["random", "greedy"], 18, **options)
    assert len(more.games) == 36
    assert [game.actions for game in more.games[:6]] == [7] * 6
    assert more == read_tournament(tmp_path)
    names = [f"0000-{first:06d}-{table}.txt" for first in (0, 3, 16) for table in ("0-1", "1-0")]
    assert sorted(path.name for path in (tmp_path / "records").iterdir()) == names
    for name in names[2:]:
        table = (0, 1) if name.endswith("0-1.txt") else (1, 0)
        kept = [len(record.actions) for record in read_records(tmp_path / "records" / name)]
        first = int(name[5:11])
        games = [game for game in more.games if game.table == table and game.deal >= first]
        assert kept == [game.actions for game in games][: len(kept)]


def test_every_game_has_a_record(played):
    tournament, folder = played
    records = [
        record for path in sorted((folder / "records").iterdir()) for record in read_records(path)
    ]
    kept = [
        (record.players, len(record.actions), tuple((value + 1) / 2 for value in record.returns))
        for record in records
    ]
    assert sorted(kept) == sorted(
        (tuple(NAMES[i] for i in game.table), game.actions, game.shares)
        for game in tournament.games
    )


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"seed": 5}, "seed"),
        ({"kind": "field"}, "kind"),
        ({"players": ["greedy", "random"]}, "players"),
        ({"game": THREE}, "variant"),
    ],
)
def test_a_folder_with_another_tournament_is_refused(played, changes, named):
    options = {"game": TWO, "players": NAMES, "seed": 4, "kind": "round-robin"} | changes
    game, players = options.pop("game"), options.pop("players")
    with pytest.raises(ArenaError, match=f"a tournament with a different setting '{named}'"):
        play_tournament(game, players, 20, folder=played[1], **options)


def save_again(path, seed, **details):
    """Overwrite a policy with other weights, or other metadata."""
    save_policy(path, TWO, tiny.tensors(TWO, seed), "tanh", **details)


@pytest.mark.parametrize(
    "how", ["{}", "{}:sample", "{}:noise=0.5", "{}:first_random=1", "{}+search:4"]
)
def test_a_policy_file_with_other_contents_is_another_player(tmp_path, how):
    """Regression: games of the old policy were reported as games of the new one."""
    path, folder = tiny.policy(tmp_path / "mine", TWO), tmp_path / "arena"
    players = [how.format(path.parent), "random"]
    first = play_tournament(TWO, players, 2, folder=folder)
    save_again(path, 0, strength=[], notes="measured since")
    assert play_tournament(TWO, players, 2, folder=folder) == first
    save_again(path, 1)
    name = re.escape(first.players[0])
    for deals in (2, 4):
        with pytest.raises(ArenaError, match=f"another player named {name}: .*another folder"):
            play_tournament(TWO, players, deals, folder=folder)
    assert read_tournament(folder) == first


def test_another_policy_with_the_same_name_is_another_player(tmp_path):
    runs = [
        tiny.policy(tmp_path / name / "seed0", TWO, seed).parent for seed, name in enumerate("AB")
    ]
    play_tournament(TWO, [runs[0], "random"], 2, folder=tmp_path / "arena")
    for other in (runs[1], load_policy(runs[1], TWO), Named("seed0", TWO)):
        with pytest.raises(ArenaError, match="another player named seed0: "):
            play_tournament(TWO, [other, "random"], 2, folder=tmp_path / "arena")
    same = load_policy(runs[0], TWO)
    assert len(play_tournament(TWO, [same, "random"], 3, folder=tmp_path / "arena").games) == 6


def test_players_without_files_have_no_digests(played):
    assert json.loads((played[1] / "settings.json").read_text("utf-8"))["digests"] == {}


def test_a_folder_of_an_earlier_version_can_continue(tmp_path):
    """The folder does not contain the players' digests, and none are added."""
    path, folder = tiny.policy(tmp_path / "mine", TWO), tmp_path / "arena"
    play_tournament(TWO, [path, "random"], 2, folder=folder)
    settings = json.loads((folder / "settings.json").read_text("utf-8"))
    assert settings.pop("digests").keys() == {"mine"}
    (folder / "settings.json").write_text(json.dumps(settings), "utf-8")
    assert len(play_tournament(TWO, [path, "random"], 4, folder=folder).games) == 8
    assert json.loads((folder / "settings.json").read_text("utf-8")) == settings


def test_a_policy_that_is_replaced_during_its_games_is_refused(tmp_path):
    path = tiny.policy(tmp_path / "mine", TWO)
    with pytest.raises(ArenaError, match="mine was replaced during the tournament"):
        play_tournament(TWO, [path, "random"], 32, progress=lambda done, _: save_again(path, done))


@pytest.mark.parametrize("name", ["config.yaml", "policy.safetensors"])
def test_the_folder_of_a_run_is_refused(tmp_path, name):
    """Regression: results were written among the run's files, and its lock was shared."""
    (tmp_path / name).touch()
    with pytest.raises(ArenaError, match=rf"the folder of a training run \(it contains {name}\)"):
        play_tournament(TWO, ["random", "greedy"], 2, folder=tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == [name]
    play_tournament(TWO, ["random", "greedy"], 2, folder=tmp_path / "arena")


@pytest.mark.parametrize("name", ["file", "file/arena"])
def test_a_file_in_place_of_a_folder_is_refused(tmp_path, name):
    (tmp_path / "file").touch()
    with pytest.raises(ArenaError, match="because it is a file: name a folder"):
        play_tournament(TWO, ["random", "greedy"], 2, folder=tmp_path / name)


def test_folders_that_cannot_be_used_are_refused(tmp_path):
    with pytest.raises(ArenaError, match="contains no tournament"):
        read_tournament(tmp_path)
    play_tournament(TWO, ["random", "greedy"], 2, folder=tmp_path)
    (tmp_path / "games.jsonl").write_text('{"lineup": 0}\n')
    with pytest.raises(ArenaError, match=r"games.jsonl, line 1: this is not a game's result"):
        read_tournament(tmp_path)
    (tmp_path / "settings.json").write_text("{")
    with pytest.raises(ArenaError, match="is damaged"):
        read_tournament(tmp_path)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"deals": 0}, "deals must be from 1 to 10000000, not 0"),
        ({"deals": 10**23}, "deals must be from 1 to 10000000"),
        ({"seed": -1}, "seed must be from 0 to"),
        ({"workers": 0}, "workers must be at least 1, not 0"),
    ],
    ids=str,
)
def test_wrong_numbers_are_refused(wrong, message):
    with pytest.raises(ValueError, match=message):
        play_tournament(TWO, ["random", "random"], **{"deals": 1, **wrong})


def test_a_tournament_can_name_its_game():
    named = play_tournament("armadora", ["random", "greedy"], 2, seed=1)
    assert named.games == play_tournament(TWO, ["random", "greedy"], 2, seed=1).games
    with pytest.raises(TypeError, match=r"the name of a game or a Game, as make_game .*, not None"):
        play_tournament(None, ["random", "greedy"])


def test_a_summary_ranks_the_players(played):
    tournament, _ = played
    summary = summarise(tournament, resamples=200)
    assert [tournament.players[i] for i in summary.order()] == [
        "greedy",
        "random:patient",
        "random",
    ]
    assert summary.ratings.players.value[0] == 0  # random
    assert summary.ratings.players.low[2] > 0
    assert summary.games.tolist() == [80, 80, 80]
    greedy = summary.scores.value[2]
    games = [game for game in tournament.games if set(game.table) == {0, 2}]
    assert greedy[0] == pytest.approx(np.mean([game.shares[game.table.index(2)] for game in games]))
    both = summary.scores.value + summary.scores.value.T
    assert both[~np.eye(3, dtype=bool)] == pytest.approx(1)
    assert summary.places.value.sum() == pytest.approx(1)
    data = json.loads(json.dumps(summary.as_dict()))
    assert data["games"] == 120
    assert [entry["player"] for entry in data["players"]] == ["greedy", "random:patient", "random"]
    assert len(data["differences"]) == 6
    assert data["differences"][0]["player"] == "greedy"
    assert data["differences"][0]["other"] == "random:patient"
    strongest, patient, last = (
        line for line in summary.table().splitlines() if line.startswith(("greedy", "random"))
    )
    above, low, high = (int(text) for text in re.findall(r"[+-]\d+", strongest))
    assert low < above < high
    assert above == round(
        data["players"][0]["value"] - data["players"][1]["value"]
    )  # the difference from `random:patient`, the next player
    assert summary.difference(1, 0) in patient
    assert summary.difference(0, 1) not in summary.table()
    assert last.endswith("80")  # the last player
    assert summary.csv().splitlines()[0] == "player,value,low,high,games"
    assert len(summary.csv().splitlines()) == 4


def test_the_report_is_one_self_contained_page(played, tmp_path):
    summary = summarise(played[0], resamples=100)
    page = html(summary)
    for begins in page.split("<svg ")[1:]:
        drawing = "<svg " + begins.split("</svg>")[0] + "</svg>"
        assert xml.dom.minidom.parseString(drawing).getElementsByTagName("svg")
    assert "advanced=False, peek=True" in page  # options are written as in all other places
    few = html(summarise(play_tournament(TWO, NAMES, 2), resamples=100))
    assert " 1 game<" in few
    assert " 1 games" not in page + few
    assert "http" not in page
    assert "src=" not in page
    for name in NAMES:
        assert name in page
    write_report(summary, tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {
        "report.html",
        "ratings.csv",
        "summary.json",
    }


@pytest.mark.parametrize(
    ("game", "every", "said"),
    [
        (TWO, False, "in all seat arrangements; seed"),
        (FOUR, False, "in 4 of 24 seat arrangements; seed"),
        (FOUR, True, "in all seat arrangements; seed"),
    ],
)
def test_the_report_names_the_number_of_arrangements(game, every, said):
    """Regression: it said that all arrangements were played, also with 4 of 24."""
    players = ["random", "random", "random:patient", "random"][: game.players]
    tournament = play_tournament(game, players, 2, every=every)
    assert said in html(summarise(tournament, resamples=2))


@pytest.mark.parametrize("resamples", [0, 1])
def test_the_bootstrap_needs_two_resamples(played, resamples):
    """Regression: the intervals were NaN, or NumPy's error said nothing of resamples."""
    said = f"resamples must be from 2 to 1000000, not {resamples}"
    with pytest.raises(ValueError, match=said):
        summarise(played[0], resamples)


def test_one_name_in_place_of_a_list_is_refused():
    """Regression: the first letter was an unknown player."""
    with pytest.raises(TypeError, match=r"players must be a list, such as \['greedy', 'random'\]"):
        play_tournament(TWO, "greedy")


def test_names_are_escaped_in_the_report(played):
    names = ("<script>", "b", "c")
    summary = summarise(replace(played[0], players=names), resamples=50)
    assert "<script>" not in html(summary)


def test_differences_of_nearly_0_are_written_as_0(played):
    """Regression: equal players had -0 or -3e-14 in the table."""
    summary = summarise(played[0], resamples=100)
    found = summary.ratings.players
    nothing = found._replace(value=np.full(3, -3e-14), low=np.full(3, -0.2))
    summary = replace(summary, ratings=replace(summary.ratings, players=nothing))
    assert [row.split(",")[1] for row in summary.csv().splitlines()[1:]] == ["0.0"] * 3
    for shown in (summary.table(), html(summary)):
        assert not re.search(r"-0\b(?!\.)", shown)


def test_a_copy_of_a_player_gets_an_equal_rating(tmp_path):
    """None of these players draws random numbers, so a copy plays exactly the same games."""
    one, other = (tiny.policy(tmp_path, TWO, k, f"p{k}.safetensors") for k in (1, 2))
    tournament = play_tournament(TWO, [one, other, other], 24, seed=1)
    assert tournament.players == ("p1", "p2", "p2 #2")
    ratings = summarise(tournament, resamples=100).ratings
    assert ratings.differences.value[1, 2] == pytest.approx(0, abs=1e-3)
    assert not ratings.differences.differs[1, 2]
    games = {(game.deal, game.table): game.shares for game in tournament.games}
    for (deal, table), shares in games.items():
        swapped = tuple({1: 2, 2: 1}.get(entrant, entrant) for entrant in table)
        assert games[deal, swapped] == shares
    assert len({shares for (_, table), shares in games.items() if 0 in table}) > 1


@pytest.mark.parametrize(
    ("game", "players", "mixed"),
    [
        (THREE, ["random", "greedy", "random:patient"], False),
        (THREE, ["random", "greedy"], False),
        (TEAMS, ["random", "greedy"], False),
        (TEAMS, ["random", "greedy", "random:patient", "greedy:noise=0.5"], True),
        (FOUR, ["random", "greedy"], False),
    ],
    ids=["3", "A A B", "teams", "mixed", "4"],
)
def test_tournaments_of_all_table_sizes_can_be_rated(game, players, mixed):
    deals = 2 if game is FOUR else 8
    tournament = play_tournament(game, players, deals, mixed=mixed)
    for played in tournament.games:
        assert sum(played.shares) == pytest.approx(1)
    ratings = summarise(tournament, resamples=100).ratings
    if game is not FOUR:  # with four players, two deals give little evidence
        assert ratings.players.value[1] > 50


def test_cycles_are_found():
    beats = np.zeros((5, 5), bool)
    for winner, loser in [(0, 1), (1, 2), (2, 0), (3, 0), (3, 1), (3, 4)]:
        beats[winner, loser] = True
    assert _cycles(beats) == ((0, 1, 2),)
    beats[4, 3] = True
    assert _cycles(beats) == ((0, 1, 2), (3, 4))
    assert _cycles(np.triu(np.ones((5, 5), bool), 1)) == ()


def test_the_search_for_cycles_is_limited_in_time_and_memory():
    """Regression: the search stored all paths. This case has 4 to the 15th paths, and no cycle."""
    rank = np.arange(60) // 4
    assert _cycles(rank[None, :] == rank[:, None] + 1) == ()


def test_portions_of_large_arrays_change_no_result(played, monkeypatch):
    """Arrays of large tournaments are processed in portions, to limit memory."""
    whole = summarise(played[0], resamples=100)
    for module in (ratings, summary_module):
        monkeypatch.setattr(module, "AT_ONCE", 30)
    parts = summarise(played[0], resamples=100)
    for one, other in (
        *zip(whole.ratings.players, parts.ratings.players, strict=True),
        *zip(whole.ratings.differences, parts.ratings.differences, strict=True),
        *zip(whole.scores, parts.scores, strict=True),
    ):
        assert one == pytest.approx(other, abs=0.01, nan_ok=True)
    assert (whole.games == parts.games).all()


def test_a_tournament_can_stop_when_the_result_is_clear():
    calls = []

    def enough(tournament):
        calls.append(stronger(tournament, elo1=100).decided)
        return calls[-1] is not None

    tournament = play_tournament(TWO, ["greedy", "random"], 400, enough=enough)
    assert calls[-1] is True
    assert len(tournament.games) == 2 * 16 * len(calls) < 800


# --- the command line ----------------------------------------------------------------------------


def test_the_command_plays_and_reports_a_tournament(tmp_path, capsys, monkeypatch):
    from armarl.cli.__main__ import main

    monkeypatch.chdir(tmp_path)
    arguments = ["arena", "random", "greedy", "--deals", "6", "--workers", "1", "--folder", "one"]
    assert main(arguments) == 0
    out = capsys.readouterr().out
    assert "round-robin, seed 0: 12 games" in out
    assert "written: one/report.html" in out.replace("\\", "/")
    assert main(["replay", "one/records/0000-000000-0-1.txt"]) == 0
    out = capsys.readouterr().out
    assert out.count("game ") == 6
    assert "game 1: armadora\nplayer 0: random\nplayer 1: greedy\n" in out
    assert main([*arguments[:-2], "--stronger", "50", "--deals", "200"]) == 0
    assert "random is not stronger than greedy, after" in capsys.readouterr().out
    assert main(["arena", "random", "greedy", "greedy", "--stronger", "5"]) == 1
    assert "--stronger compares 2 players, not 3" in capsys.readouterr().err
    path = tmp_path / "one" / "records" / "0000-000000-0-1.txt"
    path.write_text(path.read_text().replace(" W", " V", 1))
    assert main(["replay", str(path)]) == 1
    assert "unknown action 'V" in capsys.readouterr().err


# --- the panel -----------------------------------------------------------------------------------


@pytest.mark.parametrize("game", [TWO, THREE, TEAMS, FOUR], ids=["2", "3", "teams", "4"])
def test_the_panel_is_varied_and_does_not_change(game):
    found = panel(game)
    names = [member.player for member in found]
    assert len(set(names)) == len(names) >= 6
    assert {"random", "random:patient", "greedy"} <= set(names)
    assert 0 < sum(member.held_out for member in found) < len(found) / 2
    for member in found:
        assert make_player(member.player, game, code=False).name == member.player


def test_a_player_can_be_measured_against_the_panel(tmp_path, capsys):
    from armarl.cli.__main__ import main

    result = play_panel(TWO, "greedy", games=20, seed=2)
    rates = [match.standings[0].win_rate for match in result.matches]
    mean, low, high = result.score
    assert mean == pytest.approx(np.mean(rates))
    assert 0 <= low < mean < high <= 1
    held_out = [m.held_out for m in result.members]
    assert result.held_out[0] == pytest.approx(np.mean(np.array(rates)[held_out]))
    assert [match.seed for match in result.matches] == list(range(2, 2 + len(rates)))
    path = tmp_path / "panel.json"
    arguments = ["evaluate", "greedy", "--games", "20", "--workers", "1", "--seed", "2"]
    assert main([*arguments, "--json", str(path)]) == 0
    out = capsys.readouterr().out
    assert "greedy:noise=0.5 (held out)" in out
    assert f"{100 * mean:.1f} %" in out
    assert json.loads(path.read_text("utf-8")) == json.loads(json.dumps(result.as_dict()))


def test_a_seed_too_large_for_a_match_of_the_panel_is_refused():
    """Regression: the results of the matches before the impossible one were lost."""
    told, most = [], 2**63 - len(panel(TWO))
    with pytest.raises(ValueError, match=rf"seed must be from 0 to {most}, not {most + 1}"):
        play_panel(TWO, "random", 2, most + 1, progress=lambda *at: told.append(at))
    assert told == []
    assert play_panel(TWO, "random", 2, most).matches[-1].seed == 2**63 - 1


def test_recorded_games_give_people_ratings_like_players(tmp_path, capsys):
    """A tournament read from records gives the same ratings as the tournament itself."""
    game = make_game("armadora", board="mini")
    played = play_tournament(game, ["random", "greedy"], deals=6, folder=tmp_path / "played")
    files = sorted((tmp_path / "played" / "records").glob("*.txt"))
    records = [record for path in files for record in read_records(path)]
    (found,) = recorded_tournaments(records)
    ours, theirs = summarise(found), summarise(played)
    order = [found.players.index(name) for name in played.players]
    np.testing.assert_allclose(
        ours.ratings.players.value[order], theirs.ratings.players.value, atol=1e-6
    )
    assert ours.games.tolist() == theirs.games.tolist() == [12, 12]

    renamed = [replace(r, players=("Ann", "greedy")) for r in records[:6]]
    three = make_game("armadora", players=3)
    stopped = replace(records[0], ending="stopped")
    both = recorded_tournaments([stopped, *renamed, recorded(three, "random")])
    assert [(one.game.players, len(one.games)) for one in both] == [(2, 6), (3, 1)]
    assert both[0].players == ("Ann", "greedy")

    going = tmp_path / "going.txt"
    going.write_text("".join(f"{line}\n" for line in records[0].lines[:-3]))
    assert main(["arena", "--rate", str(going), *map(str, files)]) == 0
    said = capsys.readouterr().out
    assert "recorded, seed 0: 12 games" in said
    assert "greedy" in said
    assert main(["arena", "--rate", str(going)]) == 1
    assert main(["arena", "random", "--rate", str(files[0])]) == 1
    assert main(["arena"]) == 1
