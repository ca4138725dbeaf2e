// Exploring language models: a prompt and its continuation, or a text with masks.
#include <catch2/catch.hpp>

#include <utility>

#include "infer/filler.h"
#include "tests/explore/tiny_explorer.h"
#include "tests/ops/devices.h"

using namespace headscope;
using Catch::Matchers::Contains;

namespace {

constexpr AttentionKind kCausal = AttentionKind::DecoderSelf;
constexpr AttentionKind kMasked = AttentionKind::EncoderSelf;

TinyExplorer tiny_language(Architecture family, const std::string& device = "cpu") {
    return TinyExplorer(device, tiny_language_config(family));
}

ExploreRequest prompt(int beam = 1) {
    return {.source = "the small dog", .search = {.beam = beam, .max_extra = 5}};
}

ExploreRequest masked_text() {
    return {.source = "the [MASK] dog sees a [MASK]"};
}

void check_exponentials(const NeuronView& view, const SiteWeights& weights) {
    REQUIRE(view.problem.empty());
    REQUIRE(view.queries == weights.queries);
    REQUIRE(view.keys == weights.keys);
    for (std::int64_t query = 0; query < view.queries; ++query) {
        const std::int64_t keys = view.causal ? query + 1 : view.keys;
        double sum = 0.0;
        for (std::int64_t key = 0; key < keys; ++key) {
            sum += exponential_of(view, query, key);
        }
        for (std::int64_t key = 0; key < keys; ++key) {
            CHECK(weights.at(view.head - 1, query, key) == Approx(exponential_of(view, query, key) / sum).margin(1e-5));
        }
    }
}

// Each head's loss is what exploring without it shows.
void check_importance(const TinyExplorer& tiny, const ExploreRequest& given) {
    const Importance importance = tiny.explorer.importance(given);
    REQUIRE(importance.problem.empty());
    CHECK(importance.finished);
    REQUIRE(importance.heads.size() == 2 * 4);
    CHECK(importance.family == tiny.explorer.model().config.architecture);
    CHECK(importance.log_probability == Approx(tiny.explorer.explore(given).log_probability).margin(1e-4));
    int matters = 0;
    for (const HeadImportance& head : importance.heads) {
        ExploreRequest without = given;
        without.edits.push_back({.site = head.site, .head = head.head});
        CHECK(head.log_probability == Approx(tiny.explorer.explore(without).log_probability).margin(1e-4));
        matters += std::abs(head.loss) > 1e-4 ? 1 : 0;
    }
    CHECK(matters > 4);
}

}  // namespace

TEST_CASE("a prompt is explored as it is completed", "[language]") {
    const std::string device = GENERATE(from_range(conformance::devices_under_test()));
    const int beam = GENERATE(1, 3);
    CAPTURE(device, beam);
    const TinyExplorer tiny = tiny_language(Architecture::CausalLm, device);
    const Exploration found = tiny.explorer.explore(prompt(beam));
    REQUIRE(found.problem.empty());
    CHECK(found.finished);
    const SearchOptions search{.beam = beam, .length_penalty = 0.0, .max_extra = 5};
    const TextResult completion = translate_line(tiny.translator, "the small dog", {.search = search});
    CHECK(found.translation == completion.text);
    CHECK(output_of(found) == completion.target_ids);
    CHECK(found.log_probability == Approx(completion.log_probability).margin(1e-4));
    CHECK(found.score == Approx(completion.score).margin(1e-4));

    // The steps are those of the prompt, then of its continuation; each has candidates.
    CHECK(found.prompt == tiny.explorer.model().target_tokenizer->encode("the small dog").size());
    REQUIRE(found.steps.size() == found.prompt + completion.target_ids.size());
    REQUIRE(found.record.target_out.size() == found.steps.size());
    for (std::size_t i = 0; i < found.steps.size(); ++i) {
        CHECK(found.steps[i].position == static_cast<std::int64_t>(i));
        CHECK(found.steps[i].candidates.size() == 10);
    }
    CHECK(found.beam.size() > completion.target_ids.size());
    CHECK(found.record.family == Architecture::CausalLm);
    check_rows(found.record);

    // Reading the same tokens shows the same.
    const Exploration read = tiny.explorer.explore(with_target(prompt(beam), found));
    CHECK(read.forced);
    CHECK(read.translation == found.translation);
    check_same(read, found);
}

