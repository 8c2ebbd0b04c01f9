"""Patterns that are compiled at their first use: they do what those of re.compile() do."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slant.collector.system.patterns import lazy_pattern

EAGER, LAZY = re.compile(r"(?P<word>[a-c]+)\s*(\d?)", re.IGNORECASE), lazy_pattern(r"(?P<word>[a-c]+)\s*(\d?)", re.I)


@given(st.text(alphabet="abcABC 12-", max_size=20))
def test_a_lazy_pattern_finds_what_a_compiled_one_finds(text: str) -> None:
    assert [m.span() for m in LAZY.finditer(text)] == [m.span() for m in EAGER.finditer(text)]
    assert LAZY.sub("x", text) == EAGER.sub("x", text)
    assert LAZY.split(text) == EAGER.split(text)
    assert bool(LAZY.fullmatch(text)) == bool(EAGER.fullmatch(text))


def test_a_lazy_pattern_has_the_text_and_the_flags_of_a_compiled_one() -> None:
    assert (LAZY.pattern, LAZY.flags, LAZY.groups, LAZY.groupindex) == (
        EAGER.pattern, EAGER.flags, EAGER.groups, EAGER.groupindex
    )  # fmt: skip


def test_a_wrong_lazy_pattern_fails_at_its_first_use() -> None:
    wrong = lazy_pattern("(")
    with pytest.raises(re.error):
        wrong.search("a")


def test_a_run_whose_answers_are_plain_labels_compiles_no_pattern_of_sentences() -> None:
    program = (
        "from slant.collector.reading import labels, phrases\n"
        "from slant.collector.records import Reply\n"
        "assert labels.answer_to_label(Reply(answer='Quick'), ('Quick', 'Slow')).choice == 'Quick'\n"
        "lazy = {name: value for name, value in vars(phrases).items() if type(value) is type(phrases.NEGATION)}\n"
        "used = [name for name, value in lazy.items() if 'search' in vars(value)]\n"
        "assert lazy and not used, used\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)
