#include "text/vocabulary.h"

#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <vector>

#include "tests/io/temporary_folder.h"
#include "tests/text/sentences.h"
#include "text/sentencepiece_model.h"
#include "text/tokenizer.h"
#include "text/tokenizer_training.h"

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
    const std::string bytes = train_tokenizer({.sentences = number_sentences(), .vocabulary_size = 120});
    const Tokenizer own = Tokenizer::from_bytes(bytes, "own");
    // As in Marian's models: the end first, the pad last, and no piece for "0".
    std::vector<Piece> pieces{{"</s>", PieceKind::Control}, {"<unk>", PieceKind::Unknown}};
    for (std::int32_t id = own.size() - 1; id > own.unk_id(); --id) {
        if (own.piece(id).find('0') == std::string::npos) {
            pieces.push_back(own.vocabulary().piece(id));
        }
    }
    pieces.push_back({"<pad>", PieceKind::Control});
    const std::int32_t pad = static_cast<std::int32_t>(pieces.size()) - 1;
    const Tokenizer marian(open_sentencepiece(bytes, "own").segmenter,
                           std::make_shared<Vocabulary>(pieces, SpecialPieces{pad, -1, 0, 1}, "other"));
    CHECK(marian.name() == "other");
    CHECK(marian.type() == TokenizerType::Bpe);
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
}
