"""`python -m bench.prompts`: what share of its input a debate is billed for, by caching rule.

A debate of each format is held with the rehearsal model, and the prompts that it was really sent
are billed by the rules of providers: with a model for each role, for the turns alone, and as if one
model had every role. A token is four bytes of UTF-8. A call reads from the caches of calls that had
ended when it began.

Beside each share stands its floor, what an ideal layout could reach by that rule's prices: every
line that the rule has in its cache is billed as cached, wherever it stands in the prompt, without
least lengths and steps. A side's own words are in the cache only by a rule that keeps replies; a
juror's transcript, under neutral names and in an order of its own, is in none.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated, NamedTuple

import typer

from adapters.models.backends import places
from adapters.models.router import open_models
from bench.command import command
from bench.wheel.line import defaults_with, open_line
from bench.wheel.machine import print_result
from bot import log
from bot.settings.settings import Settings
from engine.formats import FORMATS
from engine.run.order import Order
from engine.values.debate import Status
from engine.values.errors import RostrumError
from engine.values.ports import Call, ChatMessage, Reply
from engine.values.protocols import AttemptLog, Models, RelayedModels

TOPIC = "Remote work is more productive than working from an office"
TOKEN_BYTES = 4
STANCE_SECONDS = 0.001
LOOKBACK = 20  # parts before a mark in which Anthropic looks for what it has cached


class _CacheRule(NamedTuple):
    """How a provider bills a prompt whose beginning it has read before.

    `least` is the shortest prefix in tokens, `step` what longer ones grow by. Tokens read from the
    cache cost `read` of the usual price, tokens written to it `write`. With `whole`, an earlier
    prompt is found again as a whole, or with its reply, or the beginning that two earlier ones
    share. With `marked`, only what was marked is.
    """

    least: int
    step: int
    read: float
    write: float = 1.0
    whole: bool = False
    marked: bool = False


RULES = {
    # Automatic from 1,024 tokens, in steps of 128: openai.com/index/api-prompt-caching. Cached
    # tokens of GPT-5 cost a tenth (GPT-4.1: a quarter, GPT-4o: half), by OpenAI's price list.
    "openai": _CacheRule(least=1024, step=128, read=0.1),
    # Units end with each prompt and with each reply, and where two requests part; each is found as
    # a whole: api-docs.deepseek.com/guides/kv_cache. Of 64 tokens, at a tenth: news/news0802.
    "deepseek": _CacheRule(least=64, step=64, read=0.1, whole=True),
    # Implicit from 1,024 tokens (Flash; Pro: more), 75 % off:
    # developers.googleblog.com/en/gemini-2-5-models-now-support-implicit-caching.
    "gemini": _CacheRule(least=1024, step=1, read=0.25),
    # Only up to a `cache_control`, from 1,024 tokens (some models: 512, 2,048 or 4,096), read at
    # 0.1 and written at 1.25: platform.claude.com/docs/en/build-with-claude/prompt-caching.
    "anthropic": _CacheRule(least=1024, step=1, read=0.1, write=1.25, marked=True),
}


@dataclass(slots=True)
class Sent:
    """A prompt that a model was sent, its reply, and between which moments of the debate.

    `cuts` are where its parts end, and `marks` those of them that are marked for the cache.
    """

    model: str
    step: str
    text: str
    began: int
    reply: str = ""
    ended: int = sys.maxsize
    cuts: tuple[int, ...] = ()
    marks: tuple[int, ...] = ()

    @property
    def tokens(self) -> float:
        """The tokens of the prompt."""
        return _tokens(self.text)

    @property
    def replied(self) -> str:
        """The prompt with its reply."""
        return f"{self.text}{_part('assistant', self.reply)}"


class Recorder(RelayedModels):
    """Models that keep what they were sent."""

    def __init__(self, models: Models) -> None:
        super().__init__(models)
        self._moment = 0
        self.sent: list[Sent] = []

    async def complete(self, call: Call, log: AttemptLog) -> Reply:
        """Ask a model, and note the prompt."""
        cuts, marks = cuts_of(call.messages)
        text = as_text(call.messages)
        sent = Sent(call.model.ref, call.step, text, self._next(), cuts=cuts, marks=marks)
        self.sent.append(sent)
        reply = await self._models.complete(call, log)
        sent.reply, sent.ended = reply.text, self._next()
        return reply

    def _next(self) -> int:
        self._moment += 1
        return self._moment


class _PromptBill(NamedTuple):
    """The tokens of a debate's prompts, the share that each rule bills, and its floor."""

    calls: int
    tokens: int
    billed: dict[str, float]
    floors: dict[str, float]