TEST_CASE("a continuation grows token by token and can be cancelled", "[language]") {
    const TinyExplorer tiny = tiny_language(Architecture::CausalLm);
    std::vector<std::size_t> lengths;
    const Exploration stopped = tiny.explorer.explore(prompt(), [&](const Explorer::Snapshot& so_far) {
        const Exploration shown = so_far();
        lengths.push_back(shown.steps.size() - shown.prompt);
        CHECK_FALSE(shown.finished);
        CHECK(shown.record.sites.size() == 2);
        return lengths.size() < 3;
    });
    CHECK(lengths == std::vector<std::size_t>{1, 2, 3});
    CHECK_FALSE(stopped.finished);
}

TEST_CASE("a given continuation is read, an empty one reads the prompt alone", "[language]") {
    const TinyExplorer tiny = tiny_language(Architecture::CausalLm);
    ExploreRequest request{.source = "the small", .target = " dog sees"};
    const Exploration read = tiny.explorer.explore(request);
    REQUIRE(read.problem.empty());
    CHECK(read.translation == " dog sees");
    const Exploration whole = tiny.explorer.explore({.source = "the small dog sees", .target = ""});
    check_rows(whole.record);
    CHECK(whole.record.target_in == read.record.target_in);
    CHECK(output_of(whole).empty());
    double all = 0.0;
    double after = 0.0;
    for (std::size_t i = 0; i < whole.steps.size(); ++i) {
        all += whole.steps[i].log_probability;
        after += i < read.prompt ? 0.0 : whole.steps[i].log_probability;
    }
    CHECK(whole.log_probability == Approx(all));  // of a prompt alone: that of its own tokens
    CHECK(read.log_probability == Approx(after));

    request.target = "gs";  // goes on within the word
    CHECK(tiny.explorer.explore(request).translation == "gs");
}

TEST_CASE("edits change a language model while it searches, reads and fills in", "[language]") {
    const std::string device = GENERATE(from_range(conformance::devices_under_test()));
    CAPTURE(device);
    const TinyExplorer causal = tiny_language(Architecture::CausalLm, device);
    ExploreRequest request = prompt();
    request.edits = {{.site = {kCausal, 0}, .head = 2},
                     {.site = {kCausal, 1}, .head = 1, .kind = EditKind::Pin, .query = 2, .key = 1},
                     {.site = {kCausal, 1}, .head = 1, .kind = EditKind::Pin, .query = 5, .key = 0}};
    const Exploration edited = causal.explorer.explore(request);
    REQUIRE(edited.problem.empty());
    CHECK(edited.record.edited ==
          "Layer 1, head 2: off; Layer 2, head 1: looks at token 2 (from token 3); Layer 2, head 1: looks at token 1 "
          "(from token 6)");
    CHECK(find_site(edited.record, kCausal, 1).at(1, 3, 0) == 0.0F);
    CHECK(find_site(edited.record, kCausal, 2).at(0, 2, 1) == 1.0F);
    CHECK(find_site(edited.record, kCausal, 2).at(0, 5, 0) == 1.0F);
    CHECK(edited.without_effect.empty());
    // The search itself, step by step behind a cached prompt, was edited the same way.
    CHECK(causal.explorer.explore(with_target(request, edited)).log_probability ==
          Approx(edited.log_probability).margin(1e-4));
    CHECK(std::abs(causal.explorer.explore(prompt()).log_probability - edited.log_probability) > 1e-4);

    const TinyExplorer masked = tiny_language(Architecture::MaskedLm, device);
    ExploreRequest text = masked_text();
    text.edits = {{.site = {kMasked, 0}, .head = 1, .kind = EditKind::Pin, .query = 0, .key = 5},
                  {.site = {kMasked, 0}, .head = 2, .kind = EditKind::Pin, .key = 99}};
    const Exploration filled = masked.explorer.explore(text);
    CHECK(find_site(filled.record, kMasked, 1).at(0, 0, 5) == 1.0F);
    REQUIRE(filled.without_effect.size() == 1);
    CHECK(filled.without_effect[0].head == 2);
}

