#!/usr/bin/env bats
load helper
load train

# Losses of scored pairs: cosent, angle, mse, contrastive, online; of a teacher's scores: margin-mse, kl; of negatives: triplet; of a
# teacher's vectors: distil. Golden values: tests/golden/scored.py (sentence-transformers).
G=$GOLDEN/scored

setup() {
	cd "$T" || return
	pairs_stream <"$G/pairs.txt" >ids.mts
	mkstream 8 <"$G/scores.jsonl" >scores.mts
	mts paste ids.mts <(mts cat -c document.score,negatives.score scores.mts) >three.mts
	mts cat -c query.ids,document.ids,document.score three.mts >pairs.mts
	mts paste <(mts cat -c query.ids,document.ids ids.mts) <(mts cat -c label scores.mts | mts cat --rename label=document.score) >labels.mts
	options=(-q -m "$GOLDEN/train/bert" --warmup 0 --schedule constant --lr 1e-3 --decay 0.1 --beta2 0.98 --eps 1e-6 --clip 0)
}

# agrees NAME FILE OPTION...: loss and gradient norm of five steps are those of NAME.tsv
agrees() {
	train "${options[@]}" -o out "${@:3}" "$2"
	for name in loss gradient_norm; do
		close_to 1e-5 <(column $name out.log.tsv) <(column $name "$G/$1.tsv") || { echo "$* $name"; return 1; }
	done
	[ "$(wc -l <out.log.tsv)" -eq 6 ]
}

# bats test_tags=plain
@test "scored: five steps of each loss are sentence-transformers', in one chunk and with the gradient cache" {
	for chunk in "" "--tokens 20"; do
		# shellcheck disable=SC2086
		{
			agrees cosent pairs.mts --objective cosent $chunk
			agrees cosent_three three.mts --objective cosent $chunk
			agrees angle pairs.mts --objective angle $chunk
			agrees angle_three three.mts --objective angle $chunk
			agrees mse pairs.mts --objective mse $chunk
			agrees mse_rates pairs.mts --objective mse --lr-of 'embeddings.*=3e-3' --lr-of '*.layer.0.*=1e-4' $chunk
			agrees contrastive labels.mts --objective contrastive $chunk
			agrees online labels.mts --objective online $chunk
			agrees margin-mse three.mts --objective margin-mse $chunk
			agrees margin-mse_dot three.mts --objective margin-mse --similarity dot $chunk
			agrees triplet ids.mts --objective triplet --margin 0.1 $chunk
			agrees kl three.mts --objective kl --temperature 0.5 $chunk
			agrees infonce_nested ids.mts --temperature 0.05 --matryoshka 16,12:0.5,4 $chunk
			agrees cosent_nested three.mts --objective cosent --matryoshka 12,5:2 $chunk
			agrees kl_dot three.mts --objective kl --similarity dot $chunk
		}
	done
}

@test "scored: InfoNCE with --denominator and with --guide is sentence-transformers'" {
	mkstream 8 <"$G/guide.jsonl" >guide.mts
	mts paste <(mts cat -c query.ids,document.ids ids.mts) guide.mts >guided.mts
	infonce="--temperature 0.05 --no-mask-duplicates"
	for chunk in "" "--tokens 20"; do
		# shellcheck disable=SC2086
		{
			agrees infonce_gte ids.mts $infonce --denominator qq,dq,dd $chunk
			agrees infonce_qq ids.mts $infonce --denominator qq $chunk
			agrees infonce_own ids.mts $infonce --own-negatives $chunk
			agrees gist guided.mts $infonce --guide --denominator dd,qq $chunk
			agrees gist_documents guided.mts $infonce --guide --false-negatives -0.1 $chunk
		}
	done
	# --matryoshka with the full width alone is the plain loss
	agrees gist guided.mts $infonce --guide --denominator qq,dd --matryoshka 16
}

