# mote.mk - Mixture of Task Experts (Romero et al. 2025): its Tables 2 to 7, Figures 1 and 3 to 7
#	make mote [DATA=dir] [SEEDS="1 2 3"] [START=model] [STEPS=64]
#	make mote SIZE=paper START=nomic-bert-2048 TRAIN=dir DATA=dir [PRECISION=bf16] [JOBS=8 RUN=share/cluster/one-device] [RANKS=8]
#		[TRAIN_OPTIONS=...] [STEPS=] [BATCH=]
# small: trains share/models/mlm for a minute on two dictionaries and on the real sets in DATA
# (share/recipes/mote-small.yaml).  paper: the paper's mixture, batch and rate (share/recipes/mote-paper.yaml) on the files
# in TRAIN, which are unpacked to OUT/mote/files, scored on MTEB in DATA.  RANKS: train of make MPI=1 by so many processes, which
# MPIRUN starts.  README.md beside this file estimates hours and disk.
# An arm is a start, batches and options.  It is trained at a rate with a seed, and scored as make mteb does.  Rates are in
# share/recipes/mote-rates.tsv, by START, which make mote-rates chooses on the development split, from one list for each arm;
# another START has mlm's until then, with a notice.  LR=X trains all arms at X.
MOTE    := $(OUT)/mote
TRAIN   ?= $(MOTE)/data
LRS     ?= 5e-4 1e-3 2e-3
RATES   := $(SHARE)/recipes/mote-rates.tsv
MOTE_START := $(notdir $(patsubst %/,%,$(START)))
M       := $(MOTE)/$(SIZE)/$(MOTE_START)
REAL    := $(call small,$(if $(wildcard $(DATA)/retrieval/fin10k_qa),$(abspath $(DATA))))
STEPS_  := $(call small,--steps $(call given,STEPS,64),$(patsubst %,--steps %,$(call given,STEPS)))
LEARN   := $(strip $(patsubst %,--precision %,$(filter bf16,$(PRECISION))) $(TRAIN_OPTIONS))
MIXED   := $(strip -C $(call small,$(TRAIN),$(MOTE)/files --index $(MOTE)/index) $(patsubst %,-b %,$(call given,BATCH)))
# each rank is a pipe of its own
RANKS   ?=
MPIRUN  ?= mpirun -n $(RANKS)
RANK    := $(if $(RANKS),--rank $${OMPI_COMM_WORLD_RANK:-$${PMIX_RANK:-$$SLURM_PROCID}} --ranks $(RANKS))
TRAINER := $(if $(RANKS),$(if $(INSTALLED),$X,$B/mpi/bin),$X)/train
S       := $M/$(SPLIT)

# arm NAME, START, PROMPTS (instructed or plain), options of tasksample, of train
define arm
ARMS += $1
$1.start := $2
$1.mix   := $M/$3.yaml $4
$1.train := $5
$1.rate  := $(call chosen,$1)
endef
chosen   = $(call given,LR,$(call small,$(or $(call column_of,$(RATES),$(MOTE_START)|$1,3),$(call column_of,$(RATES),mlm|$1,3)),5e-6))
# not empty: the arms of START are trained at the rates of another model, and not to choose rates
borrowed = $(call small,$(if $(call given,LR)$(filter dev,$(SPLIT))$(filter $(MOTE_START)|%,$(subst $(tab),|,$(file <$(RATES)))),,$(MOTE_START)))
# EM, IC, MoTE; a model for each task (SEM); random routing, the control for capacity; experts in every other block; token
# experts (TLR) with and without renormalised weights; static batches (Table 4)
$(eval $(call arm,em,plain,plain))
$(eval $(call arm,ic,instructed,instructed))
$(eval $(call arm,mote,mote,instructed))
$(eval $(call arm,random,random,instructed))
$(eval $(call arm,eob,eob,instructed))
$(eval $(call arm,tlr,tlr,instructed))
$(eval $(call arm,tlr-raw,tlr-raw,instructed))
$(eval $(call arm,static,mote,instructed,--batching static))
# the paper's open question (section 8): one expert for both sides of retrieval; for clustering and documents
$(eval $(call arm,shared,shared,instructed))
$(eval $(call arm,joined,joined,instructed))
# control for the rows of shared's experts: as many experts, and chance chooses one for each batch, so that no expert belongs to a
# task, and query, document and negatives have one expert as in shared.  (Drawn pair by pair, the expert itself would tell a query
# which documents are not its own.)  The first expert embeds all texts to score.
$(eval $(call arm,chance,chance,chance))
# rates that rise for a fifth of the batches, not a twentieth
$(eval $(call arm,warmup,mote,instructed,,--warmup 0.2))
SEMS := retrieval classification clustering
$(foreach task,$(SEMS),$(eval $(call arm,sem-$(task),plain,plain,--task $(task))))
# appendix A: the model without instructions, one setting for all tasks
$(eval $(call arm,homogeneous,plain,plain,--batching homogeneous,--temperature 0.03))
$(eval $(call arm,heterogeneous,plain,plain,--batching heterogeneous,--temperature 0.03))
$(eval $(call arm,warm,plain,plain,--batching heterogeneous,--temperature 0.06))
# appendix B: means of trained experts
warmup.rate        := $(mote.rate)
shared.rate        := $(mote.rate)
chance.rate        := $(mote.rate)
joined.rate        := $(mote.rate)
homogeneous.rate   := $(em.rate)
heterogeneous.rate := $(em.rate)
warm.rate          := $(em.rate)
ea.rate     := $(mote.rate)
ea-eob.rate := $(eob.rate)
sem.rate    := $(call chosen,sem)

