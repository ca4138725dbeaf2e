#include "train/train_config.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <filesystem>

#include <nlohmann/json.hpp>

#include "infer/decoding_choices.h"
#include "model/family.h"
#include "support/check.h"
#include "tests/house/files.h"
#include "tests/io/temporary_folder.h"
#include "train/config_changes.h"
#include "train/validator.h"

using namespace headscope;
using nlohmann::json;

namespace {

json sample() {
    return json::parse(R"({
        "model": {"encoder_layers": 2, "decoder_layers": 1, "d_model": 64, "d_ff": 128, "heads": 4},
        "data": {"train": {"tsv": "train.tsv"}, "valid": {"source": ["a.en", "/b.en"], "target": ["a.de", "/b.de"]}},
        "tokenizer": {"type": "unigram", "vocabulary": 500, "shared": true},
        "training": {"steps": 10, "target_tokens": 512, "smoothing_over": "other_classes", "compute": "bf16"}
    })");
}

std::string complaint(const json& config) {
    return error_of([&] { check_train_config(parse_train_config(config, "dir/c.json", "")); });
}

}  // namespace

TEST_CASE("a configuration is read with the paper's values where it is silent", "[config]") {
    const TrainConfig config = parse_train_config(sample(), "dir/c.json", "");
    CHECK(config.data.train.front().tsv == std::vector<std::string>{"dir/train.tsv"});
    CHECK(config.data.valid.at(0).source == std::vector<std::string>{"dir/a.en", "/b.en"});
    CHECK(config.tokenizer.source.type == TokenizerType::Unigram);
    CHECK(config.identity()["tokenizer.type"] == "unigram");
    json word_piece = sample();
    word_piece["tokenizer"]["type"] = "wordpiece";
    CHECK(parse_train_config(word_piece, "dir/c.json", "").tokenizer.source.type == TokenizerType::WordPiece);
    CHECK(config.tokenizer.target == config.tokenizer.source);
    CHECK(config.training.target_tokens == 512);
    CHECK(config.training.source_tokens == 25000);
    CHECK(config.training.beta2 == 0.98);
    CHECK(config.training.warmup_steps == 4000);
    CHECK(config.training.smoothing == Smoothing::OtherClasses);
    CHECK(config.training.compute == Compute::BF16);
    const ModelConfig model = config.model_config(500, 500);
    CHECK(model.encoder_layers == 2);
    CHECK(model.attention.d_k == 16);  // d_model / heads
    CHECK(model.source_vocabulary == 500);
    CHECK(parse_train_config(sample(), "dir/c.json", "/data").data.train.front().tsv.front() == "/data/train.tsv");
}

TEST_CASE("the target may have a tokenizer of another type", "[config]") {
    json apart = sample();
    apart["tokenizer"]["shared"] = false;
    apart["model"]["tying"] = "none";
    const json one_type = parse_train_config(apart, "dir/c.json", "").identity();
    CHECK_FALSE(one_type.contains("tokenizer.target.type"));
    apart["tokenizer"]["target"] = {{"type", "words"}, {"vocabulary", 90}, {"minimum", 3}};
    const TrainConfig config = parse_train_config(apart, "dir/c.json", "");
    CHECK(config.tokenizer.source.type == TokenizerType::Unigram);
    CHECK(config.tokenizer.source.vocabulary == 500);
    CHECK(config.tokenizer.target.type == TokenizerType::Words);
    CHECK(config.tokenizer.target.vocabulary == 90);
    CHECK(config.tokenizer.target.minimum == 3);
    CHECK(config.identity()["tokenizer.type"] == "unigram");
    CHECK(config.identity()["tokenizer.target.type"] == "words");
    CHECK(config.identity()["tokenizer.target.minimum"] == 3);
    apart["tokenizer"]["target"] = {{"vocabulary", 90}};
    CHECK(parse_train_config(apart, "dir/c.json", "").tokenizer.target.type == TokenizerType::Unigram);
}

