"""Batches of games in which one seat learns and players play the other seats.

The single-seat environments use these batches. Every game has a separate stream of random numbers,
from which the learner's seat and the players' random numbers are drawn. The seed of the deal also
seeds this stream. A game is therefore the same in a batch of any size.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from armarl.common.messages import counted
from armarl.common.numbers import whole_number
from armarl.compiler.types import States
from armarl.core.array_checks import LARGEST_BATCH
from armarl.core.game import Game
from armarl.core.threads import LEAST_GAMES_OF_LIGHT_LOOPS
from armarl.core.verbs import ILLEGAL, PLAYING
from armarl.environments import seat_loops
from armarl.environments.pickling import WritableArrays
from armarl.environments.seat_loops import LEARNER
from armarl.players.protocol import Player, choose_legally
from armarl.players.registry import PlayerLike
from armarl.players.simple_players import RandomPlayer
from armarl.roster.make_player import make_player


class SeatBatch(WritableArrays):
    """A batch of games. A step plays from one decision of the learner to the next.

    Attributes:
        states: (size,) the games.
        seats: (size,) int64, the learner's seat in each game; -1 until it is drawn.
        legal: (size, actions) int8, the learner's action masks, as last shown.
        over: (size,) bool, True where the game is over and no new one has started yet.
        ends: (size,) int8, the status after the last step: PLAYING, ENDED, CUT_SHORT or ILLEGAL.
        rewards: (size,) float64, the learner's rewards of the last step.
        players: all players that may play the other seats.
        chance: (size,) uint64, each game's stream of random numbers, for drawing the learner's seat
            and for the players.
        lineups: (size, players) int64: `lineups[i, k]` is the index in `players` of the player that
            sits `k` seats after the learner. `lineups[i, 0]` is LEARNER.
    """

    def __init__(
        self, game: Game, size: int, players: Sequence[Player], reward: str, seat: int | None
    ) -> None:
        """Create a batch. `open` starts its games.

        Args:
            game: the variant to play.
            size: the number of games.
            players: one player for all other seats, or one per seat, clockwise from the learner.
            reward: one of `game.rewards`.
            seat: the learner's seat. None draws a random seat for each game.

        Raises:
            TypeError: the seat is not an integer.
            ValueError: the reward or the seat does not exist, or `size` is below 1.
        """
        if seat is not None:
            seat = whole_number("seat", seat, 0, game.players - 1)
        size = whole_number("the number of games", size, 1, LARGEST_BATCH)
        self.game, self.size, self.players = game, size, players
        self.states = np.full(size, game.blank)
        self.seats = np.full(size, -1 if seat is None else seat)
        self.over = np.zeros(size, np.bool_)
        self.ends = np.zeros(size, np.int8)
        self.rewards = np.zeros(size)
        self.lineups = np.full((size, game.players), LEARNER)
        self._half_played = False
        self._asking = False  # whether a player's `choose` is running
        self._reward_kind = game.reward_kind(reward)
        self._seat = -1 if seat is None else seat
        self.chance = np.zeros(size, np.uint64)
        self._waiting = np.full(size, LEARNER)  # the player to move, never a random player
        self.legal = np.zeros((size, len(game.actions)), np.int8)

    def open(self, games: NDArray[np.int64], seeds: NDArray[np.int64] | None = None) -> None:
        """Start new games and play each to the learner's first decision.

        A game that ends before that decision is replaced by a new game.

        Args:
            games: the indices of the games to start, int64.
            seeds: one seed per game, int64. Without seeds the random number generators continue.
        """
        self._refuse_within()
        reseed = seeds is not None
        if reseed and games.size == self.size:
            self._half_played = False  # all games are replaced
        self._refuse_half_played()
        self._half_played = True
        numbers = games if seeds is None else seeds
        self.over[games] = False
        while games.size:
            openings = seat_loops.Openings(self._batch, games, reseed, numbers, self._seat)
            self.game.run(seat_loops.open_game, games.size, openings)
            self.lineups[games, 1:] = self.lineups_of(games)
            self._advance(games)
            self._play_others()
            reseed = False
            games = games[self.game.statuses(self.game.taken(self.states, games))[0] != 0]
        self._half_played = False

    def lineups_of(self, games: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the indices of the players clockwise from the learner.

        The result has a shape that broadcasts to (games, players - 1).
        """
        return np.arange(self.game.players - 1) % len(self.players)  # one player, or one per seat

    def answer(self, actions: NDArray[np.int64]) -> None:
        """Play the learner's action in every game that is not over, then the players' actions.

        An illegal action is not played, but it ends the game.

        Raises:
            RuntimeError: a player failed in an earlier call, or a call is in progress.
        """
        self._refuse_within()
        self._refuse_half_played()
        self._half_played = True
        batch = self._batch
        self.game.run(seat_loops.answer, self.size, seat_loops.Answers(batch, actions))
        self._play_others()
        self.game.run(seat_loops.settle, self.size, batch, least=LEAST_GAMES_OF_LIGHT_LOOPS)
        self.over |= self.ends != 0
        self._half_played = False

    def _refuse_within(self) -> None:
        """Raise RuntimeError if a player steps these games from within its `choose`."""
        if self._asking:
            raise RuntimeError(
                "a player cannot step or reset these games while they wait for its choice"
            )

    def _refuse_half_played(self) -> None:
        """Raise RuntimeError if a player's error has stopped games between learner decisions."""
        if self._half_played:
            raise RuntimeError(
                "an earlier error left these games half played: reset all of them with seeds"
            )

    def illegal_actions(self, actions: NDArray[np.int64]) -> dict[int, str]:
        """Return the reason for each action that the last `answer` refused, by game index."""
        illegal = np.flatnonzero(self.ends == ILLEGAL).tolist()
        return {i: self.game.explain(self.states[i], int(actions[i])) for i in illegal}

    def view(self, observations: NDArray[np.float32], masks: NDArray[np.int8]) -> None:
        """Write the learner's observations and masks. The mask of an ended game is all 1."""
        views = seat_loops.LearnerViews(self._batch, observations, masks)
        self.game.run(seat_loops.view_learner, self.size, views)

    def final_views(self, games: NDArray[np.int64]) -> tuple[NDArray[np.float32], NDArray[np.int8]]:
        """Return the learner's observations, (games, size), and masks, all 1 for ended games."""
        states = self.game.taken(self.states, games)
        observations, masks = self.game.views(states, self.seats[games])
        masks[self.ends[games] != PLAYING] = 1
        return observations, masks

    def __getstate__(self) -> dict[str, Any]:
        kept = self.__dict__ | {"_asking": False}  # no player is choosing in a copy
        kept.pop("_batch", None)  # the copy creates `_batch` again from its own arrays
        return kept

    def seat_players(self, players: Sequence[Player]) -> None:
        """Replace the players of the other seats, from the next decision on."""
        self.players = players
        self.__dict__.pop("_batch", None)  # `_batch` marks the random players: create it again

    def restore(
        self,
        states: States,
        seats: NDArray[np.int64],
        lineups: NDArray[np.int64],
        chance: NDArray[np.uint64],
    ) -> None:
        """Copy these attributes into the batch. In every game it must be the learner's turn."""
        self.states[:], self.seats[:] = states, seats
        self.lineups[:], self.chance[:] = lineups, chance

    @cached_property
    def _batch(self) -> seat_loops.SeatGames:
        """The batch for compiled loops. It shares the arrays of `self`, so never replace these."""
        masks = self.game.scratch_masks(self.size)
        return seat_loops.SeatGames(
            states=self.states,
            seats=self.seats,
            lineups=self.lineups,
            is_random=self._plays_at_random(),
            chance=self.chance,
            over=self.over,
            legal=self.legal,
            ends=self.ends,
            waiting=self._waiting,
            rewards=self.rewards,
            kind=self._reward_kind,
            masks=masks,
            returns=np.empty((len(masks), self.game.players)),
        )

    def _plays_at_random(self) -> NDArray[np.uint8]:
        """Mark the random players. Compiled loops choose for them and never call `choose`."""
        return np.array([type(player) is RandomPlayer for player in self.players], np.uint8)

    def _advance(self, games: NDArray[np.int64]) -> None:
        """Let random players act in `games`, and record the next player to move."""
        self.game.run(seat_loops.advance, games.size, seat_loops.Advances(self._batch, games))

    def _play_others(self) -> None:
        """Let the other players act until every game has ended or waits for the learner."""
        while (waiting := np.flatnonzero(self._waiting != LEARNER)).size:
            numbers = self._waiting[waiting]
            for number, player in enumerate(self.players):
                if (games := waiting[numbers == number]).size:
                    self._play(player, games)
            self._advance(waiting)

    def _play(self, player: Player, games: NDArray[np.int64]) -> None:
        """Let a player choose and play one action in each of `games`."""
        seen, movers, draws = self.game.questions(self.states, games, self.chance)
        self._asking = True
        try:
            actions = choose_legally(player, self.game, seen, movers, draws)
        finally:
            self._asking = False
        self.game.play(self.states, games, actions)


