// Records of other programs' models: pieces of bytes, WordPiece, pairs of texts.
#include <catch2/catch.hpp>

#include <memory>
#include <span>

#include <nlohmann/json.hpp>

#include "data/device_batch.h"
#include "infer/filler.h"
#include "infer/next_tokens.h"
#include "observe/record_attention.h"
#include "observe/record_json.h"
#include "observe/selection.h"
#include "registry/registry.h"
#include "tests/infer/score_pairs.h"
#include "tests/infer/tiny_model.h"
#include "tests/io/temporary_folder.h"
#include "text/tokenizer_json.h"
#include "text/vocabulary_file.h"

using namespace headscope;
using Catch::Matchers::Contains;
using Ids = std::vector<std::int32_t>;
using Texts = std::vector<std::string>;

namespace {

std::shared_ptr<const Tokenizer> byte_pieces() {
    nlohmann::json ids;
    for (const char* piece : {"the", "\u0120dog", "s", "\u010a", "\u0120", "A", ".", "\u0109", "<|endoftext|>"}) {
        ids[piece] = ids.size();
    }
    const auto vocabulary = parse_vocabulary(ids.dump(), "vocab.json");
    return std::make_shared<const Tokenizer>(
        Tokenizer::from_bytes(byte_bpe_json(*vocabulary, "", "merges.txt"), "bytes"));
}

std::shared_ptr<const Tokenizer> bert_pieces() {
    const auto vocabulary =
        parse_vocabulary("[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nthe\ndog\n##s\nsee\ncat\n.\n", "vocab.txt");
    return std::make_shared<const Tokenizer>(
        Tokenizer::from_bytes(word_piece_json(*vocabulary, {.strip_accents = true, .lowercase = true}), "word pieces"));
}

struct Bert {
    std::unique_ptr<Backend> backend = open_device("cpu");
    LoadedModel translator;

    explicit Bert(std::int64_t token_types = 2) : translator(made(*backend, token_types)) {}

    static LoadedModel made(Backend& backend, std::int64_t token_types) {
        const auto tokenizer = bert_pieces();
        ModelConfig config = tiny_language_config(Architecture::MaskedLm);
        config.source_vocabulary = config.target_vocabulary = tokenizer->size();
        config.frame.pad_id = 0;
        config.frame.unk_id = 1;
        config.frame.bos_id = 2;
        config.frame.eos_id = 3;
        config.frame.mask_id = 4;
        config.embedding.token_types = token_types;
        const auto parameters = std::make_shared<Parameters>(backend, config, false);
        parameters->initialise(3);
        return {backend, ModelDirectory{"memory", config, tokenizer, tokenizer}, parameters};
    }

    AttentionRecord record(const std::string& text) const {
        return record_attention(*backend, translator.network(), {}, encode_language_text(translator.model(), text), {});
    }
};

Texts labels(const std::vector<RecordedToken>& tokens, const RowOptions& options = {}) {
    Texts found;
    for (const RowItem& item : make_row(tokens, options)) {
        found.push_back(item.label);
    }
    return found;
}

}  // namespace

TEST_CASE("pieces of bytes are recorded as text, and joined to words", "[foreign]") {
    const auto tokenizer = byte_pieces();
    ModelConfig config;
    config.frame.pad_id = config.frame.bos_id = config.frame.eos_id = config.frame.mask_id = -1;
    const auto shown = [&](const char* piece) { return token_text(*tokenizer, config, tokenizer->id_of(piece)); };
    CHECK(shown("the") == "the");
    CHECK(shown("\u0120dog") == "\u2581dog");
    CHECK(shown("\u010a") == "\u2581\u21b5");
    CHECK(shown("\u0109") == "<0x09>");
    CHECK(shown("<|endoftext|>") == "<|endoftext|>");

    const RecordedText target = text_of_output(*tokenizer, config, Ids{0, 1, 2, 6, 3, 0, 4, 1});
    CHECK(target.pieces == Texts{"the", "\u2581dog", "s", ".", "\u2581\u21b5", "the", "\u2581", "\u2581dog"});
    CHECK(labels(target_out_tokens(config, target)) == Texts{"the", "dogs", ".", "\u21b5", "the", "\u2581", "dog"});
}

