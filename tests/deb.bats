#!/usr/bin/env bats
# bats file_tags=plain,unsanitized
load helper

# The package of make deb, made once of the programs that make check has built for any processor. Its installation by apt is tried
# by hand.

needed() {
	[ -x "$BUILD-any-quick/bin/encode" ] || { echo "make check has built no programs for any processor beside this build"; return; }
	for program in dpkg-deb dpkg-shlibdeps lintian; do
		command -v $program >/dev/null || { echo "needs $program (share/deps deb)"; return; }
	done
	[ -e "$ROOT/share/models/base/model.safetensors" ] || echo "needs make base-model"
}

setup_file() {
	[ -z "$(needed)" ] || return 0
	env -u MAKEFLAGS make -s -C "$ROOT" ARCH=any B="${BUILD#"$ROOT"/}-any-quick" DEB="$BATS_FILE_TMPDIR/deb" deb 3>&- >"$BATS_FILE_TMPDIR/out"
	dpkg-deb -x "$BATS_FILE_TMPDIR"/deb/motes_*.deb "$BATS_FILE_TMPDIR/root"
}

setup() {
	missing=$(needed)
	[ -z "$missing" ] || skip "$missing"
	package=$(echo "$BATS_FILE_TMPDIR"/deb/motes_*.deb)
	root=$BATS_FILE_TMPDIR/root
}

@test "deb: the package's fields: the version of --version, the packages of the linked libraries, OpenBLAS with OpenMP" {
	version=$(tok --version | sed -n 's/^tok (motes) //p')
	architecture=$(dpkg --print-architecture)
	[ "${package##*/}" = "motes_${version}_$architecture.deb" ]
	[ "$(dpkg-deb -f "$package" Package)" = motes ]
	[ "$(dpkg-deb -f "$package" Version)" = "$version" ]
	[ "$(dpkg-deb -f "$package" Architecture)" = "$architecture" ]
	dpkg-deb -f "$package" Depends | tr , '\n' | sed 's/^ *\([^ ]*\).*/\1/' >"$T/depends"
	# the package of each linked library
	for library in $(readelf -d "$root"/usr/bin/* | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | sort -u); do
		path=$(ldconfig -p | sed -n "s/^\t$library (libc6,.*) => //p" | sed -n 1p)
		path=$(readlink -f "$path")
		# dpkg may know /usr/lib by its old name; of OpenBLAS's builds ldconfig finds the one that the administrator chose
		{ dpkg -S "$path" 2>/dev/null || dpkg -S "${path#/usr}"; } |
			sed 's/:.*//; s/^libopenblas0-.*/libopenblas0-openmp/' >>"$T/linked"
	done
	diff <(sort -u "$T/linked") <(sort "$T/depends")
	# Debian packages with files of the same names
	[ "$(dpkg-deb -f "$package" Conflicts)" = "psi3, tracetuner" ]
	[ "$(dpkg-deb -f "$package" Maintainer)" = "${DEBFULLNAME:-The motes developers} <${DEBEMAIL:-motes@example.org}>" ]
	[[ $(dpkg-deb -f "$package" Depends) == *", libopenblas0-openmp | libopenblas0, "* ]]
}

@test "deb: the package has the files of make install in Debian's places, and control files" {
	make -s -C "$ROOT" B="${BUILD#"$ROOT"/}" install DESTDIR="$T/installed" PREFIX=/usr SHIPPED="$ROOT/share/models/base"
	(cd "$T/installed" && find . -type f) | sed -e '/motes\/folders$/d' -e 's/^\(.*\/man\/.*\)/\1.gz/' \
		-e 's/site-functions/vendor-completions/' >"$T/files"
	printf './usr/share/doc/motes/%s\n' README.md changelog.gz copyright >>"$T/files"
	diff <(sort "$T/files") <(cd "$root" && find . -type f | sort)
	# all files belong to root; programs are executable, the rest is readable
	dpkg-deb -c "$package" | awk '{
		mode = $6 ~ /^\.\/usr\/bin\/.|\.sbatch$|\/one-device$/ ? "-rwxr-xr-x" : /^d/ ? "drwxr-xr-x" : "-rw-r--r--"
		if ($1 != mode || $2 != "root/root") { print; bad = 1 } } END { exit bad || !NR }'
	(cd "$root" && md5sum --quiet -c <(dpkg-deb --ctrl-tarfile "$package" | tar -xO ./md5sums))
	[ "$(dpkg-deb --ctrl-tarfile "$package" | tar -xO ./md5sums | wc -l)" -eq "$(wc -l <"$T/files")" ]
	for page in "$ROOT"/man/*.[1-8]; do
		zcat "$root/usr/share/man/man${page##*.}/${page##*/}.gz" | sed 's#/usr/share/motes#/usr/local/share/motes#' | cmp - "$page"
	done
	run ! grep -rl /usr/local "$root/usr/share/man" "$root/usr/bin"
}

@test "deb: the packaged programs run with the packaged model, by the kernels that MOTES_ISA names" {
	output=$(cd / && echo hello | env -i PATH="$root/usr/bin" MOTES_MODEL="$root/usr/share/motes/models/base" \
		"$BASH" -o pipefail -c 'tok | encode | mts head')
	[[ $output == *$'\nrow 1\n\ttext.emb\t['* ]]
	MOTES_ISA=plain "$root/usr/bin/encode" --version | found '128-bit vectors'
	run ! grep -qE 'R(UN)?PATH' <(readelf -d "$root"/usr/bin/*)
}

@test "deb: motes mteb runs from the package; a pipeline names the model that it lacks" {
	mkdir -p "$T/here/data/shelf/qrels"
	cd "$T/here"
	printf '{"_id": "d%d", "title": "", "text": "%s"}\n' 1 "the cook stirs the soup" 2 "a ship leaves the harbour" >data/shelf/corpus.jsonl
	printf '{"_id": "q%d", "text": "%s"}\n' 1 "a cook stirs soup" 2 "ships in a harbour" >data/shelf/queries.jsonl
	printf 'query-id\tcorpus-id\tscore\nq1\td1\t1\nq2\td2\t1\n' >data/shelf/qrels/test.tsv
	front() { env -i PATH="$root/usr/bin:/usr/bin:/bin" HOME="$T" motes "$@"; }
	front mteb 2>err >table
	grep -q '^| Retrieval | shelf | ndcg_at_10 | 100.00 |' table
	run -2 --separate-stderr front mteb "$root/usr/share/motes/models/mlm/model.safetensors"
	[[ $stderr == "no $root/usr/share/motes/models/mlm/model.safetensors: the sources of motes have it; "*START=MODEL* ]]
	zcat "$root/usr/share/doc/motes/changelog.gz" >changes
	[ "$(sed -n 1p changes)" = "motes ($(tok --version | sed -n 's/^tok (motes) //p')) unstable; urgency=medium" ]
	[ "$(grep -c '^  \* ' changes)" -ge 5 ]
}

@test "deb: lintian reports no error" {
	found=$(lintian --fail-on error,warning "$package" 2>/dev/null) # its messages on stderr concern a run as root
	[ -z "$found" ]
}
