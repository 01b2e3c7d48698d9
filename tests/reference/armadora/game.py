"""A slow, plain reference of Armadora, written from the rules page.

The reference shares no code with the compiled rules. Squares, lines and actions are strings in the
notation, and the board consists of sets and dicts. To test ARM-12, the reference places the
palisade and finds the territories on both sides by flood fill.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from functools import cache
from typing import Any

COLUMNS, ROWS = "abcdefgh", "12345"
SQUARES = [column + row for row in ROWS for column in COLUMNS]  # ARM-1
MINES = ["d1", "b2", "f2", "h2", "a4", "e4", "c5", "g5"]  # ARM-2
SITES = [square for square in SQUARES if square not in MINES]
PALISADES = 35  # ARM-5
PILES = [3, 4, 4, 5, 5, 6, 6, 7]  # ARM-6
WARRIORS = {  # ARM-7
    2: {1: 11, 2: 2, 3: 1, 4: 1, 5: 1},
    3: {1: 7, 2: 2, 3: 1, 4: 1, 5: 0},
    4: {1: 5, 2: 1, 3: 1, 4: 1, 5: 0},
}
POWERS = {"orc": 1, "goblin": 1, "elf": 2, "mage": 2}  # ARM-21


def _beside(square: str, columns: int, rows: int) -> str | None:
    column, row = COLUMNS.index(square[0]) + columns, ROWS.index(square[1]) + rows
    return COLUMNS[column] + ROWS[row] if column < len(COLUMNS) and row < len(ROWS) else None


# The lines of ARM-3. Those between columns come first.
LINES = [f"{a}-{b}" for a in SQUARES if (b := _beside(a, 1, 0))] + [
    f"{a}-{b}" for a in SQUARES if (b := _beside(a, 0, 1))
]
NEIGHBOURS: dict[str, list[tuple[str, str]]] = {square: [] for square in SQUARES}
for _line in LINES:
    _a, _b = _line.split("-")
    NEIGHBOURS[_a].append((_b, _line))
    NEIGHBOURS[_b].append((_a, _line))


def territory(square: str, palisades: Collection[str], enough: int = len(SQUARES)) -> set[str]:
    """Return a square's territory (ARM-4) by flood fill, which may stop at `enough` squares."""
    reached, waiting = {square}, [square]
    while waiting and len(reached) < enough:
        for other, line in NEIGHBOURS[waiting.pop()]:
            if line not in palisades and other not in reached:
                reached.add(other)
                waiting.append(other)
    return reached


def territories(palisades: Collection[str]) -> list[set[str]]:
    """Return all territories of the board (ARM-4)."""
    found: list[set[str]] = []
    for square in SQUARES:
        if not any(square in squares for squares in found):
            found.append(territory(square, palisades))
    return found


def allows(palisades: Collection[str], line: str) -> bool:
    """Return whether every territory has at least 4 squares after a palisade on `line` (ARM-12).

    Only the territories on both sides of the line are tested, because only they can be smaller.
    """
    if line in palisades:
        return False
    standing = {*palisades, line}
    return all(len(territory(square, standing, enough=4)) >= 4 for square in line.split("-"))


MINI = {"a1", "b1", "c1", "d1", "a2", "b2", "c2", "d2"}  # ARM-35
MINI_PILES, MINI_PALISADES = [3, 4], 1
MINI_WARRIORS = {1: 1, 2: 1, 3: 0, 4: 0, 5: 0}


def lines_around(squares: Iterable[str]) -> list[str]:
    """Return the lines between a set of squares and the rest of the board."""
    inside = set(squares)
    return [line for line in LINES if len(inside.intersection(line.split("-"))) == 1]


def squares_of(board: str) -> set[str]:
    """Return the squares of the board or of the mini board (ARM-35)."""
    return MINI if board == "mini" else set(SQUARES)


def warriors_of(players: int, board: str) -> dict[int, int]:
    """Return the Warriors of a player at the start, by value (ARM-7, ARM-35)."""
    return dict(MINI_WARRIORS if board == "mini" else WARRIORS[players])


@cache
def kind_of(text: str) -> str:
    """Return the kind of an action: `W`, `P`, `stop`, `pass`, `R` or the name of a power."""
    word = text.split()[0]
    return "W" if word.startswith("W") else word


