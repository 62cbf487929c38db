"""Secrets taken out of recorded sessions, as on import but for addresses that are nobody's."""

from __future__ import annotations

import re

from ctxsift.secret_kinds import Where
from ctxsift.sessions.redacting import Redactor
from tools.record.journal import Taken

# Domains that nobody can own (RFC 2606): addresses there are nobody's.
_NOBODYS = re.compile(r"@(?=(?:[\w-]+\.)*?(?:example\.(?:com|net|org)|[\w-]+\.(?:example|invalid|test))\b)")
_HELD_BACK = "\ue000"


class PublicRedactor(Redactor):
    """Takes secrets out; addresses that are nobody's stay, as projects have them in tests and commits."""

    def text(self, text: str, *, where: Where = Where.TEXT) -> str:
        """Return a text without secrets."""
        return super().text(_NOBODYS.sub(_HELD_BACK, text), where=where).replace(_HELD_BACK, "@")


def changed_call(step: Taken) -> bool:
    """Return True if secrets would be taken out of the arguments of a step, so that it could not be replayed."""
    return PublicRedactor().value(step.arguments) != step.arguments
