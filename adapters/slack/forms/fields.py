"""Fields of a form: building them, and reading their values; pure.

Each is an input block whose id is its name. Sizes are those of Slack's Block Kit reference.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from engine.words.forms import Form
from engine.words.translation import say

LONGEST_INPUT = 3000
LONGEST_LABEL, LONGEST_VALUE = 75, 150
GROUP = 100  # options in a list, or in a group of a longer list
MOST_FILES = 10  # of a field to attach files
MOST_OPTIONS = 500  # three such lists of models fit a view's 250 kB

Json = dict[str, Any]
Pair = tuple[str, str]


class Label(NamedTuple):
    """A field's texts: above it, inside while it is empty, and below."""

    text: str
    inside: str = ""
    below: str = ""


def typed(name: str, label: Label, *, initial: str = "", long: bool = False) -> Json:
    """Return a text field."""
    return _typed(name, label, LONGEST_INPUT, initial=initial, long=long)


def _typed(name: str, label: Label, most: int, *, initial: str = "", long: bool = False) -> Json:
    element: Json = {"type": "plain_text_input", "multiline": long, "max_length": most}
    return _field(name, label, element | ({"initial_value": initial} if initial else {}))


def select(name: str, label: Label, pairs: Iterable[Pair], initial: str = "") -> Json | None:
    """Return a searchable list to choose one from; None without choices."""
    options = _options(pairs)
    chosen = [option for option in options if option["value"] == initial]
    element = {"type": "static_select", **_listed(options)}
    element |= {"initial_option": chosen[0]} if chosen else {}
    return _field(name, label, element) if options else None


def select_several(
    name: str, label: Label, pairs: Iterable[Pair], initial: Sequence[str] = ()
) -> Json | None:
    """Return a searchable list to choose several from; None without choices."""
    options = _options(pairs)
    chosen = [option for option in options if option["value"] in initial]
    element = {"type": "multi_static_select", **_listed(options)}
    element |= {"initial_options": chosen} if chosen else {}
    return _field(name, label, element) if options else None


def select_user(name: str, label: Label) -> Json:
    """Return a list of the workspace's people to choose one from."""
    return _field(name, label, {"type": "users_select"})


def select_channels(name: str, label: Label, initial: Sequence[str] = ()) -> Json:
    """Return a list of the workspace's channels."""
    shown = {"include": ["public", "private"]}
    element: Json = {"type": "multi_conversations_select", "filter": shown}
    return _field(name, label, element | ({"initial_conversations": initial} if initial else {}))


def attach(name: str, label: Label, most: int) -> Json:
    """Return a field to attach files; only apps with the scope files:read may show it."""
    return _field(name, label, {"type": "file_input", "max_files": min(most, MOST_FILES)})


def view_of(
    callback: str, title: str, send: str, close: str, fields: Iterable[Json | None]
) -> Json:
    """Return a form with the fields that are not None."""
    return {
        "type": "modal",
        "callback_id": callback,
        "title": _text(title),
        "submit": _text(send),
        "close": _text(close),
        "blocks": [field for field in fields if field is not None],
    }


def form_view(form: Form) -> Json:
    """Return a form that a button opens."""
    fields = (
        _typed(one.name, Label(one.label, one.hint), min(one.most, LONGEST_INPUT), long=one.long)
        for one in form.fields
    )
    return view_of(form.id, form.title, form.send, form.cancel, fields)


def required(field: Json) -> Json:
    """Return a field as a required one."""
    return field | {"optional": False}


def same(values: Iterable[str]) -> list[Pair]:
    """Return values as their own labels, each once."""
    return [(value, value) for value in dict.fromkeys(values)]


def said(labels: Mapping[str, str]) -> list[Pair]:
    """Return values with their labels in the language spoken."""
    return [(value, say(label)) for value, label in labels.items()]


# --- what was entered --------------------------------------------------------------------


def entered(view: Json, name: str) -> tuple[str, ...]:
    """Return a field's submitted values."""
    return _values(view["state"]["values"].get(name, {}).get(name, {}), "selected", "value")


def entered_text(view: Json, name: str) -> str | None:
    """Return a field's single value, None if it is empty."""
    return next(iter(entered(view, name)), None)


def attached(view: Json, name: str) -> tuple[Json, ...]:
    """Return the files attached in a field, as Slack describes them."""
    held = view["state"]["values"].get(name, {}).get(name, {})
    return tuple(held.get("files") or ())


def changed(view: Json) -> Iterator[str]:
    """Yield the names of the fields that were changed."""
    for block in view["blocks"]:
        name = block["block_id"]
        if set(entered(view, name)) != set(_values(block["element"], "initial", "initial_value")):
            yield name


def _values(held: Json, prefix: str, text: str) -> tuple[str, ...]:
    """Read the values of an element of any kind."""
    one, several = held.get(f"{prefix}_option"), held.get(f"{prefix}_options") or ()
    found = [str(option["value"]) for option in (*([one] if one else ()), *several)]
    found += [*(held.get(f"{prefix}_conversations") or ()), held.get(f"{prefix}_user") or ""]
    found.append(held.get(text) or "")
    return tuple(value.strip() for value in found if value.strip())


# --- inside ------------------------------------------------------------------------------


def _field(name: str, label: Label, element: Json) -> Json:
    element = element | {"action_id": name}
    if label.inside:
        element |= {"placeholder": _text(label.inside)}
    field = {"type": "input", "block_id": name, "label": _text(label.text), "element": element}
    below = {"hint": _text(label.below)} if label.below else {}
    return field | {"optional": True} | below


def _options(pairs: Iterable[Pair]) -> list[Json]:
    fit = [(value, label) for value, label in pairs if len(value) <= LONGEST_VALUE]
    named = ((value, label[:LONGEST_LABEL]) for value, label in fit[:MOST_OPTIONS])
    return [{"text": _text(label), "value": value} for value, label in named]


def _listed(options: list[Json]) -> Json:
    """Return a list's options, in groups if they are too many for one list."""
    if len(options) <= GROUP:
        return {"options": options}
    groups = [options[start : start + GROUP] for start in range(0, len(options), GROUP)]
    return {"option_groups": [{"label": _span(group), "options": group} for group in groups]}


def _span(group: list[Json]) -> Json:
    half = LONGEST_LABEL // 2 - 1
    first, last = (group[at]["text"]["text"][:half] for at in (0, -1))
    return _text(f"{first} – {last}")


def _text(text: str) -> Json:
    return {"type": "plain_text", "text": text}
