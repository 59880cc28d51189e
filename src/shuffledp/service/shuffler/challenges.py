"""What an operator's next command must name, so that nobody can repeat one of hers."""

from collections.abc import Callable

from shuffledp.service.shuffler.store import ShufflerStore
from shuffledp.service.shuffler.task_lifecycle import TaskLifecycle
from shuffledp.service.wire.command import CHALLENGE_SIZE, Command
from shuffledp.service.wire.refusal import Reason, Refusal


class CommandChallenges:
    """One for each task, kept in the store until a command names it."""

    def __init__(self, store: ShufflerStore, entropy: Callable[[int], bytes]) -> None:
        self._store, self._entropy = store, entropy

    async def begin(self, lifecycle: TaskLifecycle) -> None:
        """Asks for something, if nothing was asked for yet.

        Raises:
            Refusal: If the disk is full.
        """
        if not lifecycle.record.challenge:
            await self._follow(lifecycle, b"")

    async def answer(self, command: Command, lifecycle: TaskLifecycle) -> None:
        """Asks for something else from now on, whether or not the command can be done.

        Args:
            command: Signed by the task's shuffler.
            lifecycle: Of its task.

        Raises:
            Refusal: If it names something else, or the disk is full.
        """
        named = command.challenge
        if named != lifecycle.record.challenge or not await self._follow(
            lifecycle, named
        ):
            raise Refusal(
                Reason.NOT_OPEN,
                "Expected a command that was made just now: another one came first.",
            )

    async def _follow(self, lifecycle: TaskLifecycle, named: bytes) -> bool:
        following = self._entropy(CHALLENGE_SIZE)
        asked = await self._store.replace_challenge(
            lifecycle.hosted.task, named, following
        )
        if asked:
            lifecycle.set_challenge(following)
        else:
            # Another process was first.
            await lifecycle.reload()
        return asked
