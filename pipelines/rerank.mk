# rerank.mk - a search in two steps: embeddings find documents, a cross-encoder that was trained here puts them into order
#	make rerank-packages [RERANK_START=FOLDER] [RERANK_EVERY=4] [RERANK_LR=X] [RERANK_TOP=20] [SEED=1]
# The queries and descriptions are those of packages.mk.  RERANK_START encodes both and is where the cross-encoder starts from: the
# bundled base model, or a folder such as that of all-MiniLM-L6-v2.  Every RERANK_EVERY-th training pair is a query; its candidates
# are its description, two of the hundred that it finds and two at random.  The cross-encoder scores the RERANK_TOP best documents of
# a query.  reranked: by its score alone; blend: cosine + weight * score, with the weight that is best on the development part.
# From all-MiniLM-L6-v2, seed 1, 2,091 test queries: search 0.796, reranked +0.053 ± 0.005, blend +0.056 ± 0.005.  A search by the base
# model does not need it: MiniLM's cosines put that model's best 20 into as good an order (development: 0.621, cross-encoder 0.625, at
# most 0.652).  From the base model the loss falls slowly: 1.06 after 750 of 1,905 batches, 1.61 is chance; it was not tried to the end.
# Temperature 0.1 makes the target of the own description nearly 1; at 1 it is 0.40.
RERANK       := $(DEBIAN)/rerank
RERANK_START ?= $(BASE)
RERANK_EVERY ?= $(if $(filter $(BASE),$(RERANK_START)),1,4)
RERANK_LR    ?= $(if $(filter $(BASE),$(RERANK_START)),4e-4,1e-4)
RERANK_TOP   ?= 20
RERANK_FROM  := $(RERANK)/start $(wildcard $(RERANK_START)/*.safetensors)
# weights of the cross-encoder's score to try beside the cosine
RERANK_WEIGHTS := 0.01 0.03 0.1 0.3 1 3 10 30

## rerank-packages train a cross-encoder on Debian's packages and rerank a search with it
rerank-packages:
	+@$(call programs,tok encode near train rerank mteb-score)
	+@$(in_parts) $(DEBIAN)/train.jsonl
	+@$(in_parts) $(RERANK)/table.txt
	@echo 'Descriptions found by what one line says of packages, nDCG@10 ± standard error.'
	@echo 'reranked: the best $(RERANK_TOP) of search in the order of a cross-encoder; blend: with the'
	@echo "cosine, weight $$(cat $(RERANK)/weight) chosen on the development part."
	@echo
	@cat $(RERANK)/table.txt

$(RERANK)/every: always
	@$(call says,$(RERANK_EVERY) $(SEED))

$(RERANK)/start: always
	@$(call says,$(abspath $(RERANK_START)) $(RERANK_LR))

$(RERANK)/top: always
	@$(call says,$(RERANK_TOP))

# the texts of the pairs, by their numbers
$(RERANK)/queries.jsonl $(RERANK)/documents.jsonl $(RERANK)/train.qrels &: $(PIPELINES)/rerank-pairs.awk $(DEBIAN)/train.jsonl $(RERANK)/every
	LC_ALL=C awk -v out=$(@D) -v every=$(RERANK_EVERY) -f $(wordlist 1,2,$^)

RERANK_EMBED = $X/tok -q -m $(RERANK_START) -f text --max-length 128 $< | $X/encode -q -m $(RERANK_START) > $@
HEAVY += $(RERANK)/%.mts
$(RERANK)/%.mts: $(RERANK)/%.jsonl $(RERANK_FROM) | $X/tok $X/encode
	$(RERANK_EMBED)
$(RERANK)/%.mts: $(DEBIAN)/%.jsonl $(RERANK_FROM) | $X/tok $X/encode
	$(RERANK_EMBED)

$(RERANK)/%-search.run: $(RERANK)/%.mts $(RERANK)/corpus.mts | $X/near
	$X/near -q -k 100 --run $@ $^

HEAVY += $(RERANK)/hard.jsonl
$(RERANK)/hard.jsonl: $(RERANK)/train.qrels $(RERANK)/queries.jsonl $(RERANK)/documents.jsonl $(RERANK)/queries.mts $(RERANK)/documents.mts \
		$(PIPELINES)/rerank-negatives.awk | $X/near
	$X/near -q -k 100 --run $(@D)/found.run $(wordlist 4,5,$^)
	LC_ALL=C awk -v seed=$(SEED) -f $(lastword $^) $< $(@D)/found.run > $(@D)/drawn.run
	$X/near -q --mine $< -k 4 --query-texts $(word 2,$^) --texts $(word 3,$^) $(@D)/drawn.run > $@

# half as many tokens as are scored, to save time; longer pairs were not tried
$(RERANK)/pairs.mts: $(RERANK)/hard.jsonl $(RERANK_FROM) | $X/tok
	$X/tok -q -m $(RERANK_START) --pair -f query -f document -f negatives --max-length 64 --record-rows 16 $< > $@

HEAVY += $(RERANK)/model/config.json
$(RERANK)/model/config.json: $(RERANK)/pairs.mts | $X/train
	@echo "A cross-encoder learns from $$(wc -l < $(RERANK)/hard.jsonl) queries with five candidates each." >&2
	$(anew); \
	$X/train -q -m $(RERANK_START) --objective listnet --temperature 0.1 --lr $(RERANK_LR) --precision bf16 --seed $(SEED) \
		--save-every 60 -o $(@D) $<

HEAVY += $(RERANK)/%.run
$(RERANK)/%.run: $(DEBIAN)/%.jsonl $(DEBIAN)/corpus.jsonl $(RERANK)/%-search.run $(RERANK)/model/config.json $(RERANK)/top | $X/rerank
	$X/rerank -q -m $(RERANK)/model -k $(RERANK_TOP) --precision int8 --max-length 128 --queries $< --texts $(wordlist 2,3,$^) > $@

$(RERANK)/weight: $(PIPELINES)/fuse.awk $(RERANK)/dev-search.run $(RERANK)/dev.run
	awk -v weights='$(RERANK_WEIGHTS)' -f $^ > $@

$(RERANK)/blend.run: $(PIPELINES)/fuse.awk $(RERANK)/test-search.run $(RERANK)/test.run $(RERANK)/weight
	awk -v weight=$$(cat $(lastword $^)) -f $(wordlist 1,3,$^) > $@

$(RERANK)/%.tsv: $(DEBIAN)/test.qrels $(RERANK)/%.run | $X/mteb-score
	$X/mteb-score retrieval -q --qrels $< --from-run $(word 2,$^) --complete --per-query $@ >/dev/null

$(RERANK)/table.txt: $(PIPELINES)/versus.awk $(RERANK)/test-search.tsv $(RERANK)/test.tsv $(RERANK)/blend.tsv
	$(call compare,search by) column='all' row=search $(word 2,$^) row=reranked $(word 3,$^) row=blend $(word 4,$^) > $@

.PHONY: rerank-packages
