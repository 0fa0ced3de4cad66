"""The wording of messages in a thread, as Markdown for every platform."""
