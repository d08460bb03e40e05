#!/usr/bin/env bats
load helper

PLAIN=$GOLDEN/token/plain
# bytes: $T/bytes, a byte-level tokenizer with a special token after each text
bytes() {
	mkdir -p "$T/bytes"
	jq -c '.decoder = {type: "ByteLevel"}' "$GOLDEN/bpe/qwen/tokenizer.json" >"$T/bytes/tokenizer.json"
}

# ids TEXT OPTION...: the ids of the text
ids() {
	jq -nc --arg t "$1" '{text: $t}' | tok -q "${@:2}" | mts to jsonl | jq -c '."text.ids"'
}
# seen TEXT OPTION...: the decoded ids
seen() {
	jq -nc --arg t "$1" '{text: $t}' | tok -q "${@:2}" | tok -m "$3" --decode --specials | mts to jsonl | jq -r .text
}

# 1. known answers

@test "template: ids are the reference's, complete and truncated, with prompts, with prepared texts" {
	head -1 "$GOLDEN/template.jsonl" | jq -c '.texts[] | {text: .}' >"$T/texts.jsonl"
	sed 1d "$GOLDEN/template.jsonl" >"$T/golden.jsonl"
	jq -r '[.model, .options[]] | @sh' "$T/golden.jsonl" >"$T/commands"
	local commands=0 line words
	while read -r line; do
		declare -a "words=($line)"
		tok -q -m "$GOLDEN/${words[0]}" "${words[@]:1}" --format jsonl "$T/texts.jsonl" | mts to jsonl
		commands=$((commands + 1))
	done <"$T/commands" >"$T/rows.jsonl"
	[ "$commands" -gt 80 ]
	# one call, since jq takes 40 ms to start
	jq -c '."text.ids"' "$T/rows.jsonl" >"$T/found"
	jq -r '. as $all | .ids[] | "\($all.model) \($all.options | join(" "))\t\(tojson)"' "$T/golden.jsonl" >"$T/wanted"
	cut -f1 "$T/wanted" | paste - "$T/found" | diff "$T/wanted" -
}

@test "template: truncation cuts the text and keeps the template around it, with a warning; --no-truncate refuses" {
	bytes
	long=$(printf 'the light of the sea %.0s' {1..30})
	last=$(seen '' -m "$T/bytes")
	[ -n "$last" ]
	for most in 60 70 71; do
		run -0 seen "$long" -m "$T/bytes" --template prompteol --max-length $most
		echo "$output"
		[[ $output == 'This sentence : "the light'*" means in one word:\"$last" ]]
		[ "$(ids "$long" -m "$T/bytes" --template prompteol --max-length $most | jq length)" -eq $most ]
	done
	# one token more is one token of the text more
	one=$(ids "$long" -m "$T/bytes" --template '"{text}"' --max-length 20)
	two=$(ids "$long" -m "$T/bytes" --template '"{text}"' --max-length 21)
	[ "$(jq -c '.[:18]' <<<"$one")" = "$(jq -c '.[:18]' <<<"$two")" ]
	[ "$(jq -c '.[-2:]' <<<"$one")" = "$(jq -c '.[-2:]' <<<"$two")" ]
	run -0 --separate-stderr bash -c "echo '$long' | tok -m '$T/bytes' --template quoted --max-length 20 >'$T/out.mts'"
	[[ $stderr == "tok: warning: 1 of 1 texts were longer than 20 tokens and were cut"* ]]
	run -1 --separate-stderr bash -c "echo '$long' | tok -m '$T/bytes' --template quoted --max-length 20 --no-truncate"
	[[ $stderr == "tok: <stdin>:1: 'text' is longer than 20 tokens; "* ]]
}

@test "template: of a text of a megabyte only the beginning up to the limit is used" {
	head -c 1000000 /dev/zero | tr '\0' k | sed 's/kkkk/sea /g' >"$T/in.txt"
	tok -q -m "$PLAIN" --template '{text} light' --max-length 9 "$T/in.txt" | mts to jsonl >"$T/found"
	[ "$(jq -c '."text.ids"[-2:]' "$T/found")" = "$(ids 'light' -m "$PLAIN" | jq -c '.[-2:]')" ]
}

