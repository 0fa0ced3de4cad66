"""Labelling: tasks, the links to them, who labels, and the sheets that they fill in."""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Literal, NamedTuple

from pydantic import Field

from engine.store.database import Database, SqlConnection, make_secret
from engine.store.people import ensure_person, find_key, find_person, lock_person
from engine.tally.questions import DOWN, UP
from engine.values.debate import Value
from engine.values.errors import NotFoundError, UsageError
from engine.values.verdicts import LABELS, WEB, NotGold, Question, Vote, iso

NAME = r"[a-z0-9][a-z0-9-]{0,39}"
MOST_COMMENT = 2000  # characters
MOST_PAY = 10_000.0  # USD for a debate
GRACE = timedelta(hours=1)  # for answers that people are writing when a task is closed

Kind = Literal["plain", "known", "again"]
"""What a sheet is: a label, a test whose answer is known, or a second showing of a debate."""


class Terms(Value):
    """What a task asks for, as its maker writes it.

    `per_debate` labels are wanted for each debate, and `each` annotator fills in so many sheets (0:
    until none is left). `repeats` is the share of sheets that are second showings. `language` is
    that of the pages; empty: of each debate. `code` is shown at the end, and `parameter` is what a
    recruiting platform calls its participants' ids in a link. People of the platforms `sign_in` may
    join without a link. `about` is the operator's own text. A debate earns `pay` in USD. With
    `hold_code` one whose labels are marked too fast or as failing tests gets no `code` by the page.
    `platform` and `community` are of the manager who made it; empty: the operator did.
    """

    name: str = Field(pattern=f"^{NAME}$")
    per_debate: int = Field(3, ge=1, le=1000)
    each: int = Field(0, ge=0, le=100_000)
    repeats: float = Field(0.1, ge=0, le=0.5)
    language: str = ""
    code: str = Field("", max_length=200)
    parameter: str = Field("", pattern=r"^[A-Za-z0-9_.-]{0,64}$")
    sign_in: tuple[str, ...] = ()
    about: str = Field("", max_length=20_000)
    pay: float | None = Field(None, ge=0, le=MOST_PAY)
    hold_code: bool = False
    disagreement: bool = False
    platform: str = ""
    community: str = ""


class Task(Terms):
    """A labelling task; `seed` fixes what is mixed in where, and `debates` counts its debates.

    A sheet takes about `minutes`, by the words of its debates; 0: not known. `trials` is the share
    of its debates whose right answer is known.
    """

    seed: str
    minutes: float = 0.0
    trials: float = 0.0
    debates: int = 0
    created_at: datetime
    closed_at: datetime | None = None

    @property
    def wanted(self) -> int:
        """How many sheets an annotator is told to expect; 0 where there may be fewer."""
        return self.each if self.each <= self.debates else 0

    def takes_answers(self, now: datetime) -> bool:
        """Return whether sheets that were given out before the close may still be answered."""
        return self.closed_at is None or now < self.closed_at + GRACE


class Queued(NamedTuple):
    """A debate of a task, the lowest `rank` first; `known` is its answer where it is a test."""

    debate: str
    rank: int
    sides: str = "AB"
    known: str | None = None


LinkState = Literal["open", "unknown", "expired", "used", "closed"]
"""What a link to a task is good for: "used" once as many people as it is for have joined by it."""


class Annotator(Value):
    """A person of a task; `key` names them in a session, `token` is the secret of their own link.

    `number` is their user id on `platform`, with which they can be forgotten.
    """

    key: str
    task: str
    number: str
    platform: str
    token: str = Field(repr=False)


JoinOutcome = Literal[
    "joined", "again", "unasked", "unknown", "expired", "used", "closed", "forgotten"
]
"""What became of somebody who wants to join."""
Joining = tuple[JoinOutcome, Annotator | None]


