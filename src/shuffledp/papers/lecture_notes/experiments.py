"""What `shuffledp reproduce` computes of the lecture notes, by name."""

from shuffledp.papers.figures.result import Experiment
from shuffledp.papers.lecture_notes.figures import (
    amplification,
    lower_bound,
    noisy_sum,
    numbers,
    one_bit,
    rappor,
    response,
    risk,
    selection,
    shuffled_laplace,
)

EXPERIMENTS: dict[str, Experiment] = {
    "notes-response": Experiment(
        "Section 9.1: randomized responses beside a curator.", response.run, 1000
    ),
    "notes-lower-bound": Experiment(
        "Theorem 9.2: the least error of any local protocol.", lower_bound.run, 20
    ),
    "notes-laplace": Experiment(
        "Theorem 9.3: Laplace noise beside one bit.", numbers.run, 200
    ),
    "notes-one-bit": Experiment(
        "Section 9.1: any local protocol with one bit per person.", one_bit.run, 100
    ),
    "notes-rappor": Experiment(
        "Section 9.1.1 and Figure 9.2: averaged answers, and a report.",
        rappor.run,
        1000,
    ),
    "notes-erm": Experiment(
        "Section 9.2: excess empirical risk, and its rates.", risk.run, 40
    ),
    "notes-selection": Experiment(
        "Section 9.2: selection by the exponential mechanism.", selection.run, 100
    ),
    "notes-amplification": Experiment(
        "Theorem 9.4: amplification, its rate and constants.", amplification.run, 200
    ),
    "notes-shuffled-laplace": Experiment(
        "Example after Theorem 9.4: Laplace noise on every bit.", shuffled_laplace.run
    ),
    "notes-shuffled-sum": Experiment(
        "Theorem 9.6: the sum of bits in the shuffle model.", noisy_sum.run, 1000
    ),
}
