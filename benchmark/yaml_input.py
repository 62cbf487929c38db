"""YAML that people write, as values; what is wrong with it is told with its line."""

from __future__ import annotations

from typing import Any

import yaml

from ctxsift.answers.payloads import refuse_large
from ctxsift.errors import InputError

_Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def yaml_document(text: str, where: str, *, is_ours: bool = False) -> Any:
    """Return the one document of a YAML text. Raises InputError, naming `where` and the line.

    Args:
        text: the document.
        where: its file.
        is_ours: it ships with this package, so that nobody looks how large it is, or how deep.

    """
    try:
        if not is_ours:
            refuse_large(text)
        return yaml.load(text, Loader=_Loader)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise InputError(f"{where}:{line}", f"not valid YAML: {error.problem}", "fix the syntax there") from error
    except Exception as error:  # a bad tagged scalar raises whatever its constructor trips over
        raise InputError(where, f"not valid YAML: {error}", "fix the syntax") from error
