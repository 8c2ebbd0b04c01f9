"""Read a study: a TOML file and the CSVs next to it. Refuse unknown names, and suggest the nearest known one.

A study that ships with slant is called by its name, your own study by the path of its TOML file.
"""

from __future__ import annotations

import functools
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any, cast

from slant.collector.arguments import checked_arguments
from slant.collector.designs import design_named
from slant.collector.designs.design import Design
from slant.collector.designs.study import Study as Study
from slant.collector.errors import StudyError, UnknownNameError, as_typed, check_known
from slant.collector.providers.temperature import with_temperature
from slant.collector.records import RefusalRule
from slant.collector.stable_ids import stable_id
from slant.collector.studies.kept_answers import FolderWithAnswers
from slant.collector.study import tables
from slant.collector.study.folder import StudyFolder, is_kept, read_text
from slant.collector.study.records import BASE as BASE
from slant.collector.study.records import NULL, REASONING_BACK, Condition
from slant.collector.study.records import Fit as Fit
from slant.collector.study.records import Specification as Specification
from slant.collector.study.records import StudyModel as StudyModel
from slant.collector.study.records import TestInfo as TestInfo
from slant.collector.study.toml_table import Table, checked_name, parsed_toml, shortened
from slant.collector.system.shipped_files import studies_dir

_ASKED_NOT = (
    "title", "source", "note", "seed", "published", "models", "fits", "sensitivity", "simulation", "figures",
    "variant_labels", "about", "left_out", "extension", "condition_labels", "import", "people", "smallest_effect",
)  # fmt: skip
"""List keys that don't decide what is asked, and that no variant may change."""
MAX_TOML_BYTES = 1_000_000
_DEEPEST = 16  # tables in tables, variants that are like variants
_KEY = r"(?:[\w-]++|\"[^\"\n]*+\"|'[^'\n]*+')"
_DEEP_KEY = re.compile(rf"(?<![\w-])(?:{_KEY}[ \t]*+\.[ \t]*+){{{_DEEPEST}}}")
_FREE = ("title", "about", "left_out", "extension")  # of those, what a variant may change anyway


def list_studies() -> list[str]:
    """Return the names of the shipped studies."""
    return sorted(path.stem for path in studies_dir().glob("*.toml"))


def shipped_outlines() -> list[Study]:
    """Return the shipped studies, for a list: without variants, on which a study's version and contents depend."""
    studies = []
    for path in (studies_dir() / f"{name}.toml" for name in list_studies()):
        values = _values(path, read_text(path, MAX_TOML_BYTES))
        names = _variant_names(path, values)
        studies.append(_variant(path, values, FolderWithAnswers(path.parent), names, names[0]))
    return studies


@checked_arguments()
def load_study(name_or_path: str | Path, variant: str = BASE, db: str | Path | None = None) -> Study:
    """Return the study of this name (as `rmiat`) or in this file (as `./mine/study.toml`, or any Path), read and
    checked.

    A name that does not come with slant is looked up in the database `db`, which keeps the text of what was asked.
    Raise UnknownNameError for an unknown name or variant, StudyError for a file that breaks the rules.
    """
    return _chosen(_variants_in(_study_path(name_or_path, db)), variant)


def _variants_in(path: Path) -> dict[str, Study]:
    if path.parent == studies_dir() or is_kept(path):
        return dict(_unchanging_variants(path))
    return _read_variants(path, read_text(path, MAX_TOML_BYTES))


@functools.lru_cache(maxsize=32)
def _unchanging_variants(path: Path) -> dict[str, Study]:
    """Read each shipped study, and each text that a database keeps, once per process: hashing a thousand prompts takes
    .1 s. The folder of a kept text is named by its hash."""
    return _read_variants(path, read_text(path, MAX_TOML_BYTES))


def _values(path: Path, text: str) -> dict[str, Any]:
    if _DEEP_KEY.search(text):  # Python's reader needs time that grows with the square of their length
        raise StudyError(f"Can't read {path.name}: a key in it is nested more than {_DEEPEST} deep.")
    try:
        return parsed_toml(text)
    except (ValueError, RecursionError) as error:  # ValueError: also for a number with more digits than Python reads
        reason = shortened(str(error).partition(" for integer string")[0], 200)
        raise StudyError(f"Can't read {path.name}: it is not TOML ({reason}).") from None


