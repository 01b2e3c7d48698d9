"""TorchRL: PPO with TorchRL's collector and losses in one seat, or policy gradients in all seats.

TorchRL reads masks from infos (vector environments) or observations (PettingZoo), and needs them as
bool. In its PettingZoo wrapper every agent acts at every step. The key "mask" says which agent's
action was played. The program learns only from played actions, with the return of the agent that
played the action.
"""

from __future__ import annotations

from typing import Any

import gymnasium
import torch
from tensordict import TensorDictBase
from tensordict.nn import TensorDictModule
from torch import nn
from torchrl.collectors import Collector
from torchrl.envs import Compose, DTypeCastTransform, GymWrapper, PettingZooWrapper, TransformedEnv
from torchrl.modules import MaskedCategorical, ProbabilisticActor, ValueOperator
from torchrl.objectives import ClipPPOLoss
from torchrl.objectives.value import GAE

from armarl import armadora_v0
from armarl_training.examples.measured import Learning, main

ENVS, STEPS, EPOCHS, MINIBATCH, RATE = 64, 16, 4, 256, 1e-3


def one_seat(decisions: int, seed: int) -> Learning:
    """Train PPO on the vector environment, with the random player in the other seat."""
    torch.manual_seed(seed)
    envs = gymnasium.make_vec("armarl/Armadora-v0", ENVS, autoreset_mode="SAME_STEP")
    game = envs.unwrapped.game
    as_bool = DTypeCastTransform(torch.int8, torch.bool, in_keys=["action_mask"])
    env = TransformedEnv(GymWrapper(envs, categorical_action_encoding=True), Compose(as_bool))
    network = _network(game.observation.size, len(game.actions))
    actor = ProbabilisticActor(
        TensorDictModule(network, in_keys=["observation"], out_keys=["logits"]),
        in_keys={"logits": "logits", "mask": "action_mask"},
        out_keys=["action"],
        distribution_class=MaskedCategorical,
        return_log_prob=True,
    )
    critic = ValueOperator(_network(game.observation.size, 1), in_keys=["observation"])
    advantage = GAE(gamma=1.0, lmbda=0.95, value_network=critic)
    loss = ClipPPOLoss(
        actor, critic, clip_epsilon=0.2, entropy_coeff=0.01, normalize_advantage=True
    )
    optimiser = torch.optim.Adam(loss.parameters(), RATE)

    def train() -> tuple[int, int]:
        taken = 0
        before = envs.unwrapped.endings.illegal  # by GymWrapper's own check
        collector = Collector(env, actor, frames_per_batch=ENVS * STEPS, total_frames=decisions)
        for data in collector:
            with torch.no_grad():
                advantage(data)
            rows = data.reshape(-1)
            for _ in range(EPOCHS):
                for batch in torch.randperm(rows.numel()).split(MINIBATCH):
                    parts = loss(rows[batch])
                    optimiser.zero_grad()
                    losses = [part for key, part in parts.items() if key.startswith("loss_")]
                    sum(losses).backward()
                    nn.utils.clip_grad_norm_(loss.parameters(), 0.5)
                    optimiser.step()
            taken += rows.numel()
        return taken, envs.unwrapped.endings.illegal - before

    return Learning(_chooser(network), train)


def all_seats(decisions: int, seed: int) -> Learning:
    """Train on whole games of the AEC environment. The agents share one network and one critic."""
    torch.manual_seed(seed)
    aec = armadora_v0.env()
    env = PettingZooWrapper(aec, use_mask=True, categorical_actions=True)
    groups = list(env.group_map)
    game = aec.game
    network, critic = (_network(game.observation.size, n) for n in (len(game.actions), 1))
    optimiser = torch.optim.Adam([*network.parameters(), *critic.parameters()], RATE)

    def act(tensordict: TensorDictBase) -> TensorDictBase:
        for group in groups:
            logits = network(tensordict[group, "observation", "observation"])
            policy = MaskedCategorical(logits=logits, mask=tensordict[group, "action_mask"])
            tensordict[group, "action"] = policy.sample()
        return tensordict

    def play() -> list[tuple[torch.Tensor, ...]]:
        """Play one game. For each agent, return the observations, masks and actions of its
        decisions, and its return, repeated for each decision.
        """
        with torch.no_grad():
            data = env.rollout(10_000, act, break_when_any_done=True)
        decided = []
        for group in groups:
            acted = data[group, "mask"].flatten()
            seen = data[group, "observation", "observation"].flatten(end_dim=-2)[acted]
            masks = data[group, "action_mask"].flatten(end_dim=-2)[acted]
            actions = data[group, "action"].flatten()[acted]
            gained = data["next", group, "reward"].sum()
            decided.append((seen, masks, actions, gained.expand(len(actions))))
        return decided

    def train() -> tuple[int, int]:
        taken = 0
        while taken < decisions:
            games: list[tuple[torch.Tensor, ...]] = []
            while sum(len(returns) for *_, returns in games) < 1024:
                games += play()
            seen, masks, actions, returns = map(torch.cat, zip(*games, strict=True))
            with torch.no_grad():
                gains = returns - critic(seen)[:, 0]
                gains = (gains - gains.mean()) / gains.std()
                before = MaskedCategorical(logits=network(seen), mask=masks).log_prob(actions)
            for _ in range(EPOCHS):
                for batch in torch.randperm(len(actions)).split(MINIBATCH):
                    policy = MaskedCategorical(logits=network(seen[batch]), mask=masks[batch])
                    ratio = (policy.log_prob(actions[batch]) - before[batch]).exp()
                    gain, clipped = gains[batch], ratio.clamp(0.8, 1.2)
                    loss = -torch.min(ratio * gain, clipped * gain).mean()
                    loss = loss - 0.01 * policy.entropy().mean()
                    loss = loss + 0.5 * (critic(seen[batch])[:, 0] - returns[batch]).square().mean()
                    optimiser.zero_grad()
                    loss.backward()
                    optimiser.step()
            taken += len(actions)
        return taken, aec.endings.illegal

    return Learning(_chooser(network), train)


def _network(inputs: int, outputs: int) -> nn.Sequential:
    return nn.Sequential(
        nn.Linear(inputs, 128), nn.Tanh(), nn.Linear(128, 128), nn.Tanh(), nn.Linear(128, outputs)
    )


def _chooser(network: nn.Module) -> Any:
    def choose(observations: Any, masks: Any) -> Any:
        with torch.no_grad():
            logits = network(torch.from_numpy(observations))
        return logits.masked_fill(torch.from_numpy(masks) == 0, -torch.inf).argmax(dim=1).numpy()

    return choose


if __name__ == "__main__":
    torch.set_num_threads(1)
    main("torchrl", {"one-seat": one_seat, "all-seats": all_seats})
