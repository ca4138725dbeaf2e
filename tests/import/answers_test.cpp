// Compares models of other programs with what those programs compute. tests/import/models holds small ones;
// HEADSCOPE_IMPORT_MODELS names a folder of more (tests/golden/make_import_answers.py).
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "data/batch.h"
#include "data/device_batch.h"
#include "import/open_model.h"
#include "infer/next_tokens.h"
#include "io/strict_json.h"
#include "model/encoder_decoder.h"
#include "model/generator.h"
#include "registry/registry.h"
#include "tests/house/files.h"
#include "tests/house/open_options.h"
#include "tests/import/answers.h"
#include "tests/infer/translate_text.h"
#include "tests/ops/devices.h"

using namespace headscope;

namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using Ids = std::vector<std::int32_t>;

constexpr double kWeightTolerance = 1e-5;

std::vector<std::string> models_with_answers() {
    std::vector<std::string> found;
    const char* more = std::getenv("HEADSCOPE_IMPORT_MODELS");
    const std::string folder = more != nullptr ? more : checkout_file("tests/import/models");
    for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
        if (fs::exists(entry.path() / "answers.json")) {
            found.push_back(entry.path().string());
        }
    }
    std::sort(found.begin(), found.end());
    return found;
}

struct OpenModel {
    OpenModel(Backend& opened, const std::string& folder)
        : backend(opened),
          directory(open_model(folder)),
          parameters(read_parameters(backend, directory, DType::F32)),
          model(make_model(directory.config, *parameters)) {}

    Backend& backend;
    ModelDirectory directory;
    std::shared_ptr<const Parameters> parameters;
    std::unique_ptr<Model> model;
};

Tensor row(Backend& backend, const Ids& ids) {
    return make_from_host<std::int32_t>(backend, {1, std::ssize(ids)}, DType::I32, ids);
}

Tensor length(Backend& backend, const Ids& ids) {
    return make_from_host<std::int32_t>(backend, {1}, DType::I32, {static_cast<std::int32_t>(ids.size())});
}

// The log-probabilities of `target`, whose i-th token is predicted from the i-th of `hidden`.
std::vector<double> log_probabilities(Context& ctx, const OpenModel& open, const Var& hidden, const Ids& target) {
    const std::int64_t classes = open.directory.config.target_vocabulary;
    auto logits = to_host<double>(ctx.backend, open.model->logits(ctx, hidden).value());
    std::vector<double> found;
    for (std::size_t i = 0; i < target.size(); ++i) {
        const std::span<double> own(logits.data() + static_cast<std::int64_t>(i) * classes,
                                    static_cast<std::size_t>(classes));
        log_softmax(own);
        found.push_back(own[static_cast<std::size_t>(target[i])]);
    }
    return found;
}

void check_translation_model(const OpenModel& open, const json& item) {
    Context ctx{.backend = open.backend};
    const auto& model = dynamic_cast<const EncoderDecoder&>(*open.model);
    const Ids source = item.at("source").get<Ids>();
    const Ids target = item.at("target").get<Ids>();
    Ids in{open.directory.config.frame.bos_id};
    in.insert(in.end(), target.begin(), target.end() - 1);
    const Tensor lengths = length(open.backend, source);
    const Var memory = model.encode(ctx, {.ids = row(open.backend, source), .lengths = lengths});
    if (item.contains("states")) {
        CHECK(largest_difference(to_host<double>(open.backend, memory.value()), item["states"]["values"]) <
              kAnswerTolerance);
    }
    const Var hidden = model.decode(ctx, {.ids = row(open.backend, in)}, {memory, lengths});
    CHECK(largest_difference(log_probabilities(ctx, open, hidden, target), item.at("log_probabilities")) <
          kAnswerTolerance);
}

// Of the last layer: [heads, queries, keys].
std::vector<double> last_weights(const OpenModel& open, const DeviceBatch& batch) {
    struct Recorder : AttentionObserver {
        bool wants(const AttentionSite& /*site*/) const override { return true; }
        Tensor observe(Backend& /*backend*/, const AttentionView& view) override { return weights = view.weights; }
        Tensor weights;
    } recorder;
    Context ctx{.backend = open.backend};
    ctx.observer = &recorder;
    open.model->states(ctx, batch);
    return to_host<double>(open.backend, recorder.weights);
}

