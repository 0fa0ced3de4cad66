"""What the options of `rostrum debate` and `rostrum demo` order."""

from __future__ import annotations

import os
import re
import stat
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import JsonValue

from adapters.terminal.texts import parse_rounds, parse_votes
from bot import sentences
from bot.settings.settings import Settings
from engine.formats import find_format
from engine.formats.format import read_own
from engine.run.order import ME, ONLY_ONE, Invited, Order
from engine.tally.questions import round_options, vote_options
from engine.values.debate import ConfidenceScale, Model
from engine.values.errors import UsageError
from engine.values.options import STANCES, Options, read_options
from engine.values.text import headline

PLATFORM = COMMUNITY = "terminal"
HOST = "host"
QUOTES = ('""', "''", "“”", "„“", "«»")
LONGEST_TURN = 1440.0  # minutes, as no one waits for the person at a terminal
_SEED = re.compile(r"[+-]?[0-9]{1,100}")
ASKING_MINUTES = 1.0  # at most, with --ask alone


def order_of(given: Mapping[str, Any]) -> Order:
    """Parse the command's options. Raises UsageError naming the invalid one."""
    said = {name: given[name] for name in Options.model_fields if given.get(name) is not None}
    sides = {"A": given.get("a"), "B": given.get("b"), **_pairs("seat", given)}
    own = [side for side, text in sides.items() if (text or "").strip().casefold() == ME]
    if len(own) > 1:
        raise UsageError(ONLY_ONE)
    guest = Invited(side=own[0], user=HOST) if own else None
    if guest is not None:
        try:
            kind = os.fstat(sys.stdin.fileno()).st_mode
        except (OSError, ValueError):
            raise UsageError(sentences.NO_WRITER) from None
        if not (sys.stdin.isatty() or stat.S_ISFIFO(kind) or stat.S_ISSOCK(kind)):
            raise UsageError(sentences.NO_WRITER)
        del sides[guest.side]
        said.setdefault("turn_minutes", LONGEST_TURN)
    text = given.get("seed")
    if text is not None and not _SEED.fullmatch(text.strip()):
        raise UsageError(f"--seed is “{headline(text, 40)}”; write a whole number.")
    return Order(
        platform=PLATFORM,
        community=COMMUNITY,
        place="",
        user=HOST,
        guest=guest,
        models={side: _roster(text)[0] for side, text in sides.items() if (text or "").strip()},
        jurors=_roster(given.get("jurors")),
        judges=_roster(given.get("judges")),
        seed=None if text is None else int(text),
        **read_options(said, spelled_option).given()
        | {"options": {name: _from_file(value) for name, value in _pairs("option", given).items()}},
    )


def given_beside(given: Mapping[str, Any], known: frozenset[str]) -> Iterator[str]:
    """Yield the options that are given and not among the known ones."""
    for name, value in given.items():
        plain = value is False and name not in Options.model_fields  # a flag that is off
        unset = value is None or plain or value in ([], ())
        if not unset and name not in known:
            yield name


def spelled_option(name: str) -> str:
    spelled = {name: f"--{said}" for said, name in STANCES.items()} | {"topic": "The topic"}
    return spelled.get(name, f"--{name.replace('_', '-')}")


def with_people(
    order: Order,
    moves: Sequence[tuple[str, str]] | None,
    ahead: str | None,
    sure: str | None,
    questions: Sequence[str] = (),
) -> Order:
    """Return the order of a debate that asks what people's answers were given for."""
    update: dict[str, object] = {"stance": moves is not None or None}
    update |= {"round_votes": True} if ahead else {}
    update |= {"questions": ASKING_MINUTES} if questions and order.questions is None else {}
    if sure and order.confidence is not ConfidenceScale.PERCENT:
        update |= {"confidence": ConfidenceScale.ON}
    return order.model_copy(update=update)


def check_people(contenders: tuple[str, ...], votes: str | None, ahead: str | None) -> None:
    """Refuse votes for anything that is not on the ballot. Raises UsageError."""
    if votes is not None:
        parse_votes(votes, vote_options(contenders))
    if ahead is not None:
        parse_rounds(ahead, round_options(contenders))


def quiet(settings: Settings) -> Settings:
    """Log only errors beside a debate on the screen, unless a level was set.

    The thread and the command's last line already say what a warning would.
    """
    if "level" in settings.log.model_fields_set:
        return settings
    shown = settings.log.model_copy(update={"level": "error"})
    return settings.model_copy(update={"log": shown})


def contenders_of(order: Order, usual: Options) -> tuple[str, ...]:
    """Return the contenders of an order's debate. Raises UsageError."""
    if order.rematch is not None:
        return tuple(order.rematch.of.request.sides)
    script = find_format((usual | order).format or "")
    options = read_own(script.name, script.options, order.options)
    return script.roles(options.model_dump()).contenders


def _from_file(value: str) -> JsonValue:
    if not value.startswith("@"):
        return value
    path = value[1:]
    try:
        text = Path(path).expanduser().read_text(encoding="utf-8-sig")
    except OSError as error:
        raise UsageError(f"--option cannot read {path}: {error.strerror}.") from None
    except UnicodeDecodeError:
        raise UsageError(f"--option cannot read {path}: save it as UTF-8 text.") from None
    lines = (line.strip() for line in text.splitlines())
    entries = []
    for line in lines:
        if line and not line.startswith("#"):
            quoted = len(line) > 2 and line[0] + line[-1] in QUOTES and line[0] not in line[1:-1]
            entries.append(line[1:-1].strip() if quoted else line)
    if not entries:
        raise UsageError(f"--option finds nothing in {path}: write one entry a line.")
    return [*entries]


def _pairs(name: str, given: Mapping[str, Any]) -> dict[str, str]:
    pairs = {}
    for item in given.get(name) or ():
        key, equals, value = item.partition("=")
        if not equals or not key.strip():
            raise UsageError(f"{spelled_option(name)} is “{item}”; write it as name=value.")
        pairs[key.strip()] = value.strip()
    return pairs


def _roster(text: str | None) -> tuple[Model, ...]:
    if not text:
        return ()
    from bot.settings.load import read_models  # a demo's models are built in

    return read_models(text)


def has_keyboard() -> bool:
    """Return whether a person is at this terminal."""
    return sys.stdin.isatty() and sys.stdout.isatty()
