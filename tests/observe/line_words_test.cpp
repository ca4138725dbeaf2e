#include "observe/line_words.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include <catch2/catch.hpp>

#include "support/random.h"
#include "support/utf8.h"
#include "tests/text/sentences.h"
#include "text/normalised.h"
#include "text/tokenizer_training.h"
#include "text/white_space.h"

using namespace headscope;
using namespace std::string_view_literals;

namespace {

using Spans = std::vector<ByteSpan>;
using Units = std::vector<std::int64_t>;

// Characters that nmt_nfkc keeps, composes, expands, turns into a blank or drops, and blanks.
constexpr auto kCharacters = std::to_array<std::string_view>(
    {"a",      "b",          "zwei",       "1",      "\u00e9", "e\u0301", "\u0301", "\u0308", "\u00bd", "\ufb01",
     "\ufdfa", "\u00a8",     "\u203e",     "\uff21", "\u30ab", "\uff76",  "\uff9e", "\u1100", "\u1161", "\u11a8",
     "\u5b57", "\u0939",     "\u200b",     "\u200d", "\u00ad", "\ufeff",  "\u00a0", "\u2003", "\u3000", "\u2028",
     "\u0085", "\u2581",     "\u2585",     "\x01",   "\x7f",   "\r",      "\v",     "\f",     "\u202e", "\ue000",
     "\x1f",   "\U000e0041", "\U0001f600", "\0"sv,   " ",      " ",       " ",      "\t",     "  "});

std::string generated_line(Random& random) {
    std::string line;
    for (std::uint64_t i = random.below(24); i > 0; --i) {
        line += kCharacters[random.below(kCharacters.size())];
    }
    return line;
}

Tokenizer trained(TokenizerType type) {
    std::vector<std::string> sentences = number_sentences(200);
    for (const std::string_view text : {"\u00e9\u00bd a", "\ufb01\ufb01 \u5b57", "\ufdfa \u00a8 b", "\u30ac\uac01"}) {
        sentences.emplace_back(text);
    }
    return Tokenizer::from_bytes(train_tokenizer({.sentences = sentences, .type = type, .vocabulary_size = 130}),
                                 "test");
}

Units words_of(const Tokenizer& tokenizer, const std::string& line) {
    return words_of_pieces(kept_words(tokenizer, line), tokenizer.encoded_spans(line));
}

// Splits a line as Moses and awk do.
Spans split(std::string_view line, std::string_view blanks = " \t") {
    Spans words;
    for (std::size_t at = line.find_first_not_of(blanks); at < line.size();
         at = line.find_first_not_of(blanks, words.back().end)) {
        words.push_back({at, std::min(line.find_first_of(blanks, at), line.size())});
    }
    return words;
}

bool is_white_space_of_python(char32_t c) {
    return is_white_space(c) || (c >= 0x1c && c <= 0x1f);
}

// The number of words that Python's str.split() gives.
std::size_t split_words(std::string_view line) {
    std::size_t words = 0;
    bool inside = false;
    for (std::size_t at = 0; at < line.size();) {
        const bool outside = is_white_space_of_python(next_code_point(line, at).value());
        words += !outside && !inside ? 1 : 0;
        inside = !outside;
    }
    return words;
}

}  // namespace

TEST_CASE("links stay in range for tools that split at spaces or at any white space", "[alignment]") {
    CHECK(line_words("The \u3000 house is red.").size() == 4);
    CHECK(line_words("a \r b \u00a0\u2003\x1f").size() == 2);
    Random random(17);
    for (int round = 0; round < 4000; ++round) {
        const std::string line = generated_line(random);
        const Spans words = line_words(line);
        const Spans all = split(line);
        INFO("'" << line << "'");
        CHECK(words.size() <= split_words(line));
        CHECK(std::includes(all.begin(), all.end(), words.begin(), words.end(),
                            [](const ByteSpan& a, const ByteSpan& b) { return a.begin < b.begin; }));
    }
}

TEST_CASE("only spaces and tabs separate the words of a line", "[alignment]") {
    CHECK(line_words("").empty());
    CHECK(line_words(" \t ").empty());
    CHECK(line_words("a\u00a0b c") == Spans{{0, 4}, {5, 6}});
    CHECK(line_words("  a\t\tbc\r ") == Spans{{2, 3}, {5, 8}});
}

TEST_CASE("pieces belong to the words they come from", "[alignment]") {
    const Tokenizer tokenizer = trained(GENERATE(TokenizerType::Bpe, TokenizerType::Unigram));
    Random random(11);
    std::size_t several = 0;
    for (int round = 0; round < 4000; ++round) {
        const std::string line = generated_line(random);
        const Spans words = line_words(line);
        // No piece spans a blank, so each word is tokenized independently. Other pieces belong to the next word that
        // has pieces, or to the last.
        const std::size_t other = tokenizer.encode("a").size();
        Units expected;
        std::size_t waiting = 0;
        std::int64_t word = 0;
        for (const ByteSpan& span : split(line)) {
            const bool counted = std::find(words.begin(), words.end(), span) != words.end();
            const std::size_t pieces =
                tokenizer.encode("a " + line.substr(span.begin, span.end - span.begin)).size() - other;
            if (!counted || pieces == 0) {
                waiting += pieces;
                word += counted ? 1 : 0;
                continue;
            }
            expected.insert(expected.end(), std::exchange(waiting, 0) + pieces, word++);
        }
        expected.insert(expected.end(), waiting, expected.empty() ? -1 : expected.back());
        if (is_empty_text(line)) {
            expected.clear();
        }
        INFO("'" << line << "'");
        REQUIRE(tokenizer.encoded_spans(line).size() == tokenizer.encode(line).size());
        CHECK(words_of(tokenizer, line) == expected);
        several += words.size() > 2 ? 1 : 0;
    }
    CHECK(several > 500);
}

TEST_CASE("generated pieces belong to the words of their decoded text", "[alignment]") {
    const Tokenizer tokenizer = trained(TokenizerType::Bpe);
    const std::int32_t blank = tokenizer.id_of("\u2581");
    Random random(13);
    for (int round = 0; round < 2000; ++round) {
        std::vector<std::int32_t> ids;
        for (std::uint64_t i = random.below(12); i > 0; --i) {
            ids.push_back(random.below(4) == 0
                              ? blank
                              : static_cast<std::int32_t>(random.below(static_cast<std::uint64_t>(tokenizer.size()))));
        }
        const std::string line = tokenizer.decode(ids);
        const Spans words = line_words(line);
        const Spans spans = tokenizer.decoded_spans(ids);
        REQUIRE(spans.size() == ids.size());
        const Units units = words_of_pieces(kept_words(tokenizer, line), spans);
        std::vector<bool> linked(words.size());
        INFO("'" << line << "'");
        for (std::size_t i = 0; i < ids.size(); ++i) {
            REQUIRE(units[i] < static_cast<std::int64_t>(words.size()));
            REQUIRE((units[i] >= 0 || words.empty()));
            const std::string written = line.substr(spans[i].begin, spans[i].end - spans[i].begin);
            if (written.find_first_not_of(' ') != std::string::npos) {
                const ByteSpan word = words[static_cast<std::size_t>(units[i])];
                CHECK(spans[i].begin + written.find_first_not_of(' ') >= word.begin);
                CHECK(spans[i].begin + written.find_last_not_of(' ') < word.end);
            }
            if (units[i] >= 0) {
                linked[static_cast<std::size_t>(units[i])] = true;
            }
        }
        CHECK(std::count(linked.begin(), linked.end(), false) == 0);
    }
}