TEST_CASE("keys without a meaning are forgotten with the task's architecture in mind", "[config]") {
    json masked = sample();
    masked["task"] = "masked";
    masked["model"] = {{"decoder_layers", 0}, {"token_types", 2}, {"sinusoid_layout", "halves"}};
    masked["data"] = {{"train", {{"text", "a"}}}, {"valid", {{"text", "b"}}}};
    const TrainConfig filled = parse_train_config(masked, "dir/c.json", "");
    CHECK(filled.model["embedding.token_types"] == 2);
    CHECK(filled.model["positions.layout"] == "halves");
    CHECK(filled.model["architecture"] == "masked-lm");
    const json flat = with_flat_model(masked);
    CHECK(flat["model"]["embedding.token_types"] == 2);
    CHECK_FALSE(flat["model"].contains("architecture"));
    json causal = masked;
    causal["task"] = "causal";
    causal["model"] = {{"encoder_layers", 0}, {"decoder_layers", 12}, {"first_position", 1}};
    CHECK(parse_train_config(causal, "dir/c.json", "").model["positions.first"] == 1);
    CHECK(with_flat_model(causal)["model"]["positions.first"] == 1);
}

TEST_CASE("mistakes are named by file and key", "[config]") {
    const auto changed = [](const char* where, const json& value) {
        json config = sample();
        config[json::json_pointer(where)] = value;
        return complaint(config);
    };
    using Catch::Matchers::Contains;
    CHECK(complaint(sample()).empty());
    CHECK_THAT(changed("/training/stepz", 3),
               Contains("dir/c.json") && Contains("\"training.stepz\"") && Contains("did you mean \"steps\"?"));
    CHECK_THAT(changed("/training/nothing_like_it", 3), !Contains("did you mean"));
    CHECK_THAT(changed("/training/steps", "ten"), Contains("\"training.steps\"") && Contains("\"ten\""));
    CHECK_THAT(changed("/training/steps", -1), Contains("\"training.steps\""));
    CHECK_THAT(changed("/training/precison", "bf16"),
               Contains("did you mean \"precision\"?") && Contains(", precision, "));
    CHECK_THAT(changed("/data/jion", json::object()),
               Contains("\"data.jion\"") && Contains("mean \"join\"?") &&
                   Contains("Known here: bpe_dropout, join, source_language, target_language, train, valid"));
    CHECK_THAT(changed("/training/residual_dropout", 1.5), Contains("\"training.residual_dropout\""));
    CHECK_THAT(changed("/training/compute", "fp8"), Contains("\"f32\"") && Contains("\"fp8\""));
    CHECK_THAT(changed("/training/precision", "bf16"), Contains("\"training.compute\"") && Contains("leave it out"));
    CHECK_THAT(changed("/training/loss_scale", 0.5), Contains("\"training.loss_scale\" (0.5)") && Contains("(1)"));
    CHECK_THAT(changed("/training/loss_scale_interval", -1), Contains("\"training.loss_scale_interval\""));
    CHECK_THAT(changed("/tokenizer/typ", "bpe"), Contains("\"tokenizer.typ\""));
    CHECK_THAT(changed("/tokenizer/type", "bep"), Contains("\"tokenizer.type\"") && Contains("\"wordpiece\""));
    CHECK_THAT(changed("/tokenizer/minimum", 2), Contains("\"tokenizer.minimum\" is only for the type \"words\""));
    CHECK_THAT(changed("/tokenizer/target", json::object()),
               Contains("\"tokenizer.target\"") && Contains("\"tokenizer.shared\" false"));
    CHECK_THAT(changed("/extra", 1), Contains("\"extra\""));
    CHECK_THAT(changed("/model/widht", 1), Contains("\"model.widht\" is unknown. Known here: architecture, "));
    CHECK_THAT(changed("/model/dmodel", 1), Contains("\"model.dmodel\" is unknown; did you mean \"d_model\"?"));
    CHECK_THAT(changed("/model/source_vocabulary", 9), Contains("model.source_vocabulary"));
    CHECK_THAT(changed("/training/warmup", 3), Contains("did you mean \"warmup_steps\"?"));
    CHECK_THAT(changed("/model/heads", 0), Contains("heads"));
    CHECK_THAT(changed("/model/heads", 5), Contains("\"model.attention.heads\" (5)") && Contains("d_k"));
    CHECK_THAT(changed("/data/train/source", "x"), Contains("data.train"));
    CHECK_THAT(changed("/data/valid/target", "x"), Contains("data.valid.target"));
    CHECK_THAT(changed("/training/average_last", 9), Contains("average_last"));
    CHECK_THAT(changed("/training/cooldown_steps", 11), Contains("cooldown_steps"));
    CHECK_THAT(changed("/training/target_tokens", 199),
               Contains("training.target_tokens") && Contains("padded to 200"));
    CHECK_THAT(changed("/training/micro_batch_tokens", 100), Contains("micro_batch_tokens"));
    CHECK_THAT(changed("/model/max_length", 100), Contains("\"model.max_length\" (100)"));
    CHECK_THAT(changed("/training/steps", 0), Contains("\"steps\""));
    CHECK_THAT(changed("/tokenizer/shared", false), Contains("tying"));
    json lacking = sample();
    lacking.erase("data");
    CHECK_THAT(complaint(lacking), Contains("\"data\" is missing; found here: model, tokenizer, training"));
    lacking["dat"] = sample()["data"];
    CHECK_THAT(complaint(lacking), Contains("\"data\" is missing; is \"dat\" a misspelling of it?"));
}

