#!/usr/bin/env bats
load helper

file() { # HEADER ; the data from standard input
	u64 ${#1}
	printf %s "$1"
	cat
}
none() { printf ''; }
bytes() { head -c "$1" /dev/zero; }
bad() { # MESSAGE; the file is on standard input
	cat >"$T/bad.safetensors"
	run -1 --separate-stderr safetensors_list "$T/bad.safetensors"
	echo "$stderr"
	[ -z "$output" ] && [ "${#stderr_lines[@]}" -eq 1 ]
	[[ $stderr == "safetensors_list: $T/bad.safetensors:"*"$1"* ]]
}
A='"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}'
B='"b":{"dtype":"I64","shape":[1],"data_offsets":[8,16]}'

@test "safetensors: a file written by hand is read: dtypes, shapes, order of the data, padding" {
	{
		printf '\1\0\0\0\0\0\0\0'   # n, i64
		printf '\0\0\x80\x3f\0\0\0\xc0' # x, 1 and -2
		printf '\0\x3c\0\xc4'       # h, f16: 1 and -4
		printf '\x80\x3f'           # s, bf16, no shape: 1
		printf '\1\0\1'             # b
	} | file '{"__metadata__":{"format":"pt"},"x":{"dtype":"F32","shape":[1,2],"data_offsets":[8,16]},"n":{"dtype":"I64","shape":[1],"data_offsets":[0,8]},"e":{"dtype":"F32","shape":[0,3],"data_offsets":[8,8]},"y":{"dtype":"F32","shape":[0],"data_offsets":[8,8]},"h":{"dtype":"F16","shape":[2],"data_offsets":[16,20]},"s":{"dtype":"BF16","shape":[],"data_offsets":[20,22]},"b":{"dtype":"BOOL","shape":[3],"data_offsets":[22,25]}}     ' >"$T/x.safetensors"
	run -0 safetensors_list "$T/x.safetensors"
	diff - <(echo "$output") <<-'END'
		n	i64	1	1
		e	f32	0,3	0
		y	f32	0	0
		x	f32	1,2	-1
		h	f16	2	-3
		s	bf16		1
		b	bool	3	2
	END
	run -1 --separate-stderr safetensors_list "$T/x.safetensors" what
	[ "$stderr" = "safetensors_list: $T/x.safetensors: no tensor 'what'" ]
}

@test "safetensors: a written file reads back; its data are aligned to 64 bytes" {
	{ bytes 8; printf '\1\2\3'; } | file "{$A,\"c\":{\"dtype\":\"U8\",\"shape\":[3],\"data_offsets\":[8,11]}}" >"$T/a.safetensors"
	safetensors_list --copy "$T/a.safetensors" "$T/b.safetensors"
	diff <(safetensors_list "$T/a.safetensors") <(safetensors_list "$T/b.safetensors")
	length=$(od -An -tu8 -N8 "$T/b.safetensors")
	[ $(((length + 8) % 64)) -eq 0 ]
	[ "$(head -c $((length + 8)) "$T/b.safetensors" | tail -c +9 | sed 's/ *$//')" = \
		'{"__metadata__":{"format":"pt","note":"copied"},"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},"c":{"dtype":"U8","shape":[3],"data_offsets":[8,11]}}' ]
	run -1 --separate-stderr safetensors_list --copy "$T/a.safetensors" /dev/full
	[ "$stderr" = 'safetensors_list: /dev/full: No space left on device' ]
}

@test "safetensors: every dtype has its size, unsupported ones included" {
	while read -r dtype bits; do
		# eight elements take as many bytes as one element has bits
		bytes "$bits" | file "{\"t\":{\"dtype\":\"$dtype\",\"shape\":[8],\"data_offsets\":[0,$bits]}}" >"$T/t.safetensors"
		safetensors_list "$T/t.safetensors" >"$T/list"
		for wrong in $((bits - 1)) $((bits + 1)); do
			bytes "$wrong" | file "{\"t\":{\"dtype\":\"$dtype\",\"shape\":[8],\"data_offsets\":[0,$wrong]}}" |
				bad "tensor 't': its bytes do not agree with its shape and dtype"
		done
	done <<-E
		F64 64
		F32 32
		F16 16
		BF16 16
		I64 64
		I32 32
		I16 16
		I8 8
		U64 64
		U32 32
		U16 16
		U8 8
		BOOL 8
		C64 64
		F8_E4M3 8
		F8_E5M2 8
		F8_E8M0 8
		F6_E2M3 6
		F6_E3M2 6
		F4 4
	E
}

@test "safetensors: a file may hold tensors of other dtypes, but reading one of them is an error" {
	bytes 12 | file "{$A,\"u\":{\"dtype\":\"U16\",\"shape\":[2],\"data_offsets\":[8,12]}}" >"$T/u.safetensors"
	run -0 safetensors_list "$T/u.safetensors"
	[ "$output" = $'a\tf32\t2\t0' ]
	run -1 --separate-stderr safetensors_list "$T/u.safetensors" u
	[[ $stderr == *"tensor 'u': dtype U16 is not supported" ]]
}

@test "safetensors: the fingerprint changes with the shape, the name and each tensor's values" {
	print() { safetensors_list --fingerprint "$1"; }
	bytes 16 | file "{$A,$B}" >"$T/1"
	bytes 16 | file "{$A,$B}" >"$T/2"
	bytes 16 | file "{$A,${B/'[1]'/'[1,1]'}}" >"$T/3"
	bytes 16 | file "{${A/\"a\"/\"c\"},$B}" >"$T/4"
	{ bytes 15; printf '\1'; } | file "{$A,$B}" >"$T/5"
	{ bytes 7; printf '\1'; bytes 8; } | file "{$A,$B}" >"$T/6"
	[ "$(print "$T/1")" = "$(print "$T/2")" ]
	[ "$(for i in 1 3 4 5 6; do print "$T/$i"; done | sort -u | wc -l)" -eq 5 ]
}

# bats test_tags=plain
@test "safetensors: the fingerprint changes with every bit" {
	size=$((5 << 19)) # more than two blocks, which are hashed separately
	bytes $size | file "{\"a\":{\"dtype\":\"F32\",\"shape\":[$((size / 4))],\"data_offsets\":[0,$size]}}" >"$T/1"
	start=$(($(stat -c %s "$T/1") - size))
	before=$(safetensors_list --fingerprint "$T/1")
	for at in 0 1 511 4096 524287 524400 1048575 1048576 2000000 $((size - 1)); do
		cp "$T/1" "$T/2"
		printf '\1' | dd of="$T/2" bs=1 seek=$((start + at)) conv=notrunc status=none
		[ "$(safetensors_list --fingerprint "$T/2")" != "$before" ]
	done
}

@test "safetensors: damaged files are refused with file and tensor" {
	bytes 8 | file "{$A}" >"$T/good"
	safetensors_list "$T/good"
	none | file '{}' >"$T/empty"
	safetensors_list "$T/empty"
	none | bad 'too short'
	printf '\1\2\3' | bad 'too short'
	head -c 30 "$T/good" | bad "truncated: the header needs $((8 + 2 + ${#A})) bytes, the file has 30"
	{ printf '\xff\xff\xff\xff\xff\xff\xff\xff'; bytes 100; } | bad 'claims a header of 18446744073709551615 bytes'
	{ printf '\1\xe1\xf5\5\0\0\0\0'; bytes 100; } | bad 'claims a header of 100000001 bytes'
	none | file ' {}' | bad 'the header is no JSON object'
	none | file '[]____' | bad 'the header is no JSON object'
	none | file '{"a":}' | bad 'not valid JSON'
	bytes 8 | file "{$A,$A}" | bad 'not valid JSON: duplicate object key'
	none | file '{"a":[1,2]}' | bad "tensor 'a': its description is not an object"
	bytes 8 | file '{"a":{"shape":[2],"data_offsets":[0,8]}}' | bad "tensor 'a': 'dtype' is missing"
	bytes 8 | file '{"a":{"dtype":"F32","shape":[2]}}' | bad "tensor 'a': 'data_offsets' is missing"
	bytes 8 | file '{"a":{"dtype":"F99","shape":[2],"data_offsets":[0,8]}}' | bad "tensor 'a': dtype 'F99' is not supported"
	bytes 8 | file '{"a":{"dtype":"F32","shape":[-2],"data_offsets":[0,8]}}' | bad "tensor 'a': a shape or offset is not a natural number"
	bytes 8 | file '{"a":{"dtype":"F32","shape":[2.0],"data_offsets":[0,8]}}' | bad "tensor 'a': a shape or offset is not a natural number"
	bytes 8 | file '{"a":{"dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,8]}}' | bad "tensor 'a': its shape is too large"
	bytes 8 | file '{"a":{"dtype":"F32","shape":[4611686018427387904,2],"data_offsets":[0,8]}}' | bad "tensor 'a': its bytes do not agree"
	bytes 8 | file '{"a":{"dtype":"F32","shape":[1,1,1,1,1,1,1,1,2],"data_offsets":[0,8]}}' | bad "tensor 'a': it has more than 8 dimensions"
	bytes 8 | file '{"a":{"dtype":"F32","shape":[3],"data_offsets":[0,8]}}' | bad "tensor 'a': its bytes do not agree with its shape and dtype"
	bytes 8 | file '{"a":{"dtype":"F32","shape":[4],"data_offsets":[0,16]}}' | bad "tensor 'a': its data lie outside the file"
	bytes 8 | file '{"a":{"dtype":"F32","shape":[2],"data_offsets":[8,0]}}' | bad "tensor 'a': its data lie outside the file"
	bytes 8 | file '{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8,8]}}' | bad 'data_offsets must be two numbers'
	bytes 12 | file '{"a":{"dtype":"F32","shape":[2],"data_offsets":[4,12]}}' | bad "tensor 'a': a hole is before its data"
	bytes 12 | file '{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},"b":{"dtype":"F32","shape":[2],"data_offsets":[4,12]}}' | bad "tensor 'b': its data overlap"
	bytes 9 | file "{$A}" | bad ' 1 bytes follow the last tensor'
	bytes 8 | file '{"a":{"dtype":"F32","shape":[2e0],"data_offsets":[0,8]}}' | bad "tensor 'a': a shape or offset is not a natural number"
	bytes 8 | file '{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8.0]}}' | bad "tensor 'a': a shape or offset is not a natural number"
	bytes 8 | file '{"a":{"dtype":"F32","shape":[9007199254740993],"data_offsets":[0,8]}}' | bad "tensor 'a': its bytes do not agree"
	bytes 8 | file '{"a":{"dtype":"F32","shape":[9223372036854775808],"data_offsets":[0,8]}}' | bad 'not valid JSON: too big integer'
	bytes 1 | file '{"a":{"dtype":"F4","shape":[3],"data_offsets":[0,1]}}' | bad "tensor 'a': its bytes do not agree with its shape and dtype"
	bytes 8 | file '{"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"e":{"dtype":"F32","shape":[0],"data_offsets":[2,2]},"b":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}}' | bad "tensor 'e': its data overlap"
	bytes 8 | file "{$A} x" | bad 'not valid JSON: end of file expected'
	bytes 8 | file $'{"\xff":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}' | bad 'not valid JSON: unable to decode byte 0xff'
	bytes 8 | file '{"a\u0000":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}' | bad 'not valid JSON: NUL byte in object key'
	bytes 8 | file "{$A,\"__metadata__\":[]}" | bad '__metadata__ is not an object'
	bytes 8 | file "{$A,\"__metadata__\":{\"format\":1}}" | bad "__metadata__: 'format' is not a string"
	bytes 8 | file '{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8],"x":1}}' | bad "'x' is not known here"
	printf 'version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n' | bad "a Git LFS pointer, not the file itself; fetch it with 'git lfs pull'"
}

# deep N BEFORE AFTER: {"a":[[[...]]]} with N brackets
deep() {
	printf %s "$2"
	head -c "$1" /dev/zero | tr '\0' '['
	head -c "$1" /dev/zero | tr '\0' ']'
	printf %s "$3"
}

@test "safetensors: JSON nested a million deep is refused, in every file of a folder" {
	{
		printf '\x88\x84\x1e\0\0\0\0\0' # 2,000,008 bytes
		deep 1000000 '{"a":' '}  '
	} | bad '1: JSON is nested deeper than 512'
	cp -r "$GOLDEN/bert" "$T/m"
	cp -r "$GOLDEN/head/dense/." "$T/m"
	cp "$GOLDEN/token/plain/tokenizer.json" "$T/m"
	for name in config.json modules.json 1_Pooling/config.json 2_Dense/config.json 3_Normalize/config.json \
		config_sentence_transformers.json tokenizer.json tokenizer_config.json; do
		mkdir -p "$T/m/$(dirname "$name")"
		[ ! -e "$T/m/$name" ] || mv "$T/m/$name" "$T/kept"
		deep 1000000 '{"a":' '}' >"$T/m/$name"
		if [[ $name == token* ]]; then
			[[ $name == tokenizer.json ]] || rm "$T/m/tokenizer.json"
			run -1 --separate-stderr tok -m "$T/m" </dev/null
		else
			run -1 --separate-stderr encode -m "$T/m" </dev/null
		fi
		echo "$stderr"
		[ "${#stderr_lines[@]}" -eq 1 ]
		[[ $stderr == *"$T/m/$name:1: JSON is nested deeper than 512" ]]
		rm "$T/m/$name"
		[ ! -e "$T/kept" ] || mv "$T/kept" "$T/m/$name"
	done
}

@test "safetensors: f16 and bf16 convert zeros, subnormals, the greatest number, infinity and NaN exactly" {
	halves='0000 8000 0001 03ff 83ff 0400 3c00 3555 7bff fbff 7c00 fc00 7e00'
	brains='0000 8000 0001 007f 0080 3f80 3eab 7f7f ff7f 7f80 ff80 7fc0'
	values() { # DTYPE HEX...: a tensor for each value
		local dtype=$1 header='{' at=0 value
		shift
		for value; do
			header+="\"$(printf %02d $((at / 2))) $value\":{\"dtype\":\"$dtype\",\"shape\":[],\"data_offsets\":[$at,$((at += 2))]},"
		done
		for value; do printf "\\x${value:2}\\x${value:0:2}"; done | file "${header%,}}" >"$T/x"
		safetensors_list "$T/x" | cut -f1,4 | cut -c4- | tr '\t' ' '
	}
	# shellcheck disable=SC2086
	values F16 $halves | diff - <(cat <<-'END'
		0000 0
		8000 0
		0001 5.96046448e-08
		03ff 6.09755516e-05
		83ff -6.09755516e-05
		0400 6.10351562e-05
		3c00 1
		3555 0.333251953
		7bff 65504
		fbff -65504
		7c00 inf
		fc00 -inf
		7e00 nan
	END
	)
	# shellcheck disable=SC2086
	values BF16 $brains | diff - <(cat <<-'END'
		0000 0
		8000 0
		0001 9.18354962e-41
		007f 1.1663108e-38
		0080 1.17549435e-38
		3f80 1
		3eab 0.333984375
		7f7f 3.38953139e+38
		ff7f -3.38953139e+38
		7f80 inf
		ff80 -inf
		7fc0 nan
	END
	)
}

@test "safetensors: a file that is truncated at any length is refused" {
	bytes 16 | file "{$A,$B}" >"$T/whole"
	for ((n = 0; n < $(stat -c %s "$T/whole"); n++)); do
		head -c $n "$T/whole" >"$T/cut"
		run -1 --separate-stderr safetensors_list "$T/cut"
		[ -z "$output" ] && [ "${#stderr_lines[@]}" -eq 1 ]
	done
}

@test "safetensors: in a folder one file comes before shards; shards are read as one" {
	mkdir "$T/m"
	folder() { # MESSAGE
		run -1 --separate-stderr safetensors_list "$T/m"
		echo "$stderr"
		[ "${#stderr_lines[@]}" -eq 1 ] && [[ $stderr == *"$1"* ]]
	}
	folder "$T/m: there are no weights: neither model.safetensors nor pytorch_model.bin, nor an index of shards of either"
	# files of torch.save come last
	echo what >"$T/m/pytorch_model.bin"
	folder 'pytorch_model.bin: too short for a file of weights'
	bytes 8 | file "{$A}" >"$T/m/model-1.safetensors"
	bytes 8 | file '{"b":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}' >"$T/m/model-2.safetensors"
	index() { echo "{\"metadata\":{\"total_size\":16},\"weight_map\":{$1}}" >"$T/m/model.safetensors.index.json"; }
	index '"a":"model-1.safetensors","b":"model-2.safetensors"'
	run -0 safetensors_list "$T/m"
	[ "$output" = $'a\tf32\t2\t0\nb\tf32\t2\t0' ]
	bytes 16 | file '{"d":{"dtype":"F32","shape":[2],"data_offsets":[8,16]},"c":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}' \
		>"$T/m/model-4.safetensors"
	index '"a":"model-1.safetensors","c":"model-4.safetensors","d":"model-4.safetensors"'
	run -0 safetensors_list "$T/m"
	[ "$output" = $'a\tf32\t2\t0\nc\tf32\t2\t0\nd\tf32\t2\t0' ]
	index '"a":"model-1.safetensors","b":"model-1.safetensors"'
	folder "tensor 'b' is not in model-1.safetensors"
	index '"a":"model-2.safetensors","b":"model-2.safetensors"'
	folder "tensor 'a' is not in model-2.safetensors"
	index '"a":"model-1.safetensors","b":"model-3.safetensors"'
	folder 'model-3.safetensors: No such file or directory'
	index '"a":"../m/model-1.safetensors"'
	folder "'a': a shard must be the plain name of a file beside the index"
	index '"a":"/etc/passwd"'
	folder 'a shard must be the plain name'
	index '"a":"model-1.safetensors","b":"model-2.safetensors"'
	bytes 16 | file "{${A/\"a\"/\"b\"},${B/\"b\"/\"a\"}}" >"$T/m/model-2.safetensors"
	folder "tensor 'a' is in both "
	index '"a":"..","b":"model-2.safetensors"'
	folder "'a': a shard must be the plain name of a file beside the index"
	index '"a":7'
	folder 'a shard must be the plain name'
	index '"a":""'
	folder 'a shard must be the plain name'
	index '"a":"model-1.safetensors\u0000x"'
	folder 'a shard must be the plain name'
	printf 'version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n' >"$T/m/model.safetensors.index.json"
	folder "model.safetensors.index.json: a Git LFS pointer, not the file itself"
	mv "$T/m/model-1.safetensors" "$T/blob-1" # links, as in the cache of the Hub
	ln -s ../blob-1 "$T/m/model-1.safetensors"
	bytes 8 | file '{"b":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}' >"$T/m/model-2.safetensors"
	index '"a":"model-1.safetensors","b":"model-2.safetensors"'
	run -0 safetensors_list "$T/m"
	[ "$output" = $'a\tf32\t2\t0\nb\tf32\t2\t0' ]
	index ''
	folder "'weight_map' must be an object that names files"
	echo '{}' >"$T/m/model.safetensors.index.json"
	folder "'weight_map' is missing"
	bytes 8 | file "{${A/\"a\"/\"one\"}}" >"$T/blob"
	ln -s ../blob "$T/m/model.safetensors"
	run -0 safetensors_list "$T/m"
	[ "$output" = $'one\tf32\t2\t0' ]
}

@test "safetensors: a real checkpoint opens in milliseconds" {
	need_minilm
	[ "$(safetensors_list "$MOTES_MINILM" | wc -l)" -ge 103 ]
	run -0 safetensors_list "$MOTES_MINILM" embeddings.word_embeddings.weight
	[[ $output == $'embeddings.word_embeddings.weight\tf32\t30522,384\t'* ]]
}
