"""Players that search. They work for every game and use only the information of their seat."""

from armarl.search.best import best_search
from armarl.search.critics import CriticSearchPlayer
from armarl.search.improve import PolicySearchPlayer
from armarl.search.judged import JudgeSearchPlayer
from armarl.search.lookahead import RolloutPlayer
from armarl.search.player import FlatPlayer, IsmctsPlayer, SearchPlayer

__all__ = [
    "CriticSearchPlayer",
    "FlatPlayer",
    "IsmctsPlayer",
    "JudgeSearchPlayer",
    "PolicySearchPlayer",
    "RolloutPlayer",
    "SearchPlayer",
    "best_search",
]
