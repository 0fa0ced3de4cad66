"""Whole debates that once went wrong, each named after what a person would have noticed."""

from collections.abc import Sequence
from typing import Any

import pytest

from adapters.terminal.render import plain
from engine.run.order import Defaults
from engine.store import Intent, Lease
from engine.values.debate import PanelMode, Price, Status
from engine.values.errors import BudgetError, UsageError
from engine.values.limits import Caps
from engine.values.messages import Announcement, Reveal
from engine.values.verdicts import How
from tests.doubles import model_server as acts
from tests.doubles.hall import DEFAULTS as OFFLINE, QUICK, Hall
from tests.doubles.venue import AttentiveVenue, Fault, MemoryVenue
from tests.kit import some, until
from tests.scenario.conftest import DEFAULTS, NO_CAPS, SWIFT, Running, Stage

DEAR = Price(usd_in=0, usd_out=100)  # with 900 tokens written a call costs 0.09 USD, at most 0.1
COMMUNITY = NO_CAPS.model_copy(update={"community_daily_usd": 10.0})


class EagerVenue(MemoryVenue):
    """A platform where somebody votes as soon as the invitation stands, before any seed."""

    async def seed(self, place: str, message: str, options: Sequence[str]) -> None:
        await self.react("ann", place, message, "A")
        await super().seed(place, message, options)


def capped(usd: float) -> Defaults:
    return under(NO_CAPS.model_copy(update={"debate_usd": usd}))


def under(caps: Caps) -> Defaults:
    return DEFAULTS.model_copy(update={"caps": caps})


def invited(stage: Stage) -> bool:
    """Whether anybody was ever asked to vote."""
    return "Vote: A, B, tie, weak." in stage.venue.said()


pytestmark = pytest.mark.usefixtures("swift")


@pytest.mark.postgresql
async def test_a_closed_debate_whose_reveal_was_never_posted_can_be_resumed(hall: Hall) -> None:
    """Its process was killed between the close and the reveal; resuming it was refused."""
    async with hall.open() as session:
        debate_id = await session.start()
        await session.voting(debate_id)
        hall.venue.misbehave("edit", Fault(delay=30))
        closed = await session.service.close_vote(debate_id)
        await until(lambda: hall.venue.seen[-1].method == "edit")  # it notifies no one
    assert closed.status is Status.CLOSED
    assert "Reveal: " not in hall.venue.said()
    hall.venue.misbehave("edit", Fault(delay=0.3))
    async with hall.open() as session:
        resumed = await session.service.resume(debate_id, OFFLINE.caps)
        await session.ended(debate_id)
        assert (resumed.id, resumed.status) == (debate_id, Status.CLOSED)
        assert hall.thread()[-1].body.startswith("Reveal: ")
        with pytest.raises(UsageError, match="is closed; there is nothing to resume"):
            await session.service.resume(debate_id, OFFLINE.caps)
    assert hall.venue.said().count("Reveal: ") == 1


async def test_a_cap_needs_known_prices_at_the_resume_too(stage: Stage) -> None:
    """A debate of unknown price, begun without a cap, went on under one that could not hold."""
    stage.server.always(acts.status(401), model="ben")
    async with stage.process(price=None) as line:
        debate = await line.hold()
        assert debate.status is Status.FAILED
        asked = len(stage.server.requests)
        for caps in (capped(1.0).caps, COMMUNITY):
            with pytest.raises(BudgetError, match="price of near/ana") as refused:
                await line.service.resume(debate.id, caps)
            assert refused.value.hint.startswith("Set ROSTRUM_PRICES")
        assert (await line.store.debates.get(debate.id)).status is Status.FAILED
        assert len(stage.server.requests) == asked


async def test_a_cap_raised_by_a_little_holds_at_its_new_height(stage: Stage) -> None:
    """A resumed debate kept the cap that it began with, and stopped at once again."""
    stage.server.always(acts.Act(usage_extra={"completion_tokens": 900}))
    async with stage.process(price=DEAR) as line:
        debate = await line.hold(capped(0.6))
        assert len(stage.server.requests) == 6
        resumed = await line.service.resume(debate.id, capped(0.75).caps)
        assert resumed.setup.cap_usd == 0.75
        again = await line.ended(debate.id)
        assert (again.status, len(stage.server.requests)) == (Status.PARTIAL, 8)
        assert "its cap of 0.75 USD" in again.reason
        await line.service.resume(debate.id, capped(2.0).caps)
        assert (await line.ended(debate.id)).status is Status.CLOSED


