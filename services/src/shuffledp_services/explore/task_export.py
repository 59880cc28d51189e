"""A scene as a task of the services, which collects answers of real users."""

import shlex
from typing import Any

from shuffledp.errors import InvalidInputError, PopulationError
from shuffledp.format_number import plain
from shuffledp.statistics.frequency.survey import MECHANISM
from shuffledp_services.explore.scene import Scene

# A command with more categories than this is too long to read and edit.
_MAX_ANSWERS = 50
# The mechanisms that the services run, by statistic.
_TASK_MECHANISMS = {"frequency": MECHANISM.choices, "mean": ("one-bit",)}


def task_of(scene: Scene) -> dict[str, Any]:
    """Returns the command that creates a task for a scene, with texts to replace.

    Raises:
        InvalidInputError: If the services do not run the mechanism, or the categories
            are too many for a command.
        PopulationError: If there is only one user.
    """
    if scene.people.num_users < 2:
        raise PopulationError("Expected at least 2 people in a task, got 1.")
    if scene.mechanism not in _TASK_MECHANISMS[scene.statistic]:
        allowed = " or ".join(_TASK_MECHANISMS[scene.statistic])
        raise InvalidInputError(
            f"Expected {allowed} for a task: the services do not run {scene.mechanism}."
        )
    terms: list[tuple[str, object]] = []
    if scene.statistic == "mean":
        terms += [(name, plain(value)) for name, value in scene.terms]
    else:
        k = int(dict(scene.terms)["categories"])
        if k > _MAX_ANSWERS:
            raise InvalidInputError(
                f"Expected at most {_MAX_ANSWERS} categories for a command, got {k:,}."
            )
        terms += [("category", f"Answer {number}") for number in range(1, k + 1)]
        terms.append(("mechanism", scene.mechanism))
        terms += [(n.replace("_", "-"), plain(value)) for n, value in scene.setting]
    options: list[tuple[str, object]] = [
        ("name", "Example"),
        ("asker", "Who asks"),
        ("contact", "How to reach us"),
        ("consent", "What for, who gets results, how long they are kept."),
        ("question", "What people are asked"),
        ("statistic", scene.statistic),
        *terms,
        ("mode", scene.mode),
        ("levels", ",".join(plain(level) for level, _ in scene.levels)),
        ("minimum", ",".join(str(people) for _, people in scene.levels)),
        ("delta", plain(scene.delta)),
        ("absent", scene.absent),
        ("epochs", scene.rounds),
        ("shuffler", "shuffler.public.json"),
        ("enroller", "enroller.public.json"),
    ]
    # NAME=VALUE, because a separate value that begins with a minus reads as an option.
    words = [f"--{name}={value}" for name, value in options]
    command = shlex.join(["shuffledp", "task", "create", "FOLDER", *words])
    return {"query": scene.query, "command": command}
