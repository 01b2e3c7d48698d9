"""Training configurations: YAML files, typed and checked, every setting overridable."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    ValidationError,
    field_validator,
    model_validator,
)
from pydantic.config import JsonDict
from pydantic.fields import FieldInfo

from armarl.common.files import read_text
from armarl.common.messages import did_you_mean, printable
from armarl.players.player_specs import scripted
from armarl_training.config.learner_kinds import LEARNERS, LearnerKind, either, kind_of, readers
from armarl_training.config.yaml_text import dumped, parsed

MOST = 1 << 50
Whole = Annotated[int, Field(strict=True, ge=0, le=MOST)]
Positive = Annotated[int, Field(strict=True, gt=0, le=MOST)]
Count = Annotated[int, Field(strict=True, gt=0, le=1 << 24)]  # of what memory holds
Number = Annotated[int, Field(strict=True, ge=0, le=1 << 24)]  # the same, or none
Passes = Annotated[int, Field(strict=True, gt=0, le=1000)]
Width = Annotated[int, Field(strict=True, gt=0, le=8192)]
Real = Annotated[float, Field(strict=True)]  # strict: neither true nor '0.5' is one
Weight = Annotated[Real, Field(ge=0)]
Part = Annotated[Real, Field(ge=0, le=1)]
Exploration = Annotated[Part, Field(description="part of the actions that are random")]
Rate = Annotated[Real, Field(gt=0)]
FinalRate = Annotated[Real, Field(ge=0, description="reached linearly at the end")]
Average = Annotated[Real, Field(ge=0, lt=1, description="of the weights, per step")]

# Marks of settings: those that all learners of ours have and another's does not (what only some of
# ours read, they say: `LearnerKind.reads`), and what the machine may decide, which may then stand
# in a configuration whoever learns.
OURS: JsonDict = {"ours": True}
RESOLVED: JsonDict = {"resolved": True}
MOST_BYTES = 1 << 15  # of a configuration: PyYAML takes up to a second for as many
MOST_FAULTS = 20  # that are told at once
# What a run may change when it is resumed: nothing that would change what it has done already.
CHANGEABLE = (
    "total_decisions",
    "time_limit_minutes",
    "threads",
    "checkpoint_every_minutes",
    "ray",
    "device",
)
CHANGEABLE_SECTIONS = ("evaluation",)
PLAYERS = "opponents.players."  # beneath which stand names of players


class ConfigError(ValueError):
    """A configuration that cannot be used; the message names the settings and what is possible."""


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class NetworkConfig(_Section):
    """The policy's network, and the critic's."""

    widths: tuple[Width, ...] = Field(
        (256, 256), min_length=1, max_length=16, description="of the hidden layers"
    )
    activation: Literal["relu", "tanh"] = Field("relu", description="between the layers")
    channels: Annotated[int, Field(strict=True, ge=0, le=1024)] = Field(
        0,
        description="of what is made of each cell of a board; 0: it is not looked at apart",
    )
    advisers: tuple[str, ...] = Field(
        (),
        max_length=16,
        description="scripted players whose advice is weighed: greedy",
    )
    critic_widths: tuple[Width, ...] | None = Field(
        None,
        min_length=1,
        max_length=16,
        description="of the critic's hidden layers, as `widths` if null; of a judge's over the "
        "whole board, 32 if null",
    )

    @model_validator(mode="after")
    def _advisers_are_scripted(self) -> NetworkConfig:
        for adviser in self.advisers:
            scripted(adviser)
        return self


class PPOConfig(_Section):
    """Settings of PPO (Schulman et al., 2017); those of our learner alone are marked."""

    rollout_length: Count = Field(
        64, description="decisions per environment and update: for ours, turns of all seats"
    )
    minibatch: Count = Field(2048, description="decisions per gradient step")
    epochs: Passes = Field(2, description="passes over each rollout")
    learning_rate: Rate = Field(5e-4, description="of Adam, at the start")
    final_learning_rate: FinalRate = 3e-5
    gae_lambda: Part = Field(0.95, description="of the advantages")
    value_lambda: Part = Field(0.95, description="of the value's targets", json_schema_extra=OURS)
    clip_range: Real = Field(0.2, gt=0, description="of the ratio of probabilities")
    entropy: Weight = Field(0.02, description="weight of the entropy in the loss, at the start")
    final_entropy: Weight = Field(0.005, description="reached linearly at the end")
    magnet: Weight = Field(
        0.0,
        description="of the divergence from the average of the weights; 0: leave it out",
        json_schema_extra=OURS,
    )
    value_coefficient: Weight = Field(0.5, description="weight of the value in the loss")
    max_gradient_norm: Real = Field(0.5, gt=0, description="a longer gradient is scaled down")
    looks: Annotated[int, Field(strict=True, ge=0, le=64)] = Field(
        0,
        description="other actions of each decision that the critic judges; needs "
        "opponents.share: 0",
        json_schema_extra=OURS,
    )
    openings: Part = Field(
        0.0, description="part of the games that begin at random", json_schema_extra=OURS
    )
    opening_length: Count = Field(
        40, description="the most random actions of such a game", json_schema_extra=OURS
    )
    averaging: Average = Field(
        0.999, description="of the weights, per step", json_schema_extra=OURS
    )
    precision: Literal["auto", "float32", "bfloat16"] = Field(
        "auto",
        description="of products; auto: as is quicker on the machine of the start",
        json_schema_extra=OURS | RESOLVED,
    )


class TDConfig(_Section):
    """Settings of TD(lambda) for judges of positions (Tesauro, 1995)."""

    rollout_length: Count = Field(32, description="actions per environment and update")
    minibatch: Count = Field(1024, description="positions per gradient step")
    epochs: Passes = Field(4, description="passes over each rollout")
    learning_rate: Rate = Field(1e-3, description="of Adam, at the start")
    final_learning_rate: FinalRate = 3e-5
    value_lambda: Part = Field(0.9, description="of the returns that are learnt")
    temperature: Real = Field(1.0, gt=0, description="of the actions played while learning")
    exploration: Exploration = 0.01
    openings: Part = Field(0.4, description="part of the games that begin at random")
    opening_length: Count = Field(8, description="the most random actions of such a game")
    cut_traces: bool = Field(
        False,
        strict=True,
        description="learn nothing of a position from what a random action there led to",
    )
    prizes: Weight = Field(2.0, description="weight of who takes which prize in the loss")
    averaging: Average = 0.999


class CriticConfig(_Section):
    """Settings of a critic that improves a scripted player, who is `network.advisers`."""

    minibatch: Count = Field(1024, description="positions per gradient step")
    epochs: Passes = Field(3, description="over the positions of each lot of games")
    learning_rate: Rate = Field(1e-3, description="of Adam, at the start")
    final_learning_rate: FinalRate = 1e-5
    exploration: Exploration = 0.02
    improved_games: Number = Field(
        0, description="of each lot and shard, from whose turns scripted games branch off"
    )
    improved_from: Part = Field(0.5, description="part of the training after which they are played")
    averaging: Average = 0.999


class EarlyRewardConfig(_Section):
    """Another reward at the start, which says more of each game than who won."""

    reward: str | None = Field(None, description="its name: gold")
    until: Real = Field(0.5, gt=0, le=1, description="part of the training in which it fades out")


class ImitationConfig(_Section):
    """A head start by imitating another player; `games: 0` leaves it out."""

    teacher: str = Field("greedy", description="any player, by specification")
    games: Whole = Field(0, description="of the teacher's, in all")
    games_at_once: Count = Field(256, description="of a lot, which is learnt from and forgotten")
    passes: Passes = Field(1, description="over each lot of games")
    exploration: Exploration = 0.15
    learning_rate: Rate = Field(1e-3, description="of Adam, at the start; a tenth at the end")
    minibatch: Count = Field(
        512, description="decisions per gradient step; judges and critics have their own"
    )


class OpponentConfig(_Section):
    """In a share of the games somebody else holds the other sides: drawn anew for each game."""

    share: Part = Field(0.2, description="else the policy as it is now holds them")
    earlier: Weight = Field(0.5, description="weight of the earlier selves in the pool together")
    players: dict[str, Weight] = Field(
        default_factory=lambda: {"random": 0.1, "greedy": 0.4},
        description="weights of players, by specification",
    )
    snapshot_every: Positive = Field(500_000, description="decisions between two earlier selves")
    pool_size: Count = Field(20, description="earlier selves; the oldest leaves for a new one")

    @model_validator(mode="after")
    def _someone_plays(self) -> OpponentConfig:
        together = self.earlier + sum(self.players.values())
        if self.share > 0 and together <= 0:
            raise ValueError("with a share above 0 at least one opponent needs a weight above 0")
        if together > MOST:
            raise ValueError(f"the weights together must be {MOST} at most, not {together:g}")
        return self


class EvaluationConfig(_Section):
    """The matches that measure the policy, at the end and, shorter, at every checkpoint."""

    opponents: tuple[str, ...] = Field(
        ("random", "greedy"),
        min_length=1,
        description="the anchors, by specification; the first has rating 0",
    )
    games: Count = Field(1000, description="against each opponent, at the end")
    progress_games: Number = Field(100, description="against each opponent, at every checkpoint")
    seed: Whole = Field(12345, description="of the deals")
    workers: Annotated[int, Field(strict=True, gt=0, le=1024)] = Field(
        2, description="processes that play the matches at the end"
    )

    @model_validator(mode="after")
    def _nobody_is_met_twice(self) -> EvaluationConfig:
        for name in self.opponents:
            if self.opponents.count(name) > 1:
                raise ValueError(f"opponents has {name!r} twice; name each once")
        return self


class TrainingConfig(_Section):
    """Settings of a run itself."""

    learner: Annotated[str, Field(strict=True)] = Field(
        "ppo",
        description="`td`: judges; `critic`: critics of scripted play; `ppo`: ours; "
        "`maskable_ppo`: sb3-contrib's; or `module:Class`, code of your own",
    )
    game: str = Field("armadora", description="its name; a game of your own too")
    options: dict[str, Any] = Field(default_factory=dict, description="players, advanced, ...")
    reward: str = Field("win", description="what is learnt to get, by its name: win, gold")
    seed: Annotated[int, Field(strict=True, ge=0, lt=1 << 31)] = Field(
        0, description="of everything that is drawn"
    )
    total_decisions: Positive = Field(description="that the learner learns from in all")
    time_limit_minutes: Real | None = Field(None, gt=0, description="stop earlier, and finish")
    environments: Count = Field(512, description="games that go on at the same time")
    shards: Annotated[int, Field(strict=True, gt=0, le=1024)] = Field(
        1,
        description="parts of the environments, each with chance of its own",
        json_schema_extra=OURS,
    )
    ray: str | None = Field(
        None,
        description="the address of a cluster of Ray, which plays the shards, where there "
        "are several, and the matches at the end",
    )
    checkpoint_every_minutes: Real = Field(2.0, gt=0, description="and short matches as often")
    threads: Annotated[int, Field(strict=True, gt=0, le=1024)] = Field(2, description="of torch")
    device: Annotated[str, Field(pattern=r"^(cpu|cuda(:[0-9]{1,3})?)$")] = Field(
        "cpu",
        description="of games and networks, as torch names it: cpu, cuda, cuda:1",
    )
    start_from: str | None = Field(
        None,
        description="a saved policy whose weights to begin with, of this table or another",
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
                "learner: critic needs scripted players as network.advisers, of whom it improves "
                "the first, and network.activation: relu"
            )
        if self.learner == "td" and network.activation != "relu":
            raise ValueError("learner: td has judges, whose network.activation is relu")
        if network.critic_widths is not None and "network.critic_widths" not in reads:
            raise ValueError(f"network.critic_widths does nothing with learner: {self.learner}")
        if self.early_reward.reward is not None and "early_reward" not in reads:
            raise ValueError(f"early_reward needs learner: {readers('early_reward')}")
        if critic and self.reward != "win":
            raise ValueError("learner: critic learns who wins: it needs reward: win")
        return self

    @model_validator(mode="after")
    def _looks_are_of_what_the_critic_learns(self) -> TrainingConfig:
        if self.learner == "ppo" and self.ppo.looks:
            if self.opponents.share > 0:
                raise ValueError(
                    "ppo.looks needs opponents.share: 0, as the critic learns nothing of positions "
                    "where an opponent is to move, and would be asked there"
                )
            if self.early_reward.reward is not None:
                raise ValueError("ppo.looks and early_reward do not go together: leave one out")
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
                    f"{', '.join(f'{section}.{name}' for name in idle)}: nothing that learner: "
                    f"{self.learner} reads, whose own settings are {read}.* (to drop what a file "
                    f"has there: {section}={{}})"
                )
        if not self._kind.ours and (idle := _differing(getattr(self, read), only_ours=True)):
            named = ", ".join(f"{read}.{name}" for name in idle)
            raise ValueError(f"{named}: nothing that learner: {self.learner} reads; leave it out")
        return self

    @model_validator(mode="after")
    def _shards_are_alike(self) -> TrainingConfig:
        if self.environments % self.shards:
            raise ValueError(f"shards must divide the {self.environments} environments")
        if self.shards > 1 and not self._kind.ours:
            wanted = either(name for name, kind in LEARNERS.items() if kind.ours)
            raise ValueError(f"shards need learner: {wanted}")
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
        """This configuration with another `ppo.precision`: float32 or bfloat16."""
        return self.model_copy(update={"ppo": self.ppo.model_copy(update={"precision": precision})})

    def dump(self) -> str:
        """The configuration with all its settings, as YAML."""
        return dumped(self.model_dump(mode="json"))

    def changed(self, overrides: list[str]) -> TrainingConfig:
        """This configuration with `key=value` changes, of settings that a running run may change.

        Raises:
            ConfigError: another setting, or a wrong value.
            TypeError: they are no list of texts.
        """
        for override in _listed(overrides):
            key = split_setting(override)[0]
            if key not in CHANGEABLE and key.split(".")[0] not in CHANGEABLE_SECTIONS:
                possible = ", ".join([*CHANGEABLE, *(f"{s}.*" for s in CHANGEABLE_SECTIONS)])
                raise ConfigError(
                    f"a run that is resumed keeps its {key}; what can be changed is {possible}"
                )
        return self.overridden(overrides, "the run's configuration")

    def overridden(self, overrides: list[str], source: str) -> TrainingConfig:
        """This configuration with any `key=value` changes; `source` is named in messages.

        Raises:
            ConfigError: an unknown setting, or a wrong value.
            TypeError: they are no list of texts.
        """
        settings = self.model_dump(mode="json")
        for override in _listed(overrides):
            _override(settings, override)
        return _validated(settings, source)


@cache
def shipped_configs() -> dict[str, Path]:
    """The configurations that come with ArmaRL, by name."""
    folder = Path(__file__).parent.parent / "configs"
    return {path.stem: path for path in sorted(folder.glob("*.yaml"))}


def config_file(name: str | Path) -> Path:
    """The file of a configuration: the path itself, or a shipped one's by its name.

    Raises:
        FileNotFoundError: there is none; the message names the shipped ones.
    """
    path = Path(name)
    if path.is_file():
        return path
    try:
        return shipped_configs()[str(name)]
    except KeyError:
        raise FileNotFoundError(
            f"there is no file {path}, and no shipped configuration of that name"
            f"{did_you_mean(str(name), shipped_configs())}; shipped are: "
            f"{', '.join(shipped_configs())}"
        ) from None


def load_config(path: str | Path, overrides: list[str] | None = None) -> TrainingConfig:
    """Read a configuration; `overrides` are `key=value`, with dots into sections.

    Args:
        path: of the file, or the name of a shipped configuration: `armadora-2p`.

    Raises:
        ConfigError: an unknown or ill-typed setting, or no YAML, or no file of at most MOST_BYTES.
        FileNotFoundError: there is no such file.
        TypeError: neither a path nor a name, or overrides that are no list of texts.
    """
    if not isinstance(path, str | Path):
        raise TypeError(
            "load_config takes the path or name of a configuration; of a dictionary "
            "TrainingConfig.model_validate makes one"
        )
    overrides = _listed(overrides or [])
    path = config_file(path)
    try:
        settings = parsed(read_text(path, MOST_BYTES)) or {}
    except ValueError as error:
        raise ConfigError(f"{path} is no YAML: {error}") from error
    if not isinstance(settings, dict):
        raise ConfigError(f"{path} must hold settings, `name: value`")
    for override in overrides:
        _override(settings, override)
    return _validated(settings, " with ".join([str(path), *overrides])[:1000])


def split_setting(text: str) -> tuple[str, str, str]:
    """The key of `key=value`, the equals sign, or nothing, and the value.

    A player among `opponents.players` may have settings of his own: `greedy:style=settler=1`.
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
    """Whether a setting has a mark: OURS, or RESOLVED."""
    marks = field.json_schema_extra
    return isinstance(marks, dict) and mark.items() <= marks.items()


