// How long a frame of the figure takes to build: what the window does between an input and the GPU, without either.
//   bench_viewer_frame [repeats]
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <imgui.h>

#include "figures/figure.h"
#include "viewer/draw/fonts.h"
#include "viewer/draw/painter.h"

namespace {

using namespace headscope;
using Clock = std::chrono::steady_clock;

// One layer whose heads look sharply near the diagonal, or spread over about a dozen keys.
AttentionRecord record_of(int tokens, int heads) {
    AttentionRecord record;
    record.encoder_layers = 1;
    for (int token = 0; token < tokens; ++token) {
        record.source.push_back({fmt::format("\u2581word{}", token), TokenKind::Piece});
    }
    SiteWeights weights{{AttentionKind::EncoderSelf, 0}, heads, tokens, tokens, {}};
    for (int head = 0; head < heads; ++head) {
        for (int query = 0; query < tokens; ++query) {
            const int width = head % 2 == 0 ? 2 : 12;
            for (int key = 0; key < tokens; ++key) {
                const int away = std::abs(key - query - head);
                weights.values.push_back(away < width ? 1.0F / static_cast<float>(2 * width - 1) : 0.0F);
            }
        }
    }
    record.sites.push_back(std::move(weights));
    return record;
}

double median_ms(std::vector<double> times) {
    std::sort(times.begin(), times.end());
    return times[times.size() / 2];
}

template <class Work>
double timed(int repeats, const Work& work) {
    std::vector<double> times;
    for (int repeat = 0; repeat < repeats; ++repeat) {
        const auto start = Clock::now();
        work();
        times.push_back(std::chrono::duration<double, std::milli>(Clock::now() - start).count());
    }
    return median_ms(times);
}

void measure(int tokens, int heads, int repeats, viewer::Fonts& fonts) {
    const AttentionRecord record = record_of(tokens, heads);
    AttentionSelection selection;
    const FigureOptions options{.look = {.text_size = 13.0, .tips = false}};
    const auto draw = [&] { return draw_figure(select_attention(record, selection), options); };
    const Drawing drawing = draw();
    const double layout = timed(repeats, [&] { static_cast<void>(draw()); });
    selection.positions = {tokens / 2};
    const double pointed = timed(repeats, [&] { static_cast<void>(draw()); });
    const double frame = timed(repeats, [&] {
        ImGui::NewFrame();
        ImGui::SetNextWindowPos(ImVec2(0.0F, 0.0F));
        ImGui::SetNextWindowSize(ImGui::GetIO().DisplaySize);
        ImGui::Begin("figure");
        viewer::paint(*ImGui::GetWindowDrawList(), drawing, {ImGui::GetCursorScreenPos(), 1.0F}, fonts);
        ImGui::End();
        ImGui::Render();
    });
    fmt::print(
        "{:4} tokens x {:2} heads, {:6} primitives: frame {:.2f} ms; new layout {:.2f} ms, of one word {:.2f} ms\n",
        tokens, heads, drawing.primitives.size(), frame, layout, pointed);
}

}  // namespace

int main(int argc, char** argv) {
    const int repeats = argc > 1 ? std::max(std::atoi(argv[1]), 1) : 100;
    ImGui::CreateContext();
    ImGuiIO& io = ImGui::GetIO();
    io.IniFilename = nullptr;
    io.BackendFlags |= ImGuiBackendFlags_RendererHasVtxOffset;
    io.DisplaySize = ImVec2(8000.0F, 2000.0F);  // nothing is out of sight
    viewer::Fonts fonts;
    fonts.build(1.0F);
    unsigned char* pixels = nullptr;
    int width = 0;
    int height = 0;
    io.Fonts->GetTexDataAsAlpha8(&pixels, &width, &height);
    measure(33, 8, repeats, fonts);
    measure(300, 16, repeats, fonts);
    ImGui::DestroyContext();
    return 0;
}
