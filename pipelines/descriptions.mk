# descriptions.mk - everyday descriptions: how often is the word among the first that are found?
#	make descriptions MODELS="share/models/base ~/models/all-MiniLM-L6-v2"
# Half of share/recipes/descriptions.tsv is for tuning (SPLIT=tune), the other half for the final test.  An entry is a hit if
# it has one of the words.
DESCRIBE := $(OUT)/descriptions
MODELS   ?= $(SHARE)/models/base
HALF     ?= kept
named     = $(notdir $(patsubst %/,%,$1))

## descriptions find words by descriptions of one's own: hits of MODELS= among the first 1, 5, 10
descriptions: $(foreach model,$(MODELS),$(DESCRIBE)/$(call named,$(model))/$(HALF).txt)
	@printf '%-24s %8s %8s %8s\n' "$(HALF)" "first 1" 5 10
	@cat $^

$(DESCRIBE)/queries.tsv: $(SHARE)/recipes/descriptions.tsv
	mkdir -p $(@D)
	awk -F'\t' 'NR == 1 { print "_id\ttext"; next } { print NR "\t" $$3 }' $< > $@

$(DESCRIBE)/$(HALF).qrels.tsv: $(PIPELINES)/descriptions.awk $(SHARE)/recipes/descriptions.tsv $(TEXT)/lookup.tsv
	mkdir -p $(@D)
	awk -v half=$(HALF) -f $^ > $@

HEAVY += $(DESCRIBE)/%/words.mts $(DESCRIBE)/%/$(HALF).txt
define descriptions_of
$(DESCRIBE)/$(call named,$1)/words.mts: $(TEXT)/lookup.tsv $1/config.json | $X/tok $X/encode
	mkdir -p $$(@D); \
	$X/tok -q -m $1 -f text $$< | $X/encode -m $1 > $$@

$(DESCRIBE)/$(call named,$1)/$(HALF).txt: $(DESCRIBE)/queries.tsv $(DESCRIBE)/$(HALF).qrels.tsv \
		$(DESCRIBE)/$(call named,$1)/words.mts | $X/mteb-score
	$X/tok -m $1 -f text $$< | $X/encode -m $1 | \
		$X/mteb-score retrieval -q --protocol v2 --qrels $(DESCRIBE)/$(HALF).qrels.tsv - $$(@D)/words.mts | \
		awk -v model=$(call named,$1) -F'\t' '/queries/ { match($$$$0, /queries [0-9]+/); \
			of = substr($$$$0, RSTART + 8, RLENGTH - 8) } \
			{ v[$$$$1] = $$$$2 } END { printf "%-24s %5d/%d %5d/%d %5d/%d\n", model, \
			v["hit_rate_at_1"] * of + 0.5, of, v["hit_rate_at_5"] * of + 0.5, of, \
			v["hit_rate_at_10"] * of + 0.5, of }' > $$@
endef
$(foreach model,$(MODELS),$(eval $(call descriptions_of,$(patsubst %/,%,$(model)))))

.PHONY: descriptions
