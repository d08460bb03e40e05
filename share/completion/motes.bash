# shellcheck shell=bash
# motes.bash - completion in bash.  Each program prints its table of words with --completion.
# 'make install' writes the names of the programs below and installs this file for bash.

# Paths that begin with $1: files that end in one of the further arguments, compressed or not, and
# folders on the way to them.
_motes_files()
{
	local path bare end word=$1

	shift
	while IFS= read -r path; do
		bare=${path%.gz}
		bare=${bare%.zst}
		for end in "$@"; do
			[[ $bare == *"$end" || -d ${path/#\~\//$HOME/} ]] || continue
			COMPREPLY+=("$path")
			break
		done
	done < <(compgen -f -- "$word")
}

# Model folders, or folders on the way to them; cached models of the Hugging Face Hub.
_motes_models()
{
	local path found cache=${HF_HOME:-${XDG_CACHE_HOME:-$HOME/.cache}/huggingface}/hub

	while IFS= read -r path; do
		for found in "${path/#\~\//$HOME/}"/{,*/,*/*/}config.json; do
			[ -e "$found" ] || continue
			COMPREPLY+=("$path")
			break
		done
	done < <(compgen -d -- "$1")
	for path in "${HF_HUB_CACHE:-$cache}"/models--*/snapshots; do
		found=${path%/snapshots}
		found=${found##*/models--}
		found=${found/--//}
		[[ -d $path && $found == "$1"* ]] && COMPREPLY+=("$found")
	done
}

# Completions of $1 of the kind $2.
_motes_kind()
{
	local words

	case $2 in
	MODEL | DIR | FILE | .*) compopt -o filenames 2>/dev/null ;;
	esac
	IFS='|' read -ra words <<<"$2"
	case $2 in
	*=*)
		compopt -o nospace 2>/dev/null
		mapfile -t COMPREPLY < <(compgen -W "${words[*]}" -- "$1")
		;;
	MODEL) _motes_models "$1" ;;
	DIR) mapfile -t COMPREPLY < <(compgen -d -- "$1") ;;
	FILE) _motes_files "$1" '' ;;
	.*) _motes_files "$1" "${words[@]}" ;;
	# in N|SHARE|all only the last is a word
	*'|'*) mapfile -t COMPREPLY < <(compgen -W "${words[*]}" -X '[[:upper:]]*' -- "$1") ;;
	esac
}

# Completions of $1, the value of a pipeline's variable $2.
_motes_value()
{
	case $2 in
	MODEL | MODELS | START) _motes_kind "$1" MODEL ;;
	DATA | GATES | OUT | RESULTS) _motes_kind "$1" DIR ;;
	*) _motes_kind "$1" FILE ;;
	esac
}

_motes()
{
	local word=${2//\\/} tag a b c i wants command='' count=0 kinds
	local -A takes=() options_of=() operands=()
	local options=() common=() commands=() program=("$1")

	COMPREPLY=()
	# 'motes near' completes as near does
	[[ ${1##*/} != motes || $COMP_CWORD -lt 2 || ${COMP_WORDS[1]} == @(get|-*) ]] || program+=("${COMP_WORDS[1]}")
	while IFS=$'\t' read -r tag a b c _; do
		case $tag in
		option | common) takes[$a]=$c takes[$b]=$c ;;&
		option) options+=("$a") ;;
		common) common+=("$a") ;;
		command) commands+=("$a") options_of[$a]=" $b " ;;
		operands) operands[$a]=$b ;;
		esac
	done < <("${program[@]}" --completion 2>/dev/null)
	[ "$word" != = ] || word=
	for a in "${COMP_WORDS[COMP_CWORD - 1]}" "${COMP_WORDS[COMP_CWORD]}"; do
		[[ $a == = && ${operands[-]-} == *=* ]] || continue
		[ "$word" ] && b=${COMP_WORDS[COMP_CWORD - 2]} || b=${COMP_WORDS[COMP_CWORD - 1]}
		_motes_value "$word" "$b"
		return
	done
	for ((i = ${#program[@]}; i < COMP_CWORD; i++)); do
		a=${COMP_WORDS[i]} wants=-
		case $a in
		-?*)
			wants=${takes[$a]:--}
			if [ "$wants" != - ]; then
				# readline makes "--gain=exp" three words
				[ "${COMP_WORDS[i + 1]}" != = ] || i=$((i + 1))
				i=$((i + 1))
				[ "$i" -ge "$COMP_CWORD" ] || wants=-
			fi
			;;
		*)
			if [ "${#commands[@]}" -gt 0 ] && [ -z "$command" ]; then
				command=$a
			else
				count=$((count + 1))
			fi
			;;
		esac
	done
	if [ "${wants:--}" != - ]; then
		_motes_kind "$word" "$wants"
	elif [[ $word == -* ]]; then
		for a in "${options[@]}"; do
			[[ -n $command && ${options_of[$command]-} != *" ${a#--} "* ]] || common+=("$a")
		done
		mapfile -t COMPREPLY < <(compgen -W "${common[*]}" -- "$word")
	elif [ "${#commands[@]}" -gt 0 ] && [ -z "$command" ]; then
		mapfile -t COMPREPLY < <(compgen -W "${commands[*]}" -- "$word")
	else
		[ -n "$command" ] && [ -n "${operands[$command]-}" ] || command=-
		read -ra kinds <<<"${operands[$command]-}"
		[ "$count" -lt "${#kinds[@]}" ] || count=$((${#kinds[@]} - 1))
		[ "$count" -lt 0 ] || _motes_kind "$word" "${kinds[count]}"
	fi
}

complete -F _motes PROGRAMS
