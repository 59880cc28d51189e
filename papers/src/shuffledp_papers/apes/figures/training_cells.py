"""Cells, curves and comparisons that tables and figures of trainings share."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

from shuffledp.datasets.mnist import QMNIST_HOME, has_qmnist
from shuffledp.federated.apes_settings import ApesSettings
from shuffledp.types import Floats
from shuffledp_papers.apes.figures.framework_training import repetitions_of
from shuffledp_papers.apes.printed import ACCURACIES, DISTRIBUTIONS
from shuffledp_papers.figures.line_plot import Curve
from shuffledp_papers.figures.notes import figure_notes
from shuffledp_papers.figures.result import Comparison, Effort
from shuffledp_papers.figures.table import Cell

# {framework: its name in the paper}, in the order of Table 3. S-APES is published with the
# b largest messages; the threshold and one bit are ours.
NAMES = {
    "non-private": "Non-Private",
    "ldp-min": "LDP-Min",
    "pldp": "PLDP",
    "unis": "UniS",
    "apes": "APES",
    "s-apes": "S-APES, top-b",
    "s-apes-threshold": "S-APES, threshold",
    "one-bit-apes": "One-bit APES",
}


# Relative: between two assignments of pictures, accuracies differ by 2 points of 80.
SAME_ACCURACY = 0.025
OTHER_RATES = "the paper names neither its rounds nor its rates"


def standard_error(accuracy: Floats) -> float | None:
    """Returns the standard error of the mean of repetitions; None if there is only one.

    Args:
        accuracy: One per repetition, shape (repetitions,).
    """
    if accuracy.size < 2:
        return None
    return float(accuracy.std(ddof=1)) / math.sqrt(accuracy.size)


def mean_curve(
    label: str,
    at: Sequence[float],
    accuracies: Sequence[Floats],
    *,
    joined: bool = True,
) -> Curve:
    """Returns a curve of means, with a standard error on both sides.

    Args:
        label: In the legend.
        at: Positions on the horizontal axis.
        accuracies: At each position, shape (repetitions,).
        joined: Whether points are joined.
    """
    means = [float(each.mean()) for each in accuracies]
    errors = [standard_error(each) for each in accuracies]
    # A single repetition has no standard error.
    if None in errors:
        return Curve(label, at, means, joined=joined)
    return Curve(
        label,
        at,
        means,
        low=[mean - (error or 0.0) for mean, error in zip(means, errors, strict=True)],
        high=[mean + (error or 0.0) for mean, error in zip(means, errors, strict=True)],
        joined=joined,
    )


def level_curve(label: str, at: Sequence[float], accuracy: Floats) -> Curve:
    """Returns a horizontal line at a mean, from end to end of the axis."""
    ends = [min(at), max(at)]
    return Curve(label, ends, [float(accuracy.mean())] * 2)


def accuracy_comparisons(
    accuracies: Mapping[tuple[str, str], Floats], *, why: str
) -> tuple[Comparison, ...]:
    """Compares mean accuracies with the printed ones.

    Args:
        accuracies: By framework and distribution, in percent, shape (repetitions,).
        why: The reason for differences.
    """
    comparisons = []
    for (framework, distribution), accuracy in accuracies.items():
        if framework in ACCURACIES:
            printed = ACCURACIES[framework][DISTRIBUTIONS.index(distribution)]
            mean = float(accuracy.mean())
            label = f"accuracy, percent, {NAMES[framework]}, {distribution}"
            compared = Comparison(label, printed, mean, within=SAME_ACCURACY)
            comparisons.append(
                compared if compared.agrees else replace(compared, why=why)
            )
    return tuple(comparisons)


def setting_cells(setting: ApesSettings, effort: Effort) -> dict[str, Cell]:
    """Returns the setting of a table or figure, as in `Result`."""
    return {
        "data": "QMNIST" if has_qmnist() else "MNIST",
        "people": setting.num_clients,
        "budgets": setting.distribution.removeprefix("apes/"),
        "rounds": setting.rounds,
        "C": setting.clip,
        "b / d": setting.share,
        "delta": setting.delta,
        "repetitions": repetitions_of(effort),
    }


def setting_notes(setting: ApesSettings) -> tuple[str, ...]:
    """Returns the notes on local training, rates and data."""
    local = setting.local_training
    notes = figure_notes(
        "apes",
        "trainings",
        steps=local.steps,
        learning_rate=local.learning_rate,
        proximal=local.proximal,
        server_rate=setting.server_rate,
    )
    if has_qmnist():
        return notes
    return (
        *notes,
        *figure_notes("apes", "without-qmnist", qmnist_home=QMNIST_HOME),
    )
