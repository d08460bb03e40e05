/*
 * model_folder - the folder that a model's name stands for.
 *
 * A path is itself.  "ORG/NAME", where no such path is, is the model of that name on the Hugging
 * Face Hub, "ORG/NAME@REVISION" a branch, tag or commit of it, where it lies in the local cache:
 * $HF_HUB_CACHE, else $HF_HOME/hub, else $XDG_CACHE_HOME/huggingface/hub, else
 * ~/.cache/huggingface/hub.  Nothing is downloaded.
 */
#ifndef FOLDER_MODEL_FOLDER_H
#define FOLDER_MODEL_FOLDER_H

/*
 * NULL stands for what $MOTES_MODEL names; without that, a usage fault: no model is given.  Dies,
 * naming the command that downloads it, where a name is neither a path nor in the cache, or is that of a known model
 * (share/known-models.tsv) without its owner's; whether the
 * folder holds a model is not looked at.  To be freed.
 */
char *model_folder(const char *name);

/* The same of a name, without dying: NULL where there is no such folder. */
char *model_folder_find(const char *name);

#endif
