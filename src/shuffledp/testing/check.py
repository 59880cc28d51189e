"""Puts a randomizer to the test: does what it draws agree with what it hands over?

A certificate is as good as the cover it rests on, and a cover is what a randomizer says of
itself. `check_randomizer` compares everything that a randomizer hands over - draws, cover,
attacks, local budget, moments - with its exact law, and with what small crowds really show.
It looks at what a device does in some thousand calls, not at its code: leaks that are rare
(the finding of the drawn law says how rare), or that wait for something, are not seen.
"""

from collections.abc import Callable, Iterable
from itertools import chain
from typing import Any

from shuffledp.arrays import level_array
from shuffledp.cover import LocalRandomizer
from shuffledp.errors import ConformanceError, InvalidInputError
from shuffledp.population import check_budgets
from shuffledp.randomness import Rng, check_rng
from shuffledp.testing.conformance import PROPERTIES, Conformance, ConformanceFinding
from shuffledp.testing.cover_check import check_covers, check_supports, covers_of
from shuffledp.testing.cover_queries import check_cover_queries
from shuffledp.testing.distribution_table import tabulate
from shuffledp.testing.estimator_check import check_estimator, check_message_validation
from shuffledp.testing.exact_divergences import check_small_populations
from shuffledp.testing.independence_check import check_independence
from shuffledp.testing.local_budget_check import check_local_budget
from shuffledp.testing.message_distribution import has_distribution
from shuffledp.testing.sampling_check import check_drawn_law


def check_randomizer(
    randomizer: Any, *, levels: tuple[float, ...] = (0.5, 1.0, 2.0), rng: Rng
) -> Conformance:
    """Compares what a randomizer hands over with the exact law of its messages.

    >>> import numpy as np, shuffledp as sdp
    >>> from shuffledp.testing import check_randomizer
    >>> found = check_randomizer(sdp.KRandomizedResponse(3), rng=np.random.default_rng(1))
    >>> found.failed, len(found.checked)
    ((), 8)

    Args:
        randomizer: The object that runs on the devices.
        levels: Local budgets to try, > 0; each is compared with each.
        rng: The only source of randomness; of many checks of a right randomizer, one in a
            million fails.

    Returns:
        What was checked, with numbers, and what was not applicable.

    Raises:
        ConformanceError: If something does not hold; its `conformance` has all findings.
        InvalidInputError: If it is no randomizer, it refuses a level, or it has too many
            messages to go through.
    """
    check_rng(rng)
    tried = tuple(sorted(set(level_array(levels).tolist())))
    check_budgets(level_array(tried))
    if not tried or tried[0] <= 0.0:
        raise InvalidInputError("Expected levels > 0.")
    if isinstance(randomizer, type) or not isinstance(randomizer, LocalRandomizer):
        raise InvalidInputError(
            "Expected a randomizer that hands over its cover, got "
            f"{getattr(randomizer, '__name__', type(randomizer).__name__)}."
        )
    found = Conformance(
        randomizer.mechanism, tried, tuple(_findings(randomizer, tried, rng))
    )
    if found.failed:
        raise ConformanceError(str(found), found)
    return found


def _findings(
    randomizer: Any, levels: tuple[float, ...], rng: Rng
) -> Iterable[ConformanceFinding]:
    if not has_distribution(randomizer):
        for about in PROPERTIES:
            yield ConformanceFinding(about, "it states no law of its messages.", None)
        return
    subject = tabulate(randomizer, levels, rng=rng)
    covers = covers_of(subject)
    parts: dict[str, Callable[[], Iterable[ConformanceFinding]]] = {
        "drawn law": lambda: check_drawn_law(subject, rng=rng),
        "independence": lambda: check_independence(subject, rng=rng),
        "covers": lambda: chain(
            check_covers(subject, covers), check_cover_queries(subject)
        ),
        "supports": lambda: check_supports(subject, covers),
        "local budget": lambda: check_local_budget(subject),
        "crowds": lambda: check_small_populations(subject),
        "estimator": lambda: check_estimator(subject, rng=rng),
        "messages": lambda: check_message_validation(subject, rng=rng),
    }
    failed = False
    for about in PROPERTIES:
        if about == "independence" and failed:
            text = "single messages are not of the stated law already."
            yield ConformanceFinding(about, text, None)
            continue
        for finding in parts[about]():
            failed = failed or finding.holds is False
            yield finding
