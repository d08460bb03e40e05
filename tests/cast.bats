#!/usr/bin/env bats
load helper

# Vectors as f16, codes of 8 bits and single bits: mts cast, encode --dtype, and the programs that read them.

setup() { cd "$T" || return; }

golden() { mkstream 5 <"$GOLDEN/quantise.jsonl" >x.mts; }

# column NAME: the column of the stream on standard input, a row a line
column() { mts to jsonl | jq -c ".\"$1\""; }

# empty TYPE PROPERTIES: a stream of a column x.emb without records
empty() {
	local text="mts 1
{\"columns\":[{\"name\":\"x.emb\",$1}],\"properties\":{$2},\"history\":[]}
"
	printf %s "$text" | zstd -qc --stream-size=${#text}
	printf 'end\0\0\0\0\0%b' '\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0' | zstd -qc --stream-size=24
}

# random COUNT WIDTH SEED: unit vectors with ids and texts
random() { mkstream random "$1" "$2" "$3"; }

# 1. known answers

@test "cast: codes of 8 bits and single bits equal those of sentence-transformers" {
	golden
	mts cast i8 --ranges x.mts x.mts >every.mts
	column x.emb <every.mts | cmp - <(jq -c .every "$GOLDEN/quantise.jsonl")
	mts rows --rows 1-8 x.mts >sample.mts
	mts cast i8 --ranges sample.mts x.mts | column x.emb | cmp - <(jq -c .some "$GOLDEN/quantise.jsonl")
	mts cast bit x.mts | column x.emb | cmp - <(jq -c .bits "$GOLDEN/quantise.jsonl")
	# the ranges may come from a stream of codes; a small stream uses its own ranges, with a warning
	mts cast i8 --ranges every.mts sample.mts | column x.emb | cmp - <(jq -c .every "$GOLDEN/quantise.jsonl" | sed -n 1,8p)
	run -0 --separate-stderr mts cast i8 -o own.mts x.mts
	[[ $stderr == *"the ranges of the codes are those of 12 vectors; take those of more with --ranges" ]]
	mts diff own.mts every.mts
	# other columns and the records' attributes pass through
	mts cat -c every,some x.mts | mts diff - <(mts cat -c every,some every.mts)
	mts stat --json every.mts | jq -e '.records == 3 and .rows == 12'
}

@test "cast: codes of all-MiniLM-L6-v2's vectors equal those of sentence-transformers" {
	need_minilm
	"${PEER_PYTHON:-python3}" -c 'import sentence_transformers' 2>/dev/null || skip "needs sentence-transformers (set PEER_PYTHON)"
	for word in one small red old; do for thing in house boat idea cat road; do echo "$word $thing, $thing"; done; done >texts.txt
	tok -m "$MOTES_MINILM" texts.txt | encode -m "$MOTES_MINILM" >x.mts
	tok -m "$MOTES_MINILM" texts.txt | encode -m "$MOTES_MINILM" --dtype i8 --ranges x.mts | mts to npy >i8.npy
	tok -m "$MOTES_MINILM" texts.txt | encode -m "$MOTES_MINILM" --dtype bit | mts to npy >bit.npy
	mts to npy x.mts >x.npy
	"${PEER_PYTHON:-python3}" - <<-'END'
		import numpy
		from sentence_transformers.util.quantization import quantize_embeddings
		x = numpy.load("x.npy")
		assert (numpy.load("i8.npy") == quantize_embeddings(x, "int8")).all()
		assert (numpy.load("bit.npy") == quantize_embeddings(x, "ubinary")).all()
	END
}

@test "cast: f32 from codes is the middle of a step, or the sign of a bit; f16 rounds" {
	golden
	mts cast i8 --ranges x.mts x.mts | mts cast f32 | column x.emb >back
	paste -d' ' back <(jq -c '."x.emb"' "$GOLDEN/quantise.jsonl") | jq -se '[range(0; length; 2) as $i | [.[$i], .[$i + 1]] | transpose] as $rows
		| ([$rows[][] | .[1]] | length) == 132 and
		all(range(11); . as $c | [$rows[][$c][1]] as $x | ((($x | max) - ($x | min)) / 255) as $step
			| all($rows[][$c]; (.[0] - .[1]) | (. <= $step * 0.5001 and . >= -$step * 0.5001)))'
	mts cast bit x.mts | mts cast f32 | column x.emb >back
	paste -d' ' back <(jq -c '."x.emb"' "$GOLDEN/quantise.jsonl") | jq -se '[range(0; length; 2) as $i | [.[$i], .[$i + 1]] | transpose[]]
		| all(.[]; . as [$y, $x] | ($y > 0) == ($x > 0) and ($y * $y * 11 - 1 | . < 1e-6 and . > -1e-6))'
	mts cast f16 x.mts >half.mts
	mts diff --rtol 0.0005 --atol 1e-7 half.mts x.mts
	mts cast f32 half.mts >whole.mts
	mts head whole.mts >head
	grep -q 'x.emb (f32 \[11\])' head
	# casting to the dtype that a stream has copies the stream
	for kind in f32 f16 i8 bit; do
		mts cast -q $kind x.mts >one.mts
		mts cast -q $kind one.mts | mts diff - one.mts
	done
	# codes of other ranges are made from the decoded floats
	mts rows --rows 1-8 x.mts >sample.mts
	mts cast -q i8 x.mts | mts cast i8 --ranges sample.mts | mts cast f32 | mts diff --atol 0.06 - <(mts cast i8 --ranges sample.mts x.mts | mts cast f32)
}

@test "cast: the first 10,000 vectors decide the ranges; later values are clipped" {
	awk 'BEGIN { for (i = 0; i < 10001; i++) printf "{\"id\":%d,\"x.emb\":[%s,%d]}\n", i, i < 10000 ? i % 256 : 1000, i < 10000 ? -i % 2 : -7 }' | mkstream 1000 >x.mts
	mts cast i8 x.mts >i8.mts
	mts head -n 0 --json i8.mts | jq -e '.properties["x.emb.ranges"] == "0 -1 255 0"'
	mts rows --rows 1-3,10001 i8.mts | column x.emb | paste -sd' ' | found -x '\[-128,126\] \[-127,-128\] \[-126,126\] \[127,-128\]'
	[ "$(mts to jsonl i8.mts | jq .id | tail -1)" = 10000 ]
	# a pipe gives the same bytes
	cat x.mts | mts cast i8 -q - | mts diff - i8.mts
}

# 2. programs that read them

@test "cast: encode --dtype writes the same as mts cast of encode's floats" {
	ids_stream text.ids <"$GOLDEN/bert/ids.txt" >ids.mts
	encode -m "$GOLDEN/bert" ids.mts >x.mts
	for kind in f32 f16 bit "i8 --ranges x.mts"; do
		# shellcheck disable=SC2086
		encode -m "$GOLDEN/bert" --dtype $kind ids.mts >made.mts
		# shellcheck disable=SC2086
		mts cast $kind x.mts >cast.mts
		mts diff made.mts cast.mts
		[ "$(mts head -n 0 --json made.mts | jq -cS '[.columns, .properties]')" = "$(mts head -n 0 --json cast.mts | jq -cS '[.columns, .properties]')" ]
	done
	encode -q -m "$GOLDEN/bert" --dtype i8 --keep ids.mts | mts diff - <(mts paste <(mts cast -q i8 x.mts) ids.mts)
	encode -m "$GOLDEN/bert" --dtype f16 --emit emb,hs ids.mts >both.mts
	mts head both.mts | found 'text.emb (f16'
	mts head both.mts | found 'text.hs (f32'
	run -2 --separate-stderr encode -m "$GOLDEN/bert" --dtype i8 --emit hs ids.mts
	[[ $stderr == "encode: --dtype applies to columns X.emb and X.tokens, which --emit leaves out"* ]]
	run -2 --separate-stderr encode -m "$GOLDEN/bert" --dtype bit --ranges x.mts ids.mts
	[[ $stderr == "encode: --ranges needs --dtype i8"* ]]
	run -2 --separate-stderr encode -m "$GOLDEN/bert" --dtype i4 ids.mts
}

@test "cast: near's answer on codes equals its answer on the decoded floats, to the byte" {
	random 700 50 1 >c.mts
	random 9 50 2 >q.mts
	for kind in f16 i8 bit; do
		mts cast $kind c.mts >small.mts
		mts cast f32 small.mts >floats.mts
		near --json q.mts small.mts >answer
		near --json q.mts floats.mts | cmp - answer
		mts index -o $kind.index small.mts
		near --json q.mts $kind.index | cmp - answer
		mts cast -q $kind q.mts >few.mts
		near --json few.mts c.mts | cmp - <(near --json <(mts cast f32 few.mts) c.mts)
		near --json few.mts small.mts | cmp - <(near --json <(mts cast f32 few.mts) floats.mts)
		near --json --exclude-self few.mts small.mts few.mts >/dev/null
	done
	# cosines of bits are 1 - 2 d / 50 for Hamming distance d
	near --json -k 700 <(mts cast bit q.mts) <(mts cast bit c.mts) | jq -e '[.hits[].score * 25 | . - round | fabs] | max < 1e-4'
	# --candidates rescores the best by bits with floats
	near --run - -k 100 q.mts <(mts cast bit c.mts) | near -k 5 --candidates - --run rescored q.mts c.mts
	near --run exact -k 5 q.mts c.mts
	[ "$(cat rescored exact | awk '{ print $1, $3, $5 }' | sort | uniq -d | wc -l)" -ge 40 ]
}

@test "cast: streams with different ranges are one corpus; the ranges follow a renamed column" {
	random 300 20 1 >a.mts
	random 200 20 2 | mts to jsonl | jq -c '._id += "b"' | mkstream >b.mts
	random 5 20 3 >q.mts
	mts cast i8 a.mts >a8.mts
	mts cast i8 b.mts >b8.mts
	near --json q.mts a8.mts b8.mts | cmp - <(near --json q.mts <(mts cast f32 a8.mts) <(mts cast f32 b8.mts))
	run -1 --separate-stderr mts cat -o out a8.mts b8.mts
	[[ $stderr == *"the property 'text.emb.ranges' differs"* ]]
	mts cast i8 --ranges a8.mts b.mts | mts cat a8.mts - >/dev/null
	mts rows --rows 1-200 a8.mts | mts cat -c text.emb --rename text.emb=left.emb >left.mts
	mts paste left.mts <(mts cat -c text.emb b8.mts) >both.mts
	mts cast f32 both.mts | mts diff - <(mts paste <(mts cast f32 left.mts) <(mts cat -c text.emb b8.mts | mts cast f32))
	mts cat -c left.emb both.mts >left.mts
	mts head -n 0 --json left.mts | jq -e '.properties | keys == ["left.emb.ranges"]'
	mts split -n 2 -o part a8.mts
	mts cat part.0*.mts | mts cast f32 | mts diff - <(mts cast f32 a8.mts)
	# a program that replaces the column by floats removes the ranges
	geom whiten fit a8.mts >w.mts
	geom whiten apply w.mts a8.mts >white.mts
	mts head -n 0 --json white.mts | jq -e '.properties | has("text.emb.ranges") | not'
	geom whiten apply w.mts <(mts cast f32 a8.mts) | mts diff - white.mts
}

@test "cast: mteb-score, group and classify take codes; moee-sim refuses them" {
	for i in $(seq 40); do echo "{\"label\":\"l$((i % 2))\",\"x.emb\":[$((i % 2 * 9 - 4)),$((i % 7 - 3)),$((i % 5 - 2))],\"text\":\"t\"}"; done | mkstream >x.mts
	mts cast -q i8 x.mts >i8.mts
	mts cast f32 i8.mts >f32.mts
	group -k 2 i8.mts | mts cat -c group | mts diff - <(group -k 2 f32.mts | mts cat -c group)
	classify --train i8.mts i8.mts >/dev/null
	mteb-score clustering i8.mts | cmp - <(mteb-score clustering f32.mts)
	mts cat --rename x.emb=x.hs i8.mts >hs.mts
	dies "moee-sim: hs.mts: column 'x.hs' holds codes of 8 bits; 'mts cast f32' makes floats of them" moee-sim hs.mts
}

@test "cast: MaxSim of token vectors stored as codes equals MaxSim of the decoded floats" {
	L=$GOLDEN/late/colbert
	for role in query document; do
		printf 'a small red house\nthe boat\n' | tok -q -m "$L" --task $role | encode -q -m "$L" >$role.mts
	done
	printf '{"_id":"%s"}\n' 1 2 | mts from jsonl >ids.mts
	printf '%s Q0 %s 1 0 x\n' 1 2 2 1 2 2 >first.run
	for kind in f16 i8 bit; do
		mts cast -q $kind document.mts >d.mts
		mts head d.mts | found 'text.tokens'
		near -q --json query.mts d.mts | cmp - <(near -q --json query.mts <(mts cast f32 d.mts))
		printf 'a small red house\nthe boat\n' | tok -q -m "$L" --task document | encode -q -m "$L" --dtype $kind | mts diff - d.mts
		# queries as codes; --candidates; the mean of the similarities
		mts cast -q $kind query.mts >q.mts
		near -q --json q.mts d.mts | cmp - <(near -q --json <(mts cast f32 q.mts) <(mts cast f32 d.mts))
		mts paste ids.mts query.mts >named.mts
		near -q --run - --candidates first.run named.mts <(mts paste ids.mts d.mts) |
			cmp - <(near -q --run - --candidates first.run named.mts <(mts cast f32 d.mts | mts paste ids.mts -))
		near -q --json --similarity meanmaxsim q.mts d.mts |
			cmp - <(near -q --json --similarity meanmaxsim <(mts cast f32 q.mts) <(mts cast f32 d.mts))
		dies "mts: d.mts: there is no column '*.emb' of vectors, only: text.tokens" mts index -o $kind.index d.mts
	done
	# codes of different ranges cannot be concatenated, but are one corpus for near
	mts cast -q i8 document.mts >d.mts
	mts cast i8 --ranges query.mts document.mts >other.mts
	run -1 --separate-stderr mts cat -o out d.mts other.mts
	[[ $stderr == *"the property 'text.tokens.ranges' differs"* ]]
	near -q --json query.mts d.mts other.mts | cmp - <(near -q --json query.mts <(mts cast f32 d.mts) <(mts cast f32 other.mts))
}

# 3. usage

@test "cast: options that do not apply are refused" {
	golden
	run -2 --separate-stderr mts cast f16 --ranges x.mts x.mts
	[[ $stderr == "mts: cast: --ranges does not apply to f16"* ]]
	run -2 --separate-stderr mts cast i4 x.mts
	run -2 --separate-stderr mts cast
	run -2 --separate-stderr mts stat --ranges x.mts x.mts
	dies "mts: x.mts: there is no column 'y.emb'" mts cast bit -c y.emb x.mts
	dies "mts: x.mts: column 'every' has no vectors of floats, nor codes of them" mts cast bit -c every x.mts
	mts cat -c every x.mts >e.mts
	dies "mts: e.mts: there is no column 'emb', '*.emb' or '*.tokens'" mts cast bit e.mts 
	mts cast bit -o out.mts -c x.emb x.mts
}

# 4. damaged and wrong input

@test "cast: ranges that are missing, malformed or of another width are refused, also those of bits" {
	golden
	random 20 5 1 >five.mts
	dies "mts: five.mts: column 'text.emb' has vectors of width 5; those to cast have 11" mts cast i8 --ranges five.mts x.mts
	mts cast bit x.mts >bits.mts
	dies "mts: bits.mts: column 'x.emb' has no ranges, only bits" mts cast i8 --ranges bits.mts x.mts
	mts cat -c every x.mts >e.mts
	dies "mts: e.mts: there is no column '*.emb'" mts cast i8 --ranges e.mts x.mts
	mts rows --rows 21 five.mts >none.mts
	dies "mts: none.mts: column 'text.emb' has no vector to take ranges from" mts cast i8 --ranges none.mts five.mts
	mts cast -q i8 x.mts >i8.mts
	# too few numbers, too many, none, NaN, a minimum above the maximum, numbers beyond f32
	for ranges in '0 0 1' '0 0 1 1 1' '' '0 0 1 NaN' '2 0 1 1' '0 0 1 1e39' '-3e38 0 3e38 1' '0 0  1 1'; do
		empty '"dtype":"i8","shape":[2]' "\"x.emb.ranges\":\"$ranges\"" >bad.mts
		dies "near: bad.mts: the property 'x.emb.ranges' does not fit the column's 2 bytes a vector" near -q bad.mts bad.mts
	done
	dies "mts: bad.mts: the property 'x.emb.ranges' does not fit the column's 2 bytes a vector" mts cast f32 bad.mts
	for bits in 0 17 8 -3 x 99999999999; do
		empty '"dtype":"u8","shape":[2]' "\"x.emb.bits\":\"$bits\"" >bad.mts
		dies "mts: bad.mts: the property 'x.emb.bits' does not fit the column's 2 bytes a vector" mts cast f32 bad.mts
	done
	# without the property the codes are plain integers
	mts to npy i8.mts | mts from npy -c x.emb >numbers.mts
	near -q --json numbers.mts numbers.mts | cmp - <(mts to jsonl -c x.emb i8.mts | mkstream | near -q --json - numbers.mts)
	dies "mts: numbers.mts: there is no column 'emb', '*.emb' or '*.tokens'" mts cast f32 numbers.mts
}

@test "cast: NaN and numbers beyond f16 are refused; a truncated stream leaves no file" {
	printf '{"x.emb":[%s]}\n' 1,2 null,1 | mkstream 1 >nan.mts
	dies "mts: nan.mts: record 2: column 'x.emb': vector 1 has the number nan, which codes cannot hold" mts cast i8 -o out nan.mts
	dies "mts: nan.mts: record 2: column 'x.emb': vector 1 has the number nan, which codes cannot hold" mts cast bit -o out nan.mts
	dies "mts: nan.mts: record 2: " mts cast i8 --ranges nan.mts -o out nan.mts
	mts cast f16 nan.mts | mts diff - nan.mts
	printf '{"x.emb":[%s]}\n' 1,2 1,-65505 | mkstream >large.mts
	dies "mts: large.mts: record 1: column 'x.emb': vector 2 has the number -65505, which f16 cannot hold" mts cast f16 -o out large.mts
	random 3000 8 1 >c.mts
	for share in 1 2 3; do
		head -c "$(($(stat -c %s c.mts) * share / 4))" c.mts >cut.mts
		for kind in f16 i8 bit; do
			dies "mts: cut.mts: " mts cast $kind -o out cut.mts
		done
	done
	# a stream without rows
	mts rows --rows 9999- c.mts 2>/dev/null | mts cast i8 | mts cast f32 | mts stat --json | jq -e '.rows == 0'
}

@test "cast: --dim keeps the first numbers of each vector, of floats and of codes, in each kind" {
	seeded_awk 'BEGIN { srand(3); for (i = 0; i < 300; i++) { printf "{\"_id\":\"d%d\",\"x.emb\":[", i; for (j = 0; j < 24; j++) printf "%.5f%s", rand() - 0.5, j < 23 ? "," : "]}\n" } }' >rows.jsonl
	mkstream <rows.jsonl >x.mts
	jq -c '."x.emb" |= .[:10]' rows.jsonl | mkstream >short.mts
	mts cast f32 --dim 10 x.mts | mts diff short.mts -
	for kind in f16 i8 bit; do
		mts cast $kind short.mts >want.mts
		mts cast $kind --dim 10 x.mts >got.mts
		mts diff want.mts got.mts
		diff <(mts stat want.mts | grep -v history) <(mts stat got.mts | grep -v history)
		mts cast $kind --dim 10 got.mts | mts diff want.mts -
	done
	mts cast i8 x.mts >codes.mts
	mts cast f32 codes.mts | mts cast f32 --dim 7 | mts diff <(mts cast f32 --dim 7 codes.mts) -
	mts cast f32 --dim 24 x.mts | mts diff x.mts -
	near --json -k 5 short.mts short.mts | cmp - <(near --json -k 5 <(mts cast f32 --dim 10 x.mts) <(mts cast f32 --dim 10 x.mts))
	run -1 --separate-stderr mts cast f32 --dim 25 x.mts
	[ "$stderr" = "mts: x.mts: column 'x.emb' has vectors of 24 numbers, fewer than --dim 25" ]
	run -2 mts cat --dim 3 x.mts
	# as encode --dim
	printf 'a sea\nthe ship\n' | tok -q -m "$GOLDEN/bert" | tee ids.mts | encode -q -m "$GOLDEN/bert" --dim 5 >want.mts
	encode -q -m "$GOLDEN/bert" ids.mts | mts cast f32 --dim 5 | mts diff want.mts -
}
