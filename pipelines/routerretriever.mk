# routerretriever.mk - RouterRetriever (Lee et al. 2025): its Tables 1 to 12, Figures 3 to 9
#	make routerretriever [DATA=dir] [START=model] [SEEDS="1 2 3"] [OTHERS="cisi"]
#	make routerretriever SIZE=paper START=contriever DATA=beir [PRECISION=bf16] [JOBS=8 RUN=share/cluster/one-device] [TRAIN_OPTIONS=...]
#	make routerretriever-knowledge [PROBE=rows.jsonl]
# A gate is a LoRA adapter for queries, trained on one set; documents keep the base model's embeddings, made once.
# Pilots, fitted on the scores of the training queries with each gate, route each test query to a gate.
# small: share/recipes/routerretriever-small.yaml, texts of 128 tokens; without DATA the dictionaries alone.
# paper: share/recipes/routerretriever-paper.yaml; dot products, no document with its query's id, MSMARCO's dev queries for its
# test, the multi-task gate on equally many pairs of each set, gates trained until dev queries gain no more.
# All routers are scored from the scores of each query with each gate (mteb-score --per-query): no text is encoded twice
# with a gate.
# DOCUMENTS=trained: gates for documents too (Table 6).  FROM=3: gates at this and later layers, at the modules whose
# names end in LINEAR; else at those of queries and values, train's default.
# SAMPLE=100: training pairs of a gate (Figure 3).  ORDERS: seeds to shuffle the gates by (Figure 9).
# ROUNDS=40: train a gate ROUND epochs at a time at a constant rate, up to so many times; after each its mean nDCG@10 on its sets'
# dev queries is taken, PATIENCE rounds without a gain end the training, and the best round is kept.  Each begins AdamW anew.
# The rate is the paper's, or the one that make routerretriever-rates chose for the model on the development split; LR=X.
ROUTER        := $(OUT)/routerretriever
ROUTER_RECIPE := $(SHARE)/recipes/routerretriever-$(SIZE).yaml
ROUTER_RATES  := $(SHARE)/recipes/routerretriever-rates.tsv
ROUTER_BASE   := $(call given,START,$(SHARE)/models/base)
ROUTER_NAME   := $(notdir $(patsubst %/,%,$(ROUTER_BASE)))
ROUTER_LR     := $(call given,LR,$(or $(call small,$(call column_of,$(ROUTER_RATES),$(ROUTER_NAME),2)),1e-4))
ROUTER_LENGTH := $(call given,LENGTH,$(call small,128,512))
ROUTER_DATA   := $(ROUTER)/data
DICTIONARIES  := $(call small,wordnet foldoc)
# queries of a set's training split, for training and for choosing together; 0: all
QUERIES       ?= $(call small,1250,0)
DOCUMENTS     ?= frozen
FROM          ?=
LINEAR        ?= attention.self.query attention.self.value
SAMPLE        ?=
# MULTI: the gate of all sets in tables: multi, or balanced, on as many pairs of each set as the smallest has
MULTI         ?= $(call small,multi,balanced)
ROUNDS        ?= $(call small,,160)
ROUND         ?= 3
PATIENCE      ?= 2
# options of train and mteb-score
ROUTER_LOSS   := $(call small,,--similarity dot)
ROUTER_SCORE  := $(call small,,--similarity dot --ignore-identical-ids)
ROUTER_BITS   := $(patsubst %,--precision %,$(filter-out f32,$(PRECISION)))

# A set's folder, in the layout of motes(7) or of BEIR.  Gates in the recipe's order; sets without a gate.
set_folder = $(firstword $(wildcard $(DATA)/retrieval/$1 $(DATA)/$1))
have       = $(foreach set,$1,$(if $(or $(filter $(set),$(DICTIONARIES)),$(call set_folder,$(set))),$(set)))
ROUTER_GATES = $(eval ROUTER_GATES := $(call have,$(call sets_of,$(ROUTER_RECIPE))))$(ROUTER_GATES)
OTHERS    ?= $(call small,cisi cosqa cranfield msmarco_5k,webis-touche2020 climate-fever dbpedia-entity nq fever trec-covid scidocs)
# the order in which the figures add gates; the gate that Table 1 leaves out
ADDED     ?= $(call small,$(ROUTER_GATES),$(call have,arguana fiqa scifact nfcorpus hotpotqa quora msmarco))
LESS      ?= $(firstword $(MARCO) $(ROUTER_GATES))
MARCO      = $(filter msmarco,$(ROUTER_GATES))
OTHER_SETS = $(eval OTHER_SETS := $(filter-out $(ROUTER_GATES),$(call have,$(OTHERS))))$(OTHER_SETS)
SETS_ALL   = $(ROUTER_GATES) $(OTHER_SETS)

Q := $(ROUTER)/$(SIZE)/$(ROUTER_NAME)
W := $Q/$(ROUTER_LR)$(if $(filter trained,$(DOCUMENTS)),-documents)$(FROM:%=-from-%)$(SAMPLE:%=-sample-%)
space := $() $()
at = $(word $1,$(subst /, ,$*))

