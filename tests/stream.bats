#!/usr/bin/env bats
load helper

# Streams of mts(5) made by printf and zstd, so that the programs are not compared with themselves.

frame() { # the content is on standard input
	cat >"$T/content"
	zstd -qc "$@" "$T/content"
}
header() { # COLUMNS [PROPERTIES]
	printf 'mts 1\n{"columns":[%s],"properties":{%s},"history":[]}\n' "$1" "${2-}" | frame
}
pad() { # standard input, then zeros up to a multiple of 64
	cat >"$T/padded"
	cat "$T/padded"
	head -c $(((64 - $(stat -c %s "$T/padded") % 64) % 64)) /dev/zero
}
record() { # ROWS ATTRIBUTES COUNTS...; the columns' padded arrays are on standard input
	local rows=$1 attributes=$2
	shift 2
	cat >"$T/arrays"
	{
		{
			printf 'record\0\0'
			u64 "$rows" ${#attributes} $(($# / 2)) "$@"
			printf %s "$attributes"
		} | pad
		cat "$T/arrays"
	} | frame
}
end() { # RECORDS ROWS
	{ printf 'end\0\0\0\0\0'; u64 "$@"; } | frame
}
X='{"name":"x","dtype":"f32"}'
I='{"name":"i","dtype":"i32","depth":1}'
two_floats() { printf '\0\0\x80\x3f\0\0\0\xc0' | pad; }
refused() { # FILE MESSAGE
	run -1 --separate-stderr mts stat "$1"
	echo "$stderr"
	[ -n "$stderr" ] && [ "${#stderr_lines[@]}" -eq 1 ]
	[[ "$stderr" == "mts: $1: "*"$2"* ]]
}

@test "stream: the example of mts(5), rebuilt byte for byte, is read" {
	# both hex dumps and the header's text from the page
	awk '/^00000000/ { n++ } /^0000/ { $1 = ""; print > "'"$T"'/dump" n }' "$ROOT/man/mts.5"
	for n in 1 2; do
		printf "$(sed 's/  */\\x/g' "$T/dump$n" | tr -d '\n')" >"$T/bytes$n"
	done
	[ "$(stat -c %s "$T/bytes1")" -eq 128 ]
	[ "$(stat -c %s "$T/bytes2")" -eq 24 ]
	grep -A1 '^mts 1$' "$ROOT/man/mts.5" >"$T/bytes0"
	[ "$(stat -c %s "$T/bytes0")" -eq "$(sed -n 's/.*its header (\([0-9]*\) bytes).*/\1/p' \
		"$ROOT/man/mts.5")" ]
	for n in 0 1 2; do
		zstd -qc --stream-size="$(stat -c %s "$T/bytes$n")" <"$T/bytes$n"
	done >"$T/x.mts"
	run -0 mts to tsv "$T/x.mts"
	[ "$output" = $'x\n1\n-2' ]
	# the writer makes the same bytes
	mts cat "$T/x.mts" | zstd -dcq | tail -c 152 | cmp - <(cat "$T/bytes1" "$T/bytes2")
}

@test "stream: zstd tests and unpacks a stream, and its header is readable text" {
	stream_make 3 10 4 "$T/a.mts"
	zstd -tq "$T/a.mts"
	zstd -dcq "$T/a.mts" 2>/dev/null | head -c 400 >"$T/start" || true
	[ "$(head -n 1 "$T/start")" = "mts 1" ]
	grep -qa '"name":"emb","dtype":"f32","shape":\[4\]' "$T/start"
}

@test "stream: equal commands give equal bytes; --level changes the size and not the content" {
	stream_make 3 500 16 "$T/a.mts"
	cp "$T/a.mts" "$T/first.mts"
	stream_make 3 500 16 "$T/a.mts"
	cmp "$T/a.mts" "$T/first.mts"
	mts cat --level 0 "$T/a.mts" >"$T/0.mts"
	mts cat --level 19 "$T/a.mts" >"$T/19.mts"
	[ "$(stat -c %s "$T/0.mts")" -gt "$(stat -c %s "$T/19.mts")" ]
	# a pipe gets uncompressed frames
	mts cat "$T/a.mts" >"$T/file.mts"
	[ "$(mts cat "$T/a.mts" | wc -c)" -gt "$(stat -c %s "$T/file.mts")" ]
	mts diff "$T/a.mts" "$T/0.mts"
	mts diff "$T/0.mts" "$T/19.mts"
}

@test "stream: a program passes on columns, attributes and properties, and extends the history" {
	stream_make 3 10 4 "$T/a.mts"
	stream_make --pass <"$T/a.mts" | stream_make --pass 5 >"$T/b.mts"
	mts diff "$T/a.mts" "$T/b.mts"
	run -0 mts head -n 100 "$T/b.mts"
	[ "$(grep -c '^history' <<<"$output")" -eq 3 ]
	[[ $output == *'history	stream_make --pass 5'* ]]
	[[ $output == *'{"task":"sts","step":2}'* ]]
	[[ $output == *'property	tokenizer	0123456789abcdef'* ]]
}

@test "stream: a stream may have no records, or no columns" {
	stream_make 0 0 4 "$T/a.mts"
	stream_make --pass <"$T/a.mts" >"$T/b.mts"
	mts diff "$T/a.mts" "$T/b.mts"
	{ header ''; end 0 0; } >"$T/none.mts"
	mts stat "$T/none.mts"
}

@test "stream: concatenated streams are one if their columns and properties agree" {
	stream_make 3 10 4 "$T/a.mts"
	stream_make 2 7 4 "$T/b.mts"
	cat "$T/a.mts" "$T/b.mts" "$T/a.mts" >"$T/c.mts"
	zstd -tq "$T/c.mts"
	run -0 mts stat "$T/c.mts"
	[[ $output == *$'records\t8\nrows\t74'* ]]
	mts cat "$T/a.mts" "$T/b.mts" "$T/a.mts" | mts diff - "$T/c.mts"
	stream_make 1 1 5 "$T/other.mts"
	cat "$T/a.mts" "$T/other.mts" >"$T/d.mts"
	refused "$T/d.mts" 'record 4: a stream follows that does not agree: the shapes of'
	{ header "$X" '"model":"1"'; end 0 0; } >"$T/e.mts"
	{ header "$X" '"model":"2"'; end 0 0; } >"$T/f.mts"
	{ header "$X"; end 0 0; } >"$T/g.mts"
	cat "$T/e.mts" "$T/f.mts" >"$T/h.mts"
	refused "$T/h.mts" "the property 'model' differs"
	# objects in properties are equal in any order of keys
	for object in '"a":[1,{"c":null}],"b":"x"' '"b":"x","a":[1,{"c":null}]' '"b":"x","a":[1,{"c":0}]' '"b":"x","d":[1,{"c":null}]'; do
		{ header "$X" "\"made\":{$object}"; end 0 0; } >"$T/of$((++of)).mts"
	done
	cat "$T"/of{1,2}.mts | mts stat | found $'^records\t0$'
	cat "$T"/of{1,3}.mts >"$T/h.mts"
	refused "$T/h.mts" "the property 'made' differs"
	cat "$T"/of{1,4}.mts >"$T/h.mts"
	refused "$T/h.mts" "the property 'made' differs"
	{ header "$X,$I"; end 0 0; } >"$T/i.mts"
	cat "$T/g.mts" "$T/i.mts" >"$T/h.mts"
	refused "$T/h.mts" 'a stream follows that does not agree: 1 columns here, 2 there'
	cat "$T/g.mts" "$T/f.mts" >"$T/h.mts"
	refused "$T/h.mts" "the property 'model' differs"
	run -1 --separate-stderr mts cat "$T/e.mts" "$T/f.mts"
	[[ $stderr == *"f.mts: does not agree with "*"e.mts: the property 'model' differs" ]]
}

@test "stream: a stream that is truncated at any length is refused in one line that names it" {
	stream_make 3 10 4 "$T/a.mts"
	run -0 stream_damage cut "$T/a.mts"
	[ "$output" = "$(stat -c %s "$T/a.mts") 0" ]
	head -c 1900 "$T/a.mts" >"$T/cut.mts"
	refused "$T/cut.mts" 'record 3: the stream is cut short'
}

@test "stream: large records among small ones, stored and compressed, are read to the byte" {
	records() { printf 'record\0'; zstd -dcq "$1" | sed -z 1d | head -c -24; } # by zstd alone
	stream_make 2 3 200 "$T/small.mts"
	stream_make 1 3000 200 "$T/large.mts"
	for part in small large small large; do
		records "$T/$part.mts" >>"$T/expected"
	done
	for level in 0 3; do
		for part in small large; do
			mts cat --level $level -o "$T/$part.$level.mts" "$T/$part.mts"
		done
		cat "$T"/{small,large,small,large}.$level.mts >"$T/x.mts"
		mts cat "$T/x.mts" >"$T/all.mts"
		records "$T/all.mts" | cmp - "$T/expected"
		mts cat <"$T/x.mts" | mts cat >"$T/all.mts"
		records "$T/all.mts" | cmp - "$T/expected"
		head -c 400000 "$T/large.$level.mts" >"$T/x.mts"
		refused "$T/x.mts" 'record 1: the stream is cut short'
		{ head -c 400000 "$T/large.$level.mts"; printf changed; tail -c +400008 "$T/large.$level.mts"; } >"$T/x.mts"
		[ "$(stat -c %s "$T/x.mts")" -eq "$(stat -c %s "$T/large.$level.mts")" ]
		refused "$T/x.mts" 'record 1: the data are damaged'
	done
}

@test "stream: a flipped bit at any of 1,000 places is detected or harmless" {
	stream_make 3 10 4 "$T/a.mts"
	run -0 stream_damage flip "$T/a.mts" 1000 1
	echo "refused and harmless: $output"
	[ "${output% *}" -ge 980 ]
	mts cat --level 0 "$T/a.mts" >"$T/0.mts"
	run -0 stream_damage flip "$T/0.mts" 1000 2
	[ "${output% *}" -ge 980 ]
}

@test "stream: changed numbers with a valid checksum are detected, or are other content" {
	stream_make 2 6 3 "$T/a.mts"
	run -0 stream_damage forge "$T/a.mts" 600 3
	echo "refused and read: $output"
	[ "${output% *}" -ge 200 ]
}

@test "stream: frames that mts(5) does not allow are refused" {
	{ header "$X"; two_floats | record 2 '{}' 0 2; end 1 2; } >"$T/good.mts"
	mts stat "$T/good.mts"
	: >"$T/x.mts"
	refused "$T/x.mts" 'empty'
	echo '{"text": "not a stream"}' >"$T/x.mts"
	refused "$T/x.mts" 'it is text, not a tensor stream'
	zstd -qc "$T/x.mts" >"$T/y.mts"
	refused "$T/y.mts" 'not a tensor stream'
	zstd -dcq "$T/good.mts" | zstd -qc >"$T/x.mts"
	refused "$T/x.mts" 'compressed again'
	{ header "$X"; two_floats | record 2 '{}' 0 2 | zstd -dcq >"$T/c"; zstd -qc --no-check "$T/c"; } >"$T/x.mts"
	refused "$T/x.mts" 'record 1: the zstd frame has no checksum'
	{ cat "$T/good.mts"; echo more; } >"$T/x.mts"
	refused "$T/x.mts" 'after the end mark of record 1'
	{ header "$X"; printf record | frame; } >"$T/x.mts"
	refused "$T/x.mts" 'record 1: it is too short to have a kind'
	{ header "$X"; printf 'what?\0\0\0%032d' 0 | frame; } >"$T/x.mts"
	refused "$T/x.mts" 'neither a record nor an end mark'
	# a frame that claims 2^60 bytes is refused before memory is allocated
	{ header "$X"; printf '\x28\xb5\x2f\xfd\xc4\x38'; u64 $((1 << 60)) 0 0; } >"$T/x.mts"
	refused "$T/x.mts" 'record 1: it claims more than 16 GiB'
	{ header "$X"; printf '\x28\xb5\x2f\xfd\xc4\x38'; u64 $((1 << 33)) 0 0; } >"$T/x.mts"
	case $BUILD in *sanitize*) ;; *) ulimit -v 2000000 ;; esac # ASan uses more memory
	refused "$T/x.mts" 'record 1: '
}

