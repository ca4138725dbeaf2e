// Answers in texts against those that all spans' scores of transformers give (tests/golden/make_import_models.py).
#include "infer/answers_in_text.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "data/batcher.h"
#include "import/open_model.h"
#include "infer/response_scores.h"
#include "io/strict_json.h"
#include "model/frame_of_config.h"
#include "registry/registry.h"
#include "support/check.h"
#include "tests/house/files.h"

using namespace headscope;
using Catch::Matchers::Contains;

namespace {

std::vector<Example> examples_of(const std::vector<ContextWindow>& windows) {
    std::vector<Example> examples;
    for (const ContextWindow& window : windows) {
        examples.push_back(window.example);
    }
    return examples;
}

const std::string& folder() {
    static const std::string path = checkout_file("tests/import/models/hf-bert-answers");
    return path;
}

}  // namespace

TEST_CASE("the best answer is the span of the greatest score", "[answers_in_text]") {
    const auto backend = open_device("cpu");
    const ModelDirectory directory = open_model(folder());
    const auto parameters = read_parameters(*backend, directory, DType::F32);
    const auto model = make_model(directory.config, *parameters);
    const AnswerFinder finder(directory);
    Context ctx{*backend};
    int found = 0;
    const nlohmann::json answers = read_json_file(folder() + "/answers.json");
    for (const nlohmann::json& item : answers.at("items")) {
        if (!item.contains("answer")) {
            continue;
        }
        const auto context = item.at("pair").get<std::string>();
        const std::vector<ContextWindow> windows = finder.windows(item.at("text").get<std::string>(), context);
        REQUIRE(windows.size() == 1);
        CHECK(windows.front().example.target == item.at("ids").get<std::vector<std::int32_t>>());
        CHECK(windows.front().example.types == item.at("types").get<std::vector<std::int32_t>>());
        const auto scores =
            label_scores(ctx, *model, examples_of(windows), frame_of(directory.config), {.longest = 24});
        const SpanAnswer answer = finder.best(context, windows, scores);
        CHECK(answer.text == item.at("answer").get<std::string>());
        CHECK(context.substr(answer.span.begin, answer.span.end - answer.span.begin) == answer.text);
        CHECK(answer.score == Approx(item.at("answer_score").get<double>()).margin(1e-4));
        CHECK(answer.probability == Approx(item.at("answer_probability").get<double>()).margin(1e-4));
        CHECK(finder.best(context, windows, scores, 1).text.size() <= answer.text.size());
        ++found;
    }
    CHECK(found == 2);
}

TEST_CASE("a long context is read in parts that overlap, and every piece is in one", "[answers_in_text]") {
    const ModelDirectory directory = open_model(folder());
    const AnswerFinder finder(directory);
    std::string context = "mo";
    for (int i = 0; i < 30; ++i) {
        context += " kaleb";
    }
    const std::vector<ContextWindow> windows = finder.windows("rito", context);
    REQUIRE(windows.size() > 2);
    const auto pieces = static_cast<std::size_t>(directory.source_tokenizer->encode(context).size());
    std::size_t end = 0;
    for (const ContextWindow& window : windows) {
        CHECK(std::ssize(window.example.target) <= directory.config.max_length);
        CHECK(window.first <= end);
        end = window.first +
              static_cast<std::size_t>(std::count(window.example.labels.begin(), window.example.labels.end(), 0));
    }
    CHECK(end == pieces);
    // Only the last piece of the last window has a high score.
    std::vector<std::vector<double>> scores;
    for (const ContextWindow& window : windows) {
        const auto labels =
            static_cast<std::size_t>(std::count(window.example.labels.begin(), window.example.labels.end(), 0));
        scores.emplace_back(2 * labels, 0.0);
    }
    scores.back()[scores.back().size() - 2] = scores.back().back() = 5.0;
    const SpanAnswer answer = finder.best(context, windows, scores);
    CHECK(answer.span.end == context.size());
    CHECK(answer.score == 10.0);
}

TEST_CASE("what cannot be answered is named", "[answers_in_text][bad_input]") {
    const AnswerFinder finder(open_model(folder()));
    CHECK_THROWS_WITH(finder.windows(" ", "mo"), Contains("the question is empty"));
    CHECK_THROWS_WITH(finder.windows("mo", ""), Contains("the context is empty"));
    std::string question;
    for (int i = 0; i < 30; ++i) {
        question += "kaleb ";
    }
    CHECK_THROWS_WITH(finder.windows(question, "mo"), Contains("the question has") && Contains("shorten it"));
    CHECK_THROWS_WITH(AnswerFinder(open_model(checkout_file("tests/import/models/hf-bert"))),
                      Contains("finds no answers in texts"));
    const std::vector<ContextWindow> windows = finder.windows("mo", "kam");
    const std::vector<std::vector<double>> broken(1, std::vector<double>(12, std::nan("")));
    CHECK_THROWS_WITH(finder.best("kam", windows, broken), Contains("the model is broken"));
}