def with_variant(study: Study, name: str) -> Study:
    """Return the same study with the changes of the variant `name` ('base' undoes them); UnknownNameError."""
    return study if name == study.variant else load_study(study.path, variant=name)


def load_variants(name_or_path: str | Path, db: str | Path | None = None) -> dict[str, Study]:
    """Return the variants of a study by name, in the order of its file; this is much quicker than one by one."""
    return _variants_in(_study_path(name_or_path, db))


def _study_path(name_or_path: str | Path, db: str | Path | None) -> Path:
    # Here, as the simulated provider, a process that each run starts, would spend half a second on DuckDB and Polars.
    from slant.collector.studies.stored_texts import kept_names, kept_study

    if isinstance(name_or_path, str) and not name_or_path.endswith(".toml") and "/" not in name_or_path:
        if name_or_path in list_studies():
            return studies_dir() / f"{name_or_path}.toml"
        if (stored_path := kept_study(name_or_path, db)) is not None:
            return stored_path
        if Path(name_or_path).is_dir() and (path := _file_in(Path(name_or_path))).is_file():
            return path.resolve()
        if (file := Path(f"{name_or_path}.toml")).is_file():
            return file.resolve()
        known = [*list_studies(), *(name for name in kept_names(db) if name not in list_studies())]
        hint = (
            "A study of your own is given by its path, as in ./mine/study.toml, or by its name once a database has it."
        )
        raise UnknownNameError("study", name_or_path, known, hint)
    path = _file_in(Path(name_or_path))
    if not path.is_file() and (named := path.with_name(f"{path.name}.toml")).is_file():
        path = named
    if not path.is_file():
        near = get_close_matches(path.name, [file.name for file in path.parent.glob("*.toml")], 1)
        meant = f' Did you mean "{path.parent / near[0]}"?' if near else ""
        hint = "Type `collect studies` to see those that come with slant."
        raise StudyError(f"There is no study file {name_or_path}.{meant}", hint)
    return path.resolve()


def _file_in(path: Path) -> Path:
    """Return the study file of a folder: study.toml, or its only TOML. StudyError for a folder that has none or
    several; a path that is not a folder is returned unchanged.
    """
    if not path.is_dir():
        return path
    files = sorted(path.glob("*.toml"))
    named = [file for file in files if file.name == "study.toml"] or files
    if len(named) != 1:
        raise StudyError(
            f'The folder "{path}" holds {f"{len(named)} TOML files" if named else "no study.toml"}.',
            "Name the file: --study FOLDER/study.toml",
        )
    return named[0]


def fits_of(study: Study) -> dict[str, Fit]:
    """Return a study's fits by name: those of its file, then those of its design. A fit that every study of its design
    has is left out if the file has one with that engine, but of what came of trials (is_refusal).
    """
    own = dict(study.fits)
    engines = {fit.engine for fit in own.values() if not fit.flag}
    more = {
        name: replace(fit, settings={**fit.settings, **study.fit_settings.get(name, {})})
        for name, fit in study.design.analyses.fits(study).items()
    }
    return own | {name: fit for name, fit in more.items() if name not in own and fit.engine not in engines}


def first_fit(study: Study) -> str | None:
    """Return the name of the first fit of the study's file, else of a factorial study's effects or means of levels."""
    return next((name for name in (*study.fits, "paired", "amce", "marginal_means") if name in fits_of(study)), None)


def next_command(study: Study, db: Path) -> str:
    """Return the next command once all answers are there: the study's first fit, or the tables where there is none."""
    what = f"--fit {fits_of(study)[first].engine}" if (first := first_fit(study)) else f"tables --study {study.name}"
    return f"analyze {what} --db {as_typed(db)}"


def _read_variants(path: Path, text: str) -> dict[str, Study]:
    """Read all variants, whichever is requested: a mistake in one is reported at once, and the version covers all."""
    values = _values(path, text)
    folder = FolderWithAnswers(path.parent)
    variants = _variant_names(path, values)
    studies = {name: _variant(path, values, folder, variants, name) for name in variants}
    design = next(iter(studies.values())).design
    contents = frozenset(content for study in studies.values() for content in design.asks.contents(study))
    version = f"v{stable_id(sorted(contents))[:12]}"  # a letter first: 2212e2921802 is a number to many readers
    if NULL not in studies and (null := _dealt(studies[variants[0]])):
        contents |= frozenset(design.asks.contents(null))
    texts = {path.name: text, **folder.texts}
    return {name: replace(study, version=version, contents=contents, texts=texts) for name, study in studies.items()}


