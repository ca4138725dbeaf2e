#include "cli/train/train_terminal.h"

#include <cstdio>
#include <string_view>

#include <unistd.h>

#include "backend/instrumented.h"
#include "cli/command.h"
#include "cli/stop_signal.h"

namespace headscope {

Terminal::Terminal()
    : table_([](std::string_view text) {
          std::fwrite(text.data(), 1, text.size(), stderr);
          std::fflush(stderr);
      }),
      terminal_(::isatty(STDERR_FILENO) != 0) {}

Log Terminal::say() {
    return [this](const std::string& line) { terminal_ ? table_.say(line) : log_line(line); };
}

std::function<void(const Report&)> Terminal::report() {
    return terminal_ ? [this](const Report& report) { table_.report(report); } : std::function<void(const Report&)>();
}

RunHooks hooks_for(Backend& backend, Terminal& terminal) {
    RunHooks hooks{.say = terminal.say(), .report = terminal.report(), .stop_requested = stop_requested};
    if (auto* instrumented = dynamic_cast<Instrumented*>(&backend)) {
        hooks.label = [instrumented](const std::string& label) { instrumented->set_label(label); };
    }
    return hooks;
}

}  // namespace headscope
