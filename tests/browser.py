"""Pages in a real browser without a screen: Debian's Chromium, driven by Playwright, cut off from every network."""

import shutil
from contextlib import contextmanager

import pytest

PATIENCE = 120_000  # milliseconds: a busy machine is slow
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


@contextmanager
def chromium():
    """A browser; where there is none, the test is skipped with the reason."""
    playwright = pytest.importorskip("playwright.sync_api", reason="pages are looked at with playwright (riata[test])")
    program = next(filter(None, map(shutil.which, NAMES)), None)
    if program is None:
        pytest.skip("there is no Chromium to look at pages with (apt-get install chromium)")
    with playwright.sync_playwright() as driver:
        options = ["--no-sandbox", "--disable-dev-shm-usage"]
        browser = driver.chromium.launch(executable_path=program, args=options, timeout=PATIENCE)
        yield browser
        browser.close()


@contextmanager
def opened(browser, path, *, width=1200, dark=False, scripts=True, touch=False):
    """A page from a file; whatever it complains about, or asks of a network, is an error."""
    context = browser.new_context(
        viewport={"width": width, "height": 800},
        color_scheme="dark" if dark else "light",
        java_script_enabled=scripts,
        has_touch=touch,
        offline=True,
    )
    complaints: list[str] = []
    page = context.new_page()
    page.set_default_timeout(PATIENCE)
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("request", lambda request: request.url.startswith(("file:", "data:")) or complaints.append(request.url))
    page.goto(path.as_uri())
    yield page
    context.close()
    assert complaints == []
