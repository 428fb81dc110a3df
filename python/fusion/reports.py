"""What is told of a model: for people, for notebooks, and as data."""

from __future__ import annotations

import html
import json
from typing import Any


class Report:
    """A text; a notebook shows the page where there is one.

    text: for a terminal.
    html: a page for a browser, or None.
    data: the same as dicts and lists; sizes in bytes, times in seconds or as their names say.
    """

    def __init__(self, text: str, page: str | None, data: str):
        self.text = text
        self.html = page
        self.data: dict[str, Any] = json.loads(data)

    def save(self, path: str) -> None:
        """Writes the page, or the text where there is none."""
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.html or self.text)

    def __str__(self) -> str:
        return self.text

    __repr__ = __str__

    def _repr_html_(self) -> str:
        if self.html is None:
            return f"<pre>{html.escape(self.text)}</pre>"
        # In a frame of its own, since it has styles and scripts for a whole page.
        return f'<iframe srcdoc="{html.escape(self.html)}" style="width:100%;height:40em;border:0"></iframe>'
