"""What `shuffledp reproduce` computes of E-APES, by name."""

from shuffledp.papers.eapes.figures import (
    average,
    candidates,
    figure_2,
    figure_3,
    figure_4,
    frequency,
    groups,
    lemma_3,
    robustness,
    theorem_3,
    training,
)
from shuffledp.papers.figures.result import Experiment

EXPERIMENTS = {
    "eapes-fig2": Experiment("Figure 2: trade-off functions.", figure_2.run),
    "eapes-fig3": Experiment("Figure 3: composition.", figure_3.run),
    "eapes-theorem3": Experiment(
        "Theorems 1 to 3: an adaptive process, stated, exact and proven.", theorem_3.run
    ),
    "eapes-lemma3": Experiment(
        "Lemma 3: counts and their normal limit.",
        lemma_3.run,
        quick="more than 500 people",
    ),
    "eapes-groups": Experiment("Fact 2: groups of people.", groups.run),
    "eapes-fig4": Experiment(
        "Figure 4: bounds against the number of people.",
        figure_4.run,
        5,
        quick="three of five distributions",
    ),
    "eapes-robustness": Experiment(
        "Section 4.1, claim (i): a few extreme budgets.", robustness.run
    ),
    "eapes-fig5": Experiment(
        "Figure 5: accuracy of shuffled noisy SGD (5 minutes).", training.run, 3
    ),
    "eapes-candidates": Experiment(
        "Algorithm 1: the accuracy of every reading (4 minutes).",
        candidates.run,
        quick="all but 5 of 50 epochs, and most readings",
    ),
    "eapes-average": Experiment(
        "Section 4.2: the average, with its certificate.", average.run, 1000
    ),
    "eapes-frequency": Experiment(
        "Section 4.2: the frequency of a bit.", frequency.run, 1000
    ),
}
