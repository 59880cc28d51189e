"""Trainings behind tables of federated learning: small, with every message drawn."""

import csv
import io
from collections.abc import Callable, Iterator
from dataclasses import replace
from xml.etree import ElementTree

import numpy as np
import pytest

from shuffledp.datasets.mnist import LabeledImages
from shuffledp.federated.apes_settings import PAPER_SETTINGS
from shuffledp.federated.baseline_vectors import OneBitVectors
from shuffledp.federated.local_guarantee import LocalGuarantee, LocalLevel
from shuffledp.federated.local_training import LocalTraining
from shuffledp.federated.round_protocol import TrainingRound
from shuffledp.federated.softmax import SoftmaxRegression
from shuffledp.federated.training_guarantee import (
    TrainingGuarantee,
    training_guarantee_of,
)
from shuffledp.population import Population
from shuffledp_papers.apes.figures import accuracy_by_distribution as apes_budgets
from shuffledp_papers.apes.figures import framework_results, training_cells
from shuffledp_papers.apes.figures import framework_tables as apes_frameworks
from shuffledp_papers.apes.figures import framework_training as apes_training
from shuffledp_papers.apes.figures import parameter_sweeps as apes_sweeps
from shuffledp_papers.apes.figures.framework_training import (
    Training,
    accuracies,
    certificate,
)
from shuffledp_papers.apes.figures.training_cells import NAMES
from shuffledp_papers.apes.printed import TABLE_3_EPSILONS, USER_EPSILONS
from shuffledp_papers.eapes.figures import shuffled_training as eapes_training
from shuffledp_papers.eapes.figures.shuffled_training import TrainingVariant
from shuffledp_papers.figures.experiments import EXPERIMENTS
from shuffledp_papers.figures.result import Effort, Result
from shuffledp_papers.figures.table import Cell, number

SMALL = replace(
    PAPER_SETTINGS,
    num_clients=60,
    rounds=2,
    local_training=LocalTraining(),
    delta=1e-3,
)
NEW = (
    "eapes-fig5",
    "apes-table3",
    "apes-table4",
    "apes-fig3",
    "apes-fig4",
    "apes-fig5",
)


def some_images() -> LabeledImages:
    """Ten classes, each with a random pattern and some noise."""
    rng = np.random.default_rng(7)
    patterns = rng.random((10, 8))
    labels = rng.integers(10, size=240)
    noisy = 0.8 * patterns[labels] + 0.2 * rng.random((240, 8))
    features = noisy.astype(np.float32)
    return LabeledImages(
        features[:120], labels[:120], features[120:], labels[120:], "patterns"
    )


def stand_in_promise(
    protocol: TrainingRound | None, people: Population, *, delta: float, rounds: int
) -> TrainingGuarantee:
    """No bound at all, but at once: for tests of all else."""
    if protocol is None:
        return TrainingGuarantee(rounds, delta, None, None, "")
    levels = tuple(
        LocalLevel(level, 1, None, 90 * rounds * level, 90 * rounds * level)
        for level in people.epsilons[[0, -1]].tolist()
    )
    local = LocalGuarantee(protocol.identity, 60, rounds, 90, delta, levels)
    return TrainingGuarantee(rounds, delta, None, local, "")


def make_small(patch: pytest.MonkeyPatch) -> None:
    for module in (apes_training, eapes_training):
        patch.setattr(module, "load_mnist", some_images)
    for module in (apes_training, apes_frameworks, apes_budgets, apes_sweeps):
        patch.setattr(module, "PAPER_SETTINGS", SMALL)
    patch.setattr(apes_training, "MODEL", SoftmaxRegression(8))
    patch.setattr(apes_training, "_ACCURACIES", {})
    patch.setattr(apes_sweeps, "CLIPS", (0.03, 0.1))
    patch.setattr(apes_sweeps, "SHARES", (0.1, 0.2))
    patch.setattr(eapes_training, "NUM_CLIENTS", 12)
    patch.setattr(eapes_training, "EPOCHS", 3)
    apes_training.certificate.cache_clear()


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    make_small(monkeypatch)
    monkeypatch.setattr(apes_training, "training_guarantee_of", stand_in_promise)
    yield
    apes_training.certificate.cache_clear()


