/*
 * cli - the command line of every program: options, commands, help, completion.
 *
 *	struct settings { const char *model; int top; bool keep; };
 *	static const struct cli_option options[] = {
 *		CLI_MODEL(model),
 *		{ 'k', "top", "N", "neighbours of a query (default: 10)", CLI_INTEGER(top, 1, 1000) },
 *		{ 0, "keep", NULL, "keep the columns that are consumed", CLI_FLAG(keep) },
 *		{ 0 }
 *	};
 *	static const struct cli cli = { "encode", "turn tokens into embeddings",
 *		"[OPTION]... [FILE]", options, "  tok ... | encode -m DIR\n", NULL, NULL };
 *
 *	cli_start(&cli, argc, argv);
 *	cli_next(&cli, argc, argv, &settings);
 *
 * Every program also has -h/--help, --version, -q/--quiet, -v/--verbose, --progress, which cli_next handles.
 * An option's earlier spelling is accepted with a warning.  Usage errors exit 2.
 */
#ifndef BASE_CLI_H
#define BASE_CLI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MOTES_VERSION "0.2.0"

/* Where cli_next stores the value of an option: a member of the program's `struct settings`. */
struct cli_value {
	enum cli_kind {
		CLI_KIND_CUSTOM,
		CLI_KIND_SET,
		CLI_KIND_TEXT,
		CLI_KIND_LIST,
		CLI_KIND_INTEGER,
		CLI_KIND_REAL,
		CLI_KIND_BYTES,
		CLI_KIND_WORD
	} kind;
	size_t offset, size;
	int64_t least, most;
	double low, high;
};

struct cli_option {
	int letter; /* 0: a long option; CLI_LONG and up: a long option that the program takes */
	const char *name, *argument, *help;
	struct cli_value value;
};
enum { CLI_LONG = 256, CLI_HEADING = 2000 };

/* The values of a repeated option. */
struct cli_list {
	int count;
	const char **items; /* [count + 1], the last NULL; NULL if count is 0 */
};

/* The kinds of values, by the member of `struct settings` that takes them. */
#define CLI_MEMBER(kind, member)                                                         \
	kind, offsetof(struct settings, member), sizeof(((struct settings *)NULL)->member)
#define CLI_CUSTOM                                                                       \
	{                                                                                \
		CLI_KIND_CUSTOM, 0, 0, 0, 0, 0, 0                                        \
	} /* cli_next returns its letter */
#define CLI_SET(member, constant)                                                        \
	{                                                                                \
		CLI_MEMBER(CLI_KIND_SET, member), constant, 0, 0, 0                      \
	}
#define CLI_FLAG(member) CLI_SET(member, true)
#define CLI_TEXT(member)                                                                 \
	{                                                                                \
		CLI_MEMBER(CLI_KIND_TEXT, member), 0, 0, 0, 0                            \
	}
#define CLI_LIST(member)                                                                 \
	{                                                                                \
		CLI_MEMBER(CLI_KIND_LIST, member), 0, 0, 0, 0                            \
	}
#define CLI_INTEGER(member, least, most)                                                 \
	{                                                                                \
		CLI_MEMBER(CLI_KIND_INTEGER, member), least, most, 0, 0                  \
	}
#define CLI_REAL(member, low, high)                                                      \
	{                                                                                \
		CLI_MEMBER(CLI_KIND_REAL, member), 0, 0, low, high                       \
	}
#define CLI_BYTES(member)                                                                \
	{                                                                                \
		CLI_MEMBER(CLI_KIND_BYTES, member), 0, 0, 0, 0                           \
	} /* 512M, 2G */
/* `first` + the place of the word in the option's argument, "sum|concat|hs" */
#define CLI_WORD(member, first)                                                          \
	{                                                                                \
		CLI_MEMBER(CLI_KIND_WORD, member), first, 0, 0, 0                        \
	}

/* A heading in --help over the options that follow. */
#define CLI_GROUP(text)                                                                  \
	{                                                                                \
		CLI_HEADING, "#", NULL, text, CLI_CUSTOM                                 \
	}

