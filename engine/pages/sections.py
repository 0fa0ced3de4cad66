"""What stands below a debate's turns once nothing is sealed, made of the rows of an export."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import orjson
from pydantic import ValidationError

from engine.dataset.page import PageSection, PageTable, table_of
from engine.formats.audited.judge import RegisterEntry, tell_entry
from engine.formats.audited.scores import SCALES
from engine.formats.structured.trace import table
from engine.jury.explain import STEP as WHY
from engine.pages.debate_page import SPOKEN, TurnMark
from engine.pages.head import Rows, brief
from engine.pages.parts import read_traces
from engine.pages.timeline import TOTALS, timelines
from engine.store.usage import UsageTotals
from engine.values.language import N_
from engine.values.messages import Message, Reveal
from engine.values.text import marked, redact
from engine.values.verdicts import DECISION, POSITION, QUESTIONS, RETRIEVED
from engine.words.cards import card_of
from engine.words.phrases import money, option_name, round_name
from engine.words.reveal import background_lines
from engine.words.stored import percent
from engine.words.translation import number, say

# What a format found beside its turns: trace table, register, scores, and everything else.


Row: TypeAlias = Mapping[str, Any]
TRACE = N_("The trace table")
SCORES, CHANGES, OTHERS = (
    N_("Scores by the format's own judge"),
    N_("Scores changed afterwards"),
    N_("Findings"),
)
SHOWN_ELSEWHERE = ("structured", "register", DECISION, POSITION, QUESTIONS, RETRIEVED, WHY)
MOST_ROWS = 150
LONGEST_BODY = 4_000  # characters


def report_sections(
    rows: Rows, posts: Iterable[Message], totals: Iterable[UsageTotals], names: Mapping[str, str]
) -> tuple[PageSection, ...]:
    """Return what a report tells of a debate below its ballots.

    `posts` are what its format told after the last turn, a briefing and a register among them;
    `totals` are what its calls took.
    """
    posted = [(card_of(post), f"found-{number}") for number, post in enumerate(posts, 1)]
    traces = read_traces(rows.get("artifacts", ()))
    made = (
        *(PageSection(key, redact(card.title), text=redact(card.text)) for card, key in posted),
        _judgment(rows.get("judgments", ()), names),
        PageSection("trace", say(TRACE), text=table(traces)) if traces else None,
        _scores(rows),
        _changes(rows),
        _later(rows.get("judgings", ()), names),
        _spent(totals),
    )
    return tuple(section for section in made if section is not None)


def _spent(totals: Iterable[UsageTotals]) -> PageSection | None:
    """Return what each model's calls took, in whatever roles."""
    models: dict[str, list[UsageTotals]] = {}
    for one in totals:
        models.setdefault(one.key, []).append(one)
    lines = [
        (
            model,
            number(sum(one.calls for one in each), ","),
            number(sum(one.tokens_in for one in each), ","),
            number(sum(one.tokens_cached for one in each), ","),
            number(sum(one.tokens_out for one in each), ","),
            money(None if any(one.unpriced for one in each) else sum(one.usd for one in each)),
        )
        for model, each in models.items()
    ]
    if not lines:
        return None
    counts = (say("calls"), say("tokens read"), say("from cache"), say("tokens written"))
    head = (say("model"), *counts, say("cost"))
    return PageSection("costs", say("Calls and cost"), grids=(table_of(head, lines),))


def _judgment(judgments: Sequence[Row], names: Mapping[str, str]) -> PageSection | None:
    facts = []
    for one in judgments:
        won = option_name(one["winner"], names) if one["winner"] else say("no verdict")
        facts.append((one["judge"], f"{won}: {one['problem']}" if one["problem"] else won))
        alone = [
            option_name(judge["winner"], names) if judge["winner"] else say("no verdict")
            for judge in one["by_judge"] or ()
        ]
        if alone:
            facts.append((say("each judge alone"), say(", ").join(alone)))
    return PageSection("own-judge", say("The format's own judge"), tuple(facts)) if facts else None


def _turn_names(rows: Rows) -> dict[str, str]:
    """Return what each turn is called in a table, by its step."""
    return {one["step"]: f"{one['seat']} · {one['number']}" for one in rows.get(SPOKEN, ())}


def _scores(rows: Rows, beside: Container[str] = ()) -> PageSection | None:
    """Return every score: a row a subject, a column a criterion; those that moved have both.

    Subjects that stand `beside` it have none.
    """
    found = [one for one in rows.get("scores", ()) if one["subject"] not in beside]
    criteria = list(dict.fromkeys(one["criterion"] for one in found))
    numbers = _turn_names(rows)
    cells: dict[tuple[str, str], dict[str, str]] = {}
    for one in found:
        cells.setdefault((one["subject"], one["side"]), {})[one["criterion"]] = _score(one)
    lines = tuple(
        (numbers.get(subject, subject), marked(side), *(given.get(c, "") for c in criteria))
        for (subject, side), given in cells.items()
    )
    if not lines:
        return None
    head = (say("subject"), say("side"), *(say(one).replace("_", " ") for one in criteria))
    return PageSection("scores", say(SCORES), grids=(_fit(table_of(head, lines)),))


