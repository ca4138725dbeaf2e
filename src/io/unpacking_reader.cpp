#include "io/unpacking_reader.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "io/byte_order_mark.h"
#include "io/decoder.h"
#include "io/file_kind.h"
#include "io/missing_file.h"
#include "support/check.h"

namespace headscope {

namespace {

std::function<void()>& terminal_report() {
    static std::function<void()> report;
    return report;
}

}  // namespace

void on_terminal_input(std::function<void()> report) {
    terminal_report() = std::move(report);
}

UnpackingReader::UnpackingReader(const std::string& path, std::string name, ByteOrderMark mark)
    : name_(std::move(name)), mark_(mark), owned_(true) {
    // "-" is standard input, as in most programs; a file of that name is ./-
    descriptor_ = path == "-" ? ::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0) : ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (descriptor_ < 0) {
        if (errno == ENOENT) {
            throw MissingFile(path, name_);
        }
        throw Error(fmt::format("cannot read {}: {}", name_, std::generic_category().message(errno)));
    }
}

UnpackingReader::UnpackingReader(int descriptor, std::string name) : name_(std::move(name)), descriptor_(descriptor) {}

UnpackingReader::~UnpackingReader() {
    if (owned_) {
        ::close(descriptor_);
    }
}

bool UnpackingReader::readable_now() {
    if (decoder_ && ready_ == 0 && (filled_ || !rest_.empty())) {
        ready_ = decode();
    }
    pollfd wanted{.fd = descriptor_, .events = POLLIN, .revents = 0};
    return ready_ > 0 || ::poll(&wanted, 1, 0) > 0;
}

std::string_view UnpackingReader::read_packed() {
    for (;;) {
        const ssize_t got = ::read(descriptor_, packed_.data(), packed_.size());
        if (got >= 0) {
            return {packed_.data(), static_cast<std::size_t>(got)};
        }
        if (errno != EINTR) {
            throw Error(fmt::format("cannot read {}: {}", name_, std::generic_category().message(errno)));
        }
    }
}

// Detects the format by the first bytes; a pipe may deliver fewer at a time than are needed. Bytes that can only be
// text are not held back to wait for more, so that interactive input is answered at once.
void UnpackingReader::choose_decoder() {
    std::size_t have = read_packed().size();
    while (have > 0 && may_be_another_kind({packed_.data(), have})) {
        const ssize_t got = ::read(descriptor_, packed_.data() + have, packed_.size() - have);
        if (got <= 0) {
            break;  // the end, or an error that the next read reports
        }
        have += static_cast<std::size_t>(got);
    }
    rest_ = {packed_.data(), have};
    decoder_ = decoder_of(kind_of(rest_).kind);
}

std::string_view UnpackingReader::read() {
    if (std::exchange(begun_, true)) {
        return read_text();
    }
    if (terminal_report() && ::isatty(descriptor_) == 1) {
        terminal_report()();
    }
    choose_decoder();
    std::string_view text = read_text();
    const auto undecided = [](std::string_view bytes) { return may_be_another_kind(bytes) || may_be_wide_text(bytes); };
    if (!text.empty() && undecided(text)) {
        beginning_ = text;
        while (!text.empty() && undecided(beginning_)) {
            text = read_text();
            beginning_ += text;
        }
        text = beginning_;
    }
    const KnownKind known = kind_of(text);
    if (known.kind != FileKind::Text) {
        throw Error(fmt::format("{} is {}{}; expected UTF-8 text, plain or compressed by gzip, zstd, xz or bzip2: {}",
                                name_, decoder_ ? "compressed and contains " : "", known.name, known.advice));
    }
    had_byte_order_mark_ = text.starts_with(kByteOrderMark);
    if (mark_ == ByteOrderMark::Kept) {
        return text;
    }
    text = without_byte_order_mark(text, name_);
    return text.empty() && had_byte_order_mark_ ? read_text() : text;
}

std::string_view UnpackingReader::read_text() {
    if (!decoder_) {
        return rest_.empty() ? read_packed() : std::exchange(rest_, {});
    }
    for (;;) {
        bool at_end = false;
        if (ready_ == 0 && !filled_ && rest_.empty()) {
            rest_ = read_packed();
            at_end = rest_.empty();
        }
        const std::size_t got = ready_ > 0 ? std::exchange(ready_, 0) : decode();
        if (got > 0) {
            return {unpacked_.data(), got};
        }
        if (at_end) {
            if (!decoder_->complete()) {
                fail("it ends inside a stream");
            }
            return {};
        }
    }
}

std::size_t UnpackingReader::decode() {
    if (decoder_->complete()) {  // skip the zero padding of tapes and disks
        rest_.remove_prefix(std::min(rest_.find_first_not_of('\0'), rest_.size()));
    }
    if (decoder_->complete() && rest_.empty()) {
        filled_ = false;
        return 0;
    }
    try {
        const std::size_t got = decoder_->decode(rest_, unpacked_);
        filled_ = got == unpacked_.size();
        return got;
    } catch (const Error& error) {
        fail(error.what());
    }
}

void UnpackingReader::fail(const std::string& why) const {
    throw Error(fmt::format("cannot unpack {}: {}; it is damaged or truncated; download it again", name_, why));
}

}  // namespace headscope
