"""Set-up is quiet unless it fails, then says what to do; it notices what has to be made again."""

import os
import subprocess
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import pytest

from tests.kit import some
from tests.supply.locks import ROOT

SCRIPT = ROOT / ".ci" / "environment.py"
HASH = f" --hash=sha256:{'0' * 64}\n"


@pytest.fixture(scope="module")
def environment() -> Any:
    spec = some(spec_from_file_location("environment", SCRIPT))
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("python", "named", "fault"),
    [
        ("echo 3.9", False, None),
        ("echo 3.9", True, "is of Python 3.9, not {}.{}"),
        ("exit 1", False, "was left half made"),
    ],
)
def test_an_environment_of_another_python_or_half_made_is_noticed(
    environment: Any, tmp_path: Path, python: str, named: bool, fault: str | None
) -> None:
    folder = tmp_path / ".venv"
    (folder / "bin").mkdir(parents=True)
    (folder / "bin" / "python").write_text(f"#!/bin/sh\n{python}\n")
    (folder / "bin" / "python").chmod(0o755)
    found = environment.fault_of(folder, named=named)
    assert found == (fault and fault.format(*sys.version_info))


def test_an_environment_that_was_interrupted_is_noticed(environment: Any, tmp_path: Path) -> None:
    assert environment.fault_of(tmp_path / "none", named=False) == ""
    (tmp_path / ".venv").mkdir()
    assert environment.fault_of(tmp_path / ".venv", named=False) == "has no Python that runs"


def installed(tmp_path: Path, pin: str, **settings: str) -> subprocess.CompletedProcess[str]:
    lock = tmp_path / "some.lock"
    lock.write_text(pin + HASH)
    ours = {name: text for name, text in os.environ.items() if not name.startswith("PIP_")}
    return subprocess.run(
        [sys.executable, str(SCRIPT), "install", str(lock)],
        env=ours | {"PIP_CONFIG_FILE": os.devnull} | settings,
        capture_output=True,
        text=True,
        timeout=120,
    )


def test_packages_that_cannot_be_fetched_are_said_with_where_they_are_expected(
    tmp_path: Path,
) -> None:
    ended = installed(tmp_path, "no-such==1.0", PIP_INDEX_URL="http://me:secret@127.0.0.1:9/simple")
    assert ended.returncode == 1
    failed, expected, advice, _ = ended.stderr.splitlines()
    assert failed == f"pip could not install the packages of {tmp_path / 'some.lock'}."
    assert expected == "They are expected at http://127.0.0.1:9/simple."
    assert advice.startswith("Check the network")


def test_a_warning_of_pip_is_not_shown_when_nothing_failed(tmp_path: Path) -> None:
    pin = f"pytest=={pytest.__version__}"
    ended = installed(tmp_path, pin, PIP_FIND_LINKS=str(tmp_path / "gone"))
    assert (ended.returncode, ended.stderr) == (0, "")
    assert ended.stdout == f"Installing the 1 packages of {tmp_path / 'some.lock'}.\n"


def test_each_pin_is_in_one_share_and_the_shares_take_about_as_long(
    environment: Any, tmp_path: Path
) -> None:
    text = (ROOT / "requirements.lock").read_text("utf-8")
    pins = environment.PIN.findall(text)
    assert "\n".join(pins).strip() == text.strip()
    shares = [path.read_text("utf-8") for path in environment.shares(pins, tmp_path)]
    assert sorted(pin for share in shares for pin in environment.PIN.findall(share)) == sorted(pins)
    assert max(map(len, shares)) < 1.1 * min(map(len, shares))


def test_what_a_pip_beside_others_could_not_do_one_alone_does(
    environment: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stand_in = "import sys; print(sys.argv[1]); sys.exit(sys.argv[1] == 'disturbed')"
    monkeypatch.setattr(environment, "INSTALL", [sys.executable, "-c", stand_in])
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    said = list(environment.pip("it", ["whole"], [["disturbed"], ["share"]]))
    assert sorted(said[:2]) == ["disturbed\n", "share\n"]
    assert said[2:] == ["whole\n"]
    assert (tmp_path / "pip.log").read_text() == "whole\n"
