"""Refuses requests of foreign web pages to the server of the live viewer.

A page of another site may open a websocket to a server on the user's own machine: browsers do not keep
it from that, but say in the header Origin where the page comes from. A request counts as one of
the viewer's own page if Origin names the address that was asked, header Host, and if that is one
of this machine: a name that a foreign site has pointed to it is not.
"""

from __future__ import annotations

import ipaddress
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

_PATCHING = threading.Lock()


def is_loopback(host: str) -> bool:
    """Whether a name or address is one of this machine alone."""
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def is_own(origin: str | None, host: str | None) -> bool:
    """Whether a request with these headers comes from the viewer's own page, or from no page."""
    if host is None:
        return False
    try:
        asked = urlsplit(f"//{host}")
        name = asked.hostname
        own = name is not None and is_loopback(name) and asked.port != 0
        if origin is None:
            return own
        source = urlsplit(origin)
        return own and source.scheme in ("http", "https") and source.netloc.lower() == host.lower()
    except ValueError:
        return False


@contextmanager
def own_pages_only() -> Iterator[Callable[[], bool]]:
    """Within it, servers of `websockets` are started such that they refuse the requests of foreign pages.
    Gives a function that says whether one was started.
    """
    import http

    import websockets.asyncio.server as module
    from websockets.datastructures import Headers
    from websockets.http11 import Response

    serve, started = module.serve, threading.Event()

    def refusal(request: Any) -> Response | None:
        def only(name: str) -> str | None:
            found = request.headers.get_all(name)
            return found[0] if len(found) == 1 else (None if not found else "")

        if is_own(only("Origin"), only("Host")):
            return None
        body = b"The viewer answers its own page only.\n"
        headers = Headers([("Content-Type", "text/plain"), ("Content-Length", str(len(body)))])
        return Response(http.HTTPStatus.FORBIDDEN, "Forbidden", headers, body)

    def guarded(*args: Any, **options: Any) -> Any:
        inner = options.get("process_request")

        def process_request(connection: Any, request: Any) -> Any:
            refused = refusal(request)
            if refused is not None or inner is None:
                return refused
            return inner(connection, request)

        options["process_request"] = process_request
        started.set()
        return serve(*args, **options)

    with _PATCHING:
        module.serve = guarded  # type: ignore[assignment,misc]
        try:
            yield started.is_set
        finally:
            module.serve = serve  # type: ignore[misc]
