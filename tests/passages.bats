#!/usr/bin/env bats
load helper

# Folders and passages of tok: which files of a folder are texts, and where a text is divided.
TINY=$GOLDEN/token/plain

# cut_into FILE OPTION...: path:start and text of each passage, as JSON
cut_into() {
	tok -m "$TINY" "$@" | mts to jsonl -c path,start,text | jq -c '["\(.path):\(.start)", .text]'
}

# longest: the number of ids of the longest passage
longest() {
	mts to jsonl -c text.ids | jq -s 'map(."text.ids" | length) | max'
}

notes() {
	mkdir -p "$T/notes/below" "$T/notes/.hidden"
	printf '# Keys\n\nThey hang in the hall.\n\n## Spare\n### Cellar\n\nIn the cellar.\n' >"$T/notes/house.md"
	printf 'Oil\r\n===\r\nLight the lamp.\r\n' >"$T/notes/below/lamp.txt"
	printf '====\nSea\n====\n\nSalt.\n\nTide\n~~~~\n\nHigh.\n' >"$T/notes/below/sea.rst"
	gzip -c >"$T/notes/a.text.gz" <<<"a text in a packed file"
	printf '\n \n' >"$T/notes/blank.md"
	echo 'not seen' | tee "$T/notes/.hidden/x.md" "$T/notes/.x.md" "$T/notes/x.c" >/dev/null
	ln -s .. "$T/notes/below/loop"
	ln -s house.md "$T/notes/link.md"
}

# 1. known answers

@test "passages: a file is reStructuredText by its ending, not by a folder's name" {
	mkdir -p "$T/old.rst.d"
	printf 'High.\n\n# Low\n\nSand.\n' >"$T/old.rst.d/a.md"
	cp "$T/old.rst.d/a.md" "$T/old.rst.d/b.rst"
	gzip -c <"$T/old.rst.d/a.md" >"$T/old.rst.d/c.rst.gz"
	cd "$T"
	cut_into old.rst.d >got
	diff got - <<-'END'
		["a.md:1","High."]
		["a.md:3","# Low\n\nSand."]
		["b.rst:1","High.\n\n# Low\n\nSand."]
		["c.rst.gz:1","High.\n\n# Low\n\nSand."]
	END
	mkdir "$T/x" && mv old.rst.d x/
	cut_into x >got
	[ "$(grep -c '/a.md:' got)" -eq 2 ]
}

@test "passages: white space around a passage is dropped, also that beyond ASCII; the indentation of a line stays" {
	printf '\u00a0 the sea\n\n    code\n    more\n\n\u00a0\n\n# Keys\n\n\u3000a lamp\u00a0 and the sea and a lamp and the key\u2003\n' >"$T/a.md"
	cd "$T"
	cut_into --passages 8 a.md | sed $'s/\u00a0/_/g' >got
	diff got - <<-'END'
		["a.md:1","the sea"]
		["a.md:3","    code"]
		["a.md:4","    more"]
		["a.md:8","# Keys"]
		["a.md:10","a lamp_ and the"]
		["a.md:10","sea and a lamp"]
		["a.md:10","and the"]
		["a.md:10","key"]
	END
	printf '# Sea\n\nsea sea sea sea sea \u00a0 sea sea sea sea sea \u00a0 sea sea sea\n' >b.md
	tok -m "$TINY" --passages 8 --overlap 4 b.md | mts to jsonl -c text | jq -e -s 'all(.[].text; startswith("\u00a0") or startswith(" ") | not)'
}

@test "passages: the files of a folder by name, divided at headings, each passage with file and line" {
	notes
	cd "$T"
	cut_into notes >got
	cat >expected <<-'END'
		["a.text.gz:1","a text in a packed file"]
		["below/lamp.txt:1","Oil\n===\nLight the lamp."]
		["below/sea.rst:1","====\nSea\n====\n\nSalt."]
		["below/sea.rst:7","Tide\n~~~~\n\nHigh."]
		["house.md:1","# Keys\n\nThey hang in the hall."]
		["house.md:5","## Spare\n### Cellar\n\nIn the cellar."]
	END
	diff got expected
	for folder in notes/ "$T/notes" ./notes; do cut_into "$folder" | diff - expected; done
	(cd notes && cut_into .) | diff - expected
}

