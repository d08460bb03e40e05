# mteb.mk - how good is a model?  MTEB's scores of the data sets in a folder, as a leaderboard
#	make mteb MODEL=dir DATA=dir [TASKS="STS12 retrieval beir"] [PROTOCOL=v1] [NAME=org/name] [PER_QUERY=1]
#		[GATES=dir PILOTS=file] [TEMPLATE=name] [WEIGHTS=int8] [PRECISION=int8] [COMBINE=sum [ALPHA=auto] [NORM=corpus] [EMIT=hs,rw]]
#		[RUN='srun -c 8']
# Writes results/MODEL/REVISION/TASK.json, in the mteb package's format, and the leaderboard of all models in
# results/table.md, .tsv and .html.  Finished work is not repeated; if a set fails, the others go on, and its fault
# is printed at the end.  motes(7) describes the layout of DATA.
# PER_QUERY=1: also writes TASK.tsv, the scores of each query, for leaderboard compare --from-per-query.  Results
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
# make's time stamps decide what is redone.  Encoding a set anew removes its result first, so that a failure cannot
# leave an old score.  A set of another size than mteb's gets a star in the table.
MODEL    ?= $(SHARE)/models/base
DATA     ?= data
TASKS    ?=
PROTOCOL ?= v1
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
RESULTS  ?= results$(patsubst %,-%,$(filter-out v1,$(PROTOCOL)))
MTEB     := $(OUT)/mteb
WAYS     := hs rw concat sum apart
REGISTRY := $(patsubst %,--registry %,$(SHARE)/tasks.yaml $(wildcard $(DATA)/tasks.yaml)) --protocol $(PROTOCOL)
PLAN     := $(MTEB)/plan.mk
as_name   = $(subst =,-,$(subst :,-,$1))
bits      = $(WEIGHTS) $(PRECISION:%=precision-%)
numbers   = $(WEIGHTS:%=--weights %) $(PRECISION:%=--precision %)
EMITTED  := $(or $(TEMPLATE),plain)-$(call as_name,$(EMIT))$(subst $() ,,$(addprefix -,$(bits)))
combined  = $(if $(COMBINE),$(COMBINE)$(ALPHA:%=$(,)alpha-%)$(NORM:%=$(,)norm-%)$(if $(filter-out hs$(,)rw,$(EMIT)),$(,)$(EMIT)))
WAY      := $(call as_name,$(subst $() ,+,$(strip $(TEMPLATE) $(combined) $(bits))))
AS       := $(GATES:%=--gates %) $(PILOTS:%=--pilots %) $(WAY:%=--way %)

## mteb      score MODEL=dir on the data sets of DATA=dir, a table of all models (TASKS=, PROTOCOL=, PER_QUERY=1, GATES= PILOTS=, COMBINE=)
mteb: | $X/leaderboard $X/tok $X/encode $X/pilot-route $X/moee-sim $X/mteb-score $X/mts
	@mkdir -p $(MTEB)
	@$(if $(GATES),,$(if $(PILOTS),echo 'mteb: PILOTS without GATES; add GATES=dir: the adapters to choose from' >&2; exit 2))
	@$(if $(PILOTS),,$(if $(GATES),echo 'mteb: GATES without PILOTS; add PILOTS=file: the library that chooses' >&2; exit 2))
	@$(if $(and $(GATES),$(COMBINE)),echo 'mteb: COMBINE and GATES exclude each other' >&2; exit 2)
	@$(if $(filter sum,$(COMBINE)),,$(if $(ALPHA),echo 'mteb: ALPHA needs COMBINE=sum' >&2; exit 2))
	@$(if $(filter-out $(WAYS),$(COMBINE)),echo "mteb: there is no COMBINE='$(COMBINE)'; it is one of $(WAYS)" >&2; exit 2)
	@$(if $(COMBINE),,$(if $(NORM),echo 'mteb: NORM needs COMBINE' >&2; exit 2))
	@$X/leaderboard plan -m '$(MODEL)' $(REGISTRY) $(NAME:%=--name %) $(AS) -o $(PLAN) \
		$(DATA) $(TASKS)
	@$(MAKE) -k --no-print-directory mteb-scores MTEB_PLAN=$(PLAN) || true
	@$(MAKE) --no-print-directory mteb-table MTEB_PLAN=$(PLAN)

