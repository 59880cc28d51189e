"""What an operator's next command must name, so that nobody can repeat one of hers."""

from collections.abc import Callable

from shuffledp.service.shuffler.steps import Steps
from shuffledp.service.shuffler.store import ShufflerStore
from shuffledp.service.wire.command import CHALLENGE_SIZE, Command
from shuffledp.service.wire.refusal import Reason, Refusal


class Challenges:
    """One for each task, kept in the store until a command names it."""

    def __init__(self, store: ShufflerStore, entropy: Callable[[int], bytes]) -> None:
        self._store, self._entropy = store, entropy

    async def begin(self, steps: Steps) -> None:
        """Asks for something, if nothing was asked for yet.

        Raises:
            Refusal: If the disk is full.
        """
        if not steps.known.challenge:
            await self._follow(steps, b"")

    async def answer(self, command: Command, steps: Steps) -> None:
        """Asks for something else from now on, whether or not the command can be done.

        Args:
            command: Signed by the task's shuffler.
            steps: Of its task.

        Raises:
            Refusal: If it names something else, or the disk is full.
        """
        named = command.challenge
        if named != steps.known.challenge or not await self._follow(steps, named):
            raise Refusal(
                Reason.NOT_OPEN,
                "Expected a command that was made just now: another one came first.",
            )

    async def _follow(self, steps: Steps, named: bytes) -> bool:
        following = self._entropy(CHALLENGE_SIZE)
        asked = await self._store.challenge(steps.hosted.task, named, following)
        if asked:
            steps.ask_for(following)
        else:
            # Another process was first.
            await steps.look_again()
        return asked
