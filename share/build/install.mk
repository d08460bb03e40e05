# install.mk - install, uninstall, and a Debian package
BASH_COMPLETION = share/bash-completion/completions
ZSH_COMPLETION  = share/zsh/site-functions
PAGES   := $(wildcard man/*.[1-8])
# the models to install
SHIPPED  = $(wildcard share/models/*)
ROOT     = $(DESTDIR)$(PREFIX)
# the folders that install made; uninstall removes them if they are empty
CREATED  = $(ROOT)/share/motes/folders
FOLDERS  = share/motes share/motes/models bin share/man/man1 share/man/man5 share/man/man7 $(BASH_COMPLETION) $(ZSH_COMPLETION)

## install   to PREFIX=/usr/local, below DESTDIR; make uninstall removes it
install: all
	made=$$(LC_ALL=C install -dv $(addprefix $(ROOT)/,$(FOLDERS)) | \
		sed -n "s#^install: creating directory '$(DESTDIR)\(.*\)'#\1#p"); \
		[ -z "$$made" ] || echo "$$made" >>$(CREATED)
	install $(PROGRAMS) $(ROOT)/bin
	$(foreach page,$(PAGES),install -m 644 $(page) $(ROOT)/share/man/man$(subst .,,$(suffix $(page)));)
	sed -i 's#/usr/local/share#$(PREFIX)/share#' $(ROOT)/share/man/man7/motes-tutorial.7 $(ROOT)/share/man/man7/motes-cookbook.7
	cp -r $(wildcard pipelines share/recipes share/examples share/cluster share/python share/*.yaml share/*.tsv share/*.sh) $(ROOT)/share/motes
	$(if $(SHIPPED),cp -r $(SHIPPED) $(ROOT)/share/motes/models)
	sed 's/PROGRAMS/$(TOOLS)/' share/completion/motes.bash | tee $(TOOLS:%=$(ROOT)/$(BASH_COMPLETION)/%.bash) >/dev/null
	sed 's/PROGRAMS/$(TOOLS)/' share/completion/motes.zsh >$(ROOT)/$(ZSH_COMPLETION)/_motes

uninstall:
	made=$$(tac $(CREATED) 2>/dev/null || true); \
	rm -f $(TOOLS:%=$(ROOT)/bin/%) \
		$(foreach page,$(PAGES),$(ROOT)/share/man/man$(subst .,,$(suffix $(page)))/$(notdir $(page))) \
		$(TOOLS:%=$(ROOT)/$(BASH_COMPLETION)/%.bash) $(ROOT)/$(ZSH_COMPLETION)/_motes; \
	rm -rf $(ROOT)/share/motes; \
	while IFS= read -r folder; do \
		[ -z "$$folder" -o ! -d "$(DESTDIR)$$folder" ] || \
			rmdir --ignore-fail-on-non-empty "$(DESTDIR)$$folder"; \
	done <<<"$$made"

## deb       a Debian package, build/motes_*.deb, for every x86-64 (share/deps deb; DEB=dir instead of build)
deb:
	+share/deb $(DEB)
.PHONY: install uninstall deb
