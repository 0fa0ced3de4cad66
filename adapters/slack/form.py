"""The form that `/debate` alone opens: its fields, and what was entered into them; pure."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

from adapters.slack import texts
from adapters.slack.whisper import Asker
from engine import card_markdown
from engine.answers import ModelsAnswer
from engine.command_text import parse_minutes
from engine.debate import BallotKind
from engine.formats import FORMATS
from engine.invocation import StartCommand
from engine.languages import NAMES

FORM = "rostrum:form"
LONGEST_INPUT = 3000
MOST_OPTIONS, LONGEST_LABEL, LONGEST_VALUE = 100, 75, 150

Json = dict[str, Any]
Pair = tuple[str, str]


def form_of(asker: Asker, offered: ModelsAnswer) -> Json:
    """Return the view; where it was asked for is kept in it."""
    debaters, jurors = _plain(offered.models), _plain((*offered.jurors, *offered.models))
    fields = [
        _typed("topic", long=True, needed=True, hint=card_markdown.TOPIC_HINT),
        _typed("conditions", long=True),
        _select("format", _plain(FORMATS)),
        _select("a", debaters),
        _select("b", debaters),
        _select("jurors", jurors, several=True),
        _select("language", [(code, f"{name} ({code})") for code, name in NAMES.items()]),
        _select("ballot", list(texts.BALLOTS.items())),
        _typed("minutes"),
    ]
    return {
        "type": "modal",
        "callback_id": FORM,
        "title": _text(texts.FORM_TITLE),
        "submit": _text(texts.FORM_SEND),
        "close": _text(texts.FORM_CLOSE),
        "private_metadata": json.dumps(asker._asdict()),
        "blocks": [field for field in fields if field is not None],
    }


def asker_of(view: Json) -> Asker:
    """Return who asked for a form, and where."""
    return Asker(**json.loads(view["private_metadata"]))


def command_of(view: Json) -> StartCommand:
    """Return what was entered. Raises UsageError for a time that is none."""
    entered = {name: _entered(view, name) for name in texts.FIELDS}
    minutes, ballot = entered["minutes"], entered["ballot"]
    return StartCommand(
        topic=entered["topic"],
        conditions=entered["conditions"],
        format=entered["format"],
        sides={side: model for side in ("a", "b") if (model := entered[side])},
        jurors=_several(view, "jurors"),
        language=entered["language"],
        ballot=BallotKind(ballot) if ballot else None,
        vote_minutes=parse_minutes("minutes", minutes) if minutes else None,
    )


# --- fields ------------------------------------------------------------------------------


def _typed(name: str, *, long: bool = False, needed: bool = False, hint: str = "") -> Json:
    element: Json = {
        "type": "plain_text_input",
        "action_id": name,
        "multiline": long,
        "max_length": LONGEST_INPUT,
    }
    if hint:
        element["placeholder"] = _text(hint)
    return _field(name, element, needed=needed)


def _select(name: str, pairs: Iterable[Pair], *, several: bool = False) -> Json | None:
    """Return a select with search, None where there is nothing to select."""
    options = [
        {"text": _text(label[:LONGEST_LABEL]), "value": value}
        for value, label in pairs
        if len(value) <= LONGEST_VALUE
    ]
    if not options:
        return None
    kind = "multi_static_select" if several else "static_select"
    return _field(name, {"type": kind, "action_id": name, "options": options[:MOST_OPTIONS]})


def _field(name: str, element: Json, *, needed: bool = False) -> Json:
    label = _text(texts.FIELDS[name])
    field = {"type": "input", "block_id": name, "label": label, "element": element}
    return field | {"optional": not needed}


def _text(text: str) -> Json:
    return {"type": "plain_text", "text": text}


def _plain(values: Iterable[str]) -> list[Pair]:
    return [(value, value) for value in dict.fromkeys(values)]


# --- what was entered --------------------------------------------------------------------


def _state(view: Json, name: str) -> Json:
    state: Json = view["state"]["values"].get(name, {}).get(name, {})
    return state


def _entered(view: Json, name: str) -> str | None:
    state = _state(view, name)
    chosen = state.get("selected_option") or {}
    text = state.get("value") or chosen.get("value") or ""
    return str(text).strip() or None


def _several(view: Json, name: str) -> tuple[str, ...]:
    chosen: Sequence[Json] = _state(view, name).get("selected_options") or ()
    return tuple(str(option["value"]) for option in chosen)
