"""One training run: MaskablePPO in self-play, from a configuration to a saved policy.

A run is a folder: `config.yaml` (all settings), `checkpoint.safetensors`, `pool/` (earlier
selves), `tensorboard/`, and at the end `policy.safetensors`. The checkpoint holds everything the
run depends on, so a run that was stopped, or killed, goes on from its last checkpoint exactly as
it would have gone on then.
"""

from __future__ import annotations

import signal
import time
from collections.abc import Callable
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np
import torch
from sb3_contrib import MaskablePPO
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.logger import configure

from armarl.game import Game, make_game
from armarl.matches import play_match
from armarl.players import GreedyPlayer, Player, RandomPlayer, make_player
from armarl.policies import NetworkPlayer, load_policy, save_policy
from armarl_training.checkpoint import restore, save_checkpoint
from armarl_training.config import ConfigError, TrainingConfig
from armarl_training.imitation import imitate
from armarl_training.networks import policy_tensors, set_policy_tensors
from armarl_training.self_play import OpponentPool, SelfPlayVecEnv

ACTIVATIONS = {"relu": torch.nn.ReLU, "tanh": torch.nn.Tanh}
Progress = Callable[[int, int, dict[str, float]], None]


class RunError(RuntimeError):
    """A run folder that cannot be used so; the message says what would be right."""


class Run:
    """A training run in a folder: the model, its games, its opponents and its checkpoints."""

    def __init__(self, config: TrainingConfig, folder: Path) -> None:
        self.config = config
        self.folder = folder
        self.game = _make_game(config)
        _check_opponents(config, self.game)
        self.snapshots: list[int] = []  # decisions at which the selves in the pool were taken
        self._earlier: dict[int, NetworkPlayer] = {}  # by when they were taken
        self.seconds_before = 0.0  # spent by earlier parts of this run
        self.started = time.monotonic()
        torch.set_num_threads(config.threads)
        self.pool = OpponentPool()
        self.env = SelfPlayVecEnv(
            self.game, self.pool, config.environments, config.seed, config.reward
        )
        self.model = _make_model(config, self.env)
        self.refresh_pool()

    @property
    def decisions(self) -> int:
        return int(self.model.num_timesteps)

    @property
    def seconds(self) -> float:
        """Time spent in training, over all parts of the run."""
        return self.seconds_before + time.monotonic() - self.started

    # --- opponents -------------------------------------------------------------------------------

    def refresh_pool(self) -> None:
        """Put the policy as it is now, and the earlier selves, into the pool."""
        weights = self.config.opponents
        latest = self._network(policy_tensors(self.model.policy), "latest")
        players: list[Player] = [latest, RandomPlayer(self.game), GreedyPlayer(self.game)]
        for taken in self.snapshots:
            if taken not in self._earlier:
                self._earlier[taken] = self._snapshot(taken)
        earlier: list[Player] = [self._earlier[taken] for taken in self.snapshots]
        shares = [weights.latest, weights.random, weights.greedy]
        if earlier:
            shares += [weights.earlier / len(earlier)] * len(earlier)
        else:
            shares[0] += weights.earlier  # until there is an earlier self
        self.pool.set(players + earlier, shares)

    def take_snapshot(self) -> None:
        """Keep the policy as it is now as an earlier self; the oldest leaves a full pool."""
        tensors = policy_tensors(self.model.policy)
        activation = self.config.network.activation
        save_policy(self._snapshot_path(self.decisions), self.game, tensors, activation)
        size = self.config.opponents.pool_size
        if len(self.snapshots) < size:
            self.snapshots.append(self.decisions)
        else:  # in the oldest one's place, so that the others keep their slots
            self.snapshots[self.snapshots.index(min(self.snapshots))] = self.decisions

    def _snapshot_path(self, taken: int) -> Path:
        return self.folder / "pool" / f"{taken:012d}.safetensors"

    def _snapshot(self, taken: int) -> NetworkPlayer:
        return self._network(load_policy(self._snapshot_path(taken), self.game).tensors, "earlier")

    def _network(self, tensors: Any, name: str) -> NetworkPlayer:
        activation = self.config.network.activation
        return NetworkPlayer(self.game, tensors, activation, name=name, sample=True)

    # --- the run ---------------------------------------------------------------------------------

    def train(self, progress: Progress | None = None) -> bool:
        """Train to the end, or until a signal asks to stop; True when it came to the end."""
        self.model.set_logger(configure(str(self.folder / "tensorboard"), ["tensorboard"]))
        if self.decisions == 0:
            self._imitate(progress)
        callback = _RunCallback(self, progress)
        with _stop_on_signal(callback):
            remaining = self.config.total_decisions - self.decisions
            if remaining > 0:
                with suppress(_Stop):
                    self.model.learn(remaining, callback=callback, reset_num_timesteps=False)
        save_checkpoint(self)
        return not callback.stopped

    def take_up_policy(self) -> None:
        """Begin with the weights of the saved policy that the configuration names, if it does."""
        if self.config.start_from is None:
            return
        try:
            saved = load_policy(self.config.start_from, self.game)
            set_policy_tensors(self.model.policy, saved.tensors)
        except (ValueError, FileNotFoundError) as error:
            raise ConfigError(f"start_from: {error}") from error
        self.refresh_pool()

    def _imitate(self, progress: Progress | None) -> None:
        """The head start; a run that is stopped during it begins it again."""

        def report(played: int, games: int, right: float) -> None:
            if progress:
                progress(0, self.config.total_decisions, {f"imitated {played}/{games}": right})

        imitate(
            self.game,
            self.model.policy,
            GreedyPlayer(self.game),
            self.config.imitation,
            self.config.reward,
            self.config.seed,
            report,
        )

    def export(self, strength: list[dict[str, Any]] | None = None) -> Path:
        """Write the policy with its metadata; `strength` are results of matches."""
        path = self.folder / "policy.safetensors"
        save_policy(
            path,
            self.game,
            policy_tensors(self.model.policy),
            self.config.network.activation,
            training={
                "config": self.config.model_dump(mode="json"),
                "decisions": self.decisions,
                "minutes": round(self.seconds / 60, 1),
            },
            strength=strength or [],
        )
        return path

    def evaluate(self, path: Path) -> list[dict[str, Any]]:
        """Play the configured matches with the saved policy."""
        settings = self.config.evaluation
        return [
            play_match(
                self.game, [path, opponent], settings.games, settings.seed, settings.workers
            ).as_dict()
            for opponent in settings.opponents
        ]


