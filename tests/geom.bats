#!/usr/bin/env bats
load helper

# Golden values: tests/golden/geom.py (numpy, scipy).

setup() { cd "$T"; }

# stream_of NAME [MODEL]: JSON rows on standard input as the stream NAME.mts of MODEL
stream_of() { mkstream 5 f32 "${2:-}" >"$1.mts"; }

golden() {
	for model in mote dense; do
		stream_of $model $model <"$GOLDEN/geom_$model.jsonl"
	done
}

# A stream of the golden rows of each task: mote_TASK.mts, dense_TASK.mts.
a_task_each() {
	for model in mote dense; do
		for task in classification clustering search_query; do
			grep "\"$task\"" "$GOLDEN/geom_$model.jsonl" | stream_of ${model}_$task $model
		done
	done
}

# 1. known answers

@test "geom similarity: cosines, quantiles, Welch's test and the paired test are numpy's and scipy's to 1e-9" {
	golden
	geom similarity --against dense.mts mote.mts >out
	head -n 1 out | tr '\t' ' ' | diff - <(echo tasks texts mean deviation min q1 median q3 max \
		against_{mean,deviation,min,q1,median,q3,max} difference {welch,paired}_{t,df,p})
	tail -n +2 out | cut -f1 | diff <(cut -f1 "$GOLDEN/geom_similarity.tsv") -
	tail -n +2 out | cut -f2- | within <(cut -f2- "$GOLDEN/geom_similarity.tsv") 1e-11
	geom similarity mote.mts | diff <(cut -f1-9 out) -
}

@test "geom similarity: similarities of two texts under three tasks, computed by hand" {
	printf '{"task":"%s","x.emb":[%s]}\n' a 3,4 a 1,0 b 6,8 b 0,2 c 4,-3 c 1,0 | stream_of x
	geom similarity x.mts >out
	diff out - <<-END
		tasks	texts	mean	deviation	min	q1	median	q3	max
		a:b	2	0.5	0.7071067811865476	0	0.25	0.5	0.75	1
		a:c	2	0.5	0.7071067811865476	0	0.25	0.5	0.75	1
		b:c	2	0	0	0	0	0	0	0
		all	2	0.3333333333333333	0	0.3333333333333333	0.3333333333333333	0.3333333333333333	0.3333333333333333	0.3333333333333333
	END
}

# bats test_tags=plain
@test "geom similarity: equal embeddings have exactly 1, opposite ones -1; constant similarities have no test" {
	mkstream random 50 33 1 >a.mts
	cp a.mts b.mts
	[ "$(geom similarity a.mts b.mts | sed -n 2p)" = $'a:b\t50\t1\t0\t1\t1\t1\t1\t1' ]
	[ "$(geom similarity --against a.mts --against b.mts a.mts b.mts | sed -n 2p | cut -f17-)" = $'0\t\t\t\t\t\t' ]
	# without clamping, rounding would lift one in forty of these above 1
	mkstream random 1000 3 1 >a.mts
	mts to jsonl a.mts | jq -c '.["text.emb"] |= map(. * 5.396)' | stream_of b
	geom similarity a.mts b.mts | awk -F'\t' 'NR > 1 && !($5 > 0.9999999 && $9 == 1) { exit 1 }'
	printf '{"task":"%s","x.emb":[%s]}\n' a 1e-30,1e-30 b -2e30,-2e30 | stream_of x
	[ "$(geom similarity x.mts | sed -n 2p)" = $'a:b\t1\t-1\t\t-1\t-1\t-1\t-1\t-1' ]
	geom similarity --json --against x.mts x.mts | jq -e '.all | .deviation == null and .welch_p == null and .difference == 0'
}

