"""The network against differences of its loss, and its norms against explicit loops."""

import math

import numpy as np
import pytest

from shuffledp.errors import InvalidInputError
from shuffledp.federated.principal_components import fit
from shuffledp.federated.relu_network import ReluNetwork

NETWORK = ReluNetwork((4, 6, 5, 3))


def some_examples(seed: int, count: int = 7) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    features = rng.normal(size=(count, 4)).astype(np.float32)
    return features, rng.integers(3, size=count)


def some_weights(seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return rng.normal(size=NETWORK.num_parameters).astype(np.float32)


def loss(weights: np.ndarray, x: np.ndarray, y: int) -> float:
    """The cross-entropy of one example, in double precision, weight by weight."""
    values, rest = list(x), list(weights)
    for outputs in NETWORK.widths[1:]:
        matrix = np.array(rest[: len(values) * outputs]).reshape(len(values), outputs)
        bias = rest[len(values) * outputs : (len(values) + 1) * outputs]
        rest = rest[(len(values) + 1) * outputs :]
        sums = np.array(values) @ matrix + np.array(bias)
        values = list(sums if outputs == 3 else np.maximum(sums, 0.0))
    return math.log(sum(math.exp(value) for value in values)) - float(values[y])


def gradients(
    weights: np.ndarray, features: np.ndarray, labels: np.ndarray
) -> np.ndarray:
    """One example's slopes per row, from differences."""
    weights = weights.astype(np.float64)
    step = 1e-6
    rows = []
    for x, y in zip(features.astype(np.float64), labels, strict=True):
        moved = [
            (loss(weights + step * e, x, y) - loss(weights - step * e, x, y))
            / (2 * step)
            for e in np.eye(len(weights))
        ]
        rows.append(moved)
    return np.array(rows)


def test_norms_are_those_of_every_examples_own_gradient() -> None:
    features, labels = some_examples(1)
    weights = some_weights(1)

    norms = NETWORK.gradient_norms(weights, features, labels)

    expected = np.linalg.norm(gradients(weights, features, labels), axis=1)
    # Single precision through three layers, where the units are not at their kink.
    np.testing.assert_allclose(norms, expected, rtol=2e-5, atol=1e-6)


@pytest.mark.parametrize("clip", [0.01, 1.0, 3.0, math.inf])
def test_the_sum_is_of_gradients_clipped_one_by_one(clip: float) -> None:
    features, labels = some_examples(2)
    weights = some_weights(2)

    total = NETWORK.clipped_sum(weights, features, labels, clip)

    each = gradients(weights, features, labels)
    norms = np.linalg.norm(each, axis=1, keepdims=True)
    expected = (each / np.maximum(1.0, norms / clip)).sum(axis=0)
    np.testing.assert_allclose(total, expected, rtol=1e-4, atol=1e-5)


def test_one_examples_part_is_never_longer_than_the_clip() -> None:
    features, labels = some_examples(3, count=200)
    weights = some_weights(3)

    lengths = [
        np.linalg.norm(
            NETWORK.clipped_sum(weights, features[i : i + 1], labels[i : i + 1], 0.5)
        )
        for i in range(200)
    ]

    # Rounding of single precision.
    assert max(lengths) <= 0.5 * (1 + 1e-5)
    assert max(lengths) > 0.4999


def test_weights_start_with_the_stated_variance() -> None:
    network = ReluNetwork((400, 300, 2))

    weights = network.start(rng=np.random.default_rng(4))

    # 120,000 normal numbers: five standard errors are 2 %, a false alarm in a million.
    variance = float(np.var(weights[: 400 * 300]))
    assert abs(variance / (2 / 400) - 1) < 5 * math.sqrt(2 / 120_000)
    assert not np.any(weights[400 * 300 : 400 * 300 + 300])


@pytest.mark.parametrize("size", [1e12, 1e25, math.inf, math.nan])
def test_weights_too_large_for_a_gradient_are_refused(size: float) -> None:
    features, labels = some_examples(9)
    weights = some_weights(9) * np.float32(size)

    # At 1e12, three layers make scores of 1e36, and the square of the norm overflows.
    with pytest.raises(InvalidInputError, match="diverged"):
        NETWORK.clipped_sum(weights, features, labels, 1.0)


def test_weights_too_large_for_scores_have_no_accuracy() -> None:
    features, labels = some_examples(10)
    weights = some_weights(10) * np.float32(1e25)

    with pytest.raises(InvalidInputError, match="diverged"):
        NETWORK.accuracy(weights, features, labels)


def test_a_network_that_cannot_be_is_refused() -> None:
    for widths in [(4,), (4, 0, 3), (4, 1)]:
        with pytest.raises(InvalidInputError, match="widths"):
            ReluNetwork(widths)


def test_examples_of_another_shape_are_refused() -> None:
    features, labels = some_examples(5)
    weights = some_weights(5)

    with pytest.raises(InvalidInputError, match="weights"):
        NETWORK.accuracy(weights[1:], features, labels)
    with pytest.raises(InvalidInputError, match="features"):
        NETWORK.accuracy(weights, features[:, :3], labels)
    with pytest.raises(InvalidInputError, match="labels"):
        NETWORK.accuracy(weights, features, labels + 3)


def test_components_span_the_directions_of_largest_variance() -> None:
    rng = np.random.default_rng(6)
    features = (rng.normal(size=(500, 6)) * [5, 4, 3, 0.2, 0.1, 0.1]).astype(np.float32)

    components = fit(features + np.float32(2.0), 3)
    projected = components.project(features + np.float32(2.0))

    # The oracle: singular values of the centered features, in double precision.
    centered = features.astype(np.float64) - features.astype(np.float64).mean(axis=0)
    values, rows = np.linalg.svd(centered)[1:]
    overlap = np.abs(np.diag(rows[:3] @ components.directions))
    np.testing.assert_allclose(overlap, 1.0, atol=1e-5)
    np.testing.assert_allclose(np.linalg.norm(projected, axis=0), values[:3], rtol=1e-4)
    np.testing.assert_allclose(projected.mean(axis=0), 0.0, atol=1e-4)


def test_components_that_cannot_be_are_refused() -> None:
    features = np.zeros((5, 3), dtype=np.float32)

    for count in (0, 4):
        with pytest.raises(InvalidInputError, match="components"):
            fit(features, count)
    with pytest.raises(InvalidInputError, match="finite"):
        fit(features + np.float32(np.nan), 2)
    with pytest.raises(InvalidInputError, match="features"):
        fit(features, 2).project(features[:, :2])
