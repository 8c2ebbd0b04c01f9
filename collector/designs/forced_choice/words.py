"""Read and check the tables of a forced-choice study: domains, words, pairs of categories, wordings.

A domain has categories of words. In each block its categories are bound into two pairs, which are the two options; the
consistent option is the pair that holds the word's own category.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from slant.collector.designs.labels.spelling import folded
from slant.collector.designs.sides import two_names
from slant.collector.designs.wordings import listed_tests, read_wordings, same_word
from slant.collector.errors import StudyError, UnknownNameError
from slant.collector.study.folder import StudyFolder
from slant.collector.study.toml_table import Table

LETTERS = ("A", "B")
PLACEHOLDERS = ("option_a", "option_b", "word")
PROVENANCE = ("item_id", "role", "published_iat", "tier", "source")
"""List columns of the stimuli that say where a word comes from. They do not affect what is asked, so that correcting
one does not make all trials pending again."""


@dataclass(frozen=True, slots=True)
class Word:
    """Hold one word and its category. `provenance` holds the columns of that name, if the study has them; `tier` is the
    one that is kept with every trial."""

    word: str
    category: str
    provenance: Mapping[str, str]

    @property
    def tier(self) -> str | None:
        return self.provenance.get("tier") or None


@dataclass(frozen=True, slots=True)
class Domain:
    """Hold one test: its words, and by block the two pairs, each as its categories and its text ("Male + Career")."""

    domain: str
    domain_no: int
    label: str
    words: tuple[Word, ...]
    pairs: Mapping[str, tuple[tuple[frozenset[str], str], tuple[frozenset[str], str]]]

    def options(self, block: str, category: str) -> tuple[str, str]:
        """Return the texts of the option that is consistent with the category in this block, and of the other one."""
        (first, first_text), (_, second_text) = self.pairs[block]
        return (first_text, second_text) if category in first else (second_text, first_text)


@dataclass(frozen=True, slots=True)
class ForcedChoiceData:
    """Hold `Study.data` of a forced-choice study. `blocks`: the congruent one first. `simulation`: what simulated
    answers are drawn from, by (model, domain, block); may be empty. `own_categories`: if words were dealt to categories
    at random, each word's true one, by (domain, word)."""

    blocks: tuple[str, str]
    domains: Mapping[str, Domain]
    wordings: Mapping[int, str]
    simulation: Mapping[tuple[str, ...], Mapping[str, float]]
    own_categories: Mapping[tuple[str, str], str] = field(default_factory=dict)


def parse_tables(table: Table, folder: StudyFolder, simulation: Mapping[Any, Any]) -> ForcedChoiceData:
    """Read [prompt], blocks, domains, pairs and stimuli; StudyError if they break the rules."""
    prompt = table.table("prompt")
    separator = prompt.text("pair_separator", " + ")
    wordings = read_wordings(folder.rows(prompt, "wordings", ("wording", "text")), PLACEHOLDERS, prompt.where)
    prompt.finish()
    why = "one pairs the categories in one way, the other crosses them"
    blocks = two_names(table, "blocks", ("congruent", "incongruent"), why)
    words = _words(folder.rows(table, "stimuli", ("domain", "category", "word"), may=PROVENANCE), table.where)
    columns = ("domain", "block", "first_category", "second_category")
    pairs: dict[tuple[str, str], list[tuple[frozenset[str], str]]] = {}
    for row in folder.rows(table, "pairs", columns):
        domain, block, bound = row["domain"], row["block"], (row["first_category"], row["second_category"])
        if block not in blocks:
            raise UnknownNameError(f"block (of the pairs of {domain})", block, blocks)
        pairs.setdefault((domain, block), []).append((frozenset(bound), separator.join(bound)))
    rows = folder.rows(table, "domains", ("domain",), may=("domain_no", "label"))
    domains = _domains(rows, words, pairs, blocks, table.where)
    for domain in (*words, *(of for of, _ in pairs)):
        if domain not in domains:
            raise UnknownNameError(f"domain (of the stimuli or pairs) in {table.where}", domain, domains)
    return ForcedChoiceData(blocks, domains, wordings, simulation)


def _words(rows: list[dict[str, str]], where: str) -> dict[str, list[Word]]:
    """Return words by domain. A word may occur once in a domain: it distinguishes its trials."""
    domains: dict[str, list[Word]] = {}
    seen: dict[tuple[str, str], str] = {}
    for row in rows:
        domain, category, word = row["domain"], row["category"], row["word"]
        if not word or not category:
            raise StudyError(f'A word or its category is empty in the domain "{domain}" of {where}.')
        if (domain, same_word(word)) in seen:
            both = f"{seen[domain, same_word(word)]} and {category}"
            raise StudyError(f'The word "{word}" is listed twice in the domain "{domain}" of {where} ({both}).')
        seen[domain, same_word(word)] = category
        provenance = {name: row[name] for name in PROVENANCE if row.get(name)}
        domains.setdefault(domain, []).append(Word(word, category, provenance))
    return domains


def _domains(
    rows: list[dict[str, str]],
    words: Mapping[str, list[Word]],
    pairs: Mapping[tuple[str, str], list[tuple[frozenset[str], str]]],
    blocks: tuple[str, str],
    where: str,
) -> dict[str, Domain]:
    domains: dict[str, Domain] = {}
    for name, number, label, _ in listed_tests(rows, "domain", where):
        if name not in words:
            raise StudyError(f'The domain "{name}" of {where} has no words.')
        checked_pairs = {
            block: _checked_pairs(pairs.get((name, block), []), name, block, words[name]) for block in blocks
        }
        domains[name] = Domain(name, number, label, tuple(words[name]), checked_pairs)
    return domains


def _checked_pairs(
    pairs: list[tuple[frozenset[str], str]], domain: str, block: str, words: Iterable[Word]
) -> tuple[tuple[frozenset[str], str], tuple[frozenset[str], str]]:
    """Check that two pairs hold every category exactly once: else a valid answer could not be coded as consistent or
    not."""
    where = f'block "{block}" of the domain "{domain}"'
    if len(pairs) != 2:
        raise StudyError(f"The {where} must have two pairs of categories, but it has {len(pairs)}.")
    bound = Counter(category for pair, _ in pairs for category in pair)
    named = {word.category for word in words}
    for category in sorted(named | set(bound)):
        if category not in named:
            raise UnknownNameError(f"category (of the {where})", category, sorted(named))
        if bound[category] != 1:
            raise StudyError(
                f'The category "{category}" must stand in one pair of the {where}, not in {bound[category]}.'
            )
    if folded(pairs[0][1]) == folded(pairs[1][1]):
        raise StudyError(f'Both pairs of the {where} read "{pairs[0][1]}".')
    return pairs[0], pairs[1]
