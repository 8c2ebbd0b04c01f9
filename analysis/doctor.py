"""Check what slant needs and what this machine has, one row per thing. It works without R and without rpy2."""

from __future__ import annotations

import csv
import importlib.metadata
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from slant.analysis.bridge import r_home
from slant.analysis.bridge.r_packages import how_to_install, r_folder, r_package_list
from slant.collector.errors import RError, SlantError, as_typed
from slant.collector.keep.database import fetched
from slant.collector.terminal import count_text

if TYPE_CHECKING:
    from slant.analysis.calls.in_worker import WorkerReport

from slant.collector.system.operating_system import user_caches

Status = Literal["ok", "warn", "missing"]
_PATIENCE_S = 60
_OF_CALLS = ("analysis", "topics", "bayes", "pooling")
"""Say what R's packages are needed for on a machine that fits for another one."""


@dataclass(frozen=True)
class Check:
    """Hold one check: `status` is "missing" if slant can't do its work, "warn" if only one convenience is lacking."""

    name: str
    status: Status
    found: str
    needed: str
    how_to_fix: str = ""


def checks(db: str | Path | None = None) -> list[Check]:
    """Return the checks, the basic ones first; `db` is a database to check, None for none."""
    r = r_home.r_installation()
    version = ".".join(map(str, sys.version_info[:3]))
    fix = "" if sys.version_info >= (3, 11) else "Make .venv with a newer Python: PYTHON=python3.11 make setup"
    rows = [Check("Python", "missing" if fix else "ok", version, ">= 3.11", fix), *_python_packages(), _r(r), _rpy2(r)]
    if r is not None and not r.is_too_old:
        rows += [_r_libraries(r), *_r_packages(r), _compiler(r)]
    if db is not None:
        rows.append(_database(Path(db)))
    return rows


@dataclass(frozen=True)
class WorkerCheck:
    """Describe one worker of a Dask cluster. cores: of its machine; threads: how many calls it answers at a time.
    memory_gb: its limit. packages: R packages that fits need, with their versions. problem: how it differs from this
    machine, or what it lacks; "" if nothing is wrong.
    """

    worker: str
    host: str
    r: str
    packages: str
    cores: int
    threads: int
    memory_gb: float
    python: str
    slant: str
    problem: str


def cluster_checks(address: str) -> list[WorkerCheck]:
    """Compare every worker of the cluster with this machine; RError if the cluster can't be reached."""
    from slant.analysis.calls.cluster import worker_reports
    from slant.analysis.calls.in_worker import versions_there

    packages = tuple(row["package"] for row in r_package_list() if row["needed_for"] in _OF_CALLS)
    try:
        here = {name: version for name, version in versions_there(packages).items() if version is not None}
    except RError:  # without R here, there is nothing to compare with
        here = {}
    return [_worker_check(report, here) for report in worker_reports(address, packages)]


def _worker_check(report: WorkerReport | str, here: Mapping[str, str]) -> WorkerCheck:
    from slant.analysis.calls.in_worker import R_CODE, difference

    if isinstance(report, str):
        worker, _, problem = report.partition(": ")
        return WorkerCheck(worker, "", "", "", 0, 0, 0.0, "", "", problem)
    versions = {**report.versions, R_CODE: report.r_code}
    # what this machine lacks, too, is not sent there
    missing = [] if here else [name for name, version in report.versions.items() if version is None]
    words = report.problem or difference(versions, here) or (f"no {', '.join(missing)}" if missing else "")
    named = [f"{name} {version}" for name, version in report.versions.items() if name != "R" and version]
    r = report.versions.get("R") or "none"
    of_worker = (report.cores, report.threads, report.memory_gb, report.python, report.slant)
    return WorkerCheck(report.worker, report.host, r, ", ".join(named), *of_worker, words)


def _python_packages() -> list[Check]:
    """Return the requirements in slant's own metadata, without extras."""
    try:
        required = importlib.metadata.requires("slant") or []
    except importlib.metadata.PackageNotFoundError:
        return [Check("slant", "warn", "not installed", "any", "In the checkout: make setup")]
    rows = [Check("slant", "ok", importlib.metadata.version("slant"), "any")]
    for line in required:
        match = re.match(r"([\w.-]+)\s*(?:>=([\d.]+))?", line)
        if match and "extra ==" not in line:
            rows.append(_python_package(match.group(1), match.group(2) or "0"))
    return rows


def _python_package(name: str, at_least: str) -> Check:
    version = _installed(name)
    is_good = version is not None and r_home.version_numbers(version) >= r_home.version_numbers(at_least)
    fix = "" if is_good else f"Type: {sys.executable} -m pip install '{name}>={at_least}'"
    return Check(f"Python package {name}", "ok" if is_good else "missing", version or "none", f">= {at_least}", fix)


def _installed(name: str) -> str | None:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None


def _r(r: r_home.RInstallation | None) -> Check:
    if r is None:
        return Check("R", "missing", "none", ">= 4.1", f"Install R. {r_home.HOW_TO_INSTALL_R}")
    installed = f"{r.version_text} in {r.home}"
    if r.is_too_old:
        return Check("R", "missing", installed, ">= 4.1", f"Install a newer R. {r_home.HOW_TO_INSTALL_R}")
    return Check("R", "ok", installed, ">= 4.1")


