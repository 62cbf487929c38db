"""Gathered results -> one HTML file: styles, scripts and libraries inlined, data packed, a strict security policy.

Scripts and styles run only if their hash is in the policy, so nothing that a result file says can ever run, and nothing
can be fetched. What is not needed at once is gzip in base64, unpacked by the browser when a view asks for it.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import html
import json
import re
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from string import Template
from typing import Any

import msgspec

from benchmark.viewer.board_data import detail, overview
from benchmark.viewer.case_items import case_items
from benchmark.viewer.charts import chart_pack
from benchmark.viewer.choosing_data import choosers
from benchmark.viewer.compaction_data import compaction_packs
from benchmark.viewer.page_data import Gathered, pairs, shelve
from benchmark.viewer.page_records import Pairs
from benchmark.viewer.slice_data import slice_pack
from benchmark.viewer.stress_data import stress_pack
from ctxsift.errors import InputError

FOLDER = Path(__file__).parent / "static"
_LIBRARIES = ("preact", "preact-hooks", "htm", "diff")
_ENTRY = "app.js"
# Tells pages of this program from those of others.
GENERATOR = '<meta name="generator" content="ctxsift-bench viewer">'
_BUNDLE = "import sys, vl_convert; sys.stdout.buffer.write(vl_convert.javascript_bundle().encode())"
_IMPORT = re.compile(r'^import (\{[^}]*\}) from "\./([\w-]+\.js)";$', re.MULTILINE)
_EXPORT = re.compile(r"^export (\{[^}]*\};)$", re.MULTILINE)


def build_page(gathered: Gathered, skipped: Sequence[InputError], *, title: str, head: str = "") -> str:
    """Return the page.

    Args:
        gathered: what to show.
        skipped: files that were left out; the page names them.
        title: of the document.
        head: elements for its head, e.g. what link previews read.

    """
    # Results of probes need no library for charts.
    is_drawn = gathered.shown or gathered.stressed
    packs, drawing = _packs_and_library(gathered) if is_drawn else (_packs(gathered), [])
    style = (FOLDER / "style.css").read_text(encoding="utf-8")
    scripts = [_script_text(name) for name in _LIBRARIES] + [_application()]
    hashes = " ".join(policy_hash(script) for script in [*scripts, *drawing])
    page = Template((FOLDER / "index.html").read_text(encoding="utf-8"))
    return page.substitute(
        title=html.escape(title),
        generator=GENERATOR,
        head=head,
        policy=f"default-src 'none'; script-src {hashes}; style-src {policy_hash(style)}; img-src data:; "
        "base-uri 'none'; form-action 'none'",
        style=style,
        overview=_data(overview(gathered, skipped)),
        scripts="\n".join(f"<script>{script}</script>" for script in scripts),
        packs="\n".join(f'<script type="text/plain" id="pack-{name}">{text}</script>' for name, text in packs.items()),
    )


def _packs_and_library(gathered: Gathered) -> tuple[dict[str, str], list[str]]:
    """Return what is unpacked on demand, the library that draws charts included, and the script of that library."""
    # Bundling takes a second and holds Python's lock, so it is done beside this process.
    with subprocess.Popen([sys.executable, "-c", _BUNDLE], stdout=subprocess.PIPE) as drawing:
        try:
            packs = _packs(gathered)
        except BaseException:
            drawing.kill()
            raise
        bundle = drawing.communicate()[0].decode()
    if drawing.returncode:
        raise subprocess.CalledProcessError(drawing.returncode, drawing.args)
    # An inline script tells nobody when it has run.
    vega = bundle + '\nwindow.dispatchEvent(new Event("vega"));\n'
    return packs | {"vega": _packed(vega.encode())}, [vega]


def _packs(gathered: Gathered) -> dict[str, str]:
    """Return what is unpacked on demand, by name."""
    catalog, shelves = shelve(gathered.asked)
    packs: dict[str, Any] = {
        "catalog": catalog,
        "pairs": Pairs(found=pairs(gathered)),
        "choosing": choosers(gathered),
        "charts": chart_pack(gathered),
        "slices": slice_pack(gathered),
        "items": case_items(gathered),
    }
    packs |= compaction_packs(gathered.probed)
    packs |= {"stress": stress_pack(gathered.stressed)} if gathered.stressed else {}
    packs |= {f"result-{shown.key}": detail(shown) for shown in gathered.shown}
    packs |= {f"shelf-{number}": shelf for number, shelf in enumerate(shelves)}
    # Packing frees Python's lock, so it goes on beside what is still to be written.
    with ThreadPoolExecutor() as pool:
        packed = pool.map(_packed, (_compact(value).encode("ascii") for value in packs.values()))
        return dict(zip(packs, packed, strict=True))


def _packed(content: bytes) -> str:
    return base64.b64encode(gzip.compress(content, 9, mtime=0)).decode()


def _compact(value: object) -> str:
    # Half characters, which a model may write, are beyond msgspec's own encoder.
    return json.dumps(msgspec.to_builtins(value), ensure_ascii=True, allow_nan=False, separators=(",", ":"))


def _data(value: object) -> str:
    """Return JSON that cannot end the element it stands in."""
    return _compact(value).replace("<", "\\u003c")


def _script_text(library: str) -> str:
    return (FOLDER / "vendor" / f"{library}.js").read_text(encoding="utf-8")


def policy_hash(text: str) -> str:
    """Return what a security policy names an inline script or style by."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _application() -> str:
    """Return all modules as one script, each in a scope of its own.

    Hashes allow scripts, but not what a module imports; and a page from disk cannot import. Modules therefore import by
    name from modules beside them, and export by name at their end.
    """
    done: dict[str, str] = {}

    def add(name: str) -> None:
        text = (FOLDER / name).read_text(encoding="utf-8")
        for _, imported in _IMPORT.findall(text):
            if imported not in done:
                add(imported)
        body = _EXPORT.sub(r"return \1", _IMPORT.sub(r'const \1 = modules["\2"];', text))
        done[name] = f'modules["{name}"] = (() => {{\n{body}}})();'

    add(_ENTRY)
    return "\n".join(['"use strict";', "(() => {", "const modules = {};", *done.values(), "})();"])
