// Exploring a random model: during a search, with a given translation, and with edited heads.
#include <catch2/catch.hpp>

#include <limits>
#include <set>

#include "tests/explore/tiny_explorer.h"
#include "tests/io/temporary_folder.h"
#include "tests/ops/devices.h"

using namespace headscope;
using Catch::Matchers::Contains;

namespace {

std::vector<AttentionEdit> some_edits() {
    return {{.site = {AttentionKind::EncoderSelf, 0}, .head = 2, .kind = EditKind::Off},
            {.site = {AttentionKind::EncoderSelf, 1}, .head = 1, .kind = EditKind::Pin, .query = 3, .key = 1},
            {.site = {AttentionKind::DecoderSelf, 0}, .head = 3, .kind = EditKind::Uniform},
            {.site = {AttentionKind::DecoderSelf, 1}, .head = 4, .kind = EditKind::Pin, .key = 2},
            {.site = {AttentionKind::Cross, 0}, .head = 1, .kind = EditKind::Off, .query = 2},
            {.site = {AttentionKind::Cross, 1}, .head = 2, .kind = EditKind::Pin, .key = 4}};
}

float weight(const Exploration& look, AttentionKind kind, int layer, int head, std::int64_t query, std::int64_t key) {
    return find_site(look.record, kind, layer).at(head - 1, query, key);
}

}  // namespace

TEST_CASE("A search records the same attention as a teacher-forced pass over its result", "[explore]") {
    const std::string device = GENERATE(from_range(conformance::devices_under_test()));
    const int beam = GENERATE(1, 4);
    INFO(device << ", beam " << beam);
    const TinyExplorer tiny(device);
    const ExploreRequest request = tiny_request(beam);
    const Exploration found = tiny.explorer.explore(request);
    REQUIRE(found.problem.empty());
    CHECK(found.finished);
    CHECK_FALSE(found.forced);
    CHECK(found.record.sites.size() == 2 + 2 + 2);
    REQUIRE(found.steps.size() == found.record.target_out.size());
    REQUIRE(found.record.source.size() != found.record.target_in.size());  // else swapped axes would not show
    check_rows(found.record);
    const Exploration given = tiny.explorer.explore(with_target(request, found));
    REQUIRE(given.problem.empty());
    CHECK(given.forced);
    CHECK(given.translation == found.translation);
    check_same(found, given);
    CHECK(found.score == Approx(given.score).margin(1e-4));
}

TEST_CASE("A search uses the model's options unless the request overrides them", "[explore]") {
    const TemporaryFolder folder;
    const std::string path = folder.file("model");
    const std::unique_ptr<Backend> backend = open_device("cpu");
    write_tiny_model(*backend, path);
    folder.write("model/decoding.json", R"({"max_extra": 2, "no_repeat_ngram": 1})");
    const LoadedModel translator(*backend, path);
    const Explorer explorer(*backend, translator, Compute::F32);
    const ExploreRequest request{.source = "the cat", .search = {.beam = 1}};
    const Exploration found = explorer.explore(request);
    REQUIRE(found.problem.empty());
    const std::vector<std::int32_t> tokens = output_of(found);
    CHECK(tokens.size() <= found.record.source.size() + 2);
    CHECK(std::set<std::int32_t>(tokens.begin(), tokens.end()).size() == tokens.size());
    ExploreRequest chosen = request;
    chosen.search.no_repeat_ngram = 0;
    chosen.search.max_extra = 30;
    CHECK(output_of(explorer.explore(chosen)).size() > tokens.size());
}

