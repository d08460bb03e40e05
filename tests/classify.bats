#!/usr/bin/env bats
load helper

# Golden values: tests/golden/columns.py (scikit-learn's LogisticRegression and KNeighborsClassifier).

setup() {
	cd "$T"
	mkstream 7 <"$GOLDEN/columns_train.jsonl" >train.mts
	mkstream 9 <"$GOLDEN/columns_test.jsonl" >new.mts
}

# same COLUMN TOLERANCE: predictions equal the column of the golden table, probabilities within the tolerance
same() {
	mts to tsv -c prediction,probability out.mts | tail -n +2 >out
	cut -f1 out | diff <(tail -n +2 "$GOLDEN/columns_classify.tsv" | cut -f"$1") -
	cut -f2 out | within <(tail -n +2 "$GOLDEN/columns_classify.tsv" | cut -f$(($1 + 1))) "$2"
}

# 1. known answers

# The reference sums in double, in another order: on real data, probabilities differ by 3e-14 to 6e-8.
@test "classify: predictions are scikit-learn's LogisticRegression's, for four labels and two" {
	classify --train train.mts new.mts >out.mts
	same 1 1e-9
	classify --label number --train train.mts -f text <new.mts >out.mts
	same 3 1e-9
	[ "$(mts head --json out.mts | head -n 1 | jq -c '[.columns[] | select(.name == "prediction").dtype]')" = '["i64"]' ]
	# the input's columns and records are kept
	mts to jsonl -c label,number out.mts | diff <(jq -c '{"label": .label, number}' "$GOLDEN/columns_test.jsonl") -
	[ "$(mts stat --json out.mts | jq .records)" = "$(mts stat --json new.mts | jq .records)" ]
}

# scikit-learn 1.9 predicts the same up to 1e25; at 1e30 it makes no step either, and warns.
@test "classify: large vectors are told apart, and a warning says if they are too large" {
	labelled() {
		local scale=$1
		printf '{"label":%s,"x.emb":[%s]}\n' 0 "$scale,0" 1 "0,$scale" 2 "-$scale,-$scale" \
			0 "$scale,-$scale" 1 "-$scale,$scale" 2 "0,-$scale" | mkstream >few.mts
	}
	for scale in 1 1e15 1e25; do
		labelled "$scale"
		classify --train few.mts few.mts 2>warnings | mts to tsv -c prediction | tail -n +2 | paste -sd' ' | diff - <(echo "0 1 2 0 1 2")
		[ ! -s warnings ]
	done
	labelled 1e30
	classify --train few.mts few.mts 2>warnings >out.mts
	[ "$(cat warnings)" = "classify: warning: few.mts: the regression finds no step from zero (gradient 3.9e+29), so that all labels are equally probable; scale the vectors" ]
}

@test "classify --method knn: predictions are scikit-learn's KNeighborsClassifier's" {
	classify --method knn --train train.mts new.mts >out.mts
	same 5 1e-15
	classify --method knn -k 1 -j 1 --train train.mts new.mts >out.mts
	same 7 0
}

@test "classify --method knn: ties, computed by hand" {
	printf '{"label":"%s","x.emb":[%s]}\n' b 0,0 a 2,0 c 1,1 c 1,-1 b 9,9 | mkstream >few.mts
	printf '{"x.emb":[%s]}\n' 1,0 0.9,0 8,8 | mkstream >x.mts
	knn() { classify --method knn "$@" --train few.mts x.mts | mts to tsv -c prediction,probability | tail -n +2 | paste -sd' '; }
	# of equal distances the earlier row, of equal counts the first label
	[ "$(knn -k 1)" = $'b\t1 b\t1 b\t1' ]
	[ "$(knn -k 4)" = $'c\t0.5 c\t0.5 b\t0.5' ]
	[ "$(knn -k 2)" = $'a\t0.5 b\t0.5 b\t0.5' ]
	# the nearest among more rows than fit a tile
	{ printf '{"label":%d,"x.emb":[%d,1]}\n' 7 5000 && seq 1 2100 | awk '{ printf "{\"label\":%d,\"x.emb\":[%d,0]}\n", $1 % 3, -$1 }'; } | mkstream 500 >many.mts
	printf '{"x.emb":[%s]}\n' 4000,0 -2100.4,0 -1024.6,0 | mkstream >x.mts
	classify --method knn -k 1 --train many.mts x.mts | mts to tsv -c prediction | tail -n +2 | paste -sd' ' | diff - <(echo "7 0 2")
}

