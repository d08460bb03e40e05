#!/usr/bin/env bats
load helper

# Golden values: tests/golden/moee.py (numpy, scipy).

setup() {
	cd "$T" || return
	pairs 7 >pairs.mts
}

pairs() { # ROWS of each record
	mkstream "$1" <"$GOLDEN/moee_pairs.jsonl"
}

# given SET: the golden pairs of a set, with given similarities
given() {
	grep "\"$1\"" "$GOLDEN/moee_alpha.jsonl" | mkstream 9
}

# golden COLUMN: the golden similarities; score COLUMN: their correlation with the gold scores
golden() {
	awk -F'\t' -v name="$1" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) at = i; next }
		/^#/ { exit } { print $at }' "$GOLDEN/moee_similarity.tsv"
}
score() {
	awk -F'\t' -v name="$1" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) at = i }
		END { print $at }' "$GOLDEN/moee_similarity.tsv"
}

similarities() {
	mts to jsonl | jq .similarity
}

# property STREAM: how the stream's vectors were made
property() {
	mts head "$1" | sed -n 's/^property\temb\t//p'
}

# fails WORDS COMMAND...: exit 1 and one line with the words
fails() {
	run -1 --separate-stderr "${@:2}"
	echo "$stderr"
	[[ $stderr == *"$1"* ]]
	[ "${#stderr_lines[@]}" -eq 1 ]
}

# refuses WORDS COMMAND...: a usage error with the words
refuses() {
	run -2 --separate-stderr "${@:2}"
	echo "$stderr"
	[[ $stderr == *"$1"* ]]
	[ -z "$output" ]
}

# vectors FILTER: jq with functions on vectors
vectors() {
	jq -e -s 'def dot(a; b): [a, b] | transpose | map(.[0] * .[1]) | add;
		def norm(a): dot(a; a) | sqrt;
		def cosine(a; b): dot(a; b) / norm(a) / norm(b);
		def near(a; b; by): (a - b | fabs) < by;
		'"$1" >/dev/null
}

# 1. known answers

@test "moee-sim: a pair's similarity by each --combine is the reference's" {
	for how in hs rw concat; do
		moee-sim --combine $how pairs.mts | similarities | within <(golden $how) 1e-12
	done
	moee-sim --alpha 0.5 pairs.mts | similarities | within <(golden sum) 1e-12
	moee-sim --combine sum --alpha 0.5 <pairs.mts | cat | similarities | within <(golden sum) 1e-12
}

@test "moee-sim: mteb-score of its vectors equals the correlation of the similarities" {
	for how in hs rw concat "sum --alpha 0.5"; do
		# shellcheck disable=SC2086
		moee-sim --combine $how pairs.mts | mteb-score sts >scores
		grep -c '^main_score' scores
		awk '$1 == "main_score" { print $2 }' scores | within <(score "${how%% *}") 1e-9
	done
}

@test "moee-sim: the dot product of two vectors is the summed similarity" {
	moee-sim --alpha 0.5 --keep pairs.mts | mts to jsonl >sum
	vectors 'length == 40 and all(
		near(dot(."sentence1.emb"; ."sentence2.emb"); .similarity; 1e-6) and
		near(cosine(."sentence1.emb"; ."sentence2.emb") * 1.5; .similarity; 1e-6) and
		near(cosine(."sentence1.hs"; ."sentence2.hs") + cosine(."sentence1.rw"; ."sentence2.rw") / 2; .similarity; 1e-6) and
		near(norm(."sentence1.emb"[:6]); 1; 1e-6) and near(norm(."sentence1.emb"[6:]); 0.5 | sqrt; 1e-6))' <sum
	for how in concat hs rw; do
		moee-sim --combine $how --keep pairs.mts | mts to jsonl >$how
	done
	vectors 'all(."sentence1.emb" == ."sentence1.hs" + ."sentence1.rw")' <concat
	vectors 'all(."sentence1.emb" == ."sentence1.hs" and ."sentence2.emb" == ."sentence2.hs")' <hs
	vectors 'all(."sentence1.emb" == ."sentence1.rw" and ."sentence2.emb" == ."sentence2.rw")' <rw
}

