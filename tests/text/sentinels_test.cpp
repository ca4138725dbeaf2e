// T5's sentinels in texts: pieces of a vocabulary beside a SentencePiece model, or of its own.
#include <catch2/catch.hpp>
#include <fstream>
#include <string>
#include <vector>

#include "tests/io/temporary_folder.h"
#include "tests/text/sentences.h"
#include "text/known_vocabularies.h"
#include "text/tokenizer.h"
#include "text/tokenizer_training.h"
#include "text/vocabulary_file.h"

using namespace headscope;

namespace {

using Ids = std::vector<std::int32_t>;

// Those of the parts, each a text of its own, with the pieces between them.
Ids ids_of(const Tokenizer& tokenizer, const std::vector<std::string>& parts) {
    Ids ids;
    for (const std::string& part : parts) {
        const bool is_piece = part.starts_with('<') || part == "neu";
        const Ids more = is_piece ? Ids{tokenizer.id_of(part)} : tokenizer.encode(part);
        ids.insert(ids.end(), more.begin(), more.end());
    }
    return ids;
}

void check(const Tokenizer& tokenizer) {
    CHECK(tokenizer.encode("Die <extra_id_0> Zahl<extra_id_1>.") ==
          ids_of(tokenizer, {"Die ", "<extra_id_0>", " Zahl", "<extra_id_1>", "."}));
    CHECK(tokenizer.encode("<extra_id_1> <extra_id_0>") == ids_of(tokenizer, {"<extra_id_1>", "<extra_id_0>"}));
    CHECK(tokenizer.encode("<extra_id_2>").size() > 1);  // there is none
    const Ids ids = ids_of(tokenizer, {"<extra_id_0>", "eins zwei", "<extra_id_1>", "drei"});
    CHECK(tokenizer.decode(ids, Sentinels::Shown) == "<extra_id_0> eins zwei<extra_id_1> drei");
    CHECK(tokenizer.decode(ids) == "eins zwei drei");
}

}  // namespace

TEST_CASE("the sentinels of T5's vocabulary are found in texts", "[sentinels]") {
    const TemporaryFolder folder;
    const std::string model = folder.file("spiece.model");
    const std::string bytes =
        train_tokenizer({.sentences = number_sentences(), .type = TokenizerType::Unigram, .vocabulary_size = 120});
    std::ofstream(model, std::ios::binary) << bytes;
    const auto ids =
        t5_vocabulary(Tokenizer::load(model).vocabulary(), 2, 130, {.tokens = {{"</s>"}, {"neu", false}}, .ids = {}});
    const Tokenizer tokenizer = Tokenizer::load(model, ids);
    check(tokenizer);
    CHECK(tokenizer.encode("ein neu</s>") == ids_of(tokenizer, {"ein ", "neu", "</s>"}));
    CHECK(tokenizer.vocabulary().find("neu") == 122);

    // The files make it again.
    const TokenizerFiles files = tokenizer.files();
    CHECK(files.segmenter == bytes);
    check(Tokenizer::load(model, parse_vocabulary(files.vocabulary, "vocabulary.json")));
}

TEST_CASE("the sentinels of our own span models are found in texts", "[sentinels]") {
    const TokenizerType type = GENERATE(TokenizerType::Bpe, TokenizerType::Unigram, TokenizerType::WordPiece);
    const std::string bytes = train_tokenizer({.sentences = number_sentences(),
                                               .type = type,
                                               .vocabulary_size = 120,
                                               .control_pieces = {"<extra_id_0>", "<extra_id_1>"}});
    const Tokenizer tokenizer = Tokenizer::from_bytes(bytes, "trained");
    if (type != TokenizerType::WordPiece) {
        check(tokenizer);
    }
    CHECK(tokenizer.encode("Die <extra_id_0>") == ids_of(tokenizer, {"Die ", "<extra_id_0>"}));
    const std::string blank = type == TokenizerType::WordPiece ? " " : "";
    CHECK(tokenizer.decode(tokenizer.encode("Die <extra_id_1> Zahl"), Sentinels::Shown) ==
          "Die" + blank + "<extra_id_1> Zahl");
    CHECK(tokenizer.has_own_ids());
    CHECK(tokenizer.files().segmenter == bytes);
}
