"""Strings rehearsed on known ones: options, truth and summary."""

from functools import partial
from pathlib import Path

import numpy as np

from shuffledp.analyzer.string_estimate import StringEstimate
from shuffledp.analyzer.strings import check_candidates, check_rate
from shuffledp.datasets.column_values import strings_of
from shuffledp.datasets.table import read_lines
from shuffledp.display_text import percent
from shuffledp.errors import InvalidInputError
from shuffledp.near_duplicate_labels import spelling_warnings
from shuffledp.option_text import Argument, option_text
from shuffledp.parameter import Parameter
from shuffledp.randomness import Rng
from shuffledp.statistics.estimate_row import EstimateRow
from shuffledp.statistics.level_dependence import dependence_of_categories
from shuffledp.statistics.manipulation import manipulation_of
from shuffledp.statistics.rehearsal_stage import OnStep, Rehearsal, Stage
from shuffledp.statistics.rehearsed_collection import Collection, collect
from shuffledp.statistics.request import Request
from shuffledp.statistics.strings.protocol import Strings
from shuffledp.statistics.strings.string_labels import WORDS
from shuffledp.statistics.summary import Summary
from shuffledp.statistics.summary_parts import (
    Circumstances,
    build_summary,
    estimate_rows,
    off_by_share,
)
from shuffledp.types import Floats

OTHER_STRINGS = "none of these"
# More candidates than this are better listed on purpose.
MAX_DEFAULT_CANDIDATES = 1_000
_USUAL_RATE = 0.05


class StringsStatistic:
    """Shares of people who hold each string of a list."""

    words = WORDS
    parameters = (
        Parameter(
            "candidates",
            "file",
            "The list, one per line, UTF-8; by default the values of the column, up to "
            f"{MAX_DEFAULT_CANDIDATES:,}",
            "FILE",
        ),
        Parameter("bits", "whole number", "Length of a filter [128]", "M"),
        Parameter("hashes", "whole number", "Bits that one sets [2]", "H"),
        Parameter(
            "cohorts",
            "whole number",
            "Groups of people that hash differently [16]",
            "C",
        ),
        Parameter(
            "false_discovery_rate",
            "number",
            "Which share of those found may have no holder [0.05]",
            "RATE",
        ),
    )

    def rehearsal(self, request: Request) -> Rehearsal:
        """Returns a rehearsal of the strings of a column."""
        chosen_terms = {
            f"num_{key}": request.given[key]
            for key in ("bits", "hashes", "cohorts")
            if request.given.get(key) is not None
        }
        protocol = Strings(mode=request.mode, **chosen_terms)
        rate = request.option("false_discovery_rate", _USUAL_RATE)
        listed_candidates = request.option("candidates")
        request.need_columns()

        def rehearse(stage: Stage) -> Summary:
            known_candidates = _known(listed_candidates)
            # A candidate that is named "NA" is a value, and not a missing one.
            table = request.table(known_candidates)
            strings = strings_of(table[request.value or ""])
            # Devices hash bytes: spellings of candidates and column must agree.
            warnings = spelling_warnings({*strings, *known_candidates}, "Strings")
            stage = stage.noting(table.notes, warnings)
            caveats: tuple[str, ...] = ()
            candidates = known_candidates
            if listed_candidates is None:
                candidates = _candidates_of(strings)
                caveats = (
                    "Candidates are the values of the column: a real analyst must know "
                    "them beforehand.",
                )
            collection = collect_strings(
                strings,
                request.levels(table, rng=stage.rng),
                protocol=protocol,
                candidates=candidates,
                false_discovery_rate=rate,
                delta=stage.delta,
                rng=stage.rng,
                on_step=stage.on_step,
            )
            return summarize_strings(
                collection, stage.circumstances(request.source, *caveats)
            )

        return rehearse


STATISTIC = StringsStatistic()


def _known(listed: Path | tuple[str, ...] | None) -> tuple[str, ...]:
    if isinstance(listed, Path):
        return read_lines(listed)
    # As the lines of a file, and the values of a column, are read.
    return tuple(text.strip() for text in listed or ())


def _candidates_of(strings: list[str]) -> tuple[str, ...]:
    candidates = tuple(sorted(set(strings)))
    if len(candidates) > MAX_DEFAULT_CANDIDATES:
        raise InvalidInputError(
            option_text(
                "Expected {} where a column has more than {:,} different values.",
                Argument("candidates", "FILE"),
                MAX_DEFAULT_CANDIDATES,
            )
        )
    return candidates


