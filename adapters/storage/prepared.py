"""Statements of the hot path: compiled once, and run on the driver's own cursor.

SQLAlchemy's execution of a statement, compiled or not, takes about ten times what SQLite's does,
and a model call takes a dozen of them.
"""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any

from sqlalchemy import ColumnElement, Delete, Insert, Select, Update, literal_column
from sqlalchemy.dialects import sqlite
from sqlalchemy.types import TypeEngine

from adapters.storage.connection import Connection

Convert = Callable[[Any], Any]
DIALECT = sqlite.dialect(paramstyle="named", native_datetime=True)


def one_of(column: ColumnElement[Any], *names: str) -> ColumnElement[bool]:
    """Return the condition that a column has one of some names of ours, written out.

    Only with its values in the text can a partial index answer a statement.
    """
    return column.in_([literal_column(f"'{name}'") for name in names])


class Prepared:
    """One statement, without lists of changing length (`IN`); its parameters go by name.

    An insert or update names in `columns` those that it is given values for.
    """

    def __init__(
        self, statement: Select[Any] | Insert | Update | Delete, columns: Iterable[str] = ()
    ) -> None:
        self._statement = statement
        self._columns = tuple(columns)

    def run(self, connection: Connection, values: Mapping[str, Any]) -> int:
        """Run an insert or update; return how many rows it changed."""
        return int(self._execute(connection, values).rowcount)

    def rows(self, connection: Connection, values: Mapping[str, Any]) -> list[Any]:
        """Return what a query finds, or a change returns, as named tuples."""
        return self.read(self._execute(connection, values).fetchall())

    def _execute(self, connection: Connection, values: Mapping[str, Any]) -> Any:
        return connection.driver.execute(self.sql, self.bind(values))

    def bind(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Return the parameters as the driver takes them."""
        bound = {**self._known, **values}
        for name, convert in self._writers.items():
            bound[name] = convert(bound[name])
        return bound

    def read(self, found: Iterable[Sequence[Any]]) -> list[Any]:
        """Return the driver's rows as named tuples of our types."""
        converts = self._readers

        def convert(row: Sequence[Any]) -> Any:
            values = zip(converts, row, strict=True)
            return self._row(*(read(value) if read else value for read, value in values))

        return list(map(convert, found))

    @cached_property
    def sql(self) -> str:
        """The statement's text, with named parameters."""
        return str(self._compiled)

    @cached_property
    def _compiled(self) -> Any:
        return self._statement.compile(dialect=DIALECT, column_keys=self._columns or None)

    @cached_property
    def _known(self) -> dict[str, Any]:
        bound = self._compiled.binds.items()
        return {name: one.value for name, one in bound if one.value is not None}

    @cached_property
    def _writers(self) -> dict[str, Convert]:
        types = {name: bound.type for name, bound in self._compiled.binds.items()}
        return {
            name: convert
            for name, kind in types.items()
            if (convert := _implement(kind).bind_processor(DIALECT)) is not None
        }

    @cached_property
    def _readers(self) -> tuple[Convert | None, ...]:
        columns = self._statement.exported_columns
        return tuple(_implement(one.type).result_processor(DIALECT, None) for one in columns)

    @cached_property
    def _row(self) -> Any:
        return namedtuple("Row", [str(column.key) for column in self._statement.exported_columns])


def _implement(kind: TypeEngine[Any]) -> TypeEngine[Any]:
    return kind.dialect_impl(DIALECT)