@test "scored: accuracy counts the right document once; held-out pairs use --denominator's terms and all of a guide's candidates" {
	mkstream 8 <"$G/guide.jsonl" >guide.mts
	mts paste <(mts cat -c query.ids,document.ids ids.mts) guide.mts >guided.mts
	awk -F'\t' -v OFS='\t' 'NF { $1 = $2 } 1' "$G/pairs.txt" | pairs_stream >same.mts
	for terms in dq qq,dq,dd; do
		train "${options[@]}" --lr 1e-12 -o out --denominator $terms --no-mask-duplicates same.mts
		[ "$(column accuracy out.log.tsv | xargs printf '%.1f\n' | sort -u)" = 1.0 ]
	done
	# a similarity that is in both softmaxes is one number, wherever it lies in them: of one row all or nothing is right
	for fields in 3 4; do
		awk -F'\t' -v OFS='\t' -v fields=$fields 'NF { NF = fields; print $0 "\n" }' "$G/pairs.txt" | pairs_stream >rows.mts
		train "${options[@]}" --lr 1e-12 -o out --denominator dq rows.mts
		[ -z "$(column accuracy out.log.tsv | grep -vx '[01]')" ]
	done
	train "${options[@]}" --lr 1e-12 -o plain --dev ids.mts guided.mts
	train "${options[@]}" --lr 1e-12 -o out --guide --dev ids.mts guided.mts
	[ "$(column dev_loss plain.log.tsv | head -n 1)" = "$(column dev_loss out.log.tsv | head -n 1)" ]
	paste <(column loss plain.log.tsv) <(column loss out.log.tsv) | awk '$2 > $1 { bad = 1 } $2 < $1 { less = 1 } END { exit bad || !less }'
	train "${options[@]}" --lr 1e-12 -o out --denominator qq,dd --dev ids.mts ids.mts
	close_to 1e-5 <(column dev_loss out.log.tsv | head -n 1) <(column loss out.log.tsv | awk '{ s += $1 / 5 } END { print s }')
}

@test "scored: a killed run resumes with the same guide and refuses another" {
	mkstream 8 <"$G/guide.jsonl" >guide.mts
	mts paste <(mts cat -c query.ids,document.ids ids.mts) guide.mts >guided.mts
	sed '1s/-2.62/-2.6/' "$G/guide.jsonl" | mkstream 8 >other.mts
	mts paste <(mts cat -c query.ids,document.ids ids.mts) other.mts >changed.mts
	run -1 cmp -s guided.mts changed.mts
	settings=("${options[@]}" --guide --epochs 3 --save-every 2)
	train "${settings[@]}" -o whole guided.mts
	cut_short 8 "${settings[@]}" -o out guided.mts
	run -1 --separate-stderr train "${settings[@]}" -o out changed.mts
	[[ $stderr == "train: changed.mts: its first "*" batches are not those that the checkpoint was trained on"* ]] || { echo "$stderr"; return 1; }
	train "${settings[@]}" -o out guided.mts
	cmp whole/model.safetensors out/model.safetensors
}

