"""Uses the window as a person does: in a real browser, with a real gateway, workers, Redis and nginx.

  window.py GANNET [--pictures FOLDER]   the program to try; the screenshots go into FOLDER

The browser is chromium, which playwright drives. No port is fixed, and everything ends with it. Ends with 1 and a sentence when something is
not as it should be.
"""

import pathlib
import re
import sys
import time
import urllib.parse
import urllib.request

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Error as PlaywrightError
from playwright.sync_api import expect, sync_playwright
from stage import SCRIPT, Stage, chromium, coloured
from processes import trial  # noqa: I001 (the stage says where it is)

TOKEN = "a-token-of-this-trial-1234"


class Reader:
    """A person with a browser. Whatever the page should not do is a failure at the end."""

    def __init__(self, stage, browser, shots, **options):
        self.stage, self.shots = stage, shots
        self.context = browser.new_context(viewport={"width": 1280, "height": 900}, **options)
        self.context.set_default_timeout(15_000)
        self.page = self.context.new_page()
        self.complaints, self.addresses = [], []
        self.page.on("console", lambda message: message.type == "error" and self.complaints.append(f"{message.text} {message.location}"))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("dialog", lambda dialog: self.complaints.append(f"a dialog: {dialog.message}"))
        self.page.on("request", lambda request: self.addresses.append(request.url))

    def shot(self, name):
        if self.shots:
            self.page.screenshot(path=self.shots / f"{name}.png")

    def leave(self, allowed=()):
        """`allowed`: what may stand in the console, such as the answer to a wrong token."""
        stolen = self.page.evaluate("window.stolen")
        self.context.close()
        if stolen is not None:
            self.stage.processes.fail("a text from outside has run in the page")
        bad = [text for text in self.complaints if not any(word in text for word in allowed)]
        if bad:
            self.stage.processes.fail(f"the browser complains: {bad[0]}")

    def check(self, sentence, holds):
        if not holds:
            if self.shots:
                self.page.screenshot(path=self.shots / "failed.png")
            self.stage.processes.fail(sentence)

    def until(self, sentence, look):
        end = time.monotonic() + 20
        while time.monotonic() < end:
            answer = look()
            if answer:
                return answer
            for child in self.stage.processes.children:
                self.check(f"{child.args[:2]} has ended", child.poll() is None)
            self.page.wait_for_timeout(50)
        self.check(sentence, False)

    def confirm(self, words):
        """The question of a change, which has to name how many jobs it is about."""
        dialog = self.page.locator("dialog[open]")
        expect(dialog).to_contain_text(words)
        dialog.get_by_role("button", name=re.compile("^(Retry|Delete)")).click()
        expect(self.page.locator("dialog[open]")).to_have_count(0)


def overview_is_live(stage, reader):
    """The charts move, and the failing host is named."""
    process, address = stage.gateway("live")
    stage.enqueue("live", "monday", [stage.url(f"{number % 40}.png?n={number}") for number in range(300)] + [stage.url("gone.png")])
    page = reader.page
    page.goto(address)
    expect(page.get_by_role("heading", name="Overview")).to_be_visible()

    def drawn():
        return page.evaluate("[...document.querySelectorAll('svg path, svg polyline')].map(path => path.getAttribute('d') ?? path.getAttribute('points')).join()")

    expect(page.locator("main")).to_contain_text("301 open jobs")
    before = drawn()
    worker = stage.work("live", "--host-rate", "50")
    reader.until("the charts do not move", lambda: drawn() not in ("", before))
    now = drawn()
    reader.until("the charts move only once", lambda: drawn() != now)
    reader.shot("overview")
    reader.until("the batch is not shown as done", lambda: stage.ask(address, "/v1/status")["jobs"]["ready"] == 0)
    expect(page.locator("main")).to_contain_text("http-404")
    stage.processes.end(worker)
    # A minute later no host is busy, and the one that failed is still named.
    expect(page.get_by_role("table", name="Hosts of dead jobs").get_by_role("link", name=f"127.0.0.1:{stage.port}")).to_be_visible(timeout=10_000)
    return process, address


