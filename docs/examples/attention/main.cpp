// attention MODEL SENTENCE >figure.svg: draws what the heads of the first encoder layer look at.
#include <exception>
#include <iostream>
#include <string>

#include "engine/engine.h"
#include "figures/figure.h"
#include "paint/svg.h"

int main(int argc, char** argv) try {
    if (argc != 3) {
        std::cerr << "usage: attention MODEL SENTENCE >figure.svg\n";
        return 2;
    }
    const auto warn = [](const std::string& message) { std::cerr << message + "\n"; };
    headscope::Engine engine({.devices = {"cpu"}}, warn);
    const headscope::ModelHandle model = engine.open({argv[1]});
    const headscope::Exploration found = engine.submit(model, headscope::LookRequest{{.source = argv[2]}}).get();
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
