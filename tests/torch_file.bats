#!/usr/bin/env bats
load helper

FILES=$GOLDEN/torch_file

# same FILE SAFETENSORS: both have the same tensors in the same order, to the bit
same() {
	safetensors_list --copy "$1" "$T/theirs"
	safetensors_list --copy "$2" "$T/ours"
	cmp "$T/theirs" "$T/ours"
}
# bad FILE MESSAGE: the file is refused in one line with the message
bad() {
	run -1 --separate-stderr safetensors_list "$1"
	echo "$stderr"
	[ -z "$output" ] && [ "${#stderr_lines[@]}" -eq 1 ]
	[[ $stderr == "safetensors_list: $1: $2"* ]]
}
# change OLD NEW MESSAGE: refuses tensors.bin with its first OLD replaced by as many bytes NEW, in printf's notation
change() {
	LC_ALL=C sed "0,\\|$1|s||$2|" "$FILES/tensors.bin" >"$T/x.bin"
	run -1 cmp -s "$T/x.bin" "$FILES/tensors.bin"
	[ "$(stat -c %s "$T/x.bin")" -eq "$(stat -c %s "$FILES/tensors.bin")" ]
	bad "$T/x.bin" "$3"
}
model() { # families/bert with torch's weights instead of safetensors
	cp -r "$GOLDEN/families/bert" "$T/m"
	rm "$T/m/model.safetensors" "$T/m/config.5.json" "$T/m/expected.safetensors"
	cp "$FILES/bert/pytorch_model.bin" "$T/m"
	MODEL=$T/m
}
texts() {
	printf '3 5 9\n11 12 3 30\n21\n' | ids_stream text.ids
}

@test "torch_file: every dtype, shared storages, offsets, strides and empty tensors are read as by torch" {
	same "$FILES/tensors.bin" "$FILES/tensors.safetensors"
	same "$FILES/zip64.bin" "$FILES/tensors.safetensors"
	diff <(safetensors_list "$FILES/module.bin" | sort) <(safetensors_list "$FILES/module.safetensors" | sort)
	diff <(safetensors_list "$FILES/parameters.bin" | sort) <(safetensors_list "$FILES/module.safetensors" | sort)
	run -0 safetensors_list "$FILES/tensors.bin" a.turned half.turned
	[ "$output" = $'a.turned\tf32\t7,5\t-2.99465862\nhalf.turned\tf16\t6,4\t9.04008484' ]
}

@test "torch_file: a zip64 record counts where the plain field overflows" {
	size=$(stat -c %s "$FILES/zip64.bin")
	put() { # BYTES at a place before the end
		printf '%b' "$1" | dd of="$T/x.bin" bs=1 seek=$((size - $2)) conv=notrunc status=none
	}
	for room in '\xff\xff\xff\xff 14' '\xff\xff\xff\xff 10' '\xff\xff\xff\xff 6'; do
		cp "$FILES/zip64.bin" "$T/x.bin"
		put "${room% *}" "${room#* }"
		same "$T/x.bin" "$FILES/tensors.safetensors"
		# the locator's count, the record's signature, the directory's offset and size
		while read -r bytes at message; do
			cp "$T/x.bin" "$T/y.bin"
			put "$bytes" "$at"
			bad "$T/x.bin" "not a zip file that can be read: $message"
			mv "$T/y.bin" "$T/x.bin"
		done <<-'END'
			\xff 34 its end record is damaged
			\xff\xff\xff\xff\xff\xff\xff\xff 34 its end record is damaged
			\x00 98 its end record is damaged
			\xff\xff\xff\xff\xff\xff\xff\xff 50 its list of entries lies outside the file
			\xff\xff\xff\xff\xff\xff\xff\xff 58 its list of entries lies outside the file
			\xff 66 its list of entries lies outside the file
		END
	done
	# an entry's extra field: removed, or of another kind
	cp "$FILES/zip64.bin" "$T/x.bin"
	at=$(LC_ALL=C grep -obUaP 'PK\x01\x02' "$T/x.bin" | head -1 | cut -d: -f1)
	put '\x02' $((size - at - 62))
	bad "$T/x.bin" "not a zip file that can be read: an entry's size or place is missing"
	cp "$FILES/zip64.bin" "$T/x.bin"
	put '\xff' $((size - at - 64))
	bad "$T/x.bin" "not a zip file that can be read: an entry's further fields are damaged"
}

