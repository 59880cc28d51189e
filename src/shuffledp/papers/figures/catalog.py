"""Every experiment by its name, as the command line writes it."""

from shuffledp.papers.apes import experiments as apes
from shuffledp.papers.eapes import experiments as eapes
from shuffledp.papers.figures.result import Experiment
from shuffledp.papers.hypothesis_testing import experiments as hypothesis_testing
from shuffledp.papers.lecture_notes import experiments as lecture_notes
from shuffledp.papers.segmented import experiments as segmented

EXPERIMENTS: dict[str, Experiment] = {
    **eapes.EXPERIMENTS,
    **apes.EXPERIMENTS,
    **lecture_notes.EXPERIMENTS,
    **hypothesis_testing.EXPERIMENTS,
    **segmented.EXPERIMENTS,
}
