#include "train/text_tasks.h"
#include "model/frame_of_config.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <set>

#include "data/corruption.h"
#include "model/model.h"
#include "tests/house/files.h"
#include "tests/train/digits_run.h"
#include "train/step_options.h"

using namespace headscope;
using Catch::Matchers::Contains;

namespace {

std::set<std::string> texts_of(const std::vector<TextTaskLine>& lines) {
    std::set<std::string> texts;
    for (const TextTaskLine& line : lines) {
        texts.insert(line.text);
    }
    return texts;
}

// What the model reads, and labels where it answers.
struct Question {
    Example pair;
    std::vector<std::int32_t> choices;  // pieces that the answer is one of; empty: all
};

Question question_of(const TextTaskLine& line, const Tokenizer& tokenizer) {
    Question question;
    std::vector<std::int32_t>& ids = question.pair.target;
    ids = {tokenizer.bos_id()};
    const auto add = [&](const std::vector<std::int32_t>& pieces) {
        ids.insert(ids.end(), pieces.begin(), pieces.end());
    };
    const std::vector<std::int32_t> answer = tokenizer.encode(line.answer);
    const std::size_t mask = line.prompt.find("<mask>");
    add(tokenizer.encode(line.prompt.substr(0, mask)));
    if (mask == std::string::npos) {
        question.pair.labels.assign(ids.size(), kNoTarget);
        question.pair.labels.back() = answer.at(0);
        for (const char* close : {")", "]", "}"}) {
            question.choices.push_back(tokenizer.encode(close).at(0));
        }
        return question;
    }
    const std::size_t begin = ids.size();
    add(std::vector<std::int32_t>(answer.size(), mask_id(tokenizer)));
    add(tokenizer.encode(line.prompt.substr(mask + 6)));
    add({tokenizer.eos_id()});
    question.pair.labels.assign(ids.size(), kNoTarget);
    std::copy(answer.begin(), answer.end(), question.pair.labels.begin() + static_cast<std::ptrdiff_t>(begin));
    return question;
}

// The share of questions that the model of a run answers.
double answered(const DigitsRun& run, const Tokenizer& tokenizer, const std::vector<TextTaskLine>& lines) {
    const ModelConfig& config = run.learner->model_config();
    const std::unique_ptr<Model> model = make_model(config, run.learner->parameters());
    model->prepare(*run.backend, config.max_length);
    std::size_t right = 0;
    for (const TextTaskLine& line : lines) {
        const Question question = question_of(line, tokenizer);
        const Batch batch = make_batch(std::vector<Example>{question.pair}, frame_of(config), 0);
        Context context{.backend = *run.backend};
        const Var logits = model->logits(context, model->states(context, upload(*run.backend, batch)));
        const std::vector<float> scores = to_host<float>(*run.backend, logits.value());
        bool all = true;
        for (std::size_t at = 0; at < question.pair.labels.size(); ++at) {
            const float* row = scores.data() + at * static_cast<std::size_t>(config.target_vocabulary);
            std::vector<std::int32_t> choices = question.choices;
            if (choices.empty()) {
                choices.resize(static_cast<std::size_t>(config.target_vocabulary));
                std::iota(choices.begin(), choices.end(), 0);
            }
            const auto best = std::max_element(choices.begin(), choices.end(),
                                               [&](std::int32_t a, std::int32_t b) { return row[a] < row[b]; });
            all = all && (question.pair.labels[at] == kNoTarget || question.pair.labels[at] == *best);
        }
        right += all ? 1 : 0;
    }
    return static_cast<double>(right) / static_cast<double>(lines.size());
}

// Trains by a configuration of assets/configs.
double learned(const std::string& name, std::vector<TextTaskLine> lines) {
    const TemporaryFolder folder;
    constexpr std::size_t kHeldOut = 300;
    std::string train, valid;
    for (std::size_t i = kHeldOut; i < lines.size(); ++i) {
        (i < 2 * kHeldOut ? valid : train) += lines[i].text + "\n";
    }
    folder.write("train.txt", train);
    folder.write("valid.txt", valid);
    const nlohmann::json settings =
        nlohmann::json::parse(std::ifstream(checkout_file("assets/configs/" + name + ".json")));
    DigitsRun run(folder, settings, "out");
    run.start().train();
    lines.resize(kHeldOut);
    const double share = answered(run, Tokenizer::load(run.output_folder + "/tokenizer/sentencepiece.model"), lines);
    WARN(name << ": " << share << " answered, nll " << logged(run.output_folder, "validation").back()["nll"]);
    return share;
}

}  // namespace

TEST_CASE("the brackets of the generated task are balanced, and the answer closes the right one", "[text_tasks]") {
    const std::map<char, char> open_of{{')', '('}, {']', '['}, {'}', '{'}};
    for (const TextTaskLine& line : make_brackets_task(500, 3)) {
        std::string open;
        for (const char c : line.text) {
            if (const auto closed = open_of.find(c); closed != open_of.end()) {
                REQUIRE(!open.empty());
                REQUIRE(open.back() == closed->second);
                open.pop_back();
            } else if (c != ' ') {
                open += c;
            }
        }
        CHECK(open.empty());
        CHECK(line.text.starts_with(line.prompt + " " + line.answer));
        CHECK(open_of.contains(line.prompt.back()));
    }
}

TEST_CASE("generated lines differ and depend only on the seed", "[text_tasks]") {
    const auto make = GENERATE(&make_brackets_task, &make_cloze_task);
    CHECK(texts_of(make(400, 1)).size() == 400);
    CHECK(texts_of(make(400, 1)) == texts_of(make(400, 1)));
    CHECK(texts_of(make(400, 1)) != texts_of(make(400, 2)));
    CHECK_THAT(error_of([&] { make(2'000'000, 1); }), Contains("got 2000000"));
    CHECK_THAT(error_of([&] { make(0, 1); }), Contains("got 0"));
    for (const TextTaskLine& line : make_cloze_task(50, 1)) {
        const std::size_t mask = line.prompt.find("<mask>");
        CHECK(line.text == line.prompt.substr(0, mask) + line.answer + line.prompt.substr(mask + 6));
        const std::string subject = line.text.substr(4, line.text.find(' ', 4) - 4);
        CHECK(subject.ends_with('s') != line.answer.ends_with('s'));
    }
}

// These take up to a minute of CPU time.
TEST_CASE("a causal model learns to close brackets", "[.learns]") {
    CHECK(learned("brackets", make_brackets_task(20'600, 1)) >= 0.99);
}

TEST_CASE("a masked model learns the verb that agrees with the subject", "[.learns]") {
    CHECK(learned("cloze", make_cloze_task(8'600, 1)) >= 0.99);
}
