"""Cards as Slack blocks, with buttons, faces and reactions; what people wrote has no effect."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, NamedTuple

from adapters.slack import texts
from engine.chat.answers import Answer
from engine.chat.answers.voters import ReviewAnswer, ReviewLine
from engine.delivery.fallbacks import numbered
from engine.values.debate import BallotKind
from engine.values.markdown import chop, split_markdown
from engine.values.messages import File, Message, Progress
from engine.values.ports import Part
from engine.values.text import REACTIONS, SIDES, VARIANT, clean, headline, with_variant
from engine.words.buttons import Menu, review_menu
from engine.words.card import PREFIX, Button, Card, CardSpeaker, Reference, by_side
from engine.words.cards import card_of, closes
from engine.words.pieces import (
    FILE_LEFT_OUT,
    Piece,
    fence_tables,
    in_pieces,
    markdown_of,
    review_hint,
)
from engine.words.progress import progressed
from engine.words.translation import in_its_language, say

# Text for Slack: nothing that people or models wrote has an effect; pure.
#
# Slack parses `<…>` as mentions and links everywhere, and requires `& < >` to be escaped (its
# documentation, "Formatting message text").


# Slack accepts 12,000 characters of Markdown, but about 13,200 in the whole message.
MARKDOWN = 10_000
FALLBACK, TOGETHER = 3_000, 11_500  # the second with the Markdown; the rest is for other blocks
_MENTION = re.compile(r"(?:<|lt;)(?=[!@#])")  # `&lt;` is a `<` to a client that decodes twice
# No `<` inside, as Slack escapes it: the search stays linear.
_REFERENCE = re.compile(r"<([#@]|https?:|mailto:)([^|<>]*)(?:\|([^<>]*))?>")
_JOINER = "\u2060"  # invisible, and no part of any mention
_BOLD = re.compile(r"\*\*(?=\S)(.+?)(?<=\S)\*\*")
_CODE = re.compile(r"`([^`\n]+)`")
_LINK = re.compile(r"\[([^\[\]\n]+)\]\(https?://[^()\s]+\)")
_MARKUP = re.compile(r"^(?:[ \t]*(?:```|~~~).*\n?|#{1,6}[ \t]+|\|[ :|-]+\|[ \t]*\n?)", re.MULTILINE)
_QUOTE = re.compile(r"^((?:[ \t]*&gt;)+)", re.MULTILINE)


def escape(text: str) -> str:
    """Return text that is shown literally and notifies no one, however often it is decoded."""
    return html.escape(_MENTION.sub(rf"\g<0>{_JOINER}", clean(text)), quote=False)


def typed(text: str, *, ids: bool = False) -> str:
    """Return a command's text as typed; with `ids`, channels and people are their ids.

    A person who is the value of an option stays a mention, as `b=<@U1>`.

    Slack sends `#hall` as `<#C1|hall>`, an address as `<https://…>`, and `& < >` escaped.
    """

    def plain(found: re.Match[str]) -> str:
        mark, target, label = found.groups()
        if mark == "@" and text[max(0, found.start() - 1) : found.start()] == "=":
            return f"<@{target}>"
        if mark in ("#", "@"):
            return str(target) if ids else f"{mark}{label or target}"
        return str(label or target) if mark == "mailto:" else f"{mark}{target}"

    shown = _REFERENCE.sub(plain, text)
    return shown.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")


def markdown(text: str) -> str:
    """Escape Markdown for a `markdown` block, except for quotation marks at line starts."""
    return _QUOTE.sub(lambda marks: marks[1].replace("&gt;", ">"), escape(text))


def in_plain_words(text: str) -> str:
    """Return Markdown as it reads aloud: without bold, code, headings, rules and addresses."""
    return _CODE.sub(r"\1", _BOLD.sub(r"\1", _LINK.sub(r"\1", _MARKUP.sub("", text))))


def fallback(text: str, *tokens: str) -> str:
    """Return the text that screen readers and notifications have instead of blocks.

    It is the whole of a message's Markdown in plain words, up to 3,000 characters, and below it
    lines in Slack's own markup, which may name times.
    """
    below = "".join(f"\n{token}" for token in tokens)
    room = min(FALLBACK, TOGETHER - len(markdown(text))) - len(below) - 1
    first, *more = chop(in_plain_words(clean(text)), room, lambda piece: len(escape(piece)))
    return f"{escape(first)}{'…' if more else ''}{below}"


def pieces_of(text: str) -> tuple[str, ...]:
    """Cut Markdown into pieces that fit a block after escaping; tables become code."""
    return split_markdown(fence_tables(clean(text)), MARKDOWN, lambda piece: len(markdown(piece)))


def markdown_block(text: str) -> dict[str, Any]:
    """Return a block of Markdown; escapes the text."""
    return {"type": "markdown", "text": markdown(text)}


# The request for one message: blocks with their fallback text, as frozen JSON.


EVENT_TYPE = "rostrum_post"


class SlackPayload(NamedTuple):
    """A message's blocks, the text that notifications show, and the files that go with it.

    `broadcast` also shows it in the channel. `speaker` is who posts it, if not the bot itself.
    """

    text: str
    blocks: list[dict[str, Any]]
    files: tuple[File, ...] = ()
    broadcast: bool = False
    speaker: CardSpeaker | None = None

    def part(self, reference: str, *, plain: bool = False) -> Part:
        """Return it as a frozen part."""
        kept = self._asdict() | {"files": [file.model_dump() for file in self.files]}
        body = json.dumps(kept, ensure_ascii=False)
        return Part(reference=reference, body=body, plain=plain)

    @classmethod
    def of(cls, part: Part) -> SlackPayload:
        """Read a frozen part."""
        kept = json.loads(part.body)
        files = tuple(File.model_validate(file) for file in kept["files"])
        speaker = CardSpeaker(*kept["speaker"]) if kept.get("speaker") else None
        return cls(kept["text"], kept["blocks"], files, kept.get("broadcast", False), speaker)

    def mentioning(self, user: str) -> SlackPayload:
        """Return it with a mention of a user, who is notified."""
        said = {"type": "section", "text": {"type": "mrkdwn", "text": f"<@{user}>"}}
        title, *rest = self.blocks
        return self._replace(text=f"<@{user}> {self.text}", blocks=[title, said, *rest])

    def body(self, reference: str) -> dict[str, Any]:
        """Return the fields of a request, with the reference in its metadata."""
        metadata = {"event_type": EVENT_TYPE, "event_payload": {"reference": reference}}
        quiet = {"unfurl_links": False, "unfurl_media": False}
        shown = {"blocks": self.blocks} if self.blocks else {"mrkdwn": False, "parse": "none"}
        return {"text": self.text, **shown, "metadata": metadata} | quiet


def carries(message: dict[str, Any], reference: str) -> bool:
    """Return whether a message read back has a reference: in its metadata."""
    metadata = message.get("metadata") or {}
    known = metadata.get("event_payload", {}).get("reference")
    return bool(metadata.get("event_type") == EVENT_TYPE and known == reference)


# Buttons and menus (engine/words/buttons.py) in Slack's form.


ANY = re.compile(rf"^{PREFIX}:")


def below(answer: Answer) -> list[dict[str, Any]]:
    """Return the buttons and menus below a private answer, row by row."""
    rows: list[list[dict[str, Any]]] = [
        [_choices(one)] if isinstance(one, Menu) else [*map(_button, one)] for one in answer.rows()
    ]
    if isinstance(answer, ReviewAnswer):
        rows.append([_menu(line) for line in answer.lines])
    rows.append([*map(_button, answer.buttons())])
    return [row(elements) for elements in rows if elements]


def row(elements: Iterable[dict[str, Any]]) -> dict[str, Any]:
    """Return buttons and menus in a row."""
    return {"type": "actions", "elements": list(elements)}


def _choices(menu: Menu) -> dict[str, Any]:
    options = [{"text": _plain(label), "value": str(at)} for at, label in enumerate(menu.labels)]
    shown = {
        "type": "static_select",
        "action_id": menu.id,
        "placeholder": _plain(menu.hint),
        "options": options,
    }
    return shown if menu.chosen is None else shown | {"initial_option": options[menu.chosen]}


def _menu(line: ReviewLine) -> dict[str, Any]:
    code = line.debate.code
    return {
        "type": "static_select",
        "action_id": review_menu(code),
        "placeholder": _plain(review_hint(code, line.names, trial=line.trial)),
        "options": [
            {"text": _plain(f"{REACTIONS[option]} {name}"), "value": option}
            for option, name in line.choices
        ],
    }


def _button(button: Button) -> dict[str, Any]:
    label = f"{REACTIONS[button.option]} {button.label}" if button.option else button.label
    shown = {"type": "button", "action_id": button.id, "text": _plain(label)}
    style = "danger" if button.danger else "primary" if button.chosen else ""
    return shown | ({"style": style} if style else {})


def _plain(text: str) -> dict[str, Any]:
    return {"type": "plain_text", "text": text, "emoji": True}


# Names and faces of speakers: Slack lets an app choose both for each message.


SCOPE = "chat:write.customize"
LONGEST_NAME = 80
FACES = {"A": "large_blue_circle", "B": "red_circle"}
OTHER_FACES = (
    *("large_blue_circle", "red_circle", "large_green_circle", "large_purple_circle"),
    *("large_brown_circle", "large_orange_circle", "black_circle", "white_circle"),
    "large_yellow_circle",
)
NO_FACE = "speech_balloon"


def shown_as(speaker: CardSpeaker) -> dict[str, Any]:
    """Return the fields of a message that give it a speaker's name and face."""
    face = by_side(speaker.side, FACES, OTHER_FACES, NO_FACE)
    return {"username": headline(clean(speaker.name), LONGEST_NAME), "icon_emoji": f":{face}:"}


