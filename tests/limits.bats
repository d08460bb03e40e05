#!/usr/bin/env bats
load helper

# The limits of model folders, streams and texts in motes(7), LIMITS: the largest value is accepted, one more is refused.

setup() {
	cd "$T"
	printf '1 2 3\n' | ids_stream text.ids >ids.mts
}

# times COUNT TEXT: repeats the text
times() {
	awk -v count="$1" -v text="$2" 'BEGIN { for (i = 0; i < count; i++) printf "%s", text }'
}

# dim: limits memory to 1 GB, except under the sanitizers
dim() {
	case $BUILD in *sanitize*) ;; *) ulimit -v 1000000 ;; esac
}

# model: the folder m, for changes
model() {
	rm -rf m
	cp -r "$GOLDEN/bert" m
}

# tokenizer FILTER: the folder t with a small tokenizer edited by jq's FILTER
tokenizer() {
	mkdir -p t
	jq -nc '{version: "1.0", added_tokens: [], model: {type: "BPE", vocab: {"[UNK]": 0, "a": 1, "b": 2, "aa": 3}, merges: ["a a"], unk_token: "[UNK]"}} | '"$1" "${@:2}" >t/tokenizer.json
}

# tokens TEXT: the first four ids by the tokenizer in t
tokens() {
	tok -q -m t --max-length 4 <<<"$1" | mts to jsonl | jq -c '.["text.ids"]'
}

# Files of a folder. ---------------------------------------------------------------------

@test "limits: JSON of every file may nest 512 deep" {
	open=$(times 511 '[') close=$(times 511 ']') # inside an object
	refused() { # FILE COMMAND...
		dies "$2: $1:1: JSON is nested deeper than 512" "${@:2}"
	}
	for file in config.json modules.json sentence_bert_config.json; do
		model
		printf '{"x":[%s%s]}' "$open" "$close" >m/$file
		refused m/$file encode -q -m m ids.mts -o out
	done
	for file in tokenizer.json tokenizer_config.json config_sentence_transformers.json; do
		model
		printf '{"x":[%s%s]}' "$open" "$close" >m/$file
		refused m/$file tok -q -m m --task sts -o out </dev/null
	done
	mkdir adapter
	printf '{"x":[%s%s]}' "$open" "$close" >adapter/adapter_config.json
	refused adapter/adapter_config.json encode -q -m adapter ids.mts -o out
	printf '{"text":"a","x":[%s%s]}\n' "$open" "$close" >deep.jsonl
	refused deep.jsonl tok -q -m "$GOLDEN/bert" -o out deep.jsonl
	printf '{"text":"a","x":%s%s}\n' "$open" "$close" | tok -q -m "$GOLDEN/bert" -f text | mts to jsonl -c x | found -F "$open$close"
	# a million open brackets cost no more
	tokenizer .
	{ head -c -2 t/tokenizer.json; printf ',"x":'; times 1000000 '['; } >x
	mv x t/tokenizer.json
	refused t/tokenizer.json tok -q -m t -o out </dev/null
	{ printf 'mts 1\n{"columns":[],"history":[],"properties":{"x":'; times 1000000 '['; echo; } >x
	zstd -q --check x -o x.mts
	dies "mts: x.mts: header:1: JSON is nested deeper than 512" mts stat x.mts
}

@test "limits: sizes in config.json have ranges, and are compared with the weights before memory is allocated" {
	while read -r key value most; do
		model
		jq --argjson n "$value" ".$key = \$n" "$GOLDEN/bert/config.json" >m/config.json
		dies "encode: m/config.json: '$key' is $value; it must be in 1..$most" encode -q -m m ids.mts -o out
	done <<-END
		hidden_size 65537 65536
		hidden_size 4294967304 65536
		num_hidden_layers 1000000000 256
		vocab_size 1099511627776 16777216
		max_position_embeddings 16777217 16777216
		intermediate_size 1048577 1048576
		num_attention_heads 1025 1024
	END
	model
	jq '.hidden_size = 65536 | .num_attention_heads = 1024 | .num_hidden_layers = 256 | .intermediate_size = 1048576 |
		.vocab_size = 16777216 | .max_position_embeddings = 16777216' "$GOLDEN/bert/config.json" >m/config.json
	dim
	dies "encode: m/model.safetensors: tensor 'embeddings.word_embeddings.weight' has the shape [40, 8]" encode -q -m m ids.mts -o out
}

