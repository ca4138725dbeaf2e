#include "engine/known_work.h"

#include <algorithm>
#include <array>
#include <utility>

#include "infer/loaded_model.h"

namespace headscope {

void KnownWork::remember(std::span<Work* const> works) {
    const std::lock_guard lock(mutex_);
    const auto shortest = std::ranges::min_element(works, {}, &Work::tokens);
    if (shortest != works.end() && (work_ == nullptr || (*shortest)->tokens() < work_->tokens())) {
        std::unique_ptr<Work> known = (*shortest)->known();
        work_ = known == nullptr ? std::move(work_) : std::move(known);
    }
}

std::unique_ptr<Work> KnownWork::work() const {
    const std::lock_guard lock(mutex_);
    return work_ == nullptr ? nullptr : work_->known();
}

void KnownWork::run(const Place& place) const {
    if (const std::unique_ptr<Work> known = work()) {
        run_whole(place, std::array{known.get()});
    } else {
        place.model.try_device();
    }
}

void run_whole(const Place& place, std::span<Work* const> works) {
    const std::unique_ptr<BatchSession> session = works.front()->begin(place, works);
    while (place.goes_on() && session->step()) {
    }
}

}  // namespace headscope
