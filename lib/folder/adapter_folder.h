/*
 * adapter_folder - a folder that holds a LoRA adapter (model/adapter.h) instead of a model.
 *
 * PEFT and sentence-transformers write adapter_config.json and the adapter's tensors, without the model; its name or
 * folder is "base_model_name_or_path" there.  The files are in the transformer's folder, which modules.json names.
 */
#ifndef FOLDER_ADAPTER_FOLDER_H
#define FOLDER_ADAPTER_FOLDER_H

/* The folder of the adapter's base model, to be freed; `dir` itself if it also holds the model.  NULL: there is no
 * adapter.  Dies if the base model is not found. */
char *adapter_folder_base(const char *dir);

/* Dies if `dir` has an adapter and no model; for programs that change or train a model. */
void adapter_folder_refuse(const char *dir);

#endif