# a run is ARM/RATE/SEED
arm_of  = $(word 1,$(subst /, ,$*))
rate_of = $(word 2,$(subst /, ,$*))
seed_of = $(word 3,$(subst /, ,$*))

# Recipes.  Without DATA the lines of real sets are removed; plain has no instructions.
$M/instructed.yaml: $(SHARE)/recipes/mote-$(SIZE).yaml $(call small,$(MOTE)/data/links)
	mkdir -p $(@D)
	$(call small,$(if $(REAL),cat,grep -v real/),sed 's/[.]jsonl[.]gz/.jsonl/g') $< > $@

$M/plain.yaml: $M/instructed.yaml
	sed '/^ *prompts:/d' $< > $@

by_chance = sed 's/^ *experts:.*/    experts: [one, two, three]/' $< > $@
$M/chance.yaml: $M/instructed.yaml
	$(by_chance)

# The paper's files unpacked, and their index, made before runs side by side would each make it.
$(MOTE)/files/%.jsonl: $(TRAIN)/%.jsonl.gz
	mkdir -p $(@D)
	gzip -dc $< > $@

$(MOTE)/files/%.jsonl: $(TRAIN)/%.jsonl
	mkdir -p $(@D)
	ln -sfn $(abspath $<) $@

$(MOTE)/files/%.jsonl:
	@echo 'mote: there is no $*.jsonl.gz in TRAIN=$(TRAIN); share/recipes/mote-paper.yaml says where the files are' >&2; false

$(MOTE)/index/made: $M/instructed.yaml $(if $(call small,,paper),$(patsubst %.gz,$(MOTE)/files/%,$(shell grep -o '[^ ,[]*[.]jsonl[.]gz' \
		$(SHARE)/recipes/mote-paper.yaml))) | $X/tasksample
	$X/tasksample -q $(MIXED) --plan --steps 0 $< > $(@D).tsv
	mv $(@D).tsv $@

# settings, each newer than the files that depend on it once it has changed: the real sets; the start; the batches; the scored sets
$(MOTE)/data/from: always
	@$(call says,$(REAL))

$M/from: always
	@$(call says,$(abspath $(START))$(call small,,$(,) $(abspath $(TRAIN))))
	@$(if $(borrowed),echo "mote: $(RATES) has no rates of $(MOTE_START): it is trained at those of mlm; make mote-rates START=$(START) finds its own$(,) LR=X sets one" >&2)

$M/steps: always
	@$(call says,$(strip $(STEPS_) $(patsubst %,-b %,$(call given,BATCH)) $(LEARN)))

$S/scored: always
	@$(call says,$(strip $(TYPES)$(call small,,$(,) $(abspath $(DATA)))))

$(MOTE)/data/links: $(TEXT)/corpus.txt $(MOTE)/data/from
	ln -sfn $(abspath $(TEXT)) $(@D)/text
	$(if $(REAL),ln -sfn $(REAL) $(@D)/real,rm -f $(@D)/real)
	touch $@

