"""Reads what jurors are calibrated on: an export, a series held here, or a set of judgments.

A set of judgments has the columns of mt_bench_human_judgments, as JSON lines, JSON, CSV or Parquet.
"""

from __future__ import annotations

import asyncio
import csv
import hashlib
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import orjson
from pydantic import ValidationError

from engine.dataset.debate_table import RECORDS, read_record
from engine.dataset.folder import listed_files
from engine.run.calibration import JudgedCase
from engine.store import DebateRecord, ExportFilter, Store
from engine.values.debate import Model, Turn
from engine.values.errors import MISFITS, UsageError, why_of
from engine.values.text import count_words
from engine.values.verdicts import TIE
from engine.votes.close import people_of

Row: TypeAlias = dict[str, Any]
Chat: TypeAlias = Sequence[Row]
FIRST, SECOND = "1", "2"  # the sides of a pair of answers
BACKEND = "import"  # of models that are known by name only
JUDGED = {"model_a", "model_b", "winner", "conversation_a", "conversation_b"}
WINNERS = ("model_a", "model_b", TIE)
LARGEST_FIELD = 2**31 - 1


class CaseSource(NamedTuple):
    """Where cases came from: its name for people, a digest, and how many rows were left out."""

    name: str
    digest: str
    cases: tuple[JudgedCase, ...]
    left_out: int = 0


async def read_source(name: str, store: Store) -> CaseSource:
    """Return the cases of an export's folder, a file of judgments, or a series by its name.

    Raises UsageError for anything else.
    """
    path = await asyncio.to_thread(Path(name).expanduser)
    if await asyncio.to_thread(path.is_dir):
        return await asyncio.to_thread(_read_export, path)
    if await asyncio.to_thread(path.is_file):
        return await asyncio.to_thread(_read_judgments, path)
    if await store.series.find(name) is None:
        raise UsageError(
            f"{name} is neither a folder, nor a file, nor a series that was held here; name an "
            "export, a file of judgments, or a series."
        )
    records = await asyncio.to_thread(_records, store, name)
    cases = [case for record in records if (case := _of_record(record)) is not None]
    left_out = len(records) - len(cases)
    return CaseSource(name, _digest(f"series {name}".encode()), tuple(cases), left_out)


def _digest(text: bytes) -> str:
    return hashlib.sha256(text).hexdigest()


# --- debates that were held here ---------------------------------------------------------


def _records(store: Store, series: str) -> list[DebateRecord]:
    with store.archive.reading(ExportFilter(series=series, revealed=True)) as records:
        return list(records)


def _of_record(record: DebateRecord) -> JudgedCase | None:
    """Return a debate as a case; None for one that jurors cannot be compared on."""
    debate = record.debate
    request, panel = debate.request, debate.setup.panel
    if len(request.sides) != 2 or request.sources or not record.turns or not debate.revealed_at:
        return None
    later = (judging.found for judging in record.judgings if judging.found)
    return JudgedCase(
        key=debate.id,
        topic=request.topic,
        conditions=request.conditions,
        stances=request.stances,
        language=request.language,
        sides=request.sides,
        turns=record.turns,
        ballots=(*record.ballots, *(ballot for found in later for ballot in found.ballots)),
        human=people_of(record).tally.winner,
        rubric=panel.rubric,
        criteria=panel.criteria,
        blind=panel.blind,
    )


# --- exports -----------------------------------------------------------------------------


def _read_export(folder: Path) -> CaseSource:
    if listed_files(folder) is None:
        raise UsageError(f"{folder} is not an export of Rostrum: it has no manifest.json of one.")
    files = sorted((folder / "data" / RECORDS.name).glob("*"))
    try:
        records = [read_record(row["record"]) for file in files for row in _rows(file)]
        found = tuple(case for one in records if (case := _of_record(one)) is not None)
    except MISFITS as error:
        raise UsageError(f"{folder} is damaged: {why_of(error)}. Export it again.") from error
    if not records:
        raise UsageError(f"{folder} has no table “{RECORDS.name}”; export it with that table.")
    digest = _digest((folder / "manifest.json").read_bytes())
    return CaseSource(str(folder), digest, found, len(records) - len(found))


# --- judgments of pairs of answers -------------------------------------------------------


class _Pair(NamedTuple):
    """Two answers to one question, the models in order of their names."""

    question: str
    models: tuple[str, str]
    turn: int


def _read_judgments(file: Path) -> CaseSource:
    pairs: dict[_Pair, tuple[Chat, Chat]] = {}
    votes: defaultdict[_Pair, Counter[str]] = defaultdict(Counter)
    left_out = 0
    for number, row in enumerate(_rows(file), start=1):
        try:
            pair, answers, winner = _judgment(file, number, row)
        except MISFITS as error:
            raise UsageError(
                f"{file}, judgment {number} cannot be read: {why_of(error)}."
            ) from error
        if pair.models[0] == pair.models[1]:
            left_out += 1
            continue
        pairs.setdefault(pair, answers)
        judge = str(row.get("judge", ""))
        # People count: models are named by backend, or as GPT-4 in MT-bench.
        is_model = "/" in judge or judge.lower().startswith(("gpt", "claude", "llm"))
        if winner and not is_model:
            votes[pair][winner] += 1
    if not pairs:
        raise UsageError(f"{file} has no judgments of two models' answers.")
    digest = _digest(file.read_bytes())
    cases = (_of_pair(pair, answers, votes[pair]) for pair, answers in sorted(pairs.items()))
    found = tuple(case for case in cases if case is not None)
    return CaseSource(str(file), digest, found, left_out + len(pairs) - len(found))


