"""Every parser of what comes in."""

from tests.fuzz.targets.discord import DISCORD
from tests.fuzz.targets.exports import EXPORTS
from tests.fuzz.targets.models import MODELS
from tests.fuzz.targets.slack import SLACK
from tests.fuzz.targets.texts import TEXTS
from tests.fuzz.targets.web import WEB

TARGETS = (*MODELS, *TEXTS, *EXPORTS, *WEB, *SLACK, *DISCORD)
