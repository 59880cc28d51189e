"""A sealed message counts once in a step, whoever sends copies of it."""

from dataclasses import replace

import httpx
import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from service_parties import allowed_plan
from shuffler_parties import (
    Analyst,
    Client,
    Parties,
    StoreMaker,
    messages,
    parties,
    reason,
    upload,
)

from shuffledp.statistics.survey import EpochStage
from shuffledp_services.collection.shuffler_state import ShufflerState
from shuffledp_services.shuffler.commit_group import CommitGroup, ReportOutcome
from shuffledp_services.shuffler.keyed_digests import KEYED_DIGEST_SIZE, KeyedDigests
from shuffledp_services.shuffler.upload import Upload
from shuffledp_services.wire.step import Step
from shuffledp_services.wire.upload_format import read_reports, write_reports

pytest_plugins = ["store_fixtures"]


def post(client: Client, who: Parties, body: bytes) -> httpx.Response:
    return client.post(who.path("/reports"), content=body)


def test_a_message_under_many_tokens_counts_once(make_store: StoreMaker) -> None:
    who = parties(mode="stratified")
    step, tokens = who.step(), who.tokens(400)
    copies = messages(step, 1) * 400
    half = slice(0, 200), slice(200, 400)

    with Client(who.app(make_store(), Analyst(who))) as client:
        # Within an upload, over all levels; in a later upload; in one of its own.
        first, second = (
            post(client, who, upload(step, tokens[h], sealed=copies[h])).json()
            for h in half
        )
        single = post(client, who, upload(step, tokens[9:10], sealed=copies[:1]))
        again = post(client, who, upload(step, tokens[1:]))
        counted = client.get(who.path()).json()["refused"]

    assert first["refused"] == [[place, "message-repeated"] for place in range(1, 200)]
    assert second["refused"] == [[place, "message-repeated"] for place in range(200)]
    assert (first["accepted"], second["accepted"]) == (1, 0)
    assert reason(single) == "message-repeated"
    # Their tokens were not spent: sealed afresh, everybody's report counts.
    assert again.json()["accepted"] == 399
    assert counted == {"message-repeated": 400}


def test_a_message_that_comes_twice_in_one_report_is_refused(
    make_store: StoreMaker,
) -> None:
    who = parties("items")
    analyst, tokens = Analyst(who), who.tokens(6)
    answers = Step(who.task, 1, EpochStage.ANSWER, allowed_plan(who.task))
    [sealed] = messages(answers, 1)
    twice = (*sealed[:-1], sealed[0])

    with Client(who.app(make_store(), analyst)) as client:
        post(client, who, upload(who.step(), tokens))
        who.order(client, "close")
        while client.get(who.path()).json()["stage"] != "answer":
            pass
        refused = post(client, who, upload(answers, tokens[:1], sealed=[twice]))
        good = post(client, who, upload(answers, tokens[:1], sealed=[sealed])).json()
        # One message of another's report, among fresh ones.
        [other] = messages(answers, 1)
        copied = upload(answers, tokens[1:2], sealed=[(*other[1:], sealed[2])])
        stolen = post(client, who, copied)

    assert [reason(answer) for answer in (refused, stolen)] == ["message-repeated"] * 2
    assert good["accepted"] == 1


def test_a_copy_of_a_link_does_not_tell_whether_its_owner_answered(
    make_store: StoreMaker,
) -> None:
    who = parties()
    step, tokens = who.step(), who.tokens(4)
    mine, known = upload(step, tokens[:1]), tokens[1:]
    (report,) = read_reports(step, mine)

    with Client(who.app(make_store(), Analyst(who))) as client:
        assert post(client, who, mine).is_success
        # The second of three others has answered.
        assert post(client, who, upload(step, known[1:2])).is_success
        probes = [replace(report, token=token) for token in known]
        together = post(client, who, write_reports(step, probes)).json()
        alone = [post(client, who, write_reports(step, [probe])) for probe in probes]
        left = [post(client, who, upload(step, [token])).json() for token in known]

    # The same answer for all, and nothing was used up.
    assert together["refused"] == [[place, "message-repeated"] for place in range(3)]
    assert {answer.content for answer in alone} == {alone[0].content}
    assert [answer.get("accepted", 0) for answer in left] == [1, 0, 1]


