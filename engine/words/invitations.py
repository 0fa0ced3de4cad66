"""Cards of what people are asked beside the vote: stances, rounds, questions, to argue a side."""

from __future__ import annotations

import re

from engine.values.language import N_
from engine.values.messages import (
    AgainInvite,
    ConfidenceInvite,
    GuestInvite,
    QuestionsClosed,
    QuestionsInvite,
    RoundInvite,
    SpeakInvite,
    StanceInvite,
)
from engine.values.text import marked
from engine.words.buttons import consent_buttons, question_buttons, speak_buttons
from engine.words.card import BallotPaper, Card
from engine.words.cards import paper_buttons, vote_on
from engine.words.phrases import lasting, round_name
from engine.words.translation import plural, say

QUESTIONS = N_("Questions from the audience")
LISTED = N_("**{number}** · {text}")

_MARKUP = re.compile(r"([\\`*_~|\[\]])")


def stance_card(invite: StanceInvite) -> Card:
    """Return the card that asks for people's stances."""
    paper = BallotPaper(
        say("Where do you stand?"),
        invite.options,
        invite.ballot,
        not invite.stances,
        invite.stances,
    )
    small = (
        ""
        if invite.seconds is None
        else say("The debate begins in {span}.", span=lasting(invite.seconds / 60))
    )
    title = say(N_("After the debate") if invite.after else N_("Before the debate"))
    return Card(
        title, "vote", invite.topic, ballot=paper, small=small, buttons=paper_buttons(paper)
    )


def again_card(invite: AgainInvite) -> Card:
    """Return the card that asks again below a reveal."""
    paper, minutes = vote_on(invite), invite.minutes
    paper = paper._replace(
        asks=say(
            "{asks} You now know the models and the result. Answer again, even if you have not "
            "changed your mind. Your vote above stays unchanged.",
            asks=paper.asks,
        )
    )
    small = say("You can answer for {lasts}.", lasts=lasting(minutes))
    return Card(
        say("Now that you know the models"),
        "vote",
        ballot=paper,
        small=small,
        buttons=paper_buttons(paper),
    )


def round_card(invite: RoundInvite) -> Card:
    """Return the card that asks who is ahead."""
    asks = say(N_("**Whose answer leads?**") if invite.names else N_("**Who is ahead?**"))
    captions = {**invite.stances, **invite.names}
    paper = BallotPaper(asks, invite.options, invite.ballot, True, captions)
    title, buttons = say("After {round}", round=round_name(invite.round)), paper_buttons(paper)
    return Card(
        title,
        "vote",
        ballot=paper,
        small=say("Open until the next round ends. The reveal shows what people said."),
        buttons=buttons,
    )


def confidence_card(invite: ConfidenceInvite) -> Card:
    """Return the card that asks how clear it was."""
    paper = BallotPaper(
        say("How far ahead is your choice?"), invite.options, invite.ballot, inline=True
    )
    return Card(
        say("How clear was it?"),
        "vote",
        ballot=paper,
        small=say("Optional. It closes with the vote, which counts the same without it."),
        buttons=paper_buttons(paper),
    )


def questions_card(invite: QuestionsInvite) -> Card:
    """Return the card that asks for questions."""
    more = (
        (plural("{n} more question was asked.", "{n} more questions were asked.", invite.more),)
        if invite.more
        else ()
    )
    listed = (say(LISTED, number=number, text=_literal(text)) for number, text in invite.listed)
    return Card(
        say(QUESTIONS),
        "vote",
        text="\n".join(
            (say("**What should both sides answer before they close?**"), "", *listed, *more)
        ).rstrip(),
        small=say(
            "Open for {lasts}: ask something, or support a question (👍). Both sides answer the "
            "two with most support. No one sees who asked.",
            lasts=lasting(invite.minutes),
        ),
        buttons=question_buttons(
            invite.code, invite.language, tuple(number for number, _ in invite.listed)
        ),
    )


def answers_card(closed: QuestionsClosed) -> Card:
    """Return the card of what both sides have to answer."""
    if not closed.put:
        said = say("No one asked anything, so the debate goes on.")
        return Card(say(QUESTIONS), "vote", lines=(said,))
    put = (say(LISTED, number=i, text=_literal(text)) for i, text in enumerate(closed.put, 1))
    text = "\n".join((say("**Both sides now answer:**"), "", *put))
    return Card(say(QUESTIONS), "vote", text=text)


def guest_card(invite: GuestInvite) -> Card:
    """Return the card that asks a person to argue a side."""
    asks = say(
        "You were asked to argue **{side}** in this debate, as a person against an AI model. It "
        "has {turns} for you, with up to {minutes} for each. Your words are posted here, people "
        "and a jury of models judge them, and they are part of the record, without your name.",
        side=marked(invite.side),
        turns=plural("{n} turn", "{n} turns", invite.most),
        minutes=lasting(invite.turn_minutes),
    )
    return Card(
        say("Will you argue a side?"),
        "vote",
        lines=(asks,),
        small=say(
            "Nothing begins before you agree. Without an answer in {lasts} it is called off.",
            lasts=lasting(invite.minutes),
        ),
        buttons=consent_buttons(invite.code),
    )


def speak_card(invite: SpeakInvite) -> Card:
    """Return the card that asks a person for a turn."""
    asks = say(
        "**{side}**, write your turn now. You have {lasts}.",
        side=marked(invite.side),
        lasts=lasting(invite.minutes),
    )
    within = (
        (plural("At most {n} word.", "At most {n} words.", invite.words),) if invite.words else ()
    )
    return Card(
        say("It is your turn: {round}", round=round_name(invite.round)),
        invite.side,
        lines=(" ".join((asks, *within)),),
        small=say(
            "Use the button, or write below and press Done; what stands there when the time is up "
            "counts. Pictures do not count."
        ),
        buttons=speak_buttons(invite.code, invite.language, invite.words),
    )


def _literal(text: str) -> str:
    """Return a piece of a line as Markdown that shows it as it is written."""
    return _MARKUP.sub(r"\\\1", text)
