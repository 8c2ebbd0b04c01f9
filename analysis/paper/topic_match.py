"""Match fitted topics to printed ones. Topics have no fixed order, so only their words identify them: never their size,
which is one of the numbers to be compared.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import polars as pl

from slant.analysis.paper.published import GRAIN, StudyViews, published_numbers
from slant.collector.studies.catalogue import Study

_NEAR = 20  # words of a fitted topic among which a printed word still supports the match
_SCORE = tuple[int, int]


def printed_topics(study: Study) -> dict[int, list[str]]:
    """Return the FREX words of each printed topic ("topic 1 proportion_pct": they are its `source`); empty
    without any.
    """
    rows = _printed(study).filter(pl.col("quantity").str.contains(r"^topic \d+ "))
    return {
        int(quantity.split(" ")[1]): [word.strip() for word in words.split(",")]
        for quantity, words in rows.select("quantity", "source").iter_rows()
    }


def printed_models(study: Study) -> list[str]:
    """Return the models with printed shares of topics: those of the paper's fit."""
    return _printed(study).filter(quantity="proportion_pct")["model"].to_list()


def _printed(study: Study) -> pl.DataFrame:
    nothing = pl.DataFrame(schema=dict.fromkeys(("quantity", "source", "model"), pl.String))
    return published_numbers(study) if study.published else nothing


def matched(words: pl.DataFrame, printed: Mapping[int, Sequence[str]]) -> pl.DataFrame:
    """Return a row per printed topic: its matching fitted topic, and the quality of the match.

    `words` are those of one fit: topic, kind, place, word. Of all ways to give each printed topic a different one, the
    one with the most shared FREX words is taken (as many as are printed), then the one with the most printed words
    among the first 20. Columns: paper_topic, topic (null if there are too few), n_shared, n_near, n_printed, shared,
    frex_words, printed_words.
    """
    frex = {
        int(topic): part.sort("place")["word"].to_list()
        for (topic,), part in words.filter(pl.col("kind") == "frex").group_by("topic")
    }
    scores = {(p, t): _score(those, frex[t]) for p, those in printed.items() for t in frex}
    chosen = _assigned(list(printed), sorted(frex), scores)
    rows = []
    for paper_topic, topic_words in printed.items():
        topic = chosen.get(paper_topic)
        first = frex[topic][: len(topic_words)] if topic is not None else []
        shared = [word for word in topic_words if word in first]
        n_near = scores[(paper_topic, topic)][1] if topic is not None else 0
        texts = map(", ".join, (shared, first, topic_words))
        rows.append((paper_topic, topic, len(shared), n_near, len(topic_words), *texts))
    names = ["paper_topic", "topic", "n_shared", "n_near", "n_printed", "shared", "frex_words", "printed_words"]
    return pl.DataFrame(rows, schema=dict(zip(names, [pl.Int64] * 5 + [pl.String] * 3, strict=True)), orient="row")


def _score(printed: Sequence[str], frex: Sequence[str]) -> _SCORE:
    """Count printed words among as many first ones, and among the first 20."""
    return len(set(printed) & set(frex[: len(printed)])), len(set(printed) & set(frex[:_NEAR]))


def _assigned(
    printed: Sequence[int], topics: Sequence[int], scores: Mapping[tuple[int, int], _SCORE]
) -> dict[int, int]:
    """Return the best one-to-one assignment, by sets of taken printed topics: exact for any number of topics."""
    best: dict[frozenset[int], tuple[_SCORE, dict[int, int]]] = {frozenset(): ((0, 0), {})}
    for topic in topics:
        for taken, (score, chosen) in list(best.items()):
            for number in printed:
                if number in taken:
                    continue
                more = scores[(number, topic)]
                total = (score[0] + more[0], score[1] + more[1])
                key = taken | {number}
                if key not in best or total > best[key][0]:
                    best[key] = (total, {**chosen, number: topic})
    return max(best.values(), key=lambda assignment: (len(assignment[1]), assignment[0]))[1]


def match_in_words(match: pl.DataFrame) -> str:
    """Say in one sentence how many of the printed words come out, and in which topics."""
    each = [
        f"topic {row['topic']} {'is' if row['n_shared'] else 'is left for'} its topic {row['paper_topic']} "
        f"({row['n_shared']} of {row['n_printed']} words{': ' + row['shared'] if row['shared'] else ''})"
        for row in match.drop_nulls("topic").to_dicts()
    ]
    n_printed = match["n_printed"].sum()
    total = f"{match['n_shared'].sum()} of {n_printed} printed FREX words agree"
    near = f"{match['n_near'].sum()} are among the first {_NEAR} of their topic"
    return f"By their words, {'; '.join(each)}. In all {total}, {near}."


def missing_of_print(views: StudyViews) -> pl.DataFrame:
    """Return the texts of the paper's fit that are missing, in words, for each source, version and variant (GRAIN);
    null: none."""
    return views.view("missing_texts").select(*GRAIN, "missing")
