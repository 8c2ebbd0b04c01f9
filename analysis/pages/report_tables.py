"""Shape results for the report: the paper's tables for all models there are, each number recomputed above the printed
one if there is one; and what the tokens in them are.

Write tables for a paper: any frame as LaTeX or Markdown. What models and files wrote is never a command in it."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from slant.collector.arguments import checked_arguments
from slant.collector.errors import check_known
from slant.collector.markup import escaped_latex, escaped_markdown
from slant.collector.screen_tables import is_p_name, shown_cell, shown_p

FORMATS = ("latex", "markdown")
_ONE_PAGE = 40  # rows of a table that does not break; a longer one goes over pages
_EXPONENT = re.compile(r"(-?[\d.]+)e([+-]\d+)")


@checked_arguments()
def table_text(frame: pl.DataFrame, table_format: str = "latex", *, caption: str = "", label: str = "") -> str:
    """Return a table in a format of papers, with all rows and columns of `frame`: numbers have six digits and are
    aligned right, unknown values are empty. Raise UnknownNameError for another format.

    LaTeX needs the package booktabs, and longtable for more than 40 rows; texts in other scripts than Latin need
    LuaLaTeX or XeLaTeX. `label` is what `\\ref` takes.
    """
    check_known("table format", table_format, FORMATS)
    return (_latex if table_format == "latex" else _markdown)(frame, caption, label)


def _cells(frame: pl.DataFrame, escaped: Callable[[str], str], number: Callable[[str], str]) -> list[list[str]]:
    numeric = [dtype.is_numeric() for dtype in frame.dtypes]
    return [
        [
            number(shown_cell(value)) if is_number else escaped(shown_cell(value))
            for value, is_number in zip(row, numeric, strict=True)
        ]
        for row in frame.iter_rows()
    ]


def _latex(frame: pl.DataFrame, caption: str, label: str) -> str:
    columns = "".join("r" if dtype.is_numeric() else "l" for dtype in frame.dtypes)
    head = " & ".join(map(escaped_latex, frame.columns)) + r" \\"
    rows = [" & ".join(row) + r" \\" for row in _cells(frame, escaped_latex, _latex_number)]
    named = [rf"\caption{{{escaped_latex(caption)}}}"] if caption else []
    named += [rf"\label{{{re.sub(r'[^A-Za-z0-9:._-]', '-', label)}}}"] if label else []
    if frame.height > _ONE_PAGE:
        needs = "% needs \\usepackage{booktabs,longtable}"
        title = [*named[:-1], *(named[-1:] and [named[-1] + r" \\"])] if caption else []
        body = [rf"\begin{{longtable}}{{{columns}}}", *title, r"\toprule", head, r"\midrule", r"\endhead"]
        return "\n".join([needs, *body, *rows, r"\bottomrule", r"\end{longtable}", ""])
    body = [rf"\begin{{tabular}}{{{columns}}}", r"\toprule", head, r"\midrule", *rows, r"\bottomrule", r"\end{tabular}"]
    needs = "% needs \\usepackage{booktabs}"
    return "\n".join([needs, r"\begin{table}", r"\centering", *named, *body, r"\end{table}", ""])


def _latex_number(text: str) -> str:
    """Return a number in math, so that its minus is one."""
    if not text:
        return ""
    shown = _EXPONENT.sub(lambda found: rf"{found[1]} \times 10^{{{int(found[2])}}}", text)
    return f"${shown}$" if shown[0] == "-" or shown != text else text


def _markdown(frame: pl.DataFrame, caption: str, label: str) -> str:
    rule = ["---:" if dtype.is_numeric() else "---" for dtype in frame.dtypes]
    rows = [list(map(escaped_markdown, frame.columns)), rule, *_cells(frame, escaped_markdown, str)]
    lines = [f"| {' | '.join(row)} |" for row in rows]
    name = f" {{#{re.sub(r'[^A-Za-z0-9:._-]', '-', label)}}}" if label else ""
    return "\n".join([*lines, *(["", f": {escaped_markdown(caption)}{name}"] if caption else []), ""])


TITLES = {
    "S3": "Cohen's d of tokens, incompatible minus compatible",
    "S4": "Refusals by test and model",
    "S5": "Tokens by condition, refusals removed",
    "S11": "Answers whose reasoning names the IAT",
    "S13": "Topics of the reasoning",
    "S14": "Prevalence of the bias topic by model",
    "text": "Numbers in the text of the paper",
    "v1 S4": "Refusals that it shows",
    "Table 1": "Interference: the difference between conditions in consistency, median word",
    "Table 2": "Predicted compliance, median word",
    "Table 3": "Observed compliance",
    "design": "The design as the paper states it",
    "settings": "The models as the paper states them (1: the same as here; 0: another one)",
}
MEASURES = {
    "usage": "reasoning tokens (usage)",
    "output": "all output tokens",
    "template": "tokens up to the end of the reasoning (template)",
    "retokenized": "reasoning text, tokenized again",
}
_MARKS = {"agrees": "=", "slip": "slip", "disagrees": "≠", "not checkable": "not checkable"}
_DIGITS = {"refusals": 0, "n": 0, "mentions": 0, "n_valid": 0, "n_trials": 0}  # of numbers that the paper doesn't print
_OF_TOKENS = ("S3", "S5")
_OF_MIXED_MODELS = "loglik"  # the quantity that identifies a table of mixed models
_HEADS = {
    "d": "d", "proportion_pct": "share (%)", "ci_low": "95 % from", "ci_high": "to", "refusals": "refusals",
    "mean": "mean", "sd": "SD", "mentions": "mentions", "intercept_estimate": "intercept", "intercept_std_error": "SE",
    "condition_estimate": "condition", "condition_std_error": "SE", "condition_stars": "stars",
    "std_error_ratio": "SE ratio", "mde": "MDE", "mde_d": "MDE (d)", "verdict": "over words",
    "var_prompt": "prompt variance", "var_residual": "residual variance", "n": "n", "loglik": "log likelihood",
    "sign_of_condition": "sign",
    "sign_of_condition_difference": "sign of the difference between conditions",
    "n_valid": "valid", "n_trials": "trials", "valid_percent": "observed (%)",
    "compliance_percent": "predicted (%)", "delta_p": "ΔP", "conf_low": "95 % from", "conf_high": "to",
}  # fmt: skip
VERDICTS = ("stays", "lost", "gained", "not_significant", "already_in_model")
"""Say what a significance of the paper's becomes over other words and wordings."""
_FIT_HEADS = {
    "refusals_removed": "answers", "std_error": "SE", "conf_low": "95 % from", "conf_high": "to", "p_value": "p",
    "std_error_ratio": "SE over words / SE", "mde": "smallest detectable effect",
    "mde_d": "the same as d", "verdict": "over words and wordings", "n_groups": "groups",
}  # fmt: skip
_FIT_CELLS = {
    "refusals_removed": {"True": "without refusals", "False": "all"},
    "verdict": {
        "stays": "stays significant",
        "lost": "no longer significant",
        "gained": "significant only there",
        "not_significant": "not significant",
        "already_in_model": "this model already has these slopes",
    },
}
"""Give words for column names of fits."""
_KEYS = ("test", "model", "refusals_removed", "condition")
_LAST = 1000
EARLIER = "v1 "


