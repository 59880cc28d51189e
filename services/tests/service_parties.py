"""Small tasks with the keys of all parties, for tests of the services."""

import hashlib
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shuffledp.asked_combination import AskedCombination
from shuffledp.asked_number import AskedNumber
from shuffledp.asked_question import AskedQuestion
from shuffledp.identity import Identity
from shuffledp.statistics.items.protocol import Items
from shuffledp.statistics.plan_rule import PlanRule
from shuffledp.statistics.statistic_catalog import survey_named
from shuffledp.statistics.survey import EpochStage, Offer, survey_in
from shuffledp.types import Mode
from shuffledp_services.storage.key_files import (
    AnalystSecrets,
    DummySecrets,
    EnrollerSecrets,
    ShufflerSecrets,
)
from shuffledp_services.wire.notice import Notice
from shuffledp_services.wire.parties import Role
from shuffledp_services.wire.question import Question
from shuffledp_services.wire.roster import Enrolment, Roster, read_roster, write_roster
from shuffledp_services.wire.sealing import Suite
from shuffledp_services.wire.signed_plan import PublishedPlan
from shuffledp_services.wire.step import Step
from shuffledp_services.wire.task import Task
from shuffledp_services.wire.tokens import draw_tokens

LEVELS = (0.5, 1.0, 2.0)
NOTICE = Notice("Somebody", "somebody@example.org", "All answers are counted.")
CATEGORIES = ("red", "green", "blue", "grau-grün")
QUESTIONS = (
    AskedQuestion("Which color?", CATEGORIES),
    AskedQuestion("Do you smoke?", ("yes", "no")),
    AskedQuestion("Do you dance?", ("yes", "no")),
)

# A number with a distribution, one with a mean, and two combinations.
_ASKED = (
    AskedQuestion("How do you get to work?", ("bike", "bus", "car", "walk")),
    AskedNumber.in_intervals(
        "How old are you?", (16, 25, 35, 45, 55, 65, 110), unit="years"
    ),
    AskedQuestion("Is there a park near you?", ("yes", "no")),
    AskedNumber.in_digits("How long is the way?", 0, 120, unit="minutes", digits=4),
)
FORM = (
    *_ASKED,
    AskedCombination.among(_ASKED, 0, 2),
    AskedCombination.among(_ASKED, 0, 3),
)

_LEFT_OUT = (
    _ASKED[0],
    AskedNumber.in_intervals(
        "How old are you?",
        (16, 25, 35, 45, 55, 65, 110),
        unit="years",
        skippable=True,
    ),
    AskedNumber.in_digits(
        "How long is the way?", 0, 120, unit="minutes", digits=3, skippable=True
    ),
)
# Both numbers may be skipped.
SKIPPABLE_FORM = (*_LEFT_OUT, AskedCombination.among(_LEFT_OUT, 0, 2))

_CHOICES = (
    AskedQuestion("How do you get to work?", ("bike", "bus", "car")),
    AskedQuestion("Is there a park near you?", ("yes", "no")),
    AskedQuestion("Where do you live?", ("center", "suburbs")),
    AskedQuestion("Do you smoke?", ("yes", "no")),
)
# Tables of three and of all four choices.
TABLES_FORM = (
    *_CHOICES,
    AskedCombination.among(_CHOICES, 2, 0, 1),
    AskedCombination.among(_CHOICES, 0, 1, 2, 3),
)


class Enroller:
    """Draws tokens for each epoch, and hands them out one after the other.

    They are derived from the key, so that a service in another process has the same.
    """

    def __init__(self, task: Task, signing_key: bytes, *, each: int = 10_000) -> None:
        self._task, self.signing_key, self._each = task, signing_key, each
        self._left: dict[int, list[bytes]] = {}
        self._rosters: dict[int, Roster] = {}

    def roster(self, epoch: int) -> Roster:
        """Returns the roster of an epoch."""
        if epoch not in self._rosters:
            self._rosters[epoch] = read_roster(self.written(epoch), self._task)
        return self._rosters[epoch]

    def written(self, epoch: int) -> bytes:
        """Returns the roster of an epoch as signed bytes."""
        drawn = self._drawn(epoch)
        return write_roster(self._task, epoch, drawn, self.signing_key)

    def enrolment(self, epoch: int) -> Enrolment:
        """Returns the signed enrolment of an epoch."""
        return self.roster(epoch).enrolment

    def tokens(self, count: int, *, epoch: int = 1) -> list[bytes]:
        """Returns tokens that are not handed out again."""
        left = self._left[epoch] if epoch in self._left else self._drawn(epoch)
        assert count <= len(left), "Draw more tokens for this test."
        self._left[epoch] = left[count:]
        return left[:count]

    def _drawn(self, epoch: int) -> list[bytes]:
        seed = self.signing_key + epoch.to_bytes(4, "big")
        return draw_tokens(
            self._each, entropy=lambda size: hashlib.shake_256(seed).digest(size)
        )


