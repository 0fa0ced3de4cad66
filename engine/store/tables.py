"""The tables. Columns have a comment where their names do not say enough."""

from __future__ import annotations

from typing import Any

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    DateTime,
    Float,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    UniqueConstraint,
    false,
    text,
)
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import TypeCompiler

NAMING = {
    "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "fk": "fk_%(table_name)s_%(column_0_N_name)s",
    "pk": "pk_%(table_name)s",
}


@compiles(String, "postgresql")
@compiles(Text, "postgresql")
def _spell_text(_: String, __: TypeCompiler, **___: Any) -> str:
    """Let PostgreSQL take texts of any length and compare them by their bytes, as SQLite does.

    Its own order is the server's, and an index breaks when an update of that changes the order.
    """
    return 'TEXT COLLATE "C"'


Utc = DateTime(timezone=True)
"""A datetime; SQLite, which has no time zones, stores it in UTC."""


def partial_index(name: str, *columns: str, where: str) -> Index:
    """Return an index of a table's few pending rows, for both databases.

    A query uses it only if it has the same condition, with literal values.
    """
    condition = text(where)
    return Index(f"ix_{name}", *columns, sqlite_where=condition, postgresql_where=condition)


metadata = MetaData(naming_convention=NAMING)
OPEN = "closed_at IS NULL AND closes_at IS NOT NULL"

installation = Table(
    "installation",
    metadata,
    Column("name", String(64), primary_key=True),
    Column("value", Text, nullable=False),
    comment="What is fixed for this installation: secrets by name (hex), the debate counter",
)

leases = Table(
    "leases",
    metadata,
    Column("name", String(80), primary_key=True),
    Column("epoch", Integer, nullable=False),
    Column("holder", String(64), nullable=False),
    Column("until", Utc, nullable=False),
    partial_index("leases_held", "holder", where="holder <> ''"),
)

people = Table(
    "people",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("platform", String(32), nullable=False),
    Column("user", String(128), comment="null for one who was forgotten"),
    Column("opted_out", Boolean, nullable=False, default=False, comment="of exports"),
    Column("since", Utc, comment="of one who came back: what began before takes no answers"),
    Column("bot", Boolean, comment="null where it was never asked"),
    Column(
        "scoreboard",
        Boolean,
        nullable=False,
        server_default=false(),
        comment="wants to be named among those who guess models",
    ),
    UniqueConstraint("platform", "user"),
    comment="The only place where a platform's user id is kept",
)

tombstones = Table(
    "tombstones",
    metadata,
    Column("digest", String(64), primary_key=True, comment="keyed hash of platform and user id"),
    comment="Who was forgotten and is not to be stored; nothing says which number they had",
)

usage = Table(
    "usage",
    metadata,
    Column("scope", String(200), primary_key=True),
    Column("day", String(10), primary_key=True),
    Column("reserved_usd", Float, nullable=False, default=0.0),
    Column("spent_usd", Float, nullable=False, default=0.0),
    Column("debates", Integer, nullable=False, default=0),
    Column("warned", Boolean, nullable=False, server_default=false(), comment="of nearing its cap"),
    Column(
        "purged",
        Boolean,
        nullable=False,
        server_default=false(),
        comment="it stays until its day is over, though its community's data was deleted",
    ),
    Index(None, "day"),
    partial_index("usage_purged", "day", where="purged"),
    comment="Budgets: a community's money and a person's debates, by UTC day",
)

templates = Table(
    "templates",
    metadata,
    Column("digest", String(64), primary_key=True),
    Column("texts", Text, nullable=False),
)

communities = Table(
    "communities",
    metadata,
    Column("platform", String(32), primary_key=True),
    Column("community", String(128), primary_key=True),
    Column("settings", Text, nullable=False, default="{}"),
    Column("joined_at", Utc, nullable=False),
    Column("left_at", Utc, comment="when it removed Rostrum, which deletes its settings"),
    Column("page", String(32), comment="the key of its page on the web"),
    Index(None, "page", unique=True),
    comment="What communities have set for their debates",
)

installs = Table(
    "installs",
    metadata,
    Column("platform", String(32), primary_key=True),
    Column("community", String(128), primary_key=True),
    Column("name", String(255), nullable=False),
    Column("account", String(128), nullable=False, comment="the bot's own user there"),
    Column("token", Text, nullable=False, comment="encrypted with ROSTRUM_SECRET_KEY"),
    Column("installed_at", Utc, nullable=False),
    comment="What communities gave that installed Rostrum by themselves",
)

