"""A query as a task of the services, which collects answers of real users."""

import shlex
from collections.abc import Sequence
from typing import Any

from shuffledp.errors import InvalidInputError, PopulationError
from shuffledp.format_number import plain
from shuffledp.parameter import Parameter
from shuffledp.randomizers.mechanism_text import MechanismText
from shuffledp.statistics.statistic_catalog import survey_named
from shuffledp_services.explore.explore_query import ExploreQuery

# A command with more categories than this is too long to read and edit.
_MAX_ANSWERS = 50


def task_of(query: ExploreQuery) -> dict[str, Any]:
    """Returns the command that creates a task for a query, with texts to replace.

    Raises:
        InvalidInputError: If the services do not run the mechanism, or the categories
            are too many for a command.
        PopulationError: If there is only one user.
    """
    if query.people.num_users < 2:
        raise PopulationError("Expected at least 2 people in a task, got 1.")
    parameters = survey_named(query.statistic).parameters
    # A question of one mechanism does not name it: it is the usual one of its statistic.
    allowed = next(
        (each.choices for each in parameters if each.name == "mechanism"),
        query.exploration.mechanisms[:1],
    )
    if query.mechanism not in allowed:
        raise InvalidInputError(
            f"Expected {' or '.join(allowed)} for a task: the services do not run "
            f"{query.mechanism}."
        )
    terms = [
        pair
        for parameter in parameters
        for pair in _options(parameter, parameters, query)
    ]
    options: list[tuple[str, object]] = [
        ("name", "Example"),
        ("asker", "Who asks"),
        ("contact", "How to reach us"),
        ("consent", "What for, who gets results, how long they are kept."),
        ("question", "What people are asked"),
        ("statistic", query.statistic),
        *terms,
        ("mode", query.mode),
        ("levels", ",".join(plain(level) for level, _ in query.levels)),
        ("minimum", ",".join(str(people) for _, people in query.levels)),
        ("delta", plain(query.delta)),
        ("absent", query.absent),
        ("epochs", query.rounds),
        ("shuffler", "shuffler.public.json"),
        ("enroller", "enroller.public.json"),
    ]
    # NAME=VALUE, because a separate value that begins with a minus reads as an option.
    words = [f"--{name}={value}" for name, value in options]
    command = shlex.join(["shuffledp", "task", "create", "FOLDER", *words])
    return {"query": query.query_string, "command": command}


def _options(
    parameter: Parameter, parameters: Sequence[Parameter], query: ExploreQuery
) -> list[tuple[str, object]]:
    """Returns the options that state one of the parameters of a question."""
    values = dict(query.terms + query.setting)
    if parameter.name == "mechanism":
        stated = {
            name: plain(values[name])
            for name in (each.name for each in parameters if each.in_mechanism)
            if name in values
        }
        return [(parameter.option, MechanismText(query.mechanism, stated))]
    if parameter.name not in values or parameter.in_mechanism:
        return []
    if parameter.kind != "texts":
        return [(parameter.option, plain(values[parameter.name]))]
    # Queries know how many texts there are, and not which.
    count = int(values[parameter.name])
    if count > _MAX_ANSWERS:
        raise InvalidInputError(
            f"Expected at most {_MAX_ANSWERS} {parameter.name} for a command, got "
            f"{count:,}."
        )
    return [(parameter.option, f"Answer {number}") for number in range(1, count + 1)]
