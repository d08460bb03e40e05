#!/usr/bin/env bats
load helper

setup() {
	cd "$T" || return
	cat >notes.tsv <<-'END'
		id	label	score
		0704.0001	joy	4
		0704.0002	anger	2.5
		704.0001	joy	1
		b	joy	10
		c	fear	-3
	END
	mts from tsv --numbers score --record-rows 2 notes.tsv >notes.mts
}
rows() { mts rows "$@"; }
# ids OPTION...: the ids of the selected rows, on one line
ids() {
	mts rows "$@" | mts to tsv -c id | tail -n +2 | xargs
}
# count COUNT ROWS: a column n of 1 to COUNT in records of ROWS
count() {
	{ echo n; seq "$1"; } | mts from tsv --numbers n --record-rows "$2"
}
chosen() {
	mts rows "$@" | mts to tsv -c n | tail -n +2 | xargs
}

# 1. the known answer

@test "mts rows: --where, --rows and --sort work together" {
	run -0 bash -c "mts rows --where label=joy --where 'score>=1' --rows 2- --sort -score notes.mts | mts to jsonl"
	[ "$output" = '{"id":"b","label":"joy","score":10}
{"id":"704.0001","label":"joy","score":1}' ]
}

@test "mts rows: selected rows keep every kind of column unchanged" {
	stream_make 3 10 4 a.mts
	mts to jsonl a.mts >all.jsonl
	local odd=1,3,5,7,9,11,13,15,17,19,21,23,25,27,29
	awk 'NR % 2' all.jsonl | cmp - <(mts rows --rows $odd a.mts | mts to jsonl)
	sed -n '4,17p' all.jsonl | cmp - <(mts rows --rows 4-17 a.mts | mts to jsonl)
	mts rows a.mts | mts diff - a.mts
	# also if they are sorted through a temporary file
	jq -c . all.jsonl | jq -sc 'sort_by(.id) | .[]' | cmp - <(mts rows --sort id a.mts | mts to jsonl | jq -c .)
	awk 'NR % 2' all.jsonl | jq -c . | jq -sc 'sort_by(-.id) | .[]' |
		cmp - <(mts rows --rows $odd --sort -id a.mts | mts to jsonl | jq -c .)
	mts rows --sample 30 a.mts | mts diff - a.mts
}

@test "mts rows: a text is compared as text, a number by value" {
	[ "$(ids --where id=0704.0001 notes.mts)" = 0704.0001 ]
	[ "$(ids --where id=704.0001 notes.mts)" = 704.0001 ]
	[ "$(ids --where id==b notes.mts)" = b ]
	[ "$(ids --where 'id != b' --where 'id!=c' notes.mts)" = '0704.0001 0704.0002 704.0001' ]
	[ "$(ids --where score=4.0 notes.mts)" = 0704.0001 ]
	[ "$(ids --where 'score<2.5' notes.mts)" = '704.0001 c' ]
	[ "$(ids --where 'score<=2.5' notes.mts)" = '0704.0002 704.0001 c' ]
	[ "$(ids --where 'score>2.5' notes.mts)" = '0704.0001 b' ]
	[ "$(ids --where 'score>=2.5' notes.mts)" = '0704.0001 0704.0002 b' ]
	[ "$(ids --where 'score > -3e0' --where 'score!=1' notes.mts)" = '0704.0001 0704.0002 b' ]
	# text that looks like numbers, in a condition of order
	[ "$(ids --rows -3 --where 'id<0704.00015' notes.mts)" = '0704.0001 704.0001' ]
}

@test "mts rows: i64 is compared exactly, floats as they are printed, booleans as true and false" {
	printf '{"id": "a", "n": 9007199254740993, "g": true}\n{"id": "b", "n": 9007199254740992, "g": false}\n' |
		mts from jsonl >x.mts
	[ "$(ids --where n=9007199254740993 x.mts)" = a ]
	[ "$(ids --where 'n<=9007199254740992' x.mts)" = b ]
	[ "$(ids --where 'n>9007199254740992.0' x.mts)" = a ]
	[ "$(ids --where 'n<1e300' x.mts)" = 'a b' ]
	[ "$(ids --where g=true x.mts)" = a ]
	[ "$(ids --where 'g != true' x.mts)" = b ]
	{ # x is f32 0.1; 1e39 is beyond f32
		printf '\x93NUMPY\x01\0\x3b\0%-58s\n' "{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }"
		printf '\xcd\xcc\xcc\x3d\0\0\x80\x3f\0\0\x80\x7f'
	} >x.npy
	mts from npy -c n x.npy >f.mts
	[ "$(mts to jsonl f.mts | xargs)" = '{n:0.1} {n:1} {n:null}' ]
	[ "$(chosen --where n=0.1 f.mts)" = 0.1 ]
	[ "$(chosen --where 'n<0.1' f.mts)" = '' ]
	[ "$(chosen --where 'n<=0.1' f.mts)" = 0.1 ]
	[ "$(chosen --where 'n<=1e39' f.mts)" = '0.1 1' ]
	[ "$(chosen --where n=Infinity f.mts)" = Infinity ]
}

@test "mts rows: NaN can be selected, fails every other comparison, and sorts last" {
	printf '{"id": "a", "x": null}\n{"id": "b", "x": 1.5}\n{"id": "c", "x": -1}\n{"id": "d", "x": -0.0}\n{"id": "e", "x": 0.0}\n' |
		mts from jsonl >x.mts
	[ "$(ids --where x=NaN x.mts)" = a ]
	[ "$(ids --where x!=NaN x.mts)" = 'b c d e' ]
	[ "$(ids --where 'x<9' x.mts)" = 'b c d e' ]
	[ "$(ids --where 'x>=-9' x.mts)" = 'b c d e' ]
	[ "$(ids --where x!=1.5 x.mts)" = 'a c d e' ]
	[ "$(ids --where x=0 x.mts)" = 'd e' ]
	[ "$(ids --sort x x.mts)" = 'c d e b a' ]
	[ "$(ids --sort -x x.mts)" = 'b d e c a' ]
	{ echo n; printf '%s\n' 1e300 -2 1e-300 -1e300 2.5 -1 -1e-300 2; } | mts from tsv --numbers n >reals.mts
	[ "$(chosen --sort n reals.mts)" = '-1e+300 -2 -1 -1e-300 1e-300 2 2.5 1e+300' ]
	[ "$(chosen --sort -n reals.mts)" = '1e+300 2.5 2 1e-300 -1e-300 -1 -2 -1e+300' ]
}

@test "mts rows: regular expressions match texts and printed numbers" {
	[ "$(ids --where 'id~^0?704' notes.mts)" = '0704.0001 0704.0002 704.0001' ]
	[ "$(ids --where 'id ~ 0001$' --where 'id!~^0' notes.mts)" = 704.0001 ]
	[ "$(ids --where 'label~joy|fear' --where 'score~^-?[0-9]$' notes.mts)" = '0704.0001 704.0001 c' ]
	printf '{"id": "a", "t": "x\\u0000sea"}\n{"id": "b", "t": ""}\n{"id": "c", "t": "s"}\n' | mts from jsonl >x.mts
	[ "$(ids --where 't~sea' x.mts)" = a ]
	[ "$(ids --where 't~^$' x.mts)" = b ]
	[ "$(ids --where 't=' x.mts)" = b ]
	run -2 mts rows --where 'id~(' notes.mts
	[[ $output == "mts: --where: expression '(': "* ]]
}

@test "mts rows: an attribute of the records is used like a column" {
	stream_make 3 2 4 a.mts # {"task":"sts","step":0}, 1, 2
	mts from jsonl <<<'{"task": "column", "id": "x"}' >column.mts
	steps() { mts rows "$@" | mts head -n 99 | grep '^record' | grep -o '"step":.' | xargs; }
	[ "$(steps --where 'step>=1' a.mts)" = 'step:1 step:2' ]
	[ "$(steps --where task=sts --where step!=1 a.mts)" = 'step:0 step:2' ]
	[ "$(steps --where 'task~^s' --where step=2 a.mts)" = step:2 ]
	[ "$(steps --where task=other a.mts)" = '' ]
	[ "$(ids --where task=column column.mts)" = x ]
	# records without the attribute are before those with it
	seq 6 | tok -q -m "$GOLDEN/token/plain" >ids.mts
	mts cat -c id a.mts | mts paste -q - ids.mts >with.mts # the streams have different tokenizers, so that the result has none
	mts to safetensors -o bare.safetensors with.mts
	mts from safetensors bare.safetensors >without.mts
	cat without.mts with.mts >both.mts
	run -0 --separate-stderr bash -c "mts rows --where step=1 both.mts | mts diff - <(mts rows --where step=1 with.mts)"
	[ "$stderr" = "mts: warning: both.mts: record 1 has no attribute 'step', and there is no such column" ]
	run -1 --separate-stderr bash -c "mts rows --where stop=1 both.mts >x.mts"
	[ "$stderr" = "mts: both.mts: there is no column 'stop'" ]
	mts rows -q --where step!=1 both.mts | mts diff - <(cat without.mts <(mts rows --where step!=1 with.mts))
	run -1 --separate-stderr bash -c "mts rows --where 'task<3' a.mts >x.mts"
	[ "$stderr" = "mts: a.mts: record 1: attribute 'task' is not a number, which 'task<3' asks for" ]
}

@test "mts rows: records keep their attributes and their rows" {
	stream_make 3 4 4 a.mts
	records() { mts head -n 9999 | grep '^record' | cut -f 2-; }
	run -0 records < <(mts rows --rows 3-6,12 a.mts)
	[ "$output" = '2 rows	{"task":"sts","step":0}
2 rows	{"task":"sts","step":1}
1 rows	{"task":"sts","step":2}' ]
	run -0 records < <(mts rows --rows 11,2,9-10 a.mts)
	[ "$output" = '1 rows	{"task":"sts","step":0}
3 rows	{"task":"sts","step":2}' ]
	# after --sort a row is still in a record with its own attributes
	mts rows --sort -id a.mts >sorted.mts
	for step in 0 1 2; do
		[ "$(ids --where step=$step --sort id a.mts)" = "$(ids --where step=$step --sort id sorted.mts)" ]
	done
	# records of equal attributes are filled up
	stream_make 1 5 4000000 | mts rows --sort -id | records >wide # 16 MB a row, 64 MiB a record
	[ "$(cut -f 1 wide | xargs)" = '4 rows 1 rows' ]
	count 2500 7 | mts rows --sort -n | records >full
	[ "$(cat full)" = '1024 rows	{}
1024 rows	{}
452 rows	{}' ]
}

@test "mts rows --sort: sorts by value, up or down, by several keys; rows with equal keys keep their order" {
	printf '%s\n' '{"id": "a", "k": 2, "t": "x"}' '{"id": "b", "k": 10, "t": "y"}' '{"id": "c", "k": 2, "t": "é"}' \
		'{"id": "d", "k": -9223372036854775808, "t": "x"}' '{"id": "e", "k": 9223372036854775807, "t": ""}' |
		mts from jsonl --record-rows 2 >x.mts
	[ "$(ids --sort k x.mts)" = 'd a c b e' ]
	[ "$(ids --sort -k x.mts)" = 'e b a c d' ]
	[ "$(ids --sort t x.mts)" = 'e a d b c' ]
	[ "$(ids --sort -t x.mts)" = 'c b a d e' ]
	[ "$(ids --sort -t --sort k x.mts)" = 'c b d a e' ]
	[ "$(ids --sort -t,-k x.mts)" = 'c b a d e' ]
	mts cat x.mts | mts rows --sort k | mts diff - <(mts rows --sort k x.mts)
	count 5000 100 >n.mts
	[ "$(chosen --sort -n n.mts)" = "$(seq 5000 -1 1 | xargs)" ]
	# text that looks like numbers is sorted as text, with a warning
	run -0 --separate-stderr bash -c "printf 'id\n9\n10\n' | mts from tsv | mts rows --sort id | mts to tsv"
	[ "$output" = $'id\n10\n9' ]
	[[ $stderr == "mts: warning: <stdin>: column 'id' is text and is sorted as text, 10 before 9; "* ]]
}

@test "mts rows --sample: takes the rows of the documented algorithm (tests/golden/sample.py)" {
	count 20 7 >n.mts
	[ "$(chosen --sample 5 --seed 1 n.mts)" = '2 4 8 9 18' ]
	[ "$(chosen --sample 5 --seed 2 n.mts)" = '2 6 15 16 18' ]
	[ "$(count 1000 7 | chosen --sample 3 --seed 7)" = '413 465 803' ]
	# samples the rows that pass, then sorts them
	[ "$(count 40 7 | chosen --where 'n>20' --sample 5 --seed 1)" = '22 24 28 29 38' ]
	[ "$(chosen --sample 5 --seed 1 --sort -n n.mts)" = '18 9 8 4 2' ]
	# if there are fewer rows, all of them with a warning
	run -0 --separate-stderr bash -c "mts rows --sample 21 n.mts | mts diff - n.mts"
	[[ $stderr == "mts: warning: n.mts: --sample 21: there are only 20 rows"* ]]
	mts rows --sample 2 --seed 9 n.mts | mts head | grep -F 'seed 9'
}

@test "mts rows --sample: every row is equally likely" {
	count 4000 100 >n.mts
	# expected 100 of each tenth, standard deviation below 10
	chosen --sample 1000 --seed 3 n.mts | tr ' ' '\n' | awk '{ tenth[int(($1 - 1) / 400)]++ }
		END { for (i = 0; i < 10; i++) if (tenth[i] < 60 || tenth[i] > 140) exit 1 }'
	# expected 100 of each row, standard deviation 7
	count 4 3 >few.mts
	for seed in {1..200}; do chosen --sample 2 --seed $seed few.mts; done | tr ' ' '\n' | sort | uniq -c |
		awk '$1 < 65 || $1 > 135 { exit 1 } END { if (NR != 4) exit 1 }'
}

# 2. numbers of rows

@test "mts rows --rows: numbers count from 1, may overlap and be in any order, and may exceed the stream" {
	count 20 6 >n.mts
	[ "$(chosen --rows 5 n.mts)" = 5 ]
	[ "$(chosen --rows -3 n.mts)" = '1 2 3' ]
	[ "$(chosen --rows 19- n.mts)" = '19 20' ]
	[ "$(chosen --rows 7,1-3,2-4,20-99 --rows 6 n.mts)" = '1 2 3 4 6 7 20' ]
	[ "$(chosen --rows 21- n.mts)" = '' ]
	[ "$(chosen --rows 6-7,12,18-19 n.mts)" = '6 7 12 18 19' ]
	[ "$(chosen --rows 9223372036854775807 n.mts)" = '' ]
	# reading stops after the last row that is needed
	head -c -30 n.mts >cut.mts
	[ "$(chosen --rows 2-7 cut.mts)" = '2 3 4 5 6 7' ]
	run -1 --separate-stderr bash -c 'mts rows --rows 2- cut.mts >x.mts'
	[[ $stderr == 'mts: cut.mts: '*'cut short'* ]]
}

@test "mts rows: streams without rows, records or columns; a condition that no row meets" {
	stream_make 0 0 4 empty.mts
	for options in '' '--rows 1-' '--sample 3' '--sort id' '--where id=1'; do
		mts rows -q $options empty.mts | mts diff - empty.mts
		run -1 --separate-stderr bash -c "mts rows $options </dev/null"
	done
	mts rows --sort id --where 'task=x' empty.mts | mts diff - empty.mts
	count 5 2 | mts rows --where 'n>9' >no.mts
	[ "$(mts to tsv no.mts)" = n ]
	count 5 2 | mts rows --where 'n>9' --sort n | mts diff - no.mts
	mts from jsonl </dev/null | mts rows --rows 1- >no.mts
	[ "$(mts to jsonl no.mts)" = '' ]
}

# 3. usage

@test "mts rows: usage errors exit 2 with an empty standard output" {
	wrong() {
		run -2 --separate-stderr mts rows "$@"
		[ -z "$output" ]
		[ -n "$stderr" ]
	}
	for list in 0 0-3 3-1 - 1,,2 1, a 1-2-3 '' ,1 1.5 99999999999999999999; do
		wrong --rows "$list" notes.mts
	done
	for condition in '' label '=joy' 'label joy' 'score<joy' 'score>=' 'label!joy'; do
		wrong --where "$condition" notes.mts
	done
	wrong --sample 0 notes.mts
	wrong --seed 3 notes.mts
	wrong notes.mts notes.mts
	does_not_apply --columns mts rows -c id notes.mts
	does_not_apply --count mts rows -n 3 notes.mts
	does_not_apply --where mts cat --where id=b notes.mts
	does_not_apply --rows mts head --rows 3 notes.mts
}

# 4. wrong data

@test "mts rows: values that cannot be compared or sorted are refused with column and row" {
	stream_make 1 5 4 a.mts
	mts rows -q --rows 1 -o wide.mts a.mts
	wrong() { # MESSAGE ARGUMENTS...
		local message=$1
		shift
		run -1 --separate-stderr mts rows -q -o x.mts "$@"
		echo "$stderr"
		[ "${#stderr_lines[@]}" -eq 1 ]
		[[ $stderr == mts:\ $message ]]
		[ ! -e x.mts ]
	}
	wrong "notes.mts: row 4: column 'id': 'b' is not a number, which 'id<9' asks for" --where 'id<9' notes.mts
	printf 'id,year\n1,1999\n2,\n3,2005\n' >years.csv
	mts from csv years.csv >years.mts
	for found in 'year>=2000 3' 'year<2000 1' 'year<=2005 1,3' 'year>1 1,3' 'year= 2' 'year!= 1,3'; do
		[ "$(mts rows --where "${found% *}" years.mts | mts to tsv -c id | sed 1d | paste -sd,)" = "${found#* }" ] || { echo "$found"; false; }
	done
	wrong "notes.mts: there is no column 'lable'; did you mean 'label'?" --where lable=joy notes.mts
	wrong "notes.mts: there is no column 'socre'; did you mean 'score'?" --sort -socre notes.mts
	wrong "notes.mts: column score (f64): 'score=joy': the column is numbers, the value is none" --where score=joy notes.mts
	wrong "a.mts: column good (bool): 'good>0': it can only be = or != true or false" --where 'good>0' a.mts
	wrong "a.mts: column good (bool): 'good=1': it can only be = or != true or false" --where good=1 a.mts
	for column in ids others half emb; do
		wrong "a.mts: column $column (*): '$column=1': a condition is of one value a row" --where $column=1 a.mts
		wrong "a.mts: column $column (*): rows are sorted by one value a row" --sort $column a.mts
	done
	head -c 300 notes.mts >cut.mts
	wrong "cut.mts: *" --sort score cut.mts
	# a row that an earlier condition drops is not compared by a later one
	[ "$(ids --where label=anger --where 'id<9000' notes.mts)" = 0704.0002 ]
	run -1 --separate-stderr bash -c "mts rows --sort id a.mts >/dev/full"
	[ "$stderr" = 'mts: <stdout>: No space left on device' ]
	run -1 --separate-stderr env TMPDIR="$T/absent" mts rows --sort id -o x.mts a.mts
	[[ $stderr == "mts: $T/absent: cannot make a temporary file there; choose another folder by TMPDIR: "* ]]
	mkdir spool
	TMPDIR=$T/spool mts rows --sort id a.mts | mts stat
	[ -z "$(ls -A spool)" ]
}

# 6. memory

# bats test_tags=plain
@test "mts rows: memory holds one record and the keys of a sort" {
	case $BUILD in *sanitize*) skip "ASan has memory of its own" ;; esac
	stream_make 1 2000 768 one.mts
	for i in {1..40}; do cat one.mts; done >many.mts # 245 MB of rows
	(ulimit -v 70000 && mts rows --where good=true many.mts >good.mts)
	(ulimit -v 70000 && mts rows --sample 500 many.mts >sample.mts)
	[ "$(mts to jsonl -c id sample.mts | wc -l)" -eq 500 ]
	# the temporary file is mapped, so its pages do not count
	mts rows --sort -id many.mts | mts cat -c id | mts rows --sort -id | mts diff - <(mts rows --sort -id many.mts | mts cat -c id)
}

@test "mts rows: frees all memory before it exits" {
	export ASAN_OPTIONS=detect_leaks=1
	stream_make 3 10 4 a.mts
	mts rows --rows 1-2,4 --where 'step>=0' --where 'text~a' -o b.mts a.mts
	mts rows -q --sample 4 --sort -text --sort id --where task=sts -o b.mts a.mts
}