# The initial models of the arms.
EXPERTS   := classification clustering search_query search_document
join      := $(subst $() ,$(,),$(EXPERTS))
QUESTIONS := --prompt "search_query=search query: " --prompt "search_document=search document: "
INSTRUCTED := $(QUESTIONS) --prompt "classification=classification: " --prompt "clustering=clustering: "
mote.upcycle   = --experts $(join) $(QUESTIONS)
eob.upcycle    = $(mote.upcycle) --every 2
random.upcycle = $(mote.upcycle) $(EXPERTS:%=--task %=\*)
shared.upcycle = --experts classification,clustering,search_document $(QUESTIONS) --task search_query=search_document
joined.upcycle = --experts classification,search_query,search_document $(INSTRUCTED) --task clustering=search_document
chance.upcycle = --experts one,two,three $(INSTRUCTED) $(EXPERTS:%=--task %=one)
tlr.upcycle    = --token-experts 4
tlr-raw.upcycle = $(tlr.upcycle) --no-renormalize
$M/start/plain/config.json: private how = cp -rL $(START) $(@D)
$M/start/instructed/config.json $M/start/tlr/config.json $M/start/tlr-raw/config.json: $M/start/mote/config.json
$M/start/instructed/config.json: private how = cp -rL $(START) $(@D) && $(take_prompts)
$M/start/tlr/config.json $M/start/tlr-raw/config.json: private how = $(upcycle) && $(take_prompts)
upcycle      = $X/upcycle -q -m $(START) $($*.upcycle) -o $(@D)
take_prompts = cp $M/start/mote/config_sentence_transformers.json $(@D)
how          = $(upcycle)

$M/start/%/config.json: $(START)/config.json $M/from | $X/upcycle
	mkdir -p $(dir $(@D))
	rm -rf $(@D)
	$(how)

# Training.  A model for one task has as many batches of it as the mix.
HEAVY += $M/models/%/config.json

$M/models/ea/%/config.json: $M/models/mote/%/config.json | $X/upcycle
	mkdir -p $(dir $(@D)); \
	$X/upcycle -q --average -m $(<D) -o $(@D)

$M/models/ea-eob/%/config.json: $M/models/eob/%/config.json | $X/upcycle
	mkdir -p $(dir $(@D)); \
	$X/upcycle -q --average -m $(<D) -o $(@D)

.SECONDEXPANSION:
$M/models/%/config.json: $M/start/$$($$(arm_of).start)/config.json $$(firstword $$($$(arm_of).mix)) $M/plain.yaml $M/steps \
		| $X/tasksample $X/tok $(TRAINER) $(call small,,$(MOTE)/index/made)
	echo "train $*" >&2; mkdir -p $(dir $(@D)); $(anew); \
	steps="$(STEPS_)"; case $(arm_of) in sem-*) steps="--steps $$($X/tasksample -q $(MIXED) --plan $(STEPS_) \
		--seed $(seed_of) $M/plain.yaml | awk -F'\t' '$$3 == "$(arm_of:sem-%=%)" { n++ } END { print n + !n }')";; esac; \
	$(if $(RANKS),export steps; $(MPIRUN) bash -o pipefail -c ')$X/tasksample -q $(MIXED) $(RANK) --seed $(seed_of) $$steps $($(arm_of).mix) | \
		$X/tok -q -m $(<D) --max-length $(call small,64,256) | \
		$(TRAINER) -q -m $(<D) --lr $(rate_of) --decay 0.1 --seed $(seed_of) $(strip $($(arm_of).train) $(LEARN)) -o $(@D)$(if $(RANKS),')

# Scores of make mteb, and of each query.
SEEN   := Retrieval Classification Clustering
UNSEEN := Reranking PairClassification STS Summarization
TYPES  ?= $(SEEN) $(if $(call small,$(REAL),all),$(UNSEEN))
MOTE_DATA := $(call small,$(MOTE)/data/$(SPLIT),$(DATA))
sem     = $(if $(filter $2,$(TYPES)),$(call mteb_of,$M/models/sem-$1/$(rate_of)/$(seed_of),sem,$(filter $2,$(TYPES)),$(MOTE_DATA));)

models  = $(addsuffix /config.json,$(if $(filter sem,$(arm_of)),\
	$(SEMS:%=$M/models/sem-%/$(rate_of)/$(seed_of)),$M/models/$*))

$S/%/scores.tsv: $$(models) $(call small,$(MOTE)/data/$(SPLIT)/made) $S/scored | $X/mteb-score
	@echo "score $*" >&2
	mkdir -p $(@D)
	$(if $(filter sem,$(arm_of)),\
		$(call sem,retrieval,Retrieval Reranking) $(call sem,clustering,Clustering) \
		$(call sem,classification,Classification PairClassification STS Summarization),\
		$(call mteb_of,$M/models/$*,$(subst /,-,$*),$(TYPES),$(MOTE_DATA)))
	$(main_scores) > $@
	rm -rf $(@D)/work

