"""Command and outcome, the fixtures of tests of the command line."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Outcome:
    code: int
    out: str
    err: str

    @property
    def is_refusal(self) -> bool:
        """Exit code 2, one line of reason, and nothing that could pass for a result."""
        return self.code == 2 and self.out == "" and self.err.count("\n") == 1

    def json(self) -> Any:
        return json.loads(self.out)


Command = Callable[..., Outcome]