@test "moee-sim: --alpha auto is the middle of the best interval, auto=grid the best tenth" {
	while IFS=$'\t' read -r set low high mean grid; do
		given "$set" >set.mts
		moee-sim -v --alpha auto set.mts >auto.mts 2>said
		# alpha is inside the interval and has the fewest digits: with one fewer the middle would be rounded out of it
		property auto.mts | awk -F= -v low="$low" -v high="$high" '{
			digits = $2; sub(/e.*/, "", digits); gsub(/^[0.]*|[.]/, "", digits)
			fewer = sprintf("%." (length(digits) - 1) "g", $2) + 0; third = (high - low) / 3
			exit !($2 > low && $2 < high && (length(digits) == 1 || fewer < low + third || fewer > high - third)) }'
		sed -n 's/.*correlates \(.*\) with hidden states, \(.*\) with routing.*/\1 \2/p' said |
			awk '{ print ($1 + $2) / 2 }' | within <(echo "$mean") 1e-6
		moee-sim --alpha auto=grid set.mts >grid.mts
		[ "$(property grid.mts)" = "moee-sim:sum:alpha=${grid%.0}" ]
		sets+=" $set"
	done < <(tail -n +2 "$GOLDEN/moee_alpha.tsv")
	[ "$sets" = " plain tied against narrow few" ]
}

@test "moee-sim: --alpha auto when all crossings are at one end of the scale" {
	# hidden states differ by millionths, except in one pair that is first in both lists and so crosses none: the best alpha
	# is a millionth
	given plain | mts to jsonl | jq -c '."b.hs" = [."b.hs"[0] * 1e-6, 1]' >crowded.jsonl
	tail -n 1 crowded.jsonl | jq -c '."b.hs" = [1, 1] | ."b.rw" = ."a.rw"' >>crowded.jsonl
	property <(mkstream 9 <crowded.jsonl | moee-sim --alpha auto) >found
	awk -F'[=\t]' 'NR == FNR { if ($1 == "plain") { low = $2; high = $3 } next }
		{ inside = $2 > low * 1e-6 && $2 < high * 1e-6 } END { exit !inside }' "$GOLDEN/moee_alpha.tsv" found
}

@test "moee-sim: --alpha auto may be beyond the last crossing" {
	# the only crossing is at 91,234, near the end of the scale; beyond it routing weights decide, and two of them are equal
	jq -c '{"a.hs": [1, 0], "b.hs": [.[0], 1], "a.rw": [1, 0], "b.rw": [.[1], 1]}' <<<'[0.1,1e-6] [0.2,2e-6] [0.3,1e-6] [1,1]' |
		mkstream >last.mts
	property <(moee-sim --alpha auto last.mts) | awk -F= '{ exit !($2 > 91235) }'
}

@test "moee-sim: --alpha auto skips an interval that is too narrow for a number" {
	# On the scale p = alpha / (1 + alpha), where both similarities vary alike: two pairs cross at 1e-13 below the middle,
	# 1/2, and two above it, and between them the correlation is greatest. Outside of it the best p is from 0.2 to 0.3,
	# and by symmetry from 0.7 to 0.8.
	awk 'function put(h, r, t) {
			printf "{\"a.hs\":[1,0,1e-7],\"b.hs\":[%g,1,%g],\"a.rw\":[1,0,1e-7],\"b.rw\":[%g,1,%g]}\n", h, t, r, t
		}
		BEGIN {
			put(-.1, .1, 0); put(.1, -.1, 0); put(0, 0, 1e-7); put(0, 0, -1e-7)
			put(.5, .6, 0); put(.52, .52, 0); put(.53, .53, 0)
			put(-.6, -.5, 0); put(-.52, -.52, 0); put(-.53, -.53, 0)
		}' | mkstream >narrow.mts
	property <(moee-sim --alpha auto narrow.mts) >found
	cat found
	awk -F= '{ exit !($2 > 0.25 && $2 < 0.43 || $2 > 2.3 && $2 < 4) }' found
}