/* Options of several programs. */
#define CLI_MODEL(member)                                                                        \
	{                                                                                        \
		'm', "model", "MODEL",                                                           \
		    "model folder, or its name on the Hugging Face Hub (default: $MOTES_MODEL)", \
		    CLI_TEXT(member)                                                             \
	}
#define CLI_THREADS(member)                                                              \
	{                                                                                \
		'j', "threads", "N", "number of threads (default: all cores)",           \
		    CLI_INTEGER(member, 1, 4096)                                         \
	}
#define CLI_OUTPUT(member)                                                               \
	{                                                                                \
		'o', "output", "FILE",                                                   \
		    "write FILE, whole or not at all (default: standard output)",        \
		    CLI_TEXT(member)                                                     \
	}
#define CLI_LEVEL(member)                                                                            \
	{                                                                                            \
		0, "level", "N",                                                                     \
		    "zstd level of the output, 1 to 19; 0: stored (default: 0 into a pipe, else 3)", \
		    CLI_INTEGER(member, 0, 19)                                                       \
	}

struct cli {
	const char *name, *purpose, *synopsis;
	const struct cli_option *options;   /* ends with a NULL name */
	const char *examples;		    /* whole lines */
	const char *(*about)(void);	    /* a further line of --version, or NULL */
	const struct cli_command *commands; /* ends with a NULL name; or NULL: none */
	/* Kinds of operands for shell completion (completion.h), separated by blanks, the last for all
	 * that follow: ".jsonl|.tsv", "DIR".  A command with other operands has a further line,
	 * "COMMAND: kinds".  NULL: none. */
	const char *operands;
};

/* Call first in main.  Stores the command line; prints and exits for --completion; a closed pipe ends the program
 * silently. */
void cli_start(const struct cli *cli, int argc, char **argv);

/* Takes options up to the next one of CLI_CUSTOM and returns its letter, its argument in optarg; -1 at the end (see optind).
 * The values of others go to `settings`, the program's struct settings; NULL if all are CLI_CUSTOM.
 * Options and operands may come in any order. */
int cli_next(const struct cli *cli, int argc, char **argv, void *settings);

/*
 * Dies with "--OPTION does not apply to MODE" if an option was given that is neither in `known`, long names separated
 * by blanks, nor common to all programs.
 */
void cli_only(const struct cli *cli, const char *mode, const char *known);

/* The only operand, after the options; "-" if there is none.  More than one is a usage error. */
const char *cli_input(int argc, char **argv);

/* The operands; "-" if there are none, and *count is then 1. */
const char *const *cli_inputs(char *const *operands, int *count);

/* A command is a program's first operand; 'PROGRAM COMMAND --help' describes it. */
struct cli_command {
	const char *name, *purpose;
	const char *options; /* that apply to it, as `known` of cli_only */
	int least, most;     /* number of operands that follow; most -1: any */
	int (*run)(
	    void *settings, char **operands, int count); /* returns the exit status */
};

/* The command named by argv[optind], after checking its options and number of operands.  Usage error if there is no
 * such command; the message suggests the nearest name. */
const struct cli_command *cli_find(const struct cli *cli, int argc, char **argv);

/* Usage error if two options name one file, which both would write; pairs: an option, then its value or NULL; then NULL. */
void cli_apart(const char *const *pairs);

/* Whether a list of words separated by blanks contains `word`. */
bool cli_listed(const char *list, const char *word);

/* The index of `word` in `words`, which ends with NULL.  Usage error if it is not there: "OPTION: 'word' is not one of
 * a, b and c", with the nearest one. */
int cli_word(const char *option, const char *word, const char *const *words);

/* "; did you mean 'head'?" if one of the words is similar, else ""; to be freed. */
char *cli_suggestion(const char *word, const char *const *words);

/* The command line, quoted for a shell; the program without its folder. */
const char *cli_command(void);

/* Parse optarg as a number in least..most; usage error otherwise.  cli_integers parses a list into to[room] and returns
 * its length. */
int64_t cli_integer(const char *option, int64_t least, int64_t most);
double cli_real(const char *option, double least, double most);
int cli_integers(const char *option, int64_t least, int64_t most, int64_t *to, int room);
#endif
