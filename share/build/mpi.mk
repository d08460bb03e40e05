# mpi.mk - train with MPI, in build/cpu/mpi/bin: MPI=1 builds and installs it (share/deps mpi); the tests need it if mpicc is installed,
# but not under the sanitizers, which report MPI's memory as leaked
RANKED  := $(if $(SANITIZE)$(FUZZ)$(CROSS),,$B/mpi/bin/train)
PROGRAMS += $(if $(MPI),$(RANKED))
TESTED  += $(if $(call on_path,mpicc),$(RANKED))
$(if $(MPI),$(if $(call on_path,mpicc),,$(error there is no mpicc; share/deps mpi installs it)))

$B/lib/ranks/mpi.o: own_cppflags += $(shell mpicc --showme:compile)
# mpi.o is linked before the library and replaces lib/ranks/single.c
$B/mpi/bin/%: $B/tools/%.o $B/lib/ranks/mpi.o $B/libmotes.a
	$(link) $(shell mpicc --showme:link)
