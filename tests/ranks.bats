#!/usr/bin/env bats
# bats file_tags=plain
load helper
load train

# Training over ranks, with small models on this machine: several ranks on parts of the batches equal one process on whole batches,
# but for the order in which floats are summed: 1e-5 of a loss is a hundred roundings.

# alone

G=$GOLDEN/train

setup() {
	cd "$T" || return
	# rows of each kind, so that the last batch leaves a rank without any; texts in two rows; negatives of some rows
	seeded_awk 'BEGIN { srand(3)
		for (set = 1; set <= 2; set++)
			for (i = 0; i < 112; i++)
				printf "{\"query\": \"%s\", \"document\": \"%s\", \"hard\": [%s]}\n",
					text(1 + i % 6), text(2 + i % 8), i % 3 ? "\"" text(4) "\"" : "" >(set == 1 ? "one.jsonl" : "two.jsonl")
	}
	function text(words,   t, c) {
		for (t = ""; words--; t = t (t == "" ? "" : " "))
			for (c = 0; c < 3; c++)
				t = t substr("abcdefghijklmnopqrstuvwxyz", 1 + int(26 * rand()), 1)
		return t
	}'
	head -n 3 one.jsonl >again.jsonl
	cat again.jsonl >>one.jsonl
	cat >mix.yaml <<-'END'
		seed: 7
		batch: 18
		tasks:
		  retrieval:
		    batching: homogeneous
		    temperature: 0.05
		    experts: {query: query, document: document}
		    datasets:
		      - {name: one, file: one.jsonl, negatives: hard, max_negatives: 1}
		  clustering:
		    batching: homogeneous
		    temperature: 0.06
		    experts: clustering
		    datasets:
		      - {name: two, file: two.jsonl}
	END
}

need_ranks() {
	[ -x "$BUILD/mpi/bin/train" ] || skip "make check has built no train for MPI here (share/deps mpi)"
	command -v mpirun >/dev/null || skip "needs mpirun (share/deps mpi)"
}

# on COUNT COMMAND: runs sh's COMMAND as COUNT ranks, however many processors there are. The settings save MPI a search for networks,
# which takes half of its start, and end all ranks at once when one is killed. mpirun would read the input of a loop around it.
on() {
	local run watcher status=0
	env OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_pml=ob1 \
		OMPI_MCA_btl=self,vader OMPI_MCA_odls_base_sigkill_timeout=0 \
		timeout 1000 mpirun -n "$1" sh -c "PATH=$BUILD/mpi/bin:\$PATH; $2" </dev/null &
	run=$!
	end_with_ranks $run "$1" >/dev/null 2>&1 3>&- &
	watcher=$!
	wait $run || status=$?
	kill $watcher || true
	return $status
}

# end_with_ranks PID COUNT: after a rank was killed, mpirun, the child of PID, may wait for ever (OpenMPI 4.1 with PMIx 4.2). It is
# killed with its ranks if it has had none for 20 seconds, or fewer than COUNT for 60.
# (Under set -e, reading these files would end the function: they have no newline.)
end_with_ranks() {
	local waited=0 mpirun child alive
	while sleep 5; do
		mpirun=$(cat "/proc/$1/task/$1/children")
		mpirun=${mpirun% }
		alive=()
		for child in $(cat "/proc/$mpirun/task/$mpirun/children"); do
			grep -q '^State:[[:space:]]*Z' "/proc/$child/status" || alive+=("-$child") # each rank leads a process group
		done
		case ${#alive[@]} in
		"$2") waited=0 ;;
		0) waited=$((waited + 15)) ;;
		*) waited=$((waited + 5)) ;;
		esac
		[ $waited -lt 60 ] || kill -9 -- "$mpirun" "${alive[@]}"
	done
}

# The input of a rank.
# shellcheck disable=SC2016 # the rank's shell expands them
part='tasksample -q --rank $OMPI_COMM_WORLD_RANK --ranks $OMPI_COMM_WORLD_SIZE'

# alone OPTION..., ranks COUNT OPTION...: trains on mix.yaml into ./alone, or into ./COUNT
alone() {
	tasksample -q mix.yaml | tok -q -m "$model" | train -q -m "$model" -o alone --lr 2e-3 --warmup 0 "$@"
}
ranks() {
	on "$1" "$part mix.yaml | tok -q -m $model | train -q -j 1 -m $model -o $1 --lr 2e-3 --warmup 0 ${*:2}"
}