TEST_CASE("corpora have target languages of their own, or none has one", "[config]") {
    using Catch::Matchers::Contains;
    json config = sample();
    const json corpus = config["data"]["train"];
    const auto in = [&](const char* language) {
        json one = corpus;
        one["target_language"] = language;
        return one;
    };
    config["data"]["train"] = {in("de"), in("fr"), in("de")};
    config["data"]["valid"] = {in("fr"), in("de")};
    const TrainConfig parsed = parse_train_config(config, "dir/c.json", "");
    CHECK(parsed.data.target_languages() == std::vector<std::string>{"de", "fr"});
    CHECK(parsed.data.languages_of(parsed.data.train[1]).target == "fr");
    CHECK(parsed.data.train[1].given("Hello") == ">>fr<< Hello");
    CHECK(parsed.data.corpora().size() == 5);
    CHECK(parsed.identity().at("data.target_languages") == json({"de", "fr", "de"}));
    const ModelConfig model = parsed.model_config(50, 50);
    CHECK(model.frame.source_begin == std::vector<std::int32_t>{kTargetLanguage});
    CHECK(model.frame.languages == std::map<std::string, std::int32_t>{{"de", 4}, {"fr", 5}});
    const auto with = [&](const char* where, const json& value) {
        json changed = config;
        changed[json::json_pointer(where)] = value;
        return complaint(changed);
    };
    CHECK(with("/data/train/1", in("it")) ==
          "dir/c.json: \"data.valid[0].target_language\" must be one of \"data.train\" (de, it), got \"fr\"");
    CHECK_THAT(with("/data/train/1", corpus),
               Contains("\"data.train[1]\" must have a \"target_language\", like the other corpora: de"));
    CHECK_THAT(with("/data/valid", corpus), Contains("\"data.valid\" must have a \"target_language\""));
    CHECK_THAT(with("/data/train", corpus),
               Contains("\"data.valid[0].target_language\" must be one of \"data.train\" (which has none)"));
    CHECK_THAT(with("/data/train/0", in(">>de<<")), Contains("letters, digits, - and _") && Contains(">>de<<"));
    CHECK_THAT(with("/data/target_language", "de"), Contains("\"data.target_language\" is of all pairs"));
    CHECK_THAT(with("/data/valid", json::array()), Contains("\"data.valid\" must name at least one corpus"));
    CHECK_THAT(with("/data/valid/0/weight", 2), Contains("\"data.valid[0].weight\""));
    json masked = config;
    masked["task"] = "masked";
    masked["data"] = {{"train", {{"text", "a.txt"}, {"target_language", "de"}}}};
    CHECK_THAT(complaint(masked), Contains("\"data.train.target_language\""));
}

