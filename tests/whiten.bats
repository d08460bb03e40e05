#!/usr/bin/env bats
load helper

# geom isoscore, geom whiten. Golden values: tests/golden/isotropy.py (the package IsoScore).

setup() { cd "$T"; }

# moments NAME: of the column NAME.emb of a stream, the greatest |mean|, and the greatest difference of its covariance (n - 1)
# from the identity, a line each
moments() {
	mts to jsonl -c "$1" - | jq -r --arg name "$1" '.[$name] | @tsv' | awk '{
		n++; width = NF
		for (i = 1; i <= NF; i++) { sum[i] += $i; for (j = 1; j <= NF; j++) product[i, j] += $i * $j }
	} END {
		for (i = 1; i <= width; i++) {
			m = sum[i] / n; if (m < 0) m = -m; if (m > mean) mean = m
			for (j = 1; j <= width; j++) {
				c = (product[i, j] - sum[i] * sum[j] / n) / (n - 1) - (i == j)
				if (c < 0) c = -c; if (c > off) off = c
			}
		}
		printf "%.9f %.9f\n", mean, off
	}'
}

# crooked COUNT [SEED]: vectors of width 5 in the column x.emb, of the model M, with a covariance far from the identity
crooked() {
	mkstream random "$1" 5 "${2:-1}" >round.mts
	mts to jsonl round.mts |
		jq -c '{_id, "x.emb": (.["text.emb"] | [.[0] * 9 + .[1] + 4, .[1] * 2, .[2] + .[0] * 3, .[3] * 0.1, .[4] - .[3]])}' |
		mkstream 7 f32 M
}

# tokens COUNT: random lists of token ids, as from tok
tokens() {
	seeded_awk -v rows="$1" 'BEGIN {
		srand(3)
		for (i = 0; i < rows; i++) {
			line = 2
			for (j = 0; j < 3 + rand() * 9; j++) line = line " " int(4 + rand() * 20)
			print line, 3
		}
	}' | ids_stream text.ids
}

# 1. known answers

@test "geom isoscore: scores are the package's to 1e-9" {
	while IFS=$'\t' read -r name score; do
		mkstream 16 f32 <"$GOLDEN/isotropy_$name.jsonl" >"$name.mts"
		geom isoscore "$name.mts" | sed -n 2p | cut -f5 | within <(echo "$score") 1e-9
	done <"$GOLDEN/isotropy.tsv"
	[ "$(geom isoscore round.mts narrow.mts mixed.mts | cut -f1-3 | paste -sd' ')" = \
		$'stream\tvectors\twidth round.mts\t60\t6 narrow.mts\t40\t5 mixed.mts\t50\t7' ]
}

@test "geom isoscore: scores of few vectors, computed by hand" {
	printf '{"x.emb":[%s]}\n' 1,0,0,5 -1,0,0,5 0,1,0,5 0,-1,0,5 | mkstream >two.mts
	printf '{"x.emb":[%s]}\n' 1,2 3,6 -2,-4 | mkstream >line.mts
	printf '{"x.emb":[%s]}\n' 1,0 0,1 -1,0 0,-1 | mkstream >all.mts
	geom -q isoscore two.mts line.mts all.mts | cut -f2- | diff - <(
		printf '%s\n' vectors,width,variance,isoscore,dimensions 4,4,1.3333333333333333,0.3333333333333333,2 \
			3,2,31.666666666666664,0,1 4,2,1.3333333333333333,1,2 | tr , '\t'
	) || geom -q isoscore two.mts line.mts all.mts
	geom -q isoscore two.mts line.mts all.mts | cut -f5 | tail -n +2 | within <(printf '%s\n' 0.333333333333 0 1) 1e-12
	geom -q isoscore --json line.mts all.mts | jq -e '(.[0].dimensions - 1 | fabs) < 1e-12 and .[1].isoscore == 1 and .[1].vectors == 4'
}

@test "geom isoscore: several columns together; --relations takes a row's columns as one vector" {
	printf '{"a.emb":[%s],"p.emb":[%s]}\n' 1,0 1,0 -1,0 -1,0 0,1 0,1 0,-1 0,-1 | mkstream >pairs.mts
	geom -q isoscore -f a -f p pairs.mts | sed -n 2p | cut -f2,3,5 | found -xP '8\t2\t1'
	geom -q isoscore --relations -f a -f p pairs.mts | sed -n 2p | cut -f2,3 | found -xP '4\t4'
	# two directions of four
	geom -q isoscore --relations -f a -f p pairs.mts | sed -n 2p | cut -f5 | within <(echo 0.333333333333) 1e-12
}