# The sets in MTEB's layout.  Classifiers are fitted on rows that no model was trained on.
D := $(MOTE)/data
held = $X/mts rows -q --where dataset=$1 $D/held.mts | \
	$X/mts cat -q -c query,document --rename query=text --rename document=label | $X/mts to jsonl
parts = awk -v sets=$1 '{ sub(/}$$/, ", \"set\": \"" NR % sets "\"}"); print }'
real = $(REAL)/$1/$2.jsonl.zst

$D/held.mts: $(SHARE)/recipes/mote-held.yaml $D/links | $X/tasksample
	$X/tasksample -q -C $D --all $< > $@

$D/%/made: $D/links $(if $(REAL),$D/held.mts) | $X/mts
	rm -rf $(@D)
	mkdir -p $(addprefix $(@D)/,retrieval/dictionary/qrels classification/lexicographer clustering/topics)
	ln -s $(abspath $(TEXT))/$*/queries.jsonl $(abspath $(TEXT))/$*/corpus.jsonl $(@D)/retrieval/dictionary
	ln -s $(abspath $(TEXT))/$*/qrels.tsv $(@D)/retrieval/dictionary/qrels/test.tsv
	ln -s $(abspath $(TEXT))/$*/classification.jsonl $(@D)/classification/lexicographer/test.jsonl
	ln -s $(abspath $(TEXT))/$(if $(filter test,$*),dev,test)/classification.jsonl $(@D)/classification/lexicographer/train.jsonl
	$(call parts,4) $(TEXT)/$*/clustering.jsonl > $(@D)/clustering/topics/test.jsonl
	$(if $(REAL),$(real_sets))
	touch $@

