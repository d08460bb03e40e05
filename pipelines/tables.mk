# tables.mk - shared by the pipelines of papers: scores of a model, comparisons query by query.  Included first
, := ,
# $1 if it was given on the command line or in the environment, else the pipeline's own default
given = $(if $(filter command environment,$(origin $1)),$($1),$2)
small = $(if $(filter small,$(SIZE)),$1,$2)
JOBS  ?= $(eval JOBS := $(shell nproc))$(JOBS)
SEEDS ?= 1 2 3
SPLIT ?= test
START ?= $(SHARE)/models/mlm
# FILE, KEY, N: column N of the table's last row that begins with KEY, whose columns | joins.  Without a shell: every start of
# make looks up dozens of rates.
tab      := $()	$()
column_of = $(word $3,$(subst |, ,$(lastword $(filter $2|%,$(subst $(tab),|,$(file <$1))))))
# the names of a recipe's data sets
sets_of   = $(patsubst {name:%$(,),%,$(filter {name:%,$(subst {name: ,{name:,$(file <$1))))

SIZE  ?= small
# options of train that follow the pipeline's own
TRAIN_OPTIONS ?=

# make mteb of MODEL, NAME, on TASKS of DATA, with more variables, by the papers' protocol: scores in results, embeddings in work or a shared folder
mteb_of = $(MAKE) -s --no-print-directory mteb MODEL=$1 NAME=$2 TASKS="$3" DATA=$4 PROTOCOL=v1 $5 \
	RESULTS=$(@D)/results MTEB=$(or $6,$(@D)/work) PLAN=$(@D)/plan.mk PER_QUERY=1 >$(@D)/log 2>&1 || { cat $(@D)/log >&2; false; }
# the results as type, set, main metric, score
main_scores = awk -F'\t' -v OFS='\t' 'FNR > 1 && $$3 { for (i = 4; i <= NF; i++) if ($$i != "") $$4 = $$i; \
	print $$1, $$2, $$3, $$4 }' $(@D)/results/table.tsv
# SEED, folders of the scores of two models: for each set of both its seed, type, set, both scores, difference, standard
# error (empty for a single query) and number of queries.  For pairs, whose metrics are resampled, only the main metric is compared.
# The queries of a set's parts (SET@SUBSET@SPLIT.tsv) count together.
compared = while IFS=$$'\t' read -r type set metric score; do \
		[ "$(call per_query,$3)" ] || continue; \
		metric=$${metric/max_ap/cosine_ap}; \
		$X/leaderboard compare -q --from-per-query --resamples 1000 <($(call of_metric,$2)) <($(call of_metric,$3)) | \
			awk -F'\t' -v OFS='\t' -v what="$1	$$type	$$set" -v metric=$$metric \
				'$(compared_row)'; \
	done < $2/scores.tsv
compared_row = NR == 1 { queries = $$0; sub(/ queries; .*/, "", queries); sub(/.*; /, "", queries) } \
	$$1 == metric { print what, $$2, $$3, $$4, $$NF, queries }
per_query = $$(find $1/results -mindepth 3 -name "$$set.tsv" -print $(,) -name "$$set@*.tsv" -print | LC_ALL=C sort)
of_metric = awk -F'\t' -v OFS='\t' -v metric=$$metric 'NR == 1 { sub(/_(spearman|ap)$$/, "", metric); for (i = 3; i <= NF; i++) \
	if ($$i == metric) keep = i } FNR == 1 { part = FILENAME; sub(/.*\//, "", part); sub(/^[^@]*/, "", part); if (NR > 1) next } \
	NR > 1 { $$1 = $$1 part } { print (keep ? $$1 OFS $$2 OFS $$keep : $$0) }' $(call per_query,$1)

# Writes a text to a file only if it changed, so that its targets are made again; the rule depends on `always`.
says = mkdir -p $(@D) && { echo "$1" | cmp -s - $@ || echo "$1" > $@; }
.PHONY: always

# Removes the checkpoint of an interrupted training if a prerequisite is newer, because train refuses one of other settings.
anew = for file in $^; do [ $$file -ot $(@D).checkpoint ] || rm -f $(@D).checkpoint; done

# MODEL, FOLDER, FILE: writes the model's best rate to FILE; FOLDER/RATE/rate.tsv has a rate and its mean score.
RATES_TRIED := $(call given,LRS,1e-4 3e-4 1e-3)
rate_chosen = awk -F'\t' -v model=$1 'BEGIN { print "\# model\trate\teach rate that was tried and its mean" } \
	{ if (!best || $$2 > most) { best = $$1; most = $$2 } line = line "\t" $$1 "\t" $$2 } \
	END { print model "\t" best line }' $(RATES_TRIED:%=$2/%/rate.tsv) | \
	awk -F'\t' '!seen[$$1]++' - $(wildcard $3) > $3.new && mv $3.new $3 && cat $3

# The cells of cells.awk as a table: PAPER, the table's name there.  A rule for FILE.md needs $(TABLE_FILES) and FILE.tsv, in this order.
TABLE_FILES := $(addprefix $(PIPELINES)/,table.awk arms.tsv papers.tsv)
table_of = awk -v paper=$1 -v title='$2' -f $^ > $@

# MODEL, LENGTH: the model's sentence_bert_config.json with that length, beside the target; a folder need not have one.
with_length = cat $(wildcard $1/sentence_bert_config.json) /dev/null | jq -s '(.[0] // {}) + {max_seq_length: $2}' > $(@D)/sentence_bert_config.json

# Prints a table with numbers to four decimals, and a line of text below it.
plain_table = { awk -F'\t' -v OFS=' | ' '{ for (i = 1; i <= NF; i++) if ($$i ~ /^-?[0-9]*[.][0-9]+(e-?[0-9]+)?$$/ && length($$i) > 7) \
	$$i = sprintf("%.4f", $$i); $$1 = $$1; print "| " $$0 " |" } NR == 1 { for (i = 1; i <= NF; i++) printf "|---"; print "|" }' $1; \
	echo; echo '$2'; }
