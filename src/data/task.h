// What a model is trained to do with text: the tasks, one row of facts each. Other files ask a row and never which task
// it is, so a new task is a row and what it alone does.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace headscope {

enum class Task : std::uint8_t { Translate, Causal, Masked, Span, Sft, Reward, Dpo, Ppo, Classify, Risk };

struct TaskTraits {
    Task task = {};
    const char* key = "";     // in configurations and options: "translate"
    const char* family = "";  // of its models: the key of their FamilyTraits
    const char* what = "";    // what it learns, for people

    bool reads_pairs = false;    // its data are pairs of sentences
    bool reads_labels = false;   // they are texts with classes or numbers (LabelledReader)
    bool reads_replies = false;  // they are prompts with responses, and it goes on with a model (ResponseReader)
    // Those of the others are documents.
    bool has_source = false;      // its examples have one; otherwise all is in Example::target
    bool predicts_next = false;   // the label of each piece is the next one (GPT)
    bool masks_pieces = false;    // it masks pieces and predicts them (BERT)
    bool masks_spans = false;     // it masks spans and writes them (T5)
    bool any_family = false;      // of its models; `family` is that of a new one
    bool compares = false;        // it learns which of several responses is better
    bool gives_scores = false;    // its model has an output for scores, which it is given if it has none
    bool has_reference = false;   // it compares with the model from which it starts
    bool rolls_out = false;       // it learns from scores of its own responses; its data are prompts alone
    bool scores_samples = false;  // it goes on with a model and learns from scores of translations that it samples
};

std::span<const TaskTraits> tasks();  // the first is the default of a configuration
const TaskTraits& traits(Task task);
inline const char* name_of(Task task) {
    return traits(task).key;
}
const TaskTraits* find_task(std::string_view key);  // null: there is none

}  // namespace headscope
