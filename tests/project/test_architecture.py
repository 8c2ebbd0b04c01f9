"""The rules of CONTRIBUTING.md that readers rely on: who may import whom, and which language stands where."""

from __future__ import annotations

import ast
import graphlib
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.support import ROOT
from tests.support.each_row import each_row

CODE = sorted([*ROOT.glob("collector/**/*.py"), *ROOT.glob("analysis/**/*.py")])
SQL = re.compile(r"\bselect\b.+\bfrom\b|\bcreate (or replace )?(view|table)\b|\binsert into\b", re.I | re.S)
R_CODE = re.compile(r"<-\s*function\b|\blibrary\(|%>%|\|>")


def package_of(module: str) -> str:
    return module.removeprefix("slant.").split(".")[0]


@cache
def nodes_of(file: Path) -> tuple[ast.AST, ...]:
    """All nodes of a file's tree, the module first: each file is parsed once."""
    return tuple(ast.walk(ast.parse(file.read_text(encoding="utf-8"))))


@cache
def imported_by(file: Path) -> frozenset[str]:
    """The packages that a file imports, also inside functions and through importlib: of slant its two halves."""
    names = set()
    for node in nodes_of(file):
        if isinstance(node, ast.Import):
            names |= {package_of(alias.name) for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {package_of(f"{node.module}.{alias.name}") for alias in node.names}
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith("import_module"):
            names |= {package_of(str(a.value)) for a in node.args if isinstance(a, ast.Constant)}
    return frozenset(names)


def strings_in(file: Path) -> Iterator[tuple[int, str]]:
    """(line, text) of each string that is not a docstring."""
    nodes = nodes_of(file)
    bodies = [node.body for node in nodes if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef))]
    docstrings = {id(body[0].value) for body in bodies if body and isinstance(body[0], ast.Expr)}
    for node in nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings:
            yield node.lineno, node.value


