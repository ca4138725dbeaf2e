// Translating by mask-predict: the number of masks, and every choice against a search that has nothing in common.
#include "infer/mask_predict.h"

#include <catch2/catch.hpp>
#include <cmath>

#include "infer/decoding_choices.h"
#include "tests/model/small_model.h"
#include "tests/ops/devices.h"

using namespace headscope;
using Catch::Contains;

namespace {

using Ids = std::vector<std::int32_t>;

MaskPredictSearch begun(Context& ctx, const Model& model, const std::vector<Ids>& sources,
                        const std::vector<SearchTask>& tasks, const SearchOptions& options) {
    return {ctx, as_mask_predict(model), sources, tasks, std::vector<const SearchOptions*>(tasks.size(), &options)};
}

std::vector<Hypothesis> mask_predict(Context& ctx, const Model& model, const std::vector<Ids>& sources,
                                     const std::vector<SearchTask>& tasks, const SearchOptions& options) {
    MaskPredictSearch search = begun(ctx, model, sources, tasks, options);
    while (search.step()) {
    }
    std::vector<Hypothesis> found;
    for (std::size_t i = 0; i < tasks.size(); ++i) {
        found.push_back(search.best(i));
    }
    return found;
}

// log softmax of one row.
std::vector<double> log_softmax(const double* logits, std::int64_t classes) {
    double sum = 0.0;
    for (std::int64_t i = 0; i < classes; ++i) {
        sum += std::exp(logits[i]);
    }
    std::vector<double> result;
    for (std::int64_t i = 0; i < classes; ++i) {
        result.push_back(logits[i] - std::log(sum));
    }
    return result;
}

// One sentence and one length at a time, by whole passes as in training.
struct Slow {
    SmallModel& model;

    DeviceBatch batch(const Ids& pieces, const Ids& text) const {
        const Example pair{.source = pieces, .target = text, .labels = Ids(text.size(), 4)};
        return upload(*model.backend, make_batch(std::span(&pair, 1), frame_of(model.config), 0));
    }

    std::vector<double> lengths(const Ids& pieces) const {
        Context ctx{*model.backend};
        const DeviceBatch one = batch(pieces, {4});
        const auto& masks = as_mask_predict(*model.model);
        return model.host(masks.length_logits(ctx, one, masks.encode(ctx, one)));
    }

    Hypothesis fill(const Ids& pieces, std::size_t length, int iterations) const {
        Hypothesis text{.tokens = Ids(length, model.config.frame.mask_id)};
        std::vector<double>& of_tokens = text.token_log_probabilities;
        of_tokens.assign(length, 0.0);
        for (int number = 0; number < iterations; ++number) {
            std::vector<bool> masked(length, false);
            for (std::int64_t left = masked_pieces(std::ssize(masked), number, iterations); left > 0; --left) {
                std::size_t least = length;
                for (std::size_t at = 0; at < length; ++at) {
                    least = !masked[at] && (least == length || of_tokens[at] < of_tokens[least]) ? at : least;
                }
                masked[least] = true;
                text.tokens[least] = model.config.frame.mask_id;
            }
            Context ctx{*model.backend};
            const Var states = model.model->states(ctx, batch(pieces, text.tokens));
            const std::vector<double> logits = model.host(model.model->logits(ctx, states).value());
            for (std::size_t at = 0; at < length; ++at) {
                if (!masked[at]) {
                    continue;
                }
                const std::int64_t classes = model.config.target_vocabulary;
                const auto p = log_softmax(&logits[at * static_cast<std::size_t>(classes)], classes);
                const auto best = std::max_element(p.begin() + 4, p.end());  // no special piece
                text.tokens[at] = static_cast<std::int32_t>(best - p.begin());
                of_tokens[at] = *best;
            }
        }
        const std::vector<double> all = lengths(pieces);
        of_tokens.push_back(log_softmax(all.data(), std::ssize(all))[length]);
        text.tokens.push_back(model.config.frame.eos_id);
        for (const double one : of_tokens) {
            text.log_probability += one;
        }
        text.score = text.log_probability / static_cast<double>(length + 1);
        return text;
    }
};

std::string error_of(const DecodingChoices& choices, Generation generation, const std::string& file = "") {
    ModelConfig config;
    config.generation = generation;
    try {
        check_choices(choices, config, file);
    } catch (const Error& error) {
        return error.what();
    }
    return "";
}

}  // namespace

TEST_CASE("the number of masks falls linearly from all") {
    const auto schedule = [](std::int64_t pieces, int iterations) {
        std::vector<std::int64_t> counts;
        for (int number = 0; number < iterations; ++number) {
            counts.push_back(masked_pieces(pieces, number, iterations));
        }
        return counts;
    };
    CHECK(schedule(12, 4) == std::vector<std::int64_t>{12, 9, 6, 3});
    CHECK(schedule(7, 3) == std::vector<std::int64_t>{7, 4, 2});
    CHECK(schedule(3, 5) == std::vector<std::int64_t>{3, 2, 1, 1, 0});
    CHECK(schedule(5, 1) == std::vector<std::int64_t>{5});
}

