"""Build the site into the folder site/: PYTHONPATH=tools python -m docs_site, or `make docs-site`.

Runs the demo first if this folder has none. Stops if a page has a broken link, or loads anything from another site.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from steps import Step, last_lines, stop

from docs_site.examples import bring_demo, draw_gallery, run_demo
from docs_site.links import broken_links
from docs_site.pages import GROUPS, bring_pages, title_of, vignettes
from docs_site.reference import write_command_pages, write_python_pages, write_r_pages, write_table_pages

ROOT = Path(__file__).resolve().parents[2]
SITE = ROOT / "site"
Menu = list[dict[str, Any]]


def main() -> None:
    begun = time.monotonic()
    demo = run_demo(ROOT)
    with tempfile.TemporaryDirectory(prefix="slant-site-") as folder:
        work = Path(folder)
        docs = work / "docs"
        menu = write_docs(docs, demo, work)
        build(docs, menu, work)
        replace_site(work / SITE.name)
    with Step("docs-site: checking links"):
        broken = list(broken_links(SITE))
    if broken:
        stop(f"{len(broken)} links of the site are broken.", *broken[:40])
    pages = len(list(SITE.rglob("*.html")))
    size = sum(file.stat().st_size for file in SITE.rglob("*") if file.is_file())
    sys.stderr.write(
        f"docs-site: {pages} pages, {size / 1e6:.1f} MB, no broken link, in {time.monotonic() - begun:.0f} s. "
        f"Open {SITE.relative_to(Path.cwd()) if SITE.is_relative_to(Path.cwd()) else SITE}/index.html\n"
    )


def write_docs(docs: Path, demo: Path, work: Path) -> Menu:
    """Write every page of the site as Markdown and return the menu."""
    with Step("docs-site: running the pages"):
        bring_pages(ROOT, docs)
    with Step("docs-site: drawing the gallery"):
        draw_gallery(demo, docs / "gallery", work)
        bring_demo(demo, docs / "live", work / "bundle.txt")
    shutil.copyfile(Path(__file__).with_name("site.css"), docs / "site.css")
    (docs / "live" / "index.md").write_text(LIVE, "utf-8")
    with Step("docs-site: writing the reference"):
        parts = {
            "commands": write_command_pages(folder(docs / "commands")),
            "python": write_python_pages(folder(docs / "python")),
            "r": write_r_pages(folder(docs / "r"), ROOT),
            "tables": write_table_pages(folder(docs / "tables"), ROOT),
        }
    titles = {"commands": "Commands", "python": "Python", "r": "R", "tables": "Tables and columns"}
    reference = [{titles[part]: [{title: f"{part}/{file}"} for title, file in rows]} for part, rows in parts.items()]
    return [*menu_of_pages(reference)]


def menu_of_pages(reference: Menu) -> Menu:
    pages = vignettes(ROOT)
    groups: Menu = [
        {group: [{title_of(pages[name]): f"pages/{name}.md"} for name in names]} for group, names in GROUPS.items()
    ]
    about = groups.pop()["About"]
    about += [
        {"Contributing": "about/contributing.md"},
        {"Measurements": "about/measurements.md"},
        {"Security": "about/security.md"},
        {"Changes": "about/changelog.md"},
    ]
    shown = {"See it": [{"Figures": "gallery/index.md"}, {"A report, and answers to read": "live/index.md"}]}
    return [{"Home": "index.md"}, groups[0], shown, *groups[1:], {"Reference": reference}, {"About": about}]


def folder(path: Path) -> Path:
    path.mkdir(parents=True)
    return path


def build(docs: Path, menu: Menu, work: Path) -> None:
    """Let zensical build `docs` into the folder site/; a warning ends it."""
    own = Path(__file__).with_name("mkdocs.yml").read_text("utf-8")
    paths = {"docs_dir": docs.name, "site_dir": SITE.name, "nav": menu}
    # JSON is YAML, too.
    (work / "mkdocs.yml").write_text(own + "".join(f"{key}: {json.dumps(paths[key])}\n" for key in paths), "utf-8")
    log = work / "zensical.txt"
    with Step("docs-site: building pages"), log.open("wb") as messages:
        command = [sys.executable, "-m", "zensical", "build", "--strict", "--config-file", str(work / "mkdocs.yml")]
        done = subprocess.run(command, cwd=work, stdout=messages, stderr=messages, check=False)
    if done.returncode:
        stop("The site could not be built.", *last_lines(log))


def replace_site(made: Path) -> None:
    shutil.rmtree(SITE, ignore_errors=True)
    shutil.move(made, SITE)


LIVE = """# A report, and answers to read

Both were made from the demo, whose answers are simulated.

- [The report](report.html), as `analyze report` writes it: one page with every table, figure and warning.
- [Answers to read](viewer/index.html), as `collect view --bundle` writes them: prompts, reasoning, answers, pairs
  side by side. No terminal is needed, and nothing runs: these are pages to read, click and search with the browser.
"""


if __name__ == "__main__":
    main()
