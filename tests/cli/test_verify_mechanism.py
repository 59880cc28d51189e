"""`shuffledp verify` of a mechanism that does not come with the library."""

import json
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from command_line import Command

import shuffledp as sdp
from shuffledp.accounting.exposure import identity_of
from shuffledp.identity import Identity

MODULE = """
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from shuffledp.randomizers.finite_channel import FiniteChannel
from shuffledp.randomizers.finite_numbers import FiniteNumbers
from shuffledp.randomizers.kary_response import KRandomizedResponse

Path("imported").touch()


@dataclass(frozen=True)
class Geometric(FiniteNumbers):
    points: int = 4
    low: float = 0.0
    high: float = 3.0
    mechanism = "geometric"

    @property
    def parameters(self):
        return {"points": self.points, "low": self.low, "high": self.high}

    @property
    def num_values(self):
        return self.points

    @property
    def num_messages(self):
        return self.points

    def chances(self, epsilons):
        places = np.arange(self.points)
        distance = np.abs(places[:, None] - places) / (self.points - 1)
        weights = np.exp(-epsilons[:, None, None] * distance)
        return weights / weights.sum(axis=2, keepdims=True)


class Response(KRandomizedResponse):
    pass


class Claimed(Geometric):
    __module__ = "shuffledp.randomizers.geometric"


@dataclass(frozen=True, eq=False)
class Table(FiniteChannel):
    table: Any
    mechanism = "table"
    parameters = {}
    num_values = num_messages = 2

    def chances(self, epsilons):
        return np.broadcast_to(self.table, (len(epsilons), 2, 2))


fair = Table(np.full((2, 2), 0.5))
loud = Table(np.array([[0.7, 0.3], [0.3, 0.7]]))
five = Geometric(points=5)
six = Geometric(points=6)
"""
PEOPLE = sdp.Population.from_counts({1.0: 40})
# As text, by what was certified: most tests start from the same one.
CERTIFICATES: dict[Identity, str] = {}


@pytest.fixture(autouse=True)
def mine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: Command) -> Any:
    """The module; the command itself has to import it again."""
    (tmp_path / "mine.py").write_text(MODULE)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    monkeypatch.delitem(sys.modules, "mine", raising=False)
    module = import_module("mine")
    del sys.modules["mine"]
    sys.path.pop(0)
    (tmp_path / "imported").unlink()
    return module


def certify(protocol: Any) -> dict[str, Any]:
    identity = identity_of(protocol)
    if identity not in CERTIFICATES:
        record = sdp.account(protocol, PEOPLE, delta=1e-3).to_dict()
        CERTIFICATES[identity] = json.dumps(record)
    Path("c.json").write_text(CERTIFICATES[identity])
    record = json.loads(CERTIFICATES[identity])
    assert isinstance(record, dict)
    return record


@pytest.mark.few_cases(1)
@pytest.mark.parametrize("statistic", ["message", "stratified", "mean"])
def test_a_class_is_made_of_what_the_certificate_states(
    command: Command, mine: Any, statistic: str
) -> None:
    protocols = {
        "message": mine.five,
        "stratified": sdp.SingleMessage(mine.five, mode="stratified"),
        "mean": sdp.Mean(0.0, 3.0, randomizer=mine.five),
    }
    record = certify(protocols[statistic])

    outcome = command("verify", "c.json", "--mechanism", "mine:Geometric", "--json")

    assert outcome.code == 0
    assert outcome.json()["recomputed"] == record


def test_the_answer_says_on_whose_covers_it_rests(command: Command, mine: Any) -> None:
    certify(mine.five)

    shown = command("verify", "c.json", "--mechanism", "mine:five")

    assert shown.code == 0
    assert "It rests on the covers of mine:five" in shown.out


def test_a_class_may_have_the_name_of_a_mechanism_of_the_library(
    command: Command, mine: Any
) -> None:
    certify(sdp.Frequency(3, randomizer=mine.Response(3)))

    named = command("verify", "c.json", "--mechanism", "mine:Response")

    assert named.code == 0
    assert command("verify", "c.json").is_refusal


