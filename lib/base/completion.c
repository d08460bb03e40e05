#include "base/completion.h"

#include <stdio.h>
#include <string.h>

#include "base/help.h"

static void
print_options(const char *kind, const struct cli_option *option)
{
	for (; option->name; option++) {
		if (option->letter == CLI_HEADING)
			continue;
		printf("%s\t--%s\t%c%.*s\t%s\t%.*s\n", kind, option->name, '-',
		    option->letter && option->letter < CLI_LONG,
		    &(char){ (char)option->letter },
		    option->argument ? option->argument : "-",
		    (int)strcspn(option->help, "\n"), option->help);
	}
}

/* Lines of "KINDS", or "COMMAND: KINDS". */
static void
print_operands(const char *text)
{
	while (text && *text) {
		int length = (int)strcspn(text, "\n"), name = (int)strcspn(text, ":\n");
		if (name < length)
			printf("operands\t%.*s\t%.*s\n", name, text, length - name - 2,
			    text + name + 2);
		else
			printf("operands\t-\t%.*s\n", length, text);
		text += length + (text[length] != 0);
	}
}

void
completion_print(const struct cli *cli)
{
	print_options("option", cli->options);
	print_options("common", help_common);
	for (const struct cli_command *c = cli->commands; c && c->name; c++)
		printf("command\t%s\t%s\t%s\n", c->name, *c->options ? c->options : "-",
		    c->purpose);
	print_operands(cli->operands);
}
