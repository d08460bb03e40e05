#!/usr/bin/env bats
load helper

# Golden values: tests/golden/routing.py (numpy, scikit-learn).

setup() { cd "$T"; }

# stream_of NAME [MODEL [ROWS]]: JSON rows on standard input as the stream NAME.mts of MODEL (base)
stream_of() { mkstream "${3:-7}" f32 "${2:-base}" >"$1.mts"; }
golden() { stream_of train <"$GOLDEN/routing_train.jsonl"; }
expected() { # NAME: the golden lines of this name, without it
	grep -P "^$1\t" "$GOLDEN/routing_expected.tsv" | sed -E "s/^$1\t//"
}
pilots() { # the library on standard input: gate, data set, size, vector
	mts to jsonl - | jq -r '[.gate, .dataset, .size] + .["pilot.emb"] | @tsv'
}
classifiers() { mts to jsonl - | jq -r '[.gate, .bias] + .["pilot.emb"] | @tsv'; }
# same FILE COLUMNS: texts and numbers on standard input are those of the file's first columns
same() {
	tee got | cut -f1-"$2" | diff - <(cut -f1-"$2" "$1")
	cut -f$(($2 + 1))- got | within <(cut -f$(($2 + 1))- "$1") 2e-6
}
# Four queries of data sets x and y, with scores of two gates.
hand() {
	cat <<-END
		{"_id":"1","dataset":"x","text.emb":[1,0],"score.a":0.5,"score.b":0.25}
		{"_id":"2","dataset":"x","text.emb":[3,0],"score.a":1,"score.b":0}
		{"_id":"3","dataset":"x","text.emb":[0,4],"score.a":0,"score.b":0}
		{"_id":"4","dataset":"y","text.emb":[0,2],"score.a":0,"score.b":0.5}
	END
}

# 1. known answers

@test "pilot-build fit: pilots of tied queries, computed by hand" {
	hand | stream_of hand
	pilot-build fit hand.mts | pilots |
		diff - <(printf '%s\t%s\t%s\t%s\t%s\n' a x 3 1.3333334 1.3333334 b y 1 0 2)
	pilot-build fit --ties drop hand.mts | pilots |
		diff - <(printf '%s\t%s\t%s\t%s\t%s\n' a x 2 2 0 b y 1 0 2)
	# the mean of 1, 3 and a half of the third query: 4/2.5 and 2/2.5
	pilot-build fit --ties split hand.mts | pilots |
		diff - <(printf '%s\t%s\t%s\t%s\t%s\n' a x 2.5 1.6 0.8 b x 0.5 0 4 b y 1 0 2)
	run -0 pilot-build show <(pilot-build fit --ties drop hand.mts)
	[ "$output" = $'gate\tdataset\tnearest\tcosine\tsize\tlength\na\tx\tb\t0.0000\t2\t2.0000\nb\ty\ta\t0.0000\t1\t2.0000' ]
	[ "$(pilot-build fit hand.mts | pilot-build show | cut -f 4)" = $'cosine\n0.7071\n0.7071' ]
}

@test "pilot-build fit --least and --own: small groups and other data sets have no pilots, computed by hand" {
	{
		hand
		echo '{"_id":"5","dataset":"y","text.emb":[6,0],"score.a":1,"score.b":0}'
	} | stream_of five
	pilot-build fit five.mts | pilots | diff - <(printf '%s\t%s\t%s\t%s\t%s\n' a x 3 1.3333334 1.3333334 a y 1 6 0 b y 1 0 2)
	pilot-build fit --least 1 five.mts | mts diff <(pilot-build fit five.mts) -
	pilot-build fit -q --least 2 five.mts | pilots | diff - <(printf 'a\tx\t3\t1.3333334\t1.3333334\n')
	# a tied query counts a half for each gate: of groups with 2.5 and 0.5 queries the second is dropped
	pilot-build fit --ties split --least 1 five.mts | pilots | cut -f1-3 | diff - <(printf '%s\t%s\t%s\n' a x 2.5 a y 1 b y 1)
	# data sets called a and b like the gates: each gate has pilots of its own data set only
	mts to jsonl five.mts | jq -c '.dataset |= {x: "a", y: "b"}[.]' | stream_of named
	pilot-build fit --own named.mts | pilots | diff - <(printf '%s\t%s\t%s\t%s\t%s\n' a a 3 1.3333334 1.3333334 b b 1 0 2)
	run -1 --separate-stderr pilot-build fit --own five.mts
	[ "$stderr" = "pilot-build: five.mts: no gate is the best of queries of a data set of its name; without --own all data sets count" ]
	run -1 --separate-stderr pilot-build fit --least 9 five.mts
	[ "$stderr" = "pilot-build: five.mts: no gate is the best of 9 queries of a data set; lower --least" ]
	run -0 --separate-stderr pilot-build fit --least 2 five.mts -o out
	[ "$stderr" = "pilot-build: warning: five.mts: no queries are left for these gates, and none will be sent to them: b" ]
	does_not_apply --least pilot-build fit --router head --least 2 five.mts
	does_not_apply --own pilot-build fit --router dataset --own five.mts
}