@test "classify: ten examples a label suffice for well separated labels" {
	seeded_awk 'BEGIN { srand(3); for (i = 0; i < 40; i++) printf "{\"label\":%s,\"x.emb\":[%g,%g,%g]}\n", i % 2 ? "true" : "false", i % 2 + rand() / 4, rand() / 4, 1 - i % 2 }' |
		sed 's/true/1/; s/false/0/' | mkstream >all.mts
	mts rows --rows 1-20 all.mts >few.mts
	classify --train few.mts all.mts | mts to tsv -c label,prediction | tail -n +2 | awk '$1 != $2 { bad = 1 } END { exit bad || NR != 40 }'
}

# 2. options

@test "classify --save, --load: a saved classifier predicts the same" {
	for label in label number; do
		classify --train train.mts --label $label --save kept.mts
		classify --load kept.mts new.mts | mts cat -c prediction,probability >loaded.mts
		classify --train train.mts --label $label new.mts | mts cat -c prediction,probability | mts diff -a 0 -r 0 - loaded.mts
	done
	# labels that are not integers
	printf '{"label":%s,"x.emb":[%s]}\n' 0.5 0,1 -2 1,0 | mkstream >real.mts
	classify --train real.mts --save kept.mts
	classify --load kept.mts real.mts | mts to tsv -c label,prediction | tail -n +2 | awk '$1 != $2 { exit 1 }'
	# a row for each label, in scikit-learn's order
	mts to tsv -c label kept.mts | diff - <(printf '%s\n' label -2 0.5)
}

@test "classify: columns named prediction and probability are replaced; numeric labels in text are ordered by value" {
	printf '{"label":"%s","x.emb":[%s]}\n' 10 0,0 9 2,0 | mkstream >few.mts
	printf '{"prediction":3,"probability":"x","x.emb":[1,0]}\n' | mkstream >x.mts
	classify --method knn -k 2 --train few.mts x.mts | mts to jsonl -c prediction,probability | diff - <(echo '{"prediction":"9","probability":0.5}')
	[ "$(classify --method knn -k 2 --train few.mts x.mts | mts to jsonl | jq -c keys_unsorted)" = '["x.emb","prediction","probability"]' ]
}

# 3. usage

@test "classify: usage errors exit 2" {
	for wrong in "" "new.mts" "--train train.mts --load x" "--train train.mts -k 3" "--train train.mts --method svm" \
		"--train train.mts --method knn -k 0" "--train train.mts --method knn --save out" "--train train.mts --save out new.mts" \
		"--train train.mts new.mts new.mts" "--train - -"; do
		run -2 --separate-stderr classify $wrong <new.mts
		[ -z "$output" ]
		[ ! -e out ]
	done
	does_not_apply --label classify --load x --label y new.mts
	does_not_apply --level classify --train train.mts --save out --level 3
}

# 4. wrong input

@test "classify: unusable training rows are refused in one line" {
	refused() { dies "classify: $1" classify -o out --train "${@:2}"; }
	mts rows --where label=air train.mts >air.mts
	refused "air.mts: all $(mts stat --json air.mts | jq .rows) rows have the label 'air'; two labels at least are needed" air.mts new.mts
	mts rows --where label=none train.mts >none.mts
	refused "none.mts: there is no labelled row in it" none.mts new.mts
	refused "train.mts: there is no column 'kind' of labels; name it with --label" train.mts --label kind new.mts
	refused "train.mts: column 'text.emb' should hold one text or number a row" train.mts --label text.emb new.mts
	refused "train.mts: -k 91: there are only 90 labelled rows" train.mts --method knn -k 91 new.mts
	printf '{"label":"%s","text.emb":[1,2,3,4,5,%s]}\n' a 1 "" 2 | mkstream >missing.mts
	refused "missing.mts: record 1: value 2 of 'label' is missing" missing.mts new.mts
	printf '{"label":"%s","text.emb":[1,2,3,4,5,%s]}\n' a 1 b null | mkstream >nan.mts
	refused "nan.mts: record 1: text.emb: row 2 is not finite" nan.mts new.mts
	refused "nan.mts: record 1: text.emb: row 2 is not finite" train.mts nan.mts
	printf '{"label":"%s","text.emb":[1,2]}\n' a b | mkstream >narrow.mts
	refused "new.mts: its vectors have width 6, those of narrow.mts 2" narrow.mts new.mts
	for model in one two; do mkstream 16 f32 $model <"$GOLDEN/columns_train.jsonl" >$model.mts; done
	refused "two.mts: its vectors are of model two, those of one.mts of model one" one.mts two.mts
	classify --any-model --train one.mts two.mts | mts diff - <(classify --train one.mts one.mts)
	head -c -20 train.mts >cut.mts
	refused "cut.mts: " cut.mts new.mts
	refused "cut.mts: " train.mts cut.mts
	refused "nowhere.mts: " nowhere.mts new.mts
	run -1 --separate-stderr classify --train train.mts new.mts -o /dev/full
	[[ $stderr == "classify: /dev/full: "* ]]
	# a stream without rows gives one without rows
	[ "$(classify --train train.mts none.mts | mts stat --json | jq .rows)" = 0 ]
}

