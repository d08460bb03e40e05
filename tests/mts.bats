#!/usr/bin/env bats
load helper

setup() {
	cd "$T" || return
	cat >points.jsonl <<-'END'
		{"id": 1, "name": "origin", "at": [0, 0], "tags": ["a", "bc"], "good": true}
		{"id": 2, "name": "corner", "at": [1, 0.5], "tags": [], "good": false}
		{"id": 3, "name": "", "at": [], "tags": ["d"], "good": true}
	END
	mts from jsonl points.jsonl >points.mts
}
# vectors COUNT ROWS [SHIFT]: COUNT rows of a column x, 0.5 apart, in records of ROWS
vectors() {
	awk -v n="$1" -v shift="${3:-0}" 'BEGIN { print "x"; for (i = 0; i < n; i++) print i / 2 + shift }' |
		mts from tsv --numbers x --record-rows "$2"
}

# 1. the known answer

@test "mts from jsonl: strings, integers, reals, booleans and lists become columns of their types" {
	run -0 mts head -n 2 points.mts
	diff - <(sed -n 's/^\t//; /^column/p; /^record/,$p' <<<"$output") <<-'END'
		column	id (i64)
		column	name (text, depth 1)
		column	at (f64, depth 1)
		column	tags (text, depth 2)
		column	good (bool)
		record 1	3 rows	{}
		row 1
			id	1
			name	"origin"
			at	[0 0]
			tags	2 lists: "a", "bc"
			good	true
		row 2
			id	2
			name	"corner"
			at	[1 0.5]
			tags	0 lists
			good	false
	END
}

@test "mts to jsonl: writes the rows that from jsonl read" {
	mts to jsonl points.mts | diff - <(sed 's/: /:/g; s/, /,/g; s/0\.50/0.5/' points.jsonl)
}

@test "mts from jsonl: null, absent, mixed and nested values; later surprises are errors with their line" {
	cat >x.jsonl <<-'END'
		{"a": 1, "b": 1, "c": null, "d": {"e": [1, {}]}, "f": "x", "g": [1, null], "h": true, "n": ["a", null], "o": [null], "p": [true, null]}
		{"a": null, "b": 2.5, "d": null, "f": 3, "h": null, "i": [], "j": [true, false], "k": 4, "l": false, "m": [1, "x"], "q": [null, 9007199254740993]}
	END
	run -0 bash -c "mts from jsonl x.jsonl | mts to jsonl"
	[ "${lines[0]}" = '{"a":1,"b":1,"c":"","d":"{\"e\":[1,{}]}","f":"x","g":[1,null],"h":"true","n":"[\"a\",null]","o":"[null]","p":"[true,null]","i":[],"j":[],"k":null,"l":"","m":"","q":""}' ]
	[ "${lines[1]}" = '{"a":null,"b":2.5,"c":"","d":"","f":"3","g":[],"h":"","n":"","o":"","p":"","i":[],"j":[true,false],"k":4,"l":"false","m":"[1,\"x\"]","q":"[null,9007199254740993]"}' ]
	late() { # FIRST LATER MESSAGE
		echo "$1" >first
		{ printf 'first\n%.0s' {1..1024} | xargs cat; echo "$2"; } >late.jsonl
		run -1 --separate-stderr bash -c 'mts from jsonl late.jsonl >late.mts'
		echo "$stderr"
		[[ $stderr == "mts: late.jsonl:1025: field 'a"*"$3"* ]]
	}
	late '{"a": 1}' '{"a": 1.5}' 'a real where whole numbers were before'
	late '{"a": 1}' '{}' 'null or absent where whole numbers were before'
	late '{"a": 1}' '{"a": "1"}' 'not a number'
	late '{"a": "x"}' '{"a": 1}' 'not a string'
	late '{"a": true}' '{"a": 1}' 'not true or false'
	late '{"a": ["x"]}' '{"a": [1]}' 'an element is not a string'
	late '{"a": [1.5]}' '{"a": ["x"]}' 'an element is not a number'
	late '{"a": [1]}' '{"a": 1}' 'not a list'
	late '{"a": [1]}' '{"a": [null]}' 'null or absent where whole numbers were before'
	late '{"a": [true]}' '{"a": [null]}' 'not true or false'
	late '{"a": ["x"]}' '{"a": [null]}' 'an element is not a string'
	late '{"a": 1}' '{"a": 1, "ab": 1}' 'appears here for the first time'
}

@test "mts from jsonl: wide rows make smaller records" {
	head -c $((17 << 20)) /dev/zero | tr '\0' a >wide
	for row in 1 2 3 4 5; do
		printf '{"a":"'
		cat wide
		printf '"}\n'
	done >wide.jsonl
	# 64 MiB are four rows
	mts from jsonl --level 0 wide.jsonl | mts stat >stat
	grep -q '^records	2$' stat
	grep -q '^rows	5$' stat
}

@test "mts from jsonl --numbers: strings become numbers, other kinds of values are refused" {
	printf '%s\n' '{"id":"1","n":"07"}' '{"id":"2","n":""}' '{"id":"3","n":2.5}' '{"id":"4"}' >x.jsonl
	mts from jsonl --numbers n x.jsonl | mts to jsonl | diff - <(printf '{"id":"%d","n":%s}\n' 1 7 2 null 3 2.5 4 null)
	for value in true '["1"]' '{"a":1}'; do
		printf '{"n":"1"}\n{"n":%s}\n' "$value" >y.jsonl
		run -1 --separate-stderr bash -c 'mts from jsonl --numbers n y.jsonl >y.mts'
		[ "$stderr" = "mts: y.jsonl:2: field 'n' is no number, nor the text of one" ]
	done
}

@test "mts from jsonl --vectors: lists become vectors; what to jsonl wrote is read to the bit; other lists are refused" {
	printf '{"id":"%s","emb":[%s],"n":[1]}\n' a '1,0.1,3e-7' b '0,-2,3' >x.jsonl
	mts from jsonl --vectors emb,n --record-rows 1 x.jsonl >x.mts
	[ "$(mts head x.mts | grep -c '^column.*(f32 \[[13]\])')" -eq 2 ]
	mts to jsonl x.mts >y.jsonl
	mts from jsonl --vectors emb --vectors n y.jsonl | mts diff - x.mts
	mts cat --rename emb=text.emb x.mts >named.mts
	near --self --threshold -1 named.mts >pairs
	[ "$(wc -l <pairs)" -eq 2 ]
	refused() { # MESSAGE LINE...
		printf '%s\n' "${@:2}" >y.jsonl
		dies "mts: y.jsonl$1" mts from jsonl --vectors emb y.jsonl -o out
	}
	refused ":2: 'emb' is a list of 1, the first row's one of 2: vectors of a column are equally long, and not empty" '{"emb":[1,2]}' '{"emb":[1]}'
	refused ":2: 'emb' is a list of 0, the first row's one of 2: vectors of a column are equally long, and not empty" '{"emb":[1,2]}' '{}'
	refused ":1: 'emb' is a list of 0, the first row's one of 0: vectors of a column are equally long, and not empty" '{"emb":[]}' '{"emb":[1]}'
	refused ": --vectors: 'emb' does not have a list of numbers in each row" '{"emb":"x"}'
	refused ": --vectors: 'emb' does not have a list of numbers in each row" '{"emb":[[1],[2]]}'
	refused ": --vectors: 'emb' does not have a list of numbers in each row" '{"emb":[true]}'
	refused ": there is no field 'emb' for --vectors" '{"e":[1]}'
}

