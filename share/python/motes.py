"""motes - tensor streams, .mts files, in Python.  Needs NumPy.

    import motes
    for record in motes.read("x.mts"):          # record by record, in bounded memory
        record["text.emb"]                      # numbers: an array with a row for each row
        record["text"]                          # text: a list of str
        record["text.ids"]                      # lists: a list of arrays
        record.attributes
    columns = motes.load("x.mts")               # the columns of all records together, a dict
    vectors = motes.matrix("x.mts")             # the column of vectors, [rows, dimensions]
    motes.write("y.mts", {"id": ["a", "b"], "emb": vectors})
    vectors = motes.encode(["a text", "another"], model="MODEL")   # tok | encode

The format is mts(5).  bf16 is read as float32, since NumPy has no bf16.  zstd is Python 3.14's module, else the package
zstandard, else the program zstd.
"""

import json
import os
import subprocess
import tempfile

import numpy as np

__all__ = ["Error", "Reader", "Record", "encode", "load", "matrix", "read", "write"]
__version__ = "0.1.0"

_DTYPES = {"f32": "<f4", "f16": "<f2", "bf16": "<u2", "f64": "<f8", "i8": "i1", "i32": "<i4", "i64": "<i8",
           "u8": "u1", "bool": "u1"}
_NAMES = {np.dtype(dtype): name for name, dtype in _DTYPES.items() if name not in ("bf16", "bool")}
_NAMES[np.dtype(bool)] = "bool"
_RECORD, _ELEMENT, _HEADER, _ALIGN = 1 << 34, 1 << 31, 16 << 20, 64


class Error(ValueError):
    """An error in a stream or of a program, in one line."""


class Record(dict):
    """The columns of a record by their names, and its attributes."""

    def __init__(self, rows, attributes):
        super().__init__()
        self.rows = rows
        self.attributes = attributes


# zstd ----------------------------------------------------------------------------------


class _Program:
    """A file decompressed by the program zstd."""

    def __init__(self, file):
        try:
            file.fileno()
        except (AttributeError, OSError):
            copy = tempfile.TemporaryFile()
            copy.write(file.read())
            copy.seek(0)
            file = copy
        self.process = subprocess.Popen(["zstd", "-dcq", "--memory=128MB"], stdin=file, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE)

    def read(self, count):
        data = self.process.stdout.read(count)
        if len(data) < count and self.process.wait():
            raise OSError(self.process.stderr.read().decode(errors="replace").strip().splitlines()[-1])
        return data

    def close(self):
        self.process.stdout.close()
        self.process.stderr.close()
        self.process.wait()


class _Package:
    """A file decompressed by the package zstandard; a truncated frame is an error."""

    def __init__(self, file):
        self.file, self.frame, self.packed, self.unpacked = file, None, b"", b""

    def read(self, count):
        while not self.unpacked:
            self.packed = self.packed or self.file.read(1 << 17)
            if not self.packed and self.frame:
                raise OSError("a frame is not whole")
            if not self.packed:
                break
            import zstandard
            self.frame = self.frame or zstandard.ZstdDecompressor(max_window_size=1 << 27).decompressobj()
            self.unpacked, self.packed, frame = self.frame.decompress(self.packed), b"", self.frame
            if frame.eof:
                self.packed, self.frame = frame.unused_data, None
        data, self.unpacked = self.unpacked[:count], self.unpacked[count:]
        return data

    def close(self):
        pass


def _unpack(file):
    try:
        from compression import zstd
        return zstd.ZstdFile(file)
    except ImportError:
        pass
    try:
        import zstandard  # noqa: F401
        return _Package(file)
    except ImportError:
        return _Program(file)


def _pack(data, level):
    """One frame, with its size and a checksum."""
    try:
        from compression import zstd
        return zstd.compress(data, options={zstd.CompressionParameter.compression_level: level,
                                            zstd.CompressionParameter.checksum_flag: 1})
    except ImportError:
        pass
    try:
        import zstandard
        return zstandard.ZstdCompressor(level=level, write_checksum=True, write_content_size=True).compress(data)
    except ImportError:
        return subprocess.run(["zstd", "-cq", f"-{level}", "--check", f"--stream-size={len(data)}"], input=data,
                              stdout=subprocess.PIPE, check=True).stdout


