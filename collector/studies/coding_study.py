"""Write a study in which models and people code texts: the answers of another study, all of them or those that a rule
left undecided (with a sample of those that it decided, which shows how far both agree)."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from slant.collector.designs.coding.design import COLUMNS, DESIGN
from slant.collector.designs.study import Study
from slant.collector.errors import UsageError, as_typed
from slant.collector.keep.database import fetched_frame, reading
from slant.collector.keep.stored_attempts import with_attributes
from slant.collector.reading.choices import YES_NO
from slant.collector.studies.catalogue import load_study
from slant.collector.studies.new_study import CODED_TEXTS, STUDY_FILE, write_new_study
from slant.collector.study.folder import MAX_READ_BYTES
from slant.collector.study.records import BASE, Fit
from slant.collector.system.files import contents, csv_text, replace_on_disk, write_file
from slant.collector.system.scratch import temporary_folder
from slant.collector.system.shipped_files import sql_query

TEXTS_FILE = "texts.csv"
TWO_OPTIONS, TEXTS = "two_options", "texts"
NONE = "none"
_LONGEST_SHOWN = 20_000
"""Show this many characters at the end of an answer, the same that the rule reads."""
UNDECIDED = "undecided answers"
"""Name answers to one question that the study's form has not read, next to those that it has."""


@dataclass(frozen=True, slots=True)
class CodingStudy:
    """Report a written study and what it asks: undecided answers, and those that were coded before. `read`: the codes
    of answers that the study's form has read, by item; no model is asked for them."""

    file: Path
    n_undecided: int
    n_decided: int
    read: Mapping[str, str]


def write_coding_study(
    db: Path,
    study: Study,
    sources: Sequence[str],
    n_decided: int,
    folder: Path,
    models: Sequence[str] = (),
    test: str | None = None,
) -> CodingStudy:
    """Write the study into `folder`. Its answers are those in the database now, of a factorial study those to the
    question `test`; a study file that already exists there, perhaps with a custom prompt, stays as it is.

    Raise UsageError if the design has no answers that are coded by rule, if the database has none, if nothing is
    undecided, if there are more than a study can hold, if the folder holds something else, or if it can't ask one of
    `models`. Then nothing is written.
    """
    with temporary_folder("coding") as place:
        if hasattr(study.data, "questions"):
            write_texts_study(coding_name(study, test), db, study, place, UNDECIDED, test, sources)
        else:
            _write_decisions(db, study, sources, n_decided, place)
        made = load_study(place / STUDY_FILE) if (place / STUDY_FILE).exists() else None
        names = sorted((path.name for path in place.iterdir()), key=lambda file: file == TEXTS_FILE)
        files = {name: contents(place / name) for name in names}
    first = {item: text.first_coding for item, text in made.data.texts.items()} if made else {}
    read = {item: code for item, code in first.items() if code}
    if made is None or len(read) == len(first):
        raise UsageError(
            f'No answer is undecided in "{study.name}" ({study.variant}; {", ".join(sources)}) in {db}: '
            "nothing needs a second coding.",
            "Only answers that a rule decides can be left undecided. Simulated ones are coded with --simulated.",
        )
    known = _known_study(folder, made.name) or made
    for model in models:
        known.model(model)
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        if name == TEXTS_FILE or not (folder / name).exists():
            replace_on_disk(folder / name, content)
    by_form = read if made.data.rule_decides else {}
    return CodingStudy(folder / STUDY_FILE, len(first) - len(read), len(read), by_form)


def _write_decisions(db: Path, study: Study, sources: Sequence[str], n_decided: int, place: Path) -> None:
    values = {"study": study.name, "variant": study.variant, "sources": list(sources), "n_decided": n_decided}
    rows = fetched_frame(db, sql_query("answers_to_code"), values).to_dicts()
    if all(row["first_coding"] for row in rows):
        return
    header = (*COLUMNS, "test", "option_a", "option_b", "asked", "first_coding")
    options = study.design.reads.coded_options
    cells = ((r["trial_id"], r["text"], r["test"], *options(study, r), r["first_coding"] or "") for r in rows)
    fewer = f"Take fewer that are decided (--decided, now {n_decided}), or one variant at a time."
    text = texts_csv(header, cells, fewer)
    write_new_study(coding_name(study), DESIGN.name, place, start=TWO_OPTIONS)
    write_file(place / TEXTS_FILE, text)


