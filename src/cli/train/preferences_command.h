#pragma once

namespace CLI {
class App;
}

namespace headscope {

// headscope make-task preferences
void add_preferences_task(CLI::App& make_task);

}  // namespace headscope
