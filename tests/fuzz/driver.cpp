// Runs a fuzz target without libFuzzer: every seed as it is, then seeds changed at random, the same in every run.
//     fuzz_NAME [--seconds N] [--first RUN] [--write-seeds FOLDER]
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <string>

#include "support/random.h"
#include "tests/fuzz/fuzz.h"

using namespace headscope;

namespace {

constexpr std::uint64_t kSeed = 1;
constexpr std::uint64_t kMostChanges = 6;
constexpr std::uint64_t kLongestPiece = 16;

// For the handler of a crash, which can be told nothing.
std::atomic<std::uint64_t> current_run{0};

void report(const char* what) {
    std::fprintf(stderr, "run %llu: %s; repeat it with --first %llu\n",
                 static_cast<unsigned long long>(current_run.load()), what,
                 static_cast<unsigned long long>(current_run.load()));
}

void on_crash(int signal) {
    report("crashed");
    std::signal(signal, SIG_DFL);
    std::raise(signal);
}

char odd_byte(Random& random) {
    static constexpr char kOdd[] = {'\0', '\x01', '\x7f', '\x80', '\xff', '"', '{',  '}',
                                    '[',  ']',    ',',    ':',    '-',    '9', '\n', '\t'};
    return random.below(2) == 0 ? kOdd[random.below(sizeof(kOdd))] : static_cast<char>(random.below(256));
}

void change(std::string& bytes, const std::string& other, Random& random) {
    const std::size_t at = random.below(bytes.size() + 1);
    const std::size_t length = 1 + random.below(kLongestPiece);
    switch (random.below(6)) {
        case 0: bytes.insert(at, 1, odd_byte(random)); break;
        case 1: bytes.erase(at, length); break;
        case 2: bytes.insert(at, bytes.substr(random.below(bytes.size() + 1), length)); break;
        case 3: bytes.insert(at, other.substr(random.below(other.size() + 1), length)); break;
        case 4:
            if (at < bytes.size()) {
                bytes[at] = static_cast<char>(bytes[at] ^ (1 << random.below(8)));
            }
            break;
        default:
            if (at < bytes.size()) {
                bytes[at] = odd_byte(random);
            }
    }
    if (random.below(50) == 0) {
        bytes.resize(random.below(bytes.size() + 1));
    }
}

std::string input_of_run(const std::vector<std::string>& seeds, std::uint64_t run) {
    if (run < seeds.size()) {
        return seeds[run];
    }
    Random random(kSeed, run);
    std::string bytes = seeds[random.below(seeds.size())];
    const std::string& other = seeds[random.below(seeds.size())];
    for (std::uint64_t changes = 1 + random.below(kMostChanges); changes > 0; --changes) {
        change(bytes, other, random);
    }
    return bytes;
}

void write_seeds(const std::filesystem::path& folder) {
    std::filesystem::create_directories(folder);
    std::size_t number = 0;
    for (const std::string& seed : fuzz_seeds()) {
        std::ofstream(folder / ("seed" + std::to_string(number++)), std::ios::binary) << seed;
    }
}

}  // namespace

int main(int argc, char** argv) {
    double seconds = 2.0;
    std::uint64_t first = 0;
    for (int at = 1; at + 1 < argc; at += 2) {
        const std::string option = argv[at];
        if (option == "--seconds") {
            seconds = std::atof(argv[at + 1]);
        } else if (option == "--first") {
            first = std::strtoull(argv[at + 1], nullptr, 10);
        } else if (option == "--write-seeds") {
            write_seeds(argv[at + 1]);
            return 0;
        }
    }
    for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGABRT}) {
        std::signal(signal, on_crash);
    }
    const std::vector<std::string> seeds = fuzz_seeds();
    const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
    // Every seed runs, however slow the machine.
    std::uint64_t run = first;
    for (; run < first + seeds.size() || std::chrono::steady_clock::now() < end; ++run) {
        current_run = run;
        const std::string bytes = input_of_run(seeds, run);
        try {
            LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
        } catch (const std::exception& error) {
            report(error.what());
            return 1;
        }
    }
    std::printf("%llu runs\n", static_cast<unsigned long long>(run - first));
    return 0;
}
