# task-experts.mk - what task experts are good for: three designs around MoTE (mote.mk)
#	make mote-scale DATA=dir [SEEDS="1 2 3"]	# more batches: is MoTE behind because each expert has few rows?
#	make mote-late DATA=dir				# a dense model half the way, then experts
#	make mote-forget DATA=dir			# new tasks for a model that is good at one
# A run is ARM/RATE/SEED/BATCHES.  Rates are chosen for each arm on the development split, before the first run or by
# make mote-scale-rates and so on, and kept by START in share/recipes/task-experts-rates.tsv; LR=X trains all arms at X, LRS= are
# the rates to try.  STEPS= are the numbers of batches (of mote-scale several); FORGET_ARMS= and so on, some of the arms.
# mote-forget starts from share/models/base.
Z       := $(MOTE)/experts/$(MOTE_START)
E_RATES := $(SHARE)/recipes/task-experts-rates.tsv
batches_of = $(word 4,$(subst /, ,$*))

# the start whose rates an arm has
rates_of = $(if $(filter forget-%,$1),$(notdir $(BASE)),$(MOTE_START))

# trial NAME, START, RECIPE, options of train, rates to try.  In START @ is the seed.
define trial
$1.init   := $2
$1.recipe := $3
$1.with   := $4
$1.tried  := $5
$1.lr     := $(call given,LR,$(call column_of,$(E_RATES),$(call rates_of,$1)|$1,3))
endef

# Instructed dense model; the paper's experts; one expert for both sides of retrieval; as many experts, and chance chooses one for
# each batch, so that they have the rows of task experts but no task: the first of them embeds all texts to score.
SCALE_ARMS := mote shared chance
scale.arms = ic $(SCALE_ARMS)
SCALE_STEPS := $(call given,STEPS,64 128 256 512)
SCALE_LRS  := $(call given,LRS,2.5e-4 5e-4 1e-3 2e-3)
$(foreach arm,ic $(SCALE_ARMS),$(eval $(call trial,scale-$(arm),$(arm),$(if $(filter chance,$(arm)),chance,scale),,$(SCALE_LRS))))

# The same models of a dense one that was trained on half of the batches, each for the other half
LATE_ARMS := mote shared chance
late.arms = ic $(LATE_ARMS)
LATE_HALF := $(firstword $(call given,STEPS,256))
$(foreach arm,ic $(LATE_ARMS),$(eval $(call trial,late-$(arm),late-$(arm)-@,$(if $(filter chance,$(arm)),late-chance,late-scale),,$(SCALE_LRS))))

# Dense or experts; with replay of the old task; with all that is not MLP or norm frozen; a LoRA beside the old model.
FORGET_ARMS := dense dense-replay dense-frozen experts experts-replay experts-frozen lora
forget.arms = $(FORGET_ARMS)
FORGET_STEPS := $(firstword $(call given,STEPS,128))
FORGET_LRS  := $(call given,LRS,1e-4 3e-4 1e-3 3e-3)
forget_start = $(if $(filter experts%,$1),forget-experts,forget-dense)
FROZEN := --freeze '*' --freeze '!*.mlp.*' --freeze '!*.norm*'
$(foreach arm,$(FORGET_ARMS),$(eval $(call trial,forget-$(arm),$(call forget_start,$(arm)),$(if $(filter \
	%-replay,$(arm)),forget,forget-new),$(if $(filter %-frozen,$(arm)),$(FROZEN)),$(FORGET_LRS))))
forget-lora.with := --lora rank=16,targets=all-linear
$(foreach arm,dense-frozen experts-frozen lora,$(eval forget-$(arm).tried := $(call given,LRS,3e-4 1e-3 3e-3 1e-2)))
forget-base.lr  := none

# Recipes.  The second half of a late split has other draws of the same data.
$D/packages: $D/links $(DEBIAN)/train.jsonl $(DEBIAN)/sections.jsonl
	ln -sfn $(abspath $(DEBIAN)) $@