class AgainstOpponents(WritableArrays):
    """A base class that adds the attribute `opponents` to the single-seat environments."""

    _batch: SeatBatch

    @property
    def opponents(self) -> tuple[Player, ...]:
        """The players of the other seats, clockwise from the learning seat. Cannot be replaced."""
        players, others = self._batch.players, self._batch.game.players - 1
        return tuple(players[k % len(players)] for k in range(others))

    @opponents.setter
    def opponents(self, players: object) -> None:
        raise AttributeError(
            "the opponents of an environment cannot be replaced: make another environment, or "
            "pass a player of your own that can change its policy"
        )


def make_opponents(chosen: PlayerLike | Sequence[PlayerLike], game: Game) -> list[Player]:
    """Make the players of the other seats, clockwise from the learner.

    A specification makes a separate player for each seat, so that no player knows what another
    player sees. A player object plays all seats for which it is given.

    Raises:
        ValueError: the number of players is wrong, or a player is unknown.
    """
    others = game.players - 1
    if hasattr(chosen, "choose"):
        return [make_player(cast(Player, chosen), game)]
    if not isinstance(chosen, list | tuple):
        chosen = [chosen] * others  # type: ignore[list-item]
    if len(chosen) != others:
        raise ValueError(
            f"a {game.players}-player game takes {counted(others, 'opponent')}, got {len(chosen)}"
        )
    return [make_player(player, game) for player in chosen]
