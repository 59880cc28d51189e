"""Every experiment by its name, as the command line writes it."""

from shuffledp.experiments import (
    apes_calibration,
    apes_moments,
    eapes_average,
    eapes_frequency,
)
from shuffledp.experiments.result import Experiment

EXPERIMENTS = {
    "eapes-average": Experiment(
        "E-APES section 4.2: the average, with its certificate.",
        eapes_average.run,
        1000,
    ),
    "eapes-frequency": Experiment(
        "E-APES section 4.2: the frequency of a bit.", eapes_frequency.run, 1000
    ),
    "apes-fig6": Experiment(
        "APES Figure 6: error of the calibration.", apes_calibration.run, 200
    ),
    "apes-fig9": Experiment(
        "APES Figure 9: variance of Clip-Laplace.", apes_moments.run_variance, 100_000
    ),
    "apes-fig10": Experiment(
        "APES Figure 10: bias of Clip-Laplace.", apes_moments.run_bias, 100_000
    ),
}
