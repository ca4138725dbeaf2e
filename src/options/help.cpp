#include "options/help.h"

#include <memory>
#include <sstream>
#include <string>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

namespace headscope {

namespace {

constexpr std::size_t kColumn = 32;  // where descriptions begin
constexpr std::size_t kWidth = 100;

// "--beam" with "INT:1 to 30" is "--beam N" and the hint "1 to 30"; choices replace the type: "--theme {light,dark}".
class Layout final : public CLI::Formatter {
public:
    Layout() { column_width(kColumn); }

    std::string make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const override {
        std::string text = make_description(app) + make_usage(app, name) + make_positionals(app);
        text += make_subcommands(app, mode);
        for (const std::string& group : app->get_groups()) {
            const auto options = app->get_options([&group](const CLI::Option* option) {
                return option->get_group() == group && option->nonpositional();
            });
            text += options.empty() ? "" : make_group(group, false, options);
        }
        return text + "\n" + make_footer(app);
    }

    std::string make_option(const CLI::Option* option, bool positional) const override {
        const std::string type = option->get_type_size() == 0 ? "" : option->get_type_name();
        const std::size_t colon = type.find(':');
        const std::string values = colon == std::string::npos ? "" : type.substr(colon + 1);
        const bool choices = values.starts_with('{');
        std::string label = option->get_name(positional, !positional);
        if (!positional && !type.empty()) {
            label += " " + (choices ? values : placeholder(type.substr(0, colon)));
            label += option->get_expected_max() > 1 ? " ..." : "";
        }
        std::string hints = option->get_required() ? "required" : "";
        const auto add_hint = [&hints](const std::string& hint) { hints += (hints.empty() ? "" : "; ") + hint; };
        if (!choices && !values.empty()) {
            add_hint(values);
        }
        if (!option->get_default_str().empty()) {
            add_hint("default: " + option->get_default_str());
        }
        return wrapped(label, option->get_description() + (hints.empty() ? "" : " (" + hints + ")"));
    }

private:
    static std::string placeholder(const std::string& type) {
        return type == "INT" || type == "UINT" || type == "FLOAT" ? "N" : type;
    }

    static std::string wrapped(const std::string& label, const std::string& description) {
        std::string text = "  " + label;
        const std::string indent(kColumn, ' ');
        std::string line = text.size() + 2 > kColumn ? indent : fmt::format("{:<{}}", text, kColumn);
        text = text.size() + 2 > kColumn ? text + "\n" : "";
        std::istringstream words(description);
        for (std::string word; words >> word;) {
            if (line.size() > kColumn && line.size() + 1 + word.size() > kWidth) {
                text += line + "\n";
                line = indent;
            }
            line += (line.size() > kColumn ? " " : "") + word;
        }
        return text + line + "\n";
    }
};

void format_all(CLI::App& app, const std::shared_ptr<CLI::FormatterBase>& layout) {
    app.formatter(layout);
    app.set_help_flag("-h,--help", "Print this help and exit")->group("Help");
    for (CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
        format_all(*command, layout);
    }
}

}  // namespace

void format_help(CLI::App& app) {
    format_all(app, std::make_shared<Layout>());
}

}  // namespace headscope
