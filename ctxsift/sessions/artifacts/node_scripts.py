"""Which files a short script for Node reads, writes and removes, by its calls."""

from __future__ import annotations

import re

from ctxsift.sessions.artifacts.scripts import MOST_SOURCE, FileOp, OpKind

_JS_TEXT = r"""(?:'((?:[^'\\\n]|\\.)*)'|"((?:[^"\\\n]|\\.)*)"|`([^`$\\]*)`)"""
_JS_NAME = re.compile(rf"\b(?:const|let|var)\s+(\w+)\s*=\s*{_JS_TEXT}")
_JS_LIST = re.compile(r"\b(?:const|let|var)\s+(\w+)\s*=\s*\[([^\]]{0,4000})\]")
_JS_LOOP = re.compile(
    r"for\s*\(\s*(?:const|let|var)\s+(\w+)\s+of\s+(?:\[([^\]]{0,4000})\]|(\w+))"
    r"|(?:\[([^\]]{0,4000})\]|\b(\w+))\.forEach\(\s*(?:async\s*)?\(?\s*(\w+)"
)
_JS_CALL = re.compile(rf"\b(\w+?)(?:Sync)?\(\s*({_JS_TEXT}|\w+)")
_JS_KINDS = {
    "readFile": OpKind.READ, "writeFile": OpKind.WRITE, "appendFile": OpKind.APPEND, "unlink": OpKind.DELETE,
    "rm": OpKind.DELETE, "createWriteStream": OpKind.WRITE,
}  # fmt: skip


def javascript_ops(source: str) -> list[FileOp]:
    """Return what a script for Node does with files that it spells out; loops over lists of paths included."""
    if len(source) > MOST_SOURCE:
        return []
    names = {match[1]: _texts(match[0])[:1] for match in _JS_NAME.finditer(source)}
    names |= {match[1]: _texts(match[2]) for match in _JS_LIST.finditer(source)}
    for match in _JS_LOOP.finditer(source):
        variable, inside, listed = match[1] or match[6], match[2] or match[4], match[3] or match[5]
        names[variable] = _texts(inside) if inside is not None else names.get(listed or "", [])

    return [
        FileOp(_JS_KINDS[match[1]], path)
        for match in _JS_CALL.finditer(source)
        if match[1] in _JS_KINDS
        for path in (names.get(match[2], []) if match[2].isidentifier() else _texts(match[2]))
    ]


def _texts(source: str) -> list[str]:
    return ["".join(match) for match in re.findall(_JS_TEXT, source)]
