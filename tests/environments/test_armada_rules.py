"""Rules of Armada, tested through the PettingZoo environment."""

from __future__ import annotations

import zlib
from typing import Any

import numpy as np
import pytest

from aec_play import is_over
from armarl import armada_v0
from armarl.environments.aec import RawAECEnv
from armarl.players.simple_players import GreedyPlayer
from reference.armada.table import LEFT, Table, last_band_of_orange


def environment(table: Table) -> RawAECEnv:
    """Return an environment that loads a position as a saved game, which checks the position."""
    game = table.match.game
    env = armada_v0.env(players=game.players, **game.options)
    table.legal()
    states = table.match.states.copy()
    states["asked"] = (1 if game.players == 2 else 3) if game.options["cards"] else 0
    record = states.tobytes()
    env.load_state(env._heading() + record + zlib.crc32(record).to_bytes(4, "big"))
    return env


def offered(env: RawAECEnv, verb: str) -> set[str]:
    """Return the legal actions of the agent to move that begin with `verb`, by its mask."""
    mask = env.last()[0]["action_mask"]
    texts = {env.action_text(int(action)) for action in np.flatnonzero(mask)}
    return {text for text in texts if text.startswith(verb)}


def play(env: RawAECEnv, *texts: str) -> None:
    for text in texts:
        env.step(env.action_id(text))


def first_turn(seed: int, **options: Any) -> RawAECEnv:
    """Return an environment after the preliminary turn: a colour's bands are on its last city."""
    env = armada_v0.env(**options)
    env.reset(seed=seed)
    while env.describe()["turn"]["stage"] == "preliminary":
        play(env, sorted(env.describe()["legal"])[0])
    return env


def test_ada_24_scuttling() -> None:
    env = first_turn(seed=1, players=4)
    lands = env.describe()["territories"]
    docked = {name for name, land in lands.items() if land["ship"] and land["owner"] == "green"}
    manned = {name for name, land in lands.items() if land["colour"] == "green"}
    chart = env.chart.as_dict()
    borders = [tuple(border) for border in chart["borders"]]
    near = manned | {a for a, b in borders if b in manned} | {b for a, b in borders if a in manned}
    assert len(docked - near) == 2
    assert offered(env, "scuttle") == set()

    table = Table()
    city = table.cities("orange")[0]
    table.put(city, "orange", ship=True)
    table.put(table.inland(city)[0], "green", 1)
    env = environment(table)
    assert offered(env, "scuttle") == {f"scuttle {city}"}
    play(env, f"scuttle {city}")
    assert env.describe()["box"] == 8


@pytest.mark.parametrize("seed", [18, 21])
def test_ada_32_shipyard_in_the_first_turn_of_three(seed: int) -> None:
    """Regression: the neutral colour's ships never sailed, but they could be taken immediately."""
    env = first_turn(seed, players=3, cards=True)
    view = env.describe()
    holder = next(p for p, hand in enumerate(view["hands"]) if "shipyard" in hand)
    while view["turn"]["player"] != holder or view["turn"]["stage"] != "order":
        play(env, "decline" if view["turn"]["stage"] == "answer" else "end")
        view = env.describe()
    assert view["box"] == 2
    assert offered(env, "play shipyard") == set()


def test_ada_32_shipyard_after_a_ship_was_scuttled() -> None:
    table = Table(3, "orange", cards=True)
    table.hand(0, "shipyard")
    squares = [place for place in table.near if place not in table.chart][:5]
    for square in squares:
        table.sea(square)
    city = table.cities("green")[0]
    table.put(city, "green", 1, ship=True)
    env = environment(table)
    assert offered(env, "play shipyard") == set()
    play(env, f"scuttle {city}")
    assert env.describe()["box"] == 3
    assert offered(env, "play shipyard") == {
        f"play shipyard {name}" for name in table.cities("green")
    }
    play(env, f"play shipyard {city}")
    assert env.describe()["territories"][city]["ship"]
    assert env.describe()["box"] == 2


