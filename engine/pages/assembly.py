"""Puts a debate's page together: what everyone may read, and what an operator reads beside it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import takewhile
from math import fsum
from typing import Any, NamedTuple

from engine.dataset.entry import may_be_read
from engine.dataset.page import lay_out
from engine.delivery.reasons import why
from engine.pages.debate_page import (
    CALLS_ON_A_PAGE,
    CallPage,
    CallsPage,
    DebatePage,
    ModelSpending,
    PageTry,
    TurnsPart,
    only_last,
    shorten,
    shorten_sections,
)
from engine.pages.head import DebateSituation, Item, Rows, make_head
from engine.pages.parts import argument_cards, free_speeches, read_juries, revisions
from engine.pages.sections import read_marks, read_sections, why_section
from engine.store.journal import Judging
from engine.values.debate import Debate, Source, Status, Turn
from engine.values.language import speaking
from engine.values.messages import Reveal
from engine.values.text import redact
from engine.values.verdicts import Ballot
from engine.words.translation import say

LEAST_SAME = 80  # characters that are worth folding


class PageSources(NamedTuple):
    """What a page is made of; `rows` are those of an export, None while anything is sealed.

    `spoken` names all turns; `calls` is how many there are, and `usd` what they cost. `calls` is
    None for those who may not read them.
    """

    item: Item
    debate: Debate
    spoken: Sequence[Mapping[str, Any]]
    reveal: Reveal | None = None
    ballots: Sequence[Ballot] = ()
    looked_up: Sequence[Source] = ()
    rows: Rows | None = None
    calls: int | None = 0
    usd: float | None = None
    judgings: Sequence[Judging] = ()
    situation: DebateSituation = DebateSituation()


def assemble(found: PageSources, part: TurnsPart) -> DebatePage:
    """Return a part of a debate's page, in the debate's language."""
    debate = found.debate
    with speaking(debate.request.language):
        page = lay_out(debate, part.turns, found.reveal, found.ballots, found.looked_up)
        rows, names = found.rows, debate.setup.called
        cost = None if found.calls is None else (found.calls, found.usd)
        item = found.item if rows else found.item._replace(models=())
        head = make_head(debate, item, found.reveal, found.situation, len(found.spoken), cost)
        because = found.reveal and why_section(found.reveal)
        if because:
            head = head._replace(below=(because.key, *head.below))
        sides = [card.name for card in head.cards]
        juries = read_juries(page.ballots, found.judgings, names, sides) if part.last else ()
        page, longer = shorten(only_last(page, part)._replace(held=found.item.held), part)
        sections = read_sections(rows, names) if rows and part.last else ()
        if because and part.last:
            sections = (because, *sections)
        is_team = debate.request.format == "team"
        board = free_speeches(found.spoken, debate.setup.limits) if is_team else ()
        arguments = argument_cards(rows, found.spoken) if rows and part.last else ()
        below = (*(["arguments"] if arguments else []), *(["free-debate"] if board else []))
        head = head._replace(below=(*below, *head.below))
        shown = {turn.number for turn in part.turns}
        marks = read_marks(rows, debate.request.format) if rows else {}
        waits = "" if head.trouble else redact(say(why(debate, outside=True)))
    return DebatePage(
        item=found.item,
        page=page,
        head=head,
        juries=juries,
        part=part.number,
        parts=part.parts,
        marks={number: mark for number, mark in marks.items() if number in shown},
        sections=shorten_sections(sections),
        waits=waits,
        live=debate.status.live or debate.status is Status.VOTING,
        calls=found.calls or 0,
        longer=longer,
        arguments=arguments,
        board=board if part.last else (),
        revisions=revisions(page.turns),
    )


# --- calls -------------------------------------------------------------------------------


def tries_of(
    calls: Sequence[Mapping[str, Any]], turns: Sequence[Mapping[str, Any]]
) -> tuple[PageTry, ...]:
    """Return the tries of calls in the order of an export, which does not say when they began."""
    spoken = {one["step"]: one["number"] for one in turns}
    return tuple(
        PageTry(
            number=number,
            step=one["step"],
            attempt=one["attempt"],
            model=one["model_asked"],
            answered=one["answered"],
            tokens_in=one["tokens_in"],
            tokens_cached=one["tokens_cached"],
            tokens_out=one["tokens_out"],
            usd=one["cost_usd"],
            seconds=one["latency_s"],
            turn=spoken.get(one["step"], 0),
        )
        for number, one in enumerate(calls, 1)
    )


def calls_page(item: Item, tries: Sequence[PageTry], number: int, *, kept: bool) -> CallsPage:
    """Return a page of calls with the sums over all of them; `kept`: prompts can be read."""
    count = max(1, -(-len(tries) // CALLS_ON_A_PAGE))
    number = min(max(number, 1), count)
    start = (number - 1) * CALLS_ON_A_PAGE
    line = sorted(tries, key=lambda one: (one.began or 0.0, one.number))
    began = {(one.step, one.attempt): one.began for one in tries}
    line = [
        one._replace(waited=one.began - before)
        if one.began and (before := began.get((one.step, one.attempt - 1))) is not None
        else one
        for one in line
    ]
    models = {
        model: _spending(model, [one for one in tries if one.model == model])
        for model in dict.fromkeys(one.model for one in tries)
    }
    return CallsPage(
        item=item,
        tries=tuple(line[start : start + CALLS_ON_A_PAGE]),
        number=number,
        pages=count,
        sums=_spending("", tries),
        sealed=False,
        kept=kept,
        lasted=max(
            (one.began + (one.seconds or 0.0) for one in tries if one.began is not None),
            default=0.0,
        ),
        by_model=tuple(sorted(models.values(), key=lambda one: (-(one.usd or 0.0), one.model))),
    )


def _spending(model: str, tries: Sequence[PageTry]) -> ModelSpending:
    known = [one.usd for one in tries if one.usd is not None]
    return ModelSpending(
        model=model,
        calls=len(tries),
        failed=sum(not one.answered for one in tries),
        tokens_in=sum(one.tokens_in or 0 for one in tries),
        tokens_out=sum(one.tokens_out or 0 for one in tries),
        seconds=fsum(one.seconds or 0.0 for one in tries),
        usd=fsum(known) if len(known) == len(tries) else None,
    )


def sealed_calls(item: Item) -> CallsPage:
    """Return the page of calls of a debate in which something is sealed: they name models."""
    return calls_page(item, (), 1, kept=False)._replace(sealed=True)


def call_page(
    item: Item,
    tries: Sequence[PageTry],
    number: int,
    asked: Mapping[str, Any] | None,
    before: Mapping[str, Any] | None = None,
) -> CallPage:
    """Return a call's page; `asked` is its row in `prompts`, None where an export has none.

    `before` is the row of the call to which `earlier_call` leads.
    """
    row = asked or {"messages": None, "reply": None, "error": None, "schema": None}
    messages = row["messages"]
    pairs = list(zip(messages or (), (before or {}).get("messages") or (), strict=False))
    shared = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
    return CallPage(
        item=item,
        call=tries[number - 1],
        messages=None
        if messages is None
        else tuple((one["role"], one["content"]) for one in messages),
        reply=row["reply"],
        error=row["error"] or "",
        schema=row["schema"] or "",
        calls=len(tries),
        shared=shared,
        same=_same(*(one["content"] for one in pairs[shared])) if pairs[shared:] else 0,
    )


def _same(text: str, before: str) -> int:
    """Return how many characters two texts have in common at their beginning, in whole lines."""
    lines = zip(text.splitlines(keepends=True), before.splitlines(keepends=True), strict=False)
    alike = sum(len(line) for line, _ in takewhile(lambda pair: pair[0] == pair[1], lines))
    return alike if alike >= LEAST_SAME else 0


def earlier_call(tries: Sequence[PageTry], number: int) -> PageTry | None:
    """Return the call that asked the same model before, of the same kind and side; None without."""
    call = tries[number - 1]
    kind = _kind(call)
    alike = [one for one in tries if _kind(one) == kind and one.number != number]
    if call.began is not None:
        alike = [one for one in alike if (one.began or 0.0, one.number) < (call.began, number)]
        return max(alike, key=lambda one: (one.began or 0.0, one.number), default=None)
    return None


def _kind(call: PageTry) -> tuple[str, str, str]:
    steps = call.step.split("/")
    return call.model, steps[0], steps[2] if steps[0] == "turn" and steps[2:] else ""


def whole_text(debate: Debate, turns: Sequence[Turn], number: int) -> str | None:
    """Return a turn's text as voters read it; None for a number that no turn has."""
    chosen = [turn for turn in turns if turn.number == number]
    with speaking(debate.request.language):
        return next((one.text for one in lay_out(debate, chosen, None).turns), None)


def readable(debate: Debate) -> bool:
    """Return whether nothing in a debate is sealed any more."""
    return may_be_read(debate)
