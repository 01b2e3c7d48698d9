"""Cards of saved policies: our policies, policies of others, and damaged policies."""

import dataclasses

import pytest

import measure_shipped_policies
import tiny
from armarl import play_match
from armarl.arena.policy_card import read_card
from armarl.arena.policy_card_text import card_text, facts
from armarl.games.make_game import make_game
from armarl.players.registry import shipped_policies
from armarl.policies.policy_checks import layer_widths
from armarl.policies.safetensors_file import FORMAT, PolicyError, write_tensors
from armarl.policies.saved_policy import load_policy, read_policy_metadata
from armarl.policies.weight_kinds import weight_kind
from armarl_training.common.kept_policies import as_kept, keep_policies
from armarl_training.config.training_config import load_config

GAME = make_game("armadora")
MATCH = play_match(GAME, ["greedy", "random"], games=2).as_dict()
CURVE = [
    {"decisions": 100.0 * k, "minutes": 0.5 * k, "rating": 10.0 * k, "wins/greedy": k / 50}
    for k in range(50)
]


def policy(folder, **metadata):
    """Write a policy file with these metadata and a correct checksum."""
    whole = {"format": FORMAT, "variant": GAME.variant, "activation": "tanh", **metadata}
    write_tensors(folder / "policy.safetensors", tiny.tensors(GAME), whole)
    return folder / "policy.safetensors"


@pytest.mark.parametrize("name", shipped_policies())
def test_the_card_of_a_shipped_policy_has_its_facts(name):
    card, metadata = read_card(name), read_policy_metadata(name)
    config, text = metadata["training"]["config"], card_text(card)
    assert (card.training.learner, card.training.seed) == (config["learner"], config["seed"])
    assert f"{metadata['training']['decisions']:,} decisions" in text
    kinds = {"td": "a judge of", "critic": "a critic of", "ppo": "a network over"}
    assert kinds[config["learner"]] in card.plays
    assert card.parameters == sum(tensor.size for tensor in load_policy(name).tensors.values())
    for match, measured in zip(metadata["strength"], card.strength, strict=True):
        policy, rival = match["standings"]
        assert dataclasses.asdict(measured.standing) == policy
        assert measured.opponent == rival["player"]
        assert measured.held_out == (measured.opponent not in config["opponents"]["players"]) or (
            measured.opponent in metadata["advisers"]
        )
        shown = next(line for line in text.splitlines() if line.startswith(measured.opponent + " "))
        assert f"{100 * policy['win_rate']:.1f} %" in shown
        assert shown.endswith(f" {policy['cut_short']}")
    assert sum(card.training.opponents.values()) == pytest.approx(1)
    assert len(text.splitlines()) < 40


@pytest.mark.parametrize("name", shipped_policies())
def test_a_card_has_the_command_that_trains_the_policy_again(name):
    """The command names a shipped configuration with the policy's learner and game."""
    card = read_card(name)
    assert card.again == f"armarl train {name}"
    config = load_config(name)
    assert config.learner == card.training.learner
    assert make_game(config.game, **config.options).variant == load_policy(name).game.variant


def test_a_card_has_the_command_that_trains_a_run_s_policy_again(tmp_path):
    folder = tmp_path / "a run"
    folder.mkdir()
    path = tiny.policy(folder, GAME)
    assert read_card(path).again is None
    assert "no command; `info --json` shows the settings" in card_text(read_card(path))
    (folder / "config.yaml").touch()
    assert read_card(folder).again == f"armarl train '{folder}/config.yaml' --run NEW_FOLDER"
    path.rename(folder / "another.safetensors")  # then the run is unknown
    assert read_card(folder / "another.safetensors").again is None


def test_a_card_of_a_file_with_few_metadata_is_short(tmp_path):
    card = read_card(tiny.policy(tmp_path, GAME))
    said, text = facts(card), card_text(card)
    assert said["variant"] == "armadora for 2 players, advanced=False, peek=True"
    layers = f"policy 16-{len(GAME.actions)}, value 16-1"
    assert said["network"] == f"{layers}: {card.parameters:,} weights"
    assert said["rules"] == f"learnt under version {GAME.version}"
    assert text.startswith(f"{card.name}: {said['variant']}\n\nrules       learnt")
    labels = [line.split()[0] for line in text.splitlines()[2:] if line and line[0] != " "]
    assert labels == ["rules", "plays", "network", "retrain"]
    assert facts(read_card(policy(tmp_path)))["network"] == f"{card.parameters:,} weights"


