// An MPI module: each function of src/parallel/mpi_module.h in terms of MPI. The only file that includes mpi.h.
#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstring>

#include "parallel/mpi_module.h"

namespace headscope::mpi {

namespace {

#ifdef OPEN_MPI
constexpr const char* kName = "Open MPI";
#else
constexpr const char* kName = "MPICH";
#endif

MPI_Comm channels[2];  // made by start()
char failure[MPI_MAX_ERROR_STRING + 64];

const char* failed(const char* what, int code) {
    char text[MPI_MAX_ERROR_STRING + 1] = {};
    int length = 0;
    MPI_Error_string(code, text, &length);
    std::snprintf(failure, sizeof failure, "%s: %s", what, text);
    return failure;
}

const char* result_of(const char* what, int code) {
    return code == MPI_SUCCESS ? nullptr : failed(what, code);
}

// Handles are numbers in MPICH and pointers in Open MPI.
static_assert(sizeof(MPI_Request) <= sizeof(void*));

void keep(MPI_Request handle, Request& request) {
    std::memcpy(&request.handle, &handle, sizeof handle);
}

MPI_Request handle_of(const Request& request) {
    MPI_Request handle = MPI_REQUEST_NULL;
    std::memcpy(&handle, &request.handle, sizeof handle);
    return handle;
}

template <std::size_t N>
void copy_line(const char* from, char (&to)[N]) {
    const std::size_t length = std::min(std::strcspn(from, "\n"), N - 1);
    std::memcpy(to, from, length);
    to[length] = '\0';
}

const char* start(Place* place) {
    int threads = 0;
    if (const int code = MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &threads); code != MPI_SUCCESS) {
        return failed("MPI_Init_thread", code);
    }
    if (threads < MPI_THREAD_FUNNELED) {
        return "this MPI cannot be used by programs with threads: it was built without MPI_THREAD_FUNNELED";
    }
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_rank(MPI_COMM_WORLD, &place->rank);
    MPI_Comm_size(MPI_COMM_WORLD, &place->size);
    for (MPI_Comm& channel : channels) {
        if (const int code = MPI_Comm_dup(MPI_COMM_WORLD, &channel); code != MPI_SUCCESS) {
            return failed("MPI_Comm_dup", code);
        }
    }
    MPI_Comm neighbours = MPI_COMM_NULL;
    if (const int code =
            MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, place->rank, MPI_INFO_NULL, &neighbours);
        code != MPI_SUCCESS) {
        return failed("MPI_Comm_split_type", code);
    }
    MPI_Comm_rank(neighbours, &place->local_rank);
    MPI_Comm_size(neighbours, &place->local_size);
    MPI_Comm_free(&neighbours);
    char name[MPI_MAX_PROCESSOR_NAME + 1] = {};
    int length = 0;
    MPI_Get_processor_name(name, &length);
    copy_line(name, place->host);
    char version[MPI_MAX_LIBRARY_VERSION_STRING + 1] = {};
    MPI_Get_library_version(version, &length);
    copy_line(version, place->library);
    return nullptr;
}

const char* send(int channel, int to, int tag, const void* bytes, int count, int until_read, Request* request) {
    MPI_Request handle = MPI_REQUEST_NULL;
    const auto begin = until_read != 0 ? MPI_Issend : MPI_Isend;
    const int code = begin(bytes, count, MPI_BYTE, to, tag, channels[channel], &handle);
    keep(handle, *request);
    return result_of("MPI_Isend", code);
}

const char* receive(int channel, int from, int tag, void* bytes, int most, Request* request) {
    MPI_Request handle = MPI_REQUEST_NULL;
    const int code = MPI_Irecv(bytes, most, MPI_BYTE, from == kAny ? MPI_ANY_SOURCE : from,
                               tag == kAny ? MPI_ANY_TAG : tag, channels[channel], &handle);
    keep(handle, *request);
    return result_of("MPI_Irecv", code);
}

const char* test(Request* request, Arrival* arrival) {
    MPI_Request handle = handle_of(*request);
    MPI_Status status = {};
    const int code = MPI_Test(&handle, &arrival->done, &status);
    if (code == MPI_SUCCESS && arrival->done != 0) {
        arrival->from = status.MPI_SOURCE;
        arrival->tag = status.MPI_TAG;
        MPI_Get_count(&status, MPI_BYTE, &arrival->bytes);
    }
    keep(handle, *request);
    return result_of("MPI_Test", code);
}

const char* cancel(Request* request) {
    MPI_Request handle = handle_of(*request);
    int code = MPI_Cancel(&handle);
    if (code == MPI_SUCCESS) {
        code = MPI_Wait(&handle, MPI_STATUS_IGNORE);  // at once, as nothing has arrived
    }
    return result_of("MPI_Cancel", code);
}

// Kills this process if MPI hangs in its last call, as with a host that has gone.
void limit(unsigned seconds) {
    std::signal(SIGALRM, SIG_DFL);
    ::alarm(seconds);
}

// MPICH 4.0 over TCP often hangs if ranks of different hosts close their connections at the same time, so the last rank
// comes first. It hangs once in a while all the same, and is killed then.
const char* end() {
    constexpr unsigned kMost = 15;
    constexpr int kTurn = 100'000;  // microseconds
    constexpr int kAllTurns = 2'000'000;
    int rank = 0;
    int size = 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    std::fflush(nullptr);
    limit(kMost);
    MPI_Barrier(MPI_COMM_WORLD);
    ::usleep(static_cast<useconds_t>(std::min(kTurn, kAllTurns / size) * (size - 1 - rank)));
    const int code = MPI_Finalize();
    ::alarm(0);
    return code == MPI_SUCCESS ? nullptr : "MPI_Finalize failed";
}

void abort(int code) {
    constexpr unsigned kMost = 3;
    limit(kMost);
    MPI_Abort(MPI_COMM_WORLD, code);
    ::_exit(code);
}

constexpr Module kModule{.version = kModuleVersion,
                         .name = kName,
                         .start = start,
                         .send = send,
                         .receive = receive,
                         .test = test,
                         .cancel = cancel,
                         .end = end,
                         .abort = abort};

}  // namespace

}  // namespace headscope::mpi

extern "C" __attribute__((visibility("default"))) const headscope::mpi::Module* headscope_mpi_module() {
    return &headscope::mpi::kModule;
}
