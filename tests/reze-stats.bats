#!/usr/bin/env bats
load helper

# Golden values: tests/golden/reze.py (numpy).

setup() { cd "$T"; }

# stream_of NAME [MODEL]: JSON rows on standard input as the stream NAME.mts of MODEL (base)
stream_of() { mkstream 5 f32 "${2:-base}" >"$1.mts"; }

golden() { stream_of pairs base <"$GOLDEN/reze_pairs.jsonl"; }

# fitted NAME OPTION...: the golden lines of NAME as NAME.mts, and the values of their fit with the options
fitted() {
	local name=$1
	shift
	reze-stats fit -q "$@" -o "$name.mts" pairs.mts
	reze-stats show --json "$name.mts" >json
	jq -r '.active, .threshold' json
	for what in eigenvalue dispersion band; do
		jq -r ".active as \$active | [.components[:\$active][].$what] | @tsv" json
	done
	mts to jsonl "$name.mts" | jq -rs --argjson active "$(jq .active json)" \
		'[.[:$active][].shrink] | transpose[] | @tsv'
	reze-stats apply -q --dtype f64 "$name.mts" pairs.mts | mts to jsonl - |
		awk 'NR % 8 == 1' | jq -r '.["relation.target"] | @tsv'
}

# The golden values of NAME, without words.
wanted() { grep "^$1	" "$GOLDEN/reze_expected.tsv" | sed -E 's/^[a-z]+	([a-z]+	)(([a-z]+|[0-9]+)	)?/\1/; s/^(active|theta|lambda|v|band|alpha|target)	//'; }

# 1. known answers

@test "reze-stats fit and apply: equations 1 to 7 are numpy's to 1e-8, in each reading of the paper" {
	golden
	fitted paper | within <(wanted paper) 1e-9
	fitted printed --eq6 printed --eta 1 | within <(wanted printed) 1e-9
	fitted mean --centre mean | within <(wanted mean) 1e-9
	fitted zero --centre zero --band median | within <(wanted zero) 1e-9
	fitted strong --gamma 0.5 --eta 1.3 --rho 0.8 --alpha-min -2 --alpha-max 2 | within <(wanted strong) 1e-9
	fitted some --eq6 printed --gamma 0.5 --band median --alpha-min -2 --alpha-max 2 | within <(wanted some) 1e-9
	[ "$(wanted paper | wc -l)" -eq 20 ]
}

# Eight sources with six pairs each: on one axis two sources have means 2 and -2, the others 0, so that the band is 0.5;
# on the other axes all sources are alike.
axis() {
	for source in a b c d e f g h; do
		case $source in a) x=2 ;; b) x=-2 ;; *) x=0 ;; esac
		for rest in 0.3,0,0 -0.3,0,0 0,0.2,0 0,-0.2,0 0,0,0.15 0,0,-0.15; do
			printf '{"dataset":"%s","query.emb":[%s,%s],"document.emb":[%s]}\n' \
				$source $x "${rest%%,*}" "${rest#*,}"
		done
	done
}

@test "reze-stats: computed by hand, the factor of means 2 and -2 is 0.475; in the printed reading that of -2 is 1.525" {
	axis | stream_of axis
	factors() { mts to jsonl "$1" | head -n 1 | jq -r '.shrink[:3] | @tsv'; }
	reze-stats fit axis.mts -o axis.stats
	factors axis.stats | within <(echo 0.475 0.475 1) 1e-8
	mts to jsonl axis.stats | jq -s -e '.[1:][].shrink | all(. == 1)'
	reze-stats fit --eq6 printed axis.mts | factors - | within <(echo 0.475 1 1) 1e-8
	reze-stats fit --eq6 printed --alpha-max 2 axis.mts | factors - | within <(echo 0.475 1.525 1) 1e-8
	# half of --eta moves targets half as far
	reze-stats merge --eta 0.35 axis.stats | factors - | within <(echo 0.7375 0.7375 1) 1e-8
	reze-stats apply axis.stats axis.mts | mts to jsonl - | jq -c 'select(.dataset != "c")["relation.target"][0]' |
		head -n 12 | within <(printf '%s\n' 0.95{,,,,,} -0.95{,,,,,}) 1e-7
	run -0 reze-stats show -q axis.stats
	[ "${lines[0]}" = $'source\tpairs\tshrunk\tleast\tmean\tbefore\tafter' ]
	tail -n +2 <<<"$output" | cut -f2- | sed -n '1p;2p;9p' |
		within <(printf '6 1 0.475 0.475 2 0.95\n6 1 0.475 0.475 2 0.95\n48 2 0.475 0.475 0.5 0.2375\n') 1e-7
	[ "$(sed -n 4p <<<"$output")" = $'c\t6\t0\t\t\t0\t0' ]
}