@test "geom whiten: the result has mean 0 and the identity as covariance, to 1e-6" {
	crooked 400 >x.mts
	mts cat x.mts | moments x.emb | awk '{ exit !($2 > 1) }'
	for kind in zca pca; do
		geom whiten fit --kind $kind x.mts -o $kind.mts
		geom whiten apply $kind.mts x.mts | moments x.emb | within <(echo 0 0) 1e-6
	done
	# ZCA is symmetric
	mts to jsonl -c matrix zca.mts | jq -e '.matrix | flatten as $m | [range(5) as $i | range(5) as $j |
		($m[5 * $i + $j] - $m[5 * $j + $i]) | fabs] | max < 1e-9'
	# PCA has falling variances, each component divided by its standard deviation
	mts to jsonl pca.mts | jq -e '.eigenvalues as $l | (.matrix | flatten) as $m | ($l == ($l | sort | reverse)) and
		all(range(5); . as $i | ([range(5) | $m[5 * $i + .] | . * .] | add) * $l[$i] - 1 | fabs < 1e-9)'
	# both have the same cosines
	geom whiten apply zca.mts x.mts >z.mts
	geom whiten apply pca.mts x.mts >p.mts
	cosine='[.[0]["x.emb"], .[1]["x.emb"]] | transpose | (map(.[0] * .[1]) | add) /
		((map(.[0] * .[0]) | add) * (map(.[1] * .[1]) | add) | sqrt)'
	mts to jsonl z.mts | jq -s "$cosine" | within <(mts to jsonl p.mts | jq -s "$cosine") 1e-6
	geom isoscore z.mts | sed -n 2p | cut -f5 | within <(echo 1) 1e-6
}

@test "geom whiten: whitening and scaling of few vectors, computed by hand" {
	# variances 1 and 4 about (1, 2)
	printf '{"x.emb":[%s]}\n' 2,4 0,4 2,0 0,0 1,2 | mkstream >x.mts
	geom whiten fit x.mts | geom whiten apply - x.mts | mts to jsonl | jq -c '.["x.emb"] | map(. * 1e4 | round / 1e4)' |
		diff - <(printf '[%s]\n' 1,1 -1,1 1,-1 -1,-1 0,0)
	geom whiten fit --kind pca --dim 1 x.mts | geom whiten apply - x.mts | mts to jsonl |
		jq -c '.["x.emb"]' | diff - <(printf '[%s]\n' 1 1 -1 -1 0)
	# scale: variances 4 and 1, fully correlated before and after; the smaller is raised to half of the greater, 2
	printf '{"x.emb":[%s]}\n' 0,0 4,2 2,1 | mkstream >line.mts
	geom whiten fit --kind scale line.mts | geom whiten apply - line.mts | mts to jsonl | jq -c '.["x.emb"] | map(. * 1e4 | round / 1e4)' |
		diff - <(printf '[%s]\n' -1,-1 1,1 0,0)
	geom whiten fit -q --kind scale --eps 0.5 line.mts | geom whiten apply - line.mts | mts to jsonl | jq -c '.["x.emb"] | map(. * 1e4 | round / 1e4)' |
		diff - <(printf '[%s]\n' -1,-0.7071 1,0.7071 0,0)
}

@test "geom whiten --power, --centre: whitening in part and about zero, computed by hand" {
	rounded='.["x.emb"] | map(. * 1e4 | round / 1e4)'
	printf '{"x.emb":[%s]}\n' 2,4 0,4 2,0 0,0 1,2 | mkstream >x.mts # variances 1 and 4 about (1, 2)
	whitened() { geom whiten fit "$@" x.mts | geom whiten apply - x.mts | mts to jsonl | jq -c "$rounded"; }
	whitened --power 0.5 | diff - <(printf '[%s]\n' 1,1.4142 -1,1.4142 1,-1.4142 -1,-1.4142 0,0)
	whitened --power 0 | diff - <(printf '[%s]\n' 1,2 -1,2 1,-2 -1,-2 0,0)
	whitened --centre zero | diff - <(printf '[%s]\n' 2,2 0,2 2,0 0,0 1,1)
	whitened --centre zero --power 0 | diff - <(mts to jsonl x.mts | jq -c "$rounded")
	whitened --kind pca --power 0.5 --dim 1 | tr -d - | diff - <(printf '[%s]\n' 1.4142 1.4142 1.4142 1.4142 0)
	# its covariance is L^(1 - power): the eigenvalues of the whitened fit are the old ones' roots
	crooked 300 >x.mts
	geom whiten fit --power 0.5 x.mts -o half.mts
	geom whiten apply half.mts x.mts | geom whiten fit | mts to jsonl -c eigenvalues | jq '.eigenvalues[]' |
		within <(mts to jsonl -c eigenvalues half.mts | jq '.eigenvalues[] | sqrt') 1e-5
}

