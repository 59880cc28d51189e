"""Statistics from people who each choose their own privacy level, in the shuffle model."""

from shuffledp.accounting.account import account
from shuffledp.accounting.guarantee import Guarantee, LevelGuarantee
from shuffledp.analyzer.frequency import FrequencyEstimate
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
from shuffledp.population import Population
from shuffledp.protocols.frequency import Frequency
from shuffledp.protocols.single_message import SingleMessage
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
from shuffledp.shuffler.shuffle import Reports, ShuffledReports, shuffle
from shuffledp.version import __version__

__all__ = [
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
    "SubsetSelection",
    "SystemRandom",
    "UnaryEncoding",
    "UnknownLevelError",
    "__version__",
    "account",
    "draw_budgets",
    "shuffle",
]
