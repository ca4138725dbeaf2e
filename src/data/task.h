// What a model is trained to do with text: the tasks, one row of facts each. Other files ask a row and never which task
// it is, so a new task is a row and what it alone does.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace headscope {

enum class Task : std::uint8_t { Translate, Causal, Masked, Span };

struct TaskTraits {
    Task task;
    const char* key;     // in configurations and options: "translate"
    const char* family;  // of its models: the key of their FamilyTraits

    bool reads_pairs;    // its data are pairs of sentences; those of the others are documents
    bool has_source;     // its examples have one; otherwise all is in Example::target
    bool predicts_next;  // the label of each piece is the next one (GPT)
    bool masks_pieces;   // it masks pieces and predicts them (BERT)
    bool masks_spans;    // it masks spans and writes them (T5)
};

std::span<const TaskTraits> tasks();  // the first is the default of a configuration
const TaskTraits& traits(Task task);
inline const char* name_of(Task task) {
    return traits(task).key;
}
const TaskTraits* find_task(std::string_view key);  // null: there is none

}  // namespace headscope