$(DEBIAN)/sections.jsonl: $(DEBIAN)/table.tsv
	awk -F'\t' 'FNR == NR { if (/^Package: /) name = substr($$0, 10); if (/^Section: /) section[name] = substr($$0, 10); next } \
		FNR > 1 && $$2 == "train" && $$1 in section { gsub(/[\\"]/, "\\\\&", $$4); \
			printf "{\"text\": \"%s\", \"section\": \"%s\"}\n", $$4, section[$$1] }' $(LISTS)/Packages $< > $@

$Z/scale.yaml $Z/late-scale.yaml: $(SHARE)/recipes/mote-scale.yaml | $D/packages
	mkdir -p $(@D)
	cp $< $@

$Z/chance.yaml $Z/late-chance.yaml: $Z/scale.yaml
	$(by_chance)

$Z/forget.yaml: $(SHARE)/recipes/mote-forget.yaml | $D/links
	mkdir -p $(@D)
	cp $< $@

$Z/forget-new.yaml: $Z/forget.yaml
	sed '/^  define:/,/^  search:/ { /^  search:/!d }' $< > $@

# settings, each newer than the files that depend on it once it has changed: the start, the seeds of comparisons, the runs in a table
$Z/from: always
	@$(call says,$(abspath $(START)))

$Z/seeds: always
	@$(call says,$(SEEDS))

$Z/columns/%: always
	@$(call says,$(columns.$*))

# The initial models.  All texts are cut at 32 tokens, in training and after it.
$Z/start/plain/config.json: $(START)/config.json $Z/from
$Z/start/forget-plain/config.json: $(BASE)/config.json
$Z/start/plain/config.json $Z/start/forget-plain/config.json:
	mkdir -p $(dir $(@D))
	rm -rf $(@D)
	cp -rL $(<D) $(@D)
	sed -i 's/"max_seq_length": [0-9]*/"max_seq_length": 32/' $(@D)/sentence_bert_config.json

# KIND, FOLDER: upcycles the model of the first prerequisite, as the arm KIND of mote.mk; of the dense one only the prompts are taken
upcycled = mkdir -p $(dir $2); rm -rf $2; $X/upcycle -q -m $(<D) $(or $($1.upcycle),$(mote.upcycle)) -o $2
instructed = $(call upcycled,$1,$2.experts) && cp -rL $(<D) $2 && cp $2.experts/config_sentence_transformers.json $2 && rm -r $2.experts
forget.upcycle = --experts define,search,classification,clustering $(INSTRUCTED) --task search_query=search \
	--task search_document=search --task dictionary=define --prompt dictionary= --prompt define=

define start_of
$Z/start/$1/config.json: $Z/start/plain/config.json | $X/upcycle
	$$(call $(if $(filter ic,$1),instructed,upcycled),$1,$$(@D))

$Z/start/late-$1-%/config.json: $Z/models/scale-ic/$(scale-ic.lr)/%/$(LATE_HALF)/config.json | $X/upcycle
	$$(call $(if $(filter ic,$1),instructed,upcycled),$1,$$(@D))
endef
$(foreach kind,ic $(SCALE_ARMS),$(eval $(call start_of,$(kind))))

# the dense halves by name: make does not use its one rule for models twice in a chain
halves = $(1:%=$Z/models/scale-ic/$(scale-ic.lr)/%/$(LATE_HALF)/config.json)
$Z/dev/late.tsv: | $(call halves,$(firstword $(SEEDS)))
$Z/tables/late-$(LATE_HALF).tsv: | $(call halves,$(SEEDS))

$Z/start/forget-dense/config.json: $Z/start/forget-plain/config.json | $X/upcycle
	$(call instructed,forget,$(@D))
$Z/start/forget-experts/config.json: $Z/start/forget-plain/config.json | $X/upcycle
	$(call upcycled,forget,$(@D))

# Training.  The second half of a late split draws other examples.  A LoRA is merged to be scored.
e_start = $Z/start/$(subst @,$(seed_of),$($(arm_of).init))
e_lora  = $(filter --lora,$($(arm_of).with))