TEST_CASE("without its causal mask a head sees the words that it is to predict", "[language]") {
    const std::string device = GENERATE(from_range(conformance::devices_under_test()));
    CAPTURE(device);
    const TinyExplorer tiny = tiny_language(Architecture::CausalLm, device);
    ExploreRequest request = prompt();
    request.target = " sees a cat";
    const Exploration masked = tiny.explorer.explore(request);
    const AttentionSite last{kCausal, 1};
    request.edits = {{.site = last, .head = 2, .kind = EditKind::Unmasked}};
    const Exploration open = tiny.explorer.explore(request);
    REQUIRE(open.problem.empty());
    CHECK(open.record.edited == "Layer 2, head 2: no causal mask");
    CHECK(open.without_effect.empty());
    const SiteWeights& before = find_site(masked.record, kCausal, 2);
    const SiteWeights& after = find_site(open.record, kCausal, 2);
    const NeuronView view = tiny.explorer.neuron(request, last, 2);
    CHECK(view.edited);
    for (std::int64_t query = 0; query < after.queries; ++query) {
        double sum = 0.0;
        for (std::int64_t key = 0; key < after.keys; ++key) {
            sum += exponential_of(view, query, key);
        }
        for (std::int64_t key = 0; key < after.keys; ++key) {
            CHECK(after.at(1, query, key) == Approx(exponential_of(view, query, key) / sum).margin(1e-5));
            CHECK((before.at(1, query, key) == 0.0F) == (key > query));
            CHECK(after.at(0, query, key) == before.at(0, query, key));  // another head
        }
    }
    for (std::size_t step = 0; step + 1 < open.steps.size(); ++step) {  // behind the last there is nothing to see
        CHECK(open.steps[step].log_probability != masked.steps[step].log_probability);
    }
    CHECK(std::abs(open.log_probability - masked.log_probability) > 1e-4);

    request.edits[0].query = 3;
    const Exploration one = tiny.explorer.explore(request);
    CHECK(find_site(one.record, kCausal, 2).at(1, 3, 4) == after.at(1, 3, 4));
    CHECK(find_site(one.record, kCausal, 2).at(1, 2, 3) == 0.0F);

    // What a search wrote is read at once, too.
    ExploreRequest searched = prompt();
    searched.edits = {{.site = last, .head = 2, .kind = EditKind::Unmasked}};
    const Exploration written = tiny.explorer.explore(searched);
    CHECK(find_site(written.record, kCausal, 2).at(1, 0, 1) > 0.0F);
    CHECK(written.log_probability ==
          Approx(tiny.explorer.explore(with_target(searched, written)).log_probability).margin(1e-4));
    check_importance(tiny, request);
}

TEST_CASE("an edit finds its token in a prompt that is read in chunks", "[language]") {
    ModelConfig config = tiny_language_config(Architecture::CausalLm);
    config.max_length = 600;
    const TinyExplorer tiny("cpu", config);
    std::string text;
    for (int word = 0; word < 150; ++word) {
        text += "cat dog ";
    }
    ExploreRequest request{.source = text, .search = {.max_extra = 2}};
    request.edits = {{.site = {kCausal, 0}, .head = 1, .kind = EditKind::Pin, .query = 290, .key = 270},
                     {.site = {kCausal, 1}, .head = 2, .kind = EditKind::Pin, .key = 290}};
    const Exploration found = tiny.explorer.explore(request);
    REQUIRE(found.problem.empty());
    REQUIRE(found.prompt > 292);
    CHECK(tiny.explorer.explore(with_target(request, found)).log_probability ==
          Approx(found.log_probability).margin(1e-5));
}