@test "reze-stats effect: cosines and distances of targets are numpy's, and as computed by hand" {
	axis | stream_of axis
	reze-stats fit axis.mts -o axis.stats
	# source a: (2, 0.3, 0, 0) becomes (0.95, 0.3, 0, 0); the axes of 0.2 and 0.15 likewise
	reze-stats effect axis.stats axis.mts >table
	head -n 1 table | diff - <(printf '%s\t%s\t%s\t%s\t%s\t%s\n' source pairs shrunk cosine least distance)
	cosine() { awk -v r="$1" 'BEGIN { printf "%.8f", (2 * 0.95 + r * r) / sqrt((4 + r * r) * (0.95 * 0.95 + r * r)) }'; }
	mean=$(awk "BEGIN { print ($(cosine 0.3) + $(cosine 0.2) + $(cosine 0.15)) / 3 }")
	active=$(reze-stats show --json axis.stats | jq .active)
	tail -n +2 table | cut -f2- | sed -n '1p;2p;3p;9p' | within <(printf '%s %s %s %s %s\n' 6 "$(awk "BEGIN { print 1 / $active }")" "$mean" "$(cosine 0.3)" 1.1025 \
		6 "$(awk "BEGIN { print 1 / $active }")" "$mean" "$(cosine 0.3)" 1.1025 6 0 1 1 0 \
		48 "$(awk "BEGIN { print 2 / $active / 8 }")" "$(awk "BEGIN { print ($mean + 3) / 4 }")" "$(cosine 0.3)" 0.275625) 1e-4
	# --eta 0, a control, moves no target; a stream may have some of the sources
	reze-stats merge -q --eta 0 axis.stats | reze-stats effect - axis.mts | tail -n 1 | diff - <(printf 'all\t48\t0.0000\t1.000000\t1.000000\t0.000000\n')
	mts rows --where dataset=b axis.mts | reze-stats effect axis.stats | cut -f1,2 | diff - <(printf '%s\t%s\n' source pairs b 6 all 6)
	# the targets that apply writes
	golden
	reze-stats fit -q pairs.mts -o pairs.stats
	reze-stats apply -q --keep --dtype f64 pairs.stats pairs.mts | mts to jsonl - | jq -r '(.["query.emb"] + .["document.emb"]) as $r | .["relation.target"] as $t |
		def dot($a; $b): [$a, $b] | transpose | map(.[0] * .[1]) | add;
		[dot($r; $t) / (dot($r; $r) * dot($t; $t) | sqrt), ([$r, $t] | transpose | map((.[0] - .[1]) * (.[0] - .[1])) | add)] | @tsv' |
		awk '{ c += $1; d += $2; if (NR == 1 || $1 < least) least = $1 } END { print c / NR, least, d / NR }' >wanted
	reze-stats effect pairs.stats pairs.mts | tail -n 1 | cut -f4- | within wanted 1e-5
	does_not_apply --keep reze-stats effect --keep axis.stats axis.mts
}

@test "reze-stats: results do not depend on the signs of eigenvectors" {
	golden
	reze-stats fit -q pairs.mts -o pairs.stats
	# turned components turn the eigenvectors: no two of these have the same signs
	for turn in '[1,1,1,1]' '[-1,1,1,-1]' '[1,-1,-1,1]' '[-1,-1,1,1]' '[-1,-1,-1,-1]'; do
		jq -c "[$turn, .[\"query.emb\"]] as [\$t, \$x] | .[\"query.emb\"] = [range(4) | \$x[.] * \$t[.]]" \
			"$GOLDEN/reze_pairs.jsonl" | stream_of turned base
		reze-stats fit -q turned.mts -o turned.stats
		mts to jsonl turned.stats | jq -c '.eigenvector | map(. > 0)'
		mts to jsonl turned.stats | jq -r '.shrink | @tsv' |
			within <(mts to jsonl pairs.stats | jq -r '.shrink | @tsv') 1e-10
		reze-stats apply turned.stats turned.mts | mts to jsonl - |
			jq -r "[$turn, .[\"relation.target\"]] as [\$t, \$x] | [range(4) | \$x[.] * \$t[.]] + \$x[4:] | @tsv" |
			within <(reze-stats apply pairs.stats pairs.mts | mts to jsonl - | jq -r '.["relation.target"] | @tsv') 1e-6
	done >signs
	[ "$(sed 'N;N;N;N;N;N;N;s/\n/ /g' signs | sort -u | wc -l)" -eq 5 ]
}

