// What an engine has done, as histograms and counters.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "backend/backend.h"
#include "backend/precision.h"

namespace headscope {

// Each bucket is twice as wide as the one before.
class Histogram {
public:
    explicit Histogram(double least = 1.0, std::size_t buckets = 20);
    void add(double value);

    const std::vector<double>& bounds() const { return bounds_; }        // upper ones; the last bucket has none
    const std::vector<std::int64_t>& counts() const { return counts_; }  // one more than bounds
    std::int64_t count() const { return count_; }
    double sum() const { return sum_; }

private:
    std::vector<double> bounds_;
    std::vector<std::int64_t> counts_;
    std::int64_t count_ = 0;
    double sum_ = 0.0;
};

struct EngineStatistics {
    static constexpr double kLeastSeconds = 1.0 / 4096;
    Histogram queue_seconds{kLeastSeconds};  // until a device began it
    Histogram first_seconds{kLeastSeconds};  // until its first event, of requests that told any
    Histogram run_seconds{kLeastSeconds};    // from then until it ended
    Histogram batch_rows{1.0, 12};
    // How requests ended.
    std::int64_t answered = 0, failed = 0, cancelled = 0, late = 0, too_large = 0;
    std::int64_t busy = 0;  // requests that were not taken
};

// A device, and the work that it has done.
struct DeviceUse {
    std::string name;  // "vulkan:0", "cpu (2)"
    DeviceInfo info = {};
    Arithmetic arithmetic = {};
    std::size_t peak_bytes = 0;  // maximum over all times it was open
    std::int64_t batches = 0;
    std::int64_t sentences = 0;      // works: sentences, texts, questions
    std::int64_t source_tokens = 0;  // what they cost
    std::int64_t target_tokens = 0;
    std::int64_t steps = 0;
    double seconds = 0.0;      // of work
    std::string failure = {};  // empty if it has not failed
};

}  // namespace headscope