ifdef MTEB_PLAN
-include $(MTEB_PLAN)
# folders: embeddings of this model; of the model without gates and method; of documents
VECTORS := $(MTEB)/$(subst /,__,$(name))/$(revision)
OWN     := $(MTEB)/$(subst /,__,$(or $(base),$(name)))/$(or $(base_revision),$(revision))
CORPUS  := $(if $(GATES),$(OWN)$(TEMPLATE:%=/%)$(subst $() ,,$(addprefix /,$(bits))),$(VECTORS))
# embeddings before moee-sim combines them
MADE    := $(if $(COMBINE),$(OWN)/$(EMITTED),$(VECTORS))
SCORES  := $(RESULTS)/$(subst /,__,$(name))/$(revision)
SETS    := $(classification) $(clustering) $(clustering-fast) $(pairclassification) $(reranking) $(retrieval) \
           $(sts) $(summarization)
BAR     := $(shell [ -t 2 ] && echo --progress)

# Errors are printed, and logged for the list at the end.
task  = $(firstword $(subst /, ,$*))
begin = mkdir -p $(@D) $(VECTORS)/$(task); echo "$(task): $1" >&2; \
	exec 2> >(tee -a $(VECTORS)/$(task)/log >&2); tee=$$!; trap 'exec 2>&-; wait $$tee' EXIT
forget  = rm -f $(SCORES)/$(task).json $(SCORES)/$(task).tsv
fields  = fields=$$($X/leaderboard fields --type $1 $2)
tok     = $X/tok $(BAR) -m $(MODEL) $(TEMPLATE:%=--template %)
encode  = $X/encode $(BAR) -m $(MODEL) $(numbers) $(if $(COMBINE),--emit $(EMIT)) -o $@
# each field through its own gate; in one pass if the library is of an early layer
early  := $(if $(PILOTS),$(shell $X/mts head --json $(PILOTS) | jq -r '.properties.emb // empty'))
routed  = $(if $(early),$(encode) --gates $(GATES) --pilots $(PILOTS),$(in_two))
in_two  = $X/encode -m $(MODEL) $(numbers) --keep | $X/pilot-route $$(sed 's/=[^ ]*//g' <<<"$$fields") $(PILOTS) | \
	$(encode) --gates $(GATES)
queries = $(if $(GATES),$(routed),$(encode))
score   = $X/mteb-score $1 --protocol $(or $($*.protocol),$(PROTOCOL)) --json $(if $(PER_QUERY),$(if $($*.documents),,--per-query $(@:.json=.tsv)))
result  = $X/leaderboard result $(REGISTRY) --type $($(task).type) --dataset $(task) -o $@

mteb-scores: $(SETS:%=$(SCORES)/%.json)

$(patsubst %,%/%.mts,$(sort $(MADE) $(VECTORS) $(CORPUS))) $(SCORES)/%.json: private SHELL := $(HEAVY)

