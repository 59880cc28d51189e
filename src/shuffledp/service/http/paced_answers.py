"""Answers in pieces, which are given away only as fast as they are taken."""

from shuffledp.extras import require
from shuffledp.service.http.plain_requests import PlainAnswers

require("starlette", extra="service", what="A service")

from starlette.types import ASGIApp, Message, Receive, Scope, Send  # noqa: E402

PIECE = 16 * 2**10
"""Bytes of an answer that are given to the system at once, if it does not take them."""


class InPieces:
    """Middleware that gives an answer away in pieces, each once the one before is taken.

    Args:
        app: What answers.
        answer_plain: What a connection asks first.
    """

    def __init__(self, app: ASGIApp, answer_plain: PlainAnswers) -> None:
        self._app, self.answer_plain = app, answer_plain

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serves one request."""

        async def send_pieces(message: Message) -> None:
            body = message.get("body", b"")
            for start in range(PIECE, len(body), PIECE):
                piece = body[start - PIECE : start]
                await send({**message, "body": piece, "more_body": True})
            if len(body) > PIECE:
                message = {**message, "body": body[-((len(body) - 1) % PIECE + 1) :]}
            await send(message)

        await self._app(scope, receive, send_pieces)
