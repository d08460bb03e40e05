#!/usr/bin/env bats
load helper

# lines FILE NAME COUNT: examples NAME q0 and so on, each with hard negatives of its own
lines() {
	for ((i = 0; i < $3; i++)); do
		echo "{\"query\": \"$2 q$i\", \"document\": \"$2 d$i\", \"hard\": [\"$2 n$i\", \"$2 m$i\"]}"
	done >"$T/$1"
}

differ() {
	! cmp -s "$1" "$2"
}
absent() {
	! grep -q "$@"
}

setup() {
	lines big.jsonl big 100
	lines small.jsonl small 30
	lines left.jsonl left 25
	lines right.jsonl right 50
	cat >"$T/mix.yaml" <<-'END'
		seed: 42
		batch: 16
		temperature: 0.03
		tasks:
		  retrieval:
		    batching: homogeneous
		    prompts: {query: "search query: ", document: "search document: "}
		    experts: {query: search_query, document: search_document}
		    datasets:
		      - {name: big, file: big.jsonl, negatives: hard, max_negatives: 1}
		      - {name: small, file: small.jsonl}
		  clustering:
		    batching: heterogeneous
		    temperature: 0.06
		    prompts: "clustering: "
		    experts: clustering
		    datasets:
		      - {name: left, file: left.jsonl}
		      - {name: right, file: right.jsonl}
	END
	cd "$T"
}

@test "tasksample: an epoch has each example once, with its own document" {
	tasksample mix.yaml >out.mts
	batch_column query <out.mts >queries
	[ "$(wc -l <queries)" -eq 205 ]
	for set in big small left right; do
		seq 0 $(($(wc -l <$set.jsonl) - 1)) | sed "s/^/$set q/"
	done | sort >all
	diff <(sort queries) all
	diff queries <(batch_column document <out.mts | sed 's/ d/ q/')
	differ queries all # and in another order
}

@test "tasksample: a batch carries task, data set, temperature, prompts and experts" {
	tasksample mix.yaml | batches >out
	grep -m1 '"dataset":"big"' out >attributes
	grep -q '"temperature":0.03,"prompts":{"query":"search query: ","document":"search document: ","negatives":"search document: "},"experts":{"query":"search_query","document":"search_document","negatives":"search_document"}}' attributes
	grep -q '"task":"clustering","temperature":0.06,"prompts":{"query":"clustering: "' out
	# homogeneous batches have one data set, heterogeneous ones several
	awk -F'\t' '/^#/ { one = /"retrieval"/; set = ""; next }
		{ sub(/.*dataset=/, ""); if (one && set && set != $0) bad = 1; if (!one && set != $0) mixed++; set = $0 }
		END { exit bad || mixed < 20 }' out
}

@test "tasksample --level: a file is packed, a pipe is not, unless it says so" {
	tasksample -o packed.mts mix.yaml
	tasksample --level 0 -o stored.mts mix.yaml
	tasksample mix.yaml | cat >piped.mts
	[ "$(stat -c %s packed.mts)" -lt "$(stat -c %s stored.mts)" ]
	[ "$(stat -c %s packed.mts)" -lt "$(stat -c %s piped.mts)" ]
	mts diff packed.mts stored.mts
}

@test "tasksample: names of tasks and data sets do not control the terminal" {
	{
		printf 'batch: 4\ntasks:\n  "a\\u009b31m\\u202e":\n    datasets:\n'
		printf '      - {name: "b\\u009b\\u2066", file: small.jsonl, query: query, document: document}\n'
	} >names.yaml
	run -0 tasksample --plan --steps 1 names.yaml
	[ "$(cut -f3-5 <<<"${lines[1]}")" = $'a?31m?\tb??=4\t4' ]
}

