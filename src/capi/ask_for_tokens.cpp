#include "capi/ask_for_tokens.h"

#include <algorithm>
#include <memory>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "answers/text_json.h"
#include "capi/choices.h"
#include "capi/kinds.h"
#include "capi/text.h"

namespace headscope {

namespace {

// What needs no device.
class Known final : public Asked {
public:
    explicit Known(std::vector<InputResult> results) : results_(std::move(results)) {}
    void watch(std::function<void()> changed) override { changed(); }
    bool ended() override { return true; }
    std::optional<Happening> next() override {
        return told_ < results_.size() ? std::optional(Happening{.input = told_++}) : std::nullopt;
    }
    void take(std::vector<InputResult>& results) override { results = results_; }
    void cancel() override {}
    void settle() override {}

private:
    const std::vector<InputResult> results_;
    std::size_t told_ = 0;
};

const Tokenizer& tokenizer_of(const Submission& submission) {
    const ModelDirectory& model = submission.model->directory();
    return submission.options.text("side") == "target" ? *model.target_tokenizer : *model.source_tokenizer;
}

template <class Tokenized>
AllAsked ask_for_tokens(const Submission& submission, const Tokenized& tokenized_of) {
    const Tokenizer& tokenizer = tokenizer_of(submission);
    std::vector<InputResult> results;
    for (const std::string& input : submission.inputs) {
        try {
            TokenizedText text = tokenized_of(tokenizer, input);
            InputResult result{.json = dumped(pieces_json(tokenizer, text, std::ssize(results) + 1))};
            Choice choice{.text = std::move(text.text)};
            NamedArray spans{.shape = {std::ssize(text.spans), 2}, .values = std::vector<std::int64_t>()};
            for (const ByteSpan& span : text.spans) {
                auto& values = std::get<std::vector<std::int64_t>>(spans.values);
                values.push_back(static_cast<std::int64_t>(span.begin));
                values.push_back(static_cast<std::int64_t>(span.end));
            }
            put(choice, "tokens", list_of(std::move(text.ids)));
            put(choice, "spans", std::move(spans));
            result.choices.push_back(std::move(choice));
            results.push_back(std::move(result));
        } catch (const Error& error) {
            results.push_back(problem_of(input, error.what(), HS_INVALID));
        }
    }
    AllAsked asked;
    asked.push_back(std::make_unique<Known>(std::move(results)));
    return asked;
}

}  // namespace

std::vector<std::int32_t> ids_of(const std::string& input) {
    const nlohmann::json json = parsed(input, "an input of ids");
    const auto is_id = [](const nlohmann::json& each) {
        return each.is_number_integer() && each.get<double>() >= 0 && each.get<double>() <= kAnyNumber;
    };
    if (!json.is_array() || !std::ranges::all_of(json, is_id)) {
        throw Failure(HS_INVALID, fmt::format("an input must be a JSON array of ids, such as [5, 17], got {}", input));
    }
    return json.get<std::vector<std::int32_t>>();
}

AllAsked ask_for_pieces(const Submission& submission) {
    return ask_for_tokens(submission, tokenized);
}

AllAsked ask_to_join(const Submission& submission) {
    return ask_for_tokens(submission, [](const Tokenizer& tokenizer, const std::string& input) {
        return joined(tokenizer, ids_of(input));
    });
}

}  // namespace headscope
