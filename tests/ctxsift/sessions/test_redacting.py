"""Secrets go, code stays."""

from __future__ import annotations

import json
import random
import re
import string
from pathlib import Path

import pytest

from ctxsift.sessions.records import JsonValue, Session, SessionHead, Source, Step, ToolCall
from ctxsift.sessions.redacting import Redactor
from tests.ctxsift.sessions.samples import PI_HEAD, claude, lines, pi, read, use
from tests.support.secret_forms import generated

# Written so that no scanner takes this file for a leak.
KEY = "A1b2C3d4E5f6G7h8I9j0K1l2"
PEM = "-----BEGIN RSA PRIVATE " + "KEY-----\nMIIEpAIBAAKCAQEA7\nabc\n-----END RSA PRIVATE " + "KEY-----"
JWT = "eyJhbGciOiJIUzI1NiJ9" + ".eyJzdWIiOiIxMjM0In0" + ".c2lnbmF0dXJl"

SECRETS = {
    f"sk-ant-{KEY}": "key of a service",
    f"ghp_{KEY}": "key of a service",
    f"github_pat_{KEY}": "key of a service",
    f"glpat-{KEY}": "key of a service",
    f"xoxb-{KEY}": "key of a service",
    f"sk_live_{KEY}": "key of a service",
    "AKIA" + "IOSFODNN7EXAMPLF": "key of a service",
    "AIza" + "SyA1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6q": "key of a service",
    JWT: "JWT",
    PEM: "private key",
    "jane.doe+x@mail.example-shop.co.uk": "e-mail address",
}
ASSIGNED = {
    "export DB_PASSWORD=correct-horse": "export DB_PASSWORD=***",
    "GITHUB_TOKEN='q1w2e3r4t5'": "GITHUB_TOKEN='***'",
    'password: "hunter2hunter2"': 'password: "***"',
    '{"api_key": "q1w2e3r4t5"}': '{"api_key": "***"}',
    '{\\"api_key\\": \\"q1w2e3r4t5\\"}': '{\\"api_key\\": \\"***\\"}',
    "client_secret = 'q1w2e3r4t5'": "client_secret = '***'",
}
CODE = [
    "const token = next(iter(tokens)); password: string; apiKey?: string",
    "token: Token = self.token_of(secret=None)",
    'os.environ["API_KEY"]  api_key="${API_KEY}"  PASSWORD=$SECRET  TOKEN=$(cat f)',
    'password = "<your password>"  "secret": "string"  token="***"  api_key="your-key-here"',
    "max_tokens=4096, total_tokens: 12, SECRET_NAME = re.compile",
    "npm install lodash@4.17.21 @types/node@20.1.0 react@next icon@2x.png x@1.2.3-rc.1",
    "git@github.com:acme/shop.git  ssh://git@host.example/x  user@localhost",
    "/home/jane/work/shop/cart.py:12:3  /Users/badlogic/workspaces/pi-mono",
    "https://example.com:8080/a@b?x=1  http://user:$PASS@host/  http://user:<password>@host/",
    "task-sk-loading-indicator-of-Cart  risk-assessment-of-the-Build-plan  mask_sk_value",
    "Authorization: Bearer ${TOKEN}   basic authentication is a scheme of HTTP",
    "-----BEGIN PUBLIC KEY-----\nMIIB\n-----END PUBLIC KEY-----  'PRIVATE KEY'",
    '"vault_token": "HCP_VAULT_TOKEN"  TOKEN=OTHER_TOKEN',
    "@app.route('/x')  foo@bar  #! @ts-ignore  a @ b.c  sha256@deadbeef",
    "+@pytest.mark.parametrize  -@functools.cache  +    @app.route",
]


@pytest.mark.parametrize("secret", SECRETS)
def test_secrets_are_taken_out_and_counted(secret: str) -> None:
    redactor = Redactor()
    shown = redactor.text(f"before {secret} after")
    assert secret.split("\n")[-2 if "\n" in secret else 0] not in shown
    assert shown.startswith("before ")
    assert shown.endswith("*** after")
    assert redactor.counts == {SECRETS[secret]: 1}


