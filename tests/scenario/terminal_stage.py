"""A stage for debates in a terminal: `rostrum` as a person runs it, and the screen they read."""

import codecs
import os
import pty
import select
import sqlite3
import subprocess
import sys
import termios
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tests.doubles.command import run_to_end
from tests.kit import HANG_SECONDS


@dataclass(frozen=True, slots=True)
class Shell:
    """A folder in which somebody works with `rostrum`."""

    folder: Path
    columns: int = field(default=100, kw_only=True)

    def open(self, *arguments: str, terminal: int | None = None) -> subprocess.Popen[str]:
        streams = terminal if terminal is not None else subprocess.PIPE
        return subprocess.Popen(
            [sys.executable, "-c", "from bot.cli import main; main()", *arguments],
            stdin=terminal if terminal is not None else subprocess.DEVNULL,
            stdout=streams,
            stderr=streams,
            text=True,
            cwd=self.folder,
            env=self.environment() | {"PYTHONUNBUFFERED": "1"},
            start_new_session=terminal is None,
            preexec_fn=None if terminal is None else own_terminal,
        )

    def run(self, *arguments: str) -> tuple[int, str, str]:
        done = run_to_end(self.folder, arguments, self.environment())
        return done.code, done.out, done.err

    def environment(self) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if "ROSTRUM" not in name}
        root = str(Path(__file__).parents[2])
        address = f"sqlite+aiosqlite:///{self.database}"
        terminal = {"TERM": "xterm-256color", "COLUMNS": str(self.columns)}
        return kept | terminal | {"PYTHONPATH": root, "ROSTRUM_DATABASE_URL": address}

    @property
    def database(self) -> Path:
        return self.folder / "rostrum.db"

    @property
    def out(self) -> Path:
        return self.folder / "out"

    def calls(self) -> Counter[str]:
        with closing(sqlite3.connect(self.database)) as connection:
            rows = connection.execute("SELECT state FROM calls").fetchall()
        return Counter(state for (state,) in rows)


def own_terminal() -> None:
    os.setsid()
    import fcntl

    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


@contextmanager
def ended(process: subprocess.Popen[str]) -> Iterator[subprocess.Popen[str]]:
    with process:
        try:
            yield process
        finally:
            process.kill()


@dataclass(slots=True)
class Screen:
    """The other side of a process's terminal."""

    keyboard: int
    shown: str = ""
    decoder: codecs.IncrementalDecoder = field(
        default_factory=codecs.getincrementaldecoder("utf-8")
    )

    def until(self, text: str) -> None:
        limit = time.monotonic() + HANG_SECONDS
        while text not in self.shown:
            assert time.monotonic() < limit, f"“{text}” was not shown in: {self.shown[-2000:]}"
            ready, _, _ = select.select([self.keyboard], [], [], 0.2)
            if ready and not self.read():
                break
        assert text in self.shown, self.shown[-2000:]

    def until_keys(self, text: str = "close the vote") -> None:
        """Read until the process reads each key, which it does right after it has said which."""
        self.until(text)
        limit = time.monotonic() + HANG_SECONDS
        while termios.tcgetattr(self.keyboard)[3] & termios.ICANON:
            assert time.monotonic() < limit, f"no key is read after: {self.shown[-2000:]}"
            time.sleep(0.005)

    def press(self, keys: str) -> None:
        os.write(self.keyboard, keys.encode())

    def read(self) -> bool:
        try:
            piece = os.read(self.keyboard, 65536)
        except OSError:  # a terminal that nobody holds any more
            return False
        # A piece may end within a character, or between a line's two ends.
        self.shown = (self.shown + self.decoder.decode(piece)).replace("\r\n", "\n")
        return bool(piece)


@dataclass(frozen=True, slots=True)
class Seat:
    """A process in a terminal, and the screen that shows it."""

    process: subprocess.Popen[str]
    screen: Screen

    def rest(self, code: int = 0) -> str:
        while self.screen.read():
            pass
        assert self.process.wait(30) == code
        return self.screen.shown


@contextmanager
def seated(shell: Shell, *arguments: str) -> Iterator[Seat]:
    keyboard, terminal = pty.openpty()
    process = shell.open(*arguments, terminal=terminal)
    os.close(terminal)
    try:
        with ended(process):
            yield Seat(process, Screen(keyboard))
    finally:
        os.close(keyboard)
