"""Play the same games on the CPU and on a GPU, and compare every byte.

    python scripts/checks/check_gpu.py --plies 10000000

With this command, the script plays 10 million actions of every variant in two batches, one on the
CPU and one on the GPU. It uses all autoreset modes and includes some illegal actions. After half of
the steps, the two batches swap devices. After each step, the script compares all results. It then
compares the other methods of `CudaGame`, including the scripted players, and an iteration of PPO.
PPO's games must be equal byte for byte, and its gradients nearly equal. If there is no GPU, the
script prints what is missing. `--variant NAME` checks only the variant of this name (as in the
output), so several processes can share the work. Numba's simulator needs no GPU but is slow:

    NUMBA_ENABLE_CUDASIM=1 python scripts/checks/check_gpu.py --plies 2000 --batch 20

The exit code is 0 if everything was equal, 1 if there was a difference, 2 without a GPU.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests"))
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests" / "helpers"))
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "examples"))

from armarl import SelfPlayBatch
from armarl.core.game import Game
from armarl.devices.cuda_game import SIMULATED, CudaGame, fault
from armarl.players.simple_players import GreedyPlayer, style_names
from armarl_training.config.training_config import TrainingConfig
from armarl_training.learners.ppo.ppo_learner import PPO
from armarl_training.learners.ppo.rollout.rollout import Rollout
from armarl_training.learning.opponent_pool import OpponentPool
from armarl_training.learning.saving import weights_of
from armarl_training.networks.integer_observations import IntegerObservations
from variants import VARIANTS

if SIMULATED:
    # The simulator busy-waits for its threads, while its threads wait for the interpreter lock.
    sys.setswitchinterval(1e-4)

MODES = ("SAME_STEP", "NEXT_STEP", "DISABLED")
MOST_LEARNT_FROM = 512  # maximum number of games in the check of PPO
NEARLY = {"rtol": 1e-3, "atol": 1e-5}  # tolerances for nearly equal numbers
ILLEGAL_SHARE = 0.01  # fraction of the actions that are replaced by random, mostly illegal numbers


class DifferenceError(AssertionError):
    """A difference between the results of GPU and CPU. The message says where it is."""


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--plies", type=int, default=1_000_000, help="actions for each variant")
    parser.add_argument("--batch", type=int, default=4096, help="number of games in a batch")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--game", help="check only this game")
    parser.add_argument("--variant", action="append", help="check only this variant; repeatable")
    arguments = parser.parse_args()
    if missing := fault():
        print(f"nothing was checked: {missing}")
        return 2
    failed = 0
    for variant in VARIANTS:
        if arguments.game not in (None, variant.game):
            continue
        if arguments.variant and str(variant) not in arguments.variant:
            continue
        began = time.monotonic()
        game, seed, device = variant.make(), arguments.seed, arguments.device
        try:
            plies = check(game, arguments.plies, arguments.batch, seed, device)
            check_learner(game, min(arguments.batch, MOST_LEARNT_FROM), 16, seed, device)
        except DifferenceError as difference:
            failed += 1
            print(f"{variant}: DIFFERENT: {difference}", flush=True)
        else:
            seconds = time.monotonic() - began
            print(f"{variant}: {plies:,} plies equal, PPO alike, {seconds:.0f} s", flush=True)
    return 1 if failed else 0


def check(game: Game, plies: int, size: int, seed: int = 0, device: str = "cuda") -> int:
    """Compare CPU and GPU over at least `plies` actions, a third of them in each autoreset mode.

    Returns:
        The number of actions played.

    Raises:
        DifferenceError: a result was not equal.
    """
    steps = -(-plies // (size * len(MODES)))
    for number, mode in enumerate(MODES):
        _check_mode(game, mode, size, max(steps, 2), seed + number, device)
    check_methods(game, size, seed, device)
    return max(steps, 2) * size * len(MODES)


def _check_mode(game: Game, mode: str, size: int, steps: int, seed: int, device: str) -> None:
    there = CudaGame(game, device)
    rng = np.random.default_rng(seed)
    reward = game.rewards[seed % len(game.rewards)]
    here = SelfPlayBatch(game, size, reward=reward, autoreset_mode=mode)
    away = SelfPlayBatch(game, size, reward=reward, autoreset_mode=mode, device=device)
    seeds = np.arange(size) + seed
    chance, its_chance = game.new_chance(seeds), there.new_chance(there.put(seeds))
    turn, its_turn = here.reset(seed=seed), away.reset(seed=seed)
    for step in range(steps):
        where = f"{mode}, step {step}"
        _compare_turns(where, there, turn, its_turn)
        _compare(f"{where}, states", there, here.states, away.states)
        _compare(f"{where}, final states", there, here.final_states, away.final_states)
        if step == steps // 2:  # swap CPU and GPU
            here, away = away.to("cpu"), here.to(device)
        over = turn.ends != 0
        if mode == "DISABLED" and over.any():
            turn = here.reset(games=over)
            its_turn = away.reset(games=there.put(over), out=its_turn)
            _compare_turns(f"{where}, reset", there, turn, its_turn)
        actions = game.random_actions(turn.masks, chance)
        its_actions = there.random_actions(its_turn.masks, its_chance)
        _compare(f"{where}, random actions", there, actions, its_actions)
        wild = rng.random(size) < ILLEGAL_SHARE
        actions = np.where(wild, rng.integers(-2, len(game.actions) + 2, size), actions)
        turn, its_turn = here.step(actions), away.step(there.put(actions))


def check_methods(game: Game, size: int, seed: int = 0, device: str = "cuda") -> None:
    """Compare the results of `CudaGame`'s methods with those on the CPU, in unfinished games.

    Raises:
        DifferenceError: a result was not equal.
    """
    there = CudaGame(game, device)
    seeds = np.arange(size) + seed
    its_seeds = there.put(seeds)
    states, its_states = game.new_states(seeds), there.new_states(its_seeds)
    _compare("new_states", there, states, its_states)
    for step in range(4):
        masks = game.legal_masks(states)
        _compare("legal_masks", there, masks, there.legal_masks(its_states))
        actions = game.random_actions(masks, game.new_chance(seeds + step))
        going = np.flatnonzero(game.statuses(states)[0] == 0)
        states, seeds, actions = game.taken(states, going), seeds[going], actions[going]
        game.play(states, np.arange(going.size), actions)
        its_states, its_seeds = its_states[there.put(going)], its_seeds[there.put(going)]
        there.play(its_states, there.put(actions))
        _compare("play", there, states, its_states)
    going = np.flatnonzero(game.statuses(states)[0] == 0)
    states, seeds = game.taken(states, going), seeds[going]
    its_states, its_seeds = there.put(states), there.put(seeds)
    seats = game.statuses(states)[1]
    for name, one, other in zip(
        ("statuses", "seats"), game.statuses(states), there.statuses(its_states), strict=True
    ):
        _compare(name, there, one, other)
    draws = np.random.default_rng(seed).random(states.size)
    for style in style_names(game) or (None,):
        player = GreedyPlayer(game, style)
        chosen = player.choose(game.concealed(states, seats), seats, draws)
        asked = its_states, there.put(seats), there.put(draws)
        _compare(player.name, there, chosen, there.scripted_actions(*asked, player.style))
    for seat in range(game.players):
        seats = np.full(states.size, seat)
        its_seats = there.put(seats)
        views, its_views = game.views(states, seats), there.views(its_states, its_seats)
        _compare("views", there, views[0], its_views[0])
        _compare("views' masks", there, views[1], its_views[1])
        hidden, its_hidden = game.concealed(states, seats), there.concealed(its_states, its_seats)
        _compare("concealed", there, hidden, its_hidden)
        come, its_come = game.progress(states, seats), there.progress(its_states, its_seats)
        _compare("progress", there, come, its_come)
        dealt = game.determinised(hidden, seats, seeds)
        its_dealt = there.determinised(its_hidden, its_seats, its_seeds)
        _compare("determinised", there, dealt, its_dealt)
    for reward in game.rewards:
        returns, lengths = game.playouts(states.copy(), seeds, reward)
        its_returns, its_lengths = there.playouts(its_states.clone(), its_seeds, reward)
        _compare("playouts", there, returns, its_returns)
        _compare("playouts' lengths", there, lengths, its_lengths)


def check_learner(game: Game, size: int, steps: int, seed: int = 0, device: str = "cuda") -> None:
    """Compare an iteration of PPO on the CPU and on the GPU.

    The games must be equal byte for byte, and the computed numbers nearly equal.

    Raises:
        DifferenceError: a result was not equal, or not nearly equal.
    """
    there = CudaGame(game, device)
    here, away = (_learner(game, size, steps, seed, where) for where in ("cpu", device))
    (games,), (its_games,) = here.shards.parts, away.shards.parts
    states = its_games.self_play.save()[0]["states"].copy()
    networks, its_networks = (
        weights_of({"actor": each.actor, "critic": each.critic}) for each in (here, away)
    )
    for name, weights in networks.items():
        _compare(name, there, weights.numpy(), its_networks[name])
    its_rollout = its_games.play(its_networks, 0.0)
    _check_rollout(there, states.view(game.blank.dtype)[:, 0], its_rollout)
    rollout = Rollout(*map(there.fetch, its_rollout))

    games.play(networks, 0.0)  # loads the networks
    for t in range(steps):
        seen = rollout.features[t], rollout.advice[t], rollout.secrets[t], rollout.masks[t]
        outputs, values = games._act(*seen, rollout.movers[t])
        _compare_nearly(f"step {t}, values", values, rollout.values[t])
        logits = outputs[:, : len(game.actions)]
        legal = np.unpackbits(rollout.masks[t], axis=1)[:, : logits.shape[1]]
        weights = np.exp(np.where(legal, logits.astype(np.float64), -np.inf))
        log_probs = np.log(
            np.take_along_axis(weights, rollout.actions[t], 1) / weights.sum(1)[:, None]
        )
        _compare_nearly(f"step {t}, log_probs", log_probs, rollout.log_probs[t])

    found, its_found = here.compute_advantages(rollout), away.compute_advantages(its_rollout)
    for name, ours, theirs in zip(("advantages", "targets"), found, its_found, strict=True):
        _compare_nearly(name, ours, there.fetch(theirs))
    rows = np.arange(steps * size)
    figures = here._update(rollout, rows, *found, 0.02)
    its_figures = away._update(its_rollout, its_games._device.put(rows), *its_found, 0.02)
    for name, figure in figures.items():
        _compare_nearly(name, np.array(figure), np.array(its_figures[name]))
    pairs = zip(_gradients(here), _gradients(away), strict=True)
    for k, (ours, theirs) in enumerate(pairs):
        _compare_nearly(f"gradient {k}", ours, theirs)


def _gradients(learner: PPO) -> list[NDArray[np.float32]]:
    """Return the gradients of the learner's only gradient step so far.

    After one step, the gradients are ten times Adam's first moment `exp_avg`.
    """
    moments = (learner._optimiser.state[weights] for weights in learner._parameters)
    return [10 * each["exp_avg"].cpu().numpy() for each in moments]


def _learner(game: Game, size: int, steps: int, seed: int, device: str) -> PPO:
    """Make a learner that trains in self-play, in float32, with one gradient step per iteration."""
    settings = {
        **{"game": game.name, "options": {"players": game.players, **game.options}, "seed": seed},
        **{"device": device, "total_decisions": 1 << 40, "environments": size},
        "ppo": {
            **{"rollout_length": steps, "minibatch": steps * size, "epochs": 1},
            "precision": "float32",
        },
        **{"network": {"widths": [64, 64]}, "opponents": {"share": 0}},
    }
    config = TrainingConfig.model_validate(settings)
    return PPO(config, game, OpponentPool(game, config.opponents, Path()))


def _check_rollout(there: CudaGame, states: Any, rollout: Rollout) -> None:
    """Replay a rollout's actions on the CPU from its first states, and compare the results.

    Raises:
        DifferenceError: a result was not equal.
    """
    game, actions = there.game, there.fetch(rollout.actions)
    batch, kept = SelfPlayBatch(game, len(states)), IntegerObservations(game)
    turn = batch.load_states(np.ascontiguousarray(states))
    for t in range(len(actions) + 1):
        features = np.empty((len(states), kept.scales.size), kept.dtype)
        secrets = np.empty((len(states), kept.secrets), kept.dtype)
        kept.keep(turn.observations, features)
        kept.keep_secrets(batch.states, turn.seats, secrets)
        _compare(f"step {t}, movers", there, turn.seats, rollout.movers[t])
        _compare(f"step {t}, features", there, features, rollout.features[t])
        _compare(f"step {t}, secrets", there, secrets, rollout.secrets[t])
        if t < len(actions):
            _compare(f"step {t}, masks", there, np.packbits(turn.masks, axis=1), rollout.masks[t])
            turn = batch.step(actions[t, :, 0])
            rewards = turn.rewards.astype(np.float32)
            _compare(f"step {t}, rewards", there, rewards, rollout.rewards[t])
            _compare(f"step {t}, ends", there, turn.ends, rollout.ends[t])


def _compare_nearly(what: str, ours: Any, theirs: Any) -> None:
    """Raise DifferenceError unless two arrays have the same shape and nearly equal numbers."""
    if ours.shape != theirs.shape or not np.allclose(ours, theirs, **NEARLY):
        raise DifferenceError(f"{what}: there is a difference of {np.abs(ours - theirs).max()}")


def _compare_turns(where: str, there: CudaGame, turn: Any, its_turn: Any) -> None:
    for name in ("seats", "observations", "masks", "rewards", "ends", "terminated", "truncated"):
        _compare(f"{where}, {name}", there, getattr(turn, name), getattr(its_turn, name))


def _compare(what: str, there: CudaGame, ours: Any, theirs: Any) -> None:
    """Raise DifferenceError unless two arrays have the same type, shape and bytes.

    The comparison runs on the GPU, because it would be slower to copy the GPU's array back.
    """
    put = there.put(np.ascontiguousarray(ours))
    if (put.dtype, put.shape) != (theirs.dtype, theirs.shape):
        raise DifferenceError(
            f"{what}: the CPU's array is {put.dtype} {put.shape}, the GPU's {theirs.dtype} "
            f"{theirs.shape}"
        )
    if put.numel() and not torch.equal(_bytes(put), _bytes(theirs)):
        rows = (_bytes(put) != _bytes(theirs)).reshape(len(put), -1).any(1).nonzero()[:, 0]
        raise DifferenceError(
            f"{what}: {len(rows)} of {len(put)} rows differ, first row {int(rows[0])}"
        )


def _bytes(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.contiguous().view(torch.uint8)


if __name__ == "__main__":
    sys.exit(main())
