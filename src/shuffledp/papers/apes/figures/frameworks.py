"""APES (Liu et al. 2023), Tables 3 and 4: privacy and accuracy of frameworks.

The paper's epsilons are of one round ("epoch"), in which no setting that was tried reached
its accuracies; so guarantees stand here for one round and for all of them. All epsilons
are those of the person, among quantiles of the budgets, who is protected least.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from shuffledp.federated.settings import PAPER_SETTINGS
from shuffledp.federated.training_promise import TrainingPromise
from shuffledp.papers.apes.figures.training import (
    NAMES,
    Training,
    accuracies,
    certificate,
    certified_cell,
    certified_epsilon,
    error_bar,
    setting_cells,
    setting_note,
    spread,
    statement,
)
from shuffledp.papers.apes.stated_training import StatedTraining
from shuffledp.papers.figures.result import Cell, Effort, OnShare, Result
from shuffledp.report.picture import new_figure, svg
from shuffledp.types import Floats

REFUTED = "!"
DISTRIBUTIONS = ("uniform1", "gauss1", "mixgauss1", "uniform2", "gauss2", "mixgauss2")
COLORS = {
    "non-private": "#57606a",
    "ldp-min": "#b58900",
    "pldp": "#0f766e",
    "unis": "#2e7d4f",
    "apes": "#1f5fa8",
    "s-apes": "#a61c3c",
    "s-apes-threshold": "#d9730d",
    "one-bit-apes": "#8a3ea0",
}
# Table 4, in the order of DISTRIBUTIONS; its columns of Uniform2 are those of Table 3.
PAPER_ACCURACY: dict[str, tuple[float, ...]] = {
    "non-private": (84.35,) * 6,
    "ldp-min": (56.11,) * 6,
    "pldp": (75.64, 63.77, 67.75, 77.54, 64.81, 73.84),
    "unis": (75.64, 63.77, 67.75, 77.54, 64.81, 73.84),
    "apes": (78.77, 78.33, 79.06, 79.67, 79.29, 79.97),
    "s-apes": (75.7, 56.64, 77.01, 78.14, 73.4, 76.12),
}
# Table 3 prints 76.9 for UniS under Uniform2, and Table 4 prints 79.6.
PAPER_EPSILON: dict[str, tuple[float, ...]] = {
    "ldp-min": (40.1,) * 6,
    "pldp": (3925.0,) * 3 + (7850.0,) * 3,
    "unis": (17.4, 17.4, 17.5, 76.9, 76.9, 76.9),
    "apes": (15.5, 15.3, 15.4, 57.6, 52.7, 53.7),
    "s-apes": (8.5, 8.5, 8.5, 25.6, 23.6, 23.9),
}
COLUMNS = (
    "distribution",
    "framework",
    "local",
    "c publ.",
    "c cert.",
    "uc printed",
    "uc publ.",
    "uc cert.",
    "all publ.",
    "all cert.",
    "accuracy",
    "spread",
    "paper",
)
_NOTES = (
    "local: d epsilon of one round, from the smallest budget to the largest. Then epsilons "
    "of the person, among quantiles, who is protected least: c, one coordinate; uc, all "
    "of a person in one round; all, in the whole training.",
    "publ.: the paper's statement, evaluated for these people (its numerical clone "
    "reduction and advanced composition); not proven, and marked ! where an attack reaches "
    "more. printed: what the paper's table says. cert.: certified. (local): not a central "
    "guarantee, only what the device itself keeps; no central one is proven.",
    "The paper states 78.5 to 1570, b epsilon, as the local budget of S-APES: refuted, as "
    "which coordinates are kept tells about all of them. So d epsilon stands here.",
    "PLDP and UniS send the same messages and are trained once; they differ in what they "
    "promise. LDP-Min and Non-Private do not depend on the distribution and are trained "
    "once, too. S-APES, top-b, is the published one; threshold and one bit are ours. "
    "paper: its accuracy. -: not stated, or not in the paper.",
    "Under Uniform2 S-APES is not ahead of UniS, as it is in the paper: relative to the "
    "mean update, noise is about the same in both.",
)


@dataclass(frozen=True)
class _Row:
    """A framework under a distribution: numbers for the table and for the picture."""

    training: Training
    one: TrainingPromise
    whole: TrainingPromise
    one_stated: StatedTraining
    whole_stated: StatedTraining
    accuracy: Floats

    @property
    def distribution(self) -> str:
        return self.training.setting.distribution.split("/")[1]

    @property
    def epsilon(self) -> float:
        """Certified for one person's whole training: locally where not centrally."""
        return certified_epsilon(self.whole)

    def paper(self, table: dict[str, tuple[float, ...]]) -> Cell:
        name, place = self.training.framework, DISTRIBUTIONS.index(self.distribution)
        return table[name][place] if name in table else "-"

    def cells(self) -> tuple[Cell, ...]:
        """The row of the table."""
        name, one, whole = self.training.framework, self.one, self.whole
        return (
            self.distribution,
            NAMES[name],
            _local(one),
            _coordinate(one, self.one_stated),
            _certified_coordinate(one),
            self.paper(PAPER_EPSILON),
            _user(one, self.one_stated),
            certified_cell(one),
            _user(whole, self.whole_stated),
            certified_cell(whole),
            float(self.accuracy.mean()),
            spread(self.accuracy),
            self.paper(PAPER_ACCURACY),
        )


