"""Numbers that rows on remarks of the text name are those of stored results."""

import csv
import json
from pathlib import Path

import pytest

import shuffledp
from shuffledp_papers.segmented.privacy import smallest_blanket

RESULTS = Path(shuffledp.__file__).parents[2] / "docs" / "papers" / "results"
pytestmark = pytest.mark.skipif(not RESULTS.is_dir(), reason="docs/ is not here")


def rows(name: str) -> list[dict[str, str]]:
    text = (RESULTS / f"{name}.csv").read_text(encoding="utf-8")
    return list(csv.DictReader(text.splitlines()))


def test_reductions_of_apes_over_its_baselines() -> None:
    # The printed columns of Table 3, and accuracies here.
    table = {row["framework"]: row for row in rows("apes-table3")}
    printed = {name: float(row["round, printed"] or 0) for name, row in table.items()}

    reduced = {
        name: 1.0 - printed["S-APES, top-b"] / printed[name]
        for name in ("APES", "UniS", "PLDP")
    }
    assert reduced["APES"] == pytest.approx(0.556, abs=5e-4)
    assert reduced["UniS"] == pytest.approx(0.667, abs=5e-4)
    assert reduced["PLDP"] == pytest.approx(0.997, abs=5e-4)
    assert 1.0 - printed["APES"] / printed["UniS"] == pytest.approx(0.251, abs=5e-4)
    accuracy = [
        float(table[name]["accuracy, printed"]) for name in ("APES", "S-APES, top-b")
    ]
    assert 1.0 - accuracy[1] / accuracy[0] == pytest.approx(0.0192, abs=5e-5)
    stored = json.loads((RESULTS / "apes-table3.json").read_text(encoding="utf-8"))
    own, baseline = (
        float(compared["printed"])
        for name in ("APES", "UniS")
        for compared in stored["comparisons"]
        if compared["what"] == f"epsilon of one coordinate, {name}, uniform2"
    )
    assert 1.0 - own / baseline == pytest.approx(0.174, abs=5e-4)


def test_accuracy_at_a_fifth_of_the_coordinates() -> None:
    (sparse,) = (
        float(row["accuracy"])
        for row in rows("apes-fig5")
        if (row["b / d"], row["kept"]) == ("0.2", "top-b, as published")
    )
    (full,) = (float(r["accuracy"]) for r in rows("apes-fig5") if r["kept"] == "APES")

    assert full - sparse == pytest.approx(3.7, abs=0.05)


def test_approximate_budgets_with_gaussian_noise_have_the_smaller_bound() -> None:
    pure, approximate = (
        [float(row["Liu et al. 2024, Theorem 2"]) for row in rows(name)]
        for name in ("testing-fig4-pure", "testing-fig4-approximate")
    )

    ratios = [p / a for p, a in zip(pure, approximate, strict=True)]
    assert min(ratios) > 7.0
    assert max(ratios) < 10.0


def segmented(column: str, size: int) -> dict[str, float]:
    return {
        row["setting"]: float(row[column])
        for row in rows("segmented-gain")
        if row["reading"] == "together" and row["setting"].endswith(f"n={size}")
    }


def test_weighted_messages_gain_with_liberal_people_only_where_there_are_few() -> None:
    few, many = (segmented("Weighted SepMM", size) for size in (5000, 50000))

    assert few["msnbc S3 s=4 n=5000"] < few["msnbc S2 s=4 n=5000"]
    assert many["msnbc S2 s=4 n=50000"] == pytest.approx(2.11e-5, rel=2e-3)
    assert many["msnbc S3 s=4 n=50000"] == pytest.approx(2.72e-5, rel=2e-3)


def test_how_often_the_best_number_of_messages_is_below_four() -> None:
    best = [
        float(row["m"])
        for figure in range(2, 7)
        for row in rows(f"segmented-fig{figure}")
        if row["protocol"] == "Wang et al. 2025" and row["m: best"] == "yes"
    ]

    assert len(best) == 18
    assert sum(m < 4.0 for m in best) == 11


def test_ten_times_the_people_have_a_fraction_of_the_error() -> None:
    few, many = (segmented("published, best m", size) for size in (5000, 50000))

    ratio = few["msnbc S1 s=4 n=5000"] / many["msnbc S1 s=4 n=50000"]
    assert ratio == pytest.approx(36.3, abs=0.05)


def ratios_below_others(name: str) -> list[float]:
    """By how many times Theorem 2 is below the smallest of the other bounds."""
    others = ("BBGN:", "FV:", "CCC:", "LZX:")
    return [
        min(
            float(cell)
            for column, cell in row.items()
            if column.startswith(others) and "exceeded" not in column
        )
        / float(row["Liu et al. 2024, Theorem 2"])
        for row in rows(name)
    ]


def test_the_bound_by_hypothesis_tests_is_the_smallest_and_by_how_much() -> None:
    pure = ratios_below_others("testing-fig4-pure")
    approximate = ratios_below_others("testing-fig4-approximate")

    assert len(pure) + len(approximate) == 24
    assert min(pure) > 1.0
    assert max(pure) == pytest.approx(1.7, abs=0.05)
    assert min(approximate) == pytest.approx(8.5, abs=0.05)
    assert max(approximate) == pytest.approx(14.6, abs=0.05)


@pytest.mark.parametrize(
    ("column", "below"),
    [("accuracy, printed", {"gauss1"}), ("accuracy", {"uniform1", "uniform2"})],
)
def test_under_which_budgets_s_apes_is_below_unis(column: str, below: set[str]) -> None:
    table = {
        (row["distribution"], row["framework"]): float(row[column])
        for row in rows("apes-table4")
    }
    names = {name for name, _ in table}

    assert len(names) == 6
    for name in names:
        assert table[name, "APES"] > table[name, "UniS"]
        assert table[name, "APES"] > table[name, "S-APES, top-b"]
        is_below = table[name, "S-APES, top-b"] < table[name, "UniS"]
        assert is_below == (name in below)


def test_the_best_number_of_messages_grows_with_domain_and_sets() -> None:
    best = {
        row["setting"]: float(row["m"])
        for figure in (2, 3)
        for row in rows(f"segmented-fig{figure}")
        if row["protocol"] == "Wang et al. 2025" and row["m: best"] == "yes"
    }

    for size, named in ((5000, (2.0, 4.5, 17.2)), (50000, (0.3, 1.8, 7.1))):
        found = [
            best[f"{setting} n={size}"]
            for setting in ("msnbc S1 s=4", "synthetic S1 s=4", "synthetic S1 s=8")
        ]
        assert found == pytest.approx(named, abs=0.05)
        assert found == sorted(found)


def test_the_order_of_the_number_of_messages() -> None:
    def smallest(num_users: int, num_items: int = 128, epsilon: float = 0.2) -> float:
        return smallest_blanket(
            num_users, num_items=num_items, epsilon=epsilon, delta=1e-6
        )

    base = smallest(5000)

    assert smallest(50000) == pytest.approx(base / 10.0, rel=0.05)
    assert smallest(5000, num_items=256) == pytest.approx(2.0 * base, rel=0.05)
    assert smallest(5000, epsilon=0.1) == pytest.approx(4.0 * base, rel=0.15)


def test_the_distance_from_the_normal_limit_falls_like_one_over_the_root() -> None:
    constants = {
        int(row["people"]): float(row["C of total variation"])
        for row in rows("eapes-lemma3")
    }

    # Times the root it has a limit; what falls like 1 / n would fall by half.
    largest = max(constants)
    assert 0.5 < constants[1000] <= constants[largest] < 0.53