@test "template: the prompt stands before the text, inside the template; a template without a tail is a prompt" {
	cp -r "$PLAIN" "$T/model"
	echo '{"prompts":{"a":"the sea: "},"default_prompt_name":"a"}' >"$T/model/config_sentence_transformers.json"
	want=$(ids 'light the sea: lamp of' -m "$PLAIN")
	for how in '--task a' '' "--prompt=the\ sea:\ "; do
		[ "$(eval ids lamp -m "$T/model" --template "'light {text} of'" "$how")" = "$want" ]
	done
	[ "$(ids lamp -m "$T/model" --template 'light {text} of' --prompt '')" = "$(ids 'light lamp of' -m "$PLAIN")" ]
	printf 'lamp\n' | tok -m "$PLAIN" --template 'the sea: {text}' | mts diff - <(printf 'lamp\n' | tok -m "$PLAIN" --prompt 'the sea: ')
	# tokens before the text count as a prompt, which pooling may exclude; tokens after it do not
	run -0 bash -c "echo lamp | tok -m '$PLAIN' --template 'light {text} of' | stream_rows"
	[ "${lines[0]}" = '{"prompt_tokens":{"text":2}}' ]
	run -0 bash -c "echo lamp | tok -m '$PLAIN' --template 'light {text} of' --prompt 'the ' | stream_rows"
	[ "${lines[0]}" = '{"prompts":{"text":"the "},"prompt_tokens":{"text":3}}' ]
	run -0 bash -c "echo lamp | tok -m '$PLAIN' --template '{text} of' | stream_rows"
	[ "${lines[0]} ${lines[1]}" = "{}  text.ids=$(ids 'lamp of' -m "$PLAIN" | tr , ' ')" ]
}

@test "template: lists, joined fields, streams, kept texts, any number of threads" {
	printf '%s\n' '{"query":"sea","negatives":["the","of the"],"title":" a ","body":"lamp"}' \
		'{"query":"the","negatives":[],"title":"","body":"sea"}' >"$T/in.jsonl"
	tok -m "$PLAIN" -f query -f negatives -f doc=title+body --keep --template 'light {text} of' "$T/in.jsonl" >"$T/out.mts"
	mts to jsonl "$T/out.mts" >"$T/found"
	[ "$(head -1 "$T/found" | jq -c '[.query, .negatives, .title, .body]')" = '["sea",["the","of the"]," a ","lamp"]' ]
	[ "$(head -1 "$T/found" | jq -c '."negatives.ids"')" = "[$(ids 'light the of' -m "$PLAIN"),$(ids 'light of the of' -m "$PLAIN")]" ]
	[ "$(jq -c '."doc.ids"' "$T/found" | head -1)" = "$(ids 'light a lamp of' -m "$PLAIN")" ]
	[ "$(tail -1 "$T/found" | jq -c '."negatives.ids"')" = '[]' ]
	# from a stream
	tok -m "$PLAIN" -f query --keep "$T/in.jsonl" >"$T/texts.mts"
	tok -m "$PLAIN" -f negatives --template 'light {text} of' "$T/texts.mts" | mts to jsonl | jq -c '."negatives.ids"' |
		cmp - <(jq -c '."negatives.ids"' "$T/found")
	printf 'the sea of lamp\nlight\n%.0s' {1..3000} >"$T/many.txt"
	tok -q -j 1 -m "$PLAIN" --template 'light {text} of' --prepare moee --max-length 7 "$T/many.txt" >"$T/one.mts"
	tok -q -j 3 -m "$PLAIN" --template 'light {text} of' --prepare moee --max-length 7 "$T/many.txt" |
		mts diff - "$T/one.mts"
}