@test "stream: headers that mts(5) does not allow are refused" {
	printf 'mts 2\n{}\n' | frame >"$T/x.mts"
	refused "$T/x.mts" 'header: another version'
	printf 'mts 1\n{"columns":[]}\n' | frame >"$T/x.mts"
	refused "$T/x.mts" "header: 'properties' is missing"
	printf 'mts 1\n{"columns":[],"properties":{},"history":[],"more":1}\n' | frame >"$T/x.mts"
	refused "$T/x.mts" "header: 'more' is not known"
	printf 'mts 1\n{"columns":[],"properties":{},"history":[1]}\n' | frame >"$T/x.mts"
	refused "$T/x.mts" "header: 'history' must be a list of objects"
	for entry in '"command":["mts"]' '"program":1' '"seed":0.5'; do
		printf 'mts 1\n{"columns":[],"properties":{},"history":[{%s}]}\n' "$entry" | frame >"$T/x.mts"
		refused "$T/x.mts" "header: '$(cut -d'"' -f2 <<<"$entry")' is a"
	done
	printf 'mts 1\n{"columns":[],"properties":{},"history":[]}' | frame >"$T/x.mts"
	refused "$T/x.mts" "header: it does not end with a newline"
	header "$X" '"tokenizer":1' >"$T/x.mts"
	refused "$T/x.mts" "header: the property 'tokenizer' must be a string"
	header '{"name":"x","dtype":"f12"}' >"$T/x.mts"
	refused "$T/x.mts" "column 'x': dtype 'f12' is not supported"
	header "$X,$X" >"$T/x.mts"
	refused "$T/x.mts" "two columns are called 'x'"
	header '{"name":"","dtype":"f32"}' >"$T/x.mts"
	refused "$T/x.mts" 'its name is not'
	header '{"name":"x","dtype":"f32","depth":3}' >"$T/x.mts"
	refused "$T/x.mts" "'depth' is 3"
	header '{"name":"x","dtype":"f32","shape":[0]}' >"$T/x.mts"
	refused "$T/x.mts" 'a dimension of its shape is below 1'
	header '{"name":"x","dtype":"f32","shape":[65536,65536,65536,65536]}' >"$T/x.mts"
	refused "$T/x.mts" 'larger than 2^31 bytes'
	header '{"name":"x","dtype":"u8","shape":[2147483649]}' >"$T/x.mts"
	refused "$T/x.mts" 'larger than 2^31 bytes'
	{ header '{"name":"x","dtype":"u8","shape":[2147483648]}'; end 0 0; } >"$T/x.mts"
	mts stat "$T/x.mts"
	# an integer may be written as a real without a fraction
	{ header '{"name":"x","dtype":"f32","depth":0.0,"shape":[2e0]}'; end 0 0; } >"$T/x.mts"
	mts stat "$T/x.mts" | found 'f32 \[2\]'
	header '{"name":"x","dtype":"f32","shape":[2.5]}' >"$T/x.mts"
	refused "$T/x.mts" 'the shape must be integers'
	many() { seq -s , -f '{"name":"x%g","dtype":"f32"}' "$1"; }
	header "$(many 4097)" >"$T/x.mts"
	refused "$T/x.mts" 'there are more than 4096 columns'
	{ header "$(many 4096)"; end 0 0; } >"$T/x.mts"
	mts stat "$T/x.mts" >"$T/stat"
	header '{"name":"x","dtype":"f32","text":true,"depth":1}' >"$T/x.mts"
	refused "$T/x.mts" 'text must be lists of u8'
	header '{"name":"x","dtype":"f32","unit":"m"}' >"$T/x.mts"
	refused "$T/x.mts" "'unit' is not known"
}

