"""Made-up pictures, a list of them in Parquet, and an nginx that serves them. The same seed makes the same pictures and the same list."""

import collections
import io
import random
import socket
import subprocess

import pyarrow
import pyarrow.parquet
from base import free_port, until
from PIL import Image, ImageFilter

SIDES = (400, 1600)
MISSING = 0.02


def picture(rng):
    """Large and small shapes with some noise, so that a JPEG of it has about the size of a photo's."""
    width, height = rng.randint(*SIDES), rng.randint(*SIDES)
    shapes = Image.frombytes("RGB", (12, 9), rng.randbytes(324)).resize((width, height), Image.BICUBIC)
    details = Image.frombytes("RGB", (160, 120), rng.randbytes(57_600)).resize((width, height), Image.BICUBIC)
    noise = Image.frombytes("L", (width, height), rng.randbytes(width * height)).filter(ImageFilter.GaussianBlur(1)).convert("RGB")
    whole = Image.blend(Image.blend(shapes, details, 0.25), noise, 0.12)
    file = io.BytesIO()
    whole.save(file, "JPEG", quality=85, progressive=rng.random() < 0.1)
    return file.getvalue()


class Origin:
    """Its log has each request, with the status of the answer."""

    def __init__(self, folder, files, seed):
        self.folder, self.files, self.log = folder, files, folder / "requests"
        (folder / "files").mkdir(parents=True)
        rng = random.Random(seed)
        self.bytes = 0
        for number in range(files):
            body = picture(rng)
            self.bytes += len(body)
            (folder / "files" / f"{number}.jpg").write_bytes(body)
        self.port = free_port()
        folders = " ".join(f"{kind}_temp_path {folder}/{kind};" for kind in ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"])
        (folder / "nginx.conf").write_text(f"""daemon off; pid {folder}/pid; error_log {folder}/errors; worker_processes 1;
            events {{ worker_connections 4096; }}
            http {{ log_format one '$request_uri $status'; access_log {self.log} one; keepalive_requests 1000000; {folders}
              sendfile on; types {{ image/jpeg jpg; }} open_file_cache max=10000;
              server {{ listen 127.0.0.1:{self.port} backlog=4096; root {folder}/files; }} }}""")
        self.process = subprocess.Popen(["nginx", "-p", folder, "-e", folder / "errors", "-c", folder / "nginx.conf"], start_new_session=True)
        until("nginx listens", lambda: socket.socket().connect_ex(("127.0.0.1", self.port)) == 0)

    def list(self, path, count, seed):
        """Writes rows with captions. Some of their URLs do not exist. Answers the paths that do."""
        rng = random.Random(seed)
        paths = [f"/{'missing' if rng.random() < MISSING else ''}{number % self.files}.jpg?row={number}" for number in range(count)]
        rows = {
            "url": [f"http://127.0.0.1:{self.port}{name}" for name in paths],
            "caption": [f"picture {number}, of {rng.randint(1, 9)} things" for number in range(count)],
        }
        pyarrow.parquet.write_table(pyarrow.table(rows), path)
        return {name for name in paths if not name.startswith("/missing")}

    def forget(self):
        """Empties the log. nginx appends to it."""
        self.log.write_bytes(b"")

    def requests(self):
        """How often each path was asked for since the log was emptied. A request that was cut off counts too."""
        with self.log.open() as lines:
            return collections.Counter(line.split(" ")[0] for line in lines)