TEST_CASE("A search with edited heads records the same as a teacher-forced pass", "[explore]") {
    const std::string device = GENERATE(from_range(conformance::devices_under_test()));
    INFO(device);
    const TinyExplorer tiny(device);
    ExploreRequest request = tiny_request();
    const Exploration plain = tiny.explorer.explore(request);
    request.edits = some_edits();
    const Exploration found = tiny.explorer.explore(request);
    REQUIRE(found.problem.empty());
    REQUIRE(found.steps.size() > 4);
    check_same(found, tiny.explorer.explore(with_target(request, found)));
    CHECK(std::abs(found.log_probability - plain.log_probability) > 1e-3);

    const auto length = static_cast<std::int64_t>(found.record.target_in.size());
    for (std::int64_t query = 0; query < length; ++query) {
        const float share = 1.0F / static_cast<float>(query + 1);
        CHECK(weight(found, AttentionKind::DecoderSelf, 1, 3, query, query) == Approx(share));
        CHECK(weight(found, AttentionKind::DecoderSelf, 1, 3, query, 0) == Approx(share));
        // The third token is masked for the first two.
        CHECK((weight(found, AttentionKind::DecoderSelf, 2, 4, query, 2) == 1.0F) == (query >= 2));
        CHECK(weight(found, AttentionKind::Cross, 2, 2, query, 4) == 1.0F);
        CHECK((weight(found, AttentionKind::Cross, 1, 1, query, 0) == 0.0F) == (query == 2));
    }
    CHECK(weight(found, AttentionKind::EncoderSelf, 1, 2, 0, 0) == 0.0F);
    CHECK(weight(found, AttentionKind::EncoderSelf, 2, 1, 3, 1) == 1.0F);
    CHECK(weight(found, AttentionKind::EncoderSelf, 2, 1, 2, 1) < 1.0F);
}

TEST_CASE("Edits of missing tokens have no effect", "[explore]") {
    const TinyExplorer tiny;
    ExploreRequest request = tiny_request();
    const Exploration plain = tiny.explorer.explore(request);
    request.edits = {{.site = {AttentionKind::EncoderSelf, 0}, .head = 1, .kind = EditKind::Off, .query = 500},
                     {.site = {AttentionKind::Cross, 0}, .head = 1, .kind = EditKind::Pin, .key = 500},
                     {.site = {AttentionKind::DecoderSelf, 0}, .head = 1, .kind = EditKind::Pin, .query = 1, .key = 3}};
    check_same(plain, tiny.explorer.explore(request));
    const ExploreRequest given = with_target(request, plain);
    check_same(plain, tiny.explorer.explore(given));
}

TEST_CASE("A decoder without its causal mask reads ahead in a given translation", "[explore]") {
    const std::string device = GENERATE(from_range(conformance::devices_under_test()));
    INFO(device);
    const TinyExplorer tiny(device);
    ExploreRequest request = tiny_request();
    const AttentionEdit edit{.site = {AttentionKind::DecoderSelf, 0}, .head = 3, .kind = EditKind::Unmasked};
    const Exploration plain = tiny.explorer.explore(request);
    request.edits = {edit};
    const Exploration searched = tiny.explorer.explore(request);  // token by token: there is nothing to see yet
    check_same(plain, searched);
    CHECK(searched.without_effect == request.edits);

    const Exploration given = tiny.explorer.explore(with_target(request, plain));
    REQUIRE(given.problem.empty());
    CHECK(given.without_effect.empty());
    const SiteWeights& weights = find_site(given.record, AttentionKind::DecoderSelf, 1);
    for (std::int64_t query = 0; query < weights.queries; ++query) {
        double sum = 0.0;
        for (std::int64_t key = 0; key < weights.keys; ++key) {
            sum += static_cast<double>(weights.at(2, query, key));  // none on the pads behind
            CHECK(weights.at(2, query, key) > 0.0F);
            CHECK((weights.at(1, query, key) == 0.0F) == (key > query));
        }
        CHECK(sum == Approx(1.0).margin(1e-5));
    }
    CHECK(std::abs(given.log_probability - plain.log_probability) > 1e-4);
    const Importance importance = tiny.explorer.importance(with_target(request, plain));
    CHECK(importance.log_probability == Approx(given.log_probability).margin(1e-4));
}

TEST_CASE("A later edit of the same row wins", "[explore]") {
    const TinyExplorer tiny;
    ExploreRequest request = tiny_request();
    const AttentionSite site{AttentionKind::Cross, 0};
    request.edits = {{.site = site, .head = 1, .kind = EditKind::Off},
                     {.site = site, .head = 1, .kind = EditKind::Pin, .query = 1, .key = 3}};
    const Exploration found = tiny.explorer.explore(request);
    CHECK(weight(found, AttentionKind::Cross, 1, 1, 0, 3) == 0.0F);
    CHECK(weight(found, AttentionKind::Cross, 1, 1, 1, 3) == 1.0F);
}

