"""Nearest possible numbers: against optimization, step by step, and by hand."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from scipy.optimize import LinearConstraint, minimize

import shuffledp as sdp
from shuffledp.analyzer.projection import project, project_monotone, project_within
from shuffledp.statistics.questionnaire.agreeing_tables import agreeing_tables

Array = np.ndarray[Any, np.dtype[np.float64]]


def cases() -> Iterator[tuple[Array, float]]:
    """Yields points and totals of all sizes, with ties and zeros among them."""
    rng = np.random.default_rng(6)
    for size in range(1, 9):
        for total in rng.uniform(0.1, 4.0, 25).tolist():
            yield rng.uniform(-5.0, 5.0, size), total
            yield rng.integers(-2, 3, size).astype(float), total


def norm_sub(values: Array, total: float) -> Array:
    """Norm-Sub of Wang et al. (2020), step by step: the oracle of `project`."""
    numbers = values.copy()
    for _ in range(values.size):
        numbers = np.where(numbers > 0.0, numbers, 0.0)
        positive = numbers > 0.0
        missing = total - numbers.sum()
        numbers[positive] += missing / positive.sum()
    return np.maximum(numbers, 0.0)


def quadratic(values: Array, *conditions: LinearConstraint) -> Array:
    """Returns the nearest point that keeps linear conditions, by SciPy."""
    # Its types know no conditions on a plain function.
    solve: Any = minimize
    solved = solve(
        lambda x: ((x - values) ** 2).sum(),
        np.full(values.size, 1.0 / values.size),
        jac=lambda x: 2.0 * (x - values),
        constraints=conditions,
        method="trust-constr",
        options={"gtol": 1e-10, "xtol": 1e-12, "maxiter": 2_000},
    )
    return np.asarray(solved.x)


def test_projection_onto_the_simplex_is_norm_sub() -> None:
    for free, total in cases():
        # Norm-Sub never raises what is negative; where positive numbers add up to less
        # than the total, the nearest point may.
        values = np.append(free, total)

        np.testing.assert_allclose(
            project(values, total), norm_sub(values, total), atol=1e-9
        )


def test_projections_stay_where_they_are_and_keep_the_sum() -> None:
    for values, total in cases():
        once = project_within(values, total)
        for nearest in (project(values, total), once):
            assert nearest.min() >= 0.0
            assert nearest.sum() <= total * (1.0 + 1e-12) + 1e-12
        np.testing.assert_allclose(project(values, total).sum(), total, atol=1e-9)
        np.testing.assert_allclose(project_within(once, total), once, atol=1e-12)
        rising = project_monotone(values)
        np.testing.assert_allclose(project_monotone(rising), rising, atol=1e-12)


def test_rows_are_projected_by_themselves() -> None:
    rows = np.random.default_rng(1).normal(size=(2, 5, 4))

    expected = [[project(row, 1.0) for row in block] for block in rows]
    np.testing.assert_array_equal(project(rows, 1.0), expected)
    within = [[project_within(row, 1.0) for row in block] for block in rows]
    np.testing.assert_array_equal(project_within(rows, 1.0), within)


@pytest.mark.parametrize("seed", range(3))
def test_projections_are_those_of_quadratic_programs(seed: int) -> None:
    values = np.random.default_rng(seed).normal(0.3, 0.5, 5)
    positive = LinearConstraint(np.eye(5), 0.0, np.inf)
    atol = 1e-4  # Of the program: its barrier stops that far from the border.

    at_most = quadratic(values, positive, LinearConstraint(np.ones((1, 5)), 0.0, 1.0))
    np.testing.assert_allclose(project_within(values, 1.0), at_most, atol=atol)

    steps = np.diff(np.eye(5), axis=0)
    rising = quadratic(
        values,
        LinearConstraint(np.eye(5), 0.0, 1.0),
        LinearConstraint(steps, 0.0, np.inf),
    )
    np.testing.assert_allclose(project_monotone(values), rising, atol=atol)


def test_agreeing_tables_are_those_of_a_quadratic_program() -> None:
    sizes, pairs = (2, 3, 2), [(2, 3), (2, 2), (3, 2)]
    values = np.random.default_rng(3).normal(0.2, 0.3, 16)
    tables = [
        part.reshape(pair)
        for part, pair in zip(np.split(values, [6, 10]), pairs, strict=True)
    ]

    nearest = agreeing_tables(tables, sizes, 1.0)

    # Rows of conditions: totals, and differences of the margins of each attribute.
    def margin(index: int, axis: int) -> Array:
        rows = np.zeros((pairs[index][axis], 16))
        places = np.split(np.arange(16), [6, 10])[index].reshape(pairs[index])
        for category, cells in enumerate(np.moveaxis(places, axis, 0)):
            rows[category, cells] = 1.0
        return rows

    same = [(margin(0, 0), margin(1, 0)), (margin(0, 1), margin(2, 0))]
    same.append((margin(1, 1), margin(2, 1)))
    equal = np.concatenate([one - other for one, other in same])
    totals = np.stack([margin(index, 0).sum(axis=0) for index in range(3)])
    # One difference of each margin follows from the others and the totals.
    equal = np.delete(equal, [0, 2, 5], axis=0)
    program = quadratic(
        values,
        LinearConstraint(np.eye(16), 0.0, np.inf),
        LinearConstraint(totals, 1.0, 1.0),
        LinearConstraint(equal, 0.0, 0.0),
    )
    found = np.concatenate([table.ravel() for table in nearest])
    # The program stops 1e-4 from the border; its distance is no smaller than that found.
    np.testing.assert_allclose(found, program, atol=1e-3)
    assert found.min() >= 0.0
    assert ((found - values) ** 2).sum() <= ((program - values) ** 2).sum() + 1e-6
    np.testing.assert_allclose(totals @ found, 1.0, atol=1e-7)
    np.testing.assert_allclose(equal @ found, 0.0, atol=1e-7)


def test_tables_that_agree_stay_as_they_are() -> None:
    joint = np.random.default_rng(4).dirichlet(np.ones(24)).reshape(2, 3, 4)
    tables = [joint.sum(axis=2), joint.sum(axis=1), joint.sum(axis=0)]

    for table, nearest in zip(
        tables, agreeing_tables(tables, (2, 3, 4), 1.0), strict=True
    ):
        np.testing.assert_allclose(nearest, table, atol=1e-9)


def test_consistent_frequencies_are_nearer_and_keep_their_intervals() -> None:
    shares, errors = np.array([0.8, 0.3, -0.05, -0.05]), np.full(4, 0.1)
    raw = sdp.FrequencyEstimate(shares, errors, 100, "agnostic")

    consistent = raw.consistent()

    assert consistent.raw is raw
    assert consistent.value.tolist() == pytest.approx([0.75, 0.25, 0.0, 0.0])
    low, high = consistent.interval().T
    raw_low, raw_high = raw.interval().T
    assert low.tolist() == pytest.approx(np.maximum(raw_low, 0.0).tolist())
    assert high.tolist() == pytest.approx(np.minimum(raw_high, 1.0).tolist())
    assert consistent.standard_error is raw.standard_error


@pytest.mark.parametrize("truth", [(0.0, 0.0), (0.0, 2.0), (1.0, 1.0), (0.3, 0.9)])
def test_projections_come_nearer_to_every_possible_truth(
    truth: tuple[float, float],
) -> None:
    noisy = np.array(truth) + np.random.default_rng(5).normal(0, 0.4, (200, 2))

    nearest = project_within(noisy, 2.0)

    before = ((noisy - truth) ** 2).sum(axis=1)
    after = ((nearest - truth) ** 2).sum(axis=1)
    assert np.all(after <= before + 1e-12)
