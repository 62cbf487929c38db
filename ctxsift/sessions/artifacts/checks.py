"""Which commands are checks: tests, linters, type checkers, builds."""

from __future__ import annotations

import re

from ctxsift.sessions.artifacts.records import CheckKind

# What runs another command; with the options that take a value of their own.
_WRAPPERS = {
    "sudo": "", "time": "", "nice": "-n", "nohup": "", "command": "", "exec": "", "env": "-u", "timeout": "-s -k",
    "npx": "-p --package", "bunx": "", "xvfb-run": "-s", "stdbuf": "", "cross-env": "", "dotenv": "-e -f",
    "gtimeout": "-s -k", "caffeinate": "-t", "unbuffer": "", "nyc": "", "c8": "",
}  # fmt: skip
_RUNNERS = {
    ("uv", "run"), ("poetry", "run"), ("pipenv", "run"), ("hatch", "run"), ("pdm", "run"), ("rye", "run"),
    ("pnpm", "exec"), ("pnpm", "dlx"), ("yarn", "exec"), ("yarn", "dlx"), ("npm", "exec"), ("bundle", "exec"),
    ("conda", "run"), ("mise", "exec"), ("direnv", "exec"),
}  # fmt: skip
_TEST, _LINT, _TYPES, _BUILD = CheckKind.TEST, CheckKind.LINT, CheckKind.TYPES, CheckKind.BUILD
_PROGRAMS: dict[str, CheckKind] = {
    "pytest": _TEST, "py.test": _TEST, "tox": _TEST, "nox": _TEST, "unittest": _TEST, "jest": _TEST, "vitest": _TEST,
    "mocha": _TEST, "ava": _TEST, "rspec": _TEST, "phpunit": _TEST, "ctest": _TEST, "bats": _TEST, "nosetests": _TEST,
    "prove": _TEST,
    "eslint": _LINT, "flake8": _LINT, "pylint": _LINT, "stylelint": _LINT, "shellcheck": _LINT, "rubocop": _LINT,
    "golangci-lint": _LINT, "pre-commit": _LINT, "hadolint": _LINT, "oxlint": _LINT, "markdownlint": _LINT,
    "mypy": _TYPES, "pyright": _TYPES, "tsc": _TYPES, "tsgo": _TYPES, "vue-tsc": _TYPES, "basedpyright": _TYPES,
    "dmypy": _TYPES, "py_compile": _BUILD, "compileall": _BUILD,
}  # fmt: skip
# Programs that are a check with some of their first words only; the empty word stands for none.
_SUBCOMMANDS: dict[str, dict[str, CheckKind]] = {
    "go": {"test": _TEST, "vet": _LINT, "build": _BUILD},
    "cargo": {
        "test": _TEST, "nextest": _TEST, "clippy": _LINT, "build": _BUILD, "check": _TYPES, "b": _BUILD, "t": _TEST,
    },
    "dotnet": {"test": _TEST, "build": _BUILD},
    "mix": {"test": _TEST, "compile": _BUILD, "credo": _LINT, "dialyzer": _TYPES},
    "swift": {"test": _TEST, "build": _BUILD}, "deno": {"test": _TEST, "lint": _LINT, "check": _TYPES},
    "mvn": {"test": _TEST, "verify": _TEST, "package": _BUILD, "compile": _BUILD, "install": _BUILD},
    "gradle": {"test": _TEST, "check": _TEST, "build": _BUILD}, "rake": {"test": _TEST, "spec": _TEST},
    "make": {"": _BUILD, "all": _BUILD, "build": _BUILD, "test": _TEST, "tests": _TEST, "lint": _LINT},
    "ruff": {"check": _LINT}, "biome": {"check": _LINT, "lint": _LINT, "ci": _LINT}, "playwright": {"test": _TEST},
    "vite": {"build": _BUILD}, "next": {"build": _BUILD, "lint": _LINT}, "webpack": {"": _BUILD},
    "xcodebuild": {"test": _TEST, "build": _BUILD}, "terraform": {"validate": _LINT}, "rails": {"test": _TEST},
    "docker": {"build": _BUILD}, "ninja": {"": _BUILD},
    "npm": {"test": _TEST, "t": _TEST}, "pnpm": {"test": _TEST}, "bun": {"test": _TEST},
}  # fmt: skip
# Commands that are a check in this form.
_FORMATTER = r"(?:black|isort|prettier|rustfmt|\S{1,40} (?:format|fmt))"
_FORMS = (
    (re.compile(r"make (?:-\S* |\w+=\S* )*check(?= |$)"), CheckKind.CHECK),
    (re.compile(r"node .*--test(?= |$)"), _TEST),
    (re.compile(r"ruby .*(?:_(?:test|spec)\.rb|/test_\w+\.rb)(?= |$)"), _TEST),
    (re.compile(r"python\S* (?:\S*/)?manage\.py test(?= |$)"), _TEST),
    (re.compile(r"cmake --build(?= |$)"), _BUILD),
    (re.compile(rf"{_FORMATTER}\b.* (?:-*check|-[cl](?= |$)|--list-different)"), _LINT),
    (re.compile(r"\S{0,40}lint(?= |$)"), _LINT),
)
_SCRIPT = re.compile(
    r"(?:^|[:_-])(tests?|spec|e2e|lint|typecheck|type-check|types|tsc|build|compile|check|ci|verify)(?=$|[:_-])"
)
_SCRIPT_KINDS = {
    "lint": _LINT, "typecheck": _TYPES, "type-check": _TYPES, "types": _TYPES, "tsc": _TYPES, "build": _BUILD,
    "compile": _BUILD, "check": CheckKind.CHECK, "ci": CheckKind.CHECK, "verify": CheckKind.CHECK,
}  # fmt: skip
_ASKS = {"--version", "-V", "--help", "-h", "--list", "--listTests", "--collect-only", "--co", "--showConfig", "--init"}


