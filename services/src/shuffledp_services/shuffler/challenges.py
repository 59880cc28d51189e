"""One-time challenges for operator commands, so that a recorded command is useless."""

from collections.abc import Callable

from shuffledp_services.shuffler.store import ShufflerStore
from shuffledp_services.shuffler.task_lifecycle import TaskLifecycle
from shuffledp_services.wire.command import CHALLENGE_SIZE, Command
from shuffledp_services.wire.refusal import Reason, Refusal


class CommandChallenges:
    """Issues one challenge per task, which the store keeps until a command names it."""

    def __init__(self, store: ShufflerStore, entropy: Callable[[int], bytes]) -> None:
        self._store, self._entropy = store, entropy

    async def issue_first(self, lifecycle: TaskLifecycle) -> None:
        """Issues a challenge for a task that has none yet.

        Raises:
            Refusal: If the disk is full.
        """
        if not lifecycle.record.challenge:
            await self._replace(lifecycle, b"")

    async def consume(self, command: Command, lifecycle: TaskLifecycle) -> None:
        """Replaces the challenge of a command, even if the command then fails.

        Args:
            command: Signed by the task's shuffler.
            lifecycle: Of its task.

        Raises:
            Refusal: If the command names another challenge, or the disk is full.
        """
        named = command.challenge
        current = lifecycle.record.challenge
        if named != current or not await self._replace(lifecycle, named):
            raise Refusal(
                Reason.NOT_OPEN,
                "Expected a command that was made just now: another one came first.",
            )

    async def _replace(self, lifecycle: TaskLifecycle, named: bytes) -> bool:
        # Random, so that no future challenge can be signed in advance.
        following = self._entropy(CHALLENGE_SIZE)
        replaced = await self._store.replace_challenge(
            lifecycle.hosted.task, named, following
        )
        if replaced:
            lifecycle.set_challenge(following)
        else:
            # Another process replaced it first.
            await lifecycle.reload()
        return replaced
