"""Chromium as the machine has it; `python -m tests.browser.chromium` sets it up, or says how.

Playwright's own builds come from none of the package registries, so Debian's is driven.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
MISSING = (
    "The tests of the pages need Chromium, which this machine does not have. On Debian: "
    "`apt-get install chromium` as root. Elsewhere: install Chromium or Chrome, and name the "
    "program in the variable CHROMIUM."
)
# Also without a page open, nothing asks any host for anything.
ARGUMENTS = (
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
    "--font-render-hinting=none",
)
UNPRIVILEGED = ("--no-sandbox",)  # which root cannot have


def find() -> str | None:
    """Return the path of the browser's program, if there is one."""
    named = os.environ.get("CHROMIUM")
    return shutil.which(named) if named else next(filter(None, map(shutil.which, NAMES)), None)


def arguments() -> Sequence[str]:
    """Return what Chromium is started with."""
    return ARGUMENTS + (UNPRIVILEGED if _is_root() else ())


def set_up() -> str | None:
    """Return the path of the browser's program, installed where that is possible."""
    named = "CHROMIUM" in os.environ
    if not named and find() is None and _is_root() and shutil.which("apt-get"):
        print("Installing Chromium (once, about a minute)", flush=True)
        _apt("update")
        _apt("install", "--yes", "--no-install-recommends", "chromium", "fonts-dejavu-core")
    return find()


def _apt(*words: str) -> None:
    """Run a command of apt; whether it worked shows in what is there then."""
    quiet = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    subprocess.run(["apt-get", "-qq", *words], env=quiet, stdin=subprocess.DEVNULL, check=False)


def _is_root() -> bool:
    return hasattr(os, "geteuid") and os.geteuid() == 0


if __name__ == "__main__":
    sys.exit(None if set_up() else MISSING)