def _score(row: Row, most: float | None = None) -> str:
    """Return a score as it stands, of how much, and as it was given where it has moved."""
    given, stands = number(row["value"], ".1f"), number(row["adjusted"], ".1f")
    told = stands if most is None else f"{stands}/{most:g}"
    return told if row["adjusted"] == row["value"] else f"{told} ({given})"


def _changes(rows: Rows, beside: Container[str] = ()) -> PageSection | None:
    numbers = _turn_names(rows)
    lines = [
        (
            numbers.get(one["subject"], one["subject"]),
            marked(one["side"]),
            say(one["criterion"]).replace("_", " ") if one["criterion"] else say("total"),
            number(one["amount"], "+.1f"),
            say(one["reason"]),
        )
        for one in rows.get("adjustments", ())
        if one["subject"] not in beside
    ]
    if not lines:
        return None
    head = (say("subject"), say("side"), say("criterion"), say("points"), say("reason"))
    return PageSection("adjustments", say(CHANGES), grids=(_fit(table_of(head, lines)),))


def _others(artifacts: Sequence[Row]) -> Iterator[PageSection]:
    """Yield what has no form of its own, as JSON."""
    bodies = []
    for one in artifacts:
        if one["kind"] in SHOWN_ELSEWHERE:
            continue
        body = orjson.dumps(orjson.loads(one["body"]), option=orjson.OPT_INDENT_2).decode()
        shown = body if len(body) <= LONGEST_BODY else f"{body[:LONGEST_BODY]} …"
        bodies.append(f"{one['name']} ({one['kind']})\n{shown}")
    if bodies:
        yield PageSection("findings", say(OTHERS), raw="\n\n".join(bodies))


def _fit(grid: PageTable) -> PageTable:
    """Return a table whose rows fit on a page; the export has them all."""
    if len(grid.rows) <= MOST_ROWS:
        return grid
    more = say("{n} more in the export", n=len(grid.rows) - MOST_ROWS)
    last = (more, *("" for _ in grid.head[1:]))
    return PageTable(grid.head, (*grid.rows[:MOST_ROWS], last))


VERDICT, PEOPLE = N_("What the verdict rests on"), N_("Who voted, and how")
LATER, ASKED = N_("Judged again"), N_("What the audience asked")
PHASES = {
    "before_reveal": N_("before the reveal"),
    "after_reveal": N_("after the reveal"),
    "stance_before": N_("stance before the debate"),
    "stance_after": N_("stance after the debate"),
    "imported": N_("labels from another tool"),
    "label": N_("labels on the web"),
}
NOT_GOLD = {
    "scripted": N_("not known to be a person's"),
    "judge": N_("saw a judge's scores"),
    "starter": N_("started the debate"),
    "speaker": N_("argued a side"),
    "new": N_("account or membership too new"),
    "ambiguous": N_("last choice unknown"),
    "known": N_("could know the models"),
    "mirror": N_("the mirrored debate had named the models"),
    "gap": N_("a message was missing"),
    "unread": N_("reactions could not be read"),
    "imported": N_("perhaps not blind"),
    "excluded": N_("left out by the operator"),
}
SUMMED = N_("{name} {n}")
PLACE, PHASE, GOLD = N_("platform"), N_("phase"), N_("independent")
STANCES = {
    "for": N_("for it"),
    "against": N_("against it"),
    "unsure": N_("unsure"),
    "even": N_("even"),
}
RULES = (N_("balance of both orders"), N_("the model of jurors"))
MODES: Mapping[str, str] = {
    "adaptive": N_("as many jurors as it takes"),
    "strict": N_("every juror in one order, balanced"),
    "all": N_("every juror in every order"),
    "one": N_("a single juror"),
}


def why_section(reveal: Reveal) -> PageSection | None:
    """Return what a result rests on in words, beside what a page's head has of it."""
    why = reveal.why.text if reveal.why else ""
    text = "  \n".join(background_lines(reveal, why=brief(why) != " ".join(why.split()))).strip()
    return PageSection("why", say("Why"), text=redact(text)) if text else None


