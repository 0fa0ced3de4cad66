"""Derive each person's standing vote, and the tally, from the log of vote events.

Pure, and the only definition of a standing vote.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from math import sqrt
from operator import attrgetter
from statistics import NormalDist

from engine.tally.fold import VoteEventFold, as_given, standing_option, take, vote_folds
from engine.tally.questions import UP, vote_options
from engine.values.debate import BallotKind, Debate
from engine.values.verdicts import (
    TIE,
    WEAK,
    NotGold,
    Persuasion,
    Question,
    Recovery,
    Tally,
    TurnLabel,
    Verdict,
    Vote,
    VoteEvent,
    iso,
)

Z95 = NormalDist().inv_cdf(0.975)
# Of several reasons the first counts.
REASONS: tuple[NotGold, ...] = (
    *("scripted", "judge", "starter", "speaker", "new"),
    *("ambiguous", "known", "mirror", "gap", "unread"),
)


def standing_votes(
    events: Sequence[VoteEvent],
    *,
    starter: int | None,
    judge_visible: bool,
    tally_visible: bool,
    readable_at: datetime | None = None,
    gap: bool = False,
    known: bool = False,
    recovery: Recovery = "complete",
    speaker: int | None = None,
    scripted: bool = False,
    least_days: tuple[int, int] = (0, 0),
) -> tuple[Vote, ...]:
    """Derive every person's standing vote, ordered by person.

    No vote is gold if people could know the models from the start (`known`), if the thread has a
    `gap` (a message may be missing), if `recovery` says that the reactions could not be read, or if
    they were `scripted`. Nor is that of the `starter`, or of the `speaker`, who argues a side, nor
    one whose account or membership was younger than `least_days` (0: of any age), or of unknown
    age. A choice made before `readable_at` is `fast`; None: no choice is.

    Of several options held, the newest stands. A choice found by a reading is newer than
    everything received before the silence (or reading) it was missed in, and older than everything
    given after the last silence before the reading. Its order relative to events in between is
    unknown, as is the order of several finds of one reading: the vote is then ambiguous, and its
    option names all that are held, as in `A+tie`.

    If the tally is visible, reactions stay on the message: a person cannot add one they hold, so a
    repeated event is a duplicate delivery and changes nothing, unless its time, or a silence in
    between, shows that it was given again. Otherwise the bot has removed the reaction: adding one
    is a new choice that replaces the last, a recovered one is newer than everything received, and
    only a button withdraws.
    """
    votes = []
    for person, own in as_given(events, tally_visible=tally_visible):
        course = _follow(own, tally_visible)
        if course.fold:
            of_all: dict[NotGold, bool] = {
                "scripted": scripted,
                "speaker": person == speaker,
                "known": known,
                "judge": judge_visible,
                "gap": gap,
                "unread": recovery == "unread",
            }
            vote = _vote(person, course, person == starter, tally_visible, of_all, least_days)
            fast = readable_at is not None and datetime.fromisoformat(vote.last_at) < readable_at
            votes.append(vote._replace(fast=fast, recovery=recovery))
    return tuple(votes)


def count(votes: Iterable[Vote], contenders: Sequence[str], quorum: int) -> Tally:
    """Count standing votes and gold votes by option.

    The quorum counts gold votes, ties and both-weak included. `share` is the first contender's
    share of two; it and its bounds are None if no one chose either.
    """
    counts = dict.fromkeys((*contenders, TIE, WEAK), 0)
    gold = dict(counts)
    for vote in votes:
        if not vote.ambiguous and vote.option in counts:
            counts[vote.option] += 1
            gold[vote.option] += vote.gold
    cast = sum(gold.values())
    met = cast >= quorum
    winner = leader(gold, contenders) if met and cast else None
    plain = Tally(counts=counts, gold=gold, quorum_met=met, winner=winner)
    if len(contenders) != 2:
        return plain
    a, b = (plain.gold[contender] for contender in contenders)
    if a + b == 0:
        return plain
    low, high = wilson(a, a + b)
    return plain.model_copy(update={"share": a / (a + b), "low": low, "high": high})


@dataclass(slots=True)
class _Course:
    """One person's course through the vote, up to the latest event."""

    fold: VoteEventFold = field(default_factory=dict)
    standing: str | None = None
    latest: str | None = None  # the last choice that stood, also when withdrawn since
    first: VoteEvent | None = None
    turned: VoteEvent | None = None
    changes: int = 0


def _follow(events: Iterable[VoteEvent], tally_visible: bool) -> _Course:
    course = _Course()
    for event in events:
        take(event, course.fold, tally_visible=tally_visible)
        if event.added and course.first is None:
            course.first = event
        holding = standing_option(course.fold)
        option = holding.option if holding else None
        if option != course.standing:
            course.standing, course.turned = option, event
            if option is not None:
                course.changes += course.latest not in (None, option)
                course.latest = option
    return course


