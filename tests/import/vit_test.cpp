// ViT as transformers computes it, from the file of a picture to the scores of classes.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <nlohmann/json.hpp>

#include "data/device_batch.h"
#include "import/open_model.h"
#include "infer/response_scores.h"
#include "infer/scored_text.h"
#include "io/strict_json.h"
#include "model/frame_of_config.h"
#include "model/model.h"
#include "registry/registry.h"
#include "tests/house/files.h"
#include "tests/house/open_options.h"
#include "tests/import/answers.h"
#include "tests/import/broken_model.h"
#include "tests/ops/devices.h"

using namespace headscope;
using Catch::Matchers::Contains;
using nlohmann::json;

namespace {

std::string in_folder(const std::string& name) {
    return checkout_file("tests/import/models/hf-vit/" + name);
}

}  // namespace

TEST_CASE("a picture is resized and normalised as transformers does", "[pictures]") {
    const ModelDirectory model = open_model(in_folder(""));
    const PatchGrid grid = *patches_of(model.config);
    CHECK(grid.positions() == 10);
    for (const json& item : read_json_file(in_folder("pictures.json"))) {
        CAPTURE(item["picture"]);
        const std::vector<float> all =
            grid.vectors(model.source_tokenizer->encode(in_folder(item["picture"].get<std::string>())));
        const auto begin = all.begin() + static_cast<std::ptrdiff_t>(grid.shape.values());
        CHECK(std::all_of(all.begin(), begin, [](float value) { return value == 0.0F; }));  // of the class token
        CHECK(largest_difference({begin, begin + static_cast<std::ptrdiff_t>(grid.shape.values())}, item["pixels"]) <
              kAnswerTolerance);
    }
}

TEST_CASE("ViT computes the states and scores of transformers", "[pictures]") {
    const std::string device = GENERATE(from_range(conformance::devices_under_test()));
    CAPTURE(device);
    const auto backend = open_device(device, environment_options());
    const ModelDirectory directory = open_model(in_folder(""));
    const auto parameters = read_parameters(*backend, directory, DType::F32);
    const auto model = make_model(directory.config, *parameters);
    const Frame frame = frame_of(directory.config);
    const ScoredTextEncoder encoder(directory.config, directory.source_tokenizer, frame);
    Context ctx{.backend = *backend};
    std::vector<Example> examples;
    const json items = read_json_file(in_folder("pictures.json"));
    for (const json& item : items) {
        examples.push_back(encoder.encode(in_folder(item["picture"].get<std::string>()), {}));
        const DeviceBatch batch = upload(
            *backend, make_batch(std::span(&examples.back(), 1), frame, 0, {.longest = directory.config.max_length}));
        CHECK(largest_difference(to_host<double>(*backend, model->states(ctx, batch).value()),
                                 item["states"]["values"]) < kAnswerTolerance);
    }
    const auto scores =
        label_scores(ctx, *model, examples, frame,
                     {.source_tokens = 100, .target_tokens = 100, .longest = directory.config.max_length});
    for (std::size_t i = 0; i < scores.size(); ++i) {
        CHECK(largest_difference(scores[i], items[i]["scores"]) < kAnswerTolerance);
    }
}

TEST_CASE("a ViT that computes something else is refused", "[bad_input]") {
    const auto complaint = [](const char* file, const auto& change) {
        const BrokenModel model("hf-vit");
        model.change_json(file, change);
        return model.complaint();
    };
    CHECK_THAT(complaint("preprocessor_config.json", [](json& c) { c["resample"] = 3; }),
               Contains("preprocessor_config.json: \"resample\" is 3: only 2, bilinear, is supported"));
    CHECK_THAT(complaint("preprocessor_config.json", [](json& c) { c["do_center_crop"] = true; }),
               Contains("\"do_center_crop\" is true: only false is supported"));
    CHECK_THAT(complaint("preprocessor_config.json", [](json& c) { c["size"] = 16; }),
               Contains("\"size\" is 16, but \"image_size\" in config.json is 12"));
    CHECK_THAT(complaint("preprocessor_config.json", [](json& c) { c["image_mean"] = {0.5}; }),
               Contains("\"image_mean\" is [0.5]: expected a number for each of 3 channels"));
    CHECK_THAT(complaint("preprocessor_config.json",
                         [](json& c) {
                             c["image_std"] = {0.5, 0.0, 0.5};
                         }),
               Contains("\"image_std\" must be at least 0.001"));
    CHECK_THAT(complaint("config.json", [](json& c) { c["num_channels"] = 2; }),
               Contains("\"num_channels\" is 2: only 1 and 3 are supported"));
    CHECK_THAT(complaint("config.json", [](json& c) { c["qkv_bias"] = false; }), Contains("\"qkv_bias\" is false"));
    CHECK_THAT(complaint("config.json", [](json& c) { c["image_size"] = {12, 16}; }), Contains("only squares"));
    CHECK_THAT(complaint("config.json", [](json& c) { c["architectures"] = {"ViTModel"}; }),
               Contains("a ViT without a head for classes"));
    for (const auto& [type, reason] : {std::pair{"deit", "a token of distillation"},
                                       {"clip", "pictures beside texts"},
                                       {"swin", "windows of patches"}}) {
        CHECK_THAT(complaint("config.json", [&](json& c) { c["model_type"] = type; }), Contains(reason));
    }
}