@test "mts from tsv: all columns are text; --numbers converts the named ones" {
	printf 'id\tscore\tcode\tpart\n1.50\t0.5\t007\t1\n2\t-1e-3\t008\t\n' >x.tsv
	run -0 bash -c "mts from tsv x.tsv | mts to jsonl"
	[ "${lines[1]}" = '{"id":"2","score":"-1e-3","code":"008","part":""}' ]
	run -0 bash -c "mts from tsv --numbers score,part --numbers code x.tsv | mts to jsonl"
	[ "${lines[0]}" = '{"id":"1.50","score":0.5,"code":7,"part":1}' ]
	[ "${lines[1]}" = '{"id":"2","score":-0.001,"code":8,"part":null}' ]
	mts from tsv --numbers code x.tsv | mts head | grep '^column	code (i64)'
	tr '\t' , <x.tsv | mts from csv --numbers score,part,code | mts diff - <(mts from tsv --numbers score,part,code x.tsv)
	for word in 0x10 nan inf ' 1' 1e999 1_0 -; do
		printf 'a\n1\n%s\n' "$word" >y.tsv
		run -1 --separate-stderr bash -c 'mts from tsv --numbers a y.tsv >y.mts'
		[ "$stderr" = "mts: y.tsv:3: field 'a': '$word' is not a number" ]
	done
	run -1 --separate-stderr bash -c 'mts from tsv --numbers b x.tsv >y.mts'
	[ "$stderr" = "mts: x.tsv: there is no field 'b'" ]
}

@test "mts to tsv: tabs and line ends become spaces, NaN an empty cell" {
	printf '{"t": "a\\tb\\nc", "n": 1.5, "l": [1, 2]}\n{"t": "\\u00e9", "n": null, "l": []}\n' >x.jsonl
	run -0 bash -c "mts from jsonl x.jsonl | mts to tsv"
	[ "$output" = $'t\tn\tl\na b c\t1.5\t[1,2]\né\t\t[]' ]
}

@test "mts stat: figures computed by hand" {
	printf '{"x": 1.5, "t": "ab", "l": [1, 2]}\n{"x": -2.5, "t": "", "l": []}\n{"x": null, "t": "abcd", "l": [6]}\n' |
		mts from jsonl --record-rows 2 >x.mts
	run -0 mts stat x.mts
	diff - <(sed -n '/^records/,$p' <<<"$output") <<-'END'
		records	2
		rows	3
		size	134 B

		numbers  size  values  nan  inf   min  max  mean  norm
		x        24 B       3    1    0  -2.5  1.5  -0.5     -
		l        64 B       3    -    -     1    6     3     -

		lists  size  values  empty  shortest  mean  longest
		t      46 B       3      1       0 B   2 B      4 B
		l      64 B       3      1         0     1        2
	END
	# the longest list first; vectors of lengths 5 and 10
	printf '{"l": [1, 2, 3], "x.emb": [3, 4]}\n{"l": [4], "x.emb": [-6, 8]}\n{"l": [5, 6], "x.emb": [0, 0]}\n' |
		mkstream >y.mts
	mts stat y.mts | grep -c '^l  *80 B  *3  *0  *1  *2  *3$'
	mts stat y.mts | grep -c '^x.emb .* -6  *8  *1.5  *5$'
	stream_make 2 5 3 v.mts
	mts to npy -c emb v.mts >v.npy
	mts from npy v.npy | mts stat | grep -c '^emb *120 B *30 '
}

@test "mts stat: records and rows of each attribute, the most frequent first; sizes with units" {
	stream_make 3 10 4 a.mts
	mts to safetensors -o bare.safetensors a.mts
	mts from safetensors --record-rows 30 bare.safetensors | mts cat --rename emb=Ünit -c emb >bare.mts
	run -0 bash -c "mts rows --where step!=1 a.mts | mts stat"
	diff - <(sed -n '/^attribute/,$p' <<<"$output") <<-'END'
		attribute  value  records  rows
		task       "sts"        2    20
		step       0            1    10
		step       2            1    10
	END
	step() { mts rows --where step=$1 a.mts; }
	cat <(step 0) <(step 2) <(step 2) | mts stat >stat
	diff - <(grep '^step' stat) <<-'END'
		step       2            2    20
		step       0            1    10
	END
	run -0 mts stat bare.mts
	[[ $output != *attribute* ]]
	[[ $output == *$'\nÜnit     480 B     120    0 '* ]]
	stream_make 12 1000 200 many.mts
	run -0 mts stat many.mts
	[[ $output == *$'\nstep       9               1   1000\nstep       2 others        2   2000' ]]
	[[ $output == *$'\nsize\t9.9 MiB\n'* ]]
	[[ $output == *$'\nemb      9.2 MiB  2400000 '* ]]
	# records without attributes; the same as JSON
	seq 30 | tok -q -m "$GOLDEN/token/plain" >ids.mts
	mts paste -q <(mts cat -c id a.mts) ids.mts >with.mts
	mts to safetensors -o with.safetensors with.mts
	mts from safetensors with.safetensors | cat - with.mts >both.mts
	run -0 mts stat both.mts
	[[ $output == *$'\ntask       "sts"        3    30\ntask       -            1    30\n'* ]]
	run -0 bash -c "mts stat --json both.mts | jq -c .attributes.task"
	[ "$output" = '[{"value":"sts","records":3,"rows":30},{"value":null,"records":1,"rows":30}]' ]
}

