"""What `shuffledp reproduce` computes of Liu et al. (2024), by name."""

from shuffledp.papers.figures.result import Experiment
from shuffledp.papers.hypothesis_testing.figures import (
    figure_3,
    figure_4,
    table_2,
    theorem_1,
)

EXPERIMENTS = {
    "testing-fig3": Experiment("Figure 3: clone probabilities.", figure_3.run),
    "testing-theorem1": Experiment(
        "Theorem 1: the trade-off function, printed and mended.", theorem_1.run
    ),
    "testing-fig4-pure": Experiment(
        "Figure 4: pure budgets, Laplace noise.", figure_4.run_pure
    ),
    "testing-fig4-approximate": Experiment(
        "Figure 4: approximate budgets, Gaussian noise.", figure_4.run_approximate
    ),
    "testing-table2": Experiment("Table 2: delta at fixed epsilons.", table_2.run),
}
