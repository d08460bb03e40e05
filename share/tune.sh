# shellcheck shell=bash disable=SC2154,SC2016
# tune.sh - trains an adapter, or the whole model, on a table of texts, and scores it on held-out rows.  'motes tune' runs it after
# lines that set
#	bin			the folder of the programs
#	model pairs to		a model; a table (TSV, CSV, JSON Lines, compressed or not); the folder to write
#	query document		columns of texts; empty: found by name
#	prompts			given: the two prompts below replace the model's
#	query_prompt document_prompt	prompts of the pairs' texts
#	score label		the column of the pairs' scores; of labels, of pairs or of texts; empty: found by name
#	whole			1: train all weights, not an adapter
#	lr epochs batch seed	of the training; lr: X,...; lr, epochs empty: the defaults below
#	precision		bf16; empty: float32
#	mine			number of hard negatives of a pair; empty: none
#	quiet			-q: only errors on standard error
# The table is one of four kinds:
#	pairs		query and document, with or without negatives	infonce
#	scores		two texts and a score				cosent
#	matches		two texts and a label, 1 or 0			online
#	labels		a text and its label				infonce; pairs are texts of the same label
# Rows with the same first text are in the same part.  One of ten distinct first texts, drawn, is held out for the test, at most
# 1,000; if there are 100 or more, another one chooses the best step, at most 500.  TO.pairs keeps the files of all parts, so
# that the printed commands can be typed again.
set -euo pipefail
export LC_ALL=C.UTF-8 # where the user's locale has a decimal comma, awk and sort -g read 0.5 as 0
PATH=$bin:$PATH
to=${to%/}

fail() {
	echo "motes: tune: $*" >&2
	exit 1
}

# show COMMAND: prints the command line and runs it
show() {
	[ "$quiet" ] || echo "$1" >&2
	echo "$1" >>"$work/commands"
	eval "$1" || exit 1 # the program has said why
}

say() { [ "$quiet" ] || echo "motes: tune: $*" >&2; }

# The table. ----------------------------------------------------------------------------------

has() { grep -qxF -- "$1" <<<"$columns"; }
need() { has "$1" || fail "$pairs: no column of texts '$1'; there are: $(paste -sd' ' <<<"$columns")"; }
need_any() { grep -qxF -- "$1" <<<"$all" || fail "$pairs: no column '$1'; there are: $(paste -sd' ' <<<"$all")"; }

# first NAME...: the first name that is a column of the table
first() {
	local name
	for name; do ! grep -qxF -- "$name" <<<"$all" || { echo "$name" && return; }; done
}