async def run_prompts(
    words: Annotated[int, typer.Option(min=1, max=5000, help="Words per turn.")] = 400,
) -> None:
    """Show what share of a debate's input is billed, by each provider's caching rule.

    Prints a table to stderr, JSON to stdout.
    """
    log.configure(Settings(log={"level": "error"}).log)
    found = {}
    for name in FORMATS:
        sent = await hold(name, words)
        spoken = [prompt for prompt in sent if prompt.step.startswith("turn/")]
        found[name] = {
            "all_calls": bill(sent),
            "turns": bill(spoken),
            "one_model": bill(sent, one=True),
        }
    for which in ("all_calls", "turns", "one_model"):
        bills = {name: bills[which] for name, bills in found.items()}
        print(_table(bills, which), file=sys.stderr)
    shown = {
        name: {which: one._asdict() for which, one in bills.items()}
        for name, bills in found.items()
    }
    print_result({"bench": "prompts", "words_a_turn": words, "formats": shown})


async def hold(format_name: str, words: int) -> list[Sent]:
    """Hold a debate whose models write `words` words a turn; return the prompts in order."""
    models = Recorder(open_models({}))
    defaults = defaults_with(
        lambda name: f"rehearsal/{name}?latency=0.01&words={words}#{name}",
        stance_seconds=STANCE_SECONDS,
    )
    async with open_line(models) as (service, dispatcher):
        order = Order(
            **dict.fromkeys(("platform", "community", "place"), "memory"),
            topic=TOPIC,
            format=format_name,
            seed=1,
        )
        begun = await service.start(order, defaults)
        await dispatcher.measure(begun.debate.id)
        ended = await service.store.debates.get(begun.debate.id)
    if ended.status is not Status.VOTING:
        raise RostrumError(f"The {format_name} debate ended {ended.status}: {ended.reason}")
    return models.sent


def bill(sent: Sequence[Sent], *, one: bool = False) -> _PromptBill:
    """Bill prompts by every rule; with `one`, as if one model had every role."""
    tokens = sum(prompt.tokens for prompt in sent)
    before = {id(prompt): list(_before(prompt, sent, one=one)) for prompt in sent}
    after = _asked_again(sent, before)
    billed, floors = dict[str, float](), dict[str, float]()
    for name, rule in RULES.items():
        shares = [_billed(prompt, before[id(prompt)], rule) for prompt in sent]
        least = [_least(p, before[id(p)], after[id(p)], rule) for p in sent]
        billed[name], floors[name] = (round(sum(one) / tokens, 3) for one in (shares, least))
    return _PromptBill(len(sent), round(tokens), billed, floors)


def as_text(messages: Sequence[ChatMessage]) -> str:
    """Return a prompt as one text, as models read it: prefixes of it are prefixes of the prompt."""
    return "".join(_part(message.role, message.content) for message in messages)


