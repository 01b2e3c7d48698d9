"""Training configurations are read, checked, overridden and written."""

import copy
import itertools
import json
import pickle
from importlib import import_module
from typing import get_args

import pytest
import yaml
from pydantic import ValidationError

from armarl_training.common import hardware
from armarl_training.config.learner_kinds import LEARNERS, LearnerName, either, readers
from armarl_training.config.training_config import (
    ConfigError,
    TrainingConfig,
    load_config,
    shipped_configs,
)
from armarl_training.run.config_checks import resolve_precision

SHIPPED = sorted(shipped_configs().values())


@pytest.fixture
def write(tmp_path):
    def write(text):
        (tmp_path / "run.yaml").write_text(text, encoding="utf-8")
        return tmp_path / "run.yaml"

    return write


def refused(path, overrides=()):
    with pytest.raises(ConfigError) as caught:
        load_config(path, list(overrides))
    return str(caught.value)


# --- reading -------------------------------------------------------------------------------------


def test_a_configuration_of_one_line_has_defaults_for_the_rest(write):
    config = load_config(write("total_decisions: 1000"))
    assert config == TrainingConfig(total_decisions=1000)
    assert (config.game, config.reward, config.ppo.epochs) == ("armadora", "win", 2)


@pytest.mark.parametrize(
    ("flags", "quicker"),
    [
        ("fpu avx512f avx2", "float32"),
        ("fpu avx512_bf16", "bfloat16"),
        ("amx_bf16", "bfloat16"),
        ("", "float32"),
    ],
)
def test_the_default_precision_is_the_faster_one_on_this_machine(flags, quicker, monkeypatch):
    monkeypatch.setattr(hardware, "_of_the_processor", lambda name: {"flags": flags}[name])
    config = TrainingConfig(total_decisions=1000)
    assert config.ppo.precision == "auto"
    held_back = config.overridden(["ppo.magnet=1"], "it")
    assert resolve_precision(held_back).ppo.precision == quicker
    assert resolve_precision(held_back) == held_back.overridden([f"ppo.precision={quicker}"], "it")
    # Many actions are legal, so the processor's matrix units are faster than sparse passes in
    # float32.
    units = "amx_bf16" in flags
    assert resolve_precision(config).ppo.precision == ("bfloat16" if units else "float32")
    armada = TrainingConfig(total_decisions=1000, game="armada")
    assert resolve_precision(armada).ppo.precision == "float32"


def test_a_precision_that_the_user_sets_is_kept():
    config = TrainingConfig.model_validate(
        {"total_decisions": 1000, "device": "cuda", "ppo": {"precision": "bfloat16"}}
    )
    assert resolve_precision(config) is config


def test_the_table_of_learners_is_complete():
    """The table contains all learners, and every class and setting that it names exists."""
    assert set(LEARNERS) == set(get_args(LearnerName))
    fields, network = TrainingConfig.model_fields, TrainingConfig.model_fields["network"].annotation
    settings = {*fields, *(f"network.{name}" for name in network.model_fields)}
    for kind in LEARNERS.values():
        module, name = kind.made_by.split(":")
        assert hasattr(import_module(module), name)
        assert kind.section in fields
        assert kind.reads <= settings
    assert (readers("device"), readers("network.advisers")) == ("ppo", "ppo or critic")
    assert either(["ppo", "td", "critic"]) == "ppo, td or critic"


def test_the_error_for_a_wrong_learner_lists_the_learners(write):
    path = write("total_decisions: 1000")
    said = "learner: must be ppo, td, critic or maskable_ppo, or module:Class, got "
    for name in ("sac", "PPO", "a:", "a.b", ":b", "a b:C", "a:b:C", "''"):
        assert said in refused(path, [f'learner="{name}"'])
    assert "learner: Input should be a valid string, not 3" in refused(path, ["learner=3"])
    mine = ["learner=my.module:Mine", "ppo.epochs=3", "td.epochs=3", "network.channels=4"]
    assert load_config(path, mine).learner == "my.module:Mine"


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_shipped_configurations_are_right(path):
    config = load_config(path)
    assert config.total_decisions > 0


