"""A wire to a server on loopback, which can be cut, held up, or made to lose one answer.

It has a thread of its own, so that it goes on while a test's loop waits for what it carries.
"""

from __future__ import annotations

import select
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Literal

PIECE = 65_536
TICK = 0.02


class Wire:
    """Forwards connections to a port.

    `mend` and `cut` let connections through or refuse them, `hold` keeps them and carries nothing.
    `lose` waits for a text on its way to the server and cuts that connection: before the text
    arrives, or after, so that its answer is lost. `losses` counts these.
    """

    def __init__(self, port: int) -> None:
        self._there = port
        self._server = socket.create_server(("127.0.0.1", 0))
        self.port = int(self._server.getsockname()[1])
        self._pairs: dict[socket.socket, socket.socket] = {}
        self._clients: set[socket.socket] = set()
        self._state: Literal["open", "cut", "held"] = "open"
        self._fatal: tuple[bytes, bool, bool] | None = None
        self.losses = 0
        self.opened = 0
        self._ended = False
        self._thread = threading.Thread(target=self._run, name="wire", daemon=True)
        self._thread.start()

    def cut(self) -> None:
        """Cut every connection, and refuse new ones."""
        self._state = "cut"

    def hold(self) -> None:
        """Carry nothing, in either direction."""
        self._state = "held"

    def mend(self) -> None:
        """Carry everything again."""
        self._state = "open"

    def lose(self, text: str, *, arrives: bool, for_good: bool = False) -> None:
        """Cut the next connection on which a text goes to the server, before or after it went.

        `for_good` cuts every other one as well, and lets in no more.
        """
        self._fatal = (text.encode(), arrives, for_good)

    def close(self) -> None:
        """End."""
        self._ended = True
        self._thread.join(10)

    def _run(self) -> None:
        while not self._ended:
            if self._state == "cut":
                self._cut_all()
            if self._state == "held":
                threading.Event().wait(TICK)
                continue
            ready, _, _ = select.select([self._server, *self._pairs], [], [], TICK)
            for one in ready:
                if one is self._server:
                    self._accept()
                elif one in self._pairs:
                    self._carry(one)
        self._cut_all()
        self._server.close()

    def _accept(self) -> None:
        client, _ = self._server.accept()
        if self._state == "cut":
            client.close()
            return
        try:
            there = socket.create_connection(("127.0.0.1", self._there), 5)
        except OSError:
            client.close()
            return
        self.opened += 1
        self._clients.add(client)
        self._pairs |= {client: there, there: client}

    def _carry(self, source: socket.socket) -> None:
        try:
            piece = source.recv(PIECE)
            fatal = self._fatal if source in self._clients else None
            if not piece:
                return self._drop(source)
            if fatal and fatal[0] in piece:
                self._fatal = None
                self.losses += 1
                if fatal[1]:
                    self._pairs[source].sendall(piece)
                    self._pairs[source].recv(1)  # the server has answered, so it has acted
                if fatal[2]:
                    self.cut()
                return self._drop(source)
            self._pairs[source].sendall(piece)
        except OSError:
            self._drop(source)

    def _drop(self, one: socket.socket) -> None:
        other = self._pairs.pop(one, None)
        for end in (one, other):
            if end is not None:
                self._pairs.pop(end, None)
                self._clients.discard(end)
                with suppress(OSError):
                    end.close()

    def _cut_all(self) -> None:
        for one in list(self._pairs):
            self._drop(one)


@contextmanager
def wired(port: int) -> Iterator[Wire]:
    """Carry while the body runs."""
    wire = Wire(port)
    try:
        yield wire
    finally:
        wire.close()
