// Lets tests open devices with settings from the environment, as programs do, and collect warnings.
#pragma once

#include <unistd.h>

#include <memory>
#include <string>

#include "backend/open_options.h"
#include "options/environment.h"

namespace headscope {

inline OpenOptions environment_options(const Diagnostics& diagnostics = {}) {
    return {.settings = read_environment(environ), .diagnostics = diagnostics};
}

// Collects warnings, one per line.
class Warnings {
public:
    const Diagnostics& diagnostics() const { return diagnostics_; }
    const std::string& text() const { return *text_; }

private:
    std::shared_ptr<std::string> text_ = std::make_shared<std::string>();
    Diagnostics diagnostics_{[text = text_](Severity, const std::string& line) { *text += line + "\n"; }};
};

}  // namespace headscope
