# demo.mk - a reverse dictionary: does a mixture of task experts beat its dense twin?
#	make demo
# share/models/base looks words up.  The twins start from share/models/mlm, the masked language model that
# the base came from: what has learned from these entries before has little left to tell them apart by.
# Both read the same batches with the same instructions, once for each seed, and are scored with the
# base on entries that none of them has read.
# The classifier is fitted on the other held-out part: on definitions that were trained on it would
# learn from embeddings that no new text has.
DEMO   := $(OUT)/demo
STEPS  ?= 26
LR     ?= 1e-3
SEEDS  ?= 1 2 3
SPLIT  ?= test
FIT    := $(if $(filter test,$(SPLIT)),dev,test)
START  ?= $(SHARE)/models/mlm
DEMO_PROGRAMS := tok encode near upcycle tasksample train mteb-score leaderboard
TWINS  := $(foreach seed,$(SEEDS),dense-$(seed) mote-$(seed))

## demo       look words up, train dense and MoTE on two dictionaries, score them (5 minutes)
demo: | $(DEPS)
	+@$(call programs,$(DEMO_PROGRAMS))
	@$(MAKE) --no-print-directory $(DEMO)/base/questions.mts $(DEMO)/base/words.mts $(TEXT)/definitions.tsv
	@echo 'What the model that comes with motes finds, by what a word means:'
	@echo
	@$(call answer,base)
	@echo
	@echo 'Now its masked language model learns from two dictionaries, $(words $(SEEDS)) times dense and $(words $(SEEDS)) times'
	@echo 'with task experts, on the same batches, and is scored on entries that it has not read:'
	@echo 'about five minutes on two idle cores.'
	@echo
	@$(MAKE) --no-print-directory $(DEMO)/scores.md $(DEMO)/scores.svg $(DEMO)/retrieval.txt
	@cat $(DEMO)/scores.md
	@echo
	@cat $(DEMO)/retrieval.txt
	@echo
	@best=$$(cat $(DEMO)/best 2>/dev/null || echo base); if [ $$best = base ]; then \
		echo 'In retrieval the base, which has read more, stays the best: its answers above stand.'; \
	else echo "The words again, from the best in retrieval, $$best:"; echo; \
		$(MAKE) --no-print-directory $(DEMO)/$$best/questions.mts $(DEMO)/$$best/words.mts; \
		$(call answer,$$best); \
	fi

# The models.
$(DEMO)/base/model.safetensors: $(BASE)/model.safetensors
	mkdir -p $(DEMO)
	rm -rf $(@D)
	cp -r $(BASE) $(@D)

$(DEMO)/mote-start/model.safetensors: $(START)/model.safetensors | $X/upcycle
	mkdir -p $(DEMO)
	$X/upcycle -m $(<D) --experts classification,clustering,search_query,search_document \
		--prompt "search_query=search query: " --prompt "search_document=search document: " \
		-o $(@D)

# the same without experts, with their prompts
$(DEMO)/dense-start/model.safetensors: $(DEMO)/mote-start/model.safetensors
	rm -rf $(@D)
	cp -r $(START) $(@D)
	cp $(DEMO)/mote-start/config_sentence_transformers.json $(@D)

$(DEMO)/batches-%.mts: $(SHARE)/recipes/demo.yaml $(TEXT)/corpus.txt $(DEMO)/dense-start/model.safetensors \
		| $X/tasksample $X/tok
	$X/tasksample -C $(TEXT) --seed $* --steps $(STEPS) $< | \
		$X/tok -q -m $(DEMO)/dense-start --max-length 32 > $@

define twins
$(DEMO)/dense-$1/model.safetensors $(DEMO)/mote-$1/model.safetensors: private SHELL := $(HEAVY)
$(DEMO)/dense-$1/model.safetensors $(DEMO)/mote-$1/model.safetensors: \
		$(DEMO)/%-$1/model.safetensors: $(DEMO)/batches-$1.mts $(DEMO)/%-start/model.safetensors | $X/train
	$X/train -m $(DEMO)/$$*-start --lr $(LR) --seed $1 --progress -o $$(@D) $$<
endef
$(foreach seed,$(SEEDS),$(eval $(call twins,$(seed))))

# Embeddings of held-out texts; the base knows no instructions.
$(foreach file,queries.mts corpus.mts fit.mts classification.mts clustering.mts retrieval.tsv classification.tsv clustering.tsv \
	questions.mts words.mts,$(DEMO)/%/$(file)): private SHELL := $(HEAVY)
instruction = $(if $(filter base,$*),,--task $1)
embedded    = $X/tok -m $(DEMO)/$* $(call instruction,$1) $2 -f text $< | \
	$X/encode -m $(DEMO)/$* > $@

