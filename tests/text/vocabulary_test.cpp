#include "text/vocabulary.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <vector>

#include "tests/io/temporary_folder.h"
#include "tests/text/sentences.h"
#include "text/explain.h"
#include "text/tokenizer.h"
#include "text/tokenizer_training.h"
#include "text/vocabulary_file.h"

using namespace headscope;
using Catch::Matchers::Contains;

TEST_CASE("a vocabulary finds pieces and ids", "[vocabulary]") {
    const Vocabulary vocabulary({{"</s>", PieceKind::Control},
                                 {"<unk>", PieceKind::Unknown},
                                 {"▁the", PieceKind::Normal, -2.5F},
                                 {"<0x41>", PieceKind::Byte},
                                 {"old", PieceKind::Unused}},
                                {.eos = 0, .unk = 1}, "my.vocabulary");
    CHECK(vocabulary.size() == 5);
    CHECK(vocabulary.name() == "my.vocabulary");
    CHECK(vocabulary.special().pad == -1);
    CHECK(vocabulary.piece(2).text == "▁the");
    CHECK(vocabulary.piece(2).score == -2.5F);
    CHECK(vocabulary.find("</s>") == 0);
    CHECK(vocabulary.find("missing") == std::nullopt);
    CHECK(vocabulary.id_of_text("▁the") == 2);
    CHECK(vocabulary.id_of_text("<0x41>") == 3);
    for (const char* text : {"</s>", "<unk>", "old", "missing"}) {
        CHECK(vocabulary.id_of_text(text) == 1);
    }
    CHECK_THAT(error_of([&] { vocabulary.piece(5); }), Contains("the id 5 is outside the 5 pieces of 'my.vocabulary'"));
    CHECK_THAT(error_of([&] { vocabulary.piece(-1); }), Contains("the id -1"));
    CHECK_THAT(error_of([] {
                   Vocabulary({{"a"}, {"b"}, {"a"}}, {}, "twice.vocabulary");
               }),
               Contains("'twice.vocabulary' has the piece 'a' twice, as 0 and 2"));
}

TEST_CASE("a vocabulary may number SentencePiece's pieces in its own way", "[vocabulary]") {
    TemporaryFolder folder;
    const std::string path =
        folder.write("source.spm", train_tokenizer({.sentences = number_sentences(), .vocabulary_size = 120}));
    const Tokenizer own = Tokenizer::load(path);
    // As in Marian's models: the end first, the pad last, no piece for "0", and some that the segmenter lacks.
    std::string pieces = "</s>\n<unk>\n";
    for (std::int32_t id = own.size() - 1; id > own.unk_id(); --id) {
        if (own.piece(id).find('0') == std::string::npos) {
            pieces += own.piece(id) + "\n";
        }
    }
    pieces += ">>deu<<\n▁München\n<0xC3>\n<0xA9>\n<pad>\n";
    const Tokenizer marian = Tokenizer::load(path, parse_vocabulary(pieces, "other"));
    CHECK(marian.name() == "other");
    CHECK(marian.type() == TokenizerType::Bpe);
    CHECK(marian.eos_id() == 0);
    const std::int32_t pad = marian.size() - 1;
    CHECK(marian.pad_id() == pad);
    const std::string text = "Die Zahl 21 heißt einundzwanzig.";
    std::vector<std::int32_t> ids = marian.encode(text);
    CHECK(ids != own.encode(text));
    CHECK(marian.encode_pieces(text) == own.encode_pieces(text));
    ids.push_back(0);
    ids.insert(ids.begin(), pad);
    CHECK(marian.decode(ids) == text);
    CHECK(marian.decoded_spans(ids).back() == ByteSpan{text.size(), text.size()});
    CHECK(marian.encode("0").back() == 1);
    CHECK(own.encode("0").back() > own.unk_id());

    // "é" of two byte pieces, between words.
    const auto ids_of = [&](const std::vector<std::string>& list) {
        std::vector<std::int32_t> found;
        for (const std::string& piece : list) {
            found.push_back(marian.id_of(piece));
        }
        return found;
    };
    CHECK(marian.decode(ids_of({"▁", "▁München", "<0xC3>", "<0xA9>", "<unk>", "▁München", "<0xC3>", "▁"})) ==
          "Münchené ⁇  München\ufffd");
    CHECK(marian.decoded_spans(ids_of({"▁", "▁München", "<0xC3>", "<0xA9>", "▁"})) ==
          std::vector<ByteSpan>{{0, 0}, {0, 8}, {8, 8}, {8, 10}, {10, 10}});
    const std::vector<std::int32_t> code = marian.encode(">>deu<<");
    CHECK(std::find(code.begin(), code.end(), marian.id_of(">>deu<<")) == code.end());

    const auto [segmenter, vocabulary] = marian.files();
    const Tokenizer again =
        Tokenizer::load(folder.write("again.spm", segmenter), parse_vocabulary(vocabulary, "again"));
    CHECK(again.encode(text) == marian.encode(text));
    CHECK(again.files() == marian.files());
    CHECK(own.files() == TokenizerFiles{segmenter, ""});
    // The scores are those of the SentencePiece model.
    CHECK(explain(marian, "zehn").front().steps == explain(own, "zehn").front().steps);

    std::string most;
    for (std::int32_t id = own.unk_id() + 1; id < own.size(); ++id) {
        most += own.piece(id).find('D') == std::string::npos ? own.piece(id) + "\n" : "";
    }
    const Tokenizer bare = Tokenizer::load(path, parse_vocabulary(most, "bare"));
    CHECK_THAT(error_of([&] { bare.encode("Die"); }), Contains("'bare' has neither the piece"));
    CHECK_THAT(error_of([&] { Tokenizer::load(path, parse_vocabulary("a\nb\n", "few")); }),
               Contains("118 of its 120 pieces have no id in few"));
}
