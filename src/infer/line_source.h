// Reads lines as they arrive: a window contains the lines that are available, so that a slow writer (a terminal,
// another program) gets answers line by line and a fast one is translated in large batches.
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
    std::size_t excess = 0;  // dropped bytes past kLongestLine
};

class LineSource {
public:
    static constexpr std::size_t kLongestLine = 256U << 10U;  // bytes; longer lines are not sentences
    static constexpr std::size_t kWindowBytes = 1U << 20U;    // most bytes read ahead, plus one line

    // Reads plain or compressed text (UnpackingReader). The caller keeps `descriptor`. `name` is for messages.
    LineSource(int descriptor, std::string name);

    // Waits for one line, then adds those that are available without waiting, up to `most`. Empty at the end. Only LF
    // ends a line; the last line may lack it. A read error is thrown after the lines before it were returned.
    std::vector<InputLine> next_window(std::size_t most);

private:
    // Runs `body`; if it fails, stores the failure and ends the input.
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
    std::exception_ptr failure_;  // null if the input ended normally
    bool has_partial_ = false;
    InputLine partial_;
    std::vector<InputLine> lines_;  // complete, not yet returned
    std::size_t lines_bytes_ = 0;   // of their texts
};

}  // namespace headscope
