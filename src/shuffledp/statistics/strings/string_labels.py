"""Names and titles of the statistic of strings."""

from shuffledp.labels import SHARES, StatisticLabels

WORDS = StatisticLabels(
    name="strings",
    title="Strings",
    asked="How many people hold each string that was found",
    row="string",
    rows="strings",
    display=SHARES,
)
