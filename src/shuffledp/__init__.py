"""Statistics from people who each choose their own privacy level, in the shuffle model.

A name is imported when it is first used: `import shuffledp` itself loads nothing heavy.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from shuffledp.version import __version__

if TYPE_CHECKING:
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
    from shuffledp.shuffler.shuffle import Reports, ShuffledReports, shuffle
    from shuffledp.shuffler.shuffle_strings import shuffle_strings
    from shuffledp.statistics.binary_sum import BinarySum, SumEstimate
    from shuffledp.statistics.frequency import Frequency
    from shuffledp.statistics.mean import Mean
    from shuffledp.statistics.single_message import SingleMessage
    from shuffledp.statistics.string_guarantee import StringGuarantee, certify_strings
    from shuffledp.statistics.strings import Strings

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
    "StringGuarantee",
    "Strings",
    "SubsetSelection",
    "SumEstimate",
    "SystemRandom",
    "UnaryEncoding",
    "UnknownLevelError",
    "Wish",
    "__version__",
    "account",
    "certify_strings",
    "draw_budgets",
    "plan_frequency",
    "plan_mean",
    "shuffle",
    "shuffle_strings",
]

# Which module of this package each name comes from.
_MODULES = {
    "BinarySum": "statistics.binary_sum",
    "CertificationError": "errors",
    "ClipLaplace": "randomizers.clip_laplace",
    "DataError": "errors",
    "DeclaredRatios": "randomizers.declared_ratios",
    "DensityRandomizer": "randomizers.from_density",
    "Frequency": "statistics.frequency",
    "FrequencyEstimate": "analyzer.frequency",
    "Gaussian": "randomizers.gaussian",
    "Guarantee": "accounting.guarantee",
    "HadamardResponse": "randomizers.hadamard_response",
    "InvalidInputError": "errors",
    "KRandomizedResponse": "randomizers.kary_response",
    "Laplace": "randomizers.laplace",
    "LevelGuarantee": "accounting.guarantee",
    "LocalHashing": "randomizers.local_hashing",
    "Mean": "statistics.mean",
    "MeanEstimate": "analyzer.mean",
    "MissingExtraError": "errors",
    "OneBit": "randomizers.one_bit",
    "OutsidePreconditions": "errors",
    "Population": "population",
    "PopulationError": "errors",
    "Rappor": "randomizers.rappor",
    "Reports": "shuffler.shuffle",
    "ShuffledReports": "shuffler.shuffle",
    "ShuffledpError": "errors",
    "SingleMessage": "statistics.single_message",
    "StringEstimate": "analyzer.strings",
    "StringGuarantee": "statistics.string_guarantee",
    "Strings": "statistics.strings",
    "SubsetSelection": "randomizers.subset_selection",
    "SumEstimate": "statistics.binary_sum",
    "SystemRandom": "randomness",
    "UnaryEncoding": "randomizers.unary_encoding",
    "UnknownLevelError": "errors",
    "Wish": "planning.plan",
    "account": "accounting.account",
    "certify_strings": "statistics.string_guarantee",
    "draw_budgets": "budget_distributions",
    "plan_frequency": "planning.frequency",
    "plan_mean": "planning.mean",
    "shuffle": "shuffler.shuffle",
    "shuffle_strings": "shuffler.shuffle_strings",
}


def __getattr__(name: str) -> Any:
    """Imports a public name when it is first used."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """Returns public names, those that were not used yet, too."""
    return sorted({*globals(), *__all__})
