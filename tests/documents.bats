#!/usr/bin/env bats
load helper

# pipelines/documents.mk: documentation becomes passages and training pairs.

setup() {
	cd "$T"
}

P=$ROOT/pipelines

# pages TREE: the passages of its pages
pages() {
	find "$1" -type f | sort | awk -v tree="$1/" -f "$P/sentences.awk" -f "$P/pages.awk"
}

# page FILE: writes a page whose body is the standard input
page() {
	mkdir -p "$(dirname "$1")"
	{ printf '<!DOCTYPE html>\n<html lang="%s"><head><title>All of it</title></head><body>' "${2:-en}"; cat; printf '</body></html>\n'; } >"$1"
}

# words N: a sentence of N words, one in five common
words() { awk -v n="$1" 'BEGIN { for (i = 1; i <= n; i++) printf "%s%s", (i > 1 ? " " : ""), (i % 5 == 1 ? "the" : "tea" i) }'; }

@test "pages: paragraphs under a heading form one passage; code, tables, menus and lists of names are left out" {
	page tree/one/a.html <<-'END'
		<nav><p>This is the menu of the page, and it is not for the reader of the text.</p></nav>
		<h2>On &lt;tea&gt; &amp; <i>its</i> pots</h2>
		<p>The water is put in the <b>pot</b>, as it is.</p>
		<pre>this is the code that is in the page, with a word or two for you</pre>
		<p>It isn&#8217;t to be&nbsp;drunk by the cup</p>
		<table><tr><td>This is a table that is not to be read as it is in the text.</td></tr></table>
		<ul><li>It can be on the table or with <code>milk</code>.</ul>
		<p>kettle mug saucer spoon sugar cream lemon ginger mint honey</p>
		<h3>MILK</h3>
		<p>A capital heading is not the title of the text that is under it, as in a manual.</p>
	END
	printf '%s\t%s\t%s\n' one 'On <tea> & its pots' \
		"The water is put in the pot, as it is. It isn't to be drunk by the cup. It can be on the table or with milk." \
		one 'On <tea> & its pots' 'A capital heading is not the title of the text that is under it, as in a manual.' >want
	pages tree | diff want -
}

@test "pages: a paragraph in another language, or one that another page has, is left out; a heading without text is dropped" {
	text='<p>This is the one text that is on both of the pages, and it is of twelve words or more.</p>'
	page tree/one/a.html <<<"<h1>First</h1>$text"
	page tree/one/b.html de <<<"<h1>Other</h1><p>This is in English, and the page says that it is not for the reader.</p>"
	page tree/two/c.html en-GB <<<"<h1>Empty</h1><h1>Second</h1>$text<p>Too short to be a text by itself.</p>"
	page tree/two/d.html <<<'<h1>Third</h1><p>Too short to be a text.</p>'
	pages tree | cut -f1,2 | diff - <(printf '%s\t%s\n' one First two Second)
}

@test "pages: passages end at sentences and have at most 110 words; a longer sentence than 80 words ends a passage and is left out" {
	repeated() { for ((n = 0; n < $1; n += 5)); do printf 'the %s of it is ' "$2"; done; }
	{
		echo '<h1>Long ones</h1><p>'
		for n in 1 2 3 4 5; do echo "A $(repeated 35 s$n)e.g. end."; done
		echo "An $(repeated 90 long)end."
		echo "B $(repeated 35 last)end.</p>"
	} | page tree/one/a.html
	pages tree | cut -f3 >got
	awk '{ print NF }' got | paste -sd' ' | grep -x '76 76 38 37'
	run ! grep -q long got
	cut -d' ' -f1,3 got | paste -sd' ' | grep -x 'A s1 A s3 A s5 B last'
}