def table(title: str, distributions: Sequence[str]) -> Callable[..., Result]:
    """Returns what computes a table of all frameworks under these distributions."""

    def run(effort: Effort) -> Result:
        repetitions = effort.repetitions
        seed = effort.seed
        on_share = effort.on_share
        rows = _rows(distributions, tuple(NAMES), repetitions, seed, on_share)
        return Result(
            title=f"{title}, {repetitions} repetitions",
            setting=setting_cells(PAPER_SETTINGS),
            columns=COLUMNS,
            rows=tuple(row.cells() for row in rows),
            notes=(setting_note(PAPER_SETTINGS, repetitions), *_NOTES),
            svg=_privacy_picture(title, rows),
        )

    return run


def training_under(framework: str, distribution: str) -> Training:
    """Returns a training in the usual setting, with a distribution of its Table 2."""
    return Training(
        framework, replace(PAPER_SETTINGS, distribution=f"apes/{distribution}")
    )


def _rows(
    distributions: Sequence[str],
    names: Sequence[str],
    repetitions: int,
    seed: int,
    on_share: OnShare,
) -> list[_Row]:
    trainings = [
        training_under(name, distribution)
        for distribution in distributions
        for name in names
    ]
    found = accuracies(trainings, repetitions=repetitions, seed=seed, on_share=on_share)
    return [
        _Row(
            each,
            one=certificate(each, seed, 1),
            whole=certificate(each, seed, PAPER_SETTINGS.rounds),
            one_stated=statement(each, seed, 1),
            whole_stated=statement(each, seed, PAPER_SETTINGS.rounds),
            accuracy=found[each],
        )
        for each in trainings
    ]


def _local(promise: TrainingPromise) -> Cell:
    """Returns d epsilon of one round, from the smallest budget to the largest."""
    if promise.local is None:
        return math.inf
    first, last = (promise.local.levels[place].epsilon_sum for place in (0, -1))
    return f"{first:.4g}-{last:.4g}" if last > first else last


def _certified_coordinate(promise: TrainingPromise) -> Cell:
    """Returns one coordinate's epsilon of the person whose all are protected least."""
    central = promise.central
    if central is None:
        return "-"
    return central.also[0].levels[central.levels.index(central.worst)].epsilon_central


def _coordinate(promise: TrainingPromise, stated: StatedTraining) -> Cell:
    levels = () if promise.central is None else promise.central.also[0].levels
    return _marked(stated.coordinate, [level.epsilon_central_lower for level in levels])


def _user(promise: TrainingPromise, stated: StatedTraining) -> Cell:
    levels = () if promise.central is None else promise.central.levels
    return _marked(stated.user, [level.epsilon_central_lower for level in levels])


def _marked(number: float | None, attacks: Sequence[float]) -> Cell:
    """Returns what the paper states, marked where an attack refutes it."""
    attack = max(attacks, default=0.0)
    if number is None:
        return "-"
    return f"{number:.3g}{REFUTED}" if number < attack else number


def _privacy_picture(title: str, rows: Sequence[_Row]) -> str:
    distributions = list(dict.fromkeys(row.distribution for row in rows))
    columns = min(len(distributions), 3)
    lines = -(-len(distributions) // columns)
    figure = new_figure(max(3.4 * columns, 7.0), 3.2 * lines + 1.2)
    panels = np.ravel(figure.subplots(lines, columns, sharey=True, squeeze=False))
    for panel, name in zip(panels, distributions, strict=True):
        for row in rows:
            framework = row.training.framework
            if row.distribution != name:
                continue
            if framework == "non-private":
                panel.axhline(
                    row.accuracy.mean(),
                    color=COLORS[framework],
                    linestyle=":",
                    label=NAMES[framework],
                )
                continue
            central = row.whole.central is not None
            panel.errorbar(
                [row.epsilon],
                [row.accuracy.mean()],
                yerr=[error_bar(spread(row.accuracy))],
                color=COLORS[framework],
                marker="o",
                markerfacecolor=COLORS[framework] if central else "white",
                capsize=3,
                linestyle="",
                label=NAMES[framework] + ("" if central else " (local)"),
            )
        panel.set_xscale("log")
        panel.set_title(name, fontsize=10)
        panel.set_xlabel("certified epsilon of a person, all rounds")
    panels[0].set_ylabel("accuracy (%)")
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(
        handles,
        labels,
        loc="outside lower center",
        ncols=3,
        frameon=False,
        fontsize=8,
    )
    return svg(figure, f"{title}: accuracy against certified epsilon")


TABLE_3 = table("APES Table 3: frameworks under Uniform2", ("uniform2",))
TABLE_4 = table("APES Table 4: frameworks under all budgets", DISTRIBUTIONS)
