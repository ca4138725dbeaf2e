#include "train/dry_run.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "conformance/peak.h"
#include "data/batcher.h"
#include "eval/training_cost.h"
#include "model/family.h"
#include "support/counted.h"
#include "support/duration.h"
#include "train/batch_size.h"
#include "train/ranked_start.h"
#include "train/rollouts.h"
#include "train/run_totals.h"
#include "train/step_estimate.h"
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
        blocks.back().second += spec.trained ? spec.shape.elements() : 0;
    }
    std::string text = fmt::format("parameters: {}\n", parameters.count());
    for (const auto& [block, count] : blocks) {
        text += fmt::format("  {:<28} {:>12}\n", block, count);
    }
    return text;
}

std::string model_text(const ModelConfig& m) {
    if (!traits(m.architecture).reads_source) {
        return fmt::format("model: {} layers, d_model {}, d_ff {}, {} heads, a vocabulary of {}\n",
                           m.encoder_layers + m.decoder_layers, m.d_model, m.feed_forward.d_ff, m.attention.heads,
                           m.target_vocabulary);
    }
    return fmt::format(
        "model: {} encoder and {} decoder layers, d_model {}, d_ff {}, {} heads, vocabularies of {} and {}\n",
        m.encoder_layers, m.decoder_layers, m.d_model, both_stacks(m.feed_forward.d_ff, m.feed_forward.decoder_d_ff),
        both_stacks(m.attention.heads, m.attention.decoder_heads), m.source_vocabulary, m.target_vocabulary);
}

std::string shape_of(const Batch& batch) {
    if (batch.source.length == 0) {
        return fmt::format("{} of [{}]", counted(batch.sentences, "block"), batch.target.length);
    }
    return fmt::format("{} of [{}] and [{}]", counted(batch.sentences, "sentence"), batch.source.length,
                       batch.target.length);
}

std::string memory_text(Backend& backend, const StepRehearsal& rehearsal, const StepEstimate& step,
                        std::int64_t part_tokens, const TrainingOptions& t) {
    const Parameters& p = rehearsal.parameters();
    const auto flat = static_cast<double>(p.total()) * static_cast<double>(size_of(p.flat_values().dtype));
    const double working = p.flat_working().defined()
                               ? static_cast<double>(p.total()) * static_cast<double>(size_of(p.flat_working().dtype))
                               : 0.0;
    std::string text = fmt::format("memory: parameters {}, gradients {}, Adam's moments {}", mebibytes(flat + working),
                                   mebibytes(flat), mebibytes(2.0 * flat));
    if (rehearsal.other_bytes() > 0) {
        text += fmt::format(
            ", {} {}",
            rehearsal.learns_values() ? "reference, reward model and model of values" : "reference and reward model",
            mebibytes(static_cast<double>(rehearsal.other_bytes())));
    }
    if (t.ema_decay > 0.0) {
        text += fmt::format(", the mean of the weights {}", mebibytes(flat));
    }
    text += fmt::format("; {} for the largest step of {}: ", step.estimated ? step.how : "measured",
                        shape_of(rehearsal.longest_sentences(part_tokens)));
    if (!step.bytes) {
        return text + fmt::format("more than {} has; {}\n", backend.device().id,
                                  t.split_when_out_of_memory
                                      ? "such steps would be halved"
                                      : "\"split_when_out_of_memory\" is false, so the run would "
                                        "end: lower \"source_tokens\" and \"target_tokens\"");
    }
    const auto total = static_cast<double>(*step.bytes + rehearsal.kept_bytes());
    const auto limit = static_cast<double>(memory_limit(backend));
    return text + fmt::format("{} more, {} in total{}\n", mebibytes(static_cast<double>(*step.bytes)), mebibytes(total),
                              limit > 0.0 && total > limit ? fmt::format(", but {} are free", mebibytes(limit)) : "");
}

// `steps_per_epoch` is infinite without data.
std::string time_text(const TrainConfig& config, const StepEstimate& step, double steps_per_epoch, double steps,
                      const char* limit) {
    const TrainingOptions& t = config.training;
    const char* without = traits(config.task).rolls_out        ? "sampling and scoring responses"
                          : traits(config.task).scores_samples ? "sampling and scoring translations"
                                                               : "validations and checkpoints";
    const std::string early = ends_in_warmup(steps, t.warmup_steps);
    const bool data = std::isfinite(steps_per_epoch);
    const std::string epoch =
        data ? fmt::format(", {} per epoch", duration_text(step.seconds * steps_per_epoch / 60.0)) : "";
    const std::string epochs = data ? fmt::format(", {:.1f} epochs", steps / steps_per_epoch) : "";
    const std::string all = std::isfinite(steps)
                                ? fmt::format("about {:.0f} steps by \"{}\"{}: {} without {}", steps, limit, epochs,
                                              duration_text(step.seconds * steps / 60.0), without)
                                : "how many steps depends on the data";
    return fmt::format("time: {:.3f} s per step ({}){}; {}\n{}", step.seconds, step.how, epoch, all,
                       early.empty() ? "" : "warm-up: " + early + "\n");
}

