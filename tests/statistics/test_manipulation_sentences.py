"""What people who lie can do is said in the unit of a number, and in standard errors."""

import json

import numpy as np
import polars as pl
import pytest

import shuffledp as sdp
from shuffledp.labels import SHARES, Display
from shuffledp.statistics.manipulation import Manipulation, manipulation_of


def manipulation(
    num_users: int, *, shift: float = 0.001, error: float = 0.01
) -> Manipulation:
    return manipulation_of(
        lambda number: [number * shift, number * shift / 2.0],
        num_users=num_users,
        errors=[error, error / 4.0],
    )


def test_both_shifts_are_stated_and_the_most_telling_error() -> None:
    said = manipulation(1_000).sentence(SHARES)

    # The second number has half the shift, and a quarter of the error.
    assert said == (
        "One person who lies moves a share by up to 0.1 percentage points (0.2 standard "
        "errors), 10 (1%) by up to 1 percentage points (2 standard errors)."
    )


@pytest.mark.parametrize(
    ("num_users", "num_liars"), [(1, 1), (49, 1), (149, 1), (151, 2), (10_000, 100)]
)
def test_one_percent_of_the_people_is_a_whole_number(
    num_users: int, num_liars: int
) -> None:
    moved = manipulation(num_users)

    assert moved.num_liars == num_liars
    assert (f"{num_liars} (" in moved.sentence(SHARES)) == (num_liars > 1)


def test_a_single_number_is_named_without_an_article_of_several() -> None:
    display = Display("mean", has_bars=False, is_single=True)

    said = manipulation(100).sentence(display)

    assert (
        said
        == "One person who lies moves the mean by up to 0.001 (0.2 standard errors)."
    )


def test_shifts_without_a_bound_are_no_numbers() -> None:
    moved = manipulation(1_000, shift=np.inf)

    assert (
        moved.sentence(SHARES)
        == "Nothing bounds how far one person who lies moves a share."
    )
    record = moved.to_dict()
    assert record["shift"] is None
    assert "Infinity" not in json.dumps(record)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("statistic", "options"),
    [
        ("frequency", {"value": "way"}),
        ("mean", {"value": "bit", "low": 0, "high": 1}),
        ("sum", {"value": "bit"}),
        ("strings", {"value": "way", "cohorts": 2, "bits": 32}),
        ("items", {"person": "person", "value": "way"}),
    ],
)
def test_every_statistic_states_it(statistic: str, options: dict[str, object]) -> None:
    frame = pl.DataFrame(
        {
            "person": list(range(2_000)),
            "way": ["bike", "train"] * 1_000,
            "bit": [0, 1] * 1_000,
            "epsilon": [2.0] * 2_000,
        }
    )
    given: dict[str, object] = {"level": "epsilon", "seed": 1, **options}

    result = sdp.rehearse(frame, statistic=statistic, **given)  # type: ignore[arg-type]

    record = result.summary.to_dict()["manipulation"]
    assert record["num_liars"] == 20
    assert record["shift"] == pytest.approx(20 * record["shift_by_one"], rel=1e-9)
    worst = max(row.standard_error for row in result.summary.rows)
    assert record["shift_in_errors"] >= record["shift"] / worst * (1.0 - 1e-9)
    flat = " ".join(str(result).split())
    assert "One person who lies moves" in flat
    assert result.summary.sentences[-1] in flat
