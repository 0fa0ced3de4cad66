"""Every model that a document or a sentence of ours names is one that its provider prices."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from adapters.models.backends import PRESETS
from adapters.models.bundled import bundled_price

ROOT = Path(__file__).parents[2]
TEXTS = sorted(
    [
        *ROOT.glob("*.md"),
        *ROOT.glob("docs/**/*.md"),
        *ROOT.glob("deploy/**/*.yaml"),
        *(file for room in ("bot", "engine", "adapters") for file in ROOT.glob(f"{room}/**/*.py")),
        *ROOT.glob("engine/words/locales/*.toml"),
        ROOT / ".env.example",
    ]
)
PRICED = [name for name, preset in PRESETS.items() if not preset.local]
MODEL = re.compile(rf"(?<![\w/.~-])(online|{'|'.join(PRICED)})/([\w.:/-]*\w)")
PLACEHOLDERS = {"x", "y", "name"}


def named_in(text: str) -> set[tuple[str, str]]:
    """Return the presets and names of models; `online` is OpenRouter, as the README sets it."""
    return {
        ("openrouter" if backend == "online" else backend, name)
        for backend, name in MODEL.findall(text)
        if name not in PLACEHOLDERS
    }


@pytest.mark.parametrize(
    "file",
    [
        pytest.param(file, id=str(file.relative_to(ROOT)))
        for file in TEXTS
        if named_in(file.read_text("utf-8"))
    ],
)
def test_every_model_that_is_named_has_a_price(file: Path) -> None:
    unpriced = [
        f"{preset}: {name}"
        for preset, name in sorted(named_in(file.read_text("utf-8")))
        if bundled_price(PRESETS[preset].base_url, name) is None
    ]
    assert unpriced == []


def test_the_readme_and_the_demo_name_models() -> None:
    assert len(named_in((ROOT / "README.md").read_text("utf-8"))) > 4
    assert len(named_in((ROOT / "bot" / "texts.py").read_text("utf-8"))) > 4
