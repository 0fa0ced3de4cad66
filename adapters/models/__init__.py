"""Models on OpenAI-compatible backends, and what others know of them without loading any."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, SecretStr

from engine.values.debate import Value
from engine.values.limits import MOST
from engine.values.options import Folded

OPENAI = "https://api.openai.com/v1"
OLLAMA = "http://127.0.0.1:11434/v1"
LM_STUDIO = "http://127.0.0.1:1234/v1"
JsonForm = Literal["schema", "object", "prompt"]
ClientName = Literal["rostrum", "openai"]


class BackendSettings(Value):
    """One backend as written; presets or defaults replace None.

    `max_concurrency` is calls in flight, `requests_per_minute` counts every try and
    `tokens_per_minute` what goes in and comes out; processes on one database divide all three.
    `timeout_s` is the time for one try in seconds, of which connecting may take a third, at most
    30 s; a `local` backend costs 0. `cache_marks`: whether prompts say what to cache; None is only
    where a model needs it. `form`: how JSON is asked for first; None is as the preset has it.
    `client` makes its requests: ours, or the one of the package `openai`.
    """

    preset: str | None = None
    base_url: str | None = None
    api_key: SecretStr | None = None
    max_concurrency: int | None = Field(None, ge=1, le=MOST)
    requests_per_minute: int | None = Field(None, ge=1, le=MOST)
    tokens_per_minute: int | None = Field(None, ge=1, le=1_000 * MOST)
    timeout_s: float | None = Field(None, gt=0, le=86_400, allow_inf_nan=False)
    local: bool | None = None
    cache_marks: bool | None = None
    form: Annotated[JsonForm | None, Folded] = Field(None, alias="json")
    client: Annotated[ClientName | None, Folded] = None
