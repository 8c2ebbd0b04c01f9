"""Convert columns of a Polars frame to R vectors, and back. `ri` is rpy2.rinterface, which only bridge/r.py imports.

Numbers are copied as whole blocks of memory. So is text, as zero-terminated strings that R itself splits: copying a
million strings one by one takes ten seconds.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from typing import Any

import polars as pl

from slant.collector.errors import RError

NA_INTEGER = -(2**31)
_NA_REAL_BITS = 0x7FF00000000007A2  # R distinguishes NA from NaN by the low word 1954 of this NaN
_EXACT = 2**53  # whole numbers beyond it have no exact double
_FEW = 100  # up to here strings are quicker one by one than as a block
_BLOCK = 100_000  # strings; R's writeBin() ends at 2^31 bytes


def vector(ri: Any, column: pl.Series) -> Any:
    """Return a column as an R vector; RError if R has no type for it."""
    dtype = column.dtype
    if dtype in (pl.Boolean, pl.Null):
        return _block(ri.BoolSexpVector, "i", [NA_INTEGER if v is None else v for v in column.to_list()])
    if dtype.is_integer():
        return _whole(ri, column)
    if dtype.is_float():
        return _doubles(ri, column.cast(pl.Float64))
    if dtype in (pl.String, pl.Categorical, pl.Enum):
        return _strings(ri, column.cast(pl.String))
    raise RError(f'The column "{column.name}" is of type {dtype}, which R gets as text or numbers.')


def factor(ri: Any, column: pl.Series, levels: Sequence[str]) -> Any:
    """Return texts as a factor with these levels; RError if it holds anything else."""
    codes = {level: number for number, level in enumerate(levels, start=1)}
    unknown = set(column.drop_nulls().cast(pl.String).unique()) - set(codes)
    if unknown:
        raise RError(
            f'The column "{column.name}" holds {sorted(unknown)[0]!r}, which is not one of its levels.',
            f"Levels: {', '.join(levels)}",
        )
    numbers = [NA_INTEGER if v is None else codes[v] for v in column.cast(pl.String).to_list()]
    r_factor = _block(ri.IntSexpVector, "i", numbers)
    r_factor.do_slot_assign("levels", ri.StrSexpVector(list(levels)))
    r_factor.rclass = ri.StrSexpVector(["factor"])
    return r_factor


def series(ri: Any, vector: Any) -> pl.Series:
    """Return an R vector as a column: Int64, Float64, Boolean or String."""
    if isinstance(vector, ri.StrSexpVector):
        return _texts(ri, vector)
    if isinstance(vector, ri.FloatSexpVector):
        raw_bytes = _bytes(ri, vector, 8)
        values: list[float | None] = array("d", raw_bytes).tolist()  # type: ignore[assignment]
        bits = memoryview(raw_bytes).cast("Q")
        for place in [place for place, value in enumerate(values) if value != value]:  # NaN alone differs from itself
            if bits[place] & 0xFFFFFFFF == _NA_REAL_BITS & 0xFFFFFFFF:
                values[place] = None
        return pl.Series(values, dtype=pl.Float64)
    if isinstance(vector, ri.IntSexpVector | ri.BoolSexpVector):
        numbers = array("i", _bytes(ri, vector, 4)).tolist()
        if isinstance(vector, ri.BoolSexpVector):
            return pl.Series([None if v == NA_INTEGER else v != 0 for v in numbers], dtype=pl.Boolean)
        if "factor" in vector.rclass:
            levels = list(vector.do_slot("levels"))
            return pl.Series([None if v == NA_INTEGER else levels[v - 1] for v in numbers], dtype=pl.String)
        return pl.Series([None if v == NA_INTEGER else v for v in numbers], dtype=pl.Int64)
    raise RError(f"A column of R's type {vector.typeof} has no counterpart in a table.")


def _block(kind: Any, code: str, numbers: Sequence[Any]) -> Any:
    return kind.from_memoryview(memoryview(array(code, numbers))) if numbers else kind([])


def _whole(ri: Any, column: pl.Series) -> Any:
    largest = max((abs(v) for v in (column.min(), column.max()) if isinstance(v, int)), default=0)
    if largest > _EXACT:
        raise RError(f'The column "{column.name}" holds {largest}: beyond 2^53 R has no exact number for it.')
    if largest >= -NA_INTEGER:
        return _doubles(ri, column.cast(pl.Float64))
    return _block(ri.IntSexpVector, "i", _filled(column.cast(pl.Int64), NA_INTEGER).to_list())


def _doubles(ri: Any, column: pl.Series) -> Any:
    if column.is_empty():
        return ri.FloatSexpVector([])
    numbers = array("d", _filled(column, 0.0).to_list())
    if column.null_count():
        bits = memoryview(numbers).cast("B").cast("Q")
        for place in column.is_null().arg_true():
            bits[place] = _NA_REAL_BITS
    return ri.FloatSexpVector.from_memoryview(memoryview(numbers))


def _filled(column: pl.Series, value: float | str) -> pl.Series:
    """Return it without nulls; if there are none, do nothing, as Polars would take a quarter of a millisecond."""
    return column.fill_null(value) if column.null_count() else column


def _strings(ri: Any, column: pl.Series) -> Any:
    if len(column) <= _FEW:
        few = column.to_list()
        _check_no_nul(column, sum(text.count("\0") for text in few if text))
        return ri.StrSexpVector([ri.NA_Character if text is None else text for text in few])
    parts = [_string_block(ri, column.slice(start, _BLOCK)) for start in range(0, len(column), _BLOCK)]
    strings = ri.baseenv["c"](*parts) if len(parts) > 1 else parts[0]
    if column.null_count():
        missing = [place + 1 for place in column.is_null().arg_true()]
        strings = ri.baseenv["is.na<-"](strings, _block(ri.IntSexpVector, "i", missing))
    return strings


def _string_block(ri: Any, column: pl.Series) -> Any:
    joined: bytes = _filled(column, "").str.join("\0").item().encode() + b"\0"
    _check_no_nul(column, joined.count(b"\0") - len(column))
    texts = ri.baseenv["readBin"](ri.ByteSexpVector.from_memoryview(memoryview(joined)), "character", len(column))
    return ri.baseenv["Encoding<-"](texts, "UTF-8")


def _check_no_nul(column: pl.Series, count: int) -> None:
    if count:
        raise RError(f'The column "{column.name}" holds a NUL character, which R can\'t keep in text.')


def _texts(ri: Any, vector: Any) -> pl.Series:
    count = len(vector)
    if count <= _FEW:
        return pl.Series([None if v is ri.NA_Character else str(v) for v in vector], dtype=pl.String)
    base = ri.baseenv
    blocks = []
    for start in range(0, count, _BLOCK):
        places = base["seq.int"](start + 1, min(start + _BLOCK, count))
        zero_ended = base["writeBin"](base["enc2utf8"](base["["](vector, places)), ri.ByteSexpVector([]))
        joined = pl.Series([_bytes(ri, zero_ended, 1)[:-1].decode()])
        blocks.append(joined.str.split("\0").explode())
    texts = pl.concat(blocks)
    if not base["anyNA"](vector)[0]:
        return texts
    is_missing = pl.Series("", array("i", _bytes(ri, base["is.na"](vector), 4)).tolist()).cast(pl.Boolean)
    return texts.set(is_missing, None)


def _bytes(ri: Any, vector: Any, n_bytes: int) -> bytes:
    """Return a copy of what an R vector holds, with `n_bytes` per element.

    This avoids memoryview(): each call of that returns a reference to None which it never took (rpy2-rinterface
    3.6.5), and after some thousands of tables Python 3.11 ends with "deallocating None".
    """
    if not len(vector):
        return b""
    return bytes(ri.openrlib.ffi.buffer(vector._R_GET_PTR(vector.__sexp__._cdata), n_bytes * len(vector)))
