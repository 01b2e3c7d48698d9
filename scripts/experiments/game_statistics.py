"""Print statistics of games between copies of one player: lengths, endings and winners.

    python scripts/experiments/game_statistics.py armadora greedy --games 2000 -o players=3
    python scripts/experiments/game_statistics.py armada greedy -o players=4 --turn-lairs

With `--turn-lairs` (only Armada) the games are divided among four charts. Each colour's lair (home)
is in a different corner of the board on each chart. This separates the effect of a corner from the
effect of the play order.
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np
from numpy.typing import NDArray

from armarl.cli.shared_options import options_of
from armarl.core.game import Game
from armarl.games.make_game import make_game
from armarl.matches.playing import play_games
from armarl.matches.standings import wilson_interval
from armarl.roster.make_player import make_player

AT_ONCE = 250  # games per batch


def turned_charts() -> list[dict[str, Any]]:
    """Return four charts: the default chart with all four rotations of the colours' lairs."""
    from armarl.games.armada.chart.loading import COLOURS, load_chart

    charts = []
    for turn in range(len(COLOURS)):
        chart = load_chart().as_dict()
        for territory in chart["territories"]:
            if territory["lair"] in COLOURS:
                place = COLOURS.index(territory["lair"])
                territory["lair"] = COLOURS[(place + turn) % len(COLOURS)]
        charts.append(chart)
    return charts


def play(game: Game, player: str, games: int, seed: int) -> tuple[NDArray[Any], ...]:
    """Play games. Return their returns (games, seats), their lengths, and a mask.

    The mask marks the games that the rules cut short.
    """
    parts = []
    for first in range(0, games, AT_ONCE):
        seeds = np.arange(seed + first, seed + min(first + AT_ONCE, games))
        players = [make_player(player, game) for _ in range(game.players)]
        parts.append(play_games(game, players, seeds, seeds))
    return tuple(np.concatenate(column) for column in zip(*parts, strict=True))


def share(wins: int, games: int) -> str:
    """Format a fraction of games with its 95 % interval."""
    low, high = wilson_interval(wins / games, games)
    return f"{100 * wins / games:.1f} % ({100 * low:.1f} to {100 * high:.1f} %)"


def report(title: str, won: NDArray[np.int64]) -> None:
    """Print wins by category with 95 % intervals, and the chi-square test of equal chances."""
    print(f"wins by {title} (of {won.sum()} won games):")
    if not won.any():
        return
    expected = won.sum() / won.size
    chi_square = float(((won - expected) ** 2 / expected).sum())
    for number, wins in enumerate(won):
        print(f"  {number}: {wins}, {share(int(wins), int(won.sum()))}")
    print(f"  chi-square against equal chances {chi_square:.1f}, {won.size - 1} degrees of freedom")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("game")
    parser.add_argument("player", help="random, greedy, or a saved policy's path")
    parser.add_argument("--games", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--turn-lairs", action="store_true")
    parser.add_argument("-o", "--option", action="append", default=[], metavar="name=value")
    arguments = parser.parse_args()
    options = options_of(arguments.option)
    charts = turned_charts() if arguments.turn_lairs else [None]
    variants = [{**options, "chart": chart} if chart else options for chart in charts]

    by_seat: Any = 0
    by_place: Any = 0
    lengths, cut_short = [], 0
    for turn, variant in enumerate(variants):
        game = make_game(arguments.game, **variant)
        games = arguments.games // len(variants)
        returns, length, cut = play(game, arguments.player, games, arguments.seed)
        won = (returns > 1 - 1e-9).sum(axis=0)
        by_seat = by_seat + won
        by_place = by_place + np.roll(won, -turn)  # seat `place + turn` has the lair at `place`
        lengths.append(length)
        cut_short += int(cut.sum())

    all_lengths = np.concatenate(lengths)
    quartiles = np.percentile(all_lengths, [0, 5, 25, 50, 75, 95, 100]).astype(int)
    print(f"{arguments.game} {options}, {arguments.player}: {all_lengths.size} games")
    print(f"decisions per game: minimum, 5 %, quartiles, 95 %, maximum: {quartiles.tolist()}")
    print(f"cut short: {share(cut_short, all_lengths.size)}")
    report("seat, in play order", by_seat)
    if arguments.turn_lairs:
        report("place on the board", by_place)


if __name__ == "__main__":
    main()
