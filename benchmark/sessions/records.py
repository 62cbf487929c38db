"""What stands beside a recorded session: where it comes from, and the truth about its files, step by step."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from ctxsift.strict_json import learn

Sha256 = Annotated[str, Meta(pattern="^[0-9a-f]{64}$")]
# `test`: used for no tuning of methods, index or judges, and looked at once.
Split = Literal["dev", "test"]


class _Record(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Refuses keys that it does not know."""


class Changes(_Record, frozen=True, kw_only=True, omit_defaults=True):
    """What `git diff --name-status` says; paths are those of the project's folder, sorted.

    Attributes:
        renamed: old and new path; at least half of the content is the same.

    """

    created: tuple[str, ...] = ()
    modified: tuple[str, ...] = ()
    deleted: tuple[str, ...] = ()
    renamed: tuple[tuple[str, str], ...] = ()


class StepTruth(_Record, frozen=True, kw_only=True):
    """The files after one step; what the project's .gitignore leaves out is not among them.

    Attributes:
        step_id: as in the session.
        seconds: that its call took.
        tree: git's id of all files with their contents.
        since_start, since_previous: against the files before the first step, and before this one.

    """

    step_id: int
    seconds: float
    tree: str
    since_start: Changes
    since_previous: Changes


class Provenance(_Record, frozen=True, kw_only=True):
    """Where a session comes from, and what it takes to replay it.

    Attributes:
        name: of the project, and of its folder.
        licence: SPDX identifier, of the project and the session.
        began, ended: ISO 8601, UTC.
        system: distribution, kernel, processor.
        versions: of the programs that its commands name, as each tells them.
        environment, search, tools: variables, folders in PATH and mounted folders that commands had, below the home.
        redacted: kinds of secrets taken out, with how many; in `redacted_steps`.
        varies: patterns of paths whose content differs from run to run, so that a replay may differ, too.
        files: path to mode and git's id of its content, after the last step.
        sha256: of the other files of the folder.

    """

    name: str
    split: Split
    licence: str
    began: str
    ended: str
    system: str
    versions: dict[str, str]
    environment: dict[str, str]
    search: list[str]
    tools: list[str]
    steps: int
    redacted: dict[str, int]
    redacted_steps: list[int]
    varies: list[str]
    files: dict[str, str]
    sha256: dict[str, Sha256]


for _kind in (StepTruth, Provenance):
    learn(_kind)
