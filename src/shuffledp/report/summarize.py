"""From a collection of categories or numbers to the summary that reports are made from."""

from shuffledp.analyzer.dependence import Dependence
from shuffledp.report.summary import Summary
from shuffledp.report.summary_parts import (
    TWO_ERRORS,
    Circumstances,
    about_rows,
    build_summary,
    estimate_rows,
    off_by_share,
    signed,
)
from shuffledp.statistics.collection import (
    FrequencyCollection,
    MeanCollection,
    SumCollection,
)


def summarize_frequency(
    collection: FrequencyCollection,
    categories: tuple[str, ...],
    circumstances: Circumstances,
) -> Summary:
    """Returns the summary of a collection of categories with these names."""
    estimate = collection.estimate
    rows = estimate_rows(
        categories,
        estimate.value,
        estimate.standard_error,
        estimate.interval(circumstances.confidence),
        collection.truth,
    )
    bias = collection.dependence
    return build_summary(
        "frequency",
        circumstances,
        rows=rows,
        mode=estimate.mode,
        guarantees=(("", collection.guarantee),),
        dependence=bias,
        off_by="" if bias is None else off_by_share(bias, categories),
    )


def summarize_mean(collection: MeanCollection, circumstances: Circumstances) -> Summary:
    """Returns the summary of a collection of numbers."""
    estimate, bias = collection.estimate, collection.dependence
    caveats: tuple[str, ...] = (TWO_ERRORS,)
    if estimate.bias_limit:
        caveats += (
            "The estimate is biased where values differ, by at most "
            f"{estimate.bias_limit:.3g}; intervals are wider by as much.",
        )
        if estimate.mode == "agnostic":
            caveats += ("It is biased further if levels depend on values.",)
    return build_summary(
        "mean",
        circumstances,
        rows=about_rows(estimate, estimate.bias_limit, collection.truth, circumstances),
        mode=estimate.mode,
        guarantees=(("", collection.guarantee),),
        caveats=caveats,
        dependence=bias,
        off_by="" if bias is None else signed(bias.largest_bias),
        unbiased=not estimate.bias_limit,
    )


def summarize_sum(collection: SumCollection, circumstances: Circumstances) -> Summary:
    """Returns the summary of a collection of bits."""
    estimate, bias = collection.estimate, collection.dependence
    if bias is not None:
        # What was measured is the bias of the mean.
        bias = Dependence(bias.bias * estimate.num_users, bias.p_value)
    return build_summary(
        "sum",
        circumstances,
        rows=about_rows(estimate, 0.0, collection.truth, circumstances),
        mode=estimate.mode,
        guarantees=(("", collection.guarantee),),
        caveats=(TWO_ERRORS,),
        dependence=bias,
        off_by="" if bias is None else f"{signed(bias.largest_bias)} people",
    )
