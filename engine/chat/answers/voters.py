"""Answers to those who vote: what else they may say, and the review; Markdown for any chat."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from engine.chat.answers import PREFIX, Answer, Wording, answering
from engine.chat.answers.debates import DebateLine
from engine.store.ballots import RemarkResult
from engine.store.vote_log import Outcome
from engine.tally.questions import CONFIDENCES, GROUNDS, PERCENTS
from engine.values.debate import Value
from engine.values.errors import UsageError
from engine.values.language import N_
from engine.values.text import clean, headline
from engine.votes.offers import Why
from engine.words.buttons import Menu, Row, remark_id, sure_button
from engine.words.card import LABEL_LENGTH, Button
from engine.words.phrases import option_name
from engine.words.translation import say

# The private answer to somebody who voted, with what else they may say, as canonical Markdown.


PAGE, PAGE_OF_MANY = 3, 2  # menus at once, beside the rows of buttons that a platform has room for

ASK = {
    "reason": N_("What decided it for you?"),
    "clear": N_("How clear was it?"),
    "sure": N_("How likely is it, from 0 to 100 %, that most others choose as you did?"),
    "guess": N_("Which model is which? The list is the same in every debate here."),
}
MENU = N_("{side}: guess the model")
REFUSALS: Mapping[Outcome, str] = {
    "unvoted": N_("Vote first, then you can say more about it."),
    "closed": N_("The vote is closed, so nothing was changed."),
    "forgotten": N_(
        "You asked to be forgotten, so nothing of yours is stored. Use /debate optin to "
        "take part in debates that start after it."
    ),
    "unknown": N_("The vote is not open yet. Try again in a moment."),
}


def read_percent(text: str) -> str:
    """Return how sure somebody is, one of `PERCENTS`. Raises UsageError for anything else."""
    digits = text.strip().removesuffix("%").rstrip()
    if digits.isascii() and digits.isdigit() and (found := digits.lstrip("0") or "0") in PERCENTS:
        return found
    if not text.strip():
        raise UsageError("Nothing was given. Write a whole number from 0 to 100, such as 70.")
    raise UsageError(
        "“{text}” is not a whole number from 0 to 100. Write one such as 70.",
        text=headline(clean(text), 20),
    )


class RemarkAnswer(Answer):
    """What a voter has said beside their vote so far, and what else they may say.

    `first` is said before that. `asks`: for the reason and how clear it was, or, in `percent`, how
    sure they are; `names` are those of agents. Models may be guessed of `sides`, from a `menu`.
    `page` is that of menus to show.
    """

    private: bool = True
    code: str
    held: RemarkResult
    asks: bool = False
    percent: bool = False
    language: str = "en"
    sides: tuple[str, ...] = ()
    menu: tuple[str, ...] = ()
    names: Mapping[str, str] = {}
    page: int = 0
    first: Answer | None = None

    @property
    def open(self) -> bool:
        """Whether there is something to say now."""
        return self.held.outcome in ("stored", "duplicate") and (
            self.asks or self.percent or bool(self.menu)
        )

    def say(self, chat: Wording) -> Iterator[str]:
        """Say what is held, or why nothing is."""
        if self.first is not None:
            yield from (*self.first.say(chat), "")
        if refused := REFUSALS.get(self.held.outcome):
            yield say(refused)
            return
        if self.held.option:
            yield say("**Your vote:** {option}", option=self._name(self.held.option))
        if self.held.ground:
            yield say("**Why:** {ground}", ground=option_name(self.held.ground))
        if self.held.confidence and self.percent:
            yield say("**How sure:** {percent} %", percent=self.held.confidence)
        elif self.held.confidence:
            yield say("**How clear:** {confidence}", confidence=option_name(self.held.confidence))
        if self.held.guesses:
            told = (
                say("{side} `{model}`", side=self._name(side), model=self.menu[int(at)])
                for side, at in self.held.guesses.items()
            )
            yield say("**Your guess:** {guesses}", guesses=say(", ").join(told))
        if not self.open:
            return
        yield " ".join(
            say(ASK[what])
            for what, missing in (
                ("reason", self.asks and not self.held.ground),
                ("clear", self.asks and not self.percent and not self.held.confidence),
                ("sure", self.percent and not self.held.confidence),
                ("guess", bool(self.menu)),
            )
            if missing
        )
        yield say(
            "Only you see this. All of it is optional, and you can change it until the vote closes."
        )

    def rows(self) -> tuple[Row, ...]:
        """Return the buttons and menus below it, row by row, at most five."""
        if not self.open:
            return ()
        rows = [self._buttons("ground", GROUNDS, self.held.ground)] if self.asks else []
        if self.percent:
            rows.append((sure_button(self.code, self.language, self.held.confidence),))
        elif self.asks:
            rows.append(self._buttons("clear", CONFIDENCES, self.held.confidence))
        return (*rows, *self._menus())

    def _buttons(self, what: str, options: Sequence[str], held: str) -> tuple[Button, ...]:
        return tuple(
            Button(remark_id(what, self.code, one), option_name(one), chosen=one == held)
            for one in options
        )

    def _menus(self) -> Iterator[Row]:
        if not self.menu:
            return
        sides, menu = self.sides, self.menu
        size = PAGE if len(sides) <= PAGE else PAGE_OF_MANY
        pages = [sides[at : at + size] for at in range(0, len(sides), size)]
        labels = tuple(headline(ref, LABEL_LENGTH) for ref in menu)
        for side in pages[self.page % len(pages)]:
            held = self.held.guesses.get(side)
            at = None if held is None else int(held)
            hint = headline(say(MENU, side=self._name(side)), LABEL_LENGTH)
            yield Menu(remark_id("guess", self.code, side), hint, labels, at)
        if len(pages) > 1:
            yield tuple(self._more(number, page) for number, page in enumerate(pages))

    def _more(self, number: int, page: Sequence[str]) -> Button:
        template = N_("Guess {first}–{last}") if len(page) > 1 else N_("Guess {first}")
        label = say(template, first=self._name(page[0]), last=self._name(page[-1]))
        at = remark_id("page", self.code, str(number))
        return Button(at, headline(label, LABEL_LENGTH), chosen=number == self.page)

    def _name(self, option: str) -> str:
        return option_name(option, self.names)


# Answers to `review`, as canonical Markdown.


TOPIC_LENGTH = 100  # characters

WHYS: Mapping[Why, str] = {
    "differ": N_("people and jury differ"),
    "close": N_("the jury found it close"),
    "drawn": N_("drawn at random today"),
}
REVIEW_APART = N_(
    "You may already know the models and the result, so these answers are kept separate: they "
    "change no result, and exports mark them as given after the reveal."
)


class ReviewLine(Value):
    """A revealed debate to review, its `options`, and why it is offered (None: requested).

    `trial`: it asks which answer is right.
    """

    debate: DebateLine
    options: tuple[str, ...]
    why: Why | None = None
    names: Mapping[str, str] = {}
    trial: bool = False

    @property
    def choices(self) -> Iterator[tuple[str, str]]:
        """Each option and its name, which stands beside the option's emoji."""
        return ((option, option_name(option, self.names, bare=True)) for option in self.options)


