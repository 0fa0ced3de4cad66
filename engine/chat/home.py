"""What a person sees when they open the app itself: live debates, and what concerns them."""

from __future__ import annotations

from engine.chat.answers.debates import DebateLine
from engine.chat.context import Context
from engine.chat.lifecycle import line_of
from engine.chat.lookup import find_held
from engine.chat.permission import manages
from engine.chat.person import Person
from engine.values.debate import Status, Value

LISTED = 20
LIVE = (Status.QUEUED, Status.RUNNING, Status.VOTING)


class LiveLine(Value):
    """A live debate; `minutes` are left of its vote, None where that is not open."""

    debate: DebateLine
    minutes: float | None = None


class HomePage(Value):
    """Live debates, newest first, and the person's own standing.

    `more`: others are live too. `out`: exports leave the person out. `manager`: they may change
    the community's settings.
    """

    live: tuple[LiveLine, ...]
    more: bool = False
    out: bool = False
    forgotten: bool = False
    manager: bool = False


async def home_page(context: Context, person: Person) -> HomePage:
    """Return what a person sees there; no model is named, and nothing sealed."""
    held = await find_held(context.store, person, LIVE, LISTED + 1)
    traces = await context.store.people.traces(person.platform, person.user)
    now, live = context.service.clock.now(), []
    for debate in held[:LISTED]:
        left = debate.vote_deadline and (debate.vote_deadline - now).total_seconds() / 60
        minutes = max(0.0, left) if left is not None and debate.status is Status.VOTING else None
        line = await line_of(context.store, debate)
        live.append(LiveLine(debate=line, minutes=minutes))
    return HomePage(
        live=tuple(live),
        more=len(held) > LISTED,
        out=traces.opted_out,
        forgotten=traces.forgotten,
        manager=await manages(context.store, person),
    )