@test "passages: an id is folder, path and line, as grep -rn writes them; on the same line also the column, in characters" {
	notes
	cd "$T"
	for folder in notes notes/ ./notes "$T/notes" .; do
		tok -m "$TINY" "$folder" | mts to jsonl -c _id | jq -r ._id >got
		[ "$folder" != . ] || folder=notes # found below the folder itself
		printf '%s\n' a.text.gz:1 below/lamp.txt:1 below/sea.rst:1 below/sea.rst:7 house.md:1 house.md:5 |
			sed "s|^|${folder%/}/|; s|^\./||" | diff - got
	done
	printf 'keys\n\na lämp and the séa. The s\u00e9a is here. A keeper.\n\nthe lamp\n' >line.md
	tok -m "$TINY" --passages 9 line.md >line.mts
	mts to jsonl -c _id,start,text line.mts | jq -c '[._id, .text]' >got
	jq -r .[0] got | paste -sd' ' | grep -x 'line.md:1 line.md:3 line.md:3:16 line.md:3:32 line.md:3:38'
	# at this column, in characters, the text is found in its line
	jq -e -s --rawfile file line.md 'map(select(.[0] | test(":3:")) | . as [$id, $text] | $file | split("\n")[2] | .[($id | split(":")[2] | tonumber) - 1:] |
		startswith($text)) | length == 3 and all' <(jq -c '.[1] |= split("\n")[0]' got)
	# several folders, and standard input
	tok -m "$TINY" notes/below notes | mts to jsonl -c _id | jq -r ._id | sort | uniq -d | paste -sd' ' | grep -x 'notes/below/lamp.txt:1 notes/below/sea.rst:1 notes/below/sea.rst:7'
	tok -m "$TINY" --passages 9 <line.md | mts to jsonl -c _id | jq -r ._id | sed 's/<stdin>/line.md/' | diff - <(jq -r .[0] got)
	# overlapping passages have ids of their own
	tok -m "$TINY" --passages 9 --overlap 3 line.md | mts to jsonl -c _id | jq -r ._id | sort | uniq -d | diff - /dev/null
	# a row's own id stays
	echo '{"_id": "d", "text": "the sea. the lamp. the sea. the lamp"}' | tok -m "$TINY" --passages 8 --format jsonl -f text | mts to jsonl -c _id | jq -r ._id | uniq | diff - <(echo d)
}

@test "passages: of joined columns the last is cut, and the others stand before each passage" {
	cd "$T"
	text=$(for i in {1..9}; do printf 'the sea and the lamp. he is here. the keeper is old. '; done)
	jq -nc --arg text "$text" '{_id: "a", title: "the lamp", text: $text}, {_id: "b", title: "", text: "the sea"}, {_id: "c", title: ("the keeper " * 20), text: $text}' >rows.jsonl
	tok -m "$TINY" --passages 16 -f document=title+text rows.jsonl >x.mts
	mts to jsonl x.mts >x.jsonl
	jq -e -s 'map(select(._id != "c")."document.ids" | length <= 16) | all' x.jsonl
	jq -e -s 'map(select(._id == "a")."document.ids" | length > 8) | all and length > 4' x.jsonl
	# the ids are those of title and passage, and the passages are the text
	jq -c '{_id, text: (if .title == "" then .text else "\(.title) \(.text)" end)}' x.jsonl | tok -m "$TINY" --format jsonl | mts to jsonl -c text.ids | jq -c '."text.ids"' |
		diff - <(jq -c '."document.ids"' x.jsonl)
	for id in a c; do [ "$(jq -r --arg id $id 'select(._id == $id).text' x.jsonl | paste -sd' ')" = "${text% }" ]; done
	[ "$(jq -r 'select(._id == "a").title' x.jsonl | sort -u)" = "the lamp" ]
	# without the title more of the text fits
	[ "$(tok -m "$TINY" --passages 16 -f text rows.jsonl | mts to jsonl -c _id | grep -c a)" -lt "$(grep -c '"_id":"a"' x.jsonl)" ]
	# a title of more than half of the ids takes no room of the text
	tok -m "$TINY" --passages 16 -f text rows.jsonl | mts to jsonl -c _id,text | grep '"c"' | diff - <(jq -c 'select(._id == "c") | {_id, text}' x.jsonl)
}