@test "reze-stats merge: partial fits, in any order, make the fit of the whole" {
	golden
	reze-stats fit -q pairs.mts -o all.stats
	reze-stats apply --dtype f64 all.stats pairs.mts -o all.targets
	mts rows --rows 1-20 pairs.mts >a.mts
	mts rows --rows 21 pairs.mts >b.mts
	mts rows --rows 22- pairs.mts >c.mts
	for part in a b c; do
		reze-stats fit -q --partial $part.mts -o $part.stats
	done
	reze-stats fit -q a.mts -o full.stats
	for parts in "a b c" "c b a" "b full c"; do
		# shellcheck disable=SC2086
		reze-stats merge -q $(printf '%s.stats ' $parts) -o merged.stats
		mts diff --atol 1e-12 merged.stats all.stats
		reze-stats apply --dtype f64 merged.stats pairs.mts | mts diff --atol 1e-12 - all.targets
	done
	reze-stats merge -q --partial c.stats a.stats | reze-stats merge -q b.stats - | mts diff --atol 1e-12 - all.stats
	reze-stats fit -q c.mts a.mts b.mts | mts diff --atol 1e-12 - all.stats
	[ "$(mts stat a.stats | grep -c '^column')" -eq 3 ]
}

# 2. options, and how streams may come

@test "reze-stats fit: columns and source by name; an attribute as source; numbers as sources" {
	golden
	reze-stats fit -q pairs.mts -o pairs.stats
	jq -c '{s1: .["query.emb"], s2: .["document.emb"], from: .dataset} | {"s1.emb": .s1, "s2.emb": .s2, from}' \
		"$GOLDEN/reze_pairs.jsonl" | stream_of named base
	reze-stats fit -q --anchor s1 --positive s2 --source from named.mts -o named.stats
	mts diff named.stats pairs.stats
	# apply takes the columns that the statistics name
	reze-stats apply --source from named.stats named.mts | mts cat -c relation.target - -o named.targets
	reze-stats apply pairs.stats pairs.mts | mts cat -c relation.target - | mts diff - named.targets
	reze-stats fit -q --anchor s2 --positive s1 --source from named.mts -o turned.stats
	reze-stats show -q named.stats | diff <(reze-stats show -q pairs.stats) -
	[ "$(mts to jsonl turned.stats | jq -c .mean | paste -sd' ' | cut -d' ' -f5-)" = \
		"$(mts to jsonl named.stats | jq -c .mean | paste -sd' ' | cut -d' ' -f1-4)" ]
	jq -c '.dataset |= (explode | add)' "$GOLDEN/reze_pairs.jsonl" | stream_of numbers base
	lines() { reze-stats show -q "$1" | awk -F'\t' 'NR > 1 { printf "%d %d %.9f %.9f\n", $2, $3, $4, $7 }' | sort; }
	reze-stats fit -q numbers.mts | lines - | diff - <(lines pairs.stats)
}

# bats test_tags=plain
@test "reze-stats fit --eigenvectors: keeps the first ones with the same factors; a warning if more would be active" {
	golden
	reze-stats fit -q pairs.mts -o all.stats
	reze-stats fit -q --eigenvectors 5 pairs.mts -o five.stats
	values() { mts to jsonl "$1" | jq -r "select(.eigenvalue) | $2 | @tsv"; }
	values five.stats '[.eigenvalue] + .shrink' | within <(values all.stats '[.eigenvalue] + .shrink' | head -n 5) 1e-10
	[ "$(mts to jsonl five.stats | jq -c '.eigenvector | length' | paste -sd' ')" = "8 8 8 8 8 0 0 0" ]
	mts to jsonl five.stats | jq -e -s '.[5:] | all([.eigenvalue, .centre, .dispersion, .band] + ."source.eigen" + .shrink | all(. == null))'
	reze-stats apply five.stats pairs.mts | mts diff --atol 1e-6 - <(reze-stats apply all.stats pairs.mts)
	reze-stats show --json five.stats | jq -e '.active == 5 and (.components | length) == 5 and .components[4].share < 1'
	run -0 --separate-stderr reze-stats fit --eigenvectors 2 pairs.mts -o two.stats
	[[ $stderr == *": 2 eigenvectors have 0.8708 of the variance, and 0.99 is to be active; raise --eigenvectors"* ]]
	reze-stats fit -q --eigenvectors 99 pairs.mts | mts diff - all.stats
}

