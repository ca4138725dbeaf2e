// Ranks as threads with a device each, which send each other memory by an emulated NCCL.
#include <catch2/catch.hpp>

#include <atomic>
#include <cmath>
#include <mutex>
#include <set>

#include "backend/forwarding_backend.h"
#include "backends/cuda/cuda_backend.h"
#include "parallel/sharded_sum.h"
#include "support/random.h"
#include "tests/parallel/threads.h"
#include "tests/support/variable.h"

using namespace headscope;
using namespace headscope::cuda;
using Catch::Matchers::Contains;

namespace {

constexpr std::int64_t kElements = 16 * 301;
constexpr int kShards = 4;

std::vector<float> gradient_of(int shard, int step) {
    Random random(static_cast<std::uint64_t>(shard * 10 + step) + 1);
    std::vector<float> values(kElements);
    for (float& value : values) {
        value = static_cast<float>((random.uniform() - 0.5) * std::exp2(random.below(20)));
    }
    return values;
}

struct Sums {
    std::vector<std::vector<float>> shared;  // by rank: the whole sum of the last step
    std::set<std::string> said;
    std::vector<std::string> failures;  // by rank

    // What is told of a failure: once, by the ranks that have more to say than that another has failed.
    std::set<std::string> told() const {
        std::set<std::string> all(failures.begin(), failures.end());
        all.erase("another rank failed");
        return all;
    }
};

// The sums of three steps' shards. `library`: HEADSCOPE_CUDA_NCCL.
Sums sums_of(int count, const std::string& library = HEADSCOPE_EMULATED_NCCL) {
    Sums found;
    found.shared.resize(static_cast<std::size_t>(count));
    std::mutex writing;
    found.failures = on_ranks(count, [&](Communicator& ranks) {
        ranks.introduce("cuda:" + std::to_string(ranks.rank()));
        CudaBackend backend(ranks.rank(), {.nccl = library});
        const Tensor flat = backend.empty({kElements}, DType::F32);
        ShardedSum sum(backend, flat, kShards, ranks);
        const std::string said = sum.connect();
        {
            const std::lock_guard lock(writing);
            found.said.insert(said);
        }
        for (int step = 0; step < 3; ++step) {
            sum.begin();
            for (int shard = sum.mine().first; shard < sum.mine().end; ++shard) {
                from_host(backend, flat, gradient_of(shard, step));
                sum.add(shard);
            }
            sum.reduce();
            sum.share(flat);
        }
        found.shared[static_cast<std::size_t>(ranks.rank())] = to_host<float>(backend, flat);
    });
    return found;
}

std::string joined(const std::set<std::string>& lines) {
    std::string text;
    for (const std::string& line : lines) {
        text += line + "\n";
    }
    return text;
}

}  // namespace

TEST_CASE("GPUs send each other gradients, whose sums have the bits of those through host memory", "[collectives]") {
    const int count = GENERATE(2, 3, 4);
    const std::vector<float> one = sums_of(1).shared[0];
    const Sums host = sums_of(count, "0");
    CHECK(host.failures == std::vector<std::string>(static_cast<std::size_t>(count)));
    CHECK_THAT(joined(host.said), Contains("gradients go through the host's memory: rank 0 (cuda:0): "
                                           "HEADSCOPE_CUDA_NCCL=0 switches NCCL off"));
    const Sums found = sums_of(count);
    CHECK(found.failures == std::vector<std::string>(static_cast<std::size_t>(count)));
    CHECK(joined(found.said) == "gradients go from GPU to GPU by NCCL 2.28.9\n");
    for (const Sums& sums : {host, found}) {
        for (const std::vector<float>& of_rank : sums.shared) {
            CHECK(of_rank == one);
        }
    }
}

TEST_CASE("one rank says nothing of ways", "[collectives]") {
    CHECK(joined(sums_of(1).said) == "\n");
}