# bats test_tags=plain
@test "moee-sim: --alpha auto keeps only the crossings near the best one in memory" {
	case $BUILD in *sanitize*) skip "ASan has memory of its own" ;; esac
	[ -x /usr/bin/time ] || skip "needs time(1)"
	seeded_awk 'BEGIN { srand(1); for (i = 0; i < 4000; i++) printf "{\"a.hs\":[1,0],\"b.hs\":[%.6f,1],\"a.rw\":[1,0],\"b.rw\":[%.6f,1]}\n", rand(), rand() }' |
		mkstream 100 >many.mts
	/usr/bin/time -f %M -o kilobytes moee-sim --alpha auto -o out.mts many.mts
	cat kilobytes
	[ "$(<kilobytes)" -lt 50000 ] # four million crossings of 24 bytes would take 96 MB
}

# 2. what each option changes

@test "moee-sim: --norm standardises over batches of a side and over all rows" {
	for rows in 1 7 16 40; do
		pairs $rows >these.mts
		for how in batch=16 corpus; do
			moee-sim --norm $how --alpha 0.5 these.mts | similarities | within <(golden "sum_${how%=*}") 1e-6
			moee-sim --norm $how --combine concat <these.mts | similarities | within <(golden "concat_${how%=*}") 1e-6
		done
	done
	moee-sim --norm batch=40 --alpha auto pairs.mts | similarities >all
	moee-sim --norm batch=1000 --alpha auto pairs.mts | similarities | cmp - all
	moee-sim --norm none --alpha 0.5 pairs.mts | similarities | within <(golden sum) 1e-12
	run ! cmp -s <(moee-sim --norm corpus --combine hs pairs.mts | similarities) <(golden hs)
}

@test "moee-sim: standardised dimensions have mean 0 and deviation 1" {
	moee-sim --norm corpus --combine hs pairs.mts | mts to jsonl | vectors 'map(."sentence1.emb", ."sentence2.emb") | transpose |
		all((add / length | fabs) < 1e-6 and (map(. * .) | add / 79 | near(.; 1; 1e-5)))'
}

@test "moee-sim: a batch of one row becomes zeros, with a warning" {
	run -0 --separate-stderr moee-sim --norm batch=13 -o out.mts pairs.mts
	[[ $stderr == *"pairs.mts: 2 hidden states or routing weights of sentence1 are zero: their cosine counts as 0"* ]]
	mts to jsonl out.mts | vectors 'length == 40 and (.[39] | .similarity == 0 and (."sentence2.emb" | all(. == 0))) and
		(.[:39] | all(.similarity != 0))'
}

@test "moee-sim: --norm corpus=FILE standardises by the statistics of another stream" {
	moee-sim --norm corpus pairs.mts >own.mts
	moee-sim --norm corpus=pairs.mts <pairs.mts | cat >other.mts
	cmp <(similarities <own.mts) <(similarities <other.mts)
	[ "$(property own.mts)" = "$(property other.mts)" ]
	head -n 5 "$GOLDEN/moee_pairs.jsonl" | mkstream >few.mts
	moee-sim --norm corpus=pairs.mts few.mts | similarities | cmp - <(similarities <own.mts | sed -n 1,5p)
	moee-sim --norm corpus few.mts >few-own.mts
	[ "$(property few-own.mts)" != "$(property own.mts)" ]
	moee-sim --norm corpus=few.mts --alpha auto pairs.mts >few-auto.mts
	run ! cmp -s <(similarities <few-auto.mts) <(similarities <own.mts)
}

@test "moee-sim: lists get lists of vectors and no similarity; alpha comes from the pairs of query and text" {
	given plain >plain.mts
	moee-sim --alpha auto plain.mts >pairs-auto.mts
	mts to jsonl plain.mts | jq -c -s '{"positive.hs": .[:7] | map(."b.hs"), "positive.rw": .[:7] | map(."b.rw"),
		"query.hs": .[0]."a.hs", "query.rw": .[0]."a.rw", "negative.hs": .[7:] | map(."b.hs"), "negative.rw": .[7:] | map(."b.rw")} | ., .' >lists.jsonl
	head -n 1 lists.jsonl | mkstream >one.mts
	moee-sim --alpha auto one.mts >lists.mts
	[ "$(property lists.mts)" = "$(property pairs-auto.mts)" ]
	cmp <(mts to jsonl lists.mts | jq -c '."positive.emb"[], ."negative.emb"[]') <(mts to jsonl pairs-auto.mts | jq -c '."b.emb"')
	mts to jsonl lists.mts | vectors 'length == 1 and (.[0] | keys) == ["negative.emb", "positive.emb", "query.emb"]'
	mteb-score reranking lists.mts | grep -c '^main_score'
	# batches of texts do not depend on rows and records
	mkstream 1 <lists.jsonl >two.mts
	moee-sim --norm batch=20 two.mts | mts to jsonl | jq -c '."negative.emb"[]' >batched
	mts to jsonl two.mts | jq -c '[."negative.hs", ."negative.rw"] | transpose[] | {"x.hs": .[0], "x.rw": .[1]}' | mkstream 3 |
		moee-sim --norm batch=20 | mts to jsonl | jq -c '."x.emb"' | cmp - batched
}

