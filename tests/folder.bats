#!/usr/bin/env bats
load helper

# Files and folders are written completely or not at all, and existing work is not lost.

# rows.mts: a stream of 2,000 rows; cut.mts: the first half of its bytes.
setup() {
	mkdir "$T/work"
	cd "$T/work"
	seq -f '{"n": %.0f}' 2000 | mts from jsonl --record-rows 10 - >rows.mts
	head -c 5000 rows.mts >cut.mts
}

need_seccomp() {
	no_tmpfile true || skip "needs seccomp"
}

need_ptrace() {
	killed_at 0 true 3>/dev/null || skip "needs ptrace"
}

# steps COMMAND...: the system calls that change the disk, without the random part of temporary names
steps() {
	killed_at 0 "$@" 3>&1 >/dev/null | sed -E 's/\.[0-9a-f]{16}\.part/.part/g'
}

# is_one_of FOLDER OTHER...: succeeds if the folder equals one of the others
is_one_of() {
	local other
	for other in "${@:2}"; do
		! diff -r "$1" "$other" >/dev/null || return 0
	done
	return 1
}

# rest NAME [NAME]: the other files in the folder, without setup's
rest() {
	ls -A | grep -vxF -e rows.mts -e cut.mts -e "$1" -e "${2:-$1}" || true
}

# hold COMMAND...: sends SIGTERM when the command has begun to write; returns its status
hold() {
	mkfifo pipe
	"$@" pipe 3>&- &
	local program=$! i
	exec 4>pipe
	head -c 5000 rows.mts >&4
	for ((i = 0; i < 200; i++)); do
		[ -z "$(find . -name '*.part')" ] || break
		sleep .05
	done
	[ "$i" -lt 200 ]
	kill -TERM "$program"
	exec 4>&-
	wait "$program"
}

@test "folder: on a file system without locks a warning says so, and no lock file stays" {
	need_seccomp
	mkstream 1 <<<'{"v.emb": [1, 2]}' >vectors.mts
	run -0 --separate-stderr no_tmpfile -l mts index -o found vectors.mts
	[[ "$stderr" == *"mts: warning: found.lock: this file system has no locks (No locks available): see to it that no other process writes there at the same time"* ]]
	[ -z "$(rest found vectors.mts)" ]
	near -k 1 vectors.mts found | diff - <(near -k 1 vectors.mts vectors.mts)
}

@test "output: without O_TMPFILE a signal removes the partial file" {
	need_seccomp
	run -143 hold no_tmpfile mts cat -o out.mts
	[ -z "$(rest pipe)" ]
}

@test "output: without O_TMPFILE damaged input leaves no temporary file and does not change the target" {
	need_seccomp
	echo before >out.mts
	run -1 no_tmpfile mts cat -o out.mts cut.mts
	[[ $output == *"cut.mts: "* ]]
	[ "$(cat out.mts)" = before ]
	[ -z "$(rest out.mts)" ]
	no_tmpfile mts cat -o out.mts rows.mts
	mts diff out.mts rows.mts
	[ -z "$(rest out.mts)" ]
}

@test "output: names of up to 255 bytes are written; a longer one is refused before the work" {
	local ends=(é$(printf 'n%.0s' {1..253}) $(printf 'n%.0s' {1..240}) $(printf 'é%.0s' {1..127}))
	need_seccomp
	for name in "${ends[@]}"; do
		for how in "" no_tmpfile; do
			$how mts cat -o "$name" rows.mts
			mts diff "$name" rows.mts
			run -0 find . -name '*.part'
			[ -z "$output" ]
			rm "$name"
		done
	done
	# the missing input is not reached
	run -1 --separate-stderr mts cat -o "${ends[0]}nn" rows.mts none.mts
	[ "$stderr" = "mts: ${ends[0]}nn: File name too long" ]
}

@test "output: the history has command lines whose bytes are not UTF-8" {
	cp rows.mts $'gr\374n.mts'
	mts cat -o $'r\374.mts' $'gr\374n.mts'
	mts diff $'r\374.mts' rows.mts
	[ "$(mts head -n 0 --json $'r\374.mts' | jq -r '.history[-1].command')" = "mts cat -o 'r�.mts' 'gr�n.mts'" ]
}

