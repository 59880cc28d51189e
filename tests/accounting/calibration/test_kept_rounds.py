"""Rounds that keep all targets, by losses that are as fine as each target needs."""

import numpy as np
import pytest

import shuffledp as sdp
from shuffledp.accounting.calibration import kept_rounds
from shuffledp.accounting.calibration.calibrated_population import Calibration
from shuffledp.accounting.calibration.kept_rounds import _KeptRounds
from shuffledp.accounting.calibration.promise import Promise


def test_only_targets_that_rough_losses_break_are_followed_closely(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    promise = Promise(sdp.Frequency(17), 1e-6)
    people = sdp.Population.from_counts({0.5: 2_000, 1.0: 2_000})
    asked, losses, both = list[tuple[int, int]](), Promise.losses, np.arange(2)

    def recorded(
        promise: Promise, people: sdp.Population, index: int, shuffles: int
    ) -> object:
        losses_with = losses(promise, people, index, shuffles)

        def of(most_evaluations: int) -> object:
            asked.append((index, most_evaluations))
            return losses_with(most_evaluations)

        return of

    monkeypatch.setattr(Promise, "losses", recorded)
    # The first level keeps its own by far.
    found = _KeptRounds(promise, people, [0.9, 0.05], 16, both).largest(1)
    closely_asked = {index for index, evaluations in asked if evaluations > 60}
    monkeypatch.setattr(kept_rounds, "_EVALUATIONS", (200,))
    closely = _KeptRounds(promise, people, [0.9, 0.05], 16, both).largest(1)

    assert 1 < found == closely < 16
    assert closely_asked == {1}


@pytest.mark.slow
def test_a_level_that_does_not_decide_still_has_its_target_certified(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    promise = Promise(sdp.Frequency(17), 1e-6)
    people = sdp.Population.from_counts({0.5: 2_000, 1.0: 2_000})
    targets = [0.1, 0.2]
    rounds, _ = sdp.most_rounds(promise, people, targets)
    # As if the second level, which decides, seemed to keep its target for long.
    monkeypatch.setattr(
        kept_rounds, "_usual_rounds", lambda *_: np.array([2.0 * rounds, 1e6])
    )

    fewer, certified = sdp.most_rounds(promise, people, targets)

    central = [level.epsilon_central for level in certified.guarantee.levels]
    assert rounds // 2 <= fewer <= rounds
    assert np.all(np.array(central) <= np.array(targets) * (1.0 + 1.1e-5))


@pytest.mark.parametrize(
    ("device", "level", "target"),
    [(sdp.OneBit(), 3.0, 9.0), (sdp.KRandomizedResponse(4), 1.0, 3.0)],
)
def test_rounds_whose_budgets_add_up_to_the_target_are_kept(
    device: sdp.OneBit | sdp.KRandomizedResponse, level: float, target: float
) -> None:
    people = sdp.Population.from_counts({level: 5})

    # Composed losses are rounded upward, and the last one shows a little there.
    rounds, found = sdp.most_rounds(Promise(device, 1e-100), people, [target])

    assert rounds == 3
    assert found.guarantee.worst.epsilon_central <= target * (1.0 + 1.1e-5)


@pytest.mark.slow
def test_rounds_that_just_miss_are_counted_anew(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    promise = Promise(sdp.Laplace(), 1e-6)
    people = sdp.Population.from_counts(
        dict.fromkeys((0.019, 0.324, 2.79, 10.902), 25_000_000)
    )
    certified, answer = list[int](), Promise.answer

    def counted(
        self: Promise, people: sdp.Population, targets: list[float]
    ) -> Calibration:
        certified.append(self.rounds)
        return answer(self, people, targets)

    monkeypatch.setattr(Promise, "answer", counted)
    rounds, found = sdp.most_rounds(promise, people, [0.0057, 0.0972, 0.837, 3.2706])

    # One, two, four, ... fewer: 132,776 after nine certificates.
    assert certified == [rounds]
    assert rounds > 132_800
    assert found.guarantee.levels[2].epsilon_central <= 0.837 * (1.0 + 1.1e-5)


def test_bits_of_a_few_people_are_counted_as_often_as_their_certificates_allow() -> (
    None
):
    promise = Promise(sdp.Rappor(32, 2), 1e-9)
    people = sdp.Population.from_counts({0.34: 22})

    def epsilon_after(rounds: int) -> float:
        guarantee = sdp.account(promise.protocol, people, delta=1e-9, rounds=rounds)
        return guarantee.worst.epsilon_central or 0.0

    rounds, answer = sdp.most_rounds(promise, people, [0.3])

    # Losses of both directions at once would allow fewer.
    both = _KeptRounds(promise, people, [0.3], rounds, np.arange(1)).largest(1)
    assert both < rounds
    assert answer.guarantee.worst.epsilon_central == epsilon_after(rounds) <= 0.3
    assert epsilon_after(rounds + 1) > 0.3