@test "reze-stats apply: other columns pass, embeddings with --keep, record by record" {
	golden
	reze-stats fit -q pairs.mts -o pairs.stats
	reze-stats apply pairs.stats pairs.mts -o out.mts
	[ "$(mts stat out.mts | sed -n 's/^column	//p' | paste -sd' ')" = "_id (text, depth 1) dataset (text, depth 1) relation.target (f32 [8])" ]
	reze-stats apply --keep pairs.stats <pairs.mts >kept.mts
	mts cat -c query.emb,document.emb,_id,dataset kept.mts | mts diff - <(mts cat -c query.emb,document.emb,_id,dataset pairs.mts)
	mts cat -c relation.target kept.mts | mts diff - <(mts cat -c relation.target out.mts)
	[ "$(mts stat out.mts | grep '^records')" = "$(mts stat pairs.mts | grep '^records')" ]
	for command in "fit -q" "apply pairs.stats"; do
		# shellcheck disable=SC2086 # words
		[ "$(reze-stats $command --level 0 pairs.mts | wc -c)" -gt "$(reze-stats $command --level 19 pairs.mts | wc -c)" ]
	done
	# computed in double; f32 is rounded from it
	reze-stats apply --dtype f64 pairs.stats pairs.mts | mts stat | found 'relation.target (f64 \[8\])'
	# a source without factors keeps its bits
	mts to jsonl kept.mts | jq -s -e 'map(.same = (.["relation.target"] == .["query.emb"] + .["document.emb"]))
		| all(.same == (.dataset != "alpha" and .dataset != "gamma" and .dataset != "zeta"))'
}

@test "reze-stats show: the components, and JSON with the numbers of both tables" {
	golden
	reze-stats fit -q pairs.mts -o pairs.stats
	reze-stats show pairs.stats -q -o sources.tsv
	reze-stats show --each-component pairs.stats >components.tsv
	reze-stats show --json <pairs.stats >json
	numbers() { awk -F'\t' -v OFS='\t' 'NR > 1 { for (i = 2; i <= NF; i++) if ($i == "") $i = 0; print }' "$1" | cut -f2-; }
	jq -r '.sources[] | [.pairs, .shrunk, .least // 0, .mean // 0, .before, .after] | @tsv' json |
		within <(numbers sources.tsv | sed '$d') 1e-14
	jq -r '.components[] | [.eigenvalue, .share, .active, .varies, .centre, .dispersion, .band, .shrunk, .least // 0] | @tsv' \
		json | within <(numbers components.tsv) 1e-14
	jq -r '.components[] | .least // 0' json | within <(mts to jsonl pairs.stats | jq -r '[.shrink[] | select(. != 1)] | min // 0' | head -n "$(jq '.components | length' json)") 1e-12
	jq -e '.relations == 62 and .width == 8 and .active == 5 and .settings.eta == 0.7 and .settings.centre == "median"' json
	[ "$(awk -F'\t' '$4 == 1' components.tsv | wc -l)" -eq 5 ]
	tail -n 1 components.tsv | awk '{ exit !($3 > 0.999999 && $3 < 1.000001) }'
	run -0 --separate-stderr reze-stats show pairs.stats
	[ "$stderr" = "62 relations of 2 x 4, 7 sources; 5 of 8 components are active" ]
}

# bats test_tags=plain
@test "reze-stats merge: settings come from the parts, which must agree, or from options" {
	golden
	reze-stats fit -q --eta 0.5 --gamma 0.5 pairs.mts -o half.stats
	reze-stats fit -q pairs.mts -o full.stats
	reze-stats merge -q half.stats | mts diff --atol 1e-12 - half.stats
	reze-stats merge -q --eta 0.7 --gamma 1 half.stats | mts diff --atol 1e-12 - full.stats
	run -1 --separate-stderr reze-stats merge -q half.stats full.stats
	[ "$stderr" = "reze-stats: full.stats: it was made with another --gamma than half.stats; say which one is meant" ]
	reze-stats merge -q --eta 0.2 --gamma 0.3 half.stats full.stats | reze-stats show --json |
		jq -e '.settings.eta == 0.2 and .settings.gamma == 0.3 and .relations == 124'
	reze-stats fit -q --partial pairs.mts | reze-stats merge -q - half.stats | reze-stats show --json |
		jq -e '.settings.eta == 0.5 and .relations == 124'
}

