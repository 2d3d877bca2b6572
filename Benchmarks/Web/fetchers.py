"""The programs that fetch a list from a made-up web, each as its users run it for such lists."""

import os
import pathlib

PEERS = pathlib.Path(__file__).parents[2] / ".build/peers/bin"
PROCESSES = os.cpu_count() or 1


def gannet(program, urls, folder, authority):
    """Its defaults, and what a web on loopback needs."""
    return [program, "run", "-i", urls, "-d", folder, "--allow-net", "127.0.0.0/8", "--ca-file", authority, "--max-failures", "100%"]


def curl(_, urls, folder, authority):
    """300 is the most that it has in flight."""
    words = ["curl", "-q", "-sS", "-f", "-L", "--compressed", "--noproxy", "*", "-Z", "--parallel-max", 300, "--cacert", authority]
    return [*words, "--connect-timeout", 10, "--max-time", 30, "--retry", 2, "-K", curl_list(urls, folder)]


def curl_list(urls, folder):
    path = urls.with_suffix(".curl")
    if urls.exists():
        lines = urls.read_text().split()
        path.write_text("".join(f'url = "{url}"\noutput = "{folder}/{number}"\n' for number, url in enumerate(lines)))
    return path


def aria2(_, urls, folder, authority):
    words = ["aria2c", "--no-conf", "--console-log-level=error", "--summary-interval=0", "-i", urls, "-d", folder, "-j", 256, "--split=1", "--file-allocation=none", f"--ca-certificate={authority}"]
    return [*words, "--connect-timeout=10", "--timeout=30", "--max-tries=3", "--retry-wait=1", "--auto-file-renaming=false", "--http-accept-gzip=true"]


def img2dataset(_, urls, folder, __):
    """It makes no picture of any size, so that what it does is to fetch. Trust comes from SSL_CERT_FILE."""
    words = [PEERS / "img2dataset", "--url_list", urls, "--output_folder", folder, "--input_format", "txt", "--output_format", "files"]
    words += ["--resize_mode", "no", "--disable_all_reencoding", "True", "--processes_count", PROCESSES, "--thread_count", 128]
    return [*words, "--number_sample_per_shard", 1000, "--timeout", 10, "--retries", 0, "--enable_wandb", "False"]


def scrapy(_, urls, folder, __):
    return [PEERS / "python", "-B", pathlib.Path(__file__).with_name("spider.py"), urls, folder]


FETCHERS = {"gannet": gannet, "curl": curl, "aria2c": aria2, "img2dataset": img2dataset, "scrapy": scrapy}


def command(name, program, urls, folder, authority):
    return FETCHERS[name](program, urls, folder, authority)


def environment(scratch, authority):
    """gannet has its private Redis in GANNET_HOME. img2dataset's packages do not ask the network for news. Nobody has a proxy."""
    quiet = {"NO_ALBUMENTATIONS_UPDATE": "1", "WANDB_MODE": "disabled", "PYTHONDONTWRITEBYTECODE": "1"}
    kept = {name: value for name, value in os.environ.items() if not name.lower().endswith("_proxy")}
    return kept | quiet | {"GANNET_HOME": str(scratch / "home"), "SSL_CERT_FILE": str(authority)}
