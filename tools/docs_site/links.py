"""Check every link of a built site: each file and each anchor that a page names must be there.

Pages that were made by slant itself (the report, the bundle of the viewer) are read like all others. Addresses of other
sites are counted and not asked for, but no page may load a script, a style or a font from one.
"""

from __future__ import annotations

from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

LOADED = {("script", "src"), ("img", "src"), ("iframe", "src"), ("source", "src")}
NAMES = ("id", "name")


class PageLinks(HTMLParser):
    """Collect what a page links to, what it loads when it is opened, and the anchors that it has."""

    def __init__(self) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.anchors: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        self.anchors.update(values[name] for name in NAMES if values.get(name))
        for name, value in values.items():
            if (tag, name) in LOADED or (tag == "link" and name == "href" and loads(values.get("rel", ""))):
                self.loaded.append(value)
            elif name == "href":
                self.links.append(value)


def loads(relation: str) -> bool:
    return bool({"stylesheet", "icon", "preload"} & set(relation.split()))


def read(page: Path) -> PageLinks:
    found = PageLinks()
    found.feed(page.read_text("utf-8", errors="replace"))
    return found


def broken_links(site: Path) -> Iterator[str]:
    """Yield a sentence for each link that leads nowhere and for each thing that is loaded from another site."""
    pages = {page.resolve(): read(page) for page in sorted(site.rglob("*.html"))}
    for page, found in pages.items():
        name = page.relative_to(site.resolve())
        for link in found.loaded:
            if urlsplit(link).scheme in {"http", "https"} or link.startswith("//"):
                yield f"{name} loads {link}"
        # The page of a missing address is shown at any depth, so its links begin at the top.
        for link in [] if name == Path("404.html") else [*found.links, *found.loaded]:
            parts = urlsplit(link)
            if parts.scheme or link.startswith("//") or not link:
                continue
            place = (page.parent / unquote(parts.path)).resolve() if parts.path else page
            if place.is_dir():
                place = place / "index.html"
            if not place.exists():
                yield f"{name}: {link} is not there"
            elif parts.fragment and place in pages and unquote(parts.fragment) not in pages[place].anchors:
                yield f"{name}: {link} names no heading"