TEST_CASE("WordPiece's pieces are joined to words, and special tokens have the model's names", "[foreign]") {
    const Bert bert;
    const AttentionRecord record = bert.record("The dogs see a [MASK] cat.");
    CHECK(labels(record.source) == Texts{"[CLS]", "the", "dogs", "see", "[UNK]", "[MASK]", "cat", ".", "[SEP]"});
    CHECK(labels(record.source, {.join_words = false}) ==
          Texts{"[CLS]", "the", "dog", "##s", "see", "[UNK]", "[MASK]", "cat", ".", "[SEP]"});
    CHECK(record.source[5].kind == TokenKind::Unknown);

    const auto text = nlohmann::json::parse(to_json(record)).at("text");
    for (std::size_t i = 0; i < record.source.size(); ++i) {
        CHECK(text.at(i).value("begins_word", false) == record.source[i].begins_word);
    }

    AttentionSelection selection{.kind = AttentionKind::EncoderSelf, .layer = 1};
    CHECK(ends_of(record) == "[CLS] and [SEP]");
    CHECK(ends_of(AttentionRecord()) == "<BOS> and <EOS>");
    selection.rows.show_special = false;
    const SelectedAttention selected = select_attention(record, selection);
    CHECK_THAT(selected.note, Contains("[CLS] and [SEP] left out: the other weights renormalised"));
    CHECK(selected.keys.size() == 7);
}

TEST_CASE("a separator begins the second text of a pair, of another type", "[foreign]") {
    const Bert bert;
    const ModelConfig& config = bert.translator.model().config;
    CHECK(token_types_of(config, Ids{2, 5, 3, 6, 3}) == Ids{0, 0, 0, 1, 1});
    CHECK(token_types_of(config, Ids{2, 5, 3}) == Ids{0, 0, 0});
    CHECK(token_types_of(config, Ids{2, 5}) == Ids{0, 0});  // a part of a long text
    CHECK(token_types_of(ModelConfig{}, Ids{1, 5, 2, 6, 2}).empty());

    const AttentionRecord record = bert.record("the dog [SEP] see cats");
    CHECK(labels(record.source) == Texts{"[CLS]", "the", "dog", "[SEP]", "see", "cats", "[SEP]"});
    std::vector<bool> second;
    for (const RowItem& item : make_row(record.source, {})) {
        second.push_back(item.second);
    }
    CHECK(second == std::vector<bool>{false, false, false, false, true, true, false});
    CHECK(labels(record.source, {.show_special = false}) == Texts{"the", "dog", "see", "cats"});

    // The same model with the types as given.
    const Ids ids{2, 5, 6, 3, 8, 9, 7, 3};
    const auto weights_of = [&](const Ids& types) {
        WeightCollector collector;
        Context ctx{.backend = *bert.backend, .observer = &collector};
        const Example example{.target = ids, .labels = Ids(ids.size(), kNoTarget), .types = types};
        bert.translator.network().states(
            ctx, upload(*bert.backend, make_batch(std::span(&example, 1), frame_of(config), 0, {.multiple = 1})));
        return collector.fetch(*bert.backend).front().values;
    };
    CHECK(record.sites.front().values == weights_of({0, 0, 0, 0, 1, 1, 1, 1}));
    CHECK(record.sites.front().values != weights_of(Ids(8, 0)));
}

TEST_CASE("filling and scoring a pair read its types", "[foreign]") {
    const Bert bert;
    const ModelConfig& config = bert.translator.model().config;
    const Ids ids{2, 5, 6, 3, 8, 4, 3};  // the dog [SEP] see [MASK]
    Context ctx{.backend = *bert.backend};
    const Example example{.target = ids, .labels = Ids(ids.size(), kNoTarget), .types = token_types_of(config, ids)};
    const Model& network = bert.translator.network();
    const DeviceBatch batch =
        upload(*bert.backend, make_batch(std::span(&example, 1), frame_of(config), 0, {.multiple = 1}));
    auto logits = to_host<double>(*bert.backend, network.logits(ctx, network.states(ctx, batch)).value());
    const auto classes = static_cast<std::size_t>(config.target_vocabulary);
    const auto row = std::span(logits).subspan(5 * classes, classes);
    log_softmax(row);

    const Filler filler(*bert.backend, bert.translator);
    const FilledText filled = filler.fill(filler.encode("the dog [SEP] see [MASK]", kMaskText).ids, 1, false);
    const Candidate& best = filled.masks.front().candidates.front();
    CHECK(best.log_probability == Approx(row[static_cast<std::size_t>(best.id)]).margin(1e-5));
    const ScoredPair scored = score_pairs(ctx, bert.translator, {""}, {"the dog [SEP] see cat"}, 100).front();
    CHECK(scored.log_probabilities.at(4) == Approx(row[9]).margin(1e-5));
}
