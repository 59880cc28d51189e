"""What `shuffledp reproduce` computes of APES, by name."""

from shuffledp.papers.apes.figures import (
    bounds,
    budgets,
    calibration,
    candidates,
    convergence,
    frameworks,
    local_bounds,
    moments,
    noise,
    reach,
    sweeps,
)
from shuffledp.papers.figures.result import Experiment

_ONCE = "one repetition, no standard errors"

EXPERIMENTS = {
    "apes-fig2": Experiment("Figure 2: bounds, budgets up to 1.", bounds.run_figure_2),
    "apes-fig3": Experiment(
        "Figure 3: accuracy and budgets (7 minutes).", budgets.run, 3, _ONCE
    ),
    "apes-fig4": Experiment(
        "Figure 4: accuracy and clip bound (3 minutes).", sweeps.run_figure_4, 3, _ONCE
    ),
    "apes-fig5": Experiment(
        "Figure 5: accuracy and sparsification (8 minutes).",
        sweeps.run_figure_5,
        3,
        _ONCE,
    ),
    "apes-fig6": Experiment(
        "Figure 6: error of the calibration.", calibration.run, 200
    ),
    "apes-fig7": Experiment(
        "Figure 7: bounds, budgets up to 0.5.", bounds.run_figure_7
    ),
    "apes-fig8": Experiment("Figure 8: bounds, budgets up to 3.", bounds.run_figure_8),
    "apes-fig9": Experiment(
        "Figure 9: variance of Clip-Laplace.", moments.run_variance, 100_000
    ),
    "apes-fig10": Experiment(
        "Figure 10: bias of Clip-Laplace.", moments.run_bias, 100_000
    ),
    "apes-table3": Experiment(
        "Table 3: frameworks, privacy and accuracy (3 minutes).",
        frameworks.TABLE_3,
        3,
        _ONCE,
    ),
    "apes-table4": Experiment(
        "Table 4: the same for six budget distributions (9 minutes).",
        frameworks.TABLE_4,
        3,
        _ONCE,
    ),
    "apes-local": Experiment(
        "Theorems 1 and 3: local budgets of many coordinates.", local_bounds.run
    ),
    "apes-reach": Experiment(
        "Definition 4 and Lemma 4: messages wider than values, A > C.", reach.run
    ),
    "apes-noise": Experiment(
        "Lemmas 9 and 10: the size of Clip-Laplace noise.", noise.run
    ),
    "apes-convergence": Experiment(
        "Theorem 2: bounds on the loss, beside a training.", convergence.run, 3
    ),
    "apes-candidates": Experiment(
        "Table 4: which ways of computing give its epsilons.", candidates.run
    ),
}
