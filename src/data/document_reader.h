// Reads the documents of a text file of any size.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "text/lines.h"

namespace headscope {

enum class DocumentForm : std::uint8_t { Line, Paragraph };          // one per line, or separated by empty lines
inline constexpr std::array kDocumentForms = {"line", "paragraph"};  // in configurations and options

inline const char* name_of(DocumentForm form) {
    return kDocumentForms[static_cast<std::size_t>(form)];
}

class DocumentReader {
public:
    static constexpr std::size_t kLongest = 4096;  // bytes of a part; SentencePiece learns from at most 4,192

    DocumentReader(const std::string& path, DocumentForm form) : lines_(path), form_(form) {}

    // The next line, without those that are empty (is_empty_text). Longer lines come in parts, cut at a space if
    // possible. False at the end. Error that names file and line for text that is not UTF-8.
    bool next(std::string& part);
    // Whether the last part begins a document.
    bool begins() const { return begins_; }

    const LineReader& lines() const { return lines_; }

private:
    LineReader lines_;
    DocumentForm form_;
    std::string line_;
    std::size_t at_ = 0;     // the next part in line_
    bool separated_ = true;  // since the last part a document has ended
    bool begins_ = false;
};

}  // namespace headscope
