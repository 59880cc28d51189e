"""Parameters that several statistics have."""

from shuffledp.parameter import Parameter

CATEGORIES = Parameter(
    "categories",
    "names",
    "How many values there are (0 to K-1), or their names; by default those that occur in "
    "the column",
    "K|NAMES",
)
ANSWERS = Parameter(
    "categories",
    "texts",
    "One of the answers; give it once for each",
    "NAME",
    least=2,
    most=10_000,
    # An option for each answer, and therefore in the singular.
    option="category",
)

CONSISTENT = Parameter(
    "consistent",
    "flag",
    "Beside every unbiased estimate the nearest number that is possible: none is below 0, "
    "shares of all add up to 1, distributions never fall; nearer to the truth, and biased",
)


def mechanism_parameter(choices: tuple[str, ...]) -> Parameter:
    """Returns the parameter that says which mechanism the devices run, and how."""
    return Parameter(
        "mechanism",
        "mechanism",
        'What the devices run, with its parameters, such as "local-hashing(buckets=5)"',
        "NAME",
        choices=choices,
    )
