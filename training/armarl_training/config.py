"""Training configurations: YAML files, typed and checked, every setting overridable."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

Positive = Annotated[int, Field(gt=0)]
Weight = Annotated[float, Field(ge=0)]


class ConfigError(ValueError):
    """A configuration that cannot be used; the message names the settings and what is possible."""


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class NetworkConfig(_Section):
    """The policy's and the value's network, apart but of one shape."""

    widths: tuple[Positive, ...] = (256, 256)
    activation: Literal["relu", "tanh"] = "relu"


class PPOConfig(_Section):
    """Settings of MaskablePPO (Schulman et al., 2017; Huang and Ontañón, 2022)."""

    rollout_length: Positive = Field(64, description="decisions per environment and update")
    minibatch: Positive = Field(4096, description="decisions per gradient step")
    epochs: Positive = 4
    learning_rate: float = Field(3e-4, gt=0)
    final_learning_rate: float = Field(3e-5, ge=0, description="reached linearly at the end")
    discount: float = Field(1.0, gt=0, le=1)
    gae_lambda: float = Field(0.95, ge=0, le=1)
    clip_range: float = Field(0.2, gt=0)
    entropy: float = Field(0.01, ge=0)
    value_coefficient: float = Field(0.5, ge=0)
    max_gradient_norm: float = Field(0.5, gt=0)


class ImitationConfig(_Section):
    """A head start by imitating the greedy player; `games: 0` leaves it out."""

    games: int = Field(0, ge=0)
    games_at_once: Positive = 256
    exploration: float = Field(0.15, ge=0, le=1, description="part of the actions that are random")
    learning_rate: float = Field(1e-3, gt=0)
    minibatch: Positive = 512


class OpponentConfig(_Section):
    """Who holds the other seats: relative weights, drawn anew for each game."""

    latest: Weight = Field(0.5, description="the policy as it is now")
    earlier: Weight = Field(0.3, description="one of the earlier selves in the pool")
    random: Weight = 0.05
    greedy: Weight = 0.15
    snapshot_every: Positive = Field(500_000, description="decisions between two earlier selves")
    pool_size: Positive = Field(20, description="the oldest self leaves when there are more")

    @model_validator(mode="after")
    def _someone_plays(self) -> OpponentConfig:
        if self.latest + self.earlier + self.random + self.greedy <= 0:
            raise ValueError("at least one opponent needs a weight above 0")
        return self


class EvaluationConfig(_Section):
    """The matches that measure the finished policy."""

    opponents: tuple[str, ...] = ("random", "greedy")
    games: Positive = 1000
    seed: int = Field(12345, ge=0)
    workers: Positive = 2


class TrainingConfig(_Section):
    """One training run."""

    game: str = "armadora"
    options: dict[str, Any] = Field(default_factory=dict, description="players, advanced, ...")
    reward: str = "win"
    seed: int = Field(0, ge=0)
    total_decisions: Positive = Field(description="the learner's decisions in all")
    time_limit_minutes: float | None = Field(None, gt=0, description="stop earlier, and finish")
    environments: Positive = 256
    checkpoint_every_minutes: float = Field(2.0, gt=0)
    threads: Positive = Field(2, description="of torch")
    start_from: str | None = Field(None, description="a saved policy whose weights to begin with")
    network: NetworkConfig = NetworkConfig()
    ppo: PPOConfig = PPOConfig()  # type: ignore[call-arg]
    imitation: ImitationConfig = ImitationConfig()  # type: ignore[call-arg]
    opponents: OpponentConfig = OpponentConfig()  # type: ignore[call-arg]
    evaluation: EvaluationConfig = EvaluationConfig()  # type: ignore[call-arg]

    @model_validator(mode="after")
    def _batches_fit(self) -> TrainingConfig:
        rollout = self.environments * self.ppo.rollout_length
        if rollout % self.ppo.minibatch:
            raise ValueError(
                f"environments x ppo.rollout_length = {rollout} must be a multiple of "
                f"ppo.minibatch = {self.ppo.minibatch}"
            )
        return self

    def dump(self) -> str:
        """The configuration with all its settings, as YAML."""
        return yaml.safe_dump(self.model_dump(mode="json"), sort_keys=False)


def load_config(path: str | Path, overrides: list[str] | None = None) -> TrainingConfig:
    """Read a configuration; `overrides` are `key=value`, with dots into sections.

    Raises:
        ConfigError: an unknown or ill-typed setting, or no YAML.
        FileNotFoundError: there is no such file.
    """
    path = Path(path)
    try:
        settings = yaml.safe_load(path.read_text(encoding="utf-8")) or {}
    except yaml.YAMLError as error:
        raise ConfigError(f"{path} is no YAML: {error}") from error
    if not isinstance(settings, dict):
        raise ConfigError(f"{path} must hold settings, `name: value`")
    for override in overrides or []:
        _override(settings, override)
    try:
        return TrainingConfig.model_validate(settings)
    except ValidationError as error:
        raise ConfigError(f"{path}:\n" + "\n".join(_explain(error))) from error


def _override(settings: dict[str, Any], override: str) -> None:
    key, equals, value = override.partition("=")
    if not equals:
        raise ConfigError(f"{override!r} should be written key=value, like ppo.epochs=3")
    *sections, name = key.strip().split(".")
    for section in sections:
        settings = settings.setdefault(section, {})
        if not isinstance(settings, dict):
            raise ConfigError(f"{key}: {section} is a value, no section")
    try:
        settings[name] = yaml.safe_load(value)
    except yaml.YAMLError as error:
        raise ConfigError(f"{override!r}: the value is no YAML: {error}") from error


def _explain(error: ValidationError) -> list[str]:
    """One line per fault, with the possible names where a name is unknown."""
    lines = []
    for fault in error.errors():
        name = ".".join(map(str, fault["loc"]))
        if fault["type"] == "extra_forbidden":
            known = ", ".join(_section(fault["loc"][:-1]).model_fields)
            lines.append(f"  {name}: there is no such setting; there are {known}")
        else:
            lines.append(
                f"  {name or 'configuration'}: {fault['msg']}, not {fault['input']!r}"[:300]
            )
    return lines


def _section(location: tuple[int | str, ...]) -> type[BaseModel]:
    section: type[BaseModel] = TrainingConfig
    for name in location:
        section = section.model_fields[str(name)].annotation  # type: ignore[assignment]
    return section
