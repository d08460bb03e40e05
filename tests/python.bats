#!/usr/bin/env bats
load helper

# share/python/motes.py: Python reads and writes streams.
PYTHON=${PEER_PYTHON:-python3}

setup() {
	"$PYTHON" -c 'import numpy' 2>/dev/null || skip "needs NumPy (set PEER_PYTHON)"
	export PYTHONPATH=$ROOT/share/python PYTHONDONTWRITEBYTECODE=1
	cd "$T"
	jq -nc '{id: 1, t: "a\n", l: [1, 2], s: ["x", "é"], r: 1.5, b: true}, {id: 2, t: "", l: [], s: [], r: null, b: false}, {id: 3, t: "c", l: [-7], s: [""], r: -2, b: true}' |
		mts from jsonl -b 2 >a.mts
}

# with_each PROGRAM: runs it with every zstd that this Python has: the standard library's, the package, the command
with_each() {
	"$PYTHON" -c "import zstandard" 2>/dev/null && "$PYTHON" -c "$1" "${@:2}"
	"$PYTHON" -c "import sys; sys.modules['zstandard'] = sys.modules['compression'] = None
$1" "${@:2}"
	if "$PYTHON" -c "import compression.zstd" 2>/dev/null; then "$PYTHON" -c "$1" "${@:2}"; fi
}

@test "python: reads values, types, records and attributes of streams" {
	with_each '
import motes, numpy as np
records = list(motes.read("a.mts"))
assert [r.rows for r in records] == [2, 1] and records[0].attributes == {}
t = motes.load("a.mts")
assert t["t"] == ["a\n", "", "c"] and t["s"] == [["x", "é"], [], [""]], t
assert t["id"].dtype == np.int64 and t["id"].tolist() == [1, 2, 3]
assert [v.tolist() for v in t["l"]] == [[1, 2], [], [-7]]
assert t["b"].dtype == bool and t["b"].tolist() == [True, False, True]
assert np.isnan(t["r"][1]) and t["r"][2] == -2
with motes.read("a.mts") as reader:
    assert reader.columns[1] == {"name": "t", "dtype": "u8", "text": True, "depth": 1}
    assert reader.history[0]["program"] == "mts" and reader.properties == {}
'
}

@test "python: mts reads its streams of all dtypes and depths; a round trip changes no byte" {
	with_each '
import motes, numpy as np
motes.write("b.mts", motes.load("a.mts"), rows=2)
t = {n: np.array([[1, 0], [3, 1], [5, 1]], n) for n in ("float32", "float16", "float64", "int8", "int32", "int64", "uint8", "bool")}
t["deep"] = [[np.array([1.5])], [], [np.zeros(0), np.array([2.0, 3.0])]]
t["big"] = np.arange(3, dtype=">i4")
t["list"] = [0.5, 2, 3]
motes.write("c.mts", t, properties={"model": "m"}, attributes={"task": "é"})
back = motes.load("c.mts")
for name in t:
    if name != "deep":
        assert (back[name] == t[name]).all() and back[name].dtype == np.asarray(t[name]).dtype.newbyteorder("<"), name
motes.write("none.mts", {"x": np.zeros((0, 3), np.float32), "t": []})
assert motes.matrix("none.mts").shape == (0, 3) and motes.load("none.mts")["t"] == []
'
	mts diff a.mts b.mts
	[ "$(mts rows --rows 3 c.mts | mts to jsonl -c float16,int8,bool,deep,big)" = '{"float16":[5,1],"int8":[5,1],"bool":[true,true],"deep":[[],[2,3]],"big":2}' ]
	mts head c.mts | grep -F 'float64 (f64 [2])'
	mts head c.mts | grep -F '{"task":"é"}'
	[ "$(mts stat none.mts | grep '^rows')" = $'rows\t0' ]
}

@test "python: equal calls give equal bytes; concatenated streams are one" {
	with_each '
import motes
motes.write("x.mts", {"t": ["a", "b"]})
motes.write("y.mts", {"t": ["a", "b"]})
assert open("x.mts", "rb").read() == open("y.mts", "rb").read()
open("xy.mts", "wb").write(open("x.mts", "rb").read() * 2)
assert motes.load("xy.mts")["t"] == ["a", "b"] * 2
open("other.mts", "wb").write(open("x.mts", "rb").read() + open("a.mts", "rb").read())
try:
    motes.load("other.mts")
except motes.Error as error:
    assert str(error) == "other.mts: record 2: the stream that follows has other columns or properties", error
else:
    raise SystemExit("accepted")
'
}

@test "python: truncated, damaged and foreign files are refused in one line each" {
	mts cat a.mts a.mts >two.mts
	with_each '
import io, motes, sys
whole = open("two.mts", "rb").read()
def refused(data):
    try:
        motes.load(io.BytesIO(data))
    except motes.Error as error:
        return "\n" not in str(error) and str(error).startswith("stream: ")
for size in range(0, len(whole), int(sys.argv[1])):
    assert refused(whole[:size]), size
for at in range(30, len(whole), 53):
    flipped = bytearray(whole)
    flipped[at] ^= 4
    try:
        assert motes.load(io.BytesIO(bytes(flipped)))["t"] == motes.load(io.BytesIO(whole))["t"], at
    except motes.Error:
        pass
assert refused(b"text\n") and refused(b"\x28\xb5\x2f\xfd")
' 41
}

@test "python: huge counts in a file allocate no memory" {
	printf 'mts 1\n{"columns":[{"name":"x","dtype":"f32"}],"properties":{},"history":[]}\n' >h
	for counts in '\xff\xff\xff\xff\xff\xff\xff\x7f' '\0\0\0\0\2\0\0\0'; do
		printf "record\0\0$counts"'\2\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0'"$counts{}" >r
		{ zstd -qc --stream-size="$(stat -c %s h)" h; zstd -qc --stream-size="$(stat -c %s r)" r; } >bad.mts
		(ulimit -v 4000000; with_each '
import motes
try:
    motes.load("bad.mts")
except motes.Error as error:
    print(error)
else:
    raise SystemExit("accepted")
') >out
		grep -q '^bad.mts: record 1: ' out
	done
}

@test "python: a column as a matrix; vectors of texts by tok and encode" {
	need_minilm
	export MOTES_MODEL=$MOTES_MINILM
	printf '{"text":"a\\nb"}\n{"text":"the sea"}\n' >x.jsonl
	tok x.jsonl | encode >x.mts
	"$PYTHON" -c '
import motes, numpy as np
made = motes.encode(["a\nb", "the sea"])
assert made.shape == (2, 384) and (made == motes.matrix("x.mts")).all() and (made == motes.matrix("x.mts", "text.emb")).all()
assert not (motes.encode(["the sea"], prompt="query: ") == made[1:]).all()
for arguments in ({"model": "nowhere"}, {"task": "none"}):
    try:
        motes.encode(["a"], **arguments)
    except motes.Error as error:
        assert str(error).startswith("tok: "), error
    else:
        raise SystemExit("accepted")
try:
    motes.matrix("a.mts")
except motes.Error as error:
    assert str(error) == "a.mts: 0 columns fit; name one of id, t, l, s, r, b", error
'
}

