# Shared by the tests of 8-bit weights and of 8-bit matrix products.

setup() { # $M: a model that a test may change; $T/ids.mts: texts
	M=$T/m
	cp -r "$GOLDEN/bert" "$M"
	chmod -R u+w "$M"
	{
		echo "3 4 5 6 7 8 9 10 11"
		echo 5
		seq -s' ' 2 25
		seq -s' ' 9 3 39
	} | ids_stream text.ids >"$T/ids.mts"
}
# encoded OPTION...: the embeddings that encode computes with the options, a row a line
encoded() {
	encode "$@" "$T/ids.mts" | ids_stream --rows text.emb
}
# least_cosine A B: the lowest cosine between a line of file A and the same line of file B
least_cosine() {
	paste -d' ' "$1" "$2" | awk '{
		a = b = c = 0
		for (i = 1; i <= NF / 2; i++) { j = i + NF / 2; a += $i * $j; b += $i ^ 2; c += $j ^ 2 }
		if (NR == 1 || a / sqrt(b * c) < least) least = a / sqrt(b * c)
	} END { printf "%.6f\n", least }'
}
# spoil NAME BACK BYTES: overwrites bytes of a tensor of $M, from BACK bytes before its end
spoil() {
	local size end
	size=$(od -An -tu8 -N8 "$M/model.safetensors")
	end=$(head -c $((8 + size)) "$M/model.safetensors" | tail -c +9 | jq --arg n "$1" '.[$n].data_offsets[1]')
	printf '%b' "$3" | dd of="$M/model.safetensors" bs=1 seek=$((8 + size + end - $2)) conv=notrunc status=none
}
# print_of OPTION...: the property `model` that encode writes
print_of() {
	encode -q "$@" "$T/ids.mts" | mts stat | grep '^property	model'
}
# refused_by TEXT OPTION...: encode with the options writes one line with the text on stderr, and nothing on stdout
refused_by() {
	run -1 --separate-stderr encode -q "${@:2}" "$T/ids.mts"
	[ -z "$output" ]
	[ "$(wc -l <<<"$stderr")" -eq 1 ]
	[[ $stderr == "encode: "*"$1"* ]] || {
		echo "wanted: $1" "got: $stderr"
		false
	}
}
