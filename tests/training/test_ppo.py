"""Parts of the learner `ppo`: advantages of each seat, hand-written losses, stored positions."""

import numpy as np
import pytest
import torch
from torch.nn import functional

import tiny
from armarl.core.verbs import ENDED, PLAYING
from armarl.environments.seat_loops import LEARNER
from armarl.games.make_game import make_game
from armarl_training.config.sections import OpponentConfig
from armarl_training.config.training_config import TrainingConfig
from armarl_training.learners.ppo.rollout.action_lookahead import LookAhead
from armarl_training.learners.ppo.rollout.rollout import SelfPlay
from armarl_training.learners.ppo.update import losses
from armarl_training.learners.ppo.update.losses import (
    ENTROPY,
    MAGNET_DISTANCE,
    POLICY_LOSS,
    VALUE_LOSS,
    Decisions,
    LossWeights,
    Samples,
    explained_variance,
    make_loss_scratch,
    ppo_gradient,
    ppo_gradient_bfloat16,
)
from armarl_training.learners.ppo.update.network_inputs import InputReader
from armarl_training.learners.ppo.update.thread_team import ThreadTeam
from armarl_training.learning.advantages import seat_advantages
from armarl_training.learning.opponent_pool import OpponentPool
from armarl_training.networks.bfloat16 import bits_of
from armarl_training.networks.integer_observations import Draws, IntegerObservations, draw
from armarl_training.networks.learner_devices import OnCpu
from armarl_training.networks.softmax import make_softmax_scratch
from armarl_training.run.run import Run
from variants import every_variant

PLAYERS = [2, 3, 4]
CPU = OnCpu(make_game("armadora"))


def plain_advantages(movers, learners, ends, rewards, values, last, policy_lambda, value_lambda):
    """Compute the advantages and targets of one game by their definition, without recursion."""
    steps, players = values.shape
    advantages, targets = np.zeros(steps), np.zeros((steps, players))

    def decisions_from(t, seat):
        """Return the values of the seat's own decisions in the game from step t on."""
        own = []
        for k in range(t, steps):
            if learners[k] and movers[k] == seat:
                own.append(values[k, seat])
            if ends[k] != PLAYING:
                break
        return own

    def end_after(t, seat):
        """Return the seat's value at the end of the game, or at the learner's last decision."""
        for k in range(t, steps):
            if ends[k] != PLAYING:
                return rewards[k, seat]
        known = last if learners[steps] else values[t + np.flatnonzero(learners[t:])[-1]]
        return known[seat]

    def estimate(chain, end, factor):
        """Return the sum of factor^k times the k-th temporal difference."""
        following = [*chain[1:], end]
        return sum(factor**k * (following[k] - chain[k]) for k in range(len(chain)))

    for t in np.flatnonzero(learners[:-1]):
        for seat in range(players):
            own, end = decisions_from(t, seat), end_after(t, seat)
            if movers[t] == seat:
                advantages[t] = estimate(own, end, policy_lambda)
                targets[t, seat] = own[0] + estimate(own, end, value_lambda)
            elif ends[t] != PLAYING:
                targets[t, seat] = end
            else:
                after = decisions_from(t + 1, seat)
                targets[t, seat] = after[0] + estimate(after, end, value_lambda) if after else end
    return advantages, targets


@pytest.mark.parametrize("learning", [1.0, 0.5])
@pytest.mark.parametrize("players", PLAYERS)
def test_advantages_match_their_definition(players, learning):
    """The learner decides at all steps, or at a random half of them."""
    rng = np.random.default_rng(players)
    steps, games = 40, 6
    movers = rng.integers(players, size=(steps, games))
    learners = rng.random((steps + 1, games)) < learning
    ends = np.where(rng.random((steps, games)) < 0.1, ENDED, PLAYING).astype(np.int8)
    shape = (steps, games, players)
    rewards = rng.uniform(-1, 1, shape).astype(np.float32) * (ends != PLAYING)[..., None]
    values = rng.uniform(-1, 1, shape).astype(np.float32)
    last = rng.uniform(-1, 1, (games, players)).astype(np.float32)
    found, targets = seat_advantages(
        movers,
        learners,
        ends,
        rewards,
        values,
        last,
        policy_lambda=0.9,
        value_lambda=0.6,
        device=CPU,
    )
    for i in range(games):
        game = (movers[:, i], learners[:, i], ends[:, i], rewards[:, i], values[:, i], last[i])
        wanted, wanted_targets = plain_advantages(*game, 0.9, 0.6)
        np.testing.assert_allclose(found[:, i], wanted, atol=1e-5)
        np.testing.assert_allclose(targets[:, i], wanted_targets, atol=1e-5)


