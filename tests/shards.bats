#!/usr/bin/env bats
load helper

# Work on several machines without communication: parts of files and streams, and programs that merge their results.

TINY=$GOLDEN/token/plain

# rows STREAM...: the rows of all streams, as JSON
rows() {
	mts cat -q "$@" | mts to jsonl
}

# in_shards N FILE...: the rows of tok's N shards K.mts, as JSON; shards with different columns are an error
in_shards() {
	local k n=$1
	for ((k = 1; k <= n; k++)); do
		tok -m "$TINY" --keep $options --shard "$k/$n" "${@:2}" -o "$k.mts" || return
	done
	rows $(seq -f %g.mts "$n")
}

# 1. tok --shard

@test "tok --shard: a line belongs to the part with its first byte" {
	cd "$T"
	# of 20 bytes the parts begin at 0, 6 and 13; the lines begin at 0, 6, 7, 12 and 18
	printf 'seaaa\n\nthe \nlamp \nof' >lines.txt
	[ "$(wc -c <lines.txt)" -eq 20 ]
	in_shards 3 lines.txt >/dev/null
	[ "$(mts to jsonl -c text 1.mts | jq -r .text | tr '\n' '|')" = "seaaa|" ]
	[ "$(mts to jsonl -c text 2.mts | jq -r .text | tr '\n' '|')" = "|the |lamp |" ]
	[ "$(mts to jsonl -c text 3.mts | jq -r .text | tr '\n' '|')" = "of|" ]
	# a border at the end of a line, and one byte after it
	printf '1\n2\n3\n4\n' >lines.txt
	in_shards 4 lines.txt >/dev/null
	for k in 1 2 3 4; do
		[ "$(mts to jsonl -c text $k.mts)" = "{\"text\":\"$k\"}" ]
	done
}

# Files of 40 records with everything that a border may fall into: characters of several bytes, CRLF, a line longer than several
# parts, an empty line, line ends and quotes inside quotes, a last line without an end.
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

@test "tok --shard: in every format each record is in one part, in order, for any number of parts" {
	cd "$T"
	files
	for file in lines.txt x.jsonl x.tsv x.csv; do
		tok -m "$TINY" --keep $file | mts to jsonl >whole
		[ "$(wc -l <whole)" -eq 40 ]
		for n in $(printf '%s\n' 1 2 3 7 32 113 | thin 5); do
			in_shards $n $file >parts
			diff whole parts
		done
		# more parts than lines: some streams have no rows
		[ "$(for ((k = 1; k <= 113; k++)); do mts to jsonl $k.mts | grep -c . || true; done | grep -c '^0$')" -ge 73 ]
	done
	options="--format lines" in_shards 5 x.jsonl >parts
	tok -m "$TINY" --keep --format lines x.jsonl | mts to jsonl | diff - parts
}

@test "tok --shard: lines may end in carriage returns; a JSON array is refused" {
	for ((i = 0; i < 100; i++)); do printf '{"text":"sea %s"}\r' "$i"; done >cr.jsonl
	{ printf 'id\ttext\r'; for ((i = 0; i < 100; i++)); do printf '%s\tsea\r' "$i"; done; } >cr.tsv
	for file in cr.jsonl cr.tsv; do
		for part in 1 2 3; do
			tok -m "$TINY" --keep --shard $part/3 $file >$part.mts
			[ "$(mts stat --json $part.mts | jq .rows)" -ge 30 ]
		done
		tok -m "$TINY" --keep $file >all.mts
		cmp <(mts cat ?.mts | mts to jsonl) <(mts to jsonl all.mts)
	done
	tr '\r' '\n' <cr.jsonl | jq -s . >array.json
	run -1 --separate-stderr tok -m "$TINY" --shard 1/2 array.json
	[[ $stderr == "tok: array.json: is an array of JSON, and --shard cuts lines"* ]]
}

