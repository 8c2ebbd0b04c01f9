"""Read what an answer had clearly said before it was cut off at its limit: "No. The evidence is …".

It stays truncated, and what it began with is a column (`begun_choice`): what would have followed might have taken it
back. A study may count it (`count_truncated = true`).
"""

from __future__ import annotations

import re
from dataclasses import replace

from slant.collector.designs.study import Study
from slant.collector.records import Reading, Reply, Trial

_FIRST_SENTENCE = re.compile(r"\s*(?:[^\n]{1,200}?[.!](?=\s)|[^\n]{1,200}\n)")


def read_reply(study: Study, trial: Trial, reply: Reply) -> Reading:
    """Return how the study's design reads a reply; for one that was cut off, also what its first sentence chose."""
    reading = study.design.read(study, trial, reply)
    if reading.outcome != "truncated" or trial.game is not None or not reply.answer:
        return reading
    first = _FIRST_SENTENCE.match(reply.answer)
    if first is None:
        return reading
    begun = study.design.read(study, trial, replace(reply, answer=first[0].strip(), outcome=None, detail=None))
    if begun.outcome != "answered" or begun.choice is None:
        return reading
    if study.count_truncated:
        return replace(begun, detail="cut off after its first sentence")
    return replace(reading, factors={**reading.factors, "begun_choice": begun.choice})
