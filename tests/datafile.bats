#!/usr/bin/env bats
# shellcheck disable=SC2154 # stderr is set by run
load helper

# records FILE (tests/support): line, byte offset and content of each record of a text file

@test "utf8: decoding, repair, normal forms and categories follow the Unicode standard" {
	run -0 utf8_check
	[ -z "$output" ]
}

@test "utf8: properties, lower case and normal forms of all code points are the reference's" {
	utf8_check all >"$T/ours.tsv"
	diff "$T/ours.tsv" "$GOLDEN/unicode.tsv"
}

@test "datafile: JSON Lines: blank lines are skipped; line numbers and offsets count them" {
	printf '{"a":1}\n\n  \n{"b":[1,"x"]}\r\n{"c":null}' >"$T/x.jsonl"
	run -0 records "$T/x.jsonl"
	[ "${lines[0]}" = '1 0 {"a":1}' ]
	[ "${lines[1]}" = '4 12 {"b":[1,"x"]}' ]
	[ "${lines[2]}" = '5 27 {"c":null}' ]
	[ "${lines[3]}" = 'repaired 0' ]
}

@test "datafile: plain, gzip and zstd files give the same records; the file name decides the format" {
	printf 'title\ttext\nA\tfirst\n\tsecond\n' >"$T/x.tsv"
	gzip -k "$T/x.tsv"
	zstd -q "$T/x.tsv" -o "$T/x.tsv.zst"
	records "$T/x.tsv" >"$T/plain"
	[ "$(sed -n 2p "$T/plain")" = '3 19 {"title":"","text":"second"}' ]
	records "$T/x.tsv.gz" | cmp - "$T/plain"
	records "$T/x.tsv.zst" | cmp - "$T/plain"
	run -0 records "$T/x.tsv" lines
	[ "${lines[0]}" = '1 0 {"text":"title\ttext"}' ]
}

@test "datafile: a file that begins with a brace is JSON Lines, any other is plain lines" {
	printf '{"a":"b"}\n' >"$T/one"
	printf 'plain {\n\n' >"$T/two"
	run -0 records "$T/one"
	[ "${lines[0]}" = '1 0 {"a":"b"}' ]
	run -0 records "$T/two"
	[ "${lines[0]}" = '1 0 {"text":"plain {"}' ]
	[ "${lines[1]}" = '2 8 {"text":""}' ]
	for start in '[{' '[ {' '[\n{' '[\r\n{'; do
		for mark in '' '\357\273\277'; do
			printf "$mark$start"'"a":"b"}]' >"$T/three"
			run -0 records "$T/three"
			[[ ${lines[0]} == *' {"a":"b"}' ]]
		done
	done
}

@test "datafile: a byte order mark and carriage returns at line ends are not part of the text" {
	printf '\357\273\277one\r\ntwo\r\n' >"$T/x.txt"
	run -0 records "$T/x.txt"
	[ "${lines[0]}" = '1 0 {"text":"one"}' ]
	[ "${lines[1]}" = '2 8 {"text":"two"}' ]
}

@test "datafile: invalid UTF-8 becomes U+FFFD, one per maximal part, and is counted" {
	printf 'a\377\360\237\230b\303\n{"x":"\200"}\n' >"$T/x.txt"
	run -0 records "$T/x.txt"
	[ "${lines[0]}" = '1 0 {"text":"a��b�"}' ]
	[ "${lines[2]}" = 'repaired 4' ]
	run -0 records "$T/x.txt" lines
	printf '{"x":"\200"}\n' >"$T/x.jsonl"
	run -0 records "$T/x.jsonl"
	[ "${lines[0]}" = '1 0 {"x":"�"}' ]
}

@test "datafile: a line longer than any buffer is one record" {
	head -c 3000000 /dev/zero | tr '\0' x >"$T/x.txt"
	printf '\nlast' >>"$T/x.txt"
	run -0 bash -c "records '$T/x.txt' | cut -c 1-30"
	[ "${lines[1]}" = '2 3000001 {"text":"last"}' ]
}

