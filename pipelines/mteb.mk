# mteb.mk - how good is a model?  MTEB's scores of the data sets in a folder, as a leaderboard
#	make mteb MODEL=dir DATA=dir [BENCHMARK="MTEB(eng, v2)"] [TASKS="STS12 retrieval beir"] [PROTOCOL=v2]
#		[NAME=org/name] [PER_QUERY=1]
#		[GATES=dir PILOTS=file] [TEMPLATE=name] [WEIGHTS=int8] [PRECISION=int8] [COMBINE=sum [ALPHA=auto] [NORM=corpus] [EMIT=hs,rw]]
#		[RUN='srun -c 8']
# Writes results/MODEL/REVISION/TASK.json, in the mteb package's format, and the leaderboard of all models in
# results/table.md, .tsv and .html.  Finished work is not repeated; if a set fails, the others go on, and its fault
# is printed at the end.  motes(7) describes the layout of DATA.
# BENCHMARK: only its sets, or its parts of them; the sets that DATA lacks are named.  motes mteb --list prints
# the benchmarks, and the sets of one: motes mteb --list BENCHMARK="MTEB(eng, v2)".
# A set of several subsets (languages) or splits is scored part by part; its score is their mean.
# PER_QUERY=1: also writes TASK.tsv, or TASK@SUBSET@SPLIT.tsv, the scores of each query, for leaderboard compare --from-per-query.  Results
# without it are scored again from the existing embeddings.
# GATES and PILOTS: RouterRetriever.  Queries, and the texts of tasks without documents, go through the gate that
# pilot-route(1) chooses; documents go through the model alone, and their embeddings are shared with those of the model
# without gates.  If the library is of an early layer (encode --emit emb=hs:layers=N), queries take one pass (encode
# --pilots).  The name gets "+gates"; the revision covers model, gates and library.
# COMBINE: MoEE for a mixture of experts (moee-sim).  Hidden states and routing weights are encoded once for all
# methods.  ALPHA=auto applies to tasks of pairs; other tasks use 1.  COMBINE=apart is for audits: classification and
# clustering as MoEE's released code sums them (mteb-score --legacy-sum).
# TEMPLATE: the template of share/templates.yaml for each text.  WEIGHTS=int8, PRECISION=int8: options of encode.  The
# name gets the method: "+prompteol+sum+int8", "+precision-int8".
# INSTRUCT=no: without instructions, of a model that takes them (share/known-models.tsv); or another template for them, such
# as 'Instruct: {instruction}\nQuery: ' in bash's $'...'.
# make's time stamps decide which sets are scored again.  Encoding a set anew removes its result first, so that a failure cannot
# leave an old score.  A set of another size than mteb's gets a star in the table.
MODEL    ?= $(SHARE)/models/base
DATA     ?= data
BENCHMARK ?=
TASKS    ?=
PROTOCOL ?= v2
NAME     ?=
PER_QUERY ?=
GATES    ?=
PILOTS   ?=
TEMPLATE ?=
COMBINE  ?=
ALPHA    ?=
NORM     ?=
EMIT     ?= hs,rw
WEIGHTS  ?=
PRECISION ?=
INSTRUCT ?=
RESULTS  ?= results$(patsubst %,-%,$(filter-out v2,$(PROTOCOL)))
MTEB     := $(OUT)/mteb
WAYS     := hs rw concat sum apart
REGISTRY := $(patsubst %,--registry %,$(SHARE)/tasks.yaml $(wildcard $(DATA)/tasks.yaml)) --protocol $(PROTOCOL)
# a text as one word of the shell
quoted    = '$(subst ','\'',$1)'
unlike    = $(subst <$1>,,<$2>)$(subst <$2>,,<$1>)
CHOSEN   := $(if $(BENCHMARK),--benchmark $(call quoted,$(BENCHMARK)))
as_name   = $(subst =,-,$(subst :,-,$1))
bits      = $(WEIGHTS) $(PRECISION:%=precision-%)
mteb_instructed = $(if $(INSTRUCT),instruct-$(if $(call unlike,$(INSTRUCT),no),$(shell cksum <<<$(call quoted,$(INSTRUCT)) | cut -d ' ' -f 1),no))
numbers   = $(WEIGHTS:%=--weights %) $(PRECISION:%=--precision %)
EMITTED  := $(or $(TEMPLATE),plain)-$(call as_name,$(EMIT))$(subst $() ,,$(addprefix -,$(bits) $(mteb_instructed)))
combined  = $(if $(COMBINE),$(COMBINE)$(ALPHA:%=$(,)alpha-%)$(NORM:%=$(,)norm-%)$(if $(filter-out hs$(,)rw,$(EMIT)),$(,)$(EMIT)))
WAY      := $(call as_name,$(subst $() ,+,$(strip $(TEMPLATE) $(combined) $(bits) $(mteb_instructed))))
AS       := $(GATES:%=--gates %) $(PILOTS:%=--pilots %) $(WAY:%=--way %)
PLANNED   = $X/leaderboard plan -m '$(MODEL)' $(REGISTRY) $(CHOSEN) $(if $(INSTRUCT),--instruct $(call quoted,$(INSTRUCT))) $(NAME:%=--name %) $(AS)
# a file for each choice of model and sets: a run reads its plan again at its end, and another one may have begun meanwhile
PLAN      = $(MTEB)/plan-$(shell cksum <<<$(call quoted,$(PLANNED) $(DATA) $(TASKS)) | cut -d ' ' -f 1).mk