@test "stream: records that mts(5) does not allow are refused" {
	bad() { # MESSAGE; the frames are on standard input
		{ cat "$T/h"; cat; } >"$T/x.mts"
		refused "$T/x.mts" "$1"
	}
	header "$X" >"$T/h"
	two_floats | record 3 '{}' 0 2 | bad "record 1: column 'x': it does not have one element a row"
	two_floats | record 2 '{}' 1 2 | bad "record 1: column 'x': it has lists"
	two_floats | record 2 '{}' | bad 'record 1: its number of columns'
	two_floats | record 20 '{}' 0 20 | bad "record 1: column 'x': it is longer than the record"
	{ two_floats; two_floats; } | record 2 '{}' 0 2 | bad 'record 1: its columns do not fill it'
	two_floats | record $((1 << 62)) '{}' 0 $((1 << 62)) | bad 'record 1: it has more rows'
	two_floats | record 2 '{}' 0 -1 | bad "record 1: column 'x': it claims more"
	two_floats | record 2 '[1]' 0 2 | bad 'record 1: its attributes are not a JSON object'
	two_floats | record 2 '{"a":1,"a":2}' 0 2 | bad 'record 1: attributes:1: not valid JSON'
	two_floats | record 2 '{"a"' 0 2 | bad 'record 1: attributes:1: not valid JSON'
	{ two_floats | record 2 '{}' 0 2; end 1 3; } | bad 'end mark after record 1: it counts 1 records and 3 rows'
	{ two_floats | record 2 '{}' 0 2; end 2 2; } | bad 'end mark after record 1: it counts 2'
	two_floats | record 2 '{}' 0 2 | bad 'record 2: the stream ends without an end mark'
	header '{"name":"b","dtype":"bool"}' >"$T/h"
	printf '\1\2' | pad | record 2 '{}' 0 2 | bad "record 1: column 'b': a bool is neither 0 nor 1"
	header '' >"$T/h"
	record 2 '{}' </dev/null | bad 'record 1: it has more rows than it can hold'
	header "$I" >"$T/h"
	ints() { printf '\1\0\0\0\2\0\0\0' | pad; }
	{ u64 0 1 2 | pad; ints; } | record 2 '{}' 0 2 >"$T/good"
	{ cat "$T/h" "$T/good"; end 1 2; } >"$T/x.mts"
	mts stat "$T/x.mts"
	{ u64 1 1 2 | pad; ints; } | record 2 '{}' 0 2 | bad "record 1: column 'i': the first offset is not 0"
	{ u64 0 2 1 | pad; ints; } | record 2 '{}' 0 1 | bad "record 1: column 'i': the offsets fall"
	{ u64 0 1 1 | pad; ints; } | record 2 '{}' 0 2 | bad "record 1: column 'i': the last offset"
	{ u64 0 -5 2 | pad; ints; } | record 2 '{}' 0 2 | bad "record 1: column 'i': the offsets fall"
	header '{"name":"t","dtype":"u8","text":true,"depth":2}' >"$T/h"
	{ u64 0 3 2 | pad; u64 0 1 2 | pad; ints; } | record 2 '{}' 2 2 |
		bad "record 1: column 't': the offsets fall"
	{ u64 0 1 2 | pad; u64 0 9 2 | pad; ints; } | record 2 '{}' 2 2 |
		bad "record 1: column 't': the offsets fall"
}

