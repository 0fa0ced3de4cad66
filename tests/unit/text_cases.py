"""Texts by the case that each is about; `test_recorded_texts.py` holds how they are worded.

A text is an answer, a message as a terminal shows it, or words; it is in the language spoken.
"""

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any, get_args

from adapters.terminal.keys import key_hint
from adapters.terminal.texts import hand_text
from engine.chat.answers import Answer, SentFile
from engine.chat.answers.catalogue import (
    FormatLine,
    HelpAnswer,
    ModelsAnswer,
    format_list,
    topic_line,
)
from engine.chat.answers.debates import (
    DebateLine,
    ResultAnswer,
    StartedAnswer,
    StatusAnswer,
    debate_list,
)
from engine.chat.answers.management import export_file, no_export
from engine.chat.answers.own_data import Frequency, forgetting, forgotten, stored_data
from engine.chat.answers.statistics import LeaderboardAnswer, agreement_figures
from engine.stats.agreement import measure_agreement
from engine.stats.figure import Difference, Figure, Share
from engine.stats.ratings import Missing, Rating, rank_models, word_rating
from engine.store.privacy import PersonTraces
from engine.values.debate import Source, Status, Violation
from engine.values.messages import (
    AgainInvite,
    BoardRow,
    ConfidenceInvite,
    Estimate,
    JurorLine,
    Message,
    Progress,
    Reveal,
    RoundInvite,
    ScoreBoard,
    StanceInvite,
    VoteClosed,
    VoteInvite,
)
from engine.values.overlap import check_quotations
from engine.values.topics import Topic
from engine.values.verdicts import Persuasion, Rationale, RoundTally, Summary, Tally, Verdict
from engine.words.phrases import about_minutes, lasting, money, round_name, round_names, sum_up
from engine.words.result_picture import result_picture
from engine.words.stored import moment, percent
from engine.words.translation import number, plural
from tests.kit import NOON, announcement, estimate, make_debate, make_row, reveal, speech

Text = Answer | Message | str
OPTIONS = ("A", "B", "tie", "weak")
FORTY = [make_row(n, "AAB"[n % 3], "ABB"[n % 3]) for n in range(40)]
TOO_FEW = Verdict(winner=None, problem="fewer than 2 valid ballots", valid=1, invalid=2)
TALLY = Tally(
    counts={"A": 3, "B": 2, "tie": 1, "weak": 0},
    gold={"A": 3, "B": 2, "tie": 1, "weak": 0},
    quorum_met=True,
    winner="A",
    share=0.6,
    low=0.2307,
    high=0.8824,
)
VERDICT = Verdict(
    winner="A", p={"A": 0.734, "B": 0.266}, z=1.1, valid=3, invalid=1, effective_votes=2.04
)
JURORS = (
    JurorLine(juror="rehearsal/elm", verdict="A", order=("A", "B")),
    JurorLine(juror="rehearsal/fir", verdict="tie", order=("B", "A"), contradictory=True),
    JurorLine(juror="rehearsal/ash", verdict=None, order=("A", "B"), problem="no JSON"),
)


def line(status: Status = Status.RUNNING, **asked: Any) -> DebateLine:
    return DebateLine.of(make_debate(1, status, **asked))


def won(**fields: Any) -> Reveal:
    plain: dict[str, Any] = {
        "topic": "Remote work is better",
        "models": {"A": "online/x", "B": "rehearsal/oak"},
        "drawn": ("B",),
        "tally": TALLY,
        "verdict": VERDICT,
        "jurors": JURORS,
        "agree": True,
    }
    return reveal(**plain | fields)


def tallied(**fields: Any) -> Reveal:
    """Return the reveal of other votes."""
    return won(tally=TALLY.model_copy(update=fields))


def text_cases() -> Mapping[str, Iterable[Text]]:
    """Return the texts of each case."""
    return {**_turns(), **_questions(), **_reveals(), **_answers(), **_statistics(), **_phrases()}