class StoredSheetAnswer(Value):
    """An answer to a sheet; `option` is a side, "tie" or "weak".

    `thumbs` says of turns whether they are good, by step; `seconds` were spent on the page, and
    `fast` says that no one can have read the debate in them. `changes` counts how often it was
    replaced.
    """

    option: str
    confidence: str = ""
    ground: str = ""
    comment: str = ""
    thumbs: Mapping[str, bool] = {}
    seconds: float
    fast: bool = False
    changes: int = 0

    def says_the_same(self, other: StoredSheetAnswer) -> bool:
        """Return whether another answer differs in nothing that a person said."""
        said = ("option", "confidence", "ground", "comment", "thumbs")
        return all(getattr(self, name) == getattr(other, name) for name in said)


class Drawn(Value):
    """A sheet: a debate in an `order` of its sides, for one person, the `number`th of theirs.

    `known` is the answer of a test. `exposed`: its person may have seen the models or the result;
    `excluded`: the operator left them out of figures.
    """

    id: str
    task: str
    debate: str
    person: int
    number: int
    kind: Kind
    order: str
    given_at: datetime
    answered_at: datetime | None = None
    changed_at: datetime | None = None
    exposed: bool = False
    excluded: bool = False
    known: str | None = None
    filled: StoredSheetAnswer | None = None


Choose = Callable[[Task, str, int, Collection[Kind]], Kind]
"""Decides what an annotator's next sheet is, by their key and its number, and what it can be."""

SaveOutcome = Literal["stored", "same", "changed", "closed", "unknown"]
"""What became of an answer; "unknown": no such sheet of one who is known."""

