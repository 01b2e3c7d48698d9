"""Measure shipped policies against opponents, and save the results in the policies' files.

    python scripts/policies/measure_shipped_policies.py armadora-3p grave:300@300 greedy
    python scripts/policies/measure_shipped_policies.py --games 1000  # all, against all opponents

A new result replaces an older result against the same opponent. Results against other opponents do
not change. If no opponent is given, the matches against all opponents in the file are played again.
The file is written after each match, so finished results are kept if the script is stopped.
Afterwards, update the pages of the policies with `python scripts/docs/make_docs.py`.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from armarl.matches.match import MatchResult, play_match
from armarl.players.registry import shipped_policies
from armarl.policies.saved_policy import load_policy, policy_game, read_policy_metadata, save_policy


def rivals(path: Path, asked: list[str], games: int) -> list[tuple[str, int]]:
    """Return the opponents and the number of games against each.

    Args:
        path: the policy's file.
        asked: opponents from the command line, such as `greedy` or `grave:300@300`. If empty, the
            opponents in the file.
        games: the number of games against an opponent without `@`.
    """
    if asked:
        parts = (rival.partition("@") for rival in asked)
        return [(rival, int(number) if number else games) for rival, _, number in parts]
    strength = read_policy_metadata(path)["strength"]
    return [(match["standings"][1]["player"], games) for match in strength]


def keep(path: Path, rival: str, match: MatchResult) -> None:
    """Save the result of a match in the policy's file, in place of an older result.

    `rival` is the opponent's specification. If the policy was made for an earlier version of its
    game, the file gets the present version, under which the match was played. The file keeps the
    version under which the policy was trained as `learnt_version`.
    """
    policy, found = load_policy(path), match.as_dict()
    learnt = policy.metadata.get("learnt_version", policy.metadata["variant"]["version"])
    found["standings"][1]["player"] = rival  # the name of a search player lacks its settings
    others = [m for m in policy.metadata["strength"] if m["standings"][1]["player"] != rival]
    save_policy(
        *(path, policy.game, policy.tensors, policy.activation),
        policy.metadata.get("advisers", ()),
        training=policy.metadata["training"],
        strength=[*others, found],
        **({} if learnt == policy.game.version else {"learnt_version": learnt}),
    )


def main() -> None:
    shipped = shipped_policies()
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("name", nargs="?", choices=shipped, help="a policy (default: all)")
    parser.add_argument("rivals", nargs="*", metavar="opponent", help="player or player@games")
    parser.add_argument("--games", type=int, default=1000, help="games per opponent")
    parser.add_argument("--seed", type=int, default=2026)
    parser.add_argument("--workers", type=int, default=1)
    options = parser.parse_intermixed_args()
    for name in [options.name] if options.name else shipped:
        path = shipped[name]
        for rival, games in rivals(path, options.rivals, options.games):
            match = play_match(
                policy_game(path), [name, rival], games, options.seed, options.workers
            )
            keep(path, rival, match)
            standing = match.standings[0]
            rate, low, high = (100 * x for x in (standing.win_rate, standing.low, standing.high))
            print(
                f"{name} against {rival}: {rate:.1f} % ({low:.1f} to {high:.1f}) of "
                f"{standing.games} games, fair {100 * standing.fair:.0f} %",
                flush=True,
            )


if __name__ == "__main__":
    main()
