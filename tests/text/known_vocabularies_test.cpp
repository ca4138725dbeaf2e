#include "text/known_vocabularies.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "tests/io/temporary_folder.h"
#include "text/vocabulary_file.h"

using namespace headscope;
using Catch::Matchers::Contains;

namespace {

const Vocabulary kSentencePiece({{"<unk>", PieceKind::Unknown},
                                 {"<s>", PieceKind::Control},
                                 {"</s>", PieceKind::Control},
                                 {"▁a"},
                                 {"<0x0A>", PieceKind::Byte}},
                                {.bos = 1, .eos = 2, .unk = 0}, "my.spm");

std::string texts(const Vocabulary& vocabulary) {
    std::string all;
    for (const Piece& piece : vocabulary.pieces()) {
        all += (all.empty() ? "" : " | ") + piece.text;
    }
    return all;
}

}  // namespace

TEST_CASE("T5 adds sentinels to SentencePiece's pieces", "[vocabulary]") {
    const auto t5 = t5_vocabulary(kSentencePiece, 2, 8);
    CHECK(texts(*t5) == "<unk> | <s> | </s> | ▁a | <0x0A> | <extra_id_1> | <extra_id_0> | <unused 7>");
    CHECK(t5->piece(6).kind == PieceKind::Control);
    CHECK(t5->added() == std::vector<AddedToken>{{"<extra_id_1>"}, {"<extra_id_0>"}});
    CHECK(t5->piece(7).kind == PieceKind::Unused);
    CHECK(t5->piece(4).kind == PieceKind::Byte);
    CHECK(t5->special().eos == 2);
    CHECK(t5->special().pad == -1);
    CHECK_THAT(error_of([] { t5_vocabulary(kSentencePiece, 100, 32); }),
               Contains("my.spm has 105 pieces, more than the 32"));
}

TEST_CASE("mBART and NLLB number SentencePiece's pieces as fairseq does", "[vocabulary]") {
    const auto nllb = fairseq_vocabulary(kSentencePiece, {"deu_Latn", "eng_Latn"}, true, 0);
    CHECK(texts(*nllb) == "<s> | <pad> | </s> | <unk> | ▁a | <0x0A> | deu_Latn | eng_Latn | <mask>");
    CHECK(nllb->special().bos == 0);
    CHECK(nllb->special().pad == 1);
    CHECK(nllb->special().eos == 2);
    CHECK(nllb->special().unk == 3);
    CHECK(nllb->id_of_text("deu_Latn") == 3);
    CHECK(nllb->id_of_text("▁a") == 4);
    CHECK(nllb->piece(8).kind == PieceKind::Control);
    CHECK(texts(*fairseq_vocabulary(kSentencePiece, {}, false, 7)).ends_with("<0x0A> | <unused 6>"));
    const Vocabulary marian({{"</s>", PieceKind::Control}, {"<unk>", PieceKind::Unknown}}, {.eos = 0, .unk = 1},
                            "marian");
    CHECK_THAT(error_of([&] { fairseq_vocabulary(marian, {}, false, 0); }),
               Contains("marian has the unknown piece at 1, the begin at -1 and the end at 0"));
}

TEST_CASE("declared tokens have the ids that are given", "[vocabulary]") {
    const AddedTokensList added{.tokens = {{"near"}, {"far"}, {"out"}, {"next"}}, .ids = {7, 9, 12}};
    CHECK(texts(*fairseq_vocabulary(kSentencePiece, {}, true, 12, added)) ==
          "<s> | <pad> | </s> | <unk> | ▁a | <0x0A> | <mask> | near | <unused 8> | far | next | <unused 11>");
    const auto camembert = camembert_vocabulary(kSentencePiece, 12, {.tokens = {{"x"}}, .ids = {11}});
    CHECK(texts(*camembert).ends_with("<mask> | <unused 10> | x"));
    CHECK(camembert->added() == std::vector<AddedToken>{{"x"}});
}

TEST_CASE("ids may be pieces", "[vocabulary]") {
    const auto ids = vocabulary_of_ids(12, {.pad = 0, .eos = 1}, "ids");
    CHECK(ids->size() == 12);
    CHECK(ids->id_of_text("11") == 11);
    CHECK(ids->piece(1).kind == PieceKind::Control);
    CHECK(ids->special().unk == -1);
}

TEST_CASE("a tokenizer.json gives ids, also of SentencePiece's pieces", "[vocabulary]") {
    const char* file = R"({"added_tokens": [{"id": 0, "content": "<s>", "special": true},
                                            {"id": 4, "content": "de_DE", "special": true},
                                            {"id": 5, "content": "more", "special": false, "normalized": true}],
                           "normalizer": {"type": "Precompiled"},
                           "model": {"type": "Unigram", "unk_id": 2,
                                     "vocab": [["<s>", 0.0], ["</s>", 0.0], ["<unk>", 0.0], ["▁a", -1.5]]}})";
    const auto vocabulary = parse_vocabulary(file, "tokenizer.json", {.eos = "</s>", .size = 7});
    CHECK(texts(*vocabulary) == "<s> | </s> | <unk> | ▁a | de_DE | more | <unused 6>");
    CHECK(vocabulary->special().bos == 0);
    CHECK(vocabulary->special().eos == 1);
    CHECK(vocabulary->special().unk == 2);
    CHECK(vocabulary->piece(4).kind == PieceKind::Control);
    CHECK(vocabulary->piece(5).kind == PieceKind::Added);
    CHECK(vocabulary->added().size() == 3);
    const auto problem = [](const std::string& model) {
        return error_of([&] { parse_vocabulary("{\"model\": {" + model + "}}", "t.json"); });
    };
    CHECK_THAT(problem(R"("vocab": [["a", 0], ["a", 0]])"),
               Contains("t.json: \"model.vocab[1]\" is [\"a\",0], which occurs"));
    CHECK_THAT(problem(R"("vocab": [["a"]])"), Contains("t.json: \"model.vocab[0]\" is [\"a\"]"));
    CHECK_THAT(problem(R"("vocab": 1)"), Contains("t.json: \"model.vocab\" is 1"));
    CHECK_THAT(problem(R"("vocab": [["a", 0]], "unk_id": 1)"), Contains("t.json: \"model.unk_id\" is 1"));
}
