"""Players: whoever chooses actions for seats, in environments, matches and at the table.

A player is a pure function of what a seat may know and of one random number per decision. It gets
*concealed* states (see `Game.concealed`), so it cannot look at what its seat may not see, and it
keeps no memory and no random generator, so that a game repeats from its seed, alone or in a batch.

A player is named by a specification (see `specs`), and `make_player` makes it. `register_player`
adds names to those that there are.

`protocol` says what a player is and guards his choices, `plain` and `around` hold our own, `making`
makes them by name.
"""

from armarl.players.protocol import (
    Player,
    Thinker,
    Thoughts,
    ask_thoughts,
    check_variant,
    choose_legally,
    digest_of,
    everybody,
)
from armarl.players.simple_players import (
    GreedyPlayer,
    HumanPlayer,
    PatientPlayer,
    RandomPlayer,
    pick_at,
    rivals,
    style_names,
    style_number,
)
from armarl.players.wrappers import NoisyPlayer, OpeningPlayer, split_draws
from armarl.roster.make_player import (
    BUILT_AROUND,
    BUILT_IN,
    Factory,
    PlayerLike,
    as_spec,
    called,
    file_refusal,
    label,
    make_player,
    pickle_refusal,
    policy_path,
    register_player,
    registered,
    shipped_policies,
)

__all__ = [
    "BUILT_AROUND",
    "BUILT_IN",
    "Factory",
    "GreedyPlayer",
    "HumanPlayer",
    "NoisyPlayer",
    "OpeningPlayer",
    "PatientPlayer",
    "Player",
    "PlayerLike",
    "RandomPlayer",
    "Thinker",
    "Thoughts",
    "as_spec",
    "ask_thoughts",
    "called",
    "check_variant",
    "choose_legally",
    "digest_of",
    "everybody",
    "file_refusal",
    "label",
    "make_player",
    "pick_at",
    "pickle_refusal",
    "policy_path",
    "register_player",
    "registered",
    "rivals",
    "shipped_policies",
    "split_draws",
    "style_names",
    "style_number",
]
