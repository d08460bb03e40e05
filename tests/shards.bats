#!/usr/bin/env bats
load helper

# What spreads over machines without any talk between them: parts of files and streams, and what puts together again
# what was made of each.

TINY=$GOLDEN/token/plain

# rows STREAM...: of all of them, as JSON
rows() {
	mts cat -q "$@" | mts to jsonl
}

# in_shards N FILE...: of tok's N shards all rows, as JSON; shard K is K.mts.  Shards that have other columns do not join.
in_shards() {
	local k n=$1
	for ((k = 1; k <= n; k++)); do
		tok -m "$TINY" --keep $options --shard "$k/$n" "${@:2}" -o "$k.mts" || return
	done
	rows $(seq -f %g.mts "$n")
}

# 1. tok --shard

@test "tok --shard: a line is of the part that its first byte lies in" {
	cd "$T"
	# of 20 bytes the parts begin at 0, 6, 13; lines at 0, 6, 7, 12, 18
	printf 'seaaa\n\nthe \nlamp \nof' >lines.txt
	[ "$(wc -c <lines.txt)" -eq 20 ]
	in_shards 3 lines.txt >/dev/null
	[ "$(mts to jsonl -c text 1.mts | jq -r .text | tr '\n' '|')" = "seaaa|" ]
	[ "$(mts to jsonl -c text 2.mts | jq -r .text | tr '\n' '|')" = "|the |lamp |" ]
	[ "$(mts to jsonl -c text 3.mts | jq -r .text | tr '\n' '|')" = "of|" ]
	# a border at a line end, and one byte behind it
	printf '1\n2\n3\n4\n' >lines.txt
	in_shards 4 lines.txt >/dev/null
	for k in 1 2 3 4; do
		[ "$(mts to jsonl -c text $k.mts)" = "{\"text\":\"$k\"}" ]
	done
}

# Files of 40 records with what a border may fall into: letters of several bytes, CRLF, a line that is longer than
# several parts, none at all, line ends and quotes inside quotes, no line end behind the last.
files() {
	local i word long
	long=$(printf 'lanterns%.0s' {1..90})
	for i in {1..40}; do
		word="the é 🚣 sea $i"
		((i % 13)) || word=$long
		printf '%s%s' "$word" "$( ((i % 7)) || printf '\r')" >>lines.txt
		printf '{"_id":"d%d","text":"%s","n":%d}' "$i" "$word" "$i" >>x.jsonl
		printf 'd%d\t%s\t%d\r' "$i" "$word" "$i" >>x.tsv
		printf 'd%d,"%s, ""so"" it\nis said\n\n",%d' "$i" "$word" "$i" >>x.csv
		((i == 40)) || for file in lines.txt x.jsonl x.tsv x.csv; do echo >>$file; done
		((i % 11)) || printf ' \n\n' >>x.jsonl
	done
	sed -i '1s/^/_id\ttext\tn\n/' x.tsv
	sed -i '1s/^/_id,text,"n, ""m"""\n/' x.csv
}

@test "tok --shard: of every format each record is in one part, in order, however many there are" {
	cd "$T"
	files
	for file in lines.txt x.jsonl x.tsv x.csv; do
		tok -m "$TINY" --keep $file | mts to jsonl >whole
		[ "$(wc -l <whole)" -eq 40 ]
		for n in 1 2 3 7 32 113; do
			in_shards $n $file >parts
			diff whole parts
		done
		# more parts than lines: some are empty, and streams nevertheless
		[ "$(for ((k = 1; k <= 113; k++)); do mts to jsonl $k.mts | grep -c . || true; done | grep -c '^0$')" -ge 73 ]
	done
	options="--format lines" in_shards 5 x.jsonl >parts
	tok -m "$TINY" --keep --format lines x.jsonl | mts to jsonl | diff - parts
}