def _turns() -> dict[str, Iterable[Text]]:
    def broken(kind: str, measured: int, limit: int) -> Message:
        violation = Violation(kind=kind, measured=measured, limit=limit)
        return speech("Tea.", violations=(violation,), words=measured, limit=limit)

    opening = announcement(conditions="Only in Türkiye", jurors=1, vote_minutes=0.5)
    return {
        "a turn": [
            speech("## Work\n\nIt **pays**."),
            speech("Without a limit.", limit=0),
            speech("Within a team.", "B", seat="B2", round="cross-1", number=4, total=28),
        ],
        "a turn by the clock": [
            speech("Tea.", seconds=seconds, seconds_limit=most)
            for seconds, most in ((5, 180), (185, 180), (34, 30), (61, None))
        ],
        "a broken rule": [
            broken("too_many_words", 512, 500),
            broken("shouting", 512, 500),
            broken("overtime", 80, 50),
            broken("unreadable", 80, 50),
            broken("counter_question", 80, 50),
            broken("short_claim", 80, 50),
            broken("missing_response", 3, 0),
        ],
        "the terms of a debate": [
            opening.model_copy(update={"estimate": estimate(minutes=1.5, usd=0.01, usd_max=0.3)}),
            opening.model_copy(update={"estimate": estimate(minutes=1.5, usd=None)}),
        ],
        "a scoreboard": [
            ScoreBoard(
                title="Scoreboard",
                columns=("sections", "total"),
                rows=(
                    BoardRow(side="A", name="A1", cells=("3", "18.25")),
                    BoardRow(side="B", name="B|1\nx", cells=("2", "-1.00")),
                ),
                notes=("Mean a speech: A 6.08.",),
            )
        ],
    }


def _questions() -> dict[str, Iterable[Text]]:
    up = ("up", "down", "unsure")
    names = {"1": "Nurse", "2": "Ada"}
    return {
        "a vote of any quorum": [
            VoteInvite(options=OPTIONS, minutes=30, quorum=quorum) for quorum in (0, 1, 5)
        ],
        "a vote that is closed": [
            VoteClosed(options=("A",), votes=1),
            VoteClosed(options=("A",), votes=2, early=True),
        ],
        "a stance before and after": [
            StanceInvite(topic="Tea wins", after=False, options=up, seconds=60),
            StanceInvite(topic="Tea wins", after=True, options=up),
        ],
        "once the models are known": [AgainInvite(options=OPTIONS, minutes=1440)],
        "who is ahead": [
            RoundInvite(round="opening", options=("A", "B", "even")),
            RoundInvite(round="draft", options=("1", "2", "even"), names=names),
        ],
        "how clear it was": [ConfidenceInvite(options=("close", "clear", "onesided"))],
    }


def _reveals() -> dict[str, Iterable[Text]]:
    course = (
        RoundTally(round="opening", counts={"A": 4, "B": 2, "even": 0}),
        RoundTally(round="rebuttal", counts={"A": 3, "B": 3, "even": 1}),
    )
    apart = Tally(counts={"A": 3, "B": 3}, gold={"A": 2, "B": 3}, quorum_met=True, winner="B")
    one_each = Tally(counts={"A": 2, "B": 1}, gold={"A": 1, "B": 1}, quorum_met=True, winner="tie")
    undecided = {"winner": None, "quorum_met": False}
    odd = tuple(
        JurorLine(juror=f"near/j{n}", verdict=side, order=("A", "B"), contradictory=n > 1)
        for n, side in enumerate("ABB", 1)
    )
    names_seen = TOO_FEW.model_copy(update={"winner": "tie", "blind": False})
    ended = Progress(phase="closed", turns=8, total=8, revealed="thread", result=won())
    why = Rationale(text="A met the main objection.", best={"A": "A cause."})
    agents = {"1": "Practitioner", "2": "Sceptic", "3": "Historian"}
    chosen = {"1": 1, "2": 3, "3": 0, "tie": 0, "weak": 1}
    table = reveal(
        models=dict.fromkeys(agents, "near/ana"),
        tally=Tally(counts=chosen, gold=chosen, quorum_met=True, winner="2"),
        verdict=Verdict(winner="1", p={"1": 0.5, "2": 0.3, "3": 0.2}, valid=3, invalid=0),
        jurors=(JurorLine(juror="near/j1", verdict="1", order=("2", "3", "1")),),
        agree=False,
        names=agents,
    )
    rubrics = ("convergence", "answers", "audited", "stance")
    owned = [
        Verdict(winner=winner, valid=0, invalid=0, rubric=rubric)
        for rubric in rubrics
        for winner in ("3", "1", None)
    ]
    unread = Verdict(winner=None, problem="no ballot", valid=0, invalid=3)
    summaries = (Summary(text="A spoke."), Summary(text="A spoke.", fit="trimmed"))
    return {
        "a table of agents": [
            table,
            *(table.model_copy(update={"own": own}) for own in owned),
            table.model_copy(update={"own": owned[0], "verdict": unread}),
        ],
        "a jury's summary": [
            won(verdict=VERDICT.model_copy(update={"summary": summary}))
            for summary in (*summaries, Summary(problem="away"))
        ],
        "a whole reveal": [won(), result_picture(won()).alt],
        "the same in a result": [ResultAnswer(debate=line(Status.CLOSED), reveal=won())],
        "jury and people": [won(agree=False), won(agree=None)],
        "what it cost": [won(usd=0.0), won(usd=0.0123, calls=1)],
        "who sat where": [
            won(seats={"A1": "online/x", "A2": "online/y"}, judges=("online/z",)),
        ],
        "whom it moved": [
            won(persuasion=Persuasion(moved={"A": a, "B": b}, people=people, winner=None))
            for a, b, people in ((2, 1, 4), (1, 0, 1), (0, 0, 0))
        ],
        "its course": [won(course=course)],
        "people in a tie": [tallied(winner="tie")],
        "a jury in a tie": [
            won(
                tally=Tally(counts={"A": 2, "weak": 1}, gold={"A": 2}, quorum_met=True, winner="A"),
                verdict=Verdict(winner="tie", p={"A": 0.5, "B": 0.5}, z=0, valid=2, invalid=1),
            )
        ],
        "nobody voted": [tallied(counts={"A": 0}, gold={"A": 0}, winner=None, share=None)],
        "votes that are not independent": [
            tallied(gold={"A": 1, "B": 2}),
            won(tally=apart),
            won(tally=one_each),
            result_picture(won(tally=apart)).alt,
        ],
        "votes that decide nothing": [
            won(quorum=quorum, tally=TALLY.model_copy(update={"gold": gold} | undecided))
            for gold, quorum in (({}, 9), ({"A": 1}, 4), ({}, 4), ({}, 0))
        ],
        "a jury without a verdict": [won(verdict=TOO_FEW), won(verdict=names_seen)],
        "jurors that contradict themselves": [won(jurors=odd)],
        "the card of a debate that is over": [
            announcement(progress=ended.model_copy(update={"result": result, "veiled": veiled}))
            for result in (won(), won(why=why))
            for veiled in (False, True)
        ],
    }


