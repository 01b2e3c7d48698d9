"""Players that search, for every game: by its verbs alone, and from what a seat may know alone."""

from armarl.search.improve import PolicySearchPlayer
from armarl.search.player import FlatPlayer, IsmctsPlayer, SearchPlayer

__all__ = ["FlatPlayer", "IsmctsPlayer", "PolicySearchPlayer", "SearchPlayer"]
