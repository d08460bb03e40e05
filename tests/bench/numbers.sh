# Numbers as text: 4,000 vectors of 384 floats, drawn by perl.  python's json.dumps writes the floats as doubles, with 17
# digits where a float needs 9.
{
	printf '\x93NUMPY\x01\0\x46\0%-69s\n' "{'descr': '<f4', 'fortran_order': False, 'shape': (4000, 384), }"
	perl -e 'srand 1; print pack "f<*", map { rand(0.2) - 0.1 } 1 .. 384 for 1 .. 4000'
} >"$work/numbers.npy"
mts from npy "$work/numbers.npy" >"$work/numbers.mts"

ours_numbers() { mts to jsonl "$work/numbers.mts"; }
peer_numbers() {
	"$peer" -c 'import json, sys, numpy
for row in numpy.load(sys.argv[1]).tolist(): print(json.dumps({"x": row}))' "$work/numbers.npy"
}
row "mts to jsonl: 1,536,000 floats" ours_numbers peer_numbers
