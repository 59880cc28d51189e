"""Cache of the dashboard's pages as bytes, rendered again only when their inputs change."""

from collections import OrderedDict
from collections.abc import Awaitable, Callable, Hashable

# A page about 10,000 categories has megabytes.
_MAX_PAGES = 16


class EncodedPages:
    """Caches the most recently requested pages for all visitors."""

    def __init__(self) -> None:
        self._pages: OrderedDict[Hashable, tuple[Hashable, bytes]] = OrderedDict()

    async def get(
        self, name: Hashable, inputs: Hashable, render: Callable[[], Awaitable[str]]
    ) -> bytes:
        """Returns the cached page if its inputs are unchanged, or renders it.

        Args:
            name: Key of the page.
            inputs: All values that the page depends on, read before it is rendered.
            render: Returns the page's current content.
        """
        cached = self._pages.get(name)
        if cached is None or cached[0] != inputs:
            cached = inputs, (await render()).encode()
            self._pages[name] = cached
        self._pages.move_to_end(name)
        if len(self._pages) > _MAX_PAGES:
            self._pages.popitem(last=False)
        return cached[1]
