#!/usr/bin/env bats
load helper
load train

# train with held-out data: --dev, --dev-corpus, --last-step, --patience.
G=$GOLDEN/train

setup() {
	cd "$T" || return
	pairs_stream '{"temperature": 0.05}' <"$G/pairs.txt" >pairs.mts
	head -n 36 "$G/pairs.txt" | pairs_stream '{"temperature": 0.05}' >train.mts
	tail -n +37 "$G/pairs.txt" | pairs_stream '{"temperature": 0.05}' >dev.mts
	options=(-q -m "$G/bert" --warmup 0)
}

# A learning rate at which a model of four batches gets worse on held-out data before its last step.
rough=(--schedule constant --lr 1e-3 --epochs 6)

# measured COLUMN: step and value of the log's rows that have held-out results
measured() {
	paste <(column step out.log.tsv) <(column "$1" out.log.tsv) | awk 'NF == 2'
}

# bats test_tags=plain
@test "train: --dev reports the loss and the accuracy of the same batches in training, with their temperature and negatives" {
	train "${options[@]}" -o out --lr 1e-12 --dev pairs.mts --dev-every 4 pairs.mts
	[ "$(measured dev_loss | cut -f1 | paste -sd' ')" = "0 4 8 10" ]
	awk -F'\t' 'NR > 1 { loss += $5 / 10; right += $6 / 10 } END { print loss; print right }' out.log.tsv >mean
	close_to 1e-5 <(measured dev_loss | tail -n 1 | cut -f2; measured dev_accuracy | tail -n 1 | cut -f2) mean
	# in chunks, by dot products, in both directions
	for option in "--tokens 40" "--similarity dot --temperature 2" --bidirectional --no-mask-duplicates; do
		# shellcheck disable=SC2086
		train "${options[@]}" -o out --lr 1e-12 $option --dev pairs.mts pairs.mts
		awk -F'\t' 'NR > 1 { loss += $5 / 10 } END { print loss "\n" loss }' out.log.tsv >mean
		close_to 1e-5 <(measured dev_loss | cut -f2) mean
	done
}

# Texts of letters: queries with one or two documents each, and a corpus that repeats some of them.
searched() {
	seeded_awk 'BEGIN { srand(7); for (i = 0; i < 40; i++) { for (k = 0; k <= i % 3 / 2; k++)
		printf "{\"query\": \"%c %c\", \"document\": \"%c %c %c\"}\n", 97 + i % 24, 98 + i * 5 % 23, 97 + i * 7 % 24, 97 + (i + k) % 24, 99 + i * 3 % 21 } }' >held.jsonl
	{ jq -r .document held.jsonl | head -n 9; awk 'BEGIN { for (i = 0; i < 60; i++) printf "%c %c\n", 97 + i % 23, 99 + i * 11 % 20 }'; } >corpus.txt
	tok -q -m "$G/bert" -f query -f document held.jsonl >held.mts
	tok -q -m "$G/bert" corpus.txt >corpus.mts
}

# bats test_tags=plain
@test "train: --dev-corpus: nDCG@10 and recall@1 are mteb-score's on encode's embeddings" {
	command -v jq >/dev/null || skip "needs jq"
	searched
	for kind in cosine dot; do
		train "${options[@]}" -o out --lr 1e-3 --similarity $kind --temperature 0.5 --last-step --dev held.mts --dev-corpus corpus.mts train.mts
		jq -r .query held.jsonl | awk '!($0 in n) { n[$0]; print }' | jq -R -c '{_id: ., text: .}' >queries.jsonl
		{ jq -r .document held.jsonl; cat corpus.txt; } | awk '!($0 in n) { n[$0]; print }' | jq -R -c '{_id: ., text: .}' >all.jsonl
		jq -r '[.query, .document, 1] | @tsv' held.jsonl | sort -u >qrels.tsv
		for side in queries all; do
			tok -q -m out -f text $side.jsonl | encode -q -m out -o $side.mts
		done
		mteb-score retrieval -q --similarity $kind --qrels qrels.tsv queries.mts all.mts >scores
		for name in ndcg_at_10 recall_at_1; do
			[ "$(printf %.5f "$(measured dev_$name | tail -n 1 | cut -f2)")" = "$(awk -v n=$name '$1 == n { printf "%.5f", $2 }' scores)" ]
		done
	done
	# frozen documents keep the base model's embeddings, also in the corpus
	train "${options[@]}" --lr 1e-2 -o lora --lora rank=2 --freeze-documents --last-step --dev held.mts --dev-corpus corpus.mts train.mts
	tok -q -m "$G/bert" -f text queries.jsonl | encode -q -m "$G/bert" --adapter lora -o queries.mts
	tok -q -m "$G/bert" -f text all.jsonl | encode -q -m "$G/bert" -o all.mts
	mteb-score retrieval -q --any-model --qrels qrels.tsv queries.mts all.mts >scores
	[ "$(printf %.5f "$(column dev_ndcg_at_10 lora.log.tsv | tail -n 1)")" = "$(awk '$1 == "ndcg_at_10" { printf "%.5f", $2 }' scores)" ]
	# equal embeddings are ordered by hash, not by their place in the file, so that their score is that of chance
	[ "$(jq -c .dev.step out/train.json)" = "$(measured dev_ndcg_at_10 | sort -s -k2,2gr | head -n 1 | cut -f1)" ]
}

