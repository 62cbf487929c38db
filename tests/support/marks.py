"""Marks of documents whose figures are made: `<!-- NAME: make tables -->`, a table, `<!-- end of NAME -->`.

A figure within a sentence stands between `<!--NAME-->` and `<!--/-->`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

BLOCK = re.compile(
    r"(?P<begin><!-- (?P<name>[\w ]+): make tables -->\n).*?(?P<end><!-- end of (?P=name) -->\n)", re.DOTALL
)
INLINE = re.compile(r"(?P<begin><!--(?P<name>[\w ]+)-->)[^<]*(?P<end><!--/-->)")


def renewed(document: str, found: Mapping[str, str]) -> str:
    """Return a document with these texts between its marks. Raises KeyError for a mark without one."""
    document = BLOCK.sub(lambda mark: f"{mark['begin']}{found[mark['name']].strip()}\n{mark['end']}", document)
    return INLINE.sub(lambda mark: f"{mark['begin']}{found[mark['name']]}{mark['end']}", document)
