"""List, show, start and validate studies (`collect studies`)."""

from __future__ import annotations

import difflib
import json
from collections import Counter
from pathlib import Path
from typing import Any

import click

from slant.collector.commands.options import FILE, FOLDER, db_option, output_options
from slant.collector.designs.study import Study
from slant.collector.errors import StudyError, UnknownNameError, UsageError, as_typed
from slant.collector.plan.conversations import planned_count
from slant.collector.providers import provider_named
from slant.collector.studies.catalogue import list_studies, load_study, load_variants, shipped_outlines
from slant.collector.studies.fit_checks import wrong_fits
from slant.collector.studies.new_study import CODED_TEXTS, write_new_study
from slant.collector.terminal import SlantGroup, count_text, print_rows, printable, say

Rows = list[dict[str, Any]]


class _NameOrCommand(SlantGroup):
    """Take also the name (or path) of a study as first word: then that study is shown."""

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        if args[0] in self.commands:
            return super().resolve_command(ctx, args)
        near = difflib.get_close_matches(args[0], ["new", "validate"], n=1, cutoff=0.6)
        if near and len(args) > 1 and not args[1].startswith("-"):  # a NAME comes alone
            ctx.fail(f'There is no command "{printable(args[0])}". Did you mean "{near[0]}"?')
        return super().resolve_command(ctx, ["show", *args])


@click.group(cls=_NameOrCommand, invoke_without_command=True, subcommand_metavar="[NAME | new NAME | validate PATH]")
@output_options
@click.pass_context
def studies(ctx: click.Context, output_format: str) -> None:
    """List the studies; with a NAME (or the path of a study file) show that study. `new` writes one of your own.

    \b
    Examples:
      collect studies
      collect studies rmiat
      collect studies rmiat --show models --format csv
      collect studies new drinks --design association
      collect studies validate ./drinks/study.toml
    """
    ctx.default_map = {"show": {"output_format": output_format}}  # so that --format may also stand before the NAME
    if ctx.invoked_subcommand is None:
        if output_format != "table":
            print_rows([_study_row(load_study(name)) for name in list_studies()], output_format)
        else:
            print_rows([_short(_study_row(study)) for study in shipped_outlines()])
            say("To see the contents of a study: collect studies NAME")


@studies.command("show", hidden=True)
@click.argument("name")
@click.option(
    "--show",
    type=click.Choice(["tests", "words", "models", "variants", "fits", "stimuli"]),
    help="Print only this table.",
)
@db_option
@output_options
def show_study(name: str, show: str | None, db: Path, output_format: str) -> None:
    """Show one study: its tests, words, models, variants and fits.

    NAME is the name of a study that comes with slant or that the database keeps, or the path of a study file. As CSV
    or JSON one table is printed (without --show: the tests). The table "stimuli" has every word and its
    source.

    \b
    Examples:
      collect studies rmiat --show models --format csv
      collect studies interference --show stimuli
    """
    study = load_study(name, db=db)
    if show == "stimuli":
        print_rows(study.design.analyses.words(study.data), output_format)
        return
    tables = {"tests": _tests(study), "words": _words(study), "models": _models(study)}
    tables |= {"variants": _variants(study), "fits": _fits(study)}
    if show or output_format != "table":
        print_rows(tables[show or "tests"], output_format)
        return
    say(f"{study.name}: {study.title} (design {study.design.name}, version {study.version}, path {study.path})")
    if study.note:
        say(study.note)
    for name, rows in tables.items():
        if rows:
            print_rows(rows, output_format, title=name.capitalize())
    say(f"{count_text(planned_count(study), 'trial')} a model.")


@studies.command("new")
@click.argument("name")
@click.option(
    "--design",
    required=True,
    help="The kind of study: factorial, association, forced_choice, pairing, decision, coding or allocation.",
)
@click.option(
    "--start",
    metavar="NAME",
    help="The example to start from; factorial has vignette, conjoint, questionnaire and personas.",
)
@click.option("--folder", type=FOLDER, help="The folder to write.  [default: ./NAME]")
@click.option(
    "--lists",
    type=FOLDER,
    help="Word lists and prompts as Bai et al. published them: a clone of their repository (pairing, decision).",
)
@click.option("--of", "of_db", type=FILE, metavar="FILE", help="coding: a database, whose answers are to be coded.")
@click.option("--study", "of_study", help="coding: the study whose answers these are.  [default: the only one]")
@click.option(
    "--texts",
    type=click.Choice(CODED_TEXTS),
    default=CODED_TEXTS[0],
    show_default=True,
    help="coding: which of its texts.",
)
@click.option("--test", help="coding: only answers of this test or question.")
def new_study_command(
    name: str, design: str, start: str | None, folder: Path | None, lists: Path | None, of_db: Path | None, **coded: Any
) -> None:
    """Write a study of your own to start from: a TOML with comments, and its CSVs.

    It can be checked and tried unchanged; then put your words, texts and models in place of the example's. Nothing
    is overwritten.

    \b
    Examples:
      collect studies new drinks --design association
      collect studies new flats --design factorial --start conjoint
      collect studies new villages --design allocation --folder ./mine
      collect studies new bai --design pairing --lists ./llm-implicit-bias
      collect studies new reasons --design coding --of audit.duckdb --study audit --test reason
    """
    if of_db is not None:
        _write_coding(name, design, folder or Path(name), of_db, **coded)
        return
    paths = write_new_study(name, design, folder or Path(name), lists, start)
    say(f"Written: {', '.join(map(str, paths))}")
    study = load_study(paths[0])
    if study.note:
        say(study.note)
    say(f"Next: collect studies validate {study.as_typed}")
    say(f"      {study.trial_command} --db {as_typed(name)}.duckdb")


