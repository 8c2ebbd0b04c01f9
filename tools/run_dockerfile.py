"""Runs the Dockerfile where there is no Docker: its lines, one by one, in a root made by debootstrap.

python tools/run_dockerfile.py [--mirror ADDRESS] [--keep FOLDER] [--then COMMAND]…

What is committed here is what COPY copies. Each command of --then is typed in the finished image; the default is a
small collection, its tables and a fit. It needs root, debootstrap, and 4 GB of disk; what it prints goes to fresh/.
"""

from __future__ import annotations

import argparse
import json
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from fresh_root import ROOT, bring, check_rights, command_in, make_root, mirror
from steps import Step, last_lines, stop

FILE, LOG = ROOT / "Dockerfile", ROOT / "fresh" / "dockerfile.txt"
THEN = (
    "slant collect --study rmiat --simulated --pilot 160",
    "slant analyze tables tokens_by_condition --format csv",
    "slant analyze --fit lme4 --format csv",
)


def instructions(text: str) -> Iterator[tuple[str, str]]:
    """(FROM, debian:bookworm-slim), (RUN, …) and so on; comments are left out, continued lines are one."""
    for line in text.replace("\\\n", " ").splitlines():
        if line.strip() and not line.startswith("#"):
            word, _, rest = line.strip().partition(" ")
            yield word.upper(), rest.strip()


def suite_of(image: str) -> str:
    """The suite of debian:SUITE or debian:SUITE-slim."""
    name, _, tag = image.partition(":")
    if name != "debian" or not tag:
        stop(f'Can\'t make a root of the image "{image}".', "It must be debian:SUITE, as in debian:bookworm-slim.")
    return tag.removesuffix("-slim")


class Image:
    """A root in which the lines so far were run."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.workdir, self.environment = folder, "/", dict[str, str]()
        self.command: list[str] = []

    def do(self, word: str, rest: str) -> None:
        if word == "ENV":
            self.environment |= dict(part.split("=", 1) for part in shlex.split(rest))
        elif word == "WORKDIR":
            self.workdir = rest
            (self.folder / rest.lstrip("/")).mkdir(parents=True, exist_ok=True)
        elif word == "COPY":
            shutil.copytree(self.folder / "fresh/main", self.folder / rest.split()[1].lstrip("/"), symlinks=True)
        elif word == "CMD":
            self.command = json.loads(rest)
        elif word == "RUN":
            self.run(rest)
        elif word != "FROM":
            stop(f"Can't run {word} of the Dockerfile: this tool knows ENV, WORKDIR, COPY, RUN, CMD.")

    def run(self, command: str) -> None:
        words = command_in(self.folder, f"cd {self.workdir} && {command}", {}, self.environment)
        with Step(f"{self.workdir} $ {command}"), LOG.open("a", encoding="utf-8") as log:
            log.write(f"$ {command}\n")
            log.flush()
            failed = subprocess.run(words, stdin=subprocess.DEVNULL, stdout=log, stderr=log, check=False).returncode
            if failed:
                log.flush()
                stop(f"It ended with status {failed}.", *last_lines(LOG, 20))


def main() -> None:
    parser = argparse.ArgumentParser(description="Run the Dockerfile's lines in a fresh Debian root.")
    parser.add_argument("--mirror", help="the address of a mirror of Debian; default: that of this machine's apt")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="keep the root there; default: throw it away")
    parser.add_argument("--then", action="append", metavar="COMMAND", help="type this in the finished image")
    asked = parser.parse_args()
    check_rights()
    lines = list(instructions(FILE.read_text("utf-8")))
    folder = asked.keep or Path(tempfile.mkdtemp(prefix="slant-image-"))
    LOG.parent.mkdir(exist_ok=True)
    LOG.write_text("")
    try:
        make_root(folder, suite_of(lines[0][1]), asked.mirror or mirror(), LOG)
        bring(folder)
        image = Image(folder)
        for word, rest in lines:
            image.do(word, rest)
        for command in [shlex.join(image.command), *(asked.then or THEN)]:
            image.run(command)
    finally:
        if not asked.keep:
            shutil.rmtree(folder)
    sys.stdout.write(LOG.read_text("utf-8")[-1500:])


if __name__ == "__main__":
    main()