def read_sections(rows: Rows, names: Mapping[str, str]) -> tuple[PageSection, ...]:
    """Return every section of a debate that has something in it; `names` are its contenders'."""
    debate = rows["debates"][0]
    beside = {one["step"] for one in rows.get(SPOKEN, ())}
    judged, later = rows.get("judgments", ()), rows.get("judgings", ())
    beside |= {trace.id for trace in read_traces(rows.get("artifacts", ()))}
    made: Iterator[PageSection | None] = iter(
        (
            _verdict(debate, names),
            _people(rows, names),
            *timelines(rows, names),
            # Who won by it stands in the head.
            _judgment([one for one in judged if one["problem"] or one["by_judge"]], names),
            _scores(rows, beside),
            _changes(rows, beside),
            *_others(rows.get("artifacts", ())),
            # A later jury stands among the ballots, with its verdict.
            _later([one for one in later if not (one["mode"] and one["winner"])], names),
            _asked(rows.get("questions", ())),
        )
    )
    return tuple(section for section in made if section is not None)


# --- the jury ----------------------------------------------------------------------------


def _verdict(debate: Row, names: Mapping[str, str]) -> PageSection | None:
    if debate["n_valid"] is None:
        return None
    facts = [(say(name), told) for name, told in _rested(debate, names) if told]
    criteria = [
        (say(one["criterion"]), percent(one["weight"]), f"{one['lowest']}–{one['highest']}")
        for one in debate["criteria"]
    ]
    head = (say("criterion"), say("weight"), say("points"))
    return PageSection("verdict", say(VERDICT), tuple(facts), (table_of(head, criteria),))


