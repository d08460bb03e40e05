# queries-part.awk - judgements in two parts: every fifth query for choosing (dev), the others for training
#	awk -v folder=DIR -v most=1000 -f queries-part.awk qrels/train.tsv qrels/train.tsv
# Takes `most` queries, evenly spaced; 0: all.  Writes DIR/train.tsv and DIR/dev.tsv, and DIR/pairs.tsv, the first judgement
# of each training query.
BEGIN { FS = "\t" }

NR == 1 {
	print > (folder "/train.tsv")
	print > (folder "/dev.tsv")
	print > (folder "/pairs.tsv")
}

FNR == 1 { next }

NR == FNR {
	if (!($1 in query))
		query[$1] = ++queries
	next
}

!($1 in part) {
	n = query[$1]
	chosen = !most || queries <= most || int(n * most / queries) > int((n - 1) * most / queries)
	part[$1] = chosen ? (++taken % 5 ? "train" : "dev") : ""
}

part[$1] != "" { print > (folder "/" part[$1] ".tsv") }

part[$1] == "train" && !paired[$1]++ { print > (folder "/pairs.tsv") }
