"""APES (Liu et al. 2023), Tables 3 and 4: privacy and accuracy of frameworks.

The paper's epsilons are of one round ("epoch"), in which no setting that was tried reached
its accuracies; so guarantees stand here for one round and for all of them. All epsilons
are those of the person, among quantiles of the budgets, who is protected least.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from shuffledp.federated.apes_settings import PAPER_SETTINGS
from shuffledp.federated.training_promise import TrainingPromise
from shuffledp.papers.apes.figures.training import (
    NAMES,
    OTHER_RATES,
    Training,
    accuracies,
    accuracy_comparisons,
    certificate,
    level_curve,
    mean_curve,
    repetitions_of,
    setting_cells,
    setting_notes,
    standard_error,
    statement,
)
from shuffledp.papers.apes.printed import (
    ACCURACIES,
    COORDINATE_EPSILONS,
    DISTRIBUTIONS,
    EXCHANGED,
    TABLE_3_EPSILONS,
    USER_EPSILONS,
)
from shuffledp.papers.apes.stated_training import StatedTraining
from shuffledp.papers.figures.notes import figure_notes
from shuffledp.papers.figures.picture import Panel, draw
from shuffledp.papers.figures.result import Cell, Comparison, Effort, Result
from shuffledp.types import Floats

PUBLISHED = ("non-private", "ldp-min", "pldp", "unis", "apes", "s-apes")
COLUMNS = (
    "distribution",
    "framework",
    "local, least",
    "local, most",
    "coordinate, stated",
    "coordinate, stated: exceeded",
    "coordinate, certified",
    "round, printed",
    "round, stated",
    "round, stated: exceeded",
    "round, certified",
    "training, stated",
    "training, stated: exceeded",
    "training, certified",
    "training, local",
    "accuracy",
    "standard error",
    "accuracy, printed",
)
# The paper rounds its two counts up, and draws other budgets.
_WITHIN = 0.025


@dataclass(frozen=True)
class _Row:
    """A framework under a distribution: numbers for the table and for the picture."""

    training: Training
    one: TrainingPromise
    whole: TrainingPromise
    one_stated: StatedTraining
    whole_stated: StatedTraining
    accuracy: Floats
    # What the paper has for a person in one round, as text.
    printed_epsilon: str | None

    @property
    def distribution(self) -> str:
        return self.training.setting.distribution.split("/")[1]

    @property
    def label(self) -> str:
        """In the legend: it says where the epsilon is of devices only."""
        central = self.whole.central is not None
        return NAMES[self.training.framework] + ("" if central else " (local)")

    @property
    def epsilon(self) -> float | None:
        """Certified for one person's whole training: locally where not centrally."""
        if self.whole.central is not None:
            return self.whole.central.worst.epsilon_central
        return _local(self.whole)

    @property
    def printed_accuracy(self) -> float | None:
        name, place = self.training.framework, DISTRIBUTIONS.index(self.distribution)
        return float(ACCURACIES[name][place]) if name in ACCURACIES else None

    def cells(self) -> tuple[Cell, ...]:
        """The row of the table."""
        return (
            self.distribution,
            NAMES[self.training.framework],
            *_ends(self.one),
            *_flagged(self.one_stated.coordinate, _coordinate_attack(self.one)),
            _coordinate(self.one),
            None if self.printed_epsilon is None else float(self.printed_epsilon),
            *_flagged(self.one_stated.user, _attack(self.one)),
            _central(self.one),
            *_flagged(self.whole_stated.user, _attack(self.whole)),
            _central(self.whole),
            _local(self.whole),
            float(self.accuracy.mean()),
            standard_error(self.accuracy),
            self.printed_accuracy,
        )


def table(
    title: str,
    distributions: Sequence[str],
    *,
    names: Sequence[str],
    epsilons: Mapping[str, Sequence[str]],
) -> Callable[[Effort], Result]:
    """Returns what computes a table of frameworks under these distributions.

    Args:
        title: Of the table.
        distributions: Of budgets.
        names: Of frameworks.
        epsilons: What is printed for a person in one round: {name: by distribution}.
    """

    def run(effort: Effort) -> Result:
        repetitions = repetitions_of(effort)
        trained = _trained(distributions, names, repetitions, effort)
        rows = [
            replace(row, printed_epsilon=_printed(epsilons, row, distributions))
            for row in trained
        ]
        setting = setting_cells(PAPER_SETTINGS, repetitions)
        if len(distributions) > 1:
            setting |= {"budgets": "vary"}
        return Result(
            title=title,
            setting=setting,
            columns=COLUMNS,
            rows=tuple(row.cells() for row in rows),
            notes=_notes(names),
            svg=_picture(title, setting, rows),
            comparisons=_comparisons(rows),
            keys=2,
        )

    return run