@test "scored: a guide without vectors, of other widths or not finite, unknown terms, and options that exclude each other are refused" {
	mkstream 8 <"$G/guide.jsonl" >guide.mts
	pairs=$(mts cat -c query.ids,document.ids ids.mts | base64 -w0)
	beside() { mts paste <(base64 -d <<<"$pairs") "$@" >bad.mts; }
	refused() { # MESSAGE OPTION...
		run -1 --separate-stderr train "${options[@]}" -o none "${@:2}"
		[ "$stderr" = "train: $1" ] || { echo "$stderr"; return 1; }
		[ ! -e none ]
	}
	refused "ids.mts: has no column \"query.emb\", the vectors of a guide or teacher; 'encode -m MODEL' makes it, 'mts paste' puts it beside the token ids" --guide ids.mts
	beside <(mts cat -c query.emb guide.mts)
	refused "bad.mts: has no column \"document.emb\", the vectors of a guide or teacher; 'encode -m MODEL' makes it, 'mts paste' puts it beside the token ids" --guide bad.mts
	mts paste ids.mts guide.mts >bad.mts
	refused "bad.mts: has no column \"negatives.emb\", the vectors of a guide or teacher; 'encode -m MODEL' makes it, 'mts paste' puts it beside the token ids" --guide bad.mts
	beside <(sed 's/, [-0-9.]*]}/]}/' "$G/guide.jsonl" | mkstream 8)
	refused 'bad.mts: "document.emb" has vectors of 4 components, "query.emb" of 5' --guide bad.mts
	for terms in dd,qd q "" , qq,,dd; do
		run -2 --separate-stderr train "${options[@]}" -o none --denominator "$terms" ids.mts
		[[ ${stderr_lines[0]} == "train: --denominator: "* ]] || { echo "$terms: $stderr"; return 1; }
	done
	while read -r one other; do
		# shellcheck disable=SC2086
		run -2 --separate-stderr train "${options[@]}" -o none --$one --$other ids.mts
		[ "${stderr_lines[0]}" = "train: --${one%% *} and --$other exclude each other" ] || [ "${stderr_lines[0]}" = "train: --${one%%=*} and --$other exclude each other" ]
	done <<-END
		denominator=qq bidirectional
		denominator=qq own-negatives
		bidirectional own-negatives
	END
	for option in --guide --own-negatives --denominator=qq; do
		run -2 --separate-stderr train "${options[@]}" -o none --objective mse $option pairs.mts
		[[ ${stderr_lines[0]} == "train: ${option%%=*} "* ]] || { echo "$stderr"; return 1; }
	done
}

# bats test_tags=plain
@test "scored: distil --project is EmbedDistillLoss with a projection, to fewer values and to more, which is not written" {
	for case in "guide 5" "wide 21"; do
		read -r teacher width <<<"$case"
		mkstream 8 <"$G/$teacher.jsonl" >$teacher.mts
		mts paste <(mts cat -c query.ids,document.ids ids.mts) $teacher.mts >$teacher.taught.mts
		for chunk in "" "--tokens 20"; do
			# shellcheck disable=SC2086
			agrees project_$teacher $teacher.taught.mts --objective distil --project $width $chunk
		done
	done
	[ ! -e out/projection ]
	[ "$(jq -c 'map(.type | split(".")[-1])' out/modules.json)" = '["Transformer","Pooling"]' ]
	[ "$(tensor_names out/model.safetensors)" = "$(tensor_names "$GOLDEN/train/bert/model.safetensors")" ]
	encode -q -m out ids.mts >/dev/null
	more=("${options[@]}" --objective distil --project 21 --dev wide.taught.mts --dev-every 2)
	train "${more[@]}" -o whole --save-every 1 wide.taught.mts
	rm -r out
	cut_short 3 "${more[@]}" -o out --save-every 1 wide.taught.mts
	run -1 --separate-stderr train "${more[@]}" --project 20 -o out wide.taught.mts
	[[ $stderr == *"project 21, this one has 20;"* || $stderr == *"have 21 components, the model's 20;"* ]]
	train "${more[@]}" -o out --save-every 1 wide.taught.mts
	cmp out/model.safetensors whole/model.safetensors
	cmp out.log.tsv whole.log.tsv
	# a learning rate of its own
	train "${more[@]}" -o fast --lr-of 'projection.*=1e-2' wide.taught.mts
	run ! cmp -s fast.log.tsv whole.log.tsv
	# a projection is possible with equal widths
	mkstream 8 <"$G/teacher.jsonl" >teacher.mts
	mts paste <(mts cat -c query.ids,document.ids ids.mts) teacher.mts >taught.mts
	train "${options[@]}" -o turned --objective distil --project 16 taught.mts
	run -1 --separate-stderr train "${options[@]}" -o none --objective distil wide.taught.mts
	[ "$stderr" = "train: wide.taught.mts: the teacher's vectors have 21 components, the model's 16; --project 21 learns a projection, 'encode --dim' cuts vectors of a Matryoshka model" ]
	does_not_apply --project train "${options[@]}" -o none --project 16 ids.mts
	run -2 --separate-stderr train "${options[@]}" -o none --objective distil --project 21 --dev wide.taught.mts --dev-corpus ids.mts wide.taught.mts
	[[ $stderr == "train: --project and --dev-corpus exclude each other"* ]]
	run -2 --separate-stderr train "${options[@]}" -o none --objective distil --project 21 --lora rank=2 wide.taught.mts
	[ "${stderr_lines[0]}" = "train: --project and --lora exclude each other" ]
	[ ! -e none ]
}

