"""Kinds of secrets, and where they stand in a text: one table for sessions and for command lines.

Most of a session is code, so a rule that hides too much does harm: names, types, calls and placeholders stay. What a
name like `password` announces is hidden only where it looks like a value. Patterns are matched against a copy of the
text without colours and other invisible characters. Each begins with a literal or a single character, and what it
repeats is bounded or cannot begin anew within itself: time grows with the length of the text alone.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import IntEnum
from typing import TypeAlias

HIDDEN = "***"
ASSIGNED = "assigned secret"
PRINTED = "printed secret"

# Colours as bytes or escaped, other sequences of terminals, characters without width.
_CONTROL = r"\x00-\x08\x0e-\x1f\x7f\x9b\xad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff"
_SEQUENCE = r"(?:\[?[0-9;:?]{0,40}[A-Za-z]|\][^\x07\x1b]{0,200}(?:\x07|\x1b\\))"
# It begins with a single set of characters: searching stays fast.
_INVISIBLE = re.compile(
    rf"[{_CONTROL}\\](?:(?<=\\)(?:u001[bB]|x1[bB]|033|e(?=\[)){_SEQUENCE}|(?<=[\x1b\x9b]){_SEQUENCE}|(?<!\\))"
)


@dataclass(frozen=True, slots=True)
class FoundSecret:
    """A secret in a text, from `start` up to `end`."""

    kind: str
    start: int
    end: int


class Where(IntEnum):
    """What a text is: the more it is a command line, the surer what follows an option is its value."""

    TEXT = 0
    # A command in a session, which may hold a program in any language.
    CALL = 1
    # A command line that the prompt tells a model: hiding too much of it does less harm than showing a password.
    LINE = 2


Judge: TypeAlias = Callable[[re.Match[str], Where], bool]


def _always(match: re.Match[str], where: Where) -> bool:
    del match, where
    return True


@dataclass(frozen=True, slots=True)
class SecretKind:
    """A kind of secret.

    Attributes:
        literals: one of them stands, in small letters, in every text that has such a secret.
        pattern: the group `value` is what is hidden.
        is_secret: decides on a match; told what text it stands in.

    """

    name: str
    literals: tuple[str, ...]
    pattern: re.Pattern[str]
    is_secret: Judge = _always


# ---- what a value looks like

# Placeholders for a value: marks and references first, then words.
_REFERENCE = re.compile(
    r"\*{3,}|x{3,}|\.{3}|[<%{\[(]|\$(?=[\w({$])|@(?=\w+\b)|!\w+\b|process\.|os\.|env\b|env[.:]|self\.|this\.|import"
    r"|https?://|file:",
    re.IGNORECASE,
)
_STANDS_FOR = re.compile(
    r"your|my[-_]|example|sample|change_?me|placeholder|dummy|redacted|hidden|none\b|null\b|nil\b|true\b|false\b"
    r"|undefined|str(?:ing)?\b",
    re.IGNORECASE,
)
_TELLS = re.compile(r"passw|secret|token|key|credential|auth", re.IGNORECASE)
# A word of a name that is about secrets: `key`, `apikey`, `newpassword`, but not `tokenring`.
_WORDS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+")
_OF_NAMES = "api|access|auth|my|new|old|user|db|app|client|admin|root|refresh|private|public|shared|session|test"
_SECRETS = "passw(?:or)?ds?|passwd|pass|pwd|pw|secrets?|tokens?|keys?|credentials?|auth"
_ENDS_OF_NAMES = "name|id|value|field|hash|type|file|text"
_SAYS_SO = re.compile(rf"(?:{_OF_NAMES})*+(?:{_SECRETS})++(?:{_ENDS_OF_NAMES})?", re.IGNORECASE)
# A name of nothing but such words.
_NOTHING_ELSE = re.compile(rf"(?:{_OF_NAMES}|{_SECRETS}|{_ENDS_OF_NAMES})+", re.IGNORECASE)
_PART, _PIECES = re.compile(r"[A-Za-z0-9]+"), re.compile(r"[A-Z]?[a-z]+|[A-Z]+|[0-9]+")
_DIGITS, _LETTER = re.compile(r"[0-9]+"), re.compile(r"[A-Za-z]")
_FILES = frozenset(
    {"pem", "key", "crt", "txt", "json", "yaml", "yml", "env", "toml", "py", "js", "ts", "jsx", "tsx", "go", "rs", "md"}
)
_NO_PART = re.compile(r"[^A-Za-z0-9]+")
# Pieces (a word, a number) of names are longer than this on average, those of keys shorter; of long ones, surely so.
_PIECE, _PIECE_OF_LONG, _LONG = 2.8, 3.4, 16


def _is_value(value: str, *, surely: bool = False) -> bool:
    """Return True for what is no placeholder, variable, path, or name of a variable.

    Args:
        value: to be judged.
        surely: nothing but a secret stands here, so that `changeme123` is no placeholder.

    """
    if (
        _REFERENCE.match(value)
        or (_STANDS_FOR.match(value) and not (surely and _DIGITS.search(value)))
        or "..." in value
        or HIDDEN in value
        or (value.isupper() and "_" in value and value.replace("_", "").isalpha())
    ):
        return False
    is_path = value.startswith(("/", "~", ".", "C:\\")) or value.rpartition(".")[2] in _FILES
    longest = _longest(value)
    return not is_path or (len(longest) >= _LEAST and _is_mixed(longest))


def _longest(value: str) -> str:
    return max(_PART.findall(value), key=len, default="")


def _is_mixed(part: str) -> bool:
    """Return True if a run of letters and digits falls into pieces shorter than the words of a name are."""
    length = len(part)
    if _DIGITS.search(part):
        return not part.isdigit() and length < _PIECES.subn("", part)[1] * (
            _PIECE if length < _LONG else _PIECE_OF_LONG
        )
    return length >= _LONG and length < _PIECE * _PIECES.subn("", part)[1]


def _is_random(value: str) -> bool:
    """Return True for a value that nobody would use as a name: letters and digits, mixed."""
    digits = _DIGITS.findall(value)
    if len(value) < _LEAST if digits else len(value) < _LONG:
        return False
    if value.isdigit():
        return False
    if _is_mixed(_longest(value)):
        return True
    if not digits or not _LETTER.search(value):
        return False
    return len(digits) > 2 or (sum(map(len, digits)) > 3 and "/" not in value) or _is_mixed(_NO_PART.sub("", value))


def _is_password(value: str) -> bool:
    """Return True for a value that a person would make up: not a word, and of no words that are about passwords."""
    if len(value) < _LEAST_PASSWORD or value.replace(".", "").replace("_", "").isalpha():
        return False
    return not _is_name(value)


def _is_name(value: str) -> bool:
    """Return True if one of the words of a value is about secrets, as in names: `api_key2`, `newPassword`."""
    return _TELLS.search(value) is not None and any(map(_SAYS_SO.fullmatch, _WORDS.findall(value)))


def _is_any(value: str) -> bool:
    """Return True unless the value is an option or a placeholder."""
    return not value.startswith("-") and _is_value(value, surely=True)


def _is_meant(value: str) -> bool:
    """Return True for any value but those and names, where an option or a name says that it is a secret."""
    if len(value) < _LEAST_MEANT or not _is_any(value):
        return False
    return " " in value or bool(_DIGITS.search(value)) or not _NOTHING_ELSE.fullmatch(_NO_PART.sub("", value))


def _is_bare(value: str) -> bool:
    """Return True for a value that is a secret even where nothing but the command tells of one.

    Revisions, digests, ids and names of resources (`auth-7f9c6d5b4-x2x9q`) are of small letters or of hexadecimal
    digits, in parts; integrity hashes say what they are.
    """
    if _DIGEST.match(value) or not _is_value(value) or not _is_random(value):
        return False
    return _MIXED_CASE.match(value) is not None or value.isalnum()


_DIGEST = re.compile(r"sha\d{1,3}[-:]|[0-9a-fA-F-]+\Z")
_MIXED_CASE = re.compile(r"(?=[^a-z]*[a-z])(?=[^A-Z]*[A-Z])(?=[^0-9]*[0-9])")
_LEAST, _LEAST_PASSWORD, _LEAST_MEANT, _LOOKED_AT = 8, 6, 3, 64
# Of a key whose name does not tell what it opens; of a setting (`STRIPE_KEY`), and of others.
_LONG_SETTING, _LONG_KEY = 16, 24
_PLAIN_WORDS = frozenset({"password", "passwd", "pass", "pwd", "pw", "secret", "token"})


# ---- names that tell

# Each begins with a literal: searching stays fast.
_NAME = (
    r"(?:passw(?:or)?d|passphrase|pwd(?<!\$pwd)|pw(?<![a-z]pw)|secret|token|key(?:[-_]base)?|credentials?|csrf|xsrf"
    r"|pass(?:(?<![a-z]pass)|(?<=sshpass)|(?<=pgpass)|(?<=storepass)|(?<=keypass)|(?<=dbpass))"
    r"|auth(?<![a-z]auth)(?=\\?[\"']| ?=))"
)
_OF_KEY = re.compile(
    r"(?:api|access|secret|private|auth|account|encryption|signing|master|shared|storage|service|app|client|consumer"
    r"|jwt|subscription)[-_ ]?\Z"
)
_SEPARATOR = (
    # `name = value`, `"name": "value"`, `name => value`, `config['name'] = value`, `name is: value`, `name: >-` and
    # the value below it.
    r"""\\?["']?\]?\s{0,4}(?:is[ \t]?(?=:))?(?::=|=>|={1,3}|:(?!:))\s{0,4}(?:[>|][-+]?\s{1,20})?"""
    # `- name: NAME` and below it `value: x`; `{"Name": "NAME", "Value": "x"}`; `key="NAME" value="x"`.
    r"""|\\?["']?,?\s{1,20}\\?["']?value\\?["']?\s?[:=]\s?"""
    # <name>value<; setenv("NAME", "value"); `.netrc`, tables, prose.
    r"""|>|(?P<blank>\\?["'],\s?(?=["'])|\s?(?:\||->)\s{0,3}|[ \t]{1,4}(?:is[ \t]{1,2})?(?![-=:|]))"""
)
# Sought in small letters, where the search for one of several words is fast.
_BEFORE_VALUE = re.compile(rf"(?P<name>{_NAME})(?:{_SEPARATOR})")
_QUOTED = re.compile(r"""(?:[bru](?=["']))?\\?(?P<quote>["'`])(?P<value>[^\n"'`\\]{1,64})\\?(?P=quote)""")
_BARE = re.compile(r"""\\?["']?(?P<value>[^\s"'`|<>(){}\[\],;\\]{1,64})(?P<call>[(\[{])?""")
_REST = re.compile(r"""[^\s"'`|<>(){}\[\],;\\]*""")
# What `pwd` prints, and $PWD holds.
_PLACE = re.compile(r"[/~]|[A-Za-z]:[\\/]")
_NEXT = re.compile(r"&[\w.-]{1,60}=")
# `--password`; `-Ddb.password=`, `--from-literal=password=`, `--set db.password=`.
_FLAG = re.compile(r"(?:\A|[\s\"'])--?[\w-]*\Z")
_FIELD_OF_FLAG = re.compile(r"(?:\A|[\s\"'])--?(?:[\w-]+[= ][\"']?)?[\w.-]*\Z")
_QUERY = re.compile(r"[?&][\w.-]*\Z")
_LONGEST_NAME = 40


