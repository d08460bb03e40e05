# titles.awk - from apt's package descriptions: titles.tsv, half of the synopses of six sections, and few.tsv, ten others of each
#	apt-cache dumpavail | awk -f titles.awk
# Columns: text, label (the section).
BEGIN {
	OFS = "\t"
	print "text", "label" >"titles.tsv"
	print "text", "label" >"few.tsv"
}
/^Description/ && !/md5/ { sub(/^[^ ]* /, ""); text = $0 }
/^Section:/ { label = $2 }
!/^$/ || label !~ /^(games|mail|science|sound|fonts|video)$/ { next }
++all % 2 == 0 { print text, label >"titles.tsv"; next }
of[label]++ % 11 == 0 && of[label] < 110 { print text, label >"few.tsv" }
