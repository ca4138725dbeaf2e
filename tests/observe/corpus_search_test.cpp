// Rules over a corpus: their questions, and how often heads and baselines answer them.
#include <catch2/catch.hpp>

#include <functional>
#include <string>
#include <vector>

#include "observe/corpus_search.h"
#include "observe/head_search.h"
#include "support/check.h"
#include "tests/observe/paper_record.h"

using namespace headscope;
using Catch::Matchers::Contains;

namespace {

using Columns = std::vector<std::size_t>;

// "query -> right right; ..." by the words.
std::string asked(const std::string& sentence, const CorpusQuery& query, bool causal = false) {
    const std::vector<RecordedToken> tokens = test::tokens_of(sentence, 0);
    const std::vector<RowItem> row = make_row(tokens, {});
    std::vector<bool> words;
    for (const RowItem& item : row) {
        words.push_back(is_word(tokens, item));
    }
    std::string text;
    for (const Question& question : questions_of(row, words, query, causal)) {
        text += (text.empty() ? "" : "; ") + row[question.query].word + " ->";
        for (const std::size_t key : question.right) {
            text += " " + row[key].word;
        }
    }
    return text;
}

// One layer of heads, each of which puts all weight of a query on one key.
using Head = std::function<std::size_t(std::size_t query)>;
AttentionRecord record_of(const std::string& sentence, const std::vector<Head>& heads) {
    AttentionRecord record;
    record.encoder_layers = 1;
    record.source = test::tokens_of(sentence, 0);
    const std::size_t length = record.source.size();
    SiteWeights weights{{AttentionKind::EncoderSelf, 0},
                        std::ssize(heads),
                        std::ssize(record.source),
                        std::ssize(record.source),
                        std::vector<float>(heads.size() * length * length, 0.0F)};
    for (std::size_t head = 0; head < heads.size(); ++head) {
        for (std::size_t query = 0; query < length; ++query) {
            weights.values[(head * length + query) * length + heads[head](query)] = 1.0F;
        }
    }
    record.sites.push_back(std::move(weights));
    return record;
}

std::size_t before(std::size_t query) {
    return query == 0 ? 0 : query - 1;
}

}  // namespace

TEST_CASE("A pronoun asks for the only word before it that it can stand for", "[corpus]") {
    const CorpusQuery anaphora{CorpusRule::Anaphora};
    CHECK(asked("Tom lost his key .", anaphora) == "his -> Tom");
    CHECK(asked("I see my dog and she sees me .", anaphora) == "my -> I; me -> I");
    CHECK(asked("Tom told John his name .", anaphora).empty());  // whose?
    CHECK(asked("His key is lost , said Tom .", anaphora).empty());
    CHECK(asked("The Law is just , but its application is not .", anaphora).empty());
}

TEST_CASE("Two words that belong together ask if they are far apart", "[corpus]") {
    const CorpusQuery far{CorpusRule::LongDistance};
    CHECK(asked("From the old house we went to the river .", far) == "to -> From");
    CHECK(asked("From Rome to Paris .", far).empty());
    CHECK(asked("It is not a cat with a hat but a dog .", far) == "but -> not");
    CHECK(asked("But it is certainly a dog , and not a cat .", far).empty());  // in this order only
    CHECK(asked("From here to there and from there over the hill to us .", far).empty());
}

TEST_CASE("Clauses end at punctuation, and ask only beside others", "[corpus]") {
    const CorpusQuery structure{CorpusRule::Structure};
    CHECK(asked("He came , she left .", structure) == "He -> came; came -> He; she -> left; left -> she");
    CHECK(asked("Yes , he came .", structure) == "he -> came; came -> he");
    CHECK(asked("The cat sleeps .", structure).empty());
    CHECK(asked("He came , she left .", structure, true) == "came -> He; left -> she");
}

