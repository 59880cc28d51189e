"""The variation ratio, and segmented privacy, which rests on it (both by Wang et al.).

Two counts do not show whether the victim sent a message that speaks for neither value, but
the remaining messages may; and the total number of messages shows whether she sent one.
"""

import math
from functools import cache, partial

import numpy as np

from shuffledp.papers.bounds.bound import Setting
from shuffledp.papers.bounds.wang2024 import Wang2024, variation_ratio_delta
from shuffledp.papers.court.case import (
    Case,
    Claim,
    CourtVerdict,
    Printed,
    at_epsilon,
    certificate_of,
)
from shuffledp.papers.court.enumeration import enumerated_divergence
from shuffledp.papers.court.items import item_divergence
from shuffledp.papers.court.noise_cases import trial_of
from shuffledp.papers.court.worlds import Worlds
from shuffledp.papers.segmented.privacy import (
    SegmentedPrivacy,
    largest_sampling_rate,
)
from shuffledp.population import Population
from shuffledp.randomizers.declared_ratios import DeclaredRatios
from shuffledp.randomizers.kary_response import KRandomizedResponse

_RATIO, _SETS = "Wang et al. (2024), reduction", "Wang et al. (2025), Theorem 3"
_WHOLE = "whole numbers of blanket messages are no mechanism of this library"
_ITEMS = 128


def ratio_cases() -> list[Case]:
    """Returns the cases of Wang et al. (2024) and (2025)."""
    return [*_matrices(), *_responses(), *_items(), *_kept_items()]


def _matrices() -> list[Case]:
    def case(name: str, num_users: int, printed: Printed) -> Case:
        worlds = Worlds(
            np.array([3.0, 1.0, 4.0, 0.0]) / 8.0,
            np.array([1.0, 3.0, 4.0, 0.0]) / 8.0,
            np.array([[3.0, 3.0, 4.0, 6.0]]) / 16.0,
            np.array([num_users - 1]),
        )

        def claim() -> Claim:
            epsilon = math.log(2.0)
            stated = variation_ratio_delta(
                epsilon, p=3.0, beta=0.25, q=2.0, num_users=num_users
            )
            return Claim(epsilon, stated)

        budget = math.log(3.0)
        return Case(
            name=name,
            bound=Wang2024.name,
            source=_RATIO,
            setting=f"{num_users} people, four messages, p = 3, beta = 1/4, q = 2",
            claim=claim,
            attack=partial(enumerated_divergence, worlds),
            certificate=certificate_of(
                DeclaredRatios(q=2.0, beta=0.25),
                Population.from_counts({budget: num_users}),
                budget,
            ),
            expected=CourtVerdict.VIOLATED,
            printed=printed,
        )

    return [
        case("V10", 2, Printed(claimed="0.0234375", exact="0.0703125")),
        case("V10-2", 6, Printed(claimed=".00168", exact=".00750")),
    ]


def _responses() -> list[Case]:
    def case(
        name: str,
        categories: int,
        num_users: int,
        budget: float,
        epsilon: float,
        printed: Printed | None = None,
    ) -> Case:
        trial = trial_of(
            KRandomizedResponse(categories),
            Population.from_counts({budget: num_users}),
            budget,
            exactly=categories > 2,
        )
        return Case(
            name=name,
            bound=Wang2024.name,
            source=_RATIO,
            setting=f"{categories}-ary response, {num_users} people at {budget:g}",
            claim=at_epsilon(Wang2024(), trial.setting, epsilon),
            attack=trial.attack,
            certificate=trial.certificate,
            expected=CourtVerdict.VIOLATED
            if categories > 2
            else CourtVerdict.CONSISTENT,
            printed=printed or Printed(),
        )

    return [
        case("V10b", 10, 60, 4.0, 3.6, Printed("3.6", "1.3e-12", "1.57e-5")),
        case("V10b-2", 100, 30, 4.0, 2.0),
        case("C15", 2, 1000, 1.0, 0.1),
    ]


def _items() -> list[Case]:
    alone = "one victim at {:g}, the others send everything"
    small, large = "2e-6", "2e-7"
    rows = [
        ("V11", 5000, 1, 1, 0.5, Printed(".5", small, "9.05e-4")),
        ("V11-2", 5000, 2, 1, 0.5, Printed(".5", small, "5.1e-5")),
        ("V11-3", 5000, 1, 1, 1.0, Printed("1", small, "2.26e-6")),
        ("V11b", 5000, 5, 4, 0.5, Printed(".5", small, "7.8e-6")),
        ("V11b-2", 5000, 6, 4, 0.5, Printed(".5", small, "4.2e-6")),
        ("V11b-3", 50_000, 1, 4, 0.5, Printed(".5", large, "2.8e-7")),
        ("V11b-4", 5000, 1, 4, 0.5, Printed(".5", small, "2.69e-4")),
    ]
    return [
        _item_case(
            name,
            num_users,
            messages,
            items,
            epsilon,
            alone.format(epsilon),
            {},
            CourtVerdict.VIOLATED,
            printed,
        )
        for name, num_users, messages, items, epsilon, printed in rows
    ]


def _kept_items() -> list[Case]:
    levels = {0.5: 1249, 1.0: 2500, 2.0: 1250}
    mixed = "1250, 2500 and 1250 people at 0.5, 1 and 2; a victim at 0.5"
    everything = "everybody at 2 and sends everything"
    kept = CourtVerdict.CONSISTENT
    return [
        _item_case("C16", 5000, 1, 1, 0.5, mixed, levels, kept),
        _item_case("C17", 5000, 1, 1, 2.0, everything, {}, kept),
    ]


def _item_case(
    name: str,
    num_users: int,
    messages: int,
    items: int,
    epsilon: float,
    words: str,
    others: dict[float, int],
    expected: CourtVerdict,
    printed: Printed | None = None,
) -> Case:
    @cache
    def rates() -> list[float]:
        """The largest rates for which the theorem states (budget, 0.01 / n): what runs."""
        return [
            largest_sampling_rate(
                num_users,
                num_items=_ITEMS,
                blanket_messages=messages,
                epsilon=budget,
                delta=0.01 / num_users,
                items_per_user=items,
            )
            for budget in (epsilon, *others)
        ]

    def claim() -> Claim:
        bound = SegmentedPrivacy(
            num_items=_ITEMS,
            blanket_messages=messages,
            items_per_user=items,
            sampling_rate=rates()[0],
        )
        people = Setting(Population.from_counts({epsilon: num_users}))
        return at_epsilon(bound, people, epsilon)()

    def attack(epsilon: float) -> float:
        return item_divergence(
            num_users=num_users,
            num_items=_ITEMS,
            blanket_messages=messages,
            items_per_user=items,
            sampling_rate=rates()[0],
            epsilon=epsilon,
            other_rates=np.array(rates()[1:]) if others else None,
            other_counts=np.array(list(others.values())) if others else None,
        )

    return Case(
        name=name,
        bound=SegmentedPrivacy.name,
        source=_SETS,
        setting=(
            f"{num_users} people hold {items} of {_ITEMS} items, {messages} blanket "
            f"message{'s' * (messages > 1)} each; {words}"
        ),
        claim=claim,
        attack=attack,
        certificate=_WHOLE,
        expected=expected,
        printed=printed or Printed(),
    )
