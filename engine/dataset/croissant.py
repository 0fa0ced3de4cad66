"""The metadata of an export in Croissant, the vocabulary of MLCommons: `croissant.json`.

See https://docs.mlcommons.org/croissant/docs/croissant-spec.html. Validated with mlcroissant by
`make test-datasets`. It has the columns of each table and split, and every data file's hash.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

import orjson

from engine.dataset.columns import FLAG, MOMENT, REAL, SCHEMA_VERSION, TEXT, WHOLE, Column, Table
from engine.dataset.folder import ExportedFile, FileFormat

CROISSANT = "croissant.json"
NAME = "rostrum-debates"
_TYPES = {
    TEXT: "sc:Text",
    FLAG: "sc:Boolean",
    WHOLE: "sc:Integer",
    REAL: "sc:Float",
    MOMENT: "sc:DateTime",
}
_ENCODINGS = {
    "jsonl": "application/jsonlines",
    "json": "application/json",
    "parquet": "application/x-parquet",
    "xml": "text/xml",
}
# The context that the specification gives, word for word: readers compare it.
_TERMS = (
    "citeAs column conformsTo:dct equivalentProperty extract field fileProperty fileObject fileSet "
    "format includes isLiveDataset jsonPath key md5 parentField path recordSet references regex "
    "repeated replace samplingRate separator source subField transform"
)
_CONTEXT: dict[str, Any] = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "cr": "http://mlcommons.org/croissant/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "dct": "http://purl.org/dc/terms/",
    "sc": "https://schema.org/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "examples": {"@id": "cr:examples", "@type": "@json"},
} | {
    term: f"{space or 'cr'}:{term}"
    for term, _, space in (word.partition(":") for word in _TERMS.split())
}


def write_croissant(
    files: Iterable[ExportedFile],
    tables: Iterable[Table[Any]],
    rows: Mapping[str, Mapping[str, int]],
    file_format: FileFormat,
    *,
    cutoff: datetime | None,
    license: str | None,
) -> bytes:
    """Return the text of `croissant.json` for an export's data files.

    `tables` are those with rows to describe; a layout has none.
    """
    sets = [
        _record_set(table, split, file_format.path(table.name, split))
        for table in tables
        for split in rows[table.name]
    ]
    licensed = {}
    if license is not None:
        from engine.dataset.license import OWN, page_of  # a demo's publisher has set none

        licensed["license"] = license if license.startswith(OWN) else page_of(license)
    dates = {"datePublished": cutoff.date().isoformat()} if cutoff else {}
    body = {
        "@context": _CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        "name": NAME,
        "description": "Debates between language models, judged blind by a panel of other models "
        "and by the people in a chat channel, with every turn, ballot and vote.",
        "version": f"{SCHEMA_VERSION}.0.0",
        **licensed,
        **dates,
        "distribution": [
            {
                "@type": "cr:FileObject",
                "@id": file.path,
                "name": file.path,
                "contentUrl": file.path,
                "contentSize": f"{file.bytes} B",
                "encodingFormat": _ENCODINGS[file.path.rpartition(".")[2]],
                "sha256": file.sha256,
            }
            for file in files
        ],
        "recordSet": sets,
    }
    return orjson.dumps(body, option=orjson.OPT_APPEND_NEWLINE)


def _record_set(table: Table[Any], split: str, path: str) -> dict[str, Any]:
    name = f"{table.name}/{split}"
    return {
        "@type": "cr:RecordSet",
        "@id": name,
        "name": name,
        "description": f"One row is {table.about}.",
        "field": [_field(column, name, path) for column in table.columns],
    }


def _field(column: Column[Any], parent: str, path: str) -> dict[str, Any]:
    name = f"{parent}/{column.name}"
    plain = {"@type": "cr:Field", "@id": name, "name": name, "description": column.about}
    if isinstance(column.type, str):
        return plain | {"dataType": _TYPES[column.type], "source": _source(path, column.name)}
    parts = [
        {
            "@type": "cr:Field",
            "@id": f"{name}/{part.name}",
            "name": f"{name}/{part.name}",
            "description": part.about,
            "dataType": _TYPES[part.type],
            "source": _source(path, column.name) | {"transform": {"jsonPath": part.name}},
        }
        for part in column.type
        if isinstance(part.type, str)
    ]
    return plain | {"repeated": True, "subField": parts}


def _source(path: str, column: str) -> dict[str, Any]:
    return {"fileObject": {"@id": path}, "extract": {"column": column}}
