"""The sections of a training configuration, and the types of its settings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    PlainSerializer,
    model_validator,
)
from pydantic.config import JsonDict

from armarl.common.read_only import ReadOnly
from armarl.players.player_specs import scripted

V = TypeVar("V")

MOST = 1 << 50
Whole = Annotated[int, Field(strict=True, ge=0, le=MOST)]
Positive = Annotated[int, Field(strict=True, gt=0, le=MOST)]
Count = Annotated[int, Field(strict=True, gt=0, le=1 << 24)]  # number of objects in memory
Number = Annotated[int, Field(strict=True, ge=0, le=1 << 24)]  # like Count, but may be 0
Passes = Annotated[int, Field(strict=True, gt=0, le=1000)]
Width = Annotated[int, Field(strict=True, gt=0, le=8192)]
Real = Annotated[float, Field(strict=True)]  # strict: neither true nor '0.5' is accepted
Weight = Annotated[Real, Field(ge=0)]
Part = Annotated[Real, Field(ge=0, le=1)]
Exploration = Annotated[Part, Field(description="fraction of actions that are random")]
Rate = Annotated[Real, Field(gt=0)]
FinalRate = Annotated[Real, Field(ge=0, description="learning rate at the end (linear schedule)")]
Average = Annotated[
    Real, Field(ge=0, lt=1, description="decay of the average of the weights, per gradient step")
]
# Names and values in a read-only copy, so that a configuration is immutable.
Named = Annotated[Mapping[str, V], AfterValidator(ReadOnly), PlainSerializer(dict)]

# Marks of settings. OURS: all of ArmaRL's own learners read the setting, but maskable_ppo does not.
# (`LearnerKind.reads` names the settings that only some of these learners read.) RESOLVED: ArmaRL
# may choose the value to suit the machine, so the setting is allowed even if the learner does not
# read it.
OURS: JsonDict = {"ours": True}
RESOLVED: JsonDict = {"resolved": True}


class Section(BaseModel):
    """A part of a configuration. It is immutable and refuses unknown settings."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class NetworkConfig(Section):
    """The networks of the policy and the critic."""

    widths: tuple[Width, ...] = Field(
        (256, 256), min_length=1, max_length=16, description="widths of the hidden layers"
    )
    activation: Literal["relu", "tanh"] = Field(
        "relu", description="activation between the layers; td and critic need relu"
    )
    channels: Annotated[int, Field(strict=True, ge=0, le=1024)] = Field(
        0,
        description="features per board cell, from layers that share their weights over all "
        "cells; 0: no such layers",
    )
    advisers: tuple[str, ...] = Field(
        (),
        max_length=16,
        description="scripted players, such as greedy, that advise the network on its actions; "
        "critic: the critic improves the first of them",
    )
    critic_widths: tuple[Width, ...] | None = Field(
        None,
        min_length=1,
        max_length=16,
        description="ppo: widths of the critic's hidden layers (null: the same as `widths`); td: "
        "widths of the judge's layers over the whole board (null: [32])",
    )

    @model_validator(mode="after")
    def _advisers_are_scripted(self) -> NetworkConfig:
        for adviser in self.advisers:
            scripted(adviser)
        return self


class PPOConfig(Section):
    """Settings of PPO (Schulman et al., 2017). `maskable_ppo` does not read those marked *ours*."""

    rollout_length: Count = Field(
        64,
        description="decisions per environment in each rollout; `ppo` counts all seats' decisions",
    )
    minibatch: Count = Field(
        2048,
        description="decisions per gradient step; with maskable_ppo it must divide environments x "
        "rollout_length",
    )
    epochs: Passes = Field(2, description="passes over each rollout")
    learning_rate: Rate = Field(5e-4, description="Adam's learning rate at the start")
    final_learning_rate: FinalRate = 3e-5
    gae_lambda: Part = Field(0.95, description="lambda of the advantages (GAE)")
    value_lambda: Part = Field(
        0.95, description="lambda of the value targets", json_schema_extra=OURS
    )
    clip_range: Real = Field(0.2, gt=0, description="clip range of the probability ratio")
    entropy: Weight = Field(0.02, description="weight of the entropy in the loss at the start")
    final_entropy: Weight = Field(
        0.005, description="weight of the entropy at the end (linear schedule)"
    )
    magnet: Weight = Field(
        0.0,
        description="weight of the magnet loss, the policy's divergence from the policy with "
        "averaged weights; 0: off",
        json_schema_extra=OURS,
    )
    value_coefficient: Weight = Field(0.5, description="weight of the value loss")
    max_gradient_norm: Real = Field(
        0.5, gt=0, description="maximum norm of a gradient; a larger gradient is scaled down to it"
    )
    looks: Annotated[int, Field(strict=True, ge=0, le=64)] = Field(
        0,
        description="lookahead: number of actions, besides the played one, that the critic "
        "evaluates at each decision; needs opponents.share: 0",
        json_schema_extra=OURS,
    )
    openings: Part = Field(
        0.0,
        description="fraction of games that begin with random actions",
        json_schema_extra=OURS,
    )
    opening_length: Count = Field(
        40,
        description="maximum number of random actions at the start of a game, see `ppo.openings`",
        json_schema_extra=OURS,
    )
    averaging: Average = Field(
        0.999,
        description="decay of the average of the weights, per gradient step",
        json_schema_extra=OURS,
    )
    precision: Literal["auto", "float32", "bfloat16"] = Field(
        "auto",
        description="precision of matrix products; auto: the faster precision on the machine where "
        "the run starts",
        json_schema_extra=OURS | RESOLVED,
    )


