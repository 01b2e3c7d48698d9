"""`import armarl` registers the environments and imports little. Its public names exist."""

import subprocess
import sys

import gymnasium
import pettingzoo
import pytest

import armarl
from armarl.environments.registration import gymnasium_variants
from armarl.games.catalogue import OURS, GameEntry, game_names
from paths import EXAMPLES
from variants import every_game

IDS = [pair for entry in OURS for pair in gymnasium_variants(entry)]


@pytest.mark.parametrize(("name", "options"), IDS)
def test_gymnasium_can_make_every_id(name, options):
    for spelling in (name, f"armarl:{name}"):
        env = gymnasium.make(spelling)
        game = env.unwrapped.game
        assert game.name == options["game"]
        assert game.players == options.get("players", 2)
        for switch in {"advanced", "cards", "enrolment"} & game.options.keys():
            assert game.options[switch] == options.get(switch, False)
        observation, _info = env.reset(seed=0)
        assert env.observation_space.contains(observation)


def test_the_registered_ids_are_the_documented_ones():
    assert [name for name, _ in IDS] == [
        "armarl/Armadora-v0",
        "armarl/Armadora-2p-v0",
        "armarl/Armadora-3p-v0",
        "armarl/Armadora-4p-v0",
        "armarl/Armadora-advanced-2p-v0",
        "armarl/Armadora-advanced-3p-v0",
        "armarl/Armadora-advanced-4p-v0",
        "armarl/Armadora-mini-v0",
        "armarl/Armada-v0",
        "armarl/Armada-2p-v0",
        "armarl/Armada-3p-v0",
        "armarl/Armada-4p-v0",
        "armarl/Armada-enrolment-2p-v0",
        "armarl/Armada-enrolment-3p-v0",
        "armarl/Armada-enrolment-4p-v0",
        "armarl/Armada-cards-2p-v0",
        "armarl/Armada-cards-3p-v0",
        "armarl/Armada-cards-4p-v0",
        "armarl/Armada-cards-enrolment-2p-v0",
        "armarl/Armada-cards-enrolment-3p-v0",
        "armarl/Armada-cards-enrolment-4p-v0",
    ]


@every_game
def test_keywords_override_the_options_of_an_id(variant):
    name = f"armarl/{variant.title}-v0"
    env = gymnasium.make(name, players=4, seat=3, opponents="greedy").unwrapped
    assert (env.game.players, env.seat) == (4, 3)
    assert [player.name for player in env.opponents] == ["greedy"] * 3
    # TorchRL's GymEnv passes `frameskip`. If the error has this text, it tries without `frameskip`.
    with pytest.raises(TypeError, match="unexpected keyword argument 'player'"):
        gymnasium.make(name, player=4)


@pytest.mark.skipif(not hasattr(pettingzoo, "make"), reason="PettingZoo before 1.27: no registry")
@every_game
def test_pettingzoo_can_make_every_game(variant):
    env = pettingzoo.make("aec", f"armarl/{variant.game}-v0", players=3)
    assert type(env) is type(variant.aec())
    assert (env.game.name, env.game.players) == (variant.game, 3)
    assert env.metadata["render_fps"] > 0
    env = pettingzoo.make("aec", f"armarl/{variant.game}_v0", max_cycles=1)
    env.reset(seed=0)
    env.step(int(env.last()[0]["action_mask"].argmax()))
    assert all(env.truncations.values())
    assert pettingzoo.make("aec", f"armarl/{variant.game}-v0", max_cycles=-1)._limit is None


@pytest.mark.skipif(not hasattr(pettingzoo, "make"), reason="PettingZoo before 1.27: no registry")
def test_pettingzoo_needs_an_import_of_armarl():
    """The error message is PettingZoo's, so docs/environments/environments.md explains it."""
    ask = "import pettingzoo\ntry: pettingzoo.make('aec', 'armarl/armadora-v0')\n"
    ask += "except Exception as error: print(type(error).__name__, error)"
    assert python(ask) == "NamespaceNotFound Namespace 'armarl' not found in registry.\n"


@every_game
def test_the_package_has_its_public_names(variant):
    assert armarl.__version__.count(".") == 2
    game = armarl.make_game(variant.game, players=3)
    assert armarl.make_player("random", game).name == "random"
    for name in armarl.__all__:
        assert getattr(armarl, name)
    with pytest.raises(AttributeError, match="no attribute 'make_gam'"):
        _ = armarl.make_gam


def test_the_modules_of_pettingzoo_environments_are_attributes_of_the_package():
    ask = (
        "import sys, armarl\n"
        "print('armarl.armada_v0' in sys.modules, {'armada_v0', 'armadora_v0'} <= set(dir(armarl)))"
        "\nprint(armarl.armadora_v0.__name__, armarl.armada_v0.env.__name__)"
    )
    assert python(ask) == "False True\narmarl.armadora_v0 env\n"


def python(code):
    """Return the output of a new Python process that turns all warnings into errors."""
    command = [sys.executable, "-W", "error", "-c", code]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


@every_game
def test_an_import_is_quick_and_prints_nothing(variant):
    heavy = ["torch", "pygame", "stable_baselines3", "pydantic", "rich"]
    loaded = "import sys; print(*[name for name in {} if name in sys.modules])"
    assert python("import armarl; " + loaded.format(["numba", "yaml", *heavy])).strip() == ""
    use = f"from armarl import {variant.game}_v0 as game; game.env().reset(seed=0); "
    if variant.game == "kuhn_poker":  # this game is not in the package, so it has no module there
        use = (
            f"import sys; sys.path.append({str(EXAMPLES)!r}); "
            "import armarl, gymnasium, kuhn_poker; "
            "armarl.register_game(kuhn_poker.ENTRY); "
            "gymnasium.make('armarl/KuhnPoker-v0').reset(seed=0); "
        )
    assert python(use + loaded.format(heavy)).strip() == ""


@pytest.mark.parametrize(
    ("variant", "message"),
    [
        ({"others": {"a b!": {}}}, "letters, digits, hyphens, underscores and dots, not 'a b!'"),
        ({"others": {"a:b": {}}}, "letters, digits, hyphens, underscores and dots, not 'a:b'"),
        ({"others": {"": {}}}, "letters, digits, hyphens, underscores and dots, not ''"),
        ({"others": {7: {}}}, "letters, digits, hyphens, underscores and dots, not 7"),
        ({"others": {"2p": {"players": 3}}}, "two variants are called 2p"),
        ({"others": {"big-2p": {}}, "switches": ("big",)}, "two variants are called big-2p"),
        ({"switches": ("a b",)}, "underscores and dots, not 'a b-2p'"),
        ({"players": (2, 2)}, "two variants are called 2p"),
    ],
    ids=str,
)
def test_a_game_with_invalid_ids_is_not_registered_in_part(variant, message):
    """Regression: the name and some ids stayed registered, or a variant was lost."""
    given = {"name": "torn", "module": "none", "title": "Torn", "summary": "", "players": (2,)}
    with pytest.raises(ValueError, match=f"^torn: .*{message}"):
        armarl.register_game(GameEntry(**given | variant))
    assert "torn" not in game_names()
    assert not any("Torn" in name for name in gymnasium.registry)


def test_a_game_must_be_registered_by_its_entry():
    with pytest.raises(TypeError, match="a game must be added as a GameEntry"):
        armarl.register_game("armadora")
