"""Forms that secrets take in files, headers and commands, and lines that only look like them.

Every key is generated and put together here, so that no scanner takes this file for a leak.
"""

from __future__ import annotations

import random
import string
from collections.abc import Iterator

_RANDOM = random.Random(20_240_517)
_ALPHABET = string.ascii_letters + string.digits
_HEX = "0123456789abcdef"
AT = "\x00"


def generated(length: int, alphabet: str = _ALPHABET) -> str:
    """Return a key with letters and digits."""
    key = "".join(_RANDOM.choice(alphabet) for _ in range(length - 2))
    return key + next(c for c in alphabet if c.isalpha()) + "7"


def _known() -> dict[str, str]:
    upper = string.ascii_uppercase + string.digits
    long, hexes = generated(40), generated(32, _HEX)
    prefixed = (
        *("ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_" + "pat_", "glpat-", "gldt-", "npm_", "hf_", "gsk_", "r8_"),
        *("sk-", "sk-ant-" + "api03-", "sk-proj-", "sk-or-" + "v1-", "sk_" + "live_", "rk_" + "live_", "whsec_"),
        *("xoxb-", "xoxp-", "xapp-", "xai-", "pplx-", "nvapi-", "dckr_" + "pat_", "hvs.", "dp.pt.", "ntn_", "figd_"),
        *("lin_" + "api_", "dop_" + "v1_", "shpat_", "pypi-" + "AgEI", "glsa_", "sntrys_", "GOCSPX-", "ya29."),
    )
    return {prefix: prefix + long for prefix in prefixed} | {
        "AWS key id": "AKIA" + generated(16, upper),
        "AWS session": "ASIA" + generated(16, upper),
        "Google": "AIza" + generated(35),
        "SendGrid": f"SG.{generated(22)}.{generated(43)}",
        "Twilio": "SK" + hexes,
        "JWT": f"eyJ{generated(30)}.eyJ{generated(30)}.{generated(43)}",
        "Azure client": f"{generated(3)}8Q~{generated(34)}",
        "Databricks": "dapi" + hexes,
    }


KNOWN = _known()