@test "torch_file: entries that overlap, exceed the file or are encrypted, and values in wrong places, are refused" {
	entry=$(LC_ALL=C grep -obUaP 'PK\x01\x02' "$FILES/tensors.bin" | head -1 | cut -d: -f1) # the pickle's
	size=$(od -An -tu4 -j $((entry + 24)) -N4 "$FILES/tensors.bin")
	table() { # OFFSET VALUE of two bytes
		printf '%b' "$(printf '\\x%02x\\x%02x' $(($2 & 255)) $(($2 >> 8)))" |
			dd of="$T/x.bin" bs=1 seek=$((entry + $1)) conv=notrunc status=none
	}
	while read -r more message; do
		cp "$FILES/tensors.bin" "$T/x.bin"
		table 20 $((size + more))
		table 24 $((size + more))
		bad "$T/x.bin" "$message"
	done <<-END
		200 not a zip file that can be read: an entry overlaps another
		1 byte $((size)) of its pickle: it does not end with one value
		-1 byte $((size - 1)) of its pickle: it ends in the middle
		60000 not a zip file that can be read: an entry lies outside the file
	END
	cp "$FILES/tensors.bin" "$T/x.bin"
	table 8 $((0x0809))
	bad "$T/x.bin" "entry 'tensors/data.pkl' is compressed or encrypted"
	change 'storageq\(.\)' 'storageq\xf0' "byte "
	[[ $stderr == *"of its pickle: values are kept out of order" ]]
}

@test "torch_file: shards are read as one, by their index" {
	diff <(safetensors_list "$FILES/tensors.bin" | sort) <(safetensors_list "$FILES/shards" | sort)
	cp -r "$FILES/shards" "$T/m"
	sed -i 's/"bool": "pytorch_model-0000[12]/"bool": "pytorch_model-00003/' "$T/m/pytorch_model.bin.index.json"
	run -1 safetensors_list "$T/m"
	[[ "$output" == *"pytorch_model-00003-of-00002.bin: No such file or directory" ]]
	cp "$FILES/shards/pytorch_model.bin.index.json" "$T/m"
	cp "$T/m/pytorch_model-00001-of-00002.bin" "$T/m/pytorch_model-00002-of-00002.bin"
	run -1 safetensors_list "$T/m"
	[[ "$output" == *"tensor '"*"' is in both $T/m/pytorch_model-0000"* ]]
}

@test "torch_file: model.safetensors of a folder overrides pytorch_model.bin" {
	mkdir "$T/m"
	cp "$FILES/module.bin" "$T/m/pytorch_model.bin"
	[ "$(safetensors_list "$T/m" | wc -l)" -eq 5 ]
	cp "$FILES/tensors.safetensors" "$T/m/model.safetensors"
	diff <(safetensors_list "$T/m") <(safetensors_list "$FILES/tensors.safetensors")
}