@dataclass(frozen=True)
class ComparedNumber:
    """Hold one number in the report: recomputed (as many digits as in print, or two), printed, and how they compare."""

    recomputed: str
    printed: str
    status: str
    mark: str
    slip: str


@dataclass(frozen=True)
class ReportTable:
    """Hold a table: `caption` says which table of the paper it is, and what it shows; `note` what the tokens in it are.
    A row is its keys, its numbers, and remarks on them; `has_remarks` if any row has any.
    """

    caption: str
    note: str
    is_compared: bool
    heads: tuple[str, ...]
    rows: tuple[tuple[tuple[str, ...], tuple[ComparedNumber | None, ...], str], ...]
    keys: tuple[str, ...]

    @property
    def has_remarks(self) -> bool:
        return any(remark for _, _, remark in self.rows)


def side_by_side(
    comparison: pl.DataFrame, labels: Mapping[str, str], measures: Mapping[str, str]
) -> Iterator[ReportTable]:
    """Return the tables of the paper, each with its rows by test and model. Mixed models have one table per model. The
    order is that of the paper, then of `labels`, which gives the names to show for ids of models and tests.
    `measures`: see token_measures().
    """
    mixed = comparison.filter(pl.col("quantity") == _OF_MIXED_MODELS)["table"].unique()
    places = {name: place for place, name in enumerate(labels)}
    ordered = comparison.with_columns(
        its=pl.when(pl.col("table").is_in(mixed.to_list())).then(pl.col("model")),
        table_no=pl.col("table").map_elements(place_of_table, return_dtype=pl.Int64),
        model_place=pl.col("model").replace_strict(places, default=None, return_dtype=pl.Int64),
        test_place=pl.col("test").replace_strict(places, default=None, return_dtype=pl.Int64),
    )
    by = ["table_no", "table", "its", "test_place", "test", "model_place", "model"]
    for (table, model), part in ordered.sort(by, nulls_last=True, maintain_order=True).group_by(
        "table", "its", maintain_order=True
    ):
        yield _table(str(table), None if model is None else str(model), part, labels, measures)