@test "tok --shard: several files are cut as if they were one, each line of names left out" {
	cd "$T"
	files
	: >none.tsv
	printf '_id\ttext\tn\nlast\tof the sea\t3\n' >y.tsv
	head -n 1 x.tsv >names.tsv
	tok -m "$TINY" --keep names.tsv x.tsv none.tsv y.tsv x.tsv | mts to jsonl >whole
	[ "$(wc -l <whole)" -eq 81 ]
	for n in 1 2 3 17 90; do
		in_shards $n names.tsv x.tsv none.tsv y.tsv x.tsv | diff whole -
	done
}

@test "tok --shard: the first records of the file decide on the columns of all parts" {
	cd "$T"
	{
		printf '{"text":"sea","n":1,"only":"here","l":["a"]}\n'
		for i in {2..30}; do printf '{"text":"the sea","n":%d,"l":[]}\n' "$i"; done
		printf '{"text":"lamp","n":0.5,"l":[]}\n{"text":"lamp"}\n'
	} >x.jsonl
	in_shards 6 x.jsonl >parts
	tok -m "$TINY" --keep x.jsonl | mts to jsonl | diff - parts
	for k in 1 3 6; do
		mts head --json $k.mts | jq -c '[.columns[]? | .name + " " + .dtype]' | sed '/^\[\]/d' | sort -u
	done | uniq -c | grep '^ *3 \["text u8","n f64","only u8","l u8","text.ids i32"\]'
	# fields that are not named are those of the file, of parts without rows, too
	printf '{"query":"sea","document":"lamp"}\n' >y.jsonl
	in_shards 3 y.jsonl >/dev/null
	[ "$(mts head 3.mts | grep -c '^column.*ids')" -eq 2 ]
}

@test "tok --shard: ends of nothing: no file, no line, one line, a mark at the beginning and inside" {
	cd "$T"
	: >empty.txt
	[ -z "$(in_shards 3 empty.txt)" ]
	printf '_id\ttext\n' >names.tsv
	[ -z "$(in_shards 3 names.tsv)" ]
	printf 'sea' >one.txt
	[ "$(in_shards 5 one.txt | jq -r .text)" = sea ]
	# U+FEFF is no text at the beginning of a file, but elsewhere
	printf '\357\273\277sea\n\357\273\277sea\nlamp\n' >mark.txt
	tok -m "$TINY" --keep mark.txt | mts to jsonl >whole
	for n in 2 3; do in_shards $n mark.txt | diff whole -; done
	[ "$(jq -r .text whole | tr -d 'a-z\n' | wc -c)" -eq 3 ]
	# what is invalid is told by the part that has it
	for i in {1..9}; do printf 'the \377 sea\n'; done >bad.txt
	run -0 --separate-stderr tok -m "$TINY" --shard 2/3 bad.txt -o bad.mts
	[ "$stderr" = "tok: warning: bad.txt (shard 2/3): 3 invalid parts of UTF-8 were replaced by U+FFFD" ]
}

@test "tok --shard: the last part of a terabyte is there at once" {
	cd "$T"
	for i in {1..1100}; do printf 'the sea %d\n' "$i"; done >x.txt
	truncate -s 1T x.txt 2>/dev/null || skip "needs a file system with large files"
	printf '\n' >>x.txt
	seq -f 'lamp %g' 200000 >>x.txt
	timeout 20 tok -m "$TINY" --keep --shard 1000000/1000000 x.txt | mts to jsonl -c text | tail -n 1 | grep -c '"lamp 200000"'
}

