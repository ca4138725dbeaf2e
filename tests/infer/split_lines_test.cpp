// Lines longer than the limit, and prefixes of whole lines.
#include <catch2/catch.hpp>

#include "infer/loaded_model.h"
#include "infer/prepared_line.h"
#include "infer/split_news.h"
#include "registry/registry.h"
#include "support/check.h"
#include "tests/text/empty_texts.h"
#include "tiny_model.h"

using namespace headscope;
using Catch::Matchers::Contains;

namespace {

const std::string kLong =
    "The small dog sees the big cat on the mat. A cat sleeps on the mat. The dog sees the cat and the mat.";
const std::vector<std::string> kParts{"The small dog sees the big cat on the mat.", "A cat sleeps on the mat.",
                                      "The dog sees the cat and the mat."};

std::int64_t pieces(const LoadedModel& translator, const std::string& text) {
    return static_cast<std::int64_t>(translator.model().source_tokenizer->encode(text).size()) + 1;
}

DecodingOptions splitting(std::int64_t longer_than) {
    return {.search = {.max_extra = 4, .n_best = 2}, .split_longer_than = longer_than};
}

}  // namespace

TEST_CASE("the translation of a line that is too long joins its sentences'") {
    const auto backend = open_device("cpu");
    const LoadedModel translator = tiny_translator(*backend);
    const DecodingOptions options = splitting(pieces(translator, kLong) - 1);
    const std::vector<TextResult> parts = translate(translator, kParts, options);
    const TextResult whole = translate(translator, {"cat", kLong, "dog"}, options)[1];
    REQUIRE(whole.problem.empty());
    REQUIRE(whole.parts.size() == 3);
    REQUIRE(whole.n_best.size() == 2);
    for (std::size_t rank = 0; rank < 2; ++rank) {
        std::string text;
        std::vector<std::int32_t> ids;
        double log_probability = 0.0;
        for (const TextResult& part : parts) {
            const Translation& one = part.n_best[rank];
            text += (text.empty() ? "" : " ") + one.text;
            ids.insert(ids.end(), one.ids.begin(), one.ids.end());
            log_probability += one.log_probability;
        }
        CHECK(whole.n_best[rank].text == text);
        CHECK(whole.n_best[rank].ids == ids);
        CHECK(whole.n_best[rank].log_probability == Approx(log_probability).margin(1e-4));
        CHECK(whole.n_best[rank].score ==
              Approx(log_probability / length_penalty(static_cast<std::int64_t>(ids.size()), 0.6)).margin(1e-4));
    }
    for (std::size_t i = 0; i < parts.size(); ++i) {
        const ByteSpan span = whole.parts[i].span;
        CHECK(kLong.substr(span.begin, span.end - span.begin) == kParts[i]);
        const Translation& part = whole.parts[i].n_best[1];
        CHECK(whole.n_best[1].text.substr(part.begin, part.text.size()) == part.text);
    }
    CHECK(whole.text == whole.n_best.front().text);
    CHECK_THAT(whole.remark, Contains("translated as 3 sentences"));
}

TEST_CASE("different parts that join to the same text are one translation") {
    const auto part = [](const std::vector<std::string>& texts) {
        TextResult sentence;
        for (const std::string& text : texts) {
            const double log_probability = -1.0 - static_cast<double>(sentence.n_best.size());
            sentence.n_best.push_back({{4, 2}, text, log_probability, log_probability});
        }
        return sentence;
    };
    const std::vector<TextResult> parts{part({"a b", "c", "a", "d"}), part({"c", "d", "b c", "e"})};
    const TextResult line = join_units(parts, "", {.n_best = 4});
    REQUIRE(line.n_best.size() == 3);
    CHECK(line.n_best[0].text == "a b c");
    CHECK(line.n_best[0].log_probability == -2.0);
    CHECK(line.n_best[2].text == "d e");
    CHECK(line.parts[0].n_best[2].text == "d");
    CHECK(line.parts[1].n_best[2].text == "e");
    CHECK(join_units(parts, "", {.n_best = 4, .n_best_duplicates = true}).n_best.size() == 4);
}

