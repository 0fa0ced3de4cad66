"""Backends: OpenAI-compatible endpoints, and presets of common providers."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, Literal, Self
from urllib.parse import urlsplit

from pydantic import Field, SecretStr

from adapters.models import LM_STUDIO, OLLAMA, OPENAI, BackendSettings, ClientName, JsonForm
from engine.values.debate import REHEARSAL, RETRIEVAL, Value
from engine.values.errors import SettingsError
from engine.values.options import fold, hint
from engine.values.ports import Call, ChatMessage

# Which parameters a model accepts, learned from its refusals, and the resulting request.


# Marks in a prompt up to which a provider caches it, for those that cache nothing unmarked.
#
# `{"cache_control": {"type": "ephemeral"}}` on a text part is Anthropic's. OpenRouter, LiteLLM and
# other gateways take it in chat completions:
# openrouter.ai/docs/guides/best-practices/prompt-caching,
# docs.litellm.ai/docs/completion/prompt_caching. A later prompt finds what was marked if it has the
# same parts up to there, and a mark of its own at most 20 parts on:
# platform.claude.com/docs/en/build-with-claude/prompt-caching.


MOST = 4  # a request with more is refused
EPHEMERAL = {"type": "ephemeral"}


def plain(messages: Sequence[ChatMessage]) -> list[dict[str, Any]]:
    """Return messages without marks."""
    return [{"role": message.role, "content": message.content} for message in messages]


def places(messages: Sequence[ChatMessage]) -> tuple[tuple[int, int], ...]:
    """Return where a prompt is marked: the first place that is kept, and the last ones.

    A place is a message by its index, and an offset in its text.
    """
    kept = [(index, offset) for index, message in enumerate(messages) for offset in message.kept]
    return tuple(kept if len(kept) <= MOST else (kept[0], *kept[1 - MOST :]))


def mark(messages: Sequence[ChatMessage]) -> list[dict[str, Any]]:
    """Return messages with marks; a text is cut at every place that is kept, marked or not.

    So its parts stay the same in later prompts, whose marks stand elsewhere.
    """
    marked = frozenset(places(messages))
    written = plain(messages)
    for index, message in enumerate(messages):
        if message.kept:
            written[index]["content"] = list(_parts(index, message, marked))
    return written


def _parts(
    index: int, message: ChatMessage, marked: frozenset[tuple[int, int]]
) -> Iterator[dict[str, Any]]:
    begin = 0
    for end in dict.fromkeys((*message.kept, len(message.content))):
        text: dict[str, Any] = {"type": "text", "text": message.content[begin:end]}
        if (index, end) in marked:
            text["cache_control"] = EPHEMERAL
        if text["text"].strip():  # an empty part is refused
            yield text
        begin = end


CapField = Literal["max_tokens", "max_completion_tokens"]


class Rung(StrEnum):
    """A step of the JSON ladder, from the strictest down."""

    SCHEMA = "json_schema"
    OBJECT = "json_object"
    PROMPT = "prompt"


@dataclass(frozen=True, slots=True)
class Habits:
    """Which parameters a model takes; `rungs` are the JSON rungs still worth trying.

    `counted`: a stream may be asked for its usage. `marks`: messages say what to cache.
    `session`: the debate may be named.
    """

    cap: CapField = "max_tokens"
    swapped: bool = False
    temperature: bool = True
    rungs: tuple[Rung, ...] = (Rung.SCHEMA, Rung.OBJECT, Rung.PROMPT)
    streams: bool = True
    counted: bool = True
    marks: bool = False
    session: bool = True

    def below(self, complaint: str) -> Habits | None:
        """Return the habits a JSON rung lower; None if a refusal's text does not name the form."""
        if len(self.rungs) < 2 or not _FORM.search(complaint):
            return None
        return replace(self, rungs=self.rungs[1:])

    def without(self, complaint: str) -> Habits | None:
        """Return the habits after a refusal; None if its text names none of our parameters."""
        text = complaint.lower()
        if not self.swapped and self.cap in text:
            other: CapField = "max_completion_tokens" if self.cap == "max_tokens" else "max_tokens"
            return replace(self, cap=other, swapped=True)
        if self.temperature and "temperature" in text:
            return replace(self, temperature=False)
        if self.marks and _MARKING.search(text):
            return replace(self, marks=False)
        if self.session and _NAMING.search(text):
            return replace(self, session=False)
        if self.counted and _COUNTING.search(text):
            return replace(self, counted=False)
        if self.streams and _STREAMING.search(text):
            return replace(self, streams=False)
        return None

    def rung(self, call: Call) -> Rung:
        """Return the rung for a call: `json_object` needs a prompt that says “json”."""
        for rung in self.rungs:
            if rung is not Rung.OBJECT or any(
                "json" in one.content.lower() for one in call.messages
            ):
                return rung
        return Rung.PROMPT