KEY = "labels"  # of people's own links
KEYS = re.compile(r"[\w-]+", re.ASCII)  # PostgreSQL takes no NUL that a stranger may send
HOLD = timedelta(hours=3)  # for which a debate waits for the answer to a sheet
APART = 3  # sheets between the first and the second showing of a debate
COLUMNS = """
SELECT body, closed_at,
    (SELECT count(*) FROM label_debates WHERE task = name AND known IS NULL) AS debates
FROM label_tasks
"""
TASKS = f"{COLUMNS} ORDER BY created_at DESC, name"
TASK = f"{COLUMNS} WHERE name = :name"
ADD_TASK = """
INSERT INTO label_tasks (name, platform, community, created_at, body)
VALUES (:name, :platform, :community, :created_at, :body) ON CONFLICT DO NOTHING
"""
QUEUE = """
INSERT INTO label_debates (task, debate, rank, sides, known, taken)
VALUES (:task, :debate, :rank, :sides, :known, 0)
"""
QUEUED = (
    "SELECT debate, rank, sides, known FROM label_debates WHERE task = :name ORDER BY rank, debate"
)
CLOSE = "UPDATE label_tasks SET closed_at = :now WHERE name = :name AND closed_at IS NULL"
LOCK_TASK = "SELECT name FROM label_tasks WHERE name = :name FOR NO KEY UPDATE"
INVITE = """
INSERT INTO label_links (digest, task, people, used, until, created_at)
VALUES (:digest, :task, :people, 0, :until, :now)
"""
LINK = "SELECT task, people, used, until FROM label_links WHERE digest = :digest"
LOCK_LINK = f"{LINK} FOR NO KEY UPDATE"
USE = "UPDATE label_links SET used = used + 1 WHERE digest = :digest"
ANNOTATOR = """
SELECT annotators.key, annotators.task, annotators.person, people.platform, people."user",
    people.since, (SELECT value FROM installation WHERE name = 'labels') AS secret
FROM annotators JOIN people ON people.id = annotators.person
WHERE {} AND people."user" IS NOT NULL
"""
BY_KEY = ANNOTATOR.format("annotators.key = :key")
# Nobody forgets them until this write ends.
BY_KEY_KEPT = f"{BY_KEY} /*+ FOR KEY SHARE OF people */"
BY_PERSON = ANNOTATOR.format("annotators.task = :task AND annotators.person = :person")
BY_CLAIM = ANNOTATOR.format("annotators.link = :digest AND annotators.claim = :claim")
ADD_ANNOTATOR = """
INSERT INTO annotators (key, task, person, link, claim, joined_at, excluded)
VALUES (:key, :task, :person, :link, :claim, :now, FALSE)
"""
SHEETS = """
SELECT sheets.id, sheets.task, sheets.debate, sheets.person, sheets.number, sheets.kind,
    sheets."order", sheets.given_at, sheets.answered_at, sheets.changed_at, sheets.exposed,
    sheets.held, sheets.body, label_debates.known,
    EXISTS (SELECT 1 FROM annotators WHERE annotators.task = sheets.task
        AND annotators.person = sheets.person AND annotators.excluded) AS excluded
FROM sheets JOIN label_debates
    ON label_debates.task = sheets.task AND label_debates.debate = sheets.debate
WHERE sheets.number IS NOT NULL AND {}
"""
OWN_SHEETS = f"{SHEETS.format('sheets.task = :task AND sheets.person = :person')} ORDER BY number"
OWN_SHEET = SHEETS.format("sheets.task = :task AND sheets.person = :person AND sheets.id = :sheet")
OPEN_SHEET = SHEETS.format(
    "sheets.task = :task AND sheets.person = :person AND sheets.answered_at IS NULL"
)
WORK = f"{SHEETS.format('sheets.task = :task')} ORDER BY sheets.person, sheets.number"
LOCK_SHEET = "SELECT id FROM sheets WHERE id = :sheet FOR NO KEY UPDATE"
# Sheets that nobody answered leave their debate to others.
EXPIRE = """
UPDATE sheets SET held = FALSE
WHERE task = :task AND held AND answered_at IS NULL AND given_at < :before
RETURNING debate
"""
TAKE = """
UPDATE label_debates SET taken = taken + :more WHERE task = :task AND debate = :debate
"""
# Debates that a person knows nothing of: neither as an annotator nor in its chat.
UNKNOWN_TO_THEM = """
FROM label_debates JOIN debates ON debates.id = label_debates.debate
    LEFT JOIN listings ON listings.debate = label_debates.debate
WHERE label_debates.task = :task AND (debates.created_at >= :since) IS NOT FALSE
    AND coalesce(debates.starter, 0) <> :person
    AND NOT EXISTS (SELECT 1 FROM sheets
        WHERE sheets.debate = label_debates.debate AND sheets.person = :person)
    AND NOT EXISTS (SELECT 1 FROM vote_events
        WHERE vote_events.debate = label_debates.debate AND vote_events.person = :person)
    AND NOT EXISTS (SELECT 1 FROM votes
        WHERE votes.debate = label_debates.debate AND votes.person = :person)
    AND NOT EXISTS (SELECT 1 FROM guests
        WHERE guests.debate = label_debates.debate AND guests.person = :person)
"""
NEXT = f"""
SELECT label_debates.debate, label_debates.sides {UNKNOWN_TO_THEM}
    AND label_debates.known IS NULL AND label_debates.taken < :wanted
ORDER BY CASE WHEN listings.topic = :worn THEN 1 ELSE 0 END, label_debates.taken, label_debates.rank
LIMIT 1
"""
# The topics of an annotator's last sheets, the newest first.
LAST_TOPICS = """
SELECT listings.topic FROM sheets JOIN listings ON listings.debate = sheets.debate
WHERE sheets.task = :task AND sheets.person = :person AND sheets.number IS NOT NULL
ORDER BY sheets.number DESC LIMIT 2
"""
# As if the sheets had expired that do so at the next draw.
LEFT = f"""
SELECT label_debates.debate {UNKNOWN_TO_THEM}
    AND label_debates.known IS NULL AND label_debates.taken - (
        SELECT count(*) FROM sheets WHERE sheets.task = :task AND held AND answered_at IS NULL
            AND given_at < :before AND sheets.debate = label_debates.debate
    ) < :wanted
LIMIT 1
"""  # noqa: S608 - of constants
# The open sheets of others that keep debates from a person, the one that expires first.
HELD = f"""
SELECT waiting.given_at FROM sheets AS waiting
WHERE waiting.task = :task AND waiting.held AND waiting.answered_at IS NULL
    AND waiting.debate IN (SELECT label_debates.debate {UNKNOWN_TO_THEM}
        AND label_debates.known IS NULL AND label_debates.taken - (
            SELECT count(*) FROM sheets WHERE sheets.task = :task AND held
                AND answered_at IS NULL AND sheets.debate = label_debates.debate
        ) < :wanted)
ORDER BY waiting.given_at LIMIT 1
"""  # noqa: S608 - of constants
NEXT_KNOWN = f"""
SELECT label_debates.debate, label_debates.sides {UNKNOWN_TO_THEM}
    AND label_debates.known IS NOT NULL
ORDER BY label_debates.rank LIMIT 1
"""
EXCLUDE = """
UPDATE annotators SET excluded = :excluded
WHERE task = :task AND person = :person AND excluded <> :excluded
"""
COUNTED = """
SELECT count(*) FROM sheets WHERE task = :task AND person = :person AND number IS NOT NULL
"""
# The oldest that was not shown twice yet.
NEXT_AGAIN = """
SELECT debate, "order" AS sides FROM sheets AS first
WHERE task = :task AND person = :person AND kind = 'plain' AND answered_at IS NOT NULL
    AND number < :before AND NOT exposed AND NOT EXISTS (
        SELECT 1 FROM sheets AS second
        WHERE second.debate = first.debate AND second.person = first.person
            AND second.kind = 'again'
    )
ORDER BY number LIMIT 1
"""
GIVE = """
INSERT INTO sheets (id, task, debate, person, number, kind, "order", given_at, exposed, held)
VALUES (:id, :task, :debate, :person, :number, :kind, :order, :now, FALSE, :held)
"""
FILL = """
UPDATE sheets SET body = :body, answered_at = coalesce(answered_at, :now), changed_at = :now,
    held = :held
WHERE id = :sheet
"""
DROP_VOTES = """
DELETE FROM votes WHERE debate = :debate AND person = :person AND question IN :questions
"""
KEEP_VOTE = """
INSERT INTO votes (debate, person, question, step, body)
VALUES (:debate, :person, :question, :step, :body)
"""
EXPOSE = "UPDATE sheets SET exposed = TRUE WHERE debate = :debate AND person = :person"
GIVEN = "SELECT DISTINCT debate FROM sheets WHERE person = :person"
IN_TASK = "SELECT debate FROM label_debates WHERE task = :task"
NOTE_SEEN = """
INSERT INTO sheets (id, task, debate, person, kind, "order", given_at, exposed, held)
VALUES (:id, :task, :debate, :person, 'seen', '', :now, TRUE, FALSE)
"""


