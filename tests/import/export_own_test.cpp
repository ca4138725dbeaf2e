// Our own language models as GPT-2 and BERT: what is exported splits text and predicts as the model does.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <nlohmann/json.hpp>

#include "data/device_batch.h"
#include "import/export_model.h"
#include "import/open_model.h"
#include "io/strict_json.h"
#include "io/whole_file.h"
#include "model/model.h"
#include "registry/registry.h"
#include "tests/house/files.h"
#include "tests/io/temporary_folder.h"
#include "text/tokenizer_training.h"

using namespace headscope;
using Catch::Matchers::Contains;

namespace {

using nlohmann::json;
using Ids = std::vector<std::int32_t>;

const std::vector<std::string> kLines = {
    "The quiet doctor carries the river.", "The old garden paints the window, but it's warm.",
    "A caf\u00e9 opens; nobody sings!", "Seven cats see 77 birds near the old river garden.",
    "The doctor sees the window."};
const std::vector<std::string> kTexts = {"The old garden sings.",
                                         "  two   blanks and\ta tab ",
                                         "Caf\u00e9s, \u00dcber \u4e2d\u6587 \u00bd \ufb01n",
                                         "unknown: \u0436\u0437 \u0416 x",
                                         "wwwwww ........ ----- 7777777",
                                         "",
                                         "\u00a0the\u3000river\u200b"};

std::shared_ptr<const Tokenizer> trained(TokenizerType type, bool masked, std::int32_t size = 50) {
    TokenizerTraining training;
    training.sentences = kLines;
    training.type = type;
    training.vocabulary_size = size;
    if (masked) {
        training.control_pieces = {"<mask>"};
    }
    return std::make_shared<const Tokenizer>(Tokenizer::from_bytes(train_tokenizer(training), "own tokenizer"));
}

ModelDirectory own_model(const json& options, const std::shared_ptr<const Tokenizer>& tokenizer) {
    json config = {{"d_model", 12}, {"d_ff", 20}, {"heads", 3}, {"max_length", 40}};
    config.update(options);
    config["source_vocabulary"] = tokenizer->size();
    ModelDirectory model{.path = "own", .config = parse_model_config(config, "own")};
    model.source_tokenizer = model.target_tokenizer = tokenizer;
    return model;
}

const char* const kGpt2 = R"({"architecture": "causal-lm", "decoder_layers": 2, "norm": "pre"})";
const char* const kBert = R"({"architecture": "masked-lm", "encoder_layers": 2, "embedding_norm": true,
    "output_transform": true, "output_bias": true, "scale_embedding": false, "activation": "gelu", "mask_id": 4})";

json with(const char* options, const char* more) {
    json all = json::parse(options);
    all.update(json::parse(more));
    return all;
}

std::vector<float> logits(Backend& backend, const ModelConfig& config, const Parameters& parameters, const Ids& ids) {
    Context ctx{.backend = backend};
    const auto network = make_model(config, parameters);
    const Ids length{static_cast<std::int32_t>(ids.size())};
    const DeviceBatch batch{
        .sentences = 1,
        .target = {.ids = make_from_host<std::int32_t>(backend, {1, std::ssize(ids)}, DType::I32, ids),
                   .lengths = make_from_host<std::int32_t>(backend, {1}, DType::I32, length)}};
    return to_host<float>(backend, network->logits(ctx, network->states(ctx, batch)).value());
}

void check_exported(const ModelDirectory& model) {
    const TemporaryFolder folder;
    const auto backend = open_device("cpu");
    Parameters parameters(*backend, model.config, false);
    parameters.initialise(7);
    const std::string place = folder.file("exported");
    export_model(model, parameters, ExportFormat::HuggingFace, place);
    const ModelDirectory other = open_model(place);
    CHECK(other.remarks.empty());
    CHECK(other.target_tokenizer->type() == model.target_tokenizer->type());
    for (const std::string& text : kTexts) {
        INFO(text);
        CHECK(other.target_tokenizer->encode(text) == model.target_tokenizer->encode(text));
    }
    for (const auto member :
         {&FrameConfig::bos_id, &FrameConfig::eos_id, &FrameConfig::unk_id, &FrameConfig::mask_id}) {
        CHECK(other.config.frame.*member == model.config.frame.*member);
    }
    const Ids ids{1, 9, 8, 30, 5, 2};
    const std::vector<float> ours = logits(*backend, model.config, parameters, ids);
    const std::vector<float> theirs =
        logits(*backend, other.config, *read_parameters(*backend, other, DType::F32), ids);
    REQUIRE(ours.size() == theirs.size());
    float worst = 0.0F;
    for (std::size_t i = 0; i < ours.size(); ++i) {
        worst = std::max(worst, std::abs(ours[i] - theirs[i]));
    }
    CHECK(worst < 1e-5F);
    if (model.config.architecture == Architecture::CausalLm) {  // our search writes a piece at least
        CHECK(read_json_file(place + "/generation_config.json")["min_new_tokens"] == 1);
    }
}

}  // namespace

