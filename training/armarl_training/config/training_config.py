"""Training configurations: YAML files with types and checks. Any setting can be overridden."""

from __future__ import annotations

import shlex
from functools import cache
from pathlib import Path
from typing import Annotated, Any, get_args

from pydantic import (
    BaseModel,
    Field,
    ValidationError,
    field_validator,
    model_validator,
)
from pydantic.config import JsonDict
from pydantic.fields import FieldInfo

from armarl.common.files import CONFIG_FILE, read_text
from armarl.common.messages import brief, did_you_mean, printable
from armarl.common.read_only import ReadOnly
from armarl.games.catalogue import option_names
from armarl_training.config.learner_kinds import (
    LEARNERS,
    LearnerKind,
    either,
    is_from_outside,
    kind_of,
    readers,
)
from armarl_training.config.sections import (
    OURS,
    RESOLVED,
    Count,
    CriticConfig,
    EarlyRewardConfig,
    EvaluationConfig,
    ImitationConfig,
    Named,
    NetworkConfig,
    OpponentConfig,
    Positive,
    PPOConfig,
    Real,
    Section,
    TDConfig,
)
from armarl_training.config.yaml_text import dumped, parsed

MOST_BYTES = 1 << 15  # maximum size of a configuration, which PyYAML reads in at most a second
MOST_FAULTS = 20  # maximum number of errors in one report
# Settings that may change when a run is resumed, because they do not affect the part already done.
CHANGEABLE = (
    "total_decisions",
    "time_limit_minutes",
    "threads",
    "checkpoint_every_minutes",
    "ray",
    "device",
)
CHANGEABLE_SECTIONS = ("evaluation",)
PLAYERS = "opponents.players."  # prefix of keys that end in a player's name


class ConfigError(ValueError):
    """A configuration that cannot be used. The message names the settings and the valid values.

    Example:
        >>> from armarl_training.config.training_config import ConfigError, load_config
        >>> try:
        ...     load_config("armadora-quick", ["ppo.epochs"])
        ... except ConfigError as error:
        ...     print(error)
        'ppo.epochs' must be written key=value, like ppo.epochs=3
    """


