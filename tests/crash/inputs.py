"""What a debate depends on, and how all of it is otherwise whenever a process comes back."""

import asyncio
from random import Random
from typing import Any, NamedTuple

from adapters.database.database import SqlDatabase
from engine.jury.rubric import find_rubric
from engine.prompts import DATA, Prompts, load_prompts
from engine.run.order import Defaults, Invited, Order
from engine.store import Closing, Store
from engine.values.debate import Debate, Length, Model, Price, Sampling, Status
from engine.values.ports import utc_now
from engine.values.verdicts import Ballot, Verdict
from tests.doubles.hall import DEFAULTS, LOBBY, NO_CAPS
from tests.kit import create, new_debate, some, vote

ORDER = Order(
    platform="memory", community="club", place=LOBBY, user="ann", format="classic", seed=7
)
# As small as a format can be while it does all that it does.
SMALL: dict[str, dict[str, Any]] = {
    "roundtable": {"options": {"agents": 2, "judges": 1}, "rounds": 1},
    "audited": {"options": {"turns": 3}},
    "questions": {"format": "classic", "length": Length.SHORT, "questions": 5.0},
    "person": {
        "format": "classic",
        "length": Length.SHORT,
        "guest": Invited(side="B", user="gus"),
    },
}
ROLES = ("debater", "closing", "cross", "judge", "captain", "juror")
LIMITS = {**DEFAULTS.limits, "team": {"exchanges": 1, "free_speeches": 2, "words_a_minute": 100.0}}
PROMPTS = load_prompts()
ELSEWHERE = "elsewhere"  # a platform and community that no process here serves
PAST_DEBATES = 30  # from here on ballots decide a juror's place, and labels fit the slope


class Inputs(NamedTuple):
    """Everything that a process brings along from its settings, files and providers."""

    prompts: Prompts
    defaults: Defaults
    price: Price


FIRST = Inputs(
    PROMPTS,
    DEFAULTS.model_copy(
        update={
            "sampling": dict.fromkeys(ROLES, Sampling(temperature=0.5, max_tokens=1000)),
            "limits": LIMITS,
            "stance_seconds": 0.01,
            "again": True,
        }
    ),
    Price(usd_in=0, usd_out=0),
)
# Whoever comes back finds every template edited, every default changed and every price raised.
CHANGED = Inputs(
    Prompts({n: t if n.endswith(DATA) else f"{t}\nEdited." for n, t in PROMPTS.texts.items()}),
    DEFAULTS.model_copy(
        update={
            "topic": "Coffee is better than tea",
            "sides": {side: Model.parse(f"rehearsal/{side}-changed") for side in ("A", "B")},
            "jurors": (Model.parse("rehearsal/yew"), *DEFAULTS.jurors),
            "vote_minutes": 1,
            "quorum": 99,
            "sampling": dict.fromkeys(ROLES, Sampling(temperature=1.5, max_tokens=50)),
            "limits": {name: dict.fromkeys(limits, 9) for name, limits in LIMITS.items()},
            "caps": NO_CAPS.model_copy(update={"debate_usd": 1000.0}),
        }
    ),
    Price(usd_in=1000, usd_out=1000),
)


def order_of(format_name: str) -> Order:
    return ORDER.model_copy(update={"format": format_name, **SMALL.get(format_name, {})})


async def find(store: Store) -> Debate | None:
    found = await store.listings.recent(limit=2 * PAST_DEBATES)
    return next((debate for debate in found if debate.community == ORDER.community), None)


async def age(url: str) -> None:
    """Have other debates end, once, after ours has begun: as from another host on its database."""
    store = Store(SqlDatabase(url, writable=False))
    ours = await find(store)
    if ours is not None and len(await store.listings.recent(limit=2)) == 1:
        await asyncio.gather(*(_hold_elsewhere(store, ours, n) for n in range(PAST_DEBATES)))
    await store.close()


async def _hold_elsewhere(store: Store, ours: Debate, ordinal: int) -> None:
    """Store a debate that has ended, in which the last juror of the roster judged as people did."""
    new = new_debate(
        number=await store.debates.next_number(),
        platform=ELSEWHERE,
        community=ELSEWHERE,
        place=LOBBY,
        user=None,
        setup=ours.setup,
        created_at=utc_now(),
    )
    await create(store, new)
    lease = some(await store.leases.claim(f"debate/{new.id}", ELSEWHERE, 60))
    await store.debates.advance(lease, new.id, Status.RUNNING)
    winner = "AB"[ordinal % 2]
    luck = Random(ordinal)
    ballots = _ballots(winner, luck, order="AB") | _ballots(winner, luck, order="BA")
    z = 1.0 if winner == "A" else -1.0
    verdict = Verdict(winner=winner, z=z, valid=len(ballots), invalid=0)
    await store.journal.record_verdict(lease, new.id, verdict, ballots)
    await store.debates.advance(lease, new.id, Status.VOTING)
    person = (await store.votes.people(ELSEWHERE, ["zoe"]))["zoe"]
    now = utc_now()
    cast = vote(person, winner, tally_visible=False, first_at=now, last_at=now)
    closing = Closing(votes=(cast,), posts=())
    await store.votes.close(lease, new.id, utc_now(), False, lambda _: closing)
    await store.leases.release(lease)


def _ballots(winner: str, luck: Random, order: str) -> dict[str, Ballot]:
    """Return a ballot of each juror: the earlier in the roster, the more it is guesswork."""
    jurors = DEFAULTS.jurors
    ballots = {}
    for number, juror in enumerate(jurors):
        truth = 3 if winner == "A" else -3
        margin = round((number * truth + (len(jurors) - 1 - number) * luck.choice((-3, 3))) / 3)
        verdict = "A" if margin > 0 else "B" if margin < 0 else "tie"
        names = {criterion.name for criterion in find_rubric("debate").criteria}
        ballots[f"jury/{juror.ref}/{order}"] = Ballot(
            juror=juror.ref,
            family=juror.family,
            order=tuple(order),
            names={"A": "Alder", "B": "Rowan"},
            valid=True,
            verdict=verdict,
            scores={"A": dict.fromkeys(names, 5 + margin), "B": dict.fromkeys(names, 5)},
        )
    return ballots