@test "scored: distil is EmbedDistillLoss; held-out pairs have their teacher's vectors; teachers that do not fit are refused" {
	mkstream 8 <"$G/teacher.jsonl" >teacher.mts
	mts paste <(mts cat -c query.ids,document.ids ids.mts) teacher.mts >taught.mts
	for chunk in "" "--tokens 20"; do
		# shellcheck disable=SC2086
		agrees distil taught.mts --objective distil $chunk
	done
	[ -z "$(column accuracy out.log.tsv | grep .)" ]
	train "${options[@]}" --lr 1e-12 -o out --objective distil --dev taught.mts --dev-corpus ids.mts taught.mts
	close_to 1e-5 <(column dev_loss out.log.tsv | head -n 1) <(column loss out.log.tsv | awk '{ s += $1 / 5 } END { print s }')
	mkstream 8 <"$G/guide.jsonl" >guide.mts
	mts paste <(mts cat -c query.ids,document.ids ids.mts) guide.mts >guided.mts
	run -1 --separate-stderr train "${options[@]}" -o none --objective distil guided.mts
	[ "$stderr" = "train: guided.mts: the teacher's vectors have 5 components, the model's 16; --project 5 learns a projection, 'encode --dim' cuts vectors of a Matryoshka model" ]
	run -1 --separate-stderr train "${options[@]}" -o none --objective distil --dev ids.mts taught.mts
	[[ $stderr == "train: ids.mts: has no column \"query.emb\", the vectors of a guide or teacher"* ]]
	for option in --matryoshka=8 --guide --temperature=1; do
		run -2 --separate-stderr train "${options[@]}" -o none --objective distil $option taught.mts
		[[ ${stderr_lines[0]} == "train: ${option%%=*} "* ]] || { echo "$stderr"; return 1; }
	done
	[ ! -e none ]
}

@test "scored: distil of single texts has the loss of the same texts as pairs; options that need pairs are refused" {
	# the queries of each batch, then its documents, in one column
	awk -F'\t' 'BEGIN { n = 0 } NF { q[n] = $1; d[n++] = $2 } !NF { flush() } function flush(i) { for (i = 0; i < n; i++) print q[i] "\t2"
		for (i = 0; i < n; i++) print d[i] "\t2"; print ""; n = 0 } END { if (n) flush() }' "$G/pairs.txt" | pairs_stream >both.mts
	mts cat -c query.ids both.mts | mts cat --rename query.ids=line.ids >texts.mts
	jq -c -s '_nwise(8) | (.[]["query.emb"], .[]["document.emb"]) | {"line.emb": .}' "$G/teacher.jsonl" | mkstream 16 >teacher.mts
	mts paste texts.mts teacher.mts >taught.mts
	for chunk in "" "--tokens 20"; do
		# shellcheck disable=SC2086
		agrees distil taught.mts --objective distil $chunk
	done
	train "${options[@]}" --lr 1e-12 -o out --objective distil --dev taught.mts taught.mts 2>err
	[ ! -s err ]
	close_to 1e-5 <(column dev_loss out.log.tsv | head -n 1) <(column loss out.log.tsv | awk '{ s += $1 / 5 } END { print s }')
	refused() { # MESSAGE OPTION...
		run -1 --separate-stderr train "${options[@]}" -o none "${@:2}"
		[ "$stderr" = "train: $1" ] || { echo "$stderr"; return 1; }
	}
	refused "taught.mts: has texts alone; --dev-corpus needs queries and their documents" --objective distil --dev taught.mts --dev-corpus texts.mts taught.mts
	refused "taught.mts: has texts alone; --freeze-documents needs queries and their documents" --objective distil --lora rank=2 --freeze-documents taught.mts
	refused "taught.mts: has texts alone; --documents needs queries and their documents" --objective distil --lora rank=2 --documents taught.mts taught.mts
	refused 'texts.mts: has no column "line.emb", the vectors of a guide or teacher; '"'encode -m MODEL' makes it, 'mts paste' puts it beside the token ids" --objective distil texts.mts
	refused "taught.mts: there is no column query.ids (i32, depth 1); there is: line.ids (i32, depth 1), line.emb (f32 [16])" taught.mts
	mts cat --rename line.ids=negatives.ids --rename line.emb=negatives.emb taught.mts >negatives.mts
	refused "negatives.mts: there is no column query.ids (i32, depth 1); there is: negatives.ids (i32, depth 1), negatives.emb (f32 [16])" --objective distil negatives.mts
	[ ! -e none ]
}

