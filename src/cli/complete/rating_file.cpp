#include "cli/complete/rating_file.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include <fmt/format.h>

#include "data/response_reader.h"
#include "io/atomic_file.h"
#include "support/check.h"
#include "text/lines.h"

namespace headscope {

RatingFile::RatingFile(std::string path, bool to_read) : path_(std::move(path)) {
    if (!to_read) {
        if (!std::filesystem::exists(path_)) {
            return;
        }
        AtomicFile::require_replaceable(path_);
    }
    LineReader reader(path_);
    for (std::string line; reader.next(line);) {
        const std::string place = fmt::format("{} line {}", reader.name(), reader.number());
        const std::string prompt = prompt_key(parse_responses(line, place, ResponseForm::Ranked));
        if (has(prompt)) {
            throw Error(fmt::format("{}: the prompt \"{}\" is rated a second time: remove one", place, prompt));
        }
        lines_.push_back({prompt, std::move(line)});
    }
}

bool RatingFile::has(const std::string& prompt) const {
    return std::ranges::find(lines_, prompt, &Line::prompt) != lines_.end();
}

void RatingFile::add(const std::string& prompt, const std::string& line) {
    lines_.push_back({prompt, line});
    write();
}

void RatingFile::remove_last() {
    lines_.pop_back();
    write();
}

void RatingFile::write() const {
    std::string text;
    for (const Line& line : lines_) {
        text += line.text + "\n";
    }
    atomic_write_file(path_, text);
}

std::vector<Rating> RatingFile::ratings() const {
    std::vector<Rating> found;
    for (const Line& line : lines_) {
        Responses responses = parse_responses(line.text, path_, ResponseForm::Ranked);
        found.push_back({line.prompt, std::move(responses.texts), std::move(responses.ranks)});
    }
    return found;
}

}  // namespace headscope
