"""Several questions in one report: every question's groups in one collection of counts."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shuffledp.accounting.counts.counts_parameters import CountGroup, Noise
from shuffledp.accounting.counts.sending_rates import positions_of
from shuffledp.accounting.exposure import Exposure
from shuffledp.analyzer.counts import CountsEstimate
from shuffledp.arguments import expect_instance, expect_list, expect_mapping
from shuffledp.errors import InvalidInputError
from shuffledp.identity import Identity
from shuffledp.population import Population
from shuffledp.randomness import Rng
from shuffledp.reports import Reports, ShuffledReports
from shuffledp.statistics.counts.protocol import Counts
from shuffledp.statistics.questionnaire.group_counts import question_counts
from shuffledp.statistics.questionnaire.meaning import meaning_of
from shuffledp.statistics.questionnaire.question import (
    Question,
    QuestionEstimate,
    check_different_names,
)
from shuffledp.statistics.tallying import Seen
from shuffledp.tally import Tally
from shuffledp.types import Floats, Ints


@dataclass(frozen=True)
class Questionnaire:
    """Named questions that one report answers, and one certificate covers.

    >>> import numpy as np, shuffledp as sdp
    >>> questions = (
    ...     sdp.ChoiceQuestion("transport", ("bus", "bicycle", "car")),
    ...     sdp.NumberQuestion("age", 0, 100, digits=3),
    ... )
    >>> noise = tuple(sdp.PoissonNoise(mean) for mean in (150.0, 150.0, 300.0, 600.0))
    >>> asked = sdp.Questionnaire(questions, noise, (1.0,), (1.0,), honest=5_000)
    >>> people = sdp.Population.from_counts({1.0: 5_000})
    >>> rng = np.random.default_rng(4)
    >>> answers = {"transport": np.repeat([0, 2], 2_500), "age": np.full(5_000, 40.0)}
    >>> reports = asked.randomize(answers, np.full(5_000, 1.0), rng=rng)
    >>> found = asked.estimate(sdp.shuffle(reports, rng=rng), people)
    >>> found["transport"].value.round(-2).clip(0).tolist()
    [2500.0, 0.0, 2500.0]
    >>> bool(abs(found["age"].value[0] - 40.0) < 4.0 * found["age"].standard_error[0])
    True
    >>> sdp.account(asked, people, delta=1e-6).levels[0].epsilon_central < 1.0
    True

    Attributes:
        questions: At least one; names differ.
        noise: Of each group of each question, in their order.
        targets: Central epsilons that people may choose from, strictly increasing.
        rates: Probability to send an answer, of each target, in [0, 1].
        honest: How many people together add the noise.
        report_size: Messages of every report, answers, noise and dummies: see `Counts`;
            by default sizes vary with the noise.
    """

    questions: tuple[Question, ...]
    noise: tuple[Noise, ...]
    targets: tuple[float, ...]
    rates: tuple[float, ...]
    honest: int
    report_size: int | None = None

    def __post_init__(self) -> None:
        for name in ("questions", "noise"):
            entries = tuple(expect_list(getattr(self, name), name))
            object.__setattr__(self, name, entries)
        for question in self.questions:
            if not hasattr(question, "groups"):
                raise InvalidInputError(
                    f"Expected questions, got {type(question).__name__}."
                )
        check_different_names(question.name for question in self.questions)
        num_groups = sum(len(question.groups) for question in self.questions)
        if len(self.noise) != num_groups:
            raise InvalidInputError(
                f"Expected noise of {num_groups} groups of buckets, got {len(self.noise)}."
            )
        # The counts validate and normalize these fields: equal questionnaires have
        # equal identities.
        counts = self.counts
        for name in ("targets", "rates", "honest", "report_size"):
            object.__setattr__(self, name, getattr(counts, name))

    @cached_property
    def counts(self) -> Counts:
        """The collection of counts that runs and is certified."""
        wanted_groups = [group for asked in self.questions for group in asked.groups]
        groups = tuple(
            CountGroup(group.buckets, group.most, noise)
            for group, noise in zip(wanted_groups, self.noise, strict=True)
        )
        return Counts(
            groups,
            self.targets,
            self.rates,
            self.honest,
            self.report_size,
            meaning_of(self.questions),
        )

    @property
    def identity(self) -> Identity:
        """The identity of the counts, which names a digest of the questions."""
        return self.counts.identity

    def exposures(self, people: Population) -> tuple[Exposure, ...]:
        """Returns the exposures that are certified: one report.

        Args:
            people: How many people chose each target.

        Raises:
            UnknownLevelError: If a target is none of the questionnaire's.
        """
        return self.counts.exposures(people)

    def encode(self, answers: Mapping[str, ArrayLike], *, rng: Rng) -> Ints:
        """Returns the buckets of all answers, as `Counts.randomize` wants them.

        Args:
            answers: Of n people to each question, by its name.
            rng: See `Question.encode`.

        Raises:
            InvalidInputError: If a question is missing or unknown, answers are out of
                range, or numbers of people differ.
        """
        answers = expect_mapping(answers, "answers by question")
        names = [question.name for question in self.questions]
        if set(answers) != set(names):
            raise InvalidInputError(
                f"Expected answers to {', '.join(sorted(names))}, got "
                f"{', '.join(sorted(map(str, answers))) or 'none'}."
            )
        columns = []
        for question in self.questions:
            try:
                columns.append(question.encode(answers[question.name], rng=rng))
            except InvalidInputError as error:
                # Which question it was is not in the error of a column.
                raise InvalidInputError(f"{question.name}: {error}") from error
        if len({column.shape[0] for column in columns}) > 1:
            raise InvalidInputError("Expected answers of equally many people.")
        return np.concatenate(columns, axis=1)

    def randomize(
        self, answers: Mapping[str, ArrayLike], targets: ArrayLike, *, rng: Rng
    ) -> Reports:
        """Runs on the devices: one report per person, which answers all questions.

        Args:
            answers: Of n people to each question, by its name.
            targets: Each person's target, shape (n,).
            rng: `SystemRandom()` on real devices, a seeded generator in simulations.

        Raises:
            UnknownLevelError: If a target is not one of the questionnaire's.
            InvalidInputError: As for `encode`.
        """
        return self.counts.randomize(self.encode(answers, rng=rng), targets, rng=rng)

    def tally(self, shuffled: ShuffledReports) -> Tally:
        """Counts messages + and - per bucket: see `Counts.tally`."""
        return self.counts.tally(shuffled)

    def draw_tally(
        self,
        answers: Mapping[str, ArrayLike],
        targets: ArrayLike,
        *,
        rng: np.random.Generator,
    ) -> Tally:
        """Draws the tally of a whole collection from its distribution.

        Args:
            answers: As for `randomize`.
            targets: Each person's target, shape (n,).
            rng: A simulation's generator.
        """
        buckets = self.encode(answers, rng=rng)
        people = Population.from_budgets(targets)
        levels = positions_of(targets, people.epsilons.tolist())
        holders, first = [], 0
        for group in self.counts.groups:
            group_buckets = buckets[:, first : first + group.most]
            first += group.most
            holders.append(
                _holders(group_buckets, levels, people.num_levels, group.buckets)
            )
        return self.counts.draw_tally(holders, people, rng=rng)

    def estimate(self, seen: Seen, people: Population) -> dict[str, QuestionEstimate]:
        """Returns the estimates of every question, by its name.

        Args:
            seen: From `shuffle`, or a tally.
            people: How many people chose each target.

        Raises:
            UnknownLevelError: If a target is not one of the questionnaire's.
            InvalidInputError: If messages do not fit the questionnaire, or the people.
        """
        counts = self.counts
        counts_estimate = counts.estimate(seen, people)
        return self.estimates_of(counts_estimate, people)

    def manipulation(
        self, estimates: Mapping[str, QuestionEstimate], num_liars: int = 1
    ) -> dict[str, Floats]:
        """Returns by how much dishonest people can move each estimate of every question.

        Without a limit where reports have no fixed size. Of quantiles, see
        `DistributionEstimate.quantile_ends`.

        Args:
            estimates: From `estimate`.
            num_liars: How many people send any messages they like.

        Raises:
            InvalidInputError: If one is no estimate of a question, or there are not as
                many people.
        """
        max_messages = float(self.counts.max_messages)
        estimates_by_name = expect_mapping(estimates, "estimates by question")
        names = [question.name for question in self.questions]
        unknown = [f"{name!r:.60}" for name in estimates_by_name if name not in names]
        if unknown:
            raise InvalidInputError(
                f"Expected estimates of {', '.join(map(repr, names))}, got one of "
                f"{', '.join(unknown)}."
            )
        return {
            name: expect_instance(estimate, QuestionEstimate).manipulation(
                max_messages, num_liars
            )
            for name, estimate in estimates_by_name.items()
        }

    def estimates_of(
        self, counts_estimate: CountsEstimate, people: Population
    ) -> dict[str, QuestionEstimate]:
        """Returns the estimates of every question from counts of all buckets.

        Args:
            counts_estimate: Unbiased counts of all groups.
            people: How many people chose each target.
        """
        expect_instance(counts_estimate, CountsEstimate)
        counts, first, estimates = self.counts, 0, {}
        for question in self.questions:
            last = first + len(question.groups)
            # Groups of all questions stand behind each other, in the order of the
            # questions.
            own_counts = question_counts(
                counts, counts_estimate, people, slice(first, last)
            )
            first = last
            estimates[question.name] = question.estimate(own_counts)
        return estimates


def _holders(
    buckets: Ints, levels: Ints, num_levels: int, num_buckets: int
) -> NDArray[np.int64]:
    """Counts people of each level in each bucket, (num_levels, num_buckets)."""
    # The first column is for no answer.
    width = num_buckets + 1
    cells = levels[:, None] * width + buckets + 1
    counts = np.bincount(cells.ravel(), minlength=num_levels * width)
    return counts.reshape(num_levels, width)[:, 1:]