@dataclass
class Warrior:
    """A Warrior on the board."""

    player: int
    value: int
    face_up: bool = False
    arrows: int = 0
    reinforcement: int | None = None  # the player that placed it

    @property
    def worth(self) -> int:
        """Return the points of the Warrior (ARM-30)."""
        return max(0, self.value - self.arrows + (self.reinforcement is not None))


def winners(piles: list[list[int]]) -> list[int]:
    """Return the winning sides (ARM-19, ARM-20).

    Each side's piles are sorted, the largest first.
    """
    left = [side for side, wins in enumerate(piles) if sum(wins) == max(map(sum, piles))]
    for place in range(len(MINES)):
        size = {side: (*piles[side], *[0] * len(MINES))[place] for side in left}
        left = [side for side in left if size[side] == max(size.values())]
    return left


class Armadora:
    """A game with the given gold and characters."""

    def __init__(
        self,
        players: int,
        advanced: bool,
        peek: bool,
        gold: dict[str, int],
        characters: list[str] | None,
        board: str = "whole",
    ) -> None:
        self.players, self.advanced, self.peek = players, advanced, peek
        self.gold, self.characters, self.board = dict(gold), characters, board
        mini = board == "mini"
        self.squares = squares_of(board)
        self.palisades = {*lines_around(MINI), "b1-c1"} if mini else set()
        self.palisades_left = MINI_PALISADES if mini else PALISADES
        self.warriors: dict[str, Warrior] = {}
        self.hands = [warriors_of(players, board) for _ in range(players)]
        self.powers = [POWERS[character] for character in characters or []] or [0] * players
        self.reinforcements = [int(advanced)] * players
        self.passed = [False] * players
        self.seen: list[set[str]] = [set() for _ in range(players)]
        # Square of the Warrior that each player's Mage read in the player's last action, or None.
        self.looking_at: list[str | None] = [None] * players
        self.to_move, self.stage = 0, "turn"  # ARM-8
        self._legal: set[str] | None = None  # cache of `legal`, until the next action
        self._open: list[str] | None = None  # cache of `open_lines`, until the next palisade
        self._territories: list[set[str]] | None = None  # cache of `territories`, like `_open`

    # --- sides and board -------------------------------------------------------------------------

    @property
    def sides(self) -> int:
        return 2 if self.players == 4 else self.players  # ARM-9

    def side(self, player: int) -> int:
        return player % 2 if self.players == 4 else player

    def opposes(self, player: int, warrior: Warrior) -> bool:
        return self.side(warrior.player) != self.side(player)

    def territories(self) -> list[set[str]]:
        if self._territories is None:
            self._territories = territories(self.palisades)
        return self._territories

    def open_lines(self) -> list[str]:
        """Return the lines on which a palisade is legal if a palisade is left (ARM-12)."""
        if self._open is None:
            inside = [line for line in LINES if self.squares.issuperset(line.split("-"))]
            self._open = [line for line in inside if allows(self.palisades, line)]
        return self._open

    def free(self) -> list[str]:
        """Return the squares on which a Warrior may be placed (ARM-11)."""
        return [s for s in SITES if s in self.squares and s not in self.warriors]

    def full(self, squares: set[str]) -> bool:
        """Return whether a territory is full: each square has a Warrior or a mine (ARM-27)."""
        return all(square in self.warriors or square in MINES for square in squares)

    def present(self, player: int, squares: set[str]) -> bool:
        """Return whether a player has a Warrior on these squares."""
        return any(s in self.warriors and self.warriors[s].player == player for s in squares)

    # --- legal actions ---------------------------------------------------------------------------

    def legal(self) -> set[str]:
        """Return the notations of all legal actions."""
        if self._legal is None:
            self._legal = self._find_legal()
        return self._legal

    def _find_legal(self) -> set[str]:
        if self.stage == "over":
            return set()
        palisades = self._palisade_actions("P ")
        if self.stage == "second palisade":
            return palisades | {"stop"}  # ARM-13
        actions = palisades | self._warrior_actions("") | self._reinforcement_actions()
        if self.stage == "turn":
            actions |= {"pass"} | self._power_actions()  # ARM-14, ARM-22
        return actions

    def _palisade_actions(self, prefix: str) -> set[str]:
        return {prefix + line for line in self.open_lines()} if self.palisades_left else set()

    def _warrior_actions(self, prefix: str) -> set[str]:
        held = [value for value, number in self.hands[self.to_move].items() if number]
        return {f"{prefix}W{value} {square}" for square in self.free() for value in held}

    def _reinforcement_actions(self) -> set[str]:
        """Return the legal reinforcements (ARM-28)."""
        if not self.reinforcements[self.to_move]:
            return set()
        return {
            f"R {square}"
            for squares in self.territories()
            if self.full(squares) and self._reinforced_by(squares) is None
            for square in squares
            if square in self.warriors and self.warriors[square].player == self.to_move
        }

    def _reinforced_by(self, squares: set[str]) -> int | None:
        """Return the player with a reinforcement in a territory, or None."""
        for square in squares:
            if square in self.warriors and self.warriors[square].reinforcement is not None:
                return self.warriors[square].reinforcement
        return None

    def _power_actions(self) -> set[str]:
        """Return the legal actions that use the character's power (ARM-22 to ARM-26)."""
        player = self.to_move
        if self.characters is None or not self.powers[player]:
            return set()
        character = self.characters[player]
        if character == "orc":
            return self._palisade_actions("orc P ")
        if character == "goblin":
            return self._warrior_actions("goblin ")
        if character == "elf":
            return {f"elf {square}" for square in self._targets(player)}
        return {
            f"mage {square}"
            for square, warrior in self.warriors.items()
            if self.opposes(player, warrior)
            and not warrior.face_up
            and square not in self.seen[player]
        }

    def _targets(self, player: int) -> list[str]:
        """Return the squares of the Warriors at which an Elf may shoot (ARM-26)."""
        return [
            square
            for squares in self.territories()
            if self.present(player, squares) and not self.full(squares)
            for square in squares
            if square in self.warriors and self.opposes(player, self.warriors[square])
        ]

    # --- playing ---------------------------------------------------------------------------------

    def play(self, text: str) -> None:
        """Play an action.

        Raises:
            ValueError: the action is not legal.
        """
        if text not in self.legal():
            raise ValueError(f"illegal: {text}")
        self._legal = None
        self.looking_at[self.to_move] = None
        words = text.split()
        kind, place = words[0], words[-1]
        if kind in POWERS:
            self.powers[self.to_move] -= 1
            self._use_power(words)
            self._go_on("after power", unless=set())  # ARM-22
        elif kind == "P":
            self._put_palisade(place)
            if self.stage == "second palisade":
                self._end_turn()
            else:
                self._go_on("second palisade", unless={"stop"})  # ARM-13
        else:
            if kind == "pass":
                self.passed[self.to_move] = True
            elif kind == "R":
                self.warriors[place].reinforcement = self.to_move
                self.reinforcements[self.to_move] -= 1
            elif kind != "stop":
                self._put_warrior(kind, place, face_up=False)
            self._end_turn()

    def _use_power(self, words: list[str]) -> None:
        """Apply an action that uses a power (ARM-23 to ARM-26)."""
        power, place = words[0], words[-1]
        if power == "mage":
            self.seen[self.to_move].add(place)
            self.looking_at[self.to_move] = place
        elif power == "elf":
            self.warriors[place].arrows += 1
        elif power == "orc":
            self._put_palisade(place)
        else:
            self._put_warrior(words[1], place, face_up=True)

    def _put_warrior(self, kind: str, square: str, face_up: bool) -> None:
        value = int(kind.removeprefix("W"))
        self.hands[self.to_move][value] -= 1
        self.warriors[square] = Warrior(self.to_move, value, face_up)

    def _put_palisade(self, line: str) -> None:
        self.palisades.add(line)
        self.palisades_left -= 1
        self._open = self._territories = None

    def _go_on(self, stage: str, unless: set[str]) -> None:
        """Let the same player act again, or end the turn if only `unless` would be legal."""
        self.stage = stage
        if self.legal() == unless:
            self._end_turn()

    def _end_turn(self) -> None:
        """Give the turn to the next player, or end the game (ARM-8, ARM-14, ARM-15)."""
        self._legal = None
        if all(self.passed):
            self.stage = "over"
            return
        self.stage = "turn"
        self.to_move = (self.to_move + 1) % self.players
        while self.passed[self.to_move]:
            self.to_move = (self.to_move + 1) % self.players

    # --- the end ---------------------------------------------------------------------------------

    def totals(self, squares: set[str]) -> list[int]:
        """Return each side's points in a territory (ARM-16)."""
        return [
            sum(
                self.warriors[square].worth
                for square in squares
                if square in self.warriors and self.side(self.warriors[square].player) == side
            )
            for side in range(self.sides)
        ]

    def piles(self) -> list[list[int]]:
        """Return the piles that each side wins, the largest first (ARM-16 to ARM-19, ARM-29)."""
        piles: list[list[int]] = [[] for _ in range(self.sides)]
        for squares in self.territories():
            totals = self.totals(squares)
            gold = sum(self.gold[square] for square in squares if square in MINES)
            if max(totals) == 0 or gold == 0:
                continue
            tied = [side for side, total in enumerate(totals) if total == max(totals)]
            player = self._reinforced_by(squares)
            if player is not None and self.side(player) in tied:
                tied = [self.side(player)]
            for side in tied:
                piles[side].append(gold // len(tied))
        return [sorted(wins, reverse=True) for wins in piles]

    def winners(self) -> list[int]:
        return winners(self.piles())

    def returns(self, reward: str) -> list[float]:
        """Return each player's return.

        With the reward "win", the winners share all stakes. With "gold", the return is the lead in
        gold over the mean of the other sides, divided by 40.
        """
        gold, winners = [sum(wins) for wins in self.piles()], self.winners()
        stake = 1 / (self.sides - 1)
        by_side = []
        for side in range(self.sides):
            others = [gold[other] for other in range(self.sides) if other != side]
            if reward == "gold":
                by_side.append((gold[side] - sum(others) / len(others)) / 40)
            else:
                won = stake * self.sides / len(winners) if side in winners else 0.0
                by_side.append(won - stake)
        return [by_side[self.side(player)] for player in range(self.players)]

    # --- hidden information ----------------------------------------------------------------------

    def shown(self, seat: int, square: str) -> bool:
        """Return whether a seat sees the value of the Warrior on a square (ARM-31 to ARM-33)."""
        warrior = self.warriors[square]
        if warrior.face_up or self.looking_at[seat] == square:
            return True
        return self.peek and (warrior.player == seat or square in self.seen[seat])

    def known(self, seat: int | None) -> dict[str, Any]:
        """Return the Warriors and hands as far as a seat knows them (None: all of them).

        The observation contains the same information.
        """
        return {
            "warriors": {
                square: {
                    "player": warrior.player,
                    "value": warrior.value if seat is None or self.shown(seat, square) else None,
                    "face_up": warrior.face_up,
                    "arrows": warrior.arrows,
                    "reinforcement": warrior.reinforcement,
                }
                for square, warrior in self.warriors.items()
            },
            "hands": [
                {str(value): number for value, number in hand.items()}
                if seat in (None, player)
                else None
                for player, hand in enumerate(self.hands)
            ],
        }

    def describe(self, seat: int | None = None) -> dict[str, Any]:
        """Return a seat's view (None: everything), without game name, version and options."""
        over = self.stage == "over"
        piles = self.piles() if over else []
        return {
            "players": self.players,
            "gold": self.gold,
            "palisades": sorted(self.palisades),
            "palisades_left": self.palisades_left,
            **self.known(None if over else seat),  # ARM-36
            "hand_sizes": [sum(hand.values()) for hand in self.hands],
            "characters": self.characters,
            "powers": self.powers,
            "reinforcements": self.reinforcements,
            "passed": self.passed,
            "seen": [sorted(squares) for squares in self.seen],
            "to_move": None if over else self.to_move,
            "stage": self.stage,
            "legal": sorted(self.legal()) if over or seat in (None, self.to_move) else None,
            "result": {
                "gold": [sum(wins) for wins in piles],
                "piles": piles,
                "winners": self.winners(),
            }
            if over
            else None,
        }
