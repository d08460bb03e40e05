# packages.mk - act 2 of the demo: an adapter for a domain that is new to the base model
#	make demo-packages [SEED=1]
# A Debian package's one-line synopsis is the query, its description the document.  One author wrote both, so that search by
# words does well, except for queries that share few words with the description, as users' questions do.
# The adapter changes only queries (train --freeze-documents): a corpus encoded by the base model stays valid.
STEPS ?= 200
# the package lists of sources.list, Debian's or Ubuntu's universe, in a private folder, which needs no root
APT    = timeout 120 apt-get -q -o Acquire::Languages=en -o APT::Sandbox::User=$$(id -un) -o Acquire::Retries=0 \
	-o Acquire::http::Timeout=20 -o Dir::State::Lists=$(abspath $(LISTS)) -o Dir::Cache=$(abspath $(DEBIAN)/cache) \
	$(patsubst %,-o Acquire::IndexTargets::deb::%::DefaultEnabled=false,DEP-11 DEP-11-icons-small DEP-11-icons Contents-deb)

demo-packages: $(DEBIAN)/table.tsv
	+@$(in_parts) $(DEBIAN)/train.jsonl $(DEBIAN)/corpus.mts $(foreach part,dev test,$(DEBIAN)/$(part).mts $(DEBIAN)/$(part)-bm25.run)
	+@$(MAKE) -s --no-print-directory $(ADAPTER)/adapter_config.json
	+@$(in_parts) $(DEMO)/act2.txt $(DEBIAN)/questions.mts
	@echo "2. An adapter of 0.9 MB has learned from what Debian's packages say of themselves. Of"
	@echo "   $$(wc -l < $(DEBIAN)/corpus.jsonl) that the model has encoded, questions through it find:"
	@echo
	@$X/near -k 3 --texts $(DEBIAN)/synopses.tsv $(DEBIAN)/questions.mts $(DEBIAN)/corpus.mts | cut -c1-79
	@echo
	@echo 'Descriptions found by what one line says of packages that it has not read. few words:'
	@echo 'where at most a third of the question is in the description.'
	@echo
	@cat $(DEMO)/act2.txt
	@echo

$(LISTS)/Translation-en $(LISTS)/Packages &:
	mkdir -p $(LISTS)/partial $(DEBIAN)/cache
	$(APT) update >$(LISTS)/log 2>&1 || true
	for kind in Translations:Translation-en Packages:Packages; do \
		file=$$(for of in Label:Debian Component:universe; do \
			$(APT) indextargets --format '$$(FILENAME)' "$${of/:/: }" "Created-By: $${kind%:*}"; \
		done | sed -n 1p); \
		[ -e "$$file" ] && /usr/lib/apt/apt-helper cat-file "$$file" > $(LISTS)/$${kind#*:}; \
	done

$(DEBIAN)/table.tsv: $(PIPELINES)/packages.awk $(LISTS)/Translation-en $(LISTS)/Packages
	LC_ALL=C awk -f $^ > $@
	[ "$$(wc -l < $@)" -gt 1 ]

# The corpus: held-out packages, and programs.
$(DEBIAN)/corpus.jsonl $(DEBIAN)/train.jsonl $(DEBIAN)/synopses.tsv $(foreach part,dev test,$(DEBIAN)/$(part).jsonl $(DEBIAN)/$(part).qrels) &: \
		$(PIPELINES)/json.awk $(PIPELINES)/packages-beir.awk $(DEBIAN)/table.tsv
	LC_ALL=C awk -v out=$(DEBIAN) -f $< -f $(wordlist 2,3,$^)

# settings, newer than the files that depend on them once they have changed
$(DEMO)/steps: always
	@$(call says,$(STEPS))

$(DEMO)/seed: always
	@$(call says,$(SEED))

HEAVY += $(ADAPTER)/adapter_config.json
$(ADAPTER)/adapter_config.json: $(SHARE)/recipes/packages.yaml $(DEBIAN)/train.jsonl $(BASE)/model.safetensors $(DEMO)/steps $(DEMO)/seed \
		| $X/tasksample $X/tok $X/train
	@echo "An adapter learns from $$(wc -l < $(DEBIAN)/train.jsonl) descriptions: a minute on two idle cores." >&2
	$(anew); \
	$X/tasksample -q -C $(DEBIAN) --seed $(SEED) --steps $(STEPS) $< | $X/tok -q -m $(BASE) --max-length 64 | \
		$X/train -q -m $(BASE) --lora rank=16,targets=all-linear --freeze-documents --precision bf16 --lr 2e-3 \
			--seed $(SEED) --save-every 25 -o $(@D)

HEAVY += $(DEBIAN)/questions.mts
$(DEBIAN)/questions.mts: $(SHARE)/recipes/questions-packages.txt $(ADAPTER)/adapter_config.json | $X/tok $X/encode
	$X/tok -q -m $(BASE) --keep $< | $X/encode -q -m $(BASE) --adapter $(ADAPTER) > $@

$(DEBIAN)/few: $(PIPELINES)/terms.awk $(PIPELINES)/few-words.awk $(DEBIAN)/corpus.jsonl $(DEBIAN)/test.jsonl
	awk -f $< -f $(wordlist 2,4,$^) > $@

system = row=$1 $(DEBIAN)/test-$2.tsv
ACT2 := $(call system,words,bm25) $(call system,base,base) $(call system,adapter,adapter) \
	$(call system,words+base,base+bm25-packages) $(call system,words+adapter,adapter+bm25-packages)
$(DEMO)/act2.txt: $(PIPELINES)/versus.awk $(filter %.tsv,$(ACT2)) $(DEBIAN)/few
	$(call compare,search by) column=all $(ACT2) column='few words' ids=$(DEBIAN)/few $(ACT2) > $@

.PHONY: demo-packages
