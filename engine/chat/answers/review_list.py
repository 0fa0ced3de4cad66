"""Answers to `review`, as canonical Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import ClassVar

from engine.chat.answers.answers import Answer, Wording
from engine.chat.answers.debates import DebateLine
from engine.values.debate import Value
from engine.values.text import headline
from engine.votes.offers import Why
from engine.words.phrases import option_name
from engine.words.translation import say

TOPIC_LENGTH = 100  # characters

REVIEW = (
    "**Who debated better, or answered best?** These revealed debates need more answers. Read one, "
    "then choose below or use its code: `{prefix} review {code} A`."
)
REVIEW_ONE = "- `{code}` {thread}: {topic} ({options})"
REVIEW_WHY = "- `{code}` {thread}: {topic} ({options}; {why})"
WHYS: Mapping[Why, str] = {
    "differ": "people and jury differ",
    "close": "the jury found it close",
    "drawn": "drawn at random today",
}
REVIEW_APART = (
    "You may already know the models and the result, so these answers are kept separate: they "
    "change no result, and exports mark them as given after the reveal."
)
NOTHING_TO_REVIEW = (
    "There is nothing to review: no debate was revealed here yet, or you have answered them all."
)
REVISED = "Answer on debate `{code}` recorded: {option}."
REVISED_BACK = "Your answer on debate `{code}` is withdrawn."


class ReviewLine(Value):
    """A revealed debate to review, its `options`, and why it is offered (None: requested)."""

    debate: DebateLine
    options: tuple[str, ...]
    why: Why | None = None
    names: Mapping[str, str] = {}

    @property
    def choices(self) -> Iterator[tuple[str, str]]:
        """Each option and its name, which stands beside the option's emoji."""
        return ((option, option_name(option, self.names, bare=True)) for option in self.options)


class ReviewAnswer(Answer):
    """The revealed debates that need more answers, without those the person has answered."""

    private: ClassVar[bool] = True
    lines: tuple[ReviewLine, ...]

    def say(self, chat: Wording) -> Iterator[str]:
        """List the debates on offer."""
        if not self.lines:
            yield say(NOTHING_TO_REVIEW)
            return
        yield say(REVIEW, prefix=chat.prefix, code=self.lines[0].debate.code)
        for line in self.lines:
            template = REVIEW_WHY if line.why else REVIEW_ONE
            yield say(
                template,
                code=line.debate.code,
                thread=chat.link(line.debate.thread or line.debate.place),
                topic=headline(line.debate.topic, TOPIC_LENGTH),
                options=tuple(_option(option, line.names) for option in line.options),
                why=say(WHYS[line.why]) if line.why else "",
            )
        yield say(REVIEW_APART)


def _option(option: str, names: Mapping[str, str]) -> str:
    """Return an option as it is typed, and what it stands for."""
    name = option_name(option, names)
    return f"`{option}`" if name == option else f"`{option}` {name}"


class RevisedAnswer(Answer):
    """An answer given after the reveal was stored; `option` None: it was withdrawn."""

    private: ClassVar[bool] = True
    debate: DebateLine
    option: str | None
    names: Mapping[str, str] = {}

    def say(self, chat: Wording) -> Iterator[str]:
        """Confirm the answer."""
        if self.option is None:
            yield say(REVISED_BACK, code=self.debate.code)
            return
        option = option_name(self.option, self.names)
        yield say(REVISED, code=self.debate.code, option=option)
        yield say(REVIEW_APART)
