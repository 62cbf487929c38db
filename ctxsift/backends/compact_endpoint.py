"""A service's own compaction: POST /responses/compact, as OpenAI's API describes it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ctxsift import strict_json
from ctxsift.errors import BackendError, RefusedError, TransientError
from ctxsift.extras import Extra, install_hint

if TYPE_CHECKING:
    from ctxsift.settings import Settings

_NOT_THERE = frozenset({404, 405, 501})
_SHOWN = 200
# More is not looked at for keys: an error of a service may have any size.
_READ = 10_000


def compact_items(
    settings: Settings, model: str, items: Sequence[Mapping[str, Any]], timeout_s: float | None
) -> list[dict[str, Any]]:
    """Return what a service makes of items of a conversation; its items are to be passed on as they are.

    Args:
        settings: with the address and the key.
        model: as the service knows it.
        items: of the form of the Responses API, earlier results of this function among them.
        timeout_s: seconds to wait; None for the settings'.

    Raises:
        RefusedError: it has no such endpoint, or will never answer.
        TransientError: it does not answer now.
        BackendError: what came is no compaction.

    """
    return asyncio.run(_compact(settings, model, items, timeout_s or settings.timeout_ms / 1000))


async def _compact(
    settings: Settings, model: str, items: Sequence[Mapping[str, Any]], timeout_s: float
) -> list[dict[str, Any]]:
    try:
        import httpx

        from ctxsift.backends.litellm_client import new_client
    except ModuleNotFoundError as error:
        raise RefusedError(f"the package {error.name!r} is not installed; {install_hint(Extra.REMOTE)}") from error
    base = (settings.llm_base_url or "").rstrip("/")
    body = json.dumps({"model": model, "input": list(items)})
    headers = {"authorization": f"Bearer {settings.llm_api_key}", "content-type": "application/json"}
    async with new_client(base) as client:
        try:
            async with asyncio.timeout(timeout_s):
                reply = await client.post(f"{base}/responses/compact", content=body, headers=headers)
        except TimeoutError as error:
            raise TransientError(f"no answer within {timeout_s:g} s") from error
        except httpx.HTTPError as error:
            raise TransientError(f"the service does not answer ({type(error).__name__})") from error
    if reply.status_code in _NOT_THERE:
        raise RefusedError(f"the service has no endpoint /responses/compact (HTTP {reply.status_code})")
    if reply.status_code != 200:
        told = " ".join(settings.secrets.out_of_message(reply.text[:_READ]).split())[:_SHOWN]
        kind = TransientError if reply.status_code == 429 or reply.status_code >= 500 else RefusedError
        raise kind(f"the service answers HTTP {reply.status_code}: {told}")
    return _items(reply.content)


def _items(content: bytes) -> list[dict[str, Any]]:
    try:
        document: Any = strict_json.decode(content)
    except ValueError as error:
        raise BackendError(f"the service's compaction is not valid JSON ({error})") from error
    output = document.get("output") if isinstance(document, dict) else None
    found = [item for item in output if isinstance(item, dict)] if isinstance(output, list) else []
    if not any(item.get("encrypted_content") for item in found):
        raise BackendError("the service's compaction has no encrypted_content")
    return found