@test "scored: --lr-of: one rate for all weights is --lr; invalid patterns, and patterns that fit no trained weight, are refused" {
	train "${options[@]}" -o out --objective mse pairs.mts
	train "${options[@]}" -o same --lr 1 --lr-of '*=1e-3' --objective mse pairs.mts
	cmp out/model.safetensors same/model.safetensors
	for pattern in x '=1' '*=' '*=0' '*=a' '*=11' '*=-1' '*=nan'; do
		run -2 --separate-stderr train "${options[@]}" -o none --objective mse --lr-of "$pattern" pairs.mts
		[ "${stderr_lines[0]}" = "train: --lr-of: '$pattern' is not PATTERN=X with a rate X above 0" ] || { echo "$stderr"; return 1; }
	done
	run -1 --separate-stderr train "${options[@]}" -o none --objective mse --lr-of 'embeddings.*,pooler.*=1e-3' pairs.mts
	[[ $stderr == "train: --lr-of: no weight of "*"/bert that learns is called 'pooler.*'; names are like 'embeddings."* ]]
	run -1 --separate-stderr train "${options[@]}" -o none --objective mse --freeze 'embeddings.*' --lr-of 'embeddings.*=1e-3' pairs.mts
	[[ $stderr == *"that learns is called 'embeddings.*'"* ]]
	[ ! -e none ]
}

@test "scored: the accuracy of a teacher's losses is 1 if the document is the query, a third if both negatives are the document" {
	accuracies() { # FILTER: accuracies of pairs changed by awk
		awk -F'\t' -v OFS='\t' "NF { $1 } 1" "$G/pairs.txt" | pairs_stream >changed.mts
		mts paste changed.mts <(mts cat -c document.score,negatives.score scores.mts) >changed_three.mts
		train "${options[@]}" --lr 1e-12 -o "out$2" --objective "$2" changed_three.mts
		column accuracy "out$2.log.tsv" | xargs printf '%.4f\n' | sort -u | paste -sd' '
	}
	for loss in kl margin-mse; do
		[ "$(accuracies '$2 = $1' $loss)" = 1.0000 ]
		rm -r out*
		[ "$(accuracies '$3 = $4 = $2' $loss)" = 0.3333 ]
		rm -r out*
	done
}

@test "scored: triplet needs negatives and ignores scores; its accuracy is that of the candidates" {
	mts cat -c query.ids,document.ids pairs.mts >bare.mts
	run -1 --separate-stderr train "${options[@]}" -o none --objective triplet bare.mts
	[ "$stderr" = "train: bare.mts: record 1: has no negatives, which triplet needs (negatives.ids)" ]
	# of a teacher's scores, too, nothing would be learned
	mts paste bare.mts <(mts cat -c document.score scores.mts) >bare_scores.mts
	for loss in margin-mse kl; do
		run -1 --separate-stderr train "${options[@]}" -o none --objective $loss bare_scores.mts
		[ "$stderr" = "train: bare_scores.mts: record 1: has no negatives, which $loss needs (negatives.ids)" ]
	done
	train "${options[@]}" -o out --objective triplet ids.mts
	train "${options[@]}" -o same --objective triplet three.mts
	cmp out/model.safetensors same/model.safetensors
	train "${options[@]}" --lr 1e-12 -o kl --objective kl three.mts
	train "${options[@]}" --lr 1e-12 -o out --objective triplet ids.mts
	[ "$(column accuracy out.log.tsv)" = "$(column accuracy kl.log.tsv)" ]
}

