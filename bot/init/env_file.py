"""The file `.env`: what it becomes with new values, and how it is written."""

from __future__ import annotations

import io
import os
import re
import tempfile
from collections.abc import Collection, Mapping
from pathlib import Path

from dotenv.parser import Binding, parse_stream

from adapters.private_files import FILE_MODE
from engine.values.errors import SettingsError

_PLAIN = re.compile(r"[A-Za-z0-9_./:,@+=-]*")


def read_env(file: Path) -> str:
    """Return the file's text; empty for none. Raises SettingsError."""
    try:
        return file.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        return ""
    except UnicodeDecodeError:
        raise SettingsError(f"{file} is not UTF-8 text; save it as UTF-8.") from None
    except OSError as error:
        raise SettingsError(f"{file} cannot be read: {error.strerror}.") from None


def merge(text: str, values: Mapping[str, str], dropped: Collection[str] = ()) -> str:
    """Return the text with values by variable; every other line stays as it is.

    A variable that is there gets its value in its place, others follow at the end. Variables that
    begin like one of `dropped` and get no value are removed. Raises SettingsError for a text that
    would swallow the new lines, such as one with an open quotation mark.
    """
    left, lines = dict(values), []
    for binding in parse_stream(io.StringIO(text)):
        name = (binding.key or "").upper()
        if name in left:
            lines.append(f"{_space_before(binding)}{_assign(name, left.pop(name))}\n")
        elif name not in values and not (name and name.startswith(tuple(dropped))):
            lines.append(binding.original.string)
    if lines and not lines[-1].endswith("\n"):
        lines.append("\n")
    merged = "".join([*lines, *(f"{_assign(*item)}\n" for item in left.items())])
    _expect(merged, values)
    return merged


def _expect(text: str, values: Mapping[str, str]) -> None:
    """Check that the values are read as they were written. Raises SettingsError."""
    bindings = list(parse_stream(io.StringIO(text)))
    read = {binding.key: binding.value for binding in bindings}
    if all(read.get(name) == value for name, value in values.items()):
        return
    line = next((binding.original.line for binding in bindings if binding.error), 1)
    raise SettingsError(
        f"Line {line} of .env is not NAME=value; correct it, and run rostrum init again."
    )


def write_env(file: Path, text: str) -> None:
    """Replace the file at once, readable by its owner only. Raises SettingsError."""
    target = Path(os.path.realpath(file))
    draft = ""
    try:
        handle, draft = tempfile.mkstemp(prefix=".env-", dir=target.parent)
        with os.fdopen(handle, "w", encoding="utf-8") as opened:
            os.fchmod(handle, FILE_MODE)
            opened.write(text)
            opened.flush()
            os.fsync(handle)
        os.replace(draft, target)
    except OSError as error:
        if draft:
            Path(draft).unlink(missing_ok=True)
        raise SettingsError(
            f"{target} could not be written: {error.strerror}; nothing was changed."
        ) from None


def _space_before(binding: Binding) -> str:
    """Return the empty lines before an assignment, and its indentation."""
    string = binding.original.string
    return string[: len(string) - len(string.lstrip())]


def _assign(name: str, value: str) -> str:
    if _PLAIN.fullmatch(value):
        return f"{name}={value}"
    escaped = value.replace("\\", "\\\\").replace("'", "\\'")
    return f"{name}='{escaped}'"