def training_under(framework: str, distribution: str) -> Training:
    """Returns a training in the usual setting, with a distribution of its Table 2."""
    return Training(
        framework, replace(PAPER_SETTINGS, distribution=f"apes/{distribution}")
    )


def _notes(names: Sequence[str]) -> tuple[str, ...]:
    notes = (*setting_notes(PAPER_SETTINGS), *figure_notes("apes", "frameworks"))
    if set(names) <= set(PUBLISHED):
        return notes
    return (*notes, *figure_notes("apes", "own-frameworks"))


def _printed(
    epsilons: Mapping[str, Sequence[str]], row: _Row, distributions: Sequence[str]
) -> str | None:
    name = row.training.framework
    if name not in epsilons:
        return None
    return epsilons[name][distributions.index(row.distribution)]


def _trained(
    distributions: Sequence[str],
    names: Sequence[str],
    repetitions: int,
    effort: Effort,
) -> list[_Row]:
    trainings = [
        training_under(name, distribution)
        for distribution in distributions
        for name in names
    ]
    seed = effort.seed
    found = accuracies(
        trainings, repetitions=repetitions, seed=seed, on_share=effort.on_share
    )
    return [
        _Row(
            each,
            one=certificate(each, seed, 1),
            whole=certificate(each, seed, PAPER_SETTINGS.rounds),
            one_stated=statement(each, seed, 1),
            whole_stated=statement(each, seed, PAPER_SETTINGS.rounds),
            accuracy=found[each],
            printed_epsilon=None,
        )
        for each in trainings
    ]


def _ends(promise: TrainingPromise) -> tuple[float, float]:
    """Returns d epsilon of one round, of the smallest budget and of the largest."""
    if promise.local is None:
        return math.inf, math.inf
    levels = promise.local.levels
    return levels[0].epsilon_sum, levels[-1].epsilon_sum


def _central(promise: TrainingPromise) -> float | None:
    return None if promise.central is None else promise.central.worst.epsilon_central


def _local(promise: TrainingPromise) -> float | None:
    return None if promise.local is None else promise.local.worst.epsilon_all


def _coordinate(promise: TrainingPromise) -> float | None:
    """Returns one coordinate's epsilon of the person whose all are protected least."""
    central = promise.central
    if central is None:
        return None
    return central.also[0].levels[central.levels.index(central.worst)].epsilon_central


def _coordinate_attack(promise: TrainingPromise) -> float:
    levels = () if promise.central is None else promise.central.also[0].levels
    return max((level.epsilon_central_lower for level in levels), default=0.0)


def _attack(promise: TrainingPromise) -> float:
    levels = () if promise.central is None else promise.central.levels
    return max((level.epsilon_central_lower for level in levels), default=0.0)


def _flagged(number: float | None, attack: float) -> tuple[float | None, bool | None]:
    """Returns what the paper states, and whether an attack refutes it."""
    return number, None if number is None else number < attack


def _comparisons(rows: Sequence[_Row]) -> tuple[Comparison, ...]:
    compared = []
    for row in rows:
        name, where = row.training.framework, row.distribution
        called = NAMES[name]
        stated = row.one_stated.coordinate
        if name in COORDINATE_EPSILONS and where == "uniform2" and stated is not None:
            what = f"epsilon of one coordinate, {called}, {where}"
            printed = COORDINATE_EPSILONS[name]
            compared.append(Comparison(what, printed, stated, within=0.001))
        printed_user = row.printed_epsilon
        if printed_user is not None and row.one_stated.user is not None:
            what = f"epsilon of one round, {called}, {where}"
            user = Comparison(what, printed_user, row.one_stated.user, within=_WITHIN)
            exchanged = (name, where) == ("unis", "uniform2") and not user.agrees
            compared.append(replace(user, why=EXCHANGED) if exchanged else user)
    found = {
        (row.training.framework, row.distribution): row.accuracy
        for row in rows
        if row.accuracy.size
    }
    return (*compared, *accuracy_comparisons(found, why=OTHER_RATES))


def _picture(title: str, setting: dict[str, Cell], rows: Sequence[_Row]) -> str:
    panels = []
    for name in dict.fromkeys(row.distribution for row in rows):
        chosen = [row for row in rows if row.distribution == name]
        ends = [row.epsilon for row in chosen if row.epsilon is not None]
        curves = [
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
    return draw(
        title,
        setting,
        panels,
        description=f"{title}: accuracy against certified epsilon of all rounds",
    )


TABLE_3 = table(
    "APES (Liu et al. 2023), Table 3: frameworks under Uniform2",
    ("uniform2",),
    names=tuple(NAMES),
    epsilons=TABLE_3_EPSILONS,
)
TABLE_4 = table(
    "APES (Liu et al. 2023), Table 4: frameworks under all budgets",
    DISTRIBUTIONS,
    names=PUBLISHED,
    epsilons=USER_EPSILONS,
)
