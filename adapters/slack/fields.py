"""The forms of Slack: their fields, how they are built, and what they bring back; pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from adapters.slack import texts
from adapters.slack.payloads import SubmittedForm
from engine.chat.answers.catalogue import ModelsAnswer
from engine.chat.answers.management import SettingLine, SettingsAnswer, unset
from engine.chat.choices import language_labels
from engine.chat.invocation import StartArguments
from engine.chat.parameters import IN_A_CHAT
from engine.formats import FORMATS
from engine.run.order import Defaults
from engine.values.errors import UsageError
from engine.values.options import STANCES, read_options
from engine.values.source_files import pasted
from engine.words.buttons import Form
from engine.words.phrases import TOPIC_HINT
from engine.words.translation import say

LONGEST_INPUT = 3000
LONGEST_LABEL, LONGEST_VALUE = 75, 150
GROUP = 100  # options in a list, or in a group of a longer list
MOST_FILES = 10  # of a field to attach files
MOST_OPTIONS = 500  # three such lists of models fit a view's 250 kB

Json = dict[str, Any]
Pair = tuple[str, str]


class _FieldLabel(NamedTuple):
    """A field's texts: above it, inside while it is empty, and below."""

    text: str
    inside: str = ""
    below: str = ""


def typed(name: str, label: _FieldLabel, *, initial: str = "", long: bool = False) -> Json:
    """Return a text field."""
    return _typed(name, label, LONGEST_INPUT, initial=initial, long=long)


def _typed(
    name: str, label: _FieldLabel, most: int, *, initial: str = "", long: bool = False
) -> Json:
    element: Json = {"type": "plain_text_input", "multiline": long, "max_length": most}
    return _field(name, label, element | ({"initial_value": initial} if initial else {}))


def select(name: str, label: _FieldLabel, pairs: Iterable[Pair], initial: str = "") -> Json | None:
    """Return a searchable list to choose one from; None without choices."""
    options = _options(pairs)
    chosen = [option for option in options if option["value"] == initial]
    element = {"type": "static_select", **_listed(options)}
    element |= {"initial_option": chosen[0]} if chosen else {}
    return _field(name, label, element) if options else None


def select_several(
    name: str, label: _FieldLabel, pairs: Iterable[Pair], initial: Sequence[str] = ()
) -> Json | None:
    """Return a searchable list to choose several from; None without choices."""
    options = _options(pairs)
    chosen = [option for option in options if option["value"] in initial]
    element = {"type": "multi_static_select", **_listed(options)}
    element |= {"initial_options": chosen} if chosen else {}
    return _field(name, label, element) if options else None


def select_user(name: str, label: _FieldLabel) -> Json:
    """Return a list of the workspace's people to choose one from."""
    return _field(name, label, {"type": "users_select"})


def select_channels(name: str, label: _FieldLabel, initial: Sequence[str] = ()) -> Json:
    """Return a list of the workspace's channels."""
    shown = {"include": ["public", "private"]}
    element: Json = {"type": "multi_conversations_select", "filter": shown}
    return _field(name, label, element | ({"initial_conversations": initial} if initial else {}))


def attach(name: str, label: _FieldLabel, most: int) -> Json:
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
        _typed(
            one.name, _FieldLabel(one.label, one.hint), min(one.most, LONGEST_INPUT), long=one.long
        )
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


# --- inside ------------------------------------------------------------------------------


def _field(name: str, label: _FieldLabel, element: Json) -> Json:
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


# The form that `/debate` without arguments opens: its fields and values; pure.


FORM = "rostrum:form"


class MistakeError(Exception):
    """What is wrong with a field of a form."""

    def __init__(self, field: str, error: UsageError) -> None:
        super().__init__(str(error))
        self.field, self.error = field, error


def form_of(offered: ModelsAnswer, most_files: int = 0, topic: str = "") -> Json:
    """Return the form to start a debate between the offered models; 0: no files can be attached.

    `topic` is what stands in its field already.
    """
    debaters, jurors = same(offered.models), same((*offered.jurors, *offered.models))
    fields = (
        required(typed("topic", _label("topic", TOPIC_HINT), initial=topic, long=True)),
        typed("for", _label("for", texts.FOR_IT)),
        typed("against", _label("against", texts.AGAINST_IT)),
        typed("conditions", _label("conditions"), long=True),
        typed("source", _label("source", texts.SOURCE_HINT), long=True),
        attach("files", _label("files"), most_files) if most_files else None,
        select("format", _label("format", texts.AS_USUAL), same(FORMATS)),
        select("a", _label("a", texts.DRAWN), debaters),
        select("b", _label("b", texts.DRAWN), debaters),
        select_user("person", _label("person", texts.NO_ONE)),
        select_several("jurors", _label("jurors", texts.AS_USUAL), jurors),
        select("language", _label("language", texts.AS_USUAL), list(language_labels().items())),
        *(
            select(name, _label(name, texts.AS_USUAL), said(words))
            for name in texts.FIELDS
            if (words := texts.words_of(name))
        ),
        typed("minutes", _label("minutes", texts.MINUTES_HINT)),
    )
    return view_of(FORM, say(texts.FORM_TITLE), say(texts.FORM_SEND), say(texts.FORM_CLOSE), fields)