@test "passages: equal folders give equal bytes, with any number of threads and any order on the disk" {
	notes
	cd "$T"
	mkdir again again/below
	for file in house.md below/sea.rst below/lamp.txt blank.md a.text.gz; do cp "notes/$file" "again/$file"; done
	(cd notes && tok -m "$TINY" -j 1 .) | mts to jsonl >one
	(cd again && tok -m "$TINY" -j 4 .) | mts to jsonl >two
	cmp one two
}

@test "passages: divided at paragraphs, then sentences, list items, words; code stays whole if it fits" {
	cd "$T"
	cat >x.md <<-'END'
		The keeper is here. He is old.
		Is he? Yes.

		- the sea
		- the lamp

		```
		light it. x
		# no heading

		y z
		```
	END
	cut_into --passages 28 x.md >got
	cat >expected <<-'END'
		["x.md:1","The keeper is here. He is old.\nIs he? Yes."]
		["x.md:4","- the sea\n- the lamp"]
		["x.md:7","```\nlight it. x\n# no heading\n\ny z\n```"]
	END
	diff got expected
	cut_into --passages 17 x.md >got
	cat >expected <<-'END'
		["x.md:1","The keeper is here."]
		["x.md:1","He is old.\nIs he?"]
		["x.md:2","Yes.\n\n- the sea\n- the lamp"]
		["x.md:7","```\nlight it. x"]
		["x.md:9","# no heading\n\ny z\n```"]
	END
	diff got expected
	tok -m "$TINY" --passages 10 <<<'sea lamp sea lamp sea lamp sea lamp sea lamp sea' | mts to jsonl -c text >got
	diff got - <<<$'{"text":"sea lamp sea lamp sea lamp sea lamp"}\n{"text":"sea lamp sea"}'
	# a word without spaces at characters; Chinese at sentences
	[ "$(printf 'seaseaseaseaseasea' | cut_into --passages 8 | wc -l)" -gt 2 ]
	printf '\xe6\xb5\xb7\xe3\x80\x82\xe7\x81\xaf\xe3\x80\x82\xe6\xb5\xb7\xe7\x81\xaf\xe3\x80\x82\xe6\xb5\xb7\xe6\xb5\xb7\xe6\xb5\xb7' | cut_into --passages 8 >got
	cat got
	[ "$(head -1 got)" = '["<stdin>:1","海。灯。"]' ]
}

# 2. options

@test "passages --passages: no passage exceeds the limit; together they are the text" {
	cd "$T"
	for n in 8 9 20 50; do
		tok -m "$TINY" --passages $n "$ROOT/CONTRIBUTING.md" 2>err >made.mts
		[ ! -s err ]
		longest <made.mts >most
		[ "$(<most)" -le $n ]
		mts to jsonl -c text made.mts | jq -r .text | tr -d ' \t\n' >got
		tr -d ' \t\n' <"$ROOT/CONTRIBUTING.md" | cmp - got
	done
	[ "$(<most)" -gt 45 ]
	tok -m "$TINY" --passages 20 --prompt 'the lamp of: ' "$ROOT/CONTRIBUTING.md" 2>err | longest >most
	[ ! -s err ]
	[ "$(<most)" -eq 20 ]
	# the default is the model's limit
	mkdir folder && cp "$ROOT/CONTRIBUTING.md" folder
	tok -m "$TINY" --max-length 40 folder 2>err >made.mts
	[ ! -s err ]
	longest <made.mts >most
	[ "$(<most)" -le 40 ]
}

@test "passages --passages: WordPiece and BPE tokenizers of models of the Hub" {
	for model in tok-bert-base-uncased tok-phi2 tok-dolma2; do
		need_model "$model"
		tok -m "$MODELS/$model" --passages 64 "$ROOT/CONTRIBUTING.md" 2>"$T/err" >"$T/made.mts"
		[ ! -s "$T/err" ]
		[ "$(longest <"$T/made.mts")" -le 64 ]
	done
}

