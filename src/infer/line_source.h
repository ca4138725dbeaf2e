// Lines as they arrive: a window holds what is there already, so that a slow writer (a terminal, another program) gets
// its answer line by line and a fast one is translated in large batches.
#pragma once

#include <cstddef>
#include <exception>
#include <string>
#include <string_view>
#include <vector>

#include "io/unpacking_reader.h"
#include "support/check.h"

namespace headscope {

struct InputLine {
    std::string text;        // without its LF
    std::size_t excess = 0;  // bytes past the longest line, which are not kept
};

class LineSource {
public:
    static constexpr std::size_t kLongestLine = 256U << 10U;  // bytes; a line that is longer is no sentence
    static constexpr std::size_t kWindowBytes = 1U << 20U;    // read ahead for one window at most, and one line more

    // Text as it is, or packed (UnpackingReader). `descriptor` stays the caller's. `name` is for messages.
    LineSource(int descriptor, std::string name);

    // Waits for one line, then adds those that can be had without waiting, `most` at most. Empty at the end. LF alone
    // ends a line; the last may lack it. Error when reading or unpacking fails, once the lines before it are handed
    // out.
    std::vector<InputLine> next_window(std::size_t most);

private:
    // What `body` gives; where it fails, nothing, and that is the end.
    template <class Body>
    auto stopping_at_failure(const Body& body) -> decltype(body()) {
        try {
            return body();
        } catch (const Error&) {
            failure_ = std::current_exception();
            at_end_ = true;
            return {};
        }
    }
    bool can_have_more();
    void read_more();
    void finish_line();
    void append(std::string_view bytes);

    UnpackingReader reader_;
    bool at_end_ = false;
    std::exception_ptr failure_;  // why there is no more; null where the text is at its end
    bool has_partial_ = false;
    InputLine partial_;
    std::vector<InputLine> lines_;  // complete, not handed out yet
    std::size_t lines_bytes_ = 0;   // of their texts
};

}  // namespace headscope
