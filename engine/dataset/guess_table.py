"""The table of guesses: which model each voter took a side for."""

from __future__ import annotations

from typing import NamedTuple

from engine.dataset.columns import (
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
)
from engine.dataset.entry import Entry
from engine.store import StandingAnswer
from engine.values.judging import Question


class _Guess(NamedTuple):
    """A guess, who made it, and what it could be."""

    voter: str
    answer: StandingAnswer
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