@test "output: an existing file with the name of a temporary file is not touched" {
	need_seccomp
	# names that a temporary file with the process id would have
	for how in "" no_tmpfile; do
		$how bash -c 'echo precious | tee ".out.mts.$$.part" >"out.mts.$$.part"; exec mts cat -o out.mts rows.mts'
		mts diff out.mts rows.mts
		[ "$(cat .out.mts.*.part out.mts.*.part)" = precious$'\n'precious ]
		rm .out.mts.*.part out.mts.*.part
	done
}

@test "output: a replaced file keeps its mode; a new one follows the umask" {
	need_seccomp
	umask 022
	for how in "" no_tmpfile; do
		for mode in 600 640 666; do
			echo old >out.mts
			chmod $mode out.mts
			$how mts cat -o out.mts rows.mts
			[ "$(stat -c %a out.mts)" = $mode ]
			mts diff out.mts rows.mts
		done
		rm out.mts
		(umask 027 && $how mts cat -o out.mts rows.mts)
		[ "$(stat -c %a out.mts)" = 640 ]
		rm out.mts
	done
}

@test "output: a symbolic link stays a link, and its target is replaced" {
	mkdir far
	echo old >far/out.mts
	ln -s far/out.mts link.mts
	mts cat -o link.mts rows.mts
	[ -L link.mts ]
	mts diff far/out.mts rows.mts
}

@test "output: a link to a missing file stays a link" {
	mkdir far
	ln -s far/out.mts link.mts
	ln -s link.mts other.mts
	mts cat -o other.mts rows.mts
	[ -L link.mts ] && [ -L other.mts ]
	mts diff far/out.mts rows.mts
	ln -s none/out.mts nowhere.mts
	run -1 --separate-stderr mts cat -o nowhere.mts rows.mts
	[ "$stderr" = "mts: nowhere.mts: No such file or directory" ]
	[ -L nowhere.mts ]
	ln -s b.mts a.mts
	ln -s a.mts b.mts
	run -1 --separate-stderr mts cat -o a.mts rows.mts
	[ "$stderr" = "mts: a.mts: Too many levels of symbolic links" ]
	[ -L a.mts ]
}

@test "output: the folder is synced after the file has its name" {
	need_ptrace
	mkdir far
	steps mts cat -o far/out.mts rows.mts | tail -n 2 >came
	diff came <(printf '%s\n' "rename $PWD/far/out.mts.part $PWD/far/out.mts" "fsync $PWD/far") ||
		diff came <(printf '%s\n' "rename far/out.mts.part far/out.mts" "fsync $PWD/far")
	steps mts cat -o out.mts rows.mts | tail -n 1 >came
	[ "$(cat came)" = "fsync $PWD" ]
	# one sync for all parts
	[ "$(steps mts split -n 5 rows.mts | grep -cx "fsync $PWD")" = 1 ]
}

@test "output: a process killed at any step leaves the old file or the new one" {
	need_ptrace
	need_seccomp
	mts rows --rows 1-10 rows.mts >old.mts
	for how in "" no_tmpfile; do
		for ((n = 1, status = 137; status == 137; n++)); do
			cp old.mts out.mts
			status=0
			killed_at "$n" $how mts cat -o out.mts rows.mts 3>/dev/null || status=$?
			cmp old.mts out.mts || mts diff out.mts rows.mts
		done
		[ "$status" = 0 ] && [ "$n" -gt 4 ]
	done
}

@test "folder: a model's files are synced, then its name, and only then the old model is removed" {
	need_ptrace
	model_copy "$GOLDEN/bert" saved f32
	steps model_copy "$GOLDEN/nomic_bert" saved f32 | grep -v '#\|/proc\|^mkdir\|^rename' >came
	diff -u - <(head -n 4 came) <<-END
		fsync $PWD/saved.part/1_Pooling
		fsync $PWD/saved.part
		exchange saved.part saved
		fsync $PWD
	END
	run -1 grep -v '^unlink saved.part' <(tail -n +5 came)
	[ "$(tail -n +5 came | wc -l)" -gt 5 ]
}

