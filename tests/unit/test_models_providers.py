"""What providers and servers send, each through the real client against a server on loopback."""

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from itertools import product
from time import perf_counter
from typing import Any

import orjson
import pytest
from aiohttp import web
from pydantic import SecretStr
from structlog.testing import capture_logs

from adapters.models import JsonForm, connection
from adapters.models.attempts import CallFault, RetryPolicy, wait_after
from adapters.models.backends import Backend
from adapters.models.completions import read_text
from adapters.models.pace import Gate
from engine.stage.steps import Pace
from engine.stage.structured import read_object
from engine.values.debate import Model, Sampling
from engine.values.errors import ModelError
from engine.values.ports import AnswerSchema, Call, FaultKind, Reply
from tests.doubles import model_server as acts
from tests.doubles.loopback import close, once, raw_server
from tests.doubles.model_server import EVENT_STREAM, Act, ModelServer, events
from tests.kit import RecordedAttempts, make_call, opened_models, some

SCHEMA = AnswerSchema("thing", {"type": "object", "properties": {"a": {"type": "string"}}})
SPEECH = "Tea is calmer."
HARMONY = (
    "<|channel|>analysis<|message|>We argue for tea.<|end|><|start|>assistant"
    f"<|channel|>final<|message|>{SPEECH}<|return|>"
)
QUOTED = "Models end their reasoning with `</think>`, and ``<think>`` begins it."
BALLOT = '{"reasons": "B wrote </think> twice: </think>.", "n": 1}'


def call_of(
    name: str, heard: list[str] | None = None, schema: AnswerSchema | None = None, cap: int = 500
) -> Call:
    """Make a call, heard while it is answered if there is a list."""
    return make_call(
        model=Model.parse(f"online/{name}"),
        sampling=Sampling(temperature=0.7, max_tokens=cap),
        schema=schema,
        on_text=None if heard is None else lambda text, _: heard.append(text),
    )


async def ask(
    base_url: str, log: RecordedAttempts | None = None, heard: list[str] | None = None, **given: Any
) -> Reply:
    async with opened_models(base_url, **given) as models:
        return await models.complete(call_of("m", heard), log or RecordedAttempts())


def completion(message: Mapping[str, Any] | None, finish: str | None = "stop", **more: Any) -> Act:
    choice: dict[str, Any] = {"index": 0, "finish_reason": finish}
    if message is not None:
        choice["message"] = message
    return Act(body=orjson.dumps({"choices": [choice], **more}))


def failure(status: int, body: object) -> Act:
    return Act(status=status, body=orjson.dumps(body))


def refused(status: int, **error: object) -> Act:
    return failure(status, {"error": error})


