"""A plan of one statistic, declared for a command line."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from rich.console import RenderableType

from shuffledp.parameter import Parameter


@dataclass(frozen=True)
class PlanOutput:
    """A plan that was computed, for people and for machines.

    Attributes:
        record: Returns its plain values, for JSON.
        tables: Returns its tables, for a terminal.
    """

    record: Callable[[], dict[str, Any]]
    tables: Callable[[], RenderableType]


@dataclass(frozen=True)
class PlanDeclaration:
    """A plan of one statistic.

    Attributes:
        description: A sentence, and paragraphs below it, with examples.
        parameters: Beside people, their levels or targets, delta and absent people.
        compute: Called with a `Wish`, `on_step`, which is called with the name of each step
            before it is computed, and the value of each parameter by its name, None if it
            was not given.
        takes_levels: Whether people may state levels of devices instead of targets.
    """

    description: str
    parameters: tuple[Parameter, ...]
    compute: Callable[..., PlanOutput]
    takes_levels: bool = True
