"""What an operator's next command must name, so that nobody can repeat one of hers.

Challenges are in memory alone: a service that starts again asks for others.
"""

from collections.abc import Callable

from shuffledp.service.wire.command import CHALLENGE_SIZE, Command
from shuffledp.service.wire.refusal import Reason, Refusal
from shuffledp.service.wire.task import Task


class Challenges:
    """One for each task, until a command names it."""

    def __init__(self, entropy: Callable[[int], bytes]) -> None:
        self._entropy = entropy
        self._asked: dict[bytes, bytes] = {}

    def of(self, task: Task) -> bytes:
        """Returns what the next command must name."""
        if task.digest not in self._asked:
            self._asked[task.digest] = self._entropy(CHALLENGE_SIZE)
        return self._asked[task.digest]

    def answer(self, command: Command, task: Task) -> None:
        """Asks for something else from now on, whether or not the command can be done.

        Args:
            command: Signed by the task's shuffler.
            task: Which it is about.

        Raises:
            Refusal: If it names something else.
        """
        if command.challenge != self.of(task):
            raise Refusal(
                Reason.NOT_OPEN,
                "Expected a command that was made just now: another one came first.",
            )
        del self._asked[task.digest]
