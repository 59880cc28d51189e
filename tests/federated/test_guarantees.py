import json
import math
from itertools import pairwise

import numpy as np
import pytest

from shuffledp import InvalidInputError, Population, PopulationError, account
from shuffledp.federated.guarantees import (
    FRAMEWORKS,
    TrainingGuarantee,
    certify_training,
)
from shuffledp.federated.local_composition import local_composition
from shuffledp.federated.published_training import stated_by_apes
from shuffledp.randomizers.clip_laplace import ClipLaplace
from shuffledp.randomizers.kary_response import KRandomizedResponse
from shuffledp.randomizers.laplace import Laplace
from shuffledp.statistics.single_message import SingleMessage

DELTA = 3.6e-5
FEW = Population.from_counts({0.1: 300, 1.0: 700})
CENTRAL = ["apes", "s-apes-threshold", "one-bit-apes", "unis", "random-sparsification"]


def uniform2() -> Population:
    budgets = 0.05 + 0.95 * (np.arange(10_000) + 0.5) / 10_000
    budgets[-1] = 1.0
    return Population.from_budgets(budgets)


def small(framework: str, **settings: float) -> TrainingGuarantee:
    wanted = {"clip": 0.1, "coordinates": 40, "rounds": 2, "delta": 1e-5} | settings
    return certify_training(
        framework,
        FEW,
        clip=wanted["clip"],
        coordinates=int(wanted["coordinates"]),
        rounds=int(wanted["rounds"]),
        delta=wanted["delta"],
        share=wanted.get("share", 0.2),
    )


@pytest.mark.parametrize(
    ("framework", "user", "coordinate"),
    [("apes", 2.2, 0.0290), ("s-apes-threshold", 1.03, 0.0147)],
)
def test_most_liberal_of_ten_thousand_people(
    framework: str, user: float, coordinate: float
) -> None:
    guarantee = certify_training(
        framework, uniform2(), clip=0.1, coordinates=7850, rounds=1, delta=DELTA
    )

    quantiles = [level.quantile for level in guarantee.levels]
    assert quantiles == [
        "minimum",
        "lower quartile",
        "median",
        "upper quartile",
        "maximum",
    ]
    worst = guarantee.worst
    assert worst.epsilon_local == 1.0
    assert worst.user_central is not None
    assert worst.user_central_lower is not None
    assert worst.coordinate_central is not None
    assert 0.9 * worst.user_central < worst.user_central_lower <= worst.user_central
    assert worst.user_central <= user
    assert worst.coordinate_central <= coordinate
    for lower, higher in pairwise(guarantee.levels):
        assert (lower.user_central or 0.0) < (higher.user_central or 0.0)


@pytest.mark.parametrize(
    ("framework", "coordinate", "user"),
    # Table 3 of the source. Its figures have two or three digits and come from a draw of
    # budgets; user level amplifies what was rounded away per coordinate.
    [
        ("apes", 0.057, 57.6),
        ("s-apes", 0.057, 25.6),
        ("unis", 0.069, 76.9),
        ("ldp-min", 0.05, 40.1),
        ("pldp", 1.0, 7850.0),
    ],
)
def test_published_figures_are_those_of_table_3(
    framework: str, coordinate: float, user: float
) -> None:
    stated = stated_by_apes(
        framework, uniform2(), coordinates=7850, rounds=1, delta=DELTA, share=0.2
    )

    epsilon, whole = stated(0.05 if framework == "ldp-min" else 1.0)

    assert epsilon == pytest.approx(coordinate, abs=5e-4)
    assert whole == pytest.approx(user, rel=0.02)


@pytest.mark.parametrize("framework", CENTRAL)
def test_central_rows_are_those_of_the_accountant_and_below_local_ones(
    framework: str,
) -> None:
    guarantee = small(framework)

    assert guarantee.certified
    for level in guarantee.levels:
        assert level.user_central is not None
        assert level.user_central_lower is not None
        assert level.coordinate_central is not None
        assert level.coordinate_central_lower is not None
        assert 0.0 < level.user_central_lower <= level.user_central
        assert 0.0 < level.coordinate_central_lower <= level.coordinate_central
        assert level.user_central <= level.user_local_certified * (1.0 + 1e-5)
        assert level.user_local_certified <= level.user_local
        assert level.user_local == pytest.approx(80 * level.epsilon_local)
        assert level.count == {0.1: 300, 1.0: 700}[level.epsilon_local]
    if framework in ("apes", "random-sparsification"):
        expected = account(
            SingleMessage(ClipLaplace(0.1)), FEW, delta=1e-5, coordinates=40, rounds=2
        )
        found = [level.user_central for level in guarantee.levels]
        assert found == [level.epsilon_central for level in expected.levels]


@pytest.mark.parametrize("framework", ["s-apes", "pldp", "ldp-min"])
def test_without_a_proof_or_a_shuffle_nothing_central_is_certified(
    framework: str,
) -> None:
    guarantee = small(framework)

    assert not guarantee.certified
    for level in guarantee.levels:
        assert level.user_central is None
        assert level.coordinate_central is None
        assert 0.0 < level.user_local_certified <= level.user_local
    assert "certified" in guarantee.note


def test_with_the_smallest_budget_for_all_there_is_one_level() -> None:
    (level,) = small("ldp-min").levels

    assert (level.epsilon_local, level.count) == (0.1, 1000)


