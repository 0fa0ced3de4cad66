"""The tables that only an operator asks for: what models were asked and answered, and settings."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import orjson

from engine.dataset.columns import (
    DEBATE,
    REAL,
    REPLACED,
    SPENT,
    SPLIT,
    TEXT,
    WHOLE,
    Column,
    Table,
    list_of,
    part_of,
)
from engine.dataset.debate_table import published_setup
from engine.dataset.entry import Entry
from engine.dataset.turn_tables import COST, WRITTEN
from engine.store import CallRecord
from engine.values.failures import failure_in
from engine.values.text import redact, redact_json

# Removes keys from texts that leave the installation: known secrets, and what looks like one.


KEY = "[key]"
_SHORTEST = 6  # characters of a secret that is looked for: shorter ones are in ordinary words
_LOOKS = re.compile(
    r"""
    \b(?: sk-[\w-]{16,} | hf_\w{16,} | gh[pousr]_\w{20,} | github_pat_\w{20,}
        | xox[a-z]-[\w-]{10,} | xapp-[\w-]{10,} | AKIA[A-Z0-9]{16} | AIza[\w-]{30,}
        | gsk_\w{20,} | eyJ[\w-]{10,}\.[\w-]{10,}\.[\w-]{10,}
    )
    | (?<=[Bb]earer\s)[\w.~+/-]{16,}=*
    | (?<=://)[^\s/:@]{1,100}:[^\s/@]{1,200}(?=@)
    """,
    re.VERBOSE,
)


def redact_keys(text: str, secrets: Iterable[str] = ()) -> str:
    """Replace each of the secrets, longest first, and everything that looks like a key."""
    for secret in sorted(set(secrets), key=len, reverse=True):
        if len(secret) >= _SHORTEST:
            text = text.replace(secret, KEY)
    return _LOOKS.sub(KEY, text)


class _Message(NamedTuple):
    role: str
    content: str


class _PromptTry(NamedTuple):
    """A try of a call, what it asked, and the secrets that must not leave."""

    call: CallRecord
    request: dict[str, Any]
    secrets: tuple[str, ...]

    @property
    def messages(self) -> list[_Message] | None:
        """The prompt; None if it was deleted."""
        found = self.request.get("messages")
        if found is None:
            return None
        return [_Message(one["role"], self.clean(one["content"])) for one in found]

    @property
    def reply(self) -> str | None:
        """The answer's text; None without one."""
        return self.clean(self.call.reply.text) or None if self.call.reply else None

    @property
    def error(self) -> str | None:
        """Why there is no answer: the backend's own words stay in the journal."""
        return failure_in(self.call.error) if self.call.error else None

    def clean(self, text: str) -> str:
        """Return a text without keys and mentions."""
        return redact(redact_keys(text, self.secrets))

    def sampled(self, name: str) -> Any:
        """Return a setting of sampling."""
        return self.request.get("sampling", {}).get(name)


def _asked(entry: Entry) -> Iterator[_PromptTry]:
    for call in entry.record.calls:
        request = orjson.loads(call.request or b"{}")
        yield _PromptTry(call, request if isinstance(request, dict) else {}, entry.secrets)


PROMPTS = Table(
    "prompts",
    "a try of a model call with its prompt and reply; only with `--prompts`",
    _asked,
    (
        DEBATE,
        SPLIT,
        REPLACED,
        Column("step", TEXT, "the call's name in its debate, as in `calls`", "call.step"),
        Column("attempt", WHOLE, "the try's number, from 1", "call.attempt"),
        Column("model_asked", TEXT, "the requested `backend/model`", "call.model"),
        *part_of(
            "call.reply",
            Column("model_answered", TEXT, "the model that answered; null without an answer",
                   "model", "backend"),
            Column("finish", TEXT,
                   "why it stopped: stop, length or content_filter; null without an answer",
                   "finish", "backend"),
        ),
        list_of(
            "messages",
            (
                Column("role", TEXT, "`system`, `user` or `assistant`"),
                Column("content", TEXT, "the message; keys and mentions removed"),
            ),
            "the prompt; null if it was deleted",
            lambda asked: asked.messages,
        ),
        Column("reply", TEXT, "the reply; keys and mentions removed; null without one, or if it "
               "was deleted", maker="model"),
        Column("error", TEXT, "the kind of failure and its status, such as `overloaded (503)`; "
               "null with an answer"),
        Column("temperature", REAL, "the requested temperature; null if it was deleted or left to "
               "the backend", lambda asked: asked.sampled("temperature")),
        Column("max_tokens", WHOLE, "the requested limit; null if it was deleted or there is none",
               lambda asked: asked.sampled("max_tokens"), unit="tokens"),
        Column("schema", TEXT, "the requested answer's schema; null for plain text",
               lambda asked: asked.request.get("schema")),
        *part_of("call.reply", *SPENT[:2], WRITTEN, *SPENT[2:-1]),
        *part_of("call", COST,
                 Column("prompt_hash", TEXT, "SHA-256 of the prompt's messages")),
    ),
)  # fmt: skip


# The table of settings: what each debate was held under, for an archive.


# Not `prices`, which name models that took no part, what was learnt of jurors elsewhere (`history`,
# `fit`), nor what people wrote.
_FROZEN: Any = dict.fromkeys(
    ("format_version", "templates", "names", "sampling", "limits", "seed", "cap_usd",
     "chars_per_word", "reply_chars", "replaced", "called", "menu", "retrieval", "account_days",
     "member_days"),
    True,
) | {
    "panel": {"roster", "recusal_failed", "first_order", "slope", "correlation", "mode", "audit",
              "rubric", "blind", "criteria", "wave", "stake"},
}  # fmt: skip
_WRITTEN = {"topic", "conditions", "stance_a", "stance_b", "sources"}


def _settings(entry: Entry) -> str:
    setup = published_setup(entry.record)
    frozen = setup.model_dump(mode="json", include=_FROZEN)
    frozen["request"] = setup.request.model_dump(mode="json", exclude=_WRITTEN)
    text = orjson.dumps(frozen, option=orjson.OPT_SORT_KEYS).decode()
    return redact_keys(redact_json(text), entry.secrets)


SETTINGS = Table(
    "settings",
    "the settings that a debate was frozen with; only with `--archive`",
    lambda entry: (entry,),
    (
        DEBATE,
        SPLIT,
        REPLACED,
        Column("templates", TEXT, "SHA-256 of the texts that prompts were made from",
               "debate.setup.templates"),
        Column("settings", TEXT, "options, panel, sampling, limits and seed, as JSON; "
               "without what people wrote, and without jurors that were not asked", _settings),
    ),
)  # fmt: skip
