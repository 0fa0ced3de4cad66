"""Files of labels: what Argilla and Label Studio export, and plain lines or CSV."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from io import StringIO
from typing import Any

import orjson

from engine.dataset.layouts import QUESTION
from engine.values.errors import UsageError
from engine.values.text import clean, headline
from engine.votes.imported import ImportedLabel, LabelFault

ARGILLA, LABEL_STUDIO, LINES = "argilla", "label-studio", "file"
_USERS = ("annotator", "completed_by", "voter", "user", "judge")
_WHEN = ("updated_at", "created_at")
_LONGEST = 100  # characters of a person's id
_UNREADABLE = "it is no JSON object"


def read_labels(content: bytes) -> tuple[str, list[ImportedLabel | LabelFault]]:
    """Return the tool that wrote a file, and each label or what is wrong with it.

    A line is that of JSON lines and CSV; in one JSON array it is the record's number. Raises
    UsageError for a file that is none of these.
    """
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UsageError("The file is not UTF-8 text; export labels as JSON or CSV.") from error
    if not text.strip():
        raise UsageError("The file is empty; export labels as JSON or CSV.")
    try:
        rows = list(_rows(text))
    except csv.Error as error:
        raise UsageError(f"The file is not valid CSV: {error}.") from error
    tools = [_tool(row) for _, row in rows if row is not None]
    labels = [label for number, row in rows for label in _labels(number, row)]
    return (tools or [LINES])[0], labels


def _rows(text: str) -> Iterator[tuple[int, dict[str, Any] | None]]:
    start = text.lstrip()[:1]
    if start == "[":
        try:
            found = orjson.loads(text)
        except orjson.JSONDecodeError as error:
            raise UsageError("The file begins like a JSON array, but is none.") from error
        yield from enumerate((row if isinstance(row, dict) else None for row in found), start=1)
    elif start == "{":
        for number, line in enumerate(text.splitlines(), start=1):
            if line.strip():
                yield number, _object(line)
    else:
        reader = csv.DictReader(StringIO(text))
        if "debate_id" not in (reader.fieldnames or ()):
            raise UsageError("The file has no column debate_id; export labels as JSON or CSV.")
        yield from ((reader.line_num, row) for row in reader)


def _object(line: str) -> dict[str, Any] | None:
    try:
        found = orjson.loads(line)
    except orjson.JSONDecodeError:
        return None
    return found if isinstance(found, dict) else None


def _tool(row: Mapping[str, Any]) -> str:
    if "responses" in row and "fields" in row:
        return ARGILLA
    return LABEL_STUDIO if "annotations" in row or "annotation_id" in row else LINES


def _labels(number: int, row: Mapping[str, Any] | None) -> Iterable[ImportedLabel | LabelFault]:
    """Return a record's labels; one that no one has labelled has none."""
    if row is None:
        return [LabelFault(number, _UNREADABLE)]
    match _tool(row):
        case "argilla":
            return list(_of_argilla(number, row))
        case "label-studio" if "annotations" in row:
            return list(_of_label_studio(number, row))
    return [_label(number, row, row.get(QUESTION), _user(row), _at(row))]


def _of_argilla(number: int, row: Mapping[str, Any]) -> Iterator[ImportedLabel | LabelFault]:
    told, given = row.get("metadata"), row.get("responses")
    responses = given.get(QUESTION) if isinstance(given, dict) else None
    for response in responses if isinstance(responses, list) else ():
        if not isinstance(response, dict):
            yield LabelFault(number, _UNREADABLE)
        elif response.get("status") in (None, "submitted"):
            yield _label(number, told, response.get("value"), response.get("user_id"), None)


def _of_label_studio(number: int, row: Mapping[str, Any]) -> Iterator[ImportedLabel | LabelFault]:
    annotations = row.get("annotations")
    for one in annotations if isinstance(annotations, list) else ():
        if not isinstance(one, dict):
            yield LabelFault(number, _UNREADABLE)
        elif not one.get("was_cancelled"):
            yield _label(number, row.get("data"), _chosen(one), _user(one), _at(one))


def _chosen(annotation: Mapping[str, Any]) -> Any:
    results = annotation.get("result")
    for result in results if isinstance(results, list) else ():
        if isinstance(result, dict) and result.get("from_name") == QUESTION:
            return result.get("value")
    return None


def _label(
    number: int, told: Any, answer: Any, user: Any, at: datetime | None
) -> ImportedLabel | LabelFault:
    if not isinstance(told, dict):
        return LabelFault(number, "it does not say which debate it is about")
    debate, order = (_text(told.get(name)) for name in ("debate_id", "order"))
    if not (debate and order):
        return LabelFault(number, "it has no debate_id and order")
    if isinstance(answer, dict):
        answer = answer.get("choices")
    if isinstance(answer, list) and len(answer) == 1:
        answer = answer[0]
    if not isinstance(answer, str) or not answer:
        return LabelFault(number, f"it has no one answer to “{QUESTION}”")
    if not (said := _text("" if user is None else str(user))):
        return LabelFault(number, "it does not say who gave it")
    return ImportedLabel(number, debate[:40], order[:8], answer[:40], said, at)


def _text(given: object) -> str:
    return headline(clean(given), _LONGEST) if isinstance(given, str) else ""


def _user(row: Mapping[str, Any]) -> Any:
    found = next((row[name] for name in _USERS if row.get(name) not in (None, "")), None)
    return found.get("email") or found.get("id") if isinstance(found, dict) else found


def _at(row: Mapping[str, Any]) -> datetime | None:
    said = next((row[name] for name in _WHEN if isinstance(row.get(name), str)), "")
    try:
        at = datetime.fromisoformat(said)
        return at.astimezone(UTC) if at.tzinfo else at.replace(tzinfo=UTC)
    except (OverflowError, ValueError):  # or so near the first or last year that UTC is beyond it
        return None
