"""Those who voted at a keyboard say why, and guess the models: each in turn, by one key."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from adapters.terminal import texts
from adapters.terminal.keys import CLOSING_KEYS, TAKE_BACK, keyboard, keys_of
from adapters.terminal.venue import TerminalVenue
from adapters.terminal.votes import guests_among
from bot.app import App
from engine.chat.answers.voters import ASK, MENU
from engine.store import Remark
from engine.tally.questions import CONFIDENCES, GROUNDS
from engine.values.debate import Debate
from engine.values.judging import Question
from engine.values.language import speaking
from engine.words.phrases import option_name
from engine.words.translation import say

MODEL_KEYS = "123456789abcdefghijklmnopqrstvwxyz"  # without the one that goes back


class Asked(NamedTuple):
    """A question: its words, and its answers by key, each with its name."""

    question: Question
    asks: str
    keys: Mapping[str, str]
    names: Mapping[str, str]
    side: str = ""


async def say_why(app: App, venue: TerminalVenue, debate: Debate) -> None:
    """Ask those who hold a vote, in their order, until each has answered or Enter is pressed."""
    read = await venue.reactions(debate.thread or "", debate.vote_message or "")
    voters = {user for held in read.holders.values() for user in held}
    guests = sorted(voters, key=lambda user: guests_among([user]))
    with speaking(debate.request.language), keyboard(sys.stdin.fileno()) as keys:
        for asked in _questions(debate):
            named = {key: asked.names[option] for key, option in asked.keys.items()}
            venue.note(f"{asked.asks} {texts.key_help(named, goes_on=True)}")
            at = 0
            while at < len(guests) and (key := (await keys.get()).lower()) not in CLOSING_KEYS:
                if key == TAKE_BACK:
                    at = max(0, at - 1)  # whose next answer replaces this one
                elif (option := asked.keys.get(key)) is not None:
                    await app.store.votes.remark(_remark(app, debate, guests[at], asked, option))
                    venue.note(f"{guests[at]}: {asked.names[option]}")
                    at += 1


def _questions(debate: Debate) -> Iterator[Asked]:
    """Yield what to ask: why, how clear it was unless that was asked, and each side's model."""
    request, menu = debate.request, debate.setup.menu[: len(MODEL_KEYS)]
    words: list[tuple[Question, str, tuple[str, ...]]] = []
    if request.reasons:
        words.append((Question.GROUND, "reason", GROUNDS))
    if request.reasons and not request.confidence:
        words.append((Question.CONFIDENCE, "clear", CONFIDENCES))
    for question, asks, options in words:
        names = {option: option_name(option) for option in options}
        yield Asked(question, say(ASK[asks]), keys_of(options), names)
    numbers = tuple(map(str, range(len(menu))))
    for side in request.sides if menu else ():
        asks = say(MENU, side=option_name(side, debate.setup.called))
        keys = dict(zip(MODEL_KEYS, numbers, strict=False))
        yield Asked(Question.GUESS, asks, keys, dict(zip(numbers, menu, strict=True)), side)


def _remark(app: App, debate: Debate, user: str, asked: Asked, option: str) -> Remark:
    return Remark(
        debate=debate.id,
        ballot=debate.request.ballot,
        platform=debate.platform,
        user=user,
        question=asked.question,
        step=asked.side,
        option=option,
        received_at=app.service.clock.now(),
    )
