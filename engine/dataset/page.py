"""A debate's page as one value; before the reveal it names no model and holds no result."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from functools import cache
from html import escape
from importlib.resources import files
from typing import TYPE_CHECKING, Any, NamedTuple

from jinja2 import Environment, StrictUndefined, Template

from engine.blinding.identity import names_of, redact
from engine.values.debate import Debate, Source, Status, Turn
from engine.values.language import N_, speaking
from engine.values.messages import Reveal
from engine.values.text import clean, redact as redact_mentions, rename
from engine.values.verdicts import Ballot
from engine.words.cards import words_used
from engine.words.details import detail_lines
from engine.words.phrases import option_name, round_name, source_name, sum_up
from engine.words.reveal import reveal_lines
from engine.words.stored import broken_rule
from engine.words.translation import say

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

UNHELD = (Status.PARTIAL, Status.CANCELLED, Status.FAILED)


class PageTurn(NamedTuple):
    """A turn as people read it; `text` is Markdown of a model, and answers what was `asked`.

    `number` counts through the debate, and is what a link to it ends with; `step` is its name.
    """

    side: str
    title: str
    text: str
    used: str
    broken: tuple[str, ...] = ()
    quotations: str = ""
    asked: tuple[str, ...] = ()
    number: int = 0
    step: str = ""


class _JurorMarks(NamedTuple):
    """What a juror gave one contender: a score for each criterion, and the weighted mean."""

    name: str
    scores: tuple[tuple[str, int], ...]


class Read(NamedTuple):
    """A juror's ballot; without a `verdict`, `problem` says what was wrong with it.

    `weight` is what the verdict gave it, with mean 1; None where it was not weighed.
    """

    juror: str
    verdict: str
    problem: str
    order: str
    marks: tuple[_JurorMarks, ...]
    reasons: str
    counts: bool
    contradictory: bool = False
    recused: bool = False
    confidence: float | None = None
    weight: float | None = None


class ReportedDebate(NamedTuple):
    """Everything that a page shows, in its order.

    `topic`, `conditions`, `stances`, `sources` (names with titles, and their texts) and the turns'
    texts are data of people and models; `result` is Markdown, empty until the reveal, and then
    `sealed` says why. `sections` have what the format found, once nothing is sealed.
    """

    code: str
    topic: str
    conditions: str
    language: str
    format: str
    held: datetime
    stances: tuple[tuple[str, str], ...]
    sources: tuple[tuple[str, str], ...]
    turns: tuple[PageTurn, ...]
    result: tuple[str, ...]
    ballots: tuple[Read, ...]
    sealed: str
    sections: tuple[PageSection, ...] = ()


class PageTable(NamedTuple):
    """A table: its heads, and rows of as many cells."""

    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    title: str = ""


def table_of(head: Sequence[str], rows: Iterable[Sequence[object]], title: str = "") -> PageTable:
    """Return a table of texts, numbers and figures, which are told in the language spoken."""
    return PageTable(tuple(head), tuple(tuple(map(str, row)) for row in rows), title)


class PageSection(NamedTuple):
    """A part of a page; `key` is what a link to it ends with.

    `facts` are names with values, `lines` are paragraphs, `text` is Markdown of models, `raw` is
    shown as it is. `picture` is the name of one, and `alt` says the same in words.
    """

    key: str
    title: str
    facts: tuple[tuple[str, str], ...] = ()
    grids: tuple[PageTable, ...] = ()
    text: str = ""
    raw: str = ""
    picture: str = ""
    alt: str = ""
    lines: tuple[str, ...] = ()


def lay_out(
    debate: Debate,
    turns: Sequence[Turn],
    reveal: Reveal | None,
    ballots: Sequence[Ballot] = (),
    looked_up: Sequence[Source] = (),
) -> ReportedDebate:
    """Return a debate's page; without a reveal nothing that is sealed is in it."""
    request = debate.request
    sources = (*request.sources, *looked_up)
    names = dict(debate.setup.called)
    unheld = debate.status in UNHELD
    told = (
        ""
        if reveal
        else say(
            N_("It ended without a vote and has no result.")
            if unheld
            else N_("Results stay sealed until the vote closes.")
        )
    )
    return ReportedDebate(
        code=debate.code,
        topic=redact_mentions(request.topic),
        conditions=redact_mentions(request.conditions),
        language=request.language,
        format=request.format,
        held=debate.opened_at or debate.created_at,
        stances=tuple(
            (option_name(side, names), redact_mentions(stance))
            for side, stance in request.stances.items()
        ),
        sources=tuple(
            (redact_mentions(source_name(number, source.title)), redact_mentions(source.text))
            for number, source in enumerate(sources, 1)
        ),
        turns=tuple(_spoken(debate, turns)),
        result=tuple(map(redact_mentions, _result(reveal))) if reveal else (),
        ballots=tuple(tell_ballot(ballot, names) for ballot in ballots) if reveal else (),
        sealed=told,
    )


def _result(reveal: Reveal) -> Iterator[str]:
    """Yield a result with its numbers; what each juror wrote stands among the ballots."""
    listed = False
    for line in (*reveal_lines(reveal), "", *detail_lines(reveal)):
        if listed and line and not line.startswith("- "):
            yield ""  # else the line would go on with the list's last item
        listed = line.startswith("- ")
        yield line