@test "torch_file: a model encodes, learns and is upcycled as from safetensors, also with older tensor names" {
	model
	texts | encode -q -m "$MODEL" | ids_stream --rows text.emb >"$T/a"
	texts | encode -q -m "$GOLDEN/families/bert" | ids_stream --rows text.emb >"$T/b"
	cmp "$T/a" "$T/b"
	texts | encode -q --weights int8 -m "$MODEL" | ids_stream --rows text.emb >"$T/a"
	texts | encode -q --weights int8 -m "$GOLDEN/families/bert" | ids_stream --rows text.emb >"$T/b"
	cmp "$T/a" "$T/b"
	cp -r "$GOLDEN/families/bert" "$T/n"
	cp "$GOLDEN/bert/vocab.txt" "$GOLDEN/bert/tokenizer_config.json" "$T/n"
	cp "$GOLDEN/bert/vocab.txt" "$GOLDEN/bert/tokenizer_config.json" "$T/m"
	printf '3 5 9\t4 6 7\n11 12 3\t8 9 30\n' | pairs_stream '{"temperature": 0.5}' >"$T/pairs.mts"
	for m in m n; do
		train -q -j 1 -m "$T/$m" -o "$T/$m.out" --lr 1e-2 --warmup 0 --schedule constant --steps 2 "$T/pairs.mts"
		upcycle -q -m "$T/$m" --experts a,b -o "$T/$m.up"
		for out in out up; do
			tensor_sums "$T/$m.$out" | sed 's/^bert\.//; s/LayerNorm\.gamma/LayerNorm.weight/; s/LayerNorm\.beta/LayerNorm.bias/' |
				sed '/^pooler/d; /^cls/d; s/^\(.*LayerNorm\)\.experts\.\([ab]\)\.gamma/\1.experts.\2.weight/; s/^\(.*LayerNorm\)\.experts\.\([ab]\)\.beta/\1.experts.\2.bias/' |
				sort >"$T/$m.$out.sums"
		done
	done
	diff "$T/m.out.sums" "$T/n.out.sums"
	diff "$T/m.up.sums" "$T/n.up.sums"
	[ ! -e "$T/m.out/pytorch_model.bin" ]
	# a folder replaced by its own result keeps no old file
	train -q -j 1 -m "$T/m" -o "$T/m" --lr 1e-2 --warmup 0 --schedule constant --steps 2 "$T/pairs.mts"
	[ ! -e "$T/m/pytorch_model.bin" ]
	cmp "$T/m/model.safetensors" "$T/m.out/model.safetensors"
}

@test "torch_file: a cache of weights belongs to its weights, and the revision depends on them" {
	model
	cp "$GOLDEN/bert/vocab.txt" "$GOLDEN/bert/tokenizer_config.json" "$T/m"
	texts >"$T/ids.mts"
	encode -q --weights int8 --weights-cache -m "$MODEL" "$T/ids.mts" | mts to jsonl >"$T/a"
	encode -q --weights int8 -m "$MODEL" "$T/ids.mts" | mts to jsonl >"$T/b"
	cmp "$T/a" "$T/b"
	leaderboard model -m "$MODEL" | jq -r .revision >"$T/first"
	leaderboard model -m "$MODEL" | jq -r .n_parameters >"$T/parameters"
	before=$(safetensors_list --fingerprint "$MODEL")
	# a value of the first tensor in the file, the embeddings
	at=$(($(grep -obUa 'data/0FB' "$MODEL/pytorch_model.bin" | head -1 | cut -d: -f1) + 200))
	printf '\1' | dd of="$MODEL/pytorch_model.bin" bs=1 seek="$at" conv=notrunc status=none
	run ! cmp -s "$MODEL/pytorch_model.bin" "$FILES/bert/pytorch_model.bin"
	leaderboard model -m "$MODEL" | jq -r .revision >"$T/second"
	run ! cmp -s "$T/first" "$T/second"
	# beside safetensors the file has no effect
	cp "$GOLDEN/families/bert/model.safetensors" "$MODEL"
	leaderboard model -m "$MODEL" | jq -r .revision >"$T/with"
	rm "$MODEL/pytorch_model.bin"
	leaderboard model -m "$MODEL" | jq -r .revision | cmp - "$T/with"
	[ -n "$before" ] && grep -qx '[0-9]*' "$T/parameters"
}

@test "torch_file: the fingerprint depends on the pickle and on the values" {
	print() { safetensors_list --fingerprint "$1"; }
	cp "$FILES/tensors.bin" "$T/1.bin"
	sed 's/a\.column/a.colums/' "$T/1.bin" >"$T/2.bin"
	at=$(($(grep -obUa 'data/2FB' "$T/1.bin" | head -1 | cut -d: -f1) + 160))
	cp "$T/1.bin" "$T/3.bin"
	printf '\x77' | dd of="$T/3.bin" bs=1 seek="$at" conv=notrunc status=none
	[ "$(print "$T/1.bin")" = "$(print "$FILES/tensors.bin")" ]
	[ "$(for i in 1 2 3; do print "$T/$i.bin"; done | sort -u | wc -l)" -eq 3 ]
}

