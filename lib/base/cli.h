/*
 * cli - the command line of every program: options, commands, help, completion.
 *
 *	static const struct cli_option options[] = {
 *		{ 'm', "model", "DIR", "model folder" },
 *		{ OPT_KEEP, "keep", NULL, "keep the columns that are consumed" },
 *		{ 0 }
 *	};
 *	static const struct cli cli = { "encode", "turn tokens into embeddings",
 *		"[OPTION]... [FILE]", options, "  tok ... | encode -m DIR\n", NULL, NULL };
 *
 *	cli_start(&cli, argc, argv);
 *	while ((opt = cli_next(&cli, argc, argv)) != -1)
 *		switch (opt) { case 'm': dir = optarg; break; ... }
 *
 * cli_next handles -h/--help, --version, -q/--quiet, -v/--verbose and --progress, which every program has.  It accepts
 * an option's earlier spelling with a warning.  Usage errors exit 2.
 */
#ifndef BASE_CLI_H
#define BASE_CLI_H

#include <stdbool.h>
#include <stdint.h>

#define MOTES_VERSION "0.2.0"

struct cli_option {
	int letter; /* or a number from CLI_LONG up: no letter */
	const char *name, *argument, *help;
};
enum { CLI_LONG = 256, CLI_HEADING = 2000, CLI_OPT_LEVEL };

/* A heading over the options that follow it in --help. */
#define CLI_GROUP(text)                                                                  \
	{                                                                                \
		CLI_HEADING, "#", NULL, text                                             \
	}

/* Options of several programs; cli_threads and cli_level parse their values. */
#define CLI_MODEL                                                                        \
	{                                                                                \
		'm', "model", "MODEL",                                                   \
		    "model folder, or its name on the Hugging Face Hub\n(default: "      \
		    "$MOTES_MODEL)"                                                      \
	}
#define CLI_THREADS                                                                      \
	{                                                                                \
		'j', "threads", "N", "number of threads (default: all cores)"            \
	}
#define CLI_OUTPUT                                                                       \
	{                                                                                \
		'o', "output", "FILE",                                                   \
		    "write FILE, whole or not at all (default: standard output)"         \
	}
#define CLI_FIELD                                                                        \
	{                                                                                \
		'f', "field", "NAME",                                                    \
		    "take the vectors from NAME.emb (default: the only ones)"            \
	}
#define CLI_LEVEL                                                                        \
	{                                                                                \
		CLI_OPT_LEVEL, "level", "N",                                             \
		    "zstd level of the output, 1 to 19; 0: stored (default: 0\n"         \
		    "into a pipe, else 3)"                                               \
	}

struct cli {
	const char *name, *purpose, *synopsis;
	const struct cli_option *options; /* ends with an entry of letter 0 */
	const char *examples;		  /* whole lines */
	const char *(*about)(void); /* returns a second line for --version; or NULL */
	const struct cli_command *commands; /* ends with a NULL name; NULL: no commands */
	/* Kinds of operands for the shell's completion (completion.h), separated by blanks: ".jsonl|.tsv", "DIR".  The
	 * last one holds for all that follow.  A line "COMMAND: kinds" is for one command.  NULL: none. */
	const char *operands;
};

/* Call first in main.  Stores the command line; prints and exits for --completion; a closed pipe ends the program
 * silently. */
void cli_start(const struct cli *cli, int argc, char **argv);

/* Returns the letter of the next option, with its argument in optarg; -1 at the end, where the operands start at
 * argv[optind].  Options and operands may come in any order. */
int cli_next(const struct cli *cli, int argc, char **argv);

/*
 * Dies with "--OPTION does not apply to MODE" if an option was given that is neither in `known`, long names separated
 * by blanks, nor common to all programs.
 */
void cli_only(const struct cli *cli, const char *mode, const char *known);

/* A command of a program, its first operand. */
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
int cli_integers(
    const char *option, int64_t least, int64_t most, int64_t *to, int room); /* 1,5,50 */
int64_t cli_bytes(const char *option); /* 512M, 2G, 100000 */

int cli_threads(void); /* value of CLI_THREADS, 1 to 4096 */
int cli_level(void);   /* value of CLI_LEVEL, 0 to 19 */

/* Takes CLI_OUTPUT, CLI_LEVEL or CLI_THREADS; ignores any other letter. */
void cli_common(int letter, const char **output, int *level, int *threads);

#endif
