// A file of ratings that grows: each is on disk before the next is asked for.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "eval/ratings.h"

namespace headscope {

class RatingFile {
public:
    // Reads what is there. Error that names the line for one that is no rating, and for a prompt that is rated twice.
    // `to_read`: an error if there is none.
    explicit RatingFile(std::string path, bool to_read = false);

    // A prompt's text, which identifies it.
    bool has(const std::string& prompt) const;
    bool empty() const { return lines_.empty(); }
    const std::string& last() const { return lines_.back().prompt; }  // of a file that is not empty
    std::size_t size() const { return lines_.size(); }
    // Replaces the file: a killed process leaves the old one or the new one.
    void add(const std::string& prompt, const std::string& line);
    void remove_last();
    std::vector<Rating> ratings() const;

private:
    struct Line {
        std::string prompt, text;
    };
    void write() const;

    std::string path_;
    std::vector<Line> lines_;
};

}  // namespace headscope