define real_sets
mkdir -p $(addprefix $(@D)/,retrieval/fin10k_qa/qrels classification/banking77 classification/emotion \
		clustering/twentynewsgroups_subjects reranking/wikiqa pairclassification/mrpc sts/stsbenchmark summarization/summeval)
	ln -s $(REAL)/retrieval/fin10k_qa/*.zst $(@D)/retrieval/fin10k_qa
	for set in banking77 emotion; do $(call held,$$set-fit) > $(@D)/classification/$$set/train.jsonl; done
	for set in classification/emotion reranking/wikiqa pairclassification/mrpc sts/stsbenchmark; do \
		ln -s $(REAL)/$$set/$*.jsonl.zst $(@D)/$$set/test.jsonl.zst; done
	$(real_$*)
endef

define real_test
ln -s $(REAL)/retrieval/fin10k_qa/qrels/test.tsv $(@D)/retrieval/fin10k_qa/qrels
	ln -s $(REAL)/classification/banking77/test.jsonl.zst $(@D)/classification/banking77
	ln -s $(REAL)/summarization/summeval/test.jsonl.zst $(@D)/summarization/summeval
	zstd -dc <$(REAL)/clustering/twentynewsgroups_subjects/test.jsonl.zst | $(call parts,10) \
		> $(@D)/clustering/twentynewsgroups_subjects/test.jsonl
endef

# only documents with a judgement in the split
define real_dev
rmdir $(@D)/summarization/summeval $(@D)/summarization
	$(call held,fin10k-dev) | jq -r '[.text] | @tsv' | awk -F'\t' '$(judgements)' - \
		<(zstd -dc <$(REAL)/retrieval/fin10k_qa/queries.jsonl.zst | jq -r '[._id, .text] | @tsv') \
		$(REAL)/retrieval/fin10k_qa/qrels/train.tsv > $(@D)/retrieval/fin10k_qa/qrels/test.tsv
	rm $(@D)/retrieval/fin10k_qa/corpus.jsonl.zst
	zstd -dc <$(REAL)/retrieval/fin10k_qa/corpus.jsonl.zst | awk -F'"' '$(judged)' $(@D)/retrieval/fin10k_qa/qrels/test.tsv - \
		> $(@D)/retrieval/fin10k_qa/corpus.jsonl
	$(call held,banking77-dev) > $(@D)/classification/banking77/test.jsonl
	$(call held,newsgroups-dev) | $(call parts,4) > $(@D)/clustering/twentynewsgroups_subjects/test.jsonl
endef
judgements = FILENAME == "-" { held[$$0] } FILENAME ~ /^.dev/ && $$2 in held { id[$$1] } FILENAME ~ /qrels/ && (FNR == 1 || $$1 in id)
judged     = FILENAME != "-" { split($$0, field, "\t"); judged[field[2]]; next } $$4 in judged

# The tables: compare/BASE/ARM.tsv has seed, type, set, both scores, difference, standard error.
T := $S/$(call given,LR,chosen)
base_of = $(word 1,$(subst /, ,$*))
with    = $(word 2,$(subst /, ,$*))
seeds   = $(SEEDS:%=$S/$1/$($1.rate)/%/scores.tsv)
folder  = $S/$1/$($1.rate)/$$seed

$T/compare/%.tsv: $$(call seeds,$$(base_of)) $$(call seeds,$$(with)) $T/seeds | $X/leaderboard
	mkdir -p $(@D)
	for seed in $(SEEDS); do $(call compared,$$seed,$(call folder,$(base_of)),$(call folder,$(with))); done > $@

# the seeds and columns of comparisons and tables; newer than these if they changed
$T/seeds: always
	@$(call says,$(SEEDS))

$T/columns/%: always
	@$(call says,$(mote.$*.columns))

# table NAME, TYPES, BASE/ARM of each column
define table
mote.$1.columns := $2: $3
$T/$1.tsv: $(PIPELINES)/cells.awk $(3:%=$T/compare/%.tsv) $T/columns/$1
	awk -v types="$2" -f $$(filter-out $T/columns/$1,$$^) > $$@

$T/$1.svg: $(PIPELINES)/bars.gnuplot $T/$1.tsv
	gnuplot -e "cells='$T/$1.tsv'" $$< > $$@

mote-$1: $T/$1.md $T/$1.svg
	@cat $$<
MOTE_ALL += $1
endef
MOTE_ALL := figure1 figure3

$T/%.md: $(TABLE_FILES) $T/%.tsv
	$(call table_of,mote,$*)

# the models with fewer experts, and their control, are beside MoTE in each table
MAIN := em/sem em/ic $(foreach base,em ic,$(addprefix $(base)/,mote warmup shared joined random chance))
$(eval $(call table,table2,$(SEEN),$(MAIN)))
ifneq ($(filter $(UNSEEN),$(TYPES)),)
$(eval $(call table,table3,$(UNSEEN),$(MAIN)))
else
mote-table3:
	@echo "mote-table3: the unseen tasks are real sets; name their folder with DATA=" >&2; false
.PHONY: mote-table3
endif
$(eval $(call table,table4,$(TYPES),static/mote static/shared static/joined))
$(eval $(call table,table5,$(TYPES),tlr/tlr-raw tlr/mote tlr/shared tlr/joined random/mote chance/shared))
$(eval $(call table,table6,$(TYPES),eob/mote eob/shared eob/joined))
$(eval $(call table,table7,$(TYPES),ic/eob ic/ea-eob ic/mote ic/ea ic/shared ic/joined))
$(eval $(call table,hybrid,$(TYPES),mote/shared mote/joined))
$(eval $(call table,figure4,,homogeneous/heterogeneous))
$(eval $(call table,figure5,$(TYPES),homogeneous/heterogeneous))
$(eval $(call table,figure6,,heterogeneous/warm))
$(eval $(call table,figure7,$(TYPES),heterogeneous/warm))

# Figures 1 and 3: the same texts under each instruction, MoTE beside IC.
$T/texts.jsonl: $(TEXT)/test/queries.jsonl
	mkdir -p $(@D)
	awk 'NR % 16 == 1' $< > $@

HEAVY += $T/similarity-%.tsv
$T/similarity-%.tsv: $T/texts.jsonl $M/models/mote/$(mote.rate)/%/config.json $M/models/ic/$(ic.rate)/%/config.json \
		| $X/tok $X/encode $X/geom
	mkdir -p $T/views/$*/mote $T/views/$*/ic; \
	for task in $(EXPERTS); do \
		$X/tok -q -m $(word 2,$(^D)) --task $$task -f text $< | $X/encode -q -m $(word 2,$(^D)) > $T/views/$*/mote/$$task.mts; \
		$X/tok -q -m $(word 3,$(^D)) --task $$task -f text $< | $X/encode -q -m $(word 3,$(^D)) > $T/views/$*/ic/$$task.mts; \
	done; \
	$X/geom similarity -q $(EXPERTS:%=--against $T/views/$*/ic/%.mts) $(EXPERTS:%=$T/views/$*/mote/%.mts) -o $@

