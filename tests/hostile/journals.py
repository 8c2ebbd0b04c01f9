"""Lines that a stranger, or a broken disk, may have put into a journal, and whether each is kept.

One that is not is reported with its number and costs nothing but itself.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

from tests.support.made import a_run, an_attempt


def _attempt(**changed: Any) -> bytes:
    known = {name: value for name, value in asdict(an_attempt(5)).items() if value is not None}
    return json.dumps(known | changed).encode()


def _run(**changed: Any) -> bytes:
    return json.dumps({"kind": "run", **asdict(a_run()), "run_id": "run-2", **changed}).encode()


def _line(kind: Any, **values: Any) -> bytes:
    return json.dumps({"kind": kind, **values}).encode()


_STUDY = {"study": "rmiat", "study_version": "v", "text_id": "x", "kept_at": "2026-01-01"}

REFUSED: dict[str, bytes] = {
    "a count that is a word": _attempt(tokens="many"),
    "a count of 10^30": _attempt(tokens=10**30),
    "a count of 10^308": _attempt(tokens=1e308),
    "a count of 10,000 digits": _attempt()[:-1] + b', "input_tokens": ' + b"9" * 10_000 + b"}",
    "a round of 2^40": _attempt(game="g", round=2**40),
    "a flag that is a word": _attempt(is_final="yes"),
    "a time that is none": _attempt(done_at="0000-99-99"),
    "a time in 100 million years": _attempt(done_at="99999999-01-01"),
    "no trial": _attempt(trial_id=None),
    "bytes that are no UTF-8": _attempt(answer="x")[:-3] + b'\xff"}',
    "null bytes": b"\0" * 1000,
    "an empty line": b"",
    "a list": b"[1, 2]",
    "a text": b'"x"',
    "null": b"null",
    "half a line": _attempt()[:100],
    "lists in lists": b'{"a":' * 100_000 + b"1" + b"}" * 100_000,
    "a kind in lists": b'{"kind":' + b"[" * 100_000,
    "a kind of a time to come": _line("future", version=99),
    "a kind that is a number": _line(5),
    "a run without a name": _line("run"),
    "a run whose models are a table": _run(models={"a": 1}),
    "a run whose models are no JSON": _run(models="[{"),
    "a run whose models are numbers": _run(models="[1, 2]"),
    "a run whose models have other columns": _run(models='[{"model": "x", "evil": 1}]'),
    "a run that began never": _run(started_at="never"),
    "a study without files": _line("study", **_STUDY),
    "a study whose files are a number": _line("study", **_STUDY, contents=[], files=5),
    "a study whose files have no names": _line("study", **_STUDY, contents=[], files=[1]),
    "counts of nothing": _line("recounts", tokenizer="t", rows=[5]),
    "counts without rows": _line("recounts"),
    "counts by nobody": _line("recounts", rows=[["run-1-0", 1]]),
    "answers of no run": _line("answers", shared=[{}], rows={"shared": [9]}),
    "answers that share a number": _line("answers", shared=[1], rows={}),
    "a merge at no time": _line("merge", lineage="l", source="s", merged_at="yesterday", runs=["r"]),
    "a merge of numbers": _line("merge", lineage="l", source="s", merged_at="2026-11-01", runs=[1]),
    "a run set aside never": _line("set_aside", of_run="r", study="s", reason="x", noted_at="soon", is_back=True),
    "a look at nothing": _line("look", plan="p", widths=[5]),
    "an end at no time": _line("end", finished_at=5),
    "a check of words": _line("check", n_asked="x"),
    "a pace at no time": _line("pace", noted_at="x"),
}
KEPT: dict[str, bytes] = {
    "a column that nobody knows": _attempt(evil=1, attempt_id="run-1-20"),
    "an answer of 5 MB": _attempt(answer="x" * 5_000_000, attempt_id="run-1-21"),
    "half a surrogate pair": _attempt(answer="\ud800", attempt_id="run-1-22"),
    "a key twice": b'{"answer": "a",' + _attempt(attempt_id="run-1-23")[1:],
    "a cost of NaN": _attempt(cost_usd=float("nan"), attempt_id="run-1-24"),
    "a run that is a path": _attempt(run_id="../../x", attempt_id="run-1-25"),
    "a null character": _attempt(answer="a\0b", attempt_id="run-1-26"),
}
