#!/usr/bin/env bats
load helper

# Rules of the whole suite. A failing check prints the programs or files at fault.

programs() {
	(cd "$ROOT/tools" && ls -- *.c) | sed 's/\.c$//'
}

# The lines of the programs in motes.7: "NAME sentence".
overview() {
	awk '$1 == ".It" && $2 == "Xr" && $4 == "1" { name = $3; next }
		name { print name, $0; name = "" }' "$ROOT/man/motes.7"
}

# bats test_tags=plain,unsanitized
@test "house: every program has a page, a test file and a line in motes.7" {
	missing=
	for name in $(programs); do
		[ -e "$ROOT/man/$name.1" ] || missing+=" man/$name.1"
		[ -e "$ROOT/tests/$name.bats" ] || missing+=" tests/$name.bats"
		overview | grep -c "^$name " || missing+=" motes.7:$name"
	done
	echo "missing:$missing"
	[ -z "$missing" ]
}

# bats test_tags=plain,unsanitized
@test "house: motes.7 lists existing programs only, each with the sentence of its page" {
	wrong=
	while read -r name sentence; do
		[ -e "$ROOT/tools/$name.c" ] || wrong+=" $name: no such program;"
		page=$(sed -n 's/^\.Nd //p' "$ROOT/man/$name.1")
		[ "$page" = "$sentence" ] || wrong+=" $name: '$sentence', its page has '$page';"
	done < <(overview)
	echo "wrong:$wrong"
	[ -z "$wrong" ]
}

@test "house: the programs, CHANGELOG.md and CITATION.cff have the same version" {
	version=$(sed -n 's/^#define MOTES_VERSION "\(.*\)"/\1/p' "$ROOT/lib/base/cli.h")
	[[ $version =~ ^[0-9]+\.[0-9]+\.[0-9]+$ ]]
	[ "$(sed -n 's/^## \([0-9.]*\)$/\1/p' "$ROOT/CHANGELOG.md" | sed -n 1p)" = "$version" ]
	[ "$(sed -n 's/^version: //p' "$ROOT/CITATION.cff")" = "$version" ]
}

@test "house: --help of every program has an example, and its page has every long option" {
	wrong=
	for name in $(programs); do
		help=$("$name" --help) || wrong+=" $name: --help fails;"
		grep -q '^Examples:' <<<"$help" || wrong+=" $name: --help has no example;"
		version=$("$name" --version) || wrong+=" $name: --version fails;"
		[[ $version == "$name (motes) "* ]] || wrong+=" $name: --version says '$version';"
		for option in $(sed -n '/^Examples:/q; s/^  \(-., \|    \)--\([a-z0-9-]*\).*/\2/p' \
			<<<"$help"); do
			case $option in quiet | verbose | progress | help | version) continue ;; esac
			grep -qE -- "[ ]-$option( |\$)" "$ROOT/man/$name.1" ||
				wrong+=" $name.1: no --$option;"
		done
	done
	echo "wrong:$wrong"
	[ -z "$wrong" ]
}

@test "house: a usage error exits 2 with one line and an empty standard output" {
	wrong=
	for name in $(programs); do
		"$name" --no-such-option </dev/null >"$T/out" 2>"$T/err" && wrong+=" $name: succeeds;"
		[ $? -eq 2 ] || wrong+=" $name: does not exit 2;"
		[ ! -s "$T/out" ] || wrong+=" $name: writes to standard output;"
	done
	echo "wrong:$wrong"
	[ -z "$wrong" ]
}

# bats test_tags=plain,unsanitized
@test "house: make help lists the targets, and make knows each of them" {
	run -0 make -s -C "$ROOT" help
	for target in all check demo deps lint install base-model; do
		grep -q "^$target " <<<"$output"
		make -s -n -C "$ROOT" "$target" >/dev/null
	done
}

