# reze.mk - REZE (Lee et al. 2026): its Tables 2 to 9, Figures 2 to 4
#	make reze [DATA=dir] [START=model] [TARGETS="banking77"] [SEEDS="1 2 3"] [SHOTS="100 500 1000"]
#	make reze SIZE=paper START=e5-base-v2 TRAIN=dir DATA=dir LENGTH=512 [PRECISION=bf16] [JOBS=8 RUN=share/cluster/one-device] [TRAIN_OPTIONS=...]
# A model is pre-finetuned on all sets of a domain but the target, fine-tuned on pairs of the target (shots), and scored on
# the target as make mteb does.  small: share/recipes/reze-small.yaml, texts of 64 tokens; without DATA the dictionaries
# alone.  paper: share/recipes/reze-paper.yaml with the files in TRAIN, scored on MTEB in DATA.
# FT has no first stage, PFT a first stage without REZE's loss.  Whitening, standardising and flow are fitted to the target's pairs
# and map PFT's embeddings.  Other arms are REZE with other settings; the table effect says how far each moves the targets.
# POOL=1: the first stage has the sets of all domains as one pool, not those of the target's.  DRAWS=1: each seed draws its own shots.
# PROMPTS={"query": "query: ", "document": "passage: ", "Classification": "query: "}: the prompts of queries and documents in training, and
# by mteb's names in scoring; default: START's own.  All have one rate: the paper's, or the one that
# make reze-rates chose for the model on the development split; LR=X.
REZE        := $(OUT)/reze
REZE_RECIPE := $(SHARE)/recipes/reze-$(SIZE).yaml
REZE_RATES  := $(SHARE)/recipes/reze-rates.tsv
REZE_TRAIN  := $(call small,$(REZE)/data,$(call given,TRAIN,data))
REZE_START  := $(notdir $(patsubst %/,%,$(START)))
REZE_LR     := $(call given,LR,$(or $(call small,$(call column_of,$(REZE_RATES),$(REZE_START),2)),1e-4))
LENGTH      ?= $(call small,64,1024)
SHOTS       ?= 100 500 1000
# read once, and only if needed
TARGETS = $(eval TARGETS := $(shell grep $(if $(call small,$(REAL),all),.,-v real/) $(REZE_RECIPE) | \
	sed -n 's/.*{name: \([^,]*\),.*\*$$/\1/p'))$(TARGETS)
# shots and targets of the sweeps, which have many arms: the first target of each domain
SWEPT_SHOTS ?= $(firstword $(SHOTS))
SWEPT = $(eval SWEPT := $(shell for target in $(TARGETS); do $(domain); done | awk '!seen[$$1]++ { print $$2 }'))$(SWEPT)
domain       = awk -v target=$(or $1,$$target) -v told=1 -f $(PIPELINES)/reze-recipe.awk $(REZE_RECIPE) $(REZE_RECIPE)

POOL          ?=
DRAWS         ?=
PROMPTS       ?=
R := $(REZE)/$(SIZE)$(if $(POOL),-pool)$(if $(DRAWS),-draws)/$(REZE_START)
V := $R/$(REZE_LR)

# arm NAME, weight of REZE's loss, settings of the statistics
define reze_arm
$1.weight   := $2
$1.settings := $3
endef
$(eval $(call reze_arm,pft,0))
$(eval $(call reze_arm,reze,1))
$(eval $(call reze_arm,mean,1,--centre mean))
# with as many pairs of each set, as in the small recipe, the sets' mean is zero
$(eval $(call reze_arm,zero,1,--centre zero))
$(eval $(call reze_arm,printed,1,--eq6 printed))
# the base model's own embeddings as targets
$(eval $(call reze_arm,plain,1,--eta 0))
$(eval $(call reze_arm,eta-0.3,1,--eta 0.3))
$(eval $(call reze_arm,eta-1,1,--eta 1))
# the most that the equations can do: every component that varies more than the median one, of every source, to the centre
$(eval $(call reze_arm,strong,1,--eta 1 --gamma 0))
LOSS_WEIGHTS ?= 0.1 0.3 3 10
$(foreach weight,$(LOSS_WEIGHTS),$(eval $(call reze_arm,weight-$(weight),$(weight))))