@test "pilot-build fit: pilots equal NumPy's, also with ties and however rows are divided into records" {
	golden
	for ties in first drop split; do
		expected "pilot\t$ties" >wanted
		[ -s wanted ]
		pilot-build fit --ties $ties train.mts | pilots | same wanted 2
	done
	stream_of other base 100 <"$GOLDEN/routing_train.jsonl"
	pilot-build fit train.mts -o a.mts
	pilot-build fit other.mts | mts diff a.mts -
	mts head --json a.mts | head -1 | jq -e '.properties == {"model":"base","router":"pilots"}'
}

@test "pilot-build fit --router: classifiers are scikit-learn's" {
	golden
	expected head >wanted
	pilot-build fit --router head train.mts | classifiers | same wanted 1
	jq -c 'select(.["score.c"] < 0.75 and .["score.a"] != .["score.b"]) | del(.["score.c"])' \
		"$GOLDEN/routing_train.jsonl" | stream_of two
	expected expert >wanted
	pilot-build fit --router experts two.mts | classifiers | same wanted 1
	# a head of two gates is one regression, divided between them
	sed 's/^expert/head/' wanted | awk -F'\t' -v OFS='\t' '{ for (i = 2; i <= NF; i++) $i /= 2; print }' >half
	pilot-build fit --router head two.mts | classifiers | same half 1
}

@test "pilot-build fit -k: separate clusters are found; a group has at most as many clusters as queries" {
	for i in 0 1 2 3 4 5 6 7 8 9; do
		echo "{\"dataset\":\"x\",\"text.emb\":[$((10 + i)).5,0],\"score.a\":1,\"score.b\":0}"
		echo "{\"dataset\":\"x\",\"text.emb\":[0,$((-50 - i))],\"score.a\":1,\"score.b\":0}"
	done | { cat; echo '{"dataset":"x","text.emb":[7,7],"score.a":0,"score.b":1}'; } | stream_of apart
	for seed in 1 2 3; do
		pilot-build fit -k 2 --seed $seed apart.mts | pilots | sort -n -k4 |
			diff - <(printf '%s\t%s\t%s\t%s\t%s\n' a x 10 0 -54.5 b x 1 7 7 a x 10 15 0)
	done
}

# 2. options, and how streams may come

@test "pilot-build fit --router dataset: a sample of each data set, by the seed" {
	golden
	pilot-build fit --router dataset --samples 9 train.mts >a.mts
	mts to jsonl a.mts | jq -r .gate | uniq -c | awk '{ print $1, $2 }' | diff - <(printf '9 one\n9 two\n')
	mts to jsonl a.mts | jq -c '[.dataset, .["pilot.emb"]]' | sort >drawn
	[ "$(uniq drawn | wc -l)" -eq 18 ]
	mts to jsonl train.mts | jq -c '[.dataset, .["text.emb"]]' | sort | comm -13 - drawn >strange
	[ ! -s strange ]
	pilot-build fit --router dataset --samples 9 --seed 42 train.mts | mts diff a.mts -
	run -1 mts diff a.mts <(pilot-build fit --router dataset --samples 9 --seed 43 train.mts)
	# all queries if there are no more
	pilot-build fit --router dataset train.mts | mts to jsonl - | jq -c '[.dataset, .["pilot.emb"]]' | sort |
		diff - <(mts to jsonl train.mts | jq -c '[.dataset, .["text.emb"]]' | sort)
}

@test "pilot-build fit --router experts: each classifier has as many queries of other gates" {
	golden
	pilot-build fit --router experts train.mts | mts to jsonl - | jq -r '[.gate, .size] | @tsv' |
		diff - <(printf '%s\t16\n' a b c)
	pilot-build fit --router experts -o a.mts train.mts
	pilot-build fit --router experts train.mts | mts diff a.mts -
	run -1 mts diff a.mts <(pilot-build fit --router experts --seed 43 train.mts)
}

@test "pilot-build fit: the data set is a column, an attribute or the file's name; the order of columns has no effect" {
	hand | jq -c 'select(.dataset == "x") | del(.dataset)' | stream_of x
	hand | jq -c 'select(.dataset == "y") | {"score.b", "score.a", "text.emb"}' | stream_of y
	hand | stream_of hand
	pilot-build fit hand.mts -o hand.pilots
	pilot-build fit x.mts y.mts | mts diff hand.pilots -
	pilot-build fit <x.mts | mts to jsonl - | jq -e '.dataset == ""'
	# libraries fitted separately make up the whole
	pilot-build fit -q x.mts -o x.pilots
	pilot-build fit -q y.mts -o y.pilots
	mts cat x.pilots y.pilots | pilots | diff - <(pilots <hand.pilots)
	mts rows --where 'gate!=a' hand.pilots | pilots | diff - <(printf 'b\ty\t1\t0\t2\n')
}

