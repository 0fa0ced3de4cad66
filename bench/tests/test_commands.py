"""`python -m bench.NAME` as a command: its figures, its options, and what it says is missing."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import orjson
import pytest

ROOT = Path(__file__).parents[2]
NAMES = sorted(
    file.stem
    for file in ROOT.glob("bench/*.py")
    if '__name__ == "__main__"' in file.read_text("utf-8")
)


def bench(*words: str, **settings: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", *words],
        cwd=ROOT,
        env=os.environ | settings,
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_start_is_timed_in_whole_processes() -> None:
    ended = bench("bench.start", "--runs", "1", "--seconds", "0.05")
    result = orjson.loads(ended.stdout)
    assert (result["bench"], result["runs"], len(result["each"])) == ("start", 1, 1)
    for run in (result["new_database"], *result["each"]):
        assert run["model_s"] >= 9 * 0.05, "eight turns and the jury, one after another"
        assert 0 < run["first_call_after_s"] < run["wall_s"] - run["model_s"]
        assert 0 < run["exit_after_reveal_s"] < run["over_model_s"]
        assert min(run["first_call_takes_ms"], run["later_calls_take_ms"]) >= 50
    assert result["reference"]["cpu_s"] > 0


def test_a_wrong_option_is_refused() -> None:
    ended = bench("bench.votes", "--platform", "irc")
    assert ended.returncode == 2
    assert "--platform" in ended.stderr


@pytest.mark.parametrize("name", NAMES)
def test_a_missing_package_is_one_line_and_no_traceback(name: str, tmp_path: Path) -> None:
    """`bench votes` without the development packages ended in two tracebacks."""
    for package in ("orjson", "typer"):
        (tmp_path / f"{package}.py").write_text(f"raise ModuleNotFoundError(name={package!r})")
    ended = bench(f"bench.{name}", PYTHONPATH=str(tmp_path))
    assert ended.returncode == 1
    assert ended.stderr.count("\n") == 1
    assert "is not installed, which this benchmark needs. Run make .venv/dev once" in ended.stderr
