"""The form that `/debate` without arguments opens: its fields and values; pure."""

from __future__ import annotations

from collections.abc import Mapping

from adapters.slack import texts
from adapters.slack.forms.fields import (
    Json,
    Label,
    attach,
    entered,
    entered_text,
    required,
    said,
    same,
    select,
    select_several,
    select_user,
    typed,
    view_of,
)
from engine.chat.answers.catalogue import ModelsAnswer
from engine.chat.choices import language_labels
from engine.chat.invocation import StartArguments
from engine.formats import FORMATS
from engine.values.errors import UsageError
from engine.values.options import IN_A_CHAT, STANCES, read_option, read_options
from engine.values.sources import pasted
from engine.words.phrases import TOPIC_HINT
from engine.words.translation import say

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
        select("panel", _label("panel", texts.AS_USUAL), said(texts.PANELS)),
        select("length", _label("length", texts.AS_USUAL), said(texts.LENGTHS)),
        select("ballot", _label("ballot", texts.AS_USUAL), said(texts.BALLOTS)),
        select("round_votes", _label("round_votes", texts.AS_USUAL), said(texts.SWITCH)),
        select("confidence", _label("confidence", texts.AS_USUAL), said(texts.SWITCH)),
        typed("minutes", _label("minutes", texts.MINUTES_HINT)),
    )
    return view_of(FORM, say(texts.FORM_TITLE), say(texts.FORM_SEND), say(texts.FORM_CLOSE), fields)


def command_of(view: Json) -> StartArguments:
    """Return the submitted values. Raises MistakeError for a field with an invalid one."""
    given = {name: text for name in texts.FIELDS if (text := entered_text(view, name))}
    asked: dict[str, object] = {name: given[name] for name in IN_A_CHAT if name in given}
    asked |= {name: given[field] for field, name in STANCES.items() if field in given}
    if "minutes" in given:
        try:
            asked["vote_minutes"] = read_option("vote_minutes", given["minutes"], "minutes")
        except UsageError as error:
            raise MistakeError("minutes", error) from error
    return StartArguments(
        **read_options(asked).given(),
        sides=_sides(given),
        jurors=entered(view, "jurors"),
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


def _label(name: str, inside: str = "") -> Label:
    return Label(say(texts.FIELDS[name]), say(inside) if inside else "")