@test "datafile: errors name file and line" {
	printf '{"a":1}\n{"a":\n' >"$T/x.jsonl"
	run -1 --separate-stderr records "$T/x.jsonl"
	[[ "$stderr" == "records: $T/x.jsonl:2: not valid JSON: "* ]]
	printf '{"a":1}\n[1]\n' >"$T/x.jsonl"
	run -1 --separate-stderr records "$T/x.jsonl"
	[[ "$stderr" == "records: $T/x.jsonl:2: a JSON object is expected"* ]]
	printf 'a\tb\n1\t2\t3\n' >"$T/x.tsv"
	run -1 --separate-stderr records "$T/x.tsv"
	[[ "$stderr" == "records: $T/x.tsv:2: 3 fields where the header line has 2" ]]
	printf 'a\ta\n' >"$T/x.tsv"
	run -1 --separate-stderr records "$T/x.tsv"
	[[ "$stderr" == "records: $T/x.tsv:1: two columns are called 'a'" ]]
	printf 'text' | gzip | head -c 15 >"$T/x.txt.gz"
	run -1 --separate-stderr records "$T/x.txt.gz"
	[[ "$stderr" == "records: $T/x.txt.gz: "* ]]
	run -1 --separate-stderr records "$T/absent"
	[[ "$stderr" == "records: $T/absent: "* ]]
}

@test "csv: quoted values may contain commas, line ends and quotes; line numbers count the lines inside" {
	printf 'id,text\r\n1,"a, b"\r\n2,"two\nlines, ""quoted"""\r\n3,\r\n"4",plain' >"$T/x.csv"
	run -0 records "$T/x.csv"
	[ "${lines[0]}" = '2 9 {"id":"1","text":"a, b"}' ]
	[ "${lines[1]}" = '3 19 {"id":"2","text":"two\nlines, \"quoted\""}' ]
	[ "${lines[2]}" = '5 46 {"id":"3","text":""}' ]
	[ "${lines[3]}" = '6 50 {"id":"4","text":"plain"}' ]
	gzip "$T/x.csv"
	run -0 records "$T/x.csv.gz"
	[ "${lines[3]}" = '6 50 {"id":"4","text":"plain"}' ]
}

@test "csv: a record longer than any buffer is one record" {
	{
		printf 'a,b\n1,"'
		head -c 3000000 /dev/zero | tr '\0' '\n'
		printf '"\n2,x\n'
	} >"$T/x.csv"
	run -0 bash -c "records '$T/x.csv' | cut -c 1-40"
	[ "${lines[1]}" = '3000003 3000009 {"a":"2","b":"x"}' ]
}

@test "csv: malformed CSV is refused with its line" {
	printf 'a,b\n1,"x"y\n' >"$T/x.csv"
	run -1 --separate-stderr records "$T/x.csv"
	[[ "$stderr" == "records: $T/x.csv:2: value 2: there is text behind its closing quote"* ]]
	printf 'a,b\n1,5" pipe "\n' >"$T/x.csv"
	run -1 --separate-stderr records "$T/x.csv"
	[[ "$stderr" == "records: $T/x.csv:2: value 2: a quote inside a value"* ]]
	for separator in ';' '\t'; do
		printf "a${separator}b\n1${separator}\"x\"\n" >"$T/x.csv"
		run -1 --separate-stderr records "$T/x.csv"
		[ "$stderr" = "records: $T/x.csv:2: value 1: a quote behind a semicolon or a tab; fields are separated by commas in CSV, by tabs in TSV" ]
		printf "a${separator}b\n1${separator}x, y\n" >"$T/x.csv"
		run -1 --separate-stderr records "$T/x.csv"
		[ "$stderr" = "records: $T/x.csv:2: 2 fields where the header line has 1; fields are separated by commas in CSV, by tabs in TSV" ]
	done
	printf 'a,b\n1,2\n1,"x\ny\n' >"$T/x.csv"
	run -1 --separate-stderr records "$T/x.csv"
	[[ "$stderr" == "records: $T/x.csv:3: value 2: its quote is never closed" ]]
	printf 'a,b\n1,2,3\n' >"$T/x.csv"
	run -1 --separate-stderr records "$T/x.csv"
	[[ "$stderr" == "records: $T/x.csv:2: 3 fields where the header line has 2" ]]
	{
		printf 'a\n"'
		head -c 70000000 /dev/zero | tr '\0' x
	} >"$T/x.csv"
	run -1 --separate-stderr records "$T/x.csv"
	[[ "$stderr" == "records: $T/x.csv:2: the record is longer than 67108864 bytes; is a quote missing?" ]]
}