def test_a_card_shows_the_curve(tmp_path):
    """A card shows at most six rows of the curve, including the first and the last."""
    card = read_card(policy(tmp_path, training={"curve": CURVE}))
    assert card.training.curve == CURVE
    head, *rows = card_text(card).split("the bars show the rating\n")[1].splitlines()
    assert head.split() == ["decisions", "rating", "greedy"]
    assert len(rows) == 6
    assert rows[0].split() == ["0", "0", "0", "%"]
    assert rows[-1].split() == ["4,900", "490", "#" * 24, "98", "%"]
    bars = [row.count("#") for row in rows]
    assert bars == sorted(bars)


def test_a_card_shows_hardware_start_and_opponents(tmp_path):
    settings = {
        "start_from": "armadora-2p",
        "imitation": {"games": 1000, "teacher": "greedy"},
        "opponents": {"share": 0.2, "earlier": 1, "players": {"random": 3}},
    }
    hardware = {"processor": "a processor", "cores": 2}
    training = {"config": settings, "hardware": hardware}
    words = card_text(read_card(policy(tmp_path, training=training)))
    assert "hardware    processor a processor, cores 2\n" in words
    assert "start       armadora-2p and 1,000 games of greedy\n" in words
    assert "in 20 % of the games (random 75 %, earlier versions 25 %), otherwise itself\n" in words
    settings["opponents"]["share"] = 0
    assert "opponents   only itself\n" in card_text(read_card(policy(tmp_path, training=training)))


def without(match, key):
    """Return a match in which a part of the policy's result is missing."""
    first, second = match["standings"]
    return {**match, "standings": [{k: v for k, v in first.items() if k != key}, second]}


@pytest.mark.parametrize(
    ("metadata", "named"),
    [
        ({"variant": {}}, "variant.game is missing; it must be text"),
        ({"variant": {"game": "armadora", "players": "two"}}, "must be a whole number, not 'two'"),
        ({"training": 7}, "training.config.opponents.players is missing: 7 is not a JSON object"),
        ({"training": {"minutes": "long"}}, "training.minutes must be a number, not 'long'"),
        ({"training": {"minutes": True}}, "training.minutes must be a number, not True"),
        ({"training": {"decisions": 10**400}}, "decisions must be a whole number, not 1000"),
        ({"training": {"curve": {}}}, "training.curve must be a list, not {}"),
        ({"training": {"curve": [7]}}, "curve must be a JSON object, not 7"),
        ({"training": {"curve": [{"decisions": 1}]}}, "rating is missing; it must be a number"),
        ({"training": {"curve": [{**CURVE[0], "minutes": []}]}}, r"minutes must be .*, not \[\]"),
        ({"training": {"hardware": "fast"}}, "hardware must be a JSON object, not 'fast'"),
        ({"training": {"config": {"opponents": {"players": {"x": "1"}}}}}, "x must be .*, not '1'"),
        ({"network": {"policy": ["wide"]}}, "network must be a whole number, not 'wide'"),
        ({"advisers": "greedy"}, "advisers must be a list, not 'greedy'"),
        ({"strength": [7]}, "standings is missing: 7 is not a JSON object"),
        ({"strength": [{"standings": []}]}, "a match must have 2 standings, not 0"),
        ({"strength": [without(MATCH, "low")]}, "low is missing; it must be a number"),
    ],
    ids=lambda value: str(value)[:60],
)
def test_invalid_metadata_are_refused(tmp_path, metadata, named):
    path = policy(tmp_path, **metadata)
    with pytest.raises(PolicyError, match=f"{path.name} has invalid metadata: .*{named}"):
        read_card(path)


def test_a_card_cannot_control_the_terminal(tmp_path):
    """Text from strangers is shown without terminal escapes."""
    wild = "\x1b[2Jhardware\n"
    training = {"config": {"learner": wild}, "hardware": {wild: wild}}
    words = card_text(read_card(policy(tmp_path, training=training, strength=[MATCH])))
    assert "\x1b" not in words
    assert "?[2Jhardware" in words


@pytest.mark.parametrize("place", ["players", "opponents"])
def test_an_error_about_metadata_cannot_control_the_terminal(tmp_path, place):
    """Regression: the error contained a key unchanged."""
    wild = "\x1b[2J" + "x" * 5000
    config = {"opponents": {"players": {wild: "1"}}} if place == "players" else {"opponents": wild}
    with pytest.raises(PolicyError) as caught:
        read_card(policy(tmp_path, training={"config": config}))
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < 1000 + len(str(tmp_path))


