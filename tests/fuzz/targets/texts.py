"""What people write: commands, settings, files of settings, topics, rubrics, series and labels."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from math import isfinite
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

from bot.record.filters import read_moment
from bot.research.cases import read_source
from bot.research.series_runs import load_series
from bot.settings.files import read_rubric, read_topics
from bot.settings.load import examine_settings
from bot.settings.settings import Settings
from engine.chat.commands import parse_command
from engine.chat.settings import find_mistakes
from engine.dataset.label_files import read_labels
from engine.pages.debate_page import read_sought, write_sought
from engine.values.options import Options, read_option
from engine.values.overlap import check_quotations
from engine.values.source_files import read_sources
from engine.values.sources import SourceFile, SourceLimits
from engine.votes.imported import LabelFault
from engine.words.buttons import read_button
from tests.doubles.rehearsed import DEFAULTS
from tests.fuzz.target import Target, wait
from tests.kit import some


@contextmanager
def written(name: str, data: bytes) -> Iterator[Path]:
    with TemporaryDirectory(prefix="rostrum-fuzz-", dir=SHARED if SHARED.is_dir() else None) as top:
        path = Path(top) / name
        path.write_bytes(data)
        yield path


SHARED = Path("/dev/shm")  # noqa: S108 - in memory, where there is such a folder


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")


def command(data: bytes) -> None:
    parse_command(_text(data))


def option(data: bytes) -> None:
    """Read the value of an option of a debate: `name=value`."""
    name, _, text = _text(data).partition("=")
    value = read_option(name if name in Options.model_fields else "vote_minutes", text)
    if isinstance(value, float):
        assert isfinite(value)


def moment(data: bytes) -> None:
    found = some(read_moment("--since", _text(data), after=True))
    assert found.tzinfo


def button(data: bytes) -> None:
    read_button(_text(data))


def community(data: bytes) -> None:
    """Read settings of a community: `name=value`, a line each."""
    pairs = (line.partition("=") for line in _text(data).splitlines())
    changes = {name: value for name, _, value in pairs}
    mistakes = find_mistakes(changes, DEFAULTS)
    assert mistakes.keys() <= changes.keys()


def env_file(data: bytes) -> None:
    """Read a `.env`."""
    with written(".env", data) as path, patch.dict(os.environ, clear=True):
        _examine(path, path.with_name("none.toml"))


def toml_file(data: bytes) -> None:
    """Read a `rostrum.toml`."""
    with written("rostrum.toml", data) as path, patch.dict(os.environ, clear=True):
        _examine(path.with_name("none.env"), path)


def environment(data: bytes) -> None:
    """Read variables of the environment, a line each."""
    lines = [line.partition(b"=") for line in data.replace(b"\0", b"").splitlines()]
    given = {os.fsdecode(name): os.fsdecode(value) for name, _, value in lines if name}
    missing = Path("/nonexistent/rostrum")
    with patch.dict(os.environ, given, clear=True):
        _examine(missing, missing)


def _examine(env: Path, toml: Path) -> None:
    settings, wrong = examine_settings(env, toml)
    assert wrong or isinstance(settings, Settings)
    for sentence in wrong:
        sentence.encode()


def topics(suffix: str) -> Callable[[bytes], None]:

    def read(data: bytes) -> None:
        with written(f"topics{suffix}", data) as path:
            found = read_topics(path)
        assert found.topics or found.faults

    return read


def rubric(data: bytes) -> None:
    found = read_rubric(_text(data), "own")
    assert found.criteria
    assert all(one.lowest < one.highest for one in found.criteria)


def series(data: bytes) -> None:
    with written("series.toml", data) as path:
        made = load_series(path, Settings())
    assert type(made).model_validate_json(made.model_dump_json()) == made


def labels(data: bytes) -> None:
    _, found = read_labels(data)
    for one in found:
        if not isinstance(one, LabelFault):
            assert one.debate
            assert one.user
            "".join((one.debate, one.order, one.answer, one.user)).encode()


def judgments(suffix: str) -> Callable[[bytes], None]:
    """Read a file of judgments that jurors are calibrated on."""
    nothing: Any = None

    def read(data: bytes) -> None:
        with written(f"judgments{suffix}", data) as path:
            found = wait(read_source(str(path), nothing))
        for case in found.cases:
            case.model_dump_json()

    return read


def sources(data: bytes) -> None:
    """Read attached sources, and check quotations of them."""
    held = read_sources([SourceFile(name="one.txt", content=data)], SourceLimits())
    for quotation in check_quotations(_text(data), held):
        assert 0 <= quotation.share <= 1


def sought(data: bytes) -> None:
    given = dict(line.partition("=")[::2] for line in _text(data).splitlines())
    found = read_sought(given)
    assert read_sought(write_sought(found)) == found


TEXTS = (
    Target("text-command", command),
    Target("text-option", option),
    Target("text-moment", moment),
    Target("text-button", button),
    Target("text-community", community),
    Target("text-sources", sources),
    Target("settings-env", env_file),
    Target("settings-toml", toml_file),
    Target("settings-environment", environment),
    Target("file-topics-toml", topics(".toml")),
    Target("file-topics-yaml", topics(".yaml")),
    Target("file-topics-lines", topics(".txt")),
    Target("file-rubric", rubric, (ValueError,)),
    Target("file-series", series),
    Target("import-labels", labels),
    Target("import-judgments-jsonl", judgments(".jsonl")),
    Target("import-judgments-json", judgments(".json")),
    Target("import-judgments-csv", judgments(".csv")),
    Target("web-query", sought),
)