class TrainingConfig(Section):
    """All settings of a training run. A configuration is immutable.

    Use `load_config` to read one from a YAML file, or `TrainingConfig.model_validate` to build
    one from a dictionary. `model_validate` raises `pydantic.ValidationError`, a ValueError, if a
    setting is unknown or wrong.

    Example:
        >>> from armarl_training import TrainingConfig
        >>> config = TrainingConfig.model_validate({"total_decisions": 1000, "learner": "td"})
        >>> config.td.epochs
        4
        >>> config.changed(["total_decisions=2000"]).total_decisions
        2000
    """

    learner: Annotated[str, Field(strict=True)] = Field(
        "ppo",
        description="learning method. `td`: judges of positions; `critic`: critics of scripted "
        "play; `ppo`: ArmaRL's own PPO; `maskable_ppo`: MaskablePPO of sb3-contrib; or "
        "`module:Class`: a learner of your own",
    )
    game: str = Field("armadora", description="name of the game; a game of your own also works")
    options: Named[Any] = Field(
        default_factory=lambda: ReadOnly({}),
        description="options of the game: players, advanced, ...",
    )
    reward: str = Field(
        "win",
        description="name of the reward to learn, such as win or gold; or `module:function`: a "
        "reward of your own; critic needs win",
    )
    seed: Annotated[int, Field(strict=True, ge=0, lt=1 << 31)] = Field(
        0, description="seed of all random numbers in training"
    )
    total_decisions: Positive = Field(description="number of decisions to learn from")
    time_limit_minutes: Real | None = Field(
        None,
        gt=0,
        description="time limit; the training ends at this limit or at `total_decisions`, "
        "whichever comes first",
    )
    environments: Count = Field(512, description="games played at the same time")
    shards: Annotated[int, Field(strict=True, gt=0, le=1024)] = Field(
        1,
        description="number of equal groups of environments, each with its own random numbers; it "
        "must divide environments",
        json_schema_extra=OURS,
    )
    ray: str | None = Field(
        None,
        description="address of a Ray cluster, which plays the matches at the end and, if there "
        "are several shards, the training games",
    )
    checkpoint_every_minutes: Real = Field(
        2.0,
        gt=0,
        description="time between two checkpoints; the short matches are played at each of them",
    )
    threads: Annotated[int, Field(strict=True, gt=0, le=1024)] = Field(
        2, description="number of torch's threads"
    )
    device: Annotated[str, Field(pattern=r"^(cpu|cuda(:[0-9]{1,3})?)$")] = Field(
        "cpu",
        description="torch device of the games and the networks, such as cpu, cuda or cuda:1; a "
        "GPU needs shards: 1",
    )
    start_from: str | None = Field(
        None,
        description="saved policy whose weights the run starts with; it may come from another "
        "variant of the game, such as one with more players",
    )
    network: NetworkConfig = NetworkConfig()  # type: ignore[call-arg]
    ppo: PPOConfig = PPOConfig()  # type: ignore[call-arg]
    td: TDConfig = TDConfig()  # type: ignore[call-arg]
    critic: CriticConfig = CriticConfig()  # type: ignore[call-arg]
    early_reward: EarlyRewardConfig = EarlyRewardConfig()  # type: ignore[call-arg]
    imitation: ImitationConfig = ImitationConfig()  # type: ignore[call-arg]
    opponents: OpponentConfig = OpponentConfig()  # type: ignore[call-arg]
    evaluation: EvaluationConfig = EvaluationConfig()  # type: ignore[call-arg]

    @field_validator("learner")
    @classmethod
    def _there_is_such_a_learner(cls, name: str) -> str:
        kind_of(name)
        return name

    @model_validator(mode="after")
    def _networks_of_the_learner(self) -> TrainingConfig:
        network, critic, reads = self.network, self.learner == "critic", self._kind.reads
        if network.channels and "network.channels" not in reads:
            wanted = readers("network.channels")
            raise ValueError(
                f"network.channels needs learner: {wanted}; leave it out, or set it to 0"
            )
        if network.advisers and "network.advisers" not in reads:
            wanted = readers("network.advisers")
            raise ValueError(
                f"network.advisers needs learner: {wanted}; leave it out, or set it to []"
            )
        if critic and (not network.advisers or network.activation != "relu"):
            raise ValueError(
                "learner: critic needs network.activation: relu, and scripted players as "
                "network.advisers; it improves the first of them"
            )
        if self.learner == "td" and network.activation != "relu":
            raise ValueError(
                f"with learner: td, network.activation must be relu, got {network.activation}"
            )
        if network.critic_widths is not None and "network.critic_widths" not in reads:
            raise ValueError(
                f"network.critic_widths has no effect with learner: {self.learner}; leave it out"
            )
        if self.early_reward.reward is not None and "early_reward" not in reads:
            raise ValueError(
                f"early_reward needs learner: {readers('early_reward')}; leave it out, or change "
                "the learner"
            )
        if critic and self.reward != "win":
            raise ValueError("learner: critic learns who wins, so it needs reward: win")
        if is_from_outside(self.reward) and (self.device != "cpu" or self.ppo.looks):
            raise ValueError(
                "a reward of your own is a Python function, so it needs device: cpu and "
                "ppo.looks: 0"
            )
        return self

    @model_validator(mode="after")
    def _looks_are_of_what_the_critic_learns(self) -> TrainingConfig:
        if self.learner == "ppo" and self.ppo.looks:
            if self.opponents.share > 0:
                raise ValueError(
                    "ppo.looks needs opponents.share: 0. The lookahead would ask the critic about "
                    "positions where an opponent is to move, but the critic is not trained on them"
                )
            if self.early_reward.reward is not None:
                raise ValueError("ppo.looks and early_reward cannot be combined; leave one out")
        return self

    @model_validator(mode="after")
    def _sections_of_the_learner(self) -> TrainingConfig:
        read = self._kind.section
        if read is None:
            return self
        for section in dict.fromkeys(kind.section for kind in LEARNERS.values()):
            if (
                section is not None
                and section != read
                and (idle := _differing(getattr(self, section)))
            ):
                raise ValueError(
                    f"{', '.join(f'{section}.{name}' for name in idle)}: learner: {self.learner} "
                    f"does not read {section}.*; use {read}.* instead (to discard the {section} "
                    f"settings of a file, give {section}={{}})"
                )
        if not self._kind.ours and (idle := _differing(getattr(self, read), only_ours=True)):
            named = ", ".join(f"{read}.{name}" for name in idle)
            raise ValueError(f"{named}: learner: {self.learner} does not read this; leave it out")
        return self

    @model_validator(mode="after")
    def _shards_are_alike(self) -> TrainingConfig:
        if self.environments % self.shards:
            raise ValueError(
                f"shards must divide environments ({self.environments}), got {self.shards}"
            )
        if self.shards > 1 and not self._kind.ours:
            wanted = either(name for name, kind in LEARNERS.items() if kind.ours)
            raise ValueError(f"shards: {self.shards} needs learner: {wanted} (or use shards: 1)")
        return self

    @model_validator(mode="after")
    def _device_of_the_learner(self) -> TrainingConfig:
        if self.device != "cpu" and ("device" not in self._kind.reads or self.shards > 1):
            wanted = readers("device")
            raise ValueError(f"device: {self.device} needs learner: {wanted} and shards: 1")
        return self

    @property
    def _kind(self) -> LearnerKind:
        return kind_of(self.learner)

    def with_precision(self, precision: str) -> TrainingConfig:
        """Return a copy with another `ppo.precision`: auto, float32 or bfloat16.

        Raises:
            ConfigError: there is no such precision.
        """
        known = get_args(PPOConfig.model_fields["precision"].annotation)
        if precision not in known:
            raise ConfigError(
                f"ppo.precision must be {either(known)}, not {brief(repr(precision))}"
            )
        return self.model_copy(update={"ppo": self.ppo.model_copy(update={"precision": precision})})

    def dump(self) -> str:
        """Return the configuration with all its settings, as YAML text."""
        return dumped(self.model_dump(mode="json"))

    def changed(self, overrides: list[str]) -> TrainingConfig:
        """Return a copy with `key=value` changes to settings that a resumed run may change.

        Args:
            overrides: the changes, such as `total_decisions=2000`.

        Raises:
            ConfigError: a setting may not change, or a value is wrong.
            TypeError: the changes are not a list of strings.
        """
        for override in _listed(overrides):
            key = split_setting(override)[0]
            if key not in CHANGEABLE and key.split(".")[0] not in CHANGEABLE_SECTIONS:
                possible = ", ".join([*CHANGEABLE, *(f"{s}.*" for s in CHANGEABLE_SECTIONS)])
                raise ConfigError(
                    f"a resumed run keeps its {key}; settings that can change are {possible}"
                )
        return self.overridden(overrides, "the run's configuration")

    def overridden(self, overrides: list[str], source: str) -> TrainingConfig:
        """Return a copy with `key=value` changes to any settings.

        Args:
            overrides: the changes, such as `ppo.epochs=3`.
            source: name of the configuration in error messages.

        Raises:
            ConfigError: a setting is unknown, or a value is wrong.
            TypeError: the changes are not a list of strings.
        """
        settings = self.model_dump(mode="json")
        for override in _listed(overrides):
            _override(settings, override)
        return _validated(settings, source)