# The sets: training judgements in two parts.
$(ROUTER_DATA)/from: always
	@$(call says,$(abspath $(DATA))$(,) $(QUERIES))

$(ROUTER_DATA)/%/made: $(PIPELINES)/queries-part.awk $(ROUTER_DATA)/from
	@[ -n '$(call set_folder,$*)' ] || { echo "there is no set $* in DATA=$(DATA)" >&2; exit 1; }
	rm -rf $(@D)
	mkdir -p $(@D)/qrels
	ln -s $(abspath $(wildcard $(call set_folder,$*)/corpus.jsonl* $(call set_folder,$*)/queries.jsonl*)) $(@D)
	ln -s $(abspath $(firstword $(wildcard $(patsubst %,$(call set_folder,$*)/qrels/%.tsv,$(test_split))))) $(@D)/qrels/test.tsv
	! [ -e $(call set_folder,$*)/qrels/train.tsv ] || $(call parts_of,$(call set_folder,$*)/qrels/train.tsv)
	touch $@

# MSMARCO's test split has 43 queries; BEIR and the paper report its dev split
test_split = $(if $(filter msmarco,$*),dev test,test dev)
parts_of = awk -v most=$(QUERIES) -v folder=$(@D)/qrels -f $(PIPELINES)/queries-part.awk $1 $1

# Evenly spaced pairs of a dictionary.
wordnet.pairs = $(TEXT)/train-noun.jsonl $(TEXT)/train-verb.jsonl $(TEXT)/train-adjective.jsonl $(TEXT)/train-adverb.jsonl
foldoc.pairs  = $(TEXT)/train-foldoc.jsonl
wordnet.held  = grep -v ^f
foldoc.held   = grep -e ^f -e ^query-id
$(DICTIONARIES:%=$(ROUTER_DATA)/%/made): $(ROUTER_DATA)/%/made: $(TEXT)/corpus.txt $(PIPELINES)/queries-part.awk $(PIPELINES)/pairs-to-beir.awk $(ROUTER_DATA)/from
	rm -rf $(@D)
	mkdir -p $(@D)/qrels
	awk 'NR == FNR { n++; next } !$(QUERIES) || int(FNR * $(QUERIES) / n) > int((FNR - 1) * $(QUERIES) / n)' <(cat $($*.pairs)) <(cat $($*.pairs)) | \
		jq -r '[(.query | tojson), (.document | tojson)] | join("\t")' | awk -v folder=$(@D) -f $(PIPELINES)/pairs-to-beir.awk
	mv $(@D)/qrels/test.tsv $(@D)/qrels/all.tsv
	$(call parts_of,$(@D)/qrels/all.tsv)
	$($*.held) $(TEXT)/test/qrels.tsv > $(@D)/qrels/test.tsv
	cat $(TEXT)/test/queries.jsonl >> $(@D)/queries.jsonl
	cat $(TEXT)/test/corpus.jsonl >> $(@D)/corpus.jsonl
	touch $@

$Q/from: always
	@$(call says,$(abspath $(ROUTER_BASE))$(,) $(ROUTER_LENGTH)$(PRECISION:%=$(,) %))

$Q/base/config.json: $(ROUTER_BASE)/config.json $Q/from
	mkdir -p $(dir $(@D))
	rm -rf $(@D)
	cp -rL $(ROUTER_BASE) $(@D)
	$(call with_length,$(ROUTER_BASE),$(ROUTER_LENGTH))

# The base model's embeddings: corpus/SET, learned/SET, told/WHAT/SPLIT/SET; WHAT is emb, or layer-2 and so on.
.SECONDEXPANSION:
HEAVY += $Q/corpus/%.mts $Q/learned/%.mts $Q/told/%.mts $W/gates/%/adapter_config.json $W/single/%.tsv $W/embedded/%.mts

$Q/corpus/%.mts: $(ROUTER_DATA)/%/made $Q/base/config.json | $X/leaderboard $X/tok $X/encode
	echo "encode $*" >&2; mkdir -p $(@D); \
	corpus=$$(echo $(<D)/corpus.jsonl*); \
		$X/tok -q -m $Q/base $$($X/leaderboard fields --type corpus $$corpus) $$corpus | $X/encode -q -m $Q/base $(ROUTER_BITS) --keep -o $@

# the documents that gates learn from, which train holds in memory
$Q/learned/%.mts: $(ROUTER_DATA)/%/made $Q/base/config.json | $X/leaderboard $X/tok $X/encode
	mkdir -p $(@D); corpus=$$(echo $(<D)/corpus.jsonl*); \
		zstdcat -f $$corpus | jq -c --slurpfile of <(tail -n +2 $(<D)/qrels/$(pairs_split).tsv | cut -f2 | jq -R . | jq -s 'INDEX(.)') 'select($$of[0][._id])' | \
		$X/tok -q -m $Q/base $$($X/leaderboard fields --type corpus $$corpus) --format jsonl - | $X/encode -q -m $Q/base $(ROUTER_BITS) --keep -o $@