@test "stream: a filter that dies upstream makes those downstream fail" {
	stream_make 30 100 64 "$T/a.mts"
	run -1 bash -c "head -c 90000 '$T/a.mts' | stream_make --pass | mts cat | mts stat"
	[[ $output == *"mts: <stdin>: record 4: "*"cut short; did the program that wrote it fail?"* ]]
}

@test "stream: an output file is complete or missing" {
	stream_make 30 100 64 "$T/a.mts"
	mkdir "$T/out"
	echo precious >"$T/out/x.mts"
	head -c 90000 "$T/a.mts" >"$T/cut.mts"
	run -1 mts cat -o "$T/out/x.mts" "$T/cut.mts"
	[ "$(cat "$T/out/x.mts")" = precious ]
	run -1 mts cat -o "$T/out/y.mts" "$T/cut.mts"
	[ "$(ls -A "$T/out")" = x.mts ]
	# killed in the middle, while the writer waits for more
	mkfifo "$T/slow"
	mts cat -o "$T/out/x.mts" "$T/slow" &
	writer=$!
	{ cat "$T/cut.mts"; sleep 30; } >"$T/slow" &
	sleeper=$!
	sleep 0.3
	kill -9 $writer
	wait $writer || true
	kill $sleeper
	[ "$(cat "$T/out/x.mts")" = precious ]
	[ "$(ls -A "$T/out")" = x.mts ]
	ln -s x.mts "$T/out/link"
	mts cat -o "$T/out/link" "$T/a.mts"
	[ -L "$T/out/link" ]
	mts diff "$T/a.mts" "$T/out/x.mts"
}