def place_of_table(table: str) -> int:
    """Sort S3 before S11, then the text, then the earlier version's."""
    number = re.search(r"\d+$", table)
    return (int(number[0]) if number else _LAST - 1) + (_LAST if table.startswith(EARLIER) else 0)


def _caption(table: str, model: str | None, labels: Mapping[str, str]) -> str:
    title = f"Mixed models, {labels.get(model, model)}" if model else ""
    if table.startswith(EARLIER):
        number = table.removeprefix(EARLIER)
        title = title or TITLES.get(table) or TITLES.get(number, "")
        return f"Table {number} of the paper's earlier version. {title}".strip()
    title = title or TITLES.get(table, table)
    return f"{table_label(table)}. {title}" if table_label(table) != table or table.startswith("Table ") else title


def table_label(table: str) -> str:
    """Name a table for people: "S3" is Table S3; "Table 1", "text" and "design" are unchanged."""
    return f"Table {table}" if re.match(r"(v1 )?S\d", table) else table


def _table(
    table: str, model: str | None, part: pl.DataFrame, labels: Mapping[str, str], measures: Mapping[str, str]
) -> ReportTable:
    """Show quantities side by side or, if a table has many kinds (claims of the text), one below the other."""
    is_wide = set(part["quantity"]) <= set(_HEADS)
    quantities = [q for q in _HEADS if q in set(part["quantity"])] if is_wide else [""]
    stated_above = {"refusals_removed", *(["model"] if model else [])}  # if it is the same in all rows
    keys = [key for key in _KEYS if part[key].n_unique() > 1 or (part[key][0] is not None and key not in stated_above)]
    keys = keys if is_wide else ["quantity", *keys]
    rows = []
    for values, cells in part.group_by(keys, maintain_order=True):
        numbers = {row["quantity"] if is_wide else "": _compared_number(row) for row in cells.to_dicts()}
        texts = tuple(_text(key, value, labels) for key, value in zip(keys, values, strict=True))
        remarks = " ".join(cells["note"].drop_nulls().unique(maintain_order=True))
        rows.append((texts, tuple(numbers.get(quantity) for quantity in quantities), remarks))
    refusals = part["refusals_removed"].unique().to_list()
    note = {(True,): "Refusals removed. ", (False,): "Refusals kept. "}.get(tuple(refusals), "")
    models = [measures[name] for name in part["model"].drop_nulls().unique(maintain_order=True) if name in measures]
    return ReportTable(
        caption=_caption(table, model, labels),
        note=note + (f"Tokens are, for {'; '.join(models)}." if models and (table in _OF_TOKENS or model) else ""),
        is_compared=bool(part["printed"].is_not_null().any()),
        heads=tuple(_HEADS[quantity] for quantity in quantities) if is_wide else ("value",),
        rows=tuple(rows),
        keys=tuple({"refusals_removed": "rows", "quantity": "claim"}.get(key, key) for key in keys),
    )


def token_measures(token_sources: pl.DataFrame, labels: Mapping[str, str]) -> dict[str, str]:
    """Return the meaning of `tokens` in each model, as "o3-mini: reasoning tokens (usage)", by the model's id, from
    that table."""
    measures: dict[str, str] = {}
    known_sources = token_sources.drop_nulls("token_source")
    for (model,), rows in known_sources.group_by("model", maintain_order=True):
        kinds = [MEASURES.get(source, source) for source in rows["token_source"].unique(maintain_order=True)]
        measures[str(model)] = f"{labels.get(str(model), str(model))}: {' and '.join(kinds)}"
    return measures


def _text(key: str, value: Any, labels: Mapping[str, str]) -> str:
    if value is None:
        return ""
    if key == "refusals_removed":
        return "without refusals" if value else "all"
    return labels.get(str(value), str(value).replace("_", " ") if key == "quantity" else str(value))


def _compared_number(row: dict[str, Any]) -> ComparedNumber:
    value, printed = row["recomputed"], row["printed"]
    has_exponent = re.search(r"\de[-+]?\d", (printed or "").lower())
    recomputed = "no data" if value is None else f"{value:z,.{_digits(row)}{'e' if has_exponent else 'f'}}"
    if row["quantity"] == "verdict":
        return ComparedNumber("" if value is None else VERDICTS[int(value)].replace("_", " "), "", *_standing(row))
    if row["quantity"] == "condition_stars" and value is not None:
        return ComparedNumber(_stars(value), "" if printed is None else _stars(printed), *_standing(row))
    return ComparedNumber(recomputed, printed or "", *_standing(row))


