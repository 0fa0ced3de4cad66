"""Who is ahead after each round: asked in the thread, sealed, counted in the reveal."""

from collections import Counter, defaultdict
from collections.abc import Sequence

import pytest

from engine.run.order import Defaults
from engine.store import DebateRecord
from engine.values.debate import BallotKind, Status
from engine.values.errors import VenueAwayError, VenueError
from engine.values.messages import Reveal, RoundInvite
from engine.values.ports import ButtonPressed, Reactions
from engine.values.verdicts import Question
from engine.words.cards import card_of
from tests.doubles.archive import export_rows
from tests.doubles.hall import DEFAULTS, NO_CAPS, QUICK, Hall, Session
from tests.doubles.rehearsed import DEFAULTS as REHEARSED
from tests.doubles.venue import AttentiveVenue
from tests.kit import held_at, some, until_asked, votes_in

ROUNDS = ("opening", "rebuttal", "assumptions")  # the vote follows the closing
Acts = list[tuple[str, str]]


class CrowdedVenue(AttentiveVenue):
    """A platform whose people react to the question of a round as soon as it stands there.

    `acts` are users and their options, by round; a minus in front takes one back. What they do on
    the question `deaf` is never heard, and reading one of `unreadable` fails.
    """

    def __init__(self) -> None:
        super().__init__(limits=QUICK)
        self.acts: dict[str, Acts] = defaultdict(list)
        self.deaf = ""
        self.unreadable: dict[str, VenueError] = {}
        self.asked: dict[str, tuple[str, str]] = {}

    async def seed(self, place: str, message: str, options: Sequence[str]) -> None:
        await super().seed(place, message, options)
        if "even" not in options:
            return
        name = self.messages[message].body.split(":")[0].removeprefix("Round ")
        self.asked[name] = (place, message)
        self.listening = name != self.deaf
        for user, option in self.acts[name]:
            act = self.unreact if option.startswith("-") else self.react
            await act(user, place, message, option.removeprefix("-"))
        self.listening = True

    async def reactions(self, place: str, message: str) -> Reactions:
        for name, error in self.unreadable.items():
            if self.asked.get(name) == (place, message):
                raise error
        return await super().reactions(place, message)


@pytest.fixture
def venue() -> CrowdedVenue:
    return CrowdedVenue()


def asking(ballot: BallotKind = BallotKind.OPEN) -> Defaults:
    return DEFAULTS.model_copy(update={"round_votes": True, "ballot": ballot})


async def finish(session: Session, debate_id: str) -> DebateRecord:
    await session.voting(debate_id)
    return await session.close(debate_id)


async def hold(hall: Hall, defaults: Defaults | None = None) -> DebateRecord:
    async with hall.open() as session:
        return await finish(session, await session.start(defaults or asking()))


def answers(record: DebateRecord) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for answer in record.asked(Question.ROUND):
        found.setdefault(answer.step, []).append(answer.option)
    return {name: sorted(options) for name, options in found.items()}


def course(venue: CrowdedVenue) -> dict[str, dict[str, int]]:
    reveal = next(m for m in reversed(venue.meant) if isinstance(m, Reveal))
    return {one.round: {o: n for o, n in one.counts.items() if n} for one in reveal.course}


def bodies(hall: Hall) -> list[str]:
    return [message.body.split("\n")[0] for message in hall.thread()]


