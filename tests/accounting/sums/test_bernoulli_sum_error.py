"""The error that a grouped generating function says it has covers the one it has."""

import mpmath as mp  # type: ignore[import-untyped]
import numpy as np

from shuffledp.accounting.sums.bernoulli_sum import bernoulli_sum

PROBABILITIES = np.sort(np.random.default_rng(3).uniform(0.05, 0.7, 90))
COUNTS = np.full(90, 10**9)


def exact_log_generating(z: complex) -> mp.mpc:
    with mp.workdps(50):
        v = mp.expm1(mp.mpc(z))
        return mp.fsum(
            int(count) * mp.log(1 + mp.mpf(p) * v)
            for p, count in zip(PROBABILITIES, COUNTS, strict=True)
        )


def test_said_error_covers_the_series_that_is_cut_off() -> None:
    total = bernoulli_sum(PROBABILITIES, COUNTS)
    assert total.reach.any()
    z = 1j * np.linspace(0.3, 3.0, 10)

    found, said = total.log_generating(z), total.log_error(z)

    errors = [
        float(abs(exact_log_generating(place) - mp.mpc(value)))
        for place, value in zip(z, found, strict=True)
    ]
    assert np.all(np.array(errors) <= said)
    # Rounding alone would not explain it.
    single = bernoulli_sum(
        np.array([0.4]), np.array([total.mean / 0.4]).astype(np.int64)
    )
    assert np.any(np.array(errors) > 2.0 * single.log_error(z))
