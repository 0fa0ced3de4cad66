"""`rostrum bench prompts`: what share of its input a debate is billed for, by caching rule.

A debate of each format is held with the rehearsal model, and the prompts that it was really sent
are billed by the rules of providers: with a model for each role, for the turns alone, and as if one
model had every role. A token is four bytes of UTF-8. A call reads from the caches of calls that had
ended when it began.

The floor is what an ideal layout could reach: every line that the model was sent or wrote before
is billed as cached, wherever it stands in the prompt, without least lengths and steps.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from adapters.models.router import open_models
from bot import log
from bot.bench.line import defaults_with, open_line
from bot.bench.machine import print_result
from bot.settings.settings import Settings
from engine.debate import Model, Price, Status
from engine.errors import RostrumError
from engine.formats import FORMATS
from engine.line.intake import Order
from engine.ports import AttemptLog, Call, ChatMessage, Models, Reply

TOPIC = "Remote work is more productive than working from an office"
TOKEN_BYTES = 4
STANCE_SECONDS = 0.001
READ = 0.1  # the floor's price of a cached token


class CacheRule(NamedTuple):
    """How a provider bills a prompt whose beginning it has read before.

    `least` is the shortest prefix in tokens, `step` what longer ones grow by. Tokens read from the
    cache cost `read` of the usual price, tokens written to it `write`. With `whole`, only a whole
    earlier prompt is found again, or with `replies` one with its reply. `marks`: whether our
    requests have the marks that the rule asks for.
    """

    least: int
    step: int
    read: float
    write: float = 1.0
    whole: bool = False
    replies: bool = False
    marks: bool = True


RULES = {
    # Automatic from 1,024 tokens, in steps of 128: openai.com/index/api-prompt-caching. Cached
    # tokens of GPT-5 cost a tenth (GPT-4.1: a quarter, GPT-4o: half), by OpenAI's price list.
    "openai": CacheRule(least=1024, step=128, read=0.1),
    # Units end with each prompt and with each reply, and are found as a whole:
    # api-docs.deepseek.com/guides/kv_cache. Of 64 tokens each, at a tenth: news/news0802.
    "deepseek": CacheRule(least=64, step=64, read=0.1, whole=True, replies=True),
    # Implicit from 1,024 tokens (Flash; Pro: 2,048), 75 % off:
    # developers.googleblog.com/en/gemini-2-5-models-now-support-implicit-caching.
    "gemini": CacheRule(least=1024, step=1, read=0.25),
    # Only up to a `cache_control`, from 1,024 tokens, read at 0.1 and written at 1.25:
    # docs.anthropic.com/en/docs/build-with-claude/prompt-caching. Our requests have none.
    "anthropic": CacheRule(least=1024, step=1, read=0.1, write=1.25, whole=True, marks=False),
    # The same, had every prompt one at its end.
    "marked": CacheRule(least=1024, step=1, read=0.1, write=1.25, whole=True),
}


@dataclass(slots=True)
class Sent:
    """A prompt that a model was sent, its reply, and between which moments of the debate."""

    model: str
    step: str
    text: str
    began: int
    reply: str = ""
    ended: int = sys.maxsize

    @property
    def tokens(self) -> float:
        """The tokens of the prompt."""
        return _tokens(self.text)


class Recorder:
    """Models that keep what they were sent."""

    def __init__(self, models: Models) -> None:
        self._models = models
        self._moment = 0
        self.sent: list[Sent] = []

    async def complete(self, call: Call, log: AttemptLog) -> Reply:
        """Ask a model, and note the prompt."""
        sent = Sent(call.model.ref, call.step, as_text(call.messages), self._next())
        self.sent.append(sent)
        reply = await self._models.complete(call, log)
        sent.reply, sent.ended = reply.text, self._next()
        return reply

    def _next(self) -> int:
        self._moment += 1
        return self._moment

    async def price(self, model: Model) -> Price | None:
        """Return a model's price."""
        return await self._models.price(model)

    def pace(self, model: Model) -> float:
        """Return a model's usual seconds."""
        return self._models.pace(model)

    async def aclose(self) -> None:
        """Close every connection."""
        await self._models.aclose()


