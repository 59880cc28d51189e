"""Collections of any size as data frames of Apache Spark or a Spark Connect server.

No machine needs to hold all users: executors randomize and count, and return counts, which
add up exactly (`shuffledp.Tally`).
"""

from shuffledp_services.spark.frame_randomizer import randomize
from shuffledp_services.spark.opening import open_and_tally
from shuffledp_services.spark.people import account, population
from shuffledp_services.spark.rehearsal import rehearse
from shuffledp_services.spark.tallies import tally

__all__ = ["account", "open_and_tally", "population", "randomize", "rehearse", "tally"]