@pytest.fixture(scope="module")
def certified_rows() -> dict[str, dict[str, Cell]]:
    """Table 3, truly certified, of people with a budget of 1; by framework."""
    with pytest.MonkeyPatch.context() as patch:
        make_small(patch)
        patch.setattr(
            apes_training, "draw_budgets", lambda _name, count, rng: np.ones(count)
        )
        # Their certificates take longest, and are tested where they are made.
        slow = ("unis", "s-apes-threshold")
        names = [name for name in NAMES if name not in slow]
        table = apes_frameworks.table(
            ("uniform2",), names=names, epsilons=TABLE_3_EPSILONS
        )
        rows = table(Effort(2, 1, False, lambda _share: None)).table.records()
    return {str(row["framework"]): row for row in rows}


def run(name: str, *, seed: int = 1, repetitions: int = 2) -> Result:
    return EXPERIMENTS[name].run(Effort(repetitions, seed, False, lambda _share: None))


@pytest.mark.parametrize(
    "name",
    [*NEW[:2], *(pytest.param(name, marks=pytest.mark.slow) for name in NEW[2:])],
)
def test_results_are_tables_and_pictures(name: str) -> None:
    done: list[float] = []

    result = EXPERIMENTS[name].run(Effort(2, 1, False, done.append))

    lines = list(csv.reader(io.StringIO(result.to_csv())))
    assert len(lines) == 1 + len(result.table.rows)
    assert ElementTree.fromstring(result.svg).tag.endswith("svg")
    assert done == sorted(done)
    assert done[-1] == pytest.approx(1.0, rel=1e-12)


@pytest.mark.slow
def test_the_same_seed_gives_the_same_table() -> None:
    texts = []
    for seed in (1, 1, 2):
        apes_training._ACCURACIES.clear()
        texts.append(run("apes-fig4", seed=seed).to_csv())

    assert texts[0] == texts[1] != texts[2]


@pytest.mark.slow
def test_shuffled_noisy_descent_is_repeatable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(eapes_training, "VARIANTS", (TrainingVariant("gauss2"),))

    texts = [run("eapes-fig5", seed=seed).to_csv() for seed in (1, 1, 2)]

    assert texts[0] == texts[1] != texts[2]


@pytest.mark.slow
def test_rows_of_table_3_are_the_frameworks_in_its_order() -> None:
    result = run("apes-table3")

    assert result.table.column("framework") == list(NAMES.values())
    assert set(result.table.column("distribution")) == {"uniform2"}


@pytest.mark.slow
def test_certified_is_at_most_local_and_published_is_beside_it(
    certified_rows: dict[str, dict[str, Cell]],
) -> None:
    for name in ("APES", "One-bit APES"):
        row = certified_rows[name]
        local = number(row["local, most"])
        assert local == pytest.approx(90.0, rel=1e-12)
        assert 0.0 < number(row["coordinate, certified"]) <= 1.0
        assert 0.0 < number(row["round, certified"]) <= local
        assert number(row["round, certified"]) <= number(row["training, certified"])
        assert number(row["training, certified"]) <= local * SMALL.rounds
        assert number(row["training, certified"]) <= number(row["training, local"])
    assert certified_rows["APES"]["round, printed"] == 57.6
    assert certified_rows["APES"]["accuracy, printed"] == 79.67
    assert number(certified_rows["APES"]["round, stated"]) > 0.0
    assert certified_rows["One-bit APES"]["round, stated"] is None


def test_a_statement_below_an_attack_is_marked() -> None:
    people = Population.from_counts({0.5: 60})
    promise = training_guarantee_of(
        TrainingRound(OneBitVectors(1.0), 4), people, delta=1e-3, rounds=1
    )
    attack = framework_results._coordinate_attack(promise)

    assert attack > 0.0
    assert framework_results._attack(promise) > attack
    for stated, exceeded in ((0.999 * attack, True), (attack, False), (None, None)):
        assert framework_results._flagged("x", stated, attack) == {
            "x": stated,
            "x: exceeded": exceeded,
        }


@pytest.mark.slow
def test_no_central_guarantee_is_claimed_where_none_is_proven(
    certified_rows: dict[str, dict[str, Cell]],
) -> None:
    for name in ("S-APES, top-b", "PLDP", "LDP-Min"):
        row = certified_rows[name]
        assert row["coordinate, certified"] is None
        assert row["round, certified"] is None
        assert row["training, certified"] is None
        assert number(row["training, local"]) > 0.0
    assert certified_rows["Non-Private"]["training, local"] is None


@pytest.mark.slow
def test_a_quick_table_has_one_repetition_and_no_errors() -> None:
    result = EXPERIMENTS["apes-table3"].run(Effort(2, 1, True, lambda _share: None))

    assert result.setting["repetitions"] == 1
    assert set(result.table.column("standard error")) == {None}
    again = run("apes-table3")
    assert again.setting["repetitions"] == 2
    assert all(error >= 0.0 for error in again.table.numbers("standard error"))