# 3. usage

@test "reze-stats: usage errors exit 2" {
	golden
	reze-stats fit -q pairs.mts -o pairs.stats
	for options in "--eta -1" "--gamma nan" "--rho 0" "--rho 1.01" "--alpha-min 1.5" "--alpha-max 0.5" "--eigenvectors 0" \
		"--centre middle" "--eq6 both" "--anchor document"; do
		# shellcheck disable=SC2086
		run -2 --separate-stderr reze-stats fit $options pairs.mts
		[ -z "$output" ]
	done
	does_not_apply --eta reze-stats apply --eta 1 pairs.stats pairs.mts
	does_not_apply --eta reze-stats fit --partial --eta 1 pairs.mts
	does_not_apply --keep reze-stats fit --keep pairs.mts
	does_not_apply --anchor reze-stats merge --anchor x pairs.stats
	run -2 reze-stats apply
	run -2 reze-stats merge
	run -2 reze-stats apply - <pairs.stats
	run -2 reze-stats show pairs.stats pairs.stats
	run -2 reze-stats
}

# 4. unusable data, and warnings

# refused MESSAGE COMMAND...: one line on standard error that ends with the message
refused() {
	run -1 --separate-stderr "${@:2}"
	echo "$stderr"
	[ "$stderr" = "reze-stats: $1" ]
	[ -z "$output" ]
}

@test "reze-stats: missing sources and columns, other widths and models, and values that are not finite are refused" {
	golden
	reze-stats fit -q pairs.mts -o pairs.stats
	jq -c 'del(.dataset)' "$GOLDEN/reze_pairs.jsonl" | stream_of bare base
	no_source="row 1 has no source in the column or attribute 'dataset' (tasksample writes 'dataset')"
	refused "bare.mts: record 1: $no_source" reze-stats fit bare.mts
	refused "bare.mts: record 1: $no_source" reze-stats apply pairs.stats bare.mts
	sed 's/"dataset":"beta"/"dataset":""/' "$GOLDEN/reze_pairs.jsonl" | stream_of empty base
	refused "empty.mts: record 1: $no_source" reze-stats fit empty.mts
	sed 's/"dataset":"beta"/"dataset":"omega"/' "$GOLDEN/reze_pairs.jsonl" | stream_of other base
	refused "other.mts: record 1: row 1 is of the source 'omega', which the statistics do not know; fit them on all sources" \
		reze-stats apply pairs.stats other.mts
	sed 's/"dataset":"beta"/"dataset":"be\\tta"/' "$GOLDEN/reze_pairs.jsonl" | stream_of tab
	run -1 --separate-stderr reze-stats fit tab.mts
	[[ $stderr == *"tab.mts: the name of the source 'be?ta' has a tab, an end of line or a NUL in it, "* ]]
	stream_of model newer <"$GOLDEN/reze_pairs.jsonl"
	refused "model.mts: it is of model newer, but pairs.stats of model base; make both with one model, or say --any-model" \
		reze-stats apply pairs.stats model.mts
	refused "model.mts: it is of model newer, but pairs.mts of model base; make both with one model, or say --any-model" \
		reze-stats fit pairs.mts model.mts
	# a stream that names no model fits both
	mkstream 5 f32 <"$GOLDEN/reze_pairs.jsonl" >none.mts
	refused "model.mts: it is of model newer, but pairs.mts of model base; make both with one model, or say --any-model" \
		reze-stats fit none.mts pairs.mts model.mts
	reze-stats apply --any-model pairs.stats model.mts | mts cat -c relation.target - |
		mts diff - <(reze-stats apply pairs.stats pairs.mts | mts cat -c relation.target -)
	reze-stats fit -q model.mts -o model.stats
	refused "model.stats: it is of model newer, but pairs.stats of model base; make both with one model, or say --any-model" \
		reze-stats merge pairs.stats model.stats
	jq -c '.["query.emb"][1] = (if ._id == "p7" then null else 1 end)' "$GOLDEN/reze_pairs.jsonl" | stream_of nan base
	run -1 --separate-stderr reze-stats fit nan.mts
	[[ $stderr == "reze-stats: nan.mts: record 2: query.emb: row 3 is not finite (NaN or infinity); "* ]]
	run -1 --separate-stderr reze-stats apply pairs.stats nan.mts -o out.mts
	[[ $stderr == "reze-stats: nan.mts: record 2: query.emb: row 3 is not finite (NaN or infinity); "* ]]
	[ ! -e out.mts ]
	jq -c '.["query.emb"] |= .[:3] | .["document.emb"] |= .[:3]' "$GOLDEN/reze_pairs.jsonl" | stream_of narrow base
	refused "narrow.mts: its embeddings have width 3, those of pairs.stats 4" reze-stats apply pairs.stats narrow.mts
	refused "narrow.mts: its embeddings have width 3, those of pairs.mts 4" reze-stats fit pairs.mts narrow.mts
	jq -c '.["query.emb"] |= .[:3]' "$GOLDEN/reze_pairs.jsonl" | stream_of uneven base
	run -1 --separate-stderr reze-stats fit uneven.mts
	[[ $stderr == *"query.emb has width 3 and document.emb has 4; encode both with one model and one --dim" ]]
	run -1 --separate-stderr reze-stats fit --positive answer pairs.mts
	[[ $stderr == *"there is no column 'answer.emb' of vectors, only: _id, dataset, query.emb, document.emb" ]]
	mts rows --rows 1 pairs.mts | mts rows --where '_id == "nobody"' - >none.mts
	refused "none.mts: there is no pair in it" reze-stats fit none.mts
}

