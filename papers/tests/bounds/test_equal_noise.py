"""A claim at other noise than its attack is an error, wherever claims meet attacks."""

from dataclasses import replace
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.optimize import brentq

import shuffledp as sdp
import shuffledp_papers as papers
from shuffledp_papers.bounds import equal_noise
from shuffledp_papers.bounds.bound import PublishedBound, Setting
from shuffledp_papers.bounds.claims_table import claims_table
from shuffledp_papers.bounds.comparison import claims
from shuffledp_papers.bounds.equal_noise import (
    Band,
    band_of,
    is_refuted,
    query_of,
    stated,
)
from shuffledp_papers.bounds.published_bounds import PUBLISHED
from shuffledp_papers.court.case import BoundClaim, Case, NoiseAttack
from shuffledp_papers.court.case_registry import all_cases
from shuffledp_papers.eapes.figures import figure_4 as eapes_figure_4
from shuffledp_papers.eapes.figures import robustness
from shuffledp_papers.figures import bound_figure
from shuffledp_papers.figures.bound_figure import BoundFigure
from shuffledp_papers.figures.result import Effort
from shuffledp_papers.hypothesis_testing.figures import table_2
from shuffledp_papers.hypothesis_testing.hypothesis_testing_bound import (
    HypothesisTesting,
)

CLASSICAL = sdp.Gaussian(delta_local=1e-6, calibration="classical")
EXACT = sdp.Gaussian(delta_local=1e-6)
CROWD = sdp.Population.from_counts({0.5: 40, 1.0: 60})
EFFORT = Effort(1, 1, False, lambda _share: None)
# Where claim and attack are made of one object, and why there can be no other noise.
FROM_ONE_OBJECT = {
    "apes/figures/framework_results.py": "one training promises, and states, both",
}
# Of these the paper brings its own mechanism or protocol, which is attacked as printed.
OWN_BOUNDS = {"apes-local", "segmented", "statement"}
OWN_CASES = {"V10", "V10-2"}


@cache
def guarantee() -> sdp.Guarantee:
    return sdp.account(sdp.SingleMessage(CLASSICAL), CROWD, delta=1e-3)


def found_band() -> Band:
    return band_of(guarantee())


def claim(**more: Any) -> equal_noise.BoundValue:
    asked: dict[str, Any] = {"people": CROWD, "mechanism": CLASSICAL, "delta": 1e-3}
    asked |= more
    setting = Setting(asked["people"], asked["mechanism"], None, 1e-6)
    return stated(HypothesisTesting(), setting, delta=asked["delta"])


@pytest.mark.slow
def test_a_claim_at_the_same_noise_is_compared() -> None:
    same, band = claim(), found_band()
    assert same.number is not None

    assert is_refuted(same, band) is (same.number < band.attack)
    assert is_refuted(replace(same, number=None), band) is None
    assert is_refuted(replace(same, number=0.5 * band.attack), band) is True


@pytest.mark.few_cases(3)
@pytest.mark.parametrize(
    ("other", "message"),
    [
        ({"mechanism": EXACT}, "about what was attacked"),
        ({"mechanism": replace(CLASSICAL, delta_local=1e-7)}, "what was attacked"),
        ({"mechanism": sdp.Laplace()}, "about what was attacked"),
        ({"people": sdp.Population.from_counts({0.5: 41, 1.0: 60})}, "the people"),
        ({"people": sdp.Population.from_counts({0.5: 40, 1.1: 60})}, "the people"),
        ({"delta": 1e-4}, "at delta 0.001"),
    ],
)
def test_claims_about_something_else_are_refused(
    other: dict[str, Any], message: str
) -> None:
    with pytest.raises(sdp.InvalidInputError, match=message):
        is_refuted(claim(**other), found_band())


def test_a_setting_that_leaves_the_noise_open_is_refused() -> None:
    with pytest.raises(sdp.InvalidInputError, match="with a mechanism"):
        stated(HypothesisTesting(), Setting(CROWD), delta=1e-3)
    with pytest.raises(sdp.InvalidInputError, match="either delta or epsilon"):
        stated(HypothesisTesting(), Setting(CROWD, CLASSICAL))


def nominal(level: float) -> float:
    """The level at which exact calibration has the classical noise of this one."""
    (wanted,) = CLASSICAL.deviations(np.array([level])).tolist()

    def excess(budget: float) -> float:
        (found,) = EXACT.deviations(np.array([budget])).tolist()
        return float(found - wanted)

    return float(brentq(excess, 0.1 * level, level, xtol=1e-15))


@pytest.mark.few_cases(11)
@pytest.mark.parametrize("bound", PUBLISHED, ids=lambda bound: str(bound.name))
def test_what_a_bound_states_depends_on_the_noise_that_runs_or_on_budgets_alone(
    bound: PublishedBound,
) -> None:
    levels = {0.5: 400, 1.0: 600}
    people = sdp.Population.from_counts(levels)
    same_noise = sdp.Population.from_counts({nominal(k): n for k, n in levels.items()})

    claimed, other, equal = (
        stated(bound, Setting(crowd, device, None, 1e-6), delta=1e-3).number
        for crowd, device in (
            (people, CLASSICAL),
            (people, EXACT),
            (same_noise, EXACT),
        )
    )

    if claimed is None:
        assert other is None
    elif claimed != other:
        # Its claim is about noise: then about the noise of the mechanism it was told.
        assert claimed == pytest.approx(equal, rel=1e-6)


