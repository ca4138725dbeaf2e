#include "engine/known_work.h"

#include <algorithm>
#include <utility>

namespace headscope {

void KnownWork::remember(const std::vector<LinePart*>& units) {
    const std::lock_guard lock(mutex_);
    if (work_ || units.empty()) {
        return;
    }
    const auto length = [](const LinePart* unit) { return unit->sentence.source_ids.size(); };
    const LinePart& shortest = **std::ranges::min_element(units, {}, length);
    LinePart work{.sentence = {}, .task = shortest.task, .search = shortest.search};
    work.sentence.source_ids = shortest.sentence.source_ids;
    work.task.forbidden_after = nullptr;  // callbacks are their request's
    work.task.on_step = nullptr;
    work_ = std::move(work);
}

std::optional<LinePart> KnownWork::work() const {
    const std::lock_guard lock(mutex_);
    return work_;
}

void KnownWork::run(const LoadedModel& translator, Compute compute) const {
    if (std::optional<LinePart> known = work()) {
        translator.translate_units({&*known}, {.search = *known->search, .compute = compute});
    } else {
        translator.try_device();
    }
}

}  // namespace headscope