@test "moee-sim: other columns pass; --keep keeps the vectors" {
	moee-sim pairs.mts | mts to jsonl | vectors 'length == 40 and (.[0] | keys) == ["score", "sentence1.emb", "sentence2.emb", "similarity"]'
	moee-sim --keep --combine hs pairs.mts | mts to jsonl | vectors '.[0] | keys | length == 8'
	# hidden states are removed even if only routing weights are combined
	moee-sim --combine rw pairs.mts | mts to jsonl | vectors '.[0] | keys | length == 4'
	moee-sim --combine rw pairs.mts >rw.mts
	[ "$(property rw.mts)" = moee-sim:rw ]
	moee-sim --norm batch=8 pairs.mts >batch.mts
	[ "$(property batch.mts)" = moee-sim:sum:alpha=1:norm=batch=8 ]
	# an existing embedding is replaced
	printf '{"x.emb": [1, 2, 3], "x.hs": [3, 4], "x.rw": [0, 2], "id": 7}\n' | mkstream 1 f32 M | moee-sim --alpha 4 >x.mts
	[ "$(mts to jsonl x.mts | jq -c '[."x.emb", .id] | tojson | gsub("[.]0\\b"; "") | fromjson | map(if type == "array" then map(. * 1e6 | round / 1e6) else . end)')" = '[[0.6,0.8,0,2],7]' ]
	mts head x.mts | grep -c '^property	model	M'
	moee-sim --level 0 pairs.mts >stored.mts
	moee-sim --level 9 pairs.mts >small.mts
	[ "$(wc -c <small.mts)" -lt "$(wc -c <stored.mts)" ]
	cmp <(mts to jsonl small.mts) <(mts to jsonl stored.mts)
}

@test "moee-sim: f64 and bf16 are read" {
	mkstream 7 f64 <"$GOLDEN/moee_pairs.jsonl" | moee-sim --alpha 0.5 --norm corpus | similarities | within <(golden sum_corpus) 1e-6
	mkstream 7 bf16 <"$GOLDEN/moee_pairs.jsonl" | moee-sim --alpha 0.5 | similarities | within <(golden sum) 0.02
}

@test "moee-sim: near refuses to compare vectors that were made in different ways" {
	mts to jsonl pairs.mts | jq -c '{"_id": "d\(input_line_number)", "t.hs": ."sentence1.hs", "t.rw": ."sentence1.rw"}' | mkstream >docs.mts
	mts to jsonl pairs.mts | jq -c '{"_id": "q\(input_line_number)", "t.hs": ."sentence2.hs", "t.rw": ."sentence2.rw"}' | mkstream >asks.mts
	for alpha in 0.5 0.7; do
		moee-sim --alpha $alpha -o d$alpha.mts docs.mts
		moee-sim --alpha $alpha -o q$alpha.mts asks.mts
	done
	near --json q0.5.mts d0.5.mts >found
	[ "$(wc -l <found)" -eq 40 ]
	fails "d0.7.mts: its vectors are moee-sim:sum:alpha=0.7, those of q0.5.mts are moee-sim:sum:alpha=0.5" near q0.5.mts d0.7.mts
	near --any-model q0.5.mts d0.7.mts >found
	printf 'query-id\tcorpus-id\tscore\nq1\td1\t1\n' >qrels.tsv
	mteb-score retrieval --qrels qrels.tsv q0.5.mts d0.5.mts >scores
	fails "make both alike" mteb-score retrieval --qrels qrels.tsv q0.7.mts d0.5.mts
	# cosines have the order of the sums
	moee-sim --alpha 0.5 --keep docs.mts | mts to jsonl | jq -c . >d.jsonl
	moee-sim --alpha 0.5 --keep asks.mts | mts to jsonl | sed -n 1p >q.jsonl
	cat q.jsonl d.jsonl | jq -r -s 'def dot(a; b): [a, b] | transpose | map(.[0] * .[1]) | add;
		def cosine(a; b): dot(a; b) / (dot(a; a) * dot(b; b) | sqrt);
		.[0] as $q | [.[1:][] | [cosine(."t.hs"; $q."t.hs") + cosine(."t.rw"; $q."t.rw") / 2, ._id]] |
		sort_by(-.[0]) | .[:5][] | .[1]' >order
	near --top 5 --run - q0.5.mts d0.5.mts | awk 'NR <= 5 { print $3 }' | cmp - order
}

