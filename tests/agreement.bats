#!/usr/bin/env bats
# bats file_tags=plain
load helper

# geom agreement.  Golden values: tests/golden/agreement.py (scikit-learn, scipy).

setup() {
	cd "$T"
	mkstream 70 f32 texts <"$GOLDEN/agreement.jsonl" >texts.mts
}

# The five measures of each line of a table.
measures() { tail -n +2 "$@" | cut -f7-11; }

# 1. known answers

@test "geom agreement: AMI and NMI of labels are scikit-learn's, Jaccard by hand, the matching scipy's, to 1e-9" {
	geom agreement --label fine --label coarse --label odd texts.mts >out
	head -n 1 out | tr '\t' ' ' | diff - <(echo a b rows runs clusters_{a,b} ami nmi jaccard matched identical \
		{ami,nmi,jaccard,matched,identical}_deviation)
	tail -n +2 out | cut -f1-4 | tr '\t' ' ' | diff - <(printf '%s 300 1\n' "fine coarse" "fine odd" "coarse odd")
	[ "$(sed -n 2p out | cut -f5,6)" = $'7\t5' ]
	measures out | within "$GOLDEN/agreement_labels.tsv" 1e-9
	# one run has no standard deviation
	[ "$(sed -n 2p out | cut -f12-)" = $'\t\t\t\t' ]
	# neither column is taken as the truth: the measures are symmetric
	geom agreement --label odd --label fine texts.mts | measures | within <(sed -n 2p "$GOLDEN/agreement_labels.tsv") 1e-9
}

@test "geom agreement: measures of 20,000 rows are the reference's" {
	seq 0 19999 | awk '{
		a = $1 * 7919 % 10007 % 100
		print "{\"a\":" a ",\"b\":" ($1 % 3 ? int(a * 37 / 100) : int($1 / 7) % 37) "}"
	}' | mkstream 3000 >large.mts
	geom agreement --label a --label b large.mts | measures | within "$GOLDEN/agreement_large.tsv" 1e-9
}

@test "geom agreement: measures of six rows, computed by hand" {
	# pairs in one cluster of a: 1-2, 3-4; of b: 1-2, 2-3, 1-3; of both: 1-2, so Jaccard is 1 of 4
	printf '{"a":"%s","b":"%s"}\n' x p x p y p y q z r | mkstream >x.mts
	geom agreement --label a --label b x.mts | tail -n 1 | cut -f9-11 | within <(echo 0.25 0.8 0.2) 1e-15
	# the names of clusters have no effect
	printf '{"a":%d,"b":"%s"}\n' 5 u 1 v 5 u 7 w 1 v | mkstream >same.mts
	[ "$(geom agreement --label a --label b same.mts | tail -n 1 | cut -f7-11)" = $'1\t1\t1\t1\t1' ]
	# every row is a cluster of its own in both: no pair is in one cluster
	printf '{"a":%d,"b":%d}\n' 1 4 2 3 3 9 | mkstream >apart.mts
	[ "$(geom agreement --label a --label b apart.mts | tail -n 1 | cut -f9-11)" = $'1\t1\t1' ]
}

@test "geom agreement -k: clusters are those of scikit-learn's KMeans with the runs' seeds; means and deviations" {
	geom agreement -k 6 -s 7 --runs 3 -f x -f y texts.mts >out
	[ "$(sed -n 2p out | cut -f1-6)" = $'x\ty\t300\t3\t6\t6' ]
	tail -n 1 out | cut -f7- | within "$GOLDEN/agreement_kmeans.tsv" 1e-9
	# two streams give the numbers of two columns of one stream
	mts cat -c _id,x.emb texts.mts >x.mts
	mts cat -c _id,y.emb texts.mts >y.mts
	geom agreement -k 6 -s 7 --runs 3 x.mts y.mts >two
	[ "$(sed -n 2p two | cut -f1,2)" = $'x.mts\ty.mts' ]
	diff <(cut -f3- out) <(cut -f3- two)
	geom agreement -k 6 -s 7 --runs 3 x.mts - <y.mts | cut -f3- | diff - <(cut -f3- out)
	# encode --emit hs names its column X.hs
	mts cat --rename x.emb=x.hs texts.mts | geom agreement -k 6 -s 7 --runs 3 -f x.hs -f y | cut -f3- | diff - <(cut -f3- out)
	# the default is five runs from seed 42; the number of threads has no effect
	[ "$(geom agreement -k 6 -f x -f y texts.mts | tail -n 1 | cut -f4)" = 5 ]
	geom agreement -k 6 -f x -f y texts.mts -j 1 | diff - <(geom agreement -k 6 -s 42 --runs 5 -f x -f y texts.mts)
}

@test "geom agreement: chance-corrected scores; labels against clusters; every pair of several columns" {
	# each clustering has its own seed, so even equal columns differ
	geom agreement -k 6 -f x texts.mts texts.mts >own
	tail -n 1 own | awk -F'\t' '{ exit !($1 == "texts.mts" && $2 == $1 && $7 > 0.5 && $7 < 1) }'
	geom agreement -k 7 --label fine -f y texts.mts >mixed
	[ "$(sed -n 2p mixed | cut -f1,2)" = $'fine\ty' ]
	tail -n 1 mixed | awk -F'\t' '{ exit !($7 > 0.3 && $12 > 0) }'
	geom agreement --label fine --label coarse texts.mts texts.mts >four
	tail -n +2 four | cut -f1,2 | diff - <(printf 'texts.mts:%s\ttexts.mts:%s\n' fine coarse fine fine fine coarse \
		coarse fine coarse coarse fine coarse)
	sed -n 3p four | cut -f7-11 | diff - <(printf '1\t1\t1\t1\t1\n')
}

