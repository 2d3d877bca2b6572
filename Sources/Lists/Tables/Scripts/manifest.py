# Makes a Parquet file of a manifest of JSON lines. The file has the manifest's rows in their order, and a column for each key.
#
# The manifest is read twice: first for the types of columns that not all manifests have, such as those of carried values.

ROWS = 16384
# A carried number may have more digits than Python takes by itself. The reader of the list has bounded it.
if hasattr(sys, "set_int_max_str_digits"):
    sys.set_int_max_str_digits(0)
FIXED = {
    "line": "int64", "argument": "int64", "finished": "int64", "url": "string", "outcome": "string", "httpStatus": "int32",
    "bytes": "int64", "sha256": "string", "contentType": "string", "durationMilliseconds": "int64", "file": "string",
    "errorClass": "string", "errorMessage": "string", "optOut": "string", "typeMismatch": "string", "id": "string",
    "result": "string", "lastSha256": "string", "fetchedAt": "string", "checkedAt": "string", "finalUrl": "string", "etag": "string",
    "lastModified": "string", "cacheControl": "string", "expires": "string", "age": "string",
}
CARRIED = "carried"


def lines(file):
    file.seek(0)
    for number, line in enumerate(file, 1):
        try:
            row = json.loads(line)
        except ValueError:
            fail("unreadable", f"line {number} of the manifest is not JSON")
        yield row


def flat(row):
    """The row's columns, and its carried values."""
    error = row.pop("error", None) or {}
    row["errorClass"], row["errorMessage"] = error.get("class"), error.get("message")
    return row, row.pop(CARRIED, None) or {}


class Kind:
    """The narrowest type that has room for all values of a column."""

    def __init__(self):
        self.types, self.least, self.most = set(), 0, 0

    def see(self, value):
        if value is None:
            return
        self.types.add(type(value))
        if type(value) is int:
            self.least, self.most = min(self.least, value), max(self.most, value)

    def arrow(self):
        if self.types == {bool}:
            return pa.bool_()
        if self.types == {int}:
            if -(1 << 63) <= self.least and self.most < 1 << 63:
                return pa.int64()
            if self.least >= 0 and self.most < 1 << 64:
                return pa.uint64()
        # Above 2^53 a float would change an integer.
        if self.types == {float} or self.types == {int, float} and max(-self.least, self.most) <= 1 << 53:
            return pa.float64()
        return pa.string()


def fitting(value, kind):
    if value is None:
        return None
    if kind == pa.string():
        return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return float(value) if kind == pa.float64() else value


def write_manifest():
    source = os.fdopen(0, "rb")
    others, carried = {}, {}
    for row in lines(source):
        row, values = flat(row)
        for key, value in row.items():
            if key not in FIXED:
                others.setdefault(key, Kind()).see(value)
        for key, value in values.items():
            carried.setdefault(key, Kind()).see(value)
    columns = [(key, key, False, getattr(pa, kind)()) for key, kind in FIXED.items()]
    columns += [(key, key, False, kind.arrow()) for key, kind in others.items()]
    taken = {name for name, *_ in columns}
    for key, kind in carried.items():
        # The manifest's own columns keep their names.
        name = key
        while name in taken:
            name = "carried." + name
        taken.add(name)
        columns.append((name, key, True, kind.arrow()))
    schema = pa.schema([(name, kind) for name, _, _, kind in columns])
    output = os.fdopen(1, "wb")
    with pq.ParquetWriter(pa.PythonFile(output, mode="w"), schema, compression="snappy") as writer:
        gathered = []

        def flush():
            arrays = []
            for _, key, is_carried, kind in columns:
                arrays.append(pa.array([fitting(row[is_carried].get(key), kind) for row in gathered], kind))
            writer.write_batch(pa.record_batch(arrays, schema=schema))
            gathered.clear()

        for row in lines(source):
            gathered.append(flat(row))
            if len(gathered) == ROWS:
                flush()
        if gathered:
            flush()
    output.flush()


run(write_manifest)
