"""The public API of ArmaRL: every name that users import, and the module that defines it.

`armarl/__init__.py` reads this file at run time and imports a name when it is first used. The page
docs/reference/api.md is generated from this file and has the same sections. Games from outside this
package also import from `armarl.games.authoring`.
"""

# ruff: noqa: I001 - the imports are grouped into the sections of the page, not sorted

# --- Games
from .core.action_table import ActionTable as ActionTable
from .core.game import Game as Game
from .core.errors import IllegalActionError as IllegalActionError
from .core.observation_table import ObservationTable as ObservationTable
from .core.pictures.picture import Picture as Picture
from .environments.registration import register_game as register_game
from .games.catalogue import GameEntry as GameEntry
from .games.make_game import make_game as make_game

# --- Environments
from . import armada_v0 as armada_v0
from . import armadora_v0 as armadora_v0
from .core.threads import set_threads as set_threads
from .devices.cuda_game import CudaGame as CudaGame
from .environments.aec import CheckedAECEnv as CheckedAECEnv
from .environments.aec import RawAECEnv as RawAECEnv
from .environments.seat_env import SeatEnv as SeatEnv
from .environments.self_play_batch import SelfPlayBatch as SelfPlayBatch
from .environments.self_play_batch import Turn as Turn
from .environments.vector_env import SeatVectorEnv as SeatVectorEnv

# --- Players
from .players.player_specs import Spec as Spec
from .players.protocol import Player as Player
from .players.protocol import Thoughts as Thoughts
from .players.protocol import choose_legally as choose_legally
from .players.registry import register_player as register_player
from .roster.make_player import make_player as make_player
from .search.best import best_search as best_search
from .search.lookahead import RolloutPlayer as RolloutPlayer
from .search.player import FlatPlayer as FlatPlayer
from .search.player import IsmctsPlayer as IsmctsPlayer
from .search.player import SearchPlayer as SearchPlayer

# --- Saved policies
from .arena.policy_card import Card as Card
from .arena.policy_card import read_card as read_card
from .policies.network_players import NetworkPlayer as NetworkPlayer
from .policies.safetensors_file import PolicyError as PolicyError
from .policies.saved_policy import load_policy as load_policy
from .policies.saved_policy import save_policy as save_policy

# --- Matches and tournaments
from .arena.panel import play_panel as play_panel
from .arena.summary import summarise as summarise
from .arena.tournament import Tournament as Tournament
from .arena.play_tournament import play_tournament as play_tournament
from .arena.tournament_folder import ArenaError as ArenaError
from .arena.tournament_folder import read_tournament as read_tournament
from .matches.match import MatchResult as MatchResult
from .matches.match import play_match as play_match
from .matches.records import RecordError as RecordError
from .matches.records import position_record as position_record
from .matches.records import read_records as read_records
from .matches.standings import Standing as Standing
from .workers.jobs import ClusterError as ClusterError
from .workers.ray_cluster import RayCluster as RayCluster

# --- Replays
from .replays.replay import Replay as Replay
from .replays.thinking import think_over as think_over

# --- Analysis
from .analysis.exploitability import GameTree as GameTree
from .analysis.exploitability import exploitability as exploitability
from .analysis.leaks import assert_no_leak as assert_no_leak
from .analysis.leaks import find_leaks as find_leaks
from .analysis.leaks import views_of as views_of

__version__: str