def _spoken(debate: Debate, turns: Sequence[Turn]) -> Iterator[PageTurn]:
    """Yield the turns as voters read them: without the models' names."""
    hidden = names_of(debate.setup)
    for turn in turns:
        who = debate.setup.called.get(turn.side) or turn.seat
        yield PageTurn(
            side=turn.side,
            title=f"{who} · {round_name(turn.round)}",
            text=redact_mentions(redact(turn.text, hidden | {turn.model})),
            used=words_used(turn.words, turn.limit),
            broken=tuple(map(broken_rule, turn.violations)),
            quotations=sum_up(turn.quotations),
            asked=tuple(redact_mentions(redact(one, hidden)) for one in turn.asked),
            number=turn.number,
            step=turn.step,
        )


def tell_ballot(ballot: Ballot, names: dict[str, str]) -> Read:
    """Return a ballot with the names that people know."""
    return Read(
        juror=ballot.juror,
        verdict=option_name(ballot.verdict, names) if ballot.verdict else "",
        problem=redact_mentions(ballot.problem),
        order=say(", ").join(option_name(side, names) for side in ballot.order),
        marks=tuple(
            _JurorMarks(option_name(side, names), tuple(sheet.items()))
            for side, sheet in (ballot.scores or {}).items()
        ),
        reasons=redact_mentions(
            rename(
                ballot.reasons, {n: option_name(side, names) for side, n in ballot.names.items()}
            )
        ),
        counts=not ballot.audit,
        contradictory=ballot.contradictory,
        recused=ballot.recused,
        confidence=ballot.confidence,
        weight=ballot.weight,
    )


# A page as Markdown and as HTML; whatever models and people wrote stays data in both.


_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~!&])")
_TAG = re.compile(r"<(?=[A-Za-z/!?])")
_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})")
RIGHT_TO_LEFT = frozenset({"ar", "fa", "he", "ur", "yi", "ps", "sd", "ug", "ckb", "dv"})


def write_markdown(page: ReportedDebate) -> str:
    """Return the page as Markdown."""
    with speaking(page.language):
        return _template("md").render(page=page).strip() + "\n"


def write_html(page: ReportedDebate) -> str:
    """Return the page as one HTML file that loads nothing and runs nothing."""
    direction = "rtl" if page.language.split("-")[0].lower() in RIGHT_TO_LEFT else "ltr"
    with speaking(page.language):
        return _template("html").render(page=page, direction=direction).strip() + "\n"


def inline(text: str) -> str:
    """Return a text on one line of Markdown in which nothing has a meaning."""
    return _SPECIAL.sub(r"\\\1", " ".join(text.split()))


def quoted(text: str) -> str:
    """Return Markdown as a quotation, which no text can leave; its HTML tags are shown."""
    lines, fence = [], ""
    for line in text.splitlines():
        mark = _FENCE.match(line)
        if mark and (not fence or mark[1].startswith(fence)):
            fence = "" if fence else mark[1]
        elif not fence:
            line = _TAG.sub("&lt;", line)
        lines.append(f"> {line}".rstrip())
    return "\n".join([*lines, f"> {fence}"] if fence else lines)


class _Html(str):
    """Text that a template must not escape again."""

    __slots__ = ()

    def __html__(self) -> str:
        return self


def to_html(text: str, heading: int = 3) -> _Html:
    """Return Markdown as HTML: tags and images in it are shown as text, links lead out safely.

    Its headings are all of one level, as those of a page's own order are not a text's to choose.
    """
    try:
        return _Html(_parser().render(clean(text), {"heading": heading}))
    except RecursionError:
        return _Html(f"<pre>{escape(clean(text))}</pre>")


def shown(value: object) -> object:
    """Return a value as a template shows it: texts without control characters."""
    return clean(value) if isinstance(value, str) and not hasattr(value, "__html__") else value


@cache
def _template(kind: str) -> Template:
    environment = Environment(
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=shown,
        autoescape=kind == "html",  # noqa: S701 - Markdown is no HTML; `inline` and `quoted` escape
    )
    environment.globals["say"] = say
    environment.filters |= {"inline": inline, "quoted": quoted, "markdown": to_html}
    text = files(__package__).joinpath(f"page.{kind}.jinja").read_text(encoding="utf-8")
    return environment.from_string(text)


@cache
def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt  # only now: few processes write a page

    parser = MarkdownIt("commonmark", {"html": False})
    parser.enable(["strikethrough", "table"]).disable(["image", "reference"])
    parser.add_render_rule("link_open", _link)
    parser.add_render_rule("heading_open", _heading)
    parser.add_render_rule("heading_close", _heading)
    return parser


def _heading(renderer: Any, tokens: Sequence[Token], at: int, options: Any, env: Any) -> str:
    tokens[at].tag = f"h{env['heading']}"
    rendered: str = renderer.renderToken(tokens, at, options, env)
    return rendered


def _link(renderer: Any, tokens: Sequence[Token], at: int, options: Any, env: Any) -> str:
    tokens[at].attrSet("rel", "noopener noreferrer nofollow")
    rendered: str = renderer.renderToken(tokens, at, options, env)
    return rendered
