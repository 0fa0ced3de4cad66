"""Whole debates on a platform that misbehaves: what people see in the thread, and what is said."""

import asyncio
import time
from collections import Counter
from itertools import pairwise
from typing import Any

import pytest
from structlog.testing import capture_logs

import engine.delivery.outbox
import engine.delivery.seeds
from engine.run.order import Order
from engine.store import DeliveryState, Intent, OpenQuestion
from engine.store.outbox import Outbox
from engine.tally.questions import vote_options
from engine.values.debate import Debate, Status
from engine.values.errors import VenueAwayError, VenueError
from engine.values.messages import Message, TurnPost
from engine.values.ports import Part, VenueLimits, utc_now
from tests.doubles.hall import DEFAULTS, LOBBY, QUICK, Hall, with_sides
from tests.doubles.venue import Fault, MemoryVenue, StoredMessage
from tests.kit import HANG_SECONDS, held_at, some, until, until_asked

BRIEF = DEFAULTS.model_copy(update={"vote_minutes": 0.002})
TALKATIVE = with_sides("maple?words=1400&over=always", "willow").model_copy(
    update={"vote_minutes": 0.002}
)
REFUSAL = VenueError("The platform refused the message; grant the right to post.")


pytestmark = pytest.mark.usefixtures("swift")


async def hold(hall: Hall) -> Debate:
    async with hall.open() as session:
        return await session.ended(await session.start(BRIEF))


def keys(messages: list[StoredMessage]) -> list[str]:
    return [message.reference.split("·", 1)[1] for message in messages]


def order_of(messages: list[StoredMessage]) -> list[int]:
    return [int(key.split("·")[0]) for key in keys(messages)]


def heads(messages: list[StoredMessage]) -> list[str]:
    return [message.body.split("\n", 1)[0] for message in messages]


def turns_in(hall: Hall) -> list[str]:
    """Return what stands in the thread above each turn, up to its number."""
    said = heads(hall.thread())
    return [line.split(" of 8")[0] for line in said if ", turn " in line]


def posts_asked(hall: Hall) -> int:
    return sum(call.method == "post" for call in hall.venue.seen)


async def test_a_long_turn_comes_in_parts_and_a_refused_part_is_plain_in_its_place(
    hall: Hall,
) -> None:
    hall.venue.misbehave("post", Fault(), Fault(), Fault(REFUSAL))
    async with hall.open() as session:
        debate = await session.ended(await session.start(TALKATIVE))
    assert debate.gaps == 0
    assert max(Counter(keys(hall.thread())).values()) == 1
    parts = [key.split("·") for key in keys(hall.thread())]
    for (number, piece), (following, after) in pairwise(parts):
        i, n = map(int, piece.split("/"))
        if i < n:
            assert (following, after) == (number, f"{i + 1}/{n}")
    assert [piece for number, piece in parts if number == "2"] == [f"{i}/5" for i in range(1, 6)]


async def test_a_notice_that_is_refused_too_ends_nothing(hall: Hall) -> None:
    hall.venue.misbehave("post", Fault(), Fault(), *[Fault(REFUSAL)] * 4)
    debate = await hold(hall)
    assert (debate.status, debate.gaps) == (Status.CLOSED, 1)
    assert [turn[-1] for turn in turns_in(hall)] == list("1345678")


async def test_votes_on_a_debate_with_a_gap_are_no_labels_and_all_say_so(hall: Hall) -> None:
    hall.venue.misbehave("post", Fault(), Fault(), Fault(REFUSAL), Fault(REFUSAL))
    extends = DEFAULTS.model_copy(update={"quorum": 2, "extend": True})
    async with hall.open() as session:
        debate = await session.vote(await session.start(extends), ann="A", bob="A")
        await session.service.windows["memory"].close(debate.id)
        await session.ended(debate.id)
        votes = await session.votes(debate.id, "ann", "bob")
        [(_, state, why)] = await session.store.deliveries.gaps(debate.id)
    assert [(vote.gold, vote.reason) for vote in votes.values()] == [(False, "gap")] * 2
    assert state is DeliveryState.REFUSED
    assert why == str(REFUSAL)
    reveal = hall.thread()[-1].body
    assert "People: None, {'A': 2" in reveal


async def test_a_refused_announcement_or_thread_ends_the_debate_and_says_why(hall: Hall) -> None:
    hall.venue.misbehave("post", Fault(REFUSAL))
    debate = await hold(hall)
    assert (debate.status, debate.reason) == (Status.FAILED, str(REFUSAL))
    said = heads(list(hall.venue.messages.values()))
    assert not [line for line in said if line.startswith(f"Debate {debate.code}")]
    hall.venue.misbehave("open_thread", Fault(VenueError("No threads here; allow them.")))
    debate = await hold(hall)
    assert (debate.status, debate.reason) == (Status.FAILED, "No threads here; allow them.")


