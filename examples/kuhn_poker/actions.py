"""The action table of Kuhn poker: the id, the notation and the meaning of each action."""

from __future__ import annotations

from armarl.games.authoring import ActionFamily, ActionTable

ACTIONS = ActionTable(
    [
        ActionFamily("check", "check", (), "add no chip, before a bet"),
        ActionFamily("bet", "bet", (), "add a second chip, before a bet"),
        ActionFamily("call", "call", (), "add a second chip, after a bet"),
        ActionFamily("fold", "fold", (), "give up the pot, after a bet"),
    ]
)
CHECK, BET_CHIP, CALL, FOLD = range(len(ACTIONS))
