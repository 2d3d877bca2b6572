"""The program does its main job, as a process, with real servers: a run into a folder, and a list that a worker takes from a queue.

  smoke.py GANNET

It takes some seconds. Ends with 1 and a sentence when something is not as it should be.
"""

import hashlib
import json
import os
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "Servers"))
from base import end, name, say, until
from origin import Origin, body_of, urls_of
from program import Gannet
from redis_servers import Node

URLS = 200


def expect(condition, sentence):
    if not condition:
        sys.exit(f"{name}: {sentence}")


def sound(folder, rows):
    """Each row of a manifest names a file with the body of its URL."""
    for row in rows:
        size, digest = body_of(row["url"])
        body = (folder / row["file"]).read_bytes()
        if len(body) != size or hashlib.sha256(body).hexdigest() != digest:
            return False
    return True


def main(path, folder, origin, redis):
    urls = urls_of(origin, URLS, 20)
    listed = folder / "urls.txt"
    # A row that is no URL, a URL that the origin has not, and a URL twice.
    listed.write_text("\n".join([*urls, urls[0], "no URL", f"http://127.1.1.1:{origin.port}/x/1"]) + "\n")
    gannet = Gannet(path, f"redis://127.0.0.1:{redis.port}")

    out = folder / "out"
    words = ["run", "-i", listed, "-d", out, "--allow-net", "127.0.0.0/8", "--json"]
    done = gannet.run(*words, check=False, seconds=60)
    expect(done.returncode == 1, f"a run with a row that is no URL ended with {done.returncode}: {done.stderr}")
    summary = json.loads(done.stdout.splitlines()[-1])
    rows = [json.loads(line) for line in (out / "manifest.jsonl").read_text().splitlines()]
    good = [row for row in rows if row["outcome"] in ("fetched", "cached")]
    expect(len(rows) == URLS + 3, f"the manifest has {len(rows)} rows and not {URLS + 3}")
    expect(len(good) == URLS + 1 and sound(out, good), f"{len(good)} rows are done: {summary}")
    again = gannet.run(*words, check=False, seconds=60)
    expect(again.returncode == 1 and "there already" in again.stderr, f"the second run did not go on: {again.stderr}")
    say("a run fetched its list, and a second run went on")

    store = folder / "store"
    gannet.run("enqueue", "-i", listed, "--batch", "smoke", check=False, seconds=60)
    gannet.run("work", "--store", store, "--until-empty", "--allow-net", "127.0.0.0/8", seconds=60)
    totals = gannet.totals()
    expect(totals["done"] == URLS + 1 and totals["failed"] == 1, f"the queue says {totals}")
    exported = folder / "exported"
    gannet.run("export", "--batch", "smoke", "--dir", exported, "--store", store, "--input", listed, check=False, seconds=60)
    rows = [json.loads(line) for line in (exported / "manifest.jsonl").read_text().splitlines()]
    good = [row for row in rows if row["file"]]
    expect(len(good) == URLS + 1 and sound(exported, good), f"the export has {len(good)} bodies in {len(rows)} rows")
    doctor = gannet.run("doctor", check=False, seconds=60)
    expect(doctor.returncode == 0, f"doctor has a finding: {doctor.stdout}")
    say("a worker emptied a queue, and its batch was exported")

    asked, _ = origin.requests()
    often = [url for url, count in asked.items() if count > 2]
    expect(not often, f"some URLs were asked for more than once by the run and once by the queue, such as {often[:1]}")


if __name__ == "__main__":
    children = []
    with tempfile.TemporaryDirectory() as temporary:
        place = pathlib.Path(temporary)
        os.environ["HOME"] = os.environ["GANNET_HOME"] = temporary
        (place / "origin").mkdir()
        server, node = Origin(place / "origin"), Node(place / "redis", alone=True)
        try:
            main(os.path.abspath(sys.argv[1]), place, server, node)
        finally:
            end(server.process, node.process)
