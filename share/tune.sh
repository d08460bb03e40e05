# shellcheck shell=bash disable=SC2154
# tune.sh - train an adapter, or the whole model, on pairs of texts, and score it on pairs that it has not read.  'motes tune' runs
# it after lines that set
#	bin			the folder of the programs
#	model pairs to		a model; a table of pairs (TSV, CSV, JSON Lines, compressed or not); the folder to write
#	query document		the names of their columns; empty: the first of the pairs of names below that the table has
#	whole			1: train all weights, not an adapter
#	lr epochs batch seed	of the training; lr, epochs empty: the values below
#	quiet			-q: nothing but faults on standard error
# Every tenth distinct query, 1,000 at most, is held out with all its pairs, and is searched for among all documents of the table.
# TO.pairs keeps the files of both parts, so that the commands that are shown can be typed again.
set -euo pipefail
work=
PATH=$bin:$PATH

fail() {
	echo "motes: tune: $*" >&2
	[ -z "$work" ] || rm -r "$work"
	exit 1
}

# prints a command line and runs it
show() {
	[ "$quiet" ] || echo "$1" >&2
	eval "$1"
}

command -v jq >/dev/null || fail "jq is missing; install it"
[ ! -e "$to" ] || fail "$to is there already; name another folder"
plain=$(sed -E 's/\.(gz|zst|xz|bz2)$//' <<<"$pairs")
format=${plain##*.}
case $format in tsv | csv | jsonl) ;; *) fail "$pairs: its name ends in none of .tsv, .csv, .jsonl" ;; esac

[ ! -e "$to.pairs" ] || fail "$to.pairs is there already; move it away"
mkdir -p "$to.pairs"
work=$to.pairs
mts from "$format" "$pairs" >"$work/pairs.mts" || { rm -r "$work" && exit 1; }
columns=$(mts head -n 1 --json "$work/pairs.mts" | jq -r '.columns[]? | select(.text and .depth == 1).name')
has() { grep -qxF -- "$1" <<<"$columns"; }
need() { has "$1" || fail "$pairs: no column of texts '$1'; there are: $(paste -sd' ' <<<"$columns")"; }
if [ -z "$query$document" ]; then
	for names in query:document query:positive anchor:positive question:answer sentence1:sentence2 title:text; do
		query=${names%:*} document=${names#*:}
		! { has "$query" && has "$document"; } || break
		query='' document=''
	done
	[ "$query" ] || fail "$pairs: which of its columns are the pairs ($(paste -sd' ' <<<"$columns"))? Say so by --query and --document"
fi
[[ $query && $document ]] || fail "--query and --document are given together, or neither"
need "$query"
need "$document"

mts to jsonl -c "$query,$document" "$work/pairs.mts" |
	jq -r --arg q "$query" --arg d "$document" 'select((.[$q] // "") != "" and (.[$d] // "") != "") | "\(.[$q] | tojson)\t\(.[$d] | tojson)"' |
	awk -F'\t' -v work="$work" '
		!($1 in number) { number[$1] = ++queries; out = queries % 10 == 0 && held < 1000 ? ++held : 0; if (out) part[$1] = out }
		!($2 in document) { document[$2] = ++documents; print "{\"_id\":\"d" documents "\",\"text\":" $2 "}" >(work "/corpus.jsonl") }
		!($1 in part) { print "{\"query\":" $1 ",\"document\":" $2 "}" >(work "/train.jsonl"); train++; next }
		!(part[$1] in asked) { asked[part[$1]]; print "{\"_id\":\"q" part[$1] "\",\"text\":" $1 "}" >(work "/queries.jsonl") }
		!(($1, $2) in judged) { judged[$1, $2]; print "q" part[$1] "\td" document[$2] "\t1" >(work "/qrels.tsv") }
		END { print train + 0, held + 0, documents + 0 >(work "/counts") }'
read -r train held documents <"$work/counts"
rm "$work/pairs.mts" "$work/counts"
[ "$train" -ge 2 ] || fail "$pairs: $train pairs to train on; it needs more rows"
[ "$held" -gt 0 ] || [ "$quiet" ] || echo "motes: tune: $pairs has too few pairs to hold some out: nothing says whether training helps" >&2

[ "$batch" -le "$train" ] || batch=$train
# as many passes as make 200 steps, 20 at most
: "${epochs:=$(awk -v rows="$train" -v batch="$batch" 'BEGIN { n = int(200 * batch / rows + 0.999); print (n < 1 ? 1 : n > 20 ? 20 : n) }')}"
: "${lr:=$([ "$whole" ] && echo 2e-5 || echo 1e-3)}"
cat >"$work/recipe.yaml" <<END
# of $pairs
batch: $batch
epochs: $epochs
seed: $seed
tasks: {pairs: {datasets: [{name: pairs, file: train.jsonl, query: query, document: document}]}}
END
adapter=--lora=rank=16,targets=all-linear
[ -z "$whole" ] || adapter=
m=$(printf %q "$model") t=$(printf %q "$to") w=$(printf %q "$work")
show "tasksample ${quiet:+-q }-C $w $w/recipe.yaml | tok ${quiet:+-q }-m $m | train ${quiet:+-q }-m $m ${adapter:+$adapter }--lr $lr --seed $seed -o $t"
[ "$held" -gt 0 ] || exit 0

# score NAME OPTION...: queries and documents through that model, scored
score() {
	show "tok -q -m $m -f text $w/queries.jsonl | encode -q $2 -o $w/$1-queries.mts"
	show "tok -q -m $m -f text $w/corpus.jsonl | encode -q $2 -o $w/$1-corpus.mts"
	show "mteb-score retrieval -q --qrels $w/qrels.tsv --per-query $w/$1.tsv $w/$1-queries.mts $w/$1-corpus.mts >$w/$1.txt"
}
score base "-m $m"
if [ "$whole" ]; then score tuned "-m $t"; else score tuned "-m $m --adapter $t"; fi
[ "$quiet" ] || echo "$held queries that training has not read, among $documents documents:" >&2
awk -F'\t' '
	FNR == 1 { for (i = 1; i <= NF; i++) column[$i] = i; file++; next }
	{ for (i = 1; i <= 3; i++) value[file, $1, i] = $column[name[i]] }
	file == 1 { ids[++n] = $1 }
	BEGIN { split("ndcg_at_10 recall_at_10 mrr_at_10", name, " "); split("nDCG@10 recall@10 MRR@10", title, " ") }
	END {
		print "| held-out pairs | base | tuned | difference ± standard error |\n|---|---:|---:|---:|"
		for (i = 1; i <= 3; i++) {
			base = tuned = squares = 0
			for (q = 1; q <= n; q++) { base += value[1, ids[q], i] / n; tuned += value[2, ids[q], i] / n }
			for (q = 1; q <= n; q++) squares += (value[2, ids[q], i] - value[1, ids[q], i] - tuned + base) ^ 2
			printf("| %s | %.3f | %.3f | %+.3f ± %.3f |\n", title[i], base, tuned, tuned - base, n > 1 ? sqrt(squares / (n - 1) / n) : 0)
		}
	}' "$work/base.tsv" "$work/tuned.tsv"