@test "passages --overlap: a passage begins with the end of the previous one, unless a heading is between them" {
	cd "$T"
	printf 'The sea. The lamp. The keeper. The light. The sea.\n\n# The lamp\n\nThe sea. The end.\n' >x.md
	cut_into --passages 9 --overlap 4 x.md >got
	cat got
	cat >expected <<-'END'
		["x.md:1","The sea. The lamp."]
		["x.md:1","The lamp. The keeper."]
		["x.md:1","The keeper. The light."]
		["x.md:1","The light. The sea."]
		["x.md:3","# The lamp\n\nThe sea."]
		["x.md:5","The sea. The"]
		["x.md:5","The end."]
	END
	diff got expected
	# an overlap loses no text
	for overlap in 1 4 10; do
		tok -m "$TINY" --passages 20 --overlap $overlap "$ROOT/CONTRIBUTING.md" >made.mts
		[ "$(longest <made.mts)" -le 20 ]
		mts to jsonl -c text made.mts | jq -r .text >got
		for word in sanitizers clangd PEER_PYTHON; do grep -q $word got; done
	done
}

@test "passages: texts of JSON Lines, TSV and streams are divided; other columns are repeated" {
	cd "$T"
	jq -nc '{id: 7, tags: ["a", "b"], text: "# One\n\nThe sea.\n\n# Two\n\nThe lamp."}, {id: 8, tags: [], text: "  "}, {id: 9, tags: ["c"], text: "The end."}' >x.jsonl
	tok -m "$TINY" --passages 20 x.jsonl >x.mts
	mts to jsonl -c id,tags,start,text x.mts >got
	cat >expected <<-'END'
		{"id":7,"tags":["a","b"],"start":1,"text":"# One\n\nThe sea."}
		{"id":7,"tags":["a","b"],"start":5,"text":"# Two\n\nThe lamp."}
		{"id":9,"tags":["c"],"start":1,"text":"The end."}
	END
	diff got expected
	mts from jsonl x.jsonl | tok -m "$TINY" --passages 20 | mts diff - x.mts
	printf 'id\ttext\n1\tThe sea.\n' | tok -m "$TINY" --passages 20 --format tsv | mts to tsv -c id,start,text | diff - <(printf 'id\tstart\ttext\n1\t1\tThe sea.\n')
	printf 'The sea.\n\nThe lamp.\n' | tok -m "$TINY" --passages 20 --format lines | mts to tsv -c text,start | diff - <(printf 'text\tstart\nThe sea.\t1\nThe lamp.\t1\n')
	tok -m "$TINY" --passages 20 --record-rows 1 x.jsonl | mts diff - x.mts
}

@test "passages: a folder is encoded, and near finds file and line" {
	need_minilm
	notes
	cd "$T"
	export MOTES_MODEL=$MOTES_MINILM
	tok notes | encode >notes.mts
	echo 'where are the keys?' | tok | encode >q.mts
	near -k 1 q.mts notes.mts | grep 5
	[ "$(mts to tsv -c path,start notes.mts | sed -n 6p)" = $'house.md\t1' ]
}

# 4. bad input

@test "passages: folders without texts, with blank ones only, or that cannot be read are refused" {
	cd "$T"
	mkdir empty blank
	dies "tok: empty: holds no text" tok -m "$TINY" -o out empty
	echo >blank/x.md
	dies "tok: blank: its files hold no text" tok -m "$TINY" -o out blank
	dies "tok: nowhere" tok -m "$TINY" -o out nowhere
	jq -nc '{start: 1, text: "a"}' >x.jsonl
	dies "tok: x.jsonl: has a column 'start'" tok -m "$TINY" --passages 20 -o out x.jsonl
}

@test "passages: a binary file is skipped in a folder with a warning, and refused as an argument" {
	notes
	cd "$T"
	printf 'a\0b\n' >notes/zero.txt
	printf 'caf\xe9\n' >notes/latin.txt
	run -0 --separate-stderr cut_into notes
	[[ $output == *'["latin.txt:1","caf�"]'* ]]
	[ "${stderr_lines[0]}" = "tok: warning: notes/latin.txt: 1 invalid parts of UTF-8 were replaced by U+FFFD" ]
	[ "${stderr_lines[1]}" = "tok: warning: notes/zero.txt: left out: a byte 0: this is not text (or it is UTF-16)" ]
	[ "${#stderr_lines[@]}" -eq 2 ]
	dies "tok: notes/zero.txt: a byte 0" tok -m "$TINY" --passages 20 -o out notes/zero.txt
	run -0 --separate-stderr tok -v -m "$TINY" -o made.mts notes
	[[ $stderr == *"notes: 7 texts; 3 hidden or other files and folders and 2 symbolic links left out"* ]]
}
