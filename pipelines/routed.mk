# routed.mk - act 3 of the demo: one stream of questions of two domains, each through its adapter (RouterRetriever)
#	make demo-routed [SEED=1]
# Dictionary definitions and package synopses; the base model serves the dictionary, the adapter of packages.mk the packages.
# pilot-build draws 10,000 training queries of each domain (--router dataset); pilot-route sends a question to the domain of
# the most similar one, by the base model's embeddings.  1,000, 3,000, 10,000 and 30,000 recognise 88.7, 91.9, 94.4 and 95.9 % of
# the dictionary's development questions and 90.3, 91.4, 92.7 and 94.3 % of the packages', by the demo's model.  The base model
# encodes both corpora once.
ROUTED := $(DEMO)/routed

demo-routed:
	+@$(in_parts) $(DEMO)/act3.txt
	@echo '3. Questions of both kinds in one stream. adapter: that of act 2, for all questions;'
	@echo 'routed: for those that pilot-route gives it. No document is encoded again.'
	@echo
	@cat $(DEMO)/act3.txt
	@echo

$(ROUTED)/dictionary.jsonl $(ROUTED)/packages.jsonl: $(ROUTED)/%.jsonl: $(TEXT)/corpus.txt $(DEBIAN)/train.jsonl
	mkdir -p $(@D)
	cat $(if $(filter packages,$*),$(DEBIAN)/train.jsonl,$(patsubst %,$(TEXT)/train-%.jsonl,noun verb adjective adverb foldoc)) | \
		awk 'NR % $(if $(filter packages,$*),3,11) == 0' > $@

HEAVY += $(ROUTED)/%.mts
$(ROUTED)/%.mts: $(ROUTED)/%.jsonl $(BASE)/model.safetensors | $X/tok $X/encode
	$X/tok -q -m $(BASE) -f text=query $< | $X/encode -q -m $(BASE) > $@

$(ROUTED)/pilots: $(ROUTED)/dictionary.mts $(ROUTED)/packages.mts $(DEMO)/seed | $X/pilot-build
	$X/pilot-build fit -q --router dataset --samples 10000 --seed $(SEED) $(filter %.mts,$^) > $@

$(ROUTED)/gates.tsv: $(ROUTED)/pilots $(DEMO)/dictionary/test.mts $(DEBIAN)/test.mts | $X/mts $X/pilot-route
	$X/mts cat -q $(wordlist 2,3,$^) | $X/pilot-route -q $< | $X/mts to tsv -q -c _id,gate > $@

# a query's score is the one with its adapter
by_gate = $(foreach domain,dictionary packages,$(DEMO)/$(domain)/test-$1.tsv)
$(ROUTED)/routed.tsv: $(PIPELINES)/routed.awk $(ROUTED)/gates.tsv $(call by_gate,base) $(call by_gate,adapter)
	awk -f $< $(ROUTED)/gates.tsv gate=dictionary $(call by_gate,base) gate=packages $(call by_gate,adapter) > $@

$(ROUTED)/routed+bm25.tsv: $(PIPELINES)/routed.awk $(ROUTED)/gates.tsv $(call by_gate,base+bm25-dictionary) $(call by_gate,adapter+bm25-packages)
	awk -f $< $(ROUTED)/gates.tsv gate=dictionary $(call by_gate,base+bm25-dictionary) \
		gate=packages $(call by_gate,adapter+bm25-packages) > $@

$(ROUTED)/ids-both $(ROUTED)/ids-dictionary $(ROUTED)/ids-packages: $(ROUTED)/ids-%: $(DEMO)/dictionary/test.qrels $(DEBIAN)/test.qrels
	mkdir -p $(@D)
	cat $(if $(filter both,$*),$^,$(DEMO)/$*/test.qrels) | cut -f1 > $@

ACT3 := row=base $(call by_gate,base) row=adapter $(call by_gate,adapter) row=routed $(ROUTED)/routed.tsv \
	row=words $(call by_gate,bm25) row=words+routed $(ROUTED)/routed+bm25.tsv
$(DEMO)/act3.txt: $(PIPELINES)/versus.awk $(ROUTED)/routed.tsv $(ROUTED)/routed+bm25.tsv \
		$(foreach of,base adapter bm25,$(call by_gate,$(of))) $(patsubst %,$(ROUTED)/ids-%,dictionary packages both)
	$(call compare,search by) $(foreach of,dictionary packages both,column=$(of) ids=$(ROUTED)/ids-$(of) $(ACT3)) > $@

.PHONY: demo-routed