# find_pair QUERY:DOCUMENT...: sets query and document to the first pair of columns that the table has
find_pair() {
	local names
	for names; do
		query=${names%:*} document=${names#*:}
		! { has "$query" && has "$document"; } || return 0
	done
	query='' document=''
}

# find_kind: sets kind, query, document, score, label and negatives
find_kind() {
	[ -z "$document" ] || [ "$query" ] || fail "--document needs --query"
	[ -z "$score" ] || [ -z "$label" ] || fail "--score and --label exclude each other"
	value=$score$label
	[ -z "$value" ] || need_any "$value"
	if [ -z "$value" ]; then
		score=$(first score similarity similarity_score relatedness_score)
		[ "$score" ] || label=$(first label labels is_duplicate)
	fi
	[ "$query" ] || find_pair query:document query:positive anchor:positive question:answer sentence1:sentence2 sent1:sent2 \
		sentence_A:sentence_B question1:question2 premise:hypothesis
	if [ "$label" ] && [ -z "$document" ]; then
		kind=labels
		query=${query:-$(first text sentence query question title)}
		[ "$query" ] || fail "$pairs: which of its columns has the texts ($(paste -sd' ' <<<"$columns"))? Say so by --query"
	else
		kind=pairs
		[ -z "$score" ] || kind=scores
		[ -z "$label" ] || kind=matches
		[ "$query" ] || find_pair title:text
		[ "$query" ] || fail "$pairs: which of its columns are the pairs ($(paste -sd' ' <<<"$columns"))? Say so by --query and --document"
		[ "$document" ] || fail "--query and --document are given together, or neither; --query alone is for texts with labels"
		need "$document"
	fi
	need "$query"
	value=${score:+score}${label:+label}
	negatives=
	[ "$kind" != pairs ] || negatives=$(grep -xE 'negatives?([-_]?[0-9]+)?|hard_negatives?|neg' <<<"$all" || :)
}

# prompt FILTER: sets REPLY to the prompt of the model that jq's FILTER selects, with its line ends, or to nothing
prompt() {
	local file=$model/config_sentence_transformers.json text=.
	[ ! -e "$file" ] || text=$(jq -j "(.prompts // {} | $1) // \"\" | . + \".\"" "$file" 2>/dev/null) ||
		fail "$file: it is not valid JSON, or a prompt is not a text"
	REPLY=${text%.}
}

# find_prompts: sets prompts to a recipe's line, query_tok and document_tok to options of tok, if pairs have a prompt
find_prompts() {
	query_tok='' document_tok=''
	if [ "$prompts" ]; then
		[ "$kind" = pairs ] || fail "--query-prompt and --document-prompt need pairs without scores and labels"
	elif [ "$kind" = pairs ]; then
		prompt .query && query_prompt=$REPLY
		prompt '.document // .passage // .corpus' && document_prompt=$REPLY
	fi
	[ "$prompts$query_prompt$document_prompt" ] || return 0
	query_tok=" --prompt $(printf %q "$query_prompt")" document_tok=" --prompt $(printf %q "$document_prompt")"
	prompts="prompts: {query: $(jq -n --arg t "$query_prompt" '$t'), document: $(jq -n --arg t "$document_prompt" '$t')}, "
	say "${prompts%, }"
}

# rows: prints each row as its first text, a tab, and an object with our names, in JSON; an empty line if a text or a value is missing
rows() {
	mts to jsonl -c "$(printf '%s\n' "$query" "$document" "$score" "$label" "$negatives" | grep . | awk '!seen[$0]++' | paste -sd,)" "$work/table.mts" |
		jq -r --arg kind "$kind" --arg q "$query" --arg d "$document" --arg v "$score$label" --arg n "$negatives" '
			def text: if type == "string" and . != "" then . else empty end;
			def number: if type == "boolean" then (if . then 1 else 0 end) elif type == "number" then . else (tonumber? // empty) end;
			[(.[$q] | text) as $query |
			(if $kind == "pairs" then {query: $query, document: (.[$d] | text)} +
				(if $n == "" then {} else {negatives: [. as $row | $n | split("\n")[] | $row[.] | if type == "array" then .[] else . end | text]} end)
			elif $kind == "scores" then {sentence1: $query, sentence2: (.[$d] | text), score: (.[$v] | number)}
			elif $kind == "matches" then {sentence1: $query, sentence2: (.[$d] | text), label: (.[$v] | number | if . == 1 then 1 elif . == 0 then 0 else . end)}
			else {text: $query, label: (.[$v] | if . == null or . == "" then empty else tostring end)} end) |
			"\($query | tojson)\t\(tojson)"][0] // ""'
}

# The parts. ----------------------------------------------------------------------------------

# split FILE: writes train.jsonl, dev.jsonl and test.jsonl; prints their numbers of rows, and the number of first texts in test
split() {
	awk -F'\t' -v work="$work" '
		function draw(n) { state = state * 16807 % 2147483647; return state % n }
		BEGIN { state = 12345 }
		FNR == NR { if (!($1 in number)) number[$1] = texts++; next }
		FNR == 1 {
			for (ten = 0; ten + 10 <= texts; ten += 10) {
				test = draw(10)
				if (ten < 10000) part[ten + test] = "test"
				dev = (test + 1 + draw(9)) % 10
				if (ten < 5000 && texts >= 100) part[ten + dev] = "dev"
			}
		}
		{
			n = number[$1]
			name = n in part ? part[n] : "train"
			print substr($0, length($1) + 2) >(work "/" name ".jsonl")
			rows[name]++
			if (name == "test" && !(n in seen)) { seen[n]; held++ }
		}
		END { print rows["train"] + 0, rows["dev"] + 0, rows["test"] + 0, held + 0 }' "$1" "$1"
}

# retrieval_files: of pairs, the corpus of all documents, at most 1,000 of them for the development queries, and the test's queries
# and judgements
retrieval_files() {
	local part
	for part in train dev test; do
		[ ! -e "$work/$part.jsonl" ] || jq -r --arg part "$part" '"\($part)\t\(.query | tojson)\t\(.document | tojson)"' "$work/$part.jsonl"
	done | awk -F'\t' -v work="$work" '
		!($3 in document) { document[$3] = ++documents; print "{\"_id\":\"d" documents "\",\"text\":" $3 "}" >(work "/corpus.jsonl") }
		$1 != "test" || judged[$2, $3]++ { next }
		!($2 in query) { query[$2] = ++queries; print "{\"_id\":\"q" queries "\",\"text\":" $2 "}" >(work "/queries.jsonl") }
		{ print "q" query[$2] "\td" document[$3] "\t1" >(work "/qrels.tsv") }'
	awk -v step="$(($(wc -l <"$work/corpus.jsonl") / 1000 + 1))" 'NR % step == 0' "$work/corpus.jsonl" >"$work/dev-corpus.jsonl"
}

# mine: adds hard negatives to the training pairs, by near --mine: documents of other training rows that the model finds near the
# query, and whose similarity is at least 5 % below the pair's.
mine() {
	jq -r '"\(.query | tojson)\t\(.document | tojson)"' "$work/train.jsonl" >"$work/rows"
	awk -F'\t' -v work="$work" '
		!($1 in query) { query[$1] = ++queries; print "{\"_id\":\"q" queries "\",\"text\":" $1 "}" >(work "/mine-queries.jsonl") }
		!($2 in document) { document[$2] = ++documents; print "{\"_id\":\"d" documents "\",\"text\":" $2 "}" >(work "/mine-corpus.jsonl") }
		!judged[$1, $2]++ { print "q" query[$1] "\td" document[$2] "\t1" >(work "/mine-qrels.tsv") }' "$work/rows"
	show "tok -q -m $m$query_tok -f text $w/mine-queries.jsonl | encode -q -m $m -o $w/mine-queries.mts"
	show "tok -q -m $m$document_tok -f text $w/mine-corpus.jsonl | encode -q -m $m -o $w/mine-corpus.mts"
	show "near -q -k $((10 * mine + 100)) --run $w/mine.run $w/mine-queries.mts $w/mine-corpus.mts"
	show "near -q --mine $w/mine-qrels.tsv -k $mine --relative-margin 0.05 $w/mine.run >$w/mine.jsonl"
	jq -r '[.query_id, .document_id] + .negative_ids | @tsv' "$work/mine.jsonl" | awk -F'\t' '
		mined { for (i = 3; i <= NF; i++) found[$1, $2] = found[$1, $2] "\t" $i; next }
		!($1 in query) { query[$1] = "q" ++queries }
		!($2 in document) { document[$2] = "d" ++documents; text["d" documents] = $2 }
		{ row[FNR] = $0; rows = FNR }
		END {
			for (r = 1; r <= rows; r++) {
				split(row[r], side)
				n = split(substr(found[query[side[1]], document[side[2]]], 2), id)
				list = ""
				for (i = 1; i <= n; i++) list = list (i > 1 ? "," : "") text[id[i]]
				print "{\"query\":" side[1] ",\"document\":" side[2] ",\"negatives\":[" list "]}"
			}
		}' mined=1 - mined=0 "$work/rows" >"$work/mined"
	mv "$work/mined" "$work/train.jsonl"
	rm "$work/rows"
	say "$(grep -c . "$work/mine.jsonl") of the $train pairs have hard negatives"
	negatives=mined
}

# recipe PART EPOCHS BATCH: writes PART.yaml
recipe() {
	local fields
	case $kind in
	pairs)
		fields="query: query, document: document"
		[ -z "$negatives" ] || [ "$1 $negatives" = "dev mined" ] || fields+=", negatives: negatives"
		;;
	scores) fields="query: sentence1, document: sentence2, score: score" ;;
	matches) fields="query: sentence1, document: sentence2, score: label" ;;
	labels) fields="query: text, label: label" ;;
	esac
	printf '# of %s\nbatch: %d\nepochs: %d\nseed: %d\ntasks: {%s: {%sdatasets: [{name: %s, file: %s.jsonl, %s}]}}\n' \
		"$pairs" "$3" "$2" "$seed" "$kind" "$prompts" "$kind" "$1" "$fields" >"$work/$1.yaml"
}

