# common.mk - the folders that all pipelines share, and how heavy rules are started.  Included first, by the Makefile of the
# sources, or by the Makefile beside this file where motes is installed.
PIPELINES ?= pipelines
SHARE     ?= share
OUT       ?= out
TEXT      := $(OUT)/text
# starts the shells of the rules that encode, train and score, on another machine for one: srun -c 8
RUN        =
HEAVY     := $(strip $(RUN) $(SHELL))
ALONE      = $(if $(RUN),,OMP_NUM_THREADS=1)
# builds the programs called $1; installed programs are there already
programs   = $(if $(INSTALLED),:,$(MAKE)) --no-print-directory -j$(JOBS) $(addprefix $X/,$1)

# the comment that a pipeline begins with; of that, for the shell's completion, the variables
head_of = sed -n '/^\#/!q; s/^\# \{0,1\}//; s/^\tmake /\tmotes /; p' $$(grep -l '^\#\# $* ' $(PIPELINES)/*.mk)
about-%:
	@$(head_of)
completion-%:
	@printf 'operands\t-\t%s\n' "$$($(head_of) | grep -oE '\b[A-Z][A-Z_]*=' | sort -u | paste -sd'|')"