class ReviewAnswer(Answer):
    """The revealed debates that need more answers, without those the person has answered."""

    private: bool = True
    lines: tuple[ReviewLine, ...]

    def say(self, chat: Wording) -> Iterator[str]:
        """List the debates on offer."""
        if not self.lines:
            yield say(
                "There is nothing to review: no debate was revealed here yet, or you have "
                "answered them all."
            )
            return
        yield say(
            "**Who debated better, or answered best?** These revealed debates need more answers. "
            "Read one, then choose below or use its code: `{prefix} review {code} A`.",
            prefix=PREFIX,
            code=self.lines[0].debate.code,
        )
        for line in self.lines:
            asks = [say("which answer is right")] if line.trial else []
            whys = [*asks, say(WHYS[line.why])] if line.why else asks
            template = (
                "- `{code}` {thread}: {topic} ({options}; {why})"
                if whys
                else "- `{code}` {thread}: {topic} ({options})"
            )
            yield say(
                template,
                code=line.debate.code,
                thread=chat.link(line.debate.thread or line.debate.place),
                topic=headline(line.debate.topic, TOPIC_LENGTH),
                options=tuple(_option(option, line.names) for option in line.options),
                why="; ".join(whys),
            )
        yield say(REVIEW_APART)


def _option(option: str, names: Mapping[str, str]) -> str:
    """Return an option as it is typed, and what it stands for."""
    name = option_name(option, names)
    return f"`{option}`" if name == option else f"`{option}` {name}"


@answering(private=True)
def revised(_: Wording, debate: str, option: str | None, names: Mapping[str, str]) -> Iterator[str]:
    """Confirm an answer on a debate (its code) after the reveal; None: it was withdrawn."""
    if option is None:
        yield say("Your answer on debate `{code}` is withdrawn.", code=debate)
        return
    shown = option_name(option, names)
    yield say("Answer on debate `{code}` recorded: {option}.", code=debate, option=shown)
    yield say(REVIEW_APART)
