"""Opponents on a GPU. No step may wait for the GPU, not even to count the games that have ended.

The lineups of the games that begin during a rollout are therefore drawn when the rollout begins,
one for each place in the batch. The only opponents are those that the GPU can run: earlier
versions, the scripted player in its styles, and the random player. The scripted and the random
player may have noise or a random opening.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from armarl.compiler.randomness import pick, split_draw
from armarl.compiler.types import States
from armarl.core.batch_loops import own
from armarl.core.verbs import PLAYING, verbs
from armarl.environments.seat_loops import LEARNER
from armarl.environments.self_play_batch import SelfPlayBatch, Turn
from armarl.players.advice import Advice
from armarl.players.simple_players import GreedyPlayer, RandomPlayer
from armarl.players.wrappers import NoisyPlayer, OpeningPlayer
from armarl.policies.network_players import NetworkPlayer
from armarl_training.config.training_config import ConfigError
from armarl_training.learners.ppo.rollout.random_openings import DrawnActions, pick_drawn
from armarl_training.learners.ppo.rollout.rival_seats import Logits, Position
from armarl_training.learning.opponent_pool import OpponentPool
from armarl_training.learning.rates import RECENT_GAMES
from armarl_training.networks.learner_devices import Array, OnGpu

# Returns the network of an earlier version of the policy, as a function.
LogitsOf = Callable[[NetworkPlayer], Logits]

NO_STYLE = -1  # style of players that are not scripted
NO_NOISE = -1.0  # noise of players without noise, whose random numbers are not split in two
NO_HABIT = -1  # value in place of an action if the player itself decides


class SeatChanges(NamedTuple):
    """A batch of games, some of which may have ended."""

    ends: NDArray[np.int8]  # (games,)
    rewards: NDArray[np.float64]  # (games, players)
    lineups: NDArray[np.int64]  # (games, players) written where a game has ended
    following: NDArray[np.int64]  # (games, players), lineups of the next games
    names: NDArray[np.int64]  # for each slot, the index of the player's name
    tally: NDArray[np.float64]  # (2 * threads, names, 2), number of games, sum of returns; updated


def change_seats(batch: SeatChanges, i: int, thread: int) -> None:
    """If game `i` has ended, note the learner's return by opponent, and set the next lineup."""
    if batch.ends[i] == PLAYING:
        return
    lineup, tally, mine = batch.lineups[i], batch.tally[own(thread)], 0
    while lineup[mine] != LEARNER:
        mine += 1
    for seat in range(lineup.size):
        if lineup[seat] != LEARNER:
            name, known = batch.names[lineup[seat]], False
            for before in range(seat):
                if lineup[before] != LEARNER and batch.names[lineup[before]] == name:
                    known = True
            if not known:
                tally[name, 0] += 1
                tally[name, 1] += batch.rewards[i, mine]
    for seat in range(lineup.size):
        lineup[seat] = batch.following[i, seat]


class Habits(NamedTuple):
    """Decisions of players, some with habits (a random opening, noise); see `players.wrappers`."""

    states: States  # (n,)
    seats: NDArray[np.int64]  # (n,), the seats to move
    masks: NDArray[np.int8]  # (n, actions)
    held: NDArray[np.int64]  # (n,), the slots of the players to move
    openings: NDArray[np.int64]  # for each slot, the progress below which actions are random
    noises: NDArray[np.float64]  # for each slot, the share of random decisions, or NO_NOISE
    draws: NDArray[np.float64]  # (n,), random numbers; updated for the players' own choices
    actions: NDArray[np.int64]  # (n,) written: the random action, or NO_HABIT


def follow_habit(batch: Habits, i: int, thread: int) -> None:
    """Write a random action if a habit requires one. See `OpeningPlayer` and `NoisyPlayer`."""
    slot, draw = batch.held[i], batch.draws[i]
    random = verbs.progress(batch.states[i], batch.seats[i]) < batch.openings[slot]
    if batch.noises[slot] != NO_NOISE:
        random = random or split_draw(draw, 1) < batch.noises[slot]
        draw = split_draw(draw, 2)
    batch.draws[i] = draw
    batch.actions[i] = NO_HABIT
    if random:
        batch.actions[i] = pick(batch.masks[i], draw)