@test "torch_file: a Dense module may have its weights in pytorch_model.bin" {
	cp -r "$GOLDEN/head/both" "$T/head"
	rm "$T/head/2_Dense/model.safetensors"
	cp "$FILES/dense/pytorch_model.bin" "$T/head/2_Dense"
	for m in "$T/head" "$GOLDEN/head/both"; do
		cp -r "$GOLDEN/bert" "$T/model"
		cp -r "$m"/. "$T/model"
		ids_stream text.ids <"$GOLDEN/bert/ids.txt" | encode -q -m "$T/model" | ids_stream --rows text.emb
		leaderboard model -m "$T/model" | jq -r .n_parameters
		rm -r "$T/model"
	done >"$T/both"
	[ "$(wc -l <"$T/both")" -gt 4 ]
	half=$(($(wc -l <"$T/both") / 2))
	cmp <(head -n $half "$T/both") <(tail -n $half "$T/both")
}

@test "torch_file: a pickle other than a table of tensors is refused by name and never executed" {
	bad "$FILES/call.bin" "asks for '__builtin__.print', which no table of weights does; nothing of it was run"
	bad "$FILES/list.bin" "byte 2 of its pickle: opcode 0x5d, which no table of weights needs; nothing of it was run"
	bad "$FILES/scalar.bin" "tensor 'step': is not a tensor"
	bad "$FILES/v4.bin" "its pickle is not of protocol 2"
	bad "$FILES/old.bin" "in the format of torch before 1.6, which is not read; convert it to model.safetensors"
	bad "$FILES/packed.bin" "entry 'tensors/data.pkl' is compressed or encrypted"
	echo "version https://git-lfs.github.com/spec/v1" >"$T/x.bin"
	bad "$T/x.bin" "a Git LFS pointer"
	echo "something else entirely" >"$T/x.bin"
	bad "$T/x.bin" "not a file of torch.save"
	echo short >"$T/x.bin"
	bad "$T/x.bin" "too short for a file of weights"
}

@test "torch_file: inconsistent contents are refused by name" {
	change 'FB\(.*\)little' 'FB\1bigger' "its byte order is 'bigger'; only 'little' is read"
	change 'DoubleStorage' 'QuantiStorage' "asks for 'torch.QuantiStorage'"
	change 'torch._utils' 'torch_.utils' "asks for 'torch_.utils._rebuild_tensor_v2'"
	change 'a\.one' 'a\xffone' "byte "
	change 'a\.rows' 'a.tail' "tensor 'a.tail' is there twice"
	# ones: offset 0, shape (1, 1, 1) and strides (1, 1, 1) in a storage of one value
	change 'ones\(.*\)K\x00K\x01K\x01K\x01\x87' 'ones\1K\x01K\x01K\x01K\x01\x87' "tensor 'ones': its data lie outside its storage"
	change 'ones\(.*\)K\x00K\x01K\x01K\x01\x87' 'ones\1K\x00K\x01K\x02K\x01\x87' "tensor 'ones': its data lie outside its storage"
	change 'a\.column\(.\{0,60\}\)K\x23' 'a.column\1K\x24' "tensor 'a.column': its storage 'data/"
	change 'tensors/data/3' 'tensors/date/3' "not a zip file that can be read: an entry is not what the list says"
	LC_ALL=C sed 's|tensors/data/3|tensors/data/2|g' "$FILES/tensors.bin" >"$T/x.bin"
	bad "$T/x.bin" "entry 'tensors/data/2' is there twice"
	LC_ALL=C sed 's|tensors/data\.pkl|tensors/data.txt|g' "$FILES/tensors.bin" >"$T/x.bin"
	bad "$T/x.bin" "a zip file, but not one of torch.save: it has no data.pkl"
	{ cat "$FILES/tensors.bin"; echo; } >"$T/x.bin"
	bad "$T/x.bin" "not a zip file that can be read: it has no end record; truncated?"
}

@test "torch_file: a file that is truncated at any length is refused" {
	for ((n = 0; n < $(stat -c %s "$FILES/module.bin"); n += 13)); do
		head -c $n "$FILES/module.bin" >"$T/cut.bin"
		run -1 --separate-stderr safetensors_list "$T/cut.bin"
		[ -z "$output" ] && [ "${#stderr_lines[@]}" -eq 1 ]
	done
}