@test "template: the nine prompts of the paper and the two of its program" {
	bytes
	last=$(seen '' -m "$T/bytes")
	for name in one-word style sentiment tone intent complexity subjectivity language-style grammar; do
		seen LAMP -m "$T/bytes" --template $name
	done | sed "s/$last\$//" >"$T/found"
	diff - "$T/found" <<-E
		This sentence: LAMP means in one word:
		In one word, describe the style of the following sentence - LAMP:
		In one word, describe the sentiment of the following sentence (positive, neutral, or negative) - LAMP:
		In one word, describe the tone of the following sentence - LAMP (e.g., formal, informal, humorous, serious):
		In one word, describe the intent behind the following sentence (e.g., request, suggestion, command) - LAMP:
		In one word, rate the complexity of the following sentence (simple, moderate, complex) - LAMP:
		In one word, describe whether the following sentence is subjective or objective - LAMP:
		In one word, describe the language style of the following sentence (e.g., academic, conversational, literary) - LAMP:
		In one word, describe the grammatical structure of the following sentence (simple, compound, complex) - LAMP:
	E
	[ "$(seen LAMP -m "$T/bytes" --template prompteol)" = 'This sentence : "LAMP" means in one word:"'"$last" ]
	[ "$(seen LAMP -m "$T/bytes" --template quoted)" = "\"LAMP\"$last" ]
}

@test "template: texts are prepared as by MoEE's program" {
	bytes
	last=$(seen '' -m "$T/bytes")
	moee() { # TEXT OPTION...
		seen "$1" -m "$T/bytes" --prepare moee "${@:2}" | sed "s/$last\$//"
	}
	[ "$(moee 'say "a_b"  now' --template prompteol)" = "This sentence : \"say 'a b'  now.\" means in one word:\"" ]
	[ "$(moee '' --template prompteol)" = 'This sentence : "." means in one word:"' ]
	[ "$(moee 'so "be it"' --template quoted)" = "\"so 'be it'\"" ]
	[ "$(moee 'why?' --template ' _{text}_of_it_ ')" = 'why? of it' ]
	[ "$(moee ' why ')" = 'why .' ]
	[ "$(moee '' --prompt '"q": ')" = "'q': ." ]
	[ "$(moee '' --prompt 'q!')" = 'q!' ]
	[ "$(seen 'a_b' -m "$T/bytes" --prepare none --template quoted)" = "\"a_b\"$last" ]
}

@test "template: prompts of records, and the tokens that count as a prompt" {
	for prompt in 'of ' 'the light '; do
		echo 'lamp sea lamp sea' | tok -m "$PLAIN" --keep --prompt "$prompt"
	done >"$T/in.mts"
	tok -q -m "$PLAIN" --template 'sea {text} of the' --max-length 8 "$T/in.mts" | mts to jsonl | jq -c '."text.ids"' >"$T/found"
	for text in 'sea of lamp sea of the' 'sea the light lamp of the'; do
		ids "$text" -m "$PLAIN"
	done | cmp - "$T/found"
	run -0 bash -c "echo lamp | tok -m '$PLAIN' --prepare moee --template ' _{text} of' | stream_rows"
	[ "${lines[0]}" = '{}' ]
}

# 2. real tokenizers

@test "template: with published tokenizers the last token of PromptEOL is a quote, also after truncation" {
	need_model tok-gpt-neox-olmo-dolma
	need_model tok-dolma2
	long=$(printf 'The quick brown fox, he said; isn%st it? %.0s' "'" {1..40})
	for model in tok-gpt-neox-olmo-dolma tok-dolma2; do
		for text in 'A boat.' "$long"; do
			run -0 seen "$text" -m "$MODELS/$model" --template prompteol --max-length 64
			echo "$output"
			[[ $output == 'This sentence : "'*'" means in one word:"' ]]
		done
	done
}

# 3. usage

