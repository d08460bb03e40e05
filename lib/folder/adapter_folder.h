/*
 * adapter_folder - a folder of a LoRA adapter (model/adapter.h) in the place of a model's.
 *
 * PEFT and sentence-transformers write adapter_config.json and the adapter's tensors, without the model: its name or
 * folder is "base_model_name_or_path".  The transformer's folder counts, as modules.json names it.
 */
#ifndef FOLDER_ADAPTER_FOLDER_H
#define FOLDER_ADAPTER_FOLDER_H

/* The folder of the model that the adapter in `dir` stands beside: `dir` itself where it has that model, too.  To be
 * freed.  NULL: there is no adapter.  Dies where the model is not found. */
char *adapter_folder_base(const char *dir);

/* Die where `dir` has an adapter and no model: it is to be changed, or learns. */
void adapter_folder_refuse(const char *dir);

#endif