def _judgment(file: Path, number: int, row: Row) -> tuple[_Pair, tuple[Chat, Chat], str]:
    """Return which pair a row judges, both answers, and the side that won."""
    if missing := sorted(JUDGED - row.keys()):
        raise UsageError(
            f"{file}, judgment {number}: there is no {missing[0]}; the columns are those of "
            "mt_bench_human_judgments."
        )
    models = (str(row["model_a"]), str(row["model_b"]))
    chats = (_chat(row["conversation_a"]), _chat(row["conversation_b"]))
    sides = dict(zip(WINNERS, (FIRST, SECOND, TIE), strict=True))
    winner = sides.get(str(row["winner"]).split(" ")[0], "")
    if models[0] > models[1]:
        chats, models = chats[::-1], models[::-1]
        winner = {FIRST: SECOND, SECOND: FIRST}.get(winner, winner)
    question = str(row.get("question_id") or _digest(_asked(chats[0]).encode())[:16])
    return _Pair(question, models, int(row.get("turn") or 1)), chats, winner


def _chat(value: Any) -> list[Row]:
    """Return a conversation, which CSV has as JSON; empty if it cannot be read."""
    try:
        found = orjson.loads(value) if isinstance(value, str) else value
    except orjson.JSONDecodeError:
        return []
    if not isinstance(found, Iterable):
        return []
    return [one for one in found if isinstance(one, dict) and {"role", "content"} <= one.keys()]


def _asked(chat: Chat) -> str:
    return "\n\n".join(str(one["content"]) for one in chat if one["role"] == "user")


def _of_pair(pair: _Pair, answers: Sequence[Chat], votes: Counter[str]) -> JudgedCase | None:
    """Return a pair as a case; None if an answer is missing."""
    chats = [_first_turns(chat, pair.turn) for chat in answers]
    said = [[str(one["content"]) for one in chat if one["role"] == "assistant"] for chat in chats]
    topic = _asked(chats[0]).strip()
    if not topic or len(said[0]) != len(said[1]) or not all(map(str.strip, (*said[0], *said[1]))):
        return None
    sides = (FIRST, SECOND)
    turns = [
        _answer(side, place, round_, 2 * (round_ - 1) + place, texts[round_ - 1], model)
        for round_ in range(1, len(said[0]) + 1)
        for place, (side, texts, model) in enumerate(
            zip(sides, said, pair.models, strict=True), start=1
        )
    ]
    name = f"{pair.question} {' '.join(pair.models)} {pair.turn}"
    models = (Model.parse(f"{BACKEND}/{one}") for one in pair.models)
    preferred = votes.most_common(2)
    tied = len(preferred) == 2 and preferred[0][1] == preferred[1][1]
    return JudgedCase(
        key=_digest("\n".join((name, topic, *said[0], *said[1])).encode()),
        topic=topic,
        sides=dict(zip(sides, models, strict=True)),
        turns=tuple(turns),
        human=TIE if tied else preferred[0][0] if preferred else None,
        rubric="answers",
    )


def _first_turns(chat: Chat, turns: int) -> Chat:
    """Return a conversation up to an answer by its number."""
    found: list[Row] = []
    answers = 0
    for one in chat:
        if answers == turns:
            break
        found.append(one)
        answers += one["role"] == "assistant"
    return found


def _answer(side: str, place: int, round_: int, number: int, text: str, model: str) -> Turn:
    name = f"answer{round_}"
    return Turn(
        step=f"turn/{name}/{side}",
        seat=side,
        side=side,
        round=name,
        number=number,
        place=place,
        text=text,
        words=count_words(text),
        limit=0,
        model=model,
    )


# --- files -------------------------------------------------------------------------------


def _rows(file: Path) -> Iterator[Row]:
    """Yield the rows of a file by its extension. Raises UsageError for one that is not readable."""
    if file.exists() and not file.is_file():
        raise UsageError(f"{file} is no file that can be read; name one.")
    try:
        match file.suffix.lower():
            case ".jsonl":
                with file.open("rb") as lines:
                    yield from (orjson.loads(line) for line in lines if line.strip())
            case ".json":
                content = file.read_bytes()
                if not content.strip():
                    raise UsageError(f"{file} is empty; name a file that holds judgments.")
                yield from orjson.loads(content)
            case ".csv":
                csv.field_size_limit(min(sys.maxsize, LARGEST_FIELD))
                with file.open(encoding="utf-8", newline="") as lines:
                    yield from csv.DictReader(lines)
            case ".parquet":
                try:
                    from engine.dataset.parquet import read_rows
                except ImportError:
                    raise UsageError(
                        "Parquet is read with pyarrow, which is not installed; install it with "
                        "pip install 'pyarrow>=22', or name a file in jsonl."
                    ) from None
                yield from read_rows(file)
            case other:
                raise UsageError(
                    f"{file} ends in {other or 'nothing'}; name a file in jsonl, json, csv or "
                    "parquet."
                )
    except (ValueError, TypeError, OSError, csv.Error, ValidationError) as error:
        raise UsageError(f"{file} cannot be read: {error}.") from error
