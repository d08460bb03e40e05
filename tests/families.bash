# The tiny checkpoints of every family, and what a test may change in them.
FAMILIES=$GOLDEN/families

# A copy of a family's folder that a test may change.
copy() { # family
	rm -rf "$T/m"
	cp -r "$FAMILIES/$1" "$T/m"
	MODEL=$T/m
}
agrees() { # family: its golden folder
	model_check "$FAMILIES/$1" "$FAMILIES/$1/expected.safetensors"
}
copy_agrees() { # family: what a test made of it
	model_check "$MODEL" "$FAMILIES/$1/expected.safetensors"
}
# The same of a copy whose tensors have other names, which are those of its gradients.
renamed_agrees() { # family
	run copy_agrees "$1"
	[[ "$output" == *"ok states of all layers"*"ok folder embeddings"*"ok long texts mean"* ]]
	[[ "$output" != *BAD*BAD* ]]
}
# The copy's weights with another header: the same data, other tensors.
other_header() { # header
	local size
	size=$(od -An -tu8 -N8 "$MODEL/model.safetensors")
	tail -c +$((size + 9)) "$MODEL/model.safetensors" >"$T/data"
	cat "$MODEL/$1" "$T/data" >"$MODEL/model.safetensors"
}
# encode refuses the copy, naming config.json and then `text`.
refused() { # text
	run -1 --separate-stderr encode -q -m "$MODEL" < <(echo "3 4" | ids_stream text.ids)
	[[ "$stderr" == "encode: $MODEL/config.json"*"$1"* ]] || {
		echo "wanted: $1" "got: $stderr"
		false
	}
	[ "$(wc -l <<<"$stderr")" -eq 1 ]
}
# The same after editing config.json, for lines "edit | text" on standard input.
refusals() { # family
	local edit text
	while IFS='|' read -r edit text; do
		copy "$1"
		sed -i "$(sed 's/ *$//' <<<"$edit")" "$MODEL/config.json"
		run -1 cmp -s "$MODEL/config.json" "$FAMILIES/$1/config.json"
		refused "${text# }"
	done
}
# agrees_with FAMILY VALUES EDIT: the same weights under another configuration
agrees_with() {
	copy "$1"
	jq "$3" "$FAMILIES/$1/config.json" >"$MODEL/config.json"
	model_check "$MODEL" "$FAMILIES/$1/$2.safetensors"
}