def votes_of(drawn: Drawn, filled: StoredSheetAnswer, now: datetime) -> Iterator[Vote]:
    """Yield what a sheet's answer is stored as: the label, then its thumbs.

    Nothing of a test or a second showing. A label is gold unless its person may have seen the
    models or the result by then, or is left out of figures: they read the debate blind, without
    others' votes, and nobody who took part in its chat is given it.
    """
    if drawn.kind != "plain":
        return
    reason: NotGold = "known" if drawn.exposed else "excluded" if drawn.excluded else ""
    label = Vote(
        person=drawn.person,
        option=filled.option,
        ambiguous=False,
        gold=not reason,
        reason=reason,
        starter=False,
        judge_visible=False,
        late_seen=False,
        tally_visible=False,
        votes_seen_before=0,
        changes=filled.changes,
        first_at=iso(drawn.answered_at or now),
        last_at=iso(now),
        question=Question.LABEL,
        fast=filled.fast,
        confidence=filled.confidence,
        ground=filled.ground,
        order=drawn.order,
        seconds=filled.seconds,
        comment=filled.comment,
        task=drawn.task,
    )
    yield label
    thumb = label._replace(confidence="", ground="", comment="", question=Question.LABEL_TURN)
    for step, up in sorted(filled.thumbs.items()):
        yield thumb._replace(step=step, option=UP if up else DOWN)


