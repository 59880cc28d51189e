"""Statistics from people who each choose their own privacy level, in the shuffle model."""

from shuffledp.accounting.account import account
from shuffledp.accounting.guarantee import Guarantee, LevelGuarantee
from shuffledp.analyzer.frequency import FrequencyEstimate
from shuffledp.analyzer.mean import MeanEstimate
from shuffledp.analyzer.strings import StringEstimate
from shuffledp.budget_distributions import draw_budgets
from shuffledp.errors import (
    CertificationError,
    DataError,
    InvalidInputError,
    MissingExtraError,
    OutsidePreconditions,
    PopulationError,
    ShuffledpError,
    UnknownLevelError,
)
from shuffledp.planning.frequency import plan_frequency
from shuffledp.planning.mean import plan_mean
from shuffledp.planning.plan import Wish
from shuffledp.population import Population
from shuffledp.randomizers.clip_laplace import ClipLaplace
from shuffledp.randomizers.declared_ratios import DeclaredRatios
from shuffledp.randomizers.from_density import DensityRandomizer
from shuffledp.randomizers.gaussian import Gaussian
from shuffledp.randomizers.hadamard_response import HadamardResponse
from shuffledp.randomizers.kary_response import KRandomizedResponse
from shuffledp.randomizers.laplace import Laplace
from shuffledp.randomizers.local_hashing import LocalHashing
from shuffledp.randomizers.one_bit import OneBit
from shuffledp.randomizers.rappor import Rappor
from shuffledp.randomizers.subset_selection import SubsetSelection
from shuffledp.randomizers.unary_encoding import UnaryEncoding
from shuffledp.randomness import SystemRandom
from shuffledp.reports import Reports, ShuffledReports
from shuffledp.shuffler.shuffle import shuffle
from shuffledp.statistics.frequency.protocol import Frequency
from shuffledp.statistics.mean.protocol import Mean
from shuffledp.statistics.single_message import SingleMessage
from shuffledp.statistics.strings.protocol import Strings
from shuffledp.statistics.sum.protocol import BinarySum, SumEstimate
from shuffledp.version import __version__

__all__ = [
    "BinarySum",
    "CertificationError",
    "ClipLaplace",
    "DataError",
    "DeclaredRatios",
    "DensityRandomizer",
    "Frequency",
    "FrequencyEstimate",
    "Gaussian",
    "Guarantee",
    "HadamardResponse",
    "InvalidInputError",
    "KRandomizedResponse",
    "Laplace",
    "LevelGuarantee",
    "LocalHashing",
    "Mean",
    "MeanEstimate",
    "MissingExtraError",
    "OneBit",
    "OutsidePreconditions",
    "Population",
    "PopulationError",
    "Rappor",
    "Reports",
    "ShuffledReports",
    "ShuffledpError",
    "SingleMessage",
    "StringEstimate",
    "Strings",
    "SubsetSelection",
    "SumEstimate",
    "SystemRandom",
    "UnaryEncoding",
    "UnknownLevelError",
    "Wish",
    "__version__",
    "account",
    "draw_budgets",
    "plan_frequency",
    "plan_mean",
    "shuffle",
]
