"""Public parameters of devices that send messages into buckets, and their exposure."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TypeAlias

import numpy as np

from shuffledp.accounting.accounting_query import check_whole
from shuffledp.accounting.counts.count_noise import PoissonNoise, number_between
from shuffledp.accounting.counts.counts_exposure import CountsExposure
from shuffledp.accounting.counts.geometric_noise import GeometricNoise
from shuffledp.accounting.counts.noise_truncation import LARGEST_CAP, cut_bound
from shuffledp.accounting.counts.sending_rates import check_probability, positions_of
from shuffledp.accounting.counts.shuffler_noise import ShufflerNoise, is_from_shuffler
from shuffledp.accounting.counts.slot_noise import SlotNoise
from shuffledp.accounting.exposure import Exposure
from shuffledp.arguments import expect_instance, expect_list
from shuffledp.arrays import float_array, without_minus_zero
from shuffledp.errors import InvalidInputError
from shuffledp.identity import Identity
from shuffledp.population import MAX_BUDGET, Population, check_budgets

# Counts of all buckets are held at once: as doubles, 128 MB.
MAX_BUCKETS = 2**24
MAX_GROUPS = 256
# With more, what is cut would show in estimates; nothing is certified at such a delta.
_MOST_CUT = 0.01

Noise: TypeAlias = PoissonNoise | GeometricNoise | SlotNoise | ShufflerNoise
NOISES: dict[str, type[Noise]] = {
    "poisson": PoissonNoise,
    "geometric": GeometricNoise,
    "slots": SlotNoise,
    "shuffler": ShufflerNoise,
}


@dataclass(frozen=True)
class CountGroup:
    """Buckets of one question.

    >>> import shuffledp as sdp
    >>> group = sdp.CountGroup(buckets=8, most=1, noise=sdp.PoissonNoise(43.0))
    >>> group.noise.variance
    43.0

    Attributes:
        buckets: d, at least 1.
        most: s, the most of them that a person contributes to, from 1 to d.
        noise: Of each bucket, of all honest people together or of the shuffler.
    """

    buckets: int
    most: int
    noise: Noise

    def __post_init__(self) -> None:
        check_whole(self.buckets, "buckets", least=1)
        check_whole(self.most, "buckets per person", least=1)
        if self.buckets > MAX_BUCKETS:
            raise InvalidInputError(
                f"Expected at most {MAX_BUCKETS:,} buckets, got {self.buckets:,}."
            )
        if self.most > self.buckets:
            raise InvalidInputError(
                f"Expected at most {self.buckets} buckets per person, got {self.most}."
            )
        if not isinstance(self.noise, tuple(NOISES.values())):
            raise InvalidInputError(
                "Expected PoissonNoise, GeometricNoise, SlotNoise or ShufflerNoise, got "
                f"{type(self.noise).__name__}."
            )
        # Numbers of one type each: equal parameters have equal identities.
        object.__setattr__(self, "buckets", int(self.buckets))
        object.__setattr__(self, "most", int(self.most))

    @property
    def record(self) -> dict[str, object]:
        """The group as plain values, for JSON."""
        (name,) = (name for name, kind in NOISES.items() if type(self.noise) is kind)
        # JSON has no infinity: a Poisson number of pairs has no shape.
        terms = {
            key: None if value == float("inf") else value
            for key, value in asdict(self.noise).items()
        }
        return {"buckets": self.buckets, "most": self.most, "noise": {name: terms}}


@dataclass(frozen=True)
class CountsParameters:
    """Public parameters that every device must know.

    Attributes:
        groups: Buckets of each question, from 1 to 256 groups.
        targets: Central epsilons that people may choose from, strictly increasing.
        rates: Probability to send a message, of each target, in [0, 1].
        honest: H, how many honest people together add the noise of the groups; 1 where
            the shuffler adds it.
        size: Messages of a report where noise is Poisson or geometric: answers, noise, of
            which messages that do not fit are cut, and dummies. None if sizes vary with the
            noise, or slots fix them.
        meaning: Of the buckets, as a text for the identity: reports of other questions
            with equally many buckets are refused. None if nothing is said.
        local_epsilon: Of all answers of a person together, which devices then randomize
            before they are counted, each with an equal part; None if they do not.
    """

    groups: tuple[CountGroup, ...]
    targets: tuple[float, ...]
    rates: tuple[float, ...]
    honest: int
    size: int | None = None
    meaning: str | None = None
    local_epsilon: float | None = None

    def __post_init__(self) -> None:
        # Tuples, so that equal parameters are equal.
        for name in ("groups", "rates"):
            entries = tuple(expect_list(getattr(self, name), name))
            object.__setattr__(self, name, entries)
        if not 1 <= len(self.groups) <= MAX_GROUPS:
            raise InvalidInputError(
                f"Expected from 1 to {MAX_GROUPS} groups, got {len(self.groups)}."
            )
        check_whole(self.honest, "honest people", least=1)
        if self.meaning is not None and not isinstance(self.meaning, str):
            raise InvalidInputError(
                f"Expected the meaning of buckets as a text, got {self.meaning!r:.60}."
            )
        for group in self.groups:
            expect_instance(group, CountGroup)
        total = sum(group.buckets for group in self.groups)
        if total > MAX_BUCKETS:
            raise InvalidInputError(
                f"Expected at most {MAX_BUCKETS:,} buckets in all, got {total:,}."
            )
        for group in self.groups:
            # All devices run the same program, and none has a part of a slot.
            if isinstance(group.noise, SlotNoise) and group.noise.slots % self.honest:
                raise InvalidInputError(
                    "Expected equally many slots for each of the honest people, got "
                    f"{group.noise.slots:,} for {self.honest:,}."
                )
        _ = self.noise_by_shuffler  # Checks that it is that of all groups.
        targets = without_minus_zero(float_array(self.targets, "targets"))
        if not targets.size or len(self.rates) != targets.size:
            raise InvalidInputError(
                f"Expected {targets.size} probabilities to send, one for each target, got "
                f"{len(self.rates)}."
            )
        check_budgets(targets)
        if not np.all(np.diff(targets) > 0.0):
            raise InvalidInputError("Expected distinct targets in ascending order.")
        # Numbers of one type each, as in groups.
        object.__setattr__(self, "honest", int(self.honest))
        object.__setattr__(self, "targets", tuple(targets.tolist()))
        object.__setattr__(self, "rates", tuple(map(check_probability, self.rates)))
        if self.size is not None:
            self._check_size(self.size)
            object.__setattr__(self, "size", int(self.size))
        if self.local_epsilon is not None:
            if any(group.most > 1 for group in self.groups):
                raise InvalidInputError(
                    "Expected groups of one answer with a local epsilon: several answers "
                    "may coincide once they are randomized."
                )
            local = number_between(
                "local epsilon", self.local_epsilon, 1e-6, MAX_BUDGET
            )
            object.__setattr__(self, "local_epsilon", local)

    @property
    def identity(self) -> Identity:
        """Identity with all parameters."""
        parameters: dict[str, object] = {
            "groups": [group.record for group in self.groups],
            "targets": list(self.targets),
            "rates": list(self.rates),
            "honest": self.honest,
        }
        # Identities of reports without this size do not name it.
        if self.size is not None:
            parameters["report_size"] = self.size
        if self.meaning is not None:
            parameters["meaning"] = self.meaning
        if self.local_epsilon is not None:
            parameters["local_epsilon"] = self.local_epsilon
        return Identity.of("counts", "noisy-counts", parameters, "agnostic")

    @property
    def noise_by_shuffler(self) -> bool:
        """Whether the shuffler adds the noise, and devices none."""
        noise = [group.noise for group in self.groups]
        return is_from_shuffler(noise, num_honest=self.honest, size=self.size)

    @property
    def report_size(self) -> int | None:
        """Messages per report, dummies included; None if sizes vary with the noise."""
        if self.size is not None:
            return self.size
        sizes = [_report_size(group, self.honest) for group in self.groups]
        constant = [size for size in sizes if size is not None]
        return sum(constant) if len(constant) == len(sizes) else None

    @property
    def cap(self) -> int | None:
        """Maximum of noise messages of a report; None if none is cut."""
        max_messages = sum(group.most for group in self.groups)
        # Answers have their places, sent or not: noise never pushes one out.
        return None if self.size is None else self.size - max_messages

    @property
    def mean_messages(self) -> float:
        """Messages per person in the mean, if all people send all they may."""
        size = self.report_size
        if size is not None:
            return float(size)
        answers = sum(group.most for group in self.groups)
        if self.noise_by_shuffler:
            return float(answers)
        noise = (group.buckets * group.noise.messages for group in self.groups)
        return answers + sum(each / self.honest for each in noise)

    def exposures(self, people: Population) -> tuple[Exposure, ...]:
        """Returns the exposure that the accountant certifies: one report.

        Args:
            people: How many people chose each target.

        Raises:
            UnknownLevelError: If a target is none of the protocol's.
        """
        expect_instance(people, Population)
        rates = np.array(self.rates)[positions_of(people.epsilons, self.targets)]
        return (
            CountsExposure(
                groups=self._terms,
                people=people,
                rates=tuple(rates.tolist()),
                honest=self.honest,
                report_size=self.report_size,
                cap=self.cap,
                local_epsilon=self.local_epsilon,
            ),
        )

    @property
    def _terms(self) -> tuple[tuple[int, int, Noise], ...]:
        return tuple((group.buckets, group.most, group.noise) for group in self.groups)

    def _check_size(self, size: int) -> None:
        max_messages = sum(group.most for group in self.groups)
        check_whole(size, "messages per report", least=max_messages)
        if any(isinstance(group.noise, SlotNoise) for group in self.groups):
            raise InvalidInputError("Expected no report size with slots, which fix it.")
        if size > max_messages + LARGEST_CAP:
            raise InvalidInputError(
                f"Expected at most {max_messages + LARGEST_CAP:,} messages per report, got "
                f"{size:,}."
            )
        cut = cut_bound(self._terms, num_honest=self.honest, cap=size - max_messages)
        if not self.honest * cut <= _MOST_CUT:
            raise InvalidInputError(
                f"Expected larger reports than {size:,} messages: noise that does not fit "
                "is cut."
            )


def read_group(record: object) -> CountGroup:
    """Returns the group with this record.

    Raises:
        InvalidInputError: If it is not a group's record.
    """
    try:
        assert isinstance(record, dict)
        ((name, terms),) = record["noise"].items()
        infinite = {key: float("inf") for key, value in terms.items() if value is None}
        return CountGroup(
            record["buckets"], record["most"], NOISES[name](**(terms | infinite))
        )
    except (AssertionError, AttributeError, KeyError, TypeError, ValueError) as error:
        raise InvalidInputError(
            "Expected a group of buckets with its noise."
        ) from error


def read_groups(records: object) -> tuple[CountGroup, ...]:
    """Returns the groups with these records; errors are those of `read_group`."""
    if not isinstance(records, Sequence):
        raise InvalidInputError("Expected a list of groups of buckets.")
    return tuple(read_group(record) for record in records)


def _report_size(group: CountGroup, num_honest: int) -> int | None:
    if not isinstance(group.noise, SlotNoise):
        return None
    return group.most + group.noise.slots // num_honest * group.noise.longest