@test "folder: a process killed at any step leaves the old model or the new one complete" {
	need_ptrace
	need_seccomp
	model_copy "$GOLDEN/bert" old f32
	model_copy "$GOLDEN/nomic_bert" new f32
	for how in "" no_tmpfile; do
		for ((n = 1, status = 137; status == 137; n++)); do
			rm -rf saved saved.*
			cp -r old saved
			status=0
			killed_at "$n" $how model_copy "$GOLDEN/nomic_bert" saved f32 3>/dev/null || status=$?
			if [ -e saved ]; then
				is_one_of saved old new
			else # between two renames both models have temporary names
				[ -n "$how" ]
				for part in saved.*.part; do
					is_one_of "$part" old new
				done
			fi
		done
		is_one_of saved new
		[ "$status" = 0 ] && [ "$n" -gt 30 ]
	done
}

@test "folder: a model is replaced completely, with or without an atomic exchange of names" {
	need_seccomp
	for how in "" no_tmpfile; do
		$how model_copy "$GOLDEN/bert" saved f32
		run -0 $how model_copy "$GOLDEN/nomic_bert" saved/ f32
		[ -z "$output" ]
		model_check saved "$GOLDEN/nomic_bert/expected.safetensors"
		[ -z "$(rest saved)" ]
		rm -r saved
	done
}

@test "folder: the message says so if no temporary folder can be made beside the target" {
	run -1 --separate-stderr model_copy "$GOLDEN/bert" none/saved f32
	[ "$stderr" = "model_copy: none/saved: cannot make a folder beside it: No such file or directory" ]
}

@test "folder: sentence-transformers' model card is replaced with its model; an edited card makes the save fail" {
	card() {
		printf -- '---\ntags:\n- sentence-transformers\n---\n\n# SentenceTransformer\n\n## Usage\n\n%s\n' "$1"
	}
	new=$'<!--\n## Model Card Contact\n\n*Whom to ask.*\n-->'
	old='<!--- Describe where people can find more information -->'
	for last in "$new" "$old"; do
		model_copy "$GOLDEN/bert" saved f32
		card "$last" >saved/README.md
		model_copy "$GOLDEN/bert" saved bf16
		[ ! -e saved/README.md ]
		run -0 ls -d saved*
		[ "$output" = saved ]
		rm -r saved
	done
	model_copy "$GOLDEN/bert" saved f32
	card '## Model Card Contact' >saved/README.md
	cp -r saved before
	run -1 model_copy "$GOLDEN/bert" saved bf16
	[[ $output == *"saved/README.md: is not part of a model, "* ]]
	diff -r before saved
}

@test "folder: a file that is not part of a model makes the save fail, is named, and the folder is unchanged" {
	model_copy "$GOLDEN/bert" saved f32
	for foreign in README.md .git/config notes/idea.txt tf_model.h5 1_Pooling/notes \
		backup/model.safetensors model.safetensors.d/x; do
		cp -r saved mine
		mkdir -p "mine/${foreign%/*}" 2>/dev/null || true
		[ -d "mine/$foreign" ] && rmdir "mine/$foreign"
		echo precious >"mine/$foreign"
		cp -r mine before
		run -1 --separate-stderr upcycle -m "$GOLDEN/bert" --experts a,b -o mine
		[[ $stderr == "upcycle: mine/${foreign%%/*}"*": is not part of a model, "* ]]
		run -1 --separate-stderr train -m "$GOLDEN/bert" -o mine none.mts
		[[ $stderr == "train: mine/${foreign%%/*}"*": is not part of a model, "* ]]
		diff -r before mine
		rm -r before mine
	done
	mkdir mine
	echo precious >mine/letter
	run -1 model_copy "$GOLDEN/bert" mine f32
	[[ $output == *"mine: exists and is not a model folder"* ]]
	[ "$(cat mine/letter)" = precious ]
	cp -r "$GOLDEN/bert" whole
	dies "upcycle: whole/1_Pooling: is a module of the model 'whole'; choose another name" upcycle -m whole --experts a,b -o whole/1_Pooling/
	(cd whole && dies "upcycle: 1_Pooling: is a module of the model '.'; choose another name" upcycle -m . --experts a,b -o 1_Pooling)
	diff -r whole "$GOLDEN/bert"
	rm -r whole
	[ -z "$(rest saved mine)" ]
}