@test "geom similarity --json has the table's numbers" {
	golden
	geom similarity --against dense.mts mote.mts >out
	geom similarity --json --against dense.mts mote.mts >json
	jq -r '(.pairs[] | .tasks |= join(":")), (.all | .tasks = "all")
		| [.tasks, 12, .mean, .deviation, .min, .q1, .median, .q3, .max, .against_mean, .against_deviation,
		.against_min, .against_q1, .against_median, .against_q3, .against_max, .difference, .welch_t, .welch_df,
		.welch_p, .paired_t, .paired_df, .paired_p] | @tsv' json | cut -f2- |
		within <(tail -n +2 out | cut -f2-) 1e-15
	jq -e '.texts == 12 and .tasks == ["classification", "clustering", "search_query"] and (.pairs | length) == 3' json
	geom similarity --json mote.mts | jq -e '.all | has("mean") and (has("difference") | not)'
}

# 2. options, and how streams may come

@test "geom similarity: a stream for each task equals one stream of all tasks, with ids in any order" {
	golden
	a_task_each
	geom similarity --against dense.mts mote.mts >out
	numbers() { tail -n +2 "$@" | cut -f2-; }
	geom similarity --against dense_search_query.mts --against dense_clustering.mts --against dense_classification.mts \
		mote_clustering.mts mote_search_query.mts mote_classification.mts >each
	cut -f1 each | diff - <(cut -f1 out)
	numbers each | within <(numbers out) 1e-11
	geom similarity --against - -o file mote.mts <dense.mts
	cmp file out
	geom similarity <mote.mts | cmp - <(cut -f1-9 out)
	geom similarity mote_search_query.mts mote_classification.mts >two
	[ "$(cut -f1 two)" = $'tasks\nclassification:search_query\nall' ]
	numbers two | head -n 1 | within <(sed -n 3p out | cut -f2-9) 1e-13
	# rows without ids are matched by their place, also within one stream
	for model in mote dense; do
		jq -c 'del(._id)' "$GOLDEN/geom_$model.jsonl" | sort -t'"' -k4,4 -s | stream_of ${model}_bare
	done
	geom similarity mote_bare.mts >bare
	[ "$(sed -n 2p bare)" != "$(sed -n 2p out | cut -f1-9)" ]
	for task in classification clustering search_query; do
		jq -c "select(.task == \"$task\") | del(._id)" "$GOLDEN/geom_mote.jsonl" | stream_of bare_$task
	done
	geom similarity bare_*.mts | cmp - bare
}

@test "geom similarity: ids are matched as text, never by row number" {
	printf '{"id":%d,"task":"a","x.emb":[%s]}\n' 7 1,0 8 0,1 | stream_of a
	printf '{"_id":"%d","task":"b","x.emb":[%s]}\n' 8 0,1 7 1,0 | stream_of b
	[ "$(geom similarity a.mts b.mts | sed -n 2p | cut -f3)" = 1 ]
}

@test "geom similarity: the task of a row is its column's, else its record's attribute, else the file's name" {
	upcycle -q -m "$GOLDEN/nomic_bert" -o mote --experts one,two
	printf '{"_id":"%s","x":"%s"}\n' a "some words" b "and others" >texts.jsonl
	for task in one two; do
		tok -q -m mote --task $task --keep -f x texts.jsonl | encode -q -m mote >file_$task.mts
	done
	[ "$(geom similarity file_one.mts file_two.mts | sed -n 2p | cut -f1,2)" = $'one:two\t2' ]
	[ "$(cat file_two.mts file_one.mts | geom similarity | sed -n 2p | cut -f1)" = one:two ]
	# a column overrides the attribute
	for column in task x.expert; do
		mts to jsonl file_one.mts | jq -c ".[\"$column\"] = \"of the row\"" | stream_of column
		geom similarity --any-model column.mts file_two.mts >out
		[ "$(sed -n 2p out | cut -f1)" = "of the row:two" ]
	done
	mts to jsonl file_one.mts | stream_of "name.less"
	[ "$(geom similarity --any-model name.less.mts file_two.mts | sed -n 2p | cut -f1)" = "name.less:two" ]
}

