#compdef PROGRAMS
# motes.zsh - completion in zsh.  Each program prints its table of words with --completion.
# 'make install' writes the names of the programs above and installs this file for zsh.

# Model folders, or folders on the way to them; cached models of the Hugging Face Hub.
_motes_models()
{
	local cache=${HF_HUB_CACHE:-${HF_HOME:-${XDG_CACHE_HOME:-$HOME/.cache}/huggingface}/hub} path
	local -a folders names found

	for path in ${~PREFIX}*(N-/); do
		found=($path/{,*/,*/*/}config.json(N))
		(( $#found )) && folders+=($path)
	done
	names=($cache/models--*/snapshots(N-/:h:t))
	names=(${${names#models--}/--//})
	compadd -f -Q -q -S / -- ${(q)folders}
	compadd -- $names
}

_motes_kind()
{
	local -a words=(${(s:|:)1})

	case $1 in
	*=*) compadd -S '' -- $words ;;
	MODEL) _motes_models ;;
	DIR) _files -/ ;;
	FILE) _files ;;
	.*) _files -g "*(${(j:|:)words})(|.gz|.zst)(-.)" ;;
	# in N|SHARE|all only the last is a word
	*'|'*) compadd -- ${words:#[[:upper:]]*} ;;
	esac
}

_motes()
{
	local line command wants=- word
	local -i i count=0
	local -A takes options_of operands
	local -a cells options common commands kinds program=(${(Q)words[1]})

	# 'motes near' completes as near does
	[[ $program[1]:t != motes || $CURRENT -lt 3 || $words[2] = (get|-*) ]] || program+=(${(Q)words[2]})
	for line in ${(f)"$($program --completion 2>/dev/null)"}; do
		cells=("${(@ps:\t:)line}")
		case $cells[1] in
		option | common)
			takes[$cells[2]]=$cells[4] takes[$cells[3]]=$cells[4]
			[[ $cells[1] = option ]] && options+=("$cells[2]:$cells[5]") ||
				common+=("$cells[2]:$cells[5]")
			;;
		command)
			commands+=("$cells[2]:$cells[4]")
			options_of[$cells[2]]=" $cells[3] "
			;;
		operands) operands[$cells[2]]=$cells[3] ;;
		esac
	done
	for ((i = $#program + 1; i < CURRENT; i++)); do
		word=$words[i] wants=-
		if [[ $word = -?* ]]; then
			wants=${takes[$word]:--}
			[[ $wants != - ]] && (( ++i < CURRENT )) && wants=-
		elif (( $#commands )) && [[ -z $command ]]; then
			command=$word
		else
			(( ++count ))
		fi
	done
	word=$words[CURRENT]
	if [[ $wants != - ]]; then
		_motes_kind $wants
	elif [[ $word = *=* && $operands[-] = *=* ]]; then
		compset -P '*='
		case ${word%%=*} in
		MODEL | MODELS | START) _motes_kind MODEL ;;
		DATA | GATES | OUT | RESULTS) _motes_kind DIR ;;
		*) _motes_kind FILE ;;
		esac
	elif [[ $word = --*=* ]]; then
		compset -P '--*='
		_motes_kind ${takes[${word%%=*}]:--}
	elif [[ $word = -* ]]; then
		for line in $options; do
			[[ -n $command && ${options_of[$command]-} != *" ${${line%%:*}#--} "* ]] ||
				common+=($line)
		done
		_describe option common
	elif (( $#commands )) && [[ -z $command ]]; then
		_describe command commands
	else
		kinds=(${=operands[$command]:-$operands[-]})
		(( count < $#kinds )) || count=$#kinds-1
		(( count < 0 )) || _motes_kind $kinds[count+1]
	fi
}

_motes "$@"
