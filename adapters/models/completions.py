"""Reads a chat completion: what was said, how much was thought, usage and cost, or a fault.

Providers put the same things in different places and words; this is the one place that knows them.
What a model thought is counted and left out. `tests/unit/test_models_providers.py` has what each
provider sends.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, TypeGuard, TypeVar

import orjson

from adapters.models.attempts import LATER, CallAnswer, CallFault, Next, Outcome
from adapters.models.faults import REWORD, classify, decode, redact, spoken
from engine.values.debate import Origin, Usage
from engine.values.ports import FaultKind
from engine.values.text import clean, headline

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
# Why an answer stopped, as providers name it. Gemini adds details: “content_filter: SAFETY”.
_STOPS = {
    "length": ("max_tokens", "max_output_tokens", "model_length", "model_context_window_exceeded"),
    "content_filter": (
        *("content_filtered", "guardrail_intervened", "refusal", "sensitive", "safety"),
        *("blocklist", "language", "prohibited_content", "recitation", "spii"),
    ),
    "error": ("abort", "insufficient_system_resource", "network_error"),
    "stop": (
        *("complete", "end_turn", "eos", "eos_token", "finish_reason_unspecified", "stop_sequence"),
        *("function_call", "tool_calls"),
    ),
}
_STOP = {name: stop for stop, names in _STOPS.items() for name in (stop, *names)}
_unknown: set[str] = set()  # reasons that were logged
# A reasoning model's own marks, where its server leaves them in the text.
_NAMES = r"(?:seed:)?(?:think|thinking|thought|reasoning)"
_OPENED = re.compile(rf"\s*(?:<{_NAMES}>|\[THINK\])", re.IGNORECASE)
_CLOSED = rf"</{_NAMES}>|\[/THINK\]"
_CLOSING = re.compile(_CLOSED, re.IGNORECASE)
_SIGN = re.compile(rf'["\\{{}}]|{_CLOSED}', re.IGNORECASE)
_OBJECT = re.compile(r"""\{\s*["'\w]""")
_CODE = re.compile(r"(?<!`)(`+)(?!`)[^\n]{0,200}?[^`\n]\1(?!`)")
_OPENINGS = ("<think>", "<thinking>", "<thought>", "<reasoning>", "<seed:think>", "[think]")
# gpt-oss's harmony format, whole and with its special tokens taken out:
# cookbook.openai.com/articles/openai-harmony
_CHANNEL = re.compile(r"<\|channel\|>\s*(\w+)(?:(?!<\|message\|>).){0,80}<\|message\|>", re.DOTALL)
_MESSAGE_END = re.compile(r"<\|(?:end|return|call|start|channel)\|>")
_HARMONY = ("<|channel|>", "<|start|>", "assistant<|channel|>")
_BARE = re.compile(r"\s*analysis(?:(?=\S).*assistantfinal|(?=[A-Z]).*)", re.DOTALL)
_START = re.compile(r"\s*<\|(?:im_start|start_header_id)\|>assistant(?:<\|end_header_id\|>)?\s*")
_END = re.compile(
    r"<\|(?:im_end|im_start|endoftext|end_of_text|eot_id|eom_id|end|return|end_of_turn)\|>"
    r"|<end_of_turn>|<｜end▁of▁sentence｜>|</s>\s*$"
)


def read_text(text: str) -> tuple[str, int]:
    """Part what was said from what was thought, and drop a chat format's own marks.

    Returns what was said, and how many characters were thought.
    A mark in a code span, or in the text of a JSON object, is quoted by what was said.
    """
    if not ("<" in text or "[" in text or text.lstrip().startswith("analysis")):
        return text, 0
    start = _START.match(text)
    said, thought = _harmony(text[start.end() :] if start else text)
    plain, at = _without_code(said), 0
    while opened := _OPENED.match(plain, at):
        closed = _CLOSING.search(plain, opened.end())
        at = closed.end() if closed else len(said)
        thought += len(said[opened.end() : closed.start() if closed else at].strip())
    if end := _closing(plain[at:]):
        thought += end
        at += end
    said = said[at:].lstrip() if at else said
    half = said.strip().lower()
    if half and any(one.startswith(half) for one in (*_OPENINGS, *_HARMONY)):
        return "", thought + len(half)
    ended = _END.search(_without_code(said))
    return said[: ended.start()].rstrip() if ended else said, thought


def _harmony(text: str) -> tuple[str, int]:
    """Return what stands in the final channel; the text itself if it has no channels."""
    if bare := _BARE.match(text):
        whole = bare[0].endswith("assistantfinal")
        return text[bare.end() :] if whole else "", len(bare[0])
    marks = list(_CHANNEL.finditer(_without_code(text)))
    if not marks:
        return ("", len(text)) if text.lstrip().startswith(_HARMONY) else (text, 0)
    said, thought = "", 0
    for mark in marks:
        end = _MESSAGE_END.search(text, mark.end())
        inner = text[mark.end() : end.start() if end else len(text)]
        if mark[1] == "final":
            said += inner
        else:
            thought += len(inner)
    return said, thought


def _closing(text: str) -> int:
    """Return where the last closing tag outside of JSON ends, in a text without code; or 0.

    Some servers leave the opening tag out. A closing tag within braces is quoted by the answer:
    what follows it there may be a debater's words.
    """
    if _CLOSING.search(text) is None:
        return 0
    end, depth, position, quoted = 0, 0, 0, False
    while mark := _SIGN.search(text, position):
        sign, position = mark.group(), mark.end()
        if sign == "\\":
            position += 1
        elif sign == '"':
            quoted = depth > 0 and not quoted
        elif sign not in "{}":
            end = position if depth == 0 else end
        elif not quoted:
            depth = max(0, depth + (1 if sign == "{" else -1))
    if depth and not _OBJECT.search(text):  # a brace of prose that nothing closes
        end = max((mark.end() for mark in _CLOSING.finditer(text)), default=0)
    return end


def _without_code(text: str) -> str:
    """Return a text of the same length without its code spans."""
    return _CODE.sub(lambda found: " " * len(found[0]), text) if "`" in text else text


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
    choices = body.get("choices")
    first = choices[0] if isinstance(choices, list) and choices else None
    choice = first if isinstance(first, dict) else {}
    failure = body.get("error") or choice.get("error")
    if failure:
        # An error in a response with status 200 is as final as its own status.
        words, codes = spoken({"error": failure})
        status = next((int(code) for code in codes if re.fullmatch("[45][0-9]{2}", code)), 400)
        known = classify(status, words, codes, {})
        if known.then is not Next.FINAL or known.kind is FaultKind.REJECTED:
            known = replace(known, what="answered with an error", advice=LATER, then=Next.RETRY)
            known = replace(known, kind=FaultKind.FAILED, cost=None)
        said = "" if known.kind is FaultKind.KEY else redact(words, *secrets)
        known = replace(known, model=model_of(body, asked), usage=read_usage(body), said=said)
        return _stated(known, body)
    if not choice:
        return _unreadable("answered with JSON that is not a completion")
    outcome = _read_choice(body, choice, asked)
    if replaced and isinstance(outcome, CallAnswer):
        return replace(outcome, replaced=replaced)
    return outcome


def _read_choice(body: dict[str, Any], choice: dict[str, Any], asked: str) -> Outcome:
    text, refusal, reasoning = read_message(choice.get("message"))
    said, thought = read_text(text)
    thought += len(reasoning)
    finish = read_finish(choice.get("finish_reason"))
    if finish == "error":
        fault = _spent("stopped in the middle of an answer", body, asked)
        return replace(fault, kind=FaultKind.BROKEN)
    if said.strip():
        model, usage = model_of(body, asked), read_usage(body)
        return _stated(CallAnswer(said, finish, model, usage, thought=thought), body)
    if finish == "content_filter" or refusal:
        fault = _spent("declined to answer (content filter)", body, asked, REWORD)
        return replace(fault, then=Next.FINAL, refused=True, kind=FaultKind.DECLINED)
    if finish == "length":
        return replace(_spent(CAPPED, body, asked, CAP_ADVICE), kind=FaultKind.CAPPED)
    if thought:
        only = "wrote its reasoning and no answer"
        return replace(_spent(only, body, asked, CAP_ADVICE), kind=FaultKind.CAPPED)
    return replace(_spent("answered without any text", body, asked), kind=FaultKind.EMPTY)


def read_finish(reason: Any) -> str:
    """Return why an answer stopped: stop, length, content_filter or error.

    A reason that is not known counts as stop, and is logged once.
    """
    name = str(reason or "stop").partition(":")[0].strip().lower()
    if name not in _STOP and name not in _unknown and len(_unknown) < LONGEST_NAME:
        import structlog  # settings import what imports this, and start without it

        _unknown.add(name)
        log = structlog.get_logger(__name__)
        log.warning("unknown finish reason", reason=_name(name), taken_as="stop")
    return _STOP.get(name, "stop")


def _unreadable(what: str) -> CallFault:
    return CallFault(what, cost=None, kind=FaultKind.UNREADABLE)


def _spent(what: str, body: dict[str, Any], asked: str, advice: str = LATER) -> CallFault:
    """Return a fault with the usage and cost that the body states: work was done."""
    fault = CallFault(what, advice, cost=None, model=model_of(body, asked), usage=read_usage(body))
    return _stated(fault, body)


def _stated(outcome: _Judged, body: dict[str, Any]) -> _Judged:
    """Add the cost stated in the body, if any, and whether a figure is no amount at all."""
    usage: dict[str, Any] = _part(body, "usage")
    figures = (*map(usage.get, ("cost", "prompt_tokens", "completion_tokens")), _upstream(usage))
    if any(one is not None and not _is_amount(one) for one in figures):
        outcome = replace(outcome, doubtful=True)
    cost = stated_cost(body)
    return outcome if cost is None else replace(outcome, cost=cost, origin=Origin.REPLY)


def read_message(message: Any) -> tuple[str, str, str]:
    """Return a message's text, refusal and reasoning, wherever a provider has them.

    DeepSeek, Zhipu and llama.cpp reason in `reasoning_content`, OpenRouter, Ollama and vLLM in
    `reasoning`, Mistral in parts of the content. The text may still have a model's own marks in
    it, which `read_text` takes out.
    """
    if not isinstance(message, dict):
        return "", "", ""
    content, refusal = message.get("content"), message.get("refusal")
    apart = (message.get(name) for name in ("reasoning_content", "reasoning"))
    reasoning = next((one for one in apart if isinstance(one, str) and one), "")
    text = content if isinstance(content, str) else ""
    for part in content if isinstance(content, list) else ():
        if not isinstance(part, dict):
            continue
        kind = str(part.get("type"))
        if "think" in kind or "reason" in kind:
            reasoning += _texts(part.get("thinking") or part.get("text"))
        else:
            text += _texts(part.get("text"))
    return text, refusal if isinstance(refusal, str) else "", reasoning


def _texts(value: Any) -> str:
    if isinstance(value, list):
        return "".join(_texts(one.get("text")) for one in value if isinstance(one, dict))
    return value if isinstance(value, str) else ""


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


def amount_in(text: str) -> float | None:
    """Return the amount in a header; None without one."""
    try:
        value = float(text)
    except ValueError:
        return None
    return value if _is_amount(value) else None


def _is_amount(value: object) -> TypeGuard[float]:
    """Return whether a value is a usable amount; JSON's `1e999` parses as infinity."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return 0 <= value <= MOST_AMOUNT