judged_queries = $X/leaderboard judged $(<D)/qrels/$(call at,2).tsv $(<D)/queries.jsonl* | $X/tok -q -m $Q/base -f query=text --format jsonl -

$Q/told/%.mts: $(ROUTER_DATA)/$$(call at,3)/made $Q/base/config.json | $X/leaderboard $X/tok $X/encode
	mkdir -p $(@D); \
	$(judged_queries) | $X/encode -q -m $Q/base $(ROUTER_BITS) --keep --emit $(patsubst layer-%,emb=hs:layers=%,$(call at,1)) -o $@

# Gates: gates/SEED/GATE; GATE may be multi, trained on all sets, or multi-3, on the first three; or balanced likewise.
layers_from = $(foreach layer,$(shell jq 'range($(FROM); .num_hidden_layers // .n_layer)' $Q/base/config.json),$(LINEAR:%=$(layer).%))
lora        = rank=8,alpha=32,dropout=0.1$(if $(FROM),$(,)targets=$(subst $(space),+,$(layers_from)))

sampled    = <(sed -E 's/, sample: [0-9]+//; s/(\{name: [^}]*)\}/\1, sample: '"$1"'}/' $(ROUTER_RECIPE))
recipe     = $(if $(SAMPLE),$(call sampled,$(SAMPLE)),$(if $(balanced),$(call sampled,$$least),$(ROUTER_RECIPE)))
several    = $(filter multi multi-% balanced balanced-%,$1)
gates_of   = $(if $(call several,$1),$(if $(findstring -,$1),$(wordlist 1,$(lastword $(subst -, ,$1)),$(ADDED)),$(ROUTER_GATES)),$1)
learns     = $(call gates_of,$(call at,2))
balanced   = $(filter balanced balanced-%,$(call at,2))
stored     = $Q/learned$(if $(call several,$(call at,2)),,/$(call at,2)).mts
# the fewest pairs of a set, and of the recipe's samples
fewest     = least=$$({ grep -o 'sample: [0-9]*' $(ROUTER_RECIPE) || true; wc -l $(learns:%=$(ROUTER_DATA)/%/qrels/$(pairs_split).tsv) | \
	awk '$$2 != "total" { print "pairs:", $$1 - 1 }'; } | awk 'NR == 1 || $$2 < n { n = $$2 } END { print n }');
pairs_split = $(shell sed -n 's/.*split: \([a-z]*\).*/\1/p' $(ROUTER_RECIPE) | sort -u)
batches    = $X/tasksample -q -C $(ROUTER_DATA) $(addprefix --task ,$(learns)) --seed $1 $(recipe) | $X/tok -q -m $Q/base
learn      = $X/train -q -m $Q/base --lora $1 $(if $(filter frozen,$(DOCUMENTS)),--documents $(stored)) --lr $(ROUTER_LR) $(ROUTER_LOSS) \
	$(patsubst %,--precision %,$(filter bf16,$(PRECISION))) --no-mask-duplicates --seed $(call at,1) $(TRAIN_OPTIONS)
asks_dev   = $(if $(ROUNDS),$(foreach set,$(learns),$Q/told/emb/dev/$(set).mts $Q/corpus/$(set).mts))

$W/gates/%/adapter_config.json: $$(addsuffix /made,$$(addprefix $(ROUTER_DATA)/,$$(learns))) $$(stored) $(ROUTER_RECIPE) $$(asks_dev) $W/trained \
		| $X/tasksample $X/tok $X/train $(if $(ROUNDS),$X/encode $X/mteb-score)
	echo "gate $*" >&2; mkdir -p $(dir $(@D)); $(if $(balanced),$(fewest)) \
	$(if $(ROUNDS),$(in_rounds),$(call batches,$(call at,1)) | $(call learn,$(lora)) --schedule linear --warmup 0.1 -o $(@D))

$W/trained: always
	@$(call says,$(ROUNDS)$(,) $(ROUND)$(,) $(PATIENCE)$(,) $(TRAIN_OPTIONS))

# GATE.round is the last round, GATE.rounds.tsv the rounds and their scores
dev_scores = $(foreach set,$(learns),$X/encode -q -m $Q/base $(ROUTER_BITS) --adapter $(@D).round $Q/told/emb/dev/$(set).mts | \
	$X/mteb-score retrieval -q $(ROUTER_SCORE) --qrels $(ROUTER_DATA)/$(set)/qrels/dev.tsv - $(if $(filter frozen,$(DOCUMENTS)),$Q/corpus/$(set).mts,<($X/encode \
	-q -m $Q/base $(ROUTER_BITS) --adapter $(@D).round $Q/corpus/$(set).mts));)
