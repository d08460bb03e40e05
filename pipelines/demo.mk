# demo.mk - a reverse dictionary: does a mixture of task experts beat its dense twin?
#	make demo
# Both start from share/models/base, read the same batches with the same instructions, and are
# scored with the base on entries that none of them has read.  Then words are looked up.
# The classifier is fitted on the other held-out part: on definitions that were trained on it would
# learn from embeddings that no new text has.
DEMO   := $(OUT)/demo
STEPS  ?= 80
LR     ?= 3e-4
SPLIT  ?= test
FIT    := $(if $(filter test,$(SPLIT)),dev,test)
SIDES  := base dense mote
START  ?= share/models/base

## demo       look words up, train dense and MoTE on two dictionaries, score them (5 minutes)
demo: $(DEMO)/base/questions.mts $(DEMO)/base/words.mts $(TEXT)/definitions.tsv | $X/near
	@echo 'What the model that comes with motes finds, by what a word means:'
	@echo
	@$(call answer,base)
	@echo
	@echo 'Now two of its kind are trained on the same batches, one of them with task experts, and'
	@echo 'scored on entries that none of them has read: about five minutes on two idle cores.'
	@echo
	@$(MAKE) --no-print-directory $(DEMO)/scores.md $(DEMO)/scores.svg $(DEMO)/retrieval.txt
	@cat $(DEMO)/scores.md
	@echo
	@cat $(DEMO)/retrieval.txt
	@echo
	@best=$$(cat $(DEMO)/best 2>/dev/null || echo base); if [ $$best = base ]; then \
		echo 'In retrieval the base stays the best of the three: its answers above stand.'; \
	else echo "The words again, from the best in retrieval, $$best:"; echo; \
		$(MAKE) --no-print-directory $(DEMO)/$$best/questions.mts $(DEMO)/$$best/words.mts; \
		$(call answer,$$best); \
	fi

# The three models.
$(DEMO)/base/model.safetensors: $(START)/model.safetensors
	mkdir -p $(DEMO)
	rm -rf $(@D)
	cp -r $(START) $(@D)

$(DEMO)/mote-start/model.safetensors: $(DEMO)/base/model.safetensors | $X/upcycle
	$X/upcycle -m $(<D) --experts classification,clustering,search_query,search_document \
		--prompt "search_query=search query: " --prompt "search_document=search document: " \
		-o $(@D)

# the base with the prompts of the experts
$(DEMO)/dense-start/model.safetensors: $(DEMO)/mote-start/model.safetensors
	rm -rf $(@D)
	cp -r $(DEMO)/base $(@D)
	cp $(DEMO)/mote-start/config_sentence_transformers.json $(@D)

$(DEMO)/batches.mts: share/recipes/demo.yaml $(TEXT)/corpus.txt $(DEMO)/base/model.safetensors \
		| $X/tasksample $X/tok
	$X/tasksample -C $(TEXT) --steps $(STEPS) $< | $X/tok -q -m $(DEMO)/base --max-length 64 > $@

$(DEMO)/dense/model.safetensors $(DEMO)/mote/model.safetensors: \
		$(DEMO)/%/model.safetensors: $(DEMO)/batches.mts $(DEMO)/%-start/model.safetensors | $X/train
	$X/train -m $(DEMO)/$*-start --lr $(LR) --seed 1 --progress -o $(@D) $<

# Embeddings of held-out texts; the base knows no instructions.
task  = $(if $(filter base,$*),,--task $1)
embed = $X/tok -m $(DEMO)/$* $(call task,$1) $2 -f text $< | \
	$X/encode -m $(DEMO)/$* > $@

$(DEMO)/%/queries.mts: $(TEXT)/$(SPLIT)/queries.jsonl $(DEMO)/%/model.safetensors | $X/tok $X/encode
	$(call embed,search_query)

$(DEMO)/%/corpus.mts: $(TEXT)/$(SPLIT)/corpus.jsonl $(DEMO)/%/model.safetensors | $X/tok $X/encode
	$(call embed,search_document)

$(DEMO)/%/fit.mts: $(TEXT)/$(FIT)/classification.jsonl $(DEMO)/%/model.safetensors | $X/tok $X/encode
	$(call embed,classification)

$(DEMO)/%/classification.mts: $(TEXT)/$(SPLIT)/classification.jsonl $(DEMO)/%/model.safetensors \
		| $X/tok $X/encode
	$(call embed,classification)

$(DEMO)/%/clustering.mts: $(TEXT)/$(SPLIT)/clustering.jsonl $(DEMO)/%/model.safetensors \
		| $X/tok $X/encode
	$(call embed,clustering)

# Scores.
$(DEMO)/%/retrieval.tsv: $(TEXT)/$(SPLIT)/qrels.tsv $(DEMO)/%/queries.mts $(DEMO)/%/corpus.mts \
		| $X/mteb-score
	$X/mteb-score retrieval --per-query $(@D)/queries.tsv --qrels $^ > $@

$(DEMO)/%/classification.tsv: $(DEMO)/%/fit.mts $(DEMO)/%/classification.mts | $X/mteb-score
	$X/mteb-score classification --train $^ > $@

$(DEMO)/%/clustering.tsv: $(DEMO)/%/clustering.mts | $X/mteb-score
	$X/mteb-score clustering $< > $@

$(DEMO)/scores.tsv: pipelines/scores.awk $(foreach side,$(SIDES),$(patsubst %,$(DEMO)/$(side)/%.tsv,\
		retrieval classification clustering))
	awk -f $^ > $@

$(DEMO)/scores.md: $(DEMO)/scores.tsv
	awk '{ gsub(/\t/, " | "); print "| " $$0 " |" } \
		NR == 1 { gsub(/[^|]+/, "---"); print "|" $$0 "|" }' $< > $@

$(DEMO)/scores.svg: pipelines/scores.gnuplot $(DEMO)/scores.tsv
	gnuplot -e "scores='$(DEMO)/scores.tsv'" $< > $@

$(DEMO)/best: $(DEMO)/scores.tsv
	awk 'NR > 1 && $$2 > most { most = $$2; best = $$1 } END { print best }' $< > $@

$(DEMO)/retrieval.txt: pipelines/differences.awk $(foreach side,$(SIDES),$(DEMO)/$(side)/retrieval.tsv) \
		$(DEMO)/best | $X/leaderboard
	for first in base dense; do $X/leaderboard compare --per-query $(DEMO)/$$first/queries.tsv \
		$(DEMO)/mote/queries.tsv; done | awk -v metric=ndcg_at_10 -f $< > $@

# Answers: the entries nearest to a description, with what they mean.
$(DEMO)/%/questions.mts: share/recipes/questions.txt $(DEMO)/%/model.safetensors | $X/tok $X/encode
	$(call embed,search_query,--keep)

# single words, in the sense that comes first
$(DEMO)/words.tsv: $(TEXT)/lookup.tsv
	mkdir -p $(@D)
	awk -F'\t' 'NR == 1 || $$1 ~ /^[a-z]+$$/' $< > $@

$(DEMO)/%/words.mts: $(DEMO)/words.tsv $(DEMO)/%/model.safetensors | $X/tok $X/encode
	$(call embed,search_document)

answer = $X/near -k 5 --text $(TEXT)/definitions.tsv $(DEMO)/$1/questions.mts $(DEMO)/$1/words.mts

.PHONY: demo
