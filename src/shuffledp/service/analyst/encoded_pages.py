"""Pages of the dashboard as bytes: made once, and again when what they say changed."""

from collections import OrderedDict
from collections.abc import Awaitable, Callable, Hashable

# A page about 10,000 categories has megabytes.
_MAX_PAGES = 16


class EncodedPages:
    """Keeps the pages that were asked for last, for everybody who asks."""

    def __init__(self) -> None:
        self._pages: OrderedDict[Hashable, tuple[Hashable, bytes]] = OrderedDict()

    async def get(
        self, name: Hashable, inputs: Hashable, render: Callable[[], Awaitable[str]]
    ) -> bytes:
        """Returns a page: the one before, if nothing changed that it depends on.

        Args:
            name: Which page it is.
            inputs: All that may change what it says, read before it is rendered.
            render: Returns what it says now.
        """
        kept = self._pages.get(name)
        if kept is None or kept[0] != inputs:
            kept = inputs, (await render()).encode()
            self._pages[name] = kept
        self._pages.move_to_end(name)
        if len(self._pages) > _MAX_PAGES:
            self._pages.popitem(last=False)
        return kept[1]