define in_rounds
start=$(lora); warm=0.1; left=$(PATIENCE); best=-1; rm -rf $(@D).best $(@D).round; printf 'round\tndcg_at_10\n' > $(@D).rounds.tsv; \
	for ((round = 1; round <= $(ROUNDS) && left > 0; round++)); do \
		$(call batches,$$(($(call at,1) * 1000 + round)) --epochs $(ROUND)) | $(call learn,$$start) --schedule constant --warmup $$warm \
			--restart -o $(@D).round; \
		score=$$({ $(dev_scores) } | awk '$$1 == "ndcg_at_10" { sum += $$2; n++ } END { printf "%.6f", sum / n }'); \
		printf '%d\t%s\n' $$round $$score >> $(@D).rounds.tsv; \
		if awk "BEGIN { exit !($$score > $$best) }"; then best=$$score; left=$(PATIENCE); rm -rf $(@D).best; cp -r $(@D).round $(@D).best; \
		else left=$$((left - 1)); fi; \
		start=$(@D).round; warm=0; \
	done; \
	rm -rf $(@D) $(@D).round; mv $(@D).best $(@D)
endef

$Q/learned.mts: $$(patsubst %,$Q/learned/%.mts,$$(ROUTER_GATES)) | $X/mts
	$X/mts cat -q -o $@ $^

# Scores of each query with one gate: single/GATE/SPLIT/SEED/SET; GATE may be base.
adapter    = $(if $(filter-out base,$(call at,1)),$W/gates/$(call at,3)/$(call at,1)/adapter_config.json)
through    = $(if $(adapter),$X/encode -q -m $Q/base $(ROUTER_BITS) --adapter $(patsubst %/,%,$(dir $(adapter))),cat) $1

searched   = $(if $(filter frozen,$(DOCUMENTS))$(filter base,$(call at,1)),$Q/corpus/$(call at,4).mts,$W/embedded/$(call at,1)/$(call at,4)/$(call at,3).mts)

$W/single/%.tsv: $Q/told/emb/$$(call at,2)/$$(call at,4).mts $$(searched) $$(adapter) | $X/encode $X/mteb-score
	mkdir -p $(@D); \
	$(call through,$<) | $X/mteb-score retrieval -q $(ROUTER_SCORE) --qrels $(ROUTER_DATA)/$(call at,4)/qrels/$(call at,2).tsv --per-query $@ \
		- $(word 2,$^) >/dev/null

# DOCUMENTS=trained: a gate's embeddings of a set's documents, embedded/GATE/SET/SEED.
$W/embedded/%.mts: $Q/corpus/$$(call at,2).mts $$(adapter) | $X/encode
	echo "embed $*" >&2; mkdir -p $(@D); $(call through,$<) > $@.part; mv $@.part $@

# choice NAME, GATES, VECTORS: what a router chooses from, and by which vectors of the query
define router_choice
$1.gates   = $2
$1.vectors := $(or $3,emb)
endef
# library NAME, CHOICE, options of pilot-build: a library of pilots
define router_library
$1.choice := $2
$1.fit    := $3
$(call router_arm,$1,$1)
endef
# arm NAME, LIBRARY or CHOICE, options of pilot-route; the split that --best chooses on, if not the one that is scored
define router_arm
$1.from     := $2
$1.route    := $3
$1.split    := $4
ROUTER_ARMS += $1
endef

# the layers to route by, which the paper does not
LAYERS := $(call given,LAYERS,$(call small,$(shell seq $$(($$(sed -n 's/.*"num_hidden_layers": *\([0-9]*\).*/\1/p' $(ROUTER_BASE)/config.json 2>/dev/null || echo 0) - 1)))))
counts  = $(eval counts := $(if $(word 3,$(ROUTER_GATES)),$(shell seq 2 $$(($(words $(ROUTER_GATES)) - 1)))))$(counts)
$(eval $(call router_choice,all,$(ROUTER_GATES)))
$(eval $(call router_library,pilots,all))
$(eval $(call router_library,dataset,all,--router dataset))
$(eval $(call router_library,experts,all,--router experts))
$(eval $(call router_library,head,all,--router head))
$(eval $(call router_arm,best,all,--best))
# what --best could know: the best gate on the set's dev queries, without a gate on those of all gates' sets
$(eval $(call router_arm,best-dev,all,--best,dev))
$(eval $(call router_arm,oracle,all,--oracle))
$(eval $(call router_arm,random,pilots,--random))
# the released code's rule, and cosines; the library pilots has the code's ties
$(eval $(call router_arm,code,pilots,--rule max))
$(eval $(call router_arm,cosine,pilots,--similarity cosine))
$(eval $(call router_arm,nearest,pilots,--rule max --similarity cosine))
$(eval $(call router_library,drop,all,--ties drop))
$(eval $(call router_library,split,all,--ties split))
# not in the paper: pilots weighted by size; a gate's own set alone; no pilot of few queries
$(eval $(call router_arm,weighted,pilots,--rule weighted))
$(eval $(call router_library,own,all,--own))
# most queries are ties, which the first gate has
$(eval $(call router_arm,weighted-drop,drop,--rule weighted))
$(eval $(call router_library,own-drop,all,--own --ties drop))
LEAST ?= 10 30 100
$(foreach n,$(LEAST),$(eval $(call router_library,least-$n,all,--least $n)))
CLUSTERS ?= 2 4 8 16
$(foreach n,$(CLUSTERS),$(eval $(call router_library,clusters-$n,all,-k $n)))
# the first n gates in the order of the figures, in the code's order (for ties); all but one
define router_gates
$(call router_choice,$1,$2)
$(call router_library,pilots-$1,$1)
$(call router_arm,oracle-$1,$1,--oracle)
$(call router_arm,best-$1,$1,--best)
endef
$(foreach n,$(counts),$(eval $(call router_gates,$n,$(filter $(wordlist 1,$n,$(ADDED)),$(ROUTER_GATES)))))
$(foreach gate,$(ROUTER_GATES),$(eval $(call router_gates,less-$(gate),$(filter-out $(gate),$(ROUTER_GATES)))))
# the same in other orders
ORDERS  ?= 2 3
shuffled = $(shell shuf -e --random-source=<(yes $1) $(ROUTER_GATES))
$(foreach order,$(ORDERS),$(foreach n,$(counts),$(eval $(call router_gates,order$(order)-$n,$(wordlist 1,$n,$(call shuffled,$(order)))))))
# routing by an early layer, which would save a forward pass
$(foreach n,$(LAYERS),$(eval $(call router_choice,layer-$n,$(ROUTER_GATES),layer-$n))$(eval $(call router_library,pilots-layer-$n,layer-$n))$(eval $(call \
	router_library,head-layer-$n,layer-$n,--router head)))

