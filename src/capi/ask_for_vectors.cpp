#include "capi/ask_for_vectors.h"

#include <algorithm>
#include <memory>
#include <span>
#include <utility>

#include <nlohmann/json.hpp>

#include "answers/vector_json.h"
#include "capi/choices.h"
#include "capi/kinds.h"

namespace headscope {

namespace {

// The vectors are an array, in which the JSON says what each row is.
InputResult result_of(VectorUnit unit, std::int64_t number, const std::string& input, TextVectors vectors) {
    const auto row = [](std::size_t at) { return nlohmann::ordered_json{{"row", at}}; };
    InputResult result{.json = dumped(vectors_json(unit, number, input, vectors, row))};
    Choice choice{.text = input};
    const std::int64_t rows = std::ssize(vectors.labels);
    put(choice, "vectors",
        {.shape = {rows, rows == 0 ? 0 : std::ssize(vectors.values) / rows}, .values = std::move(vectors.values)});
    result.choices.push_back(std::move(choice));
    return result;
}

}  // namespace

AllAsked ask_for_vectors(const Submission& submission) {
    const ModelDirectory& model = submission.model->directory();
    const ChosenOptions& options = submission.options;
    const DecodingChoices choices = options.decoding(model);
    const auto choice_of = [&](const char* key, std::span<const char* const> names) {
        return std::ranges::find(names, options.text(key)) - names.begin();
    };
    VectorOptions vectors{.unit = static_cast<VectorUnit>(choice_of("unit", kVectorUnits)),
                          .pooling = static_cast<Pooling>(choice_of("pooling", kPoolings)),
                          .languages = submission.model->search_options(choices).languages,
                          .edits = edits_of(submission)};
    if (options.has("after_layer")) {
        vectors.layer = static_cast<int>(options.integer("after_layer"));
    }
    EmbedRequest request{.texts = submission.inputs, .options = vectors};
    request.batch_tokens = choices.batch_tokens.value_or(request.batch_tokens);
    AllAsked asked;
    asked.push_back(std::make_unique<AskedTicket<EmbedRequest>>(
        submission.engine.submit(submission.model, std::move(request), submission.terms), 0, submission.inputs,
        [unit = vectors.unit, inputs = submission.inputs](std::vector<TextVectors> found,
                                                          std::vector<InputResult>& results) {
            for (std::size_t i = 0; i < found.size(); ++i) {
                results.push_back(found[i].problem.empty() ? result_of(unit, static_cast<std::int64_t>(i) + 1,
                                                                       inputs[i], std::move(found[i]))
                                                           : problem_of(inputs[i], found[i].problem, HS_INVALID));
            }
        }));
    return asked;
}

}  // namespace headscope
