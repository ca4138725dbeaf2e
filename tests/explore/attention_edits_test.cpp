// Edits without effect, compared with what they do to the weights.
#include "tests/explore/tiny_explorer.h"

#include "explore/attention_edits.h"

using namespace headscope;

TEST_CASE("An edit has an effect exactly where the weights change", "[edits]") {
    const TinyExplorer tiny;
    ExploreRequest request = tiny_request();
    request.target = "der kleine hund";
    const Exploration plain = tiny.explorer.explore(request);
    CHECK(plain.without_effect.empty());
    CHECK(plain.record.edited.empty());
    const auto source = static_cast<int>(plain.record.source.size());
    const auto target = static_cast<int>(plain.record.target_in.size());
    REQUIRE(source != target);
    int idle = 0;
    for (const AttentionKind kind : {AttentionKind::EncoderSelf, AttentionKind::DecoderSelf, AttentionKind::Cross}) {
        for (const int query : {-1, 1, target - 1, target, source - 1, source}) {
            for (const int key : {0, 1, 2, target - 1, target, source - 1, source}) {
                const AttentionEdit edit{
                    .site = {kind, 1}, .head = 2, .kind = EditKind::Pin, .query = query, .key = key};
                request.edits = {edit};
                const Exploration edited = tiny.explorer.explore(request);
                INFO(describe(edit));
                REQUIRE(edited.problem.empty());
                CHECK(edited.record.edited == describe(edit));
                const bool same = worst_difference(plain.record, edited.record) == 0.0;
                CHECK(edited.without_effect.empty() == !same);
                idle += same ? 1 : 0;
            }
        }
    }
    CHECK(idle > 10);
}

TEST_CASE("Several edits are described in order, also during a search", "[edits]") {
    const TinyExplorer tiny;
    ExploreRequest request = tiny_request();
    request.edits = {{.site = {AttentionKind::Cross, 1}, .head = 3},
                     {.site = {AttentionKind::EncoderSelf, 0}, .head = 1, .kind = EditKind::Uniform, .query = 300}};
    int seen = 0;
    const Exploration found = tiny.explorer.explore(request, [&](const Explorer::Snapshot& so_far) {
        const Exploration early = so_far();
        CHECK(early.record.edited == "Cross layer 2, head 3: off; Encoder layer 1, head 1: uniform (from token 301)");
        CHECK(early.without_effect.empty());  // not known yet
        ++seen;
        return true;
    });
    CHECK(seen > 0);
    CHECK(found.without_effect == std::vector<AttentionEdit>{request.edits[1]});
}
