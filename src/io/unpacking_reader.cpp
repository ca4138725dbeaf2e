#include "io/unpacking_reader.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include <cerrno>
#include <span>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "support/check.h"

namespace headscope {

// Streams one after the other are one text, as gzip and zstd themselves have it.
class UnpackingReader::Decoder {
public:
    Decoder() = default;
    Decoder(const Decoder&) = delete;
    Decoder& operator=(const Decoder&) = delete;
    virtual ~Decoder() = default;

    // Takes from `from` and fills `to`; returns the bytes filled. Error with the library's words.
    virtual std::size_t decode(std::string_view& from, std::span<char> to) = 0;
    // Whether the bytes so far end where a stream ends.
    virtual bool complete() const = 0;
};

namespace {

using Decoder = UnpackingReader::Decoder;

constexpr std::string_view kGzip("\x1f\x8b", 2);
constexpr std::string_view kZstd("\x28\xb5\x2f\xfd", 4);

// Whether more bytes may show that it is packed.
bool begins_a_stream(std::string_view bytes) {
    return kGzip.starts_with(bytes) || kZstd.starts_with(bytes);
}

class GzipDecoder final : public Decoder {
public:
    GzipDecoder() {
        constexpr int kGzipAlone = 16;
        if (::inflateInit2(&stream_, kGzipAlone + MAX_WBITS) != Z_OK) {
            throw Error("zlib has no memory for its window");
        }
    }
    ~GzipDecoder() override { ::inflateEnd(&stream_); }

    std::size_t decode(std::string_view& from, std::span<char> to) override {
        if (complete_ && !from.empty()) {  // another stream follows
            ::inflateReset(&stream_);
            complete_ = false;
        }
        stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(from.data()));
        stream_.avail_in = static_cast<uInt>(from.size());
        stream_.next_out = reinterpret_cast<Bytef*>(to.data());
        stream_.avail_out = static_cast<uInt>(to.size());
        const int code = ::inflate(&stream_, Z_NO_FLUSH);
        if (code != Z_OK && code != Z_STREAM_END && code != Z_BUF_ERROR) {  // the last: nothing could be done
            throw Error(stream_.msg != nullptr ? stream_.msg : "a damaged stream");
        }
        complete_ = code == Z_STREAM_END;
        from.remove_prefix(from.size() - stream_.avail_in);
        return to.size() - stream_.avail_out;
    }
    bool complete() const override { return complete_; }

private:
    z_stream stream_{};
    bool complete_ = false;
};

class ZstdDecoder final : public Decoder {
public:
    ZstdDecoder() {
        if (stream_ == nullptr) {
            throw Error("zstd has no memory for its window");
        }
    }
    ~ZstdDecoder() override { ::ZSTD_freeDStream(stream_); }

    std::size_t decode(std::string_view& from, std::span<char> to) override {
        ZSTD_inBuffer in{from.data(), from.size(), 0};
        ZSTD_outBuffer out{to.data(), to.size(), 0};
        const std::size_t code = ::ZSTD_decompressStream(stream_, &out, &in);
        if (::ZSTD_isError(code) != 0) {
            throw Error(::ZSTD_getErrorName(code));
        }
        if (in.pos > 0 || out.pos > 0) {
            complete_ = code == 0;
        }
        from.remove_prefix(in.pos);
        return out.pos;
    }
    bool complete() const override { return complete_; }

private:
    ZSTD_DStream* stream_ = ::ZSTD_createDStream();
    bool complete_ = false;
};

}  // namespace

UnpackingReader::UnpackingReader(const std::string& path, std::string name) : name_(std::move(name)), owned_(true) {
    // As most programs have it; a file of that name is ./-
    descriptor_ = path == "-" ? ::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0) : ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (descriptor_ < 0) {
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

// By the first bytes, of which a pipe may hand out fewer at a time than are needed. Text that cannot be packed is not
// kept waiting for more: who types it wants an answer.
void UnpackingReader::choose_decoder() {
    std::size_t have = read_packed().size();
    while (have > 0 && begins_a_stream({packed_.data(), have})) {
        const ssize_t got = ::read(descriptor_, packed_.data() + have, packed_.size() - have);
        if (got <= 0) {
            break;  // the end, or a failure that the next read will tell
        }
        have += static_cast<std::size_t>(got);
    }
    rest_ = {packed_.data(), have};
    if (rest_.starts_with(kGzip)) {
        decoder_ = std::make_unique<GzipDecoder>();
    } else if (rest_.starts_with(kZstd)) {
        decoder_ = std::make_unique<ZstdDecoder>();
    }
}

std::string_view UnpackingReader::read() {
    const bool first = !std::exchange(chosen_, true);
    if (first) {
        choose_decoder();
    }
    if (!decoder_) {
        return first ? rest_ : read_packed();
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
    try {
        const std::size_t got = decoder_->decode(rest_, unpacked_);
        filled_ = got == unpacked_.size();
        return got;
    } catch (const Error& error) {
        fail(error.what());
    }
}

void UnpackingReader::fail(const std::string& why) const {
    throw Error(fmt::format("cannot unpack {}: {}; it is damaged or cut short, fetch it again", name_, why));
}

}  // namespace headscope