# same A B [COLUMN]...: logs of the same steps; losses and the other columns are equal to 1e-5, reze to 1e-4. An accuracy may differ
# by one example of a step's batch, whose two best candidates are nearly equal.
same() {
	diff <(cut -f 1-4,7,9,10 "$1.log.tsv") <(cut -f 1-4,7,9,10 "$2.log.tsv")
	paste <(column accuracy "$1.log.tsv") <(column accuracy "$2.log.tsv") <(column examples "$1.log.tsv") |
		awk '{ d = ($1 - $2) * $3; if (d < -1.01 || d > 1.01) { print; bad = 1 } } END { exit bad || !NR }'
	for name in loss gradient_norm "${@:3}"; do
		local most=1e-5
		[ "$name" != reze ] || most=1e-4 # of differences of nearby vectors, whose rounding weighs more
		close_to $most <(column "$name" "$2.log.tsv" | grep .) <(column "$name" "$1.log.tsv" | grep .)
	done
}

@test "ranks: 1 to 4 ranks train like one process on whole batches: dense, MoTE, LoRA" {
	need_ranks
	upcycle -q -m "$G/bert" --experts query,document,clustering -o mote
	while read -r model options; do
		# shellcheck disable=SC2086
		alone $options
		[ "$(wc -l <alone.log.tsv)" -ge 5 ]
		for count in 1 2 3 4; do
			# shellcheck disable=SC2086
			ranks $count $options
			same alone $count
		done
		rm -r alone* [1-4]*
	done <<-END
		$G/bert
		$G/bert --bidirectional --tokens=64
		$G/bert --denominator=qq,dq,dd --false-negatives=0.1
		$G/bert --accumulate=3 --no-mask-duplicates --clip=0.5
		$G/bert --lora=rank=4,targets=all-linear,dropout=0.2
		$G/bert --dropout=0.3 --tokens=64
		$G/bert --ema=0.7
		mote
		mote --update-unused --lr-of=*.layer.1.*,embeddings.*=5e-3 --lr-of=*.experts.*=1e-3
		mote --freeze=*,!*.experts.*,*.query.*
		mote --lora=rank=2,dropout=0.1 --freeze-documents
	END
}

@test "ranks: a rank without rows, or without negatives, in its first batch trains along" {
	need_ranks
	model=$G/bert
	# batches of one row; of two rows, of which only the first has a negative
	head -n 1 one.jsonl | sed 's/"hard": .*/"hard": []}/' >single.jsonl
	{ sed -n 2p one.jsonl; head -n 1 one.jsonl; } | awk 'NR == 2 { sub(/"hard": .*/, "\"hard\": []}") } 1' >double.jsonl
	for rows in single double; do
		cat >mix.yaml <<-END
			batch: 2
			epochs: 8
			tasks:
			  retrieval:
			    datasets:
			      - {name: rows, file: $rows.jsonl, negatives: hard}
		END
		for options in --own-negatives "--denominator qq,dd" --bidirectional "--objective triplet" "--matryoshka 16,4"; do
			[ "$rows$options" != "single--objective triplet" ] || continue
			# shellcheck disable=SC2086
			{ alone $options; ranks 3 $options; }
			same alone 3
		done
		guided="encode -q -m $G/nomic_bert --keep | train -q -j 1 -m $model --lr 2e-3 --warmup 0 --guide --denominator qq,dd"
		tasksample -q mix.yaml | tok -q -m "$model" | bash -c "$guided -o alone"
		on 3 "$part mix.yaml | tok -q -m $model | $guided -o 3"
		same alone 3
	done
}

