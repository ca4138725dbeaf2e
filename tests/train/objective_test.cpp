// The losses of comparisons against PyTorch and TRL (tests/golden/make_preference_losses.py).
#include "train/objective.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "infer/response_scores.h"
#include "io/whole_file.h"
#include "tests/house/files.h"
#include "tests/model/hashed_numbers.h"
#include "tests/model/small_model.h"
#include "tests/ops/devices.h"
#include "train/compared_scores.h"
#include "train/learner.h"

using namespace headscope;

namespace {

const nlohmann::json& preference_vectors() {
    static const nlohmann::json read = [] {
        const std::string file = checkout_file("tests/golden/preference_losses.json");
        return nlohmann::json::parse(read_whole_file(file, file));
    }();
    return read;
}

using Ids = std::vector<std::int32_t>;

// Texts of one prompt, which all but the prompt's pieces and the last are to be predicted.
Example ranked_texts(const Ids& prompt, const std::vector<Ids>& responses, const Ids& ranks, std::int32_t eos) {
    Example example{.ranks = ranks};
    for (const Ids& response : responses) {
        example.starts.push_back(static_cast<std::int32_t>(example.target.size()));
        Ids text = prompt;
        text.insert(text.end(), response.begin(), response.end());
        text.push_back(eos);
        example.target.insert(example.target.end(), text.begin(), text.end());
        for (std::size_t i = 1; i <= text.size(); ++i) {
            example.labels.push_back(i >= prompt.size() && i < text.size() ? text[i] : kNoTarget);
        }
    }
    if (ranks.empty()) {
        example.starts.clear();
    }
    return example;
}

ModelConfig small_causal(OutputHead head) {
    ModelConfig config = small_config();
    config.architecture = Architecture::CausalLm;
    config.encoder_layers = 0;
    config.decoder_layers = 1;
    config.output.head = head;
    return config;
}

std::vector<Example> small_comparisons() {
    return {ranked_texts({4, 5}, {{6, 7}, {8}, {9, 10, 6}}, {1, 2, 2}, 2), ranked_texts({7}, {{5}, {6, 4}}, {2, 1}, 2)};
}

double objective_loss(SmallModel& model, const Objective& objective, const Batch& host, const LossOptions& options,
                      bool gradients) {
    Tape tape;
    Context ctx{*model.backend, gradients ? &tape : nullptr};
    return model.host(objective.loss(ctx, *model.model, upload(*model.backend, host), options).loss)[0];
}

// The tape's gradients against central differences.
void check_gradients(SmallModel& model, const Objective& objective, const Batch& host, const LossOptions& options) {
    from_host(*model.backend, model.parameters.flat_gradients(),
              std::vector<double>(static_cast<std::size_t>(model.parameters.total())));
    model.parameters.forget_gradients();
    objective_loss(model, objective, host, options, true);
    Random random(6);
    double largest = 0.0;
    for (const ParameterSpec& spec : model.parameters.table()) {
        const Var parameter = model.parameters.at(spec.name);
        std::vector<double> values = model.host(parameter.value());
        const std::vector<double> gradient =
            parameter.has_gradient() ? model.host(parameter.gradient()) : std::vector<double>(values.size());
        for (int sample = 0; sample < 4; ++sample) {
            const std::size_t entry = random.below(values.size());
            const double kept = values[entry];
            constexpr double kStep = 1e-5;
            const auto loss_at = [&](double value) {
                values[entry] = value;
                from_host(*model.backend, parameter.value(), values);
                return objective_loss(model, objective, host, options, false);
            };
            const double expected = (loss_at(kept + kStep) - loss_at(kept - kStep)) / (2.0 * kStep);
            loss_at(kept);
            INFO(spec.name << "[" << entry << "]");
            CHECK(gradient[entry] == Approx(expected).epsilon(1e-6).margin(2e-6));
            largest = std::max(largest, std::abs(expected));
        }
    }
    CHECK(largest > 1e-3);
}

}  // namespace