# Maps Slack's names of emoji to the reactions of a vote; pure.


_NUMBERS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
NAMES = {
    "A": "large_blue_circle",
    "B": "red_circle",
    **{str(number): name for number, name in enumerate(_NUMBERS, start=1)},
    "tie": "handshake",
    "weak": "no_entry_sign",
    "up": "+1",
    "down": "-1",
    "unsure": "shrug",
    "even": "scales",
    "close": "mag",
    "clear": "white_check_mark",
    "onesided": "boom",
}
"""What Slack calls the emoji of each reaction (engine/values/text.py)."""

SHOWN = {reaction: f":{name}:" for reaction, name in NAMES.items()}
_OTHER_NAMES = {"thumbsup": "up", "thumbsdown": "down"}
_REACTIONS = {name: reaction for reaction, name in NAMES.items()} | _OTHER_NAMES


def reaction_of(name: str) -> str | None:
    """Return the reaction of an emoji, in its skin tone; None for other emoji."""
    plain, _, tone = name.partition(VARIANT)
    reaction = _REACTIONS.get(plain)
    return None if reaction is None else with_variant(reaction, tone)


def held_by(reactions: Iterable[Mapping[str, Any]]) -> dict[str, frozenset[str]]:
    """Return who holds which reaction, bots included."""
    held: dict[str, frozenset[str]] = {}
    for each in reactions:
        reaction = reaction_of(each["name"])
        if reaction is not None:
            held[reaction] = held.get(reaction, frozenset()) | set(each["users"])
    return held