@test "pages: limits of words in a passage and a sentence, of the shares of common words and of letters" {
	echo "<h1>Few words</h1><p>$(words 12)</p><h1>Too few</h1><p>$(words 11)</p>" | page tree/one/a.html
	echo "<h1>Long one</h1><p>A $(words 79).</p><h1>Too long</h1><p>A $(words 80).</p>" | page tree/one/b.html
	echo "<h1>Full one</h1><p>A $(words 49). B $(words 59).</p><h1>Too full</h1><p>A $(words 49). B $(words 60).</p>" | page tree/one/c.html
	echo "<h1>Common enough</h1><p>The b c d e f g h of j k l m n o p</p><h1>Not common</h1><p>The b c d e f g h of j k l m n o p q</p>" |
		page tree/one/d.html
	echo "<h1>Letters enough</h1><p>the of it is to be as on in by or if 1234567890123456</p>" | page tree/one/e.html
	echo "<h1>Not letters</h1><p>the of it is to be as on in by or if 123456789012345678901</p>" | page tree/one/f.html
	pages tree | cut -f2 | uniq -c | awk '{ $1 = $1; print }' | diff - <(printf '%s\n' '1 Few words' '1 Long one' '1 Full one' '2 Too full' \
		'1 Common enough' '1 Letters enough')
}

@test "pages: nested and unclosed elements are left out, no-break spaces are spaces; a passage is printed once" {
	text='It is the one text of all that are on both of the pages.'
	page tree/one/a.html <<-END
		<h1>First page</h1><div class="highlight"><div>The inner part is not for the reader of it.</div>It is code to the end.</div>
		<svg width="1"/><p class="highlight">It$(printf '\302\240')is the<span>first</span> of the two that are on a page with a picture.</p>
		<h1>Second text</h1><p>$text</p>
	END
	# a page that ends inside its heading gives the next page none
	page tree/one/b.html <<<"<h1>Without an end"
	echo "<p>It is the text of a page that has no heading, and it is to be read as the others are.</p>" >tree/one/c.html
	page tree/two/a.html <<<"<h1>Third page</h1><p>$text</p>"
	pages tree | diff - <(printf '%s\t%s\t%s\n' one 'First page' 'It is thefirst of the two that are on a page with a picture.' \
		one 'Second text' "$text" one '' 'It is the text of a page that has no heading, and it is to be read as the others are.')
}

@test "pages: a manual page's heading is its NAME section" {
	command -v mandoc >/dev/null || skip "needs mandoc"
	mkdir -p tree/one
	printf '%s\n' '.TH POUR 1' '.SH NAME' 'pour \- put the tea in a cup' '.SH DESCRIPTION' \
		'It is the one command that you can use for it - and the others are not to be used.' |
		mandoc -T html >tree/one/pour.1.gz.html
	pages tree | diff - <(printf '%s\t%s\t%s\n' one 'put the tea in a cup' \
		'It is the one command that you can use for it - and the others are not to be used.')
}

# passages.tsv: 3,000 passages of five sentences with distinct words
passages() {
	awk 'BEGIN { for (n = 1; n <= 3000; n++) {
		printf "one\tThe \"heading\" of %d\t", n
		for (s = 1; s <= 5; s++)
			printf "%sSentence s%d of n%d has a \\ in its seven words.", (s > 1 ? " " : ""), s, n
		print "" } }' >passages.tsv
	printf 'package\tgroup\tmegabytes\none\tfirst\t1\n' >documents.tsv
}

crops() { # DRAWS: pairs of each passage
	awk -v out=. -v draws="$1" -f "$P/json.awk" -f "$P/sentences.awk" -f "$P/crops.awk" documents.tsv passages.tsv
}

