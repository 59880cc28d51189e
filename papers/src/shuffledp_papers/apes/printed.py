"""Tables 3 and 4 of APES (Liu et al. 2023) as printed, read from `printed.toml`."""

from dataclasses import dataclass

from shuffledp_papers.toml_tables import read_table


@dataclass(frozen=True)
class PrintedFramework:
    """The numbers printed for one framework, as text with all printed digits.

    Attributes:
        name: Its name on the command line.
        accuracies: In percent, by distribution (Table 4).
        coordinate_epsilon: Of one coordinate, under Uniform2 (Table 3); "" if none.
        table_3_epsilon: Of one user in one round, under Uniform2; "" if none.
        table_4_epsilons: Of one user in one round, by distribution; empty if none.
    """

    name: str
    accuracies: tuple[str, ...]
    coordinate_epsilon: str = ""
    table_3_epsilon: str = ""
    table_4_epsilons: tuple[str, ...] = ()


@dataclass(frozen=True)
class PrintedTables:
    """Both tables, and their setting.

    Attributes:
        people: n.
        coordinates: d.
        composed_by_s_apes: 2 b, the number of coordinates that S-APES composes.
        exchanged: The reason why the two tables differ for UniS.
        distributions: Of budgets, in the order of Table 4.
        frameworks: In the order of Table 4.
    """

    people: int
    coordinates: int
    composed_by_s_apes: int
    exchanged: str
    distributions: tuple[str, ...]
    frameworks: tuple[PrintedFramework, ...]


_TABLES = read_table(PrintedTables, "apes", "printed.toml")
# The non-private framework has no epsilons.
_PRIVATE = [row for row in _TABLES.frameworks if row.table_4_epsilons]

PEOPLE = _TABLES.people
COORDINATES = _TABLES.coordinates
COMPOSED_BY_S_APES = _TABLES.composed_by_s_apes
EXCHANGED = _TABLES.exchanged
DISTRIBUTIONS = _TABLES.distributions
ACCURACIES = {row.name: row.accuracies for row in _TABLES.frameworks}
USER_EPSILONS = {row.name: row.table_4_epsilons for row in _PRIVATE}
TABLE_3_EPSILONS = {row.name: (row.table_3_epsilon,) for row in _PRIVATE}
COORDINATE_EPSILONS = {row.name: row.coordinate_epsilon for row in _PRIVATE}
