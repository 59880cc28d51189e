"""Statistics from people who each choose their own privacy level, in the shuffle model.

A name is imported when it is first used: `import shuffledp` itself loads nothing heavy.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from shuffledp.public_names import MODULES
from shuffledp.version import __version__

# Type checkers run no `__getattr__`: for them, names are imported here.
if TYPE_CHECKING:
    from shuffledp.accounting.account import account
    from shuffledp.accounting.calibration.calibrated_population import Calibration
    from shuffledp.accounting.calibration.calibration import (
        largest_budget,
        largest_budgets,
        largest_scale,
        most_rounds,
        smallest_crowd,
    )
    from shuffledp.accounting.calibration.promise import Promise
    from shuffledp.accounting.counts.count_noise import PoissonNoise
    from shuffledp.accounting.counts.counts_parameters import CountGroup
    from shuffledp.accounting.counts.geometric_noise import GeometricNoise
    from shuffledp.accounting.counts.shuffler_noise import ShufflerNoise
    from shuffledp.accounting.counts.slot_noise import SlotNoise
    from shuffledp.accounting.guarantee import Guarantee
    from shuffledp.accounting.joint.protocol_composition import ProtocolComposition
    from shuffledp.accounting.privacy_loss_distribution import to_pld
    from shuffledp.accounting.privacy_profile import PrivacyProfile, privacy_profile
    from shuffledp.accounting.statement import LevelGuarantee, Statement
    from shuffledp.accounting.verification import Verification
    from shuffledp.analyzer.consistent_estimate import ConsistentEstimate
    from shuffledp.analyzer.counts import CountsEstimate
    from shuffledp.analyzer.frequency import FrequencyEstimate
    from shuffledp.analyzer.items import ItemsEstimate
    from shuffledp.analyzer.mean import MeanEstimate
    from shuffledp.analyzer.string_estimate import StringEstimate
    from shuffledp.budget_distributions import draw_budgets
    from shuffledp.errors import (
        CertificationError,
        ConformanceError,
        DataError,
        IdentityError,
        InvalidInputError,
        MissingExtraError,
        MissingValueError,
        PopulationError,
        ShuffledpError,
        UnknownLevelError,
    )
    from shuffledp.identity import Identity
    from shuffledp.planning.wish import Wish
    from shuffledp.population import Population
    from shuffledp.randomizers.clip_laplace import ClipLaplace
    from shuffledp.randomizers.declared_ratios import DeclaredRatios
    from shuffledp.randomizers.from_density import DensityRandomizer
    from shuffledp.randomizers.gaussian import Gaussian
    from shuffledp.randomizers.grid_response import GridResponse
    from shuffledp.randomizers.hadamard_response import HadamardResponse
    from shuffledp.randomizers.kary_response import KRandomizedResponse
    from shuffledp.randomizers.laplace import Laplace
    from shuffledp.randomizers.local_hashing import LocalHashing
    from shuffledp.randomizers.one_bit import OneBit
    from shuffledp.randomizers.rappor import Rappor
    from shuffledp.randomizers.subset_selection import SubsetSelection
    from shuffledp.randomizers.unary_encoding import UnaryEncoding
    from shuffledp.randomness import KeyedRandom, SystemRandom
    from shuffledp.rehearsal.rehearse import rehearse
    from shuffledp.rehearsal.rehearsed import Rehearsed
    from shuffledp.reports import Reports, ShuffledReports
    from shuffledp.shuffler.shuffle import shuffle
    from shuffledp.statistics.counts.protocol import Counts
    from shuffledp.statistics.frequency.frequency_plan import plan_frequency
    from shuffledp.statistics.frequency.protocol import Frequency
    from shuffledp.statistics.items.items_framework import ItemsFramework
    from shuffledp.statistics.items.protocol import Items
    from shuffledp.statistics.mean.mean_plan import plan_mean
    from shuffledp.statistics.mean.protocol import Mean
    from shuffledp.statistics.questionnaire.choice_question import (
        ChoiceEstimate,
        ChoiceQuestion,
    )
    from shuffledp.statistics.questionnaire.distribution_estimate import (
        ConsistentDistribution,
        DistributionEstimate,
    )
    from shuffledp.statistics.questionnaire.distribution_question import (
        DistributionQuestion,
    )
    from shuffledp.statistics.questionnaire.group_mean_estimate import (
        ConsistentGroupMeans,
        GroupMeanEstimate,
    )
    from shuffledp.statistics.questionnaire.group_mean_question import GroupMeanQuestion
    from shuffledp.statistics.questionnaire.hashed.hashed_choice_estimate import (
        HashedChoiceEstimate,
    )
    from shuffledp.statistics.questionnaire.hashed.hashed_choice_question import (
        HashedChoiceQuestion,
    )
    from shuffledp.statistics.questionnaire.number_question import (
        NumberEstimate,
        NumberQuestion,
    )
    from shuffledp.statistics.questionnaire.pairs_question import (
        PairsEstimate,
        PairsQuestion,
    )
    from shuffledp.statistics.questionnaire.protocol import Questionnaire
    from shuffledp.statistics.questionnaire.questionnaire_plan import plan_questionnaire
    from shuffledp.statistics.questionnaire.table_question import (
        ConsistentTable,
        TableEstimate,
        TableQuestion,
    )
    from shuffledp.statistics.questionnaire.texts.unlisted_strings_estimate import (
        UnlistedStringsEstimate,
    )
    from shuffledp.statistics.questionnaire.texts.unlisted_strings_plan import (
        plan_unlisted_strings,
    )
    from shuffledp.statistics.questionnaire.texts.unlisted_strings_question import (
        UnlistedStringsQuestion,
    )
    from shuffledp.statistics.single_message import SingleMessage
    from shuffledp.statistics.strings.protocol import Strings
    from shuffledp.statistics.sum.protocol import BinarySum, SumEstimate
    from shuffledp.statistics.verify_certificate import verify
    from shuffledp.tally import Tally

__all__ = [
    "BinarySum",
    "Calibration",
    "CertificationError",
    "ChoiceEstimate",
    "ChoiceQuestion",
    "ClipLaplace",
    "ConformanceError",
    "ConsistentDistribution",
    "ConsistentEstimate",
    "ConsistentGroupMeans",
    "ConsistentTable",
    "CountGroup",
    "Counts",
    "CountsEstimate",
    "DataError",
    "DeclaredRatios",
    "DensityRandomizer",
    "DistributionEstimate",
    "DistributionQuestion",
    "Frequency",
    "FrequencyEstimate",
    "Gaussian",
    "GeometricNoise",
    "GridResponse",
    "GroupMeanEstimate",
    "GroupMeanQuestion",
    "Guarantee",
    "HadamardResponse",
    "HashedChoiceEstimate",
    "HashedChoiceQuestion",
    "Identity",
    "IdentityError",
    "InvalidInputError",
    "Items",
    "ItemsEstimate",
    "ItemsFramework",
    "KRandomizedResponse",
    "KeyedRandom",
    "Laplace",
    "LevelGuarantee",
    "LocalHashing",
    "Mean",
    "MeanEstimate",
    "MissingExtraError",
    "MissingValueError",
    "NumberEstimate",
    "NumberQuestion",
    "OneBit",
    "PairsEstimate",
    "PairsQuestion",
    "PoissonNoise",
    "Population",
    "PopulationError",
    "PrivacyProfile",
    "Promise",
    "ProtocolComposition",
    "Questionnaire",
    "Rappor",
    "Rehearsed",
    "Reports",
    "ShuffledReports",
    "ShuffledpError",
    "ShufflerNoise",
    "SingleMessage",
    "SlotNoise",
    "Statement",
    "StringEstimate",
    "Strings",
    "SubsetSelection",
    "SumEstimate",
    "SystemRandom",
    "TableEstimate",
    "TableQuestion",
    "Tally",
    "UnaryEncoding",
    "UnknownLevelError",
    "UnlistedStringsEstimate",
    "UnlistedStringsQuestion",
    "Verification",
    "Wish",
    "__version__",
    "account",
    "draw_budgets",
    "largest_budget",
    "largest_budgets",
    "largest_scale",
    "most_rounds",
    "plan_frequency",
    "plan_mean",
    "plan_questionnaire",
    "plan_unlisted_strings",
    "privacy_profile",
    "rehearse",
    "shuffle",
    "smallest_crowd",
    "to_pld",
    "verify",
]


def __getattr__(name: str) -> Any:
    """Imports a public name when it is first used."""
    if name not in MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{MODULES[name]}"), name)
    # Stored, so that Python finds it from now on without this function.
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """Returns public names, those that were not used yet, too."""
    return sorted(__all__)
