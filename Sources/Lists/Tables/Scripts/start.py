# The beginning of each script here. `TableScript.swift` puts it in front, and hands the whole to `python3 -I -c`.
#
# Descriptor 0 is the file that is read, 1 takes the output, and 3 takes one problem: words with NUL bytes between them. The first word is a
# kind that `TableFailure.swift` knows. Standard error is nobody's. Exit status 0 means that all of the output was written.
import datetime
import decimal
import json
import os
import re
import sys

options = json.loads(sys.argv[1])


def fail(*words):
    os.write(3, b"\0".join(str(word).encode("utf-8", "replace")[:4096] for word in words[:64]))
    os._exit(3)


def reason(error):
    lines = str(error).strip().splitlines()
    return (lines[0] if lines else type(error).__name__)[:300].rstrip(".")


# One thread, and memory that goes back to the system. Both are read when the libraries are loaded.
os.environ.update(ARROW_DEFAULT_MEMORY_POOL="system", OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")
if sys.prefix == sys.base_prefix:
    # `-I` leaves out packages that were installed with `pip install --user`. Behind all others they cannot hide another module.
    import site

    sys.path.append(site.getusersitepackages())
try:
    import pyarrow as pa
    import pyarrow.parquet as pq
except ModuleNotFoundError as error:
    fail("module", error.name or "pyarrow")
except Exception as error:
    fail("broken", f"its package pyarrow cannot be loaded: {reason(error)}")

# A small file can claim pages of any size.
try:
    import resource

    resource.setrlimit(resource.RLIMIT_DATA, (options["memory"], options["memory"]))
except (ImportError, OSError, ValueError):
    pass


def run(body):
    try:
        body()
    except BrokenPipeError:
        # The reader has enough.
        os._exit(0)
    except MemoryError:
        fail("memory")
    except OSError as error:
        # Arrow's own errors have no number.
        if error.errno:
            fail("system", os.strerror(error.errno))
        fail("unreadable", reason(error))
    except (pa.ArrowException, UnicodeError, EOFError) as error:
        fail("unreadable", reason(error))
    except Exception as error:
        fail("broken", f"{type(error).__name__}: {reason(error)}")
    os._exit(0)
