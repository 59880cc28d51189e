"""Claims that fall, with the fewest people for which one is known to.

Each is a case like any other for the numbers of its program: the published formula, the
attack and the certificate come from where they always do, and share nothing with the
program.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from shuffledp.errors import InvalidInputError
from shuffledp.papers.apes.amplification import ApesClosed, ApesNumerical
from shuffledp.papers.apes.local import report_budget
from shuffledp.papers.bounds.bound import PublishedBound, Setting
from shuffledp.papers.bounds.wang2024 import Wang2024
from shuffledp.papers.court.apes_cases import coordinates_loss, local_case
from shuffledp.papers.court.case import Case, CourtVerdict, at_epsilon
from shuffledp.papers.court.eapes_cases import marked_case
from shuffledp.papers.court.items import item_divergence
from shuffledp.papers.court.noise_cases import Trial, trial_of
from shuffledp.papers.court.small import programs
from shuffledp.papers.court.small.program import Program
from shuffledp.papers.court.small.programs import program_of
from shuffledp.papers.court.uniform_cases import uniform_case
from shuffledp.papers.eapes.theorem import EapesCorollary, EapesTheorem
from shuffledp.papers.hypothesis_testing.theorem import HypothesisTesting
from shuffledp.papers.segmented.privacy import SegmentedPrivacy
from shuffledp.population import Population
from shuffledp.randomizers.clip_laplace import ClipLaplace
from shuffledp.randomizers.gaussian import Gaussian
from shuffledp.randomizers.kary_response import KRandomizedResponse
from shuffledp.randomizers.laplace import Laplace

Numbers = Mapping[str, float]

# Theorem 2 where it claims most: its sum begins without clones, failures reveal.
_TESTING = HypothesisTesting(as_printed=False)
_WHOLE = "whole numbers of blanket messages are no mechanism of this library"


@dataclass(frozen=True, eq=False)
class Small:
    """A counterexample whose numbers can be changed.

    Attributes:
        name: Of its case.
        program: Which prints claim and attack, and the numbers that were found.
        build: The case for such numbers.
        choices: What a search tries for each; the first is made as small as possible.
    """

    name: str
    program: Program
    build: Callable[[Numbers], Case]
    choices: Mapping[str, Sequence[float]]

    @property
    def case(self) -> Case:
        """The case for the numbers that were found."""
        return self.build(self.program.numbers)


def _marked(numbers: Numbers) -> Case:
    people = Population.from_counts({numbers["b"]: int(numbers["n"])})
    return marked_case("V1-small", people, numbers["d"], numbers["e"])


def _response(numbers: Numbers) -> Case:
    n, b = int(numbers["n"]), numbers["b"]
    trial = trial_of(
        KRandomizedResponse(2), Population.from_counts({b: n}), b, exactly=True
    )
    words = f"randomized response of a bit, {n} people at {b:g}"
    return _case("V2-small", EapesCorollary(), trial, words, numbers["e"])


def _laplace(numbers: Numbers) -> Case:
    people, words = _lone(numbers)
    trial = trial_of(Laplace(), people, numbers["v"])
    words = f"Laplace noise, {words}"
    return _case("V3-small", EapesCorollary(), trial, words, numbers["e"])


def _liberal(numbers: Numbers) -> Case:
    people, words = _lone(numbers)
    trial = trial_of(ClipLaplace(), people, numbers["v"])
    words = f"Clip-Laplace noise, {words}"
    return _case("V3c-small", EapesCorollary(), trial, words, numbers["e"])


def _gaussian(numbers: Numbers) -> Case:
    people, words = _lone(numbers)
    trial = trial_of(_classical(numbers), people, numbers["v"])
    words = f"Gaussian noise, delta_i = {numbers['d']:g}, {words}"
    return _case("V3b-small", EapesTheorem(), trial, words, numbers["e"])


def _closed(numbers: Numbers) -> Case:
    people, words = _lone(numbers)
    trial = trial_of(ClipLaplace(), people, numbers["v"])
    words = f"Clip-Laplace noise, {words}"
    return _case("V4-small", ApesClosed(), trial, words, numbers["e"])


def _numerical(numbers: Numbers) -> Case:
    people, words = _lone({"n": 2, **numbers})
    trial = trial_of(ClipLaplace(), people, numbers["v"])
    words = f"Clip-Laplace noise, {words}"
    return _case("V4b-small", ApesNumerical(), trial, words, numbers["e"])


def _appendix(numbers: Numbers) -> Case:
    n, b = int(numbers["n"]), numbers["b"]
    trial = trial_of(ClipLaplace(), Population.from_counts({b: n}), b)
    words = f"Clip-Laplace noise, {n} people at {b:g}"
    return _case("V5-small", ApesClosed(appendix=True), trial, words, numbers["e"])


def _selected(numbers: Numbers) -> Case:
    kept, all_of_them, budget = int(numbers["k"]), int(numbers["d"]), numbers["e"]
    return local_case(
        "V6b-small",
        "section 3.3",
        f"S-APES, {kept} of {all_of_them} coordinates is selected, each at {budget:g}",
        report_budget(budget, coordinates=kept),
        coordinates_loss(
            budget, coordinates=all_of_them, message=0.0, here=0.0, there=1.0
        ),
    )


def _tested(numbers: Numbers, *, gaussian: bool) -> Case:
    n, b = int(numbers.get("n", 2)), numbers["b"]
    people = Population.from_counts({b: n})
    words = f"noise, {n} people at {b:g}"
    if gaussian:
        trial = trial_of(_classical(numbers), people, b)
        return _case("V7-small", _TESTING, trial, f"Gaussian {words}", 0.0)
    trial = trial_of(Laplace(), people, b)
    return _case("V7b-small", _TESTING, trial, f"Laplace {words}", 0.0)


def _careful(numbers: Numbers) -> Case:
    people, words = _lone(numbers)
    trial = trial_of(Laplace(), people, numbers["v"])
    # The paper takes the most liberal person for the worst case, whoever the victim is.
    setting = Setting(people, trial.setting.mechanism)
    words = f"Laplace noise, {words}"
    return _case("V8-small", _TESTING, trial, words, 0.0, setting=setting)


def _categories(numbers: Numbers) -> Case:
    k, b = int(numbers["k"]), numbers["b"]
    people = Population.from_counts({b: 2})
    trial = trial_of(KRandomizedResponse(k), people, b, exactly=True)
    words = f"{k}-ary response, 2 people at {b:g}"
    return _case("V10b-small", Wang2024(), trial, words, numbers["e"])


def _sets(numbers: Numbers, *, items: int) -> Case:
    d, rate, epsilon = int(numbers["d"]), numbers["l"], numbers["e"]
    bound = SegmentedPrivacy(
        num_items=d, blanket_messages=1, items_per_user=items, sampling_rate=rate
    )
    return Case(
        name="V11-small" if items == 1 else "V11b-small",
        bound=bound.name,
        source=bound.source,
        setting=(
            f"2 people hold {items} of {d} items, 1 blanket message each; one sends with "
            f"chance {rate:g}, the other everything"
        ),
        claim=at_epsilon(bound, Setting(Population.from_counts({epsilon: 2})), epsilon),
        attack=lambda where: item_divergence(
            num_users=2,
            num_items=d,
            blanket_messages=1,
            items_per_user=items,
            sampling_rate=rate,
            epsilon=where,
        ),
        certificate=_WHOLE,
        expected=CourtVerdict.VIOLATED,
    )


def _uniform(numbers: Numbers) -> Case:
    people = Population.from_counts({numbers["b"]: 2})
    words = f"2 people at {numbers['b']:g}"
    return uniform_case("V12-small", people, words, epsilon=numbers["e"])


def _classical(numbers: Numbers) -> Gaussian:
    return Gaussian(delta_local=numbers["d"], calibration="classical")


def _lone(numbers: Numbers) -> tuple[Population, str]:
    others, v, b = int(numbers["n"]) - 1, numbers["v"], numbers["b"]
    words = f"a victim at {v:g} among {others} at {b:g}"
    return Population.from_counts({v: 1, b: others}), words


def _case(
    name: str,
    bound: PublishedBound,
    trial: Trial,
    words: str,
    epsilon: float,
    *,
    setting: Setting | None = None,
) -> Case:
    return Case(
        name=name,
        bound=bound.name,
        source=bound.source,
        setting=words,
        claim=at_epsilon(bound, setting or trial.setting, epsilon),
        attack=trial.attack,
        certificate=trial.certificate,
        expected=CourtVerdict.VIOLATED,
    )


_EPSILONS = (0.0, 0.1, 0.2, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0)
_LEVELS = (1.0, 2.0, 3.0, 4.0, 5.0)
_ITEMS = (3, 4, 5, 10, 20)
_RATES = (0.1, 0.2, 0.5)

SMALL = (
    Small(
        "V1-small",
        programs.EAPES_MARKED,
        _marked,
        {
            "n": range(2, 4),
            "b": _LEVELS,
            "d": (0.5, 0.2, 0.1),
            "e": _EPSILONS,
        },
    ),
    Small(
        "V2-small",
        programs.EAPES_RESPONSE,
        _response,
        {"n": range(2, 30), "b": _LEVELS, "e": _EPSILONS},
    ),
    Small(
        "V3-small",
        programs.EAPES_LAPLACE,
        _laplace,
        {
            "n": range(10, 400, 10),
            "v": (0.1, 0.2, 0.5, 1.0, 1.5, 2.0),
            "b": (1.0, 2.0, 3.0, 4.0),
            "e": (0.1, 0.2, 0.3, 0.4, 0.5, 0.8, 0.9, 1.0, 1.4, 1.5),
            "t": (1, 2, 3, 4, 5, 6, 7, 8, 10),
        },
    ),
    Small(
        "V3b-small",
        programs.EAPES_GAUSSIAN,
        _gaussian,
        {
            "n": range(100, 400, 10),
            "v": (0.2, 0.5),
            "b": (0.2, 0.5, 1.0),
            "d": (0.01, 1e-3, 1e-5),
            "e": (0.05, 0.1, 0.2, 0.5, 0.8, 1.0),
            "t": (2, 5, 10, 15, 20, 30, 40),
        },
    ),
    Small(
        "V3c-small",
        programs.EAPES_LIBERAL,
        _liberal,
        {
            "n": range(2, 50),
            "v": (1.0, 2.0, 5.0, 10.0, 20.0),
            "b": (0.1, 0.2, 0.5, 1.0),
            "e": _EPSILONS,
            "t": (0.05, 0.1, 0.2, 0.5),
        },
    ),
    Small(
        "V4-small",
        programs.APES_CLOSED,
        _closed,
        {
            "n": range(40, 80),
            "v": (20, 50, 100, 200, 500),
            "b": (0.01, 0.02, 0.05, 0.1),
            "e": _EPSILONS,
            "t": (0.01, 0.02, 0.05, 0.1),
        },
    ),
    Small(
        "V4b-small",
        programs.APES_NUMERICAL,
        _numerical,
        {
            "v": (2, 5, 10, 20, 50, 100),
            "b": (0.05, 0.1, 0.2, 0.5, 1.0),
            "e": _EPSILONS,
            "t": (0.05, 0.1, 0.2, 0.5),
        },
    ),
    Small(
        "V5-small",
        programs.APES_APPENDIX,
        _appendix,
        {
            "n": range(100, 400, 5),
            "b": (0.1, 0.2, 0.5, 1.0),
            "e": (0.005, 0.01, 0.015, 0.02, 0.03, 0.05, 0.1),
        },
    ),
    Small(
        "V6b-small",
        programs.APES_SELECTED,
        _selected,
        {"d": range(2, 10), "k": (1,), "e": (1.0,)},
    ),
    Small(
        "V7-small",
        programs.TESTING_GAUSSIAN,
        lambda numbers: _tested(numbers, gaussian=True),
        {"b": (1.0,), "d": (1e-5, 1e-10), "t": (1, 2, 3, 4, 5)},
    ),
    Small(
        "V7b-small",
        programs.TESTING_LAPLACE,
        lambda numbers: _tested(numbers, gaussian=False),
        {"n": range(2, 50), "b": _LEVELS},
    ),
    Small(
        "V8-small",
        programs.TESTING_LONE,
        _careful,
        {"n": range(3, 60), "v": (0.5, 1.0, 2.0, 3.0, 4.0), "b": _LEVELS},
    ),
    Small(
        "V10b-small",
        programs.RATIO_RESPONSE,
        _categories,
        {"k": (3, 4, 5, 10), "b": _LEVELS, "e": _EPSILONS},
    ),
    Small(
        "V11-small",
        programs.SETS_ONE,
        lambda numbers: _sets(numbers, items=1),
        {"d": _ITEMS, "l": _RATES, "e": _EPSILONS},
    ),
    Small(
        "V11b-small",
        programs.SETS_TWO,
        lambda numbers: _sets(numbers, items=2),
        {"d": _ITEMS[2:], "l": _RATES, "e": _EPSILONS},
    ),
    Small(
        "V12-small",
        programs.UNIFORM,
        _uniform,
        {"b": _LEVELS, "e": _EPSILONS},
    ),
)


def small_of(case: str) -> Small:
    """Returns the smallest counterexample to the claim of a case, such as "V8-2".

    Raises:
        InvalidInputError: If its numbers are none that can be searched for.
    """
    program = program_of(case)
    for small in SMALL:
        if small.program is program:
            return small
    known = ", ".join(small.name for small in SMALL)
    raise InvalidInputError(f"Expected a case that {known} stand for, got {case!r}.")