HEAVY += $Z/models/%/config.json
$Z/models/%/config.json: $$(e_start)/config.json $Z/$$($$(arm_of).recipe).yaml | $X/tasksample $X/tok $X/train $X/upcycle
	echo "train $*" >&2; mkdir -p $(dir $(@D)); $(anew); \
	$X/tasksample -q -C $D --seed $(if $(filter late-%,$(arm_of)),10)$(seed_of) --steps $(batches_of) $(word 2,$^) | \
		$X/tok -q -m $(<D) | \
		$X/train -q -m $(<D) --lr $(rate_of) --decay 0.1 --precision bf16 --seed $(seed_of) $($(arm_of).with) \
			-o $(@D)$(if $(e_lora),.lora)
	$(if $(e_lora),$X/upcycle -q -m $(<D) --merge-lora $(@D).lora -o $(@D))

# Scores.  Sets are in groups: for the first two designs tasks that are trained, on held-out rows; further sets of these tasks;
# and types without training.  For the third the old task and the new ones.
E_UNSEEN := wikiqa mrpc stsbenchmark
FURTHER  := $(foreach set,retrieval/cisi retrieval/cranfield retrieval/scifact classification/sst2 classification/chemprot \
	clustering/stackoverflow_titles clustering/biomedical_titles,$(if $(wildcard $(REAL)/$(set)),$(set)))
e_sets   = dictionary fin10k_qa banking77 emotion twentynewsgroups_subjects $(if $(filter forget-%,$(arm_of)),,lexicographer topics \
	$(if $(filter test,$(SPLIT)),$(E_UNSEEN) $(notdir $(FURTHER))))
group = awk -F'\t' -v OFS='\t' -v forget=$(filter forget-%,$(arm_of)) '{ set = " " tolower($$2) " "; \
	$$1 = index(" $(E_UNSEEN) ", set) ? "unseen" : index(" $(notdir $(FURTHER)) ", set) ? "further" : \
	!forget ? $$1 : $$2 == "dictionary" ? "old" : "new"; print }'

