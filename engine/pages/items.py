"""A list of debates as a page shows it."""

from __future__ import annotations

import re
from collections.abc import Container, Mapping
from datetime import datetime
from typing import NamedTuple

from engine.dataset.entry import may_be_read
from engine.delivery.interruption import INTERRUPTED
from engine.store.listings import Listed, Sought
from engine.values.debate import Debate, Status
from engine.values.errors import UsageError
from engine.values.text import clean, headline, scrub

A_PAGE = 50  # debates
LONGEST_TOPIC = 200  # characters
_WORD = re.compile(r"[^\s\"“”]+")


class Item(NamedTuple):
    """A debate in a list; `models`, by side, are those of one that has ended.

    `state` is a `Status`, or `INTERRUPTED`. `community` is empty in an export, which names none.
    """

    id: str
    code: str
    topic: str
    state: str
    format: str
    language: str
    platform: str
    community: str
    series: str
    held: datetime
    models: tuple[tuple[str, str], ...]


class ListPage(NamedTuple):
    """A page of a list: `number` from 1 of `pages`, of `total` debates."""

    sought: Sought
    items: tuple[Item, ...]
    total: int
    number: int
    pages: int
    choices: Listed


def item_of(debate: Debate, gone: Container[str] = ()) -> Item:
    """Return a stored debate as a list shows it, without what is sealed.

    `gone` are the ids of those that were interrupted.
    """
    request = debate.request
    return Item(
        id=debate.id,
        code=debate.code,
        topic=headline(scrub(request.topic), LONGEST_TOPIC),
        state=INTERRUPTED if debate.id in gone else debate.status,
        format=request.format,
        language=request.language,
        platform=debate.platform,
        community=debate.community,
        series=debate.series or "",
        held=(debate.opened_at or debate.created_at).replace(microsecond=0),
        models=tuple((side, model.ref) for side, model in request.sides.items())
        if may_be_read(debate)
        else (),
    )


def read_sought(given: Mapping[str, str]) -> Sought:
    """Return what a form or an address asks for. Raises UsageError for an unknown state."""
    asked = {name: clean(value).strip() for name, value in given.items()}
    state = asked.get("state", "").lower()
    if state and state not in (*Status, INTERRUPTED):
        raise UsageError("There is no such state; choose one from the list.")
    plain = ("format", "language", "platform", "community", "series", "model")
    return Sought(
        words=tuple(_WORD.findall(asked.get("q", ""))),
        status=Status(state) if state not in ("", INTERRUPTED) else None,
        interrupted=state == INTERRUPTED,
        disagreement=bool(asked.get("disagreement")),
        **{name: asked.get(name, "") for name in plain},
    )


def state_of(sought: Sought) -> str:
    """Return the state that is looked for; empty for any."""
    return INTERRUPTED if sought.interrupted else sought.status or ""


def write_sought(sought: Sought) -> dict[str, str]:
    """Return the address's parameters of what is looked for, without those that are empty."""
    plain = {
        "q": " ".join(sought.words),
        "state": state_of(sought),
        "format": sought.format,
        "language": sought.language,
        "platform": sought.platform,
        "community": sought.community,
        "series": sought.series,
        "model": sought.model,
        "disagreement": "1" if sought.disagreement else "",
    }
    return {name: value for name, value in plain.items() if value}


def pages_of(total: int) -> int:
    """Return how many pages a list has; an empty one has one."""
    return max(1, -(-total // A_PAGE))