@pytest.mark.parametrize("players", [2, 3, 4])
def test_ada_32_a_strategist_takes_the_last_card_looked_at(players: int) -> None:
    table = Table(players, "orange" if players == 3 else None, cards=True)
    table.hand(0, "strategist")
    env = environment(table)
    play(env, "play strategist", "peek", "peek")
    looked = env.describe(0)["pending"]["looked"]
    assert len(looked) == 3
    assert env.describe(1)["pending"]["looked"] is None
    assert offered(env, "take") == {"take"}
    play(env, "take")
    view = env.describe()
    assert view["hands"][0] == looked[2:]
    assert view["turn"]["coups"] == 7


def test_ada_28_claims() -> None:
    table = Table()
    centre = table.post("Centre")
    beside = table.inland(centre)[0]
    table.own("green", [table.post("North"), table.post("East")])
    table.put(centre, "tribes")
    table.put(beside, "green", 1)
    env = environment(table)
    at = env.game.observation.slices["claim"]
    claims = lambda agent: env.observe(agent)["observation"][at].tolist()  # noqa: E731
    play(env, f"move {beside} {centre}")
    assert env.describe()["claims"] == env.describe()["new_claims"] == ["green"]
    assert claims("player_0") == [0.5, 0, 0, 0]
    play(env, "end")
    assert not is_over(env)
    assert env.describe()["claims"] == ["green"]
    assert env.describe()["new_claims"] == []
    assert claims("player_0") == [1, 0, 0, 0]
    play(env, "end", "end", "end", "end")
    assert env.describe()["result"]["winners"] == [0]
    assert env.terminations["player_0"]


def test_ada_28_every_claim_of_a_game() -> None:
    """At any time in a game, a colour in victory has a claim, which is judged one turn later."""
    env, rng = armada_v0.env(players=3, cards=True), np.random.default_rng(2)
    env.reset(seed=3)
    player, laid = GreedyPlayer(env.game), 0
    at = env.game.observation.slices
    while not is_over(env):
        before = env.describe()
        seats = np.array([env.possible_agents.index(env.agent_selection)])
        env.step(player.choose(env.concealed_state(), seats, rng.random(1))[0])
        after = env.describe()
        if after["result"]:
            break
        new = set(after["claims"]) - set(before["claims"])
        laid += len(new)
        assert new <= {before["turn"]["colour"]}
        observed = env.observe("player_0")["observation"]
        assert ((observed[at["victory"]] == 1) <= (observed[at["claim"]] > 0)).all()
        # A colour loses its claim only at the end of its turn.
        for colour in set(before["claims"]) - set(after["claims"]):
            assert before["turn"]["colour"] == colour
            assert after["turn"]["number"] > before["turn"]["number"]
    assert laid


@pytest.mark.parametrize("players", [2, 4])
def test_ada_28_a_claim_that_does_not_hold_is_withdrawn(players: int) -> None:
    table = Table(players)
    north = table.post("North")
    beside = table.inland(north)[0]
    table.own("green", [table.post("Centre"), north, table.post("East")])
    table.put(beside, "raspberry", 1)
    table.claims = ["green"]
    table.turn("raspberry", number=1)
    env = environment(table)
    play(env, f"move {beside} {north}", "end", "end", "end")
    view = env.describe()
    assert view["turn"]["colour"] == "green"
    assert view["claims"] == ["green"]
    play(env, "end")
    assert not is_over(env)
    assert env.describe()["claims"] == []


@pytest.mark.parametrize("left", LEFT)
def test_ada_29_the_last_bands(left: str) -> None:
    table, attack = last_band_of_orange(left, attackers=5)
    winners = [0] if left == "nothing" else None
    env = environment(table)
    while not is_over(env) and env.describe()["territories"][attack.split()[2]]["bands"]:
        play(env, attack)
    result = env.describe()["result"]
    assert (result and result["winners"]) == winners
    assert is_over(env) == (winners is not None)