@test "folder: a sharded model with further modules can be replaced" {
	model_copy "$GOLDEN/bert" saved f32
	cp -r saved mine
	mkdir mine/2_Dense
	cp saved/model.safetensors saved/config.json mine/2_Dense
	for name in model-00001-of-00002.safetensors model-00002-of-00002.safetensors \
		model.safetensors.index.json merges.txt vocab.json added_tokens.json; do
		echo x >mine/$name
	done
	echo '[{"path": "", "type": "Transformer"}, {"path": "1_Pooling", "type": "Pooling"},
		{"path": "2_Dense", "type": "Dense"}]' >mine/modules.json
	model_copy "$GOLDEN/bert" mine f32
	diff -r saved mine
	rm -r mine
	cp -r saved mine
	mkdir mine/0_Transformer
	cp saved/model.safetensors saved/config.json mine/0_Transformer
	echo '[{"path": "0_Transformer", "type": "Transformer"}, {"path": "1_Pooling", "type": "Pooling"}]' >mine/modules.json
	model_copy "$GOLDEN/bert" mine f32
	diff -r saved mine
}

@test "folder: checking a target does not change it" {
	mkdir out
	touch -d 2001-01-01 out
	run -1 train -m "$GOLDEN/bert" -o out none.mts
	[ "$(stat -c %Y out)" -eq "$(date -d 2001-01-01 +%s)" ]
	model_copy "$GOLDEN/bert" out f32
	[ -e out/config.json ]
}

@test "folder: a private folder stays private" {
	need_seccomp
	for how in "" no_tmpfile; do
		mkdir -m 700 out
		$how model_copy "$GOLDEN/bert" out f32
		[ "$(stat -c %a out)" = 700 ]
		$how model_copy "$GOLDEN/bert" out f32
		[ "$(stat -c %a out)" = 700 ]
		rm -r out
	done
}

@test "folder: temporary files of other processes are not touched" {
	mkdir saved.new-999999999 saved.0123456789abcdef.part
	touch saved.new-999999999/config.json saved.0123456789abcdef.part/config.json
	model_copy "$GOLDEN/bert" saved f32
	[ -e saved.new-999999999/config.json ]
	[ -e saved.0123456789abcdef.part/config.json ]
}

@test "folder: a full disk or a signal leaves the old folder and no temporary one" {
	model_copy "$GOLDEN/bert" saved f32
	cp -r saved before
	run -1 bash -c "ulimit -f 4; trap '' XFSZ; model_copy '$GOLDEN/nomic_bert' saved f32"
	[[ $output == *"/model.safetensors: File too large" ]]
	diff -r before saved
	[ -z "$(rest saved before)" ]
	# SIGXFSZ is signal 25
	run -153 bash -c "ulimit -f 4; exec model_copy '$GOLDEN/nomic_bert' saved f32"
	diff -r before saved
	[ -z "$(rest saved before)" ]
}

@test "folder: a signal that comes twice, as timeout sends it, leaves nothing beside, at any step" {
	need_seccomp
	make() { "$@" upcycle -q -m "$GOLDEN/bert" --experts a,b -o saved; }
	make env
	mv saved whole
	model_copy "$GOLDEN/bert" old f32
	rm -f saved.lock old.lock
	for before in old none; do
		rm -rf saved
		[ $before = none ] || cp -r old saved
		count=$(make steps | wc -l)
		[ "$count" -gt 5 ]
		for ((n = 1; n <= count; n++)); do
			rm -rf saved
			[ $before = none ] || cp -r old saved
			status=0
			make killed_at -s 15 $n env --default-signal=TERM 3>/dev/null || status=$?
			# a thread that wakes late passes the signal on when all is done
			[ "$status" -eq 143 ] || is_one_of saved whole
			[ ! -e saved ] || is_one_of saved whole $before
			[ $before = none ] || [ -e saved ]
			rm -rf saved saved.lock
			[ -z "$(rest whole old)" ] || { echo "at step $n: $(rest whole old)"; false; }
		done
	done
}

