"""What is left if shuffler and analyst work together is stated, bounded and verified."""

import io
import math
from dataclasses import replace
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from rich.console import Console

import shuffledp as sdp
from shuffledp.accounting.coalition import coalition_bound, coalition_note
from shuffledp.accounting.guarantee import FORMAT
from shuffledp.errors import DataError
from shuffledp.report.terminal import guarantee_table
from shuffledp.text_tables import as_text

PEOPLE = sdp.Population.from_counts({0.5: 100, 1.0: 200})
ITEMS = sdp.Items(3, 1, (1.0,), (1.0,), blanket=0.5)
TARGETS = sdp.Population.from_counts({1.0: 5_000})


@pytest.mark.parametrize("epsilon", [0.3, 1.0, 3.0])
@pytest.mark.parametrize("times", [1, 2, 3])
def test_all_reports_of_a_person_are_as_telling_as_stated_and_no_more(
    epsilon: float, times: int
) -> None:
    device = sdp.KRandomizedResponse(3)
    keep, flip = (float(p[0]) for p in device.densities(np.array([epsilon])))

    stated, delta = coalition_bound(device, epsilon, times=times)

    # Reports are independent: all sequences of them, with value 0 and with value 1.
    ratios = [
        math.prod(
            (keep if sent == 0 else flip) / (keep if sent == 1 else flip)
            for sent in reports
        )
        for reports in product(range(3), repeat=times)
    ]
    worst = math.log(max(ratios))
    assert delta == 0.0
    # Devices' probabilities are rounded so that a level is kept with a small margin.
    assert worst <= stated
    assert worst >= stated * (1.0 - 1e-9)


@pytest.mark.parametrize("times", [1, 2, 7, 1000])
def test_products_are_rounded_upward(times: int) -> None:
    device = sdp.Gaussian(0.0, 1.0, delta_local=1e-9)

    epsilon, delta = coalition_bound(device, 0.1, times=times)

    assert Fraction(epsilon) >= times * Fraction(0.1)
    assert Fraction(delta) >= times * Fraction(1e-9)
    assert epsilon <= times * 0.1 * (1.0 + 1e-12)


@pytest.mark.parametrize(
    ("level", "rounds", "shown"),
    [(0.5, 10, "5"), (1.0, 10**8, "100000000"), (0.1, 3, "0.300001")],
)
def test_budgets_of_several_rounds_have_six_digits_at_most(
    level: float, rounds: int, shown: str
) -> None:
    people = sdp.Population.from_counts({level: 100})
    guarantee = sdp.account(sdp.Frequency(17), people, delta=1e-6, rounds=rounds)

    stated = guarantee.levels[0].epsilon_coalition or 0.0
    exact = rounds * Fraction(level)
    # The smallest double that is not below the exact number.
    assert Fraction(math.nextafter(stated, 0.0)) < exact <= Fraction(stated)
    assert float(shown) >= stated
    assert guarantee.views()[0].rows[0][3] == shown
    assert guarantee.coalition[0].endswith(f" left: epsilon {shown}.")


@pytest.mark.slow
def test_certificates_of_former_versions_hold() -> None:
    people = sdp.Population.from_counts({0.5: 1, 1.0: 1})
    guarantee = sdp.account(sdp.Frequency(3), people, delta=1e-9, rounds=10, absent=1)
    # They raised every product by more than its rounding error.
    levels = tuple(
        replace(
            level,
            epsilon_coalition=10 * level.chosen * (1.0 + 4e-16),
            epsilon_central=max(
                level.epsilon_central, 10 * level.chosen * (1.0 + 4e-16)
            ),
        )
        for level in guarantee.levels
    )

    verification = sdp.verify(replace(guarantee, levels=levels).to_dict())

    assert [level.epsilon_coalition for level in levels] > [5.0, 10.0]
    assert verification.holds
    assert verification.weaker


def test_a_delta_is_at_most_one() -> None:
    device = sdp.Gaussian(0.0, 1.0, delta_local=0.5)
    assert coalition_bound(device, 0.1, times=3)[1] == 1.0


def test_single_messages_keep_their_level() -> None:
    guarantee = sdp.account(sdp.Frequency(3), PEOPLE, delta=1e-4)

    left = [level.epsilon_coalition for level in guarantee.levels]

    assert left == [0.5, 1.0]
    (note,) = guarantee.coalition
    assert note.endswith(
        "local guarantee is all that is left: epsilon 0.5 and 1, by level."
    )
    assert note in " ".join(as_text(*guarantee.views()).split())
    assert not any("together" in heading for heading in _headings(guarantee))


@pytest.mark.slow
def test_several_rounds_are_added_up_in_a_column_of_their_own() -> None:
    guarantee = sdp.account(sdp.Frequency(3), PEOPLE, delta=1e-4, rounds=3)

    assert [level.epsilon_coalition for level in guarantee.levels] == [
        pytest.approx(1.5, rel=1e-15),
        pytest.approx(3.0, rel=1e-15),
    ]
    assert "shuffler and analyst together" in _headings(guarantee)


