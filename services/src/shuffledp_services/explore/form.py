"""The controls of the page for statistics, mechanisms and their parameters.

They are written from declarations: the page itself names no statistic and no mechanism.
"""

from html import escape

from shuffledp.parameter import Parameter
from shuffledp.randomizers.catalog import CATALOG
from shuffledp.statistics.statistic_catalog import exploration_named
from shuffledp_services.explore.explore_query import (
    MECHANISMS,
    all_parameters,
    default_text,
)


def with_controls(page: str) -> str:
    """Returns the page with its controls in place of their marks."""
    return (
        page.replace("<!-- statistics -->", _statistics())
        .replace("<!-- mechanisms -->", _mechanisms())
        .replace("<!-- parameters -->", _parameters())
    )


def _statistics() -> str:
    options = []
    for name in MECHANISMS:
        exploration = exploration_named(name)
        assumed = exploration.value
        usual = "" if assumed.usual is None else assumed.usual
        options.append(
            f'<option value="{name}" data-label="{escape(assumed.label)}" '
            f'data-usual="{usual}" data-between="{" ".join(assumed.between)}">'
            f"{escape(exploration.words.title)}</option>"
        )
    return "".join(options)


def _mechanisms() -> str:
    return "".join(
        f'<option value="{mechanism}" data-of="{statistic}">'
        f"{escape(CATALOG[mechanism].title or mechanism)}</option>"
        for statistic, mechanisms in MECHANISMS.items()
        for mechanism in mechanisms
    )


def _parameters() -> str:
    return "\n".join(
        f'<label data-of="{" ".join(_owners(name))}">{escape(parameter.help)}\n'
        f"{_field(parameter)}</label>"
        for name, parameter in all_parameters().items()
    )


def _owners(name: str) -> list[str]:
    """Returns the statistics and mechanisms that have a parameter of this name."""
    owners = []
    for statistic, mechanisms in MECHANISMS.items():
        if name in {each.name for each in exploration_named(statistic).parameters}:
            owners.append(statistic)
        owners += [
            mechanism
            for mechanism, settings in mechanisms.items()
            if name in {setting.parameter.name for setting in settings}
        ]
    return owners


def _field(parameter: Parameter) -> str:
    if parameter.kind == "whole number":
        kind = (
            f'type="number" min="{int(parameter.least)}" max="{int(parameter.most)}" '
            'step="1"'
        )
    elif parameter.least > 0.0:
        # Over many powers of ten no step of a number field fits.
        kind = 'type="text" inputmode="decimal"'
    else:
        kind = 'type="number" step="any"'
    return f'<input name="{parameter.name}" {kind} value="{default_text(parameter)}">'
