"""Answers and exports of the explore page agree with `account`."""

import asyncio
import contextlib
import io
import json
import shlex
from pathlib import Path
from typing import Any

import httpx
import pytest
from click.testing import CliRunner

import shuffledp as sdp
from shuffledp.accounting.verification import Verification
from shuffledp.cli.main import app as cli
from shuffledp.format_number import plain
from shuffledp.statistics.verify_certificate import verify
from shuffledp_services import explore
from shuffledp_services.explore.answer_processes import Gone
from shuffledp_services.explore.answers import ANSWERS
from shuffledp_services.explore.explore_app import create_explore
from shuffledp_services.explore.explore_query import ExploreQuery

ROOT = "http://127.0.0.1:8000"
SMALL = "levels=0.5:60,1:90&delta=1e-4"
CASES = [
    (f"{SMALL}&categories=5", sdp.Frequency(5), {}),
    (
        f"{SMALL}&categories=4&mechanism=hadamard-response&mode=stratified&absent=7",
        sdp.Frequency(4, "stratified", sdp.HadamardResponse(4)),
        {"absent": 7},
    ),
    pytest.param(
        f"{SMALL}&categories=3&mechanism=unary-encoding",
        sdp.Frequency(3, "agnostic", sdp.UnaryEncoding(3)),
        {},
        marks=pytest.mark.slow,
    ),
    pytest.param(
        f"{SMALL}&statistic=mean&low=-1&high=3&rounds=2",
        sdp.Mean(-1, 3),
        {"rounds": 2},
        marks=pytest.mark.slow,
    ),
    pytest.param(
        f"{SMALL}&statistic=mean&mechanism=laplace&low=0&high=2.5",
        sdp.Mean(0, 2.5, "agnostic", sdp.Laplace(0, 2.5)),
        {},
        marks=pytest.mark.slow,
    ),
    pytest.param(
        f"{SMALL}&statistic=mean&mechanism=clip-laplace&low=1&high=3",
        sdp.Mean(1, 3, "agnostic", sdp.ClipLaplace(1)),
        {},
        marks=pytest.mark.slow,
    ),
    pytest.param(
        f"{SMALL}&statistic=mean&mechanism=gaussian&low=0&high=1&delta_local=1e-7",
        sdp.Mean(0, 1, "agnostic", sdp.Gaussian(0, 1, delta_local=1e-7)),
        {},
        marks=pytest.mark.slow,
    ),
    (
        f"{SMALL}&categories=9&mechanism=subset-selection&subset_size=3",
        sdp.Frequency(9, "agnostic", sdp.SubsetSelection(9, 3)),
        {"absent": 0},
    ),
    (
        f"{SMALL}&categories=9&mechanism=local-hashing&buckets=3&rounds=1",
        sdp.Frequency(9, "agnostic", sdp.LocalHashing(9, 3)),
        {},
    ),
]
every_case = pytest.mark.parametrize(("query", "protocol", "circumstances"), CASES)


class InProcessAnswers:
    """A source that computes answers in the process of the tests, and counts them."""

    def __init__(self) -> None:
        self.asked = 0

    async def ask(self, name: str, query: ExploreQuery, gone: Gone) -> dict[str, Any]:
        self.asked += 1
        return ANSWERS[name](query)

    def end(self) -> None:
        """As `AnswerProcesses.end`."""


@pytest.fixture
def source() -> InProcessAnswers:
    return InProcessAnswers()


class Client:
    """A client of the application, like a browser on this machine."""

    def __init__(self, source: InProcessAnswers) -> None:
        self._app = create_explore(lambda: source)

    def get(self, path: str, headers: dict[str, str] | None = None) -> Any:
        async def got() -> Any:
            transport = httpx.ASGITransport(self._app)
            async with (
                self._app.router.lifespan_context(self._app),
                httpx.AsyncClient(transport=transport, base_url=ROOT) as client,
            ):
                return await client.get(path, headers=headers)

        return asyncio.run(got())


@pytest.fixture
def client(source: InProcessAnswers) -> Client:
    return Client(source)


def certified(protocol: Any, **circumstances: Any) -> sdp.Guarantee:
    people = sdp.Population.from_counts({0.5: 60, 1.0: 90})
    return sdp.account(protocol, people, delta=1e-4, **circumstances)


@pytest.mark.few_cases(1)
@every_case
def test_the_page_says_what_account_says(
    client: Client, query: str, protocol: Any, circumstances: dict[str, int]
) -> None:
    reply = client.get(f"/answer?{query}").json()

    expected = certified(protocol, **circumstances)
    assert [
        (level["level"], level["people"], level["certified"], level["attack"])
        for level in reply["levels"]
    ] == [
        (
            plain(level.chosen),
            level.count,
            plain(level.epsilon_central),
            plain(level.epsilon_central_lower),
        )
        for level in expected.levels
    ]
    assert reply["assumptions"] == list(expected.assumptions)
    low, high = reply["error"]["interval"]
    assert high - low == pytest.approx(3.92 * reply["error"]["standard_error"], 1e-4)


@pytest.mark.few_cases(2)
@every_case
def test_what_is_said_at_once_is_above_and_says_the_same_besides(
    client: Client, query: str, protocol: Any, circumstances: dict[str, int]
) -> None:
    quick = client.get(f"/quick?{query}").json()
    reply = client.get(f"/answer?{query}").json()

    pairs = list(zip(quick.pop("levels"), reply["levels"], strict=True))
    assert quick == {name: reply[name] for name in quick}
    for at_once, tight in pairs:
        assert float(at_once.pop("certified")) >= float(tight["certified"])
        assert at_once == {name: tight[name] for name in at_once}