$(DEMO)/%/queries.mts: $(TEXT)/$(SPLIT)/queries.jsonl $(DEMO)/%/model.safetensors | $X/tok $X/encode
	$(call embedded,search_query)

$(DEMO)/%/corpus.mts: $(TEXT)/$(SPLIT)/corpus.jsonl $(DEMO)/%/model.safetensors | $X/tok $X/encode
	$(call embedded,search_document)

$(DEMO)/%/fit.mts: $(TEXT)/$(FIT)/classification.jsonl $(DEMO)/%/model.safetensors | $X/tok $X/encode
	$(call embedded,classification)

$(DEMO)/%/classification.mts: $(TEXT)/$(SPLIT)/classification.jsonl $(DEMO)/%/model.safetensors \
		| $X/tok $X/encode
	$(call embedded,classification)

$(DEMO)/%/clustering.mts: $(TEXT)/$(SPLIT)/clustering.jsonl $(DEMO)/%/model.safetensors \
		| $X/tok $X/encode
	$(call embedded,clustering)

# Scores.
$(DEMO)/%/retrieval.tsv: $(TEXT)/$(SPLIT)/qrels.tsv $(DEMO)/%/queries.mts $(DEMO)/%/corpus.mts \
		| $X/mteb-score
	$X/mteb-score retrieval --per-query $(@D)/queries.tsv --qrels $^ > $@

$(DEMO)/%/classification.tsv: $(DEMO)/%/fit.mts $(DEMO)/%/classification.mts | $X/mteb-score
	$X/mteb-score classification --train $^ > $@

$(DEMO)/%/clustering.tsv: $(DEMO)/%/clustering.mts | $X/mteb-score
	$X/mteb-score clustering $< > $@

$(DEMO)/scores.tsv: $(PIPELINES)/scores.awk $(foreach side,base $(TWINS),$(patsubst %,$(DEMO)/$(side)/%.tsv,\
		retrieval classification clustering))
	awk -f $^ > $@

$(DEMO)/scores.md: $(DEMO)/scores.tsv
	awk '{ gsub(/\t/, " | "); print "| " $$0 " |" } \
		NR == 1 { gsub(/[^|]+/, "---"); print "|" $$0 "|" }' $< > $@

$(DEMO)/scores.svg: $(PIPELINES)/scores.gnuplot $(DEMO)/scores.tsv
	gnuplot -e "scores='$(DEMO)/scores.tsv'" $< > $@

# the model of the first seed of the best kind
$(DEMO)/best: $(DEMO)/scores.tsv
	awk -v seed=$(firstword $(SEEDS)) 'NR > 1 && $$2 > most { most = $$2; best = $$1 } \
		END { print best == "base" ? best : best "-" seed }' $< > $@

# A query's score is its mean over the seeds.
$(DEMO)/dense.tsv $(DEMO)/mote.tsv: $(DEMO)/%.tsv: $(PIPELINES)/means.awk \
		$(foreach seed,$(SEEDS),$(DEMO)/%-$(seed)/retrieval.tsv)
	awk -f $< $(foreach seed,$(SEEDS),$(DEMO)/$*-$(seed)/queries.tsv) > $@

$(DEMO)/retrieval.txt: $(PIPELINES)/differences.awk $(DEMO)/dense.tsv $(DEMO)/mote.tsv $(DEMO)/best | $X/leaderboard
	for seed in $(SEEDS:%=-%/queries) ''; do $X/leaderboard compare --per-query \
		$(DEMO)/dense$$seed.tsv $(DEMO)/mote$$seed.tsv; done | \
		awk -v metric=ndcg_at_10 -v first=dense -v second=mote -f $< > $@

# Answers: the entries nearest to a description, with what they mean.
$(DEMO)/%/questions.mts: $(SHARE)/recipes/questions.txt $(DEMO)/%/model.safetensors | $X/tok $X/encode
	$(call embedded,search_query,--keep)

# single words, in the sense that comes first
$(DEMO)/words.tsv: $(TEXT)/lookup.tsv
	mkdir -p $(@D)
	awk -F'\t' 'NR == 1 || $$1 ~ /^[a-z]+$$/' $< > $@

$(DEMO)/%/words.mts: $(DEMO)/words.tsv $(DEMO)/%/model.safetensors | $X/tok $X/encode
	$(call embedded,search_document)

answer = $X/near -k 5 --text $(TEXT)/definitions.tsv $(DEMO)/$1/questions.mts $(DEMO)/$1/words.mts

.PHONY: demo
