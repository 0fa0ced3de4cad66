"""What a machine without a container engine can do of one: deploy/Dockerfile, step by step.

Every step runs below a scratch folder that stands for the image's root.
"""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Sequence
from fnmatch import fnmatch
from pathlib import Path
from typing import NamedTuple

OF_THE_IMAGE = re.compile(r"(?<![\w./])/(opt|src|data)\b")
BASE = Path(sys.base_prefix)
# Only root can add users, and this machine's are not the image's.
NOT_RUN = "useradd"


class Step(NamedTuple):
    """One instruction and its text, continued lines joined."""

    word: str
    text: str


def is_sent(path: str, ignore: Path) -> bool:
    """Return whether .dockerignore leaves a file of the context in; the last match counts."""
    sent = True
    for line in ignore.read_text(encoding="utf-8").splitlines():
        pattern = line.removeprefix("!").strip()
        if not pattern or pattern.startswith("#"):
            continue
        parts = path.split("/")
        prefixes = ["/".join(parts[: end + 1]) for end in range(len(parts))]
        anywhere = pattern.removeprefix("**/")
        names = parts if anywhere != pattern else prefixes
        if any(
            fnmatch(name, anywhere) and name.count("/") == anywhere.count("/") for name in names
        ):
            sent = line.startswith("!")
    return sent


class Image:
    """The image as built below `root` from the files of `context`."""

    def __init__(self, context: Path, file: Path, root: Path) -> None:
        self.root = root
        self.left_out: list[str] = []
        self.environment: dict[str, str] = {}
        self.arguments: dict[str, str] = {}
        self.said: dict[str, str] = {}  # the last text of each instruction that only says something
        self._context, self._here = context, "/"
        ignore = context / ".dockerignore"
        found = (path for path in sorted(context.rglob("*")) if path.is_file())
        self._sent = [
            name
            for name in (path.relative_to(context).as_posix() for path in found)
            if is_sent(name, ignore)
        ]
        lines = file.read_text(encoding="utf-8").splitlines()
        text = "\n".join(
            line for line in lines if line.strip() and not line.lstrip().startswith("#")
        )
        joined = re.sub(r"\\\n\s*", "", text).splitlines()
        for step in [Step(*line.split(maxsplit=1)) for line in joined]:
            getattr(self, f"_{step.word.lower()}", self._say)(step)

    def place(self, path: str) -> Path:
        return self.root / os.path.normpath(os.path.join(self._here, path)).lstrip("/")

    def words(self, name: str) -> list[str]:
        """Return an instruction's exec form."""
        return [str(word) for word in json.loads(self.said[name])]

    def _say(self, step: Step) -> None:
        self.said[step.word] = step.text

    def _arg(self, step: Step) -> None:
        name, _, default = step.text.partition("=")
        self.arguments[name] = default

    def _from(self, step: Step) -> None:
        assert step.text.startswith("python:3."), step.text
        self._here, self.environment = "/", {}

    def _workdir(self, step: Step) -> None:
        self._here = step.text
        self.place(".").mkdir(parents=True, exist_ok=True)

    def _env(self, step: Step) -> None:
        for pair in shlex.split(step.text):
            name, _, value = pair.partition("=")
            placed = OF_THE_IMAGE.sub(rf"{self.root}/\1", value)
            self.environment[name] = re.sub(r"\$(\w+)", self._value, placed)

    def _value(self, variable: re.Match[str]) -> str:
        return (self.arguments | {"PATH": os.environ["PATH"]})[variable[1]]

    def _copy(self, step: Step) -> None:
        *sources, target = step.text.split()
        if sources[0].startswith("--from="):
            assert self.place(sources[1]).is_dir(), step
            return
        into = self.place(target)
        copied = [name for source in sources for name in self._copy_one(source, into)]
        assert copied, f"nothing is copied by {step.text}"

    def _copy_one(self, source: str, into: Path) -> list[str]:
        folder = source.rstrip("/") + "/"
        taken = [name for name in self._sent if name.startswith(folder) or fnmatch(name, source)]
        for name in taken:
            to = into / name.removeprefix(folder)
            to.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(self._context / name, to)
        return taken

    def _run(self, step: Step) -> None:
        command = re.sub(r"^(--mount=\S+\s+)+", "", step.text)
        if command.startswith(NOT_RUN):
            self.left_out.append(command)
            self.place("/data").mkdir(mode=0o700, exist_ok=True)
            return
        kept = {name: value for name, value in os.environ.items() if not _python(name)}
        environment = kept | {"PATH": f"{BASE / 'bin'}:{os.environ['PATH']}"}
        ended = subprocess.run(
            ["sh", "-c", OF_THE_IMAGE.sub(rf"{self.root}/\1", command)],
            cwd=self.place("."),
            env=environment,
            capture_output=True,
            text=True,
        )
        assert ended.returncode == 0, f"RUN {command}\n{ended.stdout}{ended.stderr}"

    def command(
        self, *words: str, data: Path | None = None, secrets: Path | None = None, user: str = ""
    ) -> list[str]:
        """Return what starts the image's program, without rights where this machine lets us.

        Root leaves its rights, and sees a file system where only `data` can be written, in /data,
        and `secrets` is /run/secrets.
        """
        program = [str(self.root / "opt/rostrum/bin" / self.words("ENTRYPOINT")[0]), *words]
        data, user = data or self.place("/data"), user or self.said["USER"]
        return [*_confinement(self.root, data, secrets, user), *program]


def _python(name: str) -> bool:
    return name.startswith(("PYTHON", "ROSTRUM_", "VIRTUAL_ENV"))


def can_confine() -> bool:
    """Return whether this process may make a view of the file system of its own."""
    if sys.platform != "linux" or os.getuid() != 0 or not shutil.which("setpriv"):
        return False
    return subprocess.run(["unshare", "--mount", "true"], capture_output=True).returncode == 0


CONFINE = """
set -e
root=$1 data=$2 secrets=$3 base=$4 closed=$5 user=${6%:*} group=${6#*:}; shift 6
mount --make-rprivate /
mount --bind "$root" "$root"
if [ -n "$closed" ]; then  # a Python in a home folder, which others cannot enter
  mount --bind "$base" "$root/base"
  mount -t tmpfs -o mode=755 none "$closed"
  mkdir -p "$base"
  mount --bind "$root/base" "$base"
  mount -o remount,bind,ro "$closed"
fi
if [ -n "$secrets" ]; then
  mount -t tmpfs -o mode=755 none /run
  mkdir /run/secrets
  for file in "$secrets"/*; do
    : > "/run/secrets/${file##*/}"
    mount --bind "$file" "/run/secrets/${file##*/}"
  done
fi
chown "$user:$group" "$data"
mount --bind "$data" "$root/data"
mount -o remount,bind,ro "$root"
mount -o remount,bind,ro /
cd "$root/data"
exec setpriv --reuid="$user" --regid="$group" --clear-groups --no-new-privs \
  --inh-caps=-all --bounding-set=-all -- "$@"
"""


def _confinement(root: Path, data: Path, secrets: Path | None, user: str) -> Sequence[str]:
    if not can_confine():
        return ()
    (root / "base").mkdir(exist_ok=True)
    closed = [folder for folder in reversed(BASE.parents) if not folder.stat().st_mode & 0o001]
    folders = (root, data, secrets or "", BASE, closed[0] if closed else "")
    shown = (*map(str, folders), user)
    return ("unshare", "--mount", "--propagation", "private", "sh", "-c", CONFINE, "sh", *shown)