@test "tok --shard: several files are divided as one, their header lines excluded" {
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

@test "tok --shard: the first records of the file decide the columns of every part" {
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
	# default fields come from the file, also in parts without rows
	printf '{"query":"sea","document":"lamp"}\n' >y.jsonl
	in_shards 3 y.jsonl >/dev/null
	[ "$(mts head 3.mts | grep -c '^column.*ids')" -eq 2 ]
}

@test "tok --shard: an empty file, a single line, and byte order marks at the beginning and inside" {
	cd "$T"
	: >empty.txt
	[ -z "$(in_shards 3 empty.txt)" ]
	printf '_id\ttext\n' >names.tsv
	[ -z "$(in_shards 3 names.tsv)" ]
	printf 'sea' >one.txt
	[ "$(in_shards 5 one.txt | jq -r .text)" = sea ]
	# U+FEFF is not text at the beginning of a file, and is elsewhere
	printf '\357\273\277sea\n\357\273\277sea\nlamp\n' >mark.txt
	tok -m "$TINY" --keep mark.txt | mts to jsonl >whole
	for n in 2 3; do in_shards $n mark.txt | diff whole -; done
	[ "$(jq -r .text whole | tr -d 'a-z\n' | wc -c)" -eq 3 ]
	# the part that has an invalid row reports it
	for i in {1..9}; do printf 'the \377 sea\n'; done >bad.txt
	run -0 --separate-stderr tok -m "$TINY" --shard 2/3 bad.txt -o bad.mts
	[ "$stderr" = "tok: warning: bad.txt (shard 2/3): 3 invalid parts of UTF-8 were replaced by U+FFFD" ]
}

@test "tok --shard: the last part of a terabyte starts at once" {
	cd "$T"
	printf 'the sea %d\n' {1..1100} >x.txt
	truncate -s 1T x.txt 2>/dev/null || skip "needs a file system with large files"
	printf '\n' >>x.txt
	seq -f 'lamp %g' 200000 >>x.txt
	timeout 300 tok -m "$TINY" --keep --shard 1000000/1000000 x.txt | mts to jsonl -c text | tail -n 1 | grep -c '"lamp 200000"'
}

@test "tok --shard: input that cannot be divided is refused by its name" {
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
	run -1 --separate-stderr timeout 300 tok -m "$TINY" --shard 1/2 x.txt pipe
	[ "$stderr" = "tok: pipe: is not a regular file, in which --shard can go to an offset; write it to one, or deal out its lines (split -n r/K/N)" ]
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
	does_not_apply --shard tok -m "$TINY" --decode --shard 1/2 x.mts
	# line numbers count from the part's first line; in lines that decide the columns from the file's
	printf '{"text":"sea"}\n%.0s' {1..3000} | sed '2002s/.*/{"text":7/' >bad.jsonl
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

# x.mts: 100 rows in 5 records of 30, 0, 40, 1 and 29 rows, each with its own attributes
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

@test "mts split: parts have equal numbers of rows, and mts cat restores the stream to the byte" {
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
	mts split -n 3 -o y x.mts
	[ "$(for part in y.0*; do mts stat --json $part | jq .rows; done | paste -sd' ')" = "33 33 34" ]
	# complete records stay complete
	mts split -n 1 -o y x.mts
	[ "$(mts stat y.01.mts | grep ^records)" = "$(mts stat x.mts | grep ^records)" ]
}

@test "mts split: reads a pipe, writes elsewhere at another level, divides streams without rows" {
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
	# each part has its own history
	mts head -n 0 parts/y.02.mts | grep '^history.*mts split -n 3 -o parts/y --level 0$'
}

@test "mts split: writes all parts or none, and does not replace files" {
	cd "$T"
	stream
	echo before >x.02.mts
	head -c 2500 x.mts >cut.mts
	cp cut.mts x.cut
	run -1 --separate-stderr mts split -n 3 -o x cut.mts
	[[ $stderr == "mts: cut.mts: "*"cut short"* ]]
	[ "$(ls x.0*)" = x.02.mts ]
	# the second pass fails when parts have been written
	for i in {1..40}; do printf '{"text":"%0*d"}\n' $((i > 30 ? 20000 : 1)) $i; done | mts from jsonl --record-rows 1 >large.mts
	run bash -c 'ulimit -f 100; exec mts split -n 4 --level 0 -o x large.mts'
	[ "$status" -ne 0 ]
	[ "$(ls x.0*)" = x.02.mts ]
	[ "$(cat x.02.mts)" = before ]
	mts split -n 4 --level 0 -o x large.mts
	[ "$(ls x.0* | wc -l)" -eq 4 ]
	[ "$(stat -c %s x.04.mts)" -gt 102400 ]
}

@test "mts split: ten thousand parts of three rows are complete streams" {
	cd "$T"
	printf '{"n": %s}\n' 1 2 3 | mts from jsonl --record-rows 1 >x.mts
	mkdir parts
	mts split -n 9996 -o parts/x x.mts
	[ "$(find parts -name 'x.*.mts' | wc -l)" -eq 9996 ]
	[ "$(find parts -name 'x.*.mts' | LC_ALL=C sort | xargs cat | mts cat | mts to jsonl)" = "$(mts to jsonl x.mts)" ]
	rm -r parts
}

@test "mts split: usage errors exit 2" {
	cd "$T"
	stream
	does_not_apply --json mts split -n 2 --json x.mts
	does_not_apply --columns mts split -n 2 -c id x.mts
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
	[[ $stderr == "mts: none/y.01.mts: "* ]]
	[ -z "$(ls x.0* 2>/dev/null)" ]
}

# 3. near --merge

# corpus: q.mts, and c.mts with many equal documents; 1.mts, 2.mts and 3.mts have some of each
corpus() {
	seeded_awk 'BEGIN { srand(5); for (i = 0; i < 6; i++) printf "{\"_id\":\"q%d\",\"text\":\"query %d\",\"text.emb\":[%f,%f,%f]}\n",
		i, i, rand() - 0.5, rand() - 0.5, rand() - 0.5 }' | mkstream >q.mts
	# of five documents two are equal to others, anywhere, and three have others' direction and greater length
	seeded_awk 'BEGIN { srand(7); for (i = 0; i < 300; i++) { if (i % 5 < 2) k = 1 + int(6 * rand()); else k = 1 + rand()
			printf "{\"_id\":\"d%d\",\"n\":%d,\"text\":\"document \\\"%d\\\"\",\"text.emb\":[%f,%f,%f]}\n",
				(i * 7919) % 1000, (i * 7919) % 1000, i, k * 0.25, (k % 3) - 1.5, 1 - k / 4 } }' >c.jsonl
	mkstream <c.jsonl >c.mts
	split -n l/3 --numeric-suffixes=1 -a 1 c.jsonl part
	for k in 1 2 3; do mkstream <part$k >$k.mts; done
}

