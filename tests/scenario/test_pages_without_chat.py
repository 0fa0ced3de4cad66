"""`rostrum serve`: public pages and label pages of debates that no chat held."""

import asyncio
import re
import signal
from pathlib import Path

import aiohttp
import pytest

from tests.doubles.command import MAIN, environment_of, fork, kill_group, rostrum, streams_to
from tests.scenario.discord_stage import free_port

SERIES = """
name = "spring"
topics = ["Museums should be free"]
models = ["rehearsal/optimist", "rehearsal/skeptic"]
[jury]
models = ["rehearsal/elm", "rehearsal/hazel"]
"""
HELD = ("--votes", "A=1")


def said(folder: Path, *words: str, **settings: str) -> str:
    return rostrum(folder, *words, **settings).done()


@pytest.mark.slow
async def test_debates_of_a_terminal_and_a_series_are_shown_and_labelled(tmp_path: Path) -> None:
    (tmp_path / "spring.toml").write_text(SERIES)
    web = {"ROSTRUM_WEB__PORT": str(free_port())}
    web["ROSTRUM_WEB__URL"] = url = f"http://127.0.0.1:{web['ROSTRUM_WEB__PORT']}"
    assert rostrum(tmp_path, "debate", "Tea", *HELD).code == 0
    assert rostrum(tmp_path, "series", "run", "spring.toml").code == 0
    status = said(tmp_path, "series", "status", "spring")
    assert re.search(r"The jury: \d+ won, \d+ ties?, \d+ undecided", status)
    assert said(tmp_path, "public") == "Public of the terminal's debates: nothing.\n"
    unserved = said(tmp_path, "public", "all")
    assert "No page is served: set ROSTRUM_WEB__URL and ROSTRUM_WEB__PORT" in unserved
    made = rostrum(tmp_path, "label", "create", "t", "--include-rehearsal")
    assert (made.code, "No page is served" in made.err) == (0, True)
    ended = rostrum(tmp_path, "public", "debates,faces").failed(2)
    assert ended.startswith("PARTS has “faces”; choose from debates,")
    assert "“autumn”" in rostrum(tmp_path, "public", "--series", "autumn").failed(1)
    places = [
        said(tmp_path, "public", **web).splitlines()[-1],
        said(tmp_path, "public", "debates", "--series", "spring", **web).splitlines()[-1],
    ]
    invited = rostrum(tmp_path, "label", "invite", "t", **web)
    assert "yet; rostrum serve does." in invited.err

    with streams_to(tmp_path / "log") as streams:
        served = await fork(MAIN, tmp_path, ["serve"], environment_of(web), streams)
    try:
        async with aiohttp.ClientSession() as session:

            async def read(address: str) -> str:
                for _ in range(200):
                    try:
                        async with session.get(address) as answer:
                            assert answer.status == 200
                            return await answer.text()
                    except aiohttp.ClientConnectorError:
                        await asyncio.sleep(0.05)
                raise AssertionError("nothing is served")

            terminal, series = [await read(place) for place in places]
            assert "Tea" in terminal
            assert "Tea" not in series
            (debate,) = set(re.findall(r'href="(/d/\w+)"', terminal))
            assert "rehearsal/" in await read(f"{url}{debate}")
            assert "begin" in await read(invited.out.strip())
        # It holds no debates, so others may.
        held = await asyncio.to_thread(rostrum, tmp_path, "debate", "Cats", *HELD)
        assert held.code == 0
    finally:
        served.send_signal(signal.SIGTERM)
        assert await served.wait() == 0
        kill_group(served)
    began, ended = (tmp_path / "log").read_text().splitlines()
    assert f"address=127.0.0.1:{web['ROSTRUM_WEB__PORT']} url={url}" in began
    assert "rostrum stopped" in ended


def test_without_an_address_there_is_nothing_to_serve(tmp_path: Path) -> None:
    assert "No page is served: set ROSTRUM_WEB__URL" in rostrum(tmp_path, "serve").failed(78)