# Training and scores. ------------------------------------------------------------------------

# learn_at RATE FOLDER OPTIONS
learn_at() {
	show "tasksample ${quiet:+-q }-C $w $w/train.yaml | tok ${quiet:+-q }-m $m | train ${quiet:+-q }-m $m --lr $1 $3 -o $2"
}

# learn_at_best OPTIONS: trains with each learning rate and keeps the run with the best step on the development rows.
learn_at_best() {
	local rate best kept=
	for rate in ${lr//,/ }; do
		learn_at "$rate" "$w/lr-$rate" "$1"
		best=$(jq .dev.best "$work/lr-$rate/train.json")
		say "--lr $rate: $best on the development rows"
		kept=$(printf '%s\n%s %s\n' "$kept" "$best" "$rate" | grep . | sort -s -k1,1gr | head -n 1)
	done
	for rate in ${lr//,/ }; do
		[ "$rate" = "${kept#* }" ] || show "rm -r $w/lr-$rate $w/lr-$rate.log.tsv"
	done
	show "mv $w/lr-${kept#* } $t; mv $w/lr-${kept#* }.log.tsv $t.log.tsv"
}

learn() {
	local options="--seed $seed${precision:+ --precision $precision}" dev=
	[ "$whole" ] || options="--lora=rank=16,targets=all-linear $options"
	case $kind in scores) options="--objective cosent $options" ;; matches) options="--objective online $options" ;; esac
	if [ "$dev_rows" -gt 0 ]; then
		recipe dev 1 "$batch"
		show "tasksample -q -C $w $w/dev.yaml | tok -q -m $m > $w/dev.mts"
		dev=" --dev $w/dev.mts --dev-every $(((steps + 7) / 8))"
		if [ "$kind" = pairs ]; then
			show "tok -q -m $m$document_tok -f text $w/dev-corpus.jsonl > $w/dev-corpus.mts"
			dev+=" --dev-corpus $w/dev-corpus.mts"
		fi
	fi
	case $lr in *,*) learn_at_best "$options$dev" ;; *) learn_at "$lr" "$t" "$options$dev" ;; esac
}