def _variant_names(path: Path, values: dict[str, Any]) -> tuple[str, ...]:
    base = checked_name(Table(values, path.name).text("base_variant", BASE), "variant")
    variants = (base, *Table(values, path.name).tables("variants"))
    if {BASE, base} & set(variants[1:]):
        raise StudyError(f'A variant in {path.name} can\'t be called "{base}": that is the study without a variant.')
    return variants


def _dealt(study: Study) -> Study | None:
    """Return the variant `null` of a study: its own seed deals the words to groups (levels to prompts), everything else
    is the same. None if nothing can be dealt.
    """
    design = study.design
    data = design.asks.dealt(study.data, study.seed)
    if data is None:
        return None
    about = f"{design.asks.dealt_words}: false positives: random labels"
    tests = design.tests(data)
    return replace(study, variant=NULL, asked_as=NULL, data=data, tests=tests, about=about, is_extension=True)


def _chosen(studies: dict[str, Study], variant: str) -> Study:
    if variant == NULL and NULL not in studies and (null := _dealt(next(iter(studies.values())))):
        return null
    variant = next(iter(studies)) if variant == BASE else variant
    # `--answer` and `--reasoning-back` make one more of each variant: NAME.ANSWER, NAME.kept, NAME.ANSWER.kept
    name, answer = (variant, "") if variant in studies else (*variant.split(".", 1), "")[:2]
    name = next(iter(studies)) if name == BASE else name
    if name not in studies:
        raise UnknownNameError(f"variant in {next(iter(studies.values())).path.name}", variant, studies)
    *formats, last = answer.split(".")
    back = next((known for known in REASONING_BACK if known == last), None)
    study = studies[name]
    if answer := ".".join(formats) if back else answer:
        check_known(f"answer format in {study.path.name}", answer, study.design.asks.answers(study.data))
        study = study.with_answer(answer)
    if back and not study.design.asks.has_turns(study):
        raise StudyError(
            f'--reasoning-back can\'t be used with "{study.name}": each of its questions is a separate conversation.'
        )
    return study.with_reasoning_back(back) if back else study


def _variant(path: Path, values: dict[str, Any], folder: StudyFolder, variants: tuple[str, ...], name: str) -> Study:
    design = design_named(Table(values, path.name).text("design"))
    whole = design.asks.whole_keys  # a table is changed key by key; these, and everything else, are replaced
    table = Table(_merged(values, _changes(values, name, path.name, (), whole), whole), path.name)
    table.text("design")
    table.mapping("variants")
    table.optional_text("base_variant")
    folder.trims = table.flag("trim", default=False)
    data = design.parse(table, folder)
    published = table.optional_text("published")
    of_people = tables.read_person_columns(table)
    words, attributes = design.analyses.own_words(data), {**design.analyses.attributes(data), **of_people}
    rows = table.tables("fits")
    fit_settings = tables.read_settings_of_fits(rows)
    fits = {
        name: tables.read_fit(name, row, words, attributes) for name, row in rows.items() if name not in fit_settings
    }
    temperature = _temperature(table)
    frames = design.asks.frames(data)  # the first is for all models that name none; a single one needs no name
    frame = table.text("frame", (frames[0] if len(frames) == 1 else None) if frames else "")
    study = Study(
        name=checked_name(table.text("name"), "study"),
        title=table.text("title"),
        version="",
        design=design,
        source=table.text("source", ""),
        path=path,
        seed=_seed(table),
        frame=frame,
        tests=design.tests(data),
        models=tuple(_model(row, frame, temperature) for row in table.rows("models")),
        variants=variants,
        variant=name,
        fits=fits,
        published=folder.kept(published) if published else None,
        data=data,
        note=" ".join(table.text("note", "").split()),
        about=table.text("about", ""),
        is_extension=table.flag("extension", default=False),
        asked_as=name,
        figures=tables.read_figures(table, variants, [row.text("model") for row in table.rows("models")]),
        variant_labels=tables.read_variant_labels(table, variants),
        left_out={model: table.table("left_out").text(model) for model in table.mapping("left_out")},
        temperature=temperature,
        conditions=_conditions(table, design.analyses.conditions(data)),
        participants=design.simulates.participants,
        is_known_by_name=path.parent == studies_dir() or is_kept(path),
        refusal_rule=_refusal_rule(table, design),
        count_truncated=table.flag("count_truncated", False),
        import_names=tables.read_import_names(table),
        person_columns=of_people,
        fit_settings=fit_settings,
        smallest_effect=tables.read_smallest_effect(table),
    )
    for name in fit_settings.keys() - design.analyses.fits(study).keys():
        rows[name].text("view")  # it is a fit of the study's own, which has to say more
    study = replace(study, fits={name: design.analyses.own_fit(study, fit) for name, fit in fits.items()})
    study = replace(study, sensitivity=tables.read_specifications(table, fits_of(study)))
    table.finish()
    for model, count in Counter(model.model for model in study.models).items():
        if count > 1:
            raise StudyError(f'The model "{model}" is given twice in {path.name}.')
    for model in study.left_out:
        check_known(f"model (of left_out) in {path.name}", model, [known.model for known in study.models])
    design.check(study)
    return study


