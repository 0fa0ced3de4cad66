"""The command line of a benchmark that runs from a checkout."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from functools import partial, wraps
from typing import Any, ParamSpec

import typer

from bot.exits import run

P = ParamSpec("P")


def command(bench: Callable[P, Coroutine[Any, Any, None]]) -> None:
    """Run a benchmark with the options that its parameters declare, and exit."""

    @wraps(bench)
    def main(*args: P.args, **kwargs: P.kwargs) -> None:
        run(partial(bench, *args, **kwargs))

    typer.run(main)
