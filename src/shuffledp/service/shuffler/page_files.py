"""The participant's page and what it needs, as answers that are made once."""

import mimetypes
from pathlib import Path

from shuffledp.service.participant import NOT_BUILT, PAGE_HEADERS, page_folder
from shuffledp.service.shuffler.frequent_paths import OkResponse
from shuffledp.service.wire.refusal import Reason, Refusal

INDEX = "index.html"
"""The name of the page itself."""


class PageFiles:
    """All files of the page. They are read once: no request names a path.

    Attributes:
        are_built: Whether there is a page.
    """

    def __init__(self) -> None:
        folder = page_folder()
        files = () if folder is None else folder.iterdir()
        self._answers = {file.name: _answer(file) for file in files if file.is_file()}
        self.are_built = bool(self._answers)

    def get(self, name: str) -> OkResponse:
        """Returns the answer that is a file.

        Raises:
            Refusal: If there is none of this name.
        """
        answer = self._answers.get(name)
        if answer is None:
            what = "Expected a known path." if self.are_built else NOT_BUILT
            raise Refusal(Reason.NOT_FOUND, what)
        return answer


def _answer(path: Path) -> OkResponse:
    kind = mimetypes.guess_type(path.name)[0] or "application/octet-stream"
    return OkResponse.file(path.read_bytes(), media_type=kind, headers=PAGE_HEADERS)
