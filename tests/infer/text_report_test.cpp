// What is told of an output while it is searched for.
#include "infer/text_report.h"

#include <catch2/catch.hpp>
#include <map>
#include <string>
#include <vector>

#include "golden_pieces.h"
#include "infer/prepared_line.h"
#include "registry/registry.h"
#include "support/utf8.h"
#include "tests/model/small_model.h"
#include "tiny_model.h"

using namespace headscope;

namespace {

using Ids = std::vector<std::int32_t>;
using Texts = std::vector<std::string>;

LinePart part_with(Texts stops) {
    LinePart part;
    SearchOptions search{.beam = 1};
    search.stop = std::move(stops);
    part.search = std::make_shared<const SearchOptions>(std::move(search));
    return part;
}

// The text after each token of an output that only grows.
Texts told(TextReport& report, const Ids& ids) {
    const std::vector<double> zeros(ids.size());
    Texts texts;
    std::string text;
    for (std::size_t size = 1; size <= ids.size(); ++size) {
        const auto event = report.next({std::span(ids).first(size), std::span(zeros).first(size), {}}, size - 1);
        REQUIRE(event.has_value());
        CHECK(event->kept_bytes == text.size());
        CHECK(event->kept_tokens == size - 1);
        REQUIRE(event->tokens.size() == 1);
        CHECK(event->tokens.front().token == ids[size - 1]);
        text += event->text;
        CHECK_FALSE(first_invalid_utf8(text));
        texts.push_back(text);
    }
    return texts;
}

// What a reader of all events has.
struct Reader {
    std::string text;
    std::vector<WrittenToken> tokens;
    int revisions = 0;

    void read(const TextEvent& event) {
        REQUIRE(event.kept_bytes <= text.size());
        REQUIRE(event.kept_tokens <= tokens.size());
        revisions += event.kept_tokens < tokens.size() || event.kept_bytes < text.size() ? 1 : 0;
        text = text.substr(0, event.kept_bytes) + event.text;
        tokens.resize(event.kept_tokens);
        tokens.insert(tokens.end(), event.tokens.begin(), event.tokens.end());
    }
};

// Reads all events of a search, which end with its results. Returns the number of revisions.
int check_events(const LoadedModel& model, const SearchOptions& search) {
    std::vector<PreparedLine> lines;
    for (const char* text : {"the small dog", "a cat sees the big dog", "the"}) {
        lines.push_back(prepare_line(model.model(), {.text = text, .number = 1}, {.search = search}, model.longest()));
    }
    std::vector<LinePart*> parts;
    for (PreparedLine& line : lines) {
        line.units.front().reports = true;
        parts.push_back(&line.units.front());
    }
    const auto session = model.begin(parts, {});
    std::map<LinePart*, Reader> readers;
    int events = 0;
    for (bool more = true; more;) {
        more = session->step();
        for (const TextEvent& event : session->take_events()) {
            readers[event.part].read(event);
            ++events;
        }
    }
    CHECK(events > 2 * std::ssize(parts));
    int revisions = 0;
    for (const LinePart* part : parts) {
        const Reader& reader = readers[const_cast<LinePart*>(part)];
        const TextResult& result = part->sentence;
        CHECK(reader.text == result.text);
        const std::vector<double>& each = result.n_best.front().token_log_probabilities;
        REQUIRE(reader.tokens.size() + part->task.given == result.target_ids.size());
        for (std::size_t i = 0; i < reader.tokens.size(); ++i) {
            CHECK(reader.tokens[i].token == result.target_ids[part->task.given + i]);
            CHECK(reader.tokens[i].log_probability == each[part->task.given + i]);
        }
        revisions += reader.revisions;
    }
    return revisions;
}

}  // namespace

TEST_CASE("unfinished characters are held back", "[report]") {
    const Tokenizer tokenizer = golden_tokenizer("gpt2");
    LinePart part = part_with({});
    TextReport report(tokenizer, part);
    // The bytes of a and U+1F642.
    CHECK(told(report, ids_of_pieces(tokenizer, {"a", "\u00f0", "\u0141", "\u013b", "\u0124", "a"})) ==
          Texts{"a", "a", "a", "a", "a\U0001F642", "a\U0001F642a"});
}

TEST_CASE("what may be the beginning of a stop text is held back", "[report]") {
    const Tokenizer tokenizer = golden_tokenizer("gpt2");
    LinePart part = part_with({"aab", "cd"});
    TextReport report(tokenizer, part);
    CHECK(told(report, ids_of_pieces(tokenizer, {"d", "a", "a", "a", "c", "c", "a", "b"})) ==
          Texts{"d", "d", "d", "da", "daaa", "daaac", "daaacc", "daaaccab"});
    Hypothesis stopped{.tokens = ids_of_pieces(tokenizer, {"d", "a", "a", "a", "c", "c", "a", "b", "c", "d"})};
    stopped.token_log_probabilities.resize(stopped.tokens.size());
    stopped.text = "daaaccab";
    const auto last = report.last(stopped);
    REQUIRE(last.has_value());
    CHECK(last->kept_bytes == 8);
    CHECK(last->text.empty());
    CHECK(last->tokens.size() == 2);

    CHECK(length_before_stop("abcab", {"bc"}) == 5 - 1);
    CHECK(length_before_stop("abcab", {"x", "abd"}) == 3);
    CHECK(length_before_stop("abcab", {}) == 5);
    CHECK(length_before_stop("", {"a"}) == 0);
}

TEST_CASE("the work of telling a growing text is linear in its length", "[report]") {
    const Tokenizer tokenizer = golden_tokenizer("gpt2");
    const auto work = [&](std::size_t length) {
        LinePart part = part_with({"zzz"});
        part.task.prompt = ids_of_pieces(tokenizer, {"a", "b"});
        TextReport report(tokenizer, part);
        const Ids pattern = ids_of_pieces(tokenizer, {"a", "b", "c", "z"});
        Ids ids;
        for (std::size_t i = 0; i < length; ++i) {
            ids.push_back(pattern[i % pattern.size()]);
        }
        const Texts texts = told(report, ids);
        CHECK(texts.back().size() == length - 1);  // without z
        return report.work();
    };
    const std::int64_t once = work(500);
    CHECK(once < 4 * 500);
    CHECK(work(1000) <= 2 * once + 10);
}

TEST_CASE("events lead to the result, of every kind of search", "[report]") {
    const auto backend = open_device("cpu");
    const LoadedModel causal = tiny_translator(*backend, tiny_language_config(Architecture::CausalLm));
    const LoadedModel translator = tiny_translator(*backend);
    const SearchOptions greedy{.beam = 1, .length_penalty = 0.0, .max_extra = 12};
    SearchOptions sampled = greedy;
    sampled.sample = true;
    sampled.temperature = 2.0;
    for (const LoadedModel* model : {&causal, &translator}) {
        CHECK(check_events(*model, greedy) == 0);
        CHECK(check_events(*model, sampled) == 0);
        CHECK(check_events(*model, {.beam = 4, .max_extra = 12}) > 0);
        SearchOptions stopping = sampled;
        const std::string whole = translate_line(*model, "the small dog", {.search = sampled}).text;
        REQUIRE(whole.size() > 8);
        stopping.stop = {whole.substr(3, 5), "no such text"};
        CHECK(check_events(*model, stopping) == 0);
    }
}