TEST_CASE("comparisons have the losses and gradients of PyTorch", "[objective]") {
    for (const std::string& device : conformance::devices_under_test()) {
        const auto backend = open_device(device, environment_options());
        for (const nlohmann::json& of : preference_vectors().at("comparisons")) {
            std::vector<Example> examples;
            std::vector<float> scores;
            const auto ranks = of.at("ranks").get<std::vector<Ids>>();
            for (std::size_t prompt = 0; prompt < ranks.size(); ++prompt) {
                examples.push_back(ranked_texts({4}, std::vector<Ids>(ranks[prompt].size(), {5}), ranks[prompt], 2));
                for (const double score : of.at("scores")[prompt]) {
                    scores.push_back(static_cast<float>(score));
                }
            }
            const DeviceBatch batch = upload(*backend, make_batch(examples, {}, 0));
            const Tensor given = make_from_host(*backend, {std::ssize(scores), 1}, backend->full_dtype(), scores);
            const ComparedScores found =
                compare_scores(*backend, given, given, batch.comparisons, {.epsilon = of.at("noise")});
            INFO(device << ": " << of.dump());
            CHECK(to_host<double>(*backend, found.sums.loss)[0] ==
                  Approx(of.at("loss").get<double>()).epsilon(1e-5).margin(1e-6));
            CHECK(to_host<double>(*backend, found.sums.nll)[0] ==
                  Approx(of.at("nll").get<double>()).epsilon(1e-5).margin(1e-6));
            const auto gradient = to_host<double>(*backend, found.gradient);
            for (std::size_t i = 0; i < gradient.size(); ++i) {
                CHECK(gradient[i] == Approx(of.at("gradient")[i].get<double>()).epsilon(1e-5).margin(1e-6));
            }
        }
    }
}

TEST_CASE("measures count pairs in the order of people, and half of those without an order", "[objective]") {
    const auto backend = open_device("cpu");
    const Example example = ranked_texts({4}, {{5}, {5}, {5}}, {1, 2, 3}, 2);
    const DeviceBatch batch = upload(*backend, make_batch(std::vector{example}, {}, 0));
    const Tensor scores = make_from_host<float>(*backend, {3, 1}, DType::F32, {1.0F, 1.0F, 4.0F});
    const ComparedScores found = compare_scores(*backend, scores, scores, batch.comparisons);
    const auto measures = to_host<double>(*backend, found.sums.measures);
    CHECK(measures[0] == Approx(0.5 / 3.0));   // accuracy
    CHECK(measures[1] == Approx(-6.0 / 3.0));  // margin
    CHECK(measures[2] == Approx(1.0));         // of the better ones
    CHECK(measures[3] == Approx((1.0 + 4.0 + 4.0) / 3.0));
}

TEST_CASE("the gradients of a reward model agree with central differences", "[objective]") {
    SmallModel model(small_causal(OutputHead::Scalar), "cpu:oracle");
    const Var weight = model.parameters.at("output.scalar.weight");
    std::vector<double> values = model.host(weight.value());
    CHECK(std::all_of(values.begin(), values.end(), [](double value) { return value == 0.0; }));
    for (std::size_t i = 0; i < values.size(); ++i) {
        values[i] = 0.3 - 0.1 * static_cast<double>(i);
    }
    from_host(*model.backend, weight.value(), values);
    check_gradients(model, reward_objective(), make_batch(small_comparisons(), {}, 0), {.epsilon = 0.1F});
}

TEST_CASE("the gradients of preferences agree with central differences, chunk by chunk", "[objective]") {
    SmallModel model(small_causal(OutputHead::Vocabulary), "cpu:oracle");
    std::vector<Example> examples = small_comparisons();
    examples[0].references = {-3.0F, -1.0F, -6.0F};
    examples[1].references = {-2.0F, -5.0F};
    check_gradients(model, preference_objective(0.3), make_batch(examples, {}, 0), {.epsilon = 0.2F, .chunk_rows = 3});
}

TEST_CASE("a model that is its own reference prefers nothing, whatever it is batched with", "[objective]") {
    SmallModel model(small_causal(OutputHead::Vocabulary), "cpu");
    std::vector<Example> examples = small_comparisons();
    Context ctx{*model.backend};
    for (Example& example : examples) {
        const auto scores = score_responses(ctx, *model.model, std::vector{example}, {}, 1);
        example.references.assign(scores.front().begin(), scores.front().end());
    }
    const double loss =
        objective_loss(model, preference_objective(0.5), make_batch(examples, {}, 0), {.epsilon = 0.0F}, false);
    CHECK(loss == Approx(2.0 * std::log(2.0)).epsilon(1e-6));
}

