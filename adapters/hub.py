"""Publish an export's folder on a dataset hub, through huggingface_hub.

The endpoint is that of HF_ENDPOINT, the token that of HF_TOKEN or of the hub's own login. Neither
the token nor an address that the hub gives out for an upload is ever shown or logged.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import quote

from engine.values.errors import RostrumError, UsageError

FORBIDDEN = "The token may not write to {repo}; use one with write access, or another repository."
LIMITED = "The hub limits how often it is asked, and does so now; try again later. {resumed}"
FAILED = "The hub answered with {status}; try again later. {resumed}"
UNREACHED = (
    "The hub cannot be reached; check the network, and HF_ENDPOINT if it is set, then run the same "
    "command again. {resumed}"
)
CUT = "The connection to the hub was lost; run the same command again. {resumed}"
NOT_SENT = "{repo} was not changed: the hub refused the export ({status})."
RESUMED = "Files that are there already are not sent again."
MOST_BYTES = 64 * 2**20  # of an answer: the longest lists a repository's files
NO_XET = (404, 405, 501)
# What earlier exports left; of the same names, the new files replace them.
STALE = ["data/*", "config.xml", "croissant.json", "manifest.json"]


def check_ready(repo: str) -> None:
    """Raise UsageError without the extra, without a token, and for what names no repository."""
    if find_spec("huggingface_hub") is None:
        raise UsageError(
            "rostrum push needs huggingface_hub, which is not installed; install it with pip "
            "install 'huggingface-hub>=1.0'."
        )
    from huggingface_hub import get_token
    from huggingface_hub.errors import HFValidationError
    from huggingface_hub.utils import validate_repo_id

    with _explained(repo):
        validate_repo_id(repo)
        if "/" not in repo:
            raise HFValidationError
        if get_token() is None:
            raise UsageError(
                "The hub takes nothing without a token, and there is none here; set HF_TOKEN to "
                "one that may write to {repo}, or log in with: hf auth login.",
                repo=repo,
            )


def push(
    folder: Path, repo: str, private: bool, revision: str | None, message: str
) -> tuple[str, str]:
    """Upload a folder to a dataset repository, which is made if there is none; blocks.

    Returns the repository's page, and the commit.

    Files that the hub has are not sent again, so that the same call resumes one that was cut off.
    Raises UsageError for what the hub will never take, RostrumError for a passing failure.
    """
    from huggingface_hub import HfApi
    from huggingface_hub.utils import disable_progress_bars, logging

    disable_progress_bars()
    logging.set_verbosity_error()  # its warnings have addresses of uploads, which are secret
    api = HfApi(endpoint=os.environ.get("HF_ENDPOINT") or None)
    with _explained(repo), _bounded():
        page = api.create_repo(repo, repo_type="dataset", private=private or None, exist_ok=True)
        if private and not api.repo_info(repo, repo_type="dataset").private:
            raise UsageError(
                f"{repo} exists and is public; make it private on the hub first, or leave "
                "out --private."
            )
        if revision:
            api.create_branch(repo, repo_type="dataset", branch=revision, exist_ok=True)
        with nullcontext() if _takes_xet(api, repo, revision or "main") else _plain_uploads():
            done = api.upload_folder(
                repo_id=repo,
                repo_type="dataset",
                folder_path=folder,
                revision=revision,
                commit_message=message,
                delete_patterns=STALE,
            )
    return str(page), done.oid


@contextmanager
def _bounded() -> Iterator[None]:
    """Read no answer of a hub beyond a ceiling, nor any that it compressed: both take memory."""
    import httpx2
    from huggingface_hub.utils import set_client_factory
    from huggingface_hub.utils._http import default_client_factory

    class _Bounded(httpx2.SyncByteStream):
        def __init__(self, stream: Any) -> None:
            self._stream = stream

        def __iter__(self) -> Iterator[bytes]:
            size = 0
            for piece in self._stream:
                size += len(piece)
                if size > MOST_BYTES:
                    raise httpx2.ReadError("the answer is too long")
                yield piece

        def close(self) -> None:
            self._stream.close()

    def bound(answer: httpx2.Response) -> None:
        if answer.headers.get("Content-Encoding", "identity") != "identity":
            raise httpx2.ReadError("the answer is compressed")
        answer.stream = _Bounded(answer.stream)

    def make() -> httpx2.Client:
        client: httpx2.Client = default_client_factory()
        client.headers["Accept-Encoding"] = "identity"
        client.event_hooks = {**client.event_hooks, "response": [bound]}
        return client

    set_client_factory(make)
    try:
        yield
    finally:
        set_client_factory(default_client_factory)


def _takes_xet(api: Any, repo: str, revision: str) -> bool:
    """Return whether a hub hands out what an upload by Xet needs.

    huggingface_hub uses Xet wherever hf_xet is installed, also towards a hub that has none.
    """
    from huggingface_hub.utils import hf_raise_for_status, http_backoff

    url = f"{api.endpoint}/api/datasets/{repo}/xet-write-token/{quote(revision, safe='')}"
    answer = http_backoff("GET", url, headers=api._build_hf_headers())
    if answer.status_code in NO_XET:
        return False
    hf_raise_for_status(answer)
    return True


@contextmanager
def _plain_uploads() -> Iterator[None]:
    """Have large files uploaded by Git LFS, as HF_HUB_DISABLE_XET does where it is set."""
    from huggingface_hub import constants

    before = constants.HF_HUB_DISABLE_XET
    constants.HF_HUB_DISABLE_XET = True
    try:
        yield
    finally:
        constants.HF_HUB_DISABLE_XET = before


@contextmanager
def _explained(repo: str) -> Iterator[None]:
    """Turn the hub's errors into Rostrum's, without their texts, which may have secrets."""
    import httpx2
    from huggingface_hub.errors import HfHubHTTPError, HFValidationError, OfflineModeIsEnabled

    try:
        yield
    except HFValidationError:
        raise UsageError(f"“{repo}” is no repository's name; write it as owner/name.") from None
    except (HfHubHTTPError, httpx2.HTTPError, RuntimeError, ValueError) as error:
        # An upload's own error is the cause of the one that is raised.
        cause = error.__cause__ if isinstance(error, RuntimeError) else error
        if isinstance(cause, HfHubHTTPError):
            raise _of_status(cause.response.status_code, repo) from None
        if isinstance(cause, httpx2.HTTPError):
            never = isinstance(cause, (httpx2.ConnectError, httpx2.ConnectTimeout))
            raise RostrumError((UNREACHED if never else CUT).format(resumed=RESUMED)) from None
        if isinstance(error, ValueError):
            raise UsageError(NOT_SENT.format(repo=repo, status=type(error).__name__)) from None
        raise RostrumError(FAILED.format(status="an error", resumed=RESUMED)) from None
    except PermissionError:  # this and the next one are what hf_xet raises
        raise UsageError(FORBIDDEN.format(repo=repo)) from None
    except OfflineModeIsEnabled:
        raise UsageError("HF_HUB_OFFLINE is set, so the hub is not asked; unset it.") from None
    except (ConnectionError, TimeoutError):
        raise RostrumError(CUT.format(resumed=RESUMED)) from None


def _of_status(status: int, repo: str) -> RostrumError:
    lasting = {
        401: "The hub does not accept the token; set HF_TOKEN to a valid one that may "
        "write to {repo}.",
        403: FORBIDDEN,
        404: "The hub has no {repo} that this token may see; check its name and the "
        "token's access.",
    }
    if status in lasting:
        return UsageError(lasting[status].format(repo=repo))
    if status in (400, 402, 409, 413, 422):
        return UsageError(NOT_SENT.format(repo=repo, status=status))
    passing = LIMITED if status == 429 else FAILED
    return RostrumError(passing.format(status=status, resumed=RESUMED))
