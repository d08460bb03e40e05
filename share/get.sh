# shellcheck shell=sh disable=SC2154
# get.sh - fetches a model from the Hugging Face Hub with curl.  'motes get' prints it after lines that set
#	endpoint name revision	where the model is: https://huggingface.co ORG/NAME main
#	cache			its folder in the local cache, .../models--ORG--NAME
#	to			or else the folder to write; empty: none
# A file gets its name when it is complete; an interrupted run resumes where it stopped.  The folder gets its
# name (in the cache: its revision) when it has all files.  HF_TOKEN is sent if it is set.
set -eu

fail() {
	echo "motes get: $*" >&2
	exit 1
}

# fetch ARGUMENT...: curl; the token is not an argument, since other users see those
fetch() {
	printf '%s\n' "${HF_TOKEN:+header = \"Authorization: Bearer $HF_TOKEN\"}" | curl -fL --retry 3 -K - "$@"
}

command -v curl >/dev/null || fail "curl is missing; install it"
list=$(fetch -sS "$endpoint/api/models/$name/revision/$(printf %s "$revision" | sed 's,/,%2F,g')") ||
	fail "$endpoint does not list the files of $name, revision $revision; check the name, or set HF_TOKEN if its licence asks for one"
commit=$(printf '%s' "$list" | grep -o '"sha": *"[0-9a-f]*"' | sed -n '1s/.*"\([0-9a-f]*\)"/\1/p')
[ "$commit" ] || fail "$endpoint names no commit of $name"

# the files that motes reads, of the model and its modules (1_Pooling); weights of torch.save only if there are no others
files=$(printf '%s' "$list" | grep -o '"rfilename": *"[^"]*"' | sed 's/.*: *"//; s/"$//')
part='(-[0-9]+-of-[0-9]+)?'
kept=
for file in $(printf '%s\n' "$files" | grep -E "^([0-9]+_[A-Za-z0-9]+/)?((config|modules|config_sentence_transformers|\
sentence_[a-z]+_config|tokenizer|tokenizer_config|special_tokens_map|added_tokens|vocab|adapter_config|chat_template|((video_)?pre)?processor_config)\.json|vocab\.txt|\
merges\.txt|[a-z.]+\.model|chat_template\.jinja|(model|adapter_model)$part\.safetensors(\.index\.json)?|\
(pytorch_model|adapter_model)$part\.bin(\.index\.json)?)\$"); do
	case $file in
	*.bin | *.bin.index.json)
		if printf '%s\n' "$files" | grep -q "^${file%"${file##*/}"}[a-z_]*model[^/]*\.safetensors\$"; then continue; fi
		;;
	esac
	kept="$kept $file"
done
case $kept in
*.safetensors* | *.bin*) ;;
*) fail "$name has no model.safetensors, and no pytorch_model.bin" ;;
esac

final=${to:-$cache/snapshots/$commit}
stage=$final.part
if [ "$to" ]; then
	[ ! -e "$to" ] || fail "$to is there already; name another folder"
	stage=$to.$commit.part
elif [ -d "$final" ]; then
	stage=$final
fi
for file in $kept; do
	[ ! -e "$stage/$file" ] || continue
	echo "$file" >&2
	mkdir -p "$(dirname "$stage/$file")"
	set -- "$([ -t 2 ] && echo -# || echo -sS)" -o "$stage/$file.part" "$endpoint/$name/resolve/$commit/$file"
	fetch -C - "$@" || case $? in
	22 | 33 | 36) rm -f "$stage/$file.part" && fetch "$@" ;; # the server cannot resume inside a file
	*) fail "$file is cut short; run this again to go on" ;;
	esac || fail "$endpoint/$name/resolve/$commit/$file cannot be had"
	mv "$stage/$file.part" "$stage/$file"
done
[ "$stage" = "$final" ] || mv "$stage" "$final"
if [ ! "$to" ] && [ "$revision" != "$commit" ]; then
	mkdir -p "$(dirname "$cache/refs/$revision")"
	printf %s "$commit" >"$cache/refs/$revision.part"
	mv "$cache/refs/$revision.part" "$cache/refs/$revision"
fi
echo "$final"
