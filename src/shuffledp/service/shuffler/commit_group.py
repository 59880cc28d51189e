"""Uploads that are committed together, and what becomes of their reports.

A token counts once in a step, and so does a sealed message: nobody can make somebody
else's count twice by sending a copy of it.
"""

from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from shuffledp.service.shuffler.keyed_digests import numbered
from shuffledp.service.shuffler.store import Arrivals
from shuffledp.service.shuffler.upload import Upload


class ReportOutcome(IntEnum):
    """What became of a report that might have come in."""

    ACCEPTED = 0
    SPENT = 1
    REPEATED = 2


class CommitGroup:
    """Uploads to the same step that are committed together.

    Attributes:
        state: The open step.
        marks: All different ones in increasing order, shape (k, KEYED_DIGEST_SIZE).
    """

    def __init__(self, uploads: list[Upload]) -> None:
        self.state = uploads[0].state
        self._sizes = [len(upload.places) for upload in uploads]
        self._choices = np.concatenate([upload.choices for upload in uploads])
        self._sealed = np.concatenate([upload.sealed for upload in uploads])
        self.marks, self._numbers, self._several = numbered(
            np.concatenate([upload.marks for upload in uploads])
        )
        self._outcomes = np.zeros(len(self._choices), dtype=np.int8)

    def arrivals(self, known: NDArray[np.bool_]) -> Arrivals:
        """Decides what comes in.

        Args:
            known: Which of `marks` were stored before, shape (k,).

        Returns:
            What is stored.
        """
        self._decide(known)
        accepted = np.flatnonzero(self._outcomes == ReportOutcome.ACCEPTED)
        step, choices = self.state.step, self._choices[accepted]
        if step.task.names_choices:
            people = np.bincount(choices, minlength=len(step.task.choices)).tolist()
        else:
            people = [len(accepted)]
        piles = (
            [accepted[choices == group] for group in range(step.groups)]
            if step.linked
            else [accepted]
        )
        stored = np.zeros(len(self.marks), dtype=np.bool_)
        stored[self._numbers[accepted]] = True
        return Arrivals(
            tuple(people), [self._pile(rows) for rows in piles], self.marks[stored]
        )

    def outcomes(self) -> list[NDArray[np.int8]]:
        """Returns one array per upload: the `ReportOutcome` of each of its reports."""
        return np.split(self._outcomes, np.cumsum(self._sizes)[:-1])

    def _decide(self, known: NDArray[np.bool_]) -> None:
        self._outcomes[:] = ReportOutcome.ACCEPTED
        old = known[self._numbers]
        spent = old[:, 0]
        repeated = np.any(old[:, 1:], axis=1)
        # What comes more than once in this group counts where it comes first. Others are
        # not concerned, so that a few thousand copies at most are looked at one by one.
        concerned = self._several[self._numbers].any(axis=1)
        seen = set[int]()
        for row in np.flatnonzero(concerned).tolist():
            token, *messages = self._numbers[row].tolist()
            if len({*messages}) < len(messages) or not seen.isdisjoint(messages):
                repeated[row] = True
            elif token in seen:
                spent[row] = True
            elif not spent[row] and not repeated[row]:
                seen.update((token, *messages))
        # Whoever copies a message learns nothing of a token: else she could ask who of
        # those whose links she has seen has answered, and leave no trace.
        self._outcomes[spent] = ReportOutcome.SPENT
        self._outcomes[repeated] = ReportOutcome.REPEATED

    def _pile(self, rows: NDArray[np.int64]) -> bytes:
        """Returns messages in the order of their marks: that of arrival is forgotten."""
        messages = self._sealed[rows].reshape(-1, self._sealed.shape[-1])
        order = np.argsort(self._numbers[rows, 1:].ravel())
        return messages[order].tobytes()