@test "limits: a model has at most 16 modules behind the pooling" {
	modules() { # COUNT
		model
		jq --argjson n "$1" '. + [range($n) | {idx: ., name: "x", path: "x\(.)", type: "sentence_transformers.models.Normalize"}]' \
			"$GOLDEN/bert/modules.json" >m/modules.json
	}
	modules 15 # one module is the folder's own
	encode -q -m m -o some.mts ids.mts
	modules 16
	dies "encode: m/modules.json: more than 16 modules" encode -q -m m ids.mts -o out
}

@test "limits: a pipe or a device in a model's folder is refused without waiting for it" {
	for file in config.json model.safetensors modules.json; do
		model
		rm m/$file
		mkfifo m/$file
		dies "encode: m/$file: not a regular file" encode -q -m m ids.mts -o out
	done
	model
	rm m/vocab.txt
	mkfifo m/vocab.txt
	dies "tok: m/vocab.txt: not a regular file" tok -q -m m -o out </dev/null
	model
	ln -sf /dev/zero m/config.json
	dies "encode: m/config.json: not a regular file" encode -q -m m ids.mts -o out
}

@test "limits: names in a model's folder cannot lead to another folder" {
	cp -r "$GOLDEN/bert" beside
	for name in ../beside "$PWD/beside" .. .hidden a/b "$(times 64 a)"; do
		model
		jq --arg name "$name" '.[-1].path = $name' "$GOLDEN/bert/modules.json" >m/modules.json
		dies "encode: m/modules.json: 'path' is '$name'; it must be the plain name of a folder in the model's" encode -q -m m ids.mts -o out
	done
	for name in ../beside/model.safetensors "$PWD/beside/model.safetensors" .. .hidden '' 'a\u0000b'; do
		model
		rm m/model.safetensors
		printf '{"weight_map": {"x": "%s"}}' "$name" >m/model.safetensors.index.json
		dies "encode: m/model.safetensors.index.json: 'x': a shard must be the plain name of a file beside the index" encode -q -m m ids.mts -o out
	done
	# a link to a file elsewhere: the message repeats nothing of its content
	model
	rm m/model.safetensors
	echo 'secret, secret' >other
	ln -s ../other m/x.safetensors
	echo '{"weight_map": {"x": "x.safetensors"}}' >m/model.safetensors.index.json
	dies "encode: m/x.safetensors: not a safetensors file: it claims a header of " encode -q -m m ids.mts -o out
	[[ $stderr != *secret* ]]
	# the base of an adapter is a model's folder, and not the adapter itself
	mkdir adapter
	for name in ../../../../etc /etc . adapter; do
		jq -n --arg name "$name" '{base_model_name_or_path: $name, r: 1, lora_alpha: 1, target_modules: ["query"]}' >adapter/adapter_config.json
		dies "encode: adapter: is a LoRA adapter of '$name', which is not a model's folder here" encode -q -m adapter ids.mts -o out
	done
}

# A tokenizer. ---------------------------------------------------------------------------