$T/figure1.tsv: $(SEEDS:%=$T/similarity-%.tsv) $T/seeds
	awk -F'\t' 'FNR == 1 { split(FILENAME, part, /[-.]/); if (NR == 1) print "seed\t" $$0 } \
		/^all/ { print part[2] "\t" $$0 }' $(filter %.tsv,$^) > $@

$T/figure3.tsv: $(SEEDS:%=$T/similarity-%.tsv) $T/seeds
	awk -F'\t' 'FNR == 1 { split(FILENAME, part, /[-.]/); if (NR == 1) print "seed\t" $$0 } \
		!/^(all|tasks)/ { print part[2] "\t" $$0 }' $(filter %.tsv,$^) > $@

$T/figure1.svg $T/figure3.svg: $T/figure%.svg: $(PIPELINES)/similarity.gnuplot $T/similarity-$(firstword $(SEEDS)).tsv
	grep -e ^tasks $(if $(filter 1,$*),-e,-ve) ^all $(word 2,$^) > $@.tsv
	gnuplot -e "table='$@.tsv'; model='MoTE'; against='IC'" $< > $@
	rm $@.tsv

$T/figure1.md $T/figure3.md: $(PIPELINES)/mote-similarity.awk
	awk -f $^ > $@
$T/figure1.md: $T/figure1.tsv
$T/figure3.md: $T/figure3.tsv
mote-figure1 mote-figure3: mote-%: $T/%.md $T/%.svg
	@cat $<

# The rates: for each arm the one with the best mean over the sets of the seen types, first seed.
tried = $(foreach rate,$(LRS),$M/dev/$1/$(rate)/$(firstword $(SEEDS))/scores.tsv)
TUNED := $(filter-out sem-% homogeneous heterogeneous warm shared joined chance warmup,$(ARMS)) sem
ifeq ($(SPLIT),dev)
# newer than the table if other arms or rates are asked for
$M/tuned: always
	@$(call says,$(TUNED): $(LRS))

$M/rates.tsv: $(foreach arm,$(TUNED),$(call tried,$(arm))) $M/tuned
	awk -F'\t' -v rates='$(LRS)' -v start='$(MOTE_START)' 'BEGIN { n = split(rates, rate, " "); \
			print "# start\tarm\trate\teach rate that was tried and its mean" } \
		FNR == 1 { parts = split(FILENAME, path, "/"); arm = path[parts - 3]; at = path[parts - 2]; \
			if (!(arm in known)) { known[arm]; order[++arms] = arm } } \
		{ sum[arm, at] += $$4; sets[arm, at]++ } \
		END { for (a = 1; a <= arms; a++) { best = ""; line = ""; \
			for (i = 1; i <= n; i++) { mean = sum[order[a], rate[i]] / sets[order[a], rate[i]]; \
				if (best == "" || mean > most) { best = rate[i]; most = mean } \
				line = line sprintf("\t%s\t%.2f", rate[i], mean) } \
			print start "\t" order[a] "\t" best line } }' $(filter %/scores.tsv,$^) > $@
endif

mote-rates:
	@$(ALONE) $(MAKE) --no-print-directory -j$(JOBS) SPLIT=dev TYPES="$(SEEN)" $M/rates.tsv
	awk -F'\t' '!seen[$$1, $$2]++' $M/rates.tsv $(wildcard $(RATES)) > $(RATES).new && mv $(RATES).new $(RATES)
	@cat $(RATES)

## mote       MoTE: its tables and figures, three seeds (an hour on two cores; DATA=dir for real sets)
mote: | $(DEPS)
	+@$(call programs,tok encode upcycle tasksample train mteb-score leaderboard geom mts)
	@$(ALONE) $(MAKE) --no-print-directory -j$(JOBS) $(MOTE_ALL:%=$T/%.md) $(MOTE_ALL:%=$T/%.svg)
	@$(foreach name,$(MOTE_ALL),cat $T/$(name).md; echo;)

# Table 2 with every arm at the rate of EM; the paper's open question
mote-equal:
	@$(ALONE) $(MAKE) --no-print-directory -j$(JOBS) LR=$(em.rate) mote-table2

.PHONY: mote mote-equal mote-rates $(MOTE_ALL:%=mote-%)
