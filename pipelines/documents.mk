# documents.mk - documentation and descriptions of Debian's packages as running text and as training pairs
#	make documents
# share/recipes/documents.tsv lists the packages.  They are fetched and unpacked in out/documents (4 GB), nothing is installed.
DOC_LIST  := $(SHARE)/recipes/documents.tsv
DOC_PAIRS := $(foreach group,debian desktop kernel language manual politics science server,$(patsubst \
	%,$(DOCS)/%-$(group).jsonl,crop title)) $(DOCS)/crop-package.jsonl
doc_pages  = find $1 -type f \( -name '*.html' -o -name '*.htm' -o -name '*.html.en' -o -path '*/C/*.page' -o -path '*/C/*.docbook' \)

## documents  documentation of Debian's packages as passages and training pairs, in out/documents (seven minutes)
documents: $(DOC_PAIRS)

# Each package is unpacked, pages of manuals become HTML, other files go.
$(DOCS)/pages.txt: $(DOC_LIST) $(LISTS)/Packages
	@command -v mandoc >/dev/null || { echo "no mandoc; install it (share/deps base)" >&2; exit 1; }
	rm -rf $(DOCS)/tree
	mkdir -p $(DOCS)/debs $(DOCS)/tree
	cd $(DOCS)/debs && $(APT) download $$(awk 'NR > 1 { print $$1 }' $(abspath $<))
	for package in $$(awk 'NR > 1 { print $$1 }' $<); do \
		tree=$(DOCS)/tree/$$package; \
		dpkg-deb -x $(DOCS)/debs/$${package}_*.deb $$tree; \
		find $$tree -type f -path '*/share/man/man*/*.gz' | while read -r page; do \
			mandoc -T html "$$page" > "$$page.html" 2>/dev/null; done; \
		find $$tree -type f ! -name '*.html' ! -name '*.htm' ! -name '*.html.en' ! -path '*/C/*' -delete; \
	done
	$(call doc_pages,$(DOCS)/tree) | LC_ALL=C sort > $@

$(DOCS)/pages.tsv: $(PIPELINES)/sentences.awk $(PIPELINES)/pages.awk $(DOCS)/pages.txt
	LC_ALL=C awk -v tree=$(DOCS)/tree/ -f $< -f $(wordlist 2,3,$^) > $@

# Of each package some megabytes, drawn; and descriptions of packages in the demo's training part, without their synopses.
$(DOCS)/passages.tsv: $(DOC_LIST) $(DOCS)/pages.tsv $(DEBIAN)/table.tsv
	{ shuf --random-source=$(DOCS)/pages.tsv $(DOCS)/pages.tsv | \
		LC_ALL=C awk -F'\t' 'FNR == NR { room[$$1] = $$3 * 1e6; next } (room[$$1] -= length) > 0' $< -; \
	awk -F'\t' '$$2 == "train" { print "package\t\t" $$5 }' $(DEBIAN)/table.tsv; } > $@

$(DOC_PAIRS) &: $(PIPELINES)/json.awk $(PIPELINES)/sentences.awk $(PIPELINES)/crops.awk $(DOC_LIST) $(DOCS)/passages.tsv
	rm -f $(DOCS)/*.jsonl
	LC_ALL=C awk -v out=$(DOCS) -v draws=2 -f $< -f $(word 2,$^) -f $(wordlist 3,5,$^)

.PHONY: documents
