#!/usr/bin/env bats
load helper

# yaml TEXT JSON: the text parses to the JSON
yaml() {
	printf '%b' "$1" >"$T/a.yaml"
	run -0 tree_show "$T/a.yaml"
	[ "$output" = "$2" ] || { echo "$1: $output, not $2"; false; }
}

# refused FILE TEXT MESSAGE: exit 1 with one line: file and message
refused() {
	cd "$T"
	printf '%b' "$2" >"$1"
	run -1 tree_show "$1"
	echo "$output"
	[ "${#lines[@]}" -eq 1 ]
	[[ $output == "motes: $1:$3"* ]]
}

@test "yaml: scalars follow the core schema; quoted ones are strings" {
	yaml 'a: 1' '{"a":1}'
	yaml '[~, null, Null, NULL, ]' '[null,null,null,null]'
	yaml '[true, True, TRUE, false, yes, on]' '[true,true,true,false,"yes","on"]'
	yaml '[0, -3, +4, 007, 9223372036854775807]' '[0,-3,4,7,9223372036854775807]'
	yaml '[1.5, -.5, 1e3, 1.]' '[1.5,-0.5,1e3,1.0]'
	yaml '["1", '"'true'"', "", "a\\\\tb"]' '["1","true","","a\\tb"]'
	yaml '[1_000, 12:30, 1.2.3, ., -1-, e5, 1e999, 0x10]' \
		'["1_000","12:30","1.2.3",".","-1-","e5","1e999","0x10"]'
	yaml 'a: |\n  x\n  y\nb: >\n  x\n  y\n' '{"a":"x\ny\n","b":"x y\n"}'
	yaml 'é: ü' '{"é":"ü"}'
	yaml '{}' '{}'
	yaml '# only\n---\na: {b: [c, {d: e}]}\n' '{"a":{"b":["c",{"d":"e"}]}}'
}

@test "yaml: anchors, aliases and merge keys; a map's own keys override merged ones" {
	yaml 'a: &x {k: 1, l: [2]}\nb: *x' '{"a":{"k":1,"l":[2]},"b":{"k":1,"l":[2]}}'
	yaml 'a: &x {k: 1, l: 2}\nb: {<<: *x, l: 3, m: 4}' '{"a":{"k":1,"l":2},"b":{"k":1,"l":3,"m":4}}'
	yaml 'a: &x {k: 1}\nb: {k: 3, <<: *x}' '{"a":{"k":1},"b":{"k":3}}'
}

@test "yaml: every node knows its file and line, merged nodes included" {
	cd "$T"
	printf 'a: &x\n  b:\n    c: 1\n\nd:\n  <<: *x\n  e:\n    - 1\n    - f: 2\n' >l.yaml
	run -0 tree_show -l l.yaml
	diff <(echo "$output") - <<-'END'
		l.yaml:1	
		l.yaml:1	/a
		l.yaml:2	/a/b
		l.yaml:3	/a/b/c
		l.yaml:5	/d
		l.yaml:2	/d/b
		l.yaml:3	/d/b/c
		l.yaml:7	/d/e
		l.yaml:8	/d/e/0
		l.yaml:9	/d/e/1
		l.yaml:9	/d/e/1/f
	END
}