TEST_CASE("a response has the same score alone and in any batch", "[objective][scores]") {
    for (const std::string& device : conformance::devices_under_test()) {
        for (const OutputHead head : {OutputHead::Vocabulary, OutputHead::Scalar}) {
            SmallModel model(small_causal(head), device);
            const std::vector<Example> examples = small_comparisons();
            Context ctx{*model.backend};
            const auto together = score_responses(ctx, *model.model, examples, {}, 1000);
            for (std::size_t i = 0; i < examples.size(); ++i) {
                const auto texts = texts_of(examples[i]);
                for (std::size_t text = 0; text < texts.size(); ++text) {
                    const auto alone = score_responses(ctx, *model.model, std::vector{texts[text]}, {}, 1);
                    CHECK(alone.front().front() == Approx(together[i][text]).epsilon(1e-5).margin(1e-6));
                }
            }
        }
    }
}

namespace {

ModelConfig scored_model(Architecture architecture, OutputHead head, ScoredState scored, ScoreLayer layer) {
    ModelConfig config = small_config();
    config.architecture = architecture;
    config.encoder_layers = architecture == Architecture::CausalLm ? 0 : 1;
    config.decoder_layers = architecture == Architecture::MaskedLm ? 0 : 1;
    config.output.head = head;
    config.output.scored = scored;
    config.output.layer = layer;
    if (config.output.has_classes()) {
        config.output.labels = {"good", "bad", "neither"};
    }
    if (architecture == Architecture::MaskedLm) {
        config.frame.mask_id = 3;
        config.embedding.token_types = 2;
    }
    return config;
}

// Scores begin at 0, which would hide what they are made of.
void fill_scores(SmallModel& model) {
    Random random(8);
    for (const ParameterSpec& spec : model.parameters.table()) {
        if (spec.name == "output.classes.weight" || spec.name == "output.scalar.weight") {
            std::vector<double> values(static_cast<std::size_t>(spec.shape.elements()));
            for (double& value : values) {
                value = random.uniform() - 0.5;
            }
            from_host(*model.backend, model.parameters.at(spec.name).value(), values);
        }
    }
    model.parameters.refresh_working();
}

// Texts of some lengths, so that there is padding, with a label each.
Batch labelled_texts(const ModelConfig& config) {
    std::vector<Example> examples;
    const std::vector<Ids> texts{{1, 4, 5, 2}, {1, 6, 7, 8, 9, 4, 2}, {1, 5, 2}};
    for (std::size_t i = 0; i < texts.size(); ++i) {
        Example example{.target = texts[i]};
        if (config.architecture == Architecture::EncoderDecoder) {
            example.source = std::exchange(example.target, {1});
        }
        const std::size_t length = example.target.size();
        const std::size_t at = config.output.scored == ScoredState::Last ? length - 1 : 0;
        example.labels.assign(length, kNoTarget);
        example.weights.assign(length, 1.0F);
        example.labels[at] = config.output.head == OutputHead::Classes ? static_cast<std::int32_t>(i) : 0;
        if (config.output.head == OutputHead::Scalar) {
            example.numbers = {static_cast<float>(i) - 0.5F};
        } else if (config.output.head == OutputHead::Labels) {
            example.numbers = {1.0F, i == 0 ? 1.0F : -1.0F, i == 1 ? 1.0F : -1.0F};
        }
        examples.push_back(example);
    }
    return make_batch(examples, {}, 0);
}

}  // namespace

TEST_CASE("the losses of classes and numbers have the gradients of central differences", "[objective]") {
    const auto head = GENERATE(OutputHead::Classes, OutputHead::Labels, OutputHead::Scalar);
    const auto scored = GENERATE(ScoredState::First, ScoredState::Last, ScoredState::Mean);
    const auto layer = GENERATE(ScoreLayer::None, ScoreLayer::Relu, ScoreLayer::Tanh);
    const auto architecture = GENERATE(Architecture::MaskedLm, Architecture::CausalLm, Architecture::EncoderDecoder);
    CAPTURE(static_cast<int>(head), static_cast<int>(scored), static_cast<int>(layer), static_cast<int>(architecture));
    SmallModel model(scored_model(architecture, head, scored, layer), "cpu:oracle");
    fill_scores(model);
    const Objective objective = head == OutputHead::Classes  ? class_objective()
                                : head == OutputHead::Labels ? labels_objective()
                                                             : number_objective();
    const float noise = model.config.output.has_classes() ? 0.1F : 0.0F;
    check_gradients(model, objective, labelled_texts(model.config), {.epsilon = noise});
}

