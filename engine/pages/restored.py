"""A debate read back from the rows of an export, as far as a page needs it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, TypeAlias

import orjson

from engine.jury.rubric import RUBRICS
from engine.pages.debate_page import Rows
from engine.tally.questions import round_options
from engine.values.debate import (
    Cause,
    Criterion,
    Debate,
    Model,
    PanelMode,
    PanelSetup,
    Quotation,
    Replacement,
    Request,
    Setup,
    Source,
    Status,
    Turn,
    Violation,
)
from engine.values.messages import Reveal
from engine.values.verdicts import (
    Ballot,
    Persuasion,
    Rationale,
    RoundTally,
    Summary,
    Tally,
    Verdict,
)
from engine.votes.close import NO_VERDICT, reveal_of

Row: TypeAlias = Mapping[str, Any]
_ULID = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_FORMAT_OPTIONS = (
    "language", "format", "length", "turn_order", "blind", "scores", "ballot", "round_votes",
    "confidence", "reasons", "guess", "questions", "pace", "vote_minutes", "quorum",
)  # fmt: skip


def restore_debate(rows: Rows) -> Debate:
    """Return the debate of an export's rows; people and ids of platforms are not in it."""
    row = rows["debates"][0]
    return Debate(
        id=row["debate_id"],
        number=0,
        platform=row["platform"],
        community="",
        place="",
        starter=None,
        status=Status(row["status"]),
        setup=_setup(rows, row),
        created_at=_made_at(row["debate_id"]),
        opened_at=_moment(row["opened_at"]),
        vote_opened_at=_moment(row["vote_opened_at"]),
        revealed_at=_moment(row["revealed_at"]),
        vote_extended=row["extended"],
        closed_early=row["closed_early"],
        gaps=row["gaps"],
        series=row["series"],
        series_key=row["series_key"],
        cause=Cause(row["cause"]) if row["cause"] else None,
        cause_model=row["cause_model"],
    )


def _setup(rows: Rows, row: Row) -> Setup:
    jurors = {ballot["juror"]: ballot["family"] for ballot in rows.get("verdicts", ())}
    panel = PanelSetup(
        roster=tuple(Model.parse(f"{juror}#{family}") for juror, family in jurors.items()),
        recusal_failed=row["recusal_failed"],
        mode=PanelMode(row["panel_mode"]),
        rubric=row["rubric"],
        blind=row["blind"],
        criteria=()
        if row["rubric"] in RUBRICS
        else tuple(
            Criterion(name=one["criterion"], **{k: v for k, v in one.items() if k != "criterion"})
            for one in row["criteria"]
        ),
    )
    menus = [guess["options"] for guess in rows.get("guesses", ())]
    return Setup(
        request=_request(rows, row),
        format_version=row["format_version"],
        templates=row["templates"],
        panel=panel,
        names={},
        sampling={},
        limits={},
        seed=0,
        ordinal=0,
        mirror_of=row["mirror_of"],
        replaced=tuple(_replacements(row["replaced"])),
        called=_called(rows),
        menu=("",) * max(menus, default=0),
        rematch_of=row["rematch_of"],
        swapped=row["swapped"],
    )


def _request(rows: Rows, row: Row) -> Request:
    sides = {
        one["side"]: Model(backend=one["backend"], name=one["model"], family=one["family"])
        for one in row["sides"]
    }
    stances = {one["side"]: one["stance"] or "" for one in row["sides"]}
    sources = [one for one in rows.get("sources", ()) if one["side"] is None]
    seats = {
        turn["seat"]: Model.parse(f"{turn['model_asked']}#{turn['family']}")
        for turn in rows.get("turns", ())
        if turn["by"] == "model" and turn["seat"] != turn["side"]
    }
    return Request(
        topic=row["topic"],
        conditions=row["conditions"],
        sides=sides,
        seats={seat: model for seat, model in seats.items() if model != sides.get(seat[0])},
        drawn=tuple(one["side"] for one in row["sides"] if one["drawn"]),
        rounds=row["rounds"],
        stance_a=stances.get("A", ""),
        stance_b=stances.get("B", ""),
        sources=tuple(Source(title=one["title"], text=one["text"]) for one in sources),
        **{name: row[name] for name in _FORMAT_OPTIONS},
    )


