# moee.mk - MoEE (Li and Zhou 2024): its Tables 1 to 12, Figures 1 to 6
#	make moee DATA=dir [MODEL=folder] [SEEDS="1 2 3"] [FIGURE_SEEDS="1"]
#	make moee-model [SEEDS="1 2 3"] [MOEE_TEXT=documents]
#	make moee-upcycled DATA=dir
#	make moee-neurons DATA=dir [MODEL=folder] [NEURON_EXPERTS=16]
#	make moee-paper DATA=mteb [PAPER_MODELS="folder..."] [WEIGHTS=int8]
# Scores a mixture of experts as make mteb does, by its hidden states (hs), its routing weights (rw), and both, with no
# template (plain) and with templates of share/templates.yaml.  The tables compare cells TEMPLATE+WAY.
# MODEL is a folder, or with % instead of the seed a folder for each seed.  Default: the model of make moee-model, trained
# from scratch on the dictionaries' text: eight experts, two a token (share/recipes/moee-model.json, or MOEE_CONFIG=file).
# MOEE_TEXT=documents: on eight times as much, the documentation of Debian's packages too, in bf16 (documents.mk).
MOEE         := $(OUT)/moee
MOEE_TEXT    ?=
$(if $(filter-out documents,$(MOEE_TEXT)),$(error MOEE_TEXT=$(MOEE_TEXT): it can be documents, or nothing for the dictionaries alone))
LEARNED      := $(MOEE)$(MOEE_TEXT:%=/%)
MOEE_MODEL   := $(call given,MODEL,$(LEARNED)/model/%)
MOEE_NAME    := $(call given,NAME,$(if $(call given,MODEL),$(notdir $(patsubst %/,%,$(subst /%,,$(MOEE_MODEL)))),$(or $(MOEE_TEXT),model)))
MOEE_SEEDS   := $(if $(findstring %,$(MOEE_MODEL)),$(SEEDS),1)
MOEE_DATA    := $(call given,DATA,data)
FIGURE_SEEDS ?= $(MOEE_SEEDS)
MOEE_CONFIG  ?= $(SHARE)/recipes/moee-model.json
MOEE_TRAIN   ?= --lr 2e-3 --batch-tokens 2048$(if $(MOEE_TEXT), --precision bf16)
E    := $(MOEE)/$(SIZE)/$(MOEE_NAME)$(WEIGHTS:%=-%)

