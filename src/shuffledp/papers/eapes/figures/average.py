"""E-APES section 4.2, the average: Figures 6 and 7.

Values are drawn from N(50, sigma^2) and clipped to [20, 80]; the paper does not print
sigma, here it is 10. Algorithm 2 adds Laplace noise of scale 60 / eps_i, as published; the
other protocol is one bit per person, at local budgets for which its certified guarantee is
at each level that of Algorithm 2.
"""

import numpy as np

from shuffledp.accounting.account import account
from shuffledp.accounting.calibration import largest_budgets
from shuffledp.accounting.promise import Promise
from shuffledp.papers.eapes.figures.groups_picture import two_panels
from shuffledp.papers.eapes.figures.three_groups import (
    DELTA,
    GUARANTEES,
    NUM_USERS,
    SETTINGS,
    ThreeGroups,
    epsilon_of,
)
from shuffledp.papers.figures.result import Effort, Result
from shuffledp.population import Population
from shuffledp.randomizers.laplace import Laplace
from shuffledp.shuffler.shuffle import shuffle
from shuffledp.statistics.mean.protocol import Mean
from shuffledp.types import Floats

LOW, HIGH, CENTER, SIGMA = 20.0, 80.0, 50.0, 10.0


def run(effort: Effort) -> Result:
    """Returns errors and guarantees at every setting."""
    repetitions = effort.repetitions
    seed = effort.seed
    on_share = effort.on_share
    rng = np.random.default_rng(seed)
    rows = []
    for index, setting in enumerate(SETTINGS):
        people = setting.people
        laplace = Mean(LOW, HIGH, randomizer=Laplace(LOW, HIGH))
        guarantee = account(laplace, people, delta=DELTA)
        central = [level.epsilon_central for level in guarantee.levels]
        one_bit = Mean(LOW, HIGH)
        counts = people.counts.tolist()
        targets = dict(zip(central, counts, strict=True))
        fitted = largest_budgets(Promise(one_bit, DELTA), targets).people
        errors = np.array(
            [
                [
                    _published(setting.people, values, rng),
                    _one_bit(one_bit, fitted, values, rng),
                ]
                for values in _values(repetitions, rng)
            ]
        )
        rms = np.sqrt((errors**2).mean(axis=0))
        rows.append(
            _row(
                setting, central, rms, laplace.predicted_error(people), fitted, one_bit
            )
        )
        on_share((index + 1) / len(SETTINGS))
    return Result(
        title=f"Average of {NUM_USERS:,} values in [20, 80], {repetitions:,} repetitions",
        setting={"people": NUM_USERS, "delta": DELTA, "sigma": SIGMA},
        columns=(
            "varied", "at", "mu", "eps(mu)", "cert. C", "cert. M", "cert. L",
            "Laplace", "Laplace predicted", "one bit", "one bit predicted", "ratio",
        ),
        rows=tuple(rows),
        notes=(
            GUARANTEES,
            "Laplace: root mean squared error of Algorithm 2, and the predicted one. One "
            "bit: the same, one bit per person, at the same certified guarantees of every "
            "level. Ratio: of the two mean squared errors.",
            f"The paper does not print sigma: here {SIGMA:g}.",
        ),
        svg=two_panels(
            rows, "error of the average",
            {"Laplace, Algorithm 2": 7, "one bit, same guarantee": 9},
        ),
    )  # fmt: skip


def _values(repetitions: int, rng: np.random.Generator) -> list[Floats]:
    drawn = rng.normal(CENTER, SIGMA, (repetitions, NUM_USERS))
    return list(np.clip(drawn, LOW, HIGH))


def _published(people: Population, values: Floats, rng: np.random.Generator) -> float:
    """Returns the error of Algorithm 2, whose shuffle does not change a sum."""
    noise = rng.laplace(size=values.size) * ((HIGH - LOW) / people.budgets())
    return float(noise.mean())


def _one_bit(
    protocol: Mean, fitted: Population, values: Floats, rng: np.random.Generator
) -> float:
    levels = rng.permutation(fitted.budgets())
    shuffled = shuffle(protocol.randomize(values, levels, rng=rng), rng=rng)
    return protocol.estimate(shuffled, fitted).value - float(values.mean())


def _row(
    setting: ThreeGroups,
    central: list[float],
    rms: Floats,
    predicted: float,
    fitted: Population,
    one_bit: Mean,
) -> tuple[str | float, ...]:
    return (
        setting.varied,
        setting.at,
        setting.mu,
        epsilon_of(setting.mu, DELTA),
        *central,
        float(rms[0]),
        predicted,
        float(rms[1]),
        one_bit.predicted_error(fitted, mean=CENTER, spread=SIGMA),
        float((rms[1] / rms[0]) ** 2),
    )
