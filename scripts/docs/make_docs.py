"""Write what is made: the pages of the games and of a training run's settings from the code, and
what stands on two pages of the shipped policies from their files: `python scripts/make_docs.py`.

`--check` writes nothing and fails if a page is not what the code, or the files, say.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from api_page import api_page
from armarl.core.game import Game
from armarl.games.catalogue import OURS
from armarl.games.make_game import make_game
from policy_tables import cards, drawings, filled, overview, section
from settings_page import settings_page

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"


def game_page(name: str) -> str:
    """Actions and observation of a game, in its basic variant and with everything switched on."""
    basic = make_game(name)
    flags = {key: True for key, value in basic.options.items() if value is False}
    full = make_game(name, **flags)
    switched_on = ", ".join(f"`{flag}=True`" for flag in flags)
    lines = [
        f"# {name.capitalize()}, version {basic.version}",
        "",
        "Made from the code by `scripts/docs/make_docs.py`. "
        f"The rules: [rules/{name}.md](../rules/{name}.md).",
        "",
        "## Actions",
        "",
        f"With everything switched on ({switched_on}) there are {len(full.actions)} actions, in "
        f"the basic game {len(basic.actions)}: without an option its rows are left out. "
        "Ids are the same for any number of players.",
        "",
        full.actions.markdown(),
        "",
        "## Observation",
        "",
        "A flat float32 vector of blocks. A quantity in the vector is divided by the number given. "
        '"own" blocks depend on what this seat knows. Axis 0 of a block per seat, or per colour, '
        "begins with oneself, and the others follow in play order.",
        "",
        _sizes(name, flags),
        "",
        f"### 2 players, {switched_on}",
        "",
        f"In the basic game it ends after `{basic.observation.blocks[-1].name}`. "
        "More players make the blocks per seat longer.",
        "",
        full.observation.markdown(),
        "",
        "### On the board",
        "",
        _on_board(full),
        *_survey(full),
    ]
    return "\n".join(lines) + "\n"


def _survey(game: Game) -> list[str]:
    """What a judge of positions reads, if the game has a survey."""
    if game.survey is None:
        return []
    return [
        "",
        "## Survey",
        "",
        "A judge of positions reads the survey in place of the observation "
        "([learners.md](../training/learners.md)). No environment shows it. Blocks whose last axis "
        "is the mines stand first. With 2 players and everything switched on:",
        "",
        game.survey.markdown(),
    ]


def _on_board(game: Game) -> str:
    """What `grid` or `graph` gives."""
    table, board = game.observation, game.observation.board
    assert board is not None
    features = ", ".join(f"`{name}`" for name in table.cell_features)
    if len(board.shape) == 2:
        rows, columns = board.shape
        return (
            f"`game.observation.grid(observation)` gives {len(table.cell_features)} planes of "
            f"{rows} rows and {columns} columns, and the {len(table.other_features)} entries of "
            f"the blocks that lie on no square. The planes: {features}."
        )
    assert board.edges is not None
    kinds = ", ".join(f"{number}: {kind}" for number, kind in enumerate(board.kinds))
    constants = ", ".join(f"`{name}`" for name in board.constants)
    return (
        f"`game.observation.graph(observation)` gives {len(table.cell_features)} features of each "
        f"of the {board.cells} places, and the {len(table.other_features)} entries of the blocks "
        f"that lie on no place. The features: {features}; `lair[k]`: the place is in the lair of "
        f"the k-th colour, oneself first. Those that never change: {constants}. There are "
        f"{board.edges.shape[1]} edges, every border in both directions; their kinds are {kinds}."
    )


def _sizes(name: str, flags: dict[str, bool]) -> str:
    rows = ["| players | size | size with everything |", "| --- | --- | --- |"]
    for players in (2, 3, 4):
        games: list[Game] = [make_game(name, players=players, **on) for on in ({}, flags)]
        rows.append(f"| {players} | {games[0].observation.size} | {games[1].observation.size} |")
    return "\n".join(rows)


def pages() -> Iterator[tuple[Path, str]]:
    """Every page that is made, and what should stand there."""
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
        print(f"not what they are made from: {', '.join(stale)}; run scripts/docs/make_docs.py")
    return len(stale)


if __name__ == "__main__":
    sys.exit(main())
