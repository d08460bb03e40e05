# Shared by the tests of the model families: tiny checkpoints of each, and copies that a test changes.
FAMILIES=$GOLDEN/families

# copy FAMILY: copies the family's folder to $T/m and sets MODEL
copy() {
	rm -rf "$T/m"
	cp -r "$FAMILIES/$1" "$T/m"
	MODEL=$T/m
}
# agrees FAMILY: the golden folder gives the expected values
agrees() {
	model_check "$FAMILIES/$1" "$FAMILIES/$1/expected.safetensors"
}
# copy_agrees FAMILY: the changed copy gives the family's expected values
copy_agrees() {
	model_check "$MODEL" "$FAMILIES/$1/expected.safetensors"
}
# renamed_agrees FAMILY: the same of a copy with other tensor names; the comparison of its gradients, which have the tensors'
# names, fails
renamed_agrees() {
	run copy_agrees "$1"
	[[ "$output" == *"ok states of all layers"*"ok folder embeddings"*"ok long texts mean"* ]]
	[[ "$output" != *BAD*BAD* ]]
}
# other_header FILE: replaces the header of the copy's weights by $MODEL/FILE
other_header() {
	local size
	size=$(od -An -tu8 -N8 "$MODEL/model.safetensors")
	tail -c +$((size + 9)) "$MODEL/model.safetensors" >"$T/data"
	cat "$MODEL/$1" "$T/data" >"$MODEL/model.safetensors"
}
# refused TEXT: encode refuses the copy with one line that names config.json and then has the text
refused() {
	run -1 --separate-stderr encode -q -m "$MODEL" < <(echo "3 4" | ids_stream text.ids)
	[[ "$stderr" == "encode: $MODEL/config.json"*"$1"* ]] || {
		echo "wanted: $1" "got: $stderr"
		false
	}
	[ "$(wc -l <<<"$stderr")" -eq 1 ]
}
# refusals FAMILY: the same after each edit of config.json; standard input has lines "edit | text"
refusals() {
	local edit text
	while IFS='|' read -r edit text; do
		copy "$1"
		sed -i "$(sed 's/ *$//' <<<"$edit")" "$MODEL/config.json"
		run -1 cmp -s "$MODEL/config.json" "$FAMILIES/$1/config.json"
		refused "${text# }"
	done
}
# agrees_with FAMILY VALUES EDIT: the weights under config.json edited by jq's EDIT give VALUES.safetensors
agrees_with() {
	copy "$1"
	jq "$3" "$FAMILIES/$1/config.json" >"$MODEL/config.json"
	model_check "$MODEL" "$FAMILIES/$1/$2.safetensors"
}