def dead_job_is_found_and_retried(stage, reader, address):
    page = reader.page
    worker = stage.work("live")
    page.goto(address)
    page.get_by_role("link", name="Jobs", exact=True).first.click()
    expect(page.get_by_role("heading", name="Jobs")).to_be_visible()
    url = stage.url("gone.png")
    page.get_by_label("Exact URL").fill(url)
    page.get_by_role("button", name="Find", exact=True).click()
    row = page.get_by_role("link", name=url)
    expect(row).to_be_visible()
    reader.check("the address of the search cannot be shared", urllib.parse.quote(url, safe="") in page.url)
    reader.shot("jobs")
    row.click()
    expect(page.locator("main")).to_contain_text("http-404")
    reader.shot("job")
    (stage.files / "gone.png").write_bytes(coloured(99))
    page.get_by_role("button", name=re.compile("^Retry")).first.click()
    if page.locator("dialog[open]").count():
        reader.confirm("Retry")
    reader.until("the dead job was not fetched", lambda: stage.asked("gone.png") == 2)
    reader.until("the job stays dead", lambda: stage.ask(address, "/v1/status")["jobs"]["dead"] == 0)
    # The page of a slow fetch says where its time went.
    slow = stage.url("slow/0.png")
    stage.enqueue("live", "slow", [slow])
    reader.until("the slow picture does not come", lambda: stage.ask(address, "/v1/explain?url=" + slow)["outcome"])
    page.goto(f"{address}/?view=job&url={urllib.parse.quote(slow, safe='')}")
    expect(page.get_by_role("table", name="Where the time of the latest fetch went")).to_contain_text("Transfer")
    reader.shot("job-times")
    stage.processes.end(worker)


def class_is_retried(stage, reader, address):
    page = reader.page
    names = [f"late-{number}.png" for number in range(7)]
    worker = stage.work("live")
    stage.enqueue("live", "late", [stage.url(name) for name in names] + ["http://127.0.0.1:1/refused.png"])
    reader.until("the jobs do not die", lambda: stage.ask(address, "/v1/status")["jobs"]["dead"] >= 7)
    for name in names:
        (stage.files / name).write_bytes(coloured(1))
    page.goto(f"{address}/?view=jobs&state=dead&class=http-404")
    page.get_by_role("button", name=re.compile("^Retry all that match")).click()
    reader.confirm("7")
    reader.until("the class was not retried", lambda: all(stage.asked(name) == 2 for name in names))
    reader.until("the page does not say so", lambda: "7 jobs retried" in page.locator("body").inner_text())
    # A part of the URL finds, and changes nothing.
    page.goto(f"{address}/?view=jobs&state=dead&text=REFUSED")
    page.goto(f"{address}/?view=jobs&state=dead&text=nowhere-to-be-found")
    expect(page.locator("main")).to_contain_text(re.compile("No dead job matches"))
    stage.processes.end(worker)