install_states = Table(
    "install_states",
    metadata,
    Column("digest", String(64), primary_key=True, comment="of the state that comes back"),
    Column("until", Utc, nullable=False),
    comment="Who has begun to install Rostrum",
)

debates = Table(
    "debates",
    metadata,
    Column("id", String(26), primary_key=True),
    Column("number", Integer, nullable=False, unique=True),
    Column("platform", String(32), nullable=False),
    Column("community", String(128), nullable=False),
    Column("place", String(128), nullable=False),
    Column("starter", ForeignKey("people.id"), index=True),
    Column("status", String(16), nullable=False),
    Column("reason", Text, nullable=False, default=""),
    Column("stop", Text, comment="why it was asked to stop"),
    Column("gone", Boolean, nullable=False, default=False, comment="its thread was lost"),
    Column("thread", String(128)),
    Column("format", String(32), nullable=False),
    Column("language", String(35), nullable=False),
    Column("setup", Text, nullable=False),
    Column(
        "rehearsal",
        Boolean,
        nullable=False,
        server_default=false(),
        comment="a speaker or juror is no language model",
    ),
    Column("reserved_usd", Float, nullable=False, default=0.0),
    Column("budget_day", String(10), nullable=False, comment="the UTC day it is counted in"),
    Column("settled_usd", Float, nullable=False, default=0.0, comment="counted in usage already"),
    Column("created_at", Utc, nullable=False),
    Column("opened_at", Utc, comment="when the thread was opened"),
    Column("read_at", Utc, comment="until when people read the newest turn that was posted"),
    Column("closed_early", Boolean, nullable=False, default=False),
    Column("revealed_at", Utc),
    Column("mirror", String(26), comment="the debate that is this one with sides exchanged"),
    Column("mirror_revealed_at", Utc, comment="when that one named the models"),
    Column(
        "gaps",
        Integer,
        nullable=False,
        server_default="0",
        comment="messages that are missing in its thread, or may be",
    ),
    Column(
        "scripted",
        Boolean,
        nullable=False,
        server_default=false(),
        comment="its votes were options of a command, or several came from one keyboard",
    ),
    Column("rematch_of", String(26), comment="the debate that this one holds once more"),
    Column("series", String(64), comment="the series that it is part of"),
    Column("series_key", String(32), comment="which debate of the series it is"),
    Column("arm", String(64), comment="the arm of the series that it fell to; null: it has none"),
    Column("cause", String(16), comment="the kind of reason for an early end"),
    Column("cause_model", String(200), comment="the model that caused it"),
    Column("pruned_at", Utc, comment="when its prompts and raw replies were deleted"),
    Column(
        "partition_key",
        BigInteger,
        comment="its community's, from which its share of the platform follows; null: 0",
    ),
    Index(None, "status", "platform", "community"),
    Index(None, "platform", "thread"),
    Index(None, "community", "created_at"),
    Index(None, "mirror"),
    Index(None, "rematch_of"),
    Index(None, "series", "series_key", unique=True),
    Index(None, "created_at"),
    partial_index("debates_unpruned", "created_at", where="pruned_at IS NULL"),
)

listings = Table(
    "listings",
    metadata,
    Column("debate", ForeignKey("debates.id"), primary_key=True),
    Column("topic", Text, nullable=False, comment="in one case, without mentions"),
    Column("models", Text, nullable=False, comment="that speak, between spaces"),
    Column("people", String(32), comment="who won by gold votes; null: people did not decide"),
    Column("jury", String(32), comment="who won by a blind panel; null: it did not decide"),
    Column("agree", Boolean, comment="whether people and jury agree; null: one did not decide"),
    Column("votes", Integer, comment="standing votes; null: it was not revealed"),
    Column("dispute", Float, comment="how far people and jury are apart, 0 to 1; null as agree"),
    Column("lead", Float, comment="of the winner by people, else by the jury, 0 to 1"),
    Column("usd", Float, comment="as its settled_usd, which stands behind a large text"),
    comment="What lists of debates are searched by",
)

