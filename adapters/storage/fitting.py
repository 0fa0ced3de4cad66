"""Which values of an SQLite file PostgreSQL takes: SQLite stores anything in any column."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, TypeAlias

from sqlalchemy import BigInteger, Boolean, Column, DateTime, Float, Integer

INT4, INT8 = 2**31, 2**63
Reader: TypeAlias = Callable[[Any], Any]


class MisfitError(ValueError):
    """A value that PostgreSQL does not take, or that Rostrum would read otherwise there."""


def type_name(column: Column[Any]) -> str:
    """Return PostgreSQL's name of a column's type, as its binary COPY needs it."""
    match column.type:
        case Boolean():
            return "bool"
        case BigInteger():
            return "int8"
        case Integer():
            return "int4"
        case Float():
            return "float8"
        case DateTime():
            return "timestamptz"
        case _:
            return "text"


def reader(column: Column[Any]) -> Reader:
    """Return what turns a stored value of a column into PostgreSQL's; it raises MisfitError.

    Times have no zone in a file, where they are in UTC.
    """
    convert = _converter(column)
    required = column.primary_key or not column.nullable

    def read(value: Any) -> Any:
        if value is not None:
            return convert(value)
        if required:
            raise MisfitError("has no value")
        return None

    return read


def _converter(column: Column[Any]) -> Reader:
    match column.type:
        case Boolean():
            return _boolean
        case BigInteger():
            return lambda value: _whole(value, INT8)
        case Integer():
            return lambda value: _whole(value, INT4)
        case Float():
            return _number
        case DateTime():
            return _moment
    longest: int | None = getattr(column.type, "length", None)
    return _text if longest is None else lambda value: _short(value, longest)


def _boolean(value: Any) -> bool:
    if value not in (0, 1):
        raise MisfitError("is neither true nor false")
    return bool(value)


def _whole(value: Any, limit: int) -> int:
    if not isinstance(value, int):
        raise MisfitError("is not a whole number")
    if not -limit <= value < limit:
        raise MisfitError("is out of range")
    return value


def _number(value: Any) -> float:
    if not isinstance(value, int | float):
        raise MisfitError("is not a number")
    return float(value)


def _moment(value: Any) -> datetime:
    try:
        found = datetime.fromisoformat(value)
    except (TypeError, ValueError):
        raise MisfitError("is not a time") from None
    if found.tzinfo is not None:
        raise MisfitError("is a time with a zone, where all times are in UTC without one")
    return found.replace(tzinfo=UTC)


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise MisfitError("is not a text")
    if "\0" in value:
        raise MisfitError("contains a NUL character")
    try:
        value.isascii() or value.encode()
    except UnicodeEncodeError:
        raise MisfitError("is not UTF-8") from None
    return value


def _short(value: Any, longest: int) -> str:
    text = _text(value)
    if len(text) > longest:
        raise MisfitError(f"is longer than {longest} characters")
    return text
