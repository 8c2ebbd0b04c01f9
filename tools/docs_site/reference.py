"""Write the reference pages of the site: commands, names of Python, help of R, tables and their columns.

All of it comes from where it is said already: click's help, docstrings, man/, the heads of views, sql/columns.csv.
"""

from __future__ import annotations

import csv
import html
import inspect
import re
import subprocess
from collections.abc import Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import click
from steps import stop

import slant
from slant.analysis.cli.main import analyze
from slant.collector.cli import collect
from slant.collector.keep.view_heads import TableInfo, read_view_heads

HELP_WIDTH = 100
BODY = re.compile(r"<body>(.*)</body>", re.DOTALL)
LINK_OF_R = re.compile(
    r"""<a href=(['"])(\.\./\.\./\w+/(?:help|html)/)?([\w.-]+)\.html(?:#[^'"]*)?\1>(.*?)</a>""", re.DOTALL
)


def fenced(text: str, language: str = "text") -> str:
    """Return a block of code that no line of `text` can end."""
    fence = "`" * max(4, 1 + max((len(run) for run in re.findall(r"`+", text)), default=0))
    return f"{fence}{language}\n{text.rstrip()}\n{fence}\n"


def table(head: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    lines = [head, tuple("---" for _ in head), *rows]
    return "".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |\n" for line in lines)


def plain(text: str) -> str:
    """Return text in which no character is Markdown or HTML, but for its backticks."""
    parts = re.split(r"(`[^`]+`)", text)
    return "".join(
        part if part.startswith("`") else re.sub(r"([*_\[\]#])", r"\\\1", html.escape(part, quote=False))
        for part in parts
    )


def commands_of(command: click.Command, path: str) -> Iterator[tuple[str, str, str]]:
    """Yield the path, the first sentence and the help of a command and of all below it."""
    with click.Context(command, info_name=path, max_content_width=HELP_WIDTH, terminal_width=HELP_WIDTH) as context:
        sentence = (command.help or command.short_help or "").strip().split("\n\n")[0]
        yield path, " ".join(sentence.split()), command.get_help(context)
        if isinstance(command, click.Group):
            for name in command.list_commands(context):
                below = command.get_command(context, name)
                if below is not None and not below.hidden:
                    yield from commands_of(below, f"{path} {name}")


def write_command_pages(folder: Path) -> list[tuple[str, str]]:
    """Write a page for each command and return (title, path) of each for the menu."""
    written, rows = [], []
    for program in (collect, analyze):
        for path, sentence, text in commands_of(program, str(program.name)):
            file = folder / f"{path.replace(' ', '_')}.md"
            file.write_text(f"# {path}\n\n{plain(sentence)}\n\n{fenced(click.unstyle(text))}", "utf-8")
            written.append((path, file.name))
            rows.append((f"[`{path}`]({file.name})", plain(sentence)))
    opening = "# Commands\n\nEvery command prints this help with `--help`.\n\n"
    (folder / "index.md").write_text(opening + table(("command", "what it does"), rows), "utf-8")
    return [("All commands", "index.md"), *written]


def write_python_pages(folder: Path) -> list[tuple[str, str]]:
    """Write a page for each half of the package, with the signature and the docstring of each public name."""
    pages = []
    for module, title in (("slant.collector", "Asking models"), ("slant.analysis", "Analysing answers")):
        names = sorted(import_module(module).__all__, key=str.lower)
        parts = [f"# Python: {title.lower()}\n", f"Each is a name of `slant`, and of `{module}`.\n"]
        parts += [python_part(name, getattr(slant, name)) for name in names]
        file = folder / f"{module.rpartition('.')[2]}.md"
        file.write_text("\n".join(parts), "utf-8")
        pages.append((title, file.name))
    return pages


def python_part(name: str, thing: Any) -> str:
    parts = [
        f"## {name}\n",
        fenced(f"{'class' if inspect.isclass(thing) else 'def'} {name}{signature(thing)}", "python"),
    ]
    parts.append(docstring(inspect.getdoc(thing) or ""))
    if inspect.isclass(thing):
        parts += [member_part(key, value) for key, value in vars(thing).items() if is_public(key, value)]
    return "\n".join(parts)


def signature(thing: Any) -> str:
    """Return the arguments as the source has them, one a line if they are long."""
    whole = inspect.signature(thing)
    arguments, star = [], False
    for one in whole.parameters.values():
        if one.kind is one.KEYWORD_ONLY and not star:
            arguments.append("*")
        star = star or one.kind in (one.KEYWORD_ONLY, one.VAR_POSITIONAL)
        stars = "*" if one.kind is one.VAR_POSITIONAL else "**" if one.kind is one.VAR_KEYWORD else ""
        kind = "" if one.annotation is one.empty else f": {one.annotation}"
        default = "" if one.default is one.empty else f" = {one.default!r}" if kind else f"={one.default!r}"
        arguments.append(f"{stars}{one.name}{kind}{default}")
    is_plain = inspect.isclass(thing) or whole.return_annotation is whole.empty
    result = "" if is_plain else f" -> {whole.return_annotation}"
    if len(", ".join(arguments)) > HELP_WIDTH - 30:
        return "(\n    " + ",\n    ".join(arguments) + f",\n){result}"
    return f"({', '.join(arguments)}){result}"


def is_public(name: str, value: object) -> bool:
    return (
        not name.startswith("_")
        and bool(inspect.getdoc(value))
        and (isinstance(value, property) or inspect.isfunction(value))
    )


def member_part(name: str, member: object) -> str:
    return f"**`.{name}`**{'' if isinstance(member, property) else '()'}: {docstring(inspect.getdoc(member) or '')}"


def docstring(text: str) -> str:
    """Return a docstring as Markdown: its examples and lists of settings, which are indented, as code."""
    parts = []
    for block in re.split(r"\n{2,}", text):
        is_code = block.startswith(">>>") or re.search(r"\n {4}", "\n" + block)
        parts.append(fenced(block) if is_code else plain(block) + "\n")
    return "\n".join(parts)


def write_r_pages(folder: Path, root: Path) -> list[tuple[str, str]]:
    """Write each help page of the R package, made by tools::Rd2HTML; return them for the menu."""
    script = Path(__file__).with_name("r_help.R")
    done = subprocess.run(
        ["Rscript", "--no-init-file", script, root / "man", folder], capture_output=True, text=True, check=False
    )
    if done.returncode:
        stop("R could not write its help as HTML.", done.stderr.strip())
    made = {file.stem: BODY.search(file.read_text("utf-8")) for file in sorted(folder.glob("*.html"))}
    rows = []
    for name, body in made.items():
        if body is None:
            stop(f"The help of {name} has no body.")
        text = LINK_OF_R.sub(linked, body[1])
        title = re.search(r"<h2[^>]*>(.*?)</h2>", text, re.DOTALL)
        text = re.sub(r"<table[^>]*><tr><td>.*?</table>", "", text, count=1, flags=re.DOTALL)
        text = re.sub(r"<h2[^>]*>.*?</h2>", "", text, count=1, flags=re.DOTALL)
        text = re.sub(r"<(/?)h3", r"<\1h2", text)
        heading = " ".join(title[1].split()) if title else name
        (folder / f"{name}.md").write_text(f'# {name}\n\n**{heading}**\n\n<div class="rd">{text}</div>\n', "utf-8")
        (folder / f"{name}.html").unlink()
        rows.append((f"[`{name}`]({name}.md)", heading))
    opening = "# R functions\n\nThe same pages as `?effect_size` in R.\n\n"
    (folder / "index.md").write_text(opening + table(("function", "what it does"), rows), "utf-8")
    return [("All functions", "index.md"), *((name, f"{name}.md") for name in made)]


def linked(link: re.Match[str]) -> str:
    """Return a link of Rd2HTML as one within the site; help of another package is named and not linked."""
    return link[4] if link[2] else f'<a href="{link[3]}.html">{link[4]}</a>'


def write_table_pages(folder: Path, root: Path) -> list[tuple[str, str]]:
    """Write a page for the views of each design, and one for the columns, with what the SQL says of each."""
    by_design: dict[str, list[TableInfo]] = {}
    for head in read_view_heads().values():
        for design in head.designs or ("every study",):
            by_design.setdefault(design, []).append(head)
    pages = []
    for design in sorted(by_design, key=lambda name: (name != "every study", name)):
        parts = [f"# Views of {design.replace('_', ' ')}\n" if design != "every study" else "# Views of every study\n"]
        parts += [view_part(head) for head in sorted(by_design[design], key=lambda head: head.name)]
        file = folder / f"{design.replace(' ', '_')}.md"
        file.write_text("\n".join(parts), "utf-8")
        pages.append((design, file.name))
    texts = {
        "columns": ("Columns of a trial", "The columns of the view `trials` and of exports."),
        "result_columns": ("Columns of results", "The columns that views of counts, fits and figures share."),
    }
    for name, (title, about) in texts.items():
        with (root / "sql" / f"{name}.csv").open(encoding="utf-8", newline="") as lines:
            named = [(f"`{row.pop('column')}`", *map(plain, row.values())) for row in csv.DictReader(lines)]
        opening = f"# {title}\n\n{about}\n\n"
        (folder / f"{name}.md").write_text(
            opening + table(("column", "unit", "meaning", "values", "source"), named), "utf-8"
        )
    return [*((title, f"{name}.md") for name, (title, _) in texts.items()), *pages]


def view_part(head: TableInfo) -> str:
    rows = [("a row", ", ".join(f"`{name}`" for name in head.grain))]
    rows += [("reads", ", ".join(f"`{name}`" for name in sorted(head.reads)))] if head.reads else []
    rows += [("in the paper", plain(head.paper))] if head.paper else []
    purpose = head.purpose[:1].upper() + head.purpose[1:]
    return f"## {head.name}\n\n{plain(purpose)}\n\n{table(('', ''), rows)}\n{plain(head.note)}\n"
