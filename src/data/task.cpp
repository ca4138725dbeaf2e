#include "data/task.h"

#include <algorithm>
#include <array>

namespace headscope {

namespace {

constexpr std::array kTasks{
    TaskTraits{.task = Task::Translate,
               .key = "translate",
               .family = "encoder-decoder",
               .reads_pairs = true,
               .has_source = true,
               .predicts_next = false,
               .masks_pieces = false,
               .masks_spans = false},
    TaskTraits{.task = Task::Causal,
               .key = "causal",
               .family = "causal-lm",
               .reads_pairs = false,
               .has_source = false,
               .predicts_next = true,
               .masks_pieces = false,
               .masks_spans = false},
    TaskTraits{.task = Task::Masked,
               .key = "masked",
               .family = "masked-lm",
               .reads_pairs = false,
               .has_source = false,
               .predicts_next = false,
               .masks_pieces = true,
               .masks_spans = false},
    TaskTraits{.task = Task::Span,
               .key = "span",
               .family = "encoder-decoder",
               .reads_pairs = false,
               .has_source = true,
               .predicts_next = false,
               .masks_pieces = false,
               .masks_spans = true},
};

}  // namespace

std::span<const TaskTraits> tasks() {
    return kTasks;
}

const TaskTraits& traits(Task task) {
    return kTasks.at(static_cast<std::size_t>(task));
}

const TaskTraits* find_task(std::string_view key) {
    const auto* found =
        std::find_if(kTasks.begin(), kTasks.end(), [&](const TaskTraits& one) { return one.key == key; });
    return found == kTasks.end() ? nullptr : found;
}

}  // namespace headscope