@test "limits: a normalizer makes at most 64 bytes of one byte, and a MiB more" {
	most=1048640 # the most that one byte becomes
	replace() { # BYTES
		tokenizer '.normalizer = {type: "Replace", pattern: {String: "a"}, content: $text}' --rawfile text <(times "$1" b)
	}
	replace $most
	[ "$(tokens a)" = '[2,2,2,2]' ]
	replace $((most + 1))
	dies "tok: t/tokenizer.json: normalizer: it makes more than $most bytes of a text of 1" tok -q -m t -o out <<<a
	# a Replace whose every match is large; many that double the text
	replace 1000000
	dim
	dies "tok: t/tokenizer.json: normalizer: it makes more than 7448576 bytes of a text of 100000" tok -q -m t -o out <<<"$(times 100000 a)"
	tokenizer '.normalizer = {type: "Sequence", normalizers: [range(60) | {type: "Replace", pattern: {String: "a"}, content: "aa"}]}'
	dies "tok: t/tokenizer.json: normalizer: it makes more than $most bytes of a text of 1" tok -q -m t -o out <<<a
}

@test "limits: a pre-tokeniser and a decoder have the same limit" {
	bytes() { # STEPS: each writes a byte beyond ASCII as two
		tokenizer '.pre_tokenizer = {type: "Sequence", pretokenizers: [range($count) | {type: "ByteLevel", add_prefix_space: false, use_regex: false}]}' \
			--argjson count "$1"
	}
	bytes 18
	[ "$(tokens é)" = '[0,0,0,0]' ]
	bytes 19
	dies "tok: t/tokenizer.json: pre_tokenizer: it makes more than 1048704 bytes of a text of 2" tok -q -m t -o out <<<é
	# many pieces, since each step splits at the mark that the next one adds
	tokenizer '.pre_tokenizer = {type: "Sequence", pretokenizers: [range(31) | tostring |
		{type: "Metaspace", replacement: ("ABCDEFGHIJKLMNOPQRSTUVWXYZ012345"[. | tonumber:(. | tonumber) + 1]), prepend_scheme: "always", split: false},
		{type: "Split", pattern: {Regex: "[A-Z0-5]"}, behavior: "Isolated", invert: false}]}'
	dies "tok: t/tokenizer.json: pre_tokenizer: it makes more than 1048640 bytes of a text of 1" tok -q -m t -o out <<<a
	decoded() { # STEPS
		tokenizer '.decoder = {type: "Sequence", decoders: [range($count) | {type: "Replace", pattern: {String: "a"}, content: "aa"}]}' --argjson count "$1"
		tok -q -m t <<<ab | tok -q -m t --decode -o "out$1" 2>err
	}
	decoded 3
	[ "$(mts to jsonl out3 | jq -r '.text | length')" -eq 9 ]
	run -1 decoded 60
	[[ "$(cat err)" == "tok: t/tokenizer.json: decoder: it makes more than "*" bytes of tokens of 2" ]]
}

@test "limits: an added token has at most 1,024 bytes, also normalised; 100,000 added tokens are accepted" {
	added() { # BYTES NORMALISED
		tokenizer '.added_tokens = [{id: 9, content: $text, special: false, normalized: $normal}] |
			.normalizer = {type: "Replace", pattern: {String: "x"}, content: "yy"}' --arg text "$(times "$1" x)" --argjson normal "$2"
	}
	added 1024 false
	[ "$(tokens "$(times 1024 x)")" = '[9]' ]
	added 512 true
	[ "$(tokens "$(times 512 x)")" = '[9]' ]
	added 1025 false
	dies "tok: t/tokenizer.json: added_tokens: a token has 1025 bytes; at most 1024 are supported" tok -q -m t -o out <<<a
	added 513 true
	dies "tok: t/tokenizer.json: added_tokens: a token has 1026 bytes; at most 1024 are supported" tok -q -m t -o out <<<a
	tokenizer '.added_tokens = [range(100000) | {id: (. + 9), content: "<\(.)>", special: true}]'
	[ "$(tokens 'a<0><99999>')" = '[1,9,100008]' ]
	# decoding removes any number of special tokens
	times 20000 '<99999>' | tok -q -m t | tok -q -m t --decode | mts to jsonl | jq -e '.text == ""'
}