@test "moee-sim: --combine apart writes both parts as separate embeddings" {
	moee-sim --combine apart --keep pairs.mts >apart.mts
	[ "$(property apart.mts)" = moee-sim:apart ]
	mts to jsonl apart.mts | vectors 'length == 40 and (.[0] | keys | length == 9) and all(
		."sentence1.hs.emb" == ."sentence1.hs" and ."sentence1.rw.emb" == ."sentence1.rw" and
		."sentence2.hs.emb" == ."sentence2.hs" and ."sentence2.rw.emb" == ."sentence2.rw")'
	moee-sim --combine apart --norm corpus pairs.mts | mts to jsonl | jq -c '."sentence2.rw.emb"' >apart
	moee-sim --combine rw --norm corpus pairs.mts | mts to jsonl | jq -c '."sentence2.emb"' | cmp - apart
	does_not_apply --alpha moee-sim --combine apart --alpha 2 pairs.mts
}

# apart SET PART: SET-PART.mts, the rows of a golden set
apart() {
	grep "\"$1 $2\"" "$GOLDEN/moee_legacy.jsonl" | mkstream 16 | moee-sim --combine apart -o "$1-$2.mts"
}

@test "moee-sim: mteb-score --legacy-sum averages labels and clusters as the released code does" {
	for set in two three; do
		apart $set train
		apart $set test
		for weight in 1 0.5; do
			sum=(--legacy-sum $weight -f t.hs -f t.rw)
			{
				mteb-score classification --protocol v1 "${sum[@]}" --train $set-train.mts $set-test.mts |
					awk -v name="$set $weight" '$1 == "accuracy" || $1 == "f1" || $1 == "ap" { print name, $1, $2 }'
				mteb-score clustering "${sum[@]}" --sklearn 1.9 $set-test.mts |
					awk -v name="$set $weight" '$1 == "v_measure" { print name, $1, $2 }'
			}
		done
	done >scores
	cut -d ' ' -f 1-3 scores | cmp - <(cut -f 1 "$GOLDEN/moee_legacy.tsv")
	cut -d ' ' -f 4 scores | within <(cut -f 2 "$GOLDEN/moee_legacy.tsv") 1e-9
	mteb-score clustering "${sum[@]}" three-test.mts >scores
	grep -q 'legacy sum t.hs + 0.5 t.rw' scores
	mteb-score classification "${sum[@]}" --per-query rows.tsv --train two-train.mts two-test.mts >scores
	[ "$(wc -l <rows.tsv)" -eq 91 ]
}

@test "moee-sim: mteb-score --legacy-sum over lists equals --legacy-sum over rows" {
	apart three test
	sum=(clustering --legacy-sum 1 -f t.hs -f t.rw)
	mts to jsonl three-test.mts | jq -c -s '{"t.hs.emb": map(."t.hs.emb"), "t.rw.emb": map(."t.rw.emb"), "labels": map(.label)}' >set.jsonl
	mkstream 1 <set.jsonl >set.mts
	mteb-score "${sum[@]}" set.mts | grep '^v_measure	' | cmp - <(mteb-score "${sum[@]}" three-test.mts | grep '^v_measure	')
	jq -c '."t.rw.emb" |= .[1:]' set.jsonl | mkstream 1 >uneven.mts
	fails "uneven.mts: record 1: row 1 has 99 in t.rw.emb and 100 in labels" mteb-score "${sum[@]}" uneven.mts
	jq -c '."t.rw.emb" |= .[0]' set.jsonl | mkstream 1 >single.mts
	fails "column 't.rw.emb' has a vector a row, and lists of vectors are wanted" mteb-score "${sum[@]}" single.mts
}

