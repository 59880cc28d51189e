"""JSON is read strictly: what two readers could understand differently is refused."""

import json
import zlib
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shuffledp as sdp
from shuffledp.errors import DataError
from shuffledp.strict_json import MAX_DEPTH, read_json, read_json_file

texts = st.text(st.characters(codec="utf-8"), max_size=5)
scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | texts
)
values = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3)
    ),
    max_leaves=10,
)


@pytest.mark.slow
@given(st.dictionaries(texts, values, max_size=4), st.booleans())
def test_what_can_be_written_is_read(
    value: dict[str, object], ascii_only: bool
) -> None:
    text = json.dumps(value, ensure_ascii=ascii_only)

    for content in (text, text.encode()):
        found = read_json(content, "a text")

        # Tells 1 from 1.0 and from True, as `==` does not.
        assert repr(found) == repr(value)


@pytest.mark.parametrize(
    "text",
    [
        '{"epsilon_central": 1e-9, "epsilon_central": 0.5}',
        '{"epsilon_central": 0.5, "epsilon_central": 0.5}',
        '{"levels": [{"a": 1}, {"epsilon_central": 1, "b": 2, "epsilon_central": 1}]}',
        r'{"epsilon_central": 1, "epsilon\u005fcentral": 2}',
    ],
)
def test_keys_that_stand_twice_are_refused_wherever_they_are(text: str) -> None:
    with pytest.raises(DataError) as error:
        read_json(text, "c.json")

    assert str(error.value) == "Expected every key once, got 'epsilon_central' twice."


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999", "-1e400"])
def test_numbers_are_finite(number: str) -> None:
    with pytest.raises(DataError) as error:
        read_json(f'{{"a": [{number}]}}', "c.json")

    assert str(error.value) == f"Expected finite numbers, got {number}."


def nested(depth: int, opening: str = '{"a":', closing: str = "}") -> str:
    return opening * (depth - 1) + '{"a": 1}' + closing * (depth - 1)


@pytest.mark.parametrize(("opening", "closing"), [('{"a":', "}"), ('{"a":[', "]}")])
def test_values_nest_as_deep_as_they_may_and_no_deeper(
    opening: str, closing: str
) -> None:
    layers = opening.count("{") + opening.count("[")
    deepest = 1 + (MAX_DEPTH - 1) // layers

    assert read_json(nested(deepest, opening, closing), "a text")
    for deeper in (deepest + 1, 500, 100_000):
        with pytest.raises(DataError, match=r"nested at most 64 deep in c\.json"):
            read_json(nested(deeper, opening, closing), "c.json")


def test_many_values_beside_each_other_are_not_deep() -> None:
    value = {"levels": [{"count": [place]} for place in range(10_000)]}

    assert read_json(json.dumps(value), "a text") == value


@pytest.mark.parametrize(
    "content",
    [
        "",
        " ",
        "{",
        "{}}",
        "{'a': 1}",
        '{"a": 1,}',
        '{"a": 01}',
        '{"a": "\t"}',
        '{"a": ' + "9" * 10_000 + "}",
        r'{"a": "\ud800"}',
        r'{"\udfff": 1}',
        b'{"a": "\xff"}',
        '{"a": 1}'.encode("utf-16"),
    ],
)
def test_anything_else_is_no_json(content: str | bytes) -> None:
    with pytest.raises(DataError, match=r"^Expected c\.json to hold JSON\.$"):
        read_json(content, "c.json")


def test_a_byte_order_mark_is_read_from_files_and_named_elsewhere(
    tmp_path: Path,
) -> None:
    file = tmp_path / "c.json"
    file.write_text('{"a": 1}', encoding="utf-8-sig")

    assert read_json_file(file) == {"a": 1}
    for content in (file.read_bytes(), file.read_text(encoding="utf-8")):
        with pytest.raises(DataError, match=r"c\.json to begin without a byte order"):
            read_json(content, "c.json")
    # One mark, and at the beginning.
    file.write_text('\ufeff{"a": 1}', encoding="utf-8-sig")
    with pytest.raises(DataError, match="byte order mark"):
        read_json_file(file)


@pytest.mark.parametrize("content", ["[]", "1", '"a"', "null", "true", '[{"a": 1}]'])
def test_other_values_are_no_object(content: str) -> None:
    with pytest.raises(
        DataError, match=r"^Expected c\.json to hold one JSON object\.$"
    ):
        read_json(content, "c.json")


def test_errors_are_short_and_without_control_characters() -> None:
    for text in (
        '{{"{0}": 1, "{0}": 2}}'.format("\\u001b" * 100),
        '{"a": 1' + "0" * 5000 + "e999}",
    ):
        with pytest.raises(DataError) as error:
            read_json(text, "c.json")

        assert len(str(error.value)) < 300
        assert str(error.value).isprintable()


@pytest.mark.parametrize(
    ("change", "words"), [("[2],", "'people' twice"), ("NaN,", "got NaN")]
)
def test_tallies_are_read_strictly(change: str, words: str) -> None:
    frequency, rng = sdp.Frequency(3), np.random.default_rng(1)
    reports = frequency.randomize([0, 2], [1.0, 1.0], rng=rng)
    content = frequency.tally(sdp.shuffle(reports, rng=rng)).to_bytes()
    start = content.index(b"x\x9c")  # How compressed bytes begin.
    text = zlib.decompress(content[start:]).decode()

    changed = text.replace('"people":', f'"people":{change}"people":')

    assert sdp.Tally.from_bytes(content[:start] + zlib.compress(text.encode()))
    with pytest.raises(DataError, match=words):
        sdp.Tally.from_bytes(content[:start] + zlib.compress(changed.encode()))


def test_files_are_read_up_to_a_size(tmp_path: Path) -> None:
    path = tmp_path / "c.json"
    path.write_bytes(b'{"a": "\xc3\xa9"}')

    assert read_json_file(path) == {"a": "é"}
    assert read_json_file(path, max_bytes=11) == {"a": "é"}
    with pytest.raises(DataError, match=r"at most 10 bytes in c\.json, got more"):
        read_json_file(path, max_bytes=10)
    for other in (tmp_path, tmp_path / "absent.json"):
        with pytest.raises(DataError, match="Expected a file at"):
            read_json_file(other)
