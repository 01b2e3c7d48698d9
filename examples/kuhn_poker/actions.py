"""The action table of Kuhn poker: ids and their notation."""

from __future__ import annotations

from armarl.games.authoring import ActionFamily, ActionTable

ACTIONS = ActionTable(
    [
        ActionFamily("check", "check", (), "put no chip in, while nobody has bet"),
        ActionFamily("bet", "bet", (), "put a second chip in, while nobody has bet"),
        ActionFamily("call", "call", (), "put a second chip in as well, after a bet"),
        ActionFamily("fold", "fold", (), "give up, after a bet"),
    ]
)
CHECK, BET_CHIP, CALL, FOLD = range(len(ACTIONS))
