"""`import armarl`: what it registers, what it offers, and that it stays light."""

import subprocess
import sys

import gymnasium
import pettingzoo
import pytest

import armarl
from armarl import armadora_v0
from armarl.registration import gymnasium_variants


@pytest.mark.parametrize(("name", "options"), list(gymnasium_variants()))
def test_gymnasium_makes_every_id(name, options):
    for spelling in (name, f"armarl:{name}"):
        env = gymnasium.make(spelling)
        game = env.unwrapped.game
        assert game.players == options.get("players", 2)
        assert game.options["advanced"] == options.get("advanced", False)
        observation, _info = env.reset(seed=0)
        assert env.observation_space.contains(observation)


def test_the_ids_are_those_documented():
    assert [name for name, _ in gymnasium_variants()] == [
        "armarl/Armadora-v0",
        "armarl/Armadora-2p-v0",
        "armarl/Armadora-3p-v0",
        "armarl/Armadora-4p-v0",
        "armarl/Armadora-advanced-2p-v0",
        "armarl/Armadora-advanced-3p-v0",
        "armarl/Armadora-advanced-4p-v0",
    ]


def test_keywords_override_those_of_the_id():
    env = gymnasium.make("armarl/Armadora-v0", players=4, seat=3, opponents="greedy").unwrapped
    assert (env.game.players, env.seat) == (4, 3)
    assert [player.name for player in env.opponents] == ["greedy"] * 3
    with pytest.raises(TypeError, match="no option 'player'"):
        gymnasium.make("armarl/Armadora-v0", player=4)


@pytest.mark.skipif(not hasattr(pettingzoo, "make"), reason="PettingZoo before 1.27: no registry")
def test_pettingzoo_makes_it():
    env = pettingzoo.make("aec", "armarl/armadora-v0", players=3)
    assert type(env) is type(armadora_v0.env())
    assert env.game.players == 3


def test_the_package():
    assert armarl.__version__.count(".") == 2
    game = armarl.make_game("armadora", players=3)
    assert armarl.make_player("random", game).name == "random"
    for name in armarl.__all__:
        assert getattr(armarl, name)
    with pytest.raises(AttributeError, match="no attribute 'make_gam'"):
        _ = armarl.make_gam


def python(code):
    """What a new Python says that takes every warning for an error."""
    command = [sys.executable, "-W", "error", "-c", code]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def test_importing_is_light_and_silent():
    heavy = ["torch", "pygame", "stable_baselines3", "pydantic", "rich"]
    loaded = "import sys; print(*[name for name in {} if name in sys.modules])"
    assert python("import armarl; " + loaded.format(["numba", "yaml", *heavy])).strip() == ""
    use = "from armarl import armadora_v0; armadora_v0.env().reset(seed=0); "
    assert python(use + loaded.format(heavy)).strip() == ""