@test "tasksample: --plan lists the batches that are written; the header has their number" {
	tasksample --plan mix.yaml >plan
	tasksample mix.yaml | batches >out
	[ "$(head -1 plan)" = "$(printf 'step\tepoch\ttask\tdatasets\trows\tchecksum')" ]
	paste <(sed 1d plan | cut -f1,3,5) <(awk -F'\t' '/^#/ { if (NR > 1) print n; n = 0; next }
		{ n++ } END { print n }' out) | awk '$3 != $4 || $1 != NR - 1 { exit 1 }'
	paste <(sed 1d plan | cut -f3) <(grep -o '^#.*"task":"[a-z]*' out | sed 's/.*"//') |
		awk '$1 != $2 { exit 1 }'
	tasksample mix.yaml | zstd -dc >bytes
	grep -aq '"batches":"'"$(grep -c '^#' out)"'"' bytes
}

@test "tasksample: tasks come in proportion to their examples and end at the same time" {
	sed -i 's/batch: 16/batch: 1/' mix.yaml
	for seed in 1 2 3 4 5; do
		tasksample --plan -s $seed mix.yaml | sed -n 2,104p
	done >half
	# half of an epoch has half of each data set's 100, 30, 25 and 50 of 205 examples, within four standard deviations
	awk -F'[\t=]' '{ n[$4]++ } function off(x, p) { return (x - 515 * p) ^ 2 > 16 * 515 * p * (1 - p) / 2 }
		END { exit off(n["big"], 100/205) || off(n["small"], 30/205) || off(n["left"], 25/205) ||
			off(n["right"], 50/205) }' half
	# sampling: uniform draws both tasks equally often
	sed 's/^seed/sampling: uniform\nseed/' mix.yaml >uniform.yaml
	for seed in 1 2 3 4 5; do
		tasksample --plan -s $seed uniform.yaml | sed -n 2,81p
	done | awk -F'\t' '$3 == "retrieval" { n++ } END { exit n < 160 || n > 240 }'
	# and the data sets within a task
	sed 's/    batching: homogeneous/&\n    sampling: uniform/' mix.yaml >uniform.yaml
	for seed in 1 2 3 4 5; do
		tasksample --plan --task retrieval -s $seed uniform.yaml | sed -n 2,31p
	done | awk -F'\t' '$4 == "small=1" { n++ } END { exit n < 50 || n > 100 }'
}

@test "tasksample: weight says how often an epoch has each example" {
	sed -i 's/file: left.jsonl/&, weight: 2/; s/file: right.jsonl/&, weight: 0.5/' mix.yaml
	tasksample mix.yaml | batch_column query >first
	[ "$(grep left first | sort | uniq -c | awk '{ print $1 }' | sort -u)" -eq 2 ]
	[ "$(grep -c left first)" -eq 50 ]
	[ "$(grep right first | sort -u | wc -l)" -eq 25 ]
	# the second epoch has the other half
	tasksample --epochs 2 mix.yaml | batch_column query >both
	[ "$(grep right both | sort -u | wc -l)" -eq 50 ]
	[ "$(grep -c right both)" -eq 50 ]
	# a task's weight multiplies those of its data sets
	sed -i 's/experts: clustering/&\n    weight: 3/' mix.yaml
	[ "$(tasksample mix.yaml | batch_column query | grep -c left)" -eq 150 ]
}

@test "tasksample: --seed, --epochs, --steps and --batch override the recipe" {
	tasksample --plan mix.yaml >recipe
	diff recipe <(tasksample --plan -s 42 mix.yaml)
	differ recipe <(tasksample --plan -s 43 mix.yaml)
	tasksample --plan --epochs 2 mix.yaml >two
	count=$(($(wc -l <recipe) - 1))
	[ "$(wc -l <two)" -eq $((2 * count + 1)) ]
	diff recipe <(head -n $((count + 1)) two)
	# the second epoch has another order
	differ <(sed 1d recipe | cut -f6) <(tail -n $count two | cut -f6)
	diff <(head -8 two) <(tasksample --plan --steps 7 mix.yaml)
	# --steps goes beyond an epoch, unless --epochs is given
	[ "$(tasksample --plan --steps 40 mix.yaml | wc -l)" -eq 41 ]
	[ "$(tasksample --plan --steps 40 --epochs 1 mix.yaml | wc -l)" -eq $((count + 1)) ]
	tasksample --plan -b 7 mix.yaml | awk -F'\t' 'NR > 1 && $5 > 7 { exit 1 }'
	tasksample mix.yaml | cmp - <(tasksample mix.yaml)
}

@test "tasksample: --skip N starts with the batch that would have followed the first N" {
	for how in mark apart keep; do
		tasksample --epochs 3 --duplicates $how mix.yaml | batches >whole
		for n in 0 1 7 20 33; do
			tasksample --epochs 3 --duplicates $how --skip $n mix.yaml | batches >rest
			awk -v n=$n '/^#/ { seen++ } seen > n' whole | cmp - rest
		done
	done
	[ -z "$(tasksample --skip 1000 mix.yaml | batches)" ]
	[ "$(tasksample --skip 5 --steps 7 mix.yaml | batches | grep -c '^#')" -eq 2 ]
}

@test "tasksample: the slices of all ranks make the batch" {
	tasksample mix.yaml | batches | grep -v '^#' >whole
	for rank in 0 1 2; do
		tasksample --rank $rank --ranks 3 mix.yaml | batches |
			awk -v r=$rank '/^#/ { step++; row = 0; next } { print step, r, row++ "\t" $0 }'
	done | sort -n -k1,1 -k2,2 -k3,3 | cut -f2- >slices
	cmp whole slices
	# every rank has the same number of steps, even with more ranks than rows
	for rank in 0 29; do
		[ "$(tasksample --rank $rank --ranks 30 mix.yaml | batches | grep -c '^#')" -eq \
			"$(tasksample mix.yaml | batches | grep -c '^#')" ]
	done
}

# Removes the attributes that only a rank's slice has.
without_place() {
	sed 's/,"first_row":[0-9]*,"batch_rows":[0-9]*,"batch_checksum":"[0-9a-f]*"//'
}

@test "tasksample: the slices of ranks have the rows of one process's batch, in all columns, and its task" {
	for how in homogeneous static; do
		tasksample -b 15 --batching $how mix.yaml | batches >whole
		steps=$(grep -c '^#' whole)
		for ranks in 1 2 3 4; do
			for ((rank = 0; rank < ranks; rank++)); do
				tasksample -b 15 --batching $how --rank $rank --ranks $ranks mix.yaml | batches |
					awk -v r=$rank '/^#/ { step++; row = 0 } { print step "\t" r "\t" row++ "\t" $0 }'
			done | sort -n -k1,1 -k2,2 -k3,3 | cut -f4- >all
			grep -v '^#' all | cmp - <(grep -v '^#' whole)
			[ "$(grep -c '^#' all)" -eq $((ranks * steps)) ]
			grep '^#' all | without_place | uniq | cmp - <(grep '^#' whole)
		done
	done
}

@test "tasksample: --rank records the batch's size, checksum and the slice's place in it" {
	lines ten.jsonl ten 10
	printf 'batch: 8\ntasks: {a: {datasets: [{name: ten, file: ten.jsonl}]}}\n' >ten.yaml
	places() { # first row, rows of the slice, rows of the batch
		tasksample -q --rank $1 --ranks 3 ten.yaml | batches |
			awk -F'[:,}]' '/^#/ { if (NR > 1) print first, n, total; first = $(NF - 5); total = $(NF - 3); n = 0; next }
				{ n++ } END { print first, n, total }' | tr '\n' ';'
	}
	[ "$(places 0)" = "0 3 8;0 1 2;" ]
	[ "$(places 1)" = "3 3 8;1 1 2;" ]
	[ "$(places 2)" = "6 2 8;2 0 2;" ]
	properties() { tasksample -q "$@" ten.yaml | mts head | grep -a '^property' | tr '\n\t' '; '; }
	[ "$(properties --rank 1 --ranks 3)" = "property batches 2;property rank 1;property ranks 3;" ]
	[ "$(properties --rank 0 --ranks 1)" = "property batches 2;" ]
	# parts of --all are concatenated by mts cat
	for rank in 0 1; do tasksample --all --rank $rank --ranks 2 mix.yaml -o $rank.mts; done
	mts cat 0.mts 1.mts | batch_column query | sort | cmp - <(tasksample --all mix.yaml | batch_column query | sort)
	batches 1.mts >text
	absent first_row text
	# the checksum of the batch, as in the plan
	checksums() { batches | grep -a '^#' | sed 's/.*"batch_checksum":"\([0-9a-f]*\)".*/\1/'; }
	tasksample --rank 1 --ranks 3 mix.yaml | checksums | cmp - <(tasksample --plan mix.yaml | sed 1d | cut -f6)
	# the lines of a plan count the slice
	[ "$(tasksample -q --plan --rank 2 --ranks 3 ten.yaml | cut -f5 | tr '\n' ' ')" = "rows 2 0 " ]
}

@test "tasksample: tok, encode and train take the slices of ranks, also empty ones" {
	lines ten.jsonl ten 10
	printf 'batch: 8\ntasks: {a: {datasets: [{name: ten, file: ten.jsonl, negatives: hard}]}}\n' >ten.yaml
	tasksample -q --rank 2 --ranks 3 ten.yaml -o slice.mts
	tok -q -m "$GOLDEN/bert" slice.mts -o ids.mts
	encode -q -m "$GOLDEN/bert" ids.mts -o emb.mts
	for stream in ids emb; do
		mts head $stream.mts | grep -a -A1 $'^property\trank\t2$' | found -x $'property\tranks\t3'
		batches $stream.mts | grep -a '^#' | grep -o '"first_row.*' >places
		cmp places <(batches slice.mts | grep '^#' | grep -o '"first_row.*')
		[ "$(wc -l <places)" -eq 2 ]
	done
	# train refuses another rank's slice
	run -1 train -q -m "$GOLDEN/bert" -o trained ids.mts
	[ "$output" = "train: ids.mts: is for rank 2 of 3, but is read by rank 0 of 1" ]
}

@test "tasksample: --drop-last leaves out incomplete batches" {
	tasksample --drop-last --plan mix.yaml >plan
	awk -F'\t' 'NR > 1 && $5 != 16 { exit 1 }' plan
	[ "$(wc -l <plan)" -eq $((1 + 100 / 16 + 30 / 16 + 75 / 16)) ]
	tasksample --drop-last --duplicates apart --plan mix.yaml | cmp - plan
}

@test "tasksample: --all has every example once, in order, with its data set" {
	tasksample --all mix.yaml >out.mts
	for set in big small left right; do
		sed 's/.*"query": "\([^"]*\)".*/\1/' $set.jsonl
	done | cmp - <(batch_column query <out.mts)
	diff <(batch_column dataset <out.mts) <(batch_column query <out.mts | cut -d' ' -f1)
	batches <out.mts >text
	absent key= text
	grep -q '"task":"clustering","dataset":"left"' text
	# a record has rows of one data set
	[ "$(grep -c '^#' text)" -eq $((7 + 2 + 2 + 4)) ]
	for how in homogeneous heterogeneous; do
		sed "s/batching: .*/batching: $how/; \$ a drop_last: true" mix.yaml >other.yaml
		diff <(tasksample --all other.yaml | batch_column query) <(batch_column query <out.mts)
	done
}

@test "tasksample: --task selects a task, --batching overrides the recipe" {
	tasksample --plan --task clustering mix.yaml | awk -F'\t' 'NR > 1 && $3 != "clustering" { exit 1 }'
	[ "$(tasksample --task clustering mix.yaml | batch_column query | sort -u | wc -l)" -eq 75 ]
	tasksample --plan --task clustering --task retrieval mix.yaml | cmp - <(tasksample --plan mix.yaml)
	tasksample --plan --batching homogeneous mix.yaml | awk -F'\t' '$4 ~ /,/ { exit 1 }'
	tasksample --plan --batching heterogeneous mix.yaml | grep -c 'retrieval.*big=[0-9]*,small='
}

@test "tasksample: static batches mix all tasks; experts are a column, prompts part of the texts" {
	tasksample --batching static mix.yaml | batches >out
	[ "$(grep -c '^#' out)" -eq 13 ]
	absent '^#.*\("task"\|experts\)' out
	# empty prompts, so that the model's default prompt is not added
	[ "$(grep -c '"prompts":{"query":"","document":"","negatives":""}}$' out)" -eq 13 ]
	[ "$(grep -c '^# .*"temperature":0.03' out)" -eq 13 ]
	grep -q 'query=search query: big q.*document=search document: big d.*negatives=\[search document: big n.*task=retrieval.*query.expert=search_query	document.expert=search_document' out
	grep -q 'query=clustering: left q.*negatives=	.*dataset=left	task=clustering	query.expert=clustering	document.expert=clustering' out
	# keys are those of texts without prompts
	diff <(tasksample mix.yaml | batches | grep 'query=big q7	' | grep -o 'query.key=[-0-9]*') \
		<(grep 'query=search query: big q7	' out | grep -o 'query.key=[-0-9]*')
	# prompts and experts that are equal in all tasks stay attributes
	sed 's/prompts: {.*/prompts: "clustering: "/; s/experts: {.*/experts: clustering/' mix.yaml >same.yaml
	tasksample --batching static same.yaml | batches | grep '^#' >attributes
	grep -q '"prompts":{"query":"clustering: "' attributes
	grep -q '"experts":{"query":"clustering"' attributes
}

@test "tasksample: of a list of experts each batch draws one for both sides, each row of static batches one, by the seed" {
	sed 's/experts:.*/experts: [one, two, three]/' mix.yaml >drawn.yaml
	tasksample --epochs 9 drawn.yaml | cat >out.mts # stored, as below
	batches <out.mts | grep '^#' | grep -o '"experts":.*}' >drawn
	[ "$(wc -l <drawn)" -gt 100 ]
	sort drawn | uniq -c | awk '{ print ($1 > 20) }' | uniq -c | awk '{ print $1, $2 }' | grep -x '3 1'
	grep -v '"query":"\(one\|two\|three\)","document":"\1"' drawn && false
	# the examples are those of the recipe without a list
	diff <(tasksample --epochs 9 mix.yaml | batches | grep -v '^#') <(batches <out.mts | grep -v '^#')
	tasksample --epochs 9 drawn.yaml | cmp - out.mts
	differ <(tasksample --seed 1 --epochs 9 drawn.yaml | batches | grep -o '"experts":.*}') drawn
	# each row
	tasksample --batching static drawn.yaml | batches | grep -o 'query.expert=.*' | sort | uniq -c | awk '$1 > 40 { print $2, $3 }' |
		diff - <(printf 'query.expert=%s document.expert=%s\n' one one three three two two)
	for wrong in '[]' '[one, [two]]' '[1]'; do
		sed "s/experts:.*/experts: $wrong/" mix.yaml >wrong.yaml
		run -1 tasksample wrong.yaml
		[[ "$output" == "tasksample: wrong.yaml:8: "*"'experts'"* ]]
	done
}

@test "tasksample: prompts of a recipe override the model's default prompt" {
	cp -r "$GOLDEN/train/bert" model
	printf '{"prompts": {"query": "moon ", "other": "dog "}, "default_prompt_name": "other"}' >model/config_sentence_transformers.json
	words() { # RECIPE: the texts of the first batch's ids
		tasksample -q --steps 1 -b 1 "$1" | tok -q -m model | tok --decode -m model | mts to jsonl | jq -c '[.query, .document]'
	}
	one() {
		printf 'tasks: {a: {%s datasets: [{name: x, file: x.jsonl}]}}\n' "$1" >x.yaml
		words x.yaml
	}
	echo '{"query": "sea", "document": "lamp"}' >x.jsonl
	[ "$(one '')" = '["dog sea","dog lamp"]' ]
	[ "$(one 'prompts: {query: "moon "},')" = '["moon sea","lamp"]' ]
	[ "$(one 'prompts: {document: "of "},')" = '["sea","of lamp"]' ]
	[ "$(one 'prompts: "",')" = '["sea","lamp"]' ]
	# static batches have their prompts in the texts
	cat >static.yaml <<-'END'
		batching: static
		tasks:
		  a: {prompts: {query: "moon "}, datasets: [{name: x, file: x.jsonl}]}
		  b: {datasets: [{name: y, file: x.jsonl}]}
	END
	[ "$(for seed in 1 2 3 4 5 6 7 8; do sed "1i seed: $seed" static.yaml >seed.yaml && words seed.yaml; done | sort -u | paste -sd' ')" = \
		'["moon sea","lamp"] ["sea","lamp"]' ]
}

@test "tasksample: keys that do not apply to the batching are named in a warning" {
	said() { tasksample --plan --steps 1 "$@" 2>&1 >plan | grep -v examples, | sed 's/^tasksample: warning: //'; }
	[ -z "$(said mix.yaml)" ]
	sed 's/^seed/sampling: uniform\nseed/' mix.yaml >uniform.yaml
	[ -z "$(said uniform.yaml)" ]
	diff <(said --batching static uniform.yaml) - <<-'END'
		uniform.yaml:1: 'sampling' does not apply to static batches
		uniform.yaml:15: 'temperature' does not apply to static batches
	END
	sed 's/    batching: heterogeneous/&\n    sampling: uniform/' mix.yaml >mixed.yaml
	[ "$(said mixed.yaml)" = "mixed.yaml:14: 'sampling' does not apply to heterogeneous batches" ]
	[ -z "$(said --batching homogeneous mixed.yaml)" ]
	[ "$(said --all mixed.yaml)" = '' ]
	echo 'tasks: {a: {datasets: [{name: x, file: big.jsonl, part_by: document}]}}' >x.yaml
	run -1 tasksample --plan x.yaml
	[ "$output" = "tasksample: x.yaml:1: 'part_by' needs 'part' or 'sample'" ]
}

@test "tasksample: query and document from one list are two different texts" {
	for i in {0..19}; do echo "{\"set\": [\"s$i a\", \"s$i b\", \"s$i c\"]}"; done >sets.jsonl
	echo 'tasks: {a: {datasets: [{name: a, file: sets.jsonl, query: set, document: set}]}}' >sets.yaml
	tasksample --epochs 30 sets.yaml | batches | grep -v '^#' | cut -f1,2 | sed 's/[a-z]*=//g' >pairs
	[ "$(wc -l <pairs)" -eq 600 ]
	# of one list, never equal, all six ordered pairs equally often
	awk -F'\t' '{ split($1, q, " "); split($2, d, " "); seen[q[2] d[2]]++
		if (q[1] != d[1] || q[2] == d[2]) exit 1 }
		END { for (pair in seen) { n++; if (seen[pair] < 60) exit 1 } exit n != 6 }' pairs
	tasksample --all sets.yaml | batches | grep -c '^query=s[0-9]* a	document=s[0-9]* b	' | found -x 20
	# their keys differ as well: --duplicates apart loses nothing
	tasksample --duplicates apart sets.yaml | batches | grep -vc '^#' | found -x 20
	# query and document from two lists are drawn independently
	echo '{"q": ["a", "b", "c"], "d": ["x", "y", "z"]}' >two.jsonl
	echo 'tasks: {a: {datasets: [{name: a, file: two.jsonl, query: q, document: d}]}}' >two.yaml
	[ "$(tasksample --epochs 100 two.yaml | batches | grep -v '^#' | cut -f1,2 | sort -u | wc -l)" -eq 9 ]
	# a single text is query and document; a list of one text is refused
	echo '{"set": "alone"}' >sets.jsonl
	[ "$(tasksample sets.yaml | batch_column document)" = alone ]
	echo '{"set": ["alone"]}' >sets.jsonl
	run -1 tasksample -q sets.yaml -o out.mts
	[[ $output == "tasksample: sets.jsonl:1: has one text, which cannot be query and document: field 'set'" ]]
	[ ! -e out.mts ]
}

