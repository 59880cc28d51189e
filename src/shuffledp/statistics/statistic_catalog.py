"""The catalog of statistics by name, a line each; modules are imported when first used.

A statistic has a folder: `protocol.py` with its `PROTOCOL`; `rehearsal.py` with its options
and summary for a command line and a report (`STATISTIC`); if people can be asked about it,
`survey.py` for services (`SURVEY`); and, if its protocols are compared before a collection,
`plan.py` for a command line (`PLAN`), and `exploration.py` for a page (`EXPLORATION`).
"""

from importlib import import_module
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

# The module of each statistic's protocol; `_module` imports it when it is first needed.
_PROTOCOLS = {
    "frequency": "statistics.frequency.protocol",
    "mean": "statistics.mean.protocol",
    "sum": "statistics.sum.protocol",
    "strings": "statistics.strings.protocol",
    "items": "statistics.items.protocol",
    # Protocols without a rehearsal: their folders have no STATISTIC.
    "choices": "statistics.items.choices",
    "message": "statistics.single_message",
    "training": "federated.round_protocol",
}
STATISTICS = tuple(_PROTOCOLS)[:-3]
# Their mechanism may come from outside of this library: `from_record` takes it.
_OPEN = ("frequency", "mean", "message")
# Statistics that services can ask people about.
SURVEYS = ("frequency", "mean", "sum", "items")
# Statistics whose protocols are compared before a collection.
PLANS = ("mean", "frequency", "items")
# Statistics with a choice of mechanisms, which a page compares.
EXPLORATIONS = ("frequency", "mean")


def statistic_named(name: str) -> "Statistic":
    """Returns the options, labels and rehearsal of a statistic.

    >>> statistic_named("mean").words.title
    'Mean'

    Raises:
        InvalidInputError: If there is none of this name.
    """
    if name not in STATISTICS:
        raise InvalidInputError(
            f"Expected one of {', '.join(STATISTICS)}, got {name!r}."
        )
    statistic: Statistic = _module(f"statistics.{name}.rehearsal").STATISTIC
    return statistic


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
    declaration: PlanDeclaration = _module(f"statistics.{name}.plan").PLAN
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
    if mechanism is not None and name not in _OPEN:
        raise DataError(
            f"Expected a mechanism only with one of {', '.join(_OPEN)}, got one with "
            f"{identity}."
        )
    given = () if mechanism is None else (mechanism,)
    kind = _module(_PROTOCOLS[name]).PROTOCOL
    try:
        protocol: Certifiable = kind.from_record(record, *given)
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


def _module(name: str) -> Any:
    return import_module(f"shuffledp.{name}")
