# answers.awk - a TREC run (tabs) as a person reads it: the description, then the words found
BEGIN { FS = "\t" }

$1 != query {
	query = $1
	printf "%s%s:", (NR > 1 ? "\n" : ""), query
	separator = " "
}

{
	printf "%s%s", separator, $3
	separator = ", "
}

END { print "" }