@test "near --merge: runs over shards make the run over all, to the byte, also with ties" {
	cd "$T"
	corpus
	while IFS=: read -r options merge; do
		near $options q.mts c.mts >whole
		for k in 1 2 3; do near $options q.mts $k.mts >$k.run; done
		near --merge $merge 1.run 2.run 3.run | cmp - whole
		near --merge $merge 3.run - 2.run <1.run >turned
		cmp turned whole
		# two of three runs first, then the third: the order has no effect
		near --merge $merge 2.run 1.run -o some.run
		near --merge $merge some.run 3.run | cmp - whole
		near --merge $merge whole | cmp - whole
	done <<-E
		--run -:
		-k 7 --run -:
		-k 40 --similarity dot --run -:
		--json:
		--json -k 3:
		--json -k 200 --threshold 0.2:-k 200
	E
	# there were ties, across lists and shards
	near -k 7 --run - q.mts c.mts >whole
	[ "$(cut -f1,5 whole | sort | uniq -d | wc -l)" -gt 5 ]
	near -k 8 --run - q.mts c.mts | awk -F'\t' '$4 == 7 { score = $5 } $4 == 8 && $5 == score { n++ } END { exit !(n > 1) }'
	gzip -k 2.run
	near --merge 1.run 2.run.gz 3.run | cmp - <(near --merge 1.run 2.run 3.run)
	# fewer hits
	for k in 1 2 3; do near --run $k.run q.mts $k.mts; done
	near --merge -k 7 1.run 2.run 3.run | cmp - whole
	for k in 1 2 3; do near --json -k 9 q.mts $k.mts >$k.json; done
	near --merge -k 7 1.json 2.json 3.json | cmp - <(near --json -k 7 q.mts c.mts)
	near --merge 1.json 2.json 3.json | cmp - <(near --json -k 9 q.mts c.mts)
}

