"""Makes what a release has, into dist/: the wheel, the source archive and the R package.

python tools/dist.py [--tag v0.1.0]    --tag: stops if a file names another version than the tag

All three are made from what git has here, not from what else lies in the folder. Nothing is published.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from steps import Step, last_lines, run, stop

ROOT = Path(__file__).resolve().parent.parent
DIST = ROOT / "dist"
VERSIONS = {
    "pyproject.toml": r'^version = "(.+)"$',
    "DESCRIPTION": r"^Version: (.+)$",
    "CITATION.cff": r"^version: (.+)$",
}
"""The files that name the version, and the line that does."""


def versions() -> dict[str, str]:
    """Return the version that each file names; "" if it names none."""
    found = {name: re.search(line, (ROOT / name).read_text("utf-8"), re.MULTILINE) for name, line in VERSIONS.items()}
    return {name: match[1] if match else "" for name, match in found.items()}


def checked_version(tag: str | None) -> str:
    """Return the one version that all files name, which must be the tag's."""
    named = versions()
    if len(set(named.values())) != 1:
        stop("These files name different versions.", *(f"{name}: {version}" for name, version in named.items()))
    (version,) = set(named.values())
    if tag is not None and tag != f"v{version}":
        stop(f"The tag is {tag}, but {', '.join(named)} name {version}.", f"The tag of this version: v{version}")
    return version


def main() -> None:
    parser = argparse.ArgumentParser(description="Make wheel, source archive and R package into dist/.")
    parser.add_argument("--tag", help="the tag that the version must agree with, as v0.1.0")
    version = checked_version(parser.parse_args().tag)
    shutil.rmtree(DIST, ignore_errors=True)
    DIST.mkdir()
    with tempfile.TemporaryDirectory(prefix="slant-dist-") as folder:
        copy, log = Path(folder) / "slant", Path(folder) / "log.txt"
        log.touch()
        copy.mkdir()
        archive = subprocess.run(["git", "-C", ROOT, "archive", "HEAD"], stdout=subprocess.PIPE, check=True).stdout
        subprocess.run(["tar", "-x", "-C", copy], input=archive, check=True)
        build = [sys.executable, "-m", "hatchling", "build", "-t", "sdist", "-t", "wheel", "-d", str(DIST)]
        make("dist: the source archive and the wheel", build, copy, log)
        make("dist: the R package", ["R", "CMD", "build", "--no-manual", str(copy)], DIST, log)
    for file in sorted(DIST.iterdir()):
        sys.stderr.write(f"  dist/{file.name}: {file.stat().st_size / 1e6:.1f} MB\n")
    sys.stderr.write(f"Version {version}. To try the wheel: pip install dist/*.whl in an environment of its own.\n")


def make(step: str, command: list[str], folder: Path, log: Path) -> None:
    with Step(step):
        failed = run(command, log, folder=folder)
    if failed:
        stop(f"Status {failed}: {' '.join(command[:3])}", *last_lines(log))


if __name__ == "__main__":
    main()
