"""Write the report in the format that its file's name asks for: a page, or from that page a Word document (by pandoc),
a PDF (by Chromium) or a Quarto document (text, with its figures in a folder next to it).
"""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
from html.parser import HTMLParser
from pathlib import Path

from slant.collector.errors import SlantError, UsageError
from slant.collector.markup import escaped_markdown, quoted_markdown
from slant.collector.system.files import contents
from slant.collector.system.scratch import temporary_folder, write_whole_file

REPORT_FORMATS = ("html", "docx", "pdf", "qmd")
_PROGRAMS = {
    "docx": (("pandoc",), "pandoc", "pandoc"),
    "pdf": (
        ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chromium-headless-shell"),
        "Chromium or Chrome",
        "chromium",
    ),
}
"""By format: names of programs that can write it, what they are called, Debian's package."""
_PATIENCE_S = 180
_PAGE = "The page can be written without it: --out report.html"


def check_place(out: Path) -> None:
    """Check before the work, which may take a while, whether the report can be written there, and in that format."""
    ending = out.suffix.lower().removeprefix(".")
    if ending and ending not in (*REPORT_FORMATS, "htm"):
        raise UsageError(
            f'Can\'t write the report to "{out}": it is a page or a document, whose name must end in '
            f"{', '.join(f'.{one}' for one in REPORT_FORMATS[:-1])} or .{REPORT_FORMATS[-1]}.",
            f"For a Word document: --out {out.with_suffix('.docx')}",
        )
    if not (out.parent.is_dir() and os.access(out.parent, os.W_OK)):
        raise _unwritable(out, "its folder doesn't exist, or can't be written to")
    if ending in _PROGRAMS:
        _program(ending)


def write_report(out: Path, page: str) -> Path:
    """Write the page, or what its name asks for, complete or not at all; return its path."""
    ending = out.suffix.lower().removeprefix(".")
    try:
        if ending in _PROGRAMS:
            _convert(out, ending, page)
        elif ending == "qmd":
            write_whole_file(out, _quarto(page, out).encode("utf-8"))
        else:
            write_whole_file(out, page.encode("utf-8"))
    except OSError as error:
        raise _unwritable(out, error.strerror) from None
    return out.resolve()


def _unwritable(out: Path, reason: str | None) -> UsageError:
    return UsageError(f'Can\'t write the report to "{out}": {reason}.', "Name another: --out FILE")


def _program(ending: str) -> str:
    names, called, package = _PROGRAMS[ending]
    found = next(filter(None, map(shutil.which, names)), None)
    if found is None:
        raise SlantError(
            f"Can't write a .{ending}: {called} is needed for that, and is not installed.",
            f"On Debian: apt-get install {package}. Or write the page, which a word processor opens and a browser "
            "prints: --out report.html",
        )
    return found


def _convert(out: Path, ending: str, page: str) -> None:
    with temporary_folder("report") as folder:
        source, made = folder / "report.html", folder / f"report.{ending}"
        before, _, rest = page.partition("<nav")  # of which paper has no use
        write_whole_file(source, (before + rest.partition("</nav>")[2]).encode("utf-8"))
        program = _program(ending)
        if ending == "docx":
            command = [program, "--from=html", "--to=docx", f"--output={made}", str(source)]
        else:
            as_root = ["--no-sandbox"] if os.geteuid() == 0 else []  # Chromium refuses to run sandboxed as root
            quiet = ["--headless", "--disable-gpu", "--disable-dev-shm-usage", f"--user-data-dir={folder / 'profile'}"]
            printing = ["--no-pdf-header-footer", "--print-to-pdf-no-header", f"--print-to-pdf={made}"]
            command = [program, *quiet, *as_root, *printing, source.as_uri()]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=_PATIENCE_S, check=False)
        except subprocess.TimeoutExpired:
            raise SlantError(f"{program} did not end within {_PATIENCE_S} seconds.", _PAGE) from None
        if done.returncode or not made.is_file():
            last = done.stderr.strip().splitlines()[-1:] or ["it said nothing"]
            raise SlantError(f"{program} could not write the report: {last[0]}", _PAGE)
        write_whole_file(out, contents(made))


def _quarto(page: str, out: Path) -> str:
    """Return the page as a Quarto document; its figures are written into a folder next to it."""
    reader = _Markdown(out.parent / f"{out.stem}_files")
    reader.feed(page)
    formats = "format:\n  html:\n    toc: true\n    embed-resources: true\n  docx: default\n  pdf: default"
    return f"---\ntitle: {json.dumps(reader.title, ensure_ascii=False)}\n{formats}\n---\n\n{reader.text}\n"


class _Markdown(HTMLParser):
    """Read a page of the report as Markdown: headings, paragraphs, lists, tables, figures, code."""

    _SKIPPED = ("nav", "script", "style", "title", "figcaption")
    _BLOCKS = ("h1", "h2", "h3", "p", "li", "pre", "summary", "th", "td")

    def __init__(self, figures: Path) -> None:
        super().__init__()
        self.title = ""
        self._figures, self._n_figures = figures, 0
        self._parts: list[str] = []
        self._words: list[str] = []
        self._cells: list[str] = []
        self._skipping = 0

    @property
    def text(self) -> str:
        return "\n".join(self._parts)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._skipping += tag in self._SKIPPED
        if tag == "tr":
            self._cells = []
        elif tag in ("table", "ul", "div", "details"):
            self._parts.append("")
        elif tag == "img":
            self._add_figure(dict(attrs))
        if tag in self._BLOCKS:
            self._end_of("p")
        if tag == "small":
            self._words.append(" / ")

    def handle_data(self, data: str) -> None:
        if not self._skipping:
            self._words.append(data)

    def handle_endtag(self, tag: str) -> None:
        self._skipping -= tag in self._SKIPPED
        if tag in self._BLOCKS:
            self._end_of(tag)
        elif tag == "tr":
            self._parts.append(f"| {' | '.join(self._cells)} |")
        elif tag == "thead":
            self._parts.append("|" + "---|" * len(self._cells))

    def _end_of(self, tag: str) -> None:
        raw = "".join(self._words).strip()
        words = escaped_markdown(raw)
        if tag in ("th", "td"):
            self._cells.append(words)
        elif tag == "h1":
            self.title = " ".join(raw.split())
        elif words:
            marks = {"h2": "## ", "h3": "### ", "li": "- "}
            shown = quoted_markdown(raw) if tag == "pre" else f"**{words}**" if tag == "summary" else words
            self._parts.append(f"{marks.get(tag, '')}{shown}" + ("" if tag == "li" else "\n"))
        self._words = []

    def _add_figure(self, about: dict[str, str | None]) -> None:
        self._n_figures += 1
        file = self._figures / f"figure-{self._n_figures}.png"
        self._figures.mkdir(exist_ok=True)
        write_whole_file(file, base64.b64decode((about["src"] or "").partition(",")[2]))
        self._parts.append(f"![{escaped_markdown(about['alt'] or '')}]({self._figures.name}/{file.name})\n")