def gallery_fills(stage, reader):
    """Pictures arrive while one looks, stay arranged over a reload, and a failure is clear."""
    process, address = stage.gateway("gallery")
    urls = [stage.url(f"{number}.png?g") for number in range(40)]
    stage.enqueue("gallery", "album", [*urls[:20], stage.url("broken.png"), *urls[20:]])
    page = reader.page
    page.goto(f"{address}/?view=pictures&batch=album")
    cells = page.locator("main img")
    expect(page.locator("main")).to_contain_text("41 still to come")
    reader.shot("gallery-waiting")
    reader.check("pictures are there before they were fetched", cells.count() == 0)
    worker = stage.work("gallery", "--host-rate", "10")

    def loaded():
        return page.evaluate("[...document.querySelectorAll('main img')].filter(image => image.complete && image.naturalWidth > 0).length")

    first = reader.until("no picture arrives", loaded)
    reader.shot("gallery-filling")
    reader.until("no further picture arrives", lambda: loaded() > first)
    reader.until("not all pictures arrive", lambda: "still to come" not in page.locator("main").inner_text())
    stage.processes.end(worker)
    expect(page.locator("main")).to_contain_text("http-404")
    reader.shot("gallery")

    # Five columns on a desk.
    columns = page.evaluate("new Set([...document.querySelectorAll('main img')].map(image => Math.round(image.getBoundingClientRect().left))).size")
    reader.check(f"the grid has {columns} columns and not five", columns == 5)

    # Order, sections and a favourite persist.
    page.get_by_label("Order").select_option("largest")
    page.get_by_label(re.compile("Sections|Section")).first.select_option("month")
    reader.until("the sections have no heading", lambda: page.locator("main h2, main h3").count() > 0)
    heading = page.locator("main h2, main h3").first.inner_text()
    star = page.get_by_role("button", name=re.compile("[Ss]tar|[Ff]avourite")).filter(has_not_text="Only").first
    page.locator("main img").first.click()
    dialog = page.locator("dialog[open]")
    expect(dialog).to_contain_text("64 × 48 pixels")
    expect(dialog).to_contain_text("image/png")
    source = dialog.locator("a[href^='http']").first.get_attribute("href")
    page.keyboard.press("s")
    reader.until("the favourite is not kept", lambda: stage.ask(address, "/v1/pictures?favourites=true")["total"] == 1)
    page.keyboard.press("ArrowRight")
    reader.until("the arrow key shows no other picture", lambda: dialog.locator("a[href^='http']").first.get_attribute("href") != source)
    page.keyboard.press("ArrowLeft")
    reader.until("the arrow key does not lead back", lambda: dialog.locator("a[href^='http']").first.get_attribute("href") == source)
    reader.shot("picture")
    shared = page.url
    reader.check("the address names no picture", "picture=" in shared)
    page.keyboard.press("Escape")
    expect(page.locator("dialog[open]")).to_have_count(0)
    reader.until("the address still names the picture after Escape", lambda: "picture=" not in page.url)
    # Back closes a picture that was opened here, Forward opens it again, and another Back leaves the gallery.
    place = page.url
    cells.first.click()
    expect(page.locator("dialog[open]")).to_be_visible()
    page.go_back()
    expect(page.locator("dialog[open]")).to_have_count(0)
    reader.until("Back leads elsewhere", lambda: page.url == place)
    page.go_forward()
    expect(page.locator("dialog[open]")).to_be_visible()
    page.keyboard.press("Escape")
    reader.until("Escape leads elsewhere", lambda: page.url == place)
    # The address of a picture shows that picture, in another order too.
    for address_of_it in [shared, shared.replace("order=largest", "order=newest"), shared.replace("order=largest", "order=host")]:
        page.goto(address_of_it)
        reader.until("a shared address shows another picture", lambda: page.locator("dialog[open] a[href^='http']").count() and page.locator("dialog[open] a[href^='http']").first.get_attribute("href") == source)
    page.goto(shared)
    expect(page.locator("dialog[open]")).to_be_visible()
    page.keyboard.press("Escape")
    reader.until("the address still names the picture", lambda: "picture=" not in page.url)
    page.reload()
    reader.until("nothing is loaded after a reload", loaded)
    reader.check("the order is lost", page.get_by_label("Order").input_value() == "largest")
    reader.check("the sections are lost", page.locator("main h2, main h3").first.inner_text() == heading)
    # The batch has one favourite, and a failed picture that is none.
    page.goto(f"{address}/?view=pictures&batch=album&favourites=true")
    expect(page.locator("main .lead")).to_have_text("1 favourite")
    page.goto("about:blank")
    stage.processes.end(process)
    process, again = stage.gateway("gallery")
    reader.check("the favourite is lost with the gateway", stage.ask(again, "/v1/pictures?favourites=true")["pictures"][0]["url"] == source)
    fetched = sum(stage.asked(f"{number}.png?g") for number in range(40))
    reader.check(f"looking at pictures has fetched some again: {fetched} requests for 40", fetched == 40)
    del star
    return process, again


def hostile_texts_run_nothing(stage, reader):
    process, address = stage.gateway("hostile")
    batch = SCRIPT
    urls = [
        stage.url("hostile/page.html"), stage.url("hostile/drawn.svg"), stage.url("hostile/header"),
        stage.url(f"0.png?{SCRIPT}"), stage.url(f"missing/{SCRIPT}.png"), stage.url("missing/javascript:window.stolen=1"),
    ]  # fmt: skip
    request = urllib.request.Request(
        f"{address}/v1/jobs?batch={urllib.parse.quote(batch)}", "\n".join(urls).encode(), {"Content-Type": "text/plain"})
    urllib.request.urlopen(request, timeout=10).close()
    worker = stage.work("hostile")
    reader.until("the hostile jobs do not end", lambda: stage.ask(address, "/v1/status")["totals"]["failed"] == 2)
    page = reader.page
    quoted = urllib.parse.quote(SCRIPT)
    for view in [
        "", "?view=jobs&state=dead", f"?view=jobs&text={quoted}", f"?view=jobs&class={quoted}", f"?view=jobs&host={quoted}&batch={quoted}",
        f"?view=job&url={quoted}", f"?view=job&state=dead&url={urllib.parse.quote(urls[4])}", "?view=batches", "?view=pictures",
        f"?view=pictures&batch={quoted}", f"?view={quoted}", f"?queue={quoted}", f"?view=pictures&order={quoted}&by={quoted}&picture={quoted}",
        "?view=job&url=javascript:window.stolen=1",
    ]:  # fmt: skip
        page.goto(f"{address}/{view}")
        page.wait_for_load_state("networkidle") if "pictures" not in view and view else page.wait_for_timeout(300)
        reader.check(f"a text has run in {view}", page.evaluate("window.stolen") is None)
        links = page.evaluate("[...document.querySelectorAll('a[href]')].map(link => new URL(link.href).protocol)")
        reader.check(f"there is a link that runs in {view}", set(links) <= {"http:", "https:"})
    for picture in stage.ask(address, "/v1/pictures")["pictures"]:
        if not picture["failed"]:
            # A browser that is led to the body itself saves it, or shows it in a sandbox.
            with urllib.request.urlopen(f"{address}/v1/kept/{picture['id']}", timeout=10) as answer:
                reader.check("a body may run", "sandbox" in answer.headers["Content-Security-Policy"] and answer.headers["X-Content-Type-Options"] == "nosniff")
    page.goto("about:blank")
    stage.processes.end(worker)
    stage.processes.end(process)


