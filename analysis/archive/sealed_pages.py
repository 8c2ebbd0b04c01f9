"""Write the pages of an archive, for people and machines: README.md, CITATION.cff, replay.json,
ro-crate-metadata.json."""

from __future__ import annotations

import json
import mimetypes
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import polars as pl

from slant.analysis.archive import layout
from slant.analysis.archive.layout import CRATE, MANIFEST, member_names, sha256_of
from slant.analysis.archive.sealed_data import Contents, versions_in
from slant.analysis.pages.provenance import describe_methods
from slant.collector.errors import SlantError
from slant.collector.keep.database import reading
from slant.collector.keep.frames import frame_of
from slant.collector.keep.view_heads import read_view_heads
from slant.collector.system.files import write_file
from slant.collector.templates import template_environment

FORMAT = 1


def add_documents(contents: Contents, authors: Sequence[str], license: str | None) -> None:
    study, folder = contents.study, contents.folder
    contents.write(layout.REPLAY, json.dumps(_replay_record(contents), ensure_ascii=False, indent=1) + "\n")
    with reading(contents.copy) as connection:
        runs = frame_of(connection.table("runs").order("started_at, run_id"))
    methods = describe_methods(contents.copy, runs["run_id"].to_list())
    heads = read_view_heads()
    data_files = [
        {
            **asdict(file),
            "purpose": heads[file.view].purpose if file.view in heads else "",
            "grain": " × ".join(heads[file.view].grain) if file.view in heads else "row of the view",
        }
        for file in contents.data
    ]
    about = {
        "title": study.title, "study": study.name, "source": study.source,
        "software": contents.versions, "notes": contents.notes, "license": license, "authors": list(authors),
        "kinds_of_answers": _kinds_of_answers(runs["source"].unique().sort().to_list()), "methods": methods,
        "left_out": [f"the texts of {kind}" for kind in contents.without], "data_files": data_files,
        "changed_journals": [journal for journal in contents.journals if journal.n_changed],
        "seeds": ", ".join(sorted({f"seed {seed}" for seed in runs["seed"].drop_nulls()})) or "none (imported)",
        "run_times": contents.run_times, "results": sorted(contents.results, key=lambda row: row["file"]),
        "references": list(dict.fromkeys(ref for text in methods for ref in text.references)),
        "platform": ", ".join(runs["machine"].drop_nulls().unique().sort().to_list()) or "unknown",
        "versions": versions_in(contents.copy), "slant_version": contents.versions["slant"],
        "abstract": f'Answers of language models to the study "{study.name}", with tables, fits and figures.',
    }  # fmt: skip
    contents.write(layout.CITATION, _page(layout.CITATION, about))
    megabytes = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) / 1e6
    contents.write(layout.README, _page(layout.README, {**about, "megabytes": f"{megabytes:,.1f}"}))
    if problem := _add_crate(contents, runs, license):  # the last one: it describes all the others
        contents.notes.append(problem)


def _replay_record(contents: Contents) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "study": contents.study.name,
        "versions": contents.versions,
        "left_out": list(contents.without),
        "journals": [asdict(journal) for journal in contents.journals],
        "data": [{"view": file.view, "csv": file.csv, "parquet": file.parquet} for file in contents.data],
        "steps": [step.as_json() for step in contents.steps],
        "figures": any((contents.folder / layout.FIGURES).glob("*")),
    }


def _kinds_of_answers(sources: Sequence[str]) -> str:
    if sources == ["collected"]:
        return "All answers are of models that were asked."
    return f"The answers are {' and '.join(sources)}; each table says in its column `source` which it shows."


def _add_crate(contents: Contents, runs: pl.DataFrame, license: str | None) -> str | None:
    journals = {Path(journal.name).stem: f"{layout.JOURNAL}/{journal.name}" for journal in contents.journals}
    actions = [
        Action(
            f"run {run['run_id']}",
            run["command"] or "",
            [],
            [journals[run["run_id"]]],
            *(at.isoformat() if at else None for at in (run["started_at"], run["finished_at"])),
        )
        for run in runs.to_dicts()
        if run["run_id"] in journals
    ]
    of_command: dict[str, list[str]] = {}
    for row in contents.results:
        of_command.setdefault(row["command"], []).append(row["file"])
    actions += [Action(command, command, list(journals.values()), files) for command, files in of_command.items()]
    times = [run["finished_at"] or run["started_at"] for run in runs.to_dicts()]
    root: dict[str, Any] = {
        "name": contents.study.title,
        "description": f'Answers of language models to the study "{contents.study.name}", with tables and figures.',
        # of the answers, not of this file: the same database gives the same bytes
        "datePublished": max(at for at in times if at).date().isoformat() if any(times) else "1980-01-01",
        **({"license": license} if license else {}),
    }
    try:
        return write_crate(contents.folder, root, contents.versions, actions)
    except (OSError, ValueError, TypeError) as error:
        raise SlantError(f"Can't write {layout.CRATE}: {error}.") from error


