"""Players by their names, and their thoughts."""

import re
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import armarl
import tiny
from armarl import play_match
from armarl.armadora_v0 import env as make_env
from armarl.environments.seat_env import SeatEnv
from armarl.games.make_game import make_game
from armarl.players import registry
from armarl.players.player_specs import Part, Spec, as_spec
from armarl.players.protocol import Thinker
from armarl.players.registry import register_player
from armarl.players.simple_players import GreedyPlayer, PatientPlayer, RandomPlayer
from armarl.players.wrappers import NoisyPlayer
from armarl.policies.network_players import JudgingPlayer
from armarl.policies.paths import label, policy_path
from armarl.policies.saved_policy import load_policy
from armarl.roster.make_player import make_player

TWO = make_game("armadora")


# --- grammar -------------------------------------------------------------------------------------


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
def test_specifications_are_parsed(text, spec):
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
def test_text_with_quotes_is_parsed_and_written_unchanged(text):
    spec = Spec.parse(text)
    assert Spec.parse(str(spec)) == spec


@given(st.builds(Spec, parts, st.lists(parts, max_size=2).map(tuple)))
def test_a_written_specification_reads_back(spec):
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
        ("greedy:", "greedy has an empty argument"),
        ("greedy:a,,b", "greedy has an empty argument"),
        ("greedy:noise=", "greedy has an empty argument"),
        ("greedy:noise=1,noise=2", "noise appears twice"),
        ("greedy:noise=1,2", "the argument 2 has no name: put it before all named arguments"),
        ('greedy:"a', "a double quote is not closed"),
        ("x" * 5000, "at most 4000 characters"),
    ],
)
def test_text_that_breaks_the_grammar_is_refused(text, reason):
    with pytest.raises(ValueError, match=reason):
        Spec.parse(text)


# --- names ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("gredy", r"unknown player 'gredy' \(did you mean greedy\?\); choose from random, greedy,"),
        ("armadora-advanced-4p", r"did you mean armadora-4p-advanced\?"),
        ("armadora2p", r"did you mean armadora-2p\?"),
        ("Armada_2P", r"did you mean armada-2p\?"),
        ("no/such.safetensors", "no such file or folder$"),
        (str(Path(__file__).parent), "this folder has no policy.safetensors$"),
        ("x" * 300, "choose from random, greedy"),
        ("greedy:colour=2", r"greedy does not take 'colour'; it takes .*noise, first_random$"),
        ("random:1,2", "does not take 1; it takes patient, noise, first_random"),
        ("greedy:noise=much", "noise must be a number, not 'much'"),
        (
            "greedy:noise=0.2;style=builder",
            r"^greedy: noise must be a number, not '0\.2;style=builder' "
            r"\(arguments: style, noise, first_random; separate them with commas\)$",
        ),
        (
            "greedy, random",
            r"^unknown player 'greedy, random': give several players as a list with one "
            r"name for each of them: \['greedy', 'random'\]",
        ),
        ("greedy:noise", "noise needs a value: noise="),
        ("armadora-2p:sampel", r"not 'sampel' \(arguments: sample, temperature, noise"),
        ("grave:milliseconds=inf", "milliseconds must be above 0 and finite, got inf"),
        ("greedy:noise=1e999", "noise must be a probability from 0 to 1, not inf"),
        ("greedy:noise=-1e999", "noise must be a probability from 0 to 1, not -inf"),
        ("greedy:noise=nan", "noise must be a number, not 'nan'"),
        ("greedy:first_random=1e999", "first_random must be a whole number, not inf"),
        ("greedy:noise=true", "noise must be a number, not True"),
        ("greedy:noise=1.5", "noise must be a probability from 0 to 1, not 1.5"),
        ("greedy:first_random=0.5", "first_random must be a whole number, not 0.5"),
        ("greedy:first_random=-1", "first_random must be 0 or more"),
        ("random:patient=1", "patient must be true or false, not 1"),
        ("random:patient,patient=true", "patient is given twice"),
        ("greedy+quickly:3", r"unknown wrapper \+quickly; choose from"),
        (
            "no_such_module:Class",
            r"No module named 'no_such_module' \(its folder must be ",
        ),
        ("tiny:NoSuch", "has no attribute 'NoSuch'"),
        ("armadora-2p:temperature=0", "temperature must be above 0"),
    ],
)
def test_unknown_players_are_refused(text, message):
    with pytest.raises(ValueError, match=message):
        make_player(text, TWO)