def write_texts_study(
    name: str,
    db: Path,
    study: Study,
    folder: Path,
    kind: str = "answers",
    test: str | None = None,
    sources: Sequence[str] = (),
) -> list[Path]:
    """Write a study that codes the texts of another one, with all that is known of each: its factors, model and
    condition, none of which a coder is shown. Return its files, the TOML first. `sources` are those of UNDECIDED ones.

    Raise UsageError if the database has no such text, or more than a study can hold; then nothing is written.
    """
    question = _question(study, test) if kind == UNDECIDED else None
    query, more = "texts_to_code", dict[str, Any](kind=kind, test=test)
    if question is not None:
        query, more = "read_answers", {"sources": list(sources), "question": question.name}
    with reading(db) as connection:
        answers = connection.sql(sql_query(query), params={"study": study.name, "variant": study.variant, **more})
        if view := study.design.analyses.checked_view:
            attributes = connection.view(view)
            if "attributes" in attributes.columns:
                attributes, found = with_attributes(attributes.filter("attributes IS NOT NULL"))
                listed = ", ".join(f'first("{column}") AS "{column}"' for column in sorted(found))
                attributes = attributes.aggregate(f"trial_id AS item, {listed}", "trial_id") if listed else attributes
                answers = answers.join(attributes, "item", how="left").order("item") if listed else answers
        columns, rows = answers.columns, answers.fetchall()
    if not rows:
        of_test = f' of the question "{test}"' if test else ""
        raise UsageError(
            f'There are no {kind}{of_test} of "{study.name}" ({study.variant}) in {db} to code.',
            f"Texts can be: {', '.join(CODED_TEXTS)} (--texts); what there is: collect view --db {as_typed(db)}",
        )
    factors = _factors(study, columns, rows)
    has_conditions = not study.design.analyses.attributes(study.data) and len(study.conditions) > 1
    by_form = ["first_coding"] if question else []
    header = (*COLUMNS, "test", *(["condition"] if has_conditions else []), *by_form, *factors)
    if question:
        at, codes = columns.index("first_coding"), _codes_of(question)
        rows = [(*row[:at], codes.get(row[at], row[at]), *row[at + 1 :]) for row in rows]
    kept = [columns.index(column) for column in header]
    text = texts_csv(header, ([row[place] for place in kept] for row in rows), "Take one question (--test).")
    paths = write_new_study(name, DESIGN.name, folder, start=TEXTS)
    written = contents(paths[0]).decode("utf-8")
    written = _with_factors(written, factors, _clusters(study, factors), _linked(study, factors))
    replace_on_disk(paths[0], (_with_codes(written, question) if question else written).encode())
    replace_on_disk(folder / TEXTS_FILE, text.encode())
    return paths