# bats test_tags=plain,unsanitized
@test "house: a file with tests that the sanitized run leaves out has a tag for the plain run" {
	[ -z "$(grep '^# bats .*_tags=.*unsanitized' "$ROOT"/tests/*.bats | grep -v '_tags=plain,unsanitized$')" ]
	for file in "$ROOT"/tests/*.bats; do
		! grep -q 'BUILD.*sanitize.*skip' "$file" || grep -q '^# bats \(file\|test\)_tags=plain\(,unsanitized\)\?$' "$file" || echo "$file"
	done >"$T/untagged"
	diff "$T/untagged" /dev/null
}

# bats test_tags=plain,unsanitized
@test "house: no test pipes into grep -q, which makes the writer die of SIGPIPE; found reads to the end" {
	run -1 grep -nE '(^|[^|])\| *grep( -[a-zA-Z]+)* -[a-zA-Z]*q' "$ROOT"/tests/*.bats "$ROOT"/tests/*.bash
}

# bats test_tags=plain,unsanitized
@test "house: man pages are free of warnings" {
	command -v mandoc >/dev/null || skip "needs mandoc"
	mandoc -Tlint -Wwarning "$ROOT"/man/*.[1-8]
}

# bats test_tags=plain,unsanitized
@test "house: man pages fit a terminal of 80 columns" {
	command -v groff >/dev/null || skip "needs groff"
	wrong= most=80
	[[ $(groff --version) != *"version 1.22"* ]] || most=78 # later releases indent by two columns more
	for page in "$ROOT"/man/*.[1-8]; do
		columns=$(groff -mandoc -Tutf8 -rLL=78n -P-c "$page" | sed 's/.\x08//g' | wc -L)
		[ "$columns" -le $most ] || wrong+=" ${page##*/}: $columns columns;"
	done
	echo "wrong:$wrong"
	[ -z "$wrong" ]
}

# bats test_tags=plain,unsanitized
@test "house: a variable is set in one pipeline only, since of two settings the last would win" {
	cd "$ROOT/pipelines"
	run -0 awk '{ sub(/^define /, "") } /^[A-Za-z$][A-Za-z0-9$_.-]* *([:?]?=|$)/ && !/^(endef|else|endif)/ {
			name = $0
			sub(/ *[:?]?=.*| *$/, "", name)
			if (name in of && of[name] != FILENAME)
				print of[name], FILENAME, name
			of[name] = FILENAME
		}' ./*.mk
	[ -z "$output" ]
}

# bats test_tags=plain,unsanitized
@test "house: no reader of a pipe in pipelines exits before its writer" {
	cd "$ROOT/pipelines"
	run ! grep -nE '\| *(head |sed [^|]*q[ ;}'"'"'"]|grep -(q|m))' ./*.mk
	[ -z "$output" ]
}

# bats test_tags=plain,unsanitized
@test "house: an include guard is the path of its file" {
	cd "$ROOT/lib"
	find . -name '*.h' | while read -r file; do
		guard=$(tr a-z A-Z <<<"${file#./}" | tr -c 'A-Z0-9\n' _)
		[ "$(sed -n 's/^#ifndef //p; /^#define/q' "$file")" = "$guard" ] || echo "$file: its guard is not $guard"
	done >"$T/guards"
	diff "$T/guards" /dev/null
}

# A struct that lib/nn/cpu and lib/nn/cuda both define counts as one: a program has one of them.
# bats test_tags=plain,unsanitized
@test "house: a struct name is defined in one file of lib" {
	cd "$ROOT/lib"
	grep -roE --include='*.[ch]' --include='*.cu' --include='*.cuh' '^\s*((static|const|typedef) )*struct [a-z_0-9]+ \{' . |
		sed -E 's/^(.*):.*struct ([a-z_0-9]+) \{/\2 \1/; s,nn/(cpu|cuda)/.*,nn,' | sort -u |
		awk '{ files[$1] = files[$1] " " $2; if (++n[$1] == 2) names[++found] = $1 } END { for (i = 1; i <= found; i++) print names[i], files[names[i]] }' >"$T/repeated"
	diff "$T/repeated" /dev/null
}

# bats test_tags=plain
@test "house: every mutable global of the library is in CONTRIBUTING.md's table" {
	[[ $BUILD == */build/cpu ]] || skip "for the plain build"
	cd "$ROOT"
	for file in lib/*/*.c lib/*/*/*.c tools/*.c; do
		[ ! -e "$BUILD/${file%.c}.o" ] || objdump -t "$BUILD/${file%.c}.o" |
			awk -v file="$file" '/ O \.(data|bss|tdata|tbss)/ && !/data\.rel\.ro/ { sub(/\..*/, "", $NF); print file, $NF }'
	done | while read -r file name; do
		grep -qE "^\| .*\`$file\`.*\`$name\`" CONTRIBUTING.md || echo "$file: $name is not in the table"
	done >"$T/unlisted"
	diff "$T/unlisted" /dev/null
}