def _replacements(told: str | None) -> list[Replacement]:
    pairs = [one.split("=", 1) for one in (told or "").split(", ") if "=" in one]
    return [Replacement(was=Model.parse(was), now=Model.parse(now)) for was, now in pairs]


def _called(rows: Rows) -> dict[str, str]:
    """Return what people call agents at a table; its result says so."""
    for one in rows.get("artifacts", ()):
        if one["name"] == "result":
            names = orjson.loads(one["body"]).get("names")
            return dict(names) if isinstance(names, dict) else {}
    return {}


def restore_turns(rows: Rows) -> tuple[Turn, ...]:
    """Return what was said, in order, with the audience's questions and what was quoted."""
    put = [one for one in rows.get("questions", ()) if one["put"] and one["text"]]
    asked = tuple(one["text"] for one in sorted(put, key=lambda one: one["place"]))
    quoted: dict[str, list[Quotation]] = {}
    for one in rows.get("quotations", ()):
        fields = {name: one[name] for name in ("text", "source", "found_in", "share")}
        quoted.setdefault(one["step"], []).append(Quotation(**fields))
    turns = [_turn(one, asked, quoted.get(one["step"], ())) for one in rows.get("turns", ())]
    return tuple(sorted(turns, key=lambda turn: turn.number))


def _turn(row: Row, asked: tuple[str, ...], quoted: Sequence[Quotation]) -> Turn:
    same = ("step", "seat", "side", "round", "number", "place", "text", "words")
    return Turn(
        **{name: row[name] for name in same},
        limit=row["word_limit"] or 0,
        model=row["model_answered"] or "",
        violations=tuple(Violation(**one) for one in row["violations"]),
        quotations=tuple(quoted),
        asked=asked if row["questions_answered"] else (),
    )


def looked_up(rows: Rows) -> list[Source]:
    """Return the sources that sides looked up."""
    found = [one for one in rows.get("sources", ()) if one["side"] is not None]
    return [Source(title=one["title"], text=one["text"]) for one in found]


# --- the result --------------------------------------------------------------------------


def restore_ballots(rows: Rows) -> tuple[Ballot, ...]:
    """Return the ballots of the panel that read the debate when it was held."""
    return tuple(_ballot(one) for one in rows.get("verdicts", ()) if one["panel"] == 0)


def _ballot(row: Row) -> Ballot:
    same = ("juror", "family", "audit", "recused", "valid", "repaired", "contradictory", "verdict",
            "confidence", "weight", "pos", "sd")  # fmt: skip
    scores: dict[str, dict[str, int]] = {}
    for one in row["scores"] or ():
        scores.setdefault(one["side"], {})[one["criterion"]] = one["score"]
    return Ballot(
        **{name: row[name] for name in same},
        order=tuple(row["order"]),
        names={one["side"]: one["name"] for one in row["names"]},
        problem=row["problem"] or "",
        scores=scores if row["scores"] is not None else None,
        reasons=row["reasons"] or "",
        signal={one["side"]: one["x"] for one in row["x"]} if row["x"] else None,
    )


def restore_reveal(rows: Rows, debate: Debate) -> Reveal | None:
    """Return the reveal of a debate that had one."""
    row = rows["debates"][0]
    if debate.revealed_at is None:
        return None
    ballots, why = restore_ballots(rows), _why(rows)
    verdict, tally = _verdict(row), restore_tally(row)
    found = (debate, tally, verdict, ballots, row["n_calls"], row["cost_usd"])
    reveal = reveal_of(*found, own=_own(rows, debate), why=why, guessed=_guessed(rows))
    unread = any(one["recovery"] == "unread" for one in rows.get("votes", ()))
    return reveal.model_copy(
        update={
            "persuasion": _persuasion(row),
            "course": tuple(_course(rows, tuple(debate.request.sides))),
            "unread": unread,
        }
    )


