# The rows of a Parquet file as JSON lines, in the file's order. Each row is one line, whatever is in it, so the number of a line is the row's.
#
# A line is {"u": URL, "i": id, "0": first carried value, …}. A URL that is null is an empty string. Text is written as the bytes that the
# file has, also where they are not UTF-8: the reader judges them.

# About this much of the wanted columns is in memory at a time, besides one page of each.
BATCH_BYTES = 8 << 20
# For the columns of the file, a buffer each.
BUFFER = 1 << 20

SPECIAL = re.compile(rb'[\x00-\x1f"\\\x7f]')
ESCAPES = {bytes([code]): b"\\u%04x" % code for code in [*range(0x20), 0x22, 0x5C, 0x7F]}


def quoted(text):
    return b'"' + SPECIAL.sub(lambda found: ESCAPES[found[0]], text) + b'"'


def encoded(value):
    """JSON of a value as pyarrow hands it over. Times are text as ISO 8601 has it; a number that is none in JSON is null."""
    if value is None:
        return b"null"
    if isinstance(value, bool):
        return b"true" if value else b"false"
    if isinstance(value, int):
        return b"%d" % value
    if isinstance(value, float):
        return repr(value).encode() if value - value == 0 else b"null"
    if isinstance(value, decimal.Decimal):
        return format(value, "f").encode() if value.is_finite() else b"null"
    if isinstance(value, str):
        return quoted(value.encode("utf-8", "replace"))
    if isinstance(value, bytes):
        return quoted(value)
    if isinstance(value, dict):
        return b"{" + b",".join(quoted(str(key).encode()) + b":" + encoded(item) for key, item in value.items()) + b"}"
    if isinstance(value, (list, tuple)):
        return b"[" + b",".join(map(encoded, value)) + b"]"
    if isinstance(value, (datetime.datetime, datetime.date, datetime.time)):
        return quoted(value.isoformat().encode())
    return quoted(str(value).encode())


def is_text(kind):
    checks = ("is_string", "is_large_string", "is_string_view", "is_binary", "is_large_binary", "is_binary_view", "is_fixed_size_binary")
    return any(hasattr(pa.types, check) and getattr(pa.types, check)(kind) for check in checks)


def plain(kind):
    """The type of the values behind a dictionary or an extension."""
    while True:
        if isinstance(kind, pa.BaseExtensionType):
            kind = kind.storage_type
        elif pa.types.is_dictionary(kind):
            kind = kind.value_type
        else:
            return kind


def values(array):
    """The JSON of each value."""
    while isinstance(array, (pa.ExtensionArray, pa.DictionaryArray)):
        array = array.storage if isinstance(array, pa.ExtensionArray) else array.dictionary_decode()
    kind = array.type
    if is_text(kind):
        if not pa.types.is_fixed_size_binary(kind):
            array = array.cast(pa.large_binary())
        return [b"null" if value is None else quoted(value) for value in array.to_pylist()]
    # Python has no nanoseconds, and may not know the name of a time zone.
    if pa.types.is_timestamp(kind):
        array = array.cast(pa.timestamp("us", tz="UTC" if kind.tz else None), safe=False)
    elif pa.types.is_time64(kind):
        array = array.cast(pa.time64("us"), safe=False)
    elif pa.types.is_duration(kind):
        array = array.cast(pa.duration("us"), safe=False)
    return [encoded(value) for value in array.to_pylist()]


def place(name, columns):
    """The column of that name, else of that name in another case; without a name the first with a usual one. As ColumnNames.index(of:in:)."""
    if name is None:
        simple = [re.sub(r'[ \r\t_"-]', "", column).lower() for column in columns]
        return next((simple.index(usual) for usual in options["usual"] if usual in simple), None)
    if name in columns:
        return columns.index(name)
    return next((index for index, column in enumerate(columns) if column.lower() == name.lower()), None)


def write_rows():
    source = pa.PythonFile(os.fdopen(0, "rb"), mode="r")
    table = pq.ParquetFile(source, buffer_size=BUFFER, pre_buffer=False)
    schema = table.schema_arrow
    columns = schema.names

    def found(name):
        index = place(name, columns)
        if index is None:
            fail("column", name or "", len(columns), *columns[:30])
        return index

    url = found(options["column"])
    if not is_text(plain(schema.types[url])) and not pa.types.is_null(schema.types[url]):
        fail("type", columns[url], schema.types[url])
    wanted = [(b'{"u":', url)]
    if options["id"] is not None:
        wanted.append((b',"i":', found(options["id"])))
    for number, name in enumerate(options["carried"]):
        wanted.append((b',"%d":' % number, found(name)))
    names = [columns[index] for _, index in wanted]
    if any(columns.count(name) > 1 for name in names):
        fail("unreadable", "two of its columns have the same name")

    rows = table.metadata.num_rows
    bytes_of_row = row_bytes(table.metadata, names) / max(1, rows)
    size = int(min(8192, max(16, BATCH_BYTES / max(1, bytes_of_row))))
    output = os.fdopen(1, "wb", buffering=0)
    done = 0
    for batch in table.iter_batches(batch_size=size, columns=names, use_threads=False):
        parts = []
        for (key, _), name in zip(wanted, names):
            column = values(batch.column(batch.schema.get_field_index(name)))
            if key == b'{"u":':
                column = [b'""' if value == b"null" else value for value in column]
            elif len(key) > 2 and key[2:3].isdigit():
                # A longer value is refused by the reader. It need not travel whole.
                column = [value if len(value) <= options["longest"] else b'"' + b"x" * options["longest"] + b'"' for value in column]
            parts.append([key + value for value in column])
        write(output, b"}\n".join(map(b"".join, zip(*parts))) + b"}\n" if len(batch) else b"")
        done += len(batch)
    if done != rows:
        fail("unreadable", f"it has {done} rows and says that it has {rows}")


def row_bytes(metadata, names):
    """The unpacked size of these columns in the whole file."""
    total = 0
    for group in range(min(metadata.num_row_groups, 1000)):
        for column in range(metadata.num_columns):
            chunk = metadata.row_group(group).column(column)
            if any(chunk.path_in_schema == name or chunk.path_in_schema.startswith(name + ".") for name in names):
                total += chunk.total_uncompressed_size
    return total


def write(output, data):
    view = memoryview(data)
    while view:
        view = view[output.write(view) :]


run(write_rows)
