#!/usr/bin/env bats
load helper
load drawn

# pipelines/demo.mk and its scripts.

setup() {
	cd "$T"
}

P=$ROOT/pipelines

# lists SOURCES [FOLDER]: package lists like apt's, of source packages p1 to pSOURCES; all but the first three have two packages
lists() {
	awk -v sources="$1" -v folder="${2:-.}" 'BEGIN {
		split("plays shows copies finds counts draws sends reads", does, " ")
		split("music pictures files mail numbers maps pages words", things, " ")
		for (n = 1; n <= sources; n++)
			for (binary = 0; binary < (n > 3 ? 2 : 1); binary++) {
				name = (binary ? "a-lib-" : "") "p" n
				print "Package: " name "\nDescription-md5: 0\nDescription-en: " does[n % 8 + 1] " " things[int(n / 8) % 8 + 1] \
					(binary ? " (library)" : "") "\n This is number " n " of the programs, one that " does[n % 8 + 1] " some\n .\n " \
					things[int(n / 8) % 8 + 1] ".\n" > (folder "/Translation-en")
				print "Package: " name (binary ? "\nSource: p" n " (1.0)" : "") "\nTag: use::viewing, " \
					(n % 2 ? "\n role::program" : "role::shared-lib") "\nSection: x\n" > (folder "/Packages")
			}
	}'
}

@test "packages: each source package is a row with its main package's texts; paragraphs are joined; debtags may span lines" {
	lists 5
	awk -f "$P/packages.awk" Translation-en Packages | cut -f1,3- | diff - <(printf '%s\t%s\t%s\t%s\n' \
		id program synopsis description \
		p1 1 'shows music' 'This is number 1 of the programs, one that shows some music.' \
		p2 0 'copies music' 'This is number 2 of the programs, one that copies some music.' \
		p3 1 'finds music' 'This is number 3 of the programs, one that finds some music.' \
		p4 0 'counts music' 'This is number 4 of the programs, one that counts some music.' \
		p5 1 'draws music' 'This is number 5 of the programs, one that draws some music.')
}

@test "packages: descriptions that two source packages share, and very short ones, are left out" {
	{ cat <<-'END'; } >Translation-en
		Package: one
		Description-en: the first
		 All that can be said of it is said here in full.

		Package: two
		Description-en: the second
		 All that can be said of it is said here in full.

		Package: three
		Description-en: short
		 Nothing more.

		Package: four
		Description-en: a "fourth"
		 This is the only one of them that is \ left.
	END
	sed -n '/^Package/{ p; s/.*//; p }' Translation-en >Packages
	awk -f "$P/packages.awk" Translation-en Packages >table.tsv
	[ "$(cut -f1 table.tsv | tail -n +2)" = four ]
	awk -v out=. -f "$P/json.awk" -f "$P/packages-beir.awk" <(sed 's/\ttrain\t/\tdev\t/' table.tsv)
	jq -r '.text' dev.jsonl corpus.jsonl | diff - <(printf '%s\n' 'a "fourth"' 'This is the only one of them that is \ left.')
}

@test "packages: held-out packages are in the corpus and in no training pair" {
	lists 600
	awk -f "$P/packages.awk" Translation-en Packages >table.tsv
	awk -v out=. -f "$P/json.awk" -f "$P/packages-beir.awk" table.tsv
	for part in dev test; do
		[ "$(wc -l <$part.jsonl)" -gt 10 ]
		cut -f1 $part.qrels | tail -n +2 | diff - <(jq -r ._id $part.jsonl)
	done
	[ "$(cat dev.jsonl test.jsonl train.jsonl | wc -l)" -eq 600 ]
	awk -F'\t' '$2 == "train" { print $5 }' table.tsv | diff - <(jq -r .document train.jsonl)
	cut -f5 table.tsv | sort | uniq -d | diff - /dev/null
	awk -F'\t' 'NR > 1 && ($2 != "train" || $3) { print $1 }' table.tsv | diff - <(jq -r ._id corpus.jsonl)
}

@test "bm25: scores are those of bm25s" {
	awk -f "$P/terms.awk" -f "$P/bm25.awk" "$GOLDEN"/bm25-{corpus,queries}.jsonl | sort >run
	awk '{ print $1 "\t" $3 }' run | diff - <(cut -f1,2 "$GOLDEN/bm25.tsv")
	# bm25s computes in float32; our scores have five decimals
	awk '{ print $5 }' run | within <(cut -f3 "$GOLDEN/bm25.tsv") 2e-5
}