def _differing(section: _Section, *, only_ours: bool = False) -> list[str]:
    """The settings that are not as they come, but for what the machine may have decided.

    Args:
        only_ours: of those that are marked so.
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
        raise ConfigError(f"{override[:100]!r} should be written key=value, like ppo.epochs=3")
    *sections, name = _path(key)
    for k, section in enumerate(sections, 1):
        settings = settings.setdefault(section, _as_it_comes(sections[:k]))
        if not isinstance(settings, dict):
            raise ConfigError(f"{key}: {section} is a value, no section")
    try:
        settings[name] = parsed(value)
    except ValueError as error:
        raise ConfigError(f"{override[:100]!r}: the value is no YAML: {error}") from error


def _path(key: str) -> list[str]:
    """The sections, and the name in the last: a player's may have dots, as in runs/my.run."""
    if key.startswith(PLAYERS):
        return [*PLAYERS.removesuffix(".").split("."), key.removeprefix(PLAYERS)]
    return key.split(".")


def _as_it_comes(sections: list[str]) -> dict[str, Any]:
    """What stands where a file says nothing: of a mapping its default, of a section nothing."""
    if sections == ["opponents", "players"]:
        return OpponentConfig().players  # type: ignore[call-arg]
    return {}


def _listed(overrides: list[str]) -> list[str]:
    texts = overrides if isinstance(overrides, list | tuple) else [None]
    if not all(isinstance(text, str) for text in texts):
        raise TypeError(
            f"settings are a list of texts, as in ['seed=3', 'ppo.epochs=2'], not {overrides!r}"
        )
    return list(overrides)


