// Which sequences of ops are recorded, and how they are identified.
#include "backend/replays.h"

#include <catch2/catch.hpp>
#include <set>

using namespace headscope;

namespace {

// Like the backends': allocations come from a pool, and memory can be freed.
struct FakeMemory {
    Pool pool() const { return now; }
    void use(Pool pool) { now = pool; }
    std::size_t live(Pool pool) const { return pool == Pool::Recordings ? recordings : 0; }
    std::function<void()> free_blocks = [] {};
    Pool now = Pool::Ops;
    std::size_t recordings = 0;
};

constexpr auto kNoLaunch = [](const std::shared_ptr<const int>& /*recording*/) {};

}  // namespace

TEST_CASE("sequences are recorded the second time, and the least recently used one is evicted", "[replays]") {
    using Turn = Replays<int>::Turn;
    Replays<int> replays(2);
    FakeMemory memory;
    int launched = 0;
    CHECK(replays.next("a") == Turn::Run);
    CHECK(replays.next("a") == Turn::Record);
    CHECK(replays.record(
        "a", memory,
        [&] {
            CHECK(memory.pool() == Pool::Recordings);
            return std::make_shared<int>(1);
        },
        [&](const std::shared_ptr<const int>& recording) {
            CHECK(memory.pool() == Pool::Ops);
            launched += *recording;
        }));
    CHECK(launched == 1);
    CHECK(replays.next("a") == Turn::Launch);
    CHECK(*replays.recording("a") == 1);
    CHECK(replays.next("b") == Turn::Run);
    CHECK(replays.next("a") == Turn::Launch);
    CHECK(replays.next("c") == Turn::Run);  // b is evicted
    CHECK(replays.size() == 2);
    CHECK(replays.next("a") == Turn::Launch);
    CHECK(replays.next("b") == Turn::Run);
    CHECK(replays.next("b") == Turn::Record);
    const auto broken = [&] {
        memory.recordings = 16;
        return std::make_shared<int>(2);
    };
    CHECK_THROWS_AS(replays.record("b", memory, broken, [&](const auto& /*recording*/) { ++launched; }), CheckFailure);
    CHECK(memory.pool() == Pool::Ops);
    CHECK(launched == 1);                      // nothing was launched,
    CHECK(replays.next("b") == Turn::Record);  // or kept
    replays.clear();
    CHECK(replays.next("a") == Turn::Run);
}

TEST_CASE("after running out of memory, recording is retried after longer and longer pauses", "[replays]") {
    using Turn = Replays<int>::Turn;
    Replays<int> replays(2, 3);
    FakeMemory memory;
    memory.free_blocks = [&] {
        CHECK(memory.pool() == Pool::Ops);
        replays.clear();  // failed
    };
    const auto too_large = [](const auto&...) -> std::shared_ptr<int> { throw OutOfMemory("by intent"); };
    const auto small = [] { return std::make_shared<int>(1); };
    replays.next("a");
    for (const int pause : {3, 6, 12}) {
        CHECK(replays.next("a") == Turn::Record);
        // The recording's own memory, or what its first launch takes.
        const bool kept = pause == 6 ? replays.record("a", memory, small, too_large)
                                     : replays.record("a", memory, too_large, kNoLaunch);
        CHECK_FALSE(kept);
        for (int run = 0; run < pause; ++run) {
            CHECK(replays.next(run % 2 == 0 ? "a" : "b") == Turn::Run);
        }
        CHECK(replays.next("a") == Turn::Run);  // for the first time since
    }
    CHECK(replays.next("a") == Turn::Record);
    CHECK(replays.record("a", memory, small, kNoLaunch));
    CHECK(replays.next("a") == Turn::Launch);
}

TEST_CASE("after running out of memory, recording is retried with what could be freed", "[replays]") {
    using Turn = Replays<int>::Turn;
    Replays<int> replays(2);
    FakeMemory memory;
    int freed = 0;
    memory.free_blocks = [&] {
        CHECK(memory.pool() == Pool::Ops);
        replays.clear();
        ++freed;
    };
    int made = 0;
    int launched = 0;
    const auto make = [&] {
        if (++made == 1) {
            throw OutOfMemory("by intent");
        }
        return std::make_shared<int>(made);
    };
    replays.next("a");
    CHECK(replays.next("a") == Turn::Record);
    CHECK(replays.record("a", memory, make, [&](const std::shared_ptr<const int>& recording) {
        CHECK(*recording == 2);
        ++launched;
    }));
    CHECK(made == 2);
    CHECK(launched == 1);
    CHECK(freed == 1);
    CHECK(replays.next("a") == Turn::Launch);
    // The second attempt is the last, and its memory is freed, too.
    const auto too_large = [&](const auto&...) -> std::shared_ptr<int> {
        ++made;
        throw OutOfMemory("by intent");
    };
    CHECK_FALSE(replays.record("b", memory, too_large, kNoLaunch));
    CHECK(made == 4);
    CHECK(freed == 3);
}

