#include "model/tokenizer_files.h"

#include <algorithm>
#include <initializer_list>
#include <utility>

#include <fmt/format.h>

#include "io/atomic_file.h"
#include "support/check.h"
#include "text/vocabulary_file.h"

namespace headscope {

namespace {

namespace fs = std::filesystem;

constexpr const char* kSharedTokenizer = kTokenizerFiles[0];
constexpr const char* kFastTokenizer = kTokenizerFiles[1];
constexpr const char* kSourceTokenizer = kTokenizerFiles[2];
constexpr const char* kTargetTokenizer = kTokenizerFiles[3];
constexpr const char* kSharedVocabulary = kTokenizerFiles[4];
constexpr const char* kSourceVocabulary = kTokenizerFiles[5];
constexpr const char* kTargetVocabulary = kTokenizerFiles[6];

TokenizerPaths paths_of(const fs::path& folder, const char* segmenter, const char* vocabulary) {
    const auto first_of = [&](std::initializer_list<const char*> names) {
        const auto found =
            std::find_if(names.begin(), names.end(), [&](auto name) { return fs::exists(folder / name); });
        return found == names.end() ? fs::path() : folder / *found;
    };
    const fs::path found = first_of({kSharedTokenizer, kFastTokenizer, segmenter});
    return {found.empty() ? folder / segmenter : found, first_of({kSharedVocabulary, vocabulary})};
}

// Writes one file if both sides have the same content.
void write_pair(const fs::path& folder, const std::string& source, const std::string& target, const char* shared_name,
                const char* source_name, const char* target_name) {
    if (source == target && !source.empty()) {
        atomic_write_file((folder / shared_name).string(), source);
        return;
    }
    for (const auto& [text, name] : {std::pair(&source, source_name), std::pair(&target, target_name)}) {
        if (!text->empty()) {
            atomic_write_file((folder / name).string(), *text);
        }
    }
}

}  // namespace

std::shared_ptr<const Tokenizer> TokenizerPaths::open() const {
    return std::make_shared<const Tokenizer>(
        vocabulary.empty() ? Tokenizer::load(segmenter.string())
                           : Tokenizer::load(segmenter.string(), read_vocabulary(vocabulary.string())));
}

bool TokenizersPaths::exist() const {
    return fs::exists(source.segmenter) && fs::exists(target.segmenter);
}

TokenizersPaths tokenizers_in(const fs::path& folder) {
    return {paths_of(folder, kSourceTokenizer, kSourceVocabulary),
            paths_of(folder, kTargetTokenizer, kTargetVocabulary)};
}

TokenizerPair load_tokenizers(const fs::path& folder) {
    const TokenizersPaths found = tokenizers_in(folder);
    if (!found.exist()) {
        throw Error(fmt::format("'{}' lacks tokenizers: expected {}, {}, or {} and {}", folder.string(),
                                kSharedTokenizer, kFastTokenizer, kSourceTokenizer, kTargetTokenizer));
    }
    const auto source = found.source.open();
    return {source, found.shared() ? source : found.target.open()};
}

void remove_tokenizers(const fs::path& folder) {
    for (const char* name : kTokenizerFiles) {
        fs::remove(folder / name);
    }
}

void write_tokenizers(const fs::path& folder, const Tokenizer& source_tokenizer, const Tokenizer& target_tokenizer) {
    const TokenizerFiles source = source_tokenizer.files();
    const TokenizerFiles target = target_tokenizer.files();
    const char* shared = source.segmenter.starts_with('{') ? kFastTokenizer : kSharedTokenizer;
    write_pair(folder, source.segmenter, target.segmenter, shared, kSourceTokenizer, kTargetTokenizer);
    write_pair(folder, source.vocabulary, target.vocabulary, kSharedVocabulary, kSourceVocabulary, kTargetVocabulary);
}

}  // namespace headscope
