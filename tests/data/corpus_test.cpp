#include "data/corpus.h"

#include <catch2/catch.hpp>
#include <string>

#include "data/pair_reader.h"
#include "tests/io/temporary_folder.h"
#include "tests/text/empty_texts.h"
#include "tests/text/sentences.h"
#include "text/tokenizer_training.h"

using namespace headscope;
using Catch::Matchers::Contains;
using Lines = std::vector<std::string>;

TEST_CASE("parallel files", "[corpus]") {
    const TemporaryFolder folder;
    const ParallelText text = read_parallel(folder.write("a.en", "one\n\n three\r\nfour\nfive"),
                                            folder.write("a.de", "eins\nzwei\ndrei\n \t\nfünf\n"));
    CHECK(text.source == Lines{"one", " three\r", "five"});
    CHECK(text.target == Lines{"eins", "drei", "fünf"});
    CHECK(text.dropped_empty == 2);
}

TEST_CASE("parallel files of different lengths are rejected", "[corpus]") {
    const TemporaryFolder folder;
    const std::string two = folder.write("two.en", "one\ntwo\n");
    CHECK_THAT(error_of([&] { read_parallel(two, folder.write("three.de", "eins\nzwei\n\n")); }),
               Contains("two.en' has 2 lines") && Contains("three.de' has 3") && Contains("find the line"));
    CHECK_THAT(error_of([&] { read_parallel(two, folder.file("none.de")); }), Contains("none.de"));
    CHECK_THAT(error_of([&] { read_parallel(two, folder.write("bad.de", "eins\nzw\xff\n")); }),
               Contains("bad.de' line 2"));
}

TEST_CASE("TSV", "[corpus]") {
    const TemporaryFolder folder;
    const ParallelText text = read_tsv(folder.write("a.tsv", "one\teins\n\ntwo\t\n\tdrei\nfour\tvier\n"));
    CHECK(text.source == Lines{"one", "four"});
    CHECK(text.target == Lines{"eins", "vier"});
    CHECK(text.dropped_empty == 3);
    CHECK_THAT(error_of([&] { read_tsv(folder.write("b.tsv", "one\teins\ntwo\n")); }),
               Contains("b.tsv' line 2 has no TAB") && Contains("two files") && !Contains("columns"));
    CHECK_THAT(error_of([&] { read_tsv(folder.write("b.tsv", "one\teins\tCC BY\n")); }),
               Contains("line 1 has 2 TABs") && Contains("remove the other columns"));
}

TEST_CASE("pairs with an empty side are only counted", "[corpus]") {
    const TemporaryFolder folder;
    std::string source, target, tsv;
    for (const std::string& empty : empty_texts()) {
        source += empty + "\nb\nc\n";
        target += "a\n" + empty + "\nc\n";
        tsv += empty + "\ta\nb\t" + empty + "\nc\tc\n";
    }
    const std::size_t count = empty_texts().size();
    for (const ParallelText& text : {read_parallel(folder.write("a.en", source), folder.write("a.de", target)),
                                     read_tsv(folder.write("a.tsv", tsv))}) {
        CHECK(text.source == Lines(count, "c"));
        CHECK(text.dropped_empty == 2 * std::ssize(empty_texts()));
    }
    const Tokenizer tokenizer =
        Tokenizer::from_bytes(train_tokenizer({.sentences = number_sentences(), .vocabulary_size = 100}), "test");
    CHECK(encode_corpus({.source = empty_texts(), .target = Lines(count, "Die")}, tokenizer, tokenizer, 9)
              .dropped_empty == std::ssize(empty_texts()));
}

TEST_CASE("next_raw() returns TSV lines unchanged", "[corpus]") {
    const TemporaryFolder folder;
    PairReader reader(folder.write("a.tsv", "one\teins\tCC BY\n\n\tdrei\nfour\t"), PairReader::FurtherColumns::Ignored);
    Lines sides;
    for (std::string source, target; reader.next_raw(source, target);) {
        sides.insert(sides.end(), {source, target});
    }
    CHECK(sides == Lines{"one", "eins", "", "", "", "drei", "four", ""});
    CHECK_THAT(
        error_of([&] {
            std::string source, target;
            PairReader(folder.write("b.tsv", "one\n"), PairReader::FurtherColumns::Ignored).next_raw(source, target);
        }),
        Contains("line 1 has no TAB") && !Contains("columns"));
}

TEST_CASE("encoding a corpus", "[corpus]") {
    const Tokenizer tokenizer =
        Tokenizer::from_bytes(train_tokenizer({.sentences = number_sentences(), .vocabulary_size = 100}), "test");
    const std::string sentence = "Die Zahl 21 heißt einundzwanzig.";
    const auto pieces = static_cast<std::int64_t>(tokenizer.encode(sentence).size());
    const ParallelText text{.source = {"Die Zahl", sentence, "Die", "\u200b"},
                            .target = {"Die", "Die", sentence, "Die"}};
    const EncodedCorpus all = encode_corpus(text, tokenizer, tokenizer, pieces);
    REQUIRE(all.pairs.size() == 3);
    CHECK(all.pairs[0].source == tokenizer.encode("Die Zahl"));
    CHECK(all.pairs[0].target == tokenizer.encode("Die"));
    CHECK(all.pairs[2].target == tokenizer.encode(sentence));
    CHECK(all.dropped_long == 0);
    CHECK(all.dropped_empty == 1);
    const EncodedCorpus some = encode_corpus(text, tokenizer, tokenizer, pieces - 1);
    CHECK(some.pairs.size() == 1);
    CHECK(some.dropped_long == 2);
    CHECK_THROWS_AS(encode_corpus(text, tokenizer, tokenizer, 0), CheckFailure);
}

TEST_CASE("two vocabularies", "[corpus]") {
    const Tokenizer small =
        Tokenizer::from_bytes(train_tokenizer({.sentences = number_sentences(), .vocabulary_size = 60}), "small");
    const Tokenizer large =
        Tokenizer::from_bytes(train_tokenizer({.sentences = number_sentences(), .vocabulary_size = 120}), "large");
    const std::string sentence = "Die Zahl 21 heißt einundzwanzig.";
    const EncodedCorpus corpus = encode_corpus({.source = {sentence}, .target = {sentence}}, small, large, 100);
    CHECK(corpus.pairs.at(0).source == small.encode(sentence));
    CHECK(corpus.pairs.at(0).target == large.encode(sentence));
    CHECK(corpus.pairs.at(0).source != corpus.pairs.at(0).target);
}
