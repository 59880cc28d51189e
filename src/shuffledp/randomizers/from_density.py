"""A randomizer of the user's own, given by the density of its messages.

The range of messages is cut into cells of width h, within which |(log f)'| <= S and
|(log f)''| <= K. All ordered pairs of a target user's values are tried.
"""

import hashlib
import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from shuffledp.arrays import as_number, float_array
from shuffledp.cover import Attack, CellBounds, Cover
from shuffledp.errors import InvalidInputError
from shuffledp.population import Population
from shuffledp.types import Floats

# (messages, value, epsilon) -> densities of these messages, shape as `messages`.
Density = Callable[[Floats, float, float], Floats]

_FINE = 1 << 14
_LOOKED_AT = 64
_COARSE = 512
_MOST_VALUES = 16
_MOST_LEVELS = 1_000


@dataclass(frozen=True, eq=False)
class DensityRandomizer:
    """A density on an interval, for finitely many possible values of a user.

    >>> import numpy as np
    >>> import shuffledp as sdp
    >>> def laplace(y, x, epsilon):
    ...     weights = np.exp(-epsilon * np.abs(y - x) / 2)
    ...     ends = np.exp(-epsilon * (x + 1) / 2) + np.exp(-epsilon * (2 - x) / 2)
    ...     return weights * epsilon / (2 * (2 - ends))
    >>> device = sdp.DensityRandomizer(laplace, (0.0, 1.0), -1.0, 2.0, 1.0, 0.0, (0.0, 1.0))
    >>> people = sdp.Population.from_counts({1.0: 1_000})
    >>> sdp.account(device, people, delta=1e-6).levels[0].epsilon_central
    0.0532449

    Attributes:
        density: Returns densities of messages, for a value and a local budget.
        values: The possible values of a user: 2 to 16 numbers.
        low: Smallest possible message.
        high: Largest possible message.
        log_slope: S, largest |d log f / dy| between breakpoints, at every level.
        log_curvature: K, largest |d^2 log f / dy^2| there.
        breakpoints: Messages at which the density may jump or bend, in (low, high).
        name: For the certificate.

    Raises:
        InvalidInputError: If a parameter is out of range.
    """

    density: Density
    values: tuple[float, ...]
    low: float
    high: float
    log_slope: float
    log_curvature: float
    breakpoints: tuple[float, ...] = ()
    name: str = "user-density"

    def __post_init__(self) -> None:
        values = float_array(self.values, "values")
        if not 2 <= np.unique(values).size == values.size <= _MOST_VALUES:
            raise InvalidInputError(
                f"Expected 2 to {_MOST_VALUES} different values, got {values.size}."
            )
        for name in ("low", "high", "log_slope", "log_curvature"):
            if not math.isfinite(as_number(getattr(self, name), name)):
                raise InvalidInputError(f"Expected {name} to be finite.")
        if not self.low < self.high:
            raise InvalidInputError(
                f"Expected messages with low < high, got {self.low:g} to {self.high:g}."
            )
        if self.log_slope < 0.0 or self.log_curvature < 0.0:
            raise InvalidInputError("Expected log_slope and log_curvature >= 0.")
        points = float_array(self.breakpoints, "breakpoints")
        if not np.all((points > self.low) & (points < self.high)):
            raise InvalidInputError("Expected breakpoints between low and high.")

    @property
    def mechanism(self) -> str:
        """The name of the randomizer."""
        return self.name

    @property
    def parameters(self) -> dict[str, int | float | str]:
        """The public parameters, for the certificate."""
        return {
            "values": _all_digits(self.values),
            "low": float(self.low),
            "high": float(self.high),
            "log_slope": float(self.log_slope),
            "log_curvature": float(self.log_curvature),
            "breakpoints": _all_digits(self.breakpoints),
            "density": self._fingerprint(),
        }

    def _fingerprint(self) -> str:
        """Returns a digest of densities at some messages: two functions have two."""
        messages = np.linspace(self.low, self.high, _LOOKED_AT + 2)[1:-1]
        rows = [
            self.density(messages, value, level)
            for value in self.values
            for level in (0.5, 1.0)
        ]
        # Nine digits are the same on every machine, up to a rare rounding.
        text = " ".join(f"{number:.9e}" for number in np.ravel(rows).tolist())
        return hashlib.sha256(text.encode()).hexdigest()[:32]

    @property
    def assumptions(self) -> tuple[str, ...]:
        """The declared bounds on the density."""
        return (
            "Declared, not measured: messages have the given density on the given "
            "interval, every level keeps its budget there, and between breakpoints its "
            f"logarithm has a slope of at most {self.log_slope:g} and a curvature of at "
            f"most {self.log_curvature:g}.",
        )

    @property
    def changes(self) -> int:
        """1: a report is one message."""
        return 1

    @property
    def delta_local(self) -> float:
        """0: pure local privacy."""
        return 0.0

    def local_delta(self, level: float, epsilon: float) -> float:
        """Returns the largest divergence of one message over all pairs of values.

        Raises:
            InvalidInputError: If the densities show more than the level promises.
        """
        densities, widths, slack, mean_error = self._fine_cells(level)
        logs = np.log(densities)
        largest_ratio = float((logs.max(axis=0) - logs.min(axis=0)).max())
        if largest_ratio > level * (1.0 + 1e-9) + 1e-12:
            raise InvalidInputError(
                f"Expected densities that keep a local budget of {level:g}, but they "
                f"show {largest_ratio:g}."
            )
        if epsilon >= level:
            return 0.0
        first = densities[:, None, :] * (1.0 + mean_error)
        second = (
            densities[None, :, :] * (1.0 - mean_error) * math.exp(min(epsilon, 709.0))
        )
        # Within a cell the ratio varies by e^{2 slack}.
        excess = np.maximum(first * np.exp(2.0 * slack) - second, 0.0) @ widths
        return min(float(excess.max()), 1.0)

    def covers(
        self, target_users: Sequence[float], population: Population, *, delta: float
    ) -> list[tuple[Cover, ...]]:
        """Returns one cover for each ordered pair of values of each target user."""
        del delta
        if population.num_levels > _MOST_LEVELS:
            raise InvalidInputError(
                f"Expected at most {_MOST_LEVELS} distinct levels for a density given as "
                f"a function, got {population.num_levels}."
            )
        minima = []
        for level in population.epsilons.tolist():
            densities, widths, slack, _ = self._fine_cells(level)
            minima.append((densities * np.exp(-slack)).min(axis=0))
        minimum_densities = np.array(minima)
        shape = population.counts @ minimum_densities
        # The smallest density, over all values, of the average user.
        omega = shape / (shape @ widths)
        gamma = np.minimum((minimum_densities / omega).min(axis=1) * (1.0 - 1e-12), 1.0)
        covers = []
        for target_user in target_users:
            densities, widths, slack, mean_error = self._fine_cells(target_user)
            covers.append(
                tuple(
                    _pair_cover(first, second, omega, widths, slack, mean_error, gamma)
                    for first, second in itertools.permutations(densities, 2)
                )
            )
        return covers

    def attacks(
        self, target_users: Sequence[float], population: Population
    ) -> list[tuple[Attack, ...]]:
        """Returns none: exact probabilities would need exact integrals."""
        del population
        return [() for _ in target_users]

    def _fine_cells(self, level: float) -> tuple[Floats, Floats, Floats, Floats]:
        """Returns densities in the middle, widths, and bounds of variation and error."""
        knots = np.array([self.low, *sorted(self.breakpoints), self.high])
        share = np.diff(knots) / (self.high - self.low)
        parts = np.maximum(np.ceil(share * _FINE), 4.0).astype(np.int64)
        edges = np.concatenate(
            [
                np.linspace(left, right, count, endpoint=False)
                for left, right, count in zip(knots[:-1], knots[1:], parts, strict=True)
            ]
            + [knots[-1:]]
        )
        widths = np.diff(edges)
        middle = edges[:-1] + widths / 2.0
        rows = [
            np.asarray(self.density(middle, value, level), dtype=np.float64)
            for value in self.values
        ]
        densities = np.array([row for row in rows if row.shape == middle.shape])
        if len(densities) < len(rows) or not np.all(
            np.isfinite(densities) & (densities > 0.0)
        ):
            raise InvalidInputError(
                "Expected a density that is finite and positive, one per message."
            )
        # Every density in a cell lies within a factor of e^{S h / 2} of the middle one.
        slack = self.log_slope * widths / 2.0
        # As |f''| <= (S^2 + K) f, the midpoint rule gives a cell's mass up to a factor
        # of 1 + (S^2 + K) h^2 e^{S h} / 24.
        bend = (self.log_slope**2 + self.log_curvature) * widths**2 / 24.0
        mean_error = bend * np.exp(2.0 * slack) + 1e-14
        self._check(densities, widths, middle, slack, mean_error)
        return densities, widths, slack, mean_error

    def _check(
        self,
        densities: Floats,
        widths: Floats,
        middle: Floats,
        slack: Floats,
        mean_error: Floats,
    ) -> None:
        total = densities @ widths
        error = densities @ (widths * mean_error)
        if not np.all(np.abs(total - 1.0) <= error + 1e-9):
            raise InvalidInputError(
                f"Expected densities that integrate to 1 on [{self.low:g}, "
                f"{self.high:g}], got {total.min():.9g} to {total.max():.9g}."
            )
        # Declared slopes that the density itself contradicts are refused.
        piece = np.searchsorted(sorted(self.breakpoints), middle)
        inside = piece[1:] == piece[:-1]
        steps = np.abs(np.diff(np.log(densities), axis=1))
        max_error = (slack[1:] + slack[:-1]) * (1.0 + 1e-6) + 1e-12
        if np.any(steps[:, inside] > max_error[inside]):
            raise InvalidInputError(
                f"Expected a log_slope of at least {self._steepest(steps, middle):g}, "
                f"got {self.log_slope:g}."
            )

    @staticmethod
    def _steepest(steps: Floats, middle: Floats) -> float:
        return float((steps / np.diff(middle)).max())


