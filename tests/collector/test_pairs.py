"""Lists of pairs as models write them: what is read, what is counted, and what is never guessed."""

from __future__ import annotations

import csv
import random
from collections import Counter
from pathlib import Path

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


def test_nearly_all_published_answers_are_read_whole(shared: Path) -> None:
    """Of 3,200 answers of GPT-4o: 3,190 whole, 7 in part, 3 not (conventions, section 5)."""
    folder = shared / "data" / "word_association"
    lists = _lists(folder)
    readings: Counter[str] = Counter()
    for variation in ("replication", "synonym", "instruction1", "instruction2"):
        for row in csv.DictReader((folder / f"gpt4o_{variation}.csv").open(encoding="utf-8", newline="")):
            words, groups = lists[TESTS.get(row["dataset"], row["dataset"]), variation == "synonym"]
            readings[read_pairs(row["response"], words, groups).reading] += 1
    assert readings == {"complete": 3190, "partial": 7, "unread": 3}


def _lists(folder: Path) -> dict[tuple[str, bool], tuple[list[str], dict[str, str]]]:
    template = (templates_dir() / "pairing" / "study.toml").read_text("utf-8")
    lists: dict[tuple[str, bool], tuple[list[str], dict[str, str]]] = {}
    for row in csv.DictReader(study_files(template, folder)["stimuli.csv"].splitlines()):
        words, groups = lists.setdefault((row["test"], row["words"] == "synonym"), ([], {}))
        if row["side"].startswith("attribute"):
            words.append(row["word"])
        else:
            groups[row["word"]] = row["side"][-1]
    return lists


def test_the_pair_of_names_is_what_an_answer_mentions_and_unknown_where_it_mentions_several() -> None:
    assert named_groups("quiet - Tea\nloud - **jo ann li**", GROUPS) == {"a": "Tea", "b": "Jo Ann Li"}
    assert named_groups("quiet - Green Tea\nloud - Sam Park", GROUPS) == {"a": "Green Tea", "b": "Sam Park"}
    assert named_groups("quiet - Tea\nfast - Kim Park\nloud - Sam Park", GROUPS) == {"b": "Sam Park"}
    assert named_groups("steam, team, theatre", GROUPS) == {}
