"""docs/deploy.md's three commands, as far as a machine without a container engine goes.

The checkout has what a clone would have. Compose resolves its file for the second and third
command, each step of the Dockerfile runs in an empty folder, and the services' commands run as in a
container: as a user without rights, on a read-only file system, with the service's environment.
"""

import asyncio
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from asyncio.subprocess import Process
from collections.abc import Iterator, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from bot import __version__
from bot.settings.settings import STOP_SECONDS
from tests.deployment.dockerfile import Image, can_confine, is_sent
from tests.doubles.command import running
from tests.doubles.databases import PostgresDouble
from tests.doubles.discord import DiscordServer, Rates
from tests.kit import HANG_SECONDS
from tests.scenario.discord_stage import free_port, until

ROOT = Path(__file__).parents[2]
INIT = 'docker compose -f deploy/compose.yaml run --rm --user "$(id -u):$(id -g)" init'
UP = "docker compose -f deploy/compose.yaml up -d"


class Made(NamedTuple):
    """The checkout, and the image that its commands build."""

    checkout: Path
    image: Image


def the_three() -> list[str]:
    section = (ROOT / "docs/deploy.md").read_text("utf-8").partition("## Three commands")[2]
    block = re.search(r"```sh\n(.*?)```", section, re.DOTALL)
    assert block
    return [line.partition("#")[0].strip() for line in block[1].splitlines()]


