"""Programs of the counterexamples, by the names of their cases.

Each evaluates a paper's formula and the probability of one event or count. Most events are
that no message, or at least one, is in a set. Other users hold the value that makes it
rarest: 0 for noise added to 0 or 1, the far end for Clip-Laplace noise.
"""

from functools import cache
from importlib.resources import files

from shuffledp.errors import InvalidInputError
from shuffledp_papers.court.small.program import Program

# By a case's name or its beginning: the program with the fewest users.
_FILES = {
    "V2": "eapes_response",
    "V4": "apes_closed",
    "V4b": "apes_numerical",
    "V6": "apes_local",
    "V6-3": "apes_ball",
    "V6b": "apes_selected",
    "V7": "testing_gaussian",
    "V7b": "testing_laplace",
    "V8": "testing_lone",
    "V8b": "testing_near",
    "V8c": "testing_liberal",
    "V10": "ratio_matrix",
    "V10b": "ratio_response",
    "V11": "sets_one",
    "V11b": "sets_two",
    "V14": "eapes_imitation",
    "V15": "eapes_places",
    "V16": "eapes_normal",
    "V18": "apes_aggregation",
    "V18-2": "apes_gradient",
    "V19": "apes_round",
    "V22": "eapes_failures",
    "V23": "testing_value",
    "V24": "testing_weight",
    "V25": "testing_clones",
    "V26": "eapes_far_message",
}


@cache
def _program(file: str) -> Program:
    folder = files("shuffledp_papers.court") / "programs"
    return Program((folder / f"{file}.py").read_text("utf-8"))


PROGRAMS = {name: _program(file) for name, file in _FILES.items()}


def program_of(case: str) -> Program:
    """Returns the program for the claim of a case, such as "V8-2".

    Raises:
        InvalidInputError: If the case is not about a violated claim.
    """
    names = {name.lower(): program for name, program in PROGRAMS.items()}
    # "V8-2" is the second setting of the claim V8, shown by the same program; "V6-3" has
    # one of its own.
    beginning = case.lower().split("-")[0]
    if case.lower() in names:
        return names[case.lower()]
    if beginning not in names:
        raise InvalidInputError(
            f"Expected a case of a claim that falls, {', '.join(PROGRAMS)}, got {case!r}."
        )
    return names[beginning]
