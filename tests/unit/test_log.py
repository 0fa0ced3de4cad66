"""The log: one line an event, its debate on it, no secret in it."""

import asyncio
import io
import json
import logging
import warnings
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
import structlog
from hypothesis import given, strategies as st

from adapters.models.attempts import RetryPolicy
from adapters.models.rehearsal import RehearsalModels
from bot.log import about, configure, escape_controls
from bot.settings.settings import LogSettings
from engine.values.errors import StoreError
from engine.values.ports import Call, Reply
from engine.values.protocols import AttemptLog
from tests.doubles.hall import Hall

SECRET = "s3cr3t-t0ken/ü"
QUOTED = "qu'ot\\ed\"key"

Reader = Callable[[], list[str]]


@pytest.fixture(autouse=True)
def _undo() -> Iterator[None]:
    root = logging.getLogger()
    handlers, level = root.handlers, root.level
    yield
    root.handlers = handlers
    root.setLevel(level)
    logging.captureWarnings(False)
    structlog.reset_defaults()


def start(**settings: str) -> Reader:
    stream = io.StringIO()
    configure(LogSettings.model_validate(settings), [SECRET, QUOTED, "abc"], stream)
    return lambda: stream.getvalue().splitlines()


def as_json(read: Reader) -> list[dict[str, Any]]:
    return [json.loads(line) for line in read()]


@pytest.mark.parametrize("format", ["text", "json"])
def test_every_event_is_one_line(format: str) -> None:
    read = start(format=format)
    log = structlog.get_logger("bot")
    log.info("two\nlines", text="a\r\nb\x1b[31m\u2028c\u202e")
    try:
        raise ValueError("no\ngood")
    except ValueError:
        log.exception("failed")
        logging.getLogger("engine").exception("also failed")
    lines = read()
    assert len(lines) == 3
    assert all(line.isprintable() for line in lines)
    assert sum("ValueError" in line for line in lines) == 2


def test_a_line_reads_from_time_to_details_and_in_json_carries_level_logger_and_values() -> None:
    read = start()
    structlog.get_logger("bot.app").warning("Backend is slow", backend="local", note="a b", n=3)
    time, rest = read()[0].split(" ", 1)
    assert time.endswith("Z")
    assert datetime.fromisoformat(time).tzinfo == UTC
    assert rest == 'WARNING Backend is slow (bot.app) backend=local note="a b" n=3'
    read = start(format="json")
    logging.getLogger("engine.run.run").error("turn %s failed", 3, extra={"step": "turn/opening/A"})
    (event,) = as_json(read)
    told = {"level": "error", "logger": "engine.run.run", "step": "turn/opening/A"}
    assert event.items() >= told.items()
    assert event["event"] == "turn 3 failed"


async def test_a_debates_id_is_on_its_own_lines_only() -> None:
    read = start(format="json")

    async def think(debate: str) -> None:
        with about(debate):
            await asyncio.sleep(0)
            logging.getLogger("engine").info(debate)
            structlog.get_logger().info(debate)

    await asyncio.gather(think("01A"), think("01B"))
    structlog.get_logger().info("outside")
    events = as_json(read)
    assert len(events) == 5
    assert all(e.get("debate") == (None if e["event"] == "outside" else e["event"]) for e in events)


class TalkativeModels(RehearsalModels):
    """Models whose library has something to say of each call, and knows no debates."""

    async def complete(self, call: Call, log: AttemptLog) -> Reply:
        logging.getLogger("aiohttp").warning("a slow connection")
        return await super().complete(call, log)


async def test_what_a_library_says_while_a_debate_runs_names_the_debate(database_url: str) -> None:
    read = start(format="json")
    async with Hall(database_url).open(TalkativeModels(RetryPolicy())) as session:
        debates = [await session.start(), await session.start()]
        for debate in debates:
            await session.voting(debate)
    said = [event["debate"] for event in as_json(read) if event["event"] == "a slow connection"]
    assert {debate: said.count(debate) >= 8 for debate in said} == dict.fromkeys(debates, True)


