// Reads plain text or text compressed by gzip, zstd, xz or bzip2, detected by its first bytes.
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "io/byte_order_mark.h"

namespace headscope {

class Decoder;

// Sets a callback that is called when a reader is about to wait for text from a terminal.
void on_terminal_input(std::function<void()> report);

// `name` identifies the file in messages. Every failure is an Error: an unreadable file; a compressed file that is
// damaged, truncated or followed by anything but zeros; a file that is not UTF-8 text but has a known other format. A
// byte order mark at the beginning is removed, unless it is to be kept (io/byte_order_mark.h).
class UnpackingReader {
public:
    UnpackingReader(const std::string& path, std::string name, ByteOrderMark mark = ByteOrderMark::Removed);
    // Reads an open descriptor, which the caller keeps.
    UnpackingReader(int descriptor, std::string name);
    UnpackingReader(const UnpackingReader&) = delete;
    UnpackingReader& operator=(const UnpackingReader&) = delete;
    ~UnpackingReader();

    // The next bytes, valid until the next call of either function; empty at the end. Does not wait for more bytes than
    // it needs to return some.
    std::string_view read();
    // Whether read() would return without waiting.
    bool readable_now();

    // In the text read so far.
    bool had_byte_order_mark() const { return had_byte_order_mark_; }

private:
    std::string_view read_packed();
    void choose_decoder();
    std::string_view read_text();
    std::size_t decode();
    [[noreturn]] void fail(const std::string& why) const;

    std::string name_;
    ByteOrderMark mark_ = ByteOrderMark::Removed;
    int descriptor_ = -1;
    bool owned_ = false;
    std::array<char, std::size_t{1} << 16U> packed_{};
    std::array<char, std::size_t{1} << 17U> unpacked_{};
    std::string_view rest_;             // of packed_
    bool filled_ = false;               // the last decode() filled unpacked_: the decoder may have more
    std::size_t ready_ = 0;             // bytes of unpacked_ not yet returned
    std::unique_ptr<Decoder> decoder_;  // null: plain bytes
    std::string beginning_;             // if several reads were needed to detect the format
    bool begun_ = false;
    bool had_byte_order_mark_ = false;
};

}  // namespace headscope
