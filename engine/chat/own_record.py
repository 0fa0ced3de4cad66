"""The command on a person's own votes: me."""

from __future__ import annotations

from collections.abc import Iterable

from engine.chat.answers.own_record import OwnRecordAnswer, OwnVoteLine
from engine.chat.answers.record_picture import Share
from engine.chat.context import Context
from engine.chat.invocation import MeArguments
from engine.chat.person import Person
from engine.store import OwnVote
from engine.values.debate import Debate

COUNTED = 200  # of the newest votes here
LISTED = 10


async def me(context: Context, person: Person, asked: MeArguments) -> OwnRecordAnswer:
    """Show how a person's votes here compare with other people's and the jury's.

    Names them on the scoreboard of guessers, or no longer, if they ask for that.
    """
    people, debates = context.store.people, context.store.debates
    where = (person.platform, person.community, person.user)
    votes = await people.own_votes(*where, most=COUNTED)
    real = [vote for vote in votes if not vote.rehearsal]
    named = await people.on_scoreboard(person.platform, person.user, asked.scoreboard)
    held = [(vote, await debates.get(vote.debate)) for vote in votes[:LISTED]]
    return OwnRecordAnswer(
        votes=len(votes),
        guessed=await people.own_guesses(*where),
        named=named,
        changed=asked.scoreboard is not None,
        people=share_of((vote.option, vote.people) for vote in votes),
        jury=share_of((vote.option, vote.jury) for vote in real),
        lines=tuple(_line(vote, debate) for vote, debate in held),
    )


def share_of(pairs: Iterable[tuple[str | None, str | None]]) -> Share:
    """Return how often two choices were the same, of the times when there were both."""
    both = [mine == theirs for mine, theirs in pairs if mine is not None and theirs is not None]
    return Share(k=sum(both), n=len(both))


def _line(vote: OwnVote, debate: Debate) -> OwnVoteLine:
    return OwnVoteLine(
        vote=vote,
        topic=debate.request.topic,
        code=debate.code,
        place=debate.thread or debate.place,
        stances=debate.setup.called or debate.request.stances,
    )
