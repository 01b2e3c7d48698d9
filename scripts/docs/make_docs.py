"""Write generated documentation: `python scripts/docs/make_docs.py`.

The script makes the games' pages, the page of training settings and the page of the Python
interface from the code. It also makes parts of three pages about the shipped policies, and the
policies' training curves, from the policies' files and from results of `armarl exploit`. With
`--check` it writes nothing and fails if a page is out of date.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import gymnasium

from api_page import api_page
from armarl.core.game import Game
from armarl.games.catalogue import OURS, game_entry
from armarl.games.make_game import make_game
from page_parts import filled
from policy_tables import (
    BEST_RESPONSES,
    best_responses,
    cards,
    drawings,
    overview,
    section,
)
from settings_page import settings_page

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"


def game_page(name: str) -> str:
    """Return a game's page: its actions and observation, without and with all options."""
    basic = make_game(name)
    flags = {key: True for key, value in basic.options.items() if value is False}
    full = make_game(name, **flags)
    switched_on = ", ".join(f"`{flag}=True`" for flag in flags)
    lines = [
        f"# {game_entry(name).title}",
        "",
        *_card(basic, full, switched_on),
        "",
        "`scripts/docs/make_docs.py` makes this page from the code.",
        "",
        "## Actions",
        "",
        f"With all options switched on ({switched_on}) there are {len(full.actions)} actions. The "
        f"basic game has {len(basic.actions)}. A variant lacks the actions of an option that is "
        "off. Ids are the same for any number of players.",
        "",
        full.actions.markdown(),
        "",
        "## Observation",
        "",
        "The observation is a flat float32 vector that consists of blocks. Integer features are "
        'divided by the number in the column "divided by". Blocks marked "own" depend on the '
        "private information of the observing seat. In a block per seat or per colour, axis 0 "
        "begins with the observer, and the others follow in play order.",
        "",
        _sizes(name, flags),
        "",
        f"### 2 players, {switched_on}",
        "",
        f"In the basic game the vector ends after `{basic.observation.blocks[-1].name}`. "
        "With more players the blocks per seat are longer.",
        "",
        full.observation.markdown(),
        "",
        "### On the board",
        "",
        _on_board(full),
        *_survey(full),
    ]
    return "\n".join(lines) + "\n"


def _card(basic: Game, full: Game, switched_on: str) -> list[str]:
    """Return the game's summary, its picture, and a table about its environments."""
    entry, folder = game_entry(basic.name), f"../../envs/armarl/games/{basic.name}"
    env = gymnasium.make(f"armarl/{entry.title}-v0", opponents="random")
    more = f"more with {switched_on}: {len(full.actions)} actions, {full.observation.size} numbers"
    rows = {
        "Import": f"`from armarl import {basic.name}_v0`",
        "PettingZoo": f"`{basic.name}_v0.env(players=2)`",
        "Gymnasium": f'`gymnasium.make("armarl/{entry.title}-v0", opponents="greedy")`',
        "Many games at once": f'`gymnasium.make_vec("armarl/{entry.title}-v0", num_envs=64)`',
        "Players": f"{min(entry.players)} to {max(entry.players)}; see the "
        "[options](../environments/environments.md#options-of-the-games)",
        "Action space": f"`{env.action_space}`, with a mask",
        "Observation space": f"`{env.observation_space}`; {more}",
        "Rewards": "[at the end of the game](../environments/environments.md#rewards)",
        "Rules": f"[in two minutes]({folder}/two_minutes.md), [by number]({folder}/rules.md)",
        "Version": str(basic.version),
    }
    return [
        entry.page("two_minutes.md").split("\n\n")[1],
        "",
        f"![A position of {entry.title}](../images/{basic.name}.svg)",
        "",
        "| | |",
        "| --- | --- |",
        *(f"| **{name}** | {text} |" for name, text in rows.items()),
    ]


def _survey(game: Game) -> list[str]:
    """Return the section about the survey, or [] if the game has no survey."""
    if game.survey is None:
        return []
    return [
        "",
        "## Survey",
        "",
        "A judge of positions ([learners.md](../training/learners.md)) reads the survey instead of "
        "the observation. No environment returns the survey. The blocks with a last axis over the "
        "mines come first. This is the survey with 2 players and all options switched on:",
        "",
        game.survey.markdown(),
    ]


def _on_board(game: Game) -> str:
    """Return a description of the observation as a `grid` or a `graph`."""
    table, board = game.observation, game.observation.board
    assert board is not None
    features = ", ".join(f"`{name}`" for name in table.cell_features)
    if len(board.shape) == 2:
        rows, columns = board.shape
        return (
            f"With 2 players and all options switched on, `game.observation.grid(observation)` "
            f"returns {len(table.cell_features)} planes of {rows} rows and {columns} columns, and "
            f"the {len(table.other_features)} entries that belong to no square. The planes are "
            f"{features}."
        )
    assert board.edges is not None
    kinds = ", ".join(f"{number}: {kind}" for number, kind in enumerate(board.kinds))
    constants = ", ".join(f"`{name}`" for name in board.constants)
    return (
        f"With 2 players and all options switched on, `game.observation.graph(observation)` "
        f"returns a graph: {len(table.cell_features)} features of each of the {board.cells} places "
        f"(`nodes`), and the {len(table.other_features)} entries that belong to no place "
        f"(`others`). The features of a place are {features}. `lair[k]` means that the place is in "
        f"the lair of the k-th colour, starting with the observer. The graph's `constants` are "
        f"further features, which are the same in all observations: {constants}. There are "
        f"{board.edges.shape[1]} `edges`, two for each border, one in each direction. Their "
        f"`edge_kinds` are {kinds}."
    )


def _sizes(name: str, flags: dict[str, bool]) -> str:
    rows = ["| players | size | size with all options |", "| --- | --- | --- |"]
    for players in (2, 3, 4):
        games: list[Game] = [make_game(name, players=players, **on) for on in ({}, flags)]
        rows.append(f"| {players} | {games[0].observation.size} | {games[1].observation.size} |")
    return "\n".join(rows)


def pages() -> Iterator[tuple[Path, str]]:
    """Yield the path and the text of every generated page and drawing."""
    for entry in OURS:
        yield DOCS / "games" / f"{entry.name}.md", game_page(entry.name)
    yield DOCS / "training" / "settings.md", settings_page()
    yield DOCS / "reference" / "api.md", api_page()
    shipped, own = cards(), DOCS / "playing" / "policy-cards.md"
    for page, made in (
        (
            ROOT / "policies" / "README.md",
            {"policies": overview(shipped, "../docs/playing/policy-cards.md")},
        ),
        (own, {card.name: section(card) for card in shipped}),
        (
            DOCS / "playing" / "exploitability.md",
            {"best-responses": best_responses(BEST_RESPONSES)},
        ),
    ):
        yield page, filled(page.read_text(encoding="utf-8"), made)
    for place, drawing in drawings(shipped):
        yield DOCS / place, drawing


def main() -> int:
    stale = []
    for path, page in pages():
        if "--check" not in sys.argv:
            path.parent.mkdir(exist_ok=True)
            path.write_text(page, encoding="utf-8")
        elif not path.exists() or path.read_text(encoding="utf-8") != page:
            stale.append(str(path.relative_to(ROOT)))
    if stale:
        print(f"out of date: {', '.join(stale)}; run scripts/docs/make_docs.py")
    return len(stale)


if __name__ == "__main__":
    sys.exit(main())
