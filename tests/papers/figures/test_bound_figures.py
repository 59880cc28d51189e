"""Figures of published bounds: the band is the accountant's, refuted claims are marked."""

from dataclasses import replace
from xml.etree import ElementTree

import pytest

from shuffledp.papers.figures import bound_figures, testing_clones, testing_table
from shuffledp.papers.figures.bound_figure import REFUTED, BoundFigure

FIGURES = (
    bound_figures.APES_FIGURE_2,
    bound_figures.EAPES_FIGURE_4,
    bound_figures.TESTING_FIGURE_4_PURE,
    bound_figures.TESTING_FIGURE_4_APPROXIMATE,
)


def small(figure: BoundFigure) -> BoundFigure:
    return replace(figure, populations=figure.populations[:1], sizes=(300, 1_000))


@pytest.mark.parametrize(
    "figure",
    [FIGURES[0], *(pytest.param(one, marks=pytest.mark.slow) for one in FIGURES[1:])],
    ids=lambda figure: figure.title,
)
def test_attack_is_below_certificate_and_lower_claims_are_marked(
    figure: BoundFigure,
) -> None:
    shares: list[float] = []

    result = small(figure).run(1, 1, shares.append)

    assert shares == [0.5, 1.0]
    ElementTree.fromstring(result.svg)
    for row in result.rows:
        assert len(row) == len(result.columns)
        attack, certified = float(row[3]), float(row[4])
        assert attack <= certified
        for claim in row[5:]:
            if claim != "-":
                refuted = str(claim).endswith(REFUTED)
                assert refuted == (float(str(claim).removesuffix(REFUTED)) < attack)


def test_apes_numbers_are_the_papers_at_ten_thousand_people() -> None:
    figure = replace(
        bound_figures.APES_FIGURE_2, populations=("apes/uniform2",), sizes=(10_000,)
    )

    (row,) = figure.run(1, 1, lambda _share: None).rows

    found = dict(zip(("attack", "certified", *figure.bounds), row[3:], strict=True))
    assert float(found["APES"]) == pytest.approx(0.0571, rel=0.02)
    assert float(found["with p_i1"]) == pytest.approx(0.0766, rel=0.02)
    assert float(found["certified"]) < float(found["APES"])


@pytest.mark.slow
def test_printed_table_does_not_follow_from_its_theorem() -> None:
    result = testing_table.run(1, 1, lambda _share: None)

    for epsilon, attack, certified, theorem, printed, *_ in result.rows:
        assert float(attack) <= float(certified)
        # It refutes neither the theorem nor what is printed.
        assert float(attack) < float(theorem) < 0.01 * float(printed)
        assert float(epsilon) in testing_table.PRINTED


def test_blanket_weights_fall_with_the_budget_of_others() -> None:
    result = testing_clones.run(1, 1, lambda _share: None)

    for victim in testing_clones.VICTIMS:
        weights = [float(row[4]) for row in result.rows if row[0] == victim]
        assert weights == sorted(weights, reverse=True)
        assert all(0.0 < weight <= 1.0 for weight in weights)
