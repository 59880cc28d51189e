"""Task: the public terms of repeated collections of one question.

`task_reading` parses tasks.
"""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from shuffledp.arrays import float_array
from shuffledp.errors import InvalidInputError
from shuffledp.identity import Identity
from shuffledp.population import MAX_BUDGET
from shuffledp.statistics.plan_rule import PlanRule
from shuffledp.statistics.survey import EpochStage, Offer
from shuffledp_services.wire.canonical import (
    canonical,
    is_text,
    sha256,
    to_text,
)
from shuffledp_services.wire.notice import Notice, is_shown_as_written
from shuffledp_services.wire.question import Question
from shuffledp_services.wire.sealing import Suite

VERSION = 4
ID_SIZE = 16
KEY_SIZE = DIGEST_SIZE = 32
MAX_CHOICES = 64
MAX_PEOPLE = 10**9

# Epoch numbers per paid epoch: skipped epochs cost nothing, but use up a number.
_SKIPPED = 2
# Names of attributes that are lists of numbers, and of those that are public keys.
NUMBERS = ("choices", "promise", "allowance")
KEYS = (
    "analyst_key",
    "analyst_signing_key",
    "shuffler_signing_key",
    "enroller_signing_key",
)
# Member of tasks whose users choose targets, and of no others.
PLAN_RULE = "plan_rule"
# Member of tasks whose shuffler adds the noise, and of no others.
DUMMY_COMMITMENT = "dummy_commitment"
MAX_DUMMY_EPOCHS = 2**16
"""Largest number of an epoch whose dummies a commitment covers."""


