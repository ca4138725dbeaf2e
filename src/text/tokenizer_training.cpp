#include "text/tokenizer_training.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sentencepiece_trainer.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <unordered_map>
#include <utility>

#include "io/atomic_file.h"
#include "support/check.h"
#include "support/counted.h"
#include "support/random.h"
#include "support/utf8.h"
#include "text/lines.h"
#include "text/normalised.h"
#include "text/spaced_pieces.h"
#include "text/target_mark.h"
#include "text/word_endings.h"
#include "text/word_piece_training.h"

namespace headscope {

namespace {

constexpr const char* kNormalization = "nmt_nfkc";
constexpr std::size_t kLongestLine = 4192;  // the library skips longer ones
constexpr const char* kReserved = "\u2585";

class Sentences : public sentencepiece::SentenceIterator {
public:
    explicit Sentences(const std::vector<std::string>& sentences) : sentences_(sentences) {}
    bool done() const override { return at_ == sentences_.size(); }
    void Next() override { ++at_; }
    const std::string& value() const override { return sentences_[at_]; }
    sentencepiece::util::Status status() const override { return {}; }

private:
    const std::vector<std::string>& sentences_;
    std::size_t at_ = 0;
};

// All text, or a sample without replacement in the text's order.
std::vector<std::string> gather(const TokenizerTraining& training) {
    std::vector<std::string> all = training.sentences;
    for (std::size_t sentence = 0; sentence < all.size(); ++sentence) {
        if (const std::optional<std::size_t> at = first_invalid_utf8(all[sentence])) {
            throw Error(fmt::format("sentence {} is not UTF-8 at its byte {}", sentence + 1, *at + 1));
        }
    }
    for (const std::string& file : training.files) {
        std::vector<std::string> lines = read_lines(file);
        all.insert(all.end(), std::make_move_iterator(lines.begin()), std::make_move_iterator(lines.end()));
    }
    const auto unlearnable = [](const std::string& line) { return !why_unlearnable(line).empty(); };
    const auto first = std::find_if(all.begin(), all.end(), unlearnable);
    const std::string why = first == all.end() ? "" : why_unlearnable(*first);
    if (std::all_of(all.begin(), all.end(), unlearnable)) {
        throw Error(all.empty() ? "cannot train a tokenizer without text: there are no lines"
                                : fmt::format("cannot train a tokenizer without text: all of {} are skipped; the "
                                              "first {}",
                                              counted(all.size(), "line"), why));
    }
    std::erase_if(all, unlearnable);
    const auto limit = static_cast<std::size_t>(training.sentence_limit);
    if (limit == 0 || all.size() <= limit) {
        return all;
    }
    Random random(training.seed);
    std::vector<std::string> sample;
    for (std::size_t at = 0; sample.size() < limit; ++at) {
        if (random.below(all.size() - at) < limit - sample.size()) {
            sample.push_back(std::move(all[at]));
        }
    }
    return sample;
}

std::unordered_map<std::string, std::string> options(const TokenizerTraining& training) {
    std::unordered_map<std::string, std::string> options{
        {"model_type", training.type == TokenizerType::Bpe ? "bpe" : "unigram"},
        {"vocab_size", std::to_string(training.vocabulary_size)},
        {"character_coverage", fmt::format("{}", training.character_coverage)},
        {"pad_id", "0"},
        {"bos_id", "1"},
        {"eos_id", "2"},
        {"unk_id", "3"},
        {"byte_fallback", "false"},
        {"normalization_rule_name", kNormalization},
        // The unigram trainer adds its threads' sums in order, so the result depends only on their number.
        {"num_threads", "4"},
        {"minloglevel", "2"},  // errors come back as a status
    };
    if (!training.control_pieces.empty()) {
        options["control_symbols"] = fmt::format("{}", fmt::join(training.control_pieces, ","));
    }
    return options;
}

// Text is never split so that a piece is in brackets, and the library separates the pieces by commas.
void check_control_piece(const std::string& piece) {
    const bool bracketed = piece.size() > 2 && piece.starts_with('<') && piece.ends_with('>');
    if (!(bracketed || is_target_mark(piece)) || piece.find_first_of(" \t\n,\"") != std::string::npos) {
        throw Error(
            fmt::format("a control piece must be a word in angle brackets without commas, such as <mask>, or a "
                        "language's, such as >>de<<, got \"{}\"",
                        piece));
    }
}

void check_options(const TokenizerTraining& training) {
    std::for_each(training.control_pieces.begin(), training.control_pieces.end(), check_control_piece);
    // The special pieces and one more.
    if (const std::size_t least = training.control_pieces.size() + 5;
        training.vocabulary_size < static_cast<std::int64_t>(least)) {
        throw Error(
            fmt::format("the vocabulary must have at least {} pieces, got {}", least, training.vocabulary_size));
    }
    // SentencePiece's own bounds. The condition also rejects NaN.
    if (!(training.character_coverage >= 0.98 && training.character_coverage <= 1.0)) {
        throw Error(
            fmt::format("the character coverage must be between 0.98 and 1, got {}", training.character_coverage));
    }
    if (training.sentence_limit < 0) {
        throw Error(fmt::format("the sentence limit must be 0 (all) or more, got {}", training.sentence_limit));
    }
}

// The number after `before` in the library's message; empty if `before` is not in it.
std::string number_after(const std::string& message, std::string_view before) {
    const std::size_t at = message.find(before);
    if (at == std::string::npos) {
        return "";
    }
    const std::size_t begin = at + before.size();
    return message.substr(begin, message.find_first_not_of("0123456789", begin) - begin);
}

std::string too_many_pieces(std::string_view most) {
    return fmt::format("its words give at most {}: use a smaller vocabulary or more text", most);
}

std::string too_few_pieces(std::string_view least) {
    return fmt::format(
        "its characters and the special pieces alone are {}: use a larger vocabulary or lower the character coverage",
        least);
}

std::string reason(const std::string& message, std::int32_t requested) {
    if (const std::string most = number_after(message, "Please set it to a value <= "); !most.empty()) {
        return too_many_pieces(most);
    }
    const std::string least = number_after(message, fmt::format("smaller than required_chars. {} vs ", requested));
    return least.empty() ? "SentencePiece error: " + message : too_few_pieces(least);
}

std::string train_sentencepiece(const TokenizerTraining& training, const std::vector<std::string>& text) {
    Sentences sentences(text);
    std::string model;
    const auto status = sentencepiece::SentencePieceTrainer::Train(options(training), &sentences, &model);
    if (!status.ok()) {
        throw Error(reason(status.ToString(), training.vocabulary_size));
    }
    return model;
}

std::vector<std::string> first_pieces(const TokenizerTraining& training) {
    std::vector<std::string> pieces{"<pad>", "<s>", "</s>", "<unk>"};
    pieces.insert(pieces.end(), training.control_pieces.begin(), training.control_pieces.end());
    return pieces;
}

std::string train_words(const TokenizerTraining& training, const std::vector<std::string>& text) {
    std::vector<std::string> pieces = first_pieces(training);
    const bool by_endings = training.endings > 0;
    const std::vector<std::string> endings =
        by_endings ? frequent_endings(text, training.minimum, training.endings) : std::vector<std::string>();
    const std::size_t taken = pieces.size() + endings.size();
    const auto most = static_cast<std::size_t>(training.vocabulary_size);
    if (taken >= most) {
        throw Error(
            fmt::format("{} leave no room for words: use a larger vocabulary, or a larger number of \"endings\"",
                        counted(endings.size(), "ending")));
    }
    for (std::string& word : frequent_words(text, most - taken, training.minimum)) {
        if (std::find(endings.begin(), endings.end(), word) == endings.end()) {
            pieces.push_back(std::move(word));
        }
    }
    pieces.insert(pieces.end(), endings.begin(), endings.end());
    return fmt::format("{}\n{}\n", by_endings ? kEndedPieces : kSpacedPieces, fmt::join(pieces, "\n"));
}

std::string train_word_piece(const TokenizerTraining& training, const std::vector<std::string>& text) {
    std::vector<std::string> pieces = first_pieces(training);
    const auto size = static_cast<std::size_t>(training.vocabulary_size);
    for (std::string& piece : train_word_pieces(text, size - pieces.size(), training.character_coverage)) {
        pieces.push_back(std::move(piece));
    }
    if (pieces.size() != size) {
        const std::string found = std::to_string(pieces.size());
        throw Error(pieces.size() < size ? too_many_pieces(found) : too_few_pieces(found));
    }
    return fmt::format("{}\n", fmt::join(pieces, "\n"));
}

}  // namespace

std::string why_unlearnable(std::string_view line) {
    if (is_empty_text(line)) {
        return "is empty";
    }
    if (line.size() > kLongestLine) {
        return fmt::format("has {} bytes, but SentencePiece only uses lines of at most {}: split it", line.size(),
                           kLongestLine);
    }
    if (line.find('\0') != std::string_view::npos) {
        return "contains NUL (U+0000), and SentencePiece skips such lines: remove the character";
    }
    if (line.find(kReserved) != std::string_view::npos) {
        return "contains U+2585 (\u2585), SentencePiece's mark for unknown characters, and SentencePiece skips such "
               "lines: "
               "remove or replace the character";
    }
    return "";
}

std::string train_tokenizer(const TokenizerTraining& training) {
    check_options(training);
    const std::vector<std::string> text = gather(training);
    try {
        return training.type == TokenizerType::Words       ? train_words(training, text)
               : training.type == TokenizerType::WordPiece ? train_word_piece(training, text)
                                                           : train_sentencepiece(training, text);
    } catch (const Error& error) {
        throw Error(fmt::format("cannot train a tokenizer of {} pieces on {}: {}", training.vocabulary_size,
                                counted(text.size(), "sentence"), error.what()));
    }
}

void train_tokenizer(const TokenizerTraining& training, const std::string& path) {
    atomic_write_file(path, train_tokenizer(training));
}

}  // namespace headscope