def command_of(view: SubmittedForm) -> StartArguments:
    """Return the submitted values. Raises MistakeError for a field with an invalid one."""
    given = {name: text for name in texts.FIELDS if (text := view.text(name))}
    fields = {name: name for name in IN_A_CHAT} | {"vote_minutes": "minutes"}
    fields |= {name: field for field, name in STANCES.items()}
    asked: dict[str, Any] = {}
    for name, field in fields.items():
        if field in given:
            try:
                asked |= read_options({name: given[field]}, fields.__getitem__).given()
            except UsageError as error:
                raise MistakeError(field, error) from error
    return StartArguments(
        **asked,
        sides=_sides(given),
        jurors=view.entered("jurors"),
        sources=(pasted(given["source"]),) if "source" in given else (),
    )


def _sides(given: Mapping[str, str]) -> dict[str, str]:
    """Return who argues each side, as the command names them: a person where no model is chosen."""
    sides = {side: given[side] for side in ("a", "b") if side in given}
    if "person" not in given:
        return sides
    left = [side for side in ("b", "a") if side not in sides]
    if not left:
        raise MistakeError("person", UsageError(texts.NO_SIDE_LEFT))
    return sides | {left[0]: f"<@{given['person']}>"}


def _label(name: str, inside: str = "") -> _FieldLabel:
    return _FieldLabel(say(texts.FIELDS[name]), say(inside) if inside else "")


# The form that `/debate settings` without arguments opens: its fields and the changes; pure.
#
# An unchanged field changes nothing, even if another manager has changed the setting meanwhile.


SETTINGS_FORM = "rostrum:settings"
DEFAULT = "default"  # the engine's word that resets a setting


def settings_form(answer: SettingsAnswer, defaults: Defaults) -> Json:
    """Return the form; models are chosen from the operator's, in `defaults`."""
    lines = {line.name: line for line in answer.settings}
    fields = (_setting(lines[name], defaults) for name in texts.SETTINGS)
    labels = (say(texts.SETTINGS_TITLE), say(texts.SETTINGS_SEND), say(texts.FORM_CLOSE))
    return view_of(SETTINGS_FORM, *labels, fields)


def changes_of(view: SubmittedForm) -> dict[str, str]:
    """Return the changed settings as text; emptied ones are reset."""
    return {name: ",".join(view.entered(name)) or DEFAULT for name in view.changed()}


def _setting(line: SettingLine, defaults: Defaults) -> Json | None:
    """Return the field of a setting: a list where it is chosen from some, else text."""
    debaters = same(model.ref for model in defaults.models)
    match line.name:
        case "models":
            return _several(line, debaters)
        case "jurors" | "judges":
            return _several(line, [*same(juror.ref for juror in defaults.jurors), *debaters])
        case "channels":
            return select_channels(line.name, _settings_label(line), _own(line))
        case "public":
            return select_several(line.name, _settings_label(line), said(texts.PUBLIC), _own(line))
        case "format":
            return _one(line, same(FORMATS))
        case "language":
            return _one(line, list(language_labels().items()))
    words = texts.words_of(line.name)
    return (
        _one(line, said(words))
        if words
        else typed(line.name, _settings_label(line), initial=line.value if line.own else "")
    )


def _several(line: SettingLine, offered: Iterable[Pair]) -> Json | None:
    own = _own(line)
    pairs = dict([*same(own), *offered]).items()
    return select_several(line.name, _settings_label(line), pairs, own)


def _one(line: SettingLine, pairs: Iterable[Pair]) -> Json | None:
    """Return a list whose first entry resets the setting, as Slack's lists cannot be cleared."""
    usual = say(texts.UNDO) if line.own else say(texts.USUAL, value=_value(line))
    initial = line.value if line.own else DEFAULT
    return select(
        line.name, _FieldLabel(say(texts.SETTINGS[line.name])), [(DEFAULT, usual), *pairs], initial
    )


def _settings_label(line: SettingLine) -> _FieldLabel:
    if line.idle:
        return _FieldLabel(
            say(texts.SETTINGS[line.name]), below=say(texts.IDLE, why=say(line.idle))
        )
    below = say(texts.EMPTY_UNDOES) if line.own else say(texts.EMPTY_IS, value=_value(line))
    return _FieldLabel(say(texts.SETTINGS[line.name]), below=below)


def _value(line: SettingLine) -> str:
    return line.value or unset(line.name)


def _own(line: SettingLine) -> list[str]:
    return line.value.split(", ") if line.own and line.value else []