def test_errors_of_means_are_those_of_the_textbook() -> None:
    # Deviations -1, 0, 1: variance 1, of the mean 1 / 3.
    found = np.array([79.0, 80.0, 81.0])

    assert training_cells.standard_error(found) == pytest.approx(3**-0.5, rel=1e-12)
    assert training_cells.standard_error(found[:1]) is None
    curve = training_cells.mean_curve("here", [1.0], [found])
    assert curve.values == [80.0]
    assert curve.low is not None
    assert curve.high is not None
    assert list(curve.low) == [pytest.approx(80.0 - 3**-0.5)]
    assert list(curve.high) == [pytest.approx(80.0 + 3**-0.5)]


def test_the_papers_data_are_taken_where_they_are(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    other = replace(some_images(), name="qmnist")
    monkeypatch.setattr(apes_training, "load_qmnist", lambda: other)
    plain = apes_training.load_images().name
    notes = training_cells.setting_notes(SMALL)

    monkeypatch.setattr(apes_training, "has_qmnist", lambda: True)
    monkeypatch.setattr(training_cells, "has_qmnist", lambda: True)

    assert (plain, apes_training.load_images().name) == ("patterns", "qmnist")
    assert len(training_cells.setting_notes(SMALL)) == len(notes) - 1
    effort = Effort(1, 1, False, lambda _share: None)
    cells = training_cells.setting_cells(SMALL, effort)
    assert (cells["data"], cells["budgets"]) == ("QMNIST", "uniform2")


def test_the_two_tables_print_other_numbers_for_unis_under_uniform2() -> None:
    differ = {
        name: (TABLE_3_EPSILONS[name], row[3])
        for name, row in USER_EPSILONS.items()
        if TABLE_3_EPSILONS[name] != (row[3],)
    }

    assert differ == {"unis": (("76.9",), "79.6")}


def test_printed_accuracies_are_compared_and_differences_are_explained() -> None:
    compared = training_cells.accuracy_comparisons(
        {("apes", "uniform2"): np.array([79.0, 80.0]), ("unis", "gauss2"): np.ones(1)},
        why="a reason",
    )

    assert [each.printed for each in compared] == ["79.67", "64.81"]
    assert [each.agrees for each in compared] == [True, False]
    assert [each.why for each in compared] == ["", "a reason"]


def test_one_training_serves_all_of_its_names(monkeypatch: pytest.MonkeyPatch) -> None:
    trained: list[Training] = []

    def counted(original: Callable[..., float]) -> Callable[..., float]:
        def stand_in(images: LabeledImages, training: Training, *rest: object) -> float:
            trained.append(training)
            return original(images, training, *rest)

        return stand_in

    monkeypatch.setattr(apes_training, "_trained", counted(apes_training._trained))
    asked = [Training("pldp", SMALL), Training("unis", SMALL), Training("apes", SMALL)]

    effort = Effort(2, 1, False, lambda _share: None)
    first, again = (accuracies(asked, effort) for _ in range(2))

    assert [each.framework for each in trained] == ["unis", "apes"] * 2
    assert first[asked[0]].tolist() == first[asked[1]].tolist()
    assert all(first[each].tolist() == again[each].tolist() for each in asked)


def test_a_certificate_is_of_the_round_that_runs() -> None:
    narrow = Training("apes", SMALL)
    wide = replace(narrow, setting=replace(SMALL, clip=3.0))

    promises = [certificate(each, 1, 2) for each in (narrow, wide)]

    for training, promise in zip((narrow, wide), promises, strict=True):
        assert promise.local is not None
        assert training.protocol is not None
        assert promise.local.protocol == training.protocol.identity
    assert promises[0].local != promises[1].local


@pytest.mark.slow
def test_noise_costs_accuracy_and_buys_a_certificate(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(eapes_training, "EPOCHS", 30)
    variants = (
        TrainingVariant("gauss2", learning_rate=0.3),
        TrainingVariant("gauss2", learning_rate=0.3, noise=False),
        TrainingVariant("gauss2", public_components=False),
    )
    monkeypatch.setattr(eapes_training, "VARIANTS", variants)

    noisy, plain, own = run("eapes-fig5").table.records()

    assert number(plain["test %"]) > 90.0 > number(noisy["test %"])
    assert 0.0 < number(noisy["picture, least"]) <= number(noisy["picture, most"])
    assert number(noisy["client, least"]) > number(noisy["picture, least"])
    assert plain["picture, most"] is None
    assert own["picture, most"] is None
