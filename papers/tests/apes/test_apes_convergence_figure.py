"""The training of Theorem 2 at small size: losses and constants by other code."""

import numpy as np
import pytest

from shuffledp.datasets.mnist import LabeledImages
from shuffledp.federated.clients import Clients
from shuffledp_papers.apes.figures import convergence_training as convergence
from shuffledp_papers.figures.result import Effort


def some_clients(people: int = 6, each: int = 3) -> Clients:
    rng = np.random.default_rng(4)
    features = rng.random((people, each, 5)).astype(np.float32)
    return Clients(features, rng.integers(10, size=(people, each)))


def curvature(weights: np.ndarray, x: np.ndarray) -> np.ndarray:
    """The second derivative of one example's cross-entropy, from its textbook form."""
    scores = np.append(x, 1.0) @ weights.reshape(6, 10)
    chances = np.exp(scores) / np.exp(scores).sum()
    inner = np.diag(chances) - np.outer(chances, chances)
    outer = np.outer(np.append(x, 1.0), np.append(x, 1.0))
    return np.asarray(np.kron(outer, inner))


def test_no_curvature_exceeds_the_smoothness() -> None:
    clients, rng = some_clients(), np.random.default_rng(5)
    smoothness = convergence.largest_smoothness(clients)

    found = 0.0
    for scale in (0.0, 1.0, 30.0):
        weights = scale * rng.normal(size=60)
        for person in clients.features.astype(np.float64):
            mean = np.mean([curvature(weights, x) for x in person], axis=0)
            found = max(found, float(np.linalg.eigvalsh(mean)[-1]))

    assert 0.2 * smoothness < found <= smoothness


def test_the_loss_is_that_of_the_textbook() -> None:
    clients = some_clients()
    weights = np.random.default_rng(6).normal(size=60).astype(np.float32)

    losses = []
    for person, classes in zip(clients.features, clients.labels, strict=True):
        for x, y in zip(person, classes, strict=True):
            scores = np.append(x, 1.0) @ weights.reshape(6, 10)
            losses.append(np.log(np.exp(scores).sum()) - scores[y])

    assert convergence.mean_loss(weights, clients) == pytest.approx(
        float(np.mean(losses)), rel=1e-6
    )


@pytest.mark.slow
def test_what_was_measured_stays_below_the_corrected_lemma(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rng = np.random.default_rng(7)
    labels = rng.integers(10, size=240)
    features = (0.7 * rng.random((10, 8))[labels] + 0.3 * rng.random((240, 8))).astype(
        np.float32
    )
    images = LabeledImages(features, labels, features, labels, "patterns")
    monkeypatch.setattr(convergence, "load_images", lambda: images)
    monkeypatch.setattr(convergence, "PEOPLE", 80)
    monkeypatch.setattr(convergence, "ROUNDS", 3)
    monkeypatch.setattr(convergence, "PULLS", (2.0, 100.0))

    result = convergence.run(Effort(2, 1, False, lambda _share: None))

    rows = result.table.records()
    assert len(rows) == 6
    for row in rows:
        assert row["Lemma 7: exceeded"] is False
        change, bound = row["change"], row["Lemma 7"]
        assert isinstance(change, float)
        assert isinstance(bound, float)
        assert change <= bound
        if row["Theorem 2"] is not None:
            loss, stated = row["loss"], row["Theorem 2"]
            assert isinstance(loss, float)
            assert isinstance(stated, float)
            assert loss <= stated
    # The pull is too weak for the theorem in one half, and strong enough in the other.
    assert [row["Theorem 2"] is None for row in rows] == [True] * 3 + [False] * 3