TEST_CASE("the mean of a text's states is that of its own tokens", "[objective]") {
    for (const std::string& device : conformance::devices_under_test()) {
        const ModelConfig config =
            scored_model(Architecture::MaskedLm, OutputHead::Classes, ScoredState::Mean, ScoreLayer::None);
        SmallModel model(config, device);
        fill_scores(model);
        const Batch host = labelled_texts(config);
        Context ctx{*model.backend};
        const DeviceBatch batch = upload(*model.backend, host);
        const std::vector<double> states = model.host(model.model->states(ctx, batch).value());
        const std::vector<double> weight = model.host(model.parameters.at("output.classes.weight").value());
        const std::vector<double> bias = model.host(model.parameters.at("output.classes.bias").value());
        const std::vector<double> found = model.host(model.model->label_scores(ctx, batch).value());
        const auto width = static_cast<std::size_t>(config.d_model);
        const auto padded = static_cast<std::size_t>(host.target.length);
        const bool all = host.predicted.rows.empty();
        for (std::size_t text = 0; text < host.target.lengths.size(); ++text) {
            const auto length = static_cast<std::size_t>(host.target.lengths[text]);
            for (std::size_t label = 0; label < 3; ++label) {
                double expected = 0.0;
                for (std::size_t at = 0; at < length; ++at) {
                    for (std::size_t i = 0; i < width; ++i) {
                        expected += states[(text * padded + at) * width + i] * weight[label * width + i];
                    }
                }
                const std::size_t row = all ? text * padded : text;
                expected = expected / static_cast<double>(length) + bias[label];
                CHECK(found[row * 3 + label] == Approx(expected).margin(1e-4));
            }
        }
    }
}

TEST_CASE("the loss of several labels is the mean of binary cross-entropies", "[objective]") {
    for (const std::string& device : conformance::devices_under_test()) {
        const ModelConfig config =
            scored_model(Architecture::MaskedLm, OutputHead::Labels, ScoredState::First, ScoreLayer::None);
        SmallModel model(config, device);
        fill_scores(model);
        const Batch host = labelled_texts(config);
        const DeviceBatch batch = upload(*model.backend, host);
        Context ctx{*model.backend};
        const LossSums sums = labels_objective().loss(ctx, *model.model, batch, {.epsilon = 0.0F});
        const std::vector<double> scores = model.host(model.model->label_scores(ctx, batch).value());
        double loss = 0.0;
        double right = 0.0;
        for (std::size_t i = 0; i < scores.size(); ++i) {
            if (host.predicted.classes[i / 3] != kNoTarget) {
                const double margin = scores[i] * host.predicted.numbers[i];
                loss += std::log1p(std::exp(-margin)) / 3.0;
                right += margin > 0.0 ? 1.0 / 3.0 : 0.0;
            }
        }
        CHECK(model.host(sums.loss)[0] == Approx(loss).epsilon(1e-5));
        CHECK(model.host(sums.nll)[0] == Approx(loss).epsilon(1e-5));
        CHECK(model.host(sums.measures)[0] == Approx(right).margin(1e-3));
    }
}

TEST_CASE("accuracy is the share of texts whose class has the highest score", "[objective]") {
    for (const std::string& device : conformance::devices_under_test()) {
        const ModelConfig config =
            scored_model(Architecture::MaskedLm, OutputHead::Classes, ScoredState::First, ScoreLayer::None);
        SmallModel model(config, device);
        fill_scores(model);
        const Batch host = labelled_texts(config);
        Context ctx{*model.backend};
        const LossSums sums =
            class_objective().loss(ctx, *model.model, upload(*model.backend, host), {.epsilon = 0.0F});
        const std::vector<double> scores =
            model.host(model.model->label_scores(ctx, upload(*model.backend, host)).value());
        double right = 0.0;
        for (std::size_t row = 0; row < host.predicted.classes.size(); ++row) {
            const auto first = scores.begin() + static_cast<std::ptrdiff_t>(3 * row);
            right += std::max_element(first, first + 3) - first == host.predicted.classes[row] ? 1.0 : 0.0;
        }
        CHECK(model.host(sums.measures)[0] == Approx(right).margin(1e-3));
    }
}

