"""Notes under tables and figures, from a paper's `notes.toml`."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from shuffledp_papers.toml_tables import read_table


@dataclass(frozen=True)
class _NotesTable:
    notes: Mapping[str, tuple[str, ...]]


def figure_notes(folder: str, name: str, **values: object) -> tuple[str, ...]:
    """Returns the notes of one name, with values put in for the names in braces.

    Args:
        folder: Of the paper, below `shuffledp_papers`.
        name: In `notes.toml`; for most notes, the name of the experiment.
        values: For every name in braces, formatted as the notes say.

    Raises:
        KeyError: If there are no such notes, or a value is missing.
    """
    return tuple(note.format(**values) for note in _notes_of(folder)[name])


@cache
def _notes_of(folder: str) -> Mapping[str, tuple[str, ...]]:
    return read_table(_NotesTable, folder, "notes.toml").notes