@test "tasksample: everything that is drawn depends on the seed" {
	echo '{"set": ["a", "b", "c", "d", "e", "f"], "d": ["u", "v", "w", "x", "y", "z"]}' >f.jsonl
	echo 'tasks: {a: {datasets: [{name: a, file: f.jsonl, query: set, document: d}]}}' >text.yaml
	each() { for seed in {1..12}; do tasksample --seed $seed "$@"; done; }
	[ "$(each text.yaml | batch_column query | sort -u | wc -l)" -gt 2 ]
	[ "$(each text.yaml | batch_column document | sort -u | wc -l)" -gt 2 ]
	plans() { each --plan --steps 1 "$@" | cut -f "$field" | grep -v '[a-z]\{4,\}s*$\|checksum' | sort -u | wc -l; }
	lists() { for seed in {1..6}; do tasksample --plan --seed $seed "$@" | cut -f "$field" | md5sum; done | sort -u | wc -l; }
	for batching in homogeneous heterogeneous static; do
		field=6 # the examples
		[ "$(lists --batching $batching mix.yaml)" -eq 6 ]
	done
	field=3 # the task
	[ "$(lists mix.yaml)" -gt 2 ]
	field=4 # the data set of a task
	[ "$(lists --task clustering --batching homogeneous -n 2 mix.yaml)" -eq 6 ]
	field=6
	[ "$(lists --task retrieval -n 100 mix.yaml)" -eq 6 ]
}

