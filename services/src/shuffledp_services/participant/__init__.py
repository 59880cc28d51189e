"""Page on which a participant answers with a browser.

    page/     sources: HTML, CSS and ES modules without a framework, for screens and texts;
              what randomizes, seals and sends is the npm package `shuffledp-device`, which
              has a folder of its own, device/, in the repository
    built/    output of `scripts/build-page`, which a shuffler serves

Like `shuffledp_services.device.encode`, the browser randomizes and seals, and
nothing else leaves it. A server could serve another page: participants trust the server for
the page, as they trust an app's publisher for the app.
"""

from pathlib import Path

PAGE_HEADERS = {
    "Content-Security-Policy": (
        # The page talks to its own shuffler only, and loads nothing from elsewhere.
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-cache",
}
"""Headers of every file of the page."""

NOT_BUILT = "The page was not built: run scripts/build-page before installing."
"""Log line of a shuffler without the page, and its answer to requests for it."""


def page_folder() -> Path | None:
    """Returns the folder with index.html; None if the page was not built.

    `index.html` is served at /tasks/{id}/take-part, the other files under /take-part/.
    """
    folder = Path(__file__).parent / "built"
    return folder if (folder / "index.html").is_file() else None