@test "bm25: the best hundred of many documents are listed, whatever the documents' order" {
	seq 300 | awk '{ printf "{\"_id\": \"d%d\", \"text\": \"word", $1
		for (more = $1 * 7 % 300; more > 1; more--) printf " more"
		print " more\"}" }' >corpus.jsonl
	printf '{"_id": "x%d", "text": "more"}\n' {1..3000} >>corpus.jsonl
	echo '{"_id": "q", "text": "word"}' >queries.jsonl
	awk -f "$P/terms.awk" -f "$P/bm25.awk" corpus.jsonl queries.jsonl | sort -k5,5gr >run
	[ "$(wc -l <run)" -ge 100 ]
	[ "$(wc -l <run)" -lt 200 ]
	# the shortest documents have the best scores
	seq 300 | awk '{ print $1 * 7 % 300, "d" $1 }' | sort -n | head -n 100 | cut -d' ' -f2 | sort >shortest
	head -n 100 run | cut -d' ' -f3 | sort | diff - shortest
}

@test "fuse: BM25 plus weighted cosine, with documents missing in one run; the best weight" {
	printf '%s Q0 %s 1 %s x\n' q q 2 q b 3 r r 1 >words.run
	printf '%s Q0 %s 1 %s x\n' q q 0.5 q c 0.25 r r 0.5 r b 0.75 >near.run
	awk -v weight=4 -f "$P/fuse.awk" words.run near.run | awk '{ print $1, $3, $5 }' | sort | diff - <(printf '%s %s %s\n' \
		q b 4.000000 q c 1.000000 q q 4.000000 r b 3.000000 r r 3.000000)
	# query q's document is first for weights from 4, query r's for weights up to 4
	awk -v weights="1 3 5" -f "$P/fuse.awk" words.run near.run | grep -x 1
	sed -i '/^r/d' words.run near.run
	awk -v weights="1 3 5" -f "$P/fuse.awk" words.run near.run | grep -x 5
}

@test "few-words: selects queries that share at most a third of their terms with their document" {
	printf '{"_id": "%s", "text": "%s"}\n' a 'red green blue' b 'red green blue' c 'the red' >corpus.jsonl
	printf '{"_id": "%s", "text": "%s"}\n' a 'Red, the new sky' b 'red new' c 'the sky' >queries.jsonl
	awk -f "$P/terms.awk" -f "$P/few-words.awk" corpus.jsonl queries.jsonl | diff - <(printf '%s\n' a c)
}

@test "versus: means, differences and their standard errors, over all queries and over some" {
	printf '%s\t%s\t%s\n' id x ndcg_at_10 1 9 0.5 2 9 0 3 9 1 4 9 0.5 >a.tsv
	printf '%s\t%s\n' id ndcg_at_10 4 1 3 1 2 0.5 1 0.75 >b.tsv
	printf '%s\n' 2 4 >ids
	# differences 0.25, 0.5, 0, 0.5: mean 0.3125, deviation 0.2394, standard error 0.1197
	awk -v by=by -f "$P/versus.awk" column=all row=a a.tsv row="b b" b.tsv column=some ids=ids row=a a.tsv row="b b" b.tsv |
		diff - <(cat <<-'END'
			by               all, 4               some, 2
			                 ndcg  - a            ndcg  - a
			a                0.500                0.250
			b b              0.812 +0.312 ± 0.120 0.750 +0.500 ± 0.000
		END
		)
}

# a_demo ARGUMENT...: make on drawn lists, the dictionaries' texts drawn as well
a_demo() {
	[ -e out ] || {
		drawn_text
		mkdir -p out/demo/packages/lists
		lists 400 out/demo/packages/lists
		printf '_id\ttext\nkettle\tkettle; pot\nshit (2)\tx\nrude\trude; word\nKettle\tx\n' >out/text/lookup.tsv
		printf '_id\ttext\nkettle\twater boils in it\nshit (2)\ty\nrude\tan obscene word\nKettle\ty\n' >out/text/definitions.tsv
	}
	make -s --no-print-directory -C "$ROOT" B="${BUILD#"$ROOT"/}" OUT="$T/out" WORDNET="$T/dictionaries" FOLDOC="$T/dictionaries/foldoc" \
		STEPS=2 JOBS=2 "$@" </dev/null
}

