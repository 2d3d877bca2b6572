"""Two workers, a gateway, a Redis and an origin of their own, and a real Prometheus that scrapes them: the queue has to be seen draining.

  trial.py GANNET FOLDER   the program, and a folder for what it leaves: metrics-0.txt, metrics-1.txt, metrics-2.txt of the gateway

No port is fixed, everything ends with it, and it takes less than a minute. Ends with 1 and a sentence when something is not as it should be.
"""

import json
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.parse
import urllib.request

URLS = 3000
RATE = 400
DEADLINE = time.monotonic() + 55
here = pathlib.Path(__file__).parent.resolve()
gannet, results = sys.argv[1], pathlib.Path(sys.argv[2])
children = []


def fail(sentence):
    sys.exit(f"trial: {sentence}")


def start(words, **options):
    child = subprocess.Popen(words, **options)
    children.append(child)
    return child


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def wait(what, look):
    """Until `look` answers something."""
    while time.monotonic() < DEADLINE:
        for child in children:
            if child.poll() not in (None, 0):
                fail(f"{child.args[0]} ended with {child.returncode}")
        try:
            answer = look()
        except OSError:
            answer = None
        if answer:
            return answer
        time.sleep(0.05)
    fail(f"waited in vain for {what}")


def get(url):
    with urllib.request.urlopen(url, timeout=5) as answer:
        return answer.read().decode()


def main(folder):
    redis = folder / "redis.sock"
    start(["redis-server", "--port", "0", "--unixsocket", redis, "--save", "", "--dir", folder], stdout=subprocess.DEVNULL)
    wait("Redis", redis.exists)

    # The port may be gone by the time nginx binds it: then it ends, and so does the trial, with a sentence.
    port = free_port()
    (folder / "nginx.conf").write_text(
        f"daemon off; master_process off; pid {folder}/nginx.pid; error_log {folder}/nginx.log; events {{}}\n"
        f"http {{ access_log off; client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy; fastcgi_temp_path {folder}/fastcgi;\n"
        f"uwsgi_temp_path {folder}/uwsgi; scgi_temp_path {folder}/scgi; server {{ listen 127.0.0.1:{port}; location / {{ return 200 hello; }} }} }}\n"
    )
    nginx = shutil.which("nginx", path="/usr/sbin:/usr/local/sbin:/usr/local/bin:/usr/bin")
    start([nginx, "-p", folder, "-c", folder / "nginx.conf"], stderr=subprocess.DEVNULL)

    address = ["--redis", f"unix://{redis}"]
    workers, targets = [], []

    def listening(words, name, sentence):
        log = folder / f"{name}.log"
        with log.open("w") as errors:
            workers.append(start([gannet] + words + ["--allow-net", "127.0.0.0/8"] + address, stdout=subprocess.DEVNULL, stderr=errors))
        found = wait(f"the address of {name}", lambda: re.search(rf"{sentence} on http://(\S+)", log.read_text()))
        targets.append(found[1].rstrip("/"))

    for number in range(2):
        words = ["work", "--store", folder / "bodies", "--host-rate", str(RATE), "--retries", "1", "--listen", "127.0.0.1:0"]
        listening(words, f"worker-{number}", "listening")
    listening(["serve", "--bind", "127.0.0.1:0"], "gateway", "serving")

    # The sample configuration, scraping more often; paths in it are relative to itself.
    sample = (here / "../../Docs/prometheus.yaml").read_text().replace("interval: 15s", "interval: 1s")
    (folder / "prometheus.yaml").write_text(sample)
    shutil.copy(here / "../../Docs/prometheus-alerts.yaml", folder)
    (folder / "gannet-workers.json").write_text(json.dumps([{"targets": targets[:2]}]))
    (folder / "gannet-gateways.json").write_text(json.dumps([{"targets": targets[2:]}]))
    prometheus = f"127.0.0.1:{free_port()}"
    start(
        ["prometheus", f"--config.file={folder}/prometheus.yaml", f"--storage.tsdb.path={folder}/data", f"--web.listen-address={prometheus}",
         "--log.level=error"])  # fmt: skip

    def query(expression):
        answer = json.loads(get(f"http://{prometheus}/api/v1/query?" + urllib.parse.urlencode({"query": expression})))
        return [float(sample["value"][1]) for sample in answer["data"]["result"]]

    wait("two scraped workers", lambda: query("count(up{job='gannet'} == 1)") == [2])
    # And one that nobody listens for, so that failures and retries have been counted too.
    lines = "\n".join([f"http://127.0.0.1:{free_port()}/"] + [f"http://127.0.0.1:{port}/{number}" for number in range(URLS)])
    subprocess.run([gannet, "enqueue", "-i", "-"] + address, input=lines.encode(), check=True, stdout=subprocess.DEVNULL, timeout=20)

    seen = []

    def is_drained():
        ready = query("max by (queue) (gannet_queue_jobs{queue='default', state='ready'})")
        if ready and (not seen or seen[-1] != ready[0]):
            seen.extend(ready)
        done = query("max by (queue) (gannet_queue_ended_total{queue='default', outcome='fetched'})")
        return ready == [0] and done == [URLS]

    wait("the queue to drain", is_drained)
    between = [depth for depth in seen if 0 < depth < URLS]
    if len(between) < 3 or between != sorted(between, reverse=True):
        fail(f"Prometheus did not see the queue draining: {seen}")
    each = query("gannet_worker_jobs_total{outcome='fetched'}")
    if len(each) != 2 or sum(each) != URLS or min(each) == 0:
        fail(f"the two workers' own counts are {each}")
    # Twice the same through the gateway: the first is fetched, because the workers' bodies are in a folder.
    for _ in range(2):
        get(f"http://{targets[2]}/v1/fetch?url=http://127.0.0.1:{port}/gateway")
    wait("the gateway's answers", lambda: query("sum(gannet_gateway_answers_total{job='gannet-gateway'})") == [2])
    firing = query("count(ALERTS{alertstate='firing'})")
    if firing:
        fail(f"alerts fire in a fleet that is in order: {query('ALERTS')}")

    for number, target in enumerate(targets):
        text = get(f"http://{target}/metrics")
        (results / f"metrics-{number}.txt").write_text(text)
        checked = subprocess.run(["promtool", "check", "metrics"], input=text.encode(), capture_output=True, timeout=20)
        complaints = (checked.stdout + checked.stderr).decode().strip()
        if checked.returncode or complaints:
            fail(f"promtool complains of /metrics: {complaints}")
        for path in ["/healthz"] if number == 2 else ["/healthz", "/readyz"]:
            get(f"http://{target}{path}")
    for worker in workers:
        worker.send_signal(signal.SIGTERM)
        if worker.wait(timeout=10) != 0:
            fail(f"{worker.args[1]} ended with {worker.returncode}")
    print(f"trial: Prometheus saw {URLS} jobs drain over two workers: {', '.join(f'{depth:.0f}' for depth in seen)}", file=sys.stderr)


with tempfile.TemporaryDirectory(prefix="gannet-trial-") as name:
    try:
        main(pathlib.Path(name))
    finally:
        for child in reversed(children):
            if child.poll() is None:
                child.terminate()
        for child in children:
            try:
                child.wait(timeout=5)
            except subprocess.TimeoutExpired:
                child.kill()
                child.wait()
