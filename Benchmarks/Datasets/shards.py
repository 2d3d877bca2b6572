"""A folder of shards, as `tar` and webdataset read it."""

import hashlib
import io
import json
import subprocess
import urllib.parse

import webdataset
from PIL import Image


class Shard:
    """A file with the name of a shard."""

    def __init__(self, path):
        self.path, self.bytes = path, path.stat().st_size
        with path.open("rb") as file:
            self.digest = hashlib.file_digest(file, "sha256").hexdigest()
        self.is_listed = subprocess.run(["tar", "tf", path], capture_output=True).returncode == 0
        self.paths, self.captions, self.error = [], 0, None
        try:
            for sample in webdataset.WebDataset(str(path), shardshuffle=False, empty_check=False):
                # A sample that was cut off may lack its picture.
                with Image.open(io.BytesIO(sample["jpg"])) as picture:
                    picture.load()
                self.add(sample)
        except Exception as error:
            self.error = repr(error)[:200]

    def add(self, sample):
        figures = json.loads(sample["json"])
        url = urllib.parse.urlsplit(figures["url"])
        self.paths.append(f"{url.path}?{url.query}")
        caption = figures.get("carried", figures).get("caption")
        self.captions += bool(caption)


def shards(folder):
    return [Shard(path) for path in sorted(folder.glob("*.tar"))]


def problems(found, wanted):
    """A sentence for each fault of complete shards that have to hold each of these paths once."""
    said = [f"{shard.path.name}: {shard.error or 'tar does not read it'}" for shard in found if shard.error or not shard.is_listed]
    paths = [path for shard in found for path in shard.paths]
    if set(paths) != wanted:
        said.append(f"{len(wanted - set(paths))} samples are missing, {len(set(paths) - wanted)} are too many")
    if len(paths) != len(set(paths)):
        said.append(f"{len(paths) - len(set(paths))} samples come twice")
    if sum(shard.captions for shard in found) != len(paths):
        said.append("captions are missing")
    return said