class LabellingStore:
    """Tasks, links, annotators and sheets.

    Links and people's own links are stored as digests, or not at all.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, task: Task, queue: Sequence[Queued]) -> Task:
        """Store a task with its debates. Raises UsageError if there is one of that name."""

        def store(connection: SqlConnection) -> Task:
            body = task.model_dump_json(exclude={"debates", "closed_at"})
            about = {"platform": task.platform, "community": task.community}
            made = {"name": task.name, "created_at": task.created_at, "body": body, **about}
            if not connection.run(ADD_TASK, **made):
                raise UsageError(
                    "There is a labelling task {name} already; choose another name.", name=task.name
                )
            connection.run_each(QUEUE, [{"task": task.name, **one._asdict()} for one in queue])
            make_secret(connection, KEY)
            return _task(connection, task.name)

        return await self._database.write(store)

    async def tasks(self) -> tuple[Task, ...]:
        """Return every task, the newest first."""
        return tuple(map(_read_task, await self._database.rows(TASKS)))

    async def task(self, name: str) -> Task | None:
        """Return a task."""
        row = await self._database.first(TASK, name=name)
        return row and _read_task(row)

    async def queue(self, name: str) -> tuple[Queued, ...]:
        """Return the debates of a task."""
        return tuple(Queued._make(row) for row in await self._database.rows(QUEUED, name=name))

    async def close(self, name: str, now: datetime) -> Task:
        """Take no more answers; a task that is closed stays so. Raises NotFoundError."""

        def store(connection: SqlConnection) -> Task:
            connection.run(CLOSE, name=name, now=now)
            return _task(connection, name)

        return await self._database.write(store)

    async def invite(
        self, name: str, tokens: Sequence[str], people: int, until: datetime, now: datetime
    ) -> None:
        """Store links for so many people each. Raises NotFoundError."""
        links = [
            {"digest": digest, "task": name, "people": people, "until": until, "now": now}
            for digest in map(_digest, tokens)
        ]

        def store(connection: SqlConnection) -> None:
            _task(connection, name)
            connection.run_each(INVITE, links)

        await self._database.write(store)

    async def link(self, token: str, now: datetime) -> tuple[LinkState, Task | None, bool]:
        """Return what a link is good for now, its task, and whether it is for one person."""
        row = await self._database.first(LINK, digest=_digest(token))
        if row is None:
            return "unknown", None, False
        task = await self.task(row.task)
        personal = row.people == 1
        if task is None or task.closed_at is not None:
            return "closed", task, personal
        if row.until <= now:
            return "expired", task, personal
        return "used" if row.used >= row.people else "open", task, personal

    async def join(self, token: str, claim: str, user: str, now: datetime) -> Joining:
        """Let somebody join by a link; the same `claim` or `user` again is the same person.

        Without a `user` a new one is made up.
        """
        link, claimed = _digest(token), _digest(claim)

        def store(connection: SqlConnection) -> Joining:
            connection.lock(LOCK_LINK, digest=link)
            if user:
                return _join(connection, link, None, WEB, user, now)
            known = connection.first(BY_CLAIM, digest=link, claim=claimed)
            if known is not None:
                return "again", _read_annotator(known)
            made_up = f"link:{secrets.token_urlsafe(12)}"
            return _join(connection, link, claimed, WEB, made_up, now)

        return await self._database.write(store)

    async def enter(
        self, name: str, platform: str, user: str, token: str, now: datetime, *, agreed: bool
    ) -> Joining:
        """Let a platform's user join; one who is new needs a link, or a task that is for them.

        Until they have `agreed` nothing is stored of one who is new: `unasked`.
        """
        link = _digest(token) if token else None

        def store(connection: SqlConnection) -> Joining:
            task = _find_task(connection, name)
            if task is None:
                return "unknown", None
            if link is not None:
                connection.lock(LOCK_LINK, digest=link)
                row = connection.first(LINK, digest=link)
                if row is None or row.task != name:
                    return "unknown", None
                return _join(connection, link, None, platform, user, now, agreed=agreed)
            open_to = "unknown" if platform not in task.sign_in else None if agreed else "unasked"
            refused = "closed" if task.closed_at is not None else open_to
            return _admit(connection, name, (platform, user), None, None, now, refused)

        return await self._database.write(store)

    async def annotator(self, key: str) -> Annotator | None:
        """Return an annotator, None for one who is not, or was forgotten."""
        row = await self._database.first(BY_KEY, key=key)
        return row and _read_annotator(row)

    async def come_back(self, token: str) -> Annotator | None:
        """Return whose own link this is."""
        key = token.partition(".")[0]
        found = await self.annotator(key) if KEYS.fullmatch(key) else None
        same = found is not None and hmac.compare_digest(found.token.encode(), token.encode())
        return found if same else None

    async def draw(self, key: str, choose: Choose, now: datetime) -> Drawn | None:
        """Return the annotator's open sheet, else a new one; None when nothing is left.

        Of the debates that they know nothing of, one with the fewest labels. At once.
        """

        def store(connection: SqlConnection) -> Drawn | None:
            row = connection.first(BY_KEY_KEPT, key=key)
            if row is None:
                return None
            connection.lock(LOCK_TASK, name=row.task)
            lock_person(connection, row.person)
            return _draw(connection, row, choose, now)

        return await self._database.write(store)

    async def next_at(self, key: str, now: datetime) -> datetime | None:
        """Return when a new sheet can be drawn for an annotator; None if nothing is left.

        That is now, or later where others have what is left, should they not answer.
        """
        row = await self._database.first(BY_KEY, key=key)
        task = row and await self.task(row.task)
        if not task or task.closed_at is not None:
            return None
        own = {"task": row.task, "person": row.person, "since": row.since}
        own["wanted"] = task.per_debate
        if await self._database.first(LEFT, before=now - HOLD, **own) is not None:
            return now
        held = await self._database.first(HELD, **own)
        expires: datetime | None = held and held.given_at + HOLD
        return expires

    async def sheet(self, key: str, sheet: str) -> Drawn | None:
        """Return one of an annotator's own sheets."""
        row = await self._database.first(BY_KEY, key=key)
        if row is None:
            return None
        own = {"task": row.task, "person": row.person}
        found = await self._database.first(OWN_SHEET, sheet=sheet, **own)
        return found and _read_sheet(found)

    async def sheets(self, key: str) -> tuple[Drawn, ...]:
        """Return an annotator's own sheets, in order."""
        row = await self._database.first(BY_KEY, key=key)
        if row is None:
            return ()
        own = {"task": row.task, "person": row.person}
        return tuple(map(_read_sheet, await self._database.rows(OWN_SHEETS, **own)))

    async def fill(
        self, key: str, sheet: str, filled: StoredSheetAnswer, now: datetime
    ) -> SaveOutcome:
        """Keep the answer to a sheet, in place of an earlier one, and its vote; at once.

        A test or a second showing is no vote.
        """

        def store(connection: SqlConnection) -> SaveOutcome:
            row = connection.first(BY_KEY_KEPT, key=key)
            if row is None:
                return "unknown"
            connection.lock(LOCK_SHEET, sheet=sheet)
            return _fill(connection, row, sheet, filled, now)

        return await self._database.write(store)

    async def saw(self, key: str, debates: Collection[str], now: datetime) -> None:
        """Note that an annotator may know these debates' models or results from now on."""

        def store(connection: SqlConnection) -> None:
            row = connection.first(BY_KEY_KEPT, key=key)
            if row is None:
                return
            lock_person(connection, row.person)
            known, person = set(debates), {"person": row.person}
            given = known.intersection(connection.column(GIVEN, **person))
            for debate in given:
                connection.run(EXPOSE, debate=debate, **person)
            for debate in known.intersection(connection.column(IN_TASK, task=row.task)) - given:
                seen = {"id": _draw_id(), "task": row.task, "now": now}
                connection.run(NOTE_SEEN, debate=debate, **seen, **person)

        await self._database.write(store)

    async def exclude(self, name: str, person: int, *, excluded: bool) -> None:
        """Leave an annotator's labels of a task out of figures, or count them again; at once.

        Debates that they labelled are given to one more person each.
        """

        def store(connection: SqlConnection) -> None:
            _task(connection, name)
            connection.lock(LOCK_TASK, name=name)
            of = {"task": name, "person": person}
            if not connection.run(EXCLUDE, excluded=excluded, **of):
                return
            for row in connection.rows(OWN_SHEETS, **of):
                drawn = _read_sheet(row)
                if drawn.kind == "plain" and drawn.filled is not None:
                    more = -1 if excluded else 1
                    connection.run(TAKE, task=name, debate=drawn.debate, more=more)
                    changed = drawn.changed_at or drawn.given_at
                    _keep_votes(connection, drawn, drawn.filled, changed)

        await self._database.write(store)

    async def work(self, name: str) -> tuple[Drawn, ...]:
        """Return every sheet of a task, by person and number."""
        return tuple(map(_read_sheet, await self._database.rows(WORK, task=name)))