def sign_in(stage, reader):
    secret = stage.folder / "tokens"
    secret.write_text(TOKEN + "\n")
    process, address = stage.gateway("signed", "--token-file", str(secret))
    page = reader.page
    page.goto(address)
    field = page.get_by_label(re.compile("[Tt]oken"))
    expect(field).to_be_visible()
    reader.shot("sign-in")
    field.fill("not-the-token-of-this-trial")
    page.keyboard.press("Enter")
    # The form takes no second token before the answer to the first.
    expect(page.get_by_role("alert")).to_have_text("The server does not know this token.")
    reader.check("a wrong token signs in", page.get_by_role("heading", name="Overview").count() == 0)
    field.fill(TOKEN)
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Overview")).to_be_visible()
    cookies = reader.context.cookies()
    reader.check("the cookie is open to scripts", len(cookies) == 1 and cookies[0]["httpOnly"] and cookies[0]["sameSite"] == "Strict")
    reader.check("the token is in the cookie", TOKEN not in cookies[0]["value"])
    page.reload()
    expect(page.get_by_role("heading", name="Overview")).to_be_visible()
    kept = page.evaluate("JSON.stringify([{...localStorage}, {...sessionStorage}, document.cookie])")
    reader.check("the page keeps the token", TOKEN not in kept and cookies[0]["value"] not in kept)
    reader.check("the token stood in an address", not any(TOKEN in address for address in reader.addresses))
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_label(re.compile("[Tt]oken"))).to_be_visible()
    reader.check("the cookie stays after signing out", reader.context.cookies() == [])
    page.goto("about:blank")
    stage.processes.end(process)


def impossible_queue_is_told(stage, reader):
    process, address = stage.gateway("live")
    page = reader.page
    page.goto(f"{address}/?queue=no%20queue")
    expect(page.locator("#banners")).to_contain_text("takes 1 to 64 letters")
    page.goto("about:blank")
    stage.processes.end(process)


def read_only(stage, reader):
    process, address = stage.gateway("live", "--read-only")
    page = reader.page
    page.goto(f"{address}/?view=jobs&state=dead")
    expect(page.locator("main")).to_contain_text("read-only")
    reader.check("there is something to change", page.get_by_role("button", name=re.compile("^(Retry|Delete|Pause)")).count() == 0)
    page.goto("about:blank")
    stage.processes.end(process)


def keyboard_alone(stage, reader, address):
    page = reader.page
    page.goto(f"{address}/?view=pictures&batch=album")
    reader.until("the gallery is empty", lambda: page.locator("main img").count() >= 5)

    def focused():
        return page.evaluate("document.activeElement?.closest('main [data-index], main figure, main li, main .cell') !== null && document.activeElement?.tagName")

    def in_grid():
        return page.evaluate("Boolean(document.activeElement?.closest('main')?.querySelector('img')) && Boolean(document.activeElement?.querySelector('img') || document.activeElement?.parentElement?.querySelector('img')) && document.activeElement?.tagName === 'BUTTON'")

    seen = 0
    while not in_grid():
        page.keyboard.press("Tab")
        seen += 1
        reader.check("the keyboard does not reach the pictures", seen < 60)
    before = page.evaluate("document.activeElement.getAttribute('aria-label') ?? document.activeElement.textContent")
    page.keyboard.press("ArrowRight")
    reader.until("the arrow keys do not move in the grid", lambda: page.evaluate("document.activeElement.getAttribute('aria-label') ?? document.activeElement.textContent") != before)
    page.keyboard.press("Enter")
    expect(page.locator("dialog[open]")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator("dialog[open]")).to_have_count(0)
    reader.check("the focus is lost with the dialog", page.evaluate("document.activeElement !== document.body"))
    reader.until("the address still names the picture", lambda: "picture=" not in page.url)
    # Each view is a link that the keyboard reaches.
    for name in ["Overview", "Jobs", "Batches"]:
        page.goto(address)
        for _ in range(30):
            page.keyboard.press("Tab")
            if page.evaluate("document.activeElement.textContent.trim()") == name:
                break
        page.keyboard.press("Enter")
        expect(page.get_by_role("heading", name=name, level=1)).to_be_visible()


