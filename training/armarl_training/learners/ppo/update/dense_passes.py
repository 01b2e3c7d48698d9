"""The forward and backward pass of a minibatch through an actor and a critic.

In small networks, automatic differentiation takes as long to record and replay its operations as
the matrix products themselves. It also makes threads wait for the interpreter's lock. The passes
through plain layers are therefore written out, with actor and critic side by side. The inputs of
both are read once. The work between two layers is done for both together, in memory that is reused.
In a rollout, a pass over a few hundred positions is fastest with as few matrix products as
possible, even if the products multiply zeros (`PlainActorCritic`). `tests/training/test_passes.py`
checks all these passes against automatic differentiation.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol, TypeVar

import torch
from torch import nn
from torch.nn import functional

from armarl_training.learners.ppo.networks import Actor, PlacesActor, PlacesCritic, PlainCritic
from armarl_training.learners.ppo.update.buffers import Workspace
from armarl_training.networks.layers import linears, tanh_in_place

T = TypeVar("T")

# Maximum number of units in a layer, of both networks together, for the passes that are written
# out. In larger layers, torch splits each matrix product among its threads.
MOST_UNITS = 320


class ForwardPass(NamedTuple):
    """The outputs of an actor and a critic for some decisions."""

    outputs: torch.Tensor  # (n, actions + 1 + players): the actor's, then the critic's
    trail: Any  # saved for the backward pass


class NetworkPasses(Protocol):
    """Passes through an actor and a critic with their current weights, in one precision."""

    def forward(
        self, privileged: torch.Tensor, advice: torch.Tensor, workspace: Workspace
    ) -> ForwardPass:
        """Compute the outputs.

        Args:
            privileged: (n, size + secrets), the inputs that the movers see, then those that only
                the other seats know.
            advice: int64 (n, advisers), see `Actor`.
            workspace: memory for the results. They stay valid until its next use.
        """
        ...

    def backward(
        self, forward: ForwardPass, gradient: torch.Tensor, workspace: Workspace
    ) -> list[torch.Tensor]:
        """Return the gradients, float32, given the gradient of the outputs.

        The order is the actor's parameters, then the critic's.
        """
        ...


class ActorCritic(Protocol):
    """An actor and a critic for playing, without a backward pass."""

    def act(
        self, privileged: torch.Tensor, advice: torch.Tensor, workspace: Workspace
    ) -> torch.Tensor:
        """Return the outputs; see `NetworkPasses.forward`."""
        ...


Pair = tuple[T, T]  # the actor's and the critic's
TensorPair = Pair[torch.Tensor]
LayerPairs = Sequence[Pair[nn.Linear]]


def passes_of(
    actor: Actor | PlacesActor, critic: PlainCritic | PlacesCritic, dtype: torch.dtype
) -> NetworkPasses:
    """Return the fastest passes for these networks, in the precision `dtype`."""
    if isinstance(actor, Actor) and (layers := plain_layers(actor, critic)):
        return PlainPasses(layers, actor.activation, dtype)
    return RecordedPasses(actor, critic)


def actor_critic_of(
    actor: Actor | PlacesActor, critic: PlainCritic | PlacesCritic, dtype: torch.dtype
) -> ActorCritic:
    """Return the fastest way to play with these networks, in the precision `dtype`."""
    if isinstance(actor, Actor) and (layers := plain_layers(actor, critic)):
        return PlainActorCritic(layers, actor.activation, dtype)
    return RecordedPasses(actor, critic)


def plain_layers(actor: Actor, critic: PlainCritic | PlacesCritic) -> LayerPairs:
    """Return the layer pairs of two small plain networks with the same number of layers.

    For all other networks, return an empty sequence.
    """
    if not isinstance(critic, PlainCritic) or actor.trust is not None:
        return ()
    actors, critics = linears(actor.layers), linears(critic)
    pairs = list(zip(actors, critics, strict=False))
    units = [len(one.bias) + len(other.bias) for one, other in pairs[:-1]]
    small = max(units, default=0) <= MOST_UNITS
    return pairs if small and len(actors) == len(critics) else ()


class RecordedPasses:
    """Passes through any networks, by automatic differentiation; see `NetworkPasses`."""

    def __init__(self, actor: Actor | PlacesActor, critic: PlainCritic | PlacesCritic) -> None:
        self._actor, self._critic = actor, critic
        self._parameters = [*actor.parameters(), *critic.parameters()]

    def forward(
        self, privileged: torch.Tensor, advice: torch.Tensor, workspace: Workspace
    ) -> ForwardPass:
        """See `NetworkPasses`."""
        outputs = self._actor(privileged[:, : self._actor.inputs], advice)
        found = torch.cat([outputs, self._critic(privileged)], 1)
        return ForwardPass(found.detach(), found)

    @torch.no_grad()
    def act(
        self, privileged: torch.Tensor, advice: torch.Tensor, workspace: Workspace
    ) -> torch.Tensor:
        """See `ActorCritic`."""
        return self.forward(privileged, advice, workspace).outputs

    def backward(
        self, forward: ForwardPass, gradient: torch.Tensor, workspace: Workspace
    ) -> list[torch.Tensor]:
        """See `NetworkPasses`."""
        return list(torch.autograd.grad(forward.trail, self._parameters, gradient))


class PlainPasses:
    """Passes through two small plain networks of equal depth; see `NetworkPasses`."""

    @torch.no_grad()
    def __init__(self, layers: LayerPairs, activation: str, dtype: torch.dtype) -> None:
        """Copy the weights in the precision `dtype`."""
        (actor, critic), *later = layers
        self._seen, self._units, self._dtype = actor.in_features, actor.out_features, dtype
        both = torch.cat([actor.weight, critic.weight[:, : self._seen]])
        self._of_seen, self._of_secrets = both.to(dtype), critic.weight[:, self._seen :].to(dtype)
        self._bias = torch.cat([actor.bias, critic.bias]).to(dtype)
        self._later = LaterLayers(later, activation, dtype)

    @torch.no_grad()
    def forward(
        self, privileged: torch.Tensor, advice: torch.Tensor, workspace: Workspace
    ) -> ForwardPass:
        """See `NetworkPasses`."""
        found = workspace.take("forward 0", len(privileged), len(self._bias), self._dtype)
        torch.addmm(self._bias, privileged[:, : self._seen], self._of_seen.t(), out=found)
        found[:, self._units :].addmm_(privileged[:, self._seen :], self._of_secrets.t())
        trail = self._later.forward(found, workspace)
        return ForwardPass(trail[-1], (privileged, trail))

    @torch.no_grad()
    def backward(
        self, forward: ForwardPass, gradient: torch.Tensor, workspace: Workspace
    ) -> list[torch.Tensor]:
        """See `NetworkPasses`."""
        privileged, trail = forward.trail
        gradient, actor, critic = self._later.backward(trail, gradient, workspace)
        of_seen = gradient.t() @ privileged[:, : self._seen]
        of_secrets = gradient[:, self._units :].t() @ privileged[:, self._seen :]
        bias, units = gradient.sum(0), self._units
        actor = [of_seen[:units], bias[:units], *actor]
        critic = [torch.cat([of_seen[units:], of_secrets], 1), bias[units:], *critic]
        # The fused optimiser assumes contiguous gradients.
        return [found.float().contiguous() for found in (*actor, *critic)]


class LaterLayers:
    """The layers of both networks after the first, each with the activation before it."""

    @torch.no_grad()
    def __init__(self, layers: LayerPairs, activation: str, dtype: torch.dtype) -> None:
        """Copy the weights in the precision `dtype`."""
        self._tanh, self._dtype = activation == "tanh", dtype
        self._weights = [
            (actor.weight.to(dtype), critic.weight.to(dtype)) for actor, critic in layers
        ]
        self._biases = [torch.cat([actor.bias, critic.bias]).to(dtype) for actor, critic in layers]

    def forward(self, found: torch.Tensor, workspace: Workspace) -> list[torch.Tensor]:
        """Run the layers on the first layer's outputs.

        Return the inputs of each layer, then the outputs of the last layer.
        """
        trail = [found]
        for k, (weights, bias) in enumerate(zip(self._weights, self._biases, strict=True), 1):
            x = self.activate(trail[-1])
            found = workspace.take(f"forward {k}", len(x), len(bias), self._dtype)
            biases, inputs = _halves(bias, weights), _inputs(x, weights)
            for side, out in enumerate(_halves(found, weights)):
                torch.addmm(biases[side], inputs[side], weights[side].t(), out=out)
            trail.append(found)
        return trail

    def backward(
        self, trail: list[torch.Tensor], gradient: torch.Tensor, workspace: Workspace
    ) -> tuple[torch.Tensor, list[torch.Tensor], list[torch.Tensor]]:
        """Propagate the gradient of the last layer's outputs back to the first layer's outputs.

        Return the propagated gradient, then the gradients of the actor's weights and biases in
        order, then those of the critic's.
        """
        found: Pair[list[torch.Tensor]] = ([], [])
        for k, weights in reversed(list(enumerate(self._weights))):
            x = trail[k]
            before = workspace.take(f"backward {k}", len(x), x.shape[1], self._dtype)
            slopes, sums = _halves(gradient, weights), _halves(gradient.sum(0), weights)
            inputs, out = _inputs(x, weights), _inputs(before, weights)
            for side, weight in enumerate(weights):
                found[side][:0] = [slopes[side].t() @ inputs[side], sums[side]]
                torch.mm(slopes[side], weight, out=out[side])
            gradient = self.deactivate(before, x)
        return gradient, *found

    def activate(self, found: torch.Tensor) -> torch.Tensor:
        """Apply the activation in place."""
        return tanh_in_place(found) if self._tanh else found.relu_()

    def deactivate(self, gradient: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
        """Propagate a gradient back through the activation whose output is `x`, in place."""
        if self._tanh:
            torch.ops.aten.tanh_backward(gradient, x, grad_input=gradient)
        else:
            torch.ops.aten.threshold_backward(gradient, x, 0, grad_input=gradient)
        return gradient


class PlainActorCritic:
    """Plain networks for a few hundred positions, with one matrix product per layer for both."""

    @torch.no_grad()
    def __init__(self, layers: LayerPairs, activation: str, dtype: torch.dtype) -> None:
        """Copy the weights in the precision `dtype`."""
        self._tanh, self._dtype = activation == "tanh", dtype
        (actor, critic), *later = layers
        secrets = critic.in_features - actor.in_features  # number of inputs hidden from the actor
        weights = [torch.cat([functional.pad(actor.weight, (0, secrets)), critic.weight])]
        weights += [_side_by_side(actor.weight, critic.weight) for actor, critic in later]
        self._weights = [weight.to(dtype) for weight in weights]
        self._biases = [torch.cat([actor.bias, critic.bias]).to(dtype) for actor, critic in layers]

    @torch.no_grad()
    def act(
        self, privileged: torch.Tensor, advice: torch.Tensor, workspace: Workspace
    ) -> torch.Tensor:
        """See `ActorCritic`."""
        found = privileged
        for k, (weight, bias) in enumerate(zip(self._weights, self._biases, strict=True)):
            if k > 0:
                found = tanh_in_place(found) if self._tanh else found.relu_()
            out = workspace.take(f"act {k}", len(privileged), len(bias), self._dtype)
            found = torch.addmm(bias, found, weight.t(), out=out)
        return found


def _halves(numbers: torch.Tensor, weights: TensorPair) -> TensorPair:
    """Split a joint layer's outputs, or their gradients, into the actor's and the critic's."""
    units = len(weights[0])
    return numbers[..., :units], numbers[..., units:]


def _inputs(numbers: torch.Tensor, weights: TensorPair) -> TensorPair:
    """Split the inputs of a joint layer into the actor's and the critic's."""
    units = weights[0].shape[1]
    return numbers[:, :units], numbers[:, units:]


def _side_by_side(actor: torch.Tensor, critic: torch.Tensor) -> torch.Tensor:
    """Join the weights of both networks in one block-diagonal matrix."""
    both: torch.Tensor = torch.block_diag(actor, critic)  # type: ignore[no-untyped-call]
    return both