# --- tasks and links ---------------------------------------------------------------------


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()


def _find_task(connection: SqlConnection, name: str) -> Task | None:
    row = connection.first(TASK, name=name)
    return row and _read_task(row)


def _task(connection: SqlConnection, name: str) -> Task:
    task = _find_task(connection, name)
    if task is None:
        raise NotFoundError(
            "There is no labelling task {name}; rostrum label list shows them.", name=name
        )
    return task


def _read_task(row: Any) -> Task:
    task = Task.model_validate_json(row.body)
    return task.model_copy(update={"debates": row.debates, "closed_at": row.closed_at})


def _join(
    connection: SqlConnection,
    link: str,
    claim: str | None,
    platform: str,
    user: str,
    now: datetime,
    *,
    agreed: bool = True,
) -> Joining:
    """Let somebody join by a link, which is locked."""
    row = connection.first(LINK, digest=link)
    if row is None:
        return "unknown", None
    closed = _task(connection, row.task).closed_at is not None
    full = "used" if row.used >= row.people else None if agreed else "unasked"
    refused = "closed" if closed else "expired" if row.until <= now else full
    return _admit(connection, row.task, (platform, user), link, claim, now, refused)


def _admit(
    connection: SqlConnection,
    task: str,
    who: tuple[str, str],
    link: str | None,
    claim: str | None,
    now: datetime,
    refused: Any,
) -> Joining:
    """Let a platform's user join, or come back; `refused` says why one who is new may not."""
    if refused is not None:
        person = find_person(connection, *who)
    elif person := ensure_person(connection, *who, find_key(connection)):
        lock_person(connection, person.id)  # they may join twice at once
    known = person and connection.first(BY_PERSON, task=task, person=person.id)
    if known:
        return "again", _read_annotator(known)
    if refused is not None:
        return refused, None
    if person is None:
        return "forgotten", None
    key = secrets.token_urlsafe(12)
    own = {"link": link, "claim": claim, "now": now}
    connection.run(ADD_ANNOTATOR, key=key, task=task, person=person.id, **own)
    if link is not None:
        connection.run(USE, digest=link)
    row = connection.first(BY_KEY, key=key)
    return "joined", _read_annotator(row)


