// Nothing that is asked of a model is ignored silently.
#include <catch2/catch.hpp>
#include <string>
#include <utility>
#include <vector>

#include "poison.h"

using namespace headscope;

namespace {

using Catch::Matchers::Contains;
using Change = std::function<void(TextRequest& request)>;

ModelConfig mask_predict_config() {
    ModelConfig config = tiny_config();
    config.generation = Generation::MaskPredict;
    config.frame.mask_id = config.frame.unk_id;
    return config;
}

// What the engine says to a request with a change, which is nothing if it is answered.
std::string refusal(const Team& team, const ModelHandle& model, const Change& change) {
    TextRequest request{.line = {.text = "the dog", .number = 1},
                        .options = default_decoding_options(model->directory().config.architecture)};
    change(request);
    try {
        Ticket<TextRequest> ticket = team.engine->submit(model, std::move(request));
        return ticket.get().problem;
    } catch (const Error& error) {
        return error.what();
    }
}

}  // namespace

TEST_CASE("a request that its model does not obey is refused by the table of options", "[engine]") {
    Crew crew;
    crew.add(open_device("cpu"));
    const Team team = crew.team();
    const ModelHandle causal = team.engine->open(load_of(tiny_language_config(Architecture::CausalLm)));
    const ModelHandle masks = team.engine->open(load_of(mask_predict_config()));
    const auto of = [&](const ModelHandle& model) {
        return [&team, model](const Change& change) { return refusal(team, model, change); };
    };
    const auto translating = of(team.model), completing = of(causal), filling = of(masks);
    const auto nothing = [](TextRequest&) {};
    CHECK(translating(nothing).empty());
    CHECK(completing(nothing).empty());
    CHECK(filling(nothing).empty());

    const auto echo = [](TextRequest& r) { r.options.search.echo = true; };
    CHECK_THAT(translating(echo), Contains("request: \"echo\" is for causal language models, but this is a") &&
                                      Contains("translation model: leave it out"));
    CHECK(completing(echo).empty());
    const auto iterations = [](TextRequest& r) { r.options.search.iterations = 3; };
    CHECK_THAT(translating(iterations), Contains("\"iterations\" is for models that fill in masks, but \"generation\" "
                                                 "is \"left_to_right\": leave it out"));
    CHECK_THAT(completing(iterations), Contains("\"iterations\" is for models that fill in masks"));
    CHECK(filling(iterations).empty());
    const auto factor = [](TextRequest& r) { r.options.search.max_factor = 2.0; };
    CHECK_THAT(completing(factor), Contains("\"max_factor\" is for translation models"));
    CHECK(filling(factor).empty());
    const auto splitting = [](TextRequest& r) { r.options.split_longer_than = 0; };
    CHECK_THAT(completing(splitting), Contains("\"split_longer_than\" is for translation models"));
    for (const auto& [key, change] :
         {std::pair<std::string, Change>{"beam", [](auto& r) { r.options.search.beam = 2; }},
          {"alternatives", [](auto& r) { r.options.search.alternatives = 2; }},
          {"stop", [](auto& r) { r.options.search.stop = {"x"}; }}}) {
        CHECK_THAT(filling(change), Contains("\"" + key +
                                             "\" is for models that write from left to right, but "
                                             "\"generation\" is \"mask_predict\": leave it out"));
        CHECK(translating(change).empty());
    }
    const auto temperature = [](TextRequest& r) { r.options.search.temperature = 0.5; };
    CHECK_THAT(completing(temperature), Contains("request: \"temperature\" needs request: \"sample\""));
    CHECK(completing([&](TextRequest& r) {
              r.options.search.sample = true;
              temperature(r);
          }).empty());
}

TEST_CASE("a search that is explored refuses options that it does not obey", "[engine]") {
    Crew crew;
    crew.add(open_device("cpu"));
    const Team team = crew.team();
    const ModelHandle causal = team.engine->open(load_of(tiny_language_config(Architecture::CausalLm)));
    const auto problem = [&](const DecodingChoices& search) {
        const ModelHandle& model = search.split_longer_than ? team.model : causal;
        return team.engine->submit(model, LookRequest{{.source = "the dog", .search = search}}).get().problem;
    };
    CHECK(problem({.beam = 2, .no_repeat_ngram = 2}).empty());
    for (const auto& [key, search] :
         {std::pair<std::string, DecodingChoices>{"stop", {.stop = std::vector<std::string>{"x"}}},
          {"echo", {.echo = true}},
          {"alternatives", {.alternatives = 2}},
          {"n_best", {.n_best = 2}},
          {"split_longer_than", {.split_longer_than = 0}},
          {"batch_tokens", {.batch_tokens = 64}}}) {
        CHECK_THAT(problem(search),
                   Contains("request: \"" + key + "\" is for texts that are written") && Contains("leave it out"));
    }
}

TEST_CASE("a request with more than options is refused where it means nothing", "[engine]") {
    Crew crew;
    crew.add(open_device("cpu"));
    const Team team = crew.team();
    const ModelHandle causal = team.engine->open(load_of(tiny_language_config(Architecture::CausalLm)));
    const ModelHandle masks = team.engine->open(load_of(mask_predict_config()));
    const ModelHandle masked = team.engine->open(load_of(tiny_language_config(Architecture::MaskedLm)));
    WatchingObserver blind([](Backend&, const AttentionView& view) { return view.weights; });
    const auto prefix = [](TextRequest& r) { r.line.prefix = "der"; };
    const auto rule = [](TextRequest& r) {
        r.options.rule_for = [](std::string_view) { return [](const auto&) { return std::vector<std::int32_t>(); }; };
    };
    const auto observer = [&](TextRequest& r) { r.options.observer = &blind; };
    for (const ModelHandle& model : {causal, masks}) {
        CHECK_THAT(refusal(team, model, prefix), Contains("a prefix is for translation models that write from left"));
        CHECK_THAT(refusal(team, model, rule), Contains("a rule for the next piece is for translation models"));
    }
    CHECK_THAT(refusal(team, masks, observer), Contains("an attention observer is for models that write from left"));
    CHECK(refusal(team, causal, observer).empty());
    CHECK_THAT(refusal(team, team.model, [](TextRequest& r) { r.line.ids = {4, 5}; }), Contains("give a text"));
    CHECK_THROWS_WITH(team.engine->submit(
                          causal, ScoreRequest{.sources = {""}, .targets = {"the dog"}, .languages = {.source = "en"}}),
                      Contains("languages are for translation models, but this is a causal language model"));
    CHECK_THROWS_WITH(team.engine->submit(causal, ScoreRequest{.sources = {"the cat"}, .targets = {"the dog"}}),
                      Contains("sources are for translation models, but this is a causal language model"));
    CHECK_THROWS_WITH(team.engine->submit(causal, ScoreRequest{.sources = {}, .targets = {"the dog"}}),
                      Contains("request: 0 sources and 1 targets"));
    CHECK_THROWS_WITH(
        team.engine->submit(masked, EmbedRequest{.texts = {"the dog"}, .options = {.languages = {.source = "en"}}}),
        Contains("languages are for translation models"));
}
