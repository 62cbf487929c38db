"""Files that hold one record as JSON: read strictly, in any version, and written only as they would be read back."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

import msgspec

from benchmark.record.base import Json, Record, from_json, refusal, to_json
from ctxsift.errors import InputError
from ctxsift.files import encoded, read_bytes
from ctxsift.strict_json import check, decode

R = TypeVar("R", bound=Record)
_DAMAGED = "the file is damaged; take it from a backup"
_VERSION = "schema_version"
_MEGABYTE = 1_000_000
# Blanks, and the mark of UTF-8.
_BEFORE_JSON = b" \t\r\n\xef\xbb\xbf"


@dataclass(frozen=True)
class RecordFile(Generic[R]):
    """A kind of file.

    Attributes:
        kind: the record; its field `schema_version` says of which version a file is.
        name: what people call it, e.g. "result file".
        version: today's; every one from 1 to it can be read.
        most_mb: nothing larger is read, or written.
        upgraded: returns a document of an earlier version with the keys of today's. Raises InputError.
        unversioned: a file may name no version; `upgraded` knows what to do with it.
        hint: what to do about a file that cannot be found.
        fault: what to do about a record that would not be read back.
        fewer: what to do about one that is too large.

    """

    kind: type[R]
    name: str
    version: int
    most_mb: int = 16
    upgraded: Callable[[Path, Json], Json] = lambda _, document: document
    unversioned: bool = False
    hint: str = "name another file"
    fault: str = "this is a fault of the benchmark"
    fewer: str = "run less at a time"

    def read(self, path: Path) -> R:
        """Read a file, plain or gzipped. Raises InputError, naming file, place and problem."""
        return self.record(path, self.document(path))

    def document(self, path: Path) -> object:
        """Return the JSON of a file, which may be anything. Raises InputError where it is none."""
        content = read_bytes(path, self.hint, most_mb=self.most_mb)
        if content.strip() and not content.lstrip(_BEFORE_JSON).startswith((b"{", b"[")):
            # A damaged file of ours still begins as one.
            raise InputError(str(path), f"is not a {self.name} (not JSON)", self.hint)
        try:
            return decode(content, once=True)
        except json.JSONDecodeError as error:
            where = f"{path}:{error.lineno}:{error.colno}"
            raise InputError(where, f"not valid JSON: {error.msg}", "the file is damaged") from error
        except UnicodeDecodeError as error:
            raise InputError(str(path), f"cannot be read as UTF-8 ({error})", "save it as UTF-8") from error
        except ValueError as error:
            raise InputError(str(path), f"cannot be read ({error})", "the file is damaged") from error

    def record(self, path: Path, document: object) -> R:
        """Return the record in a document. Raises InputError naming `path`, the place in it and what is wrong."""
        if not isinstance(document, dict):
            raise InputError(str(path), f"is not a {self.name} (not a JSON object)", self.hint)
        if not document.keys() & set(self.kind.__struct_encode_fields__):
            raise InputError(str(path), f"is not a {self.name} (none of its fields)", self.hint)
        version = document.get(_VERSION)
        # A version may be anything in a damaged file; `in` would take True for 1.
        known = type(version) is int and 1 <= version <= self.version
        if not known and not (version is None and self.unversioned):
            where = f"{path}: /{_VERSION}"
            raise InputError(where, f"{str(version)[:20]} is not {self.version}", "use the version that wrote it")
        try:
            record: R = from_json(self.kind, self.upgraded(path, document))
        except msgspec.ValidationError as error:
            place, problem = refusal(error)
            raise InputError(f"{path}: {place}", problem, _DAMAGED) from error
        except (RecursionError, OverflowError, UnicodeError) as error:
            raise InputError(str(path), f"cannot be read ({error})", _DAMAGED) from error
        return record

    def text(self, record: R, name: str) -> str:
        """Return the text of a file.

        Args:
            record: what it holds.
            name: of it, for messages.

        Raises:
            InputError: naming the place, when it would not be read back.

        """
        try:
            written = to_json(record)
            check(written)
            text = json.dumps(written, indent=1, ensure_ascii=False) + "\n"
            content = encoded(text)
            if len(content) > self.most_mb * _MEGABYTE:
                raise InputError(name, f"would be larger than {self.most_mb} MB, too large to be read back", self.fewer)
            read = decode(content)
        except (TypeError, ValueError, RecursionError) as error:
            raise InputError(name, f"cannot be written ({error})", self.fault) from error
        try:
            self.record(Path(name), read)
        except InputError as error:
            raise InputError(error.where, f"could not be read back: {error.problem}", self.fault) from error
        return text