@test "limits: a regular expression that backtracks too often is given up" {
	regex() { # COUNT: lines of 18 times as many letters
		tokenizer '.pre_tokenizer = {type: "Split", pattern: {Regex: "(a+)+c"}, behavior: "Isolated", invert: false}'
		times "$1" "$(times 18 a)b"
		echo
	}
	regex 1 >text
	tok -q -m t text | mts to jsonl | jq -e '.["text.ids"] | length == 10'
	regex 1000 >text # each of 18,000 places takes up to 2^18 steps
	dies "tok: t/tokenizer.json: expression '(a+)+c': a text of 19000 bytes cannot be searched: retry-limit-in-search over" tok -q -m t -o out text
	echo "$(times 40 a)" >text # one place takes 2^40 steps
	dies "tok: t/tokenizer.json: expression '(a+)+c': a text of 40 bytes cannot be searched: retry-limit-in-match over" tok -q -m t -o out text
}

@test "limits: token ids are below 16,777,216" {
	tokenizer '.model.vocab.z = 16777215'
	[ "$(tokens z)" = '[16777215]' ]
	tokenizer '.model.vocab.z = 16777216'
	dies "tok: t/tokenizer.json: token 'z': id 16777216 is not in 0..16777215" tok -q -m t -o out <<<a
	tokenizer '.added_tokens = [{id: 16777216, content: "z"}]'
	dies "tok: t/tokenizer.json: 'id' is 16777216; it must be in 0..16777215" tok -q -m t -o out <<<a
}

@test "limits: circular merges end; scores that are not numbers are refused" {
	tokenizer '.model.vocab = {"[UNK]": 0, a: 1, b: 2, ab: 3, ba: 4, aba: 5, bab: 6} | .model.merges = ["a b", "b a", "ab a", "ba b", "a ba", "b ab"]'
	tok -q -m t <<<"$(times 100000 ab)" | mts to jsonl | jq -e '.["text.ids"] | length > 50000'
	unigram() { # SCORE
		tokenizer '.model = {type: "Unigram", unk_id: 0, vocab: [["<unk>", 0], ["a", -1], ["b", -2]]}'
		sed -i "s/-2/$1/" t/tokenizer.json
	}
	unigram 1e308
	[ "$(tokens abab)" = '[1,2,1,2]' ]
	for score in NaN Infinity -Infinity 1e999; do
		unigram $score
		dies "tok: t/tokenizer.json" tok -q -m t -o out <<<a
	done
}

@test "limits: a chat template is given up after 67,108,864 steps and 64 more for each byte of its texts" {
	rendered() { # TEMPLATE [VARIABLES]
		jq -Rsc --argjson variables "${2:-{\}}" '{template: ., variables: $variables}' <<<"$1" | tr -d '\n' | jinja_show
	}
	doubled() { rendered "{% set x = 'a' %}$(times "$1" '{% set x = x ~ x %}'){{ 'ok' }}"; }
	[ "$(doubled 20)" = '"ok"' ]
	endless=(
		"{% set x = 'a' %}$(times 40 '{% set x = x ~ x %}')"
		"{% set l = [1,2,3,4,5,6,7,8,9,10] %}$(times 30 '{% for a in l %}')x$(times 30 '{% endfor %}')"
		"{% set l = [1] %}$(times 60 '{% set l = [l,l,l,l] %}'){{ l == l }}"
		"{% set l = [1,2,3,4,5,6,7,8,9,10] %}$(times 8 '{% for a in l %}'){% if false %}$(times 1000 x){% endif %}$(times 8 '{% endfor %}')"
		"{% set l = [1,2,3,4,5,6,7,8,9,10] %}$(times 8 '{% for a in l %}'){{ 'a' in $(printf "'%s'" "$(times 1000 x)") }}$(times 8 '{% endfor %}')"
		"$(times 20000 "{% set x = 1 %}{{ y }}")"
		"{{ $(times 20000 "'aaaaaaaa' ~ ")'' }}"
	)
	for template in "${endless[@]}"; do
		run -1 rendered "$template"
		[[ $output == *"stdin: line 1 of the chat template: it takes more than 67108"*" steps" ]] || { echo "${template:0:60} $output"; false; }
	done
	# nested lists of one item are compared down to a limit of depth
	nested() { rendered "{% set a = [1] %}$(times "$1" '{% set a = [a] %}'){{ a == a }}"; }
	[ "$(nested 50)" = '"True"' ]
	run -1 nested 70
	[[ $output == *"blocks, parentheses or lists nest deeper than 64" ]]
	# a long text is accepted
	jq -nc '{template: "{% for m in l %}{{ m.text | trim ~ m.text | trim }}{% endfor %}", variables: {l: [{text: ("a" * 2000000)}, {text: "b"}]}}' |
		jinja_show | jq -e 'length == 4000002'
}