@test "geom similarity: --per-text writes a table that leaderboard compares" {
	golden
	geom similarity --per-text texts --against dense.mts mote.mts >out
	pairs=(classification:clustering classification:search_query clustering:search_query all)
	head -n 1 texts | diff - <(IFS=$'\t' && echo id$'\t'"${pairs[*]}"$'\t'"${pairs[*]/#/against }")
	[ "$(wc -l <texts)" -eq 13 ]
	tail -n +2 texts | cut -f2- | awk '{ for (i = 1; i <= 8; i++) sum[i] += $i / 12 }
		END { for (i = 1; i <= 8; i++) printf "%.15g\n", sum[i] }' |
		within <(tail -n +2 out | cut -f3 && tail -n +2 out | cut -f10) 1e-13
	geom similarity --per-text mote.tsv mote.mts >/dev/null
	geom similarity --per-text dense.tsv dense.mts >/dev/null
	cut -f1-5 texts | cmp - mote.tsv
	leaderboard compare --from-per-query --resamples 100 dense.tsv mote.tsv | tail -n +3 | cut -f2-6 >compared
	[ "$(wc -l <compared)" -eq 4 ]
	tail -n +2 out | awk -F'\t' '{ print $10, $3, $17, $21, $23 }' | within compared 1e-12
}

@test "geom similarity: -f names the columns; --any-model compares different models" {
	printf '{"task":"%s","x.emb":[%s],"y.emb":[%s]}\n' a 1,0 1,0 b 0,1 1,0 | stream_of x
	[ "$(geom similarity -f x x.mts | sed -n 2p | cut -f3)" = 0 ]
	[ "$(geom similarity -f y x.mts | sed -n 2p | cut -f3)" = 1 ]
	a_task_each
	run -1 --separate-stderr geom similarity mote_clustering.mts dense_search_query.mts
	[[ $stderr == *"dense_search_query.mts: its vectors are of model dense, those of mote_clustering.mts of model mote: "* ]]
	geom similarity --any-model mote_clustering.mts dense_search_query.mts | grep ^clustering:search_query
}

# bats test_tags=plain
@test "geom similarity: f16 is read" {
	golden
	mkstream 5 f16 <"$GOLDEN/geom_mote.jsonl" >half.mts
	geom similarity half.mts | tail -n +2 | cut -f3- | within <(geom similarity mote.mts | tail -n +2 | cut -f3-) 1e-3
}

@test "geom similarity: box plots show one model or two" {
	command -v gnuplot >/dev/null || skip "needs gnuplot"
	golden
	geom similarity mote.mts >one
	geom similarity --against dense.mts mote.mts >two
	plot() { gnuplot -e "table='$1'; model='MoTE'; against='IC'" "$ROOT/pipelines/similarity.gnuplot"; }
	plot one >one.svg
	grep -q '>search_query</text>' one.svg
	run ! grep -q 'MoTE\|p = ' one.svg
	plot two >two.svg
	for text in search_query 'p = 0.0016' 'p = 0.011' MoTE IC; do
		grep -q ">$text</text>" two.svg
	done
}

# 3. usage

@test "geom: usage errors exit 2 and write no file" {
	golden
	wrong() {
		run -2 --separate-stderr geom "${@:2}"
		[ -z "$output" ]
		[[ ${stderr_lines[0]} == "geom: "*"$1"* ]]
	}
	wrong "the command is missing"
	wrong "'simlarity' is not one of similarity" simlarity mote.mts
	wrong "standard input" similarity - -
	wrong "standard input can be read only once" similarity --against - <mote.mts
	wrong "--per-text and --output cannot both go to 'x'" similarity --per-text x -o x mote.mts
	wrong "--per-text and --output cannot both go to '-'" similarity --per-text - mote.mts
	wrong "'--top' is not an option" similarity --top 3 mote.mts
	[ ! -e x ]
}

# 4. wrong input

refused() { # MESSAGE FILE...
	run -1 --separate-stderr geom similarity --per-text texts -o out "${@:2}"
	[ -z "$output" ]
	[[ $stderr == "geom: $1"* ]] || { echo "$stderr"; false; }
	[ ! -e out ]
	[ ! -e texts ]
}

