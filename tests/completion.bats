#!/usr/bin/env bats
load helper

# Completion in bash and zsh, by calling the functions that the shells call.

setup() {
	cd "$T" || return
	programs=$(cd "$ROOT/tools" && echo *.c)
	sed "s/PROGRAMS/${programs//.c/}/" "$ROOT/share/completion/motes.bash" >motes.bash
	sed "s/PROGRAMS/${programs//.c/}/" "$ROOT/share/completion/motes.zsh" >_motes
	export HF_HUB_CACHE=$T/hub HOME=$T
	mkdir -p here && cd here || return
	mkdir -p base/1_Pooling more/deep/model empty "$T/hub/models--some--tiny/snapshots" \
		"$T/hub/models--plain/snapshots"
	touch base/config.json more/deep/model/config.json x.mts y.jsonl.gz z.tsv picture.png 'a b.mts' mix.yaml
}

# completes WORD... -> EXPECTED: the last WORD has these completions, separated by spaces
completes() {
	local words=()
	while [ "$1" != "->" ]; do words+=("$1") && shift; done
	# shellcheck disable=SC2016
	got=$(bash -c '. ../motes.bash
		COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
		_motes "$1" "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
		printf "%s\n" "${COMPREPLY[@]}"' _ "${words[@]}" 2>&1 | sort | paste -sd' ')
	echo "${words[*]} gives $got"
	[ "$got" = "$2" ]
}

@test "completion: bash knows every program" {
	run -0 bash -c '. ../motes.bash; complete -p'
	for name in ${programs//.c/}; do
		grep -qx "complete -F _motes $name" <<<"$output"
	done
}

@test "completion: every option of --help is completed, and each command's own options" {
	for name in ${programs//.c/}; do
		"$name" --help >help
		help=$(sed -n '/^Examples:/q; s/^  \(-., \|    \)\(--[a-z0-9-]*\).*/\2/p' help | sort)
		completes "$name" -- "->" "$(paste -sd' ' <<<"$help")"
	done
	completes tok --ma "->" "--max-length --max-line"
	completes mts paste --l "->" --level
	completes mts paste --c "->" ""
	completes mts --l paste --c "->" ""
	completes mteb-score sts --s "->" --similarity
	completes mts cat -o out -- "->" "--columns --help --level --output --progress --quiet --rename --verbose --version"
}

@test "completion: commands are completed, and the words that an option or a command takes" {
	completes mts s "->" "split stat"
	completes mts -o out s "->" "split stat"
	completes mts --output = out s "->" "split stat"
	completes mts to "" "->" "csv jsonl npy safetensors tsv"
	completes mts to js "->" jsonl
	completes mteb-score clustering "->" "clustering clustering-fast"
	completes leaderboard comp "->" compare
	completes mteb-score retrieval --gain "" "->" "exp linear"
	completes mteb-score retrieval --gain = "->" "exp linear"
	completes mteb-score retrieval --gain = l "->" linear
	completes mteb-score clustering-fast --max-documents "" "->" all
	completes tok --learn "" "->" "bpe wordpiece"
	completes train --dtype b "->" bf16
	completes tok --prompt "" "->" ""
}

@test "completion: files have a suffix that the program reads, models are folders with a config.json" {
	completes encode "" "->" "a b.mts base empty more x.mts"
	completes encode 'a\ ' "->" "a b.mts"
	completes tok -q z "->" z.tsv
	completes tok y "->" y.jsonl.gz
	completes tok p "->" ""
	completes tasksample -b 3 m "->" "mix.yaml more"
	completes mts to npy x "->" x.mts
	completes mts from tsv z "->" z.tsv
	completes mts diff x.mts x "->" x.mts
	completes mteb-score retrieval --qrels p "->" picture.png
	completes leaderboard plan e "->" empty
	completes upcycle "" "->" ""
	completes encode -m "" "->" "base more plain some/tiny"
	completes encode --model = ba "->" base
	completes tok -m more/ "->" more/deep
	completes tok -m more/deep/ "->" more/deep/model
	completes tok -m some "->" some/tiny
	completes tok -m '~/here/ba' "->" '~/here/base'
	completes upcycle -m base -o m "->" more
	completes tok -m base z "->" z.tsv
}

@test "completion: motes completes programs and pipelines, and the options of each" {
	completes motes ge "->" "geom get"
	completes motes mte "->" "mteb mteb-score"
	completes motes get --fe "->" --fetch
	completes motes get -o em "->" empty
	completes motes tok --max-le "->" --max-length
	completes motes mteb-score retrieval --gain = l "->" linear
	completes motes mts to js "->" jsonl
	completes motes encode -m ba "->" base
	completes motes encode -m base x "->" x.mts
	completes motes mteb T "->" "TASKS= TEMPLATE="
	completes motes mteb MODEL = "->" "base more plain some/tiny"
	completes motes mteb MODEL = ba "->" base
	completes motes mteb MODEL = base DATA = em "->" empty
	completes motes mteb MODEL = base P "->" "PER_QUERY= PILOTS= PRECISION= PROTOCOL="
	completes motes mteb PILOTS = x "->" x.mts
	completes motes demo "" "->" SEED=
}

@test "completion: a missing or failing program gives no completions" {
	completes /no/such/tok -- "->" ""
	[ -e /dev/full ] || skip "needs /dev/full"
	run -1 bash -c 'tok --completion >/dev/full'
	[ "$output" = "tok: standard output: No space left on device" ]
}

# Types into zsh on a pseudo-terminal; ^T prints the completed line.
@test "completion: zsh completes programs, options and files" {
	command -v zsh >/dev/null || skip "needs zsh"
	need_terminal
	cat >"$T/typed" <<-'E'
		zmodload zsh/zpty
		zpty z zsh -f -i
		zpty -w z "PS1= fpath=($1 \$fpath); autoload -U compinit; compinit -u -D"
		zpty -w z "show() { zle -I; print -r -- \"<\$BUFFER>\"; BUFFER=; }; zle -N show; bindkey '^T' show"
		zpty -w z "echo REA''DY"
		zpty -r z answer '*READY*'
		while IFS='|' read -r typed completed; do
			zpty -w -n z "$typed"$'\t\C-t'
			zpty -r z answer '*<*>*'
			answer=${answer##*<}
			print -r -- "$typed|${answer%%>*}|"
		done
	E
	cat >"$T/lines" <<-'E'
		tok --max-le|tok --max-length |
		mts st|mts stat |
		mts to js|mts to jsonl |
		mts from csv --n|mts from csv --numbers |
		mteb-score retrieval --gain l|mteb-score retrieval --gain linear |
		mteb-score retrieval --gain=ex|mteb-score retrieval --gain=exp |
		mteb-score sts --sim|mteb-score sts --similarity |
		encode x|encode x.mts |
		tok y|tok y.jsonl.gz |
		encode -m ba|encode -m base/|
		encode -m em|encode -m em|
		tok -m so|tok -m some/tiny |
		leaderboard plan em|leaderboard plan empty/|
		motes mteb-s|motes mteb-score |
		motes tok --max-le|motes tok --max-length |
		motes mts to js|motes mts to jsonl |
		motes encode x|motes encode x.mts |
		motes mteb TA|motes mteb TASKS=|
		motes mteb DATA=em|motes mteb DATA=empty/|
	E
	timeout 1000 zsh -f "$T/typed" "$T" <"$T/lines" 3>&- >"$T/out"
	diff "$T/lines" "$T/out"
}