def is_secret_under(name: str, value: str) -> bool:
    """Return True if a value under a name like `password` looks like one: no word, placeholder, variable or count."""
    given = f'{name[-_LONGEST_NAME:]}"='
    lowered = given.lower()
    announced = _BEFORE_VALUE.search(lowered)
    if announced is None or " " in value or not _tells(announced, given, lowered, value):
        return False
    # Who passes a password passes any word; and so does who sets a variable.
    is_password = announced["name"].startswith("p")
    if (is_password or name.isupper()) and not value.isdigit() and len(value) >= _LEAST_PASSWORD:
        return _is_meant(value)
    return _is_value(value) and _is_announced(announced["name"], value, quoted=True)


def _is_setting(name: re.Match[str], text: str) -> bool:
    return text[name.start() : name.end("name")].isupper()


def _tells(name: re.Match[str], text: str, lowered: str, value: str) -> bool:
    """Return True unless it is the name of a key that opens nothing; what is long and random opens something."""
    if not name["name"].startswith("key"):
        return True
    before = lowered[max(0, name.start() - _LONGEST_NAME) : name.start()]
    return _OF_KEY.search(before) is not None or (
        len(value) >= (_LONG_SETTING if _is_setting(name, text) else _LONG_KEY)
        and not before.rstrip("-_ ").endswith(("public", "pub"))
        and _is_bare(value)
    )