@cache
def shipped_configs() -> dict[str, Path]:
    """Return the path of each configuration that ships with ArmaRL, by name.

    Example:
        >>> from armarl_training.config.training_config import shipped_configs
        >>> "armadora-quick" in shipped_configs()
        True
    """
    folder = Path(__file__).parent.parent / "configs"
    return {path.stem: path for path in sorted(folder.glob("*.yaml"))}


def config_file(name: str | Path) -> Path:
    """Return the file of a configuration, given its path or the name of a shipped configuration.

    Raises:
        FileNotFoundError: no such file or name exists, or the path is a folder. The message lists
            the shipped names, or says how to resume the run in the folder.

    Example:
        >>> from armarl_training.config.training_config import config_file
        >>> config_file("armada-2p").name
        'armada-2p.yaml'
    """
    path = Path(name)
    if path.is_file():
        return path
    try:
        return shipped_configs()[str(name)]
    except KeyError:
        if "=" in str(name):
            raise FileNotFoundError(
                f"{brief(str(name), 100)} is a setting; name a configuration before it, such as "
                f"armadora-quick; shipped configurations: {', '.join(shipped_configs())}"
            ) from None
        if (path / CONFIG_FILE).is_file():
            raise FileNotFoundError(
                f"{path} is the folder of a run: resume the run with `armarl train --resume "
                f"{shlex.quote(str(path))}`, or name {path / CONFIG_FILE} for its configuration"
            ) from None
        wrong = f"{path} is a folder, not a file" if path.is_dir() else f"no file {path}"
        raise FileNotFoundError(
            f"{wrong}, and no shipped configuration of that name"
            f"{did_you_mean(str(name), shipped_configs())}; shipped configurations: "
            f"{', '.join(shipped_configs())}"
        ) from None


