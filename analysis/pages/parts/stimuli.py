"""What was asked in a forced-choice study: where its words come from, and its prompt."""

from __future__ import annotations

from collections import Counter

import polars as pl

from slant.analysis.pages.parts.records import Group, Material, Shown
from slant.analysis.pages.tables import plain
from slant.collector.designs.forced_choice.words import Domain, ForcedChoiceData

_TIERS = {
    "published_same_iat": "published for this very IAT",
    "published_other_iat": "published for another IAT",
    "our_extension": "our extension",
}


def stimuli(material: Material) -> Group | None:
    """Of the study as it is today; nothing where the answers are of another version of it."""
    data = material.study.data
    if not isinstance(data, ForcedChoiceData) or material.grain["study_version"] != material.study.version:
        return None
    words = pl.DataFrame([row for domain in data.domains.values() for row in _rows(domain)])
    tables = (
        Shown("How many words come from where", plain(_counted(data)), is_open=True),
        Shown(f"All {words.height} words", plain(words)),
    )
    return Group(
        "stimuli",
        "words and prompt",
        (material.study.note,) if material.study.note else (),
        tables,
        quotes=_prompts(data),
    )


def _rows(domain: Domain) -> list[dict[str, str | None]]:
    return [
        {
            "domain": domain.label,
            "category": word.category,
            "word": word.word,
            "tier": word.tier,
            "source": word.provenance.get("source"),
        }
        for word in domain.words
    ]


def _counted(data: ForcedChoiceData) -> pl.DataFrame:
    rows = []
    for domain in data.domains.values():
        tiers = Counter(word.tier or "not said" for word in domain.words)
        rows += [
            {"domain": domain.label, "where from": _TIERS.get(tier, tier), "words": n} for tier, n in tiers.items()
        ]
    return pl.DataFrame(rows)


def _prompts(data: ForcedChoiceData) -> tuple[str, ...]:
    """With the names of what is filled in, as in "{word}"; braces of JSON are written once."""
    return tuple(text.replace("{{", "{").replace("}}", "}") for text in data.wordings.values())