def _read_annotator(row: Any) -> Annotator:
    mark = hmac.digest(bytes.fromhex(row.secret), row.key.encode(), "sha256").hex()[:32]
    return Annotator(
        key=row.key,
        task=row.task,
        number=row.user,
        platform=row.platform,
        token=f"{row.key}.{mark}",
    )


# --- sheets ------------------------------------------------------------------------------


def _draw_id() -> str:
    return secrets.token_urlsafe(16)


def _read_sheet(row: Any) -> Drawn:
    return Drawn(
        id=row.id,
        task=row.task,
        debate=row.debate,
        person=row.person,
        number=row.number,
        kind=row.kind,
        order=row.order,
        given_at=row.given_at,
        answered_at=row.answered_at,
        changed_at=row.changed_at,
        exposed=bool(row.exposed),
        excluded=bool(row.excluded),
        known=row.known,
        filled=StoredSheetAnswer.model_validate_json(row.body) if row.body else None,
    )


def _draw(connection: SqlConnection, row: Any, choose: Choose, now: datetime) -> Drawn | None:
    """Return the open sheet of an annotator, or give them one; their task is locked."""
    task, own = _task(connection, row.task), {"task": row.task, "person": row.person}
    waiting = connection.first(OPEN_SHEET, **own)
    if waiting is not None and task.takes_answers(now):
        return _read_sheet(waiting)
    if task.closed_at is not None:
        return None
    number = connection.value(COUNTED, **own) + 1
    if task.each and number > task.each:
        return None
    for debate in connection.rows(EXPIRE, task=task.name, before=now - HOLD):
        connection.run(TAKE, task=task.name, debate=debate.debate, more=-1)
    last = connection.column(LAST_TOPICS, **own)
    worn = last[0] if len(last) == 2 and last[0] == last[1] else ""  # not three times in a row
    wanted = {"wanted": task.per_debate, "since": row.since, "worn": worn}
    plain = connection.first(NEXT, **wanted, **own)
    if plain is None:  # what is left would only test
        return None
    known = connection.first(NEXT_KNOWN, since=row.since, **own)
    again = connection.first(NEXT_AGAIN, before=number - APART, **own)
    kinds: dict[Kind, Any] = {"plain": plain, "known": known, "again": again}
    kind = choose(task, row.key, number, {name for name, one in kinds.items() if one is not None})
    found = kinds[kind]
    turned = kind == "again" or secrets.randbelow(2)  # a second showing has the other order
    order = found.sides[::-1] if turned else found.sides
    sheet = {"id": _draw_id(), "number": number, "kind": kind, "order": order}
    connection.run(GIVE, debate=found.debate, now=now, held=kind == "plain", **sheet, **own)
    if kind == "plain":
        connection.run(TAKE, task=task.name, debate=found.debate, more=1)
    return _read_sheet(connection.first(OWN_SHEET, sheet=sheet["id"], **own))