# map NAME, COMMAND of geom, options of its fit: what maps the embeddings of PFT
define reze_map
REZE_MAPS += $1
$1.map    := $2
$1.how     = $3
endef
REZE_MAPS :=
$(eval $(call reze_map,whitening,whiten))
$(eval $(call reze_map,scale,whiten,--kind scale))
$(eval $(call reze_map,flow,flow,--seed $$(call score_part,5)))
# the least eigenvalue of whitening, as a share of the greatest
FLOORS ?= 1e-4 1e-2 1e-1
$(foreach floor,$(FLOORS),$(eval $(call reze_map,whitening-$(floor),whiten,--eps $(floor))))

part = $(word $1,$(subst /, ,$*))

# Recipes, and the base model with LENGTH.
reze_recipe = mkdir -p $(@D) && PROMPTS=$$(cat $R/prompts) awk -v target=$(call part,1) $1 -f $(PIPELINES)/reze-recipe.awk $(REZE_RECIPE) $(REZE_RECIPE) > $@

$R/without/%.yaml: $(REZE_RECIPE) $(PIPELINES)/reze-recipe.awk $R/prompts $(call small,$(REZE)/data/links)
	$(call reze_recipe,$(POOL:%=-v pool=1))

# only/TARGET/SHOTS.yaml, or with DRAWS only/TARGET/SHOTS/SEED.yaml, whose pairs are drawn from all of the target's
$R/only/%.yaml: $(REZE_RECIPE) $(PIPELINES)/reze-recipe.awk $R/prompts $(call small,$(REZE)/data/links) | $X/tasksample $X/mts
	$(call reze_recipe,-v sample=$(if $(DRAWS),all,$(call part,2)))
	$(if $(DRAWS),$(draw_shots))

define draw_shots
$X/tasksample -q -C $(REZE_TRAIN) --all $@ | $X/mts to jsonl -c query,document | \
		shuf -n $(call part,2) --random-source=<(yes $(call part,3)) > $(@:.yaml=.jsonl)
	sed -i -E 's|\{name: .*|{name: $(call part,1), file: $(abspath $(@:.yaml=.jsonl))}|' $@
endef
shots = $R/only/$1/$2$(if $(DRAWS),/$3).yaml

# the prompts of queries and documents as a recipe has them; empty if there are none
$R/prompts: $R/base/config.json
	cat $(wildcard $R/base/config_sentence_transformers.json) /dev/null | jq -rs '(.[0].prompts // {}) | [.query // "", .document // ""] | select(add != "") | "{query: \(.[0] | tojson), document: \(.[1] | tojson)}"' > $@

$(REZE)/data/from: always
	@$(call says,$(REAL))

$(REZE)/data/links: $(TEXT)/corpus.txt $(REZE)/data/from
	ln -sfn $(abspath $(TEXT)) $(@D)/text
	$(if $(REAL),ln -sfn $(REAL) $(@D)/real,rm -f $(@D)/real)
	touch $@

