"""Our reading of GPT-4o's published lists and those of both groups of authors, by variation (conventions, 5 and 11).

Their readers are written again here from the description of what they do. Counts of words by side must be the same.
"""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from slant.collector.designs.pairing.published_lists import TESTS, study_files
from slant.collector.reading.pairs import read_pairs
from slant.collector.system.shipped_files import templates_dir

Counts = Counter[tuple[str, str]]
Sides = dict[str, str]
_LINE = re.compile(r"[A-Za-z\s']+-[A-Za-z\s']+")


def lee_lai(answer: str) -> dict[str, str]:
    """A line counts if it has " - "; the last line of a word counts."""
    lines = (line.strip().lower().partition(" - ") for line in answer.splitlines())
    return {word.strip(): group.strip() for word, sign, group in lines if sign}


def bai(answer: str, known: set[str]) -> dict[str, str]:
    """A line counts if it is letters around one hyphen, as it stands, cleaned, or as a list with commas. One word that
    no test has throws the answer away."""
    pairs = {}
    for line in filter(None, map(str.strip, answer.lower().splitlines())):
        plain = re.sub(r"^(?:20|1?\d)[.)]\s*", "", re.sub(r"[\[\](){}\"“”*]", "", line).replace(":", "-").rstrip(","))
        for piece in [line] if _LINE.fullmatch(line) else [plain] if _LINE.fullmatch(plain) else plain.split(","):
            if _LINE.fullmatch(piece):
                word, _, group = map(str.strip, piece.partition("-"))
                pairs[word] = group
    return pairs if {*pairs, *pairs.values()} <= known else {}


@pytest.fixture(scope="module")
def lists(shared: Path) -> dict[tuple[str, bool], tuple[Sides, Sides]]:
    """The words and the groups of each test, with their sides; of the synonyms, too."""
    template = (templates_dir() / "pairing" / "study.toml").read_text("utf-8")
    stimuli = study_files(template, shared / "data" / "word_association")["stimuli.csv"]
    found: dict[tuple[str, bool], tuple[Sides, Sides]] = {}
    for row in csv.DictReader(stimuli.splitlines()):
        words, groups = found.setdefault((row["test"], row["words"] == "synonym"), ({}, {}))
        (words if row["side"].startswith("attribute") else groups)[row["word"].lower()] = row["side"][-1]
    return found


def rows(shared: Path, variation: str) -> Iterator[dict[str, str]]:
    with (shared / "data" / "word_association" / f"gpt4o_{variation}.csv").open(encoding="utf-8", newline="") as file:
        yield from csv.DictReader(file)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("variation", "as_bai", "as_lee_lai"),
    [("replication", 795, 788), ("synonym", 453, 765), ("instruction1", 800, 753), ("instruction2", 782, 731)],
)
def test_answers_are_read_as_the_authors_read_them_but_for_lines_that_they_lose(
    shared: Path, lists: dict[tuple[str, bool], tuple[Sides, Sides]], variation: str, as_bai: int, as_lee_lai: int
) -> None:
    """Of 800 each. One answer more or less: rules 3 and 4 leave open how an odd line is read."""
    known = {each for words, groups in lists.values() for each in (*words, *groups)}
    agree: Counter[str] = Counter()
    for row in rows(shared, variation):
        words, groups = lists[TESTS.get(row["dataset"], row["dataset"]), variation == "synonym"]
        ours = read_pairs(row["response"], tuple(words), groups).sides
        counts = Counter(pair for pair in zip(words.values(), ours, strict=True) if pair[1] in "ab")
        agree["bai"] += counts == _counts(bai(row["response"], known), words, groups)
        agree["lee_lai"] += counts == _counts(lee_lai(row["response"]), words, groups)
    assert abs(agree["bai"] - as_bai) <= 1
    assert abs(agree["lee_lai"] - as_lee_lai) <= 1


def _counts(pairs: dict[str, str], words: Sides, groups: Sides) -> Counts:
    return Counter((words[word], groups[group]) for word, group in pairs.items() if word in words and group in groups)
