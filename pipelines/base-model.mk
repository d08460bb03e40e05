# base-model.mk - train share/models/base and mlm from scratch: vocabulary, language model, pairs
#	make base-model
# Pairs of words and definitions do most of the work.  On the development entries random weights reach nDCG@10 0.19 after six
# batches, by the words that a definition shares with its entry, 0.557 after two passes and 0.595 after five.  asking.awk
# adds everyday descriptions.  Instructions are left to the demo.
# The mean of two runs from one language model, with few and with many everyday descriptions, is better than either at both
# definitions and descriptions.  A third run starts from it and learns documentation (documents.mk) as well, and a fourth goes on
# from its end.  Half the fourth run's end, a quarter the third's and a quarter its start are averaged, and the mean is whitened in
# part, as a Dense module: searches in texts of other kinds gain (tests/bench/FIGURES.md).
# The JSON files of share/models/base define it; tokenizer and weights are made here.
BASE       := $(SHARE)/models/base
BASE_OUT   := $(OUT)/base
BASE_JSON  := config.json 1_Pooling/config.json sentence_bert_config.json \
	config_sentence_transformers.json
BASE_RUNS  := base base-more
FIND_RUNS  := documents more-documents
VOCABULARY ?= 24576
MLM        ?= --epochs 1 --lr 2e-3 --batch-tokens 8192
PAIR       ?=
TUNE       ?= --lr 1e-3 --tokens 70000
FIND       ?= --lr 7e-4 --tokens 70000 --precision bf16
FIND_STEPS ?= 1900
MORE_STEPS ?= 2300

## base-model train share/models anew, from text to weights (five hours on two cores, 8 GB)
base-model: $(BASE_OUT)/model/model.safetensors
	cp -r $(addprefix $(BASE_OUT)/model/,*.safetensors modules.json 2_Dense) $(BASE_OUT)/start/*tokenizer* $(BASE_OUT)/start/vocab.txt $(BASE)
	cp -r $(BASE_OUT)/mlm $(dir $(BASE))

$(BASE_OUT)/text.txt: $(TEXT)/corpus.txt $(TEXT)/asking.txt
	mkdir -p $(@D)
	cat $^ > $@

$(BASE_OUT)/start/tokenizer.json: $(BASE_OUT)/text.txt $(addprefix $(BASE)/,$(BASE_JSON) modules.json) | $X/tok
	mkdir -p $(@D)/1_Pooling
	$X/tok --learn wordpiece --vocab-size $(VOCABULARY) -o $(@D) $<
	$(foreach file,$(BASE_JSON),cp $(BASE)/$(file) $(@D)/$(file);)
	jq 'map(select(.type | endswith("Dense") | not))' $(BASE)/modules.json > $(@D)/modules.json

$(BASE_OUT)/text.mts: $(BASE_OUT)/text.txt $(BASE_OUT)/start/tokenizer.json | $X/tok
	$X/tok -q -m $(BASE_OUT)/start --max-length 128 $< > $@

HEAVY += $(BASE_OUT)/mlm/model.safetensors $(patsubst %,$(BASE_OUT)/run/%/model.safetensors,$(BASE_RUNS) $(FIND_RUNS))
$(BASE_OUT)/mlm/model.safetensors: $(BASE_OUT)/text.mts | $X/train
	$X/train -m $(BASE_OUT)/start --from-scratch --objective mlm $(MLM) --seed 1 \
		--dtype bf16 --save-every 100 --progress -o $(@D) $<

$(BASE_OUT)/pairs-base.mts: $(TEXT)/asking.txt
$(BASE_OUT)/pairs-base-more.mts: $(TEXT)/more/pairs-everyday.jsonl
$(BASE_RUNS:%=$(BASE_OUT)/pairs-%.mts): $(BASE_OUT)/pairs-%.mts: $(SHARE)/recipes/%.yaml $(BASE_OUT)/start/tokenizer.json \
		| $X/tasksample $X/tok
	$X/tasksample -C $(TEXT) $(PAIR) $< | $X/tok -q -m $(BASE_OUT)/start --max-length 48 > $@

$(BASE_OUT)/run/base-more/model.safetensors: TUNE += --precision bf16
$(BASE_OUT)/run/%/model.safetensors: $(BASE_OUT)/pairs-%.mts $(BASE_OUT)/mlm/model.safetensors | $X/train
	mkdir -p $(BASE_OUT)/run
	$X/train -m $(BASE_OUT)/mlm $(TUNE) --seed 1 --dtype bf16 --save-every 100 --progress -o $(@D) $<

$(BASE_OUT)/words/model.safetensors: $(BASE_RUNS:%=$(BASE_OUT)/run/%/model.safetensors) | $X/upcycle
	$X/upcycle -m $(BASE_OUT)/run/base $(patsubst %,--mean $(BASE_OUT)/run/%,$(filter-out base,$(BASE_RUNS))) -o $(@D)

$(BASE_OUT)/pairs-more-documents.mts: private FIND_STEPS = $(MORE_STEPS)
$(FIND_RUNS:%=$(BASE_OUT)/pairs-%.mts): $(BASE_OUT)/pairs-%.mts: $(SHARE)/recipes/base-%.yaml $(BASE_OUT)/pairs-base-more.mts \
		$(DOCS)/crop-package.jsonl
	$X/tasksample -C $(OUT) --steps $(FIND_STEPS) $< | $X/tok -q -m $(BASE_OUT)/start --max-length 128 > $@

# the first from the mean of two runs, the second from the end of the first
$(BASE_OUT)/run/documents/model.safetensors: $(BASE_OUT)/pairs-documents.mts $(BASE_OUT)/words/model.safetensors | $X/train
$(BASE_OUT)/run/more-documents/model.safetensors: $(BASE_OUT)/pairs-more-documents.mts $(BASE_OUT)/run/documents/model.safetensors | $X/train
$(FIND_RUNS:%=$(BASE_OUT)/run/%/model.safetensors):
	$X/train -m $(patsubst %/,%,$(dir $(word 2,$^))) $(FIND) --seed 1 --dtype bf16 --save-every 100 --progress -o $(@D) $<

$(BASE_OUT)/half/model.safetensors: $(BASE_OUT)/words/model.safetensors $(BASE_OUT)/run/documents/model.safetensors | $X/upcycle
	$X/upcycle -m $(BASE_OUT)/words --mean $(BASE_OUT)/run/documents -o $(@D)

$(BASE_OUT)/mean/model.safetensors: $(BASE_OUT)/half/model.safetensors $(BASE_OUT)/run/more-documents/model.safetensors | $X/upcycle
	$X/upcycle -m $(BASE_OUT)/half --mean $(BASE_OUT)/run/more-documents -o $(@D)

# the covariance of definitions and passages
$(BASE_OUT)/covered.mts: $(TEXT)/corpus.txt $(DOCS)/passages.tsv $(BASE_OUT)/mean/model.safetensors | $X/tok $X/encode
	{ shuf -n 30000 --random-source=$< $<; cut -f3 $(word 2,$^) | shuf -n 30000 --random-source=$(word 2,$^); } | \
		$X/tok -q -m $(BASE_OUT)/mean --max-length 128 | $X/encode -m $(BASE_OUT)/mean > $@

$(BASE_OUT)/model/model.safetensors: $(BASE_OUT)/covered.mts | $X/geom
	$X/geom whiten fit -q --power 0.4 --centre zero --eps 1e-3 -m $(BASE_OUT)/mean -o $(@D) $<

.PHONY: base-model