def summarize_strings(
    collection: Collection[StringEstimate], circumstances: Circumstances
) -> Summary:
    """Returns the summary of a collection of strings, those found first."""
    estimate, bias = collection.estimate, collection.dependence
    details = [
        {"p_value": p_value, "found": is_found}
        for p_value, is_found in zip(
            estimate.p_value.tolist(), estimate.found.tolist(), strict=True
        )
    ]
    rows = estimate_rows(
        estimate.candidates,
        estimate.value,
        estimate.standard_error,
        _selected_intervals(estimate, circumstances.confidence),
        # The last one is that of all other strings, which has a row of its own.
        collection.truth[:-1],
        details,
    )
    # Found strings first, by estimate; the row of other strings is added last.
    rows.sort(key=lambda row: (not row.listed, -row.estimate))
    # This row is never selected: its interval is the usual one.
    low, high = estimate.unexplained_interval(circumstances.confidence)
    rows.append(
        EstimateRow(
            OTHER_STRINGS,
            estimate.unexplained,
            estimate.unexplained_error,
            low,
            high,
            float(collection.truth[-1]),
            # Neither found nor not found: long tables keep this row.
            details={"p_value": None, "found": None},
        )
    )
    # Dependence was measured of the other strings, too, under the last number.
    names = (*estimate.candidates, OTHER_STRINGS)
    return build_summary(
        WORDS,
        circumstances,
        rows=rows,
        mode=estimate.mode,
        guarantee=collection.guarantee,
        manipulation=manipulation_of(
            partial(
                collection.protocol.manipulation, collection.people, estimate=estimate
            ),
            num_users=estimate.num_users,
            errors=np.append(estimate.standard_error, estimate.unexplained_error),
        ),
        caveats=_caveats(estimate),
        dependence=bias,
        off_by="" if bias is None else off_by_share(bias, names),
    )


def collect_strings(
    strings: list[str],
    levels: Floats,
    *,
    protocol: Strings,
    candidates: tuple[str, ...],
    false_discovery_rate: float = _USUAL_RATE,
    delta: float,
    rng: Rng,
    on_step: OnStep = lambda _step: None,
) -> Collection[StringEstimate]:
    """Runs a collection of one string per person, start to end.

    Args:
        strings: One per person, in the order of arrival, shape (n,).
        levels: Each person's local budget in nats, shape (n,).
        protocol: The protocol that is run.
        candidates: Which strings the analyst asks for.
        false_discovery_rate: The share of those found that may have no holder.
        delta: At which the guarantee is stated, in (0, 1).
        rng: The only source of randomness.
        on_step: Called with the name of each step before it begins.

    Raises:
        InvalidInputError: If anything is out of range; or if candidates are too many, or
            not different.
    """
    # `estimate` would refuse these only after certificate, devices and shuffle.
    check_rate(false_discovery_rate)
    check_candidates(
        candidates, num_cohorts=protocol.num_cohorts, num_bits=protocol.num_bits
    )
    people, guarantee, estimate = collect(
        protocol,
        strings,
        levels,
        delta=delta,
        rng=rng,
        on_step=on_step,
        candidates=candidates,
        false_discovery_rate=false_discovery_rate,
    )
    # Other strings get the number after the last candidate.
    numbers = {string: number for number, string in enumerate(candidates)}
    other = len(candidates)
    values = np.array(
        [numbers.get(string, other) for string in strings], dtype=np.int64
    )
    # A stratified estimate stays unbiased if levels depend on values.
    dependence = None
    if protocol.mode == "agnostic":
        p_set, p_unset = protocol.randomizer.effective_probabilities(people.epsilons)
        dependence = dependence_of_categories(
            values,
            levels,
            num_categories=other + 1,
            people=people,
            # A set bit raises the probability of a reported 1 from p_unset to p_set.
            slopes=p_set - p_unset,
        )
    truth = np.bincount(values, minlength=other + 1) / people.num_users
    return Collection(protocol, truth, people, estimate, guarantee, dependence)


def _selected_intervals(estimate: StringEstimate, confidence: float) -> Floats:
    """Returns intervals, shape (S, 2); false coverage among those found is controlled."""
    # Benjamini and Yekutieli 2005: level 1 - (1 - confidence) R / S for R of S selected.
    usual = estimate.interval(confidence)
    num_found = int(estimate.found.sum())
    if num_found == 0:
        return usual
    miss = (1.0 - confidence) * num_found / estimate.found.size
    return np.where(estimate.found[:, None], estimate.interval(1.0 - miss), usual)


def _caveats(estimate: StringEstimate) -> tuple[str, ...]:
    rate = percent(estimate.false_discovery_rate, 3).rstrip("0").rstrip(".")
    caveats: tuple[str, ...] = (
        f"{int(estimate.found.sum()):,} of {len(estimate.candidates):,} candidates were "
        f"found: of those found, in the mean, at most {rate}% have no holder.",
        "Intervals of those found are widened: only large estimates are found, and their "
        "usual intervals would hold less often (Benjamini and Yekutieli 2005).",
        "People hide within their cohort, and arrive in an order that has nothing to do "
        "with their strings.",
    )
    # 1 is its smallest value: errors were then not enlarged.
    if estimate.misfit > 1.0:
        caveats += (
            f"Standard errors were multiplied by {estimate.misfit:.3g}: reports fit the "
            "candidates worse than chance allows, as if many people shared a few other "
            "strings.",
        )
    return caveats