TEST_CASE("a file that is missing or no JSON is named", "[config]") {
    const TemporaryFolder folder;
    CHECK_THAT(error_of([&] { read_train_config(folder.file("none.json"), ""); }),
               Catch::Contains("none.json") && Catch::Contains("No such file"));
    CHECK_THAT(error_of([&] { read_train_config(folder.file(""), ""); }), Catch::Contains("is a directory"));
    const std::string broken = folder.write("broken.json", "{\n\"model\": }");
    CHECK_THAT(error_of([&] { read_train_config(broken, ""); }),
               Catch::Contains("broken.json is not valid JSON: parse error at line 2"));
    const std::string twice = folder.write("twice.json", R"({"training": {"steps": 4, "seed": 1, "steps": 8}})");
    CHECK_THAT(error_of([&] { read_train_config(twice, ""); }), Catch::Contains("twice.json: duplicate key \"steps\""));
}

TEST_CASE("the shipped configurations can be read", "[config]") {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(checkout_file("assets/configs"))) {
        if (entry.path().extension() == ".json") {
            INFO(entry.path());
            CHECK_NOTHROW(check_train_config(read_train_config(entry.path().string(), "")));
        }
    }
}

TEST_CASE("the paper's recipes have the paper's values", "[config]") {
    struct Recipe {
        const char* name;
        bool big, french;
    };
    for (const Recipe& recipe : {Recipe{"base-en-de", false, false}, Recipe{"big-en-de", true, false},
                                 Recipe{"base-en-fr", false, true}, Recipe{"big-en-fr", true, true}}) {
        INFO(recipe.name);
        const std::string file = checkout_file(std::string("assets/configs/paper/") + recipe.name + ".json");
        const TrainConfig config = read_train_config(file, "data");
        check_train_config(config);
        CHECK(config.data.train.front().tsv == std::vector<std::string>{"data/wmt14/train.tsv"});
        // 3.1, 3.4 and Table 3.
        ModelConfig model;
        if (recipe.big) {
            model.d_model = 1024;
            model.feed_forward.d_ff = 4096;
            model.attention.heads = 16;
        }
        const std::int64_t pieces = recipe.french ? 32000 : 37000;  // 5.1
        model.source_vocabulary = model.target_vocabulary = pieces;
        CHECK(to_json(config.model_config(pieces, pieces)) == to_json(model));
        CHECK(model.norm.placement == NormPlacement::Post);
        CHECK(config.tokenizer.source.type == (recipe.french ? TokenizerType::WordPiece : TokenizerType::Bpe));
        CHECK(config.tokenizer.source.vocabulary == pieces);
        CHECK(config.tokenizer.shared);
        const TrainingOptions& t = config.training;
        CHECK(t.source_tokens == 25000);
        CHECK(t.target_tokens == 25000);
        // 5.2: 100,000 or 300,000 steps, and no other limit.
        CHECK(t.steps == (recipe.big ? 300'000 : 100'000));
        CHECK((t.epochs == 0.0 && t.tokens == 0 && t.minutes == 0.0 && t.patience == 0));
        // 5.3, with nothing else that changes the rate or the gradient.
        CHECK((t.beta1 == 0.9 && t.beta2 == 0.98 && t.epsilon == 1e-9 && t.clip_norm == 0.0));
        const Schedule schedule = config.schedule(model);
        CHECK(schedule(4000) == Approx(1.0 / std::sqrt(static_cast<double>(model.d_model) * 4000.0)));
        CHECK(schedule(1000) == Approx(schedule(4000) / 4.0));
        CHECK(schedule(16000) == Approx(schedule(4000) / 2.0));
        CHECK(schedule(t.steps) == Approx(schedule(4000) * std::sqrt(4000.0 / static_cast<double>(t.steps))));
        // 5.4, and 6.1 for the big French model.
        const double dropout = recipe.big && !recipe.french ? 0.3 : 0.1;
        CHECK((t.residual_dropout == dropout && t.embedding_dropout == dropout));
        CHECK((t.attention_dropout == 0.0 && t.activation_dropout == 0.0));
        CHECK((t.label_smoothing == 0.1 && t.smoothing == Smoothing::AllClasses));
        // 6.1: the mean of the last checkpoints, of every ten minutes.
        CHECK((t.checkpoint_minutes == 10.0 && t.checkpoint_every == 0));
        CHECK((t.average_last == (recipe.big ? 20 : 5) && t.keep_last == t.average_last && t.average_always));
        CHECK((t.ema_decay == 0.0 && !t.precision && t.compute == Compute::F32));
    }
}

