"""Every algorithm, theorem, table and figure of the paper, and what became of it here."""

from shuffledp.papers.contents.entry import Entry

CONTENTS: tuple[Entry, ...] = ()