# bats test_tags=plain
@test "reze-stats: few or equal relations, one source or two, single pairs and equal sources get messages" {
	golden
	pick() { jq -c "select($1)" "$GOLDEN/reze_pairs.jsonl"; }
	told() {
		run -0 --separate-stderr reze-stats fit some.mts -o some.stats
		echo "$stderr"
		[[ $stderr == "reze-stats: warning: some.mts: $1"* ]]
		[[ $stderr != *$'\n'*$'\n'* ]]
	}
	pick '.dataset == "zeta"' | stream_of some
	told "nothing is shrunk, in no source: it is the only one, and the mean of all"
	pick '.dataset == "zeta" or .dataset == "alpha"' | stream_of some
	told "nothing is shrunk, in no source: there are but two, as far from their median as each other"
	reze-stats show -q some.stats | awk -F'\t' 'NR > 1 && $3 != 0 { exit 1 }'
	reze-stats apply some.stats some.mts --keep | mts to jsonl - |
		jq -s -e 'all(.["relation.target"] == .["query.emb"] + .["document.emb"])'
	# a narrower band has factors for two sources
	reze-stats fit -q --gamma 0.5 some.mts | reze-stats show -q | awk -F'\t' '$1 == "all" { exit !($3 > 0) }'
	pick '.dataset != "eta"' | sed -n 1,8p | stream_of some
	told "there are 8 relations of 8 components: the covariance is singular, of rank 7 at most"
	mts to jsonl some.stats | jq -s -e '.[7].eigenvalue | fabs < 1e-12'
	stream_of some <"$GOLDEN/reze_pairs.jsonl"
	told "1 of 7 sources have a single pair, which is taken for their mean; first: 'eta'"
	for name in one two three four; do
		pick '.dataset == "zeta"' | jq -c ".dataset = \"$name\""
	done | stream_of some
	told "nothing is shrunk, in no source"
	mts to jsonl some.stats | jq -s -e 'all(.shrink | all(. == 1))'
	pick '._id == "p3"' >one
	cat one one one | stream_of some
	refused "some.mts: the covariance is zero: all 3 relations are the same, and have no directions" reze-stats fit some.mts
	# sums of one pair are a valid part
	stream_of some <one
	reze-stats fit --partial some.mts -o one.stats
	pick '._id != "p3"' | stream_of rest base
	reze-stats fit -q --partial rest.mts | reze-stats merge -q one.stats - | mts diff --atol 1e-12 - <(reze-stats fit -q pairs.mts)
}

@test "reze-stats: a constant component has no variance and no factor" {
	jq -c '.["query.emb"][2] = 0.25 | .["document.emb"][0] = 0' "$GOLDEN/reze_pairs.jsonl" | stream_of pairs
	reze-stats fit -q pairs.mts -o pairs.stats
	mts to jsonl pairs.stats | jq -s -e '.[2].mean == 0.25 and ([.[].eigenvector[2] | select(fabs > 1e-9)] | length) <= 2'
	reze-stats apply pairs.stats pairs.mts | mts to jsonl - | jq -s -e 'all(.["relation.target"] | .[2] == 0.25 and .[4] == 0)'
}