@pytest.mark.slow
def test_many_levels_are_named_by_their_ends() -> None:
    people = sdp.Population.from_counts({0.1 * j: 50 for j in range(1, 6)})
    guarantee = sdp.account(sdp.Frequency(3), people, delta=1e-4)

    assert coalition_note(guarantee.statements) == guarantee.coalition[0]
    assert guarantee.coalition[0].endswith("epsilon 0.1 to 0.5, by level.")


def test_a_local_delta_is_named() -> None:
    mean = sdp.Mean(0.0, 1.0, randomizer=sdp.Gaussian(0.0, 1.0, delta_local=1e-9))
    guarantee = sdp.account(mean, sdp.Population.from_counts({1.0: 100}), delta=1e-4)

    assert guarantee.levels[0].delta_coalition == 1e-9
    assert guarantee.coalition[0].endswith("left: epsilon 1, at delta 1e-09.")


def test_sets_of_items_have_no_local_guarantee() -> None:
    guarantee = sdp.account(ITEMS, TARGETS, delta=1e-6)

    assert guarantee.levels[0].epsilon_coalition is None
    assert guarantee.coalition == ()
    assert sum("no local guarantee" in text for text in guarantee.cautions) == 1
    assert guarantee.to_dict()["levels"][0]["epsilon_coalition"] is None
    assert "no guarantee" in as_text(*guarantee.views())
    assert guarantee_table(guarantee) is not None


def _displayed(guarantee: sdp.Guarantee) -> str:
    console = Console(width=200, file=io.StringIO(), record=True)
    console.print(guarantee_table(guarantee))
    return console.export_text()


@pytest.mark.parametrize(("local_epsilon", "decides"), [(0.1, True), (3.0, False)])
def test_a_list_says_that_devices_decide_only_where_they_do(
    local_epsilon: float, decides: bool
) -> None:
    group = sdp.CountGroup(1, 1, sdp.PoissonNoise(60.0))
    counts = sdp.Counts((group,), (1.0,), (1.0,), 5_000, local_epsilon=local_epsilon)

    guarantee = sdp.account([counts, counts], TARGETS, delta=1e-6)

    (level,) = guarantee.levels
    assert level.epsilon_coalition == 2.0 * local_epsilon
    assert level.epsilon_central < 2.0 * local_epsilon
    assert level.rests_on == ("device" if decides else "composition")
    sentence = "Nothing better is proven for target 1 than what a device keeps alone."
    assert (sentence in _displayed(guarantee)) == decides


@pytest.mark.few_cases(1)
@pytest.mark.parametrize(
    ("protocol", "people"), [(sdp.Frequency(3), PEOPLE), (ITEMS, TARGETS)]
)
def test_certificates_are_read_as_they_were_written(
    protocol: Any, people: sdp.Population
) -> None:
    guarantee = sdp.account(protocol, people, delta=1e-4)

    verification = sdp.verify(guarantee.to_dict())

    assert verification.holds
    assert verification.recomputed == guarantee


@pytest.mark.few_cases(1)
@pytest.mark.parametrize(
    ("epsilon", "holds"), [(0.49, False), (0.5, True), (0.6, True), (None, True)]
)
def test_no_more_than_is_proven_may_be_claimed(
    *, epsilon: float | None, holds: bool
) -> None:
    guarantee = sdp.account(sdp.Frequency(3), PEOPLE, delta=1e-4)
    first, *others = guarantee.levels
    claimed = replace(first, epsilon_coalition=epsilon)
    forged = replace(guarantee, levels=(claimed, *others))

    verification = sdp.verify(forged.to_dict())

    assert verification.holds == holds
    assert (
        any("shuffler and analyst" in text for text in verification.problems) != holds
    )


def test_nothing_may_be_claimed_for_sets_of_items() -> None:
    guarantee = sdp.account(ITEMS, TARGETS, delta=1e-6)
    level = replace(guarantee.levels[0], epsilon_coalition=50.0)

    verification = sdp.verify(replace(guarantee, levels=(level,)).to_dict())

    assert not verification.holds


def test_former_formats_are_refused_with_what_to_do() -> None:
    record = sdp.account(sdp.Frequency(3), PEOPLE, delta=1e-4).to_dict()
    record["format"] = "shuffledp-guarantee-2"

    with pytest.raises(DataError) as refused:
        sdp.verify(record)

    for words in (
        FORMAT,
        "got 'shuffledp-guarantee-2'",
        "compute it again",
        "`version`",
    ):
        assert words in str(refused.value)


@pytest.mark.few_cases(2)
@pytest.mark.parametrize("given", [None, 3, "", "other-2", ["shuffledp-guarantee-2"]])
def test_other_files_are_refused_without_their_content(given: object) -> None:
    record = sdp.account(sdp.Frequency(3), PEOPLE, delta=1e-4).to_dict()
    record["format"] = given

    with pytest.raises(DataError) as refused:
        sdp.verify(record)
    assert "got" not in str(refused.value)


def _headings(guarantee: sdp.Guarantee) -> tuple[str, ...]:
    return guarantee.views()[0].headings