@pytest.mark.parametrize("text", ASSIGNED)
def test_of_an_assignment_the_name_stays(text: str) -> None:
    redactor = Redactor()
    assert redactor.text(text) == ASSIGNED[text]
    assert redactor.counts == {"assigned secret": 1}


def test_credentials_of_requests_and_addresses() -> None:
    redactor = Redactor()
    text = f"curl -H 'Authorization: Bearer {KEY}' https://jane:pass-word@host.example/x"
    assert redactor.text(text) == "curl -H 'Authorization: Bearer ***' https://jane:***@host.example/x"
    assert redactor.counts == {"credentials of a request": 1, "password in an address": 1}


@pytest.mark.parametrize("text", CODE)
def test_code_stays(text: str) -> None:
    redactor = Redactor()
    assert redactor.text(text) == text
    assert not redactor.counts


def test_everything_of_a_session_is_looked_at(tmp_path: Path) -> None:
    key = f"ghp_{KEY}"
    arguments = {"env": [{"x": key}], "password": "hunter22"}
    records = [
        PI_HEAD,
        pi("user", f"use {key}", 1),
        pi(
            "assistant",
            [
                {"type": "thinking", "thinking": f"so {key}"},
                {
                    "type": "toolCall",
                    "id": "k",
                    "name": "bash",
                    "arguments": arguments,
                },
            ],
            2,
        ),
        pi("toolResult", f"got {key}", 3, toolCallId="k"),
        {"type": "compaction", "summary": f"keep {key}"},
        {"type": "session_info", "name": f"about {key}"},
    ]
    session = read(tmp_path, lines(*records))
    assert key not in repr(session)
    assert session.redacted == {"key of a service": 6, "assigned secret": 1}
    assert session.steps[1].calls[0].arguments == {"env": [{"x": "***"}], "password": "***"}
    kept = read(tmp_path, lines(*records), keep_secrets=True)
    assert (repr(kept).count(key), kept.redacted) == (6, {})


def test_subagents_are_looked_at_as_well(tmp_path: Path) -> None:
    record = claude("assistant", [use("t", "Bash", command=f"x ghp_{KEY}")], 1, isSidechain=True, agentId="a")
    session = read(tmp_path, lines(claude("user", "Go", 0), record))
    assert session.subagents[0].steps[0].calls[0].arguments == {"command": "x ***"}


def test_random_text_is_only_ever_shortened_at_secrets() -> None:
    rng = random.Random(5)
    alphabet = string.ascii_letters + string.digits + "@.:/=_- \n\"'\u0130"
    for _ in range(300):
        text = "".join(rng.choice(alphabet) for _ in range(200))
        redactor = Redactor()
        shown = redactor.text(text)
        assert (shown == text) == (not redactor.counts)


BARE = generated(32)
ASKING = [
    "vault read -field=token auth/token/lookup-self",
    "gh auth token",
    "op read op://prod/db/password",
    "terraform output -raw db_password",
    "printenv API_KEY",
    "pass show work/forge",
    "cat ~/.vault-token",
]
PLAIN_OUTPUTS = [
    ("git log -1 --format=%H -- src/token.py", generated(40, "0123456789abcdef")),
    ("cat /proc/sys/kernel/random/uuid > token; cat token", "3f2a8c1e-5b7d-4e0a-9c1b-aa34be7710fd"),
    ("npm view jsonwebtoken dist.integrity", f"sha512-{generated(86)}=="),
    ("ls src/auth", "AuthTokenProviderFactoryBean.java\ntoken_refresh_after_30_minutes_v2\nid_ed25519_deploy.pub"),
    ("kubectl get pods -o name -l app=auth", "auth-7f9c6d5b4-x2x9q"),
    ("go list -m -json example.com/auth", f"h1:{generated(43)}="),
    ("cat src/build.txt", BARE),
    ("echo $PATH; ls token", "/usr/local/bin:/usr/bin"),
]