def test_the_return_reaches_each_seat_s_last_decision():
    """Without bootstrapping, a decision gets its seat's return, whichever seat ends the game."""
    movers = np.array([[0], [1], [1], [2], [0]])
    ends = np.array([[PLAYING]] * 4 + [[ENDED]], np.int8)
    rewards = np.zeros((5, 1, 3), np.float32)
    rewards[4, 0] = (1, -0.25, -0.75)
    zeros = np.zeros((5, 1, 3), np.float32)
    advantages, _ = seat_advantages(
        movers,
        np.ones((6, 1), bool),
        ends,
        rewards,
        values=zeros,
        last_values=np.ones((1, 3), np.float32),
        policy_lambda=1,
        value_lambda=1,
        device=CPU,
    )
    assert advantages[:, 0].tolist() == [1, -0.25, -0.25, -0.75, 1]


@pytest.mark.parametrize("magnet_weight", [0.0, 0.3])
def test_gradients_are_equal_to_automatic_differentiation(magnet_weight):
    rng = np.random.default_rng(0)
    n, actions, players, clip, entropy_weight, value_weight = 64, 21, 3, 0.2, 0.05, 0.5
    looks = 2  # number of lookahead actions
    # bfloat16 represents all these numbers exactly.
    outputs = torch.from_numpy(rng.normal(size=(n, actions + 1 + players))).bfloat16().float()
    magnets = torch.from_numpy(rng.normal(size=(n, actions + 1)).astype(np.float32))
    legal = rng.random((n, actions)) < 0.5
    legal[:, 3] = True
    taken = np.array([rng.choice(np.flatnonzero(row), 1 + looks) for row in legal])
    advantages = rng.normal(size=(n, 1 + looks)).astype(np.float32)
    targets = rng.uniform(-1, 1, (n, players)).astype(np.float32)

    outputs.requires_grad_()
    logs, drawn = (
        each[:, :actions].masked_fill(torch.from_numpy(~legal), -1e9).log_softmax(dim=1)
        for each in (outputs, magnets)
    )
    distance = (logs.exp() * (logs - drawn)).sum(dim=1).mean()
    own = logs.gather(1, torch.from_numpy(taken))
    before = own.detach() + torch.from_numpy(rng.normal(0, 0.3, own.shape).astype(np.float32))
    ratio, advantage = (own - before).exp(), torch.from_numpy(advantages)
    clipped = ratio.clamp(1 - clip, 1 + clip)
    policy_loss = -torch.minimum(advantage * ratio, advantage * clipped).mean()
    entropy = -(logs.exp() * logs).sum(dim=1).mean()
    wanted = torch.from_numpy(targets)
    critic_logits, expected = outputs[:, actions + 1 :], outputs[:, actions]
    value_loss = functional.binary_cross_entropy_with_logits(critic_logits, (wanted + 1) / 2)
    guess = functional.mse_loss(expected, wanted[:, 0])
    loss = policy_loss - entropy_weight * entropy + value_weight * (value_loss + guess)
    loss = loss + magnet_weight * distance
    loss.backward()

    found = np.empty(outputs.shape, np.float32)
    scratch = make_loss_scratch(CPU, n, actions)
    samples = Samples(np.packbits(legal, axis=1), taken, before.numpy(), advantages, targets)
    decisions = Decisions(
        rows=np.arange(n),
        samples=samples,
        number=n,
        outputs=outputs.detach().numpy(),
        magnets=magnets.numpy(),
        loss_weights=LossWeights(clip, entropy_weight, magnet_weight, value_weight),
        gradients=found,
        scratch=scratch,
    )
    make_game("armadora").run(ppo_gradient, n, decisions)
    rounded = torch.empty_like(outputs, dtype=torch.bfloat16)
    decisions = decisions._replace(
        outputs=bits_of(CPU, outputs.detach().bfloat16()),
        gradients=bits_of(CPU, rounded),
        scratch=make_loss_scratch(CPU, n, actions),
    )
    make_game("armadora").run(ppo_gradient_bfloat16, n, decisions)
    assert torch.equal(rounded, torch.from_numpy(found).bfloat16())
    assert np.array_equal(decisions.scratch.statistics, scratch.statistics)
    sums = scratch.statistics.sum(axis=0)
    np.testing.assert_allclose(found, outputs.grad.numpy(), atol=1e-6)
    assert sums[POLICY_LOSS] / n == pytest.approx(policy_loss.item(), abs=1e-5)
    assert sums[ENTROPY] / n == pytest.approx(entropy.item(), abs=1e-5)
    if magnet_weight:
        assert sums[MAGNET_DISTANCE] / n == pytest.approx(distance.item(), abs=1e-5)
    assert sums[VALUE_LOSS] / n == pytest.approx(value_loss.item(), abs=1e-5)
    errors = 2 * torch.sigmoid(critic_logits[:, 0]).detach().numpy() - 1 - targets[:, 0]
    explained = 1 - np.mean(errors**2) / np.var(targets[:, 0])
    assert explained_variance(sums / n) == pytest.approx(explained, abs=1e-5)


