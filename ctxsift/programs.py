"""A compressor that is a program: how it is called, what it is told, and where it is found."""

from __future__ import annotations

import dataclasses
import hashlib
import os
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum, auto
from pathlib import Path
from typing import Annotated, TypeAlias

from msgspec import Meta

DEFAULT_TIMEOUT_S = 60.0
MOST_TIMEOUT_S = 3600.0
LEAST_TIMEOUT_S = 0.1
ExitCode = Annotated[int, Meta(ge=0, le=255)]
_SHELLS = frozenset({"sh", "bash", "dash", "zsh", "ksh", "fish"})
# `-c`, and options that are written together with it (`-ec`).
_RUNS_SCRIPT = re.compile(r"-[A-Za-z]*c\Z")
_CHANGES_NO_ANSWER = {"changes_answer": False}
_FILE_HERE = re.compile(r"\.{1,2}/")


class AnyCode(StrEnum):
    """For wrappers, which end with the exit code of what they ran."""

    ANY = auto()


OkExitCodes: TypeAlias = tuple[ExitCode, ...] | AnyCode


class Placeholder(StrEnum):
    """What is replaced in the arguments of a program; other braces are its own."""

    INSTRUCTION = auto()
    COMMAND = auto()
    EXIT_CODE = auto()
    INTENT = auto()
    INPUT_FILE = auto()


_PLACEHOLDER = re.compile("{(" + "|".join(Placeholder) + ")}")


class Stdin(StrEnum):
    """What a program reads on standard input."""

    OUTPUT = auto()
    JSON = auto()
    NONE = auto()


@dataclass(frozen=True)
class Program:
    """How a program is called.

    Attributes:
        command: the program and its arguments, with placeholders; a word that begins with `./` or `../` names a file
            from the folder in which we were started.
        stdin: the raw output to its byte, or a JSON object of it and what is known, or nothing.
        output_pointer: JSON pointer to the answer in a reply that is JSON; None where the reply is the answer.
        env: variables beside those of every program; see `environment`.
        timeout_s: seconds that one answer may take.
        ok_exit_codes: with which its reply is an answer.
        version_command: prints its version on the first line.
        warmup: how often it is run on a line of input, unmeasured, before the first question.
        install: how to install it, in one line, for a person.

    """

    command: tuple[str, ...]
    stdin: Stdin = Stdin.OUTPUT
    output_pointer: str | None = None
    env: dict[str, str] = field(default_factory=dict)
    timeout_s: float = DEFAULT_TIMEOUT_S
    ok_exit_codes: OkExitCodes = (0,)
    version_command: tuple[str, ...] = field(default=(), metadata=_CHANGES_NO_ANSWER)
    warmup: int = field(default=1, metadata=_CHANGES_NO_ANSWER)
    install: str | None = field(default=None, metadata=_CHANGES_NO_ANSWER)

    def is_ok(self, exit_code: int) -> bool:
        """Say whether a reply is an answer, by the exit code; negative after a signal."""
        return exit_code >= 0 and (isinstance(self.ok_exit_codes, AnyCode) or exit_code in self.ok_exit_codes)

    @property
    def answering(self) -> dict[str, object]:
        """What of it can change an answer."""
        values = dataclasses.asdict(self)
        return {each.name: values[each.name] for each in dataclasses.fields(self) if not each.metadata}


def filled(words: Sequence[str], values: Mapping[Placeholder, str]) -> list[str]:
    """Return the words with every placeholder replaced, once: what is put in is not looked at again."""
    return [_PLACEHOLDER.sub(lambda found: values[Placeholder(found[1])], word) for word in words]


def placeholder_in_script(command: Sequence[str]) -> str | None:
    """Return a placeholder in the script of a shell, where quotes in its value would break it."""
    for index, word in enumerate(command[:-1]):
        if Path(word).name in _SHELLS:
            options = range(index + 1, len(command) - 1)
            script = next((command[at + 1] for at in options if _RUNS_SCRIPT.match(command[at])), "")
            if found := _PLACEHOLDER.search(script):
                return found[0]
    return None


def variable_of(placeholder: str) -> str:
    """Return the environment variable that has the value of a placeholder, with or without its braces."""
    return f"CTXSIFT_{placeholder.strip('{}').upper()}"


def variables(values: Mapping[Placeholder, str]) -> dict[str, str]:
    """Return the values of the placeholders as environment variables."""
    return {variable_of(name): value for name, value in values.items()}


def environment(program: Program, home: Path, values: Mapping[Placeholder, str]) -> dict[str, str]:
    """Return all variables that a program is given; of ours only PATH, so that no key of a service gets there."""
    given = {
        "PATH": os.environ.get("PATH", os.defpath),
        "HOME": str(home),
        "TMPDIR": str(home.with_name("tmp")),
        "LANG": "C.UTF-8",
        "TERM": "dumb",
        "NO_COLOR": "1",
    }
    return given | variables(values) | program.env


def located(command: Sequence[str], env: Mapping[str, str]) -> list[str]:
    """Return the command with its program, and files named by `./`, as absolute paths.

    Raises:
        FileNotFoundError: one is not there; its `filename` is the word.

    """
    return [_located(word, env, is_program=index == 0) for index, word in enumerate(command)]


def _located(word: str, env: Mapping[str, str], *, is_program: bool) -> str:
    # Links are left as they are: where `python` leads to decides which packages it finds.
    if _FILE_HERE.match(word) and not Path(word).exists():
        raise FileNotFoundError(2, "No such file", word)
    if not is_program:
        return str(Path(word).absolute()) if _FILE_HERE.match(word) else word
    path = shutil.which(word, path=env.get("PATH", os.environ.get("PATH")))
    if path is None:
        raise FileNotFoundError(2, "No such program", word)
    return str(Path(path).absolute())


def hashes(command: Sequence[str], located_command: Sequence[str]) -> dict[str, str]:
    """Return the SHA-256 of the program and of each file that the command names by `./`, by the word as written."""
    return {
        word: _sha256(Path(path))
        for index, (word, path) in enumerate(zip(command, located_command, strict=True))
        if index == 0 or (_FILE_HERE.match(word) and Path(path).is_file())
    }


def _sha256(path: Path) -> str:
    digest = hashlib.sha256()
    for chunk in _chunks(path):
        digest.update(chunk)
    return digest.hexdigest()


def _chunks(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        while chunk := file.read(1 << 20):
            yield chunk
