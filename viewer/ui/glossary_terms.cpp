#include <sstream>
#include <utility>

#include "viewer/ui/glossary.h"

namespace headscope::viewer {

std::vector<Term> glossary_terms() {
    constexpr std::string_view kBegin = "| ", kBetween = " | ", kEnd = " |";
    std::vector<Term> terms;
    std::istringstream page{std::string(glossary_page())};
    bool header = true;
    for (std::string line; std::getline(page, line);) {
        std::erase(line, '`');
        const std::size_t at = line.find(kBetween);
        const std::size_t after = at + kBetween.size();
        const bool row = line.starts_with(kBegin) && at != std::string::npos;
        if (row && !std::exchange(header, false)) {
            terms.push_back({line.substr(kBegin.size(), at - kBegin.size()),
                             line.substr(after, line.size() - kEnd.size() - after)});
        }
    }
    return terms;
}

}  // namespace headscope::viewer