def _is_announced(name: str, value: str, *, quoted: bool) -> bool:
    is_password = "pass" in name or name.startswith("p")
    if value.isdigit():
        return is_password and len(value) >= _LEAST_PASSWORD
    if len(value) < _LONG and _is_name(value):
        return False
    has_form = quoted and len(value) >= _LEAST and "/" not in value and _DIGITS.search(value)
    return _is_random(value) or bool((is_password or has_form) and _is_password(value))


def _assigned(text: str, lowered: str, where: Where) -> Iterator[FoundSecret]:
    start = 0
    while name := _BEFORE_VALUE.search(lowered, start):
        start = name.end()
        found = _QUOTED.match(text, start) or _BARE.match(text, start)
        # Outside commands nothing so short is one: most of what follows such a name in code.
        if found and where < Where.LINE and found.end("value") - found.start("value") < _LEAST_PASSWORD:
            continue
        # What another such name follows is no value.
        if found is None or _BEFORE_VALUE.match(lowered, found.start("value")):
            continue
        if _tells(name, text, lowered, found["value"]) and _is_assigned(text, name, found, where):
            begin, end = found.span("value")
            if "quote" not in found.groupdict():
                # Of a long value, its beginning was judged.
                end = _REST.match(text, end).end()  # type: ignore[union-attr]
                following = _NEXT.search(text, begin, end)
                end = following.start() if following else end
                end = begin + len(text[begin:end].rstrip(".:"))
            yield FoundSecret(ASSIGNED, begin, end)
            start = max(start, end)


