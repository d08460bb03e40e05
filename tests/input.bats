#!/usr/bin/env bats
load helper

setup() {
	cd "$T" || return
	echo '{"text": "hello"}' >small
	seq 100000 >large
	for name in small large; do
		gzip -c $name >$name.gz
		zstd -qc $name >$name.zst
		xz -c $name >$name.xz
		bzip2 -c $name >$name.bz2
	done
}

@test "input: plain and compressed files are read from files and pipes" {
	for name in small large; do
		for packed in $name $name.{gz,zst,xz,bz2}; do
			input_cat $packed | cmp - $name
			input_cat - <$packed | cmp - $name
			{ head -c 5 $packed; sleep 0.05; tail -c +6 $packed; } | input_cat - | cmp - $name
		done
	done
}

@test "input: concatenated members or frames are read as one text" {
	cat small.gz large.gz | input_cat - | cmp - <(cat small large)
	for kind in zst xz bz2; do
		cat small.$kind large.$kind | input_cat - | cmp - <(cat small large)
	done
	# a skippable frame of 4 bytes, as parallel compressors write, with several of its sixteen magic numbers
	for first in 50 57 5f; do
		{ printf "\x$first\x2a\x4d\x18\4\0\0\0abcd"; cat small.zst; } | input_cat - | cmp - small
	done
}

@test "input: peeking consumes no bytes, compressed or not" {
	for packed in small small.{gz,zst,xz,bz2}; do
		[ "$(input_cat $packed '{"text"')" = "yes $(cat small)" ]
		[ "$(input_cat $packed '{"textile')" = "no $(cat small)" ]
		[ "$(input_cat $packed "$(cat small)and more")" = "no $(cat small)" ]
		for first in 1 5; do
			[ "$({ head -c $first $packed; sleep 0.05; tail -c +$((first + 1)) $packed; } |
				input_cat - '{"text"')" = "yes $(cat small)" ]
		done
		input_cat --raw $packed '{"text"' | cmp - <(printf 'yes '; cat $packed)
	done
	input_cat --raw large.zst 1 | cmp - <(printf 'yes '; cat large.zst)
	[ "$(printf '' | input_cat - x)" = "no " ]
}

@test "input: a compressed file that is truncated at any length is refused" {
	for packed in small.{gz,zst,xz,bz2}; do
		[[ $packed == *.bz2 ]] && first=10 || first=6 # bytes of the format's magic
		for ((n = first; n < $(stat -c %s $packed); n++)); do
			head -c $n $packed >cut
			run -1 --separate-stderr input_cat cut
			[ "$stderr" = "input_cat: cut: the compressed data end in the middle: the file is cut short" ]
		done
	done
	head -c 50000 large.zst >cut
	run -1 --separate-stderr bash -c 'input_cat cut >/dev/null'
	[[ $stderr == "input_cat: cut: the compressed data end"* ]]
}

@test "input: damaged, missing and unreadable files are refused" {
	for packed in large.{gz,zst,xz,bz2}; do
		{ head -c 5000 $packed; printf 'damaged'; tail -c +5008 $packed; } >bad
		run -1 --separate-stderr bash -c 'input_cat bad >/dev/null'
		[[ $stderr == "input_cat: bad: the compressed data are damaged: "* ]]
	done
	{ cat small.zst; echo more; } >bad
	run -1 --separate-stderr input_cat bad
	[[ $stderr == "input_cat: bad: the compressed data are damaged: "* ]]
	run -1 --separate-stderr input_cat absent
	[ "$stderr" = "input_cat: absent: No such file or directory" ]
	run -1 --separate-stderr input_cat .
	[ "$stderr" = "input_cat: .: Is a directory" ]
}

@test "input: zero padding after compressed data is ignored; a window of 2 GiB is accepted" {
	for kind in gz xz; do
		{ cat small.$kind; head -c 508 /dev/zero; } >padded
		input_cat padded | cmp - small
		{ cat small.$kind; head -c 508 /dev/zero; cat large.$kind; head -c 4 /dev/zero; } >padded
		input_cat padded | cmp - <(cat small large)
	done
	zstd -q --ultra --long=31 -c - <large >long.zst
	input_cat long.zst | cmp - large
	# the frame's header gives the window: exponent 21, which is 2 GiB
	[ "$(od -An -tx1 -j5 -N1 long.zst)" = ' a8' ]
}
