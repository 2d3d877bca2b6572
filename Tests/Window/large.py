"""The window with a million jobs and a hundred thousand pictures: how long each view takes, what windows cost Redis, and whether memory grows.

  large.py GANNET [MINUTES [JOBS [PICTURES]]]   scrolls for so many minutes (10; 0 leaves that out), with so many jobs (1000000) and
                                                pictures (100000)

Prints tables in Markdown. Ends with 1 and a sentence when an answer costs Redis more than a bound, or memory grows.
"""

import pathlib
import random
import statistics
import subprocess
import sys
import threading
import time
import urllib.parse
import urllib.request

from playwright.sync_api import sync_playwright
from stage import Stage, chromium
from processes import trial  # noqa: I001 (the stage says where it is)

MINUTES, JOBS, PICTURES = [int(word) for word in (sys.argv[2:5] + ["10", "1000000", "100000"][len(sys.argv[2:5]) :])]
ROUNDS = 11
# A listing looks at 40 parts of a queue, of 500 jobs or elements each; an index of pictures reads a list once.
MOST_COMMANDS = 500


def commands(stage):
    """How many commands Redis has run, and the seconds of processor time that it has used."""
    said = subprocess.run(["redis-cli", "-s", stage.processes.socket, "INFO"], capture_output=True, text=True, check=True).stdout
    facts = dict(line.split(":", 1) for line in said.splitlines() if ":" in line)
    return int(facts["total_commands_processed"]), float(facts["used_cpu_user"]) + float(facts["used_cpu_sys"])


def resident(process):
    text = pathlib.Path(f"/proc/{process.pid}/status").read_text()
    return int(text.split("VmRSS:")[1].split()[0]) / 1024


def views(stage, address):
    host = urllib.parse.quote("h77.example")
    paths = [
        "/", "/v1/session", "/v1/status", "/v1/history", "/v1/batches", "/v1/jobs?state=ready", f"/v1/jobs?state=ready&host={host}",
        "/v1/jobs?state=ready&batch=pictures", "/v1/jobs?state=ready&text=nowhere", "/v1/jobs?state=ready&url=http://h7.example/500007.png",
        f"/v1/jobs/count?state=ready&host={host}", "/v1/jobs/count?state=ready&text=99", "/v1/jobs?state=dead",
        f"/v1/explain?url={urllib.parse.quote(stage.url('0.png?n=0'))}", "/v1/pictures?batch=pictures",
        "/v1/pictures?batch=pictures&order=host&by=day", "/v1/pictures?batch=pictures&order=largest&by=week&first=50000",
        "/v1/pictures?batch=pictures&order=oldest&by=month&first=99800", "/v1/pictures?batch=pictures&favourites=true",
    ]  # fmt: skip
    print(f"| view, {JOBS:,} jobs and {PICTURES:,} pictures | first, ms | median of {ROUNDS}, ms | longest, ms | Redis commands at most |\n| --- | ---: | ---: | ---: | ---: |")
    for path in paths:
        times, most = [], 0
        for _ in range(ROUNDS):
            before, _ = commands(stage)
            begun = time.perf_counter()
            with urllib.request.urlopen(address + path, timeout=60) as answer:
                answer.read()
            times.append((time.perf_counter() - begun) * 1000)
            # The question itself is one.
            most = max(most, commands(stage)[0] - before - 1)
            # An answer that is shared serves for a second.
            time.sleep(0.2)
        print(f"| `{path}` | {times[0]:.0f} | {statistics.median(times):.0f} | {max(times):.0f} | {most} |", flush=True)
        if most > MOST_COMMANDS and "pictures?" not in path:
            stage.processes.fail(f"{path} has cost Redis {most} commands")