def _is_assigned(text: str, name: re.Match[str], found: re.Match[str], where: Where) -> bool:
    quoted = "quote" in found.groupdict()
    if not quoted and found["call"]:
        return False
    value = found["value"] if quoted else _NEXT.split(found["value"])[0]
    if value.endswith("..."):
        return False
    value = value if quoted else value.rstrip(".:")
    before = text[max(0, name.start() - _LONGEST_NAME) : name.start()]
    is_flag = "-" in before and _FLAG.search(before) is not None
    separator = text[name.end("name") : name.end()]
    is_password = "pass" in name["name"] or name["name"].startswith("p")
    if name["name"] == "pwd" and _PLACE.match(value):
        return False
    if is_password and _is_given_to(
        before, separator, value, is_flag=is_flag, is_word=not quoted and where is Where.TEXT
    ):
        return True
    if is_password and _is_setting(name, text) and "," in separator and before.endswith("_") and " " not in value:
        # define('DB_PASSWORD', '...')
        return not value.isupper() and _is_meant(value)
    if name["blank"] and not is_flag:
        # Most of what follows such a word is prose.
        return _is_random(value) and _is_value(value) and not (len(value) < _LONG and _is_name(value))
    is_setting = _is_setting(name, text) and not value.isdigit()
    if is_setting and "value" in separator.lower() and " " not in value:
        return _is_meant(value)
    if not _is_value(value, surely=is_setting and separator == "="):
        return False
    is_header = separator[0] == ":" and ("-" in name["name"] or before.endswith("-"))
    if where is Where.LINE and (is_flag or is_header or separator == "="):
        return not value.isdigit()
    if separator == "=" and is_setting:
        return len(value) >= _LEAST_PASSWORD
    return " " not in value and _is_announced(name["name"], value, quoted=quoted or is_flag)


def _is_given_to(before: str, separator: str, value: str, *, is_flag: bool, is_word: bool) -> bool:
    """Return True for the value of an option or of a field of an address, whatever it looks like.

    Args:
        before: what stands before the name.
        separator: between name and value.
        value: to be judged.
        is_flag: the name is one of an option.
        is_word: the text may be prose about the option, where words that follow are no value.

    """
    if separator == "=":
        return (_QUERY.search(before) or _FIELD_OF_FLAG.search(before)) is not None and _is_meant(value)
    return is_flag and separator.isspace() and not (is_word and value.isalpha()) and _is_meant(value)


# ---- the table


def _looks_random(match: re.Match[str], where: Where) -> bool:
    del where
    return _is_value(match["value"]) and _is_random(match["value"])


def _is_given(match: re.Match[str], where: Where) -> bool:
    """Return True for a value where one is expected: in a command whatever it is, elsewhere what looks like one."""
    value = match["value"]
    if value.isdigit() or not _is_value(value):
        return False
    is_expected = where is Where.LINE and match.groupdict().get("scheme") != ""
    return is_expected or _is_random(value) or _is_password(value)


def _is_option(match: re.Match[str], where: Where) -> bool:
    """Return True for the value of an option of one command: `mysql -pTHIS`."""
    is_word = where is Where.CALL and not match["value"].isdigit() and _stands_there(match, where)
    return is_word or _is_given(match, where)


def _stands_there(match: re.Match[str], where: Where) -> bool:
    del where
    value = match["value"]
    return len(value) >= _LEAST_MEANT and value.lower() not in _PLAIN_WORDS and _is_any(value)


def _is_login(match: re.Match[str], where: Where) -> bool:
    del where
    return _is_value(match["value"]) and match["value"].lower() not in _PLAIN_WORDS


def _is_free(text: str, start: int) -> bool:
    r"""Return True if nothing but an escape sequence (`\n`) runs into what starts there."""
    before = text[max(0, start - 2) : start]
    return not before[-1:].isalnum() or (len(before) == 2 and before[0] == "\\" and before[1] in "nrt")


def _begins(match: re.Match[str], where: Where) -> bool:
    del where
    return _is_free(match.string, match.start())


