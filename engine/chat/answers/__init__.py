"""A command's answer: a frozen value that renders itself as canonical Markdown.

The wording of each stands beside its class, ready for translation; adapters only display it.
Errors carry their own message.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import wraps
from typing import Concatenate, NamedTuple, ParamSpec

from pydantic import InstanceOf

from engine.values.debate import Value
from engine.values.language import N_, NN_, Text
from engine.values.messages import File
from engine.values.verdicts import Question
from engine.votes.outcome import EventOutcome
from engine.words.buttons import Row
from engine.words.card import Button
from engine.words.phrases import option_name
from engine.words.translation import say

PREFIX = "/debate"  # of every command, on every platform
P = ParamSpec("P")


def _someone(user: str) -> str:
    return "?"


class Wording(NamedTuple):
    """How a platform writes links to threads, and people who want that."""

    link: Callable[[str], str]
    person: Callable[[str], str] = _someone


class SentFile(NamedTuple):
    """A file that comes with an answer, for the person who asked alone."""

    name: str
    content: bytes


class Answer(Value):
    """A command's answer: its lines, and maybe a file.

    The lines are `texts`, or what `words` yields in the language spoken; `below` makes the buttons.
    Only the person who asked may see a `private` one.
    """

    texts: tuple[InstanceOf[Text], ...] = ()
    words: Callable[[Wording], Iterator[str]] | None = None
    below: Callable[[], tuple[Button, ...]] = tuple
    file: SentFile | None = None
    private: bool = False

    def say(self, chat: Wording) -> Iterator[str]:
        """Yield the answer line by line."""
        yield from self.words(chat) if self.words else map(say, self.texts)

    def buttons(self) -> tuple[Button, ...]:
        """Return the buttons below it."""
        return self.below()

    def rows(self) -> tuple[Row, ...]:
        """Return the buttons and menus below it, row by row, at most five."""
        return ()

    def picture(self) -> File | None:
        """Return an SVG picture of what it says, for platforms that show one in a private answer.

        They draw it; one that cannot be drawn is left out, as the text says the same.
        """
        return None

    def public(self) -> Answer | None:
        """Return the part that everyone in the channel may read; None for nothing."""
        return None if self.private else self


def answering(
    *, private: bool = False
) -> Callable[[Callable[Concatenate[Wording, P], Iterator[str]]], Callable[P, Answer]]:
    """Make an answer of a function that yields its lines, as they are asked for."""

    def wrap(lines: Callable[Concatenate[Wording, P], Iterator[str]]) -> Callable[P, Answer]:
        @wraps(lines)
        def make(*args: P.args, **kwargs: P.kwargs) -> Answer:
            return Answer(words=lambda chat: lines(chat, *args, **kwargs), private=private)

        return make

    return wrap


def to_markdown(
    answer: Answer,
    link: Callable[[str], str] = str,
    person: Callable[[str], str] = _someone,
) -> str:
    """Write an answer as Markdown.

    `link` turns a thread into a link as this platform shows it, `person` a user's id into a name.
    """
    return "\n".join(answer.say(Wording(link, person)))


# Answers to a press of a vote button, as canonical Markdown.


FORGOTTEN = N_(
    "You asked to be forgotten, so your vote is not stored. Use /debate optin to vote on debates "
    "that start after it."
)
SUPPORTED = N_(
    "You support question {number}. Press another number to change that, or the same one to "
    "withdraw."
)


@answering(private=True)
def voted(_: Wording, heard: EventOutcome | None) -> Iterator[str]:
    """Say what holds after a press."""
    match heard:
        case EventOutcome(outcome="stored" | "duplicate", question=Question.SUPPORT, option=number):
            yield (
                say(SUPPORTED, number=number)
                if number
                else say("You support no question any more.")
            )
        case EventOutcome(outcome="stored" | "duplicate", option=None):
            yield say("Your vote is withdrawn.")
        case EventOutcome(outcome="stored" | "duplicate", option=str(option), name=name):
            yield say(
                "Vote recorded: {option}. Press another option to change it, or the same "
                "one to withdraw.",
                option=name or option_name(option),
            )
        case EventOutcome(outcome="closed"):
            yield say("This vote is closed; nothing was changed.")
        case EventOutcome(outcome="forgotten"):
            yield say(FORGOTTEN)
        case _:
            yield say("This message has no open vote yet; try again in a moment.")


# Answers to somebody who asks the sides of a debate something, as canonical Markdown.


LISTED = N_("Your question is number {number}. Others can support it now.")
UNLISTED = N_(
    "Your question is number {number}. The list is full, so it joins once another one is removed. "
    "Meanwhile you can support one in the list."
)
UNASKED = N_("Question {number} is removed.")


# Answers to a person who argues a side, as canonical Markdown.


ACCEPTED = N_("You take part. The debate begins, and you are mentioned here when it is your turn.")
DECLINED = N_(
    "You do not take part, so the debate is called off. The person who asked is notified."
)
TURN_TAKEN = NN_(
    "Rostrum has your turn of {n} word and posts it.",
    "Rostrum has your turn of {n} words and posts it.",
)
