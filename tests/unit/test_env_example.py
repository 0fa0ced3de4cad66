"""`.env.example` names every setting, says what it is, and shows its true default."""

import os
import re
from itertools import pairwise
from pathlib import Path

import pytest

from bot.settings.load import known_paths, load_settings, shape_of
from bot.settings.settings import Settings
from bot.settings.values import variable
from tests.pages.reference import example

EXAMPLE = Path(__file__).parents[2] / ".env.example"
LINE = re.compile(r"^#(ROSTRUM_\w+)=(.*)$", re.MULTILINE)


def test_every_setting_is_listed_once_with_a_comment_above_it_and_nothing_else() -> None:
    listed = [name for name, _ in LINE.findall(EXAMPLE.read_text(encoding="utf-8"))]
    known = {variable(path) for path in known_paths(shape_of(Settings), like=("backends", "local"))}
    known = {name.replace("__*__", "__LOCAL__") for name in known} | {"ROSTRUM_BACKENDS"}
    assert set(listed) == known
    assert len(listed) == len(set(listed))
    lines = EXAMPLE.read_text(encoding="utf-8").splitlines()
    for above, line in pairwise(lines):
        if LINE.match(line):
            assert above.startswith("# "), line


def test_it_has_the_options_of_a_debate_and_every_value_as_the_code_has_them() -> None:
    assert EXAMPLE.read_text(encoding="utf-8") == example(), "make docs"


def test_uncommented_it_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.upper().startswith("ROSTRUM_")]:
        monkeypatch.delenv(name)
    env_file = tmp_path / ".env"
    env_file.write_text(LINE.sub(r"\1=\2", EXAMPLE.read_text(encoding="utf-8")), encoding="utf-8")
    assert load_settings(env_file, tmp_path / "rostrum.toml") == Settings()
