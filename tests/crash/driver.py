"""A process that holds the debate of its folder, and is killed from outside or by its fate.

`debate FOLDER FORMAT [chain] [shared]` starts the one debate of its folder, or goes on with the one
that it finds, with everything changed that a debate could depend on. With `chain` it does so in one
life after the other, until one of them comes to the end. With `shared` it does not hold the
database alone, so that a lease which is not given back has to run out. `discord FOLDER API_URL` and
`slack FOLDER API_URL` serve a platform, joined as `rostrum run` joins it.
"""

import asyncio
import sys
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path

from pydantic import SecretStr

from adapters.database.database import SqlDatabase
from adapters.models.attempts import RetryPolicy
from adapters.models.rehearsal import RehearsalModels
from adapters.site import Site
from adapters.slack.connection import SocketTransport
from adapters.slack.rest import SlackRest
from bot.app import MainLine
from engine.run.order import Order
from engine.run.questions import ask
from engine.store import DeliveryState, OpenQuestion, Store
from engine.values.debate import Model, Price, Status
from engine.values.errors import LeaseLostError, UsageError
from engine.values.ports import Call, Reply
from engine.values.protocols import AttemptLog
from engine.values.verdicts import Question
from tests.crash.fate import SERVER, Fate, FatedStore, SurvivingVenue, url_of
from tests.crash.inputs import CHANGED, FIRST, ORDER, age, find, order_of
from tests.crash.lives import LIMITS, chain, fated, live, stay
from tests.doubles.discord.server import TOKEN
from tests.doubles.hall import has_ended, hearing
from tests.doubles.slack.server import APP_TOKEN, BOT_TOKEN
from tests.scenario import discord_stage, slack_stage

LOOK_SECONDS = 0.5
PEOPLE = (
    ("react", "ann", "A"),
    ("react", "bob", "B"),
    ("unreact", "ann", "A"),
    ("react", "cem", "tie"),
    ("react", "ann", "B"),
    ("react", "dee", "A"),
    ("unreact", "bob", "B"),
    ("react", "eve", "A"),
    ("unreact", "eve", "A"),
    ("react", "eve", "weak"),
)


class TellingModels(RehearsalModels):
    """The rehearsal models at a price, which note each step that they are asked for."""

    def __init__(self, fate: Fate, price: Price) -> None:
        super().__init__(RetryPolicy())
        self._fate = fate
        self._price = price

    async def price(self, model: Model) -> Price | None:
        """Return what every model costs in this process's time."""
        return self._price

    async def complete(self, call: Call, log: AttemptLog) -> Reply:
        self._fate.note(f"asked {call.step}")
        return await super().complete(call, log)


async def hold(folder: Path, order: Order, *, shared: bool) -> None:
    fate = Fate(folder)
    url = url_of(folder)
    await age(url)
    # A file that is written to is locked for all others.
    alone = not shared or url.startswith(SERVER)
    store = FatedStore(SqlDatabase(url, writable=alone), fate=fate)
    venue = SurvivingVenue(folder / "platform.jsonl", fate)
    await venue.remember()
    begun = await find(store)
    inputs = CHANGED if begun else FIRST
    line = MainLine(store, TellingModels(fate, inputs.price), inputs.prompts, [venue])
    venue.listener = hearing(line.service, venue)
    # Before anything runs: there is no debate to lose until it is stored.
    debate = begun or (await line.service.start(order, inputs.defaults)).debate
    async with line.running(), asyncio.TaskGroup() as group:
        looking = group.create_task(look(line, again=shared))
        asking = group.create_task(ask_sides(line, store, debate.id, bool(order.questions)))
        arguing = group.create_task(argue(line, store, debate.id, bool(order.guest)))
        people = PEOPLE if order == ORDER else ()
        await vote(line, store, venue, debate.id, people)
        await line.deliveries["memory"].settled(debate.id)
        looking.cancel()
        asking.cancel()
        arguing.cancel()
    await store.close()


async def look(line: MainLine, *, again: bool) -> None:
    """Take up what another process has left; where it may still live, `again` and again."""
    await line.reconcile()
    while again:
        await asyncio.sleep(LOOK_SECONDS)
        await line.reconcile()


async def ask_sides(line: MainLine, store: Store, debate_id: str, wanted: bool) -> None:
    """Let a person ask both sides something, unless they have, and then end the time for it."""
    service = line.service
    window = service.windows["memory"]
    while wanted:
        await asyncio.sleep(0.01)
        time = await store.guests.question_time(debate_id)
        if time is None or time.opened_at is None:
            continue
        if time.closed_at is not None:
            return
        debate = await store.debates.get(debate_id)
        await ask(service, debate, "ann", "Is tea cheaper?")
        listed = await store.outbox.find(debate_id, "questions/1-0")
        if listed is None or listed.state is not DeliveryState.SENT:
            continue
        try:
            await window.end(OpenQuestion(debate_id, Question.SUPPORT))
        except LeaseLostError:  # another process closes it, or held it when it died
            await asyncio.sleep(LOOK_SECONDS)


async def argue(line: MainLine, store: Store, debate_id: str, wanted: bool) -> None:
    """Let a person agree to argue a side, and give a turn whenever they are asked for one."""
    service, now = line.service, line.service.clock.now
    while wanted:
        await asyncio.sleep(0.01)
        guest = await store.guests.guest(debate_id)
        turn = await store.guests.open_turn(debate_id)
        if guest is not None and guest.accepted is None:
            answered = await store.guests.answer(debate_id, "gus", accept=True, now=now())
            if answered == "stored":
                service.notifier.publish(f"closed/{debate_id}")
        elif turn is not None and turn.opened:
            debate = await store.debates.get(debate_id)
            with suppress(UsageError):  # it was taken just before another process died
                await service.guests.give_turn(debate, "gus", f"What I say in the {turn.step}.")


async def vote(
    line: MainLine,
    store: Store,
    venue: SurvivingVenue,
    debate_id: str,
    people: Sequence[tuple[str, str, str]],
) -> None:
    """Let people do what they have not done yet, and then a manager close the vote."""
    while True:
        debate = await store.debates.get(debate_id)
        if has_ended(debate):
            return
        if debate.status is Status.VOTING and debate.vote_opened_at:
            break
        await asyncio.sleep(0.01)
    for name, user, option in people[venue.voted :]:
        await venue.act(name, user, debate.thread or "", debate.vote_message or "", option)
    while not has_ended(await store.debates.get(debate_id)):
        try:
            await line.service.close_vote(debate_id)
        except (LeaseLostError, UsageError):  # another process closes it, or held it when it died
            await asyncio.sleep(LOOK_SECONDS)
        else:
            return


async def serve(platform: str, folder: Path, api_url: str) -> None:
    with fated(folder) as url:
        settings = discord_stage.settings_of(url)
        if platform == "discord":
            serving = discord_stage.process(settings, TOKEN, api_url, limits=LIMITS)
        else:
            rest = SlackRest(SecretStr(BOT_TOKEN), api_url)
            transport = SocketTransport(rest, SecretStr(APP_TOKEN))
            site = Site("127.0.0.1", 0)
            serving = slack_stage.process(settings, rest, transport, site, limits=LIMITS)
        async with serving:
            await stay(folder)


def main() -> int:
    what, home, *words = sys.argv[1], Path(sys.argv[2]), *sys.argv[3:]
    if what != "debate":
        return chain(home, partial(serve, what, home, *words))
    holding = partial(hold, home, order_of(words[0]), shared="shared" in words)
    return chain(home, holding) if "chain" in words else live(home, holding)
