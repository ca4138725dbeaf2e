// A module of a made-up MPI that finds no other rank. FAKE_VERSION is that of the interface, negative for a library
// that is no module.
#include <cstring>

#include "parallel/mpi_module.h"

namespace {

const char* start(headscope::mpi::Place* place) {
    place->size = 1;
    std::strcpy(place->library, "Fake MPI 1.0");
    return nullptr;
}

const char* end() {
    return nullptr;
}

constexpr headscope::mpi::Module kModule{.version = FAKE_VERSION,
                                         .name = "MPICH",
                                         .start = start,
                                         .send = nullptr,
                                         .receive = nullptr,
                                         .test = nullptr,
                                         .cancel = nullptr,
                                         .end = end,
                                         .abort = nullptr};

}  // namespace

#if FAKE_VERSION >= 0
extern "C" const headscope::mpi::Module* headscope_mpi_module() {
    return &kModule;
}
#else
extern "C" const void* headscope_other_entry() {
    return &kModule;
}
#endif