@test "datafile: a binary file is refused with the name of its format" {
	refused() { # MESSAGE [FORMAT] ; the file from standard input
		cat >"$T/x.bin"
		for packed in cat gzip 'zstd -q'; do
			$packed <"$T/x.bin" >"$T/x"
			run -1 --separate-stderr records "$T/x" ${2:+"$2"}
			echo "$stderr"
			[[ $stderr == "records: $T/x:"*"$1"* ]]
		done
	}
	zeros() { head -c "$1" /dev/zero; }
	{ printf 'PAR1\25\4\25'; zeros 50; printf 'PAR1'; } | refused "not text but Parquet; convert it: python3 -c 'import json, pyarrow.dataset as a; "
	{ printf 'ARROW1\0\0'; zeros 50; } | refused "for b in a.read_table(\"$T/x\").to_batches() for r in b.to_pylist()]' > $T/x.jsonl"
	{ printf 'FEA1'; zeros 50; } | refused 'not text but Feather; convert it: '
	{ printf '\377\377\377\377\x88\1\0\0'; zeros 50; } | refused 'not text but a stream of Arrow; convert it: '
	printf 'hello\n' | iconv -t UTF-16 | refused 'not text but UTF-16'
	printf 'hello\n' | iconv -t UTF-16BE | refused 'a byte 0'
	{ printf '\376\377'; printf 'h\303\251llo\n' | iconv -t UTF-16BE; } | refused 'not text but UTF-16' jsonl
	{ printf '\32\0\0\0\0\0\0\0{"a":{"dtype":"F32"}}     '; zeros 40; } | refused 'not text but safetensors'
	{ printf '\223NUMPY\1\0'; zeros 8; } | refused 'not text but an array of NumPy' tsv
	{ printf 'PK\3\4'; zeros 30; } | refused 'not text but a zip archive' csv
	{ printf '%%PDF-1.4\n'; zeros 50; } | refused 'not text but PDF; convert it with pdftotext'
	printf 'first\nsecond \0 line\n' | refused '2: a byte 0'
	printf '{"a": 1}\n{"a": "\0"}\n' | refused '2: a byte 0' jsonl
	# a text may begin with the magic bytes of a binary format
	printf 'PAR1 is a word\nmts too\n' >"$T/x"
	run -0 records "$T/x"
	[ "${lines[0]}" = '1 0 {"text":"PAR1 is a word"}' ]
}

@test "datafile: mostly invalid UTF-8 is refused; a little of it is repaired" {
	# random bytes without zeros
	seeded_awk 'BEGIN { srand(1); for (i = 0; i < 4000; i++) printf "%03o\n", 1 + int(255 * rand()) }' |
		while read -r byte; do printf "\\$byte"; done >"$T/random"
	run -1 --separate-stderr records "$T/random" lines
	[[ $stderr == "records: $T/random: not text in UTF-8: "*" of its first 4000 bytes begin no character; convert it with iconv" ]]
	for i in {1..40}; do echo 'мягких французских булок'; done | iconv -t CP1251 >"$T/cyrillic"
	run -1 --separate-stderr records "$T/cyrillic"
	[[ $stderr == *"not text in UTF-8"* ]]
	for i in {1..100}; do echo 'un été à la mer, près du phare'; done | iconv -t LATIN1 >"$T/french"
	run -0 records "$T/french"
	[ "${lines[100]}" = 'repaired 400' ]
}

