// The options of commands that say how sure a model is of what it writes.
#pragma once

#include <cstdint>
#include <string>

#include "answers/confidence.h"

namespace CLI {
class App;
}

namespace headscope {

struct UnsureFlags {
    UnsureRule rule;
    bool words = false;  // " ||| 0.9512 0.7304" after an output
};

// --least-confidence, --unsure and --word-probabilities.
void add_unsure_flags(CLI::App& command, UnsureFlags& flags);

// Counts what a rule holds for.
class UnsureCount {
public:
    void add(const UnsureRule& rule, const TextResult& line);
    // "3 of 20 translations have a confidence below 0.5: they are marked"; "" if there is none.
    std::string note(const UnsureRule& rule, const std::string& what) const;

private:
    std::int64_t outputs_ = 0, unsure_ = 0;
};

}  // namespace headscope