TEST_CASE("scores of joined translations fall, and the first is the single translation") {
    using Found = std::vector<std::pair<std::string, double>>;
    const auto part = [](const Found& found) {
        TextResult sentence;
        for (const auto& [text, log_probability] : found) {
            sentence.n_best.push_back({{4, 2}, text, log_probability, log_probability});
        }
        return sentence;
    };
    const std::vector<TextResult> parts{part({{"a b", -4.0}, {"a", -1.0}, {"x", -5.0}, {"y", -2.5}, {"better", -1.0}}),
                                        part({{"c", -1.0}, {"b c", -2.0}, {"x", -5.0}, {"y", -2.5}, {"still", -1.0}})};
    const bool duplicates = GENERATE(false, true);
    const TextResult line = join_units(parts, "", {.n_best = 5, .n_best_duplicates = duplicates});
    REQUIRE(line.n_best.size() == 3);
    CHECK(line.n_best[0].text == "a b c");
    CHECK(line.log_probability == -5.0);
    CHECK(line.n_best[1].text == "y y");
    CHECK(line.n_best[2].text == "x x");
    CHECK(line.parts[0].n_best[1].text == "y");
    CHECK(line.parts[1].n_best.size() == 3);
}

TEST_CASE("a line of the allowed length is not split, and splitting can be disabled") {
    const auto backend = open_device("cpu");
    const LoadedModel translator = tiny_translator(*backend, 128);
    const std::int64_t length = pieces(translator, kLong);
    const TextResult whole = translate_line(translator, kLong, splitting(length));
    CHECK(whole.parts.empty());
    CHECK(whole.remark.empty());
    CHECK(translate_line(translator, kLong, splitting(0)).text == whole.text);
    CHECK(translate_line(translator, kLong, {.search = {.max_extra = 4}}).text == whole.text);
    CHECK(translate_line(translator, kLong, splitting(length - 1)).parts.size() == 3);
}

TEST_CASE("no-break spaces and separators split sentences that are still too long") {
    const auto backend = open_device("cpu");
    const LoadedModel translator = tiny_translator(*backend);
    const std::string joined = "A cat sleeps.\u00a0The dog sees the cat";
    const std::string line = joined + ". It sees the mat\u2028the dog.";
    const auto parts = [&](std::int64_t longer_than) {
        return translate_line(translator, line, splitting(longer_than)).parts.size();
    };
    CHECK(parts(pieces(translator, line)) == 0);
    CHECK(parts(pieces(translator, line) - 1) == 2);
    CHECK(parts(4) == 4);
    CHECK(translate_line(translator, joined, splitting(pieces(translator, joined) - 1)).parts.size() == 2);
}

TEST_CASE("a long line without an end of a sentence is translated unsplit, with a remark, if the model can") {
    const auto backend = open_device("cpu");
    const LoadedModel translator = tiny_translator(*backend);
    const std::string line = "the small dog sees the big cat on the mat";
    const TextResult sentence = translate_line(translator, line, splitting(4));
    CHECK(sentence.text == translate_line(translator, line, splitting(0)).text);
    CHECK_THAT(sentence.remark, Contains("no end of a sentence"));
    DecodingOptions silent = splitting(4);
    silent.warn_unsplit = false;
    CHECK(translate_line(translator, line, silent).remark.empty());
    CHECK_FALSE(translate_line(translator, kLong, silent).remark.empty());

    const LoadedModel narrow = tiny_translator(*backend, 8);
    const auto problem = [&](const std::string& text, const DecodingOptions& options) {
        const TextResult refused = translate(narrow, std::vector<std::string>{text}, options).front();
        CHECK(refused.text.empty());
        CHECK(refused.n_best.empty());
        return refused.problem;
    };
    CHECK_THAT(problem(line, {}), Contains("at most 8") && Contains("no end of a sentence"));
    CHECK_THAT(problem(line, splitting(0)), Contains("at most 8") && Contains("split the line into sentences"));
    CHECK_THAT(problem("A cat. " + kLong, {}), Contains("sentence 2 of 4 still has"));
}

TEST_CASE("by default only lines too long for the model are split") {
    const auto backend = open_device("cpu");
    const std::int64_t length = pieces(tiny_translator(*backend), kLong);
    const LoadedModel exact = tiny_translator(*backend, length);
    CHECK(translate_line(exact, kLong, {.search = {.beam = 1}}).parts.empty());
    const LoadedModel less = tiny_translator(*backend, length - 1);
    CHECK(translate_line(less, kLong, {.search = {.beam = 1}}).parts.size() == 3);
}

