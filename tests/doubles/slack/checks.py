"""What Slack refuses of a message or a view: sizes and shapes, by its documentation."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sized

from tests.doubles.facts import Slack
from tests.doubles.slack.refusals import Json, Refusal
from tests.doubles.slack.state import texts

SIZES = {"section": Slack.SECTION, "header": Slack.HEADER}
KINDS = {
    "actions",
    "context",
    "divider",
    "header",
    "image",
    "input",
    "markdown",
    "rich_text",
    "section",
}


def check_message(text: str, blocks: list[Json], metadata: Json | None) -> None:
    """Refuse a message that Slack would refuse, or cut or split."""
    if not text and not blocks:
        raise Refusal("no_text")
    if len(text) > Slack.TEXT:
        raise Refusal("msg_too_long")
    if len(text) > Slack.SPLIT_TEXT:
        raise Refusal("msg_too_long", detail="Slack would split this text")
    check_blocks(blocks, Slack.BLOCKS)
    together = len(text) + sum(len(t) for t in texts(blocks))
    if together > Slack.TOGETHER:
        raise Refusal("msg_blocks_too_long")
    if metadata is not None and not {"event_type", "event_payload"} <= metadata.keys():
        raise Refusal("invalid_metadata_format")


def check_blocks(blocks: list[Json], most: int) -> None:
    """Refuse blocks that are too many, too long or misshapen."""
    if len(blocks) > most:
        raise Refusal("invalid_blocks")
    if sum(len(b.get("text", "")) for b in blocks if b.get("type") == "markdown") > Slack.MARKDOWN:
        raise Refusal("msg_blocks_too_long")
    ids = [block["block_id"] for block in blocks if "block_id" in block]
    _must(len(ids) == len(set(ids)), "a block_id is used twice")
    for block in blocks:
        _check_block(block)


def check_view(view: Json) -> None:
    """Refuse a view that is too large or misshapen."""
    if len(json.dumps(view).encode()) > Slack.VIEW_BYTES:
        raise Refusal("view_too_large")
    _must(view.get("type") in ("modal", "home"), "a view is a modal or home")
    for name in ("title", "submit", "close"):
        if name in view:
            _fits(view[name]["text"], Slack.VIEW_TITLE, name)
    _must(len(view.get("private_metadata", "")) <= Slack.METADATA, "private_metadata is too long")
    check_blocks(view.get("blocks", []), Slack.VIEW_BLOCKS)


def _check_block(block: Json) -> None:
    kind = block.get("type")
    _must(kind in KINDS, f"there is no block {kind}")
    if kind == "markdown":
        _must(bool(block.get("text", "").strip()), "markdown needs text")
    if kind in SIZES:
        _fits(block.get("text", {}).get("text", ""), SIZES[kind], kind)
    if kind == "context":
        _fits(block["elements"], Slack.CONTEXT_ELEMENTS, "context")
        _must(all(e.get("text") for e in block["elements"]), "an element needs text")
    if kind == "actions":
        _fits(block["elements"], Slack.ACTION_ELEMENTS, "actions")
        _check_buttons(block["elements"])
    if kind == "input":
        _fits(block["label"]["text"], Slack.LABEL, "label")
        hint = block.get("hint", {"text": "-"})["text"]
        _fits(hint, Slack.LABEL, "a hint")
        _check_element(block["element"])


def _check_buttons(elements: Iterable[Json]) -> None:
    ids = [element.get("action_id", "") for element in elements]
    _must(len(ids) == len(set(ids)), "an action_id is used twice")
    for element in elements:
        if element["type"] == "static_select":
            _check_element(element)
            continue
        _fits(element["text"]["text"], Slack.BUTTON, "a button")
        _fits(element["action_id"], Slack.ACTION_ID, "an action_id")
        _must(
            len(element.get("value", "")) <= Slack.BUTTON_VALUE,
            "a value is too long",
        )


def options_of(element: Json) -> list[Json]:
    """Return what a list offers, in groups or not."""
    groups = element.get("option_groups")
    if groups is None:
        return list(element.get("options", ()))
    return [option for group in groups for option in group["options"]]


def _check_element(element: Json) -> None:
    _fits(element["action_id"], Slack.ACTION_ID, "an action_id")
    inside = element.get("placeholder", {"text": "-"})["text"]
    _fits(inside, Slack.PLACEHOLDER, "a placeholder")
    if element["type"] == "plain_text_input":
        _must(element.get("initial_value") != "", "an initial value has text")
        _must(element.get("max_length", 1) <= Slack.INPUT, f"max_length is up to {Slack.INPUT}")
    if "static_select" in element["type"]:
        _check_list(element)


def _check_list(element: Json) -> None:
    _must(("options" in element) != ("option_groups" in element), "options or groups of them")
    groups = element.get("option_groups", ())
    _must(len(groups) <= Slack.OPTIONS, f"a select has up to {Slack.OPTIONS} groups")
    for group in groups:
        _fits(group["label"]["text"], Slack.OPTION, "a group's label")
    for options in [group["options"] for group in groups] or [element["options"]]:
        _fits(options, Slack.OPTIONS, "a select")
    for option in options_of(element):
        _fits(option["text"]["text"], Slack.OPTION, "an option")
        _fits(option["value"], Slack.OPTION_VALUE, "an option's value")
    shown = [element.get("initial_option"), *element.get("initial_options", ())]
    offered = options_of(element)
    _must(all(one in offered for one in shown if one), "an initial option is one of the options")


def _fits(value: Sized, most: int, what: str) -> None:
    _must(0 < len(value) <= most, f"{what} has 1 to {most} characters or parts")


def _must(held: bool, why: str) -> None:
    if not held:
        raise Refusal("invalid_blocks", response_metadata={"messages": [why]})