@test "datafile: blank lines are skipped in tables, and are values in a single column" {
	printf 'a\tb\n1\t2\n\r\n\n' >"$T/x.tsv"
	run -0 records "$T/x.tsv"
	[ "$output" = '2 4 {"a":"1","b":"2"}'$'\n''repaired 0' ]
	printf 'a,b\n1,2\n\n' >"$T/x.csv"
	run -0 records "$T/x.csv"
	[ "${lines[0]}" = '2 4 {"a":"1","b":"2"}' ]
	printf '\na\tb\n\n1\t2\n' >"$T/x.tsv"
	run -0 records "$T/x.tsv"
	[ "${lines[0]}" = '4 6 {"a":"1","b":"2"}' ]
	printf 'a\n1\n\n3\n' >"$T/x.tsv"
	run -0 records "$T/x.tsv"
	[ "${lines[1]}" = '3 4 {"a":""}' ]
}

@test "datafile: lines may end in a carriage return alone" {
	for format in 'lines.txt a\rb\r\rc' 'lines.txt a\rb\r\rc\r'; do
		printf "${format#* }" >"$T/x.txt"
		run -0 records "$T/x.txt"
		[ "${lines[1]}" = '2 2 {"text":"b"}' ]
		[ "${lines[3]}" = '4 5 {"text":"c"}' ]
		[ "${#lines[@]}" -eq 5 ]
	done
	printf 'a\tb\r1\t2\r3\t4' >"$T/x.tsv"
	run -0 records "$T/x.tsv"
	[ "${lines[1]}" = '3 8 {"a":"3","b":"4"}' ]
	printf 'a,b\r1,"x\ny"\r3,4\r' >"$T/x.csv"
	run -0 records "$T/x.csv"
	[ "${lines[0]}" = '2 4 {"a":"1","b":"x\ny"}' ]
	[ "${lines[1]##* }" = '{"a":"3","b":"4"}' ]
	printf '{"a":1}\r{"a":2}\r' >"$T/x.jsonl"
	run -0 records "$T/x.jsonl"
	[ "${lines[1]}" = '2 8 {"a":2}' ]
	# if the file has line feeds, a carriage return is part of the text
	printf 'a\rb\nc\n' >"$T/x.txt"
	run -0 records "$T/x.txt"
	[ "${lines[0]}" = '1 0 {"text":"a\rb"}' ]
	{ head -c 300000 /dev/zero | tr '\0' x; printf '\rlast'; } >"$T/x.txt"
	run -0 bash -c "records '$T/x.txt' | cut -c 1-40"
	[ "${lines[1]}" = '2 300001 {"text":"last"}' ]
}

@test "tsv: quoted values of a CSV writer are unquoted, other values are verbatim" {
	{
		printf 'a\tb\n'
		printf '"""Heroes""_(album)"\t1\n'
		printf '"a\tb"\t"""x"""\n'
		printf '"Hello," he said.\t"Hello."\n'
		printf '5"\t""\n'
		printf '"\t"x\n'
		printf '"We are fine.\tsaid he."\n'
	} >"$T/x.tsv"
	run -0 records "$T/x.tsv"
	diff <(printf '%s\n' "${lines[@]:0:6}" | cut -d' ' -f3-) - <<-'END'
		{"a":"\"Heroes\"_(album)","b":"1"}
		{"a":"a\tb","b":"\"x\""}
		{"a":"\"Hello,\" he said.","b":"\"Hello.\""}
		{"a":"5\"","b":""}
		{"a":"\"","b":"\"x"}
		{"a":"\"We are fine.","b":"said he.\""}
	END
	# if the header is quoted, every value may be
	printf '"a"\t"b"\n"Hello."\t"1"\n"x ""y"""\t2\n' >"$T/x.tsv"
	run -0 records "$T/x.tsv"
	[ "${lines[0]#* * }" = '{"a":"Hello.","b":"1"}' ]
	[ "${lines[1]#* * }" = '{"a":"x \"y\"","b":"2"}' ]
	printf 'a\tb\n1\t"two\nlines"\n' >"$T/x.tsv"
	run -1 --separate-stderr records "$T/x.tsv"
	[ "$stderr" = "records: $T/x.tsv:3: 1 fields where the header line has 2" ]
	printf 'a\tb\n"two\nlines"\t1\n' >"$T/x.tsv"
	run -1 --separate-stderr records "$T/x.tsv"
	[[ "$stderr" == "records: $T/x.tsv:2: 1 fields where the header line has 2; a value in quotes may have an end of line in it in CSV"* ]]
}

