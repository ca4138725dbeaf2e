// A library like libnccl.so.2 for the emulated devices of one process, whose ranks are threads. Sends are copied when
// their stream gets there, and a receive waits in its stream until the other rank's send has. From the environment:
//   HEADSCOPE_EMULATION_NCCL_FAILS    "FUNCTION RANK": it fails on that rank. "after 1": rank 1 fails after it enqueued
//   HEADSCOPE_EMULATION_NCCL_VERSION  22809 (2.28.9) if not set
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "backends/cuda/nccl.h"
#include "emulator.h"

namespace {

using headscope::cuda::NcclId;
using headscope::cuda::NcclResult;

constexpr NcclResult kSuccess = 0;
constexpr NcclResult kSystemError = 2;
constexpr NcclResult kInternalError = 3;
constexpr NcclResult kInvalidUsage = 5;
constexpr NcclResult kRemoteError = 6;

// What the ranks of one invitation share.
struct World {
    std::mutex mutex;
    std::condition_variable changed;
    int joined = 0;
    bool broken = false;                                                       // a rank failed or aborted
    std::map<std::pair<int, int>, std::deque<std::vector<std::byte>>> on_way;  // by sender and receiver
};

struct Rank {
    std::shared_ptr<World> world;
    int number = 0;
    bool aborted = false;
    NcclResult failure = kSuccess;
};

struct Transfer {
    bool send = false;
    const void* from = nullptr;
    void* to = nullptr;
    std::size_t bytes = 0;
    int peer = 0;
    bool done = false;
};

struct Group {
    bool open = false;
    bool failed = false;
    std::shared_ptr<Rank> rank;
    cudaStream_t stream = nullptr;
    std::vector<Transfer> transfers;
};

thread_local Group group;
thread_local int number_of_thread = -1;  // until it is a rank's
thread_local std::string last_error;

std::map<std::string, std::shared_ptr<World>>& worlds() {
    static std::map<std::string, std::shared_ptr<World>> all;
    return all;
}

std::mutex worlds_mutex;

bool fails(const std::string& function) {
    const char* text = std::getenv("HEADSCOPE_EMULATION_NCCL_FAILS");
    std::istringstream wanted(text == nullptr ? "" : text);
    std::string name;
    int number = 0;
    wanted >> name >> number;
    const bool found = name == function && (number_of_thread < 0 || number_of_thread == number);
    if (found) {
        last_error = "the emulator lets " + function + " fail";
    }
    return found;
}

// Sends what was not sent and takes what has arrived.
cudaError_t move(Rank& rank, std::vector<Transfer>& transfers) {
    const std::lock_guard lock(rank.world->mutex);
    bool done = true;
    for (Transfer& transfer : transfers) {
        if (transfer.done || rank.aborted) {
            continue;
        }
        if (transfer.send) {
            const auto* first = static_cast<const std::byte*>(transfer.from);
            rank.world->on_way[{rank.number, transfer.peer}].emplace_back(first, first + transfer.bytes);
            transfer.done = true;
            continue;
        }
        auto& arrived = rank.world->on_way[{transfer.peer, rank.number}];
        if (arrived.empty()) {
            done = false;  // nor may a later one from there be taken
            break;
        }
        if (arrived.front().size() != transfer.bytes) {
            rank.failure = kInternalError;
        } else {
            std::memcpy(transfer.to, arrived.front().data(), transfer.bytes);
        }
        arrived.pop_front();
        transfer.done = true;
    }
    return done ? cudaSuccess : cudaErrorNotReady;
}

}  // namespace

struct ncclComm {
    std::shared_ptr<Rank> rank;
};

namespace {

NcclResult add(const char* function, const Transfer& transfer, ncclComm* connection, cudaStream_t stream) {
    if (!group.open) {
        return kInvalidUsage;
    }
    if (fails(function)) {
        group.failed = true;
        return kSystemError;
    }
    group.rank = connection->rank;
    group.stream = stream;
    group.transfers.push_back(transfer);
    return kSuccess;
}

}  // namespace

