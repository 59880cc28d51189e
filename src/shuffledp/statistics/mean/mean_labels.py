"""Labels of means, and the range of values that every question about one states."""

from shuffledp.labels import Display, StatisticLabels
from shuffledp.parameter import Parameter

WORDS = StatisticLabels(
    name="mean",
    title="Mean",
    asked="What the mean is",
    row="about",
    rows="means",
    display=Display("mean", axis="mean", has_bars=False, is_single=True),
)
LOW = Parameter("low", "number", "Smallest possible value")
HIGH = Parameter("high", "number", "Largest possible value")