def test_statistics_are_in_the_order_of_their_names():
    assert [getattr(losses, name.upper()) for name in losses.REPORTED] == list(range(7))


def test_the_average_of_weights_begins_as_their_plain_mean(tmp_path):
    """With a fixed decay, the initial weights would dominate the average for thousands of steps."""
    config = TrainingConfig(**tiny.settings(ppo={"rollout_length": 16, "minibatch": 64}))
    learner = Run(config, tmp_path).learner
    take_step, seen = learner._take_step, [learner.policy(average=False).tensors]

    def step(parts):
        norm = take_step(parts)
        seen.append(learner.policy(average=False).tensors)
        return norm

    learner._take_step = step
    learner.iterate(0.0)
    assert len(seen) > 4
    for name, average in learner.policy(average=True).tensors.items():
        mean = np.mean([tensors[name] for tensors in seen], axis=0)
        np.testing.assert_allclose(average, mean, atol=1e-6)


def test_actions_are_drawn_from_the_softmax_of_the_legal_logits():
    logits = np.tile(np.array([[1.0, 2.0, 0.5, 3.0, 9.0]], np.float32), (20_000, 1))
    masks = np.tile(np.array([[0b11010000]], np.uint8), (20_000, 1))  # the last output is no action
    actions, log_probs = np.empty((20_000, 2), np.int64), np.empty((20_000, 2), np.float32)
    draws = np.random.default_rng(0).random((20_000, 2))
    reached = np.empty((CPU.scratch_rows(20_000), 4))
    scratch = make_softmax_scratch(CPU, 20_000, 4)
    CPU.run(draw, 20_000, Draws(logits, masks, draws, reached, scratch, actions, log_probs))
    weights = np.exp([1.0, 2.0, 3.0])
    for k in range(2):
        shares = np.bincount(actions[:, k], minlength=4) / 20_000
        assert shares[2] == 0
        np.testing.assert_allclose(shares[[0, 1, 3]], weights / weights.sum(), atol=0.015)
    logs = dict(zip([0, 1, 3], np.log(weights / weights.sum()), strict=True))
    np.testing.assert_allclose(log_probs[:50, 1], [logs[a] for a in actions[:50, 1]], atol=1e-5)
    ends = np.array([[0.0, np.nextafter(1, 0)]])
    first = Draws(logits[:1], masks[:1], ends, reached, scratch, actions[:1], log_probs[:1])
    CPU.run(draw, 1, first)
    assert actions[0].tolist() == [0, 3]


@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
def test_network_inputs_are_rounded_as_torch_rounds(precision):
    game = make_game("armada", players=3, cards=True)
    kept = IntegerObservations(game)
    states, seats = tiny.positions(game, 80)
    observations, _ = game.views(states, seats)
    features = np.empty(observations.shape, kept.dtype)
    secrets = np.empty((len(states), kept.secrets), kept.dtype)
    kept.keep(observations, features)
    kept.keep_secrets(states, seats, secrets)
    reading = InputReader(kept, precision)
    both = torch.from_numpy(np.concatenate([features, secrets], axis=1).astype(np.float32))
    privileged = (both * torch.from_numpy(1 / kept.privileged_scales)).to(reading.dtype)
    seen = privileged[:, : features.shape[1]]
    chosen = np.array([5, 2, 2, 0])
    assert torch.equal(reading.privileged(features, secrets), privileged)
    assert torch.equal(reading.privileged(features, secrets, chosen), privileged[chosen])
    assert torch.equal(reading.seen(features), seen)
    odd = np.arange(1, 256, dtype=kept.dtype)[:, None] * np.ones_like(features[:1])
    wanted = torch.from_numpy(odd.astype(np.float32)) * torch.from_numpy(1 / kept.scales)
    assert torch.equal(reading.seen(odd), wanted.to(reading.dtype))