@test "scored: --matryoshka with one width is the plain loss; held-out pairs have the sum; invalid widths are refused" {
	train "${options[@]}" -o out --dev ids.mts --dev-corpus ids.mts ids.mts
	train "${options[@]}" -o same --matryoshka 16 --dev ids.mts --dev-corpus ids.mts ids.mts
	for name in loss accuracy dev_loss dev_ndcg_at_10; do
		close_to 1e-5 <(column $name same.log.tsv | grep .) <(column $name out.log.tsv | grep .)
	done
	train "${options[@]}" --lr 1e-12 -o both --matryoshka 16:0.5,8:2 --dev ids.mts ids.mts
	column loss both.log.tsv | awk '{ s += $1 / 5 } END { print s "\n" s }' >mean
	close_to 1e-5 <(column dev_loss both.log.tsv | grep .) mean
	for list in "" 0 8,,4 8:0 8:x -4 "8 4" a 8,; do
		run -2 --separate-stderr train "${options[@]}" -o none --matryoshka "$list" ids.mts
		[[ ${stderr_lines[0]} == "train: --matryoshka: '$list' is not a list of "* ]]
	done
	run -1 --separate-stderr train "${options[@]}" -o none --matryoshka 8,17 ids.mts
	[ "$stderr" = "train: --matryoshka: the embeddings have 16 components, fewer than 17" ]
	run -2 --separate-stderr train "${options[@]}" -o none --matryoshka 8 --similarity dot ids.mts
	[ "${stderr_lines[0]}" = "train: --matryoshka and --similarity dot exclude each other" ]
	does_not_apply --matryoshka train "${options[@]}" -o none --objective mlm --matryoshka 8 ids.mts
	[ ! -e none ]
}

@test "scored: gradients agree with central differences" {
	pair_loss_check
}

# bats test_tags=plain
@test "scored: the temperature is the option's, the record's or the loss's default; --margin; scores of any type" {
	train "${options[@]}" -o out --objective cosent pairs.mts
	train "${options[@]}" -o same --objective cosent --temperature 0.05 pairs.mts
	cmp out.log.tsv same.log.tsv
	pairs_stream '{"temperature": 0.2}' <"$G/pairs.txt" | mts cat -c query.ids,document.ids |
		mts paste - <(mts cat -c document.score scores.mts) >warm.mts
	train "${options[@]}" -o out --objective cosent --temperature 0.2 pairs.mts
	train "${options[@]}" -o same --objective cosent warm.mts
	cmp out.log.tsv same.log.tsv
	train "${options[@]}" -o out --objective contrastive labels.mts
	train "${options[@]}" -o same --objective contrastive --margin 1.5 labels.mts
	run ! cmp -s out.log.tsv same.log.tsv
	[ -z "$(column accuracy out.log.tsv | tr -d '\n')" ]
	# scores as text, as from a table
	sed 's/"document.score": \([^,]*\),.*/"document.score": "\1"}/' "$G/scores.jsonl" | mkstream 8 |
		mts paste <(mts cat -c query.ids,document.ids ids.mts) - >texts.mts
	train "${options[@]}" -o out --objective mse texts.mts
	train "${options[@]}" -o same --objective mse pairs.mts
	close_to 1e-6 <(column loss out.log.tsv) <(column loss same.log.tsv)
}