TEST_CASE("mask-predict writes what one sentence and one length at a time write") {
    for (const NamedConfig& named : mask_predict_configs()) {
        SmallModel model(named.config, "cpu:oracle", false);
        const Slow slow{model};
        std::vector<Ids> sources;
        std::vector<SearchTask> tasks;
        const std::vector<Example> pairs = random_pairs(model.config, 4, 5);
        for (const Example& pair : pairs) {
            sources.push_back(frame_of(model.config).source(pair.source));
            tasks.push_back({.limit = 9});
        }
        for (const auto& [iterations, lengths] : {std::pair(1, 1), {4, 3}, {10, 2}}) {
            Context ctx{*model.backend};
            const SearchOptions options{.min_length = 2, .iterations = iterations, .length_candidates = lengths};
            const auto found = mask_predict(ctx, *model.model, sources, tasks, options);
            REQUIRE(found.size() == pairs.size());
            for (std::size_t i = 0; i < pairs.size(); ++i) {
                INFO(named.name << ", " << iterations << " iterations, " << lengths << " lengths, sentence " << i);
                std::vector<double> scores = slow.lengths(pairs[i].source);
                Hypothesis best;
                best.score = -1e9;
                for (int candidate = 0; candidate < lengths; ++candidate) {
                    const auto length = std::max_element(scores.begin() + 2, scores.begin() + 9);
                    Hypothesis text =
                        slow.fill(pairs[i].source, static_cast<std::size_t>(length - scores.begin()), iterations);
                    best = text.score > best.score ? text : best;
                    *length = -1e9;
                }
                CHECK(found[i].tokens == best.tokens);
                CHECK(found[i].score == Approx(best.score));
                CHECK(found[i].log_probability == Approx(best.log_probability));
                CHECK(found[i].end == EndReason::EndOfSentence);
            }
        }
    }
}

TEST_CASE("mask-predict writes the same on every device") {
    const std::vector<Ids> sources{{4, 5, 2}, {6, 7, 8, 9, 10, 4, 5, 6, 7, 2}, {6, 2}};
    const std::vector<SearchTask> tasks(3, SearchTask{.limit = 12});
    for (const NamedConfig& named : mask_predict_configs()) {
        if (named.config.positions.kind == Positions::None) {
            continue;  // masks far from both ends are nearly alike, so that rounding decides between them
        }
        const auto translated = [&](const std::string& device) {
            SmallModel model(named.config, device, false);
            Context ctx{*model.backend};
            return mask_predict(ctx, *model.model, sources, tasks, {.iterations = 4});
        };
        const auto expected = translated("cpu:oracle");
        for (const std::string& device : conformance::devices_under_test()) {
            const auto found = translated(device);
            for (std::size_t i = 0; i < sources.size(); ++i) {
                INFO(named.name << " on " << device << ", sentence " << i);
                CHECK(found[i].tokens == expected[i].tokens);
                CHECK(found[i].score == Approx(expected[i].score).epsilon(1e-4));
            }
        }
    }
}

TEST_CASE("lengths stay within the limits, and a text is shown after each iteration") {
    SmallModel model(mask_predict_configs().front().config, "cpu:oracle", false);
    Context ctx{*model.backend};
    const std::vector<Ids> sources{{4, 5, 2}, {6, 2}};
    std::vector<SearchTask> tasks{{.limit = 1}, {.limit = 4}};
    const SearchOptions options{.min_length = 3, .iterations = 3, .length_candidates = 5};
    MaskPredictSearch search = begun(ctx, *model.model, sources, tasks, options);
    for (const bool more : {true, true, false}) {
        CHECK(search.step() == more);
        CHECK(search.written(1).tokens.size() == 3);
        CHECK(search.done(1) == !more);
    }
    CHECK(search.best(0).tokens.size() == 0 + 1);
    CHECK(search.best(1).tokens.size() == 3 + 1);

    tasks = {{.limit = 9}, {.limit = 4}};
    MaskPredictSearch other = begun(ctx, *model.model, sources, tasks, options);
    CHECK(other.step());
    other.stop(1);  // one stops after the first iteration, the other goes on
    CHECK(other.done(1));
    CHECK_FALSE(other.done(0));
    while (other.step()) {
    }
    CHECK(other.best(0).end == EndReason::EndOfSentence);
    CHECK(other.best(1).end == EndReason::Limit);
    SearchOptions once = options;
    once.iterations = 1;
    CHECK(other.best(1).tokens == mask_predict(ctx, *model.model, sources, tasks, once)[1].tokens);

    const SearchOptions any{.min_length = 0, .iterations = 2, .length_candidates = 1};
    const auto found = mask_predict(ctx, *model.model, sources, {{.limit = 1}, {.limit = 1}}, any);
    CHECK(found[0].tokens.size() == 1);  // the end alone
}

TEST_CASE("a text of a damaged model is unusable") {
    SmallModel model(mask_predict_configs().front().config, "cpu:oracle", false);
    std::vector<double> values = model.host(model.parameters.at("embedding.weight").value());
    std::fill(values.begin(), values.end(), std::nan(""));
    from_host(*model.backend, model.parameters.at("embedding.weight").value(), values);
    Context ctx{*model.backend};
    const auto found = mask_predict(ctx, *model.model, {{4, 5, 2}}, {{.limit = 5}}, {});
    CHECK(found[0].end == EndReason::Unusable);
}

TEST_CASE("decoding options that mean nothing to a model are refused by name") {
    CHECK(error_of({.iterations = 3, .length_candidates = 2}, Generation::MaskPredict).empty());
    CHECK(error_of({.max_extra = 3, .allow_unknown = true, .min_length = 2}, Generation::MaskPredict).empty());
    CHECK(error_of({.beam = 2, .length_penalty = 1.0}, Generation::LeftToRight).empty());
    CHECK_THAT(error_of({.iterations = 3}, Generation::LeftToRight),
               Contains("--iterations is for models that fill in masks"));
    CHECK_THAT(error_of({.length_candidates = 3}, Generation::LeftToRight, "decoding.json"),
               Contains("decoding.json: \"lengths\" is for models that fill in masks"));
}