async def test_people_are_asked_to_vote_once_the_verdict_is_sealed(
    line: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A debate whose panel failed had asked for votes that nothing would ever be held against."""
    sending, sealed = line.store.outbox.sending, list[bool]()

    async def look_and_send(lease: Lease, intent: Intent, *args: Any) -> Intent:
        if intent.key == "vote":
            sealed.append(
                (await line.store.journal.read(intent.debate, "verdict")).verdict is not None
            )
        return await sending(lease, intent, *args)

    monkeypatch.setattr(line.store.outbox, "sending", look_and_send)
    assert (await line.hold()).status is Status.CLOSED
    assert sealed == [True]


async def test_a_panel_stopped_by_the_cap_opens_no_vote_until_it_is_resumed(stage: Stage) -> None:
    stage.server.always(acts.Act(usage_extra={"completion_tokens": 900}))
    async with stage.process(price=DEAR) as line:
        debate = await line.hold(capped(0.85))
        assert (debate.status, debate.vote_message) == (Status.PARTIAL, None)
        assert "its cap of 0.85 USD" in debate.reason
        assert (await line.store.journal.read(debate.id, "verdict")).verdict is None
        assert (len(stage.turns_asked), len(stage.jurors_asked)) == (8, 1)
        assert not invited(stage)
        await line.service.resume(debate.id, NO_CAPS)
        ended = await line.ended(debate.id)
        judged = await line.store.journal.read(debate.id, "verdict", "ballots")
    assert ended.status is Status.CLOSED
    assert invited(stage)
    assert (some(judged.verdict).valid, len(judged.ballots)) == (6, 6)
    # What was paid for is not asked for again.
    assert (len(stage.turns_asked), len(stage.jurors_asked)) == (8, 6)


async def test_a_vote_cast_before_the_seeds_is_heard_live(database_url: str) -> None:
    """It was unknown until the close, and lost for good if it was taken back before."""
    hall = Hall(database_url, EagerVenue(limits=QUICK))
    async with hall.open() as session:
        debate_id = await session.start()
        await session.voting(debate_id)
        [event] = await session.store.votes.events(debate_id)
        await session.close(debate_id)
        votes = await session.votes(debate_id, "ann")
    assert (event.option, event.how) == ("A", How.LIVE)
    assert votes["ann"].option == "A"


@pytest.mark.parametrize("blind", [True, False])
async def test_a_debate_that_is_not_blind_says_so_and_compares_nothing(
    stage: Stage, blind: bool
) -> None:
    """It was announced as read blind, and its jury compared with people."""
    venue = AttentiveVenue(limits=SWIFT)
    stage.venue = venue
    async with stage.process() as line:
        debate_id = (await line.start(blind=blind, vote_minutes=10)).debate.id
        debate = await line.until(
            debate_id, lambda debate: debate.status is Status.VOTING and debate.vote_opened_at
        )
        await venue.react("ann", debate.thread or "", debate.vote_message or "", "A")
        await line.service.close_vote(debate_id)
        await line.ended(debate_id)
    announced = next(message for message in venue.meant if isinstance(message, Announcement))
    reveal = next(message for message in venue.meant if isinstance(message, Reveal))
    assert ("3 jurors read it blind" in plain(announced, "x·1/1")) is blind
    assert ("3 jurors read it with names" in plain(announced, "x·1/1")) is not blind
    assert reveal.tally.winner == "A"
    assert (reveal.agree is None) is not blind
    assert ("cannot be compared" in plain(reveal, "x·1/1")) is not blind


@pytest.mark.parametrize("caps", [COMMUNITY, NO_CAPS], ids=["community", "none"])
async def test_what_was_not_reserved_from_a_communitys_day_is_not_spent(
    line: Running, caps: Caps
) -> None:
    """Without a cap of its own a debate could pass what its community's day had left."""
    started = await line.start(under(caps))
    setup = started.debate.setup
    assert setup.reserved_usd == started.estimate.usd_max
    assert setup.cap_usd == (setup.reserved_usd if caps is COMMUNITY else None)
    assert (await line.ended(started.debate.id)).status is Status.CLOSED


async def test_a_strict_debate_makes_the_calls_that_were_announced(line: Running) -> None:
    """Only one of the two orders in which each juror reads was announced."""
    strict = DEFAULTS.model_copy(update={"panel": PanelMode.STRICT})
    started = await line.start(strict)
    debate = await line.ended(started.debate.id)
    calls, _ = await line.store.journal.spending(debate.id)
    assert started.estimate.calls == calls == 8 + 2 * 3 + 1
