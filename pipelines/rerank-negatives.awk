# rerank-negatives.awk - training candidates: for each query two documents that it finds, and two at random
#	awk -v seed=N -f rerank-negatives.awk train.qrels train.run		a run
# Documents that a query finds alone teach little at first: a model that has not compared two texts yet cannot tell them apart.
BEGIN { state = seed * 7919 + 1 }

FNR == 1 { file++ }

file == 1 { if (FNR > 1) document[++documents] = $2; next }

$1 != query { choose(); query = $1 }

$3 != $1 { found[++count] = $3 }

END { choose() }

function choose(    i, k) {
	for (i = 0; i < 2 && count; i++) {
		k = random(count)
		put(found[k])
		found[k] = found[count--]
	}
	for (i = 0; query != "" && i < 2; i++)
		put(document[random(documents)])
	count = rank = 0
	split("", chosen)
}

function put(id) {
	if (id == query || id in chosen)
		return
	chosen[id]
	printf "%s Q0 %s %d %d drawn\n", query, id, ++rank, 10 - rank
}

# 1 to n, by Lehmer's generator, which every awk computes alike
function random(n) {
	state = state * 16807 % 2147483647
	return 1 + int(state / 2147483647 * n)
}