# 60 examples with queries i % 20 and documents i % 30.
repeats() {
	for i in {0..59}; do
		echo "{\"query\": \"q$((i % 20))\", \"document\": \"d$((i % 30))\", \"hard\": \"d$((i % 7))\"}"
	done >repeats.jsonl
	cat >repeats.yaml <<-'END'
		batch: 16
		tasks:
		  a:
		    datasets:
		      - {name: repeats, file: repeats.jsonl, negatives: hard}
	END
}

@test "tasksample: equal texts have equal keys, in every column" {
	repeats
	tasksample repeats.yaml | batches | grep -v '^#' | tr '\t' '\n' >out
	for field in query document; do
		paste <(grep "^$field=" out) <(grep "^$field.key=" out) | sed 's/[a-z.]*=//g'
	done >pairs
	paste <(grep '^negatives=' out) <(grep '^negatives.key=' out) | sed 's/[a-z.]*=//g; s/[][]//g' >>pairs
	[ "$(sort -u pairs | wc -l)" -eq 50 ]
	[ "$(cut -f1 pairs | sort -u | wc -l)" -eq 50 ]
	[ "$(cut -f2 pairs | sort -u | wc -l)" -eq 50 ]
	tasksample --duplicates keep repeats.yaml | batches >plain
	absent key= plain
}

