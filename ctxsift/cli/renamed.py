"""Options under the names that they had: taken for one release, and told."""

from __future__ import annotations

import argparse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


def renaming(old: str, new: str) -> str:
    """Return what is told of whoever gives the old name."""
    return f"{old} is now {new}; the next version will not know it"


def add_old_name(
    options: argparse._ActionsContainer, old: str, now: argparse.Action, told: Callable[[str], None]
) -> None:
    """Take an option under its old name too, which no help shows.

    Args:
        options: where the option was added.
        old: name, dashes included.
        now: the option.
        told: called with what is to be said where the old name is given.

    """
    options.add_argument(old, action=_OldName, now=now, told=told, dest=now.dest)


class _OldName(argparse.Action):
    """Does what the option does under its own name."""

    def __init__(self, option_strings: list[str], dest: str, now: argparse.Action, told: Callable[[str], None]) -> None:
        known = dict(nargs=now.nargs, type=now.type, choices=now.choices, metavar=now.metavar)
        super().__init__(option_strings, dest, default=argparse.SUPPRESS, help=argparse.SUPPRESS, **known)  # type: ignore[arg-type]
        self._now, self._told = now, told

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: Any,
        option_string: str | None = None,
    ) -> None:
        """Say so, and store the value."""
        self._told(renaming(self.option_strings[0], self._now.option_strings[0]))
        self._now(parser, namespace, values, option_string)