@test "yaml: errors are reported with their line" {
	refused a.yaml 'a: 1\nb: [\n' "3: not valid YAML: "
	refused a.yaml 'a: 1\n\tb: 2\n' "2: not valid YAML: "
	refused a.yaml 'a: 1\nb: 2\na: 3\n' "3: 'a' is given twice"
	refused a.yaml 'a: 1\n---\nb: 2\n' " holds more than one document"
	refused a.yaml 'a: 1\nb: !new 2\n' "2: the tag '!new' is not supported"
	refused a.yaml 'a: 1\nb: !!float 2\n' "2: the tag 'tag:yaml.org,2002:float' is not supported"
	refused a.yaml 'a: 1\nb: *nothing\n' "2: not valid YAML: found undefined alias"
	refused a.yaml '? [a, b]\n: 1\n' "1: a key must be a plain word"
	refused a.yaml 'a: &x [1]\nb:\n  <<: *x\n' "3: '<<' merges mappings only"
	refused a.yaml '' " empty"
	refused a.yaml 'a: \xff\n' " not valid YAML: invalid leading UTF-8 octet at byte 3"
	refused a.yaml "$(printf '[%.0s' {1..200})" "" # too deep, or never closed
	refused a.yaml "$(printf '[%.0s' {1..100})$(printf ']%.0s' {1..100})" "1: nested deeper than 64"
	refused a.yaml 'a: &x [*x]\n' "1: "
	# a small file that would expand to a large one
	{
		echo 'a0: &a0 [x, x, x, x, x, x, x, x, x, x]'
		for i in {1..9}; do
			echo "a$i: &a$i [$(printf "*a$((i - 1)), %.0s" {1..10})]"
		done
	} >"$T/bomb.yaml"
	run -1 tree_show "$T/bomb.yaml"
	[[ $output == *"more than 1000000 values"* ]]
	run -1 tree_show "$T"
	run -1 tree_show "$T/none.yaml"
	[[ $output == *"none.yaml: No such file"* ]]
}

# json TEXT [JSON]: the text is written back as the JSON, or unchanged
json() {
	printf '%s' "$1" >"$T/a.json"
	run -0 tree_show "$T/a.json"
	[ "$output" = "${2-$1}" ] || { echo "$1: $output, not ${2-$1}"; false; }
}

@test "json: values are written back as they were read" {
	json '{"b":1,"a":[true,false,null,"x"],"c":{}}'
	json '[0.03,-0.5]'
	json '1e300'
	json '5e-324'
	json '0.10000000000000001' '0.1'
	json '0.30000000000000004'
	json ' [ 1 , 2.0 ] ' '[1,2.0]'
	json '"\u00e9\ud83d\ude00\\\" /\n"' '"é😀\\\" /\n"'
	json '9223372036854775807'
	json '[99999999999999999999,-3,2.5,2.0,9007199254740991,9007199254740993,-9223372036854775809]'
	# NaN and Infinity, which Python writes
	json '[NaN,Infinity,-Infinity,1]' '[null,null,null,1]'
	json '{"a":1,"b":2,"a":{"c":1,"c":1},"b":3}' '{"a":{"c":1},"b":3}'
	local many
	many=$(printf '"k%s":1,' {1..40})
	json "{$many\"k7\":2}" "{$(sed 's/"k7":1/"k7":2/; s/,$//' <<<"$many")}"
	json '"a\u0000b"'
	json '[]'
	json "$(printf '[%.0s' {1..512})$(printf ']%.0s' {1..512})"
}

@test "json: errors are reported with their line" {
	refused a.json '{"a": 1,\n "b": }' "2: not valid JSON"
	refused a.json '[1] [2]' "1: not valid JSON"
	refused a.json '[1e999]' "1: not valid JSON"
	refused a.json '["\xff"]' "1: not valid JSON"
	refused a.json '["\\ud800"]' "1: not valid JSON"
	refused a.json '[NAN]' "1: not valid JSON"
	refused a.json '[-]' "1: not valid JSON"
	refused a.json '[01]' "1: not valid JSON"
	refused a.json '[1.]' "1: not valid JSON"
	refused a.json '["a\tb"]' "1: not valid JSON"
	refused a.json '{"a\\u0000": 1}' "1: not valid JSON: NUL byte in object key"
	refused a.json '{"a": 1,}' "1: not valid JSON"
	refused a.json '{a: 1}' "1: not valid JSON"
	refused a.json '[1,]' "1: not valid JSON"
	refused a.json '"a' "1: not valid JSON: a string that does not end"
	refused a.json '' "1: not valid JSON"
	refused a.json "$(printf '[%.0s' {1..513})$(printf ']%.0s' {1..513})" "1: JSON is nested deeper than 512"
	refused a.json "{\"a\": 1,\n\"b\": $(printf '[%.0s' {1..513})" "2: JSON is nested deeper than 512"
	refused a.json '"\\ud83d"' "1: not valid JSON: invalid escape in a string, or half of a surrogate pair"
	refused a.json 'version https://git-lfs.github.com/spec/v1\n' " a Git LFS pointer"
	run -1 tree_show "$T/none.json"
	[[ $output == *"none.json: no such file"* ]]
}
