"""The conformance check passes what is right, and names what is wrong."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from covering import covering
from numpy.typing import ArrayLike, NDArray
from oracles.finite_messages import Senders, finite_devices

from shuffledp import (
    ClipLaplace,
    ConformanceError,
    DensityRandomizer,
    Gaussian,
    InvalidInputError,
    KRandomizedResponse,
    OneBit,
    Population,
    ShuffledpError,
    SubsetSelection,
    UnaryEncoding,
)
from shuffledp.cover import Attack, Cover, ScoreAttack
from shuffledp.randomizers.catalog import MECHANISMS, build
from shuffledp.randomizers.finite_channel import FiniteChannel
from shuffledp.randomizers.finite_numbers import FiniteNumbers
from shuffledp.randomness import Rng
from shuffledp.testing import check_randomizer
from shuffledp.testing.conformance import PROPERTIES
from shuffledp.testing.message_distribution import message_distribution, values_to_check
from shuffledp.types import Floats, Ints

EXAMPLES: dict[str, dict[str, int | float | str]] = {
    "kary-response": {"categories": 4},
    "one-bit": {"low": -2.0, "high": 5.5},
    "subset-selection": {"categories": 5, "subset_size": 2},
    "hadamard-response": {"categories": 3},
    "local-hashing": {"categories": 3, "buckets": 2},
    "unary-encoding": {"categories": 3, "variant": "optimized"},
    "rappor": {"bits": 8, "hashes": 2},
    "clip-laplace": {"clip": 0.25},
    "sparsified-clip-laplace": {"clip": 0.25, "share": 0.1},
    "laplace": {"low": 0.0, "high": 10.0},
    "grid-response": {"low": -2.0, "high": 5.5, "values": 5},
    "gaussian": {"delta_local": 1e-5, "low": -1.0, "high": 1.0},
    "declared-ratios": {"q": 2.5, "beta": 0.25},
}
# What a mechanism has not: everything else must have been checked.
MISSING = {
    "rappor": {"estimator", "messages"},
    "laplace": {"supports"},
    "gaussian": {"supports"},
    "declared-ratios": set(PROPERTIES),
}


@dataclass(frozen=True)
class Geometric(FiniteNumbers):
    size: int = 4
    low: float = 0.0
    high: float = 3.0

    @property
    def mechanism(self) -> str:
        return "geometric"

    @property
    def parameters(self) -> dict[str, int | float | str]:
        return {"size": self.size, "low": self.low, "high": self.high}

    @property
    def num_values(self) -> int:
        return self.size

    @property
    def num_messages(self) -> int:
        return self.size

    def chances(self, epsilons: Floats) -> Floats:
        places = np.arange(self.size)
        distance = np.abs(places[:, None] - places) / (self.size - 1)
        weights = np.exp(-epsilons[:, None, None] * distance)
        result: Floats = weights / weights.sum(axis=2, keepdims=True)
        return result


# Each level is compared with each; of these mechanisms, that takes seconds.
DEAR = {"sparsified-clip-laplace", "laplace", "gaussian", "rappor"}
LEVELS = (0.5, 1.0, 2.0)


@pytest.mark.slow
@pytest.mark.parametrize(
    "mechanism",
    [
        pytest.param(name, marks=pytest.mark.slow if name in DEAR else ())
        for name in MECHANISMS
    ],
)
def test_every_mechanism_of_the_catalog_passes(mechanism: str) -> None:
    device = build(mechanism, EXAMPLES[mechanism])

    found = check_randomizer(device, levels=LEVELS, rng=np.random.default_rng(17))

    assert found.failed == ()
    assert set(found.checked) == set(PROPERTIES) - MISSING.get(mechanism, set())
    assert {finding.about for finding in found.findings} == set(PROPERTIES)


@pytest.mark.slow
def test_a_table_passes() -> None:
    found = check_randomizer(Geometric(), rng=np.random.default_rng(18))

    assert set(found.checked) == set(PROPERTIES)
    assert found.not_applicable == ()


@pytest.mark.slow
@covering(
    (
        "device",
        [
            KRandomizedResponse(2),
            OneBit(),
            SubsetSelection(4, 3),
            Geometric(2),
            ClipLaplace(cells=3),
            ClipLaplace(cells=4),
        ],
    ),
    ("levels", [(0.05,), (0.3, 4.0), (1.0, 1.0, 6.0)]),
    ids=repr,
)
def test_right_randomizers_pass_at_other_levels(
    device: Any, levels: tuple[float, ...]
) -> None:
    found = check_randomizer(device, levels=levels, rng=np.random.default_rng(19))

    assert found.failed == ()
    assert found.levels == tuple(sorted(set(levels)))


class GammaTooLarge(KRandomizedResponse):
    """Says that others send one part in a thousand more of the blanket than they do."""

    def covers(
        self, victims: Sequence[float], crowd: Population, *, delta: float
    ) -> list[tuple[Cover, ...]]:
        right = super().covers(victims, crowd, delta=delta)
        return [tuple(more_gamma(cover, 1.001) for cover in one) for one in right]


class GammaOfOthersTooLarge(Geometric):
    """Says so of the largest level only, and not to victims of that level."""

    def covers(
        self, victims: Sequence[float], crowd: Population, *, delta: float
    ) -> list[tuple[Cover, ...]]:
        right = super().covers(victims, crowd, delta=delta)
        more = np.where(crowd.epsilons == crowd.epsilons.max(), 1.01, 1.0)
        return [
            tuple(more_gamma(cover, more) for cover in one)
            if victim < crowd.epsilons.max()
            else one
            for victim, one in zip(victims, right, strict=True)
        ]


class WrongWorstPair(Geometric):
    """Hands over the cover of two values beside each other."""

    def covers(
        self, victims: Sequence[float], crowd: Population, *, delta: float
    ) -> list[tuple[Cover, ...]]:
        right = super().covers(victims, crowd, delta=delta)
        return [
            (min(one, key=lambda cover: float(np.abs(cover.differences).max())),)
            for one in right
        ]


class SamplerOff(KRandomizedResponse):
    """Sends the value itself one time in a hundred too often."""

    def randomize(self, values: Ints, epsilons: Floats, *, rng: Rng) -> Ints:
        right = super().randomize(values, epsilons, rng=rng)
        return np.where(rng.random(right.size) < 0.01, values, right)


@dataclass(frozen=True)
class SupportOfLevel(FiniteChannel):
    """Sends a third message at large levels only, and does not say so in the cover."""

    mechanism = "support-of-level"
    num_values = 2
    num_messages = 3
    parameters = {}  # noqa: RUF012

    def chances(self, epsilons: Floats) -> Floats:
        own = np.minimum(np.maximum(epsilons - 1.0, 0.0), 0.5)[:, None]
        keep = (1.0 - own) / (1.0 + np.exp(-epsilons[:, None]))
        flip = (1.0 - own) - keep
        first = np.concatenate([keep, flip, own], axis=1)
        return np.stack([first, first[:, [1, 0, 2]]], axis=1)

    def covers(
        self, victims: Sequence[float], crowd: Population, *, delta: float
    ) -> list[tuple[Cover, ...]]:
        right = super().covers(victims, crowd, delta=delta)
        return [tuple(replace(cover, uncovered=None) for cover in one) for one in right]


class BiasedDecode(Geometric):
    """Decodes everything as a hundredth more."""

    def decode(self, messages: Ints) -> Floats:
        return super().decode(messages) + 0.01

    def moments(self, epsilons: Floats, values: Floats) -> tuple[Floats, Floats]:
        mean, variance = super().moments(epsilons, values)
        return mean - 0.01, variance


class BiasedDensities(KRandomizedResponse):
    """States that values are kept a hundredth more often than they are."""

    def densities(self, epsilons: Floats) -> tuple[Floats, Floats]:
        keep, flip = super().densities(epsilons)
        return keep + 0.01, flip


class ClaimsToBeUnbiased(Geometric):
    """Says that means are a straight line of the values."""

    @property
    def unbiased(self) -> bool:
        return True


class LocalDeltaTooSmall(KRandomizedResponse):
    """States a tenth less than one message shows."""

    def local_delta(self, level: float, epsilon: float) -> float:
        return 0.9 * super().local_delta(level, epsilon)


class LevelsMixedUp(OneBit):
    """Draws everybody's bit with the first person's level."""

    def randomize(self, values: ArrayLike, epsilons: ArrayLike, *, rng: Rng) -> Ints:
        levels = np.asarray(epsilons, dtype=np.float64)
        return super().randomize(values, np.full_like(levels, levels[0]), rng=rng)


class UnitOfAnother(Gaussian):
    @property
    def unit(self) -> Gaussian:
        return Gaussian(-1.0, 1.0, cells=self.cells)


class SumsOfAnotherLevel(OneBit):
    def draw_sums(
        self,
        values: Floats,
        counts: Ints,
        epsilons: Floats,
        *,
        rng: np.random.Generator,
    ) -> NDArray[np.object_]:
        return super().draw_sums(values, counts, epsilons * 1.05, rng=rng)


class SupportOfAnotherLevel(UnaryEncoding):
    def draw_support_counts(
        self, holders: Ints, epsilons: Floats, *, rng: np.random.Generator
    ) -> Ints:
        return super().draw_support_counts(holders, epsilons * 0.95, rng=rng)


class AttackClaimsTooMuch(Geometric):
    """Claims that a changed value shows a tenth more than it does."""

    def attacks(
        self, victims: Sequence[float], crowd: Population
    ) -> list[tuple[Attack, ...]]:
        right = super().attacks(victims, crowd)
        return [
            tuple(
                replace(one, difference=1.1 * one.difference)
                for one in attacks
                if isinstance(one, ScoreAttack)
            )
            for attacks in right
        ]


class OutOfRange(Geometric):
    """Sends a message beyond the largest, once in a thousand times."""

    def randomize(self, values: ArrayLike, epsilons: ArrayLike, *, rng: Rng) -> Ints:
        right = super().randomize(values, epsilons, rng=rng)
        return np.where(rng.random(right.size) < 0.001, self.num_messages, right)


class TakesAnything(Geometric):
    """Accepts whatever it gets."""

    def check_messages(self, messages: Ints) -> None:
        del messages


class Bent(Geometric):
    """Decodes messages to numbers that are not evenly spaced, and says so in moments."""

    def decode(self, messages: Ints) -> Floats:
        return super().decode(messages) ** 2


class TwiceTheLevel(KRandomizedResponse):
    """Takes every level for twice what it is: e^(2 eps) to 1."""

    def drawn(self, epsilons: Floats) -> tuple[Floats, Floats]:
        return super().drawn(2.0 * epsilons)

    def randomize(self, values: Ints, epsilons: Floats, *, rng: Rng) -> Ints:
        return super().randomize(values, 2.0 * epsilons, rng=rng)


def more_gamma(cover: Cover, factor: Any) -> Cover:
    return replace(cover, blanket_probabilities=cover.blanket_probabilities * factor)


@pytest.mark.few_cases(1)
@pytest.mark.parametrize(
    ("device", "caught", "all_else_is_right"),
    [
        (GammaTooLarge(3), "covers", False),
        pytest.param(GammaOfOthersTooLarge(), "covers", False, marks=pytest.mark.slow),
        (WrongWorstPair(), "covers", False),
        (SamplerOff(3), "drawn law", True),
        (SupportOfLevel(), "supports", False),
        (BiasedDecode(), "estimator", False),
        (BiasedDensities(3), "estimator", True),
        pytest.param(ClaimsToBeUnbiased(), "estimator", False, marks=pytest.mark.slow),
        (LevelsMixedUp(), "drawn law", True),
        pytest.param(
            UnitOfAnother(0, 1, delta_local=1e-3, cells=8),
            "estimator",
            True,
            marks=pytest.mark.slow,
        ),
        (SumsOfAnotherLevel(), "estimator", True),
        (SupportOfAnotherLevel(3), "estimator", True),
        (LocalDeltaTooSmall(3), "local budget", True),
        pytest.param(AttackClaimsTooMuch(), "crowds", True, marks=pytest.mark.slow),
        (OutOfRange(), "messages", False),
        (TakesAnything(), "messages", True),
        pytest.param(Bent(), "messages", False, marks=pytest.mark.slow),
        (TwiceTheLevel(3), "local budget", False),
    ],
    ids=lambda shown: (
        str(shown) if isinstance(shown, str | bool) else type(shown).__name__
    ),
)
def test_wrong_randomizers_are_caught_by_what_is_wrong(
    device: Any, caught: str, *, all_else_is_right: bool
) -> None:
    with pytest.raises(ConformanceError, match=f"{caught}: FAILS") as error:
        check_randomizer(device, rng=np.random.default_rng(20))

    found: Any = error.value.conformance
    assert caught in found.failed
    if all_else_is_right:
        assert found.failed == (caught,)
    assert isinstance(error.value, ShuffledpError)


def test_a_density_states_no_law_and_the_result_says_so() -> None:
    device = DensityRandomizer(
        lambda y, value, level: np.ones_like(y), (0.0, 1.0), 0.0, 1.0, 0.0, 0.0
    )

    found = check_randomizer(device, rng=np.random.default_rng(1))

    assert found.checked == ()
    assert {finding.about for finding in found.not_applicable} == set(PROPERTIES)
    with pytest.raises(InvalidInputError, match="law and law_values"):
        message_distribution(device, 1.0, 0.0)


@pytest.mark.parametrize("mechanism", sorted(set(MECHANISMS) - {"declared-ratios"}))
def test_laws_add_up_to_1(mechanism: str) -> None:
    device = build(mechanism, EXAMPLES[mechanism])

    for value in values_to_check(device):
        messages, chances = message_distribution(device, 0.7, value)
        assert len(messages) == chances.size
        assert np.all(chances >= 0.0)
        # Many thousand additions.
        assert chances.sum() == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize(
    ("device", "sends"),
    [pytest.param(*case, id=repr(case[0])) for case in finite_devices()],
)
def test_laws_are_those_of_the_textbook(device: Any, sends: Senders) -> None:
    values = (0.0, 1.0) if isinstance(device, OneBit) else values_to_check(device)

    stated = np.array([message_distribution(device, 1.3, value)[1] for value in values])

    # Messages may come in another order; devices are a hair more private.
    columns, others = (
        sorted(rows.round(12).T.tolist()) for rows in (stated, sends(1.3))
    )
    assert np.allclose(columns, others, rtol=0.0, atol=1e-11)


@pytest.mark.parametrize("levels", [(), (0.0,), (-1.0,), (np.nan,)])
def test_levels_out_of_range_are_refused(levels: tuple[float, ...]) -> None:
    with pytest.raises(InvalidInputError):
        check_randomizer(
            KRandomizedResponse(2), levels=levels, rng=np.random.default_rng(1)
        )


def test_what_is_no_randomizer_is_refused() -> None:
    wrong: Any
    for wrong in (KRandomizedResponse, object(), "kary-response"):
        with pytest.raises(InvalidInputError, match="hands over its cover"):
            check_randomizer(wrong, rng=np.random.default_rng(1))
