"""Rate players in every variant: random, greedy, searches, shipped policies, policies with search.

    python scripts/experiments/ladders.py --folder runs/ladders                  # all variants
    python scripts/experiments/ladders.py --folder runs/ladders --deals 50 armadora-2p

Each variant has a tournament of the kind "ladder": only neighbours on the ladder meet, in all seat
arrangements of the same deals. Ratings are Elo points, where `random` is at 0. Every variant has
its own folder, where its tournament is saved after every few games. The same command resumes after
an interruption, or continues with more deals. `ladders.md` in the folder is a new version of
`docs/playing/ladders.md`, with the tables of all finished variants.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from armarl.arena.play_tournament import play_tournament
from armarl.arena.summary import Summary, summarise
from armarl.core.game import Game
from armarl.games.catalogue import game_entry, game_names
from armarl.games.make_game import make_game
from armarl.players.registry import shipped_policies
from armarl.roster.make_player import make_player

# The page in the docs. Its introduction is written by hand; this script makes only the tables.
PAGE = Path(__file__).resolve().parents[2] / "docs" / "playing" / "ladders.md"


def variants() -> dict[str, tuple[str, dict[str, Any]]]:
    """Return the game and options of every variant that has an environment id, by name."""
    return {
        f"{game}-{name}": (game, options)
        for game in game_names()
        for name, options in game_entry(game).variants()
    }


def ladder(game: Game, simulations: int) -> list[str]:
    """Return the players of a variant's ladder, in the expected order, the weakest first."""
    searches = [f"{method}:{simulations}" for method in ("flat", "ismcts")]
    policies = [name for name in shipped_policies() if _plays(name, game)]
    with_search = [f"{name}+search:{simulations}" for name in policies]
    return ["random", *searches, "greedy", *policies, *with_search, f"search:{simulations}"]


def _plays(policy: str, game: Game) -> bool:
    """Return whether a shipped policy is for this variant."""
    try:
        make_player(policy, game)
    except ValueError:
        return False
    return True


def section(name: str, summary: Summary) -> str:
    """Return a section of the Markdown page with a variant's table."""
    found = summary.as_dict()
    lines = [
        f"## {name}",
        "",
        f"{found['games']} games on {found['deals']} deals, seed {found['seed']}; "
        f"{found['cut_short']} cut short.",
        "",
        "| player | Elo | 95 % interval | games |",
        "| --- | --- | --- | --- |",
    ]
    for row in found["players"]:
        anchor = row["player"] == found["anchor"]
        interval = "anchor" if anchor else f"{row['low']:.0f} to {row['high']:.0f}"
        lines.append(f"| `{row['player']}` | {row['value']:.0f} | {interval} | {row['games']} |")
    return "\n".join(lines) + "\n"


def _show(done: int, whole: int) -> None:
    print(f"\r  {done} of {whole} games", end="", flush=True)


def main() -> None:
    known = variants()
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("variants", nargs="*", help=f"variants (default: all): {', '.join(known)}")
    parser.add_argument(
        "--folder", type=Path, required=True, help="new folder, or folder to resume"
    )
    parser.add_argument(
        "--deals", type=int, default=20, help="number of deals, each in all seat arrangements (20)"
    )
    parser.add_argument(
        "--simulations", type=int, default=60, help="simulations per decision of a search (60)"
    )
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--workers", type=int, default=1)
    options = parser.parse_args()
    if unknown := [name for name in options.variants if name not in known]:
        parser.error(f"unknown variants: {', '.join(unknown)}; choose from {', '.join(known)}")
    for name in options.variants or known:
        game = make_game(known[name][0], **known[name][1])
        print(name)
        tournament = play_tournament(
            game,
            ladder(game, options.simulations),
            options.deals,
            kind="ladder",
            seed=options.seed,
            workers=options.workers,
            folder=options.folder / name,
            records=False,
            progress=_show,
        )
        text = section(name, summarise(tournament))
        (options.folder / name / "ladder.md").write_text(text, encoding="utf-8")
        print(f"\n{text}")
    parts = [part for name in known if (part := options.folder / name / "ladder.md").exists()]
    whole = "\n".join(part.read_text(encoding="utf-8") for part in parts)
    introduction = PAGE.read_text("utf-8").partition("\n## ")[0]
    (options.folder / "ladders.md").write_text(f"{introduction}\n{whole}", encoding="utf-8")


if __name__ == "__main__":
    main()