def _verdict(row: Row) -> Verdict:
    if row["n_valid"] is None:
        return NO_VERDICT
    text = row["summary"]
    same = {"effective_votes": row["effective_votes"], "z": row["z"]}
    return Verdict(
        winner=row["jury_winner"],
        problem=row["jury_problem"] or "",
        p={one["side"]: one["p"] for one in row["p"] or ()},
        valid=row["n_valid"],
        invalid=row["n_invalid"],
        order_alone=row["order_alone"],
        mode=PanelMode(row["panel_mode"]),
        rubric=row["rubric"],
        blind=row["blind"],
        summary=Summary(text=text, fit=row["summary_fit"]) if text else None,
        readings={one["option"]: one["n"] for one in row["jury_readings"] or ()},
        **same,
    )


def restore_tally(row: Row) -> Tally:
    """Return the count of a debate's votes."""
    counted = row["tally"] or ()
    return Tally(
        counts={one["option"]: one["n"] for one in counted},
        gold={one["option"]: one["gold"] for one in counted},
        quorum_met=bool(row["quorum_met"]),
        winner=row["human_winner"],
        share=row["share_a"],
        low=row["share_low"],
        high=row["share_high"],
    )


def _persuasion(row: Row) -> Persuasion | None:
    if row["persuaded"] is None:
        return None
    moved = {one["side"]: one["moved"] for one in row["persuaded"]}
    return Persuasion(moved=moved, people=row["n_persuaded"], winner=row["persuasion_winner"])


def _course(rows: Rows, sides: tuple[str, ...]) -> list[RoundTally]:
    usual = dict.fromkeys(round_options(sides), 0)
    counts: dict[str, dict[str, int]] = {}
    order = {turn["round"]: turn["number"] for turn in rows.get("turns", ())}
    for vote in rows.get("votes", ()):
        if vote["phase"] == "round" and not vote["ambiguous"]:
            counts.setdefault(vote["round"], dict(usual))[vote["option"]] += 1
    told = [RoundTally(round=step, counts=counted) for step, counted in counts.items()]
    return sorted(told, key=lambda one: order.get(one.round, 0))


def _own(rows: Rows, debate: Debate) -> Verdict | None:
    for one in rows.get("judgments", ()):
        if one["judge"] == debate.request.format:
            return Verdict(
                winner=one["winner"],
                problem=one["problem"] or "",
                valid=one["n_valid"],
                invalid=one["n_invalid"],
                rubric=one["rubric"],
                blind=one["blind"],
            )
    return None


def _why(rows: Rows) -> Rationale | None:
    told = [orjson.loads(one["body"]) for one in rows.get("artifacts", ()) if one["kind"] == "why"]
    return next((Rationale.model_validate(one) for one in told if one.get("text")), None)


def _guessed(rows: Rows) -> dict[str, tuple[int, int]]:
    counts: dict[str, tuple[int, int]] = {}
    for one in rows.get("guesses", ()):
        if one["blind"]:
            right, n = counts.get(one["side"], (0, 0))
            counts[one["side"]] = right + bool(one["right"]), n + 1
    return counts


def _moment(text: str | datetime | None) -> datetime | None:
    return datetime.fromisoformat(text) if isinstance(text, str) else text


def _made_at(ulid: str) -> datetime:
    """Return when an id was made: its first ten characters are milliseconds."""
    milliseconds = 0
    for char in ulid[:10]:
        milliseconds = milliseconds * 32 + _ULID.index(char)
    return datetime.fromtimestamp(0, UTC) + timedelta(milliseconds=milliseconds)
