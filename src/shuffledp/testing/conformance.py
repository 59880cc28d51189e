"""What a conformance check found, with numbers."""

from dataclasses import dataclass

PROPERTIES = (
    "drawn law",
    "independence",
    "covers",
    "supports",
    "local budget",
    "crowds",
    "estimator",
    "messages",
)


@dataclass(frozen=True)
class ConformanceFinding:
    """One thing that was checked, or could not be.

    Attributes:
        about: One of PROPERTIES.
        text: What was found, with numbers.
        holds: Whether it is as it should be; None if it was not applicable.
    """

    about: str
    text: str
    holds: bool | None

    def __str__(self) -> str:
        word = {True: "holds", False: "FAILS", None: "not applicable"}[self.holds]
        return f"{self.about}: {word}: {self.text}"


@dataclass(frozen=True)
class Conformance:
    """Everything that `check_randomizer` looked at.

    Attributes:
        mechanism: The name of the randomizer.
        levels: The local budgets that were tried.
        findings: In the order of PROPERTIES; there is at least one about each.
    """

    mechanism: str
    levels: tuple[float, ...]
    findings: tuple[ConformanceFinding, ...]

    @property
    def failed(self) -> tuple[str, ...]:
        """The properties that something contradicts, each once."""
        return self._with(False)

    @property
    def checked(self) -> tuple[str, ...]:
        """The properties of which something was checked, each once."""
        found = {*self._with(True), *self._with(False)}
        return tuple(about for about in PROPERTIES if about in found)

    @property
    def not_applicable(self) -> tuple[ConformanceFinding, ...]:
        """What could not be checked, and why."""
        return tuple(found for found in self.findings if found.holds is None)

    def __str__(self) -> str:
        levels = ", ".join(f"{level:g}" for level in self.levels)
        lines = [f"{self.mechanism} at levels {levels}"]
        return "\n  ".join([*lines, *map(str, self.findings)])

    def _with(self, holds: bool) -> tuple[str, ...]:
        found = [one.about for one in self.findings if one.holds is holds]
        return tuple(dict.fromkeys(found))
