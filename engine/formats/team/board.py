"""What the thread reads of a `team` debate's judge: the scoreboard and the review; pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from engine.formats.team.manual import SEATS
from engine.formats.team.rules import Scored, Totals, count_up
from engine.values.judging import Adjustment
from engine.values.messages import BoardRow, Report, ScoreBoard
from engine.values.text import marked
from engine.words.phrases import headed, round_name
from engine.words.translation import number, plural, say

REVIEW, REVIEW_UNREAD = "The judge's review", "The judge gave no review that could be read."
POINTS = "**Points:** {points}"
BEST = "**Best debater:** {seat}, {total:.2f}"
STAGE = "**{stage}.** {text}"
JUDGES = "**Judges:** {text}"
COLUMNS = ("speeches", "penalties", "total", "mean")
TEAM = "Team {side}"
UNSCORED = ("{n} speech could not be scored.", "{n} speeches could not be scored.")
DISAGREE = (
    "Sum and mean a speech disagree: a team that speaks more often gains by it in the sum alone."
)
BROKE = "{seat} in {round}: {rules}."
BROKE_AND_LOST = "{seat} in {round}: {rules} ({lost})."
RULES = {
    "overtime": "overtime",
    "the same team spoke twice running": "the same team spoke twice running",
    "counter_question": "counter question",
    "not_direct_answer": "not a direct answer",
    "attacker_answered": "attacker answered",
    "off_topic": "off topic",
    "scripted_summary": "scripted summary",
    "personal_attack": "personal attack",
}


def draw_board(speeches: Sequence[Scored], penalties: Sequence[Adjustment]) -> ScoreBoard:
    """Return the scoreboard: each seat, both teams, and what rules were broken."""
    totals = count_up(speeches, penalties, SEATS)
    names = {seat: seat for seat in SEATS} | {side: say(TEAM, side=side) for side in "AB"}
    counted = totals.seats | totals.teams
    rows = []
    for subject, name in names.items():
        spoken = sum(speech.seat.startswith(subject) for speech in speeches)
        lost = sum(penalty.amount for penalty in penalties if penalty.subject == subject)
        mean = totals.means[subject]
        points = (number(lost, "g"), *(number(n, ".2f") for n in (counted[subject], mean)))
        cells = (str(spoken), *points)
        rows.append(BoardRow(side=subject[0], name=name, cells=cells))
    notes = (*_remarks(totals, speeches), *_breaches(speeches, penalties))
    return ScoreBoard(title="Scoreboard", columns=COLUMNS, rows=tuple(rows), notes=notes)


def write_review(
    totals: Totals,
    review: str,
    summaries: Mapping[str, str],
    judges: str,
) -> Report:
    """Return the final review: the judge's words, the count, and how each stage went.

    `judges` says how far several judges agree.
    """
    parts = [review or say(REVIEW_UNREAD)]
    if totals.best:
        points = (f"{marked(side)} {number(total, '.2f')}" for side, total in totals.teams.items())
        parts.append(say(POINTS, points=say(", ").join(points)))
        parts.append(say(BEST, seat=marked(totals.best), total=totals.seats[totals.best]))
    parts += [say(JUDGES, text=judges)] if judges else []
    for stage, said in summaries.items():
        parts.append(say(STAGE, stage=headed(stage), text=said))
    return Report(title=say(REVIEW), text="\n\n".join(parts), side="judge")


def _remarks(totals: Totals, speeches: Sequence[Scored]) -> Iterator[str]:
    if totals.winner != totals.mean_winner:
        yield say(DISAGREE)
    unread = sum(speech.score is None for speech in speeches)
    if unread:
        yield plural(UNSCORED, unread)


def _breaches(speeches: Sequence[Scored], penalties: Sequence[Adjustment]) -> Iterator[str]:
    """Yield a line for each speech that broke rules: the rules, the cost and who paid it."""
    for speech in speeches:
        costs = [penalty for penalty in penalties if penalty.by == speech.step]
        # A penalty's reason begins with its rule.
        rules = [*speech.violations, *(cost.reason.partition(":")[0] for cost in costs)]
        if rules:
            told = say(", ").join(say(RULES.get(rule, rule)) for rule in dict.fromkeys(rules))
            lost = say(", ").join(
                f"{marked(cost.subject)} {number(cost.amount, 'g')}" for cost in costs
            )
            where = {"seat": marked(speech.seat), "round": round_name(speech.round)}
            yield say(BROKE_AND_LOST if lost else BROKE, rules=told, lost=lost, **where)