@test "near --merge: queries without hits in a shard, integer ids, and runs of mteb-score" {
	cd "$T"
	corpus
	# the last shard has no hit for some queries; the first shard has one for all that have any
	options="-k 5 --threshold 0.7 --run -"
	near $options q.mts c.mts >whole
	for k in 1 2 3; do near $options q.mts $k.mts >$k.run; done
	head -n 7 3.run >few.run
	[ "$(cut -f1 few.run | sort -u | wc -l)" -lt "$(cut -f1 1.run | sort -u | wc -l)" ]
	near --merge 1.run 2.run few.run >out
	near --merge few.run 1.run 2.run | sort | cmp - <(sort out)
	near --merge 1.run 2.run 3.run | cmp - whole
	near -k 9 --exclude-self --run - c.mts c.mts >whole
	for k in 1 2 3; do near -k 9 --exclude-self --run - c.mts $k.mts >$k.run; done
	near --merge 1.run 2.run 3.run | cmp - whole
	for name in c 1 2 3; do mts cat -c n,text.emb --rename n=id $name.mts >n$name.mts; done
	near --json -k 20 q.mts nc.mts >whole
	[ "$(head -n 1 whole | jq -c '[.id, (.hits[0].id | type)]')" = '["q0","number"]' ]
	for k in 1 2 3; do near --json -k 20 q.mts n$k.mts >$k.run; done
	near --merge 1.run 2.run 3.run | cmp - whole
	jq -r '._id as $id | range(6) | ["q\(.)", 0, $id, 1] | @tsv' c.jsonl >qrels.tsv
	for k in 1 2 3; do
		mteb-score -q retrieval --qrels qrels.tsv --run $k.run q.mts $k.mts >scores
	done
	near --merge 1.run 2.run 3.run | cmp - <(near --run - q.mts c.mts)
	# runs of other programs
	for k in 1 2 3; do near -k 20 --run - q.mts $k.mts | sed 's/motes:.*/bm25/' >$k.run; done
	near --merge 1.run 2.run 3.run | cut -f1-5 | cmp - <(near -k 20 --run - q.mts c.mts | cut -f1-5)
	near --merge 1.run 2.run 3.run | cut -f6 | sort -u | grep -x motes
}