@test "folder: a learnt tokenizer is not written to a folder with weights, in any format" {
	printf "some words to learn from\n%.0s" {1..50} >text.txt
	for file in model.safetensors model-00001-of-00002.safetensors pytorch_model.bin \
		model.gguf 0_Transformer/model-00002-of-00003.safetensors; do
		mkdir mine
		[[ $file != */* ]] || mkdir mine/0_Transformer
		echo '[{"path": "0_Transformer", "type": "Transformer"}]' >mine/modules.json
		echo precious | tee "mine/$file" >mine/tokenizer.json
		run -1 --separate-stderr tok --learn wordpiece --vocab-size 40 -o mine text.txt
		[[ $stderr == "tok: mine: holds a model's weights (mine/$file), "* ]]
		[ "$(cat mine/tokenizer.json)" = precious ]
		[ ! -e mine/vocab.txt ]
		rm -r mine
	done
	mkdir -p mine/elsewhere
	touch mine/elsewhere/model.safetensors
	echo '{}' | tee mine/config.json >mine/tokenizer.json
	tok -q --learn wordpiece --vocab-size 40 -o mine text.txt
	grep -q some mine/vocab.txt
	grep -q '"model"' mine/tokenizer.json
	[ -e mine/config.json ]
}

# bats test_tags=plain,unsanitized
@test "folder: make refuse lists nothing for mts, and lists the half file of a program that writes in place" {
	need_ptrace
	strace -V >/dev/null 2>&1 || skip "needs strace"
	run -0 "$ROOT/tests/refuse" -b "$BUILD" -n 8 cat
	[[ "${lines[-1]}" =~ ^all:\ [4-9][0-9]\ calls\ refused,\ 0\ faults\ listed$ ]]
	# if malloc fails in a library's minimiser, it returns its start, which must not be taken for a classifier
	run -0 "$ROOT/tests/refuse" -b "$BUILD" -c malloc -n 120 classify
	[[ "${lines[-1]}" == "all: 120 calls refused, 0 faults listed" ]]
	mkdir -p fake/bin
	ln -s "$BUILD"/bin/* fake/bin
	rm fake/bin/mts
	cat >fake/bin/mts <<-E
		#!/bin/sh
		[ "\$1" = cat ] || exec "$BUILD/bin/mts" "\$@"
		echo begun >new.mts
		cat more.mts >>new.mts || { echo "mts: failed" >&2; exit 1; }
	E
	chmod +x fake/bin/mts
	run -1 "$ROOT/tests/refuse" -b fake -n 8 cat
	[[ "$output" == *"cat: write "*": half: new.mts: "* ]]
}

# bats test_tags=plain,unsanitized
@test "folder: make powerloss lists nothing for motes, and lists what a program loses that writes in place or does not sync" {
	need_ptrace
	strace -V >/dev/null 2>&1 || skip "needs strace"
	run -0 "$ROOT/tests/powerloss" -b "$BUILD" cat-over append learn upcycle-over train-dev
	[[ "${lines[-1]}" =~ ^all:\ 1[0-9]{2}\ states,\ 0\ faults\ listed$ ]]
	mkdir -p fake/bin
	ln -s "$BUILD"/bin/* fake/bin
	rm fake/bin/mts
	cat >fake/bin/mts <<-E
		#!/bin/sh
		[ "\$1" = cat ] && [ "\${FAULT:-}" ] || exec "$BUILD/bin/mts" "\$@"
		case \$FAULT in
		place) cat rows.mts more.mts >old.mts && sync old.mts ;;
		sync) cat rows.mts more.mts >.part && mv .part old.mts ;;
		esac
	E
	chmod +x fake/bin/mts
	FAULT=place run -1 "$ROOT/tests/powerloss" -b fake cat-over
	[[ "$output" == *"cat-over: state "*", openat: lost: old.mts"* ]]
	[[ "$output" != *unsynced* ]]
	FAULT=sync run -1 "$ROOT/tests/powerloss" -b fake cat-over
	[[ "$output" == *"cat-over: at the end: unsynced: old.mts"* ]]
	[[ "$output" == *"cat-over: state "*"rename"*": lost: old.mts"* ]]
}
