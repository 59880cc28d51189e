"""Answers sent in chunks, at the rate at which the client reads them."""

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from shuffledp_services.http.plain_requests import PlainResponder

CHUNK_BYTES = 16 * 2**10
"""Bytes of an answer that are written to the socket at once."""


class PacedAnswers:
    """Middleware that sends an answer in chunks, each after the one before was written.

    Args:
        app: Application that answers.
        answer_plain: Answers plain requests before they reach the application.
    """

    def __init__(self, app: ASGIApp, answer_plain: PlainResponder) -> None:
        self._app, self.answer_plain = app, answer_plain

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serves one request."""

        async def send_chunks(message: Message) -> None:
            body = message.get("body", b"")
            # The last chunk follows below, in the message that tells whether more
            # comes.
            for start in range(CHUNK_BYTES, len(body), CHUNK_BYTES):
                chunk = body[start - CHUNK_BYTES : start]
                await send({**message, "body": chunk, "more_body": True})
            if len(body) > CHUNK_BYTES:
                message = {
                    **message,
                    "body": body[-((len(body) - 1) % CHUNK_BYTES + 1) :],
                }
            await send(message)

        await self._app(scope, receive, send_chunks)
