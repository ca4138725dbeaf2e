// Receives the library's warnings and notes. The library never prints.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace headscope {

enum class Severity : std::uint8_t { Note, Warning };

// Copies report to the same sink. Any thread may report.
class Diagnostics {
public:
    using Sink = std::function<void(Severity severity, const std::string& text)>;

    Diagnostics() = default;  // discards all reports
    // `sink` is called once per text, from one thread at a time.
    explicit Diagnostics(Sink sink);

    void report(Severity severity, const std::string& text) const;
    void warn(const std::string& text) const { report(Severity::Warning, text); }

private:
    struct State;
    std::shared_ptr<State> state_;
};

}  // namespace headscope