def printed(path: Path, command: str, output: str) -> Session:
    """Return a session with one call and what came of it."""
    result = [{"type": "tool_result", "tool_use_id": "t1", "content": output}]
    head = claude("user", "Go.", uuid="u1")
    return read(path, lines(head, claude("assistant", [use("t1", "Bash", command=command)]), claude("user", result)))


@pytest.mark.parametrize("command", ASKING)
@pytest.mark.parametrize("output", [BARE, f"{BARE}\n", f"Output:\n{BARE}", f"     1\u2192{BARE}"])
def test_what_a_command_prints_that_speaks_of_a_secret_is_one(tmp_path: Path, command: str, output: str) -> None:
    session = printed(tmp_path / "s.jsonl", command, output)
    assert session.steps[1].results[0].text == output.replace(BARE, "***")
    assert session.redacted == {"printed secret": 1}


@pytest.mark.parametrize(("command", "output"), PLAIN_OUTPUTS)
def test_digests_ids_and_names_that_it_prints_stay(tmp_path: Path, command: str, output: str) -> None:
    assert printed(tmp_path / "s.jsonl", command, output).steps[1].results[0].text == output


def test_long_random_values_under_key_and_csrf() -> None:
    for text in (f"key: {BARE}", f"session_key: {BARE}", f"csrf: {BARE}", f"Your token is:\n{BARE}"):
        assert Redactor().text(text) == text.replace(BARE, "***")
    for text in ("key: user_profile_settings_page", f"cache key: linux-node-{generated(64, '0123456789abcdef')}"):
        assert Redactor().text(text) == text
    for text in (f"public key: {BARE}", f"key: sha512-{generated(86)}==", "keys: 128, csrf: true, key: ArrowRight"):
        assert Redactor().text(text) == text


@pytest.mark.parametrize("command", ["vault login {}", "sqlcmd -S db -U sa -P {} -Q x", "docker login -u me -p {} h"])
def test_passwords_of_more_commands(command: str) -> None:
    assert Redactor().text(command.format(BARE)) == command.format("***")


@pytest.mark.parametrize(
    ("command", "shown"),
    [
        (["mysql", "-pVb3nXk9q", "db"], ["mysql", "-p***", "db"]),
        (["curl", "-u", "me:Vb3nXk9q", "https://x"], ["curl", "-u", "me:***", "https://x"]),
        (["cli", "--token", "Vb3nXk9qLm27"], ["cli", "--token", "***"]),
        (["git", "mv", "a b", "docs/token.md"], ["git", "mv", "a b", "docs/token.md"]),
    ],
)
def test_options_in_a_list_of_words_tell_what_follows(command: list[str], shown: list[str]) -> None:
    assert Redactor().value({"command": list(command)}) == {"command": shown}


def test_a_name_tells_what_its_value_is() -> None:
    token: dict[str, JsonValue] = {"name": "API_TOKEN", "value": "Vb3nXk9qLm2pQ7rT"}
    host: dict[str, JsonValue] = {"name": "API_HOST", "value": "shop-7.internal"}
    assert Redactor().value({"environment": [token, host]}) == {"environment": [token | {"value": "***"}, host]}


@pytest.mark.parametrize("text", ["PWD=/home/me/proj2", "OLDPWD=/srv/a1b2c3", "pwd: ~/work/proj2"])
def test_folders_stay(text: str) -> None:
    assert Redactor().text(text) == text


