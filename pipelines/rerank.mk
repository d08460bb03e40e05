# rerank.mk - a search in two steps: embeddings find documents, a cross-encoder that was trained here puts them into order
#	make rerank-packages [SEED=1] [RERANK_EVERY=8] [RERANK_TOP=20]
# The queries and descriptions are those of packages.mk.  Every RERANK_EVERY-th training pair is a query; its candidates are its
# description and four that the base model finds for it and that are not its own.  The cross-encoder starts from the base model and
# scores the RERANK_TOP best documents of a query.  reranked: by its score alone; blend: cosine + weight * score, with the weight that
# is best on the development part.  Temperature 0.1 makes the target of the own description nearly 1; at 1 it is 0.40.
# No gain is shown yet: over 240 batches of 16 queries the loss hardly fell (1.61 at first, 1.51 to 1.64 later), in a trial with two random
# negatives among the four, and the order by the score alone is far worse than base; the blend is as good as base.  A cross-encoder
# of three layers that begins without attention between two texts needs many more batches (RERANK_EVERY=1 has eight times as many).
RERANK       := $(DEBIAN)/rerank
RERANK_EVERY ?= 8
RERANK_TOP   ?= 20
# weights of the cross-encoder's score to try beside the cosine
RERANK_WEIGHTS := 0.01 0.03 0.1 0.2 0.5 1 2 5

## rerank-packages train a cross-encoder on Debian's packages and rerank a search with it
rerank-packages:
	+@$(call programs,tok encode near train rerank mteb-score)
	+@$(in_parts) $(DEBIAN)/train.jsonl $(DEBIAN)/corpus.mts $(foreach part,dev test,$(DEBIAN)/$(part)-base.run)
	+@$(in_parts) $(RERANK)/table.txt
	@echo 'Descriptions found by what one line says of packages, nDCG@10 ± standard error.'
	@echo 'reranked: the best $(RERANK_TOP) of base in the order of a cross-encoder; blend: with the'
	@echo "cosine, weight $$(cat $(RERANK)/weight) chosen on the development part."
	@echo
	@cat $(RERANK)/table.txt

$(RERANK)/every: always
	@$(call says,$(RERANK_EVERY) $(SEED))

# the texts of those pairs, by their numbers
$(RERANK)/queries.jsonl $(RERANK)/documents.jsonl $(RERANK)/train.qrels &: $(PIPELINES)/rerank-pairs.awk $(DEBIAN)/train.jsonl $(RERANK)/every
	LC_ALL=C awk -v out=$(@D) -v every=$(RERANK_EVERY) -f $(wordlist 1,2,$^)

$(RERANK)/%.mts: private SHELL := $(HEAVY)
$(RERANK)/%.mts: $(RERANK)/%.jsonl $(BASE)/model.safetensors | $X/tok $X/encode
	$X/tok -q -m $(BASE) -f text --max-length 64 $< | $X/encode -q -m $(BASE) > $@

$(RERANK)/hard.jsonl: private SHELL := $(HEAVY)
$(RERANK)/hard.jsonl: $(RERANK)/train.qrels $(RERANK)/queries.jsonl $(RERANK)/documents.jsonl $(RERANK)/queries.mts $(RERANK)/documents.mts | $X/near
	$X/near -q -k 20 --run $(@D)/train.run $(wordlist 4,5,$^)
	$X/near -q --mine $< -k 4 --depth 20 --query-texts $(word 2,$^) --texts $(word 3,$^) $(@D)/train.run > $@

$(RERANK)/pairs.mts: $(RERANK)/hard.jsonl $(BASE)/model.safetensors | $X/tok
	$X/tok -q -m $(BASE) --pair -f query -f document -f negatives --max-length 64 --record-rows 16 $< > $@

$(RERANK)/model/config.json: private SHELL := $(HEAVY)
$(RERANK)/model/config.json: $(RERANK)/pairs.mts $(BASE)/model.safetensors | $X/train
	@echo "A cross-encoder learns from $$(wc -l < $(RERANK)/hard.jsonl) queries with five candidates each." >&2
	$(anew); \
	$X/train -q -m $(BASE) --objective listnet --temperature 0.1 --lr 5e-4 --precision bf16 --seed $(SEED) --save-every 60 -o $(@D) $<

$(RERANK)/%.run: private SHELL := $(HEAVY)
$(RERANK)/%.run: $(DEBIAN)/%.jsonl $(DEBIAN)/corpus.jsonl $(DEBIAN)/%-base.run $(RERANK)/model/config.json | $X/rerank
	$X/rerank -q -m $(RERANK)/model -k $(RERANK_TOP) --max-length 64 --queries $< --texts $(wordlist 2,3,$^) > $@

$(RERANK)/weight: $(PIPELINES)/fuse.awk $(DEBIAN)/dev-base.run $(RERANK)/dev.run
	awk -v weights='$(RERANK_WEIGHTS)' -f $^ > $@

$(RERANK)/blend.run: $(PIPELINES)/fuse.awk $(DEBIAN)/test-base.run $(RERANK)/test.run $(RERANK)/weight
	awk -v weight=$$(cat $(lastword $^)) -f $(wordlist 1,3,$^) > $@

$(RERANK)/%.tsv: $(DEBIAN)/test.qrels $(RERANK)/%.run | $X/mteb-score
	$X/mteb-score retrieval -q --qrels $< --from-run $(word 2,$^) --complete --per-query $@ >/dev/null

$(RERANK)/table.txt: $(PIPELINES)/versus.awk $(DEBIAN)/test-base.tsv $(RERANK)/test.tsv $(RERANK)/blend.tsv
	$(call compare,search by) column='all' row=base $(word 2,$^) row=reranked $(word 3,$^) row=blend $(word 4,$^) > $@

.PHONY: rerank-packages