@test "geom agreement --json has the table's numbers; -o" {
	geom agreement -k 6 --label fine -f x -f y texts.mts >out
	geom agreement -k 6 --label fine -f x -f y texts.mts --json -o json
	jq -r '(.[0] | keys_unsorted), (.[] | [.[] | if type == "number" then . + 0 else . end]) | @tsv' json | diff - out
	geom agreement --label fine --label odd texts.mts --json | found '"rows": 300,'
	geom agreement --label fine --label odd texts.mts --json | jq -e '.[0].ami_deviation == null and .[0].rows == 300'
}

# 3. usage

@test "geom agreement: usage errors exit 2" {
	for wrong in "texts.mts" "" "-f x texts.mts" "-k 5 -f x texts.mts" "--label fine texts.mts" "-k 1 -f x -f y texts.mts" \
		"-k 5 --label fine --label odd texts.mts" "--runs 3 --label fine --label odd texts.mts" "-f x -f y texts.mts" \
		"-k 3 - -" "-k 3 -f x -f x texts.mts" "--label fine --label fine texts.mts" "-k 3 -s 4294967295 -f x -f y texts.mts"; do
		run -2 --separate-stderr geom agreement $wrong </dev/null
		echo "$wrong: $stderr"
		[ -z "$output" ]
	done
	does_not_apply --any-model geom agreement --any-model -k 3 texts.mts texts.mts
	does_not_apply --clusters geom isoscore --clusters 3 texts.mts
	does_not_apply --label geom isoscore --label fine texts.mts
	does_not_apply --seed geom agreement --seed 3 --label fine --label odd texts.mts
}

# 4. wrong input

@test "geom agreement: input that cannot be compared is refused in one line" {
	refused() { dies "geom: $1" geom agreement -o out "${@:2}"; }
	mts rows --rows 1-120 texts.mts >short.mts
	refused "short.mts: it ends after 120 rows, texts.mts goes on; compare the same texts" --label fine texts.mts short.mts
	refused "texts.mts: it has more rows than short.mts, 120; compare the same texts" -k 3 -f x short.mts texts.mts
	mts rows --sort -_id texts.mts >back.mts
	refused "back.mts: row 1 is 't99', in texts.mts it is 't0'; bring both into one order (mts rows --sort _id)" \
		--label fine texts.mts back.mts
	refused "texts.mts: there is no column 'gross'" --label fine --label gross texts.mts
	refused "texts.mts: there is no column 'z.emb' of vectors, only: " -k 3 -f x -f z texts.mts
	refused "texts.mts: there are several columns of embeddings: " -k 3 texts.mts texts.mts
	refused "texts.mts: column 'x.emb' should hold one text or number a row" --label fine --label x.emb texts.mts
	refused "texts.mts: -k 301: there are only 300 rows to make clusters of" -k 301 -f x -f y texts.mts
	printf '{"a":"%s","b":"x","x.emb":[1,2]}\n' p q q | mkstream >one.mts
	refused "one.mts: column 'b' is 'x' in all rows: one cluster, which tells nothing apart" --label a --label b one.mts
	refused "x: k-means puts all rows into one cluster: its vectors are all the same" -k 2 --label a -f x one.mts
	printf '{"a":%s,"b":"%s"}\n' 1.5 x null y 2 x | mts from jsonl >none.mts
	refused "none.mts: record 1: value 2 of 'a' is missing" --label a --label b none.mts
	printf '{"a":"%s","b":%s,"x.emb":[1,%s]}\n' p 1.5 1 "" 1 2 q 3.5 null | mkstream >holes.mts
	refused "holes.mts: record 1: value 2 of 'a' is missing" --label a --label b holes.mts
	refused "holes.mts: record 1: x.emb: row 3 is not finite" -k 2 -f x holes.mts holes.mts
	mts rows --where fine=none texts.mts >none.mts
	refused "none.mts: there is no row in it" --label fine --label odd none.mts
	refused "none.mts: there is no row in it" --label fine texts.mts none.mts
	: >empty
	refused "empty: empty, not a tensor stream" --label fine --label odd empty
	head -c -20 texts.mts >cut.mts
	refused "cut.mts: " --label fine --label odd cut.mts
	seq 4097 | awk '{ printf "{\"a\":%d,\"b\":%d}\n", $1, $1 % 2 }' | mkstream 5000 >many.mts
	refused "many.mts: column 'a' has more than 4096 different values; these are not labels" --label a --label b many.mts
	run -1 --separate-stderr geom agreement --label fine --label odd texts.mts -o /dev/full
	[[ $stderr == "geom: /dev/full: "* ]]
}

# 6. memory

@test "geom agreement: frees all memory before it exits" {
	export ASAN_OPTIONS=detect_leaks=1
	geom agreement -k 6 --label fine -f x -f y texts.mts
	geom agreement --json --label fine texts.mts texts.mts
}
