"""The form that `/debate settings` without arguments opens: its fields and the changes; pure.

An unchanged field changes nothing, even if another manager has changed the setting meanwhile.
"""

from __future__ import annotations

from collections.abc import Iterable

from adapters.slack import texts
from adapters.slack.forms.fields import (
    Json,
    Label,
    Pair,
    changed,
    entered,
    said,
    same,
    select,
    select_channels,
    select_several,
    typed,
    view_of,
)
from engine.chat.answers.management import SettingLine, SettingsAnswer, unset
from engine.chat.choices import language_labels
from engine.formats import FORMATS
from engine.line.intake import Defaults
from engine.words.translation import say

SETTINGS_FORM = "rostrum:settings"
DEFAULT = "default"  # the engine's word that resets a setting


def settings_form(answer: SettingsAnswer, defaults: Defaults) -> Json:
    """Return the form; models are chosen from the operator's, in `defaults`."""
    lines = {line.name: line for line in answer.settings}
    debaters = [model.ref for model in defaults.models]
    jurors = [juror.ref for juror in defaults.jurors]
    fields = (
        _several(lines["models"], debaters),
        _several(lines["jurors"], (*jurors, *debaters)),
        _several(lines["judges"], (*jurors, *debaters)),
        _plain(lines["seats"]),
        _one(lines["format"], same(FORMATS)),
        _one(lines["language"], list(language_labels().items())),
        _one(lines["length"], said(texts.LENGTHS)),
        select_channels("channels", _label(lines["channels"]), _own(lines["channels"])),
        _plain(lines["vote_minutes"]),
        _plain(lines["quorum"]),
        _one(lines["panel"], said(texts.PANELS)),
        _one(lines["ballot"], said(texts.BALLOTS)),
        _one(lines["broadcast"], said(texts.SWITCH)),
        _one(lines["again"], said(texts.SWITCH)),
        _one(lines["round_votes"], said(texts.SWITCH)),
        _one(lines["confidence"], said(texts.SWITCH)),
        _one(lines["why"], said(texts.SWITCH)),
        _one(lines["reasons"], said(texts.SWITCH)),
        _one(lines["guess"], said(texts.SWITCH)),
        _plain(lines["questions"]),
        _plain(lines["pace"]),
        _plain(lines["turn_minutes"]),
        _plain(lines["debate_usd"]),
        _plain(lines["daily_usd"]),
        _plain(lines["user_daily_debates"]),
        _plain(lines["max_live"]),
        _plain(lines["license"]),
        _one(lines["topic_approval"], said(texts.SWITCH)),
        _plain(lines["blocked_words"]),
        _plain(lines["starters"]),
        _public(lines["public"]),
    )
    labels = (say(texts.SETTINGS_TITLE), say(texts.SETTINGS_SEND), say(texts.FORM_CLOSE))
    return view_of(SETTINGS_FORM, *labels, fields)


def changes_of(view: Json) -> dict[str, str]:
    """Return the changed settings as text; emptied ones are reset."""
    return {name: ",".join(entered(view, name)) or DEFAULT for name in changed(view)}


def _several(line: SettingLine, offered: Iterable[str]) -> Json | None:
    own = _own(line)
    return select_several(line.name, _label(line), same((*own, *offered)), own)


def _public(line: SettingLine) -> Json | None:
    offered = said(texts.PUBLIC)
    return select_several(line.name, _label(line), offered, _own(line))


def _one(line: SettingLine, pairs: Iterable[Pair]) -> Json | None:
    """Return a list whose first entry resets the setting, as Slack's lists cannot be cleared."""
    usual = say(texts.UNDO) if line.own else say(texts.USUAL, value=_value(line))
    initial = line.value if line.own else DEFAULT
    return select(
        line.name, Label(say(texts.SETTINGS[line.name])), [(DEFAULT, usual), *pairs], initial
    )


def _plain(line: SettingLine) -> Json:
    return typed(line.name, _label(line), initial=line.value if line.own else "")


def _label(line: SettingLine) -> Label:
    if line.idle:
        return Label(say(texts.SETTINGS[line.name]), below=say(texts.IDLE, why=say(line.idle)))
    below = say(texts.EMPTY_UNDOES) if line.own else say(texts.EMPTY_IS, value=_value(line))
    return Label(say(texts.SETTINGS[line.name]), below=below)


def _value(line: SettingLine) -> str:
    return line.value or unset(line.name)


def _own(line: SettingLine) -> list[str]:
    return line.value.split(", ") if line.own and line.value else []