TEST_CASE("Each step lists its candidates", "[explore]") {
    const TinyExplorer tiny;
    ExploreRequest request = tiny_request();
    request.candidates = 64;  // of a vocabulary of 60: all
    const Exploration found = tiny.explorer.explore(request);
    const std::int64_t vocabulary = tiny.translator.model().config.target_vocabulary;
    REQUIRE(vocabulary < 64);
    double sum_along = 0.0;
    for (const ExploredStep& step : found.steps) {
        REQUIRE(static_cast<std::int64_t>(step.candidates.size()) == vocabulary);
        double sum = 0.0;
        for (const NextCandidate& candidate : step.candidates) {
            sum += std::exp(candidate.log_probability);
        }
        CHECK(sum == Approx(1.0).margin(1e-5));
        REQUIRE(step.rank >= 1);
        const NextCandidate& own = step.candidates[static_cast<std::size_t>(step.rank - 1)];
        CHECK(own.token == step.token);
        CHECK(own.log_probability == step.log_probability);
        sum_along += step.log_probability;
    }
    CHECK(found.log_probability == Approx(sum_along).margin(1e-5));
    request.candidates = 3;
    const Exploration few = tiny.explorer.explore(request);
    CHECK(few.steps.front().candidates.size() == 3);
    CHECK(few.steps.front().candidates[2].token == found.steps.front().candidates[2].token);
    CHECK(few.translation == found.translation);
}

TEST_CASE("A given translation is read, however unlikely it is", "[explore]") {
    const TinyExplorer tiny;
    ExploreRequest request = tiny_request();
    request.target = "die katze";
    request.source_pads = 3;
    const Exploration given = tiny.explorer.explore(request);
    REQUIRE(given.problem.empty());
    CHECK(given.translation == "die katze");
    CHECK(given.beam.empty());
    CHECK(given.record.target_out.back().text == "<EOS>");
    CHECK(given.record.source.back().kind == TokenKind::Pad);
    REQUIRE(given.steps.size() == given.record.target_out.size());
    CHECK(given.steps.back().token == tiny.translator.model().config.frame.eos_id);
    check_rows(given.record);
    bool unlikely = false;
    for (const ExploredStep& step : given.steps) {
        CHECK(step.candidates.size() == 10);
        const bool among = std::any_of(step.candidates.begin(), step.candidates.end(),
                                       [&](const NextCandidate& c) { return c.token == step.token; });
        CHECK(among == (step.rank <= 10));
        unlikely = unlikely || step.rank > 10;
    }
    CHECK(unlikely);
    request.target = "";
    const Exploration empty = tiny.explorer.explore(request);
    REQUIRE(empty.steps.size() == 1);
    CHECK(empty.steps[0].candidates.size() == 10);
}

TEST_CASE("A search reports progress token by token and can be cancelled", "[explore]") {
    const TinyExplorer tiny;
    const ExploreRequest request = tiny_request();
    std::vector<Exploration> grown;
    const Exploration whole = tiny.explorer.explore(request, [&](const Explorer::Snapshot& so_far) {
        grown.push_back(so_far());
        return true;
    });
    REQUIRE(grown.size() > 4);
    for (std::size_t i = 0; i < grown.size(); ++i) {
        CHECK_FALSE(grown[i].finished);
        CHECK(grown[i].problem.empty());
        CHECK(grown[i].steps.size() <= i + 1);
        CHECK(grown[i].record.target_in.size() == grown[i].steps.size());
        check_rows(grown[i].record);
    }
    CHECK(grown.front().steps.size() == 1);
    CHECK(whole.finished);
    CHECK(whole.seconds_to_first > 0.0);
    CHECK(whole.seconds >= whole.seconds_to_first);

    int steps = 0;
    const Exploration stopped = tiny.explorer.explore(request, [&](const Explorer::Snapshot&) { return ++steps < 3; });
    CHECK(steps == 3);
    CHECK_FALSE(stopped.finished);
    CHECK(stopped.problem.empty());
    CHECK(stopped.beam.back().step == 3);

    ExploreRequest given = request;
    given.target = "die katze";
    const Exploration encoded = tiny.explorer.explore(given, [&](const Explorer::Snapshot& so_far) {
        CHECK(so_far().record.sites.size() == 2);
        return false;
    });
    CHECK_FALSE(encoded.finished);
    CHECK(encoded.record.target_in.empty());
    CHECK(tiny.explorer.explore(given, [](const Explorer::Snapshot&) { return true; }).record.sites.size() == 6);
}

