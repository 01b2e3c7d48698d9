"""Players by name, habits put around them, and what no player can do."""

import os
import re
import subprocess
import sys
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import armarl
import tiny
from armarl.armadora_v0 import env as make_env
from armarl.catalogue import game_entry
from armarl.game import IllegalActionError, make_game
from armarl.matches import play_match
from armarl.network_players import JudgingPlayer
from armarl.players import (
    GreedyPlayer,
    NoisyPlayer,
    PatientPlayer,
    RandomPlayer,
    Thinker,
    as_spec,
    choose_legally,
    label,
    make_player,
    making,
    policy_path,
    register_player,
    split_draws,
)
from armarl.policies import load_policy
from armarl.seat_env import SeatEnv
from armarl.specs import Part, Spec
from variants import KUHN_POKER, every_game, every_variant

TWO, THREE = make_game("armadora"), make_game("armadora", players=3)
SHIPPED = make_game("armadora")


# --- the grammar ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "spec"),
    [
        ("random", Spec(Part("random"))),
        ("greedy:noise=0.2", Spec(Part("greedy", (), (("noise", 0.2),)))),
        ("ismcts:1000,seconds=2", Spec(Part("ismcts", (1000,), (("seconds", 2),)))),
        ("a/b.safetensors:sample", Spec(Part("a/b.safetensors", ("sample",)))),
        (r"C:\a\b.safetensors:sample", Spec(Part(r"C:\a\b.safetensors", ("sample",)))),
        ("armadora-2p+search:200", Spec(Part("armadora-2p"), (Part("search", (200,)),))),
        ("m.n:Class,deep=true", Spec(Part("m.n", ("Class",), (("deep", True),)))),
        ('"a+b:c":"1",k="x,y"', Spec(Part("a+b:c", ("1",), (("k", "x,y"),)))),
    ],
)
def test_the_grammar(text, spec):
    assert Spec.parse(text) == spec
    assert str(spec) == text
    assert Spec.parse(f" {text} ") == spec


values = st.one_of(
    st.booleans(),
    st.integers(-(10**17), 10**17),
    st.floats(min_value=-1e300, allow_nan=False, allow_subnormal=False),
    st.text(st.characters(exclude_characters='"', exclude_categories=["C"]), min_size=1).filter(
        lambda text: text == text.strip()
    ),
)
names = st.text(st.characters(exclude_characters='"', exclude_categories=["C"]), min_size=1).filter(
    lambda text: text == text.strip()
)
keys = st.from_regex(r"[a-z_]+", fullmatch=True)
parts = st.builds(
    Part,
    names,
    st.lists(values, max_size=3).map(tuple),
    st.dictionaries(keys, values, max_size=3).map(lambda found: tuple(found.items())),
)


@pytest.mark.parametrize("text", ['a:x=win",y="', 'a:1,"on"=""', 'a:b"=,+"', 'a:x=""'])
def test_quotes_anywhere_read_as_they_are_written(text):
    spec = Spec.parse(text)
    assert Spec.parse(str(spec)) == spec


@given(st.builds(Spec, parts, st.lists(parts, max_size=2).map(tuple)))
def test_a_specification_reads_as_it_is_written(spec):
    again = Spec.parse(str(spec))
    assert again == spec
    kinds = [[type(value) for value in part.arguments] for part in (again.base, *again.around)]
    assert kinds == [
        [type(value) for value in part.arguments] for part in (spec.base, *spec.around)
    ]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "a name is missing"),
        (":x", "a name is missing"),
        ("greedy+", "a name is missing"),
        ("greedy:", "greedy lacks an argument"),
        ("greedy:a,,b", "greedy lacks an argument"),
        ("greedy:noise=", "greedy lacks an argument"),
        ("greedy:noise=1,noise=2", "noise is given twice"),
        ("greedy:noise=1,2", "2 stands after an argument with a name"),
        ('greedy:"a', "a double quote is not closed"),
        ("x" * 5000, "at most 4000 characters"),
    ],
)
def test_what_breaks_the_grammar(text, reason):
    with pytest.raises(ValueError, match=reason):
        Spec.parse(text)


