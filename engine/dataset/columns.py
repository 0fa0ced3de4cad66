"""What columns and tables are; a column is declared once, and everything else is made of that.

Rows, the types in Parquet, the card and docs/dataset.md come of the declarations. Bump
`SCHEMA_VERSION` with any change that a reader of an export could notice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import datetime
from typing import Any, Generic, Literal, NamedTuple, TypeAlias, TypeVar

from engine.dataset.entry import Entry

SCHEMA_VERSION = 4

S = TypeVar("S")
P = TypeVar("P")
Scalar: TypeAlias = Literal["string", "bool", "int64", "float64", "timestamp[s, tz=UTC]"]
TEXT: Scalar = "string"
FLAG: Scalar = "bool"
WHOLE: Scalar = "int64"
REAL: Scalar = "float64"
# ISO 8601 in JSON. Declared as text it would lose its zone: readers of JSON take it for a moment
# without asking, and then write it out in their own way.
MOMENT: Scalar = "timestamp[s, tz=UTC]"
Maker: TypeAlias = Literal["Rostrum", "asker", "model", "backend", "juror", "judge", "people"]
Row: TypeAlias = dict[str, Any]


class Column(NamedTuple, Generic[S]):
    """A column: its name, its type, what it holds, and how that is read from a row's source.

    The type is a scalar, or the fields of the records that it is a list of. `about` says what it
    holds and, behind the last semicolon, when it is null. `value` is a function of the source,
    the path of an attribute (empty: the one of the column's name) or a place in a tuple. `maker`
    is who made what it holds, `unit` what it is measured in. `part`, if given, is where in the
    source `value` is read from: a path, and the column is null where it leads to None, or a place.
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
        """What the column holds, without when it is null."""
        return self.about.rpartition("; null")[0] or self.about


class OfDebate(Column[Entry]):
    """A column of which all rows of a debate hold the same, read from the debate's entry."""


class Table(Generic[S]):
    """A table: its name, what one row is, where a debate's rows come from, and its columns.

    `repeats`: each row has the debate's whole text, in chats that are never null.
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
        """Return a debate's rows, with the keys in the order of the columns.

        A cell may be JSON already, as an orjson.Fragment.
        """
        return self._make(entry, self._sources(entry))


def _compile(columns: Iterable[Column[Any]]) -> Callable[[Entry | None, Iterable[Any]], list[Row]]:
    """Return what makes rows of their sources, and of the entry of their debate.

    It is compiled, as a named tuple's methods are: rows come by the million, and none may take
    longer than one that is written out by hand.
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
    """Return Python that reads a cell."""
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
    """Return a column of lists: its fields of each record; null for no records at all.

    Maps are written as lists of records, because a table's columns must not depend on how many
    sides a format has.
    """
    make = _compile(fields)

    def value(source: S) -> list[Row] | None:
        found = records(source)
        return None if found is None else make(None, found)

    return Column(name, fields, about, value)


def part_of(part: str | int, *columns: Column[Any]) -> tuple[Column[Any], ...]:
    """Return columns that are read from a part of the source; see `Column`."""
    return tuple(column._replace(part=part) for column in columns)


def by(maker: Maker, *columns: Column[S]) -> tuple[Column[S], ...]:
    """Return columns as those of one maker; those that name another keep it."""
    return tuple(
        column if column.maker != "Rostrum" else column._replace(maker=maker) for column in columns
    )


def moment(at: datetime | None) -> str | None:
    """Return a moment as it is written, to the second."""
    return f"{at.isoformat()[:19]}Z" if at else None


DEBATE = OfDebate("debate_id", TEXT, "the debate, by ULID; joins the tables", "debate.id")
SPLIT = OfDebate("split", TEXT, "`train`, `validation` or `test`, by topic")
REPLACED = OfDebate(
    "replaced",
    TEXT,
    "models that others took the place of while the debate went on, as `old=new, …`; null for none",
)
PLATFORM = OfDebate(
    "platform", TEXT, "where it was held: `terminal`, `discord`, `slack`", "debate.platform"
)
BALLOT = OfDebate(
    "ballot",
    TEXT,
    "`open`, `secret` or `private`",
    lambda entry: entry.debate.request.ballot.value,
)
RUBRIC = OfDebate(
    "rubric",
    TEXT,
    "the criteria and weights that jurors scored by; `panel` is an earlier name of `debate`",
    "debate.setup.panel.rubric",
)
SIDE: Column[Any] = Column("side", TEXT, "the contender")
SIDE_FIRST: Column[Any] = SIDE._replace(value=0)
STEP: Column[Any] = Column(
    "step", TEXT, "the turn's name in its debate; `scores` and `adjustments` have it as `subject`"
)
# Of a reply or a ballot; and of a journaled call or a ballot.
SPENT: tuple[Column[Any], ...] = (
    Column("tokens_in", WHOLE, "what the call read; null where the backend does not say",
           "usage.tokens_in", "backend", "tokens"),
    Column("tokens_out", WHOLE, "what the call wrote; null where the backend does not say",
           "usage.tokens_out", "backend", "tokens"),
    Column("latency_s", REAL, "how long the call that succeeded took; null without one",
           "latency", unit="seconds"),
    Column("cost_usd", REAL, "what that call cost; null when the price is unknown",
           "cost", "backend", "USD"),
)  # fmt: skip
CALL: tuple[Column[Any], ...] = (
    Column("cost_origin", TEXT,
           "where that cost is known from: `reply`, `settings`, `backend`, `bundled`, `local`, or "
           "`unknown`; null without a call", lambda call: call.cost_origin or None),
    Column("prompt_hash", TEXT, "SHA-256 of the prompt's messages; null without a call",
           lambda call: call.prompt_hash or None),
)  # fmt: skip
MESSAGES: tuple[Column[Any], ...] = (
    Column("content", TEXT, "the message, in Markdown; mentions removed"),
    Column("role", TEXT, "`user` or `assistant`"),
)
