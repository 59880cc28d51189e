"""What `shuffledp reproduce` computes of the lecture notes, by name."""

from shuffledp.papers.figures.result import Experiment

EXPERIMENTS: dict[str, Experiment] = {}
