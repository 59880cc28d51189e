"""Cases for any numbers of people and budgets: what a search makes smaller."""

from collections.abc import Mapping
from dataclasses import replace

from shuffledp.papers.apes.amplification import ApesClosed, ApesNumerical
from shuffledp.papers.apes.local import report_budget, selection_loss
from shuffledp.papers.bounds.bound import PublishedBound, Setting
from shuffledp.papers.bounds.wang2024 import Wang2024
from shuffledp.papers.court.apes_cases import local_case
from shuffledp.papers.court.case import Case, CourtVerdict, at_epsilon
from shuffledp.papers.court.eapes_cases import marked_case
from shuffledp.papers.court.items import item_divergence
from shuffledp.papers.court.noise_cases import Trial, trial_of
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
# Of Theorem 3: C / sqrt(n - 1) would dominate, and the paper does not say what C is.
_UNNAMED = "with C = 0"
_WHOLE = "whole numbers of blanket messages are no mechanism of this library"


def marked(numbers: Numbers) -> Case:
    """Returns the case of messages that may be the value itself, and say so."""
    people = Population.from_counts({numbers["b"]: int(numbers["n"])})
    case = marked_case("V1-small", people, numbers["d"], numbers["e"])
    return replace(case, setting=f"{case.setting}, {_UNNAMED}")


def response(numbers: Numbers) -> Case:
    """Returns the case of response of a bit, everybody at one budget."""
    n, b = int(numbers["n"]), numbers["b"]
    trial = trial_of(
        KRandomizedResponse(2), Population.from_counts({b: n}), b, exactly=True
    )
    words = f"randomized response of a bit, {n} people at {b:g}, {_UNNAMED}"
    return _case("V2-small", EapesCorollary(), trial, words, numbers["e"])


def laplace(numbers: Numbers) -> Case:
    """Returns the case of Laplace noise, one careful person."""
    people, words = _lone(numbers)
    trial = trial_of(Laplace(), people, numbers["v"])
    words = f"Laplace noise, {words}, {_UNNAMED}"
    return _case("V3-small", EapesCorollary(), trial, words, numbers["e"])


def liberal(numbers: Numbers) -> Case:
    """Returns the case of Clip-Laplace noise, one liberal person."""
    people, words = _lone(numbers)
    trial = trial_of(ClipLaplace(), people, numbers["v"])
    words = f"Clip-Laplace noise, {words}, {_UNNAMED}"
    return _case("V3c-small", EapesCorollary(), trial, words, numbers["e"])


def gaussian(numbers: Numbers) -> Case:
    """Returns the case of Gaussian noise, one careful person."""
    people, words = _lone(numbers)
    trial = trial_of(_classical(numbers), people, numbers["v"])
    words = f"Gaussian noise, delta_i = {numbers['d']:g}, {words}, {_UNNAMED}"
    return _case("V3b-small", EapesTheorem(), trial, words, numbers["e"])


def closed(numbers: Numbers) -> Case:
    """Returns the case of APES's closed form, one liberal person."""
    people, words = _lone(numbers)
    trial = trial_of(ClipLaplace(), people, numbers["v"])
    words = f"Clip-Laplace noise, {words}"
    return _case("V4-small", ApesClosed(), trial, words, numbers["e"])


def numerical(numbers: Numbers) -> Case:
    """Returns the case of APES's two counts, one liberal person."""
    people, words = _lone({"n": 2, **numbers})
    trial = trial_of(ClipLaplace(), people, numbers["v"])
    words = f"Clip-Laplace noise, {words}"
    return _case("V4b-small", ApesNumerical(), trial, words, numbers["e"])


def appendix(numbers: Numbers) -> Case:
    """Returns the case of APES's closed form as its appendix prints it."""
    n, b = int(numbers["n"]), numbers["b"]
    trial = trial_of(ClipLaplace(), Population.from_counts({b: n}), b)
    words = f"Clip-Laplace noise, {n} people at {b:g}"
    return _case("V5-small", ApesClosed(appendix=True), trial, words, numbers["e"])


def selected(numbers: Numbers) -> Case:
    """Returns the case of S-APES's selected coordinates before the shuffle."""
    kept, all_of_them, budget = int(numbers["k"]), int(numbers["d"]), numbers["e"]
    return local_case(
        "V6b-small",
        "section 3.3",
        f"S-APES, {kept} of {all_of_them} coordinates is selected, each at {budget:g}",
        report_budget(budget, coordinates=kept),
        selection_loss(budget, coordinates=all_of_them),
    )


def tested(numbers: Numbers, *, gaussian: bool) -> Case:
    """Returns the case of tests between equal budgets."""
    n, b = int(numbers.get("n", 2)), numbers["b"]
    people = Population.from_counts({b: n})
    words = f"noise, {n} people at {b:g}"
    if gaussian:
        trial = trial_of(_classical(numbers), people, b)
        return _case("V7-small", _TESTING, trial, f"Gaussian {words}", 0.0)
    trial = trial_of(Laplace(), people, b)
    return _case("V7b-small", _TESTING, trial, f"Laplace {words}", 0.0)


def careful(numbers: Numbers) -> Case:
    """Returns the case of tests, one careful person."""
    people, words = _lone(numbers)
    trial = trial_of(Laplace(), people, numbers["v"])
    # The paper takes the most liberal person for the worst case, whoever the victim is.
    setting = Setting(people, trial.setting.mechanism)
    words = f"Laplace noise, {words}"
    return _case("V8-small", _TESTING, trial, words, 0.0, setting=setting)


def categories(numbers: Numbers) -> Case:
    """Returns the case of the variation ratio of response with more categories."""
    k, b = int(numbers["k"]), numbers["b"]
    people = Population.from_counts({b: 2})
    trial = trial_of(KRandomizedResponse(k), people, b, exactly=True)
    words = f"{k}-ary response, 2 people at {b:g}"
    return _case("V10b-small", Wang2024(), trial, words, numbers["e"])


def sets(numbers: Numbers, *, items: int) -> Case:
    """Returns the case of sets of items."""
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


def uniform(numbers: Numbers) -> Case:
    """Returns the case of UniS, everybody at one budget."""
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