async def test_reactions_that_may_not_be_added_keep_no_vote_from_opening(hall: Hall) -> None:
    hall.venue.misbehave("seed", *[Fault(VenueError("No reactions here; allow them."))] * 9)
    with capture_logs() as logs:
        debate = await hold(hall)
    assert (debate.status, debate.gone, debate.reason) == (Status.CLOSED, False, "")
    assert any(line.startswith("Reveal") for line in heads(hall.thread()))
    refused = [log for log in logs if log["event"] == "reaction not added"]
    assert {log["option"] for log in refused} == set(vote_options(("A", "B")))


async def test_reactions_that_fail_for_now_are_added_later_and_hold_nothing_up(
    hall: Hall, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine.delivery.seeds, "FIRST_PAUSE", 0.1)
    away = VenueAwayError("Slow down.", retry_after=600)
    hall.venue.misbehave("seed", *[Fault(away)] * 5)
    async with hall.open() as session:
        debate = await session.voting(await session.start())
        message = hall.venue.messages[some(debate.vote_message)]

        async def acts_noted() -> list[str]:
            return [note.act for note in await session.store.votes.interventions(debate.id)]

        acts = await until_asked(acts_noted, lambda acts: acts.count("seeded") >= 4)
    assert acts.count("unseeded") == 4
    assert message.seeds == set(vote_options(("A", "B")))


async def test_a_vote_taken_back_while_away_is_taken_back_also_without_the_bots_reaction(
    hall: Hall,
) -> None:
    hall.venue.misbehave("seed", *[Fault(VenueError("No reactions here; allow them."))] * 9)
    async with hall.open() as session:
        debate = await session.vote(await session.start(), ann="A", bob="A", cem="B")
        hall.venue.listening = False
        await hall.venue.unreact("ann", debate.thread or "", some(debate.vote_message), "A")
        await session.service.close_vote(debate.id)
        votes = await session.votes(debate.id, "ann", "bob", "cem")
    assert {user: vote.option for user, vote in votes.items()} == {"bob": "A", "cem": "B"}


async def test_while_the_platform_is_away_thinking_stops_at_four_turns(hall: Hall) -> None:
    async with hall.open() as session:
        debate_id = await session.start(BRIEF)
        await session.until(debate_id, lambda debate: debate.thread)
        hall.venue.go_away(1.0)
        debate = await session.until(debate_id, lambda debate: debate.reason)
        assert debate.reason == "Waiting to post: The platform cannot be reached; try again."
        ahead = len(turns_in(hall)) + 4
        async with asyncio.timeout(HANG_SECONDS):
            while (await session.store.journal.spending(debate_id))[0] < ahead:
                hall.venue.go_away(1.0)  # for as long as that takes
                await asyncio.sleep(0.01)
        await asyncio.sleep(0.3)  # in which a side that does not wait asks for more
        calls, _ = await session.store.journal.spending(debate_id)
        assert calls == ahead
        await session.until(debate_id, lambda debate: not debate.reason)
        ended = await session.ended(debate_id)
    assert ended.status is Status.CLOSED
    assert ended.reason == ""
    assert [turn[-1] for turn in turns_in(hall)] == list("12345678")
    assert order_of(hall.thread()) == sorted(order_of(hall.thread()))


async def test_what_the_last_process_waited_for_is_no_reason_any_more(hall: Hall) -> None:
    async with hall.open() as session:
        with held_at("turn/opening/B"):
            debate_id = await session.start()
            await session.until(debate_id, lambda debate: debate.thread)
            hall.venue.go_away(60)
        await session.until(debate_id, lambda debate: debate.reason)
    hall.venue.away_until = 0.0
    async with hall.open() as session:
        with held_at("turn/closing/B"):
            await session.reconcile()
            debate = await session.until(debate_id, lambda debate: not debate.reason)
            assert debate.status is Status.RUNNING


@pytest.mark.postgresql
async def test_an_answer_lost_after_storing_is_found_and_nothing_is_sent_twice(hall: Hall) -> None:
    for _ in range(12):
        hall.venue.lose_answer()
    debate = await hold(hall)
    assert debate.status is Status.CLOSED
    everything = [message.reference for message in hall.venue.messages.values()]
    assert max(Counter(everything).values()) == 1
    assert [turn[-1] for turn in turns_in(hall)] == list("12345678")


