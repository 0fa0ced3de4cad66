"""Models on OpenAI-compatible backends, and what others know of them without loading any."""

from __future__ import annotations

from typing import Literal

OPENAI = "https://api.openai.com/v1"
OLLAMA = "http://127.0.0.1:11434/v1"
LM_STUDIO = "http://127.0.0.1:1234/v1"
JsonForm = Literal["schema", "object", "prompt"]
ClientName = Literal["rostrum", "openai"]
