"""Synthetic debates for benchmarks, written into a database."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any, NamedTuple

import orjson

from adapters.database.database import SqlDatabase
from engine.store.database import SqlConnection
from engine.store.debates import listing_of
from engine.store.journal import FROM_CALL, PANEL
from engine.values.debate import Model, PanelSetup, Request, Setup, Status, Turn, Usage
from engine.values.ports import Reply
from engine.values.verdicts import Ballot, Question, Verdict, Vote, iso

ROUNDS = ("opening", "rebuttal", "assumptions", "closing")
JURORS = 6
CALLS = 2 * len(ROUNDS) + JURORS
WORDS = 200  # a turn
PEOPLE = 20_000
TOPICS = 2_000
AT_ONCE = 50  # debates per transaction
BEGAN = datetime(2026, 1, 1, tzinfo=UTC)
MODELS = tuple(Model.parse(f"bench/{name}-1") for name in ("acme", "bolt", "cedar", "delta"))
ROSTER = tuple(Model.parse(f"bench/juror-{n}#j{n}") for n in range(JURORS))
SHEET = {"logic": 7, "evidence": 6, "responsiveness": 8, "honesty": 7}
SYLLABLES = ("re", "mo", "te", "wor", "ker", "pro", "duc", "tiv", "i", "ty", "of", "fice", "and")

Rows = list[tuple[str, list[dict[str, Any]]]]  # by table


class Scale(NamedTuple):
    """How many debates to generate, and how many votes each."""

    debates: int
    votes_each: int


async def fill(database: SqlDatabase, scale: Scale) -> None:
    """Write ended debates; the same ones every time."""
    rng = Random("past debates")
    vocabulary = ["".join(rng.choices(SYLLABLES, k=rng.randint(1, 4))) for _ in range(4000)]
    known = {"platform": "bench", "opted_out": False}
    people = [{"id": n, "user": f"user-{n}", **known} for n in range(1, PEOPLE + 1)]
    await _write(database, [("people", people)])
    for first in range(0, scale.debates, AT_ONCE):
        rows: Rows = []
        for number in range(first, min(first + AT_ONCE, scale.debates)):
            rows += Past(number, scale.votes_each, vocabulary).rows()
        await _write(database, rows)


async def _write(database: SqlDatabase, rows: Rows) -> None:
    def store(connection: SqlConnection) -> None:
        for table, made in rows:
            for row in made:
                columns, values = (", ".join(map(form.format, row)) for form in ('"{}"', ":{}"))
                connection.run(f"INSERT INTO {table} ({columns}) VALUES ({values})", **row)  # noqa: S608

    await database.write(store)


class Past:
    """One synthetic debate."""

    def __init__(self, number: int, votes: int, vocabulary: list[str]) -> None:
        self.number, self.votes = number, votes
        self.id = f"01BENCH{number:019d}"
        self.rng = Random(number)
        self.vocabulary = vocabulary
        self.at = BEGAN + timedelta(minutes=number)
        self.revealed_at = self.at + timedelta(hours=1)

        self.setup = self._set_up()

    def rows(self) -> Rows:
        """Return the debate's rows, referenced tables first."""
        spoken = list(self._turns())
        read = list(self._ballots())
        verdict = Verdict(winner="A", p={"A": 0.7, "B": 0.3}, z=0.9, valid=JURORS, invalid=0)
        judged = {"debate": self.id, "judge": PANEL, "body": verdict.model_dump_json()}
        return [
            ("debates", [self.debate()]),
            ("listings", [{"debate": self.id, **listing_of(self.setup)}]),
            ("questions", [self._question()]),
            ("turns", [self._turn_row(turn) for turn in spoken]),
            ("calls", [self._call(turn.step, turn.text) for turn in spoken]),
            ("calls", [self._call(step, ballot.raw) for step, ballot in read]),
            ("ballots", [self._ballot_row(step, ballot) for step, ballot in read]),
            ("verdicts", [judged]),
            ("votes", list(self._votes())),
        ]

    def _set_up(self) -> Setup:
        a, b = self.rng.sample(MODELS, 2)
        topic = " ".join(Random(f"topic/{self.number % TOPICS}").choices(self.vocabulary, k=9))
        return Setup(
            request=Request(topic=topic, sides={"A": a, "B": b}),
            format_version=1,
            templates="ab" * 32,
            panel=PanelSetup(roster=ROSTER),
            names={"A": "Lagoon", "B": "Meadow"},
            sampling={},
            limits={},
            seed=self.number,
            ordinal=self.number,
        )

    def debate(self) -> dict[str, Any]:
        """Return the row of the debate alone."""
        setup = self.setup
        return {
            "id": self.id,
            "number": self.number + 1,
            "platform": "bench",
            "community": f"community-{self.number % 20}",
            "place": "place",
            "status": Status.CLOSED,
            **dict.fromkeys(("gone", "closed_early"), False),
            **{"reason": "", "reserved_usd": 0.0, "settled_usd": 0.0},
            "format": setup.request.format,
            "language": setup.request.language,
            "setup": setup.model_dump_json(),
            "budget_day": self.at.date().isoformat(),
            "created_at": self.at,
            "opened_at": self.at,
            "revealed_at": self.revealed_at,
        }

    def _question(self) -> dict[str, Any]:
        asked = {"debate": self.id, "question": Question.VOTE, "step": ""}
        moments = {"opened_at": self.at, "closed_at": self.revealed_at}
        return {**asked, **moments, **dict.fromkeys(("extended", "unread"), False)}

    def _speak(self, words: int) -> str:
        return " ".join(self.rng.choices(self.vocabulary, k=words))

    def _turns(self) -> Iterator[Turn]:
        for number in range(2 * len(ROUNDS)):
            side, name = "AB"[number % 2], ROUNDS[number // 2]
            yield Turn(
                step=f"turn/{name}/{side}",
                seat=side,
                side=side,
                round=name,
                number=number + 1,
                place=number % 2 + 1,
                text=self._speak(WORDS),
                words=WORDS,
                limit=500,
                model="acme-1-2026",
            )

    def _ballots(self) -> Iterator[tuple[str, Ballot]]:
        for n, juror in enumerate(ROSTER):
            reasons = self._speak(60)
            raw = orjson.dumps({"reasons": reasons, "scores": SHEET, "verdict": "Lagoon"})
            yield (
                f"jury/{juror.name}",
                Ballot(
                    juror=juror.ref,
                    family=juror.family,
                    order=("A", "B") if n % 2 else ("B", "A"),
                    names={"A": "Lagoon", "B": "Meadow"},
                    valid=True,
                    scores={"A": SHEET, "B": SHEET | {"logic": self.rng.randint(4, 7)}},
                    verdict=self.rng.choice(("A", "A", "B", "tie")),
                    confidence=0.7,
                    reasons=reasons,
                    raw=raw.decode(),
                    signal={"A": 0.8, "B": -0.8},
                    weight=1.0,
                    pos=0.0,
                    sd=1.5,
                ),
            )

    def _ballot_row(self, step: str, ballot: Ballot) -> dict[str, Any]:
        body = ballot.model_dump_json(exclude=FROM_CALL)
        row = {"debate": self.id, "step": step, "body": body}
        return row | {"juror": ballot.juror, "valid": ballot.valid}

    def _turn_row(self, turn: Turn) -> dict[str, Any]:
        row = {"debate": self.id, "step": turn.step, "number": turn.number}
        return row | {"body": turn.model_dump_json()}

    def _call(self, step: str, text: str) -> dict[str, Any]:
        usage = Usage(tokens_in=900, tokens_out=300)
        reply = Reply(text=text, finish="stop", model="acme-1-2026", usage=usage, cost=0.001)
        return {
            "debate": self.id,
            "step": step,
            "role": "juror" if step.startswith("jury/") else "debater",
            "attempt": 1,
            "state": "done",
            "error": "",
            "model": "bench/acme-1",
            "request": orjson.dumps({"messages": [{"role": "user", "content": text}]}).decode(),
            "prompt_hash": "cd" * 32,
            "reply": reply.model_dump_json(),
            "cost": reply.cost,
            "cost_max": 0.01,
            "started_at": self.at,
        }

    def _votes(self) -> Iterator[dict[str, Any]]:
        """Yield standing votes; one is validated, the others are copies of it."""
        vote = Vote(
            person=0,
            option="A",
            ambiguous=False,
            gold=True,
            starter=False,
            judge_visible=False,
            late_seen=False,
            tally_visible=True,
            votes_seen_before=0,
            changes=0,
            first_at=iso(self.at),
            last_at=iso(self.at),
        )
        plain = orjson.loads(vote.encode())
        voters = self.rng.sample(range(1, PEOPLE + 1), self.votes)
        for seen, person in enumerate(voters):
            option = self.rng.choice(("A", "A", "A", "B", "B", "tie", "weak"))
            body = plain | {"person": person, "option": option, "votes_seen_before": seen}
            row = {"debate": self.id, "person": person, "question": Question.VOTE, "step": ""}
            yield row | {"body": orjson.dumps(body).decode()}