def is_whole(reactions: Iterable[Mapping[str, Any]]) -> bool:
    """Return whether every reaction names as many people as it counts."""
    return all(len(reaction["users"]) >= reaction["count"] for reaction in reactions)


PLAIN = 4_000  # characters without blocks; Slack splits longer texts
LINE = 200  # characters of the line above, before escaping

MARKS = {**SIDES, "judge": "🟡", "vote": "", "info": "", "warning": "", "error": ""}
OTHER_MARKS = ("🔵", "🔴", "🟢", "🟣", "🟤", "🟠", "⚫", "⚪", "🟡")
NO_MARK = "▫️"


@in_its_language
def parts(message: Message, stem: str) -> tuple[Part, ...]:
    """Turn a message into payloads; buttons and files go with the last."""
    card = card_of(message)
    cut = pieces_of(markdown_of(card, SHOWN))
    return tuple(_payload(card, piece).part(piece.reference) for piece in in_pieces(cut, stem))


def plain(source: Part | str, reference: str) -> tuple[Part, ...]:
    """Turn a refused payload, or a text, into messages without blocks, files or buttons."""
    text = source if isinstance(source, str) else _said(SlackPayload.of(source))
    pieces = chop(clean(text), PLAIN - len(reference) - 10, lambda piece: len(escape(piece)))
    return tuple(
        SlackPayload(f"{escape(piece)}\n{Reference.read(ref).mark}", []).part(ref, plain=True)
        for ref, piece in zip(numbered(reference, len(pieces)), pieces, strict=True)
    )


