"""Files of vectors as they are stored."""

import base64
import json
from pathlib import Path
from typing import Any

SPEC = Path(__file__).parents[1]
VECTORS = SPEC / "vectors"


def stored(name: str) -> Any:
    """Returns the vectors of a file: an object, or a list of them."""
    return json.loads((VECTORS / name).read_text(encoding="utf-8"))


def decoded(text: str) -> bytes:
    """Returns the bytes of unpadded base64url, in any spelling."""
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