@test "stream: a stream is not written to a terminal" {
	need_terminal
	stream_make 3 10 4 "$T/a.mts"
	run -2 script -qec "mts cat '$T/a.mts'" /dev/null
	[[ $output == *"binary output to a terminal is refused"* ]]
}

@test "stream: full disks and missing files are errors, closed pipes silent" {
	stream_make 30 100 64 "$T/a.mts"
	run -1 --separate-stderr mts cat -o /dev/full "$T/a.mts"
	[ "$stderr" = "mts: /dev/full: No space left on device" ]
	run -1 --separate-stderr bash -c "mts cat '$T/a.mts' >/dev/full"
	[ "$stderr" = "mts: <stdout>: No space left on device" ]
	run -0 --separate-stderr bash -c "mts cat '$T/a.mts' | head -c 10 | wc -c"
	[ "$output" = 10 ] && [ -z "$stderr" ]
	run -1 --separate-stderr mts stat "$T/absent.mts"
	[ "$stderr" = "mts: $T/absent.mts: No such file or directory" ]
	run -1 --separate-stderr mts cat -o "$T/absent/x.mts" "$T/a.mts"
	[ "$stderr" = "mts: $T/absent/x.mts: No such file or directory" ]
}

# bats test_tags=plain
@test "stream: memory holds one record, not the stream" {
	stream_make 1 2000 768 "$T/one.mts"
	for i in {1..40}; do cat "$T/one.mts"; done >"$T/many.mts"
	case $BUILD in *sanitize*) skip "ASan has memory of its own" ;; esac
	(ulimit -v 60000 && mts cat --level 0 "$T/many.mts" | mts stat | grep -c 'rows	80000')
}

@test "stream: mkstream refuses lists without a type, and too many columns" {
	for row in '{"a": []}' '{"a.emb": []}' '{"a.emb": 1}'; do
		run -1 --separate-stderr mkstream <<<"$row"
		[[ $stderr == *": the first row must have something in the list '"*"'" ]]
		[ "${#stderr_lines[@]}" -eq 1 ]
	done
	jq -nc '[range(17) | {key: "c\(.)", value: 1}] | from_entries' >"$T/wide.jsonl"
	run -1 --separate-stderr mkstream <"$T/wide.jsonl"
	[[ $stderr == *"a row has 17 columns, of at most 16" ]]
	jq -c 'del(.c16)' "$T/wide.jsonl" | mkstream | mts to jsonl | jq -c . | cmp - <(jq -c 'del(.c16)' "$T/wide.jsonl")
}
