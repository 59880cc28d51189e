"""Laws of item messages and blanket messages, and what is refused."""

from collections.abc import Callable

import mpmath as mp  # type: ignore[import-untyped]
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chi2

from shuffledp.errors import InvalidInputError
from shuffledp.randomizers.items import ItemsRandomizer, Noise, poisson_cap
from shuffledp.randomizers.items_counts import draw_counts, holders_by_target
from shuffledp.randomness import SystemRandom
from shuffledp.types import Floats, Ints

SETS = np.array([[0, 3], [4, 1], [2, 3]])


def g_test(observed: Ints, law: Floats) -> float:
    """The chance of counts as far from the law as these, or further."""
    expected = law * observed.sum()
    # Rare outcomes in one cell: the test needs some five of each.
    order = np.argsort(expected)
    small = np.cumsum(expected[order]) < 5.0
    cells = np.zeros(expected.size, dtype=np.int64)
    cells[order[~small]] = np.arange(1, int((~small).sum()) + 1)
    seen, wanted = np.bincount(cells, observed), np.bincount(cells, expected)
    used = (wanted > 0) & (seen > 0)
    g = 2.0 * float(np.sum(seen[used] * np.log(seen[used] / wanted[used])))
    return float(chi2.sf(g, max(int((wanted > 0).sum()) - 1, 1)))


@pytest.mark.parametrize("blanket", [0.0, 0.03, 1.0, 4.5, 60.0])
def test_the_poisson_law_is_exact_up_to_its_cap(blanket: float) -> None:
    randomizer = ItemsRandomizer(5, 2, blanket, 2 + 12)

    law = randomizer.blanket_distribution()

    with mp.workdps(50):
        m = mp.mpf(blanket)
        exact = [mp.exp(-m) * m**j / mp.factorial(j) for j in range(12)]
        beyond = mp.gammainc(13, 0, m) / mp.factorial(12)
        last = mp.gammainc(12, 0, m) / mp.factorial(11)
    # 13 factors, each rounded by some 1e-15.
    np.testing.assert_allclose(law[:12], [float(p) for p in exact], rtol=1e-13)
    np.testing.assert_allclose(law[12], float(last), rtol=1e-12)
    np.testing.assert_allclose(randomizer.beyond_cap, float(beyond), rtol=1e-12)


@given(
    blanket=st.floats(0.0, 30.0),
    noise=st.sampled_from(["poisson", "bernoulli"]),
    room=st.integers(0, 20),
)
def test_blanket_laws_are_laws_with_the_stated_moments(
    blanket: float, noise: Noise, room: int
) -> None:
    randomizer = ItemsRandomizer(9, 3, blanket, 33 + room, noise)

    law = randomizer.blanket_distribution()
    mean, variance = randomizer.blanket_moments()

    assert law.size == randomizer.cap + 1
    assert law.min() >= 0.0
    assert law.sum() == pytest.approx(1.0, abs=1e-12)
    most = np.ceil(blanket)
    if noise == "bernoulli":
        assert mean == pytest.approx(blanket, abs=1e-12)
        wanted = blanket * (1.0 - blanket / most) if most else 0.0
        assert variance == pytest.approx(wanted, abs=1e-10)
    else:
        # E[N] - E[min(N, cap)] is the sum of P(N > j) from the cap on.
        assert mean <= blanket * (1.0 + 1e-14)
        assert variance <= blanket * (1.0 + 1e-12)


def test_the_default_cap_is_the_smallest_that_cuts_so_rarely() -> None:
    cap = poisson_cap(2.0, 1e-12)

    assert ItemsRandomizer(9, 3, 2.0, 3 + cap).beyond_cap <= 1e-12
    assert ItemsRandomizer(9, 3, 2.0, 3 + cap - 1).beyond_cap > 1e-12
    assert poisson_cap(0.0, 1e-12) == 0
    assert poisson_cap(2.5, 1e-12, noise="bernoulli") == 3


@pytest.mark.parametrize("noise", ["poisson", "bernoulli"])
@pytest.mark.parametrize("system", [False, True])
def test_reports_follow_the_stated_law(noise: Noise, system: bool) -> None:
    rng = SystemRandom() if system else np.random.default_rng(20)
    n, rate = 40_000, 0.3
    randomizer = ItemsRandomizer(6, 2, 1.3, 2 + (4 if noise == "poisson" else 2), noise)

    reports = randomizer.randomize(np.tile([[4, 1]], (n, 1)), np.full(n, rate), rng=rng)

    assert reports.shape == (n, randomizer.report_size)
    assert reports.dtype == np.int32
    sent, blanket = reports[:, :2] < 6, reports[:, 2:]
    assert np.all(reports[:, :2][sent] == np.broadcast_to([4, 1], (n, 2))[sent])
    both = np.bincount(sent @ np.array([2, 1]), minlength=4)
    pairs = np.outer([1 - rate, rate], [1 - rate, rate]).ravel()
    # Four tests in each of four runs: a false alarm in 6,000 seeds.
    assert g_test(both, pairs) > 1e-5
    numbers = np.bincount((blanket < 6).sum(axis=1), minlength=randomizer.cap + 1)
    assert g_test(numbers, randomizer.blanket_distribution()) > 1e-5
    items = np.bincount(blanket[blanket < 6], minlength=6)
    assert g_test(items, np.full(6, 1 / 6)) > 1e-5
    twice = blanket[:, :2][(blanket[:, :2] < 6).all(axis=1)]
    pairs_seen = np.bincount(twice @ np.array([6, 1]), minlength=36)
    assert g_test(pairs_seen, np.full(36, 1 / 36)) > 1e-5


