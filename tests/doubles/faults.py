"""What may go wrong with a request to a platform, on demand."""

import asyncio
import re
from dataclasses import dataclass
from typing import Literal

from tests.doubles.facts import Code
from tests.kit import HANG_SECONDS

Kind = Literal["status", "delay", "drop", "hang", "garbage"]
When = Literal["before", "after"]


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing that goes wrong; plain values, so that it can be told to another process.

    `when` is before or after the request was carried out; `everywhere` is on all routes; `via`
    describes Discord's 429, `seconds` a delay or how long to wait before trying again.
    """

    kind: Kind
    when: When = "before"
    status: int = 0
    code: int = 0
    message: str = ""
    seconds: float = 0.0
    via: bool = True
    everywhere: bool = False
    content_type: str = "application/json"


def status(code: int, *, error: int = 0, message: str = "", when: When = "before") -> Fault:
    """Answer with a status and a JSON error code; a status from 500 on without JSON."""
    return Fault("status", when, status=code, code=error, message=message)


def limited(seconds: float, *, via: bool = True, everywhere: bool = False) -> Fault:
    """Answer 429; without `via` as Cloudflare does, `everywhere` for the global limit."""
    return Fault("status", status=429, seconds=seconds, via=via, everywhere=everywhere)


def delay(seconds: float, *, when: When = "before") -> Fault:
    return Fault("delay", when, seconds=seconds)


def drop(when: When = "before") -> Fault:
    """Cut the connection: before anything is stored, or after, so that the answer is lost."""
    return Fault("drop", when)


def hang(when: When = "before", *, everywhere: bool = False) -> Fault:
    """Say nothing until the test calls `release`; then the connection is cut.

    `everywhere`: from this request on all others hang too, and none of them is carried out.
    """
    return Fault("hang", when, everywhere=everywhere)


def garbage(text: str = '{"id": "12') -> Fault:
    """Carry the request out and answer 200 with half of a JSON text, or what is as little good.

    Each character is a byte, up to `\xff`.
    """
    return Fault("garbage", "after", message=text)


def page(text: str, content_type: str, *, when: When = "before") -> Fault:
    """Answer 200 with something else than the platform would, as the page of a proxy."""
    return Fault("garbage", when, message=text, content_type=content_type)


@dataclass
class Planned:
    """A fault with the requests that it is for, and how many of them are left."""

    fault: Fault
    method: str
    path: re.Pattern[str]
    times: int
    skip: int
    text: str

    def takes(self, method: str, path: str, text: str) -> bool:
        """Whether this request meets the fault; counts it."""
        if self.times == 0 or self.method not in ("*", method) or not self.path.fullmatch(path):
            return False
        if self.text not in text:
            return False
        if self.skip:
            self.skip -= 1
            return False
        self.times -= 1
        return True


class Faults:
    """The plan of what goes wrong, and the requests that hang."""

    def __init__(self) -> None:
        self._planned: list[Planned] = []
        self._silent = False
        self._released = asyncio.Event()
        self._hanging = asyncio.Condition()
        self.hanging = 0

    def plan(
        self,
        fault: Fault,
        method: str = "*",
        path: str = "/**",
        *,
        times: int = 1,
        skip: int = 0,
        text: str = "",
    ) -> None:
        """Let a fault happen to the next requests that match, after `skip` of them went well.

        In `path` (below the API's address) `*` stands for one segment and `**` for any number.
        `text` must be in the body; `times` -1 is for good.
        """
        escaped = re.escape(path).replace(r"\*\*", ".*").replace(r"\*", "[^/]+")
        self._planned.append(Planned(fault, method, re.compile(escaped), times, skip, text))

    def clear(self) -> None:
        self._planned.clear()

    def meet(self, method: str, path: str, text: str) -> Fault | None:
        if self._silent:
            return hang()
        for planned in self._planned:
            if planned.takes(method, path, text):
                fault = planned.fault
                self._silent = fault.kind == "hang" and fault.everywhere
                return fault
        return None

    @property
    def planned(self) -> list[str]:
        return [str(planned) for planned in self._planned if planned.times]

    async def hold(self) -> None:
        self._released.clear()
        async with self._hanging:
            self.hanging += 1
            self._hanging.notify_all()
        await self._released.wait()
        self.hanging -= 1

    async def hung(self, count: int = 1, seconds: float = HANG_SECONDS) -> None:
        """Wait until so many requests hang; raises TimeoutError."""
        async with self._hanging, asyncio.timeout(seconds):
            await self._hanging.wait_for(lambda: self.hanging >= count)

    def release(self) -> None:
        self._silent = False
        self._released.set()


def denied(code: Code) -> Fault:
    """Answer with an error's code, and the status and words that it comes with."""
    return Fault("status", status=code.status, code=code.value, message=code.said)


def refused(error: str, seconds: float = 0.0) -> Fault:
    """Answer 200 with an error's name, as Slack does; `seconds` are for Retry-After."""
    return Fault("status", status=200, message=error, seconds=seconds)
