#!/usr/bin/env bats
# bats file_tags=plain
load helper

# The programs of build/*/guarded protect the memory of the kernels (tests/guarded/guard.h) and give the same bytes as those without:
# code outside of lib/nn that touches this memory, or passes kernels other memory, dies.

G=$GOLDEN/train

setup() {
	[ -x "$BUILD/guarded/bin/train" ] || skip "make check has built no programs behind walls here"
	cd "$T" || return
	ids_stream text.ids <"$GOLDEN/bert/ids.txt" >ids.mts
	pairs_stream '{"task": "play", "temperature": 0.05}' <"$G/pairs.txt" >pairs.mts
}

# same PROGRAM OPTION...: both programs write the same, with one thread and with two
same() {
	for threads in 1 2; do
		"$1" -q -j $threads "${@:2}" >plain
		"$BUILD/guarded/bin/$1" -q -j $threads "${@:2}" >walled
		cmp plain walled
		[ -s plain ]
	done
}

# learns OPTION...: both programs' train leaves the same folder and log
learns() {
	rm -rf plain walled
	mkdir plain walled
	(cd plain && train -q -j 1 -o out --lr 2e-3 --warmup 0 "$@")
	(cd walled && "$BUILD/guarded/bin/train" -q -j 1 -o out --lr 2e-3 --warmup 0 "$@")
	diff -r plain walled
	[ -s plain/out.log.tsv ]
}

@test "seam: an access to kernel memory outside of lib/nn dies, as does a kernel with other memory" {
	[ "$(seam_check touch) $(seam_check hand)" = "2 2" ]
	run -139 --separate-stderr "$BUILD/guarded/support/seam_check" touch
	[[ $stderr == "the host touches memory of the kernels; the last of them was nn_upload"*"seam_check("* ]]
	run -1 --separate-stderr "$BUILD/guarded/support/seam_check" hand
	[ "$stderr" = "motes: nn_add is given host memory as 'y'" ]
}

@test "seam: encode: every family in f32, and with reduced precision" {
	for folder in "$GOLDEN"/families/{gte,jina_bert,jina_bert_code,modernbert,mpnet,nomic_bert,nomic_moe,olmoe,qwen2_moe,qwen3,t5,qwen2,mistral,gemma3_text}; do
		same encode -m "$folder" ids.mts
	done
	train -q -j 1 -m "$G/bert" --steps 1 --dtype f16 -o half pairs.mts
	same encode -m half ids.mts
	for option in "--dim 2 --normalize" "--weights int8" "--precision int8" "--precision bf16" "--tokens 10"; do
		# shellcheck disable=SC2086
		same encode -m "$GOLDEN/bert" $option ids.mts
	done
	same encode -m "$GOLDEN/families/olmoe" --emit emb,hs:layers=all,t=hs:pool=tokens,rw,l=rw:logits ids.mts
	mkdir gates
	cp -r "$GOLDEN"/adapter/{plain,mixed} gates
	sed 's/.*/{"gate": "plain"}/; 2s/plain/mixed/' "$GOLDEN/bert/ids.txt" | mts from jsonl - | mts paste ids.mts - >gated.mts
	same encode -m "$GOLDEN/bert" --gates gates gated.mts
}

@test "seam: train: pairs in one chunk and in several, task experts, token experts" {
	for options in "" "--tokens 40 --accumulate 2 --bidirectional --clip 0.5" "--precision bf16"; do
		# shellcheck disable=SC2086
		learns -m "$G/nomic_bert" $options ../pairs.mts
	done
	upcycle -q -m "$G/bert" --experts left,right -o mote
	pairs_stream '{"temperature": 0.05, "experts": {"query": "left", "document": "*"}}' <"$G/pairs.txt" >experts.mts
	learns -m ../mote --tokens 40 ../experts.mts
	upcycle -q -m "$G/bert" --token-experts 4 -o tokens
	learns -m ../tokens --tokens 40 --balance 0.3 ../pairs.mts
	# ids below 40, the size of the vocabulary
	sed -E 's/4([0-9])/1\1/g' "$G/pairs.txt" | pairs_stream '{"temperature": 0.05}' >small.mts
	for family in jina_bert jina_bert_code mpnet t5; do
		learns -m "$GOLDEN/families/$family" --tokens 40 ../small.mts
	done
}

@test "seam: train: adapters, relations, precomputed documents" {
	learns -m "$G/bert" --lora "$G/lora" --tokens 40 ../pairs.mts
	learns -m "$G/bert" --lora rank=2,dropout=0.2 ../pairs.mts
	mkstream 8 <"$G/reze_targets.jsonl" | mts cat --rename relation.emb=relation.target | mts paste pairs.mts - >targeted.mts
	learns -m "$G/bert" --reze 30 --tokens 40 ../targeted.mts
	encode -q --keep -m "$G/bert" pairs.mts >documents.mts
	learns -m "$G/bert" --lora rank=2 --documents ../documents.mts ../pairs.mts
}

@test "seam: train: masked and causal language models" {
	learns -m "$G/bert" --from-scratch --objective mlm --dev ../pairs.mts --batch-tokens 300 --tokens 100 ../pairs.mts
	ids_stream text.ids <"$GOLDEN/clm/texts.txt" >texts.mts
	learns -m "$GOLDEN/families/olmoe" --objective clm --tokens 9 --balance 0.3 --epochs 3 ../texts.mts
}

@test "seam: upcycle: --merge-lora" {
	upcycle -q -m "$GOLDEN/bert" --merge-lora "$GOLDEN/adapter/plain" -o plain
	"$BUILD/guarded/bin/upcycle" -q -m "$GOLDEN/bert" --merge-lora "$GOLDEN/adapter/plain" -o walled
	diff -r plain walled
}

@test "seam: near: many queries, blocks and hits" {
	mkstream random 700 24 1 >q.mts
	mkstream random 3000 24 2 >c.mts
	same near --json -k 20 q.mts c.mts
	same near --json -k 600 --similarity dot --memory 12M q.mts c.mts
}
