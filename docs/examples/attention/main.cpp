// attention MODEL SENTENCE >figure.svg: draws what the heads of the first encoder layer look at.
#include <exception>
#include <iostream>
#include <string>

#include "engine/model_device.h"
#include "explore/explorer.h"
#include "figures/figure.h"
#include "paint/svg.h"

int main(int argc, char** argv) try {
    if (argc != 3) {
        std::cerr << "usage: attention MODEL SENTENCE >figure.svg\n";
        return 2;
    }
    const auto warn = [](const std::string& message) { std::cerr << message + "\n"; };
    headscope::ModelDevice device("cpu", headscope::Precision::F32, {argv[1]}, {}, warn);
    device.load();
    const headscope::Explorer explorer(device.backend(), device.translator(), device.arithmetic().compute);
    const headscope::Exploration found = explorer.explore({.source = argv[2]});
    if (!found.problem.empty()) {
        std::cerr << found.problem << "\n";
        return 1;
    }
    std::cerr << found.translation << "\n";
    const auto selected = headscope::select_attention(
        found.record, {.kind = headscope::AttentionKind::EncoderSelf, .layer = 1, .heads = {}});
    std::cout << headscope::to_svg(headscope::draw_figure(selected));
} catch (const std::exception& error) {
    std::cerr << error.what() << "\n";
    return 1;
}
