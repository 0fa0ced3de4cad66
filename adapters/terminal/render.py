"""How each message looks in a terminal: in colour with rich, or as plain lines.

Both are made from one card, and everything that models and people wrote is data in both:
it reaches rich as text, never as markup, and without a control character.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from markdown_it import MarkdownIt
from rich.console import Group, RenderableType
from rich.markdown import Markdown
from rich.panel import Panel
from rich.text import Text

from adapters.terminal import texts
from engine import card_markdown
from engine.debate import TIE, Tally, Verdict, Violation
from engine.messages import (
    MESSAGE,
    AgainInvite,
    Announcement,
    Arc,
    JurorLine,
    Message,
    Notice,
    Report,
    Reveal,
    ScoreBoard,
    StanceInvite,
    TurnPost,
    VoteClosed,
    VoteInvite,
)
from engine.ports import Part
from engine.text import clean
from engine.wording import markdown_of

JURY_COLOUR = "yellow"
SIDE_COLOURS = {"A": "blue", "B": "red", "judge": JURY_COLOUR}
OTHER_COLOURS = ("blue", "red", "green", "magenta", "cyan", "bright_blue", "bright_red")
LEVEL_COLOURS = {"info": "cyan", "warning": "yellow", "error": "red"}


class Line(NamedTuple):
    """One line of a card and its style in colour."""

    text: str
    style: str = ""


class Card(NamedTuple):
    """What a message shows; `markdown` comes before the lines."""

    title: str
    colour: str
    lines: tuple[Line, ...] = ()
    markdown: str = ""
    footer: str = ""


def parts(message: Message, stem: str) -> tuple[Part, ...]:
    """Freeze a message: one piece whose body is the message as JSON."""
    return (Part(reference=f"{stem}·1/1", body=MESSAGE.dump_json(message).decode()),)


def plain(message: Message, reference: str, folder: Path | None = None) -> str:
    """Return a message as plain lines, the reference in the first.

    Its files are in `folder`, where they are kept.
    """
    card = card_of(message, folder)
    head = f"[{card.title}] {card.footer}".rstrip()
    body = [card.markdown] if card.markdown else []
    rows = [f"{head} ({reference})", *body, *(line.text for line in card.lines)]
    return clean("\n".join(rows)) + "\n"


def pretty(
    message: Message, reference: str, folder: Path | None = None, *, dim: bool = False
) -> RenderableType:
    """Return a message as a panel in the colour of its side; `dim` for one shown before."""
    card = card_of(message, folder)
    rows: list[RenderableType] = [_markdown(card.markdown)] if card.markdown else []
    rows += [Text(clean(line.text), style=line.style) for line in card.lines]
    return Panel(
        Group(*rows),
        title=Text(clean(card.title), style=f"bold {card.colour}"),
        subtitle=Text(f"{card.footer}  {reference}".strip(), style="dim"),
        title_align="left",
        subtitle_align="right",
        border_style=card.colour,
        style="dim" if dim else "none",
    )


def card_of(message: Message, folder: Path | None = None) -> Card:  # noqa: C901 - one case a message
    """Return what a message shows, for either look."""
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
            title = texts.CLOSED_EARLY if message.early else texts.CLOSED
            said = texts.plural(texts.CLOSED_WITH, message.votes)
            return Card(title, JURY_COLOUR, (Line(said),))
        case Reveal():
            return Card(texts.REVEAL, JURY_COLOUR, tuple(_reveal(message)))
        case Notice():
            title, colour = texts.LEVELS[message.level], LEVEL_COLOURS[message.level]
            return Card(title, colour, (Line(message.text),))
        case Report():
            paths = [folder / file.name if folder else file.name for file in message.files]
            lines = tuple(Line(texts.FILE.format(name=path), "dim") for path in paths)
            return Card(message.title, colour_of(message.side), lines, message.text)
        case ScoreBoard() | Arc():
            return Card(message.title, JURY_COLOUR, markdown=markdown_of(message))


def colour_of(side: str) -> str:
    """Return the colour of a contender: A blue, B red, 1 to 9 one each in turn."""
    if side.isascii() and side.isdigit():
        return OTHER_COLOURS[(int(side) - 1) % len(OTHER_COLOURS)]
    return SIDE_COLOURS.get(side, "white")


# html: shown as it is written, for rich would drop it, as it drops what an image or a link
# definition names. Deeper nesting than the parser reads is caught by _DEEP.
_PARSER = (
    MarkdownIt("commonmark", {"html": False})
    .enable(["strikethrough", "table"])
    .disable(["image", "reference"])
)
_DEEP = re.compile(r"^[ \t]*(?:(?:[>*+-]|\d{1,9}[.)])[ \t]*){8}", re.MULTILINE)
_INDENTED = re.compile(r"^[ \t]{40}", re.MULTILINE)


def _markdown(text: str) -> RenderableType:
    text = clean(text)
    if _DEEP.search(text) or _INDENTED.search(text):
        return Text(text)
    shown = Markdown("", hyperlinks=False)
    shown.parsed = _PARSER.parse(text)
    return shown


def _announcement(debate: Announcement) -> Card:
    sides = [texts.SIDES.get(s, texts.SIDE.format(side=s)) for s in debate.contenders]
    setting = texts.SETTING.format(
        format=debate.format, language=debate.language, rounds=", ".join(debate.rounds)
    )
    terms = (
        texts.plural(texts.JURY if debate.blind else texts.JURY_SEEING, debate.jurors),
        texts.plural(texts.VOTE_LASTS, debate.vote_minutes),
    )
    lines = [Line(texts.TOPIC.format(topic=debate.topic), "bold")]
    if debate.conditions:
        lines.append(Line(texts.CONDITIONS.format(conditions=debate.conditions)))
    lines += [Line(setting), Line(" · ".join(sides)), Line(" · ".join(terms))]
    lines.append(Line(_estimate(debate), "dim"))
    return Card(texts.DEBATE.format(code=debate.code), "cyan", tuple(lines))


def _estimate(debate: Announcement) -> str:
    estimate = debate.estimate
    cost = texts.COST_UNKNOWN
    if estimate.usd is not None and estimate.usd_max is not None:
        cost = texts.COST.format(usd=estimate.usd, most=estimate.usd_max)
    return texts.ESTIMATE.format(
        calls=estimate.calls,
        most=estimate.calls_max,
        minutes=_duration(estimate.minutes),
        cost=cost,
    )


def _duration(minutes: float) -> str:
    return texts.SOON if minutes < 1 else texts.MINUTES.format(n=minutes)


def _turn(turn: TurnPost) -> Card:
    title = card_markdown.turn_title(turn)
    counted = texts.WORDS_OF if turn.limit else texts.WORDS
    footer = counted.format(words=turn.words, limit=turn.limit)
    if turn.seconds is not None:
        used = texts.TIME.format(used=_clock(turn.seconds), given=_clock(turn.seconds_limit or 0))
        footer = f"{footer} · {used}"
    return Card(
        title,
        colour_of(turn.side),
        tuple(Line(_violation(broken), "bold yellow") for broken in turn.violations),
        turn.text,
        footer,
    )


def _clock(seconds: int) -> str:
    return f"{seconds // 60}:{seconds % 60:02d}"


def _violation(broken: Violation) -> str:
    return texts.VIOLATION.format(rule=card_markdown.broken_rule(broken))


def _stance(invite: StanceInvite) -> Card:
    options = " · ".join(texts.STANCES.get(option, option) for option in invite.options)
    lines = [Line(texts.TOPIC.format(topic=invite.topic), "bold")]
    lines.append(Line(texts.STANCE_ASKS.format(options=options)))
    if invite.seconds is not None:
        lines.append(Line(texts.STANCE_WAITS.format(seconds=invite.seconds)))
    title = texts.STANCE_AFTER if invite.after else texts.STANCE
    return Card(title, JURY_COLOUR, tuple(lines))


def _again(invite: AgainInvite) -> Card:
    options = " · ".join(texts.option_name(option) for option in invite.options)
    asks = Line(texts.INVITE_ASKS.format(options=options), "bold")
    return Card(texts.AGAIN, JURY_COLOUR, (asks,))


def _invite(invite: VoteInvite) -> Card:
    options = " · ".join(texts.option_name(option) for option in invite.options)
    lasts = texts.plural(texts.VOTE_LASTS, invite.minutes)
    quorum = texts.plural(texts.QUORUM, invite.quorum)
    terms = texts.INVITE_TERMS.format(lasts=lasts, quorum=quorum)
    lines = (Line(texts.INVITE_ASKS.format(options=options), "bold"), Line(_sentence(terms)))
    return Card(texts.INVITE, JURY_COLOUR, lines)


def _reveal(reveal: Reveal) -> Iterator[Line]:
    yield Line(texts.TOPIC.format(topic=reveal.topic), "bold")
    for side, model in reveal.models.items():
        template = texts.DRAWN if side in reveal.drawn else texts.MODEL
        yield Line(template.format(side=side, model=model), colour_of(side))
    for seat, model in reveal.seats.items():
        yield Line(texts.MODEL.format(side=seat, model=model), colour_of(seat[:1]))
    if reveal.judges:
        yield Line(texts.OWN_JUDGES.format(judges=", ".join(reveal.judges)), JURY_COLOUR)
    yield from _people(reveal.tally, tuple(reveal.models))
    if reveal.persuasion is not None and reveal.persuasion.people:
        moved = reveal.persuasion.moved
        counts, number = _counts(moved), sum(moved.values())
        people = reveal.persuasion.people
        yield Line(texts.MOVED.format(moved=number, people=people, counts=counts))
    yield Line(_jury(reveal.verdict), "yellow")
    for juror in reveal.jurors:
        yield Line(f"  {_juror(juror)}", "dim")
    compared = texts.AGREE if reveal.agree else texts.DISAGREE
    yield Line(texts.NOT_COMPARED if reveal.agree is None else compared, "bold")
    cost = texts.COST_UNKNOWN
    if reveal.usd is not None:
        cost = texts.SPENT_USD.format(usd=reveal.usd)
    yield Line(texts.plural(texts.SPENT, reveal.calls, cost=cost), "dim")


def _people(tally: Tally, contenders: tuple[str, ...]) -> Iterator[Line]:
    said = texts.PEOPLE.format(counts=_counts(tally.counts))
    if tally.share is not None and tally.low is not None and tally.high is not None:
        bounds = {"low": 100 * tally.low, "high": 100 * tally.high}
        share = texts.SHARE.format(side=contenders[0], share=100 * tally.share, **bounds)
        said = f"{said}; {share}"
    yield Line(said)
    if tally.gold != tally.counts:
        yield Line(texts.GOLD.format(counts=_counts(tally.gold)))
    yield Line(_human_winner(tally))


def _counts(counts: dict[str, int]) -> str:
    return " · ".join(f"{texts.option_name(o)} {n}" for o, n in counts.items())


def _human_winner(tally: Tally) -> str:
    if not any(tally.counts.values()):
        return texts.NO_VOTES
    if tally.winner is None:
        return texts.NO_QUORUM
    if tally.winner == TIE:
        return texts.PEOPLE_TIED
    return texts.PEOPLE_CHOSE.format(winner=tally.winner)


def _jury(verdict: Verdict) -> str:
    detail = [texts.CHANCE.format(side=side, p=p) for side, p in verdict.p.items()]
    if len(detail) == 2:  # the second is what is missing to 1
        del detail[1]
    detail.append(texts.plural(texts.VALID, verdict.valid))
    if verdict.invalid:
        detail.append(texts.INVALID.format(n=verdict.invalid))
    if verdict.effective_votes is not None:
        detail.append(texts.EFFECTIVE.format(n=verdict.effective_votes))
    if verdict.order_alone:
        detail.append(texts.ORDER_ALONE)
    if not verdict.blind:
        detail.append(texts.NOT_BLIND)
    said = ", ".join(detail)
    if verdict.winner is None:
        return texts.JURY_NOTHING.format(problem=verdict.problem, detail=said)
    if verdict.winner == TIE:
        return texts.JURY_TIED.format(detail=said)
    return texts.JURY_CHOSE.format(winner=verdict.winner, detail=said)


def _juror(line: JurorLine) -> str:
    order = ", ".join(line.order)
    if line.verdict is None:
        return texts.JUROR_INVALID.format(juror=line.juror, problem=line.problem, order=order)
    said = texts.JUROR.format(
        juror=line.juror, verdict=texts.option_name(line.verdict), order=order
    )
    return f"{said}, {texts.CONTRADICTORY}" if line.contradictory else said


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]