SAID: dict[str, tuple[dict[str, Any], str, int]] = {
    # who: (what comes, what was said, how much was thought)
    "OpenAI": ({"content": SPEECH, "refusal": None}, SPEECH, 0),
    "OpenRouter": ({"content": SPEECH, "reasoning": "Hm, tea."}, SPEECH, 8),
    "DeepSeek, llama.cpp": ({"content": SPEECH, "reasoning_content": "Hm, tea."}, SPEECH, 8),
    "vLLM, both names": (
        {"content": SPEECH, "reasoning_content": "Hm", "reasoning": "Hm"},
        SPEECH,
        2,
    ),
    "Mistral": (
        {
            "content": [
                {"type": "thinking", "thinking": [{"type": "text", "text": "Hm."}]},
                {"type": "text", "text": SPEECH},
            ]
        },
        SPEECH,
        3,
    ),
    "a part of type reasoning": (
        {"content": [{"type": "reasoning", "text": "Hm."}, {"type": "text", "text": SPEECH}]},
        SPEECH,
        3,
    ),
    "Ollama, no parser": (
        {"content": f"<think>\nI am a model of …\n</think>\n\n{SPEECH}"},
        SPEECH,
        17,
    ),
    "R1, off": ({"content": f"<think>\n\n</think>\n\n{SPEECH}"}, SPEECH, 0),
    "vLLM, no opening tag": ({"content": f"I am a model of …\n</think>\n\n{SPEECH}"}, SPEECH, 26),
    "Seed": ({"content": f"<seed:think>Hm.</seed:think>{SPEECH}"}, SPEECH, 3),
    "Magistral, raw": ({"content": f"[THINK]Hm.[/THINK]{SPEECH}"}, SPEECH, 3),
    "gpt-oss, raw": ({"content": HARMONY}, SPEECH, 17),
    "gpt-oss, no special tokens": (
        {"content": f"analysisWe argue for tea.assistantfinal{SPEECH}"},
        SPEECH,
        39,
    ),
    "gpt-oss, JSON": (
        {"content": '<|channel|>final <|constrain|>json<|message|>{"n": 1}<|return|>'},
        '{"n": 1}',
        0,
    ),
    "an end mark": ({"content": f"{SPEECH}<|im_end|>"}, SPEECH, 0),
    "an end mark, and on": ({"content": f"{SPEECH}<|im_end|>\n<|im_start|>user\nMore"}, SPEECH, 0),
    "a template's start": ({"content": f"<|im_start|>assistant\n{SPEECH}</s>"}, SPEECH, 0),
    "a quoted tag": ({"content": QUOTED}, QUOTED, 0),
    "a quoted tag after a thought": ({"content": f"<think>Hm.</think>{QUOTED}"}, QUOTED, 3),
    "a tag quoted in JSON": ({"content": BALLOT}, BALLOT, 0),
    "brackets and signs": ({"content": "[1] a < b, and `x`"}, "[1] a < b, and `x`", 0),
}


@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("who", SAID)
async def test_thought_is_counted_not_said(server: ModelServer, who: str, streamed: bool) -> None:
    message, said, thought = SAID[who]
    if streamed:
        content = message["content"]
        parts = content if isinstance(content, list) else [content[:20], content[20:]]
        deltas = [{**message, "content": [one] if isinstance(one, dict) else one} for one in parts]
        deltas[1:] = [{"content": one["content"]} for one in deltas[1:]]
        chunks = [{"choices": [{"delta": one, "finish_reason": None}]} for one in deltas]
        server.script(events(*chunks, {"choices": [{"delta": {}, "finish_reason": "stop"}]}))
    else:
        server.script(completion(message))
    reply = await ask(server.base_url, heard=[] if streamed else None)
    assert (reply.text, reply.thought) == (said, thought)
    assert "model of" not in reply.model_dump_json()


THOUGHT_ALONE = [
    "<think>I am a model of …",
    "<think>I am a model of … </thi",
    "<thi",
    "<think>Hm.</think>",
    "Hm.</think>",
    '{"a": 1}</think>',
    "<|channel|>analysis<|message|>We argue",
    "<|channel|>anal",
    "analysisWe argue for tea",
]


@pytest.mark.parametrize(
    ("text", "finish"), [*product(THOUGHT_ALONE, ("length", "stop")), ("", "length")]
)
async def test_a_reply_that_is_thought_alone_is_asked_again_with_more_room(
    server: ModelServer, text: str, finish: str
) -> None:
    server.script(acts.says(text, finish))
    log = RecordedAttempts()
    assert (await ask(server.base_url, log)).text == "An answer to 1 messages."
    assert [body["max_tokens"] for body in server.requests] == [500, 1000]
    assert [attempt.doubles_cap for attempt in log.attempts] == [True, False]
    server.always(acts.says(text, finish))
    with pytest.raises(ModelError, match="ROSTRUM_SAMPLING__DEBATER__MAX_TOKENS"):
        await ask(server.base_url)
    assert len(server.requests) == 4