@test "geom whiten: a row's result does not depend on its record; several columns are fitted together" {
	crooked 100 >x.mts
	geom whiten fit x.mts -o w.mts
	mts rows --rows 93 x.mts | geom whiten apply w.mts | mts to jsonl >one
	geom whiten apply w.mts x.mts | mts to jsonl | sed -n 93p | cmp - one
	mts rows --rows 1-60 x.mts | mts cat --rename x.emb=q.emb >q.mts
	mts rows --rows 61- x.mts | mts cat --rename x.emb=d.emb >d.mts
	geom whiten fit -f q -f d q.mts d.mts >both.mts
	mts diff --atol 1e-12 --rtol 1e-9 w.mts both.mts
	geom whiten apply both.mts q.mts | mts cat --rename q.emb=x.emb | mts to jsonl >q
	geom whiten apply w.mts x.mts | mts to jsonl >all
	head -n 60 all | cmp - q
}

@test "geom whiten fit -m: the model's own programs give whitened embeddings" {
	model=$GOLDEN/nomic_bert
	tokens 200 >tokens.mts
	encode -m "$model" tokens.mts >x.mts
	geom whiten fit x.mts -o w.mts
	geom whiten fit x.mts -m "$model" -o white
	encode -m white tokens.mts >w_encoded.mts
	geom whiten apply w.mts x.mts | mts diff --atol 2e-3 --rtol 1e-4 w_encoded.mts -
	moments text.emb <w_encoded.mts | within <(echo 0 0) 1e-3
	jq -r '.[].type | split(".")[-1]' white/modules.json | tail -n 1 | found -x Dense
	cmp "$model/model.safetensors" white/model.safetensors
	# the result counts as another model, like a whitened stream
	run -1 --separate-stderr near x.mts w_encoded.mts
	[[ $stderr == *"they cannot be compared"* ]]
	# whitening the whitened model
	geom whiten fit w_encoded.mts -m white -o again
	encode -m again tokens.mts | moments text.emb | within <(echo 0 0) 1e-3
	[ "$(jq length again/modules.json)" -eq $(($(jq length white/modules.json) + 1)) ]
	geom whiten fit --kind pca --dim 3 x.mts -m "$model" -o three
	encode -m three tokens.mts | mts to jsonl -c text.emb - | jq -e '.["text.emb"] | length == 3' >/dev/null
}

