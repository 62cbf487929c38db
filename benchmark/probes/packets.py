"""Questions to be answered elsewhere: a file for each reader, shuffled, in which nothing tells of a method."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from pathlib import Path

from benchmark.probes.answered import Put, PutAct, PutUnanswerable
from benchmark.probes.questions import AnswerQuestion
from ctxsift.errors import InputError
from ctxsift.files import write_atomically

_NEW_FOLDER = "name a new folder with --for-answering"


def packets_of(put: Sequence[Put | PutUnanswerable | PutAct], readers: int, seed: int) -> list[list[AnswerQuestion]]:
    """Return what each reader is asked: each session under one method alone, so that nobody carries over what he read.

    Equal contexts of several methods are asked about once. Questions about one context follow each other.

    Args:
        put: the questions.
        readers: how many there are.
        seed: of the order, and of who reads what.

    Raises:
        InputError: a session has more contexts than there are readers.

    """
    drawn = random.Random(seed)
    contexts: dict[str, dict[str, list[AnswerQuestion]]] = {}
    for each in put:
        of_session = contexts.setdefault(f"{each.subject.name} {each.at}", {})
        of_session.setdefault(each.asked.context, []).append(each.asked)
    most = max(map(len, contexts.values()), default=0)
    if most > readers:
        hint = f"give --readers {most}, or fewer --methods"
        raise InputError(
            f"--readers {readers}", f"a session is compacted by {most} methods, and each method needs a reader", hint
        )
    found: list[list[list[AnswerQuestion]]] = [[] for _ in range(readers)]
    for of_session in contexts.values():
        for reader, context in zip(drawn.sample(range(readers), len(of_session)), of_session.values(), strict=True):
            questions = list({each.question_id: each for each in context}.values())
            found[reader].append(drawn.sample(questions, len(questions)))
    for packets in found:
        drawn.shuffle(packets)
    return [[each for packet in packets for each in packet] for packets in found]


def check_folder(folder: Path) -> None:
    """Raise InputError where files for readers must not go: a folder in which something is, or no folder at all.

    Answers fit the questions that were asked, so that no other ones may take their place unseen.
    """
    try:
        is_free = not any(folder.iterdir())
    except FileNotFoundError:
        return
    except OSError as error:
        raise InputError(str(folder), f"cannot be used ({error.strerror or error})", _NEW_FOLDER) from error
    if not is_free:
        raise InputError(str(folder), "is not empty", f"{_NEW_FOLDER}, or empty it")


def write_packets(folder: Path, packets: Sequence[Sequence[AnswerQuestion]]) -> list[Path]:
    """Write a file for each reader, and return their paths. Raises OSError."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / f"reader-{number}.jsonl" for number in range(1, len(packets) + 1)]
    for path, questions in zip(paths, packets, strict=True):
        write_atomically(path, "".join(f"{json.dumps(_line(each), ensure_ascii=False)}\n" for each in questions))
    return paths


def _line(asked: AnswerQuestion) -> dict[str, str | int]:
    return {"id": asked.question_id, "context": asked.context, "question": asked.question, "words": asked.words}
