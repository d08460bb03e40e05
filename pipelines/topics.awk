# topics.awk - where the words of the table of topics stand in its picture: column, depth, size and the word
#	topics -k 3 x.mts | awk -f topics.awk > words.tsv; gnuplot -e "words='words.tsv'" topics.gnuplot > words.svg
# A column a cluster, at depth 0 its name and how many texts it has; its heaviest word is as large as any other's, the
# size of the others falls with their weight.
BEGIN { FS = OFS = "\t" }

FNR == 1 { next }

FNR == 2 || $1 != cluster {
	cluster = $1
	most = $5
	depth = 1.5
	print ++column, 0, 14, cluster " (" $2 ")"
}

{
	size = 8 + 20 * $5 / most
	depth += size / 18
	printf "%d\t%.2f\t%.1f\t%s\n", column, depth, size, $3
	depth += size / 18
}
