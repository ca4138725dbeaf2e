// What a training costs in floating point operations, as the paper estimates it, and the paper's own numbers. Section
// 6.1, Table 2.
#pragma once

#include <array>
#include <optional>
#include <string>

namespace headscope {

// Operations of `devices` devices that work for `seconds` at a sustained speed: "multiplying the training time, the
// number of GPUs used, and an estimate of the sustained single-precision floating-point capacity of each GPU" (6.1).
constexpr double estimated_flops(double seconds, double devices, double flops_per_second) {
    return seconds * devices * flops_per_second;
}

struct SustainedSpeed {
    const char* device;
    double flops_per_second;
};
// Footnote 5.
inline constexpr std::array<SustainedSpeed, 4> kPaperDevices = {
    {{"K80", 2.8e12}, {"K40", 3.7e12}, {"M40", 6.0e12}, {"P100", 9.5e12}}};
inline constexpr SustainedSpeed kPaperGpu = kPaperDevices[3];  // of its own trainings

// A training of 5.2.
struct PaperTraining {
    const char* model;
    double steps;
    double seconds_per_step;
    double hours;
    double devices;

    constexpr double flops() const {
        constexpr double kSecondsPerHour = 3600.0;
        return estimated_flops(hours * kSecondsPerHour, devices, kPaperGpu.flops_per_second);
    }
};
inline constexpr PaperTraining kPaperBase = {"Transformer (base model)", 100'000, 0.4, 12.0, 8.0};
inline constexpr PaperTraining kPaperBig = {"Transformer (big)", 300'000, 1.0, 3.5 * 24.0, 8.0};

// A row of Table 2. BLEU on newstest2014, and the training's FLOPs; what the table leaves open is empty.
struct PaperResult {
    const char* model;
    std::optional<double> bleu_en_de = {}, bleu_en_fr = {};
    std::optional<double> flops_en_de = {}, flops_en_fr = {};
};
// In the paper's order (arXiv:1706.03762v7; earlier versions have 41.0 for the last model and French). The paper prints
// one number across both columns of FLOPs for each Transformer: it stands here in both.
inline constexpr std::array<PaperResult, 10> kPaperTable2 = {{
    {.model = "ByteNet", .bleu_en_de = 23.75},
    {.model = "Deep-Att + PosUnk", .bleu_en_fr = 39.2, .flops_en_fr = 1.0e20},
    {"GNMT + RL", 24.6, 39.92, 2.3e19, 1.4e20},
    {"ConvS2S", 25.16, 40.46, 9.6e18, 1.5e20},
    {"MoE", 26.03, 40.56, 2.0e19, 1.2e20},
    {.model = "Deep-Att + PosUnk Ensemble", .bleu_en_fr = 40.4, .flops_en_fr = 8.0e20},
    {"GNMT + RL Ensemble", 26.30, 41.16, 1.8e20, 1.1e21},
    {"ConvS2S Ensemble", 26.36, 41.29, 7.7e19, 1.2e21},
    {kPaperBase.model, 27.3, 38.1, 3.3e18, 3.3e18},
    {kPaperBig.model, 28.4, 41.8, 2.3e19, 2.3e19},
}};

// "3.3e18": one digit after the point.
std::string flops_text(double flops);

}  // namespace headscope