def test_no_secret_is_logged_whatever_carries_it() -> None:
    read = start(format="json")
    log = structlog.get_logger("bot")
    log.info("quoted", error=KeyError(QUOTED))
    log.info(f"calling with {SECRET}", url="http://x/?k=s3cr3t-t0ken%2F%C3%BC", raw=SECRET.encode())
    log.info("nested", body={"list": [{SECRET: (SECRET,)}]}, error=ValueError(SECRET))
    log.info(
        "named", api_key="k1", headers={"Authorization": "k2", "X-Api-Key": "k3"}, token=90210_90210
    )
    logging.getLogger("aiohttp").warning("sent %s", SECRET)
    try:
        raise RuntimeError(SECRET)
    except RuntimeError:
        log.exception("failed")
    text = "\n".join(read())
    for word in (SECRET, "s3cr3t", "qu'ot", "ed\\", '"k1"', '"k2"', '"k3"', "9021090210"):
        assert word not in text
    assert "[redacted]" in text


def test_counts_of_tokens_are_no_secrets_and_tokens_of_slack_are_hidden_by_their_form() -> None:
    read = start(format="json", level="debug")
    structlog.get_logger().info("used abc", tokens_in=5, max_tokens=7, monkey="m", token=None)
    logging.getLogger("slack_sdk.web").debug("body: {'access_token': 'xoxb-1-canary'}")
    logging.getLogger("slack_sdk.web").warning("refused: xoxe.xoxp-1-canary, xapp-1-canary")
    structlog.get_logger("bot").info("told", why="invalid xoxb-12-canary-x", place="xoxo")
    used, warned, told = as_json(read)
    assert used["event"] == "used abc"  # short values hide nothing
    assert (used["tokens_in"], used["max_tokens"]) == (5, 7)
    assert (used["monkey"], used["token"]) == ("m", None)
    assert "canary" not in str((warned, told))
    assert told["place"] == "xoxo"


def test_the_level_holds_for_both_kinds_of_logger_and_libraries_stay_quiet() -> None:
    read = start(level="info")
    structlog.get_logger("bot").debug("hidden")
    logging.getLogger("engine").debug("hidden")
    logging.getLogger("sqlalchemy.engine").info("SELECT 1")
    logging.getLogger("aiohttp.access").info("GET /")
    logging.getLogger("alembic.runtime.migration").info("Running")
    logging.getLogger("engine").info("upgrade")
    logging.getLogger("aiohttp.access").warning("odd")
    assert ["upgrade" in line or "odd" in line for line in read()] == [True, True]


def test_a_librarys_error_that_is_a_sentence_of_ours_has_no_traceback() -> None:
    read = start(format="json")
    for error in (StoreError("The database is away. Try again."), ValueError("a defect")):
        try:
            raise error
        except Exception as caught:
            logging.getLogger("procrastinate.utils").exception("listener error: %r", caught)
    known, defect = as_json(read)
    assert known["why"] == "The database is away. Try again."
    assert "exception" not in known
    assert defect["exception"].startswith("Traceback")


def test_configuring_again_replaces_the_first_and_warnings_of_python_are_logged(
    capsys: pytest.CaptureFixture[str],
) -> None:
    read = start()
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        logging.captureWarnings(False)
        logging.captureWarnings(True)
        warnings.warn("old way", stacklevel=1)
    assert "old way" in read()[0]
    first = start()
    configure(LogSettings(format="json"))
    structlog.get_logger().info("once")
    assert first() == []
    captured = capsys.readouterr()
    assert captured.out == ""
    assert json.loads(captured.err)["event"] == "once"


@given(st.text(alphabet=st.characters()))
def test_escaped_text_is_one_line_and_readable_text_is_untouched(text: str) -> None:
    escaped = escape_controls(text)
    assert len(escaped.splitlines()) <= 1
    escaped.encode("utf-8")
    if text.isprintable():
        assert escaped == text