# Reading -------------------------------------------------------------------------------


def _padded(count):
    return -count % _ALIGN


class Reader:
    """The records of a stream in order.  source: a path, or a file opened in binary mode.

    columns: a list of dicts, as in the header; properties: a dict; history: a list of dicts."""

    def __init__(self, source):
        opened = not hasattr(source, "read")
        self.name = os.fspath(source) if opened else getattr(source, "name", "stream")
        self._file = open(source, "rb") if opened else source
        self._opened = opened
        self._stream = _unpack(self._file)
        self._record = self._rows = self._all = 0
        self._where = ""
        self._header(self._take(6))
        self._next = self._records()

    def __iter__(self):
        return self

    def __next__(self):
        return next(self._next)

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.close()

    def close(self):
        self._stream.close()
        if self._opened:
            self._file.close()

    def _fail(self, what):
        raise Error(f"{self.name}: {self._where}{what}")

    def _take(self, count, end=False):
        """The next bytes; with end, b"" at the end of the stream."""
        parts, left = [], count
        while left:
            try:
                part = self._stream.read(min(left, 1 << 24))
            except Exception as error:  # each package has its own
                self._fail(f"damaged, or cut short: {error}")
            if not part:
                break
            parts.append(part)
            left -= len(part)
        if left and not (end and not parts):
            self._fail("cut short; did the program that wrote it fail?")
        return b"".join(parts)

    def _header(self, start):
        if start != b"mts 1\n":
            self._fail("no tensor stream of version 1")
        text = b""
        while True:
            while True:
                text += self._take(1)
                if text.endswith(b"}\n"):
                    break
                if len(text) > _HEADER:
                    self._fail("its header is too long")
            try:
                header = json.loads(text)
                break
            except ValueError:
                continue
        for column in header["columns"]:
            if column["dtype"] not in _DTYPES or column.get("depth", 0) not in (0, 1, 2):
                self._fail(f"column '{column['name']}' is not as mts(5) has it")
        if hasattr(self, "columns"):
            if (header["columns"], header["properties"]) != (self.columns, self.properties):
                self._fail("the stream that follows has other columns or properties")
            return
        self.columns, self.properties = header["columns"], header["properties"]
        self.history = header["history"]

    def _records(self):
        while True:
            self._where = f"record {self._all + 1}: "
            tag = self._take(8)
            if tag == b"record\0\0":
                yield self._read_record()
                self._record += 1
                self._all += 1
            elif tag == b"end\0\0\0\0\0":
                if tuple(self._numbers(2)) != (self._record, self._rows):
                    self._fail("its end mark counts other records or rows")
                self._record = self._rows = 0
                start = self._take(6, end=True)
                if not start:
                    return
                self._header(start)
            else:
                self._fail("neither a record nor an end mark")

    def _numbers(self, count):
        return [int(number) for number in np.frombuffer(self._take(8 * count), "<u8")]

    def _read_record(self):
        rows, attributes, columns = self._numbers(3)
        if columns != len(self.columns) or attributes > 1 << 20 or rows > _RECORD:
            self._fail("not laid out as its header has it")
        counts = self._numbers(2 * columns)
        try:
            record = Record(rows, json.loads(self._take(attributes)))
        except ValueError:
            self._fail("its attributes are no JSON")
        self._take(_padded(32 + 16 * columns + attributes))
        for i, column in enumerate(self.columns):
            record[column["name"]] = self._column(column, rows, *counts[2 * i:2 * i + 2])
        self._rows += rows
        return record

    def _array(self, dtype, count):
        size = count * np.dtype(dtype).itemsize
        if size > _RECORD:
            self._fail("too large")
        array = np.frombuffer(self._take(size), dtype)
        self._take(_padded(size))
        return array

    def _offsets(self, count, last, name):
        offsets = self._array("<u8", count + 1)
        if offsets[0] or offsets[-1] != last or (offsets[1:] < offsets[:-1]).any():
            self._fail(f"column '{name}': its offsets do not fit")
        return offsets.astype(np.int64)

    def _column(self, column, rows, lists, elements):
        name, shape = column["name"], tuple(column.get("shape", ()))
        depth, text = column.get("depth", 0), column.get("text", False)
        if max(rows, lists, elements) > _RECORD or (depth == 0 and elements != rows) or (depth < 2 and lists):
            self._fail(f"column '{name}': not laid out as its header has it")
        outer = self._offsets(rows, lists if depth == 2 else elements, name) if depth else None
        inner = self._offsets(lists, elements, name) if depth == 2 else None
        width = int(np.prod(shape, dtype=object)) if shape else 1
        data = self._array(_DTYPES[column["dtype"]], elements * width)
        if text:
            data = data.tobytes()
        elif column["dtype"] == "bf16":
            data = (data.astype("<u4") << 16).view("<f4")
        elif column["dtype"] == "bool":
            if data.size and data.max() > 1:
                self._fail(f"column '{name}': a bool is neither 0 nor 1")
            data = data.view(bool)
        if not text:
            data = data.reshape((elements,) + shape)
        for offsets in (inner, outer):
            if offsets is not None:
                data = [data[a:b] for a, b in zip(offsets[:-1], offsets[1:])]
                if text and isinstance(data[0] if data else b"", bytes):
                    data = [value.decode(errors="replace") for value in data]
        return data


