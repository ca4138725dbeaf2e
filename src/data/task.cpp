#include "data/task.h"

#include <algorithm>
#include <array>

namespace headscope {

namespace {

constexpr std::array kTasks{
    TaskTraits{.task = Task::Translate,
               .key = "translate",
               .family = "encoder-decoder",
               .what = "the translations of sentences",
               .reads_pairs = true,
               .has_source = true},
    TaskTraits{
        .task = Task::Causal, .key = "causal", .family = "causal-lm", .what = "the next piece", .predicts_next = true},
    TaskTraits{
        .task = Task::Masked, .key = "masked", .family = "masked-lm", .what = "masked pieces", .masks_pieces = true},
    TaskTraits{.task = Task::Span,
               .key = "span",
               .family = "encoder-decoder",
               .what = "masked spans",
               .has_source = true,
               .masks_spans = true},
    TaskTraits{.task = Task::Sft,
               .key = "sft",
               .family = "causal-lm",
               .what = "responses to prompts",
               .reads_replies = true,
               .predicts_next = true},
    TaskTraits{.task = Task::Reward,
               .key = "reward",
               .family = "causal-lm",
               .what = "a score for responses that people ranked",
               .reads_replies = true,
               .predicts_next = true,
               .compares = true,
               .gives_scores = true},
    TaskTraits{.task = Task::Dpo,
               .key = "dpo",
               .family = "causal-lm",
               .what = "to prefer the better response",
               .reads_replies = true,
               .predicts_next = true,
               .compares = true,
               .has_reference = true},
    TaskTraits{.task = Task::Ppo,
               .key = "ppo",
               .family = "causal-lm",
               .what = "to earn a reward model's scores",
               .reads_replies = true,
               .predicts_next = true,
               .has_reference = true,
               .rolls_out = true},
    TaskTraits{.task = Task::Classify,
               .key = "classify",
               .family = "masked-lm",
               .what = "the classes or numbers of texts",
               .reads_labels = true,
               .any_family = true,
               .gives_scores = true},
    TaskTraits{.task = Task::Risk,
               .key = "risk",
               .family = "encoder-decoder",
               .what = "to raise the score of its own translations",
               .reads_pairs = true,
               .has_source = true,
               .scores_samples = true},
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
