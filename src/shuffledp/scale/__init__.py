"""Collections of any size as data frames of Apache Spark or a Spark Connect server.

No machine needs to hold all users: executors randomize and count, and return counts, which
add up exactly (`shuffledp.Tally`).
"""

from shuffledp.scale.frame_randomizer import randomize
from shuffledp.scale.opening import open_and_tally
from shuffledp.scale.people import account, population
from shuffledp.scale.rehearsal import rehearse
from shuffledp.scale.tallies import tally

__all__ = ["account", "open_and_tally", "population", "randomize", "rehearse", "tally"]
