"""The form that `/debate` alone opens: its fields, and what was entered into them; pure."""

from __future__ import annotations

from adapters.slack import texts
from adapters.slack.forms.fields import (
    Json,
    Label,
    entered,
    entered_text,
    required,
    same,
    select,
    select_several,
    typed,
    view_of,
)
from engine.answers.answers import ModelsAnswer
from engine.chat.invocation import StartArguments
from engine.chat.settings import parse_vote_minutes
from engine.debate import BallotKind
from engine.formats import FORMATS
from engine.prompts.languages import NAMES
from engine.words import cards as card_markdown

FORM = "rostrum:form"
LANGUAGES = [(code, f"{name} ({code})") for code, name in NAMES.items()]


def form_of(offered: ModelsAnswer) -> Json:
    """Return the form to start a debate with, among the models that are offered."""
    debaters, jurors = same(offered.models), same((*offered.jurors, *offered.models))
    fields = (
        required(typed("topic", _label("topic", card_markdown.TOPIC_HINT), long=True)),
        typed("conditions", _label("conditions"), long=True),
        select("format", _label("format", texts.AS_USUAL), same(FORMATS)),
        select("a", _label("a", texts.DRAWN), debaters),
        select("b", _label("b", texts.DRAWN), debaters),
        select_several("jurors", _label("jurors", texts.AS_USUAL), jurors),
        select("language", _label("language", texts.AS_USUAL), LANGUAGES),
        select("ballot", _label("ballot", texts.AS_USUAL), list(texts.BALLOTS.items())),
        typed("minutes", _label("minutes", texts.MINUTES_HINT)),
    )
    return view_of(FORM, texts.FORM_TITLE, texts.FORM_SEND, texts.FORM_CLOSE, fields)


def command_of(view: Json) -> StartArguments:
    """Return what was entered. Raises UsageError for minutes that are none."""
    said = {name: entered_text(view, name) for name in texts.FIELDS}
    minutes, ballot = said["minutes"], said["ballot"]
    return StartArguments(
        topic=said["topic"],
        conditions=said["conditions"],
        format=said["format"],
        sides={side: model for side in ("a", "b") if (model := said[side])},
        jurors=entered(view, "jurors"),
        language=said["language"],
        ballot=BallotKind(ballot) if ballot else None,
        vote_minutes=parse_vote_minutes("minutes", minutes) if minutes else None,
    )


def _label(name: str, inside: str = "") -> Label:
    return Label(texts.FIELDS[name], inside)