def _answers() -> dict[str, Iterable[Text]]:
    costs = Estimate(
        calls=13, calls_max=30, tokens_in=1, tokens_out=1, minutes=2.4, usd=0.123, usd_max=0.5
    )
    unpriced = costs.model_copy(update={"usd": None, "minutes": 0.2})
    cap = "The cap on its cost was reached; a manager can resume it."
    formats = (
        FormatLine(name="x", about="two sides argue", minutes=7.6, usd=0.0421),
        FormatLine(name="y", about="several answer", options=("agents", "judges")),
        FormatLine(name="z", minutes=0.3, usd=None),
    )
    much = PersonTraces(known=True, votes=3, stances=1, thumbs=2, entries=9, started=1, since=NOON)
    opened = line(Status.VOTING).model_copy(update={"vote_deadline": NOON})
    return {
        "a start that chose": [
            StartedAnswer(
                debate=line(topic="Tea\nor coffee"),
                estimate=costs,
                warnings=("One juror only.",),
                models={"A": "near/ana"},
                jurors=("near/j1", "near/j2"),
            )
        ],
        "a start that chose nothing": [StartedAnswer(debate=line(), estimate=unpriced)],
        "how far a debate is": [
            StatusAnswer(debate=line(status), turns=turns, turns_total=8, minutes_left=left)
            for status, turns, left in (
                (Status.QUEUED, 0, None),
                (Status.RUNNING, 3, None),
                (Status.RUNNING, 8, None),
                (Status.VOTING, 8, 12.2),
                (Status.VOTING, 8, 1.1),
                (Status.VOTING, 8, 0.0),
                (Status.VOTING, 8, None),
                (Status.FAILED, 3, None),
                (Status.PARTIAL, 3, None),
            )
        ],
        "why a debate ended early": [
            StatusAnswer(debate=line(status), turns=3, turns_total=8, why=cap)
            for status in (Status.FAILED, Status.PARTIAL)
        ],
        "a debate that failed before its vote says nothing of votes": [
            StatusAnswer(debate=line(Status.FAILED), turns=1, turns_total=8, gaps=2, unread=True)
        ],
        "a debate by the clock": [StatusAnswer(debate=line(), turns=34, turns_total=0)],
        "votes that could not be read": [
            StatusAnswer(debate=line(Status.CLOSED), turns=8, turns_total=8, unread=unread)
            for unread in (False, True)
        ],
        "a result that is sealed": [
            ResultAnswer(debate=line(Status.VOTING), reveal=None, minutes_left=9),
            ResultAnswer(debate=line(Status.FAILED), reveal=None),
        ],
        "lists": [
            debate_list((opened, line(Status.VOTING, topic="Tea " * 60)), {}),
            debate_list((DebateLine.of(make_debate(1, Status.RUNNING), asked=True),), {}),
            ModelsAnswer(models=("near/ana",), jurors=()),
            "\n".join(
                f"- {topic_line(topic)}"
                for topic in (Topic(text="Tea", conditions="Now"), Topic(text="Coffee"))
            ),
            format_list(formats),
            HelpAnswer(commands=(), formats=formats),
        ],
        "an export": [
            no_export("c7", 15 * 2**20, 10 * 2**20),
            no_export("c7", 0, 1),
            export_file(SentFile("x.zip", b""), 1),
        ],
        "what is stored of somebody": [
            stored_data(much),
            forgetting(much),
            forgotten(),
        ],
        "few votes": [Frequency(k, n).say() for k, n in ((0, 0), (3, 4), (12, 15))],
    }