# 3. usage

@test "moee-sim: usage errors exit 2" {
	for value in -1 -0.001 nan inf x '' 1e13 auto=all; do
		refuses "--alpha: '$value' is neither auto, auto=grid nor a number from 0 to 1e12" moee-sim --alpha "$value" pairs.mts
	done
	for value in batch corpora batch=0 batch=x; do
		refuses "--norm" moee-sim --norm "$value" pairs.mts
	done
	refuses "--combine: 'add' is not one of sum, concat, hs, rw" moee-sim --combine add pairs.mts
	for how in hs rw concat; do
		refuses "--alpha does not apply to --combine $how" moee-sim --combine $how --alpha 1 pairs.mts
	done
	refuses "--norm batch does not apply to --combine hs" moee-sim --combine hs --norm batch=4 pairs.mts
	refuses "one input at a time" moee-sim pairs.mts pairs.mts
	refuses "standard input can be read only once" moee-sim --norm corpus=- <pairs.mts
	mts cat -c sentence1.hs,sentence1.rw pairs.mts >texts.mts
	refuses "give a VALUE" moee-sim --alpha auto texts.mts
	refuses "give a VALUE" moee-sim --alpha auto=grid texts.mts
	for type in "classification --train pairs.mts" clustering; do
		# shellcheck disable=SC2086
		refuses "give --field twice" mteb-score $type --legacy-sum 1 -f sentence1 pairs.mts
		# shellcheck disable=SC2086
		refuses "give --field twice" mteb-score $type --legacy-sum 1 pairs.mts
		# shellcheck disable=SC2086
		refuses "takes one --field" mteb-score $type -f sentence1 -f sentence2 pairs.mts
	done
	does_not_apply --legacy-sum mteb-score sts --legacy-sum 1 pairs.mts
	refuses "--legacy-sum: '0' is not a number" mteb-score clustering --legacy-sum 0 pairs.mts
	refuses "--legacy-sum reads both streams twice: name the files" mteb-score classification --legacy-sum 1 -f a -f b --train pairs.mts <pairs.mts
	moee-sim --alpha 0 texts.mts >zero.mts
	mts to jsonl zero.mts | vectors 'length == 40 and all(."sentence1.emb"[6:] | all(. == 0))'
}

# 4. wrong input

@test "moee-sim: columns that are missing or do not fit together are refused" {
	mts cat -c sentence1.hs,sentence2.hs,sentence2.rw pairs.mts >half.mts
	fails "half.mts: there is no column 'sentence1.rw' of routing weights; encode --emit hs,rw makes it" moee-sim half.mts
	moee-sim --combine hs half.mts | similarities | within <(golden hs) 1e-12
	mts cat -c sentence1.rw,sentence2.rw pairs.mts >rw.mts
	fails "there is no column 'sentence1.hs' of hidden states" moee-sim rw.mts
	fails "there is no column 'X.hs' of hidden states" moee-sim --combine hs rw.mts
	moee-sim --combine rw rw.mts | similarities | within <(golden rw) 1e-12
	mts cat -c score pairs.mts >bare.mts
	fails "bare.mts: there is no column 'X.rw' of routing weights; encode --emit hs,rw" moee-sim --combine rw bare.mts
	printf '{"a.hs": [1, 2], "a.rw": [1], "b.hs": [1, 2, 3], "b.rw": [1]}\n' | mkstream >wide.mts
	fails "a.hs has width 2 and b.hs has 3" moee-sim wide.mts
	printf '{"a.hs": [[1, 2], [3, 4]], "a.rw": [[1]]}\n{"a.hs": [[1, 2]], "a.rw": [[1], [2]]}\n' | mkstream >uneven.mts
	fails "uneven.mts: record 1: row 1 has 2 vectors in a.hs and 1 in a.rw" moee-sim uneven.mts
	printf '{"a.hs": [[%d, 2], [3, 4]], "a.rw": [[1]%s]}\n' 1 ',[2]' 2 '' | mkstream >second.mts
	fails "second.mts: record 1: row 2 has 2 vectors in a.hs and 1 in a.rw" moee-sim second.mts
	printf '{"a.hs": [[1, 2], [3, 4]], "a.rw": [1]}\n' | mkstream >mixed.mts
	fails "of a.hs and a.rw one has lists and the other has none" moee-sim mixed.mts
	printf '1 2 3\n4 5\n' | ids_stream text.ids >ids.mts
	encode -q -m "$GOLDEN/families/olmoe" --emit hs:layers=all,rw ids.mts >layers.mts
	fails "text.hs has several layers of hidden states" moee-sim layers.mts
	encode -q -m "$GOLDEN/families/olmoe" --emit hs:layers=mean,rw ids.mts | moee-sim | mts to jsonl | vectors 'length == 2'
	printf '1 2\n+3\n' | ids_stream text.ids | encode -q -m "$GOLDEN/families/olmoe" --emit hs:pool=tokens,rw:pool=tokens >tokens.mts
	fails "text.hs has lists of lists of vectors; pool the tokens" moee-sim tokens.mts
}