TEST_CASE("an exported language model splits text and predicts as the model does", "[export]") {
    const TokenizerType type = GENERATE(TokenizerType::Bpe, TokenizerType::Unigram, TokenizerType::WordPiece);
    const std::vector<json> all = {
        with(kGpt2, "{}"),
        with(kGpt2, R"({"attention_bias": true, "positions": "learned"})"),
        with(kGpt2, R"({"scale_embedding": false, "sinusoid_layout": "halves"})"),
        with(kGpt2, R"({"tying": "none", "positions": "none"})"),
        with(kBert, "{}"),
        with(kBert, R"({"attention_bias": true, "token_types": 2, "positions": "learned"})")};
    const json options = GENERATE_COPY(from_range(all));
    INFO(static_cast<int>(type) << " " << options);
    check_exported(own_model(options, trained(type, options.contains("mask_id"))));
}

TEST_CASE("an exported tokenizer says what stands around texts", "[export]") {
    const TemporaryFolder folder;
    const auto backend = open_device("cpu");
    const auto files_of = [&](const json& options, bool masked) {
        const ModelDirectory model = own_model(options, trained(TokenizerType::Bpe, masked));
        const std::string place = folder.file(masked ? "masked" : "causal");
        export_model(model, Parameters(*backend, model.config, false), ExportFormat::HuggingFace, place);
        return std::pair{read_json_file(place + "/tokenizer.json"), read_json_file(place + "/tokenizer_config.json")};
    };
    const auto [causal, causal_settings] = files_of(with(kGpt2, "{}"), false);
    CHECK(causal["post_processor"]["single"].size() == 2);
    CHECK(causal_settings["add_bos_token"] == true);
    CHECK(causal_settings["eos_token"] == "</s>");
    const auto [masked, masked_settings] = files_of(with(kBert, "{}"), true);
    CHECK(masked["post_processor"]["single"][2]["SpecialToken"]["id"] == "</s>");
    CHECK(masked_settings["mask_token"] == "<mask>");
    CHECK(masked_settings["cls_token"] == "<s>");
    CHECK(masked_settings["pad_token"] == "<pad>");
}

TEST_CASE("a language model that no format holds is refused", "[export]") {
    const TemporaryFolder folder;
    const auto backend = open_device("cpu");
    const auto tokenizer = trained(TokenizerType::Words, false);
    const ModelDirectory model = own_model(with(kGpt2, R"({"norm": "post", "decoder_mixer": "lstm"})"), tokenizer);
    const Parameters parameters(*backend, model.config, false);
    CHECK_THAT(error_of([&] { export_model(model, parameters, ExportFormat::HuggingFace, folder.file("exported")); }),
               Contains("\"norm.placement\" is \"post\": the format holds \"pre\"") &&
                   Contains("\"mixer.decoder\" is \"lstm\": the format holds \"self_attention\"") &&
                   Contains("own tokenizer: has no form as a tokenizer.json"));
}

TEST_CASE("an exported MarianMT has a pad that both tables have", "[export]") {
    const TemporaryFolder folder;
    const auto backend = open_device("cpu");
    ModelDirectory model =
        own_model(json::parse(R"({"encoder_layers": 1, "decoder_layers": 1, "sinusoid_layout": "halves",
                                  "layer_norm_epsilon": 1e-5, "tying": "target_output"})"),
                  trained(TokenizerType::Unigram, false));
    model.target_tokenizer = trained(TokenizerType::Unigram, false, 52);
    model.config.target_vocabulary = 52;
    model.config.frame.pad_id = 51;
    const std::string place = folder.file("exported");
    export_model(model, Parameters(*backend, model.config, false), ExportFormat::HuggingFace, place);
    CHECK(read_json_file(place + "/config.json")["pad_token_id"] == 0);
    CHECK(read_json_file(place + "/generation_config.json")["pad_token_id"] == 51);
}

TEST_CASE("an exported BERT has a type of tokens", "[export]") {
    const TemporaryFolder folder;
    const auto backend = open_device("cpu");
    const ModelDirectory model = open_model(checkout_file("tests/import/models/hf-distilbert"));
    const auto parameters = read_parameters(*backend, model, DType::F32);
    const std::string place = folder.file("exported");
    export_model(model, *parameters, ExportFormat::HuggingFace, place);
    const ModelDirectory other = open_model(place);
    CHECK(other.config.embedding.token_types == 1);
    const Ids ids{2, 9, 8, 4, 5, 3};
    CHECK(logits(*backend, model.config, *parameters, ids) ==
          logits(*backend, other.config, *read_parameters(*backend, other, DType::F32), ids));
}
