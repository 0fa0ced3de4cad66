"""Crowds that vote on a platform's double while the bot is given a hard time."""

# A vote of a minute stands for one of ten: so do Slack's minutes, by which its tiers count and
# after which it tells events again.
SLACK_MINUTE = 6.0