TEST_CASE("masks are filled in as by a Filler", "[language]") {
    const std::string device = GENERATE(from_range(conformance::devices_under_test()));
    CAPTURE(device);
    const TinyExplorer tiny = tiny_language(Architecture::MaskedLm, device);
    const Exploration found = tiny.explorer.explore(masked_text());
    REQUIRE(found.problem.empty());
    CHECK(found.finished);
    const auto parameters = std::make_shared<Parameters>(*tiny.backend, tiny.explorer.model().config, false);
    parameters->initialise(3);
    const LoadedModel models(*tiny.backend, tiny.explorer.model(), parameters);
    const Filler filler(*tiny.backend, models);
    const FilledText filled = filler.fill(filler.encode(masked_text().source, kMaskText).ids, 10, false);
    CHECK(found.translation == filled.text);
    REQUIRE(found.steps.size() == 2);
    double sum = 0.0;
    for (std::size_t mask = 0; mask < 2; ++mask) {
        const ExploredStep& step = found.steps[mask];
        CHECK(step.position == static_cast<std::int64_t>(filled.masks[mask].position));
        CHECK(found.record.source[static_cast<std::size_t>(step.position)].kind == TokenKind::Mask);
        REQUIRE(step.candidates.size() == 10);
        for (std::size_t i = 0; i < 10; ++i) {
            CHECK(step.candidates[i].token == filled.masks[mask].candidates[i].id);
            CHECK(step.candidates[i].log_probability ==
                  Approx(filled.masks[mask].candidates[i].log_probability).margin(1e-5));
        }
        CHECK(step.token == step.candidates[0].token);
        CHECK(found.record.target_out[mask].text == step.candidates[0].text);
        sum += step.log_probability;
    }
    CHECK(found.log_probability == Approx(sum));
    check_rows(found.record);
    check_same(tiny.explorer.explore(with_target(masked_text(), found)), found);

    // Another token in the first mask.
    ExploreRequest other = with_target(masked_text(), found);
    other.target_tokens[0] = found.steps[0].candidates[3].token;
    const Exploration changed = tiny.explorer.explore(other);
    CHECK(changed.steps[0].rank >= 4);
    CHECK(changed.steps[0].log_probability == Approx(found.steps[0].candidates[3].log_probability).margin(1e-5));
    CHECK(changed.steps[1].log_probability == Approx(found.steps[1].log_probability).margin(1e-5));
    CHECK(changed.translation != found.translation);

    // Special pieces, which fill no mask, have no rank.
    other.candidates = 64;
    const std::vector<NextCandidate> all = tiny.explorer.explore(other).steps[0].candidates;
    other.target_tokens[0] = all.back().token;
    CHECK(tiny.explorer.explore(other).steps[0].rank == std::ssize(all));

    // A text without masks shows its heads.
    const Exploration plain = tiny.explorer.explore({.source = "the small dog"});
    CHECK(plain.problem.empty());
    CHECK(plain.steps.empty());
    CHECK(plain.translation == "the small dog");
    CHECK(plain.record.sites.size() == 2);
}

TEST_CASE("a language model's heads have importance", "[language][importance]") {
    const std::string device = GENERATE(from_range(conformance::devices_under_test()));
    CAPTURE(device);
    const TinyExplorer causal = tiny_language(Architecture::CausalLm, device);
    check_importance(causal, with_target(prompt(), causal.explorer.explore(prompt())));
    check_importance(causal, {.source = "the small dog sees", .target = ""});
    const TinyExplorer masked = tiny_language(Architecture::MaskedLm, device);
    const ExploreRequest filled = with_target(masked_text(), masked.explorer.explore(masked_text()));
    check_importance(masked, filled);
    CHECK(masked.explorer.importance(masked_text()).log_probability ==
          masked.explorer.importance(filled).log_probability);
}