# routed/ARM/SPLIT/SEED/SET: the scores of each query with the gate that the arm chose for it.
from        = $($(call at,1).from)
choice      = $(or $($(from).choice),$(from))
by_scores   = $(filter --oracle --best,$($(call at,1).route))
by_split    = $($(call at,1).split)
by_set      = $(if $(filter $(call at,4),$(ROUTER_GATES)),$(call at,4),$(ROUTER_GATES))
told_queries = $Q/told/$($(choice).vectors)/$(call at,2)/$(call at,4).mts
library     = $(if $(by_scores),,$W/pilots/$(from)/$(call at,3).mts)
single      = $W/single/$1/$(call at,2)/$(call at,3)/$(call at,4).tsv
judged_by   = $(if $(by_split),$(by_set:%=$W/single/$1/$(by_split)/$(call at,3)/%.tsv),$(call single,$1))
with_gates  = $(sort $(foreach gate,$($(choice).gates),$(call single,$(gate)) $(call judged_by,$(gate))))
as_one      = $(if $(word 2,$1),<(awk -f $(PIPELINES)/as-one.awk $1),$1)
named_gates = $(foreach gate,$($(choice).gates),gate=$(gate) $(call single,$(gate)))
seeded      = $(if $(filter --random,$($(call at,1).route)),--seed $(call at,3))

routing = $X/pilot-route -q $($(call at,1).route) $(seeded) $(if $(library),$(library) $(told_queries),$(foreach gate,$($(choice).gates),$(gate)=$(call as_one,$(call judged_by,$(gate)))) < $(told_queries)) | \
		$X/mts to tsv -c $1

$W/routed/%.tsv: $(PIPELINES)/routed.awk $$(told_queries) $$(library) $$(with_gates) | $X/pilot-route $X/mts
	mkdir -p $(@D)
	$(call routing,_id$(,)gate) | awk -f $< - $(named_gates) > $@

# shares/ARM/SPLIT/SEED/SET: the number of queries for which a gate has the best score
$W/shares/%.tsv: $(PIPELINES)/shares.awk $$(told_queries) $$(library) $$(with_gates) | $X/pilot-route $X/mts
	mkdir -p $(@D)
	$(call routing,$(subst $(space),$(,),$($(choice).gates:%=score.%))) | awk -f $< > $@

# pilots/LIBRARY/SEED from oracle/CHOICE/SEED/SET
learned_from = $(foreach set,$($($(call at,1).choice).gates),$W/oracle/$($(call at,1).choice)/$(call at,2)/$(set).mts)
$W/pilots/%.mts: $$(learned_from) | $X/pilot-build
	mkdir -p $(@D)
	$X/pilot-build fit -q $($(call at,1).fit) --seed $(call at,2) -o $@ $^

learned_with = $(foreach gate,$($(call at,1).gates),$1$W/single/$(gate)/train/$(call at,2)/$(call at,3).tsv)
asked        = $Q/told/$($(call at,1).vectors)/train/$(call at,3).mts
$W/oracle/%.mts: $$(asked) $$(learned_with) | $X/pilot-route
	mkdir -p $(@D)
	$X/pilot-route -q --oracle $(foreach gate,$($(call at,1).gates),$(gate)=$W/single/$(gate)/train/$(call at,2)/$(call at,3).tsv) < $< > $@

# Comparisons, compare/SPLIT/BASE/ARM.tsv as cells.awk reads them.  A type is whether a set has a gate.
# from-3: gates at layer 3 and later, routed by a head on layer 3's hidden states, in one forward pass.
in_tree   = $1/$2/$3/$4/$5.tsv
scores_of = $(if $(filter from-%,$1),$(call in_tree,$Q/$(ROUTER_LR)-$1/routed,$(1:from-%=head-layer-%),$2,$3,$4),$(call \
	in_tree,$W/$(if $(filter $1,$(ROUTER_ARMS)),routed,single),$1,$2,$3,$4))
