# reze-recipe.awk - the recipe of one target from a recipe of domains: the other sets of its domain, or the target alone
#	awk -v target=medquad -f reze-recipe.awk reze-small.yaml reze-small.yaml > others.yaml
#	awk -v target=medquad -v sample=100 -f reze-recipe.awk reze-small.yaml reze-small.yaml > own.yaml	(sample=all: all rows)
#	awk -v target=medquad -v told=1 -f reze-recipe.awk reze-small.yaml reze-small.yaml	(prints "medicine medquad")
# -v pool=1: the others are those of all domains, as one task.  PROMPTS in the environment: the tasks' prompts, "{query: ...}".
# A task of the recipe is a domain, a data set stands on one line.
BEGIN { own_line = "{name: " target "," }

# a task's name
/^  [^ #]/ { task = $1 }

NR == FNR {
	if (index($0, own_line))
		domain = task
	next
}

FNR == 1 {
	if (domain == "") {
		print "reze-recipe.awk: " FILENAME " has no data set " target > "/dev/stderr"
		exit 1
	}
	if (told) {
		sub(/:$/, "", domain)
		print domain, target
		exit
	}
	pool = pool && sample == ""
	task = ""
}

task != "" && task != domain && !pool { next }

pool && /^  [^ #]/ {
	if (pooled++)
		next
	$0 = "  pool:"
}

/^    datasets:/ {
	if (pool && datasets++)
		next
	if (ENVIRON["PROMPTS"] != "")
		print "    prompts: " ENVIRON["PROMPTS"]
}

/\{name: / {
	own = index($0, own_line) > 0
	if (own != (sample != ""))
		next
	if (own) {
		sub(/, sample: [0-9]+/, "")
		sub(/\}[^}]*$/, (sample == "all" ? "" : ", sample: " sample) "}")
	}
}

{ print }
