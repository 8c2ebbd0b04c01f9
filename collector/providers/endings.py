"""Read the word with which a provider says why an answer ended (finish reason, stop reason, status).

An ending counts as an answer only if it is known to be one. endings.csv lists those, and what the others mean:

    answer      the model has finished: the design reads the text
    truncated, filtered, refused, malformed, failed     the outcome, as the provider documents it
    stop        the account has a problem: nothing more is asked

`sdks` in that table are the SDKs whose types contain the word (tests/collector/test_endings.py checks that each
value of each SDK has a row). A word that is not in it is no answer either: `malformed`, with the word as its detail.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from pathlib import Path
from typing import Literal

from slant.collector.records import EndingKind, Outcome, Reply
from slant.collector.system.shipped_files import csv_rows

Means = Literal["answer", "truncated", "filtered", "refused", "malformed", "failed", "stop"]
NO_REASON = "no finish reason"
_ENUM = re.compile(r"^(?:finish_?reason|stop_?reason|done_?reason)[._](?=.)")  # FINISH_REASON_STOP
_OUTCOMES: dict[EndingKind, Outcome | None] = {
    "answer": None, "truncated": "truncated", "filtered": "filtered", "refused": "refused", "malformed": "malformed",
    "failed": "failed", "stop": "failed", "unknown": "malformed", "missing": "malformed",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Ending:
    """Hold how an answer ended: the provider's word (None if it gave none), and what that means."""

    word: str | None
    kind: EndingKind

    def outcome(self, *, has_text: bool = True) -> Outcome | None:
        """Return the outcome, or None if the design is to read the answer (and to find it empty if nothing was
        said)."""
        outcome = _OUTCOMES[self.kind]
        return None if outcome == "malformed" and not has_text else outcome

    @property
    def detail(self) -> str | None:
        """Return the provider's word against an answer; what is filtered or cut off has it elsewhere."""
        if self.kind == "missing":
            return NO_REASON
        if self.kind in ("failed", "stop"):
            return f"the provider ended it with {self.word}"
        return self.word if self.kind in ("malformed", "unknown") else None


@lru_cache(256)  # it is called for each answer, and words are few
def ending(dialect: str, word: str | None) -> Ending:
    """Return the meaning of a word in a dialect ("chat", "responses", "anthropic", "gemini", "ollama"). An empty word
    counts as none.

    Capitals, hyphens and the name of its kind (FINISH_REASON_STOP) make no difference. Gateways pass on the words of
    other dialects: such a word is known if all dialects that have it agree on it.
    """
    if not word:
        return Ending(word, "missing")
    kind = known_endings().get((dialect, word)) or _plain_endings().get((dialect, _plain(word)))
    return Ending(word, kind or _plain_endings().get(("", _plain(word))) or "unknown")


def ending_behind(ended: Ending, native: str | None) -> Ending:
    """Return the ending that a gateway's own word for it hides: what the model's provider said (`native`) counts if
    it is known not to end an answer."""
    if native is None or ended.kind != "answer":
        return ended
    kind = _plain_endings().get(("", _plain(native)))
    return Ending(native, kind) if kind in ("truncated", "filtered", "refused") else ended


def _plain(word: str) -> str:
    return _ENUM.sub("", word.lower().replace("-", "_"))


@cache
def _plain_endings() -> dict[tuple[str, str], Means]:
    """Return the table without capitals and hyphens; under "" are the words on which all dialects agree."""
    plain = {(dialect, _plain(word)): means for (dialect, word), means in known_endings().items()}
    by_word: dict[str, set[Means]] = {}
    for (_, word), means in plain.items():
        by_word.setdefault(word, set()).add(means)
    return plain | {("", word): next(iter(means)) for word, means in by_word.items() if len(means) == 1}


@cache
def known_endings() -> dict[tuple[str, str], Means]:
    """Return the meanings in endings.csv, by dialect and word."""
    return {(row["dialect"], row["ending"]): row["means"] for row in ending_rows()}  # type: ignore[misc]


def ending_rows() -> list[dict[str, str]]:
    """Return the rows of endings.csv."""
    return csv_rows(Path(__file__).parent / "endings.csv")


def with_own_endings(reply: Reply, good_endings: Collection[str], *, takes_missing: bool) -> Reply:
    """Return a reply of a user's own server: one of its `good_endings` is an answer, and so is a text without
    a reason if the server needs to give none (`takes_missing`).
    """
    is_good = reply.ending == "unknown" and reply.finish_reason in good_endings
    is_taken = reply.ending == "missing" and takes_missing
    if not is_good and not is_taken:
        return reply
    kept = None if reply.outcome == "malformed" else reply.outcome  # a refusal stays one
    reason = None if kept is None else reply.detail
    return replace(reply, outcome=kept, detail=reason, ending="answer" if is_good else "missing")