@pytest.fixture(scope="module")
def scratch() -> Iterator[Path]:
    """Make a folder that a user without rights can enter, unlike those of pytest."""
    folder = Path(tempfile.mkdtemp(prefix="rostrum-image-"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


@pytest.fixture(scope="module")
def made(scratch: Path) -> Made:
    assert the_three() == ["git clone <this repository> rostrum && cd rostrum", INIT, UP]
    checkout = scratch / "rostrum"
    copy_tracked(checkout)
    build = service(checkout, "init")["build"]
    root = scratch / "root"
    root.mkdir()
    file = Path(build["context"], build["dockerfile"])
    return Made(checkout, Image(Path(build["context"]), file, root))


def copy_tracked(checkout: Path) -> None:
    """Copy what a clone of the next commit would have."""
    asked = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    listed = subprocess.run(asked, cwd=ROOT, capture_output=True, text=True, check=True)
    for name in filter(None, listed.stdout.split("\0")):
        if (ROOT / name).is_file():
            (checkout / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, checkout / name)


def services(checkout: Path, profile: str = "") -> dict[str, Any]:
    """Return the services of the compose file, as compose reads it."""
    own = Path(sys.executable).with_name("docker-compose")
    found = str(own) if own.exists() else shutil.which("docker-compose")
    if found is None:
        pytest.skip("docker-compose has no wheel for this platform, and no plugin is installed")
    chosen = ["--profile", profile] if profile else []
    asked = [found, "-f", "deploy/compose.yaml", *chosen, "config", "--format", "json"]
    said = subprocess.run(asked, cwd=checkout, capture_output=True, text=True)
    assert said.returncode == 0, said.stderr
    answer: dict[str, Any] = json.loads(said.stdout)["services"]
    return answer


def service(checkout: Path, name: str, profile: str = "init") -> dict[str, Any]:
    found: dict[str, Any] = services(checkout, profile)[name]
    environment = {
        key: text.replace("$$", "$") for key, text in found.get("environment", {}).items()
    }
    return found | {"environment": environment}


def run(made: Made, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        made.image.command(*words),
        cwd=made.image.place("/data"),
        env=made.image.environment | environment,
        capture_output=True,
        text=True,
        timeout=HANG_SECONDS,
    )


def test_one_process_runs_by_default_and_the_others_on_request(tmp_path: Path) -> None:
    copy_tracked(tmp_path)
    assert services(tmp_path).keys() == {"rostrum"}
    scaled = services(tmp_path, "scale")
    assert scaled.keys() == {"rostrum", "postgres", "migrate", "gateway", "worker"}
    assert scaled["worker"]["deploy"]["replicas"] == 2
    for name in ("rostrum", "gateway", "worker", "migrate"):
        assert scaled[name]["read_only"] is True
        assert scaled[name]["cap_drop"] == ["ALL"]
        assert scaled[name]["stop_grace_period"] == f"{STOP_SECONDS:g}s"


@pytest.mark.slow
def test_every_step_of_the_dockerfile_runs_but_the_one_that_adds_its_user(made: Made) -> None:
    assert [step.split()[0] for step in made.image.left_out] == ["useradd"]
    user, _, group = made.image.said["USER"].partition(":")
    assert (user, group) == ("10001", "10001")
    assert f"--uid {user}" in made.image.left_out[0]
    assert not [*made.image.place("/opt/rostrum").rglob(".env*")]


@pytest.mark.slow
def test_the_image_starts_its_program(made: Made) -> None:
    assert __version__ in run(made, "--version").stdout
    assert made.image.arguments["VERSION"] == __version__


@pytest.mark.slow
def test_the_image_has_what_postgresql_traces_parquet_and_hubs_need(made: Made) -> None:
    python = made.image.place("/opt/rostrum/bin/python")
    needed = "import psycopg, procrastinate, pyarrow, opentelemetry.sdk.trace, huggingface_hub"
    subprocess.run([str(python), "-c", needed], check=True, cwd=made.image.root)


@pytest.mark.slow
def test_the_image_holds_a_debate_and_writes_to_its_volume_alone(made: Made) -> None:
    ended = run(made, "demo", "--votes", "A=3,B=2")
    assert ended.returncode == 0, ended.stderr
    assert made.image.place("/data/demo-export/README.md").exists()
    if can_confine():
        assert made.image.place("/data/demo-export").stat().st_uid == 10001


@pytest.mark.slow
def test_without_a_token_it_says_so_and_ends_as_a_wrong_setting(made: Made) -> None:
    ended = run(made, *made.image.words("CMD"), ROSTRUM_HEALTH__PORT=str(free_port()))
    assert ended.returncode == 78, ended.stderr
    assert "TOKEN" in ended.stderr


def started(
    made: Made, words: Sequence[str], environment: dict[str, str], secrets: Path | None = None
) -> AbstractAsyncContextManager[Process]:
    return running(
        *made.image.command(*words, secrets=secrets),
        cwd=made.image.place("/data"),
        env=made.image.environment | environment,
    )


async def init(made: Made, **settings: str) -> str:
    [volume] = service(made.checkout, "init")["volumes"]
    assert (volume["source"], volume["target"]) == (str(made.checkout), "/data")
    user = f"{os.getuid()}:{os.getgid()}"
    process = await asyncio.create_subprocess_exec(
        *made.image.command("init", "--from-env", data=made.checkout, user=user),
        cwd=made.checkout,
        env=made.image.environment | settings,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    said, _ = await process.communicate()
    assert process.returncode == 0, said.decode()
    return said.decode()


@pytest.mark.slow
async def test_after_the_three_commands_a_bot_is_online_healthy_and_stops_in_order(
    made: Made,
) -> None:
    port = str(free_port())
    async with DiscordServer(rates=Rates.generous()) as discord:
        told = {**discord.settings, "ROSTRUM_TOPIC": "Is “$5” {a} lot?"}
        assert "https://discord.com/oauth2/" in await init(made, **told)
        assert (made.checkout / ".env").stat().st_mode & 0o777 == 0o600
        rostrum = service(made.checkout, "rostrum")
        assert rostrum["environment"].items() >= told.items()
        environment = rostrum["environment"] | {"ROSTRUM_HEALTH__PORT": port}
        async with started(made, made.image.words("CMD"), environment) as process:
            await discord.gateway.until_connected(seconds=120)
            await until(partial(healthy, made, port), 120)
            process.send_signal(signal.SIGTERM)
            grace = float(rostrum["stop_grace_period"].removesuffix("s"))
            async with asyncio.timeout(grace):
                _, said = await process.communicate()
    assert process.returncode == 0, said.decode()
    assert not healthy(made, port)
    kept = made.image.place("/data/rostrum.db")
    assert kept.stat().st_mode & 0o777 == 0o600


@pytest.mark.slow
async def test_the_profile_scale_migrates_and_a_worker_holds_what_a_gateway_starts(
    made: Made, postgres: PostgresDouble
) -> None:
    secrets = made.checkout / "deploy" / "secrets"
    secrets.mkdir(mode=0o700)
    kept = secrets / "rostrum_database_url"
    kept.write_text(f"{postgres.tcp(postgres.create())}\n")
    kept.chmod(0o644)
    scaled = services(made.checkout, "scale")
    ports = {name: str(free_port()) for name in ("gateway", "worker")}
    async with DiscordServer(rates=Rates.generous()) as discord, AsyncExitStack() as stack:
        given = discord.settings
        if not can_confine():
            given["ROSTRUM_DATABASE_URL_FILE"] = str(kept)

        async def start(name: str, **more: str) -> Process:
            [secret] = scaled[name]["secrets"]
            assert secret["target"] == "/run/secrets/rostrum_database_url"
            container = started(made, scaled[name]["command"], given | more, secrets)
            return await stack.enter_async_context(container)

        early = await start("worker")
        _, said = await early.communicate()
        assert (early.returncode == 0, b"rostrum migrate" in said) == (False, True), said
        assert early.returncode != 78, "a restart mends it"
        migrated = await start("migrate")
        _, said = await migrated.communicate()
        assert migrated.returncode == 0, said
        both = [await start(name, ROSTRUM_HEALTH__PORT=port) for name, port in ports.items()]
        await discord.gateway.until_connected(seconds=120)
        await until(lambda: all(healthy(made, port) for port in ports.values()), 120)
        await until(lambda: discord.world.commands[None])
        asked = await discord.slash("ada", "debate start", {"topic": "Tea"}).finished()
        assert "Your debate starts now" in asked.text
        await until(lambda: len(discord.threads()) == 1, 120)
        await until(lambda: len(discord.messages(discord.threads()[0].id)) > 3, 120)
        for process in both:
            process.send_signal(signal.SIGTERM)
        async with asyncio.timeout(HANG_SECONDS):
            ended = [await process.communicate() for process in both]
    assert [process.returncode for process in both] == [0, 0], ended


def healthy(made: Made, port: str) -> bool:
    """Ask as the image's HEALTHCHECK does."""
    check = re.search(r"CMD (\[.*\])", made.image.said["HEALTHCHECK"])
    assert check
    asked: list[str] = json.loads(check[1])
    return run(made, *asked[1:], ROSTRUM_HEALTH__PORT=port).returncode == 0


@pytest.mark.parametrize(
    ("file", "sent"),
    [
        ("engine/values/debate.py", True),
        ("bot/settings/settings.py", True),
        ("requirements-image.lock", True),
        (".env", False),
        ("bench/wheel/live.py", True),
        ("bench/start.py", False),
        ("bot/.env", False),
        ("rostrum.db", False),
        ("deploy/secrets/postgres_password", False),
        ("engine/__pycache__/debate.cpython-311.pyc", False),
        ("tests/conftest.py", False),
        (".git/config", False),
    ],
)
def test_the_build_gets_what_it_copies_and_no_secret(file: str, sent: bool) -> None:
    assert is_sent(file, ROOT / ".dockerignore") is sent
