// A device and its translations of a text, to compare with another's; or its completions, or its filled masks.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "cli/translate/translation_flags.h"
#include "engine/engine.h"
#include "eval/agreement.h"
#include "eval/compare_translations.h"
#include "infer/translation.h"
#include "observe/inner_differences.h"

namespace headscope {

class ComparedSide {
public:
    // Opens the device; translate() reads the model. Error if there is no such device or it lacks the precision.
    ComparedSide(const std::string& id, const std::string& model, const TranslationFlags& flags);

    // Or completes, or fills in each [MASK]. If the device is lost, starts again on a reopened one.
    void translate(const std::vector<std::string>& lines);
    // Both have translated the same lines. `look`: the number of sentences whose logits and attention weights are
    // compared.
    struct Found {
        Agreement agreement;
        InnerDifferences inner;
    };
    Found compare_with(ComparedSide& reference, std::size_t look);
    // Why the device failed for good while another was compared with it; empty if it did not.
    const std::string& failure() const { return failure_; }

    const std::string& name() const { return name_; }  // "vulkan:0", "cpu in bf16"
    const std::vector<TextResult>& sentences() const { return sentences_; }
    double tokens_a_second() const { return tokens_a_second_; }
    const ModelDirectory& model() const { return model_->directory(); }

private:
    std::vector<TextResult> output(const std::vector<std::string>& lines);
    std::vector<TextResult> filled(const std::vector<std::string>& lines, const Place& place) const;

    const std::string path_;
    Engine engine_;
    ModelHandle model_;  // null before translate()
    DecodingOptions options_;
    std::string name_, failure_;
    std::vector<TextResult> sentences_;
    double tokens_a_second_ = 0.0;
};

}  // namespace headscope