# What stands between the marks is the secret.
PLACES = [
    "mysqldump --password=«MySecretPass123» shop",
    "mongosh --password '«my secret phrase»' --host db",
    "createuser.sh --password «changeme123»",
    "PGPASSWORD=«tokenofmylove» psql -h db",
    "SSHPASS=«passw0rd-secret» sshpass -e ssh host",
    "keytool -srcstorepass «changeit7» -deststorepass «changeit8»",
    "kubectl create secret generic db --from-literal=password=«bluehorse»",
    "helm install db --set auth.password=«bluehorse»",
    "curl https://id.example.net/token -d 'grant_type=password&password=«secretgarden»&scope=a'",
    "echo «hunter2hunter2» | docker login -u bot --password-stdin ghcr.io",
    "docker login -u bot --password-stdin ghcr.io <<< '«Blue-Horse-77»'",
    "echo '«letmein»' | sudo -S apt-get install jq",
    'echo "«a1b2c3d4e5f60718293a4b5c6d7e8f90»" | gh auth login --with-token',
    "printf '%s\\n' '«r3gistry-Pw»' | helm registry login -u ci --password-stdin h",
    "echo 'deploy:«S3cretHorse»' | sudo chpasswd",
    "htpasswd -bc /etc/nginx/.htpasswd admin «Winter2024!»",
    "7z x backup.7z -p«OpenSesame99» -oout",
    "unzip -P «OpenSesame» backup.zip",
    "$p = ConvertTo-SecureString '«Adm1nPassw0rd!»' -AsPlainText -Force",
    "openssl enc -d -in s.enc -pass pass:«correcthorse»",
    "psql -c \"CREATE ROLE app LOGIN PASSWORD '«apppass»'\"",
    "mysql -e \"ALTER USER 'root'@'h' IDENTIFIED BY '«newrootpass»'\"",
    "mysql -u root -p«orange» shop",
    "docker login -u bot -p «orange» ghcr.io",
    "redis-cli -a «orange» ping",
    "curl -u amy:«orange» https://host.example",
    "terraform apply -var 'db_password=«orange»'",
    "psql postgres://me:«p@ss5word»@db.example:5432/shop",
]
FILES = [
    "     1\tdb.example.net:5432:shop:app:«orange-lamp»\n     2\t*:*:*:postgres:«Tiger99x»",
    "_auth=«Ym90OmJsdWVob3JzZTc3»",
    f"# age\nAGE-SECRET-{'KEY'}-1«" + "QYSZGP" * 9 + "QYSZ»",
    "Access key ID,Secret access key\n" + "AKIA" + f"IOSFODNN7EXAMPLF,«{generated(40)}»",
    "- name: STRIPE_KEY\n  value: «kq93hfa82hfkq93hfa82»",
    '- name: DB_PASSWORD\n  value: "«bluehorse»"',
    "DB_PASSWORD\uff1d«ab12cd34ef»",
    "[client]\npassword=«secretsauce9»",
    "define('DB_PASSWORD', '«orange»');",
    "machine api.example.net login amy password «orange-token»",
]
INNOCENT = [
    "docker login -u bot --password-stdin ghcr.io < ~/.ghcr_token",
    'echo $TOKEN | gh auth login --with-token; echo "$(cat pw1)" | sudo -S ls',
    "echo 'deb http://x' | sudo tee /etc/apt/sources.list.d/x.list; echo done | sudo -u postgres psql",
    "restic --password-file /etc/restic/pass.txt; kubectl create secret generic a2 --from-file=password=./pw1.txt",
    "sudo passwd amy; cat /etc/passwd; pass show work/db2; grep -rn 'password=' src/auth2",
    "7z x backup.7z -oout; unzip -p archive9.zip app1.json; cp -p src/Secret1.java build/",
    "htpasswd -c /etc/nginx/.htpasswd admin2; openssl enc -d -pass file:/run/key1.txt -pass env:MY_PASS",
    "docker run -u node:node -p 8080:80 image; mysql -u root -p shop; ssh -p 2222 root@h; curl -u $U:$P https://x",
    "['DB_PASSWORD', 'DB_HOST'], ('PASSWORD', 'username'), getenv('DB_PASSWORD', 'password')",
    "sed -i 's/password: .*/password: {{ db_password }}/' values2.yaml",
    "Use --password to set it, --password=password or --token TOKEN; the token ring and the secret sauce stay.",
    "- name: DB_PASSWORD\n  valueFrom:\n    secretKeyRef:\n      name: db-secret2\n      key: password",
    "- name: LOG_LEVEL\n  value: debug4",
    "src/app.py:12:3:10: E501  root:x:0:0:root:/root:/bin/bash  amy:x:1000:1000:Amy2,,,:/home/amy:/bin/zsh",
    '"auth": "oauth2", password = serializers.CharField(max_length=128), f(password=password2, token=api_key2)',
]