// The paper's training of a model of this shape (Table 3, 5.2); null if there is none.
const PaperTraining* in_the_paper(const ModelConfig& model) {
    constexpr std::int64_t kHead = 64;
    for (const auto& [training, d_model] : {std::pair(&kPaperBase, 512), std::pair(&kPaperBig, 1024)}) {
        ModelConfig paper;
        paper.d_model = d_model;
        paper.feed_forward.d_ff = 4 * d_model;
        paper.attention.heads = d_model / kHead;
        paper.source_vocabulary = model.source_vocabulary;
        paper.target_vocabulary = model.target_vocabulary;
        if (model == paper) {
            return training;
        }
    }
    return nullptr;
}

// The exact number of operations, and the paper's estimate from time and speed.
std::string cost_text(Backend& backend, const ModelConfig& model, const Arithmetic& arithmetic,
                      const StepEstimate& step, double steps) {
    const StepFlops& f = step.flops;
    const double sustained = measure_peak(backend, arithmetic).flops_per_second;
    const double speed = f.total() / step.seconds;
    std::string text = fmt::format(
        "arithmetic: {} FLOPs per step: forward {} (products with weights {}, attention {}), backward {}, optimizer {}",
        flops_text(f.total()), flops_text(f.forward()), flops_text(f.weights), flops_text(f.attention),
        flops_text(f.backward()), flops_text(f.optimizer));
    text += fmt::format("{}\nspeed: {} FLOP/s, {:.0f} % of the {} that large products sustain here",
                        std::isfinite(steps) ? fmt::format("; {} in all", flops_text(f.total() * steps)) : "",
                        flops_text(speed), 100.0 * speed / sustained, flops_text(sustained));
    if (std::isfinite(steps)) {
        text += fmt::format("; time x devices x that, as the paper estimates costs: {} FLOPs",
                            flops_text(estimated_flops(step.seconds * steps, 1.0, sustained)));
        text += "\non the paper's GPUs, at the speeds that it takes for sustained (footnote 5):";
        for (const SustainedSpeed& gpu : kPaperDevices) {
            text += fmt::format("{} {} on one {}", &gpu == kPaperDevices.data() ? "" : ",",
                                duration_text(f.total() * steps / gpu.flops_per_second / 60.0), gpu.device);
        }
    }
    text += "\n";
    if (const PaperTraining* const paper = in_the_paper(model)) {
        text += fmt::format(
            "in the paper: {}, {:.0f} steps of {} s, {} on {} {} of {} FLOP/s: {} FLOPs; a step here takes {:.3g} "
            "times as long\n",
            paper->model, paper->steps, paper->seconds_per_step, duration_text(paper->hours * 60.0), paper->devices,
            kPaperGpu.device, flops_text(kPaperGpu.flops_per_second), flops_text(paper->flops()),
            step.seconds / paper->seconds_per_step);
    }
    return text;
}

std::string files_text(const TrainConfig& config, const Parameters& parameters, const std::string& output) {
    const TrainingOptions& t = config.training;
    const double flat = static_cast<double>(parameters.total()) * static_cast<double>(size_of(DType::F32));
    const double checkpoint = flat * (t.ema_decay > 0.0 ? 4.0 : 3.0);
    const double model = static_cast<double>(parameters.count()) * static_cast<double>(size_of(t.save));
    return fmt::format(
        "files in {}:\n"
        "  checkpoints/   at most {} of {} each, plus one while it is written{}\n"
        "  best.safetensors   {}\n"
        "  model/             {} ({})\n"
        "  tokenizer/, log.jsonl{}   small\n",
        output, t.keep_last + 1, mebibytes(checkpoint),
        t.keep_powers_of_two ? ", and those after steps 1, 2, 4 and so on" : "", mebibytes(flat), mebibytes(model),
        name_of(t.save), t.tensorboard ? ", tensorboard/" : "");
}

std::string steps_text(const TrainConfig& config, const ModelConfig& model, double steps_per_epoch,
                       std::int64_t sentence) {
    const TrainingOptions& t = config.training;
    const RolloutOptions& rollouts = config.rollouts;
    if (traits(config.task).rolls_out) {
        return fmt::format("steps: {} after each rollout of {} responses, {} in each\n",
                           rollouts.epochs * rollouts.minibatches, rollouts.responses(),
                           std::max<std::int64_t>(rollouts.responses() / rollouts.minibatches, 1));
    }
    const bool pairs = traits(model.architecture).reads_source;
    const std::string most = pairs ? fmt::format("{} source and {} target", t.source_tokens, t.target_tokens)
                                   : std::to_string(t.target_tokens);
    return fmt::format("steps: at most {} tokens each, {}\n", most,
                       std::isfinite(steps_per_epoch) ? fmt::format("about {:.0f} per epoch", steps_per_epoch)
                       : pairs                        ? fmt::format("in sentences of {} pieces", sentence)
                                                      : fmt::format("in blocks of {}", t.max_length));
}

