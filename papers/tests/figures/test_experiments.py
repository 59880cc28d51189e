"""Experiments with random numbers run, and theirs are those of the library."""

import csv
import io
from xml.etree import ElementTree

import numpy as np
import pytest

from shuffledp import Frequency, Laplace, Mean, account
from shuffledp_papers.apes.figures.message_moments import run_bias, run_variance
from shuffledp_papers.eapes.figures import average as eapes_average
from shuffledp_papers.eapes.figures import frequency_estimation as eapes_frequency
from shuffledp_papers.eapes.figures.three_groups import (
    DELTA,
    NUM_USERS,
    SETTINGS,
    ThreeGroups,
)
from shuffledp_papers.figures.experiments import EXPERIMENTS
from shuffledp_papers.figures.result import Effort

SIMULATED = (
    "eapes-average",
    "eapes-frequency",
    "apes-fig6",
    "apes-fig9",
    "apes-fig10",
)
OTHERS = (SIMULATED[0], *SIMULATED[2:])
# The last of f_c, and one of epsilon_c.
FEW = (SETTINGS[5], SETTINGS[8])


@pytest.fixture(autouse=True)
def _few_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (eapes_average, eapes_frequency):
        monkeypatch.setattr(module, "SETTINGS", FEW)


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [SIMULATED[1], *(pytest.param(name, marks=pytest.mark.slow) for name in OTHERS)],
)
def test_results_are_tables_and_pictures(name: str) -> None:
    done: list[float] = []

    result = EXPERIMENTS[name].run(Effort(2, 1, False, done.append))

    header, *rows = csv.reader(io.StringIO(result.to_csv()))
    assert tuple(header) == result.table.columns
    assert [len(row) for row in rows] == [len(header)] * len(result.table.rows)
    assert ElementTree.fromstring(result.svg).tag.endswith("svg")
    assert done == sorted(done)
    assert done[-1] == pytest.approx(1.0, rel=1e-12)
    assert np.all(
        np.isfinite([c for r in result.table.rows for c in r if isinstance(c, float)])
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [
        SIMULATED[2],
        *(pytest.param(name, marks=pytest.mark.slow) for name in SIMULATED[3:]),
    ],
)
def test_the_same_seed_gives_the_same_table(name: str) -> None:
    first, again, other = (
        EXPERIMENTS[name].run(Effort(2, seed, False, lambda _share: None))
        for seed in (1, 1, 2)
    )

    assert first.to_csv() == again.to_csv() != other.to_csv()


@pytest.mark.slow
def test_frequency_is_algorithm_3_and_as_far_off_as_predicted() -> None:
    table = eapes_frequency.run(Effort(300, 1, False, lambda _share: None)).table

    simulated = table.numbers("Frequency")
    # Rounding.
    assert table.numbers("Algorithm 3") == pytest.approx(simulated, rel=1e-9)
    # 300 runs know a deviation to 4.1%: four times that.
    assert table.numbers("predicted") == pytest.approx(simulated, rel=0.17)
    # And a coverage of 95% to 1.3%.
    assert all(0.9 < held < 0.99 for held in table.numbers("in interval"))
    for setting, row in zip(FEW, table.records(), strict=True):
        certified = account(Frequency(2), setting.people, delta=DELTA)
        central = [row[f"cert. {group}"] for group in "CML"]
        assert central == [e.epsilon_central for e in certified.levels]


@pytest.mark.slow
def test_average_is_as_far_off_as_predicted_at_the_guarantee_of_algorithm_2() -> None:
    table = eapes_average.run(Effort(200, 1, False, lambda _share: None)).table

    for name in ("Laplace", "one bit"):
        # 200 runs know a deviation to 5%, that of Laplace sums too: four times that.
        predicted = table.numbers(f"{name} predicted")
        assert table.numbers(name) == pytest.approx(predicted, rel=0.2)
    assert all(ratio < 0.2 for ratio in table.numbers("ratio"))
    for setting, row in zip(FEW, table.records(), strict=True):
        laplace = Mean(20.0, 80.0, randomizer=Laplace(20.0, 80.0))
        certified = account(laplace, setting.people, delta=DELTA)
        central = [row[f"cert. {group}"] for group in "CML"]
        assert central == [e.epsilon_central for e in certified.levels]


@pytest.mark.slow
def test_moments_of_clip_laplace_are_those_simulated() -> None:
    effort = Effort(20_000, 1, False, lambda _share: None)
    variance, bias = run_variance(effort).table, run_bias(effort).table

    # A nearly uniform message: 20,000 draws know its variance to 0.7%.
    assert variance.numbers("simulated") == pytest.approx(
        variance.numbers("Clip-Laplace"), rel=0.035
    )
    off = np.subtract(bias.numbers("simulated"), bias.numbers("Clip-Laplace"))
    # Five standard errors, twenty numbers: a false alarm in 1e-5 of all seeds.
    assert np.all(np.abs(off) < 5.0 * np.array(bias.numbers("standard error")))


def test_settings_are_the_populations_of_the_paper() -> None:
    usual = ThreeGroups("f_c", 0.54, 0.1)

    assert dict(
        zip(usual.people.epsilons.tolist(), usual.people.counts.tolist(), strict=True)
    ) == {0.1: 5400, 0.5: 3700, 1.0: 900}
    assert all(setting.people.num_users == NUM_USERS for setting in SETTINGS)
    hidden = 5400 / (1 + np.e**0.1) + 3700 / (1 + np.e**0.5) + 899 / (1 + np.e)
    assert usual.mu == pytest.approx((2.0 / hidden) ** 0.5, rel=1e-12)
    assert (ThreeGroups("f_c", 0.3, 0.1).at, ThreeGroups("epsilon_c", 0.3, 0.1).at) == (
        0.3,
        0.1,
    )
