"""The way of a minibatch through an actor and a critic, and of gradients back.

Where networks are small, recording each operation and going back through the record takes as long
as their products, and has threads wait for the interpreter's lock. So the way through those of
plain layers is written out, actor and critic side by side: what both see is read once, and what
lies between two layers is done for both at once, in memory that is written over. Some hundred
positions of a rollout take the less time the fewer products there are, zeros and all.
`tests/test_passes.py` holds it to automatic differentiation.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

import torch
from torch import nn
from torch.nn import functional

from armarl_training.layers import linears, tanh_in_place
from armarl_training.ppo_networks import Actor, PlacesActor, PlacesCritic, PlainCritic
from armarl_training.workspace import Workspace

MOST_UNITS = 320  # of a layer of both: where there are more, torch had better share each product


class Said(NamedTuple):
    """What an actor and a critic say of some decisions."""

    outputs: torch.Tensor  # (n, actions + 1 + players): the actor's, and the critic's
    trail: Any  # for the way back


class Passes(Protocol):
    """An actor and a critic with the weights that they have now, in a precision."""

    def there(self, privileged: torch.Tensor, advice: torch.Tensor, workspace: Workspace) -> Said:
        """What they say.

        Args:
            privileged: (n, size + secrets), what the movers see, and what the others alone know.
            advice: int64 (n, advisers), see `Actor`.
            workspace: where it may lie; it stands there until the next call with this workspace.
        """
        ...

    def back(self, said: Said, gradient: torch.Tensor, workspace: Workspace) -> list[torch.Tensor]:
        """float32, of the actor's parameters and the critic's, in order, by that of outputs."""
        ...


class Speaker(Protocol):
    """The same for playing: there is no way back."""

    def say(
        self, privileged: torch.Tensor, advice: torch.Tensor, workspace: Workspace
    ) -> torch.Tensor:
        """The outputs of `Passes.there`."""
        ...


Layers = Sequence[tuple[nn.Linear, nn.Linear]]  # of actor and critic, pair by pair


def passes_of(
    actor: Actor | PlacesActor, critic: PlainCritic | PlacesCritic, dtype: torch.dtype
) -> Passes:
    """The quickest that there are, in a precision."""
    if isinstance(actor, Actor) and (layers := plain_layers(actor, critic)):
        return PlainPasses(layers, actor.activation, dtype)
    return RecordedPasses(actor, critic)


def speaker_of(
    actor: Actor | PlacesActor, critic: PlainCritic | PlacesCritic, dtype: torch.dtype
) -> Speaker:
    """The quickest that there is, in a precision."""
    if isinstance(actor, Actor) and (layers := plain_layers(actor, critic)):
        return PlainSpeaker(layers, actor.activation, dtype)
    return RecordedPasses(actor, critic)


def plain_layers(actor: Actor, critic: PlainCritic | PlacesCritic) -> Layers:
    """Those of small networks of plain layers, as many in both; of others there are none."""
    if not isinstance(critic, PlainCritic) or actor.trust is not None:
        return ()
    own, others = linears(actor.layers), linears(critic)
    pairs = list(zip(own, others, strict=False))
    units = [len(one.bias) + len(other.bias) for one, other in pairs[:-1]]
    small = max(units, default=0) <= MOST_UNITS
    return pairs if small and len(own) == len(others) else ()


class RecordedPasses:
    """Of any networks, by automatic differentiation; see `Passes`."""

    def __init__(self, actor: Actor | PlacesActor, critic: PlainCritic | PlacesCritic) -> None:
        self._actor, self._critic = actor, critic
        self._parameters = [*actor.parameters(), *critic.parameters()]

    def there(self, privileged: torch.Tensor, advice: torch.Tensor, workspace: Workspace) -> Said:
        """See `Passes`."""
        outputs = self._actor(privileged[:, : self._actor.inputs], advice)
        found = torch.cat([outputs, self._critic(privileged)], 1)
        return Said(found.detach(), found)

    @torch.no_grad()
    def say(
        self, privileged: torch.Tensor, advice: torch.Tensor, workspace: Workspace
    ) -> torch.Tensor:
        """See `Speaker`."""
        return self.there(privileged, advice, workspace).outputs

    def back(self, said: Said, gradient: torch.Tensor, workspace: Workspace) -> list[torch.Tensor]:
        """See `Passes`."""
        return list(torch.autograd.grad(said.trail, self._parameters, gradient))


class PlainPasses:
    """Of small networks of plain layers, as many in both; see `Passes`."""

    @torch.no_grad()
    def __init__(self, layers: Layers, activation: str, dtype: torch.dtype) -> None:
        """In a precision."""
        (own, others), *onward = layers
        self._seen, self._apart, self._dtype = own.in_features, own.out_features, dtype
        both = torch.cat([own.weight, others.weight[:, : self._seen]])
        self._of_seen, self._of_secrets = both.to(dtype), others.weight[:, self._seen :].to(dtype)
        self._bias = torch.cat([own.bias, others.bias]).to(dtype)
        self._onward = Onward(onward, activation, dtype)

    @torch.no_grad()
    def there(self, privileged: torch.Tensor, advice: torch.Tensor, workspace: Workspace) -> Said:
        """See `Passes`."""
        found = workspace.take("there 0", len(privileged), len(self._bias), self._dtype)
        torch.addmm(self._bias, privileged[:, : self._seen], self._of_seen.t(), out=found)
        found[:, self._apart :].addmm_(privileged[:, self._seen :], self._of_secrets.t())
        trail = self._onward.there(found, workspace)
        return Said(trail[-1], (privileged, trail))

    @torch.no_grad()
    def back(self, said: Said, gradient: torch.Tensor, workspace: Workspace) -> list[torch.Tensor]:
        """See `Passes`."""
        privileged, trail = said.trail
        gradient, own, others = self._onward.back(trail, gradient, workspace)
        of_seen = gradient.t() @ privileged[:, : self._seen]
        of_secrets = gradient[:, self._apart :].t() @ privileged[:, self._seen :]
        bias, apart = gradient.sum(0), self._apart
        own = [of_seen[:apart], bias[:apart], *own]
        others = [torch.cat([of_seen[apart:], of_secrets], 1), bias[apart:], *others]
        # The fused optimiser takes for granted that they lie in one piece.
        return [found.float().contiguous() for found in (*own, *others)]


class Onward:
    """The layers of both after the first, with the activation before each of them."""

    @torch.no_grad()
    def __init__(self, layers: Layers, activation: str, dtype: torch.dtype) -> None:
        """In a precision."""
        self._tanh, self._dtype = activation == "tanh", dtype
        self._weights = [(own.weight.to(dtype), others.weight.to(dtype)) for own, others in layers]
        self._biases = [torch.cat([own.bias, others.bias]).to(dtype) for own, others in layers]

    def there(self, found: torch.Tensor, workspace: Workspace) -> list[torch.Tensor]:
        """What goes into each layer, and what the last puts out, from what the first has found."""
        trail = [found]
        for k, (weights, bias) in enumerate(zip(self._weights, self._biases, strict=True), 1):
            x = self.activate(trail[-1])
            found = workspace.take(f"there {k}", len(x), len(bias), self._dtype)
            for own_bias, own_x, weight, y in zip(
                *(_halves(bias, weights), _inputs(x, weights), weights, _halves(found, weights)),
                strict=True,
            ):
                torch.addmm(own_bias, own_x, weight.t(), out=y)
            trail.append(found)
        return trail

    def back(
        self, trail: list[torch.Tensor], gradient: torch.Tensor, workspace: Workspace
    ) -> tuple[torch.Tensor, list[torch.Tensor], list[torch.Tensor]]:
        """From the gradient of what the last puts out to that of what the first has found.

        And those of the actor's weights and biases, in their order, and of the critic's.
        """
        own: list[torch.Tensor] = []
        others: list[torch.Tensor] = []
        for k, weights in reversed(list(enumerate(self._weights))):
            x, sums = trail[k], _halves(gradient.sum(0), weights)
            before = workspace.take(f"back {k}", len(x), x.shape[1], self._dtype)
            halves = zip(
                *((own, others), weights, _halves(gradient, weights), sums),
                *(_inputs(x, weights), _inputs(before, weights)),
                strict=True,
            )
            for found, weight, slopes, bias, seen, out in halves:
                found[:0] = [slopes.t() @ seen, bias]
                torch.mm(slopes, weight, out=out)
            gradient = self.deactivate(before, x)
        return gradient, own, others

    def activate(self, found: torch.Tensor) -> torch.Tensor:
        """The activation, written over what was found."""
        return tanh_in_place(found) if self._tanh else found.relu_()

    def deactivate(self, gradient: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
        """The gradient before the activation that gave `x`, written over that after it."""
        if self._tanh:
            torch.ops.aten.tanh_backward(gradient, x, grad_input=gradient)
        else:
            torch.ops.aten.threshold_backward(gradient, x, 0, grad_input=gradient)
        return gradient


class PlainSpeaker:
    """Of the same networks, for some hundred positions: both as one, a product for each layer."""

    @torch.no_grad()
    def __init__(self, layers: Layers, activation: str, dtype: torch.dtype) -> None:
        """In a precision."""
        self._tanh, self._dtype = activation == "tanh", dtype
        (own, others), *onward = layers
        secrets = others.in_features - own.in_features  # which the actor does not see
        weights = [torch.cat([functional.pad(own.weight, (0, secrets)), others.weight])]
        weights += [_side_by_side(own.weight, others.weight) for own, others in onward]
        self._weights = [weight.to(dtype) for weight in weights]
        self._biases = [torch.cat([own.bias, others.bias]).to(dtype) for own, others in layers]

    @torch.no_grad()
    def say(
        self, privileged: torch.Tensor, advice: torch.Tensor, workspace: Workspace
    ) -> torch.Tensor:
        """See `Speaker`."""
        found = privileged
        for k, (weight, bias) in enumerate(zip(self._weights, self._biases, strict=True)):
            if k > 0:
                found = tanh_in_place(found) if self._tanh else found.relu_()
            out = workspace.take(f"said {k}", len(privileged), len(bias), self._dtype)
            found = torch.addmm(bias, found, weight.t(), out=out)
        return found


Pair = tuple[torch.Tensor, torch.Tensor]  # of the actor, and of the critic


def _halves(numbers: torch.Tensor, weights: Pair) -> Pair:
    """Of what a layer of both puts out, or of its gradients, the actor's and the critic's."""
    units = len(weights[0])
    return numbers[..., :units], numbers[..., units:]


def _inputs(numbers: torch.Tensor, weights: Pair) -> Pair:
    """The same of what goes in."""
    units = weights[0].shape[1]
    return numbers[:, :units], numbers[:, units:]


def _side_by_side(own: torch.Tensor, others: torch.Tensor) -> torch.Tensor:
    """Both weights in one, with zeros between what is the one's and what is the other's."""
    both: torch.Tensor = torch.block_diag(own, others)  # type: ignore[no-untyped-call]
    return both