def _fill(
    connection: SqlConnection, row: Any, sheet: str, filled: StoredSheetAnswer, now: datetime
) -> SaveOutcome:
    """Keep an answer and its vote; the sheet is locked."""
    found = connection.first(OWN_SHEET, sheet=sheet, task=row.task, person=row.person)
    if found is None:
        return "unknown"
    drawn = _read_sheet(found)
    before = drawn.filled
    if before is not None and before.says_the_same(filled):
        return "same"
    if not _task(connection, row.task).takes_answers(now):
        return "closed"
    if before is not None:
        filled = filled.model_copy(update={"changes": before.changes + 1})
    held = drawn.kind == "plain"
    if held and not found.held:  # its time was over, and others may have been given the debate
        connection.run(TAKE, task=row.task, debate=drawn.debate, more=1)
    connection.run(FILL, sheet=sheet, body=filled.model_dump_json(), now=now, held=held)
    _keep_votes(connection, drawn, filled, now)
    return "stored" if before is None else "changed"


def _keep_votes(
    connection: SqlConnection, drawn: Drawn, filled: StoredSheetAnswer, now: datetime
) -> None:
    of = {"debate": drawn.debate, "person": drawn.person}
    if drawn.kind == "plain":
        connection.run(DROP_VOTES, questions=LABELS, **of)
    for vote in votes_of(drawn, filled, now):
        asked = {"question": vote.question, "step": vote.step}
        connection.run(KEEP_VOTE, body=vote.encode(), **asked, **of)