async def test_reasoning_is_not_shown_while_it_is_written(server: ModelServer) -> None:
    server.script(acts.says(f"<think>I am a model of …</think>{SPEECH}"))
    heard: list[str] = []
    assert (await ask(server.base_url, heard=heard)).text == SPEECH
    assert heard[-1] == SPEECH
    assert all(SPEECH.startswith(text) for text in heard)


async def test_drafts_that_were_thought_are_not_streamed_again(server: ModelServer) -> None:
    server.always(acts.says(f"I am a model of something, and weigh this.</think>{SPEECH}"))
    async with opened_models(server.base_url) as models:
        for _ in range(2):
            reply = await models.complete(call_of("m", []), RecordedAttempts())
            assert reply.text == SPEECH
    assert [body.get("stream", False) for body in server.requests] == [True, False]


@pytest.mark.parametrize(
    "text",
    [
        f'<think>First idea: {{"n": 2}} or so … {{</think>{BALLOT}',
        f'\n<think>I write {{"r": "a tag </think> quoted"}}, or so.</think>\n{BALLOT}',
        f'A backend left the tag out. First: {{"n": 2}}.</think>{BALLOT}',
        f"<think>One.</think><think>Two: {{'n': 2}}.</think>{BALLOT}",
        f"As asked:\n{BALLOT}",
    ],
)
def test_a_draft_in_the_reasoning_is_not_the_answer(text: str) -> None:
    assert read_object(read_text(text)[0]).value == json.loads(BALLOT)


def test_an_object_that_a_quoted_debater_wrote_never_follows_its_reasoning() -> None:
    for text in ('{"a": "B wrote: </think>{\\"a\\": 2}', "{'a': 'B wrote: </think>{\"a\": 2}', b"):
        assert read_text(text) == (text, 0)


