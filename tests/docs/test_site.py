"""The static site: every link leads somewhere, and a real browser can read every page."""

import functools
import html
import http.server
import json
import re
import shutil
import subprocess
import threading
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from tools.site import build

WIDTHS = (1280, 390)
BROWSERS = ("chromium-headless-shell", "chromium", "google-chrome", "chrome-headless-shell")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    build(folder)
    return folder


class Links(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.hrefs: list[str] = []
        self.ids: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        self.hrefs += [found[name] or "" for name in ("href", "src") if name in found]
        self.ids |= {found["id"] or ""} if "id" in found else set()


def links(page: Path) -> Links:
    parser = Links()
    parser.feed(page.read_text(encoding="utf-8"))
    return parser


def test_every_link_leads_to_a_page_and_an_anchor(site: Path) -> None:
    pages = sorted(site.rglob("*.html"))
    assert site / "index.html" in pages and len(pages) > 20
    for page in pages:
        for href in links(page).hrefs:
            parts = urlsplit(href)
            if parts.scheme:
                continue
            target = (page.parent / parts.path).resolve() if parts.path else page
            assert target.is_file(), f"{page.name}: {href}"
            if parts.fragment:
                assert parts.fragment in links(target).ids, f"{page.name}: {href}"


def test_nothing_is_loaded_from_elsewhere(site: Path) -> None:
    for file in site.rglob("*.html"):
        loaded = re.findall(
            r"<(?:script|link|img|iframe)[^>]*(?:src|href)=\"([^\"]+)\"", file.read_text()
        )
        assert not [each for each in loaded if urlsplit(each).scheme]


# In a browser

HARNESS = """<!doctype html><pre id="result"></pre><script>
const pages = PAGES, width = WIDTH, seen = [];
async function look(page) {
  const frame = document.createElement("iframe");
  frame.style = `width:${width}px;height:900px;border:0`;
  const loaded = new Promise((done) => frame.addEventListener("load", done, { once: true }));
  frame.src = page;
  document.body.append(frame);
  await loaded;
  const inside = frame.contentDocument, view = frame.contentWindow;
  const px = (each) => parseFloat(view.getComputedStyle(each).fontSize);
  const texts = [...inside.querySelectorAll("main p, main li, main td")];
  const shown = (each) => each && view.getComputedStyle(each).display !== "none";
  const report = {
    page,
    overflow: inside.documentElement.scrollWidth - frame.clientWidth,
    smallest: Math.min(99, ...texts.map(px)),
    longest: Math.max(0, ...[...inside.querySelectorAll("main > p")].map((p) => p.clientWidth / px(p) * 2)),
    heading: inside.querySelector("h1")?.textContent ?? "",
    menu: shown(inside.getElementById("menu")),
    button: shown(inside.getElementById("open")),
    found: [...inside.querySelectorAll("#found a")].map((a) => a.textContent),
    broken: [],
  };
  for (const a of inside.querySelectorAll("a[href]")) {
    const url = new URL(a.href);
    if (url.origin !== location.origin || asked.has(url.pathname)) continue;
    asked.add(url.pathname);
    if (!(await fetch(url.pathname)).ok) report.broken.push(a.getAttribute("href"));
  }
  frame.remove();
  return report;
}
const asked = new Set();
(async () => {
  for (const page of pages) seen.push(await look(page));
  document.getElementById("result").textContent = JSON.stringify(seen);
})();
</script>"""


@pytest.fixture(scope="module")
def address(site: Path) -> Iterator[str]:
    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, format: str, *args: object) -> None:
            """Says nothing."""

    handler = functools.partial(Quiet, directory=str(site))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()


def browse(address: str, site: Path, width: int, pages: list[str]) -> list[dict[str, Any]]:
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        pytest.fail("no browser is here: apt-get install chromium-headless-shell")
    harness = HARNESS.replace("PAGES", json.dumps(pages)).replace("WIDTH", str(width))
    (site / "harness.html").write_text(harness, encoding="utf-8")
    done = subprocess.run(
        [
            *(browser, "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"),
            *(f"--window-size={width},900", "--virtual-time-budget=120000", "--dump-dom"),
            f"{address}/harness.html",
        ],
        capture_output=True,
        text=True,
        timeout=180,
        check=True,
    )
    (site / "harness.html").unlink()
    found = re.search(r'<pre id="result">(.*?)</pre>', done.stdout, re.DOTALL)
    assert found and found[1], done.stderr[-2000:]
    reports: list[dict[str, Any]] = json.loads(html.unescape(found[1]))
    return reports


@pytest.mark.browser
@pytest.mark.slow
@pytest.mark.parametrize("width", WIDTHS)
def test_every_page_is_readable(address: str, site: Path, width: int) -> None:
    pages = [f"/{page.relative_to(site)}" for page in sorted(site.rglob("*.html"))]
    pages += ["/index.html?q=rotated+token"]
    reports = browse(address, site, width, pages)
    assert len(reports) == len(pages)
    for report in reports:
        assert report["overflow"] <= 0, report
        assert report["smallest"] >= 13, report
        assert report["longest"] <= 110, report
        assert report["heading"] and report["broken"] == [], report
        assert report["menu"] is (width > 800) and report["button"] is (width < 800), report
    assert reports[-1]["found"], "the search finds something"
    assert "First aid" in reports[-1]["found"]