@test "ranks: token experts with their balance, REZE's relations, and candidates of a guide train like one process" {
	need_ranks
	model=$G/bert
	upcycle -q -m "$model" --token-experts 4 --token-top 2 -o experts
	tasksample -q --all mix.yaml | tok -q -m "$model" | encode -q -m "$model" | reze-stats fit -q -o reze.mts
	apply="encode -q -m $model --keep | reze-stats apply -q reze.mts"
	alone --balance 0.1 -m experts
	tasksample -q mix.yaml | tok -q -m "$model" | bash -c "$apply" |
		train -q -m "$model" -o relations --lr 2e-3 --warmup 0 --reze 3
	guided="encode -q -m $G/nomic_bert --keep | train -q -j 1 -m $model --lr 2e-3 --warmup 0 --guide"
	tasksample -q mix.yaml | tok -q -m "$model" | bash -c "$guided -o guided --denominator qq,dd"
	tasksample -q mix.yaml | tok -q -m "$model" | bash -c "$guided -o own --own-negatives"
	taught="encode -q -m $G/nomic_bert --keep | train -q -j 1 -m $model --lr 2e-3 --warmup 0 --objective distil"
	tasksample -q mix.yaml | tok -q -m "$model" | bash -c "$taught -o taught"
	for count in 2 3; do
		ranks $count --balance 0.1 -m experts
		same alone $count balance
		on $count "$part mix.yaml | tok -q -m $model | $apply | train -q -j 1 -m $model -o $count --lr 2e-3 --warmup 0 --reze 3"
		same relations $count reze
		on $count "$part mix.yaml | tok -q -m $model | $guided -o $count-guided --denominator qq,dd"
		same guided $count-guided
		on $count "$part mix.yaml | tok -q -m $model | $guided -o $count-own --own-negatives"
		same own $count-own
		on $count "$part mix.yaml | tok -q -m $model | $taught -o $count-taught"
		same taught $count-taught
	done
	run -1 close_to 1e-2 <(column balance alone.log.tsv) <(column loss alone.log.tsv)
}

@test "ranks: rerankers train like one process" {
	need_ranks
	cp -r "$GOLDEN/rerank/bert" reranker
	cp "$GOLDEN/settings/bert"/tokenizer* reranker
	model=reranker
	tok="tok -q -m $model --pair -f query -f document -f negatives"
	for loss in bce listnet; do
		[ $loss = bce ] || sed -i '/clustering:/,$d' mix.yaml # it has no negatives
		tasksample -q mix.yaml | $tok >whole.mts
		train -q -m $model -o alone --lr 2e-3 --warmup 0 --objective $loss whole.mts
		for count in 2 3; do
			on $count "$part mix.yaml | $tok | train -q -j 1 -m $model -o $count --lr 2e-3 --warmup 0 --objective $loss"
			same alone $count
		done
		rm -r alone* [23]*
	done
}

@test "ranks: masked and causal language models with held-out texts train like one process" {
	need_ranks
	jq -r .document one.jsonl >words.txt
	tok -q -m "$G/bert" words.txt >words.mts
	head -n 9 words.txt | tok -q -m "$G/bert" >dev.mts
	mkdir masked
	cp "$G/bert/"{config.json,vocab.txt} masked
	ids_stream text.ids <"$GOLDEN/clm/texts.txt" >ids.mts
	while read -r options; do
		# shellcheck disable=SC2086
		train -q -o alone $options
		[ "$(wc -l <alone.log.tsv)" -ge 5 ]
		for count in 3 4; do
			on $count "train -q -j 1 -o $count $options"
			same alone $count
		done
		[[ $options != *--dev* ]] || close_to 1e-5 <(column dev_loss 4.log.tsv | grep .) <(column dev_loss alone.log.tsv | grep .)
		[[ $options != *--balance* ]] || close_to 1e-5 <(column balance 4.log.tsv) <(column balance alone.log.tsv)
		rm -r alone* [34]*
	done <<-END
		-m masked --from-scratch --objective mlm --batch-tokens 300 --epochs 2 --dev dev.mts --save-every 2 words.mts
		-m masked --from-scratch --objective mlm --batch-tokens 40 --tokens 20 words.mts
		-m $GOLDEN/families/olmoe --objective clm --balance 0.05 --batch-tokens 60 --tokens 25 --epochs 3 ids.mts
	END
}

