// A loop over independent parts on several threads.
#pragma once

#include <algorithm>
#include <cstddef>
#include <exception>
#include <thread>
#include <vector>

namespace headscope {

// Calls part(first, last) for parts that together are [0, count), each of `least` or more, on as many threads as the
// processor has, at most eight: what is done with it (reading and cutting text) does not get faster after that. When
// all have ended the first exception, by the order of the parts, is thrown on.
template <class Part>
void in_parallel(std::size_t count, std::size_t least, const Part& part) {
    constexpr std::size_t kMostThreads = 8;
    const std::size_t processors = std::max(1U, std::thread::hardware_concurrency());
    const std::size_t threads =
        std::clamp<std::size_t>(count / std::max<std::size_t>(least, 1), 1, std::min(processors, kMostThreads));
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
