// Heads ranked by what they do in one sentence.
#include <catch2/catch.hpp>

#include "observe/sentence_search.h"
#include "tests/observe/paper_record.h"

using namespace headscope;
using Catch::Matchers::Contains;

namespace {

const char* const kSentence = "The cat sleeps because it is tired .";
enum Column : std::int64_t { kThe, kCat, kSleeps, kBecause, kIt, kIs, kTired, kStop, kEnd };

// Two layers of two heads that look at everything alike, except for the weights that a test gives.
struct Sentence {
    AttentionRecord record;

    Sentence() {
        record.source = test::tokens_of(kSentence, 0);
        record.encoder_layers = 2;
        const auto length = std::ssize(record.source);
        for (const int layer : {0, 1}) {
            const auto size = static_cast<std::size_t>(2 * length * length);
            record.sites.push_back({{AttentionKind::EncoderSelf, layer},
                                    2,
                                    length,
                                    length,
                                    std::vector<float>(size, 1.0F / static_cast<float>(length))});
        }
    }
    float* row(int layer, int head, std::int64_t query) {
        SiteWeights& weights = record.sites[static_cast<std::size_t>(layer)];
        return weights.values.data() + ((head - 1) * weights.queries + query) * weights.keys;
    }
    // The rest of the row is spread evenly.
    void look(int layer, int head, std::int64_t query, std::int64_t key, float weight) {
        const std::int64_t keys = record.sites.front().keys;
        std::fill_n(row(layer, head, query), keys, (1.0F - weight) / static_cast<float>(keys - 1));
        row(layer, head, query)[key] = weight;
    }
    std::vector<TellingHead> rank(SentenceRule rule, int query = -1, int key = -1) const {
        return rank_heads(record, {.rule = rule, .query = query, .key = key});
    }
    std::optional<TellingHead> telling() const { return most_telling(record, AttentionKind::EncoderSelf, {}); }
};

}  // namespace

TEST_CASE("The pronoun's head says most, even if others are sharper", "[sentence_search]") {
    Sentence sentence;
    sentence.look(0, 2, kIt, kCat, 0.6F);
    sentence.look(1, 1, kTired, kSleeps, 0.9F);
    for (std::int64_t query = 1; query < kEnd; ++query) {
        sentence.look(1, 2, query, query - 1, 0.95F);
    }
    const std::optional<TellingHead> found = sentence.telling();
    REQUIRE(found.has_value());
    CHECK(found->site.layer == 0);
    CHECK(found->head == 2);
    CHECK(found->query == kIt);
    CHECK(found->key == kCat);
    CHECK(found->weight == Approx(0.6));
    CHECK(found->from == "it");
    CHECK(found->to == "cat");
}

TEST_CASE("Without a pronoun's link the strongest link of two words that are apart says most", "[sentence_search]") {
    Sentence sentence;
    sentence.look(0, 2, kIt, kCat, 0.2F);  // not enough
    sentence.look(1, 1, kTired, kSleeps, 0.9F);
    sentence.look(0, 1, kSleeps, kCat, 0.99F);  // next to it
    const std::optional<TellingHead> found = sentence.telling();
    REQUIRE(found.has_value());
    CHECK(found->from == "tired");
    CHECK(found->to == "sleeps");
}

TEST_CASE("A key that all words look at says nothing", "[sentence_search]") {
    Sentence sentence;
    for (std::int64_t query = 0; query <= kEnd; ++query) {
        sentence.look(0, 1, query, kCat, 0.9F);
    }
    sentence.look(1, 2, kIt, kCat, 0.5F);
    const std::vector<TellingHead> ranking = sentence.rank(SentenceRule::Anaphora);
    REQUIRE(ranking.size() == 4);
    CHECK(ranking.front().head == 2);
    CHECK(ranking.front().site.layer == 1);
    CHECK(ranking.front().score == Approx(0.5 - (8 * (1.0 / 9.0) + 0.5) / 9.0).margin(1e-5));
}

TEST_CASE("Each rule asks for its own pairs of words", "[sentence_search]") {
    Sentence sentence;
    for (const TellingHead& one : sentence.rank(SentenceRule::Previous)) {
        CHECK(one.query == one.key + 1);
        CHECK(one.key < kStop);
    }
    for (const TellingHead& one : sentence.rank(SentenceRule::Anaphora)) {
        CHECK(one.query == kIt);
        CHECK(one.key + 2 <= kIt);
    }
    for (const TellingHead& one : sentence.rank(SentenceRule::Link)) {
        CHECK((one.query > one.key ? one.query - one.key : one.key - one.query) >= 2);
        CHECK(one.query < kStop);  // neither punctuation nor the end
        CHECK(one.key < kStop);
    }
    sentence.look(0, 1, kIt, kIs, 0.7F);
    const std::vector<TellingHead> given = sentence.rank(SentenceRule::Link, kIt, kIs);  // also of neighbours
    CHECK(given.front().score == Approx(0.7));
    CHECK(given.front().head == 1);
    CHECK(given.size() == 4);
    CHECK(sentence.rank(SentenceRule::Link, kStop, kEnd).size() == 4);
    for (std::int64_t query = 0; query <= kEnd; ++query) {
        sentence.look(1, 1, query, query, 0.8F);
    }
    const std::vector<TellingHead> structure = sentence.rank(SentenceRule::Structure);
    CHECK(std::none_of(structure.begin(), structure.end(),
                       [](const TellingHead& one) { return one.site.layer == 1 && one.head == 1; }));
}

TEST_CASE("A head that is switched off has no pair", "[sentence_search]") {
    Sentence sentence;
    for (SiteWeights& weights : sentence.record.sites) {
        std::fill(weights.values.begin(), weights.values.end(), 0.0F);
    }
    CHECK(sentence.rank(SentenceRule::Link).empty());
    CHECK_FALSE(sentence.telling().has_value());
}
