// Text as it is, or packed by gzip, zstd, xz or bzip2: known by its first bytes, whatever a file's name says.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace headscope {

class Decoder;

// `name` stands for the file in messages. Every failure is an Error: a file that cannot be read, a packed one that is
// damaged, cut short or followed by something else than zeros, and one that holds no UTF-8 text but, by its first
// bytes, a known other format. A byte order mark at the beginning is left out
// (io/byte_order_mark.h).
class UnpackingReader {
public:
    UnpackingReader(const std::string& path, std::string name);
    // Of what is open already; `descriptor` stays the caller's.
    UnpackingReader(int descriptor, std::string name);
    UnpackingReader(const UnpackingReader&) = delete;
    UnpackingReader& operator=(const UnpackingReader&) = delete;
    ~UnpackingReader();

    // The next bytes, valid until the next call of either; none at the end. Waits for no more than it needs to hand out
    // some.
    std::string_view read();
    // Whether there is something to read without waiting, or the end.
    bool readable_now();

    // Of what was read so far.
    bool had_byte_order_mark() const { return had_byte_order_mark_; }

private:
    std::string_view read_packed();
    void choose_decoder();
    std::string_view read_text();
    std::size_t decode();
    [[noreturn]] void fail(const std::string& why) const;

    std::string name_;
    int descriptor_ = -1;
    bool owned_ = false;
    std::array<char, std::size_t{1} << 16U> packed_{};
    std::array<char, std::size_t{1} << 17U> unpacked_{};
    std::string_view rest_;             // of packed_
    bool filled_ = false;               // unpacked_, by the last decode(): the decoder may hold more
    std::size_t ready_ = 0;             // bytes of unpacked_ that were not handed out yet
    std::unique_ptr<Decoder> decoder_;  // none: the bytes as they are
    std::string beginning_;             // where a format could be told by several reads only
    bool begun_ = false;
    bool had_byte_order_mark_ = false;
};

}  // namespace headscope
