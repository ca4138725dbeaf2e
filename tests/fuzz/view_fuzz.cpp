// Any bytes as a saved view: refused with an Error, or a view that is the same when it is saved and opened again.
#include <nlohmann/json.hpp>

#include "tests/fuzz/fuzz.h"
#include "viewer/session/state_file.h"

using namespace headscope;

std::vector<std::string> headscope::fuzz_seeds() {
    viewer::SavedView view;
    view.model = "/models/en-de";
    view.model_name = "en-de";
    view.parameters = 1000;
    view.state.text = "The cat sleeps.";
    const std::string plain = to_json(view);
    view.other_model = "/runs/mine";
    view.state.target = "Die Katze „schläft“.";
    view.state.checkpoint = 24;
    view.state.heads = {1, 3};
    view.state.word = 2;
    view.state.edits = {{.site = {AttentionKind::Cross, 1}, .head = 2, .kind = EditKind::Pin, .query = 0, .key = 1},
                        {.site = {AttentionKind::EncoderSelf, 0}, .head = 1}};
    return {plain, to_json(view)};
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    run_or_refuse([&] {
        const viewer::SavedView view = viewer::parse_view(std::string(as_text(data, size)), "fuzz");
        const std::string text = to_json(view);
        const viewer::SavedView again = viewer::parse_view(text, "again");
        HEADSCOPE_CHECK(again.state == view.state, "a view that is another when it is saved");
        HEADSCOPE_CHECK(to_json(again) == text, "a view that is saved in two ways");
    });
    return 0;
}
