// Which module runs on which card under which driver: CUDA's rules of compatibility as a table.
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "backends/cuda/loader/modules.h"

using namespace headscope::cuda;
using Catch::Matchers::Contains;

namespace {

const ModuleFacts k12{"cuda12", 12040, {60, 70, 75, 80, 86, 89, 90}, 90, false};
const ModuleFacts k13{"cuda13", 13000, {75, 80, 86, 89, 90, 100, 120}, 120, false};

// The major toolkit version of the chosen module, with "ptx" if the driver compiles; "none".
std::string chosen(const std::vector<ModuleFacts>& modules, int driver, int sm) {
    const Choice choice = choose(modules, driver, sm);
    REQUIRE(choice.refused.size() == modules.size());
    if (choice.module < 0) {
        return "none";
    }
    const auto index = static_cast<std::size_t>(choice.module);
    CHECK(choice.refused[index].empty());
    return std::to_string(modules[index].toolkit / 1000) + (choice.from_ptx ? " ptx" : "");
}

std::string refusal(const ModuleFacts& module, int driver, int sm) {
    const Choice choice = choose({module}, driver, sm);
    CHECK(choice.module == -1);
    return choice.refused.at(0);
}

}  // namespace

TEST_CASE("the newest module with machine code for the card is chosen, else the newest that driver and card can run",
          "[cuda][choice]") {
    struct Row {
        const char* what;
        int driver, sm;
        const char* expected;
    };
    const Row rows[] = {
        {"P100, newest driver", 13000, 60, "12"},
        {"P100, last driver for it", 12080, 60, "12"},
        {"T4, newest driver", 13000, 75, "13"},
        {"RTX 3090 has sm_86 in both", 13010, 86, "13"},
        {"H200, newest driver", 13000, 90, "13"},
        {"H200, driver of the older major", 12080, 90, "12"},
        {"H200, driver older than the toolkit, of its major", 12020, 90, "12"},
        {"H200, driver of a major before", 11080, 90, "none"},
        {"B200 with machine code", 13000, 100, "13"},
        {"B300 runs sm_100's", 13000, 103, "13"},
        {"B200, older major: only PTX", 12080, 100, "12 ptx"},
        {"B200, driver too old for the PTX, too", 12020, 100, "none"},
        {"a card to come", 13000, 130, "13 ptx"},
        {"V100 is left by toolkit 13", 13000, 70, "12"},
        {"a card before all", 13000, 52, "none"},
    };
    for (const Row& row : rows) {
        INFO(row.what);
        CHECK(chosen({k12, k13}, row.driver, row.sm) == row.expected);
        CHECK(chosen({k13, k12}, row.driver, row.sm) == row.expected);
    }
}

TEST_CASE("machine code needs the card's major capability and at most its minor one", "[cuda][choice]") {
    const ModuleFacts only86{"cuda12", 12040, {86}, 0, false};
    CHECK(chosen({only86}, 12040, 86) == "12");
    CHECK(chosen({only86}, 12040, 89) == "12");
    CHECK(chosen({only86}, 12040, 80) == "none");
    CHECK(chosen({only86}, 12040, 90) == "none");
    CHECK(chosen({only86}, 12040, 76) == "none");
}

TEST_CASE("PTX needs a card of at least its capability and a driver of at least its toolkit's version",
          "[cuda][choice]") {
    const ModuleFacts ptx{"cuda12", 12040, {}, 80, false};
    CHECK(chosen({ptx}, 12040, 80) == "12 ptx");
    CHECK(chosen({ptx}, 13000, 120) == "12 ptx");
    CHECK(chosen({ptx}, 12030, 80) == "none");
    CHECK(chosen({ptx}, 12040, 75) == "none");
    // Machine code of an older toolkit precedes PTX of a newer one, which the driver would have to compile.
    const ModuleFacts newer{"cuda13", 13000, {75}, 75, false};
    CHECK(chosen({k12, newer}, 13000, 90) == "12");
    CHECK(chosen({newer, k12}, 13000, 90) == "12");
    CHECK(chosen({ptx, newer}, 13000, 90) == "13 ptx");
    CHECK(chosen({newer, ptx}, 13000, 90) == "13 ptx");
}

TEST_CASE("an emulated module never precedes a real one", "[cuda][choice]") {
    const ModuleFacts emulated{"emulated", 13000, {90}, 0, true};
    CHECK(chosen({k12, emulated}, 13000, 90) == "12");
    CHECK(chosen({emulated, k12}, 13000, 90) == "12");
    CHECK(chosen({emulated}, 13000, 90) == "13");
    const ModuleFacts ptx{"cuda12", 12040, {}, 80, false};
    CHECK(chosen({emulated, ptx}, 13000, 90) == "12 ptx");
}

TEST_CASE("a rejection names what was expected, what was found and what to do", "[cuda][choice]") {
    CHECK_THAT(refusal({"cuda13", 13000, {90}, 0, false}, 13000, 86), Contains("sm_86: build it for this card, too"));
    CHECK(refusal(k13, 13000, 60) ==
          "cuda13 has code for sm_75 and up, this card is sm_60: install the module built with CUDA 12");
    CHECK(refusal(k12, 13000, 52) ==
          "cuda12 has code for sm_60 and up, this card is sm_52: --device vulkan may run on it");
    CHECK(
        refusal(k13, 12040, 90) ==
        "cuda13 needs a driver for CUDA 13.0 or newer, this one is for 12.4: update the driver, or install the module "
        "built with CUDA 12");
    CHECK(refusal(k12, 12020, 100) ==
          "cuda12 has no machine code for this card (sm_100), and compiling its PTX needs a driver for CUDA 12.4 or "
          "newer, "
          "this one is for 12.2: update the driver");
    CHECK(refusal({"cuda12", 12040, {60, 90}, 0, false}, 13000, 120) ==
          "cuda12 has code for sm_60 to sm_90 and no PTX that this card, sm_120, could run: install a module built for "
          "it");
    CHECK(refusal({"cuda12", 12040, {}, 80, false}, 13000, 75) ==
          "cuda12 has PTX for sm_80 and up, this card is sm_75: build it for this card, too");
    CHECK(refusal({"cuda12", 12040, {}, 0, false}, 13000, 75) == "cuda12 has no code for any card: install it again");
    CHECK_THAT(refusal({"cuda12", 12040, {70}, 0, false}, 13000, 60), Contains("sm_60: build it for this card, too"));
    CHECK(refusal(k12, 11080, 90) ==
          "cuda12 needs a driver for CUDA 12.0 or newer, this one is for 11.8: update the driver");
    // No driver would help.
    CHECK_THAT(refusal(k13, 12040, 60), Contains("this card is sm_60: install the module built with CUDA 12"));
    // Each of several modules has its own.
    const Choice choice = choose({k12, k13}, 12040, 52);
    CHECK_THAT(choice.refused.at(0), Contains("sm_52"));
    CHECK_THAT(choice.refused.at(1), Contains("has code for sm_75 and up"));
    CHECK(choose({}, 12040, 90).module == -1);
}
