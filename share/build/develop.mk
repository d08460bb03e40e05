# develop.mk - checks of the source, compile_commands.json, mutants, refused system calls, power losses, timing

## lint      layout of C files, man pages, shell scripts (share/deps lint)
lint:
	tests/lint

## compile_commands  write build/compile_commands.json, which tells clangd how each file is compiled
compile_commands:
	@mkdir -p build
	$(MAKE) -nB --no-print-directory CCACHE= all $(HELPERS:%=$B/support/%) $(SHIMMED) | awk -v folder='$(CURDIR)' ' \
		/ -c -o / { file = $$NF; gsub(/["\\]/, "\\\\&"); \
			printf "%s{\"directory\": \"%s\", \"file\": \"%s\", \"command\": \"%s\"}", n++ ? ",\n" : "[\n", folder, file, $$0 } \
		END { print "\n]" }' >build/compile_commands.json

## mutate    change FILES= one thing at a time and list the changes that no test notices (N=40 SEED=1 TESTS=a.bats,b.bats AGAIN=its output)
mutate:
	tests/mutate -n $(or $(N),40) -s $(or $(SEED),1) $(TESTS:%=-t %) $(AGAIN:%=-a %) $(FILES)

## refuse    let one system call at a time fail and list lost results and missing messages (NAMES="train index")
refuse: all
	tests/refuse -b $B $(NAMES)

## powerloss let the power fail after each step on the disk and list what is lost or half written (NAMES="train index")
powerloss: all
	tests/powerloss -b $B $(NAMES)

## bench     time the programs beside their peers (PEER_PYTHON=: a Python with the peers' packages)
bench: all helpers $(TEXT)/corpus.txt
	tests/bench/run $B

## bench-peers  install the peers from PyPI into the virtual environment PEERS=dir (build/peers)
PEERS = build/peers
bench-peers:
	python3 -m venv $(PEERS)
	$(PEERS)/bin/pip install -q torch transformers sentence-transformers mteb scikit-learn scipy peft safetensors onnx onnxruntime openvino nncf faiss-cpu usearch datasets accelerate
	@echo 'now: make bench PEER_PYTHON=$(PEERS)/bin/python'
.PHONY: lint compile_commands mutate refuse powerloss bench bench-peers