class RivalTraits(NamedTuple):
    """The properties of a player that the GPU needs."""

    style: int  # the style of a scripted player, or NO_STYLE
    opening: int = 0  # progress in the game below which actions are random, see `OpeningPlayer`
    noise: float = NO_NOISE
    is_network: bool = False

    @property
    def has_habits(self) -> bool:
        return self.opening > 0 or self.noise != NO_NOISE


SELF = RivalTraits(NO_STYLE, is_network=True)  # the learner, or an earlier version of it


def traits_of(player: Any) -> RivalTraits:
    """Return the properties of an opponent from the configuration that the GPU needs to play it.

    The player may be wrapped in an `OpeningPlayer`, and the result in a `NoisyPlayer`.

    Raises:
        ConfigError: the player runs on the CPU only.
    """
    whole, opening, noise = player, 0, NO_NOISE
    if isinstance(player, NoisyPlayer):
        noise, player = player.noise, player.player
    if isinstance(player, OpeningPlayer):
        opening, player = player.first_random, player.player
    if type(player) is GreedyPlayer:
        return RivalTraits(player.style, opening, noise)
    if type(player) is RandomPlayer:
        return RivalTraits(NO_STYLE, opening, noise)
    raise ConfigError(
        f"opponents.players: {whole.name[:100]} runs on the CPU only; on a GPU choose from random, "
        "greedy and greedy:style=NAME, with noise=X or first_random=N, and the earlier versions"
    )