## mteb      score MODEL=dir on the data sets of DATA=dir, a table of all models (BENCHMARK=, TASKS=, PROTOCOL=, PER_QUERY=1, GATES= PILOTS=, COMBINE=)
mteb: | $X/leaderboard $X/tok $X/encode $X/pilot-route $X/moee-sim $X/mteb-score $X/mts
	@[ -d '$(DATA)' ] || { echo "mteb: there is no folder '$(DATA)'; give DATA=dir: the data sets, laid out as in motes(7)" >&2; exit 2; }
	@mkdir -p $(MTEB)
	@$(if $(GATES),,$(if $(PILOTS),echo 'mteb: PILOTS without GATES; add GATES=dir: the adapters to choose from' >&2; exit 2))
	@$(if $(PILOTS),,$(if $(GATES),echo 'mteb: GATES without PILOTS; add PILOTS=file: the library that chooses' >&2; exit 2))
	@$(if $(and $(GATES),$(COMBINE)),echo 'mteb: COMBINE and GATES exclude each other' >&2; exit 2)
	@$(if $(filter sum,$(COMBINE)),,$(if $(ALPHA),echo 'mteb: ALPHA needs COMBINE=sum' >&2; exit 2))
	@$(if $(filter-out $(WAYS),$(COMBINE)),echo "mteb: there is no COMBINE='$(COMBINE)'; it is one of $(WAYS)" >&2; exit 2)
	@$(if $(COMBINE),,$(if $(NORM),echo 'mteb: NORM needs COMBINE' >&2; exit 2))
	@$(if $(COMBINE),,$(if $(filter command,$(origin EMIT)),echo 'mteb: EMIT needs COMBINE' >&2; exit 2))
	@$(PLANNED) -o $(PLAN) $(DATA) $(TASKS)
	@$(MAKE) -k --no-print-directory mteb-scores MTEB_PLAN=$(PLAN) || true
	@$(MAKE) --no-print-directory mteb-table MTEB_PLAN=$(PLAN)

mteb-list: | $X/leaderboard
	@$X/leaderboard list $(filter-out --protocol $(PROTOCOL),$(REGISTRY)) $(if $(BENCHMARK),$(call quoted,$(BENCHMARK))) $(TASKS)