def test_reports_say_nothing_but_their_messages() -> None:
    randomizer = ItemsRandomizer(6, 2, 0.5, 20)

    full = randomizer.randomize(SETS, np.ones(3), rng=np.random.default_rng(1))
    none = randomizer.randomize(
        np.full((3, 2), -1), np.ones(3), rng=np.random.default_rng(1)
    )

    assert np.array_equal(full[:, :2], SETS)
    assert np.all(none[:, :2] == 6)
    assert full.shape == none.shape


@pytest.mark.few_cases(1)
@pytest.mark.parametrize("noise", ["poisson", "bernoulli"])
def test_counts_drawn_at_once_have_the_law_of_the_messages(noise: Noise) -> None:
    rng, runs, d = np.random.default_rng(31), 4_000, 5
    randomizer = ItemsRandomizer(d, 2, 0.7, 2 + (2 if noise == "poisson" else 1), noise)
    indices, rates = np.array([0, 1, 1]), np.array([0.4, 0.9])
    held = holders_by_target(SETS, indices, num_targets=2, num_items=d)

    everybody = randomizer.randomize(
        np.tile(SETS, (runs, 1)), np.tile(rates[indices], runs), rng=rng
    ).reshape(runs, -1)
    drawn = np.array(
        [
            draw_counts(randomizer, held, rates, num_users=3, rng=rng)
            for _ in range(runs)
        ]
    )

    sent = np.stack([(everybody == item).sum(axis=1) for item in range(d)], axis=1)
    assert held.sum() == SETS.size
    looks: tuple[Callable[[Ints], Ints], ...] = (
        lambda counts: np.minimum(counts[:, 3], 5),
        lambda counts: np.minimum(counts[:, 0], 3) * 4 + np.minimum(counts[:, 3], 3),
        lambda counts: counts.sum(axis=1),
        lambda counts: counts.max(axis=1),
    )
    for look in looks:
        # Two samples of the same size: the G-test of a table with two rows.
        table = np.stack(
            [np.bincount(look(counts), minlength=40) for counts in (sent, drawn)]
        )
        rare = table.sum(axis=0) < 10
        table = np.column_stack([table[:, ~rare], table[:, rare].sum(axis=1)])
        table = table[:, table.sum(axis=0) > 0]
        expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / table.sum()
        used = table > 0
        g = 2.0 * float(np.sum(table[used] * np.log(table[used] / expected[used])))
        # Eight tests: a false alarm in 12,000 seeds.
        assert chi2.sf(g, table.shape[1] - 1) > 1e-5


@pytest.mark.parametrize(
    "sets",
    [
        [[0, 1, 2]],
        [0, 1],
        [[0.0, 1.0]],
        [[0, 0]],
        [[1, 1]],
        [[-2, 0]],
        [[0, 6]],
        [[0, 7]],
        np.zeros((0, 2), dtype=np.int64),
        [[float("nan"), 1.0]],
    ],
)
def test_what_is_no_set_is_refused(sets: Ints) -> None:
    randomizer = ItemsRandomizer(6, 2, 0.5, 20)

    with pytest.raises(InvalidInputError) as error:
        randomizer.randomize(sets, np.ones(len(sets)), rng=np.random.default_rng(1))

    assert "7" not in str(error.value)


def test_other_nonsense_is_refused() -> None:
    rng = np.random.default_rng(1)
    poisson = ItemsRandomizer(6, 2, 0.5, 20)
    published = ItemsRandomizer(6, 2, 0.5, 3, "bernoulli")

    for rates in ([1.0, 1.0], [1.0, 1.0, 1.1], [1.0, -0.1, 0.0], [1.0, np.nan, 1.0]):
        with pytest.raises(InvalidInputError):
            poisson.randomize(SETS, np.array(rates), rng=rng)
    with pytest.raises(InvalidInputError):
        published.randomize(np.array([[-1, 1]]), np.ones(1), rng=rng)
    for arguments in (
        (1, 1, 0.5, 20),
        (6, 7, 0.5, 20),
        (6, 0, 0.5, 20),
        (6, 2, -0.5, 20),
        (6, 2, float("nan"), 20),
        (6, 2, 0.5, 1),
    ):
        with pytest.raises(InvalidInputError):
            ItemsRandomizer(*arguments)
    with pytest.raises(InvalidInputError):
        ItemsRandomizer(6, 2, 1.5, 3, "bernoulli")
    with pytest.raises(InvalidInputError):
        ItemsRandomizer(6, 2, 1.5, 3, "gaussian")  # type: ignore[arg-type]
    held = np.ones((1, 6), dtype=np.int64)
    for holders, rate, users in (
        (held, 1.5, 3),
        (-held, 1.0, 3),
        (4 * held, 1.0, 3),
        (held[:, :5], 1.0, 3),
        (held, 1.0, 0),
    ):
        with pytest.raises(InvalidInputError):
            draw_counts(poisson, holders, np.array([rate]), num_users=users, rng=rng)
    with pytest.raises(InvalidInputError):
        holders_by_target(SETS, np.array([0, 1]), num_targets=2, num_items=6)
    with pytest.raises(InvalidInputError):
        holders_by_target(SETS, np.array([0, 1, 2]), num_targets=2, num_items=6)
