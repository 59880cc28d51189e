"""The same question as a task: what asks real people, by the services."""

import shlex
from typing import Any

from shuffledp.errors import InvalidInputError, PopulationError
from shuffledp.explore.scene import Scene
from shuffledp.format_number import plain
from shuffledp.statistics.frequency.survey import MECHANISM

# A command that names more answers than this is not for people.
_MOST_ANSWERS = 50
_ASKED = {"frequency": MECHANISM.choices, "mean": ("one-bit",)}


def task_of(scene: Scene) -> dict[str, Any]:
    """Returns the command that makes a task of a scene; its texts are to be replaced.

    Raises:
        InvalidInputError: If the services do not ask people this.
        PopulationError: If there is only one person.
    """
    if scene.people.num_users < 2:
        raise PopulationError("Expected at least 2 people in a task, got 1.")
    if scene.mechanism not in _ASKED[scene.statistic]:
        raise InvalidInputError(
            f"Expected {' or '.join(_ASKED[scene.statistic])} for a task: the services do "
            f"not run {scene.mechanism}."
        )
    terms: list[tuple[str, object]] = []
    if scene.statistic == "mean":
        terms += [(name, plain(value)) for name, value in scene.terms]
    else:
        k = int(dict(scene.terms)["categories"])
        if k > _MOST_ANSWERS:
            raise InvalidInputError(
                f"Expected at most {_MOST_ANSWERS} categories for a command, got {k:,}."
            )
        terms += [("category", f"Answer {place + 1}") for place in range(k)]
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
    # Joined to their names, values may begin with a minus.
    words = [f"--{name}={value}" for name, value in options]
    command = shlex.join(["shuffledp", "task", "create", "FOLDER", *words])
    return {"query": scene.query, "command": command}
