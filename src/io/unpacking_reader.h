// Files as they are, or packed by gzip or zstd: known by their first bytes, whatever their names say.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace headscope {

// `name` stands for the file in messages. Every failure is an Error: a file that cannot be read, and a packed one that
// is damaged, cut short or followed by something else.
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

    class Decoder;  // of one format

private:
    std::string_view read_packed();
    void choose_decoder();
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
    bool chosen_ = false;
};

}  // namespace headscope
