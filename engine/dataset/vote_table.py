"""The table of votes: what each person answered, when, and what they could know by then."""

from __future__ import annotations

from operator import itemgetter
from typing import TypeAlias

from engine.dataset.columns import (
    BALLOT,
    DEBATE,
    FLAG,
    MOMENT,
    PLATFORM,
    REPLACED,
    SPLIT,
    TEXT,
    WHOLE,
    Column,
    Table,
    part_of,
)
from engine.dataset.entry import Entry
from engine.judging import Question
from engine.store import Answer

PHASES: dict[str, str] = {
    Question.VOTE: "before_reveal",
    Question.STANCE_BEFORE: "stance_before",
    Question.STANCE_AFTER: "stance_after",
    Question.AGAIN: "after_reveal",
}


_Answered: TypeAlias = tuple[str, str, Answer]  # by whom, in which phase, what


def _answered(entry: Entry) -> list[_Answered]:
    """Return each answer by pseudonym: any other order could be matched elsewhere."""
    hidden = entry.record.opted_out
    answered = [
        (entry.voters.voter(answer.person), PHASES[answer.question], answer)
        for answer in entry.record.answers
        if answer.person not in hidden
    ]
    answered.sort(key=itemgetter(0, 1))
    return answered


def _reason(answer: Answer) -> str | None:
    """Say why a vote is not gold, also of one that was stored before that was written down."""
    if answer.gold or answer.reason:
        return answer.reason or None
    reasons = {
        "judge": answer.judge_visible,
        "starter": answer.starter,
        "ambiguous": answer.ambiguous,
        "mirror": answer.mirror_revealed,
    }
    return next((why for why, holds in reasons.items() if holds), None)


_ANSWER = part_of(
    2,
    Column("option", TEXT,
           "a side, `tie` or `weak`; on the topic `for`, `against` or `unsure`; several, as in "
           "`A+tie`, when ambiguous", maker="people"),
    Column("ambiguous", FLAG,
           "whether several choices were held and none is known as the last"),
    Column("gold", FLAG, "whether it was chosen independently, on debate or topic; see below"),
    Column("reason", TEXT,
           "why it is not gold: `judge`, `starter`, `ambiguous`, `mirror`, `gap` or `unread`; "
           "null when it is", _reason),
    Column("starter", FLAG, "whether the voter had started the debate"),
    Column("judge_visible", FLAG, "whether a judge's scores could be read before"),
    Column("mirror_revealed", FLAG, "whether the debate's mirror had named the models before"),
    Column("fast", FLAG, "whether nobody can have read the debate before it; see below"),
    Column("late_seen", FLAG, "whether it was found only after a deadline that the bot missed"),
    Column("recovery", TEXT,
           "`complete`: everybody's reactions were read before the close, or there are buttons "
           "alone; `unread`: they could not be, so the vote is as last known; `unknown`: "
           "closed by a version that did not say"),
    Column("tally_visible", FLAG, "whether others' votes could be seen"),
    Column("votes_seen_before", WHOLE, "how many others had voted before", unit="votes"),
    Column("changes", WHOLE, "how often the voter changed to another choice"),
    Column("first_at", MOMENT, "when the voter first chose",
           lambda answer: f"{answer.first_at[:16]}:00Z",
           "people", "UTC, to the minute"),
    Column("last_at", MOMENT, "when the standing choice was made",
           lambda answer: f"{answer.last_at[:16]}:00Z",
           "people", "UTC, to the minute"),
)  # fmt: skip
VOTES = Table(
    "votes",
    "a person's standing vote on a debate",
    _answered,
    (
        DEBATE,
        SPLIT,
        REPLACED,
        Column("voter", TEXT, "a pseudonym that is the same throughout this export, and only here",
               0),
        Column("phase", TEXT,
               "`before_reveal`: on the debate, while the models were unknown; `after_reveal`: "
               "the same asked again when they were named; `stance_before` and `stance_after`: on "
               "the topic, before the first turn and with the vote", 1),
        *_ANSWER,
        BALLOT,
        PLATFORM,
    ),
)  # fmt: skip