series = Table(
    "series",
    metadata,
    Column("name", String(64), primary_key=True),
    Column("body", Text, nullable=False, comment="JSON: what its file holds, checked"),
    Column("usd", Float, comment="what it may cost in all; null: no cap"),
    Column("stop", Boolean, nullable=False, server_default=false(), comment="it begins no more"),
    Column("begun_at", Utc, nullable=False),
    Column("platform", String(32), comment="where people watch it; null: nowhere"),
    Column("community", String(128)),
    Column("due_at", Utc, comment="when its next debate may begin; null: nothing is planned"),
    Column("problem", Text, comment="why its next debate cannot begin; null: it can"),
    comment="Experiments of many debates",
)

suggestions = Table(
    "suggestions",
    metadata,
    Column("number", Integer, primary_key=True),
    Column("platform", String(32), nullable=False),
    Column("community", String(128), nullable=False),
    Column("topic", String(16), nullable=False, comment="the id that its rewordings share"),
    Column("text", Text, nullable=False),
    Column("suggester", ForeignKey("people.id"), index=True, comment="null: was forgotten"),
    Column("approved", Boolean, nullable=False),
    Column("suggested_at", Utc, nullable=False),
    Column("debate", String(26), index=True, comment="that was held on it; null: none yet"),
    UniqueConstraint("platform", "community", "topic"),
    comment="Topics that people of a community suggested",
)

deletions = Table(
    "deletions",
    metadata,
    Column("debate", String(26), primary_key=True, comment="which may be deleted already"),
    Column("platform", String(32), nullable=False),
    Column("community", String(128), nullable=False),
    Column("partition_key", BigInteger, comment="as the debate's"),
    Column("asked_at", Utc, nullable=False),
    Column("body", Text, comment="JSON: what is left of it in the chat; null: all of it"),
    comment="Debates that people had deleted, until their messages are gone",
)

upvotes = Table(
    "upvotes",
    metadata,
    Column("suggestion", ForeignKey("suggestions.number"), primary_key=True),
    Column("person", ForeignKey("people.id"), primary_key=True, index=True),
    comment="Who wants which suggested topic debated",
)

calls = Table(
    "calls",
    metadata,
    Column("debate", ForeignKey("debates.id"), primary_key=True),
    Column("step", String(255), primary_key=True),
    Column("attempt", Integer, primary_key=True),
    Column("role", String(8), nullable=False, comment="debater, juror or judge"),
    Column("state", String(8), nullable=False, comment="out, done, failed or lost"),
    Column("model", String(200), nullable=False),
    Column("request", Text, nullable=False),
    Column("prompt_hash", String(64), nullable=False),
    Column("reply", Text),
    Column("error", Text, nullable=False, default=""),
    Column("tokens_in", Integer),
    Column("tokens_out", Integer),
    Column("tokens_reasoning", Integer),
    Column("tokens_cached", Integer),
    Column("cost", Float),
    Column("cost_max", Float, nullable=False),
    Column(
        "cost_origin",
        String(8),
        nullable=False,
        server_default="unknown",
        comment="where the cost is known from",
    ),
    Column("latency", Float),
    Column("started_at", Utc, nullable=False),
    partial_index("calls_out", "state", where="state = 'out'"),
    comment="The journal: every try of every model call",
)

turns = Table(
    "turns",
    metadata,
    Column("debate", ForeignKey("debates.id"), primary_key=True),
    Column("step", String(255), primary_key=True),
    Column("number", Integer, nullable=False),
    Column("body", Text, nullable=False),
)

ballots = Table(
    "ballots",
    metadata,
    Column("debate", ForeignKey("debates.id"), primary_key=True),
    Column("step", String(255), primary_key=True),
    Column("juror", String(200), nullable=False),
    Column("valid", Boolean, nullable=False),
    Column("body", Text, nullable=False, comment="without what the journal holds of its call"),
)

verdicts = Table(
    "verdicts",
    metadata,
    Column("debate", ForeignKey("debates.id"), primary_key=True),
    Column("judge", String(32), primary_key=True),
    Column("body", Text, nullable=False),
)

artifacts = Table(
    "artifacts",
    metadata,
    Column("debate", ForeignKey("debates.id"), primary_key=True),
    Column("name", String(255), primary_key=True),
    Column("kind", String(32), nullable=False),
    Column("valid", Boolean, nullable=False),
    Column("body", Text, nullable=False, comment="JSON; of which type, its kind says"),
)

scores = Table(
    "scores",
    metadata,
    Column("debate", ForeignKey("debates.id"), primary_key=True),
    Column("subject", String(255), primary_key=True, comment="a turn's step, an argument's id"),
    Column("side", String(8), primary_key=True),
    Column("criterion", String(32), primary_key=True),
    Column("value", Float, nullable=False),
    Column("original", Float, comment="what the judge said, where a rule moved it"),
    Column("spread", Float, comment="of several judges: the highest less the lowest"),
    comment="Append-only: what a format's own judge gave",
)

