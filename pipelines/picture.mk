# picture.mk - the log of a training run as a picture: loss, scores of the held-out data and learning rate by step
#	make picture LOG=tuned.log.tsv
# It is drawn by gnuplot into tuned.log.svg, or into PICTURE=FILE.
PICTURE ?= $(LOG:.tsv=).svg

## picture  the log of train as a picture: LOG=tuned.log.tsv makes tuned.log.svg
.PHONY: picture
picture:
	@[ -n "$(LOG)" ] || { echo 'picture: LOG= is missing: the log of train, DIR.log.tsv' >&2; exit 2; }
	@[ "$$(head -c 11 "$(LOG)")" = $$'step\tepoch\t' ] || { echo 'picture: $(LOG): is not a log of train' >&2; exit 1; }
	@[ "$$(wc -l < "$(LOG)")" -gt 1 ] || { echo 'picture: $(LOG): has no step yet' >&2; exit 1; }
	gnuplot -e "log='$(LOG)'" $(PIPELINES)/log.gnuplot > "$(PICTURE)"