namespace {

ModelConfig as_gpt2(OutputHead head) {
    const nlohmann::json& from = preference_vectors();
    ModelConfig config;
    config.architecture = Architecture::CausalLm;
    config.encoder_layers = 0;
    config.decoder_layers = from.at("layers");
    config.d_model = from.at("width");
    config.feed_forward.d_ff = 4 * config.d_model;
    config.feed_forward.activation = Activation::GeluTanh;
    config.attention.heads = from.at("heads");
    config.attention.d_k = config.attention.d_v = config.d_model / config.attention.heads;
    config.attention.bias = true;
    config.norm.placement = NormPlacement::Pre;
    config.norm.epsilon = 1e-5F;
    config.positions.kind = Positions::Learned;
    config.embedding.scale = false;
    config.max_length = from.at("length");
    config.source_vocabulary = config.target_vocabulary = from.at("words");
    config.output.head = head;
    return config;
}

std::vector<Example> trained_examples(const std::string& task) {
    std::vector<Example> examples;
    for (const nlohmann::json& of : preference_vectors().at("examples")) {
        const auto [prompt, chosen, rejected] =
            std::tuple{of.at("prompt").get<Ids>(), of.at("chosen").get<Ids>(), of.at("rejected").get<Ids>()};
        examples.push_back(task == "sft" ? ranked_texts(prompt, {chosen}, {}, 2)
                                         : ranked_texts(prompt, {chosen, rejected}, {1, 2}, 2));
    }
    return examples;
}

// The losses before each step of a training by all examples at once.
std::vector<double> losses_of_training(const std::string& device, const std::string& task) {
    const nlohmann::json& from = preference_vectors();
    const auto backend = open_device(device, environment_options());
    LearnerOptions options{
        .optimizer = {.beta1 = 0.9F, .beta2 = 0.98F, .epsilon = 1e-9F}, .loss = {.epsilon = 0.0F}, .history = 1};
    if (task != "sft") {
        options.objective = task == "reward" ? reward_objective() : preference_objective(from.at("beta"));
    }
    Learner learner(*backend, as_gpt2(task == "reward" ? OutputHead::Scalar : OutputHead::Vocabulary), options);
    set_hashed_parameters(learner.parameters());
    std::vector<Example> examples = trained_examples(task);
    if (task == "dpo") {
        Context ctx{*backend};
        const auto model = make_model(learner.model_config(), learner.parameters());
        const auto scores = score_responses(ctx, *model, examples, {}, 1000);
        for (std::size_t i = 0; i < examples.size(); ++i) {
            examples[i].references.assign(scores[i].begin(), scores[i].end());
        }
    }
    const std::vector<Batch> parts{make_batch(std::span(examples).first(3), {}, 0),
                                   make_batch(std::span(examples).subspan(3), {}, 6)};
    std::vector<double> losses;
    for (std::size_t step = 1; step <= from.at("losses").at(task).size(); ++step) {
        learner.step(parts, static_cast<std::int64_t>(step), from.at("rate"));
        const StepRecord record = learner.take_history().front();
        losses.push_back(record.loss / record.divisor);
    }
    return losses;
}

}  // namespace

TEST_CASE("trainings on responses follow the losses of TRL", "[objective][trl]") {
    for (const std::string& device : conformance::devices_under_test()) {
        for (const std::string task : {"sft", "reward", "dpo"}) {
            const auto expected = preference_vectors().at("losses").at(task).get<std::vector<double>>();
            const std::vector<double> found = losses_of_training(device, task);
            REQUIRE(found.size() == expected.size());
            for (std::size_t step = 0; step < found.size(); ++step) {
                INFO(device << ", " << task << ", step " << step + 1);
                CHECK(found[step] == Approx(expected[step]).margin(1e-4).epsilon(0.0));
            }
        }
    }
}
