"""Series for tests of reports, made of rows."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations
from random import Random
from typing import Any

from engine.series.report.data import EndedDebate, SeriesRows, Spoken, add_up
from engine.series.spec import Series, read_series
from engine.stats.row import Row
from engine.store.series import SeriesDebate, SeriesReading, StoredSeries, Try
from engine.values.debate import Status
from engine.values.ports import utc_now
from tests.kit import juror_ballot, make_row


def make_file(models: Sequence[str], **changes: Any) -> Series:
    topics = [f"Topic {number}" for number in range(1, 9)]
    jury = {"models": ["far/j1", "far/j2", "far/j3"], "mode": "all"}
    held = {"name": "spring", "topics": topics, "models": list(models), "jury": jury}
    return read_series(held | changes, ())


def make_series(series: Series, seed: int = 1, **row_fields: Any) -> SeriesRows:
    """Hold a series by lot: earlier models are better, and side A has a small advantage."""
    random, names = Random(seed), [model.ref for model in series.models]
    rows: list[EndedDebate] = []
    debates: list[SeriesDebate] = []
    tries: list[Try] = []
    for topic in series.topics:
        for a, b in permutations(names, 2):
            id_ = f"d{len(rows)}"
            lead = 0.3 + (names.index(b) - names.index(a)) / len(names)
            jury = random.choices(["A", "B", "tie"], [10**lead, 1, 0.6])[0]
            readings = [
                juror_ballot(juror.ref, jury if random.random() < 0.8 else "tie", order)
                for juror in series.jury.models
                for order in ("AB", "BA")
            ]
            rows.append(
                _ended(
                    id_,
                    series.formats[0].format or "",
                    Row(
                        **{
                            **_fields(make_row(people=None, jury=jury)),
                            "topic": topic.text,
                            "title": topic.text,
                            "models": {"A": a, "B": b},
                            "readings": tuple(readings),
                            "words": {"A": random.randint(400, 900), "B": random.randint(400, 900)},
                            **row_fields,
                        }
                    ),
                )
            )
            debates.append(SeriesDebate(id_, id_, Status.CLOSED, "", utc_now()))
            tries += [_try(id_, model, "debater", random) for model in (a, b) * 4]
            tries += [_try(id_, juror.ref, "juror", random) for juror in series.jury.models * 2]
    stored = StoredSeries(name=series.name, body=series.model_dump_json(), begun_at=utc_now())
    found = add_up(SeriesReading(stored, debates, {names[0]: 1}, iter(tries), iter(())))
    found.ended = tuple(rows)
    return found


def _fields(row: Row) -> dict[str, Any]:
    return {name: getattr(row, name) for name in Row.__dataclass_fields__}


def _ended(id_: str, format_: str, row: Row) -> EndedDebate:
    spoken = tuple(
        Spoken(model, 100 + 20 * number, 200, ("too_many_words",) if number == 3 else ())
        for model in row.models.values()
        for number in range(4)
    )
    return EndedDebate(id_, format_, row, tuple(row.models.values()), spoken, unrecused=False)


def _try(debate: str, model: str, role: str, random: Random) -> Try:
    usd = 0.001 * (1 + sum(map(ord, model)) % 17)
    seconds = random.uniform(1, 9)
    return Try(debate, model, role, random.random() < 0.01, 1000, 200, 50, 400, usd, seconds)