async def test_an_answer_lost_before_storing_is_sent_again_after_its_deadline(
    hall: Hall, monkeypatch: pytest.MonkeyPatch
) -> None:
    deadlines: list[float] = []
    sending = Outbox.sending

    async def send(table: Outbox, *given: Any) -> Intent:
        left = (given[-1] - utc_now()).total_seconds()
        deadlines.append(time.monotonic() + left)
        return await sending(table, *given)

    monkeypatch.setattr(Outbox, "sending", send)
    lost = VenueAwayError("The answer was lost.", retry_after=0.01, maybe_stored=True)
    hall.venue.misbehave("post", Fault(), Fault(lost))
    debate = await hold(hall)
    assert debate.status is Status.CLOSED
    sent = [call.at for call in hall.venue.seen if call.method == "post"]
    assert sent[2] > deadlines[1] - 0.1 * QUICK.send_seconds
    assert [turn[-1] for turn in turns_in(hall)] == list("12345678")


async def test_an_announcement_in_doubt_that_cannot_be_looked_for_ends_the_debate(
    hall: Hall,
) -> None:
    hall.venue.lose_answer()
    hall.venue.refuse_reading()
    debate = await hold(hall)
    assert debate.status is Status.FAILED
    assert debate.reason == "Reading is not allowed here; grant the right to read."
    said = heads(list(hall.venue.messages.values()))
    assert sum(line.startswith(f"Debate {debate.code}") for line in said) == 1


async def test_when_the_thread_is_deleted_the_calls_stop_and_all_is_kept(hall: Hall) -> None:
    async with hall.open() as session:
        with held_at("turn/opening/B"):
            debate_id = await session.start()
            debate = await session.until(debate_id, lambda debate: debate.thread)
            hall.venue.delete(debate.thread or "")
        ended = await session.ended(debate_id)
        calls, _ = await session.store.journal.spending(debate_id)
        await asyncio.sleep(0.1)
        assert (await session.store.journal.spending(debate_id))[0] == calls
        journaled = await session.store.journal.load(debate_id)
    assert ended.status is Status.FAILED
    assert ended.gone
    assert ended.reason == f"{debate.thread} was deleted; nothing can be posted there any more."
    assert 1 <= len(journaled.steps) < 8


async def test_a_deliverer_restarted_between_parts_goes_on_with_the_next(hall: Hall) -> None:
    hall.venue.limits = VenueLimits(typing_seconds=0.02, send_seconds=1.5)
    hall.venue.misbehave("post", Fault(), Fault(), Fault(delay=60))
    async with hall.open() as session:
        debate_id = await session.start(TALKATIVE)
        await until(lambda: posts_asked(hall) == 3)
    assert keys(hall.thread()) == ["2·1/5"]
    hall.venue.limits = QUICK
    async with hall.open() as session:
        await session.reconcile()
        ended = await session.ended(debate_id)
    assert ended.status is Status.CLOSED
    assert keys(hall.thread())[:5] == [f"2·{part}/5" for part in range(1, 6)]
    assert max(Counter(keys(hall.thread())).values()) == 1


async def test_another_terminals_debate_is_not_shown_or_closed_here(hall: Hall) -> None:
    assert isinstance(hall.venue, MemoryVenue)
    hall.venue.channel = LOBBY
    async with hall.open() as session:
        elsewhere = Order(platform="memory", community="club", place="elsewhere", seed=8)
        other = (await session.service.start(elsewhere, DEFAULTS)).debate.id
        mine = await session.start()
        await session.voting(mine)
        await session.delivery.settled(mine)
        waiting = await session.until(other, lambda debate: debate.status is Status.RUNNING)
        assert waiting.thread is None
        assert await session.store.outbox.waiting("memory", LOBBY) == []
        assert await session.store.outbox.waiting("memory", "elsewhere") == [other]
        assert await session.store.outbox.waiting("memory") == [other]
        assert await session.store.journal.thinking("memory", "elsewhere") == []
        assert list(await session.store.votes.due("memory", LOBBY)) == [OpenQuestion(mine)]
    assert len(hall.venue.threads) == 1


async def test_a_message_that_cannot_be_rendered_is_posted_as_plain_text(
    hall: Hall, monkeypatch: pytest.MonkeyPatch
) -> None:
    render = hall.venue.render

    def defective(message: Message, stem: str) -> tuple[Part, ...]:
        if isinstance(message, TurnPost) and message.number == 2:
            raise ZeroDivisionError
        return render(message, stem)

    monkeypatch.setattr(hall.venue, "render", defective)
    debate = await hold(hall)
    assert (debate.status, debate.gaps) == (Status.CLOSED, 0)
    second = next(m for m in hall.thread() if m.reference.split("·")[1] == "3")
    assert "turn 2 of 8" in second.body
