"""Record which software made a sealed study: Python packages as pip constraints, R packages as renv.lock, the
platform."""

from __future__ import annotations

import functools
import json
import platform
import re
from collections.abc import Iterable, Iterator, Mapping
from importlib import metadata
from pathlib import Path

import polars as pl

from slant.analysis.bridge.worker import versions_now
from slant.collector.provenance.bibtex import NO_R_PACKAGE
from slant.collector.system.code_version import current_code_version, git_commit
from slant.collector.system.files import write_file

_REQUIRED = re.compile(r"^[A-Za-z0-9][A-Za-z0-9._-]*")


@functools.cache
def python_versions() -> dict[str, str]:
    """Return the packages that slant needs here, and those that they need, by name."""
    found: dict[str, str] = {}
    todo = ["slant"]
    while todo:
        name = re.sub(r"[-_.]+", "-", todo.pop()).lower()
        if name in found:
            continue
        try:
            distribution = metadata.distribution(name)
        except metadata.PackageNotFoundError:
            continue
        found[name] = distribution.version
        todo += _required(distribution)
    return dict(sorted((name, version) for name, version in found.items() if name != "slant"))


def _required(distribution: metadata.Distribution) -> Iterator[str]:
    for line in distribution.requires or ():
        if "extra ==" not in line and (match := _REQUIRED.match(line)):
            yield match[0]


def r_versions(frames: Iterable[pl.DataFrame], packages: tuple[str, ...]) -> dict[str, str]:
    """Return R and its packages: those that made the results, according to the results, else those here. Of several
    versions it is the last by number; empty if there is no R and no result, or no package is requested."""
    made: dict[str, str] = dict(versions_now(packages) or versions_now(()) or {}) if packages else {}
    for frame in frames:
        if "versions" in frame.columns:
            for text in frame["versions"].drop_nulls().unique().sort():
                made |= {name: str(version) for name, version in json.loads(text).items()}
    return {name: made[name] for name in sorted(made) if name not in NO_R_PACKAGE}


def software(r: Mapping[str, str]) -> dict[str, str]:
    """Return the versions behind the numbers, by name."""
    python = python_versions()
    return {
        "slant": current_code_version(),
        "slant commit": git_commit() or "unknown",
        "Python": platform.python_version(),
        **{name: python[name] for name in ("duckdb", "polars") if name in python},
        **r,
    }


def write_environment(folder: Path, r: Mapping[str, str]) -> None:
    folder.mkdir()
    lines = [f"{name}=={version}\n" for name, version in python_versions().items()]
    write_file(folder / "constraints.txt", "".join(lines))
    packages = {
        name: {"Package": name, "Version": version, "Source": "Repository"}
        for name, version in r.items()
        if name != "R"
    }
    if r:
        lock = {"R": {"Version": r["R"], "Repositories": []}, "Packages": packages}
        write_file(folder / "renv.lock", json.dumps(lock, indent=2) + "\n")
    about = {"system": platform.system(), "machine": platform.machine(), "software": software(r)}
    write_file(folder / "platform.json", json.dumps(about, indent=2) + "\n")
