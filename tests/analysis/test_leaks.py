"""The leak check finds leaks, and finds none in our games."""

import numpy as np
import pytest

import armarl
from armarl.analysis.leaks import Leak, assert_no_leak, find_leaks, views_of, views_of_env
from armarl.games.make_game import make_game
from variants import every_rich_game, every_variant

GAME = make_game("armadora")


@every_variant
def test_no_seat_sees_hidden_information(variant):
    every = {"armadora": 7, "armada": 41}.get(variant.game, 1)
    short = variant.game == "kuhn_poker" or variant.options.get("board") == "mini"
    compared = assert_no_leak(variant.make(), games=9 if short else 1, every=every, seed=11)
    hidden = variant.game != "armada" or variant.options["cards"]
    assert (compared > 0) == bool(hidden)


@every_rich_game
def test_no_environment_shows_hidden_information(variant):
    """The PettingZoo environment leaks nothing, even in infos and rewards."""
    game, env = variant.make(), variant.aec("raw_env")
    env.reset(seed=4)
    rng = np.random.default_rng(0)
    for _ in range(variant.midgame):
        mask = env.observe(env.agent_selection)["action_mask"]
        env.step(int(rng.choice(np.flatnonzero(mask))))
    states = env._states.copy()
    for seat, agent in enumerate(env.possible_agents):
        saved = []
        for dealt in (states, game.determinised(states, np.array([seat]), np.array([5]))):
            env._states[:] = dealt
            saved.append(env.state_bytes())

        def look(data, agent=agent):
            return views_of_env(lambda: variant.aec("raw_env"), data, agent)

        assert find_leaks(look, *saved) == []


@pytest.mark.parametrize(
    ("leaking", "where"),
    [
        (lambda views, s: {**views, "info": {"value": int(s["value"].sum())}}, "info.value"),
        (lambda views, s: {**views, "picture": str(s["value"])}, "picture"),
        (
            lambda views, s: {
                **views,
                "observation": np.append(views["observation"], np.float32(s["value"][:20].sum())),
            },
            "observation",
        ),
        (lambda views, s: {**views, "list": [1, {"deep": (0, s["hand"][1].tolist())}]}, "list"),
        (lambda views, s: {**views, f"{s['value'].tolist()}": 1}, "nothing"),
        (lambda views, s: {**views, "generator": int(s["rng"])}, "generator"),
    ],
    ids=["info", "picture", "observation", "nested", "a key", "the generator"],
)
def test_every_kind_of_leak_is_found(leaking, where):
    def look(game, states, seat):
        return leaking(views_of(game, states, seat), states[0])

    with pytest.raises(AssertionError, match=rf"(?s)hidden information to seat \d.*{where}"):
        assert_no_leak(GAME, seed=2, look=look)


def test_differences_say_where():
    one = {"a": np.array([[1, 2], [3, 4]]), "b": [1, {"c": "x"}], "d": 1, "e": 5}
    other = {"a": np.array([[1, 2], [0, 4]]), "b": [1, {"c": "y"}], "d": 1.0}
    leaks = find_leaks(lambda views: views, one, other)
    assert leaks == [
        Leak("a[1, 0]", 3, 0),
        Leak("b[1].c", "x", "y"),
        Leak("d", 1, 1.0),
        Leak("e", 5, "nothing"),
    ]
    assert find_leaks(lambda views: views, one, one) == []
    assert str(leaks[1]) == "b[1].c: x or y"


def test_nan_is_no_leak():
    """Regression: NaN differed from NaN."""
    one = {"a": np.array([np.nan, 1]), "b": float("nan"), "c": np.array([np.nan, "x"], object)}
    other = {"a": np.array([np.nan, np.nan]), "b": float("nan"), "c": one["c"].copy()}
    leaks = find_leaks(lambda views: views, one, other)
    assert [leak.where for leak in leaks] == ["a[1]"]


@pytest.mark.parametrize(
    ("game", "options", "error", "message"),
    [
        (GAME, {"players": 7}, TypeError, "a Game contains its options already, so remove players"),
        (GAME, {"every": 0}, ValueError, "every must be from 1 to .*, not 0"),
        ("armadora", {"games": 0}, ValueError, "games must be from 1 to .*, not 0"),
        (GAME, {"games": 1.5}, TypeError, "games must be an integer, not 1.5"),
    ],
)
def test_a_search_that_would_check_nothing_is_refused(game, options, error, message):
    with pytest.raises(error, match=message):
        assert_no_leak(game, **options)


def test_a_game_can_be_given_by_its_name():
    assert armarl.assert_no_leak("armadora", players=3, every=20) > 0
