/*
 * cli - what every program does with its command line: options, help.
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
 * Every program also has -h/--help, --version, -q/--quiet, -v/--verbose, --progress;
 * cli_next deals with them, and takes an option's earlier spelling with a warning.  Usage faults exit 2.
 */
#ifndef BASE_CLI_H
#define BASE_CLI_H

#include <stdbool.h>
#include <stdint.h>

#define MOTES_VERSION "0.2.0"

struct cli_option {
	int letter; /* or a number from CLI_LONG up for long-only options */
	const char *name, *argument, *help;
};
enum { CLI_LONG = 256, CLI_HEADING = 2000, CLI_OPT_LEVEL };

/* What stands over the options that follow it in --help. */
#define CLI_GROUP(text)                                                                  \
	{                                                                                \
		CLI_HEADING, "#", NULL, text                                             \
	}

/* The options that several programs have; cli_threads() and cli_level() read the values. */
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
#define CLI_LEVEL                                                                        \
	{                                                                                \
		CLI_OPT_LEVEL, "level", "N",                                             \
		    "zstd level of the output, 1 to 19; 0: stored (default: 0\n"         \
		    "into a pipe, else 3)"                                               \
	}

struct cli {
	const char *name, *purpose, *synopsis;
	const struct cli_option *options;   /* ends with an entry of letter 0 */
	const char *examples;		    /* whole lines */
	const char *(*about)(void);	    /* a further line of --version, or NULL */
	const struct cli_command *commands; /* ends with a NULL name; or NULL: none */
	/* What a shell completes operands to (completion.h): kinds with a blank between, the last
	 * for all that follow, ".jsonl|.tsv", "DIR"; of a command that takes others, on a further
	 * line, "COMMAND: kinds".  NULL: nothing. */
	const char *operands;
};

/* Remember the command line; answer the shell's --completion, and exit; ignore SIGPIPE's noise: a closed pipe ends quietly. */
void cli_start(const struct cli *cli, int argc, char **argv);

/* The next option's letter, its argument in optarg; -1 at the end (see optind).
 * Options and operands may come in any order. */
int cli_next(const struct cli *cli, int argc, char **argv);

/*
 * A usage fault that names it, where an option was given that does not apply to `mode`: none that
 * every program has, and none of `known`, long names with a blank between.
 */
void cli_only(const struct cli *cli, const char *mode, const char *known);

/* What a program can be told to do by its first operand; 'PROGRAM COMMAND --help' tells of it. */
struct cli_command {
	const char *name, *purpose;
	const char *options; /* that say something to it, as for cli_only */
	int least, most;     /* operands that follow; most -1: any number */
	int (*run)(void *settings, char **operands, int count); /* returns exit status */
};

/* The one that argv[optind] names, for its options and operands.  What is none, or is wrong, is a
 * usage fault; it tells the name that is nearest. */
const struct cli_command *cli_find(const struct cli *cli, int argc, char **argv);

/* Whether a list with blanks between its words has this one. */
bool cli_listed(const char *list, const char *word);

/* Which of these words, that end with NULL, `word` is; none is a usage fault: "OPTION: 'word' is
 * not one of a, b and c", and the one that is nearest. */
int cli_word(const char *option, const char *word, const char *const *words);

/* "; did you mean 'head'?" where one of the words is near, else ""; to be freed. */
char *cli_suggestion(const char *word, const char *const *words);

/* The command line as one could type it in a shell; the program by its bare name. */
const char *cli_command(void);

/* optarg as a number, or several (how many there are); exit 2 naming the option when it is not one, or not in range. */
int64_t cli_integer(const char *option, int64_t least, int64_t most);
double cli_real(const char *option, double least, double most);
int cli_integers(
    const char *option, int64_t least, int64_t most, int64_t *to, int room); /* 1,5,50 */
int64_t cli_bytes(const char *option); /* 512M, 2G, 100000 */

int cli_threads(void); /* of CLI_THREADS: 1 to 4096 */
int cli_level(void);   /* of CLI_LEVEL: 0 to 19 */

#endif
