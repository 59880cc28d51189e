"""Training: a model learns with any framework, and a certificate is of what runs."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from oracles.frameworks import Signs

from shuffledp.errors import InvalidInputError
from shuffledp.federated.baseline_vectors import LaplaceVectors
from shuffledp.federated.clients import Clients, partition
from shuffledp.federated.framework_catalog import FRAMEWORKS
from shuffledp.federated.local_training import LocalTraining
from shuffledp.federated.round_protocol import TrainingRound
from shuffledp.federated.softmax import SoftmaxRegression
from shuffledp.federated.training import TrainedModel, train

CLASSES, FEATURES = 3, 8
MODEL = SoftmaxRegression(FEATURES, CLASSES)


def examples(seed: int, number: int) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    """Each class is bright in some places of its own, in noise."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(CLASSES, size=number)
    bright = np.arange(FEATURES) % CLASSES == labels[:, None]
    features = np.clip(0.6 * bright + rng.normal(0.2, 0.2, bright.shape), 0.0, 1.0)
    return features.astype(np.float32), labels


def people(number: int = 1_500) -> Clients:
    return partition(*examples(1, 2 * number), number, rng=np.random.default_rng(1))


def round_of(name: str, *, share: float = 0.2) -> TrainingRound | None:
    """A round of the library; None without privacy."""
    if name not in FRAMEWORKS:
        return None
    choice = FRAMEWORKS[name]
    framework = choice.framework(clip=0.3, share=share)
    return TrainingRound(framework, MODEL.num_parameters, choice.shuffled)


def run(
    protocol: TrainingRound | str | None, *, number: int = 1_500, **changes: Any
) -> TrainedModel:
    features, labels = examples(2, 600)
    settings: dict[str, Any] = {
        "levels": np.where(np.arange(number) % 2, 1.0, 3.0),
        "test_features": features,
        "test_labels": labels,
        "rounds": 3,
        "server_rate": 2.0,
        "rng": np.random.default_rng(7),
    } | changes
    if isinstance(protocol, str):
        protocol = round_of(protocol)
    levels = settings.pop("levels")
    return train(MODEL, people(number), levels, protocol=protocol, **settings)


@pytest.mark.parametrize("name", [*FRAMEWORKS, "non-private"])
def test_every_framework_learns_at_generous_levels(name: str) -> None:
    result = run(name, levels=np.where(np.arange(1_500) % 2, 6.0, 8.0))

    # Guessing is right in a third of the cases.
    assert result.accuracy[-1] > 0.8
    assert len(result.accuracy) == 3


def test_a_framework_of_ones_own_learns() -> None:
    protocol = TrainingRound(Signs(), MODEL.num_parameters)

    result = run(protocol, levels=np.full(1_500, 6.0), server_rate=0.2)

    assert result.accuracy[-1] > 0.8


def test_without_noise_it_is_gradient_descent_on_the_mean_loss() -> None:
    clients = people(200)
    weights = MODEL.start()
    for _ in range(3):
        weights = weights - 2.0 * MODEL.gradients(weights, clients).mean(axis=0)

    result = run("non-private", number=200, levels=np.ones(200))

    np.testing.assert_allclose(result.weights, weights, rtol=1e-4, atol=1e-6)


def test_local_steps_are_taken() -> None:
    one, five = (
        run("non-private", local_training=LocalTraining(steps=steps)).weights
        for steps in (1, 5)
    )

    assert not np.allclose(one, five)


def test_seeds_make_it_repeatable() -> None:
    first, again, other = (
        run("apes", rng=np.random.default_rng(seed)).weights for seed in (7, 7, 8)
    )

    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)


def test_strict_levels_cost_accuracy() -> None:
    strict, generous = (
        run("apes", levels=np.full(1_500, level)).accuracy[-1] for level in (0.05, 8.0)
    )

    assert strict < generous


def test_everybody_uses_the_smallest_level_where_the_choice_says_so() -> None:
    chosen = np.linspace(1.0, 2.0, 50)

    smallest, own = (FRAMEWORKS[name].levels(chosen) for name in ("ldp-min", "pldp"))

    assert set(smallest.tolist()) == {1.0}
    np.testing.assert_array_equal(own, chosen)


def test_progress_is_told() -> None:
    shares: list[float] = []
    told: list[tuple[int, float]] = []

    result = run(
        "pldp",
        on_round=lambda done, accuracy: told.append((done, accuracy)),
        on_share=shares.append,
    )

    assert told == list(enumerate(result.accuracy, start=1))
    assert shares.count(max(shares)) == 3


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"levels": np.ones(3)}, "one level for each of 1500 clients"),
        ({"levels": np.full(1_500, np.nan)}, "budget"),
        ({"rounds": 0}, "rounds"),
        ({"server_rate": 0.0}, "server_rate"),
        ({"server_rate": float("inf")}, "server_rate"),
        ({"protocol": TrainingRound(LaplaceVectors(1.0), 5)}, "27 coordinates"),
        ({"protocol": LaplaceVectors(1.0)}, "TrainingRound or None"),
    ],
    ids=["people", "nan", "rounds", "rate", "no rate", "size", "type"],
)
def test_settings_that_make_no_sense_are_refused(
    changes: dict[str, Any], expected: str
) -> None:
    with pytest.raises(InvalidInputError, match=expected):
        run(**{"protocol": "s-apes-threshold"} | changes)