async def test_people_are_asked_after_each_round_but_the_last_and_counts_come_with_the_reveal(
    hall: Hall, venue: CrowdedVenue
) -> None:
    venue.acts |= {
        "opening": [("ann", "A"), ("bob", "B"), ("cem", "even")],
        "rebuttal": [("ann", "A"), ("bob", "A")],
        "assumptions": [  # the newest choice stands, and one taken back is none
            *(("ann", "A"), ("ann", "B")),
            *(("bob", "A"), ("bob", "-A")),
            *(("cem", "A"), ("cem", "B"), ("cem", "-B")),
        ],
    }
    record = await hold(hall)
    said = [body for body in bodies(hall) if body.startswith(("Round ", "A, ", "The vote"))]
    assert [body.split(",")[0].split(":")[0] for body in said] == [
        *("A", "Round opening", "A", "Round rebuttal", "A", "Round assumptions", "A"),
        "The vote closed early with 0 votes",
    ]
    found = {"opening": ["A", "B", "even"], "rebuttal": ["A", "A"], "assumptions": ["A", "B"]}
    assert answers(record) == found
    changed = [one.changes for one in record.asked(Question.ROUND) if one.step == "assumptions"]
    assert sorted(changed) == [1, 2]
    assert course(venue) == {name: dict(Counter(options)) for name, options in found.items()}
    assert votes_in(record) == ()
    before = [body for body in venue.rendered if not body.startswith("Reveal")]
    assert not any("After opening" in body for body in before)
    model = record.debate.request.sides["A"].name
    assert not any(model in body for body in before if body.startswith("Round "))
    assert any("After opening: {'A': 1, 'B': 1, 'even': 1}" in body for body in venue.rendered)
    told = [(row["phase"], row["round"], row["option"]) for row in export_rows("votes", record)]
    assert sorted(told) == sorted(("round", name, one) for name in found for one in found[name])


@pytest.mark.parametrize(
    ("format", "rounds"),
    [
        ("team", ["opening", "cross-examination", "free debate"]),
        ("structured", ["opening", "cross-examination"]),
        ("oxford", ["opening", "rebuttal"]),
        ("audited", ["exchange-1", "exchange-2", "exchange-3", "exchange-4"]),
    ],
)
async def test_each_format_says_what_its_rounds_are(
    hall: Hall, venue: CrowdedVenue, format: str, rounds: list[str]
) -> None:
    known = RoundInvite(round=rounds[0], options=("A", "B", "even"))
    changes = {"format": format, "round_votes": True, "stance_seconds": 0.01, "caps": NO_CAPS}
    await hold(hall, REHEARSED.model_copy(update=changes))
    invites = [message for message in venue.meant if isinstance(message, RoundInvite)]
    assert [invite.round for invite in invites] == rounds
    assert invites[0] == known


async def test_at_a_round_table_it_is_whose_answer_leads(hall: Hall, venue: CrowdedVenue) -> None:
    venue.acts["draft"] = [("ann", "2"), ("bob", "even")]
    changes = {"format": "roundtable", "round_votes": True, "caps": NO_CAPS}
    await hold(hall, REHEARSED.model_copy(update=changes))
    [invite, *_] = [message for message in venue.meant if isinstance(message, RoundInvite)]
    assert invite.options == ("1", "2", "3", "even")
    assert invite.names.keys() == {"1", "2", "3"}
    assert "Whose answer leads?" in str(some(card_of(invite).ballot))
    assert course(venue) == {"draft": {"2": 1, "even": 1}}


async def test_a_round_is_closed_once_the_next_question_stands(
    hall: Hall, venue: CrowdedVenue
) -> None:
    venue.acts["opening"] = [("ann", "A")]
    async with hall.open() as session:
        debate_id = await session.start(asking())
        await session.voting(debate_id)
        await closed(session, debate_id, ROUNDS)
        await venue.react("bob", *venue.asked["opening"], "B")
        await venue.unreact("ann", *venue.asked["opening"], "A")
        record = await finish(session, debate_id)
    assert answers(record) == {"opening": ["A"]}


async def test_what_was_missed_is_read_at_the_close_of_a_round(
    hall: Hall, venue: CrowdedVenue
) -> None:
    venue.deaf = "rebuttal"
    venue.acts["rebuttal"] = [("ann", "A"), ("bob", "even"), ("cem", "A"), ("cem", "B")]
    record = await hold(hall)
    by_option = {answer.option: answer for answer in record.asked(Question.ROUND)}
    assert set(by_option) == {"A", "even", "A+B"}
    assert by_option["A+B"].reason == "ambiguous"
    assert course(venue) == {"rebuttal": {"A": 1, "even": 1}}