_COUNTING = re.compile(r"stream_options|include_usage")
_STREAMING = re.compile(r"\bstream(?:ing|ed)?\b")  # not "upstream"
# A server refuses the mark itself, or a message that is a list of parts instead of a text.
_MARKING = re.compile(r"cache_control|\bcontent\b|\barray\b|\blist\b")
_NAMING = re.compile(r"session_id|prompt_cache_key")
# A server refuses the field, its kind, the schema in it or the grammar that it makes of that.
_FORM = re.compile(
    r"response_format|json[ _](?:schema|object)|structured[ _]output|grammar|guided[ _]"
    r"|failed to generate json",
    re.IGNORECASE,
)


def streams(call: Call, habits: Habits) -> bool:
    """Return whether to request a stream: there is an audience, and the model supports it."""
    return call.on_text is not None and habits.streams


def request_body(call: Call, habits: Habits, cap: int) -> dict[str, Any]:
    """Return a chat completion's request body for this model; `cap` is in tokens."""
    sampling, own = call.sampling, call.model.configuration
    body: dict[str, Any] = {
        **(sampling.extra or {}),
        "model": call.model.name,
        "messages": mark(call.messages) if habits.marks else plain(call.messages),
        habits.cap: cap,
    }
    if habits.temperature or (own and own.temperature is not None):
        body["temperature"] = sampling.temperature
    if sampling.top_p is not None:
        body["top_p"] = sampling.top_p
    if sampling.effort is not None:
        body["reasoning_effort"] = sampling.effort
    if streams(call, habits):
        body["stream"] = True
        if habits.counted:
            body["stream_options"] = {"include_usage": True}
    if call.schema is not None:
        rung = habits.rung(call)
        if rung is Rung.SCHEMA:
            body["response_format"] = {
                "type": "json_schema",
                "json_schema": {
                    "name": call.schema.name,
                    "schema": call.schema.json_schema,
                    "strict": call.schema.strict,
                },
            }
        elif rung is Rung.OBJECT:
            body["response_format"] = {"type": "json_object"}
    return body


@dataclass(frozen=True, slots=True)
class _Preset:
    """A provider's address and habits.

    `local`: it costs nothing. `key`: a key is required. `prices`: the page that lists prices.
    `session`: the field that sends a debate's calls to the same prompt cache; `costs`: `usage` can
    include the cost.
    `marks`: `cache_control` in a message reaches models that need it to cache. `gateway`: each of
    its models has a server of its own. `habits` is what is tried first.
    """

    base_url: str
    local: bool = False
    key: bool = True
    prices: str = ""
    session: str = ""
    costs: bool = False
    marks: bool = False
    gateway: bool = False
    max_concurrency: int = 256
    timeout_s: float = 300.0
    habits: Habits = field(default_factory=Habits)


JSON_FORMS: tuple[JsonForm, ...] = ("schema", "object", "prompt")  # as the rungs of the ladder
AT_ONCE, PATIENCE_S = 4, 600.0  # calls and seconds, of a server on one's own machine

