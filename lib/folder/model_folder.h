/*
 * model_folder - finds the folder of a model by its path or name.
 *
 * If no such path exists, ORG/NAME or ORG/NAME@REVISION (a branch, tag or commit) names a model of the Hugging Face
 * Hub, in the local cache: $HF_HUB_CACHE, else $HF_HOME/hub, else $XDG_CACHE_HOME/huggingface/hub, else
 * ~/.cache/huggingface/hub.  Nothing is downloaded.
 */
#ifndef FOLDER_MODEL_FOLDER_H
#define FOLDER_MODEL_FOLDER_H

/*
 * Returns the folder, to be freed.  name NULL: $MOTES_MODEL; usage error if that is not set.  Dies if the name is
 * neither a path nor in the cache; the message has the command that downloads the model, or the full name of a known
 * model (share/known-models.tsv) whose owner is missing.  Does not check whether the folder contains a model.
 */
char *model_folder(const char *name);

/* As model_folder, but returns NULL if there is no such folder. */
char *model_folder_find(const char *name);

/* In a folder of the Hub's cache, of a model or of a data set: the folder of a revision, to be freed, or NULL.  Its refs/ map
 * branches and tags to commits. */
char *model_folder_snapshot(const char *model, const char *revision);

#endif
