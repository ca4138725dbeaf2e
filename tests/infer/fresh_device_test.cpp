#include "infer/fresh_device.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "backend/backend.h"
#include "support/check.h"

using namespace headscope;

namespace {

// Work that loses its device the given number of times in a row.
struct Losing {
    explicit Losing(int times) : left(times) {}
    void run(SecondChance& chance) {
        with_fresh_device(
            chance,
            [this] {
                ++begun;
                if (left-- > 0) {
                    throw DeviceLost("it hung");
                }
            },
            [this] { ++reopened; }, [this](const std::string& what) { reported.push_back(what); });
    }
    int left;
    int begun = 0;
    int reopened = 0;
    std::vector<std::string> reported;
};

}  // namespace

TEST_CASE("work that loses its device is repeated on a reopened one", "[fresh_device]") {
    SecondChance chance;
    Losing once(1);
    once.run(chance);
    CHECK(once.begun == 2);
    CHECK(once.reopened == 1);
    CHECK(once.reported == std::vector<std::string>{"it hung"});
    Losing never(0);
    never.run(chance);
    CHECK(never.begun == 1);
    CHECK(never.reopened == 0);
}

TEST_CASE("work that also loses the reopened device is not repeated again", "[fresh_device]") {
    SecondChance chance;
    Losing twice(2);
    CHECK_THROWS_AS(twice.run(chance), DeviceLost);
    CHECK(twice.begun == 2);
    CHECK(twice.reopened == 1);
}

TEST_CASE("a device is reopened as often as it works in between, within bounds", "[fresh_device]") {
    SecondChance chance;
    for (int i = 0; i < SecondChance::kMost; ++i) {
        Losing once(1);
        once.run(chance);
        CHECK(once.begun == 2);
    }
    Losing again(1);
    CHECK_THROWS_AS(again.run(chance), DeviceLost);
    CHECK(again.reopened == 0);
}

TEST_CASE("other failures are not repeated, and a failed reopening reports both errors", "[fresh_device]") {
    SecondChance chance;
    const auto not_reported = [](const std::string& /*what*/) { FAIL("nothing goes on"); };
    const auto not_opened = [] { FAIL("no device was lost"); };
    CHECK_THROWS_WITH(with_fresh_device(
                          chance, [] { throw Error("the file ends early"); }, not_opened, not_reported),
                      "the file ends early");
    CHECK_THROWS_WITH(with_fresh_device(
                          chance, [] { throw DeviceLost("it hung"); }, [] { throw Error("it is gone"); }, not_reported),
                      "it hung; reopening failed: it is gone");
}
