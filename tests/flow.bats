#!/usr/bin/env bats
load helper

# geom flow: normalizing flows

setup() { cd "$T"; }

# bananas ROWS SEED: points (x, x^2 + noise / 4), x and noise normal: 1.45 nats; the best normal distribution has 3.20.
bananas() {
	seeded_awk -v rows="$1" -v seed="$2" '
		function normal() { return sqrt(-2 * log(1 - rand())) * cos(6.283185307179586 * rand()) }
		BEGIN {
			srand(seed)
			for (i = 0; i < rows; i++) {
				x = normal()
				printf "{\"_id\":\"%d\",\"text.emb\":[%.6f,%.6f]}\n", i, x, x * x + normal() / 4
			}
		}'
}

# -log p / width in the last epoch's message
nats() {
	sed -n 's/^geom: epoch.* = \(.*\) nats$/\1/p' | tail -n 1
}

# 1. known answers

# bats test_tags=plain
@test "flow: z equals plain loops', the determinant that of a numerical Jacobian; the inverse; gradients by central differences" {
	flow_check
}

@test "geom flow: the inverse restores the embeddings to 1e-5; other columns pass" {
	mkstream random 300 64 1 | mts cat --rename text.emb=x.emb >a.mts
	geom flow fit --hidden 32 --epochs 3 --lr 1e-3 a.mts -o flow.mts
	geom flow apply flow.mts a.mts >z.mts
	run -1 mts diff --atol 0.5 a.mts z.mts
	geom flow apply --inverse flow.mts z.mts | mts diff --atol 1e-5 a.mts -
	geom flow apply flow.mts <a.mts | mts diff z.mts -
}

@test "geom flow: learns a distribution that no linear map makes normal" {
	bananas 8000 1 | mkstream >train.mts
	bananas 4000 2 | mkstream >test.mts
	geom -v flow fit --hidden 32 --epochs 40 --batch 256 --lr 1e-3 train.mts -o flow.mts 2>told
	# 1.4189 nats for x, and 1.4189 - log 4 for the noise
	awk -v nats="$(nats <told)" 'BEGIN { exit !(nats > 0.68 && nats < 0.78) }'
	# as normal as it can be: mean 0, variance 1, no correlation, also of squares
	geom flow apply flow.mts test.mts | mts to tsv -c text.emb |
		tail -n +2 | tr -d '[]' | tr ',' '\t' | awk '{
			n++; for (i = 1; i <= 2; i++) { m[i] += $i; s[i] += $i * $i }
			c += $1 * $2; q += $1 * $1 * $2; p += $2 * $2 * $1
		} END {
			print n, m[1] / n, m[2] / n, s[1] / n, s[2] / n, c / n, q / n, p / n
			for (i = 1; i <= 2; i++) if ((m[i] / n)^2 > 0.03 || (s[i] / n - 1)^2 > 0.03) exit 1
			if ((c / n)^2 > 0.03 || (q / n)^2 > 0.1 || (p / n)^2 > 0.1) exit 1 # a linear map leaves 1.9 of one
		}'
}

# bats test_tags=plain
@test "geom flow: the flow depends on the seed and not on the number of threads" {
	mkstream random 100 16 1 >a.mts
	fit="geom flow fit --hidden 8 --epochs 2"
	$fit -j 1 a.mts | geom flow apply - a.mts -j 1 | mts cat -c text.emb | mts to npy >one
	$fit -j 2 a.mts | geom flow apply - a.mts -j 2 | mts cat -c text.emb | mts to npy >two
	cmp one two
	$fit --seed 7 a.mts | geom flow apply - a.mts | mts cat -c text.emb | mts to npy >three
	run -1 cmp -s one three
}

@test "geom flow: a vector's result does not depend on the other vectors" {
	mkstream random 300 16 1 >a.mts
	geom flow fit --hidden 8 --epochs 1 a.mts -o flow.mts
	geom flow apply flow.mts a.mts >z.mts
	mts rows --rows 299 z.mts | mts to jsonl -c text.emb >all
	mts rows --rows 299 a.mts | geom flow apply flow.mts | mts to jsonl -c text.emb | cmp - all
}

# 2. columns and options

