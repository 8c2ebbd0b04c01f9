"""Both ways through JSON: quick where it can be, whole where it must be."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slant.collector.records import Prompt
from slant.collector.stable_ids import stable_id
from slant.collector.system.json_text import decoded, encoded

LONG = 2**63 - 1
TEXT = st.text(st.characters(exclude_categories=["Cs"]))
LEAVES = st.none() | st.booleans() | st.integers(-LONG, LONG) | st.floats(allow_nan=False, allow_infinity=False) | TEXT
VALUES = st.recursive(LEAVES, lambda inner: st.lists(inner) | st.dictionaries(TEXT, inner), max_leaves=20)


@pytest.mark.slow
@given(VALUES)
def test_what_is_encoded_is_what_the_standard_library_reads(value: object) -> None:
    assert json.loads(encoded(value)) == value
    assert decoded(encoded(value).decode()) == value


@given(st.lists(st.dictionaries(TEXT, LEAVES)))
def test_the_hash_of_a_prompt_is_that_of_its_messages_as_the_standard_library_writes_them(messages: list[Any]) -> None:
    assert Prompt(tuple(messages)).hash == stable_id(messages)


@given(st.text())
def test_any_text_is_encoded_lone_surrogates_as_question_marks(text: str) -> None:
    assert decoded(encoded({"answer": text}).decode())["answer"] == text.encode("utf-8", "replace").decode()


def test_a_number_of_more_than_64_bits_is_kept() -> None:
    assert encoded({"seed": 2**70}) == b'{"seed":%d}' % 2**70


@pytest.mark.parametrize("body", ['{"answer": "a\nb\x01"}', '{"logprob": NaN}', '{"text": "half \\ud83d"}'])
def test_what_servers_write_against_the_rules_is_read_all_the_same(body: str) -> None:
    assert next(iter(decoded(body).values())) is not None


@pytest.mark.parametrize("body", ["", "{", "<html>", '{"a": 1}}'])
def test_what_is_no_json_raises_a_value_error(body: str) -> None:
    with pytest.raises(json.JSONDecodeError):
        decoded(body)
