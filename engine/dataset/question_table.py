"""The table of what the audience asked the sides of a debate."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from engine.dataset.columns import (
    DEBATE,
    FLAG,
    MOMENT,
    REPLACED,
    SPLIT,
    TEXT,
    WHOLE,
    Column,
    Table,
)
from engine.dataset.entry import Entry
from engine.store.asking import AudienceQuestion
from engine.values.judging import QUESTIONS
from engine.values.text import scrub

PHASE = "before_closing"


class _Asked(NamedTuple):
    """A question: who asked, what people read of it, how many supported it, its place if put."""

    question: AudienceQuestion
    asker: str | None
    text: str | None
    support: int | None
    place: int | None


def _asked(entry: Entry) -> Iterator[_Asked]:
    """Yield what was asked; of people who left exports only what the sides had to answer."""
    bodies: list[Any] = [one.body for one in entry.record.artifacts if one.kind == QUESTIONS]
    body = bodies[0] if bodies else {"put": [], "numbers": [], "support": {}}
    for question in entry.record.questions:
        put = question.number in body["numbers"]
        at = body["numbers"].index(question.number) if put else None
        if question.person is None and at is None:
            continue
        person = question.person
        kept = body["put"][at] if at is not None else question.text
        yield _Asked(
            question,
            asker=None if person is None else entry.voters.voter(person),
            text=None if question.removed and at is None else scrub(kept),
            support=body["support"].get(str(question.number)),
            place=None if at is None else at + 1,
        )


QUESTIONS_ASKED = Table(
    "questions",
    "a question that the audience asked both sides",
    _asked,
    (
        DEBATE,
        SPLIT,
        REPLACED,
        Column("number", WHOLE, "its number in the debate, from 1, in the order of asking",
               "question.number"),
        Column("phase", TEXT, "when it was asked: `before_closing`", lambda _: PHASE),
        Column("asker", TEXT,
               "a pseudonym, the same as that of a voter in this export; null for a person whom "
               "exports leave out"),
        Column("text", TEXT,
               "what was asked, in one line; mentions removed; null if it was removed",
               maker="people"),
        Column("removed", TEXT, "who removed it: `asker` or `manager`; null if no one did",
               lambda asked: asked.question.removed.replace("forgotten", "") or None),
        Column("support", WHOLE,
               "how many people were for it when the time was over; null where a debate ended "
               "before that", maker="people", unit="people"),
        Column("put", FLAG, "whether both sides had to answer it",
               lambda asked: asked.place is not None),
        Column("place", WHOLE, "its place among those that were put, from 1; null for any other"),
        Column("asked_at", MOMENT, "when it was asked",
               lambda asked: f"{asked.question.asked_at:%Y-%m-%dT%H:%M}:00Z",
               "people", "UTC, to the minute"),
    ),
)  # fmt: skip