# Beginnings of keys; at least sixteen characters follow.
_PREFIXES = (
    # GitHub, GitLab, Slack
    *("ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-", "gldt-", "glrt-", "glptt-", "glcbt-", "glsoat-"),
    *(
        "glagent-",
        "gloas-",
        "glffct-",
        "glimt-",
        "xoxa-",
        "xoxb-",
        "xoxe-",
        "xoxo-",
        "xoxp-",
        "xoxr-",
        "xoxs-",
        "xapp-",
    ),
    # models: OpenAI, Anthropic and OpenRouter; Hugging Face, Groq, xAI, Perplexity, Replicate, NVIDIA
    *("sk-", "hf_", "api_org_", "gsk_", "xai-", "pplx-", "r8_", "nvapi-"),
    # payment: Stripe, Square, Shopify
    *("sk_", "pk_", "rk_", "whsec_", "sq0csp-", "shpat_", "shpca_", "shppa_", "shpss_"),
    # registries: npm, PyPI, RubyGems, Docker
    *("npm_", "pypi-", "rubygems_", "dckr_pat_", "dckr_oat_"),
    # clouds and services: DigitalOcean, Doppler, Vault, Google, Supabase, PlanetScale, Tailscale, SendGrid, age
    *("dop_v1_", "doo_v1_", "dor_v1_", "dp.pt.", "dp.st.", "dp.ct.", "dp.sa.", "hvs.", "hvb.", "GOCSPX-", "ya29."),
    *("sbp_", "pscale_pw_", "pscale_tkn_", "pscale_oauth_", "tskey-", "SG.", "AGE-SECRET-KEY-"),
    # trackers and monitors: Linear, Notion, Figma, Atlassian, Grafana, Sentry, Postman, New Relic
    *("lin_api_", "ntn_", "figd_", "ATATT3", "ATCTT3", "glc_", "glsa_", "sntrys_", "sntryu_", "PMAK-", "NRAK-"),
)
_AFTER_PREFIX, _REST_OF_KEY = re.compile(r"[-_.3](?=[\w.-]{16})"), re.compile(r"[\w.-]*")
_PREFIX = re.compile(rf"(?:{'|'.join(map(re.escape, _PREFIXES))})\Z")
_LONGEST_PREFIX = max(map(len, _PREFIXES))
_SERVICE = "key of a service"
_CREDENTIALS = "credentials of a request"
_COMMAND = "password in a command"
# An argument: in quotes it may have blanks.
_ARGUMENT = r"""(?P<q>\\?["'])?(?P<value>(?(q)[^"'\n\\]{3,200}|[^\s"'`|;&<>()\\]{3,200}))"""
# What reads a password from its input.
_READER = (
    r"(?:--password-stdin|--with-token|--passphrase-fd|--stdin\b|-pass(?:in|out)?\s{1,4}stdin|chpasswd\b"
    r"|sudo\s{1,4}(?:-[\w-]{1,20}\s{1,4}){0,4}?-\w{0,4}S\b|secrets?\s{1,4}(?:create|set|put|versions\s{1,4}add)\b)"
)
KINDS = (
    SecretKind(
        "private key",
        ("private key",),
        re.compile(
            r"-----BEGIN [A-Z ]{0,20}PRIVATE KEY(?: BLOCK)?-----(?P<value>(?=[^-]{0,400}[A-Za-z0-9+/=]{16})"
            r"(?:(?:(?!-----)[\s\S]){16,20000}(?=-----END )"
            r"|(?:(?:\\[nrt]|[\s0-9\u2192|:>+\"',-]){1,30}[A-Za-z0-9+/=]{20,100}(?![A-Za-z0-9])){1,400}))"
            r"(?P<end>-----END [A-Z ]{0,20}PRIVATE KEY(?: BLOCK)?-----)?"
        ),
    ),
    SecretKind(_SERVICE, ("akia",), re.compile(r"AKIA[A-Z0-9]{16}(?!\w)"), _begins),
    # It may have next to no digits.
    SecretKind(_SERVICE, ("age-secret-key-1",), re.compile(r"AGE-SECRET-KEY-1[A-Z0-9]{40,80}(?!\w)"), _begins),
    SecretKind(_SERVICE, ("asia",), re.compile(r"ASIA[A-Z0-9]{16}(?!\w)"), _begins),
    SecretKind(_SERVICE, ("aiza",), re.compile(r"AIza[\w-]{35}(?![\w-])"), _begins),
    SecretKind(_SERVICE, ("ltai",), re.compile(r"LTAI[A-Za-z0-9]{16,26}(?!\w)"), _begins),
    SecretKind(_SERVICE, ("dapi",), re.compile(r"dapi[0-9a-f]{32}(?!\w)"), _begins),
    SecretKind(_SERVICE, ("key-",), re.compile(r"key-[0-9a-f]{32}(?!\w)"), _begins),
    SecretKind(_SERVICE, ("sk",), re.compile(r"SK[0-9a-f]{32}(?!\w)"), _begins),
    SecretKind(_SERVICE, (":aa",), re.compile(r":AA(?<=[0-9]{8}:AA)[\w-]{33}(?![\w-])")),
    SecretKind(
        _SERVICE,
        ("hooks.slack.com/", "/webhooks/"),
        re.compile(r"(?:hooks\.slack\.com/(?:services|workflows|triggers)/|/api/webhooks/)(?P<value>[\w/-]{16,200})"),
        _looks_random,
    ),
    SecretKind(_SERVICE, ("q~",), re.compile(r"[0-9]Q~(?<=[\w.~-]{3}[0-9]Q~)(?P<value>[\w.~-]{31,34})(?![\w~-])")),
    SecretKind(
        "JWT",
        ("eyj",),
        re.compile(
            r"eyJ(?:(?<![\w-]eyJ)|(?<=\\[nrt]eyJ))[\w-]{8,}\.(?:eyJ[\w-]{4,}\.[\w-]*|[\w-]*\.[\w-]+\.[\w-]+\.[\w-]+)"
        ),
    ),
    SecretKind(
        "password in an address",
        ("://",),
        # What follows the last `@` is the host.
        re.compile(r"://[^\s/:@'\"`<>]{0,100}:(?P<value>[^\s/@'\"`<>]{1,200}(?:@[^\s/@'\"`<>?#&,;]{1,100}){0,3})(?=@)"),
        _is_login,
    ),
    SecretKind("password in an address", ("://",), re.compile(r"://(?P<value>[\w.~-]{16,200})(?=@)"), _looks_random),
    SecretKind(
        _CREDENTIALS,
        ("authorization",),
        re.compile(
            r"authorization\\?[\"']?\]?\s{0,2}[:=]\s{0,2}\\?[\"'`]?"
            r"(?P<scheme>(?:(?:bearer|basic|token|apikey|digest)\s{1,4})?+)(?P<value>[^\s\"'`,;<>(){}\[\]\\]{3,})",
            re.IGNORECASE,
        ),
        _is_given,
    ),
    SecretKind(
        _CREDENTIALS,
        ("bearer", "basic"),
        re.compile(r"(?:bearer|basic)\s{1,4}(?P<value>[\w.~+/-]{3,}+={0,2})(?!\*)", re.IGNORECASE),
        lambda match, where: (
            _is_value(match["value"])
            and (
                (_is_random(match["value"]) and len(match["value"]) >= _LONG)
                or (where is Where.LINE and not match["value"].isalpha())
            )
        ),
    ),
    SecretKind(
        _CREDENTIALS,
        ("cookie", "-b "),
        re.compile(
            r"(?:cookie\\?[\"']?\s?[:=]|--cookie[ =]|\s-b )\s?(?P<value>[^\n\"'`\\]{1,4000}|[\"'][^\n\"'`]{1,4000})",
            re.IGNORECASE,
        ),
    ),
    SecretKind(
        "signature of an address",
        ("sig", "key=", "code="),
        re.compile(
            r"[?&](?:amp;)?(?:sig|(?:x-amz-|x-goog-)?signature|key|code)=(?P<value>[^\s&\"'`<>\\)]{16,})", re.IGNORECASE
        ),
        _looks_random,
    ),
    SecretKind(
        _COMMAND,
        (" -u", "--user"),
        re.compile(r"\s(?:-u\s?|--user[ =])[\"']?[^\s:/@'\"]{0,100}:(?P<value>[^\s/@'\"`]{1,200})"),
        _is_given,
    ),
    SecretKind(
        _COMMAND,
        ("curl ",),
        re.compile(
            r"curl(?=\s)[^\n|;&]{0,300}?\s(?:-u\s?|--user[ =])[\"']?[^\s:/@'\"]{0,100}:(?P<value>[^\s/@'\"`]{3,200})"
        ),
        _is_option,
    ),
    SecretKind(
        _COMMAND,
        (" -p", " -a ", " -w "),
        re.compile(
            r"(?:login|sshpass|redis-cli|mongo(?:sh|dump|restore)?|ldapsearch|sqlcmd|isql|osql)\b"
            r"[^\n|;&]{0,100}?\s-[pawP](?:\s{1,2}|=)"
            r"[\"']?(?P<value>[^\s\"'`|;&<>()]{3,200})"
        ),
        _is_option,
    ),
    # ---- whatever stands in these places is one
    SecretKind(
        _COMMAND,
        ("echo ", "printf "),
        re.compile(
            r"(?:echo|printf)\s{1,4}(?:-[neE]{1,3}\s{1,4})?(?:[\"']%s(?:\\{1,2}n)?[\"']\s{1,4})?"
            rf"(?:[\"']?[\w.-]{{1,40}}:(?=[^\n|]{{1,200}}\|[^\n|]{{0,100}}chpasswd))?{_ARGUMENT}"
            rf"(?:\\{{1,2}}n)?\\?[\"']?\s{{0,4}}\|[^\n|;&]{{0,200}}?{_READER}"
        ),
        _stands_there,
    ),
    SecretKind(_COMMAND, ("<<<",), re.compile(rf"{_READER}[^\n|;&<]{{0,200}}<<<\s{{0,4}}{_ARGUMENT}"), _stands_there),
    SecretKind(
        _COMMAND,
        ("htpasswd ",),
        re.compile(
            r"htpasswd\s(?=[^\n|;&]{0,40}-[a-zA-Z]{0,4}b)(?:[^\s|;&]{1,100}\s{1,4}){2,6}"
            rf"{_ARGUMENT}[\"']?\s{{0,4}}(?=[|;&>\n\\)]|\Z)"
        ),
        _stands_there,
    ),
    SecretKind(_COMMAND, ("zip ",), re.compile(rf"zip(?=\s)[^\n|;&]{{0,200}}?\s-P\s{{1,4}}{_ARGUMENT}"), _stands_there),
    SecretKind(
        _COMMAND,
        ("securestring ",),
        re.compile(
            rf"ConvertTo-SecureString\s{{1,4}}(?:-(?:AsPlainText|Force)\s{{1,4}}){{0,2}}(?:-String\s{{1,4}})?{_ARGUMENT}",
            re.IGNORECASE,
        ),
        _stands_there,
    ),
    SecretKind(
        _COMMAND,
        ("pass:",),
        re.compile(r"-pass(?:in|out)?\s{1,4}[\"']?pass:(?P<value>[^\s\"'`|;&<>()]{3,200})"),
        _stands_there,
    ),
    SecretKind(
        _COMMAND,
        ("create ", "alter ", "set password"),
        re.compile(
            r"(?:create|alter|set)\s{1,4}(?:user|role|login|password)\b[^;\n]{0,200}?\b"
            r"(?:password\s{0,4}=?|by|for\s[^;\n]{1,80}=)\s{0,4}'(?P<value>[^'\n]{3,200})'",
            re.IGNORECASE,
        ),
        _stands_there,
    ),
    # `.netrc`, `.pgpass`, and the list of keys that AWS gives its users.
    SecretKind(
        ASSIGNED,
        ("machine ",),
        re.compile(
            r"machine\s{1,8}\S{1,100}\s{1,8}login\s{1,8}\S{1,100}\s{1,8}password\s{1,8}(?P<value>[^\s\"'`\\]{3,200})"
        ),
        _stands_there,
    ),
    SecretKind(
        ASSIGNED,
        (":54", ":6432:", ":*:"),
        re.compile(r":(?:54\d\d|6432|\*):[^\s:\"']{1,64}:[^\s:\"']{1,64}:(?P<value>[^\s\"'`<>|;:]{3,200})"),
        _stands_there,
    ),
    SecretKind(
        ASSIGNED,
        ("akia",),
        re.compile(r"AKIA[A-Z0-9]{16}[,\s\"':]{1,4}(?P<value>[A-Za-z0-9/+]{38,44})(?![\w/+])"),
        _stands_there,
    ),
    SecretKind(
        _COMMAND,
        ("login ",),
        re.compile(r"login\s(?P<value>[\w.~-]{16,200})(?![\w./:~-])"),
        _looks_random,
    ),
    SecretKind(
        _COMMAND,
        (" -p",),
        re.compile(
            r"(?:mysql\w{0,10}|mariadb|sshpass|7z[arz]?|rar|unrar)\b[^\n|;&]{0,100}?\s-p[\"']?(?P<value>[^\s\"'`|;&<>()]{3,200})"
        ),
        _is_option,
    ),
)
_LITERALS = frozenset(literal for kind in KINDS for literal in kind.literals)
_PAIR = re.compile(r"(?<![^\s;:\"'])[^\s=;:\"']{1,100}=(?P<value>[^\s;\"'`]{8,})")


