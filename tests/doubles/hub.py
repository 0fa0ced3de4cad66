"""A dataset hub on loopback: the calls that huggingface_hub makes to publish a folder."""

import base64
import hashlib
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

import orjson
from aiohttp import web

from tests.doubles.loopback import LoopbackServer

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
TOKEN = "hf_CANARYtoken"
SIGNATURE = "CANARYsignature"  # of the addresses that it gives out for uploads


@dataclass
class Hub(LoopbackServer):
    """Knows one token, which may write to repositories of `owner`.

    `script` holds statuses for the next requests whose path ends with its key; "cut" cuts the
    connection. Files of `large` bytes or more are uploaded apart. `xet` is the address of the
    storage that it has for them by Xet; without one they are uploaded by Git LFS.
    """

    owner: str = "ann"
    large: int = 2_000
    xet: str | None = None
    script: dict[str, list[int | str]] = field(default_factory=dict)
    private: dict[str, bool] = field(default_factory=dict)
    branches: dict[str, dict[str, dict[str, bytes]]] = field(default_factory=dict)
    stored: dict[str, bytes] = field(default_factory=dict)  # what was uploaded apart, by hash
    asked: list[str] = field(default_factory=list)
    commits: list[str] = field(default_factory=list)

    def _app(self) -> web.Application:
        app = web.Application(middlewares=[self._guard], client_max_size=100_000_000)
        name = r"{repo:[\w-]+/[\w-]+}"
        api = f"/api/datasets/{name}"
        app.add_routes(
            [
                web.post("/api/repos/create", self._create),
                web.post("/api/validate-yaml", self._check_card),
                web.get(api, self._info),
                web.get(f"{api}/revision/{{branch}}", self._info),
                web.post(f"{api}/branch/{{branch}}", self._branch),
                web.get(f"{api}/tree/{{branch}}", self._tree),
                web.post(f"{api}/preupload/{{branch}}", self._preupload),
                web.post(f"/datasets/{name}.git/info/lfs/objects/batch", self._batch),
                web.put("/upload/{oid}", self._upload),
                web.post("/verify", self._verify),
                web.get(f"{api}/xet-write-token/{{branch}}", self._xet_token),
                web.post(f"{api}/commit/{{branch}}", self._commit),
            ]
        )
        return app

    def files(self, repo: str, branch: str = "main") -> dict[str, bytes]:
        return self.branches[repo][branch]

    def count(self, ending: str) -> int:
        return sum(ending in asked for asked in self.asked)

    @web.middleware
    async def _guard(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        self.asked.append(f"{request.method} {request.path}")
        for ending, answers in self.script.items():
            if ending in request.path and answers:
                answer = answers.pop(0)
                if answer == "cut" and request.transport is not None:
                    request.transport.close()
                    raise web.HTTPServiceUnavailable
                if isinstance(answer, int) and answer != 200:
                    return web.json_response(
                        {"error": "…"}, status=answer, headers={"Retry-After": "0"}
                    )
        if request.path.startswith("/upload/"):
            return await handler(request)  # its address is signed
        if request.headers.get("Authorization") != f"Bearer {TOKEN}":
            message = "Invalid credentials in Authorization header"
            return web.json_response(
                {"error": message}, status=401, headers={"X-Error-Message": message}
            )
        return await handler(request)

    async def _create(self, request: web.Request) -> web.Response:
        body = await request.json()
        assert body["type"] == "dataset"
        if body["organization"] != self.owner:
            return web.json_response({"error": "no rights"}, status=403)
        name = f"{body['organization']}/{body['name']}"
        url = f"{self.origin}/datasets/{name}"
        if name in self.branches:
            return web.json_response({"error": "exists", "url": url}, status=409)
        self.private[name] = body.get("visibility") == "private"
        self.branches[name] = {"main": {}}
        return web.json_response({"url": url})

    def _repo(self, request: web.Request) -> str:
        repo = request.match_info["repo"]
        if repo not in self.branches:
            raise web.HTTPNotFound(headers={"X-Error-Code": "RepoNotFound"})
        return repo

    def _of(self, request: web.Request) -> dict[str, bytes]:
        return self.branches[self._repo(request)][request.match_info.get("branch", "main")]

    async def _info(self, request: web.Request) -> web.Response:
        repo = self._repo(request)
        sha = hashlib.sha1(repr(self.commits).encode()).hexdigest()  # noqa: S324
        return web.json_response({"id": repo, "private": self.private[repo], "sha": sha})

    async def _branch(self, request: web.Request) -> web.Response:
        branches, name = self.branches[self._repo(request)], request.match_info["branch"]
        if name in branches:
            return web.json_response({"error": "exists"}, status=409)
        branches[name] = dict(branches["main"])
        return web.json_response({})

    async def _tree(self, request: web.Request) -> web.Response:
        found = self._of(request).items()
        return web.json_response(
            [{"type": "file", "path": p, "oid": git_id(c), "size": len(c)} for p, c in found]
        )

    async def _check_card(self, request: web.Request) -> web.Response:
        assert (await request.json())["content"].startswith("---\n")
        return web.json_response({"errors": [], "warnings": []})

    async def _preupload(self, request: web.Request) -> web.Response:
        held, answer = self._of(request), []
        for file in (await request.json())["files"]:
            apart = file["size"] >= self.large
            content = held.get(file["path"])
            known = content and (sha256(content) if apart else git_id(content))
            mode = "lfs" if apart else "regular"
            told = {"path": file["path"], "uploadMode": mode, "shouldIgnore": False}
            answer.append(told | ({"oid": known} if known else {}))
        return web.json_response({"files": answer})

    async def _xet_token(self, request: web.Request) -> web.Response:
        if self.xet is None:
            raise web.HTTPNotFound
        exp = int(time.time()) + 3600
        told = {"X-Xet-Cas-Url": self.xet, "X-Xet-Access-Token": SIGNATURE}
        return web.json_response(
            {"casUrl": self.xet, "accessToken": SIGNATURE, "exp": exp},
            headers=told | {"X-Xet-Token-Expiration": str(exp)},
        )

    async def _batch(self, request: web.Request) -> web.Response:
        objects = []
        for one in (await request.json())["objects"]:
            upload = {"href": f"{self.origin}/upload/{one['oid']}?sign={SIGNATURE}"}
            verify = {"href": f"{self.origin}/verify"}
            missing = one["oid"] not in self.stored
            objects.append(
                one | ({"actions": {"upload": upload, "verify": verify}} if missing else {})
            )
        return web.json_response({"transfer": "basic", "objects": objects})

    async def _upload(self, request: web.Request) -> web.Response:
        assert request.query["sign"] == SIGNATURE
        content = await request.read()
        assert sha256(content) == request.match_info["oid"]
        self.stored[sha256(content)] = content
        return web.Response()

    async def _verify(self, request: web.Request) -> web.Response:
        body = await request.json()
        assert len(self.stored[body["oid"]]) == body["size"]
        return web.json_response({})

    async def _commit(self, request: web.Request) -> web.Response:
        held = self._of(request)
        for line in (await request.read()).splitlines():
            item = orjson.loads(line)
            self._change(held, item["key"], item["value"])
        oid = f"{len(self.commits):040x}"
        url = f"{self.origin}/datasets/{self._repo(request)}/commit/{oid}"
        return web.json_response({"commitUrl": url, "commitOid": oid, "success": True})

    def _change(self, held: dict[str, bytes], key: str, value: dict[str, Any]) -> None:
        match key:
            case "header":
                self.commits.append(value["summary"])
            case "file":
                held[value["path"]] = base64.b64decode(value["content"])
            case "lfsFile":
                held[value["path"]] = self.stored[value["oid"]]
            case "deletedFile":
                del held[value["path"]]
            case _:
                raise AssertionError(key)


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def git_id(content: bytes) -> str:
    """Return the name that Git gives a file's content."""
    return hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()  # noqa: S324
