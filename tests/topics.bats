#!/usr/bin/env bats
load helper

# Golden values: tests/golden/topics.py (scikit-learn's CountVectorizer, numpy).

setup() {
	cd "$T"
	mkstream 7 <"$GOLDEN/topics.jsonl" >texts.mts
}

# same A B: tables with the same words and counts, and weights within 1e-9
same() {
	diff <(cut -f1-4 "$1") <(cut -f1-4 "$2")
	tail -n +2 "$2" | cut -f5 | within <(tail -n +2 "$1" | cut -f5) 1e-9
}

# 1. known answers

@test "topics: words are CountVectorizer's, weights numpy's class-based TF-IDF to 1e-9" {
	topics --no-stop --label topic --words 5 texts.mts >out
	same "$GOLDEN/topics_expected.tsv" out
	topics --label topic --words 4 --min-length 4 --max-df 0.3 --stop "$GOLDEN/topics_stop.txt" <texts.mts >out
	same "$GOLDEN/topics_stopped.tsv" out
}

@test "topics: weights of two clusters, computed by hand" {
	# both clusters have 3 words, so A = 3
	printf '{"c":"%s","words":"%s"}\n' b "Sun, moon" a "sun2sun-RAIN" b "sun" | mkstream >x.mts
	topics --label c --text words x.mts >out
	cut -f1-4 out | diff - <(printf '%s\t%s\t%s\t%s\n' cluster size word count b 2 moon 1 b 2 sun 2 a 1 rain 1 a 1 sun 2)
	# 2 log(1 + 3 / 4), log(1 + 3 / 1)
	tail -n +2 out | cut -f5 | within <(printf '%s\n' 1.386294361120 1.119231575871 1.386294361120 1.119231575871) 1e-9
	# a boolean is a word, as mts writes it
	printf '{"c":%s,"words":"%s"}\n' true moon false rain | mts from jsonl | topics --label c --text words | cut -f1,3 | sed 1d |
		diff - <(printf 'true\tmoon\nfalse\train\n')
}

@test "topics -k: clusters are those of k-means; the largest is 1" {
	topics --no-stop -k 3 --words 5 texts.mts >out
	# the three topics are far apart
	sed 's/^sea/1/; s/^food/2/; s/^sky/3/' "$GOLDEN/topics_expected.tsv" >expected
	same expected out
	topics --no-stop -k 3 --words 5 -f text -s 42 -j 1 texts.mts | cmp - out
	mts cat --rename text.emb=text.rw texts.mts | topics --no-stop -k 3 --words 5 -f text.rw | cmp - out
	topics --no-stop -k 3 texts.mts >all
	[ "$(wc -l <all)" -gt 30 ]
}

@test "topics: words are letters of any script with their marks" {
	# Hindi with vowel signs; e with a combining acute; capitals; characters that are no words
	printf '{"c":%d,"text":"%s"}\n' 1 'हिन्दी ЖУК x' 2 'cafe\u0301 İI 12 _ -' | mkstream >x.mts
	topics --label c --min-length 1 x.mts | cut -f1,3 | tail -n +2 | sort >out
	printf '%s\t%s\n' 1 हिन्दी 1 жук 1 x 2 $'cafe\u0301' 2 $'i\u0307i' | sort | diff - out
	# marks count like letters
	topics --label c --min-length 5 x.mts | cut -f3 | tail -n +2 | sort | diff - <(printf '%s\n' $'cafe\u0301' हिन्दी | sort)
}

# words TEXT: its words in their order
words() {
	jq -nc --arg text "$1" '{c: "x", $text}, {c: "y", text: "z"}' | mkstream | topics --no-stop --label c --min-length 1 |
		awk -F'\t' '$1 == "x" { print $3 }' | sort | paste -sd' '
}

