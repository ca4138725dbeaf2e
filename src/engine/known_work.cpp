#include "engine/known_work.h"

#include <algorithm>
#include <utility>

namespace headscope {

void KnownWork::remember(const std::vector<LinePart*>& units, const DecodingOptions& options) {
    const std::lock_guard lock(mutex_);
    if (work_ || units.empty()) {
        return;
    }
    const auto length = [](const LinePart* unit) { return unit->sentence.source_ids.size(); };
    const LinePart& shortest = **std::ranges::min_element(units, {}, length);
    Work work{.unit = {.sentence = {}, .task = shortest.task}, .search = options.search};
    work.unit.sentence.source_ids = shortest.sentence.source_ids;
    work.unit.task.forbidden_after = nullptr;  // callbacks are their request's
    work.unit.task.on_step = nullptr;
    work_ = std::move(work);
}

std::optional<KnownWork::Work> KnownWork::work() const {
    const std::lock_guard lock(mutex_);
    return work_;
}

void KnownWork::run(const LoadedModel& translator, Compute compute) const {
    if (std::optional<Work> known = work()) {
        translator.translate_units({&known->unit}, {.search = known->search, .compute = compute});
    } else {
        translator.try_device();
    }
}

}  // namespace headscope