@dataclass(frozen=True)
class Task:
    """Public terms of a task, to which every sealed message is bound.

    Attributes:
        task_id: 16 random bytes.
        name: Displayed name.
        notice: Asker, contact and consent.
        question: The question.
        choices: The offered choices, strictly increasing: privacy levels, or the central
            targets of a survey that is `central`.
        minimum: Minimum number of reports per choice before a batch is closed. Where
            choices are not named, the first entry is the minimum of all together.
        promise: The central epsilon at `delta` that each choice is promised per epoch.
        allowance: The sum of central epsilons that each choice may spend over all epochs.
        delta: Of every epoch's promise, in (0, 1).
        absent: Assumed number of participants who collude or send noise.
        suite: The HPKE suite of sealed messages.
        analyst_key: The public key for which messages are sealed.
        analyst_signing_key: Ed25519, for plans and acknowledgements, 32 bytes.
        shuffler_signing_key: Ed25519, for receipts and batches, 32 bytes.
        enroller_signing_key: Ed25519, for rosters, 32 bytes.
        succeeds: Digest of the task that it succeeds with other keys (`wire.succession`),
            32 bytes; None for a new task.
        plan_rule: The rule for plans, where users choose targets; None where they choose
            levels.
        dummy_commitment: The shuffler's, to the secret from which it draws the noise, 32
            bytes (`storage.key_files.DummySecrets`); None where devices draw the noise.
    """

    task_id: bytes
    name: str
    notice: Notice
    question: Question
    choices: tuple[float, ...]
    minimum: tuple[int, ...]
    promise: tuple[float, ...]
    allowance: tuple[float, ...]
    delta: float
    absent: int
    suite: Suite
    analyst_key: bytes
    analyst_signing_key: bytes
    shuffler_signing_key: bytes
    enroller_signing_key: bytes
    succeeds: bytes | None = None
    plan_rule: PlanRule | None = None
    dummy_commitment: bytes | None = None

    def __post_init__(self) -> None:
        choices = float_array(self.choices, "choices")
        if not 1 <= choices.size <= MAX_CHOICES or (choices[1:] <= choices[:-1]).any():
            raise InvalidInputError(
                f"Expected 1 to {MAX_CHOICES} choices, strictly increasing."
            )
        if not 0.0 < choices[0] <= choices[-1] <= MAX_BUDGET:
            raise InvalidInputError(f"Expected choices above 0, up to {MAX_BUDGET:g}.")
        for name in ("minimum", "promise", "allowance"):
            if len(getattr(self, name)) != choices.size:
                raise InvalidInputError(f"Expected one {name} for each choice.")
        if not all(1 <= count <= MAX_PEOPLE for count in self.minimum):
            raise InvalidInputError(
                "Expected at least one person per choice as minimum."
            )
        for numbers in (self.promise, self.allowance):
            if not all(math.isfinite(number) and number > 0.0 for number in numbers):
                raise InvalidInputError("Expected promises and allowances above 0.")
        if not 0.0 < self.delta < 1.0:
            raise InvalidInputError(f"Expected 0 < delta < 1, got {self.delta:g}.")
        if not 0 <= self.absent <= MAX_PEOPLE:
            raise InvalidInputError("Expected a number of absent people from 0.")
        if not is_text(self.name, 100):
            raise InvalidInputError("Expected a name of 1 to 100 characters.")
        # Raises unless every translation has the same number of answers.
        self.notice.check_answers(self.question.text_lists)
        sizes = key_sizes(self.suite)
        # Sizes only: whether a key is a valid point is checked when it is used.
        if [len(key) for key in self.keys.values()] != list(sizes):
            raise InvalidInputError("Expected public keys of the suite's sizes.")
        # A party with two roles would see data that neither role may combine.
        if len(set(self.keys.values())) != len(KEYS):
            raise InvalidInputError("Expected every key to be another one.")
        if len(self.task_id) != ID_SIZE:
            raise InvalidInputError(f"Expected a task id of {ID_SIZE} bytes.")
        if len(self.succeeds or bytes(DIGEST_SIZE)) != DIGEST_SIZE:
            raise InvalidInputError("Expected the digest of a former task, or none.")
        # Raises if the question does not support these choices.
        _ = self.protocol
        if (self.plan_rule is None) is not self.choices_are_levels:
            raise InvalidInputError(
                "Expected a rule for plans where people choose targets, and none elsewhere."
            )
        self._check_dummies()
        # A plan keeps targets and nothing smaller.
        if not self.choices_are_levels and any(
            promise < choice
            for promise, choice in zip(self.promise, self.choices, strict=True)
        ):
            raise InvalidInputError("Expected no promise below its target.")

    def _check_dummies(self) -> None:
        commitment = self.dummy_commitment
        if (commitment is not None) is not self.question.survey.noise_by_shuffler:
            raise InvalidInputError(
                "Expected the shuffler's commitment to its dummies where it adds the "
                "noise, and none elsewhere: draw its keys with shuffledp task init "
                "shuffler FOLDER --dummies."
            )
        if commitment is None:
            return
        if len(commitment) != DIGEST_SIZE:
            raise InvalidInputError(f"Expected a commitment of {DIGEST_SIZE} bytes.")
        if self.last_epoch > MAX_DUMMY_EPOCHS:
            raise InvalidInputError(
                f"Expected at most {MAX_DUMMY_EPOCHS // _SKIPPED:,} epochs where the "
                f"shuffler adds the noise, got {self.epochs:,}."
            )

    @cached_property
    def offer(self) -> Offer:
        """The offered choices and their terms."""
        return Offer(tuple(map(float, self.choices)), self.delta, self.absent)

    @cached_property
    def protocol(self) -> Identity:
        """The protocol that will run, as far as it is known before the first report."""
        return self.question.survey.identity(self.offer)

    @cached_property
    def digest(self) -> bytes:
        """SHA-256 of the canonical text, which every change of the task changes."""
        return sha256(self.to_json())

    @property
    def fingerprint(self) -> str:
        """The digest as 64 hex digits, as `sha256sum task.json` prints it."""
        return self.digest.hex()

    @property
    def keys(self) -> dict[str, bytes]:
        """The public keys, by the names of these attributes."""
        return {name: getattr(self, name) for name in KEYS}

    @property
    def identity(self) -> str:
        """The task id as text, as in URL paths."""
        return to_text(self.task_id)

    @property
    def epochs(self) -> int:
        """The number of epochs for which every choice's allowance pays, at least 1."""
        pairs = zip(self.allowance, self.promise, strict=True)
        # The choice whose allowance pays for the fewest epochs limits all of them.
        return max(1, min(math.floor(whole / part) for whole, part in pairs))

    @property
    def last_epoch(self) -> int:
        """The highest epoch number: as many epochs may be skipped as are paid for."""
        return _SKIPPED * self.epochs

    @property
    def choices_are_levels(self) -> bool:
        """Whether choices are levels, which reports show to the shuffler, or targets."""
        return not self.question.survey.central

    @property
    def stages(self) -> tuple[EpochStage, ...]:
        """The steps of an epoch, in their order."""
        return (
            (EpochStage.ANSWER,)
            if self.choices_are_levels
            else (EpochStage.CHOICE, EpochStage.ANSWER)
        )

    @property
    def choice_word(self) -> str:
        """The word for a choice: "level" or "target"."""
        return "level" if self.choices_are_levels else "target"

    def check_shown(self) -> None:
        """Checks that the name and the question are displayed as written.

        Raises:
            InvalidInputError: If a text has control characters.
        """
        if not all(map(is_shown_as_written, (self.name, *self.question.texts))):
            raise InvalidInputError(
                "Expected no control characters in the name, the question and its answers."
            )

    def named(self, choice: float | None) -> str:
        """Returns the name of a choice for display; None stands for all together."""
        return "everybody" if choice is None else f"{self.choice_word} {choice:g}"

    @property
    def counted(self) -> tuple[float | None, ...]:
        """The choices whose reports the shuffler counts; None counts all together."""
        return self.choices if self.choices_are_levels else (None,)

    def to_dict(self) -> dict[str, Any]:
        """Returns all attributes, bytes as base64url."""
        rule = {} if self.plan_rule is None else {PLAN_RULE: self.plan_rule.to_dict()}
        commitment = self.dummy_commitment
        dummies = {} if commitment is None else {DUMMY_COMMITMENT: to_text(commitment)}
        return {
            # Omitted, not null, without a rule: the digest depends on the text.
            **rule,
            **dummies,
            "version": VERSION,
            "task_id": self.identity,
            "name": self.name,
            "notice": self.notice.to_dict(),
            "question": self.question.to_dict(),
            "protocol": self.protocol.record,
            "delta": self.delta,
            "absent": self.absent,
            "suite": self.suite.value,
            "minimum": list(self.minimum),
            # As floats: 1 and 1.0 must have the same text, hence the same digest.
            **{name: list(map(float, getattr(self, name))) for name in NUMBERS},
            **{name: to_text(key) for name, key in self.keys.items()},
            "succeeds": self.succeeds and to_text(self.succeeds),
        }

    def to_json(self) -> bytes:
        """Returns the canonical text."""
        return canonical(self.to_dict())


def key_sizes(suite: Suite) -> tuple[int, ...]:
    """Returns the sizes of the public keys in bytes, in the order of `KEYS`."""
    return (suite.public_size, KEY_SIZE, KEY_SIZE, KEY_SIZE)
