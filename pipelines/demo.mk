# demo.mk - search by meaning, adapted to a domain, and routed: each act beside search by words (BM25)
#	make demo [SEED=1]
# Acts: 1 the model that comes with motes finds dictionary entries by their definitions; 2 an adapter for the descriptions
# of Debian's packages (packages.mk); 3 questions of both kinds, each through its adapter (routed.mk).
# The weight of the cosine beside BM25 is chosen on the development part; tables are of the test part.  No model was trained
# on the entries and packages of the questions.
SEED    ?= 1
# weights of the cosine to try beside BM25's score
COSINE_WEIGHTS := 2 4 8 12 16 24 32 48 64 96 128 192

## demo       search a dictionary, adapt to Debian's packages, route questions of both (5 minutes)
demo: | $(DEPS)
	+@$(call programs,tok encode near)
	@$(MAKE) -s --no-print-directory $(DEMO)/questions.mts $(DEMO)/words.mts $(TEXT)/definitions.tsv
	@echo "1. Search by meaning: of $$(wc -l < $(DEMO)/words.tsv) words the model that comes with motes finds:"
	@echo
	@$X/near -k 3 --texts $(TEXT)/definitions.tsv $(DEMO)/questions.mts $(DEMO)/words.mts | cut -c1-79
	@echo
	+@$(call programs,mts mteb-score tasksample train pilot-build pilot-route)
	+@$(in_parts) $(DEMO)/act1.txt
	@echo 'Entries found by definitions that it has not read, nDCG@10 ± standard error. words: BM25;'
	@echo '+: BM25 and cosine, how much of each chosen on the development part, as in all acts.'
	@echo
	@cat $(DEMO)/act1.txt
	@echo
	+@if $(in_parts) $(LISTS)/Packages 2>/dev/null; then $(MAKE) -s --no-print-directory demo-packages && \
		$(MAKE) -s --no-print-directory demo-routed; \
		else echo 'apt-get update brought no lists of packages, so that acts 2 and 3 are left out.'; fi
	+@$(if $(INSTALLED),:,echo 'Now the other programs are built; then man -l man/motes-tutorial.7 goes on from here.' && \
		$(MAKE) -s --no-print-directory -j$(JOBS) all)

# makes an act's files silently, so that its answers and table are printed together; make -n demo shows the commands
in_parts = $(ALONE) $(MAKE) -s --no-print-directory -j$(JOBS)

# Answers: the entries nearest to a description, with their meanings.
$(DEMO)/questions.mts: $(SHARE)/recipes/questions.txt $(BASE)/model.safetensors | $X/tok $X/encode
	mkdir -p $(@D)
	$X/tok -q -m $(BASE) --keep $< | $X/encode -q -m $(BASE) > $@

# single words in their first sense, without coarse ones, by the dictionary's labels and by the word
coarse      := obscene|vulgar|offensive|slur|slang|derogat|disparag
coarse_word := shit|fuck|piss|bitch|whore|prick$$|nigger|cunt|faggot
$(DEMO)/words.tsv: $(TEXT)/lookup.tsv $(TEXT)/definitions.tsv
	mkdir -p $(@D)
	paste $^ | awk -F'\t' -v OFS='\t' 'NR == 1 || $$1 ~ /^[a-z]+$$/ && $$1 !~ /$(coarse_word)/ && $$4 !~ /$(coarse)/ { print $$1, $$2 }' > $@

$(DEMO)/words.mts: $(DEMO)/words.tsv $(BASE)/model.safetensors | $X/tok $X/encode
	$X/tok -q -m $(BASE) -f text $< | $X/encode -q -m $(BASE) > $@

# A domain is a folder: corpus.jsonl, and for the parts dev and test PART.jsonl, the queries, and PART.qrels.
$(DEMO)/dictionary/corpus.jsonl: $(TEXT)/corpus.txt
	mkdir -p $(@D)
	cp $(TEXT)/test/corpus.jsonl $@

$(DEMO)/dictionary/dev.jsonl $(DEMO)/dictionary/test.jsonl: $(DEMO)/dictionary/%.jsonl: $(TEXT)/corpus.txt
	mkdir -p $(@D)
	cp $(TEXT)/$*/queries.jsonl $@

$(DEMO)/dictionary/test.qrels: $(TEXT)/corpus.txt
	mkdir -p $(@D)
	cp $(TEXT)/test/qrels.tsv $@

# The base model encodes the corpus once.  Systems find 100 documents a query: PART-SYSTEM.run.
HEAVY += $(DEMO)/questions.mts $(DEMO)/words.mts
define searches
HEAVY += $1/%.mts $1/%-adapter.mts
$1/%.mts: $1/%.jsonl $(BASE)/model.safetensors | $X/tok $X/encode
	$X/tok -q -m $(BASE) -f text --max-length 64 $$< | $X/encode -q -m $(BASE) --keep > $$@

$1/%-adapter.mts: $1/%.mts $(ADAPTER)/adapter_config.json | $X/encode
	$X/encode -q -m $(BASE) --adapter $(ADAPTER) --keep $$< > $$@

$1/%-base.run: $1/%.mts $1/corpus.mts | $X/near
	$X/near -q -k 100 --run $$@ $$^

$1/%-adapter.run: $1/%-adapter.mts $1/corpus.mts | $X/near
	$X/near -q -k 100 --run $$@ $$^

$1/%-bm25.run: $(PIPELINES)/terms.awk $(PIPELINES)/bm25.awk $1/corpus.jsonl $1/%.jsonl
	LC_ALL=C awk -f $$< -f $$(wordlist 2,4,$$^) > $$@

$1/weight-%: $(PIPELINES)/fuse.awk $1/dev-bm25.run $1/dev-%.run
	awk -v weights='$(COSINE_WEIGHTS)' -f $$^ > $$@

$1/test-%.tsv: $1/test.qrels $1/test-%.run | $X/mteb-score
	$X/mteb-score retrieval -q --qrels $$< --from-run $$(word 2,$$^) --complete --per-query $$@ >/dev/null
endef
ADAPTER := $(DEMO)/packages/adapter
$(foreach domain,dictionary packages,$(eval $(call searches,$(DEMO)/$(domain))))

# DOMAIN/test-SYSTEM+bm25.run, with the weight that is best for that system on OF's development part
define fused
$(DEMO)/$1/test-$2+bm25-$3.run: $(PIPELINES)/fuse.awk $(DEMO)/$1/test-bm25.run $(DEMO)/$1/test-$2.run $(DEMO)/$3/weight-$2
	awk -v weight=$$$$(cat $$(lastword $$^)) -f $$(wordlist 1,3,$$^) > $$@
endef
$(foreach domain,dictionary packages,$(foreach of,base-dictionary base-packages adapter-packages,$(eval $(call \
	fused,$(domain),$(word 1,$(subst -, ,$(of))),$(word 2,$(subst -, ,$(of)))))))

compare = awk -v by='$1' -f $(PIPELINES)/versus.awk
$(DEMO)/act1.txt: $(PIPELINES)/versus.awk $(patsubst %,$(DEMO)/dictionary/test-%.tsv,bm25 base base+bm25-dictionary)
	$(call compare,search by) column=definitions row=words $(word 2,$^) row=meaning $(word 3,$^) row=words+meaning $(word 4,$^) > $@

.PHONY: demo
