"""Protocols of a plan for central targets whose levels are certified."""

import pytest

from shuffledp.accounting.calibration.calibrated_population import Calibration
from shuffledp.errors import CertificationError
from shuffledp.planning.wish import Wish
from shuffledp.statistics.frequency.compared_protocols import compared_protocols
from shuffledp.statistics.frequency.frequency_plan import plan_frequency
from shuffledp.statistics.frequency.protocol import Frequency
from shuffledp.statistics.mean import mean_plan
from shuffledp.statistics.mean.mean_plan import plan_mean
from shuffledp.statistics.mean.protocol import Mean

TARGETS = {0.05: 3_000, 1.0: 3_000}


@pytest.fixture
def fits(monkeypatch: pytest.MonkeyPatch) -> list[Frequency | Mean]:
    """Returns the protocols that are certified, in this order, yardsticks included."""
    fit, protocols = Wish.fit, []

    def counted(wish: Wish, protocol: Frequency | Mean) -> Calibration:
        protocols.append(protocol)
        return fit(wish, protocol)

    monkeypatch.setattr(Wish, "fit", counted)
    return protocols


def test_frequencies_certify_two_protocols_of_the_best_mode_and_one_of_others(
    fits: list[Frequency | Mean],
) -> None:
    plan = plan_frequency(Wish(targets=TARGETS), num_categories=64)

    modes = [each.mode for each in plan.options]
    assert sorted(modes) == ["agnostic", "agnostic", "stratified"]
    # Sizes are chosen by estimates, and the last one is that of a yardstick.
    assert {each.protocol for each in plan.options} == set(fits[:-1])
    assert len(fits) == len(plan.options) + 1
    assert fits[-1] == plan.recommended.protocol


def test_frequencies_that_were_passed_over_are_certified_if_no_other_will_do(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    fit = Wish.fit

    def refuses_some(wish: Wish, protocol: Frequency) -> Calibration:
        if protocol.randomizer.mechanism in ("kary-response", "local-hashing"):
            raise CertificationError("Refused here.")
        return fit(wish, protocol)

    monkeypatch.setattr(Wish, "fit", refuses_some)

    options, left_out = compared_protocols(
        Wish(targets=TARGETS), num_categories=64, share=0.1, modes=("agnostic",)
    )

    # The others were nearer to the best by their estimates.
    assert [each.protocol.randomizer.mechanism for each in options] == [
        "subset-selection"
    ]
    assert "kary-response (agnostic): Refused here." in left_out


def test_means_certify_one_size_of_a_protocol(fits: list[Frequency | Mean]) -> None:
    plan = plan_mean(Wish(targets=TARGETS), low=0.0, high=1.0)

    assert {each.protocol for each in plan.options} == set(fits[:-1])
    assert len(fits) == len(plan.options) + 1
    assert any("values=" in each.name for each in plan.options)


@pytest.mark.slow
def test_sizes_are_certified_where_nothing_is_estimated(
    monkeypatch: pytest.MonkeyPatch, fits: list[Frequency | Mean]
) -> None:
    def refused(*_args: object) -> tuple[Mean, object]:
        raise CertificationError("No estimate.")

    monkeypatch.setattr(mean_plan, "estimated_size", refused)
    monkeypatch.setattr(mean_plan, "_MODES", ("agnostic",))

    plan = plan_mean(Wish(targets=TARGETS), low=0.0, high=1.0)

    grids = [each for each in fits if each.randomizer.mechanism == "grid-response"]
    assert len(set(grids)) >= 2
    assert plan.recommended.protocol in fits


@pytest.mark.slow
def test_protocols_that_were_passed_over_are_certified_if_no_other_will_do(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    fit = Wish.fit

    def without_grid(wish: Wish, protocol: Mean) -> Calibration:
        if protocol.randomizer.mechanism == "grid-response":
            raise CertificationError("Refused here.")
        return fit(wish, protocol)

    monkeypatch.setattr(Wish, "fit", without_grid)
    monkeypatch.setattr(mean_plan, "_MODES", ("agnostic",))

    plan = plan_mean(Wish(targets={0.3: 4_000, 0.6: 6_000}), low=0.0, high=1.0)

    assert plan.recommended.protocol.randomizer.unbiased
    assert "grid-response (agnostic): Refused here." in plan.left_out


@pytest.mark.slow
def test_a_plan_for_targets_far_apart_is_as_good_as_with_targets_as_levels() -> None:
    targets = {0.05: 50, 8.0: 10_000}

    plan = plan_mean(Wish(targets=targets), low=0.0, high=1.0)

    # Levels that are the targets keep them.
    at_levels = plan_mean(Wish(levels=targets), low=0.0, high=1.0)
    errors = [each.error for each in at_levels.options if not each.bias_limit]
    # Sizes are chosen by estimates, and may cost a hundredth or two.
    assert plan.recommended.error <= 1.05 * min(errors)
