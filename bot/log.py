"""Logging: one line per event, to stderr, as text or JSON, in UTC.

Everything that uses the standard library's `logging` (the engine, aiohttp, SQLAlchemy, Alembic,
Python's own warnings) goes the same way, so that every line is redacted.
"""

from __future__ import annotations

import json
import logging
import re
import sys
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager
from functools import partial
from math import isfinite
from typing import Any, TextIO
from urllib.parse import quote

import structlog
from structlog.typing import EventDict, Processor

from bot.settings.settings import LogSettings
from engine.values.errors import RostrumError

REDACTED = "[redacted]"

# Libraries that log too much at "info".
_TALKATIVE = (
    "aiohttp.access",
    "aiosqlite",
    "alembic",
    "asyncio",
    "discord",
    "httpx2",
    "httpcore2",
    "openai",
    "slack_bolt",
    "slack_sdk",
    "sqlalchemy",
)

_SECRET_NAME = re.compile(
    r"(^|[-_.])(token|key|secret|password|passwd|authorization|cookie)$", re.IGNORECASE
)
# Controls, line separators, direction overrides, and lone surrogates.
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
# Slack's tokens: those of workspaces installed by OAuth are in no setting.
_TOKENS = r"\bxox[a-z](?:\.xox[a-z])?-[\w-]{8,}|\bxapp-[\w-]{8,}"
_SHORTEST_SECRET = 4  # anything shorter occurs in ordinary words


def configure(
    settings: LogSettings, secrets: Iterable[str] = (), stream: TextIO | None = None
) -> None:
    """Send every log line to `stream` (stderr) without `secrets`; may be called again."""
    handler = logging.StreamHandler(stream or sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=[*_described(), structlog.stdlib.ExtraAdder()],
            processors=[
                structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                structlog.processors.StackInfoRenderer(),
                _say_what_is_known,
                structlog.processors.format_exc_info,
                redactor(secrets),
                structlog.processors.JSONRenderer() if settings.format == "json" else _as_text,
            ],
        )
    )
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(settings.level.upper())
    quiet = logging.INFO if settings.level == "debug" else logging.WARNING
    for name in _TALKATIVE:
        logging.getLogger(name).setLevel(max(quiet, root.level))
    logging.captureWarnings(True)
    structlog.configure(
        processors=[
            *_described(),
            structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
        ],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.make_filtering_bound_logger(settings.level),
    )


def about(debate: str) -> AbstractContextManager[None]:
    """Add a debate's id to every log line of the body, in this task and its children."""
    return structlog.contextvars.bound_contextvars(debate=debate)


def _described() -> list[Processor]:
    return [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.processors.TimeStamper(fmt="iso", utc=True, key="time"),
    ]


def _say_what_is_known(_: Any, __: str, event: EventDict) -> EventDict:
    """Log an error of ours as its sentence, without a traceback, even if a library logs it."""
    given = event.get("exc_info")
    if isinstance(given, tuple) and isinstance(given[1], RostrumError):
        del event["exc_info"]
        event.setdefault("why", str(given[1]))
    return event


# --- redaction -------------------------------------------------------------------------


def redactor(secrets: Iterable[str]) -> Processor:
    """Return a processor that hides known secrets, and values with secret-like names."""
    long_enough = {secret for secret in secrets if len(secret) >= _SHORTEST_SECRET}
    forms = {f for s in long_enough for f in (s, quote(s, safe=""), repr(s)[1:-1])}
    # The longest first, as one secret may begin with another.
    known = map(re.escape, sorted(forms, key=len, reverse=True))
    hide = partial(re.compile("|".join([*known, _TOKENS])).sub, REDACTED)

    def redact(_: Any, __: str, event: EventDict) -> EventDict:
        return {hide(str(key)): _redacted(str(key), value, hide) for key, value in event.items()}

    return redact


def _redacted(name: str, value: Any, hide: Callable[[str], str]) -> Any:
    if value is None or isinstance(value, bool):
        return value
    if _SECRET_NAME.search(name):
        return REDACTED
    if isinstance(value, str):
        return hide(value)
    if isinstance(value, int) or (isinstance(value, float) and isfinite(value)):
        return value
    if isinstance(value, Mapping):
        return {hide(str(key)): _redacted(str(key), inner, hide) for key, inner in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_redacted(name, inner, hide) for inner in value]
    return hide(value.decode("utf-8", "replace") if isinstance(value, bytes) else repr(value))


# --- lines -----------------------------------------------------------------------------


def _as_text(_: Any, __: str, event: EventDict) -> str:
    rest = dict(event)
    head = [rest.pop("time"), rest.pop("level").upper().ljust(7), rest.pop("event")]
    logger = rest.pop("logger", None)
    pairs = [f"{key}={_quoted(value)}" for key, value in rest.items()]
    source = [f"({logger})"] if logger else []
    return escape_controls(" ".join([*head, *source, *pairs]))


def _quoted(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    plain = text and not any(c.isspace() or c in "\"'=" for c in text)
    return text if plain else json.dumps(text, ensure_ascii=False)


def escape_controls(text: str) -> str:
    """Escape control characters, so that an event stays one harmless line."""
    return _CONTROL.sub(lambda found: found[0].encode("unicode_escape").decode("ascii"), text)
