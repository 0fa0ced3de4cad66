"""`rostrum health`: asks a running Rostrum whether it is ready.

A container's health check runs it all the time, so it imports next to nothing, and reads files of
settings only if the port is not in the environment.
"""

from __future__ import annotations

import json
import os
import sys
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection
from typing import NoReturn
from urllib.parse import urlsplit

import typer

SECONDS = 8.0  # a database may take three for its answer
MOST_BYTES = 100_000
ANYWHERE = {"0.0.0.0": "127.0.0.1", "": "127.0.0.1", "::": "::1"}  # noqa: S104 - as one may set it


def ask_health(url: str | None) -> None:
    """Print in one sentence how the Rostrum at `url` is, or that of the settings; exits 0 or 1."""
    address = url or _configured()
    if address is None:
        _fail(
            "Health is not served, so it cannot be asked for; set ROSTRUM_HEALTH__PORT to a port, "
            "such as 8080, and start Rostrum again."
        )
    try:
        parts = urlsplit(address)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        usable = False
    if not usable:
        _fail(
            f"“{address}” is not an http or https address; write it as "
            "http://127.0.0.1:8080/readyz."
        )
    try:
        kind = HTTPSConnection if parts.scheme == "https" else HTTPConnection
        connection = kind(parts.hostname or "", parts.port, timeout=SECONDS)
        try:
            connection.request("GET", parts._replace(scheme="", netloc="").geturl() or "/readyz")
            response: HTTPResponse = connection.getresponse()
            status, body = response.status, response.read(MOST_BYTES)
        finally:
            connection.close()
        answer = json.loads(body)
        well, problems = answer["ok"], answer.get("problems", ())
    except (OSError, HTTPException) as error:
        why = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        _fail(f"Rostrum did not answer at {address}: {why or type(error).__name__}. Is it running?")
    except (ValueError, TypeError, KeyError):
        _fail(f"What answers at {address} is not Rostrum; check the port.")
    if not well or status != 200:
        _fail(" ".join(map(str, problems)) or "Rostrum is not well.")
    print("Rostrum is well.")


def _configured() -> str | None:
    """Return the address by the settings; None if health is not served."""
    given = {name.upper(): value for name, value in os.environ.items()}
    host, port = (given.get(f"ROSTRUM_HEALTH__{name}") for name in ("HOST", "PORT"))
    if port is None:
        from bot.settings.load import read_given
        from engine.values.errors import SettingsError

        try:
            found = {one.path: str(one.value) for one in read_given()}
        except SettingsError as error:
            _fail(str(error))
        host, port = found.get(("health", "host")), found.get(("health", "port"))
    if not port or port == "0":
        return None
    at = ANYWHERE.get(host or "", host or "")
    return f"http://{f'[{at}]' if ':' in at else at}:{port}/readyz"


def _fail(sentence: str) -> NoReturn:
    print(f"rostrum: {sentence}", file=sys.stderr)
    raise typer.Exit(1)
