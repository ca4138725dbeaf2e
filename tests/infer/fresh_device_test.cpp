#include "infer/fresh_device.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "backend/backend.h"
#include "support/check.h"

using namespace headscope;

namespace {

// Work that loses its device so many times, one after the other.
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
            [this] { ++reopened; }, [this](const std::string& what) { told.push_back(what); });
    }
    int left;
    int begun = 0;
    int reopened = 0;
    std::vector<std::string> told;
};

}  // namespace

TEST_CASE("work that loses its device is done once more on a fresh one", "[fresh_device]") {
    SecondChance chance;
    Losing once(1);
    once.run(chance);
    CHECK(once.begun == 2);
    CHECK(once.reopened == 1);
    CHECK(once.told == std::vector<std::string>{"it hung"});
    Losing never(0);
    never.run(chance);
    CHECK(never.begun == 1);
    CHECK(never.reopened == 0);
}

TEST_CASE("work that loses the fresh device, too, is not tried any further", "[fresh_device]") {
    SecondChance chance;
    Losing twice(2);
    CHECK_THROWS_AS(twice.run(chance), DeviceLost);
    CHECK(twice.begun == 2);
    CHECK(twice.reopened == 1);
}

TEST_CASE("a device is opened again as often as it works in between, and no more than so often", "[fresh_device]") {
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

TEST_CASE("other failures are not tried again, and a device that does not come back says both", "[fresh_device]") {
    SecondChance chance;
    const auto not_told = [](const std::string& /*what*/) { FAIL("nothing goes on"); };
    const auto not_opened = [] { FAIL("no device was lost"); };
    CHECK_THROWS_WITH(with_fresh_device(
                          chance, [] { throw Error("the file ends early"); }, not_opened, not_told),
                      "the file ends early");
    CHECK_THROWS_WITH(with_fresh_device(
                          chance, [] { throw DeviceLost("it hung"); }, [] { throw Error("it is gone"); }, not_told),
                      "it hung; opened again: it is gone");
}
