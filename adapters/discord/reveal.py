"""How a reveal reads: who it was, what people say, what the jury says."""

from __future__ import annotations

from collections.abc import Iterator

from adapters.discord import texts
from engine.debate import TIE, Persuasion, Tally, Verdict
from engine.messages import JurorLine, Reveal


def lines(reveal: Reveal) -> Iterator[str]:
    """Return a reveal as lines of Markdown."""
    for side, model in reveal.models.items():
        template = texts.DRAWN if side in reveal.drawn else texts.MODEL
        yield template.format(side=side, model=model)
    yield ""
    yield from _people(reveal.tally, tuple(reveal.models))
    if reveal.persuasion is not None:
        yield _persuasion(reveal.persuasion)
    yield ""
    yield _jury(reveal.verdict)
    yield from (_juror(line) for line in reveal.jurors)
    yield ""
    yield texts.AGREE[reveal.agree]
    cost = texts.COST_UNKNOWN if reveal.usd is None else texts.SPENT_USD.format(usd=reveal.usd)
    yield texts.plural(texts.SPENT, reveal.calls, cost=cost)


def _people(tally: Tally, contenders: tuple[str, ...]) -> Iterator[str]:
    said = texts.PEOPLE.format(counts=_counts(tally.counts))
    if tally.share is not None and tally.low is not None and tally.high is not None:
        bounds = {"low": 100 * tally.low, "high": 100 * tally.high}
        share = texts.SHARE.format(side=contenders[0], share=100 * tally.share, **bounds)
        said = f"{said}; {share}"
    yield said
    if tally.gold != tally.counts:
        yield texts.GOLD.format(counts=_counts(tally.gold))
    yield _human_winner(tally)


def _counts(counts: dict[str, int]) -> str:
    return " · ".join(f"{texts.option_name(option)} {n}" for option, n in counts.items())


def _human_winner(tally: Tally) -> str:
    if not any(tally.counts.values()):
        return texts.NO_VOTES
    if tally.winner is None:
        return texts.NO_QUORUM
    return (
        texts.PEOPLE_TIED if tally.winner == TIE else texts.PEOPLE_CHOSE.format(winner=tally.winner)
    )


def _persuasion(persuasion: Persuasion) -> str:
    moved = (texts.plural(texts.MOVED, n, side=side) for side, n in persuasion.moved.items())
    return texts.PERSUASION.format(people=persuasion.people, moved=" · ".join(moved))


def _jury(verdict: Verdict) -> str:
    chances = [texts.CHANCE.format(side=side, p=p) for side, p in verdict.p.items()]
    if len(chances) == 2:  # the second is what is missing to 1
        del chances[1]
    detail = [*chances, texts.plural(texts.VALID, verdict.valid)]
    if verdict.invalid:
        detail.append(texts.INVALID.format(n=verdict.invalid))
    if verdict.effective_votes is not None:
        detail.append(texts.EFFECTIVE.format(n=verdict.effective_votes))
    if not verdict.blind:
        detail.append(texts.NOT_BLIND)
    said = ", ".join(detail)
    if verdict.winner is None:
        return texts.JURY_NOTHING.format(problem=verdict.problem, detail=said)
    template = texts.JURY_TIED if verdict.winner == TIE else texts.JURY_CHOSE
    return template.format(winner=verdict.winner, detail=said)


def _juror(line: JurorLine) -> str:
    order = ", ".join(line.order)
    if line.verdict is None:
        return texts.JUROR_INVALID.format(juror=line.juror, problem=line.problem, order=order)
    said = texts.JUROR.format(
        juror=line.juror, verdict=texts.option_name(line.verdict), order=order
    )
    return f"{said}, {texts.CONTRADICTORY}" if line.contradictory else said