@test "near --merge: runs that do not belong together are refused by name" {
	cd "$T"
	corpus
	refused() { # MESSAGE RUN...
		run -1 --separate-stderr near --merge "${@:2}"
		echo "$stderr"
		[ "$stderr" = "near: $1" ]
		[ -z "$output" ]
	}
	for k in 1 2 3; do
		near --run $k.run q.mts $k.mts
		near --json q.mts $k.mts >$k.json
	done
	grep -v ^q4 2.run >less.run
	refused "less.run: it lacks the query 'q4', which 1.run has; runs that are merged are of the same queries" 1.run 3.run less.run
	refused "less.run: it lacks the query 'q4', which 1.run has; runs that are merged are of the same queries" less.run 1.run
	sed 's/^q4/q9/' 2.run >other.run
	refused "other.run: it lacks the query 'q4', which 1.run has; runs that are merged are of the same queries" 1.run other.run
	grep -v '"q4"' 2.json >less.json
	refused "less.json: it lacks the query 'q4', which 1.json has; runs that are merged are of the same queries" 1.json less.json
	sed 's/query 4/query four/' 2.json >other.json
	refused "other.json: its query 'q4' has another text than that of 1.json" 1.json other.json
	twice="is also in a run before it; shards must not share rows, and rows without ids are numbered from 1 in each"
	run -1 --separate-stderr near --merge 1.run 2.run 2.run
	[[ $stderr == "near: 2.run: its document 'd"*"' $twice" ]]
	for k in 1 2; do mts cat -c text.emb $k.mts | near --json q.mts - >bare$k.json; done
	run -1 --separate-stderr near --merge bare1.json bare2.json
	[[ $stderr == "near: bare2.json: its document '"*"' $twice" ]]
	sed 's/"hits":\[{"id":"d[0-9]*"/"hits":[{"id":7/' 2.json >mixed.json
	refused "mixed.json:1: some ids are numbers, others text" 1.json mixed.json
	mts cat -c n,text.emb --rename n=id 2.mts | near --json q.mts - >numbers.json
	refused "numbers.json: its documents' ids are numbers, unlike those of the runs before it" 1.json numbers.json
	refused "2.json: it is lines of JSON, and not columns of TREC as those before it; runs that are merged are all of one kind" 1.run 2.json
	refused "2.run: it is no lines of JSON, as those before it are; runs that are merged are all of one kind" 1.json 2.run
	near --similarity dot --run dot.run q.mts 2.mts
	near --threshold 0 --run threshold.run q.mts 2.mts
	near --exclude-self --run self.run q.mts 2.mts
	sed 's/motes:.*/motes/' 2.run >unknown.run
	for name in dot threshold self unknown; do
		refused "$name.run: its tag names other settings of the search than 1.run (--similarity, --threshold, --exclude-self)" 1.run $name.run
	done
	near -k 5 --run five.run q.mts 2.mts
	refused "five.run: by its tag it has the best 5 documents of each query, and 1.run the best 1000; -k 5 takes what both have" 1.run five.run
	near --merge -k 5 1.run five.run | cmp - <(near -k 5 --run - q.mts 1.mts 2.mts)
	refused "five.run: by its tag it has the best 5 documents of each query, and not 6 (-k)" -k 6 1.run five.run
	head -c 300 2.json >cut.json
	run -1 --separate-stderr near --merge 1.json cut.json
	[[ $stderr == "near: cut.json:1: not valid JSON"* ]]
	: >empty.run
	refused "empty.run: there is nothing in it; leave out the run of a part in which nothing was found" empty.run 1.run
	echo '{"id":"q0"}' >no.json
	refused "no.json:1: there is no list 'hits'" no.json
	echo '{"id":"q0","hits":[{"id":"d1","score":null}]}' >no.json
	refused "no.json:1: a hit has no score that is a number" no.json
	echo '{"id":"q0","hits":[{"score":1}]}' >no.json
	refused "no.json:1: expected what near --json writes: a query's 'id', and 'hits' with an 'id' each" no.json
	printf '{"id":"q0","hits":[]}\n{"id":"q0","hits":[]}\n' >no.json
	refused "no.json:2: a query is there for the second time" no.json
	echo '{"id":"q0","hits":[{"id":"d1","score":1},{"id":"d1","score":1}]}' >no.json
	refused "no.json: a query has a document twice" no.json
	run -2 --separate-stderr near --merge
	[[ $stderr == "near: --merge takes runs, a file each"* ]]
	run -2 --separate-stderr near --merge - 1.run -
	[[ $stderr == "near: standard input can be read only once"* ]]
	does_not_apply --json near --merge --json 1.run
	does_not_apply --threshold near --merge --threshold 0.5 1.run
	echo before >out
	run -1 near --merge 1.run 1.run -o out
	[ "$(cat out)" = before ]
}

# 4. reze-stats

