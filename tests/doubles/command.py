"""`rostrum` as a script or an operator meets it: a process, its exit code, what it says.

Loading Python and every part takes a command far longer than most of them take. So each is forked
from one process that has loaded them, and begins with its own folder, environment and streams.
Each leads a group of processes of its own.
"""

import asyncio
import gc
import json
import os
import random
import re
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from asyncio.subprocess import Process
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from pkgutil import resolve_name, walk_packages
from typing import Any, Self

from tests.kit import some

ROOT = Path(__file__).parents[2]
PACKAGES = ("bot", "engine", "adapters.models", "adapters.database", "adapters.terminal")
COMMANDS = "tests.doubles.command:load"
MAIN = "from bot.cli import main; main()"
SECONDS = 120
MOST_ASKED = 1_000_000  # bytes
STOPPED = "stopped"
BY_PYTHON_ITSELF = ("PYTHON", "LC_", "LANG", "TZ")  # what is read before any program begins


@dataclass(frozen=True, slots=True)
class Ended:
    """How a command ended."""

    code: int
    out: str
    err: str

    def failed(self, code: int) -> str:
        """Check that it failed with one line, and return the line's sentence."""
        assert self.code == code, self
        [line] = self.err.splitlines()
        assert line.startswith("rostrum: ")
        assert line.endswith("."), "not a sentence"
        return line.removeprefix("rostrum: ")

    @property
    def debate(self) -> str:
        """Return the code of the one debate that it held, as people read it: `k7f2qz`."""
        [code] = re.findall(r"(?m)^\[Debate\] \(#\d+ · (\w+)\)$", self.out)
        return str(code)

    def done(self) -> str:
        """Check that it succeeded and complained of nothing, and return its output."""
        assert (self.code, self.err) == (0, "")
        return self.out


def rostrum(folder: Path, *arguments: str, **settings: str) -> Ended:
    """Run a command in a folder, without a terminal and with nothing set but what is given."""
    return run_to_end(folder, arguments, environment_of({"COLUMNS": "80"} | settings))


def run_to_end(folder: Path, arguments: Sequence[str], environment: Mapping[str, str]) -> Ended:
    with (
        open(os.devnull, "rb") as nothing,
        tempfile.TemporaryFile() as out,
        tempfile.TemporaryFile() as err,
    ):
        streams = (nothing.fileno(), out.fileno(), err.fileno())
        own = {name for name, value in environment.items() if os.environ.get(name) != value}
        alone = any(name.startswith(BY_PYTHON_ITSELF) for name in own - {"PYTHONPATH"})
        run = _run_alone if alone else run_forked
        code = run(folder, arguments, environment, streams)
        for stream in (out, err):
            stream.seek(0)
        return Ended(code, *(_text(stream.read()) for stream in (out, err)))


def printed_by(code: str, *arguments: str, env: Mapping[str, str] = os.environ) -> str:
    command = [sys.executable, "-c", code, *arguments]
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=True)
    assert done.stderr == ""
    return done.stdout


def environment_of(settings: Mapping[str, str]) -> dict[str, str]:
    """Return the environment of a command: this one's, but with no other settings of Rostrum."""
    kept = {name: value for name, value in os.environ.items() if "ROSTRUM" not in name}
    return kept | {"PYTHONPATH": str(ROOT)} | dict(settings)


def run_forked(
    folder: Path, arguments: Sequence[str], environment: Mapping[str, str], streams: Sequence[int]
) -> int:
    """Run a command on open files, and return its exit code; minus the signal that ended it."""
    with Child(ask(MAIN, folder, arguments, environment, streams)) as child:
        return child.wait(SECONDS)


class Child:
    """A process that runs beside a test; it and all that it began end with the body."""

    def __init__(self, line: socket.socket) -> None:
        """Follow the process that was asked for on this line."""
        self.returncode: int | None = None
        self._line = line
        self._said = line.makefile()
        line.settimeout(SECONDS)
        self.pid = int(self._said.readline())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        kill_group(self)
        if self.returncode is None:
            self.wait(SECONDS)
        self._said.close()
        self._line.close()

    def wait(self, seconds: float) -> int:
        while self._next(seconds) == STOPPED:
            pass
        return some(self.returncode)

    def wait_until_stopped(self, seconds: float) -> None:
        assert self._next(seconds) == STOPPED, "it ended instead"

    def _next(self, seconds: float) -> str:
        self._line.settimeout(seconds)
        said = self._said.readline().strip()
        if said != STOPPED:
            self.returncode = int(said)
        return said