def _statistics() -> dict[str, Iterable[Text]]:
    figures = (
        {"n": 12},
        {"n": 30},
        {"n": 30, "value": 0.5},
        {"n": 30, "value": 0.127, "low": 0.1, "high": 0.2},
        {"n": 30, "value": -0.127, "low": -0.2, "high": -0.00001},
    )
    rated = Rating(won=3, lost=1, tied=2, value=1085.4, low=980.2, high=1190.6)
    ratings = (rated, None, *(Rating(missing=why) for why in get_args(Missing)))
    return {
        "figures": [
            " | ".join(str(kind(**one)) for kind in (Share, Figure, Difference)) for one in figures
        ],
        "ratings": [f"{word_rating(one)} | {one.record if one else ''}" for one in ratings],
        "agreement": [
            agreement_figures(measure_agreement(rows), rehearsals)
            for rows, rehearsals in ((FORTY, 0), (FORTY[:3], 0), ([], 0), ([], 2))
        ],
        "a leaderboard": [
            LeaderboardAnswer(leaderboard=rank_models(rows), rehearsals=rehearsals)
            for rows, rehearsals in ((FORTY, 0), (FORTY, 2), ([make_row(1)], 0), ([], 0))
        ],
    }


def _phrases() -> dict[str, Iterable[Text]]:
    votes = ("{n} vote was cast.", "{n} votes were cast.")
    hours = ("{n} hour", "{n} hours")
    tram = Source(title="tram", text="In 2019 the city counted 41,000 riders a day on the line.")
    bus = Source(title="bus", text="Buses need no rails and can be moved within a week.")
    quoted = (
        "“Buses need no rails” [Source 2] “counted 41,000 riders a day” [Source 1] "
        "“nobody ever rides” [Source 2] “Buses need no rails” [Source 1]"
    )
    minutes = (1 / 3, 0.5, 1.5, 1, 30, 60, 90, 150, 1440, 2880, 3180, 10080)
    agents = {"1": "Practitioner", "2": "Sceptic"}
    answers = ("1", "2", "tie", "weak")
    return {
        "times": [*map(lasting, minutes)],
        "rough times": [*map(about_minutes, (0.4, 5.4, 300, 14_398_560))],
        "quotations": [sum_up(check_quotations(quoted, (tram, bus))), sum_up(())],
        "keys": [
            key_hint(("up", "down", "unsure")),
            *(key_hint(answers, quorum=quorum) for quorum in (0, 1, 5)),
            key_hint(answers, agents),
            hand_text("guest-1", "2", agents, raised=True),
            hand_text("guest-1", "A", raised=True),
        ],
        "dates and shares": [moment(datetime(2026, 11, 22, 19, 5, tzinfo=UTC)), percent(0.634)],
        "amounts": [number(1234.5, ",.1f"), *map(money, (0.25, 0.0421, 0.004, 0.0, None))],
        "plurals": [plural(*votes, n) for n in (1, 2)],
        "plurals as CLDR names them": [plural(*hours, n) for n in (0, 1.0, 1.5, 2)],
        "rounds": [
            *map(round_name, ("free-3", "cross-1")),
            round_names(("draft", "revision-1", "revision-2")),
            round_names(("opening", "closing")),
        ],
    }
