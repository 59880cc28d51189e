"""Training in rounds of shuffled updates, with its certified guarantees."""

from typing import Any, cast

from shuffledp.accounting.account import account
from shuffledp.cli.training_guarantee_tables import (
    stated_record,
    training_guarantee_table,
)
from shuffledp.cli.training_output import accuracy_table, deliver, training_bar
from shuffledp.cli.training_start import (
    check_share,
    levels_of,
    load,
    settings_of,
    start,
)
from shuffledp.cli.waiting import working
from shuffledp.extras import installed_feature
from shuffledp.federated.apes_settings import PAPER_SETTINGS
from shuffledp.federated.clients import partition
from shuffledp.federated.framework_catalog import FRAMEWORKS
from shuffledp.federated.local_training import LocalTraining
from shuffledp.federated.round_protocol import TrainingRound
from shuffledp.federated.softmax import SoftmaxRegression
from shuffledp.federated.training import train
from shuffledp.federated.training_guarantee import training_guarantee_of
from shuffledp.format_number import plain
from shuffledp.population import Population

# Updates without noise: the accuracy that private training is compared with.
PLAIN = "non-private"
# Each client holds 3 of the 1,437 training pictures.
_DIGITS_CLIENTS = 479


def train_rounds(name: str, given: dict[str, Any], *, share: float) -> None:
    """Runs `train apes` with a framework, and delivers the result."""
    # In this order: `start` checks the folder that is then taken out.
    rng, output = start(given), given.pop("output")
    local = LocalTraining(given["local_steps"], given["local_rate"], given["proximal"])
    digits = given["dataset"] == "digits"
    given["clients"] = given["clients"] or (
        _DIGITS_CLIENTS if digits else PAPER_SETTINGS.num_clients
    )
    levels = levels_of(given, rng)
    choice = None if name == PLAIN else FRAMEWORKS[name]
    if choice is not None and choice.sparse:
        check_share(share, given["dataset"])
    framework = None
    if choice is not None:
        # Of ldp-min: the smallest level of all, for each client.
        levels = choice.levels(levels)
        framework = choice.framework(clip=given["clip"], share=share)
    people = Population.from_budgets(levels)
    # Last, as it may be a download: all options are checked by then.
    images = load(given["dataset"])
    features, labels = images.train_features, images.train_labels
    # With the same source as the noise: one seed repeats all of a training.
    clients = partition(features, labels, levels.size, rng=rng)
    model = SoftmaxRegression(features.shape[1])
    rounds, delta = given["rounds"], given["delta"]
    protocol = None
    if choice is not None and framework is not None:
        protocol = TrainingRound(framework, model.num_parameters, choice.shuffled)
    with working("certify"):
        guarantees = {
            counted: training_guarantee_of(
                protocol, people, delta=delta, rounds=counted
            )
            # A set: a training of one round is certified once.
            for counted in {1, rounds}
        }
    after_one, guarantee = guarantees[1], guarantees[rounds]
    with training_bar("round", rounds) as tell:
        finished = 0

        def on_share(done: float) -> None:
            # `done` is the share of the current round alone.
            tell(finished + done, None)

        def on_round(done: int, accuracy: float) -> None:
            def words() -> str:
                spent = _spent_words(protocol, people, delta, done)
                return f"accuracy {100 * accuracy:.2f} %{spent}"

            nonlocal finished
            finished = done
            tell(done, words)

        trained = train(
            model,
            clients,
            levels,
            test_features=images.test_features,
            test_labels=images.test_labels,
            protocol=protocol,
            rounds=rounds,
            server_rate=given["learning_rate"],
            rng=rng,
            local_training=local,
            on_round=on_round,
            on_share=on_share,
        )
    state = installed_feature("apes-training")
    stated = None
    if state is not None:
        stated = state(
            name,
            people,
            coordinates=model.num_parameters,
            rounds=rounds,
            delta=delta,
            share=share,
        )
    curves = {"test": trained.accuracy}
    settings = {**settings_of(name, given), "share": share}
    deliver(
        {
            "settings": settings,
            "accuracy": list(trained.accuracy),
            **guarantee.to_dict(),
            "after_one_round": after_one.to_dict(),
            **stated_record(guarantee, stated),
        },
        [
            accuracy_table(curves, "round"),
            training_guarantee_table(
                guarantee, stated, after_one if rounds > 1 else None
            ),
        ],
        curves=curves,
        step="round",
        output=output,
        as_json=given["as_json"],
    )


def _spent_words(
    protocol: TrainingRound | None, people: Population, delta: float, rounds: int
) -> str:
    """Returns the certified epsilon so far at the largest level, as part of a sentence."""
    if protocol is None or protocol.uncertified:
        return ""
    level = float(people.epsilons[-1])
    # Only the first statement of the guarantee's certificate: this runs after every round.
    guarantee = account(
        cast(Any, protocol.device),
        people,
        delta=delta,
        levels=[level],
        coordinates=protocol.num_coordinates,
        rounds=rounds,
    )
    return f", epsilon {plain(guarantee.level(level).epsilon_central)} spent"
