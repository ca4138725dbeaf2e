#include "infer/line_source.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace headscope {

LineSource::LineSource(int descriptor, std::string name) : reader_(descriptor, std::move(name)) {}

std::vector<InputLine> LineSource::next_window(std::size_t most) {
    while (!at_end_ && lines_.size() < most && lines_bytes_ < kWindowBytes && (lines_.empty() || can_have_more())) {
        read_more();
    }
    if (lines_.empty() && failure_ != nullptr) {
        std::rethrow_exception(failure_);
    }
    const auto count = static_cast<std::ptrdiff_t>(std::min(most, lines_.size()));
    std::vector<InputLine> window(std::make_move_iterator(lines_.begin()),
                                  std::make_move_iterator(lines_.begin() + count));
    for (const InputLine& line : window) {
        lines_bytes_ -= line.text.size();
    }
    lines_.erase(lines_.begin(), lines_.begin() + count);
    return window;
}

bool LineSource::can_have_more() {
    return stopping_at_failure([&] { return reader_.readable_now(); });
}

void LineSource::read_more() {
    std::string_view bytes = stopping_at_failure([&] { return reader_.read(); });
    if (failure_ != nullptr) {
        return;
    }
    if (bytes.empty()) {
        at_end_ = true;
        if (has_partial_) {
            finish_line();
            has_partial_ = false;
        }
        return;
    }
    while (!bytes.empty()) {
        const std::size_t stop = bytes.find('\n');
        append(bytes.substr(0, stop));
        has_partial_ = stop == std::string_view::npos;
        if (!has_partial_) {
            finish_line();
        }
        bytes.remove_prefix(has_partial_ ? bytes.size() : stop + 1);
    }
}

void LineSource::finish_line() {
    lines_bytes_ += partial_.text.size();
    lines_.push_back(std::exchange(partial_, {}));
}

void LineSource::append(std::string_view bytes) {
    const std::size_t kept = std::min(bytes.size(), kLongestLine - partial_.text.size());
    partial_.text.append(bytes.substr(0, kept));
    partial_.excess += bytes.size() - kept;
}

}  // namespace headscope