@test "tok --shard: what cannot be cut is refused by its name" {
	cd "$T"
	printf 'the sea\nlamp\n' >x.txt
	for wrong in 0/4 5/4 3 /4 3/ a/b 3/0 -1/4 1/4/2 1/1000001 ''; do
		run -2 --separate-stderr tok -m "$TINY" --shard "$wrong" x.txt
		[ -z "$output" ]
		[[ $stderr == "tok: --shard: '$wrong' is not K/N, the K-th of N parts, as in 3/64: K is from 1 to N, "* ]]
	done
	run -2 --separate-stderr tok -m "$TINY" --shard 1/2 <x.txt
	[[ $stderr == "tok: --shard: standard input is not cut by its offsets: name the file"* ]]
	run -1 --separate-stderr tok -m "$TINY" --shard 1/2 x.txt absent.txt
	[ "$stderr" = "tok: absent.txt: No such file or directory" ]
	mkfifo pipe
	run -1 --separate-stderr timeout 10 tok -m "$TINY" --shard 1/2 x.txt pipe
	[ "$stderr" = "tok: pipe: is no regular file, in which --shard can go to an offset; write it to one, or deal out its lines (split -n r/K/N)" ]
	for pack in 'gzip -k' 'zstd -q'; do
		$pack x.txt
		file=$(ls x.txt.*)
		run -1 --separate-stderr tok -m "$TINY" --shard 2/2 "$file"
		[ "$stderr" = "tok: $file: is compressed, and --shard goes by offsets of the text; unpack it, or cut the stream that is made of it (mts split)" ]
		rm "$file"
	done
	tok -m "$TINY" x.txt -o x.mts
	run -1 --separate-stderr tok -m "$TINY" --shard 1/2 x.mts
	[ "$stderr" = "tok: x.mts: is a tensor stream, and --shard cuts text files; mts split -n 2 cuts this" ]
	says_nothing --shard tok -m "$TINY" --decode --shard 1/2 x.mts
	# lines count from the part's first, those that decide on the columns from the file's
	for i in {1..3000}; do ((i == 2002)) && echo '{"text":7' || echo '{"text":"sea"}'; done >bad.jsonl
	tok -m "$TINY" --shard 1/3 bad.jsonl -o 1.mts
	run -1 --separate-stderr tok -m "$TINY" --shard 3/3 bad.jsonl
	[[ $stderr == "tok: bad.jsonl (shard 3/3):2: not valid JSON"* ]]
	sed -i '30s/:.*/:/' bad.jsonl
	run -1 --separate-stderr tok -m "$TINY" --shard 3/3 bad.jsonl
	[[ $stderr == "tok: bad.jsonl:30: not valid JSON"* ]]
	printf 'PAR1\0\0\0\0' | cat - <(head -c 999 /dev/zero) >x.parquet
	run -1 --separate-stderr tok -m "$TINY" --shard 2/2 x.parquet
	[[ $stderr == "tok: x.parquet: not text but Parquet"* ]]
}

# 2. mts split

# x.mts of 100 rows in 5 records of 30, 0, 40, 1 and 29 rows, each with attributes of its own
stream() {
	local i rows
	for i in 30 0 40 1 29; do
		for ((rows = 0; rows < i; rows++)); do
			printf '{"id":%d,"text":"é %d","list":["%s","b"],"at":[%d,0.5],"good":%s}\n' \
				$((i * 100 + rows)) $rows $rows $rows "$( ((rows % 3)) && echo true || echo false)"
		done >"$i.jsonl"
		((i)) || { echo '{"id":1,"text":"","list":["a"],"at":[0.5],"good":true}' >0.jsonl; }
		mts from jsonl $i.jsonl | tok -m "$TINY" --keep --prompt "$i " >"$i.mts"
	done
	mts rows --rows 2- 0.mts >empty.mts
	cat 30.mts empty.mts 40.mts 1.mts 29.mts >x.mts
	mts cat x.mts >whole.mts
	[ "$(mts stat x.mts | grep -c '^records	4$')" -eq 1 ]
}

