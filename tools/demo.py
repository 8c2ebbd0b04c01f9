"""A simulated RM-IAT, from the first question to the report, by the commands that a person types. Needs no key.

One screen: each command, what came of it, how long it took, one table. All else that they print goes to demo/*.txt.
The report is opened at the end if there is a desktop.

python tools/demo.py [--serve ADDRESS:PORT]    also shows report and figures to a browser, until Ctrl-C (in a container)
"""

from __future__ import annotations

import argparse
import csv
import functools
import http.server
import os
import shlex
import shutil
import subprocess
import sys
import time
import webbrowser
from dataclasses import dataclass
from pathlib import Path

from steps import Step, last_lines, stop

from slant.collector.example_models import EXAMPLE_MODEL

FOLDER = Path("demo")
DB, REPORT, FIGURES = FOLDER / "demo.duckdb", FOLDER / "report.html", FOLDER / "figures"
N_COLUMNS = 100


@dataclass(frozen=True)
class Part:
    """A command, the file that gets its rows, and words of those lines of its messages that say what came of it."""

    command: str
    rows: str
    telling: tuple[str, ...] = ()


PARTS = (
    Part(f"collect --study rmiat --simulated --db {DB}", "collect.txt"),
    Part(f"analyze --fit lme4 --study rmiat --db {DB}", "lme4.txt", (" fits: ", "Made with ")),
    Part(f"analyze --fit effect_size --study rmiat --db {DB}", "effect_size.txt", (" fits: ", "Made with ")),
    Part(f"analyze tables --db {DB}", "tables.txt"),
    Part(f"analyze compare --db {DB} --format csv", "compare.csv", (" numbers: ",)),
    Part(f"analyze figures --db {DB} --out {FIGURES}", "figures.txt"),
    Part(f"analyze report --db {DB} --out {REPORT}", "report.txt"),
)


def main() -> None:
    parser = argparse.ArgumentParser(description="Run the demo.")
    parser.add_argument("--serve", metavar="ADDRESS:PORT", help="show report and figures to a browser, until Ctrl-C")
    served = parser.parse_args().serve
    os.chdir(Path(__file__).resolve().parent.parent)
    os.environ["PATH"] = os.pathsep.join([str(Path(".venv/bin").resolve()), os.environ["PATH"]])
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir()
    begun = time.monotonic()
    say("A Reasoning Model IAT: 64,600 questions to five simulated models behind a server on this machine.")
    for part in PARTS:
        show(part)
    show_effect_sizes(FOLDER / "compare.csv")
    show_next(time.monotonic() - begun)
    if served:
        serve(*served.split(":"))
    elif has_desktop():
        webbrowser.open(REPORT.resolve().as_uri())


def has_desktop() -> bool:
    """Return whether a person sits in front of a desktop here, so that a browser can open a page."""
    shown = sys.platform == "darwin" or any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY"))
    return shown and sys.stderr.isatty() and not os.environ.get("CI")


def serve(address: str, port: str) -> None:
    """Show a copy of the report and the figures, and nothing else of this folder, until Ctrl-C."""
    shown = FOLDER / "shown"
    shown.mkdir()
    shutil.copy(REPORT, shown / "index.html")
    shutil.copytree(FIGURES, shown / "figures")
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=str(shown))
    with http.server.ThreadingHTTPServer((address, int(port)), handler) as server:
        say(f"The report is at localhost:{server.server_port}, for a browser of this machine (Ctrl-C ends it).")
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            say("")


def say(line: str) -> None:
    """A line, at most as wide as a terminal is."""
    sys.stderr.write((line if len(line) <= N_COLUMNS else line[: N_COLUMNS - 2] + " …") + "\n")
    sys.stderr.flush()


def show(part: Part) -> None:
    rows, messages = FOLDER / part.rows, (FOLDER / part.rows).with_suffix(".messages.txt")
    say("")
    with Step(f"$ {part.command} > {rows}"), rows.open("wb") as out, messages.open("wb") as err:
        command = shlex.split(part.command)
        status = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=out, stderr=err, check=False).returncode
    if status:
        sys.stderr.write("\n".join(last_lines(messages)) + "\n")
        what = f"The demo can't go on: this command ended with status {status} (above)."
        stop(what, "To see what this machine lacks: .venv/bin/analyze doctor")
    for line in came_of(part, messages.read_text("utf-8").splitlines()):
        say(f"  {line}")


def came_of(part: Part, messages: list[str]) -> list[str]:
    """What a person would want to know of it."""
    if part.command.startswith("collect"):
        return answers(FOLDER / part.rows)
    if "figures" in part.command:
        return [f"{len(list(FIGURES.glob('*.svg')))} figures of the paper, as SVG and PNG"]
    if "report" in part.command:
        return [f"one page with everything, {REPORT.stat().st_size / 1e6:.1f} MB, for any browser"]
    said = [line for line in messages if any(words in line for words in part.telling)]
    return said or [f"{len((FOLDER / part.rows).read_text('utf-8').splitlines()):,} lines"]


def answers(file: Path) -> list[str]:
    """How many questions were answered and refused, from the table of counts that `collect` prints: a model a line."""
    lines = [line.split() for line in file.read_text("utf-8").splitlines() if line.strip()]
    names = lines[0]
    counts = {
        name: sum(int(line[names.index(name)]) for line in lines[1:] if len(line) > 1)
        for name in ("asked", "answered", "refused", "failed")
    }
    return [", ".join(f"{count:,} {name}" for name, count in counts.items())]


def show_effect_sizes(file: Path) -> None:
    """Cohen's d of each test and model as it came out of the simulated answers, and as the paper prints it."""
    with file.open(encoding="utf-8", newline="") as lines:
        rows = [row for row in csv.DictReader(lines) if row["table"] == "S3" and row["quantity"] == "d"]
    models, tests = (list(dict.fromkeys(row[name] for row in rows)) for name in ("model", "test"))
    cells = {(row["test"], row["model"]): compared_with_print(row) for row in rows}
    say("")
    say("Cohen's d of the tokens, incompatible against compatible: simulated (in brackets: the paper's)")
    say("".join([f"{'':20}", *(f"{model:>{width(model)}}" for model in models)]))
    for test in tests:
        say("".join([f"{test:20}", *(f"{cells.get((test, model), ''):>{width(model)}}" for model in models)]))


def compared_with_print(row: dict[str, str]) -> str:
    return f"{float(row['recomputed']):.2f} ({float(row['printed']):.2f})"


def width(model: str) -> int:
    return max(len(model), len("-0.00 (-0.00)")) + 2


OPEN_REPORT = "Open the report in a browser: "


def show_next(seconds: float) -> None:
    for line in (
        "",
        f"Every row above is simulated; no model was asked. Done in {seconds:.0f} s.",
        f"{OPEN_REPORT}{path_to_show(REPORT)}",
        f"The figures: {path_to_show(FIGURES)}",
        "The rest of what was printed: demo/*.txt, demo/compare.csv",
        "",
        "What to try next, with .venv/bin on your path:",
        f"  analyze check --study rmiat --db {DB}          # what the paper does not say",
        f"  collect --study rmiat --model {EXAMPLE_MODEL} --dry-run    # what a real run would cost",
        "  collect studies                                           # other studies",
    ):
        say(line)


def path_to_show(path: Path) -> str:
    """With its folders, where there is room for them."""
    whole = str(path.resolve())
    return whole if len(OPEN_REPORT) + len(whole) <= N_COLUMNS else str(path)


if __name__ == "__main__":
    main()