adjustments = Table(
    "adjustments",
    metadata,
    Column("debate", ForeignKey("debates.id"), primary_key=True),
    Column("name", String(255), primary_key=True),
    Column("subject", String(255), nullable=False),
    Column("side", String(8), nullable=False),
    Column("criterion", String(32), nullable=False),
    Column("amount", Float, nullable=False),
    Column("reason", Text, nullable=False),
    Column("by", String(255), nullable=False, comment="what brought it about"),
    comment="Append-only: points added to scores after they were given",
)

judgings = Table(
    "judgings",
    metadata,
    Column("debate", ForeignKey("debates.id"), primary_key=True),
    Column("number", Integer, primary_key=True),
    Column("judges", Text, nullable=False, comment="JSON: the models that judge"),
    Column("body", Text, comment="JSON: what they found; null while they are asked"),
    Column("mode", String(16), comment="of another jury; null for judges of the format"),
    comment="A debate that ended, scored again by other judges, beside the first",
)

vote_events = Table(
    "vote_events",
    metadata,
    Column("number", Integer, primary_key=True),
    Column("debate", ForeignKey("debates.id"), nullable=False),
    Column("person", ForeignKey("people.id"), nullable=False, index=True),
    Column("option", String(8), nullable=False),
    Column("variant", String(160), nullable=False, default="", comment="of the reaction"),
    Column("added", Boolean, nullable=False),
    Column("how", String(12), nullable=False),
    Column("event", String(128)),
    Column("received_at", Utc, nullable=False),
    Column("given_at", Utc, comment="when its person acted, where the platform tells"),
    Column("heard_from", Utc, comment="of one recovered: what was heard since may be newer"),
    Column("newer_since", Utc, comment="of one recovered: what was heard since is newer"),
    Column("read_at", Utc, comment="when the last complete reading before it was told began"),
    Column("late_seen", Boolean, nullable=False, default=False),
    Column("question", String(16), nullable=False, default="vote"),
    Column("step", String(255), nullable=False, default="", comment="of a turn or round"),
    Column("account_days", Integer, comment="how old its account was; null: unknown"),
    Column("member_days", Integer, comment="how long they had been a member; null: unknown"),
    UniqueConstraint("debate", "event"),
    Index(None, "debate", "question"),
    comment="Append-only; number is the order of receipt",
)

questions = Table(
    "questions",
    metadata,
    Column("debate", ForeignKey("debates.id"), primary_key=True),
    Column("question", String(16), primary_key=True),
    Column("step", String(255), primary_key=True, comment="of a turn or round; otherwise empty"),
    Column("message", String(128), comment="the message that asks it; a turn may have several"),
    Column("opened_at", Utc),
    Column("closes_at", Utc, comment="null: it has no deadline of its own"),
    Column("close_asked_at", Utc, comment="when someone asked to close it before that"),
    Column("extended", Boolean, nullable=False),
    Column("closed_at", Utc),
    Column("unread", Boolean, nullable=False, comment="closed without a reading of its reactions"),
    Column("read_at", Utc, comment="nothing up to then is missing in the log"),
    partial_index("questions_open", "closes_at", where=OPEN),
    comment="What a debate asks people, and until when",
)

targets = Table(
    "targets",
    metadata,
    Column("platform", String(32), primary_key=True),
    Column("place", String(128), primary_key=True),
    Column("message", String(128), primary_key=True),
    Column("debate", ForeignKey("debates.id"), nullable=False, index=True),
    Column("question", String(16), nullable=False),
    Column("step", String(255), nullable=False, default="", comment="of a turn"),
    Column("ballot", String(8), nullable=False),
    Column("options", String(64), nullable=False, comment="with spaces between"),
    Column("closed_at", Utc, comment="since when its answers stay as they are"),
    Column("seeds", String(4), comment="the bot's own reactions since its close: left, then gone"),
    Index(None, "message"),
    partial_index("targets_seeds", "platform", where="seeds = 'left'"),
    comment="The messages whose reactions and buttons mean something",
)

connection_gaps = Table(
    "connection_gaps",
    metadata,
    Column("number", Integer, primary_key=True),
    Column("platform", String(32), nullable=False, index=True),
    Column("ended_at", Utc, nullable=False),
    comment="When a platform told of what happens again, after a while of which it tells nothing",
)

