# capitals.awk - questions for the capitals that a dictionary names, each with one context that agrees and four that conflict
#	awk -f capitals.awk -f json.awk wordnet.tsv > probe.jsonl
# Input: the table of wordnet.awk.  A conflicting context differs from the other in the city alone, the capital of another country.
# Left out are countries with several capitals, and those whose names begin like the city's, which spelling gives away.
BEGIN { FS = "\t" }

FNR == 1 {
	for (i = 1; i <= NF; i++)
		at[$i] = i
	next
}

$at["instance"] == 1 && match($at["definition"], /capital( city| and largest city)? of (the )?[A-Z]/) {
	country[++n] = country_of(substr($at["definition"], RSTART + RLENGTH - 1))
	city[n] = $at["words"]
	sub(/,.*/, "", city[n])
	article[n] = substr($at["definition"], RSTART, RLENGTH) ~ /of the [A-Z]$/ ? "the " : ""
	capitals[country[n]]++
}

END {
	for (i = 1; i <= n; i++) {
		if (capitals[country[i]] > 1 || substr(city[i], 1, 3) == substr(country[i], 1, 3) || index(city[i], country[i]))
			continue
		conflicts = ""
		for (j = found = 0; found < 4 && j < n; j++) {
			k = (i + 41 * (j + 1) - 1) % n + 1
			if (country[k] != country[i] && city[k] != city[i] && !index(conflicts, string(context(k, i))))
				conflicts = conflicts (found++ ? ", " : "") string(context(k, i))
		}
		printf "{\"query\": %s, \"positive\": [%s], \"negative\": [%s]}\n", string("What is the capital of " article[i] country[i] "?"), \
			string(context(i, i)), conflicts
	}
}

# The words with a capital at the start of a text, and those that join them.
function country_of(text,    words, count, i, name) {
	count = split(text, words, " ")
	for (i = 1; i <= count; i++) {
		if (words[i] !~ /^[A-Z]/ && !(words[i] ~ /^(and|of|the)$/ && words[i + 1] ~ /^[A-Z]/))
			break
		name = name (i > 1 ? " " : "") words[i]
		if (words[i] ~ /[;,.]$/)
			break
	}
	sub(/[;,.]$/, "", name)
	return name
}

function context(c, of) {
	return city[c] " is the capital of " article[of] country[of] "."
}