WANTED = {  # in place of pydantic's words for its types of faults
    "tuple_type": "must be a list, as in [64, 64] or [random, greedy]",
    "dict_type": "must be names and values, as in {players: 3}",
    "model_type": "must be settings and values, as in {epochs: 3}",
}


def _explain(error: ValidationError) -> list[str]:
    """One line per fault, with the possible names where a name is unknown."""
    lines = []
    for fault in error.errors()[:MOST_FAULTS]:
        name = printable(".".join(str(part)[:100] for part in fault["loc"]))
        if fault["type"] == "extra_forbidden":
            known = ", ".join(_section(fault["loc"][:-1]).model_fields)
            lines.append(f"  {name}: there is no such setting; there are {known}")
        elif fault["type"] == "value_error":  # of our validators: they say all of it
            said = fault["msg"].removeprefix("Value error, ")
            lines.append(f"  {name}: {said}" if name else f"  {said}")
        elif fault["type"] == "missing":
            lines.append(f"  {name}: is missing, and has no default")
        else:
            found = _shown(fault["input"])
            said = WANTED.get(fault["type"], fault["msg"])
            lines.append(f"  {name or 'configuration'}: {said}, not {found}"[:300])
    return lines


def _shown(value: Any) -> str:
    try:
        return repr(value)
    except ValueError:  # Python writes no integers of more than 4,300 digits
        return "a number of thousands of digits"


def _section(location: tuple[int | str, ...]) -> type[BaseModel]:
    section: type[BaseModel] = TrainingConfig
    for name in location:
        section = section.model_fields[str(name)].annotation  # type: ignore[assignment]
    return section
