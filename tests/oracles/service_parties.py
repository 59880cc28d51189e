"""Small tasks, and everybody's keys, for tests of the services."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shuffledp.service.secrets import AnalystSecrets, ShufflerSecrets
from shuffledp.service.wire.question import Question, Statistic
from shuffledp.service.wire.sealing import Suite
from shuffledp.service.wire.signing import verify_key_of
from shuffledp.service.wire.task import Task
from shuffledp.types import Mode

LEVELS = (0.5, 1.0, 2.0)
CATEGORIES = ("red", "green", "blue", "grau-grün")


@dataclass(frozen=True)
class Parties:
    task: Task
    shuffler: ShufflerSecrets
    analyst: AnalystSecrets


def question(statistic: Statistic, mode: Mode = "agnostic") -> Question:
    named = statistic in ("frequency", "items")
    return Question(
        statistic,
        "How is it?",
        CATEGORIES if named else (),
        low=0.0,
        high=10.0,
        set_size=2 if statistic == "items" else 1,
        mode=mode,
    )


def parties(
    statistic: Statistic = "frequency",
    *,
    mode: Mode = "agnostic",
    suite: Suite = Suite.X25519,
    **changes: Any,
) -> Parties:
    """100 people per level at least, and a budget for 5 epochs or so."""
    shuffler, analyst = ShufflerSecrets.new(), AnalystSecrets.new(suite)
    key, signing = analyst.public_keys(suite)
    values: dict[str, Any] = {
        "task_id": bytes(range(16)),
        "name": "A test",
        "question": question(statistic, mode),
        "levels": LEVELS,
        "minimum": (100, 100, 100),
        "promise": LEVELS,
        "budget": (5.0, 5.0, 10.0),
        "delta": 1e-3,
        "absent": 2,
        "suite": suite,
        "analyst_key": key,
        "analyst_signing_key": signing,
        "shuffler_signing_key": verify_key_of(shuffler.signing_key),
    }
    return Parties(Task(**{**values, **changes}), shuffler, analyst)


def answers(
    statistic: Statistic, num_users: int, rng: np.random.Generator
) -> NDArray[Any]:
    """What people hold: more of the first category than of others."""
    if statistic == "frequency":
        return rng.choice(len(CATEGORIES), num_users, p=[0.4, 0.3, 0.2, 0.1])
    if statistic == "mean":
        return rng.uniform(2.0, 8.0, num_users)
    if statistic == "sum":
        return (rng.random(num_users) < 0.3).astype(np.int64)
    return np.argsort(rng.random((num_users, len(CATEGORIES))), axis=1)[:, :2]