class PromptBill(NamedTuple):
    """The tokens of a debate's prompts, the share that each rule bills, and the floor."""

    calls: int
    tokens: int
    billed: dict[str, float]
    floor: float


async def run_prompts(words: int) -> None:
    """Print the share of each format's input that is billed: a table to stderr, JSON to stdout."""
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


def bill(sent: Sequence[Sent], *, one: bool = False) -> PromptBill:
    """Bill prompts by every rule; with `one`, as if one model had every role."""
    tokens = sum(prompt.tokens for prompt in sent)
    before = {id(prompt): list(_before(prompt, sent, one=one)) for prompt in sent}
    billed = {
        name: sum(_billed(prompt, before[id(prompt)], rule) for prompt in sent) / tokens
        for name, rule in RULES.items()
    }
    least = sum(_least(prompt, before[id(prompt)]) for prompt in sent) / tokens
    rounded = {name: round(share, 3) for name, share in billed.items()}
    return PromptBill(len(sent), round(tokens), rounded, round(least, 3))


def as_text(messages: Sequence[ChatMessage]) -> str:
    """Return a prompt as one text, as models read it: prefixes of it are prefixes of the prompt."""
    return "".join(_part(message.role, message.content) for message in messages)


def _part(role: str, content: str) -> str:
    return f"<{role}>\n{content}\n"


def _before(prompt: Sent, sent: Sequence[Sent], *, one: bool) -> Iterator[Sent]:
    """Yield the prompts whose calls had ended, and that the same model read."""
    for other in sent:
        if other.ended < prompt.began and (one or other.model == prompt.model):
            yield other


def _billed(prompt: Sent, before: Sequence[Sent], rule: CacheRule) -> float:
    """Return the tokens that a prompt is billed as."""
    if not rule.marks:
        return prompt.tokens
    shared = max((_tokens(text) for text in _shared(prompt.text, before, rule)), default=0.0)
    cached = shared // rule.step * rule.step if shared >= rule.least else 0.0
    written = rule.write if prompt.tokens >= rule.least else 1.0
    return rule.read * cached + written * (prompt.tokens - cached)


def _shared(text: str, before: Sequence[Sent], rule: CacheRule) -> Iterator[str]:
    """Yield the beginnings of a prompt that the rule finds again."""
    for other in before:
        if not rule.whole:
            yield _beginning(text, other.text)
            continue
        replied = f"{other.text}{_part('assistant', other.reply)}"
        yield from filter(text.startswith, (other.text, replied) if rule.replies else (other.text,))


def _beginning(one: str, other: str) -> str:
    """Return what two texts begin with."""
    pairs = enumerate(zip(one, other, strict=False))
    return one[: next((at for at, (a, b) in pairs if a != b), min(len(one), len(other)))]


def _least(prompt: Sent, before: Sequence[Sent]) -> float:
    """Return the tokens that a prompt is billed as if every known line were cached."""
    known = {line for other in before for line in _lines(f"{other.text}\n{other.reply}")}
    return sum(
        _tokens(f"{line}\n") * (READ if line in known else 1) for line in _lines(prompt.text)
    )


def _lines(text: str) -> list[str]:
    """Return the lines of a prompt; a quoted one is the line itself."""
    return [line.removeprefix("> ") for line in text.splitlines()]


def _tokens(text: str) -> float:
    return len(text.encode()) / TOKEN_BYTES


def _table(bills: dict[str, PromptBill], which: str) -> str:
    """Return the bills as lines of text."""
    lines = [_row(which.replace("_", " "), ("calls", "tokens", *RULES, "floor"))]
    for name, one in bills.items():
        lines.append(_row(name, (one.calls, one.tokens, *one.billed.values(), one.floor)))
    return "\n".join((*lines, ""))


def _row(name: str, values: Sequence[object]) -> str:
    return f"{name:<12}" + "".join(f"{value:>10}" for value in values)
