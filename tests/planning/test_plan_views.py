"""A plan prints, is a frame and a picture, and says what to beware of."""

from pathlib import Path

import pytest

import shuffledp as sdp
from shuffledp.planning.protocol_plan import ProtocolPlan


@pytest.fixture(scope="module")
def plan() -> ProtocolPlan:
    return sdp.plan_frequency(sdp.Wish(levels={25.0: 1_000}), num_categories=3)


@pytest.mark.slow
def test_a_plan_fits_a_screen(plan: ProtocolPlan) -> None:
    text, page = str(plan), plan._repr_html_()

    lines = text.splitlines()
    assert len(lines) <= 24
    assert max(map(len, lines)) <= 80
    for words in (
        "kary-response",
        "Recommended: ",
        "level 25 is not private by any standard",
    ):
        assert words in " ".join(text.split())
        assert words in page


@pytest.mark.slow
def test_a_plan_is_a_frame_of_its_options_best_first(plan: ProtocolPlan) -> None:
    frame = plan.to_frame()

    assert frame["protocol"].to_list() == [option.name for option in plan.options]
    assert frame["standard_error"].is_sorted()
    worst = [option.guarantee.worst.epsilon_central for option in plan.options]
    assert frame["largest_epsilon_central"].to_list() == worst


@pytest.mark.slow
def test_a_plan_is_drawn(plan: ProtocolPlan, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")

    picture = plan.plot()
    picture.save(tmp_path / "plan.svg")

    for option in plan.options:
        assert f"{option.name}, {option.mode}" in (tmp_path / "plan.svg").read_text()


def test_an_answer_of_the_inverse_problem_fits_a_screen() -> None:
    promise = sdp.Promise(sdp.Frequency(4), delta=1e-6)

    answer = sdp.largest_budgets(promise, {0.05: 500, 0.1: 500})

    lines = str(answer).splitlines()
    assert len(lines) <= 24
    assert max(map(len, lines)) <= 80
    for level in answer.guarantee.levels:
        assert str(level.epsilon_central) in str(answer)
        assert str(level.epsilon_central) in answer._repr_html_()