TEST_CASE("ranks that NCCL cannot connect send through host memory and say why", "[collectives]") {
    std::string library = HEADSCOPE_EMULATED_NCCL;
    std::optional<std::string> fails, version, one_gpu;
    std::string reason;
    SECTION("no library") {
        library = "libnccl-of-nobody.so.2";
        reason = "rank 0 (cuda:0): cannot open NCCL (libnccl-of-nobody.so.2: ";
    }
    SECTION("another library") {
        library = "libm.so.6";
        reason = "'libm.so.6' is no NCCL; expected NCCL 2.7 or newer, which has ncclGetVersion";
    }
    SECTION("an old one") {
        version = "2604";
        reason = "is NCCL 2.6.4; expected NCCL 2.7 or newer: install it";
    }
    SECTION("two ranks on a GPU") {
        one_gpu = "1";
        reason = "rank 0 (cuda:0) and rank 1 (cuda:1) share a GPU";
    }
    SECTION("ncclGetVersion") {
        fails = "ncclGetVersion 0";
        reason = "does not tell its version (ncclGetVersion: unhandled system error)";
    }
    SECTION("ncclGetUniqueId") {
        fails = "ncclGetUniqueId 0";
        reason = "rank 0 (cuda:0): NCCL failed: ncclGetUniqueId says 2 (unhandled system error)";
    }
    const Variable failing("HEADSCOPE_EMULATION_NCCL_FAILS", fails);
    const Variable versioned("HEADSCOPE_EMULATION_NCCL_VERSION", version);
    const Variable sharing("HEADSCOPE_EMULATION_ONE_GPU", one_gpu);
    const Sums found = sums_of(2, library);
    CHECK(found.failures == std::vector<std::string>(2));
    CHECK(found.said.size() == 1);
    CHECK_THAT(joined(found.said), Contains("gradients go through the host's memory: ") && Contains(reason));
    CHECK_THAT(joined(found.said), !Contains("HEADSCOPE_CUDA_NCCL; rank 1"));  // a reason that both have is told once
    CHECK(found.shared[1] == sums_of(1, "0").shared[0]);
}

TEST_CASE("a rank that NCCL cannot connect ends the others, which wait for it", "[collectives]") {
    const int rank = GENERATE(0, 1);
    const Variable failing("HEADSCOPE_EMULATION_NCCL_FAILS", "ncclCommInitRank " + std::to_string(rank));
    const Sums found = sums_of(2);
    CHECK_THAT(found.failures[static_cast<std::size_t>(rank)],
               Contains("NCCL failed: ncclCommInitRank says 5 (invalid usage)") && Contains("HEADSCOPE_CUDA_NCCL=0"));
    CHECK(found.failures[static_cast<std::size_t>(1 - rank)] == "another rank failed");
}

TEST_CASE("an exchange that does not end is an error", "[collectives]") {
    std::atomic<bool> over{false};
    const std::vector<std::string> failures = on_ranks(
        2,
        [&](Communicator& ranks) {
            CudaBackend backend(ranks.rank(), {.nccl = HEADSCOPE_EMULATED_NCCL});
            const Tensor flat = backend.empty({kElements}, DType::F32);
            ShardedSum sum(backend, flat, 2, ranks);
            HEADSCOPE_CHECK(sum.connect().ends_with("by NCCL 2.28.9"), "they are connected");
            sum.begin();
            from_host(backend, flat, gradient_of(ranks.rank(), 0));
            sum.add(ranks.rank());
            if (ranks.rank() == 1) {
                ranks.meet();
                while (!over) {
                    std::this_thread::sleep_for(std::chrono::milliseconds(1));
                }
                return;
            }
            try {
                sum.reduce();
            } catch (...) {
                over = true;
                throw;
            }
        },
        1.0);
    CHECK_THAT(failures[0], Contains("NCCL 2.28.9 has not exchanged the gradients in 1 s") &&
                                Contains("HEADSCOPE_CUDA_NCCL=0 goes without NCCL"));
}

TEST_CASE("a call of NCCL that fails ends all ranks with one error", "[collectives]") {
    const int count = GENERATE(2, 4);
    const int rank = GENERATE(0, 1);
    const std::string function =
        GENERATE("ncclGroupStart", "ncclSend", "ncclRecv", "ncclGroupEnd", "ncclCommGetAsyncError", "after");
    CAPTURE(count, rank, function);
    const Variable failing("HEADSCOPE_EMULATION_NCCL_FAILS", function + " " + std::to_string(rank));
    const Sums found = sums_of(count);
    const std::string name = function == "after" ? "ncclSend or ncclRecv, after it was enqueued," : function;
    REQUIRE(found.told().size() == 1);
    CHECK_THAT(found.failures[static_cast<std::size_t>(rank)],
               Contains("NCCL failed: " + name + " says 2 (unhandled system error); the emulator lets " + function +
                        " fail. NCCL_DEBUG=INFO shows what it does; NCCL_SOCKET_IFNAME"));
    CHECK(std::count(found.failures.begin(), found.failures.end(), "another rank failed") == count - 1);
}