def test_no_privacy_is_infinite_and_survives_json() -> None:
    guarantee = small("non-private")

    record = json.loads(json.dumps(guarantee.to_dict(), allow_nan=False))

    assert not guarantee.certified
    assert guarantee.levels[0].user_local_certified == math.inf
    assert record["levels"][0]["user_local"] == "infinity"
    assert record["levels"][0]["user_central"] is None
    assert record["framework"] == "non-private"


def binomial_composition(level: float, times: int, delta: float) -> float:
    """The smallest epsilon of so many fair-or-not bits, by enumeration and bisection."""
    ups = np.arange(times + 1)
    logs = np.array(
        [
            math.lgamma(times + 1) - math.lgamma(k + 1) - math.lgamma(times - k + 1)
            for k in ups
        ]
    )
    here = logs + level * ups - times * math.log1p(math.exp(level))
    low, high = 0.0, times * level
    for _ in range(60):
        middle = 0.5 * (low + high)
        there = here - level * (2 * ups - times)
        shown = np.maximum(np.exp(here) - np.exp(middle + there), 0.0).sum()
        low, high = (middle, high) if shown > delta else (low, middle)
    return high


@pytest.mark.parametrize(("level", "times"), [(0.05, 400), (1.0, 50), (3.0, 10)])
def test_bits_compose_as_their_sums_say(level: float, times: int) -> None:
    exact = binomial_composition(level, times, 1e-6)

    found = local_composition(KRandomizedResponse(2), level, times=times, delta=1e-6)

    # Losses are on a lattice, which a little noise smooths.
    assert exact * (1.0 - 1e-9) <= found <= 1.02 * exact


def test_local_composition_of_laplace_noise_exceeds_what_many_draws_show() -> None:
    rng, times, level = np.random.default_rng(3), 200, 0.5
    # Two hundred thousand sums of losses of Laplace noise; 0 against 1, at scale 2.
    noise = rng.laplace(0.0, 1.0 / level, (200_000, times))
    losses = (level * (np.abs(noise - 1.0) - np.abs(noise))).sum(axis=1)

    found = local_composition(Laplace(0.0, 1.0), level, times=times, delta=0.01)

    shown = np.maximum(-np.expm1(found - losses), 0.0)
    # Five standard errors: a false alarm has a chance below 1e-6.
    error = 5.0 * float(shown.std()) / math.sqrt(shown.size)
    assert float(shown.mean()) <= 0.01 + error
    # And it is not much more than needed.
    shown = np.maximum(-np.expm1(0.97 * found - losses), 0.0)
    assert float(shown.mean()) > 0.01


@pytest.mark.parametrize(("level", "delta"), [(0.0, 1e-6), (1e-12, 1e-6)])
def test_budgets_too_small_to_be_seen_compose_to_nothing(
    level: float, delta: float
) -> None:
    assert local_composition(ClipLaplace(), level, times=100, delta=delta) == 0.0


def test_more_rounds_cost_more_and_published_figures_too() -> None:
    one, three = (small("apes", rounds=rounds).worst for rounds in (1, 3))

    assert (one.user_central or 0.0) < (three.user_central or 0.0)
    assert one.user_local_certified < three.user_local_certified
    assert (one.user_published or 0.0) < (three.user_published or 0.0)


@pytest.mark.parametrize("framework", ["s-apes-threshold", "one-bit-apes"])
def test_nothing_is_published_about_our_own(framework: str) -> None:
    stated = stated_by_apes(
        framework, FEW, coordinates=10, rounds=1, delta=1e-5, share=0.2
    )

    assert stated(1.0) == (None, None)


@pytest.mark.parametrize("counts", [{0.0: 50, 1.0: 50}, {1.0: 30}], ids=str)
def test_theorems_that_do_not_apply_state_nothing(counts: dict[float, int]) -> None:
    stated = stated_by_apes(
        "apes",
        Population.from_counts(counts),
        coordinates=10,
        rounds=1,
        delta=1e-5,
        share=0.2,
    )

    epsilon, whole = stated(1.0)

    assert (epsilon is None) == (0.0 in counts)
    assert (whole is None) == (0.0 in counts)


@pytest.mark.parametrize(
    ("settings", "match"),
    [
        ({"clip": 0.0}, "clip"),
        ({"clip": math.nan}, "clip"),
        ({"coordinates": 0}, "coordinates"),
        ({"rounds": 0}, "rounds"),
        ({"delta": 0.0}, "delta"),
        ({"delta": 1.0}, "delta"),
        ({"delta": math.nan}, "delta"),
        ({"share": 0.0}, "share"),
        ({"share": 1.1}, "share"),
    ],
    ids=str,
)
def test_settings_out_of_range(settings: dict[str, float], match: str) -> None:
    for framework in FRAMEWORKS:
        with pytest.raises(InvalidInputError, match=match):
            small(framework, **settings)


def test_frameworks_and_people_that_are_none() -> None:
    with pytest.raises(InvalidInputError, match="apes"):
        small("federated")
    with pytest.raises(InvalidInputError, match="Population"):
        certify_training(
            "apes",
            [1.0],  # type: ignore[arg-type]
            clip=1.0,
            coordinates=1,
            rounds=1,
            delta=1e-6,
        )
    with pytest.raises(PopulationError):
        certify_training(
            "apes",
            Population.from_counts({1.0: 1}),
            clip=1.0,
            coordinates=1,
            rounds=1,
            delta=1e-6,
        )