def test_shipped_configurations_have_names(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    for name, path in shipped_configs().items():
        assert load_config(name) == load_config(path)


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_a_written_configuration_reads_back(path, write):
    config = load_config(path, ["options.players=3", "environments=1024", "network.widths=[8]"])
    again = load_config(write(config.dump()))
    assert again == config
    assert again.dump() == config.dump()
    # All settings are written, even defaults, so a later version with other defaults changes
    # nothing.
    settings = yaml.safe_load(config.dump())
    assert set(settings) == set(TrainingConfig.model_fields)
    assert set(settings["ppo"]) == set(type(config.ppo).model_fields)


def test_overrides_change_settings(write):
    path = write("total_decisions: 1000\nppo: {epochs: 2, minibatch: 64}\n")
    config = load_config(
        path,
        [
            "total_decisions=2_000",
            "ppo.epochs=3",
            "network.widths=[32, 16]",
            "network.activation=tanh",
            "options.advanced=true",
            "evaluation.opponents=[random]",
            "time_limit_minutes=0.5",
            "ppo.learning_rate=7e-4",
            "reward=gold",
        ],
    )
    assert config.total_decisions == 2000
    assert (config.ppo.epochs, config.ppo.minibatch) == (3, 64)
    assert (config.network.widths, config.network.activation) == ((32, 16), "tanh")
    assert config.options == {"advanced": True}
    assert config.evaluation.opponents == ("random",)
    assert config.time_limit_minutes == 0.5
    assert config.ppo.learning_rate == 7e-4
    assert config.reward == "gold"


def test_whole_numbers_may_be_written_with_an_exponent(write):
    path = write("total_decisions: 3e6\nppo: {learning_rate: 3e-4, entropy: 1}\nseed: 0x1e3\n")
    config = load_config(path, ["environments=1e+3"])
    assert (config.total_decisions, config.environments, config.seed) == (3_000_000, 1000, 0x1E3)
    assert (config.ppo.learning_rate, config.ppo.entropy) == (3e-4, 1.0)


def test_text_that_looks_like_a_number_stays_text(write):
    options = {
        "a": "3e6",
        "b": "2:30",
        "c": "1e-3",
        "d": "0x1e3",
        "e": "1.5",
        "f": "3e400",
        "g": "1_0",
    }
    config = TrainingConfig(total_decisions=1000, options=options)
    assert load_config(write(config.dump())).options == options


def test_a_setting_of_another_learner_is_refused(write):
    path = write("total_decisions: 1000\nlearner: td\nppo: {epochs: 3, magnet: 0.1}\n")
    assert "ppo.epochs, ppo.magnet: learner: td does not read ppo.*" in refused(path)
    assert load_config(path, ["ppo={}"]).learner == "td"
    kept = ["learner=maskable_ppo", "ppo.magnet=0", "ppo.precision=float32"]
    assert load_config(path, kept).ppo.epochs == 3  # `maskable_ppo` reads it
    # Old runs have such settings, because one setting of precision once applied to all learners.
    assert load_config(path, ["ppo={precision: float32}"]).td.epochs == 4


def test_an_error_names_the_overrides_that_caused_it(write):
    assert "run.yaml with seed=1 with td.epoch=3:" in refused(
        write("total_decisions: 1000"), ["seed=1", "td.epoch=3"]
    )


def test_a_name_with_its_words_in_another_order_is_suggested():
    with pytest.raises(FileNotFoundError, match=r"did you mean armadora-2p-advanced\?"):
        load_config("armadora-advanced-2p")
    with pytest.raises(FileNotFoundError, match=r"seed=3 is a setting; name a config.* armadora-q"):
        load_config("seed=3")
    with pytest.raises(TypeError, match=r"TrainingConfig\.model_validate"):
        load_config({"total_decisions": 1000})


def test_the_last_override_counts(write):
    path = write("total_decisions: 1000")
    assert load_config(path, ["seed=1", "seed=2"]).seed == 2
    assert load_config(path, ["time_limit_minutes=null"]).time_limit_minutes is None


@pytest.mark.parametrize(
    ("override", "player", "weight"),
    [
        ("opponents.players.random=0.5", "random", 0.5),
        ("opponents.players.greedy:style=settler=1", "greedy:style=settler", 1),
        ("opponents.players.runs/the.best=2", "runs/the.best", 2),
    ],
)
@pytest.mark.parametrize("said", ["", "opponents: {share: 0.3}", "opponents: {players: {me: 3}}"])
def test_an_override_of_one_player_s_weight_keeps_the_others(write, said, override, player, weight):
    path = write(f"total_decisions: 1000\n{said}\n")
    others = load_config(path).opponents.players
    changed = load_config(path, [override])
    assert changed.opponents.players == {**others, player: weight}
    assert load_config(path).overridden([override], "it") == changed


def test_a_configuration_cannot_be_changed():
    """Regression: its mappings could be."""
    settings = {"total_decisions": 1000, "options": {"players": 3}}
    config = TrainingConfig.model_validate(settings)
    settings["options"]["players"] = 9  # the configuration has its own copy
    with pytest.raises(ValidationError, match="frozen"):
        config.seed = 1
    for mapping in (config.options, config.opponents.players, TrainingConfig(**settings).options):
        with pytest.raises(TypeError, match="does not support item assignment"):
            mapping["players"] = 9
    for copy_of in (copy.deepcopy, lambda one: pickle.loads(pickle.dumps(one))):
        assert copy_of(config) == config
    assert TrainingConfig(total_decisions=1000, options=config.options) == config
    assert config.model_dump()["options"] == {"players": 3}
    assert json.loads(config.model_dump_json())["opponents"]["players"]["greedy"] == 0.4
    assert config.overridden(["options.advanced=true"], "it").options == {
        "players": 3,
        "advanced": True,
    }


@pytest.mark.parametrize("precision", ["x", "float64", None])
def test_an_unknown_precision_is_refused(precision):
    config = TrainingConfig(total_decisions=1000)
    with pytest.raises(ConfigError, match=r"must be auto, float32 or bfloat16, not "):
        config.with_precision(precision)
    assert config.with_precision("bfloat16").ppo.precision == "bfloat16"


# --- refusals ------------------------------------------------------------------------------------


def test_an_unknown_setting_names_the_known_ones(write):
    message = refused(write("total_decisions: 1000\nenvironmnets: 3\n"))
    assert "environmnets: unknown setting (did you mean environments?); choose from " in message
    nested = refused(write("total_decisions: 1000"), ["learning_rate=0.1"])
    assert "learning_rate: unknown setting (did you mean ppo.learning_rate or td." in nested
    players = refused(write("total_decisions: 1000"), ["players=3"])
    assert "(did you mean options.players or opponents.players?)" in players
    device = refused(write("total_decisions: 1000"), ["device=gpu"])
    assert "device: must be cpu, cuda or a numbered GPU such as cuda:0, not 'gpu'" in device
    assert all(name in message for name in TrainingConfig.model_fields)
    message = refused(write("total_decisions: 1000\nppo: {epoch: 3}\n"))
    assert (
        "ppo.epoch: unknown setting (did you mean epochs?); choose from rollout_length, minibatch, "
        in message
    )
    assert "environments" not in message
    message = refused(write("total_decisions: 1000"), ["opponents.rnadom=1"])
    assert "opponents.rnadom: unknown setting; choose from share, " in message


@pytest.mark.parametrize(
    ("setting", "named"),
    [
        ("ppo.epochs=many", "ppo.epochs: Input should be a valid integer"),
        ("ppo.epochs=2.5", "ppo.epochs: Input should be a valid integer"),
        ("ppo.epochs=0", "ppo.epochs: Input should be greater than 0, not 0"),
        ("ppo.epochs=", "ppo.epochs: Input should be a valid integer"),
        ("ppo.learning_rate=fast", "ppo.learning_rate: Input should be a valid number"),
        ("ppo.learning_rate=-1", "ppo.learning_rate: Input should be greater than 0, not -1"),
        ("ppo.learning_rate=.inf", "ppo.learning_rate: Input should be a finite number"),
        ("ppo.averaging=1", "ppo.averaging: Input should be less than 1"),
        ("ppo.gae_lambda=.nan", "ppo.gae_lambda: Input should be a finite number"),
        ("network.widths=[16, -1]", "network.widths.1: Input should be greater than 0, not -1"),
        ("network.widths=[]", "network.widths: Tuple should have at least 1 item"),
        ("network.widths=wide", "network.widths: must be a list, as in [64, 64]"),
        ("network.critic_widths=[]", "network.critic_widths: Tuple should have at least 1 item"),
        ("network.activation=gelu", "network.activation: Input should be 'relu' or 'tanh'"),
        ("seed=-1", "seed: Input should be greater than or equal to 0"),
        ("total_decisions=0", "total_decisions: Input should be greater than 0"),
        ("options=3", "options: must be names and values, as in {players: 3}, not 3"),
        ("ppo=3", "ppo: must be settings and values, as in {epochs: 3}, not 3"),
        ("evaluation.opponents=[1]", "evaluation.opponents.0: Input should be a valid string"),
        ("opponents.share=-0.5", "opponents.share: Input should be greater than or equal to 0"),
        ("seed='5'", "seed: Input should be a valid integer"),
        ("seed=true", "seed: Input should be a valid integer"),
        ("seed=5.0", "seed: Input should be a valid integer"),
        ("environments=1.0", "environments: Input should be a valid integer"),
        ("time_limit_minutes=2:30", "time_limit_minutes: Input should be a valid number"),
        (
            "td.epochs=3",
            "td.epochs: learner: ppo does not read td.*; use ppo.* instead",
        ),
        ("total_decisions=1" + "0" * 4000, "total_decisions: Input should be less than"),
        ("network.widths=[100000]", "network.widths.0: Input should be less than or equal to"),
        ("ppo.learning_rate=true", "ppo.learning_rate: Input should be a valid number, not True"),
        ("ppo.clip_range=true", "ppo.clip_range: Input should be a valid number, not True"),
        ("time_limit_minutes=true", "time_limit_minutes: Input should be a valid number"),
        ("ppo.entropy='0.1'", "ppo.entropy: Input should be a valid number, not '0.1'"),
        ("td.cut_traces=1", "td.cut_traces: Input should be a valid boolean, not 1"),
        ("opponents.players={greedy: 1, greedy: 2}", "'greedy' is given twice"),
        ("evaluation.opponents=[greedy, random, greedy]", "opponents has 'greedy' twice"),
        ("evaluation.opponents=[]", "evaluation.opponents: Tuple should have at least 1 item"),
        ("opponents.players={greedy: 1.0e308}", "opponents: the sum of the weights must be"),
    ],
)
def test_wrong_values_are_refused(write, setting, named):
    message = refused(write("total_decisions: 1000"), [setting])
    assert named in message


@pytest.mark.parametrize(
    ("learner", "setting", "named"),
    [
        ("td", "network.activation=tanh", "network.activation must be relu, got tanh"),
        ("critic", "network.critic_widths=[8]", "has no effect with learner: critic"),
        ("maskable_ppo", "network.critic_widths=[8]", "has no effect with learner: maskable_ppo"),
        ("td", "early_reward.reward=gold", "early_reward needs learner: ppo"),
        ("ppo", "ppo.looks=2", "ppo.looks needs opponents.share: 0"),
        *(
            ("maskable_ppo", f"ppo.{idle}", f"ppo.{idle.partition('=')[0]}: learner: maskable")
            for idle in (
                *("value_lambda=0.9", "magnet=0.1", "looks=2", "openings=0.5"),
                *("opening_length=3", "averaging=0"),
            )
        ),
    ],
)
def test_a_setting_that_the_learner_would_ignore_is_refused(write, learner, setting, named):
    advised = ["network.advisers=[greedy]"] if learner == "critic" else []
    path = write("total_decisions: 1000")
    load_config(path, [f"learner={learner}", *advised])
    assert named in refused(path, [f"learner={learner}", *advised, setting])


def test_lookahead_and_an_early_reward_cannot_be_combined(write):
    alone = ["ppo.looks=2", "opponents.share=0"]
    path = write("total_decisions: 1000")
    load_config(path, alone)
    assert "cannot be combined" in refused(path, [*alone, "early_reward.reward=gold"])


@pytest.mark.parametrize(
    "adviser",
    ["random", "greedy:noise=0.2", "greedy+search:9", "armada-3p", "greedy:first_random=2"],
)
@pytest.mark.parametrize("learner", ["critic", "ppo"])
def test_advisers_must_be_scripted_players(write, learner, adviser):
    settings = f"total_decisions: 1000\nlearner: {learner}\ngame: armada\n"
    path = write(settings + f"network: {{advisers: ['greedy:style=admiral', '{adviser}']}}\n")
    message = refused(path)
    assert "network: an adviser must be the scripted player, such as greedy or " in message
    assert f", not '{adviser}'" in message


def test_all_errors_are_reported_together(write):
    message = refused(write("seed: x\nthreads: 0\n"))
    for named in ("run.yaml", "seed: ", "threads: ", "total_decisions: missing"):
        assert named in message


def test_a_run_without_opponents_is_refused(write):
    weights = ["opponents.earlier=0", "opponents.players={}"]
    message = refused(write("total_decisions: 1000"), weights)
    assert "at least one opponent needs a weight above 0" in message


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("total_decisions: [", "is not valid YAML"),
        ("a: b: c", "is not valid YAML"),
        ("total_decisions: 5\nseed: 1\nppo: {}\nseed: 2\n", "'seed' is given twice"),
        ("- 1\n- 2\n", "must contain settings"),
        ("nonsense", "must contain settings"),
        ("", "total_decisions: missing, and it has no default"),
        ("1: 2\ntotal_decisions: 5", "1: "),
        ("!!python/object/apply:os.getcwd []", "is not valid YAML"),
    ],
)
def test_a_file_that_is_not_a_configuration_is_refused(write, text, named):
    assert named in refused(write(text))