def windows(stage, address):
    """The cost of open windows. Each holds a stream of events, and asks for batches and pictures besides."""
    print("\n| open windows | Redis commands a second | of a core |\n| --- | ---: | ---: |")
    costs = {}
    for count in [1, 50]:
        stopping = threading.Event()

        def window():
            stream = urllib.request.urlopen(f"{address}/v1/events", timeout=60)
            last = 0
            while not stopping.is_set():
                if time.monotonic() - last > 3:
                    last = time.monotonic()
                    for path in ["/v1/batches?limit=10", "/v1/pictures?batch=pictures"]:
                        urllib.request.urlopen(address + path, timeout=60).read()
                stopping.wait(0.2)
            stream.close()

        threads = [threading.Thread(target=window, daemon=True) for _ in range(count)]
        for thread in threads:
            thread.start()
        time.sleep(3)
        (first, cpu), begun = commands(stage), time.monotonic()
        time.sleep(15)
        (last, more), seconds = commands(stage), time.monotonic() - begun
        stopping.set()
        for thread in threads:
            thread.join()
        costs[count] = (last - first - 1) / seconds
        print(f"| {count} | {costs[count]:.1f} | {(more - cpu) / seconds * 100:.2f} % |", flush=True)
    if costs[50] > 4 * costs[1]:
        stage.processes.fail("fifty windows cost Redis far more than one")


def scrolling(stage, address, gateway):
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(stage), args=["--no-sandbox", "--disable-gpu"])
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        tools = page.context.new_cdp_session(page)
        tools.send("Performance.enable")
        page.goto(f"{address}/?view=pictures&batch=pictures&by=day")
        page.wait_for_selector("main img")
        print("\n| minute | page's heap, MB | nodes | cells | gateway, MB |\n| ---: | ---: | ---: | ---: | ---: |")
        chance = random.Random(1)
        rows, begun = [], time.monotonic()
        for minute in range(1, MINUTES + 1):
            while time.monotonic() - begun < minute * 60:
                if chance.random() < 0.1:
                    page.evaluate("part => scrollTo(0, part * document.documentElement.scrollHeight)", chance.random())
                else:
                    page.mouse.wheel(0, chance.choice([-1500, 900, 1500, 3000]))
                page.wait_for_timeout(150)
            tools.send("HeapProfiler.collectGarbage")
            facts = {item["name"]: item["value"] for item in tools.send("Performance.getMetrics")["metrics"]}
            cells = page.evaluate("document.querySelectorAll('.cell').length")
            rows.append((facts["JSHeapUsedSize"] / 1e6, facts["Nodes"], cells, resident(gateway)))
            print(f"| {minute} | {rows[-1][0]:.1f} | {rows[-1][1]:.0f} | {cells} | {rows[-1][3]:.0f} |", flush=True)
        browser.close()
    third = max(1, len(rows) // 3)
    for place, name in [(0, "the page's heap"), (3, "the gateway's memory")]:
        before, after = max(row[place] for row in rows[:third]), statistics.median(row[place] for row in rows[-third:])
        if after > before * 1.25 + 2:
            stage.processes.fail(f"{name} grows: {before:.0f} MB, then {after:.0f} MB")
    if max(row[2] for row in rows) > 300:
        stage.processes.fail("cells far from the screen are in the page")


def main(processes):
    stage = Stage(processes)
    stage.enqueue("large", "pictures", [stage.url(f"{number % 40}.png?n={number}") for number in range(PICTURES)])
    worker = stage.work("large", "--until-empty", "--host-limit", "64")
    processes.children.remove(worker)
    try:
        if worker.wait() != 0:
            processes.fail("the pictures were not fetched")
    finally:
        worker.kill()
    stage.enqueue("large", "waiting", [f"http://h{number % 5000}.example/{number}.png" for number in range(JOBS)])
    gateway, address = stage.gateway("large")
    views(stage, address)
    windows(stage, address)
    if MINUTES > 0:
        scrolling(stage, address, gateway)


trial("large", sys.argv[1], 3600 + MINUTES * 60, main)
