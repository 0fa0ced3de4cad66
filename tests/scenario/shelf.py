"""Debates that pages are tested with: of every format, a hostile one, and one that is sealed.

The first has a mirror, a second jury and a series; one of a terminal was interrupted, and one was
judged by three.
"""

from pathlib import Path
from typing import NamedTuple

import orjson

from adapters.database.database import SqlDatabase
from adapters.models.router import open_models
from engine.fleet.leases import LeaseManager, Notifier
from engine.run.later_judges import read_again
from engine.run.order import Order
from engine.series.contents import save_series
from engine.store import Store
from engine.values.debate import Debate, Model, PanelMode, Status
from tests.doubles.hall import LOBBY, Hall, made_in
from tests.doubles.model_server import Body, ModelServer
from tests.doubles.venue import AttentiveVenue
from tests.doubles.whole_debate import DEFAULTS as WHOLE, LIMITS, HeardModels
from tests.kit import conclude, new_debate, run, turn, turn_post
from tests.scenario.conftest import (
    DEFAULTS,
    NO_CAPS,
    SUMMARY,
    Stage,
    ballot,
    fair_ballot,
    is_closing,
    judging,
    play,
    shown,
    summing_up,
)
from tests.scenario.recorded_debates import hold_all
from tests.unit.test_series_report import make_file

SERIES, SECOND_JURY = "spring", ("ash", "yew", "fir", "alder", "hazel", "holly")
MINUTES = 600.0  # that a vote stays open
SEALED_MODELS = {
    "A": Model.parse("near/zorblax-9#quuxfam"),
    "B": Model.parse("near/fnordic-3#blipfam"),
}
SEALED_PANEL = tuple(Model.parse(f"near/jurex{n}-canary#kinex{n}") for n in range(1, 4))
SEALED_REASONS = "Unheard-of-reasons"
CANARIES = ("zorblax", "quuxfam", "fnordic", "blipfam", "jurex", "kinex", "canary", "unheard-of")
"""What no page may say of the sealed debate, in lower case."""

ATTACK = (
    "<script>document.title = 'taken'; window.taken = 1</script>"
    "<img src=x onerror='window.taken=2'><svg onload='window.taken=3'></svg>"
    "</article></main></body><h1>Not ours</h1><style>*{display:none}</style>"
    '" autofocus onfocus="window.taken=4" x=" \'-alert(1)-\' {{ 7*7 }} {% raw %} '
    "[press](javascript:window.taken=5) ![see](http://127.0.0.1:9/track.png) "
    "[out](http://127.0.0.1:9/out) <https://127.0.0.1:9/auto> "
    "one\x1b[2Jtwo\x07three\u202efour\u2066five\x9bsix "
)
HUGE = "W" * 4000
HOSTILE_TURN = (
    f"# Result\n\n{ATTACK}\n\n```\n</pre></article><script>window.taken=6</script>\n```\n\n{HUGE}"
)
TAKEN = "<img src=x onerror=window.taken=7>"
HOSTILE_MODELS = {
    "A": Model.parse(f"near/a{TAKEN}#{TAKEN}"),
    "B": Model.parse('near/b"onfocus="window.taken=8'),
}
HOSTILE_COMMUNITY = f"club{TAKEN}"
REGISTERED = "A sentence that *treats* them all alike"
INVISIBLE = "\x00\x07\x1b\x9b\u202e\u2066"  # characters that no page may hold


class Shelf(NamedTuple):
    """A database, and the export of its first eight debates; the debates named are others."""

    url: str
    out: Path
    hostile: Debate
    sealed: Debate
    judged: Debate


async def fill(folder: Path) -> Shelf:
    url, out = await made_in(folder), folder / "export"
    await hold_all(url, out)
    hostile, sealed = await hold_hostile(url), await hold_sealed(url)
    judged = await hold_judged(url)
    await judge_first_again(url)
    return Shelf(url, out, hostile, sealed, judged)