def _matches(kind: SecretKind, text: str, where: Where) -> Iterator[FoundSecret]:
    for match in kind.pattern.finditer(text):
        whole = match.span("value" if "value" in kind.pattern.groupindex else 0)
        if "cookie" in kind.literals:
            for pair in _PAIR.finditer(text, *whole):
                if _looks_random(pair, where):
                    yield FoundSecret(kind.name, *pair.span("value"))
        elif kind.is_secret(match, where):
            yield FoundSecret(kind.name, whole[0], match.end("end") if match.groupdict().get("end") else whole[1])


def _prefixed(text: str) -> Iterator[FoundSecret]:
    end = 0
    for last in _AFTER_PREFIX.finditer(text):
        after = last.end()
        if after <= end or not text.endswith(_PREFIXES, 0, after):
            continue
        prefix = _PREFIX.search(text, max(0, after - _LONGEST_PREFIX), after)
        start = prefix.start() if prefix else after
        # Of a long run, its beginning tells enough; a longer look at each would take the square of its length.
        if _is_free(text, start) and _is_random(text[after : after + _LOOKED_AT].strip(".-")):
            rest = _REST_OF_KEY.match(text, after)
            end = after + len(rest[0].rstrip(".-")) if rest else after
            yield FoundSecret(_SERVICE, start, end)


