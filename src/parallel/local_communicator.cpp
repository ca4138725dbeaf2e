#include "parallel/local_communicator.h"

#include <algorithm>
#include <vector>

#include "parallel/silence.h"

namespace headscope {
namespace {

constexpr int kLookEvery = 50;  // milliseconds, for what rings no bell: silence

}  // namespace

LocalCommunicator::LocalCommunicator(LocalGroup& group, int rank, std::chrono::duration<double> patience)
    : group_(group), rank_(rank), patience_(patience) {}

void LocalCommunicator::announce(const std::string& what, Takes time) {
    group_.say(rank_, what, time == Takes::Long);
}

void LocalCommunicator::check() {
    if (group_.failed()) {
        throw OtherRankFailed();
    }
}

void LocalCommunicator::fail(const std::string& reason, int exit_code) {
    group_.fail({rank_, reason, exit_code});
}

void LocalCommunicator::exchange(std::span<const std::span<const std::byte>> out,
                                 std::span<const std::span<std::byte>> in) {
    const auto me = static_cast<std::size_t>(rank_);
    HEADSCOPE_CHECK(out.size() == in.size() && std::ssize(out) == size(), "an exchange has a message for each rank");
    HEADSCOPE_CHECK(out[me].size() == in[me].size(), "what a rank sends itself has one size");
    std::ranges::copy(out[me], in[me].begin());
    std::vector<std::span<const std::byte>> to_send(out.begin(), out.end());
    std::vector<std::span<std::byte>> to_get(in.begin(), in.end());
    to_send[me] = {};
    to_get[me] = {};
    Silence silence(size(), patience_);
    group_.stay(rank_);
    for (;;) {
        const unsigned rings = group_.rings(rank_);
        bool moved = false;
        bool done = true;
        for (int other = 0; other < size(); ++other) {
            const auto at = static_cast<std::size_t>(other);
            const std::size_t sent = group_.write(rank_, other, to_send[at]);
            const std::size_t got = group_.read(other, rank_, to_get[at]);
            to_send[at] = to_send[at].subspan(sent);
            to_get[at] = to_get[at].subspan(got);
            moved = moved || sent + got > 0;
            done = done && to_send[at].empty() && to_get[at].empty();
        }
        if (done) {  // also if another rank has failed since: what it sent may make this one fail for the same reason
            return;
        }
        check();
        if (!moved) {
            group_.wait(rank_, rings, kLookEvery);
            group_.stay(rank_);
        }
        for (int other = 0; other < size() && !moved; ++other) {
            const auto at = static_cast<std::size_t>(other);
            if (!to_send[at].empty() || !to_get[at].empty()) {
                silence.check(*this, other, group_.word(other));
            }
        }
    }
}

}  // namespace headscope