def modules_after(statement: str) -> set[str]:
    answer = subprocess.run(
        [sys.executable, "-c", f"{statement}\nimport sys; print(*sys.modules)"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    return {package_of(name) for name in answer.stdout.split()}


def test_only_the_bridge_imports_rpy2() -> None:
    assert [file.name for file in CODE if "rpy2" in imported_by(file)] in ([], ["r.py"])


def test_nothing_imports_pyarrow() -> None:
    files = [*CODE, *ROOT.glob("tests/**/*.py"), *ROOT.glob("bench/**/*.py")]
    naming = [file for file in files if "pyarrow" in file.read_text("utf-8")]
    assert [file.name for file in naming if "pyarrow" in imported_by(file)] == []


def test_the_collector_never_imports_the_analysis() -> None:
    assert [file for file in CODE if file.is_relative_to(ROOT / "collector") and "analysis" in imported_by(file)] == []


def test_importing_the_collector_loads_neither_the_analysis_nor_rpy2() -> None:
    assert not {"analysis", "rpy2"} & modules_after("import slant.collector.cli")


def test_importing_the_collector_loads_what_asks_a_model_only_when_one_is_asked() -> None:
    assert not {"aiohttp", "duckdb", "polars", "rich"} & modules_after("import slant.collector.api")


def test_studies_are_listed_without_polars_and_a_dry_run_is_prepared_without_what_asks_a_model() -> None:
    listed = modules_after("from slant.collector.cli import collect; collect(['studies'], standalone_mode=False)")
    assert "polars" not in listed
    assert not {"aiohttp", "httpx2"} & modules_after(
        "import slant.collector.commands.terminal_watcher, slant.collector.run.dry_run"
    )


def test_a_dry_run_of_the_command_imports_polars_only_when_it_needs_it(tmp_path: Path) -> None:
    code = (
        "import sys; from slant.collector.start import collect\n"
        "sys.argv = ['collect', *sys.argv[1:]]\n"
        "try: collect()\n"
        "except SystemExit: print('polars.dataframe' in sys.modules, sys.modules['polars'].Series([1]).len())"
    )
    options = ["--study", "rmiat", "--model", "o3-mini", "--dry-run", "--db", str(tmp_path / "new.duckdb")]
    done = subprocess.run(
        [sys.executable, "-c", code, *options],
        env={**os.environ, "OPENAI_API_KEY": "none"}, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert "Nothing was sent" in done.stderr
    assert done.stdout.splitlines()[-1] == "False 1"


def test_importing_the_analysis_starts_no_r() -> None:
    assert "rpy2" not in modules_after("import slant.analysis.cli.main")


@each_row("file", CODE)
def test_python_holds_neither_long_sql_nor_r_code(file: Path) -> None:
    long_sql = [line for line, text in strings_in(file) if "\n" in text.strip() and SQL.search(text)]
    r_code = [line for line, text in strings_in(file) if R_CODE.search(text)]
    assert (long_sql, r_code) == ([], [])


def test_no_file_has_a_name_that_says_nothing() -> None:
    empty = re.compile(r"^(utils?|helpers?|common|base|misc)\.(py|R|sql)$")
    folders = ("collector", "analysis", "R", "sql", "tests", "tools")
    assert [f for folder in folders for f in (ROOT / folder).rglob("*") if empty.match(f.name)] == []


def test_no_file_of_code_is_longer_than_400_lines() -> None:
    files = [*CODE, *ROOT.glob("R/*.R"), *ROOT.glob("sql/**/*.sql"), *ROOT.glob("tools/*.*")]
    assert [f.name for f in files if len(f.read_text(encoding="utf-8").splitlines()) > 400] == []


def test_no_fit_runs_code_of_a_figure_so_that_a_figure_drawn_otherwise_makes_none_of_them_stale() -> None:
    code = {file: file.read_text("utf-8") for file in ROOT.glob("R/*.R")}
    drawing = {file: text for file, text in code.items() if file.name.startswith(("plot_", "figure_"))}
    defined = {name for text in drawing.values() for name in re.findall(r"^([\w.]+) <- function", text, re.M)}
    assert len(defined) > 20
    call = re.compile(rf"(?<![\w.])({'|'.join(map(re.escape, sorted(defined)))})\(")
    for file, text in code.items() - drawing.items():
        called = call.findall(re.sub(r"^\s*#.*$", "", text, flags=re.M))
        assert called == [], f"{file.name} calls {called} of a file that draws"


def room_of(file: Path) -> str:
    """A folder of a package, or a module next to its folders: collector/ask, collector/api."""
    return "/".join(file.relative_to(ROOT).with_suffix("").parts[:2])


def rooms_imported_by(file: Path) -> set[str]:
    """Also by imports inside functions and for types only: who reads the one room must know the other."""
    names = set()
    for node in nodes_of(file):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    parts = [name.removeprefix("slant.").split(".") for name in names if name.startswith("slant.")]
    return {"/".join(part[:2]) for part in parts if len(part) > 1} - {room_of(file)}


def test_rooms_import_in_one_direction() -> None:
    below: dict[str, set[str]] = {}
    for file in CODE:
        below.setdefault(room_of(file), set()).update(rooms_imported_by(file))
    try:
        graphlib.TopologicalSorter(below).prepare()
    except graphlib.CycleError as loop:
        pytest.fail(f"These rooms import each other: {', '.join(loop.args[1])}")


def test_no_module_has_the_name_of_a_function_in_it() -> None:
    """Who imports such a name from the folder gets the module or the function, whichever was imported last. `results()`
    and `compare()` are called as the design and the public names have them.
    """
    for file in CODE:
        module = nodes_of(file)[0]
        assert isinstance(module, ast.Module)
        functions = [node for node in module.body if isinstance(node, ast.FunctionDef)]
        names = {function.name for function in functions if not function.decorator_list}  # commands are no functions
        assert file.stem not in names - {"results", "compare"}, file


def test_a_query_that_joins_or_groups_is_an_sql_file() -> None:
    grouping = re.compile(r"\bselect\b.+\bfrom\b.*(\bjoin\b|\bgroup by\b)", re.I | re.S)
    assert [(file.name, line) for file in CODE for line, text in strings_in(file) if grouping.search(text)] == []


def test_docstrings_begin_with_a_verb_and_name_what_is_returned_by_a_noun() -> None:
    """D401 sees only verbs in another form ("Returns"); this sees sentences that have none."""
    no_verb = "An?|The|One|How|What|Where|Which|Whether|Why|All|Those|Rows|Our|Of|By|With|For|If|In|It"
    no_noun = r"Return (what|those|how|which|where|why|whose?|when)"
    for file in CODE:
        for node in nodes_of(file):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                said = ast.get_docstring(node) or ""
                assert not re.match(rf"({no_verb}|{no_noun})\b", said), (file, node.name)