@pytest.mark.parametrize(
    ("override", "named"),
    [
        ("ppo.epochs", "'ppo.epochs' must be written key=value"),
        ("seed.x=1", "seed is a value, not a section"),
        ("ppo.epochs=[", "'ppo.epochs=[': the value is not valid YAML"),
    ],
)
def test_wrong_overrides_are_refused(write, override, named):
    assert named in refused(write("total_decisions: 1000\nseed: 3"), [override])


def billion_laughs():
    lines = ["a: &a [x, x, x, x, x, x, x, x, x, x]"]
    lines += [
        f"{b}: &{b} [{', '.join(['*' + a] * 10)}]" for a, b in itertools.pairwise("abcdefghi")
    ]
    return "\n".join(lines).encode()


@pytest.mark.parametrize(
    ("content", "named"),
    [
        (billion_laughs(), "aliases"),
        (b"total_decisions: 1000\ngame: caf\xe9\n", "can't decode byte 0xe9"),
        (b"options: " + b"[" * 20_000, "nested too deeply"),
        (b"total_decisions: " + b"9" * 5000, "Exceeds the limit"),
        (b"total_decisions: 1000 # " + b"x" * (1 << 15), "larger than 32,768 bytes"),
        (b"? [a]\n: 1", "is not valid YAML"),
        (b"options:\n\tplayers: 2", "cannot start any token"),
        (b"total_decisions: 1000\x00", "is not valid YAML"),
    ],
    ids=["aliases", "latin-1", "depth", "digits", "size", "list as key", "tab", "nul"],
)
def test_malicious_files_are_refused(tmp_path, content, named):
    path = tmp_path / "run.yaml"
    path.write_bytes(content)
    assert named in refused(path)
    assert all(line.isprintable() for line in refused(path).split("\n"))


