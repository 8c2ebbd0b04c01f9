"""Bring the pages of the repository into the site: the README, vignettes/, and what lies next to them.

A vignette's chunks are run by knitr, so that a reader of the site sees what they print and draw. A file that a page
links to, such as a study, becomes a page with its text.
"""

from __future__ import annotations

import posixpath
import re
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from steps import stop

from docs_site.reference import fenced

OWN = ("own_iat", "own_forced_choice", "own_game")
GROUPS: dict[str, tuple[str, ...]] = {
    "Learn": ("audit", "people", "filtered", "model_choice", "series"),
    "Your own study": ("your_study", "factorial", "factorial_results", *OWN, "extending"),
    "Papers": ("slant", "interference", "hiring", "word_association"),
    "Ask": ("asking", "local_model", "registering", "large_runs", "scheduler", "retest", "importing", "versions"),
    "Analyse": ("analysing", "generalising", "bayes", "coded", "python", "viewing", "passing_on", "cluster"),
    "About": ("developing", "maintaining"),
}
"""Which page of vignettes/ is in which part of the menu."""
ROOT_PAGES = {
    "README.md": "index.md",
    "CONTRIBUTING.md": "about/contributing.md",
    "CHANGELOG.md": "about/changelog.md",
    "SECURITY.md": "about/security.md",
    "bench/README.md": "about/measurements.md",
}
LINK = re.compile(r"(?<=\]\()([^)\s]+)(?=\))")
FENCED = re.compile(r"(^```.*?^```$)", re.MULTILINE | re.DOTALL)
HEAD = re.compile(r'\A---\ntitle: "(.*?)"\n.*?^---\n', re.DOTALL | re.MULTILINE)
SIDES = 2


def vignettes(root: Path) -> dict[str, Path]:
    """Return each page of vignettes/ by its name; stop if the menu lacks one or names one that is gone."""
    there = {file.stem: file for file in sorted((root / "vignettes").glob("*.Rmd"))}
    named = {name for names in GROUPS.values() for name in names}
    if named != there.keys():
        stop("The menu and vignettes/ differ.", f"tools/docs_site/pages.py: {sorted(named ^ there.keys())}")
    return there


def title_of(page: Path) -> str:
    found = HEAD.match(page.read_text("utf-8"))
    return found[1] if found else page.stem


def knit_pages(root: Path, folder: Path) -> None:
    """Write each page of vignettes/ into `folder` as Markdown; R runs those with chunks."""
    folder.mkdir(parents=True, exist_ok=True)
    pages = vignettes(root)
    with_chunks = [name for name, page in pages.items() if "```{r" in page.read_text("utf-8")]
    with ThreadPoolExecutor(SIDES) as workers:
        list(workers.map(lambda name: knit(pages[name], folder / f"{name}.md"), with_chunks))
    for name in pages.keys() - set(with_chunks):
        shutil.copyfile(pages[name], folder / f"{name}.md")
    for name, page in pages.items():
        written = folder / f"{name}.md"
        written.write_text(HEAD.sub(f"# {title_of(page)}\n", written.read_text("utf-8")), "utf-8")


def knit(page: Path, out: Path) -> None:
    script = Path(__file__).with_name("knit.R")
    command = ["Rscript", "--no-init-file", str(script), str(page), str(out)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        stop(f"R could not run the chunks of {page.name}.", *done.stderr.strip().splitlines()[-6:])


def bring_pages(root: Path, docs: Path) -> None:
    """Fill `docs` with all pages, each link turned into one that holds within the site."""
    knit_pages(root, docs / "pages")
    for name, target in ROOT_PAGES.items():
        (docs / target).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(root / name, docs / target)
    places = {f"vignettes/{name}.Rmd": f"pages/{name}.md" for name in vignettes(root)} | ROOT_PAGES
    for source, target in places.items():
        with_links_of_site(root, docs, places, source, docs / target)


def with_links_of_site(root: Path, docs: Path, places: dict[str, str], source: str, file: Path) -> None:
    """Turn the links of a page, but not those in its code, into links that hold within the site."""
    parts = FENCED.split(file.read_text("utf-8"))
    moved_parts = (
        part if part.startswith("```") else LINK.sub(lambda link: moved(root, docs, places, source, link[0]), part)
        for part in parts
    )
    file.write_text("".join(moved_parts), "utf-8")


def moved(root: Path, docs: Path, places: dict[str, str], source: str, link: str) -> str:
    """Return a link of the page `source` of the repository as a link of the site; a file that is no page is brought."""
    if re.match(r"[a-z]+:|#", link) or "-figures/" in link:
        return link
    file, _, heading = link.partition("#")
    file = posixpath.normpath(posixpath.join(posixpath.dirname(source), file))
    if file not in places:
        places = places | {file: bring_file(root, docs, file)}
    there = posixpath.relpath(places[file], posixpath.dirname(places[source]) or ".")
    return f"{there}#{heading}" if heading else there


def bring_file(root: Path, docs: Path, file: str) -> str:
    """Bring a picture as it is and a text as a page that shows it; return its place."""
    is_picture = file.endswith((".png", ".svg"))
    place = f"files/{file}" if is_picture else f"files/{file}.md"
    (docs / place).parent.mkdir(parents=True, exist_ok=True)
    if is_picture:
        shutil.copyfile(root / file, docs / place)
    elif not (docs / place).exists():
        text = (root / file).read_text("utf-8")
        language = {"toml": "toml", "csv": "text"}.get(file.rpartition(".")[2], "text")
        (docs / place).write_text(f"# {file}\n\n{fenced(text, language)}", "utf-8")
    return place
