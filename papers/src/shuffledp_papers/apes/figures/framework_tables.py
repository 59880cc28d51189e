"""APES (Liu et al. 2023), Tables 3 and 4: privacy and accuracy of frameworks.

The tables have guarantees for one round and for all rounds. All epsilons are those of the
user, among quantiles of the budgets, who is protected least.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from shuffledp.federated.apes_settings import PAPER_SETTINGS
from shuffledp.types import Floats
from shuffledp_papers.apes.figures.framework_results import FrameworkResult
from shuffledp_papers.apes.figures.framework_training import (
    Training,
    accuracies,
    certificate,
    statement,
)
from shuffledp_papers.apes.figures.training_cells import (
    NAMES,
    OTHER_RATES,
    accuracy_comparisons,
    level_curve,
    mean_curve,
    setting_cells,
    setting_notes,
)
from shuffledp_papers.apes.printed import (
    COORDINATE_EPSILONS,
    DISTRIBUTIONS,
    EXCHANGED,
    TABLE_3_EPSILONS,
    USER_EPSILONS,
)
from shuffledp_papers.figures.computed_figure import ComputedFigure
from shuffledp_papers.figures.line_plot import Panel
from shuffledp_papers.figures.notes import figure_notes
from shuffledp_papers.figures.result import Comparison, Effort
from shuffledp_papers.figures.table import Table

PUBLISHED = ("non-private", "ldp-min", "pldp", "unis", "apes", "s-apes")
# The paper rounds its two counts up, and draws other budgets.
_WITHIN = 0.025


def table(
    distributions: Sequence[str],
    *,
    names: Sequence[str],
    epsilons: Mapping[str, Sequence[str]],
) -> Callable[[Effort], ComputedFigure]:
    """Returns a function that computes a table of frameworks under distributions.

    Args:
        distributions: Of budgets.
        names: Of frameworks.
        epsilons: Printed epsilons of a user in one round: {name: by distribution}.
    """

    def run(effort: Effort) -> ComputedFigure:
        # Each training with its printed epsilon.
        trainings = {
            training_under(name, distribution): epsilons[name][index]
            if name in epsilons
            else None
            for index, distribution in enumerate(distributions)
            for name in names
        }
        accuracy_of = accuracies(trainings, effort)
        rows = [
            _row(each, effort.seed, accuracy_of[each], printed)
            for each, printed in trainings.items()
        ]
        setting = setting_cells(PAPER_SETTINGS, effort)
        if len(distributions) > 1:
            setting |= {"budgets": "vary"}
        return ComputedFigure(
            setting=setting,
            table=Table.from_records(row.record() for row in rows),
            notes=_notes(names),
            panels=_panels(rows),
            comparisons=_comparisons(rows),
        )

    return run


def training_under(framework: str, distribution: str) -> Training:
    """Returns a training in the usual setting, with a distribution of Table 2."""
    return Training(
        framework, replace(PAPER_SETTINGS, distribution=f"apes/{distribution}")
    )


def _notes(names: Sequence[str]) -> tuple[str, ...]:
    notes = (*setting_notes(PAPER_SETTINGS), *figure_notes("apes", "frameworks"))
    if set(names) <= set(PUBLISHED):
        return notes
    return (*notes, *figure_notes("apes", "own-frameworks"))


def _row(
    training: Training, seed: int, accuracy: Floats, printed: str | None
) -> FrameworkResult:
    rounds = PAPER_SETTINGS.rounds
    return FrameworkResult(
        training,
        # The paper's epsilons are of one round ("epoch"), in which no tested setting
        # reached its accuracies.
        round_promise=certificate(training, seed, 1),
        promise=certificate(training, seed, rounds),
        round_stated=statement(training, seed, 1),
        stated=statement(training, seed, rounds),
        accuracy=accuracy,
        printed_epsilon=printed,
    )


def _comparisons(rows: Sequence[FrameworkResult]) -> tuple[Comparison, ...]:
    comparisons = []
    for row in rows:
        name, distribution = row.training.framework, row.distribution
        about = f"{NAMES[name]}, {distribution}"
        stated = row.round_stated.coordinate
        # Table 3 has coordinates' epsilons, and Uniform2 only.
        in_table_3 = name in COORDINATE_EPSILONS and distribution == "uniform2"
        if in_table_3 and stated is not None:
            label = f"epsilon of one coordinate, {about}"
            printed = COORDINATE_EPSILONS[name]
            comparisons.append(Comparison(label, printed, stated, within=0.001))
        printed_user = row.printed_epsilon
        user_epsilon = row.round_stated.user
        if printed_user is not None and user_epsilon is not None:
            label = f"epsilon of one round, {about}"
            user = Comparison(label, printed_user, user_epsilon, within=_WITHIN)
            exchanged = (name, distribution) == ("unis", "uniform2") and not user.agrees
            comparisons.append(replace(user, why=EXCHANGED) if exchanged else user)
    accuracy = {
        (row.training.framework, row.distribution): row.accuracy
        for row in rows
        if row.accuracy.size
    }
    return (*comparisons, *accuracy_comparisons(accuracy, why=OTHER_RATES))


def _panels(rows: Sequence[FrameworkResult]) -> list[Panel]:
    panels = []
    for name in dict.fromkeys(row.distribution for row in rows):
        chosen = [row for row in rows if row.distribution == name]
        ends = [row.epsilon for row in chosen if row.epsilon is not None]
        curves = [
            # Without privacy there is no epsilon: a horizontal line.
            level_curve(NAMES[row.training.framework], ends, row.accuracy)
            if row.epsilon is None
            else mean_curve(row.label, [row.epsilon], [row.accuracy], joined=False)
            for row in chosen
        ]
        panels.append(
            Panel(
                name,
                curves,
                horizontal="certified epsilon of a person",
                vertical="accuracy (%)",
                log="x",
            )
        )
    return panels


TABLE_3 = table(
    ("uniform2",),
    names=tuple(NAMES),
    epsilons=TABLE_3_EPSILONS,
)
TABLE_4 = table(
    DISTRIBUTIONS,
    names=PUBLISHED,
    epsilons=USER_EPSILONS,
)