@test "ranks: scored pairs, a teacher's candidates, held-out pairs and the best step are those of one process" {
	need_ranks
	model=$G/bert
	awk '{ sub(/}$/, ", \"score\": " NR % 7 / 7 ", \"scores\": [" NR % 5 / 5 "]}"); if (/hard": \[\]/) sub(/\[0?[.0-9]*\]}$/, "[]}"); print }' one.jsonl >scored.jsonl
	printf 'batch: 18\ntasks: {a: {datasets: [{name: one, file: scored.jsonl, negatives: hard, score: score, negative_scores: scores}]}}\n' >mix.yaml
	tasksample -q -s 9 -b 30 --steps 2 mix.yaml | tok -q -m "$model" >dev.mts
	for objective in cosent angle margin-mse kl online; do
		if [ $objective = online ]; then # has labels
			jq -c '(.score, .scores[]) |= if . > 0.5 then 1 else 0 end' scored.jsonl >labels
			mv labels scored.jsonl
			tasksample -q -s 9 -b 30 --steps 2 mix.yaml | tok -q -m "$model" >dev.mts
		fi
		alone --objective $objective --dev dev.mts --dev-every 2
		ranks 3 --objective $objective --dev dev.mts --dev-every 2
		close_to 1e-5 <(column loss 3.log.tsv | grep .) <(column loss alone.log.tsv | grep .)
		close_to 1e-5 <(column gradient_norm 3.log.tsv | grep .) <(column gradient_norm alone.log.tsv | grep .)
		close_to 1e-4 <(column dev_loss 3.log.tsv | grep .) <(column dev_loss alone.log.tsv | grep .)
		diff <(jq .steps 3/train.json) <(jq .steps alone/train.json)
		rm -r alone* 3*
	done
}

@test "ranks: equal numbers of ranks give equal bits, with any number of threads" {
	need_ranks
	model=$G/bert
	ranks 3
	on 3 "$part mix.yaml | tok -q -m $model | train -q -j 2 -m $model -o again --lr 2e-3 --warmup 0"
	cmp 3.log.tsv again.log.tsv
	cmp 3/model.safetensors again/model.safetensors
	tasksample -q mix.yaml | tok -q -m "$model" | "$BUILD/mpi/bin/train" -q -j 1 -m "$model" -o one --lr 2e-3 --warmup 0
	alone
	cmp one/model.safetensors alone/model.safetensors # the same program, run alone
}

# wait_for_step STEP NAME: until the log has the step
wait_for_step() {
	until [ "$(wc -l <"$2.log.tsv")" -gt "$1" ]; do sleep 0.02; done 2>/dev/null
}

# pid_of RANK: the process of that rank's train
pid_of() {
	local pid
	for pid in $(pgrep -x train); do # one may have ended
		[ "$(readlink "/proc/$pid/cwd")" = "$T" ] || continue
		[ "$(tr '\0' '\n' <"/proc/$pid/environ" | sed -n 's/^OMPI_COMM_WORLD_RANK=//p')" != "$1" ] || echo "$pid"
	done
}

@test "ranks: a stop of any rank leaves one checkpoint; another number of ranks resumes from it" {
	need_ranks
	model=$G/bert
	sed -i '/^batch:/s/$/\nepochs: 100/' mix.yaml
	on 3 "$part mix.yaml | tok -q -m $model | train -j 1 -m $model -o 3 --lr 2e-3 --warmup 0 --save-every 0" 2>stopped &
	wait_for_step 20 3
	kill "$(pid_of 2)"
	status=0
	wait $! || status=$?
	[ $status -eq 143 ]
	[ "$(grep -c 'stopped by signal 15 after step' stopped)" -eq 1 ]
	[ ! -e 3 ] && [ -z "$(ls ./*.part 2>/dev/null)" ]
	step=$(sed -n 's/.*after step \([0-9]*\);.*/\1/p' stopped)
	[ "$(wc -l <3.log.tsv)" -eq $((step + 1)) ]
	for count in 1 2 4; do
		cp 3.checkpoint $count.checkpoint
		cp 3.log.tsv $count.log.tsv
		ranks $count --save-every 0 2>/dev/null &
		wait_for_step $((step + 10)) $count
		kill "$(pid_of 0)"
		wait $! || [ $? -eq 143 ]
		head -n $((step + 10)) $count.log.tsv >head.$count.log.tsv
		same head.1 head.$count
	done
	# the log resumes at the next step
	[ "$(sed -n "$((step + 2))p" 2.log.tsv | cut -f 1)" -eq $((step + 1)) ]
}