# `NUL` stands where the secret is.
NAMED = {
    "npmrc": f"//registry.example.net/:_authToken={AT}",
    "npmrc of old": f"_auth = {AT}",
    "aws credentials": f"[default]\naws_secret_access_key = {AT}",
    "netrc": f"machine host.example login ada password {AT}",
    "netrc in lines": f"machine host.example\n  login ada\n  password {AT}",
    ".env": f"DB_PASSWORD={AT}",
    ".env quoted": f'API_KEY="{AT}"',
    ".env lower case": f"db_password={AT}",
    ".env export": f"export GITHUB_TOKEN='{AT}'",
    "set of cmd": f"set API_TOKEN={AT}",
    "PowerShell": f'$env:API_KEY = "{AT}"',
    "YAML": f"  clientSecret: {AT}",
    "YAML quoted": f"password: '{AT}'",
    "YAML list": f"- api-key: {AT}",
    "YAML block": f"apiToken: >-\n  {AT}",
    "Kubernetes": f"- name: DB_PASSWORD\n  value: {AT}",
    "JSON": f'{{"api_key": "{AT}"}}',
    "JSON tight": f'{{"password":"{AT}"}}',
    "JSON in JSON": f'"{{\\"token\\": \\"{AT}\\"}}"',
    "JSON name and value": f'{{"Name": "DB_PASSWORD", "Value": "{AT}"}}',
    "docker config": f'{{"auths": {{"ghcr.io": {{"auth": "{AT}"}}}}}}',
    "TOML": f'api_key = "{AT}"',
    "properties": f"spring.datasource.password={AT}",
    "XML": f"<password>{AT}</password>",
    "XML attribute": f'<add key="ApiSecret" value="{AT}"/>',
    "Python": f'os.environ["API_KEY"] = "{AT}"',
    "JavaScript": f"const accessToken = '{AT}';",
    "Ruby": f":secret_key => '{AT}'",
    "Go": f'apiKey := "{AT}"',
    "compared": f'if token == "{AT}":',
    "Authorization": f"Authorization: Bearer {AT}",
    "Authorization, token": f"Authorization: token {AT}",
    "Authorization, basic": f"authorization: Basic {AT}",
    "Authorization in JSON": f'"Authorization": "Bearer {AT}"',
    "X-Api-Key": f"X-Api-Key: {AT}",
    "curl -H": f"curl -H 'x-api-key: {AT}' https://api.example.net",
    "PRIVATE-TOKEN": f"PRIVATE-TOKEN: {AT}",
    "Cookie": f"Cookie: lang=en; session={AT}; theme=dark",
    "Set-Cookie": f"Set-Cookie: sid={AT}; Path=/; HttpOnly",
    "curl -b": f"curl -b 'sid={AT}' https://api.example.net",
    "postgres": f"postgres://shop:{AT}@db:5432/shop",
    "mongodb": f"mongodb+srv://shop:{AT}@cluster.example.net/shop",
    "redis": f"redis://:{AT}@cache:6379/0",
    "amqp": f"amqp://guest:{AT}@mq:5672/",
    "git remote": f"https://x-access-token:{AT}@github.com/o/r.git",
    "git remote, key alone": f"https://{AT}@github.com/o/r.git",
    "JDBC": f"jdbc:postgresql://db/shop?user=shop&password={AT}",
    "ADO": f"Server=db;Database=shop;User Id=sa;Password={AT};Encrypt=true",
    "ADO, Pwd": f"Server=db;Uid=sa;Pwd={AT};",
    "libpq": f"host=db user=shop password={AT} dbname=shop",
    "Azure storage": f"DefaultEndpointsProtocol=https;AccountName=a;AccountKey={AT};EndpointSuffix=core.windows.net",
    "Azure bus": f"Endpoint=sb://b/;SharedAccessKeyName=Root;SharedAccessKey={AT}",
    "signed address": f"https://shop.blob.core.windows.net/a?sv=2024&sig={AT}&se=2030",
    "token in an address": f"https://api.example.net/v1?access_token={AT}&page=2",
    "curl -u": f"curl -u admin:{AT} https://host/api",
    "docker login": f"docker login -u bot -p {AT} ghcr.io",
    "mysql": f"mysql -u root -p{AT} shop",
    "redis-cli": f"redis-cli -a {AT} ping",
    "sshpass": f"sshpass -p {AT} ssh host",
    "--token=": f"gh-run --token={AT}",
    "--password": f"deploy --password {AT} --verbose",
    "URL in a variable": f"DATABASE_URL=mysql://shop:{AT}@db/shop",
    "Slack webhook": f"https://hooks.slack.com/services/T000/B000/{AT}",
    "Discord webhook": f"https://discord.com/api/webhooks/123456789/{AT}",
    "Telegram": f"https://api.telegram.org/bot123456789:AA{AT}x/getMe",
    "PEM": f"-----BEGIN OPENSSH PRIVATE {'KEY'}-----\n{AT}\n-----END OPENSSH PRIVATE {'KEY'}-----",
    "PEM, numbered": f" 1\t-----BEGIN RSA PRIVATE {'KEY'}-----\n 2\t{AT}\n 3\t-----END RSA PRIVATE {'KEY'}-----",
    "PEM, cut": f"-----BEGIN PRIVATE {'KEY'}-----\n{AT}\n",
    "said": f"My password: {AT}",
    "said in a sentence": f"The API key is {AT}.",
    "table": f"| token | {AT} |",
    "arrow": f"token -> {AT}",
    "call": f"setenv('API_KEY', '{AT}')",
    "Dockerfile": f"ENV SECRET_KEY_BASE {AT}",
    "aws configure": f"aws configure set aws_secret_access_key {AT}",
    "bytes": f"b'password': b'{AT}'",
    "YAML below": f"password:\n  {AT}",
}