TEST_CASE("what NCCL says at the end is of no account", "[collectives]") {
    const Variable failing("HEADSCOPE_EMULATION_NCCL_FAILS", GENERATE("ncclCommDestroy 1", "ncclCommAbort 1"));
    CHECK(sums_of(2).failures == std::vector<std::string>(2));
}

TEST_CASE("a rank that ends without a word ends the wait of the others", "[collectives]") {
    std::vector<std::string> failures = on_ranks(2, [&](Communicator& ranks) {
        CudaBackend backend(ranks.rank(), {.nccl = HEADSCOPE_EMULATED_NCCL});
        const Connected connected = connect_devices(backend, ranks);
        const Tensor memory = backend.empty({4}, DType::F32);
        const std::vector<Collectives::Part> parts = {{1 - ranks.rank(), memory}};
        if (ranks.rank() == 1) {  // its connection is aborted
            connected.collectives->exchange({}, parts, [] { throw Error("gone"); });
        }
        connected.collectives->exchange({}, parts, [] {});
    });
    CHECK_THAT(failures[0], Contains("says 6 (remote process exited or there was a network error)"));
    CHECK(failures[1] == "gone");
}

TEST_CASE("a rank that hangs before it sends is named", "[collectives]") {
    std::atomic<bool> over{false};
    const std::vector<std::string> failures = on_ranks(
        2,
        [&](Communicator& ranks) {
            CudaBackend backend(ranks.rank(), {.nccl = HEADSCOPE_EMULATED_NCCL});
            const Tensor flat = backend.empty({kElements}, DType::F32);
            ShardedSum sum(backend, flat, 2, ranks);
            HEADSCOPE_CHECK(sum.connect().ends_with("by NCCL 2.28.9"), "they are connected");
            sum.begin();
            from_host(backend, flat, gradient_of(ranks.rank(), 0));
            sum.add(ranks.rank());
            if (ranks.rank() == 1) {
                ranks.announce("step 41");
                while (!over) {
                    std::this_thread::sleep_for(std::chrono::milliseconds(1));
                }
                return;
            }
            try {
                sum.reduce();
            } catch (...) {
                over = true;
                throw;
            }
        },
        2.0);
    CHECK_THAT(failures[0], Contains("rank 1 has not answered for 2 s; its last word: step 41"));
}

TEST_CASE("a rank whose device has no NCCL keeps all on host memory", "[collectives]") {
    class Without final : public ForwardingBackend {
    public:
        using ForwardingBackend::ForwardingBackend;
        Collectives* collectives() override { return nullptr; }
    };
    const int without = GENERATE(1, 2);  // of two ranks
    std::vector<std::string> said(2);
    require_on_ranks(2, [&](Communicator& ranks) {
        std::unique_ptr<Backend> backend =
            std::make_unique<CudaBackend>(ranks.rank(), CudaOptions{.nccl = HEADSCOPE_EMULATED_NCCL});
        if (ranks.rank() >= 2 - without) {
            backend = std::make_unique<Without>(std::move(backend));
        }
        const Connected connected = connect_devices(*backend, ranks);
        said[static_cast<std::size_t>(ranks.rank())] = connected.collectives == nullptr ? connected.said : "connected";
    });
    const std::string expected =
        without == 1 ? "gradients go through the host's memory: rank 1: its device has no NCCL" : "";
    CHECK(said == std::vector<std::string>(2, expected));
}

TEST_CASE("the setting names NCCL's library", "[collectives]") {
    OpenOptions options;
    CHECK(CudaOptions::from(options).nccl.empty());
    options.settings.set("HEADSCOPE_CUDA_NCCL", "/opt/nccl/libnccl.so.2");
    CHECK(CudaOptions::from(options).nccl == "/opt/nccl/libnccl.so.2");
}