def bare(words: list[str]) -> list[str]:
    """Return a command without what only runs it: `timeout 60 npx -y vitest run` is `vitest run`."""
    while words:
        name = words[0].rpartition("/")[2].removesuffix(".exe").removesuffix(".cmd")
        if name in _WRAPPERS:
            words = _after_options(words[1:], _WRAPPERS[name].split())
            if name in ("timeout", "gtimeout"):
                words = words[1:]
            while name in ("env", "cross-env") and words and "=" in words[0]:
                words = words[1:]
        elif len(words) > 1 and (name, words[1]) in _RUNNERS:
            words = _after_options(words[2:], ["--with", "--extra", "--group", "-p", "--python", "-n", "--name"])
        elif re.fullmatch(r"(?:python|pypy)[\d.]*|coverage", name) and (module := _module(words)):
            words = module
        else:
            return [name, *words[1:]]
    return words


def _module(words: list[str]) -> list[str]:
    at = next((number for number, word in enumerate(words[1:4], 1) if word == "-m"), 0)
    return words[at + 1 :] if at and all(word.startswith("-") or word == "run" for word in words[1:at]) else []


def _after_options(words: list[str], with_value: list[str]) -> list[str]:
    while words and words[0].startswith("-"):
        taken = 2 if words[0] in with_value else 1
        words = words[1:] if words[0] == "--" else words[taken:]
    return words


def kind_of(words: list[str]) -> CheckKind | None:
    """Return what kind of check a command is (its words as `bare` returns them); None where it is none."""
    if not words or _ASKS.intersection(words[1:]) or words[:2] == ["make", "-n"]:
        return None
    name, rest = words[0].removesuffix(".exe"), words[1:]
    line = " ".join([name, *rest])
    by_form = next((kind for form, kind in _FORMS if form.match(line)), None)
    if kind := _PROGRAMS.get(name) or _script(name, rest) or by_form:
        return kind
    found = _SUBCOMMANDS.get(name.removesuffix("w"), {})
    plain = [word for word in rest if not word.startswith("-") and "=" not in word] or [""]
    several = name.startswith(("make", "mvn", "gradle", "xcodebuild"))
    return next((found[word] for word in (plain if several else plain[:1]) if word in found), None)


def _script(name: str, rest: list[str]) -> CheckKind | None:
    """Return the kind of a script of package.json by its name."""
    plain = [word for number, word in enumerate(rest) if _is_plain(rest, number)]
    if name not in ("npm", "yarn", "pnpm", "bun", "turbo"):
        return None
    if name in ("yarn", "pnpm") and plain and plain[0] in _PROGRAMS:
        return _PROGRAMS[plain[0]]
    if plain[:1] in (["run"], ["run-script"]):
        plain = plain[1:]
    elif name in ("npm", "bun", "pnpm") or plain[:1] in (["add"], ["install"], ["remove"]):
        return None
    match = _SCRIPT.search(plain[0]) if plain else None
    return _SCRIPT_KINDS.get(match[1], _TEST) if match else None


def _is_plain(words: list[str], number: int) -> bool:
    with_value = ("-w", "--workspace", "--filter", "-F", "--prefix", "-C", "--cwd", "--dir")
    value = number > 0 and words[number - 1] in with_value
    return not words[number].startswith("-") and not value
