"""Labels of shares of items, and when these are unbiased."""

from shuffledp.labels import SHARES, StatisticLabels

WORDS = StatisticLabels(
    name="items",
    title="Items",
    asked="How many people hold each item",
    row="item",
    rows="items",
    display=SHARES,
)

UNBIASED_IF = (
    "Unbiased if sets and targets are independent: targets were shuffled apart from the "
    "messages."
)
