// Ranks as threads of one process, for tests.
#pragma once

#include <catch2/catch.hpp>
#include <chrono>
#include <exception>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "parallel/local_communicator.h"

namespace headscope {

// Runs `work` on each rank at once. Returns what each threw, "" for nothing.
inline std::vector<std::string> on_ranks(int count, const std::function<void(Communicator&)>& work,
                                         double patience = 60.0) {
    LocalGroup group(count);
    std::vector<std::string> failures(static_cast<std::size_t>(count));
    std::vector<std::thread> threads;
    for (int rank = 0; rank < count; ++rank) {
        threads.emplace_back([&, rank] {
            LocalCommunicator ranks(group, rank, std::chrono::duration<double>(patience));
            try {
                work(ranks);
            } catch (const std::exception& error) {
                failures[static_cast<std::size_t>(rank)] = error.what();
                ranks.fail(error.what());
            }
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    return failures;
}

// The same of work that succeeds on all.
inline void require_on_ranks(int count, const std::function<void(Communicator&)>& work) {
    const std::vector<std::string> failures = on_ranks(count, work);
    CHECK(failures == std::vector<std::string>(static_cast<std::size_t>(count)));
}

}  // namespace headscope
