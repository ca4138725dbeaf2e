#include "infer/line_source.h"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <system_error>
#include <utility>

#include "support/check.h"

namespace headscope {

LineSource::LineSource(int descriptor, std::string name) : descriptor_(descriptor), name_(std::move(name)) {}

std::vector<InputLine> LineSource::next_window(std::size_t most) {
    while (!at_end_ && lines_.size() < most && lines_bytes_ < kWindowBytes && (lines_.empty() || readable_now())) {
        read_more();
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

bool LineSource::readable_now() const {
    pollfd wanted{.fd = descriptor_, .events = POLLIN, .revents = 0};
    return ::poll(&wanted, 1, 0) > 0;
}

void LineSource::read_more() {
    std::array<char, 1U << 16U> bytes;
    const ssize_t count = ::read(descriptor_, bytes.data(), bytes.size());
    if (count < 0) {
        if (errno == EINTR) {
            return;
        }
        throw Error(fmt::format("cannot read {}: {}", name_, std::generic_category().message(errno)));
    }
    if (count == 0) {
        at_end_ = true;
        if (has_partial_) {
            finish_line();
            has_partial_ = false;
        }
        return;
    }
    const char* rest = bytes.data();
    const char* const end = rest + count;
    while (rest != end) {
        const auto* stop = static_cast<const char*>(std::memchr(rest, '\n', static_cast<std::size_t>(end - rest)));
        append(rest, static_cast<std::size_t>((stop == nullptr ? end : stop) - rest));
        has_partial_ = stop == nullptr;
        if (stop != nullptr) {
            finish_line();
        }
        rest = stop == nullptr ? end : stop + 1;
    }
}

void LineSource::finish_line() {
    lines_bytes_ += partial_.text.size();
    lines_.push_back(std::exchange(partial_, {}));
}

void LineSource::append(const char* bytes, std::size_t count) {
    const std::size_t kept = std::min(count, kLongestLine - partial_.text.size());
    partial_.text.append(bytes, kept);
    partial_.excess += count - kept;
}

}  // namespace headscope
