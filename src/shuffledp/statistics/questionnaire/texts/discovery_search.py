"""The design that finds texts of the fewest people within a number of messages."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

from shuffledp.errors import CertificationError
from shuffledp.statistics.questionnaire.texts.discovery_design import (
    DiscoveryPrediction,
)
from shuffledp.statistics.questionnaire.texts.prefix_layout import PrefixLayout
from shuffledp.statistics.questionnaire.texts.prefix_search import MOST_CANDIDATES

_FOUND = 0.95
# By how much the texts of a design may be too few, as noise is not known before.
_NEARLY = 1.05
_CHECK_SHARES = (0.25, 0.35, 0.45)
# Noise is a little larger in the end than Gaussian noise would be.
_ROOM = 0.97
# Designs of far fewer messages than there may be are not tried.
_TOO_FEW = 0.3
_MOST_STEP = 10
# The part of the prefixes that a search keeps, so that next to none is left out.
_FULL = 0.25


@dataclass(frozen=True)
class DiscoveryDesign:
    """Terms of a search for unlisted texts.

    Attributes:
        layout: Of buckets.
        check_share: Of the precision (1 / variance) of all groups, that of checks.
        least: m: the search is made for texts of this many people.
    """

    layout: PrefixLayout
    check_share: float
    least: float

    @property
    def precisions(self) -> tuple[float, ...]:
        """The share of each group in the precision of all."""
        layer_share = (1.0 - self.check_share) / self.layout.levels
        check_share = self.check_share / self.layout.checks
        return (layer_share,) * self.layout.levels + (check_share,) * self.layout.checks


def best_design(
    bits: int,
    *,
    num_users: int,
    variance: float,
    expected: int,
    messages: float,
    false_texts: float,
    key: int,
) -> DiscoveryDesign:
    """Returns the design that finds texts of the fewest people.

    Args:
        bits: Of a code.
        num_users: n.
        variance: Of all groups combined.
        expected: How many texts are held by as many people as are found.
        messages: Of noise, per person.
        false_texts: Texts that no person holds, in the mean, that may be printed.
        key: Of the hash functions.

    Raises:
        CertificationError: If no design finds any.
    """
    best_so_far: DiscoveryDesign | None = None
    for layout in _layouts(bits, key):
        for share in _CHECK_SHARES:
            layer_variance = variance * layout.levels / (1.0 - share)
            check_variance = variance * layout.checks / share
            noise = layout.levels * 2.0**layout.level_bits * layer_variance
            noise += layout.checks * 2.0**layout.check_bits * check_variance
            if not _TOO_FEW * messages <= noise / num_users <= _ROOM * messages:
                continue
            high = num_users / 2.0 if best_so_far is None else best_so_far.least
            prediction = DiscoveryPrediction(
                layout,
                layer_variance,
                check_variance,
                num_users,
                expected,
                high,
                false_texts,
            )
            num_holders = _fewest_holders(prediction)
            if num_holders is not None:
                best_so_far = DiscoveryDesign(layout, share, num_holders)
    if best_so_far is None:
        raise CertificationError(
            f"No search with {messages:.3g} messages of noise per person finds any text: "
            "expected more messages, more people, or shorter texts."
        )
    return best_so_far


def fitted(prediction: DiscoveryPrediction) -> DiscoveryPrediction:
    """Returns the prediction of a search for texts that are found in spite of its noise.

    Beside other questions there is more noise than a design was made for. A search for
    texts of as few people would cut counts so low that often none passes. What devices
    send is the same.
    """
    if prediction.probability(_NEARLY * prediction.least) >= _FOUND:
        return prediction
    num_holders = _fewest_holders(replace(prediction, least=prediction.num_users / 2.0))
    return prediction if num_holders is None else replace(prediction, least=num_holders)


def _fewest_holders(prediction: DiscoveryPrediction) -> float | None:
    """Returns the least number of holders that is found, below that of the prediction."""
    high = prediction.least
    if not _is_found(prediction, high * 0.995):
        return None
    low, high = 0.0, high * 0.995
    while high - low > 0.005 * high:
        middle = 0.5 * (low + high) if low else math.sqrt(high)
        low, high = (low, middle) if _is_found(prediction, middle) else (middle, high)
    return high


def _is_found(prediction: DiscoveryPrediction, num_holders: float) -> bool:
    tried_prediction = replace(prediction, least=num_holders)
    if tried_prediction.candidates > _FULL * MOST_CANDIDATES:
        return False
    return tried_prediction.probability(num_holders) >= _FOUND


def _layouts(bits: int, key: int) -> Iterator[PrefixLayout]:
    for level_bits in range(8, min(18, bits - 1) + 1):
        fewest = max(-(-(bits - level_bits) // _MOST_STEP) + 1, 2)
        for layers in range(fewest, min(16, bits - level_bits + 1) + 1):
            for check_bits in range(
                max(level_bits - 1, 8), min(level_bits + 2, 20) + 1
            ):
                for checks in (2, 3, 4):
                    yield PrefixLayout(
                        bits, level_bits, layers, check_bits, checks, key
                    )