# bats test_tags=plain
@test "geom similarity: tasks with different texts are refused by name" {
	printf '{"_id":"%s","task":"x","e.emb":[1,%d]}\n' a 1 b 2 | stream_of x
	printf '{"_id":"%s","task":"y","e.emb":[1,%d]}\n' b 1 | stream_of short
	refused "short.mts: there is no row 'a' of the task 'y', but one of 'x' (x.mts)" x.mts short.mts
	refused "short.mts: there is no row 'a' of the task 'y', but one of 'x' (x.mts)" short.mts x.mts
	printf '{"_id":"%s","task":"y","e.emb":[1,%d]}\n' b 1 c 1 | stream_of other
	refused "other.mts: there is no row 'a' of the task 'y', but one of 'x' (x.mts)" x.mts other.mts
	cat x.mts other.mts >both.mts
	refused "both.mts: there is no row 'a' of the task 'y', but one of 'x' (both.mts)" both.mts
	printf '{"_id":"%s","task":"y","e.emb":[1,%d]}\n' b 1 b 1 | stream_of twice
	refused "twice.mts: the id 'b' occurs again for the task 'y'" x.mts twice.mts
	printf '{"_id":"%s","task":"%s","e.emb":[1,1]}\n' a y a x a x | stream_of again
	refused "again.mts: the id 'a' occurs again for the task 'x'" again.mts
	printf '{"task":"y","e.emb":[1,%d]}\n' 1 2 | stream_of bare
	refused "bare.mts: one of it and x.mts has ids, the other none" x.mts bare.mts
	printf '{"task":"z","e.emb":[1,%d]}\n' 1 2 3 | stream_of longer
	refused "bare.mts: there are 2 rows of the task 'y' and 3 of 'z' (longer.mts); without ids" bare.mts longer.mts
	for text in A B; do
		printf '{"_id":"a","task":"%s","e":"%s","e.emb":[1,1]}\n' t$text "$text" | stream_of text$text
	done
	refused "textB.mts: row 'a' has another text than for another task" textA.mts textB.mts
	mts cat -c _id,task,e.emb textB.mts >textC.mts
	geom similarity textA.mts textC.mts >/dev/null
	printf '{"_id":"a","task":"none","e.emb":[1,1]}\n' | stream_of none
	geom similarity none.mts textA.mts >/dev/null
	refused "textB.mts: row 'a' has another text than for another task" none.mts textA.mts textB.mts
}

@test "geom similarity --against: a model with other tasks or texts is refused by name" {
	two() { # NAME ID TASK TASK [MORE]
		printf '{"_id":"%s","task":"%s",'"${5:-}"'"e.emb":[1,1]}\n' "$2" "$3" "$2" "$4" | stream_of "$1"
	}
	two own a x y
	two ids b x y
	two tasks a x z
	cat own.mts ids.mts >more.mts
	refused "ids.mts: there is no row 'a', but in own.mts" --against ids.mts own.mts
	refused "own.mts: there is no row 'b', but in more.mts" --against more.mts own.mts
	refused "own.mts: there is no row 'b', but in more.mts" --against own.mts more.mts
	refused "tasks.mts: there is no row of the task 'y', but in own.mts" --against tasks.mts own.mts
	printf '{"task":"%s","e.emb":[1,1]}\n' x y | stream_of bare
	refused "bare.mts: one of it and own.mts has ids, the other none" --against bare.mts own.mts
	two textA a x y '"e":"A",'
	two textB a x y '"e":"B",'
	refused "textB.mts: row 'a' has another text than in textA.mts" --against textB.mts textA.mts
	geom similarity --against textB.mts own.mts >/dev/null
}