@pytest.mark.parametrize(
    "piece", ["<think></think>", "`" * 7 + "</think>", "<|channel|>a", "</s> ", "{<", "<think>`"]
)
def test_marks_are_read_in_linear_time(piece: str) -> None:
    text = piece * (400_000 // len(piece))
    asyncio.run(asyncio.wait_for(asyncio.to_thread(read_text, text), 5))


@pytest.mark.parametrize(
    ("who", "reason", "finish"),
    [
        ("OpenAI", "length", "length"),
        ("Gemini", "MAX_TOKENS", "length"),
        ("Anthropic", "max_tokens", "length"),
        ("Mistral", "model_length", "length"),
        ("Anthropic", "end_turn", "stop"),
        ("OpenAI", None, "stop"),
        ("OpenAI", "content_filter", "content_filter"),
        ("Gemini", "SAFETY", "content_filter"),
        ("Gemini", "content_filter: SAFETY", "content_filter"),
        ("Zhipu", "sensitive", "content_filter"),
        ("Anthropic", "refusal", "content_filter"),
    ],
)
async def test_why_an_answer_stopped_has_one_word(
    server: ModelServer, who: str, reason: str | None, finish: str
) -> None:
    server.always(completion({"content": SPEECH}, reason))
    reply = await ask(server.base_url)
    assert (reply.text, reply.finish) == (SPEECH, finish), who


async def test_an_unknown_reason_is_logged_once_and_taken_as_the_end(server: ModelServer) -> None:
    server.always(completion({"content": SPEECH}, "bored"))
    with capture_logs() as logged:
        for _ in range(2):
            assert (await ask(server.base_url)).finish == "stop"
    assert [one["reason"] for one in logged if one["event"] == "unknown finish reason"] == ["bored"]


@pytest.mark.parametrize(
    ("who", "act"),
    [
        ("Gemini, prompt", completion(None, "content_filter: PROHIBITED_CONTENT")),
        ("Gemini, answer", completion({"role": "assistant"}, "SAFETY")),
        ("Gemini, its own word", completion({"content": None}, "PROHIBITED_CONTENT")),
        ("OpenAI", completion({"content": None, "refusal": "I cannot."})),
        ("OpenAI, its code", acts.status(400, kind="content_policy_violation")),
        ("Azure, its words", acts.status(400, message="triggered the content management policy")),
        ("Azure", completion({"content": ""}, "content_filter")),
        ("OpenRouter", refused(403, code=403, message="your input was flagged")),
        ("… later", Act(body=b'{"error": {"code": 403, "message": "your input was flagged"}}')),
        ("Alibaba", refused(400, code="data_inspection_failed", message="no")),
        ("DeepSeek", refused(400, message="Content Exists Risk")),
    ],
)
async def test_declined_is_declined(server: ModelServer, who: str, act: Act) -> None:
    server.always(act)
    with pytest.raises(ModelError, match="reword the topic") as caught:
        await ask(server.base_url)
    error = caught.value
    assert (error.model, error.passing, error.refused) == ("online/m", False, True)
    assert len(server.requests) == 1, who


@pytest.mark.parametrize(
    ("who", "reason"), [("DeepSeek", "insufficient_system_resource"), ("Zhipu", "network_error")]
)
async def test_an_answer_that_its_server_broke_off_is_asked_for_again(
    server: ModelServer, who: str, reason: str
) -> None:
    server.script(completion({"content": "half"}, reason))
    assert (await ask(server.base_url)).attempts == 2, who


GRAMMAR = {
    "error": {
        "code": 400,
        "message": "Failed to initialize samplers: failed to parse grammar",
        "type": "invalid_request_error",
    }
}
LITELLM_MODEL = {
    "message": "{'error': '/chat/completions: Invalid model name passed in model=m. Call "
    "`/v1/models` to view available models for your key.'}",
    "type": "None",
    "param": "None",
    "code": "400",
}
LITELLM_KEY = {
    "message": "Authentication Error, Invalid proxy server token passed",
    "type": "auth_error",
    "code": "400",
}
GEMINI_KEY = {
    "code": 400,
    "message": "API key not valid. Please pass a valid API key.",
    "status": "INVALID_ARGUMENT",
}
LITELLM_BUDGET = {
    "message": "Budget has been exceeded! Current cost: 5.1, Max budget: 5.0",
    "type": "budget_exceeded",
    "param": None,
    "code": "429",
}


@pytest.mark.parametrize(
    ("who", "act", "said"),
    [
        ("OpenRouter", Act(body=b'{"error": {"code": 401, "message": "no"}}'), r"the key \(401\)"),
        ("OpenRouter", Act(body=b'{"error": {"code": 402, "message": "no"}}'), "no credit left"),
        ("OpenRouter", Act(body=b'{"error": {"code": 403, "message": "no"}}'), "forbids the call"),
        ("OpenRouter", refused(400, message="m is not a valid model ID"), "not know the model"),
        ("LiteLLM", failure(400, {"error": LITELLM_MODEL}), "does not know the model"),
        ("LiteLLM", failure(429, {"error": LITELLM_BUDGET}), "no credit left"),
        ("LiteLLM", failure(422, {"error": {**LITELLM_BUDGET, "code": "422"}}), "no credit left"),
        (
            "LiteLLM",
            refused(429, message="ExceededBudget: team crossed budget", code="429"),
            "no credit left",
        ),
        ("LiteLLM", failure(400, {"error": LITELLM_KEY}), "refused the key"),
        ("Gemini", failure(400, [{"error": GEMINI_KEY}]), "refused the key"),
        ("Ollama", refused(404, message='model "m" not found, try pulling it first'), "not know"),
        (
            "llama-cpp-python",
            refused(400, message="The model `m` does not exist", code="model_not_found"),
            "does not know the model",
        ),
        ("llama-cpp-python", failure(401, {"detail": "Invalid API key"}), "refused the key"),
        (
            "words that nobody knows",
            refused(400, message="max_tokens is too large", code="x"),
            "max_tokens is too large",
        ),
        ("of a form that nobody asked for", failure(400, GRAMMAR), "failed to parse grammar"),
        ("a quota used up", acts.status(429, kind="insufficient_quota"), "add credit"),
        ("a model not allowed", acts.status(403), "may use this model"),
        ("too long a prompt", acts.status(400, message="context too long"), "context too long"),
    ],
)
async def test_an_error_names_its_cause_and_teaches_nothing(
    server: ModelServer, who: str, act: Act, said: str
) -> None:
    server.always(act)
    log = RecordedAttempts()
    with pytest.raises(ModelError, match=said) as caught:
        await ask(server.base_url, log)
    assert "“online”" in str(caught.value)
    assert "“m”" in str(caught.value)
    assert len(server.requests) == 1, who
    assert log.costs == [0.0]


@asynccontextmanager
async def queueing(answer_s: float) -> AsyncIterator[str]:
    """Answer one call at a time, in order, also those that were given up."""
    one = asyncio.Lock()

    async def work() -> None:
        async with one:
            await asyncio.sleep(answer_s)

    async def answer(_: web.Request) -> web.Response:
        await asyncio.shield(asyncio.create_task(work()))
        return web.json_response({"choices": [{"message": {"content": SPEECH}}]})

    app = web.Application()
    app.router.add_post("/v1/chat/completions", answer)
    runner = web.AppRunner(app, shutdown_timeout=0.05)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    yield f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
    await close(runner)


def chunked(kind: str, *pieces: bytes) -> bytes:
    """Return a response in chunks, without the last one."""
    head = f"HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nTransfer-Encoding: chunked\r\n\r\n".encode()
    return head + b"".join(b"%x\r\n%s\r\n" % (len(piece), piece) for piece in pieces)


def event(chunk: object) -> bytes:
    return b"data: " + orjson.dumps(chunk) + b"\n\n"


STREAM = (
    event({"choices": [{"delta": {"content": SPEECH}, "finish_reason": None}]}),
    event({"choices": [{"delta": {}, "finish_reason": "stop"}]}),
)


@pytest.mark.parametrize("stays", [False, True], ids=["the connection ends", "[DONE] never comes"])
async def test_a_finished_stream_is_kept_however_its_connection_ends(
    monkeypatch: pytest.MonkeyPatch, stays: bool
) -> None:
    monkeypatch.setattr(connection, "TAIL_S", 0.2)
    async with raw_server("", once(chunked(EVENT_STREAM, *STREAM), stays=stays)) as base_url:
        reply = await ask(base_url, heard=[])
    assert (reply.text, reply.attempts) == (SPEECH, 1)


async def test_a_whole_answer_is_kept_without_its_last_chunk() -> None:
    body = completion({"content": SPEECH}).body or b""
    async with raw_server("", once(chunked("application/json", body))) as base_url:
        reply = await ask(base_url)
    assert (reply.text, reply.attempts) == (SPEECH, 1)
    async with raw_server("", once(chunked("application/json", body[:-3]))) as base_url:
        with pytest.raises(ModelError, match="broke the connection"):
            await ask(base_url)


async def test_a_stream_that_ended_without_a_reason_is_asked_for_whole(server: ModelServer) -> None:
    """llama-cpp-python drops a stream for the next call: `[DONE]` comes in the middle."""
    server.script(events({"choices": [{"delta": {"content": "Tea is"}, "finish_reason": None}]}))
    reply = await ask(server.base_url, heard=[], local=True)
    assert reply.text == "An answer to 1 messages."
    assert [body.get("stream", False) for body in server.requests] == [True, False]


PYTHON_SERVER = {
    "error": {
        "message": "[{'type': 'literal_error', 'loc': ('body', 'response_format', 'type'), "
        "'msg': \"Input should be 'text' or 'json_object'\", 'input': 'json_schema'}]",
        "type": "internal_server_error",
        "param": None,
        "code": None,
    }
}
OLD_LLAMA = {
    "error": {
        "code": 500,
        "message": 'response_format type must be one of "text" or "json_object", but got: '
        "json_schema",
        "type": "server_error",
    }
}


@pytest.mark.parametrize(
    ("who", "act"),
    [
        ("llama-cpp-python", failure(500, PYTHON_SERVER)),
        ("llama.cpp, before", failure(500, OLD_LLAMA)),
        ("llama.cpp", failure(400, GRAMMAR)),
        ("a gateway", Act(body=orjson.dumps(GRAMMAR))),
    ],
)
@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
async def test_any_refusal_of_the_form_steps_down_a_rung_for_the_whole_backend(
    server: ModelServer, who: str, act: Act, streamed: bool
) -> None:
    server.always(replace(act, names="json_schema"))
    async with opened_models(server.base_url) as models:
        for name in ("m", "m", "other"):
            log = RecordedAttempts()
            await models.complete(call_of(name, [] if streamed else None, SCHEMA), log)
    asked = [body.get("response_format", {}).get("type") for body in server.requests]
    assert asked == ["json_schema", "json_object", "json_object", "json_object"], who


async def test_behind_a_gateway_each_model_learns_for_itself(server: ModelServer) -> None:
    server.always(acts.refuse("json_schema"), model="m")
    async with opened_models(server.base_url, preset="litellm") as models:
        for name in ("m", "other"):
            await models.complete(call_of(name, None, SCHEMA), RecordedAttempts())
    asked = [body["response_format"]["type"] for body in server.requests]
    assert asked == ["json_schema", "json_object", "json_schema"]


@pytest.mark.parametrize(
    ("form", "first"), [("schema", "json_schema"), ("object", "json_object"), ("prompt", None)]
)
async def test_how_json_is_asked_for_can_be_set_by_hand(
    server: ModelServer, form: JsonForm, first: str | None
) -> None:
    settings: tuple[dict[str, Any], ...] = ({"preset": "deepseek", "api_key": SecretStr("k")}, {})
    for given in settings:
        async with opened_models(server.base_url, form=form, **given) as models:
            await models.complete(call_of("m", None, SCHEMA), RecordedAttempts())
        assert server.requests[-1].get("response_format", {}).get("type") == first


VLLM = (
    "'max_tokens' or 'max_completion_tokens' is too large: 6000. This model's maximum context "
    "length is 8192 tokens and your request has 2778 input tokens (6000 > 8192 - 2778)."
)
VLLM_BEFORE = (
    "This model's maximum context length is 8192 tokens. However, you requested 8778 tokens (2778 "
    "in the messages, 6000 in the completion). Please reduce the length of the messages."
)
VLLM_NOW = (
    "This model's maximum context length is 8192 tokens. However, you requested 6000 output tokens "
    "and your prompt contains at least 2193 input tokens, for a total of at least 8193 tokens."
)
OPENROUTER = (
    "This endpoint's maximum context length is 8192 tokens. However, you requested about 8778 "
    "tokens (2778 of text input, 6000 in the output)."
)
ANTHROPIC = "input length and `max_tokens` exceed context limit: 2778 + 6000 > 8192, decrease"
DEEPSEEK = "Invalid max_tokens value, the valid range of max_tokens is [1, 4096]"
OPENAI = (
    "max_tokens is too large: 6000. This model supports at most 4096 completion tokens, whereas "
    "you provided 6000."
)
CLAUDE = "max_tokens: 6000 > 4096, which is the maximum allowed number of output tokens for m"
GROQ = "`max_tokens` must be less than or equal to `4096`, the maximum value for `max_tokens`"


@pytest.mark.parametrize(
    ("message", "param", "cap"),
    [
        (VLLM, None, 5414),
        (VLLM_BEFORE, None, 5414),
        (VLLM_NOW, "input_tokens", 3000),
        (OPENROUTER, None, 5414),
        (ANTHROPIC, None, 5414),
        (DEEPSEEK, None, 4096),
        (OPENAI, "max_tokens", 4096),
        (CLAUDE, None, 4096),
        (GROQ, None, 4096),
    ],
)
async def test_a_cap_that_is_too_large_is_lowered_to_what_is_left_for_that_call(
    server: ModelServer, message: str, param: str | None, cap: int
) -> None:
    server.script(refused(400, message=message, param=param))
    async with opened_models(server.base_url) as models:
        for _ in range(2):
            await models.complete(call_of("m", None, cap=6000), RecordedAttempts())
    assert [body["max_tokens"] for body in server.requests] == [6000, cap, 6000]


LLAMA_FULL = {
    "error": {
        "code": 400,
        "message": "request (25837 tokens) exceeds the available context size (8192 tokens), try "
        "increasing it",
        "type": "exceed_context_size_error",
        "n_prompt_tokens": 25837,
        "n_ctx": 8192,
    }
}
PYTHON_FULL = {
    "error": {
        "message": "This model's maximum context length is 512 tokens. However, you requested 1100 "
        "tokens (600 in the messages, 500 in the completion).",
        "type": "invalid_request_error",
        "param": "messages",
        "code": "context_length_exceeded",
    }
}


@pytest.mark.parametrize(
    ("who", "act"),
    [
        ("llama.cpp", failure(400, LLAMA_FULL)),
        ("llama.cpp, before", failure(500, LLAMA_FULL)),
        ("llama-cpp-python", failure(400, PYTHON_FULL)),
        ("Anthropic", refused(400, message="prompt is too long: 9 tokens > 8 maximum")),
        ("OpenAI", refused(400, message="no", code="context_length_exceeded")),
        ("no room at all", refused(400, message=VLLM.replace("2778", "8100"))),
    ],
)
async def test_a_full_context_is_its_own_fault(server: ModelServer, who: str, act: Act) -> None:
    server.always(act)
    log = RecordedAttempts()
    with pytest.raises(ModelError, match=r"context too short .*--replace-model.*fewer rounds"):
        await ask(server.base_url, log)
    assert [one.fault for one in log.attempts] == [FaultKind.CONTEXT], who
    assert log.costs == [0.0]


async def test_an_answer_that_a_lowered_cap_left_no_room_for_is_a_full_context(
    server: ModelServer,
) -> None:
    server.script(refused(400, message=VLLM), acts.empty("length"))
    log = RecordedAttempts()
    async with opened_models(server.base_url) as models:
        with pytest.raises(ModelError, match="--replace-model"):
            await models.complete(call_of("m", None, cap=6000), log)
    assert len(server.requests) == 2
    assert log.attempts[-1].usage.tokens_in is not None  # it was billed


async def test_a_server_that_is_one_s_own_gets_few_calls_and_much_time(server: ModelServer) -> None:
    own = Backend.of("x", base_url=server.base_url, local=True)
    assert (own.max_concurrency, own.timeout_s) == (4, 600)
    given = Backend.of("x", base_url=server.base_url, local=True, max_concurrency=9, timeout_s=9)
    assert (given.max_concurrency, given.timeout_s) == (9, 9)
    cloud = Backend.of("x", base_url=server.base_url)
    assert (cloud.max_concurrency, cloud.timeout_s) == (256, 300)


@pytest.mark.slow
async def test_a_server_that_answers_one_call_at_a_time_is_caught_up_with() -> None:
    async with queueing(answer_s=0.4) as base_url:
        given: dict[str, Any] = {"max_concurrency": 8, "timeout_s": 1.0, "local": True}
        patient = RetryPolicy(tries=8, first_wait=0.01, longest_wait=0.01)
        async with opened_models(base_url, patient, **given) as models:
            calls = (models.complete(call_of("m"), RecordedAttempts()) for _ in range(8))
            assert len(await asyncio.gather(*calls)) == 8


async def at_once(gate: Gate) -> int:
    """Return how many of eight tries begin."""
    over, begun = asyncio.Event(), list[int]()

    async def begin(number: int) -> None:
        async with gate:
            begun.append(number)
            await over.wait()

    tries = [asyncio.create_task(begin(number)) for number in range(8)]
    for _ in range(50):  # turns of the loop, of which a try takes few
        await asyncio.sleep(0)
    found = len(begun)
    over.set()
    await asyncio.gather(*tries)
    return found


async def test_calls_at_once_fall_after_two_deadlines_and_rise_after_twenty_answers() -> None:
    gate = Gate(Backend.of("x", base_url="http://127.0.0.1:1", max_concurrency=4), Pace())
    began, found = perf_counter(), []
    for late in ([True, False, True, True], [True] * 4, [True] * 2, [False] * 19, [False]):
        for one in late:
            gate.ended(perf_counter(), late=one)
        found.append(await at_once(gate))
    assert found == [2, 1, 1, 1, 2]
    for _ in range(4):
        gate.ended(began, late=True)  # they began before anything changed
    assert await at_once(gate) == 2


@pytest.mark.parametrize("header", ["retry-after", "llm_provider-retry-after"])
async def test_a_gateway_s_wait_is_obeyed(server: ModelServer, header: str) -> None:
    server.script(Act(status=429, headers={header: "0.3"}, body=b"{}"))
    began = perf_counter()
    await ask(server.base_url)
    assert perf_counter() - began >= 0.3


def test_a_limit_by_the_minute_is_waited_for_longer_than_a_minute() -> None:
    policy, limited = RetryPolicy(), CallFault("", kind=FaultKind.LIMITED)
    waits = [wait_after(limited, failures, policy) for failures in range(1, 12)]
    assert sum(wait for wait in waits if wait) * 0.75 / 1.25 > 45
    least = sum(policy.wait(n, 0.0) for n in range(1, 1 + sum(wait is not None for wait in waits)))
    assert least > 60
    busy = CallFault("", kind=FaultKind.OVERLOADED)
    assert wait_after(busy, policy.tries, policy) is None


async def test_litellm_states_what_a_call_cost_in_a_header(server: ModelServer) -> None:
    body = {"choices": [{"message": {"content": SPEECH}}], "usage": {"prompt_tokens": 9}}
    stated = {"x-litellm-response-cost": "0.0125"}
    server.script(Act(headers=stated, body=orjson.dumps(body)))
    assert (await ask(server.base_url, preset="litellm")).cost == 0.0125
    server.script(Act(headers={"x-litellm-response-cost": "0.0"}, body=orjson.dumps(body)))
    assert (await ask(server.base_url, preset="litellm")).cost is None


async def test_litellm_s_prices_come_from_its_own_page(server: ModelServer) -> None:
    about = {"input_cost_per_token": 2e-6, "output_cost_per_token": 4e-6}
    dearer = {**about, "output_cost_per_token": 8e-6, "cache_read_input_token_cost": 1e-6}
    server.model_info = [
        {"model_name": "m", "model_info": about},
        {"model_name": "m", "model_info": dearer},
        {"model_name": "other", "model_info": {"input_cost_per_token": None}},
    ]
    async with opened_models(server.base_url, preset="litellm") as models:
        price = some(await models.price(Model.parse("online/m")))
        assert (price.usd_in, price.usd_out, price.usd_cached) == (2, 8, 1)
        assert await models.price(Model.parse("online/other")) is None


@pytest.mark.parametrize(("wait", "cost"), [(0.0, 0.0), (1.2, None)])
async def test_a_server_error_within_a_second_costs_nothing(
    server: ModelServer, wait: float, cost: float | None
) -> None:
    server.script(replace(refused(500, message="no"), wait=wait))
    log = RecordedAttempts()
    await ask(server.base_url, log)
    assert log.costs[0] == cost
