"""Makes the two pictures of README: the overview with a failing host, and the gallery while it fills.

  pictures.py GANNET FOLDER   writes window.png and pictures.png into FOLDER
"""

import math
import pathlib
import random
import sys

from playwright.sync_api import expect, sync_playwright
from stage import Stage, chromium, png
from processes import trial  # noqa: I001 (the stage says where it is)

HOSTS = ["archive.localhost", "photos.localhost", "museum.localhost", "mirror.localhost"]


def landscape(number):
    """Hills before a sky with a sun, each time others."""
    chance = random.Random(number)
    wide, high = 240, 240
    sky, sun, ground = [[chance.randrange(40, 250) for _ in range(3)] for _ in range(3)]
    at, size = (chance.randrange(40, 200), chance.randrange(30, 110)), chance.randrange(12, 34)
    hills = [(chance.randrange(110, 190) + place * 12, chance.uniform(8, 34), chance.uniform(18, 60), chance.uniform(0, 7)) for place in range(3)]
    rows = []
    for y in range(high):
        row = []
        for x in range(wide):
            colour = [value * (0.55 + 0.45 * y / high) for value in sky]
            if math.hypot(x - at[0], y - at[1]) < size:
                colour = [min(255, value + 60) for value in sun]
            for depth, (level, swing, width, turn) in enumerate(hills):
                if y > level + swing * math.sin(x / width + turn):
                    colour = [value * (0.95 - 0.22 * depth) for value in ground]
            row += [int(min(255, value)) for value in colour]
        rows.append(bytes(row))
    return png(wide, rows)


def main(processes):
    folder = pathlib.Path(sys.argv[2])
    stage = Stage(processes)
    for number in range(60):
        (stage.files / f"picture-{number}.png").write_bytes(landscape(number))
    urls = [f"http://{HOSTS[number % 4]}:{stage.port}/picture-{number % 60}.png?n={number}" for number in range(1500)]
    urls[7] = f"http://museum.localhost:{stage.port}/lost.png"
    for number in range(5, 1500, 9):
        urls[number] = f"http://mirror.localhost:1/{number}.png"
    gateway, address = stage.gateway("pictures")
    stage.enqueue("pictures", "holidays", urls)
    stage.work("pictures", "--host-rate", "12", "--retries", "1")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(stage), args=["--no-sandbox", "--disable-gpu"])
        page = browser.new_page(viewport={"width": 1200, "height": 860})
        page.goto(address)
        page.wait_for_timeout(25_000)
        expect(page.locator("main")).to_contain_text("mirror.localhost")
        page.screenshot(path=folder / "window.png")
        page.goto(f"{address}/?view=pictures")
        page.wait_for_timeout(3000)
        page.screenshot(path=folder / "pictures.png")
        browser.close()


trial("pictures", sys.argv[1], 180, main)