# Texts, recipes, streams. ---------------------------------------------------------------

@test "limits: YAML nests at most 64 deep, has at most a million values, and no alias inside its own node" {
	refused() { # MESSAGE
		dies "tasksample: x.yaml:$1" tasksample x.yaml -o out
	}
	nested() { echo "a: $(times "$1" '[')$(times "$1" ']')"; }
	nested 64 >x.yaml
	tree_show x.yaml | jq -e '.a | length == 1'
	nested 65 >x.yaml
	refused '1: nested deeper than 64'
	times 1000000 '[' >x.yaml
	refused '1: nested deeper than 64'
	echo 'a: &a [*a]' >x.yaml
	refused "1: the alias 'a' is a part of its own value"
	echo "a: &a $(times 40 '[')$(times 40 ']')" >x.yaml
	echo "b: $(times 30 '[')*a$(times 30 ']')" >>x.yaml
	refused '1: nested deeper than 64'
	# values: 1 for the map, 2 x 1,000 for a (the anchor keeps a copy), 1 and 997 x 1,000 for b, 1 and the rest for c
	million() { echo "{a: &a [$(times 999 '0,')], b: [$(times 997 '*a ,')], c: [$(times "$1" '0,')]}"; }
	million 997 >x.yaml
	tree_show x.yaml | jq -e '.b | length == 997'
	million 998 >x.yaml
	refused '1: more than 1000000 values'
	# 50,000 anchors and as many aliases; a merge key of a large node
	awk 'BEGIN { for (i = 0; i < 50000; i++) printf "- &a%d %d\n- *a%d\n", i, i, i }' >x.yaml
	tree_show x.yaml | jq -e 'length == 100000 and .[99999] == 49999'
	printf '%s\n' 'a: &x {k: &y 1, z: [2]}' 'b: {<<: *x, k: 2}' 'c: *x' 'd: *y' 'e: {<<: &v {q: &w 3}, q: 4}' 'f: [*w, *v]' '&k key: v' 'g: {*k : *k}' >x.yaml
	tree_show x.yaml | jq -e '. == {a: {k: 1, z: [2]}, b: {k: 2, z: [2]}, c: {k: 1, z: [2]}, d: 1, e: {q: 4}, f: [3, {q: 3}], key: "v", g: {key: "key"}}'
	printf 'a: &x 1\nb: &x 2\n' >x.yaml
	refused '2: not valid YAML: found duplicate anchor'
	printf 'a: &x [1]\n*x : 2\n' >x.yaml
	refused '2: a key must be a plain word'
}

@test "limits: a table has at most 4,096 fields; the names of many columns are compared once" {
	for format in tsv csv jsonl; do
		wide() { # COUNT
			awk -v count="$1" -v format=$format 'BEGIN {
				between = format == "tsv" ? "\t" : ","
				if (format == "jsonl") {
					for (i = 0; i < count; i++) printf "%s\"k%d\":1", i ? "," : "{", i
					print "}"
					exit
				}
				for (i = 0; i < count; i++) printf "%sk%d", i ? between : "", i
				print ""
				for (i = 0; i < count; i++) printf "%s1", i ? between : ""
				print ""
			}' >x.$format
		}
		wide 4096
		[ "$(mts from $format x.$format | mts head --json -n 0 | jq '.columns | length')" -eq 4096 ]
		wide 200000
		dies "mts: x.$format:$([ $format = jsonl ] && echo 1 || echo 2): more than 4096 fields; a stream has at most so many columns" mts from $format -o out x.$format
	done
	awk 'BEGIN { for (i = 0; i < 200000; i++) printf "k%d\t", i; print "k77" }' >x.tsv
	dies "mts: x.tsv:1: two columns are called 'k77'" mts from tsv -o out x.tsv
	# unnamed columns count as well
	{ times 100000 $'\t'; echo; times 100000 $'1\t'; echo; } >x.tsv
	dies "mts: x.tsv:2: more than 4096 fields" mts from tsv -o out x.tsv
}