TEST_CASE("the first split lines are listed, and all are counted") {
    SplitNews news;
    CHECK(news.next("").empty());
    for (std::int64_t i = 1; i < SplitNews::kReported; ++i) {
        CHECK(news.next("long") == "long");
    }
    CHECK(news.end().empty());
    CHECK(news.next("long") == "long; further ones are only counted");
    CHECK(news.end().empty());
    CHECK(news.next("long").empty());
    CHECK(news.next("").empty());
    CHECK_THAT(news.end(), Contains("11 lines") && Contains("first 10"));
}

TEST_CASE("a translation begins with its line's prefix, also if the line is split") {
    const auto backend = open_device("cpu");
    const LoadedModel translator = tiny_translator(*backend);
    const std::vector<SourceLine> lines{{.text = "the dog", .prefix = "die katze", .number = 1},
                                        {.text = "the dog", .number = 2},
                                        {.text = kLong, .prefix = "der hund", .number = 3},
                                        {.text = "", .prefix = "die", .number = 4}};
    const auto found = translator.translate(lines, splitting(pieces(translator, kLong) - 1));
    CHECK(found[0].text.starts_with("die katze"));
    CHECK(found[1].text == translate_line(translator, "the dog", splitting(0)).text);
    CHECK(found[2].text.starts_with("der hund"));
    REQUIRE(found[2].parts.size() == 3);
    CHECK_FALSE(found[2].parts[1].text.starts_with("der hund"));
    CHECK(found[3].text.empty());
    CHECK(found[3].problem.empty());
    CHECK(found[3].n_best.size() == 1);
}

TEST_CASE("an empty line has an empty translation") {
    const auto backend = open_device("cpu");
    const LoadedModel translator = tiny_translator(*backend);
    for (const std::string& text : empty_texts()) {
        INFO(text);
        const TextResult found = translate_line(translator, text, splitting(0));
        CHECK(found.source_ids.empty());
        CHECK(found.text.empty());
        CHECK(found.problem.empty());
    }
}

TEST_CASE("lines with unknown characters are marked, also if split") {
    const auto backend = open_device("cpu");
    const LoadedModel translator = tiny_translator(*backend);
    CHECK_FALSE(translate_line(translator, "the dog", splitting(0)).unknown);
    CHECK(translate_line(translator, "the \u2603 dog", splitting(0)).unknown);

    TextResult known;
    known.n_best.emplace_back();
    TextResult unknown = known;
    unknown.unknown = true;
    CHECK(join_units({known, unknown, known}, "", {}).unknown);
    CHECK_FALSE(join_units({known, known}, "", {}).unknown);
}

TEST_CASE("an invalid prefix is a problem of its own line only") {
    const auto backend = open_device("cpu");
    const LoadedModel translator = tiny_translator(*backend);
    const std::vector<SourceLine> lines{{.text = "the dog", .prefix = "der \u2603 hund"},
                                        {.text = "the dog", .prefix = "die grosse katze liegt auf der matte"},
                                        {.text = "the dog", .prefix = "\xff"},
                                        {.text = "the dog"}};
    const auto found = translator.translate(lines, {.search = {.max_extra = 2}});
    CHECK_THAT(found[0].problem, Contains("'\u2603'") && Contains("not in the model's vocabulary"));
    CHECK_THAT(found[1].problem, Contains("shorter prefix") && Contains("--max-extra"));
    CHECK_THAT(found[2].problem, Contains("UTF-8"));
    CHECK(found[3].problem.empty());
    CHECK_FALSE(found[3].target_ids.empty());
}

TEST_CASE("the samples of a line do not depend on its batch or on other lines") {
    const auto backend = open_device("cpu");
    const LoadedModel translator = tiny_translator(*backend);
    const DecodingOptions options{.search = {.beam = 1, .max_extra = 8, .sample = true, .seed = 11}};
    std::vector<SourceLine> lines;
    for (std::uint32_t number = 1; number <= 12; ++number) {
        lines.push_back({.text = number % 2 == 0 ? "the small dog" : "a cat sleeps on the mat", .number = number});
    }
    const auto together = translator.translate(lines, options);
    DecodingOptions small = options;
    small.batch_tokens = 1;
    const auto apart = translator.translate(lines, small);
    for (std::size_t i = 0; i < lines.size(); ++i) {
        CHECK(together[i].target_ids == apart[i].target_ids);
        CHECK(translator.translate({lines[i]}, options).front().target_ids == together[i].target_ids);
    }
    CHECK(together[0].target_ids != together[2].target_ids);  // the same text, sampled twice
}
