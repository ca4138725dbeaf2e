// The interface between the program and an MPI module, libheadscope_mpi_openmpi.so or libheadscope_mpi_mpich.so: the
// same code, built with each of the two ABIs that MPI has. The program opens one at run time and needs no MPI itself.
// It carries bytes between ranks; what they mean is known in mpi_communicator.h. Plain C types only, so that a module
// built with another compiler fits.
#pragma once

#include <cstddef>

namespace headscope::mpi {

// Messages of one channel arrive in the order in which they were sent, rank by rank.
enum Channel : int { Data, Control };

constexpr int kAny = -1;  // a rank or a tag

// A message under way. The module knows what it is.
struct Request {
    void* handle = nullptr;
};

// What a test found. `from`, `tag` and `bytes` are those of a message that was received.
struct Arrival {
    int done = 0;
    int from = 0;
    int tag = 0;
    int bytes = 0;
};

struct Place {
    int rank = 0;
    int size = 0;
    int local_rank = 0;  // among the ranks of this host
    int local_size = 0;
    char host[256] = {};
    char library[256] = {};  // "Open MPI v4.1.4, ..."
};

// Every module exports a function of this name and type. Its result lives as long as the module. Functions with a text
// return null, or what failed, which is valid until the next call. One thread calls them.
struct Module {
    int version;       // kModuleVersion, compared before anything else is read
    const char* name;  // "Open MPI" or "MPICH"

    // Starts MPI, which may take long and cannot be repeated.
    const char* (*start)(Place* place);
    // The bytes must stay until the request is done. With `until_read` that is when the other rank has received them.
    const char* (*send)(int channel, int to, int tag, const void* bytes, int count, int until_read, Request* request);
    const char* (*receive)(int channel, int from, int tag, void* bytes, int most, Request* request);
    const char* (*test)(Request* request, Arrival* arrival);
    const char* (*cancel)(Request* request);  // of a receive that nothing has arrived for
    // All ranks call it, once all else is done. Kills the process if MPI does not end within 15 s.
    const char* (*end)();
    void (*abort)(int code);  // ends all ranks, and never returns
};

constexpr int kModuleVersion = 1;
using ModuleEntry = const Module* (*)();
constexpr const char* kModuleEntry = "headscope_mpi_module";

}  // namespace headscope::mpi
