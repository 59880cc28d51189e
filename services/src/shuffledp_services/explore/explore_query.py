"""The parameters of an answer: statistic, mechanism, users and circumstances."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, get_args
from urllib.parse import urlencode

from shuffledp.arrays import without_minus_zero
from shuffledp.errors import InvalidInputError
from shuffledp.format_number import plain
from shuffledp.parameter import Parameter
from shuffledp.population import MAX_USERS, Population
from shuffledp.randomizers.catalog import mechanism_class
from shuffledp.randomizers.mechanism_setting import MechanismSetting, settings_of
from shuffledp.randomizers.parameters import parameters_of
from shuffledp.statistics.exploration import Exploration
from shuffledp.statistics.statistic_catalog import EXPLORATIONS, exploration_named
from shuffledp.types import Mode

# The settings of each mechanism of each statistic, which a form asks for.
MECHANISMS: dict[str, dict[str, tuple[MechanismSetting, ...]]] = {
    name: {
        mechanism: settings_of(mechanism_class(mechanism))
        for mechanism in exploration_named(name).mechanisms
    }
    for name in EXPLORATIONS
}
MAX_LEVELS = 12
MAX_EPSILON = 20.0
MAX_ROUNDS = 1000
# A float holds about 17 digits; longer texts add no information.
_MAX_DIGITS = 24


def all_parameters() -> dict[str, Parameter]:
    """Returns the parameters of all statistics and mechanisms, by name."""
    parameters: dict[str, Parameter] = {}
    for statistic, mechanisms in MECHANISMS.items():
        statistic_parameters = exploration_named(statistic).parameters
        settings = (each.parameter for group in mechanisms.values() for each in group)
        for parameter in (*statistic_parameters, *settings):
            parameters.setdefault(parameter.name, parameter)
    return parameters


def default_text(parameter: Parameter) -> str:
    """Returns the default of a number, as an address states it."""
    return plain(float(parameter.default or 0.0))


_DEFAULT_STATISTIC = EXPLORATIONS[0]
_DEFAULTS = {
    "statistic": _DEFAULT_STATISTIC,
    "mechanism": next(iter(MECHANISMS[_DEFAULT_STATISTIC])),
    "mode": "agnostic",
    **{name: default_text(each) for name, each in all_parameters().items()},
    "levels": "0.5:2500,1:5000,2:2500",
    "delta": "1e-06",
    "absent": "0",
    "rounds": "1",
    "value": "",
}


@dataclass(frozen=True)
class ExploreQuery:
    """All parameters that an answer depends on.

    >>> query = read_query({"levels": "1:5000,2:5000"})
    >>> query.levels, query.protocol.num_categories
    (((1.0, 5000), (2.0, 5000)), 17)

    Attributes:
        statistic: One of `EXPLORATIONS`.
        mechanism: The mechanism on the devices, in `MECHANISMS` of the statistic.
        mode: Whether levels travel apart from messages or with them.
        terms: Parameters of the statistic, by name: the categories, or the range.
        setting: The further parameter of the mechanism, by name, if it has one.
        levels: Local epsilons in nats with the number of users at each, ascending.
        delta: The delta at which central epsilons are certified.
        absent: The number of other users who may be absent or collude.
        rounds: The number of rounds with the same users.
        value: The share or mean whose expected error is shown.
    """

    statistic: str
    mechanism: str
    mode: Mode
    terms: tuple[tuple[str, float], ...]
    setting: tuple[tuple[str, float], ...]
    levels: tuple[tuple[float, int], ...]
    delta: float
    absent: int
    rounds: int
    value: float

    @property
    def people(self) -> Population:
        """The population: users by level."""
        return Population.from_counts(dict(self.levels))

    @property
    def exploration(self) -> Exploration:
        """The declaration of the statistic."""
        return exploration_named(self.statistic)

    @property
    def value_range(self) -> tuple[float, float]:
        """The smallest and the largest value that may be assumed."""
        return _value_range(self.exploration, dict(self.terms))

    @property
    def parameters(self) -> dict[str, float]:
        """Parameters of the mechanism, by name, in the order of the command line."""
        requested, parameters = dict(self.terms + self.setting), {}
        values = self.protocol.randomizer.parameters
        for parameter in parameters_of(self.mechanism):
            name = parameter.name
            # A range may be stated in terms of its own, such as one around 0.
            if (
                name in requested
                or values.get(name, parameter.default) != parameter.default
            ):
                parameters[name] = values[name]
        return parameters

    @property
    def protocol(self) -> Any:
        """The protocol that runs on the devices."""
        return self.exploration.protocol(
            dict(self.terms), self.mode, self.mechanism, dict(self.setting)
        )

    @property
    def levels_text(self) -> str:
        """Levels and numbers of users in the format of the command line."""
        return ",".join(f"{plain(level)}:{people}" for level, people in self.levels)

    @property
    def query_string(self) -> str:
        """The canonical text, as in an address."""
        given: dict[str, str] = {
            "statistic": self.statistic,
            "mechanism": self.mechanism,
            "mode": self.mode,
            **{name: plain(value) for name, value in self.terms + self.setting},
            "levels": self.levels_text,
            "delta": plain(self.delta),
            "absent": str(self.absent),
            "rounds": str(self.rounds),
            "value": plain(self.value),
        }
        return urlencode(given, safe=":,")


def read_query(given: Mapping[str, str]) -> ExploreQuery:
    """Reads a query from an address, with defaults for missing names.

    Args:
        given: Texts by name.

    Raises:
        InvalidInputError: If a name is unknown, or a text is not a valid value.
    """
    if unknown := sorted(set(given) - set(_DEFAULTS)):
        raise InvalidInputError(
            f"Expected {', '.join(_DEFAULTS)}, got {unknown[0][:_MAX_DIGITS]!r}."
        )
    texts = _DEFAULTS | dict(given)
    statistic = _one_of("statistic", texts["statistic"], tuple(MECHANISMS))
    allowed = MECHANISMS[statistic]
    if "mechanism" not in given:
        # The default mechanism is that of one statistic; each has a first of its own.
        texts["mechanism"] = next(iter(allowed))
    mechanism = _one_of("mechanism", texts["mechanism"], tuple(allowed))
    exploration = exploration_named(statistic)
    terms = {
        each.name: _value(each, texts[each.name]) for each in exploration.parameters
    }
    low, high = _value_range(exploration, terms)
    if "value" not in given:
        default_value = exploration.value.usual
        texts["value"] = plain(
            low + (high - low) / 2.0 if default_value is None else default_value
        )
    levels = _levels(texts["levels"])
    # The target user takes part: all others may be absent.
    others = sum(people for _, people in levels) - 1
    mode: Any = _one_of("mode", texts["mode"], get_args(Mode))
    return ExploreQuery(
        statistic=statistic,
        mechanism=mechanism,
        mode=mode,
        terms=tuple(terms.items()),
        setting=tuple(_setting(each, texts, terms) for each in allowed[mechanism]),
        levels=levels,
        delta=_number("delta", texts["delta"], 1e-300, 0.5),
        absent=_whole("absent", texts["absent"], 0, others),
        rounds=_whole("rounds", texts["rounds"], 1, MAX_ROUNDS),
        value=_number("value", texts["value"], low, high),
    )


def _setting(
    setting: MechanismSetting, texts: Mapping[str, str], terms: Mapping[str, float]
) -> tuple[str, float]:
    parameter = setting.parameter
    if setting.below:
        # A subset of all categories would carry no information.
        parameter = replace(parameter, most=terms[setting.below] - 1)
    return parameter.name, _value(parameter, texts[parameter.name])


def _value(parameter: Parameter, text: str) -> float:
    if parameter.kind == "whole number":
        minimum, maximum = int(parameter.least), int(parameter.most)
        return _whole(parameter.name, text, minimum, maximum)
    return _number(parameter.name, text, parameter.least, parameter.most)


def _value_range(
    exploration: Exploration, terms: Mapping[str, float]
) -> tuple[float, float]:
    if not exploration.value.between:
        return 0.0, 1.0
    low, high = (terms[name] for name in exploration.value.between)
    if not low < high:
        names = " < ".join(exploration.value.between)
        raise InvalidInputError(
            f"Expected {names}, got {plain(low)} and {plain(high)}."
        )
    return low, high


def _levels(text: str) -> tuple[tuple[float, int], ...]:
    # Split at most that often: a long text is not split in full before it is refused.
    parts = text.split(",", MAX_LEVELS)
    if len(parts) > MAX_LEVELS:
        raise InvalidInputError(f"Expected at most {MAX_LEVELS} levels, got more.")
    counts: dict[float, int] = {}
    for part in parts:
        level, colon, people = part.partition(":")
        if not colon:
            raise InvalidInputError(
                f"Expected levels as EPSILON:PEOPLE,..., got {part[:_MAX_DIGITS]!r}."
            )
        epsilon = _number("a level", level, 0.0, MAX_EPSILON)
        if epsilon in counts:
            raise InvalidInputError(f"Expected each level once, got {plain(epsilon)}.")
        # `Population` itself checks the total below.
        counts[epsilon] = _whole("people", people, 1, int(MAX_USERS))
    Population.from_counts(counts)
    return tuple(sorted(counts.items()))


def _one_of(name: str, text: str, allowed: tuple[str, ...]) -> str:
    if text not in allowed:
        raise InvalidInputError(
            f"Expected {name} to be one of {', '.join(allowed)}, got "
            f"{text[:_MAX_DIGITS]!r}."
        )
    return text


def _number(name: str, text: str, minimum: float, maximum: float) -> float:
    try:
        # float() accepts "1_000", which other readers of the query do not.
        number = float("" if "_" in text else text[: _MAX_DIGITS + 1])
    except ValueError:
        number = float("nan")
    # NaN fails the comparison, so it is refused, too.
    if len(text) > _MAX_DIGITS or not minimum <= number <= maximum:
        raise InvalidInputError(
            f"Expected {name} to be a number from {minimum:g} to {maximum:g}, got "
            f"{text[:_MAX_DIGITS]!r}."
        )
    return without_minus_zero(number)


def _whole(name: str, text: str, minimum: int, maximum: int) -> int:
    # isdigit() alone accepts digits of other scripts, such as superscripts.
    digits = text.isascii() and text.isdigit() and len(text) <= _MAX_DIGITS
    if not digits or not minimum <= int(text) <= maximum:
        raise InvalidInputError(
            f"Expected {name} to be a whole number from {minimum:,} to {maximum:,}, got "
            f"{text[:_MAX_DIGITS]!r}."
        )
    return int(text)
