"""Tables of members in the text list what documents have, and nothing else."""

import json
import re
from typing import Any

import pytest

from shuffledp_services.wire.refusal import Reason, Refusal
from stored_vectors import SPEC, stored


def listed(name: str, first: str) -> set[str]:
    """Returns the names in the first column of the table that begins with a member."""
    lines = (SPEC / name).read_text(encoding="utf-8").splitlines()
    (begin,) = [
        index for index, line in enumerate(lines) if line.startswith(f"| `{first}`")
    ]
    end = next(index for index in range(begin, len(lines)) if not lines[index])
    cells = [line.split("|")[1] for line in lines[begin:end]]
    return {word for cell in cells for word in re.findall(r"`(\w+)`", cell)}


WIRE, RESULT = stored("wire.json"), stored("result.json")
PUBLISHED = json.loads(RESULT["result"])
CERTIFICATE = PUBLISHED["certificate"]
EVIDENCE = json.loads(RESULT["evidence"])
# Members that a document may have, or has in place of another one.
TABLES: dict[str, tuple[str, str, dict[str, Any], set[str]]] = {
    "task": (
        "task.md",
        "version",
        json.loads(RESULT["task"]),
        {"plan_rule", "dummy_commitment"},
    ),
    "receipt": ("report.md", "task", WIRE["receipt"], {"plan"}),
    "plan": ("plan.md", "task", WIRE["acknowledgement"]["plan"], set()),
    "batch": ("batch.md", "task", WIRE["batch"]["header"], set()),
    "result": ("result.md", "task", PUBLISHED, set()),
    "certificate": ("result.md", "format", CERTIFICATE, {"epsilon"}),
    "level": (
        "result.md",
        "epsilon_local",
        {
            name.replace("epsilon_central", "X_central"): value
            for name, value in CERTIFICATE["levels"][0].items()
        },
        {"target", "quantile"},
    ),
    "canaries": ("audit.md", "format", json.loads(RESULT["canaries"]), set()),
    "finding": ("audit.md", "test", EVIDENCE["epochs"][0]["findings"][0], set()),
}


@pytest.mark.parametrize("name", TABLES)
def test_tables_list_the_members_of_documents(name: str) -> None:
    file, first, document, optional = TABLES[name]

    members = set(document) - {"signature"}

    assert listed(file, first) == members | optional


def test_every_file_is_in_the_index() -> None:
    index = (SPEC / "README.md").read_text(encoding="utf-8")

    for path in [*SPEC.glob("*.md"), *SPEC.glob("vectors/*"), *SPEC.glob("example/*")]:
        assert path.name == "README.md" or path.name in index


def test_kinds_of_refusal_have_the_stated_status() -> None:
    text = (SPEC / "encoding.md").read_text(encoding="utf-8")
    stated: dict[str, int] = {}
    for kinds, statuses in re.findall(r"^\| (`.*`) \| ([\d, ]*)\|", text, re.M):
        names, numbers = re.findall(r"`([\w-]+)`", kinds), re.findall(r"\d+", statuses)
        # One status stands for all kinds of its row.
        numbers = numbers * len(names) if len(numbers) == 1 else numbers
        stated |= dict(zip(names, map(int, numbers), strict=False))

    assert stated == {
        reason.value: Refusal(reason, "").problem.status for reason in Reason
    }
