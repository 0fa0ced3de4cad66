"""Columns and tables: each column is declared once, and everything else derives from that.

Rows, Parquet types, the card and docs/dataset.md derive from the declarations. Bump
`SCHEMA_VERSION` with any change that a reader of an export can notice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import datetime
from typing import Any, Generic, Literal, NamedTuple, TypeAlias, TypeVar

from engine.dataset.entry import Entry
from engine.values.options import PARAMS

SCHEMA_VERSION = 1

S = TypeVar("S")
P = TypeVar("P")
Scalar: TypeAlias = Literal["string", "bool", "int64", "float64", "timestamp[s, tz=UTC]"]
TEXT: Scalar = "string"
FLAG: Scalar = "bool"
WHOLE: Scalar = "int64"
REAL: Scalar = "float64"
# ISO 8601 in JSON. Declared as text it would lose its zone: JSON readers parse such texts as
# timestamps anyway, and then format them in their own way.
MOMENT: Scalar = "timestamp[s, tz=UTC]"
Maker: TypeAlias = Literal["Rostrum", "asker", "model", "backend", "juror", "judge", "people"]
Row: TypeAlias = dict[str, Any]


class Column(NamedTuple, Generic[S]):
    """A column: its name, type and meaning, and how its value is read from a row's source.

    The type is a scalar, or the fields of a list of records. `about` is the meaning and, after the
    last semicolon, when the column is null. `value` is a function of the source, an attribute path
    (empty: the column's name; `x or None`: null where x is empty) or an index. `maker` is who made
    the value, `unit` its unit. `part` is the part of the source to read from: a path (the column is
    null if that is None) or an index.
    """

    name: str
    type: Scalar | tuple[Column[Any], ...]
    about: str
    value: Callable[[S], Any] | str | int = ""
    maker: Maker = "Rostrum"
    unit: str = ""
    part: str | int = ""

    @property
    def null(self) -> str:
        """When the column is null; empty for never."""
        _, found, when = self.about.rpartition("; null")
        return when.strip() if found else ""

    @property
    def meaning(self) -> str:
        """The meaning, without when it is null."""
        return self.about.rpartition("; null")[0] or self.about


class OfDebate(Column[Entry]):
    """A column with the same value in all rows of a debate, read from its entry."""


class Table(Generic[S]):
    """A table: its name, what one row is, the sources of a debate's rows, and the columns.

    `repeats`: each row contains the debate's whole text, in chats that are never null.
    """

    def __init__(
        self,
        name: str,
        about: str,
        sources: Callable[[Entry], Iterable[S]],
        columns: tuple[Column[S] | OfDebate, ...],
        *,
        repeats: bool = False,
    ) -> None:
        self.name, self.about, self.columns, self.repeats = name, about, columns, repeats
        self._sources = sources
        self._make = _compile(columns)

    def rows(self, entry: Entry) -> list[Row]:
        """Return a debate's rows, with keys in column order.

        A cell may be an orjson.Fragment, which is JSON already.
        """
        return self._make(entry, self._sources(entry))

    def fits(self, row: object) -> bool:
        """Return whether something that was read back is a row of this table."""
        return _fits(self.columns, row)


_CELLS: dict[Scalar, type | tuple[type, ...]] = {
    TEXT: str, FLAG: bool, WHOLE: int, REAL: (int, float), MOMENT: str
}  # fmt: skip


def _fits(columns: Iterable[Column[Any]], row: object) -> bool:
    if not isinstance(row, dict):
        return False
    return all(one.name in row and _is_cell(one, row[one.name]) for one in columns)


def _is_cell(column: Column[Any], cell: object) -> bool:
    if cell is None:
        return bool(column.null)
    if isinstance(column.type, tuple):
        return isinstance(cell, list) and all(_fits(column.type, one) for one in cell)
    is_flag = isinstance(cell, bool)  # which Python takes for a whole number
    return isinstance(cell, _CELLS[column.type]) and is_flag == (column.type == FLAG)


def _compile(columns: Iterable[Column[Any]]) -> Callable[[Entry | None, Iterable[Any]], list[Row]]:
    """Return a function that makes rows from their sources and the debate's entry.

    It is compiled code, as for named tuples: there are millions of rows, and each must be as fast
    as handwritten code.
    """
    functions: dict[str, Any] = {}
    shared: dict[str, str] = {}
    cells = []
    for number, column in enumerate(columns):
        function, cell = f"value_{number}", f"shared_{number}"
        functions[function] = column.value
        if isinstance(column, OfDebate):
            shared[cell] = _spell(column, "entry", function)
        else:
            cell = _spell(column, "source", function)
        cells.append(f"{column.name!r}: {cell}")
    rows = f"lambda {', '.join(shared)}: [{{{', '.join(cells)}}} for source in sources]"
    code = f"lambda entry, sources: ({rows})({', '.join(shared.values())})"
    make: Callable[[Entry | None, Iterable[Any]], list[Row]] = eval(code, functions)  # noqa: S307
    return make


def _spell(column: Column[Any], source: str, function: str) -> str:
    """Return the Python expression of a cell."""
    if isinstance(column.part, int):
        source = f"{source}[{column.part}]"
    elif column.part:
        cell = _spell(column._replace(part=""), "part", function)
        return f"None if (part := {source}.{column.part}) is None else {cell}"
    if callable(column.value):
        return f"{function}({source})"
    if isinstance(column.value, int):
        return f"{source}[{column.value}]"
    return f"{source}.{column.value or column.name}"


def list_of(
    name: str,
    fields: tuple[Column[P], ...],
    about: str,
    records: Callable[[S], Iterable[P] | None],
) -> Column[S]:
    """Return a column of lists of records, null if there are none.

    Maps become lists of records, because a table's columns must not depend on the number of sides.
    """
    make = _compile(fields)

    def value(source: S) -> list[Row] | None:
        found = records(source)
        return None if found is None else make(None, found)

    return Column(name, fields, about, value)


def part_of(part: str | int, *columns: Column[Any]) -> tuple[Column[Any], ...]:
    """Return columns read from a part of the source; see `Column`."""
    return tuple(column._replace(part=part) for column in columns)


def by(maker: Maker, *columns: Column[S]) -> tuple[Column[S], ...]:
    """Return columns with a maker; those that name another one keep it."""
    return tuple(
        column if column.maker != "Rostrum" else column._replace(maker=maker) for column in columns
    )


def moment(at: datetime | None) -> str | None:
    """Return a time as text, to the second."""
    return f"{at.isoformat()[:19]}Z" if at else None


DEBATE = OfDebate("debate_id", TEXT, "the debate's ULID; joins the tables", "debate.id")
SPLIT = OfDebate("split", TEXT, "`train`, `validation` or `test`, by topic")
REPLACED = OfDebate(
    "replaced",
    TEXT,
    "models replaced during the debate, as `old=new, …`; null for none",
)
PLATFORM = OfDebate(
    "platform",
    TEXT,
    "`terminal`, `discord` or `slack`; `series` for what `rostrum series` held without a chat",
    "debate.platform",
)
BALLOT = OfDebate(
    "ballot",
    TEXT,
    PARAMS["ballot"].column,
    lambda entry: entry.debate.request.ballot.value,
)
RUBRIC = OfDebate(
    "rubric",
    TEXT,
    "the criteria and weights that jurors scored by; `panel`, of structured's judge, has those of "
    "`debate`",
    "debate.setup.panel.rubric",
)
SIDE: Column[Any] = Column("side", TEXT, "the contender")
SIDE_FIRST: Column[Any] = SIDE._replace(value=0)
STEP: Column[Any] = Column(
    "step", TEXT, "the turn's name in its debate; `scores` and `adjustments` have it as `subject`"
)
# The first of a reply or a ballot, the second of a journaled call or a ballot.
SPENT: tuple[Column[Any], ...] = (
    Column("tokens_in", WHOLE, "tokens that the call read; null if the backend does not say",
           "usage.tokens_in", "backend", "tokens"),
    Column("tokens_cached", WHOLE,
           "of them, those from the backend's cache; null if the backend does not say",
           "usage.tokens_cached", "backend", "tokens"),
    Column("tokens_out", WHOLE, "tokens that the call wrote; null if the backend does not say",
           "usage.tokens_out", "backend", "tokens"),
    Column("latency_s", REAL, "time of the successful call; null without one",
           "latency", unit="seconds"),
    Column("cost_usd", REAL, "cost of that call; null if the price is unknown",
           "cost", "backend", "USD"),
)  # fmt: skip
CALL: tuple[Column[Any], ...] = (
    Column("cost_origin", TEXT,
           "source of that cost: `reply`, `settings`, `backend`, `bundled`, `local`, or "
           "`unknown`; null without a call", "cost_origin or None"),
    Column("prompt_hash", TEXT, "SHA-256 of the prompt's messages; null without a call",
           "prompt_hash or None"),
)  # fmt: skip
MESSAGES: tuple[Column[Any], ...] = (
    Column("content", TEXT, "the message, in Markdown; mentions removed"),
    Column("role", TEXT, "`user` or `assistant`"),
)