# bats test_tags=plain
@test "house: a function that only one file calls is static" {
	[[ $BUILD == */build/cpu ]] || skip "for the plain build"
	cd "$BUILD" # nn/host also serves nn/cuda, which is not in this build
	find lib tools tests/support -name '*.o' -exec nm -A {} + | awk '
		{ file = $1; sub(/:.*/, "", file) }
		$(NF - 1) == "T" && file ~ /^lib/ && file !~ /nn.host/ { from[$NF] = file }
		$(NF - 1) == "U" { called[$NF] }
		END { for (name in from) if (!(name in called)) print from[name], name }' >"$T/uncalled"
	diff "$T/uncalled" /dev/null
}

# bats test_tags=plain,unsanitized
@test "house: a file of lib has at most 600 lines, one of tools 350" {
	find "$ROOT/lib" -name '*.[ch]' -exec \
		awk 'FNR == 601 { print FILENAME ": over 600 lines"; bad = 1 } END { exit bad }' {} +
	awk 'FNR == 351 { print FILENAME ": over 350 lines"; bad = 1 } END { exit bad }' \
		"$ROOT"/tools/*.c
}

@test "house: make install writes below PREFIX in DESTDIR; make uninstall removes that" {
	[[ $BUILD == */build/cpu ]] || skip "for the plain build"
	make -s -C "$ROOT" B="${BUILD#"$ROOT"/}" install DESTDIR="$T/root" PREFIX=/usr
	for name in $(programs); do
		[ -x "$T/root/usr/bin/$name" ]
		[ -e "$T/root/usr/share/man/man1/$name.1" ]
		[ -e "$T/root/usr/share/bash-completion/completions/$name.bash" ]
		grep -qE "^complete .* $name( |\$)" "$T/root/usr/share/bash-completion/completions/$name.bash"
		grep -qE "^#compdef .*\b$name( |\$)" "$T/root/usr/share/zsh/site-functions/_motes"
	done
	if [ -e "$T/root/usr/share/motes/models/base" ]; then
		# the installed programs with a model
		output=$(cd / && echo hello | env -i PATH="$T/root/usr/bin" \
			MOTES_MODEL="$T/root/usr/share/motes/models/base" \
			"$BASH" -o pipefail -c 'tok | encode | mts head')
		[[ $output == *$'\nrow 1\n\ttext.emb\t['* ]]
	fi
	make -s -C "$ROOT" uninstall DESTDIR="$T/root" PREFIX=/usr
	run -0 find "$T/root" -mindepth 1
	[ -z "$output" ]
	# folders that existed before stay, also empty ones, and so do files of others
	mkdir -p "$T/root/usr/bin" "$T/root/usr/share/man/man1" "$T/root/usr/share/fonts"
	touch "$T/root/usr/share/man/man1/other.1"
	make -s -C "$ROOT" B="${BUILD#"$ROOT"/}" install DESTDIR="$T/root" PREFIX=/usr
	make -s -C "$ROOT" uninstall DESTDIR="$T/root" PREFIX=/usr
	diff <(cd "$T/root/usr" && find . | sort) \
		<(printf '%s\n' . ./bin ./share ./share/fonts ./share/man ./share/man/man1 ./share/man/man1/other.1)
}

# bats test_tags=plain
@test "house: the tutorial's commands run as printed, and the model learns" {
	[ -e "$ROOT/share/models/base/model.safetensors" ] || skip "needs make base-model"
	[[ $BUILD != *-sanitize ]] || skip "minutes of training, sanitized"
	cd "$T"
	sed -n '/^\.Bd -literal -offset indent$/,/^\.Ed/{ /^\./!p }' "$ROOT/man/motes-tutorial.7" |
		sed 's/\\e/\\/g' >commands
	[ "$(grep -c '^tok ' commands)" -eq 5 ]
	share="$ROOT/share" bash -eu -o pipefail commands >out
	awk 'NF == 2 && $1 == "ndcg_at_10" { score[++n] = $2 } END { exit !(n == 2 && score[1] < 0.1 && score[2] > 0.8) }' out
	grep -A1 '^1$' out | tail -n 1 | grep '21:10$'
}