@test "tasksample: --duplicates apart postpones examples, and every epoch has each example once" {
	repeats
	tasksample --duplicates apart --epochs 3 repeats.yaml | batches >out
	awk -F'\t' '/^#/ { split("", seen); next }
		{ if (seen[$1]++ || seen[$2]++) exit 1 }' out
	cut -f1,2 out | grep -v '^#' | sort | uniq -c | awk '$1 != 3 { exit 1 }' # 60 different pairs
	[ "$(grep -vc '^#' out)" -eq 180 ]
	# batches are full as long as an example fits
	awk '/^#/ { if (n) print n; n = 0; next } { n++ }' out | head -2 | awk '$1 != 16 { exit 1 }'
	# more examples wait than a batch can take
	for i in {0..99}; do echo "{\"query\": \"q$((i / 10))\", \"document\": \"d$((i % 10))\"}"; done >few.jsonl
	printf 'batch: 6\ntasks: {a: {datasets: [{name: few, file: few.jsonl}]}}\n' >few.yaml
	tasksample -q --duplicates apart few.yaml | batches >out
	awk -F'\t' '/^#/ { split("", seen); next } { if (seen[$1]++ || seen[$2]++) exit 1 }' out
	sed -n 's/.*query=\([a-z0-9]*\).*\tdocument=\([a-z0-9]*\).*/\1 \2/p' out | sort >found
	jq -r '"\(.query) \(.document)"' few.jsonl | sort | cmp - found
	# if all texts are equal, batches cannot be full
	for i in {1..40}; do echo '{"query": "same", "document": "same"}'; done >same.jsonl
	echo 'tasks: {a: {datasets: [{name: same, file: same.jsonl}]}}' >same.yaml
	run -0 tasksample --duplicates apart same.yaml -o apart.mts
	[[ $output == *"data set same: only 1 of 40 rows of batch 0 have texts of their own"* ]]
	[ "$(grep -c own <<<"$output")" -eq 1 ] # one warning
	[ "$(batches apart.mts | grep -c '^#')" -eq 40 ]
	for steps in "" "--steps 5"; do
		run -1 tasksample --duplicates apart --drop-last -b 2 $steps same.yaml -o lost.mts
		[[ $output == *"no data set fills a batch of 2 with texts that all differ"* ]]
		[ ! -e lost.mts ]
	done
}

# one FILE [QUERY] [DOCUMENT]: one.yaml, a recipe with one data set and these fields
one() {
	echo "tasks: {a: {datasets: [{name: a, file: $1, query: ${2-query}, document: ${3-document}}]}}" >one.yaml
}

# plain_apart: batches of 5 by a plain search for examples that fit, in the order of one epoch
plain_apart() {
	awk -F'\t' '{ q[NR] = $1; d[NR] = $2 }
		END { for (left = NR; left;) {
			split("", seen)
			for (i = n = 0; i++ < NR && n < 5;)
				if (!done[i] && !(("q", q[i]) in seen) && !(("d", d[i]) in seen)) {
					seen["q", q[i]] = seen["d", d[i]] = done[i] = 1
					line = (n++ ? line " " : "") q[i] "," d[i]
				}
			left -= n
			print line
		} }'
}