def _page(name: str, values: Mapping[str, Any]) -> str:
    """Return the text of one page by the name of its template. What models and studies wrote stays on one line and in
    its cell."""
    environment = template_environment(
        "slant.analysis.archive",
        is_html=False,
        finalize=lambda value: " ".join(value.split()).replace("|", "\\|") if isinstance(value, str) else value,
        filters={"tojson": lambda value: json.dumps(value, ensure_ascii=False)},
        keep_trailing_newline=True,
    )
    return environment.get_template(f"{name}.j2").render(**values)


_PROCESS_RUN = "https://w3id.org/ro/wfrun/process/0.6"
_MORE_TYPES = {
    ".jsonl": "application/jsonl",
    ".toml": "application/toml",
    ".parquet": "application/vnd.apache.parquet",
    ".cff": "application/yaml",
    ".lock": "application/json",
    ".md": "text/markdown",
}


@dataclass(frozen=True)
class Action:
    """Hold a command that was carried out: its name, its input and output files, and when it ran (ISO)."""

    name: str
    command: str
    objects: Sequence[str]
    results: Sequence[str]
    begun: str | None = None
    ended: str | None = None


def write_crate(folder: Path, root: dict[str, Any], software: dict[str, str], actions: Sequence[Action]) -> str | None:
    """Describe all files of `folder`; return why that could not be done (without rocrate), or None."""
    try:
        rocrate = import_module("rocrate.rocrate")
        entities = import_module("rocrate.model.contextentity")
    except ModuleNotFoundError:
        return f'{CRATE} was left out: it takes the Python package rocrate. To have it: pip install "slant[archive]"'
    crate = rocrate.ROCrate()
    for name, value in root.items():
        crate.root_dataset[name] = value
    version = _PROCESS_RUN.rpartition("/")[2]
    profile = {"@type": ["CreativeWork", "Profile"], "name": "Process Run Crate", "version": version}
    crate.root_dataset["conformsTo"] = crate.add(entities.ContextEntity(crate, _PROCESS_RUN, properties=profile))
    files = {}
    for name in member_names(folder):
        if name in (MANIFEST, CRATE):
            continue
        about = {
            "name": name,
            "encodingFormat": _MORE_TYPES.get(Path(name).suffix) or mimetypes.guess_type(name)[0] or "text/plain",
            "contentSize": str((folder / name).stat().st_size),
            "sha256": sha256_of(folder / name),
        }
        files[name] = crate.add_file(folder / name, name, properties=about)
    versions = {"version": software["slant"], "softwareVersion": software["slant"]}
    # README.md says what this is, and how to replay it
    slant = {"@type": "SoftwareApplication", "name": "slant", **versions, "url": {"@id": "README.md"}}
    tool = crate.add(entities.ContextEntity(crate, "#slant", properties=slant))
    for number, action in enumerate(actions, 1):
        about = {"name": action.name, "description": action.command}
        about |= {name: at for name, at in (("startTime", action.begun), ("endTime", action.ended)) if at}
        made = {"object": _of(files, action.objects), "result": _of(files, action.results)}
        known = {name: each for name, each in made.items() if each}
        crate.add_action(tool, identifier=f"#action-{number}", properties=about, **known)
    text = json.dumps(crate.metadata.generate(), ensure_ascii=False, indent=1)
    write_file(folder / CRATE, text + "\n")
    return None


def _of(files: dict[str, Any], names: Sequence[str]) -> Any:
    """Return the entities of these files; a single one by itself, as RO-Crate requires for every property."""
    entities = [files[name] for name in names if name in files]
    return entities[0] if len(entities) == 1 else entities
