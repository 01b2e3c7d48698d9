"""The way of a minibatch through an actor and a critic, and of gradients back.

Where networks are small, recording each operation and going back through the record takes as long
as their products, and has threads wait for the interpreter's lock. So the way through those of
plain layers is written out, with actor and critic side by side as one network, nothing between the
two. `tests/test_passes.py` holds it to automatic differentiation.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

import torch
from torch import nn
from torch.nn import functional

from armarl_training.layers import linears, tanh
from armarl_training.ppo_networks import Actor, PlacesActor, PlacesCritic, PlainCritic

MOST_UNITS = 320  # of a layer of both; beyond it what is between the two takes longer


class Said(NamedTuple):
    """What an actor and a critic say of some decisions."""

    outputs: torch.Tensor  # (n, actions + 1 + players): the actor's, and the critic's
    trail: Any  # for the way back


class Passes(Protocol):
    """An actor and a critic with the weights that they have now, in a precision."""

    def there(self, truth: torch.Tensor, advice: torch.Tensor) -> Said:
        """What they say.

        Args:
            truth: (n, size + secrets), what the movers see, and what the others alone know.
            advice: int64 (n, advisers), see `Actor`.
        """
        ...

    def back(self, said: Said, gradient: torch.Tensor) -> list[torch.Tensor]:
        """float32, of the actor's parameters and the critic's, in order, by that of outputs."""
        ...


def passes_of(
    actor: Actor | PlacesActor, critic: PlainCritic | PlacesCritic, dtype: torch.dtype
) -> Passes:
    """The quickest that there are, in a precision."""
    if isinstance(actor, Actor) and isinstance(critic, PlainCritic) and actor.trust is None:
        pairs = list(zip(linears(actor.layers), linears(critic), strict=False))
        alike = len(pairs) == len(linears(actor.layers)) == len(linears(critic))
        hidden = [len(own.bias) + len(others.bias) for own, others in pairs[:-1]]
        if alike and max(hidden, default=0) <= MOST_UNITS:
            return PlainPasses(pairs, actor.activation, dtype)
    return RecordedPasses(actor, critic)


class RecordedPasses:
    """Of any networks, by automatic differentiation; see `Passes`."""

    def __init__(self, actor: Actor | PlacesActor, critic: PlainCritic | PlacesCritic) -> None:
        self._actor, self._critic = actor, critic
        self._parameters = [*actor.parameters(), *critic.parameters()]

    def there(self, truth: torch.Tensor, advice: torch.Tensor) -> Said:
        """See `Passes`."""
        outputs = self._actor(truth[:, : self._actor.inputs], advice)
        found = torch.cat([outputs, self._critic(truth)], 1)
        return Said(found.detach(), found)

    def back(self, said: Said, gradient: torch.Tensor) -> list[torch.Tensor]:
        """See `Passes`."""
        return list(torch.autograd.grad(said.trail, self._parameters, gradient))


class PlainPasses:
    """Of small networks of plain layers, as many in both; see `Passes`."""

    @torch.no_grad()
    def __init__(
        self, pairs: Sequence[tuple[nn.Linear, nn.Linear]], activation: str, dtype: torch.dtype
    ) -> None:
        """For layers of actor and critic, pair by pair, in a precision."""
        self._tanh, self._shapes = activation == "tanh", [own.weight.shape for own, _ in pairs]
        (own, others), *onward = pairs
        secrets = others.in_features - own.in_features  # which the actor does not see
        weights = [torch.cat([functional.pad(own.weight, (0, secrets)), others.weight])]
        weights += [_side_by_side(own.weight, others.weight) for own, others in onward]
        biases = [torch.cat([own.bias, others.bias]) for own, others in pairs]
        self._weights = [weight.to(dtype) for weight in weights]
        self._biases = [bias.to(dtype) for bias in biases]

    @torch.no_grad()
    def there(self, truth: torch.Tensor, advice: torch.Tensor) -> Said:
        """See `Passes`."""
        seen, outputs = [truth], torch.addmm(self._biases[0], truth, self._weights[0].t())
        for weight, bias in zip(self._weights[1:], self._biases[1:], strict=True):
            seen.append(tanh(outputs) if self._tanh else torch.relu(outputs))
            outputs = torch.addmm(bias, seen[-1], weight.t())
        return Said(outputs, seen)

    @torch.no_grad()
    def back(self, said: Said, gradient: torch.Tensor) -> list[torch.Tensor]:
        """See `Passes`."""
        (first, *seen), found = said.trail, []
        for x, weight in zip(reversed(seen), reversed(self._weights), strict=False):
            found += [gradient.sum(0), gradient.t() @ x]
            gradient = gradient @ weight
            if self._tanh:
                gradient = torch.ops.aten.tanh_backward(gradient, x)
            else:
                gradient = torch.ops.aten.threshold_backward(gradient, x, 0)
        found += [gradient.sum(0), gradient.t() @ first]
        return self._apart(found[::-1])

    def _apart(self, found: Sequence[torch.Tensor]) -> list[torch.Tensor]:
        """From weights and biases of both those of the one, and those of the other."""
        own, others = [], []
        for (units, inputs), weight, bias in zip(
            self._shapes, found[::2], found[1::2], strict=True
        ):
            skipped = 0 if weight is found[0] else inputs
            own += [weight[:units, :inputs], bias[:units]]
            others += [weight[units:, skipped:], bias[units:]]
        # The fused optimiser takes for granted that they lie in one piece.
        return [gradient.float().contiguous() for gradient in (*own, *others)]


def _side_by_side(own: torch.Tensor, others: torch.Tensor) -> torch.Tensor:
    """Both weights in one, with zeros between what is the one's and what is the other's."""
    both: torch.Tensor = torch.block_diag(own, others)  # type: ignore[no-untyped-call]
    return both