def unmarked(text: str) -> tuple[str, str]:
    """Return a text without its marks, and what is to be left of it."""
    return text.replace("«", "").replace("»", ""), re.sub("«[^»]*»", "***", text)


@pytest.mark.parametrize("marked", PLACES)
def test_where_a_secret_stands_for_sure_any_word_is_one(marked: str) -> None:
    text, shown = unmarked(marked)
    assert Redactor().value({"command": text}) == {"command": shown}


@pytest.mark.parametrize("marked", FILES)
def test_secrets_of_more_kinds_of_files(marked: str) -> None:
    text, shown = unmarked(marked)
    assert Redactor().text(text).replace("AGE-SECRET-KEY-1", "").replace(
        "AKIAIOSFODNN7EXAMPLF", "***"
    ) == shown.replace("AGE-SECRET-KEY-1", "").replace("AKIAIOSFODNN7EXAMPLF", "***")


@pytest.mark.parametrize("text", INNOCENT)
def test_what_only_speaks_of_secrets_stays(text: str) -> None:
    assert Redactor().value({"command": text, "text": text}) == {"command": text, "text": text}


@pytest.mark.parametrize(
    ("arguments", "hidden"),
    [
        ({"headers": [["Authorization", "a8f7sd6f8a7sdf6"], ["Accept", "text/html2"]]}, "a8f7sd6f8a7sdf6"),
        ({"headers": {"Authorization": "a8f7sd6f8a7sdf6", "Accept": "*/*"}}, "a8f7sd6f8a7sdf6"),
        ({"name": "DB_PASSWORD", "value": "bluehorse"}, "bluehorse"),
        ({"selector": "#password", "text": "Gr33nTea!"}, "Gr33nTea!"),
        ({"password": "MyTokenIsLong"}, "MyTokenIsLong"),
        ({"selector": "#username", "text": "Gr33nTea"}, ""),
        ({"required": ["password", "firstname"], "password": "newPassword"}, ""),
        ({"pattern": "password2|secret1", "path": "src/token3"}, ""),
    ],
)
def test_names_beside_a_value_tell_what_it_is(arguments: dict[str, JsonValue], hidden: str) -> None:
    shown = json.dumps(Redactor().value(arguments))
    assert shown == (json.dumps(arguments).replace(hidden, "***") if hidden else json.dumps(arguments))


@pytest.mark.parametrize("command", ["op read op://p/db/password", "security find-generic-password -s shop -w"])
def test_a_command_that_prints_a_secret_alone_prints_any_word(tmp_path: Path, command: str) -> None:
    assert printed(tmp_path / "s.jsonl", command, "Fjord-Lamp\n").steps[1].results[0].text == "***\n"
    for other in (f"{command} | wc -c", f"{command} > /dev/null", "ls"):
        assert printed(tmp_path / "s.jsonl", other, "Fjord-Lamp\n").steps[1].results[0].text == "Fjord-Lamp\n"


def test_names_of_tools_models_and_versions_are_looked_at() -> None:
    key = f"ghp_{KEY}"
    redactor = Redactor()
    head = SessionHead("pi", session_id=key, agent=key, agent_version=key, model=key, folder=key, title=key)
    step = Step(1, Source.AGENT, "", calls=(ToolCall("c", key, {}),), model=key)
    assert key not in repr([*redactor.events([head, step])])
    assert redactor.counts == {"key of a service": 2}
