#include "import/hugging_face_scores.h"

#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace headscope {

namespace {

// "BertForSequenceClassification"; empty if the folder does not say.
std::string class_of(const ForeignConfig& config) {
    const nlohmann::json& classes = config.at("architectures");
    return classes.is_array() && classes.size() == 1 && classes[0].is_string() ? classes[0].get<std::string>() : "";
}

// In the order of their ids, which begin at 0; without names LABEL_0, LABEL_1 as transformers calls them.
std::vector<std::string> labels_of(const ForeignConfig& config) {
    constexpr std::int64_t kUsual = 2;
    constexpr std::int64_t kMost = 1 << 20;
    const nlohmann::json& names = config.at("id2label");
    if (!names.is_object()) {
        std::vector<std::string> labels(static_cast<std::size_t>(config.integer("num_labels", kUsual, 1, kMost)));
        for (std::size_t i = 0; i < labels.size(); ++i) {
            labels[i] = fmt::format("LABEL_{}", i);
        }
        return labels;
    }
    std::vector<std::string> labels;
    for (std::size_t id = 0; id < names.size(); ++id) {
        const auto found = names.find(std::to_string(id));
        if (found == names.end() || !found->is_string()) {
            config.problem("id2label", fmt::format("has no text for the class {} of {}", id, names.size()));
            return labels;
        }
        labels.push_back(found->get<std::string>());
        if (std::find(labels.begin(), labels.end() - 1, labels.back()) != labels.end() - 1) {
            config.problem("id2label", fmt::format("must name different classes, found \"{}\" twice", labels.back()));
            return labels;
        }
    }
    return labels;
}

}  // namespace

void set_scores(const ForeignConfig& config, const ScoreTensors& tensors, OutputConfig& output) {
    const std::string name = class_of(config);
    if (name.ends_with("ForQuestionAnswering")) {
        output.head = OutputHead::Span;
        return;
    }
    if (!name.ends_with("ForSequenceClassification") && !name.ends_with("ForImageClassification")) {
        return;
    }
    std::vector<std::string> labels = labels_of(config);
    const std::string problem = config.text("problem_type", "");
    const bool several = problem == "multi_label_classification";
    const bool number = problem == "regression" || (problem.empty() && labels.size() == 1);
    if (number && labels.size() > 1) {
        config.problem("problem_type", fmt::format("is \"regression\" with {} numbers: one is read", labels.size()));
    }
    output.head = number ? OutputHead::Scalar : several ? OutputHead::Labels : OutputHead::Classes;
    output.labels = number ? std::vector<std::string>() : std::move(labels);
    output.scored = ScoredState::First;
    output.layer = tensors.activation;
}

void add_score_tensors(TensorMap& map, const ScoreTensors& tensors) {
    map.add_linear(tensors.layer, "output.layer");
    map.add_linear(tensors.output, "output.classes");
    map.add_linear(tensors.output, "output.scalar");
    map.add_linear("qa_outputs", "output.span");
}

}  // namespace headscope
