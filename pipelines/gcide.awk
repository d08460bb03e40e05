# gcide.awk - the Collaborative International Dictionary of English as a table: a sense a line
#	gzip -dc /usr/share/dictd/gcide.dict.dz | awk -f gcide.awk
# writes TSV with a header: word class definition example
#	class	n, v, a or r as in WordNet, else ""
#	example	the text after "as,", and further sentences
# Left out are senses from WordNet, which would reveal held-out entries; obsolete and rare senses; notes, quotations and
# references.
BEGIN {
	OFS = "\t"
	print "word", "class", "definition", "example"
}

/^00-database/ {
	about = 1
	next
}

/^[A-Za-z].*\\/ {
	put()
	entry = $0
	about = 0
	next
}

about { next }

/^[^ ]/ { # a headword without a pronunciation: added later, mostly from WordNet
	put()
	next
}

/^$/ {
	close_paragraph()
	next
}

/^ *\[[^]]*(Webster|WordNet|PJC|Century|RDH)[^]]*\]$/ { # where the paragraph is from
	if (/WordNet/)
		paragraph = ""
	close_paragraph()
	next
}

{
	if (/^ *([0-9]+\.|\([a-z]\)) /)
		close_paragraph()
	if (paragraph == "") {
		match($0, /^ */)
		indent = RLENGTH
	}
	sub(/^ +/, "")
	paragraph = paragraph (paragraph ? " " : "") $0
}

END { put() }

# Quotations stand further right than senses do.
function close_paragraph() {
	if (paragraph != "" && (indent <= 6 || paragraph ~ /^([0-9]+\.|\([a-z]\)) /) && paragraph !~ /WordNet|^Note:|^Syn:/)
		body = body (body ? "\n" : "") paragraph
	paragraph = ""
}

function put(    head, i, count, senses) {
	close_paragraph()
	if (entry != "") {
		word = entry
		sub(/ *\\.*/, "", word)
		head = substr(entry, length(word) + 1) " " body
		# etymologies, sources, diacritics: brackets in brackets
		while (gsub(/\[[^][]*\]/, head ~ /\[(Obs|R|Archaic)[.\]]/ ? "\001" : "", head))
			;
		gsub(/\\[^\\]*\\/, "", head)
		class = ""
		if (match(head, /^[^a-z]*(\([^)]*\))?[, ]*(n|v|a|adv)\.[ ;,]/)) {
			class = substr(head, RSTART, RLENGTH - 2)
			sub(/.*[ ,]/, "", class)
			if (class == "adv")
				class = "r"
		}
		count = split(head, senses, /\n/)
		for (i = 1; i <= count; i++)
			sense(senses[i], i == 1)
	}
	entry = body = ""
}

function sense(text, first,    example, name, at) {
	if (first) # what is left of the head
		while (sub(/^ *(\([^)]*\)|[,;.&]|(n|v|a|adv|p|t|i|pl|imp|pr|vb|superl|compar|prep|conj|interj|pron)\.)+ */, "", text))
			;
	while (sub(/^ *([0-9]+\.|\([a-z]\)|\([A-Z][A-Za-z. &,]*\)) */, "", text))
		;
	if (text ~ /\001/)
		return
	name = word
	if (match(text, /^\{[^}]*\}/)) { # a phrase with the word in it
		name = substr(text, 2, RLENGTH - 2)
		text = substr(text, RLENGTH + 1)
		if (!sub(/^ *(\([^)]*\))? *, */, "", text))
			return
	}
	gsub(/ *"[^"]*" *--[^.]*\./, "", text)
	sub(/ *--.*/, "", text)
	gsub(/[{}]/, "", text)
	gsub(/ *\([^)]*\)/, "", text)
	gsub(/[ \t]+/, " ", text)
	sub(/[.;] (See|Compare|Called also|Also called|Cf\.|[0-9]+\.) .*/, "", text)
	if (match(text, /[;,:] as,? /)) {
		example = substr(text, RSTART + RLENGTH)
		text = substr(text, 1, RSTART - 1)
	}
	if (match(text, /[a-z)]\. [A-Z]/)) { # sentences
		example = substr(text, RSTART + 3) (example ? "; " example : "")
		text = substr(text, 1, RSTART)
	}
	if (length(text) > 250 && (at = match(substr(text, 60), /[;,] /)))
		text = substr(text, 1, 59 + at)
	sub(/[ .;,:]+$/, "", text)
	sub(/^ +/, "", text)
	if (text ~ /^(See|Same as|Imp|Pl|Of or pertaining to) / || split(text, none, " ") < 3 || length(text) > 300)
		return
	print tolower(name), class, tolower(substr(text, 1, 1)) substr(text, 2), example
}