@test "tasksample: --duplicates apart takes postponed pairs in order, however many share a text" {
	printf 'batch: 5\ntasks: {a: {datasets: [{name: x, file: x.jsonl}]}}\n' >x.yaml
	# most have one of two documents; one query or one document; few queries and documents
	for rule in 'i, i % 10 ? i % 2 : i' 'i % 2 ? 0 : i, i % 2 ? i : 0' 'int(i / 17) % 17, i % 17' 'i % 3, i' \
		'int(i * i / 7) % 9, i * 5 % 11' 'i % 4 ? i % 3 : i, i % 5 ? i % 7 : i'; do
		awk "BEGIN { for (i = 0; i < 250; i++) printf \"{\\\"query\\\": \\\"q%d\\\", \\\"document\\\": \\\"d%d\\\"}\\n\", $rule }" >x.jsonl
		tasksample -q -b 1 x.yaml | mts to tsv -c query -c document | sed 1d | plain_apart >expected
		tasksample -q --duplicates apart x.yaml | batches >rows
		awk -F'\t' '/^#/ { if (line) print line; line = ""; next }
			{ sub("query=", "", $1); sub("document=", "", $2); line = line (line ? " " : "") $1 "," $2 } END { print line }' rows >found
		cmp expected found
	done
	# in linear time: searching all postponed examples for each batch would take minutes
	seq 300000 | awk '{ print "{\"query\": \"q" $1 "\", \"document\": \"d" $1 % 2 "\"}" }' >x.jsonl
	timeout 60 tasksample -q --plan --duplicates apart x.yaml >plan
	[ "$(wc -l <plan)" -ge 150001 ]
	seq 300000 | awk '{ i = $1; printf "{\"query\": \"q%d\", \"document\": \"d%d\"}\n", i % 2 ? 0 : i, i % 2 ? i : 0 }' >x.jsonl
	timeout 60 tasksample -q --plan --duplicates apart x.yaml >plan
	[ "$(wc -l <plan)" -ge 150001 ]
}

@test "tasksample: fields are named, joined, converted from numbers, and drawn from lists" {
	echo '{"q": ["x", "y"], "title": " T ", "text": "body", "none": "", "n": 3, "r": 0.5}' >f.jsonl
	one f.jsonl title+none+text n
	[ "$(tasksample one.yaml | batch_column query)" = "T body" ]
	[ "$(tasksample one.yaml | batch_column document)" = 3 ]
	one f.jsonl none r
	[ "$(tasksample one.yaml | batch_column query)" = "" ]
	[ "$(tasksample one.yaml | batch_column document)" = 0.5 ]
	one f.jsonl q text
	[ "$(tasksample --all one.yaml | batch_column query)" = x ]
	[ "$(tasksample --epochs 20 one.yaml | batch_column query | sort -u | tr '\n' ' ')" = "x y " ]
	printf '["a", "b"]\n["c", "d"]\n' >lists.jsonl
	one lists.jsonl 1 0
	[ "$(tasksample --all one.yaml | batch_column query | tr '\n' ' ')" = "b d " ]
	printf '{"query": "a", "document": "b", "hard": %s}\n' '"x"' null '[]' '["y", "z", "w"]' >neg.jsonl
	echo 'tasks: {a: {datasets: [{name: a, file: neg.jsonl, negatives: hard, max_negatives: 2}]}}' >neg.yaml
	[ "$(tasksample --all neg.yaml | batch_column negatives | tr '\n' ';')" = "[x];;;[y][z];" ]
}

@test "tasksample: reads TSV, gzip, zstd, pipes, several files, blank lines, CRLF and invalid UTF-8" {
	seq 0 99 | awk '{ print "{\"query\": \"q" $1 "\", \"document\": \"d" $1 "\"}" }' >a.jsonl
	one a.jsonl
	tasksample --all one.yaml | batch_column query >expected
	same() { one "$1"; tasksample --all one.yaml | batch_column query | cmp - expected; }
	gzip -c a.jsonl >a.jsonl.gz && same a.jsonl.gz
	zstd -q a.jsonl && same a.jsonl.zst
	(printf 'query\tdocument\n'; seq 0 99 | awk '{ print "q" $1 "\td" $1 }') >a.tsv && same a.tsv
	sed 's/$/\r/' a.tsv >crlf.tsv && same crlf.tsv
	gzip -c crlf.tsv >crlf.tsv.gz && same crlf.tsv.gz
	sed 's/$/\n\n \t \r/; 1s/^/\n\xef\xbb\xbf/; 1s/\xef\xbb\xbf//' a.jsonl >blank.jsonl && same blank.jsonl
	sed '1s/^/\xef\xbb\xbf/' a.jsonl >bom.jsonl && same bom.jsonl
	sed '1s/^/\xef\xbb\xbf/' a.tsv >bom.tsv && same bom.tsv
	tr '\t' , <a.tsv >a.csv && same a.csv
	sed 's/$/\r/; s/q7,d7\r/"q7","d7"\r/' a.csv | gzip >crlf.csv.gz && same crlf.csv.gz
	(cat a.tsv; echo; echo) >end.tsv && same end.tsv
	(cat a.csv; printf '\r\n') >end.csv && same end.csv
	head -c -1 a.jsonl >noend.jsonl && same noend.jsonl
	split -l 33 a.jsonl part. && same "[part.aa, part.ab, part.ac, part.ad]"
	mkfifo pipe.jsonl
	cat a.jsonl >pipe.jsonl &
	same pipe.jsonl
	mkdir sub && cp a.jsonl sub/b.jsonl && one b.jsonl
	tasksample -C sub --all one.yaml | batch_column query | cmp - expected
	(cd sub && tasksample --all ../one.yaml | batch_column query | cmp - ../expected)
	# shuffled reads find the same lines, across groups and files
	one "[part.aa, part.ab, part.ac, part.ad]"
	tasksample one.yaml | batch_column query | sort | cmp - <(sort expected)
	printf '{"query": "a\xff\xfe", "document": "b"}\n' >bad.jsonl && one bad.jsonl
	run -0 --separate-stderr bash -c 'tasksample one.yaml | batches | grep -o "query=[^	]*"'
	[[ $output == $'query=a\xef\xbf\xbd\xef\xbf\xbd' ]]
	[[ $stderr == *"data set a: has invalid UTF-8"* ]]
}