@test "geom whiten fit -m --centre zero: a model that normalises still does, after the Dense; cosines are the whitened stream's" {
	cp -r "$GOLDEN/nomic_bert" model
	cp -r model raw
	jq 'map(select(.type | endswith("Normalize") | not))' "$GOLDEN/nomic_bert/modules.json" >raw/modules.json
	tokens 200 >tokens.mts
	encode -m model tokens.mts >x.mts
	geom whiten fit -q --power 0.6 --centre zero x.mts -o w.mts
	geom whiten fit -q --power 0.6 --centre zero x.mts -m model -o part
	jq -r '.[].type | split(".")[-1]' part/modules.json | tail -n 2 | paste -sd' ' | found -x 'Dense Normalize'
	jq -e 'length as $n | [.[].idx] == [range($n)] and [.[].name] == [range($n) | tostring] and .[-2].path == "2_Dense" and .[-1].path == "3_Normalize"' part/modules.json
	jq -e '.bias | not' part/*_Dense/config.json
	encode -m part tokens.mts >made.mts
	geom whiten apply w.mts x.mts | mts to jsonl -c text.emb | jq -c '.["text.emb"] | (map(. * .) | add | sqrt) as $l | map(. / $l)' >wanted
	mts to jsonl -c text.emb made.mts | jq -c '.["text.emb"]' | jq -s 'flatten[]' | within <(jq -s 'flatten[]' wanted) 1e-4
	# the mean of the model and itself has the same embeddings
	upcycle -q -m part --mean part -o mean
	encode -m mean tokens.mts | mts diff --atol 1e-6 - made.mts
	# one that does not normalise ends with the Dense
	encode -m raw tokens.mts >raw.mts
	geom whiten fit -q --centre zero raw.mts -m raw -o last
	jq -r '.[-1].type | split(".")[-1]' last/modules.json | found -x Dense
}

@test "geom whiten fit -m: embeddings that were made in another way than the folder's are refused" {
	model=$GOLDEN/nomic_bert
	tokens 60 >tokens.mts
	encode -m "$model" --normalize tokens.mts >unit.mts
	encode -m "$model" --no-normalize tokens.mts >raw.mts
	geom -q whiten fit unit.mts -m "$model" -o white
	geom -q whiten fit unit.mts | geom whiten apply - unit.mts >expected.mts
	encode -m white tokens.mts | mts diff --atol 5e-3 --rtol 1e-3 - expected.mts
	mv white units # ends with Dense, so its embeddings have another length
	encode -m units --normalize tokens.mts >x.mts
	geom -q whiten fit x.mts -m units -o white
	jq -r '.[].type | split(".")[-1]' white/modules.json | paste -sd' ' | found 'Normalize Dense Normalize Dense$'
	jq 'map(select(.type | endswith("Dense") | not))' units/modules.json >t && mv t units/modules.json
	encode -m units --no-normalize tokens.mts >raw.mts
	run -1 --separate-stderr geom -q whiten fit raw.mts -m units -o white
	[[ $stderr == "geom: raw.mts: its vectors have not length 1, as those of units have in other programs; encode without --no-normalize" ]]
	encode -m units --dim 4 --normalize tokens.mts >narrow.mts
	run -1 --separate-stderr geom -q whiten fit narrow.mts -m units -o white
	[[ $stderr == "geom: narrow.mts: its vectors have width 4, those of units "*"; encode without --dim" ]]
	run -1 --separate-stderr geom -q whiten fit unit.mts -m white -o again
	[[ $stderr == "geom: unit.mts: its vectors are of model "*", white is model "*"; encode with this one" ]]
	[ ! -e again ]
	mkdir full && echo mine >full/thesis.txt
	run -1 --separate-stderr geom whiten fit unit.mts -m "$model" -o full
	[[ $stderr == "geom: full: exists and is not a model folder; "* ]]
}

# 3. usage

@test "geom isoscore, geom whiten: usage errors exit 2" {
	crooked 10 >x.mts
	for wrong in "whiten" "whiten train" "whiten apply" "whiten apply a b c" "whiten apply - -" "whiten fit - -" \
		"whiten fit --kind cholesky x.mts" "whiten fit --dim 2 x.mts" "whiten fit --eps 0 x.mts" "whiten fit --power 2 x.mts" "whiten fit --centre median x.mts" \
		"whiten fit -m $GOLDEN/nomic_bert x.mts" "isoscore --relations x.mts" "isoscore - -" "isoscore --kind pca"; do
		run -2 --separate-stderr geom $wrong </dev/null
		[ -z "$output" ]
		echo "$stderr"
	done
	does_not_apply --level geom whiten fit --level 3 x.mts
	does_not_apply --eps geom whiten apply --eps 0.1 w.mts x.mts
	does_not_apply --json geom whiten fit --json x.mts
}

# 4. wrong input

@test "geom isoscore, geom whiten: too few vectors are refused; nearly too few get a warning" {
	refused() {
		for command in "isoscore" "whiten fit"; do
			run -1 --separate-stderr geom $command "$2"
			[ -z "$output" ]
			echo "$stderr"
			[ "${#stderr_lines[@]}" -eq 1 ]
			[[ $stderr == "geom: $2: $1"* ]]
		done
	}
	printf '{"x.emb":[%s]}\n' 1,2,3 | mkstream >one.mts
	refused "1 vector; how vectors vary is known of two at least" one.mts
	printf '{"x.emb":[%s]}\n' 0.1,0.2,0.7 0.1,0.2,0.7 0.1,0.2,0.7 | mkstream >same.mts
	refused "its 3 vectors are all the same" same.mts
	printf '{"x.emb":[%s]}\n' 1,2 null,1 | mkstream >nan.mts
	refused "record 1: x.emb: row 2 is not finite" nan.mts
	crooked 20 >x.mts
	head -c -20 x.mts >cut.mts
	refused "" cut.mts
	printf '{"x.emb":[%s]}\n' 1 2 3 | mkstream >narrow.mts
	run -1 --separate-stderr geom isoscore narrow.mts
	[[ $stderr == "geom: narrow.mts: vectors of one value have no isotropy" ]]
	geom whiten fit narrow.mts | geom whiten apply - narrow.mts | mts to jsonl | jq -c '.["x.emb"]' | diff - <(printf '[%s]\n' -1 0 1)
	crooked 4 >few.mts
	run -0 --separate-stderr geom isoscore few.mts
	[[ $stderr == "geom: warning: few.mts: 4 vectors of 5 values: so few do not vary in all directions: the score is too low" ]]
	run -0 --separate-stderr geom whiten fit few.mts -o few_w.mts
	[[ ${stderr_lines[0]} == "geom: warning: few.mts: 4 vectors of 5 values: they do not vary in all directions"* ]]
	[[ ${stderr_lines[1]} == "geom: warning: few.mts: 2 of the 5 eigenvalues are below 1e-12 of the greatest, and raised to that" ]]
	# --eps is a floor for directions without data
	geom -q whiten fit --eps 1 x.mts | mts to jsonl | jq -e '.eigenvalues[0] as $l | (.matrix | flatten) |
		all(to_entries[]; (.value - (if .key % 6 == 0 then 1 / ($l | sqrt) else 0 end)) | fabs < 1e-9)'
	run -1 --separate-stderr geom whiten fit --kind pca --dim 6 x.mts
	[[ $stderr == "geom: --dim: 6 of 5 components cannot be kept" ]]
	for full in "isoscore x.mts" "whiten fit x.mts"; do
		run -1 --separate-stderr geom $full -o /dev/full
		[[ $stderr == "geom: /dev/full: "* ]]
	done
}

@test "geom whiten apply: another model's embeddings, another width, and a file that is not a whitening are refused" {
	crooked 30 >x.mts
	geom whiten fit x.mts -o w.mts
	refused() { dies "geom: $1" geom whiten apply "${@:2}"; }
	mts to jsonl x.mts | mkstream 7 f32 other >other.mts
	refused "other.mts: its vectors are of model other, w.mts was fitted to those of model M; fit one to this model, or say --any-model" w.mts other.mts
	geom whiten apply --any-model w.mts other.mts >/dev/null
	run -1 --separate-stderr geom whiten fit x.mts other.mts
	[[ $stderr == *"or say --any-model"* ]]
	geom whiten fit --any-model x.mts other.mts >/dev/null
	geom whiten apply w.mts x.mts >white.mts
	refused "white.mts: its vectors are of model " w.mts white.mts
	mkstream random 3 4 1 >narrow.mts
	refused "narrow.mts: the vectors of text.emb have width 4, w.mts was fitted to such of 5" w.mts narrow.mts
	refused "x.mts: is not a whitening: 'geom whiten fit' writes one with a column 'mean' of f64" x.mts x.mts
	cat w.mts w.mts >twice.mts
	refused "twice.mts: is not a whitening: it does not have one row" twice.mts x.mts
	mts rows --rows 2 w.mts >none.mts
	refused "none.mts: is not a whitening: it does not have one row" none.mts x.mts
	printf '{"mean.emb":[1,2,3,4,5]}\n' | mkstream | mts cat --rename mean.emb=mean >f32.mts
	mts cat -c matrix,eigenvalues w.mts | mts paste f32.mts - >single.mts
	refused "single.mts: is not a whitening: 'geom whiten fit' writes one with a column 'mean' of f64" single.mts x.mts
	printf '{"eigenvalues.emb":[1,2,3]}\n' | mkstream 1 f64 | mts cat --rename eigenvalues.emb=eigenvalues >three.mts
	mts cat -c mean,matrix w.mts | mts paste - three.mts >shapes.mts
	refused "shapes.mts: is not a whitening: the shapes of its columns do not agree" shapes.mts x.mts
	printf '{"eigenvalues.emb":[1,2,3,4,null]}\n' | mkstream 1 f64 | mts cat --rename eigenvalues.emb=eigenvalues >five.mts
	mts cat -c mean,matrix w.mts | mts paste - five.mts >values.mts
	refused "values.mts: is not a whitening: its 'eigenvalues' is not finite" values.mts x.mts
	[ "$(geom whiten apply --level 0 w.mts x.mts | wc -c)" -gt "$(geom whiten apply --level 19 w.mts x.mts | wc -c)" ]
	geom -q flow fit --hidden 2 --epochs 1 x.mts -o flow.mts
	refused "flow.mts: is not a whitening" flow.mts x.mts
	refused "/dev/full: " w.mts x.mts -o /dev/full
	printf '{"x.emb":[1,2,3,4,%s]}\n' 5 null | mkstream 4 f32 M >nan.mts
	refused "nan.mts: record 1" w.mts nan.mts
}

@test "geom isoscore, geom whiten: free all memory before they exit" {
	export ASAN_OPTIONS=detect_leaks=1
	crooked 30 >x.mts
	geom isoscore --json x.mts x.mts
	geom whiten fit x.mts -o w.mts
	geom whiten apply w.mts x.mts >/dev/null
}