@test "csv, tsv: an unnamed column gets pandas' name; trailing commas add no column" {
	printf ',id,text\n0,a,x\n1,b,y\n' >"$T/x.csv"
	run -0 records "$T/x.csv"
	[ "${lines[1]#* * }" = '{"Unnamed: 0":"1","id":"b","text":"y"}' ]
	tr , '\t' <"$T/x.csv" >"$T/x.tsv"
	run -0 records "$T/x.tsv"
	[ "${lines[0]#* * }" = '{"Unnamed: 0":"0","id":"a","text":"x"}' ]
	printf ',Unnamed: 0,a\n0,5,x\n' >"$T/x.csv"
	run -0 records "$T/x.csv"
	[ "${lines[0]#* * }" = '{"Unnamed: 0.1":"0","Unnamed: 0":"5","a":"x"}' ]
	printf 'a,b\n1,2,\n\n3,4\n' >"$T/x.csv"
	run -0 records "$T/x.csv"
	[ "${lines[1]}" = '4 10 {"a":"3","b":"4"}' ]
	printf 'a,b,\n1,2,\n3,4\n' >"$T/x.csv"
	run -0 records "$T/x.csv"
	[ "${lines[1]#* * }" = '{"a":"3","b":"4","Unnamed: 2":""}' ]
	printf 'a,b\n1,2,3\n' >"$T/x.csv"
	run -1 --separate-stderr records "$T/x.csv"
	[ "$stderr" = "records: $T/x.csv:2: 3 fields where the header line has 2" ]
}

@test "datafile: the elements of a JSON array are the records, wherever lines end" {
	printf ' [\n {"a": "]}\\"",\n  "b": [1, {}]}\n ,{"a": 2}\n]\n' >"$T/x.json"
	run -0 records "$T/x.json"
	[ "${lines[0]}" = '2 4 {"a":"]}\"","b":[1,{}]}' ]
	[ "${lines[1]}" = '4 36 {"a":2}' ]
	[ "${lines[2]}" = 'repaired 0' ]
	gzip -c "$T/x.json" >"$T/x.json.gz"
	[ "$(records "$T/x.json.gz")" = "$output" ]
	[ "$(records - <"$T/x.json" jsonl)" = "$output" ]
	printf '[{"a":1},{"a":2}]' >"$T/x.json"
	[ "$(records - <"$T/x.json" | tail -n 2 | head -n 1)" = '1 9 {"a":2}' ]
	for nothing in '[]' '[ ]\n'; do
		printf "$nothing" >"$T/x.json"
		[ "$(records "$T/x.json")" = 'repaired 0' ]
	done
	{
		printf '[{"a":"'
		head -c 600000 /dev/zero | tr '\0' x
		printf '"},\n{"a":2}]'
	} >"$T/x.json"
	run -0 bash -c "records '$T/x.json' | cut -c 1-30"
	[ "${lines[1]}" = '2 600011 {"a":2}' ]
	while read -r line message; do
		printf '%b' "$line" >"$T/x.json"
		run -1 --separate-stderr records "$T/x.json"
		echo "$line: $stderr"
		[ "$stderr" = "records: $T/x.json:$message" ]
	done <<-'END'
		[{"a":1},] 1: not valid JSON: a value is expected
		[{"a":1},,{"a":2}] 1: not valid JSON: a value is expected
		[{"a":1}{"a":2}] 1: not valid JSON: a comma is expected
		[{"a":1}]\n5 2: not valid JSON: something follows the array
		[{"a":1}\n 2: the array of JSON is not closed; the file is cut short
		[{"a":1},\n5] 2: a JSON object is expected on each line
	END
}
