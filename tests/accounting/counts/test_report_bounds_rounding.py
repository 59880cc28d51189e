"""What coins and cut reports cost moves bounds at least as far as it has to."""

from dataclasses import dataclass, field
from fractions import Fraction

import mpmath as mp  # type: ignore[import-untyped]
import pytest

from shuffledp.accounting.counts.report_bounds import ReportBounds


@dataclass
class Line:
    """A profile that falls like a line, and notes where it was asked."""

    is_constant: bool = False
    asked: list[float] = field(default_factory=list)

    def upper(self, epsilon: float) -> float:
        self.asked.append(epsilon)
        return max(0.5 - epsilon, 0.0)

    lower = upper


@pytest.mark.parametrize("drift", [1e-18, 3e-9, 0.01])
@pytest.mark.parametrize("epsilon", [1e-9, 0.1, 0.3])
def test_epsilon_moves_by_twice_the_drift_or_a_little_more(
    epsilon: float, drift: float
) -> None:
    line = Line()
    bounds = ReportBounds(line, 0.0, drift)
    bounds.uncut(epsilon)
    bounds.lower(epsilon)

    before, later = map(Fraction, line.asked)
    twice, start = 2 * Fraction(drift), Fraction(epsilon)
    assert before <= max(start - twice, Fraction(0))
    assert later >= start + twice
    assert later - before <= 4 * Fraction(drift) + start * Fraction(1e-15)


@pytest.mark.parametrize("cut", [0.0, 1e-12, 1e-4])
@pytest.mark.parametrize("drift", [1e-18, 3e-9, 0.01])
@pytest.mark.parametrize("epsilon", [0.0, 1e-9, 0.01, 0.3])
def test_what_is_paid_is_no_less_than_proven(
    epsilon: float, drift: float, cut: float
) -> None:
    bounds = ReportBounds(Line(), cut, drift)

    with mp.workdps(50):
        tau, start, half = mp.mpf(drift), mp.mpf(epsilon), mp.mpf(1) / 2
        # At -x, P - e^-x Q <= P - Q + x.
        before = start - 2 * tau
        ideal = max(half - max(before, 0), 0) + max(-before, 0)
        assert bounds.uncut(epsilon) >= mp.exp(tau) * ideal
        assert bounds.uncut(epsilon) <= mp.exp(tau) * ideal * (1 + mp.mpf(1e-14))
        later = start + 2 * tau
        shown = max(half - later, 0) - (1 + mp.exp(later)) * mp.mpf(cut)
        assert bounds.lower(epsilon) <= mp.exp(-tau) * shown
        assert bounds.lower(epsilon) >= mp.exp(-tau) * shown * (1 - mp.mpf(1e-14))
        paid = mp.exp(tau) * (1 + mp.exp(start)) * mp.mpf(cut)
        # A smaller epsilon may be the better one: the worst it can be is this.
        assert bounds.upper(epsilon) <= (bounds.uncut(epsilon) + paid) * (1 + 1e-14)
        tried = [start * mp.mpf(4) ** k / mp.mpf(5) ** k for k in range(60)]
        least = min(
            mp.exp(tau) * (max(half - max(e - 2 * tau, 0), 0) + max(2 * tau - e, 0))
            + mp.exp(tau) * (1 + mp.exp(e)) * mp.mpf(cut)
            for e in tried
        )
        assert bounds.upper(epsilon) >= least * (1 - mp.mpf(1e-12))


def test_who_sends_nothing_of_hers_pays_nothing() -> None:
    bounds = ReportBounds(Line(is_constant=True), 0.3, 0.1)

    assert bounds.upper(0.0) == bounds.lower(0.0) == bounds.uncut(0.0) == 0.0
    assert bounds.certified_epsilon(1e-9, guess=1.0) == 0.0


@pytest.mark.parametrize("drift", [300.0, 600.0, 601.0, 1e5])
@pytest.mark.parametrize("cut", [0.0, 1e-12])
def test_where_rounding_could_tell_everything_nothing_is_promised(
    drift: float, cut: float
) -> None:
    bounds = ReportBounds(Line(), cut, drift)

    for epsilon in (0.0, 1.0, 600.0):
        assert bounds.upper(epsilon) == 1.0
        assert bounds.lower(epsilon) == 0.0