def load_config(path: str | Path, overrides: list[str] | None = None) -> TrainingConfig:
    """Read a training configuration.

    Args:
        path: path of a YAML file, or name of a shipped configuration, such as `armadora-2p`.
        overrides: changes as `key=value`. A dot separates a section from its setting, as in
            `ppo.epochs=3`.

    Returns:
        The checked configuration, with defaults for all settings that the file does not contain.

    Raises:
        ConfigError: a setting is unknown or has a wrong value, or the file is not YAML or is
            larger than 32 KiB.
        FileNotFoundError: there is no such file or name.
        TypeError: `path` is neither a path nor a name, or `overrides` is not a list of strings.

    Example:
        >>> from armarl_training import load_config
        >>> config = load_config("armadora-quick", ["options.players=3", "td.epochs=2"])
        >>> config.options["players"], config.td.epochs
        (3, 2)
    """
    if not isinstance(path, str | Path):
        raise TypeError(
            "load_config takes the path or name of a configuration; for a dictionary use "
            "TrainingConfig.model_validate"
        )
    overrides = _listed(overrides or [])
    path = config_file(path)
    try:
        settings = parsed(read_text(path, MOST_BYTES)) or {}
    except ValueError as error:
        raise ConfigError(f"{path} is not valid YAML: {error}") from error
    if not isinstance(settings, dict):
        raise ConfigError(f"{path} must contain settings, as in `name: value`")
    for override in overrides:
        _override(settings, override)
    return _validated(settings, " with ".join([str(path), *overrides])[:1000])


def split_setting(text: str) -> tuple[str, str, str]:
    """Split `key=value` into key, equals sign (empty if there is none) and value.

    A player of `opponents.players` may have its own settings. A text such as
    `opponents.players.greedy:style=settler=1` is therefore split at its last equals sign.
    """
    at_last = text.strip().startswith(PLAYERS)
    key, equals, value = text.rpartition("=") if at_last else text.partition("=")
    return key.strip(), equals, value


def _validated(settings: dict[str, Any], source: str) -> TrainingConfig:
    try:
        return TrainingConfig.model_validate(settings)
    except ValidationError as error:
        raise ConfigError(f"{source}:\n" + "\n".join(_explain(error))) from error


def is_marked(field: FieldInfo, mark: JsonDict) -> bool:
    """Return whether a setting has a mark: OURS or RESOLVED."""
    marks = field.json_schema_extra
    return isinstance(marks, dict) and mark.items() <= marks.items()