class Forked(asyncio.Protocol):
    """A process that runs beside the tests, with what they use of asyncio's own."""

    def __init__(self) -> None:
        self._said, self._told = b"", asyncio.Event()
        self._line: asyncio.BaseTransport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the connection, which is closed when the process has ended."""
        self._line = transport

    def data_received(self, data: bytes) -> None:
        """Note its process id, and its exit code once it has ended."""
        self._said += data
        self._told.set()

    @property
    def pid(self) -> int:
        return self._numbers[0]

    @property
    def returncode(self) -> int | None:
        return next(iter(self._numbers[1:]), None)

    @property
    def _numbers(self) -> list[int]:
        lines = self._said.decode().split("\n")[:-1]
        return [int(line) for line in lines if line != STOPPED]

    def send_signal(self, number: int) -> None:
        if self.returncode is not None:
            raise ProcessLookupError
        os.kill(self.pid, number)

    async def begun(self) -> None:
        """Wait until it has a number."""
        while not self._numbers:
            await self._news()

    async def wait(self) -> int:
        while self.returncode is None:
            await self._news()
        if self._line is not None:
            self._line.close()
            await asyncio.sleep(0)  # the loop closes what it is told to close one step later
        return self.returncode

    async def _news(self) -> None:
        self._told.clear()
        await self._told.wait()


async def fork(
    code: str,
    folder: Path,
    arguments: Sequence[str],
    environment: Mapping[str, str],
    streams: Sequence[int],
    *,
    ready: str = COMMANDS,
) -> Forked:
    """Start a process that runs code on open files, as of `ask`."""
    line = ask(code, folder, arguments, environment, streams, ready=ready)
    loop = asyncio.get_running_loop()
    _, forked = await loop.create_unix_connection(Forked, sock=line)
    await forked.begun()
    return forked


@contextmanager
def streams_to(log: Path) -> Iterator[tuple[int, int, int]]:
    """Open the streams of a process that reads nothing and adds all that it says to a file."""
    with open(os.devnull, "rb") as nothing, log.open("ab") as said:
        yield nothing.fileno(), said.fileno(), said.fileno()


def kill_group(leader: Child | Forked) -> None:
    """Kill a process and every one that it began, even one just being born, unless it ended."""
    if leader.returncode is None:
        with suppress(ProcessLookupError):
            os.killpg(leader.pid, signal.SIGKILL)


def ask(
    code: str,
    folder: Path,
    arguments: Sequence[str],
    environment: Mapping[str, str],
    streams: Sequence[int],
    *,
    ready: str = COMMANDS,
) -> socket.socket:
    """Ask for a process; on the line, its number is told, and its exit code when it has ended.

    `ready` is what loads everything in the process that it is forked from: `module:function`.
    """
    os.umask(umask := os.umask(0))
    asked = {
        "code": code,
        "folder": str(folder),
        "arguments": arguments,
        "environment": environment,
        "umask": umask,
    }
    line = socket.socket(socket.AF_UNIX)
    line.connect(_address(ready))
    socket.send_fds(line, [json.dumps(asked).encode()], list(streams))
    line.shutdown(socket.SHUT_WR)
    return line


def _run_alone(
    folder: Path, arguments: Sequence[str], environment: Mapping[str, str], streams: Sequence[int]
) -> int:
    stdin, stdout, stderr = streams
    return subprocess.run(
        [sys.executable, "-c", MAIN, *arguments],
        cwd=folder,
        env=environment,
        stdin=stdin,
        stdout=stdout,
        stderr=stderr,
        timeout=SECONDS,
        check=False,
    ).returncode


def _text(said: bytes) -> str:
    return said.decode().replace("\r\n", "\n")


@asynccontextmanager
async def running(*command: str, **given: Any) -> AsyncIterator[Process]:
    """Run a program, killed at the latest when the body ends."""
    process = await asyncio.create_subprocess_exec(*command, stderr=subprocess.PIPE, **given)
    try:
        yield process
    finally:
        if process.returncode is None:
            process.kill()
        await process.communicate()


@cache
def _address(ready: str) -> str:
    """Start the process that commands are forked from, once; it ends with this one."""
    address = str(Path(tempfile.mkdtemp(prefix="rostrum-")) / "commands")
    process = subprocess.Popen(
        [sys.executable, "-m", __name__, address, ready],
        cwd=ROOT,
        stdin=subprocess.PIPE,  # its end is that of this process
        stdout=subprocess.PIPE,
        env=environment_of({}),
    )
    assert some(process.stdout).readline() == b"ready\n"
    _kept.append(process)
    return address


_kept: list[subprocess.Popen[bytes]] = []


# --- in the process that has loaded everything ---------------------------------------------


def load() -> None:
    for package in PACKAGES:
        for module in walk_packages(import_module(package).__path__, f"{package}."):
            with suppress(ModuleNotFoundError):  # of an extra, which no command then uses
                import_module(module.name)


def serve(address: str, ready: str) -> str:
    """Fork a process for each command, and return only there, with the code to run."""
    resolve_name(ready)()
    gc.freeze()  # no child looks through it for garbage, which would copy it
    assert threading.active_count() == 1, "a thread would be lost by the fork"
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(address)
    listener.listen()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    print("ready", flush=True)
    while listener in select.select([listener, sys.stdin], [], [])[0]:
        line, _ = listener.accept()
        if os.fork() == 0:
            listener.close()
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            return _begin(line)
        line.close()
    os.unlink(address)
    os.rmdir(os.path.dirname(address))
    sys.exit()


def _begin(line: socket.socket) -> str:
    """Become a command in a child, whose exit code is told here when it has ended."""
    said, streams, _, _ = socket.recv_fds(line, MOST_ASKED, 3)
    while more := line.recv(MOST_ASKED):
        said += more
    child = os.fork()
    with suppress(ProcessLookupError):  # both do, as either may come first
        os.setpgid(child, child)
    if child:
        for stream in streams:
            os.close(stream)
        line.sendall(f"{child}\n".encode())
        while os.WIFSTOPPED(status := os.waitpid(child, os.WUNTRACED)[1]):
            line.sendall(f"{STOPPED}\n".encode())
        line.sendall(f"{os.waitstatus_to_exitcode(status)}\n".encode())
        os._exit(0)
    line.close()
    asked = json.loads(said)
    os.umask(asked["umask"])
    os.chdir(asked["folder"])
    os.environ.clear()
    os.environ.update(asked["environment"])
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    sys.stdin, sys.stdout, sys.stderr = open(0), open(1, "w"), open(2, "w", buffering=1)  # noqa: SIM115
    sys.argv = ["-c", *asked["arguments"]]
    random.seed()
    return str(asked["code"])


if __name__ == "__main__":
    exec(serve(*sys.argv[1:]), {"__name__": "__main__"})  # noqa: S102 - what a test asked for
