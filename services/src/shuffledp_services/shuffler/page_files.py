"""Responses with the participants' page and its files, made once at startup."""

import mimetypes
from pathlib import Path

from shuffledp_services.participant import NOT_BUILT, PAGE_HEADERS, page_folder
from shuffledp_services.shuffler.frequent_paths import OkResponse
from shuffledp_services.wire.refusal import Reason, Refusal

INDEX = "index.html"
"""The name of the page itself."""


class PageFiles:
    """Files of the page, in memory: a request names a key, never a path on the disk.

    Attributes:
        are_built: Whether the page was built.
    """

    def __init__(self) -> None:
        # None if the page was not built.
        folder = page_folder()
        files = () if folder is None else folder.iterdir()
        self._responses = {
            file.name: _file_response(file) for file in files if file.is_file()
        }
        self.are_built = bool(self._responses)

    def get(self, name: str) -> OkResponse:
        """Returns the response with a file.

        Raises:
            Refusal: If there is no file of this name.
        """
        response = self._responses.get(name)
        if response is None:
            detail = "Expected a known path." if self.are_built else NOT_BUILT
            raise Refusal(Reason.NOT_FOUND, detail)
        return response


def _file_response(path: Path) -> OkResponse:
    kind = mimetypes.guess_type(path.name)[0] or "application/octet-stream"
    return OkResponse.file(path.read_bytes(), media_type=kind, headers=PAGE_HEADERS)
