#include "train/unlearnable_lines.h"

#include <fmt/format.h>

#include "support/counted.h"
#include "text/tokenizer_training.h"

namespace headscope {

bool UnlearnableLines::learnable(const std::string& line, const std::string& file, std::size_t number) {
    const std::string why = why_unlearnable(line);
    if (why.empty()) {
        return true;
    }
    if (count_++ == 0) {
        first_ = fmt::format("{} line {} {}", file, number, why);
    }
    return false;
}

std::string UnlearnableLines::warning() const {
    return fmt::format("warning: the vocabulary is learned without {}: {}", counted(count_, "sentence"), first_);
}

void UnlearnableLines::append(const UnlearnableLines& other) {
    if (count_ == 0) {
        first_ = other.first_;
    }
    count_ += other.count_;
}

}  // namespace headscope
