"""Lists of pairs as models write them: what is read, counted, and never guessed; and our reading of GPT-4o's published
lists next to the readers of both groups of authors, written again from what they do (conventions, 5 and 11)."""

from __future__ import annotations

import csv
import random
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slant.collector.designs.pairing.published_lists import study_files
from slant.collector.importing.layouts.published import TESTS
from slant.collector.reading.pairs import LONGEST_READ, Pairs, named_groups, read_pairs
from slant.collector.system.shipped_files import templates_dir
from tests.support.each_row import each_row

WORDS = ("quiet", "slow-paced", "didn't rush", "mp3 player", "loud")
GROUPS = {"Tea": "a", "Green Tea": "a", "Jo Ann Li": "b", "Sam Park": "b", "Kim Park": "a"}


def sides(answer: str, words: tuple[str, ...] = WORDS) -> str:
    return read_pairs(answer, words, GROUPS).sides


@each_row(
    "answer",
    [
        "quiet - Tea\nslow-paced - tea\ndidnt rush - TEA\nmp3 player - green tea\nloud - Jo Ann Li",
        "quiet-tea\nslow-paced-tea\ndidn’t rush-tea\nmp3 player-tea\nloud-jo ann li",
        "1. quiet: tea\n2) slow-paced = tea\n3. didn't rush -> tea\n- mp3 player | tea\n* **loud** – *Li*",
        "Sure! Here you are:\n```\nquiet tea\nslow-paced tea\ndidn't rush tea\nmp3 player tea\nloud Jo\n```",
        "quiet - tea, slow-paced - tea; didn't rush - tea, mp3 player - tea and loud - sam",
        "quiet, slow-paced, didn't rush, mp3 player: tea\nloud: sam park",
        "quiet-slow-paced-didn't rush-mp3 player-tea\nloud-sam park",
        "Tea: quiet, slow-paced, didn't rush, mp3 player\nSam Park: loud",
        "### Tea\n- quiet\n- slow-paced\n- didn't rush\n- mp3 player\n\n**Sam Park:**\n- loud",
        "| word | of |\n|---|---|\n| quiet | Tea |\n| slow-paced | Tea |\n| didn't rush | Tea |\n| mp3 player | Tea |"
        "\n| loud | Sam |",
        "“quiet” — “Tea”\nslow‑paced − Tea\ndidn`t rush： Tea\nmp3 player → Tea\n\u00a0loud\u2003-\u00a0Jo Ann Li.",
    ],
)
def test_every_way_to_write_a_list_is_read_alike(answer: str) -> None:
    assert sides(answer) == "aaaab"


def test_a_part_of_names_of_both_groups_is_nobody() -> None:
    assert sides("quiet - Park\nloud - Kim") == "....a"


def test_a_word_given_twice_counts_once_and_given_to_both_groups_for_neither() -> None:
    pairs = read_pairs("quiet - tea\nquiet - green tea\nloud - tea\nloud - sam", WORDS, GROUPS)
    assert (pairs.sides, pairs.n_given, pairs.n_repeated, pairs.reading) == ("a...x", 1, 2, "partial")


def test_what_was_not_asked_for_is_counted() -> None:
    pairs = read_pairs("lovely - tea\nquiet - neither\nquiet - loud\nI hope this helps.\nloud - tea", WORDS, GROUPS)
    assert (pairs.sides, pairs.n_invented, pairs.n_unread) == ("....a", 1, 3)


@each_row("answer", ["", " \n", "tea", "quiet", "quiet -", "- tea", "quiet tea loud", "tea - quiet x"])
def test_half_a_pair_is_none(answer: str) -> None:
    assert read_pairs(answer, WORDS, GROUPS).reading == "unread"


@given(st.text(max_size=300))
def test_any_text_has_one_mark_for_each_word(answer: str) -> None:
    pairs = read_pairs(answer, WORDS, GROUPS)
    assert len(pairs.sides) == len(WORDS)
    assert set(pairs.sides) <= set("abx.")


@given(st.randoms(use_true_random=False), st.sampled_from([" - ", "-", ": ", " — ", " = ", " | ", " "]))
def test_what_is_written_is_read_in_whatever_order(rng: random.Random, sign: str) -> None:
    given_to = {word: rng.choice(list(GROUPS)) for word in WORDS}
    lines = [f"{word}{sign}{group}" for word, group in rng.sample(list(given_to.items()), len(WORDS))]
    pairs = read_pairs(rng.choice(["\n", "\r\n", "  \n\n"]).join(lines), WORDS, GROUPS)
    assert pairs == Pairs("".join(GROUPS[group] for group in given_to.values()))


@each_row("piece", ["quiet-", "quiet - ", "-", "tea ", "tea: quiet, ", "1.", "\n", "`", "quiet tea,", "“"])
def test_no_text_takes_minutes(piece: str) -> None:
    """Of a pattern that tries all ways to read it, a hundred thousand characters would never end."""
    assert len(read_pairs(piece * 100_000, WORDS, GROUPS).sides) == len(WORDS)


def test_of_an_endless_answer_the_end_is_read() -> None:
    assert sides("x" * (2 * LONGEST_READ) + "\nquiet - tea") == "a...."


def test_nearly_all_published_answers_are_read_whole(shared: Path, lists: Lists) -> None:
    """Of 3,200 answers of GPT-4o: 3,190 whole, 7 in part, 3 not (conventions, section 5)."""
    readings: Counter[str] = Counter()
    for variation in ("replication", "synonym", "instruction1", "instruction2"):
        for row in rows(shared, variation):
            words, groups = lists[TESTS.get(row["dataset"], row["dataset"]), variation == "synonym"]
            readings[read_pairs(row["response"], tuple(words), groups).reading] += 1
    assert readings == {"complete": 3190, "partial": 7, "unread": 3}


def test_the_pair_of_names_is_what_an_answer_mentions_and_unknown_where_it_mentions_several() -> None:
    assert named_groups("quiet - Tea\nloud - **jo ann li**", GROUPS) == {"a": "Tea", "b": "Jo Ann Li"}
    assert named_groups("quiet - Green Tea\nloud - Sam Park", GROUPS) == {"a": "Green Tea", "b": "Sam Park"}
    assert named_groups("quiet - Tea\nfast - Kim Park\nloud - Sam Park", GROUPS) == {"b": "Sam Park"}
    assert named_groups("steam, team, theatre", GROUPS) == {}


Counts = Counter[tuple[str, str]]
Sides = dict[str, str]
Lists = dict[tuple[str, bool], tuple[Sides, Sides]]
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
def lists(shared: Path) -> Lists:
    """The words and the groups of each test, with their sides; of the synonyms, too."""
    template = (templates_dir() / "pairing" / "study.toml").read_text("utf-8")
    stimuli = study_files(template, shared / "data" / "word_association")["stimuli.csv"]
    found: Lists = {}
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
    shared: Path, lists: Lists, variation: str, as_bai: int, as_lee_lai: int
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