$Z/data/$(SPLIT)/made: $D/$(SPLIT)/made
	rm -rf $(@D)
	mkdir -p $(@D)
	cp -r $(<D)/*/ $(@D)
	$(if $(filter test,$(SPLIT)),$(foreach set,$(filter-out clustering/%,$(FURTHER)),ln -s $(REAL)/$(set) $(@D)/$(set);)\
		$(foreach set,$(filter clustering/%,$(FURTHER)),mkdir -p $(@D)/$(set); zstd -dc <$(REAL)/$(set)/test.jsonl.zst | \
			awk 'NR % 40 < 8' | $(call parts,8) > $(@D)/$(set)/test.jsonl;))
	touch $@

# Without its LoRA the model is the old one.
keeps_old = $(filter forget-lora,$(arm_of))
e_model  = $(if $(filter forget-base,$(arm_of)),$Z/start/forget-plain,$Z/models/$*)
e_scores = $(call mteb_of,$1,$(subst /,-,$*),$2,$Z/data/$(SPLIT))

$Z/$(SPLIT)/%/scores.tsv: $$(e_model)/config.json $$(if $$(keeps_old),$Z/start/forget-plain/config.json) $Z/data/$(SPLIT)/made \
		| $X/mteb-score
	@echo "score $*" >&2
	mkdir -p $(@D)
	$(if $(keeps_old),$(call e_scores,$Z/start/forget-plain,dictionary); \
		$(call e_scores,$(e_model),$(filter-out dictionary,$(e_sets))),$(call e_scores,$(e_model),$(e_sets)))
	$(main_scores) | $(group) > $@
	rm -rf $(@D)/work

# Comparisons: NAME/BATCHES/BASE/ARM.tsv, and their cells.
e_run   = $Z/$(SPLIT)/$1/$($1.lr)/$2
e_base  = $(patsubst %,$(firstword $(subst /, ,$*))-%,$(word 3,$(subst /, ,$*)))
e_with  = $(patsubst %,$(firstword $(subst /, ,$*))-%,$(word 4,$(subst /, ,$*)))
e_steps = $(word 2,$(subst /, ,$*))
# the base model has no seed
e_seed  = $(if $(filter forget-base,$1),0,$2)
e_folder = $(call e_run,$1,$(call e_seed,$1,$2)/$(if $(filter forget-base,$1),0,$(e_steps)))

$Z/tables/%.tsv: $$(foreach seed,$$(SEEDS),$$(call e_folder,$$(e_base),$$(seed))/scores.tsv $$(call e_folder,$$(e_with),$$(seed))/scores.tsv) \
		$Z/seeds | $X/leaderboard
	mkdir -p $(@D)
	{ $(foreach seed,$(SEEDS),$(call compared,$(seed),$(call e_folder,$(e_base),$(seed)),$(call e_folder,$(e_with),$(seed)));) } > $@

# DESIGN, BATCHES, TYPES, BASE/ARM of each column: cells of cells.awk
define e_cells
columns.$1-$2 := $3: $4
$Z/tables/$1-$2.tsv: $(PIPELINES)/cells.awk $(4:%=$Z/tables/$1/$2/%.tsv) $Z/columns/$1-$2
	awk -v types="$3" -f $$(filter-out $Z/columns/$1-$2,$$^) > $$@
endef
E_SEEN := $(SEEN) $(if $(FURTHER),further) unseen
$(foreach steps,$(SCALE_STEPS),$(eval $(call e_cells,scale,$(steps),$(E_SEEN),$(SCALE_ARMS:%=ic/%) chance/mote chance/shared)))
$(eval $(call e_cells,late,$(LATE_HALF),$(E_SEEN),$(LATE_ARMS:%=ic/%) chance/mote chance/shared))
$(eval $(call e_cells,forget,$(FORGET_STEPS),old new,$(FORGET_ARMS:%=base/%) \
	$(patsubst %,dense/%,$(filter-out dense,$(FORGET_ARMS))) $(patsubst %,%/experts-frozen,$(filter dense-frozen lora,$(FORGET_ARMS)))))

$Z/tables/%.md: $(TABLE_FILES) $Z/tables/%.tsv
	$(call table_of,$(if $(filter forget-%,$*),forget,mote),$*)

# The curve: the number of batches in the name of the arm
columns.scale := $(SCALE_STEPS)
$Z/tables/scale.tsv: $(SCALE_STEPS:%=$Z/tables/scale-%.tsv) $Z/columns/scale
	for steps in $(SCALE_STEPS); do awk -F'\t' -v OFS='\t' -v steps=$$steps 'NR == 1 || $$1 == "ic" { \
		if (NR > 1) $$2 = $$2 "-" steps; print }' $Z/tables/scale-$$steps.tsv; done | awk 'NR == 1 || !/^base/' > $@

$Z/tables/scale.svg: $(PIPELINES)/curves.gnuplot $Z/tables/scale.tsv
	gnuplot -e "cells='$Z/tables/scale.tsv'; over='batches'; last=''; doubling=1" $< > $@

# The scores of each rate on the development split, by group of sets, and the rate with the best mean over groups; in the third
# design over the new tasks alone
SCALE_TUNE := $(call given,STEPS,256)
scale.tuned  = $(foreach arm,ic $(SCALE_ARMS),$(foreach rate,$(scale-$(arm).tried),scale-$(arm)/$(rate)/$(firstword $(SEEDS))/$(SCALE_TUNE)))
late.tuned   = $(foreach arm,ic $(LATE_ARMS),$(foreach rate,$(late-$(arm).tried),late-$(arm)/$(rate)/$(firstword $(SEEDS))/$(LATE_HALF)))
forget.tuned = $(foreach arm,$(FORGET_ARMS),$(foreach rate,$(forget-$(arm).tried),\
	forget-$(arm)/$(rate)/$(firstword $(SEEDS))/$(FORGET_STEPS))) forget-base/none/0/0

define e_tuned
ifeq ($(SPLIT),dev)
columns.$1-rates := $$($1.tuned)
$Z/dev/$1.tsv: $$($1.tuned:%=$Z/dev/%/scores.tsv) $Z/columns/$1-rates
	awk -F'\t' -v OFS='\t' 'BEGIN { print "arm", "rate", "group", "score" } \
		FNR == 1 { n = split(FILENAME, path, "/"); run = path[n - 4] OFS path[n - 3] } \
		!((run, $$$$1) in sets) { order[++groups] = run OFS $$$$1 } \
		{ sum[run OFS $$$$1] += $$$$4; sets[run, $$$$1]++; known[run OFS $$$$1]++ } \
		END { for (g = 1; g <= groups; g++) print order[g], sum[order[g]] / known[order[g]] }' $$(filter %/scores.tsv,$$^) > $$@
endif

mote-$1-rates:
	@$$(ALONE) $$(MAKE) --no-print-directory -j$(JOBS) SPLIT=dev $Z/dev/$1.tsv $(if $(filter forget,$1),$Z/tables/forget.svg)
	awk -F'\t' -v OFS='\t' -v only=$(if $(filter forget,$1),new) 'FNR == 1 || $$$$2 == "none" || only && $$$$3 != only { next } \
		 { run = $$$$1 OFS $$$$2; if (!(run in groups)) order[++runs] = run; groups[run]++; sum[run] += $$$$4 } \
		END { for (r = 1; r <= runs; r++) { split(order[r], part, OFS); mean = sum[order[r]] / groups[order[r]]; \
			if (!(part[1] in best)) arm[++arms] = part[1]; \
			if (!(part[1] in best) || mean > most[part[1]]) { best[part[1]] = part[2]; most[part[1]] = mean } \
			line[part[1]] = line[part[1]] OFS part[2] OFS sprintf("%.2f", mean) } \
			for (a = 1; a <= arms; a++) print "$(call rates_of,$1-)", arm[a], best[arm[a]] line[arm[a]] }' $Z/dev/$1.tsv | \
		awk -F'\t' '!seen[$$$$1, $$$$2]++' - $(wildcard $(E_RATES)) > $(E_RATES).new && mv $(E_RATES).new $(E_RATES) && cat $(E_RATES)

.PHONY: mote-$1 mote-$1-rates
endef
$(foreach design,scale late forget,$(eval $(call e_tuned,$(design))))

$Z/tables/forget.svg: $(PIPELINES)/forget.gnuplot $Z/dev/forget.tsv
	mkdir -p $(@D)
	gnuplot -e "table='$Z/dev/forget.tsv'" $< > $@

e_programs = tok encode upcycle tasksample train mteb-score leaderboard mts
# DESIGN: chooses its rates if an arm has none
e_rates = $(if $(strip $(foreach arm,$($1.arms),$(if $($1-$(arm).lr),,$(arm)))),$(MAKE) --no-print-directory mote-$1-rates;)
e_made = $(if $(REAL),,echo 'mote-$1: its sets are real; name their folder with DATA=' >&2; exit 2;) \
	$(call programs,$(e_programs)); $(if $(filter late,$1),$(if $(scale-ic.lr),,$(MAKE) --no-print-directory mote-scale-rates SCALE_ARMS=;)) $(call e_rates,$1) \
	$(ALONE) $(MAKE) --no-print-directory -j$(JOBS) $2 && cat $(filter %.md,$2)

## mote-scale  MoTE with more batches, against its control (DATA=dir)
mote-scale:
	+@$(call e_made,scale,$(SCALE_STEPS:%=$Z/tables/scale-%.md) $Z/tables/scale.svg)
## mote-late   experts in a model that was dense for half of the batches (DATA=dir)
mote-late:
	+@$(call e_made,late,$Z/tables/late-$(LATE_HALF).md)
## mote-forget  new tasks for a model that is good at one, and what it forgets (DATA=dir)
mote-forget:
	+@$(call e_made,forget,$Z/tables/forget-$(FORGET_STEPS).md)
