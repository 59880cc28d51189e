"""The catalog of statistics by name, a line each; modules are imported when first used.

A statistic has a folder: `protocol.py` with its `PROTOCOL`; `rehearsal.py` with its options
and summary for a command line and a report (`STATISTIC`); if people can be asked about it,
`survey.py` for services (`SURVEY`); and, if its protocols are compared before a collection,
`plan.py` for a command line (`PLAN`), and `exploration.py` for a page (`EXPLORATION`).
"""

from importlib import import_module
from importlib.resources import files
from inspect import signature
from typing import TYPE_CHECKING, Any

from shuffledp.accounting.exposure import Certifiable
from shuffledp.errors import DataError, InvalidInputError
from shuffledp.identity import Identity

if TYPE_CHECKING:
    from shuffledp.planning.plan_declaration import PlanDeclaration
    from shuffledp.statistics.exploration import Exploration
    from shuffledp.statistics.rehearsal_stage import Rehearsal
    from shuffledp.statistics.statistic import Statistic
    from shuffledp.statistics.survey import Survey

# A line for each folder. The first is the usual one.
STATISTICS = (
    "frequency",
    "mean",
    "sum",
    "strings",
    "items",
)
# Statistics with a folder, and without a rehearsal.
UNREHEARSED = ("counts",)
# Folders of encodings: what runs there is the protocol of a statistic above.
ENCODINGS = ("questionnaire",)
# Protocols without a folder of their own, and their modules.
_OTHERS = {
    "choices": "statistics.choices",
    "message": "statistics.single_message",
    "several": "statistics.composition_reader",
    "training": "federated.round_protocol",
}
# The module of each statistic's protocol; `_module` imports it when it is first needed.
_PROTOCOLS = {
    name: f"statistics.{name}.protocol" for name in (*STATISTICS, *UNREHEARSED)
} | _OTHERS


def _statistics_with(file: str) -> tuple[str, ...]:
    """Returns the statistics whose folder has this file."""
    folder = files("shuffledp.statistics")
    names = (*STATISTICS, *UNREHEARSED, *ENCODINGS)
    return tuple(name for name in names if folder.joinpath(name, file).is_file())


# Statistics, and encodings of them, that are rehearsed on known values.
REHEARSALS = _statistics_with("rehearsal.py")
# Statistics that services can ask people about.
SURVEYS = _statistics_with("survey.py")
# Statistics whose protocols are compared before a collection.
PLANS = _statistics_with("plan_command.py")
# Statistics with a choice of mechanisms, which a page compares.
EXPLORATIONS = _statistics_with("exploration.py")


def statistic_named(name: str) -> "Statistic":
    """Returns the options, labels and rehearsal of a statistic.

    >>> statistic_named("mean").words.title
    'Mean'

    Raises:
        InvalidInputError: If there is none of this name.
    """
    if name not in REHEARSALS:
        raise InvalidInputError(
            f"Expected one of {', '.join(REHEARSALS)}, got {name!r}."
        )
    statistic: Statistic = _module(f"statistics.{name}.rehearsal").STATISTIC
    return statistic


def protocol_class(name: str) -> Any:
    """Returns the class of a statistic's protocol.

    >>> protocol_class("frequency").__name__
    'Frequency'

    Args:
        name: One of `STATISTICS`.
    """
    return _module(_PROTOCOLS[name]).PROTOCOL


def survey_named(name: object) -> "type[Survey]":
    """Returns the survey of a statistic, as services use it.

    >>> survey_named("mean").words.title
    'Mean'

    Raises:
        InvalidInputError: If there is none of this name that people can be asked about.
    """
    if not isinstance(name, str) or name not in SURVEYS:
        raise InvalidInputError(f"Expected one of {', '.join(SURVEYS)}, got {name!r}.")
    survey: type[Survey] = _module(f"statistics.{name}.survey").SURVEY
    return survey


def plan_named(name: str) -> "PlanDeclaration":
    """Returns the plan of a statistic, as a command line offers it.

    >>> [parameter.option for parameter in plan_named("frequency").parameters]
    ['categories', 'share']

    Raises:
        InvalidInputError: If there is none of this name.
    """
    if name not in PLANS:
        raise InvalidInputError(f"Expected one of {', '.join(PLANS)}, got {name!r}.")
    declaration: PlanDeclaration = _module(f"statistics.{name}.plan_command").PLAN
    return declaration


def exploration_named(name: str) -> "Exploration":
    """Returns a statistic as a page explores it.

    >>> exploration_named("mean").value.label
    'Mean to estimate'

    Raises:
        InvalidInputError: If there is none of this name.
    """
    if name not in EXPLORATIONS:
        raise InvalidInputError(
            f"Expected one of {', '.join(EXPLORATIONS)}, got {name!r}."
        )
    exploration: Exploration = _module(f"statistics.{name}.exploration").EXPLORATION
    return exploration


def made_up_rehearsal(num_users: int, shares: dict[float, float]) -> "Rehearsal":
    """Returns a rehearsal of a collection from made-up people, for a demonstration.

    Args:
        num_users: How many people take part.
        shares: Privacy levels, and the share of people at each.
    """
    made_up = _module("statistics.frequency.made_up_visitors")
    rehearsal: Rehearsal = made_up.made_up_rehearsal(num_users, shares)
    return rehearsal


def protocol_of(identity: Identity, mechanism: Any = None) -> Certifiable:
    """Returns the protocol with this identity, rebuilt from its record.

    >>> import shuffledp as sdp
    >>> protocol_of(sdp.Frequency(9).identity).num_categories
    9

    Args:
        identity: Of a certificate.
        mechanism: The class of a mechanism that is not this library's, or an object of it.

    Raises:
        DataError: If it is none that this library can build, or another than with this
            mechanism.
    """
    record = identity.record
    name = record["statistic"]
    if name not in _PROTOCOLS:
        raise DataError(f"Expected one of {', '.join(_PROTOCOLS)}, got {name!r}.")
    mechanism_argument = () if mechanism is None else (mechanism,)
    kind = _module(_PROTOCOLS[name]).PROTOCOL
    if mechanism is not None and not _takes_mechanism(kind):
        kinds = {each: _module(path).PROTOCOL for each, path in _PROTOCOLS.items()}
        takers = ", ".join(n for n, kind in kinds.items() if _takes_mechanism(kind))
        raise DataError(
            f"Expected a mechanism only with one of {takers}, got one with {identity}."
        )
    try:
        protocol: Certifiable = kind.from_record(record, *mechanism_argument)
    # Records come from files: each of these says that one does not fit its class.
    except (InvalidInputError, TypeError, KeyError) as error:
        raise DataError(
            f"Expected a protocol that this library can build, got {identity}: pass the "
            f"protocol itself. ({error})"
        ) from error
    # Defaults fill up an incomplete record, which is then not what was certified.
    if protocol.identity != identity:
        raise DataError(
            f"Expected a complete protocol, got {identity}: what can be made of it is "
            f"{protocol.identity}."
        )
    return protocol


def _takes_mechanism(kind: Any) -> bool:
    """Returns whether a protocol's mechanism may come from outside of this library."""
    return "mechanism" in signature(kind.from_record).parameters


def _module(name: str) -> Any:
    return import_module(f"shuffledp.{name}")
