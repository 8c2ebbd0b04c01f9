"""The last verdict counts, what was cut off is kept, and "can't" about something else is no refusal."""

from __future__ import annotations

from pathlib import Path

import pytest
from aiohttp import web

from slant.collector import collect
from slant.collector.reading.choices import YES_NO, read_choice
from slant.collector.reading.labels import read_label
from tests.support.local_server import LocalServer, completion
from tests.support.stored import rows_in
from tests.support.tiny_study import write_tiny

VERDICTS = {
    "Yes.\n\nLet me think again. No, the answer is no.": "yes no",
    "No.\n\nNo, you cannot answer a question that has no sense.": "no",
    "Yes. If she lied, the answer is no.": "yes",
    "Yes, and my final answer is yes.": "yes",
    "No. Is the answer yes? Hardly.": "no",
    "Yes. No.": None,
    "Yes. Hmm, let me reconsider. My final answer: No.": "yes no",
    "No. Actually, yes.": "no yes",
    "No.\n\n**Verdict: Yes**": "no yes",
    "Yes. Therefore, no.": "yes no",
    "Yes.\n\nI take that back. No.": "yes no",
    "No. He said that the answer is yes, but he was wrong.": "no",
    "Yes. I first thought the answer is no.": "yes",
    "No. It is not true that the answer is yes.": "no",
    "No. Yes-men would disagree.": "no",
    "Yes. Overall, no problem.": "yes",
}
ABOUT_SOMETHING_ELSE = [
    "The server cannot start because port 80 is in use.", "You won't see an error in the log.",
    "Birds cannot fly in storms. They will not land.",
    "It should not be stored in the fridge.", "The dish is inappropriate for children under three.",
]  # fmt: skip
ABOUT_THE_TASK = [
    "I can't help with that.", "Cannot comply.", "This cannot be answered.", "I'm unable to sort people by group.",
    "It would be inappropriate to sort people.", "One cannot answer that.", "This should not be classified.",
    "It would not be appropriate to assign this word.", "Such a request cannot be fulfilled.",
]  # fmt: skip


def test_the_last_verdict_that_says_it_is_the_answer_counts() -> None:
    read = {text: read_choice(text, YES_NO).value for text in VERDICTS}
    assert read == {text: wanted and wanted.split()[-1] for text, wanted in VERDICTS.items()}


def test_only_the_task_is_refused() -> None:
    kinds = {text: read_label(text, ("Quick", "Slow")).kind for text in [*ABOUT_SOMETHING_ELSE, *ABOUT_THE_TASK]}
    assert {text for text, kind in kinds.items() if kind == "refused_in_words"} == set(ABOUT_THE_TASK)


@pytest.mark.slow
def test_the_label_of_an_answer_that_was_cut_off_is_a_column_and_counts_if_the_study_says_so(tmp_path: Path) -> None:
    async def cut_off(request: web.Request, body: dict) -> web.StreamResponse:
        answer = completion("Calm. One could object that")
        answer["choices"][0]["finish_reason"] = "length"
        return web.json_response(answer)

    for setting, expected in {
        "": ("truncated", None, "Calm"),
        "count_truncated = true": ("answered", "Calm", None),
    }.items():
        folder = tmp_path / (setting[:5] or "usual")
        folder.mkdir()
        study = write_tiny(folder)
        study.write_text(f"{setting}\n{study.read_text()}")
        with LocalServer(cut_off) as server:
            collect(folder / "t.duckdb", str(study), ["local/m"], base_url=server.base_url)
        rows = rows_in(folder / "t.duckdb", "SELECT DISTINCT outcome, choice, begun_choice FROM trials")
        assert rows == [expected]