@test "geom similarity: rows without a task, zero vectors and damaged streams are refused" {
	printf '{"_id":"%s","task":"x","e.emb":[1,1]}\n' a b | stream_of x
	refused "x.mts: all of it is of the task 'x'; give the same texts under two tasks" x.mts
	refused "x.mts: it is of the task 'x', as x.mts is; give a stream for each task" x.mts x.mts
	printf '{"_id":"a","task":"%s","e.emb":[1,1]}\n' y z | stream_of two
	refused "two.mts: it is of the tasks 'y' and 'z'; give a stream for each task" x.mts two.mts
	printf '{"_id":"a","e.emb":[1,1]}\n' | stream_of none
	refused "none.mts: row 1 does not say for what task it was embedded" none.mts
	printf '{"_id":"a","task":"t%d","e.emb":[1,0]}\n' $(seq 64) | stream_of most
	geom similarity most.mts | wc -l | found -x 2018
	printf '{"_id":"a","task":"t%d","e.emb":[1,0]}\n' $(seq 65) | stream_of many
	refused "many.mts: it is of more than 64 tasks; the last is 't65'" many.mts
	for name in 'a\tb' "$(printf '%0101d' 0)"; do
		printf '{"_id":"a","task":"%s","e.emb":[1,0]}\n' "$name" | stream_of name
		refused "name.mts: the name of the task '" name.mts
	done
	for wrong in "null,1=not finite" "0,0=zero"; do
		printf '{"_id":"%s","task":"y","e.emb":[%s]}\n' b 1,1 a "${wrong%=*}" | stream_of y
		refused "y.mts: row 'a': its embedding is ${wrong#*=}, which has no cosine" x.mts y.mts
	done
	printf '{"_id":"a","task":"y","e.emb":[1,1,1]}\n' | stream_of wide
	refused "wide.mts: its vectors have width 3, those of x.mts 2" x.mts wide.mts
	: >empty
	refused "empty: empty, not a tensor stream" x.mts empty
	mts rows --where task=nothing two.mts >bare.mts
	refused "bare.mts: there is no row in it" x.mts bare.mts
	refused "bare.mts: there is no row in it" bare.mts
	head -c 250 two.mts >cut.mts
	refused "cut.mts: record 1: " cut.mts
	printf '{"_id":"a\\tb","task":"%s","e.emb":[1,0]}\n' x y | stream_of tab
	refused "texts: the id 'a" tab.mts
	run -1 --separate-stderr geom similarity two.mts -o /dev/full
	[[ $stderr == "geom: /dev/full: "* ]]
}

# 5. the examples of the page

@test "geom: the page's examples run" {
	upcycle -q -m "$GOLDEN/nomic_bert" -o mote --experts clustering,search_query
	cp -r "$GOLDEN/nomic_bert" dense
	cp mote/config_sentence_transformers.json dense
	printf '{"_id":"%s","text":"%s","topic":"%s"}\n' a "some words" x b "and others" y c "a word" x >texts.jsonl
	cp texts.jsonl queries.jsonl
	printf '{"sentence1":"%s","sentence2":"%s","score":%d}\n' "a word" "some words" 3 "a word" "and others" 1 others words 2 >pairs.jsonl
	page_examples geom.1 >examples
	command -v gnuplot >/dev/null || sed -i '/^gnuplot/d' examples
	[ "$(grep -c geom examples)" -eq 13 ]
	bash -e -o pipefail -x examples >out
	# untrained experts give the dense model's embeddings
	[ "$(awk -F'\t' 'NF == 6 && $1 == "clustering:search_query" { print $4 }' out)" = 0 ]
	grep '^\[\[' out | jq -e '.[0] == ["clustering", "search_query"]'
}

# 6. memory

# bats test_tags=plain
@test "geom similarity: streams in the same order are compared without keeping embeddings" {
	case $BUILD in *sanitize*) skip "ASan has memory of its own" ;; esac
	mkstream random 20000 512 1 >a.mts # 41 MB
	cp a.mts b.mts
	cp a.mts c.mts
	[ -x /usr/bin/time ] || skip "needs time(1)"
	/usr/bin/time -f %M -o kilobytes geom similarity a.mts b.mts c.mts | grep -P '^b:c\t20000\t1\t'
	cat kilobytes
	[ "$(<kilobytes)" -lt 60000 ]
}

@test "geom: frees all memory before it exits" {
	export ASAN_OPTIONS=detect_leaks=1
	golden
	a_task_each
	geom similarity --per-text texts --against dense.mts mote.mts
	geom similarity --json mote_*.mts
}