def test_the_testing_bound_is_about_noise() -> None:
    assert claim().number != claim(mechanism=EXACT).number


def figures_of_bounds() -> dict[str, BoundFigure]:
    """Every figure of bounds that a module of a paper's figures defines."""
    root = Path(papers.__file__).parent
    found = {}
    for path in sorted(root.glob("*/figures/*.py")):
        name = ".".join(
            ("shuffledp_papers", *path.relative_to(root).with_suffix("").parts)
        )
        for attribute, value in vars(import_module(name)).items():
            if isinstance(value, BoundFigure):
                found[f"{name}.{attribute}"] = value
    return found


FIGURES = figures_of_bounds()


def test_the_walk_meets_every_figure_of_bounds() -> None:
    words = " ".join(FIGURES)

    assert len(FIGURES) >= 5
    assert all(paper in words for paper in ("apes", "hypothesis_testing"))


def other_noise(device: Any) -> Any:
    if isinstance(device, sdp.Gaussian):
        return replace(device, calibration="exact")
    if isinstance(device, sdp.KRandomizedResponse):
        return sdp.KRandomizedResponse(device.num_categories + 1)
    return replace(device, cells=64)


def of_other_noise(device: Any, people: Any, **asked: Any) -> Band:
    """A band of noise that nobody claims anything about."""
    return Band(query_of(Setting(people, other_noise(device)), **asked), 0.0, 1.0)


@pytest.mark.parametrize("name", sorted(FIGURES))
def test_no_figure_compares_claims_with_attacks_on_other_noise(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    figure = FIGURES[name]
    small = replace(figure, populations=figure.populations[:1], sizes=(60,))

    monkeypatch.setattr(bound_figure, "band", of_other_noise)

    with pytest.raises(sdp.InvalidInputError, match="about what was attacked"):
        small.run(EFFORT)


@pytest.mark.parametrize(
    ("module", "small"),
    [
        (table_2, {"NUM_USERS": 60}),
        (robustness, {"PEOPLE": 160, "EXTREMES": (0.05,)}),
        (eapes_figure_4, {"SIZES": (1_000,), "DISTRIBUTIONS": ("uniform1",)}),
    ],
    ids=lambda module: getattr(module, "__name__", ""),
)
def test_no_table_compares_claims_with_attacks_on_other_noise(
    module: Any, small: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "band", of_other_noise)
    for name, value in small.items():
        monkeypatch.setattr(module, name, value)

    with pytest.raises(sdp.InvalidInputError, match="about what was attacked"):
        module.run(EFFORT)


@pytest.mark.parametrize("bound", PUBLISHED, ids=lambda bound: str(bound.name))
def test_no_method_is_shown_beside_a_guarantee_of_other_noise(
    bound: PublishedBound,
) -> None:
    wrong = replace(guarantee(), protocol=sdp.SingleMessage(EXACT).identity)

    found = claims(sdp.SingleMessage(CLASSICAL), CROWD, delta=1e-3, names=[bound.name])

    claims_table(guarantee(), found)
    if found[0].number is not None:
        with pytest.raises(sdp.InvalidInputError, match="about what was attacked"):
            claims_table(wrong, found)


@pytest.mark.parametrize("case", all_cases(), ids=lambda case: str(case.name))
def test_no_case_of_the_court_attacks_other_noise_or_people(case: Case) -> None:
    claimed, attack = case.claim, case.attack
    if not (isinstance(claimed, BoundClaim) and isinstance(attack, NoiseAttack)):
        assert case.bound in OWN_BOUNDS or case.name in OWN_CASES
        return

    ran, device = attack.ran, attack.ran.mechanism
    others = (
        replace(ran, mechanism=sdp.Frequency(7).randomizer),
        replace(ran, mechanism=other_noise(device)),
        replace(ran, people=sdp.Population.from_counts({1.0: 77}), target_user=None),
    )

    assert claimed.setting.mechanism == device
    for other in others:
        with pytest.raises(sdp.InvalidInputError, match="Expected a claim about"):
            replace(case, attack=replace(attack, ran=other))


def test_whoever_says_that_an_attack_refutes_compares_at_the_same_noise() -> None:
    root = Path(papers.__file__).parent
    texts = {
        str(path.relative_to(root)): path.read_text(encoding="utf-8")
        for path in root.rglob("*.py")
    }
    attacking = {
        name
        for name, text in texts.items()
        if (': exceeded"' in text or "claim_cells(" in text)
        and ("_central_lower" in text or "band(" in text)
    }

    assert "hypothesis_testing/figures/table_2.py" in attacking
    assert attacking >= set(FROM_ONE_OBJECT)
    for name in attacking - set(FROM_ONE_OBJECT):
        comparing = ("is_refuted(", "claim_cells(", "check_equal(")
        assert any(each in texts[name] for each in comparing), name
