"""The window's pages in a real browser, against the invented data of mock.py.

  pages.py           all trials
  pages.py NAME …    these trials, such as gallery

The browser is chromium, driven by playwright (requirements.txt). No port is fixed, and nothing is fetched from another machine.
Ends with 1 and a sentence when something is not as it should be.
"""

import shutil
import sys
import threading

import mock
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect, sync_playwright

WIDE, PHONE = {"width": 1280, "height": 800}, {"width": 360, "height": 740}
VIEWS = ["/", "/?view=jobs&state=dead", "/?view=batches", "/?view=pictures", "/?view=pictures&by=week"]
CELLS = "document.querySelectorAll('.cell').length"
FOCUSED = "Number(document.activeElement.closest('.cell')?.getAttribute('aria-posinset'))"


class Failure(Exception):
    pass


def check(holds, sentence):
    if not holds:
        raise Failure(sentence)


def serve(*options):
    server = mock.serve(list(options))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_address[1]}"


class Browser:
    def __init__(self, chromium):
        self.chromium = chromium

    def page(self, **options):
        page = self.chromium.new_context(**{"viewport": WIDE, **options}).new_page()
        page.set_default_timeout(15_000)
        page.complaints = []
        page.on("pageerror", lambda error: page.complaints.append(str(error)))
        # The browser writes a line for each answer of 4xx and 5xx. Some trials are about those.
        page.on("console", lambda line: page.complaints.append(line.text) if line.type == "error" and "Failed to load resource" not in line.text else None)
        return page


def until(page, expression):
    """Waits for an expression to hold. The page's policy forbids the eval with which playwright would wait inside it."""
    for _ in range(150):
        if page.evaluate(expression):
            return
        page.wait_for_timeout(100)
    raise Failure(f"this never came true: {expression}")


def is_shown(page):
    page.wait_for_selector("h1")
    page.wait_for_selector(".tiles strong, .cell, tbody tr, .empty", state="attached")


def accessible(browser):
    """No view has a serious finding of axe, or is wider than the screen, or breaks its policy."""
    base, closed = serve("--failing-host"), serve("--token", "secret")
    for scheme in ["light", "dark"]:
        for size in [WIDE, PHONE]:
            page = browser.page(viewport=size, color_scheme=scheme)

            def judge(name):
                grave = [found["id"] for found in Axe().run(page).response["violations"] if found["impact"] in ("serious", "critical")]
                check(not grave, f"axe finds {grave} in {name} ({scheme}, {size['width']} px)")
                width = page.evaluate("document.documentElement.scrollWidth")
                check(width <= size["width"], f"{name} is {width} px wide on a screen of {size['width']}")

            for view in VIEWS:
                page.goto(base + view)
                is_shown(page)
                page.wait_for_timeout(500)
                judge(view)
            page.click(".cell:not(.failed) .open")
            page.wait_for_selector("dialog.picture .facts")
            judge("a picture")
            page.goto(base + VIEWS[1])
            page.click("th.job a")
            page.wait_for_selector(".sentences")
            judge("a job")
            page.click("text=Retry …")
            judge("a question")
            page.goto(closed)
            page.wait_for_selector("#token")
            judge("the sign-in form")
            check(not page.complaints, f"the console says: {page.complaints}")


def hostile(browser):
    """URLs, texts, names and pictures of attackers run nothing."""
    base = serve("--hostile", "--failing-host")
    page = browser.page()
    for view in VIEWS:
        page.goto(base + view)
        is_shown(page)
        page.wait_for_timeout(1000)
        check(page.evaluate("window.ran === undefined"), f"a script of an attacker ran in {view}")
        links = page.evaluate("[...document.links].map(link => link.protocol).filter(name => !/^https?:$/.test(name))")
        check(not links, f"{view} has links to {links}")
    page.goto(base + VIEWS[3])
    page.click(".cell .open >> nth=0")
    for _ in range(20):
        page.keyboard.press("ArrowRight")
        page.wait_for_timeout(50)
    expect(page.locator(".place")).to_contain_text("21 of")
    for number in range(6):
        page.goto(base + VIEWS[1])
        page.click(f"th.job a >> nth={number * 3}")
        page.wait_for_selector(".sentences")
    check(page.evaluate("window.ran === undefined"), "a script of an attacker ran")
    check(not page.complaints, f"the console says: {page.complaints}")


def jobs(browser):
    """A dead job is found and retried, then those selected, then a class."""
    base = serve("--failing-host")
    page = browser.page()
    said = page.locator("#said")
    page.goto(base)
    page.click(".troubles a >> text=broken.example.net")
    page.wait_for_selector("tbody tr")
    url = page.inner_text("th.job a >> nth=1")
    page.fill("#find-host", "")
    page.fill("#find-url", url)
    page.click("text=Find >> nth=-1")
    expect(page.locator(".found")).to_contain_text("1 job matches")
    page.click("th.job a")
    page.click("text=Retry …")
    page.click("dialog >> text=Cancel")
    page.click("text=Retry …")
    page.click("dialog button.main")
    expect(said).to_contain_text("1 job retried.")
    page.goto(base + "/?view=jobs&class=timeout")
    for number in range(3):
        page.check(f"tbody input >> nth={number}")
    page.click("text=Delete 3 selected")
    page.click("dialog button.grave")
    expect(said).to_contain_text("3 jobs deleted.")
    page.click("text=Retry all that match")
    count = page.inner_text("dialog h2").split()[1]
    page.click("dialog button.main")
    expect(said).to_contain_text(f"{count} jobs retried.")
    expect(page.locator(".empty")).to_contain_text("No dead job matches.")
    page.goto(base + "/?view=jobs&state=ready&text=0001999")
    expect(page.locator(".empty")).to_contain_text("Nothing in this part")
    for _ in range(20):
        if page.is_visible("tbody tr"):
            break
        page.click("button >> text=More")
        page.wait_for_timeout(200)
    check(page.is_visible("tbody tr"), "'More' did not find the job in a later part of the queue")
    check(not page.complaints, f"the console says: {page.complaints}")