@test "classify --load: a file that is not a classifier, or that is of another model, is refused in one line" {
	refused() { dies "classify: $1" classify -o out --load "${@:2}"; }
	for model in one two; do mkstream 16 f32 $model <"$GOLDEN/columns_train.jsonl" >$model.mts; done
	classify --train one.mts --save kept.mts
	refused "two.mts: its vectors are of model two, those of kept.mts of model one" kept.mts two.mts
	classify --any-model --load kept.mts two.mts >any.mts
	refused "train.mts: is not a classifier: 'classify --save' writes one" train.mts new.mts
	mts rows --rows 1 kept.mts >short.mts
	refused "short.mts: is not a classifier: it does not have one record of two labels or more" short.mts new.mts
	cat kept.mts kept.mts >double.mts
	refused "double.mts: is not a classifier: it has more than one record" double.mts new.mts
	mts to jsonl kept.mts | sed 's/"air"/"ship"/' | mts from jsonl - >table.mts
	refused "table.mts: is not a classifier" table.mts new.mts
	printf '{"label":"%s","text.emb":[1,%d]}\n' a 2 b 3 | mkstream >narrow.mts
	classify --train narrow.mts --save kept.mts
	refused "new.mts: its vectors have width 6, those of kept.mts 2" kept.mts new.mts
	head -c -20 kept.mts >cut.mts
	refused "cut.mts: " cut.mts new.mts
}

# 5. the examples of the page

@test "classify: the page's examples run" {
	printf '{"text":"%s","label":"%s"}\n' "a ship at sea" sea "a boat at sea" sea "fresh bread" food "bread and butter" food >labelled.jsonl
	printf '%s\n' "a large ship" "butter" >new.txt
	page_examples classify.1 | sed "s|-m MODEL|-m $GOLDEN/bert|g" >examples
	[ "$(grep -c classify examples)" -eq 4 ]
	bash -e -o pipefail -x examples >out
	[ "$(grep -cP '^(sea|food)\t0\.[0-9]+\t(a large ship|butter)$' out)" -ge 2 ]
	grep -qE '^(0\.[0-9]+|1)$' out
}

# Real data, encoded by MiniLM; the figures are those of tests/bench/columns.sh.

# bats test_tags=plain
@test "classify: the accuracy on banking77 is scikit-learn's" {
	need_data classification/banking77/test.jsonl.zst
	need_minilm
	[[ $BUILD != *-sanitize ]] || skip "minutes, sanitized"
	for part in train test; do
		tok -m "$MOTES_MINILM" -f text "$DATA/classification/banking77/$part.jsonl.zst" | encode -m "$MOTES_MINILM" >$part.mts
	done
	right() { mts to tsv -c label,prediction | awk -F'\t' 'NR > 1 { n++; right += $1 == $2 } END { print right / n }'; }
	# scikit-learn on 3,080 texts: LogisticRegression 0.90812, KNeighborsClassifier(5) 0.91883; vectors differ by 1e-6 between processors
	classify --train train.mts test.mts | right | within <(echo 0.90812) 0.001
	classify --method knn --train train.mts test.mts | right | within <(echo 0.91883) 0.001
}

# 6. memory

@test "classify: frees all memory before it exits" {
	export ASAN_OPTIONS=detect_leaks=1
	classify --train train.mts --save kept.mts
	classify --load kept.mts new.mts >out.mts
	classify --method knn --train train.mts new.mts >out.mts
}