interventions = Table(
    "interventions",
    metadata,
    Column("number", Integer, primary_key=True),
    Column("debate", ForeignKey("debates.id"), nullable=False, index=True),
    Column("question", String(16), nullable=False),
    Column("step", String(255), nullable=False, default="", comment="of a turn"),
    Column("act", String(12), nullable=False),
    Column("option", String(8), comment="the one cleared; null for all"),
    Column("at", Utc, nullable=False),
    comment="Append-only: what moderators did to the messages of a question",
)

votes = Table(
    "votes",
    metadata,
    Column("debate", ForeignKey("debates.id"), primary_key=True),
    Column("person", ForeignKey("people.id"), primary_key=True, index=True),
    Column("question", String(16), primary_key=True),
    Column("step", String(255), primary_key=True, comment="of a round; otherwise empty"),
    Column("body", Text, nullable=False),
    comment="What stood at the close, derived from vote_events",
)

asked = Table(
    "asked",
    metadata,
    Column("debate", ForeignKey("debates.id"), primary_key=True),
    Column("number", Integer, primary_key=True, comment="from 1, in the order of asking"),
    Column("person", ForeignKey("people.id"), index=True, comment="null for one who was forgotten"),
    Column("text", Text, nullable=False),
    Column("asked_at", Utc, nullable=False),
    Column("removed", String(12), nullable=False, comment="by whom; empty: it stands"),
    Column("removed_at", Utc),
    comment="What audiences ask the sides of a debate",
)

guests = Table(
    "guests",
    metadata,
    Column("debate", ForeignKey("debates.id"), primary_key=True),
    Column("person", ForeignKey("people.id"), nullable=False, index=True),
    Column("names", Text, nullable=False, comment="JSON: taken out of what they write"),
    Column("accepted", Boolean, comment="null: not answered yet"),
    Column("answered_at", Utc),
    comment="Who argues a side of a debate as a person",
)

sealed_answers = Table(
    "sealed_answers",
    metadata,
    Column("debate", ForeignKey("debates.id"), primary_key=True),
    Column("answer", Text, nullable=False),
    Column("side", String(1), comment="that argues it; null at a round table"),
    Column("choices", Text, nullable=False, comment="JSON: all answers to choose from"),
    comment="The right answers to what debates ask; they leave it with an export alone",
)

spoken = Table(
    "spoken",
    metadata,
    Column("debate", ForeignKey("debates.id"), primary_key=True),
    Column("step", String(255), primary_key=True),
    Column("person", ForeignKey("people.id"), nullable=False, index=True),
    Column("words", Integer, nullable=False, comment="at most; 0: no limit"),
    Column("text", Text, comment="null: nothing was written yet"),
    Column("spoken_at", Utc),
    Column("withheld", String(8), comment="why what was written is not its text: blocked, flagged"),
    comment="What people who argue a side wrote for its turns",
)

outbox = Table(
    "outbox",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("debate", ForeignKey("debates.id"), nullable=False),
    Column("platform", String(32), nullable=False),
    Column("number", Integer, nullable=False),
    Column("key", String(255), nullable=False),
    Column("kind", String(16), nullable=False),
    Column("target", String(255)),
    Column("message", Text, nullable=False),
    Column("parts", Text),
    Column("refs", Text, nullable=False, default="[]"),
    Column("state", String(10), nullable=False),
    Column("error", Text, nullable=False, default=""),
    Column("deadline", Utc),
    Column("queued_at", Utc, nullable=False, comment="since when it may be sent"),
    UniqueConstraint("debate", "key"),
    Index(None, "debate", "number"),
    partial_index("outbox_open", "debate", "number", where="state IN ('pending', 'sending')"),
    comment="Messages on their way to a thread",
)

label_tasks = Table(
    "label_tasks",
    metadata,
    Column("name", String(40), primary_key=True),
    Column("platform", String(32), nullable=False, comment="of whose manager made it, or empty"),
    Column("community", String(128), nullable=False),
    Column("created_at", Utc, nullable=False),
    Column("closed_at", Utc, comment="since when it takes no answers"),
    Column("body", Text, nullable=False, comment="JSON: what it asks for"),
    comment="What people are asked to label on pages",
)

