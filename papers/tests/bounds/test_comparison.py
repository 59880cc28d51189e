"""Published claims beside each other: what applies, what is refuted, what is refused."""

import pytest

from shuffledp import (
    InvalidInputError,
    KRandomizedResponse,
    Laplace,
    Population,
    SingleMessage,
    account,
)
from shuffledp_papers.bounds.comparison import claims
from shuffledp_papers.bounds.published_bounds import PUBLISHED

CROWD = Population.from_counts({0.5: 5_000, 1.0: 5_000})


def test_every_bound_states_a_number_or_says_why_not() -> None:
    protocol = SingleMessage(KRandomizedResponse(10))

    stated = claims(protocol, CROWD, delta=1e-6)

    assert [claim.name for claim in stated] == [bound.name for bound in PUBLISHED]
    for claim in stated:
        assert claim.note
        assert claim.number is None or claim.number > 0.0


def test_nothing_published_is_called_certified_or_proven_for_mixed_levels() -> None:
    stated = claims(SingleMessage(Laplace()), CROWD, delta=1e-6)

    assert all("certified" not in claim.proven for claim in stated)
    assert all(claim.proven != "proven" for claim in stated)


@pytest.mark.slow
def test_one_careful_person_refutes_most_claims() -> None:
    protocol = SingleMessage(Laplace())
    people = Population.from_counts({0.5: 1, 2.0: 9_999})

    stated = claims(protocol, people, delta=1e-5)
    attack = account(protocol, people, delta=1e-5).worst.epsilon_central_lower

    refuted = {c.name for c in stated if c.number is not None and c.number < attack}
    assert {"hypothesis-testing", "eapes", "feldman2021-numerical"} <= refuted


def test_deltas_are_stated_too() -> None:
    protocol = SingleMessage(KRandomizedResponse(2))
    equal = Population.from_counts({1.0: 1_000})

    (claim,) = claims(protocol, equal, epsilon=0.1, names=["feldman2021-numerical"])

    certified = account(protocol, equal, epsilon=0.1).worst.delta_central
    assert claim.number is not None
    assert certified <= claim.number < 1.0
    assert claim.to_dict()["proven"] == "proven"


@pytest.mark.parametrize(
    ("mode", "question", "names", "message"),
    [
        ("stratified", {"delta": 1e-6}, None, "mode 'agnostic'"),
        ("agnostic", {}, None, "either delta or epsilon"),
        ("agnostic", {"delta": 1e-6, "epsilon": 1.0}, None, "either delta or epsilon"),
        ("agnostic", {"delta": 1e-6}, ["unheard-of"], "Expected one of"),
        ("agnostic", {"delta": 0.0}, None, "0 < delta < 1"),
    ],
)
def test_senseless_questions_are_refused(
    mode: str, question: dict[str, float], names: list[str] | None, message: str
) -> None:
    protocol = SingleMessage(
        Laplace(), "stratified" if mode == "stratified" else "agnostic"
    )

    with pytest.raises(InvalidInputError, match=message):
        claims(
            protocol,
            CROWD,
            delta=question.get("delta"),
            epsilon=question.get("epsilon"),
            names=names,
        )
