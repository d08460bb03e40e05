#!/usr/bin/env bats
load helper

# Two synsets in the format of wndb(5WN), written for this test.
data_noun() {
	cat <<'END'
  1 a line of the license
00000100 03 n 01 thing 0 000 | whatever there is
00000200 06 n 02 tea_pot 0 pot 1 001 @ 00000100 n 0000 | a "pot" for tea
00000300 06 n 01 kettle 0 002 @ 00000200 n 0000 ~ 00000200 n 0000 | what water boils in; "put the kettle on"; "a \ kettle"
00000400 44 a 01 boiling(p) 0 001 & 00000300 n 0000 | so hot that it bubbles; "boiling water"
END
}

@test "text: a synset of WordNet becomes a row: words, hypernym, definition, examples" {
	data_noun | awk -f "$ROOT/pipelines/wordnet.awk" >"$T/out"
	cut -f 1,3- "$T/out" >"$T/rows"
	cat >"$T/expected" <<'END'
id|class|words|kind|topic|instance|definition|examples
n00000100|noun.tops|thing|||0|whatever there is|
n00000200|noun.artifact|tea pot, pot|thing||0|a "pot" for tea|
n00000300|noun.artifact|kettle|tea pot, pot||0|what water boils in|put the kettle on / a \ kettle
a00000400|adj.ppl|boiling|kettle||0|so hot that it bubbles|boiling water
END
	sed 's/ | / \/ /' "$T/rows" | tr '\t' '|' | diff "$T/expected" -
}

@test "text: an entry of FOLDOC becomes a row: subject, first paragraph, no markup" {
	cat >"$T/dict" <<'END'
tea time

   <humour, networking> /tee taim/ When {packets} rest
   (see {elsewhere (http://x)}).  [{Jargon}]

   A second paragraph, long enough to be kept as further text.

   (1994-11-08)

nothing

   (1995-01-01)
END
	awk -f "$ROOT/pipelines/foldoc.awk" "$T/dict" | cut -f 3- >"$T/out"
	[ "$(wc -l <"$T/out")" -eq 2 ]
	[ "$(cut -f 2,3,6 "$T/out" | tail -n 1)" = \
		"tea time	humour, networking	When packets rest (see elsewhere)." ]
	[[ "$(cut -f 7 "$T/out" | tail -n 1)" == "A second paragraph"* ]]
}

@test "text: held-out entries are in no training file" {
	{
		printf 'id\tsplit\tclass\twords\tkind\ttopic\tinstance\tdefinition\texamples\n'
		printf 'n1\ttrain\tnoun.artifact\tkettle\tpot\t\t0\tboils the water\ta kettle\n'
		printf 'n2\ttrain\tnoun.artifact\tpan\tpot\t\t0\ta flat "pot"\t\n'
		printf 'n3\ttest\tnoun.artifact\tsecret\tpot\tvessel\t0\ta hidden \\ thing\tkeep it hidden\n'
		printf 'n4\tdev\tnoun.artifact\tother\tpot\tvessel\t1\tan instance\t\n'
	} >"$T/table"
	mkdir "$T/dev" "$T/test"
	awk -v out="$T" -f "$ROOT/pipelines/json.awk" -f "$ROOT/pipelines/dictionary.awk" "$T/table"
	run ! grep -lE 'secret|hidden|an instance' "$T"/corpus.txt "$T"/train-*.jsonl
	[ "$(cat "$T/train-noun.jsonl")" = '{"query": "boils the water", "document": "kettle; pot"}
{"query": "a flat \"pot\"", "document": "pan; pot"}' ]
	[ "$(cat "$T/train-sibling.jsonl")" = \
		'{"query": "a flat \"pot\"", "document": "boils the water"}' ]
	[ "$(cat "$T/test/queries.jsonl")" = '{"_id": "n3", "text": "a hidden \\ thing"}' ]
	[ "$(cat "$T/test/qrels.tsv")" = "query-id	corpus-id	score
n3	n3	1" ]
	[ "$(cat "$T/test/clustering.jsonl")" = '{"text": "a hidden \\ thing", "label": "vessel"}' ]
	grep -q '"n4"' "$T/test/corpus.jsonl"
	[ ! -e "$T/dev/queries.jsonl" ]
}