def _write_coding(
    name: str, design: str, folder: Path, db: Path, of_study: str | None, texts: str, test: str | None
) -> None:
    """Write a study that codes what a database has, and say what is to be done before it is asked."""
    from slant.collector.keep.database import reading
    from slant.collector.keep.stored_attempts import designs_in
    from slant.collector.studies.coding_study import write_texts_study

    if design != "coding":
        raise UsageError("--of is for studies that code answers: --design coding")
    with reading(db) as connection:
        names = list(designs_in(connection))
    if of_study is None and len(names) != 1:
        raise UsageError(f'"{db}" holds several studies: {", ".join(names)}.', f"Name one: --study {names[0]}")
    paths = write_texts_study(name, db, load_study(of_study or names[0], db=db), folder, texts, test)
    study = load_study(paths[0])
    say(f"Written: {', '.join(map(str, paths))}, with {count_text(len(study.data.texts), 'text')}.")
    never = ", ".join(study.data.factors) or "nothing"
    say(f"What is known of each, and no coder is shown: {never}.")
    say(f"Errors are clustered by {study.data.cluster or 'text'}.")
    say(f"Write your codes into [codebook] of {paths[0]}, which has those of an example.")
    say(f"Next: collect --study {study.as_typed} --db {as_typed(db)} --dry-run")


@studies.command("validate")
@click.argument("path")
def validate_study(path: str) -> None:
    """Validate a study file of your own and every file it names; send nothing. A shipped study goes by its name.

    It counts the trials, and checks the views, columns, levels and priors that the fits name, the providers of models,
    rows for simulation that no trial reads, and labels and words that are easily confused.

    \b
    Example:
      collect studies validate ./mine/study.toml
    """
    study = load_study(Path(path) if Path(path).exists() else path)
    unknown = []
    for model in study.models:  # a run would leave it out
        try:
            provider_named(model.provider)
        except UnknownNameError as error:
            unknown.append(f'The model "{model.model}": {error.what}')
    if unknown:
        raise StudyError(f"{study.path.name} names an unknown provider.", *unknown)
    if wrong := wrong_fits(study):
        raise StudyError(
            f"The trials of {study.path.name} are valid, but its fits can't be computed from them.", *wrong
        )
    say(f"ok: {count_text(planned_count(study), 'trial')} a model")
    for remark in study.design.remarks(study):
        say(remark)


def _study_row(study: Study) -> dict[str, Any]:
    return {
        "study": study.name,
        "title": study.title,
        "design": study.design.name,
        "tests": len(study.tests),
        "models": len(study.models),
        "variants": ", ".join(study.variants),
        "fits": ", ".join(study.fits),
        "trials_a_model": planned_count(study),
        "version": study.version,
    }


def _short(row: dict[str, Any]) -> dict[str, Any]:
    """Return the columns that fit into 80 characters."""
    shown = {name: row[name] for name in ("study", "design", "tests", "models", "trials_a_model")}
    return shown | {"variants": row["variants"].count(",") + 1}


def _tests(study: Study) -> Rows:
    return [{"test_no": t.test_no, "test": t.test, "label": t.label, "trials": t.planned} for t in study.tests]


def _words(study: Study) -> Rows:
    """Yield by test and group how many words there are and, if the study says it, how many of each tier of
    provenance."""
    counts: dict[tuple[str, str], Counter[str]] = {}
    words = study.design.analyses.words(study.data)
    for word in words:
        counts.setdefault((word["test"], word["group"]), Counter())[word.get("tier", "")] += 1
    tiers = [tier for tier in dict.fromkeys(word.get("tier", "") for word in words) if tier]
    return [
        {"test": test, "group": group, "words": by_tier.total()} | {tier: by_tier[tier] for tier in tiers}
        for (test, group), by_tier in counts.items()
    ]


def _models(study: Study) -> Rows:
    return [
        {
            "model": model.model,
            "label": model.label,
            "provider": model.provider,
            "requested_model": model.requested_model,
            "frame": model.frame or None,
            "measure": model.measure or "auto",
            "settings": json.dumps(dict(model.settings)),
        }
        for model in study.models
    ]


def _variants(study: Study) -> Rows:
    variants = load_variants(study.path).items()
    about = {name: {"about": variant.about} for name, variant in variants if variant.about}
    return [{"variant": name, "trials": planned_count(variant)} | about.get(name, {}) for name, variant in variants]


def _fits(study: Study) -> Rows:
    return [
        {
            "fit": fit.name,
            "engine": fit.engine,
            "view": fit.view,
            "what": fit.formula or f"{fit.outcome} by {fit.contrast}",
            "by": ", ".join(fit.by),
        }
        for fit in study.fits.values()
    ]
