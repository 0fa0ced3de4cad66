"""A vote from its opening to the reveal: what the thread shows before and after."""

import asyncio
import re

import pytest

from engine.values.debate import Status
from engine.values.errors import UsageError
from engine.values.messages import Reveal
from tests.doubles.hall import DEFAULTS, Hall
from tests.doubles.venue import AttentiveVenue, Fault
from tests.kit import HANG_SECONDS, FixedClock

pytestmark = pytest.mark.postgresql

NAMES = [model.name for model in (*DEFAULTS.sides.values(), *DEFAULTS.jurors)]


async def test_models_people_and_panel_are_sealed_until_the_reveal_opens_them(
    hall: Hall, venue: AttentiveVenue
) -> None:
    async with hall.open() as session:
        debate_id = await session.start(DEFAULTS, user="ann")
        await session.vote(debate_id, ann="B", bob="A", cem="A", dee="tie")
        judged = await session.store.journal.read(debate_id, "verdict", "ballots")
        verdict, ballots = judged.verdict, judged.ballots
        sealed = venue.said()
        await session.service.close_vote(debate_id)
        assert (await session.ended(debate_id)).closed_early
        calls, _ = await session.store.journal.spending(debate_id)
    assert not [name for name in NAMES if re.search(rf"\b{name}\b", sealed)]
    assert not [word for word in ("Jury:", "Reveal:", "People:", "votes:") if word in sealed]
    opened = venue.said().removeprefix(sealed)
    assert all(model.ref in opened for model in DEFAULTS.sides.values())
    reveal = venue.meant[-1]
    assert isinstance(reveal, Reveal)
    assert reveal.models == {"A": "rehearsal/maple", "B": "rehearsal/willow"}
    assert reveal.tally.counts == {"A": 2, "B": 1, "tie": 1, "weak": 0}
    assert reveal.tally.gold == {"A": 2, "B": 0, "tie": 1, "weak": 0}
    assert (reveal.tally.winner, reveal.tally.share) == ("A", 1.0)
    assert verdict is not None
    assert (reveal.verdict.winner, reveal.verdict.p) == (verdict.winner, verdict.p)
    assert reveal.agree is (verdict.winner == "A")
    assert len(reveal.jurors) == len(ballots) >= 3
    assert {line.juror for line in reveal.jurors} <= {model.ref for model in DEFAULTS.jurors}
    assert reveal.calls == calls


async def test_a_deadline_that_no_process_saw_fires_late(hall: Hall) -> None:
    hall.clock = clock = FixedClock()
    async with hall.open() as session:
        debate_id = await session.start(DEFAULTS.model_copy(update={"vote_minutes": 0.01}))
        await session.vote(debate_id, ann="A")
    debate = hall.thread()[-1]
    hall.venue.listening = False
    await hall.venue.react("bob", debate.place, debate.id, "B")
    clock.pass_seconds(0.7)
    async with hall.open() as session:
        ended = await session.ended(debate_id)
        votes = await session.votes(debate_id, "ann", "bob")
    assert ended.status is Status.CLOSED
    assert {user: (vote.option, vote.late_seen) for user, vote in votes.items()} == {
        "ann": ("A", False),
        "bob": ("B", True),
    }


async def test_a_close_as_soon_as_the_panel_is_done_is_never_refused(hall: Hall) -> None:
    async with hall.open() as session:
        debate_id = await session.start(DEFAULTS)
        async with asyncio.timeout(HANG_SECONDS):
            while True:
                debate = await session.store.debates.get(debate_id)
                if debate.status is Status.VOTING and debate.vote_opened_at:
                    break
                await asyncio.sleep(0)
        assert (await session.service.close_vote(debate_id)).status is Status.CLOSED


async def test_a_vote_that_waits_for_the_posts_before_it_cannot_be_closed_yet(hall: Hall) -> None:
    async with hall.open() as session:
        hall.venue.misbehave(
            "seed", Fault(delay=HANG_SECONDS)
        )  # of the ballot, which opens with it
        debate_id = await session.start(DEFAULTS)
        debate = await session.until(debate_id, lambda debate: debate.status is Status.VOTING)
        assert debate.vote_opened_at is None
        with pytest.raises(UsageError, match="opens once every turn is posted; close it then"):
            await session.service.close_vote(debate_id)


async def test_there_is_nothing_to_close_before_the_vote_opens_or_after_it_closed(
    hall: Hall,
) -> None:
    async with hall.open() as session:
        debate_id = await session.start(DEFAULTS)
        with pytest.raises(UsageError, match="has no open vote"):
            await session.service.close_vote(debate_id)
        await session.vote(debate_id)
        await session.service.close_vote(debate_id)
        with pytest.raises(UsageError, match="is closed; it has no open vote"):
            await session.service.close_vote(debate_id)