def read(source):
    """The records of a stream, read one by one."""
    return Reader(source)


def _join(parts):
    if isinstance(parts[0], list):
        return [value for part in parts for value in part]
    return np.concatenate(parts)


def load(source):
    """All columns of a stream, each with the rows of all records."""
    with Reader(source) as reader:
        records = list(reader)
        empty = {column["name"]: [] if column.get("depth") else np.zeros(
            [0] + column.get("shape", []), "<f4" if column["dtype"] == "bf16" else
            bool if column["dtype"] == "bool" else _DTYPES[column["dtype"]]) for column in reader.columns}
    return {name: _join([record[name] for record in records]) if records else none for name, none in empty.items()}


def matrix(source, column=None):
    """A column with an array in each row, as an array [rows, ...]; by default the only column of vectors."""
    with Reader(source) as reader:
        names = [c["name"] for c in reader.columns if not c.get("depth") and (column or c.get("shape"))
                 and column in (None, c["name"])]
        if len(names) != 1:
            raise Error(f"{reader.name}: {len(names)} columns fit; name one of "
                        + ", ".join(c["name"] for c in reader.columns))
        shape = next(c for c in reader.columns if c["name"] == names[0]).get("shape", [])
        parts = [record[names[0]] for record in reader]
    return np.concatenate(parts) if parts else np.zeros([0] + shape, np.float32)


# Writing -------------------------------------------------------------------------------


def _values(values):
    """An array if each row is a number, else a list."""
    if hasattr(values, "to_numpy"):
        values = values.to_numpy()
    if not isinstance(values, np.ndarray) or values.dtype.kind in "OUST":
        values = list(values)
        if values and isinstance(values[0], (bool, int, float, np.generic)) and not isinstance(values[0], str):
            values = np.array(values)
    return values


def _describe(name, values):
    """A column's description for the header."""
    if isinstance(values, np.ndarray):
        if values.dtype.newbyteorder("=") not in _NAMES:
            raise Error(f"column '{name}': mts(5) has no {values.dtype}")
        shape = [int(n) for n in values.shape[1:]]
        return {"name": name, "dtype": _NAMES[values.dtype.newbyteorder("=")], **({"shape": shape} if shape else {})}
    depth, first = 1, next(iter(values), "")
    if isinstance(first, (list, tuple)):
        depth, first = 2, next((v for value in values for v in value), "")
    if isinstance(first, str):
        return {"name": name, "dtype": "u8", "text": True, "depth": depth}
    inner = _describe(name, np.asarray(first))
    shape = list(np.shape(first)[1:])
    return {"name": name, "dtype": inner["dtype"], "depth": depth, **({"shape": shape} if shape else {})}