# score NAME OPTIONS: scores the model of encode's OPTIONS on the test
score() {
	local out="--per-query $w/$1.tsv" type=sts
	case $kind in
	pairs)
		show "tok -q -m $m$query_tok -f text $w/queries.jsonl | encode -q $2 -o $w/$1-queries.mts"
		show "tok -q -m $m$document_tok -f text $w/corpus.jsonl | encode -q $2 -o $w/$1-corpus.mts"
		show "mteb-score retrieval -q --qrels $w/qrels.tsv $out $w/$1-queries.mts $w/$1-corpus.mts >$w/$1.txt"
		;;
	scores | matches)
		[ "$kind" = scores ] || type=pairclassification
		show "tok -q -m $m -f sentence1 -f sentence2 $w/test.jsonl | encode -q $2 | mteb-score $type -q $out >$w/$1.txt"
		;;
	labels)
		show "tok -q -m $m -f text $w/train.jsonl | encode -q $2 -o $w/$1-train.mts"
		show "tok -q -m $m -f text $w/test.jsonl | encode -q $2 | mteb-score classification -q --train $w/$1-train.mts $out >$w/$1.txt"
		;;
	esac
}

# table: the main rows of `leaderboard compare` as a table in Markdown
table() {
	local names
	case $kind in
	pairs) names="ndcg_at_10=nDCG@10 recall_at_10=recall@10 mrr_at_10=MRR@10" ;;
	scores) names="cosine_spearman=Spearman cosine_pearson=Pearson" ;;
	matches) names="cosine_ap=average_precision" ;;
	labels) names="accuracy=accuracy" ;;
	esac
	leaderboard compare -q --from-per-query "$work/base.tsv" "$work/tuned.tsv" | awk -F'\t' -v names="$names" '
		function error(x) { return x == "" ? "" : sprintf(" ± %.3f", x) } # of very few rows there is none
		NR == 2 { for (i = 1; i <= NF; i++) column[$i] = i; n = split(names, wanted, " ") }
		NR > 2 { row[$1] = $0 }
		END {
			print "| held-out rows | base | tuned | difference ± standard error |\n|---|---:|---:|---:|"
			for (i = 1; i <= n; i++) {
				split(wanted[i], name, "=")
				split(row[name[1]], f, "\t")
				sub("_", " ", name[2])
				if (f[4] == "")
					printf "| %s | undefined | undefined | |\n", name[2]
				else
					printf "| %s | %.3f | %.3f | %+.3f%s |\n", name[2], f[2], f[3], f[4], error(f[column["standard_error"]])
			}
		}'
}

