"""The tables of what people said: votes, guesses, and questions of the audience."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple, TypeAlias

from engine.dataset.columns import (
    BALLOT,
    DEBATE,
    FLAG,
    MOMENT,
    PLATFORM,
    REAL,
    REPLACED,
    SPLIT,
    TEXT,
    WHOLE,
    Column,
    Table,
    part_of,
)
from engine.dataset.entry import NO_CHANCES, Entry
from engine.store.targets import AudienceQuestion
from engine.values.text import redact
from engine.values.verdicts import IMPORT, QUESTIONS, Question, Vote
from engine.votes.close import platform_of

# The table of votes: each answer, its time, and what the person could know.


PHASES: dict[str, str] = {
    Question.VOTE: "before_reveal",
    Question.STANCE_BEFORE: "stance_before",
    Question.STANCE_AFTER: "stance_after",
    Question.AGAIN: "after_reveal",
    Question.ROUND: "round",
    Question.LABEL: "label",
}
IMPORTED = "imported"


def is_imported(answer: Vote) -> bool:
    """Return whether an answer is a label from another tool."""
    return answer.recovery == IMPORTED


# voter, phase, round, a number, the answer, the probability that most others agree, the platform
_Answered: TypeAlias = tuple[str, str, str, int, Vote, float | None, str]


def _answered(entry: Entry) -> list[_Answered]:
    """Return the answers sorted by pseudonym: any other order could be linked to people."""
    hidden, voter, platform = entry.record.opted_out, entry.voters.voter, entry.debate.platform
    sides = tuple(entry.debate.request.sides)
    chances = entry.chances if len(sides) == 2 else NO_CHANCES
    platforms = {question: platform_of(question, platform) for question in PHASES}
    # The number keeps answers out of the comparison; a key for each would take longer.
    return sorted(
        (
            voter(answer.person),
            IMPORTED if (imported := is_imported(answer)) else PHASES[answer.question],
            answer.step,
            number,
            answer,
            chances.get(answer.confidence)
            if chances and answer.option in sides and answer.question != Question.LABEL
            else None,
            IMPORT if imported else platforms[answer.question],
        )
        for number, answer in enumerate(entry.record.answers)
        if answer.person not in hidden and answer.question in PHASES
    )


_MAKERS = {"scripted": "script", "imported": "import"}
_AT = 4  # where the answer stands in a row's source
_ANSWER = part_of(
    _AT,
    Column("option", TEXT,
           "a side, `tie` or `weak`; after a round a side or `even`; on the topic `for`, `against` "
           "or `unsure`; several, as in "
           "`A+tie`, when ambiguous", maker="people"),
    Column("confidence", TEXT,
           "how clear the voter found it: `close`, `clear` or `one-sided`; null if the voter did "
           "not say or was not asked, or the last of several words is unknown",
           lambda answer: None if answer.confidence.isdigit() else answer.confidence or None,
           "people"),
    Column("confidence_percent", WHOLE,
           "how likely the voter thought it, 0 to 100, that most others chose as they did; null if "
           "the voter did not say or was not asked in percent",
           lambda answer: int(answer.confidence) if answer.confidence.isdigit() else None,
           "people", "percent"),
    Column("ground", TEXT,
           "what decided for the voter: `logic`, `evidence`, `rebuttal`, `style` or `other`; null "
           "if the voter did not say or was not asked",
           "ground or None", "people"),
    Column("ambiguous", FLAG,
           "whether the last of several choices is unknown"),
    Column("gold", FLAG, "whether it is an independent label; see below"),
    Column("source", TEXT,
           "`person`; or `script`: an option of a command, or one of several votes from one "
           "keyboard, which no person is known to be behind; `import`: another tool",
           lambda answer: _MAKERS.get(answer.reason, "person"),
           "people"),
    Column("reason", TEXT,
           "why it is not gold: `scripted`, `judge`, `starter`, `speaker`, `new`, `ambiguous`, "
           "`known`, `mirror`, `gap`, `unread`, `imported` or `excluded`; null if it is",
           "reason or None"),
    Column("starter", FLAG, "whether the voter had started the debate"),
    Column("judge_visible", FLAG, "whether a judge's scores were visible before"),
    Column("mirror_revealed", FLAG, "whether the debate's mirror had named the models before"),
    Column("fast", FLAG, "whether no one can have read the debate by then; see below"),
    Column("late_seen", FLAG, "whether it was found only after a deadline that Rostrum missed"),
    Column("recovery", TEXT,
           "`complete`: all reactions were read before the close, or there were only buttons; "
           "`unread`: they could not be read, so the vote is the last known one; "
           "`imported`: a label from another tool"),
    Column("tally_visible", FLAG, "whether others' votes were visible"),
    Column("votes_seen_before", WHOLE, "others who had voted before", unit="votes"),
    Column("changes", WHOLE, "how often the voter changed their choice"),
    Column("first_at", MOMENT, "when the voter first chose",
           lambda answer: f"{answer.first_at[:16]}:00Z",
           "people", "UTC, to the minute"),
    Column("last_at", MOMENT, "when the standing choice was made",
           lambda answer: f"{answer.last_at[:16]}:00Z",
           "people", "UTC, to the minute"),
    Column("account_days", WHOLE,
           "how old the voter's account was, rounded to one digit (43 is 40); null if the platform "
           "does not say", unit="days"),
    Column("member_days", WHOLE,
           "how long the voter had been a member of the community, rounded likewise; null if the "
           "platform did not say", unit="days"),
)  # fmt: skip
_LABEL = part_of(
    _AT,
    Column("order", TEXT,
           "the sides as they were shown, e.g. `BA`; null but for labels",
           "order or None"),
    Column("seconds", REAL,
           "how long the annotator had the debate before them; null but for labels",
           unit="seconds"),
    Column("comment", TEXT,
           "the reason in the annotator's own words, mentions removed; null but for labels, or "
           "without one", lambda answer: redact(answer.comment) or None, "people"),
    Column("task", TEXT, "the labelling task; null but for labels",
           "task or None"),
)  # fmt: skip
VOTES = Table(
    "votes",
    "a person's standing vote on a debate",
    _answered,
    (
        DEBATE,
        SPLIT,
        REPLACED,
        Column("voter", TEXT,
               "a pseudonym, the same throughout this export and different in others", 0),
        Column("phase", TEXT,
               "`before_reveal`: the vote; `after_reveal`: the same question, asked again when the "
               "models were known; `stance_before` and `stance_after`: on the topic, before the "
               "first turn and with the vote; `round`: who is ahead after a round; `imported`: a "
               "label from another tool (`rostrum import-labels`); `label`: given on a page "
               "(`rostrum label`)", 1),
        Column("round", TEXT, "the round after which people were asked; null in other phases",
               "step or None", part=_AT),
        *_ANSWER,
        *_LABEL,
        Column("p_majority", REAL,
               "the probability that most other gold voters chose the same side, by `confidence` "
               "or `confidence_percent`, calibrated on this export; null without either, for fewer "
               "than 30 votes with that word or in that fifth of percents, for a vote for no side, "
               "and with more than two contenders", 5),
        BALLOT,
        Column("platform", TEXT, "where the vote was given: `terminal`, `discord`, `slack`, `web` "
               "or `import`", 6),
    ),
)  # fmt: skip


# The table of guesses: which model each voter took a side for.


class _Guess(NamedTuple):
    """A guess, who made it, and what it could be."""

    voter: str
    answer: Vote
    model: str
    options: tuple[str, ...]


def _guesses(entry: Entry) -> list[_Guess]:
    """Return the guesses sorted by pseudonym: any other order could be linked to people."""
    hidden, setup = entry.record.opted_out, entry.debate.setup
    guessed = [
        _Guess(entry.voters.voter(one.person), one, setup.request.sides[one.step].ref, setup.menu)
        for one in entry.record.asked(Question.GUESS)
        if one.person not in hidden
    ]
    return sorted(guessed, key=lambda guess: (guess.voter, guess.answer.step))


GUESSES = Table(
    "guesses",
    "a voter's guess at the model of a side",
    _guesses,
    (
        DEBATE,
        SPLIT,
        REPLACED,
        Column("voter", TEXT, "the pseudonym that the voter has in `votes`"),
        Column("phase", TEXT,
               "`before_reveal`; `after_reveal`: the debate's mirror had named the models before",
               lambda guess: "after_reveal" if guess.answer.mirror_revealed else "before_reveal"),
        Column("side", TEXT, "the contender whose model was guessed", "answer.step"),
        Column("model", TEXT, "the model that was guessed", "answer.option", "people"),
        Column("right", FLAG, "whether it was that side's model",
               lambda guess: guess.answer.option == guess.model),
        Column("starter", FLAG,
               "whether the voter had started the debate, and may have chosen the models",
               "answer.starter"),
        Column("blind", FLAG, "whether the voter could not know: neither of the two applies",
               "answer.gold"),
        Column("options", WHOLE, "models on the menu, which is the same for all debates of a "
               "community", lambda guess: len(guess.options), unit="models"),
        Column("possible", FLAG, "whether the side's model was on the menu",
               lambda guess: guess.model in guess.options),
        Column("changes", WHOLE, "how often the voter changed the guess", "answer.changes"),
        Column("last_at", MOMENT, "when the standing guess was made",
               lambda guess: f"{guess.answer.last_at[:16]}:00Z", "people", "UTC, to the minute"),
        PLATFORM,
    ),
)  # fmt: skip


# The table of what the audience asked the sides of a debate.


PHASE = "before_closing"


class _QuestionRow(NamedTuple):
    """A question: who asked, what people read of it, how many supported it, its place if put."""

    question: AudienceQuestion
    asker: str | None
    text: str | None
    support: int | None
    place: int | None


def _asked(entry: Entry) -> Iterator[_QuestionRow]:
    """Yield what was asked; of people who left exports only what the sides had to answer."""
    bodies: list[Any] = [one.body for one in entry.record.artifacts if one.kind == QUESTIONS]
    body = bodies[0] if bodies else {"put": [], "numbers": [], "support": {}}
    for question in entry.record.questions:
        put = question.number in body["numbers"]
        at = body["numbers"].index(question.number) if put else None
        if question.person is None and at is None:
            continue
        person = question.person
        kept = body["put"][at] if at is not None else question.text
        yield _QuestionRow(
            question,
            asker=None if person is None else entry.voters.voter(person),
            text=None if question.removed and at is None else redact(kept),
            support=body["support"].get(str(question.number)),
            place=None if at is None else at + 1,
        )


QUESTIONS_ASKED = Table(
    "questions",
    "a question that the audience asked both sides",
    _asked,
    (
        DEBATE,
        SPLIT,
        REPLACED,
        Column("number", WHOLE, "its number in the debate, from 1, in the order of asking",
               "question.number"),
        Column("phase", TEXT, "when it was asked: `before_closing`", lambda _: PHASE),
        Column("asker", TEXT,
               "a pseudonym, the same as that of a voter in this export; null for a person whom "
               "exports leave out"),
        Column("text", TEXT,
               "what was asked, in one line; mentions removed; null if it was removed",
               maker="people"),
        Column("removed", TEXT, "who removed it: `asker` or `manager`; null if no one did",
               lambda asked: asked.question.removed.replace("forgotten", "") or None),
        Column("support", WHOLE,
               "how many people were for it when the time was over; null where a debate ended "
               "before that", maker="people", unit="people"),
        Column("put", FLAG, "whether both sides had to answer it",
               lambda asked: asked.place is not None),
        Column("place", WHOLE, "its place among those that were put, from 1; null for any other"),
        Column("asked_at", MOMENT, "when it was asked",
               lambda asked: f"{asked.question.asked_at:%Y-%m-%dT%H:%M}:00Z",
               "people", "UTC, to the minute"),
    ),
)  # fmt: skip