reze_more = $(strip $(PRECISION) $(TRAIN_OPTIONS) $(subst ",,$(PROMPTS)))
# the start, the data and other settings; newer than the files that depend on them once they have changed
$R/from: always
	@$(call says,$(abspath $(START))$(,) $(LENGTH)$(call small,,$(,) $(abspath $(REZE_TRAIN)))$(if $(reze_more),$(,) $(reze_more)))

$R/base/config.json: $(START)/config.json $R/from
	mkdir -p $(dir $(@D))
	rm -rf $(@D)
	cp -rL $(START) $(@D)
	$(call with_length,$(START),$(LENGTH))
	$(if $(PROMPTS),cat $(wildcard $(START)/config_sentence_transformers.json) /dev/null | jq -s --argjson prompts '$(PROMPTS)' \
		'(.[0] // {}) + {prompts: $$prompts}' > $(@D)/config_sentence_transformers.json)

# Statistics of the base model's relations; each arm merges them with its settings.
reze_bits  = $(patsubst %,--precision %,$(filter-out f32,$(PRECISION)))
reze_pairs = $X/tasksample -q -C $(REZE_TRAIN) --all $1 | $X/tok -q -m $2 | $X/encode -q -m $2 $(reze_bits)

HEAVY += $R/statistics/%/all.mts
$R/statistics/%/all.mts: $R/without/%.yaml $R/base/config.json | $X/tasksample $X/tok $X/encode $X/reze-stats
	mkdir -p $(@D); \
	$(call reze_pairs,$<,$R/base) | $X/reze-stats fit -q -o $@

.SECONDEXPANSION:
$R/statistics/%.mts: $R/statistics/$$(call part,1)/all.mts | $X/reze-stats
	$X/reze-stats merge -q $($(call part,2).settings) $< -o $@

# The two stages: pre/ARM/TARGET/SEED, models/ARM/TARGET/SHOTS/SEED.
reze_train = $X/train -q -m $1 --lr $(REZE_LR) --warmup 0 --no-mask-duplicates $(patsubst %,--precision %,$(filter bf16,$(PRECISION))) \
	--seed $2 $(TRAIN_OPTIONS) $3 -o $(@D)

HEAVY += $V/pre/%/config.json $V/models/%/config.json $V/views/%.mts
$V/pre/%/config.json: $R/without/$$(call part,2).yaml $R/base/config.json \
		$$(if $$(filter-out pft,$$(call part,1)),$R/statistics/$$(call part,2)/$$(call part,1).mts) \
		| $X/tasksample $X/tok $X/encode $X/reze-stats $X/train
	echo "pre-finetune $*" >&2; mkdir -p $(dir $(@D)); $(anew); \
	$X/tasksample -q -C $(REZE_TRAIN) --seed $(call part,3) $< | $X/tok -q -m $R/base | \
		$(if $(word 3,$^),$X/encode -q -m $R/base $(reze_bits) --keep | $X/reze-stats apply -q $(word 3,$^) |) \
		$(call reze_train,$R/base,$(call part,3),--reze $($(call part,1).weight))

$V/models/%/config.json: $$(if $$(filter ft,$$(call part,1)),$R/base,$V/pre/$$(call part,1)/$$(call part,2)/$$(call part,4))/config.json \
		$$(call shots,$$(call part,2),$$(call part,3),$$(call part,4)) | $X/tasksample $X/tok $X/train
	echo "fine-tune $*" >&2; mkdir -p $(dir $(@D)); $(anew); \
	$X/tasksample -q -C $(REZE_TRAIN) --seed $(call part,4) $(word 2,$^) | $X/tok -q -m $(<D) | \
		$(call reze_train,$(<D),$(call part,4))

# Scores: scores/SPLIT/ARM/TARGET/SHOTS/SEED.  For whitening and flow, PFT's embeddings are mapped, and
# make mteb finds them made.
score_path = $(@:$V/scores/%/scores.tsv=%)
score_part = $(word $1,$(subst /, ,$(score_path)))
run        = $(call score_part,3)/$(call score_part,4)/$(call score_part,5)
pft_scores = $V/scores/$(call score_part,1)/pft/$(run)
REZE_DATA  = $(call small,$(REZE)/data/$(call score_part,1)/$(call score_part,3),$(DATA))

$V/scores/%/scores.tsv: $V/models/$$(call score_part,2)/$$(run)/config.json \
		$(call small,$(REZE)/data/$$(call score_part,1)/made,$R/scored) | $X/mteb-score
	$(score_run)

# a rule for each map, because make uses a rule once for a file and what that file needs
define map_scores
$V/scores/$1/$2/%/scores.tsv: $V/models/pft/%/config.json $V/scores/$1/pft/%/scores.tsv \
		$(call small,$(REZE)/data/$1/made,$R/scored) | $X/mteb-score $X/geom
	$$(call score_run,$$(map_embeddings))
	rm -rf $$(@D)/work $$(@D)/map.mts
endef
$(foreach split,dev test,$(foreach map,$(REZE_MAPS),$(eval $(call map_scores,$(split),$(map)))))

define score_run
@echo "score $(score_path)" >&2
	rm -rf $(@D)
	mkdir -p $(@D)
	$1
	$(call mteb_of,$(<D),$(subst /,-,$(run)),$(call small,,$(call score_part,3)),$(REZE_DATA))
	$(main_scores) > $@
endef

$R/scored: always
	@$(call says,$(abspath $(DATA)))

score_map = $(call score_part,2)
define map_embeddings
$(call reze_pairs,$(call shots,$(call score_part,3),$(call score_part,4),$(call score_part,5)),$(<D)) | \
		$X/geom $($(score_map).map) fit -q $($(score_map).how) -f query -f document -o $(@D)/map.mts
	cp -r $(pft_scores)/work $(@D)/work
	find $(@D)/work -name '*.mts' | while read -r file; do \
		$X/geom $($(score_map).map) apply -q $(@D)/map.mts $$file -o $$file.mapped && mv $$file.mapped $$file; done
endef

# The targets in MTEB's layout.
$(REZE)/data/held.mts: $(SHARE)/recipes/reze-held.yaml $(REZE)/data/links | $X/tasksample
	$X/tasksample -q -C $(@D) --all $< > $@

reze_held = $X/mts rows -q --where dataset=$1-$2 $(REZE)/data/held.mts | $X/mts to jsonl -c query,document
labelled  = jq -c '{text: .query, label: .document}'

$(REZE)/data/%/made: $(REZE)/data/links $(if $(REAL),$(REZE)/data/held.mts) | $X/mts
	rm -rf $(@D)
	mkdir -p $(@D)/wordnet/retrieval/wordnet/qrels $(@D)/lexicographer/classification/lexicographer
	ln -s $(abspath $(TEXT))/$*/queries.jsonl $(abspath $(TEXT))/$*/corpus.jsonl $(@D)/wordnet/retrieval/wordnet
	grep -v ^f $(TEXT)/$*/qrels.tsv > $(@D)/wordnet/retrieval/wordnet/qrels/test.tsv
	ln -s $(abspath $(TEXT))/$*/classification.jsonl $(@D)/lexicographer/classification/lexicographer/test.jsonl
	ln -s $(abspath $(TEXT))/$(if $(filter test,$*),dev,test)/classification.jsonl \
		$(@D)/lexicographer/classification/lexicographer/train.jsonl
	$(if $(REAL),$(real_targets))
	touch $@

define real_targets
for set in banking77 chemprot; do \
		folder=$(@D)/$$set/classification/$$set; mkdir -p $$folder; \
		$(call reze_held,$$set,fit) | $(labelled) > $$folder/train.jsonl; \
		$(call reze_held,$$set,$*) | $(labelled) > $$folder/test.jsonl; \
	done
	for set in fin10k_qa medquad; do \
		folder=$(@D)/$$set/retrieval/$$set; mkdir -p $$folder/qrels; \
		$(call reze_held,$$set,$*) | jq -r '[(.query | tojson), (.document | tojson)] | join("\t")' | \
			awk -v folder=$$folder -f $(PIPELINES)/pairs-to-beir.awk; \
	done
endef

# Comparisons: compare/KIND/BASE/ARM.tsv as cells.awk reads them; a type is a domain with its shots, a set
# a target with them.
runs  = $(foreach shots,$1,$(foreach target,$2,$(target)/$(shots)))
main.split  := test
main.runs   = $(call runs,$(SHOTS),$(TARGETS))
sweep.split := dev
sweep.runs  = $(call runs,$(SWEPT_SHOTS),$(SWEPT))
check.split := test
check.runs  = $(sweep.runs)
of_kind = $V/scores/$($(call part,1).split)/$(call part,$1)

runs_of = $(foreach run,$($(call part,1).runs),$(SEEDS:%=$(call of_kind,$1)/$(run)/%/scores.tsv))
$V/compare/%.tsv: $$(call runs_of,2) $$(call runs_of,3) \
		$V/runs/$$(call part,1) | $X/leaderboard
	mkdir -p $(@D)
	for run in $($(call part,1).runs); do \
		domain=$$($(call domain,$${run%/*}) | cut -d' ' -f1); \
		for seed in $(SEEDS); do $(call compared,$$seed,$(call of_kind,2)/$$run/$$seed,$(call of_kind,3)/$$run/$$seed); done | \
			awk -F'\t' -v OFS='\t' -v run=$$run -v domain=$$domain \
				'{ split(run, part, "/"); $$2 = domain "-" part[2]; $$3 = part[1] "-" part[2]; print }'; \
	done > $@

# the seeds and columns of comparisons and tables; newer than these if they changed
$V/runs/%: always
	@$(call says,$($*.runs)$(,) $(SEEDS))

$V/columns/%: always
	@$(call says,$(reze.$*.columns))

# table NAME, KIND, by (type or set), BASE/ARM of each column
define reze_table
reze.$1.columns := $4
$V/$1.tsv: $(PIPELINES)/cells.awk $(4:%=$V/compare/$2/%.tsv) $V/columns/$1
	awk -v by=$3 -v types=every -f $$(filter-out $V/columns/$1,$$^) > $$@

$V/$1.svg: $(PIPELINES)/bars.gnuplot $V/$1.tsv
	gnuplot -e "cells='$V/$1.tsv'" $$< > $$@

REZE_TABLES += $1
endef
REZE_TABLES :=
$(eval $(call reze_table,table2,main,type,ft/pft ft/whitening ft/flow ft/reze pft/reze))
$(eval $(call reze_table,table5,main,set,ft/pft ft/whitening ft/flow ft/reze pft/reze))
$(eval $(call reze_table,figure2,sweep,type,$(LOSS_WEIGHTS:%=pft/weight-%) pft/reze))
$(eval $(call reze_table,table3,check,type,reze/mean $(call small,,reze/zero) reze/printed reze/plain reze/strong))
$(eval $(call reze_table,eta,sweep,type,reze/plain reze/eta-0.3 reze/eta-1 reze/strong plain/reze plain/eta-1 plain/strong))
$(eval $(call reze_table,maps,sweep,type,pft/whitening $(FLOORS:%=pft/whitening-%) pft/scale pft/flow scale/flow))

$V/%.md: $(TABLE_FILES) $V/%.tsv
	$(call table_of,reze,$*)

# Figures 3 and 4 and the drift of texts: a domain's pairs by the base model, and after each first stage.
VIEWS := base pft reze
views  = $(VIEWS:%=$V/views/$1/$2/%.mts)

$V/views/%.mts: $R/without/$$(call part,1).yaml \
		$$(if $$(filter base,$$(call part,3)),$R/base,$V/pre/$$(call part,3)/$$(call part,1)/$$(call part,2))/config.json \
		| $X/tasksample $X/tok $X/encode
	mkdir -p $(@D); \
	$(call reze_pairs,$<,$(patsubst %/,%,$(dir $(word 2,$^)))) > $@

viewed = $(foreach target,$(SWEPT),$(foreach seed,$(SEEDS),$(call views,$(target),$(seed))))
each_view = for target in $(SWEPT); do domain=$$($(call domain) | cut -d' ' -f1); for seed in $(SEEDS); do \
		(cd $V/views/$$target/$$seed && $(abspath $X)/geom $1) | awk -F'\t' -v OFS='\t' -v what="$$domain	$$seed" \
			'NR > 1 { print what, $$0 } NR == 1 && !named { print "domain", "seed", $$0 }' ; \
	done; done | awk 'NR == 1 || !/^domain\t/'

$V/figure3.tsv: $$(viewed) $V/runs/sweep | $X/geom
	$(call each_view,isoscore -q --any-model --relations -f query -f document $(VIEWS:%=%.mts)) > $@

$V/drift.tsv: $$(viewed) $V/runs/sweep | $X/geom
	for model in pft reze; do $(call each_view,drift -q --relations -f query -f document base.mts $$model.mts) | \
		awk -F'\t' -v OFS='\t' -v model=$$model 'NR > 1 { print model, $$0 } NR == 1 && model == "pft" { print "model", $$0 }'; \
	done > $@

$V/figure3.md $V/drift.md: $V/%.md: $(PIPELINES)/reze-views.awk $V/%.tsv
	awk -v title='$*' -f $^ > $@

$V/figure4-%.tsv: $$(call views,$$*,$$(firstword $$(SEEDS))) | $X/geom
	$X/geom pca -q --relations -f query -f document --basis $< $(call views,$*,$(firstword $(SEEDS))) -o $@

$V/figure4-%.svg: $(PIPELINES)/pca.gnuplot $V/figure4-%.tsv
	gnuplot -e "table='$(word 2,$^)'; titles='$(VIEWS)'" $< > $@

# Were the targets changed?  Of the pairs of the first stage: how many components each arm shrinks, how near targets stay.
EFFECTS := reze mean $(call small,,zero) printed plain eta-0.3 eta-1 strong
effects_of = $(EFFECTS:%=$R/effect/$1/%.tsv)
$R/effect/%.tsv: $R/statistics/%.mts $$(firstword $$(call views,$$(call part,1),$$(firstword $$(SEEDS)))) | $X/reze-stats
	mkdir -p $(@D)
	$X/reze-stats effect -q $^ -o $@

$V/effect.tsv: $$(foreach target,$$(SWEPT),$$(call effects_of,$$(target))) $V/runs/sweep
	for target in $(SWEPT); do domain=$$($(domain) | cut -d' ' -f1); for arm in $(EFFECTS); do \
		awk -F'\t' -v OFS='\t' -v what="$$domain	$$arm" 'NR > 1 && $$1 != "all" { n++ } $$1 == "all" { $$1 = what "\t" n; print }' \
			$R/effect/$$target/$$arm.tsv; done; done | \
		{ printf 'domain\tarm\tsources\tpairs\tshrunk\tcosine\tleast\tdistance\n'; cat; } > $@

$V/effect.md: $V/effect.tsv
	$(call plain_table,$<,Targets of the first stage'"'"'s pairs. Shrunk: the share of active components that is not 1 in a source$(,) mean over sources; cosine of target and relation: mean and least; distance: mean of its square.) > $@

# Table 4: the sets of pre-finetuning: number of pairs, and their mean lengths in characters
$R/table4.tsv: $(REZE_RECIPE) $(call small,$(REZE)/data/links) | $X/tasksample $X/mts
	mkdir -p $(@D)
	for target in $(SWEPT); do \
		$X/tasksample -q -C $(REZE_TRAIN) --task $$($(domain) | cut -d' ' -f1) --all $< | $X/mts to jsonl -c dataset,query,document; \
	done | \
		jq -r '[.dataset, (.query | length), (.document | length)] | @tsv' | awk -F'\t' -v OFS='\t' \
		'BEGIN { print "set", "pairs", "anchor", "positive" } !n[$$1]++ { name[++sets] = $$1 } { a[$$1] += $$2; p[$$1] += $$3 } \
		END { for (i = 1; i <= sets; i++) { s = name[i]; printf "%s\t%d\t%.0f\t%.0f\n", s, n[s], a[s] / n[s], p[s] / n[s] } }' > $@

# The rate with the best mean of FT and PFT over the swept targets on the development split, first seed.
rate_runs = $(foreach arm,ft pft,$(foreach run,$(call runs,$(wordlist 1,2,$(SHOTS)),$(SWEPT)),$V/scores/dev/$(arm)/$(run)/$(firstword $(SEEDS))/scores.tsv))
$V/rate.tsv: $$(rate_runs)
	awk -F'\t' -v rate=$(REZE_LR) '{ sum += $$4; n++ } END { printf "%s\t%.2f\n", rate, sum / n }' $(rate_runs) > $@

reze-rates:
	@$(foreach rate,$(RATES_TRIED),$(ALONE) $(MAKE) --no-print-directory -j$(JOBS) LR=$(rate) $R/$(rate)/rate.tsv;)
	@$(call rate_chosen,$(REZE_START),$R,$(REZE_RATES))

figure4 = $(SWEPT:%=$V/figure4-%.svg)
reze_files = $(foreach name,$(REZE_TABLES),$V/$(name).md $V/$(name).svg) $V/figure3.md $V/drift.md $V/effect.md $(figure4) $R/table4.tsv
$(foreach name,$(REZE_TABLES) figure3 drift effect,$(eval reze-$(name): $V/$(name).md; @cat $$<))
reze-figure4: $(figure4)
reze-table4: $R/table4.tsv
	@cat $<

## reze       REZE: its tables and figures, three seeds (DATA=dir for real sets, START=model)
reze: | $(DEPS)
	+@$(call programs,tok encode tasksample reze-stats train geom mteb-score leaderboard mts)
	@$(ALONE) $(MAKE) --no-print-directory -j$(JOBS) $(reze_files)
	@$(foreach name,$(REZE_TABLES) figure3 drift effect,cat $V/$(name).md; echo;)

.PHONY: reze reze-rates $(REZE_TABLES:%=reze-%) reze-figure3 reze-drift reze-effect reze-figure4 reze-table4
