"""Ratings find known strengths. Their intervals and tests are right as often as they claim."""

import numpy as np
import pytest

import rating_coverage as coverage
from armarl.arena.lineups import members
from armarl.arena.ratings import ELO, Tally, rate
from armarl.arena.stopping import expected_score, is_stronger, log_likelihood_ratio
from armarl.games.make_game import make_game

TWO = make_game("armadora")


def expected_tally(world, deals=50):
    """Return a tally without randomness: the shares of every table are its probabilities."""
    who = world.members()
    scores = who @ (np.array(world.players) / ELO) + np.array(world.places) / ELO
    weights = np.exp(scores)
    shares = weights / weights.sum(axis=1, keepdims=True)
    return Tally(who, np.repeat(1000 * shares[None], deals, axis=0))


@pytest.mark.parametrize("world", coverage.WORLDS, ids=lambda world: world.name)
def test_ratings_find_known_strengths(world):
    found = rate(expected_tally(world), resamples=10)
    strengths, places = np.array(world.players), np.array(world.places)
    assert found.players.value == pytest.approx(strengths - strengths[0], abs=1)
    assert found.seats.value == pytest.approx(places - places.mean(), abs=1)
    assert found.differences.value == pytest.approx(strengths[:, None] - strengths, abs=1)


def test_the_anchor_has_rating_0_without_uncertainty():
    found = rate(expected_tally(coverage.WORLDS[1]), anchor=2, resamples=10)
    for column in found.players:
        assert column[2] == 0
    assert found.players.value[0] == pytest.approx(-360, abs=1)


def test_a_player_that_wins_every_game_has_a_finite_rating():
    who = members([(0, 1), (1, 0)], TWO, 2)
    shares = np.tile([[[0.0, 1.0], [1.0, 0.0]]], (40, 1, 1))
    found = rate(Tally(who, shares), resamples=50)
    assert 500 < found.players.value[1] < 2500
    assert np.isfinite(np.array(found.players)).all()


def test_ratings_need_deals():
    who = members([(0, 1)], TWO, 2)
    with pytest.raises(ValueError, match="at least 2 deals"):
        rate(Tally(who, np.ones((1, 1, 2)) / 2))


def test_a_seed_makes_the_intervals_reproducible():
    tally = coverage.WORLDS[0].simulate(30, np.random.default_rng(0))
    one, again, other = (rate(tally, resamples=50, seed=seed).players.low[1] for seed in (1, 1, 2))
    assert one == again != other


@pytest.mark.parametrize("world", [coverage.WORLDS[i] for i in (0, 6, 9)], ids=lambda w: w.name)
def test_intervals_contain_the_truth(world):
    """`scripts/checks/rating_coverage.py` tests more tournaments, and every world."""
    players, places = coverage.cover(world, 60, 200, seed=3, deals=(40,))
    held = 1 - (players.above + players.below + places.above + places.below) / (
        players.intervals + places.intervals
    )
    assert 0.88 <= held <= 0.99


@pytest.mark.parametrize("world", coverage.LOPSIDED, ids=lambda world: world.name)
def test_intervals_contain_the_truth_even_if_one_side_wins_few_games(world):
    players, places = coverage.cover(world, 40, 50, seed=2, deals=world.deals)
    assert players.held >= 0.93
    assert places.held >= 0.93


def test_equal_results_of_all_deals_leave_the_upper_end_open():
    """All deals have the same result, so the bootstrap would give an interval without width."""
    who = members([(0, 1), (1, 0)], TWO, 2)
    shares = np.tile([[[0.0, 1.0], [1.0, 0.0]]], (10, 1, 1))
    winner = rate(Tally(who, shares), resamples=50).differences
    assert 200 < winner.low[1, 0] < 600  # the wins are 20 of 20 games
    assert winner.high[1, 0] > 2000
    assert winner.error[1, 0] > 0


def test_a_player_that_won_two_deals_is_not_surely_better():
    who = members([(0, 1), (1, 0)], TWO, 2)
    shares = np.tile([[[1.0, 0.0], [1.0, 0.0]]], (2, 1, 1))
    first = rate(Tally(who, shares), resamples=50).seats
    assert first.low[0] < 0 < first.value[0] < first.high[0]
    assert np.isfinite(np.array(first)).all()


def test_equal_results_within_deals_widen_the_intervals():
    """If both games of a deal always have the same result, there is only half the evidence."""
    rng = np.random.default_rng(0)
    who = members([(0, 1), (1, 0)], TWO, 2)
    first = (rng.random(200) < 0.5).astype(float)
    alike = np.stack([np.stack([first, 1 - first], 1), np.stack([1 - first, first], 1)], 1)
    second = (rng.random(200) < 0.5).astype(float)
    apart = np.stack([alike[:, 0], np.stack([1 - second, second], 1)], 1)
    errors = [
        rate(Tally(who, shares), resamples=1000).players.error[1] for shares in (alike, apart)
    ]
    assert errors[0] == pytest.approx(2**0.5 * errors[1], rel=0.15)


# --- stopping ------------------------------------------------------------------------------------


def test_the_likelihood_ratio_of_wins_and_losses_is_binomial():
    """Without draws, the likelihood ratio is that of two binomial distributions."""
    scores = [1.0] * 60 + [0.0] * 40
    plain = 60 * np.log(0.55 / 0.5) + 40 * np.log(0.45 / 0.5)
    assert log_likelihood_ratio(scores, 0.5, 0.55) == pytest.approx(plain, abs=1e-3)
    assert log_likelihood_ratio(scores, 0.55, 0.5) == pytest.approx(-plain, abs=1e-3)


@pytest.mark.parametrize(("elo", "wrong"), [(0, True), (60, False)])
def test_errors_are_as_rare_as_promised(elo, wrong):
    rng, mistakes, deals = np.random.default_rng(1), 0, []
    for _ in range(80):
        draws = rng.random((2000, 2)) < expected_score(elo)
        scores = draws.mean(axis=1)
        for played in range(16, 2001, 16):
            verdict = is_stronger(scores[:played], elo1=60)
            if verdict.decided is not None:
                break
        mistakes += verdict.decided is wrong
        deals.append(verdict.deals)
    assert mistakes <= 10  # the expected number is 4
    assert np.mean(deals) < 500


def test_early_deals_decide_nothing():
    assert is_stronger([]).decided is None
    assert is_stronger([1.0] * 5).decided is None
    assert is_stronger([1.0] * 60).decided is True
    assert is_stronger([0.0] * 60).decided is False


@pytest.mark.parametrize("score", [0.0, 0.5, 1.0])
def test_the_largest_leads_give_a_ratio(score):
    assert np.isfinite(is_stronger([score] * 60, elo0=-2000, elo1=2000).ratio)
    assert np.isfinite(is_stronger([score, 0.5] * 60, elo1=2000).ratio)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"elo0": 5, "elo1": 5}, "elo1 must be above elo0"),
        ({"elo1": float("inf")}, "elo0 and elo1 must be from -2000 to 2000, not 0.0 and inf"),
        ({"elo0": float("nan")}, "elo0 and elo1 must be from -2000 to 2000, not nan"),
        ({"elo0": -1e6}, "elo0 and elo1 must be from -2000 to 2000, not -1000000.0"),
        ({"alpha": 0}, "between 0 and 0.5"),
        ({"beta": 0.7}, "between 0 and 0.5"),
    ],
)
def test_invalid_tests_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        is_stronger([0.5] * 20, **options)