_OBJECT_FIRST = Habits(rungs=(Rung.OBJECT, Rung.PROMPT))
_PROMPT_ONLY = Habits(rungs=(Rung.PROMPT,))
_NO_OBJECT = Habits(rungs=(Rung.SCHEMA, Rung.PROMPT))

PRESETS: dict[str, _Preset] = {
    # Its caches are found by the first 256 tokens, which all debates of a format share, and this
    # key; of more than some 15 requests a minute with the same both, some miss theirs:
    # developers.openai.com/api/docs/guides/prompt-caching.
    "openai": _Preset(
        OPENAI,
        session="prompt_cache_key",
        habits=Habits(cap="max_completion_tokens"),
    ),
    "openrouter": _Preset(
        "https://openrouter.ai/api/v1",
        prices="/models",
        session="session_id",
        costs=True,
        marks=True,
        gateway=True,
    ),
    "anthropic": _Preset("https://api.anthropic.com/v1", habits=_PROMPT_ONLY),
    "gemini": _Preset("https://generativelanguage.googleapis.com/v1beta/openai"),
    "deepseek": _Preset("https://api.deepseek.com/v1", habits=_OBJECT_FIRST),
    "zhipu": _Preset("https://open.bigmodel.cn/api/paas/v4", habits=_OBJECT_FIRST),
    "ollama": _Preset(
        OLLAMA,
        local=True,
        key=False,
        max_concurrency=AT_ONCE,
        timeout_s=PATIENCE_S,
    ),
    "lmstudio": _Preset(
        LM_STUDIO,
        local=True,
        key=False,
        max_concurrency=AT_ONCE,
        timeout_s=PATIENCE_S,
        habits=_NO_OBJECT,
    ),
    "litellm": _Preset(
        "http://127.0.0.1:4000/v1", key=False, prices="/model/info", marks=True, gateway=True
    ),
    "vllm": _Preset("http://127.0.0.1:8000/v1", local=True, key=False, timeout_s=PATIENCE_S),
}

_CUSTOM = _Preset("", key=False, prices="/models", marks=True)


class Backend(BackendSettings):
    """A named endpoint, with all values of its preset filled in."""

    name: str
    base_url: str
    max_concurrency: int = Field(256, ge=1)
    timeout_s: float = Field(300.0, gt=0)
    local: bool = False
    client: ClientName = "rostrum"

    @classmethod
    def of(cls, name: str, **given: Any) -> Self:
        """Fill in missing values from a preset; others are as settings have them.

        Raises SettingsError.
        """
        written = {key: value for key, value in given.items() if value is not None}
        preset = fold(written.get("preset") or None)
        name, known = _checked_name(name), _find_preset(name, preset)
        if preset is None and written.get("local"):  # a server of one's own
            known = replace(known, max_concurrency=AT_ONCE, timeout_s=PATIENCE_S)
        checked = {
            "preset": preset,
            "base_url": _checked_address(name, written.get("base_url") or known.base_url),
            "api_key": _checked_key(name, known, written.get("api_key")),
            "json": written.pop("form", None),
        }
        usual = {
            "max_concurrency": known.max_concurrency,
            "timeout_s": known.timeout_s,
            "local": known.local,
        }
        return cls(name=name, **(usual | written | checked))

    @property
    def known(self) -> _Preset:
        """The provider's preset; a default one for other endpoints."""
        return PRESETS.get(self.preset or "", _CUSTOM)

    def habits(self, model: str) -> Habits:
        """Return what is tried first with a model.

        Only Claude models need marks, and only gateways take them: on its OpenAI-compatible
        endpoint Anthropic has no prompt caching (platform.claude.com/docs/en/api/openai-sdk).
        """
        marks = self.cache_marks
        if marks is None:
            marks = self.known.marks and not self.local and "claude" in model.lower()
        rungs = self.known.habits.rungs
        if self.form is not None:
            rungs = tuple(Rung)[list(JSON_FORMS).index(self.form) :]
        return replace(self.known.habits, marks=marks, rungs=rungs)

    @property
    def secret(self) -> str:
        """The key to send; empty for none."""
        return self.api_key.get_secret_value() if self.api_key else ""

    @property
    def secrets(self) -> tuple[str, ...]:
        """What is sent to it and must not be repeated: its key, and the headers that the SDK adds.

        The SDK reads these from a variable of its own, one `Name: value` a line.
        """
        lines = os.environ.get("OPENAI_CUSTOM_HEADERS", "").splitlines()
        added = [line.partition(":")[2].strip() for line in lines if self.client == "openai"]
        return tuple(filter(None, (self.secret, *added)))