@test "tasksample: compressed files are unpacked to --tmpdir and removed afterwards" {
	gzip big.jsonl && sed -i 's/big.jsonl/&.gz/' mix.yaml
	mkdir empty
	tasksample --tmpdir empty mix.yaml -o a.mts
	[ -z "$(ls -A empty)" ]
	run -1 env TMPDIR="$T/none" tasksample mix.yaml -o b.mts
	[[ $output == *"$T/none: cannot make a temporary file there"*"--tmpdir"* ]]
	[ ! -e b.mts ]
}

# bats test_tags=plain
@test "tasksample: memory does not grow with the file" {
	[[ $BUILD != *sanitize* ]] || skip "the sanitizer needs all addresses"
	awk 'BEGIN { for (i = 0; i < 400000; i++) printf "{\"query\": \"q%d\", \"document\": \"%0200d\"}\n", i, i }' >large.jsonl
	one large.jsonl
	zstd -q -1 large.jsonl
	for name in large.jsonl large.jsonl.zst; do # 91 MB each
		one $name
		(ulimit -v 60000 && tasksample --skip 780 one.yaml) | batch_column query >rest
		[ "$(wc -l <rest)" -eq $((400000 - 780 * 512)) ]
	done
}

# fails TEXT [OPTION...]: exit 1, the text in a message of one line, and no output
fails() {
	local text=$1
	shift
	run -1 tasksample "$@" -o lost.mts
	echo "$output"
	[[ $output == "tasksample: "*"$text"* ]]
	[ "$(grep -vc warning: <<<"$output")" -eq 1 ]
	[ ! -e lost.mts ]
}

# broken SED TEXT: the recipe edited by sed fails with the text
broken() {
	sed "$1" mix.yaml >broken.yaml
	cmp -s broken.yaml mix.yaml && return 1
	fails "broken.yaml:$2" broken.yaml
}

@test "tasksample: a faulty recipe is refused with the line" {
	broken 's/temperature: 0.06/temperatur: 0.06/' "14: 'temperatur' is not known here; known are datasets, batching,"
	broken 's/document: "search/docment: "search/' "7: 'docment' is not known"
	broken 's/max_negatives/most/' "10: 'most' is not known"
	broken 's/^batch/batches/' "2: 'batches' is not known"
	broken 's/heterogeneous/hetero/' "13: 'hetero' is not known as 'batching'; it is one of homogeneous, heterogeneous, static"
	broken 's/heterogeneous/static/' "13: static batches mix all tasks"
	broken 's/file: left.jsonl/&, weight: -1/' "18: 'weight' is -1; it must be above 0"
	broken 's/file: left.jsonl/&, weight: 0/' "18: 'weight' is 0; it must be above 0"
	broken 's/file: left.jsonl/&, weight: much/' "18: 'weight' is a string"
	broken 's/batch: 16/batch: 0/' "2: 'batch' is 0; it must be in 1.."
	broken 's/seed: 42/seed: -1/' "1: 'seed' is -1"
	broken 's/temperature: 0.06/temperature: 0/' "14: 'temperature' is 0"
	broken 's/name: right/name: big/' "19: the data set 'big' is there twice"
	broken 's/name: right, //' "19: 'name' is missing"
	broken 's/, file: right.jsonl//' "19: 'file' is missing"
	broken 's/file: right.jsonl/file: []/' "19: 'file' is an empty list"
	broken 's/clustering:$/retrieval:/' "12: 'retrieval' is given twice"
	broken 's/temperature: 0.06/temperature: [0.06/' "15: not valid YAML"
	broken '4,$d' "1: 'tasks' is missing"
	broken '5,$d; s/tasks:/tasks: 3/' "4: 'tasks' must be a mapping"
	broken '9s/$/ []/; 10,11d' "9: 'datasets' must be a list"
	fails "nothere.yaml: No such file" nothere.yaml
	fails "there is no task 'tasks' in it" --task tasks mix.yaml
	: >nothing.yaml
	fails "nothing.yaml: empty" nothing.yaml
}

@test "tasksample: faulty data are refused with the line" {
	cp small.jsonl good.jsonl
	rm small.jsonl
	fails "small.jsonl: No such file" mix.yaml
	: >small.jsonl
	fails "small.jsonl: has no examples" mix.yaml
	printf '\n \n' >small.jsonl
	fails "small.jsonl: has no examples" mix.yaml
	sed '1s/"query"/"qery"/' good.jsonl >small.jsonl
	fails "small.jsonl:1: has no field 'query'" --steps 0 mix.yaml
	sed '9s/"query"/"qery"/' good.jsonl >small.jsonl
	fails "small.jsonl:9: has no field 'query'" mix.yaml
	sed '9s/$/\n\n/; 10s/"small d9"/null/' good.jsonl >small.jsonl
	fails "small.jsonl:12: is neither text nor number: field 'document'" mix.yaml
	sed '20s/.$//' good.jsonl >small.jsonl
	fails "small.jsonl:20: not valid JSON" mix.yaml
	sed '20s/.*/7/' good.jsonl >small.jsonl
	fails "small.jsonl:20: neither an object nor a list" mix.yaml
	sed 's/hard/had/' big.jsonl >bad.jsonl && cp good.jsonl small.jsonl && mv bad.jsonl big.jsonl
	fails "big.jsonl:1: has no field 'hard'" mix.yaml
	mkdir folder && one folder
	fails "folder: a folder" one.yaml
	printf 'version https://git-lfs.github.com/spec/v1\n' >lfs.jsonl && one lfs.jsonl
	fails "a Git LFS pointer" one.yaml
	printf 'query\tdocument\na\tb\na\tb\tc\n' >t.tsv && one t.tsv
	fails "t.tsv:3: 3 fields where the header line has 2" one.yaml
	printf 'query,document\na,"b\nc"\nd,"e"f\n' >t.csv && one t.csv
	fails "t.csv:4: value 2: there is text behind its closing quote" one.yaml
	printf '{"query": "a", "document": "b\0"}\n' >nul.jsonl && one nul.jsonl
	fails "nul.jsonl:1: a byte 0" one.yaml
	printf '{"query": "a", "document": "b"}\n{"query": "%01000d", "document": "b"}\n' 1 >long.jsonl && one long.jsonl
	fails "long.jsonl:2: the line is longer than 1000 bytes; is it text? (--max-line allows more)" --max-line 1000 one.yaml
	one t.tsv
	printf 'query\tquery\na\tb\n' >t.tsv
	fails "t.tsv:1: two columns are called 'query'" one.yaml
	printf 'query\tdocument\n' >t.tsv
	fails "t.tsv: has no examples" one.yaml
	zstd -q good.jsonl && head -c 200 good.jsonl.zst >cut.jsonl.zst && one cut.jsonl.zst
	fails "cut.jsonl.zst: " one.yaml
	fails "no data set fills a batch of 1000" --drop-last -n 1000 mix.yaml
	sed -i 's/had/hard/' big.jsonl
	run -0 tasksample -b 1000 mix.yaml -o large.mts
	[[ $output == *"warning: data set small has 30 examples, fewer than a batch of 1000"* ]]
}