TEST_CASE("models that say nothing else are decoded as in the paper", "[config]") {  // 6.1
    const SearchOptions search;
    CHECK((search.beam == 4 && search.length_penalty == 0.6 && search.max_extra == 50));
    CHECK((search.length_penalty_form == LengthPenaltyForm::Gnmt && search.no_repeat_ngram == 0));
    // What a run writes leaves these open.
    const DecodingChoices written = parse_decoding_choices(default_decoding(256, {}), "decoding.json");
    CHECK(written == DecodingChoices{.split_longer_than = 256});
}

TEST_CASE("a configuration that comes with the program is found by its name", "[config]") {
    const std::vector<std::filesystem::path> places{checkout_file("assets")};
    const std::string found = find_config("paper/big-en-fr", places);
    CHECK(std::filesystem::equivalent(found, checkout_file("assets/configs/paper/big-en-fr.json")));
    CHECK(find_config("none.json", places) == "none.json");  // which its reader reports
    CHECK_THAT(error_of([&] { find_config("paper/big-en-fra", places); }),
               Catch::Contains("'paper/big-en-fra' is neither a file nor a configuration") &&
                   Catch::Contains("did you mean 'paper/big-en-fr'?") && Catch::Contains("digits, "));
    const TemporaryFolder folder;
    const std::string file = folder.write("mine", "{}");
    CHECK(find_config(file, places) == file);
}

TEST_CASE("what decides the weights is part of a run's identity, what does not is not", "[config]") {
    const json before = parse_train_config(sample(), "c.json", "").identity();
    const auto with = [](const char* key, const json& value) {
        json config = sample();
        config["training"][key] = value;
        return parse_train_config(config, "c.json", "").identity();
    };
    CHECK(with("steps", 20) == before);
    CHECK(with("keep_last", 9) == before);
    CHECK(with("seed", 2) != before);
    CHECK(with("adam_beta2", 0.99) != before);
    // Options that earlier runs lacked, at their defaults, leave those runs what they were.
    CHECK(with("label_smoothing_towards", "uniform") == before);
    CHECK(with("label_smoothing_towards", "unigram") != before);
    CHECK(with("weight_decay", 0.0) == before);
    CHECK(with("weight_decay", 0.01) != before);
    CHECK(with("expert_balance", 0.01) == before);
    json cooled = sample();
    cooled["training"]["cooldown_steps"] = 5;
    const json ten = parse_train_config(cooled, "c.json", "").identity();
    cooled["training"]["steps"] = 20;
    CHECK(parse_train_config(cooled, "c.json", "").identity() != ten);
}

