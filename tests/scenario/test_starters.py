"""Who may start debates: some roles on Discord, some user groups on Slack, and managers."""

from tests.doubles.discord.state import Role
from tests.doubles.facts import Slack
from tests.scenario.chat_stage import Chat, OnDiscord
from tests.scenario.test_suggested_topics import change

MAY_NOT = "and you are in none of them"
GROUP = "S0123ABC"


def set_up(chat: Chat) -> str:
    """Let ben be in a group; return its id."""
    if isinstance(chat, OnDiscord):
        guild = chat.discord.guild
        role = Role(chat.discord.world.new_id(), "hosts", 0)
        guild.roles[role.id] = role
        guild.members[chat.discord.users["ben"].id].add(role.id)
        return role.id
    chat.slack.world.groups[GROUP] = ("ben",)
    chat.slack.rules.scopes = (*Slack.SCOPES, "usergroups:read")
    return GROUP


async def test_only_members_of_a_group_and_managers_start_debates(chat: Chat) -> None:
    group = set_up(chat)
    async with chat.stage.process() as app:
        if not isinstance(chat, OnDiscord):  # a manager reads at once what is missing
            chat.slack.rules.scopes = Slack.SCOPES
            assert "usergroups:read" in await change(chat, "starters", GROUP)
            assert "is not a setting" not in await change(chat, "starters", "default")
            set_up(chat)
            assert "has no user group S404" in await change(chat, "starters", "S404")
        assert f"`starters`: {group} (set here)" in await change(chat, "starters", group)
        assert MAY_NOT in await chat.start("ada")
        assert await app.store.listings.recent() == []
        # Everything else stays open to everyone.
        assert "is suggested" in (await chat.give("ada", "suggest", topic="Tea or milk")).text
        for user in ("ben", "olga"):
            assert MAY_NOT not in await chat.start(user, topic=f"Tea, says {user}")
        assert len(await app.store.listings.recent()) == 2
    async with chat.stage.process():  # which has read no group yet
        if not isinstance(chat, OnDiscord):
            chat.slack.rules.scopes = Slack.SCOPES
            chat.slack.world.user("ada").locale = "tr-TR"
            refused = await chat.give("ada", "start", topic="Tea")
            assert "şu anda okunamıyor" in refused.text
            assert "usergroups:read izni eksik" in refused.text  # it was in English