@test "topics: pairs of Chinese characters are words; kana are words that end where the script changes" {
	while IFS='|' read -r text expected; do
		[ "$(words "$text")" = "$(tr ' ' '\n' <<<"$expected" | sort | paste -sd' ')" ]
	done <<-'END'
		天气|天气
		犬|犬
		天气预报，很好！|天气 气预 预报 很好
		コンピュータを使う|コンピュータ を 使 う
		音楽ファイルです|音楽 ファイル です
		iPhone手机3台|iphone 手机 台
		様々な犬|様々 な 犬
		ﾃﾞｰﾀbase 한국어 문장|ﾃﾞｰﾀ base 한국어 문장
		アㇰはabc|アㇰ は abc
		ภาษาไทย|ภาษาไทย
	END
	# a variation selector stays with its character
	[ "$(words $'\u845b\ufe00\u57ce\u5e02')" = $'\u57ce\u5e02 \u845b\ufe00\u57ce' ]
	# a stop word is cut alike
	jq -nc '{c: 1, text: "软件包 音乐"}, {c: 2, text: "包"}' | mkstream | topics --label c --stop <(echo 软件包) | cut -f3 | diff - <(printf '%s\n' word 音乐)
}

@test "topics: the default column is group, whose -1 is not a cluster; English stop words are dropped" {
	printf '{"group":%d,"text":"%s"}\n' 0 "The ship and the sea don't" 0 "a sea" 1 "the bread" -1 "the sea of grass" | mkstream >x.mts
	topics x.mts | cut -f1-4 >out
	diff out - <<-END
		$(printf '%s\t%s\t%s\t%s' cluster size word count)
		$(printf '0\t2\t%s\t%d\n' ship 1 sea 2)
		$(printf '1\t1\tbread\t1')
	END
	# --label group makes -1 a cluster
	topics --label group x.mts | cut -f1,3 | found '^-1	grass$'
	topics --no-stop x.mts | cut -f1,3 | found '^0	the$'
	# --stop FILE replaces the list
	echo sea >stop.txt
	topics --stop stop.txt x.mts | cut -f1,3 >out
	grep -q '^0	the$' out
	run ! grep -q '	sea$' out
	# each stop word of the list is one word of the tokenisation, and is listed once
	sed -n 's/^    "\([a-z ]*\)";\?$/\1/p' "$ROOT/lib/geometry/topics.c" | tr -s ' ' '\n' | grep . >list
	[ "$(wc -l <list)" -gt 200 ]
	sort list | uniq -d | diff - /dev/null
	jq -Rsc '{group: 0, text: .}, {group: 1, text: "ship"}' list | mkstream >all.mts
	topics --min-length 1 all.mts | cut -f3 | diff - <(printf '%s\n' word ship)
}

# 3. usage

@test "topics: usage errors exit 2" {
	for wrong in "-k 1" "--label topic -k 3" "--label topic --max-df 2" "--label topic -n 0" "--label topic --stop x --no-stop" "--label topic texts.mts texts.mts"; do
		run -2 --separate-stderr topics $wrong <texts.mts
		[ -z "$output" ]
	done
	does_not_apply --field topics --label topic --field text texts.mts
	does_not_apply --seed topics --label topic --seed 1 texts.mts
}

# 4. wrong input