def test_a_resumed_run_may_change_only_some_settings():
    config = TrainingConfig(total_decisions=1000)
    changed = config.changed(["total_decisions=2_000", "evaluation.games=5", "threads=1"])
    assert (changed.total_decisions, changed.evaluation.games, changed.threads) == (2000, 5, 1)
    assert changed.ppo == config.ppo
    for setting in ("seed=2", "ppo.epochs=3", "environments=7", "nonsense=1"):
        with pytest.raises(ConfigError, match=r"keeps its .*; settings that can change are total_"):
            config.changed([setting])
    with pytest.raises(ConfigError, match="total_decisions: Input should be greater than 0"):
        config.changed(["total_decisions=0"])
    with pytest.raises(ConfigError, match=r"its opponents\.players\.greedy:style=settler;"):
        config.changed(["opponents.players.greedy:style=settler=1"])


@pytest.mark.parametrize("settings", ["total_decisions=5", {"total_decisions": 5}, [5]])
def test_overrides_are_a_list_of_texts(write, settings):
    config = TrainingConfig(total_decisions=1000)
    path = write("total_decisions: 1000")
    for change in (
        lambda: load_config(path, settings),
        lambda: config.changed(settings),
        lambda: config.overridden(settings, "it"),
    ):
        with pytest.raises(TypeError, match=r"settings must be a list of strings, as in .* got "):
            change()


def test_a_missing_file_is_reported(tmp_path):
    with pytest.raises(
        FileNotFoundError, match=r"none\.yaml.*shipped configurations: .*armadora-quick"
    ):
        load_config(tmp_path / "none.yaml")
