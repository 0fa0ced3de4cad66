"""Benchmarks, for a checkout: `python -m bench.NAME`. Those of `rostrum bench` are in `wheel`."""

import sys
from types import TracebackType

MISSING = (
    "{name} is not installed, which this benchmark needs. Run make .venv/dev once, then start it "
    "with .venv/bin/python -m bench.NAME."
)


def _name_missing(
    kind: type[BaseException], error: BaseException, trace: TracebackType | None
) -> None:
    """Print one line for a package that is not installed, a traceback for anything else."""
    if isinstance(error, ModuleNotFoundError):
        print(MISSING.format(name=error.name), file=sys.stderr)
    else:
        sys.__excepthook__(kind, error, trace)


if sys.argv[0] == "-m":  # so it is while Python looks for the module to run: not in `rostrum bench`
    sys.excepthook = _name_missing
