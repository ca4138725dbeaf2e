#include "text/tokenizer_json.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>
#include <sstream>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "io/strict_json.h"
#include "support/check.h"
#include "text/added_tokens.h"
#include "text/byte_bpe.h"
#include "text/byte_pieces.h"
#include "text/json_field.h"
#include "text/marked_bpe.h"
#include "text/metaspace.h"
#include "text/unigram.h"
#include "text/vocabulary_file.h"
#include "text/vocabulary_formats.h"
#include "text/word_piece.h"

namespace headscope {

namespace {

using nlohmann::json;
using Field = JsonField;

// An object of pieces and ids. "Unigram" has a list of pieces with scores.
json ids_of_model(const Field& vocab) {
    if (!vocab.value().is_array()) {
        vocab.require(vocab.value().is_object(), "must be an object of pieces and ids");
        return vocab.value();
    }
    json ids = json::object();
    for (const Field& piece : vocab.elements()) {
        const json& pair = piece.value();
        piece.require(pair.is_array() && pair.size() == 2 && pair[0].is_string() && pair[1].is_number(),
                      "must be a piece and its score");
        const bool is_new = ids.emplace(pair[0].get<std::string>(), ids.size()).second;
        piece.require(is_new, "occurs twice");
    }
    return ids;
}

// Those of "Unigram", which come first.
void set_scores(const Field& model, std::vector<Piece>& pieces) {
    auto piece = pieces.begin();
    for (const json& pair : model["vocab"].value()) {
        piece->score = pair[1].get<float>();
        ++piece;
    }
}

// Those of "model.vocab", and the added tokens.
std::shared_ptr<const Vocabulary> vocabulary_of(const Field& model, const AddedTokensList& added,
                                                const std::string& name) {
    json ids = ids_of_model(model["vocab"]);
    std::set<std::int32_t> new_ids;
    for (std::size_t i = 0; i < added.ids.size(); ++i) {
        const std::string& content = added.tokens[i].content;
        const auto [known, is_new] = ids.emplace(content, added.ids[i]);
        if (is_new) {
            new_ids.insert(added.ids[i]);
        }
        if (!is_new && *known != added.ids[i]) {
            throw Error(fmt::format("{}: the added token '{}' has the id {}, but in \"model.vocab\" it has {}", name,
                                    content, added.ids[i], known->dump()));
        }
    }
    std::vector<Piece> pieces = numbered_pieces(ids, name);
    if (model["vocab"].value().is_array()) {
        set_scores(model, pieces);
    }
    for (Piece& piece : pieces) {
        const bool is_byte = model["byte_fallback"].get(false) && byte_of_piece(piece.text);
        piece.kind = is_byte ? PieceKind::Byte : piece.kind;
    }
    std::vector<Piece> named(pieces.size());  // only control pieces
    for (std::size_t i = 0; i < added.ids.size(); ++i) {
        const auto id = static_cast<std::size_t>(added.ids[i]);
        if (added.tokens[i].special) {
            pieces[id].kind = PieceKind::Control;
            named[id].text = pieces[id].text;
        } else if (new_ids.contains(added.ids[i])) {
            pieces[id].kind = PieceKind::Added;
        }
    }
    SpecialPieces special = usual_special(named);
    if (const std::string unknown = model["unk_token"].get<std::string>(""); !unknown.empty()) {
        const auto found = ids.find(unknown);
        model["unk_token"].require(found != ids.end(), "is not in the vocabulary");
        special.unk = found->get<std::int32_t>();
    } else if (!model["unk_id"].is_null()) {
        special.unk = model["unk_id"].get<std::int32_t>(-1);
        model["unk_id"].require(special.unk >= 0 && special.unk < static_cast<std::int32_t>(pieces.size()),
                                "is not in the vocabulary");
    }
    if (special.unk >= 0) {
        pieces[static_cast<std::size_t>(special.unk)].kind = PieceKind::Unknown;
    }
    return std::make_shared<Vocabulary>(std::move(pieces), special, name);
}

std::vector<std::pair<std::string, std::string>> merges_of(const Field& list) {
    std::vector<std::pair<std::string, std::string>> merges;
    for (const Field& merge : list.elements()) {
        if (merge.value().is_array()) {
            auto pair = merge.get<std::vector<std::string>>({});
            merge.require(pair.size() == 2, "is not a pair of pieces");
            merges.emplace_back(std::move(pair[0]), std::move(pair[1]));
            continue;
        }
        const auto text = merge.get<std::string>("");
        const std::size_t space = text.find(' ');
        merge.require(space != std::string::npos && text.find(' ', space + 1) == std::string::npos,
                      "is not two pieces with a space between them");
        merges.emplace_back(text.substr(0, space), text.substr(space + 1));
    }
    return merges;
}

void check_merging(const Field& model) {
    for (const char* key : {"continuing_subword_prefix", "end_of_word_suffix"}) {
        model[key].require(model[key].get<std::string>("").empty(), "is not supported");
    }
    model["dropout"].require(model["dropout"].get(0.0) == 0.0, "is not supported: set it to null");
}

std::shared_ptr<const ByteBpe> byte_bpe(const Field& file, PreTokenizer steps,
                                        const std::shared_ptr<const Vocabulary>& vocabulary) {
    const Field model = file["model"];
    const std::string decoder = file["decoder"].type();
    file["decoder"].require(decoder == "ByteLevel" || decoder.empty(), "is not supported: only \"ByteLevel\" is");
    check_merging(model);
    model["byte_fallback"].require(!model["byte_fallback"].get(false), "is not supported with \"ByteLevel\"");
    ByteBpeOptions options{.splits = std::move(steps.splits),
                           .add_prefix_space = (*steps.last)["add_prefix_space"].get(true),
                           .ignore_merges = model["ignore_merges"].get(false),
                           .has_unknown = !model["unk_token"].is_null(),
                           .fuse_unknown = model["fuse_unk"].get(false)};
    if (!(*steps.last)["use_regex"].get(true)) {
        options.words.clear();
    }
    return std::make_shared<ByteBpe>(vocabulary, merges_of(model["merges"]), std::move(options));
}

std::shared_ptr<const NormalisingSegmenter> word_pieces(const Field& file,
                                                        const std::shared_ptr<const Vocabulary>& vocabulary) {
    const Field model = file["model"];
    const Field normalizer = file["normalizer"];
    const std::string type = normalizer.type();
    normalizer.require(type == "BertNormalizer" || normalizer.is_null(),
                       "is not supported: only \"BertNormalizer\" is");
    file["pre_tokenizer"].require(file["pre_tokenizer"].type() == "BertPreTokenizer",
                                  "is not supported: only \"BertPreTokenizer\" is");
    model["continuing_subword_prefix"].require(
        model["continuing_subword_prefix"].get<std::string>(std::string(kContinues)) == kContinues,
        "is not supported: only \"##\" is");
    model["unk_token"].require(vocabulary->special().unk >= 0, "must name the unknown piece");
    const Field decoder = file["decoder"];
    decoder.require(decoder.is_null() || (decoder.type() == "WordPiece" && decoder["cleanup"].get(true) &&
                                          decoder["prefix"].get<std::string>(std::string(kContinues)) == kContinues),
                    "is not supported: only \"WordPiece\" with \"cleanup\" is");
    const bool normalises = !normalizer.is_null();
    const bool lowercase = normalizer["lowercase"].get(normalises);
    const BertWordOptions words{.clean_text = normalizer["clean_text"].get(normalises),
                                .split_ideographs = normalizer["handle_chinese_chars"].get(normalises),
                                .strip_accents = normalizer["strip_accents"].get(lowercase),
                                .lowercase = lowercase};
    const WordPieceOptions options{.words = words,
                                   .longest_word = model["max_input_chars_per_word"].get<std::size_t>(kLongestWord),
                                   .plain_spaces = true};
    return std::make_shared<WordPieces>(vocabulary, options);
}

std::shared_ptr<const NormalisingSegmenter> unigram(const Field& file,
                                                    const std::shared_ptr<const Vocabulary>& vocabulary) {
    std::vector<double> scores;
    for (const json& pair : file["model"]["vocab"].value()) {
        scores.push_back(pair[1].get<double>());
    }
    return std::make_shared<Unigram>(vocabulary, std::move(scores), parse_metaspace(file));
}

// NLLB's.
std::shared_ptr<const NormalisingSegmenter> marked_bpe(const Field& file,
                                                       const std::shared_ptr<const Vocabulary>& vocabulary) {
    const Field model = file["model"];
    check_merging(model);
    const MarkedBpeOptions options{.words = parse_metaspace(file),
                                   .ignore_merges = model["ignore_merges"].get(false),
                                   .has_unknown = !model["unk_token"].is_null(),
                                   .fuse_unknown = model["fuse_unk"].get(false)};
    return std::make_shared<MarkedBpe>(vocabulary, merges_of(model["merges"]), options);
}

// What splits the text between the added tokens that are found in it before it is normalised.
std::shared_ptr<const Segmenter> segmenter_of(const Field& file, const std::string& type,
                                              const std::shared_ptr<const Vocabulary>& vocabulary,
                                              std::vector<AddedToken> normalised) {
    std::shared_ptr<const NormalisingSegmenter> words;
    if (type == "WordPiece") {
        words = word_pieces(file, vocabulary);
    } else if (type == "Unigram") {
        words = unigram(file, vocabulary);
    } else if (PreTokenizer steps = parse_pre_tokenizer(file["pre_tokenizer"]);
               !steps.last || steps.last->type() != "ByteLevel") {
        words = marked_bpe(file, vocabulary);
    } else {
        auto bytes = byte_bpe(file, std::move(steps), vocabulary);
        if (file["normalizer"].is_null()) {
            return std::make_shared<AddedTokens>(std::move(bytes), std::move(normalised), "");
        }
        words = std::make_shared<NormalisedBytes>(std::move(bytes), parse_normalizer(file["normalizer"]));
    }
    if (normalised.empty()) {
        return words;
    }
    return std::make_shared<NormalisedTokens>(std::move(words), std::move(normalised));
}

}  // namespace

AddedTokensList read_added_tokens(const JsonField& list) {
    AddedTokensList added;
    for (const Field& token : list.elements()) {
        const std::string content = token["content"].get<std::string>("");
        token["content"].require(!content.empty(), "is empty");
        added.ids.push_back(token["id"].get<std::int32_t>(-1));
        added.tokens.push_back({content, token["special"].get(false), token["lstrip"].get(false),
                                token["rstrip"].get(false), token["normalized"].get(false),
                                token["single_word"].get(false)});
    }
    return added;
}

TokenizerParts parse_tokenizer_json(std::string_view bytes, const std::string& name) {
    std::istringstream stream{std::string(bytes)};
    return parse_tokenizer_json(parse_json(stream, name), bytes, name);
}

TokenizerParts parse_tokenizer_json(const json& parsed, std::string_view bytes, const std::string& name) {
    const Field file(parsed, "", name);
    const Field model = file["model"];
    model.require(model.value().is_object(), "must be the model of a tokenizer");
    const bool has_scores = model["vocab"].value().is_array();
    const std::string type = !model.type().empty()       ? model.type()
                             : has_scores                ? "Unigram"
                             : model["merges"].is_null() ? "WordPiece"
                                                         : "BPE";
    model["type"].require(type == "BPE" || type == "WordPiece" || type == "Unigram",
                          "is not supported: only \"BPE\", \"WordPiece\" and \"Unigram\" are");
    model["vocab"].require(has_scores == (type == "Unigram"), "has the form of another type of model");
    const AddedTokensList added = read_added_tokens(file["added_tokens"]);
    const std::shared_ptr<const Vocabulary> vocabulary = vocabulary_of(model, added, name);
    std::vector<AddedToken> exact, normalised;
    for (const AddedToken& token : added.tokens) {
        (token.normalized ? normalised : exact).push_back(token);
    }
    std::shared_ptr<const Segmenter> inner = segmenter_of(file, type, vocabulary, std::move(normalised));
    return {std::make_shared<AddedTokens>(std::move(inner), std::move(exact), std::string(bytes)), vocabulary};
}

std::shared_ptr<const Vocabulary> ids_of_tokenizer_json(const json& file, const std::string& name) {
    const Field fields(file, "", name);
    return vocabulary_of(fields["model"], read_added_tokens(fields["added_tokens"]), name);
}

}  // namespace headscope
