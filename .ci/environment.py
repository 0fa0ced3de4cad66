"""Sets up the Makefile's virtual environment; says what it does, and what went wrong.

    python3 .ci/environment.py make FOLDER [named]      `named`: it has to be of this Python
    FOLDER/bin/python .ci/environment.py install LOCK   the packages of a lock file
    FOLDER/bin/python .ci/environment.py link           the project itself

What pip says goes to pip.log in that folder. Any Python from 3.7 reads this far.
pip spends its time on choosing among all versions that there are: so each core has a share of the
packages. Nothing is compiled here: Python does it where a module is first imported.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from queue import SimpleQueue
from threading import Thread
from typing import Any, NoReturn

INSTALL = [sys.executable, "-m", "pip", "install"]
INSTALL += ["--disable-pip-version-check", "--no-input", "--progress-bar", "off"]
LOCKED = ["--retries", "2", "--no-compile", "--no-deps", "--require-hashes", "--requirement"]
LINK = ["--no-deps", "--no-build-isolation", "--config-settings", "editable_mode=compat"]
PIN = re.compile(r"(?m)^[^ #\n]+==.*(?:\n .*)*")
COUNTED = ("Collecting ", "Requirement already satisfied: ", "Ignoring ")
SOURCE = re.compile(r"\b(index-url|extra-index-url|find-links)='(.*)'$", re.MULTILINE)
UNFETCHED = re.compile(r"No matching distribution|Could not find a version|Max retries")
QUIETLY: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}


def make(folder: Path, *, named: bool) -> None:
    """Make an environment, unless a whole one is there, of this Python if it was `named`."""
    if sys.version_info < (3, 11):
        wanted = "Rostrum needs Python 3.11 or newer"
        fail(f"{wanted}; {sys.executable} is {version()}.\nName a newer one: PYTHON=python3.12")
    fault = fault_of(folder, named=named)
    if fault is not None:
        say(f"Setting up {folder}, once{fault and f'; the one there {fault}'}.")
        shutil.rmtree(folder, ignore_errors=True)
        ended = subprocess.run([sys.executable, "-m", "venv", str(folder)], **QUIETLY)
        if ended.returncode:
            shutil.rmtree(folder, ignore_errors=True)
            advice = "On Debian or Ubuntu: apt install python3-venv"
            fail(f"{sys.executable} cannot make a virtual environment.\n{advice}")
    if not (folder / "made").exists():
        (folder / "made").touch()


def fault_of(folder: Path, *, named: bool) -> str | None:
    """Return why an environment has to be made; None if it is whole, empty if there is none."""
    if not folder.exists():
        return ""
    asked = "import pip, sys; print('{}.{}'.format(*sys.version_info))"
    try:
        ended = subprocess.run([str(folder / "bin" / "python"), "-c", asked], **QUIETLY)
    except OSError:
        return "has no Python that runs"
    if ended.returncode:
        return "was left half made"
    found = ended.stdout.strip()
    return f"is of Python {found}, not {version()}" if named and found != version() else None


def install(lock: Path) -> None:
    """Install the packages of a lock file; on a terminal, show how far it is."""
    pins = PIN.findall(lock.read_text("utf-8"))
    fetched, new = 0, False
    say(f"Installing the {len(pins)} packages of {lock}.")
    with tempfile.TemporaryDirectory() as folder:
        parts = [[*LOCKED, str(part)] for part in shares(pins, Path(folder))]
        for line in pip(f"the packages of {lock}", [*LOCKED, str(lock)], parts):
            fetched += line.startswith(COUNTED)
            new |= line.startswith("Installing ")
            show("installing" if new else f"{min(fetched, len(pins))} of {len(pins)} fetched")
    show("")


def shares(pins: Sequence[str], folder: Path) -> list[Path]:
    """Write the pins to a file for each core; a package of many files takes long."""
    parts: list[list[str]] = [[] for _ in range(min(os.cpu_count() or 1, len(pins)))]
    for pin in sorted(pins, key=len, reverse=True):
        min(parts, key=lambda part: sum(map(len, part))).append(pin)
    paths = [folder / f"{number}.lock" for number in range(len(parts))]
    for path, part in zip(paths, parts):  # noqa: B905
        path.write_text("\n".join(part), "utf-8")
    return paths


def link() -> None:
    """Make the project known to the environment, as it lies here."""
    for _ in pip("Rostrum itself", [*LINK, "--editable", "."]):
        pass


def pip(what: str, call: Sequence[str], parts: Sequence[Sequence[str]] = ()) -> Iterator[str]:
    """Run pip and yield each line that it writes; ends with our own sentence if it fails.

    The parts of the call run at once; if one fails, as when it met what another was just writing,
    the whole call takes what they left.
    """
    log = Path(sys.prefix, "pip.log")
    at_once = {**os.environ, "PYTHONUNBUFFERED": "1"}
    for calls in filter(None, (parts, [call])):
        said = []
        running = [subprocess.Popen([*INSTALL, *one], env=at_once, **QUIETLY) for one in calls]
        for line in lines_of(running):
            said.append(line)
            yield line
        log.write_text("".join(said), "utf-8")
        if not any(process.returncode for process in running):
            return
    show("")
    if UNFETCHED.search("".join(said)):
        advice = "Check the network, or name your mirror: PIP_INDEX_URL=https://…"
        reason = f"They are expected at {sources()}.\n{advice}"
    else:
        reason = "".join(line for line in said if line.startswith("ERROR: ")).strip()
    fail(f"pip could not install {what}.\n{reason}\nAll that it said is in {log}.")


def lines_of(running: Sequence[subprocess.Popen[str]]) -> Iterator[str]:
    """Yield each line that one of these processes writes, until all have ended."""
    told: SimpleQueue[str | None] = SimpleQueue()

    def follow(process: subprocess.Popen[str]) -> None:
        with process:
            for line in process.stdout or ():
                told.put(line)
        told.put(None)

    for process in running:
        Thread(target=follow, args=[process], daemon=True).start()
    for _ in running:
        yield from iter(told.get, None)


def sources() -> str:
    """Return where pip looks for packages, without the passwords of addresses."""
    asked = [sys.executable, "-m", "pip", "config", "list"]
    listed = subprocess.run(asked, **QUIETLY).stdout
    told = dict(reversed(SOURCE.findall(listed)))  # the environment, which comes first, counts
    places = [
        told.pop("index-url", "PyPI"),
        *(place for text in told.values() for place in text.split()),
    ]
    return ", ".join(re.sub("//[^/@]*@", "//", place) for place in places)


def version() -> str:
    return "{}.{}".format(*sys.version_info)


def say(text: str) -> None:
    print(text, flush=True)


def show(text: str) -> None:
    """Replace the line that a terminal shows."""
    if sys.stdout.isatty():
        print(f"\r\x1b[K{text}", end="", flush=True)


def fail(text: str) -> NoReturn:
    print(text, file=sys.stderr)
    sys.exit(1)


if __name__ == "__main__":
    words = sys.argv[1:]
    if words[0] == "make":
        make(Path(words[1]), named=words[2:] == ["named"])
    elif words[0] == "install":
        install(Path(words[1]))
    else:
        link()