# --- names ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("gredy", r"no player 'gredy' \(did you mean greedy\?\): there is random, greedy, human"),
        ("armadora-advanced-4p", r"did you mean armadora-4p-advanced\?"),
        ("no/such.safetensors", "that is no file, nor a folder$"),
        (str(Path(__file__).parent), "that holds no policy.safetensors$"),
        ("x" * 300, "there is random, greedy"),
        ("greedy:colour=2", r"greedy takes .*noise, first_random, not 'colour'"),
        ("random:1,2", "takes patient, noise, first_random, not 1"),
        ("greedy:noise=much", "noise takes a number, not 'much'"),
        ("greedy:noise", "noise lacks a value: noise="),
        ("armadora-2p:sampel", r"not 'sampel' \(what there is: sample, temperature, noise"),
        ("grave:milliseconds=inf", "milliseconds must be above 0 and finite, not inf"),
        ("greedy:noise=true", "noise takes a number, not True"),
        ("greedy:noise=1.5", "noise is a probability, in 0 to 1, not 1.5"),
        ("greedy:first_random=0.5", "first_random takes a whole number, not 0.5"),
        ("greedy:first_random=-1", "first_random must be 0 or more"),
        ("random:patient=1", "patient takes true or false, not 1"),
        ("random:patient,patient=true", "patient is given twice"),
        ("greedy+quickly:3", r"no \+quickly: what can be put around a player is"),
        ("no_such_module:Class", "No module named 'no_such_module'"),
        ("tiny:NoSuch", "has no attribute 'NoSuch'"),
        ("armadora-2p:temperature=0", "temperature must be above 0"),
    ],
)
def test_players_that_there_are_not(text, message):
    with pytest.raises(ValueError, match=message):
        make_player(text, TWO)


