"""How each message looks in Slack: blocks under the mark of their side; pure.

A message has a line that says whose it is, one `markdown` block, and a line with its reference.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from adapters.slack import texts
from adapters.slack.buttons import ballot_buttons, debate_buttons
from adapters.slack.markup import escape, markdown, prepare, typed
from adapters.slack.payload import Payload
from adapters.slack.votes import NAMES
from engine.debate import BallotKind
from engine.delivery.gaps import numbered
from engine.messages import (
    AgainInvite,
    Announcement,
    Arc,
    File,
    Message,
    Notice,
    Progress,
    Report,
    Reveal,
    ScoreBoard,
    StanceInvite,
    TurnPost,
    VoteClosed,
    VoteInvite,
)
from engine.ports import Part
from engine.text import chop, clean, headline, split_markdown
from engine.words import cards as card_markdown
from engine.words.reports import files_of, markdown_of
from engine.words.reveal import reveal_lines

# Slack takes 12,000 characters of Markdown, but refuses about 13,200 of everything together.
MARKDOWN = 10_000
PLAIN = 4_000  # characters without blocks; Slack splits what is longer
LINE = 200  # characters of the line above and of the notification's text, before escaping

MARKS = {"A": "🔵", "B": "🔴", "judge": "🟡"}
OTHER_MARKS = ("🔵", "🔴", "🟢", "🟣", "🟤", "🟠", "⚫", "⚪", "🟡")
NO_MARK = "▫️"


class Card(NamedTuple):
    """What a message shows."""

    title: str
    text: str
    footer: str = ""
    state: str = ""
    actions: dict[str, Any] | None = None
    files: tuple[File, ...] = ()
    broadcast: bool = False


def parts(message: Message, stem: str) -> tuple[Part, ...]:
    """Turn a message into payloads that Slack takes; buttons and files go with the last."""
    card = card_of(message)
    pieces = pieces_of(card.text) or ("",)
    of = len(pieces)
    return tuple(
        _payload(card, piece, f"{stem}·{i}/{of}", number=i, last=i == of).part(f"{stem}·{i}/{of}")
        for i, piece in enumerate(pieces, start=1)
    )


def plain(source: Part | str, reference: str) -> tuple[Part, ...]:
    """Turn a refused payload, or a text, into messages without blocks, files or buttons."""
    text = source if isinstance(source, str) else _said(Payload.of(source))
    pieces = chop(clean(text), PLAIN - len(reference) - 10, lambda piece: len(escape(piece)))
    return tuple(
        Payload(f"{escape(piece)}\n{ref}", []).part(ref, plain=True)
        for ref, piece in zip(numbered(reference, len(pieces)), pieces, strict=True)
    )


def _said(payload: Payload) -> str:
    """Return the words of a payload, but for its last line, which is its reference."""
    said = []
    for block in payload.blocks[:-1]:
        if block["type"] == "context":
            said += [element["text"] for element in block["elements"]]
        elif block["type"] == "markdown":
            said.append(block["text"])
    said += [texts.FILE_LEFT_OUT.format(name=escape(file.name)) for file in payload.files]
    return typed("\n".join(said))


def pieces_of(text: str) -> tuple[str, ...]:
    """Cut Markdown into pieces that fit a block once they are escaped."""
    return split_markdown(prepare(text), MARKDOWN, lambda piece: len(markdown(piece)))


def markdown_block(text: str) -> dict[str, Any]:
    """Return a block that shows Markdown; the text is escaped here."""
    return {"type": "markdown", "text": markdown(text)}


def line_block(text: str) -> dict[str, Any]:
    """Return a small line; the text is escaped here."""
    return {"type": "context", "elements": [{"type": "mrkdwn", "text": escape(text)}]}


def _section(markup: str) -> dict[str, Any]:
    return {"type": "section", "text": {"type": "mrkdwn", "text": markup}}


def card_of(message: Message) -> Card:
    """Return what a message shows."""
    match message:
        case Announcement():
            return _announcement(message)
        case TurnPost():
            return _turn(message)
        case VoteInvite():
            return _invite(message)
        case StanceInvite():
            return _stance(message)
        case AgainInvite():
            return _again(message)
        case VoteClosed():
            title = card_markdown.CLOSED_EARLY if message.early else card_markdown.CLOSED
            return Card(title, card_markdown.plural(card_markdown.CLOSED_WITH, message.votes))
        case Reveal():
            text = "\n".join(reveal_lines(message))
            return Card(card_markdown.REVEAL, text, broadcast=message.broadcast)
        case Notice():
            return Card(card_markdown.LEVELS[message.level], message.text)
        case Report() | ScoreBoard() | Arc():
            side = message.side if isinstance(message, Report) else ""
            title = f"{mark_of(side)} {message.title}"
            return Card(title, markdown_of(message), files=files_of(message))


def mark_of(side: str) -> str:
    """Return the colour mark of a contender: A blue, B red, 1 to 9 one each."""
    if side.isascii() and side.isdigit():
        return OTHER_MARKS[(int(side) - 1) % len(OTHER_MARKS)]
    return MARKS.get(side, NO_MARK)


def _payload(card: Card, piece: str, reference: str, *, number: int, last: bool) -> Payload:
    """Make one piece: each says whose it is, the last shows what belongs to the whole."""
    title = headline(card.title, LINE) or "…"
    if number > 1:
        title = texts.CONTINUED.format(title=title, number=number)
    blocks = [line_block(title)]
    if piece.strip():
        blocks.append(markdown_block(piece))
    if last and card.state:
        blocks.append(_section(card.state))
    if last and card.actions is not None:
        blocks.append(card.actions)
    footed = last and card.footer
    blocks.append(line_block(f"{reference} · {card.footer}" if footed else reference))
    fallback = escape(f"{title}: {headline(piece, LINE)}")
    return Payload(fallback, blocks, card.files if last else (), card.broadcast and number == 1)


# --- cards -------------------------------------------------------------------------------


def _announcement(debate: Announcement) -> Card:
    title = card_markdown.DEBATE.format(code=debate.code)
    text = "\n".join(card_markdown.announced(debate))
    return Card(
        title,
        text,
        card_markdown.estimated(debate),
        _state(debate.progress) if debate.progress else "",
        debate_buttons(debate.code, stoppable=card_markdown.stoppable(debate)),
    )


def _state(progress: Progress) -> str:
    """Return the state as Slack's own markup; the thread hangs below it, and needs no link."""
    # Shown at each reader's own time of the day.
    until = (
        f"<!date^{int(at.timestamp())}^{{time}}|{at:%H:%M} UTC>" if (at := progress.until) else ""
    )
    plain = progress.model_copy(update={"reason": escape(progress.reason)})
    return card_markdown.progressed(plain, thread=texts.ITS_THREAD, until=until)