VIEWS = {
    "overview": "", "jobs": "?view=jobs&state=dead", "job": "?view=job&state=dead&url=URL", "batches": "?view=batches",
    "gallery": "?view=pictures", "sections": "?view=pictures&by=day&order=host",
}  # fmt: skip


def every_view_is_accessible(stage, browser, shots, addresses):
    """Axe finds nothing serious, on a desk and on a phone, light and dark, and a phone needs no scrolling sideways."""
    axe = Axe()
    for scheme in ["light", "dark"]:
        for width in [1280, 360]:
            reader = Reader(stage, browser, shots, color_scheme=scheme)
            reader.page.set_viewport_size({"width": width, "height": 740})
            for name, view in VIEWS.items():
                address = addresses["gallery" if "pictures" in view else "live"]
                reader.page.goto(f"{address}/{view.replace('URL', urllib.parse.quote(stage.url('gone.png'), safe=''))}")
                reader.page.wait_for_timeout(400)
                found = axe.run(reader.page).response["violations"]
                serious = [f"{item['id']}: {item['nodes'][0]['html'][:200]}" for item in found if item["impact"] in ("serious", "critical")]
                reader.check(f"axe on {name} ({scheme}, {width} wide): {serious[:3]}", not serious)
                sideways = reader.page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
                reader.check(f"{name} is {sideways} pixels too wide for {width}", sideways <= 0)
                reader.shot(f"{name}-{scheme}-{width}")
            reader.leave()


def outage_is_said(stage, reader):
    """Redis goes away and comes back; the page says both by itself."""
    process, address = stage.gateway("live")
    page = reader.page
    page.goto(address)
    expect(page.get_by_role("heading", name="Overview")).to_be_visible()
    redis = next(child for child in stage.processes.children if "redis-server" in str(child.args[0]))
    stage.processes.end(redis)
    expect(page.locator("#banners")).to_contain_text("Redis")
    reader.shot("outage")
    stage.processes.redis()
    reader.until("the page does not notice that Redis is back", lambda: page.locator("#banners").inner_text().strip() == "")
    stage.processes.end(process)
    expect(page.locator("#banners")).to_contain_text(re.compile("server|connection", re.I))


def main(processes):
    shots = None
    if "--pictures" in sys.argv:
        shots = pathlib.Path(sys.argv[sys.argv.index("--pictures") + 1])
        shots.mkdir(parents=True, exist_ok=True)
    stage = Stage(processes)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(stage), args=["--no-sandbox", "--disable-gpu"])

        def reading(body, *more, allowed=()):
            begun = time.monotonic()
            reader = Reader(stage, browser, shots)
            try:
                result = body(stage, reader, *more)
            except (AssertionError, PlaywrightError) as error:
                reader.check(f"{body.__name__.replace('_', ' ')}: {str(error).strip()[:1500]}", False)
            reader.leave(allowed)
            print(f"window: {body.__name__.replace('_', ' ')} ({time.monotonic() - begun:.0f} s)", file=sys.stderr)
            return result

        live, address = reading(overview_is_live)
        reading(dead_job_is_found_and_retried, address)
        reading(class_is_retried, address)
        gallery, pictures = reading(gallery_fills)
        reading(hostile_texts_run_nothing, allowed=["400", "404"])
        reading(sign_in, allowed=["401"])
        reading(impossible_queue_is_told, allowed=["400"])
        reading(read_only)
        reading(keyboard_alone, pictures)
        every_view_is_accessible(stage, browser, shots, {"live": address, "gallery": pictures})
        print("window: axe finds nothing serious in any view", file=sys.stderr)
        processes.end(gallery)
        processes.end(live)
        reading(outage_is_said, allowed=["Failed to load", "ERR_", "503"])
        browser.close()


if __name__ == "__main__":
    trial("window", sys.argv[1], 300, main)