def test_an_upload_that_is_sent_again_is_told_that_its_messages_are_there(
    make_store: StoreMaker,
) -> None:
    who = parties()
    body = upload(who.step(), who.tokens(3))

    with Client(who.app(make_store(), Analyst(who))) as client:
        post(client, who, body)
        again = post(client, who, body).json()

    assert again["refused"] == [[place, "message-repeated"] for place in range(3)]


SMALL = st.integers(0, 5)


@given(
    st.lists(st.lists(st.tuples(SMALL, SMALL, SMALL), max_size=6), min_size=1),
    st.sets(SMALL),
    st.sets(SMALL),
)
def test_a_group_decides_as_if_reports_came_one_by_one(
    uploads: list[list[tuple[int, int, int]]],
    known_tokens: set[int],
    known_messages: set[int],
) -> None:
    state = ShufflerState.begin(parties().task)

    def mark(kind: int, number: int) -> bytes:
        return bytes([kind, number]) * (KEYED_DIGEST_SIZE // 2)

    def read(rows: list[tuple[int, int, int]]) -> Upload:
        marks = b"".join(
            mark(int(place > 0), number)
            for row in rows
            for place, number in enumerate(row)
        )
        count = len(rows)
        return Upload(
            state,
            np.arange(count),
            np.frombuffer(marks, np.uint8).reshape(count, 3, KEYED_DIGEST_SIZE),
            np.zeros(count, dtype=np.int64),
            np.zeros((count, 2, 7), dtype=np.uint8),
            (),
            bytes(32),
        )

    def expected() -> list[list[ReportOutcome]]:
        tokens, seen, found = set(known_tokens), set(known_messages), []
        for rows in uploads:
            found.append([one(row, tokens, seen) for row in rows])
        return found

    def one(
        row: tuple[int, int, int], tokens: set[int], seen: set[int]
    ) -> ReportOutcome:
        token, *sent = row
        if seen.intersection(sent) or len({*sent}) < len(sent):
            return ReportOutcome.REPEATED
        if token in tokens:
            return ReportOutcome.SPENT
        tokens.add(token)
        seen.update(sent)
        return ReportOutcome.ACCEPTED

    group = CommitGroup([read(rows) for rows in uploads])
    old = {mark(0, n) for n in known_tokens} | {mark(1, n) for n in known_messages}
    known = np.array(
        [row.tobytes() in old for row in group.keyed_digests], dtype=np.bool_
    )
    arrivals = group.arrivals(known)

    outcomes = [part.tolist() for part in group.outcomes()]
    assert outcomes == expected()
    accepted = sum(part.count(ReportOutcome.ACCEPTED) for part in outcomes)
    assert (sum(arrivals.people), len(arrivals.keyed_digests)) == (
        accepted,
        3 * accepted,
    )


def test_marks_are_of_their_step_and_say_nothing_without_the_key() -> None:
    who, rows = parties("items"), np.arange(64, dtype=np.uint8).reshape(2, 32)
    key, other = (parties().hosted.secrets.signing_key for _ in range(2))
    steps = [who.step(epoch=epoch, stage=s) for epoch in (1, 2) for s in EpochStage]

    found = [
        mark.tobytes()
        for secret in (key, other)
        for step in [*steps, parties().step()]
        for kind in (
            KeyedDigests(secret, step).of_tokens(rows),
            KeyedDigests(secret, step).of_messages(rows[:, None]),
        )
        for mark in kind.reshape(-1, KEYED_DIGEST_SIZE)
    ]

    assert len(set(found)) == len(found) == 2 * 5 * 2 * 2
    again = KeyedDigests(key, steps[0]).of_tokens(rows)
    assert again.tobytes() == b"".join(found[:2])
