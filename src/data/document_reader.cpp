#include "data/document_reader.h"

#include <algorithm>
#include <string_view>

#include "text/normalised.h"

namespace headscope {
namespace {

// Bytes of the first part of `text`: up to and with its last space, or else up to the begin of a character.
std::size_t part_of(std::string_view text) {
    if (text.size() <= DocumentReader::kLongest) {
        return text.size();
    }
    if (const std::size_t space = text.rfind(' ', DocumentReader::kLongest - 1); space != std::string_view::npos) {
        return space + 1;
    }
    std::size_t end = DocumentReader::kLongest;
    while ((static_cast<unsigned char>(text[end]) & 0xc0U) == 0x80U) {
        --end;
    }
    return end;
}

}  // namespace

bool DocumentReader::next(std::string& part) {
    while (true) {
        while (at_ == line_.size()) {
            if (!lines_.next(line_)) {
                return false;
            }
            at_ = 0;
            separated_ = separated_ || form_ == DocumentForm::Line || is_empty_text(line_);
        }
        const std::size_t size = part_of(std::string_view(line_).substr(at_));
        part.assign(line_, at_, size);
        at_ += size;
        if (!is_empty_text(part)) {
            begins_ = separated_;
            separated_ = false;
            return true;
        }
    }
}

}  // namespace headscope