TEST_CASE("A link asks where both words occur once", "[corpus]") {
    const CorpusQuery link{CorpusRule::Link, "its", "Law"};
    CHECK(asked(test::kFigure4, link) == "its -> Law");
    CHECK(asked("its Law and its dog", link).empty());
    CHECK(asked("its law", link).empty());
    CHECK(asked("its own Law", link) == "its -> Law");
    CHECK(asked("its own Law", link, true).empty());
}

TEST_CASE("Searches over a corpus are given by name", "[corpus]") {
    CHECK(parse_corpus_queries("all").size() == 3);
    CHECK(parse_corpus_queries("anaphora").front().rule == CorpusRule::Anaphora);
    CHECK(parse_corpus_queries("link=a\\,,b").front().word == "a,");
    CHECK_THROWS_WITH(parse_corpus_queries("anaphora=its"), Contains("must be all, long-distance, anaphora"));
    CHECK_THROWS_WITH(CorpusSearch({}, AttentionKind::Cross, true), Contains("--kind must be encoder or decoder"));
}

TEST_CASE("The best head of one half is measured on the other", "[corpus]") {
    CorpusSearch search({CorpusRule::Anaphora}, AttentionKind::EncoderSelf, true);
    const Head to_first = [](std::size_t) { return std::size_t{0}; };
    const Head to_tom = [](std::size_t query) { return query == 2 ? std::size_t{0} : query; };
    for (int sentence = 0; sentence < 40; ++sentence) {
        const bool measured = sentence % 2 == 1;
        // Head 1 looks at the first word from everywhere, head 2 at the previous one. Head 3 is always right in the
        // half that chooses and half of the time in the other one, head 4 the other way around.
        const bool sometimes = sentence % 4 == 1;
        search.add(record_of(
            "Tom lost his key today .",
            {to_first, before, measured && !sometimes ? Head(before) : to_tom, measured ? to_tom : Head(before)}));
        search.add(record_of("The cat sleeps .", {before, before, before, before}));  // asks nothing
    }
    const CorpusFinding found = search.result();
    CHECK(found.sentences == 40);
    CHECK(found.questions == 20);
    CHECK(found.head == 3);
    CHECK(found.chosen.rate == 1.0);
    CHECK(found.measured.rate == 0.5);
    CHECK(found.measured.interval.low == Approx(0.2993).margin(1e-4));  // Wilson's for 10 of 20
    CHECK(found.measured.interval.high == Approx(0.7007).margin(1e-4));
    REQUIRE(found.baselines.size() == 3);
    CHECK(found.baselines[0].name == "previous word");
    CHECK(found.baselines[0].rate == 0.0);
    CHECK(found.baselines[0].more == 0.5);
    CHECK(found.baselines[0].interval.low > 0.2);
    CHECK(found.baselines[0].interval.low < 0.35);
    CHECK(found.baselines[0].interval.high > 0.65);
    CHECK(found.baselines[0].interval.high < 0.8);
    CHECK(found.baselines[1].name == "offset -2");
    CHECK(found.baselines[1].rate == 1.0);
    CHECK(found.baselines[1].more == -0.5);
    CHECK(found.baselines[2].rate == Approx(0.25));  // four other words
    CHECK(found.heads == 4);
    CHECK(found.better == 0);  // head 4 is as good as the offset
}

TEST_CASE("A search without enough questions fails", "[corpus]") {
    CorpusSearch search({CorpusRule::Anaphora}, AttentionKind::EncoderSelf, true);
    CHECK_THROWS_WITH(search.result(), Contains("no sentence with a question"));
    search.add(record_of("Tom lost his key .", {before}));
    CHECK_THROWS_WITH(search.result(), Contains("1 sentence with a question"));
}

TEST_CASE("Wilson's interval equals published numbers", "[corpus]") {
    CHECK(wilson_interval(8, 10).low == Approx(0.4902).margin(1e-4));
    CHECK(wilson_interval(8, 10).high == Approx(0.9433).margin(1e-4));
    CHECK(wilson_interval(0, 10).low == 0.0);
    CHECK(wilson_interval(0, 10).high == Approx(0.2775).margin(1e-4));
}
