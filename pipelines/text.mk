# text.mk - dictionaries of Debian as training text and test sets
#	make text
# dictionary.awk describes the held-out entries, and what of them is still seen in training.
WORDNET ?= /usr/share/wordnet
FOLDOC  ?= /usr/share/dictd/foldoc.dict.dz
GCIDE   ?= /usr/share/dictd/gcide.dict.dz
INDEX   := $(addprefix $(WORDNET)/index.,noun verb adj adv)

PAIRS   := $(patsubst %,$(TEXT)/train-%.jsonl,noun verb adjective adverb name foldoc class sibling)
HELD    := $(foreach split,dev test,$(patsubst %,$(TEXT)/$(split)/%,queries.jsonl corpus.jsonl \
	qrels.tsv classification.jsonl clustering.jsonl))

## text       WordNet and FOLDOC as training pairs, running text and held-out tests, in out/text
text: $(TEXT)/corpus.txt

$(TEXT)/corpus.txt $(TEXT)/lookup.tsv $(TEXT)/definitions.tsv $(PAIRS) $(HELD) &: \
		$(PIPELINES)/json.awk $(PIPELINES)/dictionary.awk $(TEXT)/wordnet.tsv $(TEXT)/foldoc.tsv
	mkdir -p $(TEXT)/dev $(TEXT)/test
	LC_ALL=C awk -v out=$(TEXT) -f $< -f $(wordlist 2,4,$^)

$(TEXT)/wordnet.tsv: $(PIPELINES)/wordnet.awk $(addprefix $(WORDNET)/data.,noun verb adj adv)
	mkdir -p $(@D)
	LC_ALL=C awk -f $^ > $@

$(TEXT)/foldoc.tsv: $(PIPELINES)/foldoc.awk $(FOLDOC)
	mkdir -p $(@D)
	gzip -dc $(FOLDOC) | LC_ALL=C awk -f $< > $@

$(addprefix $(WORDNET)/data.,noun verb adj adv) $(FOLDOC): | $(DEPS)
	@test -e $@ || { echo "no $@; install wordnet-base and dict-foldoc (make deps)" >&2; exit 1; }

# For base-model only: one more dictionary, and questions in other words than a dictionary's.
$(TEXT)/gcide.tsv: $(PIPELINES)/gcide.awk $(GCIDE)
	mkdir -p $(@D)
	gzip -dc $(GCIDE) | LC_ALL=C awk -f $< > $@

$(TEXT)/asking.txt $(patsubst %,$(TEXT)/pairs-%.jsonl,gcide free everyday same) &: \
		$(PIPELINES)/json.awk $(PIPELINES)/asking.awk $(SHARE)/recipes/descriptions.tsv $(INDEX) $(TEXT)/wordnet.tsv \
		$(TEXT)/gcide.tsv $(SHARE)/recipes/everyday.tsv
	LC_ALL=C awk -v out=$(TEXT) -f $< -f $(wordlist 2,12,$^)

# the same from more descriptions; the text of share/models/mlm, the start of the papers' tables, does not change
$(patsubst %,$(TEXT)/more/pairs-%.jsonl,gcide free everyday same) &: \
		$(PIPELINES)/json.awk $(PIPELINES)/asking.awk $(SHARE)/recipes/descriptions.tsv $(INDEX) $(TEXT)/wordnet.tsv \
		$(TEXT)/gcide.tsv $(SHARE)/recipes/everyday.tsv $(SHARE)/recipes/everyday-more.tsv
	mkdir -p $(@D)
	LC_ALL=C awk -v out=$(@D) -f $< -f $(wordlist 2,12,$^)

$(INDEX) $(GCIDE):
	@test -e $@ || { echo "no $@; install wordnet-base and dict-gcide (share/deps base)" >&2; exit 1; }

.PHONY: text