def _factors(study: Study, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> dict[str, list[str]]:
    """Return the levels of what is known of the texts and differs between them, the reference first; none of what has
    too many."""
    declared = study.design.analyses.attributes(study.data)
    factors: dict[str, list[str]] = {}
    for place, column in enumerate(columns):
        if column in (*COLUMNS, "test", "condition", "first_coding"):
            continue
        seen = dict.fromkeys("" if row[place] is None else str(row[place]) for row in rows)
        seen.pop("", None)
        if len(seen) < 2:
            continue
        order = [*declared.get(column, ()), *sorted(seen)]
        levels = [level for level in dict.fromkeys(order) if level in seen]
        factors[column] = levels if len(levels) <= _MOST_LEVELS and column not in _NOT_COMPARED else []
    return factors


_MOST_LEVELS = 30
_NOT_COMPARED = ("prompt", "model")


def _clusters(study: Study, factors: Mapping[str, Any]) -> list[str]:
    """Return the columns that cluster texts in the study's own fits, the first one named first: factors that attributes
    describe, else the prompt."""
    analyses = study.design.analyses
    regression = analyses.own_fit(study, Fit("", "lm", analyses.profiles_view, None, None, None, (), {}, (), ()))
    parents = dict.fromkeys(regression.settings.get("declared", {}).get("properties", {}).values())
    return [str(name) for name in parents if name in factors] or [name for name in ("prompt",) if name in factors]


def _linked(study: Study, factors: Mapping[str, Sequence[str]]) -> list[str]:
    """Return the pairs of factors that the study links by combinations that it forbids."""
    effects = study.design.analyses.fits(study).get("amce")
    pairs = effects.settings.get("linked", ()) if effects else ()
    return [pair for pair in pairs if all(factors.get(name) for name in pair.split(":"))]


def _with_factors(
    template: str, factors: Mapping[str, Sequence[str]], clusters: Sequence[str], linked: list[str]
) -> str:
    """Return the template with these factors: an attribute that is a cluster itself is not compared."""
    before, _, rest = template.partition("\n[factors]\n")
    _, _, after = rest.partition("\n[codebook]\n")
    after = after.partition("\n[simulation.where")[0].rstrip("\n") + "\n"
    lines = (
        f"{json.dumps(name)} = {json.dumps([] if name in clusters else levels)}" for name, levels in factors.items()
    )
    more = f"; for effects of what describes {' or '.join(clusters[1:])}, name that" if len(clusters) > 1 else ""
    own = {
        "cluster": f'cluster = "{clusters[0]}"{" " * 10}# what texts share{more}' if clusters else "",
        "linked": f"linked = {json.dumps(linked)}",
    }
    head = "\n".join(own.get(line.partition(" ")[0], line) for line in before.split("\n"))
    return "\n".join((head, "[factors]", *lines, "", "[codebook]", after))


def _question(study: Study, test: str | None) -> Any:
    """Return the question of a factorial study whose answers are to be coded: the one named, or the only one with
    options, a scale, yes or no. UsageError for others, whose answers no codebook has."""
    kinds = ("choice", "yes_no", "scale")
    asked = {name: one for name, one in study.data.questions.items() if one.shown_kind in kinds and not one.about}
    name = test or (next(iter(asked)) if len(asked) == 1 else "")
    if name not in asked:
        raise UsageError(
            f'Undecided answers of "{study.name}" can be coded for one question with options, a scale, or yes and no.',
            f"Name it (--test): {', '.join(asked)}" if asked else "It has none.",
        )
    return asked[name]


def _codes_of(question: Any) -> dict[str, str]:
    """Return the codes of a question's options, by what a reader makes of an answer; none of a scale."""
    options = YES_NO if question.kind == "yes_no" else question.options
    names = {one: re.sub("[^a-z0-9]+", "_", one.casefold()).strip("_")[:40] for one in options}
    counts = Counter(names.values())
    return {
        one: name if counts[name] == 1 and name not in ("", NONE) and not name.isdecimal() else f"option_{number}"
        for number, (one, name) in enumerate(names.items(), 1)
    }


def _with_codes(template: str, question: Any) -> str:
    """Return the study with a question's options for codes, of texts that its form has not read."""
    head, _, rest = template.partition("\n[codebook]\n")
    prompt, _, models = rest.partition("\n[prompt]\n")[2].partition("\n# What simulated coders do")[0].partition("[[")
    codes = [f"codes.{code}.label = {_braced(option)}" for option, code in _codes_of(question).items()]
    if question.kind == "scale":
        scale = question.scale
        book = ['kind = "scale"', f"lowest = {scale.low}", f"highest = {scale.high}"]
        book += [f"codes.{point}.label = {_braced(label)}" for point, label in scale.labels.items()]
    else:
        none = f'codes.{NONE} = {{ label = "none of these, or it does not say", comes_last = true }}'
        book = ['kind = "one"', *codes, none]
    asked = _braced(f"an answer to this question: {next(iter(question.text.values()), '')}\nWhat is answered?\n")[1:-1]
    prompt = prompt.replace("what somebody wrote who declined an invitation. Why did they decline?\n", asked)
    head = head.replace('"Why do they decline?"', '"What is answered?"')
    known = "rule_decides = true                   # no model codes a text that has a first_coding\nshown = []"
    head = head.replace("shown = []", known)
    return "\n".join((head, "[codebook]", *book, "", "[prompt]", f"{prompt}[[{models}"))


def _braced(text: str) -> str:
    """Return a text as a string of TOML in which braces name nothing."""
    return json.dumps(text.replace("{", "{{").replace("}", "}}"), ensure_ascii=False)


def _known_study(folder: Path, name: str) -> Study | None:
    """Return the folder's study of this name; None if it holds none, and nothing would be
    overwritten.
    """
    if not (folder / TEXTS_FILE).exists():
        return None
    file = folder / STUDY_FILE
    coding = load_study(file) if file.exists() else None
    if coding is None or (coding.name, coding.design.name) != (name, DESIGN.name):
        raise UsageError(
            f'"{folder / TEXTS_FILE}" is there already, and no file of the study "{name}".',
            "Nothing was written. Give another folder: --folder PATH",
        )
    return coding


def coding_name(study: Study, test: str | None = None) -> str:
    """Name the study that codes this one, or its question `test`."""
    return "_".join(filter(None, (study.name, study.variant * (study.variant != BASE), test, DESIGN.name)))


def texts_csv(header: Sequence[str], rows: Iterable[Sequence[Any]], fewer: str) -> str:
    """Return the texts of a study as CSV, the end of long ones; UsageError, which says how to take `fewer`, for more
    than a study can hold."""
    shown, at = [], header.index("text")
    for row in rows:
        cells = ["" if cell is None else cell for cell in row]
        lines = str(cells[at]).replace("\0", "").replace("\r\n", "\n").replace("\r", "\n")
        cells[at] = lines.strip()[-_LONGEST_SHOWN:]
        shown.append(cells)
    written = csv_text(header, shown)
    if (size := len(written.encode())) > MAX_READ_BYTES:
        raise UsageError(
            f"{len(shown):,} texts have {size / 1e6:.0f} MB; a study can hold {MAX_READ_BYTES / 1e6:g}.", fewer
        )
    return written
