#!/usr/bin/env bash
# Guess:     The same chess moves end the game at the same ply with the same result in every
#            library, at least for a rule as old as threefold repetition.
# Behaviour: Both sides move knights out and back. PettingZoo ends the game as a draw after ply 7,
#            when a position has occurred only twice: it ends the game as soon as the player to move
#            could repeat the position, even if the player does not want to. OpenSpiel ends the game
#            after ply 8, at the third occurrence. python-chess, on which PettingZoo is built, ends
#            it after ply 16, at the fifth occurrence.
# Version:   PettingZoo 1.27.0, OpenSpiel 2.0.2, chess 1.11.2
# Seen:      PettingZoo ends after ply 7, the position stands for time 2
#            OpenSpiel ends after ply 8, the position stands for time 3
#            python-chess ends after ply 16, the position stands for time 5
# Matters:   A winning side cannot avoid PettingZoo's draw: the loser only has to reach a position
#            from which a third occurrence is possible. Draw rates, values and recorded games do not
#            carry over from one library to another, and a policy that is tested in a second library
#            meets positions that it never saw.
# Cost:      1 second of CPU after the installation; 356 MB installed.
set -eu
pins="chess==1.11.2 pettingzoo==1.27.0 pygame-ce==2.5.8 open-spiel==2.0.2 numpy==2.4.6"
python=${PYTHON:-python3}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
fill() {
    if command -v uv >/dev/null; then
        uv venv -q --python "$python" "$dir" && uv pip install -q --python "$dir/bin/python" $pins
    else
        "$python" -m venv "$dir" && "$dir/bin/pip" install -q $pins
    fi
}
fill || { echo "Could not install $pins, so nothing was tried." >&2; exit 2; }
cd "$dir" && OMP_NUM_THREADS=1 bin/python -W ignore - <<'EOF'
import sys

import chess
import numpy as np
import pyspiel
from pettingzoo.classic import chess_v6
from pettingzoo.classic.chess import chess_utils

env = chess_v6.raw_env()
env.reset(seed=0)
state = pyspiel.load_game("chess").new_initial_state()
board = chess.Board()
ends = {}
for move in [chess.Move.from_uci(m) for m in "g1f3 g8f6 f3g1 f6g8".split()] * 6:
    if not state.is_terminal():
        state.apply_action(state.string_to_action(board.san(move)))
    if "PettingZoo" not in ends:
        mover = env.agents.index(env.agent_selection)
        actions = np.flatnonzero(env.last()[0]["action_mask"])
        moves = {chess_utils.action_to_move(env.unwrapped.board, a, mover): a for a in actions}
        env.step(moves[move])
    board.push(move)
    stood = max(n for n in range(1, 7) if board.is_repetition(n))
    over = {
        "PettingZoo": all(env.terminations.values()),
        "OpenSpiel": state.is_terminal(),
        "python-chess": board.is_game_over(),
    }
    for name in [n for n in over if over[n] and n not in ends]:
        ends[name] = board.ply()
        print(f"{name} ends after ply {board.ply()}, the position stands for time {stood}")
    if len(ends) == 3:
        break
if ends != {"PettingZoo": 7, "OpenSpiel": 8, "python-chess": 16}:
    sys.exit("Changed: the three libraries no longer end the game after 7, 8 and 16 plies.")
EOF
