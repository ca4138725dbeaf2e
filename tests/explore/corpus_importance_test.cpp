// What heads are worth over a test set, beside the explorer's single sentences.
#include <catch2/catch.hpp>

#include <algorithm>
#include <string>
#include <vector>

#include "eval/bleu.h"
#include "explore/corpus_importance.h"
#include "explore/editing_observer.h"
#include "tests/explore/tiny_explorer.h"

using namespace headscope;
using Catch::Matchers::Contains;

namespace {

CorpusText pairs() {
    return {{"the small dog sees the big cat", "the cat", "a dog sees a cat", "the dog sees the cat", "a big dog"},
            {"die katze", "der hund", "die katze sieht", "der hund sieht die katze", "ein hund"}};
}

std::vector<AttentionEdit> layer(const AttentionSite& site, EditKind kind) {
    std::vector<AttentionEdit> edits;
    for (int head = 1; head <= 4; ++head) {
        edits.push_back({.site = site, .head = head, .kind = kind});
    }
    return edits;
}

// Of every second pair from `first` on.
double nll(const TinyExplorer& tiny, std::size_t first, const std::vector<AttentionEdit>& edits) {
    const CorpusText text = pairs();
    double sum = 0.0;
    double tokens = 0.0;
    for (std::size_t i = first; i < text.sources.size(); i += 2) {
        ExploreRequest request{.source = text.sources[i], .target = text.targets[i]};
        request.edits = edits;
        const Exploration found = tiny.explorer.explore(request);
        REQUIRE(found.problem.empty());
        sum -= found.log_probability;
        tokens += static_cast<double>(found.steps.size());
    }
    return sum / tokens;
}

}  // namespace

TEST_CASE("Over a test set every ablation equals the sum over its sentences", "[importance][corpus]") {
    const TinyExplorer tiny;
    std::vector<std::size_t> progress;
    const CorpusImportance found = measure_corpus_importance(
        *tiny.backend, tiny.translator, pairs(), {.points = 24, .orders = 2}, [&](std::size_t done, std::size_t total) {
            progress.push_back(done);
            CHECK(total == 2 + 24 + 2 * 6 + 24 * 3);
        });
    CHECK(progress.size() == 2 + 24 + 2 * 6 + 24 * 3);
    CHECK(progress.back() == progress.size());
    CHECK(found.choosing == 3);
    CHECK(found.measuring == 2);
    CHECK_FALSE(found.whole.bleu.has_value());
    CHECK(found.whole.nll == Approx(nll(tiny, 1, {})).margin(1e-4));
    CHECK(found.choosing_whole.nll == Approx(nll(tiny, 0, {})).margin(1e-4));
    REQUIRE(found.heads.size() == 24);
    for (const AblatedHeads& one : found.heads) {
        INFO(name_of(one.site.kind) << " " << one.site.layer << " " << one.head);
        CHECK(one.score.nll == Approx(nll(tiny, 0, {{.site = one.site, .head = one.head}})).margin(1e-4));
    }
    REQUIRE(found.layers_off.size() == 6);
    REQUIRE(found.layers_uniform.size() == 6);
    for (std::size_t i = 0; i < 6; ++i) {
        const AttentionSite site = found.layers_off[i].site;
        CHECK(found.layers_off[i].score.nll == Approx(nll(tiny, 1, layer(site, EditKind::Off))).margin(1e-4));
        CHECK(found.layers_uniform[i].score.nll == Approx(nll(tiny, 1, layer(site, EditKind::Uniform))).margin(1e-4));
    }
    const Importance shown = per_thousand_tokens(found);
    CHECK(shown.heads[5].loss == Approx(1000.0 * (found.heads[5].score.nll - found.choosing_whole.nll)));
}

TEST_CASE("Pruning begins with the least important heads", "[importance][corpus]") {
    const TinyExplorer tiny;
    const CorpusImportance found =
        measure_corpus_importance(*tiny.backend, tiny.translator, pairs(), {.points = 12, .orders = 2}, {});
    std::vector<AblatedHeads> order = found.heads;
    std::stable_sort(order.begin(), order.end(),
                     [](const AblatedHeads& a, const AblatedHeads& b) { return a.score.nll < b.score.nll; });
    REQUIRE(found.pruned.size() == 13);
    std::vector<AttentionEdit> edits;
    for (std::size_t point = 0; point < found.pruned.size(); ++point) {
        CHECK(found.pruned[point].left == 24 - 2 * static_cast<int>(point));
        CHECK(found.pruned[point].score.nll == Approx(nll(tiny, 1, edits)).margin(1e-4));
        for (std::size_t i = 2 * point; i < std::min<std::size_t>(2 * point + 2, 24); ++i) {
            edits.push_back({.site = order[i].site, .head = order[i].head});
        }
    }
    REQUIRE(found.pruned_at_random.size() == 2);
    for (const std::vector<PruningPoint>& curve : found.pruned_at_random) {
        REQUIRE(curve.size() == 13);
        CHECK(curve.front().score.nll == found.whole.nll);
        CHECK(curve.back().score.nll == Approx(found.pruned.back().score.nll).margin(1e-6));
        CHECK(curve[6].score.nll != Approx(found.pruned[6].score.nll).margin(1e-6));
    }
    CHECK(found.pruned_at_random[0][6].score.nll != Approx(found.pruned_at_random[1][6].score.nll).margin(1e-6));
}

TEST_CASE("BLEU without heads is that of translations without them", "[importance][corpus]") {
    const TinyExplorer tiny;
    const CorpusText text = pairs();
    const DecodingOptions translation{.search = {.beam = 2, .max_extra = 4}};
    const CorpusImportance found = measure_corpus_importance(
        *tiny.backend, tiny.translator, text, {.translation = translation, .bleu = 9, .points = 2, .orders = 1}, {});
    CHECK(found.translated == 2);
    const auto bleu = [&](const std::vector<AttentionEdit>& edits) {
        std::vector<std::string> translations;
        for (const std::size_t i : {1, 3}) {
            const ExploreRequest request{
                .source = text.sources[i], .search = {.beam = 2, .max_extra = 4}, .edits = edits};
            const Exploration explored = tiny.explorer.explore(request);
            EditingObserver observer(edits, 0, nullptr);
            DecodingOptions observed = translation;
            observed.observer = &observer;
            CHECK(translate_line(tiny.translator, text.sources[i], observed).log_probability ==
                  Approx(explored.log_probability).margin(1e-4));
            translations.push_back(explored.translation);
        }
        return corpus_bleu(translations, {text.targets[1], text.targets[3]}).score;
    };
    CHECK(*found.whole.bleu == bleu({}));
    CHECK(*found.layers_off[2].score.bleu == bleu(layer(found.layers_off[2].site, EditKind::Off)));
    CHECK(*found.heads[7].score.bleu == bleu({{.site = found.heads[7].site, .head = found.heads[7].head}}));
}

TEST_CASE("Pairs that the model cannot score are left out, and too few are an error", "[importance][corpus]") {
    const TinyExplorer tiny;
    CorpusText text = pairs();
    text.targets[4] = "";
    CHECK(measure_corpus_importance(*tiny.backend, tiny.translator, text, {.points = 1, .orders = 0}, {}).left_out ==
          1);
    text.targets[3] = "";
    CHECK_THROWS_WITH(measure_corpus_importance(*tiny.backend, tiny.translator, text, {}, {}),
                      Contains("expected at least 4 pairs that the model can score, found 3"));
}
