#include <catch2/catch.hpp>

#include <atomic>
#include <chrono>
#include <cstring>
#include <numeric>

#include "support/random.h"
#include "tests/parallel/threads.h"

using namespace headscope;

namespace {

std::vector<std::byte> message(int from, int to, std::size_t bytes) {
    std::vector<std::byte> data(bytes);
    Random random(static_cast<std::uint64_t>(from * 100 + to + 1));
    for (std::byte& byte : data) {
        byte = static_cast<std::byte>(random.below(256));
    }
    return data;
}

// Sizes around those of a pipe, and nothing at all.
std::size_t size_of_message(int from, int to, int round) {
    constexpr std::size_t kSizes[] = {0, 1, 100'000, (1U << 18U) - 1, 1U << 18U, (1U << 18U) + 1, 1'500'000};
    return kSizes[(from * 5 + to * 3 + round) % 7];
}

}  // namespace

TEST_CASE("ranks exchange messages of any size", "[communicator]") {
    const int count = GENERATE(1, 2, 3, 5);
    std::atomic<int> right{0};
    require_on_ranks(count, [&](Communicator& ranks) {
        for (int round = 0; round < 14; ++round) {
            const auto size = static_cast<std::size_t>(count);
            std::vector<std::vector<std::byte>> sent(size), got(size);
            std::vector<std::span<const std::byte>> out(size);
            std::vector<std::span<std::byte>> in(size);
            for (int other = 0; other < count; ++other) {
                const auto at = static_cast<std::size_t>(other);
                sent[at] = message(ranks.rank(), other, size_of_message(ranks.rank(), other, round));
                got[at].resize(size_of_message(other, ranks.rank(), round));
                out[at] = sent[at];
                in[at] = got[at];
            }
            ranks.exchange(out, in);
            for (int other = 0; other < count; ++other) {
                const auto at = static_cast<std::size_t>(other);
                right += got[at] == message(other, ranks.rank(), got[at].size()) ? 1 : 0;
            }
        }
    });
    CHECK(right == 14 * count * count);
}

TEST_CASE("ranks gather and broadcast texts", "[communicator]") {
    const int count = GENERATE(1, 2, 4);
    std::atomic<int> right{0};
    require_on_ranks(count, [&](Communicator& ranks) {
        const auto text = [](int rank) {
            return std::string(static_cast<std::size_t>(rank) * 100 + 20, static_cast<char>('a' + rank));
        };
        const std::vector<std::string> all = ranks.gather(text(ranks.rank()));
        for (int rank = 0; rank < count; ++rank) {
            right += all.at(static_cast<std::size_t>(rank)) == text(rank) ? 1 : 0;
        }
        right += ranks.broadcast(ranks.leads() ? std::string(1000, 'x') : "ignored") == std::string(1000, 'x') ? 1 : 0;
        right += ranks.broadcast(ranks.leads() ? "" : "ignored").empty() ? 1 : 0;
        ranks.introduce(ranks.leads() ? "cpu" : "vulkan:0");
        right += ranks.name_of(count - 1) ==
                         (count == 1 ? "rank 0 (cpu)" : "rank " + std::to_string(count - 1) + " (vulkan:0)")
                     ? 1
                     : 0;
    });
    CHECK(right == count * (count + 3));
}

TEST_CASE("the failure of a rank ends the others, which wait", "[communicator]") {
    const std::vector<std::string> failures = on_ranks(3, [](Communicator& ranks) {
        if (ranks.rank() == 1) {
            throw Error("the disk is full");
        }
        ranks.meet();
    });
    CHECK(failures == std::vector<std::string>{"another rank failed", "the disk is full", "another rank failed"});
}

TEST_CASE("a rank that waits for its device hears of a failure", "[communicator]") {
    const std::vector<std::string> failures = on_ranks(2, [](Communicator& ranks) {
        ranks.check();
        ranks.meet();
        if (ranks.rank() == 1) {
            throw Error("the disk is full");
        }
        for (int look = 0; look < 5000; ++look) {
            ranks.check();
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
    });
    CHECK(failures == std::vector<std::string>{"another rank failed", "the disk is full"});
}

TEST_CASE("rank 0's reason is told, or else the first one's", "[communicator]") {
    LocalGroup group(3);
    CHECK_FALSE(group.failure().has_value());
    group.fail({2, "first"});
    group.fail({1, "second"});
    CHECK(group.failure()->rank == 2);
    CHECK(group.failure()->reason == "first");
    group.fail({0, "third"});
    CHECK(group.failure()->rank == 0);
    CHECK(group.failure()->reason == "third");
}

TEST_CASE("a failure has the exit code of its rank", "[communicator]") {
    LocalGroup group(2);
    CHECK_FALSE(group.begun());
    group.begin();
    CHECK(group.begun());
    group.fail({1, "no such option", 2});
    CHECK(group.failure()->exit_code == 2);
    LocalGroup other(2);
    other.fail({0, "", 1});  // who ends without a word
    CHECK(other.failure()->rank == 0);
    CHECK(other.failure()->reason.empty());
}

TEST_CASE("a rank that does not answer is named with its last word", "[communicator]") {
    std::atomic<bool> over{false};
    const std::vector<std::string> failures = on_ranks(
        3,
        [&](Communicator& ranks) {
            ranks.introduce("cpu");
            if (ranks.rank() == 2) {
                ranks.announce("step 41");
                while (!over) {
                    std::this_thread::sleep_for(std::chrono::milliseconds(1));
                }
                return;
            }
            try {
                ranks.meet();
            } catch (...) {
                over = true;
                throw;
            }
        },
        0.3);
    const std::string& said = failures[0] == "another rank failed" ? failures[1] : failures[0];
    CHECK_THAT(said, Catch::Contains("rank 2 (cpu) has not answered for 0 s; its last word: step 41"));
}

TEST_CASE("a rank that has announced long work may take twelve times as long", "[communicator]") {
    require_on_ranks(1, [](Communicator&) {});
    const std::vector<std::string> failures = on_ranks(
        2,
        [](Communicator& ranks) {
            if (ranks.rank() == 1) {
                ranks.announce("learning pieces", Communicator::Takes::Long);
                std::this_thread::sleep_for(std::chrono::milliseconds(600));
            }
            ranks.meet();
        },
        0.2);
    CHECK(failures == std::vector<std::string>(2));
}

TEST_CASE("another process opens the memory by its descriptor", "[communicator]") {
    LocalGroup group(2);
    LocalGroup same = LocalGroup::of(group.descriptor());
    CHECK(same.size() == 2);
    const std::vector<std::byte> sent = message(0, 1, 1000);
    CHECK(group.write(0, 1, sent) == 1000);
    std::vector<std::byte> got(2000);
    CHECK(same.read(0, 1, got) == 1000);
    got.resize(1000);
    CHECK(got == sent);
}