@test "crops: the query is a sentence, of the rest or of the whole passage, or a phrase; headings begin documents and are queries" {
	passages
	crops 1
	cat >kind.jq <<-'END'
		(.query | split(" ") | length) as $words | .document as $d | (.document | sub("^The .heading. of [0-9]*\\. "; "")) as $text |
		[ if $words != 11 then "phrase" elif ($d | contains($q)) then "kept" else "left" end,
		  if $d == $text then "bare" else "headed" end,
		  if ($d | contains($q)) != ($text | split(" ") | length == 55) then "wrong" else "right" end ] | @tsv
	END
	jq -r '.query as $q | '"$(cat kind.jq)" crop-first.jsonl | sort | uniq -c |
		awk '{ print $2, $3, $4, int($1 / 3000 * 20 + 0.5) / 20 }' | sort >got
	diff got - <<-'END'
		kept bare right 0.15
		kept headed right 0.15
		left bare right 0.3
		left headed right 0.3
		phrase bare right 0.05
		phrase headed right 0.05
	END
	[ "$(wc -l <crop-first.jsonl)" -eq 3000 ]
	# each sentence of a passage is equally often the query
	jq -r .query crop-first.jsonl | grep -oP '^Sentence \Ks\d(?= of n\d+ has a .* words\.$)' | sort | uniq -c |
		awk '{ print $2, int($1 / 2700 * 20 + 0.5) / 20 }' | diff - <(printf 's%d 0.2\n' 1 2 3 4 5)
	jq -r '[.query, .document] | @tsv' title-first.jsonl | grep -cP '^The "heading" of (\d+)\tSentence s1 of n\1 .* words\.$' |
		awk '{ exit !($1 > 800 && $1 < 1000) }'
}

@test "crops: each passage gives as many pairs as draws, mostly with two different sentences" {
	passages
	crops 2
	[ "$(wc -l <crop-first.jsonl)" -eq 6000 ]
	jq -r .query crop-first.jsonl | grep -oP '^Sentence s\d of n\d+(?= has a .* words\.$)' | sort | uniq -c |
		awk '{ n[$1]++ } END { print (n[1] + n[2] > 2400), (n[2] / 3000 > 0.13 && n[2] / 3000 < 0.19), n[3] + 0 }' | found '^1 1 0$'
	[ "$(jq -r .document title-first.jsonl | sort -u | wc -l)" -eq "$(wc -l <title-first.jsonl)" ]
}

