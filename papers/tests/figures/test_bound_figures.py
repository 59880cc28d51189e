"""Figures of published bounds: the band is the accountant's, refuted claims are marked."""

from collections.abc import Mapping
from dataclasses import replace

import pytest

from shuffledp_papers.apes.figures import amplification_bounds as apes_bounds
from shuffledp_papers.figures.bound_figure import BAND_CURVES, BoundFigure
from shuffledp_papers.figures.result import Effort
from shuffledp_papers.figures.table import Table, number
from shuffledp_papers.hypothesis_testing.figures import bounds_by_population

FIGURES = (
    apes_bounds.FIGURE_2,
    bounds_by_population.PURE,
    bounds_by_population.APPROXIMATE,
)


def small(figure: BoundFigure) -> BoundFigure:
    return replace(figure, populations=figure.populations[:1], sizes=(300, 1_000))


@pytest.mark.slow
@pytest.mark.parametrize(
    "figure",
    [FIGURES[0], *(pytest.param(one, marks=pytest.mark.slow) for one in FIGURES[1:])],
    ids=["apes-fig2", "testing-fig4-pure", "testing-fig4-approximate"],
)
def test_attack_is_below_certificate_and_lower_claims_are_marked(
    figure: BoundFigure,
) -> None:
    shares: list[float] = []

    result = small(figure).run(Effort(1, 1, False, shares.append))

    assert shares == [0.5, 1.0]
    (panel,) = result.panels
    assert {curve.label for curve in panel.curves if curve.ours} == set(BAND_CURVES)
    for row in result.table.records():
        attack = number(row["attack"])
        assert attack <= number(row["certified"])
        for name in figure.bounds:
            claim, refuted = row[name], row[f"{name}: exceeded"]
            assert refuted is (None if claim is None else number(claim) < attack)


NAMES = (
    "people",
    "certified",
    "FMT22",
    "UniS eq. (2)",
    "EoN numerical",
    "EoN Theorem 4",
    "Clip-Laplace blanket (ours)",
)


def apes_table(*rows: Mapping[str, float | None]) -> Table:
    columns = ("people", "certified", *apes_bounds._BOUNDS)
    cells = tuple(tuple(row.get(name, 5.0) for name in columns) for row in rows)
    return Table(columns, cells)


def test_notes_of_apes_figures_are_counted_in_their_rows() -> None:
    first = dict(zip(NAMES, (10, 0.1, 2.0, 7.0, 1.0, None, 0.5), strict=True))
    second = dict(zip(NAMES, (1000, 1.0, 2.0, 5.0, 0.5, 1.5, 0.8), strict=True))
    table = apes_table(first, second)

    about_forms, about_order = apes_bounds.order_notes(table)
    reduction = apes_bounds.reduction_note(table)

    assert "2.5 to 3.5 times as large, where it is stated (2 of 2)" in about_forms
    assert "3.0 times as large, where it is stated (1 of 2)" in about_forms
    assert "EoN numerical at 2 of 2 points, and Theorem 4 at 1 of 2" in about_order
    assert "is below EoN numerical at 1 of 2 points" in about_order
    assert "is below all at 1 of 2 points" in about_order
    assert reduction.endswith("by people: 50.0 at 10, 75.0 at 1,000.")


@pytest.mark.slow
def test_apes_numbers_are_the_papers_at_ten_thousand_people() -> None:
    figure = replace(
        apes_bounds.FIGURE_2, populations=("apes/uniform2",), sizes=(10_000,)
    )

    table = figure.run(Effort(1, 1, False, lambda _share: None)).table

    (row,) = table.records()
    found = {name: number(row[name]) for name in ("certified", *figure.bounds)}
    assert found["EoN numerical"] == pytest.approx(0.0571, rel=0.02)
    assert found["EoN, p_i1 (ours)"] == pytest.approx(0.0766, rel=0.02)
    # The generic blanket, three times as large as EoN, and not that of Clip-Laplace.
    assert found["BBGN19 Bennett"] == pytest.approx(0.203, rel=0.01)
    assert found["BBGN19 Hoeffding"] == pytest.approx(0.203, rel=0.01)
    assert found["Clip-Laplace blanket (ours)"] == pytest.approx(0.0306, rel=0.01)
    assert found["UniS eq. (2)"] == pytest.approx(0.241, rel=0.01)
    assert all(found["EoN numerical"] < found[name] for name in apes_bounds.BASELINES)
    assert found["certified"] < found["EoN numerical"]
