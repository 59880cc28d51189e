"""What `shuffledp reproduce` computes of Wang et al. (2025), by name."""

from shuffledp.papers.figures.result import Experiment
from shuffledp.papers.segmented.figures import any_randomizer, errors, gain

EXPERIMENTS = {
    "segmented-fig2": Experiment(
        "Figure 2: sets of MSNBC pages, S1.", errors.FIGURE_2, 50
    ),
    "segmented-fig3": Experiment(
        "Figure 3: sets of 128 items, S1.", errors.FIGURE_3, 50
    ),
    "segmented-fig4": Experiment(
        "Figure 4: sets of MSNBC pages, S2 and S3.", errors.FIGURE_4, 50
    ),
    "segmented-fig5": Experiment(
        "Figure 5: sets of 128 items, S2.", errors.FIGURE_5, 50
    ),
    "segmented-fig6": Experiment(
        "Figure 6: sets of 128 items, S3.", errors.FIGURE_6, 50
    ),
    "segmented-gain": Experiment(
        "Sections 6.1 and 6.4: how much less the error is, under several readings.",
        gain.run,
    ),
    "segmented-any": Experiment(
        "Algorithm 1 with k-ary response and with noisy numbers.",
        any_randomizer.run,
        1000,
    ),
}
