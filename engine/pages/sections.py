"""What stands below a debate's turns once nothing is sealed, made of the rows of an export."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from engine.pages.debate import Grid, Rows, Section, TurnMark
from engine.pages.findings import found_sections
from engine.pages.restored import restore_tally
from engine.pages.timeline import timelines
from engine.values.text import marked
from engine.words.phrases import option_name, round_name
from engine.words.translation import number, percent, say

Row: TypeAlias = Mapping[str, Any]
VERDICT, PEOPLE = "What the verdict rests on", "Who voted, and how"
LATER, ASKED = "Judged again", "What the audience asked"
PHASES = {
    "before_reveal": "before the reveal",
    "after_reveal": "after the reveal",
    "stance_before": "stance before the debate",
    "stance_after": "stance after the debate",
    "imported": "labels from another tool",
    "label": "labels on the web",
}
AFTER = "after {round}"
NOT_GOLD = {
    "scripted": "not known to be a person's",
    "judge": "saw a judge's scores",
    "starter": "started the debate",
    "speaker": "argued a side",
    "new": "account or membership too new",
    "ambiguous": "last choice unknown",
    "known": "could know the models",
    "mirror": "the mirrored debate had named the models",
    "gap": "a message was missing",
    "unread": "reactions could not be read",
    "imported": "perhaps not blind",
}
SUMMED = "{name} {n}"
PLACE, PHASE, GOLD = "platform", "phase", "independent"
STANCES = {"for": "for it", "against": "against it", "unsure": "unsure", "even": "even"}
RULES = ("balance of both orders", "the model of jurors")
MODES: Mapping[str, str] = {
    "adaptive": "as many jurors as it takes",
    "strict": "every juror in one order, balanced",
    "all": "every juror in every order",
    "one": "a single juror",
}


def read_sections(rows: Rows, names: Mapping[str, str]) -> tuple[Section, ...]:
    """Return every section of a debate that has something in it; `names` are its contenders'."""
    debate = rows["debates"][0]
    made: Iterator[Section | None] = iter(
        (
            _verdict(debate, names),
            _people(rows, names),
            *timelines(rows, names),
            *found_sections(rows, names),
            _later(rows.get("judgings", ()), names),
            _asked(rows.get("questions", ())),
        )
    )
    return tuple(section for section in made if section is not None)


# --- the jury ----------------------------------------------------------------------------


def _verdict(debate: Row, names: Mapping[str, str]) -> Section | None:
    if debate["n_valid"] is None:
        return None
    facts = [(say(name), told) for name, told in _rested(debate, names) if told]
    criteria = [
        (say(one["criterion"]), percent(one["weight"]), f"{one['lowest']}–{one['highest']}")
        for one in debate["criteria"]
    ]
    head = (say("criterion"), say("weight"), say("points"))
    return Section("verdict", say(VERDICT), tuple(facts), (Grid(head, tuple(criteria)),))