class SearchEndpoint(Value):
    """Where to search: an address, its key, and the model to ask there (none: a plain search)."""

    url: str
    key: SecretStr | None = None
    model: str = ""
    timeout_s: float = 20.0

    def backend(self, base_url: str) -> Backend:
        """Return it as a backend."""
        return Backend.of(RETRIEVAL, base_url=base_url, api_key=self.key, timeout_s=self.timeout_s)


def faults_of(
    name: str, preset: str | None, base_url: str | None, api_key: SecretStr | None
) -> list[str]:
    """Return everything that is wrong with a backend's settings."""
    faults, habits = [], _CUSTOM
    try:
        habits = _find_preset(name, fold(preset or None))
    except SettingsError as error:
        faults, base_url = [str(error)], base_url or OPENAI
    checks: tuple[Callable[[], object], ...] = (
        lambda: _checked_name(name),
        lambda: _checked_address(name, base_url or habits.base_url),
        lambda: _checked_key(name, habits, api_key),
    )
    for check in checks:
        try:
            check()
        except SettingsError as error:
            faults.append(str(error))
    return faults


def _checked_name(name: str) -> str:
    clean = name.strip().lower()
    if not clean or "/" in clean or "#" in clean:
        raise SettingsError(
            f"ROSTRUM_BACKENDS names a backend “{name}”; a name is not empty and has no / or #."
        )
    if clean == REHEARSAL:
        raise SettingsError(
            "ROSTRUM_BACKENDS redefines “rehearsal”, which is built in; choose another name."
        )
    return clean


def _find_preset(name: str, preset: str | None) -> _Preset:
    if preset is None:
        return _CUSTOM
    if preset not in PRESETS:
        near = hint(preset, PRESETS) or f"known are {', '.join(PRESETS)}."
        raise SettingsError(f"Backend “{name}” has the unknown preset “{preset}”; {near}")
    return PRESETS[preset]


def _checked_address(name: str, base_url: str) -> str:
    variable = f"ROSTRUM_BACKENDS__{name.upper()}__BASE_URL"
    if not base_url.strip():
        raise SettingsError(f"Backend “{name}” has no address; set {variable} or a preset.")
    address = base_url.strip().rstrip("/")
    try:
        parts = urlsplit(address)
        if parts.username is not None:
            raise SettingsError(
                f"{variable} holds a user name or password; leave them out and set "
                f"ROSTRUM_BACKENDS__{name.upper()}__API_KEY."
            )
        host = (parts.hostname or "").encode("idna")  # as in a DNS lookup
        usable = parts.scheme in ("http", "https") and bool(host) and parts.port != 0
    except ValueError:
        usable = False
    if not usable or any(c.isspace() for c in address):
        raise SettingsError(
            f"{variable} is not an http or https address; write one like http://127.0.0.1:8000/v1."
        )
    return address


def _checked_key(name: str, preset: _Preset, key: SecretStr | None) -> SecretStr | None:
    value = key.get_secret_value().strip() if key else ""
    if not value:
        if preset.key:
            raise SettingsError(
                f"Backend “{name}” has no key; set ROSTRUM_BACKENDS__{name.upper()}__API_KEY."
            )
        return None
    if not value.isascii() or any(c.isspace() for c in value):
        raise SettingsError(
            f"ROSTRUM_BACKENDS__{name.upper()}__API_KEY holds characters that no key has; "
            "copy the key again."
        )
    return SecretStr(value)