@test "moee-sim: --norm corpus=FILE of another model or width is refused" {
	row='{"a.hs": [1, 2], "a.rw": [1, 0]}\n{"a.hs": [2, 2], "a.rw": [1, 3]}\n'
	# shellcheck disable=SC2059
	printf "$row" | mkstream 1 f32 M >m.mts
	# shellcheck disable=SC2059
	printf "$row" | mkstream 1 f32 N >n.mts
	moee-sim --norm corpus=m.mts m.mts >out.mts
	fails "n.mts: its vectors are of model N, those of m.mts of model M" moee-sim --norm corpus=n.mts m.mts
	fails "pairs.mts: its hidden states have width 6, those of m.mts 2" moee-sim --norm corpus=pairs.mts m.mts
	mts rows --where 'score > 99' pairs.mts >none.mts
	fails "none.mts: there are no vectors in it to standardise by" moee-sim --norm corpus=none.mts pairs.mts
	moee-sim --norm corpus=pairs.mts none.mts | mts to jsonl | diff /dev/null -
}

@test "moee-sim: labels that --legacy-sum cannot average are refused" {
	for labels in "1 3" '"a" "b"' "0.5 1.5"; do
		for label in $labels $labels; do
			printf '{"label": %s, "h.emb": [%d, 1], "r.emb": [1, %d]}\n' "$label" $((++n)) $((n * n))
		done | mkstream >train.mts
		fails "--legacy-sum averages labels as numbers: they must be consecutive integers; there is '" \
			mteb-score -q classification --legacy-sum 1 -f h -f r --train train.mts train.mts
	done
}

@test "moee-sim: NaN and constant similarities are refused; zero vectors get a warning" {
	printf '{"a.hs": [1, null], "a.rw": [1]}\n' | mkstream >nan.mts
	fails "nan.mts: record 1: a.hs: row 1 is not finite" moee-sim nan.mts
	fails "a.hs: row 1 is not finite" moee-sim --norm corpus nan.mts
	printf '{"a.hs": [1, 2], "a.rw": [1, %s]}\n' 1 null | mkstream >second.mts
	fails "second.mts: record 1: a.rw: row 2 is not finite" moee-sim second.mts
	printf '{"a.hs": [0, 0], "a.rw": [1, 2], "b.hs": [1, 2], "b.rw": [2, 4]}\n' | mkstream >zero.mts
	run -0 --separate-stderr moee-sim -o out.mts zero.mts
	[[ $stderr == *"zero.mts: 1 hidden states or routing weights of a are zero: their cosine counts as 0" ]]
	[ "$(similarities <out.mts)" = 1 ]
	run -0 --separate-stderr moee-sim --combine concat -o out.mts zero.mts
	[ -z "$stderr" ]
	fails "all similarities of hidden states are equal" moee-sim --alpha auto zero.mts
	printf '{"a.hs": [1, %s], "a.rw": [1, 2], "b.hs": [1, 2], "b.rw": [2, 4]}\n' 2 3 4 | mkstream >same.mts
	fails "all similarities of routing weights are equal, nothing correlates with them; give a VALUE" moee-sim --alpha auto=grid same.mts
	# multiples of one vector: cosine 1 but for rounding
	jq -nc 'range(1; 30) | {"a.hs": [1, 0], "b.hs": [., 7], "a.rw": [., 3, 1], "b.rw": ([., 3, 1] | map(. / 7))}' | mkstream >multiple.mts
	moee-sim --combine rw multiple.mts | similarities | sort -u | awk '{ far += $1 < 1 - 1e-12 } END { exit far || NR < 2 }'
	for how in auto auto=grid; do
		fails "all similarities of routing weights are equal" moee-sim --alpha $how multiple.mts
	done
}

