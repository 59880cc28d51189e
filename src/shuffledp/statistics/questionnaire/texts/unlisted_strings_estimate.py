"""Texts that were found, and how many people hold each."""

import math
from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse

from shuffledp.analyzer.consistent_estimate import ConsistentEstimate
from shuffledp.analyzer.projection import project_within
from shuffledp.arguments import expect_instance
from shuffledp.arrays import as_number
from shuffledp.errors import InvalidInputError
from shuffledp.population import MAX_USERS
from shuffledp.statistics.questionnaire.hashed.score_test import (
    ScoreTest,
    fit_matrix,
)
from shuffledp.statistics.questionnaire.question import (
    QuestionCounts,
    QuestionEstimate,
)
from shuffledp.statistics.questionnaire.texts.code_checks import check_codes
from shuffledp.statistics.questionnaire.texts.discovery_design import (
    DiscoveryPrediction,
)
from shuffledp.statistics.questionnaire.texts.prefix_search import search_codes
from shuffledp.statistics.questionnaire.texts.text_codes import TextCodes


@dataclass(frozen=True, eq=False)
class UnlistedStringsEstimate(QuestionEstimate):
    """Numbers of people who hold each text that was found, the most frequent first.

    Counts are fitted to the checks by least squares. They are unbiased before a text is
    selected; near the threshold, those that were found lie too high.

    >>> import numpy as np, shuffledp as sdp
    >>> plan = sdp.plan_unlisted_strings(
    ...     sdp.Wish(targets={1.0: 20_000}), longest=3, max_messages=60, expected=10
    ... )
    >>> asked, rng = plan.questionnaire, np.random.default_rng(1)
    >>> words = ["tea"] * 3_000 + ["rum"] * 2_000 + [None] * 15_000
    >>> tally = asked.draw_tally({"string": words}, np.full(20_000, 1.0), rng=rng)
    >>> found = asked.estimate(tally, sdp.Population.from_counts({1.0: 20_000}))["string"]
    >>> found.labels, found.value.round(-2).tolist()
    (('tea', 'rum'), [3000.0, 2000.0])

    Attributes:
        prediction: Of the search that was made, from the noise of the collection.
        candidates: Texts that the search left to the checks.
        left_out: Prefixes that the search left out, as there were too many.
        tests: Of the checks.
    """

    prediction: DiscoveryPrediction
    candidates: int
    left_out: int
    tests: tuple[ScoreTest, ...]

    @classmethod
    def of(
        cls,
        counts: QuestionCounts,
        codes: TextCodes,
        prediction: DiscoveryPrediction,
    ) -> "UnlistedStringsEstimate":
        """Returns the texts that are found in the counts of all groups.

        Args:
            counts: A group for each layer, then one for each check.
            codes: Numbers of texts.
            prediction: Of the search, with its layout and its limits.
        """
        expect_instance(counts, QuestionCounts)
        layout, least = prediction.layout, prediction.least
        layers = counts.groups[: layout.levels]
        checks = counts.groups[layout.levels :]
        search = search_codes(
            [group.value for group in layers],
            [group.noise_variance**0.5 for group in layers],
            layout,
            least=least,
        )
        is_text = np.array([t is not None for t in codes.decode(search.codes)], bool)
        candidates = search.codes[is_text]
        checked = check_codes(
            candidates,
            [group.value for group in checks],
            layout,
            least=least,
            false_texts=prediction.false_texts,
        )
        texts = tuple(text for text in codes.decode(checked.codes) if text is not None)
        matrices = fit_matrix(checked.buckets, layout.sizes[-1])
        constant = np.zeros(len(texts))
        groups = []
        for group, matrix, own_buckets in zip(
            checks, matrices, checked.buckets.T, strict=True
        ):
            # Buckets of no text that was found: other texts, and noise.
            others = np.delete(group.value, own_buckets)
            constant -= float(others.mean()) * np.asarray(matrix.sum(axis=1)).ravel()
            variance = max(float(others.var()), group.noise_variance)
            groups.append(replace(group, noise_variance=variance))
        unused = tuple(sparse.csr_array((len(texts), size)) for size in layout.sizes)
        all_counts = replace(counts, groups=(*layers, *groups))
        fitted = all_counts.combine(texts, unused[: layout.levels] + matrices, constant)
        order = np.argsort(-fitted.value, kind="stable")
        return cls(
            tuple(texts[index] for index in order),
            fitted.value[order],
            fitted.standard_error[order],
            fitted.excess_kurtosis[order],
            fitted.num_users,
            prediction,
            candidates.size,
            search.left_out,
            checked.tests,
            # Messages also decide which texts are found: nothing bounds that.
            message_shift=np.full(len(texts), np.inf),
            step=fitted.step[order],
        )

    @property
    def least(self) -> float:
        """The search was made for texts of this many people."""
        return self.prediction.least

    @property
    def predicted_errors(self) -> dict[str, float]:
        """See `QuestionEstimate`: that of a text, and from how many people it is found."""
        people = self.prediction.found_from()
        limit = (
            f"found from {people:,.0f} people" if people < math.inf else "none found"
        )
        return {f"each string ({limit}, predicted)": self.prediction.standard_error}

    def consistent(self) -> ConsistentEstimate:
        """Returns the nearest numbers of people that are possible.

        They are nearer to the truth, and biased: see `ConsistentEstimate`. Together they
        are at most all people, as a person holds one text.
        """
        n = float(self.num_users)
        projection = project_within(self.value, n) if self.value.size else self.value
        return ConsistentEstimate(self, projection, 0.0, n, self.labels)

    def false_probability(self, num_people: float) -> float:
        """Returns a bound of the probability that a text of that many people is found.

        It holds for any texts of others and any noise, as hash functions are random. Above
        0 people, by how much the text's own buckets, one in thousands, move medians and
        thresholds is left out.

        Args:
            num_people: People who hold the text, at least 0.

        Raises:
            InvalidInputError: If `num_people` is below 0.
        """
        num_people = as_number(num_people, "people who hold a text")
        if not 0.0 <= num_people <= MAX_USERS:
            raise InvalidInputError(
                f"Expected 0 to {MAX_USERS:g} people, got {num_people:g}."
            )
        return min(sum(test.probability(num_people) for test in self.tests), 1.0)
