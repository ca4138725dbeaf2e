// Options of the commands that read a text and write another.
#pragma once

#include <string>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace headscope {

// --text TEXT, which becomes standard input, in place of a FILE.
CLI::Option* add_text(CLI::App& command, CLI::Option* file);
// --template NAME of chat templates; empty is the model's.
CLI::Option* add_chat_template(CLI::App& command, std::string& name);
// The same for responses to prompts, which "none" lets follow their prompts.
CLI::Option* add_response_template(CLI::App& command, std::string& name);
// --output FILE, which becomes standard output.
CLI::Option* add_output(CLI::App& command);

}  // namespace headscope