def _vote(
    person: int,
    course: _Course,
    starter: bool,
    tally_visible: bool,
    of_all: Mapping[NotGold, bool],
    least_days: tuple[int, int],
) -> Vote:
    """Return a person's vote; `of_all` is what else keeps it from being gold."""
    holding = standing_option(course.fold)
    ambiguous = holding is None
    latest = holding or max(course.fold.values(), key=attrgetter("number"))
    first, turned = course.first or latest, course.turned or latest
    ages = latest.account_days, latest.member_days
    reasons: dict[NotGold, bool] = {
        "starter": starter,
        "new": any(
            least > 0 and (age is None or age < least)
            for age, least in zip(ages, least_days, strict=True)
        ),
        "ambiguous": ambiguous,
        "mirror": turned.mirror_revealed,
        **of_all,
    }
    reason: NotGold = next((why for why in REASONS if reasons[why]), "")
    return Vote(
        person=person,
        option=holding.option if holding else "+".join(sorted({o for o, _ in course.fold})),
        ambiguous=ambiguous,
        gold=not reason,
        reason=reason,
        starter=starter,
        judge_visible=of_all["judge"],
        late_seen=latest.late_seen,
        tally_visible=tally_visible,
        votes_seen_before=latest.votes_seen_before if tally_visible else 0,
        changes=course.changes,
        first_at=iso(first.received_at),
        last_at=iso(turned.received_at),
        question=latest.question,
        mirror_revealed=turned.mirror_revealed,
        account_days=_rounded(latest.account_days),
        member_days=_rounded(latest.member_days),
    )


def _rounded(days: int | None) -> int | None:
    """Return days to one significant digit: the exact day would say whose account it is."""
    return None if days is None else round(days, 1 - len(str(days)))


def leader(counts: Mapping[str, int], contenders: Sequence[str]) -> str:
    """Return the contender whom most chose, or a tie."""
    first, second = sorted(contenders, key=lambda c: counts[c], reverse=True)[:2]
    return TIE if counts[first] == counts[second] or counts[TIE] >= counts[first] else first


def agreement(tally: Tally, verdict: Verdict) -> bool | None:
    """Return whether people and panel agree; None unless both decided and the panel was blind."""
    if tally.winner is None or verdict.winner is None or not verdict.blind:
        return None
    return tally.winner == verdict.winner


def turn_labels(events: Iterable[VoteEvent], revealed_at: datetime | None) -> tuple[TurnLabel, ...]:
    """Return each person's standing thumb on each turn, by the turn's step.

    If both thumbs are held, the last one received live stands; if none was live, neither does.
    """
    by_step: dict[str, list[VoteEvent]] = defaultdict(list)
    for event in events:
        if event.question is Question.TURN:
            by_step[event.step].append(event)
    return tuple(
        (
            TurnLabel(
                step=standing.step,
                person=standing.person,
                up=standing.option == UP,
                blind=revealed_at is None or standing.received_at < revealed_at,
                received_at=standing.received_at,
            )
        )
        for _, thumbs in sorted(by_step.items())
        for _, fold in sorted(vote_folds(thumbs).items())
        if (standing := standing_option(fold)) is not None
    )


def revised_votes(
    debate: Debate, events: Iterable[VoteEvent], recovery: Recovery = "complete"
) -> tuple[Vote, ...]:
    """Return people's answers after the reveal; never gold."""
    options = vote_options(tuple(debate.request.sides))
    return standing_votes(
        [e for e in events if e.question is Question.AGAIN and e.option in options],
        starter=debate.starter,
        judge_visible=True,
        tally_visible=debate.request.ballot is BallotKind.OPEN,
        recovery=recovery,
    )


FEWEST = 30  # debates, of which a share is told


def wilson(k: int, n: int) -> tuple[float, float]:
    """Return the 95 % interval of the share k/n.

    With n = 0 nothing is known, and the interval is 0 to 1. Raises ValueError unless
    0 <= k <= n. Formula: E. B. Wilson, JASA 22 (1927), without continuity correction.
    """
    if not 0 <= k <= n:
        raise ValueError(f"A share needs 0 <= k <= n, not k = {k} and n = {n}.")
    if n == 0:
        return 0.0, 1.0
    share, spread = k / n, Z95 * Z95 / n
    scale = 1 + spread
    middle = (share + spread / 2) / scale
    reach = Z95 * sqrt(share * (1 - share) / n + spread / (4 * n)) / scale
    return max(0.0, middle - reach), min(1.0, middle + reach)


LEANING = {"for": 1, "unsure": 0, "against": -1}


def persuasion(
    before: Sequence[Vote], after: Sequence[Vote], contenders: Sequence[str]
) -> Persuasion | None:
    """Count moves towards and away from the thesis, among people with both stances.

    None without stances, and where more than two contend, as none argues against.

    The first contender argues for the thesis, the second against it; a move to unsure counts as
    leaving one's side. An ambiguous or a scripted stance is ignored.
    """
    if not (before or after) or len(contenders) != 2:
        return None
    stood = {
        vote.person: LEANING[vote.option]
        for vote in before
        if not vote.ambiguous and vote.reason != "scripted"
    }
    moves = [
        LEANING[vote.option] - stood[vote.person]
        for vote in after
        if vote.person in stood and not vote.ambiguous
    ]
    towards = sum(move > 0 for move in moves)
    away = sum(move < 0 for move in moves)
    thesis, antithesis = contenders
    winner = TIE if towards == away else thesis if towards > away else antithesis
    return Persuasion(
        moved={thesis: towards, antithesis: away},
        people=len(moves),
        winner=winner if moves else None,
    )
