"""What Slack refuses of a message or a view: sizes and shapes, by its documentation."""

from __future__ import annotations

import json
from collections.abc import Iterable

from tests.doubles.slack.refusals import Json, Refusal
from tests.doubles.slack.state import texts

MOST_TEXT, SPLIT_TEXT = 40_000, 4_000
MOST_BLOCKS, MOST_VIEW_BLOCKS = 50, 100
MOST_MARKDOWN, MOST_TOGETHER = 12_000, 13_200
MOST_VIEW_BYTES = 250_000
SIZES = {"section": 3000, "header": 150}
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
    if len(text) > MOST_TEXT:
        raise Refusal("msg_too_long")
    if len(text) > SPLIT_TEXT:
        raise Refusal("msg_too_long", detail="Slack would split this text")
    check_blocks(blocks, MOST_BLOCKS)
    together = len(text) + sum(len(t) for t in texts(blocks))
    if together > MOST_TOGETHER:
        raise Refusal("msg_blocks_too_long")
    if metadata is not None and not {"event_type", "event_payload"} <= metadata.keys():
        raise Refusal("invalid_metadata_format")


def check_blocks(blocks: list[Json], most: int) -> None:
    """Refuse blocks that are too many, too long or misshapen."""
    if len(blocks) > most:
        raise Refusal("invalid_blocks")
    if sum(len(b.get("text", "")) for b in blocks if b.get("type") == "markdown") > MOST_MARKDOWN:
        raise Refusal("msg_blocks_too_long")
    ids = [block["block_id"] for block in blocks if "block_id" in block]
    _must(len(ids) == len(set(ids)), "a block_id is used twice")
    for block in blocks:
        _check_block(block)


def check_view(view: Json) -> None:
    """Refuse a view that is too large or misshapen."""
    if len(json.dumps(view).encode()) > MOST_VIEW_BYTES:
        raise Refusal("view_too_large")
    _must(view.get("type") in ("modal", "home"), "a view is a modal or home")
    for name in ("title", "submit", "close"):
        if name in view:
            _must(0 < len(view[name]["text"]) <= 24, f"{name} has 1 to 24 characters")
    _must(len(view.get("private_metadata", "")) <= 3000, "private_metadata is too long")
    check_blocks(view.get("blocks", []), MOST_VIEW_BLOCKS)


def _check_block(block: Json) -> None:
    kind = block.get("type")
    _must(kind in KINDS, f"there is no block {kind}")
    if kind == "markdown":
        _must(bool(block.get("text", "").strip()), "markdown needs text")
    if kind in SIZES:
        said = block.get("text", {}).get("text", "")
        _must(0 < len(said) <= SIZES[kind], f"{kind} has 1 to {SIZES[kind]} characters")
    if kind == "context":
        _must(1 <= len(block["elements"]) <= 10, "context has 1 to 10 elements")
        _must(all(e.get("text") for e in block["elements"]), "an element needs text")
    if kind == "actions":
        _must(1 <= len(block["elements"]) <= 25, "actions has 1 to 25 elements")
        _check_buttons(block["elements"])
    if kind == "input":
        _must(0 < len(block["label"]["text"]) <= 2000, "label has 1 to 2000 characters")
        hint = block.get("hint", {"text": "-"})["text"]
        _must(0 < len(hint) <= 2000, "a hint has 1 to 2000 characters")
        _check_element(block["element"])


def _check_buttons(elements: Iterable[Json]) -> None:
    ids = [element.get("action_id", "") for element in elements]
    _must(len(ids) == len(set(ids)), "an action_id is used twice")
    for element in elements:
        if element["type"] == "static_select":
            _check_element(element)
            continue
        _must(0 < len(element["text"]["text"]) <= 75, "a button has 1 to 75 characters")
        _must(0 < len(element["action_id"]) <= 255, "an action_id has 1 to 255 characters")
        _must(len(element.get("value", "")) <= 2000, "a value has up to 2000 characters")


def options_of(element: Json) -> list[Json]:
    """Return what a list offers, in groups or not."""
    groups = element.get("option_groups")
    if groups is None:
        return list(element.get("options", ()))
    return [option for group in groups for option in group["options"]]


def _check_element(element: Json) -> None:
    _must(0 < len(element["action_id"]) <= 255, "an action_id has 1 to 255 characters")
    inside = element.get("placeholder", {"text": "-"})["text"]
    _must(0 < len(inside) <= 150, "a placeholder has 1 to 150 characters")
    if element["type"] == "plain_text_input":
        _must(element.get("initial_value") != "", "an initial value has text")
        _must(element.get("max_length", 1) <= 3000, "max_length is up to 3000")
    if "static_select" in element["type"]:
        _check_list(element)


def _check_list(element: Json) -> None:
    _must(("options" in element) != ("option_groups" in element), "options or groups of them")
    groups = element.get("option_groups", ())
    _must(len(groups) <= 100, "a select has up to 100 groups")
    for group in groups:
        _must(0 < len(group["label"]["text"]) <= 75, "a group's label has 1 to 75 characters")
    for options in [group["options"] for group in groups] or [element["options"]]:
        _must(1 <= len(options) <= 100, "a select has 1 to 100 options in a group")
    for option in options_of(element):
        _must(0 < len(option["text"]["text"]) <= 75, "an option has 1 to 75 characters")
        _must(0 < len(option["value"]) <= 150, "an option's value has 1 to 150 characters")
    shown = [element.get("initial_option"), *element.get("initial_options", ())]
    offered = options_of(element)
    _must(all(one in offered for one in shown if one), "an initial option is one of the options")


def _must(held: bool, why: str) -> None:
    if not held:
        raise Refusal("invalid_blocks", response_metadata={"messages": [why]})