class CudaRivals:
    """Opponents on a GPU; see `Rivals`. No call between `begin` and `end` waits for the GPU."""

    def __init__(
        self,
        device: OnGpu,
        pool: OpponentPool,
        rng: np.random.Generator,
        games: int,
        advice: Advice,
        logits_of: LogitsOf,
        draw: Callable[[Array, Array, Array], Array],
    ) -> None:
        """Draw the lineups of `games` games.

        Args:
            logits_of: returns the network of an earlier version, on the device.
            draw: returns actions (n,) from logits, masks (n, actions) and random numbers (n,).

        Raises:
            ConfigError: a player in the pool runs on the CPU only.
        """
        self._device, self._pool, self._rng, self._draw = device, pool, rng, draw
        self._logits_of, self._advice = logits_of, advice
        styles = [player.style for player in advice.players] or [NO_STYLE]
        self._advisers = device.put(np.array(styles, np.int64))  # one placeholder if there are none
        known = [traits_of(player) for player in pool.players] if pool.has_share else []
        self._any_scripted = len(advice) > 0 or any(rival.style != NO_STYLE for rival in known)
        self._any_habits = any(rival.has_habits for rival in known)
        self.lineups = device.put(pool.lineups(rng, games))
        self.recent: dict[str, deque[float]] = {}
        self._members: list[tuple[int, Array]] = []  # slots, and games of their players
        # For each slot, and last for the learner: the style, and whether the player is advised.
        self._styles, self._advised = device.put(
            np.array([[NO_STYLE], [len(advice) > 0]], np.int64)
        )
        # Placeholders, until `advised` sets them: where scripted players move, their actions, the
        # random numbers, and the random actions of habits.
        self._scripted = self._answers = self._styles
        self._draws = self._habitual = self._styles

    def begin(self) -> None:
        """See `Rivals`. Waits for the GPU, to count the games that each player may play in."""
        self._members = []
        if not self._pool.has_share:
            return
        device, players = self._device, self._pool.players
        self._following = device.put(self._pool.lineups(self._rng, len(self.lineups)))
        self._names = list(dict.fromkeys(player.name for player in players))
        rows = device.scratch_rows(len(self.lineups))
        self._tally = device.interleaved((rows, len(self._names), 2), np.float64)
        known = [
            SELF if isinstance(player, NetworkPlayer) else traits_of(player) for player in players
        ]
        self._tell(known)
        for slot in [slot for slot, rival in enumerate(known) if rival.style == NO_STYLE]:
            may = ((self.lineups == slot) | (self._following == slot)).any(1)
            if len(games := device.where(may)):
                self._members.append((slot, games))

    def _tell(self, known: Sequence[RivalTraits]) -> None:
        """Copy the properties of the players in all slots to the GPU, then those of the learner."""
        names = [self._names.index(player.name) for player in self._pool.players]
        slots = [*known, SELF]
        listens = len(self._advice) > 0
        told = [
            [*names, 0],
            [rival.style for rival in slots],
            [listens and rival.is_network for rival in slots],
            [rival.opening for rival in slots],
        ]
        self._name_of, self._styles, self._advised, self._openings = self._device.put(
            np.array(told, np.int64)
        )
        if self._any_habits:
            self._noises = self._device.put(np.array([rival.noise for rival in slots]))

    def advised(self, batch: SelfPlayBatch, turn: Turn, held: Array, draws: Array) -> Array:
        """See `Rivals`. The kernel of the advisers also runs scripted opponents.

        A scripted opponent takes the place of the first adviser. No adviser runs for players that
        are not advised.
        """
        device, rivals = self._device, self._styles[held]
        self._scripted, self._draws = rivals != NO_STYLE, draws
        if self._any_habits:
            self._follow_habits(batch, turn, held)
        if not self._any_scripted:
            self._answers = held
            return device.zeros((len(held), 0), np.int64)
        styles = self._advisers.repeat(len(held), 1)
        listens = self._advised[held].bool()[:, None]
        asked = device.zeros(styles.shape, np.float64).masked_fill_(~listens, -np.inf)
        styles[:, 0] = rivals.where(self._scripted, styles[:, 0])
        asked[:, 0] = self._draws.where(self._scripted, asked[:, 0])
        actions = device.scripted(batch.states, turn.seats, styles, asked)
        self._answers = actions[:, 0]
        return actions[:, : len(self._advice)]

    def answer(self, position: Position) -> None:
        """See `Rivals`. Players that are not scripted run on all games that they may play in."""
        position = position._replace(draws=self._draws)
        actions = position.actions
        actions[:, 0] = self._answers.where(self._scripted, actions[:, 0])
        for slot, games in self._members:
            chosen, his = self._choices(slot, games, position), position.held[games] == slot
            actions[games, 0] = chosen.where(his, actions[games, 0])
        if self._any_habits:
            by_habit = self._habitual != NO_HABIT
            actions[:, 0] = self._habitual.where(by_habit, actions[:, 0])

    def _follow_habits(self, batch: SelfPlayBatch, turn: Turn, held: Array) -> None:
        """Choose the habits' random actions, and set the random numbers of the other choices."""
        self._draws, self._habitual = self._draws.clone(), self._device.zeros(held.shape, np.int64)
        habits = Habits(
            states=batch.states,
            seats=turn.seats,
            masks=turn.masks,
            held=held,
            openings=self._openings,
            noises=self._noises,
            draws=self._draws,
            actions=self._habitual,
        )
        self._device.run(follow_habit, len(held), habits)
        self._scripted &= self._habitual == NO_HABIT

    def _choices(self, slot: int, games: Array, position: Position) -> Array:
        """Return the actions of the player in a slot in some games, int64 (n,)."""
        device, player = self._device, self._pool.players[slot]
        draws = position.draws[games]
        masks = position.turn.masks[games]
        if isinstance(player, NetworkPlayer):
            logits = self._logits_of(player)(position.features[games], position.advice[games])
            return self._draw(logits, masks, draws)
        actions = device.zeros((len(games),), np.int64)
        device.run(pick_drawn, len(games), DrawnActions(masks, draws, actions))
        return actions

    def note_ends(self, turn: Turn) -> None:
        """See `Rivals`."""
        if self._pool.has_share:
            seats = self.lineups, self._following
            changes = SeatChanges(turn.ends, turn.rewards, *seats, self._name_of, self._tally)
            self._device.run(change_seats, len(self.lineups), changes)

    def end(self) -> None:
        """See `Rivals`. Waits for the GPU, to fetch the returns.

        The GPU keeps only sums, so the mean return is recorded for each of the games.
        """
        if not self._pool.has_share:
            return
        sums = self._device.fetch(self._tally.sum(0))
        for name, (games, returned) in zip(self._names, sums.tolist(), strict=True):
            if games:
                returns = self.recent.setdefault(name, deque(maxlen=RECENT_GAMES))
                returns.extend([returned / games] * min(int(games), RECENT_GAMES))
