"""Experiments of the lecture notes run, and compare with the printed numbers."""

from xml.etree import ElementTree

import pytest

from shuffledp_papers.figures.experiments import EXPERIMENTS
from shuffledp_papers.figures.result import Effort
from shuffledp_papers.lecture_notes.figures import excess_risk, numbers, selection_loss

QUICK = ("notes-response", "notes-lower-bound", "notes-one-bit", "notes-rappor")
NAMES = tuple(name for name in EXPERIMENTS if name.startswith("notes-"))
OTHERS = tuple(name for name in NAMES if name not in QUICK)


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(selection_loss, "CANDIDATES", (2, 4))
    monkeypatch.setattr(numbers, "BUDGETS", (0.1, 0.2, 0.4))
    monkeypatch.setattr(
        excess_risk,
        "VARIED",
        (("people", (1_000, 2_000)), ("dimensions", (2, 4)), ("epsilon", (0.5, 1.0))),
    )


@pytest.mark.few_cases(1)
@pytest.mark.parametrize(
    "name", [*QUICK, *(pytest.param(name, marks=pytest.mark.slow) for name in OTHERS)]
)
def test_results_are_tables_pictures_and_comparisons(name: str) -> None:
    done: list[float] = []

    result = EXPERIMENTS[name].run(Effort(3, 1, False, done.append))

    ElementTree.fromstring(result.svg)
    assert result.table.rows
    assert done[-1] == 1.0
    for compared in result.comparisons:
        float(compared.printed)


def test_what_is_misprinted_is_found_to_differ() -> None:
    result = EXPERIMENTS["notes-rappor"].run(Effort(50, 1, False, lambda _: None))

    agrees = [compared.agrees for compared in result.comparisons]
    assert agrees == [False, True, False, True]
