"""What is distributed: a wheel with every file of the program, its name, and its licence."""

import hashlib
import os
import re
import subprocess
import sys
import zipfile
from email.message import Message
from email.parser import HeaderParser
from pathlib import Path

import pytest

from bot import __version__

ROOT = Path(__file__).parents[2]
ROOMS = ("adapters", "bench/wheel", "bot", "engine", "migrations")
COPYRIGHT = "Copyright 2026 The Rostrum authors"
# Of https://www.apache.org/licenses/LICENSE-2.0.txt
APACHE = "cfc7749b96f63bd31c3c42b5c471bf756814053e847c10f3eb003417bc523d30"


def files(top: Path) -> set[str]:
    found = (file for room in ROOMS for file in (top / room).rglob("*") if file.is_file())
    return {str(file.relative_to(top)) for file in found if file.parent.name != "__pycache__"}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    top = tmp_path_factory.mktemp("sources")
    for name in (*files(ROOT), "LICENSE", "README.md", "pyproject.toml"):
        copy = top / name
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes((ROOT / name).read_bytes())
    out = tmp_path_factory.mktemp("wheel")
    pip = (sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation", "--no-index")
    done = subprocess.run([*pip, "-q", "-w", out, top], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return next(out.iterdir())


@pytest.mark.slow
def test_a_wheel_has_every_file_of_the_program_and_no_other(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as opened:
        packed = {name for name in opened.namelist() if ".dist-info/" not in name}
    assert packed == files(ROOT)
    assert len(packed) > 400


def test_nothing_in_a_wheel_imports_what_only_a_checkout_has() -> None:
    """`rostrum bench live` imported a double of the tests, and ended in a traceback."""
    outside = re.compile(r"^\s*(?:from|import) ((?:tests|bench(?!\.wheel))\b.*)", re.MULTILINE)
    sources = [name for name in files(ROOT) if name.endswith(".py")]
    found = {name: outside.findall((ROOT / name).read_text("utf-8")) for name in sources}
    assert {name: imports for name, imports in found.items() if imports} == {}


def test_a_wheel_is_called_rostrum_debates_and_names_its_licence(wheel: Path) -> None:
    folder = f"rostrum_debates-{__version__}.dist-info"
    with zipfile.ZipFile(wheel) as opened:
        metadata: Message = HeaderParser().parsestr(opened.read(f"{folder}/METADATA").decode())
        scripts = opened.read(f"{folder}/entry_points.txt").decode()
        licence = opened.read(f"{folder}/licenses/LICENSE").decode()
    assert wheel.name == f"rostrum_debates-{__version__}-py3-none-any.whl"
    assert (metadata["Name"], metadata["Version"]) == ("rostrum-debates", __version__)
    assert metadata["License-Expression"] == "Apache-2.0"
    assert metadata["Author"] == "The Rostrum authors"
    assert scripts == "[console_scripts]\nrostrum = bot.cli:main\n"
    assert COPYRIGHT in licence


@pytest.mark.slow
def test_rostrum_runs_from_a_wheel(wheel: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(wheel) as opened:
        opened.extractall(tmp_path / "unpacked")
    code = "import bot, sys; print(bot.__file__); from bot.cli import main; main()"

    def run(*words: str) -> str:
        return subprocess.run(
            [sys.executable, "-c", code, *words],
            cwd=tmp_path,
            env=os.environ | {"PYTHONPATH": str(tmp_path / "unpacked")},
            capture_output=True,
            text=True,
            check=True,
        ).stdout

    assert run("--version") == f"{tmp_path}/unpacked/bot/__init__.py\nrostrum {__version__}\n"
    assert run("topics").count("\n") > 50


def test_the_licence_is_that_of_apache_with_the_name_of_the_authors() -> None:
    text = (ROOT / "LICENSE").read_text(encoding="utf-8")
    assert text.count(COPYRIGHT) == 1
    blank = text.replace(COPYRIGHT, "Copyright [yyyy] [name of copyright owner]")
    assert hashlib.sha256(blank.encode()).hexdigest() == APACHE


def test_no_one_is_led_to_another_project_that_is_called_rostrum() -> None:
    """The name `rostrum` in the Python registry is not ours."""
    texts = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("deploy/**/*")]
    texts += [file for room in ROOMS for file in (ROOT / room).rglob("*.py")]
    wrong = re.compile(r"""pip3? install ["']?rostrum\b(?!-debates)|version\(["']rostrum["']\)""")
    read = {file: file.read_bytes().decode(errors="replace") for file in texts if file.is_file()}
    assert [str(file) for file, text in read.items() if wrong.search(text)] == []
