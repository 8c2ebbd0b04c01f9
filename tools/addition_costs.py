"""Print how many files each kind of addition has touched, from the history of this repository.

    python3 tools/addition_costs.py [--since 2026-11-01] [--each] [--kind engine]

An addition is found by its mark: a new row of `inst/engines.csv` is an engine, a new folder of `collector/designs/` a
design, and so on (`MARKS`). A file counts if a commit within `--hours` (6) of the mark added a line with the addition's
name to it, or is a new file of that name; so a commit that holds two additions counts each by itself. A name that is
an everyday word counts too many files: look at `--each`. Medians are given with tests and documentation and without.
"""

from __future__ import annotations

import argparse
import functools
import re
import statistics
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MARKS = {
    "setting": (r"^collector/request/record\.py$", r"^    (\w+): Annotated\["),
    "option": (r"^(collector/(cli|commands/\w+)|analysis/cli/\w+)\.py$", r'"(--[a-z][a-z-]+)"'),
    "column": (r"^sql/columns\.csv$", r"^(\w+),"),
    "engine": (r"^inst/engines\.csv$", r"^(\w+),"),
    "check": (r"^analysis/.*checks\.(?:csv|toml)$", r"^(?:\[(?=\w+\]$))?([a-z]\w+)[],]"),
    "design": (r"^collector/designs/(\w+)/design\.py$", None),
    "table": (r"^sql/views/2_tables/(\w+)\.sql$", None),
    "figure": (r"^inst/figures\.csv$", r"^(\w+),"),
    "layout": (r"^collector/importing/layouts/(\w+)\.py$", None),
    "provider": (r"^collector/providers/(\w+)\.py$", None),
}
"""By kind: which file shows an addition, and which of its new lines; without a line, a new file does, by its name."""
BESIDE_SOURCE = re.compile(
    r"^(tests/|man/|vignettes/|bench/|docs/)|\.md$|^\.|^CITATION|^NAMESPACE$|^constraints\.txt$|^renv\.lock$"
)


@dataclass
class FileChange:
    path: str
    is_new: bool = False
    added: list[str] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)

    @functools.cached_property
    def words(self) -> frozenset[str]:
        """The words of the new lines, spelled with underscores."""
        return frozenset(re.findall(r"\w+", "\n".join(self.added).replace("-", "_")))


@dataclass
class Commit:
    sha: str
    time_s: int
    files: list[FileChange] = field(default_factory=list)


@dataclass(frozen=True)
class Addition:
    kind: str
    name: str
    sha: str
    files: tuple[str, ...]

    @property
    def source_files(self) -> tuple[str, ...]:
        return tuple(path for path in self.files if not BESIDE_SOURCE.search(path))


def commits(since: str) -> list[Commit]:
    """Read the commits since a date with their added and removed lines, oldest first."""
    command = ["git", "log", "--reverse", "--no-merges", "--no-renames", "-p", "-U0", f"--since={since}"]
    text = subprocess.run(
        [*command, "--format=%x01%H %ct"], cwd=ROOT, capture_output=True, check=True, text=True, errors="replace"
    ).stdout
    return [_commit(part) for part in text.split("\x01")[1:]]


def _commit(text: str) -> Commit:
    first, *lines = text.split("\n")
    sha, time_s = first.split()
    commit = Commit(sha[:8], int(time_s))
    for line in lines:
        if line.startswith("diff --git "):
            commit.files.append(FileChange(line.rsplit(" b/", 1)[-1]))
        elif line.startswith("new file mode") and commit.files:
            commit.files[-1].is_new = True
        elif line.startswith("+") and not line.startswith("+++ "):
            commit.files[-1].added.append(line[1:])
        elif line.startswith("-") and not line.startswith("--- "):
            commit.files[-1].removed.append(line[1:])
    return commit


def marked_names(kind: str, change: FileChange) -> Iterator[str]:
    """Yield the names of the additions of a kind that a change of one file shows."""
    path, pattern = MARKS[kind]
    place = re.search(path, change.path)
    if place and pattern is None and change.is_new and not place[1].startswith("_"):
        yield place[1]
    elif place and pattern is not None and not change.is_new:
        before = {found for line in change.removed for found in re.findall(pattern, line)}
        yield from dict.fromkeys(
            found for line in change.added for found in re.findall(pattern, line) if found not in before
        )


def additions(kind: str, history: list[Commit], hours: float) -> Iterator[Addition]:
    """Yield each addition of a kind once, with the files that carried its name at that time."""
    known: set[str] = set()
    for commit in history:
        for name in [name for change in commit.files for name in marked_names(kind, change)]:
            if name in known:
                continue
            known.add(name)
            near = [other for other in history if abs(other.time_s - commit.time_s) <= hours * 3600]
            yield Addition(kind, name, commit.sha, tuple(sorted(_files_with(name, near))))


def _files_with(name: str, near: list[Commit]) -> set[str]:
    # An option is named with hyphens in the shell and with underscores in Python and R.
    word = name.strip("-").replace("-", "_")
    return {
        change.path
        for commit in near
        for change in commit.files
        if word in change.words or (change.is_new and word in Path(change.path).stem.split("_", 1))
    }


def print_costs(found: dict[str, list[Addition]], each: bool) -> None:
    """Print a row per kind, or per addition, as tab-separated columns."""
    if each:
        print("kind", "name", "commit", "files", "files_of_source", sep="\t")
        for added in (added for kind in found.values() for added in kind):
            print(added.kind, added.name, added.sha, len(added.files), len(added.source_files), sep="\t")
        return
    print("kind", "additions", "files_median", "files_max", "files_of_source_median", "files_of_source_max", sep="\t")
    for kind, rows in found.items():
        everything, source = ([len(row.files) for row in rows], [len(row.source_files) for row in rows])
        if rows:
            numbers = (statistics.median(everything), max(everything), statistics.median(source), max(source))
            print(kind, len(rows), *(f"{number:g}" for number in numbers), sep="\t")


def main() -> None:
    """Print the table that the arguments ask for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--since", default="2000-01-01", help="Leave out commits before this date.")
    parser.add_argument("--hours", type=float, default=6, help="Count commits this far from the mark (default: 6).")
    parser.add_argument("--kind", choices=MARKS, help="Print one kind only.")
    parser.add_argument("--each", action="store_true", help="Print a row for each addition.")
    wanted = parser.parse_args()
    history = commits(wanted.since)
    kinds = [wanted.kind] if wanted.kind else list(MARKS)
    print_costs({kind: list(additions(kind, history, wanted.hours)) for kind in kinds}, wanted.each)


if __name__ == "__main__":
    main()
