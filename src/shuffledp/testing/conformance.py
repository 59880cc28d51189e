"""Findings of a conformance check."""

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
    """Result of one comparison, or the reason why it was not applicable.

    Attributes:
        about: One of PROPERTIES.
        text: The result, with numbers.
        holds: Whether the property holds; None if the check was not applicable.
    """

    about: str
    text: str
    holds: bool | None

    def __str__(self) -> str:
        word = {True: "holds", False: "FAILS", None: "not applicable"}[self.holds]
        return f"{self.about}: {word}: {self.text}"


@dataclass(frozen=True)
class Conformance:
    """All findings of `check_randomizer` about one randomizer.

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
        """The properties with a failed check, without repetition."""
        return self._with(False)

    @property
    def checked(self) -> tuple[str, ...]:
        """The properties with at least one applicable check, without repetition."""
        properties = {*self._with(True), *self._with(False)}
        return tuple(about for about in PROPERTIES if about in properties)

    @property
    def not_applicable(self) -> tuple[ConformanceFinding, ...]:
        """The checks that could not be made; their texts give the reason."""
        return tuple(
            properties for properties in self.findings if properties.holds is None
        )

    def __str__(self) -> str:
        levels = ", ".join(f"{level:g}" for level in self.levels)
        lines = [f"{self.mechanism} at levels {levels}"]
        return "\n  ".join([*lines, *map(str, self.findings)])

    def _with(self, holds: bool) -> tuple[str, ...]:
        properties = [
            finding.about for finding in self.findings if finding.holds is holds
        ]
        return tuple(dict.fromkeys(properties))