# The tasks to score: the types in DATA, or the paper's 19 sets.
TYPES_HERE  := classification clustering pairclassification reranking sts summarization
MOEE_TASKS  := $(call small,$(strip $(foreach type,$(TYPES_HERE),$(if $(wildcard $(MOEE_DATA)/$(type)/*),$(type)))),STS12 STS13 STS14 \
	STS15 STS16 BIOSSES SICK-R STSBenchmark EmotionClassification ToxicConversationsClassification \
	TweetSentimentExtractionClassification MedrxivClusteringS2S TwentyNewsgroupsClustering TwitterSemEval2015 \
	TwitterURLCorpus AskUbuntuDupQuestions SciDocsRR StackOverflowDupQuestions SummEval)
MOEE_STS    := $(foreach year,12 13 14 15 16,$(if $(wildcard $(addsuffix /test.*,$(foreach in,sts/sts sts/STS STS,$(MOEE_DATA)/$(in)$(year)))),STS$(year)))
# alpha can be found for pairs; the released code can sum integer classes
MOEE_PAIRED := $(call small,$(filter sts pairclassification reranking,$(MOEE_TASKS)),$(filter-out %Classification %S2S %sClustering %Eval,$(MOEE_TASKS)))
MOEE_LEGACY := $(call small,$(filter clustering,$(MOEE_TASKS)) $(foreach set,sst2 amazon_counterfactual_en:AmazonCounterfactualClassification,$(if \
	$(wildcard $(MOEE_DATA)/classification/$(firstword $(subst :, ,$(set)))),$(lastword $(subst :, ,$(set))))),$(filter %Classification %S2S %sClustering,$(MOEE_TASKS)))

MOEE_WAYS :=
# way NAME, variables of make mteb, tasks, the way that made its streams
define moee_way
MOEE_WAYS += $1
$1.way   := $2
$1.tasks := $3
$1.first := $4
endef
$(eval $(call moee_way,hs,COMBINE=hs,$(MOEE_TASKS)))
$(eval $(call moee_way,rw,COMBINE=rw,$(MOEE_TASKS),hs))
$(eval $(call moee_way,concat,COMBINE=concat,$(MOEE_TASKS),hs))
$(eval $(call moee_way,sum,COMBINE=sum,$(MOEE_TASKS),hs))
# normalised hidden states: alpha 0
$(eval $(call moee_way,hs-unit,COMBINE=sum ALPHA=0,$(MOEE_TASKS),hs))
# alpha by the paper's criterion, exact and over the authors' grid
$(eval $(call moee_way,auto,COMBINE=sum ALPHA=auto,$(MOEE_PAIRED),hs))
$(eval $(call moee_way,grid,COMBINE=sum ALPHA=auto=grid,$(MOEE_PAIRED),hs))
# standardised over all texts, or over batches as in the released code
$(eval $(call moee_way,corpus,COMBINE=sum NORM=corpus,$(MOEE_TASKS),hs))
$(eval $(call moee_way,code,COMBINE=sum NORM=batch=64,$(filter-out classification %Classification,$(MOEE_TASKS)),hs))
# hidden states alone, standardised, which the released code does not do
$(eval $(call moee_way,hs-corpus,COMBINE=sum ALPHA=0 NORM=corpus,$(MOEE_TASKS),hs))
$(eval $(call moee_way,hs-code,COMBINE=sum ALPHA=0 NORM=batch=64,$(code.tasks),hs))
# the released code's sum of classes and of clusters
$(eval $(call moee_way,legacy,COMBINE=apart,$(MOEE_LEGACY),hs))
# Table 5: all layers, all tokens; the router's logits
$(eval $(call moee_way,hs-layers,COMBINE=hs EMIT=hs:layers=mean$$(,)rw,$(MOEE_STS)))
$(eval $(call moee_way,hs-tokens,COMBINE=hs EMIT=hs:pool=mean$$(,)rw,$(MOEE_STS)))
$(eval $(call moee_way,hs-both,COMBINE=hs EMIT=hs:layers=mean:pool=mean$$(,)rw,$(MOEE_STS)))
$(eval $(call moee_way,rw-tokens,COMBINE=rw EMIT=hs$$(,)rw:pool=mean,$(MOEE_STS)))
$(eval $(call moee_way,rw-logits,COMBINE=rw EMIT=hs$$(,)rw:logits,$(MOEE_STS)))
$(eval $(call moee_way,sum-logits,COMBINE=sum EMIT=hs$$(,)rw:logits,$(MOEE_STS),rw-logits))

# The nine prompts of Table 2 are scored on the STS of five years.
MOEE_PROMPTS ?= one-word style sentiment tone intent complexity subjectivity language-style grammar
MOEE_WHOLE   := plain prompteol

# Trains the model.  Texts have a first special token and no last one, as in MoEE: the last token is the text's own.
$(LEARNED)/learn.txt $(LEARNED)/held.txt &: $(TEXT)/corpus.txt $(if $(MOEE_TEXT),$(DOCS)/passages.tsv)
	mkdir -p $(LEARNED)
	$(if $(MOEE_TEXT),{ cat $<; cut -f3 $(word 2,$^); } | shuf --random-source=$(word 2,$^),cat $<) | \
		awk -v held=$(LEARNED)/held.txt 'NR % 100 == 0 { print > held; next } { print }' > $(LEARNED)/learn.txt

$(LEARNED)/start/config.json: $(LEARNED)/learn.txt $(MOEE_CONFIG) | $X/tok
	mkdir -p $(@D)
	$X/tok -q --learn bpe --vocab-size $$(jq .vocab_size $(MOEE_CONFIG)) -o $(@D) $<
	jq '(.post_processor.single, .post_processor.pair) |= map(select(.SpecialToken.id != "[SEP]"))' $(@D)/tokenizer.json > $(@D)/new
	mv $(@D)/new $(@D)/tokenizer.json
	cp $(MOEE_CONFIG) $@

$(LEARNED)/learn.mts $(LEARNED)/held.mts: $(LEARNED)/%.mts: $(LEARNED)/%.txt $(LEARNED)/start/config.json | $X/tok
	$X/tok -q -m $(LEARNED)/start --max-length 512 $< > $@

HEAVY += $(LEARNED)/model/%/config.json $E/texts/%.mts
$(LEARNED)/model/%/config.json: $(LEARNED)/learn.mts $(LEARNED)/held.mts | $X/train
	echo "train $(@D)" >&2; mkdir -p $(dir $(@D)); \
	$X/train -m $(LEARNED)/start --from-scratch --objective clm $(MOEE_TRAIN) --seed $* --dev $(LEARNED)/held.mts --progress -o $(@D) $<

## moee-model a mixture of experts trained from scratch on the dictionaries, for make moee (SEEDS=; 11 minutes each, hours with MOEE_TEXT=documents)
moee-model: | $(DEPS)
	+@$(call programs,tok train)
	@$(MAKE) --no-print-directory $(SEEDS:%=$(LEARNED)/model/%/config.json)
	@for seed in $(SEEDS); do awk -F'\t' -v seed=$$seed 'FNR == 1 { for (i = 1; i <= NF; i++) at[$$i] = i } $$at["dev_loss"] { loss = $$at["dev_loss"] } \
		END { printf "seed %s: loss of the texts held out %.3f, perplexity %.0f\n", seed, loss, exp(loss) }' $(LEARNED)/model/$$seed.log.tsv; done

# Scores: scores/SEED/TEMPLATE+WAY/scores.tsv, and below it the scores of each query.  Ways share embeddings in work/SEED.
moee_at     = $(word $1,$(subst /, ,$*))
moee_seed   = $(call moee_at,1)
moee_prompt = $(firstword $(subst +, ,$(call moee_at,2)))
moee_way    = $(lastword $(subst +, ,$(call moee_at,2)))
moee_folder = $(subst %,$(moee_seed),$(MOEE_MODEL))
moee_first  = $($(moee_way).first:%=$E/scores/$(moee_seed)/$(moee_prompt)+%/scores.tsv)
moee_tasks  = $(if $(filter $(MOEE_WHOLE),$(moee_prompt)),$($(moee_way).tasks),$(MOEE_STS))
# a name of the Hub has no folder here
moee_config = $(if $(findstring %,$(MOEE_MODEL))$(wildcard $(moee_folder)/config.json),$(moee_folder)/config.json)

# a rule for each cell: the cell that makes the streams comes before the cells that share them
moee_cells = $(foreach seed,$(MOEE_SEEDS),$(foreach prompt,$(MOEE_WHOLE),$(MOEE_WAYS:%=$(seed)/$(prompt)+%)) \
	$(foreach prompt,$(MOEE_PROMPTS),$(seed)/$(prompt)+hs $(seed)/$(prompt)+rw))
.SECONDEXPANSION:
$(moee_cells:%=$E/scores/%/scores.tsv): $E/scores/%/scores.tsv: $$(moee_config) $E/from $$(moee_first) | $X/mteb-score $X/moee-sim
	@echo "score $*" >&2
	rm -rf $(@D)
	mkdir -p $(@D)
	$(call mteb_of,$(moee_folder),$(MOEE_NAME)-$(moee_seed),$(moee_tasks),$(MOEE_DATA),TEMPLATE=$(filter-out plain,$(moee_prompt)) \
		$($(moee_way).way),$E/work/$(moee_seed))
	$(main_scores) > $@

# the model and the data; embeddings of others are removed
$E/from: always
	@echo '$(abspath $(MOEE_DATA)), $(MOEE_MODEL)' | cmp -s - $@ || { rm -rf $E/work; $(call says,$(abspath $(MOEE_DATA))$(,) $(MOEE_MODEL)); }

# Comparisons, compare/CELL/CELL.tsv as cells.awk reads them, over the sets of both.
moee_scores = $(MOEE_SEEDS:%=$E/scores/%/$1/scores.tsv)
$E/compare/%.tsv: $$(call moee_scores,$$(call moee_at,1)) $$(call moee_scores,$$(call moee_at,2)) $E/seeds | $X/leaderboard
	mkdir -p $(@D)
	{ $(foreach seed,$(MOEE_SEEDS),$(call compared,$(seed),$E/scores/$(seed)/$(call moee_at,1),$E/scores/$(seed)/$(call moee_at,2));) } > $@

# the seeds and columns of comparisons and tables; newer than these if they changed
$E/seeds: always
	@$(call says,$(MOEE_SEEDS))

$E/columns/%: always
	@$(call says,$(moee.$*.columns))

# table NAME, by (type or set), CELL/CELL of each column, its sets (default: all)
define moee_table
moee.$1.columns := $3
$E/$1.tsv: $(PIPELINES)/cells.awk $(3:%=$E/compare/%.tsv) $E/columns/$1
	awk -v by=$2 -v types=every -v only='$4' -f $$(filter-out $E/columns/$1,$$^) > $$@

$E/$1.md: $(TABLE_FILES) $E/$1.tsv
	$$(call table_of,moee,$1)

$E/$1.svg: $(PIPELINES)/bars.gnuplot $E/$1.tsv
	gnuplot -e "cells='$E/$1.tsv'" $$< > $$@

MOEE_TABLES += $1
endef
MOEE_TABLES :=
of_prompts = $(foreach prompt,$(MOEE_WHOLE),$(foreach pair,$1,$(prompt)+$(subst /,/$(prompt)+,$(pair))))
$(eval $(call moee_table,table3,type,$(addprefix plain+hs/plain+,rw concat sum)))
$(eval $(call moee_table,table4,type,$(addprefix prompteol+hs/prompteol+,rw concat sum)))
$(eval $(call moee_table,sum,type,$(call of_prompts,rw/sum concat/sum hs/hs-unit hs-unit/sum)))
$(eval $(call moee_table,figure1,type,$(call of_prompts,hs/sum)))
$(eval $(call moee_table,prompts,type,$(foreach way,hs rw concat sum,plain+$(way)/prompteol+$(way))))
$(if $(MOEE_PAIRED),$(eval $(call moee_table,alpha,type,$(call of_prompts,sum/auto sum/grid hs/auto hs/grid))))
$(eval $(call moee_table,norm,type,$(call of_prompts,hs/corpus hs/code hs/hs-corpus hs/hs-code hs-corpus/corpus hs-code/code)))
$(if $(MOEE_LEGACY),$(eval $(call moee_table,legacy,type,$(call of_prompts,sum/legacy hs/legacy))))
$(if $(MOEE_STS),$(eval $(call moee_table,table5,set,$(addprefix prompteol+hs/prompteol+,hs-layers hs-tokens hs-both rw) \
	prompteol+rw/prompteol+rw-tokens prompteol+rw/prompteol+rw-logits prompteol+sum/prompteol+sum-logits,$(MOEE_STS))))
$(eval $(call moee_table,table8,set,$(call of_prompts,hs/rw hs/concat hs/sum)))

# The alphas of auto and the grid, from the streams' properties.
$E/alphas.tsv: $$(foreach prompt,$$(MOEE_WHOLE),$$(foreach way,auto grid,$$(call moee_scores,$$(prompt)+$$(way)))) $E/seeds | $X/mts
	{ printf 'seed\tprompt\tway\tset\talpha\n'; \
	$(foreach seed,$(MOEE_SEEDS),$(foreach prompt,$(MOEE_WHOLE),$(foreach way,auto grid,$(call found_alphas,$(seed),$(prompt),$(way)))))} > $@

found_alphas = for stream in $E/work/$1/$(MOEE_NAME)-$1/$$(sed -n 's/^revision := //p' $E/scores/$1/$2+$3/plan.mk)/*/*.mts; do \
		printf '$1\t$2\t$3\t%s\t%s\n' $$(basename $$(dirname $$stream)) \
			$$($X/mts head --json $$stream | jq -r '.properties.emb // empty | sub(".*alpha="; "")'); \
	done;

# Table 1, also against the labels and random labels, on the texts of DATA's clusterings.
MOEE_CLUSTERS ?= 20
MOEE_COMMON   ?= 0.05
moee_texts    = $(wildcard $(MOEE_DATA)/clustering/*/test.jsonl*)
moee_text     = $(wildcard $(MOEE_DATA)/clustering/$1/test.jsonl*)
cluster_sets  = $(notdir $(patsubst %/,%,$(dir $(moee_texts))))

$E/texts/%.mts: $$(call moee_text,$$(call moee_at,2)) $$(moee_config) $E/from $E/figure-seeds | $X/tok $X/encode $X/mts
	mkdir -p $(@D); \
	$X/mts paste -q -o $@ <($X/tok -q -m $(moee_folder) --template prompteol --keep -f text $< | $X/encode -q -m $(moee_folder) $(WEIGHTS:%=--weights %) --emit hs,rw) \
		<(zstdcat -f $< | jq -r '[.label | tostring] | @tsv' | awk -v OFS='\t' -v k=$(MOEE_CLUSTERS) \
			'BEGIN { x = 1; print "class", "chance" } { x = x * 16807 % 2147483647; print $$0, int(k * x / 2147483647) }' | $X/mts from tsv)

moee_each = $(foreach seed,$(FIGURE_SEEDS),$(foreach set,$(cluster_sets),$E/texts/$(seed)/$(set).mts))
$E/table1.tsv: $$(moee_each) $E/figure-seeds | $X/geom
	for stream in $(moee_each); do \
		seed=$$(basename $$(dirname $$stream)); set=$$(basename $$stream .mts); \
		$X/geom agreement -q -k $(MOEE_CLUSTERS) -f text.hs -f text.rw --label class --label chance $$stream | \
			awk -F'\t' -v OFS='\t' -v seed=$$seed -v set=$$set 'NR == 1 { print "seed", "set", $$0; next } { print seed, set, $$0 }'; \
	done | awk 'NR == 1 || !/^seed\t/' > $@

# the settings of the figures
$E/figure-seeds: always
	@$(call says,$(FIGURE_SEEDS) of $(cluster_sets)$(,) $(MOEE_PROMPTS)$(,) $(MOEE_CLUSTERS) $(MOEE_COMMON)$(,) $(THRESHOLDS)$(,) $(MOEE_EXAMPLES))

# Figure 3: the words of three clusters of the first set, by hidden states and by routing weights.
first_text = $E/texts/$(firstword $(FIGURE_SEEDS))/$(firstword $(cluster_sets)).mts
$E/figure3-hs.tsv $E/figure3-rw.tsv: $E/figure3-%.tsv: $$(first_text) | $X/topics
	$X/topics -q -k 3 --no-stop -f text.$* --max-df $(MOEE_COMMON) --min-length 3 -o $@ $<

$E/figure3-%.svg: $(PIPELINES)/topics.awk $E/figure3-%.tsv $(PIPELINES)/topics.gnuplot
	awk -f $< $(word 2,$^) > $E/figure3-$*.words
	gnuplot -e "words='$E/figure3-$*.words'; title='$(if $(filter hs,$*),hidden states,routing weights)'" $(word 3,$^) > $@

# Figures 2, 4, 5, 6 and Tables 6, 7 use the scores of each pair of STS.
THRESHOLDS ?= 0.2 0.1 0.3
pairs_of = $E/scores/$1/$2/results/*/*/$3.tsv
hs_rw    = $$(foreach way,hs rw,$E/scores/$$*/prompteol+$$(way)/scores.tsv)
of_seeds = $(FIGURE_SEEDS:%=$E/$1-%.$2)
nine     = $$(foreach prompt,$$(MOEE_PROMPTS),$$(foreach way,hs rw,$E/scores/$$*/$$(prompt)+$$(way)/scores.tsv))

$(call of_seeds,figure2,tsv): $E/figure2-%.tsv: $(PIPELINES)/complementarity.awk $(hs_rw) $E/figure-seeds
	awk -v thresholds='$(THRESHOLDS)' -f $(PIPELINES)/ranks.awk -f $< \
		$(foreach set,$(MOEE_STS),$(call pairs_of,$*,prompteol+hs,$(set)) $(call pairs_of,$*,prompteol+rw,$(set))) > $@

$(call of_seeds,figure2,svg): $E/figure2-%.svg: $(PIPELINES)/complementarity.gnuplot $E/figure2-%.tsv
	awk -F'\t' -v threshold=$(firstword $(THRESHOLDS)) 'NR == 1 || $$2 == threshold' $(word 2,$^) > $E/figure2-$*.one
	gnuplot -e "table='$E/figure2-$*.one'; a='HS'; b='RW'" $< > $@

# similarities of the first set with each of the nine prompts
$(call of_seeds,figure4,tsv): $E/figure4-%.tsv: $(nine) $E/figure-seeds | $X/geom $X/mts
	rm -rf $E/figure4/$*
	mkdir -p $E/figure4/$*/hs $E/figure4/$*/rw
	$(foreach way,hs rw,$(foreach prompt,$(MOEE_PROMPTS),$X/mts from tsv -q --numbers similarity -o $E/figure4/$*/$(way)/$(prompt).mts \
		$(call pairs_of,$*,$(prompt)+$(way),$(firstword $(MOEE_STS)));))
	cd $E/figure4/$* && $(abspath $X)/geom correlation -q hs/*.mts rw/*.mts > figure4.tsv
	cd $E/figure4/$* && $(abspath $X)/geom correlation -q --blocks hs/*.mts rw/*.mts > blocks.tsv
	cp $E/figure4/$*/figure4.tsv $@

$(call of_seeds,figure4,svg): $E/figure4-%.svg: $(PIPELINES)/correlation.gnuplot $E/figure4-%.tsv
	gnuplot -e "matrix='$(word 2,$^)'; title='$(firstword $(MOEE_STS))'" $< > $@

$(call of_seeds,figure5,tsv): $E/figure5-%.tsv: $(PIPELINES)/boxes.awk $(nine) $E/figure-seeds
	{ printf 'set\tgroup\tscore\n'; for way in hs rw; do for prompt in $(MOEE_PROMPTS); do \
		awk -F'\t' -v OFS='\t' -v way=$$way '{ print $$2, toupper(way), $$4 }' $E/scores/$*/$$prompt+$$way/scores.tsv; \
	done; done | sort -s -k1,1; } | awk -f $(PIPELINES)/ranks.awk -f $< > $@

$(call of_seeds,figure5,svg): $E/figure5-%.svg: $(PIPELINES)/boxes.gnuplot $E/figure5-%.tsv
	gnuplot -e "table='$(word 2,$^)'; axis='Spearman'" $< > $@

# tokens of the pairs, and their similarities, over all sets
sts_file   = $$(sed -n 's/^$1\.test := //p' $E/scores/$*/prompteol+hs/plan.mk)
sts_fields = $$($X/leaderboard fields --type STS $(call sts_file,$1))
all_pairs  = $(foreach set,$(MOEE_STS),sed -n '2,$$s/^/$(set):/p' $(call pairs_of,$*,prompteol+$1,$(set));)
sentences  = $X/tok -q -m $(subst %,$*,$(MOEE_MODEL)) --keep $(call sts_fields,$1) $(call sts_file,$1) | $X/mts to jsonl -q
$(call of_seeds,figure6,tsv): $E/figure6-%.tsv: $(PIPELINES)/lengths.awk $(hs_rw) | $X/tok $X/mts $X/leaderboard
	mkdir -p $E/figure6/$*
	{ printf 'id\tlength\n'; $(foreach set,$(MOEE_STS),$(call sentences,$(set)) | \
		jq -r '["$(set):\(input_line_number)", ((."sentence1.ids" | length) + (."sentence2.ids" | length)) / 2] | @tsv';) } > $E/figure6/$*/lengths.tsv
	for way in hs rw; do head -qn 1 $(call pairs_of,$*,prompteol+hs,$(firstword $(MOEE_STS))) > $E/figure6/$*/$$way.tsv; done
	{ $(call all_pairs,hs) } >> $E/figure6/$*/hs.tsv
	{ $(call all_pairs,rw) } >> $E/figure6/$*/rw.tsv
	cd $E/figure6/$* && awk -f $(abspath $(PIPELINES))/ranks.awk -f $(abspath $<) lengths.tsv hs.tsv rw.tsv > figure6.tsv
	cp $E/figure6/$*/figure6.tsv $@

$(call of_seeds,figure6,svg): $E/figure6-%.svg: $(PIPELINES)/lengths.gnuplot $E/figure6-%.tsv
	gnuplot -e "table='$(word 2,$^)'" $< > $@

MOEE_EXAMPLES ?= 3
$(call of_seeds,table6,tsv): $E/table6-%.tsv: $(PIPELINES)/pair-examples.awk $E/figure6-%.tsv $E/figure-seeds | $X/tok $X/mts $X/leaderboard
	{ printf 'id\tsentence1\tsentence2\n'; $(foreach set,$(MOEE_STS),$(call sentences,$(set)) | \
		jq -r '["$(set):\(input_line_number)", .sentence1, .sentence2] | @tsv';) } > $E/figure6/$*/texts.tsv
	awk -v top=$(MOEE_EXAMPLES) -v a=HS -v b=RW -f $(PIPELINES)/ranks.awk -f $< $E/figure6/$*/texts.tsv $E/figure6/$*/hs.tsv $E/figure6/$*/rw.tsv > $@

# All seeds in one table.
each_seeds = for seed in $(FIGURE_SEEDS); do awk -F'\t' -v OFS='\t' -v seed=$$seed 'FNR == 1 { print "seed", $$0; next } { print seed, $$0 }' $1; \
	done | awk 'NR == 1 || !/^seed\t/'
$E/figure2.tsv $E/figure5.tsv $E/figure6.tsv $E/table6.tsv: $E/%.tsv: $$(call of_seeds,$$*,tsv) $E/figure-seeds
	$(call each_seeds,$E/$*-$$seed.tsv) > $@

$E/figure4.tsv: $(call of_seeds,figure4,tsv) $E/figure-seeds
	$(call each_seeds,$E/figure4/$$seed/blocks.tsv) > $@

figure2.said := Of the pairs on which one at least fails: the shares of those that HS (a), RW (b) or both rank wrong; with PromptEOL.
figure4.said := Spearman correlation of similarities, means over pairs of prompts (the same prompt with itself left out).
figure5.said := Spearman correlation with the gold score over nine prompts.
figure6.said := Shares of pairs ranked right by their length in tokens; last the correlation of length and deviation.
table1.said  := k-means of hidden states and routing weights, means of five runs; class: as people have it, chance: drawn.
table6.said  := Pairs that mean the same, where HS or RW alone is right.
alphas.said  := The weight of routing weights that maximises the label-free criterion, exactly and over 0.1, 0.2 ... 1.
MOEE_PLAIN   := $(if $(MOEE_PAIRED),alphas) $(if $(cluster_sets),table1) $(if $(MOEE_STS),table6 figure2 figure4 figure5 figure6)
$(MOEE_PLAIN:%=$E/%.md): $E/%.md: $E/%.tsv
	$(call plain_table,$<,$($*.said)) > $@

moee_pictures = $(MOEE_TABLES:%=$E/%.svg) $(if $(cluster_sets),$E/figure3-hs.svg $E/figure3-rw.svg) \
	$(if $(MOEE_STS),$(foreach n,2 4 5 6,$(call of_seeds,figure$n,svg)))
moee_files = $(MOEE_TABLES:%=$E/%.md) $(MOEE_PLAIN:%=$E/%.md) $(moee_pictures)
$(foreach name,$(MOEE_TABLES) $(MOEE_PLAIN),$(eval moee-$(name): $E/$(name).md; @cat $$<))
moee-table7: moee-table6
moee-figure3: $E/figure3-hs.svg $E/figure3-rw.svg

## moee       MoEE: its tables and figures for MODEL= (default: of make moee-model; DATA=dir, SEEDS=)
moee: | $(DEPS)
	@[ -n "$(MOEE_TASKS)" ] || { echo 'moee: there is nothing to score in DATA=$(MOEE_DATA); motes(7) says how data sets lie there' >&2; exit 2; }
	+@$(call programs,tok encode train pilot-route moee-sim mteb-score leaderboard geom topics mts)
	@$(if $(filter $(LEARNED)/model/%,$(MOEE_MODEL)),$(MAKE) --no-print-directory moee-model SEEDS="$(MOEE_SEEDS)")
	@$(ALONE) $(MAKE) --no-print-directory -j$(JOBS) $(moee_files)
	@$(foreach name,$(MOEE_TABLES) $(MOEE_PLAIN),cat $E/$(name).md; echo;)

# MoTE's baseline with token experts, trained by make mote (an encoder: its hidden states are its embeddings).
MOEE_UPCYCLED = $M/models/tlr/$(tlr.rate)/%
moee-upcycled:
	@$(MAKE) --no-print-directory $(subst %,,$(foreach seed,$(SEEDS),$(subst %,$(seed),$(MOEE_UPCYCLED))/config.json))
	@$(MAKE) --no-print-directory moee MODEL='$(MOEE_UPCYCLED)' NAME=tlr

# A dense model (MODEL, default share/models/base): k-means puts its neurons in groups, with a seed each, and the groups' shares in the
# activations of all tokens stand for routing weights.  The control has groups of neighbouring neurons, whose order is chance.
NEURON_EXPERTS ?= 16
MOEE_DENSE     := $(call given,MODEL,$(SHARE)/models/base)
NEURONS        := $(MOEE)/neurons/$(notdir $(patsubst %/,%,$(MOEE_DENSE)))
$(eval $(call moee_table,neurons,set,$(addprefix plain+hs/plain+,rw concat sum auto hs-corpus) plain+hs-corpus/plain+corpus))
MOEE_TABLES    := $(filter-out neurons,$(MOEE_TABLES))

$(NEURONS)/grouped/%/config.json: $(MOEE_DENSE)/config.json $(NEURONS)/from | $X/upcycle
	mkdir -p $(dir $(@D))
	$X/upcycle -q -m $(<D) --neuron-experts $(NEURON_EXPERTS) --seed $* -o $(@D)

$(NEURONS)/chance/1/config.json: $(MOEE_DENSE)/config.json $(NEURONS)/from
	rm -rf $(@D) && mkdir -p $(dir $(@D)) && cp -rL $(<D) $(@D)
	jq '.neuron_experts = $(NEURON_EXPERTS)' $< > $@

$(NEURONS)/from: always
	@$(call says,$(abspath $(MOEE_DENSE))$(,) $(NEURON_EXPERTS) experts)

# $1: grouped or chance; $2: its seeds
neuron_table = $(MAKE) --no-print-directory $(2:%=$(NEURONS)/$1/%/config.json) && \
	$(ALONE) $(MAKE) --no-print-directory -j$(JOBS) moee-neurons-table MODEL='$(NEURONS)/$1/%' NAME=$(notdir $(NEURONS))-$1 SEEDS="$2" EMIT=hs$(,)rw:pool=mean
moee-neurons-table: $E/neurons.md
	@cat $<
## moee-neurons MoEE of a dense model MODEL=dir, its neurons in groups (DATA=dir, SEEDS=, MOEE_TASKS=sts, NEURON_EXPERTS=16)
moee-neurons: | $(DEPS)
	+@$(call programs,tok encode upcycle moee-sim mteb-score leaderboard mts)
	@$(call neuron_table,grouped,$(SEEDS))
	@$(call neuron_table,chance,1)

# The paper's three models on MTEB in DATA.
PAPER_MODELS ?= deepseek-ai/deepseek-moe-16b-base Qwen/Qwen1.5-MoE-A2.7B allenai/OLMoE-1B-7B-0924
moee-paper:
	@for model in $(PAPER_MODELS); do $(MAKE) --no-print-directory moee SIZE=paper MODEL=$$model || exit; done

.PHONY: moee moee-model moee-upcycled moee-neurons moee-neurons-table moee-paper moee-table7 moee-figure3 $(addprefix moee-,$(MOEE_TABLES) $(MOEE_PLAIN))
