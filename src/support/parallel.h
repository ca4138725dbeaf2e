// A loop over independent parts on several threads.
#pragma once

#include <algorithm>
#include <cstddef>
#include <exception>
#include <thread>
#include <vector>

#include "support/processors.h"

namespace headscope {

// Splits [0, count) into parts of at least `least` and calls part(first, last) for each, on one thread for each of
// processors() but at most eight: reading and tokenizing text does not scale further. After all parts have ended, the
// first exception in order of the parts is rethrown.
template <class Part>
void in_parallel(std::size_t count, std::size_t least, const Part& part) {
    constexpr std::size_t kMostThreads = 8;
    const std::size_t most = std::min(static_cast<std::size_t>(processors()), kMostThreads);
    const std::size_t threads = std::clamp<std::size_t>(count / std::max<std::size_t>(least, 1), 1, most);
    std::vector<std::exception_ptr> failures(threads);
    const auto run = [&](std::size_t i) {
        try {
            part(count * i / threads, count * (i + 1) / threads);
        } catch (...) {
            failures[i] = std::current_exception();
        }
    };
    {
        std::vector<std::jthread> others;
        for (std::size_t i = 1; i < threads; ++i) {
            others.emplace_back(run, i);
        }
        run(0);
    }
    for (const std::exception_ptr& failure : failures) {
        if (failure) {
            std::rethrow_exception(failure);
        }
    }
}

}  // namespace headscope
