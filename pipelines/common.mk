# common.mk - folders of all pipelines, and the shell of heavy rules.  Included first, by the Makefile of the sources or, if
# motes is installed, by the Makefile beside this file.
# NAME of the environment is a person's, or on WSL a machine's
ifeq ($(origin NAME),environment)
undefine NAME
endif
PIPELINES ?= pipelines
SHARE     ?= share
OUT       ?= out
TEXT      := $(OUT)/text
DOCS      := $(OUT)/documents
DEMO      := $(OUT)/demo
DEBIAN    := $(DEMO)/packages
LISTS     := $(DEBIAN)/lists
# in a locale with a decimal comma awk and sort -g read 0.5 as 0
export LC_ALL := C.UTF-8
# with it an option after an operand would be an operand
unexport POSIXLY_CORRECT
# make splits a list of files at blanks, and it or the shell reads these characters as its own: a path with one of them is
# refused here, where make's own error would be about a rule of another pipeline
special   := : ; & | < > ( ) { } ' " ` \ * ? [ ] % $$ \#
# a dollar that begins no variable of make, which would be cut out with the character after it
open      := (
dollar     = $(findstring $$,$(subst $$$(open),,$(subst $${,,$(value $1))))
# = is read by make in targets; results are only below their folder.  % in MODEL stands for the seed (moee.mk)
unfit      = $(word 2,$($1))$(call dollar,$1)$(foreach character,$(if $(filter MODEL,$1),$(filter-out \%,$(special)),$(special)) $(if $(filter-out RESULTS,$1),=),$(findstring $(character),$($1)))
$(foreach name,MODEL DATA OUT RESULTS NAME START TRAIN GATES PILOTS,$(if $(strip $(call unfit,$(name))),$(error $(name)='$(if $(call dollar,$(name)),$(value $(name)),$($(name)))': \
	a pipeline takes no name with a blank or one of $(special) =; give a link to the folder: ln -s '$(if $(call dollar,$(name)),$(value $(name)),$($(name)))' LINK)))
# RUN starts the shells of the rules that encode, train and score, for example on another machine: srun -c 8.  HEAVY lists their
# targets, as patterns for filter.  A pattern-specific SHELL would be simpler, but make 4.4 loses pattern-specific
# variables in chains of implicit rules, or crashes.
RUN        =
HEAVY     :=
SHELL      = $(strip $(if $(filter $(HEAVY),$@),$(RUN)) bash)
ALONE      = $(if $(RUN),,OMP_NUM_THREADS=1)
# builds the programs called $1; installed programs are there already
programs   = $(if $(INSTALLED),:,$(MAKE)) --no-print-directory -j$(JOBS) $(addprefix $X/,$1)

# the head comment of a pipeline; its variables, for the shell's completion
head_of = sed -n '/^\#/!q; s/^\# \{0,1\}//; s/^\tmake /\tmotes /; p' $$(grep -l '^\#\# $* ' $(PIPELINES)/*.mk)
about-%:
	@$(head_of)
completion-%:
	@printf 'operands\t-\t%s\n' "$$($(head_of) | grep -oE '\b[A-Z][A-Z_]*=' | sort -u | paste -sd'|')"