@test "limits: reading a compressed file takes no more memory than its format's limit" {
	dim
	# a line without an end
	head -c 70000000 /dev/zero | tr '\0' a | zstd -q >long.jsonl.zst
	[ "$(stat -c %s long.jsonl.zst)" -lt 20000 ]
	dies "tok: long.jsonl.zst:1: the line is longer than 67108864 bytes" tok -q -m "$GOLDEN/bert" -o out long.jsonl.zst
	# the largest header, and one byte more
	local before=$'mts 1\n{"columns":[],"history":[],"properties":{"x":"'
	header() { # BYTES
		{ printf %s "$before"; times $(($1 - ${#before} - 4)) ' '; echo '"}}'; } >x
		[ "$(stat -c %s x)" -eq "$1" ]
		{ zstd -qc --check x; { printf 'end\0\0\0\0\0'; u64 0 0; } >y; zstd -qc --check y; } >x.mts
	}
	header 16777216
	[ "$(mts head --json x.mts | jq '.properties.x | length')" -eq $((16777216 - ${#before} - 4)) ]
	header 16777217
	dies "mts: x.mts: header: it is longer than 16 MiB" mts head x.mts
	# a frame that claims too many bytes is refused before they are read, also in a second stream
	{ printf '\x28\xb5\x2f\xfd\xc4\x38'; u64 $((1 << 33)) 0 0; } >x.mts
	dies "mts: x.mts: header: it is longer than 16 MiB" mts head x.mts
	cat ids.mts x.mts >y.mts
	dies "mts: y.mts: after the end mark of record 1: it is longer than 16 MiB" mts stat y.mts
}

@test "limits: the attributes of a record have at most a MiB" {
	attributes() { # BYTES
		times $(($1 - 8)) a >text
		{ printf 'record\0\0'; u64 0 "$1" 0; printf '{"x":"'; cat text; printf '"}'; head -c 63 /dev/zero; } >x
		truncate -s $(($(stat -c %s x) / 64 * 64)) x
		printf 'mts 1\n{"columns":[],"history":[],"properties":{}}\n' >header
		{ printf 'end\0\0\0\0\0'; u64 1 0; } >end
		for part in header x end; do zstd -qc --check $part; done >x.mts
	}
	attributes 1048576
	[ "$(mts stat --json x.mts | jq .records)" -eq 1 ]
	attributes 1048577
	dies "mts: x.mts: record 1: its attributes are longer than 1 MiB" mts head x.mts
}

@test "limits: classification has at most 20,000 labels, clustering 100,000" {
	labels() { # COUNT
		awk -v count="$1" 'BEGIN { for (i = 0; i < count; i++) printf "{\"label\":\"%d\",\"text.emb\":[1]}\n", i }' | mkstream >x.mts
	}
	refused() { # COUNT COMMAND...
		dies "mteb-score: x.mts: column 'label' has more than $1 different values; these are not labels" mteb-score "${@:2}"
	}
	labels 20001
	refused 20000 classification --train x.mts x.mts
	labels 100001
	refused 100000 clustering x.mts
}

# Weights. -------------------------------------------------------------------------------

# stored NAME FILE...: appends the entries to the zip file x.bin
stored() {
	local at=0 count=0
	number() ( # VALUE BYTES
		trap - DEBUG
		for ((i = 0; i < $2; i++)); do
			printf "\\x$(printf %02x $(($1 >> 8 * i & 255)))"
		done
	)
	: >x.bin
	: >list
	while [ $# -gt 0 ]; do
		size=$(stat -c %s "$2")
		fields() { number 0 8; number 0 6; number "$size" 4; number "$size" 4; number ${#1} 2; number 0 2; }
		{ printf 'PK\3\4'; fields "$1"; printf %s "$1"; cat "$2"; } >>x.bin
		{ printf 'PK\1\2\0\0'; fields "$1"; number 0 2; number 0 2; number 0 2; number 0 4; number "$at" 4; printf %s "$1"; } >>list
		at=$(stat -c %s x.bin)
		count=$((count + 1))
		shift 2
	done
	cat list >>x.bin
	{ printf 'PK\5\6'; number 0 4; number $count 2; number $count 2; number "$(stat -c %s list)" 4; number "$at" 4; number 0 2; } >>x.bin
}

text() { # a text of a pickle
	printf "X\\x$(printf %02x ${#1})\0\0\0%s" "$1"
}

# table COUNT: a pickle with COUNT tensors that share one transposed storage of 2 x 100 floats
table() {
	printf '\x80\2}('
	text name
	printf 'q\0ctorch._utils\n_rebuild_tensor_v2\n(('
	text storage
	printf 'ctorch\nFloatStorage\n'
	text 0
	text cpu
	printf 'K\xc8tQK\0K\2K\x64\x86K\1K\2\x86\x89ccollections\nOrderedDict\n)RtRq\1'
	times $(($1 - 1)) X | sed 's/X/h\x00h\x01/g'
	printf 'u.'
}

@test "limits: a pickle has at most 8 MiB, and its tensors at most four times the file's bytes" {
	head -c 800 /dev/zero >zeros
	table 1 >data.pkl
	stored a/data.pkl data.pkl a/data/0 zeros
	safetensors_list x.bin | found '^name	f32	2,100'
	table 100 >data.pkl # 80,000 bytes of tensors from 1,500 bytes
	stored a/data.pkl data.pkl a/data/0 zeros
	dies "safetensors_list: x.bin: its tensors that are not stored in order would take 83200 bytes, the file has " safetensors_list x.bin
	{ printf '\x80\2'; times 8388607 N; } >data.pkl
	stored a/data.pkl data.pkl
	dies "safetensors_list: x.bin: its pickle has 8388609 bytes; at most 8388608 are read" safetensors_list x.bin
	{ printf '\x80\2'; times 8388606 N; } >data.pkl
	stored a/data.pkl data.pkl
	dies "safetensors_list: x.bin: byte 8388608 of its pickle: it ends in the middle" safetensors_list x.bin
}

@test "limits: a zip file is read in place: its names lead nowhere; 50,000 entries are accepted" {
	head -c 800 /dev/zero >zeros
	table 1 >data.pkl
	stored a/../../out zeros a/data.pkl data.pkl a/data/0 zeros
	safetensors_list x.bin | found '^name	f32	2,100'
	[ ! -e out ] && [ ! -e ../out ]
	# nested calls are parsed without recursion
	{ printf '\x80\2'; times 100000 ')'; times 100000 $'\x85'; printf '.'; } >data.pkl
	stored a/data.pkl data.pkl
	dies "safetensors_list: x.bin: byte 200003 of its pickle: it does not end with one value" safetensors_list x.bin
}

@test "limits: a header of safetensors ends within the file and has at most 100 MB" {
	model
	for claim in 'it claims a header of 1152921504606846976 bytes '$((1 << 60)) 'it claims a header of 100000001 bytes 100000001'; do
		{ u64 "${claim##* }"; printf '{}'; } >m/model.safetensors
		dies "encode: m/model.safetensors: not a safetensors file: ${claim% *}" encode -q -m m ids.mts -o out
	done
	{ u64 100000000; printf '{}'; } >m/model.safetensors
	dies "encode: m/model.safetensors: truncated: the header needs 100000008 bytes, the file has 10" encode -q -m m ids.mts -o out
	# a hundred thousand tensors; one name with two shapes
	awk 'BEGIN { printf "{"; for (i = 0; i < 100000; i++) printf "%s\"t%d\":{\"dtype\":\"F32\",\"shape\":[0],\"data_offsets\":[0,0]}", i ? "," : "", i; printf "}" }' >header
	{ u64 "$(stat -c %s header)"; cat header; } >m/model.safetensors
	dies "encode: m/model.safetensors: tensor 'embeddings.word_embeddings.weight' is missing" encode -q -m m ids.mts -o out
}

# A terminal. ----------------------------------------------------------------------------

# seen COMMAND: the file sent has the terminal's output, which is text only
seen() {
	script -qec "$1" /dev/null </dev/null >sent 2>&1 || true
	[ -s sent ]
	# the progress line is drawn and removed
	sed 's/\x1b\[K//g; s/\r//g' sent >plain
	run ! env LC_ALL=C grep -aPn '[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]|\xe2\x80[\xaa-\xae]|\xe2\x81[\xa6-\xa9]' plain
	grep -qa "${2:-?}" plain
}

@test "limits: nothing in a file controls the terminal" {
	need_terminal
	name='\u009b31m\u202e\u2066' # the name of a column; ASCII control characters are refused there
	bad='\u001b]0;x\u0007\u009b31m\u202e\u2066' raw=$(printf '\033]0;x\007\302\23331m\342\200\256\342\201\246')
	for i in 1 2 3 4 5 6; do
		printf '{"_id":"i%d%s","text":"w%s ford%s sea%s","label":"l%d%s","text.emb":[%d,1],"n%s":1}\n' $i "$bad" "$bad" "$bad" "$bad" $((i % 2)) "$bad" $i "$name"
	done >x.jsonl
	mkstream <x.jsonl >x.mts
	seen "mts head x.mts"
	seen "mts to tsv x.mts"
	seen "mts to jsonl -c label x.mts" 'l1'
	seen "near x.mts x.mts"
	seen "near --json x.mts x.mts" 'hits'
	seen "near --run - x.mts x.mts"
	seen "topics --no-stop --label label x.mts"
	seen "topics --no-stop -k 2 x.mts" ford
	seen "group -k 2 x.mts | mts to tsv"
	seen "mteb-score clustering x.mts" 'v_measure'
	seen "classify learn --label label -o c.mts x.mts; classify x.mts c.mts | mts head"
	seen "geom isotropy x.mts" .
	# file names, options and keys in messages
	cp x.mts "y$raw.mts"
	cp x.jsonl "y$raw.jsonl"
	seen "mts head 'none$raw'" '?]0;x?'
	seen "mts rows --where 'no$raw=1' x.mts >out" '?]0;x?'
	seen "tok -m 'm$raw' x.jsonl" '?]0;x?'
	seen "tok -m $GOLDEN/bert -f none 'y$raw.jsonl'" '?]0;x?'
	seen "mts cat '--no$raw' x.mts" '?]0;x?'
	model
	jq --arg raw "$raw" '.model_type = $raw' "$GOLDEN/bert/config.json" >m/config.json
	seen "encode -m m ids.mts" '?]0;x?'
	printf 'tasks: {"t%s": {datasets: [{name: "d%s", file: x.jsonl, query: text, document: label}]}}\n' "$bad" "$bad" >x.yaml
	seen "tasksample --plan --steps 2 x.yaml" '?]0;x?'
	# results of a model that others have evaluated
	mkdir -p results/m
	printf '{"task_name": "STS12", "mteb_version": null, "scores": {"test": [{"main_score": 0.5}]}, "motes": {"task_type": "STS"}}' >results/m/STS12.json
	cp -r results/m "results/m$raw"
	seen "leaderboard table --registry $ROOT/share/tasks.yaml results/*"
}