def test_a_class_that_does_not_accept_the_game_is_refused(monkeypatch):
    """Python's own error, "Bare() takes no arguments", would not mention the game."""
    monkeypatch.setattr(tiny, "Bare", type("Bare", (), {}), raising=False)
    monkeypatch.setattr(tiny, "bare", lambda: tiny.Backwards(TWO), raising=False)
    with pytest.raises(TypeError, match=r"tiny:Bare is called .* write def __init__\(self, game\)"):
        make_player("tiny:Bare", TWO)
    with pytest.raises(TypeError, match=r"is called with the game; write def bare\(game\)$"):
        make_player("tiny:bare", TWO)


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
def test_the_error_for_a_file_that_is_not_a_policy_says_how_to_name_it(
    tmp_path, monkeypatch, text, right
):
    """Regression: the error said that the file was damaged, with a header of more than 4 MiB."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "dir").mkdir()
    for name in ("pl.py", "ok.onnx", "dir/ok.onnx"):
        (tmp_path / name).write_text("class Last: ...")
    with pytest.raises(ValueError, match=rf"write {re.escape(right)}(,|$)"):
        make_player(text, TWO)


@pytest.mark.parametrize(
    "player", ["greedy", "armadora-2p", tiny.Backwards(TWO)], ids=["greedy", "policy", "own"]
)
@pytest.mark.parametrize("game", ["armadora", make_env(), None], ids=["a name", "an env", "None"])
def test_players_of_an_object_that_is_not_a_game_are_refused(player, game):
    """Regression: the first choice failed with names of private attributes."""
    with pytest.raises(TypeError, match=r"game must be a Game, as make_game returns it .*\.game"):
        make_player(player, game)


@pytest.mark.parametrize("wrong", [None, 5, ["greedy"]])
def test_values_that_are_not_players_are_refused(wrong):
    with pytest.raises(TypeError, match="a specification, a path or a Player, not"):
        make_player(wrong, TWO)


def test_the_error_for_a_model_or_function_says_how_to_make_a_player():
    class Model:
        def predict(self, observation):
            raise AssertionError

    with pytest.raises(TypeError, match=r"armarl_training\.sb3\.save_policy\(path, model, game\)"):
        make_player(Model(), TWO)
    with pytest.raises(TypeError, match=r"a `name` and choose\(states, seats, draws\)"):
        make_player(lambda states: states, TWO)
    with pytest.raises(TypeError, match=r"players must be a list, such as \['greedy', 'random'\]"):
        play_match(TWO, "greedy")


@pytest.mark.parametrize("wrong", [('a"b',), ("a", ('"',)), ("a", (), (("key", 'x"'),))])
def test_a_part_has_no_double_quotes(wrong):
    """Regression: the text of the specification could not be parsed."""
    with pytest.raises(ValueError, match=r"must not contain a double quote, but .* does"):
        Part(*wrong)


def test_a_player_must_accept_the_arguments_of_choose():
    class ByObservation:
        name = "by observation"

        def choose(self, observation, mask):
            raise AssertionError

    with pytest.raises(TypeError, match=r"must take \(states, seats, draws\).*game\.views"):
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
def test_a_player_keeps_the_name_by_which_it_was_made(text, kind):
    player = make_player(text, TWO)
    assert type(player) is kind
    assert player.name == text
    assert make_player(Spec.parse(text), TWO).name == text


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
        assert (both.noise, both.player.first_random) == (0.5, 1)  # in either order


def test_annotations_only_for_a_type_checker_are_ignored():
    """Regression: all annotations were evaluated, so some raised a NameError."""
    assert make_player("typed_players:Typed,2", TWO).rank == 2
    with pytest.raises(ValueError, match=r"typed_players:Typed: rank must be a whole number"):
        make_player("typed_players:Typed,rank=x", TWO)


def test_an_argument_of_the_player_is_not_a_wrapper_s():
    """Regression: the player's `noise` was read as a wrapper's, so some actions were random."""
    player = make_player("typed_players:Loud,noise=0.2,first_random=1", TWO)
    assert (type(player).__name__, player.player.noise) == ("OpeningPlayer", 0.2)
    with pytest.raises(
        ValueError, match="Loud does not take 'style'; it takes noise, first_random"
    ):
        make_player("typed_players:Loud,style=x", TWO)


def test_a_player_that_accepts_any_argument_has_a_name():
    player = make_player("typed_players:Open,depth=2,noise=0.5", TWO)
    assert player.player.settings == {"depth": 2}
    with pytest.raises(
        ValueError, match="typed_players:Open does not take 7; it takes noise, first_random"
    ):
        make_player("typed_players:Open,7", TWO)


def test_the_advised_specification_can_be_used():
    """Regression: the advice had colons where the grammar has commas."""
    with pytest.raises(ValueError, match="needs rank: typed_players:needs_more,rank="):
        make_player("typed_players:needs_more", TWO)
    assert make_player("typed_players:needs_more,rank=3", TWO).rank == 3
    for wrong, right in (("rank=3", "rank=..."), ("3", "3")):
        message = f"arguments of your class, as in typed_players:needs_more,{re.escape(right)}$"
        with pytest.raises(ValueError, match=message):
            make_player(f"typed_players:needs_more:{wrong}", TWO)


def test_an_error_in_a_user_s_player_has_its_place():
    """The error names the file and the line, because the command line shows no traceback."""
    with pytest.raises(OSError, match="no such weights") as found:
        make_player("typed_players:Broken", TWO)
    (note,) = found.value.__notes__
    where = r".*typed_players\.py, line \d+, in Broken.__init__"
    assert re.fullmatch(rf"\(while making typed_players:Broken; {where}\)", note)
    with pytest.raises(KeyError) as failed:
        play_match(TWO, ["tiny:Faulty", "random"], games=2)
    assert re.fullmatch(
        r"\(while asking the player 'tiny:Faulty'; .*tiny\.py, line \d+, in Faulty.choose\)",
        failed.value.__notes__[-1],
    )


def test_policies_and_run_folders_are_players(tmp_path):
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
        ("mine/random.safetensors", "random.safetensors"),
        ("runs/armadora-2p/policy.safetensors", "armadora-2p.safetensors"),
        ("armadora-2p", "armadora-2p"),
        (registry.shipped_policies()["armadora-2p"], "armadora-2p"),
        ("j\x1b[31m.safetensors", "j?[31m"),
    ],
    ids=str,
)
def test_names_tell_runs_apart(spec, name):
    """No file name looks like a well-known player, or contains terminal escapes."""
    assert label(as_spec(spec)) == name


def test_best_policies_of_runs_are_told_apart(tmp_path):
    """Regression: the best policies of all runs were called `best`, in tables and in JSON."""
    paths = [tiny.policy(tmp_path / run, TWO, name="best.safetensors") for run in ("c1", "c2")]
    result = play_match(TWO, paths, games=2)
    assert [standing.player for standing in result.standings] == ["c1/best", "c2/best"]
    assert load_policy(paths[0]).name == "c1/best"


def test_code_of_users_needs_permission():
    with pytest.raises(ValueError, match=r"user code \(module:Class\) is not imported here"):
        make_player("tiny:Backwards", TWO, code=False)
    assert make_player("greedy", TWO, code=False).name == "greedy"


@pytest.fixture
def own_registry():
    """Remove the names that a test registers afterwards."""
    names = (registry._players, registry._around)
    before = [dict(registered) for registered in names]
    yield
    for registered, as_before in zip(names, before, strict=True):
        registered.clear()
        registered.update(as_before)


@pytest.mark.usefixtures("own_registry")
def test_users_can_register_names():
    armarl.register_player("backwards", tiny.Backwards)
    register_player("backwards", tiny.Backwards)  # a module may be imported twice
    register_player("stubborn", tiny.stubborn, around=True)
    assert make_player("backwards:2", TWO).rank == 2
    register_player("fourth", partial(tiny.Backwards, rank=4))
    assert make_player("fourth", TWO).rank == 4
    assert make_player("greedy+stubborn:5", TWO).name == "greedy+stubborn:5"
    with pytest.raises(
        ValueError, match="does not take 'depth'; it takes rank, noise, first_random"
    ):
        make_player("backwards:depth=2", TWO)
    with pytest.raises(ValueError, match="stubborn needs times: stubborn:times="):
        make_player("greedy+stubborn", TWO)
    with pytest.raises(ValueError, match="another player has the name 'greedy'"):
        register_player("greedy", tiny.Backwards)
    register_player("fourth", tiny.Backwards, replace=True)  # as when a notebook's cell runs again
    assert make_player("fourth", TWO).rank == 1
    with pytest.raises(ValueError, match="lowercase letters, digits and hyphens"):
        register_player("My Player", tiny.Backwards)
    with pytest.raises(TypeError, match="name must be text, not <class"):
        register_player(tiny.Backwards, "mine")
    with pytest.raises(TypeError, match="mine: the factory must be a class or function"):
        register_player("mine", tiny.Backwards(TWO))
    register_player("greedy", tiny.Backwards, replace=True)
    assert (
        "greedy",
        tiny.Backwards,
        False,
    ) in registry.registered()  # worker processes register these names
    names = ["backwards:1", "greedy+stubborn:5"]
    alone = play_match(TWO, names, games=130, seed=1)
    assert play_match(TWO, names, games=130, seed=1, workers=2) == alone


def test_environments_accept_every_specification():
    env = SeatEnv("armadora", opponents="greedy:noise=0.5,first_random=1")
    assert env.opponents[0].name == "greedy:noise=0.5,first_random=1"
    env.reset(seed=1)


# --- thoughts ------------------------------------------------------------------------------------


def test_a_random_player_gives_uniform_probabilities():
    states, seats = tiny.positions(TWO, 6)
    states[0] = _finished(TWO)
    seats[1] = 1 - seats[1]  # it is not this seat's turn
    seen = TWO.concealed(states, seats)
    player = RandomPlayer(TWO)
    found = player.think(seen, seats, np.zeros(6)).probabilities
    assert not found[:2].any()
    masks = TWO.legal_masks(states)[2:]
    assert np.array_equal(found[2:], masks / masks.sum(axis=1, keepdims=True))
    with pytest.raises(ValueError, match="seats"):
        player.think(seen, seats[:5], np.zeros(6))


def _finished(game):
    states, chance = game.new_states(0), game.new_chance(np.arange(1))
    while game.statuses(states)[0][0] == 0:
        game.apply(states, np.arange(1), game.random_actions(game.legal_masks(states), chance))
    return states[0]


def test_a_policy_gives_its_probabilities_and_values():
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


def test_choose_legally_refuses_what_is_not_a_player_or_a_game():
    states, seats = TWO.new_states(np.arange(2)), np.zeros(2, np.int64)
    for wrong in ("greedy", None, ["greedy"], GreedyPlayer):
        with pytest.raises(
            TypeError, match=r'must be a player, such as make_player\("greedy", game'
        ):
            armarl.choose_legally(wrong, TWO, states, seats, np.zeros(2))
    with pytest.raises(TypeError, match=r"game must be a Game, such as .*, not 'armadora'"):
        armarl.choose_legally(GreedyPlayer(TWO), "armadora", states, seats, np.zeros(2))
