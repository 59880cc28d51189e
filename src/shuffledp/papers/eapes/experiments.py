"""What `shuffledp reproduce` computes of E-APES, by name."""

from shuffledp.papers.eapes.figures import average, figure_4, frequency, training
from shuffledp.papers.figures.result import Experiment

EXPERIMENTS = {
    "eapes-fig4": Experiment(
        "Figure 4: bounds against the number of people.", figure_4.FIGURE_4.run
    ),
    "eapes-fig5": Experiment(
        "Figure 5: accuracy of shuffled noisy SGD (5 minutes).", training.run, 3
    ),
    "eapes-average": Experiment(
        "Section 4.2: the average, with its certificate.", average.run, 1000
    ),
    "eapes-frequency": Experiment(
        "Section 4.2: the frequency of a bit.", frequency.run, 1000
    ),
}
