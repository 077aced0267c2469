"""Check that the built manual loads nothing from the network: `check_offline.py DIRECTORY`.

Links to click are allowed; scripts, styles, pictures, fonts and frames are not.
"""

import re
import sys
from html.parser import HTMLParser
from pathlib import Path

REMOTE = re.compile(r"\s*(https?:)?//", re.IGNORECASE)
IN_STYLE = re.compile(r"(?:url\(|@import)\s*['\"]?(\s*(?:https?:)?//[^'\")\s]+)", re.IGNORECASE)


class Loaded(HTMLParser):
    """Collects the remote addresses that a page loads by itself."""

    def __init__(self):
        super().__init__()
        self.found = []

    def handle_starttag(self, tag, attrs):
        """Look at the attributes that load something."""
        for name, value in attrs:
            loads = name in {"src", "srcset", "data", "poster"} or (
                name in {"href", "xlink:href"} and tag not in {"a", "area"}
            )
            if loads and value and REMOTE.match(value):
                self.found.append(f"<{tag} {name}={value}>")
            if name == "style" and value:
                self.found += IN_STYLE.findall(value)

    def handle_data(self, data):
        """Look at the text of styles."""
        if self.cdata_elem == "style":
            self.found += IN_STYLE.findall(data)


def main(directory):
    pages = sorted(Path(directory).rglob("*.html"))
    bad = 0 if pages else 1
    for path in pages:
        page = Loaded()
        page.feed(path.read_text(encoding="utf-8"))
        for what in page.found:
            print(f"{path}: {what}")
        bad += len(page.found)
    for path in sorted(Path(directory).rglob("*.css")):
        for what in IN_STYLE.findall(path.read_text(encoding="utf-8")):
            print(f"{path}: {what}")
            bad += 1
    print(f"{len(pages)} pages, {bad} remote resources")
    return bad > 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