def _pair_cover(
    density_x: Floats,
    density_y: Floats,
    omega: Floats,
    widths: Floats,
    slack: Floats,
    mean_error: Floats,
    gamma: Floats,
) -> Cover:
    """Returns the cover for one pair, fine cells put together into coarser ones."""
    starts = np.arange(0, widths.size, max(1, widths.size // _COARSE))
    masses = np.add.reduceat(omega * widths, starts)
    # Differences are rounded up, bases down: either only raises the loss.
    first, second = (
        np.add.reduceat(row * widths * factor, starts) / masses
        for row, factor in (
            (density_x, 1.0 + mean_error),
            (density_y, 1.0 - mean_error),
        )
    )
    densities = np.array([density_x, density_y]) / omega
    slack_factor = np.exp(slack)
    return Cover(
        blanket_probabilities=gamma,
        masses=masses / masses.sum(),
        differences=first - second,
        bases=second,
        cells=CellBounds(
            np.minimum.reduceat(densities / slack_factor, starts, axis=1),
            np.maximum.reduceat(densities * slack_factor, starts, axis=1),
        ),
    )


def _all_digits(numbers: tuple[float, ...]) -> str:
    """Returns all digits of all numbers: others make another randomizer."""
    return ", ".join(repr(float(number)).removesuffix(".0") for number in numbers)
