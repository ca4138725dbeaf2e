#include "io/decoder.h"

#include <bzlib.h>
#include <lzma.h>
#include <zlib.h>
#include <zstd.h>

#include <cstdint>

#include "support/check.h"

namespace headscope {

namespace {

class GzipDecoder final : public Decoder {
public:
    GzipDecoder() {
        constexpr int kGzipAlone = 16;
        if (::inflateInit2(&stream_, kGzipAlone + MAX_WBITS) != Z_OK) {
            throw Error("zlib: out of memory");
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
        if (code != Z_OK && code != Z_STREAM_END && code != Z_BUF_ERROR) {  // the last one: no progress was possible
            throw Error(stream_.msg != nullptr ? stream_.msg : "damaged stream");
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
            throw Error("zstd: out of memory");
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

class XzDecoder final : public Decoder {
public:
    XzDecoder() { begin(); }
    ~XzDecoder() override { ::lzma_end(&stream_); }

    std::size_t decode(std::string_view& from, std::span<char> to) override {
        if (complete_ && !from.empty()) {
            begin();
        }
        stream_.next_in = reinterpret_cast<const std::uint8_t*>(from.data());
        stream_.avail_in = from.size();
        stream_.next_out = reinterpret_cast<std::uint8_t*>(to.data());
        stream_.avail_out = to.size();
        const lzma_ret code = ::lzma_code(&stream_, LZMA_RUN);
        if (code == LZMA_MEM_ERROR || code == LZMA_MEMLIMIT_ERROR) {
            throw Error("its dictionary does not fit in memory or is larger than 1 GiB");
        }
        if (code != LZMA_OK && code != LZMA_STREAM_END &&
            code != LZMA_BUF_ERROR) {  // the last one: no progress was possible
            throw Error(code == LZMA_FORMAT_ERROR ? "expected the start of a stream" : "damaged stream");
        }
        complete_ = code == LZMA_STREAM_END;
        from.remove_prefix(from.size() - stream_.avail_in);
        return to.size() - stream_.avail_out;
    }
    bool complete() const override { return complete_; }

private:
    void begin() {
        constexpr std::uint64_t kMostMemory = std::uint64_t{1} << 30U;
        if (::lzma_stream_decoder(&stream_, kMostMemory, 0) != LZMA_OK) {
            throw Error("liblzma: out of memory");
        }
        complete_ = false;
    }

    lzma_stream stream_ = LZMA_STREAM_INIT;
    bool complete_ = false;
};

class Bzip2Decoder final : public Decoder {
public:
    Bzip2Decoder() { begin(); }
    ~Bzip2Decoder() override { ::BZ2_bzDecompressEnd(&stream_); }

    std::size_t decode(std::string_view& from, std::span<char> to) override {
        if (complete_ && !from.empty()) {
            ::BZ2_bzDecompressEnd(&stream_);
            stream_ = {};
            begin();
        }
        stream_.next_in = const_cast<char*>(from.data());
        stream_.avail_in = static_cast<unsigned>(from.size());
        stream_.next_out = to.data();
        stream_.avail_out = static_cast<unsigned>(to.size());
        const int code = ::BZ2_bzDecompress(&stream_);
        if (code != BZ_OK && code != BZ_STREAM_END) {
            throw Error(code == BZ_DATA_ERROR_MAGIC ? "expected the start of a stream" : "damaged stream");
        }
        complete_ = code == BZ_STREAM_END;
        from.remove_prefix(from.size() - stream_.avail_in);
        return to.size() - stream_.avail_out;
    }
    bool complete() const override { return complete_; }

private:
    void begin() {
        if (::BZ2_bzDecompressInit(&stream_, 0, 0) != BZ_OK) {
            throw Error("libbz2: out of memory");
        }
        complete_ = false;
    }

    bz_stream stream_{};
    bool complete_ = false;
};

}  // namespace

std::unique_ptr<Decoder> decoder_of(FileKind kind) {
    switch (kind) {
        case FileKind::Gzip: return std::make_unique<GzipDecoder>();
        case FileKind::Zstd: return std::make_unique<ZstdDecoder>();
        case FileKind::Xz: return std::make_unique<XzDecoder>();
        case FileKind::Bzip2: return std::make_unique<Bzip2Decoder>();
        case FileKind::Text:
        case FileKind::Other: break;
    }
    return nullptr;
}

}  // namespace headscope