def _said(payload: SlackPayload) -> str:
    """Return the text of a payload without its number, which begins the last line."""
    *blocks, last = payload.blocks
    said = []
    for block in (*blocks, last | {"elements": last["elements"][1:]}):
        if block["type"] == "context":
            said += [element["text"] for element in block["elements"]]
        elif block["type"] == "markdown":
            said.append(block["text"])
    said += [say(FILE_LEFT_OUT, name=escape(file.name)) for file in payload.files]
    return typed("\n".join(said))


def line_block(*said: str) -> dict[str, Any]:
    """Return a line of small print; escapes the text."""
    return {"type": "context", "elements": [{"type": "mrkdwn", "text": escape(t)} for t in said]}


def mark_of(side: str) -> str:
    """Return the colour mark of a side: A blue, B red, 1 to 9 one each."""
    return by_side(side, MARKS, OTHER_MARKS, NO_MARK)


def _payload(card: Card, piece: Piece) -> SlackPayload:
    """Return one piece; each has the title, the last the state, buttons, footer and files."""
    title = headline(f"{mark_of(card.side)} {card.title}", LINE) or "…"
    if piece.number > 1:
        title = say(texts.CONTINUED, title=title, number=piece.number)
    blocks = [line_block(title)]
    if piece.text.strip():
        blocks.append(markdown_block(piece.text))
    number = Reference.read(piece.reference).mark
    below = [number]
    if piece.last:
        blocks += (
            [{"type": "section", "text": {"type": "mrkdwn", "text": _said_of(card.state)}}]
            if card.state
            else []
        )
        # Slack has no secret ballots, and so no buttons for them.
        secret = card.ballot is not None and card.ballot.kind is BallotKind.SECRET
        blocks += [row(map(_button, card.buttons))] if card.buttons and not secret else []
        below = [" · ".join(filter(None, (number, card.code, card.footer)))]
        below += [card.small] if card.small else []
    blocks.append(line_block(*below))
    tokens = [_said_of(card.state)] if piece.last and card.state else []
    if piece.last and card.closes:  # which Slack's own markup has to say
        said = closes(card, _local)
        blocks[-1]["elements"].append({"type": "mrkdwn", "text": said})
        tokens.append(said)
    whole = "\n".join((title, *filter(None, (piece.text, *below[1:]))))
    files = card.attached() if piece.last else ()
    broadcast = card.broadcast and piece.number == 1
    return SlackPayload(fallback(whole, *tokens), blocks, files, broadcast, card.speaker)


def _said_of(progress: Progress) -> str:
    """Return the state in Slack's own markup; its thread is right below, so needs no link."""
    until = _local(progress.until) if progress.until else ""
    return progressed(progress, thread=say(texts.ITS_THREAD), until=until, escape=escape)


def _local(at: datetime) -> str:
    """Return a time that Slack shows in each reader's own time zone."""
    shown, elsewhere = say(texts.AT, time="{time}"), say(texts.AT, time=f"{at:%H:%M} UTC")
    return f"<!date^{int(at.timestamp())}^{shown}|{elsewhere}>"
