#include "support/settings.h"

#include "support/check.h"

namespace headscope {

std::string Settings::get(const std::string& name) const {
    const auto found = values_.find(name);
    return found == values_.end() ? "" : found->second;
}

bool Settings::on(const std::string& name, bool fallback) const {
    const std::string text = get(name);
    if (!text.empty() && text != "0" && text != "1") {
        throw Error(name + " is \"" + text + "\"; expected 1 or 0");
    }
    return text.empty() ? fallback : text == "1";
}

}  // namespace headscope