// "memory and time of a step above ..\non 4 such devices: 25 ms of computing and 44 ms of exchanging 252 MB a step: 1.9
// times as fast as one".
std::string ranks_text(const RankedSteps& ranked, double seconds, double bytes, const DescribedTraining& described) {
    const std::string each = fmt::format(
        "memory and time of a step above are those of one device that takes all of it, not of a rank, which "
        "takes some shards\non {} such devices: {:.3g} ms of computing",
        ranked.ranks, 1e3 * seconds / ranked.ranks);
    const double megabytes = bytes / 1e6;
    if (!described.exchange_seconds) {
        return fmt::format(
            "{} a step, and the time to exchange {:.0f} MB of gradients and of weights: "
            "`headscope bench all-reduce` finds what --network needs to know\n",
            each, megabytes);
    }
    return fmt::format(
        "{} and {:.3g} ms of exchanging {:.0f} MB of gradients and of weights a step: {:.2g} times as "
        "fast as one{}\n",
        each, 1e3 * *described.exchange_seconds, megabytes, described.speed_up,
        described.speed_up < 1.0 ? ", so one is faster" : "");
}

}  // namespace

DescribedTraining describe_training(Backend& backend, const TrainConfig& config, const TrainingData* data,
                                    const std::string& output, const std::optional<RankedSteps>& ranked) {
    const TrainingOptions& t = config.training;
    const ModelConfig model =
        data != nullptr ? config.model_config(*data->source_tokenizer, *data->target_tokenizer)
                        : config.model_config(config.tokenizer.source.vocabulary, config.tokenizer.target.vocabulary);
    const Arithmetic arithmetic = arithmetic_of(config, backend);
    std::unique_ptr<Batcher> batcher;
    double steps_per_epoch = std::numeric_limits<double>::infinity();
    double tokens_per_step = static_cast<double>(t.target_tokens);
    TypicalStep typical = typical_step(t, data);
    const bool rolls_out = traits(config.task).rolls_out;
    if (rolls_out) {
        const RolloutOptions& rollouts = config.rollouts;
        const std::int64_t responses = std::max<std::int64_t>(rollouts.responses() / rollouts.minibatches, 1);
        typical.tokens = responses * padded_length(t.max_length, t.length_multiple);
        typical.part_tokens = t.micro_batch_tokens == 0 ? typical.tokens : t.micro_batch_tokens;
        tokens_per_step = static_cast<double>(responses * rollouts.max_tokens);
    }
    if (data != nullptr && rolls_out) {
        steps_per_epoch = static_cast<double>(headscope::steps_per_epoch(
            config.rollouts, static_cast<std::int64_t>(data->responses.front()->store().size())));
    } else if (data != nullptr) {
        const std::int64_t texts = config.texts_of_a_pair();
        batcher = make_batcher(t, *data, texts);
        steps_per_epoch = static_cast<double>(std::max<std::int64_t>(batcher->about_steps_per_epoch(), 1));
        tokens_per_step = static_cast<double>(texts * data->train->predicted_tokens()) / steps_per_epoch;
        if (texts > 1) {
            batcher.reset();  // its steps lack the samples
        }
    }
    StepRehearsal rehearsal(backend, config, model, arithmetic);
    const StepEstimate step = estimate_step(rehearsal, t, typical, batcher.get());
    const auto [limit, steps] = t.limits().about_steps(steps_per_epoch, tokens_per_step, step.seconds);
    std::string text =
        fmt::format("on {} ({}), {}\n", backend.device().id, backend.device().name, name_of(arithmetic)) +
        model_text(model) + parameters_text(rehearsal.parameters()) +
        steps_text(config, model, steps_per_epoch, typical.length) +
        memory_text(backend, rehearsal, step, typical.part_tokens, t) +
        time_text(config, step, steps_per_epoch, steps, limit) + cost_text(backend, model, arithmetic, step, steps) +
        files_text(config, rehearsal.parameters(), output);
    DescribedTraining described{.text = std::move(text),
                                .parameters = rehearsal.parameters().count(),
                                .steps = steps,
                                .steps_per_epoch = steps_per_epoch,
                                .limit = limit,
                                .seconds_per_step = step.seconds,
                                .flops_per_step = step.flops.total()};
    if (step.bytes) {
        described.bytes = *step.bytes + rehearsal.kept_bytes();
    }
    if (ranked) {
        require_divisible(config, ranked->ranks, t.shards > 1 ? t.shards : shards_for(ranked->ranks));
        const double bytes =
            static_cast<double>(rehearsal.parameters().total()) * static_cast<double>(size_of(DType::F32));
        if (ranked->network) {
            described.exchange_seconds = exchange_seconds(*ranked->network, ranked->ranks, bytes);
            described.speed_up = step.seconds / (step.seconds / ranked->ranks + *described.exchange_seconds);
        }
        described.text += ranks_text(*ranked, step.seconds, bytes, described);
    }
    return described;
}

}  // namespace headscope