@test "tasksample: hundreds of files need few descriptors; a file that changes is refused" {
	for i in {100..299}; do
		echo "{\"query\": \"q$i\", \"document\": \"d$i\"}" >part.$i.jsonl
		((i % 2)) || gzip part.$i.jsonl
	done
	echo "tasks: {a: {datasets: [{name: a, file: [$(ls part.* | paste -sd,)]}]}}" >parts.yaml
	(ulimit -n 12 && tasksample parts.yaml) | batches | grep -o '^query=[^	]*' | sort | cmp - <(seq 100 299 | sed 's/^/query=q/')
	mkfifo pipe
	(exec 3>pipe && sleep 0.3 && echo ' ' >>part.101.jsonl && cat part.201.jsonl >&3) &
	echo "tasks: {a: {datasets: [{name: a, file: [part.101.jsonl, pipe]}]}}" >parts.yaml
	fails "part.101.jsonl: changed while it was read" parts.yaml
}

@test "tasksample: a full disk is an error" {
	[ -e /dev/full ] || skip "needs /dev/full"
	run -1 bash -c 'tasksample mix.yaml >/dev/full'
	run -1 bash -c 'tasksample --plan mix.yaml >/dev/full'
}

@test "tasksample: usage errors exit 2 with an empty standard output" {
	for arguments in "" "mix.yaml mix.yaml" "-n 0 mix.yaml" "-n x mix.yaml" "--seed -1 mix.yaml" \
		"--epochs 0 mix.yaml" "--skip -1 mix.yaml" "--rank 1 mix.yaml" "--ranks 0 mix.yaml" \
		"--rank 2 --ranks 2 mix.yaml" "--duplicates some mix.yaml" "--batching mixed mix.yaml" \
		"--level 20 mix.yaml" "--what mix.yaml"; do
		run -2 --separate-stderr tasksample $arguments
		[ -z "$output" ]
		[[ $stderr == *"Try 'tasksample --help'."* ]]
	done
}

@test "tasksample: a data set gives the same batches as lines, as arrays, compressed, and with other line ends" {
	printf 'query\tdocument\n' >x.tsv
	for ((i = 0; i < 50; i++)); do
		echo "{\"query\": \"q $i\", \"document\": \"d $i ]}[\"}" >>x.jsonl
		printf 'q %s\td %s ]}[\n' $i $i >>x.tsv
	done
	jq -s . x.jsonl >array.json
	jq -sc . x.jsonl >line.json
	jq -sc 'map([.query, .document])' x.jsonl >lists.json
	jq -s 'map([.query, .document])' x.jsonl >high.json
	tr '\n' '\r' <x.jsonl >cr.jsonl
	tr '\n' '\r' <x.tsv >cr.tsv
	xz -k x.jsonl
	bzip2 -k array.json
	mkdir kept
	for file in x.jsonl {array,line,lists,high}.json cr.jsonl {x,cr}.tsv x.jsonl.xz array.json.bz2; do
		printf 'batch: 8\nseed: 3\ntasks: {t: {datasets: [{name: x, file: %s}]}}\n' $file >forms.yaml
		tasksample -q forms.yaml | mts to jsonl >$file.batches
		[ "$(wc -l <$file.batches)" -eq 50 ]
		cmp $file.batches x.jsonl.batches
		for again in first second; do
			: $again
			tasksample -q --index kept forms.yaml | mts to jsonl | cmp - x.jsonl.batches
		done
	done
}

@test "tasksample: options that do not apply to --all or --plan are refused" {
	does_not_apply --level tasksample --plan --level 3 mix.yaml
	does_not_apply --seed tasksample --all -s 3 mix.yaml
	for option in "epochs 2" drop-last "duplicates apart" "batching static"; do
		does_not_apply "--${option% *}" tasksample --all --$option mix.yaml
	done
	tasksample --plan mix.yaml >plan
	tasksample --plan -o x mix.yaml
	cmp x plan
	tasksample --all --plan --steps 2 -b 5 --task clustering mix.yaml >y
	[ "$(wc -l <y)" -eq 3 ]
}

@test "tasksample: the page's recipe and its examples work" {
	sed -n '/^.Sh RECIPE/,/^.Ed/p' "$ROOT/man/tasksample.1" | sed '1,/^.Bd/d; /^.Ed/d' >mix.yaml
	echo '{"query": "q", "title": "t", "text": "x", "hard": ["h"]}' >nq.jsonl
	for part in 0 1; do
		printf 'question\tanswer\nq%d\ta%d\n' $part $part | gzip >faq-$part.tsv.gz
	done
	echo '{"title": "t", "other": "o"}' | zstd -q >topics.jsonl.zst
	printf '{"headline": "h%d", "body": "b"}\n' 1 2 3 4 >news.jsonl
	run -0 --separate-stderr tasksample --plan mix.yaml
	[ "${#lines[@]}" -eq 4 ]
	[[ $output == *"topics=2,news=4"* ]]
	tasksample mix.yaml | batches | grep -c 'document=t x	negatives=\[h\]'
	tasksample --skip 1 mix.yaml >rest.mts
	[ "$(batches rest.mts | grep -c '^#')" -eq 2 ]
	[ "$(tasksample --all mix.yaml | batch_column query | wc -l)" -eq 8 ]
}
