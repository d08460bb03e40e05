#!/usr/bin/env bats
load helper

# README's commands, run as printed, one block after the other in an empty folder, and their output.

setup() {
	[ -e "$ROOT/share/models/base/model.safetensors" ] || skip "needs make base-model"
}

# block HEADING KIND: the first block of KIND (sh, or none) under the heading
block() {
	awk -v heading="## $1" -v kind="\`\`\`$2" '/^## / { on = $0 == heading }
		/^```/ { if (inside) { if (mine) exit; inside = 0 } else { inside = 1; mine = on && $0 == kind } next }
		inside && mine' "$ROOT/README.md"
}

# Entries as apt-cache prints them: 60 packages of each of six sections, with a word of the section.
stand_in_for_apt() {
	mkdir bin
	cat >bin/apt-cache <<-'END'
		#!/bin/bash
		[ "$*" = dumpavail ] || exit 2
		nouns=(game mail molecule sound typeface film)
		sections=(games mail science sound fonts video)
		for i in {1..60}; do for j in {0..5}; do
			k=$(((i + j) % 6)) # so that both halves have all sections
			printf 'Package: p%s-%s\nSection: %s\nDescription: the %s number %s\nDescription-md5: 0\n\n' $i $k ${sections[k]} ${nouns[k]} $i
		done; done
		printf 'Package: other\nSection: admin\nDescription: left out\n\n'
	END
	chmod +x bin/apt-cache
	PATH=$PWD/bin:$PATH
}

# bats test_tags=plain,unsanitized
@test "README: has at most 130 lines, and its links and pages exist" {
	[ "$(wc -l <"$ROOT/README.md")" -le 130 ]
	for file in $(grep -oE '(share|man|tests|pipelines)/[A-Za-z0-9/._-]*[a-z0-9]' "$ROOT/README.md" | sort -u); do
		[ -e "$ROOT/$file" ] || { echo "$file"; false; }
	done
}

# bats test_tags=plain
@test "README: its commands search notes, score, tune, group, label and export, and print the output shown" {
	[[ $BUILD != *-sanitize ]] || skip "minutes of training, sanitized"
	mkdir "$T/clone"
	ln -s "$ROOT/share" "$T/clone/share"
	cd "$T/clone"
	block "Search a folder of notes" sh | sed "s|PATH=[^ ]*|PATH=$PATH|" >commands
	grep -q '^tok notes ' commands
	{
		cat commands
		echo "PATH=$T/clone/bin:\$PATH"
		block "Score a model, tune it on pairs of your own, see the gain" sh
	} >all
	stand_in_for_apt
	block "Groups, labels, numpy" sh >third
	run -0 bash -eu -o pipefail -c 'source ./all >"$1"/first; source "$1"/third >"$1"/second' - "$T/clone"
	# notes: the passages and files are those shown
	block "Search a folder of notes" "" >said
	[ "$(wc -l <said)" = 5 ]
	diff <(sed 's/  [01][.][0-9]*  / /' said) <(head -n 5 first | sed 's/  [01][.][0-9]*  / /')
	# scores: low for the base model, high for the tuned one; within 2 points of README's
	score() { awk -F'|' -v column="$1" '$3 ~ /times/ { n = $column } END { print n }' "$2"; }
	block "Score a model, tune it on pairs of your own, see the gain" "" >said
	for column in 5 6; do
		awk -v a="$(score $column first)" -v b="$(score $column said)" 'BEGIN { exit !(a != "" && (a - b) ^ 2 < 4) }'
	done
	# a group's name is a word of its titles; labels are right
	cd try
	[ "$(cut -f3 ../second | grep -cxE 'game|mail|molecule|sound|typeface|film')" -ge 5 ]
	[ "$(wc -l <few.tsv)" -gt 17 ]
	classify --train few.mts titles.mts | mts to tsv -c label,prediction | awk -F'\t' 'NR > 1 { n++; ok += $1 == $2 } END { exit !(n == 180 && ok > 170) }'
	grep -q '^prediction	probability	text$' ../second
	[ "$(mts from npy titles.npy | mts stat | grep -c 256)" -ge 1 ]
	grep -q '^1[.]0000\|^0[.]9' pairs.txt
}