def _arrays(column, values):
    """The number of lists, the number of elements, and the arrays of a column's rows."""
    dtype, depth = _DTYPES[column["dtype"]], column.get("depth", 0)
    if not depth:
        return 0, len(values), [np.ascontiguousarray(values).astype(dtype, copy=False).tobytes()]
    arrays, lists = [], 0
    for level in range(depth):
        if level == depth - 1 and column.get("text"):
            values = [value.encode() for value in values]
        offsets = np.zeros(len(values) + 1, "<u8")
        np.cumsum([len(value) for value in values], out=offsets[1:], dtype="<u8")
        arrays.append(offsets.tobytes())
        if level < depth - 1:
            values = [inner for value in values for inner in value]
            lists = len(values)
    elements = int(offsets[-1])
    if column.get("text"):
        arrays.append(b"".join(values))
    else:
        arrays.append(b"".join(np.asarray(value).astype(dtype).tobytes() for value in values))
    return lists, elements, arrays


def _record(columns, table, first, last, attributes):
    counts, arrays = [], []
    for column in columns:
        lists, elements, of_column = _arrays(column, table[column["name"]][first:last])
        counts += [lists, elements]
        arrays += of_column
    text = json.dumps(attributes, ensure_ascii=False).encode()
    head = b"record\0\0" + np.array([last - first, len(text), len(columns)] + counts, "<u8").tobytes() + text
    return b"".join(part + b"\0" * _padded(len(part)) for part in [head] + arrays)


def write(target, table, properties=None, attributes=None, history=(), rows=1024, level=3):
    """Writes a table, {name: values}, to target: a path, which is written completely or not at all, or a binary file.

    values: an array or a list with an element for each row; a list of str; a list of arrays; a list of lists of those;
    or a column of pandas."""
    table = {name: _values(values) for name, values in table.items()}
    lengths = {len(values) for values in table.values()}
    if len(lengths) > 1:
        raise Error("columns of different lengths: " + ", ".join(f"{n}: {len(v)}" for n, v in table.items()))
    count = lengths.pop() if lengths else 0
    columns = [_describe(name, values) for name, values in table.items()]
    header = {"columns": columns, "properties": properties or {},
              "history": list(history) + [{"program": "motes.py", "version": __version__, "command": "motes.write"}]}
    frames = [("mts 1\n" + json.dumps(header, ensure_ascii=False) + "\n").encode()]
    if not hasattr(target, "write"):
        partial = f"{os.fspath(target)}.{os.getpid()}.partial"
        try:
            with open(partial, "wb") as file:
                write(file, table, properties, attributes, history, rows, level)
            os.replace(partial, target)
        finally:
            if os.path.exists(partial):
                os.unlink(partial)
        return
    target.write(_pack(frames[0], level))
    for first in range(0, count, rows):
        target.write(_pack(_record(columns, table, first, min(first + rows, count), attributes or {}), level))
    target.write(_pack(b"end\0\0\0\0\0" + np.array([-(-count // rows), count], "<u8").tobytes(), level))


# Programs ------------------------------------------------------------------------------


def encode(texts, model=None, task=None, prompt=None, options=()):
    """The embeddings of texts by `tok | encode`, an array [texts, dimensions].

    model: a folder or a name of the Hub (default: $MOTES_MODEL); options: more options of encode(1)."""
    of_model = ["-m", model] if model else []
    of_tok = ["--task", task] if task else ["--prompt", prompt] if prompt else []
    with tempfile.TemporaryFile() as lines, tempfile.TemporaryFile() as tok_errors, \
            tempfile.TemporaryFile() as encode_errors:
        lines.write("".join(json.dumps({"text": text}) + "\n" for text in texts).encode())
        lines.seek(0)
        tok = subprocess.Popen(["tok", "--quiet", "--format", "jsonl", "-f", "text", *of_model, *of_tok], stdin=lines,
                               stdout=subprocess.PIPE, stderr=tok_errors)
        encoder = subprocess.Popen(["encode", "--quiet", *of_model, *options], stdin=tok.stdout,
                                   stdout=subprocess.PIPE, stderr=encode_errors)
        tok.stdout.close()
        made = what = None
        try:
            made = matrix(encoder.stdout)
        except Error as error:
            what = str(error)
        finally:
            encoder.stdout.close()
            statuses = [tok.wait(), encoder.wait()]
        if made is not None and not any(statuses):
            return made
        for errors in (tok_errors, encode_errors):  # tok's first: encode's may only say that its input is truncated
            errors.seek(0)
            said = errors.read().decode(errors="replace").strip()
            if said:
                raise Error(said)
        raise Error(what or f"tok | encode: exit statuses {statuses}")