@test "topics: input without clusters, texts or words is refused in one line" {
	refused() { dies "topics: $1" topics -o out "${@:2}"; }
	refused "texts.mts: there is no column 'question' of texts; name it with --text" --label topic --text question texts.mts
	refused "texts.mts: there is no column 'group'" --label group texts.mts
	refused "texts.mts: there is no column 'group'" texts.mts
	refused "texts.mts: there is no column 'x.emb' of vectors" -k 2 -f x texts.mts
	refused "texts.mts: -k 61: there are only 60 rows" -k 61 texts.mts
	refused "no word of the texts counts: of " --label topic --max-df 0 texts.mts
	refused "no word of the texts counts: of 0 " --label topic --min-length 50 texts.mts
	refused "nowhere: " --label topic --stop nowhere texts.mts
	mts rows --where topic=sea texts.mts >sea.mts
	refused "sea.mts: column 'topic' is 'sea' in all rows: one cluster" --label topic sea.mts
	mts rows --where topic=none texts.mts >none.mts
	refused "none.mts: there is no row in it" --label topic none.mts
	printf '{"c":%d,"text":%d,"lists":["a","b"]}\n' 1 2 3 4 | mkstream >numbers.mts
	refused "numbers.mts: column 'text' has numbers, no texts" --label c numbers.mts
	refused "numbers.mts: column 'lists' should hold one text or number a row" --label c --text lists numbers.mts
	printf '{"c":"%s","text":"some words"}\n' 'a\tb' x | mkstream >tab.mts
	refused "tab.mts: the label 'a" --label c tab.mts
	printf '{"c":"%s","text":"some words"}\n' 'a\u0000b' a x | mkstream >nul.mts
	refused "nul.mts: the label 'a' is empty or has a tab, an end of line or a NUL in it" --label c nul.mts
	printf '{"text":"%s","x.emb":[1,%s]}\n' a 1 b null | mkstream >nan.mts
	refused "nan.mts: record 1: x.emb: row 2 is not finite" -k 2 nan.mts
	printf '{"text":"%s","x.emb":[1,2]}\n' sea air fire | mkstream >same.mts
	refused "same.mts: k-means puts all texts into one cluster: its vectors are all the same" -k 2 same.mts
	head -c -20 texts.mts >cut.mts
	refused "cut.mts: " --label topic cut.mts
	run -1 --separate-stderr topics --label topic texts.mts -o /dev/full
	[[ $stderr == "topics: /dev/full: "* ]]
	# a cluster without words gets a warning
	printf '{"c":%d,"text":"%s"}\n' 1 "some words" 2 "" | mkstream >silent.mts
	run -0 --separate-stderr topics --no-stop --label c silent.mts
	[ "${#lines[@]}" -eq 3 ]
	[[ $stderr == "topics: warning: 1 cluster has no word that counts" ]]
}

@test "topics: a word in exactly the share --max-df of the texts is kept" {
	# 100 * 0.29 is slightly below 29
	for ((i = 0; i < 100; i++)); do
		printf '{"g":%d,"text":"%s w%d"}\n' $((i % 2)) "$([ $i -ge 29 ] || echo sea)" $i
	done | mkstream >share.mts
	topics --label g --max-df 0.29 --words 1000 share.mts | grep -c '	sea	'
	run ! grep -q '	sea	' <(topics --label g --max-df 0.28 --words 1000 share.mts)
}

@test "topics: the picture has every word, the heaviest of a cluster largest" {
	command -v gnuplot >/dev/null || skip "needs gnuplot"
	topics --label topic --words 4 texts.mts | sed 's/^sea/a_b/' | awk -f "$ROOT/pipelines/topics.awk" >words.tsv
	[ "$(cut -f1 words.tsv | uniq -c | awk '{ print $2 ":" $1 }' | paste -sd' ')" = "1:5 2:5 3:5" ]
	[ "$(cut -f3 words.tsv | grep -c '^28.0$')" -eq 3 ]
	gnuplot -e "words='words.tsv'; title='Some words'" "$ROOT/pipelines/topics.gnuplot" >words.svg
	for word in wave harbour soup star 'Some words' a_b; do grep -q ">.*$word.*<" words.svg; done
}

# 5. the examples of the page

@test "topics: the page's examples run" {
	cp -r "$GOLDEN/nomic_bert" model
	printf '{"text":"%s"}\n' "some words" "and others" "a word" >texts.jsonl
	printf '{"question":"%s","topic":"%s"}\n' "which word" x "some other" y "what word" x "no idea" y >questions.jsonl
	page_examples topics.1 >examples
	[ "$(grep -c topics examples)" -eq 5 ]
	bash -e -o pipefail -x examples >out
	grep -qP '^x\t2\tword\t2\t' out
	[ "$(grep -cE '^[12] [a-z]+$' out)" -ge 2 ]
}

# 6. memory

@test "topics: frees all memory before it exits" {
	export ASAN_OPTIONS=detect_leaks=1
	topics -k 3 --stop "$GOLDEN/topics_stop.txt" texts.mts
	topics --label topic texts.mts
}