@test "mts head, stat --json: everything as lines of JSON" {
	printf '{"x": 1.5, "t": "a\\u001bb", "l": [1, 2]}\n{"x": null, "t": "", "l": []}\n{"x": 0.1, "t": "c", "l": [6]}\n' |
		mts from jsonl --record-rows 2 >x.mts
	mts head --json -n 3 x.mts >head.json
	[ "$(sed -n 2,4p head.json)" = '{"row":1,"record":1,"attributes":{},"values":{"x":1.5,"t":"a\u001bb","l":[1,2]}}
{"row":2,"record":1,"attributes":{},"values":{"x":null,"t":"","l":[]}}
{"row":3,"record":2,"attributes":{},"values":{"x":0.1,"t":"c","l":[6]}}' ]
	[ "$(jq -c .values head.json | tail -n +2)" = "$(mts to jsonl x.mts | jq -c .)" ]
	[ "$(sed -n 1p head.json | jq -c '[.columns, .properties, .history[0].command]')" = \
		'[[{"name":"x","dtype":"f64"},{"name":"t","dtype":"u8","text":true,"depth":1},{"name":"l","dtype":"i64","depth":1}],{},"mts from jsonl --record-rows 2"]' ]
	[ "$(mts head --json -n 0 x.mts | wc -l)" -eq 1 ]
	run -0 bash -c "mts stat --json x.mts | jq -c '[.records, .rows, .columns[]]'"
	[ "$output" = '[2,3,{"name":"x","dtype":"f64","bytes":24,"values":3,"nan":1,"inf":0,"min":0.1,"max":1.5,"mean":0.8,"norm":null,"lists":null,"empty":null,"shortest":null,"length":null,"longest":null},{"name":"t","dtype":"u8","text":true,"depth":1,"bytes":44,"values":3,"nan":null,"inf":null,"min":null,"max":null,"mean":null,"norm":null,"lists":3,"empty":1,"shortest":0,"length":1.3333333333333333,"longest":3},{"name":"l","dtype":"i64","depth":1,"bytes":64,"values":3,"nan":null,"inf":null,"min":1,"max":6,"mean":3,"norm":null,"lists":3,"empty":1,"shortest":0,"length":1,"longest":2}]' ]
	stream_make 0 0 4 none.mts
	[ "$(mts stat --json none.mts | jq -c '[.rows, .columns[6].min, .attributes, .properties]')" = '[0,null,{},{"tokenizer":"0123456789abcdef"}]' ]
	run -1 --separate-stderr bash -c "mts stat --json x.mts >/dev/full"
	[[ $stderr == 'mts: <stdout>: '* ]]
}

@test "mts head: row numbers count over the whole stream, as in mts rows" {
	vectors 7 3 >x.mts
	run -0 bash -c "mts head -n 7 x.mts | grep -A1 '^row' | grep -v '^--' | xargs"
	[ "$output" = 'row 1 x 0 row 2 x 0.5 row 3 x 1 row 4 x 1.5 row 5 x 2 row 6 x 2.5 row 7 x 3' ]
}

@test "mts head: a long text is cut at a whole character, a long list of lists ends with dots" {
	x=$(printf 'x%.0s' {1..119})
	printf '{"a":"%s"}\n' "${x}é tail" "${x:1}é tail" "${x}x" "${x}xé" | mts from jsonl | mts head | grep -a $'^\ta' |
		diff - <(printf '\ta\t%s\n' "\"$x\"... 126 bytes" "\"${x:1}é\"... 125 bytes" "\"${x}x\"" "\"${x}x\"... 122 bytes")
	printf '{"a":%s}\n' '["b","c","d","e"]' '["b","c","d","e","f"]' | mts from jsonl | mts head | grep $'^\ta' |
		diff - <(printf '\ta\t%s\n' '4 lists: "b", "c", "d", "e"' '5 lists: "b", "c", "d", "e", ...')
}

@test "mts to npy, from npy: write and read NumPy's format" {
	printf '{"a": 1, "b": 0.5}\n{"a": 2, "b": 1.5}\n{"a": 3, "b": 2.5}\n' | mts from jsonl --record-rows 2 >x.mts
	mts to npy -c b x.mts >b.npy
	[ "$(head -c 8 b.npy | od -An -tx1 | tr -d ' ')" = 934e554d50590100 ]
	[ $((($(stat -c %s b.npy) - 24) % 64)) -eq 0 ]
	[ "$(head -c 128 b.npy | tail -c +11 | sed 's/ *$//')" = "{'descr': '<f8', 'fortran_order': False, 'shape': (3,), }" ]
	[ "$(tail -c 24 b.npy | od -An -tf8 | xargs)" = '0.5 1.5 2.5' ]
	mts from npy -c b b.npy >b.mts
	mts cat -c b x.mts | mts diff - b.mts
	# version 2, rank 3, padding as other programs write it
	local header="{'descr':'<i4','shape':(1,2,2),'fortran_order':False}        "
	printf "\x93NUMPY\x02\0\x$(printf %02x $((${#header} + 1)))\0\0\0%s\n" "$header" >c.npy
	printf '\1\0\0\0\2\0\0\0\3\0\0\0\4\0\0\0' >>c.npy
	run -0 bash -c "mts from npy -c c c.npy | mts to jsonl"
	[ "$output" = '{"c":[[1,2],[3,4]]}' ]
	echo '{"x.emb": [1.5, -2]}' | mkstream 1 bf16 | mts to npy >h.npy
	head -c 128 h.npy | grep -ac "'descr': '<f4'.*'shape': (1, 2)"
	[ "$(tail -c 8 h.npy | od -An -tf4 | xargs)" = '1.5 -2' ]
}

@test "mts from npy: unsupported arrays are refused" {
	npy() { # DICTIONARY
		printf "\x93NUMPY\x01\0\\x$(printf %02x ${#1})\0%s" "$1"
	}
	bad() { # MESSAGE ; the file from standard input
		cat >x.npy
		run -1 --separate-stderr bash -c 'mts from npy x.npy >x.mts'
		echo "$stderr"
		[[ $stderr == "mts: x.npy: "*"$1"* ]]
	}
	npy "{'descr': '>f3', 'fortran_order': False, 'shape': (1,), }" | bad "dtype '>f3' is not read"
	npy "{'descr': '>f4', 'fortran_order': False, 'shape': (2,), }" | bad '2 of 2 rows are missing'
	npy "{'descr': '<f4', 'fortran_order': True, 'shape': (1, 2), }" | bad '8 of 8 bytes are missing'
	npy "{'descr': '<f4', 'fortran_order': True, 'shape': (4611686018427387903, 4611686018427387903), }" | bad 'too large'
	npy "{'descr': '<f4', 'fortran_order': Maybe, 'shape': (1, 1), }" | bad 'order of axes'
	npy "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,), }" | bad 'structured'
	npy "{'descr': '<f4', 'fortran_order': False, 'shape': (), }" | bad '0 dimensions'
	npy "{'descr': '<f4', 'fortran_order': False, 'shape': (-1,), }" | bad 'shape'
	npy "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }" | bad '2 of 2 rows are missing'
	npy "{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999,), }" | bad 'rows are missing'
	{ npy "{'descr': '<f4', 'fortran_order': False, 'shape': (0,), }"; echo; } | bad 'bytes follow'
	npy "{'descr': '<f4', 'fortran_order': False" | bad 'no '
	printf '\x93NUMPY\x09\0\0\0' | bad 'version 9'
	printf '\x93NUMPY\x01\0\xff\0' | bad 'cut short'
	npy "{'descr': '<f4', 'fortran_order': False, 'shape': ($(printf '1, %.0s' {1..40})), }" | bad 'more than '
	{ printf '\x93NUMPY\x02\0\xff\xff\xff\xff'; head -c 100 /dev/zero; } | bad 'a .npy header of 4294967295 bytes is refused'
	echo hello | bad 'not a .npy file'
}

@test "mts to safetensors, from safetensors: every kind of column returns" {
	stream_make 3 10 4 a.mts
	mts to safetensors -o a.safetensors a.mts
	safetensors_list a.safetensors | cut -f 1-3 | sed -n 1,8p | diff - <(
		printf '%s\n' $'id\ti64\t30' $'good\tbool\t30' $'text\tu8\t78' $'text.offsets\ti64\t31' \
			$'ids\ti32\t39' $'ids.offsets\ti64\t31' $'others\tu8\t78' $'others.offsets\ti64\t31'
	)
	mts from safetensors --record-rows 7 a.safetensors >b.mts
	mts diff a.mts b.mts
	run -0 mts head b.mts
	[[ $output == *'column	others (text, depth 2)'* ]]
	mts from safetensors --record-rows 10 a.safetensors | mts stat | found '^records	3$'
	mts from safetensors -c emb,id a.safetensors | mts diff - <(mts cat -c emb,id a.mts)
	stream_make 0 0 4 none.mts
	mts to safetensors none.mts >none.safetensors
	mts from safetensors none.safetensors | mts diff none.mts -
	mts cat -c id,text a.mts | mts to safetensors -o b.safetensors
	sed 's/text.offsets/text_offsets/' b.safetensors >c.safetensors
	run -1 --separate-stderr mts from safetensors -o c.mts c.safetensors
	[ "$stderr" = "mts: c.safetensors: tensors 'id' and 'text' have 30 and 78 rows; choose with -c" ]
	# the first offset becomes 255
	at=$(($(od -An -tu8 -N8 b.safetensors) + 8 + $(head -c 400 b.safetensors | grep -ao '"text.offsets":[^}]*\[[0-9]*,' | grep -o '[0-9]*,$' | tr -d ,)))
	printf '\xff' | dd of=b.safetensors bs=1 seek=$at conv=notrunc status=none
	run -1 --separate-stderr mts from safetensors -o c.mts b.safetensors
	[[ $stderr == "mts: b.safetensors: tensor 'text': "* ]]
}

@test "mts diff: 0 within the tolerance, else 1 with row, index, both values and the largest error" {
	printf '{"x": [1, 2], "t": "a"}\n{"x": [3, 4], "t": "b"}\n' | mts from jsonl >a.mts
	printf '{"x": [1, 2.5], "t": "a"}\n{"x": [3, 4.125], "t": "b"}\n' | mts from jsonl --record-rows 1 >b.mts
	run -1 mts diff a.mts b.mts
	[ "$output" = 'column x: row 1, index 1: 2 and 2.5; 2 of 4 numbers differ, the largest error is 0.5 at row 1, index 1' ]
	run -1 mts diff --atol 0.25 a.mts b.mts
	[[ $output == *'; 1 of 4 numbers differ'* ]]
	mts diff --atol 0.5 a.mts b.mts
	mts diff --rtol 0.2 a.mts b.mts
	run -1 mts diff --rtol 0.19 a.mts b.mts
	printf '{"x": [1, 2], "t": "a"}\n{"x": [3], "t": "c\\u001b"}\n{"x": [], "t": ""}\n' | mts from jsonl >c.mts
	run -1 mts diff a.mts c.mts
	diff - <(echo "$output") <<-'END'
		rows: only 2 in a.mts
		column x: row 2: the lists are not of the same length; 1 rows have lists of other lengths; 0 of 2 numbers differ
		column t: row 2: "b" and "c\u001b"; 1 of 2 texts differ
	END
	mts cat --rename x=y a.mts >d.mts
	run -1 mts diff a.mts d.mts
	[ "$output" = $'column x: only in a.mts\ncolumn x: only in d.mts' ] ||
		[ "$output" = $'column x: only in a.mts\ncolumn y: only in d.mts' ]
}

@test "mts diff: NaN equals only NaN, infinity itself; i64 is compared exactly" {
	printf '{"x": null}\n{"x": 1.5}\n' | mts from jsonl >a.mts
	mts diff a.mts a.mts
	printf '{"x": 0.5}\n{"x": 1.5}\n' | mts from jsonl >b.mts
	run -1 mts diff --atol 1e9 a.mts b.mts
	[[ $output == 'column x: row 1, index 0: NaN and 0.5;'* ]]
	echo '{"x": 9007199254740993}' | mts from jsonl >c.mts
	echo '{"x": 9007199254740992}' | mts from jsonl >d.mts
	run -1 mts diff c.mts d.mts
	[[ $output == *'9007199254740993 and 9007199254740992;'*'the largest error is 1 '* ]]
	mts diff --rtol 1e-15 c.mts d.mts
	echo '{"x": 0}' | mts from jsonl | cat - d.mts >e.mts
	echo '{"x": 1}' | mts from jsonl | cat - d.mts >f.mts
	run -1 mts diff --rtol 1e-15 e.mts f.mts
}

@test "mts diff: a list of lists differs if an inner list is longer" {
	printf '{"text": ["a b", "c"]}\n{"text": ["a", "b c"]}\n' | tok -m "$GOLDEN/token/plain" >a.mts
	printf '{"text": ["a b", "c"]}\n{"text": ["a b", "c"]}\n' | tok -m "$GOLDEN/token/plain" >b.mts
	mts diff a.mts a.mts
	run -1 mts diff a.mts b.mts
	[[ $output == *'column text.ids: row 2: the lists are not of the same length'* ]]
	# also if the records are divided differently
	for rows in '1,2' '1' '2'; do
		printf '{"text": ["a b", "c"]}\n{"text": ["a", "b c d"]}\n' | sed -n "${rows}p" |
			tok -m "$GOLDEN/token/plain" >"rows$rows.mts"
	done
	cat rows1.mts rows2.mts >apart.mts
	mts diff rows1,2.mts apart.mts
	mts diff apart.mts rows1,2.mts
}

@test "mts diff: columns of different types are not compared and count as a difference" {
	mts from jsonl <<<'{"a":"1","b":2}' >text.mts
	mts from jsonl <<<'{"a":1,"b":2}' >number.mts
	run -1 mts diff text.mts number.mts
	[ "$output" = "column a (text, depth 1): the other is a (i64)" ]
}

@test "mts paste: columns stand side by side, however records are divided" {
	vectors 10 4 >a.mts
	vectors 10 3 100 | mts cat --rename x=y >b.mts
	vectors 10 10 200 | mts cat --rename x=z >c.mts
	mts paste a.mts b.mts c.mts >d.mts
	for part in a:x b:y c:z; do
		mts cat -c ${part#*:} d.mts | mts diff - ${part%:*}.mts
	done
	vectors 9 4 | mts cat --rename x=y >e.mts
	run -1 --separate-stderr bash -c 'mts paste a.mts e.mts >f.mts'
	[ "$stderr" = 'mts: e.mts has only 9 rows, a.mts has more' ]
	run -1 --separate-stderr bash -c 'mts paste a.mts a.mts >f.mts'
	[[ $stderr == "mts: column 'x' is in both a.mts and a.mts; rename one by"* ]]
	vectors 3000 1000 >many.mts
	mts cat --rename x=y many.mts >other.mts
	[ "$(mts paste --level 0 many.mts other.mts | wc -c)" -gt "$(mts paste --level 9 many.mts other.mts | wc -c)" ]
	stream_make 2 5 3 m.mts
	mts paste -o pasted.mts m.mts a.mts
	mts head -n 1 pasted.mts | grep -c '{"task":"sts","step":0}'
}

@test "mts paste: a property that differs is dropped; one that agrees or is new stays" {
	tok -m "$GOLDEN/token/plain" <<<'the sea' >a.mts
	mts cat --rename text.ids=other a.mts >b.mts
	stream_make 1 1 4 | mts cat -c emb >c.mts
	mts from jsonl <<<'{"d": 1}' >d.mts
	properties() { mts head "$1" | grep '^property'; }
	[ "$(properties a.mts)" != "$(properties c.mts)" ]
	mts paste a.mts b.mts >ab.mts
	[ "$(properties ab.mts)" = "$(properties a.mts)" ]
	mts paste d.mts a.mts >da.mts
	[ "$(properties da.mts)" = "$(properties a.mts)" ]
	for order in 'a.mts c.mts' 'c.mts a.mts d.mts'; do
		run -0 --separate-stderr bash -c "mts paste $order >ac.mts"
		[ "$stderr" = "mts: warning: the property 'tokenizer' differs and is left out" ]
		[ -z "$(properties ac.mts)" ]
	done
	# differing properties after a stream without them
	for order in 'd.mts a.mts c.mts' 'd.mts c.mts a.mts' 'd.mts a.mts c.mts b.mts'; do
		run -0 --separate-stderr bash -c "mts paste $order >dac.mts"
		[ "$stderr" = "mts: warning: the property 'tokenizer' differs and is left out" ]
		[ -z "$(properties dac.mts)" ]
	done
}

@test "mts diff: exit 1 is a difference, 2 an error, like cmp" {
	sed 's/origin/Origin/' points.jsonl | mts from jsonl >other.mts
	run -0 mts diff points.mts points.mts
	run -1 mts diff points.mts other.mts
	run -2 mts diff points.mts none.mts
	[ "$output" = "mts: none.mts: No such file or directory" ]
	head -c 200 points.mts >cut.mts
	run -2 mts diff points.mts cut.mts
	run -2 mts diff points.mts points.jsonl
	run -1 mts stat none.mts
}

@test "mts to npy, to safetensors: temporary files are made in TMPDIR" {
	mkdir spool
	TMPDIR=$PWD/spool mts to npy -c id points.mts | cmp - <(mts to npy -c id points.mts)
	[ -z "$(ls -A spool)" ]
	for format in 'npy -c id' safetensors; do
		run -1 --separate-stderr bash -c "TMPDIR=$PWD/none mts to $format points.mts >x"
		[[ $stderr == "mts: $PWD/none: cannot make a temporary file there; choose another folder by TMPDIR: "* ]]
	done
}

@test "mts: control characters in a stream do not reach the terminal" {
	printf '{"t": "a\\u001b[2J\\u009b2Jb\\u00a0"}\n' | mts from jsonl >x.mts
	run -0 bash -c "mts head x.mts | LC_ALL=C grep -c \$'[\x1b]\|\xc2[\x80-\x9f]' || true"
	[ "$output" = 0 ]
	mts to jsonl x.mts | jq -r .t | cmp - <(printf 'a\33[2J\302\2332Jb\302\240\n')
}

# harmful FILE: its lines with control characters, C1's included, or bidirectional controls
harmful() {
	LC_ALL=C grep -a $'[\x01-\x08\x0b-\x1f\x7f]\|\xc2[\x80-\x9f]\|\xe2\x80[\xaa-\xae]\|\xe2\x81[\xa6-\xa9]' "$1"
}

@test "mts: names of columns, attributes and properties do not control the terminal" {
	bad='\u009b31m\u202e\u2066'
	printf '{"a%s": "t%s", "b%s": [1]}\n' "$bad" "$bad" "$bad" | mts from jsonl >x.mts
	printf '{"a%s": "u%s", "c%s": 1}\n' "$bad" "$bad" "$bad" | mts from jsonl >y.mts
	tok -m "$GOLDEN/token/plain" --task "$(printf 'x\302\23331m\342\200\256')" <<<'the sea' >task.mts 2>/dev/null ||
		stream_make 1 1 4 >task.mts
	for command in "head x.mts" "head --json x.mts" "diff x.mts y.mts" "stat x.mts" "stat --json x.mts" \
		"to jsonl x.mts" "head task.mts" "head --json task.mts"; do
		mts $command >out || [ "${command%% *}" = diff ]
		[ -s out ]
		run ! harmful out
	done
	# JSON has every character
	mts head --json x.mts | head -n 1 | jq -r '.columns[0].name' | cmp - <(printf 'a%b\n' "$bad")
	mts to jsonl x.mts | jq -r '.[]' | head -n 1 | cmp - <(printf 't%b\n' "$bad")
	mts to jsonl x.mts | mts from jsonl | mts diff - x.mts
}

@test "mts: texts are sanitised on a terminal and verbatim in files and pipes" {
	need_terminal
	printf '%s\n' '{"a": "x\u009b31m\u202e\u00e9\u6f22\u001b[2J"}' | mts from jsonl >x.mts
	mts to tsv x.mts >file
	harmful file
	script -qec "mts to tsv x.mts" /dev/null | tr -d '\r' >out
	diff out <(printf 'a\nx?31m?é漢?[2J\n')
	# characters across two writes
	printf '{"a": "%s"}\n' "$(printf 'x%.0s' {1..3}; printf '漢é%.0s' {1..40000})" | mts from jsonl >x.mts
	script -qec "mts to tsv x.mts" /dev/null | tr -d '\r' >out
	cmp out <(mts to tsv x.mts)
}

@test "mts paste: lists keep their content where records are divided" {
	stream_make 3 10 4 a.mts
	local there=() back=()
	for name in id good text ids others half emb; do
		there+=(--rename "$name=$name.2")
		back+=(--rename "$name.2=$name")
	done
	mts to safetensors -o a.st a.mts
	mts from safetensors --record-rows 7 a.st | mts cat "${there[@]}" >b.mts
	mts paste a.mts b.mts >c.mts
	mts cat -c id.2,good.2,text.2,ids.2,others.2,half.2,emb.2 c.mts >d.mts
	mts cat "${back[@]}" d.mts | mts diff a.mts -
}

# 2. each option

@test "mts: -n, -b, -c, --rename, --level and -o" {
	[ "$(mts head -n 0 points.mts | grep -c ^row)" -eq 0 ]
	[ "$(mts head -n 1 points.mts | grep -c ^row)" -eq 1 ]
	[ "$(mts head points.mts | grep -c ^row)" -eq 3 ]
	[ "$(vectors 10 3 | mts stat | grep '^records')" = 'records	4' ]
	run -0 bash -c 'mts cat -c good,id points.mts | mts to tsv'
	[ "${lines[0]}" = $'id\tgood' ]
	run -0 mts to tsv -c good -c id points.mts
	[ "${lines[0]}" = $'good\tid' ]
	run -0 bash -c 'mts cat --rename id=key --rename name=id points.mts | mts to tsv -c id,key'
	[ "${lines[1]}" = $'origin\t1' ]
	vectors 5000 5000 >x.mts
	for command in "cat x.mts" "rows --where x>=0 x.mts" "from jsonl x.jsonl"; do
		mts to jsonl x.mts >x.jsonl
		# shellcheck disable=SC2086 # words
		[ "$(mts $command --level 0 | wc -c)" -gt "$((2 * $(mts $command --level 19 | wc -c)))" ]
	done
	[ "$(mts from jsonl --max-line 10 <<<'{"a":"bc"}' | mts to jsonl)" = '{"a":"bc"}' ]
	run -1 --separate-stderr mts from jsonl --max-line 10 <<<'{"a":"bcd"}'
	[[ "$stderr" == *"the line is longer than 10 bytes"* ]]
	mts to npy -c id -o id.npy points.mts
	[ "$(mts to npy -c id points.mts | cmp - id.npy)" = '' ]
}

# 3. usage

@test "mts: options that do not apply to a command are refused by their names" {
	for option in "atol 1" "rtol 1" "columns id" "rename a=b" "record-rows 3" numbers "level 3" "rows 3"; do
		does_not_apply "--${option% *}" mts head --$option points.mts
		does_not_apply "--${option% *}" mts stat --$option points.mts
	done
	for option in "count 3" json "atol 1" "rtol 1" "record-rows 3" numbers; do
		does_not_apply "--${option% *}" mts cat --$option points.mts
		does_not_apply "--${option% *}" mts paste --$option points.mts points.mts
		does_not_apply "--${option% *}" mts to jsonl --$option points.mts
	done
	does_not_apply --columns mts paste -c id points.mts points.mts
	does_not_apply --level mts diff --level 3 points.mts points.mts
	does_not_apply --rename mts from jsonl --rename a=b points.jsonl
	does_not_apply --columns mts from jsonl -c a points.jsonl
	does_not_apply --columns mts from csv -c a points.jsonl
	does_not_apply --numbers mts from npy --numbers x.npy
	run -2 --separate-stderr mts from npy -c a,b x.npy
	[[ $stderr == *"an array is one column; --columns names 2"* ]]
}

@test "mts: a misspelt command gets the nearest one as suggestion" {
	while read -r wrong near; do
		run -2 --separate-stderr mts $wrong points.mts
		[[ $stderr == "mts: '$wrong' is not one of head, stat, rows, cat, split, paste, diff, to, from, cast, index; did you mean '$near'?"* ]]
	done <<-E
		haed head
		Stat stat
		ca cat
		pste paste
		difff diff
		form from
	E
	run -2 --separate-stderr mts embeddings points.mts
	[[ $stderr == "mts: 'embeddings' is not one of "*", index"$'\n'* ]]
	run -2 --separate-stderr mts to tvs points.mts
	[[ $stderr == *"did you mean 'tsv'?"* ]]
}

@test "mts: head, stat and diff write to -o" {
	for command in "head -n 2" "head --json" stat "stat --json" "diff -a 1"; do
		files=points.mts
		[[ $command != diff* ]] || files+=" points.mts"
		mts $command $files >printed
		mts $command -o written $files >nothing
		cmp printed written
		[ ! -s nothing ]
		echo before >written
		run ! mts $command -o written none.mts none.mts
		[ "$(cat written)" = before ]
	done
}

@test "mts from: Parquet, Feather and Arrow are refused with the command that converts them" {
	for kind in parquet Parquet feather arrow; do
		run -2 --separate-stderr mts from $kind "a b.parquet"
		[[ $stderr == "mts: from: mts does not read "*"; convert it: python3 -c 'import json, pyarrow."*'("FILE")'*"' > FILE.jsonl"$'\n'* ]]
	done
	[[ $stderr == *'does not read a stream of Arrow; '*'a.open_stream("FILE") for r'* ]]
	run -2 --separate-stderr mts from parquet /data/x-1.parquet
	[[ $stderr == *'a.dataset("/data/x-1.parquet").to_batches() for r'*"' > /data/x-1.parquet.jsonl"$'\n'* ]]
}

@test "mts: usage errors exit 2 with an empty standard output" {
	wrong() {
		run -2 --separate-stderr mts "$@"
		[ -z "$output" ]
		[ -n "$stderr" ]
	}
	wrong
	wrong look points.mts
	wrong head -n -1 points.mts
	wrong head -a 1 points.mts
	wrong stat points.mts points.mts
	wrong diff points.mts
	wrong diff - -
	wrong diff -a x points.mts points.mts
	wrong paste points.mts
	wrong to xls points.mts
	wrong to
	wrong from xls points.jsonl
	wrong from safetensors -
	wrong cat --rename id points.mts
	wrong cat --level 20 points.mts
	wrong to npy points.mts
	wrong to npy -c id,good points.mts
	wrong to safetensors -c id,id points.mts
	wrong cat --what
}

# 4. wrong data

@test "mts: wrong data exit 1 with one line that names the stream" {
	wrong() { # MESSAGE ARGUMENTS...
		local message=$1
		shift
		run -1 --separate-stderr mts "$@"
		echo "$stderr"
		[ "${#stderr_lines[@]}" -eq 1 ]
		[[ $stderr == "mts: "*"$message"* ]]
	}
	wrong "points.mts: there is no column 'x'" cat -c x points.mts
	wrong "points.mts: there is no column 'x'" to tsv -c x points.mts
	wrong "there is no column 'x'" cat --rename x=y points.mts
	wrong "there is a column 'good' already" cat --rename id=good points.mts
	wrong "column '': its name is not 1 to 255 bytes long" cat --rename id= -o x.mts points.mts
	wrong "column 'a?b': its name has a control character" cat --rename $'id=a\nb' -o x.mts points.mts
	wrong 'lists do not fit into a .npy file' to npy -c name points.mts
	head -c 300 points.mts >cut.mts
	wrong 'cut.mts: ' to jsonl cut.mts
	echo '{"a": ' >bad.jsonl
	wrong 'bad.jsonl:1: ' from jsonl -o x.mts bad.jsonl
	printf '{"a": 1}\n{"a": 1, "": 2}\n' >bad.jsonl
	wrong "bad.jsonl:2: field '': its name is not 1 to 255 bytes long" from jsonl -o x.mts bad.jsonl
	printf '"a\nb",c\n1,2\n' >bad.csv
	wrong "bad.csv:3: field 'a?b': its name has a control character" from csv -o x.mts bad.csv
	[ ! -e x.mts ]
}

@test "mts: invalid UTF-8 is repaired in texts and kept in streams" {
	printf 't\n\xff\n' | mts from tsv -q >y.mts
	[ "$(mts to tsv y.mts | tail -n 1)" = $'\xef\xbf\xbd' ]
	# t.offsets 0 1, and t with one invalid byte
	{
		printf '\x80\0\0\0\0\0\0\0'
		printf '%-128s' '{"t.offsets":{"dtype":"I64","shape":[2],"data_offsets":[0,16]},"t":{"dtype":"U8","shape":[1],"data_offsets":[16,17]}}'
		printf '\0\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0\xff'
	} >y.safetensors
	mts from safetensors y.safetensors >z.mts
	[ "$(mts to jsonl z.mts)" = $'{"t":"\xef\xbf\xbd"}' ]
	[ "$(mts rows --where 't~^.$' z.mts | mts to jsonl)" = "$(mts to jsonl z.mts)" ]
	mts to safetensors -c t -o z.safetensors z.mts
	mts from safetensors z.safetensors | mts diff z.mts -
}

# 5. the examples of the page

@test "mts: the examples of mts(1) run" {
	sed -n '/^\.Bd/,/^\.Ed/p' "$ROOT/man/mts.1" | grep '^{' >points.jsonl
	[ "$(wc -l <points.jsonl)" -eq 2 ]
	page_examples mts.1 | grep -v '^{' >examples
	[ "$(wc -l <examples)" -ge 8 ]
	bash -e -o pipefail -x examples
}

# 6. under SANITIZE=1 every test checks memory; this one also checks for leaks

@test "mts: frees all memory before it exits" {
	export ASAN_OPTIONS=detect_leaks=1
	stream_make 3 10 4 a.mts
	mts head a.mts
	mts stat a.mts
	mts head --json a.mts
	mts stat --json a.mts
	mts cat -c emb --rename emb=other -o b.mts a.mts
	mts paste -o c.mts a.mts b.mts
	mts split -n 7 a.mts
	mts diff a.mts a.mts
	mts cast i8 -q -c emb -o a8.mts a.mts
	mts cast bit -c emb -o a1.mts a8.mts
	mts to npy -c emb -o a.npy a.mts
	mts to safetensors -o a.safetensors a.mts
	mts to jsonl -o a.jsonl a.mts
	mts to tsv -o a.tsv a.mts
	mts from npy -o b.mts a.npy
	mts from safetensors -o b.mts a.safetensors
	mts from jsonl -o b.mts a.jsonl
	mts from tsv --numbers id -o b.mts a.tsv
	gzip a.jsonl
	mts from jsonl -o b.mts a.jsonl.gz
	zstd -q a.tsv
	mts from tsv -o b.mts a.tsv.zst
	cat a.mts a.mts | mts stat
}

@test "mts from: integers are exact, whatever values stand beside them" {
	for other in '{"x":1}' '{"id":null}' '{"id":NaN}' '{"id":0.5}'; do
		printf '{"id":1234567890123456789}\n{"id":1234567890123456790}\n%s\n' "$other" |
			mts from jsonl - >a.mts
		[ "$(mts to jsonl -c id a.mts | head -n 2)" = '{"id":"1234567890123456789"}
{"id":"1234567890123456790"}' ]
	done
	# the longest integer that a real keeps and writes without an exponent
	printf '{"id":999999999999999}\n{}\n' | mts from jsonl - >a.mts
	[ "$(mts to jsonl a.mts)" = '{"id":999999999999999}
{"id":null}' ]
	printf '{"id":1000000000000000}\n{}\n' | mts from jsonl - >a.mts
	[ "$(mts to jsonl a.mts)" = '{"id":"1000000000000000"}
{"id":""}' ]
	printf '{"a":18446744073709551615,"b":[18446744073709551615,1],"c":[0.5,1234567890123456789]}\n' |
		mts from jsonl - >a.mts
	[ "$(mts to jsonl a.mts)" = '{"a":"18446744073709551615","b":"[18446744073709551615,1]","c":"[0.5,1234567890123456789]"}' ]
	# after the rows that decide the type
	{ printf '{"id":0.5}\n%.0s' {1..1024}; echo '{"id":9007199254740993}'; } >late.jsonl
	dies "mts: late.jsonl:1025: field 'id': an integer with more digits than" mts from jsonl -o out late.jsonl
	{ printf '{"id":1}\n%.0s' {1..1024}; echo '{"id":9223372036854775808}'; } >late.jsonl
	dies "mts: late.jsonl:1025: field 'id': an integer with more digits than" mts from jsonl -o out late.jsonl
	printf 'id\n9223372036854775808\n' >a.tsv
	dies "mts: a.tsv:2: field 'id': '9223372036854775808' is beyond 64 bits" mts from tsv --numbers id -o out a.tsv
	printf 'id\tx\n1234567890123456789\t1\n\t2\n' >a.tsv
	dies "mts: a.tsv: field 'id': integers of more than 15 digits" mts from tsv --numbers id -o out a.tsv
	printf '{"id":1,"id":2}\n' >a.jsonl
	dies "mts: a.jsonl:1: field 'id': is given twice" mts from jsonl -o out a.jsonl
	[ "$(printf '{"id":1,"id":1,"o":{"x":1,"x":2}}\n' | mts from jsonl - | mts to jsonl)" = '{"id":1,"o":"{\"x\":2}"}' ]
}

@test "mts from jsonl: NaN and absent keys are missing values" {
	printf '{"n":1,"t":"a","l":[1]}\n{"n":NaN,"t":NaN,"l":NaN}\n{}\n' | mts from jsonl - >a.mts
	[ "$(mts to jsonl a.mts)" = '{"n":1,"t":"a","l":[1]}
{"n":null,"t":"","l":[]}
{"n":null,"t":"","l":[]}' ]
	[ "$(printf '{"n":Infinity}\n{"n":-Infinity}\n' | mts from jsonl - | mts rows --where 'n<0' | mts stat --json | jq .rows)" -eq 1 ]
}

@test "mts: comparisons, extremes and differences of integers are exact" {
	printf '{"id":%s,"t":"%s"}\n' 9007199254740992{,} 9007199254740993{,} | mts from jsonl - >a.mts
	[ "$(mts rows --where 'id>9007199254740992' a.mts | mts stat --json | jq .rows)" -eq 1 ]
	[ "$(mts rows --where 't>9007199254740992' a.mts | mts stat --json | jq .rows)" -eq 1 ]
	[ "$(mts rows --where 't<9007199254740993' a.mts | mts stat --json | jq .rows)" -eq 1 ]
	printf '{"t":"%s"}\n' 18446744073709551614 18446744073709551615 | mts from jsonl - >b.mts
	[ "$(mts rows --where 't>=18446744073709551615' b.mts | mts stat --json | jq .rows)" -eq 1 ]
	[ "$(mts stat --json a.mts | grep -o '"min":[0-9]*,"max":[0-9]*')" = '"min":9007199254740992,"max":9007199254740993' ]
	[ "$(printf '{"id":-9223372036854775808}\n{"id":9223372036854775807}\n' | mts from jsonl - | mts stat --json |
		grep -o '"min":[-0-9]*,"max":[0-9]*')" = '"min":-9223372036854775808,"max":9223372036854775807' ]
	# an i64 beside a real that is one less
	printf '{"x":9007199254740993}\n' | mts from jsonl - >i.mts
	printf '{"x":9007199254740992.0}\n' | mts from jsonl - >r.mts
	run -1 mts diff i.mts r.mts
}

@test "mts to tsv: a text that begins with a quote reads back unchanged, here and by CSV readers" {
	printf '{"a":"\\"x\\" y","b":"\\"q\\"","c":"\\"","d":"5\\""}\n' | mts from jsonl - >a.mts
	mts to tsv a.mts >a.tsv
	[ "$(sed -n 2p a.tsv)" = $'"""x"" y"\t"""q"""\t""""\t5"' ]
	[ "$(mts from tsv a.tsv | mts to jsonl)" = "$(mts to jsonl a.mts)" ]
}

@test "mts to csv: follows RFC 4180 and reads back, here and by another reader; vectors are JSON or a column for each number" {
	jq -nc '{id: 1, t: "a,\"b\"\nc\r", n: 1.5, u: "é"}, {id: 2, t: "plain", n: null, u: " x "}, {id: 3, t: "", n: -2, u: "\t"}' | mts from jsonl >a.mts
	mts to csv a.mts >a.csv
	printf 'id,t,n,u\n1,"a,""b""\nc\r",1.5,é\n2,plain,, x \n3,,-2,\t\n' | cmp - a.csv
	mts from csv --numbers id,n a.csv | mts diff - a.mts
	printf '{"t":""}\n{"t":"x"}\n' | mts from jsonl | mts to csv | cmp - <(printf 't\n""\nx\n')
	# readers of tables take no zero byte
	printf '{"t":"a\\u0000b,c","n":"d"}\n' | mts from jsonl >zero.mts
	mts to csv zero.mts | cmp - <(printf 't,n\n"a b,c",d\n')
	mts to tsv zero.mts | cmp - <(printf 't\tn\na b,c\td\n')
	printf '{"emb":[1,2.5]}\n{"emb":[-1,0]}\n' | mts from jsonl >list.mts
	mts to csv list.mts | cmp - <(printf 'emb\n"[1,2.5]"\n"[-1,0]"\n')
	dies "mts: list.mts: column 'emb' has lists, which may differ in length; --spread is for vectors of one width" mts to csv --spread list.mts
	mts to csv --spread a.mts | cmp - a.csv
	printf '\x93NUMPY\x01\0\x76\0%-117s\n\0\0\x80\x3f\0\0\0\xc0\0\0\xc0\x7f\0\0\0\x3f' \
		"{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2), }" | mts from npy >v.mts
	mts to csv v.mts | cmp - <(printf 'emb\n"[1,-2]"\n"[null,0.5]"\n')
	mts to csv --spread v.mts | cmp - <(printf 'emb_0,emb_1\n1,-2\n,0.5\n')
	mts to csv --spread <(mts paste list.mts <(mts cat --rename emb=v v.mts)) | cmp - <(printf 'emb,v_0,v_1\n"[1,2.5]",1,-2\n"[-1,0]",,0.5\n')
	mts to tsv --spread v.mts | cmp - <(printf 'emb_0\temb_1\n1\t-2\n\t0.5\n')
	run -2 --separate-stderr mts to jsonl --spread v.mts
	[[ $stderr == "mts: to: --spread does not apply to jsonl"* ]]
}

@test "mts from npy: big-endian and Fortran-order arrays are read" {
	npy() { # DESCR ORDER SHAPE BYTES
		printf '\x93NUMPY\x01\0\x76\0%-117s\n' "{'descr': '$1', 'fortran_order': $2, 'shape': ($3), }"
		printf '%b' "$4"
	}
	# 1 to 12 of shape (2, 3, 2), as numpy.asfortranarray stores them
	bytes='\x01\x07\x03\x09\x05\x0b\x02\x08\x04\x0a\x06\x0c'
	npy '|u1' True '2, 3, 2' "$bytes" | mts from npy --record-rows 1 - >a.mts
	[ "$(mts to jsonl a.mts)" = '{"emb":[[1,2],[3,4],[5,6]]}
{"emb":[[7,8],[9,10],[11,12]]}' ]
	npy '>i4' True '2, 2' '\0\0\0\x01\0\0\0\x03\xff\xff\xff\xfe\0\0\0\x04' | mts from npy - >a.mts
	[ "$(mts to jsonl a.mts)" = '{"emb":[1,-2]}
{"emb":[3,4]}' ]
	npy '>f4' False '2,' '\x3f\x80\0\0\xc0\x20\0\0' | mts from npy - >a.mts
	[ "$(mts to jsonl a.mts)" = '{"emb":1}
{"emb":-2.5}' ]
	npy '>i8' False '1,' '\x7f\xff\xff\xff\xff\xff\xff\xff' | mts from npy - >a.mts
	[ "$(mts to jsonl a.mts)" = '{"emb":9223372036854775807}' ]
}