sets.test = $(SETS_ALL)
sets.dev  = $(ROUTER_GATES)
each_run  = $(foreach seed,$(SEEDS),$(foreach set,$(sets.$(call at,1)),$(call scores_of,$(call at,$1),$(call at,1),$(seed),$(set))))
$W/compare/%.tsv: $$(call each_run,2) $$(call each_run,3) $W/runs/$$(call at,1) | $X/leaderboard
	mkdir -p $(@D)
	$(foreach seed,$(SEEDS),$(foreach set,$(sets.$(call at,1)),$X/leaderboard compare -q --from-per-query --resamples 1000 \
		$(call scores_of,$(call at,2),$(call at,1),$(seed),$(set)) $(call scores_of,$(call at,3),$(call at,1),$(seed),$(set)) | \
		awk -F'\t' -v OFS='\t' -v what="$(seed)	$(if $(filter $(set),$(ROUTER_GATES)),with,without) a gate	$(set)" \
			-v metric=ndcg_at_10 '$(compared_row)' >> $@.new;)) mv $@.new $@

# the seeds and columns of comparisons and tables; newer than these if they changed
$W/runs/%: always
	@$(call says,$(sets.$*)$(,) $(SEEDS))

$W/columns/%: always
	@$(call says,$(router.$*.columns))

# table NAME, SPLIT, by (type or set), BASE/ARM of each column
define router_table
router.$1.columns := $4
$W/$1.tsv: $(PIPELINES)/cells.awk $(4:%=$W/compare/$2/%.tsv) $W/columns/$1
	awk -v by=$3 -v types=every -f $$(filter-out $W/columns/$1,$$^) > $$@

$W/$1.svg: $(PIPELINES)/bars.gnuplot $W/$1.tsv
	gnuplot -e "cells='$W/$1.tsv'" $$< > $$@

ROUTER_TABLES += $1
endef
ROUTER_TABLES :=
$(eval $(call router_table,table1,test,set,$(MARCO:%=base/%) base/$(MULTI) base/pilots base/pilots-less-$(LESS) base/best base/best-dev base/oracle \
	$(MULTI)/pilots $(MARCO:%=%/pilots)))
$(eval $(call router_table,table2,test,set,base/random base/experts base/head base/dataset base/pilots dataset/pilots))
$(eval $(call router_table,table3,test,type,$(MARCO:%=base/%) base/$(MULTI) base/random base/experts base/head base/dataset base/pilots base/best base/best-dev \
	base/oracle $(MULTI)/pilots))
$(eval $(call router_table,table7,test,set,$(ROUTER_GATES:%=base/%)))
$(eval $(call router_table,table12,test,set,$(ROUTER_GATES:%=pilots/pilots-less-%)))
$(eval $(call router_table,rules,test,type,pilots/code pilots/cosine pilots/nearest pilots/drop pilots/split))
# weights of pilots; LEAST is to be chosen on dev
weights = $(foreach arm,pilots drop weighted weighted-drop own own-drop $(LEAST:%=least-%) dataset,base/$(arm)) pilots/weighted pilots/weighted-drop pilots/own \
	pilots/own-drop dataset/weighted-drop dataset/own-drop
$(eval $(call router_table,weights,test,type,$(weights)))
$(eval $(call router_table,weights-dev,dev,type,$(weights)))
$(eval $(call router_table,figure4,test,type,base/pilots base/best $(foreach n,$(counts),base/pilots-$n base/best-$n)))
$(eval $(call router_table,figure5,test,type,base/oracle $(counts:%=base/oracle-%)))
$(eval $(call router_table,figure8,test,type,base/pilots $(CLUSTERS:%=base/clusters-%)))
$(if $(LAYERS),$(eval $(call router_table,layers,test,type,$(LAYERS:%=pilots/pilots-layer-%) $(LAYERS:%=head/head-layer-%))))
$(eval $(call router_table,figure9,test,type,base/pilots $(counts:%=base/pilots-%) $(foreach order,$(ORDERS),$(counts:%=base/pilots-order$(order)-%))))
# tables that need further training
$(eval $(call router_table,figure4-multi,test,type,base/$(MULTI) base/pilots $(foreach n,$(counts),base/$(MULTI)-$n base/pilots-$n)))
$(eval $(call router_table,onepass,test,type,base/head $(LAYERS:%=base/from-%) $(LAYERS:%=head/from-%)))
ROUTER_TABLES := $(filter-out figure4-multi onepass,$(ROUTER_TABLES))

$W/%.md: $(TABLE_FILES) $W/%.tsv
	$(call table_of,routerretriever,$*)