// Some tokens at once, then one by one: each step's logits are those of the whole text.
void check_cached(const OpenModel& open, const DeviceBatch& batch, const Ids& ids, const json& item) {
    Context ctx{.backend = open.backend};
    const Generator& model = as_generator(*open.model);
    const std::int64_t classes = open.directory.config.target_vocabulary;
    const std::size_t read = ids.size() / 2;
    Cache cache = model.start(ctx, batch);
    model.read(ctx, cache, row(open.backend, Ids(ids.begin(), ids.begin() + static_cast<std::ptrdiff_t>(read))));
    for (std::size_t i = read; i + 1 < ids.size(); ++i) {
        auto logits = to_host<double>(open.backend, model.step(ctx, cache, row(open.backend, {ids[i]})));
        REQUIRE(std::ssize(logits) == classes);
        log_softmax(logits);
        CHECK(std::abs(logits[static_cast<std::size_t>(ids[i + 1])] - item["log_probabilities"][i].get<double>()) <
              kAnswerTolerance);
    }
}

void check_language_model(const OpenModel& open, const json& item) {
    Context ctx{.backend = open.backend};
    const Ids ids = item.at("ids").get<Ids>();
    DeviceBatch batch{.sentences = 1, .target = {.ids = row(open.backend, ids), .lengths = length(open.backend, ids)}};
    if (item.contains("types")) {
        batch.target.types = row(open.backend, item["types"].get<Ids>());
    }
    const Var hidden = open.model->states(ctx, batch);
    if (item.contains("states")) {
        CHECK(largest_difference(to_host<double>(open.backend, hidden.value()), item["states"]["values"]) <
              kAnswerTolerance);
    }
    if (item.contains("log_probabilities")) {
        const Ids next(ids.begin() + 1, ids.end());
        CHECK(largest_difference(log_probabilities(ctx, open, hidden, next), item["log_probabilities"]) <
              kAnswerTolerance);
    }
    if (item.contains("scores")) {  // of the text, or of each of its tokens
        const auto scores = to_host<double>(open.backend, open.model->scores(ctx, hidden).value());
        CHECK(largest_difference(scores, item["scores"]) < kAnswerTolerance);
    }
    if (item.contains("weights")) {
        CHECK(largest_difference(last_weights(open, batch), item["weights"]) < kWeightTolerance);
    }
    if (open.directory.config.architecture == Architecture::CausalLm) {
        check_cached(open, batch, ids, item);
    }
}

void check_translations(Backend& backend, const std::string& folder, const json& answers) {
    const LoadedModel translator(backend, folder);
    DecodingOptions options;
    options.search = {.beam = answers.at("beam").get<int>(),
                      .length_penalty = answers.at("length_penalty").get<double>(),
                      .length_penalty_form = LengthPenaltyForm::Power,
                      .max_extra = SearchOptions::kMaxExtra,
                      .max_length = answers.at("max_length").get<std::int64_t>(),
                      .max_factor = answers.value("max_factor", 0.0),
                      .force_end = answers.value("force_end", false)};
    const double tolerance = answers.value("score_tolerance", 1e-3);
    for (const json& item : answers.at("items")) {
        if (!item.contains("translation") || !item.contains("text")) {
            continue;
        }
        INFO(item.at("text"));
        options.search.languages = {item.value("source_language", ""), item.value("target_language", "")};
        const TextResult found = translate_line(translator, item["text"].get<std::string>(), options);
        const json& wanted = item["translation"];
        CHECK(found.source_ids == item.at("source").get<Ids>());
        INFO("found " << found.text << " (" << found.score << "), expected " << wanted.dump());
        const bool same = wanted.contains("ids") ? found.target_ids == wanted["ids"].get<Ids>()
                                                 : found.text == wanted.at("text").get<std::string>();
        CHECK((same || found.score >= wanted.at("score").get<double>() - tolerance));
        if (same && wanted.contains("score")) {
            CHECK(std::abs(found.score - wanted["score"].get<double>()) < tolerance);
        }
        if (same && wanted.contains("text")) {
            CHECK(found.text == wanted["text"].get<std::string>());
        }
    }
}

}  // namespace

TEST_CASE("models of other programs compute what those programs compute", "[answers]") {
    const std::string folder = GENERATE(from_range(models_with_answers()));
    const std::string device = GENERATE(from_range(conformance::devices_under_test()));
    DYNAMIC_SECTION(fs::path(folder).filename().string() << " on " << device) {
        const auto backend = open_device(device, environment_options());
        const json answers = read_json_file(folder + "/answers.json");
        const OpenModel open(*backend, folder);
        for (const json& item : answers.at("items")) {
            CAPTURE(item.value("text", ""));
            if (item.contains("ids")) {
                check_language_model(open, item);
            } else {
                check_translation_model(open, item);
            }
        }
        check_translations(*backend, folder, answers);
    }
}