ifdef MTEB_PLAN
-include $(MTEB_PLAN)
# folders: embeddings of this model; of the model without gates and method; of documents
VECTORS := $(MTEB)/$(subst /,__,$(name))/$(revision)
OWN     := $(MTEB)/$(subst /,__,$(or $(base),$(name)))/$(or $(base_revision),$(revision))
CORPUS  := $(if $(GATES),$(OWN)$(TEMPLATE:%=/%)$(subst $() ,,$(addprefix /,$(bits) $(mteb_instructed))),$(VECTORS))
# embeddings before moee-sim combines them
MADE    := $(if $(COMBINE),$(OWN)/$(EMITTED),$(VECTORS))
SCORES  := $(RESULTS)/$(subst /,__,$(name))/$(revision)
PARTS   := $(bitextmining) $(classification) $(clustering) $(clustering-fast) $(multilabelclassification) \
           $(pairclassification) $(regression) $(reranking) $(retrieval) $(sts) $(summarization)
SETS    := $(sort $(foreach mteb_part,$(PARTS),$($(mteb_part).task)))
# the report of a part, beside its embeddings
REPORT  := score-$(PROTOCOL).json
BAR     := $(shell [ -t 2 ] && echo --progress)

# What the plan says of a part's texts and of its scores, and where the data's files are: in files on which embeddings and reports
# depend, written if it changed, beside each folder of embeddings.  A first one is older than all embeddings, which may have been
# made before there was one.
data_of    = $(realpath $(foreach file,test train queries corpus qrels,$($1.$(file))))
texts_of   = $(strip $(call data_of,$1)|$($1.query)|$($1.document)|$(if $(filter $1,$(classification)),$($1.samples)|$($1.experiments)))
scoring_of = $(strip $($1.samples)|$($1.experiments)|$($1.documents)|$($1.at)|$($1.groups)|$($1.identical)|$($1.changed)|$($1.top_ranked)|$($1.earlier))
note       = $(if $(call unlike,$(file <$1),$2),$(file >$1,$2))
noted     := $(sort $(VECTORS) $(MADE) $(CORPUS))
notes     := $(PARTS:%=$(VECTORS)/%/scoring) $(foreach folder,$(noted),$(PARTS:%=$(folder)/%/texts))
fresh     := $(filter-out $(wildcard $(notes)),$(notes))
# two processes for all of them: a benchmark has up to 1,500 parts
$(if $(fresh),$(shell mkdir -p $(VECTORS))$(file >$(VECTORS)/fresh,$(fresh))$(shell xargs dirname <$(VECTORS)/fresh | sort -u | xargs mkdir -p))
$(foreach part,$(PARTS),$(call note,$(VECTORS)/$(part)/scoring,$(call scoring_of,$(part))) \
	$(foreach folder,$(noted),$(call note,$(folder)/$(part)/texts,$(call texts_of,$(part)))))
$(if $(fresh),$(shell xargs touch -d @0 <$(VECTORS)/fresh; rm $(VECTORS)/fresh))

# a folder of RESULTS may have scores of the other protocol: they go
other_protocol = $(if $(filter v1,$(PROTOCOL)),v2,v1)
free_sets     := $(foreach set,$(SETS),$(if $($(firstword $($(set).reports)).protocol),,$(set)))
$(foreach set,$(free_sets),$(if $(findstring "protocol": "$(other_protocol)",$(file <$(SCORES)/$(set).json)),$(shell \
	rm -f $(SCORES)/$(set).json $($(set).reports:%=$(SCORES)/%.tsv))))

# Errors are printed, and logged for the list at the end.
mteb_part = $(firstword $(subst /, ,$*))
begin = $(call begun,$(mteb_part),$1)
begun = mkdir -p $(@D) $(SCORES) $(VECTORS)/$1; $(if $2,echo "$1: $2" >&2;) \
	exec 2> >(tee -a $(VECTORS)/$1/log >&2); tee=$$!; trap 'exec 2>&-; wait $$tee' EXIT