def _differing(section: Section, *, only_ours: bool = False) -> list[str]:
    """Return the settings that differ from their defaults, except those marked RESOLVED.

    Args:
        only_ours: check only the settings marked OURS.
    """
    return [
        name
        for name, field in type(section).model_fields.items()
        if not is_marked(field, RESOLVED)
        and (is_marked(field, OURS) or not only_ours)
        and getattr(section, name) != field.default
    ]


def _override(settings: dict[str, Any], override: str) -> None:
    key, equals, value = split_setting(override)
    if not equals:
        raise ConfigError(f"{override[:100]!r} must be written key=value, like ppo.epochs=3")
    *sections, name = _path(key)
    for k, section in enumerate(sections, 1):
        settings = settings.setdefault(section, _as_it_comes(sections[:k]))
        if not isinstance(settings, dict):
            raise ConfigError(f"{key}: {section} is a value, not a section")
    try:
        settings[name] = parsed(value)
    except ValueError as error:
        raise ConfigError(f"{override[:100]!r}: the value is not valid YAML: {error}") from error


def _path(key: str) -> list[str]:
    """Split a key into sections and name. A player's name may contain dots, as in runs/my.run."""
    if key.startswith(PLAYERS):
        return [*PLAYERS.removesuffix(".").split("."), key.removeprefix(PLAYERS)]
    return key.split(".")


def _as_it_comes(sections: list[str]) -> dict[str, Any]:
    """Return the default content of a section that the file lacks, before overrides change it."""
    if sections == ["opponents", "players"]:
        return dict(OpponentConfig().players)  # type: ignore[call-arg]
    return {}


def _listed(overrides: list[str]) -> list[str]:
    texts = overrides if isinstance(overrides, list | tuple) else [None]
    if not all(isinstance(text, str) for text in texts):
        raise TypeError(
            "settings must be a list of strings, as in ['seed=3', 'ppo.epochs=2'], got "
            f"{overrides!r}"
        )
    return list(overrides)


WANTED = {  # pydantic's error type: the message that replaces pydantic's
    "tuple_type": "must be a list, as in [64, 64] or [random, greedy]",
    "dict_type": "must be names and values, as in {players: 3}",
    "model_type": "must be settings and values, as in {epochs: 3}",
    "string_pattern_mismatch": "must be cpu, cuda or a numbered GPU such as cuda:0",
}


def _explain(error: ValidationError) -> list[str]:
    """Return one line per error. The line of an unknown name lists the known names."""
    lines = []
    for fault in error.errors()[:MOST_FAULTS]:
        name = printable(".".join(str(part)[:100] for part in fault["loc"]))
        if fault["type"] == "extra_forbidden":
            known = _section(fault["loc"][:-1]).model_fields
            inside = [
                f"{part}.{name}"
                for part, field in TrainingConfig.model_fields.items()
                if name in getattr(field.annotation, "model_fields", ())
            ]
            if name in option_names():
                inside.insert(0, f"options.{name}")
            near = did_you_mean(str(fault["loc"][-1]), known)
            meant = f" (did you mean {' or '.join(inside)}?)" if inside else near
            lines.append(f"  {name}: unknown setting{meant}; choose from {', '.join(known)}")
        elif fault["type"] == "value_error":  # from the validators above, with complete messages
            said = fault["msg"].removeprefix("Value error, ")
            lines.append(f"  {name}: {said}" if name else f"  {said}")
        elif fault["type"] == "missing":
            lines.append(f"  {name}: missing, and it has no default")
        else:
            found = _shown(fault["input"])
            said = WANTED.get(fault["type"], fault["msg"])
            lines.append(f"  {name or 'configuration'}: {said}, not {found}"[:300])
    return lines


def _shown(value: Any) -> str:
    try:
        return repr(value)
    except ValueError:  # Python refuses to print integers of more than 4,300 digits
        return "a number with thousands of digits"


def _section(location: tuple[int | str, ...]) -> type[BaseModel]:
    section: type[BaseModel] = TrainingConfig
    for name in location:
        section = section.model_fields[str(name)].annotation  # type: ignore[assignment]
    return section
