"""Tables of a plan of counts for a terminal."""

import math

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from shuffledp.accounting.counts.shuffler_noise import ShufflerNoise
from shuffledp.format_number import plain
from shuffledp.planning.collection_design import CollectionDesign
from shuffledp.planning.plan_table import local_text
from shuffledp.statistics.counts.counts_plan import CountsPlan
from shuffledp.statistics.questionnaire.hashed.hashed_choice_question import (
    HashedChoiceQuestion,
)

_MOST_LEVELS = 4


def counts_plan_tables(plan: CountsPlan) -> RenderableType:
    """Returns a table of designs, and one of errors that others would reach."""
    return Group(
        _designs(plan),
        _yardsticks(plan),
        *_hashed_buckets(plan),
        *_noise_from_shuffler(plan),
        Text(
            f"\nRecommended: {plan.reason}",
            style="bold",
        ),
        Text(
            "Errors, but of hashed buckets, are predicted for a bucket with a share of "
            f"{plan.share:.3g} of the people; --share (in Python share) changes that."
        ),
        *(
            Text(caution, style="yellow")
            for caution in plan.recommended_guarantee.cautions
        ),
        *(Text(f"Left out: {line}", style="dim") for line in plan.left_out),
    )


def _designs(plan: CountsPlan) -> Table:
    several = f", up to {plan.most:,} of a person" if plan.most > 1 else ""
    table = Table(
        title=f"Counts of {plan.buckets:,} buckets{several}, "
        f"{plan.wish.num_users:,} people, at delta = {plain(plan.wish.delta)}",
        title_justify="left",
    )
    table.add_column("noise")
    table.add_column("error of a count\n(people)", justify="right", style="bold")
    table.add_column("times a\ncurator's", justify="right")
    table.add_column("messages\nper person", justify="right")
    table.add_column("bytes", justify="right")
    table.add_column("report\nsize")
    table.add_column("answers\nsent", justify="right")
    table.add_column("central epsilon\n(certified)", justify="right", style="green")
    table.add_column("(attack\nshows)", justify="right")
    table.add_column("local epsilon\n(coalition)", justify="right")
    for design in plan.designs:
        levels = design.guarantee.levels
        table.add_row(
            design.name,
            f"{design.standard_error:.3g}",
            f"{design.standard_error / plan.curator:.3g}",
            f"{design.messages:.3g}",
            f"{design.bits / 8.0:.3g}",
            "constant" if design.is_constant else "varies",
            _first_and_last([f"{rate:.3g}" for rate in design.protocol.rates]),
            _first_and_last([plain(level.epsilon_central) for level in levels]),
            _first_and_last([plain(level.epsilon_central_lower) for level in levels]),
            "none",
            style="on grey15" if design is plan.best else "",
            end_section=True,
        )
    if plan.single is not None:
        _add_single(table, plan, plan.single)
    return table


def _add_single(table: Table, plan: CountsPlan, single: CollectionDesign) -> None:
    error, levels = single.error * plan.wish.num_users, single.guarantee.levels
    table.add_row(
        f"one message: {single.name}",
        f"{error:.3g}",
        f"{error / plan.curator:.3g}",
        "1",
        f"{single.bits / 8.0:.3g}",
        "constant",
        _first_and_last(["1"] * len(levels)),
        _first_and_last([plain(level.epsilon_central) for level in levels]),
        _first_and_last([plain(level.epsilon_central_lower) for level in levels]),
        _first_and_last(
            [local_text(level.chosen, f"{level.chosen:.3g}") for level in levels]
        ),
    )


def _yardsticks(plan: CountsPlan) -> Table:
    table = Table(title="Yardsticks, at the same targets", title_justify="left")
    table.add_column("model")
    table.add_column("error of a count\n(people)", justify="right")
    table.add_column("")
    table.add_row(
        "trusted curator",
        f"{plan.curator:.3g}",
        "is trusted with all answers, and adds discrete Laplace or Gaussian noise",
    )
    if plan.shuffler is not None:
        table.add_row(
            "noise from the shuffler",
            f"{plan.shuffler.standard_error:.3g}",
            "one message per answer, if the shuffler itself is trusted to add the noise, "
            "and to keep it secret",
        )
    return table


def _hashed_buckets(plan: CountsPlan) -> list[Text]:
    """Returns the assumption of the error of hashed buckets, and code to use them."""
    texts = []
    for design in plan.designs:
        if design.hashed is None or design.even_error is None:
            continue
        (question,) = design.hashed.questions
        assert isinstance(question, HashedChoiceQuestion)
        wish, messages = plan.wish, question.messages
        texts += [
            Text(
                f"\nHashed buckets: the error is about {design.standard_error:.3g} people "
                "if frequencies are in proportion to 1 / rank, and "
                f"{design.even_error:.3g} if all buckets are as frequent. Others' answers "
                "in the same buckets add to it: an estimate states its own error. To use "
                "it:"
            ),
            Text(
                f"import dataclasses\n\n"
                f"question = sdp.HashedChoiceQuestion({question.name!r}, {plan.buckets}, "
                f"messages={messages:g})\n"
                f"wish = sdp.Wish(targets={dict(wish.targets or {})}, delta={wish.delta}, "
                f"absent={wish.absent})\n"
                "plan = sdp.plan_questionnaire((question,), wish, "
                f"max_messages={2 * math.ceil(messages)})\n"
                "asked = dataclasses.replace(plan.questionnaire, report_size=None)\n"
                "# Sizes of reports vary; plan.questionnaire fills them up to one size.",
                style="bold",
            ),
        ]
    return texts


def _noise_from_shuffler(plan: CountsPlan) -> list[Text]:
    """Returns what to write to have the shuffler add the noise, and what that costs."""
    if plan.shuffler is None:
        return []
    counts = plan.shuffler.protocol
    (group,) = counts.groups
    assert isinstance(group.noise, ShufflerNoise)
    noise = group.noise
    written = (
        f"group = sdp.CountGroup({group.buckets}, {group.most}, "
        f"sdp.ShufflerNoise({noise.decay!r}, dummies={noise.dummies}))\n"
        f"counts = sdp.Counts((group,), {counts.targets}, {counts.rates}, honest=1)\n"
        "sdp.shuffle(reports, rng=rng, dummies=counts.draw_dummies(rng=rng))"
    )
    level = plan.shuffler.guarantee.levels[0]
    return [
        Text(
            f"\nNoise from the shuffler: {group.buckets * noise.dummies:,} dummies in the "
            f"mean, up to twice as many. Everybody then has the same guarantee, epsilon "
            f"{plain(level.epsilon_central)} (certified; an attack shows "
            f"{plain(level.epsilon_central_lower)}). To use it:"
        ),
        Text(written, style="bold"),
        Text(
            "A shuffler that adds no dummies, or tells the analyst how many, leaves "
            "nothing of this guarantee, and nothing in the counts shows it.",
            style="yellow",
        ),
    ]


def _first_and_last(texts: list[str]) -> str:
    if len(texts) <= _MOST_LEVELS:
        return "\n".join(texts)
    return "\n".join([texts[0], "...", texts[-1]])
