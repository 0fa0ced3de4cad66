"""A person as a side: asked whether they agree, heard turn by turn, marked and kept apart."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby
from pathlib import Path

import pytest

from engine.dataset.writer import write_export
from engine.run.order import Defaults, Invited, Order, Rematch
from engine.run.rematch import repeat
from engine.stats.row import work_out
from engine.store import ExportFilter, OpenQuestion
from engine.store.communities import CommunitySettings
from engine.store.guests import OpenTurn
from engine.values.debate import SOMEBODY, Cause, Debate, Moderation, Status
from engine.values.errors import ModelError, NotAllowedError, UsageError
from engine.values.messages import Announcement, Reveal, TurnPost, VoteInvite
from engine.values.ports import Call, Reply
from engine.values.protocols import AttemptLog
from engine.values.verdicts import Question
from engine.words.phrases import WAITS_TO_CHECK
from engine.words.progress import progressed
from tests.doubles.hall import DEFAULTS, LOBBY, QUICK, Hall, Session
from tests.doubles.venue import AttentiveVenue
from tests.doubles.whole_debate import KEYS, HeardModels
from tests.kit import HANG_SECONDS, some, until, until_asked, until_true
from tests.unit.test_dataset_export import table

MINUTES = 5.0
LIMITS = replace(QUICK, state_seconds=0.02, edit_seconds=0.01)  # with a card that follows


@pytest.fixture
def venue() -> AttentiveVenue:
    return AttentiveVenue(limits=LIMITS)


def order(side: str = "B", user: str = "bob", **more: object) -> Order:
    guest = Invited(side=side, user=user)
    where = {"platform": "memory", "community": "club", "place": LOBBY, "seed": 7}
    given = {"user": "ann", "guest": guest, "turn_minutes": MINUTES, **where, **more}
    return Order.model_validate(given)


async def invite(session: Session, defaults: Defaults = DEFAULTS, **more: object) -> Debate:
    return (await session.service.start(order(**more), defaults)).debate  # type: ignore[arg-type]


async def asked(session: Session, debate: Debate) -> None:
    opened = (
        "SELECT count(*) FROM questions WHERE debate = :debate AND closed_at IS NULL "
        "AND opened_at IS NOT NULL AND question IN ('consent', 'speak')"
    )
    await until_true(lambda: session.store.guests._database.value(opened, debate=debate.id))


async def agree(
    session: Session, debate: Debate, user: str = "bob", *, accept: bool = True
) -> None:
    """Answer once the question is open."""
    async with asyncio.timeout(HANG_SECONDS):
        while True:
            try:
                return await session.service.guests.answer(debate, user, accept=accept)
            except UsageError as error:
                if "time to answer" not in str(error):
                    raise
                await asyncio.sleep(0.005)


async def turn(session: Session, debate: Debate, kind: str) -> OpenTurn:
    return some(
        await until_asked(
            lambda: session.store.guests.open_turn(debate.id),
            lambda found: found and found.opened and kind in found.step,
        )
    )


async def end_time(session: Session, debate: Debate) -> None:
    """Let the time for what is asked end now, once it has begun."""
    await asked(session, debate)
    due = "UPDATE questions SET closes_at = opened_at WHERE debate = :debate AND closed_at IS NULL"
    await session.store.guests._database.run(due, debate=debate.id)
    session.service.notifier.publish("votes/memory")


class PatientModels(HeardModels):
    """Models that answer while their gate is open."""

    def __init__(self) -> None:
        super().__init__()
        self.gate = asyncio.Event()
        self.gate.set()

    async def complete(self, call: Call, log: AttemptLog) -> Reply:
        await self.gate.wait()
        return await super().complete(call, log)


async def test_a_person_argues_a_side_and_no_juror_learns_who(
    hall: Hall, venue: AttentiveVenue, tmp_path: Path
) -> None:
    models = PatientModels()
    async with hall.open(models) as session:
        debate = await invite(session)
        await asked(session, debate)
        assert not models.heard, "nothing is paid before the person agrees"
        assert venue.notified == ["bob"]
        with pytest.raises(UsageError, match="Only the person"):
            await session.service.guests.answer(debate, "cem", accept=True)
        await agree(session, debate)
        await turn(session, debate, "opening")
        give = session.service.guests.give_turn
        with pytest.raises(UsageError, match="Only the person"):
            await give(debate, "ann", "I will do it.")
        with pytest.raises(UsageError, match="at most 500"):
            await give(debate, "bob", "word " * 501)
        with pytest.raises(UsageError, match="empty"):
            await give(debate, "bob", " \u200b ")
        blocked = CommunitySettings(blocked_words=("coin",))
        now = session.service.clock.now()
        await session.store.communities.change("memory", "club", lambda _: blocked, now)
        with pytest.raises(UsageError, match="blocked"):
            await give(debate, "bob", "Buy my coin.")
        said = "I, Bob Somebody, say: <@471100815004711> is wrong. Somebody must act. Maple agrees."
        models.gate.clear()  # or it is the person's turn again
        assert await give(debate, "bob", said) == 11
        with pytest.raises(UsageError, match="not your turn"):
            await give(debate, "bob", "Once more.")
        models.gate.set()
        await turn(session, debate, "rebuttal")
        debate = await session.store.debates.get(debate.id)
        place = debate.thread or ""
        picture = venue.write("bob", place, "")
        with pytest.raises(UsageError, match="pictures do not count"):
            await session.service.guests.finish_turn(debate, "bob")
        first = venue.write("bob", place, "A first thought.")
        gone = venue.write("bob", place, "A slip.")
        venue.write("cem", place, "Somebody else's word.")
        venue.written[place][first] = "bob", "A better thought."  # edited
        del venue.written[place][gone], venue.written[place][picture]
        assert await session.service.guests.finish_turn(debate, "bob") == 3
        await turn(session, debate, "assumptions")
        venue.written[place].clear()
        venue.write("bob", place, "long " * 600)
        await end_time(session, debate)
        await turn(session, debate, "closing")
        await give(debate, "bob", "We win.")
        await session.voting(debate.id)
        (vote,) = (one for one in venue.meant if isinstance(one, VoteInvite) and one.link)
        held = (await session.store.journal.read(debate.id, "turns")).turns
        ballot = (await session.store.debates.get(debate.id)).vote_message or ""
        for user, option in (("bob", "B"), ("cem", "A"), ("ann", "B")):
            await venue.react(user, place, ballot, option)
        await session.close(debate.id)
        votes = await session.votes(debate.id, "ann", "bob", "cem")
        archive, out = session.store.archive, tmp_path / "out"
        await asyncio.to_thread(write_export, archive, ExportFilter(), out, KEYS, version="0")
        rated = await work_out(archive, ExportFilter(), len)
        known = await session.store.learning.past(9, rehearsal=True)
    own = [one for one in held if one.side == "B"]
    assert own[0].text == "I, [name], say: [mention] is wrong. [name] must act. Maple agrees."
    assert [one.text for one in own[1::2]] == ["A better thought.", "We win."]
    assert (own[2].words, [broken.kind for broken in own[2].violations]) == (500, ["shortened"])
    posts = [one for one in venue.meant if isinstance(one, TurnPost)]
    assert {post.side: post.person for post in posts} == {"A": False, "B": True}
    assert "Maple" not in "".join(post.text for post in posts)
    (card,) = {one.guest for one in venue.meant if isinstance(one, Announcement)}
    reveal = next(one for one in venue.meant if isinstance(one, Reveal))
    assert (card, vote.guest, reveal.models["B"]) == ("B", "B", SOMEBODY.ref)
    assert {user: vote.reason for user, vote in votes.items()} == {
        "ann": "starter",
        "bob": "speaker",
        "cem": "",
    }
    read = "".join(text for step, text in models.heard.items() if step.startswith("jury/"))
    assert "A better thought." in read
    for word in ("Bob", "somebody", "person/", "471100815004711"):
        assert word not in read.replace("a person", ""), word
    assert set(venue.notified) == {"bob"}
    assert "Bob" not in venue.said()
    assert (rated, known) == (0, []), "in no rating, and nothing that jurors are measured by"
    await asyncio.to_thread(check_export, out)


def check_export(out: Path) -> None:
    tables = {path.name: table(out, path.name) for path in out.glob("data/*")}
    (debate,) = tables["debates"]
    assert debate["person"] == "B"
    assert [one["by"] for one in debate["sides"]] == ["model", "person"]
    assert {(one["side"], one["by"]) for one in tables["turns"]} == {
        ("A", "model"),
        ("B", "person"),
    }
    assert {one["reason"] for one in tables["votes"]} == {"starter", "speaker", None}
    told = {"debates", "records", "turns", "verdicts", "votes", "calls", "artifacts"}
    assert set(tables) <= told, set(tables)
    everything = b"".join(path.read_bytes() for path in out.rglob("*.json*")).lower()
    assert b"bob" not in everything
    assert b"471100815004711" not in everything


async def test_after_a_kill_nothing_is_asked_twice_and_nothing_is_lost(
    hall: Hall, venue: AttentiveVenue
) -> None:
    async with hall.open() as session:
        debate = await invite(session)
        await asked(session, debate)
    async with hall.open() as session:
        await session.reconcile()
        await agree(session, debate)
        await turn(session, debate, "opening")
    async with hall.open() as session:
        await session.reconcile()
        await session.service.guests.give_turn(debate, "bob", "Said between two lives.")
    async with hall.open() as session:
        await session.reconcile()
        for kind in ("rebuttal", "assumptions", "closing"):
            await turn(session, debate, kind)
            await session.service.guests.give_turn(debate, "bob", f"The {kind}.")
        await session.voting(debate.id)
        held = (await session.store.journal.read(debate.id, "turns")).turns
    assert [one.text for one in held if one.side == "B"] == [
        "Said between two lives.",
        "The rebuttal.",
        "The assumptions.",
        "The closing.",
    ]
    assert venue.notified == ["bob"] * 5, "one for the consent, one a turn"


@pytest.mark.parametrize("answers", [False, None])
async def test_who_declines_or_says_nothing_costs_nothing(hall: Hall, answers: bool | None) -> None:
    models = HeardModels()
    async with hall.open(models) as session:
        debate = await invite(session)
        await asked(session, debate)
        if answers is None:
            await end_time(session, debate)
        else:
            await agree(session, debate, accept=False)
        debate = await session.ended(debate.id)
    assert (debate.status, debate.cause) == (Status.CANCELLED, Cause.PERSON)
    assert "Nothing was spent" in debate.reason
    assert not models.heard


@pytest.mark.slow
async def test_two_missed_turns_end_the_debate_and_a_forgotten_person_too(hall: Hall) -> None:
    async with hall.open() as session:
        debate = await invite(session, user="ann", guest=Invited(side="A", user="ann"))
        for kind in ("opening", "rebuttal"):  # whoever starts it need not be asked
            await turn(session, debate, kind)
            await end_time(session, debate)
        debate = await session.ended(debate.id)
        held = (await session.store.journal.read(debate.id, "turns")).turns
        assert (debate.status, debate.cause) == (Status.PARTIAL, Cause.PERSON)
        assert "twice in a row" in debate.reason
        assert [one.text for one in held if one.side == "A"] == ["(No turn was given.)"] * 2
        debate = await invite(session)
        await agree(session, debate)
        await turn(session, debate, "opening")
        await session.store.privacy.forget("memory", "bob")
        debate = await session.ended(debate.id)
        assert (debate.status, debate.cause) == (Status.PARTIAL, Cause.PERSON)
        assert "forgotten" in debate.reason


WAITING = f"⏳ {WAITS_TO_CHECK} See #thread."


def on_cards(venue: AttentiveVenue) -> list[str]:
    shown = [one.progress for one in venue.meant if isinstance(one, Announcement)]
    said = [progressed(one, thread="#thread") if one else "" for one in shown]
    return [one for one, _ in groupby(said)]


class Guard:
    """A moderation model that is `away` for insults."""

    def __init__(self) -> None:
        self.away, self.refused, self.asked = True, 0, list[str]()

    async def check(self, texts: Sequence[str]) -> Moderation:
        if self.away and "idiots" in texts[0]:
            self.refused += 1
            await asyncio.sleep(0.05)
            raise ModelError("It is away.", passing=True)
        self.asked += texts
        return Moderation(model="guard", flagged="idiots" in texts[0])

    async def aclose(self) -> None:
        """Hold nothing."""


@pytest.mark.slow
async def test_what_the_time_limit_takes_over_is_checked_like_a_form(
    hall: Hall, venue: AttentiveVenue, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("engine.votes.window.LOOK_SECONDS", 0.02)
    guard = Guard()
    async with hall.open(moderator=guard) as session:
        debate = await invite(session)
        await agree(session, debate)
        blocked = CommunitySettings(blocked_words=("coin",))
        now = session.service.clock.now()
        await session.store.communities.change("memory", "club", lambda _: blocked, now)
        for kind, said in (
            ("opening", "Only idiots drink coffee."),
            ("rebuttal", "Tea is fine."),
            ("assumptions", "Buy my coin."),
            ("closing", "We win."),
        ):
            await turn(session, debate, kind)
            place = (await session.store.debates.get(debate.id)).thread or ""
            venue.written[place].clear()
            venue.write("bob", place, said)
            await end_time(session, debate)
            if guard.away:
                await until(lambda: WAITING in on_cards(venue) and guard.refused > 4)
                guard.away = False
        await session.voting(debate.id)
        held = (await session.store.journal.read(debate.id, "turns")).turns
    own = [one for one in held if one.side == "B"]
    missed = "(No turn was given.)"
    assert [one.text for one in own] == [missed, "Tea is fine.", missed, "We win."]
    assert [one.words for one in own] == [0, 3, 0, 2], "no words for a turn that was not given"
    rules = [[broken.kind for broken in one.violations] for one in own]
    assert rules == [["flagged"], [], ["blocked"], []]
    assert on_cards(venue).count(WAITING) == 1
    assert on_cards(venue)[-1] != WAITING
    assert guard.asked[1:] == ["Only idiots drink coffee.", "Tea is fine.", "We win."]
    assert "flagged what was written. The debate goes on" in venue.said()
    assert "idiots" not in "".join(one.text for one in held)


@pytest.mark.slow
async def test_a_debate_stops_waiting_once_the_person_sends_their_turn_by_the_form(
    hall: Hall, venue: AttentiveVenue, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("engine.votes.window.LOOK_SECONDS", HANG_SECONDS)
    async with hall.open(moderator=Guard()) as session:
        debate = await invite(session)
        await agree(session, debate)
        opening = await turn(session, debate, "opening")
        place = (await session.store.debates.get(debate.id)).thread or ""
        venue.write("bob", place, "Only idiots drink coffee.")
        await end_time(session, debate)
        await until(lambda: on_cards(venue)[-1] == WAITING)
        await session.service.guests.give_turn(debate, "bob", "Tea is fine.")
        await until(lambda: on_cards(venue)[-1] != WAITING)
        late = OpenQuestion(debate.id, Question.SPEAK, opening.step)  # a check that fails only now
        await session.store.queue.set_waiting(debate.id, WAITS_TO_CHECK, while_open=late)
        assert not (await session.store.debates.get(debate.id)).reason


async def test_who_cannot_be_named(hall: Hall, venue: AttentiveVenue) -> None:
    venue.bots.add("robot")
    async with hall.open() as session:

        async def refused(why: str, kind: type[Exception] = UsageError, **more: object) -> None:
            with pytest.raises(kind, match=why):
                await invite(session, **more)  # type: ignore[arg-type]

        await refused("bot", guest=Invited(side="B", user="robot"))
        await refused("no such person", guest=Invited(side="B", user="stranger"))
        await refused("mirror", mirror=True)
        await refused("only models", format="audited")
        for user, leave in (("eve", "opt_out"), ("fay", "forget")):
            await getattr(session.store.privacy, leave)("memory", user)
            await refused("asked not to", NotAllowedError, guest=Invited(side="B", user=user))
        first, _ = await invite(session), await invite(session)
        await refused("already argues")
        await agree(session, first, accept=False)
        await session.ended(first.id)
        await session.service.cancel((await invite(session)).id, "enough")


async def test_a_rematch_asks_the_person_again_and_no_vote_in_it_is_gold(
    hall: Hall, venue: AttentiveVenue
) -> None:
    async with hall.open() as session:
        debate = await invite(session, length="short", vote_minutes=30.0)
        await agree(session, debate)
        for kind in ("opening", "rebuttal", "assumptions", "closing"):
            await turn(session, debate, kind)
            await session.service.guests.give_turn(debate, "bob", f"The {kind}.")
        await session.voting(debate.id)
        await session.service.close_vote(debate.id)
        debate = await session.ended(debate.id)
        swap = Rematch(of=debate, swapped=True)
        repeated = repeat(order(guest=None), swap, DEFAULTS, 1)
        again = (await session.service.start(repeated, DEFAULTS)).debate
        assert again.request.guest == "A"
        assert again.request.turn_minutes == MINUTES
        await agree(session, again)
        await turn(session, again, "opening")
        assert again.setup.known
        await session.service.cancel(again.id, "enough")
        await session.ended(again.id)
        await session.store.privacy.forget("memory", "bob")
        with pytest.raises(UsageError, match="no rematch with them"):
            await session.service.start(repeated, DEFAULTS)