@test "reze-stats: merged statistics of tok's shards equal the statistics of the whole" {
	cd "$T"
	export M=$GOLDEN/bert
	words=(the a red green blue boat sats on under over river sky swims flies and or not old new small great)
	for i in {0..149}; do
		printf '{"query":"%s %s","document":"%s %s %s","dataset":"set %d"}\n' "${words[i % 21]}" "${words[i * 5 % 19]}" \
			"${words[i * 3 % 20]}" "${words[i * i % 21]}" "${words[i % 4]}" $((i % 4))
	done >pairs.jsonl
	tok -m "$M" pairs.jsonl | encode -m "$M" >pairs.mts
	reze-stats fit -q pairs.mts -o whole.stats
	for k in {1..5}; do
		tok -m "$M" --shard $k/5 pairs.jsonl | encode -m "$M" | reze-stats fit -q --partial -o $k.stats
	done
	reze-stats merge -q [1-5].stats -o merged.stats
	for columns in mean,source.mean,covariance,eigenvalue,dispersion,band,shrink; do
		mts cat -c $columns merged.stats | mts diff --atol 1e-14 - <(mts cat -c $columns whole.stats)
	done
	for name in whole merged; do reze-stats apply --dtype f64 $name.stats pairs.mts -o $name.mts; done
	mts diff --atol 1e-12 merged.mts whole.mts
	# without one of them
	reze-stats merge -q [1-4].stats | run -1 mts diff --atol 1e-3 - whole.stats
}

# 5. motes-cluster(7): its commands with a small model and few parts

# page: blocks 1, 2, ... of the page as example.N; 60 texts, and the result of one command as whole.mts
page() {
	cd "$T" || return
	M=$GOLDEN/bert
	awk '/^\.Bd -literal -offset/ { on = 1; n++; next } /^\.Ed/ { on = 0 } on { gsub(/\\e/, "\\"); print >("example." n) }' \
		"$ROOT/man/motes-cluster.7"
	sed -i "s|MODEL|$M|g; s/1024/8/g" example.*
	for i in {1..60}; do
		printf '{"_id":"t%d","text":"the boat %d sails under the sky"}\n' $i $i
	done >texts.jsonl
	tok -m "$M" texts.jsonl | encode -m "$M" >whole.mts
	mts to npy -c text.emb whole.mts -o whole.npy
}

# the_same STREAM: its vectors and ids are those of the whole, to the byte
the_same() {
	mts to npy -c text.emb "$1" | cmp - whole.npy
	mts to jsonl -c _id "$1" | cmp - <(mts to jsonl -c _id whole.mts)
}

# failing NAME WORD...: a stand-in for the program NAME, which lists its calls in the file calls, and fails if its arguments
# contain one of the words while a file broken exists
failing() {
	mkdir -p fail
	{
		printf '#!/bin/bash\necho "$*" >>%q\n' "$T/calls"
		printf '[[ ! -e %q || " $* " != *%q* ]] || { cat >/dev/null; exit 1; }\n' $(for word in "${@:2}"; do echo "$T/broken" "$word"; done)
		printf 'exec %q "$@"\n' "$(command -v "$1")"
	} >"fail/$1"
	chmod +x "fail/$1"
	touch broken
	: >calls
}

@test "motes-cluster: GNU parallel gives the result of one command and repeats failed jobs" {
	parallel --version 2>/dev/null | grep -c '^GNU parallel' || skip "needs GNU parallel"
	page
	export HOME=$T
	mkdir .parallel && touch .parallel/will-cite
	bash -eo pipefail example.1
	the_same texts.mts
	rm -r parts embed.log texts.mts
	failing encode /5.mts /16.mts
	run ! env PATH="$T/fail:$PATH" bash -eo pipefail example.1
	[ "$(ls parts | wc -l)" -eq 14 ]
	[ ! -e texts.mts ]
	rm broken
	PATH=$T/fail:$PATH bash -eo pipefail example.2
	[ "$(wc -l <calls)" -eq 18 ]
	mts cat $(seq -f parts/%g.mts 16) >texts.mts
	the_same texts.mts
	rm -r parts
	mkdir parts
	zstd -q texts.jsonl
	bash -eo pipefail example.3
	the_same texts.mts
}

