"""Reads the body of a chat completion: text, usage and cost, or a fault."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple, TypeGuard, TypeVar

import orjson

from adapters.models.decoding import decode
from adapters.models.faults import POLICY, spoken
from adapters.models.outcomes import LATER, REWORD, CallAnswer, CallFault, Outcome
from adapters.models.redaction import redact
from engine.debate import Origin, Usage
from engine.ports import FaultKind
from engine.text import clean, headline

CAPPED = "used up the token cap before it wrote anything"
CAP_ADVICE = (
    "raise the token cap of the role: ROSTRUM_SAMPLING__DEBATER__MAX_TOKENS, "
    "…__CLOSING__MAX_TOKENS or …__JUROR__MAX_TOKENS"
)
LONGEST_NAME = 200  # characters of a model's name, or of why it stopped
MOST_AMOUNT = 1e12  # tokens or USD; far above any call, and within a database's number types
_Judged = TypeVar("_Judged", CallAnswer, CallFault)
_CACHED = ("prompt_cache_hit_tokens", "cache_read_input_tokens", "cached_tokens")
_WRITTEN = ("cache_creation_input_tokens",)


def read_answer(content: bytes, asked: str, secrets: Sequence[str] = ()) -> Outcome:
    """Read a body with status 200; `asked` is the requested model.

    The cost is the one stated in the body, or None; billing.py says what it counts at.
    """
    try:
        body, replaced = decode(content)
    except orjson.JSONDecodeError:
        return _unreadable("answered with something that is not JSON")
    if not isinstance(body, dict):
        return _unreadable("answered with JSON that is not a completion")
    choice = _first_choice(body)
    failure = body.get("error") or choice.get("error")
    if failure:
        words, code = spoken({"error": failure})
        fault = _spent("answered with an error", body, asked)
        declined = bool(POLICY.search(f"{words} {code}"))
        kind = FaultKind.DECLINED if declined else FaultKind.FAILED
        return replace(fault, refused=declined, kind=kind, said=redact(words, *secrets))
    if not choice:
        return _unreadable("answered with JSON that is not a completion")
    outcome = _read_choice(body, choice, asked)
    return replace(outcome, replaced=replaced) if isinstance(outcome, CallAnswer) else outcome


def _read_choice(body: dict[str, Any], choice: dict[str, Any], asked: str) -> Outcome:
    text, finish = (
        _written(choice.get("message")),
        _name(str(choice.get("finish_reason") or "stop")),
    )
    if finish == "error":
        fault = _spent("stopped in the middle of an answer", body, asked)
        return replace(fault, kind=FaultKind.BROKEN)
    if text.strip():
        return _stated(CallAnswer(text, finish, model_of(body, asked), read_usage(body)), body)
    if finish == "length":
        return replace(_spent(CAPPED, body, asked, CAP_ADVICE), kind=FaultKind.CAPPED)
    message = choice.get("message")
    if finish == "content_filter" or (isinstance(message, dict) and message.get("refusal")):
        fault = _spent("declined to answer (content filter)", body, asked, REWORD)
        return replace(fault, refused=True, kind=FaultKind.DECLINED)
    return replace(_spent("answered without any text", body, asked), kind=FaultKind.EMPTY)


def _unreadable(what: str) -> CallFault:
    return CallFault(what, cost=None, kind=FaultKind.UNREADABLE)


def _spent(what: str, body: dict[str, Any], asked: str, advice: str = LATER) -> CallFault:
    """Return a fault with the usage and cost that the body states: work was done."""
    fault = CallFault(what, advice, cost=None, model=model_of(body, asked), usage=read_usage(body))
    return _stated(fault, body)


def _stated(outcome: _Judged, body: dict[str, Any]) -> _Judged:
    """Add the cost stated in the body, if any, and whether a figure is no amount at all."""
    outcome = replace(outcome, doubtful=_is_doubtful(_part(body, "usage")))
    cost = stated_cost(body)
    return outcome if cost is None else replace(outcome, cost=cost, origin=Origin.REPLY)


def _is_doubtful(usage: dict[str, Any]) -> bool:
    figures = (*map(usage.get, ("cost", "prompt_tokens", "completion_tokens")), _upstream(usage))
    return any(one is not None and not _is_amount(one) for one in figures)


def _first_choice(body: dict[str, Any]) -> dict[str, Any]:
    choices = body.get("choices")
    first = choices[0] if isinstance(choices, list) and choices else None
    return first if isinstance(first, dict) else {}


class Delta(NamedTuple):
    """The part of an answer in one chunk of a stream."""

    text: str
    refusal: str


def read_delta(choice: dict[str, Any]) -> Delta:
    """Read a streamed choice; its reasoning is not part of the answer."""
    delta = choice.get("delta")
    refusal = delta.get("refusal") if isinstance(delta, dict) else None
    return Delta(_written(delta), refusal if isinstance(refusal, str) else "")


def _written(message: Any) -> str:
    content = message.get("content") if isinstance(message, dict) else None
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    texts = (part.get("text") for part in content if isinstance(part, dict))
    return "".join(text for text in texts if isinstance(text, str))


def model_of(body: dict[str, Any], asked: str) -> str:
    """Return the model named in a body or chunk, or else the requested one."""
    model = body.get("model")
    return _name(model) if isinstance(model, str) and model else asked


def _name(text: str) -> str:
    """Return a backend's name for something, on one short line."""
    return headline(clean(text[: 2 * LONGEST_NAME]), LONGEST_NAME)


def read_usage(body: dict[str, Any]) -> Usage:
    """Read a call's tokens from the fields that providers use.

    Of the cache, OpenAI and OpenRouter report in `prompt_tokens_details`; DeepSeek, and LiteLLM for
    Anthropic, in fields of their own, sometimes beside zeros there.
    """
    usage = _part(body, "usage")
    details = _part(usage, "prompt_tokens_details")
    return Usage(
        tokens_in=_count(usage.get("prompt_tokens")),
        tokens_out=_count(usage.get("completion_tokens")),
        tokens_cached=_most(details.get("cached_tokens"), *map(usage.get, _CACHED)),
        tokens_written=_most(details.get("cache_write_tokens"), *map(usage.get, _WRITTEN)),
        tokens_reasoning=_count(_part(usage, "completion_tokens_details").get("reasoning_tokens")),
    )


def stated_cost(body: dict[str, Any]) -> float | None:
    """Return the call's cost in USD as stated in the body, with what is stated apart from it."""
    usage = _part(body, "usage")
    stated = [float(one) for one in (usage.get("cost"), _upstream(usage)) if _is_amount(one)]
    return sum(stated) if stated else None


def _upstream(usage: dict[str, Any]) -> object:
    """Return what the provider behind OpenRouter bills apart, to a key of one's own.

    Without such a key it states the same amount once more.
    """
    own = usage.get("is_byok") is not False
    return _part(usage, "cost_details").get("upstream_inference_cost") if own else None


def _part(whole: dict[str, Any], key: str) -> dict[str, Any]:
    part = whole.get(key)
    return part if isinstance(part, dict) else {}


def _count(value: object) -> int | None:
    return int(value) if _is_amount(value) else None


def _most(*values: object) -> int | None:
    return max((found for value in values if (found := _count(value)) is not None), default=None)


def _is_amount(value: object) -> TypeGuard[float]:
    """Return whether a value is a usable amount; JSON's `1e999` parses as infinity."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return 0 <= value <= MOST_AMOUNT