INNOCENT = (
    "request 123e4567-e89b-42d3-a456-426614174000 failed",
    "commit 9fceb02d0ae598e95dc970b74767f19372d61af8",
    "sha256:2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae",
    '"integrity": "sha512-v2kDEe57lecTulaDIuNTPy3Ry4gLGJ6Z1O3vE1krgXZNrsQ+LFTGHVxVjcXPs17LhbZVGedAJv8XZ1tvj5Fvkg=="',
    "token_count=512",
    "max_tokens: 4096",
    '"total_tokens": 15342, "token": 512',
    "password_hash = hashed(password)",
    'password_hash: "3f2a9c1d4e5b6a79"',
    "API_KEY=<your-api-key>",
    "export LLM_API_KEY=sk-ant-...",
    'api_key = "your-api-key-here"',
    "TOKEN=${TOKEN}",
    'token: "{{ token }}"',
    "password: ${{ secrets.PASSWORD }}",
    'api_key=os.environ["API_KEY"]',
    "const apiKey = process.env.API_KEY;",
    "token = secrets.token_hex(16)",
    "const token = await getToken(user.id);",
    "The token bucket algorithm limits what each client sends.",
    "Forgotten your password: follow the link.",
    "password: string; token?: string",
    "def login(user: str, password: str, token: Token) -> None:",
    "Error: invalid token: unexpected end of input",
    "SyntaxError: Unexpected token '}' at line 12",
    "Authorization: Bearer <token>",
    "Authorization: Bearer $TOKEN",
    'headers["Authorization"] = request.headers.get("Authorization")',
    '{"authorization": f"Bearer {value}"}  authorization: Final[Mapping[str, str]]  (Authorization: Bearer)',
    'headers={"authorization": "Bearer ' + 'hf_***"}  Authorization: Bearer sk-' + "...",
    "credentials: 'same-origin'",
    "api_key: api_key2, access_key: accessKeyV2; cache_key = f'user:{id}:v2'; primary_key=True",
    "password: required|min:8|confirmed  password: { type: String, required: true }",
    "the password was changed on 2024-05-06; a secret santa list; basic usage",
    "PASSWORD_FILE=/run/secrets/db1  PWD=/home/ada/x2  --- PASS: TestToken2 (0.00s)  pass=1 fail=0",
    "ssh -p 2222 host; mysql -p3306; npm i @scope/pkg@1.2.3; cp -p file1 file2",
    "private_key_path = /etc/ssl/private/server.key",
    "ssl_private_key: /etc/ssl/server2024.pem",
    "secret: projects/shop/secrets/db-password/versions/latest",
    "secretName: db-credentials",
    "name: db-credentials\n  key: password",
    "tokenizer = AutoTokenizer.from_pretrained('bert-base-uncased')",
    'pad_token = "<pad>", eos_token="</s>"',
    "token = sha256(value)",
    "token: base64_value",
    'input type="password" name="password" placeholder="Password"',
    'label: "Password", token: "identifier"',
    "if (token === undefined || password == null) return;",
    "mysql -u root -p shop < dump.sql",
    "docker run -u 1000:1000 -p 8080:80 image",
    "ssh-keygen -t ed25519 -f key",
    "https://example.net:8080/a?page=2&sort=name",
    "postgres://user:password@localhost/db is what the manual shows, with $PASSWORD or <password>",
    "sk-learn-style-estimators-with-many-words",
    "cookie: session=...; Cookie: lang=en",
    "eyJ is how the tokens begin",
    "grep -rn 'BEGIN PRIVATE KEY' src | wc -l",
    'if text.startswith("-----BEGIN PRIVATE ' + 'KEY-----"): raise ValueError("no keys in the repository, please")',
    "css: .token.keyword { color: #07a } .token.string { color: #690 }",
)

BEFORE_AND_AFTER = (
    ("", ""),
    ('"', '"'),
    ("(", ")"),
    ("", ", and"),
    ("[", "]"),
    ("", "\n"),
    ("x\n", "\nx"),
    ("\u0130 ", ""),
)
COLOURS = (("", ""), ("\x1b[31m", "\x1b[0m"), ("\x1b[38;5;9m", "\x1b[K\x1b[0m"), ("\u200b", "\u200b"))


def secrets() -> Iterator[tuple[str, str, str]]:
    """Yield each form: its name, a text, and the secret in it."""
    for name, secret in KNOWN.items():
        yield name, secret, secret
    for name, form in NAMED.items():
        key = generated(32)
        yield name, form.replace(AT, key), key


def crossed() -> Iterator[tuple[str, str, str]]:
    """Yield each form with each neighbour and colour: what it is, a text, and the secret in it."""
    for name, text, secret in secrets():
        for before, after in BEFORE_AND_AFTER:
            # Quotes within quotes would be escaped.
            if before == '"' and '"' in text:
                continue
            for start, end in COLOURS:
                yield (
                    f"{name} {before!r} {start!r}",
                    before + text.replace(secret, start + secret + end) + after,
                    secret,
                )
        half = len(text) - len(secret) // 2 if text.endswith(secret) else text.index(secret) + len(secret) // 2
        yield f"{name}, coloured within", f"{text[:half]}\x1b[1m{text[half:]}", secret
