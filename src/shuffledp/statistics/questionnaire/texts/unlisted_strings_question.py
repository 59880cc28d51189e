"""A question for an unlisted text: which texts do many people share?"""

import math
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import ArrayLike

from shuffledp.arguments import expect_instance
from shuffledp.arrays import as_number, as_whole, unmasked
from shuffledp.errors import InvalidInputError
from shuffledp.label_checks import check_label
from shuffledp.randomizers.checks import whole_number
from shuffledp.randomness import Rng
from shuffledp.statistics.questionnaire.question import (
    PLANNED,
    AnswerGroup,
    QuestionCounts,
)
from shuffledp.statistics.questionnaire.texts.discovery_design import (
    DiscoveryPrediction,
)
from shuffledp.statistics.questionnaire.texts.discovery_search import (
    DiscoveryDesign,
    best_design,
    fitted,
)
from shuffledp.statistics.questionnaire.texts.text_codes import TextCodes
from shuffledp.statistics.questionnaire.texts.unlisted_strings_estimate import (
    UnlistedStringsEstimate,
)
from shuffledp.types import Ints


@dataclass(frozen=True)
class UnlistedStringsQuestion:
    """A question for a text, without a list of what people may answer.

    A person sends a message into one bucket of each layer of prefixes, and of each check.

    >>> import numpy as np, shuffledp as sdp
    >>> question = sdp.UnlistedStringsQuestion("word", longest=6, messages=64)
    >>> question = question.adapted(1_000_000, noise=4.2)
    >>> rng = np.random.default_rng(1)
    >>> question.encode(["tea", "tea", None], rng=rng)[:, 0].tolist()
    [7449, 7449, -1]

    Attributes:
        name: Of the question.
        longest: Symbols of the longest text: longer ones count as no answer.
        alphabet: Different letters: texts have no others; None: bytes of UTF-8.
            Codes of texts have at most 64 bits: 8 bytes, or 13 of 26 letters.
        expected: How many texts are about as frequent as those that are just found, or
            more: a guess, on which sizes depend, and no guarantee.
        messages: Of noise, per person in the mean: a planner's limit.
        false_texts: How many texts without a holder may be printed, in the mean.
        key: Of hash functions: public, and chosen before texts are.
        design: None: a planner chooses it.
    """

    name: str
    longest: int
    alphabet: str | None = None
    expected: int = 100
    messages: float = 112.0
    false_texts: float = 0.05
    key: int = 0
    design: DiscoveryDesign | None = field(default=None, metadata={PLANNED: True})

    def __post_init__(self) -> None:
        check_label(self.name, "a question's name")
        codes = TextCodes(self.longest, self.alphabet)
        if codes.bits < 10:
            raise InvalidInputError(
                f"Expected texts of at least 10 bits, got {codes.bits}: so few can be "
                "listed as options of a choice."
            )
        whole_number(self.expected, "frequent texts", least=1, most=10**6)
        whole_number(self.key, "as the key", least=0, most=2**63)
        if not 0.0 < as_number(self.messages, "messages of noise") < math.inf:
            raise InvalidInputError(
                f"Expected finitely many messages of noise, above 0, got "
                f"{self.messages:g}."
            )
        if not 0.0 < as_number(self.false_texts, "false texts") <= 1.0:
            raise InvalidInputError(
                f"Expected a mean number of false texts above 0, up to 1, got "
                f"{self.false_texts:g}."
            )
        if self.design is not None:
            expect_instance(self.design, DiscoveryDesign)
        if self.design is not None and self.design.layout.bits != codes.bits:
            raise InvalidInputError(
                f"Expected a design for codes of {codes.bits} bits, got "
                f"{self.design.layout.bits}."
            )

    @property
    def codes(self) -> TextCodes:
        """Numbers of texts."""
        return TextCodes(self.longest, self.alphabet)

    @property
    def chosen(self) -> DiscoveryDesign:
        """The design, once there is one."""
        if self.design is None:
            raise InvalidInputError(
                f"Expected a design of {self.name}, as a plan chooses it."
            )
        return self.design

    @property
    def groups(self) -> tuple[AnswerGroup, ...]:
        """A group for each layer, and for each check."""
        design = self.chosen
        # Noise is divided in proportion to 1 / sqrt(weight): squares keep precisions.
        return tuple(
            AnswerGroup(size, 1, precision**2)
            for size, precision in zip(
                design.layout.sizes, design.precisions, strict=True
            )
        )

    def adapted(self, num_users: int, *, noise: float) -> "UnlistedStringsQuestion":
        """Returns the question with the design that finds texts of the fewest people.

        Raises:
            CertificationError: If no design finds any.
        """
        if self.design is not None:
            return self
        design = best_design(
            self.codes.bits,
            num_users=as_whole(num_users, "people"),
            # A changed answer changes two buckets of each group.
            variance=2.0 * as_number(noise, "noise") ** 2,
            expected=self.expected,
            messages=self.messages,
            false_texts=self.false_texts,
            key=self.key,
        )
        return replace(self, design=design)

    def encode(self, answers: ArrayLike, *, rng: Rng) -> Ints:
        """Returns the bucket of each text in every group, shape (n, groups).

        Args:
            answers: Texts. None, an empty text, one that is too long or holds other
                symbols counts as no answer.
            rng: Not used: nothing is rounded.

        Raises:
            InvalidInputError: If an answer is neither a text nor None.
        """
        del rng
        layout = self.chosen.layout
        texts = unmasked(answers, "answers", object)
        if texts.ndim != 1:
            raise InvalidInputError("Expected texts as a list, one for each person.")
        codes, fits = self.codes.encode(texts.tolist())
        return np.where(fits[:, None], layout.buckets(codes), -1)

    def estimate(self, counts: QuestionCounts) -> UnlistedStringsEstimate:
        """Returns the texts that are found, and how many people hold each."""
        expect_instance(counts, QuestionCounts)
        design = self.chosen
        prediction = DiscoveryPrediction(
            design.layout,
            counts.groups[0].noise_variance,
            counts.groups[-1].noise_variance,
            counts.num_users,
            self.expected,
            design.least,
            self.false_texts,
        )
        return UnlistedStringsEstimate.of(counts, self.codes, fitted(prediction))