forget  = rm -f $(VECTORS)/$(mteb_part)/score-*.json $(SCORES)/$($(mteb_part).task).json $(SCORES)/$(mteb_part).tsv
fields  = fields=$$($X/leaderboard fields --type $1 $2)
tok     = $X/tok $(BAR) -m $(MODEL) $(TEMPLATE:%=--template %)
encode  = $X/encode $(BAR) -m $(MODEL) $(numbers) $(if $(COMBINE),--emit $(EMIT)) -o $@
# each field through its own gate; in one pass if the library is of an early layer
early  := $(if $(PILOTS),$(shell $X/mts head --json $(PILOTS) | jq -r '.properties.emb // empty'))
routed  = $(if $(early),$(encode) --gates $(GATES) --pilots $(PILOTS),$(in_two))
in_two  = $X/encode -m $(MODEL) $(numbers) --keep | $X/pilot-route $$(sed 's/=[^ ]*//g' <<<"$$fields") $(PILOTS) | \
	$(encode) --gates $(GATES)
queries = $(if $(GATES),$(routed),$(encode))
score   = $X/mteb-score $1 --protocol $(or $($*.protocol),$(PROTOCOL)) --json $(if $(PER_QUERY),$(if $($*.documents),,--per-query $(SCORES)/$*.tsv)) -o $@

mteb-scores: $(SETS:%=$(SCORES)/%.json)
	@:

HEAVY += $(patsubst %,%/%.mts,$(sort $(MADE) $(VECTORS) $(CORPUS))) $(VECTORS)/%/$(REPORT)

