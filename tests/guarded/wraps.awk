# wraps.awk - wrappers of the functions of nn.h that work on memory of the kernels (guard.h)
#
#	mawk -v options=FILE -f wraps.awk nn.h >wraps.c		options: flags for the linker

BEGIN {
	# functions without memory of the kernels, and those of memory.c
	split("start about workers worker_tokens chunk_rows parallel_for quantize packed_size supports alloc free reserve upload download " \
	    "device activation_bytes download_begin download_end " \
	    "weights matrix_of bytes_of packed_layout", names, " ")
	for (i in names)
		left["nn_" names[i]] = 1
	# arguments in host memory
	host["host"] = host["absmax"] = 1
	print "#include \"guard.h\"\n"
}

/^#/ { next }

# comments may go over lines
{
	line = $0
	while (inside || index(line, "/*")) {
		if (inside) {
			if (!(end = index(line, "*/"))) {
				line = ""
				break
			}
			line = substr(line, end + 2)
			inside = 0
		} else {
			start = index(line, "/*")
			text = text " " substr(line, 1, start - 1)
			line = substr(line, start + 2)
			inside = 1
		}
	}
	text = text " " line
}

# One argument: how it is passed on, and what must hold of it.
function argument(text, name, type) {
	name = text
	sub(/.*[ *]/, "", name)
	type = substr(text, 1, length(text) - length(name))
	if (type ~ /struct nn_attention/)
		checks = checks "\tguard_sequences(__func__ + 7, &" name "->sequences);\n" \
		    "\tguard_inside(__func__ + 7, \"bias\", " name "->bias);\n"
	else if (type ~ /struct nn_sequences/)
		checks = checks "\tguard_sequences(__func__ + 7, " name ");\n"
	else if (type ~ /struct nn_matrix/)
		checks = checks "\tguard_inside(__func__ + 7, \"" name "\", " name ".at);\n"
	else if (type ~ /struct nn_gemm_group/)
		checks = checks "\tguard_groups(__func__ + 7, " name ", count);\n"
	else if (type ~ /\*/ && type !~ /struct nn_adamw|enum nn_act/ && !(name in host))
		checks = checks "\tguard_inside(__func__ + 7, \"" name "\", " name ");\n"
	return name
}

function wrap(statement, type, name, arguments, passed, count, each, i) {
	if (!match(statement, /nn_[a-z_0-9]+\(/))
		return
	name = substr(statement, RSTART, RLENGTH - 1)
	type = substr(statement, 1, RSTART - 1)
	arguments = substr(statement, RSTART + RLENGTH)
	sub(/\)$/, "", arguments)
	if (name in left)
		return
	checks = ""
	count = split(arguments, each, / *, */)
	for (i = 1; i <= count; i++)
		passed = passed (i > 1 ? ", " : "") argument(each[i])
	printf "%s__real_%s(%s);\n%s__wrap_%s(%s);\n", type, name, arguments, type, name, arguments
	printf "%s__wrap_%s(%s)\n{\n%s\tguard_enter(__func__ + 7);\n", type, name, arguments, checks
	if (type == "void ")
		printf "\t__real_%s(%s);\n\tguard_leave();\n}\n\n", name, passed
	else
		printf "\t%sresult = __real_%s(%s);\n\tguard_leave();\n\treturn result;\n}\n\n", type, name, passed
	print "-Wl,--wrap=" name >options
}

END {
	gsub(/[ \t]+/, " ", text)
	for (i = 1; i <= length(text); i++) {
		c = substr(text, i, 1)
		if (c == "{")
			depth++
		if (!depth && c == ";") {
			sub(/^ /, "", statement)
			wrap(statement)
			statement = ""
		} else if (!depth)
			statement = statement c
		if (c == "}" && !--depth)
			statement = ""
	}
}