TEST_CASE("a run that goes on may change its length until its rate falls, and its rate with a warning", "[config]") {
    using Catch::Matchers::Contains;
    const auto identity = [](json changes) {
        json config = sample();
        config["training"].update(changes);
        return parse_train_config(config, "c.json", "").identity();
    };
    const json cooled = identity({{"steps", 2000}, {"cooldown_steps", 600}});  // falls from step 1402 on
    const auto refused = [&](const json& now, std::int64_t step) {
        return compare_configs(cooled, now, {.steps = step}, Purpose::Train).refused;
    };
    const json shorter = identity({{"steps", 1500}, {"cooldown_steps", 600}});  // falls from step 902 on
    CHECK(refused(shorter, 901).empty());
    CHECK_THAT(refused(shorter, 902), Contains("\"training.steps\" was 2000 and is now 1500") &&
                                          Contains("from step 1402 on") && Contains("from step 902 on") &&
                                          Contains("after step 902") && !Contains("--steps"));
    const json longer = identity({{"steps", 3000}, {"cooldown_steps", 600}});
    CHECK(refused(longer, 1401).empty());
    CHECK_THAT(refused(longer, 1402), Contains("give --steps 2000 again"));
    CHECK(refused(cooled, 1999).empty());
    CHECK_THAT(refused(identity({{"steps", 2000}, {"cooldown_steps", 700}}), 1402),
               Contains("\"training.cooldown_steps\" was 600 and is now 700"));
    CHECK(refused(identity({{"steps", 2000}}), 1401).empty());
    CHECK_THAT(refused(identity({{"steps", 2000}}), 1402), Contains("never"));

    const json share = identity({{"steps", 17}, {"epochs", 2.5}, {"cooldown", 0.5}});
    const json less = identity({{"steps", 0}, {"epochs", 2.5}, {"cooldown", 0.5}});
    CHECK_THAT(
        compare_configs(share, less, {.steps = 16}, Purpose::Train).refused,
        Contains("the length of the training was 17 steps or 2.5 epochs and is now 2.5 epochs") &&
            Contains("over the last 0.5 of 17 steps or 2.5 epochs and would now over the last 0.5 of 2.5 epochs"));

    const json other = identity({{"steps", 9}, {"seed", 2}, {"learning_rate_scale", 0.5}, {"clip_norm", 1.0}});
    CHECK_THAT(refused(other, 1), Contains("\"training.seed\" was 1 and is now 2"));
    CHECK(compare_configs(cooled, other, {.steps = 1}, Purpose::Train).allowed.size() == 2);
    const ConfigChanges finishing = compare_configs(cooled, other, {.steps = 2000}, Purpose::Finish);
    CHECK((finishing.refused.empty() && finishing.allowed.empty()));
    json model = other;
    model["model"]["attention.heads"] = 2;
    CHECK_THAT(compare_configs(cooled, model, {.steps = 2000}, Purpose::Finish).refused,
               Contains("model: \"attention.heads\" was 4 and is now 2"));
}

TEST_CASE("a precision is one of four, and a run may go on in another", "[config]") {
    json settings = sample();
    settings["training"].erase("compute");
    CHECK(!parse_train_config(settings, "c.json", "").training.precision.has_value());
    const auto with = [&](const char* precision, int interval) {
        settings["training"]["precision"] = precision;
        settings["training"]["loss_scale_interval"] = interval;
        return parse_train_config(settings, "c.json", "");
    };
    CHECK(with("tf32", 3).training.precision == Precision::TF32);
    CHECK_THAT(error_of([&] { with("fp8", 3); }),
               Catch::Contains("\"training.precision\"") && Catch::Contains("\"f16\""));
    const TrainConfig half = with("f16", 3);
    CHECK(half.training.loss_scale == 32768.0);
    CHECK(half.training.loss_scale_most == 16777216.0);
    const auto changes = [](const TrainConfig& then, const TrainConfig& now) {
        return compare_configs(then.identity(), now.identity(), {.steps = 5}, Purpose::Train);
    };
    CHECK(changes(half, with("bf16", 3)).refused.empty());
    CHECK(changes(with("f32", 3), half).refused.empty());
    const ConfigChanges slower = changes(half, with("f16", 4));
    CHECK(slower.refused.empty());
    REQUIRE(slower.allowed.size() == 1);
    CHECK(slower.allowed.front() == "\"training.loss_scale_interval\" was 3 and is now 4");
}

TEST_CASE("a loss that balances experts needs experts", "[config]") {
    json config = sample();
    config["training"]["expert_balance"] = 0.1;
    CHECK_THROWS_WITH(check_train_config(parse_train_config(config, "c.json", "")),
                      Catch::Matchers::Contains("\"training.expert_balance\" (0.1)") &&
                          Catch::Matchers::Contains("\"model.feed_forward.experts.count\""));
    config["model"]["experts"] = 4;
    CHECK_NOTHROW(check_train_config(parse_train_config(config, "c.json", "")));
}

TEST_CASE("each task trains the models of a family", "[task]") {
    const auto known = families();
    for (const TaskTraits& task : tasks()) {
        CHECK(std::any_of(known.begin(), known.end(),
                          [&](const FamilyTraits& family) { return family.key == std::string(task.family); }));
    }
}