def found_in(text: str, *, where: Where = Where.TEXT) -> list[FoundSecret]:
    """Return the secrets in a text, in their order, none overlapping another."""
    clean, kept = _visible(text)
    # As wide as a letter of Chinese, they separate all the same.
    clean = clean.replace("\uff1d", "=").replace("\uff1a", ":")
    # The one letter that grows when it is made small.
    lowered = clean.replace("\u0130", "I").lower()
    literals = {literal for literal in _LITERALS if literal in lowered}
    found = [
        each
        for kind in (KINDS if literals else ())
        if not literals.isdisjoint(kind.literals)
        for each in _matches(kind, clean, where)
    ]
    found += _prefixed(clean)
    found += _assigned(clean, lowered, where)
    return list(_in_original(_merged(found), kept))


# A line of one word, behind its number where a tool numbers lines.
_LONE = re.compile(r"^[ \t]{0,8}(?:\d{1,6}\u2192)?(?P<value>[\w+/.~=-]{12,2000})[ \t\r]{0,8}$", re.MULTILINE)
_ASKS = re.compile(rf"{_TELLS.pattern}|\bpass\b", re.IGNORECASE)
_MOST_PRINTED, _LONGEST_COMMAND = 4000, 2000
# Commands that print a secret and nothing else.
_PRINTS = re.compile(
    r"(?<![\w-])(?:op read|pass show|gopass show|gh auth token|gcloud auth print-[a-z]+-token|bw get password"
    r"|vault (?:read|kv get)\b[^|;&\n>]{1,200}-field|aws ecr get-login-password|secret-tool lookup"
    r"|security find-(?:generic|internet)-password\b[^|;&\n>]{1,200}\s-\w{0,3}w"
    r"|kubectl\b[^|;&\n>]{1,100}\bget secrets?\b[^|;&\n>]{1,200}\|\s?base64)\b"
    r"[^|;&\n>]{0,300}(?:\|\s?(?:base64|tr|head|cat)\b[^|;&\n>]{0,100}){0,2}\Z"
)
_ONE_WORD = re.compile(r"\s{0,8}(?:\d{1,6}\u2192)?(?P<value>\S{6,2000})\s{0,8}")


