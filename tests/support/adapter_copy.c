/* adapter_copy FROM TO - read a LoRA adapter of one rank and write it again. */
#include <stdlib.h>
#include <unistd.h>

#include "base/cli.h"
#include "base/err.h"
#include "base/mem.h"
#include "folder/folder.h"
#include "model/adapter.h"

int
main(int argc, char **argv)
{
	static const struct cli_option options[] = { { 0 } };
	static const struct cli cli = { "adapter_copy", "copy an adapter", "FROM TO",
		options, NULL, NULL, NULL, NULL };
	static const char *const targets[] = { "query", "value" };

	cli_start(&cli, argc, argv);
	while (cli_next(&cli, argc, argv, NULL) != -1)
		;
	if (argc - optind != 2)
		die_usage("two folders are needed");
	struct adapter *adapter = adapter_open(argv[optind]);
	int count = adapter_count(adapter);
	const struct adapter_pair *first = adapter_at(adapter, 0);
	struct adapter_settings settings = { .rank = (int)first->rank,
		.alpha = first->scale * (double)first->rank,
		.base = "bert",
		.targets = targets,
		.target_count = 2 };
	struct safetensor *tensors = mem_new(2 * (size_t)count, sizeof *tensors);
	for (int i = 0; i < count; i++) {
		const struct adapter_pair *pair = adapter_at(adapter, i);
		char *weight = mem_format("%s.weight", pair->module);
		tensors[2 * i] = *pair->a;
		tensors[2 * i + 1] = *pair->b;
		tensors[2 * i].name = adapter_tensor(weight, 'A');
		tensors[2 * i + 1].name = adapter_tensor(weight, 'B');
		free(weight);
	}
	char *folder = folder_begin(argv[optind + 1]);
	adapter_write(folder, &settings, tensors, 2 * count);
	folder_commit(folder, argv[optind + 1]);
	for (int i = 0; i < 2 * count; i++)
		free((char *)tensors[i].name);
	free(tensors);
	adapter_close(adapter);
	return 0;
}