async def test_a_vote_while_nothing_ran_counts_after_the_restart(
    hall: Hall, venue: CrowdedVenue
) -> None:
    venue.acts["opening"] = [("ann", "A")]
    venue.unreadable["opening"] = VenueAwayError("Slow down.", retry_after=0.01)
    async with hall.open() as session:
        debate_id = await session.start(asking())
        await session.voting(debate_id)
    place, message = venue.asked["opening"]
    venue.listening = False
    await venue.react("bob", place, message, "B")
    venue.listening = True
    venue.unreadable.clear()
    async with hall.open() as session:
        await session.reconcile()
        await closed(session, debate_id, ROUNDS)
        record = await finish(session, debate_id)
    assert answers(record) == {"opening": ["A", "B"]}
    late = {answer.option: answer.late_seen for answer in record.asked(Question.ROUND)}
    assert late == {"A": False, "B": True}


async def test_a_round_that_cannot_be_read_keeps_no_debate_waiting(
    hall: Hall, venue: CrowdedVenue
) -> None:
    venue.unreadable["opening"] = VenueAwayError("Slow down.", retry_after=0.01)
    venue.acts["opening"] = [("ann", "A")]
    async with hall.open() as session:
        debate_id = await session.start(asking())
        debate = await session.voting(debate_id)
        await closed(session, debate_id, ROUNDS[1:])
        assert debate.reason == ""
        venue.unreadable.clear()
        record = await finish(session, debate_id)
    assert answers(record) == {"opening": ["A"]}


async def test_one_round_that_can_never_be_read_says_so_and_the_others_stay_gold(
    hall: Hall, venue: CrowdedVenue
) -> None:
    venue.unreadable["opening"] = VenueError("The bot may not read this message.")
    venue.acts |= {"opening": [("ann", "A")], "rebuttal": [("ann", "B")]}
    record = await hold(hall)
    told = {a.step: (a.option, a.gold, a.recovery) for a in record.asked(Question.ROUND)}
    assert told == {"opening": ("A", False, "unread"), "rebuttal": ("B", True, "complete")}


async def test_a_refused_question_is_left_out(hall: Hall, venue: CrowdedVenue) -> None:
    venue.refused = "round_invite"
    record = await hold(hall)
    assert (record.debate.status, record.asked(Question.ROUND)) == (Status.CLOSED, ())


async def test_in_a_private_debate_it_is_answered_by_button(
    hall: Hall, venue: CrowdedVenue
) -> None:
    async with hall.open() as session:
        with held_at("turn/assumptions/B"):
            with held_at("turn/rebuttal/B"):
                debate_id = await session.start(asking(BallotKind.PRIVATE))
                await answer(session, debate_id, "opening")
            await answer(session, debate_id, "rebuttal")
        record = await finish(session, debate_id)
    assert answers(record) == {"opening": ["A"], "rebuttal": ["A"]}
    assert not [call for call in venue.seen if call.method == "reactions"]
    assert not [call for call in venue.seen if call.method == "seed" and call.said]


async def test_a_process_that_ends_in_between_asks_each_question_once(
    hall: Hall, venue: CrowdedVenue
) -> None:
    venue.acts["opening"] = [("ann", "A")]
    with held_at("turn/assumptions/B") as go_on:
        async with hall.open() as session:
            debate_id = await session.start(asking())
            await asked_in(session, debate_id, "rebuttal")
            go_on.set()
    async with hall.open() as session:
        await session.reconcile()
        record = await finish(session, debate_id)
    asked = [body for body in bodies(hall) if body.startswith("Round ")]
    assert [body.split(":")[0] for body in asked] == [f"Round {name}" for name in ROUNDS]
    assert answers(record) == {"opening": ["A"]}


async def answer(session: Session, debate_id: str, name: str) -> None:
    place, message = await asked_in(session, debate_id, name)
    for user, option in (("ann", "A"), ("bob", "even"), ("bob", "even")):
        await session.service.hear("memory", ButtonPressed(place, message, user, option))


async def asked_in(session: Session, debate_id: str, name: str) -> tuple[str, str]:
    """Return the place and message of a round's question, once it is asked."""
    found = await until_asked(
        lambda: session.store.votes.targets(debate_id, Question.ROUND),
        lambda found: name in {target.step for target in found},
    )
    return next((one.place, one.message) for one in found if one.step == name)


async def closed(session: Session, debate_id: str, rounds: Sequence[str]) -> None:
    await until_asked(
        lambda: session.store.votes.targets(debate_id, Question.ROUND),
        lambda found: {target.step for target in found if target.ended} >= set(rounds),
    )
