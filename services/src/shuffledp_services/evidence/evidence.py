"""Evidence of an audit: findings of every epoch, and their combined e-value.

If the system keeps its certificate, a p-value is at most a with probability a at most,
given all former epochs; so its e-value has mean 1 at most. The average of the e-values of
an epoch is an e-value, and so is the product over epochs, which may be inspected after
every epoch (Ville 1939).
"""

import itertools
import json
import math
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from shuffledp.errors import DataError, InvalidInputError
from shuffledp.strict_json import read_json
from shuffledp_services.evidence.canaries import checked_digest
from shuffledp_services.evidence.e_values import average, calibrated

FORMAT = "shuffledp-evidence-1"
ALPHA = 0.01

_LONGEST = 1000
_NAMES = frozenset({"format", "task", "alpha", "threshold", "crossed_in", "epochs"})
_EPOCH = frozenset({"epoch", "e_value", "running", "findings"})
_FINDING = frozenset({"test", "p_value", "e_value", "certain", "sentence"})


class EpochTest(StrEnum):
    """Tests of an epoch; each epoch has all of them."""

    GUESSES = "guesses"
    ORDER = "order"
    UPLOADS = "order within uploads"
    DELIVERY = "delivery"
    LEVELS = "levels"
    PRECISION = "precision"


@dataclass(frozen=True)
class AuditFinding:
    """Finding of one test; made by `of_p_value`, `of_rule_check` or `not_tested`.

    Attributes:
        test: The test.
        p_value: Its false-alarm probability, in [0, 1]; 0 if the observation is impossible
            while the promise is kept, unless SHA-256 or a signature fails. None if the test
            could not be made.
        e_value: The e-value of the p-value, > 0; infinite at p-value 0.
        sentence: The observation as a sentence.
    """

    test: EpochTest
    p_value: float | None
    e_value: float
    sentence: str

    def __post_init__(self) -> None:
        p = self.p_value
        if p is not None and not 0.0 <= p <= 1.0:
            raise InvalidInputError(f"Expected a p-value in [0, 1], got {p!r}.")
        known = [1.0] if p is None else [calibrated(p)]
        if p == 1.0:
            # A test of a rule cannot lose a bet: without a violation its e-value is 1.
            known.append(1.0)
        # Logarithms of other machines may differ in their last digits.
        if not any(
            math.isclose(self.e_value, e_value, rel_tol=1e-9) for e_value in known
        ):
            raise InvalidInputError(
                "Expected an e-value that follows from its p-value."
            )
        if not 0 < len(self.sentence) <= _LONGEST or not self.sentence.isprintable():
            raise InvalidInputError("Expected a sentence.")

    @classmethod
    def of_p_value(
        cls, test: EpochTest, p_value: float, *, sentence: str
    ) -> "AuditFinding":
        """Returns the finding of a test with a p-value."""
        return cls(test, p_value, calibrated(p_value), sentence)

    @classmethod
    def of_rule_check(
        cls, test: EpochTest, broken: bool, *, sentence: str
    ) -> "AuditFinding":
        """Returns the finding of a test that is certain if the rule is broken."""
        return (
            cls(test, 0.0, math.inf, sentence)
            if broken
            else cls(test, 1.0, 1.0, sentence)
        )

    @classmethod
    def not_tested(cls, test: EpochTest, *, sentence: str) -> "AuditFinding":
        """Returns the finding of a test that could not be made, with the reason."""
        return cls(test, None, 1.0, sentence)

    @property
    def certain(self) -> bool:
        """Whether the observation is impossible while the promise is kept."""
        return self.p_value == 0.0

    def to_dict(self) -> dict[str, Any]:
        """Returns all fields as plain values; an infinite e-value is null."""
        return {
            "test": str(self.test),
            "p_value": self.p_value,
            "e_value": _finite(self.e_value),
            "certain": self.certain,
            "sentence": self.sentence,
        }


@dataclass(frozen=True)
class EpochFindings:
    """Findings of all tests of one epoch.

    Attributes:
        epoch: From 1.
        findings: One of each test, in their order.
    """

    epoch: int
    findings: tuple[AuditFinding, ...]

    def __post_init__(self) -> None:
        if type(self.epoch) is not int or self.epoch < 1:
            raise InvalidInputError(f"Expected an epoch from 1, got {self.epoch!r}.")
        # Leaving out tests without a result would be a choice after seeing the data.
        if [finding.test for finding in self.findings] != list(EpochTest):
            raise InvalidInputError("Expected a finding of every test, in order.")

    @property
    def e_value(self) -> float:
        """The average over its tests."""
        return average([finding.e_value for finding in self.findings])


