"""Parameters of plans and of rehearsals."""

from shuffledp.parameter import Parameter

MAX_MESSAGES = Parameter(
    "max_messages",
    "whole number",
    "Messages of a person in the mean, without dummies [twice the answers, and 16; up to 8 "
    "times as many where these are too few]",
    "B",
    required=False,
)
