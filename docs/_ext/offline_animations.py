"""Animations of the gallery without Matplotlib's link to a font of symbols in the network."""

from __future__ import annotations

import re
from typing import Any

from sphinx.application import Sphinx


def setup(app: Sphinx) -> dict[str, Any]:
    """Leave the link out; `manual.css` has characters for the buttons."""
    try:
        import matplotlib.animation as module
    except ImportError:  # no gallery then
        return {}
    module.JS_INCLUDE = re.sub(r"<link[^>]*>", "", module.JS_INCLUDE)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