# Figures 6 and 7: the shares of each set's queries that a gate serves best, and that are routed to it.
shares_of = $(foreach seed,$(SEEDS),$(foreach set,$(SETS_ALL),$W/shares/$1/test/$(seed)/$(set).tsv))
figure6.arm := oracle
figure7.arm := pilots
$W/figure6.tsv $W/figure7.tsv: $W/figure%.tsv: $$(call shares_of,$$(figure$$*.arm)) $W/runs/test
	awk -v gates='$(ROUTER_GATES)' -f $(PIPELINES)/share-table.awk $(call shares_of,$(figure$*.arm)) > $@

$W/figure6.md $W/figure7.md: $W/%.md: $W/%.tsv
	$(call plain_table,$<,Percent of a set'"'"'s queries$(if $(filter figure6,$*), that a gate serves best$(,) ties in equal shares, that are sent to a gate); means over seeds.) > $@

$W/figure6.svg $W/figure7.svg: $W/%.svg: $(PIPELINES)/shares.gnuplot $W/%.tsv
	gnuplot -e "table='$(word 2,$^)'" $< > $@

# Figures 4, 5, 8 and 9 are curves, over the number in an arm's name.
$W/curve%.svg: $(PIPELINES)/curves.gnuplot $W/figure%.tsv
	gnuplot -e "cells='$(word 2,$^)'; last='$(if $(filter 8,$*),1,$(words $(ROUTER_GATES)))'; over='$(if $(filter 8,$*),clusters of a group,gates)'" $< > $@

# Table 4: the size of each set; Table 5: queries that another set's gate serves better, and by how much.
$Q/table4.tsv: $$(patsubst %,$(ROUTER_DATA)/%/made,$$(SETS_ALL)) | $X/leaderboard
	mkdir -p $(@D)
	{ printf 'set\ttrain\tdev\ttest\tdocuments\n'; \
	for set in $(SETS_ALL); do \
		printf %s $$set; \
		for split in train dev test; do printf '\t%d' $$([ ! -e $(ROUTER_DATA)/$$set/qrels/$$split.tsv ] || \
			$X/leaderboard judged $(ROUTER_DATA)/$$set/qrels/$$split.tsv $(ROUTER_DATA)/$$set/queries.jsonl* | wc -l); done; \
		printf '\t%d\n' $$(zstdcat -f $(ROUTER_DATA)/$$set/corpus.jsonl* | wc -l); \
	done; } > $@

EXAMPLES ?= 3
first_seed = $(firstword $(SEEDS))
$W/table5.tsv: $(PIPELINES)/served-elsewhere.awk $$(foreach set,$$(ROUTER_GATES),$$(foreach gate,$$(ROUTER_GATES),$W/single/$$(gate)/test/$$(first_seed)/$$(set).tsv))
	{ printf 'query\tset\tgate\tndcg_at_10\tof the own\n'; \
	$(foreach set,$(ROUTER_GATES),$X/leaderboard judged $(ROUTER_DATA)/$(set)/qrels/test.tsv $(ROUTER_DATA)/$(set)/queries.jsonl* | jq -r '[._id, .text] | @tsv' | \
		awk -v own=$(set) -f $< - $(foreach gate,$(ROUTER_GATES),gate=$(gate) $W/single/$(gate)/test/$(first_seed)/$(set).tsv) | sort -t "	" -k4,4gr -k1,1 | awk 'NR <= $(EXAMPLES)';) } > $@

# Figure 3: gates trained on fewer pairs.  difference: less the model without gates; error: over queries and seeds.
SAMPLES ?= 30 100 300 1000
routerretriever-figure3:
	@$(foreach n,$(SAMPLES),$(ALONE) $(MAKE) --no-print-directory -j$(JOBS) SAMPLE=$n $Q/$(ROUTER_LR)-sample-$n/table7.tsv;)
	@awk -F'\t' -v OFS='\t' 'FNR == 1 { n = FILENAME; sub(/.*-sample-/, "", n); sub(/\/.*/, "", n) } \
		NR == 1 { print "pairs", "gate", "set", "ndcg_at_10", "difference", "error" } \
		$$3 != "all sets" && FNR > 1 { print n, $$2, $$3, $$7, $$9, $$15 }' $(SAMPLES:%=$Q/$(ROUTER_LR)-sample-%/table7.tsv) > $W/figure3.tsv
	@gnuplot -e "table='$W/figure3.tsv'" $(PIPELINES)/sizes.gnuplot > $W/figure3.svg
	@cat $W/figure3.tsv

# One forward pass instead of two: gates at a layer and later, routed by that layer's hidden states.
one_pass = $(foreach seed,$(SEEDS),$(foreach set,$(SETS_ALL),$(call scores_of,from-$1,test,$(seed),$(set))))
routerretriever-onepass:
	@$(foreach n,$(LAYERS),$(ALONE) $(MAKE) --no-print-directory -j$(JOBS) FROM=$n $(call one_pass,$n);)
	@$(MAKE) --no-print-directory -j$(JOBS) $W/onepass.md $W/onepass.svg
	@cat $W/onepass.md

# Figure 4 with a multi-task gate for each number of sets.
routerretriever-figure4-multi:
	@$(ALONE) $(MAKE) --no-print-directory -j$(JOBS) $W/figure4-multi.md $W/curve4-multi.svg
	@cat $W/figure4-multi.md

# Table 6: gates for queries and documents.
routerretriever-table6:
	@$(MAKE) --no-print-directory DOCUMENTS=trained routerretriever-table1

# The probe of parametric knowledge of the paper's appendix (Zhou et al. 2023): does a model prefer texts that agree with its training?  PROBE has a
# question a line: query, positive (contexts that agree) and negative (contexts that conflict), lists; if not given, small: WordNet's
# capitals.  A question counts if the nearest of all is one that agrees.
PROBE ?= $(call small,$(ROUTER_DATA)/capitals.jsonl,)
$(ROUTER_DATA)/capitals.jsonl: $(PIPELINES)/capitals.awk $(PIPELINES)/json.awk $(TEXT)/wordnet.tsv
	mkdir -p $(@D)
	awk -f $(PIPELINES)/capitals.awk -f $(PIPELINES)/json.awk $(TEXT)/wordnet.tsv > $@

# the contexts by the model alone, the questions through a gate or alone
asked_of = $X/tok -q -m $Q/base -f positive -f negative $(PROBE) | $X/encode -q -m $Q/base $(ROUTER_BITS) | $X/tok -q -m $Q/base -f query - | \
	$X/encode -q -m $Q/base $(ROUTER_BITS) $(if $(adapter),--adapter $(patsubst %/,%,$(dir $(adapter))))
$W/knowledge/from: always
	@$(call says,$(PROBE))
HEAVY += $W/knowledge/%.tsv
$W/knowledge/%.tsv: $(PROBE) $W/knowledge/from $Q/base/config.json $$(adapter) | $X/tok $X/encode $X/mteb-score
	mkdir -p $(@D); \
	$(asked_of) | $X/mteb-score reranking -q --protocol v1 $(call small,,--similarity dot) --per-query $@ - >/dev/null

probed = $(foreach gate,base $(ROUTER_GATES),$(foreach seed,$(if $(filter base,$(gate)),$(first_seed),$(SEEDS)),$W/knowledge/$(gate)/probe/$(seed).tsv))
routerretriever-knowledge:
	@[ -n "$(PROBE)" ] || { echo 'routerretriever-knowledge: PROBE is missing: a file with query, positive and negative in each line' >&2; exit 2; }
	@$(ALONE) $(MAKE) --no-print-directory -j$(JOBS) $(probed)
	@awk -f $(PIPELINES)/knowledge.awk $(probed) | tee $W/knowledge.tsv

# The rate with which RouterRetriever is best on the development splits of all sets with a gate, first seed.  The gates' own scores there prefer
# a rate at which a gate harms the queries of other sets, which a router sends to it now and then.
routed_scores = $(foreach set,$(ROUTER_GATES),$(call scores_of,pilots,dev,$(first_seed),$(set)))
$W/rate.tsv: $$(routed_scores)
	awk -F'\t' -v rate=$(ROUTER_LR) 'FNR == 1 { for (i = 1; i <= NF; i++) if ($$i == "ndcg_at_10") at = i; files++; next } { sum[files] += $$at; n[files]++ } \
		END { for (f in sum) total += 100 * sum[f] / n[f] / files; printf "%s\t%.2f\n", rate, total }' $^ > $@

routerretriever-rates:
	@$(foreach rate,$(RATES_TRIED),$(ALONE) $(MAKE) --no-print-directory -j$(JOBS) LR=$(rate) $Q/$(rate)/rate.tsv;)
	@$(call rate_chosen,$(ROUTER_NAME),$Q,$(ROUTER_RATES))

router_files = $(foreach name,$(ROUTER_TABLES),$W/$(name).md $W/$(name).svg) $(foreach n,6 7,$W/figure$n.md $W/figure$n.svg) \
	$(foreach n,4 5 8 9,$W/curve$n.svg) $Q/table4.tsv $W/table5.tsv
ROUTER_SHOWN = $(ROUTER_TABLES) figure6 figure7
$(foreach name,$(ROUTER_TABLES) figure6 figure7,$(eval routerretriever-$(name): $W/$(name).md; @cat $$<))
routerretriever-table4: $Q/table4.tsv
routerretriever-table5: $W/table5.tsv
routerretriever-table4 routerretriever-table5:
	@cat $<

## routerretriever  RouterRetriever: its tables and figures, three seeds (DATA=dir for real sets, START=model)
routerretriever: | $(DEPS)
	+@$(call programs,tok encode tasksample train pilot-route pilot-build mteb-score leaderboard mts)
	@$(ALONE) $(MAKE) --no-print-directory -j$(JOBS) $(router_files)
	@$(foreach name,$(ROUTER_SHOWN),cat $W/$(name).md; echo;)

.PHONY: routerretriever routerretriever-rates routerretriever-figure3 routerretriever-table4 routerretriever-table5 routerretriever-table6 \
	routerretriever-figure4-multi routerretriever-knowledge routerretriever-onepass $(patsubst %,routerretriever-%,$(ROUTER_TABLES) figure6 figure7)
