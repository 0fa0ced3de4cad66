"""What a close of a vote stores and says: the reveal, what a format decides, and the labels."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime

from engine.delivery.fallbacks import elsewhere
from engine.formats import FORMATS
from engine.jury.explain import REASONS, STEP, mean_marks, of_artifacts, quote_juror, told_reasons
from engine.jury.rubric import DEBATE, find_rubric
from engine.store import Closing, DebateRecord, Intervention, Post, Store
from engine.store.journal import Record
from engine.tally import agreement, count, leader, persuasion, wilson
from engine.tally.questions import vote_options
from engine.values.debate import Criterion, Debate, Setup
from engine.values.language import N_
from engine.values.messages import (
    AgainInvite,
    JurorLine,
    Message,
    Notice,
    Report,
    Reveal,
    VoteClosed,
    VoteInvite,
)
from engine.values.verdicts import (
    LABELS,
    WEB,
    Ballot,
    Log,
    PeopleCounts,
    Question,
    Rationale,
    Tally,
    Verdict,
    Vote,
    VoteEvent,
)
from engine.votes.outcome import (
    course_of,
    guessed_of,
    guesses_of,
    readable_from,
    round_votes_of,
    stances_of,
    standing,
    tally_of,
    with_remarks,
)
from engine.words.phrases import lasting
from engine.words.translation import plural, say

QUORUM = 3  # gold labels for a winner by labels


def seen_by_others(
    votes: Iterable[Vote], events: Sequence[VoteEvent], interventions: Iterable[Intervention]
) -> tuple[Vote, ...]:
    """Mark the votes of a secret ballot that were cast beside a reaction that stayed."""
    shown: dict[Log, datetime] = {}
    for noted in interventions:
        if noted.act == "shown":
            shown.setdefault(Log(noted.question, noted.step), noted.at)

    def told(vote: Vote) -> Vote:
        log = Log(Question(vote.question), vote.step)
        since = shown.get(log)
        if vote.tally_visible or since is None or datetime.fromisoformat(vote.last_at) <= since:
            return vote
        own = [e for e in events if (e.person, e.question, e.step) == (vote.person, *log)]
        seen = max(own, key=lambda event: event.number).votes_seen_before
        return vote._replace(tally_visible=True, votes_seen_before=seen)

    return tuple(map(told, votes))


NO_VERDICT = Verdict(winner=None, problem=N_("the panel gave no verdict"), valid=0, invalid=0)


def closing_of(
    debate: Debate,
    cast: tuple[VoteEvent, ...],
    kept: Record,
    spent: tuple[int, float | None],
    interventions: tuple[Intervention, ...],
    unread: frozenset[Log],
    early: bool,
) -> Closing:
    """Return what a vote ends with, given the log of all but thumbs.

    It rests on what is `kept` of turns, judges and their reasons, and on the calls and USD `spent`.
    """
    tally, stances = tally_of(debate, cast, unread), stances_of(debate, cast, unread)
    rounds = round_votes_of(debate, cast, unread)
    words = sum(turn.words for turn in kept.turns)
    votes = standing(debate, cast, readable_from(debate, words), unread)
    guesses = guesses_of(debate, cast, votes)
    stood = (*with_remarks(votes, debate, cast, unread), *stances, *rounds, *guesses)
    people = count_of(debate, tally, stood, Log(Question.VOTE) in unread)
    verdict, own = kept.verdict or NO_VERDICT, kept.verdicts.get(debate.request.format)
    why = of_artifacts(kept.artifacts)
    message = reveal_of(debate, people, verdict, kept.ballots, *spent, own, why)
    # Opinions do not decide which answer is right.
    script = None if debate.request.protocol else FORMATS.get(debate.request.format)
    decided = script.decide(debate.request, stances, verdict) if script else None
    usual = [
        _closed(debate, tally, early, interventions),
        Post(key="reveal", message=message),
    ]
    if decided is not None:
        report = Report(title=decided.title, text=decided.text)
        usual.append(Post(key="decision", message=report))
    return Closing(
        votes=seen_by_others(stood, cast, interventions),
        posts=(elsewhere(debate, message),) if debate.gone else tuple(usual),
        last=_ask_again(debate),
        verdicts={debate.request.format: decided.verdict} if decided else {},
        unread=unread,
    )


def extension_of(debate: Debate, invite: Message | None, closes_at: datetime) -> tuple[Post, ...]:
    """Say that a vote stays open for longer, and until when on its invitation."""
    request = debate.request
    text = plural(
        "It takes {n} vote to decide. None that counts is there yet, so the vote stays open "
        "for another {span}.",
        "It takes {n} votes to decide. There are fewer so far, so the vote stays open for "
        "another {span}.",
        request.quorum,
        span=lasting(request.vote_minutes),
    )
    told = Post(key="vote/extended", message=Notice(text=text))
    if not isinstance(invite, VoteInvite) or invite.mirrored:
        return (told,)
    longer = invite.model_copy(update={"until": closes_at})
    return (told, Post(key="vote/until", message=longer, target="vote"))


def reveal_of(
    debate: Debate,
    people: PeopleCounts,
    verdict: Verdict,
    ballots: tuple[Ballot, ...],
    calls: int,
    usd: float | None,
    own: Verdict | None = None,
    why: Rationale | None = None,
) -> Reveal:
    """Return the reveal of a closed vote; without a `why` it quotes a juror."""
    tally, guessed, sides = people.tally, people.guessed, tuple(debate.request.sides)
    known = debate.setup.known and any(tally.deciding.values())  # they could know the models
    return Reveal(
        topic=debate.request.topic,
        models={side: model.ref for side, model in debate.request.sides.items()},
        drawn=debate.request.drawn,
        seats={seat: model.ref for seat, model in debate.request.seats.items()},
        judges=tuple(model.ref for model in debate.request.judges),
        tally=tally,
        verdict=verdict,
        jurors=tuple(_juror_lines(debate.setup, ballots)),
        agree=agreement(tally, verdict),
        usd=usd,
        calls=calls,
        persuasion=people.persuasion,
        broadcast=debate.request.broadcast,
        rehearsal=debate.setup.rehearsal,
        replaced=tuple((one.was.ref, one.now.ref) for one in debate.setup.replaced),
        gaps=debate.gaps,
        unread=people.unread,
        criteria=_unusual(debate),
        stances=debate.request.stances,
        names=debate.setup.called,
        own=own,
        course=people.course,
        why=why or quote_juror(debate.setup, verdict, ballots),
        marks=mean_marks(ballots),
        code=debate.code,
        quorum=debate.request.quorum,
        guessed=dict(guessed),
        menu=len(debate.setup.menu) if guessed else 0,
        guess_bounds={side: wilson(right, n) for side, (right, n) in guessed.items()},
        opinion=leader(tally.deciding, sides) if known else "",
    )


# A reveal told again: of a stored debate, and of a record.


async def read_reveal(store: Store, debate: Debate) -> Reveal:
    """Return the reveal of a debate whose vote is closed."""
    kept = await store.journal.read(debate.id, "verdict", "ballots", "verdicts", artifacts=STEP)
    calls, usd = await store.journal.spending(debate.id)
    events = await store.votes.events(debate.id)
    unread = await unread_logs(store, debate)
    tally, stances = tally_of(debate, events, unread), stances_of(debate, events, unread)
    own = kept.verdicts.get(debate.request.format)
    why = of_artifacts(kept.artifacts)
    rounds = round_votes_of(debate, events, unread)
    guesses = guesses_of(debate, events, standing(debate, events))
    stood = (*stances, *rounds, *guesses)
    people = count_of(debate, tally, stood, Log(Question.VOTE) in unread)
    found = (kept.verdict or NO_VERDICT, kept.ballots, calls, usd, own, why)
    return reveal_of(debate, people, *found)


def reveal_in(record: DebateRecord, calls: int, usd: float | None) -> Reveal | None:
    """Return the reveal of a record; None for a debate that had none."""
    debate = record.debate
    if debate.revealed_at is None:
        return None
    own = record.verdicts.get(debate.request.format)
    why = of_artifacts([one for one in record.artifacts if one.kind == STEP])
    found = (record.verdict or NO_VERDICT, record.ballots, calls, usd, own, why)
    return reveal_of(debate, people_of(record), *found)


async def unread_logs(store: Store, debate: Debate) -> frozenset[Log]:
    """Return the questions that closed without a reading of their reactions."""
    targets = await store.votes.targets(debate.id)
    return frozenset(Log(target.question, target.step) for target in targets if target.unread)


def _closed(
    debate: Debate, tally: Tally, early: bool, interventions: Iterable[Intervention]
) -> Post:
    if any(each.act == "deleted" and each.question is Question.VOTE for each in interventions):
        return Post(
            key="vote/closed",
            message=Notice(
                text=say(
                    "The message to vote on was deleted, so the vote closed with the votes that "
                    "were known by then."
                ),
                level="warning",
            ),
        )
    options = vote_options(tuple(debate.request.sides))
    message = VoteClosed(options=options, votes=sum(tally.counts.values()), early=early)
    return Post(key="vote/closed", message=message, target="vote")


def _ask_again(debate: Debate) -> tuple[Post, ...]:
    request = debate.request
    if debate.gone or not request.again:
        return ()
    invite = AgainInvite(
        options=vote_options(tuple(request.sides)),
        minutes=request.again_minutes,
        ballot=request.ballot,
        stances=request.stances,
        names=debate.setup.called,
        trial=request.trial is not None,
    )
    return (Post(key="again", message=invite),)


def count_of(debate: Debate, tally: Tally, stood: Iterable[Vote], unread: bool) -> PeopleCounts:
    """Count what people said."""
    by: defaultdict[str, list[Vote]] = defaultdict(list)
    for answer in stood:
        by[answer.question].append(answer)
    stances, sides = (by[Question.STANCE_BEFORE], by[Question.STANCE_AFTER]), debate.request.sides
    return PeopleCounts(
        tally=tally,
        persuasion=persuasion(*stances, tuple(sides)),
        course=course_of(debate, by[Question.ROUND]),
        guessed=guessed_of(debate, by[Question.GUESS]),
        unread=unread,
    )


def people_of(record: DebateRecord, tally: Tally | None = None) -> PeopleCounts:
    """Return the counts of what people said, which an export has in place of the answers."""
    if record.people is not None:
        return record.people
    debate = record.debate
    votes, sides = record.asked(Question.VOTE), tuple(debate.request.sides)
    tally = tally or count(votes, sides, debate.request.quorum)
    unread = any(one.recovery == "unread" for one in votes)
    others = (Question.STANCE_BEFORE, Question.STANCE_AFTER, Question.ROUND, Question.GUESS)
    stood = (answer for question in others for answer in record.asked(question))
    people = count_of(debate, tally, stood, unread)
    numbers = {turn.round: turn.number for turn in record.turns}
    course = sorted(people.course, key=lambda one: numbers.get(one.round, 0))
    return people.model_copy(update={"course": tuple(course)})


def _unusual(debate: Debate) -> tuple[Criterion, ...]:
    """Return what jurors scored; nothing for the usual rubric."""
    panel = debate.setup.panel
    rubric = find_rubric(panel.rubric, panel.criteria)
    return () if rubric is DEBATE else rubric.criteria


def _juror_lines(setup: Setup, ballots: Iterable[Ballot]) -> Iterator[JurorLine]:
    """Yield the ballots to list: those that decide, then those of recused jurors."""
    for ballot in sorted(ballots, key=lambda ballot: ballot.audit):
        if not ballot.audit or ballot.recused:
            yield JurorLine(
                juror=ballot.juror,
                verdict=ballot.verdict,
                order=ballot.order,
                problem=ballot.problem,
                contradictory=ballot.contradictory,
                recused=ballot.recused,
                reasons=told_reasons(setup, ballot, REASONS, marks=True) if ballot.valid else "",
                marks=(ballot.scores or {}) if ballot.valid else {},
            )


# The reveal of a closed vote, read again from what is stored.


def platform_of(question: str, platform: str) -> str:
    """Return where an answer was given, of a debate on a platform."""
    return WEB if question in LABELS else platform


def tally_labels(labels: Iterable[Vote], contenders: tuple[str, ...]) -> Tally:
    """Count the labels of a debate."""
    return count(labels, contenders, QUORUM)