# clustering-fast has no scores per query
with_json = $(SETS)
with_tsv  = $(filter-out $(clustering-fast),$(SETS))
scored = $(notdir $(basename $(wildcard $(SCORES)/*.$1)))
ifneq ($(PER_QUERY),)
.PHONY: $(patsubst %,$(SCORES)/%.json,$(filter-out $(call scored,tsv),$(with_tsv)))
endif

# Embeddings: each file is encoded once, each text with the prompt of its side.
.SECONDEXPANSION:
define embed
	@$(call begin,encode $(@F:.mts=)); $(forget); $(call fields,$($(task).type),$<); \
	$(tok) $($(task).query) $$fields $< | $(queries)
endef

$(MADE)/%/test.mts: $$($$*.test)
	$(embed)

$(MADE)/%/train.mts: $$($$*.train)
	@$(call begin,encode train); $(forget); $(call fields,Classification,$<); \
	$X/leaderboard drawn --samples $($*.samples) $< | \
		$(tok) $($*.query) $$fields --format jsonl - | $(queries)

$(MADE)/%/lists.mts: $$($$*.test)
	@$(call begin,encode); $(forget); $(call fields,Reranking,$<); \
	documents=$${fields#-f query}; fields="-f query"; \
	$(if $(GATES),$(tok) $($*.document) $$documents $< | $X/encode -m $(MODEL) | $(tok) $($*.query) $$fields -, \
		$(tok) $($*.query) $$fields $< | $(tok) $($*.document) $$documents -) | $(queries)

$(MADE)/%/queries.mts: $$($$*.queries) $$($$*.qrels)
	@$(call begin,encode queries); $(forget); $(call fields,queries,$<); \
	$X/leaderboard judged $($*.qrels) $< | $(tok) $($*.query) $$fields --format jsonl - | $(queries)

$(if $(GATES),$(CORPUS),$(MADE))/%/corpus.mts: $$($$*.corpus)
	@$(call begin,encode corpus); $(forget); $(call fields,corpus,$<); \
	$(tok) $($*.document) $$fields $< | $(encode)

# Combines hidden states and routing weights into one embedding.  NORM standardises with the statistics of the
# documents, or of the test rows in classification, because most training rows have no text here.
ifneq ($(COMBINE),)
paired = $(filter $(task),$(sts) $(pairclassification) $(reranking))
weight = $(if $(filter sum,$(COMBINE)),$(addprefix --alpha ,$(if $(paired),$(ALPHA),$(ALPHA:auto%=1))))
like   = $(if $(filter corpus,$(NORM)),$(if $(filter queries,$(@F:.mts=)),$(MADE)/$(task)/corpus.mts,$(if $(filter \
	$(classification:%=%/train),$*),$(MADE)/$(task)/test.mts)))
no_rows = $(and $(filter batch=%,$(NORM)),$(filter $(task),$(classification)))
no_sum  = $(and $(filter apart,$(COMBINE)),$(filter-out $(classification) $(clustering),$(task)))
$(VECTORS)/%.mts: $(MADE)/%.mts $$(like)
	@$(call begin,combine $(@F:.mts=)); $(forget); \
	$(if $(no_rows),echo 'mteb: $(task): its batches would have rows without text; use NORM=corpus' >&2; exit 2;) \
	$(if $(no_sum),echo 'mteb: $(task): COMBINE=apart applies to classification and clustering' >&2; exit 2;) \
	$X/moee-sim --combine $(COMBINE) $(weight) $(NORM:%=--norm %$(addprefix =,$(like))) -o $@ $<
endif

# Scores.
legacy = $(if $(filter apart,$(COMBINE)),--legacy-sum 1 -f text.hs -f text.rw)
$(classification:%=$(SCORES)/%.json): $(SCORES)/%.json: $(VECTORS)/%/train.mts $(VECTORS)/%/test.mts
	@$(call begin,score); $(call score,classification) $(legacy) --samples $($*.samples) --train $^ | $(result)

$(retrieval:%=$(SCORES)/%.json): $(SCORES)/%.json: $(VECTORS)/%/queries.mts $(CORPUS)/%/corpus.mts
	@$(call begin,score); $(call score,retrieval) $($*.identical) $($*.top_ranked:%=--candidates %) --qrels $($*.qrels) $^ | $(result)

$(reranking:%=$(SCORES)/%.json): $(SCORES)/%.json: $(VECTORS)/%/lists.mts
	@$(call begin,score); $(call score,reranking) $< | $(result)

# name the two fields, so that pairs are compared by their vectors, not by moee-sim's column "similarity"
pair = $(if $(COMBINE),$(if $(filter sts pairclassification,$1),$(call fields,$($*.type),$($*.test)); pair=$$(sed 's/=[^ ]*//g' <<<"$$fields"); ))
# options of clustering-fast
sampling = --max-documents $($*.documents) $($*.samples:%=--samples %)
define score_rule
$($1:%=$(SCORES)/%.json): $(SCORES)/%.json: $(VECTORS)/%/test.mts
	@$$(call begin,score); $$(call pair,$1)$$(call score,$1) $$(if $$($$*.documents),$$(sampling),$$(legacy)) $$(if $$(call pair,$1),$$$$pair) $$< | $$(result)
endef
$(foreach type,clustering clustering-fast pairclassification sts summarization,$(eval $(call score_rule,$(type))))

# The table of all models; the sets that failed.
MISSING = $(sort $(foreach kind,json $(if $(PER_QUERY),tsv),$(filter-out $(call scored,$(kind)),$(with_$(kind))))) $(faulty)
FOLDERS = $(sort $(foreach file,$(filter-out %/model_meta.json,$(wildcard $(RESULTS)/*/*/*.json)),\
	$(patsubst %/,%,$(dir $(file)))))

# the last error in a log, except that of a program whose input failed
why = awk '{ sub(/.*\r/, "") } /: warning: / || why && /did the program before it fail/ { next } \
	/^[a-z-]*: / { why = $$0 } END { print why }'

mteb-table: mteb-done
	@$(foreach set,$(MISSING),echo "$(set): FAILED: $(or $($(set).fault),$$($(why) $(VECTORS)/$(set)/log))" >&2;) \
	[ -z "$(strip $(MISSING))" ]

mteb-done:
	@mkdir -p $(SCORES)
	@$X/leaderboard model -m $(MODEL) --name $(name) $(AS) -o $(SCORES)/model_meta.json
	@[ -z "$(FOLDERS)" ] || for format in tsv html markdown; do \
		$X/leaderboard table $(REGISTRY) --format $$format \
			-o $(RESULTS)/table.$${format/markdown/md} $(FOLDERS); done
	@[ -z "$(FOLDERS)" ] || cat $(RESULTS)/table.md

.PHONY: mteb-scores mteb-table mteb-done
endif
.PHONY: mteb