@test "mts split: as many rows in each, and cat has what there was, to the byte" {
	cd "$T"
	stream
	for n in 1 2 3 7 101; do
		mts split -n $n x.mts
		digits=${#n}
		((digits > 1)) || digits=2
		ls x.*.mts | diff - <(seq -f "x.%0${digits}g.mts" $n)
		mts cat x.*.mts >again.mts
		for column in id good; do
			mts to npy -c $column again.mts | cmp - <(mts to npy -c $column x.mts)
		done
		mts diff again.mts x.mts
		mts head --json -n 1000 again.mts | jq -c 'select(.row) | [.attributes, .values]' |
			cmp - <(mts head --json -n 1000 x.mts | jq -c 'select(.row) | [.attributes, .values]')
		mts head --json again.mts | jq -c 'select(.columns) | .columns, .properties' |
			cmp - <(mts head --json x.mts | jq -c 'select(.columns) | .columns, .properties')
		for part in x.*.mts; do mts stat --json $part; done | jq -e -s 'map(.rows) | add == 100 and max - min <= 1'
		rm x.*.mts
	done
	# whole records stay whole
	mts split -n 1 -o y x.mts
	[ "$(mts stat y.01.mts | grep ^records)" = "$(mts stat x.mts | grep ^records)" ]
}

@test "mts split: a pipe, another place and level, streams without rows" {
	cd "$T"
	stream
	mkdir parts
	mts split -n 3 -o parts/y --level 0 <x.mts
	mts split -n 3 -o parts/z --level 19 - < <(cat x.mts)
	for name in y z; do mts cat parts/$name.0[123].mts | mts diff - x.mts; done
	[ "$(stat -c %s parts/y.02.mts)" -gt "$(stat -c %s parts/z.02.mts)" ]
	[ "$(ls parts | wc -l)" -eq 6 ]
	cp x.mts odd.name
	mts split -n 2 odd.name
	mts cat odd.name.01.mts odd.name.02.mts | mts diff - x.mts
	mts split -n 2 -o none empty.mts
	mts cat none.01.mts none.02.mts | mts diff - empty.mts
	# each says how it came to be
	mts head -n 0 parts/y.02.mts | grep '^history.*mts split -n 3 -o parts/y --level 0$'
}

@test "mts split: all parts are there or none, and what was there before stays" {
	cd "$T"
	stream
	echo before >x.02.mts
	head -c 2500 x.mts >cut.mts
	cp cut.mts x.cut
	run -1 --separate-stderr mts split -n 3 -o x cut.mts
	[[ $stderr == "mts: cut.mts: "*"cut short"* ]]
	[ "$(ls x.0*)" = x.02.mts ]
	# the second pass fails, with parts written
	for i in {1..40}; do printf '{"text":"%0*d"}\n' $((i > 30 ? 20000 : 1)) $i; done | mts from jsonl -b 1 >large.mts
	run bash -c 'ulimit -f 100; exec mts split -n 4 --level 0 -o x large.mts'
	[ "$status" -ne 0 ]
	[ "$(ls x.0*)" = x.02.mts ]
	[ "$(cat x.02.mts)" = before ]
	mts split -n 4 --level 0 -o x large.mts
	[ "$(ls x.0* | wc -l)" -eq 4 ]
	[ "$(stat -c %s x.04.mts)" -gt 102400 ]
}

@test "mts split: usage" {
	cd "$T"
	stream
	says_nothing --json mts split -n 2 --json x.mts
	says_nothing --columns mts split -n 2 -c id x.mts
	for wrong in '' '-n 0' '-n 10000'; do
		run -2 --separate-stderr mts split $wrong x.mts
		[[ $stderr == "mts: split: -n says how many streams to make, 1 to 9999"* ]]
	done
	run -2 --separate-stderr mts split -n 2 <x.mts
	[[ $stderr == "mts: split: standard input has no name: -o PREFIX gives the parts one"* ]]
	run -2 --separate-stderr mts split -n 2 -o parts/ x.mts
	[[ $stderr == "mts: split: -o: 'parts/' does not end in a name"* ]]
	run -2 mts split -n 2 x.mts x.mts
	run -1 --separate-stderr mts split -n 2 -o none/y x.mts
	[[ $stderr == "mts: none/y.01.mts."* ]]
	[ -z "$(ls x.0* 2>/dev/null)" ]
}