label_debates = Table(
    "label_debates",
    metadata,
    Column("task", ForeignKey("label_tasks.name"), primary_key=True),
    Column("debate", ForeignKey("debates.id"), primary_key=True),
    Column("rank", Integer, nullable=False, comment="the lowest is given first"),
    Column("sides", String(8), nullable=False),
    Column("known", String(8), comment="its answer where it is a test; else null"),
    Column("taken", Integer, nullable=False, comment="its labels, and those that are awaited"),
    Index(None, "task", "taken", "rank"),
    Index(None, "debate"),
    comment="The debates of a labelling task",
)

label_links = Table(
    "label_links",
    metadata,
    Column("digest", String(64), primary_key=True, comment="of what stands in the link"),
    Column("task", ForeignKey("label_tasks.name"), nullable=False, index=True),
    Column("people", Integer, nullable=False, comment="who may join by it"),
    Column("used", Integer, nullable=False, comment="who have"),
    Column("until", Utc, nullable=False),
    Column("created_at", Utc, nullable=False),
    comment="Invitations to a labelling task",
)

annotators = Table(
    "annotators",
    metadata,
    Column("key", String(32), primary_key=True, comment="names them in a session"),
    Column("task", ForeignKey("label_tasks.name"), nullable=False),
    Column("person", ForeignKey("people.id"), nullable=False, index=True),
    Column("link", String(64), comment="the digest of the one they joined by"),
    Column("claim", String(64), comment="the digest of what their browser sent with it"),
    Column("joined_at", Utc, nullable=False),
    Column("excluded", Boolean, nullable=False, comment="whether figures leave them out"),
    UniqueConstraint("task", "person"),
    UniqueConstraint("link", "claim"),
    comment="Who labels in a task",
)

sheets = Table(
    "sheets",
    metadata,
    Column("id", String(32), primary_key=True),
    Column("task", ForeignKey("label_tasks.name"), nullable=False),
    Column("debate", ForeignKey("debates.id"), nullable=False),
    Column("person", ForeignKey("people.id"), nullable=False, index=True),
    Column("number", Integer, comment="which of theirs; null: only seen elsewhere"),
    Column("kind", String(8), nullable=False, comment="plain, known, again or seen"),
    Column("order", String(8), nullable=False, comment="of the sides as they are shown"),
    Column("given_at", Utc, nullable=False),
    Column("answered_at", Utc),
    Column("changed_at", Utc, comment="when the answer that stands was given"),
    Column("exposed", Boolean, nullable=False, comment="models or result may be known to them"),
    Column("held", Boolean, nullable=False, comment="counted in its debate's `taken`"),
    Column("body", Text, comment="JSON: the answer"),
    UniqueConstraint("task", "person", "number"),
    Index(None, "debate", "person"),
    partial_index("sheets_open", "task", "given_at", where="held AND answered_at IS NULL"),
    comment="Debates as they were shown to people who label, and their answers",
)

fits = Table(
    "fits",
    metadata,
    Column("number", Integer, primary_key=True),
    Column("rehearsal", Boolean, nullable=False),
    Column("made_at", Utc, nullable=False),
    Column("evidence", Text, nullable=False, comment="what it rests on, as JSON"),
    Column("body", Text, nullable=False, comment="its figures, as JSON"),
    comment="What past ballots say of the jurors, fit by fit",
)

learnt = Table(
    "learnt",
    metadata,
    Column("key", String(128), primary_key=True, comment="a debate's id, or of its source"),
    Column("source", String(64), nullable=False, comment="a digest of where it came from"),
    Column("rehearsal", Boolean, nullable=False),
    Column("ballots", Integer, nullable=False),
    Column("body", Text, nullable=False),
    comment="Judgments from outside that jurors were calibrated on: numbers, no texts",
)


def referring_to(table: Table) -> tuple[tuple[Table, Column[Any]], ...]:
    """Return every column that refers to a table, with the table that has it."""
    return tuple(
        (each, column)
        for each in metadata.sorted_tables
        for column in each.c
        if any(key.column.table is table for key in column.foreign_keys)
    )


OF_DEBATES = tuple(
    table
    for table in reversed(metadata.sorted_tables)
    if any(key.column is debates.c.id for key in table.foreign_keys)
)
"""The tables with rows of debates, named by their column `debate`."""

TEXTS_OF_DEBATES = tuple(
    (table.name, "id" if table is debates else "debate", column.name)
    for table in (debates, *OF_DEBATES)
    for column in table.c
    if isinstance(column.type, Text)
)
"""The columns with texts of debates: table, column of the debate's id, column."""