# bats test_tags=plain
@test "motes-cluster: SciFact's corpus in 16 parts by GNU parallel has the vectors of one run" {
	parallel --version 2>/dev/null | grep -c '^GNU parallel' || skip "needs GNU parallel"
	[ -e "$ROOT/share/models/base/model.safetensors" ] || skip "needs make base-model"
	[[ $BUILD != *-sanitize ]] || skip "minutes of encoding, sanitized"
	need_data retrieval/scifact/corpus.jsonl.zst
	cd "$T"
	zstd -dqo corpus.jsonl "$DATA/retrieval/scifact/corpus.jsonl.zst"
	export HOME=$T options="-f text=title+text --max-length 24" M=$ROOT/share/models/base
	mkdir .parallel && touch .parallel/will-cite
	tok -q -m "$M" $options corpus.jsonl | encode -q -m "$M" -o whole.mts
	parallel -j 2 'tok -q -m $M $options --shard {}/16 corpus.jsonl | encode -q -j 1 -m $M -o {}.mts' ::: {1..16}
	mts cat {1..16}.mts -o all.mts
	[ "$(mts stat --json all.mts | jq .rows)" -eq 5183 ]
	for name in whole all; do mts to npy -c text.emb $name.mts -o $name.npy; done
	cmp whole.npy all.npy
	mts diff all.mts whole.mts
}