def _rpy2(r: r_home.RInstallation | None) -> Check:
    """Check both parts of rpy2 against this machine's R: a wrong one ends in a symbol that R does not have."""
    interface, objects = _installed("rpy2-rinterface"), _installed("rpy2-robjects")
    installed = f"{interface or 'none'}, rpy2-robjects {objects or 'none'}"
    if r is None or r.is_too_old:
        status: Status = "warn" if interface else "missing"
        return Check("rpy2-rinterface", status, installed, "one that fits R", "Install R first.")
    needed = " ".join(r_home.rpy2_requirements(r.version))
    is_good = interface and objects and r_home.rinterface_fits(r_home.version_numbers(interface), r.version)
    fix = "" if is_good else r_home.how_to_install_rpy2(r)
    return Check("rpy2-rinterface", "ok" if is_good else "missing", installed, needed, fix)


def _r_libraries(r: r_home.RInstallation) -> Check:
    """Say where R's packages are looked for: a profile that is not run may be why one of them is missing."""
    found = r_home.libraries(r)
    profile = r_home.unread_profile()
    note = f"slant runs no profile ({profile}). To add a library: export R_LIBS=FOLDER" if profile else ""
    return Check("R libraries", "ok" if found else "missing", ", ".join(found) or "none", "any", note)


def _r_packages(r: r_home.RInstallation) -> list[Check]:
    wanted = r_package_list()
    try:
        versions = _versions_in_r(r, [row["package"] for row in wanted])
    except (OSError, subprocess.SubprocessError) as error:
        fix = f"See the output of: {r.rscript} --version"
        return [Check("R packages", "missing", f"Rscript failed: {error}", "a working R", fix)]
    return [_r_package(row, versions.get(row["package"], "")) for row in wanted]


def _versions_in_r(r: r_home.RInstallation, packages: list[str]) -> dict[str, str]:
    """Return {package: version, "" if it is not installed}, from one call of Rscript."""
    command = [str(r.rscript), *r_home.OPTIONS, str(r_folder() / "package_versions.R"), *packages]
    environment = {**os.environ, **r_home.startup_environment()}
    answer = subprocess.run(command, capture_output=True, text=True, check=True, timeout=_PATIENCE_S, env=environment)
    return {row["package"]: row["version"] for row in csv.DictReader(answer.stdout.splitlines())}


def _r_package(wanted: dict[str, str], found: str) -> Check:
    is_good = bool(found) and r_home.version_numbers(found) >= r_home.version_numbers(wanted["at_least"])
    status: Status = "ok" if is_good else "missing" if wanted["needed_for"] == "analysis" else "warn"
    # What is here and too old comes from Debian, which has no newer one.
    how = how_to_install(wanted["package"], "" if found else wanted["debian"])
    fix = "" if is_good else f"Without it: {wanted['costs']}. To have it, type: {how}"
    return Check(f"R package {wanted['package']}", status, found or "none", f">= {wanted['at_least']}", fix)


def _compiler(r: r_home.RInstallation) -> Check:
    """Check the compiler for Bayesian models, whose code is compiled once; compiled models run without one."""
    needed = "one, or a compiled model in the cache"
    compiler = compiler_of(r)
    if compiler is not None or any(cache_folder().glob("stan-*.rds")):
        return Check("C++ compiler", "ok", compiler or "none, but there are compiled models", needed)
    has_apt = shutil.which("apt-get")
    fix = "type: sudo apt-get install g++ make" if has_apt else "install a C++ compiler and make."
    return Check("C++ compiler", "warn", "none", needed, f"For Bayesian models {fix}")


def _database(path: Path) -> Check:
    name, needed = f"database {path}", "one that slant made"
    if not path.exists():
        hint = f"To make one: collect --study rmiat --simulated --db {as_typed(path)}"
        return Check(name, "warn", "none yet", needed, hint)
    try:
        (count,) = fetched(path, "SELECT count(*) FROM attempts", patience_s=2.0)[0]
    except SlantError as error:
        what, *details = str(error).splitlines()
        return Check(name, "missing", what, needed, " ".join(line.strip() for line in details))
    return Check(name, "ok", count_text(count, "attempt"), needed)


_COMPILER_PATIENCE_S = 20


def compiler_of(r: r_home.RInstallation) -> str | None:
    """Return the path of R's configured compiler, None if it or make is missing."""
    command = [str(r.rscript.with_name("R")), "CMD", "config", "CXX14"]
    try:
        words = subprocess.run(
            command, capture_output=True, text=True, check=False, timeout=_COMPILER_PATIENCE_S
        ).stdout.split()
    except (OSError, subprocess.SubprocessError):
        return None
    return shutil.which(words[0]) if words and shutil.which("make") else None


def cache_folder() -> Path:
    """Return the folder that tools::R_user_dir("slant", "cache") names in R."""
    if cache_home := os.environ.get("R_USER_CACHE_DIR") or os.environ.get("XDG_CACHE_HOME"):
        return Path(cache_home) / "R" / "slant"
    return Path.home() / user_caches() / "R" / "slant"