@pytest.mark.parametrize(
    ("players", "share", "held_out"),
    [
        ({"greedy:noise=0.20": 1.0}, 0.5, False),
        ({" greedy:noise=0.2": 0.5}, 0.5, False),
        ({"greedy:noise=0.2": 0.0}, 0.5, True),
        ({"greedy:noise=0.2": 1.0}, 0.0, True),
        ({"greedy": 1.0}, 0.5, True),
    ],
)
def test_an_opponent_of_training_is_recognised_under_another_spelling(
    tmp_path, players, share, held_out
):
    match = play_match(GAME, ["random", "greedy:noise=0.2"], 2).as_dict()
    config = {"opponents": {"players": players, "share": share}}
    path = policy(tmp_path, strength=[match], training={"config": config})
    assert [measured.held_out for measured in read_card(path).strength] == [held_out]


@pytest.mark.parametrize("file", [None, "best.safetensors"])
@pytest.mark.parametrize("copied", [False, True])
def test_an_opponent_of_training_given_by_path_is_recognised_by_its_name(tmp_path, file, copied):
    """This also applies to a match against the run's own copy of the opponent."""
    rival = tmp_path / "rival"
    rival.mkdir()
    tiny.policy(rival, GAME, name=file or "policy.safetensors")
    rival = rival / file if file else rival
    keep_policies(tmp_path / "pool", [str(rival)])
    copy = as_kept(tmp_path / "pool", str(rival))
    match = play_match(GAME, ["random", copy if copied else rival], 2).as_dict()
    config = {"opponents": {"players": {str(rival): 1.0}, "share": 0.5}}
    path = policy(tmp_path, strength=[match], training={"config": config})
    assert not read_card(path).strength[0].held_out


def test_a_card_shows_the_version_of_the_rules_for_training_and_matches(tmp_path):
    """Matches under earlier versions of the rules are marked."""
    first, second = (GAME.variant | {"version": version} for version in (1, 2))
    old = MATCH | {"variant": first}
    new = MATCH | {"variant": second}
    new |= {"standings": [{**MATCH["standings"][0]}, {**MATCH["standings"][1]}]}
    new["standings"][1]["player"] = "greedy:style=other"
    path = policy(tmp_path, variant=second, strength=[old, new], learnt_version=1)
    card = read_card(path)
    assert facts(card)["rules"] == "learnt under version 1, measured under versions 1 and 2"
    assert "random (version 1) " in card_text(card).replace(" (held out)", "")
    assert "(version 2)" not in card_text(card)
    assert facts(read_card(policy(tmp_path, variant=second)))["rules"] == "learnt under version 2"


def test_versions_of_the_rules_are_checked(tmp_path):
    """Regression: version 0 was read as a missing version, and any number was accepted."""
    version = {**GAME.variant, "version": 2}
    path = tmp_path / "p.safetensors"
    whole = {"format": FORMAT, "variant": version, "activation": "tanh", "training": {}}
    tensors = tiny.tensors(GAME)
    whole |= {"network": layer_widths(weight_kind(tensors), tensors), "strength": []}
    for learnt in (0, 1, 2):
        write_tensors(path, tensors, whole | {"learnt_version": learnt})
        assert read_card(path).learnt_version == learnt
    for wrong in (-1, 3, 1.5, True, "1", 10**14):
        write_tensors(path, tensors, whole | {"learnt_version": wrong})
        with pytest.raises(PolicyError, match="learnt_version must be"):
            read_card(path)


def test_a_policy_measured_under_new_rules_keeps_the_version_of_its_training(tmp_path):
    game = make_game("armada")
    variant = game.variant | {"version": game.earlier[0]}
    details = {"training": {}, "strength": []}
    path = tmp_path / "old.safetensors"
    whole = {"format": FORMAT, "variant": variant, "activation": "tanh", **details}
    tensors = tiny.tensors(game)
    write_tensors(path, tensors, whole | {"network": layer_widths(weight_kind(tensors), tensors)})
    match = play_match(game, ["greedy", "greedy"], games=2)
    with pytest.warns(UserWarning, match="made for version 1"):
        measure_shipped_policies.keep(path, "greedy", match)
    for _ in range(2):
        assert read_policy_metadata(path)["variant"] == game.variant
        rules = facts(read_card(path))["rules"]
        assert rules == f"learnt under version 1, measured under version {game.version}"
        measure_shipped_policies.keep(path, "greedy", match)  # gives no warning
