"""Observations match their declaration: writers fill their blocks; planes and graphs are right."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
import pytest

from armarl.compiler.types import States
from armarl.core.game import Game
from armarl.games.authoring import Block, Blocks, Declared, ObservationTable
from armarl.games.make_game import make_game
from armarl.players.simple_players import RandomPlayer

GAP = 3
VARIANTS: list[tuple[str, dict[str, Any]]] = [
    ("armadora", {"players": 3, "advanced": True}),
    ("armadora", {"players": 2}),
    ("armada", {"players": 3, "cards": True, "enrolment": True}),
    ("armada", {"players": 2}),
]


def played(game: Game, games: int, actions: int) -> States:
    """Return games after some random actions."""
    rng, states, player = (
        np.random.default_rng(1),
        game.new_states(np.arange(games)),
        RandomPlayer(game),
    )
    for _ in range(actions):
        statuses, seats = game.statuses(states)
        going_on = np.flatnonzero(statuses == 0)
        chosen = player.choose(states[going_on], seats[going_on], rng.random(going_on.size))
        game.apply(states, going_on, chosen)
    return states


@pytest.fixture(scope="module")
def apart() -> dict[str, Any]:
    """Run `observe` on each game with gaps between the blocks."""
    return {
        name: importlib.import_module(f"armarl.games.{name}.observation").blocks.observe(
            f"{name}_observe_apart", GAP
        )
        for name in {name for name, _ in VARIANTS}
    }


@pytest.mark.parametrize(("name", "options"), VARIANTS)
def test_each_writer_fills_exactly_its_block(
    name: str, options: dict[str, Any], apart: dict[str, Any]
) -> None:
    game = make_game(name, **options)
    blocks = game.observation.blocks
    for state in played(game, games=3, actions=60):
        for seat in range(game.players):
            out = np.full(game.observation.size + GAP * (len(blocks) + 1), np.nan, np.float32)
            apart[name](state, seat, out, *game.fixed_records)
            expected = game.views(np.array([state]), np.array([seat]))[0][0]
            end = 0
            for block in blocks:
                start = end + GAP
                end = start + block.size
                assert np.isnan(out[start - GAP : start]).all(), f"before {block.name}"
                whole = game.observation.slices[block.name]
                assert np.array_equal(out[start:end], expected[whole]), block.name
            assert np.isnan(out[end:]).all()


@pytest.mark.parametrize("block", [Block("one", (2,), 1, 1, "public", "a test"), "one", None])
def test_a_block_that_is_not_declared_for_all_variants_is_refused(block: Any) -> None:
    """Regression: `add` accepted a `Block`, and `table` failed with an AttributeError."""
    blocks = Blocks(lambda s, seat: seat)
    with pytest.raises(TypeError, match=r"a block must be a Declared, .* not "):
        blocks.add(Declared("first", (2,), 1, "a test"), block)


def test_a_table_without_a_board_has_no_cells() -> None:
    """Regression: the errors were AssertionErrors without text."""
    table = ObservationTable([Block("one", (2,), 1, 1, "public", "a test")])
    for cells in (lambda: table.cell_features, lambda: table.cell_index):
        with pytest.raises(ValueError, match="need a board, but this game has none; other_feat"):
            cells()
    assert table.other_features == ("one[0]", "one[1]")


# --- Armadora as planes --------------------------------------------------------------------------


def square(name: str) -> tuple[int, int]:
    """Return the row and column of a square."""
    return int(name[1]) - 1, "abcdefgh".index(name[0])


def test_armadora_can_be_seen_as_planes() -> None:
    game = make_game("armadora", players=3, advanced=True)
    states = played(game, games=8, actions=40)
    seats = np.arange(8) % 3
    observations = game.views(states, seats)[0]
    planes, others = game.observation.grid(observations)
    names = game.observation.cell_features
    assert planes.shape == (8, len(names), 5, 8)
    assert planes.dtype == others.dtype == np.float32
    assert others.shape == (8, len(game.observation.other_features))
    for state, seat, of_game, rest in zip(states, seats, planes, others, strict=True):
        plane = dict(zip(names, of_game, strict=True))
        other = dict(zip(game.observation.other_features, rest, strict=True))
        view = game.describe(state, int(seat))
        expected = {name: np.zeros((5, 8)) for name in names if not name.startswith("territory")}
        del expected["open_lines_east"], expected["open_lines_south"]
        for mine, gold in view["gold"].items():
            expected["gold"][square(mine)] = gold / 7
        for line in view["palisades"]:
            (row, column), (below, _) = map(square, line.split("-"))
            expected["palisades_south" if below > row else "palisades_east"][row, column] = 1
        for site, warrior in view["warriors"].items():
            who = (warrior["player"] - seat) % 3
            expected[f"warriors[{who}]"][square(site)] = 1
            expected["values"][square(site)] = (warrior["value"] or 0) / 5
            expected["face_up"][square(site)] = warrior["face_up"]
            expected["arrows"][square(site)] = warrior["arrows"] / 2
            if warrior["reinforcement"] is not None:
                who = (warrior["reinforcement"] - seat) % 3
                expected[f"reinforced[{who}]"][square(site)] = 1
        for player, sites in enumerate(view["seen"]):
            for site in sites:
                expected[f"read[{(player - seat) % 3}]"][square(site)] = 1
        for name, numbers in expected.items():
            assert np.allclose(plane[name], numbers), name
        assert set(np.unique(plane["territory_size"] * 40)) <= set(range(1, 41))
        assert other["hand_sizes[1]"] == np.float32(view["hand_sizes"][(seat + 1) % 3] / 16)
        assert other["palisades_left"] == np.float32(view["palisades_left"] / 35)
    one = game.observation.grid(observations[0])
    assert np.array_equal(one.planes, planes[0])
    assert np.array_equal(one.others, others[0])
    with pytest.raises(ValueError, match="needs a board that is a graph"):
        game.observation.graph(observations)


def test_observations_of_another_number_of_players_are_refused() -> None:
    table = make_game("armadora", players=2).observation
    larger, seat = make_game("armadora", players=3), np.zeros(1, np.int64)
    other = larger.views(larger.new_states(0), seat)[0]
    for read in (table.views, table.decode, table.grid):
        with pytest.raises(
            ValueError, match=rf"have {table.size} numbers in the last axis, not shape \(1, "
        ):
            read(other)
        with pytest.raises(ValueError, match=r"numbers in the last axis, not shape \(5,\)"):
            read(np.zeros(5, np.float32))
        with pytest.raises(TypeError, match=r"not dict; with PettingZoo use observation\["):
            read({"observation": np.zeros(table.size, np.float32)})  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="in the last axis, not shape"):
        make_game("armada", players=2).observation.graph(np.zeros((3, 5), np.float32))


def test_planes_and_nodes_can_be_torch_tensors() -> None:
    torch = pytest.importorskip("torch")
    for name, form in (("armadora", "grid"), ("armada", "graph")):
        game = make_game(name)
        observations = game.views(game.new_states(np.arange(6)), np.zeros(6, int))[0].reshape(
            2, 3, -1
        )
        for ours, theirs in zip(
            getattr(game.observation, form)(observations)[:2],
            getattr(game.observation, form)(torch.from_numpy(observations))[:2],
            strict=True,
        ):
            assert theirs.dtype == torch.float32
            assert np.array_equal(theirs.numpy(), ours)


# --- Armada as a graph ---------------------------------------------------------------------------


def test_armada_can_be_seen_as_a_graph() -> None:
    game = make_game("armada", players=2, cards=True)
    chart = game.attributes["chart"]
    states = played(game, games=6, actions=300)
    seats = np.arange(6) % 2
    observations = game.views(states, seats)[0]
    graph = game.observation.graph(observations)
    game.observation.graph(observations).edges[:] += 1000  # the caller changes its own copy
    assert graph.edges.max() < len(chart.places)
    assert np.array_equal(graph.edges, game.observation.graph(observations).edges)
    names = game.observation.cell_features
    assert graph.nodes.shape == (6, len(chart.places), len(names))
    assert graph.others.shape == (6, len(game.observation.other_features))
    colours = ["green", "raspberry", "blue", "orange"]
    for state, seat, nodes in zip(states, seats, graph.nodes, strict=True):
        view = game.describe(state, int(seat))
        blocks = game.observation.views(game.views(np.array([state]), np.array([seat]))[0][0])
        own = int(blocks["colour"].argmax())
        for place, features in zip(chart.places, nodes, strict=True):
            node = dict(zip(names, features, strict=True))
            land, ship = view["territories"].get(place), view["ships"].get(place)
            here = land or ship or {"bands": 0, "colour": None, "gold": 0}
            for k in range(4):
                colour = colours[(own + k) % 4]
                bands = here["bands"] if here["colour"] == colour else 0
                assert node[f"bands[{k}]"] == np.float32(bands / 10)
                assert node[f"owner[{k}]"] == (land is not None and land["owner"] == colour)
                lair = chart.territories[chart.places.index(place)].lair if land else None
                assert node[f"lair[{k}]"] == (lair == colour)
            assert node["gold"] == np.float32(here["gold"] / 10)
            assert node["ship"] == bool(ship or (land and land["ship"]))
            central = land is not None and place.startswith("C")
            assert node["explored"] == (central and land["explored"])
            assert node["tribes"] == (land["tribes"] / 4 if central else 0)
    with pytest.raises(ValueError, match="needs a board that is a grid"):
        game.observation.grid(observations)


def test_the_edges_of_armadas_graph_are_the_borders() -> None:
    game = make_game("armada")
    chart = game.attributes["chart"]
    graph = game.observation.graph(np.zeros(game.observation.size, np.float32))
    borders = {(a, b) for a, near in enumerate(chart.neighbours) for b in near}
    assert set(zip(*graph.edges.tolist(), strict=True)) == borders
    assert graph.edges.shape == (2, len(borders))
    for (a, b), kind in zip(graph.edges.T.tolist(), graph.edge_kinds, strict=True):
        names = ["sea" if chart.is_sea(place) else "land" for place in (a, b)]
        assert game.observation.board.kinds[kind] == " to ".join(names)
    constants = dict(zip(game.observation.board.constants, graph.constants.T, strict=True))
    assert [int(numbers.sum()) for numbers in constants.values()] == [len(chart.sea), 12, 1, 4]


# --- places of actions ---------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "options"), VARIANTS)
def test_actions_have_the_right_places(name: str, options: dict[str, Any]) -> None:
    game = make_game(name, **options)
    if name == "armadora":
        cells = [f"{column}{row}" for row in "12345" for column in "abcdefgh"]
    else:
        cells = list(game.attributes["chart"].places)
    origins, targets, edges = game.actions.places
    assert origins.shape == targets.shape == edges.shape == (len(game.actions),)
    edge_of = {}
    for text, origin, target, edge in zip(game.actions.texts, *game.actions.places, strict=True):
        named = [cells.index(word) for word in text.replace("-", " ").split() if word in cells]
        assert named == [place for place in (origin, target) if place >= 0], text
        if edge >= 0:
            assert edge_of.setdefault(edge, (origin, target)) == (origin, target)
        if text.split()[0] in ("P", "orc", "move", "attack", "sail", "launch"):
            assert origin >= 0
            assert edge >= 0
    if name == "armada":
        graph = game.observation.graph(np.zeros(game.observation.size, np.float32))
        along = edges >= 0
        assert np.array_equal(graph.edges[:, edges[along]], [origins[along], targets[along]])