# bats test_tags=plain,unsanitized
@test "demo: three acts on drawn packages; a second run makes nothing; a removed file is made again" {
	a_demo RUN= demo >shown 2>log || { cat log; false; }
	cut -f1 out/demo/words.tsv | diff - <(printf '%s\n' _id kettle)
	[ "$(grep -c '^search by' shown)" -eq 3 ]
	awk 'length > 90' shown | diff - /dev/null
	grep -A3 '^an instrument' shown | grep 'kettle *water boils'
	tail -n +3 out/demo/act2.txt | cut -c1-16 | diff - <(printf '%-16s\n' words base adapter words+base words+adapter)
	tail -n +3 out/demo/act3.txt | cut -c1-16 | diff - <(printf '%-16s\n' base adapter routed words words+routed)
	# the score counts every query, also those without a hit
	[[ $(head -n 1 out/demo/act2.txt) == *"all, $(wc -l <out/demo/packages/test.jsonl) "* ]]
	touch made
	a_demo demo >again
	diff shown again
	find out -newer made -type f | diff - /dev/null
	# a removed table is made again from the existing results
	rm out/demo/act3.txt out/demo/packages/test-adapter.run
	a_demo demo >again
	diff shown again
	[ ! out/demo/packages/adapter/adapter_config.json -nt made ]
}

# bats test_tags=plain,unsanitized
@test "demo: a cross-encoder is trained on drawn packages and reranks; a second run makes nothing; another RERANK_EVERY trains again" {
	reranked() { a_demo RERANK_TOP=5 rerank-packages "$@" 2>log || { cat log >&2; false; }; }
	reranked RERANK_EVERY=24 >shown
	tail -n 3 shown | cut -c1-16 | diff - <(printf '%-16s\n' search reranked blend)
	[[ $(tail -n 5 shown | head -n 1) == "search by        all, $(wc -l <out/demo/packages/test.jsonl)" ]]
	grep -c '^A cross-encoder learns' log
	tests=$(wc -l <out/demo/packages/test.jsonl)
	[ "$(wc -l <out/demo/packages/rerank/test.run)" -eq $((5 * tests)) ]
	touch made
	reranked RERANK_EVERY=24 | diff shown -
	find out -newer made -type f | diff - /dev/null
	reranked RERANK_EVERY=12 >again
	grep -c '^A cross-encoder learns' log
	# a query's own description is never its negative
	jq -e 'select(.document as $d | .negatives | index($d))' out/demo/packages/rerank/hard.jsonl && false
	[ "$(wc -l <out/demo/packages/rerank/queries.jsonl)" -gt "$(wc -l <out/demo/packages/rerank/hard.jsonl)" ] ||
		[ "$(wc -l <out/demo/packages/rerank/queries.jsonl)" -eq "$(wc -l <out/demo/packages/rerank/hard.jsonl)" ]
}

# bats test_tags=plain,unsanitized
@test "demo: another STEPS or SEED trains the adapter again, the same ones do not" {
	learned() { a_demo "$@" "$T/out/demo/packages/adapter/adapter_config.json" 2>log; grep -c '^An adapter learns' log; }
	[ "$(learned)" = 1 ]
	run -1 learned
	# a run with other settings does not resume from the checkpoint
	echo broken >out/demo/packages/adapter.checkpoint
	[ "$(learned STEPS=3)" = 1 ]
	[ "$(tail -n +2 out/demo/packages/adapter.log.tsv | wc -l)" = 3 ]
	[ "$(learned STEPS=3 SEED=2)" = 1 ]
	run -1 learned STEPS=3 SEED=2
	touch -d '2020-01-01' out/demo/seed
	a_demo SEED=2 "$T/out/demo/seed"
	[ "$(date -r out/demo/seed +%Y)" = 2020 ]
	make -C "$ROOT" -pn OUT="$T/out" help | grep '/routed/pilots:.*/demo/seed'
}

@test "demo: without package lists only the first act is made, and one line says why" {
	drawn_text
	printf '_id\ttext\nkettle\tkettle\n' | tee out/text/lookup.tsv >out/text/definitions.tsv
	a_demo APT=false demo >shown 2>log || { cat log; false; }
	[ "$(tail -n 2 shown | head -n 1)" = 'apt-get update brought no lists of packages, so that acts 2 and 3 are left out.' ]
	[ "$(grep -c '^search by' shown)" -eq 1 ]
	diff log /dev/null
}
