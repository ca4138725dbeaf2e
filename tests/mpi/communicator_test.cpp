// What ranks tell each other over a module: messages, words, failures and the end.
#include "parallel/mpi_communicator.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <thread>

#include "threads_mpi.h"

using namespace headscope;
using Catch::Matchers::Contains;
using headscope::mpi_tests::Outcome;
using headscope::mpi_tests::run_ranks;

namespace {

void sleep_for(double seconds) {
    std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
}

}  // namespace

TEST_CASE("messages of several parts arrive whole", "[mpi][communicator]") {
    for (const int size : {1, 2, 3, 5}) {
        std::atomic<int> wrong = 0;
        const Outcome outcome = run_ranks(size, 20, [&](MpiCommunicator& ranks) {
            for (const std::size_t bytes : {0U, 1U, 999U, 1000U, 1001U, 5001U}) {
                const std::string mine(bytes, static_cast<char>('a' + ranks.rank()));
                const std::vector<std::string> all = ranks.gather(mine);
                for (int other = 0; other < ranks.size(); ++other) {
                    const std::string expected(bytes, static_cast<char>('a' + other));
                    wrong += all[static_cast<std::size_t>(other)] != expected ? 1 : 0;
                }
                wrong += ranks.broadcast(mine) != std::string(bytes, 'a') ? 1 : 0;
            }
        });
        CHECK(wrong == 0);
        CHECK(outcome.reports.empty());
        CHECK(outcome.ended == size);
        CHECK(outcome.aborts == 0);
    }
}

TEST_CASE("the reason of the rank that fails is reported once, by rank 0", "[mpi][communicator]") {
    const Outcome outcome = run_ranks(3, 20, [](MpiCommunicator& ranks) {
        ranks.meet();
        if (ranks.rank() == 2) {
            throw Error("the disk is full");
        }
        ranks.meet();
    });
    CHECK(outcome.reports == std::vector<std::string>{"rank 2 (host 2): the disk is full"});
    CHECK(outcome.ended == 0);
    CHECK(outcome.aborts >= 1);
}

TEST_CASE("a rank that waits for its device hears of a failure", "[mpi][communicator]") {
    std::atomic<bool> heard{true};
    const Outcome outcome = run_ranks(2, 20, [&](MpiCommunicator& ranks) {
        ranks.check();
        ranks.meet();
        if (ranks.rank() == 1) {
            throw Error("the disk is full");
        }
        for (int look = 0; look < 2000; ++look) {
            ranks.check();
            sleep_for(0.001);
        }
        heard = false;
    });
    CHECK(heard);
    CHECK(outcome.reports == std::vector<std::string>{"rank 1 (host 1): the disk is full"});
}

TEST_CASE("a rank that does not answer is named with its last word", "[mpi][communicator]") {
    const Outcome outcome = run_ranks(2, 0.3, [](MpiCommunicator& ranks) {
        if (ranks.rank() == 1) {
            ranks.announce("step 7, validation");
            sleep_for(1.5);
        }
        ranks.meet();
    });
    REQUIRE(outcome.reports.size() == 1);
    CHECK_THAT(outcome.reports.front(),
               Contains("rank 1 (host 1) has not answered for 0 s; its last word: step 7, validation"));
}

TEST_CASE("long work is waited for, and words that nobody reads are few", "[mpi][communicator]") {
    const Outcome outcome = run_ranks(3, 0.3, [](MpiCommunicator& ranks) {
        if (ranks.rank() == 1) {
            for (int word = 0; word < 1000; ++word) {
                ranks.announce("word");
            }
            ranks.announce("checkpoint", Communicator::Takes::Long);
            sleep_for(1);
        } else {
            sleep_for(0.1);
        }
        ranks.meet();
    });
    CHECK(outcome.reports.empty());
    CHECK(outcome.ended == 3);
    CHECK(outcome.unread < 100);
}