@pytest.mark.parametrize(
    ("name", "options"),
    [("armadora", {"players": 3, "advanced": True}), ("armada", {"players": 2, "cards": True})],
)
def test_stored_positions_are_exact(name, options):
    game = make_game(name, **options)
    kept = IntegerObservations(game)
    states, seats = tiny.positions(game, 40)
    observations, _ = game.views(states, seats)
    features = np.empty(observations.shape, kept.dtype)
    kept.keep(observations, features)
    again = features.astype(np.float32) / kept.scales
    np.testing.assert_allclose(again, observations, rtol=1e-6)
    secrets = np.empty((seats.size, kept.secrets), kept.dtype)
    kept.keep_secrets(states, seats, secrets)
    own = [k for b in game.observation.blocks if b.known == "own"
           for k in range(game.observation.slices[b.name].start,
                          game.observation.slices[b.name].stop)]  # fmt: skip
    theirs = [
        game.views(states, (seats + k) % game.players)[0][:, own] for k in range(1, game.players)
    ]
    scales = kept.privileged_scales[game.observation.size :]
    np.testing.assert_allclose(
        secrets.astype(np.float32) / scales, np.concatenate(theirs, axis=1), rtol=1e-6
    )


def test_partners_in_games_of_four_are_the_same_player(tmp_path):
    game = make_game("armadora", players=4)
    config = OpponentConfig(share=0.5, earlier=0, players={"random": 1})
    pool = OpponentPool(game, config, tmp_path)
    play = SelfPlay(game, pool, games=400, steps=4, reward="win", seed=[1])
    foreign = (play.lineups != LEARNER).any(axis=1)
    assert 0.4 < foreign.mean() < 0.6
    lineups = play.lineups[foreign]
    assert np.array_equal(lineups[:, :2], lineups[:, 2:])  # seats 0 and 2 are partners, and 1 and 3
    assert ((lineups == LEARNER).sum(axis=1) == 2).all()

    def critic_values(features, secrets):
        return np.zeros((len(features), game.players), np.float32)

    def even(features, advice, secrets, masks, movers):
        logits = np.zeros((len(features), len(game.actions)), np.float32)
        return logits, critic_values(features, secrets)

    rollout = play.play(even, critic_values)
    held = np.take_along_axis(play.lineups[None], rollout.movers[..., None], axis=2)[..., 0]
    assert np.array_equal(rollout.learners, held == LEARNER)  # no game has ended yet
    assert not (rollout.ends != PLAYING).any()


def test_some_games_begin_with_a_random_opening(tmp_path):
    """Nothing is learned from a random opening, because all its actions are random."""
    game, games, longest = make_game("armadora", board="mini"), 600, 4
    config = OpponentConfig(share=0.5, earlier=0, players={"greedy": 1})
    pool = OpponentPool(game, config, tmp_path)
    settings = {"steps": 24, "reward": "win", "seed": [1], "openings": (0.5, longest)}
    play = SelfPlay(game, pool, games, **settings)

    def critic_values(features, secrets):
        return np.zeros((len(features), game.players), np.float32)

    def first(features, advice, secrets, masks, movers):  # nearly always the first legal action
        logits = np.zeros((len(features), len(game.actions)), np.float32)
        logits -= 100 * np.arange(len(game.actions), dtype=np.float32)
        return logits, critic_values(features, secrets)

    left = play.save()[0]["openings"].copy()
    counts = np.bincount(left, minlength=longest + 1)
    assert left.max() == longest
    assert 0.4 < counts[0] / games < 0.6
    assert counts[1:].min() > 40
    lineups, rollout = play.lineups.copy(), play.play(first, critic_values)
    for t in range(longest):  # games are longer than the openings, so lineups do not change
        held = np.take_along_axis(lineups, rollout.movers[t][:, None], axis=1)[:, 0]
        opening, taken = left > t, rollout.actions[t, :, 0]
        assert np.array_equal(rollout.learners[t], ~opening & (held == LEARNER))
        legal = np.unpackbits(rollout.masks[t], axis=1)
        assert np.take_along_axis(legal, taken[:, None], axis=1).all()
        likeliest = taken == legal.argmax(axis=1)
        assert likeliest[rollout.learners[t]].all()
        assert likeliest[opening].mean() < 0.5
    began = play.save()[0]["openings"]  # the openings of the games that began in this rollout
    assert began.any()
    assert began.max() <= longest
    other = SelfPlay(game, pool, games, **settings)
    other.restore(*play.save())
    one, two = play.play(first, critic_values), other.play(first, critic_values)
    assert all(np.array_equal(a, b) for a, b in zip(one, two, strict=True))
    damaged = play.save()
    damaged[0]["openings"][0] = longest + 1
    with pytest.raises(ValueError, match="openings"):
        other.restore(*damaged)


