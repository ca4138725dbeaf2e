// Files of a run truncated at any byte, and disks that fill up at any moment: nothing is read partially, nothing saved
// is lost. HEADSCOPE_TEST_DAMAGES is the number of positions tried per kind (./do check damage tries many).
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "support/random.h"
#include "tests/io/file_size_limit.h"
#include "tests/train/digits_run.h"

using namespace headscope;
namespace fs = std::filesystem;

namespace {

std::uint64_t wanted_places(std::uint64_t usual) {
    const char* wanted = std::getenv("HEADSCOPE_TEST_DAMAGES");
    return wanted == nullptr ? usual : std::stoull(wanted);
}

std::vector<fs::path> files_under(const std::string& folder) {
    std::vector<fs::path> files;
    for (const auto& entry : fs::recursive_directory_iterator(folder)) {
        if (entry.is_regular_file() && entry.path().filename() != "lock") {
            files.push_back(entry.path());
        }
    }
    std::sort(files.begin(), files.end());
    return files;
}

// 0, all but one byte, and lengths between them.
std::set<std::uint64_t> lengths_to_try(std::uint64_t size, Random& random) {
    std::set<std::uint64_t> lengths{0, size - 1};
    const std::uint64_t wanted = std::min(size, wanted_places(8));
    while (lengths.size() < wanted) {
        lengths.insert(random.below(size));
    }
    return lengths;
}

}  // namespace

TEST_CASE("a file of a run truncated at any byte is rejected by name or skipped", "[damage]") {
    const TemporaryFolder folder;
    const nlohmann::json settings = write_digits(folder);
    std::map<std::int64_t, std::vector<double>> weights_at;
    {
        DigitsRun run(folder, settings, "out");
        for (const int steps : {8, 8, 1}) {
            run.hooks.stop_requested = stop_after(steps);
            run.start(!weights_at.empty()).train();
            weights_at[run.training->step()] = run.weights();
        }
    }
    const auto seed = static_cast<std::uint64_t>(getpid());
    Random random(seed);
    for (const fs::path& file : files_under(folder.file("out"))) {
        const std::string whole = read_all(file.string());
        const fs::path kept = folder.file("kept");
        fs::copy_file(file, kept, fs::copy_options::overwrite_existing);
        for (const std::uint64_t length : lengths_to_try(whole.size(), random)) {
            INFO(file << " of " << whole.size() << " bytes, cut after " << length << "; seed " << seed);
            fs::resize_file(file, length);
            DigitsRun again(folder, settings, "out");
            std::int64_t step = -1;
            const std::string problem = error_of([&] { step = again.start(true).step(); });
            if (step < 0) {
                CHECK_THAT(problem, Catch::Contains(file.filename().string()));
            } else {
                REQUIRE(weights_at.count(step) == 1);
                CHECK(again.weights() == weights_at[step]);
                // Skipped files are reported.
                CHECK((step == 17 || again.said.find(file.filename().string()) != std::string::npos));
            }
            fs::copy_file(kept, file, fs::copy_options::overwrite_existing);
        }
    }
}

TEST_CASE("a disk that fills up at any moment costs only the steps since the last checkpoint", "[damage]") {
    const TemporaryFolder folder;
    const nlohmann::json settings = write_digits(folder);
    DigitsRun unbroken(folder, settings, "unbroken");
    unbroken.start().train();
    {
        DigitsRun first(folder, settings, "first");
        first.hooks.stop_requested = stop_after(9);
        REQUIRE(first.start().train() == RunEnd::Stopped);
    }
    std::uint64_t largest = 0;
    for (const fs::path& file : files_under(folder.file("first"))) {
        largest = std::max<std::uint64_t>(largest, fs::file_size(file));
    }
    const std::uint64_t places = wanted_places(6);
    for (std::uint64_t place = 0; place < places; ++place) {
        const std::uint64_t room = largest * place / places;
        INFO("no file may be larger than " << room << " of " << largest << " bytes");
        fs::remove_all(folder.file("out"));
        fs::copy(folder.file("first"), folder.file("out"), fs::copy_options::recursive);
        {
            DigitsRun full(folder, settings, "out");
            full.start(true);
            const FileSizeLimit limit(room);
            const std::string problem = error_of([&] { full.training->train(); });
            CHECK_THAT(problem, Catch::Contains(folder.file("out")));
        }
        for (const fs::path& file : files_under(folder.file("out"))) {
            CHECK(file.extension() != ".tmp");
        }
        DigitsRun again(folder, settings, "out");
        CHECK(again.start(true).step() >= 9);
        CHECK(again.training->train() == RunEnd::Finished);
        CHECK(again.weights() == unbroken.weights());
    }
}