# bats test_tags=plain
@test "train: the best step is written, equal to a run that ends there; --last-step; --patience" {
	command -v jq >/dev/null || skip "needs jq"
	train "${options[@]}" "${rough[@]}" -o out --dev dev.mts --dev-every 1 train.mts
	best=$(measured dev_loss | sort -g -k2 | head -n 1 | cut -f1)
	[ "$best" -gt 1 ] && [ "$best" -lt 20 ]
	[ "$(jq .steps out/train.json)" = "$best" ]
	[ "$(jq .dev.step out/train.json)" = "$best" ]
	[ "$(wc -l <out.log.tsv)" -eq 26 ]
	[ "$(ls -d out*)" = $'out\nout.lock\nout.log.tsv' ] || [ "$(ls -d out*)" = $'out\nout.log.tsv' ]
	train "${options[@]}" "${rough[@]}" -o stops --steps "$best" train.mts
	cmp out/model.safetensors stops/model.safetensors
	train "${options[@]}" "${rough[@]}" -o plain train.mts
	train "${options[@]}" "${rough[@]}" -o last --last-step --dev dev.mts --dev-every 1 train.mts
	[ ! -e last.best ]
	cmp plain/model.safetensors last/model.safetensors
	cmp <(cut -f1-10 out.log.tsv | sed 2d) plain.log.tsv
	cmp out.log.tsv last.log.tsv
	train "${options[@]}" "${rough[@]}" -o few --patience 3 --dev dev.mts --dev-every 1 train.mts 2>err
	[ ! -s err ]
	[ "$(wc -l <few.log.tsv)" -eq $((best + 5)) ]
	cmp few/model.safetensors out/model.safetensors
	# an adapter
	train "${options[@]}" --schedule constant --lr 3e-2 --epochs 6 -o lora --lora rank=4 --dev dev.mts --dev-every 1 train.mts
	[ "$(jq .steps lora/train.json)" = "$(jq .dev.step lora/train.json)" ]
	tok -q -m "$G/bert" -f text <(echo a b) | encode -q --adapter lora -m "$G/bert" >/dev/null
}

# bats test_tags=plain
@test "train: --dev measures the model before training, which is written if no step is better" {
	command -v jq >/dev/null || skip "needs jq"
	# a start that knows the held-out pairs; its loss is that of training on the same batches with a learning rate near 0
	train -v -m "$G/bert" --warmup 0 --lr 1e-3 --epochs 6 -o start --dev dev.mts dev.mts 2>err
	grep -qE '^train: step [0-9]+ was the best on the held-out data: loss [0-9.]+, before training [0-9.]+$' err
	train -q -m start --warmup 0 -o still --lr 1e-12 dev.mts
	awk -F'\t' 'NR > 1 { loss += $5 * $9; rows += $9 } END { print loss / rows }' still.log.tsv >mean
	train -m start --warmup 0 --schedule constant --lr 0.5 --clip 0 -o out --dev dev.mts train.mts 2>err
	close_to 1e-5 <(measured dev_loss | sed -n 1p | cut -f2) mean
	grep -qFx "train: warning: no step was better on the held-out data than the model before training, which is written" err
	[ "$(jq -c '[.steps, .dev.step]' out/train.json)" = '[0,0]' ]
	[ ! -e out.best ]
	cut -f1-10 out.log.tsv | sed -n 2p | found -xP '0\t{9}'
	tok -q -m out <(echo a b) | encode -q -m out | mts diff - <(tok -q -m start <(echo a b) | encode -q -m start)
}