# shellcheck disable=SC2030
@test "ranks: killed at 20 moments, all ranks end within seconds, and the last checkpoint resumes to the same result" {
	need_ranks
	model=$G/bert
	sed -i '/^batch:/s/$/\nepochs: 24/' mix.yaml
	alone
	for moment in {1..20}; do
		SECONDS=0
		ranks 3 --save-every 5 2>>killed &
		until pid=$(pid_of $((moment % 3))); [ "$pid" ] || ! kill -0 $!; do :; done
		sleep "0.0$((RANDOM % 10))$((RANDOM % 10))"
		kill -9 "$pid" || true # it may have ended
		status=0
		wait $! || status=$?
		[ $SECONDS -lt 200 ]
		[ -z "$(pid_of 0)$(pid_of 1)$(pid_of 2)" ]
		[ $status -ne 0 ] || break
	done
	echo "$moment moments"
	[ "$moment" -gt 3 ]
	grep "Exit code: *137" killed
	[ $status -eq 0 ] || ranks 3 --save-every 5
	diff <(cut -f 1,3,4,9,10 alone.log.tsv) <(cut -f 1,3,4,9,10 3.log.tsv)
	close_to 1e-3 <(column loss 3.log.tsv) <(column loss alone.log.tsv)
}

# shellcheck disable=SC2030
@test "ranks: a rank that is asked to stop does not wait for a rank that never answers" {
	need_ranks
	model=$G/bert
	sed -i '/^batch:/s/$/\nepochs: 900/' mix.yaml
	on 2 "$part mix.yaml | tok -q -m $model | train -j 1 -m $model -o 2 --lr 2e-4 --save-every 20" 2>said &
	wait_for_step 50 2
	kill -STOP "$(pid_of 1)"
	kill "$(pid_of 0)"
	SECONDS=0
	status=0
	wait $! || status=$?
	[ $status -eq 1 ]
	[ $SECONDS -ge 10 ] && [ $SECONDS -lt 300 ]
	grep -q '^train: was asked to stop, but other ranks do not answer: they may have died; the last checkpoint is as it was' said
	[ -e 2.checkpoint ] && [ ! -e 2 ]
	[ -z "$(pid_of 0)$(pid_of 1)" ]
}

# refused COUNT COMMAND MESSAGE: a rank fails with the message, and all end
# shellcheck disable=SC2031
refused() {
	run ! on "$1" "$2"
	echo "$output"
	[[ $output == *"$3"* ]]
	[ ! -e out ]
}

@test "ranks: ranks of different runs are refused before the first step" {
	need_ranks
	model=$G/bert
	cp -r "$model" other
	tasksample -q mix.yaml | tok -q -m "$model" | train -q -m "$model" --steps 1 --lr 1e-3 --warmup 0 -o moved
	learn="train -q -j 1 -o out"
	refused 2 "$part mix.yaml | tok -q -m $model | $learn -m $model --lr 1e-\$((3 + OMPI_COMM_WORLD_RANK))" "rank 1: out: has lr 0.0001, the first rank has 0.001"
	refused 2 "$part mix.yaml | tok -q -m $model | if [ \$OMPI_COMM_WORLD_RANK = 0 ]; then $learn -m $model; else $learn -m moved; fi" "rank 1: out: has model "
	refused 3 "$part --seed \$((OMPI_COMM_WORLD_RANK / 2)) mix.yaml | tok -q -m $model | $learn -m $model --steps 4" "rank 2: <stdin>: record 1, of step 0, is not of the batch of the first rank's record 1"
	refused 2 "$part --skip \$OMPI_COMM_WORLD_RANK mix.yaml | tok -q -m $model | $learn -m $model --steps 4" "rank 1: <stdin>: record 1, of step 1, is not of the batch of the first rank's record 1, of step 0"
	refused 2 "$part --steps \$((3 + OMPI_COMM_WORLD_RANK)) mix.yaml | tok -q -m $model | $learn -m $model --steps 9" "rank 1: <stdin>: has another batch where the first rank's ends"
	refused 2 "tasksample -q mix.yaml | tok -q -m $model | $learn -m $model" "<stdin>: has whole batches, and each of 2 ranks would learn the same; tasksample --rank"
	refused 2 "tasksample -q --rank 0 --ranks 2 mix.yaml | tok -q -m $model | $learn -m $model" "rank 1: <stdin>: is for rank 0 of 2, but is read by rank 1 of 2"
	# a checkpoint that only one of them has
	mkdir part0 part1
	tasksample -q mix.yaml | tok -q -m "$model" >whole.mts
	run -1 train -q -m "$model" -o part0/out --save-every 1 < <(head -c $(($(stat -c %s whole.mts) * 2 / 3)) whole.mts)
	[ -e part0/out.checkpoint ]
	here="cd part\$OMPI_COMM_WORLD_RANK; $part -C .. ../mix.yaml | tok -q -m $model | $learn -m $model --save-every 1"
	refused 2 "$here" "rank 1: out.checkpoint: is there for the first rank alone; it must be on a file system that all ranks share"
	# the message on truncated data names the rank
	refused 3 "$part mix.yaml | tok -q -m $model | if [ \$OMPI_COMM_WORLD_RANK = 1 ]; then head -c 900; else cat; fi | $learn -m $model" "rank 1: "
	# a process without MPI among several
	refused 2 "$part mix.yaml | tok -q -m $model | $BUILD/bin/$learn -m $model" "was started as one of 2 processes, but is built to run alone"
	tasksample -q --rank 1 --ranks 2 mix.yaml | tok -q -m "$model" >part.mts
	dies "train: part.mts: is for rank 1 of 2, but is read by rank 0 of 1" train -m "$model" -o out part.mts
}