def printed_by(command: Callable[[], str], output: str) -> list[FoundSecret]:
    """Return what a command that speaks of a secret (`gh auth token`) printed on a line of its own.

    Args:
        command: called where there is such a line.
        output: what it printed; of a long one, no line is what was asked for.

    """
    if len(output) > _MOST_PRINTED:
        return []
    word = _ONE_WORD.fullmatch(output)
    if word and _is_meant(word["value"]) and _PRINTS.search(command()[:_LONGEST_COMMAND].strip()):
        return [FoundSecret(PRINTED, *word.span("value"))]
    lone = [found for found in _LONE.finditer(output) if _is_bare(found["value"])]
    if not lone or not _ASKS.search(command()[:_LONGEST_COMMAND]):
        return []
    return [FoundSecret(PRINTED, *found.span("value")) for found in lone]


def hide(text: str, found: Iterable[FoundSecret]) -> str:
    """Return a text with `***` in the places found."""
    parts, end = [], 0
    for each in found:
        parts += [text[end : each.start], HIDDEN]
        end = each.end
    return "".join((*parts, text[end:])) if parts else text


def _merged(found: list[FoundSecret]) -> Iterator[FoundSecret]:
    """Yield places in their order; of two that overlap, the kind that stands first in the table counts."""
    rank = {id(each): number for number, each in enumerate(found)}
    current: list[FoundSecret] = []
    for each in sorted(found, key=lambda place: place.start):
        if current and each.start >= max(place.end for place in current):
            yield _joined(current, rank)
            current = []
        current.append(each)
    if current:
        yield _joined(current, rank)


def _joined(places: list[FoundSecret], rank: dict[int, int]) -> FoundSecret:
    first = min(places, key=lambda place: rank[id(place)])
    return FoundSecret(first.kind, places[0].start, max(place.end for place in places))


# ---- what is invisible


def _visible(text: str) -> tuple[str, list[tuple[int, int]]]:
    """Return a text without what is invisible, and of each piece where it begins: there, and in the original."""
    parts, kept, end, length = [], [], 0, 0
    for match in _INVISIBLE.finditer(text):
        parts.append(text[end : match.start()])
        kept.append((length, end))
        length += match.start() - end
        end = match.end()
    kept.append((length, end))
    return "".join((*parts, text[end:])) if parts else text, kept


def _in_original(found: Iterable[FoundSecret], kept: list[tuple[int, int]]) -> Iterator[FoundSecret]:
    starts = [start for start, _ in kept]

    def original(place: int) -> int:
        start, there = kept[bisect_right(starts, place) - 1]
        return there + place - start

    for each in found:
        yield FoundSecret(each.kind, original(each.start), original(each.end - 1) + 1)