def test_lookahead_sees_the_positions_that_would_follow():
    """Each lookahead action gives the game's next position, as the next seat to move sees it."""
    game = make_game("armadora", players=3)
    kept = IntegerObservations(game)
    states, movers = tiny.positions(game, 30)
    rng = np.random.default_rng(5)
    actions = np.array(
        [rng.choice(np.flatnonzero(mask), 4) for mask in game.legal_masks(states)], np.int64
    )
    asked = []

    def ask(features, secrets):
        asked.append((features.copy(), secrets.copy()))
        return rng.uniform(-1, 1, (len(features), 3)).astype(np.float32)

    before = states.copy()
    kinds = rng.bit_generator.state
    lookahead_values = LookAhead(game, kept, "win").lookahead_values(states, movers, actions, ask)
    assert np.array_equal(states, before)
    rng.bit_generator.state = kinds
    answers = rng.uniform(-1, 1, (actions.size, 3)).astype(np.float32)
    (features, secrets), over = asked[0], 0
    for i, k in np.ndindex(actions.shape):
        after = game.taken(states, np.array([i]))
        game.apply(after, np.zeros(1, np.int64), actions[i : i + 1, k])
        status, seats = game.statuses(after)
        row = i * actions.shape[1] + k
        if status[0]:
            over += 1
            wanted = game.returns(after, np.zeros(1, np.int64), "win")[0, movers[i]]
        else:
            seen = np.empty((1, game.observation.size), kept.dtype)
            kept.keep(game.views(after, seats)[0], seen)
            others = np.empty((1, kept.secrets), kept.dtype)
            kept.keep_secrets(after, seats, others)
            assert np.array_equal(features[row], seen[0])
            assert np.array_equal(secrets[row], others[0])
            wanted = answers[row, (movers[i] - seats[0]) % 3]
        assert lookahead_values[i, k] == pytest.approx(wanted, abs=1e-6)


@every_variant
def test_every_variant_can_be_learned_from(variant, tmp_path):
    """A rollout and its update work, even if nothing is hidden and the critic sees no more."""
    settings = tiny.settings(game=variant.game, options=dict(variant.options))
    run = Run(TrainingConfig(**settings), tmp_path)
    figures = run.learner.iterate(0.0)
    assert run.learner.decisions > 0
    assert all(np.isfinite(figure) for figure in figures.values())


def test_nothing_is_learned_from_turns_of_opponents(tmp_path):
    settings = tiny.settings(ppo={"rollout_length": 1, "minibatch": 8})
    learner = Run(TrainingConfig(**settings), tmp_path).learner
    (games,) = learner.shards.parts
    games.self_play.lineups[:] = 0  # the pool's first player has all seats
    before = learner.policy(average=False).tensors
    figures = learner.iterate(0.0)
    assert all(np.isfinite(figure) for figure in figures.values())
    assert learner.decisions == 0
    for name, weights in learner.policy(average=False).tensors.items():
        assert np.array_equal(weights, before[name])


def learned(tmp_path, threads):
    """Return the first minibatch's gradient, and the weights after an update, with `threads`."""
    settings = tiny.settings(game="armada", options={"cards": True}, threads=threads)
    settings["ppo"] = {**settings.get("ppo", {}), "precision": "float32"}
    learner = Run(TrainingConfig(**settings), tmp_path / str(threads)).learner
    gradients, take_step = [], learner._take_step

    def step(parts):
        gradients.append([sum(part) for part in zip(*parts, strict=True)])
        return take_step(parts)

    learner._take_step = step
    learner.iterate(0.0)
    weights = [weights.detach().numpy() for weights in learner.actor.parameters()]
    return [part.numpy() for part in gradients[0]], weights


def test_several_threads_learn_the_same_as_one(tmp_path):
    """Only the order of sums differs. The same number of threads gives exactly the same weights."""
    (tmp_path / "again").mkdir()
    alone, together = learned(tmp_path, 1), learned(tmp_path, 2)
    again = learned(tmp_path / "again", 2)
    for one, two in zip(alone[0], together[0], strict=True):
        np.testing.assert_allclose(one, two, atol=1e-7)
    for one, two, three in zip(alone[1], together[1], again[1], strict=True):
        np.testing.assert_allclose(one, two, atol=2e-3)  # Adam divides by the size of the gradient
        assert np.array_equal(two, three)


def test_an_error_in_a_thread_reaches_the_caller():
    def fail(number):
        raise ValueError(f"no {number}")

    for threads in (1, 2):
        team = ThreadTeam(threads)
        assert team.map(lambda number: number + 1, range(5)) == [1, 2, 3, 4, 5]
        with pytest.raises(ValueError, match="no 0"):
            team.map(fail, range(2))