TEST_CASE("a language model's queries and keys give its weights", "[language][neuron]") {
    const TinyExplorer causal = tiny_language(Architecture::CausalLm);
    const ExploreRequest given = with_target(prompt(), causal.explorer.explore(prompt()));
    check_exponentials(causal.explorer.neuron(given, {kCausal, 1}, 3),
                       find_site(causal.explorer.explore(given).record, kCausal, 2));
    const TinyExplorer masked = tiny_language(Architecture::MaskedLm);
    check_exponentials(masked.explorer.neuron(masked_text(), {kMasked, 0}, 2),
                       find_site(masked.explorer.explore(masked_text()).record, kMasked, 1));
}

TEST_CASE("requests that a language model cannot answer say why", "[language]") {
    const TinyExplorer causal = tiny_language(Architecture::CausalLm);
    const TinyExplorer masked = tiny_language(Architecture::MaskedLm);
    const auto problem = [](const TinyExplorer& tiny, const ExploreRequest& request) {
        return tiny.explorer.explore(request).problem;
    };
    ExploreRequest request = prompt();
    request.edits = {{.site = {AttentionKind::Cross, 0}}};
    CHECK_THAT(problem(causal, request), Contains("the model has no cross attention"));
    request.edits = {{.site = {kMasked, 0}}};
    CHECK_THAT(problem(causal, request), Contains("the model has no encoder attention"));
    CHECK_THAT(problem(causal, {.source = "the", .target = "", .source_pads = 2}), Contains("without pads"));
    std::string text;
    for (int word = 0; word < 30; ++word) {
        text += "cat ";
    }
    CHECK_THAT(problem(causal, {.source = text}), Contains("the model takes at most 24"));
    CHECK_THAT(problem(causal, {.source = "the", .target = text}), Contains("the prompt and its continuation have"));
    CHECK_THAT(problem(masked, {.source = text}), Contains("the model takes at most 24"));
    CHECK_THAT(problem(masked, {.source = "the [MASK]", .target = "cat"}), Contains("put [MASK] where"));
    CHECK_THAT(problem(masked, {.source = "the [MASK]", .target_tokens = {7, 8}}), Contains("1 masks, but 2 tokens"));
    CHECK_THAT(masked.explorer.importance({.source = "the dog"}).problem, Contains("there is no token"));
    CHECK_THAT(causal.explorer.importance(prompt()).problem, Contains("a continuation is required"));
    CHECK(problem(causal, {.source = "", .search = {.max_extra = 2}}).empty());  // an empty prompt is a prompt
}

TEST_CASE("of a text with too many weights those of one layer are recorded", "[explore][language]") {
    const TinyExplorer tiny = tiny_language(Architecture::CausalLm);
    ExploreRequest request = prompt();
    request.target = "sees the big cat";
    const Exploration whole = tiny.explorer.explore(request);
    REQUIRE(whole.record.sites.size() == 2);
    const SiteWeights& second = whole.record.sites.back();
    request.most_weights = std::ssize(second.values);
    const Exploration refused = tiny.explorer.explore(request);
    CHECK_THAT(refused.problem, Contains("give a shorter text"));
    CHECK(refused.only_by_layer);
    CHECK(refused.record.sites.empty());

    request.layer = second.site;
    const Exploration one = tiny.explorer.explore(request);
    CHECK(one.problem.empty());
    REQUIRE(one.record.sites.size() == 1);
    CHECK(one.record.sites.front().site == second.site);
    CHECK(one.record.sites.front().values == second.values);
    CHECK(one.log_probability == Approx(whole.log_probability));

    --request.most_weights;
    CHECK_THAT(tiny.explorer.explore(request).problem, Contains("give a shorter text"));
    request.layer.reset();
    CHECK_FALSE(tiny.explorer.explore(request).only_by_layer);
    request.layer = AttentionSite{kCausal, 2};
    CHECK_THAT(tiny.explorer.explore(request).problem, Contains("must be between 1 and 2, got 3"));
}