# bats test_tags=plain
@test "scored: --dev reports the loss and Spearman's correlation, which chooses the best step; a killed run resumes" {
	command -v jq >/dev/null || skip "needs jq"
	settings=("${options[@]}" --objective cosent --epochs 4 --dev pairs.mts --dev-every 3 --save-every 2)
	train "${settings[@]}" -o whole pairs.mts
	[ "$(head -n 1 whole.log.tsv | cut -f11-)" = $'dev_loss\tdev_spearman' ]
	best=$(paste <(column step whole.log.tsv) <(column dev_spearman whole.log.tsv) | awk 'NF == 2' | sort -k2,2gr -s | head -n 1 | cut -f1)
	[ "$(jq .steps whole/train.json)" = "$best" ]
	cut_short 8 "${settings[@]}" -o out pairs.mts
	train "${settings[@]}" -o out pairs.mts
	cmp out/model.safetensors whole/model.safetensors
	cmp out.log.tsv whole.log.tsv
	# the correlation is mteb-score's
	train "${options[@]}" --objective mse --dev pairs.mts --last-step -o out pairs.mts
	encode -q -m out pairs.mts | mts cat -c query.emb,document.emb,document.score --rename query.emb=sentence1.emb \
		--rename document.emb=sentence2.emb --rename document.score=score | mteb-score sts -q >report
	[ "$(column dev_spearman out.log.tsv | tail -n 1 | awk '{ printf "%.4f", $1 }')" = "$(awk '$1 == "cosine_spearman" { printf "%.4f", $2 }' report)" ]
	# a teacher's candidates are ranked in a search
	train "${options[@]}" --objective kl --dev three.mts --dev-corpus ids.mts -o out three.mts
	[ "$(head -n 1 out.log.tsv | cut -f11-)" = $'dev_loss\tdev_accuracy\tdev_ndcg_at_10\tdev_recall_at_1' ]
}

@test "scored: missing, wrong and incomplete scores are refused by name, as are options that do not apply" {
	dies 'train: ids.mts: there is no column "document.score", the scores of the pairs; ' train "${options[@]}" -o out --objective mse ids.mts
	mts paste ids.mts <(mts cat -c document.score scores.mts) >some.mts
	dies 'train: some.mts: there is no column "negatives.score", the scores of the negatives; ' train "${options[@]}" -o out --objective kl some.mts
	sed '20s/"negatives.score": \[[^,]*,/"negatives.score": [/' "$G/scores.jsonl" | mkstream 8 | mts cat -c document.score,negatives.score |
		mts paste ids.mts - >short.mts
	dies "train: short.mts: record 3: row 4 does not have one score for each negative" train "${options[@]}" -o out --objective kl short.mts
	sed '9s/"document.score": [^,]*,.*/"document.score": "high"}/; s/"document.score": \([0-9.]*\),.*/"document.score": "\1"}/' "$G/scores.jsonl" |
		mkstream 8 | mts paste <(mts cat -c query.ids,document.ids ids.mts) - >words.mts
	sed 's/"label": 1/"label": 5/' "$G/scores.jsonl" | mkstream 8 | mts cat -c label | mts cat --rename label=document.score |
		mts paste <(mts cat -c query.ids,document.ids ids.mts) - >five.mts
	for loss in contrastive online; do
		wrong="train: five.mts: record 1: the label 5 is not in 0..1, as contrastive has them"
		[ $loss = contrastive ] || wrong="train: five.mts: record 1: the label 5 is neither 0 nor 1, as online has them"
		dies "$wrong" train "${options[@]}" -o out --objective $loss five.mts
		dies "$wrong" train "${options[@]}" -o out --objective $loss --dev five.mts labels.mts
	done
	# contrastive weighs both of its terms by a label between 0 and 1; online has no place for such a pair
	sed 's/"label": 1/"label": 0.5/' "$G/scores.jsonl" | mkstream 8 | mts cat -c label | mts cat --rename label=document.score |
		mts paste <(mts cat -c query.ids,document.ids ids.mts) - >half.mts
	train "${options[@]}" -o half --objective contrastive half.mts
	dies "train: half.mts: record 1: the label 0.5 is neither 0 nor 1, as online has them" train "${options[@]}" -o out --objective online half.mts
	dies "train: words.mts: record 2: " train "${options[@]}" -o out --objective mse words.mts
	does_not_apply --margin train "${options[@]}" -o out --objective cosent --margin 1 pairs.mts
	does_not_apply --temperature train "${options[@]}" -o out --objective mse --temperature 1 pairs.mts
	does_not_apply --similarity train "${options[@]}" -o out --objective angle --similarity dot pairs.mts
	does_not_apply --dev-corpus train "${options[@]}" -o out --objective mse --dev pairs.mts --dev-corpus pairs.mts pairs.mts
	does_not_apply --reze train "${options[@]}" -o out --objective kl --reze 1 three.mts
}