class TDConfig(Section):
    """Settings of TD(lambda) for judges of positions (Tesauro, 1995)."""

    rollout_length: Count = Field(32, description="actions per environment in each rollout")
    minibatch: Count = Field(1024, description="positions per gradient step")
    epochs: Passes = Field(4, description="passes over each rollout")
    learning_rate: Rate = Field(1e-3, description="Adam's learning rate at the start")
    final_learning_rate: FinalRate = 3e-5
    value_lambda: Part = Field(0.9, description="lambda of the TD(lambda) targets")
    temperature: Real = Field(
        1.0, gt=0, description="softmax temperature that draws the actions in training"
    )
    exploration: Exploration = 0.01
    openings: Part = Field(0.4, description="fraction of games that begin with random actions")
    opening_length: Count = Field(
        8, description="maximum number of random actions at the start of a game, see `td.openings`"
    )
    cut_traces: bool = Field(
        False,
        strict=True,
        description="end the targets at random actions, so that nothing is learned from their "
        "consequences",
    )
    prizes: Weight = Field(
        2.0, description="weight of the auxiliary loss: the prediction of who takes each prize"
    )
    averaging: Average = 0.999


class CriticConfig(Section):
    """Settings of a critic that improves a scripted player, the first of `network.advisers`."""

    minibatch: Count = Field(1024, description="positions per gradient step")
    epochs: Passes = Field(3, description="passes over the positions of each batch of games")
    learning_rate: Rate = Field(1e-3, description="Adam's learning rate at the start")
    final_learning_rate: FinalRate = 1e-5
    exploration: Exploration = 0.02
    improved_games: Number = Field(
        0,
        description="games per batch and shard that the improved player plays; scripted games "
        "start from positions of these games",
    )
    improved_from: Part = Field(
        0.5, description="fraction of the training after which the improved games begin"
    )
    averaging: Average = 0.999


class EarlyRewardConfig(Section):
    """A second, more informative reward at the start of the training, such as gold."""

    reward: str | None = Field(None, description="name of the reward, such as gold")
    until: Real = Field(
        0.5, gt=0, le=1, description="fraction of the training during which this reward fades out"
    )


class ImitationConfig(Section):
    """A head start: the network first imitates another player. `games: 0` turns it off."""

    teacher: str = Field("greedy", description="player to imitate, any player specification")
    games: Whole = Field(0, description="number of games that the teacher plays")
    games_at_once: Count = Field(
        256, description="games per batch; a batch is discarded after the network learned from it"
    )
    passes: Passes = Field(1, description="passes over each batch of games")
    exploration: Exploration = 0.15
    learning_rate: Rate = Field(
        1e-3, description="Adam's learning rate at the start; it falls to a tenth of this"
    )
    minibatch: Count = Field(
        512,
        description="decisions per gradient step; td and critic use td.minibatch and "
        "critic.minibatch",
    )


class OpponentConfig(Section):
    """Opponents that play the other sides in a share of the games. They are drawn for each game."""

    share: Part = Field(
        0.2,
        description="fraction of games with opponents; in the other games the current policy "
        "plays all sides",
    )
    earlier: Weight = Field(
        0.5, description="total weight of the earlier versions of the policy in the pool"
    )
    players: Named[Weight] = Field(
        default_factory=lambda: ReadOnly({"random": 0.1, "greedy": 0.4}),
        description="weight of each player, by player specification",
    )
    snapshot_every: Positive = Field(
        500_000, description="decisions between two copies of the policy that join the pool"
    )
    pool_size: Count = Field(
        20,
        description="maximum number of earlier versions in the pool; a new one replaces the oldest",
    )

    @model_validator(mode="after")
    def _someone_plays(self) -> OpponentConfig:
        together = self.earlier + sum(self.players.values())
        if self.share > 0 and together <= 0:
            raise ValueError(
                f"all weights are 0; with share: {self.share:g}, at least one opponent needs a "
                "weight above 0"
            )
        if together > MOST:
            raise ValueError(f"the sum of the weights must be at most {MOST}, got {together:g}")
        return self


class EvaluationConfig(Section):
    """Matches that measure the policy: short matches at every checkpoint, long ones at the end."""

    opponents: tuple[str, ...] = Field(
        ("random", "greedy"),
        min_length=1,
        description="anchors, by player specification; the first anchor has rating 0",
    )
    games: Count = Field(1000, description="games against each opponent at the end")
    progress_games: Number = Field(
        100, description="games against each opponent at every checkpoint"
    )
    seed: Whole = Field(12345, description="seed of the deals")
    workers: Annotated[int, Field(strict=True, gt=0, le=1024)] = Field(
        2, description="processes that play the matches at the end"
    )

    @model_validator(mode="after")
    def _nobody_is_met_twice(self) -> EvaluationConfig:
        for name in self.opponents:
            if self.opponents.count(name) > 1:
                raise ValueError(f"opponents has {name!r} twice; name each opponent once")
        return self
