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
    PopulationError,
    ShuffledpError,
    UnknownLevelError,
)
from shuffledp.population import Population
from shuffledp.protocols.frequency import Frequency
from shuffledp.randomness import SystemRandom
from shuffledp.shuffler.shuffle import Reports, ShuffledReports, shuffle
from shuffledp.version import __version__

__all__ = [
    "CertificationError",
    "DataError",
    "Frequency",
    "FrequencyEstimate",
    "Guarantee",
    "InvalidInputError",
    "LevelGuarantee",
    "MissingExtraError",
    "Population",
    "PopulationError",
    "Reports",
    "ShuffledReports",
    "ShuffledpError",
    "SystemRandom",
    "UnknownLevelError",
    "__version__",
    "account",
    "draw_budgets",
    "shuffle",
]