def _refusal_rule(table: Table, design: Design) -> RefusalRule:
    """Return the study's rule for refusals; UnknownNameError for a rule that is not its design's."""
    rule = table.text("refusal_rule", design.reads.refusal_rules[0])
    check_known(f'refusal_rule for the design "{design.name}"', rule, design.reads.refusal_rules)
    return cast("RefusalRule", rule)


def _conditions(table: Table, conditions: tuple[Condition, ...]) -> tuple[Condition, ...]:
    """Return conditions with the names that the study gives them in figures and sentences ([condition_labels])."""
    labels, known = table.table("condition_labels"), [condition.condition for condition in conditions]
    for name in table.mapping("condition_labels"):
        check_known(f"condition (of condition_labels) in {table.where}", name, known)
    return tuple(replace(one, label=labels.text(one.condition, one.label)) for one in conditions)


def _seed(table: Table) -> int:
    seed = table.integer("seed", 0)
    if not 0 <= seed < 2**63:
        raise StudyError(f'"seed" in {table.where} must be between 0 and 2^63, but it is {seed}.')
    return seed


def _model(row: Table, frame: str, temperature: float | None) -> StudyModel:
    """Return a model of the study; without its own frame it has the study's."""
    model = tables.read_model(row)
    return with_temperature(replace(model, frame=model.frame or frame), temperature)


def _temperature(table: Table) -> float | None:
    value = table.optional("temperature", (int, float), "a number")
    if value is not None and (isinstance(value, bool) or not 0 <= value <= 100):
        raise StudyError(f'"temperature" in {table.where} must be a number from 0, but it is {value}.')
    return None if value is None else float(value)


def _changes(
    values: dict[str, Any], variant: str, where: str, seen: tuple[str, ...], whole: tuple[str, ...]
) -> dict[str, Any]:
    """Return a variant's changes: first the changes of the variant that it is `like`, then its own."""
    variants = Table(values, where).table("variants")
    changes = dict(variants.mapping(variant))
    for key in changes:
        if key in ("name", "design", "variants", "base_variant", *_ASKED_NOT) and key not in _FREE:
            raise StudyError(f'The variant "{variant}" in {where} can\'t change "{key}".')
    like = Table(changes, f"{where}, [variants.{variant}]").optional_text("like")
    changes.pop("like", None)
    if like is None:
        return changes
    if len(seen) > _DEEPEST:
        raise StudyError(f"In {where} variants are like others more than {_DEEPEST} deep.")
    others = [name for name in Table(values, where).mapping("variants") if name not in (*seen, variant)]
    check_known(f'variant (that "{variant}" is like) in {where}', like, others)
    return _merged(_changes(values, like, where, (*seen, variant), whole), changes, whole)


def _merged(values: Mapping[str, Any], changes: Mapping[str, Any], whole: tuple[str, ...] = ()) -> dict[str, Any]:
    merged = dict(values)
    for key, change in changes.items():
        old = merged.get(key)
        if isinstance(old, dict) and isinstance(change, dict) and key not in whole:
            merged[key] = _merged(old, change)
        else:
            merged[key] = change
    return merged
