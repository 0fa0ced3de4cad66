"""The commands on a person's own data: privacy, mydata, forget, optout, optin."""

from __future__ import annotations

from datetime import datetime

import orjson

from engine.chat.answers.privacy_notice import (
    ForgottenAnswer,
    NoOwnDataAnswer,
    OptedAnswer,
    OwnDataAnswer,
    PrivacyAnswer,
)
from engine.chat.context import Context
from engine.chat.invocation import ForgetArguments, NoArguments
from engine.chat.person import Person, settings_of
from engine.chat.privacy import forget as forget_person
from engine.store import OwnData, Traces

OWN_FILE = "rostrum-my-data.json"
LAYOUT = 1  # of the file; raised when a reader of it would have to change


async def privacy(context: Context, person: Person, _: NoArguments) -> PrivacyAnswer:
    """Describe the stored data, the person's own included."""
    public = (await settings_of(context.store, person)).public if context.defaults.web_url else ()
    return PrivacyAnswer(traces=await _traces(context, person), on_the_web=public)


async def my_data(
    context: Context, person: Person, _: NoArguments
) -> OwnDataAnswer | NoOwnDataAnswer:
    """Hand over everything that is stored of the person, of every community, as one file."""
    found = await context.store.people.own(person.platform, person.user)
    if found is None:
        return NoOwnDataAnswer(forgotten=(await _traces(context, person)).forgotten)
    now = context.service.clock.now()
    content = own_file(found, person.platform, person.user, now)
    if len(content) > person.max_bytes:
        return NoOwnDataAnswer(bytes=len(content), bytes_max=person.max_bytes)
    return OwnDataAnswer(name=OWN_FILE, content=content)


def own_file(found: OwnData, platform: str, user: str, now: datetime) -> bytes:
    """Return a person's data as JSON; their own user id is in it, and no one else's."""
    whose = {"layout": LAYOUT, "made_at": now.isoformat(), "platform": platform, "user": user}
    return orjson.dumps({**whose, **found.model_dump(mode="json")}, option=orjson.OPT_INDENT_2)


async def forget(context: Context, person: Person, asked: ForgetArguments) -> ForgottenAnswer:
    """Forget the person if confirmed; otherwise explain the consequences."""
    traces = await _traces(context, person)
    if not asked.confirm:
        return ForgottenAnswer(done=False, traces=traces)
    store, clock = context.store, context.service.clock
    wiped = await forget_person(store, clock, person.platform, person.user)
    return ForgottenAnswer(done=True, traces=traces, rest=not wiped)


async def opt_out(context: Context, person: Person, _: NoArguments) -> OptedAnswer:
    """Leave the person out of exports; their votes still count."""
    await context.store.people.opt_out(person.platform, person.user)
    return OptedAnswer(out=True, forgotten=(await _traces(context, person)).forgotten)


async def opt_in(context: Context, person: Person, _: NoArguments) -> OptedAnswer:
    """Include the person in exports again, or re-admit them after being forgotten."""
    before = await _traces(context, person)
    now = context.service.clock.now()
    await context.store.people.opt_in(person.platform, person.user, now)
    return OptedAnswer(out=False, back=before.forgotten)


async def _traces(context: Context, person: Person) -> Traces:
    return await context.store.people.traces(person.platform, person.user)
