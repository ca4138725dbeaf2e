// Lines of training text that a vocabulary cannot be learned from.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace headscope {

class UnlearnableLines {
public:
    // False for a line that pieces cannot be learned from; counts these and remembers the first.
    bool learnable(const std::string& line, const std::string& file, std::size_t number);
    void append(const UnlearnableLines& other);

    std::int64_t count() const { return count_; }
    std::string warning() const;                         // if count() > 0
    const std::string& first() const { return first_; }  // "'my.de' line 3 holds NUL, ..."

private:
    std::int64_t count_ = 0;
    std::string first_;
};

}  // namespace headscope