def test_what_is_not_proven_does_not_hold(command: Command, mine: Any) -> None:
    record = certify(mine.five)
    record["levels"][0]["epsilon_central"] *= 0.99
    Path("c.json").write_text(json.dumps(record))

    shown = command("verify", "c.json", "--mechanism", "mine:Geometric")

    assert shown.code == 1
    assert "is not proven" in shown.out


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("mine:six", "Expected a complete protocol"),
        ("mine:fair", "Expected the class that the certificate states"),
        ("mine:Claimed", "Expected the class that the certificate states"),
        ("shuffledp:OneBit", "Expected the class that the certificate states"),
        ("mine:np.sum", "Expected the class that the certificate states"),
        ("mine:nothing", "as module:name"),
        ("nowhere:Geometric", "as module:name"),
        ("mine", "as module:name"),
    ],
)
def test_another_mechanism_is_refused(
    command: Command, mine: Any, name: str, said: str
) -> None:
    certify(mine.five)

    outcome = command("verify", "c.json", "--mechanism", name)

    assert outcome.is_refusal
    assert said in outcome.err


def test_all_that_is_stored_must_be_the_same(command: Command, mine: Any) -> None:
    certify(mine.fair)

    # An array stands in a certificate by its digest only.
    assert command("verify", "c.json", "--mechanism", "mine:Table").is_refusal
    assert command("verify", "c.json", "--mechanism", "mine:loud").is_refusal
    assert command("verify", "c.json", "--mechanism", "mine:fair").code == 0


@pytest.mark.parametrize(
    ("key", "value"),
    [("mechanism", "another"), ("statistic", "sum"), ("statistic", "frequency")],
)
def test_a_record_of_another_protocol_is_refused(
    command: Command, mine: Any, key: str, value: str
) -> None:
    record = certify(mine.five)
    record["protocol"][key] = value
    identity = Identity.from_record(record["protocol"])
    record["protocol_digest"] = identity.digest
    Path("c.json").write_text(json.dumps(record))

    assert command("verify", "c.json", "--mechanism", "mine:Geometric").is_refusal


@pytest.mark.parametrize(
    "protocol", [sdp.Frequency(3), sdp.Mean(0.0, 3.0), sdp.BinarySum()]
)
def test_the_librarys_own_certificates_take_no_mechanism(
    command: Command, protocol: Any
) -> None:
    certify(protocol)

    assert command("verify", "c.json", "--mechanism", "mine:Geometric").is_refusal


def test_nothing_is_imported_because_a_certificate_says_so(
    command: Command, mine: Any
) -> None:
    certify(mine.five)
    sys.path.insert(0, str(Path.cwd()))

    outcome = command("verify", "c.json")

    assert outcome.is_refusal
    assert "which does not come with this library" in outcome.err
    assert not Path("imported").exists()


def declare(package: str, value: str) -> None:
    """Writes what a package manager leaves of an installed package."""
    folder = Path("site", f"{package}-1.0.dist-info")
    folder.mkdir(parents=True)
    (folder / "METADATA").write_text(f"Name: {package}\nVersion: 1.0\n")
    (folder / "entry_points.txt").write_text(
        f"[shuffledp.mechanisms]\ngeometric = {value}\n"
    )


def test_an_installed_package_declares_its_mechanism(
    command: Command, mine: Any
) -> None:
    certify(mine.five)
    declare("waves", "mine:Geometric")
    sys.path[:0] = [str(Path.cwd()), str(Path("site").resolve())]

    held = command("verify", "c.json")
    declare("others", "elsewhere:Geometric")
    ambiguous = command("verify", "c.json")

    assert held.code == 0
    assert "It rests on the covers of mine:Geometric" in held.out
    assert Path("imported").exists()
    assert ambiguous.is_refusal
    assert "elsewhere:Geometric, mine:Geometric" in ambiguous.err


@pytest.mark.parametrize("code", ["import os; os._exit(0)", "raise SystemExit(0)"])
def test_code_of_others_does_not_exit_for_the_command(
    command: Command, mine: Any, code: str
) -> None:
    certify(mine.five)
    Path("ends.py").write_text(code)

    assert command("verify", "c.json", "--mechanism", "ends:Geometric").is_refusal


def test_a_published_result_takes_no_mechanism(command: Command) -> None:
    outcome = command(
        "verify", "r.json", "--task", "t.json", "--mechanism", "mine:five"
    )

    assert outcome.is_refusal
    assert "--task without" in outcome.err


def test_in_python_the_class_is_passed(mine: Any) -> None:
    record = certify(mine.five)

    assert sdp.verify(record, mechanism=mine.Geometric).holds
    assert sdp.verify(record, mechanism=mine.five).holds
    with pytest.raises(sdp.DataError, match="Expected a complete protocol"):
        sdp.verify(record, mechanism=mine.six)
    with pytest.raises(sdp.InvalidInputError, match="not both"):
        sdp.verify(record, protocol=mine.five, mechanism=mine.five)