@dataclass(frozen=True)
class Evidence:
    """Findings of all audited epochs of one task.

    Attributes:
        task: SHA-256 of the task that canaries were first sent to, 64 hexadecimal digits.
        alpha: The probability of ever being accused while promises are kept, in (0, 1).
        epochs: Oldest first.
    """

    task: str
    alpha: float = ALPHA
    epochs: tuple[EpochFindings, ...] = ()

    def __post_init__(self) -> None:
        checked_digest(self.task)
        if not 0.0 < self.alpha < 1.0:
            raise InvalidInputError(f"Expected 0 < alpha < 1, got {self.alpha!r}.")
        numbers = [epoch.epoch for epoch in self.epochs]
        for former, number in itertools.pairwise(numbers):
            _check_order(former, number)

    @property
    def threshold(self) -> float:
        """The running e-value that accuses."""
        return 1.0 / self.alpha

    @property
    def running(self) -> tuple[float, ...]:
        """The product of e-values so far, after each epoch; it may be infinite."""
        # It ever reaches 1 / alpha with probability alpha at most (Ville 1939).
        products, product = [], 1.0
        for epoch in self.epochs:
            product *= epoch.e_value
            products.append(product)
        return tuple(products)

    @property
    def crossed_in(self) -> int | None:
        """The first epoch after which the threshold was reached, or None."""
        rows = zip(self.epochs, self.running, strict=True)
        # The first crossing counts, also if the product falls afterwards.
        return next((epoch.epoch for epoch, e in rows if e >= self.threshold), None)

    @property
    def sentence(self) -> str:
        """The conclusion as a sentence."""
        last = self.running[-1] if self.epochs else 1.0
        audited = (
            f"{len(self.epochs)} epoch{'' if len(self.epochs) == 1 else 's'} audited"
        )
        if self.crossed_in is None:
            return (
                f"{audited}: the e-value is {last:.3g}, below {self.threshold:g}; nothing "
                "was found that canaries can see."
            )
        return (
            f"{audited}: a promise is broken. The e-value reached {self.threshold:g} in "
            f"epoch {self.crossed_in}, which happens with probability {self.alpha:g} at "
            f"most while promises are kept"
            + ("; what was seen cannot happen then." if math.isinf(last) else ".")
        )

    def check_next(self, epoch: int) -> None:
        """Raises InvalidInputError unless an epoch is later than all former ones."""
        if self.epochs:
            _check_order(self.epochs[-1].epoch, epoch)

    def with_epoch(self, findings: EpochFindings) -> "Evidence":
        """Returns the evidence with one more epoch.

        Raises:
            InvalidInputError: If it is not later than all former epochs.
        """
        return Evidence(self.task, self.alpha, (*self.epochs, findings))

    def to_dict(self) -> dict[str, Any]:
        """Returns all fields as plain values; infinite e-values are null."""
        return {
            "format": FORMAT,
            "task": self.task,
            "alpha": self.alpha,
            "threshold": self.threshold,
            "crossed_in": self.crossed_in,
            "epochs": [
                {
                    "epoch": epoch.epoch,
                    "e_value": _finite(epoch.e_value),
                    "running": _finite(e),
                    "findings": [finding.to_dict() for finding in epoch.findings],
                }
                for epoch, e in zip(self.epochs, self.running, strict=True)
            ],
        }

    def to_json(self) -> str:
        """Returns the evidence as JSON."""
        return json.dumps(self.to_dict())

    @classmethod
    def from_json(cls, content: bytes | str) -> "Evidence":
        """Parses the output of `to_json`, and checks all derived numbers.

        Raises:
            DataError: If it is anything else.
        """
        value = read_json(content, "evidence")
        if value.get("format") != FORMAT or set(value) != _NAMES:
            raise DataError(f"Expected evidence, {FORMAT}.")
        if type(value["alpha"]) is not float or not isinstance(value["epochs"], list):
            raise DataError("Expected alpha and epochs of evidence.")
        try:
            epochs = tuple(_epoch(row) for row in value["epochs"])
            evidence = cls(value["task"], value["alpha"], epochs)
        except InvalidInputError as error:
            raise DataError(str(error)) from error
        # Derived numbers of a file are computed again, not trusted.
        if evidence.to_dict() != value:
            raise DataError("Expected e-values that follow from their p-values.")
        return evidence


def _epoch(row: object) -> EpochFindings:
    if not isinstance(row, dict) or set(row) != _EPOCH:
        raise DataError(f"Expected epochs of {sorted(_EPOCH)}.")
    if not isinstance(row["findings"], list):
        raise DataError("Expected findings as a list.")
    return EpochFindings(row["epoch"], tuple(map(_finding, row["findings"])))


def _finding(row: object) -> AuditFinding:
    if not isinstance(row, dict) or set(row) != _FINDING:
        raise DataError(f"Expected findings of {sorted(_FINDING)}.")
    p_value, sentence = row["p_value"], row["sentence"]
    if row["test"] not in list(EpochTest) or not isinstance(sentence, str):
        raise DataError("Expected a test and a sentence.")
    if p_value is not None and type(p_value) is not float:
        raise DataError("Expected a p-value as a number, or null.")
    e_value = math.inf if row["e_value"] is None else row["e_value"]
    if type(e_value) is not float:
        raise DataError("Expected an e-value as a number, or null.")
    return AuditFinding(EpochTest(row["test"]), p_value, e_value, sentence)


def _finite(number: float) -> float | None:
    return None if math.isinf(number) else number


def _check_order(former: int, epoch: int) -> None:
    if former >= epoch:
        raise InvalidInputError(
            f"Expected every epoch once, oldest first, got {epoch} after {former}."
        )
