"""The doubles of Discord and of a model server, to try the bot by hand.

`.venv/bin/python -m tests.doubles.by_hand | tee .env` from the checkout's root, once `make test`
has set up what it needs; then `rostrum run` beside it. CONTRIBUTING.md says how to type a command.
"""

import asyncio

from adapters.models.rehearsal import structured_answer
from adapters.models.scenes import RehearsalOptions, Scene
from engine.values.debate import Model, Sampling
from engine.values.ports import AnswerSchema, Call, ChatMessage
from tests.doubles.discord.remote import DiscordControl
from tests.doubles.discord.server import DiscordServer
from tests.doubles.model_server import Body, ModelServer

SPEAKERS, JURORS = ("plain", "other"), ("ann", "bob", "cem")


def respond(body: Body) -> str:
    """Speak, or fill in the form that is asked for."""
    asked = body.get("response_format", {}).get("json_schema")
    if asked is None:
        return "It is quicker, it is cheaper, and nobody has shown otherwise. " * 8
    messages = tuple(ChatMessage(role="user", content=str(m["content"])) for m in body["messages"])
    model, sampling = Model.parse(f"near/{body['model']}"), Sampling(temperature=0, max_tokens=500)
    schema = AnswerSchema(asked["name"], asked["schema"])
    call = Call("by hand", model, messages, sampling, schema)
    return structured_answer(call, schema, Scene.of(call), RehearsalOptions.of(model.name))


async def main() -> None:
    """Serve until Ctrl-C, and print the settings that name both."""
    async with ModelServer(respond) as models:
        discord = DiscordServer()
        models.models = [{"id": name} for name in (*SPEAKERS, *JURORS)]
        await discord.start(app=DiscordControl(discord).app())
        print(f"ROSTRUM_BACKENDS__NEAR__BASE_URL={models.base_url}")
        print("ROSTRUM_BACKENDS__NEAR__LOCAL=true")
        print(f"ROSTRUM_MODELS={','.join(f'near/{name}' for name in SPEAKERS)}")
        print(f"ROSTRUM_JURORS={','.join(f'near/{name}' for name in JURORS)}")
        print(f"ROSTRUM_DISCORD__API_URL={discord.api_url}")
        print(f"ROSTRUM_DISCORD__TOKEN={discord.token}", flush=True)
        await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main())