TEST_CASE("Invalid requests are reported", "[explore]") {
    const TinyExplorer tiny;
    const auto problem = [&](auto change) {
        ExploreRequest request = tiny_request();
        change(request);
        const Exploration result = tiny.explorer.explore(request);
        CHECK(result.record.sites.empty());
        CHECK(result.steps.empty());
        CHECK(result.source == request.source);
        CHECK(result.finished);
        return result.problem;
    };
    using R = ExploreRequest;
    CHECK_THAT(problem([](R& r) { r.source = ""; }), Contains("source sentence is empty"));
    CHECK_THAT(problem([](R& r) { r.source = " \t "; }), Contains("source sentence is empty"));
    CHECK_THAT(problem([](R& r) { r.source = "\u3000\u3164"; }), Contains("source sentence is empty"));
    CHECK_THAT(problem([](R& r) { r.source = "a \xff\xfe"; }), Contains("UTF-8"));
    const auto long_text = [] {
        std::string text;
        for (int i = 0; i < 2000; ++i) {
            text += "cat ";
        }
        return text;
    }();
    CHECK_THAT(problem([&](R& r) { r.source = long_text; }), Contains("the sentence has") && Contains("at most 64"));
    CHECK_THAT(problem([&](R& r) { r.target = long_text; }), Contains("the translation has"));
    CHECK_THAT(problem([](R& r) { r.target = "\xc3("; }), Contains("UTF-8"));
    CHECK_THAT(problem([](R& r) { r.target_tokens = {5, 999999}; }), Contains("999999"));
    CHECK_THAT(problem([](R& r) { r.search.beam = 0; }), Contains("beam") && Contains("got 0"));
    CHECK_THAT(problem([](R& r) { r.candidates = 65; }),
               Contains("candidates per step must be between 0 and 64, got 65"));
    CHECK_THAT(problem([](R& r) { r.source_pads = 2; }), Contains("pads"));
    CHECK_THAT(problem([](R& r) {
                   r.target = "die";
                   r.source_pads = 60;
               }),
               Contains("60 pads"));
    CHECK_THAT(problem([](R& r) {
                   r.edits = {{.site = {AttentionKind::Cross, 2}}};
               }),
               Contains("layer of cross attention must be between 1 and 2, got 3"));
    CHECK_THAT(problem([](R& r) { r.edits = {{.site = {}, .head = 5}}; }),
               Contains("head must be between 1 and 4, got 5"));
    CHECK_THAT(problem([](R& r) { r.edits = {{.site = {}, .head = 1, .kind = EditKind::Unmasked}}; }),
               Contains("only a decoder's self-attention has a causal mask to take off, not encoder"));
    CHECK_THAT(problem([](R& r) { r.edits = {{.site = {}, .head = 1, .kind = EditKind::Pin}}; }),
               Contains("pinning attention"));
    // Text of other scripts is text.
    ExploreRequest scripts = tiny_request();
    scripts.source = "🐈 שלום cat";
    CHECK(tiny.explorer.explore(scripts).problem.empty());
}

TEST_CASE("A model with damaged weights is reported", "[explore]") {
    const std::unique_ptr<Backend> backend = open_device("cpu");
    const LoadedModel whole = tiny_translator(*backend);
    auto damaged = std::make_shared<Parameters>(*backend, whole.model().config, false);
    damaged->initialise(1);
    const Tensor gain = damaged->stored("decoder.layers.1.feed_forward.norm.gain");
    from_host(*backend, gain,
              std::vector<float>(static_cast<std::size_t>(gain.elements()), std::numeric_limits<float>::quiet_NaN()));
    const LoadedModel translator(*backend, whole.model(), damaged);
    const Explorer explorer(*backend, translator, Compute::F32);
    ExploreRequest request = tiny_request();
    CHECK_THAT(explorer.explore(request).problem, Contains("probabilities for token 1"));
    request.target = "die katze";
    const Exploration given = explorer.explore(request);
    CHECK_THAT(given.problem, Contains("probabilities for token 1"));
    CHECK(given.record.sites.empty());
    CHECK_THAT(explorer.importance(request).problem, Contains("NaN or infinite"));
}