def cuts_of(messages: Sequence[ChatMessage]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return where a prompt's parts end in its text, and where it is marked."""
    marked, cuts, marks, begin = frozenset(places(messages)), list[int](), list[int](), 0
    for index, message in enumerate(messages):
        for offset in dict.fromkeys((*message.kept, len(message.content))):
            whole = _part(message.role, message.content[:offset])
            # The end of a message is part of it, as in `as_text`.
            cuts.append(begin + len(whole) - (offset < len(message.content)))
            if (index, offset) in marked:
                marks.append(cuts[-1])
        begin += len(_part(message.role, message.content))
    return tuple(cuts), tuple(marks)


def _part(role: str, content: str) -> str:
    return f"<{role}>\n{content}\n"


def _before(prompt: Sent, sent: Sequence[Sent], *, one: bool) -> Iterator[Sent]:
    """Yield the prompts whose calls had ended, and that the same model read."""
    for other in sent:
        if other.ended < prompt.began and (one or other.model == prompt.model):
            yield other


def _billed(prompt: Sent, before: Sequence[Sent], rule: _CacheRule) -> float:
    """Return the tokens that a prompt is billed as."""
    shared = max((_tokens(text) for text in _shared(prompt, before, rule)), default=0.0)
    cached = shared // rule.step * rule.step if shared >= rule.least else 0.0
    end = _tokens(prompt.text[: max(prompt.marks, default=0)])
    written = max(0.0, end - cached) if rule.marked and end >= rule.least else 0.0
    return prompt.tokens + (rule.read - 1) * cached + (rule.write - 1) * written


def _shared(prompt: Sent, before: Sequence[Sent], rule: _CacheRule) -> Iterator[str]:
    """Yield the beginnings of a prompt that the rule finds again."""
    if rule.marked:
        found = _in_reach(prompt)
        known = (other.text[:mark] for other in before for mark in other.marks)
        yield from (text for text in known if len(text) in found and prompt.text.startswith(text))
        return
    common = [(_beginning(prompt.text, other.text), other.text) for other in before]
    if not rule.whole:
        yield from (text for text, _ in common)
        return
    for other in before:
        yield from filter(prompt.text.startswith, (other.text, other.replied))
    for text, _ in common:
        end = len(text)
        if len({other[end : end + 1] for own, other in common if len(own) >= end}) > 1:
            yield text  # two earlier requests part here


def _in_reach(prompt: Sent) -> frozenset[int]:
    """Return the ends of parts from which a mark of the prompt can be read."""
    at = {cut: number for number, cut in enumerate(prompt.cuts)}
    near = (range(at[mark] - LOOKBACK, at[mark] + 1) for mark in prompt.marks)
    return frozenset(prompt.cuts[n] for reach in near for n in reach if n >= 0)


def _beginning(one: str, other: str) -> str:
    """Return what two texts begin with."""
    least, most = 0, min(len(one), len(other))
    while least < most:
        middle = (least + most + 1) // 2
        if one[least:middle] == other[least:middle]:
            least = middle
        else:
            most = middle - 1
    return one[:least]


def _least(prompt: Sent, before: Sequence[Sent], again: set[str], rule: _CacheRule) -> float:
    """Return the tokens that a prompt is billed as if every line in the cache were found."""
    known = {
        line for other in before for line in _lines(other.replied if rule.whole else other.text)
    }
    return sum(
        _tokens(f"{line}\n")
        * (rule.read if line in known else rule.write if line in again else 1.0)
        for line in _lines(prompt.text)
    )


def _asked_again(sent: Sequence[Sent], before: dict[int, list[Sent]]) -> dict[int, set[str]]:
    """Return, by prompt, the lines that later ones of its model repeat: those worth caching."""
    again: dict[int, set[str]] = {id(prompt): set() for prompt in sent}
    for prompt in sent:
        lines = set(_lines(prompt.text))
        for other in before[id(prompt)]:
            again[id(other)] |= lines
    return again


@lru_cache(maxsize=1024)
def _lines(text: str) -> tuple[str, ...]:
    """Return the lines of a prompt; a quoted one is the line itself."""
    return tuple(line.removeprefix("> ") for line in text.splitlines())


def _tokens(text: str) -> float:
    return len(text.encode()) / TOKEN_BYTES


def _table(bills: dict[str, _PromptBill], which: str) -> str:
    """Return the bills as lines of text: by each rule the share, and its floor."""
    lines = [_row(which.replace("_", " "), ("calls", "tokens", *RULES))]
    for name, one in bills.items():
        shares = (f"{one.billed[rule]:.3f}/{one.floors[rule]:.3f}" for rule in RULES)
        lines.append(_row(name, (one.calls, one.tokens, *shares)))
    return "\n".join((*lines, ""))


def _row(name: str, values: Sequence[object]) -> str:
    return f"{name:<12}" + "".join(f"{value:>13}" for value in values)


if __name__ == "__main__":
    command(run_prompts)