@dataclass(frozen=True)
class Parties:
    task: Task
    shuffler: ShufflerSecrets
    analyst: AnalystSecrets
    enroller: Enroller = field(repr=False)
    dummies: DummySecrets | None = None

    @property
    def signing_keys(self) -> dict[Role, bytes]:
        """The signing key of every party."""
        return {
            Role.ANALYST: self.analyst.signing_key,
            Role.SHUFFLER: self.shuffler.signing_key,
            Role.ENROLLER: self.enroller.signing_key,
        }


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
        "counts": {"questions": QUESTIONS},
    }
    kind = survey_named(statistic)
    return Question(text, survey_in(kind, every[statistic] | more, mode))


def plan_for(
    task: Task, rates: tuple[float, ...], blanket: float, report_size: int
) -> Identity:
    """Returns a plan for two of four items, which the task's rule may not allow."""
    return Items(4, 2, task.choices, rates, blanket, report_size).identity


def allowed_plan(task: Task) -> Identity:
    """Returns a plan that the task's rule allows for the smallest population."""
    assert task.plan_rule is not None
    count = len(task.choices)
    each, more = divmod(max(task.minimum[0], count), count)
    choosing = Step(task, 1, EpochStage.CHOICE).choice_run
    chosen = choosing.exact([each + (index < more) for index in range(count)])
    return task.plan_rule.plan(chosen, task.minimum[0], spare=0)


def publish(
    task: Task,
    signing_key: bytes,
    protocol: Identity | None = None,
    *,
    epoch: int = 1,
    minimum: int | None = None,
) -> PublishedPlan:
    """Returns a signed plan; by default one that the rule allows."""
    return PublishedPlan.sign(
        task,
        epoch,
        allowed_plan(task) if protocol is None else protocol,
        minimum=task.minimum[0] if minimum is None else minimum,
        counts=(task.minimum[0],) * len(task.choices),
        signing_key=signing_key,
    )


def rule_for(stated: dict[str, Any]) -> PlanRule | None:
    """Returns the rule for plans of a task with these attributes, if it needs one."""
    survey = stated["question"].survey
    if not survey.central:
        return None
    choices = tuple(map(float, stated["choices"]))
    offer = Offer(choices, stated["delta"], stated["absent"])
    rule: PlanRule = survey.choosing(offer).make_rule()
    return rule


def parties(
    statistic: str = "frequency",
    *,
    mode: Mode = "agnostic",
    suite: Suite = Suite.X25519,
    **changes: Any,
) -> Parties:
    """Returns a task for 100 people per level or more, and about 5 epochs."""
    shuffler, analyst = ShufflerSecrets.new(), AnalystSecrets.new(suite)
    enroller = EnrollerSecrets.new()
    key, signing = analyst.public_keys()
    values: dict[str, Any] = {
        "task_id": bytes(range(16)),
        "name": "A test",
        "notice": NOTICE,
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
        "shuffler_signing_key": shuffler.verify_key,
        "enroller_signing_key": enroller.verify_key,
    }
    stated = {**values, **changes}
    task = Task(**{"plan_rule": rule_for(stated), **stated})
    each = max(10_000, 2 * sum(task.minimum))
    return Parties(
        task, shuffler, analyst, Enroller(task, enroller.signing_key, each=each)
    )


def noisy_parties(**changes: Any) -> Parties:
    """Returns a task of several questions whose shuffler adds the noise."""
    dummies = DummySecrets.new()
    stated = {
        "question": question("counts", noise="shuffler"),
        "dummy_commitment": dummies.commitment,
        **changes,
    }
    return replace(parties(**stated), dummies=dummies)


def answers(statistic: str, num_users: int, rng: np.random.Generator) -> NDArray[Any]:
    """Draws values of people, with a most frequent first category."""
    if statistic == "frequency":
        return rng.choice(len(CATEGORIES), num_users, p=[0.4, 0.3, 0.2, 0.1])
    if statistic == "mean":
        return rng.uniform(2.0, 8.0, num_users)
    if statistic == "sum":
        return (rng.random(num_users) < 0.3).astype(np.int64)
    if statistic == "counts":
        # Positions over all questions; a tenth of the people leave the last one out.
        colors = rng.choice(len(CATEGORIES), num_users, p=[0.4, 0.3, 0.2, 0.1])
        smokes = 4 + (rng.random(num_users) < 0.7)
        dances = np.where(
            rng.random(num_users) < 0.1, 8, 6 + rng.integers(0, 2, num_users)
        )
        return np.sort(np.column_stack([colors, smokes, dances]), axis=1)
    return np.argsort(rng.random((num_users, len(CATEGORIES))), axis=1)[:, :2]


def published_values(result: dict[str, Any]) -> dict[str, list[Any]]:
    """Returns the columns of the estimates of a published result."""
    rows = result["estimate"]["rows"]
    names = ("value", "standard_error", "interval", "population_error")
    return {name: [row[name] for row in rows] for name in names}