def start_run(config: TrainingConfig, folder: str | Path) -> Run:
    """Begin a new run in a folder that holds none.

    Raises:
        RunError: the folder holds a run.
    """
    folder = Path(folder)
    if (folder / "config.yaml").exists():
        raise RunError(f"{folder} holds a run already: resume it with --resume, or name another")
    run = Run(config, folder)  # first, so that a refused configuration leaves no folder
    run.take_up_policy()
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.yaml").write_text(config.dump(), encoding="utf-8")
    return run


def resume_run(folder: str | Path) -> Run:
    """Go on with the run in a folder, from its last checkpoint (or its start, if it has none yet).

    Raises:
        RunError: the folder holds no run.
        PolicyError: the checkpoint is damaged.
    """
    from armarl_training.config import load_config

    folder = Path(folder)
    if not (folder / "config.yaml").exists():
        raise RunError(f"{folder} holds no run: there is no config.yaml in it")
    run = Run(load_config(folder / "config.yaml"), folder)
    if not restore(run):
        run.take_up_policy()
    return run


class _Stop(Exception):  # noqa: N818 - no error
    """Leaves `MaskablePPO.learn` between two rollouts; nothing else ends it there."""


class _RunCallback(BaseCallback):
    """Between two rollouts: stop, or refresh the opponents, take snapshots, save and report."""

    def __init__(self, run: Run, progress: Progress | None) -> None:
        super().__init__()
        self.run = run
        self.progress = progress
        self.stopped = False
        self._saved = time.monotonic()

    def _on_rollout_start(self) -> None:
        run = self.run
        limit = run.config.time_limit_minutes
        if self.stopped or (limit is not None and run.seconds > 60 * limit):
            raise _Stop
        if run.decisions - max(run.snapshots, default=0) >= run.config.opponents.snapshot_every:
            run.take_snapshot()
        run.refresh_pool()
        if time.monotonic() - self._saved > 60 * run.config.checkpoint_every_minutes:
            save_checkpoint(run)
            self._saved = time.monotonic()
        self._report()

    def _report(self) -> None:
        recent = {name: float(np.mean(r)) for name, r in sorted(self.run.env.recent.items())}
        for name, mean in recent.items():
            self.logger.record(f"returns/{name}", mean)
        if self.progress:
            self.progress(self.run.decisions, self.run.config.total_decisions, recent)

    def _on_step(self) -> bool:
        return True


@contextmanager
def _stop_on_signal(callback: _RunCallback) -> Any:
    """The first Ctrl-C, or a request to terminate, stops after the update; a second one at once."""

    def stop(number: int, frame: Any) -> None:
        callback.stopped = True
        signal.signal(signal.SIGINT, signal.default_int_handler)

    before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _make_game(config: TrainingConfig) -> Game:
    try:
        game = make_game(config.game, **config.options)
        game.reward_kind(config.reward)
    except (TypeError, ValueError) as error:
        raise ConfigError(f"game, options or reward: {error}") from error
    return game


def _check_opponents(config: TrainingConfig, game: Game) -> None:
    """Refuse before the training, not after it, opponents who cannot measure the policy."""
    try:
        for opponent in config.evaluation.opponents:
            make_player(opponent, game, code=False)
    except ValueError as error:
        raise ConfigError(f"evaluation.opponents: {error}") from error


def _make_model(config: TrainingConfig, env: SelfPlayVecEnv) -> MaskablePPO:
    ppo = config.ppo
    widths = list(config.network.widths)

    def learning_rate(remaining: float) -> float:
        return ppo.final_learning_rate + remaining * (ppo.learning_rate - ppo.final_learning_rate)

    return MaskablePPO(
        "MlpPolicy",
        env,
        learning_rate=learning_rate,
        n_steps=ppo.rollout_length,
        batch_size=ppo.minibatch,
        n_epochs=ppo.epochs,
        gamma=ppo.discount,
        gae_lambda=ppo.gae_lambda,
        clip_range=ppo.clip_range,
        ent_coef=ppo.entropy,
        vf_coef=ppo.value_coefficient,
        max_grad_norm=ppo.max_gradient_norm,
        seed=config.seed,
        device="cpu",
        policy_kwargs={
            "net_arch": {"pi": widths, "vf": widths},
            "activation_fn": ACTIVATIONS[config.network.activation],
        },
    )
