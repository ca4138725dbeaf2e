#include "train/batch_size.h"

#include <algorithm>
#include <fstream>
#include <utility>

#include <fmt/format.h>

#include "data/batch.h"
#include "support/check.h"

namespace headscope {
namespace {

constexpr double kMebi = 1024.0 * 1024.0;
constexpr std::int64_t kTries = 4;  // bisections: to a 16th of the interval

// "MemAvailable: 1234 kB", in bytes; 0 if the system does not report it.
std::uint64_t available_memory() {
    std::ifstream file("/proc/meminfo");
    std::uint64_t kilobytes = 0;
    for (std::string name; file >> name;) {
        if (name == "MemAvailable:" && file >> kilobytes) {
            break;
        }
    }
    return kilobytes * 1024;
}

// Runs steps, except those that would exceed the limit, estimated from the steps before.
class Trials {
public:
    Trials(StepRehearsal& rehearsal, std::uint64_t limit) : rehearsal_(rehearsal), limit_(limit) {}

    bool fits(std::int64_t tokens) {
        if (limit_ > 0 &&
            expected(tokens) + static_cast<double>(rehearsal_.kept_bytes()) > static_cast<double>(limit_)) {
            return false;
        }
        const std::optional<std::size_t> bytes = rehearsal_.memory_of(tokens);
        if (bytes && tokens > tokens_) {
            tokens_ = tokens;
            bytes_ = *bytes;
        }
        return bytes.has_value();
    }
    double bytes() const { return static_cast<double>(bytes_); }  // of the largest step that fitted

private:
    // Activations grow with the tokens. What does not grow makes this an overestimate.
    double expected(std::int64_t tokens) const {
        return tokens_ == 0 ? 0.0
                            : static_cast<double>(bytes_) * static_cast<double>(tokens) / static_cast<double>(tokens_);
    }

    StepRehearsal& rehearsal_;
    std::uint64_t limit_;
    std::int64_t tokens_ = 0;
    std::size_t bytes_ = 0;
};

}  // namespace

FoundBatch find_batch(StepRehearsal& rehearsal, const TrainConfig& config, std::uint64_t limit, std::int64_t most) {
    const TrainingOptions& t = config.training;
    const std::int64_t least = padded_length(t.max_length, t.length_multiple);
    most = std::max(most, least);
    Trials trials(rehearsal, limit);
    std::int64_t fits = 0;
    std::int64_t too_many = most + 1;
    for (std::int64_t tokens = least; fits < most; tokens = std::min(tokens * 2, most)) {
        if (!trials.fits(tokens)) {
            too_many = tokens;
            break;
        }
        fits = tokens;
    }
    if (fits == 0) {
        throw Error(
            fmt::format("{}: not even one sentence of \"training.max_length\" ({}) fits in memory: lower that, or "
                        "choose a smaller model or another --device",
                        config.file, t.max_length));
    }
    const bool whole = fits == most;
    for (std::int64_t i = 0; i < kTries && !whole; ++i) {
        const std::int64_t between = (fits + too_many) / 2;
        (trials.fits(between) ? fits : too_many) = between;
    }
    constexpr std::int64_t kMargin = 10;
    const std::int64_t chosen = whole ? most : std::max(fits - fits / kMargin, least);
    const std::string needed = fmt::format("({:.0f} MiB plus {:.0f} MiB for the model and optimizer)",
                                           trials.bytes() / kMebi, static_cast<double>(rehearsal.kept_bytes()) / kMebi);
    return {chosen,
            whole ? fmt::format("steps of {} tokens per side: the maximum, which fits in memory {}", chosen, needed)
                  : fmt::format("steps of {} tokens per side: nine tenths of the {} that fit in memory {}", chosen,
                                fits, needed)};
}

std::uint64_t memory_limit(const Backend& backend) {
    return backend.device().gpu ? 0 : available_memory() / 5 * 4;
}

}  // namespace headscope
