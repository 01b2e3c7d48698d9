"""A ladder of every variant: random, greedy, searches, shipped policies, and these with search.

    python scripts/experiments/ladders.py --folder runs/ladders                  # all variants
    python scripts/experiments/ladders.py --folder runs/ladders --deals 50 armadora-2p

Neighbours on the ladder meet, in all arrangements of the seats over the same deals; ratings are on
the Elo scale, `random` being 0. Every variant has a folder of its own, where its tournament is kept
game by game: the same command goes on after a kill, and with more deals. `ladders.md` has all the
tables of the folder's finished variants; intervals are of 95 %.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from armarl.arena.summary import Summary, summarise
from armarl.arena.tournament import play_tournament
from armarl.core.game import Game
from armarl.games.catalogue import game_entry, game_names
from armarl.games.make_game import make_game
from armarl.players.registry import shipped_policies
from armarl.roster.make_player import make_player

HEAD = """# Ladders

Random play, searches, the scripted player, shipped policies and these with search, in every
variant. The number behind a search is that of simulations for each decision; `search` is what the
game names as its best: `grave` in Armadora, `rollout` in Armada. Neighbours on the ladder, in the
order of this script, met in all arrangements of the seats over the same deals; so players
far apart are compared by way of those between them, and intervals widen from rung to rung; those of
five deals are rough. Ratings are on the Elo scale, `random` being 0; intervals are of 95 %, by the
bootstrap over deals (see [the arena](arena.md)). A game that is cut short is shared by all. This
page was made by

    python scripts/experiments/ladders.py --folder runs/ladders

with `--deals` as each table says, and shows how players compare at a small budget;
[search](search.md) has larger ones, and [the shipped policies](../../policies/README.md) what they
win in matches of up to a thousand games.

"""


def variants() -> dict[str, tuple[str, dict[str, Any]]]:
    """The game and the options of every variant that has an id, by its name."""
    return {
        f"{game}-{name}": (game, options)
        for game in game_names()
        for name, options in game_entry(game).variants()
    }


def ladder(game: Game, simulations: int) -> list[str]:
    """The players of a variant's ladder, the weakest first as far as can be foreseen."""
    searches = [f"{method}:{simulations}" for method in ("flat", "ismcts")]
    policies = [name for name in shipped_policies() if _plays(name, game)]
    with_search = [f"{name}+search:{simulations}" for name in policies]
    return ["random", *searches, "greedy", *policies, *with_search, f"search:{simulations}"]


def _plays(policy: str, game: Game) -> bool:
    """Whether a shipped policy was made for this variant."""
    try:
        make_player(policy, game)
    except ValueError:
        return False
    return True


def section(name: str, summary: Summary) -> str:
    """A variant's table, as Markdown."""
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
    parser.add_argument("variants", nargs="*", help=f"all if none is named: {', '.join(known)}")
    parser.add_argument("--folder", type=Path, required=True, help="kept, and gone on with, here")
    parser.add_argument("--deals", type=int, default=20, help="each in all arrangements of seats")
    parser.add_argument("--simulations", type=int, default=60, help="of every search, a decision")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--workers", type=int, default=1)
    options = parser.parse_args()
    if unknown := [name for name in options.variants if name not in known]:
        parser.error(f"no variant {', '.join(unknown)}; there is {', '.join(known)}")
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
    (options.folder / "ladders.md").write_text(HEAD + whole, encoding="utf-8")


if __name__ == "__main__":
    main()
