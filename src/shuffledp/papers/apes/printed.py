"""What Tables 3 and 4 of APES (Liu et al. 2023) print.

The columns of Uniform2 in Table 4 are the rows of Table 3, but for UniS: Table 3 prints
76.9 and Table 4 has 79.6, with two digits exchanged.
"""

DISTRIBUTIONS = ("uniform1", "gauss1", "mixgauss1", "uniform2", "gauss2", "mixgauss2")
# Of one person in one round, in the order of DISTRIBUTIONS: Table 4, as printed.
USER_EPSILONS: dict[str, tuple[str, ...]] = {
    "ldp-min": ("40.1",) * 6,
    "pldp": ("3925",) * 3 + ("7850",) * 3,
    "unis": ("17.4", "17.4", "17.5", "79.6", "76.9", "76.9"),
    "apes": ("15.5", "15.3", "15.4", "57.6", "52.7", "53.7"),
    "s-apes": ("8.5", "8.5", "8.5", "25.6", "23.6", "23.9"),
}
# Table 3: Uniform2 only.
TABLE_3_EPSILONS: dict[str, tuple[str, ...]] = {
    name: ("76.9",) if name == "unis" else (row[DISTRIBUTIONS.index("uniform2")],)
    for name, row in USER_EPSILONS.items()
}
EXCHANGED = "Table 3 prints 76.9 for the same number, which is what is found"
ACCURACIES: dict[str, tuple[str, ...]] = {
    "non-private": ("84.35",) * 6,
    "ldp-min": ("56.11",) * 6,
    "pldp": ("75.64", "63.77", "67.75", "77.54", "64.81", "73.84"),
    "unis": ("75.64", "63.77", "67.75", "77.54", "64.81", "73.84"),
    "apes": ("78.77", "78.33", "79.06", "79.67", "79.29", "79.97"),
    "s-apes": ("75.7", "56.64", "77.01", "78.14", "73.4", "76.12"),
}
# Of one coordinate, under Uniform2: Table 3.
COORDINATE_EPSILONS = {
    "ldp-min": "0.05",
    "pldp": "1",
    "unis": "0.069",
    "apes": "0.057",
    "s-apes": "0.057",
}
PEOPLE = 10_000
COORDINATES = 7850
# Composed by S-APES: 2 b, for b / d = 0.2.
SELECTED_TWICE = 3140
