"""Collections of any size as data frames of Apache Spark, or of what speaks its protocol.

Nothing here needs one machine to see people: executors randomize and count, and what comes
back are counts, which add up exactly (`shuffledp.Tally`).
"""

from shuffledp.scale.devices import randomize
from shuffledp.scale.opening import open_and_tally
from shuffledp.scale.people import account, population
from shuffledp.scale.rehearsal import rehearse
from shuffledp.scale.tallies import tally

__all__ = ["account", "open_and_tally", "population", "randomize", "rehearse", "tally"]
