#include "train/dry_run.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "data/batcher.h"
#include "support/check.h"
#include "support/counted.h"
#include "train/run_totals.h"
#include "train/step_options.h"
#include "train/step_rehearsal.h"

namespace headscope {
namespace {

constexpr double kMebi = 1024.0 * 1024.0;

std::string mebibytes(double bytes) {
    return fmt::format("{:.1f} MiB", bytes / kMebi);
}

// "encoder.layers.0" for everything in that layer, otherwise the first word.
std::string block_of(const std::string& name) {
    const std::size_t layers = name.find(".layers.");
    if (layers == std::string::npos) {
        return name.substr(0, name.find('.'));
    }
    return name.substr(0, name.find('.', layers + std::string(".layers.").size()));
}

std::string parameters_text(const Parameters& parameters) {
    std::vector<std::pair<std::string, std::int64_t>> blocks;  // in the order of the table
    for (const ParameterSpec& spec : parameters.table()) {
        const std::string block = block_of(spec.name);
        if (blocks.empty() || blocks.back().first != block) {
            blocks.emplace_back(block, 0);
        }
        blocks.back().second += spec.shape.elements();
    }
    std::string text = fmt::format("parameters: {}\n", parameters.count());
    for (const auto& [block, count] : blocks) {
        text += fmt::format("  {:<28} {:>12}\n", block, count);
    }
    return text;
}

std::string model_text(const ModelConfig& m) {
    if (m.architecture != Architecture::EncoderDecoder) {
        return fmt::format("model: {} layers, d_model {}, d_ff {}, {} heads, a vocabulary of {}\n",
                           m.encoder_layers + m.decoder_layers, m.d_model, m.d_ff, m.heads, m.target_vocabulary);
    }
    return fmt::format(
        "model: {} encoder and {} decoder layers, d_model {}, d_ff {}, {} heads, vocabularies of {} and {}\n",
        m.encoder_layers, m.decoder_layers, m.d_model, m.d_ff, m.heads, m.source_vocabulary, m.target_vocabulary);
}

std::string shape_of(const Batch& batch) {
    if (batch.source_length == 0) {
        return fmt::format("{} of [{}]", counted(batch.sentences, "block"), batch.target_length);
    }
    return fmt::format("{} of [{}] and [{}]", counted(batch.sentences, "sentence"), batch.source_length,
                       batch.target_length);
}

std::string memory_text(Backend& backend, StepRehearsal& rehearsal, const TrainingOptions& t) {
    const Parameters& p = rehearsal.parameters();
    const auto flat = static_cast<double>(p.total()) * static_cast<double>(size_of(p.flat_values().dtype));
    const double working = p.flat_working().defined()
                               ? static_cast<double>(p.total()) * static_cast<double>(size_of(p.flat_working().dtype))
                               : 0.0;
    const std::int64_t tokens = std::max(micro_budget(t).source_tokens, micro_budget(t).target_tokens);
    const std::optional<std::size_t> step = rehearsal.memory_of(tokens);
    std::string text = fmt::format("memory: parameters {}, gradients {}, Adam's moments {}", mebibytes(flat + working),
                                   mebibytes(flat), mebibytes(2.0 * flat));
    if (t.ema_decay > 0.0) {
        text += fmt::format(", the mean of the weights {}", mebibytes(flat));
    }
    text += fmt::format("; measured for the largest step of {}: ", shape_of(rehearsal.longest_sentences(tokens)));
    text += step ? fmt::format("{} more, {} in total\n", mebibytes(static_cast<double>(*step)),
                               mebibytes(static_cast<double>(*step + rehearsal.kept_bytes())))
                 : fmt::format("more than {} has; {}\n", backend.device().id,
                               t.split_when_out_of_memory ? "such steps would be halved"
                                                          : "\"split_when_out_of_memory\" is false, so the run would "
                                                            "end: lower \"source_tokens\" and \"target_tokens\"");
    return text;
}

std::string time_text(const TrainingOptions& t, double seconds, double steps_per_epoch, double tokens_per_step) {
    const auto [limit, steps] = t.limits().about_steps(steps_per_epoch, tokens_per_step, seconds);
    const std::string early = ends_in_warmup(steps, t.warmup_steps);
    return fmt::format(
        "time: {:.3f} s per step (mean of 5), {} per epoch; about {:.0f} steps by \"{}\", {:.1f} epochs: {} without "
        "validations and checkpoints\n{}",
        seconds, duration_text(seconds * steps_per_epoch / 60.0), steps, limit, steps / steps_per_epoch,
        duration_text(seconds * steps / 60.0), early.empty() ? "" : "warm-up: " + early + "\n");
}

std::string files_text(const TrainConfig& config, const Parameters& parameters, const std::string& output) {
    const TrainingOptions& t = config.training;
    const double flat = static_cast<double>(parameters.total()) * static_cast<double>(size_of(DType::F32));
    const double checkpoint = flat * (t.ema_decay > 0.0 ? 4.0 : 3.0);
    const double model = static_cast<double>(parameters.count()) * static_cast<double>(size_of(t.save));
    return fmt::format(
        "files in {}:\n"
        "  checkpoints/   at most {} of {} each, plus one while it is written\n"
        "  best.safetensors   {}\n"
        "  model/             {} ({})\n"
        "  tokenizer/, log.jsonl{}   small\n",
        output, t.keep_last + 1, mebibytes(checkpoint), mebibytes(flat), mebibytes(model), name_of(t.save),
        t.tensorboard ? ", tensorboard/" : "");
}

}  // namespace

std::string describe_training(Backend& backend, const TrainConfig& config, const TrainingData& data,
                              const std::string& output) {
    const TrainingOptions& t = config.training;
    const ModelConfig model = config.model_config(*data.source_tokenizer, *data.target_tokenizer);
    const Arithmetic arithmetic = arithmetic_of(config, backend);
    Batcher batcher(data.train, step_budget(t), static_cast<std::uint64_t>(t.seed), data.frame);
    StepRehearsal rehearsal(backend, config, model, arithmetic);
    const auto steps = static_cast<double>(std::max<std::int64_t>(batcher.about_steps_per_epoch(), 1));
    const auto tokens = static_cast<double>(data.train->predicted_tokens());
    std::string text = fmt::format("on {} ({}), {}\n", backend.device().id, backend.device().name, name_of(arithmetic));
    text += model_text(model) + parameters_text(rehearsal.parameters());
    const std::string most = model.architecture == Architecture::EncoderDecoder
                                 ? fmt::format("{} source and {} target", t.source_tokens, t.target_tokens)
                                 : std::to_string(t.target_tokens);
    text += fmt::format("steps: at most {} tokens each, about {:.0f} per epoch\n", most, steps);
    text += memory_text(backend, rehearsal, t);
    text += time_text(t, rehearsal.seconds_of_a_step(batcher), steps, tokens / steps);
    return text + files_text(config, rehearsal.parameters(), output);
}

}  // namespace headscope