# card: a section of the model's card with the data, the scores and the commands
card() {
	printf '\n## Tuned by `motes tune`\n\n%s (%s): %d rows to train on, %d to choose the best step, %d held out.\n\n' \
		"$(basename "$pairs")" "$kind" "$train" "$dev_rows" "$test"
	cat "$work/table.md"
	printf '\n```sh\n%s\n```\n' "$(cat "$work/commands")"
}

# Main. ---------------------------------------------------------------------------------------

command -v jq >/dev/null || fail "jq is missing; install it"
[ ! -e "$to" ] || fail "$to is there already; name another folder"
plain=$(sed -E 's/\.(gz|zst|xz|bz2)$//' <<<"$pairs")
format=${plain##*.}
case $format in
tsv | csv | jsonl) ;;
ndjson | json) format=jsonl ;;
*) fail "$pairs: its name ends in none of .tsv, .csv, .jsonl, .ndjson, .json" ;;
esac
[ ! -e "$to.pairs" ] || fail "$to.pairs is there already; move it away"
work=$to.pairs
mkdir -p "$work"
trap '[ -e "$to" ] || ls "$work"/*.checkpoint >/dev/null 2>&1 || rm -rf "$work"' EXIT # so that the command can be given again
mts from "$format" "$pairs" >"$work/table.mts"
head=$(mts head -n 1 --json "$work/table.mts")
columns=$(jq -r '.columns[]? | select(.text and .depth == 1).name' <<<"$head")
all=$(jq -r '.columns[]?.name' <<<"$head")
[ "$all" ] || fail "$pairs has no rows"
find_kind
find_prompts
[ -z "$mine" ] || [ "$kind$negatives" = pairs ] || fail "--mine needs pairs of texts without scores, labels and negatives"
rows >"$work/all"
grep . "$work/all" >"$work/rows" || :
missing=$(grep -c '^$' "$work/all" | grep -vx 0 || :)
rm "$work/table.mts" "$work/all"
[ "$kind" != matches ] || ! grep -qvE '"label":[01]}$' "$work/rows" ||
	fail "$pairs: '$label' has other values than 0 and 1; name a column of scores by --score"
read -r train dev_rows test held < <(split "$work/rows")
rm "$work/rows"
case $lr in *,*) [ "$dev_rows" -gt 0 ] || fail "$pairs: too few rows to choose a rate by; give one --lr" ;; esac
missing=${missing:+"$missing rows lack a text${value:+ or a $value} and are left out"}
[ "$train" -ge 2 ] || fail "$pairs: $train rows to train on; it needs more${missing:+; $missing}"
[ "$kind" != labels ] || [ "$(jq .label "$work/train.jsonl" | sort -u | wc -l)" -ge 2 ] ||
	fail "$pairs: all rows to train on have the same '$label'; it needs two labels at least"
say "$pairs: $kind: $query${document:+, $document}${score:+, $score}${label:+, $label}${negatives:+, $(paste -sd' ' <<<"$negatives")}: $train rows to train on, $dev_rows to choose the best step, $test held out"
unused=$(grep -vxF -- "$(printf '%s\n' "$query" "$document" "$score" "$label" "$negatives" | grep .)" <<<"$all" | paste -sd, | sed 's/,/, /g' || :)
hint=
[ "$kind" != pairs ] || hint='; --score or --label names a column of scores or labels'
[ -z "$unused" ] || say "$pairs: not used: $unused$hint"
[ -z "$missing" ] || say "$pairs: $missing"
[ "$held" -gt 0 ] || say "$pairs has too few rows to hold some out: nothing says whether training helps"

[ "$batch" -le "$train" ] || batch=$train
# by default as many passes as make 200 steps, at most 20
: "${epochs:=$(awk -v rows="$train" -v batch="$batch" 'BEGIN { n = int(200 * batch / rows + 0.999); print (n < 1 ? 1 : n > 20 ? 20 : n) }')}"
: "${lr:=$([ "$whole" ] && echo 2e-5 || echo 1e-3)}"
batches=$(((train + batch - 1) / batch))
steps=$((batches * epochs))
m=$(printf %q "$model") t=$(printf %q "$to") w=$(printf %q "$work")
[ "$kind" != pairs ] || retrieval_files
[ -z "$mine" ] || mine
recipe train "$epochs" "$batch"
learn
[ "$held" -gt 0 ] || exit 0
score base "-m $m"
if [ "$whole" ]; then score tuned "-m $t"; else score tuned "-m $m --adapter $t"; fi
table | tee "$work/table.md"
card >>"$to/README.md"
