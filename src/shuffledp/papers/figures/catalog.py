"""Every experiment by its name, as the command line writes it."""

from shuffledp.papers.figures import (
    apes_budgets,
    apes_calibration,
    apes_frameworks,
    apes_moments,
    apes_sweeps,
    bound_figures,
    eapes_average,
    eapes_frequency,
    eapes_training,
    segmented,
    testing_clones,
    testing_table,
)
from shuffledp.papers.figures.result import Experiment

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
    "eapes-fig4": Experiment(
        "E-APES Figure 4: bounds against the number of people.",
        bound_figures.EAPES_FIGURE_4.run,
        1,
    ),
    "apes-fig2": Experiment(
        "APES Figure 2: bounds, budgets up to 1.", bound_figures.APES_FIGURE_2.run, 1
    ),
    "apes-fig7": Experiment(
        "APES Figure 7: bounds, budgets up to 0.5.", bound_figures.APES_FIGURE_7.run, 1
    ),
    "apes-fig8": Experiment(
        "APES Figure 8: bounds, budgets up to 3.", bound_figures.APES_FIGURE_8.run, 1
    ),
    "eapes-fig5": Experiment(
        "E-APES Figure 5: accuracy of shuffled noisy SGD (5 minutes).",
        eapes_training.run,
        3,
    ),
    "apes-table3": Experiment(
        "APES Table 3: frameworks, privacy and accuracy (10 minutes).",
        apes_frameworks.TABLE_3,
        3,
    ),
    "apes-table4": Experiment(
        "APES Table 4: the same for six budget distributions (40 minutes).",
        apes_frameworks.TABLE_4,
        3,
    ),
    "apes-fig3": Experiment(
        "APES Figure 3: accuracy and budgets (40 minutes).",
        apes_budgets.run,
        3,
    ),
    "apes-fig4": Experiment(
        "APES Figure 4: accuracy and clip bound (10 minutes).",
        apes_sweeps.run_figure_4,
        3,
    ),
    "apes-fig5": Experiment(
        "APES Figure 5: accuracy and sparsification (20 minutes).",
        apes_sweeps.run_figure_5,
        3,
    ),
    "testing-fig4-pure": Experiment(
        "Liu et al. (2024), Figure 4: pure budgets, Laplace noise.",
        bound_figures.TESTING_FIGURE_4_PURE.run,
        1,
    ),
    "testing-fig4-approximate": Experiment(
        "Liu et al. (2024), Figure 4: approximate budgets, Gaussian noise.",
        bound_figures.TESTING_FIGURE_4_APPROXIMATE.run,
        1,
    ),
    "testing-fig3": Experiment(
        "Liu et al. (2024), Figure 3: clone probabilities.", testing_clones.run, 1
    ),
    "testing-table2": Experiment(
        "Liu et al. (2024), Table 2: delta at fixed epsilons.", testing_table.run, 1
    ),
    "segmented-fig2": Experiment(
        "Wang et al. (2025), Figure 2: sets of MSNBC pages, S1.", segmented.FIGURE_2, 50
    ),
    "segmented-fig3": Experiment(
        "Wang et al. (2025), Figure 3: sets of 128 items, S1.", segmented.FIGURE_3, 50
    ),
    "segmented-fig4": Experiment(
        "Wang et al. (2025), Figure 4: sets of MSNBC pages, S2 and S3.",
        segmented.FIGURE_4,
        50,
    ),
    "segmented-fig5": Experiment(
        "Wang et al. (2025), Figure 5: sets of 128 items, S2.", segmented.FIGURE_5, 50
    ),
    "segmented-fig6": Experiment(
        "Wang et al. (2025), Figure 6: sets of 128 items, S3.", segmented.FIGURE_6, 50
    ),
}