@test "template: templates without a place or with two, unknown names, and templates that leave no room are refused" {
	wrong() { # STATUS OPTION... MESSAGE
		run -"$1" --separate-stderr tok -m "$PLAIN" "${@:2:$#-2}" <<<'the sea'
		echo "$stderr"
		# shellcheck disable=SC2053
		[[ ${stderr%%$'\n'*} == tok:\ ${*: -1} ]]
	}
	wrong 2 --template promtpeol "--template: 'promtpeol' is not one of prompteol, quoted, one-word, *, grammar, nor a text that holds {text}; did you mean 'prompteol'?"
	wrong 2 --template 'no place' "--template: 'no place' is not one of *, nor a text that holds {text}"
	wrong 2 --template '' "--template: '' is not one of *, nor a text that holds {text}"
	wrong 2 --template 'a {text} b {text}' "--template: 'a {text} b {text}' holds {text} 2 times; a template has one place for the text"
	wrong 2 --prepare mote "--prepare: 'mote' is not one of none, moee*"
	wrong 1 --template 'the sea {text} of' --max-length 5 "the template by itself takes 5 ids, and all is to have 5 at most; give more with --max-length"
	[ "$(ids 'lamp lamp' -m "$PLAIN" --template 'the sea {text} of' --max-length 6)" = "$(ids 'the sea lamp of' -m "$PLAIN")" ]
	# a prompt has to leave room as well; without both a text may be cut to nothing
	wrong 1 --prompt 'the sea ' --max-length 4 "the prompt by itself takes 4 ids, and all is to have 4 at most; give more with --max-length"
	[ "$(ids 'lamp lamp' -m "$PLAIN" --prompt 'the sea ' --max-length 5)" = "$(ids 'the sea lamp' -m "$PLAIN")" ]
	[ "$(ids 'lamp lamp' -m "$PLAIN" --max-length 2 | jq length)" -eq 2 ]
	echo '{"a":"b"}' | tok -m "$PLAIN" -f a -o "$T/ids.mts"
	does_not_apply --template tok -m "$PLAIN" --decode --template quoted "$T/ids.mts"
	does_not_apply --prepare tok --learn bpe -o "$T/x" --prepare moee "$T/ids.mts"
}

# 4. the file

# bats test_tags=plain
@test "template: the file of an installed program; lines that are not templates, and a missing file, are refused" {
	[[ $BUILD != *-sanitize ]] || skip "for the plain build"
	mkdir -p "$T/usr/bin" "$T/usr/share/motes"
	cp "$BUILD/bin/tok" "$T/usr/bin"
	file=$T/usr/share/motes/templates.yaml
	wrong() { # MESSAGE
		run -1 --separate-stderr "$T/usr/bin/tok" -m "$PLAIN" --template mine <<<'the sea'
		echo "$stderr"
		# shellcheck disable=SC2053
		[[ $stderr == $1 ]]
	}
	wrong "tok: $T/usr/bin/../share/motes/templates.yaml: it is not there, nor is *"
	"$T/usr/bin/tok" -m "$PLAIN" --template 'own {text}' -o "$T/own.mts" <<<'the sea'
	printf 'mine: the {text} of\n' >"$file"
	"$T/usr/bin/tok" -m "$PLAIN" --template mine <<<'sea' | mts to jsonl | jq -c '."text.ids"' |
		cmp - <(ids 'the sea of' -m "$PLAIN")
	printf '# mine\nmine: the {text} of\nother: the sea\n' >"$file"
	wrong "tok: *templates.yaml:3: other: a template is a text that holds {text} once"
	printf 'mine: {text}\n' >"$file" # braces of YAML
	wrong "tok: *templates.yaml:1: *mine: a template is a text that holds {text} once"
	printf 'mine: 3\n' >"$file"
	wrong "tok: *templates.yaml:1: *mine: a template is a text that holds {text} once"
	printf 'mine: "{text}{text}"\n' >"$file"
	wrong "tok: *templates.yaml:1: *mine: a template is a text that holds {text} once"
	printf -- '- "{text}"\n' >"$file"
	wrong "tok: *templates.yaml:1: it must have a line a template, 'name: text'"
	printf 'mine: "{text}\n' >"$file"
	wrong "tok: *templates.yaml:*"
	printf '' >"$file"
	wrong "tok: *templates.yaml: empty"
}