async def judge_first_again(url: str) -> None:
    """Have six more jurors read the first debate in both orders, and interrupt another one."""
    database = SqlDatabase(url)
    store, models = Store(database), open_models({})
    await database.run(f"UPDATE debates SET series = '{SERIES}' WHERE number = 1")  # noqa: S608
    await save_series(store, make_file(("rehearsal/maple", "rehearsal/willow"), name=SERIES))
    first = await store.debates.get(str(await database.value("SELECT min(id) FROM debates")))
    jurors = tuple(Model.parse(f"rehearsal/{name}") for name in SECOND_JURY)
    keeper = LeaseManager(store, Notifier(), holder="later")
    await read_again(first, jurors, PanelMode.ALL, NO_CAPS, store, models, keeper)
    killed = await run(store, new_debate(number=100, platform="terminal", user=None))
    await store.journal.record_turn(killed.lease, killed.id, turn(1, "Cut off."), turn_post(1))
    await store.leases.release(killed.lease)
    await store.close()


async def hold_judged(url: str) -> Debate:
    """Hold an audited debate before three judges, whose register has an entry."""
    sides = {"A": Model.parse("rehearsal/oak"), "B": Model.parse("rehearsal/larch")}
    judges = tuple(Model.parse(f"rehearsal/{name}") for name in ("pine", "lime", "beech"))
    defaults = WHOLE.model_copy(update={"sides": sides, "models": tuple(sides.values())})
    async with Hall(url, AttentiveVenue(limits=LIMITS)).open(HeardModels()) as session:
        where = {"platform": "memory", "community": "club", "place": LOBBY}
        asked = {"format": "audited", "options": {"turns": 4}, "judges": judges, "seed": 7}
        started = await session.service.start(Order(**where | asked), defaults)
        debate = await session.ended(started.debate.id)
    entry = {"turn": 2, "side": "B", "kind": "hollow", "exposed_by": 3, "penalty": -1.0}
    body = orjson.dumps({"entries": [entry | {"text": REGISTERED}]}).decode()
    database = SqlDatabase(url)
    await database.run(
        "UPDATE artifacts SET body = :body WHERE debate = :debate AND kind = 'register'",
        body=body,
        debate=debate.id,
    )
    await database.close()
    return debate


async def hold_hostile(url: str) -> Debate:
    """Hold a debate of which everything that people and models write is an attack."""
    async with ModelServer(_attack) as server, Stage(url, server).process(price=None) as line:
        jurors = tuple(Model.parse(f"near/j{n}{TAKEN}") for n in range(1, 4))
        defaults = DEFAULTS.model_copy(update={"sides": HOSTILE_MODELS, "jurors": jurors})
        topic, conditions = ATTACK[:300], ATTACK[:200]
        debate = await line.hold(
            defaults, topic=topic, conditions=conditions, community=HOSTILE_COMMUNITY
        )
        assert debate.status is Status.CLOSED, debate.reason
        return debate


async def hold_sealed(url: str) -> Debate:
    """Hold a debate up to its vote, which stays open; its jury has judged."""
    async with ModelServer(_tell) as server, Stage(url, server).process(price=None) as line:
        defaults = DEFAULTS.model_copy(
            update={"sides": SEALED_MODELS, "jurors": SEALED_PANEL, "vote_minutes": MINUTES}
        )
        started = await line.start(defaults, topic="A sealed debate about tea")
        return await line.until(
            started.debate.id, lambda one: one.status is Status.VOTING and one.vote_opened_at
        )


def _attack(body: Body) -> str:
    if judging(body):
        if summing_up(body):
            return SUMMARY
        first, second = shown(body)
        return ballot({first: 7, second: 6}, first, reasons=HOSTILE_TURN[:3000])
    return conclude("Short.", HOSTILE_TURN) if is_closing(body) else HOSTILE_TURN


def _tell(body: Body) -> str:
    if judging(body) and not summing_up(body):
        first, second = shown(body)
        return ballot({first: 7, second: 6}, first, reasons=SEALED_REASONS)
    return fair_ballot(body) if judging(body) else play(body)