TEST_CASE("only the recording that cannot be launched is dropped", "[replays]") {
    using Turn = Replays<int>::Turn;
    Replays<int> replays(3, 2);
    FakeMemory memory;
    int freed = 0;
    memory.free_blocks = [&] { ++freed; };
    const auto one = [] { return std::make_shared<int>(1); };
    for (const char* key : {"a", "kept"}) {
        CHECK_FALSE(replays.replay(key, memory, one, kNoLaunch));
        CHECK(replays.replay(key, memory, one, kNoLaunch));
    }
    const auto refused = [](const auto&...) { throw NotRecorded("by intent"); };
    CHECK_FALSE(replays.replay("a", memory, one, refused));
    CHECK(freed == 0);
    CHECK_THROWS_AS(replays.replay("kept", memory, one, [](const auto&...) { throw Error("a fault"); }), Error);
    CHECK(replays.next("kept") == Turn::Launch);
    CHECK(replays.next("a") == Turn::Run);
    CHECK(replays.next("a") == Turn::Run);
    CHECK(replays.next("a") == Turn::Run);  // for the first time since
    CHECK(replays.next("a") == Turn::Record);
    const auto too_large = [&](const std::shared_ptr<const int>& recording) {
        replays.clear();  // as if it needs memory that it does not get
        CHECK(*recording == 1);
        throw OutOfMemory("by intent");
    };
    CHECK_FALSE(replays.replay("kept", memory, one, too_large));
    CHECK(freed == 1);
    CHECK(replays.next("kept") == Turn::Run);
}

TEST_CASE("after the device refused to record, recording is retried after a pause, and recordings stay", "[replays]") {
    using Turn = Replays<int>::Turn;
    Replays<int> replays(3, 2);
    FakeMemory memory;
    memory.free_blocks = [] { FAIL("there is memory enough"); };
    const auto refused = [](const auto&...) -> std::shared_ptr<int> { throw NotRecorded("by intent"); };
    const auto one = [] { return std::make_shared<int>(1); };
    replays.next("kept");
    CHECK(replays.next("kept") == Turn::Record);
    CHECK(replays.record("kept", memory, one, kNoLaunch));
    replays.next("a");
    CHECK(replays.next("a") == Turn::Record);
    CHECK_FALSE(replays.record("a", memory, refused, kNoLaunch));
    CHECK(memory.pool() == Pool::Ops);
    CHECK(replays.next("kept") == Turn::Launch);
    CHECK(replays.next("a") == Turn::Run);
    CHECK(replays.next("a") == Turn::Run);
    CHECK(replays.next("a") == Turn::Record);
    CHECK_FALSE(replays.record("a", memory, one, refused));  // its first launch
    CHECK(replays.next("a") == Turn::Run);
    CHECK(replays.next("kept") == Turn::Launch);
}

TEST_CASE("what running makes ready is recorded the next time", "[replays]") {
    using Turn = Replays<int>::Turn;
    Replays<int> replays(2);
    FakeMemory memory;
    memory.free_blocks = [] { FAIL("there is memory enough"); };
    const auto missing = []() -> std::shared_ptr<int> { throw NotRecordedYet("by intent"); };
    replays.next("a");
    CHECK(replays.next("a") == Turn::Record);
    CHECK_FALSE(replays.record("a", memory, missing, kNoLaunch));
    CHECK(replays.next("a") == Turn::Record);
    CHECK(replays.record(
        "a", memory, [] { return std::make_shared<int>(1); }, kNoLaunch));
    CHECK(replays.next("a") == Turn::Launch);
}

TEST_CASE("a sequence that is not worth recording never is", "[replays]") {
    using Turn = Replays<int>::Turn;
    Replays<int> replays(2);
    for (int run = 0; run < 5; ++run) {
        CHECK(replays.next("a") == Turn::Run);
        replays.disregard("a");
    }
    CHECK(replays.next("a") == Turn::Run);
    CHECK(replays.next("a") == Turn::Record);
}

TEST_CASE("a sequence that is not worth recording may already be forgotten", "[replays]") {
    using Turn = Replays<int>::Turn;
    Replays<int> replays(2);
    CHECK(replays.next("a") == Turn::Run);
    replays.clear();  // as if the sequence itself needed the memory
    CHECK_NOTHROW(replays.disregard("a"));
    CHECK(replays.next("a") == Turn::Run);
}
