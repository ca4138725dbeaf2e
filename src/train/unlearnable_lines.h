// Lines of training text that no vocabulary can be learnt from.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace headscope {

class UnlearnableLines {
public:
    // True for a line that pieces can be learnt from; others are counted, and the first is remembered.
    bool learnable(const std::string& line, const std::string& file, std::size_t number);
    void append(const UnlearnableLines& other);

    std::int64_t count() const { return count_; }
    std::string warning() const;                         // where there are any
    const std::string& first() const { return first_; }  // "'my.de' line 3 holds NUL, ..."

private:
    std::int64_t count_ = 0;
    std::string first_;
};

}  // namespace headscope
