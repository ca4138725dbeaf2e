// The beam tree, built from tables of probabilities.
#include <catch2/catch.hpp>

#include <algorithm>

#include <fmt/format.h>

#include "explore/beam_tree.h"
#include "tests/explore/tiny_explorer.h"

using namespace headscope;
using Catch::Matchers::Contains;

namespace {

using Fate = BeamNode::Fate;
constexpr std::int32_t kEos = 0;

// Words 1, 2, 3 and the end, 0; their probabilities as logarithms.
struct Search {
    explicit Search(const SearchOptions& options, std::int64_t limit = 9)
        : beam(options, rules, limit), tree(options, rules, limit, [](std::int32_t token) {
              return token == kEos ? std::string("<EOS>") : fmt::format("w{}", token);
          }) {}

    // rows x 4: of tokens 0, 1, 2, 3
    void step(const std::vector<std::vector<float>>& rows) {
        NextTokens next{.rows = static_cast<std::int64_t>(rows.size()), .k = 4, .log_probabilities = {}, .tokens = {}};
        for (const std::vector<float>& row : rows) {
            for (std::int32_t token = 0; token < 4; ++token) {
                next.tokens.push_back(token);
                next.log_probabilities.push_back(row[static_cast<std::size_t>(token)]);
            }
        }
        beam.advance(next, 0);
        tree.follow(beam);
    }
    const BeamNode& node(const std::string& path) const {
        for (std::size_t i = 0; i < tree.nodes().size(); ++i) {
            std::string text;
            for (const std::size_t at : tree.path_to(i)) {
                text += (text.empty() ? "" : " ") + tree.nodes()[at].text;
            }
            if (text == path) {
                return tree.nodes()[i];
            }
        }
        throw Error("no node " + path);
    }

    TokenRules rules{.eos = kEos, .forbidden = {}};
    SentenceBeam beam;
    BeamTree tree;
};

SearchOptions options(int beam) {
    return {.beam = beam, .length_penalty = 0.0, .min_length = 0};
}

}  // namespace

TEST_CASE("A tree explains why each branch ended", "[beam_tree]") {
    Search search(options(2));
    search.step({{-9.0F, -1.0F, -2.0F, -3.0F}});
    CHECK(search.tree.nodes().size() == 3);
    CHECK(search.node("w2").fate == Fate::Open);
    CHECK(search.node("w2").reason.empty());
    CHECK(search.tree.best() == 1);
    // w1 continues twice; w2's best continuation is the third.
    search.step({{-9.0F, -0.5F, -0.6F, -9.0F}, {-9.0F, -0.25F, -9.0F, -9.0F}});
    CHECK(search.node("w1 w2").log_probability == Approx(-1.6));
    CHECK(search.node("w2").fate == Fate::Fell);
    CHECK_THAT(search.node("w2").reason, Contains("(w1) was 3rd, and 2 were taken (-2.250 against -1.600)"));
    // One hypothesis finishes first; the live one could still win, then no longer.
    search.step({{-0.5F, -0.25F, -9.0F, -9.0F}, {-9.0F, -9.0F, -9.0F, -0.875F}});
    CHECK(search.node("w1 w1 <EOS>").fate == Fate::Finished);
    CHECK_FALSE(search.beam.done());
    search.step({{-0.125F, -9.0F, -9.0F, -9.0F}, {-9.0F, -9.0F, -0.25F, -9.0F}});
    REQUIRE(search.beam.done());
    CHECK(search.node("w1 w1 w1 <EOS>").best);
    CHECK(search.node("w1 w1 w1 <EOS>").reason == "finished with a score of -1.875, the best");
    CHECK(search.node("w1 w1 <EOS>").reason == "finished with a score of -2.000, and the best has -1.875");
    CHECK_FALSE(search.node("w1 w1 <EOS>").best);
    CHECK(search.node("w1 w1").best);
    CHECK(search.tree.nodes().front().best);
    const BeamNode& stopped = search.node("w1 w2 w3 w2");
    CHECK(stopped.fate == Fate::Stopped);
    CHECK(stopped.reason == "could reach a score of at most -2.725, and a finished one has -1.875");
}

TEST_CASE("A branch without a good continuation is reported as such", "[beam_tree]") {
    Search search(options(2));
    search.step({{-9.0F, -0.5F, -0.7F, -3.0F}});
    search.step({{-1.0F, -1.0F, -1.0F, -1.0F}, {-8.0F, -8.0F, -8.0F, -8.0F}});
    CHECK(search.node("w2").fate == Fate::Fell);
    CHECK_THAT(search.node("w2").reason, Contains("none of its continuations was among the best 4"));
}

TEST_CASE("A branch is cut at the maximum length", "[beam_tree]") {
    Search search(options(2), 1);
    search.step({{-9.0F, -1.0F, -2.0F, -3.0F}});
    REQUIRE(search.beam.done());
    CHECK(search.node("w1").fate == Fate::Cut);
    CHECK(search.node("w1").best);
    CHECK(search.node("w2").reason == "reached the longest output, 1 tokens");
    CHECK_FALSE(search.node("w2").best);
}

TEST_CASE("A greedy search stops at the first end", "[beam_tree]") {
    Search search(options(1));
    search.step({{-0.5F, -1.0F, -2.0F, -3.0F}});
    REQUIRE(search.beam.done());
    CHECK(search.node("<EOS>").best);
    CHECK(search.node("w1").fate == Fate::Stopped);
    CHECK_THAT(search.node("w1").reason, Contains("a beam of 1"));
}

TEST_CASE("The tree of a model's search ends with the search", "[beam_tree]") {
    const TinyExplorer tiny;
    for (const int beam : {1, 2, 4, 7}) {
        const ExploreRequest request = tiny_request(beam);
        const Exploration found = tiny.explorer.explore(request);
        const TextResult translated =
            translate_line(tiny.translator, request.source,
                           {.search = request.search.over({}), .batch_tokens = 1024, .compute = Compute::F32});
        CHECK(found.translation == translated.text);
        CHECK(output_of(found) == translated.target_ids);
        CHECK(found.score == Approx(translated.score).margin(1e-6));
        CHECK(found.end == translated.end);
        std::size_t on_best = 0;
        for (std::size_t i = 1; i < found.beam.size(); ++i) {
            const BeamNode& node = found.beam[i];
            const BeamNode& parent = found.beam[static_cast<std::size_t>(node.parent)];
            CHECK(node.step == parent.step + 1);
            CHECK(node.log_probability <= parent.log_probability);
            CHECK(node.reason.empty() == (node.fate == Fate::Open));
            const bool has_children = std::any_of(found.beam.begin() + 1, found.beam.end(), [&](const BeamNode& other) {
                return other.parent == static_cast<int>(i);
            });
            CHECK(has_children == (node.fate == Fate::Open));
            on_best += node.best ? 1 : 0;
        }
        CHECK(on_best == found.steps.size());
    }
}
