"""Make what the site shows live: the demo's report, a bundle of the viewer, and a gallery of figures.

All answers in them come from the simulated providers, and each page says so.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from steps import last_lines, stop

GALLERY = {
    "hiring": ("The hiring game", ()),
    "callbacks": ("An audit: who is called back?", ("amce", "impact_ratios", "marginal_means", "ratings")),
    "habits": ("A questionnaire", ()),
    "word_association": ("Word associations", ()),
    "decision": ("Decisions", ()),
}
"""The studies whose figures are drawn next to those of the demo: the title, and which figures (none: all)."""
BUNDLED = "model = 'o3-mini' AND test = 'race_bertrand' AND wording = 1"
FORM = re.compile(r"(-simulated)?(-base)?$")


def run(command: list[str], log: Path) -> None:
    with log.open("ab") as messages:
        program = [sys.executable, "-m", {"collect": "slant.collector", "analyze": "slant.analysis"}[command[0]]]
        done = subprocess.run(
            [*program, *command[1:]], stdin=subprocess.DEVNULL, stdout=messages, stderr=messages, check=False
        )
    if done.returncode:
        stop(f"This command ended with status {done.returncode}: {' '.join(command)}", *last_lines(log))


def run_demo(root: Path) -> Path:
    """Return the folder of the demo; run it first if there is none."""
    demo = root / "demo"
    if not (demo / "report.html").exists():
        subprocess.run([sys.executable, root / "tools" / "demo.py"], check=True)
    return demo


def bring_demo(demo: Path, docs: Path, log: Path) -> None:
    """Copy the demo's report and write a bundle of the viewer from some of its trials."""
    docs.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(demo / "report.html", docs / "report.html")
    database = str(demo / "demo.duckdb")
    run(["collect", "view", "--db", database, "--bundle", str(docs / "viewer"), "--where", BUNDLED], log)


def draw_gallery(demo: Path, docs: Path, work: Path) -> None:
    """Draw the figures of the studies of GALLERY and write one page with all of them."""
    docs.mkdir(parents=True, exist_ok=True)
    with ThreadPoolExecutor(2) as workers:
        list(workers.map(lambda study: draw_study(study, docs / study, work), GALLERY))
    shutil.copytree(demo / "figures", docs / "rmiat", ignore=shutil.ignore_patterns("*.png", "*.csv"))
    parts = ["# Figures\n", "Every answer here is simulated. `analyze figures` draws them from any database.\n"]
    for study, title in {
        "rmiat": "The RM-IAT of the demo",
        **{study: title for study, (title, _) in GALLERY.items()},
    }.items():
        files = sorted((docs / study).glob("*.svg"))
        parts += [f"## {title}\n", '<div class="gallery">', *(figure(study, file) for file in files), "</div>\n"]
    (docs / "index.md").write_text("\n".join(parts), "utf-8")


def draw_study(study: str, folder: Path, work: Path) -> None:
    database, log = str(work / f"{study}.duckdb"), work / f"{study}.txt"
    run(["collect", "--study", study, "--simulated", "--yes", "--db", database], log)
    figures = ["analyze", "figures", *GALLERY[study][1], "--study", study, "--image", "svg", "--workers", "1"]
    run([*figures, "--db", database, "--out", str(folder)], log)


def figure(study: str, file: Path) -> str:
    """Return a figure that leads to itself in full size, with the text alternative that its file has."""
    said = re.search(r"<desc[^>]*>(.*?)</desc>", file.read_text("utf-8"), re.DOTALL)
    name, place = FORM.sub("", file.stem).replace("_", " "), f"{study}/{file.name}"
    alternative = said[1].replace('"', "&quot;") if said else name
    picture = f'<a href="{place}"><img src="{place}" alt="{alternative}" loading="lazy"></a>'
    return f"<figure>{picture}<figcaption>{name}</figcaption></figure>"
