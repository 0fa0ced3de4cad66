"""A new format is one file, its templates and one registration: one is added, and held."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import orjson
import pytest

from tests.kit import HANG_SECONDS

ROOT = Path(__file__).parents[2]
SCRIPT = '''
"""`toast`: each side says one thing."""

from engine.values.debate import Request, TurnOrder
from engine.stage import Stage
from engine.formats.format import Format
from engine.stage.shapes import TurnLimits


class Toast(Format):
    """One speech a side."""

    name = "toast"
    version = 1
    turn_order = TurnOrder.SIMULTANEOUS

    def rounds(self, request: Request) -> tuple[str, ...]:
        return ("toast",)

    def turns(self, request: Request) -> int:
        return 2

    def waves(self, request: Request) -> int:
        return 1

    async def run(self, stage: Stage) -> None:
        limits = TurnLimits(words=150)
        await stage.all_at_once(
            *(stage.speak(side, "toast", template="toast/speech", limits=limits) for side in "AB")
        )
'''
TEMPLATES = {
    "system": "You give a toast. Write in {{ language }}.",
    "speech": "Motion: {{ topic }}. At most {{ limits.words }} words.",
    "shorten": "Say it again in at most {{ limits.words }} words.",
}


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    copy = tmp_path / "rostrum"
    for package in ("engine", "adapters", "bot", "migrations"):
        without = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / package, copy / package, ignore=without)
    (copy / "engine/formats/toast.py").write_text(SCRIPT, encoding="utf-8")
    templates = copy / "engine/prompts/toast"
    templates.mkdir()
    for name, text in TEMPLATES.items():
        (templates / f"{name}.jinja").write_text(text, encoding="utf-8")
    registry = copy / "engine/formats/__init__.py"
    text = registry.read_text(encoding="utf-8")
    listed = '"oxford": "oxford:Oxford",'
    text = text.replace(listed, f'{listed} "toast": "toast:Toast",')
    registry.write_text(text, encoding="utf-8")
    return copy


def test_it_is_held_judged_voted_on_and_exported(copy: Path, tmp_path: Path) -> None:
    kept = {name: value for name, value in os.environ.items() if "ROSTRUM" not in name}
    command = "from bot.cli import main; main()"
    ended = subprocess.run(
        [sys.executable, "-c", command, "demo", "--format", "toast", "--votes", "A=4,B=1"],
        cwd=tmp_path,
        env=kept | {"PYTHONPATH": str(copy), "PYTHONDONTWRITEBYTECODE": "1"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=HANG_SECONDS,
        check=False,
    )
    assert (ended.returncode, ended.stderr) == (0, "")
    for shown in (
        "toast: toast · about 1 minute to read",
        "[🔵 A · toast · turn 1 of 2]",
        "People: 🔵 A (4–1)",
        "Jury: ",
    ):
        assert shown in ended.stdout
    (debate,) = (tmp_path / "demo-export/data/debates").glob("*.jsonl")
    assert orjson.loads(debate.read_bytes())["format"] == "toast"


def test_nothing_but_limits_that_can_be_set_names_the_small_format() -> None:
    naming = {
        str(path.relative_to(ROOT))
        for package in ("engine", "adapters", "bot", "migrations")
        for path in (ROOT / package).rglob("*.py")
        if "oxford" in path.read_text(encoding="utf-8").lower()
    }
    assert naming <= {
        "engine/formats/__init__.py",
        "engine/formats/oxford.py",
        "bot/settings/settings.py",
        "engine/values/limits.py",
    }