@pytest.mark.slow
@every_case
def test_what_is_taken_away_says_the_same(
    client: Client,
    query: str,
    protocol: Any,
    circumstances: dict[str, int],
) -> None:
    reply = client.get(f"/answer?{query}").json()
    certificate = client.get(f"/certificate.json?{query}")

    expected = certified(protocol, **circumstances)
    assert "attachment" in certificate.headers["content-disposition"]
    assert certificate.json() == json.loads(json.dumps(expected.to_dict()))
    program: dict[str, Any] = {}
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(reply["python"], program)
    assert program["guarantee"] == expected
    assert printed.getvalue()
    name, *arguments = shlex.split(reply["command"])
    assert name == "shuffledp"
    outcome = CliRunner().invoke(cli, [*arguments, "--json"])
    levels = json.loads(outcome.stdout)["levels"]
    assert [plain(level["epsilon_central"]) for level in levels] == [
        level["certified"] for level in reply["levels"]
    ]


def test_a_certificate_that_is_taken_away_holds(client: Client) -> None:
    record = client.get(f"/certificate.json?{SMALL}").json()

    verification: Verification = verify(record)

    assert verification.holds


@pytest.mark.slow
def test_a_profile_passes_through_what_is_certified(client: Client) -> None:
    reply = client.get(f"/profiles?{SMALL}").json()["profiles"]

    assert [profile["level"] for profile in reply] == ["0.5", "1"]
    for profile in reply:
        pairs = zip(profile["attacked"], profile["certified"], strict=True)
        assert all(attacked <= above for attacked, above in pairs)
        assert profile["certified"][0] > 1e-4 > profile["certified"][-1]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("terms", "planned"),
    [
        (
            "categories=2",
            lambda wish: sdp.plan_frequency(wish, num_categories=2, share=0.3),
        ),
        pytest.param(
            "statistic=mean&low=0&high=1&rounds=1",
            lambda wish: sdp.plan_mean(wish, low=0.0, high=1.0, mean=0.3),
            marks=pytest.mark.slow,
        ),
    ],
)
def test_the_planner_says_what_it_says_elsewhere(
    client: Client, terms: str, planned: Any
) -> None:
    reply = client.get(f"/plan?{SMALL}&absent=4&value=0.3&{terms}").json()

    plan = planned(sdp.Wish(levels={0.5: 60, 1.0: 90}, delta=1e-4, absent=4))
    assert reply["reason"] == plan.reason
    assert [(o["name"], o["mode"], o["worst"]) for o in reply["options"]] == [
        (o.name, o.mode, plain(o.guarantee.worst.epsilon_central)) for o in plan.options
    ]


def test_what_was_asked_before_is_not_computed_again(
    client: Client, source: InProcessAnswers
) -> None:
    # The same query, written otherwise.
    for query in (SMALL, "levels=1.0:90,0.50:60&delta=0.0001"):
        assert client.get(f"/answer?{query}").status_code == 200

    assert source.asked == 1


@pytest.mark.parametrize(
    ("query", "sentence"),
    [
        ("levels=1:1.5", "Expected people to be a whole number"),
        ("delta=x", "Expected delta to be a number"),
        ("delta=1e-6&delta=1e-7", "Expected every name once."),
        ("levels=1:1", "Expected at least 2 people"),
        (f"levels={'1' * 2000}", "Expected at most 1000 characters"),
    ],
)
@pytest.mark.parametrize("path", sorted(ANSWERS))
def test_bad_input_gets_a_sentence_and_no_number(
    client: Client, path: str, query: str, sentence: str
) -> None:
    answer = client.get(f"/{path}?{query}")

    assert answer.status_code == 400
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.json()["detail"].startswith(sentence)
    assert set(answer.json()) == {"title", "status", "detail"}


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"host": "localhost:1"}, 200),
        ({"host": "rebound.example"}, 400),
        ({"host": "127.0.0.1.rebound.example"}, 400),
        ({"sec-fetch-site": "same-origin"}, 200),
        ({"sec-fetch-site": "cross-site"}, 403),
        ({"sec-fetch-site": "same-site"}, 403),
    ],
)
def test_nobody_else_may_ask(
    client: Client, headers: dict[str, str], status: int
) -> None:
    answer = client.get(f"/answer?{SMALL}", headers=headers)

    assert answer.status_code == status


def test_every_file_of_the_page_is_served_and_loads_nothing_from_elsewhere(
    client: Client,
) -> None:
    folder = Path(explore.__file__).parent / "page"

    names = ["" if p.suffix == ".html" else p.name for p in folder.iterdir()]
    pages = [client.get(f"/{name}") for name in names]

    assert len(pages) == 8
    for page in pages:
        assert page.status_code == 200
        policy = page.headers["content-security-policy"]
        assert policy.startswith("default-src 'none'; script-src 'self';")
        text = page.text.replace("http://www.w3.org/2000/svg", "")
        assert "//" not in "\n".join(
            line for line in text.splitlines() if not line.strip().startswith("//")
        )
    assert client.get("/answer_processes.py").status_code == 404