def _rested(debate: Row, names: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield what a verdict rests on: names, and values or nothing."""
    chances = [(one["side"], one["p"]) for one in debate["p"] or ()]
    problem = debate["jury_problem"] or ""
    yield (
        "probability of winning",
        _joined(say(SUMMED, name=option_name(side, names), n=percent(p)) for side, p in chances),
    )
    yield N_("why there is no verdict"), say(problem)
    yield N_("readings that count"), str(debate["n_valid"])
    yield N_("unreadable answers"), str(debate["n_invalid"] or "")
    yield N_("readings that decide nothing"), str(debate["n_audit"] or "")
    yield N_("worth in independent votes"), _figure(debate["effective_votes"], ".1f")
    yield N_("signal"), _figure(debate["z"], "+.2f")
    rule = debate.get("jury_rule")
    yield N_("found by"), say(RULES[rule == "model"])
    yield N_("doubt left"), _figure(debate.get("jury_variance"), ".2f")
    mode = str(debate["panel_mode"])
    yield N_("how jurors read"), say(MODES.get(mode, mode))
    yield N_("order of reading"), say("no side led in every order") if debate["order_alone"] else ""
    recused = say("jurors related to a debater had to sit")
    yield N_("jurors"), recused if debate["recusal_failed"] else ""


def _later(judgings: Sequence[Row], names: Mapping[str, str]) -> PageSection | None:
    if not judgings:
        return None
    head = (say("number"), say("judges"), say("winner"))
    cells = [
        (
            one["number"],
            _joined(judge["judge"] for judge in one["judges"]),
            option_name(one["winner"], names) if one["winner"] else say("no verdict"),
        )
        for one in judgings
    ]
    return PageSection("judged-again", say(LATER), grids=(table_of(head, cells),))


# --- people ------------------------------------------------------------------------------


def _people(rows: Rows, names: Mapping[str, str]) -> PageSection | None:
    votes, debate = rows.get("votes", ()), rows["debates"][0]
    if not votes and not debate["tally"]:
        return None
    share, low, high = (
        "" if debate[name] is None else percent(debate[name])
        for name in ("share_a", "share_low", "share_high")
    )
    facts = [
        (say("share of A"), share and f"{share} ({low} – {high})"),
        (say("people whom exports leave out"), str(debate["opted_out"] or "")),
    ]
    head = (say(PLACE), say(PHASE), say("chosen"), say(GOLD), say("not independent because"))
    grids = [table_of(head, _phases(rows, names)), *_remarks(votes), *_guesses(rows, names)]
    shown = tuple(fact for fact in facts if fact[1])
    filled = tuple(grid for grid in grids if grid.rows)
    return PageSection("people", say(PEOPLE), shown, filled) if shown or filled else None


def _phases(rows: Rows, names: Mapping[str, str]) -> Iterator[tuple[str, ...]]:
    """Yield a row for each platform and phase: what was chosen, how many votes are gold."""
    # Votes are in the order of their pseudonyms, and every reader of the database draws others.
    phases, rounds = list(PHASES), ["", *(turn["round"] for turn in rows.get("turns", ()))]
    groups: dict[tuple[str, str, str], list[Row]] = {}
    for vote in rows.get("votes", ()):
        key = vote["platform"], vote["phase"], vote["round"] or ""
        groups.setdefault(key, []).append(vote)

    def place(key: tuple[str, str, str]) -> tuple[str, int, int]:
        platform, phase, step = key
        asked = phases.index(phase) if phase in phases else len(phases)
        return platform, asked, rounds.index(step) if step in rounds else len(rounds)

    for platform, phase, step in sorted(groups, key=place):
        cast = groups[platform, phase, step]
        told = (
            say("after {round}", round=round_name(step)) if step else say(PHASES.get(phase, phase))
        )
        chosen = Counter("?" if vote["ambiguous"] else vote["option"] for vote in cast)
        why = Counter(vote["reason"] for vote in cast if vote["reason"])
        yield (
            platform,
            told,
            _counted(chosen, lambda option: _chosen(option, names)),
            str(sum(bool(vote["gold"]) for vote in cast)),
            _counted(why, lambda reason: say(NOT_GOLD.get(reason, reason))),
        )


def _remarks(votes: Sequence[Row]) -> Iterator[PageTable]:
    """Yield how clear people found it, and what decided for them, by platform."""
    for column, title in (("confidence", "how clear"), ("ground", "what decided")):
        said: dict[str, Counter[str]] = {}
        for vote in votes:
            if vote.get(column) and vote["phase"] not in ("after_reveal", "round"):
                said.setdefault(vote["platform"], Counter())[vote[column]] += 1
        rows = tuple(
            (platform, _counted(words, lambda word: say(word))) for platform, words in said.items()
        )
        yield PageTable((say(PLACE), say(title)), rows)


def _guesses(rows: Rows, names: Mapping[str, str]) -> Iterator[PageTable]:
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
    yield PageTable((say("side"), say("guesses"), say("right"), say("models guessed")), cells)


def _asked(questions: Sequence[Row]) -> PageSection | None:
    told = tuple(
        (one["number"], one["text"], one["support"] or 0, "✓" if one["put"] else "")
        for one in questions
        if one["text"]
    )
    head = (say("number"), say("question"), say("for it"), say("put to both sides"))
    return PageSection("asked", say(ASKED), grids=(table_of(head, told),)) if told else None


# --- turns -------------------------------------------------------------------------------


def read_marks(rows: Rows, script: str) -> dict[int, TurnMark]:
    """Return what stands beside each turn of a format's debate."""
    entries = _register(rows.get("artifacts", ()))
    numbers = {one["step"]: one["number"] for one in rows.get(SPOKEN, ())}
    scores: dict[int, list[Row]] = {}
    for one in rows.get("scores", ()):
        scores.setdefault(numbers.get(one["subject"], 0), []).append(one)
    marks = {}
    for turn in rows.get("turns", ()):
        place = turn["number"]
        sheet = scores.get(place, ())
        mark = _mark(turn, sheet, SCALES if script == "audited" else {})
        told = [tell_entry(one) for one in entries if place in (one.turn, one.exposed_by)]
        marks[place] = mark._replace(register="\n".join(told))
    return marks


def _register(artifacts: Sequence[Row]) -> Sequence[RegisterEntry]:
    """Return the register of an audited debate; empty for one that cannot be read."""
    for one in artifacts:
        if one["kind"] == "register" and one["valid"]:
            try:
                found = orjson.loads(one["body"])["entries"]
                return [RegisterEntry.model_validate(each) for each in found]
            except (ValidationError, orjson.JSONDecodeError, KeyError):
                continue
    return ()


def _mark(turn: Row, scores: Sequence[Row], scales: Mapping[str, float]) -> TurnMark:
    """Return what stands beside a turn; `scales` are the most of what its judge adds up."""
    up, down = turn["thumbs_up"], turn["thumbs_down"]
    after = (turn["thumbs_up_after"] or 0, turn["thumbs_down_after"] or 0)
    thumbs = "" if up is None else f"👍 {up} 👎 {down}"
    if any(after):
        late = say("after the reveal {up} 👍 {down} 👎", up=after[0], down=after[1])
        thumbs = f"{thumbs} ({late})"
    total = [one for one in scores if one["criterion"] in TOTALS]
    decision = turn.get("decision") or turn.get("position") or ""
    sheet = [one for one in scores if one["criterion"] not in TOTALS]

    def told(one: Row) -> str:
        name = say(one["criterion"]).replace("_", " ")
        return f"{name} {_score(one, scales.get(one['criterion']))}"

    return TurnMark(
        thumbs=thumbs if up or down or any(after) else "",
        score=say("score {score}", score=_score(total[0])) if total else "",
        model=turn["model_asked"] if turn["by"] == "model" else say("a person"),
        decision=decision.replace("_", " "),
        total=total[0]["adjusted"] if total else None,
        sheet=tuple(told(one) for one in sheet if one["criterion"] in scales),
        parts=tuple(told(one) for one in sheet if one["criterion"] not in scales),
    )


# --- figures -----------------------------------------------------------------------------


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
