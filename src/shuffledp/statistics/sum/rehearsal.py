"""A sum rehearsed on known bits: options, truth and summary."""

from collections.abc import Callable
from typing import Any

import numpy as np

from shuffledp.analyzer.dependence import Dependence
from shuffledp.datasets.column_values import bits_of
from shuffledp.errors import InvalidInputError
from shuffledp.option_text import Argument, option_text
from shuffledp.parameter import Parameter
from shuffledp.randomness import Rng
from shuffledp.statistics.mean.protocol import Mean
from shuffledp.statistics.mean.rehearsal import dependence_of_mean
from shuffledp.statistics.partial_rehearsal import PartialRehearsal
from shuffledp.statistics.rehearsal_stage import OnStep, Rehearsal, Stage
from shuffledp.statistics.rehearsed_collection import Collection, collect
from shuffledp.statistics.request import Request
from shuffledp.statistics.sum.protocol import WORDS, BinarySum, SumEstimate
from shuffledp.statistics.sum.sum_truth import SumTruth
from shuffledp.statistics.summary import Summary
from shuffledp.statistics.summary_parts import (
    TWO_ERRORS,
    Circumstances,
    about_rows,
    build_summary,
    signed,
)
from shuffledp.types import Floats, Ints


class SumStatistic:
    """The number of people who hold a 1."""

    words = WORDS
    parameters = (
        Parameter(
            "central",
            "number",
            "Instead of levels, the least noise that is worth this after the shuffle, for "
            "everybody, at --delta",
            "EPSILON",
        ),
    )

    def rehearsal(self, request: Request) -> Rehearsal:
        """Returns a rehearsal of the sum of a column of bits."""
        central = request.option("central")
        if central is None:
            request.need_columns()
        elif not request.value or request.level or request.shares:
            raise InvalidInputError(
                option_text(
                    "Expected {} with {}, and neither {} nor {}: everybody gets the same "
                    "noise.",
                    Argument("value", "COLUMN"),
                    *(Argument(name) for name in ("central", "level", "levels")),
                )
            )

        def rehearse(stage: Stage) -> Summary:
            table = request.table()
            bits = bits_of(table[request.value or ""])
            stage, protocol = stage.noting(table.notes), BinarySum(stage.mode)
            caveats: tuple[str, ...] = ()
            if central is None:
                levels = request.levels(table, rng=stage.rng)
            else:
                stage.on_step("certify")
                # The guarantee of the summary is certified again, for these levels.
                levels, caveats = _calibrated(protocol, central, bits.size, stage.delta)
            collection = collect_sum(
                bits,
                levels,
                protocol=protocol,
                delta=stage.delta,
                rng=stage.rng,
                on_step=stage.on_step,
            )
            return summarize_sum(
                collection, stage.circumstances(request.source, *caveats)
            )

        return rehearse

    def partial_rehearsal(
        self, request: Request, _texts: Callable[[], tuple[str, ...]]
    ) -> PartialRehearsal:
        """Returns how parts of a column of bits are rehearsed."""
        if request.option("central") is not None:
            raise InvalidInputError(
                "Expected --level or --levels with --spark, and no --central."
            )
        request.need_columns()
        return partial_sum(BinarySum(request.mode))

    def partial_rehearsal_of(
        self, protocol: Any, names: tuple[str, ...] | None
    ) -> PartialRehearsal:
        """Returns the same for a given protocol."""
        if names is not None:
            raise InvalidInputError(
                "Expected names of categories with frequencies only."
            )
        return partial_sum(protocol)


STATISTIC = SumStatistic()


def partial_sum(protocol: BinarySum) -> PartialRehearsal:
    """Returns how bits are rehearsed on parts of the people.

    Args:
        protocol: The protocol that is run.
    """
    return PartialRehearsal(protocol, SumTruth(protocol), summarize_sum)


def _calibrated(
    protocol: BinarySum, central: float, num_users: int, delta: float
) -> tuple[Floats, tuple[str, ...]]:
    """Returns each person's level, and a sentence on their noise."""
    calibration = protocol.calibrate({central: num_users}, delta=delta)
    # One target for all people: calibration has one level.
    levels = np.full(num_users, calibration.people.epsilons[0])
    (share,) = protocol.noise_share(levels[:1])
    return levels, (
        f"With probability {share:.6g} a device sends a random bit in place of its own: "
        f"the least noise found for a certified central epsilon of {central:g}.",
    )


def summarize_sum(
    collection: Collection[SumEstimate], circumstances: Circumstances
) -> Summary:
    """Returns the summary of a collection of bits."""
    estimate, bias = collection.estimate, collection.dependence
    if bias is not None:
        # Measured is the bias of the mean: the sum's is n times as large.
        bias = Dependence(bias.bias * estimate.num_users, bias.p_value)
    return build_summary(
        WORDS,
        circumstances,
        # No bias limit: the mean of a one-bit message is affine in the bit.
        rows=about_rows(estimate, 0.0, collection.truth, circumstances),
        mode=estimate.mode,
        guarantee=collection.guarantee,
        manipulation=collection.manipulation,
        caveats=(TWO_ERRORS,),
        dependence=bias,
        off_by="" if bias is None else f"{signed(bias.largest_bias)} people",
    )


def collect_sum(
    bits: Ints,
    levels: Floats,
    *,
    protocol: BinarySum,
    delta: float,
    rng: Rng,
    on_step: OnStep = lambda _step: None,
) -> Collection[SumEstimate]:
    """Runs a collection of one bit per person, start to end.

    Args:
        bits: 0 or 1, shape (n,).
        levels: Each person's local budget in nats, shape (n,).
        protocol: The protocol that is run.
        delta: At which the guarantee is stated, in (0, 1).
        rng: The only source of randomness.
        on_step: Called with the name of each step before it begins.

    Raises:
        InvalidInputError: If anything is out of range.
    """
    people, guarantee, estimate = collect(
        protocol, bits, levels, delta=delta, rng=rng, on_step=on_step
    )
    numbers = bits.astype(np.float64)
    # Dependence is that of a mean of zeros and ones; the summary scales it by n.
    mean = Mean(0.0, 1.0, protocol.mode)
    dependence = dependence_of_mean(
        numbers, levels, float(numbers.mean()), mean, people
    )
    truth = np.array([numbers.sum()])
    return Collection(protocol, truth, people, estimate, guarantee, dependence)