@test "crops: passages of one sentence, and rests of fewer than 12 words, give no pair; control characters become spaces" {
	printf 'package\tgroup\tmegabytes\none\tfirst\t1\n' >documents.tsv
	printf '%s\t\t%s\n' one 'A passage of one sentence, which is long enough, has no rest for it to ask for.' \
		one 'These are six words, one more. And here are some.' \
		other "Here are nine words, which one $(printf '\001') must count. $(yes 'Here are some more.' | head -n 9 | paste -sd' ')" >passages.tsv
	crops 1
	ls ./*.jsonl | diff - <(echo ./crop-other.jsonl)
	jq -s length crop-other.jsonl | grep -x 1
	for n in 11 12; do
		for i in {1..40}; do printf 'one\t\tHere are five words a%d. %s\n' "$i" "The $(words $((n - 1)))."; done
	done >passages.tsv
	crops 1
	jq -r 'select(.query | startswith("Here are five words")) | .document' crop-first.jsonl | awk '{ n[NF]++ } END { print n[11] + 0, (n[12] > 5) }' | grep -x '0 1'
}

@test "crops: a sentence of 5 to 40 words may be the query" {
	printf 'package\tgroup\tmegabytes\none\tfirst\t1\n' >documents.tsv
	for n in 4 5 40 41; do
		for i in {1..40}; do printf 'one\t\tA%d %s. This rest is of %d words, which nobody would ask with, %s.\n' "$i" "$(words $((n - 1)))" "$n" "$(words 41)"; done
	done >passages.tsv
	crops 1
	# a share of the queries are phrases instead
	jq -r .query crop-first.jsonl | awk '/^A/ { n[NF]++ } END { print n[4] + 0, (n[5] > 28), (n[40] > 28), n[41] + 0 }' | grep -x '0 1 1 0'
}

@test "crops: any 4 to 8 neighbouring words of a long passage may be the query" {
	passages
	crops 1
	jq -r .query crop-first.jsonl | awk 'NF < 9 { n[NF]++; first += /^Sentence s1 / } END { for (i = 4; i <= 8; i++) printf "%d ", (n[i] > 30); print (NR > 0), (first < 30) }' |
		grep -x '1 1 1 1 1 1 1'
}

# deb NAME PAGE: a package with that page and a manual page
deb() {
	mkdir -p "$1/DEBIAN" "$1/usr/share/doc/$1" "$1/usr/share/man/man1"
	printf '%s\n' "Package: $1" 'Version: 1' 'Architecture: all' 'Maintainer: nobody <n@example.org>' "Description: $1" >"$1/DEBIAN/control"
	page "$1/usr/share/doc/$1/index.html" <<<"<h1>The title of $1</h1><p>$2</p>"
	echo picture >"$1/usr/share/doc/$1/a.png"
	printf '%s\n' ".TH X 1" '.SH NAME' "$1 \\- do it all" '.SH DESCRIPTION' "This is the manual of $1. $2" | gzip >"$1/usr/share/man/man1/$1.1.gz"
	dpkg-deb --build "$1" "debs/$1_1_all.deb" >/dev/null
}

@test "documents: packages are fetched and unpacked, their pages become passages and pairs; a group without pages gives none" {
	command -v mandoc >/dev/null || skip "needs mandoc"
	mkdir -p debs out/demo/packages/lists share/recipes
	deb one "It is the first of the two that there are. You can read it as it is, or with the other in the same room."
	deb two "It is the second of them, and the last that is in the list. If you read it, then you have read all of them."
	printf 'package\tgroup\tmegabytes\none\tdebian\t1\ntwo\tscience\t1\n' >documents.tsv
	mkdir -p one/usr/share/help/{C,de}/one
	for language in C de; do
		page one/usr/share/help/$language/one/index.page <<<"<h1>Help in $language</h1><p>It is the help of the one program in the language that is named by $language.</p>"
	done
	printf '.so man1/none.1\n' | gzip >one/usr/share/man/man1/other.1.gz
	dpkg-deb --build one debs/one_1_all.deb >/dev/null
	# a package beyond the limit of megabytes is not read
	deb three "It is the third of them, and there is no room for it."
	printf 'three\tserver\t0.00005\n' >>documents.tsv
	touch out/demo/packages/lists/{Packages,Translation-en}
	printf '%s\t%s\t%s\t%s\t%s\n' id split program synopsis description \
		p1 train 1 'the first' 'This is the text that is said of a program. It can be used by all who have it on a machine of their own.' \
		p2 test 1 'the second' 'This is the text that no model may read. It is of the part that is for the test, and for nothing else.' >out/demo/packages/table.tsv
	cat >apt <<-END
		#!/bin/sh
		[ "\$1" = download ] || exit 1
		shift
		for name; do cp "$T/debs/\${name}_1_all.deb" .; done
	END
	chmod +x apt
	make -s --no-print-directory -C "$ROOT" OUT="$T/out" APT="$T/apt" DOC_LIST="$T/documents.tsv" "$T/out/documents/crop-science.jsonl" 2>log || { cat log; false; }
	cut -f1,2 out/documents/pages.tsv | sort | diff - <(printf '%s\t%s\n' one 'Help in C' \
		one 'The title of one' one 'do it all' three 'The title of three' three 'do it all' two 'The title of two' two 'do it all')
	[ -z "$(find out/documents/tree -name '*.png')" ]
	ls out/documents/crop-*.jsonl | xargs -n 1 basename | paste -sd' ' | grep -x 'crop-debian.jsonl crop-package.jsonl crop-science.jsonl'
	run ! grep -rqE 'no model may read|the first"' out/documents/ --include='*.jsonl'
	[ "$(cut -f1 out/documents/passages.tsv | sort | uniq -c | awk '{ print $1 $2 }' | paste -sd' ')" = '3one 1package 2two' ]
}