@test "geom flow: several columns are fitted together; lists and half precision are read" {
	printf '{"q.emb":[%s,%s],"d.emb":[[1,2],[3,%s]]}\n' 1 2 3 3 4 5 5 6 7 0 1 0 | mkstream >both.mts
	geom flow fit --hidden 4 -f q -f d both.mts -o flow.mts 2>told
	geom flow apply -f q -f d flow.mts both.mts >z.mts
	mts head -n 0 z.mts >header
	grep 'd.emb (f32 \[2\], depth 1)' header
	geom flow apply --inverse -f q -f d flow.mts z.mts | mts diff --atol 1e-5 both.mts -
	# the same vectors in one column
	printf '{"x.emb":[%s,%s]}\n' 1 2 1 2 3 3 3 4 1 2 3 5 5 6 1 2 3 7 0 1 1 2 3 0 | mkstream >one.mts
	geom flow apply flow.mts one.mts | mts to jsonl | jq -c '.["x.emb"]' | sed -n '1p;4p;7p;10p' |
		diff - <(mts to jsonl z.mts | jq -c '.["q.emb"]')
	printf '{"q.emb":[1,2]}\n{"q.emb":[2,0]}\n' | mkstream 1 f16 >q.mts
	printf '{"d.emb":[1,1]}\n' | mkstream >d.mts
	geom -q flow fit --hidden 4 --epochs 1 q.mts d.mts -o whole.mts
	geom -q flow fit --hidden 4 --epochs 1 -f q -f d q.mts d.mts | mts diff whole.mts -
	geom -q flow apply whole.mts q.mts >z.mts
	mts head -n 0 z.mts >header
	grep -q 'q.emb (f32 \[2\])' header
}

@test "geom flow fit: --flow-steps, --hidden and --epochs" {
	mkstream random 40 6 1 >a.mts
	geom flow fit --flow-steps 3 --hidden 5 --epochs 0 a.mts -o flow.mts
	mts head -n 0 flow.mts >shape
	grep -q 'hidden2 (f32 \[5,5\])' shape
	grep -q 'hidden1 (f32 \[5,3\])' shape
	[ "$(mts to jsonl -c shift flow.mts | wc -l)" -eq 3 ]
	geom -v flow fit --flow-steps 1 --hidden 5 --epochs 30 --lr 1e-2 a.mts 2>slow >/dev/null
	geom -v flow fit --flow-steps 1 --hidden 5 --epochs 1 --lr 1e-2 a.mts 2>short >/dev/null
	[ "$(grep -c epoch slow)" -eq 30 ]
	awk -v slow="$(nats <slow)" -v short="$(nats <short)" 'BEGIN { exit !(slow < short - 0.01) }'
}

# 3. usage

@test "geom flow: usage errors exit 2" {
	mkstream random 5 4 1 >a.mts
	for wrong in "" train "fit --inverse a.mts" "apply" "apply --epochs 2 flow.mts" "apply a b c" \
		"fit --flow-steps 0" "fit --lr 0" "fit --against x" "fit - -" "apply - -" "fit -f text -f text a.mts"; do
		run -2 --separate-stderr geom flow $wrong </dev/null
		[ -z "$output" ]
		echo "$stderr"
	done
	does_not_apply --level geom flow fit --level 3 a.mts
	run -2 --separate-stderr geom similarity -f a -f b a.mts
	[[ $stderr == "geom: similarity takes one --field"* ]]
}

# 4. wrong input

@test "geom flow: too few vectors are refused, a poor fit gets a warning" {
	refused() { dies "geom: $1" geom flow "${@:2}"; }
	printf '{"x.emb":[%s]}\n' 1,2,3 | mkstream >one.mts
	refused "one.mts: 1 vector; a flow is fitted to two at least" fit one.mts
	printf '{"x.emb":[%s]}\n' 1 2 3 | mkstream >narrow.mts
	refused "narrow.mts: a vector of one value cannot be halved" fit narrow.mts
	printf '{"x.emb":[%s]}\n' 1,2 null,1 | mkstream >nan.mts
	refused "nan.mts: record 1" fit nan.mts
	printf '{"x":1}\n' | mkstream >bare.mts
	refused "bare.mts: there is no column '*.emb' of" fit bare.mts
	printf '{"x.emb":[1,2],"y.emb":[1,2,3]}\n' | mkstream >two.mts
	refused "two.mts: there are several columns of embeddings: x.emb, y.emb; choose one with --field" fit two.mts
	refused "two.mts: y.emb has width 3 and x.emb has 2" fit -f y -f x two.mts
	refused "two.mts: there is no column 'z.emb'" fit -f x -f z two.mts
	mkstream random 20 4 1 >a.mts
	refused "/dev/full: " fit --hidden 4 a.mts -o /dev/full
	head -c 300 a.mts >cut.mts
	refused "cut.mts: " fit cut.mts
	: >empty
	refused "empty: empty, not a tensor stream" fit empty
	run -0 --separate-stderr geom flow fit --hidden 4 --lr 10 --epochs 300 a.mts -o wild.mts ||
		[[ $stderr == *"the likelihood is not a number any more; give a smaller --lr" ]]
	printf '{"x.emb":[0.1,%s,3]}\n' 1 2 3 4 | mkstream >constant.mts
	run -0 --separate-stderr geom flow fit --hidden 4 constant.mts -o flow.mts
	[[ $stderr == "geom: warning: constant.mts: 2 of the 3 values do not vary, or next to nothing" ]]
	geom flow apply flow.mts constant.mts | geom flow apply --inverse flow.mts | mts diff --atol 1e-5 constant.mts -
	# a value that hardly varies beside one that varies by millions
	printf '{"x.emb":[0.00%s,%s000000]}\n' 1 2 2 1 3 3 4 5 | mkstream >beside.mts
	run -0 --separate-stderr geom flow fit --hidden 4 beside.mts -o flow.mts
	[[ $stderr == "geom: warning: beside.mts: 1 of the 2 values do not vary, or next to nothing" ]]
	printf '{"x.emb":[%s]}\n' 1,0,2 2,1,1 | mkstream >few.mts
	run -0 --separate-stderr geom flow fit --hidden 4 few.mts -o flow.mts
	[[ $stderr == "geom: warning: few.mts: 2 vectors of 3 values lie in a part of their space alone"* ]]
}

