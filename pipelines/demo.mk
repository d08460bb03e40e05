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

## demo       train dense and MoTE on two dictionaries, score both, look words up (5 minutes)
demo: $(DEMO)/scores.md $(DEMO)/scores.svg $(DEMO)/answers.txt
	@cat $(DEMO)/scores.md
	@echo
	@cat $(DEMO)/answers.txt

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
embed = $X/tok -m $(DEMO)/$* $(call task,$1) -f text $< | \
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
	$X/mteb-score retrieval --qrels $^ > $@

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

# Answers: the entries nearest to a description.
$(DEMO)/mote/words.mts: $(TEXT)/lookup.tsv $(DEMO)/mote/model.safetensors | $X/tok $X/encode
	$X/tok -m $(@D) --task search_document -f text $< | $X/encode -m $(@D) > $@

$(DEMO)/answers.txt: share/recipes/questions.txt $(DEMO)/mote/words.mts | $X/tok $X/encode $X/mteb-score
	awk '{ print "{\"_id\": \"" $$0 "\", \"text\": \"" $$0 "\"}" }' $< | \
		$X/tok -m $(DEMO)/mote --task search_query -f text - | $X/encode -m $(DEMO)/mote | \
		$X/mteb-score retrieval --run - --top 5 - $(DEMO)/mote/words.mts | \
		awk -f pipelines/answers.awk > $@

.PHONY: demo
