"""Lines of a summary about files that are gone."""

from __future__ import annotations

import pytest

from ctxsift.sessions.artifacts.records import Action, Artifacts, FileEntry, FileState, Touch
from ctxsift.sessions.compaction.gone import Gone
from ctxsift.sessions.compaction.records import SummaryEntry
from ctxsift.sessions.compaction.weights import names_in


def entry_of(text: str, step_id: int, *, by_user: bool = False) -> SummaryEntry:
    return SummaryEntry("State", text, 1.0, step_id, by_user, names=names_in(text))


def file_of(path: str, state: FileState, step_id: int) -> FileEntry:
    return FileEntry(path, state, (Touch(step_id, Action.WRITTEN),))


ARTIFACTS = Artifacts(
    files=(
        file_of("app/docs/plan.md", FileState.CREATED_AND_REMOVED, 40),
        file_of("app/src/main-new.ts", FileState.RENAMED_AWAY, 50),
        file_of("app/src/main.ts", FileState.RENAMED, 50),
        file_of("app/src/ui/table.ts", FileState.RENAMED_AWAY, 60),
        file_of("app/src/ui/list.ts", FileState.RENAMED_AWAY, 60),
        file_of("app/src/parts/table.ts", FileState.RENAMED, 60),
        file_of("app/lib/old.ts", FileState.DELETED, 70),
        file_of("app/lib/new.ts", FileState.MODIFIED, 70),
        file_of("app/one/only.ts", FileState.DELETED, 70),
        file_of("app/tmp/config.ts", FileState.DELETED, 70),
        file_of("app/src/config.ts", FileState.MODIFIED, 70),
    )
)


@pytest.mark.parametrize(
    "text",
    [
        "Next: update `plan.md` when a step is done.",
        "The plan stands in docs/plan.md",
        "The entry point stays at `src/main-new.ts`.",
        "Components stay in `src/ui/`, both entries use them.",
        "Components stay in src/ui for now.",
    ],
)
def test_what_was_said_of_a_file_before_it_went_is_no_state(text: str) -> None:
    assert not list(Gone(ARTIFACTS).said_before([entry_of(text, 12)]))


@pytest.mark.parametrize(
    ("text", "step_id"),
    [
        # Said when it went, or later.
        ("Removed docs/plan.md, since everything in it is done.", 40),
        ("`src/main-new.ts` was the entry point until today.", 55),
        # Something that is there stands beside it.
        ("`src/main-new.ts` takes over from `src/main.ts`.", 12),
        # A file of that name is there, or the folder still has files.
        ("`config.ts` reads the environment.", 12),
        ("`table.ts` draws borders.", 12),
        ("Helpers belong in `lib/`.", 12),
        ("Keep app/one/ for later.", 12),
        # A word, not a folder.
        ("The ui is slow on old machines.", 12),
        # Nobody knows when it was said.
        ("The plan stands in docs/plan.md", 0),
    ],
)
def test_what_may_still_hold_stays(text: str, step_id: int) -> None:
    entry = entry_of(text, step_id)
    assert list(Gone(ARTIFACTS).said_before([entry])) == [entry]


def test_the_user_may_speak_of_what_is_gone() -> None:
    order = entry_of("Never bring back docs/plan.md.", 12, by_user=True)
    assert list(Gone(ARTIFACTS).said_before([order])) == [order]
