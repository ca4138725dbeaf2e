#include "data/wrong_targets.h"

#include <utility>

namespace headscope {

WrongTargets::WrongTargets(double share, std::uint64_t seed, Write write)
    : share_(share), random_(seed, kStream), write_(std::move(write)) {}

void WrongTargets::add(const std::string& source, const std::string& target) {
    if (random_.uniform() >= share_) {
        write_(source, target);
        return;
    }
    if (count_ == 0) {
        first_source_ = source;
    } else {
        write_(source, last_target_);
    }
    last_target_ = target;
    ++count_;
}

void WrongTargets::end() {
    if (count_ > 0) {
        write_(first_source_, last_target_);
    }
}

}  // namespace headscope
