#include "parallel/silence.h"

#include <fmt/format.h>

namespace headscope {

Silence::Silence(int ranks, std::chrono::duration<double> patience)
    : patience_(patience), heard_(static_cast<std::size_t>(ranks)) {}

void Silence::check(const Communicator& ranks, int rank, const HeardWord& word) {
    constexpr double kOfLongWork = 12.0;
    Heard& heard = heard_[static_cast<std::size_t>(rank)];
    const Clock::time_point now = Clock::now();
    if (word.count != heard.count) {
        heard = {word.count, now};
    }
    const std::chrono::duration<double> silent = now - heard.since;
    if (silent > patience_ * (word.long_work ? kOfLongWork : 1.0)) {
        throw Error(
            fmt::format("{} has not answered for {:.0f} s; its last word: {}. A longer step needs a longer "
                        "--rank-timeout",
                        ranks.name_of(rank), silent.count(), word.text.empty() ? "none" : word.text));
    }
}

}  // namespace headscope