@pytest.mark.parametrize(
    ("text", "right"),
    [
        ("pl.py:Last", "pl:Last"),
        ("pl.py:Last,rank=2", "pl:Last,rank=2"),
        ("pl.py", "pl:Class"),
        ("./pl.py:Last", "pl:Last"),
        ("ok.onnx", "onnx:ok.onnx"),
        ("ok.onnx:sample", "onnx:ok.onnx,sample"),
        ("dir/ok.onnx", "onnx:dir/ok.onnx"),
    ],
)
def test_files_that_are_no_policies_are_told_how_they_are_named(tmp_path, monkeypatch, text, right):
    """They were called damaged, with a header of more than 4 MiB."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "dir").mkdir()
    for name in ("pl.py", "ok.onnx", "dir/ok.onnx"):
        (tmp_path / name).write_text("class Last: ...")
    with pytest.raises(ValueError, match=rf"by the name {re.escape(right)}(,|$)"):
        make_player(text, TWO)


@pytest.mark.parametrize(
    "player", ["greedy", "armadora-2p", tiny.Backwards(TWO)], ids=["greedy", "policy", "own"]
)
@pytest.mark.parametrize("game", ["armadora", make_env(), None], ids=["a name", "an env", "None"])
def test_players_of_what_is_no_game(player, game):
    """The first choice failed, with words of private attributes."""
    with pytest.raises(TypeError, match=r"game must be a Game, as make_game returns it .*\.game"):
        make_player(player, game)


@pytest.mark.parametrize("wrong", [None, 5, ["greedy"]])
def test_what_is_no_player_at_all(wrong):
    with pytest.raises(TypeError, match="a specification, a path or a Player, not"):
        make_player(wrong, TWO)


def test_a_player_must_take_what_he_is_asked_with():
    class ByObservation:
        name = "by observation"

        def choose(self, observation, mask):
            raise AssertionError

    with pytest.raises(TypeError, match=r"does not take \(states, seats, draws\).*game\.views"):
        make_player(ByObservation(), TWO)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("random", RandomPlayer),
        ("random:patient", PatientPlayer),
        ("greedy", GreedyPlayer),
        ("greedy:noise=0.2", NoisyPlayer),
        ("armadora-2p", JudgingPlayer),
        ("armadora-2p:sample", JudgingPlayer),
        ("tiny:Backwards", tiny.Backwards),
        ("tiny:Backwards,2", tiny.Backwards),
    ],
)
def test_a_player_is_called_what_it_was_called_for_as(text, kind):
    player = make_player(text, SHIPPED)
    assert type(player) is kind
    assert player.name == text
    assert make_player(Spec.parse(text), SHIPPED).name == text


def test_arguments_reach_the_player():
    assert make_player("greedy:noise=0.25", TWO).noise == 0.25
    assert make_player("armadora-2p:sample", TWO).sample
    assert not make_player("armadora-2p", TWO).sample
    warm = make_player("armadora-2p:temperature=2", TWO)
    assert (warm.sample, warm.temperature) == (True, 2)
    assert make_player("tiny:Backwards,2", TWO).rank == 2
    assert make_player("tiny:Backwards,rank=3", TWO).rank == 3
    for habits in ("first_random=1,noise=0.5", "noise=0.5,first_random=1"):
        both = make_player(f"greedy:{habits}", TWO)
        assert (both.noise, both.player.first_random) == (0.5, 1)  # in whatever order


def test_policies_and_run_folders(tmp_path):
    path = tiny.policy(tmp_path / "mine", TWO)
    for found in (path, str(path), path.parent, str(path.parent)):
        assert make_player(found, TWO).name == "mine"
    assert make_player(f"{path}:sample", TWO).name == "mine:sample"
    other = tiny.policy(tmp_path, TWO, name="a+b:c.safetensors")
    assert make_player(other, TWO).name == '"a+b:c"'
    assert make_player(f'"{other}":sample', TWO).sample
    assert policy_path(str(path.parent)) == path
    assert policy_path("greedy") is None


@pytest.mark.parametrize(
    ("spec", "name"),
    [
        ("runs/one/policy.safetensors", "one"),
        ("runs/one/best.safetensors", "one/best"),
        (Path("one") / "best.safetensors", "one/best"),
        ("runs/one/best.safetensors+search:4", "one/best+search:4"),
        ("runs/one/other.safetensors", "other"),
        ("best.safetensors", "best"),
        ("../best.safetensors", "best"),
        ('"a+b/best.safetensors":sample', '"a+b/best":sample'),
    ],
    ids=str,
)
def test_names_tell_runs_apart(spec, name):
    assert label(as_spec(spec)) == name


def test_the_best_of_runs_are_told_apart(tmp_path):
    """All of them were `best`, in tables and in JSON."""
    paths = [tiny.policy(tmp_path / run, TWO, name="best.safetensors") for run in ("c1", "c2")]
    result = play_match(TWO, paths, games=2)
    assert [standing.player for standing in result.standings] == ["c1/best", "c2/best"]
    assert load_policy(paths[0]).name == "c1/best"


def test_code_is_not_run_where_it_is_not_wanted():
    with pytest.raises(ValueError, match="module:Class, is not imported here"):
        make_player("tiny:Backwards", TWO, code=False)
    assert make_player("greedy", TWO, code=False).name == "greedy"


@pytest.fixture
def registry(monkeypatch):
    monkeypatch.setattr(making, "_players", dict(making._players))
    monkeypatch.setattr(making, "_around", dict(making._around))


@pytest.mark.usefixtures("registry")
def test_names_that_users_add():
    armarl.register_player("backwards", tiny.Backwards)
    register_player("backwards", tiny.Backwards)  # a module may be imported twice
    register_player("stubborn", tiny.stubborn, around=True)
    assert make_player("backwards:2", TWO).rank == 2
    register_player("fourth", partial(tiny.Backwards, rank=4))
    assert make_player("fourth", TWO).rank == 4
    assert make_player("greedy+stubborn:5", TWO).name == "greedy+stubborn:5"
    with pytest.raises(ValueError, match="backwards takes rank, noise, first_random, not 'depth'"):
        make_player("backwards:depth=2", TWO)
    with pytest.raises(ValueError, match="stubborn needs times: stubborn:times="):
        make_player("greedy+stubborn", TWO)
    with pytest.raises(ValueError, match="there is a player 'greedy' already"):
        register_player("greedy", tiny.Backwards)
    register_player("fourth", tiny.Backwards, replace=True)  # as one does in a notebook
    assert make_player("fourth", TWO).rank == 1
    with pytest.raises(ValueError, match="small letters, digits and hyphens"):
        register_player("My Player", tiny.Backwards)
    names = ["backwards:1", "greedy+stubborn:5"]
    alone = play_match(TWO, names, games=130, seed=1)
    assert play_match(TWO, names, games=130, seed=1, workers=2) == alone


def test_the_environments_take_every_specification():
    env = SeatEnv("armadora", opponents="greedy:noise=0.5,first_random=1")
    assert env.opponents[0].name == "greedy:noise=0.5,first_random=1"
    env.reset(seed=1)


# --- habits --------------------------------------------------------------------------------------


@every_variant
def test_habits_choose_legally_and_by_their_draws_alone(variant):
    game = variant.make()
    states, seats = tiny.positions(game, 20)
    seen, draws = game.concealed(states, seats), np.linspace(0, 0.999, seats.size)
    texts = ["greedy:noise=0.5", "random:noise=1"]
    if game_entry(game.name).part("rivals"):
        texts += ["random:patient", "greedy:first_random=2"]
    for text in texts:
        player = make_player(text, game)
        chosen = choose_legally(player, game, seen, seats, draws)
        order = np.arange(seats.size)[::-1]
        shuffled = choose_legally(player, game, game.taken(seen, order), seats[order], draws[order])
        assert np.array_equal(chosen[order], shuffled)


@every_game
def test_noise(variant):
    game = variant.make()
    states, seats = tiny.positions(game, seed=3)
    many = game.taken(game.concealed(states, seats), np.zeros(4000, int))
    seats, draws = np.repeat(seats[:1], 4000), np.random.default_rng(0).random(4000)
    calm, wild = (make_player(f"greedy:noise={noise}", game) for noise in (0, 1))
    greedy = GreedyPlayer(game).choose(many, seats, split_draws(draws)[1])
    assert np.array_equal(calm.choose(many, seats, draws), greedy)
    counts = np.unique(wild.choose(many, seats, draws), return_counts=True)[1]
    legal = int(game.legal_masks(many[:1]).sum())
    assert counts.size > 0.9 * legal  # all of them, but for chance
    half = make_player("greedy:noise=0.5", game).choose(many, seats, draws)
    likely = 0.5 + 0.5 * np.isin(wild.choose(many, seats, draws), greedy).mean()
    assert (half == greedy).mean() == pytest.approx(likely, abs=0.05)


def test_split_draws_are_uniform_and_independent():
    one, other = split_draws(np.random.default_rng(1).random(100_000))
    for numbers in (one, other):
        assert 0 <= numbers.min() < numbers.max() < 1
        assert np.abs(np.histogram(numbers, 20)[0] - 5000).max() < 400
    assert abs(np.corrcoef(one, other)[0, 1]) < 0.02
    near = split_draws(np.arange(1000) * 2.0**-53)[0]  # neighbouring draws
    assert np.abs(np.histogram(near, 10)[0] - 100).max() < 50


def test_a_patient_player_passes_last():
    game, player = TWO, make_player("random:patient", TWO)
    states = game.new_states(np.arange(40))
    passing, chance = game.actions.id("pass"), game.new_chance(np.arange(40))
    while (running := np.flatnonzero(game.statuses(states)[0] == 0)).size:
        masks = game.legal_masks(game.taken(states, running))
        seen, seats, draws = game.questions(states, running, chance)
        actions = choose_legally(player, game, seen, seats, draws)
        gave_up = actions == passing
        assert (masks[gave_up].sum(axis=1) == 1).all()
        game.apply(states, running, actions)


def test_a_random_opening():
    """At random until the seat has a Warrior on the board; greedy from then on."""
    game = TWO
    states = game.new_states(np.arange(200))
    seats, draws = np.zeros(200, int), np.random.default_rng(2).random(200)
    opening = make_player("greedy:first_random=1", game)
    seen = game.concealed(states, seats)
    assert np.array_equal(
        opening.choose(seen, seats, draws), RandomPlayer(game).choose(seen, seats, draws)
    )
    for text in ("W1 a1", "W1 b1"):
        game.apply(states, np.arange(200), np.full(200, game.actions.id(text)))
    seen = game.concealed(states, seats)
    greedy = GreedyPlayer(game).choose(seen, seats, draws)
    assert np.array_equal(opening.choose(seen, seats, draws), greedy)
    twice = make_player("greedy:first_random=2", game)
    assert not np.array_equal(twice.choose(seen, seats, draws), greedy)


@every_variant
def test_how_far_a_seat_has_come_never_falls_and_all_can_see_it(variant):
    game, rng = variant.make(), np.random.default_rng(4)
    states = game.new_states(np.arange(8))
    seats = np.repeat(np.arange(game.players), states.size)
    before = np.zeros(seats.size, np.int64)
    assert not game.progress(game.taken(states, seats), seats).any()
    for _ in range(60):
        each = game.taken(states, np.tile(np.arange(states.size), game.players))
        progress = game.progress(each, seats)
        assert (progress >= before).all()
        for eye in range(game.players):
            hidden = game.concealed(each, np.full(seats.size, eye))
            assert np.array_equal(game.progress(hidden, seats), progress)
        before = progress
        if not (running := np.flatnonzero(game.statuses(states)[0] == 0)).size:
            break
        masks = game.legal_masks(game.taken(states, running))
        game.apply(states, running, tiny.random_actions(masks, rng))
    assert (before.max() > 0) == game.has_progress


def test_a_game_that_does_not_say_how_far_a_seat_has_come_has_no_random_openings():
    with pytest.raises(ValueError, match="first_random goes by the verb `progress`, which kuhn_p"):
        make_player("greedy:first_random=1", KUHN_POKER[0].make())


def test_a_random_preliminary_turn():
    game = make_game("armada", max_turns=6)
    states = game.new_states(np.arange(50))
    seats, draws = game.statuses(states)[1], np.random.default_rng(2).random(50)
    opening = make_player("greedy:first_random=1", game)
    seen = game.concealed(states, seats)
    assert np.array_equal(
        opening.choose(seen, seats, draws), RandomPlayer(game).choose(seen, seats, draws)
    )


# --- thoughts ------------------------------------------------------------------------------------


def test_what_a_policy_thinks():
    player = tiny.network(TWO)
    states, seats = tiny.positions(TWO, 10)
    seen = TWO.concealed(states, seats)
    draws = np.zeros(seats.size)
    assert isinstance(player, Thinker)
    thoughts = player.think(seen, seats, draws)
    masks = TWO.legal_masks(states)
    assert thoughts.probabilities.shape == masks.shape
    assert thoughts.probabilities.sum(axis=1) == pytest.approx(1)
    assert (thoughts.probabilities[masks == 0] == 0).all()
    assert np.array_equal(thoughts.probabilities.argmax(axis=1), player.choose(seen, seats, draws))
    assert np.allclose(thoughts.value, player.values(seen, seats))


# --- no player can cheat -------------------------------------------------------------------------


class Painter:
    """Writes into whatever he is given, to be allowed what he wants."""

    name = "painter"

    def __init__(self, game, action):
        self.game, self.action = game, action

    def choose(self, states, seats, draws):
        raw = states.view(np.uint8)
        raw[:] = np.random.default_rng(0).integers(0, 256, raw.size, np.uint8)
        states[:] = self.game.new_states(np.arange(states.size))  # where it is legal
        seats[:], draws[:] = 0, 0
        return np.full(states.size, self.action)


def test_a_player_who_writes_into_what_he_is_given():
    """He may not play what is legal only in the states that he has painted."""
    game = TWO
    states, only, chance = game.new_states(1), np.zeros(1, int), game.new_chance(np.ones(1, int))
    wanted = game.actions.id("W1 a1")
    game.apply(states, only, np.array([wanted]))
    before = states.tobytes()
    with pytest.raises(IllegalActionError, match="'painter' of seat 1: `W1 a1` is illegal"):
        choose_legally(Painter(game, wanted), game, *game.questions(states, only, chance))
    assert states.tobytes() == before


def test_a_painter_s_opponents_see_the_game_as_it_is():
    """What a painter does to his arrays changes nothing for the rest of the game."""
    game = TWO
    passing = game.actions.id("pass")

    class Passing:
        name = "painter"

        def choose(self, states, seats, draws):
            return np.full(states.size, passing)

    honest = play_match(game, [Passing(), "greedy"], games=20, seed=1)
    assert play_match(game, [Painter(game, passing), "greedy"], games=20, seed=1) == honest


def test_actions_that_change_after_the_check():
    game, kept = TWO, []

    class Late:
        name = "late"

        def choose(self, states, seats, draws):
            kept.append(np.zeros(states.size, np.int64))
            return kept[-1]

    states = game.concealed(game.new_states(1), np.zeros(1, int))
    chosen = choose_legally(Late(), game, states, np.zeros(1, int), np.zeros(1))
    kept[-1][:] = 10**6
    assert chosen[0] == 0


@pytest.mark.parametrize(
    ("answer", "error", "message"),
    [
        (np.zeros(2, int), ValueError, "actions of shape"),
        (np.zeros(1), TypeError, "chose float64s: actions are integers"),
        (np.zeros(1, bool), TypeError, "chose bools"),
        (np.array([-1]), IllegalActionError, "there is no action -1"),
        (np.array([2**63], np.uint64), IllegalActionError, "there is no action"),
    ],
)
def test_answers_that_are_none(answer, error, message):
    class Odd:
        name = "odd"

        def choose(self, states, seats, draws):
            return answer

    states = TWO.concealed(TWO.new_states(1), np.zeros(1, int))
    with pytest.raises(error, match=message):
        choose_legally(Odd(), TWO, states, np.zeros(1, int), np.zeros(1))


def test_a_player_of_another_variant_is_refused():
    """He would read and write beyond the ends of arrays."""
    advanced = make_game("armadora", advanced=True)
    for wrong in (RandomPlayer(advanced), GreedyPlayer(THREE), tiny.network(advanced)):
        message = f"'{wrong.name}' was made for armadora with [23] players.*; this is armadora"
        with pytest.raises(ValueError, match=message):
            make_player(wrong, TWO)
        with pytest.raises(ValueError, match=message):
            play_match(TWO, [wrong, "random"], games=2)
        with pytest.raises(ValueError, match=message):
            SeatEnv(TWO, opponents=wrong)
        states = TWO.concealed(TWO.new_states(1), np.zeros(1, int))
        with pytest.raises(ValueError, match=message):
            choose_legally(wrong, TWO, states, np.zeros(1, int), np.zeros(1))


# --- worker processes ----------------------------------------------------------------------------

_START = "from armarl import make_game\nfrom armarl.matches import play_match\nimport tiny\n"
_MATCH = "play_match(make_game('armadora'), [{}, 'random'], games=300, workers=2)"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (_MATCH.format("tiny.Killed()"), "a worker process has ended before its work"),
        (_MATCH.format("'random'"), "under `if __name__ == '__main__':`"),
    ],
    ids=["killed", "without a guard"],
)
def test_worker_processes_that_die_end_the_match(tmp_path, text, said):
    guard = "if __name__ == '__main__':\n    " if "Killed" in text else ""
    script = tmp_path / "script.py"
    script.write_text(_START + guard + text + "\n", "utf-8")
    ended = subprocess.run(
        [sys.executable, script],
        capture_output=True,
        text=True,
        timeout=300,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert ended.returncode == 1
    assert said in ended.stderr
