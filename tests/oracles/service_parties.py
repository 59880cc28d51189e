"""Small tasks, and everybody's keys, for tests of the services."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shuffledp.identity import Identity
from shuffledp.service.secrets import AnalystSecrets, ShufflerSecrets
from shuffledp.service.wire.question import Question
from shuffledp.service.wire.sealing import Suite
from shuffledp.service.wire.signing import verify_key_of
from shuffledp.service.wire.task import Task
from shuffledp.statistics.catalog import survey_named
from shuffledp.statistics.items.protocol import Items
from shuffledp.statistics.survey import survey_in
from shuffledp.types import Mode

LEVELS = (0.5, 1.0, 2.0)
CATEGORIES = ("red", "green", "blue", "grau-grün")


@dataclass(frozen=True)
class Parties:
    task: Task
    shuffler: ShufflerSecrets
    analyst: AnalystSecrets


def question(
    statistic: str,
    mode: Mode = "agnostic",
    *,
    text: str = "How is it?",
    categories: tuple[str, ...] = CATEGORIES,
    high: float = 10.0,
    **more: Any,
) -> Question:
    every: dict[str, dict[str, Any]] = {
        "frequency": {"categories": categories, "mechanism": "kary-response"},
        "mean": {"low": 0.0, "high": high},
        "sum": {},
        "items": {"categories": categories, "set_size": 2},
    }
    kind = survey_named(statistic)
    return Question(text, survey_in(kind, every[statistic] | more, mode))


def plan_for(
    task: Task, rates: tuple[float, ...], blanket: float, report_size: int
) -> Identity:
    """What an analyst may publish for two of four items."""
    return Items(4, 2, task.choices, rates, blanket, report_size).identity


def parties(
    statistic: str = "frequency",
    *,
    mode: Mode = "agnostic",
    suite: Suite = Suite.X25519,
    **changes: Any,
) -> Parties:
    """100 people per level at least, and an allowance for 5 epochs or so."""
    shuffler, analyst = ShufflerSecrets.new(), AnalystSecrets.new(suite)
    key, signing = analyst.public_keys(suite)
    values: dict[str, Any] = {
        "task_id": bytes(range(16)),
        "name": "A test",
        "question": question(statistic, mode),
        "choices": LEVELS,
        "minimum": (100, 100, 100),
        "promise": LEVELS,
        "allowance": (5.0, 5.0, 10.0),
        "delta": 1e-3,
        "absent": 2,
        "suite": suite,
        "analyst_key": key,
        "analyst_signing_key": signing,
        "shuffler_signing_key": verify_key_of(shuffler.signing_key),
    }
    return Parties(Task(**{**values, **changes}), shuffler, analyst)


def answers(statistic: str, num_users: int, rng: np.random.Generator) -> NDArray[Any]:
    """What people hold: more of the first category than of others."""
    if statistic == "frequency":
        return rng.choice(len(CATEGORIES), num_users, p=[0.4, 0.3, 0.2, 0.1])
    if statistic == "mean":
        return rng.uniform(2.0, 8.0, num_users)
    if statistic == "sum":
        return (rng.random(num_users) < 0.3).astype(np.int64)
    return np.argsort(rng.random((num_users, len(CATEGORIES))), axis=1)[:, :2]