@test "motes-cluster: the parts of an array job; only missing ones are repeated" {
	page
	mv example.4 embed.sh
	chmod +x embed.sh
	grep -q '^#SBATCH --array=1-8 ' embed.sh
	array() { # NUMBER...: stands in for sbatch
		for k in "$@"; do SLURM_ARRAY_TASK_ID=$k SLURM_CPUS_PER_TASK=2 ./embed.sh 2>/dev/null || echo "$k failed"; done
	}
	failing encode /0003.mts /0008.mts
	[ "$(PATH=$T/fail:$PATH array {1..8} | paste -sd' ')" = "3 failed 8 failed" ]
	[ "$(ls parts | paste -sd' ')" = "0001.mts 0002.mts 0004.mts 0005.mts 0006.mts 0007.mts" ]
	printf '#!/bin/sh\necho "$@" >%s/submitted\n' "$T" >fail/sbatch
	chmod +x fail/sbatch
	PATH=$T/fail:$PATH bash -eo pipefail example.5
	[ "$(cat submitted)" = "--array=3,8 embed.sh" ]
	rm broken submitted
	: >calls
	[ -z "$(PATH=$T/fail:$PATH array {1..8})" ]
	[ "$(wc -l <calls)" -eq 2 ]
	PATH=$T/fail:$PATH bash -eo pipefail example.5
	[ ! -e submitted ]
	mts cat parts/*.mts >texts.mts
	the_same texts.mts
}

@test "motes-cluster: make keeps the list of parts, RUN starts the commands; parts of a search and of statistics" {
	page
	mv example.6 Makefile
	recorder
	failing encode /0002.mts
	run ! env -u MAKEFLAGS PATH="$T/fail:$PATH" make -s -k RUN="$T/record"
	[ "$(ls parts | wc -l)" -eq 7 ]
	[ "$(wc -l <ran)" -eq 8 ]
	rm broken
	: >ran
	PATH=$T/fail:$PATH env -u MAKEFLAGS make -s -k RUN="$T/record"
	grep -c -- '--shard 0002/8 ' ran
	[ "$(wc -l <ran)" -eq 1 ]
	the_same texts.mts
	env -u MAKEFLAGS make -q
	tok -m "$M" --prompt 'under ' <<<"the sky" | encode -m "$M" | mts paste - <(echo '{"_id":"q"}' | mts from jsonl) >queries.mts
	bash -eo pipefail example.7
	near -k 100 --run - queries.mts whole.mts | cmp - all.run
	[ "$(wc -l <all.run)" -eq 60 ]
	local words=(the a red green blue boat sats on under over river sky swims flies and or not old new small great)
	for i in {1..30}; do
		printf '{"query":"%s %s","document":"%s %s","dataset":"%d"}\n' "${words[i % 21]}" "${words[i * 5 % 19]}" "${words[i * 3 % 20]}" \
			"${words[i * i % 21]}" $((i % 3))
	done >pairs.jsonl
	bash -eo pipefail example.8
	reze-stats show --json all.stats | jq -e '.relations == 30'
	# the other blocks need a cluster and data
	grep -c '^sbatch .*--ntasks=32' example.9 | grep -x 1
	grep -c '^make .*RUN=' example.10 | grep -x 2
	[ ! -e example.11 ]
}

@test "pipelines: rules that train, encode or score have RUN before their shell, others do not" {
	cd "$T"
	env -u MAKEFLAGS make -C "$ROOT" -pn RUN='srun -c 8' OUT=o LR=1e-4 help 2>/dev/null |
		sed -n 's/^HEAVY := //p' | tr ' ' '\n' | sort -u >through
	sort - <<-'END' | diff through -
		o/base/mlm/model.safetensors
		o/base/run/base-more/model.safetensors
		o/base/run/base/model.safetensors
		o/base/run/documents/model.safetensors
		o/base/run/more-documents/model.safetensors
		o/demo/dictionary/%-adapter.mts
		o/demo/dictionary/%.mts
		o/demo/packages/%-adapter.mts
		o/demo/packages/%.mts
		o/demo/packages/adapter/adapter_config.json
		o/demo/packages/questions.mts
		o/demo/packages/rerank/%.mts
		o/demo/packages/rerank/%.run
		o/demo/packages/rerank/hard.jsonl
		o/demo/packages/rerank/model/config.json
		o/demo/questions.mts
		o/demo/routed/%.mts
		o/demo/words.mts
		o/descriptions/%/kept.txt
		o/descriptions/%/words.mts
		o/moee/model/%/config.json
		o/moee/small/model/texts/%.mts
		o/mote/experts/mlm/models/%/config.json
		o/mote/small/mlm/models/%/config.json
		o/mote/small/mlm/test/1e-4/similarity-%.tsv
		o/reze/small/mlm/1e-4/models/%/config.json
		o/reze/small/mlm/1e-4/pre/%/config.json
		o/reze/small/mlm/1e-4/views/%.mts
		o/reze/small/mlm/statistics/%/all.mts
		o/routerretriever/small/base/1e-4/embedded/%.mts
		o/routerretriever/small/base/1e-4/gates/%/adapter_config.json
		o/routerretriever/small/base/1e-4/knowledge/%.tsv
		o/routerretriever/small/base/1e-4/single/%.tsv
		o/routerretriever/small/base/corpus/%.mts
		o/routerretriever/small/base/learned/%.mts
		o/routerretriever/small/base/told/%.mts
	END
}

@test "motes-cluster: one-device: two commands never share a GPU; the status is the command's" {
	cd "$T"
	cat >use <<-'END'
		mkdir "$T/at-$CUDA_VISIBLE_DEVICES" || echo "$CUDA_VISIBLE_DEVICES is taken"
		sleep 0.1
		rmdir "$T/at-$CUDA_VISIBLE_DEVICES"
		echo "$CUDA_VISIBLE_DEVICES"
	END
	export T TMPDIR=$T DEVICES="0 3"
	for n in {1..5}; do "$ROOT/share/cluster/one-device" bash use >"told.$n" & done
	wait
	sort -u told.* | diff - <(printf '0\n3\n')
	run -7 "$ROOT/share/cluster/one-device" bash -c 'exit 7'
	# RUN of a pipeline, which starts shells
	printf 'SHELL := %s /bin/bash\nall:\n\t@echo on $$CUDA_VISIBLE_DEVICES\n' "$ROOT/share/cluster/one-device" >Makefile
	[ "$(make -s)" = "on 0" ]
}

@test "mts split: a message names the part, not its temporary file; a folder in a part's place stops it before any is there" {
	cd "$T"
	stream_make 3 4 2 x.mts
	run -1 --separate-stderr mts split -n 2 -o none/y x.mts
	[ "$stderr" = "mts: none/y.01.mts: No such file or directory" ]
	mkdir y.02.mts
	run -1 --separate-stderr mts split -n 3 -o y x.mts
	[[ $stderr == "mts: y.02.mts: it is a folder, in the place of a part; "* ]]
	[ "$(echo y.*)" = y.02.mts ]
}