@test "pilot-build fit: a gate that is best for no query gets a warning" {
	hand | jq -c '.["score.c"] = -1' | stream_of hand
	run -0 --separate-stderr pilot-build fit -o out hand.mts
	[ "$stderr" = "pilot-build: warning: hand.mts: no queries are left for these gates, and none will be sent to them: c" ]
	[ "$(pilots <out | wc -l)" -eq 2 ]
}

# 3. usage

@test "pilot-build: options that do not apply, and unknown commands, are refused" {
	hand | stream_of hand
	does_not_apply --ties pilot-build fit --router head --ties drop hand.mts
	does_not_apply --clusters pilot-build fit --router experts -k 2 hand.mts
	does_not_apply --samples pilot-build fit --samples 3 hand.mts
	does_not_apply --seed pilot-build show --seed 3 hand.mts
	run -2 pilot-build hand.mts
	run -2 pilot-build fit --ties last hand.mts
	run -2 pilot-build fit --clusters 0 hand.mts
}

# 4. wrong input

@test "pilot-build: faulty streams are refused by name" {
	hand | stream_of hand
	refused() { # MESSAGE FILTER: the rows edited by jq
		hand | jq -c "$2" | stream_of wrong
		run -1 --separate-stderr pilot-build fit "${@:3}" wrong.mts
		[ -z "$output" ]
		echo "$stderr"
		[[ $stderr == "pilot-build: wrong.mts: "*"$1"* ]]
	}
	refused "there is no column 'score.GATE'" 'del(.["score.a", "score.b"])'
	refused "there is no column '*.emb'" 'del(.["text.emb"])'
	hand | jq -c '{"text.emb"}' | stream_of wrong
	hand | jq -c '{"score.a"} | .["score.a"] |= (select(. < 1) // null)' | mts from jsonl - | mts paste wrong.mts - >nan.mts
	run -1 pilot-build fit nan.mts
	[[ $output == *"nan.mts: record 1: 'score.a' of row 2 is not finite" ]]
	refused "row 2" 'if ._id == "2" then .["text.emb"][0] = null else . end'
	refused "no two gates to tell apart" '.["score.a"] = 2' --router head
	refused "all queries are ties" '.["score.a"] = .["score.b"]' --ties drop
	refused "the data set of its queries is not known" '.dataset = ""' --router dataset
	refused "column 'dataset' should hold one text or number a row" '.dataset |= [.]' --router dataset
	run -1 pilot-build fit </dev/null
	head -c 150 hand.mts >cut.mts
	run -1 pilot-build fit cut.mts
	mts rows --where '_id=none' hand.mts >none.mts
	run -1 pilot-build fit none.mts
	[[ $output == *"none.mts: there are no queries in it" ]]
	run -1 pilot-build show hand.mts
	[[ $output == *"hand.mts: is not a library of pilots"* ]]
	run -1 bash -c 'pilot-build fit hand.mts >/dev/full'
}

@test "pilot-build: streams of different models, columns or widths are refused" {
	hand | stream_of hand
	hand | stream_of other another
	run -1 pilot-build fit hand.mts other.mts
	[[ $output == *"of model another"* ]]
	run -0 pilot-build fit --any-model -o out hand.mts other.mts
	[ "$(pilot-build fit --level 0 hand.mts | wc -c)" -gt "$(pilot-build fit --level 19 hand.mts | wc -c)" ]
	hand | jq -c '.["score.c"] = 0.1' | stream_of more
	run -1 pilot-build fit hand.mts more.mts
	[[ $output == *"more.mts: it has scores of gate 'c', hand.mts has none" ]]
	run -1 pilot-build fit more.mts hand.mts
	[[ $output == *"hand.mts: it has scores of 2 gates, more.mts of 3" ]]
	hand | jq -c '.["text.emb"] += [1]' | stream_of wide
	run -1 pilot-build fit hand.mts wide.mts
}

# 5. the man page
@test "pilot-build: the manual's examples run as printed" {
	mkdir scores
	ln -s "$GOLDEN/bert" model
	printf '%s\t%s\n' id text 1 'a red boat sails' 2 'the bird flies' 3 'a boat' >train.tsv
	printf 'id\tndcg_at_10\n1\t1\n2\t0\n3\t1\n' >scores/plain.tsv
	printf 'id\tndcg_at_10\n1\t0\n2\t1\n3\t0.5\n' >scores/mixed.tsv
	page_examples pilot-build.1 >examples
	[ "$(wc -l <examples)" -eq 4 ]
	bash -eu -o pipefail examples >shown
	cut -f1,2,5 shown | diff - <(printf '%s\t%s\t%s\n' gate dataset size mixed one 1 plain one 2)
	[ "$(mts to jsonl fewer.mts | jq -r .gate)" = mixed ]
}