@test "geom flow apply: another model's embeddings, another width, and a file that is not a flow are refused" {
	refused() { dies "geom: $1" geom flow apply "${@:2}"; }
	printf '{"x.emb":[%s]}\n' 1,2 2,0 0,3 4,1 >rows
	mkstream 4 f32 A <rows >a.mts
	mkstream 4 f32 B <rows >b.mts
	geom flow fit --hidden 4 --epochs 1 a.mts -o flow.mts
	refused "b.mts: its vectors are of model B, flow.mts was fitted to those of model A" flow.mts b.mts
	geom flow apply --any-model flow.mts b.mts >/dev/null
	geom flow apply flow.mts a.mts >z.mts
	refused "z.mts: its vectors are of model " flow.mts z.mts
	refused "a.mts: its vectors are of model A, flow.mts was fitted to those of model " --inverse flow.mts a.mts
	geom flow apply --inverse flow.mts z.mts >back.mts
	mts head -n 0 back.mts >header
	grep -qP '^property\tmodel\tA$' header
	run -1 --separate-stderr near a.mts z.mts
	mkstream random 5 4 1 >wide.mts
	refused "wide.mts: the vectors of text.emb have width 4, flow.mts was fitted to such of 2" flow.mts wide.mts
	refused "a.mts: is not a flow: there is no column 'upper'" a.mts a.mts
	refused "flow.mts: there is no column '*.emb'" flow.mts flow.mts
	mts cat -c shift,upper,hidden2 flow.mts >part.mts
	refused "part.mts: is not a flow: 'geom flow fit' writes one with a column 'log_scale' of that shape" part.mts a.mts
	mts rows --rows 9 flow.mts >none.mts
	refused "none.mts: is not a flow: there is no record in it" none.mts a.mts
	cat flow.mts flow.mts >twice.mts
	refused "twice.mts: is not a flow: there are several records in it" twice.mts a.mts
	head -c -200 flow.mts >cut.mts
	refused "cut.mts: " cut.mts a.mts
	refused "/dev/full: " flow.mts a.mts -o /dev/full
	printf '{"x.emb":[%s]}\n' 1,2 null,0 | mkstream 4 f32 A >nan.mts
	refused "nan.mts: record 1" flow.mts nan.mts
	printf '{"x.emb":[%s]}\n' 1,2 3e38,3e38 | mkstream 4 f32 A >far.mts
	refused "far.mts: record 1: flow.mts maps vector 2 of x.emb to values that are not finite" flow.mts far.mts
	mts rows --where _id=none <(mkstream random 3 2 1) | mts cat --rename text.emb=x.emb >none.mts
	geom flow apply flow.mts none.mts >z.mts
	[ "$(mts to jsonl z.mts | wc -l)" -eq 0 ]
	run -1 --separate-stderr geom flow fit none.mts
	[[ $stderr == "geom: none.mts: 0 vectors; "* ]]
}

@test "geom flow: frees all memory before it exits" {
	export ASAN_OPTIONS=detect_leaks=1
	mkstream random 50 8 1 >a.mts
	geom flow fit --hidden 4 --epochs 1 a.mts -o flow.mts
	geom flow apply flow.mts a.mts | geom flow apply --inverse flow.mts | mts diff --atol 1e-5 a.mts -
}
