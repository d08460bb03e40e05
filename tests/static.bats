#!/usr/bin/env bats
load helper
load train

G=$GOLDEN/static
CASES="plain raw endless bare half double whole shared mapped weighted bpe"

setup() {
	cd "$T" || return
}

# folder CASE: copies that golden folder and its tokenizer to m
folder() {
	local tokenizer=tokenizer
	[ "$1" != bpe ] || tokenizer=bpe
	rm -rf m
	cp -r "$G/$1" m
	[ -e m/tokenizer.json ] || [ -e m/0_StaticEmbedding ] || cp "$G/$tokenizer.json" m/tokenizer.json
}
# vectors OPTION...: the embeddings of the golden texts
vectors() {
	tok -q -m m "$G/texts.jsonl" | encode -q -m m "$@" | rows
}
# agrees FILE: within 1e-6 of the file; within 1e-5 for sums of hundreds of rows, whose rounding errors add up
agrees() {
	cat >got
	within "$1" 1e-5 <got
	sed '10,15d' "$1" >short
	sed '10,15d' got | within short 1e-6
}
ids() {
	mts to jsonl | jq -r '."text.ids" | join(" ")'
}
ids_of() { # TEXT
	jq -nc --arg text "$1" '{text: $text}' | tok -q --format jsonl -m m | ids
}
# tensors NAME DTYPE SHAPE BYTES...: writes m/model.safetensors, with BYTES in printf's notation
tensors() {
	local header='' at=0 size
	: >data
	while [ $# -gt 0 ]; do
		printf "$4" >>data
		size=$(stat -c %s data)
		header+="${header:+,}\"$1\":{\"dtype\":\"$2\",\"shape\":[$3],\"data_offsets\":[$at,$size]}"
		at=$size
		shift 4
	done
	header="{$header}"
	while [ $((${#header} % 8)) -ne 0 ]; do header+=' '; done
	{
		printf "\\x$(printf %02x $((${#header} % 256)))\\x$(printf %02x $((${#header} / 256)))\0\0\0\0\0\0"
		printf %s "$header"
		cat data
	} >m/model.safetensors
}
one='\0\0\x80\x3f' nan='\0\0\xc0\x7f'
# refused MESSAGE: encode refuses the folder m in one line
refused() {
	run -1 --separate-stderr encode -q -m m < <(echo "3 4" | ids_stream text.ids)
	[ "$stderr" = "encode: m/$1" ] || {
		echo "wanted: $1" "got: $stderr"
		false
	}
}

@test "static: vectors of model2vec's folders are model2vec's: all dtypes, with and without weights and mapping" {
	for case in $CASES; do
		folder $case
		vectors | agrees "$G/$case.txt"
	done
}

@test "static: vectors of sentence-transformers' folders are the reference's: nested, at the root, with a prompt, of two values" {
	for case in st root; do
		folder $case
		vectors | agrees "$G/$case.txt"
	done
	folder st
	vectors --dim 2 | agrees "$G/dim.txt"
	tok -q -m m --task query "$G/texts.jsonl" | encode -q -m m | rows | agrees "$G/prompt.txt"
}

@test "static: a published folder with shared rows gives its published vector" {
	need_model model2vec-vocabquant-64d
	model=$MODELS/model2vec-vocabquant-64d
	run --separate-stderr tok -m "$model" <<<hello
	[[ $stderr != *"'Unigram' is not supported"* ]] || skip "its tokenizer is Unigram"
	tr -d '[] \n' <"$model/expected_embeddings.json" | tr , ' ' >expected
	tok -m "$model" <<<hello | encode -m "$model" | rows | within expected 1e-6
}

@test "static: tok adds no special tokens, and drops unknown tokens for model2vec" {
	folder plain
	[ "$(ids_of "the 日 boat [SEP]")" = "8 11 6" ]
	[ "$(ids_of "日")" = "" ]
	folder root
	[ "$(ids_of "the 日 boat [SEP]")" = "8 4 11 6" ]
	# the same file as a transformer's tokenizer
	cp "$G/tokenizer.json" m/tokenizer.json
	tok -q -m m/tokenizer.json <<<"the boat" >framed.mts
	[ "$(ids <framed.mts)" = "5 8 11 6" ]
	run -1 --separate-stderr encode -m m framed.mts
	[[ $stderr == *"another tokenizer"* ]]
}

@test "static: limits of ids and characters are model2vec's; sentence-transformers follows tokenizer.json" {
	folder plain
	long=$(printf 'a %.0s' {1..600})
	[ "$(ids_of "$long" | wc -w)" -eq 512 ]
	sed -i 's/"model_type"/"max_length": 3, "model_type"/' m/config.json
	# unknown tokens count before they are dropped
	[ "$(ids_of "日 a fish a a")" = "9 19" ]
	# the median length of tokens is 4, so the limit is 12 characters, not bytes
	[ "$(ids_of "日本日本日本日本日 fish")" = "" ]
	[ "$(ids_of "       fish fish")" = 19 ]
	[ "$(ids_of "        fish fish")" = 19 ]
	[ "$(ids_of "         fish fish")" != 19 ]
	[ "$(jq -nc '{text: "a fish a fish"}' | tok -q --format jsonl -m m --max-length 2 | ids)" = "9 19" ]
	# a prompt counts as part of the text
	[ "$(tok -q -m m --prompt "fish " <<<"fish fish fish" | ids)" = "19 19" ]
	run -1 --separate-stderr tok -m m --no-truncate <<<"           fish"
	[[ $stderr == *"longer than 3 tokens"* ]]
	folder root
	[ "$(ids_of "$long" | wc -w)" -eq 600 ]
	folder st
	[ "$(ids_of "$long" | wc -w)" -eq 7 ]
	sed -i 's/"direction": *"Right"/"direction": "Left"/' m/0_StaticEmbedding/tokenizer.json
	[ "$(ids_of "abc $long")" = "$(ids_of "$long")" ]
	rm m/0_StaticEmbedding/tokenizer.json
	printf '%s\n' '[PAD]' '[UNK]' '[CLS]' '[SEP]' '[MASK]' >m/0_StaticEmbedding/vocab.txt
	dies "tok: m/0_StaticEmbedding/vocab.txt: of static embeddings; they have a tokenizer.json" tok -m m /dev/null
}

@test "static: options of encode have their effects" {
	folder plain
	vectors >unit
	vectors -j 2 --tokens 7 | cmp - unit
	vectors --precision int8 | cmp - unit
	vectors --weights int8 | cmp - unit
	for option in '--precision bf16' '--weights int8'; do
		run -0 --separate-stderr encode -m m $option -o made.mts < <(echo "3 4" | ids_stream text.ids)
		[[ $stderr == "encode: warning: "*": has static embeddings and no linear layers: "* ]]
	done
	vectors --no-normalize >raw
	run -1 cmp -s raw unit
	vectors --pooling last >last
	run -1 cmp -s last unit
	# the text of one token has the same vector
	diff <(sed -n 3p last) <(sed -n 3p unit)
	tok -q -m m "$G/texts.jsonl" | encode -m m --emit hs:pool=mean | ids_stream --rows text.hs | head -n 4 |
		within <(head -n 4 raw) 1e-6
	run -1 --separate-stderr encode -m m --adapter "$GOLDEN/adapter/plain" < <(echo "3 4" | ids_stream text.ids)
}

@test "static: a text without tokens is zeros; an id beyond the table is refused" {
	folder plain
	sed -n 5,7p "$G/plain.txt" | grep -c '^0 0 0 0$' | found -x 3
	printf '\n3\n' | ids_stream text.ids | encode -q -m m | rows | head -n 1 | found -x '0 0 0 0'
	[ "$(printf '\n3\n' | ids_stream text.ids | encode -q -m m --empty skip | rows | wc -l)" -eq 1 ]
	run -1 --separate-stderr encode -m m < <(echo "3 44" | ids_stream text.ids)
	[[ $stderr == *"token id 44 is not below the vocabulary of m, 44"* ]]
	folder shared # 5 rows
	echo "3 43" | ids_stream text.ids | encode -q -m m >out.mts
	run -1 --separate-stderr encode -m m < <(echo "3 44" | ids_stream text.ids)
	[[ $stderr == *"token id 44 is not below the vocabulary of m, 44"* ]]
}

@test "static: damaged tables are refused with the tensor" {
	folder plain
	tensors embeddings F32 2,1 "$one$one" mapping I32 2 '\0\0\0\0\2\0\0\0'
	refused "model.safetensors: tensor 'mapping': token 1 has the row 2; there are 2"
	tensors embeddings F32 2,1 "$one$one" mapping I32 2 '\xff\xff\xff\xff\1\0\0\0'
	refused "model.safetensors: tensor 'mapping': token 0 has the row -1; there are 2"
	tensors embeddings F32 2,1 "$one$one" mapping F32 2 "$one\0\0\0\x3f"
	refused "model.safetensors: tensor 'mapping': token 1 has the row 0.5; there are 2"
	tensors embeddings F32 2,1 "$one$one" mapping F32 2 "$one$nan"
	refused "model.safetensors: tensor 'mapping': token 1 has the row nan; there are 2"
	tensors embeddings F32 2,1 "$one$one" mapping I32 2,1 '\0\0\0\0\1\0\0\0'
	refused "model.safetensors: tensor 'mapping' is not a list of a number for each token"
	tensors embeddings F32 2,1 "$one$one" weights F32 2 "$one$nan"
	refused "model.safetensors: tensor 'weights': that of token 1 is not finite"
	tensors embeddings F32 2,1 "$one$one" weights F32 1 "$one"
	refused "model.safetensors: tensor 'weights' is of 1 tokens; the table has 2"
	tensors embeddings F32 2,1 "$one$one" mapping I32 1 '\0\0\0\0' weights F32 2 "$one$one"
	refused "model.safetensors: tensor 'weights' is of 2 tokens; the table has 1"
	tensors embeddings F32 2 "$one$one"
	refused "model.safetensors: tensor 'embeddings' is not a table of up to 16777216 rows of up to 65536 values"
	tensors embeddings I32 5,1 '\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0'
	refused "model.safetensors: tensor 'embeddings' is of type i32; a floating type is expected"
	tensors embeddings F32 5,1 "$one$one$one$nan$one"
	refused "model.safetensors: tensor 'embeddings' holds values that are not finite (NaN or infinity)"
	tensors embeddings F32 5,1 "$one$one$one$one$one" projection F32 1 "$one"
	refused "model.safetensors: tensor 'projection' is not supported for such a model, and embeddings may depend on it; take it out if they do not"
	tensors table F32 2,1 "$one$one"
	run -1 --separate-stderr encode -q -m m < <(echo "3 4" | ids_stream text.ids)
	[[ $stderr == *"embeddings"* ]]
}

# bats test_tags=plain
@test "static: six steps of training agree with torch's, and the written folder is of the same kind" {
	folder plain
	pairs_stream '{"temperature": 0.2}' <"$G/pairs.txt" >pairs.mts
	learn() {
		train -q -m m -o out --lr 0.05 --schedule constant --warmup 0 --decay 0.1 --clip 0 "$@" pairs.mts
	}
	learn
	for name in loss gradient_norm; do
		column $name out.log.tsv | paste -sd' '
	done | within <(awk '{ a = a " " $1; b = b " " $2 } END { print a; print b }' "$G/train.txt") 1e-5
	seq 0 43 | ids_stream text.ids | encode --no-normalize -q -m out | rows | within "$G/trained.txt" 1e-5
	[ "$(jq -r .model_type out/config.json)" = model2vec ]
	jq -r '.[].type' out/modules.json | diff - <(printf 'sentence_transformers.models.%s\n' StaticEmbedding Normalize)
	# drawn again with the same shape
	cp -r out trained
	learn --from-scratch
	run -1 cmp -s out/model.safetensors trained/model.safetensors
	[ "$(stat -c %s out/model.safetensors)" -eq "$(stat -c %s trained/model.safetensors)" ]
	rm -r out
	tok -q -m m "$G/texts.jsonl" >texts.mts
	run -1 --separate-stderr train -q -m m -o out --objective mlm texts.mts
	[ ! -e out ]
	folder root
	learn
	[ ! -e out/config.json ]
	[ "$(jq -r '.[0].path' out/modules.json)" = . ]
	tok -q -m out <<<"the 日" | encode -m out | rows >after
	learn --restart # in its own place
	cmp <(tok -q -m out <<<"the 日" | encode -m out | rows) after
	for case in shared mapped weighted; do
		folder $case
		rm -rf out
		dies "train: m/model.safetensors: its tokens share rows or have weights ('mapping', 'weights')" learn
	done
}

@test "static: options that need blocks are refused; upcycle --mean works" {
	folder plain
	dies "upcycle: m: has 0 blocks" upcycle -m m --experts a,b -o out
	dies "upcycle: m" upcycle -m m --token-experts 2 -o out
	dies "upcycle: m: has no blocks" upcycle -m m --static -o out
	upcycle --mean m -m m -o out
	vectors >whole
	mv out m2
	rm -rf m
	mv m2 m
	cp "$G/tokenizer.json" m/
	vectors | cmp - whole
}

# made_of NAME: each row of the table is within 1e-3 of the golden row's greatest number, as f16 allows
made_of() {
	upcycle -q --static -m b -o out --dim 6
	jq -r '.model.vocab | to_entries | sort_by(.value)[] | .key' out/tokenizer.json | diff - "$G/$1.vocab"
	seq 0 $(($(wc -l <"$G/$1.vocab") - 1)) | ids_stream text.ids | encode -q --no-normalize -m out | rows |
		paste -d' ' - "$G/$1.txt" | awk '{
			m = 0
			for (i = 7; i <= 12; i++) { a = $i < 0 ? -$i : $i; m = a > m ? a : m }
			for (i = 1; i <= 6; i++) { d = $i - $(i + 6); if (d > 1e-3 * m || -d > 1e-3 * m) { print NR, $0; bad = 1 } }
			n++
		} END { exit bad || NF != 12 || n != '"$(wc -l <"$G/$1.txt")"' }'
}

@test "static: upcycle --static makes model2vec's table of a BERT, and of a BPE tokenizer" {
	cp -r "$G/bert" b
	made_of distil
	jq -e '.post_processor == null and .truncation.max_length == 512 and .padding.pad_id == 0 and
		.padding.strategy == {Fixed: 0} and
		([.added_tokens[] | [.content, .id]] == [["[PAD]", 0], ["[UNK]", 1]])' out/tokenizer.json
	jq -e '.normalize and .hidden_dim == 6 and .max_length == 512' out/config.json
	[ "$(tok -q -m out <<<"[CLS] the 日 red" | ids)" = "2 4" ]
	cp "$G/bpe.json" b/tokenizer.json
	rm b/tokenizer_config.json
	made_of distil_bpe
	# a byte-level pre-tokeniser puts a space before a text
	jq '.pre_tokenizer = {type: "Sequence", pretokenizers: [{type: "ByteLevel", add_prefix_space: false,
		trim_offsets: true, use_regex: true}]}' "$G/bpe.json" >b/tokenizer.json
	upcycle -q --static -m b -o out
	jq -e '.pre_tokenizer.pretokenizers[0].add_prefix_space' out/tokenizer.json
}

@test "static: PCA keeps no more values than the model has, and is skipped if there are fewer tokens than values" {
	cp -r "$G/bert" b
	upcycle -q --static -m b -o out
	[ "$(jq .hidden_dim out/config.json)" = 16 ]
	jq 'del(.added_tokens) | .model.vocab |= with_entries(select(.value < 16))' b/tokenizer.json >few
	mv few b/tokenizer.json
	upcycle -q --static -m b -o few
	# x itself, weighted as 13 tokens, without [unused0] to [unused2]
	seq 4 6 | sed 's/^/5 /; s/$/ 6/' | ids_stream text.ids | encode -q --any-tokenizer --pooling mean -m b | rows >x
	seq 1 3 | ids_stream text.ids | encode -q --no-normalize -m few | rows >y
	paste -d' ' x y | awk 'BEGIN { for (t = 0; t < 13; t++) s += 1 / (t + 2) } {
		t = NR; w = 1e-4 / (1e-4 + 1 / (t + 2) / s)
		for (i = 1; i <= 16; i++) { d = $i * w - $(i + 16); if (d > 2e-6 || -d > 2e-6) { print NR, i, $i * w, $(i + 16); bad = 1 } }
	} END { exit bad || NR != 3 || NF != 32 }'
}

@test "static: upcycle --static refuses folders without tokenizer.json and models with task experts" {
	cp -r "$G/bert" b
	does_not_apply --every upcycle -m b --static --every 2 -o out
	does_not_apply --dim upcycle -m b --average --dim 2 -o out
	upcycle -m b --experts a,b -o experts
	dies "upcycle: experts: has task experts" upcycle -m experts --static -o out
	rm b/tokenizer.json
	dies "upcycle: b/tokenizer.json:" upcycle -m b --static -o out
	mkdir out
	touch out/mine
	run -1 upcycle -m experts --static -o out
	[ -e out/mine ]
}
