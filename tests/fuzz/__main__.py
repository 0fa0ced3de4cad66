"""Fuzzes every parser for a budget of seconds: `python -m tests.fuzz SECONDS [TARGET …]`."""

import logging
import sys
import time
import traceback

import structlog
from hypothesis import HealthCheck, Phase, Verbosity, given, settings

from tests.fuzz.target import Target, inputs
from tests.fuzz.targets import TARGETS

AT_ONCE = 200  # examples between two looks at the clock
SEARCHING = settings(
    max_examples=AT_ONCE,
    deadline=None,
    database=None,
    report_multiple_bugs=False,
    phases=(Phase.generate, Phase.shrink),
    suppress_health_check=list(HealthCheck),
    verbosity=Verbosity.quiet,
)


def fuzz(target: Target, seconds: float) -> bool:
    """Try inputs until the time is over or one fails; prints a line. Returns whether all held."""
    began, tried, failing = time.monotonic(), 0, b""
    until, failure = began + seconds, None

    @SEARCHING
    @given(inputs(target.seeds()))
    def search(data: bytes) -> None:
        nonlocal tried, failing
        if time.monotonic() > until and not failing:
            return
        tried += 1
        try:
            target.hold(data)
        except Exception:
            failing = data
            raise

    while failure is None and time.monotonic() < until:
        try:
            search()
        except Exception as error:  # noqa: BLE001 - whatever it is, it is what was looked for
            failure = error
    took = time.monotonic() - began
    told = "held" if failure is None else "FAILED"
    print(f"{target.name:<24}{tried:>8} examples{took:>8.1f} s  {told}", flush=True)
    if failure is not None:
        traceback.print_exception(failure)
        print(f"  reproducer: {target.keep(failing)}", flush=True)
    return failure is None


def main(seconds: float, names: list[str]) -> int:
    """Fuzz the named targets, or all of them. Returns how many failed."""
    logging.getLogger().addHandler(logging.NullHandler())  # libraries log what they refuse
    structlog.configure(processors=[], logger_factory=structlog.ReturnLoggerFactory())
    chosen = [target for target in TARGETS if target.name in names or not names]
    held = [fuzz(target, seconds / len(chosen)) for target in chosen]
    return held.count(False)


if __name__ == "__main__":
    sys.exit(main(float(sys.argv[1]), sys.argv[2:]))