extern "C" {

NcclResult ncclGetVersion(int* version) {
    const char* text = std::getenv("HEADSCOPE_EMULATION_NCCL_VERSION");
    *version = text == nullptr ? 22809 : std::atoi(text);
    return fails("ncclGetVersion") ? kSystemError : kSuccess;
}

NcclResult ncclGetUniqueId(NcclId* id) {
    if (fails("ncclGetUniqueId")) {
        return kSystemError;
    }
    const std::lock_guard lock(worlds_mutex);
    *id = {};
    std::snprintf(id->bytes, sizeof id->bytes, "world %zu", worlds().size());
    worlds()[id->bytes] = std::make_shared<World>();
    return kSuccess;
}

// A rank that fails ends the wait of the others.
NcclResult ncclCommInitRank(ncclComm** connection, int size, NcclId id, int number) {
    std::shared_ptr<World> world;
    {
        const std::lock_guard lock(worlds_mutex);
        world = worlds().at(id.bytes);
    }
    number_of_thread = number;
    std::unique_lock lock(world->mutex);
    if (fails("ncclCommInitRank")) {
        world->broken = true;
        world->changed.notify_all();
        return kInvalidUsage;
    }
    ++world->joined;
    world->changed.notify_all();
    world->changed.wait(lock, [&] { return world->joined == size || world->broken; });
    if (world->joined < size) {
        lock.unlock();
        std::this_thread::sleep_for(std::chrono::milliseconds(300));  // sockets close some time after the failure
        last_error = "socket closed by a remote rank";
        return kRemoteError;
    }
    *connection = new ncclComm{std::make_shared<Rank>(Rank{.world = world, .number = number})};
    return kSuccess;
}

NcclResult ncclCommDestroy(ncclComm* connection) {
    number_of_thread = -1;
    delete connection;
    return fails("ncclCommDestroy") ? kSystemError : kSuccess;
}

// What waits in streams ends.
NcclResult ncclCommAbort(ncclComm* connection) {
    if (group.open) {
        std::fputs("nccl emulation: within a group the real one would not abort yet\n", stderr);
        std::abort();
    }
    {
        const std::lock_guard lock(connection->rank->world->mutex);
        connection->rank->aborted = true;
        connection->rank->world->broken = true;
    }
    number_of_thread = -1;
    delete connection;
    return fails("ncclCommAbort") ? kSystemError : kSuccess;
}

NcclResult ncclCommGetAsyncError(ncclComm* connection, NcclResult* asynchronous) {
    if (fails("ncclCommGetAsyncError")) {
        return kSystemError;
    }
    const std::lock_guard lock(connection->rank->world->mutex);
    *asynchronous = fails("after")                    ? kSystemError
                    : connection->rank->world->broken ? kRemoteError
                                                      : connection->rank->failure;
    return kSuccess;
}

NcclResult ncclGroupStart() {
    if (fails("ncclGroupStart")) {
        return kSystemError;
    }
    group = {};
    group.open = true;
    return kSuccess;
}

NcclResult ncclGroupEnd() {
    const Group ended = std::exchange(group, {});
    if (!ended.open || ended.failed) {
        return kInvalidUsage;
    }
    if (fails("ncclGroupEnd")) {
        return kSystemError;
    }
    if (ended.stream != nullptr) {
        ended.stream->queue.push_back([rank = ended.rank, transfers = std::make_shared<std::vector<Transfer>>(
                                                              ended.transfers)] { return move(*rank, *transfers); });
        ++ended.stream->enqueued;
    }
    return kSuccess;
}

NcclResult ncclSend(const void* from, std::size_t count, int /*type*/, int peer, ncclComm* connection,
                    cudaStream_t stream) {
    return add("ncclSend", {.send = true, .from = from, .bytes = count, .peer = peer}, connection, stream);
}

NcclResult ncclRecv(void* to, std::size_t count, int /*type*/, int peer, ncclComm* connection, cudaStream_t stream) {
    return add("ncclRecv", {.to = to, .bytes = count, .peer = peer}, connection, stream);
}

const char* ncclGetErrorString(NcclResult result) {
    switch (result) {
        case kSystemError: return "unhandled system error";
        case kInternalError: return "internal error";
        case kInvalidUsage: return "invalid usage";
        case kRemoteError: return "remote process exited or there was a network error";
        default: return "unknown result code";
    }
}

const char* ncclGetLastError(ncclComm* /*connection*/) {
    return last_error.c_str();
}

}  // extern "C"
