"""Games in which one seat learns while players hold the others: what the faces of them share.

Every game has its own chance, seeded with its deal, for the learner's seat and the players' draws.
A game is therefore the same alone and in a batch of any size.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from armarl.common.numbers import whole_number
from armarl.core.array_checks import LARGEST_BATCH
from armarl.core.game import Game
from armarl.core.threads import LEAST_GAMES_OF_LIGHT_LOOPS
from armarl.core.verbs import ILLEGAL, PLAYING
from armarl.environments import seat_loops
from armarl.environments.seat_loops import LEARNER
from armarl.players.protocol import Player, choose_legally
from armarl.players.registry import PlayerLike
from armarl.players.simple_players import RandomPlayer
from armarl.roster.make_player import make_player


class SeatBatch:
    """The games of one or many environments, each from one decision of its learner to the next.

    Attributes:
        states: (size,) the games.
        seats: (size,) int64, the learner's in each game; -1 before one is drawn.
        legal: (size, actions) int8, the masks of his decisions, as they were shown last.
        over: (size,) bool, whose game is over, and not opened again yet.
        ends: (size,) int8, how the last step left each game: PLAYING, ENDED, CUT_SHORT or ILLEGAL.
        rewards: (size,) float64, the learner's of the last step.
        players: all who may hold the other seats.
        chance: (size,) uint64, each game's stream of chance for seats and players.
        lineups: (size, players) int64: `lineups[i, k]` is the number in `players` of who sits `k`
            seats after the learner, and LEARNER for himself.
    """

    def __init__(
        self, game: Game, size: int, players: Sequence[Player], reward: str, seat: int | None
    ) -> None:
        """A batch whose games have not been opened yet.

        Args:
            players: one player for all other seats, or one for each, clockwise from the learner.
            reward: one of `game.rewards`.
            seat: the learner's; None draws it anew for each game.

        Raises:
            TypeError: the seat is no integer.
            ValueError: no such reward or seat, or not one game.
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
        self._asking = False  # whether a player has not answered yet
        self._reward_kind = game.reward_kind(reward)
        self._seat = -1 if seat is None else seat
        self.chance = np.zeros(size, np.uint64)
        self._waiting = np.full(size, LEARNER)  # who is to move there, unless he plays at random
        self.legal = np.zeros((size, len(game.actions)), np.int8)

    def open(self, games: NDArray[np.int64], seeds: NDArray[np.int64] | None = None) -> None:
        """Start new games, up to the learner's first decision in each.

        A game that ends before that is none of his, and another one is started. With seeds (int64,
        one per game) all chance begins anew; else it goes on as it is.
        """
        self._refuse_within()
        reseed = seeds is not None
        if reseed and games.size == self.size:
            self._half_played = False  # nothing is left of what was
        self._refuse_half_played()
        self._half_played = True
        numbers = games if seeds is None else seeds
        self.over[games] = False
        while games.size:
            openings = seat_loops.Openings(self._batch(), games, reseed, numbers, self._seat)
            self.game.run(seat_loops.open_game, games.size, openings)
            self.lineups[games, 1:] = self.lineups_of(games)
            self._advance(games)
            self._play_others()
            reseed = False
            games = games[self.game.statuses(self.game.taken(self.states, games))[0] != 0]
        self._half_played = False

    def lineups_of(self, games: NDArray[np.int64]) -> NDArray[np.int64]:
        """Who sits after the learner in new games: (games, players - 1) numbers in `players`."""
        return np.arange(self.game.players - 1) % len(self.players)  # one for all, or each his own

    def answer(self, actions: NDArray[np.int64]) -> None:
        """Play the learner's action in every game that is not over, and then the others' actions.

        An illegal action is not played, and ends the game for the learner.

        Raises:
            RuntimeError: a call before this one ended in an error of a player, or one is under way.
        """
        self._refuse_within()
        self._refuse_half_played()
        self._half_played = True
        batch = self._batch()
        self.game.run(seat_loops.answer, self.size, seat_loops.Answers(batch, actions))
        self._play_others()
        self.game.run(seat_loops.settle, self.size, batch, least=LEAST_GAMES_OF_LIGHT_LOOPS)
        self.over |= self.ends != 0
        self._half_played = False

    def _refuse_within(self) -> None:
        """Raise RuntimeError where a player who is being asked would play these games on."""
        if self._asking:
            raise RuntimeError("these games wait for a player's choice: he cannot play them on")

    def _refuse_half_played(self) -> None:
        """Raise RuntimeError where an error of a player has left games between two decisions."""
        if self._half_played:
            raise RuntimeError(
                "an error has left these games half played: reset all of them with a seed"
            )

    def illegal_actions(self, actions: NDArray[np.int64]) -> dict[int, str]:
        """By game, why those that the last `answer` did not play are illegal."""
        illegal = np.flatnonzero(self.ends == ILLEGAL).tolist()
        return {i: self.game.explain(self.states[i], int(actions[i])) for i in illegal}

    def view(self, observations: NDArray[np.float32], masks: NDArray[np.int8]) -> None:
        """The learner's observation and mask of every game; the mask is 0 where one is over."""
        views = seat_loops.LearnerViews(self._batch(), observations, masks)
        self.game.run(seat_loops.view_learner, self.size, views)

    def final_views(self, games: NDArray[np.int64]) -> tuple[NDArray[np.float32], NDArray[np.int8]]:
        """The learner's last observations (games, size) and masks: 0 where the game is over."""
        states = self.game.taken(self.states, games)
        observations, masks = self.game.views(states, self.seats[games])
        masks[self.ends[games] != PLAYING] = 0
        return observations, masks

    def _batch(self) -> seat_loops.SeatGames:
        """The batch as compiled loops take it."""
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
        """Which players need not be asked: compiled loops make the random player's choices."""
        return np.array([type(player) is RandomPlayer for player in self.players], np.uint8)

    def _advance(self, games: NDArray[np.int64]) -> None:
        """Let random players act in `games`, and note who is to move then."""
        self.game.run(seat_loops.advance, games.size, seat_loops.Advances(self._batch(), games))

    def _play_others(self) -> None:
        """Let the players act until every game has ended or waits for the learner."""
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


class AgainstOpponents:
    """What the faces of such games have in common."""

    _batch: SeatBatch

    @property
    def opponents(self) -> tuple[Player, ...]:
        """Who holds the other seats, clockwise from the learning one; always the same."""
        players, others = self._batch.players, self._batch.game.players - 1
        return tuple(players[k % len(players)] for k in range(others))

    @opponents.setter
    def opponents(self, players: object) -> None:
        raise AttributeError(
            "an environment has the opponents that it was made with: make another, or give a "
            "player of your own, whose policy you may exchange"
        )


def make_opponents(chosen: PlayerLike | Sequence[PlayerLike], game: Game) -> list[Player]:
    """The players of the other seats: one for all, or one for each, clockwise from the learner.

    Raises:
        ValueError: a wrong number of them, or a player that there is not.
    """
    if not isinstance(chosen, list | tuple):
        return [make_player(chosen, game)]  # type: ignore[arg-type]
    others = game.players - 1
    if len(chosen) != others:
        raise ValueError(f"a game for {game.players} has {others} opponents, not {len(chosen)}")
    return [make_player(player, game) for player in chosen]