# two_hosts: namespaces $T-a and -b with a link of 1 Gbit/s and, if the kernel can, a delay of a millisecond
two_hosts() {
	local host
	name=m$$
	ip netns add $name-a 2>/dev/null || skip "may not make network namespaces"
	ip netns add $name-b
	ip link add name va netns $name-a type veth peer name vb netns $name-b || skip "has no veth"
	for host in a b; do
		ip -n $name-$host addr add "10.77.0.$([ $host = a ] && echo 1 || echo 2)/24" dev v$host
		ip -n $name-$host link set v$host up
		ip -n $name-$host link set lo up
		ip netns exec $name-$host tc qdisc add dev v$host root netem delay 0.5ms rate 1gbit limit 10000 2>/dev/null ||
			ip netns exec $name-$host tc qdisc add dev v$host root tbf rate 1gbit burst 1mb latency 50ms ||
			skip "cannot limit a link"
	done
	cat >remote <<-END
		#!/bin/sh
		[ "\$1" = 10.77.0.1 ] && host=a || host=b
		shift
		exec ip netns exec $name-\$host unshare --uts sh -c "hostname $name-\$host; \$*"
	END
	chmod +x remote
}

teardown() {
	ip netns del "m$$-a" 2>/dev/null || true
	ip netns del "m$$-b" 2>/dev/null || true
}

@test "ranks: two hosts connected by a network train the same and send the expected bytes" {
	need_ranks
	command -v ip >/dev/null && command -v tc >/dev/null || skip "needs ip and tc (iproute2)"
	two_hosts
	model=$G/bert
	train -q -m "$model" -o alone --lr 2e-3 --warmup 0 < <(tasksample -q mix.yaml | tok -q -m "$model")
	env OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 ./remote 10.77.0.1 "cd $T; PATH=$BUILD/mpi/bin:$PATH exec timeout 1000 mpirun -q \
		--mca plm_rsh_agent $T/remote -H 10.77.0.1:1,10.77.0.2:1 --bind-to none --mca btl tcp,self --mca btl_tcp_if_include 10.77.0.0/24 \
		--mca oob_tcp_if_include 10.77.0.0/24 -x PATH -n 2 sh -c '$part mix.yaml | tok -q -m $model |
			train -q -j 1 -m $model -o 2 --lr 2e-3 --warmup 0 --timing'"
	same alone 2
	# half of the parameters as gradients and half as values; the rest are embeddings, keys, messages and sums of the batch
	parameters=$(($(stat -c %s 2/model.safetensors) - 8 - $(od -An -tu8 -N8 2/model.safetensors)))
	column bytes 2.log.tsv | awk -v least=$parameters '{ print $1 - least } $1 < least || $1 > least + 4000 { bad = 1 }
		END { exit bad || NR < 5 }'
}

@test "ranks: make MPI=1 without MPI names the missing package; other builds do not need MPI" {
	mkdir bin
	for program in gcc make bash awk sed ls; do ln -s "$(command -v $program)" bin/; done
	run -2 env PATH="$T/bin" make -C "$ROOT" MPI=1 all
	[[ $output == *"there is no mpicc; share/deps mpi installs it"* ]]
	run env PATH="$T/bin" make -n -C "$ROOT" all
	[[ $output != *mpicc* && $output != *-lmpi* ]]
}
