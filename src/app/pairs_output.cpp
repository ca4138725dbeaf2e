#include "app/pairs_output.h"

#include <filesystem>
#include <system_error>

#include <fmt/format.h>

#include "app/command.h"
#include "io/atomic_file.h"
#include "support/check.h"
#include "support/counted.h"

namespace headscope {

void write_split(const std::string& folder, const Split& split) {
    std::error_code failure;
    std::filesystem::create_directories(folder, failure);
    if (failure) {
        throw Error(fmt::format("cannot make the folder {}: {}", folder, failure.message()));
    }
    const auto write = [&](const char* name, const std::vector<SentencePair>& pairs) {
        std::string text;
        for (const SentencePair& pair : pairs) {
            text += pair.source + "\t" + pair.target + "\n";
        }
        const std::string path = (std::filesystem::path(folder) / name).string();
        atomic_write_file(path, text);
        write_output(fmt::format("{}: {}\n", path, counted(pairs.size(), "pair")));
    };
    write("train.tsv", split.train);
    write("valid.tsv", split.valid);
    write("test.tsv", split.test);
}

}  // namespace headscope
