# packages.awk - descriptions of Debian's packages as a table: one package of each source
#	awk -f packages.awk Translation-en Packages
# A source is represented by the package of its own name, else by the first with a description.
# writes TSV with a header: id split program synopsis description
#	split	train, dev (about 1,000) or test (about 2,000), by a hash of the source's name
#	program	1 if debtags call it a program (role::program), else 0
# A description of two sources is left out, because a search could not distinguish them.
BEGIN {
	OFS = "\t"
	for (i = 33; i < 127; i++)
		code[sprintf("%c", i)] = i
	print "id", "split", "program", "synopsis", "description"
}

FNR == 1 { package(); file++ }

/^[^ ]/ {
	field = substr($0, 1, index($0, ":") - 1)
	value[field] = substr($0, length(field) + 3)
}

/^ / && field == "Description-en" {
	sub(/^ +/, "")
	if ($0 != ".")
		long = long (long == "" ? "" : " ") $0
}

/^ / && field == "Tag" { value[field] = value[field] $0 }

/^$/ { package() }

END {
	package()
	for (n = 1; n <= sources; n++)
		if (met[description[chosen[order[n]]]] == 1) {
			name = chosen[order[n]]
			print name, part(order[n]), program[name], synopsis[name], description[name]
		}
}

# one paragraph of a file: of the first a text, of the second where it belongs
function package(    name, source) {
	name = value["Package"]
	source = "Source" in value ? value["Source"] : name
	sub(/ .*/, "", source)
	if (file == 1 && !(name in synopsis) && split(long, none, " ") > 7) {
		synopsis[name] = clean(value["Description-en"])
		description[name] = clean(long)
	} else if (file == 2 && name in synopsis && (!(source in chosen) || name == source && chosen[source] != name)) {
		if (source in chosen)
			met[description[chosen[source]]]--
		else
			order[++sources] = source
		chosen[source] = name
		met[description[name]]++
		program[name] = value["Tag"] ~ /role::program/ ? 1 : 0
	}
	split("", value)
	long = ""
}

function clean(text) {
	gsub(/[\t ]+/, " ", text)
	return text
}

function part(name,    i, hash) {
	for (i = 1; i <= length(name); i++)
		hash = (hash * 31 + code[substr(name, i, 1)]) % 2147483647
	hash = int(hash * 69621 % 2147483647 / 1009) % 1000
	return hash >= 93 ? "train" : hash < 62 ? "test" : "dev"
}
