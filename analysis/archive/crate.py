"""Write `ro-crate-metadata.json`: what the archive holds and which command made it, for machines (RO-Crate, by
rocrate)."""

from __future__ import annotations

import json
import mimetypes
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from slant.analysis.archive.layout import CRATE, MANIFEST
from slant.analysis.archive.zip_writer import member_names, sha256_of
from slant.collector.system.files import write_file

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
    crate.root_dataset["conformsTo"] = crate.add(
        entities.ContextEntity(
            crate,
            _PROCESS_RUN,
            properties={
                "@type": ["CreativeWork", "Profile"],
                "name": "Process Run Crate",
                "version": _PROCESS_RUN.rpartition("/")[2],
            },
        )
    )
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
    tool = crate.add(
        entities.ContextEntity(
            crate,
            "#slant",
            properties={
                "@type": "SoftwareApplication",
                "name": "slant",
                "version": software["slant"],
                "softwareVersion": software["slant"],
                "url": {"@id": "README.md"},  # it says what this is, and how to replay it
            },
        )
    )
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