@test "reze-stats: truncated streams, streams without statistics, and sums alone are refused" {
	golden
	reze-stats fit -q pairs.mts -o pairs.stats
	head -c 900 pairs.mts >cut.mts
	run -1 --separate-stderr reze-stats fit cut.mts -o never
	[[ $stderr == "reze-stats: cut.mts: "* && ! -e never ]]
	head -c 900 pairs.stats >cut.stats
	run -1 --separate-stderr reze-stats apply cut.stats pairs.mts
	[[ $stderr == "reze-stats: cut.stats: "* ]]
	refused "pairs.mts: holds no statistics of relations (reze-stats fit): it has no column 'covariance'" \
		reze-stats apply pairs.mts pairs.mts
	refused "pairs.mts: holds no statistics of relations (reze-stats fit): it has no column 'covariance'" reze-stats show pairs.mts
	reze-stats fit -q --partial pairs.mts -o sums.stats
	refused "sums.stats: has sums alone; reze-stats merge makes statistics of them" reze-stats apply sums.stats pairs.mts
	cat pairs.stats pairs.stats >twice.stats
	refused "twice.stats: holds no statistics of relations (reze-stats fit): it has more than one record" reze-stats show twice.stats
	mts rows --rows 1-5 pairs.stats >part.stats
	run -1 --separate-stderr reze-stats apply part.stats pairs.mts
	[[ $stderr == "reze-stats: part.stats: holds no statistics of relations"* ]]
	mts cat -c source.mean,covariance,eigenvalue,eigenvector,source.eigen,centre,dispersion,band,shrink pairs.stats >rest.stats
	mts to jsonl -c mean pairs.stats | sed '2s/:.*/:null}/' | mts from jsonl | mts paste rest.stats - >nan.stats
	refused "nan.stats: holds no statistics of relations (reze-stats fit): column 'mean' is not finite" reze-stats show nan.stats
	mts to jsonl -c mean pairs.stats | sed 's/:.*/:1}/' | mts from jsonl | mts paste rest.stats - >whole.stats
	refused "whole.stats: holds no statistics of relations (reze-stats fit): column 'mean' is another" reze-stats show whole.stats
	if [ -e /dev/full ]; then
		run -1 --separate-stderr bash -c 'reze-stats fit -q pairs.mts >/dev/full'
		run -1 --separate-stderr bash -c 'reze-stats apply -q pairs.stats pairs.mts >/dev/full'
	fi
}

# 5. the whole pipe

# Five data sets of nine pairs, each with a word of its own, and recipes of them.
pairs_of_sets() {
	local words=(the a red green blue boat sails on under over river sky swims flies and or not old new small great)
	for set in ship bird fish sea query; do
		for i in {1..9}; do
			printf '{"query":"%s %s","document":"%s %s %s"}\n' "$set" "${words[i * 7 % 21]}" \
				"${words[i * 3 % 21]}" "${words[i * i % 21]}" "$set"
		done >$set.jsonl
		sets+="      - {name: $set, file: $set.jsonl}"$'\n'
	done
	printf 'batch: 6\ntemperature: 0.05\nbatching: static\ntasks:\n  pairs:\n    datasets:\n%s' "$sets" >mix.yaml
}

# The mean of 1 - cosine between relations and targets in the first batch of the stream.
first_loss() {
	mts to jsonl "$1" | head -n 6 | jq -s 'def dot($a; $b): [$a, $b] | transpose | map(.[0] * .[1]) | add;
		map([.["query.emb"] + .["document.emb"], .["relation.target"]] as [$r, $t]
			| 1 - dot($r; $t) / (dot($r; $r) * dot($t; $t) | sqrt)) | add / length'
}

