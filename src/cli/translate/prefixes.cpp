#include "cli/translate/prefixes.h"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "infer/prepared_line.h"
#include "io/byte_order_mark.h"
#include "support/check.h"
#include "text/lines.h"

namespace headscope {

void add_prefix_flags(CLI::App& command, PrefixFlags& flags) {
    command.option_defaults()->group("Decoding");
    CLI::Option* prefix = command.add_option("--prefix", flags.all, "Begin every translation with this text");
    command
        .add_option("--prefix-file", flags.file,
                    "Begin the translation of line i with line i of this file, which may be empty")
        ->type_name("FILE")
        ->excludes(prefix);
}

Prefixes::Prefixes(const PrefixFlags& flags, const Tokenizer& tokenizer)
    : all_(without_byte_order_mark(flags.all, "--prefix")), file_(flags.file) {
    encode_prefix(tokenizer, all_);
    if (!file_.empty()) {
        each_ = read_lines(file_);
    }
}

std::string Prefixes::of(std::int64_t line) const {
    if (file_.empty()) {
        return all_;
    }
    if (line > static_cast<std::int64_t>(each_.size())) {
        throw Error(fmt::format("'{}' has {} lines, and the input has more: add a line for each, empty for no prefix",
                                file_, each_.size()));
    }
    return each_[static_cast<std::size_t>(line - 1)];
}

void Prefixes::check_used(std::int64_t lines) const {
    if (static_cast<std::int64_t>(each_.size()) > lines) {
        throw Error(
            fmt::format("'{}' has {} lines, and the input has {}: all lines were translated, but the files may not "
                        "match",
                        file_, each_.size(), lines));
    }
}

}  // namespace headscope