# bats test_tags=plain
@test "train: --dev measures the last step also where the data end unexpectedly, and writes the start if it is the best" {
	command -v jq >/dev/null || skip "needs jq"
	train "${options[@]}" --schedule constant --lr 1e-3 -o known --dev dev.mts --dev-every 2 train.mts
	train "${options[@]}" --schedule constant --lr 1e-3 -o out --dev dev.mts --dev-every 3 <train.mts
	[ "$(measured dev_loss | cut -f1 | paste -sd' ')" = "0 3 4" ]
	[ "$(measured dev_loss | tail -n 1)" = "$(paste <(column step known.log.tsv) <(column dev_loss known.log.tsv) | tail -n 1)" ]
	[ "$(tail -n 1 out.log.tsv | cut -f1-10)" = $'4\t\t\t\t\t\t\t\t\t' ]
	[ "$(jq -c .dev.step out/train.json)" = 4 ]
	cmp out/model.safetensors known/model.safetensors
	run -0 --separate-stderr train -m "$G/bert" --warmup 0 --schedule constant --lr 1e-3 --steps 9 -o early --dev dev.mts train.mts
	[ "$stderr" = "train: warning: train.mts: ended after 4 of 9 steps" ]
	cmp early/model.safetensors known/model.safetensors
	# every step makes a model worse that knows the held-out pairs
	train -q -m "$G/bert" --warmup 0 --lr 1e-3 --epochs 6 -o start dev.mts
	run -0 --separate-stderr train -m start --warmup 0 --schedule constant --lr 0.5 --clip 0 -o worse --dev dev.mts <train.mts
	[ "$stderr" = "train: warning: no step was better on the held-out data than the model before training, which is written" ]
	[ "$(jq -c '[.steps, .dev.step]' worse/train.json)" = '[0,0]' ]
	[ ! -e worse.best ]
}

# bats test_tags=plain
@test "train: --dev: a run killed while the last step becomes the model goes on; one stopped after that step may go on for longer" {
	killed_at 0 true 3>/dev/null || skip "needs ptrace"
	options+=(-j 1 --schedule constant --lr 1e-3 --dev dev.mts --dev-every 1)
	killed_at 0 env train "${options[@]}" --save-every 3 -o whole train.mts 3>moments
	moments=$(wc -l <moments)
	found -xF 'unlink whole.checkpoint' <moments
	for before in 1 2 4 6 8 20; do
		rm -rf out out.*
		run -137 killed_at $((moments - before)) env train "${options[@]}" --save-every 3 -o out train.mts 3>/dev/null
		train "${options[@]}" --save-every 3 -o out train.mts
		cmp out/model.safetensors whole/model.safetensors
		cmp out.log.tsv whole.log.tsv
		[ ! -e out.best ] && [ ! -e out.checkpoint ]
	done
	# in other pieces
	rm -rf out out.*
	run -137 killed_at $((moments - 20)) env train "${options[@]}" --save-every 3 -o out train.mts 3>/dev/null
	train "${options[@]}" --save-every 3 --tokens 40 -o out train.mts
	[ "$(column step out.log.tsv | tail -n 1)" = 4 ]
	# the signal comes while the checkpoint of the last step is written
	train "${options[@]}" --save-every 4 --epochs 2 -o twice train.mts
	rm -rf out out.*
	killed_at 0 env train "${options[@]}" --save-every 4 -o out train.mts 3>moments
	rm -rf out out.*
	run -143 killed_at -s 15 "$(grep -n 'rename .* out.checkpoint$' moments | cut -d: -f1)" env train "${options[@]}" --save-every 4 -o out train.mts 3>/dev/null
	train "${options[@]}" --save-every 4 --epochs 2 -o out train.mts
	cmp out/model.safetensors twice/model.safetensors
	cmp out.log.tsv twice.log.tsv
}

# bats test_tags=plain
@test "train: --dev and --patience: a run killed at any step resumes to the same bits and the same best step" {
	command -v jq >/dev/null || skip "needs jq"
	searched
	options+=("${rough[@]}" --save-every 3 --patience 4 --dev-every 2 --dev held.mts --dev-corpus corpus.mts)
	train "${options[@]}" -o whole train.mts
	for steps in 3 5 6; do
		rm -rf out out.*
		cut_short $steps "${options[@]}" -o out train.mts
		train "${options[@]}" -o out train.mts
		cmp out/model.safetensors whole/model.safetensors
		cmp out.log.tsv whole.log.tsv
		diff <(jq .dev out/train.json) <(jq .dev whole/train.json)
		[ ! -e out.best ]
	done
	# resuming needs the model of the best step, and refuses other options
	rm -rf out out.*
	cut_short 6 "${options[@]}" -o out train.mts
	run -1 --separate-stderr train "${options[@]}" --dev-every 3 -o out train.mts
	[[ $stderr == *"is of a run with dev-every 2, this one has 3; "* ]]
	run -1 --separate-stderr train "${options[@]}" --last-step -o out train.mts
	[[ $stderr == *"is of a run with last-step false, this one has true; "* ]]
	cp held.mts kept
	mts rows --rows 2- kept >held.mts
	run -1 --separate-stderr train "${options[@]}" -o out train.mts
	[[ $stderr == *"is of a run with dev-contents \""*"\", this one has \""* ]]
	mv kept held.mts
	run -1 --separate-stderr train "${options[@]}" --dtype bf16 -o out train.mts
	[[ $stderr == *"is of a run with nothing, this one has dtype \"bf16\"; "* ]] || [[ $stderr == *"dtype"*"bf16"* ]]
	mv out.best away
	run -1 --separate-stderr train "${options[@]}" -o out train.mts
	[[ $stderr == "train: out.best: the model of step "*", the best so far, is not there; put it back, or begin anew with --restart" ]]
	mv away out.best
	train "${options[@]}" -o out train.mts
	cmp out/model.safetensors whole/model.safetensors
}