# rated SETTINGS: mix.yaml, a recipe with one data set that has these settings
rated() {
	printf 'batch: 5\nduplicates: keep\ntasks: {a: {datasets: [{name: x, file: x.jsonl, query: q, document: d%s}]}}\n' "$1" >mix.yaml
}

@test "scored: tasksample writes the columns of score, negative_scores and scale" {
	command -v jq >/dev/null || skip "needs jq"
	awk 'BEGIN { for (i = 0; i < 12; i++) printf "{\"q\": \"a%d\", \"d\": \"b%d\", \"y\": %s, \"n\": [\"u%d\", \"v%d\"], \"ns\": [%g, \"%g\"]}\n",
		i, i, i % 2 ? i / 4 : "\"" i / 4 "\"", i, i, i / 2, -i }' >x.jsonl
	rated ", score: y, scale: 0.5, negatives: n, negative_scores: ns"
	tasksample -q mix.yaml >x.mts
	mts to jsonl x.mts | jq -r '[.document[1:], .["document.score"], .["negatives.score"][], .negatives[]] | @tsv' | sort -n >got
	awk 'BEGIN { for (i = 0; i < 12; i++) printf "%d\t%g\t%g\t%g\tu%d\tv%d\n", i, i / 2, i, 0 - 2 * i, i, i }' | diff <(sed 's/-0\t/0\t/' got) -
	# max_negatives keeps the scores of the negatives it keeps
	rated ", score: y, negatives: n, negative_scores: ns, max_negatives: 1"
	[ "$(tasksample -q --all mix.yaml | mts to jsonl | jq -c '.["negatives.score"]' | sed -n 4p)" = '[1.5]' ]
	# train reads them, also as slices of ranks
	rated ", score: y"
	tasksample -q mix.yaml | tok -q -m "$GOLDEN/train/bert" | train -q -m "$GOLDEN/train/bert" --objective cosent -o out
	[ "$(tasksample -q --rank 1 --ranks 2 mix.yaml | mts to jsonl | wc -l)" -eq 5 ]
	for fault in "score: z=field 'z'" "scale: 2='scale' needs 'score'" "negative_scores: ns='negative_scores' needs 'negatives'" \
		"score: q=is not a number: field 'q'" "score: y, scale: -1=it must be above 0" "score: y, label: d=does not apply to pairs of one label"; do
		rated ", ${fault%=*}"
		run -1 --separate-stderr tasksample mix.yaml
		[[ $stderr == *"${fault##*=}"* ]]
	done
	sed -i '5s/\[2, /[/' x.jsonl
	rated ", score: y, negatives: n, negative_scores: ns"
	run -1 --separate-stderr tasksample -q mix.yaml
	[[ $stderr == "tasksample: ./x.jsonl:5: "*"has 1 scores of negatives, and 2 negatives" || $stderr == "tasksample: x.jsonl:5: has 1 scores of negatives, and 2 negatives" ]]
	# a score too many may be that of the document; so may one beyond those that max_negatives keeps
	sed -i '5s/"ns": *\[/&9, 9, /' x.jsonl
	for most in "" ", max_negatives: 1"; do
		rated ", score: y, negatives: n, negative_scores: ns$most"
		run -1 --separate-stderr tasksample -q mix.yaml
		[[ $stderr == "tasksample: "*"x.jsonl:5: has 3 scores of negatives, and 2 negatives" ]]
	done
	printf 'tasks: {a: {datasets: [{name: x, file: x.jsonl, query: q, document: d, score: y}, {name: z, file: x.jsonl, query: q, document: d}]}}\n' >mix.yaml
	run -1 --separate-stderr tasksample mix.yaml
	[[ $stderr == *"the data sets 'x' and 'z' are drawn together: give both a 'score', "* ]]
}
