"""Which commands are checks: tests, linters, type checkers, builds."""

from __future__ import annotations

import re

from ctxsift.sessions.artifacts.records import CheckKind

# What runs another command, and the words of theirs that stand before it.
_WRAPPERS = frozenset({
    "sudo", "time", "nice", "nohup", "command", "exec", "env", "timeout", "gtimeout", "npx", "bunx", "xvfb-run",
    "stdbuf", "cross-env", "dotenv", "uv", "poetry", "pipenv", "hatch", "pdm", "rye", "bundle", "conda", "mise", "run",
    "dlx",
})  # fmt: skip
_TEST, _LINT, _TYPES, _BUILD = CheckKind.TEST, CheckKind.LINT, CheckKind.TYPES, CheckKind.BUILD
_PROGRAMS: dict[str, CheckKind] = {
    "pytest": _TEST, "py.test": _TEST, "tox": _TEST, "nox": _TEST, "unittest": _TEST, "jest": _TEST, "vitest": _TEST,
    "mocha": _TEST, "ava": _TEST, "rspec": _TEST, "phpunit": _TEST, "ctest": _TEST, "bats": _TEST, "nosetests": _TEST,
    "flake8": _LINT, "shellcheck": _LINT, "rubocop": _LINT, "pre-commit": _LINT,
    "mypy": _TYPES, "pyright": _TYPES, "tsc": _TYPES, "tsgo": _TYPES, "vue-tsc": _TYPES, "basedpyright": _TYPES,
    "dmypy": _TYPES, "py_compile": _BUILD, "compileall": _BUILD,
}  # fmt: skip
# Programs whose first word tells; with what they are without one, and what `check` means to them.
_ASKED: dict[str, tuple[CheckKind | None, CheckKind]] = {
    **dict.fromkeys(("make", "ninja", "webpack", "gradle", "gradlew", "mvn", "mvnw"), (_BUILD, CheckKind.CHECK)),
    **dict.fromkeys(("npm", "pnpm", "bun", "yarn", "turbo", "rake", "vite", "next"), (None, CheckKind.CHECK)),
    **dict.fromkeys(("go", "dotnet", "mix", "swift", "docker", "playwright", "cmake"), (None, CheckKind.CHECK)),
    **dict.fromkeys(("ruff", "biome"), (None, _LINT)), **dict.fromkeys(("cargo", "deno"), (None, _TYPES)),
}  # fmt: skip
_SCRIPT = re.compile(
    r"(?:^|[:_-])(tests?|spec|e2e|lint|vet|clippy|typecheck|type-check|types|tsc|build|compile|check|ci|verify)(?=$|[:_-])"
)
_SCRIPT_KINDS = {
    "lint": _LINT, "vet": _LINT, "clippy": _LINT, "typecheck": _TYPES, "type-check": _TYPES, "types": _TYPES,
    "tsc": _TYPES, "build": _BUILD, "compile": _BUILD, "ci": CheckKind.CHECK, "verify": CheckKind.CHECK,
}  # fmt: skip
_ASKS = frozenset({"--version", "-V", "--help", "-h", "--listTests", "--collect-only", "--co", "--showConfig"})
_CHECKING = frozenset({"--check", "-c", "--check-only", "-l", "--list-different"})
_PACKAGED = frozenset({"npm", "pnpm", "bun"})


def kind_of(words: list[str]) -> CheckKind | None:
    """Return what kind of check a command is, whatever runs it; None where it is none."""
    names = [word.rpartition("/")[2] for word in words]
    for number, name in enumerate(names):
        rest = words[number + 1 :]
        if kind := _kind(name, rest):
            return kind
        option = number and words[number - 1].startswith("-")
        python = re.fullmatch(r"(?:python|pypy)[\d.]*", name) and "-m" in rest[:3]
        passed_on = name in _WRAPPERS or python or name.startswith("-") or "=" in name or re.fullmatch(r"\d+\w?", name)
        if not (passed_on or option):
            return None
    return None


def _kind(name: str, rest: list[str]) -> CheckKind | None:
    if _ASKS.intersection(rest) or (name == "make" and "-n" in rest) or (name == "tsc" and "--init" in rest):
        return None
    if name in ("black", "isort", "prettier") or (name == "ruff" and rest[:1] == ["format"]):
        return _LINT if _CHECKING.intersection(rest) else None
    if name not in _ASKED:
        return _PROGRAMS.get(name, _LINT if name.endswith("lint") else None)
    alone, checks = _ASKED[name]
    plain = [word for n, word in enumerate(rest) if _is_plain(rest, n)]
    run = plain[:1] in (["run"], ["run-script"], ["exec"], ["dlx"])
    asked = plain[1:2] if run else plain[:1]
    if not asked:
        return alone
    if asked[0] in _PROGRAMS:
        return _PROGRAMS[asked[0]]
    match = _SCRIPT.search(asked[0])
    if match is None or (name in _PACKAGED and not run and asked[0] not in ("test", "t")):
        return _BUILD if asked[0] == "all" else None
    return checks if match[1] == "check" else _SCRIPT_KINDS.get(match[1], _TEST)


def _is_plain(words: list[str], number: int) -> bool:
    before = words[number - 1] if number else ""
    value = before in ("-w", "--workspace", "--filter", "-F", "--prefix", "-C", "--cwd", "--dir")
    return not words[number].startswith("-") and "=" not in words[number] and not value
