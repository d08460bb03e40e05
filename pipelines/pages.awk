# pages.awk - pages of documentation (HTML) as a table of passages
#	find TREE -name '*.html' | LC_ALL=C awk -v tree=TREE/ -f sentences.awk -f pages.awk
# reads names of files below TREE/PACKAGE; writes TSV: package title passage
#	title	the heading above the passage; in a page of a manual, the description of its NAME section
# A passage has whole sentences from under one heading, at most 110 words.  Left out are sentences of more than 80 words, code,
# tables, menus, pages in other languages, and paragraphs that do not read like English: fewer than one word in eight is
# among the commonest, or fewer than two signs in three are letters or blanks.
BEGIN {
	OFS = "\t"
	n = split("the of a an to is are be and in for this that it as on by or with if not can you which from", words, " ")
	for (i = 1; i <= n; i++)
		common[words[i]] = 1
	split("amp & lt < gt > quot \" apos ' nbsp _ ndash - mdash - hellip ... rsquo ' lsquo ' ldquo \" rdquo \"", names, " ")
	for (i = 1; i in names; i += 2)
		entity[names[i]] = names[i + 1] == "_" ? " " : names[i + 1]
	entity["#39"] = entity["#8217"] = entity["#8216"] = "'"
	entity["#34"] = entity["#8220"] = entity["#8221"] = "\""
	entity["#8211"] = entity["#8212"] = "-"
	n = split("script style pre table nav header footer head math svg code-block select button synopsis screen programlisting", words, " ")
	for (i = 1; i <= n; i++)
		skipped[words[i]] = 1
	n = split("p div li dd dt td th ul ol dl br section article blockquote body main h1 h2 h3 h4 h5 h6 title para listitem item", words, " ")
	for (i = 1; i <= n; i++)
		block[words[i]] = 1
}

{ page($0) }

function page(file,    saved, line) {
	package = substr(file, length(tree) + 1)
	sub(/\/.*/, "", package)
	title = heading = text = within = section = naming = ""
	foreign = inside = 0
	saved = RS
	RS = "<"
	while (!foreign && (getline line < file) > 0)
		element(line)
	close(file)
	RS = saved
	paragraph()
	passages()
}

# one tag and the text after it
function element(line,    end, tag, name, closing, menu) {
	end = index(line, ">")
	if (!end)
		return
	tag = substr(line, 1, end - 1)
	name = tolower(tag)
	closing = sub(/^\//, "", name)
	if (name ~ /^html/ && match(name, / lang="[^"]*"/) && substr(name, RSTART + 7, 2) != "en")
		foreign = 1
	menu = name ~ /class="(highlight|related|sphinxsidebar|toc|navheader|navfooter|headerlink)/
	sub(/[ \t\n\/].*/, "", name)
	if (within != "") {
		if (name == within)
			depth += closing ? -1 : 1
		if (depth)
			return
		within = ""
		return
	}
	if (!closing && (name in skipped || menu && name == "div")) {
		if (tag ~ /\/$/)
			return
		paragraph()
		within = name
		depth = 1
		return
	}
	if (name in block)
		paragraph()
	if (name ~ /^(h[1-6]|title)$/)
		if (closing) {
			passages()
			under(heading)
			heading = ""
			inside = 0
		} else
			inside = 1
	if (inside)
		heading = heading substr(line, end + 1)
	else
		text = text substr(line, end + 1)
}

function under(words) {
	words = clean(words)
	naming = words == "NAME"
	if (words ~ /[a-z]/)
		title = words
}

function clean(words,    out, name) {
	gsub(/[ \t\r\n]+/, " ", words)
	while (match(words, /&[#A-Za-z0-9]+;/)) {
		name = substr(words, RSTART + 1, RLENGTH - 2)
		out = out substr(words, 1, RSTART - 1) (name in entity ? entity[name] : " ")
		words = substr(words, RSTART + RLENGTH)
	}
	words = out words
	gsub(/\302\266|\357\203\201/, "", words) # marks of links
	gsub(/\302\240/, " ", words)
	gsub(/\342\200[\230\231]/, "'", words)
	gsub(/\342\200[\234\235]/, "\"", words)
	gsub(/\342\200[\220\221\223\224]/, "-", words)
	gsub(/ +/, " ", words)
	gsub(/^ | $/, "", words)
	return words
}

function paragraph() {
	text = clean(text)
	if (naming && text ~ / - /)
		title = substr(text, index(text, " - ") + 3)
	else if (text ~ / .* .* / && english(text))
		section = section (section == "" ? "" : section ~ /[.!?:;]$/ ? " " : ". ") text
	text = ""
}

function english(words,    n, i, part, met, letters) {
	n = split(tolower(words), part, /[^a-z']+/)
	for (i = 1; i <= n; i++)
		met += part[i] in common
	letters = words
	gsub(/[^A-Za-z ]/, "", letters)
	return met * 8 >= n && length(letters) * 3 >= length(words) * 2
}

# prints the text under one heading, cut between sentences
function passages(    n, i, part, words, passage, count) {
	if (section == "")
		return
	n = sentences(section, part, ".!?")
	for (i = 1; i <= n; i++) {
		words = split(part[i], none, " ")
		if (count + words > 110) {
			put(passage, count)
			passage = ""
			count = 0
		}
		if (words <= 80) {
			passage = passage part[i] " "
			count += words
		}
	}
	put(passage, count)
	section = ""
}

function put(passage, count) {
	gsub(/ +/, " ", passage)
	sub(/ $/, "", passage)
	if (count >= 12 && !(passage in met))
		print package, title, passage
	met[passage]
}