def _turn(turn: TurnPost) -> Card:
    title = f"{mark_of(turn.side)} {card_markdown.turn_title(turn)}"
    return Card(title, card_markdown.turn_text(turn), card_markdown.turn_used(turn))


def _invite(invite: VoteInvite) -> Card:
    terms = card_markdown.invite_terms(invite)
    lines = [card_markdown.INVITE_ASKS, *_options(invite.options), texts.HOW_TO_VOTE[invite.ballot]]
    return Card(card_markdown.INVITE, "\n".join(lines), terms, actions=_buttons(invite))


def _again(invite: AgainInvite) -> Card:
    lines = [card_markdown.AGAIN_ASKS, *_options(invite.options), texts.HOW_TO_VOTE[invite.ballot]]
    lasts = card_markdown.again_lasts(invite)
    return Card(card_markdown.AGAIN, "\n".join(lines), lasts, actions=_buttons(invite))


def _buttons(invite: VoteInvite | StanceInvite | AgainInvite) -> dict[str, Any] | None:
    return ballot_buttons(invite.options) if invite.ballot is BallotKind.PRIVATE else None


def _options(options: tuple[str, ...]) -> list[str]:
    named = ((f":{NAMES[option]}:", card_markdown.option_name(option)) for option in options)
    return [card_markdown.OPTION.format(emoji=emoji, name=name) for emoji, name in named]


def _stance(invite: StanceInvite) -> Card:
    text = card_markdown.STANCE_ASKS.format(
        topic=invite.topic, options=" · ".join(_options(invite.options))
    )
    text += f"\n{texts.HOW_TO_VOTE[invite.ballot]}"
    lasts = ""
    if invite.seconds is not None:
        lasts = card_markdown.plural(card_markdown.STANCE_LASTS, invite.seconds)
    title = card_markdown.STANCE_AFTER if invite.after else card_markdown.STANCE_BEFORE
    return Card(title, text, lasts, actions=_buttons(invite))
