"""Classifies statuses, broken connections and deadlines as faults; pure."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import lru_cache
from itertools import groupby
from string import ascii_lowercase, ascii_uppercase
from typing import Any

import orjson
import regex

from adapters.models.attempts import CallFault, Next
from engine.values.ports import FaultKind
from engine.values.text import clean

# Texts of backends made fit to be kept: JSON with lone surrogates, one short line.


_HALF = re.compile("[\ud800-\udfff]")
MARK = "\N{REPLACEMENT CHARACTER}"


def decode(content: bytes | str) -> tuple[Any, int]:
    """Read JSON; joins surrogate pairs, and replaces lone surrogates by U+FFFD.

    Returns the value, and how many lone surrogates in it were replaced.
    Raises JSONDecodeError for invalid or too deeply nested JSON.
    """
    try:
        return orjson.loads(content), 0
    except orjson.JSONDecodeError:
        return _mend(decode_raw(content))


def decode_raw(content: bytes | str) -> Any:
    """Read JSON, keeping lone surrogates: the other half may follow in another piece.

    Raises JSONDecodeError as `decode` does.
    """
    try:
        return orjson.loads(content)
    except orjson.JSONDecodeError as error:
        try:
            value = json.loads(content, parse_constant=_refuse)
        except (RecursionError, ValueError):
            raise error from None
        # Python's parser is laxer, so it is trusted only about lone surrogates.
        if _HALF.search(json.dumps(value, ensure_ascii=False)) is None:
            raise
        return value


def join(text: str) -> tuple[str, int]:
    """Return a text with surrogates joined or replaced, and how many were replaced."""
    if _HALF.search(text) is None:
        return text, 0
    joined = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
    return _HALF.subn(MARK, joined)


def _mend(value: Any) -> tuple[Any, int]:
    if isinstance(value, str):
        return join(value)
    if isinstance(value, list):
        items = [_mend(item) for item in value]
        return [item for item, _ in items], sum(n for _, n in items)
    if isinstance(value, dict):
        pairs = [(_mend(key), _mend(item)) for key, item in value.items()]
        return {key[0]: item[0] for key, item in pairs}, sum(k[1] + i[1] for k, i in pairs)
    return value, 0


def _refuse(constant: str) -> float:
    raise ValueError(f"{constant} is no JSON")


# Makes a backend's words fit for the journal: one clean, short line without keys.
#
# A word too many may go: these texts are read by the operator, to find out what failed.


HIDDEN = "***"
LONGEST = 300  # characters of the line
MOST_READ = 5_000  # characters that are looked at
PART = 6  # characters of a configured key that are hidden wherever they stand
SHORTEST = 4  # a shorter secret is in ordinary words

_LOWER = str.maketrans(ascii_uppercase, ascii_lowercase)  # keeps lengths
_INVISIBLE = regex.compile(r"[\p{Default_Ignorable_Code_Point}\p{Cf}]+")
# Keys of the presets (openai, openrouter, anthropic and deepseek: sk-, gemini: AIza, zhipu: hex and
# a point) and of what is often set beside them; and tokens without a prefix, which are long.
_KEYS = re.compile(
    r"""
    (?<=://)[^\s"'<>]+(?=@)                              # the user of an address
  | \b[\w.+-]+:[^\s@/"'<>]+(?=@)
  | (?<![^\W_])(?i:(?:api)?key|authorization|passw(?:or)?d|secret|token)["']?\s*[:=]\s*["']?
    (?:(?i:bearer|basic)\s+)?[^\s,;"']+
  | \b(?i:bearer|basic)\s+[^\s,;"']+
  | \b(?:sk|pk|rk|key|csk)[-_][-\w*.]{6,}
  | \b(?:gsk|hf|r8|fw|tgp|ghp|gho|github_pat|glpat|xai|nvapi|pplx|tvly|jina|dg|sess)[-_][-\w*.]{6,}
  | \b(?:xox[a-z]|xapp)(?:\.xox[a-z])?-[-\w*.]{4,}
  | \b(?:AIza|AKIA|ASIA|BSA|ya29\.|eyJ)[-\w*.]{6,}
  | \b(?=[A-Za-z]*[0-9])(?=[0-9]*[A-Za-z])[A-Za-z0-9]{32,}(?:\.\w+)?
    """,
    re.VERBOSE,
)


def redact(text: str, *secrets: str) -> str:
    """Return one short line of a backend's words without keys or parts of the secrets."""
    read = _INVISIBLE.sub("", clean(text[:MOST_READ]))
    line = " ".join(_KEYS.sub(HIDDEN, read).split())
    # Every stretch that is made of parts of the secrets, in capitals or not.
    lower, hidden = line.translate(_LOWER), set[int]()
    for size, parts in _parts(secrets).items():
        starts = (at for at in range(len(line)) if lower[at : at + size] in parts)
        hidden.update(at + i for at in starts for i in range(size))
    runs = groupby(range(len(line)), lambda at: at in hidden)
    line = "".join(HIDDEN if hides else "".join(line[at] for at in run) for hides, run in runs)
    return line if len(line) <= LONGEST else f"{line[: LONGEST - 1]}…"


@lru_cache(maxsize=64)
def _parts(secrets: tuple[str, ...]) -> dict[int, frozenset[str]]:
    """Return the parts to look for by their length: a short secret is one whole."""
    found: dict[int, set[str]] = {}
    for secret in (one.translate(_LOWER) for one in secrets if len(one) >= SHORTEST):
        size = min(PART, len(secret))
        parts = (secret[at : at + size] for at in range(len(secret) - size + 1))
        found.setdefault(size, set()).update(parts)
    return {size: frozenset(parts) for size, parts in found.items()}


REWORD = "reword the topic or choose another model"


_AGAIN = frozenset({408, 409, 425, 429})
_BROKE = frozenset({"insufficient_quota", "billing_hard_limit_reached", "budget_exceeded", "1113"})
_BUSY = "is overloaded"
_WORDS = {
    408: "timed out",
    409: _BUSY,
    425: _BUSY,
    429: "allows no more calls for now",
    503: _BUSY,
    504: "timed out",
    529: _BUSY,
}
_KINDS = {
    408: FaultKind.TIMEOUT,
    409: FaultKind.OVERLOADED,
    425: FaultKind.OVERLOADED,
    429: FaultKind.LIMITED,
    503: FaultKind.OVERLOADED,
    504: FaultKind.TIMEOUT,
    529: FaultKind.OVERLOADED,
}

# As OpenAI, Azure, OpenRouter, Alibaba Cloud and DeepSeek word and code it.
POLICY = re.compile(
    r"content[ _]policy|content[ _]filter|content management policy|usage polic|safety polic"
    r"|(?:was|were|been) flagged|data_inspection_failed|content exists risk",
    re.IGNORECASE,
)
# LiteLLM answers 400, 422 or 429 for a key's budget, and 400 for an unknown model or key; Gemini
# answers 400 for a key, OpenRouter and llama-cpp-python for a model.
_BUDGET = re.compile(r"crossed budget|budget has been exceeded|exceededbudget", re.IGNORECASE)
_BAD_KEY = re.compile(
    r"api key not valid|(?:invalid|incorrect) (?:api|proxy server) (?:key|token)"
    r"|authentication error",
    re.IGNORECASE,
)
_NO_MODEL = re.compile(
    r"invalid model name|is not a valid model id|the model `[^`]*` does not exist", re.IGNORECASE
)
# A prompt that leaves no room for its answer, as OpenAI, Anthropic, OpenRouter, vLLM, LM Studio,
# llama.cpp and llama-cpp-python word it.
_FULL = re.compile(
    r"context[ _](?:length|size|window|limit)|(?:prompt|input) is too long|too many input tokens",
    re.IGNORECASE,
)
_FULL_CODES = frozenset({"context_length_exceeded", "exceed_context_size_error"})
_TAKEN = (
    re.compile(
        r"context length is (?P<all>\d+) tokens.*?"
        r"\b(?P<read>\d+) (?:input tokens|in the messages|of text input)",
        re.DOTALL,
    ),
    re.compile(r"exceed context limit: (?P<read>\d+) \+ \d+ > (?P<all>\d+)"),
)
# A cap above what a model writes at most: OpenAI, Anthropic, DeepSeek, Groq.
_AT_MOST = re.compile(
    r"at most (\d+) completion tokens|> (\d+), which is the maximum allowed number of output tokens"
    r"|range of max_tokens is \[\d+, ?(\d+)\]|max_tokens` must be less than or equal to `?(\d+)"
)
TOO_LARGE = re.compile(
    r"too (?:large|high|big)|at most|exceed|(?:greater|less) than|maximum", re.IGNORECASE
)
LEAST_ROOM = 256  # tokens; fewer hold no answer
ROOM = (
    "replace the model by one with a longer context (--replace-model OLD=NEW), choose fewer "
    "rounds, or lower the token cap of the role (ROSTRUM_SAMPLING__DEBATER__MAX_TOKENS)"
)
CREDIT = "add credit to the account or choose another backend"
KEY = "check its key in ROSTRUM_BACKENDS"
MOVED = (
    "redirects are not followed, as they would take prompt and key along; set its BASE_URL in "
    "ROSTRUM_BACKENDS to the address that answers"
)
MODEL = "check ROSTRUM_MODELS, ROSTRUM_JURORS and the name of the model"


def status_fault(
    status: int, body: bytes, headers: Mapping[str, str], secrets: Sequence[str] = ()
) -> CallFault:
    """Classify a response with an error status; the secrets are taken out of its words."""
    pass  # dropped  # rehearsal models have no server

    message, codes = error_words(body)
    fault = classify(status, message, codes, headers)
    # Of a refused key, providers repeat parts.
    words = headers.get("location", "") if status < 400 else message
    said = "" if fault.kind is FaultKind.KEY else redact(words, *secrets)
    return replace(fault, status=status, said=said)


def classify(
    status: int, message: str, codes: Sequence[str], headers: Mapping[str, str]
) -> CallFault:
    """Classify an error by its status, and by the words and codes that providers use."""
    if 300 <= status < 400:
        what = f"redirects to another address ({status})"
        return CallFault(what, MOVED, Next.FINAL, kind=FaultKind.REDIRECTED)
    rejects = status in (400, 422)
    if status == 401 or (rejects and _BAD_KEY.search(message)):
        return CallFault(f"refused the key ({status})", KEY, Next.FINAL, kind=FaultKind.KEY)
    if status == 402 or not _BROKE.isdisjoint(codes) or _BUDGET.search(message):
        what = f"has no credit left ({status})"
        return CallFault(what, CREDIT, Next.FINAL, kind=FaultKind.CREDIT)
    if status in (400, 403, 422, 451) and POLICY.search(" ".join((message, *codes))):
        what = f"declined to answer ({status})"
        return CallFault(what, REWORD, Next.FINAL, refused=True, kind=FaultKind.DECLINED)
    if not _FULL_CODES.isdisjoint(codes) or (status in (400, 413, 422) and _FULL.search(message)):
        return full_fault(status)
    if status == 403:
        advice = "check that the key may use this model, or reword the topic"
        what = "forbids the call (403)"
        return CallFault(what, advice, Next.FINAL, kind=FaultKind.FORBIDDEN)
    if status == 404 or (rejects and ("model_not_found" in codes or _NO_MODEL.search(message))):
        what = f"does not know the model ({status})"
        return CallFault(what, MODEL, Next.FINAL, kind=FaultKind.UNKNOWN_MODEL)
    if status in _AGAIN or status >= 500:
        what = f"{_WORDS.get(status, 'failed')} ({status})"
        # Behind a gateway's timeout the model may have continued, and be billed.
        unbilled = status in (409, 425, 429, 503, 529)
        wait = retry_after(headers)
        kind = _KINDS.get(status, FaultKind.FAILED)
        return CallFault(what, cost=0.0 if unbilled else None, wait=wait, kind=kind)
    advice = "check the model's limits and the settings of this debate"
    what = f"refused the request ({status})"
    return CallFault(what, advice, Next.FINAL, kind=FaultKind.REJECTED)


def room_in(message: str, cap: int) -> int | None:
    """Return the token cap that a refusal leaves, below the one it refused; None if it has none.

    Newer vLLM counts a prompt only up to the limit ("at least"), so that half is tried then.
    """
    found = next((one for pattern in _TAKEN if (one := pattern.search(message))), None)
    if found is not None:
        room = int(found["all"]) - int(found["read"])
        room = min(room, cap // 2) if "at least" in message else room
    elif (at_most := _AT_MOST.search(message)) is not None:
        room = next(int(one) for one in at_most.groups() if one)
    else:
        return None
    return room if LEAST_ROOM <= room < cap else None


def full_fault(status: int | None = None) -> CallFault:
    """Return the fault of a prompt that leaves its answer no room; with the status of a refusal."""
    what = "has a context too short for this debate"
    what = what if status is None else f"{what} ({status})"
    return CallFault(what, ROOM, Next.FINAL, kind=FaultKind.CONTEXT)


def endless_fault(most: int) -> CallFault:
    """Classify a response that is too long to read; it may have been billed."""
    advice = "check what answers at the backend's address, or choose another model"
    what = f"answered with more than {most / 1e6:g} MB"
    return CallFault(what, advice, Next.FINAL, cost=None, kind=FaultKind.UNREADABLE)


def error_words(body: bytes) -> tuple[str, tuple[str, ...]]:
    """Return the message and codes of an error body, empty if missing."""
    try:
        parsed = orjson.loads(body)
    except orjson.JSONDecodeError:
        return "", ()
    return spoken(parsed)


def spoken(parsed: Any) -> tuple[str, tuple[str, ...]]:
    """Return the message and codes of a parsed error, however the backend nests them."""
    error = _error(parsed)
    if isinstance(error, str):
        return error, ()
    if not isinstance(error, dict):
        return "", ()
    message = _flat(error.get("message") or error.get("detail") or "")
    return message, tuple(str(error[name]) for name in ("code", "type") if error.get(name))


def _error(parsed: Any) -> Any:
    """Return the error in a body: itself or its “error”, of a list the first."""
    for _ in range(2):
        if isinstance(parsed, list):
            parsed = parsed[0] if parsed else {}
        if isinstance(parsed, dict):
            parsed = parsed.get("error", parsed)
    return parsed


def complaint(body: bytes) -> str:
    """Return the part of a refusal that may name a parameter, without our own text in it.

    That is its `param`, or else its message, the fields in a validator's `detail`, and the message
    of a provider behind a router.
    """
    try:
        parsed = orjson.loads(body)
    except orjson.JSONDecodeError:
        return body[:1000].decode("utf-8", "replace")
    error = _error(parsed)
    if not isinstance(error, dict):
        return str(error)
    if isinstance(error.get("param"), str) and error["param"]:
        return str(error["param"])
    metadata = error.get("metadata")
    raw = metadata.get("raw") if isinstance(metadata, dict) else None
    words = [error.get("message"), error.get("detail"), raw]
    return " ".join(_flat(word) for word in words if word)


def _flat(words: Any) -> str:
    if not isinstance(words, list):
        return str(words)
    entries = [entry for entry in words if isinstance(entry, dict)]
    return " ".join(f"{entry.get('loc')} {entry.get('msg')}" for entry in entries)


def retry_after(headers: Mapping[str, str], now: float | None = None) -> float | None:
    """Read the seconds of Retry-After (RFC 9110, 10.2.3); None without one."""
    milliseconds = _number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    # LiteLLM passes on its provider's.
    text = headers.get("retry-after") or headers.get("llm_provider-retry-after")
    seconds = _number(text)
    if seconds is not None or not text:
        return seconds
    try:
        when = parsedate_to_datetime(text)
    except (ValueError, OverflowError):  # of a year that no date has
        return None
    moment = datetime.now(UTC).timestamp() if now is None else now
    return max(0.0, when.timestamp() - moment)


def _number(text: str | None) -> float | None:
    try:
        value = float(text or "")
    except ValueError:
        return None
    return value if 0 <= value < 1e9 else None


def deadline_fault(seconds: float) -> CallFault:
    """Return the fault of a try that missed its backend's deadline."""
    advice = (
        "try again later, choose a faster model, raise the backend's TIMEOUT_S, or lower its "
        "MAX_CONCURRENCY if it answers one call at a time"
    )
    what = f"did not answer within {seconds:g} s"
    return CallFault(what, advice, cost=None, kind=FaultKind.TIMEOUT)


def unreachable_fault(address: str) -> CallFault:
    """Return the fault of a connection that could not be opened: nothing was sent."""
    return CallFault(
        f"could not be reached at {address}",
        "check that it runs and that its BASE_URL in ROSTRUM_BACKENDS is right",
        kind=FaultKind.UNREACHABLE,
    )


def proxy_fault(kind: str, name: str, scheme: str, host: str) -> CallFault:
    """Return the fault of a proxy that is not an HTTP proxy."""
    return CallFault(
        f"is behind the {kind} proxy of {name.upper()}_PROXY, and only HTTP proxies can be used",
        f"set {scheme.upper()}_PROXY to an HTTP proxy, or add {host} to NO_PROXY",
        Next.FINAL,
        kind=FaultKind.UNREACHABLE,
    )


def broken_fault() -> CallFault:
    """Return the fault of a connection that broke after the request was sent."""
    what = "broke the connection before the answer was complete"
    return CallFault(what, cost=None, kind=FaultKind.BROKEN)