def _digits(row: dict[str, Any]) -> int:
    """Return the digits as in print; text without a digit ("(-)", for no refusals) has none."""
    printed = row["printed"] or ""
    if not re.search(r"\d", printed):
        return _DIGITS.get(row["quantity"], 2)
    return len(re.sub(r"\D.*$", "", printed.partition(".")[2]))


def _stars(number: float | str) -> str:
    return "*" * int(number) or "–"


def _standing(row: dict[str, Any]) -> tuple[str, str, str]:
    return row["status"].replace(" ", "-"), _MARKS.get(row["status"], ""), row["slip"] or ""


def text_table(frame: pl.DataFrame) -> dict[str, Any]:
    """Return any frame as heads and rows of text, numbers with useful decimals, p as papers print it; `numeric` says
    which columns hold numbers."""
    are_p = [is_p_name(name) for name in frame.columns]
    return {
        "heads": frame.columns,
        "numeric": [dtype.is_numeric() for dtype in frame.dtypes],
        "rows": [
            [shown_p(value) if is_p else _text_of(value) for is_p, value in zip(are_p, row, strict=True)]
            for row in frame.iter_rows()
        ],
    }


def filled_columns(frame: pl.DataFrame) -> pl.DataFrame:
    """Return a frame without its empty columns."""
    return frame.select(column.name for column in frame if column.null_count() < frame.height)


def fit_table(frame: pl.DataFrame) -> dict[str, Any]:
    """Return the rows of a fit as `text_table()` does, under heads and with verdicts in a reader's words."""
    table = text_table(frame)
    cells = [_FIT_CELLS.get(name, {}) for name in frame.columns]
    heads = [_FIT_HEADS.get(name, name.replace("_", " ")) for name in frame.columns]
    rows = [[words.get(text, text) for words, text in zip(cells, row, strict=True)] for row in table["rows"]]
    return {**table, "heads": heads, "rows": rows}


def table_by_model(frame: pl.DataFrame) -> dict[str, Any] | None:
    """Return estimates with a column for each model, the interval below each; None where there are no two models, or
    several estimates of one model in a row."""
    keys = [name for name in ("test", "refusals_removed", "term") if name in frame.columns]
    if "model" not in frame.columns or frame["model"].drop_nulls().n_unique() < 2:
        return None
    rows = frame.drop_nulls("model")
    if rows.select(*keys, "model").is_duplicated().any():
        return None
    numbers = rows.select("estimate", "conf_low", "conf_high").rows()
    texts = [_above_its_interval(*ends) for ends in numbers]
    wide = rows.select(*keys, "model", cell=pl.Series(texts, dtype=pl.String)).pivot(
        on="model", index=keys, values="cell", maintain_order=True
    )
    table = fit_table(wide)
    return table | {"numeric": [name not in keys for name in wide.columns]}


def _above_its_interval(at: float | None, low: float | None, high: float | None) -> str:
    if at is None or low is None or high is None:
        return _text_of(at)
    shown = [rounded(value, high - low) for value in (at, low, high)]
    return f"{shown[0]}\n[{shown[1]},\u00a0{shown[2]}]"


def term_words(term: str, levels: Mapping[str, Sequence[Any]]) -> str:
    """Return a coefficient with its factors and levels apart: "gender: man × job: clerk" for R's
    "genderman:jobclerk", if `levels` has both factors. Any other is unchanged.
    """
    if term.partition(": ")[0] in levels:  # an estimand's term, with its level apart already
        return term
    known = {f"{factor}{level}": f"{factor}: {level}" for factor in levels for level in levels[factor]}
    pattern = "|".join(map(re.escape, sorted(known, key=len, reverse=True)))
    parts = re.findall(rf"(?:^|(?<=:))({pattern}|[^:]*)(?=:|$)", term) if known else [term]
    return " × ".join(known.get(part, part) for part in parts)


def _text_of(value: object) -> str:
    """Return four significant digits, and no decimals from a thousand on."""
    if not isinstance(value, float):
        return "" if value is None else str(value)
    return f"{value:z,.0f}" if 1000 <= abs(value) < 1e15 else f"{value:z.4g}"


def rounded(value: float, width: float | None = None) -> str:
    """Return a number with as many decimals as show two digits of the interval's `width`, where that is known, else of
    the number itself; with all digits before the point, and a true minus."""
    size = abs(value if width is None else width)
    if not (math.isfinite(value) and math.isfinite(size) and size > 0):
        return f"{value:zg}".replace("-", "\u2212")
    digits = max(0, 1 - math.floor(math.log10(size)))
    return f"{value:z,.{digits}f}".replace("-", "\u2212")