def gallery(browser):
    """100,000 pictures: few cells, by keyboard, and the choices persist over a reload."""
    base = serve("--pictures", "100000")
    for size in [WIDE, PHONE]:
        page = browser.page(viewport=size)
        page.goto(base + "/?view=pictures")
        page.wait_for_selector(".cell img")
        height = page.evaluate("document.documentElement.scrollHeight")
        for place in [height // 2, height]:
            page.evaluate(f"scrollTo(0, {place})")
            page.wait_for_timeout(300)
            until(page, "[...document.querySelectorAll('.cell')].every(cell => !cell.classList.contains('loading'))")
            check(0 < page.evaluate(CELLS) < 300, f"the page has {page.evaluate(CELLS)} cells")
        check(page.locator(".cell").last.locator(".open").get_attribute("aria-label") != "Waiting", "the last picture is no picture")
    page = browser.page()
    page.goto(base + "/?view=pictures")
    page.wait_for_selector(".cell img")
    page.select_option("#order", "largest")
    page.select_option("#by", "month")
    page.wait_for_selector(".surface h2")
    page.focus(".cell .open[tabindex='0']")
    for key in ["ArrowRight", "ArrowDown", "ArrowLeft"]:
        page.keyboard.press(key)
    check(page.evaluate(FOCUSED) == 6, f"the arrow keys lead to the cell {page.evaluate(FOCUSED)}, not 6")
    page.keyboard.press("s")
    page.wait_for_selector(".cell.favourite:focus-within")
    page.keyboard.press("Enter")
    expect(page.locator(".place")).to_have_text("6 of 100,000")
    page.keyboard.press("ArrowRight")
    expect(page.locator(".place")).to_have_text("7 of 100,000")
    page.reload()
    expect(page.locator(".place")).to_have_text("7 of 100,000")
    page.keyboard.press("Escape")
    until(page, f"{FOCUSED} === 7")
    page.reload()
    page.wait_for_selector(".surface h2")
    check(page.input_value("#order") == "largest" and page.input_value("#by") == "month", "the choices did not persist")
    page.wait_for_selector(".cell.favourite")
    check(not page.complaints, f"the console says: {page.complaints}")


def live(browser):
    """Charts move, pictures arrive, and the page says when the server or Redis is away."""
    base = serve("--pictures", "3000", "--fill", "4", "--start", "2")
    page = browser.page()
    page.goto(base + "/?view=pictures")
    page.wait_for_selector(".cell.waiting")
    until(page, "document.querySelectorAll('.cell img').length > 12")
    page.goto(base)
    page.wait_for_selector(".chart path.line")
    path = page.get_attribute(".chart path.line", "d")
    until(page, f"document.querySelector('.chart path.line').getAttribute('d') !== '{path}'")
    page.request.post(base + "/mock?redis=away")
    expect(page.locator("#banners")).to_contain_text("Redis is away")
    page.request.post(base + "/mock?redis=back")
    expect(page.locator("#banners")).to_be_empty()
    check(not page.complaints, f"the console says: {page.complaints}")


def access(browser):
    """The token is exchanged for a cookie and stands nowhere else; a read-only window changes nothing."""
    base = serve("--token", "secret")
    page = browser.page()
    urls = []
    page.on("request", lambda request: urls.append(request.url))
    page.goto(base + VIEWS[1])
    page.fill("#token", "wrong")
    page.keyboard.press("Enter")
    expect(page.locator("#token-error")).to_contain_text("does not know this token")
    page.fill("#token", "secret")
    page.keyboard.press("Enter")
    page.wait_for_selector("tbody tr")
    check(not any("secret" in url for url in urls), "the token stands in a URL")
    check(page.evaluate("localStorage.length + sessionStorage.length + document.cookie.length") == 0, "a script can read the token")
    page.click("text=Sign out")
    page.wait_for_selector("#token")
    page.goto(serve("--read-only") + VIEWS[1])
    page.wait_for_selector("tbody tr")
    expect(page.locator("#read-only")).to_be_visible()
    check(page.locator("text=/^(Retry|Delete) /").count() == 0, "a read-only window offers changes")
    check(not page.complaints, f"the console says: {page.complaints}")


TRIALS = [accessible, hostile, jobs, gallery, live, access]


def main(names):
    program = next((found for found in map(shutil.which, ["chromium", "chromium-headless-shell", "google-chrome"]) if found), None)
    if not program:
        sys.exit("pages: there is no chromium here, whose package Debian calls chromium")
    failed = 0
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        for trial in TRIALS:
            if names and trial.__name__ not in names:
                continue
            try:
                trial(Browser(chromium))
                print(f"pages: {trial.__name__} is well", file=sys.stderr)
            except Exception as error:
                failed += 1
                print(f"pages: {trial.__name__}: {error}", file=sys.stderr)
        chromium.close()
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