# bats test_tags=plain
@test "train: --dev and --patience: a run killed at twenty moments on the disk resumes to the same bits and the same best step" {
	command -v jq >/dev/null || skip "needs jq"
	killed_at 0 true 3>/dev/null || skip "needs ptrace"
	searched
	options+=(-j 1 "${rough[@]}" --save-every 3 --patience 4 --dev-every 2 --dev held.mts --dev-corpus corpus.mts)
	killed_at 0 env train "${options[@]}" -o whole train.mts 3>moments
	moments=$(wc -l <moments)
	[ "$moments" -ge 20 ]
	for n in {0..19}; do
		rm -rf out out.*
		status=0
		killed_at $((1 + n * (moments - 1) / 19)) env train "${options[@]}" -o out train.mts 3>/dev/null || status=$?
		[ $status -eq 137 ]
		train "${options[@]}" -o out train.mts
		cmp out/model.safetensors whole/model.safetensors
		cmp out.log.tsv whole.log.tsv
		diff <(jq .dev out/train.json) <(jq .dev whole/train.json)
		[ ! -e out.best ] && [ ! -e out.checkpoint ]
	done
}

@test "train: --dev: options that do not apply, wrong files, and results that would be lost are refused" {
	for option in "--dev-corpus dev.mts" "--dev-every 2" "--patience 2" "--last-step"; do
		# shellcheck disable=SC2086
		run -2 --separate-stderr train "${options[@]}" -o out $option train.mts
		[ "${stderr_lines[0]}" = "train: ${option% *} needs --dev" ]
	done
	run -2 --separate-stderr train "${options[@]}" -o out --dev - train.mts
	[ "${stderr_lines[0]}" = "train: --dev: it is read several times; give a FILE" ]
	run -2 --separate-stderr train "${options[@]}" -o out --dev dev.mts --dev-corpus - train.mts
	[ "${stderr_lines[0]}" = "train: --dev-corpus: it is read several times; give a FILE" ]
	# pipes that have a name, which once waited for ever
	mkfifo pipe
	for files in "pipe" "--dev pipe train.mts"; do
		cat train.mts >pipe &
		# shellcheck disable=SC2086
		dies "train: pipe: is read twice, and is not a file; write it to one" timeout 20 train "${options[@]}" -o out $files
		kill $! || true
	done
	does_not_apply --dev-corpus train "${options[@]}" -o out --objective mlm --dev dev.mts --dev-corpus dev.mts train.mts
	dies "train: none.mts:" train "${options[@]}" -o out --dev none.mts train.mts
	mkstream 2 <<<'{"x.emb":[1,2]}' >none.mts
	dies "train: none.mts: there is no column query.ids" train "${options[@]}" -o out --dev none.mts train.mts
	pairs_stream </dev/null >empty.mts
	dies "train: empty.mts: there are no pairs in it" train "${options[@]}" -o out --dev empty.mts train.mts
	mts cat -c query.ids,negatives.ids dev.mts >two.mts
	dies "train: two.mts: has several columns of token ids; the documents are in \"document.ids\"" train "${options[@]}" -o out --dev dev.mts --dev-corpus two.mts train.mts
	dies "train: none.corpus:" train "${options[@]}" -o out --dev dev.mts --dev-corpus none.corpus train.mts
	[ ! -e out.log.tsv ]
	run -2 --separate-stderr train "${options[@]}" -o out --dev dev.mts --dev-corpus dev.mts --documents dev.mts train.mts
	[ "${stderr_lines[0]}" = "train: --documents and --dev-corpus exclude each other" ]
	head -c 300 dev.mts >cut.mts
	dies "train: cut.mts: " train "${options[@]}" -o out --dev cut.mts train.mts
	mkdir out.best
	echo mine >out.best/notes
	dies "train: out.best: exists and is not a model folder; choose another name" train "${options[@]}" -o out --dev dev.mts train.mts
}