def _rested(debate: Row, names: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield what a verdict rests on: names, and values or nothing."""
    winner = debate["jury_winner"]
    readings = [(one["option"], one["n"]) for one in debate["jury_readings"] or ()]
    undecided = say("no verdict yet") if readings else say("no verdict")
    yield "jury's winner", option_name(winner, names) if winner else undecided
    chances = [(one["side"], one["p"]) for one in debate["p"] or ()]
    yield (
        "probability of winning",
        _joined(say(SUMMED, name=option_name(side, names), n=percent(p)) for side, p in chances),
    )
    yield "why there is no verdict", say(debate["jury_problem"] or "")
    yield (
        "readings so far",
        _joined(say(SUMMED, name=option_name(one, names), n=str(n)) for one, n in readings),
    )
    yield "readings that count", str(debate["n_valid"])
    yield "unreadable answers", str(debate["n_invalid"] or "")
    yield "readings that decide nothing", str(debate["n_audit"] or "")
    yield "worth in independent votes", _figure(debate["effective_votes"], ".1f")
    yield "signal", _figure(debate["z"], "+.2f")
    rule = debate.get("jury_rule")
    yield "found by", say(RULES[rule == "model"])
    yield "doubt left", _figure(debate.get("jury_variance"), ".2f")
    mode = str(debate["panel_mode"])
    yield "how jurors read", say(MODES.get(mode, mode))
    yield "order of reading", say("no side led in every order") if debate["order_alone"] else ""
    recused = say("jurors related to a debater had to sit")
    yield "jurors", recused if debate["recusal_failed"] else ""


def _later(judgings: Sequence[Row], names: Mapping[str, str]) -> Section | None:
    if not judgings:
        return None
    head = (say("number"), say("judges"), say("winner"))
    cells = tuple(
        (
            str(one["number"]),
            _joined(judge["judge"] for judge in one["judges"]),
            option_name(one["winner"], names) if one["winner"] else say("no verdict"),
        )
        for one in judgings
    )
    return Section("judged-again", say(LATER), grids=(Grid(head, cells),))


# --- people ------------------------------------------------------------------------------


def _people(rows: Rows, names: Mapping[str, str]) -> Section | None:
    votes, debate = rows.get("votes", ()), rows["debates"][0]
    if not votes and not debate["tally"]:
        return None
    tally = restore_tally(debate)
    counted = _joined(
        say(SUMMED, name=option_name(option, names), n=n) for option, n in tally.deciding.items()
    )
    others = _joined(
        say(SUMMED, name=option_name(option, names), n=n - tally.deciding[option])
        for option, n in tally.counts.items()
        if n > tally.deciding[option]
    )
    winner = debate["human_winner"]
    facts = [
        (say("people's winner"), option_name(winner, names) if winner else say("none")),
        (say("votes that count"), counted),
        (say("votes that are not independent"), others),
        (say("share of A"), _share(debate)),
        (say("people whom exports leave out"), str(debate["opted_out"] or "")),
    ]
    head = (say(PLACE), say(PHASE), say("chosen"), say(GOLD), say("not independent because"))
    grids = [Grid(head, tuple(_phases(votes, names))), *_remarks(votes), *_guesses(rows, names)]
    shown = tuple(fact for fact in facts if fact[1])
    return Section("people", say(PEOPLE), shown, tuple(grid for grid in grids if grid.rows))


def _phases(votes: Sequence[Row], names: Mapping[str, str]) -> Iterator[tuple[str, ...]]:
    """Yield a row for each platform and phase: what was chosen, how many votes are gold."""
    groups: dict[tuple[str, str, str], list[Row]] = {}
    for vote in votes:
        key = vote["platform"], vote["phase"], vote["round"] or ""
        groups.setdefault(key, []).append(vote)
    for (platform, phase, step), cast in groups.items():
        told = say(AFTER, round=round_name(step)) if step else say(PHASES.get(phase, phase))
        chosen = Counter("?" if vote["ambiguous"] else vote["option"] for vote in cast)
        why = Counter(vote["reason"] for vote in cast if vote["reason"])
        yield (
            platform,
            told,
            _counted(chosen, lambda option: _chosen(option, names)),
            str(sum(bool(vote["gold"]) for vote in cast)),
            _counted(why, lambda reason: say(NOT_GOLD.get(reason, reason))),
        )


def _remarks(votes: Sequence[Row]) -> Iterator[Grid]:
    """Yield how clear people found it, and what decided for them, by platform."""
    for column, title in (("confidence", "how clear"), ("ground", "what decided")):
        said: dict[str, Counter[str]] = {}
        for vote in votes:
            if vote.get(column) and vote["phase"] not in ("after_reveal", "round"):
                said.setdefault(vote["platform"], Counter())[vote[column]] += 1
        rows = tuple(
            (platform, _counted(words, lambda word: say(word))) for platform, words in said.items()
        )
        yield Grid((say(PLACE), say(title)), rows)


def _guesses(rows: Rows, names: Mapping[str, str]) -> Iterator[Grid]:
    found: dict[str, list[Row]] = {}
    for guess in rows.get("guesses", ()):
        found.setdefault(guess["side"], []).append(guess)
    cells = tuple(
        (
            option_name(side, names),
            str(len(guesses)),
            str(sum(one["right"] for one in guesses)),
            _counted(Counter(one["model"] for one in guesses), str),
        )
        for side, guesses in sorted(found.items())
    )
    yield Grid((say("side"), say("guesses"), say("right"), say("models guessed")), cells)


def _asked(questions: Sequence[Row]) -> Section | None:
    told = tuple(
        (str(one["number"]), one["text"], str(one["support"] or 0), "✓" if one["put"] else "")
        for one in questions
        if one["text"]
    )
    head = (say("number"), say("question"), say("for it"), say("put to both sides"))
    return Section("asked", say(ASKED), grids=(Grid(head, told),)) if told else None


# --- turns -------------------------------------------------------------------------------


def read_marks(rows: Rows) -> dict[int, TurnMark]:
    """Return what stands beside each turn."""
    return {one["number"]: _mark(one) for one in rows.get("turns", ())}


def _mark(turn: Row) -> TurnMark:
    up, down = turn["thumbs_up"], turn["thumbs_down"]
    after = (turn["thumbs_up_after"] or 0, turn["thumbs_down_after"] or 0)
    thumbs = "" if up is None else f"👍 {up} 👎 {down}"
    if any(after):
        late = say("after the reveal {up} 👍 {down} 👎", up=after[0], down=after[1])
        thumbs = f"{thumbs} ({late})"
    scores = [(one["criterion"], one["score"]) for one in turn["scores"] or ()]
    total = [score for criterion, score in scores if criterion == "total"]
    told = total[:1] or ([sum(score for _, score in scores)] if len(scores) == 1 else [])
    decision = turn.get("decision") or turn.get("position") or ""
    return TurnMark(
        thumbs=thumbs if up or down or any(after) else "",
        score=say("score {score}", score=number(told[0], ".1f")) if told else "",
        model=turn["model_asked"] if turn["by"] == "model" else say("a person"),
        decision=decision.replace("_", " "),
    )


# --- figures -----------------------------------------------------------------------------


def _share(debate: Row) -> str:
    if debate["share_a"] is None:
        return ""
    low, high = percent(debate["share_low"]), percent(debate["share_high"])
    return f"{percent(debate['share_a'])} ({low} – {high})"


def _figure(value: float | None, spec: str) -> str:
    return "" if value is None else number(value, spec)


def _chosen(option: str, names: Mapping[str, str]) -> str:
    if option in STANCES:
        return say(STANCES[option])
    return " + ".join(option_name(one, names) for one in option.split("+"))


def _counted(counts: Counter[str], name: Callable[[str], str]) -> str:
    return _joined(say(SUMMED, name=name(one), n=n) for one, n in sorted(counts.items()))


def _joined(parts: Iterator[str]) -> str:
    return say(", ").join(parts)


def side_name(side: str, names: Mapping[str, str]) -> str:
    """Return a side as a short label: what an agent is called, else its letter."""
    return names.get(side) or marked(side)