@test "moee-sim: --alpha auto of more than 2,000,000 pairs is refused before they are compared" {
	row='{"a.hs": [1], "a.rw": [1], "b.hs": [1], "b.rw": [2]}'
	seq 20000 | jq -c "$row" | mkstream 20000 >part.mts
	for ((i = 0; i < 100; i++)); do cat part.mts; done >most.mts
	# 2,000,000 pairs are accepted: the message is about their equal similarities
	dies "moee-sim: most.mts: --alpha auto: all similarities of hidden states are equal" moee-sim --alpha auto -o out most.mts
	mkstream <<<"$row" | cat most.mts - >more.mts
	dies "moee-sim: more.mts: more than 2000000 pairs are too many to compare with each other; say --alpha auto=grid" moee-sim --alpha auto -o out more.mts
	dies "moee-sim: more.mts: --alpha auto: all similarities of hidden states are equal" moee-sim --alpha auto=grid -o out more.mts
}

@test "moee-sim: an empty stream stays empty; a truncated stream and a full disk are errors" {
	mts rows --where 'score > 99' pairs.mts >none.mts
	for how in "--alpha auto" "--norm corpus" "--norm batch=3" "--combine concat"; do
		# shellcheck disable=SC2086
		moee-sim $how none.mts >out.mts
		[ -z "$(mts to jsonl out.mts)" ]
		mts head out.mts | grep -c '^column	similarity'
	done
	head -c 2000 pairs.mts >cut.mts
	for how in "--alpha 1" "--alpha auto" "--norm corpus"; do
		# shellcheck disable=SC2086
		run -1 --separate-stderr moee-sim $how -o out cut.mts
		# shellcheck disable=SC2086
		run -1 --separate-stderr moee-sim $how -o out < <(cat cut.mts)
		[[ $stderr == "moee-sim: <stdin>: "* ]]
		[ ! -e out ]
	done
	run -1 moee-sim --alpha auto missing.mts
	[[ $output == "moee-sim: missing.mts: No such file or directory" ]]
	# shellcheck disable=SC2016
	run -1 bash -c 'moee-sim pairs.mts >/dev/full'
	run -1 env TMPDIR=/nowhere bash -c 'cat pairs.mts | moee-sim --alpha auto'
	[[ $output == *"/nowhere: cannot make a temporary file there"* ]]
}

# 5. the page

@test "moee-sim: the manual's examples run as printed" {
	upcycle -q -m "$GOLDEN/bert" --token-experts 4 --seed 3 -o model
	printf '{"sentence1": "%s", "sentence2": "%s", "score": %d}\n' 'a red boat sails' 'the red boat' 4 \
		'the bird flies' 'a boat sails over the sea' 1 'the sea' 'the sea' 5 'a bird' 'the red sea' 2 >pairs.jsonl
	printf '{"_id": "d%d", "text": "%s"}\n' 1 'a red boat sails' 2 'the bird flies' 3 'over the sea' 4 'a red bird' >corpus.jsonl
	printf '{"_id": "q%d", "text": "%s"}\n' 1 'a red boat sails' 2 'the bird flies' >queries.jsonl
	page_examples moee-sim.1 >examples
	[ "$(wc -l <examples)" -eq 6 ]
	bash -eu -o pipefail examples >out
	grep -q '^main_score	' out
	near --run - q.mts c.mts | awk '$4 == 1 { print $1, $3 }' | cmp - <(printf 'q%d d%d\n' 1 1 2 2)
}