# clustering-fast has no scores per query
with_tsv = $(filter-out $(clustering-fast),$(PARTS))
scored   = $(notdir $(basename $(wildcard $(SCORES)/*.$1)))
reported = $(patsubst $(VECTORS)/%/$(REPORT),%,$(wildcard $(VECTORS)/*/$(REPORT)))
ifneq ($(PER_QUERY),)
.PHONY: $(patsubst %,$(VECTORS)/%/$(REPORT),$(filter-out $(call scored,tsv),$(with_tsv)))
endif

# Make takes a report that is missing for up to date if the result is newer than the data (.SECONDARY), so parts that a result lacks
# are named: a run scored fewer of them, or their older files came later.
parts_in = $(shell jq -r '.scores | to_entries[] | .key as $$split | .value[] | .hf_subset + "@" + $$split | \
	gsub("[\\x00-*,/:-?\\[-^`{-\\x7f]"; "_")' $(SCORES)/$1.json)
lacks    = $(foreach mteb_part,$1,$(if $(filter $($(mteb_part).part),$2),,$(mteb_part)))
LACKING := $(foreach set,$(filter $(call scored,json),$(SETS)),$(if $(filter-out $(reported),$($(set).reports)),\
	$(call lacks,$(filter-out $(reported),$($(set).reports)),$(call parts_in,$(set)))))
ifneq ($(strip $(LACKING)),)
.PHONY: $(patsubst %,$(VECTORS)/%/$(REPORT),$(LACKING))
endif

# Embeddings: each file is encoded once, each text with the prompt of its side.
.SECONDEXPANSION:
define embed
	@$(call begin,encode $(@F:.mts=)); $(forget); $(call fields,$($(mteb_part).type),$<); \
	$(tok) $($(mteb_part).query) $$fields $< | $(queries)
endef

$(MADE)/%/test.mts: $$($$*.test) $(MADE)/%/texts
	$(embed)

# of classification only the rows that it draws
$(MADE)/%/train.mts: $$($$*.train) $(MADE)/%/texts
	@$(call begin,encode train); $(forget); $(call fields,$($(mteb_part).type),$<); \
	$(if $(filter $*,$(classification)),$X/leaderboard drawn --samples $($*.samples) $($*.experiments) $< | \
		$(tok) $($*.query) $$fields --format jsonl -,$(tok) $($*.query) $$fields $<) | $(queries)

$(MADE)/%/lists.mts: $$($$*.test) $(MADE)/%/texts
	@$(call begin,encode); $(forget); $(call fields,Reranking,$<); \
	documents=$${fields#-f query}; fields="-f query"; \
	$(if $(GATES),$(tok) $($*.document) $$documents $< | $X/encode -m $(MODEL) | $(tok) $($*.query) $$fields -, \
		$(tok) $($*.query) $$fields $< | $(tok) $($*.document) $$documents -) | $(queries)

$(MADE)/%/queries.mts: $$($$*.queries) $$($$*.qrels) $(MADE)/%/texts
	@$(call begin,encode queries); $(forget); $(call fields,queries,$<); \
	$X/leaderboard judged $($*.qrels) $< | $(tok) $($*.query) $$fields --format jsonl - | $(queries)

$(if $(GATES),$(CORPUS),$(MADE))/%/corpus.mts: $$($$*.corpus) $(if $(GATES),$(CORPUS),$(MADE))/%/texts
	@$(call begin,encode corpus); $(forget); $(call fields,corpus,$<); \
	$(tok) $($*.document) $$fields $< | $(encode)

# Combines hidden states and routing weights into one embedding.  NORM standardises with the statistics of the
# documents, or of the test rows in classification, because most training rows have no text here.
ifneq ($(COMBINE),)
paired = $(filter $(mteb_part),$(sts) $(pairclassification) $(reranking))
weight = $(if $(filter sum,$(COMBINE)),$(addprefix --alpha ,$(if $(paired),$(ALPHA),$(ALPHA:auto%=1))))
like   = $(if $(filter corpus,$(NORM)),$(if $(filter queries,$(@F:.mts=)),$(MADE)/$(mteb_part)/corpus.mts,$(if $(filter \
	$(classification:%=%/train),$*),$(MADE)/$(mteb_part)/test.mts)))
no_rows = $(and $(filter batch=%,$(NORM)),$(filter $(mteb_part),$(classification)))
no_sum  = $(and $(filter apart,$(COMBINE)),$(filter-out $(classification) $(clustering),$(mteb_part)))
$(VECTORS)/%.mts: $(MADE)/%.mts $$(like)
	@$(call begin,combine $(@F:.mts=)); $(forget); \
	$(if $(no_rows),echo 'mteb: $(mteb_part): its batches would have rows without text; use NORM=corpus' >&2; exit 2;) \
	$(if $(no_sum),echo 'mteb: $(mteb_part): COMBINE=apart applies to classification and clustering' >&2; exit 2;) \
	$X/moee-sim --combine $(COMBINE) $(weight) $(NORM:%=--norm %$(addprefix =,$(like))) -o $@ $<
endif

# Scores: a report of each part, and the result of a set.
legacy = $(if $(filter apart,$(COMBINE)),--legacy-sum 1 -f text.hs -f text.rw)
# KIND, prerequisites, command
define score_rule
$($1:%=$(VECTORS)/%/$(REPORT)): $(VECTORS)/%/$(REPORT): $2 $(VECTORS)/%/scoring
	@$$(call begin,score); rm -f $(SCORES)/$$*.tsv; $3
endef
# name the two fields, so that pairs are compared by their vectors, not by moee-sim's column "similarity"
pair = $(if $(COMBINE),fields=$$($X/leaderboard fields --type $($*.type) $($*.test)); pair=$$(sed 's/=[^ ]*//g' <<<"$$fields");)
# options of clustering-fast
sampling = --max-documents $($*.documents) $($*.samples:%=--samples %) $($*.experiments)
trained = $($*.samples:%=--samples %) $($*.experiments) --train
test = $(VECTORS)/%/test.mts
streams = $(filter %.mts,$^)
$(eval $(call score_rule,classification,$(VECTORS)/%/train.mts $(test),$$(call score,classification) $$(legacy) $$(trained) $$(streams)))
$(eval $(call score_rule,multilabelclassification,$(VECTORS)/%/train.mts $(test),$$(call score,multilabelclassification) $$($$*.earlier) $$(trained) $$(streams)))
$(eval $(call score_rule,regression,$(VECTORS)/%/train.mts $(test),$$(call score,regression) $$(trained) $$(streams)))
$(eval $(call score_rule,retrieval,$(VECTORS)/%/queries.mts $(CORPUS)/%/corpus.mts $$$$($$$$*.changed) $$$$($$$$*.top_ranked),$$(call score,retrieval) $$($$*.identical) \
	$$($$*.at) $$($$*.groups) $$($$*.changed:%=--changed %) $$($$*.top_ranked:%=--candidates %) --qrels $$($$*.qrels) $$(streams)))
$(eval $(call score_rule,reranking,$(VECTORS)/%/lists.mts,$$(call score,reranking) $$(if $$(filter v2,$(PROTOCOL)),$$($$*.at)) $$<))
$(foreach kind,bitextmining pairclassification sts,$(eval $(call score_rule,$(kind),$(test),$$(pair) $$(call score,$(kind)) \
	$$(if $$(COMBINE),$$$$pair) $$<)))
$(eval $(call score_rule,clustering,$(test),$$(call score,clustering) $$(legacy) $$<))
$(eval $(call score_rule,clustering-fast,$(test),$$(call score,clustering-fast) $$(sampling) $$<))
$(eval $(call score_rule,summarization,$(test),$$(call score,summarization) $$<))

# a result keeps the parts of its set that an earlier run scored and this one does not choose
all_reports = $($*.reports) $(filter-out $($*.reports),$(patsubst $(VECTORS)/%/$(REPORT),%,$(wildcard $(VECTORS)/$*@*/$(REPORT))))
$(SETS:%=$(SCORES)/%.json): $(SCORES)/%.json: $$(foreach mteb_part,$$($$*.reports),$(VECTORS)/$$(mteb_part)/$(REPORT))
	@$(call begun,$(firstword $($*.reports))); $X/leaderboard result $(REGISTRY) --type $($(firstword $($*.reports)).type) \
		--dataset $* -o $@ $(foreach mteb_part,$(all_reports),$(or $($(mteb_part).part),$(patsubst $*@%,%,$(mteb_part)))=$(VECTORS)/$(mteb_part)/$(REPORT))

# The table of all models; the sets that failed.
# of sets without a result the parts without a report, or else the first
MISSING = $(sort $(foreach set,$(filter-out $(call scored,json),$(SETS)),\
	$(or $(filter-out $(reported),$($(set).reports)),$(firstword $($(set).reports)))) \
	$(if $(PER_QUERY),$(filter-out $(call scored,tsv),$(with_tsv)))) $(faulty)
FOLDERS = $(sort $(foreach file,$(filter-out %/model_meta.json,$(wildcard $(RESULTS)/*/*/*.json)),\
	$(patsubst %/,%,$(dir $(file)))))

# the last error in a log, except that of a program whose input failed; make itself refuses a set before it has a log
why = cat $1 2>/dev/null | awk '{ sub(/.*\r/, "") } /: warning: / || why && /did the program before it fail/ { next } \
	/^[a-z-]*: / { why = $$0 } END { print why ? why : "the messages above say why" }'

mteb-table: mteb-done
	@$(foreach set,$(MISSING),echo "$(set): FAILED: "$(or $($(set).fault),"$$($(call why,$(VECTORS)/$(set)/log))") >&2;) \
	[ -z "$(strip $(MISSING))" ]

mteb-done:
	@mkdir -p $(SCORES)
	@$X/leaderboard model -m $(MODEL) --name $(name) $(AS) -o $(SCORES)/model_meta.json
	@[ -z "$(FOLDERS)" ] || for format in tsv html markdown; do \
		$X/leaderboard table $(REGISTRY) $(CHOSEN) --format $$format \
			-o $(RESULTS)/table.$${format/markdown/md} $(FOLDERS); done
	@[ -z "$(FOLDERS)" ] || cat $(RESULTS)/table.md

.PHONY: mteb-scores mteb-table mteb-done
endif
.PHONY: mteb mteb-list