@test "reze-stats: batches pass through encode and apply to train, whose first loss is computed from the stream" {
	pairs_of_sets
	base=$GOLDEN/bert
	tasksample --all mix.yaml | tok -q -m "$base" | encode -q -m "$base" | reze-stats fit -q >reze.mts
	reze-stats show -q reze.mts | awk -F'\t' '$1 == "all" { exit !($3 > 3) }'
	tasksample mix.yaml | tok -q -m "$base" | encode -q -m "$base" --keep | reze-stats apply reze.mts >batches.mts
	mts stat batches.mts | found '^column	relation.target (f32 \[16\])$'
	run ! grep -q '\.emb' <(mts stat batches.mts | grep '^column')
	# train gets the same batches as without encode and apply
	tasksample mix.yaml | tok -q -m "$base" >plain.mts
	mts diff <(mts cat -c query.ids,document.ids,query.key,document.key,dataset batches.mts) \
		<(mts cat -c query.ids,document.ids,query.key,document.key,dataset plain.mts)
	run -0 --separate-stderr train -j 1 -m "$base" --reze 1 --lr 1e-12 -o out <batches.mts
	[[ $stderr != *warning* ]]
	tasksample mix.yaml | tok -q -m "$base" | encode -q -m "$base" --keep | reze-stats apply --keep reze.mts >kept.mts
	cut -f11 out.log.tsv | sed -n 2p | within <(first_loss kept.mts) 1e-6
	awk -F'\t' 'NR > 1 { exit !($11 > 1e-4) }' out.log.tsv
	train -j 1 -q -m "$base" --lr 1e-12 -o plain plain.mts
	diff <(cut -f1-7,9-10 plain.log.tsv) <(cut -f1-7,9-10 out.log.tsv)
	# train warns if the targets are of another model than the one that learns
	train -j 1 -q -m "$base" --lr 1e-2 -o moved plain.mts
	run -0 --separate-stderr train -j 1 -m moved --reze 1 -o again batches.mts
	[[ $stderr == *"train: warning: batches.mts: the targets are of another model than moved, which learns from them"* ]]
	tasksample mix.yaml | tok -q -m moved | encode -q -m moved --keep >moved.mts
	run -1 --separate-stderr reze-stats apply reze.mts moved.mts
	[[ $stderr == "reze-stats: moved.mts: it is of model "* ]]
}

@test "reze-stats: tasks with prompts and experts, batches of one data set, and hard negatives pass through the pipe" {
	pairs_of_sets
	upcycle -q -m "$GOLDEN/nomic_bert" --experts search,other -o mote
	cat >tasks.yaml <<-END
		batch: 6
		tasks:
		  find:
		    temperature: 0.05
		    prompts: {query: "search query : ", document: "search : "}
		    experts: {query: search, document: other}
		    datasets:
		      - {name: ship, file: ship.jsonl, negatives: other}
		      - {name: bird, file: bird.jsonl}
		      - {name: fish, file: fish.jsonl}
		  group:
		    experts: other
		    datasets:
		      - {name: sea, file: sea.jsonl}
		      - {name: query, file: query.jsonl}
	END
	jq -c '.other = ["old bird", "new sea"]' ship.jsonl >with && mv with ship.jsonl
	tasksample --all tasks.yaml | tok -q -m mote | encode -q -m mote | reze-stats fit -q >reze.mts
	[ "$(reze-stats show -q reze.mts | cut -f1,2 | paste -sd' ')" = \
		$'source\tpairs bird\t9 fish\t9 query\t9 sea\t9 ship\t9 all\t45' ]
	tasksample tasks.yaml | tok -q -m mote | encode -q -m mote --keep | reze-stats apply --keep reze.mts >kept.mts
	train -j 1 -q -m mote --reze 1 --lr 1e-12 -o out kept.mts
	cut -f11 out.log.tsv | sed -n 2p | within <(first_loss kept.mts) 1e-6
	awk -F'\t' 'NR == 2 { exit !($11 > 1e-4) }' out.log.tsv
}

@test "reze-stats: the examples of the page run as printed" {
	pairs_of_sets
	cp -r "$GOLDEN/bert" base
	sed '/bird\|fish/d' mix.yaml >a.yaml
	sed '/ship\|sea\|query/d' mix.yaml >b.yaml
	page_examples reze-stats.1 >examples
	[ "$(wc -l <examples)" -eq 9 ]
	bash -eu -o pipefail examples >out
	mts diff --atol 1e-9 both.mts reze.mts
	reze-stats show --json weaker.mts | jq -e '.settings.eta == 0.5 and .settings.centre == "mean"'
}

@test "reze-stats: the script draws spectrum and sources" {
	command -v gnuplot >/dev/null || skip "needs gnuplot"
	golden
	reze-stats fit -q pairs.mts -o pairs.stats
	reze-stats show --each-component pairs.stats >components.tsv
	reze-stats show -q pairs.stats >sources.tsv
	gnuplot -e "components='components.tsv'; sources='sources.tsv'" "$ROOT/pipelines/reze-stats.gnuplot" >out.svg 2>err
	[ ! -s err ]
	for word in alpha zeta eigenvalue dispersion active; do
		grep -q "$word" out.svg
	done
}
