// Other programs' models, and what PyTorch found in a pass of each (tests/golden/make_site_vectors.py).
#pragma once

#include <catch2/catch.hpp>

#include <cstring>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "explore/hooked_run.h"
#include "io/safetensors.h"
#include "registry/registry.h"
#include "tests/house/files.h"
#include "tests/house/open_options.h"

namespace headscope {

inline std::vector<std::string> known_models() {
    return {"hf-marian-tied", "hf-t5", "hf-gpt2", "hf-bert"};
}

// A model, what to read, and what PyTorch found.
struct Known {
    explicit Known(const std::string& name, const std::string& device)
        : file(SafeTensorsFile::open(checkout_file("tests/explore/sites/" + name + ".safetensors"))),
          backend(open_device(device, environment_options())),
          models(*backend, checkout_file("tests/import/models/" + name)) {
        request.source = file.metadata().at("text");
        predicted = nlohmann::json::parse(file.metadata().at("predicted")).get<std::vector<std::int32_t>>();
        if (name == "hf-gpt2") {
            request.target = "";  // reads the prompt alone
        } else {
            request.target_tokens = predicted;
        }
    }

    SiteValues expected(const std::string& entry, const std::string& site) const {
        const MappedTensor tensor = file.at(entry);
        REQUIRE(tensor.dtype == DType::F32);
        std::vector<float> values(static_cast<std::size_t>(tensor.shape.elements()));
        std::memcpy(values.data(), tensor.data.data(), tensor.data.size());
        return {site, tensor.shape, values};
    }
    SitePatch patch(const nlohmann::json& note, std::size_t number) const {
        return {.by = expected("patch/" + std::to_string(number), note.at("site")),
                .first = note.at("first"),
                .head = note.at("head")};
    }
    HookedRun run(HookedRequest hooked) const {
        hooked.text = request;
        HookedRun found = run_with_hooks(*backend, models, Compute::F32, hooked);
        REQUIRE(found.problem == "");
        return found;
    }
    // Those that are suppressed here are not in PyTorch's.
    SiteValues expected_logits(const std::string& entry, const SiteValues& found) const {
        SiteValues values = expected(entry, "logits");
        REQUIRE(values.shape == found.shape);
        for (const std::int32_t id : models.model().config.frame.suppressed_ids) {
            for (auto at = static_cast<std::size_t>(id); at < values.values.size();
                 at += static_cast<std::size_t>(values.shape[-1])) {
                CHECK(found.values[at] < -1e4F);
                values.values[at] = found.values[at];
            }
        }
        return values;
    }

    SafeTensorsFile file;
    std::unique_ptr<Backend> backend;
    LoadedModel models;
    ExploreRequest request;
    std::vector<std::int32_t> predicted;
};

}  // namespace headscope
